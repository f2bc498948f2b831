/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a configuration against the schema, with upstream's messages. Spec: 14 section 12.5. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/text_set.h"
#include "schema/apply.h"
#include "schema/field_set.h"
#include "schema/schema_private.h"

/** Maximum number of problems that are listed. */
#define PROBLEMS_MAX 100

struct check {
	struct bt_arena arena; /* keys of list elements */
	/** Values of a custom resource: only the keys of lists are checked. */
	bool only_keys;
	struct bt_strbuf path;
	struct bt_strbuf problems; /* one problem per line */
	uint32_t problem_count;
};

static void check_field(struct check *check, const struct bt_schema_field *field,
	const struct bt_json_value *value);

BT_PRINTF(2, 3)
static void report(struct check *check, const char *format, ...)
{
	va_list arguments;
	if (check->problem_count == PROBLEMS_MAX) {
		return;
	}
	check->problem_count++;
	bt_strbuf_append_c(&check->problems, "\n  ");
	bt_strbuf_append_str(&check->problems, bt_strbuf_str(&check->path));
	bt_strbuf_append_c(&check->problems, ": ");
	va_start(arguments, format);
	bt_strbuf_vprintf(&check->problems, format, arguments);
	va_end(arguments);
}

/** --- values as Go prints them --- */

static void append_object(
	const struct bt_json_value *value, uint32_t bytes_max, struct bt_strbuf *out)
{
	struct bt_json_member *sorted = BT_NEW_ARRAY(struct bt_json_member, value->count);
	if (value->count != 0) {
		memcpy(sorted, value->members, value->count * sizeof(*sorted));
		qsort(sorted, value->count, sizeof(*sorted), bt_str_compare_qsort);
	}
	bt_strbuf_append_c(out, "map[");
	for (uint32_t i = 0; i < value->count && out->length < bytes_max; i++) {
		bt_strbuf_append_c(out, i != 0 ? " " : "");
		bt_strbuf_append_str(out, sorted[i].name);
		bt_strbuf_append_char(out, ':');
		bt_schema_append_go(sorted[i].value, bytes_max, out);
	}
	bt_strbuf_append_char(out, ']');
	bt_free(sorted);
}

/* Recursion is bounded by the nesting of the JSON. */
void bt_schema_append_go(
	const struct bt_json_value *value, uint32_t bytes_max, struct bt_strbuf *out)
{
	if (value == NULL || out->length >= bytes_max) {
		return;
	}
	switch (value->type) {
	case BT_JSON_NULL:
		bt_strbuf_append_c(out, "<nil>");
		break;
	case BT_JSON_BOOL:
		bt_strbuf_append_c(out, value->boolean ? "true" : "false");
		break;
	case BT_JSON_NUMBER:
	case BT_JSON_STRING:
		bt_strbuf_append_str(out, bt_str_sub(value->text, 0, bytes_max));
		break;
	case BT_JSON_ARRAY:
		bt_strbuf_append_char(out, '[');
		for (uint32_t i = 0; i < value->count && out->length < bytes_max; i++) {
			bt_strbuf_append_c(out, i != 0 ? " " : "");
			bt_schema_append_go(value->elements[i], bytes_max, out);
		}
		bt_strbuf_append_char(out, ']');
		break;
	case BT_JSON_OBJECT:
		append_object(value, bytes_max, out);
		break;
	case BT_JSON__COUNT:
		break;
	}
}

/* Appends a value with its Go types, as %#v prints it. */
static void append_typed(const struct bt_json_value *value, struct bt_strbuf *out)
{
	switch (value->type) {
	case BT_JSON_NULL:
		bt_strbuf_append_c(out, "interface {}(nil)");
		break;
	case BT_JSON_BOOL:
	case BT_JSON_NUMBER:
		bt_schema_append_go(value, BT_STR_MAX, out);
		break;
	case BT_JSON_STRING:
		bt_strbuf_append_quoted(out, value->text);
		break;
	case BT_JSON_ARRAY:
	case BT_JSON_OBJECT:
		bt_strbuf_append_c(out,
			value->type == BT_JSON_ARRAY ? "[]interface {}{"
						     : "map[string]interface {}{");
		for (uint32_t i = 0; i < value->count; i++) {
			bt_strbuf_append_c(out, i != 0 ? ", " : "");
			if (value->type == BT_JSON_OBJECT) {
				bt_strbuf_append_quoted(out, value->members[i].name);
				bt_strbuf_append_char(out, ':');
			}
			append_typed(value->type == BT_JSON_OBJECT ? value->members[i].value
								   : value->elements[i],
				out);
		}
		bt_strbuf_append_char(out, '}');
		break;
	case BT_JSON__COUNT:
		break;
	}
}

static void report_value(
	struct check *check, const char *expected, bool typed, const struct bt_json_value *value)
{
	struct bt_strbuf text = {0};
	if (check->only_keys) {
		return;
	}
	if (typed) {
		append_typed(value, &text);
	} else {
		bt_schema_append_go(value, BT_STR_MAX, &text);
	}
	report(check,
		typed ? "expected %s, got &value.valueUnstructured{Value:%s}"
		      : "expected %s, got &{%s}",
		expected, bt_strbuf_c(&text));
	bt_strbuf_finish(&text);
}

/** --- walk --- */

static void check_message(struct check *check, const struct bt_schema_message *message,
	const struct bt_json_value *object)
{
	if (object->type != BT_JSON_OBJECT) {
		report_value(check, "map", false, object);
		return;
	}
	size_t length = check->path.length;
	/* Two passes, because the problems of unknown members are listed last. */
	for (uint32_t i = 0; i < 2 * object->count; i++) {
		const struct bt_json_member *member = &object->members[i % object->count];
		const struct bt_schema_field *field =
			bt_schema_field_find(message, member->name, NULL);
		bool is_known = field != NULL ||
			(bt_schema_is_root(message) &&
				(bt_str_equal_c(member->name, "kind") ||
					bt_str_equal_c(member->name, "apiVersion")));
		bt_strbuf_append_char(&check->path, '.');
		bt_strbuf_append_str(&check->path, member->name);
		if (i >= object->count && !is_known && !check->only_keys) {
			report(check, "field not declared in schema");
		} else if (i < object->count && field != NULL) {
			check_field(check, field, member->value);
		}
		check->path.length = length;
	}
}

/* Checks a single value: of a field, a list element or a map value. */
static void check_one(
	struct check *check, const struct bt_schema_field *field, const struct bt_json_value *value)
{
	static const char *const go_types[] = {
		[BT_JSON_STRING] = "string",
		[BT_JSON_BOOL] = "bool",
		[BT_JSON_ARRAY] = "[]interface {}",
		[BT_JSON_OBJECT] = "map[string]interface {}",
	};
	if (value->type == BT_JSON_NULL || (check->only_keys && field->type != BT_SCHEMA_MESSAGE)) {
		return;
	}
	const char *expected = "string";
	bool fits = true;
	bool typed = false;
	switch ((enum bt_schema_type)field->type) {
	case BT_SCHEMA_STRING:
	case BT_SCHEMA_BYTES:
	case BT_SCHEMA_TIME:
	case BT_SCHEMA_MICRO_TIME:
	case BT_SCHEMA_DURATION:
		fits = value->type == BT_JSON_STRING;
		typed = true;
		break;
	case BT_SCHEMA_BOOL:
		expected = "boolean";
		fits = value->type == BT_JSON_BOOL;
		typed = true;
		break;
	case BT_SCHEMA_INT32:
	case BT_SCHEMA_INT64:
		if (value->type != BT_JSON_NUMBER) {
			report(check, "expected numeric (int or float), got %s",
				go_types[value->type]);
		}
		break;
	case BT_SCHEMA_QUANTITY:
	case BT_SCHEMA_INT_OR_STRING:
		expected = "any scalar";
		fits = value->type != BT_JSON_ARRAY && value->type != BT_JSON_OBJECT;
		break;
	case BT_SCHEMA_STRING_LIST:
		expected = "list";
		fits = value->type == BT_JSON_ARRAY;
		break;
	case BT_SCHEMA_RAW_JSON:
		break;
	case BT_SCHEMA_MESSAGE:
		check_message(check, field->message, value);
		break;
	}
	if (!fits) {
		report_value(check, expected, typed, value);
	}
}

/*
 * Appends the key [name="a"] or [="a"], or the index if the elements have no keys. Returns the
 * first key member that the element omits, or NULL.
 */
static const char *append_element(struct check *check, const struct bt_schema_field *field,
	const struct bt_json_value *element, uint32_t index)
{
	bool is_atomic = (field->flags & BT_SCHEMA_ATOMIC) != 0;
	const char *const *keys = is_atomic ? NULL : field->list_keys;
	const char *omitted = NULL;
	struct bt_json_writer writer;
	if (!is_atomic && (field->flags & BT_SCHEMA_LIST_SET) != 0) {
		bt_strbuf_append_c(&check->path, "[=");
		bt_json_writer_init(&writer, &check->path, 0);
		bt_json_write_value(&writer, element);
		bt_strbuf_append_char(&check->path, ']');
		return NULL;
	}
	if (keys == NULL || element->type != BT_JSON_OBJECT) {
		bt_strbuf_printf(&check->path, "[%u]", (unsigned)index);
		return NULL;
	}
	for (uint32_t i = 0; keys[i] != NULL; i++) {
		const struct bt_json_value *value = bt_json_find(element, keys[i]);
		bt_strbuf_printf(&check->path, "%s%s=", i == 0 ? "[" : ",", keys[i]);
		bt_json_writer_init(&writer, &check->path, 0);
		if (value != NULL) {
			bt_json_write_value(&writer, value);
		} else if (!bt_field_write_key_default(field, keys[i], &writer)) {
			bt_strbuf_append_c(&check->path, "null");
			omitted = omitted == NULL ? keys[i] : omitted;
		}
	}
	bt_strbuf_append_char(&check->path, ']');
	return omitted;
}

/* Checks the elements of a list, and that their keys are complete and differ. */
static void check_list(
	struct check *check, const struct bt_schema_field *field, const struct bt_json_value *list)
{
	size_t length = check->path.length;
	bool is_keyed = (field->flags & BT_SCHEMA_ATOMIC) == 0 &&
		(field->list_keys != NULL || (field->flags & BT_SCHEMA_LIST_SET) != 0);
	struct bt_text_set keys = {0};
	for (uint32_t i = 0; i < list->count; i++) {
		const char *omitted = append_element(check, field, list->elements[i], i);
		struct bt_str key =
			bt_str_sub(bt_strbuf_str(&check->path), (uint32_t)length, BT_STR_MAX);
		bool is_new = true;
		if (is_keyed && list->count > 1) {
			key = bt_arena_str(&check->arena, key);
			is_new = bt_text_set_add(&keys, key);
		}
		if (omitted == NULL && is_new) {
			check_one(check, field, list->elements[i]);
			check->path.length = length;
			continue;
		}
		check->path.length = length;
		if (omitted != NULL) {
			report(check,
				"element %u: associative list with keys has an element that omits "
				"key field \"%s\" (and doesn't have default value)",
				(unsigned)i, omitted);
		} else {
			report(check, "duplicate entries for key %.*s", BT_STR_ARG(key));
		}
	}
	bt_text_set_finish(&keys);
}

static void check_field(
	struct check *check, const struct bt_schema_field *field, const struct bt_json_value *value)
{
	size_t length = check->path.length;
	bool is_list = field->shape == BT_SCHEMA_LIST;
	if (field->shape == BT_SCHEMA_SINGLE) {
		check_one(check, field, value);
		return;
	}
	if (value->type == BT_JSON_NULL) {
		return;
	}
	if (value->type != (is_list ? BT_JSON_ARRAY : BT_JSON_OBJECT)) {
		report_value(check, is_list ? "list" : "map", false, value);
		return;
	}
	if (is_list) {
		check_list(check, field, value);
		return;
	}
	for (uint32_t i = 0; i < value->count; i++) {
		bt_strbuf_append_char(&check->path, '.');
		bt_strbuf_append_str(&check->path, value->members[i].name);
		check_one(check, field, value->members[i].value);
		check->path.length = length;
	}
}

int bt_apply_check(const struct bt_schema_message *message, const struct bt_schema_message *parts,
	const struct bt_json_value *applied, struct berth_error *err)
{
	struct check check = {0};
	const struct bt_json_value *metadata = bt_json_find(applied, "metadata");
	if (message != NULL) {
		check_message(&check, message, applied);
	} else {
		if (metadata != NULL) {
			/* metadata is the same message for every kind */
			message = bt_schema_find(BT_STR("v1"), BT_STR("ConfigMap"));
			bt_strbuf_append_c(&check.path, ".metadata");
			check_field(&check, bt_schema_field_find(message, BT_STR("metadata"), NULL),
				metadata);
			check.path.length = 0;
		}
		check.only_keys = true;
		if (parts != NULL) {
			check_message(&check, parts, applied);
		}
	}
	int result = 0;
	if (check.problem_count == 1) {
		result = bt_error_set(err, BERTH_ERR_INVALID, "%s",
			bt_strbuf_c(&check.problems) + strlen("\n  "));
	} else if (check.problem_count != 0) {
		result = bt_error_set(
			err, BERTH_ERR_INVALID, "errors:%s", bt_strbuf_c(&check.problems));
	}
	bt_strbuf_finish(&check.path);
	bt_strbuf_finish(&check.problems);
	bt_arena_finish(&check.arena);
	return result;
}
