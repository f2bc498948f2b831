/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_STATE_POD_INDEX_H
#define BT_STATE_POD_INDEX_H
/**
 * Index of pods on nodes by label: label pair -> label sets with this pair, label set -> pods. New
 * counters use it to find their pods without visiting all pods. Created at first use and then kept:
 * 8 bytes for each pod and for each label of each set.
 */
#include "state/state.h"

struct bt_pod_index;

/** The state's index, created and filled at first use. */
struct bt_pod_index *bt_pod_index_get(struct bt_state *state);
void bt_pod_index_destroy(struct bt_state *state);
size_t bt_pod_index_memory_bytes(const struct bt_state *state);

/** Add or remove a pod on a node. Only if the index exists. */
void bt_pod_index_add(struct bt_state *state, uint32_t pod_id);
void bt_pod_index_remove(struct bt_state *state, uint32_t pod_id, uint32_t label_set);

/** Ids in no order, borrowed until the state changes. */
struct bt_id_list {
	const uint32_t *items;
	uint32_t count;
};

/** Label sets with this pair that have pods. */
struct bt_id_list bt_pod_index_sets_with(
	const struct bt_pod_index *index, bt_sym key, bt_sym value);
/** Pods with this label set. */
struct bt_id_list bt_pod_index_pods_of(const struct bt_pod_index *index, uint32_t label_set);
/**
 * Number of times a pod was removed from the set's list. As long as it stays the same, pods are
 * only appended to the list, and the id stands for the same labels.
 */
uint64_t bt_pod_index_removals_of(const struct bt_pod_index *index, uint32_t label_set);

/** Checks that every pod and every pair is listed once. */
bool bt_pod_index_validate(const struct bt_state *state, struct bt_strbuf *out_reason);
#endif
