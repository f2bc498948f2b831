/* SPDX-License-Identifier: Apache-2.0 */
/**
 * PodToleratesNodeTaints (Filter): NoSchedule and NoExecute taints, with the reason of v1.12.
 * PodToleratesNodeNoExecuteTaints (Filter): NoExecute only, for pods that must ignore NoSchedule.
 * Spec: 05b A2, B3.
 */
#include "api/toleration.h"
#include "plugins/common_legacy.h"
#include "plugins/legacy.h"

static bool is_tolerated(
	const struct bt_plugin *plugin, const bt_taint_list *taints, const struct bt_pod_info *pod)
{
	const bt_toleration_list *tolerations = &bt_plugin_pod_spec(pod)->tolerations;
	bool comparison = bt_plugin_gate(plugin, BT_GATE_TAINT_TOLERATION_COMPARISON_OPERATORS);
	bool no_execute_only =
		plugin->ops == &bt_legacy_pod_tolerates_node_no_execute_taints_plugin;

	for (uint32_t i = 0; i < taints->count; i++) {
		const struct bt_taint *taint = &taints->items[i];
		bool counts = no_execute_only ? bt_str_equal_c(taint->effect, "NoExecute")
					      : bt_taint_in_filter(taint, BT_TAINT_HARD);

		if (counts && !bt_tolerations_tolerate(tolerations, taint, comparison)) {
			return false;
		}
	}
	return true;
}

static struct bt_status filter(struct bt_plugin *plugin, BT_UNUSED struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node)
{
	if (!is_tolerated(plugin, bt_node_info_taints(node), pod)) {
		return bt_status_reason(
			BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE, BT_REASON_LEGACY_TAINTS);
	}
	return BT_STATUS_OK;
}

static enum bt_queueing_hint after_node_change(struct bt_plugin *plugin,
	const struct bt_pod_info *pod, const void *old_object, const void *new_object,
	BT_UNUSED struct berth_error *err)
{
	const struct bt_node *old_node = old_object;
	const struct bt_node *new_node = new_object;
	bool failed_before = old_node == NULL || !is_tolerated(plugin, &old_node->spec.taints, pod);

	return failed_before && is_tolerated(plugin, &new_node->spec.taints, pod) ? BT_HINT_QUEUE
										  : BT_HINT_SKIP;
}

static const struct bt_event_registration events[] = {
	{{BT_RESOURCE_NODE, BT_ACTION_ADD | BT_ACTION_UPDATE_NODE_TAINT}, after_node_change},
	{{BT_RESOURCE_POD, BT_ACTION_UPDATE_POD_TOLERATION}, bt_hint_if_pod_itself},
};

static int events_to_register(BT_UNUSED struct bt_plugin *plugin,
	const struct bt_event_registration **out_events, uint32_t *out_count,
	BT_UNUSED struct berth_error *err)
{
	*out_events = events;
	*out_count = (uint32_t)BT_ARRAY_LENGTH(events);
	return 0;
}

static int create_all(const struct bt_plugin_args *args, const struct bt_handle *handle,
	struct bt_plugin **out_plugin, struct berth_error *err)
{
	return bt_legacy_create_plain(
		&bt_legacy_pod_tolerates_node_taints_plugin, args, handle, out_plugin, err);
}

static int create_no_execute(const struct bt_plugin_args *args, const struct bt_handle *handle,
	struct bt_plugin **out_plugin, struct berth_error *err)
{
	return bt_legacy_create_plain(&bt_legacy_pod_tolerates_node_no_execute_taints_plugin, args,
		handle, out_plugin, err);
}

const struct bt_plugin_ops bt_legacy_pod_tolerates_node_taints_plugin = {
	.name = "PodToleratesNodeTaints",
	.create = create_all,
	.destroy = bt_plain_plugin_destroy,
	.events_to_register = events_to_register,
	.filter = filter,
};

const struct bt_plugin_ops bt_legacy_pod_tolerates_node_no_execute_taints_plugin = {
	.name = "PodToleratesNodeNoExecuteTaints",
	.create = create_no_execute,
	.destroy = bt_plain_plugin_destroy,
	.events_to_register = events_to_register,
	.filter = filter,
};
