/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_RESOURCE_CLAIM_H
#define BT_API_RESOURCE_CLAIM_H
/** Claims of dynamic resource allocation. Spec: 01 section 4.9. */
#include "api/types.h"

/** A claim with an allocation has this finalizer. */
#define BT_CLAIM_FINALIZER "resource.kubernetes.io/delete-protection"
/** Annotation of a claim that was made from a template: the entry of the pod that it is for. */
#define BT_POD_CLAIM_NAME_ANNOTATION "resource.kubernetes.io/pod-claim-name"

/** What the pod's status says about an entry of its spec.resourceClaims; NULL: nothing. */
const struct bt_pod_resource_claim_status *bt_pod_claim_status(
	const struct bt_pod *pod, struct bt_str entry_name);
/** The name of the claim of an entry; "": it needs none, or has none yet. */
struct bt_str bt_pod_claim_name(
	const struct bt_pod *pod, const struct bt_pod_resource_claim *entry);
/** The uid of the pod that the claim was made for; "": it was not made for a pod. */
struct bt_str bt_claim_owner_pod_uid(const struct bt_object_meta *claim);

/** Some entry of status.reservedFor has this uid. */
bool bt_resource_claim_is_reserved_by(const struct bt_resource_claim *claim, struct bt_str uid);
/** Take its entries with this uid away; the new list is in the arena. false: there was none. */
bool bt_resource_claim_drop_user(
	struct bt_resource_claim *claim, struct bt_str uid, struct bt_arena *arena);
/** Take BT_CLAIM_FINALIZER away, others stay; the new list is in the arena. */
void bt_resource_claim_drop_finalizer(struct bt_resource_claim *claim, struct bt_arena *arena);
#endif
