/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_STATE_POD_INDEX_H
#define BT_STATE_POD_INDEX_H
/**
 * Index of pods on nodes by label: label pair -> label sets with this pair, label set -> pods. New
 * counters use the index to find their pods without visiting all pods. The index is created at
 * first use and then kept: 8 bytes for each pod, and 16 bytes for each label of each set.
 */
#include "state/state.h"

/** A label of a set: its pair, and the position of the set in the pair's list. */
struct set_label {
	uint32_t pair;
	uint32_t position;
};

struct indexed_set {
	BT_VEC(uint32_t) pods;
	struct set_label *labels; /* allocated while the set has pods */
	uint32_t label_count;
	uint64_t removal_count;
};

struct indexed_pair {
	struct bt_label_pair pair; /* the sets hold the references to its symbols */
	BT_VEC(uint32_t) sets;
	BT_VEC(uint32_t) labels; /* parallel to sets: index of the pair in the set's labels */
};

struct bt_pod_index {
	BT_VEC(struct indexed_set) sets;          /* by label set */
	BT_VEC(uint32_t) positions;               /* by pod: position in the set's list */
	BT_HASH_TABLE(struct indexed_pair) pairs; /* a pair without sets is free */
};

/** Returns the state's index, which is created and filled at first use. */
struct bt_pod_index *bt_pod_index_get(struct bt_state *state);
void bt_pod_index_destroy(struct bt_state *state);

/**
 * Add or remove a pod on a node. Call only if state->pod_index exists. label_set: the set with
 * which the pod was added.
 */
void bt_pod_index_add(struct bt_state *state, uint32_t pod_id);
void bt_pod_index_remove(struct bt_state *state, uint32_t pod_id, uint32_t label_set);

/** A list of ids in no order, borrowed until the state changes. */
struct bt_id_list {
	const uint32_t *items;
	uint32_t count;
};

/** Ids of the label sets that have this pair and at least one pod. */
struct bt_id_list bt_pod_index_sets_with(
	const struct bt_pod_index *index, bt_sym key, bt_sym value);
struct bt_id_list bt_pod_index_pods_of(const struct bt_pod_index *index, uint32_t label_set);
/**
 * Number of times a pod was removed from the label set's list. While this number stays the same,
 * pods are only appended to the list, and label_set stands for the same labels.
 */
uint64_t bt_pod_index_removals_of(const struct bt_pod_index *index, uint32_t label_set);
#endif
