/* SPDX-License-Identifier: Apache-2.0 */
/** Compiled once for every processor and, on x86-64, once more for AVX2; BT_KERNELS names the table
 * defined. */
#include "sched/plan_kernels.h"

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
		/* A verdict of 0 wraps to the largest value; OUTSIDE never changes. */
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
		/* Without a jump: the sum of an infeasible slot may be anything. */
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
	/* A quotient of integers that is at most 100 is never rounded up to the next integer: it
	 * stays below by 2^-31 at least, and doubles at 100 are 2^-46 apart. */
	double divisor = max;
	int32_t base = reverse ? 100 * weight : 0;
	int32_t factor = reverse ? -weight : weight;
	for (uint32_t i = 0; i < count; i++) {
		bool feasible = totals[i] != BT_TOTAL_INFEASIBLE;
		int32_t value = feasible ? values[i] : 0;
		int32_t score = base + factor * (int32_t)(100.0 * value / divisor);
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

/** Slots that are looked at together before each of them is. */
#define FIND_BLOCK 32

static uint32_t find_equal(
	const int32_t *values, int32_t value, uint32_t count, uint32_t *out_slots)
{
	uint32_t found = 0;
	for (uint32_t first = 0; first < count; first += FIND_BLOCK) {
		uint32_t size = count - first < FIND_BLOCK ? count - first : FIND_BLOCK;
		uint32_t some = size < FIND_BLOCK;
		for (uint32_t i = 0; size == FIND_BLOCK && i < FIND_BLOCK; i++) {
			some |= values[first + i] == value;
		}
		for (uint32_t i = 0; some != 0 && i < size; i++) {
			/* Written in any case, kept if it counts. */
			out_slots[found] = first + i;
			found += values[first + i] == value;
		}
	}
	return found;
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
	add_weighted, start_totals, start_cell_totals, max_feasible, add_normalized, max_total,
	find_equal, max_value, combine_cells};
