/* SPDX-License-Identifier: Apache-2.0 */
#include "print_tree.h"

#include <inttypes.h>

static void print_literal(const struct bt_cel_value *value, struct bt_strbuf *out)
{
	switch ((int)value->kind) {
	case BT_CEL_NULL:
		bt_strbuf_append_c(out, "null");
		break;
	case BT_CEL_BOOL:
		bt_strbuf_append_c(out, value->boolean ? "true" : "false");
		break;
	case BT_CEL_INT:
		bt_strbuf_printf(out, "%" PRId64, value->integer);
		break;
	case BT_CEL_UINT:
		bt_strbuf_printf(out, "%" PRIu64 "u", value->uinteger);
		break;
	case BT_CEL_DOUBLE:
		bt_strbuf_printf(out, "%#g", value->real);
		break;
	case BT_CEL_BYTES:
		bt_strbuf_append_char(out, 'b');
		bt_strbuf_append_quoted(out, value->text);
		break;
	default:
		bt_strbuf_append_quoted(out, value->text);
	}
}

static void print_part(const struct bt_cel_node *node, struct bt_strbuf *out)
{
	bt_strbuf_append_char(out, ' ');
	if (node != NULL) {
		bt_cel_print_tree(node, out);
	} else {
		bt_strbuf_append_char(out, '-');
	}
}

static void print_call(const struct bt_cel_node *node, struct bt_strbuf *out)
{
	bt_strbuf_append_char(out, '(');
	if (node->call.target != NULL) {
		bt_cel_print_tree(node->call.target, out);
		bt_strbuf_append_char(out, ':');
	}
	bt_strbuf_append_c(out, node->call.is_rooted ? "." : "");
	bt_strbuf_append_str(out, node->call.function);
	for (uint32_t i = 0; i < node->call.count; i++) {
		print_part(node->call.arguments[i], out);
	}
	bt_strbuf_append_char(out, ')');
}

static void print_list(const struct bt_cel_node *node, struct bt_strbuf *out)
{
	bt_strbuf_append_char(out, '[');
	for (uint32_t i = 0; i < node->list.count; i++) {
		bool is_optional = node->list.is_optional != NULL && node->list.is_optional[i];
		bt_strbuf_append_c(out, i != 0 ? " " : "");
		bt_strbuf_append_c(out, is_optional ? "?" : "");
		bt_cel_print_tree(node->list.items[i], out);
	}
	bt_strbuf_append_char(out, ']');
}

static void print_map(const struct bt_cel_node *node, struct bt_strbuf *out)
{
	bt_strbuf_append_char(out, '{');
	for (uint32_t i = 0; i < node->map.count; i++) {
		bool is_optional = node->map.is_optional != NULL && node->map.is_optional[i];
		bt_strbuf_append_c(out, i != 0 ? " " : "");
		bt_strbuf_append_c(out, is_optional ? "?" : "");
		bt_cel_print_tree(node->map.keys[i], out);
		bt_strbuf_append_char(out, ':');
		bt_cel_print_tree(node->map.values[i], out);
	}
	bt_strbuf_append_char(out, '}');
}

static void print_macro(const struct bt_cel_node *node, struct bt_strbuf *out)
{
	static const char *const names[] = {
		[BT_CEL_MACRO_ALL] = "all",
		[BT_CEL_MACRO_EXISTS] = "exists",
		[BT_CEL_MACRO_EXISTS_ONE] = "exists_one",
		[BT_CEL_MACRO_MAP] = "map",
		[BT_CEL_MACRO_FILTER] = "filter",
		[BT_CEL_MACRO_TRANSFORM_LIST] = "transformList",
		[BT_CEL_MACRO_TRANSFORM_MAP] = "transformMap",
		[BT_CEL_MACRO_TRANSFORM_MAP_ENTRY] = "transformMapEntry",
		[BT_CEL_MACRO_BIND] = "bind",
		[BT_CEL_MACRO_OPT_MAP] = "optMap",
		[BT_CEL_MACRO_OPT_FLAT_MAP] = "optFlatMap",
		[BT_CEL_MACRO_SORT_BY] = "sortBy",
	};

	bt_strbuf_printf(out, "<%s", names[node->macro.macro]);
	for (uint32_t i = 0; i < (node->macro.has_two_variables ? 2U : 1U); i++) {
		bt_strbuf_append_char(out, ' ');
		bt_strbuf_append_str(out, node->macro.names[i]);
	}
	print_part(node->macro.range, out);
	print_part(node->macro.condition, out);
	print_part(node->macro.result, out);
	bt_strbuf_append_char(out, '>');
}

void bt_cel_print_tree(const struct bt_cel_node *node, struct bt_strbuf *out)
{
	switch (node->kind) {
	case BT_CEL_NODE_LITERAL:
		print_literal(&node->literal, out);
		break;
	case BT_CEL_NODE_IDENTIFIER:
		bt_strbuf_append_c(out, node->identifier.is_rooted ? "." : "");
		bt_strbuf_append_str(out, node->identifier.name);
		break;
	case BT_CEL_NODE_SELECT:
		bt_strbuf_append_c(out,
			node->select.is_test               ? "(has"
				: node->select.is_optional ? "(.?"
							   : "(.");
		print_part(node->select.operand, out);
		bt_strbuf_append_char(out, ' ');
		bt_strbuf_append_str(out, node->select.field);
		bt_strbuf_append_char(out, ')');
		break;
	case BT_CEL_NODE_CALL:
		print_call(node, out);
		break;
	case BT_CEL_NODE_LIST:
		print_list(node, out);
		break;
	case BT_CEL_NODE_MAP:
		print_map(node, out);
		break;
	case BT_CEL_NODE_MACRO:
		print_macro(node, out);
		break;
	}
}
