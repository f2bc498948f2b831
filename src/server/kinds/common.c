/* SPDX-License-Identifier: Apache-2.0 */
#include "server/kinds/common.h"

#include <stdarg.h>

#include "base/assert.h"

/** Errors beyond this number are not built, because bt_field_errors_add would drop them. */
#define ERRORS_MAX 100

void bt_kinds_error(struct bt_field_errors *errors, enum bt_field_error_type type,
	const struct bt_path *place, const struct bt_json_value *value, const char *format, ...)
{
	struct bt_strbuf path = {0};
	va_list arguments;
	if (errors->count >= ERRORS_MAX) {
		return;
	}
	va_start(arguments, format);
	struct bt_str text = bt_failure_vprintf(errors->arena, format, arguments);
	va_end(arguments);
	bt_path_render(place, &path);
	bt_field_errors_add(errors, type, bt_arena_take_strbuf(errors->arena, &path), value, "%.*s",
		BT_STR_ARG(text));
}

void bt_kinds_add_problems(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *object, const struct bt_kinds_problem *problems, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *path = problems[i].path;
		const struct bt_json_value *value =
			path != NULL ? bt_json_find_path(object, path) : object;
		if (problems[i].is_there) {
			bt_kinds_error(errors, problems[i].type,
				path != NULL ? BT_PATH_NAME(place, path) : place,
				problems[i].type == BT_FIELD_INVALID ? value : NULL, "%s",
				problems[i].text);
		}
	}
}

void bt_kinds_error_required(struct bt_field_errors *errors, const struct bt_path *place)
{
	bt_kinds_error(errors, BT_FIELD_REQUIRED, place, NULL, "%s", "");
}

void bt_kinds_default_c(
	struct bt_arena *arena, struct bt_json_value *object, const char *name, const char *text)
{
	const struct bt_json_value *member = bt_json_find(object, name);
	if (member == NULL || member->type != BT_JSON_STRING || member->text.length == 0) {
		bt_json_set_c(arena, object, name, text);
	}
}

void bt_kinds_default_map(struct bt_arena *arena, struct bt_json_value *target, const char *name,
	const struct bt_json_value *source)
{
	for (uint32_t i = 0; source != NULL && i < source->count; i++) {
		struct bt_json_value *map = bt_json_ensure_object(arena, target, name);
		if (map->count == BT_KINDS_RESOURCES_MAX) {
			return;
		}
		if (bt_json_get(map, source->members[i].name) == NULL) {
			bt_json_set(arena, map, source->members[i].name,
				bt_json_clone(arena, source->members[i].value, false));
		}
	}
}

struct bt_json_value *bt_kinds_object(const struct bt_json_value *object, const char *name)
{
	struct bt_json_value *member = bt_json_find(object, name);
	return member != NULL && member->type == BT_JSON_OBJECT ? member : NULL;
}

struct bt_str bt_kinds_text(const struct bt_json_value *object, const char *name)
{
	struct bt_str text = bt_json_find_str(object, name);
	return text.data != NULL ? text : BT_STR("");
}

bool bt_kinds_keeps_status(const struct bt_write *write, const struct bt_json_value *object)
{
	const struct bt_json_value *given = bt_kinds_object(object, "status");
	return write->restoring && given != NULL && given->count != 0;
}

void bt_kinds_reset_status(const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_json_value *status = bt_json_new(write->arena, BT_JSON_OBJECT);
	if (!write->resource->strategy->resets_status || bt_kinds_keeps_status(write, object)) {
		return;
	}
	const struct bt_schema_field *field =
		bt_schema_field_find(write->resource->message, BT_STR("status"), NULL);
	int result =
		bt_schema_normalise(field->message, status, false, NULL, write->arena, NULL, NULL);
	BT_ASSERT(result == 0);
	bt_json_set_value(write->arena, object, "status", status);
}

void bt_kinds_set_defaults(const struct bt_write *write, struct bt_json_value *object)
{
	const struct bt_schema_message *message = write->resource->message;
	const struct bt_strategy *strategy = write->resource->strategy;
	if (message != NULL) {
		bt_schema_default(message, object, write->arena);
		bt_fill_fn *fill = bt_kinds_fills[message - bt_schema_messages];
		if (fill != NULL) {
			fill(write, object);
		}
	}
	if (strategy->set_defaults != NULL) {
		strategy->set_defaults(write, object);
	}
}

bool bt_kinds_keeps_spec(const struct bt_write *write)
{
	return write->subresource == BT_SUBRESOURCE_STATUS ||
		write->subresource == BT_SUBRESOURCE_BINDING;
}

void bt_kinds_check_allowed(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *value, const char *const *texts)
{
	for (uint32_t i = 0; texts[i] != NULL; i++) {
		if (bt_str_equal_c(value->text, texts[i])) {
			return;
		}
	}
	struct bt_strbuf supported = {0};
	for (uint32_t i = 0; texts[i] != NULL; i++) {
		bt_strbuf_append_c(&supported, i == 0 ? "" : ", ");
		bt_strbuf_append_quoted(&supported, bt_str_from(texts[i]));
	}
	bt_kinds_error(errors, BT_FIELD_NOT_SUPPORTED, place, value, "%s", bt_strbuf_c(&supported));
	bt_strbuf_finish(&supported);
}

void bt_kinds_check_items(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *list, const char *const *allowed, bool unique)
{
	struct bt_text_set seen = {0};
	for (uint32_t i = 0; list != NULL && i < list->count; i++) {
		if (allowed != NULL) {
			bt_kinds_check_allowed(
				errors, BT_PATH_INDEX(place, i), list->elements[i], allowed);
		}
		if (unique && !bt_text_set_add(&seen, list->elements[i]->text)) {
			bt_kinds_error(errors, BT_FIELD_DUPLICATE, BT_PATH_INDEX(place, i),
				list->elements[i], "%s", "");
		}
	}
	bt_text_set_finish(&seen);
}

void bt_kinds_check_count(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *list, uint32_t max)
{
	if (list->count > max) {
		bt_kinds_error(errors, BT_FIELD_TOO_MANY, place,
			bt_json_new_int64(errors->arena, list->count), "must have at most %u items",
			max);
	}
}

void bt_kinds_check_port_name(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *value)
{
	struct bt_str name = value != NULL ? value->text : BT_STR("");
	bool has_letter = false;
	bool has_other = false;
	bool has_pair = false;
	for (uint32_t i = 0; i < name.length; i++) {
		bool is_letter = name.data[i] >= 'a' && name.data[i] <= 'z';
		bool is_dash = name.data[i] == '-';
		has_letter |= is_letter;
		has_other |= !is_letter && !is_dash && (name.data[i] < '0' || name.data[i] > '9');
		has_pair |= is_dash && i != 0 && name.data[i - 1] == '-';
	}
	const struct bt_kinds_problem problems[] = {
		{name.length > 15, BT_FIELD_INVALID, NULL, "must be no more than 15 characters"},
		{has_other, BT_FIELD_INVALID, NULL,
			"must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"},
		{!has_letter, BT_FIELD_INVALID, NULL, "must contain at least one letter (a-z)"},
		{has_pair, BT_FIELD_INVALID, NULL, "must not contain consecutive hyphens"},
		{bt_str_has_prefix(name, BT_STR("-")) || bt_str_has_suffix(name, BT_STR("-")),
			BT_FIELD_INVALID, NULL, "must not begin or end with a hyphen"},
	};
	if (name.length != 0) {
		bt_kinds_add_problems(errors, place, value, problems, BT_ARRAY_LENGTH(problems));
	}
}

void bt_kinds_check_port(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *port)
{
	int64_t number = 0;
	if (port != NULL && port->type == BT_JSON_STRING) {
		bt_kinds_check_port_name(errors, place, port);
	} else if (port != NULL && port->type == BT_JSON_NUMBER &&
		(!bt_str_parse_int64(port->text, &number) || number < 1 || number > 65535)) {
		bt_kinds_error(errors, BT_FIELD_INVALID, place, port,
			"must be between 1 and 65535, inclusive");
	}
}

void bt_kinds_check_quantities(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *list)
{
	const struct bt_quantity zero = {0};
	for (uint32_t i = 0; list != NULL && i < list->count; i++) {
		struct bt_quantity quantity;
		if (bt_kinds_quantity(list->members[i].value, errors->arena, &quantity) &&
			bt_quantity_compare(&quantity, &zero) < 0) {
			bt_kinds_error(errors, BT_FIELD_INVALID,
				BT_PATH_KEY(place, list->members[i].name), list->members[i].value,
				"must be greater than or equal to 0");
		}
	}
}

static bool is_empty(const struct bt_json_value *value)
{
	return value == NULL || value->type == BT_JSON_NULL ||
		((value->type == BT_JSON_OBJECT || value->type == BT_JSON_ARRAY) &&
			value->count == 0);
}

bool bt_kinds_same(const struct bt_json_value *a, const struct bt_json_value *b)
{
	if (is_empty(a) || is_empty(b)) {
		return is_empty(a) && is_empty(b);
	}
	return bt_json_equal(a, b);
}

const struct bt_schema_message *bt_kinds_spec_message(const struct bt_write *write)
{
	return bt_schema_field_find(write->resource->message, BT_STR("spec"), NULL)->message;
}

void bt_kinds_check_immutable(struct bt_field_errors *errors, const struct bt_path *parent,
	const struct bt_json_value *old_parent, const struct bt_json_value *new_parent,
	const char *name, const struct bt_schema_message *message)
{
	struct bt_json_value *value = bt_json_find(new_parent, name);
	if (!bt_kinds_same(bt_json_find(old_parent, name), value)) {
		const struct bt_json_value *shown =
			value != NULL ? value : bt_json_new(errors->arena, BT_JSON_NULL);
		if (value != NULL && message != NULL) {
			shown = bt_kinds_internal_form(errors->arena, message, value);
		}
		bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_NAME(parent, name), shown,
			"field is immutable");
	}
}

void bt_kinds_collect_names(
	struct bt_text_set *set, const struct bt_json_value *list, const char *member)
{
	bt_text_set_finish(set);
	for (uint32_t i = 0; i < list->count; i++) {
		(void)bt_text_set_add(set, bt_kinds_text(list->elements[i], member));
	}
}

/* Resource lists as JSON trees. Spec: 14b section 3.1, 01 section 5.1. */

/** The quantities in stored resource lists are multiples of ten to this power. */
#define MILLI_EXPONENT (-3)

bool bt_kinds_quantity(
	const struct bt_json_value *value, struct bt_arena *arena, struct bt_quantity *out)
{
	return value != NULL && (value->type == BT_JSON_STRING || value->type == BT_JSON_NUMBER) &&
		bt_quantity_parse(value->text, arena, out, NULL) == 0;
}

struct bt_json_value *bt_kinds_quantity_value(
	const struct bt_quantity *quantity, struct bt_arena *arena)
{
	struct bt_strbuf text = {0};
	bt_quantity_format(quantity, &text);
	return bt_json_new_str(arena, bt_arena_take_strbuf(arena, &text));
}

void bt_kinds_round_quantities(struct bt_arena *arena, struct bt_json_value *map)
{
	for (uint32_t i = 0; map != NULL && i < map->count; i++) {
		struct bt_json_value *value = map->members[i].value;
		struct bt_quantity quantity;
		bool may_be_fine = false;
		for (uint32_t n = 0; value->type == BT_JSON_STRING && n < value->text.length; n++) {
			/* every amount finer than 1/1000 contains one of these bytes */
			may_be_fine =
				may_be_fine || memchr(".uneE", value->text.data[n], 5) != NULL;
		}
		if (!may_be_fine || !bt_kinds_quantity(value, arena, &quantity)) {
			continue;
		}
		struct bt_quantity milli = bt_quantity_make(bt_quantity_milli(&quantity),
			MILLI_EXPONENT, (enum bt_quantity_format)quantity.format);
		/* A quantity too large for int64 thousandths stays as it is. */
		if (bt_quantity_compare(&milli, &quantity) > 0) {
			map->members[i].value = bt_kinds_quantity_value(&milli, arena);
		}
	}
}

#define BT_KIND(group_, version_, resource_, name_) \
	{group_, version_, resource_, &bt_strategy_##name_},
static const struct {
	const char *group;
	const char *version;
	const char *resource;
	const struct bt_strategy *strategy;
} rows[] = {
#include "server/kinds/strategies.def"
};
#undef BT_KIND

const struct bt_strategy bt_strategy_custom = {0};
/** For kinds that reset the status on a create and have no other strategy functions. */
const struct bt_strategy bt_strategy_resets_status = {.resets_status = true};

const struct bt_strategy *bt_strategy_find(const char *group, const char *version, const char *name)
{
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		if (strcmp(rows[i].group, group) == 0 && strcmp(rows[i].version, version) == 0 &&
			strcmp(rows[i].resource, name) == 0) {
			return rows[i].strategy;
		}
	}
	return &bt_strategy_custom;
}
