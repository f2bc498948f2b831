/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_SNAPSHOT_H
#define BERTH_SNAPSHOT_H
/**
 * @file
 * The snapshot: the nodes of a cache, in order, as a scheduling cycle sees them. Spec 03b sections
 * 6 and 7, upstream v1.36.
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

/** The snapshot of a cache; in old releases cachedNodeInfoMap. Opaque. */
struct berth_snapshot;

/**
 * Creates a snapshot that is empty until the first refresh. owned: berth_snapshot_destroy(), before
 * the cache.
 */
BERTH_API struct berth_snapshot *berth_snapshot_create(struct berth_cache *cache);
/** Releases the snapshot. NULL is accepted. */
BERTH_API void berth_snapshot_destroy(struct berth_snapshot *snapshot);
/**
 * Updates the snapshot, in time proportional to the changes (spec 03b section 7.2). The nodes of a
 * snapshot are views of the cache: the cache must not change between a refresh and the end of the
 * cycle.
 * BERTH_ERR_STATE: the snapshot was inconsistent and has been rebuilt; it can be used.
 */
BERTH_API BERTH_MUST_USE int berth_snapshot_refresh(
	struct berth_snapshot *snapshot, struct berth_error *err);
/**
 * The nodes of the snapshot, for berth_framework_create() and berth_predicates_create(). Borrowed.
 */
BERTH_API const struct berth_shared_lister *berth_snapshot_shared_lister(
	const struct berth_snapshot *snapshot);

/** NodeTree: the nodes of a cache, round-robin over zones. Opaque, belongs to the cache. */
struct berth_node_tree;

/** The node tree of the cache; a cache has one tree with one cursor. */
BERTH_API struct berth_node_tree *berth_cache_node_tree(struct berth_cache *cache);
/** NumNodes: the number of nodes that have a node object. */
BERTH_API uint32_t berth_node_tree_num_nodes(const struct berth_node_tree *tree);
/**
 * Next: returns the name of the node at the cursor and advances the cursor, which starts over after
 * the last node (spec 03b section 6); "" without nodes. New nodes join with the next round.
 * Borrowed until the cache changes.
 */
BERTH_API struct berth_str berth_node_tree_next(struct berth_node_tree *tree);

#ifdef __cplusplus
}
#endif
#endif
