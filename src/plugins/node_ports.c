/* SPDX-License-Identifier: Apache-2.0 */
/**
 * NodePorts (PreFilter, Filter): the pod's host ports must be free on the node. Spec: 05 section
 * 10; ports: 05 section 3.7.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "api/resources.h"
#include "base/strbuf.h"
#include "plugins/common_columns.h"
#include "plugins/common_plugin.h"
#include "plugins/common_sign.h"
#include "plugins/in_tree.h"

struct node_ports_pre_filter_data {
	bt_host_port_list wanted; /* normalised, never empty; borrowed from the shape */
};

static struct bt_status pre_filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, BT_UNUSED struct bt_pre_filter_result *out_result)
{
	if (pod->shape->host_ports.count == 0) {
		return bt_status_code_only(BT_STATUS_SKIP);
	}
	struct node_ports_pre_filter_data *data =
		BT_ARENA_NEW(cycle->arena, struct node_ports_pre_filter_data);
	data->wanted = pod->shape->host_ports;
	bt_plugin_set_pre_filter_data(plugin, cycle, data);
	return BT_STATUS_OK;
}

static struct bt_status filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	BT_UNUSED const struct bt_pod_info *pod, const struct bt_node_info *node)
{
	const struct node_ports_pre_filter_data *data = bt_plugin_pre_filter_data(plugin, cycle);

	if (data == NULL) {
		return bt_status_error_text(cycle->arena,
			BT_STR("reading \"PreFilterNodePorts\" from cycleState: not found"));
	}
	for (uint32_t i = 0; i < data->wanted.count; i++) {
		if (bt_node_info_port_conflicts(node, &data->wanted.items[i])) {
			return bt_status_reason(BT_STATUS_UNSCHEDULABLE, BT_REASON_NODE_PORTS);
		}
	}
	return BT_STATUS_OK;
}

static bool conflicts_on_slot(
	const struct node_ports_pre_filter_data *data, const struct bt_state *state, uint32_t slot)
{
	struct bt_node_info node;

	if (state->nodes.rows[slot].ports.count == 0) {
		return false;
	}
	bt_node_info_init(&node, state, slot);
	for (uint32_t i = 0; i < data->wanted.count; i++) {
		if (bt_node_info_port_conflicts(&node, &data->wanted.items[i])) {
			return true;
		}
	}
	return false;
}

static bool filter_column(BT_UNUSED struct bt_plugin *plugin, const void *data,
	BT_UNUSED const struct bt_pod_info *pod, const struct bt_state *state,
	struct bt_slot_range range, uint32_t *detail)
{
	for (uint32_t k = 0; k < range.count; k++) {
		uint32_t slot = bt_slot_at(range, k);
		detail[slot] = conflicts_on_slot(data, state, slot) ? BT_DETAIL_REJECTED : 0;
	}
	return true;
}

static struct bt_status filter_detail_status(BT_UNUSED struct bt_plugin *plugin,
	BT_UNUSED const void *data, BT_UNUSED const struct bt_pod_info *pod,
	BT_UNUSED uint32_t detail, BT_UNUSED struct bt_arena *arena)
{
	return bt_status_reason(BT_STATUS_UNSCHEDULABLE, BT_REASON_NODE_PORTS);
}

static int compare_ports(const void *a, const void *b)
{
	int32_t left = *(const int32_t *)a;
	int32_t right = *(const int32_t *)b;

	return (left > right) - (left < right);
}

static uint32_t port_count(const bt_container_list *containers)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < containers->count; i++) {
		count += containers->items[i].ports.count;
	}
	return count;
}

static uint32_t collect_ports(const bt_container_list *containers, int32_t *ports, uint32_t count)
{
	for (uint32_t i = 0; i < containers->count; i++) {
		const struct bt_container *container = &containers->items[i];

		for (uint32_t k = 0; k < container->ports.count; k++) {
			if (container->ports.items[k].host_port != 0) {
				ports[count++] = container->ports.items[k].host_port;
			}
		}
	}
	return count;
}

/*
 * Upstream quirk, spec 05 section 3.13: ports of all init containers are signed, without address
 * and protocol.
 */
static struct bt_status sign(BT_UNUSED struct bt_plugin *plugin, const struct bt_pod_info *pod,
	struct bt_sign_fragments *out)
{
	const struct bt_pod_spec *spec = bt_plugin_pod_spec(pod);
	int32_t *ports = BT_ARENA_NEW_ARRAY(out->arena, int32_t,
		(size_t)port_count(&spec->containers) + port_count(&spec->init_containers));
	uint32_t count = collect_ports(&spec->containers, ports, 0);
	struct bt_strbuf value = {0};

	count = collect_ports(&spec->init_containers, ports, count);
	if (count > 1) {
		qsort(ports, count, sizeof(*ports), compare_ports);
	}
	for (uint32_t i = 0; i < count; i++) {
		if (i == 0 || ports[i] != ports[i - 1]) {
			bt_strbuf_printf(&value, "%" PRId32 ",", ports[i]);
		}
	}
	bt_sign_add(out, BT_STR("v1.Pod.Spec.HostPorts()"), &value);
	bt_strbuf_finish(&value);
	return BT_STATUS_OK;
}

static bool any_conflict(const bt_host_port_list *wanted, const bt_host_port_list *used)
{
	for (uint32_t i = 0; i < wanted->count; i++) {
		for (uint32_t k = 0; k < used->count; k++) {
			if (bt_host_port_conflicts(&wanted->items[i], &used->items[k])) {
				return true;
			}
		}
	}
	return false;
}

static enum bt_queueing_hint after_pod_delete(BT_UNUSED struct bt_plugin *plugin,
	const struct bt_pod_info *pod, const void *old_object, BT_UNUSED const void *new_object,
	BT_UNUSED struct berth_error *err)
{
	const struct bt_pod *deleted = old_object;
	struct bt_arena arena = {0};

	if (!bt_plugin_pod_is_placed(deleted)) {
		return BT_HINT_SKIP;
	}
	bt_host_port_list freed = bt_pod_host_ports(&deleted->spec, &arena);
	bool helps = any_conflict(&pod->shape->host_ports, &freed);
	bt_arena_finish(&arena);
	return helps ? BT_HINT_QUEUE : BT_HINT_SKIP;
}

static const struct bt_event_registration events[] = {
	{{BT_RESOURCE_POD, BT_ACTION_DELETE}, after_pod_delete},
	{{BT_RESOURCE_NODE, BT_ACTION_ADD}, NULL},
};

static const struct bt_plugin_shortcuts shortcuts = {
	.pure = true,
	.columns_split = true,
	.hint_scope = BT_HINT_SCOPE_SHAPE,
	.filter_reads = BT_CHANGE_PORTS,
	.filter_column = filter_column,
	.filter_detail_status = filter_detail_status,
};

const struct bt_plugin_ops bt_node_ports_plugin = {
	.name = "NodePorts",
	.create = bt_plain_plugin_create,
	.destroy = bt_plain_plugin_destroy,
	.shortcuts = &shortcuts,
	.events = BT_EVENTS(events),
	.sign = sign,
	.pre_filter = pre_filter,
	.filter = filter,
};
