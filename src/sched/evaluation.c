/* SPDX-License-Identifier: Apache-2.0 */
/** One pod against every node, the plain way: what conformance compares and explanations show. */
#include <stdlib.h>

#include "sched/cycle.h"

struct named_slot {
	struct bt_str name;
	uint32_t slot;
};

static int compare_named_slots(const void *a, const void *b)
{
	return bt_str_compare(
		((const struct named_slot *)a)->name, ((const struct named_slot *)b)->name);
}

/** Candidates ascending by name. */
static uint32_t *sorted_candidates(struct bt_engine *engine, const struct bt_evaluation *evaluation,
	struct bt_arena *arena, uint32_t *out_count)
{
	const uint32_t *slots;
	uint32_t count;
	bt_search_candidates(engine, &evaluation->pre_filter.result, arena, &slots, &count);
	struct named_slot *named = BT_ARENA_NEW_ARRAY(arena, struct named_slot, count);
	for (uint32_t i = 0; i < count; i++) {
		named[i] = (struct named_slot){
			bt_node_table_name(&engine->state->nodes, slots[i]), slots[i]};
	}
	qsort(named, count, sizeof(named[0]), compare_named_slots);
	uint32_t *sorted = BT_ARENA_NEW_ARRAY(arena, uint32_t, count);
	for (uint32_t i = 0; i < count; i++) {
		sorted[i] = named[i].slot;
	}
	*out_count = count;
	return sorted;
}

static void filter_nodes(struct bt_engine *engine, struct bt_framework *framework,
	const struct bt_pod_info *pod, struct bt_evaluation *evaluation)
{
	struct bt_arena *arena = evaluation->cycle->arena;
	uint32_t count;
	uint32_t *slots = sorted_candidates(engine, evaluation, arena, &count);
	evaluation->nodes = BT_ARENA_NEW_ARRAY(arena, struct bt_node_evaluation, count);
	evaluation->feasible = BT_ARENA_NEW_ARRAY(arena, uint32_t, count);
	for (uint32_t i = 0; i < count; i++) {
		struct bt_node_info node;
		bt_node_info_init(&node, engine->state, slots[i]);
		struct bt_status status =
			bt_run_filter_with_nominated_pods(framework, evaluation->cycle, pod, &node);
		if (!bt_status_is_success(&status) && !bt_status_is_rejected(&status)) {
			evaluation->error = status;
			return;
		}
		evaluation->nodes[evaluation->node_count++] =
			(struct bt_node_evaluation){slots[i], status};
		if (bt_status_is_success(&status)) {
			evaluation->feasible[evaluation->feasible_count++] = slots[i];
		} else {
			struct bt_node_status_entry entry = {slots[i], status};
			bt_vec_push(&evaluation->diagnosis.statuses.entries, entry);
			bt_diagnosis_add_plugin(&evaluation->diagnosis, &status);
		}
	}
}

static void score_nodes(struct bt_engine *engine BT_UNUSED, struct bt_framework *framework,
	const struct bt_pod_info *pod, struct bt_evaluation *evaluation)
{
	struct bt_cycle_state *cycle = evaluation->cycle;
	evaluation->pre_score_ran = true;
	evaluation->pre_score = bt_run_pre_score(
		framework, cycle, pod, evaluation->feasible, evaluation->feasible_count);
	if (!bt_status_is_success(&evaluation->pre_score)) {
		return;
	}
	evaluation->score_status = bt_run_score(framework, cycle, pod, evaluation->feasible,
		evaluation->feasible_count, &evaluation->scores);
	if (!bt_status_is_success(&evaluation->score_status)) {
		return;
	}
	evaluation->best = 0;
	for (uint32_t i = 1; i < evaluation->feasible_count; i++) {
		if (evaluation->scores.totals[i] > evaluation->scores.totals[evaluation->best]) {
			evaluation->best = i;
		}
	}
}

static void pre_filter(struct bt_engine *engine, struct bt_framework *framework,
	const struct bt_pod_info *pod, struct bt_evaluation *evaluation)
{
	struct bt_diagnosis *diagnosis = &evaluation->diagnosis;
	evaluation->pre_filter = bt_run_pre_filter(framework, evaluation->cycle, pod);
	diagnosis->unschedulable_plugins = evaluation->pre_filter.plugins_with_nodes;
	diagnosis->node_count = engine->state->snapshot.count;
	const struct bt_status *status = &evaluation->pre_filter.status;
	if (bt_status_is_rejected(status)) {
		diagnosis->statuses.absent = *status;
		diagnosis->pre_filter_message =
			bt_status_message_str(status, evaluation->cycle->arena);
		bt_diagnosis_add_plugin(diagnosis, status);
	} else if (!bt_status_is_success(status)) {
		evaluation->error = *status;
	} else if (evaluation->pre_filter.result.restricted) {
		diagnosis->statuses.absent = bt_narrowed_status(framework,
			&evaluation->pre_filter.plugins_with_nodes, evaluation->cycle->arena);
	}
}

void bt_engine_evaluate(struct bt_engine *engine, struct bt_framework *framework,
	const struct bt_pod_info *pod, struct bt_evaluation *out_evaluation)
{
	*out_evaluation = (struct bt_evaluation){
		.cycle = bt_engine_begin_cycle(engine, framework), .best = UINT32_MAX};
	struct bt_diagnosis *diagnosis = &out_evaluation->diagnosis;
	diagnosis->statuses = engine->statuses;
	diagnosis->statuses.entries.count = 0;
	diagnosis->statuses.absent = bt_status_code_only(BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE);
	struct berth_error err = BERTH_ERROR_INIT;
	if (bt_state_refresh_snapshot(engine->state, &err) < 0) {
		out_evaluation->error = bt_status_from_error(out_evaluation->cycle->arena, &err);
		return;
	}
	pre_filter(engine, framework, pod, out_evaluation);
	if (bt_status_is_success(&out_evaluation->pre_filter.status)) {
		filter_nodes(engine, framework, pod, out_evaluation);
	}
	if (out_evaluation->feasible_count != 0 && bt_status_is_success(&out_evaluation->error)) {
		score_nodes(engine, framework, pod, out_evaluation);
	}
	engine->statuses = diagnosis->statuses; /* the list may have moved */
	if (engine->options.verify) {
		bt_verify_evaluation(engine, framework, pod, out_evaluation);
	}
}
