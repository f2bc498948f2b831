/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_LIB_NODE_TO_STATUS_H
#define BT_LIB_NODE_TO_STATUS_H
/** NodeToStatus: either a map with entries, or a view of a failed search (spec 02 section 2). */
#include "berth/status.h"
#include "framework/node_statuses.h"

struct bt_named_status {
	struct bt_str node_name; /* in the arena */
	struct bt_status status;
};

struct berth_node_to_status {
	/* Both are set for a view, NULL for a map. */
	const struct bt_state *state;
	const struct bt_node_statuses *statuses;
	/* Used for a map. */
	struct bt_arena arena;
	BT_VEC(struct bt_named_status) entries;
	struct bt_status absent;
};

#endif
