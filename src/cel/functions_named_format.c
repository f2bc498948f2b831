/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <string.h>

#include "api/label.h"
#include "api/selector.h"
#include "api/time.h"
#include "cel/function.h"
#include "cel/text.h"

/* Named formats. Spec: 12b section 9.9. */

/** Kubernetes name rules that share code. */
enum name_rule {
	NO_NAME,
	DNS1123_LABEL,
	DNS1123_SUBDOMAIN,
	DNS1035_LABEL,
};

struct format {
	struct bt_str name;
	uint32_t pattern_length; /* assumed length of the pattern; decides the units of a check */
	enum name_rule name_rule;
	bool is_prefix; /* checks the start of a name; this start may end in a hyphen */
	/** NULL, or appends an error to out for each violation. */
	void (*check)(struct bt_str text, struct bt_arena *arena, struct bt_error_list *out);
	/** NULL, or returns whether the text is valid; if not, the error is `problem`. */
	bool (*is_valid)(struct bt_str text, struct bt_arena *arena);
	const char *problem;
};

static void check_name(const struct format *format, struct bt_str text, struct bt_arena *arena,
	struct bt_error_list *out)
{
	enum name_rule rule = format->name_rule;
	bool is_subdomain = rule == DNS1123_SUBDOMAIN;

	if (format->is_prefix && text.length >= 2 && text.data[text.length - 1] == '-') {
		/* Replace the trailing "x-" by "a": a prefix may end in a hyphen. */
		text = bt_arena_printf(
			arena, "%.*sa", BT_STR_ARG(bt_str_sub(text, 0, text.length - 2)));
	}
	if (text.length > (is_subdomain ? BT_LABEL_PREFIX_MAX : BT_LABEL_NAME_MAX)) {
		bt_error_list_add(out, arena,
			is_subdomain ? BT_STR("must be no more than 253 bytes")
				     : BT_STR("must be no more than 63 bytes"));
	}
	if (!bt_label_prefix_matches(text) || (!is_subdomain && bt_str_find_char(text, '.') >= 0) ||
		(rule == DNS1035_LABEL && bt_is_digit(text.data[0]))) {
		bt_error_list_add(out, arena,
			bt_str_from(is_subdomain                ? bt_dns1123_subdomain_rule
					: rule == DNS1035_LABEL ? bt_dns1035_label_rule
								: bt_dns1123_label_rule));
	}
}

static void check_uri(struct bt_str text, struct bt_arena *arena, struct bt_error_list *out)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_cel_url url;

	if (bt_cel_url_parse(text, arena, &url, &err) != 0) {
		bt_error_list_add(
			out, arena, bt_arena_str(arena, bt_str_from(berth_error_message(&err))));
		berth_error_finish(&err);
	}
}

/** Syntax: 8, 4, 4, 4 and 12 hexadecimal digits, with an optional hyphen between two groups. */
static bool is_uuid(struct bt_str text, struct bt_arena *arena BT_UNUSED)
{
	static const uint8_t groups[] = {8, 4, 4, 4, 12};
	uint32_t at = 0;

	for (size_t i = 0; i < BT_ARRAY_LENGTH(groups); i++) {
		if (i != 0 && at < text.length && text.data[at] == '-') {
			at++;
		}
		for (uint32_t end = at + groups[i]; at < end; at++) {
			if (at >= text.length || !isxdigit((unsigned char)text.data[at])) {
				return false;
			}
		}
	}
	return at == text.length;
}

/** Syntax: groups of four characters; the last group may end in "=" or "==". */
static bool is_byte(struct bt_str text, struct bt_arena *arena BT_UNUSED)
{
	uint32_t length = text.length;
	bool is_base64 = length != 0 && length % 4 == 0;

	for (int i = 0; i < 2 && is_base64 && text.data[length - 1] == '='; i++) {
		length--;
	}
	for (uint32_t i = 0; i < length && is_base64; i++) {
		char c = text.data[i];

		is_base64 = isalnum((unsigned char)c) || c == '+' || c == '/';
	}
	return is_base64;
}

/** Parses "2006-01-02" by appending "T00:00:00Z". */
static bool is_date(struct bt_str text, struct bt_arena *arena)
{
	struct bt_time time;

	return text.length == strlen("2006-01-02") &&
		bt_time_parse(bt_arena_printf(arena, "%.*sT00:00:00Z", BT_STR_ARG(text)), &time,
			NULL) == 0;
}

/** Whether text starts like form, in which 9 stands for any digit. */
static bool starts_like(struct bt_str text, const char *form)
{
	for (uint32_t i = 0; form[i] != '\0'; i++) {
		bool is_digit = i < text.length && bt_is_digit(text.data[i]);

		if (i >= text.length || (form[i] == '9' ? !is_digit : text.data[i] != form[i])) {
			return false;
		}
	}
	return true;
}

/** Syntax: "z" or "+01:00". */
static bool is_offset(struct bt_str text)
{
	return bt_str_equal_without_case(text, BT_STR("z")) ||
		(text.length == strlen("+01:00") &&
			(starts_like(text, "+99:99") || starts_like(text, "-99:99")));
}

/**
 * Syntax: a date, "T", hours up to 23, minutes and seconds up to 59, an optional fraction (after
 * any separator character), an offset.
 */
static bool is_datetime(struct bt_str text, struct bt_arena *arena)
{
	uint32_t date_length = (uint32_t)strlen("2006-01-02");
	struct bt_str time = bt_str_sub(text, date_length + 1, text.length);
	uint32_t digits = 1;

	if (!is_date(bt_str_sub(text, 0, date_length), arena) || text.length == date_length ||
		(text.data[date_length] | 0x20) != 't') {
		return false;
	}
	if (!starts_like(time, "99:99:99") || memcmp(time.data, "23", 2) > 0 ||
		time.data[3] > '5' || time.data[6] > '5') {
		return false;
	}
	struct bt_str rest = bt_str_sub(time, 8, time.length);
	if (is_offset(rest)) {
		return true;
	}
	while (digits < rest.length && bt_is_digit(rest.data[digits])) {
		digits++;
	}
	return digits > 1 && is_offset(bt_str_sub(rest, digits, rest.length));
}

static const struct format formats[] = {
	{BT_STR_INIT("dns1123Label"), 30, .name_rule = DNS1123_LABEL},
	{BT_STR_INIT("dns1123Subdomain"), 60, .name_rule = DNS1123_SUBDOMAIN},
	{BT_STR_INIT("dns1035Label"), 30, .name_rule = DNS1035_LABEL},
	{BT_STR_INIT("qualifiedName"), 60, .check = bt_label_key_errors},
	{BT_STR_INIT("dns1123LabelPrefix"), 30, .name_rule = DNS1123_LABEL, .is_prefix = true},
	{BT_STR_INIT("dns1123SubdomainPrefix"), 60, .name_rule = DNS1123_SUBDOMAIN,
		.is_prefix = true},
	{BT_STR_INIT("dns1035LabelPrefix"), 30, .name_rule = DNS1035_LABEL, .is_prefix = true},
	{BT_STR_INIT("labelValue"), 40, .check = bt_label_value_errors},
	{BT_STR_INIT("uri"), 1000, .check = check_uri},
	{BT_STR_INIT("uuid"), 68, .is_valid = is_uuid, .problem = "does not match the UUID format"},
	{BT_STR_INIT("byte"), 84, .is_valid = is_byte, .problem = "invalid base64"},
	{BT_STR_INIT("date"), 10, .is_valid = is_date, .problem = "invalid date"},
	{BT_STR_INIT("datetime"), 84, .is_valid = is_datetime, .problem = "invalid datetime"},
};

static const struct format *find_format(struct bt_str name)
{
	uint32_t index = BT_STR_INDEX(formats, BT_ARRAY_LENGTH(formats), name, name);

	return index < BT_ARRAY_LENGTH(formats) ? &formats[index] : NULL;
}

/** format.dns1123Label() etc.: the function's name is the format's name. */
struct bt_cel_value bt_cel_fn_format_constant(const struct bt_cel_call *call)
{
	const char *name = call->overload->function + strlen("format.");

	return (struct bt_cel_value){.kind = BT_CEL_FORMAT, .text = bt_str_from(name)};
}

struct bt_cel_value bt_cel_fn_format_named(const struct bt_cel_call *call)
{
	const struct format *format = find_format(call->arguments[0].text);
	struct bt_cel_value value = {.kind = BT_CEL_FORMAT};

	if (format == NULL) {
		return (struct bt_cel_value){.kind = BT_CEL_OPTIONAL};
	}
	value.text = format->name;
	return bt_cel_optional(call->evaluation, &value);
}

/** Returns none, or optional.of([message, ...]). */
struct bt_cel_value bt_cel_fn_format_validate(const struct bt_cel_call *call)
{
	struct bt_cel_evaluation *evaluation = call->evaluation;
	const struct format *format = find_format(call->arguments[0].text);
	struct bt_cel_value *items;
	struct bt_error_list messages = {0};
	struct bt_str text = call->arguments[1].text;
	uint64_t text_units = ((uint64_t)bt_cel_text_length(text) + 1 + 9) / 10;

	if (!bt_cel_charge_work(evaluation, text.length) ||
		!bt_cel_charge(evaluation, text_units * ((format->pattern_length + 3u) / 4))) {
		return evaluation->stop;
	}
	if (format->check != NULL) {
		format->check(text, evaluation->arena, &messages);
	} else if (format->is_valid != NULL) {
		if (!format->is_valid(text, evaluation->arena)) {
			bt_error_list_add(
				&messages, evaluation->arena, bt_str_from(format->problem));
		}
	} else {
		check_name(format, text, evaluation->arena, &messages);
	}
	if (messages.count == 0) {
		return (struct bt_cel_value){.kind = BT_CEL_OPTIONAL};
	}
	items = bt_cel_alloc(evaluation, messages.count, sizeof(*items));
	if (items == NULL) {
		return evaluation->stop;
	}
	for (uint32_t i = 0; i < messages.count; i++) {
		items[i] = bt_cel_string(messages.items[i]);
	}
	struct bt_cel_value list = bt_cel_list(items, messages.count);
	return bt_cel_optional(evaluation, &list);
}
