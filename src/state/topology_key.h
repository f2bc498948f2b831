/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_STATE_TOPOLOGY_KEY_H
#define BT_STATE_TOPOLOGY_KEY_H
/**
 * Encodes selectors, node affinity and tolerations as byte strings (keys), by which tables find
 * equal values, and copies selectors. Values with equal keys are equal. Texts are length-prefixed.
 */
#include "api/pod.h"
#include "api/selector.h"
#include "base/strbuf.h"

void bt_key_append_u32(struct bt_strbuf *key, uint32_t value);
void bt_key_append_str(struct bt_strbuf *key, struct bt_str text);
void bt_key_append_selector(struct bt_strbuf *key, const struct bt_selector *selector);
/** Appends nodeSelector and required node affinity of the spec. */
void bt_key_append_node_affinity(struct bt_strbuf *key, const struct bt_pod_spec *spec);
void bt_key_append_tolerations(struct bt_strbuf *key, const bt_toleration_list *tolerations);

/** Deep copies. */
struct bt_selector bt_selector_copy(const struct bt_selector *selector, struct bt_arena *arena);
struct bt_str *bt_str_array_copy(
	const struct bt_str *texts, uint32_t count, struct bt_arena *arena);
#endif
