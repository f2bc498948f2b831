/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The predicates of v1.12 as Filter plugins, each with its rules and texts: PodFitsResources,
 * HostName, PodFitsHostPorts, MatchNodeSelector; GeneralPredicates, which runs these four and
 * reports all reasons; PodFitsPorts, which compares only port numbers, as v1.4 to v1.8 did; the
 * node conditions; taints. Spec: 05b A2, B4, B5, B12, D2.
 */
#include "api/selector.h"
#include "api/toleration.h"
#include "base/strbuf.h"
#include "base/wrap.h"
#include "framework/framework.h"
#include "plugins/common_legacy.h"
#include "plugins/in_tree.h"
#include "state/node_table.h"

/** Data of the pod for all predicates, computed once per cycle. */
struct general_data {
	struct bt_resource request;
	bt_host_port_list ports; /* ports of the containers; v1.12 had no sidecars */
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
	cycle->pre_filter_data[plugin->index] = compute_data(pod, cycle->arena);
	return BT_STATUS_OK;
}

static const struct general_data *data_of(const struct bt_plugin *plugin,
	const struct bt_cycle_state *cycle, const struct bt_pod_info *pod)
{
	const struct general_data *data = cycle->pre_filter_data[plugin->index];

	return data != NULL ? data : compute_data(pod, cycle->arena);
}

/**
 * Whether the resource is an extended resource that an extender manages and that the scheduler
 * ignores (managedResources with ignoredByScheduler). Spec 05b B4 (f).
 */
static bool is_ignored(const struct bt_plugin *plugin, struct bt_str name)
{
	const struct bt_framework *framework = bt_plugin_handle(plugin)->framework;

	if (framework == NULL || framework->config == NULL || !bt_resource_is_extended(name)) {
		return false;
	}
	for (uint32_t i = 0; i < framework->config->document.extenders.count; i++) {
		const struct bt_config_extender *extender =
			&framework->config->document.extenders.items[i];

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

/** Append the reasons why the pod's resources do not fit on the node. */
static void check_resources(struct bt_plugin *plugin, const struct bt_resource *request,
	const struct bt_node_info *node, struct bt_arena *arena, struct bt_status *status)
{
	if (node->pod_count + 1 > node->allocatable_pods) {
		add_reason(status, BT_REASON_LEGACY_INSUFFICIENT_PODS, arena);
	}
	int64_t amounts[BT_STANDARD__COUNT];
	bt_resource_get_standard(request, amounts);
	if (amounts[0] == 0 && amounts[1] == 0 && amounts[2] == 0 && request->scalar_count == 0) {
		return;
	}
	/*
	 * Resources that the pod does not request are checked too, as in v1.12: spec 05b B4 (b),
	 * (c).
	 */
	for (uint32_t i = 0; i < BT_STANDARD__COUNT; i++) {
		if (node->allocatable[i] < bt_wrap_add(amounts[i], node->requested[i])) {
			add_reason(status, (enum bt_reason)(BT_REASON_INSUFFICIENT_CPU + i), arena);
		}
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

	if (!node->state->nodes.rows[node->slot].has_node) {
		return bt_status_error_text(cycle->arena, BT_STR("node not found"));
	}
	check_resources(plugin, &data_of(plugin, cycle, pod)->request, node, cycle->arena, &status);
	return status.reason_count != 0 ? status : BT_STATUS_OK;
}

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

static struct bt_status filter_host_ports(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node)
{
	if (bt_plugin_ports_conflict(&data_of(plugin, cycle, pod)->ports, node)) {
		return bt_status_reason(BT_STATUS_UNSCHEDULABLE, BT_REASON_NODE_PORTS);
	}
	return BT_STATUS_OK;
}

static struct bt_status filter_port_numbers(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node)
{
	const bt_host_port_list *wanted = &data_of(plugin, cycle, pod)->ports;
	const struct bt_node_row *row = &node->state->nodes.rows[node->slot];
	uint32_t count = node->ports_changed ? node->ports.count : row->ports.count;

	/* Only port numbers are compared, whatever the address and protocol. */
	for (uint32_t i = 0; i < wanted->count; i++) {
		for (uint32_t k = 0; k < count; k++) {
			int32_t used = node->ports_changed ? node->ports.items[k].port
							   : row->ports.items[k].port;

			if (used == wanted->items[i].port) {
				return bt_status_reason(
					BT_STATUS_UNSCHEDULABLE, BT_REASON_NODE_PORTS);
			}
		}
	}
	return BT_STATUS_OK;
}

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

static struct bt_status filter_general(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node)
{
	const struct general_data *data = data_of(plugin, cycle, pod);
	struct bt_status status = bt_status_code_only(BT_STATUS_UNSCHEDULABLE);

	if (!node->state->nodes.rows[node->slot].has_node) {
		return bt_status_error_text(cycle->arena, BT_STR("node not found"));
	}
	check_resources(plugin, &data->request, node, cycle->arena, &status);
	/*
	 * If the host name or the node selector does not match, the whole status is unresolvable,
	 * because no removal of pods changes that.
	 */
	if (!name_matches(pod, node)) {
		add_reason(&status, BT_REASON_LEGACY_HOST_NAME, cycle->arena);
		status.code = BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE;
	}
	if (bt_plugin_ports_conflict(&data->ports, node)) {
		add_reason(&status, BT_REASON_NODE_PORTS, cycle->arena);
	}
	if (!selector_matches(&data->affinity, node, cycle->arena)) {
		add_reason(&status, BT_REASON_LEGACY_NODE_SELECTOR, cycle->arena);
		status.code = BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE;
	}
	return status.reason_count != 0 ? status : BT_STATUS_OK;
}

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

const struct bt_plugin_ops bt_legacy_pod_fits_resources_plugin = {
	.name = "PodFitsResources",
	.init = bt_legacy_init_plain,
	.events = BT_EVENTS(resource_events),
	.pre_filter = pre_filter,
	.filter = filter_resources,
};

const struct bt_plugin_ops bt_legacy_host_name_plugin = {
	.name = "HostName",
	.init = bt_legacy_init_plain,
	.events = BT_EVENTS(host_name_events),
	.filter = filter_host_name,
};

const struct bt_plugin_ops bt_legacy_pod_fits_host_ports_plugin = {
	.name = "PodFitsHostPorts",
	.init = bt_legacy_init_plain,
	.events = BT_EVENTS(port_events),
	.pre_filter = pre_filter,
	.filter = filter_host_ports,
};

const struct bt_plugin_ops bt_legacy_pod_fits_ports_plugin = {
	.name = "PodFitsPorts",
	.init = bt_legacy_init_plain,
	.events = BT_EVENTS(port_events),
	.pre_filter = pre_filter,
	.filter = filter_port_numbers,
};

const struct bt_plugin_ops bt_legacy_match_node_selector_plugin = {
	.name = "MatchNodeSelector",
	.init = bt_legacy_init_plain,
	.events = BT_EVENTS(selector_events),
	.pre_filter = pre_filter,
	.filter = filter_selector,
};

const struct bt_plugin_ops bt_legacy_general_predicates_plugin = {
	.name = "GeneralPredicates",
	.init = bt_legacy_init_plain,
	.events = BT_EVENTS(general_events),
	.pre_filter = pre_filter,
	.filter = filter_general,
};

/**
 * CheckNodeCondition, CheckNodeMemoryPressure, CheckNodeDiskPressure, CheckNodePIDPressure
 * (Filter): check the node's conditions. These predicates are older than the taints that the node
 * lifecycle controller makes from conditions. Spec: 05b B1, B2.
 */

/**
 * Whether a condition makes the node infeasible. type and status: a pair of bytes from the digest
 * of the node's conditions. *out_reason: the reason.
 */
static bool condition_fails(char type, char status, enum bt_reason *out_reason)
{
	switch (type) {
	case BT_CONDITION_READY:
		*out_reason = BT_REASON_LEGACY_NODE_NOT_READY;
		return status != BT_CONDITION_TRUE;
	case BT_CONDITION_OUT_OF_DISK:
		*out_reason = BT_REASON_LEGACY_NODE_OUT_OF_DISK;
		return status != BT_CONDITION_FALSE;
	case BT_CONDITION_NETWORK_UNAVAILABLE:
		*out_reason = BT_REASON_LEGACY_NODE_NETWORK_UNAVAILABLE;
		return status != BT_CONDITION_FALSE;
	default:
		return false;
	}
}

/** Whether the last condition of this type in the digest is True. */
static bool is_last_true(struct bt_str digest, char type)
{
	for (uint32_t i = digest.length & ~1U; i >= 2; i -= 2) {
		if (digest.data[i - 2] == type) {
			return digest.data[i - 1] == BT_CONDITION_TRUE;
		}
	}
	return false;
}

static bool has_positive(const struct bt_resource_list *list)
{
	struct bt_quantity zero = {0};
	const struct bt_quantity *cpu = bt_resource_list_find(list, BT_STR("cpu"));
	const struct bt_quantity *memory = bt_resource_list_find(list, BT_STR("memory"));

	return (cpu != NULL && bt_quantity_compare(cpu, &zero) > 0) ||
		(memory != NULL && bt_quantity_compare(memory, &zero) > 0);
}

static bool has_requests(const struct bt_resource_requirements *resources)
{
	return has_positive(&resources->requests) || has_positive(&resources->limits);
}

static bool is_best_effort(const struct bt_pod_info *pod)
{
	const struct bt_pod_spec *spec = bt_plugin_pod_spec(pod);
	const bt_container_list *const lists[] = {&spec->containers, &spec->init_containers};

	if (pod->object != NULL && pod->object->status.qos_class.length != 0) {
		return bt_str_equal_c(pod->object->status.qos_class, "BestEffort");
	}
	if (spec->resources != NULL) {
		return !has_requests(spec->resources);
	}
	for (uint32_t n = 0; n < BT_ARRAY_LENGTH(lists); n++) {
		for (uint32_t i = 0; i < lists[n]->count; i++) {
			if (has_requests(&lists[n]->items[i].resources)) {
				return false;
			}
		}
	}
	return true;
}

static struct bt_status filter_condition(BT_UNUSED struct bt_plugin *plugin,
	struct bt_cycle_state *cycle, BT_UNUSED const struct bt_pod_info *pod,
	const struct bt_node_info *node)
{
	struct bt_str digest = bt_node_info_conditions(node);
	struct bt_error_list reasons = {0};
	enum bt_reason reason;

	if (!node->state->nodes.rows[node->slot].has_node) {
		return bt_status_reason(BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE,
			BT_REASON_LEGACY_NODE_UNKNOWN_CONDITION);
	}
	for (uint32_t i = 0; i + 1 < digest.length; i += 2) {
		if (condition_fails(digest.data[i], digest.data[i + 1], &reason)) {
			bt_error_list_add(&reasons, cycle->arena, bt_reason_texts[reason]);
		}
	}
	if (bt_node_info_unschedulable(node)) {
		bt_error_list_add(
			&reasons, cycle->arena, bt_reason_texts[BT_REASON_NODE_UNSCHEDULABLE]);
	}
	if (reasons.count == 0) {
		return BT_STATUS_OK;
	}
	return (struct bt_status){
		.code = BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE,
		.reason_count = reasons.count,
		.reasons = reasons.items,
	};
}

/**
 * Context of a pressure plugin: the condition, and the reason to report if the condition is True.
 */
struct pressure {
	char type;
	enum bt_reason reason;
};

static const struct pressure memory_pressure = {
	BT_CONDITION_MEMORY_PRESSURE, BT_REASON_LEGACY_MEMORY_PRESSURE};
static const struct pressure disk_pressure = {
	BT_CONDITION_DISK_PRESSURE, BT_REASON_LEGACY_DISK_PRESSURE};
static const struct pressure pid_pressure = {
	BT_CONDITION_PID_PRESSURE, BT_REASON_LEGACY_PID_PRESSURE};

static struct bt_status filter_pressure(struct bt_plugin *plugin,
	BT_UNUSED struct bt_cycle_state *cycle, const struct bt_pod_info *pod,
	const struct bt_node_info *node)
{
	const struct pressure *pressure = plugin->ops->context;

	/* Memory pressure affects only BestEffort pods. */
	if ((pressure->type == BT_CONDITION_MEMORY_PRESSURE && !is_best_effort(pod)) ||
		!is_last_true(bt_node_info_conditions(node), pressure->type)) {
		return BT_STATUS_OK;
	}
	return bt_status_reason(BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE, pressure->reason);
}

static bool passes(const struct bt_plugin *plugin, const struct bt_node *node)
{
	const struct pressure *pressure = plugin->ops->context; /* NULL: CheckNodeCondition */
	struct bt_strbuf digest = {0};
	bool is_good;

	bt_node_conditions_digest(&node->status, &digest);
	if (pressure == NULL) {
		struct bt_str conditions = bt_strbuf_str(&digest);
		enum bt_reason reason;

		is_good = !node->spec.unschedulable;
		for (uint32_t i = 0; i + 1 < conditions.length; i += 2) {
			is_good &= !condition_fails(
				conditions.data[i], conditions.data[i + 1], &reason);
		}
	} else {
		is_good = !is_last_true(bt_strbuf_str(&digest), pressure->type);
	}
	bt_strbuf_finish(&digest);
	return is_good;
}

static bool after_condition_change(const struct bt_hint_call *call)
{
	bool failed_before = call->old_object == NULL || !passes(call->plugin, call->old_object);

	return failed_before && passes(call->plugin, call->new_object);
}

/* Uncordoning a node is reported as a taint update (spec 02 section 10.1). */
static const struct bt_event_registration condition_events[] = {
	{{BT_RESOURCE_NODE,
		 BT_ACTION_ADD | BT_ACTION_UPDATE_NODE_CONDITION | BT_ACTION_UPDATE_NODE_TAINT},
		after_condition_change},
};
static const struct bt_event_registration pressure_events[] = {
	{{BT_RESOURCE_NODE, BT_ACTION_ADD | BT_ACTION_UPDATE_NODE_CONDITION},
		after_condition_change},
};

const struct bt_plugin_ops bt_legacy_check_node_condition_plugin = {
	.name = "CheckNodeCondition",
	.init = bt_legacy_init_plain,
	.events = BT_EVENTS(condition_events),
	.filter = filter_condition,
};

const struct bt_plugin_ops bt_legacy_check_node_memory_pressure_plugin = {
	.name = "CheckNodeMemoryPressure",
	.init = bt_legacy_init_plain,
	.context = &memory_pressure,
	.events = BT_EVENTS(pressure_events),
	.filter = filter_pressure,
};

const struct bt_plugin_ops bt_legacy_check_node_disk_pressure_plugin = {
	.name = "CheckNodeDiskPressure",
	.init = bt_legacy_init_plain,
	.context = &disk_pressure,
	.events = BT_EVENTS(pressure_events),
	.filter = filter_pressure,
};

const struct bt_plugin_ops bt_legacy_check_node_pid_pressure_plugin = {
	.name = "CheckNodePIDPressure",
	.init = bt_legacy_init_plain,
	.context = &pid_pressure,
	.events = BT_EVENTS(pressure_events),
	.filter = filter_pressure,
};

/**
 * PodToleratesNodeTaints (Filter): NoSchedule and NoExecute taints, with the reason of v1.12.
 * PodToleratesNodeNoExecuteTaints (Filter): NoExecute only, for pods that must ignore NoSchedule.
 * Spec: 05b A2, B3.
 */

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

static bool after_node_change(const struct bt_hint_call *call)
{
	const struct bt_node *old_node = call->old_object;
	const struct bt_node *new_node = call->new_object;
	bool failed_before =
		old_node == NULL || !is_tolerated(call->plugin, &old_node->spec.taints, call->pod);

	return failed_before && is_tolerated(call->plugin, &new_node->spec.taints, call->pod);
}

static const struct bt_event_registration events[] = {
	{{BT_RESOURCE_NODE, BT_ACTION_ADD | BT_ACTION_UPDATE_NODE_TAINT}, after_node_change},
	{{BT_RESOURCE_POD, BT_ACTION_UPDATE_POD_TOLERATION}, bt_hint_if_pod_itself},
};

const struct bt_plugin_ops bt_legacy_pod_tolerates_node_taints_plugin = {
	.name = "PodToleratesNodeTaints",
	.init = bt_legacy_init_plain,
	.events = BT_EVENTS(events),
	.filter = filter,
};

const struct bt_plugin_ops bt_legacy_pod_tolerates_node_no_execute_taints_plugin = {
	.name = "PodToleratesNodeNoExecuteTaints",
	.init = bt_legacy_init_plain,
	.events = BT_EVENTS(events),
	.filter = filter,
};
