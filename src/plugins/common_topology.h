/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_COMMON_TOPOLOGY_H
#define BT_PLUGINS_COMMON_TOPOLOGY_H
/**
 * Topology domains as InterPodAffinity and PodTopologySpread count them (spec 06). A domain is an
 * index into the dictionary of a label column (state/node_table.h); 0 means that the node lacks the
 * label. Counts are arrays over the dictionary. Changes by a what-if run are kept in a short list
 * on top of the counts, so a clone of the cycle copies only that list.
 */
#include "base/arena.h"
#include "framework/plugin.h"
#include "plugins/common_plugin.h"
#include "state/domain_counter.h"
#include "state/sparse_counts.h"
#include "state/shape.h"

static inline uint32_t bt_topology_domain(const struct bt_label_column *column, uint32_t slot)
{
	return column != NULL ? column->values[slot] : 0;
}

/**
 * Add the node trait whose value is the domain of a key, unless the list has the trait already. Use
 * only for keys with few domains, because nodes of different domains are in different cells.
 */
void bt_topology_add_domain_trait(struct bt_trait_list *list, const struct bt_label_column *column);

/** A change of the count of one domain in one table, made by a what-if run. */
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

/** Add delta to the change of one domain in one table. Returns the change before the addition. */
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

/** Table index if no node has the key. */
#define BT_NO_TABLE UINT32_MAX

/**
 * Maximum number of terms or constraints of a pod for which PreFilter uses counters. For pods with
 * more terms, PreFilter visits the nodes, because a counter pays off only for a term that recurs.
 */
#define BT_COUNTED_TERMS_MAX 16

/*
 * Data of InterPodAffinity's PreFilter, which src/explain also reads. PreFilter counts pods for
 * each (topology key, value) pair, as in spec 06 sections 3.5 and 3.8. There is a table for each
 * key. The count of a domain is the sum over the sources of its table. The sum is computed when a
 * caller reads the count, so domains whose counts are not read cost nothing.
 */

/** Counts from the state, times a factor. */
struct bt_affinity_source {
	const struct bt_sparse_counts *pods; /* by domain */
	int64_t factor;
};

struct bt_affinity_table {
	const struct bt_label_column *column;
	int64_t *own; /* by domain, counted or copied for this cycle; NULL: none */
	BT_VEC(struct bt_affinity_source) sources; /* in the cycle's arena */
	/**
	 * Identifies what the table counts: the sum of the hashes of its queries, so that the order
	 * of the queries does not matter.
	 */
	uint64_t identity[2];
};

struct bt_affinity_tables {
	struct bt_affinity_table *items;
	uint32_t count;
	uint32_t capacity;
	bool copies; /* copy sources to `own`, because the cycle may outlive the sources */
	/**
	 * Number of pairs whose count is not 0, changes included. If a table has several sources,
	 * the value may be too high, but it is 0 only if all counts are 0.
	 */
	int64_t entry_count;
	bool touched; /* a pod was counted, even if the counts add up to 0 */
	struct bt_domain_changes changes;
};

/** Returns the count of a domain without changes; 0 for domain 0. */
static inline int64_t bt_affinity_table_at(const struct bt_affinity_table *table, uint32_t domain)
{
	uint64_t sum = table->own != NULL ? (uint64_t)table->own[domain] : 0;

	/* Wraps on overflow, as upstream's int64 does. */
	for (uint32_t i = 0; i < table->sources.count; i++) {
		const struct bt_affinity_source *source = &table->sources.items[i];

		sum += (uint64_t)source->factor * bt_sparse_count(source->pods, domain);
	}
	return (int64_t)sum;
}

static inline int64_t bt_affinity_tables_at(
	const struct bt_affinity_tables *tables, uint32_t table, uint32_t domain)
{
	return bt_affinity_table_at(&tables->items[table], domain) +
		bt_domain_changes_sum(&tables->changes, table, domain);
}

/** A term of the pod to be scheduled, with its namespaces expanded. Spec 06 section 3.4. */
struct bt_incoming_term {
	const struct bt_affinity_term *term;
	bool in_every_namespace;
	uint32_t namespace_count;
	const struct bt_str *namespaces;
	uint32_t table; /* index of the term's table; BT_NO_TABLE: no node has the key */
};

struct bt_incoming_terms {
	uint32_t count;
	struct bt_incoming_term *items;
};

/** Returns the terms of one kind; empty if `terms` is NULL. */
static inline struct bt_affinity_term_list bt_affinity_group_of(
	const struct bt_affinity_terms *terms, enum bt_affinity_group group)
{
	return terms != NULL ? terms->groups[group] : (struct bt_affinity_term_list){0};
}

/** Whether an incoming term matches another pod. */
bool bt_incoming_term_matches(const struct bt_incoming_term *term, struct bt_str namespace_,
	const struct bt_str_map *labels);

/** Data that PreFilter makes for Filter. */
struct bt_affinity_filter_data {
	struct bt_incoming_terms affinity;
	struct bt_incoming_terms anti_affinity;
	const struct bt_str_map *namespace_labels; /* labels of the pod's namespace */
	bool matches_itself;                       /* the pod matches all of its affinity terms */
	bool counted;                    /* computed from counters instead of by visiting nodes */
	struct bt_affinity_tables near;  /* A: pods that match affinity */
	struct bt_affinity_tables apart; /* B: pods that match anti-affinity */
	struct bt_affinity_tables existing; /* X: anti-affinity of existing pods */
};

/**
 * Whether the affinity terms do not restrict the node of this pod: no other pod matches the terms,
 * but this pod itself does.
 */
static inline bool bt_affinity_is_first_of_its_kind(const struct bt_affinity_filter_data *data)
{
	return data->near.entry_count == 0 && data->matches_itself;
}
#endif
