/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recursive-descent parser, from tokens to nodes. The rules make the same decisions as upstream's
 * parser, in order to give the same messages. Spec: 12b section 5.
 */
#include <string.h>

#include "base/unicode.h"
#include "cel/parser_private.h"

#define LITERALS \
	(BT_CEL_TOKEN_BIT(MINUS) | BT_CEL_TOKEN_BIT(TRUE) | BT_CEL_TOKEN_BIT(FALSE) | \
		BT_CEL_TOKEN_BIT(NULL) | BT_CEL_TOKEN_BIT(DOUBLE) | BT_CEL_TOKEN_BIT(INT) | \
		BT_CEL_TOKEN_BIT(UINT) | BT_CEL_TOKEN_BIT(STRING) | BT_CEL_TOKEN_BIT(BYTES))
#define MEMBERS \
	(LITERALS | BT_CEL_TOKEN_BIT(OPEN_BRACKET) | BT_CEL_TOKEN_BIT(OPEN_BRACE) | \
		BT_CEL_TOKEN_BIT(OPEN_PARENTHESIS) | BT_CEL_TOKEN_BIT(DOT) | \
		BT_CEL_TOKEN_BIT(IDENTIFIER))
#define EXPRESSIONS (MEMBERS | BT_CEL_TOKEN_BIT(NOT))
#define OPTIONAL_EXPRESSIONS (EXPRESSIONS | BT_CEL_TOKEN_BIT(QUESTION))
#define FIELDS \
	(BT_CEL_TOKEN_BIT(QUESTION) | BT_CEL_TOKEN_BIT(IDENTIFIER) | BT_CEL_TOKEN_BIT(QUOTED))
#define RELATIONS \
	(BT_CEL_TOKEN_BIT(EQUAL) | BT_CEL_TOKEN_BIT(NOT_EQUAL) | BT_CEL_TOKEN_BIT(IN) | \
		BT_CEL_TOKEN_BIT(LESS) | BT_CEL_TOKEN_BIT(LESS_EQUAL) | \
		BT_CEL_TOKEN_BIT(GREATER_EQUAL) | BT_CEL_TOKEN_BIT(GREATER))
#define PRODUCTS (BT_CEL_TOKEN_BIT(STAR) | BT_CEL_TOKEN_BIT(SLASH) | BT_CEL_TOKEN_BIT(PERCENT))
#define SUMS (BT_CEL_TOKEN_BIT(PLUS) | BT_CEL_TOKEN_BIT(MINUS))
#define SUFFIXES (BT_CEL_TOKEN_BIT(DOT) | BT_CEL_TOKEN_BIT(OPEN_BRACKET))

/* __LINE__ identifies the place in the grammar that failed. */
#define BEGIN(parser_, expected_) bt_cel_syntax_begin(parser_, expected_, __LINE__)
#define MATCH(parser_, expected_, next_) \
	bt_cel_syntax_match(parser_, BT_CEL_TOKEN_BIT(expected_), next_, __LINE__)

/** The frame of a called rule, for the duration of the call. */
#define FRAME(caller_, follow_, can_end_) \
	(&(const struct bt_cel_syntax_frame){(caller_), (follow_), (can_end_)})

static bool take_if(struct bt_cel_parser *parser, enum bt_cel_token_kind kind)
{
	if (bt_cel_syntax_ahead(parser, 0) != kind) {
		return false;
	}
	(void)bt_cel_syntax_take(parser);
	return true;
}

/**
 * Whether to make nodes and add issues: only in the run that builds the tree, and only until an
 * error.
 */
static bool is_building(const struct bt_cel_parser *parser)
{
	return !parser->is_reporting && !parser->is_over;
}

static void stop_at_depth(struct bt_cel_parser *parser)
{
	if (is_building(parser)) {
		bt_cel_issue_add(parser->issues, BT_CEL_NOWHERE,
			"expression recursion limit exceeded: %d", BT_CEL_DEPTH_MAX);
	}
	parser->is_over = true;
}

/* Nodes. If the parser is not building, the functions return &parser->nothing. */

/** Makes a node. below: height of the highest child; 0: the node is a leaf. */
static struct bt_cel_node *new_node(
	struct bt_cel_parser *parser, enum bt_cel_node_kind kind, uint32_t position, uint32_t below)
{
	if (is_building(parser) && below >= BT_CEL_DEPTH_MAX) {
		stop_at_depth(parser);
	}
	if (!is_building(parser)) {
		return &parser->nothing;
	}
	struct bt_cel_node *node = BT_ARENA_NEW(parser->arena, struct bt_cel_node);
	node->kind = kind;
	node->position = position;
	node->height = below + 1;
	return node;
}

static void push_element(struct bt_cel_parser *parser, struct bt_cel_node *node, bool is_optional)
{
	struct bt_cel_element element = {node, is_optional};

	if (is_building(parser)) {
		bt_vec_push(&parser->elements, element);
	}
}

/** Returns the height of the highest element since `mark`; 0 if there are none. */
static uint32_t highest_behind(const struct bt_cel_parser *parser, uint32_t mark)
{
	uint32_t height = 0;

	for (uint32_t i = mark; i < parser->elements.count; i++) {
		height = BT_MAX(height, parser->elements.items[i].node->height);
	}
	return height;
}

/**
 * Returns every `stride`-th element since `mark`, beginning with element number `offset`.
 * *out_optional: for each returned element, whether it has a question mark; unchanged if none has.
 * out_optional may be NULL.
 */
static struct bt_cel_node **nodes_behind(struct bt_cel_parser *parser, uint32_t mark,
	uint32_t stride, uint32_t offset, bool **out_optional)
{
	uint32_t count = (parser->elements.count - mark) / stride;
	struct bt_cel_node **nodes = BT_ARENA_NEW_ARRAY(parser->arena, struct bt_cel_node *, count);
	bool *marks = out_optional != NULL ? BT_ARENA_NEW_ARRAY(parser->arena, bool, count) : NULL;

	for (uint32_t i = 0; i < count; i++) {
		const struct bt_cel_element *element =
			&parser->elements.items[mark + i * stride + offset];

		nodes[i] = element->node;
		if (marks != NULL) {
			marks[i] = element->is_optional;
			*out_optional = marks[i] ? marks : *out_optional;
		}
	}
	return nodes;
}

/**
 * Makes a call whose arguments are the elements since mark, and pops these elements. target: NULL
 * for a global function.
 */
static struct bt_cel_node *make_call(struct bt_cel_parser *parser, uint32_t position,
	struct bt_cel_node *target, struct bt_str function, uint32_t mark)
{
	uint32_t below = highest_behind(parser, mark);

	if (target != NULL && target->height > below) {
		below = target->height;
	}
	struct bt_cel_node *call = new_node(parser, BT_CEL_NODE_CALL, position, below);
	if (is_building(parser)) {
		call->call.function = function;
		call->call.target = target;
		call->call.count = parser->elements.count - mark;
		call->call.arguments = nodes_behind(parser, mark, 1, 0, NULL);
		parser->elements.count = mark;
	}
	return call;
}

/** Like make_call, for an operator. */
static struct bt_cel_node *make_operator(struct bt_cel_parser *parser, uint32_t position,
	enum bt_cel_operator operator_, const char *function, uint32_t mark)
{
	struct bt_cel_node *call = make_call(parser, position, NULL, bt_str_from(function), mark);

	call->call.operator_ = operator_;
	return call;
}

/* Names, calls, literals and bracketed expressions. */

static struct bt_cel_node *parse_expression(
	struct bt_cel_parser *parser, const struct bt_cel_syntax_frame *frame);

/**
 * Parses `(arguments)` of a call. last: tokens that may follow the call within the calling rule.
 * target: NULL for a global function.
 */
static struct bt_cel_node *parse_call(struct bt_cel_parser *parser,
	const struct bt_cel_syntax_frame *frame, uint64_t last, struct bt_cel_node *target,
	struct bt_str function, bool is_rooted)
{
	const struct bt_cel_syntax_frame arguments = {
		frame, BT_CEL_TOKEN_BIT(CLOSE_PARENTHESIS), false};
	const struct bt_cel_syntax_frame argument = {&arguments, BT_CEL_TOKEN_BIT(COMMA), true};
	uint32_t position = bt_cel_syntax_take(parser).position;
	uint32_t mark = parser->elements.count;

	if (!BEGIN(parser, EXPRESSIONS | BT_CEL_TOKEN_BIT(CLOSE_PARENTHESIS))) {
		return &parser->nothing;
	}
	if (bt_cel_syntax_ahead(parser, 0) != BT_CEL_TOKEN_CLOSE_PARENTHESIS) {
		do {
			push_element(parser, parse_expression(parser, &argument), false);
		} while (take_if(parser, BT_CEL_TOKEN_COMMA));
		bt_cel_syntax_leave(parser, &arguments);
	}
	(void)MATCH(parser, CLOSE_PARENTHESIS, last | bt_cel_syntax_follow(frame));
	struct bt_cel_node *call = make_call(parser, position, target, function, mark);
	if (is_building(parser)) {
		call->call.is_rooted = is_rooted;
		bt_cel_macro_expand(call, parser->issues);
	}
	return call;
}

/** Pushes an expression as an element. Returns whether a question mark precedes it. */
static bool parse_optional_expression(
	struct bt_cel_parser *parser, const struct bt_cel_syntax_frame *frame)
{
	bool is_optional = false;

	if (BEGIN(parser, OPTIONAL_EXPRESSIONS)) {
		is_optional = take_if(parser, BT_CEL_TOKEN_QUESTION);
		push_element(parser, parse_expression(parser, FRAME(frame, 0, true)), is_optional);
	}
	bt_cel_syntax_leave(parser, frame);
	return is_optional;
}

static struct bt_cel_token parse_field_name(
	struct bt_cel_parser *parser, const struct bt_cel_syntax_frame *frame)
{
	struct bt_cel_token name = {0};

	if (BEGIN(parser, BT_CEL_TOKEN_BIT(IDENTIFIER) | BT_CEL_TOKEN_BIT(QUOTED))) {
		if (bt_cel_syntax_is_ahead(
			    parser, 0, BT_CEL_TOKEN_BIT(IDENTIFIER) | BT_CEL_TOKEN_BIT(QUOTED))) {
			name = bt_cel_syntax_take(parser);
		} else {
			bt_cel_syntax_fail(parser, 0, __LINE__);
		}
	}
	if (name.kind == BT_CEL_TOKEN_QUOTED && is_building(parser)) {
		bt_cel_issue_add(parser->issues, name.position, "unsupported syntax: '`'");
	}
	bt_cel_syntax_leave(parser, frame);
	return name;
}

/**
 * Whether another element follows: the next token is a comma, and the token behind the comma can
 * begin an element. elements: tokens that can begin an element.
 */
static bool has_more(const struct bt_cel_parser *parser, uint64_t elements)
{
	return bt_cel_syntax_ahead(parser, 0) == BT_CEL_TOKEN_COMMA &&
		bt_cel_syntax_is_ahead(parser, 1, elements);
}

/**
 * Parses the entries of a map or the fields of an object; pushes each key and value as elements.
 */
static void parse_entries(
	struct bt_cel_parser *parser, const struct bt_cel_syntax_frame *frame, bool is_map)
{
	const struct bt_cel_syntax_frame key = {frame, BT_CEL_TOKEN_BIT(COLON), false};
	const struct bt_cel_syntax_frame value = {frame, BT_CEL_TOKEN_BIT(COMMA), true};
	uint64_t keys = is_map ? OPTIONAL_EXPRESSIONS : FIELDS;

	for (bool has_entry = true; has_entry;) {
		bool is_optional = false;

		if (is_map) {
			is_optional = parse_optional_expression(parser, &key);
		} else {
			if (BEGIN(parser, FIELDS)) {
				is_optional = take_if(parser, BT_CEL_TOKEN_QUESTION);
				struct bt_cel_token name =
					parse_field_name(parser, FRAME(&key, 0, true));
				struct bt_cel_node *field =
					new_node(parser, BT_CEL_NODE_LITERAL, name.position, 0);
				field->literal = bt_cel_string(name.text);
				push_element(parser, field, is_optional);
			}
			bt_cel_syntax_leave(parser, &key);
		}
		if (!MATCH(parser, COLON, EXPRESSIONS)) {
			break;
		}
		push_element(parser, parse_expression(parser, &value), is_optional);
		has_entry = has_more(parser, keys);
		if (has_entry) {
			(void)bt_cel_syntax_take(parser);
		}
	}
	bt_cel_syntax_leave(parser, frame);
}

/**
 * Parses a list, a map or the fields of an object (if elements is FIELDS), from the opening to the
 * closing bracket, with an optional trailing comma. elements: tokens that can begin an element.
 */
static struct bt_cel_node *parse_bracketed(struct bt_cel_parser *parser,
	const struct bt_cel_syntax_frame *frame, uint64_t elements, enum bt_cel_token_kind close)
{
	uint64_t closing = UINT64_C(1) << close;
	const struct bt_cel_syntax_frame inner = {frame, BT_CEL_TOKEN_BIT(COMMA) | closing, false};
	const struct bt_cel_syntax_frame item = {&inner, BT_CEL_TOKEN_BIT(COMMA), true};
	bool is_list = close == BT_CEL_TOKEN_CLOSE_BRACKET;
	uint32_t position = bt_cel_syntax_take(parser).position;
	uint32_t mark = parser->elements.count;

	if (!BEGIN(parser, elements | BT_CEL_TOKEN_BIT(COMMA) | closing)) {
		return &parser->nothing;
	}
	if (!bt_cel_syntax_is_ahead(parser, 0, BT_CEL_TOKEN_BIT(COMMA) | closing)) {
		if (is_list) {
			(void)parse_optional_expression(parser, &item);
			while (has_more(parser, OPTIONAL_EXPRESSIONS)) {
				(void)bt_cel_syntax_take(parser);
				(void)parse_optional_expression(parser, &item);
			}
			bt_cel_syntax_leave(parser, &inner);
		} else {
			parse_entries(parser, &inner, elements != FIELDS);
		}
	}
	if (!BEGIN(parser, BT_CEL_TOKEN_BIT(COMMA) | closing)) {
		return &parser->nothing;
	}
	(void)take_if(parser, BT_CEL_TOKEN_COMMA);
	(void)bt_cel_syntax_match(parser, closing, bt_cel_syntax_follow(frame), __LINE__);

	struct bt_cel_node *node = new_node(parser, is_list ? BT_CEL_NODE_LIST : BT_CEL_NODE_MAP,
		position, highest_behind(parser, mark));
	if (!is_building(parser)) {
		return node;
	}
	if (is_list) {
		node->list.count = parser->elements.count - mark;
		node->list.items = nodes_behind(parser, mark, 1, 0, &node->list.is_optional);
	} else {
		node->map.count = (parser->elements.count - mark) / 2;
		node->map.keys = nodes_behind(parser, mark, 2, 0, &node->map.is_optional);
		node->map.values = nodes_behind(parser, mark, 2, 1, NULL);
	}
	parser->elements.count = mark;
	return node;
}

/** Whether the next tokens are a minus and a number. */
static bool is_negative_number(const struct bt_cel_parser *parser)
{
	return bt_cel_syntax_ahead(parser, 0) == BT_CEL_TOKEN_MINUS &&
		bt_cel_syntax_is_ahead(parser, 1, BT_CEL_TOKEN_BIT(INT) | BT_CEL_TOKEN_BIT(DOUBLE));
}

static struct bt_cel_node *parse_literal(
	struct bt_cel_parser *parser, const struct bt_cel_syntax_frame *frame)
{
	bool is_negative = is_negative_number(parser);
	struct bt_cel_node *literal = &parser->nothing;

	if (bt_cel_syntax_ahead(parser, 0) == BT_CEL_TOKEN_MINUS && !is_negative) {
		bt_cel_syntax_fail(parser, 1, __LINE__);
	} else {
		struct bt_cel_token token = bt_cel_syntax_take(parser);
		uint32_t position = token.position;

		token = is_negative ? bt_cel_syntax_take(parser) : token;
		literal = new_node(parser, BT_CEL_NODE_LITERAL, position, 0);
		if (token.kind == BT_CEL_TOKEN_TRUE || token.kind == BT_CEL_TOKEN_FALSE) {
			literal->literal = bt_cel_bool(token.kind == BT_CEL_TOKEN_TRUE);
		} else if (token.kind != BT_CEL_TOKEN_NULL && is_building(parser)) {
			literal->literal = bt_cel_literal_read(
				&token, is_negative, position, &parser->lexer, parser->arena);
		}
	}
	bt_cel_syntax_leave(parser, frame);
	return literal;
}

/** Parses a name or a call of a global function, with an optional leading dot. */
static struct bt_cel_node *parse_name(
	struct bt_cel_parser *parser, const struct bt_cel_syntax_frame *frame)
{
	uint32_t position = parser->tokens.items[parser->index].position;
	uint32_t dot = bt_cel_syntax_ahead(parser, 0) == BT_CEL_TOKEN_DOT ? 1 : 0;
	uint32_t end = dot + 1;

	if (bt_cel_syntax_ahead(parser, dot) != BT_CEL_TOKEN_IDENTIFIER) {
		bt_cel_syntax_fail(parser, dot, __LINE__);
		return &parser->nothing;
	}
	if (parser->is_reporting) {
		/*
		 * If "{" follows a dotted name, the name is the type of an object. Upstream then
		 * reads the whole name in one rule.
		 */
		while (bt_cel_syntax_ahead(parser, end) == BT_CEL_TOKEN_DOT &&
			bt_cel_syntax_ahead(parser, end + 1) == BT_CEL_TOKEN_IDENTIFIER) {
			end += 2;
		}
		if (bt_cel_syntax_ahead(parser, end) == BT_CEL_TOKEN_OPEN_BRACE) {
			for (; end > 0; end--) {
				(void)bt_cel_syntax_take(parser);
			}
			return parse_bracketed(parser, frame, FIELDS, BT_CEL_TOKEN_CLOSE_BRACE);
		}
	}
	(void)take_if(parser, BT_CEL_TOKEN_DOT);
	struct bt_cel_token name = bt_cel_syntax_take(parser);
	if (is_building(parser) &&
		bt_str_has_word(BT_STR("as break const continue else for function if import let "
				       "loop package namespace return var void while"),
			name.text)) {
		bt_cel_issue_add(parser->issues, name.position, "reserved identifier: %.*s",
			BT_STR_ARG(name.text));
	}
	if (bt_cel_syntax_ahead(parser, 0) == BT_CEL_TOKEN_OPEN_PARENTHESIS) {
		return parse_call(parser, frame, 0, NULL, name.text, dot != 0);
	}
	struct bt_cel_node *node = new_node(parser, BT_CEL_NODE_IDENTIFIER, position, 0);
	node->identifier.name = name.text;
	node->identifier.is_rooted = dot != 0;
	return node;
}

static struct bt_cel_node *parse_primary(
	struct bt_cel_parser *parser, const struct bt_cel_syntax_frame *frame)
{
	struct bt_cel_node *node = &parser->nothing;

	if (!BEGIN(parser, MEMBERS)) {
		bt_cel_syntax_leave(parser, frame);
		return node;
	}
	switch ((int)bt_cel_syntax_ahead(parser, 0)) {
	case BT_CEL_TOKEN_DOT:
	case BT_CEL_TOKEN_IDENTIFIER:
		node = parse_name(parser, frame);
		break;
	case BT_CEL_TOKEN_OPEN_PARENTHESIS:
		(void)bt_cel_syntax_take(parser);
		node = parse_expression(
			parser, FRAME(frame, BT_CEL_TOKEN_BIT(CLOSE_PARENTHESIS), false));
		(void)MATCH(parser, CLOSE_PARENTHESIS, bt_cel_syntax_follow(frame));
		break;
	case BT_CEL_TOKEN_OPEN_BRACKET:
		node = parse_bracketed(
			parser, frame, OPTIONAL_EXPRESSIONS, BT_CEL_TOKEN_CLOSE_BRACKET);
		break;
	case BT_CEL_TOKEN_OPEN_BRACE:
		node = parse_bracketed(
			parser, frame, OPTIONAL_EXPRESSIONS, BT_CEL_TOKEN_CLOSE_BRACE);
		break;
	default:
		if (bt_cel_syntax_is_ahead(parser, 0, LITERALS)) {
			node = parse_literal(parser, FRAME(frame, 0, true));
		} else {
			bt_cel_syntax_fail(parser, 0, __LINE__);
		}
		break;
	}
	bt_cel_syntax_leave(parser, frame);
	return node;
}

/** Parses a field, an optional field or a member call; the next token is the dot. */
static struct bt_cel_node *parse_select(struct bt_cel_parser *parser,
	const struct bt_cel_syntax_frame *frame, struct bt_cel_node *operand)
{
	if (!bt_cel_syntax_is_ahead(parser, 1, FIELDS)) {
		bt_cel_syntax_fail(parser, 1, __LINE__);
		return &parser->nothing;
	}
	uint32_t position = bt_cel_syntax_take(parser).position;
	if (bt_cel_syntax_ahead(parser, 0) == BT_CEL_TOKEN_IDENTIFIER &&
		bt_cel_syntax_ahead(parser, 1) == BT_CEL_TOKEN_OPEN_PARENTHESIS) {
		struct bt_str function = bt_cel_syntax_take(parser).text;

		return parse_call(parser, frame, SUFFIXES, operand, function, false);
	}
	bool is_optional = take_if(parser, BT_CEL_TOKEN_QUESTION);
	struct bt_str field = parse_field_name(parser, FRAME(frame, SUFFIXES, true)).text;
	struct bt_cel_node *select =
		new_node(parser, BT_CEL_NODE_SELECT, position, operand->height);
	if (is_building(parser)) {
		select->select.operand = operand;
		select->select.field = field;
		select->select.is_optional = is_optional;
	}
	return select;
}

/** Parses an index; the next token is the bracket. */
static struct bt_cel_node *parse_index(struct bt_cel_parser *parser,
	const struct bt_cel_syntax_frame *frame, struct bt_cel_node *operand)
{
	uint32_t position = bt_cel_syntax_take(parser).position;
	uint32_t mark = parser->elements.count;

	if (!BEGIN(parser, OPTIONAL_EXPRESSIONS)) {
		return &parser->nothing;
	}
	bool is_optional = take_if(parser, BT_CEL_TOKEN_QUESTION);
	struct bt_cel_node *key =
		parse_expression(parser, FRAME(frame, BT_CEL_TOKEN_BIT(CLOSE_BRACKET), false));
	(void)MATCH(parser, CLOSE_BRACKET, SUFFIXES | bt_cel_syntax_follow(frame));
	push_element(parser, operand, false);
	push_element(parser, key, false);
	return is_optional
		? make_operator(parser, position, BT_CEL_OP_OPTIONAL_INDEX, "_[?_]", mark)
		: make_operator(parser, position, BT_CEL_OP_INDEX, "_[_]", mark);
}

/** Parses the fields, indexes and member calls that follow the node. */
static struct bt_cel_node *parse_suffixes(struct bt_cel_parser *parser,
	const struct bt_cel_syntax_frame *frame, struct bt_cel_node *node)
{
	while (!parser->has_failed && bt_cel_syntax_is_ahead(parser, 0, SUFFIXES)) {
		node = bt_cel_syntax_ahead(parser, 0) == BT_CEL_TOKEN_DOT
			? parse_select(parser, frame, node)
			: parse_index(parser, frame, node);
	}
	return node;
}

static struct bt_cel_node *parse_member(
	struct bt_cel_parser *parser, const struct bt_cel_syntax_frame *frame)
{
	struct bt_cel_token first = parser->tokens.items[parser->index];
	struct bt_cel_node *node = parse_primary(parser, FRAME(frame, SUFFIXES, true));

	node = parse_suffixes(parser, frame, node);
	/* After a dotted name, a brace begins the fields of an object. */
	const struct bt_cel_node *name = node;
	while (name->kind == BT_CEL_NODE_SELECT && !name->select.is_optional &&
		!name->select.is_test) {
		name = name->select.operand;
	}
	if (is_building(parser) && bt_cel_syntax_ahead(parser, 0) == BT_CEL_TOKEN_OPEN_BRACE &&
		(first.kind == BT_CEL_TOKEN_IDENTIFIER || first.kind == BT_CEL_TOKEN_DOT) &&
		name->kind == BT_CEL_NODE_IDENTIFIER) {
		/* The checker decides whether the name is a type. */
		const char *start = first.text.data;
		const char *end = parser->tokens.items[parser->index].text.data;

		node = parse_bracketed(parser, frame, FIELDS, BT_CEL_TOKEN_CLOSE_BRACE);
		node->map.type_name =
			bt_str_trim((struct bt_str){start, (uint32_t)(end - start)}, BT_STR_SPACE);
		node = parse_suffixes(parser, frame, node);
	}
	bt_cel_syntax_leave(parser, frame);
	return node;
}

/**
 * Call before a minus and a number, which may be a negative literal or a negation. To decide,
 * upstream reads ahead to the end of the member. If upstream finds a syntax error there, the
 * decision itself fails. In this case, returns false and makes the rule fail.
 */
static bool probe_number(struct bt_cel_parser *parser, const struct bt_cel_syntax_frame *frame)
{
	struct bt_cel_parser probe = *parser;

	if (!parser->is_reporting || parser->is_probing || parser->is_recovering ||
		!bt_cel_syntax_is_ahead(parser, 2, SUFFIXES)) {
		return true;
	}
	memset(&probe.error_lines, 0, sizeof(probe.error_lines));
	probe.is_probing = true;
	probe.probe_index = UINT32_MAX;
	probe.index += 2;
	(void)parse_suffixes(&probe, frame, &probe.nothing);
	bt_vec_finish(&probe.error_lines);
	if (probe.probe_index == UINT32_MAX) {
		return true;
	}
	bt_cel_syntax_fail(parser, probe.probe_index - parser->index, __LINE__);
	return false;
}

/** Parses any number of `!` or `-`, and an operand; two operators cancel each other out. */
static struct bt_cel_node *parse_unary(
	struct bt_cel_parser *parser, const struct bt_cel_syntax_frame *frame)
{
	const struct bt_cel_syntax_frame member = {frame, 0, true};
	uint32_t position = parser->tokens.items[parser->index].position;
	uint32_t mark = parser->elements.count;
	struct bt_cel_node *node = &parser->nothing;
	bool is_odd = false;
	bool is_right = true;

	if (!BEGIN(parser, EXPRESSIONS)) {
		bt_cel_syntax_leave(parser, frame);
		return node;
	}
	enum bt_cel_token_kind sign = bt_cel_syntax_ahead(parser, 0);
	if (sign == BT_CEL_TOKEN_NOT) {
		while (take_if(parser, BT_CEL_TOKEN_NOT)) {
			bt_cel_syntax_resume(parser, EXPRESSIONS, frame);
			is_odd = !is_odd;
		}
	} else if (!bt_cel_syntax_is_ahead(parser, 0, MEMBERS)) {
		bt_cel_syntax_fail(parser, 0, __LINE__);
		is_right = false;
	} else if (is_negative_number(parser)) {
		is_right = probe_number(parser, frame);
	} else if (sign == BT_CEL_TOKEN_MINUS && !bt_cel_syntax_is_ahead(parser, 1, MEMBERS)) {
		bt_cel_syntax_fail(parser, 1, __LINE__);
		is_right = false;
	}
	while (sign == BT_CEL_TOKEN_MINUS && is_right && !is_negative_number(parser) &&
		take_if(parser, BT_CEL_TOKEN_MINUS)) {
		is_odd = !is_odd;
		bt_cel_syntax_resume(parser, MEMBERS, frame);
		if (!bt_cel_syntax_is_ahead(parser, 0, MEMBERS)) {
			bt_cel_syntax_fail(parser, 0, __LINE__);
			is_right = false;
		} else if (bt_cel_syntax_ahead(parser, 0) == BT_CEL_TOKEN_MINUS &&
			!bt_cel_syntax_is_ahead(parser, 1, MEMBERS)) {
			bt_cel_syntax_fail(parser, 1, __LINE__);
			is_right = false;
		}
	}
	if (is_right) {
		node = parse_member(parser, &member);
	}
	if (is_odd) {
		push_element(parser, node, false);
		node = sign == BT_CEL_TOKEN_NOT
			? make_operator(parser, position, BT_CEL_OP_NOT, "!_", mark)
			: make_operator(parser, position, BT_CEL_OP_NEGATE, "-_", mark);
	}
	bt_cel_syntax_leave(parser, frame);
	return node;
}

/** Precedence of operators. */
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

/**
 * Parses operands joined by operators of the precedence `lowest` or higher. All operands have the
 * same frame `operand`, because an error message does not depend on the precedence of the operator
 * before the error.
 */
static struct bt_cel_node *parse_operation(
	struct bt_cel_parser *parser, const struct bt_cel_syntax_frame *operand, enum level lowest)
{
	struct bt_cel_node *left = parse_unary(parser, operand);
	enum bt_cel_token_kind kind = bt_cel_syntax_ahead(parser, 0);

	while (binaries[kind].level != LEVEL_NONE && binaries[kind].level >= lowest) {
		const struct binary *binary = &binaries[kind];
		uint32_t position = parser->tokens.items[parser->index].position;
		uint32_t mark = parser->elements.count;

		push_element(parser, left, false);
		/* && and || have any number of operands; other operators are left-associative. */
		do {
			(void)bt_cel_syntax_take(parser);
			left = parse_operation(parser, operand, binary->level + 1);
			push_element(parser, left, false);
		} while (binary->level <= LEVEL_AND && bt_cel_syntax_ahead(parser, 0) == kind);
		left = make_operator(parser, position, binary->operator_, binary->function, mark);
		kind = bt_cel_syntax_ahead(parser, 0);
	}
	return left;
}

/** Parses relations joined by && and ||. */
static struct bt_cel_node *parse_logic(
	struct bt_cel_parser *parser, const struct bt_cel_syntax_frame *frame)
{
	const struct bt_cel_syntax_frame conjunction = {frame, BT_CEL_TOKEN_BIT(OR), true};
	const struct bt_cel_syntax_frame relation = {&conjunction, BT_CEL_TOKEN_BIT(AND), true};
	const struct bt_cel_syntax_frame sum = {&relation, RELATIONS, true};
	const struct bt_cel_syntax_frame operand = {&sum, PRODUCTS | SUMS, true};

	return parse_operation(parser, &operand, LEVEL_OR);
}

static struct bt_cel_node *parse_expression(
	struct bt_cel_parser *parser, const struct bt_cel_syntax_frame *frame)
{
	if (!parser->is_over && parser->depth >= BT_CEL_DEPTH_MAX) {
		stop_at_depth(parser);
	}
	if (parser->is_over) {
		return &parser->nothing;
	}
	parser->depth++;
	struct bt_cel_node *node =
		parse_logic(parser, FRAME(frame, BT_CEL_TOKEN_BIT(QUESTION), true));
	if (bt_cel_syntax_ahead(parser, 0) == BT_CEL_TOKEN_QUESTION) {
		uint32_t position = bt_cel_syntax_take(parser).position;
		uint32_t mark = parser->elements.count;

		push_element(parser, node, false);
		push_element(parser,
			parse_logic(parser, FRAME(frame, BT_CEL_TOKEN_BIT(COLON), false)), false);
		if (MATCH(parser, COLON, EXPRESSIONS)) {
			push_element(
				parser, parse_expression(parser, FRAME(frame, 0, true)), false);
		}
		node = make_operator(parser, position, BT_CEL_OP_CONDITIONAL, "_?_:_", mark);
	}
	parser->depth--;
	bt_cel_syntax_leave(parser, frame);
	return node;
}

/** Parses all tokens from the first one on. */
static struct bt_cel_node *parse_tokens(struct bt_cel_parser *parser)
{
	struct bt_cel_node *root =
		parse_expression(parser, FRAME(NULL, BT_CEL_TOKEN_BIT(END), false));

	if (!parser->is_over) {
		(void)MATCH(parser, END, BT_CEL_TOKEN_BIT(END));
	}
	return root;
}

struct bt_cel_node *bt_cel_parse(
	struct bt_str source, struct bt_arena *arena, struct bt_cel_issues *issues)
{
	struct bt_cel_parser parser = {.arena = arena, .issues = issues};

	/* Check the source: at most BT_CEL_SIZE_MAX code points, valid UTF-8. */
	uint32_t invalid = UINT32_MAX; /* position of the first invalid byte */
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
		return NULL;
	}
	if (invalid != UINT32_MAX) {
		bt_cel_issue_add(issues, invalid, "Syntax error: invalid UTF-8");
		return NULL;
	}

	parser.lexer.source = bt_arena_str(arena, source);
	parser.lexer.issues = issues;
	struct bt_cel_token token;

	do {
		token = bt_cel_lexer_next(&parser.lexer);
		bt_vec_push(&parser.tokens, token);
	} while (token.kind != BT_CEL_TOKEN_END);
	struct bt_cel_node *root = parse_tokens(&parser);
	if (parser.is_refused) {
		parser.is_reporting = true;
		parser.is_over = false;
		parser.index = 0;
		parser.depth = 0;
		parser.error_index = UINT32_MAX;
		(void)parse_tokens(&parser);
	}
	bt_vec_finish(&parser.error_lines);
	bt_vec_finish(&parser.elements);
	bt_vec_finish(&parser.tokens);
	return issues->items.count == 0 ? root : NULL;
}
