/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/parser.h"

#include "base/unicode.h"

/* member */

/** The dot stands here: a field, an optional one, or a call. */
static struct bt_cel_node *parse_select(struct bt_cel_parser *parser, struct bt_cel_node *operand)
{
	uint32_t position = bt_cel_parser_take(parser).position;
	bool is_optional = bt_cel_parser_take_if(parser, BT_CEL_TOKEN_QUESTION);
	struct bt_cel_token field = parser->token;
	struct bt_cel_node *select;

	if (bt_cel_parser_take_if(parser, BT_CEL_TOKEN_QUOTED)) {
		bt_cel_issue_add(parser->issues, field.position, "unsupported syntax: '`'");
	} else if (!bt_cel_parser_expect(parser, BT_CEL_TOKEN_IDENTIFIER)) {
		return NULL;
	} else if (!is_optional && parser->token.kind == BT_CEL_TOKEN_OPEN_PARENTHESIS) {
		return bt_cel_parse_call(parser, operand, field.text, false);
	}
	select = bt_cel_parser_new_node(parser, BT_CEL_NODE_SELECT, position, operand->height);
	if (select != NULL) {
		select->select.operand = operand;
		select->select.field = field.text;
		select->select.is_optional = is_optional;
	}
	return select;
}

/** The bracket stands here. */
static struct bt_cel_node *parse_index(struct bt_cel_parser *parser, struct bt_cel_node *operand)
{
	uint32_t position = bt_cel_parser_take(parser).position;
	uint32_t mark = parser->elements.count;
	bool is_optional = bt_cel_parser_take_if(parser, BT_CEL_TOKEN_QUESTION);
	struct bt_cel_node *key = bt_cel_parse_expression(parser);

	if (key == NULL || !bt_cel_parser_expect(parser, BT_CEL_TOKEN_CLOSE_BRACKET)) {
		return NULL;
	}
	bt_cel_parser_push(parser, operand, false);
	bt_cel_parser_push(parser, key, false);
	return is_optional
		? bt_cel_parser_make_operator(
			  parser, position, BT_CEL_OP_OPTIONAL_INDEX, "_[?_]", mark)
		: bt_cel_parser_make_operator(parser, position, BT_CEL_OP_INDEX, "_[_]", mark);
}

static struct bt_cel_node *parse_member(struct bt_cel_parser *parser)
{
	const char *start = parser->token.text.data;
	bool starts_with_name = parser->token.kind == BT_CEL_TOKEN_IDENTIFIER ||
		parser->token.kind == BT_CEL_TOKEN_DOT;
	struct bt_cel_node *node = bt_cel_parse_primary(parser);
	bool is_name = starts_with_name && node != NULL && node->kind == BT_CEL_NODE_IDENTIFIER;

	while (node != NULL) {
		if (parser->token.kind == BT_CEL_TOKEN_DOT) {
			node = parse_select(parser, node);
			is_name = is_name && node != NULL && node->kind == BT_CEL_NODE_SELECT &&
				!node->select.is_optional;
		} else if (parser->token.kind == BT_CEL_TOKEN_OPEN_BRACKET) {
			node = parse_index(parser, node);
			is_name = false;
		} else if (is_name && parser->token.kind == BT_CEL_TOKEN_OPEN_BRACE) {
			node = bt_cel_parse_message(parser, start);
			is_name = false;
		} else {
			break;
		}
	}
	return node;
}

/* operators */

/** `!` or `-`, any number of times: two of them are none. */
static struct bt_cel_node *parse_unary(struct bt_cel_parser *parser)
{
	enum bt_cel_token_kind sign = parser->token.kind;
	uint32_t position = parser->token.position;
	uint32_t mark = parser->elements.count;
	bool is_odd = false;
	struct bt_cel_node *operand;

	if (sign != BT_CEL_TOKEN_NOT && sign != BT_CEL_TOKEN_MINUS) {
		return parse_member(parser);
	}
	while (!bt_cel_parser_is_negative_number(parser) && bt_cel_parser_take_if(parser, sign)) {
		is_odd = !is_odd;
	}
	operand = parse_member(parser);
	if (operand == NULL || !is_odd) {
		return operand;
	}
	bt_cel_parser_push(parser, operand, false);
	return sign == BT_CEL_TOKEN_NOT
		? bt_cel_parser_make_operator(parser, position, BT_CEL_OP_NOT, "!_", mark)
		: bt_cel_parser_make_operator(parser, position, BT_CEL_OP_NEGATE, "-_", mark);
}

/** How strongly an operator binds. */
enum level {
	LEVEL_NONE,
	LEVEL_OR,
	LEVEL_AND,
	LEVEL_RELATION,
	LEVEL_SUM,
	LEVEL_PRODUCT,
};

struct binary {
	enum level level;
	enum bt_cel_operator operator_;
	const char *function;
};

static const struct binary binaries[BT_CEL_TOKEN__COUNT] = {
	[BT_CEL_TOKEN_OR] = {LEVEL_OR, BT_CEL_OP_OR, "_||_"},
	[BT_CEL_TOKEN_AND] = {LEVEL_AND, BT_CEL_OP_AND, "_&&_"},
	[BT_CEL_TOKEN_EQUAL] = {LEVEL_RELATION, BT_CEL_OP_EQUAL, "_==_"},
	[BT_CEL_TOKEN_NOT_EQUAL] = {LEVEL_RELATION, BT_CEL_OP_NOT_EQUAL, "_!=_"},
	[BT_CEL_TOKEN_LESS] = {LEVEL_RELATION, BT_CEL_OP_LESS, "_<_"},
	[BT_CEL_TOKEN_LESS_EQUAL] = {LEVEL_RELATION, BT_CEL_OP_LESS_EQUAL, "_<=_"},
	[BT_CEL_TOKEN_GREATER] = {LEVEL_RELATION, BT_CEL_OP_GREATER, "_>_"},
	[BT_CEL_TOKEN_GREATER_EQUAL] = {LEVEL_RELATION, BT_CEL_OP_GREATER_EQUAL, "_>=_"},
	[BT_CEL_TOKEN_IN] = {LEVEL_RELATION, BT_CEL_OP_IN, "@in"},
	[BT_CEL_TOKEN_PLUS] = {LEVEL_SUM, BT_CEL_OP_ADD, "_+_"},
	[BT_CEL_TOKEN_MINUS] = {LEVEL_SUM, BT_CEL_OP_SUBTRACT, "_-_"},
	[BT_CEL_TOKEN_STAR] = {LEVEL_PRODUCT, BT_CEL_OP_MULTIPLY, "_*_"},
	[BT_CEL_TOKEN_SLASH] = {LEVEL_PRODUCT, BT_CEL_OP_DIVIDE, "_/_"},
	[BT_CEL_TOKEN_PERCENT] = {LEVEL_PRODUCT, BT_CEL_OP_MODULO, "_%_"},
};

/** Operands with operators of at least this level between them. */
static struct bt_cel_node *parse_operation(struct bt_cel_parser *parser, enum level lowest)
{
	struct bt_cel_node *left = parse_unary(parser);
	const struct binary *binary = &binaries[parser->token.kind];

	while (left != NULL && binary->level != LEVEL_NONE && binary->level >= lowest) {
		enum bt_cel_token_kind kind = parser->token.kind;
		uint32_t position = parser->token.position;
		uint32_t mark = parser->elements.count;
		bt_cel_parser_push(parser, left, false);
		/* Only || and && take more than two operands. */
		do {
			struct bt_cel_node *right;
			(void)bt_cel_parser_take(parser);
			right = parse_operation(parser, binary->level + 1);
			if (right == NULL) {
				return NULL;
			}
			bt_cel_parser_push(parser, right, false);
		} while (binary->level <= LEVEL_AND && parser->token.kind == kind);
		left = bt_cel_parser_make_operator(
			parser, position, binary->operator_, binary->function, mark);
		binary = &binaries[parser->token.kind];
	}
	return left;
}

/** The question mark stands here. */
static struct bt_cel_node *parse_conditional(
	struct bt_cel_parser *parser, struct bt_cel_node *condition)
{
	uint32_t position = bt_cel_parser_take(parser).position;
	uint32_t mark = parser->elements.count;
	struct bt_cel_node *yes = parse_operation(parser, LEVEL_OR);
	struct bt_cel_node *no = NULL;

	if (yes == NULL || !bt_cel_parser_expect(parser, BT_CEL_TOKEN_COLON)) {
		return NULL;
	}
	no = bt_cel_parse_expression(parser);
	if (no == NULL) {
		return NULL;
	}
	bt_cel_parser_push(parser, condition, false);
	bt_cel_parser_push(parser, yes, false);
	bt_cel_parser_push(parser, no, false);
	return bt_cel_parser_make_operator(parser, position, BT_CEL_OP_CONDITIONAL, "_?_:_", mark);
}

struct bt_cel_node *bt_cel_parse_expression(struct bt_cel_parser *parser)
{
	struct bt_cel_node *node;

	if (parser->depth >= BT_CEL_DEPTH_MAX) {
		bt_cel_parser_complain_of_depth(parser);
		return NULL;
	}
	parser->depth++;
	node = parse_operation(parser, LEVEL_OR);
	if (node != NULL && parser->token.kind == BT_CEL_TOKEN_QUESTION) {
		node = parse_conditional(parser, node);
	}
	parser->depth--;
	return node;
}

/** Text of at most BT_CEL_SIZE_MAX code points. */
static bool check_source(struct bt_str source, struct bt_cel_issues *issues)
{
	uint32_t invalid = UINT32_MAX; /* position of what is no UTF-8 */
	uint32_t count = 0;

	for (uint32_t i = 0; i < source.length; count++) {
		uint32_t rune;
		uint32_t length = bt_utf8_decode(source.data + i, source.length - i, &rune);
		if (length == 0 && invalid == UINT32_MAX) {
			invalid = count;
		}
		i += length != 0 ? length : 1;
	}
	if (count > BT_CEL_SIZE_MAX) {
		bt_cel_issue_add(issues, BT_CEL_NOWHERE,
			"expression code point size exceeds limit: size: %u, limit %d", count,
			BT_CEL_SIZE_MAX);
		return false;
	}
	if (invalid != UINT32_MAX) {
		bt_cel_issue_add(issues, invalid, "Syntax error: invalid UTF-8");
		return false;
	}
	return true;
}

struct bt_cel_node *bt_cel_parse(
	struct bt_str source, struct bt_arena *arena, struct bt_cel_issues *issues)
{
	struct bt_cel_parser parser = {.arena = arena, .issues = issues};
	struct bt_cel_node *root;

	if (!check_source(source, issues)) {
		return NULL;
	}
	parser.lexer.source = bt_arena_str(arena, source);
	parser.lexer.issues = issues;
	struct bt_cel_token token;

	do {
		token = bt_cel_lexer_next(&parser.lexer);
		bt_vec_push(&parser.tokens, token);
	} while (token.kind != BT_CEL_TOKEN_END);
	bt_vec_push(&parser.tokens, token);
	parser.token = parser.tokens.items[0];
	parser.following = parser.tokens.items[1];
	root = bt_cel_parse_expression(&parser);
	if (root != NULL) {
		(void)bt_cel_parser_expect(&parser, BT_CEL_TOKEN_END);
	}
	if (parser.is_refused) {
		bt_cel_syntax_report(&parser.lexer, parser.tokens.items, parser.tokens.count - 1);
	}
	bt_vec_finish(&parser.elements);
	bt_vec_finish(&parser.tokens);
	return issues->items.count == 0 ? root : NULL;
}
