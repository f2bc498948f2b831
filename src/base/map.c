/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"

#define SLOT_EMPTY UINT32_MAX
#define SLOT_DELETED (UINT32_MAX - 1)
#define CAPACITY_MIN UINT32_C(8)
#define CAPACITY_MAX (UINT32_C(1) << 31)

static uint32_t tag_of(uint64_t hash)
{
	return (uint32_t)(hash >> 32);
}

/*
 * Returns the first slot of a tag's chain, computed from the upper bits of the tag. Entries keep
 * their order in a larger table, so growing is one pass over both tables and needs no hashes from
 * the owner.
 */
static uint32_t home_of(uint32_t capacity, uint32_t tag)
{
	return (uint32_t)((uint64_t)tag * capacity >> 32);
}

/*
 * Maximum of used slots: above this load, linear probing degrades quickly. Deleted slots count as
 * used because they lengthen searches too.
 */
static uint32_t used_max(uint32_t capacity)
{
	return capacity - capacity / 4;
}

void bt_map_finish(struct bt_map *map)
{
	bt_free(map->slots);
	map->slots = NULL;
	map->capacity = 0;
	map->count = 0;
	map->used = 0;
}

void bt_map_reset(struct bt_map *map)
{
	if (map->capacity != 0) {
		memset(map->slots, 0xff, (size_t)map->capacity * sizeof(*map->slots));
	}
	map->count = 0;
	map->used = 0;
}

static void rehash(struct bt_map *map, uint32_t capacity)
{
	struct bt_map_slot *slots = bt_realloc_array(NULL, capacity, sizeof(*slots));

	/* Filling the slots with 0xff bytes sets the value of every slot to SLOT_EMPTY. */
	memset(slots, 0xff, (size_t)capacity * sizeof(*slots));

	for (uint32_t i = 0; i < map->capacity; i++) {
		struct bt_map_slot entry = map->slots[i];
		if (entry.value < SLOT_DELETED) {
			/*
			 * Store the entry in the first empty slot of its chain; the new table has
			 * no deleted slots.
			 */
			uint32_t position = home_of(capacity, entry.tag);

			while (slots[position].value != SLOT_EMPTY) {
				position = (position + 1) & (capacity - 1);
			}
			slots[position] = entry;
		}
	}
	bt_free(map->slots);
	map->slots = slots;
	map->capacity = capacity;
	map->used = map->count;
}

void bt_map_reserve(struct bt_map *map, uint32_t count)
{
	uint32_t capacity = map->capacity < CAPACITY_MIN ? CAPACITY_MIN : map->capacity;

	while (count > used_max(capacity)) {
		if (capacity == CAPACITY_MAX) {
			bt_panic("a map cannot hold %lu entries", (unsigned long)count);
		}
		capacity *= 2;
	}
	if (capacity != map->capacity) {
		rehash(map, capacity);
	}
}

/*
 * Searches the chain, from `position` on, for a live entry with the tag. Returns the position of
 * the first one; BT_MAP_NONE: there is none.
 */
static uint32_t find_tag(const struct bt_map *map, uint32_t tag, uint32_t position)
{
	uint32_t mask = map->capacity - 1;

	for (;; position++) {
		const struct bt_map_slot *slot = &map->slots[position & mask];
		if (slot->value == SLOT_EMPTY) {
			return BT_MAP_NONE;
		}
		if (slot->tag == tag && slot->value != SLOT_DELETED) {
			return position & mask;
		}
	}
}

uint32_t bt_map_first(const struct bt_map *map, uint64_t hash)
{
	if (map->count == 0) {
		return BT_MAP_NONE;
	}
	return find_tag(map, tag_of(hash), home_of(map->capacity, tag_of(hash)));
}

uint32_t bt_map_next(const struct bt_map *map, uint64_t hash, uint32_t position)
{
	return find_tag(map, tag_of(hash), position + 1);
}

void bt_map_insert(struct bt_map *map, uint64_t hash, uint32_t value)
{
	BT_ASSERT(value < SLOT_DELETED);
	if (map->used >= used_max(map->capacity)) {
		/*
		 * Make room for twice the live entries: the rehash drops the deleted slots, and
		 * many entries can then be inserted before the next rehash.
		 */
		uint32_t capacity = CAPACITY_MIN;
		while (map->count > used_max(capacity) / 2 && capacity < CAPACITY_MAX) {
			capacity *= 2;
		}
		if (capacity < map->capacity) {
			capacity = map->capacity;
		}
		if (map->count >= used_max(capacity)) {
			bt_panic("a map cannot hold more than %lu entries",
				(unsigned long)map->count);
		}
		rehash(map, capacity);
	}
	uint32_t position = home_of(map->capacity, tag_of(hash));
	while (map->slots[position].value < SLOT_DELETED) {
		position = (position + 1) & (map->capacity - 1);
	}
	if (map->slots[position].value == SLOT_EMPTY) {
		map->used++;
	}
	map->slots[position] = (struct bt_map_slot){tag_of(hash), value};
	map->count++;
}

bool bt_map_remove(struct bt_map *map, uint64_t hash, uint32_t value)
{
	uint32_t position = bt_map_first(map, hash);

	while (position != BT_MAP_NONE && map->slots[position].value != value) {
		position = bt_map_next(map, hash, position);
	}
	if (position == BT_MAP_NONE) {
		return false;
	}
	uint32_t mask = map->capacity - 1;

	map->count--;
	map->slots[position].value = SLOT_DELETED;
	if (map->slots[(position + 1) & mask].value != SLOT_EMPTY) {
		return true;
	}
	/*
	 * Deleted slots directly before an empty slot become empty again, because every chain ends
	 * at the empty slot.
	 */
	while (map->slots[position].value == SLOT_DELETED) {
		map->slots[position].value = SLOT_EMPTY;
		map->used--;
		position = (position - 1) & mask;
	}
	return true;
}

void bt_map_remove_swap(
	struct bt_map *map, uint64_t hash, uint32_t at, uint64_t last_hash, uint32_t last)
{
	bool removed = bt_map_remove(map, hash, at);

	BT_ASSERT(removed);
	if (at != last) {
		removed = bt_map_remove(map, last_hash, last);
		BT_ASSERT(removed);
		bt_map_insert(map, last_hash, at);
	}
}
