/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BASE_MAP_H
#define BT_BASE_MAP_H
/**
 * Hash index: maps a 64-bit hash to u32 values (indices into the owner's columns), with open
 * addressing. The map stores no keys; the owner compares candidates. 8 bytes per slot, load <= 3/4.
 * All-zero memory is an empty map.
 *
 * Find:    BT_MAP_EACH (map, hash, id)
 *                  if (owner's key at id equals) ...
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

#define BT_MAP_NONE UINT32_MAX

struct bt_map_slot {
	uint32_t tag;   /* upper half of the hash; the lower half is not stored */
	uint32_t value; /* UINT32_MAX (empty) and UINT32_MAX - 1 (deleted) mark free slots */
};

struct bt_map {
	struct bt_map_slot *slots;
	uint32_t capacity; /* power of two, or 0 */
	uint32_t count;    /* live entries */
	uint32_t used;     /* live and deleted entries */
};

void bt_map_finish(struct bt_map *map);
/** Removes all entries and keeps the memory. */
void bt_map_reset(struct bt_map *map);
void bt_map_reserve(struct bt_map *map, uint32_t count);
uint32_t bt_map_first(const struct bt_map *map, uint64_t hash);
uint32_t bt_map_next(const struct bt_map *map, uint64_t hash, uint32_t position);
static inline uint32_t bt_map_value(const struct bt_map *map, uint32_t position)
{
	return map->slots[position].value;
}
/**
 * Iterates over the values with this hash (or with an equal upper half); declares each value as a
 * variable of the given name. The body may remove an entry only if the body then leaves the loop.
 */
#define BT_MAP_EACH(map, hash, value) \
	for (uint32_t at_##value = bt_map_first((map), (hash)), value; \
		at_##value != BT_MAP_NONE && ((value) = bt_map_value((map), at_##value), true); \
		at_##value = bt_map_next((map), (hash), at_##value))
/** Adds an entry without a check for an equal entry; value must be below UINT32_MAX - 1. */
void bt_map_insert(struct bt_map *map, uint64_t hash, uint32_t value);
/** Removes the entry with this hash and value; returns false when there is none. */
bool bt_map_remove(struct bt_map *map, uint64_t hash, uint32_t value);
/**
 * For a map of the indexes of a vector: removes the index `at`, and replaces the index `last` of
 * the last element by `at`, as bt_vec_remove_swap moves this element. Both must be in the map.
 */
void bt_map_remove_swap(
	struct bt_map *map, uint64_t hash, uint32_t at, uint64_t last_hash, uint32_t last);
#endif
