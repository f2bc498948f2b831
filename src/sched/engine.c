/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/engine.h"

#include "base/alloc.h"
#include "plugins/registry.h"
#include "sched/cycle.h"
#include "sched/plan.h"

static struct bt_state_options state_options(const struct bt_gates *gates)
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
	};
}

static int build_profiles(struct bt_engine *engine, struct berth_error *err)
{
	int result = bt_register_in_tree_plugins(&engine->registry, err);
	if (result == 0 && engine->options.extra_plugins != NULL) {
		result = bt_registry_merge(&engine->registry, engine->options.extra_plugins, err);
	}
	if (result == 0) {
		result = bt_profiles_create(&engine->registry, engine->config, engine->state,
			&engine->nominator, &engine->profiles, err);
	}
	for (uint32_t i = 0; result == 0 && i < engine->profiles.frameworks.count; i++) {
		struct bt_handle *handle = &engine->profiles.frameworks.items[i]->handle;
		handle->prng = &engine->prng;
		handle->verify = engine->options.verify;
	}
	return result;
}

int bt_engine_create(struct bt_config *config, const struct bt_engine_options *options,
	struct bt_engine **out_engine, struct berth_error *err)
{
	struct bt_engine *engine = BT_NEW(struct bt_engine);
	engine->config = bt_config_ref(config);
	engine->options = *options;
	bt_prng_init(&engine->prng, options->seed);
	bt_arena_init(&engine->arena, 64 * 1024);
	bt_arena_init(&engine->verify_arena, 0);
	bt_registry_init(&engine->registry);
	struct bt_state_options settings = state_options(bt_config_gates(config));
	engine->state = bt_state_create(&settings);
	bt_nominator_init(&engine->nominator, engine->state);
	engine->plans = bt_plan_cache_create(options->plan_bytes_max);
	int result = build_profiles(engine, err);
	engine->options.extra_plugins = NULL;
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
	bt_profiles_finish(&engine->profiles);
	bt_nominator_finish(&engine->nominator);
	bt_state_destroy(engine->state);
	bt_registry_finish(&engine->registry);
	bt_arena_finish(&engine->arena);
	bt_arena_finish(&engine->verify_arena);
	bt_config_unref(engine->config);
	bt_free(engine);
}

struct bt_framework *bt_engine_profile(const struct bt_engine *engine, struct bt_str scheduler_name)
{
	return bt_profiles_find(&engine->profiles, scheduler_name);
}

/** --- after the choice: spec 03 sections 4 and 6 --- */

static void fail_with_status(struct bt_schedule_result *result, const struct bt_status *status)
{
	result->nomination =
		(struct bt_post_filter_result){true, BT_NOMINATING_OVERRIDE, {NULL, 0}};
	result->outcome = BT_OUTCOME_ERROR;
	result->status = *status;
}

/** A rejection by Reserve or Permit is reported as a FitError of one node. */
static void fail_on_node(
	struct bt_engine *engine, struct bt_schedule_result *result, const struct bt_status *status)
{
	struct bt_arena *arena = result->cycle->arena;
	struct bt_diagnosis *diagnosis = &result->diagnosis;
	diagnosis->statuses.entries.count = 0;
	struct bt_node_status_entry entry = {result->slot, *status};
	bt_vec_push(&diagnosis->statuses.entries, entry);
	engine->statuses = diagnosis->statuses; /* the list may have moved */
	diagnosis->unschedulable_plugins = (struct bt_plugin_set){0};
	diagnosis->pending_plugins = (struct bt_plugin_set){0};
	bt_diagnosis_add_plugin(diagnosis, status);
	diagnosis->node_count = 1;
	struct bt_strbuf text = {0};
	bt_diagnosis_message(diagnosis, &text);
	struct bt_status failure = bt_status_error_text(arena, bt_strbuf_str(&text));
	failure.code = status->code;
	bt_strbuf_finish(&text);
	fail_with_status(result, &failure);
	result->outcome = BT_OUTCOME_FIT_ERROR;
}

static struct bt_status reserve_and_permit(struct bt_framework *framework,
	struct bt_cycle_state *cycle, const struct bt_pod_info *pod, uint32_t slot)
{
	struct bt_status status = bt_run_reserve(framework, cycle, pod, slot);
	if (!bt_status_is_success(&status)) {
		return status;
	}
	struct bt_permit_outcome permit = bt_run_permit(framework, cycle, pod, slot);
	return permit.status.code == BT_STATUS_WAIT ? BT_STATUS_OK : permit.status;
}

/** Unreserve and forget: spec 03 section 4.1. */
static void undo(struct bt_engine *engine, const struct bt_pod_info *pod,
	const struct bt_schedule_result *result)
{
	struct berth_error err = BERTH_ERROR_INIT;
	bt_run_unreserve(result->framework, result->cycle, pod, result->slot);
	struct bt_pod assumed = *pod->object;
	assumed.spec.node_name = bt_node_table_name(&engine->state->nodes, result->slot);
	if (bt_state_forget_pod(engine->state, &assumed, &err) < 0) {
		/* Only possible when a plugin removed the pod from the cache: the first failure is
		 * the one to report. */
		berth_error_finish(&err);
	}
}

bool bt_engine_reserve(
	struct bt_engine *engine, const struct bt_pod_info *pod, struct bt_schedule_result *result)
{
	struct bt_cycle_state *cycle = result->cycle;
	struct berth_error err = BERTH_ERROR_INIT;
	if (bt_state_assume_shaped(engine->state, pod->object, pod->shape->id, pod->label_set,
		    result->slot, &err) < 0) {
		struct bt_status status = bt_status_from_error(cycle->arena, &err);
		fail_with_status(result, &status);
		return false;
	}
	bt_nominator_delete(&engine->nominator, pod->uid);
	struct bt_status status = reserve_and_permit(result->framework, cycle, pod, result->slot);
	if (bt_status_is_success(&status)) {
		return true;
	}
	undo(engine, pod, result);
	if (bt_status_is_rejected(&status)) {
		fail_on_node(engine, result, &status);
	} else {
		fail_with_status(result, &status);
	}
	return false;
}

bool bt_engine_bind(struct bt_engine *engine, const struct bt_pod_info *pod,
	const struct bt_status *pre_flights, struct bt_schedule_result *result)
{
	struct bt_framework *framework = result->framework;
	struct bt_cycle_state *cycle = result->cycle;
	struct bt_status status = *pre_flights;
	if (status.code == BT_STATUS_SUCCESS || status.code == BT_STATUS_SKIP) {
		status = bt_run_pre_bind(framework, cycle, pod, result->slot);
		if (bt_status_is_success(&status)) {
			status = bt_run_bind(framework, cycle, pod, result->slot);
		}
	}
	if (!bt_status_is_success(&status)) {
		undo(engine, pod, result);
		fail_with_status(result, &status);
		return false;
	}
	bt_run_post_bind(framework, cycle, pod, result->slot);
	return true;
}

bool bt_engine_place(
	struct bt_engine *engine, const struct bt_pod_info *pod, struct bt_schedule_result *result)
{
	if (!bt_engine_reserve(engine, pod, result)) {
		return false;
	}
	struct bt_status pre_flights =
		bt_run_pre_bind_pre_flights(result->framework, result->cycle, pod, result->slot);
	return bt_engine_bind(engine, pod, &pre_flights, result);
}
