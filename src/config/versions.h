/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CONFIG_VERSIONS_H
#define BT_CONFIG_VERSIONS_H
/**
 * The Kubernetes version that this program implements, and the older versions that it can emulate.
 * Spec: 11 sections 3, 4.11 and 5.1.
 */
#include "base/strbuf.h"
#include "codec/message.h"
#include "config/error_list.h"
#include "config/gates.h"

#define BT_KUBERNETES_VERSION "v1.36.2"
#define BT_KUBERNETES_MINOR BT_GATE_RELEASE_MINOR

struct bt_versions {
	struct bt_str git_version;      /* "v1.36.2", or the replacement from --version=v... */
	struct bt_gate_release release; /* by default 1.36, compatible with 1.35 */
};

struct bt_versions bt_versions_default(void);
/** Returns "1.36.2", borrowed from versions. */
struct bt_str bt_versions_binary(const struct bt_versions *versions);

/**
 * Sets versions from the values of --emulated-version and --min-compatibility-version. A value has
 * items "[component=]1.minor", separated by commas; it is empty if the flag was not given. If only
 * the emulated version is given, the minimum compatibility version becomes the release before the
 * emulated version, but not less than the oldest release. bt_versions_validate checks the ranges
 * later. versions is untouched on failure.
 */
BT_MUST_USE int bt_versions_set(struct bt_versions *versions, struct bt_str emulated,
	struct bt_str min_compatibility, struct berth_error *err);
/** Adds an error for each version that is out of range. */
void bt_versions_validate(const struct bt_versions *versions, struct bt_config_errors *errors);

/**
 * Checks a value of --version=: "v1.36.2", with an optional SemVer suffix after the patch number.
 */
BT_MUST_USE int bt_versions_check_replacement(struct bt_str text, struct berth_error *err);
#endif
