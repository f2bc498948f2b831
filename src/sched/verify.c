/* SPDX-License-Identifier: Apache-2.0 */
/**
 * BERTH_VERIFY=1: every decision is made a second time by the plain runners, node by node, from a
 * fresh cycle state. A difference is a bug in berth, so the process aborts and prints both results.
 */
#include "base/alloc.h"
#include "base/assert.h"
#include "framework/node_statuses.h"
#include "sched/cycle.h"
#include "sched/select_host.h"

/** The recomputed cycle. */
struct verify_twin {
	struct bt_engine *engine;
	struct bt_framework *framework;
	const struct bt_pod_info *pod;
	const struct bt_prng *prng; /* the engine's prng before the decision */
	struct bt_arena *arena;
	struct bt_cycle_state cycle;
	struct bt_pre_filter_outcome pre_filter;
	uint32_t *slots;            /* examined nodes in search order */
	struct bt_status *statuses; /* of these nodes */
	uint32_t examined;
	uint32_t *feasible; /* feasible nodes in search order */
	uint32_t feasible_count;
	int64_t *totals;
	struct bt_status error;
};

static void end_with_difference(const struct verify_twin *twin, const char *what, uint32_t slot,
	struct bt_str expected, struct bt_str got)
{
	struct bt_str node = slot == BT_SLOT_NONE
		? BT_STR("-")
		: bt_node_table_name(&twin->engine->state->nodes, slot);
	bt_panic("verify: pod %.*s/%.*s, node %.*s: %s: plain form says \"%.*s\", columns say "
		 "\"%.*s\"",
		BT_STR_ARG(twin->pod->namespace_), BT_STR_ARG(twin->pod->name), BT_STR_ARG(node),
		what, BT_STR_ARG(expected), BT_STR_ARG(got));
}

static void check_number(const struct verify_twin *twin, const char *what, uint32_t slot,
	int64_t expected, int64_t got)
{
	if (expected != got) {
		end_with_difference(twin, what, slot,
			bt_arena_printf(twin->arena, "%lld", (long long)expected),
			bt_arena_printf(twin->arena, "%lld", (long long)got));
	}
}

static struct bt_str status_text(const struct verify_twin *twin, const struct bt_status *status)
{
	struct bt_str message = bt_status_message_str(status, twin->arena);
	struct bt_str plugin = status->plugin == 0
		? BT_STR("")
		: bt_framework_plugin_name(twin->framework, status->plugin - 1U);
	return bt_arena_printf(twin->arena, "%s %.*s [%.*s]", bt_status_code_name(status->code),
		BT_STR_ARG(plugin), BT_STR_ARG(message));
}

static void check_status(const struct verify_twin *twin, const char *what, uint32_t slot,
	const struct bt_status *expected, const struct bt_status *got)
{
	struct bt_str expected_text = status_text(twin, expected);
	struct bt_str got_text = status_text(twin, got);
	if (!bt_str_equal(expected_text, got_text)) {
		end_with_difference(twin, what, slot, expected_text, got_text);
	}
}

static void check_totals(struct verify_twin *twin, const struct bt_plan *plan)
{
	uint32_t count = twin->feasible_count;
	int64_t *totals = BT_ARENA_NEW_ARRAY(twin->arena, int64_t, count);
	bt_cycle_add_columns(plan, twin->feasible, count, true, totals);
	for (uint32_t i = 0; i < count; i++) {
		check_number(twin, "total score", twin->feasible[i], twin->totals[i], totals[i]);
	}
}

static bool columns_are_complete(const struct bt_engine *engine, const struct bt_plan *plan)
{
	return plan != NULL && !plan->has_plain_filters && !plan->has_cycle_filters &&
		engine->nominator.nominations.map.count == 0;
}

static void check_scheduled(struct verify_twin *twin, const struct bt_plan *plan,
	const struct bt_schedule_result *result)
{
	if (!bt_status_is_success(&twin->error)) {
		check_status(twin, "filter", BT_SLOT_NONE, &twin->error, &BT_STATUS_OK);
	}
	check_number(
		twin, "feasible nodes", BT_SLOT_NONE, twin->feasible_count, result->feasible_count);
	if (twin->feasible_count == 1) {
		check_number(
			twin, "only feasible node", result->slot, twin->feasible[0], result->slot);
		return;
	}
	struct bt_score_table table = {0};
	struct bt_status status = bt_run_pre_score(twin->framework, &twin->cycle, twin->pod,
		twin->feasible, NULL, twin->feasible_count);
	if (bt_status_is_success(&status)) {
		status = bt_run_score(twin->framework, &twin->cycle, twin->pod, twin->feasible,
			twin->feasible_count, &table);
	}
	twin->error = status;
	twin->totals = table.totals;
	if (!bt_status_is_success(&twin->error)) {
		check_status(twin, "score", BT_SLOT_NONE, &twin->error, &BT_STATUS_OK);
	}
	int64_t best = twin->totals[0];
	int64_t chosen = -1;
	bool found = false;
	for (uint32_t i = 0; i < twin->feasible_count; i++) {
		best = twin->totals[i] > best ? twin->totals[i] : best;
		if (twin->feasible[i] == result->slot) {
			chosen = twin->totals[i];
			found = true;
		}
	}
	if (!found) {
		end_with_difference(twin, "chosen node", result->slot, BT_STR("not feasible"),
			BT_STR("chosen"));
	}
	check_number(twin, "total of the chosen node", result->slot, chosen, result->total_score);
	check_number(twin, "best total", result->slot, best, chosen);
	/* Repeat the draw of the random tie policy. */
	struct bt_prng prng = twin->engine->prng;
	twin->engine->prng = *twin->prng;
	uint32_t expected = bt_select_host(
		twin->engine, twin->feasible, twin->totals, NULL, twin->feasible_count);
	twin->engine->prng = prng;
	if (twin->feasible[expected] != result->slot) {
		end_with_difference(twin, "choice among the best", result->slot,
			bt_node_table_name(&twin->engine->state->nodes, twin->feasible[expected]),
			bt_node_table_name(&twin->engine->state->nodes, result->slot));
	}
	if (columns_are_complete(twin->engine, plan) && plan->scored && !plan->has_plain_scores &&
		plan->cycle_score_count == 0 && twin->feasible_count == plan->feasible_count) {
		check_totals(twin, plan);
	}
}

static void check_unschedulable(struct verify_twin *twin, const struct bt_schedule_result *result)
{
	if (!bt_status_is_success(&twin->pre_filter.status)) {
		check_status(twin, "pre-filter", BT_SLOT_NONE, &twin->pre_filter.status,
			&result->diagnosis.statuses.absent);
		return;
	}
	check_number(twin, "feasible nodes", BT_SLOT_NONE, twin->feasible_count, 0);
	const struct bt_node_statuses *statuses = &result->diagnosis.statuses;
	check_number(twin, "rejected nodes", BT_SLOT_NONE, twin->examined,
		bt_node_statuses_count(statuses));
	for (uint32_t i = 0; i < twin->examined; i++) {
		struct bt_node_status_entry got =
			bt_node_statuses_at(statuses, twin->engine->state, i);
		check_number(twin, "order of statuses", twin->slots[i], twin->slots[i], got.slot);
		check_status(
			twin, "filter status", twin->slots[i], &twin->statuses[i], &got.status);
	}
}

void bt_verify_decision(struct bt_engine *engine, struct bt_framework *framework,
	const struct bt_pod_info *pod, struct bt_plan *plan,
	const struct bt_schedule_result *result, uint32_t start_index, const struct bt_prng *prng)
{
	struct verify_twin twin = {.engine = engine,
		.framework = framework,
		.pod = pod,
		.prng = prng,
		.arena = &engine->verify_arena};
	bool tried_alone = pod->nominated_node_name.length != 0 || result->hinted;
	/* Metrics are off during the recomputation. */
	struct bt_profile_metrics *metrics = framework->metrics;
	framework->metrics = NULL;
	if (plan != NULL &&
		(plan->verdict == NULL || plan->log_sequence != engine->state->log.sequence)) {
		/*
		 * A search of few nodes does not refresh the columns. A refresh here would leave
		 * columns that exist only because of the verification.
		 */
		plan = NULL;
	}
	bt_arena_reset(twin.arena);
	bt_cycle_state_init(&twin.cycle, twin.arena, framework->instances.count);
	twin.cycle.plain = true;
	twin.cycle.group = result->cycle->group;
	twin.pre_filter = bt_run_pre_filter(framework, &twin.cycle, pod);
	if (bt_status_is_success(&twin.pre_filter.status)) {
		const uint32_t *slots;
		uint32_t count;
		bt_search_candidates(
			twin.engine, &twin.pre_filter.result, twin.arena, &slots, &count);
		uint32_t limit = bt_search_limit(twin.engine, twin.framework, count);
		twin.slots = BT_ARENA_NEW_ARRAY(twin.arena, uint32_t, count);
		twin.statuses = BT_ARENA_NEW_ARRAY(twin.arena, struct bt_status, count);
		twin.feasible = BT_ARENA_NEW_ARRAY(twin.arena, uint32_t, count);
		for (uint32_t i = 0; i < count; i++) {
			uint32_t slot = slots[(start_index + i) % count];
			struct bt_node_info node;
			bt_node_info_init(&node, twin.engine->state, slot);
			struct bt_status status = bt_run_filter_with_nominated_pods(
				twin.framework, &twin.cycle, twin.pod, &node);
			if (bt_status_is_success(&status)) {
				if (twin.feasible_count == limit) {
					break;
				}
				twin.feasible[twin.feasible_count++] = slot;
			} else if (!bt_status_is_rejected(&status)) {
				twin.error = status;
				break;
			}
			twin.slots[twin.examined] = slot;
			twin.statuses[twin.examined++] = status;
		}
	}
	/*
	 * The recomputation searches the list and cannot call extenders again, so decisions by a
	 * nominated node, a hint or extenders are not compared.
	 */
	bool own_decision = !tried_alone && !result->extended;
	switch (result->outcome) {
	case BT_OUTCOME_SCHEDULED:
		if (own_decision) {
			check_scheduled(&twin, plan, result);
		}
		break;
	case BT_OUTCOME_FIT_ERROR:
		if (own_decision) {
			check_unschedulable(&twin, result);
		}
		break;
	case BT_OUTCOME_ERROR:
	case BT_OUTCOME_NO_NODES:
		break;
	}
	if (columns_are_complete(engine, plan) && bt_status_is_success(&twin.pre_filter.status)) {
		for (uint32_t i = 0; i < twin.examined; i++) {
			uint32_t slot = twin.slots[i];
			struct bt_status got = BT_STATUS_OK;
			if (plan->verdict[slot] == BT_VERDICT_OUTSIDE) {
				got = bt_status_text(BT_STATUS_ERROR, twin.arena,
					BT_STR("slot outside the snapshot"));
			} else if (plan->verdict[slot] != 0) {
				got = bt_plan_verdict_status(plan, &twin.cycle, twin.pod,
					plan->verdict[slot], twin.arena);
			}
			check_status(&twin, "filter verdict", slot, &twin.statuses[i], &got);
		}
	}
	bt_cycle_state_finish(&twin.cycle);
	framework->metrics = metrics;
}

void bt_verify_evaluation(struct bt_engine *engine, struct bt_framework *framework,
	const struct bt_pod_info *pod, const struct bt_evaluation *evaluation)
{
	if (evaluation->node_count == 0) {
		return; /* without slots there are no columns */
	}
	struct bt_plan *plan = bt_plan_get(engine, framework, pod);
	if (!columns_are_complete(engine, plan) ||
		!bt_status_is_success(&evaluation->pre_filter.status)) {
		return;
	}
	bt_plan_refresh(plan, engine, pod);
	struct verify_twin twin = {.engine = engine,
		.framework = framework,
		.pod = pod,
		.arena = &engine->verify_arena};
	bt_arena_reset(twin.arena);
	for (uint32_t i = 0; i < evaluation->node_count; i++) {
		uint32_t slot = evaluation->nodes[i].slot;
		struct bt_status got = plan->verdict[slot] == 0
			? BT_STATUS_OK
			: bt_plan_verdict_status(
				  plan, evaluation->cycle, pod, plan->verdict[slot], twin.arena);
		check_status(&twin, "filter verdict", slot, &evaluation->nodes[i].filter, &got);
	}
	bool scored = evaluation->pre_score_ran && bt_status_is_success(&evaluation->pre_score) &&
		bt_status_is_success(&evaluation->score_status);
	if (!scored || plan->has_plain_scores || plan->cycle_score_count != 0 ||
		!plan->pre_score_cached || evaluation->feasible_count != plan->feasible_count) {
		return;
	}
	bt_plan_score_columns(plan, engine, pod);
	twin.feasible = evaluation->feasible;
	twin.feasible_count = evaluation->feasible_count;
	twin.totals = evaluation->scores.totals;
	check_totals(&twin, plan);
}
