/* SPDX-License-Identifier: Apache-2.0 */
/**
 * VolumeRestrictions (PreFilter, Filter): disks and ReadWriteOncePod claims that two pods may not
 * share. Spec: 07.
 *
 * Not yet restricted: pods with such volumes are placed as if they had none until spec chapter 07
 * is implemented. Nothing is rejected, so the hints of the registered events are never asked.
 */
#include "plugins/common_inert.h"
#include "plugins/common_plugin.h"
#include "plugins/common_sign.h"
#include "plugins/in_tree.h"

static const struct bt_event_registration events[] = {
	{{BT_RESOURCE_POD, BT_ACTION_DELETE}, NULL},
	{{BT_RESOURCE_NODE, BT_ACTION_ADD}, NULL},
	{{BT_RESOURCE_PERSISTENT_VOLUME_CLAIM, BT_ACTION_ADD}, NULL},
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
	return bt_plain_plugin_create(&bt_volume_restrictions_plugin, handle, out_plugin);
}

const struct bt_plugin_ops bt_volume_restrictions_plugin = {
	.name = "VolumeRestrictions",
	.create = create,
	.destroy = bt_plain_plugin_destroy,
	.pure = true,
	.events_to_register = events_to_register,
	.sign = bt_sign_volume_plugin,
	.pre_filter = bt_inert_pre_filter,
	.filter = bt_inert_filter,
};
