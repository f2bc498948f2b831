/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_FRAMEWORK_NODE_STATUSES_H
#define BT_FRAMEWORK_NODE_STATUSES_H
/**
 * Reads the statuses of a failed search. Spec: 02 section 2, NodeToStatus. state: with the snapshot
 * that was searched. Groups give the same answers as the entries that they stand for.
 */
#include <stdint.h>

#include "framework/plugin.h"

/** Status of the node: of its own entry, of its group, or of all absent nodes. O(entries). */
struct bt_status bt_node_statuses_get(
	const struct bt_node_statuses *statuses, const struct bt_state *state, uint32_t slot);
/**
 * NodesForStatusCode: nodes of the snapshot with this code, in list order if the code is that of
 * the absent nodes, else in the order of the entries. out_slots has room for every node of the
 * snapshot. Returns their number.
 */
uint32_t bt_node_statuses_nodes_for_code(const struct bt_node_statuses *statuses,
	enum bt_status_code code, const struct bt_state *state, uint32_t *out_slots);
/** Their number; does not visit the nodes if statuses are grouped. */
uint32_t bt_node_statuses_count_for_code(const struct bt_node_statuses *statuses,
	enum bt_status_code code, const struct bt_state *state);
/** Nodes with a status of their own. */
uint32_t bt_node_statuses_count(const struct bt_node_statuses *statuses);
/** One of them, in search order; index < count. */
struct bt_node_status_entry bt_node_statuses_at(
	const struct bt_node_statuses *statuses, const struct bt_state *state, uint32_t index);

/** The histogram of reasons as in the pod's message. Spec: 03 section 8. */

/**
 * Each reason once, with the number of nodes that give it, in no particular order; otherwise as
 * bt_fit_error_append_reasons. reason is borrowed for the call.
 */
void bt_fit_error_visit_reasons(const struct bt_node_statuses *statuses, uint32_t node_count,
	void (*visit)(void *context, struct bt_str reason, uint64_t count), void *context);

/**
 * Append " 1 Insufficient cpu, 2 Too many pods." for node_count nodes, those without an entry of
 * their own counting with statuses->absent. Nothing when there is no reason at all.
 */
void bt_fit_error_append_reasons(
	const struct bt_node_statuses *statuses, uint32_t node_count, struct bt_strbuf *out);
#endif
