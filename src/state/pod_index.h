/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_STATE_POD_INDEX_H
#define BT_STATE_POD_INDEX_H
/**
 * Pods on nodes by their labels: label pair -> label sets that have it, label set -> pods. A new
 * counter finds its pods with it instead of looking at all of them. Made when somebody first asks,
 * kept from then on: 8 bytes a pod, and 8 a label of each set.
 */
#include "state/state.h"

struct bt_pod_index;

/** The state's index, made and filled when there is none yet. */
struct bt_pod_index *bt_pod_index_get(struct bt_state *state);
void bt_pod_index_destroy(struct bt_state *state);
size_t bt_pod_index_memory_bytes(const struct bt_state *state);

/** The pod was counted on a node, or is about to be taken off. Only when there is an index. */
void bt_pod_index_add(struct bt_state *state, uint32_t pod_id);
void bt_pod_index_remove(struct bt_state *state, uint32_t pod_id, uint32_t label_set);

/** Ids in no order, borrowed until the state changes. */
struct bt_id_list {
	const uint32_t *items;
	uint32_t count;
};

/** Label sets that have the pair and pods. */
struct bt_id_list bt_pod_index_sets_with(
	const struct bt_pod_index *index, bt_sym key, bt_sym value);
/** Pods with this label set. */
struct bt_id_list bt_pod_index_pods_of(const struct bt_pod_index *index, uint32_t label_set);

/** Every pod is listed once, and every pair. */
bool bt_pod_index_validate(const struct bt_state *state, struct bt_strbuf *out_reason);
#endif
