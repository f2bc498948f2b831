/* SPDX-License-Identifier: Apache-2.0 */
#include "framework/plugin.h"

#include <string.h>

void bt_trait_list_add(struct bt_trait_list *list, const struct bt_node_trait *trait)
{
	if (list->count == list->capacity) {
		uint32_t capacity = list->capacity * 2 + 4;
		struct bt_node_trait *items =
			BT_ARENA_NEW_ARRAY(list->arena, struct bt_node_trait, capacity);

		if (list->count != 0) {
			memcpy(items, list->items, list->count * sizeof(*items));
		}
		list->items = items;
		list->capacity = capacity;
	}
	list->items[list->count++] = *trait;
}
