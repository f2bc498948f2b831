/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_PREEMPTION_EVALUATOR_H
#define BT_PLUGINS_PREEMPTION_EVALUATOR_H
/**
 * The Evaluator of preemption: finds a node on which the pod passes all filters after pods of lower
 * priority are removed, and starts their eviction. Spec: 08 sections 5 to 10.
 */
#include <stdbool.h>
#include <stdint.h>

#include "api/types.h"
#include "config/config.h"
#include "framework/cycle_state.h"
#include "framework/framework.h"
#include "framework/preemption.h"
#include "framework/status.h"
#include "plugins/preemption_budgets.h"
#include "plugins/preemption_executor.h"
#include "state/pod_info.h"
#include "state/state.h"

/*
 * Caches that are kept between attempts: the lowest priority of the pods on each node, and the
 * results of dry runs for pods of a shape. The caches are updated from the change log of the state,
 * and do not change the result of an attempt. Spec 08 sections 8 and 9.
 */

/** Lowest pod priorities by node and by block of 64 nodes. */
struct bt_lowest_priorities {
	BT_VEC(int32_t) by_slot; /* INT32_MAX: the node has no pods */
	BT_VEC(int32_t) by_block;
	uint64_t seen; /* position in the change log */
	bool filled;
};

/**
 * Update from the change log. Takes O(changes), or O(pods) at the first call and after very many
 * changes.
 */
void bt_lowest_priorities_refresh(
	struct bt_lowest_priorities *lowest, const struct bt_state *state);
/**
 * Returns a lower bound of the priorities of all pods, including pods on nodes outside the
 * snapshot. Takes O(nodes / 64).
 */
int32_t bt_lowest_priority(const struct bt_lowest_priorities *lowest);

/** Result of a dry run: victims, or a status if the dry run found no victims. */
struct bt_dry_run_end {
	struct bt_status status; /* borrowed from the memo */
	const uint32_t *victims; /* borrowed until the next change of the memo */
	uint32_t victim_count;
};

struct bt_dry_run_note {
	int64_t generation; /* generation of the node's row, + 1; 0: not cached */
	uint32_t at;        /* index into victims or statuses */
	uint32_t count;     /* number of victims; 0: the dry run failed */
};

/** Cached dry runs for pods with the same shape, priority and set of skipped filters. */
struct bt_dry_run_memo {
	uint64_t shape_serial; /* 0: the entry is free */
	int32_t priority;
	struct bt_plugin_set skip_filter;
	uint64_t last_use;
	uint64_t seen;                        /* position in the change log */
	BT_VEC(struct bt_dry_run_note) notes; /* by slot */
	BT_VEC(uint32_t) victims;
	BT_VEC(struct bt_status) statuses; /* without duplicates; memory in the arena */
	struct bt_arena arena;
};

/** Number of memos that are cached. */
#define BT_DRY_RUN_MEMOS 4

struct bt_dry_run_memos {
	struct bt_dry_run_memo items[BT_DRY_RUN_MEMOS];
	uint64_t uses;
};

/**
 * Get the memo for the pod, without results of nodes that have changed. If there is no memo for the
 * pod, a new memo replaces the least recently used memo.
 */
struct bt_dry_run_memo *bt_dry_run_memo_for(struct bt_dry_run_memos *memos,
	const struct bt_state *state, const struct bt_pod_info *pod,
	const struct bt_plugin_set *skip_filter);
/**
 * Get the cached result of the node. Returns false if the node has changed since the dry run, or if
 * no result is cached.
 */
bool bt_dry_run_recall(const struct bt_dry_run_memo *memo, const struct bt_state *state,
	uint32_t slot, struct bt_dry_run_end *out_end);
/**
 * Cache the result of a dry run. Has no effect if there are no victims and the memo has too many
 * different statuses.
 */
void bt_dry_run_memo_add(struct bt_dry_run_memo *memo, const struct bt_state *state, uint32_t slot,
	const struct bt_dry_run_end *end);

/* Candidates. */

/** A node and its victims. */
struct bt_preemption_candidate {
	uint32_t slot;
	uint32_t victim_count;
	const uint32_t *victims; /* ids of pods in the state, most important first */
	int64_t pdb_violations;
};

/**
 * Result of one attempt. Memory: the cycle's arena. choices: the candidates that all criteria rate
 * as equally good; the selected candidate is first.
 */
struct bt_preemption_decision {
	const struct bt_preemption_candidate *candidates;
	uint32_t candidate_count;
	const uint32_t *choices; /* indices in candidates */
	uint32_t choice_count;
	uint32_t selected; /* index in candidates; UINT32_MAX: none */
};

/** Settings for an embedding program (spec 08 sections 10.2 and 15). NULL or 0: the default. */
struct bt_preemption_hooks {
	/** An additional condition that a pod must meet to be evicted. */
	bool (*is_eligible_pod)(void *context, uint32_t slot, const struct bt_pod_info *victim,
		const struct bt_pod_info *preemptor);
	/**
	 * Whether a is more important than b. Pods are reprieved, and victims listed, in this
	 * order.
	 */
	bool (*more_important_pod)(
		void *context, const struct bt_pod_info *a, const struct bt_pod_info *b);
	/**
	 * Replaces the criteria of section 10.2: returns the score of the candidate by criterion
	 * `which`, below ordered_score_count. Higher scores are better.
	 */
	int64_t (*ordered_score)(
		void *context, uint32_t which, const struct bt_preemption_candidate *candidate);
	uint32_t ordered_score_count;
	void *context;
};

struct bt_evaluator {
	const struct bt_handle *handle; /* borrowed */
	int32_t min_candidates_percentage;
	int32_t min_candidates_absolute;
	struct bt_preemption_hooks hooks;
	struct bt_preemption_executor executor;
	uint64_t attempt_count; /* metric preemption_attempts_total */
	struct bt_budgets budgets;
	/* Memory reused by attempts. */
	struct bt_node_statuses statuses; /* statuses of nodes whose dry run failed */
	/*
	 * Statuses if no node has a pod to evict: all nodes share one status, and only the number
	 * of nodes is kept.
	 */
	struct bt_status no_victims;
	uint32_t no_victims_count;
	struct bt_status_groups no_victims_group;
	/* Caches kept between attempts. */
	struct bt_lowest_priorities lowest;
	struct bt_dry_run_memos memos;
	bool may_recall; /* memos may be used: PreFilter ran for this version of the pod */
	BT_VEC(uint32_t) potential;
	BT_VEC(struct bt_pod_info) removable;
	BT_VEC(uint32_t) order;
};

void bt_evaluator_init(struct bt_evaluator *evaluator, const struct bt_handle *handle,
	const struct bt_default_preemption_args *args, const char *plugin_name);
void bt_evaluator_finish(struct bt_evaluator *evaluator);

/**
 * Preempt for one pod: find a node and victims, start the evictions, and nominate the node (spec 08
 * section 5). statuses: the node statuses of the failed scheduling attempt. *out_decision gets the
 * results of the steps that were reached; out_decision may be NULL.
 */
struct bt_status bt_evaluator_preempt(struct bt_evaluator *evaluator, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_statuses *statuses,
	struct bt_post_filter_result *out_result, struct bt_preemption_decision *out_decision);

/* The steps of bt_evaluator_preempt, in order. */

/** Returns Success if the pod may preempt, else Unschedulable with a reason. Spec 08 section 6. */
struct bt_status bt_pod_eligible_to_preempt_others(const struct bt_evaluator *evaluator,
	const struct bt_pod_info *pod, const struct bt_node_statuses *statuses);
/** Returns the number of candidates to find among node_count nodes. Spec 08 section 7. */
uint32_t bt_calculate_num_candidates(const struct bt_evaluator *evaluator, uint32_t node_count);

struct bt_dry_run_result {
	/** Candidates without PDB violations come first. */
	struct bt_preemption_candidate *candidates;
	uint32_t count;
	struct bt_str error_text; /* errors of all nodes whose status is Error; absent if none */
};

/**
 * DryRunPreemption with a single worker (spec 08 section 8): visit nodes[offset], nodes[offset + 1]
 * ..., wrapping around, until there are `limit` candidates, of which at least one has no PDB
 * violation. evaluator->statuses gets the statuses of the visited nodes that are not candidates.
 */
struct bt_dry_run_result bt_dry_run_preemption(struct bt_evaluator *evaluator,
	struct bt_cycle_state *cycle, const struct bt_pod_info *pod, const uint32_t *nodes,
	uint32_t node_count, uint32_t offset, uint32_t limit);
/**
 * SelectVictimsOnNode (spec 08 section 9) for the caller's node, which may differ from the state.
 * Pods that exist only on the caller's node are never victims. Does not change node or cycle. Uses
 * the budgets that were loaded last.
 */
struct bt_status bt_select_victims_on_node(struct bt_evaluator *evaluator,
	struct bt_cycle_state *cycle, const struct bt_pod_info *pod,
	const struct bt_node_info *node, struct bt_preemption_candidate *out);
/**
 * Replace *candidates and *count by the results of the extenders. Returns Success or Error. Memory:
 * the arena. Spec 08 section 10.
 */
struct bt_status bt_call_extenders(const struct bt_evaluator *evaluator,
	const struct bt_pod_info *pod, struct bt_arena *arena,
	struct bt_preemption_candidate **candidates, uint32_t *count);
/**
 * Set choices, choice_count and selected of the decision from its candidates. Spec 08 section 10.2.
 */
void bt_pick_one_node_for_preemption(const struct bt_evaluator *evaluator, struct bt_arena *arena,
	struct bt_preemption_decision *decision);
/**
 * Whether the victim has a lower priority and the hook is_eligible_pod agrees. Spec 08 section 3.1.
 */
static inline bool bt_evaluator_may_preempt(const struct bt_evaluator *evaluator, uint32_t slot,
	const struct bt_pod_info *victim, const struct bt_pod_info *preemptor)
{
	return victim->priority < preemptor->priority &&
		(evaluator->hooks.is_eligible_pod == NULL ||
			evaluator->hooks.is_eligible_pod(
				evaluator->hooks.context, slot, victim, preemptor));
}

/**
 * Whether entry a is more important than entry b; the caller defines the entries. Spec: 08 section
 * 3.1, 01 section 5.13.
 */
typedef bool (*bt_more_important)(const void *context, uint32_t a, uint32_t b);

/**
 * Whether pod a is more important than pod b: it has a higher priority or, with equal priority,
 * started earlier. start_seconds is INT64_MIN for a pod that has not started. For two pods that
 * have not started, the result is true in either order: upstream uses the current time as their
 * start, and reads the clock for a first.
 */
static inline bool bt_is_more_important(
	int32_t a_priority, int64_t a_start_seconds, int32_t b_priority, int64_t b_start_seconds)
{
	if (a_priority != b_priority) {
		return a_priority > b_priority;
	}
	if (a_start_seconds == INT64_MIN) {
		return b_start_seconds == INT64_MIN;
	}
	return b_start_seconds == INT64_MIN || a_start_seconds < b_start_seconds;
}

/**
 * Sort indices, most important first, in O(n log n). The result equals that of an insertion sort
 * even if more_important is not a strict order (a run of unstarted pods is reversed). scratch: room
 * for count indices.
 */
void bt_sort_by_importance(uint32_t *indices, uint32_t count, uint32_t *scratch,
	bt_more_important more_important, const void *context);
/**
 * Move the entries of order that violate a budget to the front; both parts keep their order.
 * Returns the number of violating entries. scratch: room for count indices.
 */
uint32_t bt_move_violating_first(uint32_t *order, uint32_t count, uint32_t *scratch,
	bool (*violates)(void *context, uint32_t index), void *context);
/** Returns the error `expected at least one victim pod on node "<name>"`. */
struct bt_status bt_no_victim_status(struct bt_str node_name, struct bt_arena *arena);

/**
 * Preempt for a pod group (spec 08 section 14). pods: the group's pods in this cycle, at least one.
 * Returns Success if the evictions have started; else Unschedulable, UnschedulableAndUnresolvable
 * or Error with the reason. The snapshot stays as the last trial left it.
 */
struct bt_status bt_evaluator_preempt_for_group(struct bt_evaluator *evaluator,
	struct bt_arena *arena, const struct bt_pod_group *group,
	const struct bt_pod_info *const *pods, uint32_t pod_count,
	const struct bt_pod_group_trial *trial);
#endif
