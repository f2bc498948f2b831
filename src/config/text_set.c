/* SPDX-License-Identifier: Apache-2.0 */
#include "config/text_set.h"

bool bt_text_set_has(const struct bt_text_set *set, struct bt_str text)
{
	BT_MAP_EACH (&set->map, bt_str_hash(text), index) {
		if (bt_str_equal(set->items.items[index], text)) {
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
	bt_vec_push(&set->items, text);
	bt_map_insert(&set->map, bt_str_hash(text), set->items.count - 1);
	return true;
}

void bt_text_set_finish(struct bt_text_set *set)
{
	bt_map_finish(&set->map);
	bt_vec_finish(&set->items);
}
