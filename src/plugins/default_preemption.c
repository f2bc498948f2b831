/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DefaultPreemption (PreEnqueue, PostFilter): makes room for a pod by removing pods of lower
 * priority. Spec: 08.
 *
 * Not yet: no pod is preempted until spec chapter 08 is implemented; PostFilter then answers that
 * it found no help.
 */
#include "plugins/common_inert.h"
#include "plugins/common_plugin.h"
#include "plugins/in_tree.h"

static struct bt_status post_filter(BT_UNUSED struct bt_plugin *plugin,
	BT_UNUSED struct bt_cycle_state *cycle, BT_UNUSED const struct bt_pod_info *pod,
	BT_UNUSED const struct bt_node_statuses *statuses,
	BT_UNUSED struct bt_post_filter_result *out_result)
{
	return bt_status_code_only(BT_STATUS_UNSCHEDULABLE);
}

/* The registration only has gated pods looked at again; the plugins that rejected the pod decide
 * (spec 08 section 12). */
static enum bt_queueing_hint after_pod_delete(BT_UNUSED struct bt_plugin *plugin,
	BT_UNUSED const struct bt_pod_info *pod, BT_UNUSED const void *old_object,
	BT_UNUSED const void *new_object, BT_UNUSED struct berth_error *err)
{
	return BT_HINT_SKIP;
}

static const struct bt_event_registration events[] = {
	{{BT_RESOURCE_POD, BT_ACTION_DELETE}, after_pod_delete},
};

static int events_to_register(BT_UNUSED struct bt_plugin *plugin,
	const struct bt_event_registration **out_events, uint32_t *out_count,
	BT_UNUSED struct berth_error *err)
{
	*out_events = events;
	*out_count = BT_ARRAY_LENGTH(events);
	return 0;
}

static int create(const struct bt_plugin_args *args, const struct bt_handle *handle,
	struct bt_plugin **out_plugin, struct berth_error *err)
{
	int code = bt_plugin_check_args(args, handle, err);

	return code != 0
		? code
		: bt_plain_plugin_create(&bt_default_preemption_plugin, handle, out_plugin);
}

const struct bt_plugin_ops bt_default_preemption_plugin = {
	.name = "DefaultPreemption",
	.create = create,
	.destroy = bt_plain_plugin_destroy,
	.pre_enqueue = bt_inert_pre_enqueue,
	.events_to_register = events_to_register,
	.post_filter = post_filter,
};
