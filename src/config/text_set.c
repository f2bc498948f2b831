/* SPDX-License-Identifier: Apache-2.0 */
#include "config/text_set.h"

static uint64_t hash_of(const void *owner, uint32_t value)
{
	const struct bt_text_set *set = owner;
	return bt_str_hash(set->items.items[value]);
}

bool bt_text_set_has(const struct bt_text_set *set, struct bt_str text)
{
	uint64_t hash;
	if (set->items.count == 0) {
		return false;
	}
	hash = bt_str_hash(text);
	for (uint32_t it = bt_map_first(&set->map, hash); it != BT_MAP_NONE;
		it = bt_map_next(&set->map, hash, it)) {
		if (bt_str_equal(set->items.items[bt_map_value(&set->map, it)], text)) {
			return true;
		}
	}
	return false;
}

bool bt_text_set_add(struct bt_text_set *set, struct bt_str text)
{
	if (bt_text_set_has(set, text)) {
		return false;
	}
	if (set->items.count == 0) {
		bt_map_init(&set->map, hash_of, set);
	}
	bt_vec_push(&set->items, text);
	bt_map_insert(&set->map, bt_str_hash(text), set->items.count - 1);
	return true;
}

void bt_text_set_finish(struct bt_text_set *set)
{
	bt_map_finish(&set->map);
	bt_vec_finish(&set->items);
}
