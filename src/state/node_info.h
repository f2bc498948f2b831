/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_STATE_NODE_INFO_H
#define BT_STATE_NODE_INFO_H
/**
 * A view of one node for plugin functions that are called for one node at a time (the plain form of
 * a plugin): the values of the node's slot, plus the pods that a what-if run (nominated pods,
 * preemption) adds or removes. Changes go to an overlay in the view and never to the table. Spec:
 * 01b section 9.
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
	int64_t allocatable[BT_STANDARD__COUNT];
	int64_t allocatable_pods;
	int64_t requested[BT_STANDARD__COUNT];
	int64_t non_zero[BT_NON_ZERO_COUNT];
	int64_t pod_count;
	/* Overlay. arena is NULL while there are no changes. */
	struct bt_arena *arena;
	BT_LIST(struct bt_scalar_delta) scalar_deltas;
	BT_LIST(struct bt_pod_info) added_pods; /* in order of addition */
	BT_LIST(uint32_t) removed_pods;         /* pod ids in the order of the node's list */
	BT_LIST(struct bt_host_port) ports;     /* the complete set if ports_changed */
	bool ports_changed;
	const void *owner; /* see lib/aggregate.h; NULL in ordinary views and copies */
};

/** Sets info to a view of the slot without changes. O(1). */
void bt_node_info_init(struct bt_node_info *info, const struct bt_state *state, uint32_t slot);
/** Sets info to a view of the slot with all pods removed. Memory comes from the arena. */
void bt_node_info_init_without_pods(struct bt_node_info *info, const struct bt_state *state,
	uint32_t slot, struct bt_arena *arena);
/** Copies a view; later changes of one view do not change the other. */
void bt_node_info_copy(
	struct bt_node_info *out_info, const struct bt_node_info *info, struct bt_arena *arena);
/** Adds a pod to the view. Memory comes from the arena, which must outlive info. */
void bt_node_info_add_pod(
	struct bt_node_info *info, struct bt_arena *arena, const struct bt_pod_info *pod);
/**
 * Removes the pod with this uid: a cached pod or a pod added to the view. Fails with
 * BERTH_ERR_INVALID if the uid is empty, or with BERTH_ERR_NOT_FOUND and `no corresponding pod
 * <name> in pods of node <node>`.
 */
BT_MUST_USE int bt_node_info_remove_pod(struct bt_node_info *info, struct bt_arena *arena,
	const struct bt_pod_info *pod, struct berth_error *err);
/**
 * Adds (sign 1) or subtracts (sign -1) the requests of a pod of this shape, and adds sign to
 * pod_count. Ports and the list of pods do not change. Sufficient for filters that depend only on
 * changes of kind BT_CHANGE_PODS.
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
/** resource: index of a scalar column (node_table.h); UINT32_MAX: the result is 0. */
int64_t bt_node_info_scalar_allocatable(const struct bt_node_info *info, uint32_t resource);
/** Whether the node lists an amount of the extended resource, which may be 0. */
bool bt_node_info_has_extended(const struct bt_node_info *info, uint32_t resource);
int64_t bt_node_info_scalar_requested(const struct bt_node_info *info, uint32_t resource);
bool bt_node_info_port_conflicts(
	const struct bt_node_info *info, const struct bt_host_port *wanted);
/**
 * Gets the size of an image, and the number of nodes that had the image when the snapshot last
 * refreshed this node. Returns false if the node does not have the image.
 */
bool bt_node_info_find_image(const struct bt_node_info *info, struct bt_str name,
	int64_t *out_size_bytes, uint32_t *out_node_count);
/**
 * The pods of the view: first the cached pods that are not removed, in the order of the node's
 * list, then the added pods. index: below the count.
 */
uint32_t bt_node_info_pod_count(const struct bt_node_info *info);
void bt_node_info_pod_at(
	const struct bt_node_info *info, uint32_t index, struct bt_pod_info *out_pod);
#endif
