/* SPDX-License-Identifier: Apache-2.0 */
#include "state/node_table_edit.h"

#define FIRST_CHUNK_BYTES 256

static uint64_t set_hash(const void *owner, uint32_t id)
{
	const struct bt_node_table *table = owner;

	return table->taint_sets.items[id].hash;
}

void bt_taint_sets_init(struct bt_node_table *table)
{
	struct bt_taint_set none = {.ref_count = 1};

	/* Number 0, the empty list: never counted, never looked up. */
	bt_vec_push(&table->taint_sets, none);
	bt_map_init(&table->taint_set_index, set_hash, table);
}

void bt_taint_sets_finish(struct bt_node_table *table)
{
	for (uint32_t i = 0; i < table->taint_sets.count; i++) {
		bt_arena_finish(&table->taint_sets.items[i].arena);
	}
	bt_vec_finish(&table->taint_sets);
	bt_vec_finish(&table->free_taint_sets);
	bt_map_finish(&table->taint_set_index);
}

static uint64_t hash_taints(const bt_taint_list *taints)
{
	uint64_t hash = taints->count;

	for (uint32_t i = 0; i < taints->count; i++) {
		hash = bt_hash_u64(hash, bt_str_hash(taints->items[i].key));
		hash = bt_hash_u64(hash, bt_str_hash(taints->items[i].value));
		hash = bt_hash_u64(hash, bt_str_hash(taints->items[i].effect));
	}
	return hash;
}

static bool taints_equal(const bt_taint_list *a, const bt_taint_list *b)
{
	if (a->count != b->count) {
		return false;
	}
	for (uint32_t i = 0; i < a->count; i++) {
		if (!bt_str_equal(a->items[i].key, b->items[i].key) ||
			!bt_str_equal(a->items[i].value, b->items[i].value) ||
			!bt_str_equal(a->items[i].effect, b->items[i].effect)) {
			return false;
		}
	}
	return true;
}

static uint32_t add_set(struct bt_node_table *table, const bt_taint_list *taints, uint64_t hash)
{
	struct bt_taint_set set = {.ref_count = 1, .hash = hash};
	uint32_t id;

	bt_arena_init(&set.arena, FIRST_CHUNK_BYTES);
	set.taints.items = BT_ARENA_NEW_ARRAY(&set.arena, struct bt_taint, taints->count);
	set.taints.count = taints->count;
	set.taints.present = true;
	for (uint32_t i = 0; i < taints->count; i++) {
		set.taints.items[i].key = bt_arena_str(&set.arena, taints->items[i].key);
		set.taints.items[i].value = bt_arena_str(&set.arena, taints->items[i].value);
		set.taints.items[i].effect = bt_arena_str(&set.arena, taints->items[i].effect);
	}
	if (table->free_taint_sets.count != 0) {
		id = table->free_taint_sets.items[--table->free_taint_sets.count];
		table->taint_sets.items[id] = set;
	} else {
		id = table->taint_sets.count;
		bt_vec_push(&table->taint_sets, set);
	}
	bt_map_insert(&table->taint_set_index, hash, id);
	return id;
}

uint32_t bt_taint_set_ref_list(struct bt_node_table *table, const bt_taint_list *taints)
{
	uint64_t hash;
	uint32_t at;

	if (taints->count == 0) {
		return 0;
	}
	hash = hash_taints(taints);
	at = bt_map_first(&table->taint_set_index, hash);
	for (; at != BT_MAP_NONE; at = bt_map_next(&table->taint_set_index, hash, at)) {
		uint32_t id = bt_map_value(&table->taint_set_index, at);
		struct bt_taint_set *set = &table->taint_sets.items[id];
		if (set->hash == hash && taints_equal(&set->taints, taints)) {
			set->ref_count++;
			return id;
		}
	}
	return add_set(table, taints, hash);
}

void bt_taint_set_unref(struct bt_node_table *table, uint32_t id)
{
	struct bt_taint_set *set = &table->taint_sets.items[id];
	bool removed;

	if (id == 0) {
		return;
	}
	BT_ASSERT(set->ref_count != 0);
	if (--set->ref_count != 0) {
		return;
	}
	removed = bt_map_remove(&table->taint_set_index, set->hash, id);
	BT_ASSERT(removed);
	bt_arena_finish(&set->arena);
	*set = (struct bt_taint_set){0};
	bt_vec_push(&table->free_taint_sets, id);
}
