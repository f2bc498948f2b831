/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_CLAIM_MAKER_H
#define BT_CLUSTER_CLAIM_MAKER_H
/**
 * Makes the objects that a cluster's controllers make for a pod before it is scheduled:
 * ResourceClaims from templates, and PersistentVolumeClaims of ephemeral volumes. Used for pods
 * that no API server stores. The maker has its own API server with only these pods, and runs the
 * controllers on it. Spec: 14b sections 6.4 and 6.8.
 */
#include "api/pod.h"
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
 * Makes the claims that the pod lacks; the pod's status then names the ResourceClaims made from
 * templates. pod: a shallow copy with name, namespace and uid, which is changed; new members are
 * allocated in arena. *out_missing: name of a ResourceClaimTemplate that does not exist ("": all
 * exist); the pod stays without that claim. *out_bytes: memory that the new claims take. An error
 * names the object that the API server refuses.
 */
BT_MUST_USE int bt_claim_maker_make(struct bt_claim_maker *maker, struct bt_pod *pod,
	struct bt_arena *arena, struct bt_str *out_missing, size_t *out_bytes,
	struct berth_error *err);
/**
 * Warns that the ResourceClaimTemplate is missing, so that this pod and all pods that name the
 * template get no claim.
 */
void bt_claim_maker_warn_missing(
	const struct bt_manifests *cluster, const struct bt_pod *pod, struct bt_str template_name);
/** Removes the claims that were made for a pod that is not added after all. */
void bt_claim_maker_unmake(struct bt_claim_maker *maker, const struct bt_pod *pod);
#endif
