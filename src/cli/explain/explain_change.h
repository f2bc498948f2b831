/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_EXPLAIN_CHANGE_H
#define BT_CLI_EXPLAIN_CHANGE_H
/** Changes that an explanation proposes, in words, as kubectl commands, and in JSON. */
#include "codec/json.h"
#include "explain/remedy.h"
#include "state/node_table.h"

/**
 * "uncordon node-7, and free 250m cpu on node-7"; hostile bytes are shown escaped. nodes: may be
 * NULL. An amount beyond what the node's pods request becomes "add a node like node-7 with 12 cpu",
 * or, when the other changes or the pod are about that node, "replace node-7 by a node with 16
 * cpu". Returns whether a node is to be added.
 */
bool bt_changes_append_text(const struct bt_remedy *changes, uint32_t count,
	const struct bt_pod *pod, const struct bt_node_table *nodes, struct bt_strbuf *out);
/**
 * A line for a shell that carries the change out, words quoted; false, with nothing appended, when
 * there is none, or when a name in it does not print. in_input: the pod is an object of its own
 * that can be patched. lacks_tolerations: it has no list of them there.
 */
bool bt_change_append_command(const struct bt_remedy *change, const struct bt_pod *pod,
	bool in_input, bool lacks_tolerations, struct bt_strbuf *out);
/** The same for what may be done to the node in place of a change of the pod: its taint goes. */
bool bt_change_append_alternative(
	const struct bt_remedy *change, struct bt_str node, struct bt_strbuf *out);
/** [{"type": "Uncordon", "node": "node-7", "text": "uncordon node-7"}, ...] */
void bt_changes_write_json(const struct bt_remedy *changes, uint32_t count,
	const struct bt_pod *pod, const struct bt_node_table *nodes, struct bt_json_writer *writer);
#endif
