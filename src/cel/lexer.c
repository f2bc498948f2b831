/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/lexer.h"

#include <math.h>
#include <stdlib.h>

#include "base/strbuf.h"
#include "base/unicode.h"

#define SYNTAX_ERRORS_MAX 100

static bool is_letter(char c)
{
	return bt_is_letter(c) || c == '_';
}

bool bt_cel_lexer_is_space(char c)
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
		bt_cel_issue_add(lexer->issues, position,
			"Syntax error: More than %d syntax errors", SYNTAX_ERRORS_MAX);
		return;
	}
	va_start(arguments, format);
	bt_strbuf_vprintf(&detail, format, arguments);
	va_end(arguments);
	bt_cel_issue_add(lexer->issues, position, "Syntax error: %s", bt_strbuf_c(&detail));
	bt_strbuf_finish(&detail);
}

/** The byte at offset, or 0 after the end; no token begins with a zero byte. */
static char byte_at(const struct bt_cel_lexer *lexer, uint32_t offset)
{
	return offset < lexer->source.length ? lexer->source.data[offset] : '\0';
}

/** Advances to offset and counts code points. */
static void advance(struct bt_cel_lexer *lexer, uint32_t offset)
{
	for (; lexer->offset < offset; lexer->offset++) {
		if (!bt_unicode_is_continuation(lexer->source.data[lexer->offset])) {
			lexer->position++;
		}
	}
}

static uint32_t digits_end(const struct bt_cel_lexer *lexer, uint32_t i)
{
	while (bt_is_digit(byte_at(lexer, i))) {
		i++;
	}
	return i;
}

/** Returns the end of the exponent that begins at i; i if there is no exponent. */
static uint32_t exponent_end(const struct bt_cel_lexer *lexer, uint32_t i)
{
	uint32_t first = i;

	if (byte_at(lexer, i) != 'e' && byte_at(lexer, i) != 'E') {
		return first;
	}
	i++;
	if (byte_at(lexer, i) == '+' || byte_at(lexer, i) == '-') {
		i++;
	}
	return bt_is_digit(byte_at(lexer, i)) ? digits_end(lexer, i) : first;
}

/** Returns the end of the digits of an escape that begin at i; reads at most count digits. */
static uint32_t escape_digits_end(
	const struct bt_cel_lexer *lexer, uint32_t i, uint32_t count, bool is_octal)
{
	uint32_t end = i + count;

	while (i < end &&
		(is_octal ? byte_at(lexer, i) >= '0' && byte_at(lexer, i) <= '7'
			  : bt_hex_value(byte_at(lexer, i)) >= 0)) {
		i++;
	}
	return i;
}

/**
 * Scans an escape whose backslash is at i. true: *out_end is the end of the escape; false: *out_end
 * is the invalid character.
 */
static bool scan_escape(const struct bt_cel_lexer *lexer, uint32_t i, uint32_t *out_end)
{
	char c = byte_at(lexer, i + 1);
	uint32_t digits = c == 'x' || c == 'X' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;

	if (c >= '0' && c <= '3') {
		*out_end = escape_digits_end(lexer, i + 2, 2, true);
		return *out_end == i + 4;
	}
	if (digits != 0) {
		*out_end = escape_digits_end(lexer, i + 2, digits, false);
		return *out_end == i + 2 + digits;
	}
	if (c != '\0' && strchr("abfnrtv\\?\"'`", c) != NULL) {
		*out_end = i + 2;
		return true;
	}
	*out_end = i + 1;
	return false;
}

/**
 * Scans a text whose first character after the quote is at i. true: *out_end is the end of the
 * literal; false: *out_end is the invalid character or the end of the source.
 */
static bool scan_quoted(const struct bt_cel_lexer *lexer, uint32_t i, char quote, bool is_raw,
	bool is_triple, uint32_t *out_end)
{
	while (i < lexer->source.length) {
		char c = byte_at(lexer, i);

		if (c == quote && !is_triple) {
			*out_end = i + 1;
			return true;
		}
		if (c == quote && byte_at(lexer, i + 1) == quote &&
			byte_at(lexer, i + 2) == quote) {
			*out_end = i + 3;
			return true;
		}
		if ((!is_triple && (c == '\n' || c == '\r')) ||
			(c == '\\' && !is_raw && !scan_escape(lexer, i, &i))) {
			break;
		}
		i += c != '\\' || is_raw;
	}
	*out_end = i;
	return false;
}

/**
 * Returns the end of the string or bytes literal that begins at lexer->offset; 0: no literal begins
 * there.
 */
static uint32_t scan_string(const struct bt_cel_lexer *lexer, enum bt_cel_token_kind *out_kind)
{
	uint32_t i = lexer->offset;
	uint32_t end;
	bool is_raw = false;

	*out_kind = BT_CEL_TOKEN_STRING;
	if (byte_at(lexer, i) == 'b' || byte_at(lexer, i) == 'B') {
		*out_kind = BT_CEL_TOKEN_BYTES;
		i++;
	}
	if (byte_at(lexer, i) == 'r' || byte_at(lexer, i) == 'R') {
		is_raw = true;
		i++;
	}
	char quote = byte_at(lexer, i);
	if (quote != '"' && quote != '\'') {
		return 0;
	}
	if (byte_at(lexer, i + 1) == quote && byte_at(lexer, i + 2) == quote &&
		scan_quoted(lexer, i + 3, quote, is_raw, true, &end)) {
		return end;
	}
	return scan_quoted(lexer, i + 1, quote, is_raw, false, &end) ? end : 0;
}

static bool is_back_quoted(char c)
{
	return is_letter(c) || bt_is_digit(c) || c == '.' || c == '-' || c == '/' || c == ' ';
}

/**
 * Returns the end of the operator or bracket that begins at lexer->offset; 0: no operator or
 * bracket begins there.
 */
static uint32_t scan_sign(const struct bt_cel_lexer *lexer, enum bt_cel_token_kind *out_kind)
{
	/* Longer signs come first, because the first match counts. */
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
		if (byte_at(lexer, lexer->offset) == signs[i].sign[0] &&
			(signs[i].sign[1] == '\0' ||
				byte_at(lexer, lexer->offset + 1) == signs[i].sign[1])) {
			*out_kind = signs[i].kind;
			return lexer->offset + (uint32_t)strlen(signs[i].sign);
		}
	}
	return 0;
}

/** Returns the end of the token that begins at lexer->offset; 0: no token begins there. */
static uint32_t scan(const struct bt_cel_lexer *lexer, enum bt_cel_token_kind *out_kind)
{
	char first = byte_at(lexer, lexer->offset);
	uint32_t end;

	if (bt_is_digit(first) ||
		(first == '.' && bt_is_digit(byte_at(lexer, lexer->offset + 1)))) {
		/* A number begins here. */

		uint32_t more;

		*out_kind = BT_CEL_TOKEN_INT;
		if (byte_at(lexer, lexer->offset) == '0' &&
			byte_at(lexer, lexer->offset + 1) == 'x' &&
			bt_hex_value(byte_at(lexer, lexer->offset + 2)) >= 0) {
			end = lexer->offset + 2;
			while (bt_hex_value(byte_at(lexer, end)) >= 0) {
				end++;
			}
		} else {
			end = digits_end(lexer, lexer->offset);
			more = end;
			if (byte_at(lexer, end) == '.' && bt_is_digit(byte_at(lexer, end + 1))) {
				more = digits_end(lexer, end + 1);
			}
			more = exponent_end(lexer, more);
			if (more != end) {
				*out_kind = BT_CEL_TOKEN_DOUBLE;
				return more;
			}
		}
		if (byte_at(lexer, end) == 'u' || byte_at(lexer, end) == 'U') {
			*out_kind = BT_CEL_TOKEN_UINT;
			end++;
		}
		return end;
	}
	end = scan_string(lexer, out_kind);
	if (end != 0) {
		return end;
	}
	if (is_letter(first)) {
		static const struct {
			const char *word;
			enum bt_cel_token_kind kind;
		} words[] = {
			{"true", BT_CEL_TOKEN_TRUE},
			{"false", BT_CEL_TOKEN_FALSE},
			{"null", BT_CEL_TOKEN_NULL},
			{"in", BT_CEL_TOKEN_IN},
		};
		end = lexer->offset;

		while (is_letter(byte_at(lexer, end)) || bt_is_digit(byte_at(lexer, end))) {
			end++;
		}
		struct bt_str text = bt_str_sub(lexer->source, lexer->offset, end - lexer->offset);
		*out_kind = BT_CEL_TOKEN_IDENTIFIER;
		for (size_t i = 0; i < BT_ARRAY_LENGTH(words); i++) {
			if (bt_str_equal_c(text, words[i].word)) {
				*out_kind = words[i].kind;
			}
		}
		return end;
	}
	if (first == '`') {
		*out_kind = BT_CEL_TOKEN_QUOTED;
		/* A name in back-quotes: find its end; 0: not a valid name. */
		end = lexer->offset + 1;

		while (is_back_quoted(byte_at(lexer, end))) {
			end++;
		}
		return byte_at(lexer, end) == '`' && end != lexer->offset + 1 ? end + 1 : 0;
	}
	return scan_sign(lexer, out_kind);
}

/** Reports and skips a text that is not a token. */
static void skip_failure(struct bt_cel_lexer *lexer)
{
	uint32_t end = lexer->offset + 1;

	switch (byte_at(lexer, lexer->offset)) {
	case '=':
	case '&':
	case '|':
		break;
	case '`':
		while (is_back_quoted(byte_at(lexer, end))) {
			end++;
		}
		break;
	case '"':
	case '\'':
		(void)scan_quoted(lexer, end, byte_at(lexer, lexer->offset), false, false, &end);
		break;
	default:
		end = lexer->offset;
		break;
	}
	struct bt_strbuf text = {0};
	uint32_t rune;

	if (end < lexer->source.length) {
		end += bt_utf8_decode(lexer->source.data + end, lexer->source.length - end, &rune);
	}
	for (uint32_t i = lexer->offset; i < end; i++) {
		/* Replace zero bytes, because messages are C strings. */
		bt_strbuf_append(&text,
			byte_at(lexer, i) != '\0' ? &lexer->source.data[i] : "\xef\xbf\xbd",
			byte_at(lexer, i) != '\0' ? 1 : 3);
	}
	bt_cel_lexer_error(
		lexer, lexer->position, "token recognition error at: '%s'", bt_strbuf_c(&text));
	bt_strbuf_finish(&text);
	advance(lexer, end);
}

struct bt_cel_token bt_cel_lexer_next(struct bt_cel_lexer *lexer)
{
	struct bt_cel_token token = {.kind = BT_CEL_TOKEN_END};
	uint32_t end = 0;

	for (;;) {
		uint32_t i = lexer->offset;

		for (;;) {
			while (bt_cel_lexer_is_space(byte_at(lexer, i))) {
				i++;
			}
			if (byte_at(lexer, i) != '/' || byte_at(lexer, i + 1) != '/') {
				break;
			}
			while (i < lexer->source.length && byte_at(lexer, i) != '\n') {
				i++;
			}
		}
		advance(lexer, i);
		if (lexer->offset >= lexer->source.length || lexer->has_given_up) {
			break;
		}
		end = scan(lexer, &token.kind);
		if (end != 0) {
			break;
		}
		token.kind = BT_CEL_TOKEN_END;
		skip_failure(lexer);
	}
	token.position = lexer->position;
	if (token.kind != BT_CEL_TOKEN_END) {
		token.text = bt_str_sub(lexer->source, lexer->offset, end - lexer->offset);
		advance(lexer, end);
	}
	return token;
}

/*
 * Values of literals: range checks of numbers, escapes of strings and bytes. Spec: 12b section 5.
 */

/** Value of a digit in a base up to 16; -1: not a digit. */
static int digit_value(char c, int base)
{
	int value = bt_hex_value(c);

	return value < base ? value : -1;
}

/**
 * Parses decimal digits, or 0x followed by hexadecimal digits; the lexer has checked the syntax.
 * false: the number has more than 64 bits.
 */
static bool read_unsigned(struct bt_str digits, uint64_t *out_value)
{
	bool is_hex = digits.length > 2 && digits.data[1] == 'x';
	int base = is_hex ? 16 : 10;
	uint64_t value = 0;

	for (uint32_t i = is_hex ? 2 : 0; i < digits.length; i++) {
		if (BT_MUL_OVERFLOW(value, (uint64_t)base, &value) ||
			BT_ADD_OVERFLOW(
				value, (uint64_t)digit_value(digits.data[i], base), &value)) {
			return false;
		}
	}
	*out_value = value;
	return true;
}

/** State of decoding escapes. */
struct escape {
	const char *next;
	const char *end;
	char *out;
	bool is_bytes;
};

/** Reads exactly count digits. false: there are fewer. */
static bool take_digits(struct escape *escape, int count, int base, uint32_t *out_value)
{
	uint32_t value = 0;

	for (int i = 0; i < count; i++, escape->next++) {
		int digit = escape->next < escape->end ? digit_value(*escape->next, base) : -1;
		if (digit < 0) {
			return false;
		}
		value = value * (uint32_t)base + (uint32_t)digit;
	}
	*out_value = value;
	return true;
}

/** The character that a one-letter escape stands for; 0: there is no one-letter escape c. */
static char short_escape(char c)
{
	static const char from[] = "abfnrtv\\?\"'`";
	static const char to[] = "\a\b\f\n\r\t\v\\?\"'`";
	const char *found = c != '\0' ? strchr(from, c) : NULL;

	return found != NULL ? to[found - from] : '\0';
}

/**
 * Decodes one escape; escape->next points to the character after the backslash. false: the escape
 * is invalid.
 */
static bool take_escape(struct escape *escape)
{
	char c = escape->next < escape->end ? *escape->next : '\0';
	uint32_t value = 0;
	bool is_byte = c == 'x' || c == 'X' || (c >= '0' && c <= '3');
	bool is_right;

	if (short_escape(c) != '\0') {
		*escape->out++ = short_escape(c);
		escape->next++;
		return true;
	}
	if (c >= '0' && c <= '3') {
		is_right = take_digits(escape, 3, 8, &value);
	} else {
		escape->next++;
		is_right = is_byte ? take_digits(escape, 2, 16, &value)
			: c == 'u' ? take_digits(escape, 4, 16, &value)
			: c == 'U' ? take_digits(escape, 8, 16, &value)
				   : false;
	}
	if (!is_right || (escape->is_bytes && !is_byte) || value > 0x10ffff ||
		(value >= 0xd800 && value <= 0xdfff)) {
		return false;
	}
	if (escape->is_bytes) {
		*escape->out++ = (char)(unsigned char)value;
	} else {
		escape->out += bt_utf8_encode(value, escape->out);
	}
	return true;
}

/** The text between the quotes, and how to decode it. */
struct quoted {
	struct bt_str inner;
	bool is_raw;
	bool is_bytes;
};

/** Decodes a quoted text; false: invalid escape. */
static bool decode(struct quoted quoted, struct bt_arena *arena, struct bt_str *out_text)
{
	/* Large enough: no escape is shorter than the bytes that it stands for. */
	char *decoded = bt_arena_alloc_bytes(arena, quoted.inner.length);
	struct escape escape = {
		.next = quoted.inner.data,
		.end = quoted.inner.data + quoted.inner.length,
		.out = decoded,
		.is_bytes = quoted.is_bytes,
	};

	while (escape.next < escape.end) {
		char c = *escape.next++;
		if (c == '\\' && !quoted.is_raw) {
			if (!take_escape(&escape)) {
				return false;
			}
		} else if (c != '\r') {
			*escape.out++ = c;
		} else {
			*escape.out++ = '\n';
			escape.next += escape.next < escape.end && *escape.next == '\n' ? 1 : 0;
		}
	}
	*out_text = (struct bt_str){decoded, (uint32_t)(escape.out - decoded)};
	return true;
}

struct bt_cel_value bt_cel_literal_read(const struct bt_cel_token *token, bool is_negative,
	uint32_t position, struct bt_cel_lexer *lexer, struct bt_arena *arena)
{
	struct bt_cel_value value = {0};
	struct bt_str text = token->text;
	bool is_right = false;

	if (token->kind == BT_CEL_TOKEN_STRING || token->kind == BT_CEL_TOKEN_BYTES) {
		struct quoted quoted = {0};
		uint32_t i = 0;
		uint32_t quotes = 1;

		for (; text.data[i] != '"' && text.data[i] != '\''; i++) {
			quoted.is_raw = quoted.is_raw || (text.data[i] | 0x20) == 'r';
			quoted.is_bytes = quoted.is_bytes || (text.data[i] | 0x20) == 'b';
		}
		if (text.length - i >= 6 && text.data[i + 1] == text.data[i] &&
			text.data[i + 2] == text.data[i]) {
			quotes = 3;
		}
		quoted.inner = bt_str_sub(text, i + quotes, text.length - i - 2 * quotes);

		value = bt_cel_string(quoted.inner);
		value.kind = quoted.is_bytes ? BT_CEL_BYTES : BT_CEL_STRING;
		/* Texts without escapes and carriage returns need no decoding. */
		if (!(bt_str_find_char(quoted.inner, '\r') < 0 &&
			    (quoted.is_raw || bt_str_find_char(quoted.inner, '\\') < 0)) &&
			!decode(quoted, arena, &value.text)) {
			bt_cel_lexer_error(lexer, token->position, "invalid escape sequence");
		}
		return value;
	}
	if (token->kind == BT_CEL_TOKEN_INT) {
		value.kind = BT_CEL_INT;
		uint64_t amount = 0;
		is_right =
			read_unsigned(text, &amount) && amount <= (uint64_t)INT64_MAX + is_negative;
		value.integer = (int64_t)(is_negative ? 0 - amount : amount);
	} else if (token->kind == BT_CEL_TOKEN_UINT) {
		value.kind = BT_CEL_UINT;
		text.length--; /* without the u */
		is_right = read_unsigned(text, &value.uinteger);
	} else {
		/* the copy is zero-terminated */
		double number = strtod(bt_arena_str(arena, text).data, NULL);
		value = bt_cel_double(is_negative ? -number : number);
		is_right = !isinf(number);
	}
	if (!is_right) {
		bt_cel_issue_add(lexer->issues, position, "invalid %s literal",
			bt_cel_kind_name(value.kind));
	}
	return value;
}
