/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Compares the resource kernels of every instruction set of this machine with the plain formulas.
 */
#include <math.h>

#include "base/cpu.h"
#include "base/prng.h"
#include "plugins/common_resource_score.h"
#include "test_main.h"

/* Several blocks, and a remainder smaller than a vector. */
#define SLOT_COUNT 301
#define ROUND_COUNT 60

struct amounts {
	int64_t allocatable[SLOT_COUNT];
	int64_t used[SLOT_COUNT];
	double inverse[SLOT_COUNT];
};

static struct amounts first;
static struct amounts second;
static struct amounts pods;

static uint32_t kernel_sets(const struct bt_resource_kernels *out[3])
{
	uint32_t count = 0;

	out[count++] = &bt_resource_kernels_plain;
#ifdef BT_HAVE_AVX2_KERNELS
	if (bt_cpu_has_avx2()) {
		out[count++] = &bt_resource_kernels_avx2;
	}
	if (bt_cpu_has_avx512()) {
		out[count++] = &bt_resource_kernels_avx512;
	}
#endif
	return count;
}

/** Returns random numbers: many small ones, ties with `near`, and the largest ones. */
static int64_t random_amount(struct bt_prng *prng, int64_t near)
{
	switch (bt_prng_below(prng, 6)) {
	case 0:
		return (int64_t)bt_prng_below(prng, 4);
	case 1:
		return near;
	case 2:
		return near != 0 ? near - 1 : 0;
	case 3:
		return BT_NARROW_AMOUNT_MAX - 1 - (int64_t)bt_prng_below(prng, 3);
	case 4:
		return (int64_t)bt_prng_below(prng, 64000);
	default:
		return (int64_t)bt_prng_below(prng, (uint64_t)BT_NARROW_AMOUNT_MAX);
	}
}

static void draw(struct bt_prng *prng, struct amounts *amounts)
{
	for (uint32_t i = 0; i < SLOT_COUNT; i++) {
		int64_t capacity = random_amount(prng, 0);

		amounts->allocatable[i] = capacity;
		amounts->used[i] = random_amount(prng, capacity);
		amounts->inverse[i] = capacity > 0 ? 1 / (double)capacity : 0;
	}
}

static struct bt_resource_column column(
	const struct amounts *amounts, bool inverse, int64_t request, int32_t weight)
{
	return (struct bt_resource_column){.allocatable = amounts->allocatable,
		.used = amounts->used,
		.inverse = inverse ? amounts->inverse : NULL,
		.request = request,
		.weight = weight};
}

/* The formulas of spec 05 sections 11.5 and 12.3, as in the plugins' plain forms. */

static int64_t points(const struct bt_resource_column *from, uint32_t slot, bool most)
{
	int64_t capacity = from->allocatable[slot];
	int64_t wanted = from->used[slot] + from->request;

	if (wanted > capacity) {
		wanted = capacity;
	}
	return (most ? wanted : capacity - wanted) * 100 / capacity;
}

static int32_t expected_allocation(
	const struct bt_resource_column *columns, uint32_t count, bool most, uint32_t slot)
{
	int64_t sum = 0;
	int64_t weights = 0;

	for (uint32_t c = 0; c < count; c++) {
		if (columns[c].allocatable[slot] != 0) {
			sum += columns[c].weight * points(&columns[c], slot, most);
			weights += columns[c].weight;
		}
	}
	return weights != 0 ? (int32_t)(sum / weights) : 0;
}

static double fraction(const struct bt_resource_column *from, uint32_t slot, bool with_pod)
{
	int64_t amount = from->used[slot] + (with_pod ? from->request : 0);
	double result = (double)amount / (double)from->allocatable[slot];

	return result > 1.0 ? 1.0 : result;
}

static int64_t balance(const struct bt_resource_column *columns, uint32_t slot, bool with_pod)
{
	double deviation = 0;

	if (columns[0].allocatable[slot] != 0 && columns[1].allocatable[slot] != 0) {
		deviation = fabs((fraction(&columns[0], slot, with_pod) -
					 fraction(&columns[1], slot, with_pod)) /
			2);
	}
	return (int64_t)((1 - deviation) * 100);
}

static int32_t expected_balance(const struct bt_resource_column *columns, uint32_t slot)
{
	return (int32_t)(50 +
		(50 + balance(columns, slot, true) - balance(columns, slot, false)) / 2);
}

static uint32_t expected_lack(const struct bt_lack_column *columns, uint32_t count, uint32_t slot)
{
	uint32_t detail = pods.used[slot] >= pods.allocatable[slot] ? 2 : 0;

	for (uint32_t c = 0; c < count; c++) {
		if (columns[c].request >
			columns[c].allocatable[slot] - columns[c].requested[slot]) {
			detail |= columns[c].bit;
			detail |= columns[c].request > columns[c].allocatable[slot] ? 1 : 0;
		}
	}
	return detail;
}

static void check_scores(const struct bt_resource_kernels *kernels,
	const struct bt_resource_column *columns, uint32_t count, bool most)
{
	static int32_t scores[SLOT_COUNT];
	static int32_t before[SLOT_COUNT];
	static uint32_t list[SLOT_COUNT];
	struct bt_slot_range listed = {.slots = list, .count = SLOT_COUNT};
	uint32_t slot = SLOT_COUNT / 2;
	struct bt_slot_range all = {.count = SLOT_COUNT};
	struct bt_slot_range one = {.slots = &slot, .count = 1};

	kernels->allocation(columns, count, most, all, scores);
	for (uint32_t i = 0; i < SLOT_COUNT; i++) {
		ck_assert_int_eq(scores[i], expected_allocation(columns, count, most, i));
	}
	scores[slot] = -1;
	kernels->allocation(columns, count, most, one, scores);
	ck_assert_int_eq(scores[slot], expected_allocation(columns, count, most, slot));
	if (count != 2) {
		return;
	}
	struct bt_resource_column unused[2] = {columns[0], columns[1]};
	unused[0].request = 0;
	unused[1].request = 0;
	kernels->balance(unused, (struct bt_slot_range){.count = slot}, before);
	kernels->balance(unused,
		(struct bt_slot_range){.first = slot, .count = SLOT_COUNT - slot}, before);
	for (uint32_t i = 0; i < SLOT_COUNT; i++) {
		ck_assert_int_eq(before[i], balance(columns, i, false));
	}
	for (uint32_t known = 0; known < 2; known++) {
		kernels->balanced(columns, count, known != 0 ? before : NULL, all, scores);
		for (uint32_t i = 0; i < SLOT_COUNT; i++) {
			ck_assert_int_eq(scores[i], expected_balance(columns, i));
		}
	}
	scores[slot] = -1;
	kernels->balanced(columns, count, NULL, one, scores);
	ck_assert_int_eq(scores[slot], expected_balance(columns, slot));
	/* List all slots, backwards. */
	for (uint32_t i = 0; i < SLOT_COUNT; i++) {
		list[i] = SLOT_COUNT - 1 - i;
		scores[i] = -1;
	}
	kernels->balanced(columns, count, NULL, listed, scores);
	for (uint32_t i = 0; i < SLOT_COUNT; i++) {
		ck_assert_int_eq(scores[i], expected_balance(columns, i));
	}
	kernels->allocation(columns, count, most, listed, scores);
	for (uint32_t i = 0; i < SLOT_COUNT; i++) {
		ck_assert_int_eq(scores[i], expected_allocation(columns, count, most, i));
	}
}

static void check_lack(const struct bt_resource_kernels *kernels,
	const struct bt_lack_column *columns, uint32_t count)
{
	static uint32_t details[SLOT_COUNT];
	const struct bt_lack_column limits = {pods.allocatable, pods.used, 1, 2};
	struct bt_slot_range all = {.count = SLOT_COUNT};
	uint32_t slot = SLOT_COUNT - 1;
	bool any = false;

	bool found = kernels->lack(&limits, columns, count, all, details);
	for (uint32_t i = 0; i < SLOT_COUNT; i++) {
		uint32_t expected = expected_lack(columns, count, i);
		ck_assert_uint_eq(details[i], expected);
		any = any || expected != 0;
	}
	ck_assert_int_eq(found, any);
	details[slot] = 99;
	found = kernels->lack(&limits, columns, count,
		(struct bt_slot_range){.slots = &slot, .count = 1}, details);
	ck_assert_uint_eq(details[slot], expected_lack(columns, count, slot));
	ck_assert_int_eq(found, details[slot] != 0);
}

START_TEST(test_resource_kernels__random_amounts)
{
	const struct bt_resource_kernels *sets[3];
	uint32_t set_count = kernel_sets(sets);
	struct bt_prng prng;

	bt_prng_init(&prng, 7);
	for (uint32_t round = 0; round < ROUND_COUNT; round++) {
		draw(&prng, &first);
		draw(&prng, &second);
		draw(&prng, &pods);
		bool inverse = bt_prng_below(&prng, 2) == 0;
		struct bt_resource_column columns[3] = {
			column(&first, inverse, random_amount(&prng, first.used[0]),
				(int32_t)bt_prng_below(&prng, 101)),
			column(&second, true, random_amount(&prng, 0),
				(int32_t)bt_prng_below(&prng, 101)),
			column(&pods, false, random_amount(&prng, 0), 1),
		};
		struct bt_lack_column lacks[2] = {
			{first.allocatable, first.used, 1 + random_amount(&prng, 0), 4},
			{second.allocatable, second.used, 1 + random_amount(&prng, 0), 8},
		};
		for (uint32_t s = 0; s < set_count; s++) {
			uint32_t count = 1 + (uint32_t)bt_prng_below(&prng, 3);
			check_scores(sets[s], columns, count, bt_prng_below(&prng, 2) == 0);
			check_lack(sets[s], lacks, (uint32_t)bt_prng_below(&prng, 3));
		}
	}
}
END_TEST

/** Whole quotients must stay exact: rounding must not make them smaller. */
START_TEST(test_resource_kernels__whole_quotients)
{
	const struct bt_resource_kernels *sets[3];
	uint32_t set_count = kernel_sets(sets);

	for (uint32_t i = 0; i < SLOT_COUNT; i++) {
		int64_t capacity = 100 * (int64_t)(i + 1);
		first.allocatable[i] = capacity;
		first.used[i] = (int64_t)(i + 1) * (i % 100);
		first.inverse[i] = 1 / (double)capacity;
	}
	second = first;
	for (uint32_t s = 0; s < set_count; s++) {
		struct bt_resource_column columns[2] = {
			column(&first, true, 0, 1), column(&second, true, 0, 1)};
		check_scores(sets[s], columns, 2, true);
		check_scores(sets[s], columns, 1, true);
	}
}
END_TEST

BT_TEST_MAIN("resource_kernels", test_resource_kernels__random_amounts,
	test_resource_kernels__whole_quotients)
