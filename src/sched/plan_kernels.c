/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The build compiles this file for the baseline instruction set and, on x86-64, also for AVX2 and
 * AVX-512. BT_KERNELS is the name of the table of functions.
 */
#include "sched/plan_kernels.h"

#include "base/compiler.h"
#include "sched/plan.h"

static void merge_verdicts(
	uint32_t *restrict verdict, const uint32_t *restrict detail, uint32_t tag, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		verdict[i] = verdict[i] == 0 && detail[i] != 0 ? tag | detail[i] : verdict[i];
	}
}

static void merge_earlier(
	uint32_t *restrict verdict, const uint32_t *restrict detail, uint32_t tag, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		/*
		 * A rejection replaces the verdict 0 too, because 0 - 1 wraps to the largest value.
		 * BT_VERDICT_OUTSIDE never changes.
		 */
		uint32_t rejected = tag | detail[i];
		bool earlier = verdict[i] - 1 > rejected - 1 && verdict[i] != BT_VERDICT_OUTSIDE;
		verdict[i] = detail[i] != 0 && earlier ? rejected : verdict[i];
	}
}

static uint32_t count_feasible(const uint32_t *verdict, uint32_t count)
{
	uint32_t feasible = 0;
	for (uint32_t i = 0; i < count; i++) {
		feasible += verdict[i] == 0;
	}
	return feasible;
}

static void add_weighted(
	int32_t *restrict sums, const int32_t *restrict scores, int32_t weight, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		sums[i] += weight * scores[i];
	}
}

static void start_weighted(int32_t *restrict sums, int32_t base, const int32_t *restrict scores,
	int32_t weight, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		sums[i] = base + weight * scores[i];
	}
}

static void start_totals(int32_t *restrict totals, const int32_t *restrict local,
	const uint32_t *restrict verdict, int32_t score, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		totals[i] = verdict[i] == 0 ? local[i] + score : BT_TOTAL_INFEASIBLE;
	}
}

static void start_cell_totals(int32_t *restrict totals, const int32_t *restrict local,
	const uint32_t *restrict verdict, const uint32_t *restrict cell_of,
	const int32_t *restrict cell_scores, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		int32_t score = cell_scores[cell_of[i]];
		bool feasible = (verdict[i] == 0) & (score != BT_TOTAL_INFEASIBLE);
		/* Avoid a branch: the sum of an infeasible slot is not used. */
		uint32_t total = (uint32_t)local[i] + (uint32_t)score;
		totals[i] = feasible ? (int32_t)total : BT_TOTAL_INFEASIBLE;
	}
}

static int32_t max_feasible(const int32_t *values, const int32_t *totals, uint32_t count)
{
	int32_t max = 0;
	for (uint32_t i = 0; i < count; i++) {
		int32_t value = totals[i] != BT_TOTAL_INFEASIBLE ? values[i] : 0;
		max = value > max ? value : max;
	}
	return max;
}

static void add_normalized(int32_t *restrict totals, const int32_t *restrict values, int32_t weight,
	int32_t max, bool reverse, uint32_t count)
{
	/*
	 * 100 x value / max, truncated, with one multiplication. The added half keeps the exact
	 * quotient at least 2^-32 away from the neighbouring integers, and two roundings change a
	 * number of at most 101 by less than 2^-44.
	 */
	double inverse = 1.0 / max;
	int32_t base = reverse ? 100 * weight : 0;
	int32_t factor = reverse ? -weight : weight;
	for (uint32_t i = 0; i < count; i++) {
		bool feasible = totals[i] != BT_TOTAL_INFEASIBLE;
		int32_t value = feasible ? values[i] : 0;
		int32_t score = base + factor * (int32_t)((100.0 * value + 0.5) * inverse);
		totals[i] += feasible ? score : 0;
	}
}

static int32_t max_total(const int32_t *totals, uint32_t count)
{
	int32_t max = BT_TOTAL_INFEASIBLE;
	for (uint32_t i = 0; i < count; i++) {
		max = totals[i] > max ? totals[i] : max;
	}
	return max;
}

/**
 * Bit i: values[i] == value. Returns 32 bits, because compilers vectorise this loop, but not a loop
 * that collects 64 bits.
 */
static uint32_t equal_of_32(const int32_t *values, int32_t value)
{
	uint32_t bits = 0;
	for (uint32_t i = 0; i < 32; i++) {
		bits |= values[i] == value ? UINT32_C(1) << i : 0;
	}
	return bits;
}

static uint32_t find_equal(
	const int32_t *values, int32_t value, uint32_t count, uint32_t *out_slots)
{
	uint32_t found = 0;
	uint32_t whole = count & ~UINT32_C(31);
	for (uint32_t first = 0; first < whole; first += 32) {
		uint32_t bits = equal_of_32(values + first, value);
		for (; bits != 0; bits &= bits - 1) {
			out_slots[found++] = first + BT_CTZ64(bits);
		}
	}
	for (uint32_t i = whole; i < count; i++) {
		/* Always write the slot; if its value differs, the next slot overwrites it. */
		out_slots[found] = i;
		found += values[i] == value;
	}
	return found;
}

static uint32_t count_members(const uint32_t *cell_of, const uint32_t *verdict, uint32_t cell,
	uint32_t count, uint32_t *out_slot)
{
	uint32_t members = 0;
	uint32_t last = 0; /* index + 1 */
	for (uint32_t i = 0; i < count; i++) {
		/*
		 * Masks instead of a conditional, because gcc does not vectorise a conditional
		 * maximum.
		 */
		uint32_t own = -(uint32_t)(((cell_of[i] ^ cell) | verdict[i]) == 0);
		uint32_t after = (i + 1) & own;
		members -= own;
		last = after > last ? after : last;
	}
	*out_slot = last - 1;
	return members;
}

static uint32_t max_value(const uint32_t *values, uint32_t count)
{
	uint32_t max = 0;
	for (uint32_t i = 0; i < count; i++) {
		max = values[i] > max ? values[i] : max;
	}
	return max;
}

static void combine_cells(
	uint32_t *restrict cells, const uint32_t *restrict values, uint32_t factor, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		cells[i] = cells[i] * factor + values[i];
	}
}

const struct bt_plan_kernels BT_KERNELS = {merge_verdicts, merge_earlier, count_feasible,
	add_weighted, start_weighted, start_totals, start_cell_totals, max_feasible, add_normalized,
	max_total, find_equal, count_members, max_value, combine_cells};
