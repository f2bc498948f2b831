/* SPDX-License-Identifier: Apache-2.0 */
#include "framework/events.h"

#include <stddef.h>

static const struct bt_str any_resource = BT_RESOURCE_ANY;
static const struct bt_str pod_resource = BT_RESOURCE_POD;
static const struct bt_str node_resource = BT_RESOURCE_NODE;
static const struct bt_str assigned_pod_resource = BT_RESOURCE_ASSIGNED_POD;
static const struct bt_str unschedulable_pod_resource = BT_RESOURCE_UNSCHEDULABLE_POD;

/**
 * Default events, for extenders and for plugins without EventsToRegister. Gate GenericWorkload adds
 * pod_group_event.
 */
static const struct bt_cluster_event default_events[] = {
	{BT_RESOURCE_POD, BT_ACTION_ALL},
	{BT_RESOURCE_NODE, BT_ACTION_ALL},
	{BT_RESOURCE_PERSISTENT_VOLUME, BT_ACTION_ALL},
	{BT_RESOURCE_PERSISTENT_VOLUME_CLAIM, BT_ACTION_ALL},
	{BT_RESOURCE_CSI_NODE, BT_ACTION_ALL},
	{BT_RESOURCE_CSI_DRIVER, BT_ACTION_ALL},
	{BT_RESOURCE_CSI_STORAGE_CAPACITY, BT_ACTION_ALL},
	{BT_RESOURCE_STORAGE_CLASS, BT_ACTION_ALL},
	{BT_RESOURCE_RESOURCE_CLAIM, BT_ACTION_ALL},
	{BT_RESOURCE_DEVICE_CLASS, BT_ACTION_ALL},
};

static const struct bt_cluster_event pod_group_event = {BT_RESOURCE_POD_GROUP, BT_ACTION_ALL};

const char *bt_action_name(uint32_t action)
{
	static const char *const bit_names[] = {
		"Add",
		"Delete",
		"UpdateNodeAllocatable",
		"UpdateNodeLabel",
		"UpdateNodeTaint",
		"UpdateNodeCondition",
		"UpdateNodeAnnotation",
		"UpdateNodeDeclaredFeature",
		"UpdatePodLabel",
		"UpdatePodScaleDown",
		"UpdatePodToleration",
		"UpdatePodSchedulingGatesEliminated",
		"UpdatePodGeneratedResourceClaim",
	};

	if (action == BT_ACTION_ALL) {
		return "All";
	}
	if (action == BT_ACTION_UPDATE) {
		return "Update";
	}
	for (size_t i = 0; i < BT_ARRAY_LENGTH(bit_names); i++) {
		if (action == UINT32_C(1) << i) {
			return bit_names[i];
		}
	}
	return "";
}

void bt_cluster_event_label(const struct bt_cluster_event *event, struct bt_strbuf *out)
{
	bt_strbuf_append_str(out, event->resource);
	bt_strbuf_append_c(out, bt_action_name(event->action));
}

bool bt_cluster_event_is_wildcard(const struct bt_cluster_event *event)
{
	return event->action == BT_ACTION_ALL && bt_str_equal(event->resource, any_resource);
}

bool bt_cluster_event_match(
	const struct bt_cluster_event *registered, const struct bt_cluster_event *incoming)
{
	if (bt_cluster_event_is_wildcard(registered)) {
		return true;
	}
	bool is_pod = bt_str_equal(incoming->resource, assigned_pod_resource) ||
		bt_str_equal(incoming->resource, unschedulable_pod_resource);
	bool matches = bt_str_equal(registered->resource, any_resource) ||
		bt_str_equal(registered->resource, incoming->resource) ||
		(is_pod && bt_str_equal(registered->resource, pod_resource));
	/*
	 * Upstream quirk, spec 02 section 10.1: whether one action contains the other is decided by
	 * comparing the bit masks as numbers.
	 */
	return matches && (registered->action & incoming->action) != 0 &&
		incoming->action <= registered->action;
}

/**
 * Registers the default events for the plugin. The event for Node has all actions, so
 * Node/UpdateNodeTaint need not be added.
 */
static void add_defaults(const struct bt_framework *framework, struct bt_plugin *plugin,
	struct bt_event_hints *hints)
{
	for (size_t i = 0; i < BT_ARRAY_LENGTH(default_events); i++) {
		bt_vec_push(&hints->items,
			((struct bt_event_hint){plugin, default_events[i], NULL, 0}));
	}
	if (bt_gate_enabled(framework->handle.gates, BT_GATE_GENERIC_WORKLOAD)) {
		bt_vec_push(
			&hints->items, ((struct bt_event_hint){plugin, pod_group_event, NULL, 0}));
	}
}

int bt_plugin_events_to_register(struct bt_plugin *plugin,
	const struct bt_event_registration **out_events, uint32_t *out_count,
	struct berth_error *err)
{
	if (plugin->ops->events_to_register != NULL) {
		return plugin->ops->events_to_register(plugin, out_events, out_count, err);
	}
	*out_events = plugin->ops->events.items;
	*out_count = plugin->ops->events.count;
	return BERTH_OK;
}

int bt_event_hints_create(const struct bt_framework *framework, struct bt_event_hints *out_hints,
	struct berth_error *err)
{
	struct bt_event_hints hints = {0};
	struct bt_strbuf problems = {0};
	int code = BERTH_OK;

	if (framework->config->document.extenders.count > 0) {
		add_defaults(framework, NULL, &hints);
	}
	for (uint32_t i = 0; i < framework->instances.count; i++) {
		struct bt_plugin *plugin = framework->instances.items[i];
		struct berth_error cause = BERTH_ERROR_INIT;
		const struct bt_event_registration *events = NULL;
		uint32_t count = 0;
		uint32_t node_actions = 0;

		if (!(plugin->ops->pre_enqueue != NULL || plugin->ops->pre_filter != NULL ||
			    plugin->ops->filter != NULL ||
			    bt_plugin_implements(plugin->ops, BT_POINT_RESERVE) ||
			    plugin->ops->permit != NULL)) {
			continue;
		}
		if (plugin->ops->events_to_register == NULL && plugin->ops->events.items == NULL) {
			add_defaults(framework, plugin, &hints);
			continue;
		}
		if (bt_plugin_events_to_register(plugin, &events, &count, &cause) != BERTH_OK) {
			if (code != BERTH_OK) {
				bt_strbuf_append_char(&problems, '\n');
			}
			code = BERTH_ERR_INVALID;
			bt_strbuf_append_c(&problems, berth_error_message(&cause));
			berth_error_finish(&cause);
			continue;
		}
		for (uint32_t k = 0; k < count; k++) {
			if (bt_str_equal(events[k].event.resource, node_resource)) {
				node_actions |= events[k].event.action;
			}
			bt_vec_push(&hints.items,
				((struct bt_event_hint){
					plugin, events[k].event, events[k].hint, k}));
		}
		/*
		 * Spec 02 section 10.2: a plugin that registers Node/Add also gets
		 * Node/UpdateNodeTaint, because a node that is added with a taint may become usable
		 * when the taint is removed.
		 */
		if ((node_actions & BT_ACTION_ADD) != 0 &&
			(node_actions & BT_ACTION_UPDATE_NODE_TAINT) == 0) {
			bt_vec_push(&hints.items,
				((struct bt_event_hint){plugin,
					{BT_RESOURCE_NODE, BT_ACTION_UPDATE_NODE_TAINT}, NULL, 0}));
		}
	}
	if (code != BERTH_OK) {
		bt_vec_finish(&hints.items);
		return bt_error_take(err, code, &problems);
	}
	*out_hints = hints;
	return BERTH_OK;
}
