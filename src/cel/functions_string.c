/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/unicode.h"
#include "base/vec.h"
#include "cel/function.h"
#include "cel/regex.h"
#include "cel/text.h"

/* Functions of strings. Spec: 12b sections 9.1 and 9.2. */

/* --- startsWith, endsWith, contains, size --- */

/** These look at the kinds of their arguments themselves (spec 12b section 8.9). */
static bool are_strings(const struct bt_cel_value *arguments)
{
	return arguments[0].kind == BT_CEL_STRING && arguments[1].kind == BT_CEL_STRING;
}

static struct bt_cel_value test_end(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, bool (*has)(struct bt_str text, struct bt_str part))
{
	if (!are_strings(arguments)) {
		return bt_cel_error(BT_STR("no such overload"));
	}
	if (!bt_cel_charge_text(evaluation, arguments[0].text, 1)) {
		return evaluation->stop;
	}
	return bt_cel_bool(has(arguments[0].text, arguments[1].text));
}

struct bt_cel_value bt_cel_fn_starts_with(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	return test_end(evaluation, arguments, bt_str_has_prefix);
}

struct bt_cel_value bt_cel_fn_ends_with(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	return test_end(evaluation, arguments, bt_str_has_suffix);
}

struct bt_cel_value bt_cel_fn_contains(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	uint64_t text_units;
	uint64_t part_units;

	if (!are_strings(arguments)) {
		return bt_cel_error(BT_STR("no such overload"));
	}
	if (!bt_cel_charge_work(
		    evaluation, (uint64_t)arguments[0].text.length + arguments[1].text.length)) {
		return evaluation->stop;
	}
	text_units = ((uint64_t)bt_cel_text_length(arguments[0].text) + 9) / 10;
	part_units = ((uint64_t)bt_cel_text_length(arguments[1].text) + 9) / 10;
	if (!bt_cel_charge(evaluation, text_units * part_units)) {
		return evaluation->stop;
	}
	return bt_cel_bool(bt_str_find(arguments[0].text, arguments[1].text) >= 0);
}

struct bt_cel_value bt_cel_fn_size(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	if (!bt_cel_charge(evaluation, 1)) {
		return evaluation->stop;
	}
	switch ((int)arguments[0].kind) {
	case BT_CEL_STRING:
		if (!bt_cel_charge_work(evaluation, arguments[0].text.length)) {
			return evaluation->stop;
		}
		return bt_cel_int(bt_cel_text_length(arguments[0].text));
	case BT_CEL_BYTES:
		return bt_cel_int(arguments[0].text.length);
	case BT_CEL_LIST:
		return bt_cel_int(arguments[0].list.count);
	case BT_CEL_MAP:
		return bt_cel_int(arguments[0].map->count);
	default:
		return bt_cel_error(BT_STR("no such overload: size"));
	}
}

/* --- places in a text --- */

static struct bt_cel_value out_of_range(struct bt_cel_evaluation *evaluation, int64_t index)
{
	return bt_cel_fail(evaluation, "index out of range: %lld", (long long)index);
}

struct bt_cel_value bt_cel_fn_char_at(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	struct bt_str text = arguments[0].text;
	int64_t index = arguments[1].integer;
	uint32_t offset;

	if (!bt_cel_charge_call(evaluation, text)) {
		return evaluation->stop;
	}
	if (index < 0 || index > bt_cel_text_length(text)) {
		return out_of_range(evaluation, index);
	}
	offset = bt_cel_text_offset(text, (uint64_t)index);
	if (offset == text.length) {
		return bt_cel_string(BT_STR(""));
	}
	return bt_cel_string(bt_str_sub(text, offset, bt_cel_text_step(text, offset)));
}

struct bt_cel_value bt_cel_fn_substring(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count, struct bt_cel_regex *regex BT_UNUSED)
{
	struct bt_str text = arguments[0].text;
	int64_t start = arguments[1].integer;
	int64_t length;
	int64_t end;
	uint32_t from;
	uint32_t to;

	if (!bt_cel_charge_text(evaluation, text, 1)) {
		return evaluation->stop;
	}
	length = bt_cel_text_length(text);
	end = count > 2 ? arguments[2].integer : length;
	if (count > 2 && start > end) {
		return bt_cel_fail(evaluation, "invalid substring range. start: %lld, end: %lld",
			(long long)start, (long long)end);
	}
	if (start < 0 || start > length) {
		return out_of_range(evaluation, start);
	}
	if (end < 0 || end > length) {
		return out_of_range(evaluation, end);
	}
	from = bt_cel_text_offset(text, (uint64_t)start);
	to = bt_cel_text_offset(text, (uint64_t)end);
	return bt_cel_string(bt_str_sub(text, from, to - from));
}

/** First occurrence at or behind a code point, which is within the text; -1: none. */
static int64_t find_forward(struct bt_str text, struct bt_str part, int64_t from)
{
	uint32_t offset = bt_cel_text_offset(text, (uint64_t)from);
	int64_t found = bt_str_find(bt_str_sub(text, offset, text.length), part);

	return found < 0 ? -1
			 : from + bt_cel_text_length(bt_str_sub(text, offset, (uint32_t)found));
}

/** Last occurrence that starts at or before a code point; -1: none. */
static int64_t find_backward(struct bt_str text, struct bt_str part, int64_t from)
{
	int64_t found = -1;
	uint32_t offset = 0;

	for (int64_t index = 0; index <= from && text.length - offset >= part.length; index++) {
		if (memcmp(text.data + offset, part.data, part.length) == 0) {
			found = index;
		}
		offset += bt_cel_text_step(text, offset);
	}
	return found;
}

/** One unit for ten code points that are looked through. */
static bool charge_index(
	struct bt_cel_evaluation *evaluation, struct bt_str text, struct bt_str part)
{
	return bt_cel_charge_search(evaluation, text, part) &&
		bt_cel_charge(evaluation, bt_cel_text_length(text) / 10);
}

struct bt_cel_value bt_cel_fn_string_index_of(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count, struct bt_cel_regex *regex BT_UNUSED)
{
	struct bt_str text = arguments[0].text;
	int64_t from = count > 2 ? arguments[2].integer : 0;

	if (!charge_index(evaluation, text, arguments[1].text)) {
		return evaluation->stop;
	}
	if (arguments[1].text.length == 0) {
		return bt_cel_int(from);
	}
	if (from < 0) {
		return out_of_range(evaluation, from);
	}
	if (from >= bt_cel_text_length(text)) {
		return bt_cel_int(-1);
	}
	return bt_cel_int(find_forward(text, arguments[1].text, from));
}

struct bt_cel_value bt_cel_fn_string_last_index_of(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count, struct bt_cel_regex *regex BT_UNUSED)
{
	struct bt_str text = arguments[0].text;
	int64_t length;
	int64_t from;

	if (!charge_index(evaluation, text, arguments[1].text)) {
		return evaluation->stop;
	}
	length = bt_cel_text_length(text);
	from = count > 2 ? arguments[2].integer : length;
	if (arguments[1].text.length == 0) {
		return bt_cel_int(from);
	}
	if (from < 0) {
		return out_of_range(evaluation, from);
	}
	if (count > 2 && from >= length) {
		return bt_cel_int(-1);
	}
	return bt_cel_int(find_backward(text, arguments[1].text, from));
}

/* --- changed texts --- */

/** delta is added to the bytes from first to last. */
static struct bt_cel_value shift_letters(
	struct bt_cel_evaluation *evaluation, struct bt_str text, char first, char last, int delta)
{
	char *bytes;

	if (!bt_cel_charge_text(evaluation, text, 1)) {
		return evaluation->stop;
	}
	bytes = bt_cel_alloc(evaluation, text.length, 1);
	if (bytes == NULL) {
		return evaluation->stop;
	}
	for (uint32_t i = 0; i < text.length; i++) {
		char c = text.data[i];

		bytes[i] = c >= first && c <= last ? (char)(c + delta) : c;
	}
	return bt_cel_string((struct bt_str){bytes, text.length});
}

struct bt_cel_value bt_cel_fn_lower_ascii(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	return shift_letters(evaluation, arguments[0].text, 'A', 'Z', 'a' - 'A');
}

struct bt_cel_value bt_cel_fn_upper_ascii(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	return shift_letters(evaluation, arguments[0].text, 'a', 'z', 'A' - 'a');
}

struct bt_cel_value bt_cel_fn_trim(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	struct bt_str text = arguments[0].text;
	uint32_t start = text.length;
	uint32_t end = 0;

	if (!bt_cel_charge_text(evaluation, text, 1)) {
		return evaluation->stop;
	}
	for (uint32_t i = 0; i < text.length;) {
		uint32_t rune = UINT32_MAX;
		uint32_t size = bt_utf8_decode(text.data + i, text.length - i, &rune);

		size = size != 0 ? size : 1;
		/* Unicode's White_Space. */
		if (!(rune == ' ' || (rune >= '\t' && rune <= '\r') || rune == 0x85 ||
			    rune == 0xa0 || rune == 0x1680 || (rune >= 0x2000 && rune <= 0x200a) ||
			    rune == 0x2028 || rune == 0x2029 || rune == 0x202f || rune == 0x205f ||
			    rune == 0x3000)) {
			start = i < start ? i : start;
			end = i + size;
		}
		i += size;
	}
	return bt_cel_string(end != 0 ? bt_str_sub(text, start, end - start) : BT_STR(""));
}

/** How many replacements there will be, at most limit (below 0: all). */
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

/** text with the first matches of old replaced; out has room for all of it. */
static void replace(char *out, struct bt_str text, struct bt_str old, struct bt_str new_text,
	uint64_t match_count)
{
	uint32_t from = 0;

	for (uint64_t i = 0; i < match_count; i++) {
		uint32_t at = from;

		if (old.length != 0) {
			at += (uint32_t)bt_str_find(bt_str_sub(text, from, text.length), old);
		} else if (i != 0) {
			at += bt_cel_text_step(text, from);
		}
		memcpy(out, text.data + from, at - from);
		out += at - from;
		if (new_text.length != 0) {
			memcpy(out, new_text.data, new_text.length);
			out += new_text.length;
		}
		from = at + old.length;
	}
	memcpy(out, text.data + from, text.length - from);
}

struct bt_cel_value bt_cel_fn_replace(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count, struct bt_cel_regex *regex BT_UNUSED)
{
	struct bt_str text = arguments[0].text;
	struct bt_str old = arguments[1].text;
	struct bt_str new_text = arguments[2].text;
	uint64_t match_count;
	uint64_t length;
	char *bytes;

	if (!bt_cel_charge_text(evaluation, text, 2) ||
		!bt_cel_charge_search(evaluation, text, old)) {
		return evaluation->stop;
	}
	match_count = count_matches(text, old, count > 3 ? arguments[3].integer : -1);
	length = text.length + match_count * new_text.length - match_count * old.length;
	if (match_count == 0) {
		return arguments[0];
	}
	bytes = bt_cel_alloc(evaluation, length, 1);
	if (bytes == NULL) {
		return evaluation->stop;
	}
	replace(bytes, text.data != NULL ? text : BT_STR(""), old, new_text, match_count);
	return bt_cel_string((struct bt_str){bytes, (uint32_t)length});
}

/* --- split, join --- */

struct bt_cel_value bt_cel_fn_split(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count, struct bt_cel_regex *regex BT_UNUSED)
{
	struct bt_str text = arguments[0].text;
	struct bt_str separator = arguments[1].text;
	int64_t limit = count > 2 ? arguments[2].integer : -1;
	struct bt_cel_value list = {.kind = BT_CEL_LIST};
	struct bt_cel_value *items;
	uint64_t part_count;
	uint32_t from = 0;

	if (!bt_cel_charge_text(evaluation, text, 2) ||
		!bt_cel_charge_search(evaluation, text, separator)) {
		return evaluation->stop;
	}
	part_count = separator.length == 0 ? bt_cel_text_length(text)
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
		uint32_t length = rest.length; /* of the last part */

		if (i + 1 < part_count) {
			length = separator.length == 0 ? bt_cel_text_step(rest, 0)
						       : (uint32_t)bt_str_find(rest, separator);
		}
		items[i] = bt_cel_string(bt_str_sub(rest, 0, length));
		from += length + separator.length;
	}
	list.list = (struct bt_cel_list){items, (uint32_t)part_count};
	return list;
}

struct bt_cel_value bt_cel_fn_join(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count, struct bt_cel_regex *regex BT_UNUSED)
{
	const struct bt_cel_list *list = &arguments[0].list;
	struct bt_str separator = count > 1 ? arguments[1].text : BT_STR("");
	uint64_t length = 0;
	char *bytes;
	char *out;

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
	bytes = bt_cel_alloc(evaluation, length, 1);
	if (bytes == NULL) {
		return evaluation->stop;
	}
	out = bytes;
	for (uint32_t i = 0; i < list->count; i++) {
		struct bt_str item = list->items[i].text;

		if (i != 0 && separator.length != 0) {
			memcpy(out, separator.data, separator.length);
			out += separator.length;
		}
		if (item.length != 0) {
			memcpy(out, item.data, item.length);
			out += item.length;
		}
	}
	return bt_cel_string((struct bt_str){bytes, (uint32_t)length});
}

/* --- strings.quote --- */

static const char *escape_of(char c)
{
	switch (c) {
	case '\a':
		return "\\a";
	case '\b':
		return "\\b";
	case '\f':
		return "\\f";
	case '\n':
		return "\\n";
	case '\r':
		return "\\r";
	case '\t':
		return "\\t";
	case '\v':
		return "\\v";
	case '\\':
		return "\\\\";
	case '"':
		return "\\\"";
	default:
		return NULL;
	}
}

struct bt_cel_value bt_cel_fn_quote(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	struct bt_str text = arguments[0].text;
	char *bytes;
	uint32_t length = 0;

	if (!bt_cel_charge_text(evaluation, text, 1)) {
		return evaluation->stop;
	}
	bytes = bt_cel_alloc(evaluation, (uint64_t)text.length * 2 + 2, 1);
	if (bytes == NULL) {
		return evaluation->stop;
	}
	bytes[length++] = '"';
	for (uint32_t i = 0; i < text.length; i++) {
		const char *escape = escape_of(text.data[i]);

		if (escape != NULL) {
			bytes[length++] = escape[0];
			bytes[length++] = escape[1];
		} else {
			bytes[length++] = text.data[i];
		}
	}
	bytes[length++] = '"';
	return bt_cel_string((struct bt_str){bytes, length});
}

/* Regular expressions. Spec: 12b sections 9.1, 9.6 and 13. */

/** ceil((1 + length) / 10) * ceil(length of the pattern / 4) */
static bool charge(struct bt_cel_evaluation *evaluation, struct bt_str text, struct bt_str pattern)
{
	uint64_t text_units;
	uint64_t pattern_units;

	if (!bt_cel_charge_work(evaluation, (uint64_t)text.length + pattern.length)) {
		return false;
	}
	text_units = ((uint64_t)bt_cel_text_length(text) + 1 + 9) / 10;
	pattern_units = ((uint64_t)bt_cel_text_length(pattern) + 3) / 4;
	return bt_cel_charge(evaluation, text_units * pattern_units);
}

/** A search with a pattern that may be made for it. */
struct search {
	struct bt_cel_regex *regex;
	struct bt_cel_regex *made; /* NULL: it was there */
};

/** false: *out_problem is the value to return. */
static bool search_init(struct search *search, struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, struct bt_cel_regex *regex, const char *prefix,
	struct bt_cel_value *out_problem)
{
	*search = (struct search){.regex = regex};
	if (!charge(evaluation, arguments[0].text, arguments[1].text)) {
		*out_problem = evaluation->stop;
		return false;
	}
	if (regex == NULL) {
		if (!bt_cel_pattern_compile(
			    evaluation, arguments[1].text, prefix, &search->made, out_problem)) {
			return false;
		}
		search->regex = search->made;
	}
	return true;
}

static void search_finish(struct search *search)
{
	bt_cel_regex_destroy(search->made);
}

struct bt_cel_value bt_cel_fn_matches(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED, struct bt_cel_regex *regex)
{
	struct bt_cel_value problem;
	struct search search;
	uint32_t start;
	uint32_t end;
	bool found;

	if (arguments[0].kind != BT_CEL_STRING) {
		return bt_cel_error(regex != NULL ? BT_STR("no such overload")
						  : BT_STR("no such overload: matches"));
	}
	if (arguments[1].kind != BT_CEL_STRING) {
		return bt_cel_error(BT_STR("no such overload"));
	}
	if (!search_init(&search, evaluation, arguments, regex, "", &problem)) {
		return problem;
	}
	found = bt_cel_search(evaluation, search.regex, arguments[0].text, 0, &start, &end);
	search_finish(&search);
	return bt_cel_is_error(&evaluation->stop) ? evaluation->stop : bt_cel_bool(found);
}

struct bt_cel_value bt_cel_fn_find(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED, struct bt_cel_regex *regex)
{
	struct bt_cel_value result = bt_cel_string(BT_STR(""));
	struct search search;
	uint32_t start;
	uint32_t end;

	if (!search_init(&search, evaluation, arguments, regex, "Illegal regex: ", &result)) {
		return result;
	}
	if (bt_cel_search(evaluation, search.regex, arguments[0].text, 0, &start, &end)) {
		result = bt_cel_string(bt_str_sub(arguments[0].text, start, end - start));
	}
	search_finish(&search);
	return bt_cel_is_error(&evaluation->stop) ? evaluation->stop : result;
}

struct matches {
	BT_VEC(struct bt_cel_value) items;
};

/**
 * Matches one behind the other, as Go's FindAllString: an empty one right behind the one before
 * does not count.
 */
static void find_all(struct bt_cel_evaluation *evaluation, const struct bt_cel_regex *regex,
	struct bt_str text, uint64_t limit, struct matches *out)
{
	uint32_t from = 0;
	int64_t previous_end = -1;
	uint32_t start;
	uint32_t end;

	while (out->items.count < limit && from <= text.length &&
		bt_cel_search(evaluation, regex, text, from, &start, &end)) {
		if (end > start || start != previous_end) {
			bt_vec_push(
				&out->items, bt_cel_string(bt_str_sub(text, start, end - start)));
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
}

struct bt_cel_value bt_cel_fn_find_all(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count, struct bt_cel_regex *regex)
{
	int64_t limit = count > 2 ? arguments[2].integer : -1;
	struct bt_cel_value result = {.kind = BT_CEL_LIST};
	struct matches matches = {.items = {NULL, 0, 0}};
	struct bt_cel_value *items;
	struct search search;

	if (!search_init(&search, evaluation, arguments, regex, "Illegal regex: ", &result)) {
		return result;
	}
	find_all(evaluation, search.regex, arguments[0].text,
		limit < 0 ? UINT64_MAX : (uint64_t)limit, &matches);
	search_finish(&search);
	items = bt_cel_alloc(evaluation, matches.items.count, sizeof(*items));
	if (items != NULL && matches.items.count != 0) {
		memcpy(items, matches.items.items, matches.items.count * sizeof(*items));
	}
	result.list = (struct bt_cel_list){items, matches.items.count};
	bt_vec_finish(&matches.items);
	return bt_cel_is_error(&evaluation->stop) ? evaluation->stop : result;
}
