/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CEL_SYNTAX_PRIVATE_H
#define BT_CEL_SYNTAX_PRIVATE_H
/**
 * Syntax errors as upstream words them, between syntax.c, which has the rules of the grammar, and
 * syntax_recovery.c, which has ANTLR 4's default error strategy. Spec: 12b section 5.
 */
#include "cel/lexer.h"

#define BT_CEL_TOKEN_BIT(kind_) (UINT64_C(1) << BT_CEL_TOKEN_##kind_)

/** A call of a rule: what may follow it within the rule that calls it. */
struct bt_cel_syntax_frame {
	const struct bt_cel_syntax_frame *caller; /* NULL: of the whole text */
	uint64_t follow;
	bool can_end; /* the calling rule may end behind it, too */
};

struct bt_cel_syntax {
	struct bt_cel_lexer *lexer;
	const struct bt_cel_token *tokens;
	uint32_t count; /* the last one is BT_CEL_TOKEN_END */
	uint32_t index;
	uint32_t depth;
	uint32_t recoveries;
	/** The last recovery, and where in the grammar (lines of syntax.c) recoveries happened
	 * since a token fitted: a second one at the same place and token skips the token. */
	uint32_t error_index;
	uint32_t error_line;
	BT_VEC(uint32_t) error_lines;
	bool is_recovering; /* since the last error no token fitted */
	bool has_failed;    /* the rule at work ends */
	bool is_over;       /* a bound was passed, or is_probing has its answer */
	/** Nothing is reported: probe_index is the first token that is wrong. */
	bool is_probing;
	uint32_t probe_index;
};

/* syntax_recovery.c */

/** Kind of the token so far ahead. */
enum bt_cel_token_kind bt_cel_syntax_ahead(const struct bt_cel_syntax *syntax, uint32_t distance);
bool bt_cel_syntax_is_ahead(const struct bt_cel_syntax *syntax, uint32_t distance, uint64_t set);
/** Go past a token that fits. */
void bt_cel_syntax_accept(struct bt_cel_syntax *syntax);
/** Alternatives or an option begin here. false: the rule fails. */
bool bt_cel_syntax_begin(struct bt_cel_syntax *syntax, uint64_t expected, uint32_t line);
/** One token, and what may follow it. false: the rule fails. */
bool bt_cel_syntax_match(
	struct bt_cel_syntax *syntax, uint64_t expected, uint64_t next, uint32_t line);
/** The rule fails at the token so far ahead, which decides between alternatives from here. */
void bt_cel_syntax_fail(struct bt_cel_syntax *syntax, uint32_t distance, uint32_t line);
/** The end of a rule: if it failed, tokens are skipped. */
void bt_cel_syntax_leave(struct bt_cel_syntax *syntax, const struct bt_cel_syntax_frame *frame);
/** All tokens that may follow the end of a rule. */
uint64_t bt_cel_syntax_follow(const struct bt_cel_syntax_frame *frame);
/** The token here may not follow a sign: it and those up to members or the end of a rule are
 * skipped. */
void bt_cel_syntax_resume(
	struct bt_cel_syntax *syntax, uint64_t expected, const struct bt_cel_syntax_frame *frame);
#endif
