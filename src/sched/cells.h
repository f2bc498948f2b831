/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHED_CELLS_H
#define BT_SCHED_CELLS_H
/**
 * A cell is a set of nodes that a scheduling cycle cannot tell apart except by their local score
 * and their place in the list. Plugins that depend on other nodes' pods run once for each cell,
 * because the nodes of a cell have the same values for these plugins, such as the domain of a
 * topology key. A tree of blocks gives the best node of a cell, the number of equally good nodes,
 * and the choice among them, without visiting the nodes.
 *
 * A member of a cell is a position: a place of the snapshot (state/places.h), with or without a
 * node. The owner puts places without a node into a cell that is never feasible. Each position
 * belongs to one cell and has a local score: the part of the node's total that depends on this node
 * alone. A cell is identified by its key of key_words 64-bit words. Positions are grouped in blocks
 * of 64, blocks in blocks of 64 and so on; for each cell, each block has the number of members, the
 * best local score among them, and the number of members with that score. A change of a member
 * updates one block on each level, whatever the number of nodes.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

/**
 * Maximum number of cells. With more kinds of nodes a tree costs more than it saves, and the caller
 * uses the plan's columns.
 */
#define BT_CELLS_MAX 512
#define BT_CELL_NONE UINT32_MAX
#define BT_POSITION_NONE UINT32_MAX

struct bt_places; /* state/places.h */

/*
 * The tree of blocks. Level 0 consists of the positions. A tree node of level k + 1 covers 64
 * neighbouring tree nodes of level k; the highest level is a single tree node that covers all
 * positions. For each tree node, a cell has three values: the number of the cell's members below
 * the tree node, the best local score of these members, and the number of members with this score.
 * The levels below the highest are padded to whole blocks of 64 entries; padding has no members.
 */

#define BT_CELLS_BLOCK_BITS 6
#define BT_CELLS_BLOCK 64
/* 64^6 is larger than any position. */
#define BT_CELLS_LEVELS_MAX 6
/** Best local score of a tree node without members; lower than every local score. */
#define BT_CELLS_NO_SCORE INT32_MIN
/** Number of cached lookups (bt_cells.recent); a power of two. */
#define BT_CELLS_RECENT 64

/** Cell number of a position that has no cell yet, and of padding. */
#define BT_CELLS_UNPUT UINT16_MAX

/**
 * The arrays are by tree node; bt_cells.first_node has the index at which each level begins. A tree
 * node without members has best = BT_CELLS_NO_SCORE, ties = 0 and members = 0.
 */
struct bt_cell {
	int32_t *best;  /* owned; one block of memory for all three arrays */
	uint32_t *ties; /* number of members with the best score */
	uint32_t *members;
	/* Copies of the highest level's entries, which cover all members and are read most. */
	int32_t top_best;
	uint32_t top_ties;
	uint32_t size;
	/* The member that bt_cells_member returned last; may have left the cell. */
	uint32_t some_member;
};

struct bt_cells {
	uint32_t position_count;
	uint32_t key_words;
	uint32_t level_count;                         /* levels of tree nodes: 1..level_count */
	uint32_t level_size[BT_CELLS_LEVELS_MAX + 1]; /* without padding; [0] = position_count */
	uint32_t first_node[BT_CELLS_LEVELS_MAX + 1]; /* by level: index in a cell's arrays */
	uint32_t node_count; /* tree nodes of all levels, with padding; the last is the top */
	uint32_t position_capacity;
	uint32_t node_capacity; /* length of a cell's arrays */
	uint16_t *cell_of;      /* by position, padded to whole blocks */
	int32_t *local_of;

	struct bt_cell *cells; /* owned */
	uint64_t *keys;        /* owned; key_words words for each cell */
	uint64_t *hashes;      /* owned; hashes of the keys */
	uint32_t cell_count;   /* upper bound of cell numbers; some cells may have no members */
	uint32_t cell_capacity;
	/*
	 * Cache of lookups: the cell found last, by a hash of the key. Most lookups hit this cache,
	 * because nodes have few different keys.
	 */
	uint16_t recent[BT_CELLS_RECENT];
	size_t key_capacity; /* in words */
	struct bt_map by_key;
	/*
	 * Bit set of cells without members. A cell's key stays in by_key until the cell number is
	 * reused.
	 */
	uint64_t vacant[BT_CELLS_MAX / 64];
	bool is_filled;
	const struct bt_cells_kernels *kernels;
};

/** Creates cells without members. key_words: 64-bit words of a key; 0: there is a single cell. */
struct bt_cells *bt_cells_create(uint32_t position_count, uint32_t key_words);
void bt_cells_destroy(struct bt_cells *cells);
/** Return to the state after creation. Reuses memory. */
void bt_cells_reset(struct bt_cells *cells, uint32_t position_count, uint32_t key_words);

/**
 * Returns the number of the cell with this key. Creates the cell if it does not exist. The number
 * stays valid while the cell has members. BT_CELL_NONE: all BT_CELLS_MAX numbers are in use.
 */
uint32_t bt_cells_of_key(struct bt_cells *cells, const uint64_t *key);

/**
 * Assign a position that has no cell yet. local: any score but BT_CELLS_NO_SCORE. Call before
 * bt_cells_filled.
 */
void bt_cells_put(struct bt_cells *cells, uint32_t position, uint32_t cell, int32_t local);
/**
 * Finish the filling. Call when every position has a cell, before moves, lookups of members, and
 * choices.
 */
void bt_cells_filled(struct bt_cells *cells);
/** Change the cell and the local score of a position. */
void bt_cells_move(struct bt_cells *cells, uint32_t position, uint32_t cell, int32_t local);

static inline const uint64_t *bt_cells_key(const struct bt_cells *cells, uint32_t cell)
{
	return cells->keys + (size_t)cell * cells->key_words;
}

/** Returns any member of the cell. The cell must have members. */
uint32_t bt_cells_member(struct bt_cells *cells, uint32_t cell);

/**
 * A choice among ties. The ties are the members of the cells in `best` that have the best local
 * score of their cell.
 */
struct bt_cells_choice {
	const uint32_t *feasible; /* cells whose nodes passed the filters; each has members */
	uint32_t feasible_count;
	const uint32_t *best; /* the feasible cells whose best members have the best total */
	uint32_t best_count;
	uint32_t start; /* where the search began, as an index into the list of nodes */
	uint32_t node_count;
	uint32_t empty; /* the cell of places without a node; BT_CELL_NONE: there are none */
	/**
	 * The snapshot's places if positions are not in list order. The functions below then count
	 * in places->detours the additional steps that this order costs. NULL: positions are in
	 * list order, and places without a node come last.
	 */
	struct bt_places *places;
};

uint64_t bt_cells_tie_count(const struct bt_cells *cells, const struct bt_cells_choice *choice);
/**
 * Upstream's heap choice: the tie whose rank comes first in heap pre-order (sched/select_host.h).
 * Ranks count the feasible nodes of the list from `start` on, wrapping around. Spec 03 section 7.
 */
uint32_t bt_cells_choose_by_heap(
	const struct bt_cells *cells, const struct bt_cells_choice *choice);
/** The tie at this index in list order; index < bt_cells_tie_count(). */
uint32_t bt_cells_nth_tie(
	const struct bt_cells *cells, const struct bt_cells_choice *choice, uint64_t index);
/** The first tie at position `from` or later; BT_POSITION_NONE: there is none. */
uint32_t bt_cells_next_tie(
	const struct bt_cells *cells, const struct bt_cells_choice *choice, uint32_t from);

size_t bt_cells_memory_bytes(const struct bt_cells *cells);
/**
 * Whether all data equals that of new cells filled with the same members. For tests and
 * verification.
 */
bool bt_cells_validate(const struct bt_cells *cells);

/**
 * The loops over one block, compiled for several instruction sets with the same results.
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
#endif
