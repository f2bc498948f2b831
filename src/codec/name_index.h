/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CODEC_NAME_INDEX_H
#define BT_CODEC_NAME_INDEX_H
/**
 * Positions by name, for merging objects and lists whose sizes a client chooses: without an index,
 * merging two lists of 100,000 names would take quadratic time. A few names are searched linearly.
 * All-zero memory is an empty index.
 */
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "codec/json.h"

struct bt_name_index {
	BT_VEC(struct bt_str) names; /* borrowed texts */
	struct bt_map map;           /* empty while names are few */
};

void bt_name_index_finish(struct bt_name_index *index);
/** Adds a name at the next position. Equal names may be added. */
void bt_name_index_add(struct bt_name_index *index, struct bt_str name);
/** Returns the position of the last equal name, or BT_MAP_NONE. */
uint32_t bt_name_index_find(const struct bt_name_index *index, struct bt_str name);
/** Adds the names of the members, in order. */
void bt_name_index_add_members(struct bt_name_index *index, const struct bt_json_value *object);
#endif
