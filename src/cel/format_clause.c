/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/format_clause.h"

#include "cel/text.h"

#define PRECISION_DEFAULT 6
#define BIT(kind_) (UINT32_C(1) << BT_CEL_##kind_)

/** What clauses can be used on. */
static const struct {
	const char *verbs;
	uint32_t kinds;
	const char *refusal;
} rules[] = {
	{"s",
		BIT(NULL) | BIT(BOOL) | BIT(INT) | BIT(UINT) | BIT(DOUBLE) | BIT(STRING) |
			BIT(BYTES) | BIT(LIST) | BIT(MAP) | BIT(DURATION) | BIT(TIMESTAMP) |
			BIT(TYPE),
		"error during formatting: string clause can only be used on strings, bools, bytes, "
		"ints, doubles, maps, lists, types, durations, and timestamps, was given "},
	{"d", BIT(INT) | BIT(UINT),
		"error during formatting: decimal clause can only be used on integers, was given "},
	{"f", BIT(DOUBLE),
		"error during formatting: fixed-point clause can only be used on doubles, was "
		"given "},
	{"e", BIT(DOUBLE),
		"error during formatting: scientific clause can only be used on doubles, was "
		"given "},
	{"b", BIT(BOOL) | BIT(INT) | BIT(UINT),
		"error during formatting: only integers and bools can be formatted as binary, was "
		"given "},
	{"o", BIT(INT) | BIT(UINT),
		"error during formatting: octal clause can only be used on integers, was given "},
	{"xX", BIT(INT) | BIT(UINT) | BIT(STRING) | BIT(BYTES),
		"error during formatting: only integers, byte buffers, and strings can be "
		"formatted as hex, was given "},
};

bool bt_cel_format_next(struct bt_str format, uint32_t *at, struct bt_str *out_text)
{
	struct bt_str rest = bt_str_sub(format, *at, format.length);
	int64_t percent = bt_str_find_char(rest, '%');
	uint32_t plain = percent < 0 ? rest.length : (uint32_t)percent;

	*out_text = bt_str_sub(rest, 0, plain);
	*at += plain;
	if (plain == 0 && rest.length != 0) {
		++*at;
		if (rest.length > 1 && rest.data[1] == '%') {
			*out_text = bt_str_sub(rest, 1, 1);
			++*at;
		}
	}
	return rest.length != 0;
}

bool bt_cel_format_parse(struct bt_cel_evaluation *evaluation, struct bt_str format, uint32_t *at,
	struct bt_cel_format_clause *out_clause, struct bt_cel_value *out_failure)
{
	int64_t precision = PRECISION_DEFAULT;
	uint32_t start = *at;

	if (start < format.length && format.data[start] == '.') {
		uint32_t end = ++start;

		while (end < format.length && format.data[end] >= '0' && format.data[end] <= '9') {
			end++;
		}
		if (!bt_str_parse_int64(bt_str_sub(format, start, end - start), &precision) ||
			precision > INT32_MAX) {
			*out_failure = bt_cel_fail(evaluation,
				"could not parse formatting clause: error while parsing "
				"precision");
			return false;
		}
		start = end;
	}
	if (start == format.length) {
		*out_failure = bt_cel_fail(
			evaluation, "could not parse formatting clause: unexpected end of string");
		return false;
	}
	if (strchr("sdfeboxX", format.data[start]) == NULL || format.data[start] == '\0') {
		*out_failure = bt_cel_fail(evaluation,
			"could not parse formatting clause: unrecognized formatting clause "
			"\"%.*s\"",
			(int)bt_cel_text_step(format, start), format.data + start);
		return false;
	}
	*out_clause = (struct bt_cel_format_clause){format.data[start], (int)precision};
	*at = start + 1;
	return true;
}

const char *bt_cel_format_refusal(char verb, enum bt_cel_kind kind)
{
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(rules); i++) {
		if (strchr(rules[i].verbs, verb) != NULL) {
			return (rules[i].kinds & UINT32_C(1) << kind) == 0 ? rules[i].refusal
									   : NULL;
		}
	}
	return NULL;
}
