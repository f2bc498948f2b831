/* SPDX-License-Identifier: Apache-2.0 */
/**
 * NodeUnschedulable (Filter): a cordoned node accepts only pods that tolerate the taint
 * node.kubernetes.io/unschedulable. Spec: 05 section 7.
 */
#include <string.h>

#include "api/toleration.h"
#include "plugins/common_columns.h"
#include "plugins/common_plugin.h"
#include "plugins/common_sign.h"
#include "plugins/in_tree.h"

/* The taint that a pod must tolerate; the node's taints are not checked. */
static const struct bt_taint unschedulable_taint = {
	.key = BT_STR_INIT("node.kubernetes.io/unschedulable"),
	.value = BT_STR_INIT(""),
	.effect = BT_STR_INIT("NoSchedule"),
};

static bool tolerates_unschedulable(const struct bt_plugin *plugin, const struct bt_pod_spec *spec)
{
	return bt_tolerations_tolerate(&spec->tolerations, &unschedulable_taint,
		bt_plugin_gate(plugin, BT_GATE_TAINT_TOLERATION_COMPARISON_OPERATORS));
}

static struct bt_status filter(struct bt_plugin *plugin, BT_UNUSED struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node)
{
	if (!bt_node_info_unschedulable(node) ||
		tolerates_unschedulable(plugin, bt_plugin_pod_spec(pod))) {
		return BT_STATUS_OK;
	}
	return bt_plugin_rejection(plugin, BT_DETAIL_REJECTED);
}

static bool filter_column(struct bt_plugin *plugin, BT_UNUSED const void *data,
	const struct bt_pod_info *pod, const struct bt_state *state, struct bt_slot_range range,
	uint32_t *detail)
{
	const uint8_t *unschedulable = state->nodes.unschedulable;

	if (range.slots == NULL && memchr(unschedulable + range.first, 1, range.count) == NULL) {
		return false;
	}
	if (tolerates_unschedulable(plugin, bt_plugin_pod_spec(pod))) {
		return false;
	}
	for (uint32_t k = 0; k < range.count; k++) {
		uint32_t slot = bt_slot_at(range, k);
		detail[slot] = unschedulable[slot] != 0 ? BT_DETAIL_REJECTED : 0;
	}
	return true;
}

static bool after_node_change(const struct bt_hint_call *call)
{
	const struct bt_node *old_node = call->old_object;
	const struct bt_node *new_node = call->new_object;
	bool was_closed = old_node == NULL || old_node->spec.unschedulable;

	return was_closed && !new_node->spec.unschedulable;
}

static bool after_toleration_change(const struct bt_hint_call *call)
{
	const struct bt_pod *changed = call->new_object;

	if (!bt_str_equal(changed->metadata.uid, call->pod->uid)) {
		return false;
	}
	return tolerates_unschedulable(call->plugin, &changed->spec);
}

static const struct bt_event_registration events[] = {
	{{BT_RESOURCE_NODE, BT_ACTION_ADD | BT_ACTION_UPDATE_NODE_TAINT}, after_node_change},
	{{BT_RESOURCE_POD, BT_ACTION_UPDATE_POD_TOLERATION}, after_toleration_change},
};

static const struct bt_plugin_shortcuts shortcuts = {
	.pure = true,
	.columns_split = true,
	.hint_scope = BT_HINT_SCOPE_SHAPE,
	.filter_reads = BT_CHANGE_TAINTS,
	.filter_column = filter_column,
	.rejections = {{BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE, BT_REASON_NODE_UNSCHEDULABLE}},
};

const struct bt_plugin_ops bt_node_unschedulable_plugin = {
	.name = "NodeUnschedulable",
	.shortcuts = &shortcuts,
	.events = BT_EVENTS(events),
	.sign = bt_sign_tolerations,
	.filter = filter,
};
