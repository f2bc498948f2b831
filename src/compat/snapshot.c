/* SPDX-License-Identifier: Apache-2.0 */
#include "berth/snapshot.h"

#include <stddef.h>

#include "base/alloc.h"
#include "compat/cache.h"
#include "lib/convert.h"

struct berth_snapshot {
	struct bt_state *state; /* the cache's */
	struct bt_snapshot_view view;
};

struct berth_snapshot *berth_snapshot_create(struct berth_cache *cache)
{
	struct berth_snapshot *snapshot = BT_NEW(struct berth_snapshot);

	snapshot->state = cache->state;
	snapshot->view = (struct bt_snapshot_view){.state = cache->state};
	return snapshot;
}

void berth_snapshot_destroy(struct berth_snapshot *snapshot)
{
	bt_free(snapshot);
}

int berth_snapshot_refresh(struct berth_snapshot *snapshot, struct berth_error *err)
{
	return bt_state_refresh_snapshot(snapshot->state, err);
}

const struct berth_shared_lister *berth_snapshot_shared_lister(
	const struct berth_snapshot *snapshot)
{
	return berth_const_shared_lister_of(&snapshot->view);
}

/* --- the tree --- */

struct berth_node_tree *berth_cache_node_tree(struct berth_cache *cache)
{
	cache->tree.state = cache->state;
	return &cache->tree;
}

uint32_t berth_node_tree_num_nodes(const struct berth_node_tree *tree)
{
	return tree->state->order.count;
}

struct berth_str berth_node_tree_next(struct berth_node_tree *tree)
{
	const struct bt_node_table *nodes = &tree->state->nodes;

	/* Two rounds: the nodes of this one may all be gone. */
	for (int round = 0; round < 2; round++) {
		if (tree->next >= tree->round.count) {
			tree->next = 0;
			bt_vec_reserve(&tree->round, (uint64_t)tree->state->order.count + 1);
			tree->round.count = tree->state->order.count;
			bt_node_order_list(&tree->state->order, tree->round.items);
		}
		while (tree->next < tree->round.count) {
			uint32_t slot = tree->round.items[tree->next++];

			if (nodes->rows[slot].has_node) {
				return bt_node_table_name(nodes, slot);
			}
		}
	}
	return BT_STR("");
}

void bt_node_tree_finish(struct berth_node_tree *tree)
{
	bt_vec_finish(&tree->round);
}
