/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_POD_CLAIMS_H
#define BT_CLUSTER_POD_CLAIMS_H
/**
 * Makes the objects that a cluster's controllers make for a pod before it is scheduled:
 * ResourceClaims from templates, and PersistentVolumeClaims of ephemeral volumes. Simulations use
 * the maker, because the pods of a simulation are not stored on an API server. The maker has a
 * private API server. It stores on that server the part of a pod that claims depend on, and runs
 * the controllers. Spec: 14b sections 6.4 and 6.8.
 */
#include "api/pod.h"
#include "base/text_set.h"
#include "cluster/manifests.h"
#include "config/gates.h"
#include "state/state.h"

struct bt_claim_maker;

/**
 * The maker looks up templates, storage classes and claims in the state and adds new claims to the
 * state.
 * state, gates: borrowed.
 */
BT_MUST_USE struct bt_claim_maker *bt_claim_maker_create(
	struct bt_state *state, const struct bt_gates *gates);
/** NULL accepted. */
void bt_claim_maker_destroy(struct bt_claim_maker *maker);
/**
 * Makes the claims that the pod lacks. pod: a shallow copy of the pod, with name, namespace and
 * uid. The status of this copy is changed, so that it names the ResourceClaims made from templates;
 * the new members are allocated in arena. *out_missing: name of a ResourceClaimTemplate that does
 * not exist, in which case the pod gets no claim from it; "": all templates exist. *out_bytes:
 * memory that the new claims take. An error names the object that the API server refuses.
 */
BT_MUST_USE int bt_claim_maker_make(struct bt_claim_maker *maker, struct bt_pod *pod,
	struct bt_arena *arena, struct bt_str *out_missing, size_t *out_bytes,
	struct berth_error *err);
/**
 * Warns that the ResourceClaimTemplate does not exist, and that all pods that name the template,
 * this pod included, therefore get no claim.
 */
void bt_claim_maker_warn_missing(
	const struct bt_manifests *cluster, const struct bt_pod *pod, struct bt_str template_name);
/**
 * Removes the claims that were made for the pod. Call it if the pod is not added to the simulation,
 * or is removed from the simulation.
 */
void bt_claim_maker_unmake(struct bt_claim_maker *maker, const struct bt_pod *pod);

/** --- releasing the ResourceClaims of pods that leave a simulation. Spec: 12 section 3 --- */

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
