/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_COMMON_POD_GROUP_H
#define BT_PLUGINS_COMMON_POD_GROUP_H
/** Queries of the pod group plugins to the cluster state. Spec: 05 sections 3.11, 15. */
#include "framework/plugin.h"
#include "state/state.h"

/**
 * Set *out_count to the number of assumed and assigned members of a group, without members that the
 * running pod group cycle has placed. Error if the state knows no member of the group.
 */
struct bt_status bt_pod_group_scheduled_count(const struct bt_state *state,
	struct bt_str group_namespace, struct bt_str group_name, struct bt_arena *arena,
	uint32_t *out_count);
/** Returns the error `pod group state not found for pod group <namespace>/<name>`. */
struct bt_status bt_pod_group_no_members(
	struct bt_str group_namespace, struct bt_str group_name, struct bt_arena *arena);

/**
 * Make one placement for each value of the node label `key` among the parent's nodes, sorted by
 * value. If members of the group are scheduled already, make only the placement for the value of
 * their nodes. Memory comes from the arena. Error if the state knows no member of the group, if the
 * nodes of scheduled members have different values, or if such a node lacks the label or is not in
 * the snapshot. Spec: 05 section 15.2.
 */
struct bt_status bt_pod_group_topology_placements(const struct bt_state *state, struct bt_str key,
	struct bt_str group_namespace, struct bt_str group_name, const struct bt_placement *parent,
	struct bt_arena *arena, const struct bt_placement **out_placements, uint32_t *out_count);
#endif
