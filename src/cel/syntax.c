/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Syntax errors as upstream words them. The strict parser stops at the first token that the grammar
 * refuses; then this file reads the tokens once more, with the error strategy of the parser
 * generator ANTLR 4 on the rules of the grammar (spec 12b section 5):
 *
 * - where alternatives or options begin, and where one token is expected, a token that fits nowhere
 *   is deleted if the token behind it fits (`extraneous input`);
 * - a single token that is missing is inserted if what stands there may follow it (`missing ')'
 * at`);
 * - otherwise the rule fails (`mismatched input`), or, where tokens ahead decide between
 *   alternatives, `no viable alternative`; tokens are skipped up to one that may follow the rule or
 * a rule around it;
 * - between an error and the next token that fits nothing more is reported.
 */
#include "base/unicode.h"
#include "cel/parser.h"

/** Upstream's bounds: errors that are recovered from, and tokens skipped in one recovery. */
#define RECOVERIES_MAX 30
#define SKIPPED_MAX 256
/** Longer than every message about an expression that an API server admits. */
#define MESSAGE_BYTES_MAX 20480

#define TOKEN(kind_) (UINT64_C(1) << BT_CEL_TOKEN_##kind_)
#define LITERALS \
	(TOKEN(MINUS) | TOKEN(TRUE) | TOKEN(FALSE) | TOKEN(NULL) | TOKEN(DOUBLE) | TOKEN(INT) | \
		TOKEN(UINT) | TOKEN(STRING) | TOKEN(BYTES))
#define MEMBERS \
	(LITERALS | TOKEN(OPEN_BRACKET) | TOKEN(OPEN_BRACE) | TOKEN(OPEN_PARENTHESIS) | \
		TOKEN(DOT) | TOKEN(IDENTIFIER))
#define EXPRESSIONS (MEMBERS | TOKEN(NOT))
#define OPTIONAL_EXPRESSIONS (EXPRESSIONS | TOKEN(QUESTION))
#define FIELDS (TOKEN(QUESTION) | TOKEN(IDENTIFIER) | TOKEN(QUOTED))
#define RELATIONS \
	(TOKEN(EQUAL) | TOKEN(NOT_EQUAL) | TOKEN(IN) | TOKEN(LESS) | TOKEN(LESS_EQUAL) | \
		TOKEN(GREATER_EQUAL) | TOKEN(GREATER))
#define PRODUCTS (TOKEN(STAR) | TOKEN(SLASH) | TOKEN(PERCENT))
#define SUMS (TOKEN(PLUS) | TOKEN(MINUS))
#define SUFFIXES (TOKEN(DOT) | TOKEN(OPEN_BRACKET))

/** As expected tokens are listed. */
static const char *const token_names[BT_CEL_TOKEN__COUNT] = {
	[BT_CEL_TOKEN_END] = "<EOF>",
	[BT_CEL_TOKEN_EQUAL] = "'=='",
	[BT_CEL_TOKEN_NOT_EQUAL] = "'!='",
	[BT_CEL_TOKEN_IN] = "'in'",
	[BT_CEL_TOKEN_LESS] = "'<'",
	[BT_CEL_TOKEN_LESS_EQUAL] = "'<='",
	[BT_CEL_TOKEN_GREATER_EQUAL] = "'>='",
	[BT_CEL_TOKEN_GREATER] = "'>'",
	[BT_CEL_TOKEN_AND] = "'&&'",
	[BT_CEL_TOKEN_OR] = "'||'",
	[BT_CEL_TOKEN_OPEN_BRACKET] = "'['",
	[BT_CEL_TOKEN_CLOSE_BRACKET] = "']'",
	[BT_CEL_TOKEN_OPEN_BRACE] = "'{'",
	[BT_CEL_TOKEN_CLOSE_BRACE] = "'}'",
	[BT_CEL_TOKEN_OPEN_PARENTHESIS] = "'('",
	[BT_CEL_TOKEN_CLOSE_PARENTHESIS] = "')'",
	[BT_CEL_TOKEN_DOT] = "'.'",
	[BT_CEL_TOKEN_COMMA] = "','",
	[BT_CEL_TOKEN_MINUS] = "'-'",
	[BT_CEL_TOKEN_NOT] = "'!'",
	[BT_CEL_TOKEN_QUESTION] = "'?'",
	[BT_CEL_TOKEN_COLON] = "':'",
	[BT_CEL_TOKEN_PLUS] = "'+'",
	[BT_CEL_TOKEN_STAR] = "'*'",
	[BT_CEL_TOKEN_SLASH] = "'/'",
	[BT_CEL_TOKEN_PERCENT] = "'%'",
	[BT_CEL_TOKEN_TRUE] = "'true'",
	[BT_CEL_TOKEN_FALSE] = "'false'",
	[BT_CEL_TOKEN_NULL] = "'null'",
	[BT_CEL_TOKEN_DOUBLE] = "NUM_FLOAT",
	[BT_CEL_TOKEN_INT] = "NUM_INT",
	[BT_CEL_TOKEN_UINT] = "NUM_UINT",
	[BT_CEL_TOKEN_STRING] = "STRING",
	[BT_CEL_TOKEN_BYTES] = "BYTES",
	[BT_CEL_TOKEN_IDENTIFIER] = "IDENTIFIER",
	[BT_CEL_TOKEN_QUOTED] = "ESC_IDENTIFIER",
};

/** A call of a rule: what may follow it within the rule that calls it. */
struct frame {
	const struct frame *caller; /* NULL: of the whole text */
	uint64_t follow;
	bool can_end; /* the calling rule may end behind it, too */
};

struct syntax {
	struct bt_cel_lexer *lexer;
	const struct bt_cel_token *tokens;
	uint32_t count; /* the last one is BT_CEL_TOKEN_END */
	uint32_t index;
	uint32_t depth;
	uint32_t recoveries;
	/** The last recovery, and where in the grammar (source lines of this file) recoveries
	 * happened at that token: a second one at the same place skips a token. */
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

static void parse_expression(struct syntax *syntax, const struct frame *frame);

/* --- tokens --- */

static enum bt_cel_token_kind ahead(const struct syntax *syntax, uint32_t distance)
{
	uint32_t last = syntax->count - 1;

	if (syntax->is_over || distance > last - syntax->index) {
		return BT_CEL_TOKEN_END;
	}
	return syntax->tokens[syntax->index + distance].kind;
}

static bool is_ahead(const struct syntax *syntax, uint32_t distance, uint64_t set)
{
	return (set >> ahead(syntax, distance) & 1) != 0;
}

static void skip(struct syntax *syntax)
{
	if (ahead(syntax, 0) != BT_CEL_TOKEN_END) {
		syntax->index++;
	}
}

static void end_error(struct syntax *syntax)
{
	syntax->is_recovering = false;
	syntax->error_lines.count = 0;
	syntax->error_index = UINT32_MAX;
}

/** A token that fits. */
static void accept(struct syntax *syntax)
{
	end_error(syntax);
	skip(syntax);
}

/* --- messages --- */

static void append_set(struct bt_strbuf *out, uint64_t set)
{
	bool is_single = (set & (set - 1)) == 0;
	bool is_first = true;

	bt_strbuf_append_c(out, is_single ? "" : "{");
	for (uint32_t i = 0; i < BT_CEL_TOKEN__COUNT; i++) {
		if ((set >> i & 1) != 0) {
			bt_strbuf_append_c(out, is_first ? "" : ", ");
			bt_strbuf_append_c(out, token_names[i]);
			is_first = false;
		}
	}
	bt_strbuf_append_c(out, is_single ? "" : "}");
}

/** Text within quotes; messages hold no zero bytes. */
static void append_escaped(struct bt_strbuf *out, struct bt_str text)
{
	for (uint32_t i = 0; i < text.length; i++) {
		switch (text.data[i]) {
		case '\0':
			bt_strbuf_append_c(out, "\xef\xbf\xbd");
			break;
		case '\n':
			bt_strbuf_append_c(out, "\\n");
			break;
		case '\r':
			bt_strbuf_append_c(out, "\\r");
			break;
		case '\t':
			bt_strbuf_append_c(out, "\\t");
			break;
		default:
			bt_strbuf_append_char(out, text.data[i]);
			break;
		}
	}
}

static void append_token(struct bt_strbuf *out, const struct bt_cel_token *token)
{
	bt_strbuf_append_char(out, '\'');
	if (token->kind == BT_CEL_TOKEN_END) {
		bt_strbuf_append_c(out, "<EOF>");
	} else {
		append_escaped(out, token->text);
	}
	bt_strbuf_append_char(out, '\'');
}

/** What no token covers: space and comments, without the characters that are errors themselves. */
static void append_gap(struct bt_strbuf *out, struct bt_str gap)
{
	for (uint32_t i = 0; i < gap.length; i++) {
		if (gap.data[i] == '/' && i + 1 < gap.length && gap.data[i + 1] == '/') {
			struct bt_str rest = bt_str_sub(gap, i, gap.length);
			struct bt_str comment = bt_str_cut(&rest, '\n');

			append_escaped(out, comment);
			i += comment.length - 1;
		} else if (bt_cel_lexer_is_space(gap.data[i])) {
			append_escaped(out, bt_str_sub(gap, i, 1));
		}
	}
}

/** The text from one token to another, space and comments included. */
static void append_tokens(
	struct bt_strbuf *out, const struct syntax *syntax, uint32_t first, uint32_t last)
{
	const char *end = syntax->tokens[first].text.data;

	for (uint32_t i = first; i <= last; i++) {
		struct bt_str text = syntax->tokens[i].text;
		const char *start = syntax->tokens[i].kind != BT_CEL_TOKEN_END
			? text.data
			: syntax->lexer->source.data + syntax->lexer->source.length;

		append_gap(out, (struct bt_str){end, (uint32_t)(start - end)});
		append_escaped(out, text);
		end = start + text.length;
	}
}

/** Begins an error at a token; false: nothing is to be reported. */
static bool begin_error(struct syntax *syntax, uint32_t index)
{
	if (syntax->is_over || syntax->is_recovering) {
		return false;
	}
	if (syntax->is_probing) {
		syntax->probe_index = index;
		syntax->is_over = true;
		return false;
	}
	syntax->is_recovering = true;
	return true;
}

static void end_message(struct syntax *syntax, uint32_t index, struct bt_strbuf *text)
{
	struct bt_str message = bt_strbuf_str(text);

	if (message.length > MESSAGE_BYTES_MAX) {
		message.length = MESSAGE_BYTES_MAX;
		while (((unsigned char)message.data[message.length] & 0xc0) == 0x80) {
			message.length--;
		}
	}
	bt_cel_lexer_error(
		syntax->lexer, syntax->tokens[index].position, "%.*s", BT_STR_ARG(message));
	bt_strbuf_finish(text);
	syntax->is_over = syntax->lexer->has_given_up;
}

/** "<what> input '<token>' expecting <set>" */
static void report_input(struct syntax *syntax, const char *what, uint64_t expected)
{
	struct bt_strbuf text = {0};

	if (begin_error(syntax, syntax->index)) {
		bt_strbuf_printf(&text, "%s input ", what);
		append_token(&text, &syntax->tokens[syntax->index]);
		bt_strbuf_append_c(&text, " expecting ");
		append_set(&text, expected);
		end_message(syntax, syntax->index, &text);
	}
}

static void report_missing(struct syntax *syntax, uint64_t expected)
{
	struct bt_strbuf text = {0};

	if (begin_error(syntax, syntax->index)) {
		bt_strbuf_append_c(&text, "missing ");
		append_set(&text, expected);
		bt_strbuf_append_c(&text, " at ");
		append_token(&text, &syntax->tokens[syntax->index]);
		end_message(syntax, syntax->index, &text);
	}
}

/** A dot and a word that is no name: upstream has a text of its own for it. */
static bool is_word_behind_dot(struct bt_str text, struct bt_str *out_word)
{
	*out_word = bt_str_sub(text, 1, text.length);
	return text.length > 1 && bt_str_has_word(BT_STR("true false null in"), *out_word);
}

/** The rule fails at the token so far ahead, which decides between alternatives from here. */
static void fail_without_alternative(struct syntax *syntax, uint32_t distance, uint32_t line)
{
	uint32_t rest = syntax->count - 1 - syntax->index;
	uint32_t last = syntax->index + (distance < rest ? distance : rest);
	struct bt_strbuf tokens = {0};
	struct bt_strbuf text = {0};
	struct bt_str word;

	syntax->has_failed = true;
	syntax->error_line = line;
	if (!begin_error(syntax, last)) {
		return;
	}
	if (ahead(syntax, 0) == BT_CEL_TOKEN_END) {
		bt_strbuf_append_c(&tokens, "<EOF>");
	} else {
		append_tokens(&tokens, syntax, syntax->index, last);
	}
	if (is_word_behind_dot(bt_strbuf_str(&tokens), &word)) {
		bt_strbuf_printf(
			&text, "mismatched input '%.*s' expecting IDENTIFIER", BT_STR_ARG(word));
	} else {
		bt_strbuf_printf(
			&text, "no viable alternative at input '%s'", bt_strbuf_c(&tokens));
	}
	end_message(syntax, last, &text);
	bt_strbuf_finish(&tokens);
}

/* --- recovery --- */

/** false: too often; nothing more is read. */
static bool count_recovery(struct syntax *syntax)
{
	if (syntax->is_over) {
		return false;
	}
	if (syntax->is_probing) {
		(void)begin_error(syntax, syntax->index);
		return false;
	}
	if (syntax->recoveries++ < RECOVERIES_MAX) {
		return true;
	}
	bt_cel_lexer_error(syntax->lexer, syntax->tokens[syntax->index].position,
		"error recovery attempt limit exceeded: %d", RECOVERIES_MAX);
	syntax->is_over = true;
	return false;
}

static uint64_t recovery_set(const struct frame *frame)
{
	uint64_t set = TOKEN(END);

	for (; frame != NULL; frame = frame->caller) {
		set |= frame->follow;
	}
	return set;
}

static void skip_to(struct syntax *syntax, uint64_t set)
{
	uint32_t limit = syntax->index + SKIPPED_MAX;

	while (!is_ahead(syntax, 0, set)) {
		if (syntax->index == limit) {
			bt_cel_issue_add(syntax->lexer->issues, 0,
				"error recovery token lookahead limit exceeded: %d", SKIPPED_MAX);
			syntax->is_over = true;
			return;
		}
		skip(syntax);
	}
}

/** The end of a rule. */
static void leave(struct syntax *syntax, const struct frame *frame)
{
	bool is_repeated = false;

	if (!syntax->has_failed) {
		return;
	}
	syntax->has_failed = false;
	if (!count_recovery(syntax)) {
		return;
	}
	if (syntax->error_index != syntax->index) {
		syntax->error_lines.count = 0;
	}
	for (uint32_t i = 0; i < syntax->error_lines.count; i++) {
		is_repeated = is_repeated || syntax->error_lines.items[i] == syntax->error_line;
	}
	if (is_repeated) {
		skip(syntax);
	}
	syntax->error_index = syntax->index;
	bt_vec_push(&syntax->error_lines, syntax->error_line);
	skip_to(syntax, recovery_set(frame));
}

/** The token here is deleted if the one behind it fits. */
static bool delete_token(struct syntax *syntax, uint64_t expected)
{
	if (!is_ahead(syntax, 1, expected)) {
		return false;
	}
	report_input(syntax, "extraneous", expected);
	skip(syntax);
	end_error(syntax);
	return true;
}

static void fail_at(struct syntax *syntax, uint64_t expected, uint32_t line)
{
	report_input(syntax, "mismatched", expected);
	syntax->has_failed = true;
	syntax->error_line = line;
}

/** Alternatives or an option begin here. false: the rule fails. */
static bool begin_block(struct syntax *syntax, uint64_t expected, uint32_t line)
{
	if (!syntax->is_recovering && !is_ahead(syntax, 0, expected) &&
		!delete_token(syntax, expected)) {
		fail_at(syntax, expected, line);
		return false;
	}
	return true;
}
#define BEGIN_BLOCK(syntax_, expected_) begin_block(syntax_, expected_, __LINE__)

/** All tokens that may follow the end of a rule. */
static uint64_t follow_of(const struct frame *frame)
{
	uint64_t set = 0;

	for (; frame != NULL; frame = frame->caller) {
		set |= frame->follow;
		if (!frame->can_end) {
			return set;
		}
	}
	return set | TOKEN(END);
}

/** One token, and what may follow it. false: the rule fails. */
static bool match(struct syntax *syntax, uint64_t expected, uint64_t next, uint32_t line)
{
	if (is_ahead(syntax, 0, expected) && !syntax->is_over) {
		accept(syntax);
		return true;
	}
	if (!count_recovery(syntax)) {
		syntax->has_failed = true;
		return false;
	}
	if (delete_token(syntax, expected)) {
		accept(syntax);
		return true;
	}
	if (is_ahead(syntax, 0, next)) {
		report_missing(syntax, expected);
		return true;
	}
	fail_at(syntax, expected, line);
	return false;
}
#define MATCH(syntax_, expected_, next_) match(syntax_, TOKEN(expected_), next_, __LINE__)

/* --- rules --- */

/** Expressions with commas between them. */
static void parse_expressions(struct syntax *syntax, const struct frame *frame)
{
	const struct frame item = {frame, TOKEN(COMMA), true};

	parse_expression(syntax, &item);
	while (ahead(syntax, 0) == BT_CEL_TOKEN_COMMA) {
		accept(syntax);
		parse_expression(syntax, &item);
	}
	leave(syntax, frame);
}

/** `(arguments)` of a call in a rule; last: what may follow within the rule. */
static void parse_call(struct syntax *syntax, const struct frame *frame, uint64_t last)
{
	accept(syntax);
	if (!BEGIN_BLOCK(syntax, EXPRESSIONS | TOKEN(CLOSE_PARENTHESIS))) {
		return;
	}
	if (is_ahead(syntax, 0, EXPRESSIONS)) {
		parse_expressions(syntax, &(struct frame){frame, TOKEN(CLOSE_PARENTHESIS), false});
	}
	(void)MATCH(syntax, CLOSE_PARENTHESIS, last | follow_of(frame));
}

static void parse_optional_expression(struct syntax *syntax, const struct frame *frame)
{
	if (BEGIN_BLOCK(syntax, OPTIONAL_EXPRESSIONS)) {
		if (ahead(syntax, 0) == BT_CEL_TOKEN_QUESTION) {
			accept(syntax);
		}
		parse_expression(syntax, &(struct frame){frame, 0, true});
	}
	leave(syntax, frame);
}

static void parse_field_name(struct syntax *syntax, const struct frame *frame)
{
	if (BEGIN_BLOCK(syntax, TOKEN(IDENTIFIER) | TOKEN(QUOTED))) {
		if (is_ahead(syntax, 0, TOKEN(IDENTIFIER) | TOKEN(QUOTED))) {
			accept(syntax);
		} else {
			fail_without_alternative(syntax, 0, __LINE__);
		}
	}
	leave(syntax, frame);
}

static void parse_optional_field(struct syntax *syntax, const struct frame *frame)
{
	if (BEGIN_BLOCK(syntax, FIELDS)) {
		if (ahead(syntax, 0) == BT_CEL_TOKEN_QUESTION) {
			accept(syntax);
		}
		parse_field_name(syntax, &(struct frame){frame, 0, true});
	}
	leave(syntax, frame);
}

/** Another element, not a comma in front of the closing bracket. */
static bool has_more(const struct syntax *syntax, uint64_t elements)
{
	return ahead(syntax, 0) == BT_CEL_TOKEN_COMMA && is_ahead(syntax, 1, elements);
}

static void parse_items(struct syntax *syntax, const struct frame *frame)
{
	const struct frame item = {frame, TOKEN(COMMA), true};

	parse_optional_expression(syntax, &item);
	while (has_more(syntax, OPTIONAL_EXPRESSIONS)) {
		accept(syntax);
		parse_optional_expression(syntax, &item);
	}
	leave(syntax, frame);
}

/** Entries of a map, or fields of a message. */
static void parse_entries(struct syntax *syntax, const struct frame *frame, bool is_map)
{
	const struct frame key = {frame, TOKEN(COLON), false};
	const struct frame value = {frame, TOKEN(COMMA), true};
	uint64_t keys = is_map ? OPTIONAL_EXPRESSIONS : FIELDS;

	for (bool has_entry = true; has_entry;) {
		if (is_map) {
			parse_optional_expression(syntax, &key);
		} else {
			parse_optional_field(syntax, &key);
		}
		if (!MATCH(syntax, COLON, EXPRESSIONS)) {
			break;
		}
		parse_expression(syntax, &value);
		has_entry = has_more(syntax, keys);
		if (has_entry) {
			accept(syntax);
		}
	}
	leave(syntax, frame);
}

/** From the opening bracket to the closing one, the optional last comma included. */
static void parse_bracketed(struct syntax *syntax, const struct frame *frame, uint64_t elements,
	enum bt_cel_token_kind close)
{
	uint64_t closing = UINT64_C(1) << close;
	const struct frame inner = {frame, TOKEN(COMMA) | closing, false};

	accept(syntax);
	if (!BEGIN_BLOCK(syntax, elements | TOKEN(COMMA) | closing)) {
		return;
	}
	if (is_ahead(syntax, 0, elements)) {
		if (close == BT_CEL_TOKEN_CLOSE_BRACKET) {
			parse_items(syntax, &inner);
		} else {
			parse_entries(syntax, &inner, elements != FIELDS);
		}
	}
	if (!BEGIN_BLOCK(syntax, TOKEN(COMMA) | closing)) {
		return;
	}
	if (ahead(syntax, 0) == BT_CEL_TOKEN_COMMA) {
		accept(syntax);
	}
	(void)match(syntax, closing, follow_of(frame), __LINE__);
}

static void parse_literal(struct syntax *syntax, const struct frame *frame)
{
	if (ahead(syntax, 0) != BT_CEL_TOKEN_MINUS) {
		accept(syntax);
	} else if (is_ahead(syntax, 1, TOKEN(INT) | TOKEN(DOUBLE))) {
		accept(syntax);
		accept(syntax);
	} else {
		fail_without_alternative(syntax, 1, __LINE__);
	}
	leave(syntax, frame);
}

/** A name, a call of a global function, or a message; the dot in front of it perhaps. */
static void parse_name(struct syntax *syntax, const struct frame *frame)
{
	uint32_t dot = ahead(syntax, 0) == BT_CEL_TOKEN_DOT ? 1 : 0;
	uint32_t end = dot + 1;

	if (ahead(syntax, dot) != BT_CEL_TOKEN_IDENTIFIER) {
		fail_without_alternative(syntax, dot, __LINE__);
		return;
	}
	while (ahead(syntax, end) == BT_CEL_TOKEN_DOT &&
		ahead(syntax, end + 1) == BT_CEL_TOKEN_IDENTIFIER) {
		end += 2;
	}
	if (ahead(syntax, end) != BT_CEL_TOKEN_OPEN_BRACE) {
		end = dot + 1;
	}
	for (uint32_t i = 0; i < end; i++) {
		accept(syntax);
	}
	if (ahead(syntax, 0) == BT_CEL_TOKEN_OPEN_BRACE) {
		parse_bracketed(syntax, frame, FIELDS, BT_CEL_TOKEN_CLOSE_BRACE);
	} else if (ahead(syntax, 0) == BT_CEL_TOKEN_OPEN_PARENTHESIS) {
		parse_call(syntax, frame, 0);
	}
}

static void parse_primary(struct syntax *syntax, const struct frame *frame)
{
	if (!BEGIN_BLOCK(syntax, MEMBERS)) {
		leave(syntax, frame);
		return;
	}
	switch ((int)ahead(syntax, 0)) {
	case BT_CEL_TOKEN_DOT:
	case BT_CEL_TOKEN_IDENTIFIER:
		parse_name(syntax, frame);
		break;
	case BT_CEL_TOKEN_OPEN_PARENTHESIS:
		accept(syntax);
		parse_expression(syntax, &(struct frame){frame, TOKEN(CLOSE_PARENTHESIS), false});
		(void)MATCH(syntax, CLOSE_PARENTHESIS, follow_of(frame));
		break;
	case BT_CEL_TOKEN_OPEN_BRACKET:
		parse_bracketed(syntax, frame, OPTIONAL_EXPRESSIONS, BT_CEL_TOKEN_CLOSE_BRACKET);
		break;
	case BT_CEL_TOKEN_OPEN_BRACE:
		parse_bracketed(syntax, frame, OPTIONAL_EXPRESSIONS, BT_CEL_TOKEN_CLOSE_BRACE);
		break;
	default:
		if (is_ahead(syntax, 0, LITERALS)) {
			parse_literal(syntax, &(struct frame){frame, 0, true});
		} else {
			fail_without_alternative(syntax, 0, __LINE__);
		}
		break;
	}
	leave(syntax, frame);
}

/** The dot stands here. */
static void parse_select(struct syntax *syntax, const struct frame *frame)
{
	bool is_name = ahead(syntax, 1) == BT_CEL_TOKEN_IDENTIFIER;

	if (!is_ahead(syntax, 1, FIELDS)) {
		fail_without_alternative(syntax, 1, __LINE__);
		return;
	}
	accept(syntax);
	if (is_name && ahead(syntax, 1) == BT_CEL_TOKEN_OPEN_PARENTHESIS) {
		accept(syntax);
		parse_call(syntax, frame, SUFFIXES);
		return;
	}
	if (ahead(syntax, 0) == BT_CEL_TOKEN_QUESTION) {
		accept(syntax);
	}
	parse_field_name(syntax, &(struct frame){frame, SUFFIXES, true});
}

static void parse_index(struct syntax *syntax, const struct frame *frame)
{
	accept(syntax);
	if (!BEGIN_BLOCK(syntax, OPTIONAL_EXPRESSIONS)) {
		return;
	}
	if (ahead(syntax, 0) == BT_CEL_TOKEN_QUESTION) {
		accept(syntax);
	}
	parse_expression(syntax, &(struct frame){frame, TOKEN(CLOSE_BRACKET), false});
	(void)MATCH(syntax, CLOSE_BRACKET, SUFFIXES | follow_of(frame));
}

static void parse_suffixes(struct syntax *syntax, const struct frame *frame)
{
	while (!syntax->has_failed && is_ahead(syntax, 0, SUFFIXES)) {
		if (ahead(syntax, 0) == BT_CEL_TOKEN_DOT) {
			parse_select(syntax, frame);
		} else {
			parse_index(syntax, frame);
		}
	}
}

static void parse_member(struct syntax *syntax, const struct frame *frame)
{
	parse_primary(syntax, &(struct frame){frame, SUFFIXES, true});
	parse_suffixes(syntax, frame);
	leave(syntax, frame);
}

/**
 * A minus and a number: a literal or the negation of one, which only the end of the member would
 * tell. What is wrong up to there is an error of this decision. false: the rule fails.
 */
static bool probe_number(struct syntax *syntax, const struct frame *frame)
{
	struct syntax probe = *syntax;

	if (syntax->is_probing || syntax->is_recovering || !is_ahead(syntax, 2, SUFFIXES)) {
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
	fail_without_alternative(syntax, probe.probe_index - syntax->index, __LINE__);
	return false;
}

/** `!` any number of times. */
static void parse_not(struct syntax *syntax, const struct frame *frame)
{
	do {
		accept(syntax);
		if (!syntax->is_recovering && !is_ahead(syntax, 0, EXPRESSIONS)) {
			report_input(syntax, "extraneous", EXPRESSIONS);
			skip_to(syntax, EXPRESSIONS | recovery_set(frame));
		}
	} while (ahead(syntax, 0) == BT_CEL_TOKEN_NOT);
	parse_member(syntax, &(struct frame){frame, 0, true});
}

/** `-` any number of times. */
static void parse_negation(struct syntax *syntax, const struct frame *frame)
{
	do {
		accept(syntax);
		if (!syntax->is_recovering && !is_ahead(syntax, 0, MEMBERS)) {
			report_input(syntax, "extraneous", MEMBERS);
			skip_to(syntax, MEMBERS | recovery_set(frame));
		}
		if (!is_ahead(syntax, 0, MEMBERS)) {
			fail_without_alternative(syntax, 0, __LINE__);
			return;
		}
		if (ahead(syntax, 0) == BT_CEL_TOKEN_MINUS && !is_ahead(syntax, 1, MEMBERS)) {
			fail_without_alternative(syntax, 1, __LINE__);
			return;
		}
	} while (ahead(syntax, 0) == BT_CEL_TOKEN_MINUS);
	parse_member(syntax, &(struct frame){frame, 0, true});
}

static void parse_unary(struct syntax *syntax, const struct frame *frame)
{
	if (!BEGIN_BLOCK(syntax, EXPRESSIONS)) {
		leave(syntax, frame);
		return;
	}
	if (ahead(syntax, 0) == BT_CEL_TOKEN_NOT) {
		parse_not(syntax, frame);
	} else if (!is_ahead(syntax, 0, MEMBERS)) {
		fail_without_alternative(syntax, 0, __LINE__);
	} else if (ahead(syntax, 0) != BT_CEL_TOKEN_MINUS) {
		parse_member(syntax, &(struct frame){frame, 0, true});
	} else if (is_ahead(syntax, 1, TOKEN(INT) | TOKEN(DOUBLE))) {
		if (probe_number(syntax, frame)) {
			parse_member(syntax, &(struct frame){frame, 0, true});
		}
	} else if (is_ahead(syntax, 1, MEMBERS)) {
		parse_negation(syntax, frame);
	} else {
		fail_without_alternative(syntax, 1, __LINE__);
	}
	leave(syntax, frame);
}

/** Operands and operators of one level, for which precedence makes no difference to errors. */
static void parse_sum(struct syntax *syntax, const struct frame *frame)
{
	const struct frame operand = {frame, PRODUCTS | SUMS, true};

	parse_unary(syntax, &operand);
	while (is_ahead(syntax, 0, PRODUCTS | SUMS)) {
		accept(syntax);
		parse_unary(syntax, &operand);
	}
}

static void parse_relation(struct syntax *syntax, const struct frame *frame)
{
	const struct frame operand = {frame, RELATIONS, true};

	parse_sum(syntax, &operand);
	while (is_ahead(syntax, 0, RELATIONS)) {
		accept(syntax);
		parse_sum(syntax, &operand);
	}
}

/** Relations with && and || between them. */
static void parse_logic(struct syntax *syntax, const struct frame *frame)
{
	const struct frame conjunction = {frame, TOKEN(OR), true};
	const struct frame relation = {&conjunction, TOKEN(AND), true};

	parse_relation(syntax, &relation);
	while (is_ahead(syntax, 0, TOKEN(AND) | TOKEN(OR))) {
		accept(syntax);
		parse_relation(syntax, &relation);
	}
}

static void parse_expression(struct syntax *syntax, const struct frame *frame)
{
	if (syntax->is_over) {
		return;
	}
	if (syntax->depth >= BT_CEL_DEPTH_MAX) {
		syntax->is_over = true; /* the strict parser complains of it */
		return;
	}
	syntax->depth++;
	parse_logic(syntax, &(struct frame){frame, TOKEN(QUESTION), true});
	if (ahead(syntax, 0) == BT_CEL_TOKEN_QUESTION) {
		accept(syntax);
		parse_logic(syntax, &(struct frame){frame, TOKEN(COLON), false});
		if (MATCH(syntax, COLON, EXPRESSIONS)) {
			parse_expression(syntax, &(struct frame){frame, 0, true});
		}
	}
	syntax->depth--;
	leave(syntax, frame);
}

void bt_cel_syntax_report(
	struct bt_cel_lexer *lexer, const struct bt_cel_token *tokens, uint32_t count)
{
	struct syntax syntax = {
		.lexer = lexer, .tokens = tokens, .count = count, .error_index = UINT32_MAX};

	parse_expression(&syntax, &(struct frame){NULL, TOKEN(END), false});
	if (!syntax.is_over) {
		(void)MATCH(&syntax, END, TOKEN(END));
	}
	bt_vec_finish(&syntax.error_lines);
}
