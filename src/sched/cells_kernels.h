/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHED_CELLS_KERNELS_H
#define BT_SCHED_CELLS_KERNELS_H
/** The loops over one block of cells.h, compiled for several instruction sets; same results from
 * each. All arrays have BT_CELLS_BLOCK entries. */
#include <stdint.h>

struct bt_cells_kernels {
	/** Bit i: position i is of this cell. */
	uint64_t (*members_of)(const uint16_t *cell_of, uint16_t cell);
	/** Bit i: and has this local score. */
	uint64_t (*ties_of)(
		const uint16_t *cell_of, const int32_t *local_of, uint16_t cell, int32_t local);
	/** Best local score of the cell's positions, BT_CELLS_NOBODY if it has none. */
	int32_t (*best_of)(const uint16_t *cell_of, const int32_t *local_of, uint16_t cell);
	/** Largest value. */
	int32_t (*max_of)(const int32_t *values);
	/** Sum of ties where best is `wanted`. */
	uint32_t (*sum_ties)(const int32_t *best, const uint32_t *ties, int32_t wanted);
	/** sums += ties where best is `wanted`. */
	void (*add_ties)(uint32_t *sums, const int32_t *best, const uint32_t *ties, int32_t wanted);
	/** sums += values */
	void (*add)(uint32_t *sums, const uint32_t *values);
	/** How many values are at most `limit`. */
	uint32_t (*count_up_to)(const uint32_t *values, uint32_t limit);
};

extern const struct bt_cells_kernels bt_cells_kernels_plain;
extern const struct bt_cells_kernels bt_cells_kernels_avx2; /* only with BT_HAVE_AVX2_KERNELS */

/** The fastest table this processor runs. */
const struct bt_cells_kernels *bt_cells_kernels_for_cpu(void);
#endif
