/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHED_CELLS_H
#define BT_SCHED_CELLS_H
/**
 * Nodes that a scheduling cycle cannot tell apart, but for their own score and their place in the
 * list, are one cell. What depends on other nodes' pods (domains of a topology key, pods of a kind
 * on the node) is asked once for each cell; the best node of a cell, how many are equally good, and
 * the choice among them are found in a tree of blocks, without visiting the nodes.
 *
 * A member is a place of the snapshot (state/places.h), here called position: a node's, or an empty
 * one, which the owner gives a cell that is never feasible. It belongs to one cell and has a local
 * score, the part of its total that is its own. A cell is named by its key: as many 64-bit words as
 * its owner said. Positions are parted in blocks of 64, blocks in blocks of 64 and so on; for each
 * cell, each block knows its members, the best local score among them, and how many have it.
 * Changing a member costs one block on each level, whatever the number of nodes.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** More kinds of nodes than this are not worth a tree: the caller then passes over the columns. */
#define BT_CELLS_MAX 512
#define BT_CELL_NONE UINT32_MAX
#define BT_POSITION_NONE UINT32_MAX

struct bt_cells;
struct bt_places; /* state/places.h */

/** No member yet. key_words: 64-bit words of a key, may be 0 (then there is one cell). */
struct bt_cells *bt_cells_create(uint32_t position_count, uint32_t key_words);
void bt_cells_destroy(struct bt_cells *cells);
/** As new; keeps what memory it can. */
void bt_cells_reset(struct bt_cells *cells, uint32_t position_count, uint32_t key_words);

/**
 * The cell of a key, made when it is new; its number stays while it has members. BT_CELL_NONE: all
 * BT_CELLS_MAX are in use.
 */
uint32_t bt_cells_of_key(struct bt_cells *cells, const uint64_t *key);

/**
 * While filling: a position that has no cell yet. The questions below, and bt_cells_move, wait for
 * bt_cells_filled.
 */
void bt_cells_put(struct bt_cells *cells, uint32_t position, uint32_t cell, int32_t local);
/** Every position has been put. */
void bt_cells_filled(struct bt_cells *cells);
/** The member's cell and local score are now these. */
void bt_cells_move(struct bt_cells *cells, uint32_t position, uint32_t cell, int32_t local);

/** Numbers of cells are below this; some may be empty. */
uint32_t bt_cells_count(const struct bt_cells *cells);
const uint64_t *bt_cells_key(const struct bt_cells *cells, uint32_t cell);
uint32_t bt_cells_size(const struct bt_cells *cells, uint32_t cell);
/** Best local score of a cell that is not empty. */
int32_t bt_cells_best(const struct bt_cells *cells, uint32_t cell);
/** A member of a cell that is not empty; any. */
uint32_t bt_cells_member(struct bt_cells *cells, uint32_t cell);
uint32_t bt_cells_cell_of(const struct bt_cells *cells, uint32_t position);
int32_t bt_cells_local_of(const struct bt_cells *cells, uint32_t position);
/** Cell by position; borrowed until the next change. */
const uint16_t *bt_cells_by_position(const struct bt_cells *cells);

/** A choice among the nodes that are best: the members of `best` with their cell's best score. */
struct bt_cells_choice {
	const uint32_t *feasible; /* cells whose nodes passed, none of them empty */
	uint32_t feasible_count;
	const uint32_t *best; /* of these: whose best members have the best total */
	uint32_t best_count;
	uint32_t start; /* position in the list of nodes where the search began */
	uint32_t node_count;
	uint32_t empty; /* the cell of positions that no node has; BT_CELL_NONE: all have one */
	/** Not in list order; its detours are added to. NULL: the nodes' positions come first, in
	 * list order. */
	struct bt_places *places;
};

/** Nodes to choose from. */
uint64_t bt_cells_tie_count(const struct bt_cells *cells, const struct bt_cells_choice *choice);
/**
 * Upstream's heap choice: the tie whose rank among the feasible nodes of the list, counted from
 * `start` and around, comes first in heap pre-order (sched/select_host.h). Spec 03 section 7.
 */
uint32_t bt_cells_choose_by_heap(
	const struct bt_cells *cells, const struct bt_cells_choice *choice);
/** The tie with this many ties before it in list order; index < tie count. */
uint32_t bt_cells_nth_tie(
	const struct bt_cells *cells, const struct bt_cells_choice *choice, uint64_t index);
/** The first tie at `from` or later by position; BT_POSITION_NONE: there is none. */
uint32_t bt_cells_next_tie(
	const struct bt_cells *cells, const struct bt_cells_choice *choice, uint32_t from);

size_t bt_cells_memory_bytes(const struct bt_cells *cells);
/** Everything equals what a fresh fill would give. For tests and verification. */
bool bt_cells_validate(const struct bt_cells *cells);
#endif
