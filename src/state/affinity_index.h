/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_STATE_AFFINITY_INDEX_H
#define BT_STATE_AFFINITY_INDEX_H
/**
 * Index of the inter-pod affinity terms of the pods on nodes. For each distinct term, the index
 * counts the pods with this term in each domain of the topology key. A pending pod is matched with
 * these terms instead of with every pod. Spec: 06 section 3.14.
 *
 * Pods of the same shape and namespace have the same terms. They form a group, and the index counts
 * the pods of each group on each slot. The index is updated from the change log before it is read:
 * changed slots are counted anew, and the differences are added to the sums of the groups' terms.
 * The cost of a query depends on the pod's labels and the terms that match, not on the number of
 * nodes.
 */
#include <stdbool.h>
#include <stdint.h>

#include "state/shape.h"
#include "state/sparse_counts.h"
#include "state/state.h"

struct bt_affinity_index;

/**
 * Updates and returns the index, which is created at the first call. The index and its counts are
 * valid until the next refresh of the snapshot.
 */
const struct bt_affinity_index *bt_affinity_index_get(struct bt_state *state);
/**
 * Whether some node has pods with affinity but is missing from one of the snapshot's affinity lists
 * to which it belongs (spec 06 section 3.13). The caller must then visit the lists instead of using
 * the index.
 */
bool bt_affinity_index_has_unlisted(const struct bt_affinity_index *index);

/** A term that matches the queried pod. */
struct bt_affinity_hit {
	enum bt_affinity_group group;
	int32_t weight;
	uint64_t serial;                      /* unique serial of the term */
	const struct bt_label_column *column; /* of the topology key; NULL: no node has the key */
	/** Pods with the term, by domain; a pod that lists the term twice counts twice. */
	const struct bt_sparse_counts *pods;
};

typedef void (*bt_affinity_hit_function)(void *context, const struct bt_affinity_hit *hit);

/**
 * Calls the function for each term of these groups (bits 1 << enum bt_affinity_group) that matches
 * a pod with these labels in this namespace. namespace_labels: labels of the Namespace object.
 */
void bt_affinity_index_find(const struct bt_affinity_index *index, uint32_t groups,
	struct bt_str namespace_, const struct bt_str_map *labels,
	const struct bt_str_map *namespace_labels, bt_affinity_hit_function function,
	void *context);

/** Called by bt_state_destroy. */
void bt_affinity_index_destroy(struct bt_state *state);
#endif
