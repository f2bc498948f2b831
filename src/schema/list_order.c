/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/list_order.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/text_set.h"

/** Indexes the keys of a list for position_of. */
static void index_keys(struct bt_text_set *index, const struct bt_str *keys, uint32_t count)
{
	/*
	 * Append the keys in reverse order: bt_text_set_find returns the last of several equal
	 * keys, but position_of must return the position of the first equal key in the list.
	 */
	for (uint32_t i = count; i > 0; i--) {
		bt_text_set_append(index, keys[i - 1]);
	}
}

static uint32_t position_of(const struct bt_text_set *index, struct bt_str key)
{
	uint32_t found = key.data == NULL ? BT_MAP_NONE : bt_text_set_find(index, key);
	return found == BT_MAP_NONE ? BT_MAP_NONE : index->items.count - 1 - found;
}

struct positions {
	uint32_t name;   /* index in the list of names, or BT_MAP_NONE */
	uint32_t server; /* index in the server's list, or BT_MAP_NONE */
	uint32_t merged; /* index in the merged list */
};

BT_COMPARE(compare_names, struct positions,
	BT_ORDER_BY(BT_ORDER(a->name, b->name), BT_ORDER(a->merged, b->merged)))

void bt_list_order(const struct bt_keyed_list *merged, const struct bt_str *names,
	uint32_t name_count, const struct bt_str *server_keys, uint32_t server_count,
	struct bt_json_value **out_elements)
{
	struct bt_text_set by_name = {0};
	struct bt_text_set by_server = {0};
	struct positions *named = BT_NEW_ARRAY(struct positions, merged->count);
	struct positions *others = BT_NEW_ARRAY(struct positions, merged->count);
	uint32_t named_count = 0;
	uint32_t other_count = 0;
	uint32_t next_named = 0;
	uint32_t next_other = 0;
	index_keys(&by_name, names, name_count);
	index_keys(&by_server, server_keys, server_count);
	for (uint32_t i = 0; i < merged->count; i++) {
		struct positions at = {position_of(&by_name, merged->keys[i]),
			position_of(&by_server, merged->keys[i]), i};
		if (at.name != BT_MAP_NONE) {
			named[named_count++] = at;
		} else {
			others[other_count++] = at;
		}
	}
	if (named_count > 1) {
		qsort(named, named_count, sizeof(*named), compare_names);
	}
	for (uint32_t i = 0; i < merged->count; i++) {
		bool other = next_named == named_count ||
			(next_other < other_count && others[next_other].server != BT_MAP_NONE &&
				named[next_named].server != BT_MAP_NONE &&
				others[next_other].server < named[next_named].server);
		out_elements[i] = merged->elements[other ? others[next_other++].merged
							 : named[next_named++].merged];
	}
	bt_free(named);
	bt_free(others);
	bt_text_set_finish(&by_name);
	bt_text_set_finish(&by_server);
}
