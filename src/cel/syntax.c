/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The grammar again, to report syntax errors: the strict parser stops at the first token that does
 * not match. The rules here then read all tokens and make the same decisions as upstream's parser,
 * in order to give the same messages. Spec: 12b section 5.
 */
#include <string.h>

#include "cel/syntax_private.h"

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
#define BEGIN(syntax_, expected_) bt_cel_syntax_begin(syntax_, expected_, __LINE__)
#define MATCH(syntax_, expected_, next_) \
	bt_cel_syntax_match(syntax_, BT_CEL_TOKEN_BIT(expected_), next_, __LINE__)

static void parse_expression(struct bt_cel_syntax *syntax, const struct bt_cel_syntax_frame *frame);

/** Comma-separated expressions. */
static void parse_expressions(struct bt_cel_syntax *syntax, const struct bt_cel_syntax_frame *frame)
{
	const struct bt_cel_syntax_frame item = {frame, BT_CEL_TOKEN_BIT(COMMA), true};

	parse_expression(syntax, &item);
	while (bt_cel_syntax_ahead(syntax, 0) == BT_CEL_TOKEN_COMMA) {
		bt_cel_syntax_accept(syntax);
		parse_expression(syntax, &item);
	}
	bt_cel_syntax_leave(syntax, frame);
}

/** `(arguments)` of a call; last: tokens that may follow within the calling rule. */
static void parse_call(
	struct bt_cel_syntax *syntax, const struct bt_cel_syntax_frame *frame, uint64_t last)
{
	bt_cel_syntax_accept(syntax);
	if (!BEGIN(syntax, EXPRESSIONS | BT_CEL_TOKEN_BIT(CLOSE_PARENTHESIS))) {
		return;
	}
	if (bt_cel_syntax_is_ahead(syntax, 0, EXPRESSIONS)) {
		parse_expressions(syntax,
			&(struct bt_cel_syntax_frame){
				frame, BT_CEL_TOKEN_BIT(CLOSE_PARENTHESIS), false});
	}
	(void)MATCH(syntax, CLOSE_PARENTHESIS, last | bt_cel_syntax_follow(frame));
}

static void parse_optional_expression(
	struct bt_cel_syntax *syntax, const struct bt_cel_syntax_frame *frame)
{
	if (BEGIN(syntax, OPTIONAL_EXPRESSIONS)) {
		if (bt_cel_syntax_ahead(syntax, 0) == BT_CEL_TOKEN_QUESTION) {
			bt_cel_syntax_accept(syntax);
		}
		parse_expression(syntax, &(struct bt_cel_syntax_frame){frame, 0, true});
	}
	bt_cel_syntax_leave(syntax, frame);
}

static void parse_field_name(struct bt_cel_syntax *syntax, const struct bt_cel_syntax_frame *frame)
{
	if (BEGIN(syntax, BT_CEL_TOKEN_BIT(IDENTIFIER) | BT_CEL_TOKEN_BIT(QUOTED))) {
		if (bt_cel_syntax_is_ahead(
			    syntax, 0, BT_CEL_TOKEN_BIT(IDENTIFIER) | BT_CEL_TOKEN_BIT(QUOTED))) {
			bt_cel_syntax_accept(syntax);
		} else {
			bt_cel_syntax_fail(syntax, 0, __LINE__);
		}
	}
	bt_cel_syntax_leave(syntax, frame);
}

/** Whether another element follows: a comma, but not a trailing one. */
static bool has_more(const struct bt_cel_syntax *syntax, uint64_t elements)
{
	return bt_cel_syntax_ahead(syntax, 0) == BT_CEL_TOKEN_COMMA &&
		bt_cel_syntax_is_ahead(syntax, 1, elements);
}

/** Entries of a map, or fields of a message. */
static void parse_entries(
	struct bt_cel_syntax *syntax, const struct bt_cel_syntax_frame *frame, bool is_map)
{
	const struct bt_cel_syntax_frame key = {frame, BT_CEL_TOKEN_BIT(COLON), false};
	const struct bt_cel_syntax_frame value = {frame, BT_CEL_TOKEN_BIT(COMMA), true};
	uint64_t keys = is_map ? OPTIONAL_EXPRESSIONS : FIELDS;

	for (bool has_entry = true; has_entry;) {
		if (is_map) {
			parse_optional_expression(syntax, &key);
		} else {
			if (BEGIN(syntax, FIELDS)) {
				if (bt_cel_syntax_ahead(syntax, 0) == BT_CEL_TOKEN_QUESTION) {
					bt_cel_syntax_accept(syntax);
				}
				parse_field_name(
					syntax, &(struct bt_cel_syntax_frame){&key, 0, true});
			}
			bt_cel_syntax_leave(syntax, &key);
		}
		if (!MATCH(syntax, COLON, EXPRESSIONS)) {
			break;
		}
		parse_expression(syntax, &value);
		has_entry = has_more(syntax, keys);
		if (has_entry) {
			bt_cel_syntax_accept(syntax);
		}
	}
	bt_cel_syntax_leave(syntax, frame);
}

/** From the opening bracket to the closing one, with an optional trailing comma. */
static void parse_bracketed(struct bt_cel_syntax *syntax, const struct bt_cel_syntax_frame *frame,
	uint64_t elements, enum bt_cel_token_kind close)
{
	uint64_t closing = UINT64_C(1) << close;
	const struct bt_cel_syntax_frame inner = {frame, BT_CEL_TOKEN_BIT(COMMA) | closing, false};

	bt_cel_syntax_accept(syntax);
	if (!BEGIN(syntax, elements | BT_CEL_TOKEN_BIT(COMMA) | closing)) {
		return;
	}
	if (bt_cel_syntax_is_ahead(syntax, 0, elements)) {
		if (close == BT_CEL_TOKEN_CLOSE_BRACKET) {
			const struct bt_cel_syntax_frame item = {
				&inner, BT_CEL_TOKEN_BIT(COMMA), true};

			parse_optional_expression(syntax, &item);
			while (has_more(syntax, OPTIONAL_EXPRESSIONS)) {
				bt_cel_syntax_accept(syntax);
				parse_optional_expression(syntax, &item);
			}
			bt_cel_syntax_leave(syntax, &inner);
		} else {
			parse_entries(syntax, &inner, elements != FIELDS);
		}
	}
	if (!BEGIN(syntax, BT_CEL_TOKEN_BIT(COMMA) | closing)) {
		return;
	}
	if (bt_cel_syntax_ahead(syntax, 0) == BT_CEL_TOKEN_COMMA) {
		bt_cel_syntax_accept(syntax);
	}
	(void)bt_cel_syntax_match(syntax, closing, bt_cel_syntax_follow(frame), __LINE__);
}

static void parse_literal(struct bt_cel_syntax *syntax, const struct bt_cel_syntax_frame *frame)
{
	if (bt_cel_syntax_ahead(syntax, 0) != BT_CEL_TOKEN_MINUS) {
		bt_cel_syntax_accept(syntax);
	} else if (bt_cel_syntax_is_ahead(
			   syntax, 1, BT_CEL_TOKEN_BIT(INT) | BT_CEL_TOKEN_BIT(DOUBLE))) {
		bt_cel_syntax_accept(syntax);
		bt_cel_syntax_accept(syntax);
	} else {
		bt_cel_syntax_fail(syntax, 1, __LINE__);
	}
	bt_cel_syntax_leave(syntax, frame);
}

/** A name, a call of a global function, or a message, with an optional leading dot. */
static void parse_name(struct bt_cel_syntax *syntax, const struct bt_cel_syntax_frame *frame)
{
	uint32_t dot = bt_cel_syntax_ahead(syntax, 0) == BT_CEL_TOKEN_DOT ? 1 : 0;
	uint32_t end = dot + 1;

	if (bt_cel_syntax_ahead(syntax, dot) != BT_CEL_TOKEN_IDENTIFIER) {
		bt_cel_syntax_fail(syntax, dot, __LINE__);
		return;
	}
	while (bt_cel_syntax_ahead(syntax, end) == BT_CEL_TOKEN_DOT &&
		bt_cel_syntax_ahead(syntax, end + 1) == BT_CEL_TOKEN_IDENTIFIER) {
		end += 2;
	}
	if (bt_cel_syntax_ahead(syntax, end) != BT_CEL_TOKEN_OPEN_BRACE) {
		end = dot + 1;
	}
	for (uint32_t i = 0; i < end; i++) {
		bt_cel_syntax_accept(syntax);
	}
	if (bt_cel_syntax_ahead(syntax, 0) == BT_CEL_TOKEN_OPEN_BRACE) {
		parse_bracketed(syntax, frame, FIELDS, BT_CEL_TOKEN_CLOSE_BRACE);
	} else if (bt_cel_syntax_ahead(syntax, 0) == BT_CEL_TOKEN_OPEN_PARENTHESIS) {
		parse_call(syntax, frame, 0);
	}
}

static void parse_primary(struct bt_cel_syntax *syntax, const struct bt_cel_syntax_frame *frame)
{
	if (!BEGIN(syntax, MEMBERS)) {
		bt_cel_syntax_leave(syntax, frame);
		return;
	}
	switch ((int)bt_cel_syntax_ahead(syntax, 0)) {
	case BT_CEL_TOKEN_DOT:
	case BT_CEL_TOKEN_IDENTIFIER:
		parse_name(syntax, frame);
		break;
	case BT_CEL_TOKEN_OPEN_PARENTHESIS:
		bt_cel_syntax_accept(syntax);
		parse_expression(syntax,
			&(struct bt_cel_syntax_frame){
				frame, BT_CEL_TOKEN_BIT(CLOSE_PARENTHESIS), false});
		(void)MATCH(syntax, CLOSE_PARENTHESIS, bt_cel_syntax_follow(frame));
		break;
	case BT_CEL_TOKEN_OPEN_BRACKET:
		parse_bracketed(syntax, frame, OPTIONAL_EXPRESSIONS, BT_CEL_TOKEN_CLOSE_BRACKET);
		break;
	case BT_CEL_TOKEN_OPEN_BRACE:
		parse_bracketed(syntax, frame, OPTIONAL_EXPRESSIONS, BT_CEL_TOKEN_CLOSE_BRACE);
		break;
	default:
		if (bt_cel_syntax_is_ahead(syntax, 0, LITERALS)) {
			parse_literal(syntax, &(struct bt_cel_syntax_frame){frame, 0, true});
		} else {
			bt_cel_syntax_fail(syntax, 0, __LINE__);
		}
		break;
	}
	bt_cel_syntax_leave(syntax, frame);
}

/** The next token is the dot. */
static void parse_select(struct bt_cel_syntax *syntax, const struct bt_cel_syntax_frame *frame)
{
	bool is_name = bt_cel_syntax_ahead(syntax, 1) == BT_CEL_TOKEN_IDENTIFIER;

	if (!bt_cel_syntax_is_ahead(syntax, 1, FIELDS)) {
		bt_cel_syntax_fail(syntax, 1, __LINE__);
		return;
	}
	bt_cel_syntax_accept(syntax);
	if (is_name && bt_cel_syntax_ahead(syntax, 1) == BT_CEL_TOKEN_OPEN_PARENTHESIS) {
		bt_cel_syntax_accept(syntax);
		parse_call(syntax, frame, SUFFIXES);
		return;
	}
	if (bt_cel_syntax_ahead(syntax, 0) == BT_CEL_TOKEN_QUESTION) {
		bt_cel_syntax_accept(syntax);
	}
	parse_field_name(syntax, &(struct bt_cel_syntax_frame){frame, SUFFIXES, true});
}

static void parse_index(struct bt_cel_syntax *syntax, const struct bt_cel_syntax_frame *frame)
{
	bt_cel_syntax_accept(syntax);
	if (!BEGIN(syntax, OPTIONAL_EXPRESSIONS)) {
		return;
	}
	if (bt_cel_syntax_ahead(syntax, 0) == BT_CEL_TOKEN_QUESTION) {
		bt_cel_syntax_accept(syntax);
	}
	parse_expression(syntax,
		&(struct bt_cel_syntax_frame){frame, BT_CEL_TOKEN_BIT(CLOSE_BRACKET), false});
	(void)MATCH(syntax, CLOSE_BRACKET, SUFFIXES | bt_cel_syntax_follow(frame));
}

static void parse_suffixes(struct bt_cel_syntax *syntax, const struct bt_cel_syntax_frame *frame)
{
	while (!syntax->has_failed && bt_cel_syntax_is_ahead(syntax, 0, SUFFIXES)) {
		if (bt_cel_syntax_ahead(syntax, 0) == BT_CEL_TOKEN_DOT) {
			parse_select(syntax, frame);
		} else {
			parse_index(syntax, frame);
		}
	}
}

static void parse_member(struct bt_cel_syntax *syntax, const struct bt_cel_syntax_frame *frame)
{
	parse_primary(syntax, &(struct bt_cel_syntax_frame){frame, SUFFIXES, true});
	parse_suffixes(syntax, frame);
	bt_cel_syntax_leave(syntax, frame);
}

/**
 * A minus and a number are a negative literal or a negation. Upstream decides by reading to the end
 * of the member, and reports an error up to there as an error of the decision. false: the rule
 * fails.
 */
static bool probe_number(struct bt_cel_syntax *syntax, const struct bt_cel_syntax_frame *frame)
{
	struct bt_cel_syntax probe = *syntax;

	if (syntax->is_probing || syntax->is_recovering ||
		!bt_cel_syntax_is_ahead(syntax, 2, SUFFIXES)) {
		return true;
	}
	memset(&probe.error_lines, 0, sizeof(probe.error_lines));
	probe.is_probing = true;
	probe.probe_index = UINT32_MAX;
	probe.index += 2;
	parse_suffixes(&probe, frame);
	bt_vec_finish(&probe.error_lines);
	if (probe.probe_index == UINT32_MAX) {
		return true;
	}
	bt_cel_syntax_fail(syntax, probe.probe_index - syntax->index, __LINE__);
	return false;
}

/** Any number of `-`. */
static void parse_negation(struct bt_cel_syntax *syntax, const struct bt_cel_syntax_frame *frame)
{
	do {
		bt_cel_syntax_accept(syntax);
		bt_cel_syntax_resume(syntax, MEMBERS, frame);
		if (!bt_cel_syntax_is_ahead(syntax, 0, MEMBERS)) {
			bt_cel_syntax_fail(syntax, 0, __LINE__);
			return;
		}
		if (bt_cel_syntax_ahead(syntax, 0) == BT_CEL_TOKEN_MINUS &&
			!bt_cel_syntax_is_ahead(syntax, 1, MEMBERS)) {
			bt_cel_syntax_fail(syntax, 1, __LINE__);
			return;
		}
	} while (bt_cel_syntax_ahead(syntax, 0) == BT_CEL_TOKEN_MINUS);
	parse_member(syntax, &(struct bt_cel_syntax_frame){frame, 0, true});
}

static void parse_unary(struct bt_cel_syntax *syntax, const struct bt_cel_syntax_frame *frame)
{
	if (!BEGIN(syntax, EXPRESSIONS)) {
		bt_cel_syntax_leave(syntax, frame);
		return;
	}
	if (bt_cel_syntax_ahead(syntax, 0) == BT_CEL_TOKEN_NOT) {
		/* Any number of `!`. */
		do {
			bt_cel_syntax_accept(syntax);
			bt_cel_syntax_resume(syntax, EXPRESSIONS, frame);
		} while (bt_cel_syntax_ahead(syntax, 0) == BT_CEL_TOKEN_NOT);
		parse_member(syntax, &(struct bt_cel_syntax_frame){frame, 0, true});
	} else if (!bt_cel_syntax_is_ahead(syntax, 0, MEMBERS)) {
		bt_cel_syntax_fail(syntax, 0, __LINE__);
	} else if (bt_cel_syntax_ahead(syntax, 0) != BT_CEL_TOKEN_MINUS) {
		parse_member(syntax, &(struct bt_cel_syntax_frame){frame, 0, true});
	} else if (bt_cel_syntax_is_ahead(
			   syntax, 1, BT_CEL_TOKEN_BIT(INT) | BT_CEL_TOKEN_BIT(DOUBLE))) {
		if (probe_number(syntax, frame)) {
			parse_member(syntax, &(struct bt_cel_syntax_frame){frame, 0, true});
		}
	} else if (bt_cel_syntax_is_ahead(syntax, 1, MEMBERS)) {
		parse_negation(syntax, frame);
	} else {
		bt_cel_syntax_fail(syntax, 1, __LINE__);
	}
	bt_cel_syntax_leave(syntax, frame);
}

/** Operands with arithmetic operators; precedence does not change the errors. */
static void parse_sum(struct bt_cel_syntax *syntax, const struct bt_cel_syntax_frame *frame)
{
	const struct bt_cel_syntax_frame operand = {frame, PRODUCTS | SUMS, true};

	parse_unary(syntax, &operand);
	while (bt_cel_syntax_is_ahead(syntax, 0, PRODUCTS | SUMS)) {
		bt_cel_syntax_accept(syntax);
		parse_unary(syntax, &operand);
	}
}

static void parse_relation(struct bt_cel_syntax *syntax, const struct bt_cel_syntax_frame *frame)
{
	const struct bt_cel_syntax_frame operand = {frame, RELATIONS, true};

	parse_sum(syntax, &operand);
	while (bt_cel_syntax_is_ahead(syntax, 0, RELATIONS)) {
		bt_cel_syntax_accept(syntax);
		parse_sum(syntax, &operand);
	}
}

/**
 * Relations joined by && and
 *
 * .
 */
static void parse_logic(struct bt_cel_syntax *syntax, const struct bt_cel_syntax_frame *frame)
{
	const struct bt_cel_syntax_frame conjunction = {frame, BT_CEL_TOKEN_BIT(OR), true};
	const struct bt_cel_syntax_frame relation = {&conjunction, BT_CEL_TOKEN_BIT(AND), true};

	parse_relation(syntax, &relation);
	while (bt_cel_syntax_is_ahead(syntax, 0, BT_CEL_TOKEN_BIT(AND) | BT_CEL_TOKEN_BIT(OR))) {
		bt_cel_syntax_accept(syntax);
		parse_relation(syntax, &relation);
	}
}

static void parse_expression(struct bt_cel_syntax *syntax, const struct bt_cel_syntax_frame *frame)
{
	if (syntax->is_over) {
		return;
	}
	if (syntax->depth >= BT_CEL_DEPTH_MAX) {
		syntax->is_over = true; /* the strict parser reports it */
		return;
	}
	syntax->depth++;
	parse_logic(syntax, &(struct bt_cel_syntax_frame){frame, BT_CEL_TOKEN_BIT(QUESTION), true});
	if (bt_cel_syntax_ahead(syntax, 0) == BT_CEL_TOKEN_QUESTION) {
		bt_cel_syntax_accept(syntax);
		parse_logic(syntax,
			&(struct bt_cel_syntax_frame){frame, BT_CEL_TOKEN_BIT(COLON), false});
		if (MATCH(syntax, COLON, EXPRESSIONS)) {
			parse_expression(syntax, &(struct bt_cel_syntax_frame){frame, 0, true});
		}
	}
	syntax->depth--;
	bt_cel_syntax_leave(syntax, frame);
}

void bt_cel_syntax_report(
	struct bt_cel_lexer *lexer, const struct bt_cel_token *tokens, uint32_t count)
{
	struct bt_cel_syntax syntax = {
		.lexer = lexer, .tokens = tokens, .count = count, .error_index = UINT32_MAX};

	parse_expression(
		&syntax, &(struct bt_cel_syntax_frame){NULL, BT_CEL_TOKEN_BIT(END), false});
	if (!syntax.is_over) {
		(void)MATCH(&syntax, END, BT_CEL_TOKEN_BIT(END));
	}
	bt_vec_finish(&syntax.error_lines);
}
