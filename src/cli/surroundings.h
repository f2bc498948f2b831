/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_SURROUNDINGS_H
#define BT_CLI_SURROUNDINGS_H
/**
 * Everything but pods and nodes that plugins look up: services, volumes, claims, classes, owners of
 * pods. What an API server and its controllers would have added to manifests is added here:
 * namespaces that pods are in, with their name as a label; the ReplicaSets of Deployments; the
 * claims of StatefulSets; the default storage class of claims; immediate binding of storage classes
 * that say nothing; how many devices a ResourceClaim asks for.
 */
#include "cli/workload.h"
#include "state/state.h"

/**
 * Workloads are expanded, and no object is released yet. BERTH_ERR_TOO_LARGE: the claims of
 * StatefulSets take more than BT_WORKLOAD_BYTES_MAX.
 */
BT_MUST_USE int bt_surroundings_load(struct bt_manifests *cluster,
	const struct bt_expansion *expansion, struct bt_state *state, struct berth_error *err);
#endif
