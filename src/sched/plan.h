/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHED_PLAN_H
#define BT_SCHED_PLAN_H
/**
 * A plan is what the engine knows about one shape under one profile: the outcome of the pure
 * PreFilter and PreScore plugins, and columns over all node slots with the verdict of the column
 * filters and the weighted score. Plans are repaired from the change log: placing a pod costs the
 * next pod of the same shape one slot.
 *
 * - verdict[slot]: 0 when every column filter passes; BT_VERDICT_OUTSIDE: not in the snapshot;
 *   otherwise (index in filters + 1) << 24 | the plugin's detail, for the first filter in list
 * order that rejects
 * - local[slot]: sum of weight x score of the plugins without normalisation
 * - raws[i].values: raw scores of a normalised plugin that differ between nodes; normalisation
 *   depends on the largest of them over the nodes that are feasible in the cycle
 *
 * Plugins that depend on other nodes' pods are asked in every cycle on top (columns_per_cycle);
 * plugins without a column form run node by node. A plan that is used again keeps its nodes in
 * cells (struct bt_plan_cells).
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "framework/framework.h"
#include "sched/cells.h"
#include "sched/engine.h"

#define BT_VERDICT_OUTSIDE UINT32_MAX
/** For one decision: a node of the snapshot that was asked by itself and does not fit. */
#define BT_VERDICT_TAKEN_OUT (UINT32_MAX - 1)
#define BT_VERDICT_DETAIL_BITS 24
#define BT_TOTAL_INFEASIBLE INT32_MIN

enum bt_plan_filter_form {
	BT_FILTER_COLUMN,       /* part of the plan's verdict column */
	BT_FILTER_CYCLE_COLUMN, /* a column pass in every cycle (plugin.h: columns_per_cycle) */
	BT_FILTER_PLAIN,        /* node by node */
};

/** One entry of the profile's Filter list that is not known to skip the shape. */
struct bt_plan_filter {
	struct bt_plugin *plugin;
	enum bt_plan_filter_form form;
};

/** A normalised score plugin with a column. */
struct bt_plan_raw {
	struct bt_plugin *plugin;
	int32_t weight;
	bool reverse;
	int32_t *values; /* by slot; only while has_values */
	bool has_values; /* otherwise all are 0 */
};

static inline int32_t bt_plan_raw_at(const struct bt_plan_raw *raw, uint32_t slot)
{
	return raw->has_values ? raw->values[slot] : 0;
}

struct bt_plan_score {
	struct bt_plugin *plugin;
	int64_t weight;
};

/** A pod with more traits than this is decided without cells. */
#define BT_CELL_TRAITS_MAX 32

/**
 * A plan's nodes in cells (sched/cells.h): nodes of one verdict, of the same raw scores and of the
 * same traits. They are made when a shape comes again soon enough for repairs to be cheaper than a
 * pass over the columns, follow the change log from then on, and are given up for a while when they
 * do not pay: too many cells, or other traits in each cycle. All-zero memory: none yet.
 */
struct bt_plan_cells {
	struct bt_cells *tree; /* owned; NULL: never made */
	bool filled;           /* otherwise what it has is stale */
	uint32_t trait_count;
	uint32_t raw_count; /* 0 while nothing is scored */
	uint64_t identities[BT_CELL_TRAITS_MAX][3];
	uint64_t columns_version; /* of the plan */
	uint64_t places_version;  /* of the snapshot */
	uint32_t left_seen;       /* places that nodes left */
	uint64_t log_sequence;
	uint32_t served;  /* cycles since it was filled */
	uint32_t pause;   /* cycles to let pass before it is filled again */
	uint32_t backoff; /* the next pause */
};

struct bt_plan {
	struct bt_framework *framework;
	uint64_t shape_serial;
	uint32_t shape;
	struct bt_arena arena;          /* plugin data, lists */
	struct bt_cycle_state template; /* plugin data and skip sets a cycle starts with */
	struct bt_cycle_memo *memo;     /* by plugin index: answers of the pure plugins */
	/* Outcome of PreFilter when all its plugins are pure. */
	bool pre_filter_cached;
	struct bt_pre_filter_outcome pre_filter;
	/* Outcome of PreScore when all its plugins are pure. */
	bool pre_score_cached;
	struct bt_status pre_score;
	struct bt_plan_filter *filters; /* active ones in list order */
	uint32_t filter_count;
	bool has_cycle_filters;
	bool has_plain_filters;
	bool has_plain_scores;
	uint32_t reads; /* change kinds after which a slot must be evaluated again */
	/* Scoring. */
	struct bt_plan_score *local_scores;
	uint32_t local_score_count;
	struct bt_plan_raw *raws;
	uint32_t raw_count;
	struct bt_plan_score *cycle_scores; /* score plugins with columns_per_cycle */
	uint32_t cycle_score_count;
	const void **column_data; /* by plugin index: data of score columns without PreScore */
	bool wide_values; /* node_table.h has_wide_values when the column forms were chosen */
	/**
	 * version of the dra's bt_device_class_map: resources that devices stand behind make some
	 * plugins depend on more than shape and node.
	 */
	uint64_t class_version;
	int64_t constant_score; /* weighted scores that are equal on every node */
	/* Columns. */
	uint32_t slot_count;  /* slots the columns cover */
	uint32_t block_slots; /* slots the columns have room for */
	uint32_t *verdict;
	int32_t *local;
	uint32_t *room; /* pods of the shape that fit, by slot; NULL: not computed yet */
	uint64_t room_log_sequence;
	bool scored; /* local and raws are valid */
	uint32_t feasible_count;
	/** By filter: slots that it is the first to reject. NULL: nobody counts evaluations. */
	uint32_t *rejected;
	uint64_t log_sequence;
	uint32_t node_count; /* snapshot size when scores were computed */
	/** Grows when a column is computed as a whole: what was made from the columns is stale. */
	uint64_t columns_version;
	uint64_t behind; /* changes the last catching up had to look at */
	bool recurring;  /* the shape was asked for before */
	struct bt_plan_cells cells;
	uint32_t pin_count; /* cycles under way outside the engine that use the plan's data */
	bool removed;       /* from the cache; lives until the last pin is gone */
	/* Cache links (bt_plan_cache). */
	struct plan_queue *queue;
	struct bt_plan *next_of_shape;
	struct bt_plan *newer;
	struct bt_plan *older;
	size_t bytes;
};

struct bt_plan_cache;

struct bt_plan_cache *bt_plan_cache_create(size_t bytes_max);
void bt_plan_cache_destroy(struct bt_plan_cache *cache);

/**
 * The plan of a pod's shape; its columns are those of an earlier snapshot, or there are none yet.
 * NULL when the profile's weights do not allow columns (negative, or a total beyond 31 bits): then
 * the plain path decides.
 */
struct bt_plan *bt_plan_get(
	struct bt_engine *engine, struct bt_framework *framework, const struct bt_pod_info *pod);

/** The plan's data stays while it is pinned; the columns do not. plan may be NULL. */
void bt_plan_pin(struct bt_plan *plan);
void bt_plan_unpin(struct bt_plan_cache *cache, struct bt_plan *plan);

/** Make the verdict column valid for the current snapshot, and the scores if there were any. */
void bt_plan_refresh(struct bt_plan *plan, struct bt_engine *engine, const struct bt_pod_info *pod);

/** Make local and raws valid too. Only when at least two nodes are feasible, after a refresh. */
void bt_plan_score_columns(
	struct bt_plan *plan, struct bt_engine *engine, const struct bt_pod_info *pod);

/**
 * Verdicts of this cycle: the plan's column with the filters that run a column pass in every cycle.
 * The plan's own column when all of those skip. Borrowed until the next call.
 */
const uint32_t *bt_plan_cycle_verdicts(struct bt_plan *plan, struct bt_engine *engine,
	const struct bt_cycle_state *cycle, const struct bt_pod_info *pod);

/**
 * By slot, how many pods of the shape go there one after the other while nothing else changes; 0
 * where the verdict is not. After a refresh, borrowed until the next one. NULL: some filter that
 * does not skip this cycle does not know.
 */
const uint32_t *bt_plan_room(struct bt_plan *plan, struct bt_engine *engine,
	const struct bt_cycle_state *cycle, const struct bt_pod_info *pod);

/* A few nodes of the snapshot, without the columns: nothing is kept. */

/** Verdicts of these slots, all filters with a column form merged. Borrowed until the next call. */
const uint32_t *bt_plan_slot_verdicts(const struct bt_plan *plan, const struct bt_engine *engine,
	const struct bt_cycle_state *cycle, const struct bt_pod_info *pod, const uint32_t *slots,
	uint32_t count);
/** What the plugin's raw scores add to the totals when these nodes are the feasible ones. */
void bt_plan_add_normalized(
	const struct bt_plan_raw *raw, const uint32_t *slots, uint32_t count, int64_t *totals);
/** Totals of the plan's own scores when these are the feasible nodes. */
void bt_plan_slot_totals(const struct bt_plan *plan, const struct bt_engine *engine,
	const struct bt_pod_info *pod, const uint32_t *slots, uint32_t count, int64_t *totals);

/** The node's verdict is now this; returns what it was. For the time of a decision. */
uint32_t bt_plan_replace_verdict(struct bt_plan *plan, uint32_t slot, uint32_t verdict);

/** The status behind a verdict (not 0, not OUTSIDE); memory from the arena. */
struct bt_status bt_plan_verdict_status(const struct bt_plan *plan,
	const struct bt_cycle_state *cycle, const struct bt_pod_info *pod, uint32_t verdict,
	struct bt_arena *arena);

/** Normalised value of raw under max: what the plain DefaultNormalizeScore gives. */
static inline int32_t bt_plan_normalized(int32_t raw, int32_t max, bool reverse)
{
	int64_t score = max == 0 ? (reverse ? 0 : raw) : (int64_t)100 * raw / max;
	return (int32_t)(reverse ? 100 - score : score);
}
#endif
