/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_SNAPSHOT_H
#define BERTH_SNAPSHOT_H
/**
 * @file
 * What a scheduling cycle sees of a cache: its nodes in their order. Spec 03b sections 6 and 7,
 * upstream v1.36.
 */
#include <stdint.h>

#include "berth/api.h"
#include "berth/cache.h"
#include "berth/error.h"
#include "berth/handle.h"
#include "berth/str.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The snapshot of a cache, once cachedNodeInfoMap. Opaque. */
struct berth_snapshot;

/** Empty until the first refresh. owned: berth_snapshot_destroy(), before the cache. */
BERTH_API struct berth_snapshot *berth_snapshot_create(struct berth_cache *cache);
/** NULL is accepted. */
BERTH_API void berth_snapshot_destroy(struct berth_snapshot *snapshot);
/**
 * Brings it up to date at the cost of what changed (spec 03b section 7.2). The nodes of a snapshot
 * are views of the cache: between a refresh and the end of the cycle the cache must not change.
 * BERTH_ERR_STATE: the snapshot had lost its way and was made anew; it can be used.
 */
BERTH_API BERTH_MUST_USE int berth_snapshot_refresh(
	struct berth_snapshot *snapshot, struct berth_error *err);
/** Its nodes, for berth_framework_create() and berth_predicates_create(). Borrowed. */
BERTH_API const struct berth_shared_lister *berth_snapshot_shared_lister(
	const struct berth_snapshot *snapshot);

/** NodeTree: the nodes of a cache, round-robin over zones. Opaque, belongs to the cache. */
struct berth_node_tree;

/** The tree of the cache, with its one cursor. */
BERTH_API struct berth_node_tree *berth_cache_node_tree(struct berth_cache *cache);
/** NumNodes: those with a node object. */
BERTH_API uint32_t berth_node_tree_num_nodes(const struct berth_node_tree *tree);
/**
 * Next: the node at the cursor, which moves on and begins anew behind the last one (spec 03b
 * section 6); "" when there is none. Nodes that join come with the next round. Borrowed until the
 * cache changes.
 */
BERTH_API struct berth_str berth_node_tree_next(struct berth_node_tree *tree);

#ifdef __cplusplus
}
#endif
#endif
