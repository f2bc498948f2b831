/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHED_CYCLE_CELLS_H
#define BT_SCHED_CYCLE_CELLS_H
/**
 * A cycle over the whole list that asks the plugins of every cycle about one node of each kind, a
 * cell (sched/cells.h, framework/plugin.h: cell_traits). Shared by cycle_cells.c, cycle_tree.c and
 * cycle_flat.c only.
 *
 * A plan that keeps its nodes in cells decides by their tree: each cell's best node is known, no
 * node is looked at (cycle_tree.c). Otherwise the cells are made for the cycle, of the traits
 * alone, and the columns are passed over once more (cycle_flat.c).
 */
#include "sched/cells.h"
#include "sched/cycle_private.h"

/** Cells with at least one node; arrays by index, in the cycle's arena. */
struct bt_asked_cells {
	uint32_t count;
	uint32_t *cells;    /* their numbers */
	uint32_t *slots;    /* a node of each */
	uint32_t *sizes;    /* nodes */
	uint32_t *verdicts; /* of all the nodes; 0: feasible */
};

/** Room for this many, none yet. */
struct bt_asked_cells bt_asked_cells_make(struct bt_arena *arena, uint32_t capacity);
static inline void bt_asked_cells_add(
	struct bt_asked_cells *asked, uint32_t cell, uint32_t slot, uint32_t size, uint32_t verdict)
{
	asked->cells[asked->count] = cell;
	asked->slots[asked->count] = slot;
	asked->sizes[asked->count] = size;
	asked->verdicts[asked->count++] = verdict;
}

/** Merge the filters of every cycle into the verdicts: the earliest that rejects counts. */
void bt_judge_cells(struct bt_cycle_run *run, struct bt_asked_cells *asked);
/** Nodes of the feasible ones. */
uint32_t bt_feasible_nodes(const struct bt_asked_cells *asked);
/** Evaluations of the filters, in the metrics: so many nodes have each verdict. */
void bt_count_verdicts(const struct bt_cycle_run *run, const uint32_t *verdicts,
	const uint32_t *sizes, uint32_t count);
/** Leave the feasible ones. */
void bt_keep_feasible_cells(struct bt_asked_cells *asked);
/**
 * What each feasible cell's nodes score in this cycle, but for the plan's columns. NULL: PreScore
 * ended the cycle.
 */
int64_t *bt_score_cells(
	struct bt_cycle_run *run, const struct bt_asked_cells *asked, uint32_t node_count);
/**
 * No node fits: statuses by group; the arrays outlive the cycle's decision. Nodes that were taken
 * out get groups of their own.
 */
void bt_fail_in_groups(struct bt_cycle_run *run, const uint32_t *verdicts, const uint32_t *sizes,
	uint32_t count, const uint16_t *group_of);

/** Decide by the tree. */
void bt_decide_by_tree(struct bt_cycle_run *run, struct bt_cells *tree);
/** Decide by the columns. false: too many cells, or too many kinds of rejections. */
bool bt_decide_in_columns(struct bt_cycle_run *run, const struct bt_trait_list *traits);
#endif
