/* SPDX-License-Identifier: Apache-2.0 */
#include "plugins/common_affinity_tables.h"

#include <string.h>

/** A table with more sources than this, and one for so many domains, adds them up once. */
#define SOURCES_MAX 16
#define DOMAINS_PER_SOURCE 64

enum source_kind {
	SOURCE_TERM,
	SOURCE_COUNTER,
};

uint32_t bt_affinity_table_of_column(struct bt_affinity_tables *tables, struct bt_arena *arena,
	const struct bt_label_column *column)
{
	if (column == NULL || column->present_count == 0) {
		return BT_NO_TABLE;
	}
	for (uint32_t i = 0; i < tables->count; i++) {
		if (tables->items[i].column == column) {
			return i;
		}
	}
	if (tables->count == tables->capacity) {
		uint32_t capacity = tables->capacity * 2 + 2;
		struct bt_affinity_table *items =
			BT_ARENA_NEW_ARRAY(arena, struct bt_affinity_table, capacity);
		if (tables->count != 0) {
			memcpy(items, tables->items, tables->count * sizeof(*items));
		}
		tables->items = items;
		tables->capacity = capacity;
	}
	tables->items[tables->count] = (struct bt_affinity_table){.column = column};
	return tables->count++;
}

uint32_t bt_affinity_table_of_key(struct bt_affinity_tables *tables, struct bt_state *state,
	struct bt_arena *arena, struct bt_str key)
{
	return bt_affinity_table_of_column(tables, arena, bt_state_label_column(state, key));
}

void bt_affinity_tables_reset(struct bt_affinity_tables *tables)
{
	for (uint32_t i = 0; i < tables->count; i++) {
		tables->items[i] = (struct bt_affinity_table){.column = tables->items[i].column};
	}
	tables->entry_count = 0;
	tables->touched = false;
}

/* --- counting --- */

static int64_t *own_numbers(struct bt_affinity_table *table, struct bt_arena *arena)
{
	if (table->own == NULL) {
		table->own = BT_ARENA_NEW_ARRAY(arena, int64_t, table->column->dictionary.count);
	}
	return table->own;
}

void bt_affinity_table_count(struct bt_affinity_tables *tables, struct bt_arena *arena,
	uint32_t table, uint32_t domain, int64_t delta)
{
	int64_t *number = &own_numbers(&tables->items[table], arena)[domain];
	int64_t before = *number;

	/* Wraps as upstream's int64 for absurd weights. */
	*number = (int64_t)((uint64_t)before + (uint64_t)delta);
	tables->entry_count += (*number != 0) - (before != 0);
	tables->touched = true;
}

static void add_page(const uint32_t *page, uint64_t factor, int64_t *sums, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		sums[i] = (int64_t)((uint64_t)sums[i] + factor * page[i]);
	}
}

static void add_source_to(
	const struct bt_affinity_source *source, int64_t *sums, uint32_t domain_count)
{
	if (source->tally != NULL) {
		bt_domain_tally_add_to(source->tally, source->factor, sums, domain_count);
		return;
	}
	for (uint32_t i = 0; i < source->pods.page_count; i++) {
		uint32_t first = i * BT_COUNTS_PAGE;

		if (source->pods.pages[i] != NULL && first < domain_count) {
			uint32_t left = domain_count - first;
			add_page(source->pods.pages[i], (uint64_t)source->factor, sums + first,
				left < BT_COUNTS_PAGE ? left : BT_COUNTS_PAGE);
		}
	}
	sums[0] = 0; /* nodes without the label do not count */
}

static void reserve_source(struct bt_affinity_table *table, struct bt_arena *arena)
{
	uint32_t capacity = table->source_capacity * 2 + 2;
	struct bt_affinity_source *sources;

	if (table->source_count < table->source_capacity) {
		return;
	}
	sources = BT_ARENA_NEW_ARRAY(arena, struct bt_affinity_source, capacity);
	if (table->source_count != 0) {
		memcpy(sources, table->sources, table->source_count * sizeof(*sources));
	}
	table->sources = sources;
	table->source_capacity = capacity;
}

/** The sums of the sources become numbers of the table's own. */
static void fold(struct bt_affinity_table *table, struct bt_arena *arena)
{
	int64_t *own = own_numbers(table, arena);

	for (uint32_t i = 0; i < table->source_count; i++) {
		add_source_to(&table->sources[i], own, table->column->dictionary.count);
	}
	table->source_count = 0;
}

static void add_source(struct bt_affinity_tables *tables, struct bt_arena *arena,
	uint32_t table_index, const struct bt_affinity_source *source, enum source_kind kind,
	uint64_t serial)
{
	struct bt_affinity_table *table = &tables->items[table_index];
	uint32_t domain_count = table->column->dictionary.count;

	for (uint32_t i = 0; i < 2; i++) {
		uint64_t question = bt_hash_u64(bt_hash_u64(i + UINT64_C(1), serial), kind);
		table->identity[i] += bt_hash_u64(question, (uint64_t)source->factor);
	}
	reserve_source(table, arena);
	table->sources[table->source_count++] = *source;
	if (tables->copies || table->own != NULL ||
		table->source_count > SOURCES_MAX + domain_count / DOMAINS_PER_SOURCE) {
		fold(table, arena);
	}
}

void bt_affinity_table_add_tally(struct bt_affinity_tables *tables, struct bt_arena *arena,
	uint32_t table, const struct bt_domain_tally *tally, uint64_t serial, int64_t factor)
{
	struct bt_affinity_source source = {.tally = tally, .factor = factor};

	add_source(tables, arena, table, &source, SOURCE_TERM, serial);
	tables->entry_count += tally->occupied_count;
	tables->touched = tables->touched || tally->total != 0;
}

void bt_affinity_table_add_counter(struct bt_affinity_tables *tables, struct bt_arena *arena,
	uint32_t table, const struct bt_domain_counter *counter, int64_t factor)
{
	struct bt_domain_sums sums = bt_domain_counter_sums(counter);
	struct bt_affinity_source source = {.pods = sums.pods, .factor = factor};

	add_source(
		tables, arena, table, &source, SOURCE_COUNTER, bt_domain_counter_serial(counter));
	tables->entry_count += sums.occupied_count;
	tables->touched = tables->touched || sums.pod_total != 0;
}

void bt_affinity_table_change(struct bt_affinity_tables *tables, struct bt_arena *arena,
	uint32_t table, uint32_t domain, int64_t delta)
{
	int64_t before = bt_affinity_table_at(&tables->items[table], domain);
	int64_t after;

	before += bt_domain_changes_add(&tables->changes, arena, table, domain, delta);
	after = before + delta;
	tables->entry_count += (after != 0) - (before != 0);
}

void bt_affinity_tables_clone(struct bt_affinity_tables *tables, struct bt_arena *arena)
{
	tables->changes = bt_domain_changes_clone(&tables->changes, arena);
	/* A table made later must not land in the list that the original uses. */
	tables->capacity = tables->count;
}

void bt_affinity_table_sum(const struct bt_affinity_table *table, int64_t *sums)
{
	uint32_t count = table->column->dictionary.count;

	if (table->own != NULL) {
		memcpy(sums, table->own, count * sizeof(*sums));
	} else {
		memset(sums, 0, count * sizeof(*sums));
	}
	for (uint32_t i = 0; i < table->source_count; i++) {
		add_source_to(&table->sources[i], sums, count);
	}
}
