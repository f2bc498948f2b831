/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BASE_HASH_TABLE_H
#define BT_BASE_HASH_TABLE_H
/**
 * Tables: rows with a fixed index that are found by a hash. `struct bt_x { BT_HASH_TABLE(struct
 * row) rows; }` declares a vector (base/vec.h), the indexes of its free rows, and the map from the
 * hash of a row to its index (base/map.h). All-zero memory is an empty table.
 *
 * A table has map.count rows; `count` includes the free rows. BT_MAP_EACH on the member map finds a
 * row. The owner marks free rows in the row itself if it iterates over all rows.
 */
#include "base/map.h"
#include "base/vec.h"

#define BT_HASH_TABLE(type) \
	struct { \
		type *items; \
		uint32_t count; \
		uint32_t capacity; \
		BT_VEC(uint32_t) free_ids; \
		struct bt_map map; \
	}

/** Adds a row without a check for an equal row; out_id is its index. */
#define bt_hash_table_add(table, hash, value, out_id) \
	do { \
		bt_vec_store((table), &(table)->free_ids, (value), (out_id)); \
		bt_map_insert(&(table)->map, (hash), (out_id)); \
	} while (0)

/** Frees the index of a row, which the table must have under this hash; the row does not change. */
#define bt_hash_table_remove(table, hash, id) \
	do { \
		bool bt_removed_ = bt_map_remove(&(table)->map, (hash), (id)); \
		BT_ASSERT(bt_removed_); \
		bt_vec_push(&(table)->free_ids, (id)); \
	} while (0)

#define bt_hash_table_finish(table) \
	do { \
		bt_map_finish(&(table)->map); \
		bt_vec_finish(&(table)->free_ids); \
		bt_vec_finish(table); \
	} while (0)
#endif
