/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHED_PLAN_KERNELS_H
#define BT_SCHED_PLAN_KERNELS_H
/** The loops over a plan's columns, compiled for several instruction sets; same results from each.
 */
#include <stdint.h>

struct bt_plan_kernels {
	/** verdict = tag | detail where verdict is 0 and detail is not. */
	void (*merge_verdicts)(
		uint32_t *verdict, const uint32_t *detail, uint32_t tag, uint32_t count);
	/** The same for a filter that may stand before the one that verdict names: the earlier one
	 * counts. */
	void (*merge_earlier)(
		uint32_t *verdict, const uint32_t *detail, uint32_t tag, uint32_t count);
	/** Number of zeros. */
	uint32_t (*count_feasible)(const uint32_t *verdict, uint32_t count);
	/** sums += weight x scores */
	void (*add_weighted)(int32_t *sums, const int32_t *scores, int32_t weight, uint32_t count);
	/** Largest value of a feasible slot, at least 0. */
	int32_t (*max_feasible)(const int32_t *values, const uint32_t *verdict, uint32_t count);
	/** Feasible slots with this value. */
	uint32_t (*count_equal)(
		const int32_t *values, const uint32_t *verdict, int32_t value, uint32_t count);
	/** totals = local + base, BT_TOTAL_INFEASIBLE where not feasible. */
	void (*start_totals)(int32_t *totals, const int32_t *local, const uint32_t *verdict,
		int32_t base, uint32_t count);
	/** Largest total. */
	int32_t (*max_total)(const int32_t *totals, uint32_t count);
};

extern const struct bt_plan_kernels bt_plan_kernels_plain;
extern const struct bt_plan_kernels bt_plan_kernels_avx2; /* only with BT_HAVE_AVX2_KERNELS */

/** The fastest table this processor runs. */
const struct bt_plan_kernels *bt_plan_kernels_for_cpu(void);
#endif
