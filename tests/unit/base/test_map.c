/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash_table.h"

#include <stdlib.h>

#include "base/prng.h"
#include "base/str.h"
#include "test_main.h"

enum { KEY_COUNT = 600 };

struct owner {
	struct bt_map map;
	uint64_t hash_mask; /* few bits make many collisions */
	bool present[KEY_COUNT];
	uint32_t count;
};

static uint64_t hash_of(const struct owner *owner, uint32_t value)
{
	return bt_hash_u64(0, value) & owner->hash_mask;
}

static bool contains(const struct owner *owner, uint32_t value)
{
	uint64_t hash = hash_of(owner, value);
	uint32_t at = bt_map_first(&owner->map, hash);

	for (; at != BT_MAP_NONE; at = bt_map_next(&owner->map, hash, at)) {
		if (bt_map_value(&owner->map, at) == value) {
			return true;
		}
	}
	return false;
}

static void compare(const struct owner *owner, uint64_t seed, int step)
{
	for (uint32_t value = 0; value < KEY_COUNT; value++) {
		if (contains(owner, value) != owner->present[value]) {
			ck_abort_msg("seed %llu step %d value %u", (unsigned long long)seed, step,
				value);
		}
	}
	ck_assert_uint_eq(owner->map.count, owner->count);
	ck_assert_uint_le(owner->map.count, owner->map.used);
	ck_assert(owner->map.capacity == 0 ||
		owner->map.used <= owner->map.capacity - owner->map.capacity / 4);
}

static void toggle(struct owner *owner, uint32_t value)
{
	bool removed = bt_map_remove(&owner->map, hash_of(owner, value), value);

	if (removed != owner->present[value]) {
		ck_abort_msg("value %u: removed %d", value, removed);
	}
	if (removed) {
		owner->count--;
	} else {
		bt_map_insert(&owner->map, hash_of(owner, value), value);
		owner->count++;
	}
	owner->present[value] = !owner->present[value];
}

static void churn(uint64_t seed, uint64_t hash_mask)
{
	static struct owner owner;
	struct bt_prng prng;
	uint64_t range = KEY_COUNT;

	owner = (struct owner){.hash_mask = hash_mask};
	bt_prng_init(&prng, seed);
	for (int step = 0; step < 20000; step++) {
		if (step % 1000 == 0) {
			range = 1 + bt_prng_below(&prng, KEY_COUNT);
			compare(&owner, seed, step);
		}
		if (bt_prng_below(&prng, 3000) == 0) {
			bt_map_reset(&owner.map);
			memset(owner.present, 0, sizeof(owner.present));
			owner.count = 0;
		}
		toggle(&owner, (uint32_t)bt_prng_below(&prng, range));
	}
	compare(&owner, seed, -1);
	/*
	 * The map has at most 600 entries at a time, so it needs at most 2048 slots however many
	 * entries are replaced.
	 */
	ck_assert_uint_le(owner.map.capacity, 2048);
	bt_map_finish(&owner.map);
}

START_TEST(test_map__random_churn_equals_a_plain_set)
{
	const char *chosen = getenv("BERTH_TEST_SEED");
	uint64_t seed = chosen != NULL ? strtoull(chosen, NULL, 10) : 20250101;
	static const uint64_t masks[] = {UINT64_MAX, UINT64_C(0xffffffff), UINT64_C(0xf00000000),
		UINT64_C(0xff00000000000000)};

	(void)printf("seed %llu\n", (unsigned long long)seed);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(masks); i++) {
		churn(seed + i, masks[i]);
	}
}
END_TEST

START_TEST(test_map__zero_memory_is_an_empty_map)
{
	struct bt_map map = {0};

	ck_assert_uint_eq(bt_map_first(&map, 5), BT_MAP_NONE);
	ck_assert(!bt_map_remove(&map, 5, 5));
	bt_map_reset(&map);
	bt_map_finish(&map);
}
END_TEST

START_TEST(test_map__equal_hashes_are_all_found)
{
	struct owner owner = {.hash_mask = 0};
	bool seen[6] = {false};
	uint32_t found = 0;

	for (uint32_t value = 0; value < 6; value++) {
		bt_map_insert(&owner.map, 0, value);
	}
	BT_MAP_EACH (&owner.map, 0, index) {
		ck_assert(!seen[index]);
		seen[index] = true;
		found++;
	}
	ck_assert_uint_eq(found, 6);
	bt_map_finish(&owner.map);
}
END_TEST

START_TEST(test_map__reserve_avoids_growth)
{
	static struct owner owner = {.hash_mask = UINT64_MAX};
	uint32_t capacity;

	bt_map_reserve(&owner.map, 0);
	bt_map_reserve(&owner.map, 500);
	capacity = owner.map.capacity;
	for (uint32_t value = 0; value < 500; value++) {
		bt_map_insert(&owner.map, hash_of(&owner, value), value);
	}
	ck_assert_uint_eq(owner.map.capacity, capacity);
	bt_map_finish(&owner.map);
}
END_TEST

/* Insert and remove one entry for ever: deleted slots must not accumulate. */
START_TEST(test_map__deleted_slots_are_reclaimed)
{
	static struct owner owner = {.hash_mask = UINT64_MAX};

	for (uint32_t value = 0; value < 5; value++) {
		bt_map_insert(&owner.map, hash_of(&owner, value), value);
	}
	for (uint32_t value = 5; value < 100000; value++) {
		bt_map_insert(&owner.map, hash_of(&owner, value), value);
		if (!bt_map_remove(&owner.map, hash_of(&owner, value), value)) {
			ck_abort_msg("value %u is not there", value);
		}
	}
	ck_assert_uint_le(owner.map.capacity, 32);
	ck_assert_uint_eq(owner.map.count, 5);
	bt_map_finish(&owner.map);
}
END_TEST

START_TEST(test_map__hash_table_reuses_indexes)
{
	static const struct bt_str texts[] = {BT_STR_INIT("a"), BT_STR_INIT("b"), BT_STR_INIT("c")};
	BT_HASH_TABLE(struct bt_str) table = {0};
	uint32_t id;

	for (uint32_t i = 0; i < 2; i++) {
		bt_hash_table_add(&table, bt_str_hash(texts[i]), texts[i], id);
		ck_assert_uint_eq(id, i);
	}
	bt_hash_table_remove(&table, bt_str_hash(texts[0]), 0);
	ck_assert_uint_eq(table.map.count, 1);
	bt_hash_table_add(&table, bt_str_hash(texts[2]), texts[2], id);
	ck_assert_uint_eq(id, 0);
	ck_assert_uint_eq(table.count, 2);
	BT_MAP_EACH (&table.map, bt_str_hash(texts[2]), found) {
		ck_assert(bt_str_equal(table.items[found], texts[2]));
	}
	bt_hash_table_finish(&table);
	ck_assert_uint_eq(table.count, 0);
}
END_TEST

BT_TEST_MAIN("map", test_map__random_churn_equals_a_plain_set,
	test_map__zero_memory_is_an_empty_map, test_map__equal_hashes_are_all_found,
	test_map__reserve_avoids_growth, test_map__deleted_slots_are_reclaimed,
	test_map__hash_table_reuses_indexes)
