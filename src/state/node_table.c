/* SPDX-License-Identifier: Apache-2.0 */
#include "state/node_table.h"

#include <stddef.h>

#include "base/wrap.h"
#include "state/node_table_edit.h"

/** Prefetch distance, in rows, of a pass over all labels. */
#define PREFETCH_ROWS 8

static uint32_t find_key(const struct bt_node_table *table, bt_sym key)
{
	uint64_t hash = bt_sym_hash(key);

	BT_MAP_EACH (&table->label_keys.map, hash, index) {
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

static struct bt_label_column *find_column(const struct bt_node_table *table, bt_sym key)
{
	uint64_t hash = bt_sym_hash(key);

	BT_MAP_EACH (&table->label_column_index, hash, id) {
		struct bt_label_column *column = table->label_columns.items[id];
		if (bt_sym_equal(column->key, key)) {
			return column;
		}
	}
	return NULL;
}

uint32_t bt_label_column_find(const struct bt_label_column *column, bt_sym value)
{
	uint64_t hash = bt_sym_hash(value);

	BT_MAP_EACH (&column->index, hash, index) {
		if (bt_sym_equal(column->dictionary.items[index], value)) {
			return index;
		}
	}
	return 0;
}

/* Append a value to the dictionary, but not to the index. */
static uint32_t add_value(struct bt_node_table *table, struct bt_label_column *column, bt_sym value)
{
	bt_vec_push(&column->dictionary, bt_symbol_ref(table->symbols, value));
	bt_vec_push(&column->value_counts, 0);
	return column->dictionary.count - 1;
}

/* Dictionary index of a value, which is added if it is new. */
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
	column->change_count++;
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

static void init_dictionary(struct bt_label_column *column)
{
	bt_vec_push(&column->dictionary, BT_SYM_NONE);
	bt_vec_push(&column->value_counts, 0);
}

static bt_sym label_of(const struct bt_label_pair *labels, uint32_t count, bt_sym key)
{
	for (uint32_t i = 0; i < count; i++) {
		if (bt_sym_equal(labels[i].key, key)) {
			return labels[i].value;
		}
	}
	return BT_SYM_NONE;
}

void bt_label_columns_set(struct bt_node_table *table, uint32_t slot, struct bt_label_pair label)
{
	struct bt_label_column *column = find_column(table, label.key);

	if (column == NULL) {
		return;
	}
	set_value(table, column, slot, value_index(table, column, label.value));
	uint64_t dead = (uint64_t)column->dictionary.count - 1 - column->live_count;
	if (dead <= UINT64_C(2) * table->slot_count + 64) {
		return;
	}
	/* Rebuild the dictionary from the values that some slot has. */
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
		for (uint32_t i = 0; i < table->slot_count; i++) {
			column->values[i] = renumbered[column->values[i]];
		}
	}
	column->rebuild_count++;
	bt_free(renumbered);
	bt_free(old);
	bt_free(counts);
}

void bt_label_columns_update(struct bt_node_table *table, uint32_t slot,
	const struct bt_label_pair *labels, uint32_t count)
{
	const struct bt_node_row *row = &table->rows[slot];

	/*
	 * Count the new keys before removing the old keys, so that the count of a key that stays
	 * never drops to 0.
	 */
	for (uint32_t k = 0; k < count; k++) {
		bt_sym key = labels[k].key;
		struct bt_label_key fresh = {key, 1};
		uint32_t index = find_key(table, key);

		if (index != UINT32_MAX) {
			table->label_keys.items[index].slot_count++;
			continue;
		}
		bt_hash_table_add(&table->label_keys, bt_sym_hash(key), fresh, index);
		table->label_key_epoch++;
	}
	for (uint32_t k = 0; k < row->labels.count; k++) {
		bt_sym key = row->label_symbols[k].key;
		uint32_t index = find_key(table, key);

		BT_ASSERT(index != UINT32_MAX);
		if (--table->label_keys.items[index].slot_count == 0) {
			bt_hash_table_remove(&table->label_keys, bt_sym_hash(key), index);
		}
	}
	if (table->label_columns.count == 0) {
		return;
	}
	for (uint32_t i = 0; i < row->labels.count; i++) {
		bt_sym key = row->label_symbols[i].key;
		struct bt_label_column *column = find_column(table, key);
		if (column != NULL && bt_sym_is_none(label_of(labels, count, key))) {
			set_value(table, column, slot, 0);
		}
	}
	for (uint32_t i = 0; i < count; i++) {
		bt_label_columns_set(table, slot, labels[i]);
	}
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
	 * Fill a new column. Values are looked up by symbol number in an array, which is faster
	 * than the index (usually, symbol numbers of consecutive nodes are close together). The
	 * index is made afterwards.
	 */
	uint32_t *index_of = BT_NEW_ARRAY(uint32_t, table->symbols->entries.count);

	for (uint32_t slot = 0; slot < table->slot_count; slot++) {
		const struct bt_node_row *row = &table->rows[slot];
		bt_sym value = label_of(row->label_symbols, row->labels.count, column->key);
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

#define CAPACITY_MIN UINT32_C(64)

void bt_node_table_init(struct bt_node_table *table, struct bt_symbol_table *symbols)
{
	*table = (struct bt_node_table){.symbols = symbols};
	bt_taint_sets_init(table);
}

static void finish_row(struct bt_node_row *row)
{
	bt_free(row->labels.items);
	bt_free(row->uid);
	bt_vec_finish(&row->images);
	bt_vec_finish(&row->ports);
	bt_vec_finish(&row->pods);
	bt_vec_finish(&row->pods_with_affinity);
	bt_vec_finish(&row->pods_with_required_anti_affinity);
	bt_vec_finish(&row->claims);
	bt_vec_finish(&row->zero_scalars);
}

/* The arrays with an entry for each slot, listed once for growing, clearing and freeing. */
#define COLUMN(name) \
	{ \
		offsetof(struct bt_node_table, name), \
			sizeof(*((struct bt_node_table *)NULL)->name) \
	}

static const struct {
	size_t offset;
	size_t size; /* of an entry */
} slot_columns[] = {
	COLUMN(allocatable[BT_CPU_MILLI]), COLUMN(allocatable[BT_MEMORY_BYTES]),
	COLUMN(allocatable[BT_EPHEMERAL_BYTES]), COLUMN(allocatable_pods),
	COLUMN(requested[BT_CPU_MILLI]), COLUMN(requested[BT_MEMORY_BYTES]),
	COLUMN(requested[BT_EPHEMERAL_BYTES]), COLUMN(non_zero[BT_CPU_MILLI]),
	COLUMN(non_zero[BT_MEMORY_BYTES]), COLUMN(pod_count), COLUMN(inverse[BT_CPU_MILLI]),
	COLUMN(inverse[BT_MEMORY_BYTES]), COLUMN(taint_set), COLUMN(unschedulable),
	COLUMN(declared_features),
	COLUMN(rows), /* must be last: bt_node_table_release clears all columns but the last */
};

static void **slot_column(struct bt_node_table *table, size_t index)
{
	return (void *)((char *)table + slot_columns[index].offset);
}

void bt_node_table_finish(struct bt_node_table *table)
{
	for (uint32_t slot = 0; slot < table->slot_count; slot++) {
		finish_row(&table->rows[slot]);
	}
	for (size_t i = 0; i < BT_ARRAY_LENGTH(slot_columns); i++) {
		bt_free(*slot_column(table, i));
	}
	for (uint32_t k = 0; k < table->scalars.count; k++) {
		struct bt_scalar_column *column = &table->scalars.items[k];
		if (column->allocatable != table->zero_amounts) {
			bt_free(column->allocatable);
		}
		if (column->requested != table->zero_amounts) {
			bt_free(column->requested);
		}
	}
	bt_vec_finish(&table->scalars);
	/* Free the columns and keys. */
	for (uint32_t i = 0; i < table->label_columns.count; i++) {
		struct bt_label_column *column = table->label_columns.items[i];
		for (uint32_t k = 1; k < column->dictionary.count; k++) {
			bt_symbol_unref(table->symbols, column->dictionary.items[k]);
		}
		bt_vec_finish(&column->dictionary);
		bt_vec_finish(&column->value_counts);
		bt_map_finish(&column->index);
		if (column->values != table->zero_values) {
			bt_free(column->values);
		}
		bt_symbol_unref(table->symbols, column->key);
		bt_free(column);
	}
	bt_vec_finish(&table->label_columns);
	bt_hash_table_finish(&table->label_keys);
	bt_taint_sets_finish(table);
	bt_map_finish(&table->names);
	bt_map_finish(&table->scalar_index);
	bt_map_finish(&table->label_column_index);
	bt_vec_finish(&table->free_slots);
	bt_free(table->zero_amounts);
	bt_free(table->zero_values);
	*table = (struct bt_node_table){0};
}

static void *grow_column(void *column, uint32_t old_count, uint32_t new_count, size_t size)
{
	char *memory = bt_realloc_array(column, new_count, size);

	memset(memory + (size_t)old_count * size, 0, (size_t)(new_count - old_count) * size);
	return memory;
}

static void grow(struct bt_node_table *table)
{
	uint32_t old_capacity = table->slot_capacity;
	uint32_t capacity = old_capacity < CAPACITY_MIN ? CAPACITY_MIN : old_capacity * 2;
	int64_t *old_amounts = table->zero_amounts;
	uint32_t *old_values = table->zero_values;

	BT_ASSERT(capacity > old_capacity && capacity < UINT32_MAX / 2);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(slot_columns); i++) {
		void **column = slot_column(table, i);
		*column = grow_column(*column, old_capacity, capacity, slot_columns[i].size);
	}
	table->slot_capacity = capacity;
	table->zero_amounts = BT_NEW_ARRAY(int64_t, capacity);
	table->zero_values = BT_NEW_ARRAY(uint32_t, capacity);
	for (uint32_t i = 0; i < table->scalars.count; i++) {
		int64_t **columns[] = {
			&table->scalars.items[i].allocatable, &table->scalars.items[i].requested};
		for (size_t k = 0; k < BT_ARRAY_LENGTH(columns); k++) {
			*columns[k] = *columns[k] == old_amounts
				? table->zero_amounts
				: grow_column(*columns[k], old_capacity, capacity, sizeof(int64_t));
		}
	}
	/* Extend the columns; columns without values still point to the old zeros. */
	for (uint32_t k = 0; k < table->label_columns.count; k++) {
		struct bt_label_column *column = table->label_columns.items[k];
		if (column->values == old_values) {
			column->values = table->zero_values;
			continue;
		}
		column->values =
			grow_column(column->values, old_capacity, capacity, sizeof(uint32_t));
	}
	bt_free(old_amounts);
	bt_free(old_values);
}

uint32_t bt_node_table_find_symbol(const struct bt_node_table *table, bt_sym name)
{
	uint64_t hash = bt_sym_hash(name);

	BT_MAP_EACH (&table->names, hash, slot) {
		if (bt_sym_equal(table->rows[slot].name, name)) {
			return slot;
		}
	}
	return BT_SLOT_NONE;
}

uint32_t bt_node_table_find(const struct bt_node_table *table, struct bt_str name)
{
	bt_sym symbol = bt_symbol_find(table->symbols, name);

	return bt_sym_is_none(symbol) ? BT_SLOT_NONE : bt_node_table_find_symbol(table, symbol);
}

uint32_t bt_node_table_acquire(struct bt_node_table *table, struct bt_str name)
{
	uint32_t slot = bt_node_table_find(table, name);

	if (slot != BT_SLOT_NONE) {
		return slot;
	}
	if (table->free_slots.count != 0) {
		slot = table->free_slots.items[--table->free_slots.count];
	} else {
		if (table->slot_count == table->slot_capacity) {
			grow(table);
		}
		slot = table->slot_count++;
	}
	struct bt_node_row *row = &table->rows[slot];
	row->name = bt_symbol_ref_str(table->symbols, name);
	row->in_use = true;
	bt_map_insert(&table->names, bt_sym_hash(row->name), slot);
	return slot;
}

void bt_node_table_release(struct bt_node_table *table, uint32_t slot)
{
	struct bt_node_row *row = &table->rows[slot];
	bool changed = row->changed;

	BT_ASSERT(row->in_use && row->pods.count == 0 && row->ports.count == 0 &&
		row->claims.count == 0);
	BT_ASSERT(row->images.count == 0 && !row->in_snapshot && !row->in_order);
	bool removed = bt_map_remove(&table->names, bt_sym_hash(row->name), slot);
	BT_ASSERT(removed);
	for (uint32_t i = 0; i < table->scalars.count; i++) {
		BT_ASSERT_SLOW(table->scalars.items[i].requested[slot] == 0);
		bt_node_table_set_scalar(table, i, slot, 0);
	}
	bt_taint_set_unref(table, table->taint_set[slot]);
	for (size_t i = 0; i + 1 < BT_ARRAY_LENGTH(slot_columns); i++) {
		size_t size = slot_columns[i].size;
		memset((char *)*slot_column(table, i) + slot * size, 0, size);
	}
	bt_label_columns_update(table, slot, NULL, 0);
	for (uint32_t k = 0; k < row->labels.count; k++) {
		bt_symbol_unref(table->symbols, row->label_symbols[k].key);
		bt_symbol_unref(table->symbols, row->label_symbols[k].value);
	}
	bt_symbol_unref(table->symbols, row->name);
	bt_symbol_unref(table->symbols, row->zone_key);
	bt_symbol_unref(table->symbols, row->conditions);
	bt_symbol_unref(table->symbols, row->prefer_avoid_pods);
	finish_row(row);
	*row = (struct bt_node_row){.changed = changed};
	bt_vec_push(&table->free_slots, slot);
}

struct bt_str bt_node_table_name(const struct bt_node_table *table, uint32_t slot)
{
	BT_ASSERT(slot < table->slot_count);
	return bt_symbol_text(table->symbols, table->rows[slot].name);
}

const bt_taint_list *bt_node_table_taints(const struct bt_node_table *table, uint32_t slot)
{
	BT_ASSERT(slot < table->slot_count);
	return &table->taint_sets.items[table->taint_set[slot]].taints;
}

uint32_t bt_node_table_find_scalar(const struct bt_node_table *table, struct bt_str name)
{
	bt_sym symbol = bt_symbol_find(table->symbols, name);
	uint64_t hash = bt_sym_hash(symbol);

	if (bt_sym_is_none(symbol)) {
		return UINT32_MAX;
	}
	BT_MAP_EACH (&table->scalar_index, hash, index) {
		if (bt_sym_equal(table->scalars.items[index].name, symbol)) {
			return index;
		}
	}
	return UINT32_MAX;
}

struct bt_amount_columns bt_node_table_columns(
	const struct bt_node_table *table, struct bt_str resource)
{
	for (uint32_t i = 0; i < BT_STANDARD__COUNT; i++) {
		if (bt_str_equal(resource, bt_standard_names[i])) {
			return (struct bt_amount_columns){
				table->requested[i], table->allocatable[i]};
		}
	}
	if (bt_str_equal_c(resource, "pods")) {
		return (struct bt_amount_columns){table->pod_count, table->allocatable_pods};
	}
	uint32_t index = bt_node_table_find_scalar(table, resource);
	if (index == UINT32_MAX) {
		return (struct bt_amount_columns){table->zero_amounts, table->zero_amounts};
	}
	const struct bt_scalar_column *column = &table->scalars.items[index];
	return (struct bt_amount_columns){column->requested, column->allocatable};
}

uint32_t bt_node_table_scalar(struct bt_node_table *table, struct bt_str name)
{
	uint32_t index = bt_node_table_find_scalar(table, name);

	if (index != UINT32_MAX) {
		return index;
	}
	if (table->slot_capacity == 0) {
		grow(table);
	}
	struct bt_scalar_column column = (struct bt_scalar_column){
		.name = bt_symbol_ref_str(table->symbols, name),
		.allocatable = table->zero_amounts,
		.requested = table->zero_amounts,
	};
	bt_vec_push(&table->scalars, column);
	index = table->scalars.count - 1;
	bt_map_insert(&table->scalar_index, bt_sym_hash(column.name), index);
	return index;
}

/*
 * A column has memory only while some amount is not 0, because users may name any number of
 * resources.
 */
static void write_amount(struct bt_node_table *table, int64_t **column, uint32_t *used_count,
	uint32_t slot, int64_t value)
{
	int64_t old = (*column)[slot];

	if (old == value) {
		return;
	}
	if (*column == table->zero_amounts) {
		*column = BT_NEW_ARRAY(int64_t, table->slot_capacity);
	}
	(*column)[slot] = value;
	bt_node_table_check_amounts(table, (uint64_t)value);
	*used_count += old == 0;
	*used_count -= value == 0;
	if (*used_count == 0) {
		bt_free(*column);
		*column = table->zero_amounts;
	}
}

void bt_node_table_set_scalar(
	struct bt_node_table *table, uint32_t resource, uint32_t slot, int64_t value)
{
	struct bt_scalar_column *column = &table->scalars.items[resource];

	write_amount(table, &column->allocatable, &column->allocatable_count, slot, value);
}

void bt_node_table_add_scalar(
	struct bt_node_table *table, uint32_t resource, uint32_t slot, int64_t delta)
{
	struct bt_scalar_column *column = &table->scalars.items[resource];
	int64_t value = bt_wrap_add(column->requested[slot], delta);

	write_amount(table, &column->requested, &column->requested_count, slot, value);
}
