/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/lexer.h"

#include "base/unicode.h"

/*
 * Recursive-descent parser, from tokens to nodes. Spec: 12b section 5. At the first token that does
 * not match the grammar every function here returns NULL or false and parsing ends. syntax.c then
 * parses the tokens again to report the errors.
 */

/** A child of a list, map or call that is being parsed. */
struct bt_cel_element {
	struct bt_cel_node *node;
	bool is_optional;
};

struct bt_cel_parser {
	struct bt_cel_lexer lexer;
	BT_VEC(struct bt_cel_token) tokens; /* all tokens, with BT_CEL_TOKEN_END twice */
	uint32_t index;                     /* index of the next token */
	struct bt_cel_token token;
	struct bt_cel_token following;
	bool is_refused; /* the tokens do not match the grammar */
	struct bt_arena *arena;
	struct bt_cel_issues *issues;
	uint32_t depth;
	/**
	 * Stack of the elements of all open lists, maps and calls. A mark is the count when one was
	 * opened.
	 */
	BT_VEC(struct bt_cel_element) elements;
};

static struct bt_cel_token take_token(struct bt_cel_parser *parser)
{
	struct bt_cel_token token = parser->token;

	parser->token = parser->following;
	if (parser->index + 2 < parser->tokens.count) {
		parser->following = parser->tokens.items[++parser->index + 1];
	}
	return token;
}

static bool take_if(struct bt_cel_parser *parser, enum bt_cel_token_kind kind)
{
	if (parser->token.kind != kind) {
		return false;
	}
	(void)take_token(parser);
	return true;
}

static bool expect(struct bt_cel_parser *parser, enum bt_cel_token_kind kind)
{
	if (take_if(parser, kind)) {
		return true;
	}
	parser->is_refused = true;
	return false;
}

static void report_depth(struct bt_cel_parser *parser)
{
	bt_cel_issue_add(parser->issues, BT_CEL_NOWHERE, "expression recursion limit exceeded: %d",
		BT_CEL_DEPTH_MAX);
}

/** below: height of the highest child. NULL: the tree would be too high. */
static struct bt_cel_node *new_node(
	struct bt_cel_parser *parser, enum bt_cel_node_kind kind, uint32_t position, uint32_t below)
{
	if (below >= BT_CEL_DEPTH_MAX) {
		report_depth(parser);
		return NULL;
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

	bt_vec_push(&parser->elements, element);
}

/** Maximum height of the elements since mark. */
static uint32_t highest_behind(const struct bt_cel_parser *parser, uint32_t mark)
{
	uint32_t height = 0;

	for (uint32_t i = mark; i < parser->elements.count; i++) {
		if (parser->elements.items[i].node->height > height) {
			height = parser->elements.items[i].node->height;
		}
	}
	return height;
}

/** Every stride-th element since mark, beginning with the offset-th. */
static struct bt_cel_node **nodes_behind(
	struct bt_cel_parser *parser, uint32_t mark, uint32_t stride, uint32_t offset)
{
	uint32_t count = (parser->elements.count - mark) / stride;
	struct bt_cel_node **nodes = BT_ARENA_NEW_ARRAY(parser->arena, struct bt_cel_node *, count);

	for (uint32_t i = 0; i < count; i++) {
		nodes[i] = parser->elements.items[mark + i * stride + offset].node;
	}
	return nodes;
}

/** The question marks of every stride-th element since mark; NULL: no element has one. */
static bool *marks_behind(struct bt_cel_parser *parser, uint32_t mark, uint32_t stride)
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

/** Makes a call of the elements since mark and pops them. */
static struct bt_cel_node *make_call(struct bt_cel_parser *parser, uint32_t position,
	struct bt_cel_node *target, struct bt_str function, uint32_t mark)
{
	uint32_t below = highest_behind(parser, mark);

	if (target != NULL && target->height > below) {
		below = target->height;
	}
	struct bt_cel_node *call = new_node(parser, BT_CEL_NODE_CALL, position, below);
	if (call != NULL) {
		call->call.function = function;
		call->call.target = target;
		call->call.arguments = nodes_behind(parser, mark, 1, 0);
		call->call.count = parser->elements.count - mark;
	}
	parser->elements.count = mark;
	return call;
}

static struct bt_cel_node *make_operator(struct bt_cel_parser *parser, uint32_t position,
	enum bt_cel_operator operator_, const char *function, uint32_t mark)
{
	struct bt_cel_node *call = make_call(parser, position, NULL, bt_str_from(function), mark);

	if (call != NULL) {
		call->call.operator_ = operator_;
	}
	return call;
}

/* Names, calls, literals and bracketed expressions. Spec: 12b section 5. */

static struct bt_cel_node *parse_expression(struct bt_cel_parser *parser);

/** Parses expressions up to and including the closing parenthesis. */
static bool parse_arguments(struct bt_cel_parser *parser)
{
	if (take_if(parser, BT_CEL_TOKEN_CLOSE_PARENTHESIS)) {
		return true;
	}
	do {
		struct bt_cel_node *argument = parse_expression(parser);
		if (argument == NULL) {
			return false;
		}
		push_element(parser, argument, false);
	} while (take_if(parser, BT_CEL_TOKEN_COMMA));
	return expect(parser, BT_CEL_TOKEN_CLOSE_PARENTHESIS);
}

/** The next token is the opening parenthesis. target: NULL for a global function. */
static struct bt_cel_node *parse_call(struct bt_cel_parser *parser, struct bt_cel_node *target,
	struct bt_str function, bool is_rooted)
{
	uint32_t position = take_token(parser).position;
	uint32_t mark = parser->elements.count;

	if (!parse_arguments(parser)) {
		return NULL;
	}
	struct bt_cel_node *call = make_call(parser, position, target, function, mark);
	if (call != NULL) {
		call->call.is_rooted = is_rooted;
		bt_cel_macro_expand(call, parser->issues);
	}
	return call;
}

static struct bt_cel_node *parse_name(struct bt_cel_parser *parser)
{
	uint32_t position = parser->token.position;
	bool is_rooted = take_if(parser, BT_CEL_TOKEN_DOT);
	struct bt_cel_token name = parser->token;

	if (!expect(parser, BT_CEL_TOKEN_IDENTIFIER)) {
		return NULL;
	}
	if (bt_str_has_word(BT_STR("as break const continue else for function if import let "
				   "loop package namespace return var void while"),
		    name.text)) {
		bt_cel_issue_add(parser->issues, name.position, "reserved identifier: %.*s",
			BT_STR_ARG(name.text));
	}
	if (parser->token.kind == BT_CEL_TOKEN_OPEN_PARENTHESIS) {
		return parse_call(parser, NULL, name.text, is_rooted);
	}
	struct bt_cel_node *node = new_node(parser, BT_CEL_NODE_IDENTIFIER, position, 0);
	node->identifier.name = name.text;
	node->identifier.is_rooted = is_rooted;
	return node;
}

/** Parses comma-separated elements and an optional trailing comma, up to the closing bracket. */
static bool parse_elements(struct bt_cel_parser *parser, enum bt_cel_token_kind close,
	bool (*parse_element)(struct bt_cel_parser *parser))
{
	if (parser->token.kind == close || take_if(parser, BT_CEL_TOKEN_COMMA)) {
		return expect(parser, close);
	}
	do {
		if (!parse_element(parser)) {
			return false;
		}
	} while (take_if(parser, BT_CEL_TOKEN_COMMA) && parser->token.kind != close);
	return expect(parser, close);
}

static bool parse_item(struct bt_cel_parser *parser)
{
	bool is_optional = take_if(parser, BT_CEL_TOKEN_QUESTION);
	struct bt_cel_node *item = parse_expression(parser);

	if (item != NULL) {
		push_element(parser, item, is_optional);
	}
	return item != NULL;
}

static bool parse_value(struct bt_cel_parser *parser, bool is_optional)
{
	if (!expect(parser, BT_CEL_TOKEN_COLON)) {
		return false;
	}
	struct bt_cel_node *value = parse_expression(parser);
	if (value != NULL) {
		push_element(parser, value, is_optional);
	}
	return value != NULL;
}

static bool parse_entry(struct bt_cel_parser *parser)
{
	bool is_optional = take_if(parser, BT_CEL_TOKEN_QUESTION);
	struct bt_cel_node *key = parse_expression(parser);

	if (key == NULL) {
		return false;
	}
	push_element(parser, key, is_optional);
	return parse_value(parser, is_optional);
}

/** Parses a field of an object. */
static bool parse_field(struct bt_cel_parser *parser)
{
	bool is_optional = take_if(parser, BT_CEL_TOKEN_QUESTION);
	struct bt_cel_token name = parser->token;
	struct bt_cel_node *key = new_node(parser, BT_CEL_NODE_LITERAL, name.position, 0);

	if (!expect(parser, BT_CEL_TOKEN_IDENTIFIER)) {
		return false;
	}
	key->literal = bt_cel_string(name.text);
	push_element(parser, key, is_optional);
	return parse_value(parser, is_optional);
}

/** Parses the entries of a map or the fields of an object; the next token is the brace. */
static struct bt_cel_node *parse_entries(
	struct bt_cel_parser *parser, bool (*parse_element)(struct bt_cel_parser *parser))
{
	uint32_t position = take_token(parser).position;
	uint32_t mark = parser->elements.count;
	struct bt_cel_node *map;

	if (!parse_elements(parser, BT_CEL_TOKEN_CLOSE_BRACE, parse_element)) {
		return NULL;
	}
	map = new_node(parser, BT_CEL_NODE_MAP, position, highest_behind(parser, mark));
	if (map != NULL) {
		map->map.keys = nodes_behind(parser, mark, 2, 0);
		map->map.values = nodes_behind(parser, mark, 2, 1);
		map->map.is_optional = marks_behind(parser, mark, 2);
		map->map.count = (parser->elements.count - mark) / 2;
	}
	parser->elements.count = mark;
	return map;
}

static struct bt_cel_node *parse_literal(struct bt_cel_parser *parser)
{
	uint32_t position = parser->token.position;
	bool is_negative = take_if(parser, BT_CEL_TOKEN_MINUS);
	struct bt_cel_token token = take_token(parser);
	struct bt_cel_node *literal = new_node(parser, BT_CEL_NODE_LITERAL, position, 0);

	if (token.kind == BT_CEL_TOKEN_TRUE || token.kind == BT_CEL_TOKEN_FALSE) {
		literal->literal = bt_cel_bool(token.kind == BT_CEL_TOKEN_TRUE);
	} else if (token.kind != BT_CEL_TOKEN_NULL) {
		literal->literal = bt_cel_literal_read(
			&token, is_negative, position, &parser->lexer, parser->arena);
	}
	return literal;
}

/** Whether the next tokens are a minus and a number. */
static bool is_negative_number(const struct bt_cel_parser *parser)
{
	return parser->token.kind == BT_CEL_TOKEN_MINUS &&
		(parser->following.kind == BT_CEL_TOKEN_INT ||
			parser->following.kind == BT_CEL_TOKEN_DOUBLE);
}

static struct bt_cel_node *parse_primary(struct bt_cel_parser *parser)
{
	switch ((int)parser->token.kind) {
	case BT_CEL_TOKEN_DOT:
	case BT_CEL_TOKEN_IDENTIFIER:
		return parse_name(parser);
	case BT_CEL_TOKEN_OPEN_PARENTHESIS: {
		(void)take_token(parser);
		struct bt_cel_node *inner = parse_expression(parser);
		return inner != NULL && expect(parser, BT_CEL_TOKEN_CLOSE_PARENTHESIS) ? inner
										       : NULL;
	}
	case BT_CEL_TOKEN_OPEN_BRACKET: {
		uint32_t position = take_token(parser).position;
		uint32_t mark = parser->elements.count;

		if (!parse_elements(parser, BT_CEL_TOKEN_CLOSE_BRACKET, parse_item)) {
			return NULL;
		}
		struct bt_cel_node *list =
			new_node(parser, BT_CEL_NODE_LIST, position, highest_behind(parser, mark));
		if (list != NULL) {
			list->list.items = nodes_behind(parser, mark, 1, 0);
			list->list.is_optional = marks_behind(parser, mark, 1);
			list->list.count = parser->elements.count - mark;
		}
		parser->elements.count = mark;
		return list;
	}
	case BT_CEL_TOKEN_OPEN_BRACE:
		return parse_entries(parser, parse_entry);
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
		if (is_negative_number(parser)) {
			return parse_literal(parser);
		}
		parser->is_refused = true;
		return NULL;
	}
}

/** Parses a field, an optional field or a member call; the next token is the dot. */
static struct bt_cel_node *parse_select(struct bt_cel_parser *parser, struct bt_cel_node *operand)
{
	uint32_t position = take_token(parser).position;
	bool is_optional = take_if(parser, BT_CEL_TOKEN_QUESTION);
	struct bt_cel_token field = parser->token;

	if (take_if(parser, BT_CEL_TOKEN_QUOTED)) {
		bt_cel_issue_add(parser->issues, field.position, "unsupported syntax: '`'");
	} else if (!expect(parser, BT_CEL_TOKEN_IDENTIFIER)) {
		return NULL;
	} else if (!is_optional && parser->token.kind == BT_CEL_TOKEN_OPEN_PARENTHESIS) {
		return parse_call(parser, operand, field.text, false);
	}
	struct bt_cel_node *select =
		new_node(parser, BT_CEL_NODE_SELECT, position, operand->height);
	if (select != NULL) {
		select->select.operand = operand;
		select->select.field = field.text;
		select->select.is_optional = is_optional;
	}
	return select;
}

/** Parses an index; the next token is the bracket. */
static struct bt_cel_node *parse_index(struct bt_cel_parser *parser, struct bt_cel_node *operand)
{
	uint32_t position = take_token(parser).position;
	uint32_t mark = parser->elements.count;
	bool is_optional = take_if(parser, BT_CEL_TOKEN_QUESTION);
	struct bt_cel_node *key = parse_expression(parser);

	if (key == NULL || !expect(parser, BT_CEL_TOKEN_CLOSE_BRACKET)) {
		return NULL;
	}
	push_element(parser, operand, false);
	push_element(parser, key, false);
	return is_optional
		? make_operator(parser, position, BT_CEL_OP_OPTIONAL_INDEX, "_[?_]", mark)
		: make_operator(parser, position, BT_CEL_OP_INDEX, "_[_]", mark);
}

static struct bt_cel_node *parse_member(struct bt_cel_parser *parser)
{
	const char *start = parser->token.text.data;
	bool starts_with_name = parser->token.kind == BT_CEL_TOKEN_IDENTIFIER ||
		parser->token.kind == BT_CEL_TOKEN_DOT;
	struct bt_cel_node *node = parse_primary(parser);
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
			/* The checker decides whether the name is a type. */
			uint32_t end = (uint32_t)(parser->token.text.data - start);
			struct bt_cel_node *object = parse_entries(parser, parse_field);

			if (object != NULL) {
				object->map.type_name =
					bt_str_trim((struct bt_str){start, end}, BT_STR_SPACE);
			}
			node = object;
			is_name = false;
		} else {
			break;
		}
	}
	return node;
}

/** Parses any number of `!` or `-`; two of them cancel out. */
static struct bt_cel_node *parse_unary(struct bt_cel_parser *parser)
{
	enum bt_cel_token_kind sign = parser->token.kind;
	uint32_t position = parser->token.position;
	uint32_t mark = parser->elements.count;
	bool is_odd = false;

	if (sign != BT_CEL_TOKEN_NOT && sign != BT_CEL_TOKEN_MINUS) {
		return parse_member(parser);
	}
	while (!is_negative_number(parser) && take_if(parser, sign)) {
		is_odd = !is_odd;
	}
	struct bt_cel_node *operand = parse_member(parser);
	if (operand == NULL || !is_odd) {
		return operand;
	}
	push_element(parser, operand, false);
	return sign == BT_CEL_TOKEN_NOT
		? make_operator(parser, position, BT_CEL_OP_NOT, "!_", mark)
		: make_operator(parser, position, BT_CEL_OP_NEGATE, "-_", mark);
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

/** Parses operands joined by operators of this or a higher precedence. */
static struct bt_cel_node *parse_operation(struct bt_cel_parser *parser, enum level lowest)
{
	struct bt_cel_node *left = parse_unary(parser);
	const struct binary *binary = &binaries[parser->token.kind];

	while (left != NULL && binary->level != LEVEL_NONE && binary->level >= lowest) {
		enum bt_cel_token_kind kind = parser->token.kind;
		uint32_t position = parser->token.position;
		uint32_t mark = parser->elements.count;
		push_element(parser, left, false);
		/*
		 * && and
		 *
		 * collect all operands in one call; other operators are left-associative.
		 */
		do {
			(void)take_token(parser);
			struct bt_cel_node *right = parse_operation(parser, binary->level + 1);
			if (right == NULL) {
				return NULL;
			}
			push_element(parser, right, false);
		} while (binary->level <= LEVEL_AND && parser->token.kind == kind);
		left = make_operator(parser, position, binary->operator_, binary->function, mark);
		binary = &binaries[parser->token.kind];
	}
	return left;
}

/** Parses a conditional; the next token is the question mark. */
static struct bt_cel_node *parse_conditional(
	struct bt_cel_parser *parser, struct bt_cel_node *condition)
{
	uint32_t position = take_token(parser).position;
	uint32_t mark = parser->elements.count;
	struct bt_cel_node *yes = parse_operation(parser, LEVEL_OR);
	struct bt_cel_node *no = NULL;

	if (yes == NULL || !expect(parser, BT_CEL_TOKEN_COLON)) {
		return NULL;
	}
	no = parse_expression(parser);
	if (no == NULL) {
		return NULL;
	}
	push_element(parser, condition, false);
	push_element(parser, yes, false);
	push_element(parser, no, false);
	return make_operator(parser, position, BT_CEL_OP_CONDITIONAL, "_?_:_", mark);
}

static struct bt_cel_node *parse_expression(struct bt_cel_parser *parser)
{
	if (parser->depth >= BT_CEL_DEPTH_MAX) {
		report_depth(parser);
		return NULL;
	}
	parser->depth++;
	struct bt_cel_node *node = parse_operation(parser, LEVEL_OR);
	if (node != NULL && parser->token.kind == BT_CEL_TOKEN_QUESTION) {
		node = parse_conditional(parser, node);
	}
	parser->depth--;
	return node;
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
	bt_vec_push(&parser.tokens, token);
	parser.token = parser.tokens.items[0];
	parser.following = parser.tokens.items[1];
	struct bt_cel_node *root = parse_expression(&parser);
	if (root != NULL) {
		(void)expect(&parser, BT_CEL_TOKEN_END);
	}
	if (parser.is_refused) {
		bt_cel_syntax_report(&parser.lexer, parser.tokens.items, parser.tokens.count - 1);
	}
	bt_vec_finish(&parser.elements);
	bt_vec_finish(&parser.tokens);
	return issues->items.count == 0 ? root : NULL;
}
