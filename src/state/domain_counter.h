/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_STATE_DOMAIN_COUNTER_H
#define BT_STATE_DOMAIN_COUNTER_H
/**
 * Matching pods per topology domain, kept from cycle to cycle: what PodTopologySpread and
 * InterPodAffinity would otherwise find by looking at every pod of every node. Spec: 06 sections
 * 2.16 and 3.14.
 *
 * A counter remembers, for each slot, how many of its pods match and in which domain they count,
 * and the sums. Before it is read it catches up with the change log: a slot whose pods changed is
 * counted anew, whatever happened to it. Equal questions share one counter, also between shapes of
 * pods; those asked longest ago are dropped when too much memory is held. Which nodes count is
 * shared between counters (struct bt_eligibility), a new one finds its pods by their labels
 * (pod_index.h), and slots and domains without matching pods take no room (struct
 * bt_sparse_counts).
 *
 * A domain is an index into the dictionary of the topology key's label column, 0 for nodes without
 * the label.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/selector.h"
#include "state/state.h"

/*
 * The node side of counting by domain: which nodes count, and in which domain of a topology key.
 * Counters of different pods share it; it changes when nodes change, never for pods. Spec: 06
 * sections 2.5 and 2.16.
 *
 * Caught up with the node changes before it is read. Each slot that moves between domains is noted
 * for the counters, which then move the slot's pods.
 */

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

/*
 * An array of counts most of which may be 0, for readers that ask for many: pages of 64, those
 * without a count are not there. Reading costs one look into the directory. At 500,000 entries an
 * empty array takes 61 KiB, a full one 2 MiB.
 */

#define BT_COUNTS_PAGE_BITS 6
#define BT_COUNTS_PAGE (1U << BT_COUNTS_PAGE_BITS)

/** All-zero memory has no entries. */
struct bt_sparse_counts {
	uint32_t **pages; /* NULL: all zeros; a page that is there may be all zeros too */
	uint32_t page_count;
	uint32_t used_pages;
};

static inline uint32_t bt_sparse_count(const struct bt_sparse_counts *counts, uint32_t index)
{
	const uint32_t *page;

	if ((index >> BT_COUNTS_PAGE_BITS) >= counts->page_count) {
		return 0;
	}
	page = counts->pages[index >> BT_COUNTS_PAGE_BITS];
	return page != NULL ? page[index & (BT_COUNTS_PAGE - 1)] : 0;
}

/** All zero; the directory stays, and a few pages. */
void bt_sparse_counts_clear(struct bt_sparse_counts *counts);
/** Entries below `size` can be written from now on. The directory may move. */
void bt_sparse_counts_reserve(struct bt_sparse_counts *counts, uint32_t size);
/** The entry for writing; index < size reserved. */
uint32_t *bt_sparse_counts_at(struct bt_sparse_counts *counts, uint32_t index);
/** Directory and pages. */
size_t bt_sparse_counts_bytes(const struct bt_sparse_counts *counts);

/** Pods of some namespaces that a selector matches. */
struct bt_counted_term {
	bool in_every_namespace;
	uint32_t namespace_count;
	const struct bt_str *namespaces;
	const struct bt_selector *selector;
};

/** Which pods count, in which domains, and on which nodes. Everything is borrowed for the call. */
struct bt_counter_spec {
	/* Pods: each term must match; no term, no pod. */
	uint32_t term_count;
	const struct bt_counted_term *terms;
	bool live_only; /* pods with a deletion timestamp do not count */
	struct bt_eligibility_spec nodes;
};

struct bt_domain_counter;

/**
 * The counter of a question, caught up with the snapshot. It and its sums are good until the next
 * refresh of the snapshot. NULL when the question is too long to be kept: the caller counts by
 * itself.
 */
const struct bt_domain_counter *bt_domain_counter_get(
	struct bt_state *state, const struct bt_counter_spec *spec);

struct bt_domain_sums {
	uint32_t size;                /* domains 0 .. size - 1; those beyond have nothing */
	struct bt_sparse_counts pods; /* by domain: bt_domain_pods */
	const uint32_t *nodes;        /* by domain: bt_domain_nodes */
	struct bt_sparse_counts own;  /* by slot: bt_domain_own */
	/* Over the domains but 0. */
	uint64_t pod_total;      /* sum of pods */
	uint32_t occupied_count; /* domains with pods */
	uint32_t eligible_count; /* domains with eligible nodes */
	/* Over the domains with eligible nodes, but 0; UINT32_MAX where there is none. */
	uint32_t least;        /* the least number of pods */
	uint32_t least_count;  /* domains that have it */
	uint32_t second_least; /* the least of the others */
};

/** Matching pods on the domain's eligible nodes. */
static inline uint32_t bt_domain_pods(const struct bt_domain_sums *sums, uint32_t domain)
{
	return bt_sparse_count(&sums->pods, domain);
}
/** Eligible nodes of the domain. */
static inline uint32_t bt_domain_nodes(const struct bt_domain_sums *sums, uint32_t domain)
{
	return domain < sums->size ? sums->nodes[domain] : 0;
}
/** Matching pods of the slot, eligible or not. */
static inline uint32_t bt_domain_own(const struct bt_domain_sums *sums, uint32_t slot)
{
	return bt_sparse_count(&sums->own, slot);
}

/** O(1). The arrays are the counter's. Caught up when the counter was asked for. */
struct bt_domain_sums bt_domain_counter_sums(const struct bt_domain_counter *counter);
/** Of the question, never another's: two counters with the same serial are one. */
uint64_t bt_domain_counter_serial(const struct bt_domain_counter *counter);

/** Column of a label key; NULL when no node has it. */
const struct bt_label_column *bt_state_label_column(struct bt_state *state, struct bt_str key);

/* What bt_state holds. */

void bt_domain_counters_destroy(struct bt_state *state);
size_t bt_domain_counters_memory_bytes(const struct bt_state *state);
/** Counters beyond this are dropped, longest unused first; for tests. */
void bt_domain_counters_set_bytes_max(struct bt_state *state, size_t bytes);
/** Every counter, caught up, says what a count pod by pod says. For tests and debug builds. */
bool bt_domain_counters_validate(struct bt_state *state, struct bt_strbuf *out_reason);
#endif
