/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bitset.h"

#include <string.h>

#include "base/prng.h"
#include "test_main.h"

enum { BITS_MAX = 400 };

static void compare(
	const struct bt_bitset *set, const bool *model, uint32_t bit_count, uint64_t seed)
{
	uint32_t next = UINT32_MAX;

	ck_assert_uint_eq(set->bit_count, bit_count);
	for (uint32_t i = 0; i < bit_count; i++) {
		if (bt_bitset_get(set, i) != model[i]) {
			ck_abort_msg("seed %llu bit %u", (unsigned long long)seed, i);
		}
	}
	for (uint32_t i = bit_count; i-- > 0;) {
		next = model[i] ? i : next;
		if (bt_bitset_next(set, i) != next) {
			ck_abort_msg("seed %llu after bit %u", (unsigned long long)seed, i);
		}
	}
	ck_assert(!bt_bitset_get(set, bit_count));
	ck_assert_uint_eq(bt_bitset_next(set, bit_count), UINT32_MAX);
}

START_TEST(test_bitset__random_churn_equals_an_array)
{
	const uint64_t seed = 99;
	bool model[BITS_MAX] = {false};
	struct bt_bitset set = {0};
	struct bt_prng prng;
	uint32_t bit_count = 0;

	(void)printf("seed %llu\n", (unsigned long long)seed);
	bt_prng_init(&prng, seed);
	for (int round = 0; round < 400; round++) {
		uint32_t resized = (uint32_t)bt_prng_below(&prng, BITS_MAX + 1);
		if (round % 4 == 0) {
			bt_bitset_resize(&set, resized);
			for (uint32_t i = resized; i < BITS_MAX; i++) {
				model[i] = false;
			}
			bit_count = resized;
		}
		for (int i = 0; i < 60 && bit_count != 0; i++) {
			uint32_t bit = (uint32_t)bt_prng_below(&prng, bit_count);
			model[bit] = bt_prng_below(&prng, 3) == 0;
			bt_bitset_assign(&set, bit, model[bit]);
		}
		if (round % 50 == 49) {
			bt_bitset_clear(&set);
			memset(model, 0, sizeof(model));
		}
		compare(&set, model, bit_count, seed);
	}
	bt_bitset_finish(&set);
}
END_TEST

START_TEST(test_bitset__zero_memory_is_empty)
{
	struct bt_bitset set = {0};

	ck_assert_uint_eq(bt_bitset_next(&set, 0), UINT32_MAX);
	ck_assert(!bt_bitset_get(&set, 0));
	bt_bitset_clear(&set);
	bt_bitset_resize(&set, 0);
	bt_bitset_finish(&set);
}
END_TEST

BT_TEST_MAIN("bitset", test_bitset__random_churn_equals_an_array, test_bitset__zero_memory_is_empty)
