/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The loops behind common_resource_columns.h. This file is compiled once for every processor and,
 * on x86-64, once more for AVX2; BT_KERNELS names the table each compilation defines. The results
 * are the same bit for bit: every operation is an IEEE double operation, none is fused.
 */
#include <math.h>

#include "base/assert.h"
#include "plugins/common_resource_columns.h"

/** Slots per block: the intermediate arrays of a block stay in the first-level cache. */
#define BLOCK 128

/**
 * Double of an integer in [0, 2^52) by its bits: 2^52 + value has value as its mantissa. Unlike a
 * conversion instruction this works on vectors of the baseline instruction set.
 */
BT_ALWAYS_INLINE double narrow_to_double(int64_t value)
{
	union {
		uint64_t bits;
		double number;
	} shifted = {.bits = (uint64_t)value | UINT64_C(0x4330000000000000)};
	return shifted.number - 0x1p52;
}

/**
 * One block of one resource: adds weight x score to sums and weight to weights where the node has
 * the resource. Sums are doubles to keep one vector width in the loop; they stay far below 2^52.
 */
static void add_allocation_scores(const struct bt_resource_column *column, bool most,
	const int64_t *allocatable, const int64_t *used, uint32_t count, double *restrict sums,
	double *restrict weights)
{
	double request = narrow_to_double(column->request);
	double weight = column->weight;
	for (uint32_t i = 0; i < count; i++) {
		double capacity = narrow_to_double(allocatable[i]);
		double wanted = narrow_to_double(used[i]) + request;
		double divisor = capacity > 0 ? capacity : 1;
		wanted = wanted < capacity ? wanted : capacity;
		double counted = most ? wanted : capacity - wanted;
		double score = (double)(int32_t)(counted * 100 / divisor);
		sums[i] += weight * score;
		weights[i] += capacity > 0 ? weight : 0;
	}
}

static void divide_by_weights(
	const double *sums, const double *weights, uint32_t count, int32_t *restrict scores)
{
	for (uint32_t i = 0; i < count; i++) {
		double divisor = weights[i] > 0 ? weights[i] : 1;
		scores[i] = (int32_t)(sums[i] / divisor);
	}
}

static void allocation_block(const struct bt_resource_column *columns, uint32_t column_count,
	bool most, uint32_t first_slot, uint32_t count, int32_t *scores)
{
	double sums[BLOCK] = {0};
	double weights[BLOCK] = {0};
	for (uint32_t c = 0; c < column_count; c++) {
		add_allocation_scores(&columns[c], most, columns[c].allocatable + first_slot,
			columns[c].used + first_slot, count, sums, weights);
	}
	divide_by_weights(sums, weights, count, scores);
}

static void allocation_score_column(const struct bt_resource_column *columns, uint32_t column_count,
	bool most, struct bt_slot_range range, int32_t *scores)
{
	if (range.slots != NULL) {
		for (uint32_t k = 0; k < range.count; k++) {
			uint32_t slot = range.slots[k];
			allocation_block(columns, column_count, most, slot, 1, &scores[slot]);
		}
		return;
	}
	for (uint32_t first = 0; first < range.count; first += BLOCK) {
		uint32_t count = range.count - first < BLOCK ? range.count - first : BLOCK;
		allocation_block(columns, column_count, most, first, count, &scores[first]);
	}
}

/** 100 x (1 - half the distance of two fractions), truncated; spec 05 section 12.3 for two
 * resources. */
BT_ALWAYS_INLINE int32_t balance(double fraction_a, double fraction_b, bool both)
{
	double distance = both ? fabs((fraction_a - fraction_b) / 2) : 0;
	return (int32_t)((1 - distance) * 100);
}

BT_ALWAYS_INLINE double fraction(double amount, double divisor)
{
	double quotient = amount / divisor;
	return quotient < 1.0 ? quotient : 1.0;
}

static void balanced_block(const struct bt_resource_column *a, const struct bt_resource_column *b,
	uint32_t first_slot, uint32_t count, int32_t *restrict scores)
{
	const int64_t *allocatable_a = a->allocatable + first_slot;
	const int64_t *allocatable_b = b->allocatable + first_slot;
	const int64_t *used_a = a->used + first_slot;
	const int64_t *used_b = b->used + first_slot;
	double request_a = narrow_to_double(a->request);
	double request_b = narrow_to_double(b->request);
	for (uint32_t i = 0; i < count; i++) {
		double capacity_a = narrow_to_double(allocatable_a[i]);
		double capacity_b = narrow_to_double(allocatable_b[i]);
		double amount_a = narrow_to_double(used_a[i]);
		double amount_b = narrow_to_double(used_b[i]);
		bool both = (capacity_a > 0) & (capacity_b > 0);
		double divisor_a = capacity_a > 0 ? capacity_a : 1;
		double divisor_b = capacity_b > 0 ? capacity_b : 1;
		int32_t after = balance(fraction(amount_a + request_a, divisor_a),
			fraction(amount_b + request_b, divisor_b), both);
		int32_t before =
			balance(fraction(amount_a, divisor_a), fraction(amount_b, divisor_b), both);
		scores[i] = 50 + (50 + after - before) / 2;
	}
}

static void balanced_score_column(const struct bt_resource_column *columns, uint32_t column_count,
	struct bt_slot_range range, int32_t *scores)
{
	BT_ASSERT(column_count <= 2);
	if (column_count < 2) {
		/* With fewer than two fractions the balance is always perfect. */
		for (uint32_t k = 0; k < range.count; k++) {
			scores[range.slots == NULL ? k : range.slots[k]] = 75;
		}
		return;
	}
	if (range.slots != NULL) {
		for (uint32_t k = 0; k < range.count; k++) {
			balanced_block(&columns[0], &columns[1], range.slots[k], 1,
				&scores[range.slots[k]]);
		}
		return;
	}
	balanced_block(&columns[0], &columns[1], 0, range.count, scores);
}

const struct bt_resource_kernels BT_KERNELS = {allocation_score_column, balanced_score_column};
