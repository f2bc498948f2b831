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
 * Returns the status of the node: from its entry, from its group, or the status of all absent
 * nodes. O(entries).
 */
struct bt_status bt_node_statuses_get(
	const struct bt_node_statuses *statuses, const struct bt_state *state, uint32_t slot);
/**
 * NodesForStatusCode: collects the nodes of the snapshot with this code, in list order if absent
 * nodes have the code, else in the order of the entries. out_slots has room for every node of the
 * snapshot. Returns the number of nodes.
 */
uint32_t bt_node_statuses_nodes_for_code(const struct bt_node_statuses *statuses,
	enum bt_status_code code, const struct bt_state *state, uint32_t *out_slots);
/** Returns the number of nodes with this code; does not visit the nodes if statuses are grouped. */
uint32_t bt_node_statuses_count_for_code(const struct bt_node_statuses *statuses,
	enum bt_status_code code, const struct bt_state *state);
/** Returns the number of nodes that have an entry or a group. */
uint32_t bt_node_statuses_count(const struct bt_node_statuses *statuses);
/** Returns one of the nodes that have an entry or a group, in search order; index < count. */
struct bt_node_status_entry bt_node_statuses_at(
	const struct bt_node_statuses *statuses, const struct bt_state *state, uint32_t index);

/** Histogram of the reasons, as in the pod's message. Spec: 03 section 8. */

/**
 * Calls visit for each distinct reason with the number of nodes that give it, in no particular
 * order; otherwise as bt_fit_error_append_reasons. reason is borrowed for the call.
 */
void bt_fit_error_visit_reasons(const struct bt_node_statuses *statuses, uint32_t node_count,
	void (*visit)(void *context, struct bt_str reason, uint64_t count), void *context);

/**
 * Appends " 1 Insufficient cpu, 2 Too many pods." for node_count nodes; nodes without an entry
 * count with statuses->absent. Appends nothing if there is no reason at all.
 */
void bt_fit_error_append_reasons(
	const struct bt_node_statuses *statuses, uint32_t node_count, struct bt_strbuf *out);
#endif
