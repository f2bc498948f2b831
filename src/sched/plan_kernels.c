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

static int32_t max_feasible(const int32_t *values, const uint32_t *verdict, uint32_t count)
{
	int32_t max = 0;
	for (uint32_t i = 0; i < count; i++) {
		int32_t value = verdict[i] == 0 ? values[i] : 0;
		max = value > max ? value : max;
	}
	return max;
}

static uint32_t count_equal(
	const int32_t *values, const uint32_t *verdict, int32_t value, uint32_t count)
{
	uint32_t equal = 0;
	for (uint32_t i = 0; i < count; i++) {
		equal += (verdict[i] == 0) & (values[i] == value);
	}
	return equal;
}

static void start_totals(int32_t *restrict totals, const int32_t *restrict local,
	const uint32_t *restrict verdict, int32_t base, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		totals[i] = verdict[i] == 0 ? local[i] + base : BT_TOTAL_INFEASIBLE;
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

const struct bt_plan_kernels BT_KERNELS = {merge_verdicts, merge_earlier, count_feasible,
	add_weighted, max_feasible, count_equal, start_totals, max_total};
