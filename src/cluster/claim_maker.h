/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_CLAIM_MAKER_H
#define BT_CLUSTER_CLAIM_MAKER_H
/**
 * What the controllers of a cluster make for a pod before it is scheduled, for pods that are not
 * stored there: ResourceClaims from templates, PersistentVolumeClaims of ephemeral volumes. The
 * controllers see these pods only, in an API server of their own. Spec: 14b sections 6.4 and 6.8.
 */
#include "api/pod.h"
#include "config/gates.h"
#include "state/state.h"

struct bt_claim_maker;

/**
 * Templates, storage classes and claims are looked up in the state, and new claims are put there.
 * state, gates: borrowed.
 */
BT_MUST_USE struct bt_claim_maker *bt_claim_maker_create(
	struct bt_state *state, const struct bt_gates *gates);
/** NULL accepted. */
void bt_claim_maker_destroy(struct bt_claim_maker *maker);
/**
 * Make the claims that the pod lacks; its status then names those from templates. pod: a shallow
 * copy that may be changed, with name, namespace and uid; what is new of it is in arena.
 * *out_missing: a ResourceClaimTemplate that is not there ("": all are); the pod stays without that
 * claim. *out_bytes: memory that the new claims take. An error names the object that the API server
 * refuses.
 */
BT_MUST_USE int bt_claim_maker_make(struct bt_claim_maker *maker, struct bt_pod *pod,
	struct bt_arena *arena, struct bt_str *out_missing, size_t *out_bytes,
	struct berth_error *err);
/** The pod does not come after all: the claims that were made for it go. */
void bt_claim_maker_unmake(struct bt_claim_maker *maker, const struct bt_pod *pod);
#endif
