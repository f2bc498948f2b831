/* SPDX-License-Identifier: Apache-2.0 */
/** Finds a pod's claims and their consumers. Spec: 12 section 6. */
#include "api/resource_claim.h"
#include "base/error.h"
#include "plugins/dynamic_resources.h"

#define NS_NAME "%.*s/%.*s"
#define NS_NAME_ARG(meta) BT_STR_ARG((meta)->namespace_), BT_STR_ARG((meta)->name)
#define GROUP_API "scheduling.k8s.io"

int bt_dynamic_entry_name(const struct bt_pod *pod, const struct bt_pod_resource_claim *entry,
	struct bt_str *out_name, bool *out_generated, struct berth_error *err)
{
	*out_generated = entry->resource_claim_name.data == NULL;
	*out_name = entry->resource_claim_name;
	if (!*out_generated) {
		return 0;
	}
	if (entry->resource_claim_template_name.data == NULL) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"pod \"" NS_NAME "\", spec.resourceClaim \"%.*s\": none of the supported "
			"fields are set",
			NS_NAME_ARG(&pod->metadata), BT_STR_ARG(entry->name));
	}
	const struct bt_pod_resource_claim_status *status = bt_pod_claim_status(pod, entry->name);
	if (status == NULL) {
		return bt_error_set(err, BERTH_ERR_STATE,
			"pod \"" NS_NAME "\": ResourceClaim not created yet",
			NS_NAME_ARG(&pod->metadata));
	}
	*out_name = status->resource_claim_name;
	return 0;
}

int bt_dynamic_resolve(const struct bt_dynamic_resources *instance, const struct bt_pod *pod,
	struct bt_resolved_claim *claims, uint32_t *out_count, struct berth_error *err)
{
	*out_count = 0;
	for (uint32_t i = 0; i < pod->spec.resource_claims.count; i++) {
		struct bt_str name;
		bool generated;
		int code = bt_dynamic_entry_name(
			pod, &pod->spec.resource_claims.items[i], &name, &generated, err);

		if (code != 0) {
			return code;
		}
		if (name.data == NULL) {
			continue; /* the entry needs no claim */
		}
		struct bt_object *object =
			bt_claim_cache_find(&instance->dra->claims, pod->metadata.namespace_, name);
		if (object == NULL) {
			return bt_error_set(err, BERTH_ERR_NOT_FOUND,
				"could not find ResourceClaim \"" NS_NAME "\"",
				BT_STR_ARG(pod->metadata.namespace_), BT_STR_ARG(name));
		}
		if (object->meta->deletion_timestamp != NULL) {
			return bt_error_set(err, BERTH_ERR_STATE,
				"resourceclaim \"%.*s\" is being deleted", BT_STR_ARG(name));
		}
		/* A generated claim must belong to the pod or to the pod's group. */
		const struct bt_owner_reference *owner = bt_object_controller(object->meta);
		struct bt_str group = bt_plugin_pod_group_name(&pod->spec);
		bool may_be_group = group.length != 0 &&
			bt_plugin_gate(&instance->base.base, BT_GATE_DRA_WORKLOAD_RESOURCE_CLAIMS);

		if (!generated ||
			(owner != NULL &&
				(bt_str_equal(owner->uid, pod->metadata.uid) ||
					(may_be_group && bt_str_equal_c(owner->kind, "PodGroup") &&
						bt_str_equal(owner->name, group) &&
						bt_str_has_prefix(owner->api_version,
							BT_STR(GROUP_API "/")))))) {
			claims[(*out_count)++] = (struct bt_resolved_claim){object, i};
			continue;
		}
		if (may_be_group) {
			return bt_error_set(err, BERTH_ERR_STATE,
				"ResourceClaim " NS_NAME " was not created for Pod " NS_NAME
				" (neither Pod nor PodGroup %.*s is the owner)",
				NS_NAME_ARG(object->meta), NS_NAME_ARG(&pod->metadata),
				BT_STR_ARG(group));
		}
		return bt_error_set(err, BERTH_ERR_STATE,
			"ResourceClaim " NS_NAME " was not created for Pod " NS_NAME
			" (Pod is not owner)",
			NS_NAME_ARG(object->meta), NS_NAME_ARG(&pod->metadata));
	}
	return 0;
}

int bt_dynamic_binding(const struct bt_dynamic_resources *instance, const struct bt_pod *pod,
	uint32_t entry, struct bt_resource_claim_consumer_reference *out_reference,
	struct berth_error *err)
{
	struct bt_str name = bt_plugin_pod_group_name(&pod->spec);

	*out_reference = (struct bt_resource_claim_consumer_reference){
		.api_group = BT_STR(""),
		.resource = BT_STR("pods"),
		.name = pod->metadata.name,
		.uid = pod->metadata.uid,
	};
	if (name.length == 0 ||
		!bt_plugin_gate(&instance->base.base, BT_GATE_DRA_WORKLOAD_RESOURCE_CLAIMS)) {
		return 0;
	}
	const struct bt_pod_group *group =
		bt_object_store_find(&instance->base.handle->state->objects, BT_KIND_POD_GROUP,
			pod->metadata.namespace_, name);
	if (group == NULL) {
		return bt_error_set(err, BERTH_ERR_NOT_FOUND,
			"podgroup.scheduling.k8s.io \"%.*s\" not found", BT_STR_ARG(name));
	}
	if (entry == UINT32_MAX) {
		return 0;
	}
	const struct bt_pod_resource_claim *wanted = &pod->spec.resource_claims.items[entry];
	for (uint32_t i = 0; i < group->spec.resource_claims.count; i++) {
		const struct bt_pod_group_resource_claim *each =
			&group->spec.resource_claims.items[i];

		if (each->resource_claim_name.data == NULL &&
			each->resource_claim_template_name.data == NULL) {
			return bt_error_set(err, BERTH_ERR_INVALID,
				"PodGroup " NS_NAME
				" claim %.*s: none of the supported fields are set",
				NS_NAME_ARG(&group->metadata), BT_STR_ARG(each->name));
		}
		if (bt_str_equal(each->name, wanted->name) &&
			bt_str_nullable_equal(
				each->resource_claim_name, wanted->resource_claim_name) &&
			bt_str_nullable_equal(each->resource_claim_template_name,
				wanted->resource_claim_template_name)) {
			*out_reference = (struct bt_resource_claim_consumer_reference){
				.api_group = BT_STR(GROUP_API),
				.resource = BT_STR("podgroups"),
				.name = group->metadata.name,
				.uid = group->metadata.uid,
			};
			return 0;
		}
	}
	return 0;
}

bool bt_dynamic_is_reserved_for(const struct bt_dynamic_resources *instance,
	const struct bt_resource_claim *claim, const struct bt_pod *pod)
{
	struct bt_str group = bt_plugin_pod_group_name(&pod->spec);
	bool may_be_group = group.length != 0 &&
		bt_plugin_gate(&instance->base.base, BT_GATE_DRA_WORKLOAD_RESOURCE_CLAIMS);

	for (uint32_t i = 0; may_be_group && i < claim->status.reserved_for.count; i++) {
		const struct bt_resource_claim_consumer_reference *reference =
			&claim->status.reserved_for.items[i];

		if (bt_str_equal_c(reference->api_group, GROUP_API) &&
			bt_str_equal_c(reference->resource, "podgroups") &&
			bt_str_equal(reference->name, group)) {
			return true;
		}
	}
	return bt_resource_claim_is_reserved_by(claim, pod->metadata.uid);
}
