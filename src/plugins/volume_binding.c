/* SPDX-License-Identifier: Apache-2.0 */
/**
 * VolumeBinding (PreFilter, Filter, PreScore, Score, Reserve, PreBind): claims of a pod are bound
 * or can be bound on the node. Spec: 07.
 *
 * Not yet restricted: pods with claims are placed without looking at their volumes, and no claim is
 * bound, until spec chapter 07 is implemented. Nothing is rejected, so the hints of the registered
 * events are never asked.
 */
#include "plugins/common_inert.h"
#include "plugins/common_plugin.h"
#include "plugins/common_sign.h"
#include "plugins/in_tree.h"

/* With the gate the plugin scores 0 everywhere instead of stepping aside. */
static struct bt_status pre_score(struct bt_plugin *plugin, BT_UNUSED struct bt_cycle_state *cycle,
	BT_UNUSED const struct bt_pod_info *pod, BT_UNUSED const uint32_t *slots,
	BT_UNUSED uint32_t slot_count)
{
	if (bt_plugin_gate(plugin, BT_GATE_STORAGE_CAPACITY_SCORING)) {
		return BT_STATUS_OK;
	}
	return bt_status_code_only(BT_STATUS_SKIP);
}

static const struct bt_event_registration events[] = {
	{{BT_RESOURCE_STORAGE_CLASS, BT_ACTION_ADD | BT_ACTION_UPDATE}, NULL},
	{{BT_RESOURCE_PERSISTENT_VOLUME_CLAIM, BT_ACTION_ADD | BT_ACTION_UPDATE}, NULL},
	{{BT_RESOURCE_PERSISTENT_VOLUME, BT_ACTION_ADD | BT_ACTION_UPDATE}, NULL},
	{{BT_RESOURCE_NODE, BT_ACTION_ADD | BT_ACTION_UPDATE_NODE_LABEL}, NULL},
	{{BT_RESOURCE_CSI_NODE, BT_ACTION_ADD | BT_ACTION_UPDATE}, NULL},
	{{BT_RESOURCE_CSI_DRIVER, BT_ACTION_UPDATE}, NULL},
	{{BT_RESOURCE_CSI_STORAGE_CAPACITY, BT_ACTION_ADD | BT_ACTION_UPDATE}, NULL},
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

	return code != 0 ? code
			 : bt_plain_plugin_create(&bt_volume_binding_plugin, handle, out_plugin);
}

const struct bt_plugin_ops bt_volume_binding_plugin = {
	.name = "VolumeBinding",
	.create = create,
	.destroy = bt_plain_plugin_destroy,
	.pure = true,
	.events_to_register = events_to_register,
	.sign = bt_sign_volume_plugin,
	.pre_filter = bt_inert_pre_filter,
	.filter = bt_inert_filter,
	.pre_score = pre_score,
	.score = bt_inert_score,
	.reserve = bt_inert_slot,
	.unreserve = bt_inert_unreserve,
	.pre_bind_pre_flight = bt_inert_pre_bind_pre_flight,
	.pre_bind = bt_inert_slot,
};
