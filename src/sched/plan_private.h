/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHED_PLAN_PRIVATE_H
#define BT_SCHED_PLAN_PRIVATE_H
/** Private to plan*.c, cycle_cells.c and cycle_flat.c. */
#include "base/workers.h"
#include "dra/dra.h"
#include "sched/plan.h"

/** Plans ordered by last use, linked by newer and older. */
struct plan_queue {
	struct bt_plan *newest;
	struct bt_plan *oldest;
	uint32_t count;
	size_t bytes;
};

/** Plans and last use of a shape id. */
struct shape_entry {
	struct bt_plan *plans; /* one per profile, linked by next_of_shape */
	uint64_t last_serial;  /* serial of the shape last requested under this id */
};

struct bt_plan_cache {
	BT_VEC(struct shape_entry) by_shape;
	struct plan_queue
		once; /* plans of shapes that were requested once; at most NEW_PLANS_MAX */
	/* Plans of shapes that were requested again; at most bytes_max bytes. */
	struct plan_queue recurring;
	size_t bytes_max;
	/* Column blocks of removed plans, each with block_slots entries of 4 bytes. */
	BT_VEC(void *) free_blocks;
	uint32_t block_slots;
	/*
	 * Scratch columns, valid during one pass or cycle. All columns except `marks` lie in the
	 * block `scratch`.
	 */
	uint32_t *scratch; /* owned */
	uint32_t *detail;
	/**
	 * Verdicts of one search: the plan's column merged with the per-cycle filters, or the
	 * verdicts of a few slots.
	 */
	uint32_t *verdict;
	int32_t *scores;
	int32_t *totals;   /* totals of one cycle, by slot */
	uint32_t *cells;   /* of one cycle: cell by slot */
	uint32_t *changed; /* a list of slots without duplicates */
	uint64_t *marks;   /* by slot: `mark` of the last list in `changed` that had the slot */
	uint64_t mark;
	uint32_t scratch_slots;
};

/** Current version of the device class map. */
static inline uint64_t bt_plan_class_version(const struct bt_state *state)
{
	return state->dra != NULL ? state->dra->classes.version : 0;
}

/** Returns the data argument for the plugin's score_column. */
const void *bt_plan_score_data(const struct bt_plan *plan, const struct bt_plugin *plugin);
/**
 * Appends a slot to cache->changed, which has `count` slots, unless the list has the slot. Returns
 * the new number of slots.
 */
static inline uint32_t bt_plan_add_slot(struct bt_plan_cache *cache, uint32_t count, uint32_t slot)
{
	if (cache->marks[slot] != cache->mark) {
		cache->marks[slot] = cache->mark;
		cache->changed[count++] = slot;
	}
	return count;
}
/**
 * Put the slots with a change of these kinds since log sequence `since` into cache->changed.
 * Returns the number of these slots. The log must cover `since`.
 */
uint32_t bt_plan_changed_slots(struct bt_plan_cache *cache, const struct bt_change_log *log,
	uint64_t since, uint32_t kinds);
/**
 * Whether a refresh computes all columns anew, because too many changes happened since the last
 * refresh.
 */
bool bt_plan_is_far_behind(const struct bt_plan *plan, const struct bt_change_log *log);
/** An uninitialised column with block_slots entries of 4 bytes. */
void *bt_plan_take_block(struct bt_plan_cache *cache);
/** Return the memory of all columns to the cache, and free the cells. */
void bt_plan_drop_columns(struct bt_plan_cache *cache, struct bt_plan *plan);

/**
 * A pass over all slots, split in parts for worker threads. Parts depend only on the number of
 * slots, and each part writes only its slots, so the columns are the same with any number of
 * workers.
 */
struct bt_parts {
	const struct bt_workers *workers; /* NULL: the parts run on the caller's thread */
	uint32_t count;
	uint32_t slots_each; /* the last part may be shorter */
	uint32_t slot_count;
};

struct bt_parts bt_parts_of(const struct bt_engine *engine, uint32_t slot_count);
struct bt_slot_range bt_parts_range(const struct bt_parts *parts, uint32_t part);
/** Call job(argument, part) for each part; returns when all have ended. */
void bt_parts_run(
	const struct bt_parts *parts, void (*job)(void *argument, uint32_t part), void *argument);

/**
 * Cells of the plan's nodes by verdict, raw scores and these traits; positions are the snapshot's
 * places. The plan's verdicts must be current, and its scores too if at least two nodes are
 * feasible. NULL: cells would cost more than they save in this cycle. Borrowed until the state
 * changes.
 */
struct bt_cells *bt_plan_cells_get(struct bt_plan *plan, const struct bt_engine *engine,
	const struct bt_node_trait *traits, uint32_t trait_count);
/**
 * Move a node to the cell of its current verdict in the plan. false: the plan has no cells any
 * more.
 */
bool bt_plan_cells_update(struct bt_plan *plan, const struct bt_engine *engine,
	const struct bt_node_trait *traits, uint32_t slot);
/** The plan's verdict of the nodes of a cell. */
uint32_t bt_plan_cells_verdict(const struct bt_cells *cells, uint32_t cell);
/** Abort if a node is in another cell than its columns and traits require. For verification. */
void bt_plan_cells_check(const struct bt_plan *plan, const struct bt_engine *engine,
	const struct bt_node_trait *traits);
void bt_plan_cells_drop(struct bt_plan *plan);
size_t bt_plan_cells_bytes(const struct bt_plan *plan);
#endif
