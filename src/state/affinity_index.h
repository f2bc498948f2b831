/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_STATE_AFFINITY_INDEX_H
#define BT_STATE_AFFINITY_INDEX_H
/**
 * The inter-pod affinity terms of the pods on nodes, each distinct one once, with the slots of the
 * pods that have it: what a pod to be placed is held against instead of every pod. Spec: 06 section
 * 3.14. Terms that require a label value are found by the labels of the pod in question.
 *
 * Pods of one shape and namespace have the same terms: they are a group, and slots count groups.
 * Kept up to date from the change log like domain_counter.h.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "state/affinity_terms.h"
#include "state/state.h"

struct bt_affinity_index;

/** The index, caught up with the snapshot; valid until the state changes. */
const struct bt_affinity_index *bt_affinity_index_get(struct bt_state *state);
/**
 * Some node has pods with affinity that the snapshot's affinity lists do not show (spec 06 section
 * 3.13): the lists must be walked instead.
 */
bool bt_affinity_index_has_unlisted(const struct bt_affinity_index *index);

/** Pods of one slot. */
struct bt_affinity_place {
	uint32_t slot;
	uint32_t count;
};

/** One term that selects the pod in question, with some of the pods that have it. */
struct bt_affinity_hit {
	enum bt_affinity_group group;
	int32_t weight;
	struct bt_str topology_key;
	const struct bt_affinity_place *places;
	uint32_t place_count;
};

typedef void (*bt_affinity_hit_function)(void *context, const struct bt_affinity_hit *hit);

/**
 * Calls back for the terms of these groups (bits 1 << enum bt_affinity_group) that select a pod
 * with these labels in this namespace; the same term may come in several parts.
 */
void bt_affinity_index_find(const struct bt_affinity_index *index, uint32_t groups,
	struct bt_str namespace_, const struct bt_str_map *labels,
	const struct bt_str_map *namespace_labels, bt_affinity_hit_function function,
	void *context);

/* What bt_state holds. */

void bt_affinity_index_destroy(struct bt_state *state);
size_t bt_affinity_index_memory_bytes(const struct bt_state *state);
#endif
