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
 * Call it when the pod is deleted. Claims that were made for the pod are deleted. The pod is
 * removed from reservedFor of other claims; a claim that no pod uses any more loses its devices.
 * keeps_made: the pod is not deleted, but loses its node, so claims that were made for the pod are
 * treated like other claims.
 */
void bt_pod_claims_release(struct bt_state *state, struct bt_str pod_uid, bool keeps_made);
/**
 * Does the work of bt_pod_claims_release for all these pods, on the objects of the input instead of
 * a state. No claim is deleted: a claim that was made for one of the pods loses its owner,
 * annotation and devices, so that no pod finds the claim.
 */
void bt_pod_claims_release_all(struct bt_manifests *cluster, const struct bt_text_set *pod_uids);
#endif
