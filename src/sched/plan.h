/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHED_PLAN_H
#define BT_SCHED_PLAN_H
/**
 * A plan caches what depends only on a pod's shape, the profile and single nodes: the outcome of
 * the pure PreFilter and PreScore plugins, and columns over all node slots with the verdict of the
 * column filters and the weighted scores. Plans are repaired from the change log: after a pod is
 * placed, the next pod of the same shape re-evaluates one slot.
 *
 * verdict[slot]: 0 if all column filters pass; BT_VERDICT_OUTSIDE if the slot is not in the
 * snapshot; otherwise (index in filters + 1) << 24 | the plugin's detail, for the first filter in
 * list order that rejects the node.
 *
 * local[slot]: sum of weight x score of the plugins without normalisation.
 *
 * raws[i].values: raw scores of a normalised plugin. Normalisation depends on the largest raw score
 * among the nodes that are feasible in the cycle.
 *
 * In addition to the plan's columns, the plugins that depend on other nodes' pods run in every
 * cycle (columns_per_cycle). Plugins without a column form run node by node. A plan that is used
 * again keeps its nodes in cells (struct bt_plan_cells).
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "framework/framework.h"
#include "sched/cells.h"
#include "sched/engine.h"

#define BT_VERDICT_OUTSIDE UINT32_MAX
/**
 * Verdict of a nominated node that was evaluated separately and does not fit. The node has this
 * verdict only during one decision.
 */
#define BT_VERDICT_TAKEN_OUT (UINT32_MAX - 1)
#define BT_VERDICT_DETAIL_BITS 24
#define BT_TOTAL_INFEASIBLE INT32_MIN

enum bt_plan_filter_form {
	BT_FILTER_COLUMN,       /* part of the plan's verdict column */
	BT_FILTER_CYCLE_COLUMN, /* runs over columns in every cycle (plugin.h: columns_per_cycle) */
	BT_FILTER_CELLS,        /* runs for one node of each cell; without cells, node by node */
	BT_FILTER_PLAIN,        /* runs node by node */
};

/**
 * A Filter plugin of the profile. Plugins whose PreFilter skips all pods of the shape are left out.
 */
struct bt_plan_filter {
	struct bt_plugin *plugin;
	enum bt_plan_filter_form form;
};

/** A score plugin with normalisation and a column form. */
struct bt_plan_raw {
	struct bt_plugin *plugin;
	int32_t weight;
	bool reverse;
	int32_t *values; /* by slot; valid if has_values */
	bool has_values; /* false: all values are 0 */
};

static inline int32_t bt_plan_raw_at(const struct bt_plan_raw *raw, uint32_t slot)
{
	return raw->has_values ? raw->values[slot] : 0;
}

struct bt_plan_score {
	struct bt_plugin *plugin;
	int64_t weight;
};

/** A pod with more traits is decided without cells. */
#define BT_CELL_TRAITS_MAX 32
/**
 * Number of trees of cells in a plan. Pods of one shape may have different traits, because the
 * requests of their claims are not part of the shape.
 */
#define BT_PLAN_TREES 4

/**
 * A plan's nodes in cells (sched/cells.h): the nodes of a cell have the same verdict, raw scores
 * and traits. Cells are used while the shape recurs, on average, soon enough for repairs to be
 * cheaper than a pass over the columns. If the cells cost more than they save (too many cells, or
 * different traits in each cycle), the plan has no cells for a while. All-zero memory: no cells
 * yet.
 */
struct bt_plan_cells {
	struct bt_cells *tree; /* owned; NULL: not made yet */
	bool filled;           /* false: the tree is stale */
	uint32_t trait_count;
	uint32_t raw_count;        /* 0 if the plan has no scores */
	uint64_t (*identities)[3]; /* owned; by trait: bt_node_trait.identity */
	/**
	 * All slots on which the count of at least one of the tree's traits is not 0, and possibly
	 * more slots. If the next traits differ from the tree's traits only in what they count, the
	 * tree is not filled again: only these slots and the slots with counts of the next traits
	 * are moved to other cells.
	 */
	BT_VEC(uint32_t) counted;
	bool counted_is_complete; /* false: there are too many slots */
	uint64_t columns_version; /* version of the plan's columns in the tree */
	uint64_t places_version;  /* version of the snapshot's places in the tree */
	/* Number of entries of snapshot.places.left that the tree has applied. */
	uint32_t left_seen;
	uint64_t log_sequence;
	uint64_t last_used; /* the plan's tree_uses at the last use */
	uint32_t served;    /* cycles that used the tree since it was filled */
	uint32_t pause;     /* cycles to wait before the tree is filled again */
	uint32_t backoff;   /* length of the last pause; the next pause is about twice as long */
};

/** Filter's outcome on a nominated node. */
struct bt_nominated_outcome {
	uint64_t version; /* of the node in the nominator */
	uint32_t slot;    /* BT_SLOT_NONE: not in the snapshot, or without other nominated pods */
	bool is_known;
	struct bt_status status;
};

/**
 * Outcomes of Filter on nominated nodes. The outcomes are kept from one pod of a shape to the next.
 * items[i] is the outcome on the node with index i in the nominator.
 */
struct bt_nominated_outcomes {
	BT_VEC(struct bt_nominated_outcome) items;
	int32_t priority; /* of the pod */
	uint64_t log_sequence;
	struct bt_arena arena; /* of statuses */
};

struct bt_plan {
	struct bt_framework *framework;
	uint64_t shape_serial;
	uint32_t shape;
	struct bt_arena arena;          /* for plugin data and lists */
	struct bt_cycle_state template; /* start of each cycle's state: plugin data and skip sets */
	struct bt_cycle_memo *memo;     /* by plugin index: results of the pure plugins */
	/* Outcome of PreFilter, if all PreFilter plugins are pure. */
	bool pre_filter_cached;
	struct bt_pre_filter_outcome pre_filter;
	/* Outcome of PreScore, if all PreScore plugins are pure. */
	bool pre_score_cached;
	struct bt_status pre_score;
	struct bt_plan_filter *filters; /* active filters in list order */
	uint32_t filter_count;
	bool has_cycle_filters; /* CYCLE_COLUMN or CELLS */
	bool has_cell_filters;
	bool has_plain_filters;
	bool has_plain_scores;
	uint32_t reads; /* kinds of changes that require a slot to be evaluated again */
	struct bt_plan_score *local_scores;
	uint32_t local_score_count;
	struct bt_plan_raw *raws;
	uint32_t raw_count;
	struct bt_plan_score *cycle_scores; /* score plugins with columns_per_cycle */
	uint32_t cycle_score_count;
	const void **column_data; /* by plugin index: result of score_column_data (plugin.h) */
	/* Value of has_wide_values (node_table.h) when the column forms were chosen. */
	bool wide_values;
	/**
	 * Version of the bt_device_class_map (dra/). If device classes provide extended resources,
	 * some plugins depend on this map as well as on shape and node.
	 */
	uint64_t class_version;
	int64_t constant_score; /* sum of weighted scores that are equal on every node */
	uint32_t slot_count;    /* length of the columns */
	uint32_t block_slots;   /* allocated length of the columns */
	uint32_t *verdict;
	int32_t *local;
	uint32_t *room; /* by slot, how many pods of the shape fit; NULL: not computed */
	uint64_t room_log_sequence;
	bool scored; /* local and raws are valid */
	uint32_t feasible_count;
	/** By filter: number of slots that this filter is the first to reject. NULL: no metrics. */
	uint32_t *rejected;
	uint64_t log_sequence;
	uint32_t node_count; /* snapshot size when scores were computed */
	/**
	 * Increased when a column is computed as a whole. Cells made from an older version are
	 * stale.
	 */
	uint64_t columns_version;
	uint64_t behind;      /* changes between the last two refreshes */
	bool recurring;       /* the shape was requested before */
	uint64_t mean_behind; /* moving average of `behind` */
	struct bt_plan_cells trees[BT_PLAN_TREES];
	struct bt_plan_cells *cells; /* the entry of `trees` for the traits of this cycle */
	uint64_t tree_uses;
	struct bt_nominated_outcomes nominated;
	uint32_t pin_count; /* held cycles that use the plan's data */
	bool removed;       /* removed from the cache; freed by the last unpin */
	/* Links within bt_plan_cache. */
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
 * Find or make the plan of a pod's shape. The plan's columns may be missing or belong to an earlier
 * snapshot. Returns NULL if the profile's weights do not allow columns (a negative weight, or
 * totals that can reach 2^30): then the plain runners decide.
 */
struct bt_plan *bt_plan_get(
	struct bt_engine *engine, struct bt_framework *framework, const struct bt_pod_info *pod);

/**
 * A pinned plan is not freed before the last unpin: the plan keeps the plugin data, but may lose
 * the columns. `plan` may be NULL.
 */
void bt_plan_pin(struct bt_plan *plan);
void bt_plan_unpin(struct bt_plan_cache *cache, struct bt_plan *plan);

/**
 * Update the verdict column to the current snapshot. Valid scores are updated too; if all slots are
 * evaluated anew, the scores become invalid (scored becomes false).
 */
void bt_plan_refresh(struct bt_plan *plan, struct bt_engine *engine, const struct bt_pod_info *pod);

/**
 * Make the columns of `local` and `raws` valid. Call after a refresh, if at least two nodes are
 * feasible.
 */
void bt_plan_score_columns(
	struct bt_plan *plan, struct bt_engine *engine, const struct bt_pod_info *pod);

/**
 * Verdicts of this cycle: the plan's column merged with the filters that run over columns in every
 * cycle. Returns the plan's column itself if all these filters skip. Borrowed until the next call.
 */
const uint32_t *bt_plan_cycle_verdicts(struct bt_plan *plan, struct bt_engine *engine,
	const struct bt_cycle_state *cycle, const struct bt_pod_info *pod);

/**
 * By slot: the number of pods of the shape that fit on the node one after the other if nothing else
 * changes; 0 for infeasible slots. Call after a refresh; borrowed until the next refresh. NULL: not
 * known, because a filter of this cycle cannot count.
 */
const uint32_t *bt_plan_room(struct bt_plan *plan, struct bt_engine *engine,
	const struct bt_cycle_state *cycle, const struct bt_pod_info *pod);

/* Functions that evaluate a few nodes of the snapshot without the columns. Results are not kept. */

/**
 * Verdicts by slot of all filters with a column form; only the entries of the slots in `slots` are
 * valid. Borrowed until the next call.
 */
const uint32_t *bt_plan_slot_verdicts(const struct bt_plan *plan, const struct bt_engine *engine,
	const struct bt_cycle_state *cycle, const struct bt_pod_info *pod, const uint32_t *slots,
	uint32_t count);
/**
 * Add the plugin's scores to totals[], which is parallel to `slots`. The scores are normalised over
 * the nodes in `slots`, which must be feasible.
 */
void bt_plan_add_normalized(
	const struct bt_plan_raw *raw, const uint32_t *slots, uint32_t count, int64_t *totals);
/**
 * Set totals[], which is parallel to `slots`, to the totals of the plan's scores. The scores are
 * normalised over the nodes in `slots`, which must be feasible.
 */
void bt_plan_slot_totals(const struct bt_plan *plan, const struct bt_engine *engine,
	const struct bt_pod_info *pod, const uint32_t *slots, uint32_t count, int64_t *totals);

/** Set a node's verdict during a decision. Returns the previous verdict. */
uint32_t bt_plan_replace_verdict(struct bt_plan *plan, uint32_t slot, uint32_t verdict);

/**
 * Returns the status that belongs to the verdict of a filter. verdict must not be 0,
 * BT_VERDICT_OUTSIDE or BT_VERDICT_TAKEN_OUT. The texts of the status lie in the arena.
 */
struct bt_status bt_plan_verdict_status(const struct bt_plan *plan,
	const struct bt_cycle_state *cycle, const struct bt_pod_info *pod, uint32_t verdict,
	struct bt_arena *arena);

/**
 * The normalised value of raw, as the plain DefaultNormalizeScore computes it. max: largest raw
 * score.
 */
static inline int32_t bt_plan_normalized(int32_t raw, int32_t max, bool reverse)
{
	int64_t score = max == 0 ? (reverse ? 0 : raw) : (int64_t)100 * raw / max;
	return (int32_t)(reverse ? 100 - score : score);
}
#endif
