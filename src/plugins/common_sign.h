/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_COMMON_SIGN_H
#define BT_PLUGINS_COMMON_SIGN_H
/**
 * Fragments of a pod's signature that several plugins share, and the pieces they are written with.
 * Spec: 05 section 3.13, 02 section 6. Values are only ever compared for equality; every text is
 * length-prefixed, so that no two different values are written alike.
 */
#include "base/strbuf.h"
#include "framework/plugin.h"

/** "<length>:<bytes>", or "-" for an absent text. */
void bt_sign_write_str(struct bt_strbuf *out, struct bt_str text);
/** Sorts texts in place and writes them; with distinct, repeated ones once. */
void bt_sign_write_sorted(
	struct bt_strbuf *out, struct bt_str *texts, uint32_t count, bool distinct);
/** Add a fragment with a copy of value. */
void bt_sign_add(
	struct bt_sign_fragments *fragments, struct bt_str key, const struct bt_strbuf *value);

struct bt_status bt_sign_tolerations(struct bt_plugin *plugin, const struct bt_pod_info *pod,
	struct bt_sign_fragments *fragments);
/** Variant F; Unschedulable when a device class backs a requested resource. */
struct bt_status bt_sign_requests(struct bt_plugin *plugin, const struct bt_pod_info *pod,
	struct bt_sign_fragments *fragments);
/** Node affinity and nodeSelector; the order of terms, requirements and values does not count. */
void bt_sign_node_affinity(const struct bt_pod_spec *spec, struct bt_sign_fragments *fragments);
/** The sign slot of the volume plugins. */
struct bt_status bt_sign_volume_plugin(
	struct bt_plugin *plugin, const struct bt_pod_info *pod, struct bt_sign_fragments *out);
#endif
