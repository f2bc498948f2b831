/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_POD_CLAIMS_H
#define BT_CLUSTER_POD_CLAIMS_H
/**
 * Releases the ResourceClaims of pods that leave a simulation. The claims of added pods are made by
 * cluster/claim_maker.h. Spec: 12 section 3, 14b section 6.8.
 */
#include "base/text_set.h"
#include "cluster/manifests.h"
#include "state/state.h"

/**
 * Call it when the pod is deleted: claims made for the pod are deleted; other claims are no longer
 * reserved for the pod, and lose their devices with their last user. keeps_made: the pod loses its
 * node, but stays, so claims made for the pod are kept without their devices.
 */
void bt_pod_claims_release(struct bt_state *state, struct bt_str pod_uid, bool keeps_made);
/**
 * As bt_pod_claims_release for all these pods, in the objects of a cluster. No claim is removed: a
 * claim made for one of the pods stays without owner, annotation and devices, so that no pod finds
 * the claim.
 */
void bt_pod_claims_release_all(struct bt_manifests *cluster, const struct bt_text_set *pod_uids);
#endif
