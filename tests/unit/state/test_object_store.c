/* SPDX-License-Identifier: Apache-2.0 */
#include "state/object_store.h"

#include <stdio.h>

#include "api/pod.h"
#include "base/str.h"
#include "test_main.h"

/* Fills the map nearly to its limit of 49,152 of 65,536 slots. */
#define PODS 49000
#define LONGEST_RUN 2000

/*
 * A lookup walks a run of used slots. If hashes leave one half of the map empty, the other half is
 * one long run, and each lookup walks through the whole run.
 */
START_TEST(test_object_store__names_spread_over_the_map)
{
	struct bt_object_store store;
	bt_object_store_init(&store);
	for (uint32_t i = 0; i < PODS; i++) {
		char name[24];
		(void)snprintf(name, sizeof(name), "pod-%u", i);
		struct bt_pod pod = {
			.metadata = {.name = bt_str_from(name), .namespace_ = BT_STR("default")}};
		bt_object_store_put(&store, bt_object_create(BT_KIND_POD, &pod));
	}
	const struct bt_map *map = &store.kinds[BT_KIND_POD].objects.map;
	uint32_t run = 0;
	uint32_t longest = 0;
	for (uint32_t i = 0; i < map->capacity; i++) {
		run = map->slots[i].value == UINT32_MAX ? 0 : run + 1;
		longest = run > longest ? run : longest;
	}
	ck_assert_uint_eq(map->count, PODS);
	ck_assert_uint_lt(longest, LONGEST_RUN);
	ck_assert_ptr_nonnull(
		bt_object_store_find(&store, BT_KIND_POD, BT_STR("default"), BT_STR("pod-48999")));
	bt_object_store_finish(&store);
}
END_TEST

BT_TEST_MAIN("object_store", test_object_store__names_spread_over_the_map)
