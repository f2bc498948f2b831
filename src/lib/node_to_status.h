/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_LIB_NODE_TO_STATUS_H
#define BT_LIB_NODE_TO_STATUS_H
/**
 * NodeToStatus (spec 02 section 2): a map that a caller fills, or a read-only view of the statuses
 * of a cycle.
 */
#include "base/map.h"
#include "berth/status.h"
#include "framework/node_statuses.h"

struct bt_named_status {
	struct bt_str node_name; /* in the arena of the map */
	struct bt_status status;
};

struct berth_node_to_status {
	/* In a view, both of these pointers are set; in a map, both are NULL. */
	const struct bt_state *state;
	const struct bt_node_statuses *statuses;
	/*
	 * The content of a map; unused in a view. absent is the status of nodes without an entry.
	 */
	struct bt_arena arena;
	BT_VEC(struct bt_named_status) entries;
	struct bt_map by_name; /* by the hash of the node's name: index in entries */
	struct bt_status absent;
};

#endif
