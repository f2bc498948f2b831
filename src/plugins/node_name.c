/* SPDX-License-Identifier: Apache-2.0 */
/** NodeName (Filter): a pod with spec.nodeName fits only on that node. Spec: 05 section 6. */
#include "base/strbuf.h"
#include "plugins/common_columns.h"
#include "plugins/common_plugin.h"
#include "plugins/common_sign.h"
#include "plugins/in_tree.h"

static struct bt_status filter(struct bt_plugin *plugin, BT_UNUSED struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node)
{
	struct bt_str wanted = bt_plugin_pod_spec(pod)->node_name;

	if (wanted.length == 0 || bt_str_equal(wanted, bt_node_info_name(node))) {
		return BT_STATUS_OK;
	}
	return bt_plugin_rejection(plugin, BT_DETAIL_REJECTED);
}

static bool filter_column(BT_UNUSED struct bt_plugin *plugin, BT_UNUSED const void *data,
	const struct bt_pod_info *pod, const struct bt_state *state, struct bt_slot_range range,
	uint32_t *detail)
{
	struct bt_str wanted = bt_plugin_pod_spec(pod)->node_name;

	if (wanted.length == 0) {
		return false;
	}
	bt_fill_slots(range, detail, BT_DETAIL_REJECTED);
	uint32_t slot = bt_node_table_find(&state->nodes, wanted);
	if (slot != BT_SLOT_NONE && (range.slots != NULL || slot - range.first < range.count)) {
		detail[slot] = 0;
	}
	return true;
}

static struct bt_status sign(BT_UNUSED struct bt_plugin *plugin, const struct bt_pod_info *pod,
	struct bt_sign_fragments *out)
{
	struct bt_strbuf value = {0};

	bt_strbuf_append_str(&value, bt_plugin_pod_spec(pod)->node_name);
	bt_sign_add(out, BT_STR("v1.Pod.Spec.NodeName"), &value);
	return BT_STATUS_OK;
}

static const struct bt_event_registration events[] = {
	{{BT_RESOURCE_NODE, BT_ACTION_ADD}, NULL},
};

static const struct bt_plugin_shortcuts shortcuts = {
	.pure = true,
	.columns_split = true,
	.filter_column = filter_column,
	.rejections = {{BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE, BT_REASON_NODE_NAME}},
};

const struct bt_plugin_ops bt_node_name_plugin = {
	.name = "NodeName",
	.shortcuts = &shortcuts,
	.events = BT_EVENTS(events),
	.sign = sign,
	.filter = filter,
};
