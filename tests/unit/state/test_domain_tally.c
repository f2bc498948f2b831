/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>

#include "base/prng.h"
#include "state/domain_tally.h"
#include "test_main.h"

#define DOMAINS 400

static void check_against(
	const struct bt_domain_tally *tally, const uint64_t *expected, uint32_t domain_count)
{
	uint64_t total = 0;
	uint32_t occupied = 0;

	for (uint32_t domain = 0; domain < domain_count; domain++) {
		ck_assert_uint_eq(bt_domain_tally_at(tally, domain), expected[domain]);
		total += expected[domain];
		occupied += expected[domain] != 0;
	}
	ck_assert_uint_eq(tally->total, total);
	ck_assert_uint_eq(tally->occupied_count, occupied);
}

/** Few and many domains get and lose counts; the dictionary grows meanwhile. */
START_TEST(test_domain_tally__random_counts)
{
	for (uint64_t seed = 1; seed <= 200; seed++) {
		uint64_t expected[DOMAINS] = {0};
		struct bt_domain_tally tally = {0};
		struct bt_prng prng;
		uint32_t domain_count = 2;
		uint32_t reach;

		bt_prng_init(&prng, seed);
		reach = 1 + (uint32_t)bt_prng_below(&prng, DOMAINS);
		for (uint32_t step = 0; step < 2000; step++) {
			uint32_t domain;
			int64_t delta;

			domain_count += domain_count < DOMAINS && bt_prng_below(&prng, 4) == 0;
			domain = (uint32_t)bt_prng_below(
				&prng, reach < domain_count ? reach : domain_count);
			delta = (int64_t)bt_prng_below(&prng, 5) - 2;
			if (delta < 0 && expected[domain] < (uint64_t)-delta) {
				delta = -(int64_t)expected[domain];
			}
			bt_domain_tally_add(&tally, domain, delta, domain_count);
			expected[domain] += domain != 0 ? (uint64_t)delta : 0;
		}
		check_against(&tally, expected, DOMAINS);
		bt_domain_tally_finish(&tally);
		ck_assert_uint_eq(bt_domain_tally_memory_bytes(&tally), 0);
	}
}
END_TEST

START_TEST(test_domain_tally__few_domains_take_no_array)
{
	struct bt_domain_tally tally = {0};

	bt_domain_tally_add(&tally, 999999, 3, 1000000);
	bt_domain_tally_add(&tally, 5, 1, 1000000);
	ck_assert_uint_eq(bt_domain_tally_at(&tally, 999999), 3);
	ck_assert_uint_eq(bt_domain_tally_at(&tally, 6), 0);
	ck_assert_uint_lt(bt_domain_tally_memory_bytes(&tally), 256);
	bt_domain_tally_finish(&tally);
}
END_TEST

/**
 * An array becomes a list of entries again when the dictionary grows, and when pods are removed.
 */
START_TEST(test_domain_tally__sparse_arrays_are_given_up)
{
	struct bt_domain_tally tally = {0};

	for (uint32_t domain = 1; domain < 8; domain++) {
		bt_domain_tally_add(&tally, domain, domain, 8);
	}
	ck_assert_ptr_nonnull(tally.by_domain);
	bt_domain_tally_add(&tally, 900000, 1, 1000000);
	ck_assert_uint_lt(bt_domain_tally_memory_bytes(&tally), 512);
	for (uint32_t domain = 1; domain < 8; domain++) {
		ck_assert_uint_eq(bt_domain_tally_at(&tally, domain), domain);
	}
	bt_domain_tally_finish(&tally);
	for (uint32_t domain = 1; domain < 1000; domain++) {
		bt_domain_tally_add(&tally, domain, 1, 1000);
	}
	ck_assert_ptr_nonnull(tally.by_domain);
	for (uint32_t domain = 999; domain > 2; domain--) {
		bt_domain_tally_add(
			&tally, domain, -(int64_t)bt_domain_tally_at(&tally, domain), 1000);
	}
	ck_assert_uint_lt(bt_domain_tally_memory_bytes(&tally), 4096);
	ck_assert_uint_eq(bt_domain_tally_at(&tally, 1), 1);
	ck_assert_uint_eq(bt_domain_tally_at(&tally, 3), 0);
	ck_assert_uint_eq(tally.total, 2);
	bt_domain_tally_finish(&tally);
}
END_TEST

/**
 * Counts rise and fall in all domains: the tally switches between arrays and entries many times.
 */
START_TEST(test_domain_tally__filled_and_emptied)
{
	for (uint64_t seed = 1; seed <= 50; seed++) {
		uint64_t expected[DOMAINS] = {0};
		struct bt_domain_tally tally = {0};
		struct bt_prng prng;

		bt_prng_init(&prng, seed);
		for (uint32_t step = 0; step < 4000; step++) {
			bool fills = step / 500 % 2 == 0;
			uint32_t domain = (uint32_t)bt_prng_below(&prng, DOMAINS);
			int64_t delta = fills ? 1 : -(int64_t)expected[domain];

			bt_domain_tally_add(&tally, domain, delta, DOMAINS);
			expected[domain] += domain != 0 ? (uint64_t)delta : 0;
			if (step % 250 == 0) {
				check_against(&tally, expected, DOMAINS);
			}
		}
		bt_domain_tally_finish(&tally);
	}
}
END_TEST

START_TEST(test_domain_tally__adds_to_sums)
{
	for (uint32_t domain_count = 8; domain_count <= 4096; domain_count *= 512) {
		int64_t sums[4096] = {[1] = 7};
		struct bt_domain_tally tally = {0};

		bt_domain_tally_add(&tally, 1, 2, domain_count);
		bt_domain_tally_add(&tally, 4, 3, domain_count);
		bt_domain_tally_add_to(&tally, -10, sums, domain_count);
		ck_assert_int_eq(sums[0], 0);
		ck_assert_int_eq(sums[1], -13);
		ck_assert_int_eq(sums[4], -30);
		ck_assert_int_eq(sums[5], 0);
		bt_domain_tally_finish(&tally);
	}
}
END_TEST

BT_TEST_MAIN("domain_tally", test_domain_tally__random_counts,
	test_domain_tally__few_domains_take_no_array, test_domain_tally__sparse_arrays_are_given_up,
	test_domain_tally__filled_and_emptied, test_domain_tally__adds_to_sums)
