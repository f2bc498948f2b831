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
 * shared between counters (eligibility.h), a new one finds its pods by their labels (pod_index.h),
 * and slots and domains without matching pods take no room (sparse_counts.h).
 *
 * A domain is an index into the dictionary of the topology key's label column, 0 for nodes without
 * the label.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/selector.h"
#include "state/eligibility.h"
#include "state/sparse_counts.h"
#include "state/state.h"

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
