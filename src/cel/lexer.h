/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CEL_LEXER_H
#define BT_CEL_LEXER_H
/** Tokens of an expression. Spec: 12b section 5. */
#include "cel/ast.h"

/** Kinds of tokens, in the order in which messages list expected tokens. */
enum bt_cel_token_kind {
	BT_CEL_TOKEN_END,
	BT_CEL_TOKEN_EQUAL,
	BT_CEL_TOKEN_NOT_EQUAL,
	BT_CEL_TOKEN_IN,
	BT_CEL_TOKEN_LESS,
	BT_CEL_TOKEN_LESS_EQUAL,
	BT_CEL_TOKEN_GREATER_EQUAL,
	BT_CEL_TOKEN_GREATER,
	BT_CEL_TOKEN_AND,
	BT_CEL_TOKEN_OR,
	BT_CEL_TOKEN_OPEN_BRACKET,
	BT_CEL_TOKEN_CLOSE_BRACKET,
	BT_CEL_TOKEN_OPEN_BRACE,
	BT_CEL_TOKEN_CLOSE_BRACE,
	BT_CEL_TOKEN_OPEN_PARENTHESIS,
	BT_CEL_TOKEN_CLOSE_PARENTHESIS,
	BT_CEL_TOKEN_DOT,
	BT_CEL_TOKEN_COMMA,
	BT_CEL_TOKEN_MINUS,
	BT_CEL_TOKEN_NOT,
	BT_CEL_TOKEN_QUESTION,
	BT_CEL_TOKEN_COLON,
	BT_CEL_TOKEN_PLUS,
	BT_CEL_TOKEN_STAR,
	BT_CEL_TOKEN_SLASH,
	BT_CEL_TOKEN_PERCENT,
	BT_CEL_TOKEN_TRUE,
	BT_CEL_TOKEN_FALSE,
	BT_CEL_TOKEN_NULL,
	BT_CEL_TOKEN_DOUBLE,
	BT_CEL_TOKEN_INT,
	BT_CEL_TOKEN_UINT,
	BT_CEL_TOKEN_STRING,
	BT_CEL_TOKEN_BYTES,
	BT_CEL_TOKEN_IDENTIFIER, /* also reserved words: after a dot they are names */
	BT_CEL_TOKEN_QUOTED,     /* `name` */
	BT_CEL_TOKEN__COUNT,
};

struct bt_cel_token {
	enum bt_cel_token_kind kind;
	uint32_t position; /* code points from the start */
	/** as in the source, quotes and prefix included; borrowed from the source */
	struct bt_str text;
};

struct bt_cel_lexer {
	struct bt_str source; /* valid UTF-8 */
	uint32_t offset;
	uint32_t position; /* code points before offset */
	struct bt_cel_issues *issues;
	/** Set after too many syntax errors: the lexer then returns only BT_CEL_TOKEN_END. */
	bool has_given_up;
	uint32_t error_count;
};

/** Whether c is whitespace between tokens. */
bool bt_cel_lexer_is_space(char c);
/** Returns the next token. Skips invalid text, and adds an issue for each invalid text. */
struct bt_cel_token bt_cel_lexer_next(struct bt_cel_lexer *lexer);

/** Adds `Syntax error: <detail>`; after too many errors the lexer stops. */
BT_PRINTF(3, 4)
void bt_cel_lexer_error(
	struct bt_cel_lexer *lexer, uint32_t position, const char *detail_format, ...);

/**
 * Returns the value of a number, string or bytes token; texts borrow from the source or live in the
 * arena. is_negative: a minus precedes the number. position: where the minus begins, or the token
 * if there is no minus; issues show this position. Adds an issue if the number is out of range or
 * an escape is invalid.
 */
struct bt_cel_value bt_cel_literal_read(const struct bt_cel_token *token, bool is_negative,
	uint32_t position, struct bt_cel_lexer *lexer, struct bt_arena *arena);

#endif
