/* SPDX-License-Identifier: Apache-2.0 */
/** Queueing hints of DynamicResources. Spec: 04 (hints) section 6.15. */
#include "base/alloc.h"
#include "plugins/dynamic_resources.h"

/** Pods with more claims than this need memory to be asked. */
#define ENTRIES_USUAL 8

/** By uid; those of files may have none. */
static bool is_same_claim(const struct bt_object_meta *a, const struct bt_object_meta *b)
{
	return bt_str_equal(a->uid, b->uid) &&
		(a->uid.length != 0 ||
			(bt_str_equal(a->name, b->name) &&
				bt_str_equal(a->namespace_, b->namespace_)));
}

/** resolve(pod); *out_has: the claim (NULL: none) is among them. */
static bool resolve(const struct bt_plugin *plugin, const struct bt_pod *pod,
	const struct bt_object_meta *claim, bool *out_has)
{
	uint32_t entry_count = pod->spec.resource_claims.count;
	struct bt_resolved_claim few[ENTRIES_USUAL];
	struct bt_resolved_claim *claims = entry_count <= ENTRIES_USUAL
		? few
		: BT_NEW_ARRAY(struct bt_resolved_claim, entry_count);
	uint32_t count;
	bool resolved =
		bt_dynamic_resolve(bt_dynamic_resources_of(plugin), pod, claims, &count, NULL) == 0;

	*out_has = false;
	for (uint32_t i = 0; resolved && claim != NULL && i < count; i++) {
		*out_has |= is_same_claim(claims[i].claim->meta, claim);
	}
	if (claims != few) {
		bt_free(claims);
	}
	return resolved;
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

	if (!resolve(plugin, pod->object, &new_claim->metadata, &is_own)) {
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
			resolve(plugin, changed, NULL, &unused)
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
