/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_POD_CLAIMS_H
#define BT_CLUSTER_POD_CLAIMS_H
/**
 * The ResourceClaims of pods that leave a simulation are given back here, at once; those of pods
 * that come are made by cluster/claim_maker.h. Spec: 12 section 3, 14b section 6.8.
 */
#include "api/pod.h"
#include "api/resource_claim.h"
#include "cluster/manifests.h"
#include "config/text_set.h"
#include "state/state.h"

/** Pods go without a claim of this ResourceClaimTemplate (bt_claim_maker_make): say so. */
void bt_pod_claims_warn_missing(
	const struct bt_manifests *cluster, const struct bt_pod *pod, struct bt_str template_name);
/** A pod on a node has claims whose devices nothing tells, so that they count as free: say so. */
void bt_pod_claims_warn_unallocated(
	const struct bt_manifests *cluster, const struct bt_state *state, const struct bt_pod *pod);
/**
 * The pod has gone: claims made for it are deleted, others are not reserved for it any more, and
 * lose their devices with their last user.
 */
void bt_pod_claims_release(struct bt_state *state, struct bt_str pod_uid);
/** It is as if the pod had not been placed yet: claims made for it stay, and lose their devices. */
void bt_pod_claims_unplace(struct bt_state *state, struct bt_str pod_uid);
/**
 * bt_pod_claims_release among the objects of a cluster, for all these pods. None is taken away: a
 * claim that was made for one of them is left without owner, mark and devices, where nobody finds
 * it.
 */
void bt_pod_claims_release_all(struct bt_manifests *cluster, const struct bt_text_set *pod_uids);

/** The claim of one of the pod's entries, borrowed until claims change; NULL: there is none. */
struct bt_object *bt_pod_claims_find(const struct bt_state *state, const struct bt_pod *pod,
	const struct bt_pod_resource_claim *entry);
/** Device by device what a pod has got; claim: of all of them. Borrowed for the call. */
typedef void (*bt_pod_claims_visit)(void *context, const struct bt_resource_claim *claim,
	const struct bt_device_request_allocation_result *device);
void bt_pod_claims_for_devices(const struct bt_state *state, const struct bt_pod *pod,
	bt_pod_claims_visit visit, void *context);
/**
 * Changes with every claim that is allocated, given back or deleted. After an attempt that found no
 * node it differs when PostFilter took a claim back that had its devices in vain; the pod is then
 * tried again, as it would be once the claim's change is heard of.
 */
uint64_t bt_pod_claims_version(const struct bt_state *state);
#endif
