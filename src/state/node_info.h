/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_STATE_NODE_INFO_H
#define BT_STATE_NODE_INFO_H
/**
 * One node as the plain form of a plugin sees it: the columns' values of its slot, plus what a
 * what-if run (nominated pods, preemption) hypothetically adds or removes. Changing it never
 * touches the table: it is an overlay of one node, not a copy of the world. Spec: 01b section 9.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "state/pod_info.h"
#include "state/state.h"

struct bt_scalar_delta {
	uint32_t resource;
	int64_t requested;
};

struct bt_node_info {
	const struct bt_state *state;
	uint32_t slot;
	int64_t allocatable_cpu_milli;
	int64_t allocatable_memory_bytes;
	int64_t allocatable_ephemeral_bytes;
	int64_t allocatable_pods;
	int64_t requested_cpu_milli;
	int64_t requested_memory_bytes;
	int64_t requested_ephemeral_bytes;
	int64_t non_zero_cpu_milli;
	int64_t non_zero_memory_bytes;
	int64_t pod_count;
	/* Overlay; arena is NULL while nothing was changed. */
	struct bt_arena *arena;
	BT_LIST(struct bt_scalar_delta) scalar_deltas;
	BT_LIST(struct bt_pod_info) added_pods; /* in order of addition */
	BT_LIST(uint32_t) removed_pods;         /* pod ids, in the order of the node's list */
	BT_LIST(struct bt_host_port) ports;     /* the whole set once ports_changed */
	bool ports_changed;
	const void *owner; /* NULL: a plain view; else see lib/aggregate.h. Copies are plain. */
};

/** View of a slot as it is. O(1). */
void bt_node_info_init(struct bt_node_info *info, const struct bt_state *state, uint32_t slot);
/** View of a slot as if no pod were on it; memory comes from the arena. */
void bt_node_info_init_without_pods(struct bt_node_info *info, const struct bt_state *state,
	uint32_t slot, struct bt_arena *arena);
/** A view of its own with the same changes: what is changed in one is not seen in the other. */
void bt_node_info_copy(
	struct bt_node_info *out_info, const struct bt_node_info *info, struct bt_arena *arena);
/** Hypothetical changes; memory comes from the arena, which must outlive info. */
void bt_node_info_add_pod(
	struct bt_node_info *info, struct bt_arena *arena, const struct bt_pod_info *pod);
/** By uid, cache pods or earlier additions: `no corresponding pod <name> in pods of node <node>`
 * when absent. */
BT_MUST_USE int bt_node_info_remove_pod(struct bt_node_info *info, struct bt_arena *arena,
	const struct bt_pod_info *pod, struct berth_error *err);
/**
 * What a pod of this shape requests, and its place among the pods, put on (sign 1) or taken off
 * (-1), and nothing else: enough for what reads only BT_CHANGE_PODS.
 */
void bt_node_info_change_sums(struct bt_node_info *info, struct bt_arena *arena,
	const struct bt_shape *shape, int64_t sign);

struct bt_str bt_node_info_name(const struct bt_node_info *info);
const struct bt_str_map *bt_node_info_labels(const struct bt_node_info *info);
const bt_taint_list *bt_node_info_taints(const struct bt_node_info *info);
bool bt_node_info_unschedulable(const struct bt_node_info *info);
/** Digest of status.conditions: bt_node_conditions_digest. */
struct bt_str bt_node_info_conditions(const struct bt_node_info *info);
/** Annotation scheduler.alpha.kubernetes.io/preferAvoidPods; "" when it is absent. */
struct bt_str bt_node_info_prefer_avoid_pods(const struct bt_node_info *info);
uint8_t bt_node_info_declared_features(const struct bt_node_info *info);
/** resource: scalar column index (node_table.h); UINT32_MAX gives 0. */
int64_t bt_node_info_scalar_allocatable(const struct bt_node_info *info, uint32_t resource);
int64_t bt_node_info_scalar_requested(const struct bt_node_info *info, uint32_t resource);
bool bt_node_info_port_conflicts(
	const struct bt_node_info *info, const struct bt_host_port *wanted);
/** Number of occupied triples. */
uint32_t bt_node_info_port_count(const struct bt_node_info *info);
/** Size and node count of an image name as of the node's last refresh; false when the node lacks
 * it. */
bool bt_node_info_find_image(const struct bt_node_info *info, struct bt_str name,
	int64_t *out_size_bytes, uint32_t *out_node_count);
/** Record of an image name in state->images, as nodes' rows have it; BT_IMAGE_NONE: no node has it.
 */
#define BT_IMAGE_NONE UINT32_MAX
uint32_t bt_state_find_image(const struct bt_state *state, struct bt_str name);
/** Pods on the node: remaining cache pods in order, then added ones. */
uint32_t bt_node_info_pod_count(const struct bt_node_info *info);
void bt_node_info_pod_at(
	const struct bt_node_info *info, uint32_t index, struct bt_pod_info *out_pod);
#endif
