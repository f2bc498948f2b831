/* SPDX-License-Identifier: Apache-2.0 */
/**
 * GangScheduling (PreEnqueue, Permit): pods of a gang start together or not at all. Spec: 09
 * section 6. Never enabled by default.
 *
 * Not yet restricted: members of a pod group are placed one by one until spec chapter 09 is
 * implemented. Nothing is rejected, so the hints of the registered events are never asked.
 */
#include "plugins/common_inert.h"
#include "plugins/common_plugin.h"
#include "plugins/in_tree.h"

static struct bt_status permit(BT_UNUSED struct bt_plugin *plugin,
	BT_UNUSED struct bt_cycle_state *cycle, BT_UNUSED const struct bt_pod_info *pod,
	BT_UNUSED uint32_t slot, BT_UNUSED int64_t *out_timeout_ns)
{
	return BT_STATUS_OK;
}

static const struct bt_event_registration events[] = {
	{{BT_RESOURCE_POD, BT_ACTION_ADD}, NULL},
	{{BT_RESOURCE_POD_GROUP, BT_ACTION_ADD}, NULL},
};

static int events_to_register(BT_UNUSED struct bt_plugin *plugin,
	const struct bt_event_registration **out_events, uint32_t *out_count,
	BT_UNUSED struct berth_error *err)
{
	*out_events = events;
	*out_count = BT_ARRAY_LENGTH(events);
	return 0;
}

static int create(BT_UNUSED const struct bt_plugin_args *args, const struct bt_handle *handle,
	struct bt_plugin **out_plugin, BT_UNUSED struct berth_error *err)
{
	return bt_plain_plugin_create(&bt_gang_scheduling_plugin, handle, out_plugin);
}

const struct bt_plugin_ops bt_gang_scheduling_plugin = {
	.name = "GangScheduling",
	.create = create,
	.destroy = bt_plain_plugin_destroy,
	.pre_enqueue = bt_inert_pre_enqueue,
	.events_to_register = events_to_register,
	.permit = permit,
};
