/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHED_CELLS_PRIVATE_H
#define BT_SCHED_CELLS_PRIVATE_H
/**
 * The tree of blocks behind cells.h. Level 0 consists of the positions. A node of level k + 1
 * covers 64 neighbouring nodes of level k; the highest level is a single node that covers all. For
 * each of its nodes a cell has the number of members, their best local score, and the number of
 * members with that score. The other levels are padded to whole blocks of 64 entries with nodes
 * without members.
 */
#include <stdint.h>

#include "base/map.h"
#include "sched/cells.h"

#define BT_CELLS_BLOCK_BITS 6
#define BT_CELLS_BLOCK 64
/* 64^6 is larger than any position. */
#define BT_CELLS_LEVELS_MAX 6
/** Best local score of a node without members; lower than every local score. */
#define BT_CELLS_NO_SCORE INT32_MIN
/** Entries of the memory of lookups; a power of two. */
#define BT_CELLS_RECENT 64

/** Cell number of a position that has no cell yet, and of padding. */
#define BT_CELLS_UNPUT UINT16_MAX

/**
 * Entries by node; first_node has where each level begins. A node without members has the entries
 * BT_CELLS_NO_SCORE, 0, 0.
 */
struct bt_cell {
	int32_t *best;  /* owned; one block of memory for all three arrays */
	uint32_t *ties; /* number of members with the best score */
	uint32_t *members;
	/* Copies of the highest level's entries, which are read most. */
	int32_t top_best;
	uint32_t top_ties;
	uint32_t size;
	uint32_t some_member; /* a position where a member was last found */
};

struct bt_cells {
	uint32_t position_count;
	uint32_t key_words;
	uint32_t level_count;                         /* levels of nodes: 1..level_count */
	uint32_t level_size[BT_CELLS_LEVELS_MAX + 1]; /* without padding; [0] = position_count */
	uint32_t first_node[BT_CELLS_LEVELS_MAX + 1]; /* index in a cell's arrays */
	uint32_t node_count; /* of all levels, with padding; the last is the highest */
	uint32_t position_capacity;
	uint32_t node_capacity; /* length of a cell's arrays */
	uint16_t *cell_of;      /* by position, padded to whole blocks */
	int32_t *local_of;

	struct bt_cell *cells; /* owned */
	uint64_t *keys;        /* owned; key_words words for each cell */
	uint64_t *hashes;      /* owned; hashes of the keys */
	uint32_t cell_count;
	uint32_t cell_capacity;
	/* Cells found last, by bits of a product of the key: nodes have few different keys. */
	uint16_t recent[BT_CELLS_RECENT];
	size_t key_capacity; /* in words */
	struct bt_map by_key;
	/*
	 * Bit set of cells without members. Their keys stay in by_key until the number is reused.
	 */
	uint64_t vacant[BT_CELLS_MAX / 64];
	bool is_filled;
	const struct bt_cells_kernels *kernels;
};

/**
 * The loops over one block of cells.h, compiled for several instruction sets with the same results.
 * All arrays have BT_CELLS_BLOCK entries.
 */

struct bt_cells_kernels {
	/** Bit i: position i belongs to the cell. */
	uint64_t (*members_of)(const uint16_t *cell_of, uint16_t cell);
	/** Bit i: position i belongs to the cell and has this local score. */
	uint64_t (*ties_of)(
		const uint16_t *cell_of, const int32_t *local_of, uint16_t cell, int32_t local);
	/** Best local score of the cell's positions; BT_CELLS_NO_SCORE if there are none. */
	int32_t (*best_of)(const uint16_t *cell_of, const int32_t *local_of, uint16_t cell);
	/** Largest value. */
	int32_t (*max_of)(const int32_t *values);
	/** Sum of ties[i] where best[i] is `wanted`. */
	uint32_t (*sum_ties)(const int32_t *best, const uint32_t *ties, int32_t wanted);
	/** sums[i] += ties[i] where best[i] is `wanted`. */
	void (*add_ties)(uint32_t *sums, const int32_t *best, const uint32_t *ties, int32_t wanted);
	/** sums[i] += values[i] */
	void (*add)(uint32_t *sums, const uint32_t *values);
	/** Number of values that are at most `limit`. */
	uint32_t (*count_up_to)(const uint32_t *values, uint32_t limit);
};

extern const struct bt_cells_kernels bt_cells_kernels_plain;
extern const struct bt_cells_kernels bt_cells_kernels_avx2; /* with BT_HAVE_AVX2_KERNELS only */

/** The fastest table that this processor can run. */
const struct bt_cells_kernels *bt_cells_kernels_for_cpu(void);
#endif
