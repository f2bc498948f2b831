/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CONFIG_VERSIONS_H
#define BT_CONFIG_VERSIONS_H
/** The version this program stands for, and the older ones it can emulate. Spec: 11 sections 3 and
 * 5.1. */
#include "base/strbuf.h"
#include "codec/message.h"
#include "config/gates.h"

#define BT_KUBERNETES_VERSION "v1.36.2"
#define BT_KUBERNETES_MINOR 36

struct bt_versions {
	struct bt_str git_version;   /* "v1.36.2", or what --version=v... replaced it with */
	int emulated_minor;          /* of 1.x: 36 */
	int min_compatibility_minor; /* 35 */
};

/** What setting a gate has to warn of. */
struct bt_gate_warning {
	struct bt_str gate;
	bool value;
	bool deprecated; /* else it is GA */
};

typedef BT_LIST(struct bt_gate_warning) bt_gate_warning_list;

struct bt_versions bt_versions_default(void);
#endif
