/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_STATE_ELIGIBILITY_H
#define BT_STATE_ELIGIBILITY_H
/**
 * The node side of counting by domain: which nodes count, and in which domain of a topology key.
 * Counters of different pods share it; it changes when nodes change, never for pods. Spec: 06
 * sections 2.5 and 2.16.
 *
 * Caught up with the node changes before it is read. Each slot that moves between domains is noted
 * for the counters, which then move the slot's pods.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/selector.h"
#include "state/state.h"

/** The slot counts in no domain. */
#define BT_NO_DOMAIN UINT32_MAX
/** Moves remembered; whoever has missed more starts over. A power of two. */
#define BT_MOVES_MAX 256U

/** Everything is borrowed for the call. */
struct bt_eligibility_spec {
	struct bt_str topology_key;
	/* Nodes: of the snapshot, with all these labels. */
	uint32_t label_count;
	const struct bt_str *labels;
	const struct bt_pod_spec *affinity_of; /* required node affinity of this pod; NULL: none */
	const bt_toleration_list *tolerations_of; /* hard taints must be tolerated; NULL: none */
	bool allow_comparison;                    /* of tolerations */
};

/** A slot left a domain for another; BT_NO_DOMAIN: it was, or is, not eligible. */
struct bt_domain_move {
	uint32_t slot;
	uint32_t from;
	uint32_t to;
	bool emptied; /* `from` has no node any more */
	bool entered; /* `to` had none before */
};

struct bt_eligibility {
	/* by slot: the domain, BT_NO_DOMAIN */
	uint32_t *domains;
	uint32_t slot_count;
	uint32_t slot_capacity;
	/* by domain: eligible nodes */
	uint32_t *nodes;
	uint32_t size;           /* domains the key's dictionary has room for */
	uint32_t eligible_count; /* domains with nodes, but 0 */
	/* Moves since the last fill; a fill gets a new epoch. */
	uint64_t epoch;
	uint64_t move_count;
	struct bt_domain_move *moves; /* ring; NULL: none yet */
	/* The question. */
	struct bt_arena arena;
	struct bt_str identity;
	uint64_t hash;
	struct bt_str topology_key;
	uint32_t label_count;
	struct bt_str *labels;
	bool has_affinity;
	struct bt_required_node_affinity affinity;
	const bt_toleration_list *tolerations; /* NULL: taints do not matter */
	bool allow_comparison;
	struct bt_pod_spec *spec; /* behind affinity and tolerations */
	/* How far it has read. */
	bool filled;
	uint64_t node_sequence;
	uint32_t rebuild_count; /* of the topology key's column */
	uint32_t ref_count;
	uint32_t id;
	size_t bytes;
};

/** All eligibilities, and the node changes picked from the change log. */
struct bt_eligibility_table {
	struct bt_map map;
	BT_VEC(struct bt_eligibility *) items; /* NULL: free */
	BT_VEC(uint32_t) free_ids;
	struct bt_strbuf key;
	/* Columns of topology key and labels, looked up when one catches up. */
	BT_VEC(const struct bt_label_column *) columns;
	uint32_t *changed_slots; /* ring */
	uint64_t node_sequence;  /* changes ever picked */
	uint64_t lost_before;    /* changes before this one are not in the ring */
	uint64_t log_sequence;
	uint64_t next_epoch;
	size_t bytes;
};

void bt_eligibility_table_init(struct bt_eligibility_table *table);
void bt_eligibility_table_finish(struct bt_eligibility_table *table);

/** The eligibility of a question, not caught up; one reference taken. */
struct bt_eligibility *bt_eligibility_ref(
	struct bt_eligibility_table *table, const struct bt_eligibility_spec *spec);
void bt_eligibility_unref(struct bt_eligibility_table *table, struct bt_eligibility *eligibility);
void bt_eligibility_catch_up(struct bt_eligibility_table *table, struct bt_state *state,
	struct bt_eligibility *eligibility);
static inline uint32_t bt_eligibility_domain(
	const struct bt_eligibility *eligibility, uint32_t slot)
{
	return slot < eligibility->slot_count ? eligibility->domains[slot] : BT_NO_DOMAIN;
}
static inline const struct bt_domain_move *bt_eligibility_move(
	const struct bt_eligibility *eligibility, uint64_t index)
{
	return &eligibility->moves[index & (BT_MOVES_MAX - 1)];
}
/** As the nodes are now, by looking at the slot; for the rebuild twin. */
uint32_t bt_eligibility_judge(struct bt_eligibility_table *table, struct bt_state *state,
	const struct bt_eligibility *eligibility, uint32_t slot);
/** The question as bytes; equal exactly when the questions are. */
void bt_eligibility_append_identity(struct bt_strbuf *key, const struct bt_eligibility_spec *spec);
#endif
