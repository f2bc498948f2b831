/* SPDX-License-Identifier: Apache-2.0 */
#include "plugins/common_topology.h"

#include <string.h>

#include "state/domain_counter.h"

/** Kind of the trait in its identity; counters, which other traits name, start at 1. */
#define DOMAIN_TRAIT (UINT64_C(1) << 63)

void bt_topology_add_domain_trait(struct bt_trait_list *list, const struct bt_label_column *column)
{
	struct bt_node_trait trait = {
		.identity = {DOMAIN_TRAIT, column->key.id, column->rebuild_count},
		.reads = BT_CHANGE_LABELS | BT_CHANGE_EXISTENCE,
		.values = column->values,
	};

	for (uint32_t i = 0; i < list->count; i++) {
		if (memcmp(list->items[i].identity, trait.identity, sizeof(trait.identity)) == 0) {
			return;
		}
	}
	bt_trait_list_add(list, &trait);
}

int64_t bt_domain_changes_add(struct bt_domain_changes *changes, struct bt_arena *arena,
	uint32_t table, uint32_t domain, int64_t delta)
{
	for (uint32_t i = 0; i < changes->count; i++) {
		struct bt_domain_change *change = &changes->items[i];

		if (change->table == table && change->domain == domain) {
			change->delta += delta;
			return change->delta - delta;
		}
	}
	if (changes->count == changes->capacity) {
		uint32_t capacity = changes->capacity * 2 + 4;
		struct bt_domain_change *items =
			BT_ARENA_NEW_ARRAY(arena, struct bt_domain_change, capacity);
		if (changes->count != 0) {
			memcpy(items, changes->items, changes->count * sizeof(*items));
		}
		changes->items = items;
		changes->capacity = capacity;
	}
	changes->items[changes->count++] = (struct bt_domain_change){table, domain, delta};
	return 0;
}

struct bt_domain_changes bt_domain_changes_clone(
	const struct bt_domain_changes *changes, struct bt_arena *arena)
{
	struct bt_domain_changes copy = {.count = changes->count, .capacity = changes->count};

	if (changes->count != 0) {
		copy.items = BT_ARENA_NEW_ARRAY(arena, struct bt_domain_change, changes->count);
		memcpy(copy.items, changes->items, changes->count * sizeof(*copy.items));
	}
	return copy;
}

uint32_t bt_pair_counts_table(struct bt_pair_counts *counts, struct bt_state *state,
	struct bt_arena *arena, struct bt_str key)
{
	const struct bt_label_column *column = bt_state_label_column(state, key);

	if (column == NULL) {
		return BT_NO_TABLE;
	}
	for (uint32_t i = 0; i < counts->table_count; i++) {
		if (counts->tables[i].column == column) {
			return i;
		}
	}
	if (counts->table_count == counts->table_capacity) {
		uint32_t capacity = counts->table_capacity * 2 + 2;
		struct bt_key_counts *tables =
			BT_ARENA_NEW_ARRAY(arena, struct bt_key_counts, capacity);
		if (counts->table_count != 0) {
			memcpy(tables, counts->tables, counts->table_count * sizeof(*tables));
		}
		counts->tables = tables;
		counts->table_capacity = capacity;
	}
	counts->tables[counts->table_count] = (struct bt_key_counts){
		column, BT_ARENA_NEW_ARRAY(arena, int64_t, column->dictionary.count)};
	return counts->table_count++;
}

void bt_pair_counts_change(struct bt_pair_counts *counts, struct bt_arena *arena, uint32_t table,
	uint32_t domain, int64_t delta)
{
	int64_t before = counts->tables[table].counts[domain];
	int64_t after;

	before += bt_domain_changes_add(&counts->changes, arena, table, domain, delta);
	after = before + delta;
	counts->entry_count += (after != 0) - (before != 0);
}

void bt_pair_counts_reset(struct bt_pair_counts *counts)
{
	for (uint32_t i = 0; i < counts->table_count; i++) {
		memset(counts->tables[i].counts, 0,
			counts->tables[i].column->dictionary.count * sizeof(int64_t));
	}
	counts->entry_count = 0;
	counts->touched = false;
}
