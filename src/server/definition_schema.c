/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Schemas of a CustomResourceDefinition: drops their empty fields, and checks that the schemas are
 * structural and that their patterns and rules compile. Recursion follows the schema, whose depth
 * is limited.
 */
#include "codec/path.h"
#include "server/custom_rules.h"
#include "server/kinds/common.h"
#include "server/write.h"

/** Fields that Go's omitempty leaves out when they are empty. */
#define OMITTED_IF_EMPTY \
	"$schema allOf anyOf definitions dependencies description enum " \
	"exclusiveMaximum exclusiveMinimum format id nullable oneOf " \
	"patternProperties properties required title type uniqueItems " \
	"x-kubernetes-embedded-resource x-kubernetes-int-or-string " \
	"x-kubernetes-list-map-keys x-kubernetes-validations"

/**
 * Removes the empty fields of a schema, or of an array of schemas. schema: may also be a bool in
 * place of a schema; NULL accepted.
 */
static void remove_empty(struct bt_json_value *schema)
{
	static const char *const parts[] = {"items", "additionalItems", "additionalProperties",
		"allOf", "anyOf", "oneOf", "not"};
	static const char *const maps[] = {"properties", "patternProperties", "definitions"};
	for (uint32_t i = 0; schema != NULL && schema->type == BT_JSON_ARRAY && i < schema->count;
		i++) {
		remove_empty(schema->elements[i]);
	}
	if (schema == NULL || schema->type != BT_JSON_OBJECT) {
		return;
	}
	for (uint32_t i = schema->count; i > 0; i--) {
		struct bt_str name = schema->members[i - 1].name;
		if (bt_json_is_zero(schema->members[i - 1].value) &&
			bt_str_has_word(BT_STR(OMITTED_IF_EMPTY), name)) {
			(void)bt_json_remove(schema, name);
		}
	}
	for (size_t i = 0; i < BT_ARRAY_LENGTH(parts); i++) {
		remove_empty(bt_json_find(schema, parts[i]));
	}
	for (size_t i = 0; i < BT_ARRAY_LENGTH(maps); i++) {
		const struct bt_json_value *map = bt_json_object_at(schema, maps[i]);
		for (uint32_t k = 0; k < map->count; k++) {
			remove_empty(map->members[k].value);
		}
	}
}

void bt_definition_remove_empty(const struct bt_json_value *definition)
{
	const struct bt_json_value *versions = bt_json_array_at(definition, "spec.versions");
	for (uint32_t i = 0; i < versions->count; i++) {
		remove_empty(bt_json_find_path(versions->elements[i], "schema.openAPIV3Schema"));
	}
}

static const struct bt_json_value *flag(const struct bt_json_value *schema, const char *name)
{
	const struct bt_json_value *value = bt_json_find(schema, name);
	return value != NULL && value->type == BT_JSON_BOOL && value->boolean ? value : NULL;
}

static void check_structure(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *schema);

/** Checks the type and structure of a part's schema. `what`: the end of the error's text. */
static void check_part(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *schema, const char *what)
{
	static const char *const types[] = {
		"array", "boolean", "integer", "number", "object", "string", NULL};
	const struct bt_json_value *type = bt_json_find(schema, "type");
	const struct bt_path *at = BT_PATH_NAME(place, "type");
	if (type != NULL && type->type == BT_JSON_STRING && type->text.length != 0) {
		bt_kinds_check_allowed(errors, at, type, types);
	} else if (flag(schema, "x-kubernetes-int-or-string") == NULL &&
		flag(schema, "x-kubernetes-preserve-unknown-fields") == NULL) {
		bt_kinds_error(errors, BT_FIELD_REQUIRED, at, NULL, "must not be empty %s", what);
	}
	check_structure(errors, place, schema);
}

/**
 * A schema in `allOf`, `anyOf`, `oneOf` or `not` may only validate values: members such as default,
 * nullable or title are errors.
 */
static void check_value_validation(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *schema)
{
	static const char *const forbidden[] = {"additionalProperties", "default", "nullable",
		"title", "description", "x-kubernetes-preserve-unknown-fields",
		"x-kubernetes-embedded-resource"};
	const struct bt_json_value *properties = bt_json_object_at(schema, "properties");
	if (schema == NULL || schema->type != BT_JSON_OBJECT) {
		return;
	}
	for (size_t i = 0; i < BT_ARRAY_LENGTH(forbidden); i++) {
		if (bt_json_find(schema, forbidden[i]) != NULL) {
			bt_kinds_error(errors, BT_FIELD_FORBIDDEN,
				BT_PATH_NAME(place, forbidden[i]), NULL,
				"must be undefined to be structural");
		}
	}
	for (uint32_t i = 0; i < properties->count; i++) {
		check_value_validation(errors,
			BT_PATH_KEY(BT_PATH_NAME(place, "properties"), properties->members[i].name),
			properties->members[i].value);
	}
	check_value_validation(errors, BT_PATH_NAME(place, "items"), bt_json_find(schema, "items"));
}

static void check_list_type(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *schema)
{
	static const char *const types[] = {"atomic", "map", "set", NULL};
	const struct bt_json_value *type = bt_json_find(schema, "x-kubernetes-list-type");
	const struct bt_json_value *keys = bt_json_array_at(schema, "x-kubernetes-list-map-keys");
	const struct bt_path *at = BT_PATH_NAME(place, "x-kubernetes-list-map-keys");
	if (type == NULL || type->type != BT_JSON_STRING) {
		return;
	}
	bt_kinds_check_allowed(errors, BT_PATH_NAME(place, "x-kubernetes-list-type"), type, types);
	if (!bt_str_equal_c(type->text, "map")) {
		return;
	}
	if (keys->count == 0) {
		bt_kinds_error(errors, BT_FIELD_REQUIRED, at, NULL,
			"must not be empty if x-kubernetes-list-type is map");
	}
	for (uint32_t i = 0; i < keys->count; i++) {
		if (bt_json_get(bt_json_object_at(schema, "items.properties"),
			    keys->elements[i]->text) == NULL) {
			bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_INDEX(at, i),
				keys->elements[i], "entries must all be names of item properties");
		}
	}
}

static void check_structure(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *schema)
{
	static const char *const combinations[] = {"allOf", "anyOf", "oneOf"};
	static const char *const references[] = {"$ref", "definitions", "dependencies", "id",
		"patternProperties", "additionalItems"};
	const struct bt_json_value *properties = bt_json_object_at(schema, "properties");
	const struct bt_json_value *items = bt_json_find(schema, "items");
	const struct bt_json_value *additional = bt_json_find(schema, "additionalProperties");
	bool is_array = bt_str_equal_c(bt_json_text_at(schema, "type"), "array");
	if (errors->count >= 100) {
		return;
	}
	for (size_t i = 0; i < BT_ARRAY_LENGTH(references); i++) {
		if (bt_json_find(schema, references[i]) != NULL) {
			bt_kinds_error(errors, BT_FIELD_FORBIDDEN,
				BT_PATH_NAME(place, references[i]), NULL, "%s is not supported",
				references[i]);
		}
	}
	if (flag(schema, "uniqueItems") != NULL) {
		bt_kinds_error(errors, BT_FIELD_FORBIDDEN, BT_PATH_NAME(place, "uniqueItems"), NULL,
			"uniqueItems cannot be set to true since the runtime complexity becomes "
			"quadratic");
	}
	if (additional != NULL && properties->count != 0 &&
		(additional->type == BT_JSON_OBJECT ||
			flag(schema, "additionalProperties") != NULL)) {
		bt_kinds_error(errors, BT_FIELD_FORBIDDEN,
			BT_PATH_NAME(place, "additionalProperties"), NULL,
			"additionalProperties and properties are mutual exclusive");
	}
	if (is_array && items == NULL) {
		bt_kinds_error(errors, BT_FIELD_REQUIRED, BT_PATH_NAME(place, "items"), NULL,
			"must be specified");
	} else if (is_array && items->type == BT_JSON_ARRAY) {
		bt_kinds_error(errors, BT_FIELD_FORBIDDEN, BT_PATH_NAME(place, "items"), NULL,
			"items must be a schema object and not an array");
	}
	check_list_type(errors, place, schema);
	for (uint32_t i = 0; i < properties->count; i++) {
		check_part(errors,
			BT_PATH_KEY(BT_PATH_NAME(place, "properties"), properties->members[i].name),
			properties->members[i].value, "for specified object fields");
	}
	if (items != NULL && items->type == BT_JSON_OBJECT) {
		check_part(
			errors, BT_PATH_NAME(place, "items"), items, "for specified array items");
	}
	if (additional != NULL && additional->type == BT_JSON_OBJECT) {
		check_part(errors, BT_PATH_NAME(place, "additionalProperties"), additional,
			"for specified object fields");
	}
	for (size_t k = 0; k < BT_ARRAY_LENGTH(combinations); k++) {
		const struct bt_json_value *list = bt_json_array_at(schema, combinations[k]);
		bool is_int_or_string = flag(schema, "x-kubernetes-int-or-string") != NULL;
		for (uint32_t i = 0; i < list->count && !is_int_or_string; i++) {
			check_value_validation(errors,
				BT_PATH_INDEX(BT_PATH_NAME(place, combinations[k]), i),
				list->elements[i]);
		}
	}
	check_value_validation(errors, BT_PATH_NAME(place, "not"), bt_json_find(schema, "not"));
}

static void add_error(void *context, const struct bt_path *place, const struct bt_json_value *value,
	bool is_forbidden, const char *text)
{
	bt_kinds_error(context, is_forbidden ? BT_FIELD_FORBIDDEN : BT_FIELD_INVALID, place, value,
		"%s", text);
}

/**
 * Returns the schema that all versions share, which upstream calls spec.validation; NULL: the
 * versions differ, or one has no schema.
 */
static const struct bt_json_value *common_schema(const struct bt_json_value *versions)
{
	const struct bt_json_value *first = NULL;
	for (uint32_t i = 0; i < versions->count; i++) {
		const struct bt_json_value *schema =
			bt_json_find_path(versions->elements[i], "schema.openAPIV3Schema");
		if (schema == NULL || (first != NULL && !bt_json_equal(first, schema))) {
			return NULL;
		}
		first = first != NULL ? first : schema;
	}
	return first;
}

void bt_definition_check_schemas(const struct bt_json_value *old,
	const struct bt_json_value *definition, struct bt_field_errors *errors)
{
	const struct bt_json_value *versions = bt_json_array_at(definition, "spec.versions");
	const struct bt_json_value *before = bt_json_array_at(old, "spec.versions");
	if (bt_json_bool_at(definition, "spec.preserveUnknownFields", false)) {
		bt_kinds_error(errors, BT_FIELD_INVALID,
			BT_PATH_NAME(BT_PATH_NAME(NULL, "spec"), "preserveUnknownFields"),
			bt_json_find_path(definition, "spec.preserveUnknownFields"),
			"cannot set to true, set x-kubernetes-preserve-unknown-fields to true in "
			"spec.versions[*].schema instead");
	}
	const struct bt_json_value *common = common_schema(versions);
	for (uint32_t i = 0; i < (common != NULL ? 1 : versions->count); i++) {
		const struct bt_json_value *schema =
			bt_json_find_path(versions->elements[i], "schema.openAPIV3Schema");
		const struct bt_path version =
			*BT_PATH_INDEX(BT_PATH_NAME(BT_PATH_NAME(NULL, "spec"), "versions"), i);
		const struct bt_path place = common != NULL
			? *BT_PATH_NAME(BT_PATH_NAME(BT_PATH_NAME(NULL, "spec"), "validation"),
				  "openAPIV3Schema")
			: *BT_PATH_NAME(BT_PATH_NAME(&version, "schema"), "openAPIV3Schema");
		if (schema == NULL || schema->type != BT_JSON_OBJECT) {
			bt_kinds_error(
				errors, BT_FIELD_REQUIRED, &place, NULL, "schemas are required");
			continue;
		}
		/* An update does not refuse a schema that it leaves unchanged. */
		if (i < before->count &&
			bt_json_equal(schema,
				bt_json_find_path(before->elements[i], "schema.openAPIV3Schema"))) {
			continue;
		}
		if (!bt_str_equal_c(bt_json_text_at(schema, "type"), "object")) {
			bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_NAME(&place, "type"),
				bt_json_new_str(errors->arena, bt_json_text_at(schema, "type")),
				"must be object at the root");
		}
		check_structure(errors, &place, schema);
		bt_custom_rules_destroy(bt_custom_rules_create(schema, &place, add_error, errors));
	}
}
