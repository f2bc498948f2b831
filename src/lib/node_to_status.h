/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_LIB_NODE_TO_STATUS_H
#define BT_LIB_NODE_TO_STATUS_H
/**
 * NodeToStatus (spec 02 section 2): a map that a caller fills, or a read-only view of the statuses
 * of a cycle.
 */
#include "base/text_set.h"
#include "berth/status.h"
#include "framework/node_statuses.h"

struct berth_node_to_status {
	/* In a view, both of these pointers are set; in a map, both are NULL. */
	const struct bt_state *state;
	const struct bt_node_statuses *statuses;
	/*
	 * The content of a map; unused in a view. absent is the status of nodes without an entry.
	 */
	struct bt_arena arena;
	struct bt_text_set names;         /* of nodes; texts are in the arena */
	BT_VEC(struct bt_status) entries; /* by the position of the node's name */
	struct bt_status absent;
};

#endif
