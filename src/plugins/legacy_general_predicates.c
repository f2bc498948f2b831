/* SPDX-License-Identifier: Apache-2.0 */
/**
 * PodFitsResources, HostName, PodFitsHostPorts, MatchNodeSelector (Filter), each with the rules and
 * texts of v1.12; GeneralPredicates, which runs all four and reports every reason; PodFitsPorts,
 * which compares port numbers only, as v1.4 to v1.8 did. Spec: 05b A2, B4, B5, B12, D2.
 */
#include "api/selector.h"
#include "base/strbuf.h"
#include "framework/framework.h"
#include "plugins/common_legacy.h"
#include "plugins/legacy.h"

/** What the parts need of the pod, computed once. */
struct general_data {
	struct bt_resource request;
	bt_host_port_list ports; /* containers only: v1.12 knew no sidecars */
	struct bt_required_node_affinity affinity;
};

static struct general_data *compute_data(const struct bt_pod_info *pod, struct bt_arena *arena)
{
	const struct bt_pod_spec *spec = bt_plugin_pod_spec(pod);
	struct bt_pod_spec containers_only = {.containers = spec->containers};
	struct general_data *data = BT_ARENA_NEW(arena, struct general_data);

	data->request = bt_legacy_pod_resources(spec, false, arena);
	data->ports = bt_pod_host_ports(&containers_only, arena);
	data->affinity = bt_required_node_affinity_parse(spec, arena);
	return data;
}

static struct bt_status pre_filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, BT_UNUSED struct bt_pre_filter_result *out_result)
{
	bt_plugin_set_pre_filter_data(plugin, cycle, compute_data(pod, cycle->arena));
	return BT_STATUS_OK;
}

static const struct general_data *data_of(const struct bt_plugin *plugin,
	const struct bt_cycle_state *cycle, const struct bt_pod_info *pod)
{
	const struct general_data *data = bt_plugin_pre_filter_data(plugin, cycle);

	return data != NULL ? data : compute_data(pod, cycle->arena);
}

/* --- PodFitsResources --- */

/** Extended and left to an extender: managedResources with ignoredByScheduler. Spec 05b B4 (f). */
static bool is_ignored(const struct bt_plugin *plugin, struct bt_str name)
{
	const struct bt_framework *framework = bt_plugin_handle(plugin)->framework;

	if (framework == NULL || framework->config == NULL || !bt_resource_is_extended(name)) {
		return false;
	}
	for (uint32_t i = 0; i < bt_config_extender_count(framework->config); i++) {
		const struct bt_config_extender *extender =
			bt_config_extender_at(framework->config, i);

		for (uint32_t k = 0; k < extender->managed_resources.count; k++) {
			if (extender->managed_resources.items[k].ignored_by_scheduler &&
				bt_str_equal(extender->managed_resources.items[k].name, name)) {
				return true;
			}
		}
	}
	return false;
}

static void add_reason(struct bt_status *status, enum bt_reason reason, struct bt_arena *arena)
{
	bt_status_append_reason(status, arena, bt_reason_texts[reason]);
}

/** Adds the reasons in which pod and node do not fit to status. */
static void check_resources(struct bt_plugin *plugin, const struct bt_resource *request,
	const struct bt_node_info *node, struct bt_arena *arena, struct bt_status *status)
{
	if (node->pod_count + 1 > node->allocatable_pods) {
		add_reason(status, BT_REASON_LEGACY_INSUFFICIENT_PODS, arena);
	}
	if (request->cpu_milli == 0 && request->memory_bytes == 0 &&
		request->ephemeral_storage_bytes == 0 && request->scalar_count == 0) {
		return;
	}
	/* A resource that the pod does not ask for is checked as well: v1.12 did, spec 05b B4 (b),
	 * (c). */
	if (node->allocatable_cpu_milli <
		bt_wrap_add(request->cpu_milli, node->requested_cpu_milli)) {
		add_reason(status, BT_REASON_INSUFFICIENT_CPU, arena);
	}
	if (node->allocatable_memory_bytes <
		bt_wrap_add(request->memory_bytes, node->requested_memory_bytes)) {
		add_reason(status, BT_REASON_INSUFFICIENT_MEMORY, arena);
	}
	if (node->allocatable_ephemeral_bytes <
		bt_wrap_add(request->ephemeral_storage_bytes, node->requested_ephemeral_bytes)) {
		add_reason(status, BT_REASON_INSUFFICIENT_EPHEMERAL_STORAGE, arena);
	}
	for (uint32_t i = 0; i < request->scalar_count; i++) {
		const struct bt_scalar_resource *scalar = &request->scalars[i];
		uint32_t column = bt_node_table_find_scalar(&node->state->nodes, scalar->name);

		if (!is_ignored(plugin, scalar->name) &&
			bt_node_info_scalar_allocatable(node, column) <
				bt_wrap_add(scalar->value,
					bt_node_info_scalar_requested(node, column))) {
			bt_status_append_reason(status, arena,
				bt_arena_printf(
					arena, "Insufficient %.*s", BT_STR_ARG(scalar->name)));
		}
	}
}

static struct bt_status filter_resources(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node)
{
	struct bt_status status = bt_status_code_only(BT_STATUS_UNSCHEDULABLE);

	if (!bt_legacy_has_node(node)) {
		return bt_status_error_text(cycle->arena, BT_STR("node not found"));
	}
	check_resources(plugin, &data_of(plugin, cycle, pod)->request, node, cycle->arena, &status);
	return status.reason_count != 0 ? status : BT_STATUS_OK;
}

/* --- HostName --- */

static bool name_matches(const struct bt_pod_info *pod, const struct bt_node_info *node)
{
	struct bt_str wanted = bt_plugin_pod_spec(pod)->node_name;

	return wanted.length == 0 || bt_str_equal(wanted, bt_node_info_name(node));
}

static struct bt_status filter_host_name(BT_UNUSED struct bt_plugin *plugin,
	BT_UNUSED struct bt_cycle_state *cycle, const struct bt_pod_info *pod,
	const struct bt_node_info *node)
{
	if (!name_matches(pod, node)) {
		return bt_status_reason(
			BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE, BT_REASON_LEGACY_HOST_NAME);
	}
	return BT_STATUS_OK;
}

/* --- host ports --- */

static bool has_port_conflict(const bt_host_port_list *wanted, const struct bt_node_info *node)
{
	for (uint32_t i = 0; i < wanted->count; i++) {
		if (bt_node_info_port_conflicts(node, &wanted->items[i])) {
			return true;
		}
	}
	return false;
}

static struct bt_status filter_host_ports(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node)
{
	if (has_port_conflict(&data_of(plugin, cycle, pod)->ports, node)) {
		return bt_status_reason(BT_STATUS_UNSCHEDULABLE, BT_REASON_NODE_PORTS);
	}
	return BT_STATUS_OK;
}

/** The number is taken on some address with some protocol. */
static bool is_port_number_used(const struct bt_node_info *node, int32_t port)
{
	const struct bt_node_row *row = &node->state->nodes.rows[node->slot];

	if (node->ports_changed) {
		for (uint32_t i = 0; i < node->ports.count; i++) {
			if (node->ports.items[i].port == port) {
				return true;
			}
		}
		return false;
	}
	for (uint32_t i = 0; i < row->ports.count; i++) {
		if (row->ports.items[i].port == port) {
			return true;
		}
	}
	return false;
}

static struct bt_status filter_port_numbers(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node)
{
	const bt_host_port_list *wanted = &data_of(plugin, cycle, pod)->ports;

	for (uint32_t i = 0; i < wanted->count; i++) {
		if (is_port_number_used(node, wanted->items[i].port)) {
			return bt_status_reason(BT_STATUS_UNSCHEDULABLE, BT_REASON_NODE_PORTS);
		}
	}
	return BT_STATUS_OK;
}

/* --- MatchNodeSelector --- */

static bool selector_matches(const struct bt_required_node_affinity *affinity,
	const struct bt_node_info *node, struct bt_arena *arena)
{
	return bt_required_node_affinity_matches(
		affinity, bt_node_info_name(node), bt_node_info_labels(node), arena, NULL);
}

static struct bt_status filter_selector(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node)
{
	if (!selector_matches(&data_of(plugin, cycle, pod)->affinity, node, cycle->arena)) {
		return bt_status_reason(
			BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE, BT_REASON_LEGACY_NODE_SELECTOR);
	}
	return BT_STATUS_OK;
}

/* --- GeneralPredicates --- */

static struct bt_status filter_general(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node)
{
	const struct general_data *data = data_of(plugin, cycle, pod);
	struct bt_status status = bt_status_code_only(BT_STATUS_UNSCHEDULABLE);

	if (!bt_legacy_has_node(node)) {
		return bt_status_error_text(cycle->arena, BT_STR("node not found"));
	}
	check_resources(plugin, &data->request, node, cycle->arena, &status);
	/* One part that removing pods cannot repair decides for the whole. */
	if (!name_matches(pod, node)) {
		add_reason(&status, BT_REASON_LEGACY_HOST_NAME, cycle->arena);
		status.code = BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE;
	}
	if (has_port_conflict(&data->ports, node)) {
		add_reason(&status, BT_REASON_NODE_PORTS, cycle->arena);
	}
	if (!selector_matches(&data->affinity, node, cycle->arena)) {
		add_reason(&status, BT_REASON_LEGACY_NODE_SELECTOR, cycle->arena);
		status.code = BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE;
	}
	return status.reason_count != 0 ? status : BT_STATUS_OK;
}

/* --- tables --- */

static const struct bt_event_registration resource_events[] = {
	{{BT_RESOURCE_POD, BT_ACTION_DELETE | BT_ACTION_UPDATE_POD_SCALE_DOWN}, NULL},
	{{BT_RESOURCE_NODE, BT_ACTION_ADD | BT_ACTION_UPDATE_NODE_ALLOCATABLE}, NULL},
};
static const struct bt_event_registration host_name_events[] = {
	{{BT_RESOURCE_NODE, BT_ACTION_ADD}, NULL},
};
static const struct bt_event_registration port_events[] = {
	{{BT_RESOURCE_POD, BT_ACTION_DELETE}, NULL},
	{{BT_RESOURCE_NODE, BT_ACTION_ADD}, NULL},
};
static const struct bt_event_registration selector_events[] = {
	{{BT_RESOURCE_NODE, BT_ACTION_ADD | BT_ACTION_UPDATE_NODE_LABEL}, NULL},
};
static const struct bt_event_registration general_events[] = {
	{{BT_RESOURCE_POD, BT_ACTION_DELETE | BT_ACTION_UPDATE_POD_SCALE_DOWN}, NULL},
	{{BT_RESOURCE_NODE,
		 BT_ACTION_ADD | BT_ACTION_UPDATE_NODE_ALLOCATABLE | BT_ACTION_UPDATE_NODE_LABEL},
		NULL},
};

/* create and events_to_register of one plugin. */
#define GENERAL_PLUGIN(function_suffix, events) \
	static int create_##function_suffix(const struct bt_plugin_args *args, \
		const struct bt_handle *handle, struct bt_plugin **out_plugin, \
		struct berth_error *err) \
	{ \
		return bt_legacy_create_plain( \
			&bt_legacy_##function_suffix##_plugin, args, handle, out_plugin, err); \
	} \
	static int events_of_##function_suffix(BT_UNUSED struct bt_plugin *plugin, \
		const struct bt_event_registration **out_events, uint32_t *out_count, \
		BT_UNUSED struct berth_error *err) \
	{ \
		*out_events = (events); \
		*out_count = (uint32_t)BT_ARRAY_LENGTH(events); \
		return 0; \
	}

GENERAL_PLUGIN(pod_fits_resources, resource_events)
GENERAL_PLUGIN(host_name, host_name_events)
GENERAL_PLUGIN(pod_fits_host_ports, port_events)
GENERAL_PLUGIN(pod_fits_ports, port_events)
GENERAL_PLUGIN(match_node_selector, selector_events)
GENERAL_PLUGIN(general_predicates, general_events)

const struct bt_plugin_ops bt_legacy_pod_fits_resources_plugin = {
	.name = "PodFitsResources",
	.create = create_pod_fits_resources,
	.destroy = bt_plain_plugin_destroy,
	.events_to_register = events_of_pod_fits_resources,
	.pre_filter = pre_filter,
	.filter = filter_resources,
};

const struct bt_plugin_ops bt_legacy_host_name_plugin = {
	.name = "HostName",
	.create = create_host_name,
	.destroy = bt_plain_plugin_destroy,
	.events_to_register = events_of_host_name,
	.filter = filter_host_name,
};

const struct bt_plugin_ops bt_legacy_pod_fits_host_ports_plugin = {
	.name = "PodFitsHostPorts",
	.create = create_pod_fits_host_ports,
	.destroy = bt_plain_plugin_destroy,
	.events_to_register = events_of_pod_fits_host_ports,
	.pre_filter = pre_filter,
	.filter = filter_host_ports,
};

const struct bt_plugin_ops bt_legacy_pod_fits_ports_plugin = {
	.name = "PodFitsPorts",
	.create = create_pod_fits_ports,
	.destroy = bt_plain_plugin_destroy,
	.events_to_register = events_of_pod_fits_ports,
	.pre_filter = pre_filter,
	.filter = filter_port_numbers,
};

const struct bt_plugin_ops bt_legacy_match_node_selector_plugin = {
	.name = "MatchNodeSelector",
	.create = create_match_node_selector,
	.destroy = bt_plain_plugin_destroy,
	.events_to_register = events_of_match_node_selector,
	.pre_filter = pre_filter,
	.filter = filter_selector,
};

const struct bt_plugin_ops bt_legacy_general_predicates_plugin = {
	.name = "GeneralPredicates",
	.create = create_general_predicates,
	.destroy = bt_plain_plugin_destroy,
	.events_to_register = events_of_general_predicates,
	.pre_filter = pre_filter,
	.filter = filter_general,
};
