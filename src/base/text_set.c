/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text_set.h"

/* The map is used from this number of texts on. */
#define FEW 16

void bt_text_set_finish(struct bt_text_set *set)
{
	bt_vec_finish(&set->items);
	bt_map_finish(&set->map);
}

/** Adds the text at this position to the map; replaces the entry of an equal text. */
static void add_to_map(struct bt_text_set *set, uint32_t position)
{
	struct bt_str text = set->items.items[position];
	uint64_t hash = bt_str_hash(text);
	BT_MAP_EACH (&set->map, hash, other) {
		if (bt_str_equal(set->items.items[other], text)) {
			(void)bt_map_remove(&set->map, hash, other);
			break;
		}
	}
	bt_map_insert(&set->map, hash, position);
}

void bt_text_set_append(struct bt_text_set *set, struct bt_str text)
{
	bt_vec_push(&set->items, text);
	if (set->items.count == FEW) {
		for (uint32_t i = 0; i < FEW; i++) {
			add_to_map(set, i);
		}
	} else if (set->items.count > FEW) {
		add_to_map(set, set->items.count - 1);
	}
}

bool bt_text_set_add(struct bt_text_set *set, struct bt_str text)
{
	if (bt_text_set_has(set, text)) {
		return false;
	}
	bt_text_set_append(set, text);
	return true;
}

uint32_t bt_text_set_find(const struct bt_text_set *set, struct bt_str text)
{
	if (set->items.count < FEW) {
		for (uint32_t i = set->items.count; i > 0; i--) {
			if (bt_str_equal(set->items.items[i - 1], text)) {
				return i - 1;
			}
		}
		return BT_MAP_NONE;
	}
	uint64_t hash = bt_str_hash(text);
	BT_MAP_EACH (&set->map, hash, position) {
		if (bt_str_equal(set->items.items[position], text)) {
			return position;
		}
	}
	return BT_MAP_NONE;
}
