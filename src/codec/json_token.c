/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/json_scan.h"

#include <stdio.h>

#include "codec/json.h"

/**
 * Formats a byte in single quotes as Go's messages do: as a Latin-1 character, escaped unless
 * printable.
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

static const char *scan_digits(const char *p, const char *end)
{
	while (p < end && bt_is_digit(*p)) {
		p++;
	}
	return p;
}

const char *bt_json_scan_number(const char *p, const char *end, struct bt_json_fault_note *fault)
{
	if (*p == '-') {
		p++;
	}
	if (p == end || !bt_is_digit(*p)) {
		return bt_json_note(fault, p, "in numeric literal");
	}
	p = *p == '0' ? p + 1 : scan_digits(p, end);
	if (p < end && *p == '.') {
		p++;
		if (p == end || !bt_is_digit(*p)) {
			return bt_json_note(fault, p, "after decimal point in numeric literal");
		}
		p = scan_digits(p, end);
	}
	if (p < end && (*p == 'e' || *p == 'E')) {
		p++;
		if (p < end && (*p == '+' || *p == '-')) {
			p++;
		}
		if (p == end || !bt_is_digit(*p)) {
			return bt_json_note(fault, p, "in exponent of numeric literal");
		}
		p = scan_digits(p, end);
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
