/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHED_CYCLE_H
#define BT_SCHED_CYCLE_H
/** Parts of the scheduling cycle that schedule_pod.c and verify.c share. Spec: 03 sections 3 and 5.
 */
#include "sched/engine.h"
#include "sched/plan.h"

/** Nodes to search, in search order, and how many feasible ones are enough. */
struct bt_node_search {
	const uint32_t *slots; /* in snapshot order, or the placement's */
	uint32_t count;
	uint32_t start; /* first position examined */
	uint32_t limit;
};

/** Outcome of a search: the reference outcome of spec 03 section 3.5. */
struct bt_node_search_result {
	uint32_t *feasible; /* slots in search order */
	uint32_t feasible_count;
	uint32_t rejected_count;
	struct bt_status error; /* a Filter failed; Success otherwise */
};

/** End the previous cycle, reset the arena, start an empty cycle state. */
struct bt_cycle_state *bt_engine_begin_cycle(
	struct bt_engine *engine, const struct bt_framework *framework);
/** Limit of spec 03 section 3.3 with the overriding rule, for a list of this length. */
uint32_t bt_search_limit(
	const struct bt_engine *engine, const struct bt_framework *framework, uint32_t node_count);
/** Slots of these that PreFilter's narrowing leaves, in their order; all of them when it does not
 * narrow. */
void bt_search_candidates(const struct bt_engine *engine, const struct bt_pre_filter_result *result,
	struct bt_arena *arena, const uint32_t **out_slots, uint32_t *out_count);
/** Reason of nodes outside PreFilter's narrowing: `node(s) didn't satisfy plugin(s) [A B]`. */
struct bt_status bt_narrowed_status(const struct bt_framework *framework,
	const struct bt_plugin_set *plugins, struct bt_arena *arena);
/** AddPluginStatus of spec 03 section 3.4. */
void bt_diagnosis_add_plugin(struct bt_diagnosis *diagnosis, const struct bt_status *status);

/** Slot of the node that is taken among equally good ones (bt_scheduler_prefer_node); BT_SLOT_NONE:
 * there is none. */
uint32_t bt_find_preferred_slot(const struct bt_engine *engine);
/** Position in `slots` of the node that the tie policy picks; totals by position, count > 0.
 * numbers: random ones that extenders' scores bring along; NULL: none. */
uint32_t bt_select_host(struct bt_engine *engine, const uint32_t *slots, const int64_t *totals,
	const uint64_t *numbers, uint32_t count);

/** Totals of the plan's own scores when these nodes are the feasible ones. */
void bt_cycle_column_totals(
	const struct bt_plan *plan, const uint32_t *slots, uint32_t count, int64_t *totals);

/**
 * Verify mode: recompute the decision with the plain runners and abort with a message when it
 * differs. plan may be NULL. start_index: the rotation index the cycle started with.
 */
void bt_verify_decision(struct bt_engine *engine, struct bt_framework *framework,
	const struct bt_pod_info *pod, struct bt_plan *plan,
	const struct bt_schedule_result *result, uint32_t start_index);
/** Verify mode: the plan's columns against an evaluation made by the plain runners. */
void bt_verify_evaluation(struct bt_engine *engine, struct bt_framework *framework,
	const struct bt_pod_info *pod, const struct bt_evaluation *evaluation);
#endif
