/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_EXPLAIN_CHANGE_H
#define BT_CLI_EXPLAIN_CHANGE_H
/** Changes that an explanation proposes: as text, as kubectl commands, and in JSON. */
#include "codec/json.h"
#include "explain/remedy.h"
#include "state/node_table.h"

/**
 * Append "uncordon node-7, and free 250m cpu on node-7"; escapes control bytes. nodes NULL: amounts
 * of nodes are unknown. If the node's pods request less than is needed, the text is "add a node
 * like node-7 with 12 cpu", or, if the other changes or the pod depend on that node, "replace
 * node-7 by a node with 16 cpu". Returns whether the text adds a node.
 */
bool bt_changes_append_text(const bt_remedy_list *changes, const struct bt_pod *pod,
	const struct bt_node_table *nodes, struct bt_strbuf *out);
/**
 * Append a shell command that makes the change, with quoted words. Returns false and appends
 * nothing if there is no such command, or a name is not printable. in_input: the pod is an object
 * that can be patched. lacks_tolerations: the object has no list of tolerations.
 */
bool bt_change_append_command(const struct bt_remedy *change, const struct bt_pod *pod,
	bool in_input, bool lacks_tolerations, struct bt_strbuf *out);
/**
 * As bt_change_append_command, for the alternative to a toleration: removing the taint from the
 * node.
 */
bool bt_change_append_alternative(
	const struct bt_remedy *change, struct bt_str node, struct bt_strbuf *out);
/** Write [{"type": "Uncordon", "node": "node-7", "text": "uncordon node-7"}, ...]. */
void bt_changes_write_json(const bt_remedy_list *changes, const struct bt_pod *pod,
	const struct bt_node_table *nodes, struct bt_json_writer *writer);
#endif
