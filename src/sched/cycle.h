/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHED_CYCLE_H
#define BT_SCHED_CYCLE_H
/** The steps of the scheduling cycle. Private to this folder. Spec: 03 sections 3 and 5. */
#include "base/map.h"
#include "sched/engine.h"
#include "sched/plan.h"

/** Nodes to search in rotated order; the search finds at most `limit` feasible nodes. */
struct bt_node_search {
	const uint32_t *slots; /* in snapshot order, or in the placement's order */
	uint32_t count;
	uint32_t start; /* index of the first node examined */
	uint32_t limit;
};

/** The reference outcome of a search, as spec 03 section 3.5 defines it. */
struct bt_node_search_result {
	uint32_t *feasible; /* slots in search order */
	uint32_t feasible_count;
	uint32_t rejected_count;
	struct bt_status error; /* the error of a Filter plugin, otherwise Success */
};

/** End the previous cycle, reset the arena, and start an empty cycle state. */
struct bt_cycle_state *bt_engine_begin_cycle(
	struct bt_engine *engine, const struct bt_framework *framework);
/**
 * Number of feasible nodes after which the search of a list of this length ends. The option
 * percentage_of_nodes_to_score overrides the configuration. Spec 03 section 3.3.
 */
uint32_t bt_search_limit(
	const struct bt_engine *engine, const struct bt_framework *framework, uint32_t node_count);
/**
 * Get the slots of the nodes that PreFilter's result allows, in the order of the snapshot or of the
 * assumed placement. If the result does not restrict the nodes, these are all nodes. *out_slots
 * lies in the arena or in the snapshot.
 */
void bt_search_candidates(const struct bt_engine *engine, const struct bt_pre_filter_result *result,
	struct bt_arena *arena, const uint32_t **out_slots, uint32_t *out_count);
/**
 * Status of nodes that PreFilter's result excludes: `node(s) didn't satisfy plugin(s) [A B]`, where
 * A and B are the names of `plugins`.
 */
struct bt_status bt_narrowed_status(const struct bt_framework *framework,
	const struct bt_plugin_set *plugins, struct bt_arena *arena);
/**
 * Add the status's plugin to the rejecting or pending plugins of the diagnosis (upstream's
 * AddPluginStatus). Spec 03 section 3.4.
 */
void bt_diagnosis_add_plugin(struct bt_diagnosis *diagnosis, const struct bt_status *status);

/**
 * Slot of the node set by bt_scheduler_prefer_node; BT_SLOT_NONE: no node is set, or the node does
 * not exist.
 */
uint32_t bt_find_preferred_slot(const struct bt_engine *engine);
/**
 * Choose among the nodes with the best total: the preferred node if it is one of these nodes, else
 * the node that the tie policy picks. Returns the node's index in `slots`. count > 0. totals and
 * numbers are parallel to slots. numbers: random numbers that decide between equal totals if
 * extenders scored nodes; NULL: no extender scored nodes.
 */
uint32_t bt_select_host(struct bt_engine *engine, const uint32_t *slots, const int64_t *totals,
	const uint64_t *numbers, uint32_t count);

/**
 * Add the plan's scores from its columns to totals[], which is parallel to `slots`. Raw scores are
 * normalised over the nodes in `slots`, which must be feasible. adds_local: add the local scores
 * too.
 */
void bt_cycle_add_columns(const struct bt_plan *plan, const uint32_t *slots, uint32_t count,
	bool adds_local, int64_t *totals);

/**
 * Verify mode: recompute the decision with the plain runners and abort with a message if the
 * decisions differ. `plan` may be NULL. start_index, prng: the rotation index and the engine's prng
 * at the start of the cycle.
 */
void bt_verify_decision(struct bt_engine *engine, struct bt_framework *framework,
	const struct bt_pod_info *pod, struct bt_plan *plan,
	const struct bt_schedule_result *result, uint32_t start_index, const struct bt_prng *prng);
/**
 * Verify mode: compare the plan's columns with an evaluation by the plain runners; abort if they
 * differ.
 */
void bt_verify_evaluation(struct bt_engine *engine, struct bt_framework *framework,
	const struct bt_pod_info *pod, const struct bt_evaluation *evaluation);

/** A node name from an extender's answer that is not in the snapshot. */
struct bt_cycle_unknown_node {
	struct bt_str name;
	uint32_t entry; /* index + 1 in the diagnosis' statuses; 0: no status */
};

struct bt_cycle_extension {
	bool active; /* false: no extender is interested in the pod; other fields unused */
	uint32_t *entry_by_slot; /* index + 1 in the diagnosis' statuses; 0: no status */
	BT_VEC(struct bt_cycle_unknown_node) unknown_nodes;
	struct bt_map unknown_node_index;
	struct bt_extender_candidates candidates; /* result of the last filter extender */
};

/**
 * A node on which other pods of the same or a higher priority are nominated. The filters must pass
 * with and without the nominated pods, so the node is evaluated separately. Spec 02 section 5.4.
 */
struct bt_cycle_nominated {
	uint32_t slot;
	uint64_t distance; /* bt_snapshot_order minus the order of the first node searched; wraps */
	bool is_known;
	struct bt_status status; /* valid if is_known */
	/**
	 * The verdict to exchange with the plan's: BT_VERDICT_TAKEN_OUT or, while the node is taken
	 * out, the plan's saved verdict.
	 */
	uint32_t verdict;
	struct bt_nominated_outcome *kept; /* outcome in the plan; NULL: not kept */
};

/** State shared by the steps of one cycle. */
struct bt_cycle_run {
	struct bt_engine *engine;
	struct bt_framework *framework;
	const struct bt_pod_info *pod;
	struct bt_plan *plan; /* NULL: no columns for this profile */
	bool few_nodes;       /* few nodes are searched, without the plan's columns */
	/**
	 * Verdicts of the running search by slot: the plan's column merged with the per-cycle
	 * filters. If few_nodes, only the entries of the searched nodes are valid.
	 */
	const uint32_t *verdict;
	struct bt_cycle_state *cycle;
	struct bt_cycle_nominated *nominated;
	uint32_t nominated_count;
	uint32_t *nominated_at; /* by slot: index in `nominated` + 1, or 0. NULL: not made yet */
	struct bt_schedule_result *result;
	struct bt_pre_filter_outcome pre_filter;
	uint32_t start_index; /* rotation index at the start */
	/* Opportunistic batching. */
	const struct bt_queued_attempt *attempt; /* NULL: the pod comes from no queue */
	struct bt_str hint;                      /* name of the node to try first; "": none */
	const uint32_t *ranked;                  /* the scored nodes in search order */
	const int64_t *totals;                   /* totals, parallel to ranked */
	uint32_t ranked_count;
	struct bt_cycle_extension extension;
	int64_t step_started_ns; /* start of the running extension point, by the metrics' clock */
};

/* Nodes that have nominated pods (find_nodes_that_fit.c). */

void bt_cycle_mark_nominated(struct bt_cycle_run *run);
/**
 * Evaluate all nominated nodes: in any order if each result depends only on the pod's shape, the
 * node and the node's nominated pods, otherwise in search order. Returns false if there are too
 * many nominated nodes, or if a filter failed with an error.
 */
bool bt_cycle_evaluate_all_nominated(struct bt_cycle_run *run);
/**
 * For each nominated node that does not fit, set the plan's verdict to BT_VERDICT_TAKEN_OUT. The
 * second call restores the plan's verdicts. Call after bt_cycle_evaluate_all_nominated.
 */
void bt_cycle_exchange_nominated(struct bt_cycle_run *run);

/**
 * Search in rotated order up to the limit, with the reference outcome of spec 03 section 3.5.
 * Statuses of rejected nodes are put into the diagnosis only if no node fits, if extenders take
 * part, or if the filters ran node by node.
 */
struct bt_node_search_result bt_find_nodes_that_pass_filters(
	struct bt_cycle_run *run, struct bt_node_search search);
/**
 * Write the totals of the feasible nodes, extenders' scores included, to totals[]. A status other
 * than Success ends the cycle. *out_numbers: argument for bt_select_host. Spec 03 section 5.
 */
struct bt_status bt_prioritize_nodes(struct bt_cycle_run *run, const uint32_t *slots,
	uint32_t count, int64_t *totals, const uint64_t **out_numbers);

/** Add the weighted scores of the plugins that run in every cycle to totals[]. */
void bt_cycle_add_cycle_scores(
	struct bt_cycle_run *run, const uint32_t *slots, uint32_t count, int64_t *totals);

/* Functions that end a cycle. explicit_count: number of nodes with a status in the diagnosis. */

void bt_cycle_set_scheduled(struct bt_schedule_result *result, uint32_t slot, int64_t total,
	uint32_t feasible_count, uint32_t explicit_count);
void bt_cycle_set_error(struct bt_schedule_result *result, const struct bt_status *status);
/** No node fits: run PostFilter and build the message from the statuses in the diagnosis. */
void bt_cycle_fail(struct bt_cycle_run *run);

/**
 * Decide over all nodes by cells (see `cells` below). Call after PreFilter. false: search the list
 * instead.
 */
bool bt_cycle_decide_by_cells(struct bt_cycle_run *run);

/** Whether the cycle must set run->ranked, because the next pod may use the ranking. */
bool bt_cycle_needs_ranking(const struct bt_cycle_run *run);

/*
 * The functions below update the metrics of the cycle (schedule_pod.c). They have no effect if
 * there are no metrics.
 */

/** Observe the duration of an extension point that ended; the next point starts now. */
void bt_cycle_point_ran(
	struct bt_cycle_run *run, enum bt_timed_point point, const struct bt_status *status);
/**
 * Does the same as bt_cycle_point_ran, for the Filter point. status: result of the Filter point. No
 * effect if the profile has no Filter plugins.
 */
void bt_cycle_filters_ran(struct bt_cycle_run *run, const struct bt_status *status);
/**
 * Count the evaluations of column filters as if they had run node by node on `examined` nodes.
 * rejected: by filter, the number of nodes that this filter is the first to reject; NULL: all 0.
 */
void bt_cycle_count_filters(
	const struct bt_cycle_run *run, uint32_t examined, const uint32_t *rejected);
/**
 * Count the evaluations of filters on one node. failing: index of the filter that rejects the node,
 * or filter_count if no filter rejects the node. Filters that run node by node are not counted
 * here, because their runner counts them.
 */
void bt_cycle_count_node(const struct bt_cycle_run *run, uint32_t failing);
/** Count `calls` evaluations of each plugin of the list, except plugins that skip the pod. */
void bt_cycle_count_unskipped(const struct bt_cycle_run *run, enum bt_extension_point list,
	enum bt_timed_point point, uint32_t calls);

/**
 * Call the filter extenders, and drop the feasible nodes that an extender rejects. Returns Success
 * or Error. Must be called only if run->extension.active is set.
 */
struct bt_status bt_find_nodes_that_pass_extenders(
	struct bt_cycle_run *run, struct bt_node_search_result *found);

/*
 * --- cells ---
 *
 * Nodes of the same kind form a cell (sched/cells.h; framework/plugin.h: cell_traits). A cycle that
 * searches the whole list runs the per-cycle plugins for only one node of each cell.
 *
 * If the plan keeps its nodes in cells, a tree gives the best node of each cell without visiting
 * nodes (cycle_cells.c). Otherwise the cycle makes its own cells, from the traits alone, in an
 * additional pass over the columns (cycle_flat.c).
 */

/** Cells with at least one node; the arrays are parallel and lie in the cycle's arena. */
struct bt_cell_list {
	uint32_t count;
	uint32_t *cells;    /* cell numbers */
	uint32_t *slots;    /* one node of each cell */
	uint32_t *sizes;    /* number of nodes of each cell */
	uint32_t *verdicts; /* verdict of all the cell's nodes; 0: feasible */
};

/** An empty list with room for `capacity` cells. */
struct bt_cell_list bt_cell_list_make(struct bt_arena *arena, uint32_t capacity);
static inline void bt_cell_list_add(
	struct bt_cell_list *list, uint32_t cell, uint32_t slot, uint32_t size, uint32_t verdict)
{
	list->cells[list->count] = cell;
	list->slots[list->count] = slot;
	list->sizes[list->count] = size;
	list->verdicts[list->count++] = verdict;
}

/**
 * Run the per-cycle filters and merge their verdicts: if several filters reject, the verdict of the
 * first one in the list is used.
 */
void bt_filter_cells(struct bt_cycle_run *run, struct bt_cell_list *list);
/** Count the filter evaluations in the metrics: sizes[i] nodes have verdicts[i]. */
void bt_count_verdicts(const struct bt_cycle_run *run, const uint32_t *verdicts,
	const uint32_t *sizes, uint32_t count);
/** Remove the infeasible cells. Returns the number of nodes in the feasible cells. */
uint32_t bt_cell_list_keep_feasible(struct bt_cell_list *list);
/**
 * Returns an array parallel to the list, in the cycle's arena: the sum of the weighted scores of
 * the per-cycle plugins, which is the same for all nodes of a cell. The scores in the plan's
 * columns are not included. All cells must be feasible; node_count is the number of their nodes.
 * NULL: PreScore failed, and run->result has the error.
 */
int64_t *bt_score_cells(
	struct bt_cycle_run *run, const struct bt_cell_list *list, uint32_t node_count);
/**
 * End the cycle without a feasible node. All nodes of a group have the same status in the
 * diagnosis. The arrays `verdicts` and `sizes` are indexed by group; group_of[] has the group of
 * each place. Each nominated node gets a separate group. The arrays must outlive the cycle's
 * decision.
 */
void bt_fail_in_groups(struct bt_cycle_run *run, const uint32_t *verdicts, const uint32_t *sizes,
	uint32_t count, const uint16_t *group_of);

/**
 * Decide by passes over the plan's columns (cycle_flat.c). false: there are too many cells or too
 * many different verdicts, so the caller must search the list.
 */
bool bt_decide_in_columns(struct bt_cycle_run *run, const struct bt_trait_list *traits);
#endif
