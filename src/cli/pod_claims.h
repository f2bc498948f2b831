/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_POD_CLAIMS_H
#define BT_CLI_POD_CLAIMS_H
/**
 * The ResourceClaims of pods, as the controllers of a cluster look after them: made from templates
 * when a pod comes, given back when it has gone. On a state that nobody else changes, at once. What
 * src/cluster/resource_claim_controller.c does with the objects of an API server over time is
 * the same. Spec: 12 section 3, 14b section 6.8.
 */
#include "cli/manifests.h"
#include "api/pod.h"
#include "api/resource_claim.h"
#include "config/text_set.h"
#include "state/state.h"

/**
 * A claim for each entry of the pod that names a template and has none yet; the pod's status then
 * names it. pod: a shallow copy that may be changed, with name, namespace and uid; what is new of
 * it is in arena. cluster: of the uids. Returns the bytes of memory that the claims take.
 * *out_missing: a template that is not there ("": all are); the pod stays without that claim.
 */
size_t bt_pod_claims_make(struct bt_manifests *cluster, struct bt_state *state, struct bt_pod *pod,
	struct bt_arena *arena, struct bt_str *out_missing);
/** Say what that means. template_name: *out_missing of this pod. */
void bt_pod_claims_warn_missing(
	const struct bt_manifests *cluster, const struct bt_pod *pod, struct bt_str template_name);
/** A pod on a node has claims whose devices nothing tells, so that they count as free: say so. */
void bt_pod_claims_warn_unallocated(
	const struct bt_manifests *cluster, const struct bt_state *state, const struct bt_pod *pod);
/** Nobody placed the pod after all: the claims that were made for it go. */
void bt_pod_claims_unmake(struct bt_state *state, const struct bt_pod *pod);
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
/** Some entry of the pod names a template. */
bool bt_pod_claims_has_templates(const struct bt_pod_spec *spec);
#endif
