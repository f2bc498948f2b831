/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_COMMON_AFFINITY_TABLES_H
#define BT_PLUGINS_COMMON_AFFINITY_TABLES_H
/**
 * Numbers per (topology key, value) pair, as spec 06 sections 3.5 and 3.8 want them. A table is a
 * key; its number in a domain is the sum of what its sources say there, so that nobody adds up
 * domains that nobody asks about. What a what-if run adds or removes on one node is a short list of
 * changes on top, so that a copy of the tables costs only that list.
 */
#include "plugins/common_topology.h"
#include "state/domain_counter.h"
#include "state/domain_tally.h"

/** Sums that somebody else keeps, times a factor. */
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

/** The table of a key, made when it is new; BT_NO_TABLE when no node has the key. */
uint32_t bt_affinity_table_of_key(struct bt_affinity_tables *tables, struct bt_state *state,
	struct bt_arena *arena, struct bt_str key);
uint32_t bt_affinity_table_of_column(struct bt_affinity_tables *tables, struct bt_arena *arena,
	const struct bt_label_column *column);
/** Nothing counted; the tables stay. */
void bt_affinity_tables_reset(struct bt_affinity_tables *tables);

/** While counting: the pair of this domain (not 0) gets delta more. */
void bt_affinity_table_count(struct bt_affinity_tables *tables, struct bt_arena *arena,
	uint32_t table, uint32_t domain, int64_t delta);
/** While counting: factor times a term's pods, or those of a counter, are added. */
void bt_affinity_table_add_tally(struct bt_affinity_tables *tables, struct bt_arena *arena,
	uint32_t table, const struct bt_domain_tally *tally, uint64_t serial, int64_t factor);
void bt_affinity_table_add_counter(struct bt_affinity_tables *tables, struct bt_arena *arena,
	uint32_t table, const struct bt_domain_counter *counter, int64_t factor);
/** After counting: a what-if change. */
void bt_affinity_table_change(struct bt_affinity_tables *tables, struct bt_arena *arena,
	uint32_t table, uint32_t domain, int64_t delta);
/** The tables of a cloned cycle. */
void bt_affinity_tables_clone(struct bt_affinity_tables *tables, struct bt_arena *arena);

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

/** sums[domain] = the table's number without changes, for every domain of its column. */
void bt_affinity_table_sum(const struct bt_affinity_table *table, int64_t *sums);
/** Whether so many slots are better served by bt_affinity_table_sum than one by one. */
static inline bool bt_affinity_table_sums_pay(
	const struct bt_affinity_table *table, uint32_t slot_count)
{
	return slot_count >= 16 && slot_count >= table->column->dictionary.count / 4;
}
#endif
