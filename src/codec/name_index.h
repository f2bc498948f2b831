/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CODEC_NAME_INDEX_H
#define BT_CODEC_NAME_INDEX_H
/**
 * Positions by name, for merging objects and lists whose sizes a client chose: without an index two
 * lists of 100,000 would be compared pair by pair. Few names are searched one by one. All-zero
 * memory is an empty index.
 */
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "codec/json.h"

struct bt_name_index {
	BT_VEC(struct bt_str) names; /* borrowed texts */
	struct bt_map map;           /* empty while there are few names */
};

void bt_name_index_finish(struct bt_name_index *index);
/** Its position is the number of names before it. Equal names may be added. */
void bt_name_index_add(struct bt_name_index *index, struct bt_str name);
/** Position of the last equal name (of members, the one that counts), or BT_MAP_NONE. */
uint32_t bt_name_index_find(const struct bt_name_index *index, struct bt_str name);
/** The names of the members, in order. */
void bt_name_index_add_members(struct bt_name_index *index, const struct bt_json_value *object);
#endif
