/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How many nodes are searched, and which of the best nodes is chosen: spec 03 sections 3.3 and 7.
 */
#include "base/prng.h"
#include "sched/engine.h"
#include "sched/select_host.h"
#include "test_main.h"

START_TEST(test_num_feasible_nodes_to_find__table)
{
	static const struct {
		uint32_t node_count;
		int32_t percentage;
		uint32_t expected;
	} rows[] = {{10, 0, 10}, {10, 30, 10}, {99, 0, 99}, {100, 0, 100}, {250, 0, 120},
		{1000, 0, 420}, {1000, 40, 400}, {5000, 0, 500}, {6000, 0, 300}, {6000, 40, 2400},
		{150, 10, 100}, {500, 100, 500}, {0, 0, 0}, {1, 1, 1}, {5625, 0, 281},
		{100000, 0, 5000}};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		uint32_t got =
			bt_num_feasible_nodes_to_find(rows[i].node_count, rows[i].percentage);

		ck_assert_msg(got == rows[i].expected, "%u nodes, %d %%: %u instead of %u",
			rows[i].node_count, (int)rows[i].percentage, got, rows[i].expected);
	}
}
END_TEST

/* The heap exactly as in spec 03 section 7; entries are indices into totals. */
struct heap {
	uint32_t items[64];
	const int64_t *totals;
	uint32_t count;
};

static bool better(const struct heap *heap, uint32_t a, uint32_t b)
{
	return heap->totals[heap->items[a]] > heap->totals[heap->items[b]];
}

static void swap(struct heap *heap, uint32_t a, uint32_t b)
{
	uint32_t item = heap->items[a];

	heap->items[a] = heap->items[b];
	heap->items[b] = item;
}

static void sift(struct heap *heap, uint32_t i, uint32_t n)
{
	for (;;) {
		uint32_t left = 2 * i + 1;
		uint32_t j = left;

		if (left >= n) {
			return;
		}
		if (left + 1 < n && better(heap, left + 1, left)) {
			j = left + 1;
		}
		if (!better(heap, j, i)) {
			return;
		}
		swap(heap, i, j);
		i = j;
	}
}

static uint32_t pop_of(const int64_t *totals, uint32_t count)
{
	struct heap heap = {.totals = totals, .count = count};

	for (uint32_t i = 0; i < count; i++) {
		heap.items[i] = i;
	}
	for (uint32_t i = count / 2; i > 0; i--) {
		sift(&heap, i - 1, count);
	}
	swap(&heap, 0, count - 1);
	sift(&heap, 0, count - 1);
	return heap.items[count - 1];
}

START_TEST(test_select_host__edge_03_21_second_of_two)
{
	static const int64_t two[] = {1, 2};
	static const int64_t four[] = {3, 2, 1, 3};

	ck_assert_uint_eq(bt_heap_choose(two, NULL, 2), 1);
	ck_assert_uint_eq(bt_heap_choose(four, NULL, 4), 0);
}
END_TEST

START_TEST(test_select_host__edge_03_21_random_numbers)
{
	static const uint64_t numbers[] = {1, 0, 0, 2};
	static const uint32_t order[] = {3, 0, 1, 2};
	int64_t totals[] = {3, 2, 1, 3};

	for (uint32_t i = 0; i < 4; i++) {
		uint32_t best = bt_heap_choose(totals, numbers, 4);
		ck_assert_uint_eq(best, order[i]);
		totals[best] = INT64_MIN;
	}
	/* Without random numbers the first of the best nodes is chosen. */
	ck_assert_uint_eq(bt_heap_choose((const int64_t[]){3, 2, 1, 3}, NULL, 4), 0);
}
END_TEST

START_TEST(test_select_host__all_equal_takes_the_first)
{
	int64_t totals[64] = {0};

	for (uint32_t count = 1; count <= 64; count++) {
		ck_assert_uint_eq(bt_heap_choose(totals, NULL, count), 0);
	}
}
END_TEST

START_TEST(test_select_host__as_the_literal_heap)
{
	struct bt_prng prng;

	bt_prng_init(&prng, 7);
	for (int round = 0; round < 200000; round++) {
		uint32_t count = 1 + (uint32_t)bt_prng_below(&prng, 64);
		uint64_t values = 1 + bt_prng_below(&prng, 6);
		int64_t totals[64];

		for (uint32_t i = 0; i < count; i++) {
			totals[i] = (int64_t)bt_prng_below(&prng, values);
		}
		if (bt_heap_choose(totals, NULL, count) != pop_of(totals, count)) {
			ck_abort_msg("round %d, %u nodes: %u instead of %u", round, count,
				bt_heap_choose(totals, NULL, count), pop_of(totals, count));
		}
	}
}
END_TEST

START_TEST(test_select_host__every_subset_of_a_small_heap)
{
	for (uint32_t count = 1; count <= 12; count++) {
		for (uint32_t best = 1; best < UINT32_C(1) << count; best++) {
			int64_t totals[12];

			for (uint32_t i = 0; i < count; i++) {
				totals[i] = best >> i & 1;
			}
			if (bt_heap_choose(totals, NULL, count) != pop_of(totals, count)) {
				ck_abort_msg("%u nodes, best %#x", count, best);
			}
		}
	}
}
END_TEST

START_TEST(test_select_host__totals_are_64_bit)
{
	static const int64_t totals[] = {INT64_C(1) << 32, (INT64_C(1) << 32) + 1, -1, INT64_MIN};

	ck_assert_uint_eq(bt_heap_choose(totals, NULL, 4), 1);
	ck_assert_uint_eq(bt_heap_choose(totals + 2, NULL, 2), 0);
}
END_TEST

BT_TEST_MAIN("select_host", test_num_feasible_nodes_to_find__table,
	test_select_host__edge_03_21_second_of_two, test_select_host__edge_03_21_random_numbers,
	test_select_host__all_equal_takes_the_first, test_select_host__as_the_literal_heap,
	test_select_host__every_subset_of_a_small_heap, test_select_host__totals_are_64_bit)
