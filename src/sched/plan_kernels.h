/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHED_PLAN_KERNELS_H
#define BT_SCHED_PLAN_KERNELS_H
/** The loops over a plan's columns, compiled for several instruction sets; same results from each.
 */
#include <stdbool.h>
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
	/** sums = base + weight x scores */
	void (*start_weighted)(int32_t *sums, int32_t base, const int32_t *scores, int32_t weight,
		uint32_t count);
	/** totals = local + score, BT_TOTAL_INFEASIBLE where not feasible. */
	void (*start_totals)(int32_t *totals, const int32_t *local, const uint32_t *verdict,
		int32_t score, uint32_t count);
	/** The same with the score of each slot's cell, which is BT_TOTAL_INFEASIBLE for cells that
	 * are. */
	void (*start_cell_totals)(int32_t *totals, const int32_t *local, const uint32_t *verdict,
		const uint32_t *cell_of, const int32_t *cell_scores, uint32_t count);
	/** Largest value where the total is not infeasible, at least 0. */
	int32_t (*max_feasible)(const int32_t *values, const int32_t *totals, uint32_t count);
	/** totals += weight x bt_plan_normalized(value, max, reverse) where feasible; max > 0. */
	void (*add_normalized)(int32_t *totals, const int32_t *values, int32_t weight, int32_t max,
		bool reverse, uint32_t count);
	/** Largest total. */
	int32_t (*max_total)(const int32_t *totals, uint32_t count);
	/** Where the value is, ascending; out_slots has room for all. Returns how many. */
	uint32_t (*find_equal)(
		const int32_t *values, int32_t value, uint32_t count, uint32_t *out_slots);
	/** Slots of the cell with a verdict of 0; *out_slot: any of them, BT_SLOT_NONE without. */
	uint32_t (*count_members)(const uint32_t *cell_of, const uint32_t *verdict, uint32_t cell,
		uint32_t count, uint32_t *out_slot);
	/** Largest value. */
	uint32_t (*max_value)(const uint32_t *values, uint32_t count);
	/** cells = cells x factor + values */
	void (*combine_cells)(
		uint32_t *cells, const uint32_t *values, uint32_t factor, uint32_t count);
};

extern const struct bt_plan_kernels bt_plan_kernels_plain;
/* Only with BT_HAVE_AVX2_KERNELS. */
extern const struct bt_plan_kernels bt_plan_kernels_avx2;
extern const struct bt_plan_kernels bt_plan_kernels_avx512;

/** The fastest table this processor runs. */
const struct bt_plan_kernels *bt_plan_kernels_for_cpu(void);
#endif
