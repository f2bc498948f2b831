/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_CHANGE_H
#define BT_API_CHANGE_H
/**
 * Computes the cluster events for a change between two versions of an object. Spec: 01 section 6.
 */
#include <stdbool.h>
#include <stdint.h>

#include "api/node.h"
#include "api/pod.h"
#include "base/arena.h"

enum bt_action {
	BT_ACTION_ADD = 1,
	BT_ACTION_DELETE = 2,
	BT_ACTION_UPDATE_NODE_ALLOCATABLE = 4,
	BT_ACTION_UPDATE_NODE_LABEL = 8,
	BT_ACTION_UPDATE_NODE_TAINT = 16,
	BT_ACTION_UPDATE_NODE_CONDITION = 32,
	BT_ACTION_UPDATE_NODE_ANNOTATION = 64,
	BT_ACTION_UPDATE_NODE_DECLARED_FEATURE = 128,
	BT_ACTION_UPDATE_POD_LABEL = 256,
	BT_ACTION_UPDATE_POD_SCALE_DOWN = 512,
	BT_ACTION_UPDATE_POD_TOLERATION = 1024,
	BT_ACTION_UPDATE_POD_SCHEDULING_GATES_ELIMINATED = 2048,
	BT_ACTION_UPDATE_POD_GENERATED_RESOURCE_CLAIM = 4096,
	BT_ACTION_UPDATE = 8188, /* every update bit */
	BT_ACTION_ALL = 8191,
};

/** Maximum number of events of one update. */
#define BT_CHANGE_EVENTS_MAX 8

/** One action (enum bt_action) per event, in the order in which the events must be handled. */
struct bt_change_events {
	uint32_t count;
	uint32_t actions[BT_CHANGE_EVENTS_MAX];
};

/** Feature gates that decide which changes are events; all are on by default. */
struct bt_change_gates {
	bool dynamic_resource_allocation;  /* DynamicResourceAllocation, locked: always true */
	bool in_place_pod_level_resources; /* InPlacePodLevelResourcesVerticalScaling */
	bool node_declared_features;       /* NodeDeclaredFeatures */
};

/**
 * Events of a pod update, spec 01 section 6.1; at least one. Their resource is AssignedPod if the
 * new pod has a node, else UnschedulablePod. arena: scratch.
 */
struct bt_change_events bt_pod_change_events(const struct bt_pod *old_pod,
	const struct bt_pod *new_pod, const struct bt_change_gates *gates, struct bt_arena *arena);
/**
 * Events of a node update (resource Node), spec 01 section 6.2; none if the change is irrelevant.
 * arena: scratch.
 */
struct bt_change_events bt_node_change_events(const struct bt_node *old_node,
	const struct bt_node *new_node, const struct bt_change_gates *gates,
	struct bt_arena *arena);

/** Compares content; absent equals empty. */
bool bt_str_map_equal(const struct bt_str_map *a, const struct bt_str_map *b);
bool bt_str_list_equal(const bt_str_list *a, const bt_str_list *b);
/** Compares quantities by value. */
bool bt_resource_list_equal(const struct bt_resource_list *a, const struct bt_resource_list *b);
/** Compares key, value, effect and timeAdded; the order counts. */
bool bt_taint_list_equal(const bt_taint_list *a, const bt_taint_list *b);
#endif
