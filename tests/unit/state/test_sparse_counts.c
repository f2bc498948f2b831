/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>

#include "base/prng.h"
#include "state/sparse_counts.h"
#include "test_main.h"

#define INDEXES 400

static void check_against(
	const struct bt_sparse_counts *counts, const uint64_t *expected, uint32_t size)
{
	struct bt_sparse_entry entry;
	uint64_t total = 0;
	uint32_t occupied = 0;
	uint32_t listed = 0;

	for (uint32_t index = 0; index < size; index++) {
		ck_assert_uint_eq(bt_sparse_count(counts, index), expected[index]);
		total += expected[index];
		occupied += expected[index] != 0;
	}
	for (uint32_t cursor = 0; bt_sparse_counts_next(counts, &cursor, &entry); listed++) {
		ck_assert_uint_eq(entry.count, expected[entry.index]);
	}
	ck_assert_uint_eq(listed, occupied);
	ck_assert_uint_eq(counts->total, total);
	ck_assert_uint_eq(counts->occupied_count, occupied);
}

/** Few and many indexes get and lose counts; the number of indexes grows meanwhile. */
START_TEST(test_sparse_counts__random_counts)
{
	for (uint64_t seed = 1; seed <= 200; seed++) {
		uint64_t expected[INDEXES] = {0};
		struct bt_sparse_counts counts = {0};
		struct bt_prng prng;
		uint32_t size = 2;
		uint32_t reach;

		bt_prng_init(&prng, seed);
		reach = 1 + (uint32_t)bt_prng_below(&prng, INDEXES);
		for (uint32_t step = 0; step < 2000; step++) {
			uint32_t index;
			int64_t delta;

			size += size < INDEXES && bt_prng_below(&prng, 4) == 0;
			index = (uint32_t)bt_prng_below(&prng, reach < size ? reach : size);
			delta = (int64_t)bt_prng_below(&prng, 5) - 2;
			if (delta < 0 && expected[index] < (uint64_t)-delta) {
				delta = -(int64_t)expected[index];
			}
			bt_sparse_counts_add(&counts, index, delta, size);
			expected[index] += (uint64_t)delta;
		}
		check_against(&counts, expected, INDEXES);
		bt_sparse_counts_finish(&counts);
		ck_assert_uint_eq(bt_sparse_counts_bytes(&counts), 0);
	}
}
END_TEST

START_TEST(test_sparse_counts__few_counts_take_no_array)
{
	struct bt_sparse_counts counts = {0};

	bt_sparse_counts_add(&counts, 999999, 3, 1000000);
	bt_sparse_counts_add(&counts, 5, 1, 1000000);
	ck_assert_uint_eq(bt_sparse_count(&counts, 999999), 3);
	ck_assert_uint_eq(bt_sparse_count(&counts, 6), 0);
	ck_assert_uint_lt(bt_sparse_counts_bytes(&counts), 256);
	bt_sparse_counts_finish(&counts);
}
END_TEST

/**
 * An array becomes a list of entries again when the number of indexes grows, and when pods are
 * removed.
 */
START_TEST(test_sparse_counts__sparse_arrays_are_given_up)
{
	struct bt_sparse_counts counts = {0};

	for (uint32_t index = 1; index < 8; index++) {
		bt_sparse_counts_add(&counts, index, index, 8);
	}
	ck_assert_ptr_nonnull(counts.array);
	bt_sparse_counts_add(&counts, 900000, 1, 1000000);
	ck_assert_uint_lt(bt_sparse_counts_bytes(&counts), 512);
	for (uint32_t index = 1; index < 8; index++) {
		ck_assert_uint_eq(bt_sparse_count(&counts, index), index);
	}
	bt_sparse_counts_finish(&counts);
	for (uint32_t index = 1; index < 1000; index++) {
		bt_sparse_counts_add(&counts, index, 1, 1000);
	}
	ck_assert_ptr_nonnull(counts.array);
	for (uint32_t index = 999; index > 2; index--) {
		bt_sparse_counts_add(
			&counts, index, -(int64_t)bt_sparse_count(&counts, index), 1000);
	}
	ck_assert_uint_lt(bt_sparse_counts_bytes(&counts), 4096);
	ck_assert_uint_eq(bt_sparse_count(&counts, 1), 1);
	ck_assert_uint_eq(bt_sparse_count(&counts, 3), 0);
	ck_assert_uint_eq(counts.total, 2);
	bt_sparse_counts_finish(&counts);
}
END_TEST

/**
 * Counts rise and fall at all indexes: the table switches between arrays and entries many times.
 */
START_TEST(test_sparse_counts__filled_and_emptied)
{
	for (uint64_t seed = 1; seed <= 50; seed++) {
		uint64_t expected[INDEXES] = {0};
		struct bt_sparse_counts counts = {0};
		struct bt_prng prng;

		bt_prng_init(&prng, seed);
		for (uint32_t step = 0; step < 4000; step++) {
			bool fills = step / 500 % 2 == 0;
			uint32_t index = (uint32_t)bt_prng_below(&prng, INDEXES);
			int64_t delta = fills ? 1 : -(int64_t)expected[index];

			bt_sparse_counts_add(&counts, index, delta, INDEXES);
			expected[index] += (uint64_t)delta;
			if (step % 250 == 0) {
				check_against(&counts, expected, INDEXES);
			}
		}
		bt_sparse_counts_finish(&counts);
	}
}
END_TEST

START_TEST(test_sparse_counts__adds_to_sums)
{
	for (uint32_t size = 8; size <= 4096; size *= 512) {
		int64_t sums[4096] = {[1] = 7};
		struct bt_sparse_counts counts = {0};

		bt_sparse_counts_add(&counts, 1, 2, size);
		bt_sparse_counts_add(&counts, 4, 3, size);
		bt_sparse_counts_add_to(&counts, -10, sums, size);
		ck_assert_int_eq(sums[0], 0);
		ck_assert_int_eq(sums[1], -13);
		ck_assert_int_eq(sums[4], -30);
		ck_assert_int_eq(sums[5], 0);
		bt_sparse_counts_finish(&counts);
	}
}
END_TEST

BT_TEST_MAIN("sparse_counts", test_sparse_counts__random_counts,
	test_sparse_counts__few_counts_take_no_array,
	test_sparse_counts__sparse_arrays_are_given_up, test_sparse_counts__filled_and_emptied,
	test_sparse_counts__adds_to_sums)
