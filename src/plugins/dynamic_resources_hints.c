/* SPDX-License-Identifier: Apache-2.0 */
/** Queueing hints of DynamicResources. Spec: 04 (hints) section 6.15. */
#include "api/resource_claim.h"
#include "plugins/common_plugin.h"
#include "plugins/dynamic_resources.h"

/** Names that belong together in a pod's spec and status. */
static const struct bt_pod_resource_claim_status *find_status(
	const struct bt_pod *pod, struct bt_str name)
{
	for (uint32_t i = 0; i < pod->status.resource_claim_statuses.count; i++) {
		if (bt_str_equal(pod->status.resource_claim_statuses.items[i].name, name)) {
			return &pod->status.resource_claim_statuses.items[i];
		}
	}
	return NULL;
}

/** The claim's controller is the pod or, with the gate for it, the pod's group. */
static bool is_owner(const struct bt_plugin *plugin, const struct bt_pod *pod,
	const struct bt_resource_claim *claim)
{
	const struct bt_owner_reference *owner = bt_object_controller(&claim->metadata);
	const struct bt_pod_scheduling_group *group = pod->spec.scheduling_group;

	if (owner == NULL) {
		return false;
	}
	return bt_str_equal(owner->uid, pod->metadata.uid) ||
		(group != NULL && bt_plugin_gate(plugin, BT_GATE_DRA_WORKLOAD_RESOURCE_CLAIMS) &&
			bt_str_equal_c(owner->kind, "PodGroup") &&
			bt_str_equal(owner->name, group->pod_group_name));
}

/**
 * One entry of spec.resourceClaims. *out_claim is NULL when the entry needs no claim. false: it
 * cannot be resolved.
 */
static bool resolve_entry(const struct bt_plugin *plugin, const struct bt_pod *pod,
	const struct bt_pod_resource_claim *entry, const struct bt_resource_claim **out_claim)
{
	bool generated = entry->resource_claim_name.data == NULL;
	struct bt_str name = entry->resource_claim_name;

	*out_claim = NULL;
	if (generated) {
		const struct bt_pod_resource_claim_status *status = find_status(pod, entry->name);

		if (entry->resource_claim_template_name.data == NULL || status == NULL) {
			return false;
		}
		if (status->resource_claim_name.data == NULL) {
			return true;
		}
		name = status->resource_claim_name;
	}
	*out_claim = bt_object_store_find(&bt_plugin_handle(plugin)->state->objects,
		BT_KIND_RESOURCE_CLAIM, pod->metadata.namespace_, name);
	return *out_claim != NULL && (*out_claim)->metadata.deletion_timestamp == NULL &&
		(!generated || is_owner(plugin, pod, *out_claim));
}

/** resolve(pod); *out_has: one of the claims has this uid ("" is nobody's). */
static bool resolve(
	const struct bt_plugin *plugin, const struct bt_pod *pod, struct bt_str uid, bool *out_has)
{
	*out_has = false;
	for (uint32_t i = 0; i < pod->spec.resource_claims.count; i++) {
		const struct bt_resource_claim *claim;

		if (!resolve_entry(plugin, pod, &pod->spec.resource_claims.items[i], &claim)) {
			return false;
		}
		*out_has |= claim != NULL && bt_str_equal(claim->metadata.uid, uid);
	}
	return true;
}

/** Absent and empty lists are equal. */
static struct bt_resource_claim status_alone(const struct bt_resource_claim *claim)
{
	struct bt_resource_claim alone = {.status = claim->status};

	alone.status.reserved_for.present = alone.status.reserved_for.count > 0;
	alone.status.devices.present = alone.status.devices.count > 0;
	return alone;
}

static bool has_same_status(const struct bt_resource_claim *a, const struct bt_resource_claim *b)
{
	struct bt_resource_claim x = status_alone(a);
	struct bt_resource_claim y = status_alone(b);

	return bt_message_equal(&bt_resource_claim_message, &x, &y);
}

static enum bt_queueing_hint after_claim_change(struct bt_plugin *plugin,
	const struct bt_pod_info *pod, const void *old_object, const void *new_object,
	BT_UNUSED struct berth_error *err)
{
	const struct bt_resource_claim *old_claim = old_object;
	const struct bt_resource_claim *new_claim = new_object;
	bool is_own;

	if (!resolve(plugin, pod->object, new_claim->metadata.uid, &is_own)) {
		return BT_HINT_SKIP;
	}
	/* Whosever it was, its devices are free. */
	if (old_claim != NULL && old_claim->status.allocation != NULL &&
		new_claim->status.allocation == NULL) {
		return BT_HINT_QUEUE;
	}
	return is_own && (old_claim == NULL || !has_same_status(old_claim, new_claim))
		? BT_HINT_QUEUE
		: BT_HINT_SKIP;
}

static enum bt_queueing_hint after_pod_change(struct bt_plugin *plugin,
	const struct bt_pod_info *pod, BT_UNUSED const void *old_object, const void *new_object,
	BT_UNUSED struct berth_error *err)
{
	const struct bt_pod *changed = new_object;
	bool unused;

	return bt_str_equal(changed->metadata.uid, pod->uid) &&
			resolve(plugin, changed, BT_STR(""), &unused)
		? BT_HINT_QUEUE
		: BT_HINT_SKIP;
}

static const struct bt_event_registration events[] = {
	{{BT_RESOURCE_NODE,
		 BT_ACTION_ADD | BT_ACTION_UPDATE_NODE_LABEL | BT_ACTION_UPDATE_NODE_ALLOCATABLE},
		NULL},
	{{BT_RESOURCE_RESOURCE_CLAIM, BT_ACTION_ADD | BT_ACTION_UPDATE}, after_claim_change},
	{{BT_RESOURCE_POD, BT_ACTION_UPDATE_POD_GENERATED_RESOURCE_CLAIM}, after_pod_change},
	{{BT_RESOURCE_DEVICE_CLASS, BT_ACTION_ADD | BT_ACTION_UPDATE}, NULL},
	{{BT_RESOURCE_RESOURCE_SLICE, BT_ACTION_ADD | BT_ACTION_UPDATE}, NULL},
};

enum bt_hint_scope bt_dynamic_resources_hint_scope(BT_UNUSED struct bt_plugin *plugin,
	BT_UNUSED const struct bt_shape *shape, const struct bt_cluster_event *event,
	BT_UNUSED const void *old_object, BT_UNUSED const void *new_object)
{
	static const struct bt_str claim = BT_RESOURCE_RESOURCE_CLAIM;

	/* Which claims were generated stands in the pod's status. */
	return bt_str_equal(event->resource, claim) ? BT_HINT_SCOPE_POD : BT_HINT_SCOPE_SHAPE;
}

int bt_dynamic_resources_events_to_register(BT_UNUSED struct bt_plugin *plugin,
	const struct bt_event_registration **out_events, uint32_t *out_count,
	BT_UNUSED struct berth_error *err)
{
	*out_events = events;
	*out_count = BT_ARRAY_LENGTH(events);
	return 0;
}
