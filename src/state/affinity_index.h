/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_STATE_AFFINITY_INDEX_H
#define BT_STATE_AFFINITY_INDEX_H
/**
 * The inter-pod affinity terms of the pods on nodes, each distinct one once, with the number of
 * pods that have it in each domain of its topology key: what a pod to be placed is held against
 * instead of every pod. Spec: 06 section 3.14.
 *
 * Pods of one shape and namespace have the same terms: they are a group, and slots count groups.
 * Before it is read the index catches up with the change log: a slot that changed is counted anew,
 * and what differs moves the sums of its terms. A question costs the labels of the pod and the
 * terms that select it, whatever the number of nodes.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "state/shape.h"
#include "state/domain_tally.h"
#include "state/state.h"

struct bt_affinity_index;

/**
 * The index, caught up with the snapshot; it and its tallies are good until the next refresh of the
 * snapshot.
 */
const struct bt_affinity_index *bt_affinity_index_get(struct bt_state *state);
/**
 * Some node has pods with affinity that the snapshot's affinity lists do not show (spec 06 section
 * 3.13): the lists must be walked instead.
 */
bool bt_affinity_index_has_unlisted(const struct bt_affinity_index *index);

/** A term that selects the pod in question. */
struct bt_affinity_hit {
	enum bt_affinity_group group;
	int32_t weight;
	uint64_t serial;                      /* of the term, never another's */
	const struct bt_label_column *column; /* of its topology key; NULL: no node can have it */
	const struct bt_domain_tally *pods;   /* how often pods in a domain have the term */
};

typedef void (*bt_affinity_hit_function)(void *context, const struct bt_affinity_hit *hit);

/**
 * Calls back once for each term of these groups (bits 1 << enum bt_affinity_group) that selects a
 * pod with these labels in this namespace.
 */
void bt_affinity_index_find(const struct bt_affinity_index *index, uint32_t groups,
	struct bt_str namespace_, const struct bt_str_map *labels,
	const struct bt_str_map *namespace_labels, bt_affinity_hit_function function,
	void *context);

/* What bt_state holds. */

void bt_affinity_index_destroy(struct bt_state *state);
size_t bt_affinity_index_memory_bytes(const struct bt_state *state);
/** The index equals one made anew. For tests and debug builds. */
bool bt_affinity_index_validate(struct bt_state *state, struct bt_strbuf *out_reason);
#endif
