/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHED_PLAN_CELLS_H
#define BT_SCHED_PLAN_CELLS_H
/**
 * A plan's nodes in cells (sched/cells.h): nodes of one verdict, of the same raw scores and of the
 * same traits. They are made when a shape comes again soon enough for repairs to be cheaper than a
 * pass over the columns, follow the change log from then on, and are given up for a while when they
 * do not pay: too many cells, or other traits in each cycle.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "framework/plugin.h"
#include "sched/cells.h"

/** A pod with more traits than this is decided without cells. */
#define BT_CELL_TRAITS_MAX 32

struct bt_engine;
struct bt_plan;

/** All-zero memory: none yet. */
struct bt_plan_cells {
	struct bt_cells *tree; /* owned; NULL: never made */
	bool filled;           /* otherwise what it has is stale */
	uint32_t trait_count;
	uint32_t raw_count; /* 0 while nothing is scored */
	uint64_t identities[BT_CELL_TRAITS_MAX][3];
	uint64_t columns_version; /* of the plan */
	uint64_t log_sequence;
	uint32_t served;  /* cycles since it was filled */
	uint32_t pause;   /* cycles to let pass before it is filled again */
	uint32_t backoff; /* the next pause */
};

/**
 * The nodes by position in the snapshot's list, in cells by the plan and these traits. The plan's
 * verdicts are valid, its scores too unless fewer than two nodes are feasible. NULL: not worth it
 * in this cycle. Borrowed until the state changes.
 */
struct bt_cells *bt_plan_cells_get(struct bt_plan *plan, const struct bt_engine *engine,
	const struct bt_node_trait *traits, uint32_t trait_count);
/** The plan's verdict of a node is another one. false: the cells are given up. */
bool bt_plan_cells_update(struct bt_plan *plan, const struct bt_engine *engine,
	const struct bt_node_trait *traits, uint32_t slot);
/** The plan's verdict of a cell's nodes. */
uint32_t bt_plan_cells_verdict(const struct bt_cells *cells, uint32_t cell);
/** Aborts when a node is not where its columns and traits put it. For verification. */
void bt_plan_cells_check(const struct bt_plan *plan, const struct bt_engine *engine,
	const struct bt_node_trait *traits);
/** Give the memory back. */
void bt_plan_cells_drop(struct bt_plan_cells *cells);
size_t bt_plan_cells_bytes(const struct bt_plan_cells *cells);
#endif
