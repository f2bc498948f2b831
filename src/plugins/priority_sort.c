/* SPDX-License-Identifier: Apache-2.0 */
/**
 * PrioritySort (QueueSort): higher priority first, then the pod that entered the queue earlier.
 * Spec: 05 section 4.
 */
#include "plugins/common_plugin.h"
#include "plugins/in_tree.h"

static bool less(BT_UNUSED struct bt_plugin *plugin, const struct bt_queued_pod *a,
	const struct bt_queued_pod *b)
{
	if (a->pod->priority != b->pod->priority) {
		return a->pod->priority > b->pod->priority;
	}
	return a->timestamp_ns < b->timestamp_ns;
}

static const struct bt_plugin_shortcuts shortcuts = {
	.less_is_priority_then_time = true,
};

const struct bt_plugin_ops bt_priority_sort_plugin = {
	.name = "PrioritySort",
	.shortcuts = &shortcuts,
	.less = less,
};
