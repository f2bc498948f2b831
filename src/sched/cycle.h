/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHED_CYCLE_H
#define BT_SCHED_CYCLE_H
/** Parts of the scheduling cycle that schedule_pod.c and verify.c share. Spec: 03 sections 3 and 5.
 */
#include "sched/engine.h"
#include "sched/plan.h"

/** Nodes to search in rotated order, and the number of feasible nodes that is enough. */
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
 * Number of feasible nodes after which the search of a list of this length ends: spec 03 section
 * 3.3 with the override option.
 */
uint32_t bt_search_limit(
	const struct bt_engine *engine, const struct bt_framework *framework, uint32_t node_count);
/**
 * Slots that may be searched after PreFilter's result, in order; all nodes if the result does not
 * restrict them.
 */
void bt_search_candidates(const struct bt_engine *engine, const struct bt_pre_filter_result *result,
	struct bt_arena *arena, const uint32_t **out_slots, uint32_t *out_count);
/** Status of nodes that PreFilter's result excludes: `node(s) didn't satisfy plugin(s) [A B]`. */
struct bt_status bt_narrowed_status(const struct bt_framework *framework,
	const struct bt_plugin_set *plugins, struct bt_arena *arena);
/** AddPluginStatus of spec 03 section 3.4. */
void bt_diagnosis_add_plugin(struct bt_diagnosis *diagnosis, const struct bt_status *status);

/** Slot of the node set by bt_scheduler_prefer_node; BT_SLOT_NONE: none. */
uint32_t bt_find_preferred_slot(const struct bt_engine *engine);
/**
 * Index into `slots` of the node that the tie policy picks; count > 0. totals and numbers are
 * parallel to slots. numbers: random numbers that come with extenders' scores; NULL: none.
 */
uint32_t bt_select_host(struct bt_engine *engine, const uint32_t *slots, const int64_t *totals,
	const uint64_t *numbers, uint32_t count);

/** Totals of the plan's scores, normalised over these feasible nodes. */
void bt_cycle_column_totals(
	const struct bt_plan *plan, const uint32_t *slots, uint32_t count, int64_t *totals);

/**
 * Verify mode: recompute the decision with the plain runners and abort with a message if it
 * differs. plan may be NULL. start_index: the rotation index at the start of the cycle.
 */
void bt_verify_decision(struct bt_engine *engine, struct bt_framework *framework,
	const struct bt_pod_info *pod, struct bt_plan *plan,
	const struct bt_schedule_result *result, uint32_t start_index);
/**
 * Verify mode: compare the plan's columns with an evaluation by the plain runners; abort if they
 * differ.
 */
void bt_verify_evaluation(struct bt_engine *engine, struct bt_framework *framework,
	const struct bt_pod_info *pod, const struct bt_evaluation *evaluation);
#endif
