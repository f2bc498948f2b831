/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text_set.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/prng.h"
#include "test_main.h"

enum { STEPS = 300, TEXT_COUNT = 120 };

/** Returns the position of the last item equal to text, or BT_MAP_NONE; compares all items. */
static uint32_t naive_find(const struct bt_text_set *set, struct bt_str text)
{
	for (uint32_t i = set->items.count; i > 0; i--) {
		if (bt_str_equal(set->items.items[i - 1], text)) {
			return i - 1;
		}
	}
	return BT_MAP_NONE;
}

static void compare_with_naive_search(uint64_t seed)
{
	static char texts[TEXT_COUNT][8];
	struct bt_prng prng;
	struct bt_text_set set = {0};

	bt_prng_init(&prng, seed);
	for (uint32_t i = 0; i < TEXT_COUNT; i++) {
		(void)snprintf(texts[i], sizeof(texts[i]), "t%u", (unsigned)i);
	}
	for (uint32_t step = 0; step < STEPS; step++) {
		struct bt_str text = bt_str_from(texts[bt_prng_below(&prng, TEXT_COUNT)]);
		uint32_t count = set.items.count;
		bool is_new = naive_find(&set, text) == BT_MAP_NONE;

		if (bt_prng_below(&prng, 4) == 0) {
			bt_text_set_append(&set, text);
			ck_assert_uint_eq(set.items.count, count + 1);
		} else {
			ck_assert(bt_text_set_add(&set, text) == is_new);
			ck_assert_uint_eq(set.items.count, count + is_new);
		}
		for (uint32_t i = 0; i < TEXT_COUNT; i++) {
			struct bt_str other = bt_str_from(texts[i]);
			uint32_t expected = naive_find(&set, other);

			ck_assert_msg(bt_text_set_find(&set, other) == expected &&
					bt_text_set_has(&set, other) == (expected != BT_MAP_NONE),
				"seed %llu step %u text %s", (unsigned long long)seed,
				(unsigned)step, texts[i]);
		}
	}
	bt_text_set_finish(&set);
}

START_TEST(test_text_set__against_naive_search)
{
	const char *chosen = getenv("BERTH_TEST_SEED");

	for (uint64_t seed = 1; chosen == NULL && seed <= 20; seed++) {
		compare_with_naive_search(seed);
	}
	if (chosen != NULL) {
		compare_with_naive_search(strtoull(chosen, NULL, 0));
	}
}
END_TEST

BT_TEST_MAIN("text_set", test_text_set__against_naive_search)
