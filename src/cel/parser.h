/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CEL_PARSER_H
#define BT_CEL_PARSER_H
/**
 * Between the files of the parser: parser.c has operators and members, parser_primary.c what they
 * stand between, parser_tree.c makes the nodes. By recursive descent, which ends at the first thing
 * that the grammar refuses: every function here then returns NULL or false and nothing more is
 * read. syntax.c reads the tokens once more to say what is wrong. Spec: 12b section 5.
 */
#include "cel/lexer.h"

/** One of the nodes that a list, a map or a call is being made of. */
struct bt_cel_element {
	struct bt_cel_node *node;
	bool is_optional;
};

struct bt_cel_parser {
	struct bt_cel_lexer lexer;
	BT_VEC(struct bt_cel_token) tokens; /* of the whole text, BT_CEL_TOKEN_END twice */
	uint32_t index;                     /* of token, which is to be taken next */
	struct bt_cel_token token;
	struct bt_cel_token following;
	bool is_refused; /* by the grammar */
	struct bt_arena *arena;
	struct bt_cel_issues *issues;
	uint32_t depth;
	/** Of everything that is open, outermost first. A mark is the count when it was opened. */
	BT_VEC(struct bt_cel_element) elements;
};

/* parser.c */

struct bt_cel_node *bt_cel_parse_expression(struct bt_cel_parser *parser);

/* parser_primary.c */

struct bt_cel_node *bt_cel_parse_primary(struct bt_cel_parser *parser);
/** The parenthesis is the next token. target: NULL for a global function. */
struct bt_cel_node *bt_cel_parse_call(struct bt_cel_parser *parser, struct bt_cel_node *target,
	struct bt_str function, bool is_rooted);
/** Name{field: value}, the brace being the next token: refused, since no type of that name
 * exists. */
struct bt_cel_node *bt_cel_parse_message(struct bt_cel_parser *parser, const char *name);
/** The next token is a minus and belongs to the number behind it. */
bool bt_cel_parser_is_negative_number(const struct bt_cel_parser *parser);

/* parser_tree.c */

struct bt_cel_token bt_cel_parser_take(struct bt_cel_parser *parser);
bool bt_cel_parser_take_if(struct bt_cel_parser *parser, enum bt_cel_token_kind kind);
bool bt_cel_parser_expect(struct bt_cel_parser *parser, enum bt_cel_token_kind kind);
void bt_cel_parser_complain_of_depth(struct bt_cel_parser *parser);
/** below: height of the highest node under the new one. NULL when it is too high. */
struct bt_cel_node *bt_cel_parser_new_node(struct bt_cel_parser *parser, enum bt_cel_node_kind kind,
	uint32_t position, uint32_t below);
void bt_cel_parser_push(struct bt_cel_parser *parser, struct bt_cel_node *node, bool is_optional);
/** Of the elements behind mark. */
uint32_t bt_cel_parser_highest(const struct bt_cel_parser *parser, uint32_t mark);
/** Every stride-th element behind mark, from the offset-th on. */
struct bt_cel_node **bt_cel_parser_nodes(
	struct bt_cel_parser *parser, uint32_t mark, uint32_t stride, uint32_t offset);
/** The question marks of every stride-th element behind mark; NULL when there are none. */
bool *bt_cel_parser_marks(struct bt_cel_parser *parser, uint32_t mark, uint32_t stride);
/** A call of the elements behind mark, which are dropped. */
struct bt_cel_node *bt_cel_parser_make_call(struct bt_cel_parser *parser, uint32_t position,
	struct bt_cel_node *target, struct bt_str function, uint32_t mark);
struct bt_cel_node *bt_cel_parser_make_operator(struct bt_cel_parser *parser, uint32_t position,
	enum bt_cel_operator operator_, const char *function, uint32_t mark);

/* syntax.c */

/** Issues for tokens, the last one being BT_CEL_TOKEN_END, that the grammar refuses. */
void bt_cel_syntax_report(
	struct bt_cel_lexer *lexer, const struct bt_cel_token *tokens, uint32_t count);
#endif
