/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CEL_PARSER_PRIVATE_H
#define BT_CEL_PARSER_PRIVATE_H
/**
 * Shared by parser.c, which has the rules of the grammar, and syntax_recovery.c, which has ANTLR
 * 4's default error strategy. Spec: 12b section 5.
 *
 * The rules run once to build the tree. If the tokens do not match the grammar, the rules run again
 * from the first token to report all syntax errors in upstream's words; the second run recovers
 * from errors and builds nothing.
 */
#include "cel/lexer.h"

#define BT_CEL_TOKEN_BIT(kind_) (UINT64_C(1) << BT_CEL_TOKEN_##kind_)

/**
 * A call of a grammar rule. follow: tokens that may follow the called rule within the calling rule.
 */
struct bt_cel_syntax_frame {
	const struct bt_cel_syntax_frame *caller; /* NULL: the called rule parses the whole text */
	uint64_t follow;
	bool can_end; /* the calling rule may end after this call */
};

/** A child of a list, map or call that is being parsed. */
struct bt_cel_element {
	struct bt_cel_node *node;
	bool is_optional;
};

struct bt_cel_parser {
	struct bt_cel_lexer lexer;
	BT_VEC(struct bt_cel_token) tokens; /* the last one is BT_CEL_TOKEN_END */
	uint32_t index;                     /* of the next token */
	uint32_t depth;
	/**
	 * Parsing ends, because a limit was exceeded, the tokens do not match the grammar, or
	 * probing found an error: rules then see only BT_CEL_TOKEN_END.
	 */
	bool is_over;

	/* Members of the run that builds the tree. */
	struct bt_arena *arena;
	struct bt_cel_issues *issues;
	/**
	 * Stack of the elements of all open lists, maps and calls. A mark is the height of the
	 * stack when a list, map or call begins.
	 */
	BT_VEC(struct bt_cel_element) elements;
	struct bt_cel_node nothing; /* the result of rules that build no node */
	bool is_refused;            /* the tokens do not match the grammar */

	/* Members of the run that reports errors. */
	bool is_reporting;
	uint32_t recoveries;
	/**
	 * For recovery after an error. A place in the grammar is recorded as a line of parser.c.
	 * If the parser recovers twice at the same token and the same place, it skips the token,
	 * because it would otherwise fail there for ever.
	 */
	uint32_t error_index;         /* token of the last recovery; UINT32_MAX: none */
	uint32_t error_line;          /* place of the last error */
	BT_VEC(uint32_t) error_lines; /* places of the recoveries since a token last matched */
	bool is_recovering;           /* no token has matched since the last error */
	bool has_failed;              /* the current rule has failed and must end */
	/**
	 * The parser probes whether a minus begins a negative number (probe_number in parser.c).
	 * During a probe errors are not reported; probe_index is the first token with an error.
	 */
	bool is_probing;
	uint32_t probe_index;
};

/* syntax_recovery.c */

/** Returns the kind of a token; distance 0 is the next token. */
enum bt_cel_token_kind bt_cel_syntax_ahead(const struct bt_cel_parser *parser, uint32_t distance);
bool bt_cel_syntax_is_ahead(const struct bt_cel_parser *parser, uint32_t distance, uint64_t set);
/** Moves past a token that matches, and returns it. */
struct bt_cel_token bt_cel_syntax_take(struct bt_cel_parser *parser);
/**
 * Call where alternatives or an optional part begin. expected: tokens that can begin the
 * alternatives or the part. line: identifies the place in the grammar. false: the rule fails.
 */
bool bt_cel_syntax_begin(struct bt_cel_parser *parser, uint64_t expected, uint32_t line);
/**
 * Matches one of the expected tokens; next: tokens that may follow the matched token. false: the
 * rule fails.
 */
bool bt_cel_syntax_match(
	struct bt_cel_parser *parser, uint64_t expected, uint64_t next, uint32_t line);
/**
 * Makes the rule fail, because no alternative begins with the tokens from the next token to the
 * token at this distance.
 */
void bt_cel_syntax_fail(struct bt_cel_parser *parser, uint32_t distance, uint32_t line);
/** Ends a rule; if the rule failed, skips tokens to recover. */
void bt_cel_syntax_leave(struct bt_cel_parser *parser, const struct bt_cel_syntax_frame *frame);
/** All tokens that may follow the end of a rule. */
uint64_t bt_cel_syntax_follow(const struct bt_cel_syntax_frame *frame);
/**
 * Call after an operator `!` or `-`: if the next token is not expected, reports it and skips tokens
 * up to an expected token or a token that may follow an enclosing rule.
 */
void bt_cel_syntax_resume(
	struct bt_cel_parser *parser, uint64_t expected, const struct bt_cel_syntax_frame *frame);
#endif
