/* SPDX-License-Identifier: Apache-2.0 */
/**
 * GangScheduling (PreEnqueue, Permit): pods of a gang start together or not at all. Spec: 09
 * section 6. Never enabled by default.
 *
 * Not yet restricted: members of a pod group are placed one by one until spec chapter 09 is
 * implemented. Nothing is rejected yet, so the hints are never asked. Hints: 04 (hints) section
 * 6.17.
 */
#include "api/types.h"
#include "plugins/common_plugin.h"
#include "plugins/in_tree.h"

static struct bt_status pre_enqueue(BT_UNUSED struct bt_plugin *plugin,
	BT_UNUSED const struct bt_pod_info *pod, BT_UNUSED struct bt_arena *arena)
{
	return BT_STATUS_OK;
}

static bool pre_enqueue_passes(
	BT_UNUSED struct bt_plugin *plugin, BT_UNUSED const struct bt_shape *shape)
{
	return true;
}

static struct bt_status permit(BT_UNUSED struct bt_plugin *plugin,
	BT_UNUSED struct bt_cycle_state *cycle, BT_UNUSED const struct bt_pod_info *pod,
	BT_UNUSED uint32_t slot, BT_UNUSED int64_t *out_timeout_ns)
{
	return BT_STATUS_OK;
}

static const struct bt_pod_scheduling_group *group_of(const struct bt_pod_info *pod)
{
	return bt_plugin_pod_spec(pod)->scheduling_group;
}

static enum bt_queueing_hint after_pod_added(BT_UNUSED struct bt_plugin *plugin,
	const struct bt_pod_info *pod, BT_UNUSED const void *old_object, const void *new_object,
	BT_UNUSED struct berth_error *err)
{
	const struct bt_pod *added = new_object;
	const struct bt_pod_scheduling_group *group = group_of(pod);

	return group != NULL && added->spec.scheduling_group != NULL &&
			bt_str_equal(added->metadata.namespace_, pod->namespace_) &&
			bt_str_equal(
				added->spec.scheduling_group->pod_group_name, group->pod_group_name)
		? BT_HINT_QUEUE
		: BT_HINT_SKIP;
}

static enum bt_queueing_hint after_group_added(BT_UNUSED struct bt_plugin *plugin,
	const struct bt_pod_info *pod, BT_UNUSED const void *old_object, const void *new_object,
	BT_UNUSED struct berth_error *err)
{
	const struct bt_pod_group *added = new_object;
	const struct bt_pod_scheduling_group *group = group_of(pod);

	return group != NULL && bt_str_equal(added->metadata.namespace_, pod->namespace_) &&
			bt_str_equal(added->metadata.name, group->pod_group_name)
		? BT_HINT_QUEUE
		: BT_HINT_SKIP;
}

static const struct bt_event_registration events[] = {
	{{BT_RESOURCE_POD, BT_ACTION_ADD}, after_pod_added},
	{{BT_RESOURCE_POD_GROUP, BT_ACTION_ADD}, after_group_added},
};

static const struct bt_plugin_shortcuts shortcuts = {
	.pre_enqueue_passes = pre_enqueue_passes,
	.hint_scope = BT_HINT_SCOPE_NAMESPACE,
};

const struct bt_plugin_ops bt_gang_scheduling_plugin = {
	.name = "GangScheduling",
	.create = bt_plain_plugin_create,
	.destroy = bt_plain_plugin_destroy,
	.shortcuts = &shortcuts,
	.pre_enqueue = pre_enqueue,
	.events = BT_EVENTS(events),
	.permit = permit,
};
