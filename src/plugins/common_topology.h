/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_COMMON_TOPOLOGY_H
#define BT_PLUGINS_COMMON_TOPOLOGY_H
/**
 * Topology domains as the plugins of spec 06 count in them. A domain is an index into the
 * dictionary of a label column (state/node_table.h); 0 says that the node lacks the label. Counts
 * are arrays over the dictionary. What a what-if run adds or removes on one node is a short list of
 * changes on top, so that a copy of the counts costs only that list.
 */
#include "base/arena.h"
#include "framework/plugin.h"
#include "plugins/common_plugin.h"
#include "state/domain_counter.h"
#include "state/domain_tally.h"
#include "state/shape.h"

static inline uint32_t bt_topology_domain(const struct bt_label_column *column, uint32_t slot)
{
	return column != NULL ? column->values[slot] : 0;
}

/**
 * The trait that tells the domains of a key apart; for keys with few domains. Not added again when
 * the list has it.
 */
void bt_topology_add_domain_trait(struct bt_trait_list *list, const struct bt_label_column *column);

/** A change of one domain of one table. */
struct bt_domain_change {
	uint32_t table;
	uint32_t domain;
	int64_t delta;
};

struct bt_domain_changes {
	struct bt_domain_change *items; /* one per table and domain */
	uint32_t count;
	uint32_t capacity;
};

/** Adds delta to the sum of the table's domain; returns the sum before. */
int64_t bt_domain_changes_add(struct bt_domain_changes *changes, struct bt_arena *arena,
	uint32_t table, uint32_t domain, int64_t delta);
struct bt_domain_changes bt_domain_changes_clone(
	const struct bt_domain_changes *changes, struct bt_arena *arena);
static inline int64_t bt_domain_changes_sum(
	const struct bt_domain_changes *changes, uint32_t table, uint32_t domain)
{
	for (uint32_t i = 0; i < changes->count; i++) {
		if (changes->items[i].table == table && changes->items[i].domain == domain) {
			return changes->items[i].delta;
		}
	}
	return 0;
}

/** No node has the key. */
#define BT_NO_TABLE UINT32_MAX

/** Pods with more terms or constraints than this are counted by walking: counters are for what
 * recurs. */
#define BT_COUNTED_TERMS_MAX 16

/*
 * What InterPodAffinity's PreFilter finds out; src/explain reads it, too.
 *
 * Numbers per (topology key, value) pair, as spec 06 sections 3.5 and 3.8 want them. A table is a
 * key; its number in a domain is the sum of what its sources say there, so that domains without a
 * reader cost nothing.
 */

/** Sums that the state keeps, times a factor. */
struct bt_affinity_source {
	const struct bt_domain_tally *tally; /* NULL: pods says it */
	struct bt_sparse_counts pods;        /* by domain */
	int64_t factor;
};

struct bt_affinity_table {
	const struct bt_label_column *column;
	int64_t *own; /* by domain: what was counted here, or copied; NULL: nothing */
	struct bt_affinity_source *sources;
	uint32_t source_count;
	uint32_t source_capacity;
	/** Of the questions behind the numbers: equal sums, equal questions, whatever their order.
	 */
	uint64_t identity[2];
};

struct bt_affinity_tables {
	struct bt_affinity_table *items;
	uint32_t count;
	uint32_t capacity;
	bool copies; /* sources are copied, for cycles that outlive them */
	/** Pairs whose number is not 0, changes included; with several sources in a table at least
	 * 1 when there is one. */
	int64_t entry_count;
	bool touched; /* something was ever counted, also if it added up to 0 */
	struct bt_domain_changes changes;
};

/** A table's number without changes; 0 in domain 0. */
static inline int64_t bt_affinity_table_at(const struct bt_affinity_table *table, uint32_t domain)
{
	uint64_t sum = table->own != NULL ? (uint64_t)table->own[domain] : 0;

	/* Wraps as upstream's int64 for absurd weights. */
	for (uint32_t i = 0; i < table->source_count; i++) {
		const struct bt_affinity_source *source = &table->sources[i];
		uint64_t pods = source->tally != NULL ? bt_domain_tally_at(source->tally, domain)
						      : bt_sparse_count(&source->pods, domain);

		sum += (uint64_t)source->factor * pods;
	}
	return (int64_t)sum;
}

static inline int64_t bt_affinity_tables_at(
	const struct bt_affinity_tables *tables, uint32_t table, uint32_t domain)
{
	return bt_affinity_table_at(&tables->items[table], domain) +
		bt_domain_changes_sum(&tables->changes, table, domain);
}

/** A term of the pod to be placed with its namespaces spelled out. Spec 06 section 3.4. */
struct bt_incoming_term {
	const struct bt_affinity_term *term;
	bool in_every_namespace;
	uint32_t namespace_count;
	const struct bt_str *namespaces;
	uint32_t table; /* in the tables it belongs to; BT_NO_TABLE: no node has its key */
};

struct bt_incoming_terms {
	uint32_t count;
	struct bt_incoming_term *items;
};

/** Terms of the pod, NULL when it has no inter-pod affinity at all. */
static inline const struct bt_affinity_terms *bt_affinity_terms_of(const struct bt_pod_info *pod)
{
	return pod->shape->affinity_terms;
}

/** The terms of a group; count 0 when terms is NULL. */
static inline struct bt_affinity_term_list bt_affinity_group_of(
	const struct bt_affinity_terms *terms, enum bt_affinity_group group)
{
	return terms != NULL ? terms->groups[group] : (struct bt_affinity_term_list){0};
}

/** An incoming term against another pod. */
bool bt_incoming_term_matches(const struct bt_incoming_term *term, struct bt_str namespace_,
	const struct bt_str_map *labels);

/** What PreFilter leaves for Filter. */
struct bt_affinity_filter_data {
	struct bt_incoming_terms affinity;
	struct bt_incoming_terms anti_affinity;
	const struct bt_str_map *namespace_labels; /* of the pod's namespace */
	bool matches_itself;                       /* all of its own affinity terms */
	bool counted;                              /* from counters, not by walking */
	struct bt_affinity_tables near;            /* A: pods that satisfy affinity */
	struct bt_affinity_tables apart;           /* B: pods that violate anti-affinity */
	struct bt_affinity_tables existing;        /* X: existing pods that want the pod away */
};

/** No pod anywhere satisfies the affinity, so the first of its kind may go anywhere. */
static inline bool bt_affinity_is_first_of_its_kind(const struct bt_affinity_filter_data *data)
{
	return data->near.entry_count == 0 && data->matches_itself;
}
#endif
