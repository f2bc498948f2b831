/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_COMMON_POD_GROUP_H
#define BT_PLUGINS_COMMON_POD_GROUP_H
/**
 * What the pod-group plugins ask of the cluster state. Spec: 05 sections 3.11, 15.
 * The state holds no PodGroup objects: until pod groups (spec chapter 09) are implemented every
 * lookup fails. Members that are scheduled are known, by spec.schedulingGroup.
 */
#include "base/error.h"
#include "framework/plugin.h"
#include "state/state.h"

/** The next assumed or assigned member of the group with an id of at least from, or BT_POD_NONE. */
uint32_t bt_pod_group_next_scheduled(const struct bt_state *state, struct bt_str group_namespace,
	struct bt_str group_name, uint32_t from);
/** Number of assumed and assigned members. Cost: one pass over all pods. */
uint32_t bt_pod_group_scheduled_count(
	const struct bt_state *state, struct bt_str group_namespace, struct bt_str group_name);
/**
 * Key of the group's topology constraint; absent text: it has none. BERTH_ERR_NOT_FOUND:
 * `podgroup.scheduling.k8s.io "<name>" not found`.
 */
BT_MUST_USE int bt_pod_group_topology_key(const struct bt_state *state,
	struct bt_str group_namespace, struct bt_str group_name, struct bt_str *out_key,
	struct berth_error *err);

/**
 * Placements by value of a node label: one for each domain of the parent's nodes, sorted by name;
 * only the domain in which the group already has pods, if any. Spec 05 section 15.2. Error:
 * scheduled members do not share a domain.
 */
struct bt_status bt_pod_group_topology_placements(const struct bt_state *state, struct bt_str key,
	struct bt_str group_namespace, struct bt_str group_name, const struct bt_placement *parent,
	struct bt_arena *arena, const struct bt_placement **out_placements, uint32_t *out_count);
#endif
