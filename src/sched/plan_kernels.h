/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHED_PLAN_KERNELS_H
#define BT_SCHED_PLAN_KERNELS_H
/** The loops over a plan's columns, compiled for several instruction sets with the same results. */
#include <stdbool.h>
#include <stdint.h>

struct bt_plan_kernels {
	/** Set verdict to tag | detail where verdict is 0 and detail is not 0. */
	void (*merge_verdicts)(
		uint32_t *verdict, const uint32_t *detail, uint32_t tag, uint32_t count);
	/**
	 * Does the same as merge_verdicts, and also replaces verdicts of filters later in the list.
	 */
	void (*merge_earlier)(
		uint32_t *verdict, const uint32_t *detail, uint32_t tag, uint32_t count);
	/** Number of verdicts that are 0. */
	uint32_t (*count_feasible)(const uint32_t *verdict, uint32_t count);
	/** sums += weight x scores. */
	void (*add_weighted)(int32_t *sums, const int32_t *scores, int32_t weight, uint32_t count);
	/** sums = base + weight x scores. */
	void (*start_weighted)(
		int32_t *sums, int32_t base, const int32_t *scores, int32_t weight, uint32_t count);
	/** totals = local + score; BT_TOTAL_INFEASIBLE where verdict is not 0. */
	void (*start_totals)(int32_t *totals, const int32_t *local, const uint32_t *verdict,
		int32_t score, uint32_t count);
	/**
	 * Does the same as start_totals, with the score of each slot's cell. The score of an
	 * infeasible cell is BT_TOTAL_INFEASIBLE.
	 */
	void (*start_cell_totals)(int32_t *totals, const int32_t *local, const uint32_t *verdict,
		const uint32_t *cell_of, const int32_t *cell_scores, uint32_t count);
	/** Largest value of the slots whose total is not BT_TOTAL_INFEASIBLE, at least 0. */
	int32_t (*max_feasible)(const int32_t *values, const int32_t *totals, uint32_t count);
	/**
	 * totals += weight x bt_plan_normalized(value, max, reverse) for feasible slots; max > 0.
	 */
	void (*add_normalized)(int32_t *totals, const int32_t *values, int32_t weight, int32_t max,
		bool reverse, uint32_t count);
	int32_t (*max_total)(const int32_t *totals, uint32_t count);
	/**
	 * Find the slots with this value, in ascending order. out_slots needs room for `count`
	 * slots. Returns the number of slots found.
	 */
	uint32_t (*find_equal)(
		const int32_t *values, int32_t value, uint32_t count, uint32_t *out_slots);
	/**
	 * Number of the cell's slots with verdict 0. *out_slot: the last of these slots, or
	 * BT_SLOT_NONE.
	 */
	uint32_t (*count_members)(const uint32_t *cell_of, const uint32_t *verdict, uint32_t cell,
		uint32_t count, uint32_t *out_slot);
	uint32_t (*max_value)(const uint32_t *values, uint32_t count);
	/** cells = cells x factor + values. */
	void (*combine_cells)(
		uint32_t *cells, const uint32_t *values, uint32_t factor, uint32_t count);
};

extern const struct bt_plan_kernels bt_plan_kernels_plain;
/* With BT_HAVE_AVX2_KERNELS only. */
extern const struct bt_plan_kernels bt_plan_kernels_avx2;
extern const struct bt_plan_kernels bt_plan_kernels_avx512;

/** The fastest table that this processor can run. */
const struct bt_plan_kernels *bt_plan_kernels_for_cpu(void);
#endif
