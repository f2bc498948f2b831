/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_COMMON_SIGN_H
#define BT_PLUGINS_COMMON_SIGN_H
/**
 * Fragments of pod signatures that several plugins share, and functions to write them. Values are
 * only compared for equality. Every text is length-prefixed, so different values are never written
 * alike. Spec: 05 section 3.13, 02 section 6.
 */
#include "base/strbuf.h"
#include "framework/plugin.h"

/** Write "<length>:<bytes>", or "-" for an absent text. */
void bt_sign_write_str(struct bt_strbuf *out, struct bt_str text);
/** Sort texts in place and write them; with `distinct`, repeated texts are written once. */
void bt_sign_write_sorted(
	struct bt_strbuf *out, struct bt_str *texts, uint32_t count, bool distinct);
/**
 * Add a fragment. The value is copied to the fragments' arena, and the buffer is freed and reset.
 * key is borrowed.
 */
void bt_sign_add(struct bt_sign_fragments *fragments, struct bt_str key, struct bt_strbuf *value);

struct bt_status bt_sign_tolerations(struct bt_plugin *plugin, const struct bt_pod_info *pod,
	struct bt_sign_fragments *fragments);
/**
 * Add the request that NodeResourcesFit checks (variant F, api/resources.h). Returns Unschedulable
 * if a device class provides a requested resource, because equal signatures do not imply equal
 * results then.
 */
struct bt_status bt_sign_requests(struct bt_plugin *plugin, const struct bt_pod_info *pod,
	struct bt_sign_fragments *fragments);
/** Add node affinity and nodeSelector; the order of terms, requirements and values is ignored. */
void bt_sign_node_affinity(const struct bt_pod_spec *spec, struct bt_sign_fragments *fragments);
/**
 * Sign function of the volume plugins: adds the sources of all volumes except configMap and secret.
 */
struct bt_status bt_sign_volume_plugin(
	struct bt_plugin *plugin, const struct bt_pod_info *pod, struct bt_sign_fragments *out);
#endif
