/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/selector_table.h"

#include "cluster/pod_index.h"
#include "cluster/tree.h"

static uint64_t entry_hash(const void *owner, uint32_t value)
{
	const struct bt_selector_table *table = owner;
	return bt_str_hash(table->entries.items[value]->key);
}

void bt_selector_table_init(struct bt_selector_table *table)
{
	bt_groups_init(&table->namespaces);
	bt_map_init(&table->by_key, entry_hash, table);
}

static void destroy_entry(struct bt_selector_entry *entry)
{
	if (entry != NULL) {
		bt_arena_finish(&entry->arena);
		bt_free(entry);
	}
}

void bt_selector_table_finish(struct bt_selector_table *table)
{
	for (uint32_t i = 0; i < table->entries.count; i++) {
		destroy_entry(table->entries.items[i]);
	}
	bt_vec_finish(&table->entries);
	bt_vec_finish(&table->free_slots);
	bt_map_finish(&table->by_key);
	bt_groups_finish(&table->namespaces);
}

static uint32_t find_slot(const struct bt_selector_table *table, struct bt_str key)
{
	const struct bt_map *map = &table->by_key;
	uint64_t hash = bt_str_hash(key);

	for (uint32_t at = bt_map_first(map, hash); at != BT_MAP_NONE;
		at = bt_map_next(map, hash, at)) {
		if (bt_str_equal(table->entries.items[bt_map_value(map, at)]->key, key)) {
			return bt_map_value(map, at);
		}
	}
	return UINT32_MAX;
}

const struct bt_selector_entry *bt_selector_table_find(
	const struct bt_selector_table *table, struct bt_str key)
{
	uint32_t slot = find_slot(table, key);
	return slot != UINT32_MAX ? table->entries.items[slot] : NULL;
}

void bt_selector_table_remove(struct bt_selector_table *table, struct bt_str key)
{
	uint32_t slot = find_slot(table, key);

	bt_groups_remove(&table->namespaces, key);
	if (slot == UINT32_MAX) {
		return;
	}
	(void)bt_map_remove(&table->by_key, bt_str_hash(key), slot);
	destroy_entry(table->entries.items[slot]);
	table->entries.items[slot] = NULL;
	bt_vec_push(&table->free_slots, slot);
}

void bt_selector_table_put(struct bt_selector_table *table, struct bt_str key,
	const struct bt_json_value *selector, bool is_map)
{
	struct bt_selector_entry *entry = BT_NEW(struct bt_selector_entry);
	uint32_t slot;

	bt_selector_table_remove(table, key);
	bt_arena_init(&entry->arena, 512);
	/* The tree goes away before the selector does. */
	if (selector == NULL ||
		!bt_tree_selector(&entry->arena, bt_json_clone(&entry->arena, selector, true),
			is_map, &entry->selector)) {
		destroy_entry(entry);
		return;
	}
	entry->key = bt_arena_str(&entry->arena, key);
	entry->bits = bt_label_bits(is_map ? selector : bt_json_object_at(selector, "matchLabels"));
	if (table->free_slots.count != 0) {
		slot = table->free_slots.items[--table->free_slots.count];
		table->entries.items[slot] = entry;
	} else {
		slot = table->entries.count;
		bt_vec_push(&table->entries, entry);
	}
	bt_map_insert(&table->by_key, bt_str_hash(key), slot);
	bt_groups_put(&table->namespaces, key, bt_key_namespace(key));
}

void bt_selector_table_match(const struct bt_selector_table *table, struct bt_str namespace_,
	const struct bt_json_value *labels, void (*found)(void *context, struct bt_str key),
	void *context)
{
	struct bt_arena arena = {0};
	uint64_t bits;

	if (labels == NULL || labels->count == 0) {
		return;
	}
	bits = bt_label_bits(labels);
	for (uint32_t at = bt_groups_first(&table->namespaces, namespace_); at != BT_GROUPS_NONE;
		at = bt_groups_next(&table->namespaces, at)) {
		const struct bt_selector_entry *entry =
			bt_selector_table_find(table, bt_groups_key(&table->namespaces, at));
		if (entry != NULL && (bits & entry->bits) == entry->bits &&
			bt_tree_matches(&arena, &entry->selector, labels)) {
			found(context, entry->key);
		}
	}
	bt_arena_finish(&arena);
}
