/* SPDX-License-Identifier: Apache-2.0 */
/* Names, calls, literals and whatever stands in brackets. Spec: 12b section 5. */
#include "cel/parser.h"

/** Expressions up to the closing parenthesis, which is taken. */
static bool parse_arguments(struct bt_cel_parser *parser)
{
	if (bt_cel_parser_take_if(parser, BT_CEL_TOKEN_CLOSE_PARENTHESIS)) {
		return true;
	}
	do {
		struct bt_cel_node *argument = bt_cel_parse_expression(parser);
		if (argument == NULL) {
			return false;
		}
		bt_cel_parser_push(parser, argument, false);
	} while (bt_cel_parser_take_if(parser, BT_CEL_TOKEN_COMMA));
	return bt_cel_parser_expect(parser, BT_CEL_TOKEN_CLOSE_PARENTHESIS);
}

struct bt_cel_node *bt_cel_parse_call(struct bt_cel_parser *parser, struct bt_cel_node *target,
	struct bt_str function, bool is_rooted)
{
	uint32_t position = bt_cel_parser_take(parser).position;
	uint32_t mark = parser->elements.count;
	struct bt_cel_node *call;

	if (!parse_arguments(parser)) {
		return NULL;
	}
	call = bt_cel_parser_make_call(parser, position, target, function, mark);
	if (call != NULL) {
		call->call.is_rooted = is_rooted;
		bt_cel_macro_expand(call, parser->issues);
	}
	return call;
}

static struct bt_cel_node *parse_name(struct bt_cel_parser *parser)
{
	uint32_t position = parser->token.position;
	bool is_rooted = bt_cel_parser_take_if(parser, BT_CEL_TOKEN_DOT);
	struct bt_cel_token name = parser->token;
	struct bt_cel_node *node;

	if (!bt_cel_parser_expect(parser, BT_CEL_TOKEN_IDENTIFIER)) {
		return NULL;
	}
	if (bt_str_has_word(BT_STR("as break const continue else for function if import let "
				   "loop package namespace return var void while"),
		    name.text)) {
		bt_cel_issue_add(parser->issues, name.position, "reserved identifier: %.*s",
			BT_STR_ARG(name.text));
	}
	if (parser->token.kind == BT_CEL_TOKEN_OPEN_PARENTHESIS) {
		return bt_cel_parse_call(parser, NULL, name.text, is_rooted);
	}
	node = bt_cel_parser_new_node(parser, BT_CEL_NODE_IDENTIFIER, position, 0);
	node->identifier.name = name.text;
	node->identifier.is_rooted = is_rooted;
	return node;
}

/** Elements with commas between them and perhaps behind them, up to the closing bracket. */
static bool parse_elements(struct bt_cel_parser *parser, enum bt_cel_token_kind close,
	bool (*parse_element)(struct bt_cel_parser *parser))
{
	if (parser->token.kind == close || bt_cel_parser_take_if(parser, BT_CEL_TOKEN_COMMA)) {
		return bt_cel_parser_expect(parser, close);
	}
	do {
		if (!parse_element(parser)) {
			return false;
		}
	} while (bt_cel_parser_take_if(parser, BT_CEL_TOKEN_COMMA) && parser->token.kind != close);
	return bt_cel_parser_expect(parser, close);
}

static bool parse_item(struct bt_cel_parser *parser)
{
	bool is_optional = bt_cel_parser_take_if(parser, BT_CEL_TOKEN_QUESTION);
	struct bt_cel_node *item = bt_cel_parse_expression(parser);

	if (item != NULL) {
		bt_cel_parser_push(parser, item, is_optional);
	}
	return item != NULL;
}

static bool parse_value(struct bt_cel_parser *parser, bool is_optional)
{
	struct bt_cel_node *value;

	if (!bt_cel_parser_expect(parser, BT_CEL_TOKEN_COLON)) {
		return false;
	}
	value = bt_cel_parse_expression(parser);
	if (value != NULL) {
		bt_cel_parser_push(parser, value, is_optional);
	}
	return value != NULL;
}

static bool parse_entry(struct bt_cel_parser *parser)
{
	bool is_optional = bt_cel_parser_take_if(parser, BT_CEL_TOKEN_QUESTION);
	struct bt_cel_node *key = bt_cel_parse_expression(parser);

	if (key == NULL) {
		return false;
	}
	bt_cel_parser_push(parser, key, is_optional);
	return parse_value(parser, is_optional);
}

/** Of a message literal. */
static bool parse_field(struct bt_cel_parser *parser)
{
	(void)bt_cel_parser_take_if(parser, BT_CEL_TOKEN_QUESTION);
	return bt_cel_parser_expect(parser, BT_CEL_TOKEN_IDENTIFIER) && parse_value(parser, false);
}

static struct bt_cel_node *parse_list(struct bt_cel_parser *parser)
{
	uint32_t position = bt_cel_parser_take(parser).position;
	uint32_t mark = parser->elements.count;
	struct bt_cel_node *list;

	if (!parse_elements(parser, BT_CEL_TOKEN_CLOSE_BRACKET, parse_item)) {
		return NULL;
	}
	list = bt_cel_parser_new_node(
		parser, BT_CEL_NODE_LIST, position, bt_cel_parser_highest(parser, mark));
	if (list != NULL) {
		list->list.items = bt_cel_parser_nodes(parser, mark, 1, 0);
		list->list.is_optional = bt_cel_parser_marks(parser, mark, 1);
		list->list.count = parser->elements.count - mark;
	}
	parser->elements.count = mark;
	return list;
}

static struct bt_cel_node *parse_map(struct bt_cel_parser *parser)
{
	uint32_t position = bt_cel_parser_take(parser).position;
	uint32_t mark = parser->elements.count;
	struct bt_cel_node *map;

	if (!parse_elements(parser, BT_CEL_TOKEN_CLOSE_BRACE, parse_entry)) {
		return NULL;
	}
	map = bt_cel_parser_new_node(
		parser, BT_CEL_NODE_MAP, position, bt_cel_parser_highest(parser, mark));
	if (map != NULL) {
		map->map.keys = bt_cel_parser_nodes(parser, mark, 2, 0);
		map->map.values = bt_cel_parser_nodes(parser, mark, 2, 1);
		map->map.is_optional = bt_cel_parser_marks(parser, mark, 2);
		map->map.count = (parser->elements.count - mark) / 2;
	}
	parser->elements.count = mark;
	return map;
}

static struct bt_cel_node *parse_parentheses(struct bt_cel_parser *parser)
{
	struct bt_cel_node *inner;

	(void)bt_cel_parser_take(parser);
	inner = bt_cel_parse_expression(parser);
	return inner != NULL && bt_cel_parser_expect(parser, BT_CEL_TOKEN_CLOSE_PARENTHESIS) ? inner
											     : NULL;
}

static struct bt_cel_node *parse_literal(struct bt_cel_parser *parser)
{
	uint32_t position = parser->token.position;
	bool is_negative = bt_cel_parser_take_if(parser, BT_CEL_TOKEN_MINUS);
	struct bt_cel_token token = bt_cel_parser_take(parser);
	struct bt_cel_node *literal =
		bt_cel_parser_new_node(parser, BT_CEL_NODE_LITERAL, position, 0);

	if (token.kind == BT_CEL_TOKEN_TRUE || token.kind == BT_CEL_TOKEN_FALSE) {
		literal->literal = bt_cel_bool(token.kind == BT_CEL_TOKEN_TRUE);
	} else if (token.kind != BT_CEL_TOKEN_NULL) {
		literal->literal = bt_cel_literal_read(
			&token, is_negative, position, &parser->lexer, parser->arena);
	}
	return literal;
}

bool bt_cel_parser_is_negative_number(const struct bt_cel_parser *parser)
{
	return parser->token.kind == BT_CEL_TOKEN_MINUS &&
		(parser->following.kind == BT_CEL_TOKEN_INT ||
			parser->following.kind == BT_CEL_TOKEN_DOUBLE);
}

struct bt_cel_node *bt_cel_parse_primary(struct bt_cel_parser *parser)
{
	switch ((int)parser->token.kind) {
	case BT_CEL_TOKEN_DOT:
	case BT_CEL_TOKEN_IDENTIFIER:
		return parse_name(parser);
	case BT_CEL_TOKEN_OPEN_PARENTHESIS:
		return parse_parentheses(parser);
	case BT_CEL_TOKEN_OPEN_BRACKET:
		return parse_list(parser);
	case BT_CEL_TOKEN_OPEN_BRACE:
		return parse_map(parser);
	case BT_CEL_TOKEN_INT:
	case BT_CEL_TOKEN_UINT:
	case BT_CEL_TOKEN_DOUBLE:
	case BT_CEL_TOKEN_STRING:
	case BT_CEL_TOKEN_BYTES:
	case BT_CEL_TOKEN_TRUE:
	case BT_CEL_TOKEN_FALSE:
	case BT_CEL_TOKEN_NULL:
		return parse_literal(parser);
	default:
		if (bt_cel_parser_is_negative_number(parser)) {
			return parse_literal(parser);
		}
		parser->is_refused = true;
		return NULL;
	}
}

struct bt_cel_node *bt_cel_parse_message(struct bt_cel_parser *parser, const char *name)
{
	uint32_t end = (uint32_t)(parser->token.text.data - name);
	uint32_t position = bt_cel_parser_take(parser).position;
	uint32_t mark = parser->elements.count;

	if (!parse_elements(parser, BT_CEL_TOKEN_CLOSE_BRACE, parse_field)) {
		return NULL;
	}
	parser->elements.count = mark;
	bt_cel_issue_add(parser->issues, position,
		"undeclared reference to '%.*s' (in container '')",
		BT_STR_ARG(bt_str_trim((struct bt_str){name, end}, BT_STR_SPACE)));
	return bt_cel_parser_new_node(parser, BT_CEL_NODE_LITERAL, position, 0);
}
