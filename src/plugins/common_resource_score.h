/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_COMMON_RESOURCE_SCORE_H
#define BT_PLUGINS_COMMON_RESOURCE_SCORE_H
/**
 * Inputs of the resource scorers: what of a configured resource a node has, what is used, what the
 * pod asks for. Spec: 05 section 11.4.
 */
#include <stdbool.h>
#include <stdint.h>

#include "api/resources.h"
#include "config/config.h"
#include "config/gates.h"
#include "framework/plugin.h"
#include "state/node_info.h"
#include "state/state.h"

enum bt_scored_kind {
	BT_SCORED_CPU,
	BT_SCORED_MEMORY,
	BT_SCORED_EPHEMERAL_STORAGE,
	BT_SCORED_SCALAR,
	BT_SCORED_UNTRACKED, /* pods, storage, ...: no node has any */
};

/** A configured resource. */
struct bt_scored_resource {
	struct bt_str name; /* borrowed from the arguments */
	int64_t weight;
	enum bt_scored_kind kind;
	uint32_t column; /* BT_SCORED_SCALAR: column of the node table, else UINT32_MAX */
	/** Where to look for devices behind it (spec 05 section 11.7); NULL: there can be none. */
	struct bt_dra *dra;
	const struct bt_handle *handle;
};

/** The configured list, in order. All-zero memory is the empty list. */
struct bt_scored_resources {
	struct bt_scored_resource *items; /* owned */
	uint32_t count;
};

void bt_scored_resources_init(struct bt_scored_resources *resources,
	const bt_resource_spec_list *list, const struct bt_handle *handle);
void bt_scored_resources_finish(struct bt_scored_resources *resources);

/** One value per configured resource, in milli for cpu; 0 for a name that is absent. In the arena.
 */
int64_t *bt_scored_resources_request(const struct bt_scored_resources *resources,
	const struct bt_resource_list *request, struct bt_arena *arena);

/**
 * Devices may stand behind something that the pod asks for: its scores then depend on more than the
 * node's row, and there is no column form. Changes with the device classes only.
 */
bool bt_scored_resources_need_devices(
	const struct bt_scored_resources *resources, const int64_t *requests);

/** A resource that takes part in a node's score. */
struct bt_score_entry {
	int64_t capacity; /* never 0 */
	int64_t used;
	int64_t requested; /* used plus the pod's */
	int64_t weight;
};

enum bt_score_usage {
	BT_SCORE_NON_ZERO,  /* NodeResourcesFit: cpu and memory as NonZeroRequested */
	BT_SCORE_REQUESTED, /* NodeResourcesBalancedAllocation */
};

/** Total and use of a resource on a node, without devices; both 0 when nodes have no such
 * resource. */
void bt_scored_resource_read(const struct bt_scored_resource *resource,
	const struct bt_node_info *node, enum bt_score_usage usage, int64_t *out_capacity,
	int64_t *out_used);
/** The entry of one resource on a node, devices included; false when it is absent. */
bool bt_score_entry_find(const struct bt_scored_resource *resource, int64_t pod_request,
	const struct bt_node_info *node, enum bt_score_usage usage,
	struct bt_score_entry *out_entry);

/** min(requested, capacity) * 100 / capacity: one resource of the MostAllocated strategy. Spec 05
 * section 11.5. */
int64_t bt_most_allocated_points(int64_t requested, int64_t capacity);

/** The gates that decide a pod's resource vector. */
struct bt_resource_gates bt_resource_gates_of(const struct bt_gates *gates);
#endif
