/* SPDX-License-Identifier: Apache-2.0 */
#include "api/change.h"
#include "state/state.h"

static void finish_set(struct bt_label_set_table *table, struct bt_label_set *set)
{
	for (uint32_t i = 0; i < set->labels.count; i++) {
		bt_symbol_unref(table->symbols, set->symbols[i].key);
		bt_symbol_unref(table->symbols, set->symbols[i].value);
	}
	bt_free(set->labels.items);
	bt_free(set->symbols);
	*set = (struct bt_label_set){0};
}

void bt_label_set_table_finish(struct bt_label_set_table *table)
{
	for (uint32_t i = 0; i < table->sets.count; i++) {
		finish_set(table, &table->sets.items[i]);
	}
	bt_hash_table_finish(&table->sets);
}

uint32_t bt_label_set_ref_map(struct bt_label_set_table *table, const struct bt_str_map *labels)
{
	uint64_t hash = labels->count;

	for (uint32_t j = 0; j < labels->count; j++) {
		hash = bt_hash_u64(hash, bt_str_hash(labels->items[j].key));
		hash = bt_hash_u64(hash, bt_str_hash(labels->items[j].value));
	}

	BT_MAP_EACH (&table->sets.map, hash, id) {
		struct bt_label_set *set = &table->sets.items[id];
		if (set->hash == hash && bt_str_map_equal(&set->labels, labels)) {
			set->ref_count++;
			return id;
		}
	}
	struct bt_label_set set = {.ref_count = 1, .hash = hash, .last_shape = BT_SHAPE_NONE};
	uint32_t id;

	set.labels.present = labels->count != 0;
	set.labels.count = labels->count;
	if (labels->count != 0) {
		set.labels.items = BT_NEW_ARRAY(struct bt_str_pair, labels->count);
		set.symbols = BT_NEW_ARRAY(struct bt_label_pair, labels->count);
	}
	for (uint32_t i = 0; i < labels->count; i++) {
		struct bt_label_pair pair = {
			bt_symbol_ref_str(table->symbols, labels->items[i].key),
			bt_symbol_ref_str(table->symbols, labels->items[i].value),
		};
		set.symbols[i] = pair;
		set.labels.items[i].key = bt_symbol_text(table->symbols, pair.key);
		set.labels.items[i].value = bt_symbol_text(table->symbols, pair.value);
	}
	bt_hash_table_add(&table->sets, hash, set, id);
	return id;
}

void bt_label_set_ref(struct bt_label_set_table *table, uint32_t id)
{
	BT_ASSERT(id < table->sets.count && table->sets.items[id].ref_count != 0);
	table->sets.items[id].ref_count++;
}

void bt_label_set_unref(struct bt_label_set_table *table, uint32_t id)
{
	BT_ASSERT(id < table->sets.count && table->sets.items[id].ref_count != 0);
	struct bt_label_set *set = &table->sets.items[id];
	if (--set->ref_count != 0) {
		return;
	}
	bt_hash_table_remove(&table->sets, set->hash, id);
	finish_set(table, set);
}
