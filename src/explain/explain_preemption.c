/* SPDX-License-Identifier: Apache-2.0 */
/** What PostFilter made of the pod: candidates, victims, and why other nodes are none. Spec: 08. */
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

/* --- candidates --- */

static struct bt_explained_victim explain_victim(struct preemption_view *view, uint32_t pod_id)
{
	struct bt_arena *arena = &view->run->out->arena;
	struct bt_pod_info pod;

	bt_pod_info_from_record(view->run->engine->state, pod_id, &pod);
	return (struct bt_explained_victim){
		.namespace_ = bt_arena_str(arena, pod.namespace_),
		.name = bt_arena_str(arena, pod.name),
		.priority = pod.priority,
	};
}

static void explain_candidate(struct preemption_view *view,
	const struct bt_preemption_candidate *candidate, struct bt_explained_candidate *out)
{
	struct bt_arena *arena = &view->run->out->arena;

	out->node = bt_arena_str(
		arena, bt_node_table_name(&view->run->engine->state->nodes, candidate->slot));
	out->pdb_violations = candidate->pdb_violations;
	out->victims.count = candidate->victim_count;
	out->victims.items =
		BT_ARENA_NEW_ARRAY(arena, struct bt_explained_victim, candidate->victim_count);
	for (uint32_t i = 0; i < candidate->victim_count; i++) {
		out->victims.items[i] = explain_victim(view, candidate->victims[i]);
	}
}

/** The chosen one, then what harms least. */
static int compare_candidates(const void *a, const void *b)
{
	const struct bt_explained_candidate *x = a;
	const struct bt_explained_candidate *y = b;

	if (x->selected != y->selected) {
		return x->selected ? -1 : 1;
	}
	if (x->pdb_violations != y->pdb_violations) {
		return x->pdb_violations < y->pdb_violations ? -1 : 1;
	}
	if (x->victims.count != y->victims.count) {
		return x->victims.count < y->victims.count ? -1 : 1;
	}
	return bt_str_compare(x->node, y->node);
}

static void explain_candidates(struct preemption_view *view)
{
	struct bt_explained_preemption *out = &view->run->out->preemption;
	uint32_t count = view->decision->candidate_count;

	if (count == 0) {
		return;
	}
	out->candidates.items =
		BT_ARENA_NEW_ARRAY(&view->run->out->arena, struct bt_explained_candidate, count);
	out->candidates.count = count;
	for (uint32_t i = 0; i < count; i++) {
		explain_candidate(view, &view->decision->candidates[i], &out->candidates.items[i]);
		out->candidates.items[i].selected = i == view->decision->selected;
	}
	qsort(out->candidates.items, count, sizeof(out->candidates.items[0]), compare_candidates);
}

/* --- refusals --- */

static void refuse(struct preemption_view *view, struct bt_str reason, uint32_t node_count)
{
	struct bt_explained_refusal refusal = {.node_count = node_count};

	if (node_count == 0) {
		return;
	}
	for (uint32_t i = 0; i < view->refusals.count; i++) {
		if (bt_str_equal(view->refusals.items[i].reason, reason)) {
			view->refusals.items[i].node_count += node_count;
			return;
		}
	}
	refusal.reason = bt_arena_str(&view->run->out->arena, reason);
	bt_vec_push(&view->refusals, refusal);
}

static void refuse_by_status(
	struct preemption_view *view, const struct bt_status *status, uint32_t node_count)
{
	struct bt_strbuf text = {0};

	bt_status_message(status, &text);
	refuse(view, bt_strbuf_str(&text), node_count);
	bt_strbuf_finish(&text);
}

/** Nodes that were tried and did not become candidates. */
static uint32_t explain_dry_runs(struct preemption_view *view)
{
	const struct bt_node_statuses *statuses = &view->evaluator->statuses;
	uint32_t count = 0;

	for (uint32_t i = 0; i < statuses->entries.count; i++) {
		refuse_by_status(view, &statuses->entries.items[i].status, 1);
		count++;
	}
	for (uint32_t i = 0; statuses->groups != NULL && i < statuses->groups->count; i++) {
		refuse_by_status(view, &statuses->groups->statuses[i], statuses->groups->sizes[i]);
		count += statuses->groups->sizes[i];
	}
	return count;
}

/** Most nodes first, then by text. */
static int compare_refusals(const void *a, const void *b)
{
	const struct bt_explained_refusal *x = a;
	const struct bt_explained_refusal *y = b;

	if (x->node_count != y->node_count) {
		return x->node_count > y->node_count ? -1 : 1;
	}
	return bt_str_compare(x->reason, y->reason);
}

static void keep_refusals(struct preemption_view *view)
{
	struct bt_explained_preemption *out = &view->run->out->preemption;
	uint32_t count = view->refusals.count;

	if (count != 0) {
		struct bt_explained_refusal *items = BT_ARENA_NEW_ARRAY(
			&view->run->out->arena, struct bt_explained_refusal, count);

		memcpy(items, view->refusals.items, count * sizeof(*items));
		qsort(items, count, sizeof(*items), compare_refusals);
		out->refusals.items = items;
		out->refusals.count = count;
	}
	bt_vec_finish(&view->refusals);
}

/** The plugin is one of the profile's PostFilters, not only one that holds preemptors back. */
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

int bt_explain_preemption(struct bt_explain_run *run, const struct bt_pod_info *pod,
	const struct bt_schedule_result *result, BT_UNUSED struct berth_error *err)
{
	struct bt_explained_preemption *out = &run->out->preemption;
	struct preemption_view view = {
		.run = run,
		.result = result,
		.evaluator = bt_default_preemption_evaluator(run->framework),
		.decision = bt_default_preemption_decision(run->framework, result->cycle),
	};
	struct bt_status eligible;

	*out = (struct bt_explained_preemption){0};
	if (!preempts(run->framework)) {
		return 0;
	}
	out->ran = true;
	out->message = bt_arena_str(&run->out->arena, result->diagnosis.post_filter_message);
	if (result->nomination.present && result->nomination.mode == BT_NOMINATING_OVERRIDE) {
		out->node = bt_arena_str(&run->out->arena, result->nomination.nominated_node_name);
	}
	eligible =
		bt_pod_eligible_to_preempt_others(view.evaluator, pod, &result->diagnosis.statuses);
	if (view.decision == NULL) {
		refuse(&view, out->message, run->engine->state->snapshot.count);
	} else if (!bt_status_is_success(&eligible)) {
		refuse_by_status(&view, &eligible, run->engine->state->snapshot.count);
	} else {
		explain_candidates(&view);
		const struct bt_state *state = view.run->engine->state;
		const struct bt_node_statuses *statuses = &view.result->diagnosis.statuses;
		uint32_t potential =
			bt_node_statuses_count_for_code(statuses, BT_STATUS_UNSCHEDULABLE, state);
		uint32_t tried = view.decision->candidate_count;

		if (potential != 0) {
			/* Without any, nothing was tried, and the statuses are older. */
			tried += explain_dry_runs(&view);
		}
		if (potential > tried) {
			refuse(&view, BT_STR("not tried: there are candidates enough"),
				potential - tried);
		}
		refuse(&view, bt_reason_texts[BT_REASON_PREEMPTION_NOT_HELPFUL],
			state->snapshot.count - potential);
	}
	keep_refusals(&view);
	return 0;
}
