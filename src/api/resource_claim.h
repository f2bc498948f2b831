/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_RESOURCE_CLAIM_H
#define BT_API_RESOURCE_CLAIM_H
/** Claims of dynamic resource allocation. Spec: 01 section 4.9. */
#include "api/types.h"

/** Finalizer of claims with an allocation. */
#define BT_CLAIM_FINALIZER "resource.kubernetes.io/delete-protection"
/** Annotation of a claim created from a template: name of the pod's resourceClaims entry. */
#define BT_POD_CLAIM_NAME_ANNOTATION "resource.kubernetes.io/pod-claim-name"

/**
 * Returns the entry of the pod's status.resourceClaimStatuses for a spec.resourceClaims entry, or
 * NULL.
 */
const struct bt_pod_resource_claim_status *bt_pod_claim_status(
	const struct bt_pod *pod, struct bt_str entry_name);
/**
 * Returns the name of the claim for an entry of spec.resourceClaims. "": the entry needs no claim,
 * or the pod's status does not name the claim yet.
 */
struct bt_str bt_pod_claim_name(
	const struct bt_pod *pod, const struct bt_pod_resource_claim *entry);
/** Returns the uid of the pod that owns the claim; "": the claim was not created for a pod. */
struct bt_str bt_claim_owner_pod_uid(const struct bt_object_meta *claim);

/** Returns true if an entry of status.reservedFor has this uid. */
bool bt_resource_claim_is_reserved_by(const struct bt_resource_claim *claim, struct bt_str uid);
/**
 * Removes the reservedFor entries with this uid; the new list is in the arena. Returns false if
 * there was no such entry.
 */
bool bt_resource_claim_remove_user(
	struct bt_resource_claim *claim, struct bt_str uid, struct bt_arena *arena);
/** Removes BT_CLAIM_FINALIZER and keeps other finalizers; the new list is in the arena. */
void bt_resource_claim_remove_finalizer(struct bt_resource_claim *claim, struct bt_arena *arena);
#endif
