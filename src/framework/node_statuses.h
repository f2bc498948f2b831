/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_FRAMEWORK_NODE_STATUSES_H
#define BT_FRAMEWORK_NODE_STATUSES_H
/**
 * Questions to the statuses a failed search left behind. Spec: 02 section 2, NodeToStatus. state:
 * with the snapshot that was searched. Groups answer as the entries they stand for would.
 */
#include <stdint.h>

#include "framework/plugin.h"

/** The node's own entry or its group's, or the status of all absent ones. O(entries). */
struct bt_status bt_node_statuses_get(
	const struct bt_node_statuses *statuses, const struct bt_state *state, uint32_t slot);
/**
 * NodesForStatusCode: nodes of the snapshot with this code, in list order when it is the code of
 * the absent nodes, else in the order of the entries. out_slots has room for every node of the
 * snapshot. Returns their number.
 */
uint32_t bt_node_statuses_nodes_for_code(const struct bt_node_statuses *statuses,
	enum bt_status_code code, const struct bt_state *state, uint32_t *out_slots);
/** How many these are; groups tell without a look at the nodes. */
uint32_t bt_node_statuses_count_for_code(const struct bt_node_statuses *statuses,
	enum bt_status_code code, const struct bt_state *state);
/** Nodes with a status of their own. */
uint32_t bt_node_statuses_count(const struct bt_node_statuses *statuses);
/** One of them, in search order; index < count. */
struct bt_node_status_entry bt_node_statuses_at(
	const struct bt_node_statuses *statuses, const struct bt_state *state, uint32_t index);
#endif
