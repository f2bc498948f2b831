/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_DEFAULTING_H
#define BT_API_DEFAULTING_H
/**
 * What the API server fills in before a scheduler sees an object: needed where manifests are read
 * without one. Objects that went through a server come out as they were. Spec: 01b section 12.
 *
 * The structure given is changed, what it points to is not: lists that change are rebuilt in the
 * arena, so objects that share parts (pods of one template) stay apart.
 */
#include "api/node.h"
#include "api/pod.h"
#include "api/resource_claim.h"
#include "base/arena.h"

/**
 * Rounding of resources, requests from limits (containers, then pod level), protocols and host
 * ports, scheduler name: rules 1 to 3, 5 and 6. pod_level: gate PodLevelResources.
 */
void bt_pod_spec_default(struct bt_pod_spec *spec, bool pod_level, struct bt_arena *arena);
/** The two tolerations of rule 7, unless the pod says something about the same taint. */
void bt_pod_spec_add_default_tolerations(struct bt_pod_spec *spec, struct bt_arena *arena);
/**
 * matchLabelKeys and mismatchLabelKeys of pod (anti-)affinity become requirements of the term's
 * label selector, for the keys that the pod has as labels: a scheduler reads the selector only
 * (spec 01 section 4.3).
 */
void bt_pod_default_affinity(struct bt_pod *pod, struct bt_arena *arena);
/** Allocatable from capacity, rounding: rules 4 and 5. */
void bt_node_default(struct bt_node *node, struct bt_arena *arena);
/** How many devices a request that says nothing asks for: exactly one. Spec: 12 section 3.2. */
void bt_device_claim_default(struct bt_device_claim *devices, struct bt_arena *arena);
#endif
