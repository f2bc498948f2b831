/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/explain.h"

#include "api/resource_claim.h"
#include "base/compiler.h"
#include "explain/advice.h"
#include "explain/explain_private.h"

static int answer(BT_UNUSED void *context, BT_UNUSED const struct bt_pod_info *pod,
	BT_UNUSED enum bt_claim_write what, BT_UNUSED const struct bt_object *base,
	const struct bt_resource_claim *claim, BT_UNUSED bool must_end,
	struct bt_object **out_claim, BT_UNUSED struct berth_error *err)
{
	*out_claim = bt_object_create(BT_KIND_RESOURCE_CLAIM, claim);
	return 0;
}

static int remove_claim(BT_UNUSED void *context, BT_UNUSED const struct bt_pod_info *pod,
	BT_UNUSED const struct bt_resource_claim *claim, BT_UNUSED bool must_end,
	BT_UNUSED struct berth_error *err)
{
	return 0;
}

static void unreserve(BT_UNUSED void *context, BT_UNUSED const struct bt_pod_info *pod,
	BT_UNUSED const struct bt_resource_claim *claim, BT_UNUSED struct bt_str uid)
{
}

/**
 * Discards all writes of claims. The missing functions belong to extension points that do not run
 * here, or handle write conflicts, which cannot happen here.
 */
static const struct bt_claim_writer silent = {
	.write = answer,
	.remove = remove_claim,
	.unreserve = unreserve,
};

/** Limit of changes per proposal, because each change costs a trial. */
#define REMEDIES_MAX 12
/** Limit of the reasons of one obstacle, because plugins may return texts of any length. */
#define REASONS_BYTES_MAX 1024

void bt_needs_reset(struct bt_needs *needs)
{
	needs->obstacles.count = 0;
	needs->remedies.count = 0;
	needs->of_pod.count = 0;
	needs->fewest.count = 0;
	needs->distance = 0;
	needs->of_pod_distance = 0;
	needs->is_final = false;
	needs->is_too_small = false;
	needs->of_pod_is_too_small = false;
	needs->fewest_is_too_small = false;
}

void bt_needs_finish(struct bt_needs *needs)
{
	bt_vec_finish(&needs->obstacles);
	bt_vec_finish(&needs->remedies);
	bt_vec_finish(&needs->of_pod);
	bt_vec_finish(&needs->fewest);
}

/**
 * Merges `remedy` into `known` if one change can replace both. Amounts of the same resource are
 * added up, and of two values of the same maxSkew the larger value is kept. Returns false if the
 * remedies cannot be merged.
 */
static bool merge_remedy(struct bt_remedy *known, const struct bt_remedy *remedy)
{
	struct bt_remedy same = *remedy;

	if (known->kind == BT_REMEDY_TOLERATE && remedy->kind == BT_REMEDY_TOLERATE) {
		/*
		 * If the values or the effects of the two tolerations differ, the merged toleration
		 * tolerates any value or any effect ("").
		 */
		if (!bt_str_equal(known->key, remedy->key)) {
			return false;
		}
		if (!bt_str_equal(known->value, remedy->value)) {
			known->value = BT_STR("");
		}
		if (!bt_str_equal(known->effect, remedy->effect)) {
			known->effect = BT_STR("");
		}
		return true;
	}
	same.amount = known->amount;
	if (!bt_remedy_equal(known, &same)) {
		return false;
	}
	if (remedy->kind == BT_REMEDY_FREE_RESOURCE || remedy->kind == BT_REMEDY_LOWER_REQUEST) {
		if (BT_ADD_OVERFLOW(known->amount, remedy->amount, &known->amount)) {
			known->amount = INT64_MAX;
		}
		return true;
	}
	if (remedy->kind == BT_REMEDY_RAISE_MAX_SKEW) {
		known->amount = known->amount > remedy->amount ? known->amount : remedy->amount;
		return true;
	}
	return known->amount == remedy->amount;
}

bool bt_remedies_add(bt_remedy_list *into, const struct bt_remedy *remedy)
{
	for (uint32_t i = 0; i < into->count; i++) {
		if (merge_remedy(&into->items[i], remedy)) {
			return true;
		}
	}
	if (into->count == REMEDIES_MAX) {
		return false;
	}
	bt_vec_push(into, *remedy);
	return true;
}

bool bt_remedies_unite(bt_remedy_list *into, const bt_remedy_list *remedies)
{
	for (uint32_t i = 0; i < remedies->count; i++) {
		if (!bt_remedies_add(into, &remedies->items[i])) {
			return false;
		}
	}
	return true;
}

/** Adds an obstacle: its reasons, hint and remedies. */
static void needs_add(
	struct bt_needs *needs, const struct bt_plugin *plugin, const struct bt_status *status)
{
	struct bt_arena *arena = &needs->run->out->arena;
	struct bt_str name = plugin != NULL ? bt_str_from(plugin->ops->name) : BT_STR("");
	const struct bt_adviser *adviser = bt_adviser_find(name);
	struct bt_obstacle obstacle = {.plugin = bt_arena_str(arena, name)};
	struct bt_advice advice = {
		.engine = needs->run->engine,
		.framework = needs->run->framework,
		.cycle = needs->cycle,
		.pod = needs->pod,
		.node = needs->node,
		.plugin = plugin,
		.status = status,
		.arena = arena,
	};

	if (adviser != NULL && bt_status_is_rejected(status)) {
		adviser->advise(&advice);
	} else {
		advice.is_final = true;
	}
	obstacle.reasons = bt_arena_str(arena,
		bt_str_sub(
			bt_status_message_str(status, needs->cycle->arena), 0, REASONS_BYTES_MAX));
	obstacle.hint = advice.hint.data != NULL ? advice.hint : BT_STR("");
	obstacle.devices = advice.devices;
	bt_vec_push(&needs->obstacles, obstacle);
	const bt_remedy_list *of_node = &advice.remedies;
	bool has_pod_side = advice.pod_remedies.count != 0;
	const bt_remedy_list *of_pod = has_pod_side ? &advice.pod_remedies : of_node;
	bool pod_is_too_small = has_pod_side ? advice.pod_is_too_small : advice.is_too_small;
	bool is_pod_better = of_pod->count < of_node->count ||
		(of_pod->count == of_node->count && advice.is_too_small && !pod_is_too_small);
	needs->is_final = needs->is_final || advice.is_final || of_node->count == 0 ||
		!bt_remedies_unite(&needs->remedies, of_node) ||
		!bt_remedies_unite(&needs->of_pod, of_pod) ||
		!bt_remedies_unite(&needs->fewest, is_pod_better ? of_pod : of_node);
	needs->is_too_small = needs->is_too_small || advice.is_too_small;
	needs->of_pod_is_too_small = needs->of_pod_is_too_small || pod_is_too_small;
	needs->fewest_is_too_small = needs->fewest_is_too_small ||
		(is_pod_better ? pod_is_too_small : advice.is_too_small);
	needs->distance += advice.distance;
	if (!has_pod_side) {
		needs->of_pod_distance += advice.distance;
	} else {
		/*
		 * A change of the pod helps on all nodes, so its own distance counts instead of
		 * the distance of this node.
		 */
		needs->of_pod_distance += advice.pod_distance > 0 ? advice.pod_distance : 0.2;
	}
	bt_vec_finish(&advice.remedies);
	bt_vec_finish(&advice.pod_remedies);
}

static bool add_failed(
	void *context, const struct bt_plugin *plugin, const struct bt_status *status)
{
	needs_add(context, plugin, status);
	return true;
}

void bt_needs_of_slot(struct bt_needs *needs, uint32_t slot)
{
	struct bt_framework *framework = needs->run->framework;
	struct bt_cycle_state *cycle = needs->cycle;
	struct bt_nominated_view view;
	struct bt_node_info node;

	bt_node_info_init(&node, needs->run->engine->state, slot);
	bt_add_nominated_pods(framework, cycle, needs->pod, &node, &view);
	if (view.added) {
		needs->node = &view.node;
		needs->cycle = &view.cycle;
		bt_run_filter_each(
			framework, &view.cycle, needs->pod, &view.node, add_failed, needs);
		needs->cycle = cycle;
	}
	/*
	 * The pod must fit both with and without the nominated pods, because nominated pods may
	 * satisfy the pod's affinity. If the filters accept the node with the nominated pods,
	 * evaluate the node without them.
	 */
	if (needs->obstacles.count == 0) {
		needs->node = &node;
		bt_run_filter_each(framework, cycle, needs->pod, &node, add_failed, needs);
	}
	if (view.added) {
		bt_cycle_state_finish(&view.cycle);
	}
	needs->node = NULL;
}

void bt_needs_of_pre_filter(struct bt_needs *needs, const struct bt_pre_filter_outcome *outcome)
{
	const struct bt_framework *framework = needs->run->framework;

	needs->node = NULL;
	if (!bt_status_is_success(&outcome->status)) {
		needs_add(needs,
			outcome->status.plugin != 0
				? framework->instances.items[outcome->status.plugin - 1]
				: NULL,
			&outcome->status);
		return;
	}
	for (uint32_t i = 0; i < framework->instances.count; i++) {
		if (bt_plugin_set_has(&outcome->plugins_with_nodes, i)) {
			struct bt_status status =
				bt_status_code_only(BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE);

			needs_add(needs, framework->instances.items[i], &status);
		}
	}
}

static int explain(
	struct bt_explain_run *run, const struct bt_pod_info *pod, struct berth_error *err)
{
	struct bt_explanation *out = run->out;
	int result = bt_state_refresh_snapshot(run->engine->state, err);

	if (result < 0) {
		return result;
	}
	out->node_count = run->engine->state->snapshot.count;
	struct bt_cycle_state cycle;
	struct bt_needs needs = {.run = run, .cycle = &cycle, .pod = pod};
	struct bt_arena arena = {0};
	struct bt_plugin *gate = NULL;
	struct bt_status status = bt_run_pre_enqueue(run->framework, pod, &arena, NULL, &gate);

	if (!bt_status_is_success(&status)) {
		bt_cycle_state_init(&cycle, &arena, run->framework->instances.count);
		needs_add(&needs, gate, &status);
		run->entry_is_final = needs.is_final;
		for (uint32_t i = 0; i < needs.remedies.count; i++) {
			bt_arena_push(&out->arena, &out->entry_remedies, needs.remedies.items[i]);
		}
		if (out->fate != BT_EXPLAINED_NOT_HANDLED) {
			out->fate = BT_EXPLAINED_GATED;
			out->message =
				bt_arena_str(&out->arena, bt_status_message_str(&status, &arena));
		}
		bt_cycle_state_finish(&cycle);
	}
	bt_needs_finish(&needs);
	bt_arena_finish(&arena);
	if (out->fate == BT_EXPLAINED_FITS) {
		struct bt_schedule_result scheduled;

		bt_engine_schedule(run->engine, run->framework, pod, NULL, &scheduled);
		switch (scheduled.outcome) {
		case BT_OUTCOME_SCHEDULED:
			break;
		case BT_OUTCOME_FIT_ERROR:
			out->fate = BT_EXPLAINED_UNSCHEDULABLE;
			break;
		case BT_OUTCOME_ERROR:
			out->fate = BT_EXPLAINED_ERROR;
			break;
		case BT_OUTCOME_NO_NODES:
			out->fate = BT_EXPLAINED_NO_NODES;
			break;
		}
		if (out->fate != BT_EXPLAINED_FITS) {
			out->message = bt_arena_str(&out->arena,
				bt_status_message_str(&scheduled.status, scheduled.cycle->arena));
		}
		if (out->fate == BT_EXPLAINED_UNSCHEDULABLE && run->options->preemption) {
			bt_explain_preemption(run, pod, &scheduled);
		}
	}
	if (result == 0 && out->node_count != 0) {
		result = bt_explain_nodes(run, pod, err);
	}
	if (result == 0 && run->options->proposals_max != 0 && out->node_count != 0 &&
		!run->entry_is_final && out->fate != BT_EXPLAINED_FITS &&
		out->fate != BT_EXPLAINED_ERROR) {
		result = bt_explain_propose(run, err);
	}
	return result;
}

int bt_explain(struct bt_engine *engine, const struct bt_pod *pod,
	const struct bt_explain_options *options, struct bt_explanation *out,
	struct berth_error *err)
{
	struct bt_explain_run run = {.engine = engine, .pod = pod, .options = options, .out = out};
	uint32_t profile_count = engine->profiles.frameworks.count;
	struct bt_pod_info info;

	*out = (struct bt_explanation){0};
	/* State of the engine that outlives a decision: restored below. */
	struct bt_prng prng = engine->prng;
	uint32_t next_start_node_index = engine->next_start_node_index;
	const struct bt_claim_writer **writers =
		BT_NEW_ARRAY(const struct bt_claim_writer *, profile_count);

	for (uint32_t i = 0; i < profile_count; i++) {
		writers[i] = engine->profiles.frameworks.items[i]->handle.claim_writer;
		engine->profiles.frameworks.items[i]->handle.claim_writer = &silent;
	}
	run.framework = bt_engine_profile(engine, pod->spec.scheduler_name);
	if (run.framework == NULL) {
		/* Use the first profile, and propose to set its schedulerName. */
		struct bt_strbuf text = {0};

		run.framework = engine->profiles.frameworks.items[0];
		out->fate = BT_EXPLAINED_NOT_HANDLED;
		bt_strbuf_append_c(&text, "profile not found for scheduler name ");
		bt_strbuf_append_quoted(&text, pod->spec.scheduler_name);
		out->message = bt_arena_take_strbuf(&out->arena, &text);
		const struct bt_remedy set_name = {.kind = BT_REMEDY_SET_SCHEDULER_NAME,
			.value = bt_arena_str(&out->arena, run.framework->scheduler_name)};
		bt_arena_push(&out->arena, &out->entry_remedies, set_name);
	}
	out->profile = bt_arena_str(&out->arena, run.framework->scheduler_name);
	bt_pod_info_init_pending(engine->state, pod, &info);
	int result = explain(&run, &info, err);
	bt_pod_info_finish_pending(engine->state, &info);
	engine->prng = prng;
	engine->next_start_node_index = next_start_node_index;
	for (uint32_t i = 0; i < profile_count; i++) {
		engine->profiles.frameworks.items[i]->handle.claim_writer = writers[i];
	}
	bt_free(writers);
	return result;
}

void bt_explanation_finish(struct bt_explanation *explanation)
{
	if (explanation != NULL) {
		bt_arena_finish(&explanation->arena);
		*explanation = (struct bt_explanation){0};
	}
}
