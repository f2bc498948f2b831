/* SPDX-License-Identifier: Apache-2.0 */
/**
 * PodTopologySpread (PreFilter, Filter, PreScore, Score): pods of a kind spread over zones and
 * hosts. Spec: 06.
 *
 * Not yet restricted: spread constraints of a pod, and the default ones that services and
 * controllers select, have no effect until spec chapter 06 is implemented. Nothing is rejected, so
 * the hints of the registered events are never asked.
 */
#include "base/alloc.h"
#include "plugins/common_inert.h"
#include "plugins/common_plugin.h"
#include "plugins/in_tree.h"

struct pod_topology_spread_plugin {
	struct bt_plugin base;
	const struct bt_handle *handle;
	bool has_default_constraints;
};

static struct bt_status sign(struct bt_plugin *plugin, const struct bt_pod_info *pod,
	BT_UNUSED struct bt_sign_fragments *out)
{
	const struct pod_topology_spread_plugin *instance =
		(const struct pod_topology_spread_plugin *)(const void *)plugin;

	if (bt_plugin_pod_spec(pod)->topology_spread_constraints.count > 0) {
		return bt_status_reason(
			BT_STATUS_UNSCHEDULABLE, BT_REASON_SIGN_TOPOLOGY_CONSTRAINTS);
	}
	if (instance->has_default_constraints) {
		return bt_status_reason(
			BT_STATUS_UNSCHEDULABLE, BT_REASON_SIGN_DEFAULT_TOPOLOGY_CONSTRAINTS);
	}
	return BT_STATUS_OK;
}

static const struct bt_event_registration events[] = {
	{{BT_RESOURCE_POD,
		 BT_ACTION_ADD | BT_ACTION_UPDATE_POD_LABEL | BT_ACTION_UPDATE_POD_TOLERATION |
			 BT_ACTION_DELETE},
		NULL},
	{{BT_RESOURCE_NODE,
		 BT_ACTION_ADD | BT_ACTION_DELETE | BT_ACTION_UPDATE_NODE_LABEL |
			 BT_ACTION_UPDATE_NODE_TAINT},
		NULL},
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
	struct pod_topology_spread_plugin *instance;
	int code = bt_plugin_args_expect(
		args, BT_ARGS_POD_TOPOLOGY_SPREAD, "want args to be of type", handle, err);

	if (code != 0) {
		return code;
	}
	instance = BT_NEW(struct pod_topology_spread_plugin);
	instance->base.ops = &bt_pod_topology_spread_plugin;
	instance->handle = handle;
	instance->has_default_constraints =
		bt_str_equal_c(args->pod_topology_spread.defaulting_type, "System") ||
		args->pod_topology_spread.default_constraints.count > 0;
	*out_plugin = &instance->base;
	return 0;
}

const struct bt_plugin_ops bt_pod_topology_spread_plugin = {
	.name = "PodTopologySpread",
	.create = create,
	.destroy = bt_plain_plugin_destroy,
	.pure = true,
	.events_to_register = events_to_register,
	.sign = sign,
	.pre_filter = bt_inert_pre_filter,
	.filter = bt_inert_filter,
	.pre_score = bt_inert_pre_score,
	.score = bt_inert_score,
};
