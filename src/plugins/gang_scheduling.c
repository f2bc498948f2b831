/* SPDX-License-Identifier: Apache-2.0 */
/**
 * GangScheduling (PreEnqueue, Permit): pods of a gang start together or not at all. Without the
 * gate GenericWorkload the state keeps no groups, and every pod passes. Spec: 09 section 6; hints:
 * 04 (hints) section 6.17.
 */
#include "api/types.h"
#include "base/nanoseconds.h"
#include "framework/waiting_pods.h"
#include "plugins/common_plugin.h"
#include "plugins/common_pod_group.h"
#include "plugins/in_tree.h"
#include "state/pod_groups.h"

#define PERMIT_TIMEOUT_NS (300 * BT_NS_PER_SECOND)

/** The gang of a pod, and whether its group and members are known. */
struct gang {
	enum {
		GANG_NONE, /* the pod does not wait for other pods */
		GANG_NO_GROUP,
		GANG_NO_MEMBERS,
		GANG_KNOWN,
	} state;
	struct bt_str name;
	struct bt_group_members *members;
	int64_t min_count;
};

static struct gang find_gang(const struct bt_state *state, const struct bt_pod_info *pod)
{
	struct gang gang = {.state = GANG_NONE};

	if (state->pod_groups == NULL || bt_plugin_pod_spec(pod)->scheduling_group == NULL) {
		return gang;
	}
	gang.name = bt_plugin_pod_spec(pod)->scheduling_group->pod_group_name;
	const struct bt_pod_group *group = bt_object_store_find(
		&state->objects, BT_KIND_POD_GROUP, pod->namespace_, gang.name);
	if (group == NULL) {
		gang.state = GANG_NO_GROUP;
	} else if (group->spec.scheduling_policy.gang != NULL) {
		gang.members = bt_pod_groups_find(state, pod->namespace_, gang.name);
		gang.min_count = group->spec.scheduling_policy.gang->min_count;
		gang.state = gang.members != NULL ? GANG_KNOWN : GANG_NO_MEMBERS;
	}
	return gang;
}

static bool has_too_few_members(const struct gang *gang)
{
	return gang->state == GANG_KNOWN && (int64_t)gang->members->items.count < gang->min_count;
}

static struct bt_status pre_enqueue(
	struct bt_plugin *plugin, const struct bt_pod_info *pod, struct bt_arena *arena)
{
	struct gang gang = find_gang(bt_plugin_handle(plugin)->state, pod);

	if (gang.state == GANG_NO_GROUP) {
		return bt_status_printf(BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE, arena,
			"waiting for pods's pod group \"%.*s\" to appear in scheduling queue",
			BT_STR_ARG(gang.name));
	}
	if (gang.state == GANG_NO_MEMBERS) {
		return bt_pod_group_no_members(pod->namespace_, gang.name, arena);
	}
	if (has_too_few_members(&gang)) {
		return bt_status_reason(
			BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE, BT_REASON_GANG_WAITS_FOR_MEMBERS);
	}
	return BT_STATUS_OK;
}

static bool pre_enqueue_rejects(struct bt_plugin *plugin, const struct bt_pod_info *pod)
{
	struct gang gang = find_gang(bt_plugin_handle(plugin)->state, pod);

	return gang.state == GANG_NO_GROUP || has_too_few_members(&gang);
}

static bool pre_enqueue_passes(BT_UNUSED struct bt_plugin *plugin, const struct bt_shape *shape)
{
	return bt_shape_pod(shape)->spec.scheduling_group == NULL;
}

static struct bt_status permit(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, BT_UNUSED uint32_t slot, int64_t *out_timeout_ns)
{
	const struct bt_handle *handle = bt_plugin_handle(plugin);
	struct bt_state *state = handle->state;
	struct gang gang = find_gang(state, pod);

	if (gang.state == GANG_NONE) {
		return BT_STATUS_OK;
	}
	if (gang.state == GANG_NO_GROUP) {
		return bt_status_error_text(cycle->arena,
			bt_arena_printf(cycle->arena,
				"failed to get podGroup %.*s/%.*s: podgroup.scheduling.k8s.io "
				"\"%.*s\" not found",
				BT_STR_ARG(pod->namespace_), BT_STR_ARG(gang.name),
				BT_STR_ARG(gang.name)));
	}
	if (gang.state == GANG_NO_MEMBERS) {
		return bt_pod_group_no_members(pod->namespace_, gang.name, cycle->arena);
	}
	struct bt_group_members *members = gang.members;
	if ((int64_t)bt_group_scheduled_count(members, cycle->group != NULL) < gang.min_count) {
		bt_pod_groups_request_activation(state, members);
		*out_timeout_ns = PERMIT_TIMEOUT_NS;
		return bt_status_reason(BT_STATUS_WAIT, BT_REASON_GANG_WAITS_FOR_QUORUM);
	}
	if (cycle->group != NULL) {
		/*
		 * Differs from upstream: in a pod group cycle the pod is only tried and may still
		 * fail or wait for preemption, so waiting members are not released.
		 */
		return BT_STATUS_OK;
	}
	for (uint32_t i = 0; handle->waiting_pods != NULL && i < members->items.count; i++) {
		const struct bt_group_member *member = &members->items.items[i];
		struct bt_waiting_pod *waiting = member->is_assumed
			? bt_waiting_pods_find(handle->waiting_pods,
				  bt_symbol_text(&state->symbols, member->uid))
			: NULL;

		if (waiting != NULL) {
			bt_waiting_pod_allow(waiting, BT_STR("GangScheduling"));
		}
	}
	return BT_STATUS_OK;
}

static bool permit_quorum(
	struct bt_plugin *plugin, const struct bt_pod_info *pod, uint32_t *out_count)
{
	struct gang gang = find_gang(bt_plugin_handle(plugin)->state, pod);

	*out_count = 0;
	if (gang.state == GANG_KNOWN) {
		int64_t missing = gang.min_count - bt_group_scheduled_count(gang.members, true);
		*out_count = missing > 0 ? (uint32_t)missing : 0;
	}
	return gang.state == GANG_NONE || gang.state == GANG_KNOWN;
}

static bool after_pod_added(const struct bt_hint_call *call)
{
	const struct bt_pod *added = call->new_object;
	const struct bt_pod_scheduling_group *group =
		bt_plugin_pod_spec(call->pod)->scheduling_group;

	return group != NULL && added->spec.scheduling_group != NULL &&
		bt_str_equal(added->metadata.namespace_, call->pod->namespace_) &&
		bt_str_equal(added->spec.scheduling_group->pod_group_name, group->pod_group_name);
}

static bool after_group_added(const struct bt_hint_call *call)
{
	const struct bt_pod_group *added = call->new_object;
	const struct bt_pod_scheduling_group *group =
		bt_plugin_pod_spec(call->pod)->scheduling_group;

	return group != NULL && bt_str_equal(added->metadata.namespace_, call->pod->namespace_) &&
		bt_str_equal(added->metadata.name, group->pod_group_name);
}

static const struct bt_event_registration events[] = {
	{{BT_RESOURCE_POD, BT_ACTION_ADD}, after_pod_added},
	{{BT_RESOURCE_POD_GROUP, BT_ACTION_ADD}, after_group_added},
};

static const struct bt_plugin_shortcuts shortcuts = {
	.pre_enqueue_passes = pre_enqueue_passes,
	.pre_enqueue_rejects = pre_enqueue_rejects,
	.permit_quorum = permit_quorum,
	.hint_scope = BT_HINT_SCOPE_NAMESPACE,
};

const struct bt_plugin_ops bt_gang_scheduling_plugin = {
	.name = "GangScheduling",
	.shortcuts = &shortcuts,
	.pre_enqueue = pre_enqueue,
	.events = BT_EVENTS(events),
	.permit = permit,
};
