/* SPDX-License-Identifier: Apache-2.0 */
/**
 * NodePorts (PreFilter, Filter): the pod's host ports must be free on the node. Spec: 05 section
 * 10; ports: 05 section 3.7.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "api/resources.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "plugins/common_columns.h"
#include "plugins/common_plugin.h"
#include "plugins/common_sign.h"
#include "plugins/in_tree.h"

static struct bt_status pre_filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, BT_UNUSED struct bt_pre_filter_result *out_result)
{
	if (pod->shape->host_ports.count == 0) {
		return bt_status_code_only(BT_STATUS_SKIP);
	}
	/* The shape's ports are normalised. There is at least one port. */
	bt_host_port_list *wanted = BT_ARENA_NEW(cycle->arena, bt_host_port_list);
	*wanted = pod->shape->host_ports;
	cycle->pre_filter_data[plugin->index] = wanted;
	return BT_STATUS_OK;
}

static struct bt_status filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	BT_UNUSED const struct bt_pod_info *pod, const struct bt_node_info *node)
{
	const bt_host_port_list *wanted = cycle->pre_filter_data[plugin->index];

	if (wanted == NULL) {
		return bt_status_error_text(cycle->arena,
			BT_STR("reading \"PreFilterNodePorts\" from cycleState: not "
			       "found"));
	}
	return bt_plugin_ports_conflict(wanted, node)
		? bt_plugin_rejection(plugin, BT_DETAIL_REJECTED)
		: BT_STATUS_OK;
}

static bool filter_column(BT_UNUSED struct bt_plugin *plugin, const void *data,
	BT_UNUSED const struct bt_pod_info *pod, const struct bt_state *state,
	struct bt_slot_range range, uint32_t *detail)
{
	for (uint32_t k = 0; k < range.count; k++) {
		uint32_t slot = bt_slot_at(range, k);
		struct bt_node_info node;

		detail[slot] = 0;
		if (state->nodes.rows[slot].ports.count != 0) {
			bt_node_info_init(&node, state, slot);
			detail[slot] =
				bt_plugin_ports_conflict(data, &node) ? BT_DETAIL_REJECTED : 0;
		}
	}
	return true;
}

BT_COMPARE(compare_ports, int32_t, BT_ORDER(*a, *b))

/*
 * Upstream quirk, spec 05 section 3.13: ports of all init containers are signed, without
 * address and protocol.
 */
static struct bt_status sign(BT_UNUSED struct bt_plugin *plugin, const struct bt_pod_info *pod,
	struct bt_sign_fragments *out)
{
	const struct bt_pod_spec *spec = bt_plugin_pod_spec(pod);
	const bt_container_list *const lists[] = {&spec->containers, &spec->init_containers};
	BT_VEC(int32_t) ports = {0};
	struct bt_strbuf value = {0};

	for (uint32_t n = 0; n < BT_ARRAY_LENGTH(lists); n++) {
		for (uint32_t i = 0; i < lists[n]->count; i++) {
			const struct bt_container *container = &lists[n]->items[i];

			for (uint32_t k = 0; k < container->ports.count; k++) {
				if (container->ports.items[k].host_port != 0) {
					bt_vec_push(&ports, container->ports.items[k].host_port);
				}
			}
		}
	}
	if (ports.count > 1) {
		qsort(ports.items, ports.count, sizeof(*ports.items), compare_ports);
	}
	for (uint32_t i = 0; i < ports.count; i++) {
		if (i == 0 || ports.items[i] != ports.items[i - 1]) {
			bt_strbuf_printf(&value, "%" PRId32 ",", ports.items[i]);
		}
	}
	bt_vec_finish(&ports);
	bt_sign_add(out, BT_STR("v1.Pod.Spec.HostPorts()"), &value);
	return BT_STATUS_OK;
}

static bool after_pod_delete(const struct bt_hint_call *call)
{
	const struct bt_pod *deleted = call->old_object;
	const bt_host_port_list *wanted = &call->pod->shape->host_ports;
	struct bt_arena arena = {0};
	bool helps = false;

	if (!bt_plugin_pod_is_placed(deleted)) {
		return false;
	}
	bt_host_port_list freed = bt_pod_host_ports(&deleted->spec, &arena);
	for (uint32_t i = 0; i < wanted->count; i++) {
		for (uint32_t k = 0; k < freed.count; k++) {
			helps |= bt_host_port_conflicts(&wanted->items[i], &freed.items[k]);
		}
	}
	bt_arena_finish(&arena);
	return helps;
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
	.rejections = {{BT_STATUS_UNSCHEDULABLE, BT_REASON_NODE_PORTS}},
};

const struct bt_plugin_ops bt_node_ports_plugin = {
	.name = "NodePorts",
	.shortcuts = &shortcuts,
	.events = BT_EVENTS(events),
	.sign = sign,
	.pre_filter = pre_filter,
	.filter = filter,
};
