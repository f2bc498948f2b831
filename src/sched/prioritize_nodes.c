/* SPDX-License-Identifier: Apache-2.0 */
/** Scores of a list of feasible nodes. Spec 03 section 5. */
#include <string.h>

#include "sched/cycle.h"

void bt_cycle_add_columns(const struct bt_plan *plan, const uint32_t *slots, uint32_t count,
	bool adds_local, int64_t *totals)
{
	for (uint32_t i = 0; adds_local && i < count; i++) {
		totals[i] += plan->local[slots[i]];
	}
	for (uint32_t r = 0; r < plan->raw_count; r++) {
		bt_plan_add_normalized(&plan->raws[r], slots, count, totals);
	}
}

void bt_cycle_add_cycle_scores(
	struct bt_cycle_run *run, const uint32_t *slots, uint32_t count, int64_t *totals)
{
	int64_t *scores = BT_ARENA_NEW_ARRAY(run->cycle->arena, int64_t, count);
	for (uint32_t i = 0; i < run->plan->cycle_score_count; i++) {
		struct bt_plugin *plugin = run->plan->cycle_scores[i].plugin;
		int64_t weight = run->plan->cycle_scores[i].weight;
		const void *data = plugin->ops->pre_score != NULL
			? run->cycle->pre_score_data[plugin->index]
			: run->cycle->pre_filter_data[plugin->index];
		if (bt_plugin_set_has(&run->cycle->skip_score, plugin->index)) {
			continue;
		}
		bt_shortcuts(plugin)->score_slots(
			plugin, data, run->pod, run->engine->state, slots, count, scores);
		struct bt_status status =
			bt_normalize_scores(plugin, run->cycle, run->pod, slots, scores, count);
		BT_ASSERT(bt_status_is_success(&status)); /* by the contract of normalize_score */
		for (uint32_t k = 0; k < count; k++) {
			totals[k] += weight * scores[k];
		}
	}
}

struct bt_status bt_prioritize_nodes(struct bt_cycle_run *run, const uint32_t *slots,
	uint32_t count, int64_t *totals, const uint64_t **out_numbers)
{
	struct bt_plan *plan = run->plan;
	struct bt_arena *arena = run->cycle->arena;
	*out_numbers = NULL;
	struct bt_status status = plan != NULL && plan->pre_score_cached
		? plan->pre_score
		: bt_run_pre_score(run->framework, run->cycle, run->pod, slots, NULL, count);
	bt_cycle_point_ran(run, BT_TIMED_PRE_SCORE, &status);
	bt_cycle_count_unskipped(run, BT_POINT_PRE_SCORE, BT_TIMED_PRE_SCORE, 1);
	if (!bt_status_is_success(&status)) {
		return status;
	}
	bt_cycle_count_unskipped(run, BT_POINT_SCORE, BT_TIMED_SCORE, count);
	if (plan != NULL && !plan->has_plain_scores && run->cycle->without_pods == NULL) {
		if (run->few_nodes) {
			bt_plan_slot_totals(plan, run->engine, run->pod, slots, count, totals);
		} else {
			bt_plan_score_columns(plan, run->engine, run->pod);
			bt_cycle_add_columns(plan, slots, count, true, totals);
		}
		bt_cycle_add_cycle_scores(run, slots, count, totals);
		bt_cycle_point_ran(run, BT_TIMED_SCORE, &BT_STATUS_OK);
	} else {
		struct bt_score_table table;
		status = bt_run_score(run->framework, run->cycle, run->pod, slots, count, &table);
		bt_cycle_point_ran(run, BT_TIMED_SCORE, &status);
		if (!bt_status_is_success(&status)) {
			return status;
		}
		memcpy(totals, table.totals, count * sizeof(*totals));
	}
	if (run->extension.active) {
		const struct bt_extender_candidates *candidates = &run->extension.candidates;
		bool *scored = BT_ARENA_NEW_ARRAY(arena, bool, candidates->count);
		uint64_t *numbers = BT_ARENA_NEW_ARRAY(arena, uint64_t, candidates->count);
		bt_extenders_prioritize(
			&run->engine->extenders, run->pod, arena, candidates, totals, scored);
		for (uint32_t i = 0; i < candidates->count; i++) {
			/*
			 * Draw 63-bit random numbers, as upstream does. Among equal totals, these
			 * numbers decide before the rank does.
			 */
			numbers[i] = scored[i] ? bt_prng_next(&run->engine->prng) >> 1 : 0;
		}
		*out_numbers = numbers;
	}
	return BT_STATUS_OK;
}
