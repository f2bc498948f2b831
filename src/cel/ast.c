/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/ast.h"

static struct bt_cel_node *macro_child(const struct bt_cel_node *node, uint32_t index)
{
	struct bt_cel_node *const parts[] = {
		node->macro.range, node->macro.condition, node->macro.result};

	for (uint32_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
		if (parts[i] != NULL && index-- == 0) {
			return parts[i];
		}
	}
	return NULL;
}

struct bt_cel_node *bt_cel_node_child(const struct bt_cel_node *node, uint32_t index)
{
	switch (node->kind) {
	case BT_CEL_NODE_LITERAL:
	case BT_CEL_NODE_IDENTIFIER:
		return NULL;
	case BT_CEL_NODE_SELECT:
		return index == 0 ? node->select.operand : NULL;
	case BT_CEL_NODE_CALL:
		if (node->call.target != NULL && index-- == 0) {
			return node->call.target;
		}
		return index < node->call.count ? node->call.arguments[index] : NULL;
	case BT_CEL_NODE_LIST:
		return index < node->list.count ? node->list.items[index] : NULL;
	case BT_CEL_NODE_MAP:
		if (index / 2 >= node->map.count) {
			return NULL;
		}
		return index % 2 == 0 ? node->map.keys[index / 2] : node->map.values[index / 2];
	case BT_CEL_NODE_MACRO:
		return macro_child(node, index);
	}
	return NULL;
}
