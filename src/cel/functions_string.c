/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/unicode.h"
#include "base/vec.h"
#include "cel/function.h"
#include "cel/regex.h"
#include "cel/text.h"

/* Functions of strings. Spec: 12b sections 9.1 and 9.2. */

struct bt_cel_value bt_cel_fn_test_part(const struct bt_cel_call *call)
{
	enum bt_cel_variant variant = call->overload->variant;
	struct bt_str text = call->arguments[0].text;
	struct bt_str part = call->arguments[1].text;

	if (call->arguments[0].kind != BT_CEL_STRING || call->arguments[1].kind != BT_CEL_STRING) {
		return bt_cel_error(BT_STR("no such overload"));
	}
	if (variant != BT_CEL_VARIANT_CONTAINS) {
		return !bt_cel_charge_text(call->evaluation, text, 1)
			? call->evaluation->stop
			: bt_cel_bool(variant == BT_CEL_VARIANT_START
					  ? bt_str_has_prefix(text, part)
					  : bt_str_has_suffix(text, part));
	}
	if (!bt_cel_charge_work(call->evaluation, (uint64_t)text.length + part.length)) {
		return call->evaluation->stop;
	}
	uint64_t text_units = ((uint64_t)bt_cel_text_length(text) + 9) / 10;
	uint64_t part_units = ((uint64_t)bt_cel_text_length(part) + 9) / 10;
	if (!bt_cel_charge(call->evaluation, text_units * part_units)) {
		return call->evaluation->stop;
	}
	return bt_cel_bool(bt_str_find(text, part) >= 0);
}

struct bt_cel_value bt_cel_fn_size(const struct bt_cel_call *call)
{
	switch ((int)call->arguments[0].kind) {
	case BT_CEL_STRING:
		if (!bt_cel_charge_work(call->evaluation, call->arguments[0].text.length)) {
			return call->evaluation->stop;
		}
		return bt_cel_int(bt_cel_text_length(call->arguments[0].text));
	case BT_CEL_BYTES:
		return bt_cel_int(call->arguments[0].text.length);
	case BT_CEL_LIST:
		return bt_cel_int(call->arguments[0].list.count);
	case BT_CEL_MAP:
		return bt_cel_int(call->arguments[0].map->count);
	default:
		return bt_cel_error(BT_STR("no such overload: size"));
	}
}

static struct bt_cel_value out_of_range(struct bt_cel_evaluation *evaluation, int64_t index)
{
	return bt_cel_fail(evaluation, "index out of range: %lld", (long long)index);
}

struct bt_cel_value bt_cel_fn_char_at(const struct bt_cel_call *call)
{
	struct bt_str text = call->arguments[0].text;
	int64_t index = call->arguments[1].integer;

	if (!bt_cel_charge_call(call->evaluation, text)) {
		return call->evaluation->stop;
	}
	if (index < 0 || index > bt_cel_text_length(text)) {
		return out_of_range(call->evaluation, index);
	}
	uint32_t offset = bt_cel_text_offset(text, (uint64_t)index);
	if (offset == text.length) {
		return bt_cel_string(BT_STR(""));
	}
	return bt_cel_string(bt_str_sub(text, offset, bt_cel_text_step(text, offset)));
}

struct bt_cel_value bt_cel_fn_substring(const struct bt_cel_call *call)
{
	struct bt_str text = call->arguments[0].text;
	int64_t start = call->arguments[1].integer;

	int64_t length = bt_cel_text_length(text);
	int64_t end = call->count > 2 ? call->arguments[2].integer : length;
	if (call->count > 2 && start > end) {
		return bt_cel_fail(call->evaluation,
			"invalid substring range. start: %lld, end: %lld", (long long)start,
			(long long)end);
	}
	if (start < 0 || start > length) {
		return out_of_range(call->evaluation, start);
	}
	if (end < 0 || end > length) {
		return out_of_range(call->evaluation, end);
	}
	uint32_t from = bt_cel_text_offset(text, (uint64_t)start);
	uint32_t to = bt_cel_text_offset(text, (uint64_t)end);
	return bt_cel_string(bt_str_sub(text, from, to - from));
}

struct bt_cel_value bt_cel_fn_string_index_of(const struct bt_cel_call *call)
{
	struct bt_cel_evaluation *evaluation = call->evaluation;
	struct bt_str text = call->arguments[0].text;
	struct bt_str part = call->arguments[1].text;
	bool is_last = call->overload->variant == BT_CEL_VARIANT_LAST;
	int64_t found = -1;
	uint32_t offset = 0;

	if (!bt_cel_charge_search(evaluation, text, part) ||
		!bt_cel_charge(evaluation, bt_cel_text_length(text) / 10)) {
		return evaluation->stop;
	}
	int64_t length = bt_cel_text_length(text);
	int64_t from = call->count > 2 ? call->arguments[2].integer : is_last ? length : 0;
	if (part.length == 0) {
		return bt_cel_int(from);
	}
	if (from < 0) {
		return out_of_range(evaluation, from);
	}
	if (from >= length && (!is_last || call->count > 2)) {
		return bt_cel_int(-1);
	}
	if (!is_last) {
		offset = bt_cel_text_offset(text, (uint64_t)from);
		found = bt_str_find(bt_str_sub(text, offset, text.length), part);
		if (found >= 0) {
			found = from +
				bt_cel_text_length(bt_str_sub(text, offset, (uint32_t)found));
		}
		return bt_cel_int(found);
	}
	/* Find the last match that starts at or before `from`. */
	for (int64_t index = 0; index <= from && text.length - offset >= part.length; index++) {
		if (memcmp(text.data + offset, part.data, part.length) == 0) {
			found = index;
		}
		offset += bt_cel_text_step(text, offset);
	}
	return bt_cel_int(found);
}

struct bt_cel_value bt_cel_fn_change_case(const struct bt_cel_call *call)
{
	struct bt_str text = call->arguments[0].text;
	char first = call->overload->variant == BT_CEL_VARIANT_LOWER ? 'A' : 'a';
	char *bytes = bt_cel_alloc(call->evaluation, text.length, 1);

	if (bytes == NULL) {
		return call->evaluation->stop;
	}
	for (uint32_t i = 0; i < text.length; i++) {
		char c = text.data[i];

		/* Upper and lower case of an ASCII letter differ in one bit. */
		bytes[i] = c >= first && c <= first + ('z' - 'a') ? (char)(c ^ ('a' - 'A')) : c;
	}
	return bt_cel_string((struct bt_str){bytes, text.length});
}

struct bt_cel_value bt_cel_fn_trim(const struct bt_cel_call *call)
{
	struct bt_str text = call->arguments[0].text;
	uint32_t start = text.length;
	uint32_t end = 0;

	for (uint32_t i = 0; i < text.length;) {
		uint32_t rune = UINT32_MAX;
		uint32_t size = bt_utf8_decode(text.data + i, text.length - i, &rune);

		size = size != 0 ? size : 1;
		/* Unicode property White_Space. */
		if (!(rune == ' ' || (rune >= '\t' && rune <= '\r') || rune == 0x85 ||
			    rune == 0xa0 || rune == 0x1680 || (rune >= 0x2000 && rune <= 0x200a) ||
			    rune == 0x2028 || rune == 0x2029 || rune == 0x202f || rune == 0x205f ||
			    rune == 0x3000)) {
			start = BT_MIN(i, start);
			end = i + size;
		}
		i += size;
	}
	return bt_cel_string(end != 0 ? bt_str_sub(text, start, end - start) : BT_STR(""));
}

/** Number of replacements, at most limit (negative: no limit). */
static uint64_t count_matches(struct bt_str text, struct bt_str part, int64_t limit)
{
	uint64_t count = 0;

	if (part.length == 0) {
		count = (uint64_t)bt_cel_text_length(text) + 1;
	} else {
		struct bt_str rest = text;

		for (int64_t at; (at = bt_str_find(rest, part)) >= 0; count++) {
			rest = bt_str_sub(rest, (uint32_t)at + part.length, rest.length);
		}
	}
	return limit >= 0 && (uint64_t)limit < count ? (uint64_t)limit : count;
}

/** Copies the text to out. Returns the position after the copy. */
static char *append(char *out, struct bt_str text)
{
	if (text.length != 0) {
		memcpy(out, text.data, text.length);
	}
	return out + text.length;
}

struct bt_cel_value bt_cel_fn_replace(const struct bt_cel_call *call)
{
	struct bt_cel_evaluation *evaluation = call->evaluation;
	struct bt_str text = call->arguments[0].text;
	struct bt_str old = call->arguments[1].text;
	struct bt_str new_text = call->arguments[2].text;
	uint32_t from = 0;

	if (!bt_cel_charge_text(evaluation, text, 2) ||
		!bt_cel_charge_search(evaluation, text, old)) {
		return evaluation->stop;
	}
	uint64_t match_count =
		count_matches(text, old, call->count > 3 ? call->arguments[3].integer : -1);
	uint64_t length = text.length + match_count * new_text.length - match_count * old.length;
	if (match_count == 0) {
		return call->arguments[0];
	}
	char *bytes = bt_cel_alloc(evaluation, length, 1);
	if (bytes == NULL) {
		return evaluation->stop;
	}
	char *out = bytes;
	for (uint64_t i = 0; i < match_count; i++) {
		uint32_t at = from;

		if (old.length != 0) {
			at += (uint32_t)bt_str_find(bt_str_sub(text, from, text.length), old);
		} else if (i != 0) {
			at += bt_cel_text_step(text, from);
		}
		out = append(out, bt_str_sub(text, from, at - from));
		out = append(out, new_text);
		from = at + old.length;
	}
	(void)append(out, bt_str_sub(text, from, text.length));
	return bt_cel_string((struct bt_str){bytes, (uint32_t)length});
}

struct bt_cel_value bt_cel_fn_split(const struct bt_cel_call *call)
{
	struct bt_cel_evaluation *evaluation = call->evaluation;
	struct bt_str text = call->arguments[0].text;
	struct bt_str separator = call->arguments[1].text;
	int64_t limit = call->count > 2 ? call->arguments[2].integer : -1;
	struct bt_cel_value *items;
	uint32_t from = 0;

	if (!bt_cel_charge_text(evaluation, text, 2) ||
		!bt_cel_charge_search(evaluation, text, separator)) {
		return evaluation->stop;
	}
	uint64_t part_count = separator.length == 0 ? bt_cel_text_length(text)
						    : count_matches(text, separator, -1) + 1;
	if (limit >= 0 && (uint64_t)limit < part_count) {
		part_count = (uint64_t)limit;
	}
	items = bt_cel_alloc(evaluation, part_count, sizeof(*items));
	if (items == NULL) {
		return evaluation->stop;
	}
	for (uint64_t i = 0; i < part_count; i++) {
		struct bt_str rest = bt_str_sub(text, from, text.length);
		uint32_t length = rest.length; /* the last part takes the whole rest */

		if (i + 1 < part_count) {
			length = separator.length == 0 ? bt_cel_text_step(rest, 0)
						       : (uint32_t)bt_str_find(rest, separator);
		}
		items[i] = bt_cel_string(bt_str_sub(rest, 0, length));
		from += length + separator.length;
	}
	return bt_cel_list(items, part_count);
}

struct bt_cel_value bt_cel_fn_join(const struct bt_cel_call *call)
{
	struct bt_cel_evaluation *evaluation = call->evaluation;
	const struct bt_cel_list *list = &call->arguments[0].list;
	struct bt_str separator = call->count > 1 ? call->arguments[1].text : BT_STR("");
	uint64_t length = 0;

	if (!bt_cel_charge_work(evaluation, list->count)) {
		return evaluation->stop;
	}
	for (uint32_t i = 0; i < list->count; i++) {
		if (list->items[i].kind != BT_CEL_STRING) {
			return bt_cel_fail_with(evaluation, BT_STR("join: invalid input: "),
				&list->items[i], BT_STR(""));
		}
		length += list->items[i].text.length + (i != 0 ? separator.length : 0);
	}
	if (!bt_cel_charge_tenths(evaluation, length, 2)) {
		return evaluation->stop;
	}
	char *bytes = bt_cel_alloc(evaluation, length, 1);
	if (bytes == NULL) {
		return evaluation->stop;
	}
	char *out = bytes;
	for (uint32_t i = 0; i < list->count; i++) {
		if (i != 0) {
			out = append(out, separator);
		}
		out = append(out, list->items[i].text);
	}
	return bt_cel_string((struct bt_str){bytes, (uint32_t)length});
}

struct bt_cel_value bt_cel_fn_quote(const struct bt_cel_call *call)
{
	struct bt_str text = call->arguments[0].text;
	uint32_t length = 0;

	char *bytes = bt_cel_alloc(call->evaluation, (uint64_t)text.length * 2 + 2, 1);
	if (bytes == NULL) {
		return call->evaluation->stop;
	}
	bytes[length++] = '"';
	for (uint32_t i = 0; i < text.length; i++) {
		static const char escaped[] = "\a\b\f\n\r\t\v\\\"";
		static const char letters[] = "abfnrtv\\\"";
		char c = text.data[i];
		const char *escape = c != '\0' ? strchr(escaped, c) : NULL;

		if (escape != NULL) {
			bytes[length++] = '\\';
			c = letters[escape - escaped];
		}
		bytes[length++] = c;
	}
	bytes[length++] = '"';
	return bt_cel_string((struct bt_str){bytes, length});
}

/** Escapes a name for a JSON Patch path (RFC 6901). */
struct bt_cel_value bt_cel_fn_escape_key(const struct bt_cel_call *call)
{
	struct bt_str text = call->arguments[0].text;
	uint32_t length = 0;
	char *bytes = bt_cel_alloc(call->evaluation, (uint64_t)text.length * 2, 1);

	if (bytes == NULL) {
		return call->evaluation->stop;
	}
	for (uint32_t i = 0; i < text.length; i++) {
		char c = text.data[i];

		if (c == '~' || c == '/') {
			bytes[length++] = '~';
			c = c == '~' ? '0' : '1';
		}
		bytes[length++] = c;
	}
	return bt_cel_string((struct bt_str){bytes, length});
}

/* Regular expressions. Spec: 12b sections 9.1, 9.6 and 13. */

/** Units of work to compile one pattern instruction. Handling one byte is one unit. */
#define PATTERN_WORK 64
/** Approximate number of instructions compiled before a pattern is refused as too large. */
#define REFUSED_PATTERN_SIZE 10000

/**
 * Returns the compiled pattern of the call. If the pattern is not constant, *out_made is the
 * result, too, and the caller destroys *out_made. Charges ceil((1 + length) / 10) * ceil(pattern
 * length / 4) units. NULL: *out_problem is the value to return; for an invalid pattern it has
 * `prefix` ("Illegal regex: ", or "") before the text of bt_cel_regex_compile.
 */
static const struct bt_cel_regex *begin_search(const struct bt_cel_call *call, const char *prefix,
	struct bt_cel_regex **out_made, struct bt_cel_value *out_problem)
{
	struct bt_cel_evaluation *evaluation = call->evaluation;
	struct bt_str text = call->arguments[0].text;
	struct bt_str pattern = call->arguments[1].text;
	struct bt_cel_regex *regex;
	struct berth_error err = BERTH_ERROR_INIT;

	*out_made = NULL;
	if (!bt_cel_charge_work(evaluation, (uint64_t)text.length + pattern.length) ||
		!bt_cel_charge(evaluation,
			(((uint64_t)bt_cel_text_length(text) + 1 + 9) / 10) *
				(((uint64_t)bt_cel_text_length(pattern) + 3) / 4))) {
		*out_problem = evaluation->stop;
		return NULL;
	}
	if (call->regex != NULL) {
		return call->regex;
	}
	if (!bt_cel_charge_work(evaluation, (uint64_t)pattern.length * PATTERN_WORK)) {
		*out_problem = evaluation->stop;
		return NULL;
	}
	int code = bt_cel_regex_compile(pattern, &regex, &err);
	if (code != 0) {
		bool is_over = code == BERTH_ERR_TOO_LARGE &&
			!bt_cel_charge_work(
				evaluation, (uint64_t)REFUSED_PATTERN_SIZE * PATTERN_WORK);

		*out_problem = is_over ? evaluation->stop
				       : bt_cel_fail(evaluation, "%s%s", prefix, err.message);
		berth_error_finish(&err);
		return NULL;
	}
	/* Charge by program size, because a short pattern may compile to a long program. */
	if (!bt_cel_charge_work(evaluation, (uint64_t)bt_cel_regex_size(regex) * PATTERN_WORK)) {
		bt_cel_regex_destroy(regex);
		*out_problem = evaluation->stop;
		return NULL;
	}
	*out_made = regex;
	return regex;
}

struct bt_cel_value bt_cel_fn_matches(const struct bt_cel_call *call)
{
	struct bt_cel_regex *made;
	struct bt_cel_value result;
	uint32_t start;
	uint32_t end;

	if (call->arguments[0].kind != BT_CEL_STRING) {
		return bt_cel_error(call->regex != NULL ? BT_STR("no such overload")
							: BT_STR("no such overload: matches"));
	}
	if (call->arguments[1].kind != BT_CEL_STRING) {
		return bt_cel_error(BT_STR("no such overload"));
	}
	const struct bt_cel_regex *regex = begin_search(call, "", &made, &result);
	if (regex == NULL) {
		return result;
	}
	result = bt_cel_bool(
		bt_cel_search(call->evaluation, regex, call->arguments[0].text, 0, &start, &end));
	bt_cel_regex_destroy(made);
	return bt_cel_is_error(&call->evaluation->stop) ? call->evaluation->stop : result;
}

struct bt_cel_value bt_cel_fn_find(const struct bt_cel_call *call)
{
	struct bt_str text = call->arguments[0].text;
	struct bt_cel_value result = bt_cel_string(BT_STR(""));
	struct bt_cel_regex *made;
	const struct bt_cel_regex *regex = begin_search(call, "Illegal regex: ", &made, &result);
	uint32_t start;
	uint32_t end;

	if (regex == NULL) {
		return result;
	}
	if (bt_cel_search(call->evaluation, regex, text, 0, &start, &end)) {
		result = bt_cel_string(bt_str_sub(text, start, end - start));
	}
	bt_cel_regex_destroy(made);
	return bt_cel_is_error(&call->evaluation->stop) ? call->evaluation->stop : result;
}

struct bt_cel_value bt_cel_fn_find_all(const struct bt_cel_call *call)
{
	struct bt_cel_evaluation *evaluation = call->evaluation;
	struct bt_str text = call->arguments[0].text;
	uint64_t limit = call->count > 2 && call->arguments[2].integer >= 0
		? (uint64_t)call->arguments[2].integer
		: UINT64_MAX;
	struct bt_cel_value result = {.kind = BT_CEL_LIST};
	BT_VEC(struct bt_cel_value) matches = {NULL, 0, 0};
	struct bt_cel_regex *made;
	const struct bt_cel_regex *regex = begin_search(call, "Illegal regex: ", &made, &result);
	struct bt_cel_value *items;
	int64_t previous_end = -1;
	uint32_t from = 0;
	uint32_t start;
	uint32_t end;

	if (regex == NULL) {
		return result;
	}
	/* As Go's FindAllString: skip an empty match directly after the previous match. */
	while (matches.count < limit && from <= text.length &&
		bt_cel_search(evaluation, regex, text, from, &start, &end)) {
		if (end > start || start != previous_end) {
			bt_vec_push(&matches, bt_cel_string(bt_str_sub(text, start, end - start)));
		}
		previous_end = end;
		if (end > from) {
			from = end;
		} else if (end < text.length) {
			from = end + bt_cel_text_step(text, end);
		} else {
			break;
		}
	}
	bt_cel_regex_destroy(made);
	items = bt_cel_alloc(evaluation, matches.count, sizeof(*items));
	if (items != NULL && matches.count != 0) {
		memcpy(items, matches.items, matches.count * sizeof(*items));
	}
	result.list = (struct bt_cel_list){items, matches.count};
	bt_vec_finish(&matches);
	return bt_cel_is_error(&evaluation->stop) ? evaluation->stop : result;
}
