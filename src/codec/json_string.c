/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/unicode.h"
#include "codec/json.h"
#include "codec/json_scan.h"

static const char replacement[3] = {'\xef', '\xbf', '\xbd'}; /* U+FFFD */

static uint32_t parse_hex4(const char *p)
{
	return (uint32_t)(bt_hex_value(p[0]) << 12 | bt_hex_value(p[1]) << 8 |
		bt_hex_value(p[2]) << 4 | bt_hex_value(p[3]));
}

/**
 * Decodes the escape "\uXXXX" at p, whose grammar was checked, and the low surrogate escape behind
 * a high surrogate. Sets *out_rune; returns the number of source bytes consumed: 6, or 12 for a
 * pair.
 */
static size_t decode_unicode_escape(const char *p, const char *end, uint32_t *out_rune)
{
	uint32_t rune = parse_hex4(p + 2);
	if (rune < 0xd800 || rune > 0xdfff) {
		*out_rune = rune;
		return 6;
	}
	if (rune < 0xdc00 && end - p >= 12 && p[6] == '\\' && p[7] == 'u') {
		uint32_t low = parse_hex4(p + 8);
		if (low >= 0xdc00 && low <= 0xdfff) {
			*out_rune = 0x10000 + ((rune - 0xd800) << 10) + (low - 0xdc00);
			return 12;
		}
	}
	/* a lone surrogate is replaced; the following bytes are decoded separately */
	*out_rune = 0xfffd;
	return 6;
}

/** Returns the byte for the escape "\<c>"; c is one of the eight short escapes. */
static char short_escape(char c)
{
	switch (c) {
	case 'b':
		return '\b';
	case 'f':
		return '\f';
	case 'n':
		return '\n';
	case 'r':
		return '\r';
	case 't':
		return '\t';
	default:
		return c;
	}
}

size_t bt_json_unescape(const char *raw, size_t length, char *out)
{
	const char *p = raw;
	const char *end = raw + length;
	size_t written = 0;
	while (p < end) {
		const char *run_end = bt_json_scan(p, end, BT_JSON_ATTENTION_HIGH);
		size_t run = (size_t)(run_end - p);
		if (out != NULL && run != 0) {
			memcpy(out + written, p, run);
		}
		written += run;
		p = run_end;
		if (p == end) {
			break;
		}
		char encoded[4];
		const char *piece = encoded;
		unsigned int piece_length;
		if (*p == '\\' && p[1] == 'u') {
			uint32_t rune;
			p += decode_unicode_escape(p, end, &rune);
			piece_length = bt_utf8_encode(rune, encoded);
		} else if (*p == '\\') {
			encoded[0] = short_escape(p[1]);
			piece_length = 1;
			p += 2;
		} else {
			uint32_t rune;
			piece_length = bt_utf8_decode(p, (size_t)(end - p), &rune);
			if (piece_length == 0) {
				piece = replacement;
				piece_length = sizeof(replacement);
				p++;
			} else {
				piece = p;
				p += piece_length;
			}
		}
		if (out != NULL) {
			memcpy(out + written, piece, piece_length);
		}
		written += piece_length;
	}
	return written;
}

/**
 * Formats a byte in single quotes as Go's messages do: the byte is taken as a Latin-1 character,
 * and escaped if the character is not printable.
 */
static void quote_byte(unsigned char c, char out[12])
{
	static const char named[] = "abtnvfr"; /* 0x07 to 0x0d */
	if (c == '\'' || c == '\\') {
		(void)snprintf(out, 12, "'\\%c'", c);
	} else if (c >= 0x07 && c <= 0x0d) {
		(void)snprintf(out, 12, "'\\%c'", named[c - 0x07]);
	} else if (c < 0x20 || c == 0x7f) {
		(void)snprintf(out, 12, "'\\x%02x'", c);
	} else if (c < 0x7f) {
		(void)snprintf(out, 12, "'%c'", c);
	} else if (c < 0xa1 || c == 0xad) {
		(void)snprintf(out, 12, "'\\u%04x'", c);
	} else {
		(void)snprintf(out, 12, "'%c%c'", 0xc0 | c >> 6, 0x80 | (c & 0x3f));
	}
}

int bt_json_fault(
	struct bt_json_reader *reader, const char *at, const char *context, struct berth_error *err)
{
	reader->position = at;
	if (at == reader->end) {
		return bt_error_set(err, BERTH_ERR_SYNTAX, "unexpected end of JSON input");
	}
	char quoted[12];
	quote_byte((unsigned char)*at, quoted);
	return bt_error_set(err, BERTH_ERR_SYNTAX, "invalid character %s %s", quoted, context);
}

const char *bt_json_scan_escape(const char *p, const char *end, struct bt_json_fault_note *fault)
{
	p++;
	if (p == end) {
		return bt_json_note(fault, p, "");
	}
	switch (*p) {
	case '"':
	case '\\':
	case '/':
	case 'b':
	case 'f':
	case 'n':
	case 'r':
	case 't':
		return p + 1;
	case 'u':
		for (int i = 1; i <= 4; i++) {
			if (p + i == end || bt_hex_value(p[i]) < 0) {
				return bt_json_note(
					fault, p + i, "in \\u hexadecimal character escape");
			}
		}
		return p + 5;
	default:
		return bt_json_note(fault, p, "in string escape code");
	}
}

const char *bt_json_scan_number(const char *p, const char *end, struct bt_json_fault_note *fault)
{
	if (*p == '-') {
		p++;
	}
	if (p == end || !bt_is_digit(*p)) {
		return bt_json_note(fault, p, "in numeric literal");
	}
	p = *p == '0' ? p + 1 : bt_skip_digits(p, end);
	if (p < end && *p == '.') {
		p++;
		if (p == end || !bt_is_digit(*p)) {
			return bt_json_note(fault, p, "after decimal point in numeric literal");
		}
		p = bt_skip_digits(p, end);
	}
	if (p < end && (*p == 'e' || *p == 'E')) {
		p++;
		if (p < end && (*p == '+' || *p == '-')) {
			p++;
		}
		if (p == end || !bt_is_digit(*p)) {
			return bt_json_note(fault, p, "in exponent of numeric literal");
		}
		p = bt_skip_digits(p, end);
	}
	return p;
}

const char *bt_json_scan_literal(const char *p, const char *end, struct bt_json_fault_note *fault)
{
	static const struct {
		char letter;
		const char *context;
	} rows[3][5] = {
		{{'n', ""}, {'u', "in literal null (expecting 'u')"},
			{'l', "in literal null (expecting 'l')"},
			{'l', "in literal null (expecting 'l')"}, {0, NULL}},
		{{'t', ""}, {'r', "in literal true (expecting 'r')"},
			{'u', "in literal true (expecting 'u')"},
			{'e', "in literal true (expecting 'e')"}, {0, NULL}},
		{{'f', ""}, {'a', "in literal false (expecting 'a')"},
			{'l', "in literal false (expecting 'l')"},
			{'s', "in literal false (expecting 's')"},
			{'e', "in literal false (expecting 'e')"}},
	};
	int row = *p == 'n' ? 0 : *p == 't' ? 1 : 2;
	for (int i = 0; i < 5 && rows[row][i].letter != 0; i++) {
		if (p == end || *p != rows[row][i].letter) {
			return bt_json_note(fault, p, rows[row][i].context);
		}
		p++;
	}
	return p;
}
