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

/** Counts of one topology key. */
struct bt_key_counts {
	const struct bt_label_column *column;
	int64_t *counts; /* by domain */
};

/** Counts per (key, value) pair, as spec 06 sections 3.5 and 3.8 keep them. */
struct bt_pair_counts {
	struct bt_key_counts *tables;
	uint32_t table_count;
	uint32_t table_capacity;
	int64_t entry_count; /* pairs whose count is not 0, changes included */
	bool touched;        /* something was ever counted, also if it added up to 0 */
	struct bt_domain_changes changes;
};

#define BT_NO_TABLE UINT32_MAX

/** Pods with more terms or constraints than this are counted by walking: counters are for what
 * recurs. */
#define BT_COUNTED_TERMS_MAX 16

/** The table of a key, made when it is new; BT_NO_TABLE when no node can have the key. */
uint32_t bt_pair_counts_table(struct bt_pair_counts *counts, struct bt_state *state,
	struct bt_arena *arena, struct bt_str key);
/** While counting: the table's pair of this domain (not 0) gets delta more. */
static inline void bt_pair_counts_count(
	struct bt_pair_counts *counts, uint32_t table, uint32_t domain, int64_t delta)
{
	int64_t *count = &counts->tables[table].counts[domain];
	int64_t before = *count;

	/* Wraps as upstream's int64 for absurd weights. */
	*count = (int64_t)((uint64_t)before + (uint64_t)delta);
	counts->entry_count += (*count != 0) - (before != 0);
	counts->touched = true;
}
/** Nothing counted; the tables stay. */
void bt_pair_counts_reset(struct bt_pair_counts *counts);
/** After counting: a what-if change. */
void bt_pair_counts_change(struct bt_pair_counts *counts, struct bt_arena *arena, uint32_t table,
	uint32_t domain, int64_t delta);
static inline int64_t bt_pair_counts_at(
	const struct bt_pair_counts *counts, uint32_t table, uint32_t domain)
{
	return counts->tables[table].counts[domain] +
		bt_domain_changes_sum(&counts->changes, table, domain);
}
#endif
