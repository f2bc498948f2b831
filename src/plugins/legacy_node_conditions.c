/* SPDX-License-Identifier: Apache-2.0 */
/**
 * CheckNodeCondition, CheckNodeMemoryPressure, CheckNodeDiskPressure, CheckNodePIDPressure
 * (Filter): node conditions as predicates, from before the node lifecycle controller wrote them as
 * taints. Spec: 05b B1, B2.
 */
#include "plugins/common_legacy.h"
#include "plugins/legacy.h"
#include "state/node_table.h"

/* --- cores: on bt_node_conditions_digest (state/node_table.h) --- */

/** The condition keeps pods away; *out_reason says why. */
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

static uint32_t count_failing_conditions(struct bt_str digest)
{
	uint32_t count = 0;
	enum bt_reason reason;

	for (uint32_t i = 0; i + 1 < digest.length; i += 2) {
		count += condition_fails(digest.data[i], digest.data[i + 1], &reason) ? 1 : 0;
	}
	return count;
}

/** Of several conditions of a type the last one counts. */
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

static bool asks_for_something(const struct bt_resource_requirements *resources)
{
	return has_positive(&resources->requests) || has_positive(&resources->limits);
}

static bool is_best_effort(const struct bt_pod_info *pod)
{
	const struct bt_pod_spec *spec = bt_plugin_pod_spec(pod);

	if (pod->object != NULL && pod->object->status.qos_class.length != 0) {
		return bt_str_equal_c(pod->object->status.qos_class, "BestEffort");
	}
	if (spec->resources != NULL) {
		return !asks_for_something(spec->resources);
	}
	for (uint32_t i = 0; i < spec->containers.count; i++) {
		if (asks_for_something(&spec->containers.items[i].resources)) {
			return false;
		}
	}
	for (uint32_t i = 0; i < spec->init_containers.count; i++) {
		if (asks_for_something(&spec->init_containers.items[i].resources)) {
			return false;
		}
	}
	return true;
}

/* --- CheckNodeCondition --- */

static struct bt_status filter_condition(BT_UNUSED struct bt_plugin *plugin,
	struct bt_cycle_state *cycle, BT_UNUSED const struct bt_pod_info *pod,
	const struct bt_node_info *node)
{
	struct bt_str digest = bt_node_info_conditions(node);
	bool unschedulable = bt_node_info_unschedulable(node);
	uint32_t count = count_failing_conditions(digest) + (unschedulable ? 1 : 0);
	struct bt_str *reasons;
	struct bt_status status = bt_status_code_only(BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE);
	enum bt_reason reason;

	if (!bt_legacy_has_node(node)) {
		return bt_status_reason(BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE,
			BT_REASON_LEGACY_NODE_UNKNOWN_CONDITION);
	}
	if (count == 0) {
		return BT_STATUS_OK;
	}
	reasons = BT_ARENA_NEW_ARRAY(cycle->arena, struct bt_str, count);
	for (uint32_t i = 0; i + 1 < digest.length; i += 2) {
		if (condition_fails(digest.data[i], digest.data[i + 1], &reason)) {
			reasons[status.reason_count++] = bt_reason_texts[reason];
		}
	}
	if (unschedulable) {
		reasons[status.reason_count++] = bt_reason_texts[BT_REASON_NODE_UNSCHEDULABLE];
	}
	status.reasons = reasons;
	return status;
}

static bool passes_condition(const struct bt_node *node, BT_UNUSED char type)
{
	struct bt_strbuf digest = {0};
	bool passes;

	bt_node_conditions_digest(&node->status, &digest);
	passes = !node->spec.unschedulable && count_failing_conditions(bt_strbuf_str(&digest)) == 0;
	bt_strbuf_finish(&digest);
	return passes;
}

/* --- pressure --- */

static struct bt_status filter_pressure(
	const struct bt_node_info *node, char type, enum bt_reason reason)
{
	if (is_last_true(bt_node_info_conditions(node), type)) {
		return bt_status_reason(BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE, reason);
	}
	return BT_STATUS_OK;
}

static struct bt_status filter_memory(BT_UNUSED struct bt_plugin *plugin,
	BT_UNUSED struct bt_cycle_state *cycle, const struct bt_pod_info *pod,
	const struct bt_node_info *node)
{
	if (!is_best_effort(pod)) {
		return BT_STATUS_OK;
	}
	return filter_pressure(
		node, BT_CONDITION_MEMORY_PRESSURE, BT_REASON_LEGACY_MEMORY_PRESSURE);
}

static struct bt_status filter_disk(BT_UNUSED struct bt_plugin *plugin,
	BT_UNUSED struct bt_cycle_state *cycle, BT_UNUSED const struct bt_pod_info *pod,
	const struct bt_node_info *node)
{
	return filter_pressure(node, BT_CONDITION_DISK_PRESSURE, BT_REASON_LEGACY_DISK_PRESSURE);
}

static struct bt_status filter_pid(BT_UNUSED struct bt_plugin *plugin,
	BT_UNUSED struct bt_cycle_state *cycle, BT_UNUSED const struct bt_pod_info *pod,
	const struct bt_node_info *node)
{
	return filter_pressure(node, BT_CONDITION_PID_PRESSURE, BT_REASON_LEGACY_PID_PRESSURE);
}

static bool passes_pressure(const struct bt_node *node, char type)
{
	struct bt_strbuf digest = {0};
	bool passes;

	bt_node_conditions_digest(&node->status, &digest);
	passes = !is_last_true(bt_strbuf_str(&digest), type);
	bt_strbuf_finish(&digest);
	return passes;
}

/* --- events: a node that passes now and did not before --- */

static enum bt_queueing_hint hint_if_better(bool (*passes)(const struct bt_node *node, char type),
	char type, const struct bt_node *old_node, const struct bt_node *new_node)
{
	bool failed_before = old_node == NULL || !passes(old_node, type);

	return failed_before && passes(new_node, type) ? BT_HINT_QUEUE : BT_HINT_SKIP;
}

static enum bt_queueing_hint after_condition_change(BT_UNUSED struct bt_plugin *plugin,
	BT_UNUSED const struct bt_pod_info *pod, const void *old_object, const void *new_object,
	BT_UNUSED struct berth_error *err)
{
	return hint_if_better(passes_condition, 0, old_object, new_object);
}

static enum bt_queueing_hint after_memory_change(BT_UNUSED struct bt_plugin *plugin,
	BT_UNUSED const struct bt_pod_info *pod, const void *old_object, const void *new_object,
	BT_UNUSED struct berth_error *err)
{
	return hint_if_better(
		passes_pressure, BT_CONDITION_MEMORY_PRESSURE, old_object, new_object);
}

static enum bt_queueing_hint after_disk_change(BT_UNUSED struct bt_plugin *plugin,
	BT_UNUSED const struct bt_pod_info *pod, const void *old_object, const void *new_object,
	BT_UNUSED struct berth_error *err)
{
	return hint_if_better(passes_pressure, BT_CONDITION_DISK_PRESSURE, old_object, new_object);
}

static enum bt_queueing_hint after_pid_change(BT_UNUSED struct bt_plugin *plugin,
	BT_UNUSED const struct bt_pod_info *pod, const void *old_object, const void *new_object,
	BT_UNUSED struct berth_error *err)
{
	return hint_if_better(passes_pressure, BT_CONDITION_PID_PRESSURE, old_object, new_object);
}

/* Uncordoning is a taint update (spec 02 section 10.1). */
static const struct bt_event_registration condition_events[] = {
	{{BT_RESOURCE_NODE,
		 BT_ACTION_ADD | BT_ACTION_UPDATE_NODE_CONDITION | BT_ACTION_UPDATE_NODE_TAINT},
		after_condition_change},
};
static const struct bt_event_registration memory_events[] = {
	{{BT_RESOURCE_NODE, BT_ACTION_ADD | BT_ACTION_UPDATE_NODE_CONDITION}, after_memory_change},
};
static const struct bt_event_registration disk_events[] = {
	{{BT_RESOURCE_NODE, BT_ACTION_ADD | BT_ACTION_UPDATE_NODE_CONDITION}, after_disk_change},
};
static const struct bt_event_registration pid_events[] = {
	{{BT_RESOURCE_NODE, BT_ACTION_ADD | BT_ACTION_UPDATE_NODE_CONDITION}, after_pid_change},
};

static int events_to_register(struct bt_plugin *plugin,
	const struct bt_event_registration **out_events, uint32_t *out_count,
	BT_UNUSED struct berth_error *err)
{
	if (plugin->ops == &bt_legacy_check_node_condition_plugin) {
		*out_events = condition_events;
	} else if (plugin->ops == &bt_legacy_check_node_memory_pressure_plugin) {
		*out_events = memory_events;
	} else if (plugin->ops == &bt_legacy_check_node_disk_pressure_plugin) {
		*out_events = disk_events;
	} else {
		*out_events = pid_events;
	}
	*out_count = 1;
	return 0;
}

static int create_condition(const struct bt_plugin_args *args, const struct bt_handle *handle,
	struct bt_plugin **out_plugin, struct berth_error *err)
{
	return bt_legacy_create_plain(
		&bt_legacy_check_node_condition_plugin, args, handle, out_plugin, err);
}

static int create_memory(const struct bt_plugin_args *args, const struct bt_handle *handle,
	struct bt_plugin **out_plugin, struct berth_error *err)
{
	return bt_legacy_create_plain(
		&bt_legacy_check_node_memory_pressure_plugin, args, handle, out_plugin, err);
}

static int create_disk(const struct bt_plugin_args *args, const struct bt_handle *handle,
	struct bt_plugin **out_plugin, struct berth_error *err)
{
	return bt_legacy_create_plain(
		&bt_legacy_check_node_disk_pressure_plugin, args, handle, out_plugin, err);
}

static int create_pid(const struct bt_plugin_args *args, const struct bt_handle *handle,
	struct bt_plugin **out_plugin, struct berth_error *err)
{
	return bt_legacy_create_plain(
		&bt_legacy_check_node_pid_pressure_plugin, args, handle, out_plugin, err);
}

const struct bt_plugin_ops bt_legacy_check_node_condition_plugin = {
	.name = "CheckNodeCondition",
	.create = create_condition,
	.destroy = bt_plain_plugin_destroy,
	.events_to_register = events_to_register,
	.filter = filter_condition,
};

const struct bt_plugin_ops bt_legacy_check_node_memory_pressure_plugin = {
	.name = "CheckNodeMemoryPressure",
	.create = create_memory,
	.destroy = bt_plain_plugin_destroy,
	.events_to_register = events_to_register,
	.filter = filter_memory,
};

const struct bt_plugin_ops bt_legacy_check_node_disk_pressure_plugin = {
	.name = "CheckNodeDiskPressure",
	.create = create_disk,
	.destroy = bt_plain_plugin_destroy,
	.events_to_register = events_to_register,
	.filter = filter_disk,
};

const struct bt_plugin_ops bt_legacy_check_node_pid_pressure_plugin = {
	.name = "CheckNodePIDPressure",
	.create = create_pid,
	.destroy = bt_plain_plugin_destroy,
	.events_to_register = events_to_register,
	.filter = filter_pid,
};
