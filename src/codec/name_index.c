/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/name_index.h"

/* The map is used from this number of names on. */
#define FEW 16

void bt_name_index_finish(struct bt_name_index *index)
{
	bt_vec_finish(&index->names);
	bt_map_finish(&index->map);
}

/** Adds a name to the map, which keeps the last position of each name. */
static void enter(struct bt_name_index *index, uint32_t position)
{
	struct bt_str name = index->names.items[position];
	uint64_t hash = bt_str_hash(name);
	BT_MAP_EACH (&index->map, hash, other) {
		if (bt_str_equal(index->names.items[other], name)) {
			(void)bt_map_remove(&index->map, hash, other);
			break;
		}
	}
	bt_map_insert(&index->map, hash, position);
}

void bt_name_index_add(struct bt_name_index *index, struct bt_str name)
{
	bt_vec_push(&index->names, name);
	if (index->names.count == FEW) {
		for (uint32_t i = 0; i < FEW; i++) {
			enter(index, i);
		}
	} else if (index->names.count > FEW) {
		enter(index, index->names.count - 1);
	}
}

uint32_t bt_name_index_find(const struct bt_name_index *index, struct bt_str name)
{
	if (index->names.count < FEW) {
		for (uint32_t i = index->names.count; i > 0; i--) {
			if (bt_str_equal(index->names.items[i - 1], name)) {
				return i - 1;
			}
		}
		return BT_MAP_NONE;
	}
	uint64_t hash = bt_str_hash(name);
	BT_MAP_EACH (&index->map, hash, position) {
		if (bt_str_equal(index->names.items[position], name)) {
			return position;
		}
	}
	return BT_MAP_NONE;
}

void bt_name_index_add_members(struct bt_name_index *index, const struct bt_json_value *object)
{
	for (uint32_t i = 0; i < object->count; i++) {
		bt_name_index_add(index, object->members[i].name);
	}
}
