/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ANTLR 4's default error strategy (spec 12b section 5):
 *
 * - Where alternatives or options begin, and where one token is expected, an unexpected token is
 *   deleted if the next token matches (`extraneous input`).
 * - A single missing token is inserted if the current token may follow it (`missing ')' at`).
 * - Otherwise the rule fails: `mismatched input`, or `no viable alternative` where the parser reads
 *   further tokens to choose an alternative. Tokens are then skipped up to a token that may follow
 *   the rule or an enclosing rule.
 * - After an error, no further error is reported until a token matches.
 */
#include "base/unicode.h"
#include "cel/parser_private.h"

/** Upstream's limits: number of recovered errors, and tokens skipped in one recovery. */
#define RECOVERIES_MAX 30
#define SKIPPED_MAX 256
/** Longer messages are cut. Expressions that an API server accepts (10 KiB) have shorter ones. */
#define MESSAGE_BYTES_MAX 20480

/** Names of tokens in lists of expected tokens. */
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

enum bt_cel_token_kind bt_cel_syntax_ahead(const struct bt_cel_parser *parser, uint32_t distance)
{
	uint32_t last = parser->tokens.count - 1;

	if (parser->is_over || distance > last - parser->index) {
		return BT_CEL_TOKEN_END;
	}
	return parser->tokens.items[parser->index + distance].kind;
}

bool bt_cel_syntax_is_ahead(const struct bt_cel_parser *parser, uint32_t distance, uint64_t set)
{
	return (set >> bt_cel_syntax_ahead(parser, distance) & 1) != 0;
}

static void skip(struct bt_cel_parser *parser)
{
	if (bt_cel_syntax_ahead(parser, 0) != BT_CEL_TOKEN_END) {
		parser->index++;
	}
}

static void end_error(struct bt_cel_parser *parser)
{
	parser->is_recovering = false;
	parser->error_lines.count = 0;
	parser->error_index = UINT32_MAX;
}

struct bt_cel_token bt_cel_syntax_take(struct bt_cel_parser *parser)
{
	struct bt_cel_token token = parser->tokens.items[parser->index];

	end_error(parser);
	skip(parser);
	return token;
}

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

/** Appends a text for use in quotes; zero bytes are replaced, because messages are C strings. */
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

/** Appends the source text from one token to another, whitespace and comments included. */
static void append_tokens(
	struct bt_strbuf *out, const struct bt_cel_parser *parser, uint32_t first, uint32_t last)
{
	const char *end = parser->tokens.items[first].text.data;

	for (uint32_t i = first; i <= last; i++) {
		struct bt_str text = parser->tokens.items[i].text;
		const char *start = parser->tokens.items[i].kind != BT_CEL_TOKEN_END
			? text.data
			: parser->lexer.source.data + parser->lexer.source.length;

		/*
		 * Text between tokens: whitespace and comments, without invalid characters, which
		 * are reported separately.
		 */
		struct bt_str gap = (struct bt_str){end, (uint32_t)(start - end)};
		for (uint32_t k = 0; k < gap.length; k++) {
			if (gap.data[k] == '/' && k + 1 < gap.length && gap.data[k + 1] == '/') {
				struct bt_str rest = bt_str_sub(gap, k, gap.length);
				struct bt_str comment = bt_str_cut(&rest, '\n');

				append_escaped(out, comment);
				k += comment.length - 1;
			} else if (bt_cel_lexer_is_space(gap.data[k])) {
				append_escaped(out, bt_str_sub(gap, k, 1));
			}
		}
		append_escaped(out, text);
		end = start + text.length;
	}
}

/** Begins an error at a token. false: the caller must not report the error. */
static bool begin_error(struct bt_cel_parser *parser, uint32_t index)
{
	if (parser->is_over || parser->is_recovering) {
		return false;
	}
	if (parser->is_probing) {
		parser->probe_index = index;
		parser->is_over = true;
		return false;
	}
	parser->is_recovering = true;
	return true;
}

static void end_message(struct bt_cel_parser *parser, uint32_t index, struct bt_strbuf *text)
{
	struct bt_str message = bt_strbuf_str(text);

	if (message.length > MESSAGE_BYTES_MAX) {
		message.length = bt_utf8_cut(message.data, MESSAGE_BYTES_MAX);
	}
	bt_cel_lexer_error(
		&parser->lexer, parser->tokens.items[index].position, "%.*s", BT_STR_ARG(message));
	bt_strbuf_finish(text);
	parser->is_over = parser->lexer.has_given_up;
}

/** Reports "<what> input '<token>' expecting <set>". */
static void report_input(struct bt_cel_parser *parser, const char *what, uint64_t expected)
{
	struct bt_strbuf text = {0};

	if (begin_error(parser, parser->index)) {
		bt_strbuf_printf(&text, "%s input ", what);
		append_token(&text, &parser->tokens.items[parser->index]);
		bt_strbuf_append_c(&text, " expecting ");
		append_set(&text, expected);
		end_message(parser, parser->index, &text);
	}
}

/** Ends the run that builds the tree, because the tokens do not match the grammar. */
static void refuse(struct bt_cel_parser *parser)
{
	parser->is_refused = parser->is_refused || !parser->is_over;
	parser->is_over = true;
}

void bt_cel_syntax_fail(struct bt_cel_parser *parser, uint32_t distance, uint32_t line)
{
	uint32_t rest = parser->tokens.count - 1 - parser->index;
	uint32_t last = parser->index + BT_MIN(distance, rest);
	struct bt_strbuf tokens = {0};
	struct bt_strbuf text = {0};
	struct bt_str word;

	if (!parser->is_reporting) {
		refuse(parser);
		return;
	}
	parser->has_failed = true;
	parser->error_line = line;
	if (!begin_error(parser, last)) {
		return;
	}
	if (bt_cel_syntax_ahead(parser, 0) == BT_CEL_TOKEN_END) {
		bt_strbuf_append_c(&tokens, "<EOF>");
	} else {
		append_tokens(&tokens, parser, parser->index, last);
	}
	/* Upstream has a special message for a dot followed by a word that is not a name. */
	word = bt_str_sub(bt_strbuf_str(&tokens), 1, BT_STR_MAX);
	if (word.length != 0 && bt_str_has_word(BT_STR("true false null in"), word)) {
		bt_strbuf_printf(
			&text, "mismatched input '%.*s' expecting IDENTIFIER", BT_STR_ARG(word));
	} else {
		bt_strbuf_printf(
			&text, "no viable alternative at input '%s'", bt_strbuf_c(&tokens));
	}
	end_message(parser, last, &text);
	bt_strbuf_finish(&tokens);
}

/**
 * Counts a recovery. false: parsing stops, because there are too many recoveries or the parser is
 * probing.
 */
static bool count_recovery(struct bt_cel_parser *parser)
{
	if (parser->is_over) {
		return false;
	}
	if (parser->is_probing) {
		(void)begin_error(parser, parser->index);
		return false;
	}
	if (parser->recoveries++ < RECOVERIES_MAX) {
		return true;
	}
	bt_cel_lexer_error(&parser->lexer, parser->tokens.items[parser->index].position,
		"error recovery attempt limit exceeded: %d", RECOVERIES_MAX);
	parser->is_over = true;
	return false;
}

static uint64_t recovery_set(const struct bt_cel_syntax_frame *frame)
{
	uint64_t set = BT_CEL_TOKEN_BIT(END);

	for (; frame != NULL; frame = frame->caller) {
		set |= frame->follow;
	}
	return set;
}

static void skip_to(struct bt_cel_parser *parser, uint64_t set)
{
	uint32_t limit = parser->index + SKIPPED_MAX;

	while (!bt_cel_syntax_is_ahead(parser, 0, set)) {
		if (parser->index == limit) {
			bt_cel_issue_add(parser->lexer.issues, BT_CEL_NOWHERE,
				"error recovery token lookahead limit exceeded: %d", SKIPPED_MAX);
			parser->is_over = true;
			return;
		}
		skip(parser);
	}
}

void bt_cel_syntax_leave(struct bt_cel_parser *parser, const struct bt_cel_syntax_frame *frame)
{
	bool is_repeated = false;

	if (!parser->has_failed) {
		return;
	}
	parser->has_failed = false;
	if (!count_recovery(parser)) {
		return;
	}
	for (uint32_t i = 0; i < parser->error_lines.count; i++) {
		is_repeated = is_repeated || parser->error_lines.items[i] == parser->error_line;
	}
	if (is_repeated && parser->error_index == parser->index) {
		skip(parser);
	}
	parser->error_index = parser->index;
	bt_vec_push(&parser->error_lines, parser->error_line);
	skip_to(parser, recovery_set(frame));
}

/** Deletes the current token if the next token matches. */
static bool delete_token(struct bt_cel_parser *parser, uint64_t expected)
{
	if (!bt_cel_syntax_is_ahead(parser, 1, expected)) {
		return false;
	}
	report_input(parser, "extraneous", expected);
	skip(parser);
	end_error(parser);
	return true;
}

static void fail_at(struct bt_cel_parser *parser, uint64_t expected, uint32_t line)
{
	report_input(parser, "mismatched", expected);
	parser->has_failed = true;
	parser->error_line = line;
}

bool bt_cel_syntax_begin(struct bt_cel_parser *parser, uint64_t expected, uint32_t line)
{
	if (parser->is_reporting && !parser->is_recovering &&
		!bt_cel_syntax_is_ahead(parser, 0, expected) && !delete_token(parser, expected)) {
		fail_at(parser, expected, line);
		return false;
	}
	return true;
}

uint64_t bt_cel_syntax_follow(const struct bt_cel_syntax_frame *frame)
{
	uint64_t set = 0;

	for (; frame != NULL; frame = frame->caller) {
		set |= frame->follow;
		if (!frame->can_end) {
			return set;
		}
	}
	return set | BT_CEL_TOKEN_BIT(END);
}

bool bt_cel_syntax_match(
	struct bt_cel_parser *parser, uint64_t expected, uint64_t next, uint32_t line)
{
	if (bt_cel_syntax_is_ahead(parser, 0, expected) && !parser->is_over) {
		(void)bt_cel_syntax_take(parser);
		return true;
	}
	if (!parser->is_reporting) {
		refuse(parser);
		return false;
	}
	if (!count_recovery(parser)) {
		parser->has_failed = true;
		return false;
	}
	if (delete_token(parser, expected)) {
		(void)bt_cel_syntax_take(parser);
		return true;
	}
	if (bt_cel_syntax_is_ahead(parser, 0, next)) {
		struct bt_strbuf text = {0};

		if (begin_error(parser, parser->index)) {
			bt_strbuf_append_c(&text, "missing ");
			append_set(&text, expected);
			bt_strbuf_append_c(&text, " at ");
			append_token(&text, &parser->tokens.items[parser->index]);
			end_message(parser, parser->index, &text);
		}
		return true;
	}
	fail_at(parser, expected, line);
	return false;
}

void bt_cel_syntax_resume(
	struct bt_cel_parser *parser, uint64_t expected, const struct bt_cel_syntax_frame *frame)
{
	if (parser->is_reporting && !parser->is_recovering &&
		!bt_cel_syntax_is_ahead(parser, 0, expected)) {
		report_input(parser, "extraneous", expected);
		skip_to(parser, expected | recovery_set(frame));
	}
}
