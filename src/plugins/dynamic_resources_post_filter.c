/* SPDX-License-Identifier: Apache-2.0 */
/**
 * PostFilter of DynamicResources: no node fits, and a claim that is allocated where the pod cannot
 * run holds its devices in vain. Spec: 12 section 10.
 */
#include "api/types.h"
#include "base/error.h"
#include "plugins/common_pod_group.h"
#include "plugins/dynamic_resources.h"

static struct bt_status unschedulable(enum bt_reason reason)
{
	return bt_status_reason(BT_STATUS_UNSCHEDULABLE, reason);
}

/* --- pod groups: step 4 --- */

/** The claim of a group's entry; NULL: there is none that is the group's. */
static int find_group_claim(const struct bt_dynamic_resources *instance,
	const struct bt_pod_group *group, const struct bt_pod_group_resource_claim *entry,
	const struct bt_resource_claim **out_claim, struct berth_error *err)
{
	const struct bt_pod_group_resource_claim_status *status = NULL;
	const struct bt_owner_reference *owner;
	struct bt_str name = entry->resource_claim_name;
	const struct bt_object *object;

	*out_claim = NULL;
	if (name.data == NULL && entry->resource_claim_template_name.data == NULL) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"PodGroup %.*s/%.*s, spec.resourceClaim %.*s: none of the supported fields "
			"are set",
			BT_STR_ARG(group->metadata.namespace_), BT_STR_ARG(group->metadata.name),
			BT_STR_ARG(entry->name));
	}
	for (uint32_t i = 0; name.data == NULL && i < group->status.resource_claim_statuses.count;
		i++) {
		if (bt_str_equal(
			    group->status.resource_claim_statuses.items[i].name, entry->name)) {
			status = &group->status.resource_claim_statuses.items[i];
			break;
		}
	}
	if (name.data == NULL && status == NULL) {
		return bt_error_set(err, BERTH_ERR_STATE,
			"PodGroup %.*s/%.*s: ResourceClaim not created yet",
			BT_STR_ARG(group->metadata.namespace_), BT_STR_ARG(group->metadata.name));
	}
	name = name.data == NULL ? status->resource_claim_name : name;
	object = name.data != NULL
		? bt_claim_cache_find(&instance->dra->claims, group->metadata.namespace_, name)
		: NULL;
	owner = object != NULL ? bt_object_controller(object->meta) : NULL;
	if (object != NULL &&
		(entry->resource_claim_name.data != NULL ||
			(owner != NULL && bt_str_equal(owner->uid, group->metadata.uid)))) {
		*out_claim = bt_object_value(object, BT_KIND_RESOURCE_CLAIM);
	}
	return 0;
}

/** The group's reservations of claims, when none of its pods is scheduled. */
static struct bt_status unreserve_group(
	struct bt_plugin *plugin, struct bt_cycle_state *cycle, const struct bt_pod_info *pod)
{
	const struct bt_dynamic_resources *instance = bt_dynamic_resources_of(plugin);
	const struct bt_state *state = instance->base.handle->state;
	struct bt_str name = bt_plugin_pod_group_name(&pod->object->spec);
	struct berth_error err = BERTH_ERROR_INIT;
	const struct bt_pod_group *group =
		bt_object_store_find(&state->objects, BT_KIND_POD_GROUP, pod->namespace_, name);

	if (group == NULL) {
		return bt_status_error_text(cycle->arena,
			bt_arena_printf(cycle->arena,
				"podgroup.scheduling.k8s.io \"%.*s\" not found", BT_STR_ARG(name)));
	}
	if (bt_pod_group_scheduled_count(state, pod->namespace_, name) != 0) {
		return BT_STATUS_OK;
	}
	for (uint32_t i = 0; i < group->spec.resource_claims.count; i++) {
		const struct bt_resource_claim *claim;

		if (find_group_claim(instance, group, &group->spec.resource_claims.items[i], &claim,
			    &err) != 0) {
			return bt_status_from_error(cycle->arena, &err);
		}
		if (claim != NULL && claim->status.allocation != NULL &&
			bt_dynamic_is_reserved_for(instance, claim, pod->object)) {
			bt_dynamic_unreserve_claim(
				instance, pod, claim, group->metadata.uid, cycle->arena);
			return bt_status_reason(BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE,
				BT_REASON_CLAIM_UNRESERVED_FOR_GROUP);
		}
	}
	return BT_STATUS_OK;
}

/* --- the point --- */

/** Steps 2 and 3; Success: nothing was done. */
static struct bt_status free_claims(
	struct bt_plugin *plugin, struct bt_cycle_state *cycle, const struct bt_pod_info *pod)
{
	struct bt_dynamic_cycle *data = bt_dynamic_cycle_of(plugin, cycle);
	struct berth_error err = BERTH_ERROR_INIT;

	for (uint32_t i = 0; i < data->user_count; i++) {
		const struct bt_dynamic_claim *claim = &data->claims[i];

		/* Nobody but the pod has it. */
		if (!claim->is_unavailable ||
			!(claim->claim->status.reserved_for.count == 0 ||
				(claim->claim->status.reserved_for.count == 1 &&
					bt_str_equal(claim->claim->status.reserved_for.items[0].uid,
						pod->uid)))) {
			continue;
		}
		return bt_dynamic_deallocate(
			       bt_dynamic_resources_of(plugin), pod, claim->object, &err) != 0
			? bt_status_from_error(cycle->arena, &err)
			: unschedulable(BT_REASON_CLAIM_DEALLOCATED);
	}
	if (data->count > data->user_count &&
		!bt_extended_is_in_memory(data->claims[data->user_count].claim)) {
		return bt_extended_delete(bt_dynamic_resources_of(plugin), pod,
			       data->claims[data->user_count].object, cycle->arena, &err) != 0
			? bt_status_from_error(cycle->arena, &err)
			: unschedulable(BT_REASON_SPECIAL_CLAIM_DELETED);
	}
	return BT_STATUS_OK;
}

/**
 * Upstream quirk, spec 08 section 4.1: when an earlier plugin ended PreFilter for good, there is no
 * state to read, and the chain of PostFilter plugins ends here with that error.
 */
struct bt_status bt_dynamic_post_filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, BT_UNUSED const struct bt_node_statuses *statuses,
	BT_UNUSED struct bt_post_filter_result *out_result)
{
	const struct bt_dynamic_cycle *data = bt_dynamic_cycle_of(plugin, cycle);
	struct bt_status status;

	if (data == NULL) {
		return bt_dynamic_state_missing(cycle->arena);
	}
	if (data->count == 0) {
		return unschedulable(BT_REASON_NO_NEW_CLAIMS);
	}
	status = free_claims(plugin, cycle, pod);
	if (bt_status_is_success(&status) &&
		bt_plugin_pod_group_name(&pod->object->spec).length != 0 &&
		bt_plugin_gate(plugin, BT_GATE_DRA_WORKLOAD_RESOURCE_CLAIMS)) {
		status = unreserve_group(plugin, cycle, pod);
	}
	return bt_status_is_success(&status) ? unschedulable(BT_REASON_CLAIMS_STILL_NOT_SCHEDULABLE)
					     : status;
}
