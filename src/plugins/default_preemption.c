/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DefaultPreemption (PreEnqueue, PostFilter): makes room for a pod by removing pods of lower
 * priority. Spec: 08 sections 4.2, 12 and 15.
 */
#include "plugins/default_preemption.h"

#include "api/types.h"
#include "base/alloc.h"
#include "framework/framework.h"
#include "plugins/common_plugin.h"
#include "plugins/in_tree.h"

struct default_preemption {
	struct bt_plain_plugin base;
	struct bt_evaluator evaluator;
};

static const struct bt_pod_group *find_group(
	const struct bt_handle *handle, const struct bt_pod_info *pod)
{
	return bt_object_store_find(&handle->state->objects, BT_KIND_POD_GROUP, pod->namespace_,
		bt_plugin_pod_group_name(bt_plugin_pod_spec(pod)));
}

/** A pod is gated while its asynchronous preemption, or that of its group, is running. */
static struct bt_status pre_enqueue(
	struct bt_plugin *plugin, const struct bt_pod_info *pod, BT_UNUSED struct bt_arena *arena)
{
	const struct default_preemption *self = bt_plugin_instance(plugin);
	const struct bt_handle *handle = self->base.handle;

	if (!bt_gate_enabled(handle->gates, BT_GATE_SCHEDULER_ASYNC_PREEMPTION)) {
		return BT_STATUS_OK;
	}
	if (bt_plugin_pod_spec(pod)->scheduling_group != NULL &&
		bt_gate_enabled(handle->gates, BT_GATE_WORKLOAD_AWARE_PREEMPTION)) {
		const struct bt_pod_group *group = find_group(handle, pod);

		if (group != NULL &&
			bt_preemption_is_running(&self->evaluator.executor, group->metadata.uid)) {
			return bt_status_reason(BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE,
				BT_REASON_PREEMPTION_GROUP_RUNNING);
		}
		return BT_STATUS_OK;
	}
	if (bt_preemption_is_running(&self->evaluator.executor, pod->uid)) {
		return bt_status_reason(
			BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE, BT_REASON_PREEMPTION_RUNNING);
	}
	return BT_STATUS_OK;
}

/**
 * While a preemption is running, PreEnqueue depends on the pod's uid, so no answer holds for all
 * pods of the shape.
 */
static bool pre_enqueue_passes(struct bt_plugin *plugin, BT_UNUSED const struct bt_shape *shape)
{
	const struct default_preemption *instance = bt_plugin_instance(plugin);

	return instance->evaluator.executor.tasks.count == 0;
}

/**
 * A pod of a group does not preempt individually if the group has scheduling constraints or
 * preempts as a whole.
 */
static struct bt_status check_group(const struct bt_handle *handle, const struct bt_pod_info *pod)
{
	if (bt_plugin_pod_spec(pod)->scheduling_group == NULL) {
		return BT_STATUS_OK;
	}
	if (bt_gate_enabled(handle->gates, BT_GATE_TOPOLOGY_AWARE_WORKLOAD_SCHEDULING)) {
		const struct bt_pod_group *group = find_group(handle, pod);

		if (group == NULL) {
			return bt_status_reason(
				BT_STATUS_UNSCHEDULABLE, BT_REASON_PREEMPTION_GROUP_NOT_FOUND);
		}
		if (group->spec.scheduling_constraints != NULL) {
			return bt_status_reason(
				BT_STATUS_UNSCHEDULABLE, BT_REASON_PREEMPTION_PLACEMENT_GROUP);
		}
	}
	if (bt_gate_enabled(handle->gates, BT_GATE_WORKLOAD_AWARE_PREEMPTION)) {
		return bt_status_reason(
			BT_STATUS_UNSCHEDULABLE, BT_REASON_PREEMPTION_WORKLOAD_AWARE);
	}
	return BT_STATUS_OK;
}

static bool post_filter_changes_nothing(struct bt_plugin *plugin, const struct bt_pod_info *pod)
{
	struct bt_status status = check_group(bt_plugin_handle(plugin), pod);

	return !bt_status_is_success(&status);
}

static struct bt_status post_filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_statuses *statuses,
	struct bt_post_filter_result *out_result)
{
	struct default_preemption *self = bt_plugin_instance(plugin);
	struct bt_status status = check_group(self->base.handle, pod);

	self->evaluator.attempt_count++;
	bt_metrics_count(bt_handle_metrics(self->base.handle), BT_FAMILY_PREEMPTION_ATTEMPTS, NULL);
	if (!bt_status_is_success(&status)) {
		return status;
	}
	/*
	 * The plugin has no PreFilter, so the decision can be stored as the PreFilter data of the
	 * plugin.
	 */
	struct bt_preemption_decision *decision =
		BT_ARENA_NEW(cycle->arena, struct bt_preemption_decision);
	cycle->pre_filter_data[plugin->index] = decision;
	status = bt_evaluator_preempt(&self->evaluator, cycle, pod, statuses, out_result, decision);
	struct bt_str message = bt_status_message_str(&status, cycle->arena);
	if (message.length == 0) {
		return status;
	}
	return bt_status_printf((enum bt_status_code)status.code, cycle->arena, "preemption: %.*s",
		BT_STR_ARG(message));
}

static struct bt_status pod_group_post_filter(struct bt_plugin *plugin, struct bt_arena *arena,
	const struct bt_pod_group *group, const struct bt_pod_info *const *pods, uint32_t pod_count,
	const struct bt_pod_group_trial *trial)
{
	struct default_preemption *instance = bt_plugin_instance(plugin);

	return bt_evaluator_preempt_for_group(
		&instance->evaluator, arena, group, pods, pod_count, trial);
}

static struct bt_plugin *find_instance(const struct bt_framework *framework)
{
	struct bt_plugin *plugin =
		bt_framework_find_plugin(framework, bt_str_from(bt_default_preemption_plugin.name));

	return plugin != NULL && plugin->ops == &bt_default_preemption_plugin ? plugin : NULL;
}

struct bt_evaluator *bt_default_preemption_evaluator(const struct bt_framework *framework)
{
	struct default_preemption *instance = bt_plugin_instance(find_instance(framework));

	return instance != NULL ? &instance->evaluator : NULL;
}

const struct bt_preemption_decision *bt_default_preemption_decision(
	const struct bt_framework *framework, const struct bt_cycle_state *cycle)
{
	const struct bt_plugin *plugin = find_instance(framework);

	return plugin != NULL ? cycle->pre_filter_data[plugin->index] : NULL;
}

/*
 * The event is registered only so that the queue checks gated pods again. Whether a rejected pod is
 * requeued is up to the plugins that rejected it (spec 08 section 12).
 */
static bool after_pod_delete(BT_UNUSED const struct bt_hint_call *call)
{
	return false;
}

static const struct bt_event_registration events[] = {
	{{BT_RESOURCE_POD, BT_ACTION_DELETE}, after_pod_delete},
};

static int events_to_register(struct bt_plugin *plugin,
	const struct bt_event_registration **out_events, uint32_t *out_count,
	BT_UNUSED struct berth_error *err)
{
	bool asynchronous = bt_gate_enabled(
		bt_plugin_handle(plugin)->gates, BT_GATE_SCHEDULER_ASYNC_PREEMPTION);

	*out_events = events;
	*out_count = asynchronous ? BT_ARRAY_LENGTH(events) : 0;
	return 0;
}

static int init(struct bt_plugin *plugin, const struct bt_plugin_args *args,
	BT_UNUSED struct berth_error *err)
{
	struct default_preemption *self = (struct default_preemption *)(void *)plugin;

	bt_evaluator_init(&self->evaluator, bt_plugin_handle(plugin), &args->default_preemption,
		bt_default_preemption_plugin.name);
	return 0;
}

static void destroy(struct bt_plugin *plugin)
{
	struct default_preemption *instance = bt_plugin_instance(plugin);

	bt_evaluator_finish(&instance->evaluator);
	bt_free(plugin);
}

static const struct bt_plugin_shortcuts shortcuts = {
	.pre_enqueue_passes = pre_enqueue_passes,
	.gate_opens_silently = true,
	.post_filter_changes_nothing = post_filter_changes_nothing,
	.hint_scope = BT_HINT_SCOPE_SHAPE,
};

const struct bt_plugin_ops bt_default_preemption_plugin = {
	.name = "DefaultPreemption",
	.size = sizeof(struct default_preemption),
	.args_kind = BT_ARGS_DEFAULT_PREEMPTION,
	.init = init,
	.destroy = destroy,
	.shortcuts = &shortcuts,
	.pre_enqueue = pre_enqueue,
	.events_to_register = events_to_register,
	.post_filter = post_filter,
	.pod_group_post_filter = pod_group_post_filter,
};
