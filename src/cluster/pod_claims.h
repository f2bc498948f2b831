/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_POD_CLAIMS_H
#define BT_CLUSTER_POD_CLAIMS_H
/**
 * Releases the ResourceClaims of pods that leave a simulation. The claims of added pods are made by
 * cluster/claim_maker.h. Spec: 12 section 3, 14b section 6.8.
 */
#include "api/pod.h"
#include "api/resource_claim.h"
#include "base/text_set.h"
#include "cluster/manifests.h"
#include "state/state.h"

/**
 * Warns that pods have no claim because this ResourceClaimTemplate is missing
 * (bt_claim_maker_make).
 */
void bt_pod_claims_warn_missing(
	const struct bt_manifests *cluster, const struct bt_pod *pod, struct bt_str template_name);
/**
 * Warns if a pod on a node has claims without an allocation, so that their devices count as free.
 */
void bt_pod_claims_warn_unallocated(
	const struct bt_manifests *cluster, const struct bt_state *state, const struct bt_pod *pod);
/**
 * Call it when the pod is gone. Claims made for the pod are deleted; others are no longer reserved
 * for it, and lose their devices with their last user.
 */
void bt_pod_claims_release(struct bt_state *state, struct bt_str pod_uid);
/**
 * Call it when the pod is unassigned, but stays. Claims made for the pod are kept, but lose their
 * devices.
 */
void bt_pod_claims_unplace(struct bt_state *state, struct bt_str pod_uid);
/**
 * As bt_pod_claims_release for all these pods, in the objects of a cluster. No claim is removed: a
 * claim made for one of the pods stays without owner, annotation and devices, so that no pod finds
 * it.
 */
void bt_pod_claims_release_all(struct bt_manifests *cluster, const struct bt_text_set *pod_uids);

/** Returns the claim of one of the pod's entries, borrowed until claims change, or NULL. */
struct bt_object *bt_pod_claims_find(const struct bt_state *state, const struct bt_pod *pod,
	const struct bt_pod_resource_claim *entry);
/**
 * Calls visit for each device allocated to the pod; claim: the claim that it belongs to. Borrowed
 * for the call.
 */
typedef void (*bt_pod_claims_visit)(void *context, const struct bt_resource_claim *claim,
	const struct bt_device_request_allocation_result *device);
void bt_pod_claims_for_devices(const struct bt_state *state, const struct bt_pod *pod,
	bt_pod_claims_visit visit, void *context);
/**
 * Returns a number that changes whenever a claim is allocated, deallocated or deleted. If an
 * attempt without a node changed it, PostFilter deallocated a claim. The pod is then tried again,
 * as the claim's change would requeue it in a cluster.
 */
uint64_t bt_pod_claims_version(const struct bt_state *state);
#endif
