/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What the schema of a CustomResourceDefinition says about an object: members that it does not
 * name go, defaults come, types, required members and ranges are checked. Recursion follows the
 * object, whose depth is limited.
 */
#include "server/custom_schema.h"

/** Comparisons of names for one object, and bytes of the defaults that it gets: what comes behind
 * them is left as it is. */
#define LOOKUPS_MAX (UINT64_C(1) << 24)
#define DEFAULT_BYTES_MAX (UINT64_C(4) << 20)
#define PROBLEMS_MAX 100
#define PATH_BYTES_MAX 1000

/** Where a value stands; the last of a chain of places on the stack. */
struct place {
	const struct place *parent;
	struct bt_str name; /* absent: index */
	uint32_t index;
};

static void append_path(struct bt_strbuf *out, const struct place *place)
{
	if (place == NULL) {
		return;
	}
	append_path(out, place->parent);
	if (place->name.data == NULL) {
		bt_strbuf_printf(out, "[%u]", place->index);
		return;
	}
	bt_strbuf_append_c(out, out->length != 0 ? "." : "");
	bt_strbuf_append_str(out, place->name);
}

static struct bt_str path_of(struct bt_arena *arena, const struct place *place)
{
	struct bt_strbuf buffer = {0};
	append_path(&buffer, place);
	struct bt_str path =
		bt_arena_str(arena, bt_str_sub(bt_strbuf_str(&buffer), 0, PATH_BYTES_MAX));
	bt_strbuf_finish(&buffer);
	return path;
}

static const struct bt_json_value *root_of(const struct bt_api_resource *resource)
{
	return bt_json_find_path(resource->definition_version, "schema.openAPIV3Schema");
}

/** Take from a budget; false: it is used up. */
static bool afford(uint64_t *budget, uint64_t amount)
{
	if (amount > *budget) {
		*budget = 0;
		return false;
	}
	*budget -= amount;
	return true;
}

/** Schema of a member; NULL: the schema says nothing about it. *out_known: it may be there. */
static const struct bt_json_value *member_schema(
	const struct bt_json_value *schema, struct bt_str name, bool *out_known)
{
	const struct bt_json_value *found =
		bt_json_get(bt_json_object_at(schema, "properties"), name);
	if (found == NULL) {
		found = bt_json_find(schema, "additionalProperties");
		*out_known = found != NULL &&
			(found->type == BT_JSON_OBJECT ||
				(found->type == BT_JSON_BOOL && found->boolean));
	} else {
		*out_known = true;
	}
	return found != NULL && found->type == BT_JSON_OBJECT ? found : NULL;
}

static bool is_own_member(const struct bt_json_value *schema, struct bt_str name, bool root)
{
	return (root && bt_str_equal_c(name, "metadata")) ||
		(bt_json_bool_at(schema, "x-kubernetes-embedded-resource", false) &&
			(bt_str_equal_c(name, "metadata") || bt_str_equal_c(name, "kind") ||
				bt_str_equal_c(name, "apiVersion")));
}

/** --- pruning and defaults --- */

struct completion {
	struct bt_arena *arena;
	struct bt_json_value *problems;
	uint64_t lookups;
	uint64_t default_bytes;
};

static void complete(struct completion *completion, const struct place *place,
	const struct bt_json_value *schema, struct bt_json_value *value);

static uint64_t weight_of(const struct bt_json_value *value)
{
	uint64_t weight = sizeof(*value) + value->text.length;
	for (uint32_t i = 0; i < value->count; i++) {
		weight += value->type == BT_JSON_ARRAY
			? weight_of(value->elements[i])
			: value->members[i].name.length + weight_of(value->members[i].value);
	}
	return weight;
}

static void complete_object(struct completion *completion, const struct place *place,
	const struct bt_json_value *schema, struct bt_json_value *object)
{
	const struct bt_json_value *properties = bt_json_object_at(schema, "properties");
	bool keeps = bt_json_bool_at(schema, "x-kubernetes-preserve-unknown-fields", false);
	uint32_t kept = 0;
	uint64_t wanted = ((uint64_t)object->count + properties->count) * properties->count;
	if (!afford(&completion->lookups, wanted * 2)) {
		return;
	}
	for (uint32_t i = 0; i < properties->count; i++) {
		const struct bt_json_member *property = &properties->members[i];
		const struct bt_json_value *given = bt_json_find(property->value, "default");
		if (given != NULL && completion->default_bytes != 0 &&
			bt_json_get(object, property->name) == NULL &&
			afford(&completion->default_bytes,
				property->name.length + weight_of(given))) {
			bt_json_set(completion->arena, object,
				bt_arena_str(completion->arena, property->name),
				bt_json_clone(completion->arena, given, true));
		}
	}
	for (uint32_t i = 0; i < object->count; i++) {
		struct bt_json_member member = object->members[i];
		struct place at = {.parent = place, .name = member.name};
		bool known;
		const struct bt_json_value *sub = member_schema(schema, member.name, &known);
		if (is_own_member(schema, member.name, place == NULL)) {
			sub = NULL;
		} else if (!known && !keeps) {
			if (completion->problems->count < PROBLEMS_MAX) {
				struct bt_str path = path_of(completion->arena, &at);
				bt_json_append(completion->arena, completion->problems,
					bt_json_new_str(completion->arena,
						bt_arena_printf(completion->arena,
							"unknown field \"%.*s\"",
							BT_STR_ARG(path))));
			}
			continue;
		}
		if (sub != NULL) {
			complete(completion, &at, sub, member.value);
		}
		object->members[kept++] = member;
	}
	object->count = kept;
}

static void complete(struct completion *completion, const struct place *place,
	const struct bt_json_value *schema, struct bt_json_value *value)
{
	if (value->type == BT_JSON_OBJECT) {
		complete_object(completion, place, schema, value);
	} else if (value->type == BT_JSON_ARRAY) {
		const struct bt_json_value *items = bt_json_find(schema, "items");
		for (uint32_t i = 0; items != NULL && i < value->count; i++) {
			struct place at = {.parent = place, .index = i};
			complete(completion, &at, items, value->elements[i]);
		}
	}
}

void bt_custom_complete(const struct bt_api_resource *resource, struct bt_json_value *object,
	struct bt_arena *arena, struct bt_json_value *problems)
{
	const struct bt_json_value *schema = root_of(resource);
	struct completion completion = {arena, problems, LOOKUPS_MAX, DEFAULT_BYTES_MAX};
	if (schema != NULL && schema->type == BT_JSON_OBJECT) {
		complete(&completion, NULL, schema, object);
	}
}

/** --- validation --- */

static bool is_whole(struct bt_str number)
{
	int64_t value;
	return bt_json_number_int64(number, &value);
}

static bool has_type(const struct bt_json_value *schema, const struct bt_json_value *value)
{
	struct bt_str type = bt_json_text_at(schema, "type");
	if (bt_json_bool_at(schema, "x-kubernetes-int-or-string", false)) {
		return value->type == BT_JSON_STRING || value->type == BT_JSON_NUMBER;
	}
	switch (value->type) {
	case BT_JSON_NULL:
		return bt_json_bool_at(schema, "nullable", false) || type.length == 0;
	case BT_JSON_BOOL:
		return type.length == 0 || bt_str_equal_c(type, "boolean");
	case BT_JSON_NUMBER:
		return type.length == 0 || bt_str_equal_c(type, "number") ||
			(bt_str_equal_c(type, "integer") && is_whole(value->text));
	case BT_JSON_STRING:
		return type.length == 0 || bt_str_equal_c(type, "string");
	case BT_JSON_ARRAY:
		return type.length == 0 || bt_str_equal_c(type, "array");
	case BT_JSON_OBJECT:
		return type.length == 0 || bt_str_equal_c(type, "object");
	case BT_JSON__COUNT:
		break;
	}
	return false;
}

struct checker {
	struct bt_field_errors *errors;
	uint64_t lookups;
};

static void check(struct checker *checker, const struct place *place,
	const struct bt_json_value *schema, const struct bt_json_value *value);

static void check_range(struct bt_field_errors *errors, const struct place *place,
	const struct bt_json_value *schema, const struct bt_json_value *value)
{
	int64_t number;
	if (value->type != BT_JSON_NUMBER || !bt_json_number_int64(value->text, &number)) {
		return;
	}
	int64_t low = bt_json_int64_at(schema, "minimum", INT64_MIN);
	int64_t high = bt_json_int64_at(schema, "maximum", INT64_MAX);
	if (number < low) {
		bt_field_errors_add(errors, BT_FIELD_INVALID, path_of(errors->arena, place), value,
			"should be greater than or equal to %lld", (long long)low);
	}
	if (number > high) {
		bt_field_errors_add(errors, BT_FIELD_INVALID, path_of(errors->arena, place), value,
			"should be less than or equal to %lld", (long long)high);
	}
}

static void check_members(struct checker *checker, const struct place *place,
	const struct bt_json_value *schema, const struct bt_json_value *object)
{
	const struct bt_json_value *required = bt_json_array_at(schema, "required");
	const struct bt_json_value *properties = bt_json_object_at(schema, "properties");
	struct bt_field_errors *errors = checker->errors;
	if (!afford(&checker->lookups,
		    ((uint64_t)object->count + 1) *
			    ((uint64_t)properties->count + required->count))) {
		return;
	}
	for (uint32_t i = 0; i < required->count && errors->count < PROBLEMS_MAX; i++) {
		struct place at = {.parent = place, .name = required->elements[i]->text};
		if (at.name.data != NULL && bt_json_get(object, at.name) == NULL) {
			bt_field_errors_add(errors, BT_FIELD_REQUIRED, path_of(errors->arena, &at),
				NULL, "%s", "");
		}
	}
	for (uint32_t i = 0; i < object->count; i++) {
		const struct bt_json_member *member = &object->members[i];
		struct place at = {.parent = place, .name = member->name};
		bool known;
		const struct bt_json_value *sub = member_schema(schema, member->name, &known);
		if (sub != NULL && !is_own_member(schema, member->name, place == NULL)) {
			check(checker, &at, sub, member->value);
		}
	}
}

static void check(struct checker *checker, const struct place *place,
	const struct bt_json_value *schema, const struct bt_json_value *value)
{
	struct bt_field_errors *errors = checker->errors;
	if (errors->count >= PROBLEMS_MAX) {
		return;
	}
	if (!has_type(schema, value)) {
		struct bt_str path = path_of(errors->arena, place);
		struct bt_str type = bt_json_text_at(schema, "type");
		bt_field_errors_add(errors, BT_FIELD_INVALID, path, value,
			"%.*s in body must be of type %.*s: \"%s\"", BT_STR_ARG(path),
			BT_STR_ARG(type), bt_json_type_name(value->type));
		return;
	}
	if (afford(&checker->lookups, bt_json_array_at(schema, "enum")->count)) {
		const struct bt_json_value *allowed = bt_json_array_at(schema, "enum");
		struct bt_strbuf texts = {0};
		bool found = allowed->count == 0;
		for (uint32_t i = 0; i < allowed->count && !found; i++) {
			found = bt_json_equal(allowed->elements[i], value);
			if (i < 20 && allowed->elements[i]->type == BT_JSON_STRING) {
				bt_strbuf_append_c(&texts, i != 0 ? ", " : "");
				bt_strbuf_append_quoted(&texts, allowed->elements[i]->text);
			}
		}
		if (!found) {
			bt_field_errors_add(errors, BT_FIELD_NOT_SUPPORTED,
				path_of(errors->arena, place), value, "%s", bt_strbuf_c(&texts));
		}
		bt_strbuf_finish(&texts);
	}
	check_range(errors, place, schema, value);
	if (value->type == BT_JSON_OBJECT) {
		check_members(checker, place, schema, value);
	} else if (value->type == BT_JSON_ARRAY) {
		const struct bt_json_value *items = bt_json_find(schema, "items");
		for (uint32_t i = 0; items != NULL && i < value->count; i++) {
			struct place at = {.parent = place, .index = i};
			check(checker, &at, items, value->elements[i]);
		}
	}
}

void bt_custom_validate(const struct bt_api_resource *resource, const struct bt_json_value *object,
	struct bt_field_errors *errors)
{
	const struct bt_json_value *schema = root_of(resource);
	if (schema != NULL && schema->type == BT_JSON_OBJECT) {
		struct checker checker = {errors, LOOKUPS_MAX};
		check(&checker, NULL, schema, object);
	}
}
