/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_DEFAULTING_H
#define BT_API_DEFAULTING_H
/**
 * Sets the defaults that the API server sets before a scheduler sees an object. Objects from a
 * server have these defaults already; manifests need them. Spec: 01b section 12.
 *
 * Only the given structure itself is changed: lists that change are rebuilt in the arena, so that
 * objects sharing parts (pods of one template) stay independent.
 */
#include "api/node.h"
#include "api/pod.h"
#include "api/resource_claim.h"
#include "base/arena.h"

/**
 * Sets the defaults of rules 1 to 3, 5 and 6 of the spec: rounds resources; copies limits to
 * missing requests, first of the containers, then at pod level; sets protocols, host ports and the
 * scheduler name. pod_level: whether the gate PodLevelResources is enabled.
 */
void bt_pod_spec_default(struct bt_pod_spec *spec, bool pod_level, struct bt_arena *arena);
/**
 * Adds requirements to the label selector of each pod (anti-)affinity term that has a selector: one
 * for each of the term's matchLabelKeys and mismatchLabelKeys that is a label of the pod. Without
 * these requirements, a scheduler, which reads only the selector, would ignore the keys (spec 01
 * section 4.3).
 */
void bt_pod_default_affinity(struct bt_pod *pod, struct bt_arena *arena);
/** Sets allocatable to capacity if allocatable is absent, and rounds both: rules 4 and 5. */
void bt_node_default(struct bt_node *node, struct bt_arena *arena);
/** Sets allocationMode ExactCount and count 1 in requests that lack them. Spec: 12 section 3.2. */
void bt_device_claim_default(struct bt_device_claim *devices, struct bt_arena *arena);
#endif
