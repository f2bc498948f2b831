/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHED_PLAN_PRIVATE_H
#define BT_SCHED_PLAN_PRIVATE_H
/** Shared by plan*.c, cycle_cells.c and cycle_flat.c only. */
#include "base/workers.h"
#include "dra/dra.h"
#include "sched/plan.h"

/** Plans in order of use, linked by newer / older. */
struct plan_queue {
	struct bt_plan *newest;
	struct bt_plan *oldest;
	uint32_t count;
	size_t bytes;
};

/** What is known of a shape id. */
struct shape_entry {
	struct bt_plan *plans; /* one per profile, linked by next_of_shape */
	uint64_t last_serial;  /* shape that was asked for last under this id */
};

struct bt_plan_cache {
	BT_VEC(struct shape_entry) by_shape;
	struct plan_queue once;      /* shapes asked for once so far: held to NEW_PLANS_MAX */
	struct plan_queue recurring; /* held to bytes_max */
	size_t bytes_max;
	/* Column blocks of dropped plans, all of block_slots entries of 4 bytes. */
	BT_VEC(void *) free_blocks;
	uint32_t block_slots;
	/* Scratch columns of one pass. */
	uint32_t *detail;
	uint32_t *verdict; /* of one cycle: the plan's with the per-cycle filters merged in */
	int32_t *scores;
	int32_t *totals;   /* of one cycle */
	uint32_t *cells;   /* of one cycle: cell by slot */
	uint32_t *changed; /* slots, each once */
	uint64_t *marks;   /* by slot: the last list of changed slots that has it */
	uint64_t mark;
	uint32_t scratch_slots;
};

/** Of the device classes as they are. */
static inline uint64_t bt_plan_class_version(const struct bt_state *state)
{
	return state->dra != NULL ? state->dra->classes.version : 0;
}

/** What the column form of a score plugin is given. */
const void *bt_plan_score_data(const struct bt_plan *plan, const struct bt_plugin *plugin);
/**
 * Slots with a change of these kinds since that place in the log, which it covers: cache->changed.
 * Returns their number.
 */
uint32_t bt_plan_changed_slots(struct bt_plan_cache *cache, const struct bt_change_log *log,
	uint64_t since, uint32_t kinds);
/** A refresh computes all columns anew: too much has changed since the last one. */
bool bt_plan_is_far_behind(const struct bt_plan *plan, const struct bt_change_log *log);
/** A column of uninitialised 4-byte entries for block_slots slots. */
void *bt_plan_take_block(struct bt_plan_cache *cache);
/** Give all columns back to the cache. */
void bt_plan_drop_columns(struct bt_plan_cache *cache, struct bt_plan *plan);

/**
 * A pass over all slots in parts, for workers that the engine's owner lends. The parts depend on
 * the number of slots alone and each writes its own slots, so the columns are the same without
 * workers and with any number of them.
 */
struct bt_parts {
	const struct bt_workers *workers; /* NULL: one part, on the caller's thread */
	uint32_t count;
	uint32_t slots_each; /* the last part may have fewer */
	uint32_t slot_count;
};

struct bt_parts bt_parts_of(const struct bt_engine *engine, uint32_t slot_count);
struct bt_slot_range bt_parts_range(const struct bt_parts *parts, uint32_t part);
/** job(argument, part) for each part; returns when all are done. */
void bt_parts_run(
	const struct bt_parts *parts, void (*job)(void *argument, uint32_t part), void *argument);

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
