/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_COMMON_POD_GROUP_H
#define BT_PLUGINS_COMMON_POD_GROUP_H
/** What the pod-group plugins ask of the cluster state. Spec: 05 sections 3.11, 15. */
#include "framework/plugin.h"
#include "state/state.h"

/** Number of assumed and assigned members, without those of the running pod group cycle. Error: no
 * member is known. */
struct bt_status bt_pod_group_scheduled_count(const struct bt_state *state,
	struct bt_str group_namespace, struct bt_str group_name, struct bt_arena *arena,
	uint32_t *out_count);
/** `pod group state not found for pod group <namespace>/<name>` */
struct bt_status bt_pod_group_no_members(
	struct bt_str group_namespace, struct bt_str group_name, struct bt_arena *arena);

/**
 * Placements by value of a node label: one for each domain of the parent's nodes, sorted by name;
 * only the domain in which the group already has pods, if any. Spec 05 section 15.2. Error:
 * scheduled members do not share a domain.
 */
struct bt_status bt_pod_group_topology_placements(const struct bt_state *state, struct bt_str key,
	struct bt_str group_namespace, struct bt_str group_name, const struct bt_placement *parent,
	struct bt_arena *arena, const struct bt_placement **out_placements, uint32_t *out_count);
#endif
