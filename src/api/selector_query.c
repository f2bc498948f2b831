/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "api/selector.h"
#include "api/selector_build.h"
#include "base/vec.h"

/* Parser of label selectors in query form, spec 14 section 16. */

#define TEXT_BYTES_MAX (64u * 1024u)
/** Limit of input text in messages. */
#define SHOWN_MAX 256

enum token {
	TOKEN_END,
	TOKEN_WORD, /* also "in" and "notin", which are operators or labels by context */
	TOKEN_EQUALS,
	TOKEN_DOUBLE_EQUALS,
	TOKEN_NOT_EQUALS,
	TOKEN_NOT,
	TOKEN_GREATER,
	TOKEN_LESS,
	TOKEN_OPEN,
	TOKEN_CLOSE,
	TOKEN_COMMA,
};

struct parser {
	struct bt_str rest; /* text after the token */
	enum token token;   /* current token, not consumed yet */
	struct bt_str word; /* text of the token */
	struct bt_arena *arena;
	struct berth_error *err;
	BT_VEC(struct bt_str) values; /* of one requirement */
	BT_VEC(struct bt_requirement) requirements;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_special(char c)
{
	return c != '\0' && strchr("=!(),<>", c) != NULL;
}

static enum token special_token(struct bt_str text, uint32_t *out_length)
{
	bool with_equals = text.length > 1 && text.data[1] == '=';

	*out_length = 1;
	switch (text.data[0]) {
	case '=':
		*out_length = with_equals ? 2 : 1;
		return with_equals ? TOKEN_DOUBLE_EQUALS : TOKEN_EQUALS;
	case '!':
		*out_length = with_equals ? 2 : 1;
		return with_equals ? TOKEN_NOT_EQUALS : TOKEN_NOT;
	case '>':
		return TOKEN_GREATER;
	case '<':
		return TOKEN_LESS;
	case '(':
		return TOKEN_OPEN;
	case ')':
		return TOKEN_CLOSE;
	default:
		return TOKEN_COMMA;
	}
}

/** Consumes the token and reads the next one. */
static void advance(struct parser *parser)
{
	struct bt_str rest = parser->rest;
	uint32_t length = 0;

	while (rest.length != 0 && is_blank(rest.data[0])) {
		rest = bt_str_sub(rest, 1, rest.length);
	}
	if (rest.length == 0) {
		parser->token = TOKEN_END;
	} else if (is_special(rest.data[0])) {
		parser->token = special_token(rest, &length);
	} else {
		parser->token = TOKEN_WORD;
		while (length < rest.length && !is_blank(rest.data[length]) &&
			!is_special(rest.data[length])) {
			length++;
		}
	}
	parser->word = bt_str_sub(rest, 0, length);
	parser->rest = bt_str_sub(rest, length, rest.length);
}

static int unexpected(const struct parser *parser, const char *expected)
{
	struct bt_str shown = bt_str_sub(parser->word, 0, SHOWN_MAX);

	return bt_error_set(parser->err, BERTH_ERR_SYNTAX, "found '%.*s', expected: %s",
		BT_STR_ARG(shown), expected);
}

/** Sets the error of an unexpected token within a requirement. */
static int unexpected_within(const struct parser *parser, const char *expected)
{
	int code = unexpected(parser, expected);

	return bt_error_wrap(parser->err, code, "unable to parse requirement");
}

static int build(struct parser *parser, struct bt_str key, enum bt_selector_operator operator_)
{
	static const struct bt_requirement_path path = {.place = BT_PLACE_LABEL_SELECTOR};
	struct bt_error_list errors = {NULL, 0, 0};
	uint32_t bytes_left = BT_SELECTOR_ERROR_BYTES_MAX;
	struct bt_error_sink sink = {&errors, parser->arena, &bytes_left};
	/* The requirements borrow the values. */
	bt_str_list values = {bt_arena_copy_array(parser->arena, parser->values.items,
				      parser->values.count, 0, sizeof(struct bt_str)),
		parser->values.count, true};
	struct bt_requirement_source source = {key, {NULL, 0}, &values};
	struct bt_requirement requirement;

	if (bt_requirement_build(&source, operator_, &path, &sink, &requirement)) {
		bt_vec_push(&parser->requirements, requirement);
		return 0;
	}
	struct bt_str text = bt_error_list_text(&errors, parser->arena);
	return bt_error_set(parser->err, BERTH_ERR_INVALID, "unable to parse requirement: %.*s",
		BT_STR_ARG(text));
}

/** Parses "(a, b)"; where a value is missing, as in "(a,)" or "()", the value is "". */
static int parse_values(struct parser *parser)
{
	bool expects_value = true;

	if (parser->token != TOKEN_OPEN) {
		return unexpected_within(parser, "'('");
	}
	for (advance(parser); parser->token != TOKEN_CLOSE; advance(parser)) {
		if (parser->token == TOKEN_COMMA) {
			if (expects_value) {
				bt_vec_push(&parser->values, BT_STR(""));
			}
			expects_value = true;
		} else if (parser->token == TOKEN_WORD && expects_value) {
			bt_vec_push(&parser->values, parser->word);
			expects_value = false;
		} else {
			return unexpected_within(
				parser, expects_value ? "',', ')' or identifier" : "',' or ')'");
		}
	}
	if (expects_value) {
		bt_vec_push(&parser->values, BT_STR(""));
	}
	advance(parser);
	return 0;
}

/**
 * Reads the current token as an operator without consuming the token; false: not an operator.
 * *out_in_list: the values follow in parentheses.
 */
static bool read_operator(
	const struct parser *parser, enum bt_selector_operator *out_operator, bool *out_in_list)
{
	*out_in_list = false;
	switch (parser->token) {
	case TOKEN_EQUALS:
	case TOKEN_DOUBLE_EQUALS:
		*out_operator = BT_SELECTOR_IN;
		return true;
	case TOKEN_NOT_EQUALS:
		*out_operator = BT_SELECTOR_NOT_IN;
		return true;
	case TOKEN_GREATER:
		*out_operator = BT_SELECTOR_GT;
		return true;
	case TOKEN_LESS:
		*out_operator = BT_SELECTOR_LT;
		return true;
	case TOKEN_WORD:
		*out_in_list = true;
		*out_operator = bt_str_equal(parser->word, BT_STR("in")) ? BT_SELECTOR_IN
									 : BT_SELECTOR_NOT_IN;
		return *out_operator == BT_SELECTOR_IN ||
			bt_str_equal(parser->word, BT_STR("notin"));
	case TOKEN_END:
	case TOKEN_NOT:
	case TOKEN_OPEN:
	case TOKEN_CLOSE:
	case TOKEN_COMMA:
		return false;
	}
	return false;
}

static int parse_requirement(struct parser *parser)
{
	bool is_negated = parser->token == TOKEN_NOT;
	enum bt_selector_operator operator_;
	bool in_list;

	parser->values.count = 0;
	if (is_negated) {
		advance(parser);
	}
	if (parser->token != TOKEN_WORD) {
		return unexpected_within(parser, "identifier");
	}
	struct bt_str key = parser->word;
	advance(parser);
	if (is_negated) {
		return build(parser, key, BT_SELECTOR_DOES_NOT_EXIST);
	}
	if (parser->token == TOKEN_END || parser->token == TOKEN_COMMA) {
		return build(parser, key, BT_SELECTOR_EXISTS);
	}
	if (!read_operator(parser, &operator_, &in_list)) {
		return unexpected_within(parser, "in, notin, =, ==, !=, gt, lt");
	}
	advance(parser);
	if (in_list) {
		int code = parse_values(parser);
		if (code != 0) {
			return code;
		}
	} else if (parser->token == TOKEN_END || parser->token == TOKEN_COMMA) {
		bt_vec_push(&parser->values, BT_STR("")); /* a missing value is "" */
	} else if (parser->token == TOKEN_WORD) {
		bt_vec_push(&parser->values, parser->word);
		advance(parser);
	} else {
		return unexpected_within(parser, "identifier");
	}
	return build(parser, key, operator_);
}

static int parse(struct parser *parser)
{
	advance(parser);
	if (parser->token == TOKEN_END) {
		return 0;
	}
	if (parser->token != TOKEN_WORD && parser->token != TOKEN_NOT) {
		return unexpected(parser, "!, identifier, or 'end of string'");
	}
	for (;;) {
		int code = parse_requirement(parser);

		if (code != 0) {
			return code;
		}
		if (parser->token == TOKEN_END) {
			return 0;
		}
		if (parser->token != TOKEN_COMMA) {
			return unexpected(parser, "',' or 'end of string'");
		}
		advance(parser);
		if (parser->token != TOKEN_WORD && parser->token != TOKEN_NOT) {
			return unexpected(parser, "identifier after ','");
		}
	}
}

int bt_selector_parse(struct bt_str text, struct bt_arena *arena, struct bt_selector *out_selector,
	struct berth_error *err)
{
	struct parser parser = {.rest = text, .arena = arena, .err = err};

	if (text.length > TEXT_BYTES_MAX) {
		return bt_error_set(err, BERTH_ERR_TOO_LARGE,
			"a label selector has at most %u bytes", TEXT_BYTES_MAX);
	}
	int code = parse(&parser);
	if (code == 0) {
		*out_selector = (struct bt_selector){
			.requirement_count = parser.requirements.count,
			.requirements = bt_arena_copy_array(arena, parser.requirements.items,
				parser.requirements.count, 0, sizeof(struct bt_requirement)),
		};
	}
	bt_vec_finish(&parser.values);
	bt_vec_finish(&parser.requirements);
	return code;
}

/* Field selectors, spec 01 section 5.7. */

/** Unescapes a value; false: the value has an invalid escape or an unescaped "=". */
static bool unescape(struct bt_str text, struct bt_arena *arena, struct bt_str *out)
{
	uint32_t length = 0;

	if (text.length == 0) {
		*out = BT_STR("");
		return true;
	}
	char *value = bt_arena_alloc_bytes(arena, text.length);
	for (uint32_t i = 0; i < text.length; i++) {
		char c = text.data[i];

		if (c == '=') {
			return false;
		}
		if (c == '\\') {
			if (++i == text.length || memchr("\\,=", text.data[i], 3) == NULL) {
				return false;
			}
			c = text.data[i];
		}
		value[length++] = c;
	}
	*out = (struct bt_str){value, length};
	return true;
}

static bool parse_term(struct bt_str text, struct bt_arena *arena, struct bt_field_term *out)
{
	for (uint32_t i = 0; i < text.length; i++) {
		char c = text.data[i];
		char next = i + 1 < text.length ? text.data[i + 1] : '\0';
		uint32_t operator_length = 1;

		if (c == '\\') {
			i++;
			continue;
		}
		if (c == '!' && next == '=') {
			out->negated = true;
			operator_length = 2;
		} else if (c != '=') {
			continue;
		} else if (next == '=') {
			operator_length = 2;
		}
		out->field = bt_str_sub(text, 0, i);
		return unescape(
			bt_str_sub(text, i + operator_length, text.length), arena, &out->value);
	}
	return false;
}

int bt_field_selector_parse(struct bt_str text, struct bt_arena *arena,
	struct bt_field_selector *out_selector, struct berth_error *err)
{
	struct bt_field_selector selector = {.count = 0};
	struct bt_str rest = text;
	size_t term_max = 1;

	for (uint32_t i = 0; i < text.length; i++) {
		term_max += text.data[i] == ',';
	}
	struct bt_field_term *terms = BT_ARENA_NEW_ARRAY(arena, struct bt_field_term, term_max);
	while (rest.length != 0) {
		uint32_t length = 0;

		while (length < rest.length && rest.data[length] != ',') {
			length += rest.data[length] == '\\' && length + 1 < rest.length ? 2 : 1;
		}
		struct bt_str term = bt_str_sub(rest, 0, length);

		rest = bt_str_sub(rest, length + 1, rest.length);
		if (term.length == 0) {
			continue;
		}
		if (!parse_term(term, arena, &terms[selector.count])) {
			struct bt_str whole = bt_str_sub(text, 0, SHOWN_MAX);
			struct bt_str shown = bt_str_sub(term, 0, SHOWN_MAX);

			return bt_error_set(err, BERTH_ERR_SYNTAX,
				"invalid selector: '%.*s'; can't understand '%.*s'",
				BT_STR_ARG(whole), BT_STR_ARG(shown));
		}
		selector.count++;
	}
	selector.terms = terms;
	*out_selector = selector;
	return 0;
}

bool bt_field_term_matches(const struct bt_field_term *term, struct bt_str value)
{
	return bt_str_equal(term->value, value) != term->negated;
}
