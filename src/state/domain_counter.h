/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_STATE_DOMAIN_COUNTER_H
#define BT_STATE_DOMAIN_COUNTER_H
/**
 * Numbers of matching pods by topology domain, kept between cycles for PodTopologySpread and
 * InterPodAffinity, which would otherwise visit every pod of every node. Spec: 06 sections 2.16 and
 * 3.14.
 *
 * A counter has the number of matching pods of each slot, and the sums by domain. A counter is
 * updated from the change log before it is read: a slot whose pods changed is counted anew. Equal
 * queries share a counter, also across shapes; the least recently used counters are dropped when
 * the counters take too much memory. Counters also share the eligibility of nodes (struct
 * bt_eligibility). A counter that is new or missed many changes finds its pods by label
 * (pod_index.h). Slots and domains without matching pods take no memory (sparse_counts.h).
 *
 * A domain is an index into the dictionary of the topology key's label column; 0 for nodes without
 * the label.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/selector.h"
#include "base/hash_table.h"
#include "state/sparse_counts.h"
#include "state/state.h"

/*
 * Eligibility: the eligible nodes of a topology key and their domains. Counters of different pods
 * share an eligibility, which changes only when nodes change. Spec: 06 sections 2.5 and 2.16.
 *
 * bt_eligibility_catch_up updates an eligibility from the node changes before it is read, and
 * records each slot that changes its domain, so that counters can move the slot's pods.
 */

/** Domain of a slot that is not eligible. */
#define BT_NO_DOMAIN UINT32_MAX
/**
 * Number of recorded moves; if a counter missed more moves, its sums by domain are computed anew. A
 * power of two.
 */
#define BT_MOVES_MAX 256U

/** A query for eligible nodes. Everything is borrowed for the call. */
struct bt_eligibility_spec {
	struct bt_str topology_key;
	/* Nodes must be in the snapshot and have all these labels. */
	uint32_t label_count;
	const struct bt_str *labels;
	/* Nodes must match this spec's nodeSelector and required node affinity; NULL: any node. */
	const struct bt_pod_spec *affinity_of;
	const bt_toleration_list *tolerations_of; /* for hard taints; NULL: ignore taints */
	bool allow_comparison;                    /* tolerations may have the operators Lt and Gt */
};

/** A slot changed its domain. */
struct bt_domain_move {
	uint32_t slot;
	uint32_t from; /* BT_NO_DOMAIN: the slot was not eligible */
	uint32_t to;   /* BT_NO_DOMAIN: the slot is no longer eligible */
	bool emptied;  /* the slot was the last eligible node of `from` */
	bool entered;  /* the slot is the first eligible node of `to` */
};

struct bt_eligibility {
	/* by slot: the domain, or BT_NO_DOMAIN */
	uint32_t *domains;
	uint32_t slot_count;
	uint32_t slot_capacity;
	/* by domain: number of eligible nodes */
	uint32_t *nodes;
	uint32_t size;           /* number of domains, including unused domains */
	uint32_t eligible_count; /* domains with eligible nodes, without domain 0 */
	/* Moves since the last complete computation, which starts a new epoch. */
	uint64_t epoch;
	uint64_t move_count;
	struct bt_domain_move *moves; /* ring buffer; NULL: none yet */
	/* The query. */
	struct bt_arena arena;
	struct bt_str identity;
	uint64_t hash;
	struct bt_str topology_key;
	uint32_t label_count;
	struct bt_str *labels;
	bool has_affinity;
	struct bt_required_node_affinity affinity;
	const bt_toleration_list *tolerations; /* NULL: taints are ignored */
	bool allow_comparison;
	struct bt_pod_spec *spec; /* owns affinity and tolerations */
	bool filled;
	uint64_t log_sequence;  /* position in the change log */
	uint32_t rebuild_count; /* of the topology key's column */
	uint64_t label_changes; /* sum of change_count of the columns of topology key and labels */
	uint32_t ref_count;
	uint32_t id;
	size_t bytes;
};

/** All eligibilities. */
struct bt_eligibility_table {
	BT_HASH_TABLE(struct bt_eligibility *) items; /* an entry is NULL if it is free */
	struct bt_strbuf key;
	/* Columns of topology key and labels, looked up for each update. */
	BT_VEC(const struct bt_label_column *) columns;
	uint64_t next_epoch;
	size_t bytes;
};

void bt_eligibility_table_finish(struct bt_eligibility_table *table);

/**
 * Returns the eligibility of a query, with a reference for the caller. Call bt_eligibility_catch_up
 * before reading the eligibility.
 */
struct bt_eligibility *bt_eligibility_ref(
	struct bt_eligibility_table *table, const struct bt_eligibility_spec *spec);
void bt_eligibility_unref(struct bt_eligibility_table *table, struct bt_eligibility *eligibility);
/** Updates the eligibility to the current nodes. */
void bt_eligibility_catch_up(struct bt_eligibility_table *table, struct bt_state *state,
	struct bt_eligibility *eligibility);
static inline uint32_t bt_eligibility_domain(
	const struct bt_eligibility *eligibility, uint32_t slot)
{
	return slot < eligibility->slot_count ? eligibility->domains[slot] : BT_NO_DOMAIN;
}
/** Appends the query as a byte string. Queries with equal strings are equal. */
void bt_eligibility_append_identity(struct bt_strbuf *key, const struct bt_eligibility_spec *spec);

/** A term: pods of certain namespaces that match a selector. */
struct bt_counted_term {
	bool in_every_namespace;
	uint32_t namespace_count;
	const struct bt_str *namespaces;
	const struct bt_selector *selector;
};

/** A query for pods by domain, on eligible nodes. Everything is borrowed for the call. */
struct bt_counter_spec {
	/* Pods must match all terms; without terms no pod matches. */
	uint32_t term_count;
	const struct bt_counted_term *terms;
	bool live_only; /* ignore pods with a deletion timestamp */
	struct bt_eligibility_spec nodes;
};

struct bt_domain_counter;

/**
 * Updates and returns the counter of a query. The counter and its sums are valid until the next
 * refresh of the snapshot. Returns NULL if the query is too long, or if the counters of the current
 * cycle already take too much memory: the caller must then count the pods itself.
 */
const struct bt_domain_counter *bt_domain_counter_get(
	struct bt_state *state, const struct bt_counter_spec *spec);

struct bt_domain_sums {
	uint32_t size;                       /* domains from `size` on have no pods and no nodes */
	const struct bt_sparse_counts *pods; /* by domain: bt_domain_pods */
	const uint32_t *nodes;               /* by domain: bt_domain_nodes */
	const struct bt_sparse_counts *own;  /* by slot: bt_domain_count_of_slot */
	/* Totals over all domains except 0. */
	uint64_t pod_total;      /* sum of pods */
	uint32_t occupied_count; /* number of domains with pods */
	uint32_t eligible_count; /* number of domains with eligible nodes */
	/* Over the domains with eligible nodes, except 0. UINT32_MAX: there is no such number. */
	uint32_t least;        /* smallest number of pods */
	uint32_t least_count;  /* number of domains with `least` pods */
	uint32_t second_least; /* second smallest number of pods */
};

/** Number of matching pods on the domain's eligible nodes. */
static inline uint32_t bt_domain_pods(const struct bt_domain_sums *sums, uint32_t domain)
{
	return (uint32_t)bt_sparse_count(sums->pods, domain);
}
/** Number of eligible nodes in the domain. */
static inline uint32_t bt_domain_nodes(const struct bt_domain_sums *sums, uint32_t domain)
{
	return domain < sums->size ? sums->nodes[domain] : 0;
}
/** Number of matching pods on the slot, whether or not the slot is eligible. */
static inline uint32_t bt_domain_count_of_slot(const struct bt_domain_sums *sums, uint32_t slot)
{
	return (uint32_t)bt_sparse_count(sums->own, slot);
}

/** The counter's sums as of bt_domain_counter_get. O(1); the arrays are borrowed. */
struct bt_domain_sums bt_domain_counter_sums(const struct bt_domain_counter *counter);
/** Unique serial of the counter. A counter that is dropped and created again gets a new serial. */
uint64_t bt_domain_counter_serial(const struct bt_domain_counter *counter);

/** Column of a label key; NULL: no node has the key. */
const struct bt_label_column *bt_state_label_column(struct bt_state *state, struct bt_str key);

/** Called by bt_state_destroy. */
void bt_domain_counters_destroy(struct bt_state *state);
#endif
