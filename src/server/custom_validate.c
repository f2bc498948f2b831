/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Validates custom objects by the schema of their definition's version: OpenAPI, list types, and
 * the rules of x-kubernetes-validations. An update does not check unchanged values again. Recursion
 * follows the object, whose depth is limited.
 */
#include <arpa/inet.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/time.h"
#include "base/duration.h"
#include "base/shortest.h"
#include "base/unicode.h"
#include "codec/base64.h"
#include "codec/path.h"
#include "server/custom_rules.h"
#include "server/custom_schema.h"
#include "server/expression.h"
#include "server/kinds/common.h"

#define PROBLEMS_MAX 100
/** Largest total CEL cost of the rules for one object. */
#define RULES_COST_MAX UINT64_C(10000000)
#define MESSAGE_BYTES_MAX 5120

struct checker {
	const struct bt_custom_rules *rules;
	struct bt_field_errors *errors;
	uint64_t lookups;
	uint64_t cost_left;
	bool is_blocked; /* skip further rules: the object is invalid, or the cost is used up */
};

static struct bt_str path_text(struct checker *checker, const struct bt_path *place)
{
	struct bt_strbuf buffer = {0};
	bt_path_render(place, &buffer);
	struct bt_str text = bt_arena_take_strbuf(checker->errors->arena, &buffer);
	return place != NULL ? text : BT_STR("");
}

BT_PRINTF(5, 6)
static void add_error(struct checker *checker, enum bt_field_error_type type,
	const struct bt_path *place, const struct bt_json_value *value, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	struct bt_str text = bt_failure_vprintf(checker->errors->arena, format, arguments);
	va_end(arguments);
	bt_kinds_error(checker->errors, type, place != NULL ? place : BT_PATH_NAME(NULL, "<nil>"),
		value, "%.*s", BT_STR_ARG(text));
	checker->is_blocked = checker->is_blocked || type == BT_FIELD_REQUIRED ||
		type == BT_FIELD_TOO_LONG || type == BT_FIELD_TOO_MANY;
}

/** Adds the error `spec.a in body <text>`. */
BT_PRINTF(4, 5)
static void add_body_error(struct checker *checker, const struct bt_path *place,
	const struct bt_json_value *value, const char *format, ...)
{
	struct bt_str path = path_text(checker, place);
	va_list arguments;
	va_start(arguments, format);
	struct bt_str text = bt_failure_vprintf(checker->errors->arena, format, arguments);
	va_end(arguments);
	add_error(checker, BT_FIELD_INVALID, place, value, "%.*s in body %.*s", BT_STR_ARG(path),
		BT_STR_ARG(text));
}

/** --- types --- */

static double parse_double(struct bt_str number)
{
	char buffer[64];
	snprintf(buffer, sizeof(buffer), "%.*s", BT_STR_ARG(number));
	return strtod(buffer, NULL);
}

static const char *type_name(const struct bt_json_value *value)
{
	double number;
	int64_t whole;
	bool is_integer;
	switch (value->type) {
	case BT_JSON_NULL:
		return "null";
	case BT_JSON_BOOL:
		return "boolean";
	case BT_JSON_NUMBER:
		number = parse_double(value->text);
		is_integer = bt_json_number_int64(value->text, &whole) ||
			(number == floor(number) && fabs(number) < 0x1p63);
		return is_integer ? "integer" : "number";
	case BT_JSON_STRING:
		return "string";
	case BT_JSON_ARRAY:
		return "array";
	case BT_JSON_OBJECT:
	case BT_JSON__COUNT:
		break;
	}
	return "object";
}

/** --- values --- */

static bool number_at(const struct bt_json_value *schema, const char *name, double *out)
{
	const struct bt_json_value *value = bt_json_find(schema, name);
	if (value == NULL || value->type != BT_JSON_NUMBER) {
		return false;
	}
	*out = parse_double(value->text);
	return true;
}

/** Returns a bound as Go prints it. */
static const char *bound_text(struct checker *checker, double bound)
{
	struct bt_strbuf text = {0};
	bt_shortest_append_general(&text, bound);
	return bt_arena_take_strbuf(checker->errors->arena, &text).data;
}

/** 0.07 is a multiple of 0.01, although the quotient of the two doubles is not a whole number. */
#define ROUNDING_MAX (4 * DBL_EPSILON)

static void check_number(struct checker *checker, const struct bt_path *place,
	const struct bt_json_value *schema, const struct bt_json_value *value)
{
	double number = parse_double(value->text);
	double bound;
	for (size_t i = 0; i < 2; i++) {
		bool is_max = i == 0;
		bool exclusive = bt_json_bool_at(
			schema, is_max ? "exclusiveMaximum" : "exclusiveMinimum", false);
		if (number_at(schema, is_max ? "maximum" : "minimum", &bound) &&
			((is_max ? number > bound : number < bound) ||
				(exclusive && number == bound))) {
			add_body_error(checker, place, value, "should be %s than %s%s",
				is_max ? "less" : "greater", exclusive ? "" : "or equal to ",
				bound_text(checker, bound));
		}
	}
	if (number_at(schema, "multipleOf", &bound) && bound > 0) {
		double times = number / bound;
		if (fabs(times - round(times)) > ROUNDING_MAX * fabs(times)) {
			add_body_error(checker, place, value, "should be a multiple of %s",
				bound_text(checker, bound));
		}
	}
}

static bool has_format(const struct bt_custom_node *node, struct bt_str format, struct bt_str text,
	struct bt_arena *arena)
{
	unsigned char address[16];
	struct bt_time time;
	struct bt_str bytes;
	int64_t ns;
	if (node->format != NULL) {
		return bt_cel_regex_find(node->format, text, 0, NULL, NULL);
	}
	if (bt_str_equal_c(format, "date-time") || bt_str_equal_c(format, "datetime")) {
		return bt_time_parse(text, &time, NULL) == 0;
	}
	if (bt_str_equal_c(format, "date")) {
		return text.length == 10 &&
			bt_time_parse(bt_arena_printf(arena, "%.*sT00:00:00Z", BT_STR_ARG(text)),
				&time, NULL) == 0;
	}
	if (bt_str_equal_c(format, "duration")) {
		return bt_duration_parse(text, &ns, NULL) == 0;
	}
	if (bt_str_equal_c(format, "byte")) {
		return bt_base64_decode(text, arena, &bytes, NULL) == 0;
	}
	if (bt_str_equal_c(format, "ipv4") || bt_str_equal_c(format, "ipv6")) {
		int family = bt_str_equal_c(format, "ipv4") ? AF_INET : AF_INET6;
		return inet_pton(family, bt_arena_str(arena, text).data, address) == 1;
	}
	if (bt_str_equal_c(format, "cidr")) {
		int64_t slash = bt_str_find_char(text, '/');
		int64_t length;
		if (slash < 0 ||
			!bt_str_parse_int64(
				bt_str_sub(text, (uint32_t)slash + 1, text.length), &length)) {
			return false;
		}
		const char *ip = bt_arena_str(arena, bt_str_sub(text, 0, (uint32_t)slash)).data;
		return length >= 0 &&
			((length <= 32 && inet_pton(AF_INET, ip, address) == 1) ||
				(length <= 128 && inet_pton(AF_INET6, ip, address) == 1));
	}
	return true;
}

static void check_text(struct checker *checker, const struct bt_path *place,
	const struct bt_json_value *schema, const struct bt_json_value *value,
	const struct bt_custom_node *node)
{
	struct bt_str text = value->text;
	int64_t length = 0; /* in code points */
	int64_t most = bt_json_int64_at(schema, "maxLength", INT64_MAX);
	int64_t least = bt_json_int64_at(schema, "minLength", 0);
	struct bt_str format = bt_json_text_at(schema, "format");
	uint32_t rune;
	for (uint32_t at = 0; at < text.length; length++) {
		uint32_t bytes = bt_utf8_decode(text.data + at, text.length - at, &rune);
		at += bytes != 0 ? bytes : 1;
	}
	if (length > most) {
		add_error(checker, BT_FIELD_TOO_LONG, place, value,
			"may not be more than %lld bytes", (long long)most);
	}
	if (length < least) {
		add_body_error(checker, place, value, "should be at least %lld chars long",
			(long long)least);
	}
	if (node != NULL && node->pattern != NULL &&
		!bt_cel_regex_find(node->pattern, text, 0, NULL, NULL)) {
		add_body_error(checker, place, value, "should match '%.*s'",
			BT_STR_ARG(bt_json_text_at(schema, "pattern")));
	}
	if (node != NULL && format.length != 0 &&
		!has_format(node, format, text, checker->errors->arena)) {
		add_body_error(checker, place, value, "must be of type %.*s: \"%.*s\"",
			BT_STR_ARG(format), BT_STR_ARG(text));
	}
}

static void check_enum(struct checker *checker, const struct bt_path *place,
	const struct bt_json_value *schema, const struct bt_json_value *value)
{
	const struct bt_json_value *allowed = bt_json_array_at(schema, "enum");
	struct bt_strbuf texts = {0};
	bool found = allowed->count == 0;
	if (!bt_custom_take(&checker->lookups, allowed->count)) {
		return;
	}
	for (uint32_t i = 0; i < allowed->count && !found; i++) {
		found = bt_json_same(allowed->elements[i], value);
		if (i < 20) {
			struct bt_json_writer writer;
			bt_strbuf_append_c(&texts, i != 0 ? ", " : "");
			bt_json_writer_init(&writer, &texts, 0);
			writer.escape_html = false;
			if (allowed->elements[i]->type == BT_JSON_STRING) {
				bt_strbuf_append_quoted(&texts, allowed->elements[i]->text);
			} else {
				bt_json_write_value(&writer, allowed->elements[i]);
			}
		}
	}
	if (!found) {
		add_error(checker, BT_FIELD_NOT_SUPPORTED, place, value, "%s", bt_strbuf_c(&texts));
	}
	bt_strbuf_finish(&texts);
}

/** --- lists --- */

/**
 * Returns whether two items of a list of type map have equal keys. If there are no keys, returns
 * whether the items are equal.
 */
static bool same_item(const struct bt_json_value *keys, const struct bt_json_value *schema,
	const struct bt_json_value *a, const struct bt_json_value *b)
{
	if (keys->count == 0) {
		return bt_json_same(a, b);
	}
	for (uint32_t i = 0; i < keys->count; i++) {
		struct bt_str key = keys->elements[i]->text;
		const struct bt_json_value *fallback = bt_json_find(
			bt_json_get(bt_json_object_at(schema, "items.properties"), key), "default");
		const struct bt_json_value *left = bt_json_get(a, key);
		const struct bt_json_value *right = bt_json_get(b, key);
		left = left != NULL ? left : fallback;
		right = right != NULL ? right : fallback;
		if ((left == NULL) != (right == NULL) ||
			(left != NULL && !bt_json_same(left, right))) {
			return false;
		}
	}
	return true;
}

static void check_list(struct checker *checker, const struct bt_path *place,
	const struct bt_json_value *schema, const struct bt_json_value *list)
{
	int64_t most = bt_json_int64_at(schema, "maxItems", INT64_MAX);
	int64_t least = bt_json_int64_at(schema, "minItems", 0);
	struct bt_str type = bt_json_text_at(schema, "x-kubernetes-list-type");
	const struct bt_json_value *keys = bt_json_array_at(schema, "x-kubernetes-list-map-keys");
	bool is_map = bt_str_equal_c(type, "map");
	bool is_unique = bt_json_bool_at(schema, "uniqueItems", false);
	uint64_t pairs = (uint64_t)list->count * list->count / 2;
	if (list->count > most) {
		add_error(checker, BT_FIELD_TOO_MANY, place,
			bt_json_new_int64(checker->errors->arena, list->count),
			"must have at most %lld items", (long long)most);
	}
	if (list->count < least) {
		add_body_error(checker, place,
			bt_json_new_int64(checker->errors->arena, list->count),
			"should have at least %lld items", (long long)least);
	}
	if ((!is_map && !is_unique && !bt_str_equal_c(type, "set")) ||
		!bt_custom_take(&checker->lookups, pairs)) {
		return;
	}
	for (uint32_t i = 1; i < list->count; i++) {
		for (uint32_t k = 0; k < i; k++) {
			if (!same_item(keys, schema, list->elements[k], list->elements[i])) {
				continue;
			}
			if (is_unique) {
				add_body_error(
					checker, place, NULL, "shouldn't contain duplicates");
				return;
			}
			struct bt_json_value *shown = list->elements[i];
			if (is_map && shown->type == BT_JSON_OBJECT) {
				struct bt_arena *arena = checker->errors->arena;
				shown = bt_json_new(arena, BT_JSON_OBJECT);
				for (uint32_t n = 0; n < keys->count; n++) {
					struct bt_json_value *part = bt_json_get(
						list->elements[i], keys->elements[n]->text);
					if (part != NULL) {
						bt_json_set(arena, shown, keys->elements[n]->text,
							part);
					}
				}
			}
			add_error(checker, BT_FIELD_DUPLICATE, BT_PATH_INDEX(place, i), shown, "%s",
				"");
			break;
		}
	}
}

/** --- rules --- */

/** Appends the steps of a rule's fieldPath, such as .a.b['c d'], to the path of the place. */
static struct bt_str field_path(
	struct checker *checker, const struct bt_path *place, struct bt_str path)
{
	struct bt_strbuf text = {0};
	struct bt_str base = path_text(checker, place);
	bt_strbuf_append_str(&text, base);
	for (uint32_t i = 0; i < path.length; i++) {
		if (path.data[i] == '[') {
			int64_t end = bt_str_find_char(bt_str_sub(path, i, path.length), ']');
			if (end < 4) {
				break;
			}
			bt_strbuf_printf(&text, "%s%.*s", text.length != 0 ? "." : "",
				(int)(end - 3), path.data + i + 2);
			i += (uint32_t)end;
		} else if (path.data[i] != '.' || text.length != 0) {
			bt_strbuf_append_char(&text, path.data[i]);
		}
	}
	return bt_arena_take_strbuf(checker->errors->arena, &text);
}

/** Reports that the rule is violated, or that its evaluation failed. */
static void report_rule(struct checker *checker, const struct bt_path *place,
	const struct bt_custom_rule *rule, const struct bt_cel_value *result,
	const struct bt_cel_value values[2], const struct bt_json_value *type_text,
	struct bt_arena *arena)
{
	static const struct {
		const char *reason;
		enum bt_field_error_type type;
	} reasons[] = {
		{"FieldValueForbidden", BT_FIELD_FORBIDDEN},
		{"FieldValueRequired", BT_FIELD_REQUIRED},
		{"FieldValueDuplicate", BT_FIELD_DUPLICATE},
	};
	struct bt_str reason = bt_json_text_at(rule->source, "reason");
	struct bt_str message = bt_str_trim(bt_json_text_at(rule->source, "message"), BT_STR_SPACE);
	struct bt_str rule_text = bt_str_trim(bt_json_text_at(rule->source, "rule"), BT_STR_SPACE);
	struct bt_str path = bt_json_text_at(rule->source, "fieldPath");
	enum bt_field_error_type type = BT_FIELD_INVALID;
	if (bt_cel_is_error(result)) {
		add_error(checker, BT_FIELD_INVALID, place, type_text, "%.*s evaluating rule: %.*s",
			BT_STR_ARG(result->text),
			BT_STR_ARG(message.length != 0 ? message : rule_text));
		return;
	}
	struct bt_cel_value made = {.kind = BT_CEL_NULL};
	if (rule->message != NULL) {
		struct bt_cel_limits limits = {.cost_max = BT_CEL_COST_MAX};
		made = bt_cel_evaluate(rule->message, values, &limits, arena);
	}
	if (made.kind == BT_CEL_STRING && bt_str_trim(made.text, BT_STR_SPACE).length != 0 &&
		made.text.length <= MESSAGE_BYTES_MAX && bt_str_find_char(made.text, '\n') < 0) {
		message = bt_arena_str(checker->errors->arena, made.text);
	} else if (message.length == 0) {
		message = bt_arena_printf(
			checker->errors->arena, "failed rule: %.*s", BT_STR_ARG(rule_text));
	}
	for (size_t i = 0; i < BT_ARRAY_LENGTH(reasons); i++) {
		type = bt_str_equal_c(reason, reasons[i].reason) ? reasons[i].type : type;
	}
	struct bt_str at = field_path(checker, place, path);
	bt_field_errors_add(checker->errors, type, at.length != 0 ? at : BT_STR("<nil>"), type_text,
		"%.*s", BT_STR_ARG(message));
}

static void evaluate_rule(struct checker *checker, const struct bt_path *place,
	const struct bt_custom_node *node, const struct bt_custom_rule *rule,
	struct bt_cel_value values[2], bool has_old, struct bt_arena *arena)
{
	const struct bt_cel_value old = values[1];
	struct bt_cel_value optional = {.kind = BT_CEL_OPTIONAL, .optional = has_old ? &old : NULL};
	if (rule->program == NULL || (rule->uses_old && !has_old && !rule->optional_old)) {
		return;
	}
	if (rule->uses_old && rule->optional_old) {
		values[1] = optional;
	}
	uint64_t cost = 0;
	struct bt_cel_limits limits = {
		.cost_max = BT_MIN(BT_CEL_COST_MAX, checker->cost_left), .out_cost = &cost};
	struct bt_cel_value result = bt_cel_evaluate(rule->program, values, &limits, arena);
	bool is_violated =
		bt_cel_is_error(&result) || (result.kind == BT_CEL_BOOL && !result.boolean);
	checker->cost_left -= BT_MIN(cost, checker->cost_left);
	if (checker->cost_left == 0 || is_violated) {
		const struct bt_json_value *type_text = bt_json_new_str(
			checker->errors->arena, bt_json_text_at(node->schema, "type"));
		if (checker->cost_left != 0) {
			report_rule(checker, place, rule, &result, values, type_text, arena);
		} else {
			add_error(checker, BT_FIELD_INVALID, place, type_text,
				"validation failed due to running out of cost budget, no further "
				"validation rules will be run");
			checker->is_blocked = true;
		}
	}
	values[1] = old;
}

/**
 * Returns the old element with the same keys; NULL: there is none, or the list is not of type map,
 * so that elements cannot be matched.
 */
static const struct bt_json_value *old_item(struct checker *checker,
	const struct bt_json_value *schema, const struct bt_json_value *old,
	const struct bt_json_value *item)
{
	const struct bt_json_value *keys = bt_json_array_at(schema, "x-kubernetes-list-map-keys");
	if (old == NULL || old->type != BT_JSON_ARRAY || keys->count == 0 ||
		!bt_custom_take(&checker->lookups, old->count)) {
		return NULL;
	}
	for (uint32_t i = 0; i < old->count; i++) {
		if (same_item(keys, schema, old->elements[i], item)) {
			return old->elements[i];
		}
	}
	return NULL;
}

/**
 * Evaluates the rules of the schema for a value, unless the value is unchanged. old NULL: there was
 * no value, or the old value cannot be matched.
 */
static void evaluate_rules(struct checker *checker, const struct bt_path *place,
	const struct bt_json_value *schema, const struct bt_json_value *old,
	const struct bt_json_value *value)
{
	const struct bt_custom_node *node = bt_custom_rules_find(checker->rules, schema);
	if (node == NULL || !node->has_rules || checker->is_blocked ||
		checker->errors->count >= PROBLEMS_MAX || value->type == BT_JSON_NULL ||
		(old != NULL && bt_json_same(old, value))) {
		return;
	}
	if (node->rule_count != 0) {
		struct bt_arena arena = {0};
		struct bt_cel_value values[2] = {bt_expression_value(schema, value, &arena)};
		if (old != NULL) {
			values[1] = bt_expression_value(schema, old, &arena);
		}
		for (uint32_t i = 0; i < node->rule_count && !checker->is_blocked; i++) {
			evaluate_rule(
				checker, place, node, &node->rules[i], values, old != NULL, &arena);
		}
		bt_arena_finish(&arena);
	}
	for (uint32_t i = 0; value->type == BT_JSON_OBJECT && i < value->count; i++) {
		struct bt_str name = value->members[i].name;
		bool is_known;
		const struct bt_json_value *sub = bt_custom_member(schema, name, &is_known);
		const struct bt_json_value *before = old != NULL ? bt_json_get(old, name) : NULL;
		if (sub != NULL) {
			evaluate_rules(checker, BT_PATH_STR(place, name), sub, before,
				value->members[i].value);
		}
	}
	for (uint32_t i = 0; value->type == BT_JSON_ARRAY && i < value->count; i++) {
		const struct bt_json_value *sub = bt_json_find(schema, "items");
		if (sub != NULL) {
			evaluate_rules(checker, BT_PATH_INDEX(place, i), sub,
				old_item(checker, schema, old, value->elements[i]),
				value->elements[i]);
		}
	}
}

/** --- the whole object --- */

static void check(struct checker *checker, const struct bt_path *place,
	const struct bt_json_value *schema, const struct bt_json_value *old,
	const struct bt_json_value *value);

static void check_members(struct checker *checker, const struct bt_path *place,
	const struct bt_json_value *schema, const struct bt_json_value *old,
	const struct bt_json_value *object)
{
	const struct bt_json_value *required = bt_json_array_at(schema, "required");
	const struct bt_json_value *properties = bt_json_object_at(schema, "properties");
	int64_t most = bt_json_int64_at(schema, "maxProperties", INT64_MAX);
	int64_t least = bt_json_int64_at(schema, "minProperties", 0);
	if (!bt_custom_take(&checker->lookups,
		    ((uint64_t)object->count + 1) *
			    ((uint64_t)properties->count + required->count))) {
		return;
	}
	if (object->count > most) {
		add_error(checker, BT_FIELD_TOO_MANY, place,
			bt_json_new_int64(checker->errors->arena, object->count),
			"must have at most %lld items", (long long)most);
	}
	if (object->count < least) {
		add_body_error(checker, place,
			bt_json_new_int64(checker->errors->arena, object->count),
			"should have at least %lld properties", (long long)least);
	}
	for (uint32_t i = 0; i < required->count; i++) {
		struct bt_str name = required->elements[i]->text;
		if (name.data != NULL && bt_json_get(object, name) == NULL) {
			add_error(checker, BT_FIELD_REQUIRED, BT_PATH_STR(place, name), NULL, "%s",
				"");
		}
	}
	bool is_embedded = bt_json_bool_at(schema, "x-kubernetes-embedded-resource", false);
	if (is_embedded) {
		static const char *const texts[] = {"apiVersion", "kind"};
		for (size_t i = 0; i < BT_ARRAY_LENGTH(texts); i++) {
			if (bt_json_text_at(object, texts[i]).length == 0) {
				bt_kinds_error(checker->errors, BT_FIELD_REQUIRED,
					BT_PATH_NAME(place, texts[i]), NULL, "must not be empty");
			}
		}
		bt_kinds_check_metadata(checker->errors, place, object, BT_NAME_SUBDOMAIN);
	}
	for (uint32_t i = 0; i < object->count; i++) {
		const struct bt_json_member *member = &object->members[i];
		bool is_known;
		const struct bt_json_value *sub = bt_custom_member(schema, member->name, &is_known);
		const struct bt_json_value *before =
			old != NULL ? bt_json_get(old, member->name) : NULL;
		/* the API checks the metadata of an object */
		bool is_metadata =
			bt_str_equal_c(member->name, "metadata") && (place == NULL || is_embedded);
		if (sub != NULL && !is_metadata) {
			check(checker, BT_PATH_STR(place, member->name), sub, before,
				member->value);
		}
	}
}

/**
 * Checks the value by another schema and returns the number of errors, which go to *errors instead
 * of the checker's errors.
 */
static uint32_t count_errors(struct checker *checker, const struct bt_path *place,
	const struct bt_json_value *schema, const struct bt_json_value *value,
	struct bt_field_errors *errors)
{
	struct checker trial = *checker;
	*errors = (struct bt_field_errors){.arena = checker->errors->arena};
	trial.errors = errors;
	check(&trial, place, schema, NULL, value);
	checker->lookups = trial.lookups;
	return errors->count;
}

static void take_errors(struct checker *checker, struct bt_field_errors *errors)
{
	for (struct bt_field_error *error = errors->first; error != NULL; error = error->next) {
		checker->is_blocked = checker->is_blocked || error->type == BT_FIELD_REQUIRED;
	}
	if (errors->count != 0 && checker->errors->count < PROBLEMS_MAX) {
		if (checker->errors->last == NULL) {
			checker->errors->last = &checker->errors->first;
		}
		*checker->errors->last = errors->first;
		checker->errors->last = errors->last;
		checker->errors->count += errors->count;
	}
}

/**
 * Checks `allOf`, `anyOf`, `oneOf` and `not`. If too few alternatives match, also reports the
 * errors of the alternative with the fewest errors.
 */
static void check_combinations(struct checker *checker, const struct bt_path *place,
	const struct bt_json_value *schema, const struct bt_json_value *value)
{
	static const char *const names[] = {"anyOf", "oneOf", "allOf"};
	struct bt_str path = path_text(checker, place);
	const struct bt_json_value *empty = bt_json_new_c(checker->errors->arena, "");
	const struct bt_json_value *not = bt_json_find(schema, "not");
	struct bt_field_errors errors;
	for (size_t n = 0; n < BT_ARRAY_LENGTH(names); n++) {
		const struct bt_json_value *list = bt_json_array_at(schema, names[n]);
		struct bt_field_errors best = {0};
		uint32_t matches = 0;
		for (uint32_t i = 0; i < list->count && bt_custom_take(&checker->lookups, 1); i++) {
			if (count_errors(checker, place, list->elements[i], value, &errors) == 0) {
				matches++;
			} else if (best.count == 0 || errors.count < best.count) {
				best = errors;
			}
		}
		if (list->count == 0) {
			continue;
		}
		if (n < 2 && matches == 0) {
			take_errors(checker, &best);
			add_error(checker, BT_FIELD_INVALID, place, empty,
				"\"%.*s\" must validate %s", BT_STR_ARG(path),
				n == 0 ? "at least one schema (anyOf)"
				       : "one and only one schema (oneOf). Found none valid");
		} else if (n == 1 && matches > 1) {
			add_error(checker, BT_FIELD_INVALID, place, empty,
				"\"%.*s\" must validate one and only one schema (oneOf). Found %u "
				"valid alternatives",
				BT_STR_ARG(path), matches);
		} else if (n == 2 && matches < list->count) {
			take_errors(checker, &best);
			add_error(checker, BT_FIELD_INVALID, place, empty,
				"\"%.*s\" must validate all the schemas (allOf)%s",
				BT_STR_ARG(path), matches == 0 ? ". None validated" : "");
		}
	}
	if (not != NULL && not ->type == BT_JSON_OBJECT &&
		count_errors(checker, place, not, value, &errors) == 0) {
		add_error(checker, BT_FIELD_INVALID, place, empty,
			"\"%.*s\" must not validate the schema (not)", BT_STR_ARG(path));
	}
}

static void check(struct checker *checker, const struct bt_path *place,
	const struct bt_json_value *schema, const struct bt_json_value *old,
	const struct bt_json_value *value)
{
	const struct bt_custom_node *node = bt_custom_rules_find(checker->rules, schema);
	if (checker->errors->count >= PROBLEMS_MAX || (old != NULL && bt_json_same(old, value))) {
		return;
	}
	const char *found = type_name(value);
	struct bt_str type = bt_json_text_at(schema, "type");
	bool has_type = type.length == 0 || bt_str_equal_c(type, found) ||
		(value->type == BT_JSON_NUMBER && bt_str_equal_c(type, "number"));
	if (bt_json_bool_at(schema, "x-kubernetes-int-or-string", false)) {
		type = BT_STR("integer,string");
		has_type = strcmp(found, "integer") == 0 || strcmp(found, "string") == 0;
	}
	if (!has_type &&
		!(value->type == BT_JSON_NULL && bt_json_bool_at(schema, "nullable", false))) {
		add_body_error(checker, place, bt_json_new_c(checker->errors->arena, found),
			"must be of type %.*s: \"%s\"", BT_STR_ARG(type), found);
		checker->is_blocked = true;
		return;
	}
	check_combinations(checker, place, schema, value);
	if (value->type == BT_JSON_STRING) {
		check_text(checker, place, schema, value, node);
	} else if (value->type == BT_JSON_NUMBER) {
		check_number(checker, place, schema, value);
	} else if (value->type == BT_JSON_ARRAY) {
		const struct bt_json_value *items = bt_json_find(schema, "items");
		check_list(checker, place, schema, value);
		for (uint32_t i = 0; items != NULL && i < value->count; i++) {
			check(checker, BT_PATH_INDEX(place, i), items,
				old_item(checker, schema, old, value->elements[i]),
				value->elements[i]);
		}
	}
	if (value->type != BT_JSON_NULL) {
		check_enum(checker, place, schema, value);
	}
	if (value->type == BT_JSON_OBJECT) {
		check_members(checker, place, schema, old, value);
	}
}

void bt_custom_validate(const struct bt_api_resource *resource, const struct bt_json_value *old,
	const struct bt_json_value *object, struct bt_field_errors *errors)
{
	const struct bt_json_value *schema = bt_custom_root(resource);
	struct checker checker = {.rules = resource->rules,
		.errors = errors,
		.lookups = BT_CUSTOM_LOOKUPS_MAX,
		.cost_left = RULES_COST_MAX};
	if (schema == NULL) {
		return;
	}
	check(&checker, NULL, schema, old, object);
	const struct bt_custom_node *node = bt_custom_rules_find(checker.rules, schema);
	if (!checker.is_blocked) {
		evaluate_rules(&checker, NULL, schema, old, object);
	} else if (node != NULL && node->has_rules) {
		bt_field_errors_add(errors, BT_FIELD_INVALID, BT_STR("<nil>"),
			bt_json_new_c(errors->arena, "null"),
			"some validation rules were not checked because the object was invalid; "
			"correct the existing errors to complete validation");
	}
}

void bt_custom_validate_default(const struct bt_custom_rules *rules, const struct bt_path *place,
	const struct bt_json_value *schema, struct bt_field_errors *errors, uint64_t *lookups)
{
	const struct bt_json_value *given = bt_json_find(schema, "default");
	struct bt_arena *arena = errors->arena;
	struct bt_json_value *value = bt_json_clone(arena, given, true);
	struct bt_json_value *problems = bt_json_new(arena, BT_JSON_ARRAY);
	bt_custom_complete(schema, place, value, true, arena, problems, lookups);
	struct checker checker = {
		.rules = rules, .errors = errors, .lookups = *lookups, .cost_left = RULES_COST_MAX};
	if (*lookups == 0) {
		return;
	}
	if (problems->count != 0) {
		add_error(&checker, BT_FIELD_INVALID, place, given,
			"must not have unknown fields: %.*s",
			BT_STR_ARG(problems->elements[0]->text));
		return;
	}
	check(&checker, place, schema, NULL, value);
	*lookups = checker.lookups;
	if (!checker.is_blocked) {
		evaluate_rules(&checker, place, schema, NULL, value);
	}
}
