/* SPDX-License-Identifier: Apache-2.0 */
#include "base/vec.h"
#include "cel/functions.h"
#include "cel/regex.h"
#include "cel/text.h"

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
