/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/engine.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/log.h"
#include "plugins/registry.h"
#include "sched/cycle.h"
#include "sched/plan.h"

#define CYCLE_ARENA_BYTES ((size_t)64 * 1024)
/**
 * Initial size of the engine's next arena after a held cycle took the arena. Small, because each
 * held cycle keeps an arena: with 64 KiB, 16 concurrent bindings used half a megabyte more
 * (measured).
 */
#define HELD_CYCLE_ARENA_BYTES ((size_t)8 * 1024)

struct bt_state_options bt_engine_state_options(const struct bt_gates *gates)
{
	return (struct bt_state_options){
		.resource_gates =
			{
				.pod_level_resources =
					bt_gate_enabled(gates, BT_GATE_POD_LEVEL_RESOURCES),
				.in_place_pod_level_resources = bt_gate_enabled(gates,
					BT_GATE_IN_PLACE_POD_LEVEL_RESOURCES_VERTICAL_SCALING),
				.dra_node_allocatable_resources = bt_gate_enabled(
					gates, BT_GATE_DRA_NODE_ALLOCATABLE_RESOURCES),
			},
		.declared_features = bt_gate_enabled(gates, BT_GATE_NODE_DECLARED_FEATURES),
		.pod_groups = bt_gate_enabled(gates, BT_GATE_GENERIC_WORKLOAD),
	};
}

/** Create all series of plugin_evaluation_total with the value 0: spec 11 section 10.2. */
static void create_evaluation_series(const struct bt_framework *framework)
{
	static const struct {
		enum bt_extension_point list;
		enum bt_timed_point label;
	} points[] = {
		{BT_POINT_PRE_FILTER, BT_TIMED_PRE_FILTER},
		{BT_POINT_FILTER, BT_TIMED_FILTER},
		{BT_POINT_PRE_SCORE, BT_TIMED_PRE_SCORE},
		{BT_POINT_SCORE, BT_TIMED_SCORE},
	};
	for (size_t p = 0; p < BT_ARRAY_LENGTH(points); p++) {
		const struct bt_framework_point *point = &framework->points[points[p].list];
		for (uint32_t i = 0; i < point->entries.count; i++) {
			bt_profile_evaluated(framework->metrics, point->entries.items[i].plugin,
				points[p].label, 0);
		}
	}
	bool is_sign_asked = framework->signatures_enabled || framework->sign_refusal_count != 0;
	for (uint32_t i = 0; is_sign_asked && i < framework->sign_plugin_count; i++) {
		bt_profile_evaluated(
			framework->metrics, framework->sign_plugins[i], BT_TIMED_SIGN, 0);
	}
}

int bt_engine_create(struct bt_config *config, const struct bt_engine_options *options,
	struct bt_engine **out_engine, struct berth_error *err)
{
	struct bt_engine *engine = BT_NEW(struct bt_engine);
	engine->config = bt_config_ref(config);
	engine->options = *options;
	bt_prng_init(&engine->prng, options->seed);
	bt_arena_init(&engine->arena, CYCLE_ARENA_BYTES);
	bt_arena_init(&engine->verify_arena, 0);
	struct bt_state_options settings = bt_engine_state_options(&config->gates);
	engine->state = bt_state_create(&settings);
	bt_nominator_init(&engine->nominator, engine->state);
	engine->plans = bt_plan_cache_create(options->plan_bytes_max);
	int result = bt_register_in_tree_plugins(&engine->registry, err);
	if (result == 0) {
		result = bt_extenders_create(engine->config, engine->options.extenders,
			engine->state, &engine->extenders, err);
	}
	if (result == 0 && engine->options.extra_plugins != NULL) {
		result = bt_registry_merge(&engine->registry, engine->options.extra_plugins, err);
	}
	if (result == 0) {
		result = bt_profiles_create(&engine->registry, engine->config, engine->state,
			&engine->nominator, &engine->profiles, err);
	}
	for (uint32_t j = 0; result == 0 && j < engine->profiles.frameworks.count; j++) {
		struct bt_framework *framework = engine->profiles.frameworks.items[j];
		struct bt_handle *handle = &framework->handle;
		if (engine->options.metrics != NULL) {
			framework->metrics = bt_scheduler_metrics_profile(
				engine->options.metrics, handle->scheduler_name);
			create_evaluation_series(framework);
		}
		handle->prng = &engine->prng;
		handle->verify = engine->options.verify;
		handle->takes_first_by_name = engine->options.tie_policy == BT_TIE_FIRST_BY_NAME;
		handle->max_pd_volumes = engine->options.max_pd_volumes;
		handle->preemption_extenders = engine->extenders.preemption;
		handle->preemption_extender_count = engine->extenders.count;
	}
	engine->options.extra_plugins = NULL;
	engine->options.extenders = NULL;
	if (result == 0 && bt_gate_enabled(&config->gates, BT_GATE_OPPORTUNISTIC_BATCHING)) {
		uint32_t count = engine->profiles.frameworks.count;
		engine->batches = BT_NEW_ARRAY(struct bt_batch, count);
		for (uint32_t i = 0; i < count; i++) {
			engine->batches[i] = (struct bt_batch){
				.symbols = &engine->state->symbols, .last_node = BT_SYM_NONE};
		}
	}
	if (options->extender_observer != NULL) {
		engine->extenders.observer = *options->extender_observer;
		engine->options.extender_observer = NULL;
	}
	if (result < 0) {
		bt_engine_destroy(engine);
		return result;
	}
	*out_engine = engine;
	return 0;
}

void bt_engine_destroy(struct bt_engine *engine)
{
	if (engine == NULL) {
		return;
	}
	if (engine->cycle_open) {
		bt_cycle_state_finish(&engine->cycle);
	}
	bt_vec_finish(&engine->statuses.entries);
	bt_plan_cache_destroy(engine->plans);
	for (uint32_t i = 0; engine->batches != NULL && i < engine->profiles.frameworks.count;
		i++) {
		bt_batch_finish(&engine->batches[i]);
	}
	bt_free(engine->batches);
	bt_profiles_finish(&engine->profiles);
	bt_extenders_finish(&engine->extenders);
	bt_nominator_finish(&engine->nominator);
	bt_state_destroy(engine->state);
	bt_vec_finish(&engine->registry.entries);
	bt_arena_finish(&engine->arena);
	bt_arena_finish(&engine->verify_arena);
	bt_config_unref(engine->config);
	bt_free(engine);
}

struct bt_framework *bt_engine_profile(const struct bt_engine *engine, struct bt_str scheduler_name)
{
	return bt_profiles_find(&engine->profiles, scheduler_name);
}

/** --- after the choice of a node: spec 03 sections 4 and 6 --- */

/** Run Unreserve and forget the assumed pod: spec 03 section 4.1. */
static void unreserve_and_forget(
	struct bt_engine *engine, const struct bt_pod_info *pod, struct bt_schedule_result *result)
{
	struct berth_error err = BERTH_ERROR_INIT;
	bt_run_unreserve(result->framework, result->cycle, pod, result->slot);
	struct bt_pod assumed = *pod->object;
	assumed.spec.node_name = bt_node_table_name(&engine->state->nodes, result->slot);
	if (bt_state_forget_pod(engine->state, &assumed, &err) < 0) {
		/*
		 * The watch has confirmed the pod meanwhile. The attempt is still reported with the
		 * status that made it fail.
		 */
		result->forget_error =
			bt_arena_str(result->cycle->arena, bt_str_from(berth_error_message(&err)));
		berth_error_finish(&err);
	}
}

static void fail_undone(
	struct bt_engine *engine, struct bt_schedule_result *result, const struct bt_status *status)
{
	if (bt_status_is_rejected(status)) {
		/* A rejection by Reserve or Permit is reported as a FitError of one node. */
		struct bt_arena *arena = result->cycle->arena;
		struct bt_diagnosis *diagnosis = &result->diagnosis;
		diagnosis->statuses.entries.count = 0;
		struct bt_node_status_entry entry = {result->slot, *status};
		bt_vec_push(&diagnosis->statuses.entries, entry);
		engine->statuses = diagnosis->statuses; /* the list may have moved */
		diagnosis->unschedulable_plugins = (struct bt_plugin_set){0};
		diagnosis->pending_plugins = (struct bt_plugin_set){0};
		diagnosis->rejected_by_extender = false;
		bt_diagnosis_add_plugin(diagnosis, status);
		diagnosis->node_count = 1;
		struct bt_strbuf text = {0};
		bt_diagnosis_message(diagnosis, &text);
		struct bt_status failure = bt_status_error_text(arena, bt_strbuf_str(&text));
		failure.code = status->code;
		bt_strbuf_finish(&text);
		bt_cycle_set_error(result, &failure);
		result->outcome = BT_OUTCOME_FIT_ERROR;
	} else {
		bt_cycle_set_error(result, status);
	}
}

void bt_engine_revert_in_snapshot(struct bt_engine *engine, const struct bt_pod_info *pod,
	const struct bt_schedule_result *result)
{
	bt_run_unreserve(result->framework, result->cycle, pod, result->slot);
	int forgotten = bt_snapshot_forget_pod(engine->state, pod->object, NULL);
	BT_ASSERT(forgotten == 0); /* the pod was assumed in the snapshot */
	if (pod->nominated_node_name.length != 0) {
		bt_nominator_nominate(&engine->nominator, pod, NULL, false, true);
	}
}

/** Assume the pod on its node: in the cache, or in the snapshot alone. Spec 03 section 4. */
static int assume(struct bt_engine *engine, const struct bt_pod_info *pod,
	const struct bt_schedule_result *result, bool in_snapshot, struct berth_error *err)
{
	const struct bt_framework *framework = result->framework;
	struct bt_state *state = engine->state;
	if (!state->gates.dra_node_allocatable_resources) {
		return (in_snapshot ? bt_snapshot_assume_shaped : bt_state_assume_shaped)(
			state, pod->object, pod->shape->id, pod->label_set, result->slot, err);
	}
	struct bt_pod assumed = *pod->object;
	assumed.spec.node_name = result->node_name;
	/* Spec 03 section 4, step 1: plugins may set the status of the assumed pod. */
	for (uint32_t i = 0; i < framework->instances.count; i++) {
		struct bt_plugin *plugin = framework->instances.items[i];
		if (plugin->ops->assume_status != NULL) {
			plugin->ops->assume_status(
				plugin, result->cycle, pod, result->slot, &assumed.status);
		}
	}
	return (in_snapshot ? bt_snapshot_assume_pod : bt_state_assume_pod)(state, &assumed, err);
}

/** Assume the pod on result->slot, then run Reserve and Permit. On failure all steps are undone. */
static bool reserve(struct bt_engine *engine, const struct bt_pod_info *pod,
	struct bt_schedule_result *result, bool in_snapshot, struct bt_permit_outcome *out_permit)
{
	struct bt_framework *framework = result->framework;
	struct bt_cycle_state *cycle = result->cycle;
	struct berth_error err = BERTH_ERROR_INIT;
	result->node_name =
		bt_arena_str(cycle->arena, bt_node_table_name(&engine->state->nodes, result->slot));
	if (assume(engine, pod, result, in_snapshot, &err) < 0) {
		struct bt_status status = bt_status_from_error(cycle->arena, &err);
		bt_cycle_set_error(result, &status);
		return false;
	}
	bt_nominator_delete(&engine->nominator, pod->uid);
	struct bt_status status = bt_run_reserve(framework, cycle, pod, result->slot);
	if (bt_status_is_success(&status)) {
		*out_permit = bt_run_permit(framework, cycle, pod, result->slot);
		status = out_permit->status;
		if (bt_status_is_success(&status) || status.code == BT_STATUS_WAIT) {
			return true;
		}
	}
	if (in_snapshot) {
		bt_engine_revert_in_snapshot(engine, pod, result);
	} else {
		unreserve_and_forget(engine, pod, result);
	}
	fail_undone(engine, result, &status);
	return false;
}

bool bt_engine_reserve(
	struct bt_engine *engine, const struct bt_pod_info *pod, struct bt_schedule_result *result)
{
	struct bt_permit_outcome permit;
	if (!reserve(engine, pod, result, false, &permit)) {
		return false;
	}
	result->waits = permit.waits;
	result->wait_count = permit.wait_count;
	return true;
}

bool bt_engine_reserve_in_snapshot(struct bt_engine *engine, const struct bt_pod_info *pod,
	uint32_t slot, struct bt_schedule_result *result, struct bt_status *out_permit)
{
	struct bt_permit_outcome permit = {0};
	result->slot = slot;
	bool is_reserved = reserve(engine, pod, result, true, &permit);
	*out_permit = permit.status;
	return is_reserved;
}

void bt_engine_hold(
	struct bt_engine *engine, struct bt_schedule_result *result, struct bt_held_cycle *out_held)
{
	BT_ASSERT(engine->cycle_open && result->cycle == &engine->cycle);
	out_held->arena = engine->arena;
	out_held->cycle = engine->cycle;
	out_held->cycle.arena = &out_held->arena;
	out_held->plan = result->plan;
	bt_plan_pin(out_held->plan);
	bt_arena_init(&engine->arena, HELD_CYCLE_ARENA_BYTES);
	engine->cycle_open = false;
	result->cycle = &out_held->cycle;
}

void bt_engine_release_held(struct bt_engine *engine, struct bt_held_cycle *held)
{
	bt_plan_unpin(engine->plans, held->plan);
	bt_cycle_state_finish(&held->cycle);
	bt_arena_finish(&held->arena);
}

void bt_engine_reject_waiting(struct bt_engine *engine, const struct bt_pod_info *pod,
	const struct bt_status *status, struct bt_schedule_result *result)
{
	/* Reset the diagnosis, because later cycles have reused the memory of its statuses. */
	result->diagnosis = (struct bt_diagnosis){.statuses = engine->statuses};
	unreserve_and_forget(engine, pod, result);
	fail_undone(engine, result, status);
	result->diagnosis.nameless_plugin = status->plugin == 0;
}

/** --- the binding cycle --- */

enum bt_binding_outcome bt_engine_bind(struct bt_engine *engine, const struct bt_pod_info *pod,
	const struct bt_status *pre_flights, struct bt_binding_progress *progress,
	struct bt_schedule_result *result)
{
	struct bt_cycle_state *cycle = result->cycle;
	struct bt_status status = *pre_flights;
	cycle->wake_ns = INT64_MAX;
	if (progress->pre_bound) {
		status = BT_STATUS_OK;
	} else if (status.code == BT_STATUS_SKIP || status.code == BT_STATUS_SUCCESS) {
		struct bt_profile_metrics *metrics = result->framework->metrics;
		if (!progress->started) {
			progress->started = true;
			progress->step_started_ns = bt_profile_now(metrics);
		}
		status = status.code == BT_STATUS_SKIP
			? BT_STATUS_OK
			: bt_run_pre_bind_from(
				  result->framework, cycle, pod, result->slot, &progress->pre_bind);
		if (status.code != BT_STATUS_WAIT) {
			progress->step_started_ns = bt_profile_point_ran(
				metrics, BT_TIMED_PRE_BIND, status.code, progress->step_started_ns);
		}
	}
	if (bt_status_is_success(&status)) {
		progress->pre_bound = true;
		/* Bind by an extender or by the Bind plugins. */
		bool taken = false;
		if (!progress->extenders_asked) {
			progress->extenders_asked = true;
			status = bt_extenders_bind(&engine->extenders, pod,
				bt_node_table_name(&engine->state->nodes, result->slot),
				cycle->arena, &taken);
		}
		if (!taken) {
			status = bt_run_bind_from(result->framework, cycle, pod, result->slot,
				&progress->next_binder);
		}
		if (!taken && status.code != BT_STATUS_WAIT) {
			(void)bt_profile_point_ran(result->framework->metrics, BT_TIMED_BIND,
				status.code, progress->step_started_ns);
		}
		if (!bt_status_is_success(&status) && status.code != BT_STATUS_WAIT) {
			BT_LOG_INFO(1, "Failed to bind pod",
				BT_LOG_REF("pod", pod->namespace_, pod->name));
		}
	}
	if (status.code == BT_STATUS_WAIT) {
		return BT_BINDING_PENDING;
	}
	if (!bt_status_is_success(&status)) {
		unreserve_and_forget(engine, pod, result);
		bt_cycle_set_error(result, &status);
		return BT_BINDING_FAILED;
	}
	bt_run_post_bind(result->framework, result->cycle, pod, result->slot);
	return BT_BINDING_BOUND;
}

bool bt_engine_place(
	struct bt_engine *engine, const struct bt_pod_info *pod, struct bt_schedule_result *result)
{
	if (!bt_engine_reserve(engine, pod, result)) {
		return false;
	}
	struct bt_status pre_flights =
		bt_run_pre_bind_pre_flights(result->framework, result->cycle, pod, result->slot);
	/* Plugins that wait for an answer count as finished, because no answer can come here. */
	struct bt_binding_progress progress = {0};
	enum bt_binding_outcome outcome =
		bt_engine_bind(engine, pod, &pre_flights, &progress, result);
	if (outcome == BT_BINDING_PENDING && !progress.pre_bound) {
		progress.pre_bound = true;
		outcome = bt_engine_bind(engine, pod, &pre_flights, &progress, result);
	}
	if (outcome == BT_BINDING_PENDING) {
		bt_run_post_bind(result->framework, result->cycle, pod, result->slot);
	}
	return outcome != BT_BINDING_FAILED;
}

/** --- evaluation of one pod on every node by the plain runners --- */

struct slot_by_name {
	struct bt_str name;
	uint32_t slot;
};

/** Run PreFilter, then run Filter on every candidate node, ascending by name. */
static void evaluate_filters(struct bt_engine *engine, struct bt_framework *framework,
	const struct bt_pod_info *pod, struct bt_evaluation *evaluation)
{
	struct bt_diagnosis *diagnosis = &evaluation->diagnosis;
	struct bt_cycle_state *cycle = evaluation->cycle;
	evaluation->pre_filter = bt_run_pre_filter(framework, cycle, pod);
	diagnosis->unschedulable_plugins = evaluation->pre_filter.plugins_with_nodes;
	diagnosis->node_count = engine->state->snapshot.count;
	const struct bt_status *status = &evaluation->pre_filter.status;
	if (bt_status_is_rejected(status)) {
		diagnosis->statuses.absent = *status;
		diagnosis->pre_filter_message = bt_status_message_str(status, cycle->arena);
		bt_diagnosis_add_plugin(diagnosis, status);
		return;
	}
	if (!bt_status_is_success(status)) {
		evaluation->error = *status;
		return;
	}
	if (evaluation->pre_filter.result.restricted) {
		diagnosis->statuses.absent = bt_narrowed_status(
			framework, &evaluation->pre_filter.plugins_with_nodes, cycle->arena);
	}
	const uint32_t *slots;
	uint32_t count;
	bt_search_candidates(engine, &evaluation->pre_filter.result, cycle->arena, &slots, &count);
	struct slot_by_name *candidates =
		BT_ARENA_NEW_ARRAY(cycle->arena, struct slot_by_name, count);
	for (uint32_t i = 0; i < count; i++) {
		candidates[i] = (struct slot_by_name){
			bt_node_table_name(&engine->state->nodes, slots[i]), slots[i]};
	}
	qsort(candidates, count, sizeof(candidates[0]), bt_str_compare_qsort);
	evaluation->nodes = BT_ARENA_NEW_ARRAY(cycle->arena, struct bt_node_evaluation, count);
	evaluation->feasible = BT_ARENA_NEW_ARRAY(cycle->arena, uint32_t, count);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t slot = candidates[i].slot;
		struct bt_node_info node;
		bt_node_info_init(&node, engine->state, slot);
		struct bt_status filter =
			bt_run_filter_with_nominated_pods(framework, cycle, pod, &node);
		if (!bt_status_is_success(&filter) && !bt_status_is_rejected(&filter)) {
			evaluation->error = filter;
			return;
		}
		evaluation->nodes[evaluation->node_count++] =
			(struct bt_node_evaluation){slot, filter};
		if (bt_status_is_success(&filter)) {
			evaluation->feasible[evaluation->feasible_count++] = slot;
		} else {
			struct bt_node_status_entry entry = {slot, filter};
			bt_vec_push(&diagnosis->statuses.entries, entry);
			bt_diagnosis_add_plugin(diagnosis, &filter);
		}
	}
}

void bt_engine_evaluate(struct bt_engine *engine, struct bt_framework *framework,
	const struct bt_pod_info *pod, struct bt_evaluation *out_evaluation)
{
	*out_evaluation = (struct bt_evaluation){
		.cycle = bt_engine_begin_cycle(engine, framework), .best = UINT32_MAX};
	struct bt_diagnosis *diagnosis = &out_evaluation->diagnosis;
	struct berth_error err = BERTH_ERROR_INIT;
	diagnosis->statuses = engine->statuses;
	diagnosis->statuses.entries.count = 0;
	diagnosis->statuses.absent = bt_status_code_only(BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE);
	if (bt_state_refresh_snapshot(engine->state, &err) < 0) {
		out_evaluation->error = bt_status_from_error(out_evaluation->cycle->arena, &err);
		return;
	}
	evaluate_filters(engine, framework, pod, out_evaluation);
	if (out_evaluation->feasible_count != 0 && bt_status_is_success(&out_evaluation->error)) {
		struct bt_cycle_state *cycle = out_evaluation->cycle;
		const uint32_t *feasible = out_evaluation->feasible;
		uint32_t count = out_evaluation->feasible_count;
		out_evaluation->pre_score_ran = true;
		out_evaluation->pre_score =
			bt_run_pre_score(framework, cycle, pod, feasible, NULL, count);
		if (bt_status_is_success(&out_evaluation->pre_score)) {
			out_evaluation->score_status = bt_run_score(
				framework, cycle, pod, feasible, count, &out_evaluation->scores);
		}
		if (bt_status_is_success(&out_evaluation->pre_score) &&
			bt_status_is_success(&out_evaluation->score_status)) {
			const int64_t *totals = out_evaluation->scores.totals;
			uint32_t best = 0;
			for (uint32_t i = 1; i < count; i++) {
				best = totals[i] > totals[best] ? i : best;
			}
			out_evaluation->best = best;
		}
	}
	engine->statuses = diagnosis->statuses; /* the list may have moved */
	if (engine->options.verify) {
		bt_verify_evaluation(engine, framework, pod, out_evaluation);
	}
}
