/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "base/shortest.h"
#include "cel/function.h"
#include "cel/text.h"

#define PRECISION_DEFAULT 6
#define BIT(kind_) (UINT32_C(1) << BT_CEL_##kind_)

/** Kinds that each verb accepts, and the start of the error for other kinds. */
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

		while (end < format.length && bt_is_digit(format.data[end])) {
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

/*
 * string.format. Spec: 12b section 9.2. The output of %e, and of values within lists and maps,
 * follows the documentation of version 2 of the strings extension.
 */

/** State of a format call. */
struct printer {
	struct bt_cel_output output;
	struct bt_cel_value failure; /* the first error */
};

static bool append(struct bt_cel_output *output, const char *text)
{
	return bt_cel_output_append(output, bt_str_from(text));
}

/** Appends the buffer and empties it. */
static bool append_buffer(struct bt_cel_output *output, struct bt_strbuf *buffer)
{
	bool fits = bt_cel_output_append(output, bt_strbuf_str(buffer));

	bt_strbuf_finish(buffer);
	return fits;
}

/**
 * Appends a value of a kind that prints the same at the top level and within lists; false: another
 * kind.
 */
static bool print_plain(const struct bt_cel_value *value, struct bt_strbuf *out)
{
	switch ((int)value->kind) {
	case BT_CEL_NULL:
		bt_strbuf_append_c(out, "null");
		return true;
	case BT_CEL_TYPE:
		bt_strbuf_append_c(out, bt_cel_kind_name(value->type->kind));
		return true;
	default:
		return bt_cel_scalar_print(value, out);
	}
}

/** An entry and the text of its key; entries are sorted by these texts. */
struct printed_entry {
	struct bt_str key;
	const struct bt_cel_value *value;
};

static bool output_map(struct bt_cel_output *output, const struct bt_cel_map *map)
{
	struct printed_entry *entries =
		bt_cel_alloc(output->evaluation, map->count, sizeof(*entries));

	if (entries == NULL || !bt_cel_charge_work(output->evaluation, map->count)) {
		return false;
	}
	for (uint32_t i = 0; i < map->count; i++) {
		struct bt_cel_output key = {.evaluation = output->evaluation};

		(void)bt_cel_output_value(&key, &map->entries[i].key);
		struct bt_cel_value text = bt_cel_output_finish(&key);
		if (bt_cel_is_error(&text)) {
			return false;
		}
		entries[i] = (struct printed_entry){text.text, &map->entries[i].value};
	}
	qsort(entries, map->count, sizeof(*entries), bt_str_compare_qsort);
	if (!append(output, "{")) {
		return false;
	}
	for (uint32_t i = 0; i < map->count; i++) {
		if ((i != 0 && !append(output, ", ")) ||
			!bt_cel_output_append(output, entries[i].key) || !append(output, ":") ||
			!bt_cel_output_value(output, entries[i].value)) {
			return false;
		}
	}
	return append(output, "}");
}

bool bt_cel_output_value(struct bt_cel_output *output, const struct bt_cel_value *value)
{
	struct bt_strbuf buffer = {NULL, 0, 0};

	switch ((int)value->kind) {
	case BT_CEL_LIST:
	case BT_CEL_MAP: {
		if (!bt_cel_enter(output->evaluation)) {
			return false;
		}
		bool is_done;
		if (value->kind == BT_CEL_MAP) {
			is_done = output_map(output, value->map);
		} else {
			is_done = append(output, "[");
			for (uint32_t i = 0; is_done && i < value->list.count; i++) {
				is_done = (i == 0 || append(output, ", ")) &&
					bt_cel_output_value(output, &value->list.items[i]);
			}
			is_done = is_done && append(output, "]");
		}
		bt_cel_leave(output->evaluation);
		return is_done;
	}
	case BT_CEL_STRING:
	case BT_CEL_BYTES:
		if (!bt_cel_charge_work(output->evaluation, value->text.length)) {
			return false;
		}
		bt_strbuf_append_c(&buffer, value->kind == BT_CEL_BYTES ? "b" : "");
		bt_strbuf_append_quoted(&buffer, value->text);
		break;
	case BT_CEL_DOUBLE:
		bt_strbuf_printf(&buffer, "%.*f", PRECISION_DEFAULT, value->real);
		break;
	case BT_CEL_DURATION:
		bt_strbuf_append_c(&buffer, "duration(\"");
		bt_cel_duration_print(value->integer, &buffer);
		bt_strbuf_append_c(&buffer, "\")");
		break;
	case BT_CEL_TIMESTAMP:
		bt_strbuf_append_c(&buffer, "timestamp(\"");
		bt_cel_timestamp_print(&value->timestamp, &buffer);
		bt_strbuf_append_c(&buffer, "\")");
		break;
	default:
		if (!print_plain(value, &buffer)) {
			bt_strbuf_append_c(&buffer, bt_cel_kind_name(value->kind));
		}
		break;
	}
	return append_buffer(output, &buffer);
}

static void format_string(struct printer *printer, const struct bt_cel_value *value)
{
	struct bt_cel_output *output = &printer->output;
	struct bt_strbuf buffer = {NULL, 0, 0};
	struct bt_shortest shortest;

	switch ((int)value->kind) {
	case BT_CEL_STRING:
	case BT_CEL_BYTES:
		(void)bt_cel_output_append(output, value->text);
		return;
	case BT_CEL_LIST:
	case BT_CEL_MAP:
		(void)bt_cel_output_value(output, value);
		return;
	case BT_CEL_DOUBLE:
		if (isnan(value->real)) {
			bt_strbuf_append_c(&buffer, "NaN");
			break;
		}
		bt_strbuf_append_c(&buffer, signbit(value->real) ? "-" : "");
		if (isinf(value->real)) {
			bt_strbuf_append_c(&buffer, "Infinity");
		} else if (fpclassify(value->real) == FP_ZERO) {
			bt_strbuf_append_char(&buffer, '0');
		} else {
			bt_shortest_digits(fabs(value->real), &shortest);
			bt_shortest_append_fixed(&buffer, &shortest);
		}
		break;
	case BT_CEL_DURATION:
		bt_cel_duration_print(value->integer, &buffer);
		break;
	case BT_CEL_TIMESTAMP:
		bt_cel_timestamp_print(&value->timestamp, &buffer);
		break;
	default:
		(void)print_plain(value, &buffer);
		break;
	}
	(void)append_buffer(output, &buffer);
}

static void format_real(struct printer *printer, struct bt_cel_format_clause clause,
	const struct bt_cel_value *value)
{
	struct bt_strbuf plain = {NULL, 0, 0};
	struct bt_strbuf pretty = {NULL, 0, 0};

	if (isnan(value->real) || isinf(value->real)) {
		(void)append(&printer->output,
			isnan(value->real)        ? "NaN"
				: value->real > 0 ? "\u221e"
						  : "-\u221e");
		return;
	}
	if (!bt_cel_charge_work(printer->output.evaluation, (uint64_t)clause.precision) ||
		bt_cel_alloc(printer->output.evaluation, (uint64_t)clause.precision, 1) == NULL) {
		return;
	}
	if (clause.verb == 'f') {
		bt_strbuf_printf(&plain, "%.*f", clause.precision, value->real);
		/* Copy the number with commas between thousands. */
		const char *text = bt_strbuf_c(&plain);
		const char *point = strchr(text, '.');
		const char *end = point != NULL ? point : text + strlen(text);

		if (*text == '-') {
			bt_strbuf_append_char(&pretty, *text++);
		}
		for (const char *p = text; p < end; p++) {
			if (p != text && (end - p) % 3 == 0) {
				bt_strbuf_append_char(&pretty, ',');
			}
			bt_strbuf_append_char(&pretty, *p);
		}
		bt_strbuf_append_c(&pretty, end);
	} else {
		bt_strbuf_printf(&plain, "%.*e", clause.precision, value->real);
		/*
		 * Rewrite "2.718280e+05" as in mathematics: x 10 with a superscript exponent,
		 * between narrow spaces.
		 */
		const char *text = bt_strbuf_c(&plain);
		static const char *const raised[] = {"\u2070", "\u00b9", "\u00b2", "\u00b3",
			"\u2074", "\u2075", "\u2076", "\u2077", "\u2078", "\u2079"};
		const char *p = strchr(text, 'e');

		bt_strbuf_append(&pretty, text, (size_t)(p - text));
		bt_strbuf_append_c(&pretty, "\u202f\u00d7\u202f10");
		for (p++; *p != '\0'; p++) {
			if (*p == '-') {
				bt_strbuf_append_c(&pretty, "\u207b");
			} else if (*p != '+') {
				bt_strbuf_append_c(&pretty, raised[*p - '0']);
			}
		}
	}
	bt_strbuf_finish(&plain);
	(void)append_buffer(&printer->output, &pretty);
}

/** Appends a number in base 2^bits. */
static void append_power(struct bt_strbuf *out, const struct bt_cel_value *value, unsigned int bits,
	const char *digits)
{
	bool is_negative = value->kind == BT_CEL_INT && value->integer < 0;
	uint64_t magnitude = is_negative ? 0 - (uint64_t)value->integer : value->uinteger;
	char text[64];
	size_t start = sizeof(text);

	do {
		text[--start] = digits[magnitude & ((1u << bits) - 1)];
		magnitude >>= bits;
	} while (magnitude != 0);
	bt_strbuf_append_c(out, is_negative ? "-" : "");
	bt_strbuf_append(out, text + start, sizeof(text) - start);
}

static void format_hex(
	struct printer *printer, const struct bt_cel_value *value, const char *digits)
{
	struct bt_strbuf buffer = {NULL, 0, 0};

	if (value->kind == BT_CEL_INT || value->kind == BT_CEL_UINT) {
		append_power(&buffer, value, 4, digits);
	} else {
		if (!bt_cel_charge_work(printer->output.evaluation, value->text.length)) {
			return;
		}
		for (uint32_t i = 0; i < value->text.length; i++) {
			unsigned char byte = (unsigned char)value->text.data[i];

			bt_strbuf_append_char(&buffer, digits[byte >> 4]);
			bt_strbuf_append_char(&buffer, digits[byte & 15]);
		}
	}
	(void)append_buffer(&printer->output, &buffer);
}

static void format_clause(struct printer *printer, struct bt_cel_format_clause clause,
	const struct bt_cel_value *value)
{
	const char *refusal = bt_cel_format_refusal(clause.verb, value->kind);

	if (refusal != NULL) {
		printer->failure = bt_cel_fail(
			printer->output.evaluation, "%s%s", refusal, bt_cel_kind_name(value->kind));
		return;
	}
	switch (clause.verb) {
	case 's':
		format_string(printer, value);
		return;
	case 'f':
	case 'e':
		format_real(printer, clause, value);
		return;
	case 'x':
		format_hex(printer, value, "0123456789abcdef");
		return;
	case 'X':
		format_hex(printer, value, "0123456789ABCDEF");
		return;
	default: {
		struct bt_strbuf buffer = {NULL, 0, 0};

		if (value->kind == BT_CEL_BOOL) {
			bt_strbuf_append_c(&buffer, value->boolean ? "1" : "0");
		} else if (clause.verb == 'd') {
			(void)print_plain(value, &buffer);
		} else {
			append_power(&buffer, value, clause.verb == 'b' ? 1 : 3, "01234567");
		}
		(void)append_buffer(&printer->output, &buffer);
	}
	}
}

struct bt_cel_value bt_cel_fn_format(const struct bt_cel_call *call)
{
	struct printer printer = {.output = {.evaluation = call->evaluation}};

	/* Process the whole format; stop at the first failure. */
	struct bt_str format = call->arguments[0].text;
	struct bt_cel_evaluation *evaluation = printer.output.evaluation;
	uint32_t used = 0;
	uint32_t at = 0;
	struct bt_str text;

	while (!bt_cel_is_error(&printer.failure) && !bt_cel_is_error(&evaluation->stop) &&
		bt_cel_format_next(format, &at, &text)) {
		struct bt_cel_format_clause clause;

		if (text.length != 0) {
			(void)bt_cel_output_append(&printer.output, text);
		} else if (used >= call->arguments[1].list.count) {
			/* As upstream, report a missing value before an error in the clause. */
			printer.failure = bt_cel_fail(evaluation, "index %u out of range", used);
		} else if (bt_cel_format_parse(
				   evaluation, format, &at, &clause, &printer.failure)) {
			format_clause(&printer, clause, &call->arguments[1].list.items[used++]);
		}
	}
	struct bt_cel_value result = bt_cel_output_finish(&printer.output);
	return bt_cel_is_error(&call->evaluation->stop) ? call->evaluation->stop
		: bt_cel_is_error(&printer.failure)     ? printer.failure
							: result;
}
