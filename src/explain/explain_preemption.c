/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The outcome of PostFilter: candidates, victims, and why other nodes are no candidates. Spec: 08.
 */
#include <stdlib.h>

#include "explain/explain_private.h"
#include "framework/node_statuses.h"
#include "plugins/default_preemption.h"

struct preemption_view {
	struct bt_explain_run *run;
	const struct bt_schedule_result *result;
	const struct bt_evaluator *evaluator;
	const struct bt_preemption_decision *decision;
	BT_VEC(struct bt_explained_refusal) refusals;
};

/**
 * Orders candidates: the selected candidate first, then by PDB violations, number of victims and
 * name.
 */
BT_COMPARE(compare_candidates, struct bt_explained_candidate,
	BT_ORDER_BY(BT_ORDER(b->selected, a->selected),
		BT_ORDER(a->pdb_violations, b->pdb_violations),
		BT_ORDER(a->victims.count, b->victims.count), bt_str_compare(a->node, b->node)))

static void add_refusal(struct preemption_view *view, struct bt_str reason, uint32_t node_count)
{
	struct bt_explained_refusal refusal = {.node_count = node_count};

	if (node_count == 0) {
		return;
	}
	struct bt_explained_refusal *known = BT_STR_FIND(&view->refusals, reason, reason);
	if (known != NULL) {
		known->node_count += node_count;
		return;
	}
	refusal.reason = bt_arena_str(&view->run->out->arena, reason);
	bt_vec_push(&view->refusals, refusal);
}

static void refuse_by_status(
	struct preemption_view *view, const struct bt_status *status, uint32_t node_count)
{
	struct bt_strbuf text = {0};

	bt_status_message(status, &text);
	add_refusal(view, bt_strbuf_str(&text), node_count);
	bt_strbuf_finish(&text);
}

/** Orders refusals by descending number of nodes, then by text. */
BT_COMPARE(compare_refusals, struct bt_explained_refusal,
	BT_ORDER_BY(BT_ORDER(b->node_count, a->node_count), bt_str_compare(a->reason, b->reason)))

/**
 * Whether the profile runs DefaultPreemption at PostFilter. If the plugin is enabled only at
 * PreEnqueue, the profile does not preempt.
 */
static bool preempts(const struct bt_framework *framework)
{
	const struct bt_framework_point *point = &framework->points[BT_POINT_POST_FILTER];

	for (uint32_t i = 0; i < point->entries.count; i++) {
		if (strcmp(point->entries.items[i].plugin->ops->name, "DefaultPreemption") == 0) {
			return bt_default_preemption_evaluator(framework) != NULL;
		}
	}
	return false;
}

static void list_candidates(struct preemption_view *view)
{
	const struct bt_preemption_decision *decision = view->decision;
	const struct bt_state *state = view->run->engine->state;
	struct bt_arena *arena = &view->run->out->arena;
	uint32_t count = decision->candidate_count;
	struct bt_explained_candidate *items =
		BT_ARENA_NEW_ARRAY(arena, struct bt_explained_candidate, count);

	for (uint32_t n = 0; n < count; n++) {
		const struct bt_preemption_candidate *candidate = &decision->candidates[n];
		struct bt_explained_candidate *shown = &items[n];

		shown->node =
			bt_arena_str(arena, bt_node_table_name(&state->nodes, candidate->slot));
		shown->pdb_violations = candidate->pdb_violations;
		shown->selected = n == decision->selected;
		shown->victims.count = candidate->victim_count;
		shown->victims.items = BT_ARENA_NEW_ARRAY(
			arena, struct bt_explained_victim, candidate->victim_count);
		for (uint32_t k = 0; k < candidate->victim_count; k++) {
			struct bt_pod_info victim;

			bt_pod_info_from_record(state, candidate->victims[k], &victim);
			shown->victims.items[k] = (struct bt_explained_victim){
				.namespace_ = bt_arena_str(arena, victim.namespace_),
				.name = bt_arena_str(arena, victim.name),
				.priority = victim.priority,
			};
		}
	}
	qsort(items, count, sizeof(*items), compare_candidates);
	view->run->out->preemption.candidates.items = items;
	view->run->out->preemption.candidates.count = count;
}

void bt_explain_preemption(struct bt_explain_run *run, const struct bt_pod_info *pod,
	const struct bt_schedule_result *result)
{
	struct bt_arena *arena = &run->out->arena;
	struct bt_explained_preemption *out = &run->out->preemption;
	struct preemption_view view = {
		.run = run,
		.result = result,
		.evaluator = bt_default_preemption_evaluator(run->framework),
		.decision = bt_default_preemption_decision(run->framework, result->cycle),
	};

	*out = (struct bt_explained_preemption){0};
	if (!preempts(run->framework)) {
		return;
	}
	out->ran = true;
	out->message = bt_arena_str(arena, result->diagnosis.post_filter_message);
	if (result->nomination.present && result->nomination.mode == BT_NOMINATING_OVERRIDE) {
		out->node = bt_arena_str(arena, result->nomination.nominated_node_name);
	}
	struct bt_status eligible =
		bt_pod_eligible_to_preempt_others(view.evaluator, pod, &result->diagnosis.statuses);
	if (view.decision == NULL) {
		add_refusal(&view, out->message, run->engine->state->snapshot.count);
	} else if (!bt_status_is_success(&eligible)) {
		refuse_by_status(&view, &eligible, run->engine->state->snapshot.count);
	} else {
		if (view.decision->candidate_count != 0) {
			list_candidates(&view);
		}
		const struct bt_state *state = view.run->engine->state;
		const struct bt_node_statuses *dry_run = &view.evaluator->statuses;
		uint32_t potential = bt_node_statuses_count_for_code(
			&view.result->diagnosis.statuses, BT_STATUS_UNSCHEDULABLE, state);
		uint32_t tried = view.decision->candidate_count;

		/*
		 * Without potential nodes no dry run took place, and the evaluator still has the
		 * statuses of an earlier dry run.
		 */
		if (potential != 0) {
			for (uint32_t i = 0; i < dry_run->entries.count; i++) {
				refuse_by_status(&view, &dry_run->entries.items[i].status, 1);
				tried++;
			}
			for (uint32_t i = 0; dry_run->groups != NULL && i < dry_run->groups->count;
				i++) {
				refuse_by_status(&view, &dry_run->groups->statuses[i],
					dry_run->groups->sizes[i]);
				tried += dry_run->groups->sizes[i];
			}
		}
		if (potential > tried) {
			add_refusal(&view, BT_STR("not tried: enough candidates were found"),
				potential - tried);
		}
		add_refusal(&view, bt_reason_texts[BT_REASON_PREEMPTION_NOT_HELPFUL],
			state->snapshot.count - potential);
	}
	uint32_t count = view.refusals.count;
	if (count != 0) {
		out->refusals.items = BT_ARENA_NEW_ARRAY(arena, struct bt_explained_refusal, count);
		out->refusals.count = count;
		memcpy(out->refusals.items, view.refusals.items,
			count * sizeof(*view.refusals.items));
		qsort(out->refusals.items, count, sizeof(*out->refusals.items), compare_refusals);
	}
	bt_vec_finish(&view.refusals);
}
