/* SPDX-License-Identifier: Apache-2.0 */
#include "state/node_table_edit.h"

/** How far ahead of the walk over all rows their labels are asked for. */
#define PREFETCH_ROWS 8

static uint64_t dictionary_hash(const void *owner, uint32_t index)
{
	const struct bt_label_column *column = owner;

	return bt_sym_hash(column->dictionary.items[index]);
}

/* --- keys --- */

static uint64_t label_key_hash(const void *owner, uint32_t index)
{
	const struct bt_node_table *table = owner;

	return bt_sym_hash(table->label_keys.items[index].key);
}

void bt_label_keys_init(struct bt_node_table *table)
{
	bt_map_init(&table->label_key_index, label_key_hash, table);
}

static uint32_t find_key(const struct bt_node_table *table, bt_sym key)
{
	uint64_t hash = bt_sym_hash(key);
	uint32_t at = bt_map_first(&table->label_key_index, hash);

	for (; at != BT_MAP_NONE; at = bt_map_next(&table->label_key_index, hash, at)) {
		uint32_t index = bt_map_value(&table->label_key_index, at);
		if (bt_sym_equal(table->label_keys.items[index].key, key)) {
			return index;
		}
	}
	return UINT32_MAX;
}

bool bt_node_table_has_label_key(const struct bt_node_table *table, bt_sym key)
{
	return find_key(table, key) != UINT32_MAX;
}

static void count_key(struct bt_node_table *table, bt_sym key)
{
	struct bt_label_key fresh = {key, 1};
	uint32_t index = find_key(table, key);

	if (index != UINT32_MAX) {
		table->label_keys.items[index].slot_count++;
		return;
	}
	if (table->free_label_keys.count != 0) {
		index = table->free_label_keys.items[--table->free_label_keys.count];
		table->label_keys.items[index] = fresh;
	} else {
		index = table->label_keys.count;
		bt_vec_push(&table->label_keys, fresh);
	}
	bt_map_insert(&table->label_key_index, bt_sym_hash(key), index);
	table->label_key_epoch++;
}

static void discount_key(struct bt_node_table *table, bt_sym key)
{
	uint32_t index = find_key(table, key);
	bool removed;

	BT_ASSERT(index != UINT32_MAX);
	if (--table->label_keys.items[index].slot_count == 0) {
		removed = bt_map_remove(&table->label_key_index, bt_sym_hash(key), index);
		BT_ASSERT(removed);
		bt_vec_push(&table->free_label_keys, index);
	}
}

/** New ones first: what stays never goes. */
static void count_keys(struct bt_node_table *table, const struct bt_node_row *row,
	const struct bt_label_pair *labels, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		count_key(table, labels[i].key);
	}
	for (uint32_t i = 0; i < row->labels.count; i++) {
		discount_key(table, row->label_symbols[i].key);
	}
}

/* --- columns --- */

static struct bt_label_column *find_column(const struct bt_node_table *table, bt_sym key)
{
	uint64_t hash = bt_sym_hash(key);
	uint32_t at = bt_map_first(&table->label_column_index, hash);

	for (; at != BT_MAP_NONE; at = bt_map_next(&table->label_column_index, hash, at)) {
		struct bt_label_column *column =
			table->label_columns.items[bt_map_value(&table->label_column_index, at)];
		if (bt_sym_equal(column->key, key)) {
			return column;
		}
	}
	return NULL;
}

uint32_t bt_label_column_find(const struct bt_label_column *column, bt_sym value)
{
	uint64_t hash = bt_sym_hash(value);
	uint32_t at = bt_map_first(&column->index, hash);

	for (; at != BT_MAP_NONE; at = bt_map_next(&column->index, hash, at)) {
		uint32_t index = bt_map_value(&column->index, at);
		if (bt_sym_equal(column->dictionary.items[index], value)) {
			return index;
		}
	}
	return 0;
}

/* Without an entry in the index. */
static uint32_t add_value(struct bt_node_table *table, struct bt_label_column *column, bt_sym value)
{
	bt_vec_push(&column->dictionary, bt_symbol_ref(table->symbols, value));
	bt_vec_push(&column->value_counts, 0);
	return column->dictionary.count - 1;
}

/* Index of a value, added when new. */
static uint32_t value_index(
	struct bt_node_table *table, struct bt_label_column *column, bt_sym value)
{
	uint32_t index = bt_label_column_find(column, value);

	if (index == 0) {
		index = add_value(table, column, value);
		bt_map_insert(&column->index, bt_sym_hash(value), index);
	}
	return index;
}

static void set_value(
	struct bt_node_table *table, struct bt_label_column *column, uint32_t slot, uint32_t index)
{
	uint32_t old = column->values[slot];

	if (old == index) {
		return;
	}
	if (column->values == table->zero_values) {
		column->values = BT_NEW_ARRAY(uint32_t, table->slot_capacity);
	}
	column->values[slot] = index;
	if (old != 0) {
		column->live_count -= --column->value_counts.items[old] == 0;
		column->present_count--;
	}
	if (index != 0) {
		column->live_count += column->value_counts.items[index]++ == 0;
		column->present_count++;
	}
	if (column->present_count == 0) {
		bt_free(column->values);
		column->values = table->zero_values;
	}
}

static void clear_dictionary(struct bt_node_table *table, struct bt_label_column *column)
{
	for (uint32_t i = 1; i < column->dictionary.count; i++) {
		bt_symbol_unref(table->symbols, column->dictionary.items[i]);
	}
	bt_vec_finish(&column->dictionary);
	bt_vec_finish(&column->value_counts);
	bt_map_finish(&column->index);
}

static void init_dictionary(struct bt_label_column *column)
{
	bt_vec_push(&column->dictionary, BT_SYM_NONE);
	bt_vec_push(&column->value_counts, 0);
	bt_map_init(&column->index, dictionary_hash, column);
}

/* Renumber the values that some slot has; the others go. */
static void rebuild_dictionary(struct bt_node_table *table, struct bt_label_column *column)
{
	uint32_t count = column->dictionary.count;
	bt_sym *old = column->dictionary.items;
	uint32_t *counts = column->value_counts.items;
	uint32_t *renumbered = BT_NEW_ARRAY(uint32_t, count);

	memset(&column->dictionary, 0, sizeof(column->dictionary));
	memset(&column->value_counts, 0, sizeof(column->value_counts));
	bt_map_finish(&column->index);
	init_dictionary(column);
	for (uint32_t i = 1; i < count; i++) {
		if (counts[i] != 0) {
			renumbered[i] = value_index(table, column, old[i]);
			column->value_counts.items[renumbered[i]] = counts[i];
		}
		bt_symbol_unref(table->symbols, old[i]);
	}
	if (column->values != table->zero_values) {
		for (uint32_t slot = 0; slot < table->slot_count; slot++) {
			column->values[slot] = renumbered[column->values[slot]];
		}
	}
	column->rebuild_count++;
	bt_free(renumbered);
	bt_free(old);
	bt_free(counts);
}

static bool has_key(const struct bt_label_pair *labels, uint32_t count, bt_sym key)
{
	for (uint32_t i = 0; i < count; i++) {
		if (bt_sym_equal(labels[i].key, key)) {
			return true;
		}
	}
	return false;
}

void bt_label_columns_set(struct bt_node_table *table, uint32_t slot, struct bt_label_pair label)
{
	struct bt_label_column *column = find_column(table, label.key);

	if (column != NULL) {
		set_value(table, column, slot, value_index(table, column, label.value));
		uint64_t dead = (uint64_t)column->dictionary.count - 1 - column->live_count;

		if (dead > UINT64_C(2) * table->slot_count + 64) {
			rebuild_dictionary(table, column);
		}
	}
}

void bt_label_columns_update(struct bt_node_table *table, uint32_t slot,
	const struct bt_label_pair *labels, uint32_t count)
{
	const struct bt_node_row *row = &table->rows[slot];

	count_keys(table, row, labels, count);
	if (table->label_columns.count == 0) {
		return;
	}
	for (uint32_t i = 0; i < row->labels.count; i++) {
		struct bt_label_column *column = find_column(table, row->label_symbols[i].key);
		if (column != NULL && !has_key(labels, count, column->key)) {
			set_value(table, column, slot, 0);
		}
	}
	for (uint32_t i = 0; i < count; i++) {
		bt_label_columns_set(table, slot, labels[i]);
	}
}

void bt_label_columns_finish(struct bt_node_table *table)
{
	for (uint32_t i = 0; i < table->label_columns.count; i++) {
		struct bt_label_column *column = table->label_columns.items[i];
		clear_dictionary(table, column);
		if (column->values != table->zero_values) {
			bt_free(column->values);
		}
		bt_symbol_unref(table->symbols, column->key);
		bt_free(column);
	}
	bt_vec_finish(&table->label_columns);
	bt_vec_finish(&table->label_keys);
	bt_vec_finish(&table->free_label_keys);
	bt_map_finish(&table->label_key_index);
}

void bt_label_columns_grow(
	struct bt_node_table *table, const uint32_t *old_zeros, uint32_t old_capacity)
{
	for (uint32_t i = 0; i < table->label_columns.count; i++) {
		struct bt_label_column *column = table->label_columns.items[i];
		if (column->values == old_zeros) {
			column->values = table->zero_values;
			continue;
		}
		column->values =
			bt_realloc_array(column->values, table->slot_capacity, sizeof(uint32_t));
		memset(column->values + old_capacity, 0,
			(table->slot_capacity - old_capacity) * sizeof(uint32_t));
	}
}

static bt_sym label_of(const struct bt_node_row *row, bt_sym key)
{
	for (uint32_t i = 0; i < row->labels.count; i++) {
		if (bt_sym_equal(row->label_symbols[i].key, key)) {
			return row->label_symbols[i].value;
		}
	}
	return BT_SYM_NONE;
}

const struct bt_label_column *bt_node_table_label_column(
	struct bt_node_table *table, struct bt_str key)
{
	bt_sym symbol = bt_symbol_ref_str(table->symbols, key);
	struct bt_label_column *column = find_column(table, symbol);

	if (column != NULL) {
		bt_symbol_unref(table->symbols, symbol);
		return column;
	}
	column = BT_NEW(struct bt_label_column);
	column->key = symbol;
	column->values = table->zero_values;
	init_dictionary(column);
	bt_vec_push(&table->label_columns, column);
	bt_map_insert(
		&table->label_column_index, bt_sym_hash(symbol), table->label_columns.count - 1);
	/*
	 * All values of a new column. Values are told apart by the numbers of their symbols, which
	 * follow each other when nodes have values of their own; the index is made once the values
	 * are counted.
	 */
	uint32_t *index_of = BT_NEW_ARRAY(uint32_t, table->symbols->entries.count);

	for (uint32_t slot = 0; slot < table->slot_count; slot++) {
		bt_sym value = label_of(&table->rows[slot], column->key);
		if (table->slot_count - slot > PREFETCH_ROWS) {
			BT_PREFETCH(table->rows[slot + PREFETCH_ROWS].label_symbols);
		}
		if (bt_sym_is_none(value)) {
			continue;
		}
		if (index_of[value.id] == 0) {
			index_of[value.id] = add_value(table, column, value);
		}
		set_value(table, column, slot, index_of[value.id]);
	}
	bt_free(index_of);
	bt_map_reserve(&column->index, column->dictionary.count);
	for (uint32_t i = 1; i < column->dictionary.count; i++) {
		bt_map_insert(&column->index, bt_sym_hash(column->dictionary.items[i]), i);
	}
	return column;
}
