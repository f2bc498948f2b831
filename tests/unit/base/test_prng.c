/* SPDX-License-Identifier: Apache-2.0 */
#include "base/prng.h"

#include "test_main.h"

/* The published first outputs of xoshiro256** for the state {1, 2, 3, 4}. */
START_TEST(test_prng__known_sequence)
{
	struct bt_prng prng = {{1, 2, 3, 4}};
	static const uint64_t expected[] = {11520, 0, 1509978240, UINT64_C(1215971899390074240)};

	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		ck_assert_uint_eq(bt_prng_next(&prng), expected[i]);
	}
}
END_TEST

/* The published first outputs of splitmix64 for seed 0. */
START_TEST(test_prng__known_seeding)
{
	struct bt_prng prng;

	bt_prng_init(&prng, 0);
	ck_assert_uint_eq(prng.state[0], UINT64_C(0xe220a8397b1dcdaf));
	ck_assert_uint_eq(prng.state[1], UINT64_C(0x6e789e6aa1b965f4));
	ck_assert_uint_eq(prng.state[2], UINT64_C(0x06c45d188009454f));
	ck_assert_uint_eq(prng.state[3], UINT64_C(0xf88bb8a8724c81ec));
}
END_TEST

START_TEST(test_prng__below_is_uniform_and_in_range)
{
	struct bt_prng prng;
	int counts[10] = {0};

	bt_prng_init(&prng, 7);
	for (int i = 0; i < 100000; i++) {
		counts[bt_prng_below(&prng, 10)]++;
	}
	for (int i = 0; i < 10; i++) {
		/* The expected count is 10000, the standard deviation 95. */
		ck_assert_int_gt(counts[i], 9400);
		ck_assert_int_lt(counts[i], 10600);
	}
	ck_assert_uint_eq(bt_prng_below(&prng, 1), 0);
	for (int i = 0; i < 1000; i++) {
		ck_assert_uint_lt(
			bt_prng_below(&prng, (UINT64_C(1) << 63) + 1), (UINT64_C(1) << 63) + 1);
		ck_assert_uint_lt(bt_prng_below(&prng, UINT64_MAX), UINT64_MAX);
	}
}
END_TEST

BT_TEST_MAIN("prng", test_prng__known_sequence, test_prng__known_seeding,
	test_prng__below_is_uniform_and_in_range)
