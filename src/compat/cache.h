/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_COMPAT_CACHE_H
#define BT_COMPAT_CACHE_H
/** Shared by the files of the public cache. */
#include "base/map.h"
#include "berth/cache.h"
#include "berth/snapshot.h"
#include "lib/aggregate.h"
#include "state/state.h"

/** Data of a pod that the tables do not store. */
struct bt_cache_pod {
	struct bt_aggregate_pod *pod; /* NULL: no pod has this id */
	bool binding_finished;
	int64_t deadline_ns; /* valid if binding_finished */
};

/** Data of a node that the tables do not store. */
struct bt_cache_node {
	struct bt_object *node; /* the last object; kept if the node was removed but has pods */
	struct bt_pressures pressures;
	int64_t row_generation; /* the row's generation when `generation` was set */
	int64_t generation;     /* generation that copies of the node get */
};

/** A pod that was removed from the cache. */
struct bt_departed {
	char *uid; /* owned; NULL: free */
	uint32_t uid_length;
	enum berth_cache_pod_state state;
};

struct bt_departed_table {
	BT_VEC(struct bt_departed) ring; /* at most BERTH_CACHE_DEPARTED_MAX */
	uint32_t next;                   /* index of the oldest in a full ring */
	struct bt_map index;             /* hash of uid -> place in ring */
};

/** Iterates over the nodes in their order. */
struct berth_node_tree {
	const struct bt_state *state;
	BT_VEC(uint32_t) round; /* slots */
	uint32_t next;
};

struct berth_cache {
	struct bt_state *state;
	BT_VEC(struct bt_cache_pod) pods;   /* by pod id */
	BT_VEC(struct bt_cache_node) nodes; /* by slot */
	struct bt_departed_table departed;
	int64_t assume_ttl_ns; /* 0: no expiry */
	struct berth_node_tree tree;
};

/**
 * Returns the generation of the aggregate in this slot; changes with each change of the aggregate.
 */
int64_t bt_cache_generation(struct berth_cache *cache, uint32_t slot);
/** Returns a copy of the aggregate in this slot. owned. */
BT_MUST_USE struct bt_aggregate *bt_cache_copy_node(struct berth_cache *cache, uint32_t slot);
#endif
