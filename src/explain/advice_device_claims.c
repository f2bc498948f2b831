/* SPDX-License-Identifier: Apache-2.0 */
/** Claims that keep a pod from every node: which is not ready, and what to do. Spec: 12 section 6.
 */
#include "api/resource_claim.h"
#include "explain/advice_devices.h"
#include "plugins/dynamic_resources.h"

static void hint_not_created(struct bt_advice *advice, const struct bt_pod_resource_claim *entry)
{
	struct bt_str name = entry->resource_claim_template_name;

	if (name.data == NULL) {
		bt_advice_hint(advice,
			"its claim %.*s names neither a ResourceClaim nor a template: correct the "
			"pod",
			BT_STR_ARG(entry->name));
	} else if (bt_object_store_find(&advice->engine->state->objects,
			   BT_KIND_RESOURCE_CLAIM_TEMPLATE, advice->pod->namespace_,
			   name) == NULL) {
		bt_advice_hint(advice,
			"ResourceClaimTemplate %.*s/%.*s does not exist: create it, and the claim "
			"is made from it",
			BT_STR_ARG(advice->pod->namespace_), BT_STR_ARG(name));
	} else {
		bt_advice_hint(advice,
			"the claim of template %.*s is not made yet: wait for the controller of "
			"claims in kube-controller-manager, or look into its log",
			BT_STR_ARG(name));
	}
}

static void hint_missing_class(struct bt_advice *advice, struct bt_str claim, struct bt_str request,
	struct bt_str class_name)
{
	if (class_name.length != 0 &&
		bt_object_store_find(&advice->engine->state->objects, BT_KIND_DEVICE_CLASS,
			BT_STR(""), class_name) == NULL) {
		bt_advice_hint(advice,
			"DeviceClass %.*s does not exist: create it, or let request %.*s of claim "
			"%.*s name another",
			BT_STR_ARG(class_name), BT_STR_ARG(request), BT_STR_ARG(claim));
	}
}

/** generated: made from a template, so that it has to be the pod's own. */
static void hint_claim(struct bt_advice *advice, struct bt_str name, bool generated)
{
	const struct bt_dynamic_resources *instance = bt_dynamic_resources_of(advice->plugin);
	const struct bt_pod *pod = advice->pod->object;
	struct bt_str namespace_ = pod->metadata.namespace_;
	const struct bt_object *object =
		bt_claim_cache_find(&instance->dra->claims, namespace_, name);
	const struct bt_resource_claim *claim =
		object != NULL ? bt_object_value(object, BT_KIND_RESOURCE_CLAIM) : NULL;
	const struct bt_owner_reference *owner =
		claim != NULL ? bt_object_controller(&claim->metadata) : NULL;

	if (claim == NULL) {
		bt_advice_hint(advice, "ResourceClaim %.*s/%.*s does not exist: create it",
			BT_STR_ARG(pod->metadata.namespace_), BT_STR_ARG(name));
	} else if (claim->metadata.deletion_timestamp != NULL) {
		bt_advice_hint(advice,
			"claim %.*s is being deleted: once the pods that use it are gone, create "
			"it "
			"again",
			BT_STR_ARG(name));
	} else if (generated && (owner == NULL || !bt_str_equal(owner->uid, pod->metadata.uid))) {
		bt_advice_hint(advice,
			"claim %.*s belongs to another pod%s%.*s: delete the one that is not "
			"needed",
			BT_STR_ARG(name), owner != NULL ? ", " : "",
			(int)(owner != NULL ? owner->name.length : 0),
			owner != NULL ? owner->name.data : "");
	} else if (claim->status.allocation == NULL &&
		bt_claim_cache_pending(&instance->dra->claims, claim->metadata.uid) != NULL) {
		bt_advice_hint(advice,
			"claim %.*s is just being allocated for another pod: the pod is tried "
			"again when that is done",
			BT_STR_ARG(name));
	} else if (claim->status.allocation == NULL) {
		for (uint32_t i = 0;
			i < claim->spec.devices.requests.count && advice->hint.length == 0; i++) {
			const struct bt_device_request *request =
				&claim->spec.devices.requests.items[i];

			if (request->exactly != NULL) {
				hint_missing_class(advice, claim->metadata.name, request->name,
					request->exactly->device_class_name);
			}
			for (uint32_t k = 0; request->exactly == NULL &&
				k < request->first_available.count && advice->hint.length == 0;
				k++) {
				hint_missing_class(advice, claim->metadata.name, request->name,
					request->first_available.items[k].device_class_name);
			}
		}
	}
}

void bt_advise_claims(struct bt_advice *advice)
{
	const struct bt_pod *pod = advice->pod->object;

	for (uint32_t i = 0; i < pod->spec.resource_claims.count && advice->hint.length == 0; i++) {
		const struct bt_pod_resource_claim *entry = &pod->spec.resource_claims.items[i];
		struct berth_error err = BERTH_ERROR_INIT;
		struct bt_str name;
		bool generated;

		if (bt_dynamic_entry_name(pod, entry, &name, &generated, &err) != 0) {
			hint_not_created(advice, entry);
		} else if (name.data != NULL) {
			hint_claim(advice, name, generated);
		}
		berth_error_finish(&err);
	}
	advice->is_final = true;
}
