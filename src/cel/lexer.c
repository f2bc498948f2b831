/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/lexer.h"

#include "base/strbuf.h"
#include "base/unicode.h"

#define SYNTAX_ERRORS_MAX 100

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_hex_digit(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f';
}

void bt_cel_lexer_error(struct bt_cel_lexer *lexer, uint32_t position, const char *format, ...)
{
	struct bt_strbuf detail = {0};
	va_list arguments;

	if (lexer->has_given_up) {
		return;
	}
	lexer->error_count++;
	if (lexer->error_count > SYNTAX_ERRORS_MAX) {
		lexer->has_given_up = true;
		bt_cel_issue_add(lexer->issues, 0, "More than %d syntax errors", SYNTAX_ERRORS_MAX);
		return;
	}
	va_start(arguments, format);
	bt_strbuf_vprintf(&detail, format, arguments);
	va_end(arguments);
	bt_cel_issue_add(lexer->issues, position, "Syntax error: %s", bt_strbuf_c(&detail));
	bt_strbuf_finish(&detail);
}

/** The byte so far ahead, or 0 behind the end; a zero byte in the text begins no token either. */
static char at(const struct bt_cel_lexer *lexer, uint32_t offset)
{
	return offset < lexer->source.length ? lexer->source.data[offset] : '\0';
}

/** Go on to offset, counting code points. */
static void advance(struct bt_cel_lexer *lexer, uint32_t offset)
{
	for (; lexer->offset < offset; lexer->offset++) {
		if (((unsigned char)lexer->source.data[lexer->offset] & 0xc0) != 0x80) {
			lexer->position++;
		}
	}
}

static void skip_space(struct bt_cel_lexer *lexer)
{
	uint32_t i = lexer->offset;

	for (;;) {
		while (is_space(at(lexer, i))) {
			i++;
		}
		if (at(lexer, i) != '/' || at(lexer, i + 1) != '/') {
			break;
		}
		while (i < lexer->source.length && at(lexer, i) != '\n') {
			i++;
		}
	}
	advance(lexer, i);
}

static uint32_t digits_end(const struct bt_cel_lexer *lexer, uint32_t i)
{
	while (is_digit(at(lexer, i))) {
		i++;
	}
	return i;
}

/** End of an exponent at i; i when there is none. */
static uint32_t exponent_end(const struct bt_cel_lexer *lexer, uint32_t i)
{
	uint32_t first = i;

	if (at(lexer, i) != 'e' && at(lexer, i) != 'E') {
		return first;
	}
	i++;
	if (at(lexer, i) == '+' || at(lexer, i) == '-') {
		i++;
	}
	return is_digit(at(lexer, i)) ? digits_end(lexer, i) : first;
}

/** A number begins here. Returns its end. */
static uint32_t scan_number(const struct bt_cel_lexer *lexer, enum bt_cel_token_kind *out_kind)
{
	uint32_t end;
	uint32_t more;

	*out_kind = BT_CEL_TOKEN_INT;
	if (at(lexer, lexer->offset) == '0' && at(lexer, lexer->offset + 1) == 'x' &&
		is_hex_digit(at(lexer, lexer->offset + 2))) {
		end = lexer->offset + 2;
		while (is_hex_digit(at(lexer, end))) {
			end++;
		}
	} else {
		end = digits_end(lexer, lexer->offset);
		more = end;
		if (at(lexer, end) == '.' && is_digit(at(lexer, end + 1))) {
			more = digits_end(lexer, end + 1);
		}
		more = exponent_end(lexer, more);
		if (more != end) {
			*out_kind = BT_CEL_TOKEN_DOUBLE;
			return more;
		}
	}
	if (at(lexer, end) == 'u' || at(lexer, end) == 'U') {
		*out_kind = BT_CEL_TOKEN_UINT;
		end++;
	}
	return end;
}

/** End of the text behind its opening quote at i; 0 when it is never closed. */
static uint32_t quoted_end(
	const struct bt_cel_lexer *lexer, uint32_t i, char quote, bool is_raw, bool is_triple)
{
	for (; i < lexer->source.length; i++) {
		char c = at(lexer, i);
		if (c == '\\' && !is_raw) {
			i++; /* a quote behind it ends nothing */
			c = at(lexer, i);
		} else if (c == quote && !is_triple) {
			return i + 1;
		} else if (c == quote && at(lexer, i + 1) == quote && at(lexer, i + 2) == quote) {
			return i + 3;
		}
		if (!is_triple && (c == '\n' || c == '\r')) {
			return 0;
		}
	}
	return 0;
}

/** End of the string or bytes literal that begins here; 0: there is none. */
static uint32_t scan_string(const struct bt_cel_lexer *lexer, enum bt_cel_token_kind *out_kind)
{
	uint32_t i = lexer->offset;
	bool is_raw = false;
	char quote;

	*out_kind = BT_CEL_TOKEN_STRING;
	if (at(lexer, i) == 'b' || at(lexer, i) == 'B') {
		*out_kind = BT_CEL_TOKEN_BYTES;
		i++;
	}
	if (at(lexer, i) == 'r' || at(lexer, i) == 'R') {
		is_raw = true;
		i++;
	}
	quote = at(lexer, i);
	if (quote != '"' && quote != '\'') {
		return 0;
	}
	if (at(lexer, i + 1) == quote && at(lexer, i + 2) == quote) {
		uint32_t end = quoted_end(lexer, i + 3, quote, is_raw, true);
		if (end != 0) {
			return end;
		}
	}
	return quoted_end(lexer, i + 1, quote, is_raw, false);
}

static uint32_t scan_word(const struct bt_cel_lexer *lexer, enum bt_cel_token_kind *out_kind)
{
	static const struct {
		const char *word;
		enum bt_cel_token_kind kind;
	} words[] = {
		{"true", BT_CEL_TOKEN_TRUE},
		{"false", BT_CEL_TOKEN_FALSE},
		{"null", BT_CEL_TOKEN_NULL},
		{"in", BT_CEL_TOKEN_IN},
	};
	uint32_t end = lexer->offset;
	struct bt_str text;

	while (is_letter(at(lexer, end)) || is_digit(at(lexer, end))) {
		end++;
	}
	text = bt_str_sub(lexer->source, lexer->offset, end - lexer->offset);
	*out_kind = BT_CEL_TOKEN_IDENTIFIER;
	for (size_t i = 0; i < BT_ARRAY_LENGTH(words); i++) {
		if (bt_str_equal_c(text, words[i].word)) {
			*out_kind = words[i].kind;
		}
	}
	return end;
}

/** End of a name in back-quotes; 0: it is none. */
static uint32_t scan_back_quoted(const struct bt_cel_lexer *lexer)
{
	uint32_t end = lexer->offset + 1;
	char c = at(lexer, end);

	while (is_letter(c) || is_digit(c) || c == '.' || c == '-' || c == '/' || c == ' ') {
		c = at(lexer, ++end);
	}
	return c == '`' && end != lexer->offset + 1 ? end + 1 : 0;
}

/** End of an operator or bracket; 0: there is none. */
static uint32_t scan_sign(const struct bt_cel_lexer *lexer, enum bt_cel_token_kind *out_kind)
{
	/* The longer ones first. */
	static const struct {
		char sign[3];
		enum bt_cel_token_kind kind;
	} signs[] = {
		{"||", BT_CEL_TOKEN_OR},
		{"&&", BT_CEL_TOKEN_AND},
		{"==", BT_CEL_TOKEN_EQUAL},
		{"!=", BT_CEL_TOKEN_NOT_EQUAL},
		{"<=", BT_CEL_TOKEN_LESS_EQUAL},
		{">=", BT_CEL_TOKEN_GREATER_EQUAL},
		{"<", BT_CEL_TOKEN_LESS},
		{">", BT_CEL_TOKEN_GREATER},
		{"+", BT_CEL_TOKEN_PLUS},
		{"-", BT_CEL_TOKEN_MINUS},
		{"*", BT_CEL_TOKEN_STAR},
		{"/", BT_CEL_TOKEN_SLASH},
		{"%", BT_CEL_TOKEN_PERCENT},
		{"!", BT_CEL_TOKEN_NOT},
		{"?", BT_CEL_TOKEN_QUESTION},
		{":", BT_CEL_TOKEN_COLON},
		{".", BT_CEL_TOKEN_DOT},
		{",", BT_CEL_TOKEN_COMMA},
		{"(", BT_CEL_TOKEN_OPEN_PARENTHESIS},
		{")", BT_CEL_TOKEN_CLOSE_PARENTHESIS},
		{"[", BT_CEL_TOKEN_OPEN_BRACKET},
		{"]", BT_CEL_TOKEN_CLOSE_BRACKET},
		{"{", BT_CEL_TOKEN_OPEN_BRACE},
		{"}", BT_CEL_TOKEN_CLOSE_BRACE},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(signs); i++) {
		if (at(lexer, lexer->offset) == signs[i].sign[0] &&
			(signs[i].sign[1] == '\0' ||
				at(lexer, lexer->offset + 1) == signs[i].sign[1])) {
			*out_kind = signs[i].kind;
			return lexer->offset + (uint32_t)strlen(signs[i].sign);
		}
	}
	return 0;
}

/** End of the token that begins here; 0: none does. */
static uint32_t scan(const struct bt_cel_lexer *lexer, enum bt_cel_token_kind *out_kind)
{
	char first = at(lexer, lexer->offset);
	uint32_t end;

	if (is_digit(first) || (first == '.' && is_digit(at(lexer, lexer->offset + 1)))) {
		return scan_number(lexer, out_kind);
	}
	end = scan_string(lexer, out_kind);
	if (end != 0) {
		return end;
	}
	if (is_letter(first)) {
		return scan_word(lexer, out_kind);
	}
	if (first == '`') {
		*out_kind = BT_CEL_TOKEN_QUOTED;
		return scan_back_quoted(lexer);
	}
	return scan_sign(lexer, out_kind);
}

/** Complain of the character here, and pass over it. */
static void skip_character(struct bt_cel_lexer *lexer)
{
	uint32_t rune = 0;
	const char *here = lexer->source.data + lexer->offset;
	uint32_t length = bt_utf8_decode(here, lexer->source.length - lexer->offset, &rune);

	if (bt_unicode_is_print(rune)) {
		bt_cel_lexer_error(
			lexer, lexer->position, "unexpected character '%.*s'", (int)length, here);
	} else {
		bt_cel_lexer_error(lexer, lexer->position, "unexpected character U+%04X", rune);
	}
	advance(lexer, lexer->offset + length);
}

struct bt_cel_token bt_cel_lexer_next(struct bt_cel_lexer *lexer)
{
	struct bt_cel_token token = {.kind = BT_CEL_TOKEN_END};
	uint32_t end = 0;

	for (;;) {
		skip_space(lexer);
		if (lexer->offset >= lexer->source.length || lexer->has_given_up) {
			break;
		}
		end = scan(lexer, &token.kind);
		if (end != 0) {
			break;
		}
		token.kind = BT_CEL_TOKEN_END;
		skip_character(lexer);
	}
	token.position = lexer->position;
	if (token.kind != BT_CEL_TOKEN_END) {
		token.text = bt_str_sub(lexer->source, lexer->offset, end - lexer->offset);
		advance(lexer, end);
	}
	return token;
}
