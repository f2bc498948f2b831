/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHED_CELLS_PRIVATE_H
#define BT_SCHED_CELLS_PRIVATE_H
/**
 * The tree of blocks behind cells.h. Level 0 are the positions; a node of level k + 1 stands for 64
 * neighbours of level k, and the only node of the highest level for all. Each cell has for each
 * node its members, the best local score among them, and how many have that score. Levels are
 * padded to whole blocks with nodes of nobody, so that a block is always 64 entries; the highest
 * level is a single entry.
 */
#include <stdint.h>

#include "base/map.h"
#include "sched/cells.h"
#include "sched/cells_private.h"

#define BT_CELLS_BLOCK_BITS 6
#define BT_CELLS_BLOCK 64
/* 64^6 is more than any position. */
#define BT_CELLS_LEVELS_MAX 6
/** Best local score of nobody; below every local score. */
#define BT_CELLS_NOBODY INT32_MIN
/** In place of a cell's number: a position that was not put yet, or padding. */
#define BT_CELLS_UNPUT UINT16_MAX

/** Entries by node, all levels in one array: see first_node. A node of nobody has BT_CELLS_NOBODY,
 * 0, 0. */
struct bt_cell {
	int32_t *best;  /* owned; the block of memory that all three lie in */
	uint32_t *ties; /* members with the best score */
	uint32_t *members;
	/* The entries of the highest level once more: they are asked for most. */
	int32_t top_best;
	uint32_t top_ties;
	uint32_t size;
	uint32_t some_member; /* where one was last seen */
};

struct bt_cells {
	uint32_t position_count;
	uint32_t key_words;
	uint32_t level_count;                         /* of nodes: levels 1..level_count */
	uint32_t level_size[BT_CELLS_LEVELS_MAX + 1]; /* without padding; [0] = position_count */
	uint32_t first_node[BT_CELLS_LEVELS_MAX + 1]; /* of a level, among a cell's nodes */
	uint32_t node_count; /* all levels with padding; the last is the highest */
	uint32_t position_capacity;
	uint32_t node_capacity; /* for which cells have memory */
	uint16_t *cell_of;      /* by position, padded to whole blocks */
	int32_t *local_of;

	struct bt_cell *cells; /* owned */
	uint64_t *keys;        /* owned; key_words for each cell */
	uint64_t *hashes;      /* owned; of the keys */
	uint32_t cell_count;
	uint32_t cell_capacity;
	uint32_t last_cell;  /* that was asked for by key: neighbours are often alike */
	size_t key_capacity; /* words */
	struct bt_map by_key;
	/* Cells that lost their last member; their key still leads to them until the number is
	 * needed for another. */
	uint64_t vacant[BT_CELLS_MAX / 64];
	bool is_filled;
	const struct bt_cells_kernels *kernels;
};

/** The loops over one block of cells.h, compiled for several instruction sets; same results from
 * each. All arrays have BT_CELLS_BLOCK entries. */

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
