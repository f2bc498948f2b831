/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DRA_TRIAL_H
#define BT_DRA_TRIAL_H
/**
 * Claims without some of their pods for a moment, beside struct bt_state_trial: what the cluster
 * frees when a pod is gone is free, and ending the trial takes that back. While it lasts nothing
 * else may change claims; the queue hears of nothing.
 */
#include "dra/dra.h"

struct bt_dra_trial {
	struct bt_dra *dra; /* NULL: there is none, and nothing to do */
	struct bt_claim_listener listener;
	BT_VEC(struct bt_object *) claims; /* as they were, in this order; references held */
};

/** dra may be NULL. */
void bt_dra_trial_begin(struct bt_dra_trial *trial, struct bt_dra *dra);
/**
 * The claim is not reserved for the pod any more, and if it was for nobody else it is not allocated
 * either, as the cluster's controller of claims would have it. false: what its devices would become
 * depends on what came first (struct bt_allocated_devices.history), and nothing is changed.
 */
bool bt_dra_trial_release(
	struct bt_dra_trial *trial, struct bt_object *claim, struct bt_str pod_uid);
/** All claims that are reserved for the pod. false: as above, for one of them. */
bool bt_dra_trial_take_pod(struct bt_dra_trial *trial, struct bt_str pod_uid);
void bt_dra_trial_end(struct bt_dra_trial *trial);

/** The claim without the pod; its list is in the arena. false: it is not reserved for the pod. */
bool bt_claim_without_pod(const struct bt_resource_claim *claim, struct bt_str pod_uid,
	struct bt_arena *arena, struct bt_resource_claim *out_claim);
#endif
