/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens in, nodes out. Spec: 12b section 5. */
#include "cel/parser.h"

struct bt_cel_token bt_cel_parser_take(struct bt_cel_parser *parser)
{
	struct bt_cel_token token = parser->token;

	parser->token = parser->following;
	if (parser->index + 2 < parser->tokens.count) {
		parser->following = parser->tokens.items[++parser->index + 1];
	}
	return token;
}

bool bt_cel_parser_take_if(struct bt_cel_parser *parser, enum bt_cel_token_kind kind)
{
	if (parser->token.kind != kind) {
		return false;
	}
	(void)bt_cel_parser_take(parser);
	return true;
}

bool bt_cel_parser_expect(struct bt_cel_parser *parser, enum bt_cel_token_kind kind)
{
	if (bt_cel_parser_take_if(parser, kind)) {
		return true;
	}
	parser->is_refused = true;
	return false;
}

void bt_cel_parser_complain_of_depth(struct bt_cel_parser *parser)
{
	bt_cel_issue_add(parser->issues, BT_CEL_NOWHERE, "expression recursion limit exceeded: %d",
		BT_CEL_DEPTH_MAX);
}

struct bt_cel_node *bt_cel_parser_new_node(
	struct bt_cel_parser *parser, enum bt_cel_node_kind kind, uint32_t position, uint32_t below)
{
	struct bt_cel_node *node;

	if (below >= BT_CEL_DEPTH_MAX) {
		bt_cel_parser_complain_of_depth(parser);
		return NULL;
	}
	node = BT_ARENA_NEW(parser->arena, struct bt_cel_node);
	node->kind = kind;
	node->position = position;
	node->height = below + 1;
	return node;
}

void bt_cel_parser_push(struct bt_cel_parser *parser, struct bt_cel_node *node, bool is_optional)
{
	struct bt_cel_element element = {node, is_optional};

	bt_vec_push(&parser->elements, element);
}

uint32_t bt_cel_parser_highest(const struct bt_cel_parser *parser, uint32_t mark)
{
	uint32_t height = 0;

	for (uint32_t i = mark; i < parser->elements.count; i++) {
		if (parser->elements.items[i].node->height > height) {
			height = parser->elements.items[i].node->height;
		}
	}
	return height;
}

struct bt_cel_node **bt_cel_parser_nodes(
	struct bt_cel_parser *parser, uint32_t mark, uint32_t stride, uint32_t offset)
{
	uint32_t count = (parser->elements.count - mark) / stride;
	struct bt_cel_node **nodes = BT_ARENA_NEW_ARRAY(parser->arena, struct bt_cel_node *, count);

	for (uint32_t i = 0; i < count; i++) {
		nodes[i] = parser->elements.items[mark + i * stride + offset].node;
	}
	return nodes;
}

bool *bt_cel_parser_marks(struct bt_cel_parser *parser, uint32_t mark, uint32_t stride)
{
	uint32_t count = (parser->elements.count - mark) / stride;
	bool *marks = BT_ARENA_NEW_ARRAY(parser->arena, bool, count);
	bool any = false;

	for (uint32_t i = 0; i < count; i++) {
		marks[i] = parser->elements.items[mark + i * stride].is_optional;
		any = any || marks[i];
	}
	return any ? marks : NULL;
}

struct bt_cel_node *bt_cel_parser_make_call(struct bt_cel_parser *parser, uint32_t position,
	struct bt_cel_node *target, struct bt_str function, uint32_t mark)
{
	uint32_t below = bt_cel_parser_highest(parser, mark);
	struct bt_cel_node *call;

	if (target != NULL && target->height > below) {
		below = target->height;
	}
	call = bt_cel_parser_new_node(parser, BT_CEL_NODE_CALL, position, below);
	if (call != NULL) {
		call->call.function = function;
		call->call.target = target;
		call->call.arguments = bt_cel_parser_nodes(parser, mark, 1, 0);
		call->call.count = parser->elements.count - mark;
	}
	parser->elements.count = mark;
	return call;
}

struct bt_cel_node *bt_cel_parser_make_operator(struct bt_cel_parser *parser, uint32_t position,
	enum bt_cel_operator operator_, const char *function, uint32_t mark)
{
	struct bt_cel_node *call =
		bt_cel_parser_make_call(parser, position, NULL, bt_str_from(function), mark);

	if (call != NULL) {
		call->call.operator_ = operator_;
	}
	return call;
}
