/* SPDX-License-Identifier: Apache-2.0 */
/**
 * SchedulingGates (PreEnqueue): keeps pods with scheduling gates out of the active queue. Spec: 05
 * section 5.
 */
#include "base/strbuf.h"
#include "plugins/common_plugin.h"
#include "plugins/in_tree.h"

static struct bt_status pre_enqueue(
	BT_UNUSED struct bt_plugin *plugin, const struct bt_pod_info *pod, struct bt_arena *arena)
{
	const struct bt_pod_spec *spec = bt_plugin_pod_spec(pod);
	struct bt_strbuf text = {0};
	struct bt_status status;

	if (spec->scheduling_gates.count == 0) {
		return BT_STATUS_OK;
	}
	bt_strbuf_append_c(&text, "waiting for scheduling gates: [");
	for (uint32_t i = 0; i < spec->scheduling_gates.count; i++) {
		if (i > 0) {
			bt_strbuf_append_char(&text, ' ');
		}
		bt_strbuf_append_str(&text, spec->scheduling_gates.items[i].name);
	}
	bt_strbuf_append_char(&text, ']');
	status = bt_status_text(
		BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE, arena, bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
	return status;
}

static bool pre_enqueue_passes(BT_UNUSED struct bt_plugin *plugin, const struct bt_shape *shape)
{
	return bt_shape_pod(shape)->spec.scheduling_gates.count == 0;
}

static const struct bt_event_registration events[] = {
	{{BT_RESOURCE_POD, BT_ACTION_UPDATE_POD_SCHEDULING_GATES_ELIMINATED},
		bt_hint_if_pod_itself},
};

static const struct bt_plugin_shortcuts shortcuts = {
	.pre_enqueue_passes = pre_enqueue_passes,
	.hint_scope = BT_HINT_SCOPE_SHAPE,
};

const struct bt_plugin_ops bt_scheduling_gates_plugin = {
	.name = "SchedulingGates",
	.shortcuts = &shortcuts,
	.pre_enqueue = pre_enqueue,
	.events = BT_EVENTS(events),
};
