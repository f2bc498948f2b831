/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_COMPAT_CACHE_H
#define BT_COMPAT_CACHE_H
/** Between the files of the public cache. */
#include "base/map.h"
#include "berth/cache.h"
#include "berth/snapshot.h"
#include "lib/aggregate.h"
#include "state/state.h"

/** What the public cache keeps of a pod beyond the tables. */
struct bt_cache_pod {
	struct bt_aggregate_pod *pod; /* NULL: no such id */
	bool binding_finished;
	int64_t deadline_ns; /* binding_finished */
};

/** Likewise of a node. */
struct bt_cache_node {
	struct bt_object *node; /* the last one; also of a ghost */
	struct bt_pressures pressures;
	int64_t row_generation; /* of the table, when generation was drawn */
	int64_t generation;     /* that copies get */
};

/** A pod that has left. */
struct bt_departed {
	char *uid; /* owned; NULL: free */
	uint32_t uid_length;
	enum berth_cache_pod_state state;
};

struct bt_departed_table {
	BT_VEC(struct bt_departed) ring; /* at most BERTH_CACHE_DEPARTED_MAX */
	uint32_t next;                   /* of a full ring: the oldest */
	struct bt_map index;             /* hash of uid -> place in ring */
};

/** Walk over the nodes in their order. */
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

/** The number of the aggregate in this slot, another one after each change. */
int64_t bt_cache_generation(struct berth_cache *cache, uint32_t slot);
/** A copy of the aggregate in this slot. owned. */
BT_MUST_USE struct bt_aggregate *bt_cache_copy_node(struct berth_cache *cache, uint32_t slot);
#endif
