/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_PREEMPTION_EVALUATOR_H
#define BT_PLUGINS_PREEMPTION_EVALUATOR_H
/**
 * The Evaluator: finds the node on which the removal of pods of lower priority lets a pod pass all
 * filters, and has them removed. Spec: 08 sections 5 to 10.
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

/* What preemption remembers of nodes from one attempt to the next: the lowest priority among the
 * pods of each node, and what dry runs for pods of a shape came to. Both are repaired from the
 * change log of the state. Spec 08 sections 8 and 9: neither changes what an attempt finds. */

/** Lowest priorities by node, by block of nodes, and of the whole cluster. */
struct bt_lowest_priorities {
	BT_VEC(int32_t) by_slot; /* INT32_MAX: the node has no pods */
	BT_VEC(int32_t) by_block;
	uint64_t seen; /* position in the change log */
	bool filled;
};

void bt_lowest_priorities_finish(struct bt_lowest_priorities *lowest);
/** Up to date with the state. O(changes), O(pods) at first or after very many of them. */
void bt_lowest_priorities_refresh(
	struct bt_lowest_priorities *lowest, const struct bt_state *state);
/** No pod on any node is below; may be lower than the lowest in the snapshot. O(nodes / 4096). */
int32_t bt_lowest_priority(const struct bt_lowest_priorities *lowest);
/** Some pod of the node is below this priority. */
static inline bool bt_node_has_lower(
	const struct bt_lowest_priorities *lowest, uint32_t slot, int32_t priority)
{
	return lowest->by_slot.items[slot] < priority;
}

/** A dry run's end: a status, or victims. */
struct bt_dry_run_end {
	struct bt_status status; /* borrowed from the memo */
	const uint32_t *victims; /* borrowed until the memo learns more */
	uint32_t victim_count;
};

struct bt_dry_run_note {
	int64_t generation; /* of the node's row then, + 1; 0: nothing is known */
	uint32_t at;        /* in victims, or in statuses */
	uint32_t count;     /* of victims; 0: it failed */
};

/** Dry runs for pods of one shape and priority, with the same filters at work. */
struct bt_dry_run_memo {
	uint64_t shape_serial; /* 0: free */
	int32_t priority;
	struct bt_plugin_set skip_filter;
	uint64_t last_use;
	uint64_t seen;                        /* position in the change log */
	BT_VEC(struct bt_dry_run_note) notes; /* by slot */
	BT_VEC(uint32_t) victims;
	BT_VEC(struct bt_status) statuses; /* distinct, in the arena */
	struct bt_arena arena;
};

/** Shapes that are remembered at a time. */
#define BT_DRY_RUN_MEMOS 4

struct bt_dry_run_memos {
	struct bt_dry_run_memo items[BT_DRY_RUN_MEMOS];
	uint64_t uses;
};

void bt_dry_run_memos_finish(struct bt_dry_run_memos *memos);
/** Up to date with the state; takes the place of the one that was not used for longest. */
struct bt_dry_run_memo *bt_dry_run_memo_for(struct bt_dry_run_memos *memos,
	const struct bt_state *state, const struct bt_pod_info *pod,
	const struct bt_plugin_set *skip_filter);
/** false: the node has changed since, or was never tried. */
bool bt_dry_run_recall(const struct bt_dry_run_memo *memo, const struct bt_state *state,
	uint32_t slot, struct bt_dry_run_end *out_end);
void bt_dry_run_note_victims(struct bt_dry_run_memo *memo, const struct bt_state *state,
	uint32_t slot, const uint32_t *victims, uint32_t count);
/** Nothing is noted once statuses are too many to be worth it. */
void bt_dry_run_note_failure(struct bt_dry_run_memo *memo, const struct bt_state *state,
	uint32_t slot, const struct bt_status *status);

/* Candidates. */

/** A node, and the pods that have to go. */
struct bt_preemption_candidate {
	uint32_t slot;
	uint32_t victim_count;
	const uint32_t *victims; /* ids of pods in the state, most important first */
	int64_t pdb_violations;
};

/**
 * What one attempt found. Memory: the cycle's arena. choices are the candidates that are equally
 * good under all criteria; the selected one is the first of them.
 */
struct bt_preemption_decision {
	const struct bt_preemption_candidate *candidates;
	uint32_t candidate_count;
	const uint32_t *choices; /* indices of candidates */
	uint32_t choice_count;
	uint32_t selected; /* index; UINT32_MAX: none */
};

struct bt_evaluator;
/** Larger is better. */
typedef int64_t (*bt_candidate_score)(
	const struct bt_evaluator *evaluator, const struct bt_preemption_candidate *candidate);

/** What an embedding program may change (spec 08 sections 10.2 and 15). All-zero: the defaults. */
struct bt_preemption_hooks {
	/** A further condition on victims. */
	bool (*is_eligible_pod)(void *context, uint32_t slot, const struct bt_pod_info *victim,
		const struct bt_pod_info *preemptor);
	/** Order of reprieve, and of victims. */
	bool (*more_important_pod)(
		void *context, const struct bt_pod_info *a, const struct bt_pod_info *b);
	/** Criteria that replace those of section 10.2. */
	const bt_candidate_score *ordered_scores;
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
	/* Memory that attempts share. */
	struct bt_node_statuses statuses; /* of nodes whose dry run failed */
	/* The same where no node has a pod to evict: one group, of which only the size is known. */
	struct bt_status no_victims;
	uint32_t no_victims_count;
	struct bt_status_groups no_victims_group;
	/* What is known from attempts before. */
	struct bt_lowest_priorities lowest;
	struct bt_dry_run_memos memos;
	bool may_recall; /* the cycle's PreFilter was run for this very version of the pod */
	BT_VEC(uint32_t) potential;
	BT_VEC(struct bt_pod_info) removable;
	BT_VEC(uint32_t) order;
};

void bt_evaluator_init(struct bt_evaluator *evaluator, const struct bt_handle *handle,
	const struct bt_default_preemption_args *args, const char *plugin_name);
void bt_evaluator_finish(struct bt_evaluator *evaluator);

/**
 * Spec 08 section 5. statuses: of the failed search. *out_decision (may be NULL) is filled as far
 * as the attempt came.
 */
struct bt_status bt_evaluator_preempt(struct bt_evaluator *evaluator, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_statuses *statuses,
	struct bt_post_filter_result *out_result, struct bt_preemption_decision *out_decision);

/* Parts of it, in order. */

/** Spec 08 section 6: Success, or Unschedulable with the reason. */
struct bt_status bt_pod_eligible_to_preempt_others(const struct bt_evaluator *evaluator,
	const struct bt_pod_info *pod, const struct bt_node_statuses *statuses);
/** Number of candidates that are enough among node_count nodes. Spec 08 section 7. */
uint32_t bt_calculate_num_candidates(const struct bt_evaluator *evaluator, uint32_t node_count);

struct bt_dry_run_result {
	struct bt_preemption_candidate *candidates; /* those without violations first */
	uint32_t count;
	struct bt_str
		error_text; /* of all nodes that failed with Error; absent when there is none */
};

/**
 * Spec 08 section 8, one worker: nodes[offset], nodes[offset + 1] ... in a circle until limit
 * candidates, one of them without violations, are known. Statuses of the others are left in
 * evaluator->statuses.
 */
struct bt_dry_run_result bt_dry_run_preemption(struct bt_evaluator *evaluator,
	struct bt_cycle_state *cycle, const struct bt_pod_info *pod, const uint32_t *nodes,
	uint32_t node_count, uint32_t offset, uint32_t limit);
/**
 * SelectVictimsOnNode (spec 08 section 9) for a node as it is handed in, which may be a what-if;
 * pods that only the what-if has are no victims. Neither node nor cycle is changed. The budgets are
 * those that were loaded last.
 */
struct bt_status bt_select_victims_on_node(struct bt_evaluator *evaluator,
	struct bt_cycle_state *cycle, const struct bt_pod_info *pod,
	const struct bt_node_info *node, struct bt_preemption_candidate *out);
/**
 * Spec 08 section 10: what the extenders leave of the candidates. Success or Error. *candidates and
 * *count are replaced; memory: arena.
 */
struct bt_status bt_call_extenders(const struct bt_evaluator *evaluator,
	const struct bt_pod_info *pod, struct bt_arena *arena,
	struct bt_preemption_candidate **candidates, uint32_t *count);
/** Spec 08 section 10.2: fills choices and selected. */
void bt_pick_one_node_for_preemption(const struct bt_evaluator *evaluator, struct bt_arena *arena,
	struct bt_preemption_decision *decision);
/** prio(victim) < prio(preemptor), and the hook agrees. Spec 08 section 3.1. */
static inline bool bt_evaluator_may_preempt(const struct bt_evaluator *evaluator, uint32_t slot,
	const struct bt_pod_info *victim, const struct bt_pod_info *preemptor)
{
	return victim->priority < preemptor->priority &&
		(evaluator->hooks.is_eligible_pod == NULL ||
			evaluator->hooks.is_eligible_pod(
				evaluator->hooks.context, slot, victim, preemptor));
}

/** a and b: whatever the caller sorts. Spec: 08 section 3.1, 01 section 5.13. */
typedef bool (*bt_more_important)(const void *context, uint32_t a, uint32_t b);

/**
 * Equal priority: the one that started earlier. Two pods that have not started: true, in whichever
 * order they are named, because the clock is read first for a.
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
 * Sort indices, most important first. The outcome is that of a plain insertion sort also where the
 * relation is no order (a run of unstarted pods comes out reversed); O(n log n). scratch: room for
 * count indices.
 */
void bt_sort_by_importance(uint32_t *indices, uint32_t count, uint32_t *scratch,
	bt_more_important more_important, const void *context);

/**
 * pods: the group's pods of this cycle, at least one. Success: victims are on their way out. The
 * snapshot is left as the last trial made it.
 * Spec: 08 section 14.
 */
struct bt_status bt_evaluator_preempt_for_group(struct bt_evaluator *evaluator,
	struct bt_arena *arena, const struct bt_pod_group *group,
	const struct bt_pod_info *const *pods, uint32_t pod_count,
	const struct bt_pod_group_trial *trial);
#endif
