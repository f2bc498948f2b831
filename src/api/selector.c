/* SPDX-License-Identifier: Apache-2.0 */
#include "api/selector.h"

#include <stdlib.h>
#include <string.h>

#include "api/selector_build.h"
#include "base/assert.h"
#include "base/text_set.h"

/** Up to this number of values, linear search is faster than binary search. */
#define LINEAR_VALUES_MAX 8

void bt_error_sink_add(const struct bt_error_sink *sink, const struct bt_requirement_path *path,
	const char *field, struct bt_str detail)
{
	struct bt_strbuf text = {NULL, 0, 0};

	if (*sink->bytes_left == 0) {
		/* a list with dropped errors must not stay empty */
		if (sink->list->count == 0) {
			bt_error_list_add(sink->list, sink->arena, BT_STR("too many errors"));
		}
		return;
	}
	if (path->place != BT_PLACE_LABEL_SELECTOR) {
		bool is_term = path->place == BT_PLACE_NODE_SELECTOR;

		bt_strbuf_append_str(&text, path->prefix);
		bt_strbuf_append_c(&text, is_term && path->prefix.length != 0 ? "." : "");
		bt_strbuf_printf(&text, "%s[%u].%s[%u].", is_term ? "nodeSelectorTerms" : "",
			path->term, path->member, path->index);
	}
	bt_strbuf_append_c(&text, field);
	bt_strbuf_append_c(&text, ": ");
	bt_strbuf_append_str(&text, detail);
	*sink->bytes_left -=
		text.length < *sink->bytes_left ? (uint32_t)text.length : *sink->bytes_left;
	bt_error_list_add(sink->list, sink->arena, bt_arena_str(sink->arena, bt_strbuf_str(&text)));
	bt_strbuf_finish(&text);
}

void bt_append_values_json(const bt_str_list *values, bool empty_is_null, struct bt_strbuf *out)
{
	struct bt_json_writer writer;

	bt_json_writer_init(&writer, out, 0);
	if (!values->present || (empty_is_null && values->count == 0)) {
		bt_json_write_null(&writer);
		return;
	}
	bt_json_begin_array(&writer);
	for (uint32_t i = 0; i < values->count; i++) {
		bt_json_write_str(&writer, values->items[i]);
	}
	bt_json_end_array(&writer);
}

/** Adds "Invalid value: <values>: <detail>". */
static void add_values_error(const struct bt_requirement_source *source, const char *detail,
	const struct bt_requirement_path *path, const struct bt_error_sink *sink)
{
	struct bt_strbuf text = {NULL, 0, 0};

	if (*sink->bytes_left != 0) {
		bt_strbuf_append_c(&text, "Invalid value: ");
		bt_append_values_json(
			source->values, path->place == BT_PLACE_LABEL_SELECTOR, &text);
		bt_strbuf_append_c(&text, ": ");
		bt_strbuf_append_c(&text, detail);
	}
	bt_error_sink_add(sink, path, "values", bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
}

/** Adds "Invalid value: <quoted>: <details joined>". */
static void add_text_error(const char *field, struct bt_str value,
	const struct bt_error_list *details, const struct bt_requirement_path *path,
	const struct bt_error_sink *sink)
{
	struct bt_strbuf text = {NULL, 0, 0};

	if (*sink->bytes_left != 0) {
		bt_strbuf_append_c(&text, "Invalid value: ");
		bt_strbuf_append_quoted(&text, value);
		for (uint32_t i = 0; i < details->count; i++) {
			bt_strbuf_append_c(&text, i == 0 ? ": " : "; ");
			bt_strbuf_append_str(&text, details->items[i]);
		}
	}
	bt_error_sink_add(sink, path, field, bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
}

bool bt_selector_operator_parse(
	struct bt_str text, bool with_comparison, enum bt_selector_operator *out_operator)
{
	static const struct {
		struct bt_str text;
		enum bt_selector_operator operator_;
		bool comparison;
	} table[] = {
		{BT_STR_INIT("In"), BT_SELECTOR_IN, false},
		{BT_STR_INIT("NotIn"), BT_SELECTOR_NOT_IN, false},
		{BT_STR_INIT("Exists"), BT_SELECTOR_EXISTS, false},
		{BT_STR_INIT("DoesNotExist"), BT_SELECTOR_DOES_NOT_EXIST, false},
		{BT_STR_INIT("Gt"), BT_SELECTOR_GT, true},
		{BT_STR_INIT("Lt"), BT_SELECTOR_LT, true},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(table); i++) {
		if ((with_comparison || !table[i].comparison) &&
			bt_str_equal(table[i].text, text)) {
			*out_operator = table[i].operator_;
			return true;
		}
	}
	return false;
}

/** Checks number and form of the values for the operator. */
static bool check_values(const struct bt_requirement_source *source,
	enum bt_selector_operator operator_, const struct bt_requirement_path *path,
	const struct bt_error_sink *sink, int64_t *out_operand)
{
	const bt_str_list *values = source->values;
	bool valid = true;

	switch (operator_) {
	case BT_SELECTOR_IN:
	case BT_SELECTOR_NOT_IN:
		if (values->count == 0) {
			add_values_error(source,
				"for 'in', 'notin' operators, values set can't be empty", path,
				sink);
			valid = false;
		}
		break;
	case BT_SELECTOR_EXISTS:
	case BT_SELECTOR_DOES_NOT_EXIST:
		if (values->count != 0) {
			add_values_error(source,
				"values set must be empty for exists and does not exist", path,
				sink);
			valid = false;
		}
		break;
	case BT_SELECTOR_GT:
	case BT_SELECTOR_LT:
		if (values->count != 1) {
			add_values_error(source,
				"for 'Gt', 'Lt' operators, exactly one value is required", path,
				sink);
			valid = false;
		}
		for (uint32_t i = 0; i < values->count; i++) {
			if (!bt_str_parse_int64(values->items[i], out_operand)) {
				struct bt_error_list details = {NULL, 0, 0};
				struct bt_strbuf field = {NULL, 0, 0};

				bt_strbuf_printf(&field, "values[%u]", i);
				bt_error_list_add(&details, sink->arena,
					BT_STR("for 'Gt', 'Lt' operators, the value must be an "
					       "integer"));
				add_text_error(bt_strbuf_c(&field), values->items[i], &details,
					path, sink);
				bt_strbuf_finish(&field);
				valid = false;
			}
		}
		break;
	}
	return valid;
}

bool bt_requirement_build(const struct bt_requirement_source *source,
	enum bt_selector_operator operator_, const struct bt_requirement_path *path,
	const struct bt_error_sink *sink, struct bt_requirement *out_requirement)
{
	int64_t operand = 0;
	bool valid = true;

	if (!bt_label_key_is_valid(source->key)) {
		struct bt_error_list details = {NULL, 0, 0};
		bt_label_key_errors(source->key, sink->arena, &details);
		add_text_error("key", source->key, &details, path, sink);
		valid = false;
	}
	if (!check_values(source, operator_, path, sink, &operand)) {
		valid = false;
	}
	for (uint32_t i = 0; i < source->values->count; i++) {
		if (!bt_label_value_is_valid(source->values->items[i])) {
			struct bt_error_list details = {NULL, 0, 0};
			struct bt_strbuf field = {NULL, 0, 0};

			if (*sink->bytes_left != 0) {
				bt_label_value_errors(
					source->values->items[i], sink->arena, &details);
				bt_strbuf_printf(&field, "values[%u][", i);
				bt_strbuf_append_str(&field, source->key);
				bt_strbuf_append_char(&field, ']');
			}
			add_text_error(bt_strbuf_c(&field), source->values->items[i], &details,
				path, sink);
			bt_strbuf_finish(&field);
			valid = false;
		}
	}
	if (!valid) {
		return false;
	}
	out_requirement->key = source->key;
	out_requirement->operator_ = operator_;
	out_requirement->value_count = source->values->count;
	if (source->values->count <= LINEAR_VALUES_MAX) {
		out_requirement->values = source->values->items;
	} else {
		struct bt_str *copy = bt_arena_copy_array(sink->arena, source->values->items,
			source->values->count, 0, sizeof(*copy));
		qsort(copy, source->values->count, sizeof(*copy), bt_str_compare_qsort);
		out_requirement->values = copy;
	}
	out_requirement->operand = operand;
	return true;
}

static bool has_value(const struct bt_requirement *requirement, struct bt_str value)
{
	uint32_t count = requirement->value_count;
	uint32_t index;

	if (count <= LINEAR_VALUES_MAX) {
		for (uint32_t i = 0; i < count; i++) {
			if (bt_str_equal(requirement->values[i], value)) {
				return true;
			}
		}
		return false;
	}
	BT_LOWER_BOUND(
		index, count, middle, bt_str_compare(requirement->values[middle], value) < 0);
	return index < count && bt_str_equal(requirement->values[index], value);
}

bool bt_requirement_matches(const struct bt_requirement *requirement, const struct bt_str *value)
{
	int64_t number;

	switch (requirement->operator_) {
	case BT_SELECTOR_IN:
		return value != NULL && has_value(requirement, *value);
	case BT_SELECTOR_NOT_IN:
		return value == NULL || !has_value(requirement, *value);
	case BT_SELECTOR_EXISTS:
		return value != NULL;
	case BT_SELECTOR_DOES_NOT_EXIST:
		return value == NULL;
	case BT_SELECTOR_GT:
		return value != NULL && bt_str_parse_int64(*value, &number) &&
			number > requirement->operand;
	case BT_SELECTOR_LT:
		return value != NULL && bt_str_parse_int64(*value, &number) &&
			number < requirement->operand;
	}
	return false;
}

bool bt_selector_matches(const struct bt_selector *selector, const struct bt_str_map *labels)
{
	if (selector->nothing) {
		return false;
	}
	for (uint32_t i = 0; i < selector->requirement_count; i++) {
		const struct bt_requirement *requirement = &selector->requirements[i];

		if (!bt_requirement_matches(
			    requirement, bt_str_map_find(labels, requirement->key))) {
			return false;
		}
	}
	return true;
}

bool bt_selector_is_empty(const struct bt_selector *selector)
{
	return !selector->nothing && selector->requirement_count == 0;
}

struct bt_selector bt_selector_from_map(const struct bt_str_map *map, struct bt_arena *arena)
{
	struct bt_selector selector = {.nothing = false};

	if (map == NULL || map->count == 0) {
		return selector;
	}
	struct bt_requirement *requirements =
		BT_ARENA_NEW_ARRAY(arena, struct bt_requirement, map->count);
	for (uint32_t i = 0; i < map->count; i++) {
		struct bt_requirement requirement = {.key = map->items[i].key,
			.operator_ = BT_SELECTOR_IN,
			.value_count = 1,
			.values = &map->items[i].value};

		requirements[i] = requirement;
	}
	selector.requirement_count = map->count;
	selector.requirements = requirements;
	return selector;
}

static int fail_with(
	const struct bt_error_list *errors, struct bt_arena *arena, struct berth_error *err)
{
	struct bt_str text = bt_error_list_text(errors, arena);

	return bt_error_set(err, BERTH_ERR_INVALID, "%.*s", BT_STR_ARG(text));
}

static int build_requirements(const struct bt_label_selector *selector, struct bt_arena *arena,
	struct bt_requirement *requirements, struct berth_error *err)
{
	static const struct bt_requirement_path path = {.place = BT_PLACE_LABEL_SELECTOR};
	struct bt_error_list errors = {NULL, 0, 0};
	uint32_t bytes_left = BT_SELECTOR_ERROR_BYTES_MAX;
	struct bt_error_sink sink = {&errors, arena, &bytes_left};

	for (uint32_t i = 0; i < selector->match_labels.count; i++) {
		struct bt_str_pair *pair = &selector->match_labels.items[i];
		bt_str_list values = {&pair->value, 1, true};
		struct bt_requirement_source source = {pair->key, {NULL, 0}, &values};

		if (!bt_requirement_build(&source, BT_SELECTOR_IN, &path, &sink, requirements++)) {
			return fail_with(&errors, arena, err);
		}
	}
	for (uint32_t i = 0; i < selector->match_expressions.count; i++) {
		const struct bt_label_selector_requirement *expression =
			&selector->match_expressions.items[i];
		struct bt_requirement_source source = {
			expression->key, expression->operator_, &expression->values};
		enum bt_selector_operator operator_;

		if (!bt_selector_operator_parse(expression->operator_, false, &operator_)) {
			return bt_error_set_quoted(err, BERTH_ERR_INVALID, "",
				expression->operator_, " is not a valid label selector operator");
		}
		if (!bt_requirement_build(&source, operator_, &path, &sink, requirements++)) {
			return fail_with(&errors, arena, err);
		}
	}
	return 0;
}

int bt_selector_from_label_selector(const struct bt_label_selector *selector,
	struct bt_arena *arena, struct bt_selector *out_selector, struct berth_error *err)
{
	struct bt_selector result = {.nothing = selector == NULL};

	if (selector == NULL) {
		*out_selector = result;
		return 0;
	}
	uint64_t count = (uint64_t)selector->match_labels.count + selector->match_expressions.count;
	BT_ASSERT(count < UINT32_MAX);
	if (count != 0) {
		struct bt_requirement *requirements =
			BT_ARENA_NEW_ARRAY(arena, struct bt_requirement, (size_t)count);
		int code = build_requirements(selector, arena, requirements, err);

		if (code != 0) {
			return code;
		}
		result.requirement_count = (uint32_t)count;
		result.requirements = requirements;
	}
	*out_selector = result;
	return 0;
}

void bt_error_list_add(struct bt_error_list *list, struct bt_arena *arena, struct bt_str text)
{
	bt_arena_push(arena, list, text);
}

struct bt_str bt_error_list_text(const struct bt_error_list *list, struct bt_arena *arena)
{
	struct bt_strbuf buffer = {NULL, 0, 0};
	struct bt_text_set seen = {0};
	uint32_t distinct = 0;

	if (list->count == 0) {
		return BT_STR("");
	}
	bt_strbuf_append_char(&buffer, '[');
	for (uint32_t i = 0; i < list->count; i++) {
		if (!bt_text_set_add(&seen, list->items[i])) {
			continue;
		}
		if (distinct++ != 0) {
			bt_strbuf_append_c(&buffer, ", ");
		}
		bt_strbuf_append_str(&buffer, list->items[i]);
	}
	bt_strbuf_append_char(&buffer, ']');
	struct bt_str text = distinct == 1 ? bt_arena_str(arena, list->items[0])
					   : bt_arena_str(arena, bt_strbuf_str(&buffer));
	bt_text_set_finish(&seen);
	bt_strbuf_finish(&buffer);
	return text;
}
