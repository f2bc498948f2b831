/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "api/selector.h"
#include "base/assert.h"
#include "base/map.h"

void bt_error_list_add(struct bt_error_list *list, struct bt_arena *arena, struct bt_str text)
{
	if (list->count == list->capacity) {
		uint64_t capacity = list->capacity == 0 ? 4 : 2 * (uint64_t)list->capacity;
		struct bt_str *grown;

		BT_ASSERT(capacity < UINT32_MAX);
		grown = BT_ARENA_NEW_ARRAY(arena, struct bt_str, (size_t)capacity);
		if (list->count != 0) {
			memcpy(grown, list->items, list->count * sizeof(*grown));
		}
		list->items = grown;
		list->capacity = (uint32_t)capacity;
	}
	list->items[list->count++] = text;
}

static bool seen_before(const struct bt_map *seen, const struct bt_error_list *list, uint32_t item)
{
	uint64_t hash = bt_str_hash(list->items[item]);

	BT_MAP_EACH (seen, hash, index) {
		if (bt_str_equal(list->items[index], list->items[item])) {
			return true;
		}
	}
	return false;
}

struct bt_str bt_error_list_text(const struct bt_error_list *list, struct bt_arena *arena)
{
	struct bt_strbuf buffer = {NULL, 0, 0};
	struct bt_map seen = {0};
	struct bt_str text;
	uint32_t distinct = 0;

	if (list->count == 0) {
		return BT_STR("");
	}
	bt_strbuf_append_char(&buffer, '[');
	for (uint32_t i = 0; i < list->count; i++) {
		if (seen_before(&seen, list, i)) {
			continue;
		}
		bt_map_insert(&seen, bt_str_hash(list->items[i]), i);
		if (distinct++ != 0) {
			bt_strbuf_append_c(&buffer, ", ");
		}
		bt_strbuf_append_str(&buffer, list->items[i]);
	}
	bt_strbuf_append_char(&buffer, ']');
	text = distinct == 1 ? bt_arena_str(arena, list->items[0])
			     : bt_arena_str(arena, bt_strbuf_str(&buffer));
	bt_map_finish(&seen);
	bt_strbuf_finish(&buffer);
	return text;
}
