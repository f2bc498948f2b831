/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "api/label.h"
#include "api/selector.h"
#include "api/time.h"
#include "cel/function.h"
#include "cel/text.h"

/* Named formats. Spec: 12b section 9.9. */

struct format {
	struct bt_str name;
	/** Adds what is wrong with the text, nothing when it is fine. */
	void (*check)(struct bt_str text, struct bt_arena *arena, struct bt_error_list *out);
	uint32_t pattern_length; /* for its cost */
};

/* --- names of DNS --- */

static void add(struct bt_error_list *list, struct bt_arena *arena, const char *message)
{
	bt_error_list_add(list, arena, bt_str_from(message));
}

static bool is_label(struct bt_str text)
{
	return bt_label_prefix_matches(text) && bt_str_find_char(text, '.') < 0;
}

static void check_dns1123_label(
	struct bt_str text, struct bt_arena *arena, struct bt_error_list *out)
{
	if (text.length > BT_LABEL_NAME_MAX) {
		add(out, arena, "must be no more than 63 bytes");
	}
	if (!is_label(text)) {
		add(out, arena, bt_dns1123_label_rule);
	}
}

static void check_dns1123_subdomain(
	struct bt_str text, struct bt_arena *arena, struct bt_error_list *out)
{
	if (text.length > BT_LABEL_PREFIX_MAX) {
		add(out, arena, "must be no more than 253 bytes");
	}
	if (!bt_label_prefix_matches(text)) {
		add(out, arena, bt_dns1123_subdomain_rule);
	}
}

static void check_dns1035_label(
	struct bt_str text, struct bt_arena *arena, struct bt_error_list *out)
{
	if (text.length > BT_LABEL_NAME_MAX) {
		add(out, arena, "must be no more than 63 bytes");
	}
	if (!is_label(text) || (text.data[0] >= '0' && text.data[0] <= '9')) {
		add(out, arena, bt_dns1035_label_rule);
	}
}

/** A prefix of a name may end in a hyphen: without "x-", with an "a" in its place. */
static struct bt_str complete(struct bt_str text, struct bt_arena *arena)
{
	if (text.length < 2 || text.data[text.length - 1] != '-') {
		return text;
	}
	return bt_arena_printf(arena, "%.*sa", BT_STR_ARG(bt_str_sub(text, 0, text.length - 2)));
}

static void check_dns1123_label_prefix(
	struct bt_str text, struct bt_arena *arena, struct bt_error_list *out)
{
	check_dns1123_label(complete(text, arena), arena, out);
}

static void check_dns1123_subdomain_prefix(
	struct bt_str text, struct bt_arena *arena, struct bt_error_list *out)
{
	check_dns1123_subdomain(complete(text, arena), arena, out);
}

static void check_dns1035_label_prefix(
	struct bt_str text, struct bt_arena *arena, struct bt_error_list *out)
{
	check_dns1035_label(complete(text, arena), arena, out);
}

/* --- others --- */

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

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/** Groups of 8, 4, 4, 4 and 12 digits, with a hyphen or nothing between them. */
static bool is_uuid(struct bt_str text)
{
	static const uint8_t groups[] = {8, 4, 4, 4, 12};
	uint32_t at = 0;

	for (size_t i = 0; i < BT_ARRAY_LENGTH(groups); i++) {
		if (i != 0 && at < text.length && text.data[at] == '-') {
			at++;
		}
		for (uint32_t end = at + groups[i]; at < end; at++) {
			if (at >= text.length || !is_hex(text.data[at])) {
				return false;
			}
		}
	}
	return at == text.length;
}

static void check_uuid(struct bt_str text, struct bt_arena *arena, struct bt_error_list *out)
{
	if (!is_uuid(text)) {
		add(out, arena, "does not match the UUID format");
	}
}

/** Groups of four characters, of which the last may end in one or two "=". */
static bool is_base64(struct bt_str text)
{
	uint32_t length = text.length;

	if (length == 0 || length % 4 != 0) {
		return false;
	}
	for (int i = 0; i < 2 && text.data[length - 1] == '='; i++) {
		length--;
	}
	for (uint32_t i = 0; i < length; i++) {
		char c = text.data[i];

		if (!(c >= 'A' && c <= 'Z') && !(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') &&
			c != '+' && c != '/') {
			return false;
		}
	}
	return true;
}

static void check_byte(struct bt_str text, struct bt_arena *arena, struct bt_error_list *out)
{
	if (!is_base64(text)) {
		add(out, arena, "invalid base64");
	}
}

/** "2006-01-02", followed by "T00:00:00Z" a time. */
static bool is_date(struct bt_str text, struct bt_arena *arena)
{
	struct bt_time time;

	return text.length == strlen("2006-01-02") &&
		bt_time_parse(bt_arena_printf(arena, "%.*sT00:00:00Z", BT_STR_ARG(text)), &time,
			NULL) == 0;
}

static void check_date(struct bt_str text, struct bt_arena *arena, struct bt_error_list *out)
{
	if (!is_date(text, arena)) {
		add(out, arena, "invalid date");
	}
}

/** Does the start of text fit? In the form 9 is a digit. */
static bool starts_like(struct bt_str text, const char *form)
{
	for (uint32_t i = 0; form[i] != '\0'; i++) {
		bool is_digit = i < text.length && text.data[i] >= '0' && text.data[i] <= '9';

		if (i >= text.length || (form[i] == '9' ? !is_digit : text.data[i] != form[i])) {
			return false;
		}
	}
	return true;
}

/** "z", "+01:00" */
static bool is_offset(struct bt_str text)
{
	return bt_str_equal_without_case(text, BT_STR("z")) ||
		(text.length == strlen("+01:00") &&
			(starts_like(text, "+99:99") || starts_like(text, "-99:99")));
}

/** Hours up to 23, the others up to 59; a fraction behind any character; an offset. */
static bool is_time_of_day(struct bt_str text)
{
	struct bt_str rest;
	uint32_t digits = 1;

	if (!starts_like(text, "99:99:99") || memcmp(text.data, "23", 2) > 0 ||
		text.data[3] > '5' || text.data[6] > '5') {
		return false;
	}
	rest = bt_str_sub(text, 8, text.length);
	if (is_offset(rest)) {
		return true;
	}
	while (digits < rest.length && rest.data[digits] >= '0' && rest.data[digits] <= '9') {
		digits++;
	}
	return digits > 1 && is_offset(bt_str_sub(rest, digits, rest.length));
}

static void check_datetime(struct bt_str text, struct bt_arena *arena, struct bt_error_list *out)
{
	uint32_t date_length = (uint32_t)strlen("2006-01-02");
	struct bt_str rest = bt_str_sub(text, date_length, text.length);

	if (!is_date(bt_str_sub(text, 0, date_length), arena) || rest.length == 0 ||
		(rest.data[0] != 'T' && rest.data[0] != 't') ||
		!is_time_of_day(bt_str_sub(rest, 1, rest.length))) {
		add(out, arena, "invalid datetime");
	}
}

/* --- the formats --- */

#define FORMATS(X) \
	X(dns1123_label, "dns1123Label", check_dns1123_label, 30) \
	X(dns1123_subdomain, "dns1123Subdomain", check_dns1123_subdomain, 60) \
	X(dns1035_label, "dns1035Label", check_dns1035_label, 30) \
	X(qualified_name, "qualifiedName", bt_label_key_errors, 60) \
	X(dns1123_label_prefix, "dns1123LabelPrefix", check_dns1123_label_prefix, 30) \
	X(dns1123_subdomain_prefix, "dns1123SubdomainPrefix", check_dns1123_subdomain_prefix, 60) \
	X(dns1035_label_prefix, "dns1035LabelPrefix", check_dns1035_label_prefix, 30) \
	X(label_value, "labelValue", bt_label_value_errors, 40) \
	X(uri, "uri", check_uri, 1000) \
	X(uuid, "uuid", check_uuid, 68) \
	X(byte, "byte", check_byte, 84) \
	X(date, "date", check_date, 10) \
	X(datetime, "datetime", check_datetime, 84)

static const struct format formats[] = {
#define ROW(code, name, check, pattern_length) {BT_STR_INIT(name), check, pattern_length},
	FORMATS(ROW)
#undef ROW
};

static const struct format *find_format(struct bt_str name)
{
	for (size_t i = 0; i < BT_ARRAY_LENGTH(formats); i++) {
		if (bt_str_equal(formats[i].name, name)) {
			return &formats[i];
		}
	}
	return NULL;
}

static struct bt_cel_value make_format(struct bt_cel_evaluation *evaluation, struct bt_str name)
{
	struct bt_cel_value result = {.kind = BT_CEL_FORMAT};

	result.text = name;
	return bt_cel_charge(evaluation, 1) ? result : evaluation->stop;
}

#define CONSTRUCTOR(code, name, check, pattern_length) \
	struct bt_cel_value bt_cel_fn_format_##code(struct bt_cel_evaluation *evaluation, \
		const struct bt_cel_value *arguments BT_UNUSED, uint32_t count BT_UNUSED, \
		struct bt_cel_regex *regex BT_UNUSED) \
	{ \
		return make_format(evaluation, BT_STR(name)); \
	}
FORMATS(CONSTRUCTOR)
#undef CONSTRUCTOR

struct bt_cel_value bt_cel_fn_format_named(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	const struct format *format = find_format(arguments[0].text);
	struct bt_cel_value result = {.kind = BT_CEL_OPTIONAL};
	struct bt_cel_value value;

	if (format == NULL) {
		return bt_cel_charge(evaluation, 1) ? result : evaluation->stop;
	}
	value = make_format(evaluation, format->name);
	return bt_cel_is_error(&value) ? value : bt_cel_optional(evaluation, &value);
}

/** optional.of([message, ...]) */
static struct bt_cel_value list_of_messages(
	struct bt_cel_evaluation *evaluation, const struct bt_error_list *messages)
{
	struct bt_cel_value list = {.kind = BT_CEL_LIST};
	struct bt_cel_value *items = bt_cel_alloc(evaluation, messages->count, sizeof(*items));

	if (items == NULL) {
		return evaluation->stop;
	}
	for (uint32_t i = 0; i < messages->count; i++) {
		items[i] = bt_cel_string(messages->items[i]);
	}
	list.list = (struct bt_cel_list){items, messages->count};
	return bt_cel_optional(evaluation, &list);
}

struct bt_cel_value bt_cel_fn_format_validate(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	const struct format *format = find_format(arguments[0].text);
	struct bt_cel_value none = {.kind = BT_CEL_OPTIONAL};
	struct bt_error_list messages = {0};
	struct bt_str text = arguments[1].text;
	uint64_t text_units = ((uint64_t)bt_cel_text_length(text) + 1 + 9) / 10;

	if (!bt_cel_charge_work(evaluation, text.length) ||
		!bt_cel_charge(evaluation, text_units * ((format->pattern_length + 3u) / 4))) {
		return evaluation->stop;
	}
	format->check(text, evaluation->arena, &messages);
	return messages.count == 0 ? none : list_of_messages(evaluation, &messages);
}
