/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHED_CELLS_H
#define BT_SCHED_CELLS_H
/**
 * A cell is a set of nodes that a scheduling cycle cannot tell apart except by their local score
 * and their place in the list. Plugins that depend on other nodes' pods (domains of a topology key,
 * pods of a kind on the node) run once for each cell. A tree of blocks gives the best node of a
 * cell, the number of equally good nodes, and the choice among them, without visiting the nodes.
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

/**
 * Most cells of a tree. With more kinds of nodes a tree does not pay: the caller uses the columns.
 */
#define BT_CELLS_MAX 512
#define BT_CELL_NONE UINT32_MAX
#define BT_POSITION_NONE UINT32_MAX

struct bt_cells;
struct bt_places; /* state/places.h */

/** Creates cells without members. key_words: 64-bit words of a key; 0: there is a single cell. */
struct bt_cells *bt_cells_create(uint32_t position_count, uint32_t key_words);
void bt_cells_destroy(struct bt_cells *cells);
/** Back to the state after creation; reuses memory. */
void bt_cells_reset(struct bt_cells *cells, uint32_t position_count, uint32_t key_words);

/**
 * The cell with this key, created if there is none. Its number stays valid while the cell has
 * members. BT_CELL_NONE: all BT_CELLS_MAX numbers are in use.
 */
uint32_t bt_cells_of_key(struct bt_cells *cells, const uint64_t *key);

/**
 * Assign a position that has no cell yet. All functions below, except bt_cells_filled, may be
 * called only after bt_cells_filled.
 */
void bt_cells_put(struct bt_cells *cells, uint32_t position, uint32_t cell, int32_t local);
/** Finish the filling: every position has a cell. */
void bt_cells_filled(struct bt_cells *cells);
/** Change the cell and the local score of a position. */
void bt_cells_move(struct bt_cells *cells, uint32_t position, uint32_t cell, int32_t local);

/** Upper bound of the cell numbers; some of these cells may have no members. */
uint32_t bt_cells_count(const struct bt_cells *cells);
const uint64_t *bt_cells_key(const struct bt_cells *cells, uint32_t cell);
uint32_t bt_cells_size(const struct bt_cells *cells, uint32_t cell);
/** Best local score in the cell, which must have members. */
int32_t bt_cells_best(const struct bt_cells *cells, uint32_t cell);
/** Any member of the cell, which must have members. */
uint32_t bt_cells_member(struct bt_cells *cells, uint32_t cell);
uint32_t bt_cells_cell_of(const struct bt_cells *cells, uint32_t position);
int32_t bt_cells_local_of(const struct bt_cells *cells, uint32_t position);
/** Cell numbers by position; borrowed until the next change. */
const uint16_t *bt_cells_by_position(const struct bt_cells *cells);

/**
 * A choice among the best nodes: the members of the cells in `best` that have the cell's best local
 * score (ties).
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
	 * Set if positions are not in list order; its counter `detours` is increased. NULL:
	 * positions are in list order, places without a node last.
	 */
	struct bt_places *places;
};

/** Number of ties. */
uint64_t bt_cells_tie_count(const struct bt_cells *cells, const struct bt_cells_choice *choice);
/**
 * Upstream's heap choice: among the ties, the one whose rank comes first in heap pre-order
 * (sched/select_host.h). Ranks count the feasible nodes of the list from `start` on, wrapping
 * around. Spec 03 section 7.
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
/** Compares everything with a fresh fill. For tests and verification. */
bool bt_cells_validate(const struct bt_cells *cells);
#endif
