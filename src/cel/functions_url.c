/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "cel/functions.h"
#include "cel/text.h"
#include "cel/url.h"

/* URLs. Spec: 12b section 9.6. */

struct bt_str bt_cel_url_text(const struct bt_cel_url *url)
{
	return url->text;
}

struct bt_cel_value bt_cel_fn_url(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	struct bt_cel_value result = {.kind = BT_CEL_URL};
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_cel_url *url;
	int code;

	if (!bt_cel_charge_text(evaluation, arguments[0].text, 1)) {
		return evaluation->stop;
	}
	url = bt_cel_alloc(evaluation, 1, sizeof(*url));
	if (url == NULL) {
		return evaluation->stop;
	}
	code = bt_cel_url_parse(arguments[0].text, evaluation->arena, url, &err);
	if (code != 0) {
		(void)bt_error_wrap(&err, code, "URL parse error during conversion from string");
		return bt_cel_fail_error(evaluation, &err);
	}
	result.url = url;
	return result;
}

struct bt_cel_value bt_cel_fn_is_url(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	struct bt_cel_url url;

	if (!bt_cel_charge_text(evaluation, arguments[0].text, 1)) {
		return evaluation->stop;
	}
	return bt_cel_bool(bt_cel_url_parse(arguments[0].text, evaluation->arena, &url, NULL) == 0);
}

/** A part of the URL, which lives as long as it. */
static struct bt_cel_value answer(struct bt_cel_evaluation *evaluation, struct bt_str part)
{
	return bt_cel_charge(evaluation, 1) ? bt_cel_string(part) : evaluation->stop;
}

struct bt_cel_value bt_cel_fn_url_get_scheme(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	return answer(evaluation, arguments[0].url->scheme);
}

struct bt_cel_value bt_cel_fn_url_get_host(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	return answer(evaluation, arguments[0].url->host);
}

struct bt_cel_value bt_cel_fn_url_get_hostname(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	return answer(evaluation, bt_cel_url_hostname(arguments[0].url));
}

struct bt_cel_value bt_cel_fn_url_get_port(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	return answer(evaluation, bt_cel_url_port(arguments[0].url));
}

struct bt_cel_value bt_cel_fn_url_get_escaped_path(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	struct bt_cel_output output = {.evaluation = evaluation};

	if (!bt_cel_charge_call(evaluation, arguments[0].url->path)) {
		return evaluation->stop;
	}
	bt_cel_url_escaped_path(arguments[0].url, &output.buffer);
	return bt_cel_output_finish(&output);
}

/* --- getQuery --- */

/** "name=value" */
struct parameter {
	struct bt_str name;
	struct bt_str value;
	uint32_t index;
};

/** Plain text in the arena; false: a bad escape, or too much. */
static bool unescape(struct bt_cel_evaluation *evaluation, struct bt_str text, struct bt_str *out)
{
	struct bt_cel_output output = {.evaluation = evaluation};
	bool is_plain = bt_cel_url_unescape_query(text, &output.buffer);
	struct bt_cel_value plain = bt_cel_output_finish(&output);

	*out = plain.text;
	return is_plain && !bt_cel_is_error(&plain);
}

/** By name, then in the order of the query. */
static int compare_parameters(const void *a, const void *b)
{
	const struct parameter *left = a;
	const struct parameter *right = b;
	int order = bt_str_compare(left->name, right->name);

	return order != 0 ? order : (left->index > right->index) - (left->index < right->index);
}

/** Parameters with a bad escape or a semicolon are left out. Returns how many there are. */
static uint32_t read_parameters(
	struct bt_cel_evaluation *evaluation, struct bt_str query, struct parameter *out)
{
	uint32_t count = 0;

	while (query.length != 0) {
		struct bt_str value = bt_str_cut(&query, '&');
		struct bt_str name = value;
		struct parameter *parameter = &out[count];

		if (name.length == 0 || bt_str_find_char(name, ';') >= 0) {
			continue;
		}
		name = bt_str_cut(&value, '=');
		if (unescape(evaluation, name, &parameter->name) &&
			unescape(evaluation, value, &parameter->value)) {
			parameter->index = count++;
		}
	}
	qsort(out, count, sizeof(*out), compare_parameters);
	return count;
}

/** Entries for parameters sorted by name. */
static struct bt_cel_value make_map(
	struct bt_cel_evaluation *evaluation, const struct parameter *parameters, uint32_t count)
{
	struct bt_cel_value result = {.kind = BT_CEL_MAP};
	struct bt_cel_map *map = bt_cel_alloc(evaluation, 1, sizeof(*map));
	struct bt_cel_entry *entries = bt_cel_alloc(evaluation, count, sizeof(*entries));
	struct bt_cel_value *values = bt_cel_alloc(evaluation, count, sizeof(*values));
	uint32_t entry_count = 0;

	if (map == NULL || entries == NULL || values == NULL) {
		return evaluation->stop;
	}
	for (uint32_t i = 0; i < count; i++) {
		values[i] = bt_cel_string(parameters[i].value);
		if (i == 0 || !bt_str_equal(parameters[i].name, parameters[i - 1].name)) {
			entries[entry_count] = (struct bt_cel_entry){
				.key = bt_cel_string(parameters[i].name),
				.value = {.kind = BT_CEL_LIST, .list = {&values[i], 0}},
			};
			entry_count++;
		}
		entries[entry_count - 1].value.list.count++;
	}
	*map = (struct bt_cel_map){.entries = entries, .count = entry_count};
	result.map = map;
	return result;
}

struct bt_cel_value bt_cel_fn_url_get_query(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	struct bt_str query = arguments[0].url->query;
	struct parameter *parameters;
	uint64_t count_max = 1;
	uint32_t parameter_count;

	if (!bt_cel_charge_call(evaluation, query)) {
		return evaluation->stop;
	}
	for (uint32_t i = 0; i < query.length; i++) {
		count_max += query.data[i] == '&';
	}
	parameters = bt_cel_alloc(evaluation, count_max, sizeof(*parameters));
	if (parameters == NULL) {
		return evaluation->stop;
	}
	parameter_count = read_parameters(evaluation, query, parameters);
	return bt_cel_is_error(&evaluation->stop)
		? evaluation->stop
		: make_map(evaluation, parameters, parameter_count);
}
