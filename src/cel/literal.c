/* SPDX-License-Identifier: Apache-2.0 */
/* Values of literals: numbers in range, escapes of strings and bytes. Spec: 12b section 5. */
#include <math.h>
#include <stdlib.h>

#include "base/unicode.h"
#include "cel/lexer.h"

/** -1 unless c is a digit of base, which is at most 16. */
static int digit_value(char c, int base)
{
	int value = -1;

	if (c >= '0' && c <= '9') {
		value = c - '0';
	} else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') {
		value = (c | 0x20) - 'a' + 10;
	}
	return value < base ? value : -1;
}

/** Digits, or 0x and hexadecimal digits, which the lexer saw. false: more than 64 bits. */
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

static bool read_int(struct bt_str digits, bool is_negative, int64_t *out_value)
{
	const uint64_t limit = (uint64_t)INT64_MAX + (is_negative ? 1 : 0);
	uint64_t amount;

	if (!read_unsigned(digits, &amount) || amount > limit) {
		return false;
	}
	if (!is_negative) {
		*out_value = (int64_t)amount;
	} else {
		*out_value = amount == limit ? INT64_MIN : -(int64_t)amount;
	}
	return true;
}

static bool read_double(
	struct bt_str text, bool is_negative, struct bt_arena *arena, double *out_value)
{
	struct bt_str copy = bt_arena_str(arena, text); /* ends with a zero */
	double value = strtod(copy.data, NULL);

	*out_value = is_negative ? -value : value;
	return !isinf(value);
}

/** An escape, read piece by piece. */
struct escape {
	const char *next;
	const char *end;
	char *out;
	bool is_bytes;
};

/** The value of so many digits, which are taken; false: they are not there. */
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

/** The character that stands behind a backslash and stands for another one; 0: none. */
static char short_escape(char c)
{
	static const char from[] = "abfnrtv\\?\"'`";
	static const char to[] = "\a\b\f\n\r\t\v\\?\"'`";
	const char *found = c != '\0' ? strchr(from, c) : NULL;

	return found != NULL ? to[found - from] : '\0';
}

/** One escape, next standing behind its backslash. false: it is none. */
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

/** What stands between the quotes, and how to read it. */
struct quoted {
	struct bt_str inner;
	bool is_raw;
	bool is_bytes;
};

static struct quoted unquote(struct bt_str text)
{
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
	return quoted;
}

/** false: a wrong escape. */
static bool decode(struct quoted quoted, struct bt_arena *arena, struct bt_str *out_text)
{
	/* No escape is shorter than what it stands for. */
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
	struct bt_str digits = token->text;
	bool is_right = false;

	if (token->kind == BT_CEL_TOKEN_STRING || token->kind == BT_CEL_TOKEN_BYTES) {
		struct quoted quoted = unquote(token->text);
		value = bt_cel_string(quoted.inner);

		value.kind = quoted.is_bytes ? BT_CEL_BYTES : BT_CEL_STRING;
		/* Nothing in it stands for something else. */
		if (!(bt_str_find_char(quoted.inner, '\r') < 0 &&
			    (quoted.is_raw || bt_str_find_char(quoted.inner, '\\') < 0)) &&
			!decode(quoted, arena, &value.text)) {
			bt_cel_lexer_error(lexer, token->position, "invalid escape sequence");
		}
		return value;
	}
	if (token->kind == BT_CEL_TOKEN_INT) {
		value.kind = BT_CEL_INT;
		is_right = read_int(digits, is_negative, &value.integer);
	} else if (token->kind == BT_CEL_TOKEN_UINT) {
		value.kind = BT_CEL_UINT;
		digits.length--; /* the u */
		is_right = read_unsigned(digits, &value.uinteger);
	} else {
		value.kind = BT_CEL_DOUBLE;
		is_right = read_double(digits, is_negative, arena, &value.real);
	}
	if (!is_right) {
		bt_cel_issue_add(lexer->issues, position, "invalid %s literal",
			bt_cel_kind_name(value.kind));
	}
	return value;
}
