/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The build compiles this file for the baseline instruction set and, on x86-64, also for AVX2.
 * BT_KERNELS is the name of the table of functions.
 */

#include "sched/cells.h"

enum { HALF = BT_CELLS_BLOCK / 2 };

/*
 * Collects 32 bits at a time, because compilers vectorise this loop, but not a loop that collects
 * 64 bits.
 */
static uint32_t members_of_half(const uint16_t *cell_of, uint16_t cell)
{
	uint32_t bits = 0;
	for (uint32_t i = 0; i < HALF; i++) {
		bits |= cell_of[i] == cell ? UINT32_C(1) << i : 0;
	}
	return bits;
}

static uint64_t members_of(const uint16_t *cell_of, uint16_t cell)
{
	return members_of_half(cell_of, cell) |
		(uint64_t)members_of_half(cell_of + HALF, cell) << HALF;
}

static uint32_t ties_of_half(
	const uint16_t *cell_of, const int32_t *local_of, uint16_t cell, int32_t local)
{
	uint32_t bits = 0;
	for (uint32_t i = 0; i < HALF; i++) {
		bool is_tie = (cell_of[i] == cell) & (local_of[i] == local);
		bits |= is_tie ? UINT32_C(1) << i : 0;
	}
	return bits;
}

static uint64_t ties_of(
	const uint16_t *cell_of, const int32_t *local_of, uint16_t cell, int32_t local)
{
	return ties_of_half(cell_of, local_of, cell, local) |
		(uint64_t)ties_of_half(cell_of + HALF, local_of + HALF, cell, local) << HALF;
}

static int32_t best_of(const uint16_t *cell_of, const int32_t *local_of, uint16_t cell)
{
	/*
	 * Map scores to unsigned numbers, keeping their order, and mask members of other cells to
	 * 0. gcc would not vectorise a conditional here (32-bit values, 16-bit comparison).
	 */
	const uint32_t flip = (uint32_t)BT_CELLS_NO_SCORE;
	uint32_t best = 0;
	for (uint32_t i = 0; i < BT_CELLS_BLOCK; i++) {
		uint32_t own = -(uint32_t)(cell_of[i] == cell);
		uint32_t local = ((uint32_t)local_of[i] ^ flip) & own;
		best = local > best ? local : best;
	}
	return (int32_t)(best ^ flip);
}

static int32_t max_of(const int32_t *values)
{
	int32_t max = values[0];
	for (uint32_t i = 1; i < BT_CELLS_BLOCK; i++) {
		max = values[i] > max ? values[i] : max;
	}
	return max;
}

static uint32_t sum_ties(const int32_t *best, const uint32_t *ties, int32_t wanted)
{
	uint32_t sum = 0;
	for (uint32_t i = 0; i < BT_CELLS_BLOCK; i++) {
		uint32_t own = ties[i];
		sum += best[i] == wanted ? own : 0;
	}
	return sum;
}

static void add_ties(uint32_t *restrict sums, const int32_t *restrict best,
	const uint32_t *restrict ties, int32_t wanted)
{
	for (uint32_t i = 0; i < BT_CELLS_BLOCK; i++) {
		uint32_t own = ties[i];
		sums[i] += best[i] == wanted ? own : 0;
	}
}

static void add(uint32_t *restrict sums, const uint32_t *restrict values)
{
	for (uint32_t i = 0; i < BT_CELLS_BLOCK; i++) {
		sums[i] += values[i];
	}
}

static uint32_t count_up_to(const uint32_t *values, uint32_t limit)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < BT_CELLS_BLOCK; i++) {
		count += values[i] <= limit;
	}
	return count;
}

const struct bt_cells_kernels BT_KERNELS = {
	members_of, ties_of, best_of, max_of, sum_ties, add_ties, add, count_up_to};
