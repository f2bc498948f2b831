/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_FRAMEWORK_NODE_STATUSES_H
#define BT_FRAMEWORK_NODE_STATUSES_H
/**
 * Reads the statuses of a failed search. Spec: 02 section 2, NodeToStatus. `state` has the snapshot
 * that was searched. Results are the same whether statuses are stored as groups or as entries.
 */
#include <stdint.h>

#include "framework/plugin.h"

/**
 * Returns the status of the node from its entry or its group, or statuses->absent if the node has
 * neither. Takes O(1) time with groups, and with entries if all nodes have one in search order;
 * otherwise O(number of entries).
 */
struct bt_status bt_node_statuses_get(
	const struct bt_node_statuses *statuses, const struct bt_state *state, uint32_t slot);
/**
 * NodesForStatusCode: collects the nodes of the snapshot with this code, in the order of the
 * snapshot's list if statuses->absent has the code, else in search order. out_slots must have room
 * for every node of the snapshot. Returns the number of nodes.
 */
uint32_t bt_node_statuses_nodes_for_code(const struct bt_node_statuses *statuses,
	enum bt_status_code code, const struct bt_state *state, uint32_t *out_slots);
/**
 * Returns the number of nodes of the snapshot with this code. If the statuses are grouped, adds the
 * sizes of the groups and visits no node.
 */
uint32_t bt_node_statuses_count_for_code(const struct bt_node_statuses *statuses,
	enum bt_status_code code, const struct bt_state *state);
/** Returns the number of nodes that have an entry or a group. */
uint32_t bt_node_statuses_count(const struct bt_node_statuses *statuses);
/**
 * Returns a node that has an entry or a group, and its status. index: in search order, below
 * bt_node_statuses_count.
 */
struct bt_node_status_entry bt_node_statuses_at(
	const struct bt_node_statuses *statuses, const struct bt_state *state, uint32_t index);

/** Histogram of the reasons, as in the pod's message. Spec: 03 section 8. */

/**
 * Calls visit for each distinct reason, in no particular order. node_count: the number of all
 * nodes; nodes without an entry or group have the status statuses->absent. count: the number of
 * nodes with the reason. reason is borrowed for the call.
 */
void bt_fit_error_visit_reasons(const struct bt_node_statuses *statuses, uint32_t node_count,
	void (*visit)(void *context, struct bt_str reason, uint64_t count), void *context);

/**
 * Appends the sorted histogram, such as " 1 Insufficient cpu, 2 Too many pods."; appends nothing if
 * there is no reason. node_count: as in bt_fit_error_visit_reasons.
 */
void bt_fit_error_append_reasons(
	const struct bt_node_statuses *statuses, uint32_t node_count, struct bt_strbuf *out);
#endif
