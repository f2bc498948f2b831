/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_COMPAT_CACHE_H
#define BT_COMPAT_CACHE_H
/** The structure of the public cache, which cache.c and node_info_map.c use. */
#include "base/map.h"
#include "berth/cache.h"
#include "berth/snapshot.h"
#include "lib/aggregate.h"
#include "state/state.h"

/** What the cache stores about a pod in addition to the tables. */
struct bt_cache_pod {
	struct bt_aggregate_pod *pod; /* NULL: the pod id is free */
	bool binding_finished;
	int64_t deadline_ns; /* expiry; valid if binding_finished */
};

/** What the cache stores about a node in addition to the tables. */
struct bt_cache_node {
	struct bt_object *node; /* newest object; stays while a removed node has pods */
	struct bt_pressures pressures;
	int64_t row_generation; /* generation of the table's row when `generation` was set */
	int64_t generation;     /* generation of aggregates copied from this node */
};

/** The state of a pod that was removed from the cache. */
struct bt_departed {
	struct bt_str uid; /* owned; data NULL: the place in the ring is free */
	enum berth_cache_pod_state state;
};

struct bt_departed_table {
	BT_VEC(struct bt_departed) ring; /* at most BERTH_CACHE_DEPARTED_MAX */
	uint32_t next;                   /* index of the oldest pod once the ring is full */
	struct bt_map index;             /* hash of uid -> index in ring */
};

/** Iterates over the nodes in the order of the snapshot, round after round. */
struct berth_node_tree {
	const struct bt_state *state;
	BT_VEC(uint32_t) round; /* slots of the nodes in this round */
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

/** Returns a number that changes whenever the node in this slot or its pods change. */
int64_t bt_cache_generation(struct berth_cache *cache, uint32_t slot);
/** Returns the node in this slot as an aggregate, which the caller owns. */
BT_MUST_USE struct bt_aggregate *bt_cache_copy_node(struct berth_cache *cache, uint32_t slot);
#endif
