/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHED_CYCLE_PRIVATE_H
#define BT_SCHED_CYCLE_PRIVATE_H
/** Shared by the files of the scheduling cycle only. */
#include "base/map.h"
#include "sched/cells.h"
#include "sched/cycle.h"

/** A node name in an extender's answer that the snapshot does not have. */
struct bt_cycle_stranger {
	struct bt_str name;
	uint32_t entry; /* in the diagnosis: position + 1 */
};

/** What a cycle needs when extenders are interested in the pod. */
struct bt_cycle_extension {
	bool active; /* false: nothing below is used, and statuses are recorded only as needed */
	uint32_t *entry_by_slot; /* in the diagnosis: position + 1 */
	BT_VEC(struct bt_cycle_stranger) strangers;
	struct bt_map stranger_index;
	struct bt_extender_candidates candidates; /* what the filter extenders left last */
};

/** A node with nominated pods that take room from the pod: asked by itself, with and without them.
 * Spec 02 section 5.4. */
struct bt_cycle_nominated {
	uint32_t slot;
	uint64_t distance; /* behind the start of the search, in points (state/places.h) */
	bool is_known;
	struct bt_status status; /* then */
	uint32_t verdict;        /* the plan's, while it is taken out of it */
};

/** What the steps of one cycle share. */
struct bt_cycle_run {
	struct bt_engine *engine;
	struct bt_framework *framework;
	const struct bt_pod_info *pod;
	struct bt_plan *plan; /* NULL: no columns for this profile */
	bool few_nodes;       /* are searched: the plan's columns are left alone */
	/** Of the running search: the plan's own, with per-cycle filters merged in, or of the few
	 * nodes alone. */
	const uint32_t *verdict;
	struct bt_cycle_state *cycle;
	struct bt_cycle_nominated *nominated;
	uint32_t nominated_count;
	uint32_t *nominated_at; /* by slot: index + 1. NULL: the list is walked */
	struct bt_schedule_result *result;
	struct bt_pre_filter_outcome pre_filter;
	uint32_t start_index; /* rotation index at the start */
	/* Opportunistic batching. */
	const struct bt_queued_attempt *attempt; /* NULL: of no queue */
	struct bt_str hint;                      /* the node to try first; "": none */
	const uint32_t *ranked;                  /* the nodes that were scored, in search order */
	const int64_t *totals;                   /* theirs */
	uint32_t ranked_count;
	struct bt_cycle_extension extension;
	int64_t step_started_ns; /* the running extension point, by the clock of the metrics */
};

/* Nodes that pods are nominated on (find_nodes_that_fit.c). */

/** Fill run->nominated. */
void bt_cycle_mark_nominated(struct bt_cycle_run *run);
/** The filters would be asked anew: another search begins. */
void bt_cycle_forget_nominated(struct bt_cycle_run *run);
/** Ask about all of them, in search order. false: too many, or a filter failed. */
bool bt_cycle_ask_all_nominated(struct bt_cycle_run *run);
/** Those that are known not to fit are no nodes of the plan until they are put back. */
void bt_cycle_take_out_nominated(struct bt_cycle_run *run);
void bt_cycle_put_back_nominated(struct bt_cycle_run *run);

/**
 * Search in rotated order up to the limit: the reference outcome. Spec 03 section 3.5. Statuses of
 * rejected nodes go into the diagnosis only where somebody will read them: when nothing fits, or
 * when they had to be made anyway.
 */
struct bt_node_search_result bt_find_nodes_that_pass_filters(
	struct bt_cycle_run *run, struct bt_node_search search);
/**
 * Totals of the feasible nodes, extenders' scores included; a status that is not Success ends the
 * cycle. *out_numbers: for bt_select_host. Spec 03 section 5.
 */
struct bt_status bt_prioritize_nodes(struct bt_cycle_run *run, const uint32_t *slots,
	uint32_t count, int64_t *totals, const uint64_t **out_numbers);

/** The plugins that score anew in every cycle, on top of the plan's columns. */
void bt_cycle_add_cycle_scores(
	struct bt_cycle_run *run, const uint32_t *slots, uint32_t count, int64_t *totals);
/** The plan's normalised scores, when these nodes are the feasible ones. */
void bt_cycle_add_normalized(
	const struct bt_plan *plan, const uint32_t *slots, uint32_t count, int64_t *totals);

/* How a cycle ends. */

void bt_cycle_set_scheduled(struct bt_schedule_result *result, uint32_t slot, int64_t total,
	uint32_t feasible_count, uint32_t explicit_count);
void bt_cycle_set_error(struct bt_schedule_result *result, const struct bt_status *status);
/** No node fits: PostFilter and the message, from the statuses in the diagnosis. */
void bt_cycle_fail(struct bt_cycle_run *run);

/**
 * The whole list at once, kind of node by kind of node (cells, below). After PreFilter. false: the
 * list must be searched.
 */
bool bt_cycle_decide_by_cells(struct bt_cycle_run *run);

/** Somebody may want to know how the nodes were ranked. */
bool bt_cycle_wants_ranking(const struct bt_cycle_run *run);

/* What is counted (schedule_pod.c), if anything is. */

/** An extension point is over; the next one begins. */
void bt_cycle_point_ran(
	struct bt_cycle_run *run, enum bt_timed_point point, const struct bt_status *status);
/** The search is: status of the Filter point. Nothing without Filter plugins. */
void bt_cycle_filters_ran(struct bt_cycle_run *run, const struct bt_status *status);
/**
 * Column filters as if they had been asked node by node: examined nodes, of which each filter is
 * the first to reject some (by filter; NULL: none).
 */
void bt_cycle_count_filters(
	const struct bt_cycle_run *run, uint32_t examined, const uint32_t *rejected);
/** The same for one node that the filter at this index rejects, without the plain ones. */
void bt_cycle_count_node(const struct bt_cycle_run *run, uint32_t failing);
/** The plugins of a list that do not skip were asked this many times. */
void bt_cycle_count_unskipped(const struct bt_cycle_run *run, enum bt_extension_point list,
	enum bt_timed_point point, uint32_t calls);

/* Extenders; all but init and finish only while run->extension.active. */

void bt_cycle_extension_init(struct bt_cycle_run *run);
void bt_cycle_extension_finish(struct bt_cycle_run *run);
/** Leave of the feasible nodes what the filter extenders leave. Success or Error. */
struct bt_status bt_find_nodes_that_pass_extenders(
	struct bt_cycle_run *run, struct bt_node_search_result *found);

/*
 * --- cells ---
 *
 * A cycle over the whole list that asks the plugins of every cycle about one node of each kind, a
 * cell (sched/cells.h, framework/plugin.h: cell_traits).
 *
 * A plan that keeps its nodes in cells decides by their tree: each cell's best node is known, no
 * node is looked at (cycle_cells.c). Otherwise the cells are made for the cycle, of the traits
 * alone, and the columns are passed over once more (cycle_flat.c).
 */

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

/** Decide by the columns. false: too many cells, or too many kinds of rejections. */
bool bt_decide_in_columns(struct bt_cycle_run *run, const struct bt_trait_list *traits);
#endif
