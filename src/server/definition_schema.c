/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Schemas of a CustomResourceDefinition: drops their unknown and empty fields, and checks that the
 * schemas are structural, that their patterns and rules compile, and that their defaults are valid.
 * Recursion follows the schema, whose depth is limited.
 */
#include "codec/path.h"
#include "server/custom_rules.h"
#include "server/custom_schema.h"
#include "server/kinds/common.h"
#include "server/write.h"

#define PROBLEMS_MAX 100
/** The largest number of selectable fields of a version. */
#define SELECTABLE_MAX 8
/** Longest message of a rule. */
#define RULE_MESSAGE_MAX 2048

/** Fields that Go's omitempty leaves out when they are empty, frequent ones first. */
#define OMITTED_IF_EMPTY \
	"type description properties required format enum $schema allOf anyOf definitions " \
	"dependencies exclusiveMaximum exclusiveMinimum id nullable oneOf patternProperties " \
	"title uniqueItems x-kubernetes-embedded-resource x-kubernetes-int-or-string " \
	"x-kubernetes-list-map-keys x-kubernetes-validations"
/** All fields of a schema. */
#define FIELDS \
	OMITTED_IF_EMPTY \
	" items $ref additionalItems additionalProperties default example externalDocs maxItems " \
	"maxLength maxProperties maximum minItems minLength minProperties minimum multipleOf not " \
	"pattern x-kubernetes-list-type x-kubernetes-map-type " \
	"x-kubernetes-preserve-unknown-fields"

/** Fields that are schemas or arrays of schemas, and fields that are maps of schemas. */
static const char *const parts[] = {
	"items", "additionalItems", "additionalProperties", "allOf", "anyOf", "oneOf", "not"};
static const char *const maps[] = {"properties", "patternProperties", "definitions"};

/**
 * Removes the unknown, null and empty fields of a schema, or of an array of schemas. For each
 * unknown field, appends a text such as `unknown field "spec.versions[0].schema.openAPIV3Schema.x"`
 * to the array `problems`. schema: may also be a bool in place of a schema; NULL accepted.
 */
static void tidy(struct bt_json_value *schema, const struct bt_path *place, struct bt_arena *arena,
	struct bt_json_value *problems)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; schema != NULL && schema->type == BT_JSON_ARRAY && i < schema->count;
		i++) {
		tidy(schema->elements[i], BT_PATH_INDEX(place, i), arena, problems);
	}
	if (schema == NULL || schema->type != BT_JSON_OBJECT) {
		return;
	}
	for (uint32_t i = 0; i < schema->count; i++) {
		struct bt_json_member member = schema->members[i];
		bool is_known = bt_str_has_word(BT_STR(FIELDS), member.name);
		bool is_absent = member.value->type == BT_JSON_NULL ||
			(bt_json_is_zero(member.value) &&
				bt_str_has_word(BT_STR(OMITTED_IF_EMPTY), member.name));
		if (is_known && !is_absent) {
			schema->members[kept++] = member;
		} else if (!is_known && problems->count < PROBLEMS_MAX) {
			struct bt_strbuf text = {0};
			bt_strbuf_append_c(&text, "unknown field \"");
			bt_path_render(BT_PATH_STR(place, member.name), &text);
			bt_strbuf_append_c(&text, "\"");
			bt_json_append(arena, problems,
				bt_json_new_str(arena, bt_arena_take_strbuf(arena, &text)));
		}
	}
	schema->count = kept;
	for (size_t i = 0; i < BT_ARRAY_LENGTH(parts); i++) {
		tidy(bt_json_find(schema, parts[i]), BT_PATH_NAME(place, parts[i]), arena,
			problems);
	}
	for (size_t i = 0; i < BT_ARRAY_LENGTH(maps); i++) {
		const struct bt_json_value *map = bt_json_object_at(schema, maps[i]);
		const struct bt_path at = *BT_PATH_NAME(place, maps[i]);
		for (uint32_t k = 0; k < map->count; k++) {
			tidy(map->members[k].value, BT_PATH_STR(&at, map->members[k].name), arena,
				problems);
		}
	}
}

void bt_definition_tidy(const struct bt_json_value *definition, struct bt_arena *arena,
	struct bt_json_value *problems)
{
	const struct bt_json_value *versions = bt_json_array_at(definition, "spec.versions");
	for (uint32_t i = 0; i < versions->count; i++) {
		const struct bt_path version =
			*BT_PATH_INDEX(BT_PATH_NAME(NULL, "spec.versions"), i);
		tidy(bt_json_find_path(versions->elements[i], "schema.openAPIV3Schema"),
			BT_PATH_NAME(&version, "schema.openAPIV3Schema"), arena, problems);
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
 * A schema in `allOf`, `anyOf`, `oneOf` or `not` may only validate values: members such as type,
 * default or nullable are errors. Members of objects and items that it names must also be specified
 * outside. outside: the schema around `allOf` and so on, at outside_place; NULL: unknown.
 */
static void check_value_validation(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *schema, const struct bt_path *outside_place,
	const struct bt_json_value *outside);

/** Checks a member or the items of such a schema. is_specified: it is also specified outside. */
static void check_part_validation(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *schema, const struct bt_path *outside_place,
	const struct bt_json_value *outside, bool is_specified)
{
	if (!is_specified) {
		struct bt_strbuf path = {0};
		bt_path_render(place, &path);
		bt_kinds_error(errors, BT_FIELD_REQUIRED, outside_place, NULL,
			"because it is defined in %s", bt_strbuf_c(&path));
		bt_strbuf_finish(&path);
	}
	check_value_validation(errors, place, schema, outside_place, outside);
}

static void check_combinations(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *schema, const struct bt_path *outside_place,
	const struct bt_json_value *outside)
{
	static const char *const combinations[] = {"allOf", "anyOf", "oneOf"};
	for (size_t k = 0; k < BT_ARRAY_LENGTH(combinations); k++) {
		const struct bt_json_value *list = bt_json_array_at(schema, combinations[k]);
		for (uint32_t i = 0; i < list->count; i++) {
			check_value_validation(errors,
				BT_PATH_INDEX(BT_PATH_NAME(place, combinations[k]), i),
				list->elements[i], outside_place, outside);
		}
	}
	check_value_validation(errors, BT_PATH_NAME(place, "not"), bt_json_find(schema, "not"),
		outside_place, outside);
}

static void check_value_validation(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *schema, const struct bt_path *outside_place,
	const struct bt_json_value *outside)
{
	static const struct {
		const char *name;
		const char *value;
	} forbidden[] = {{"type", "empty"}, {"title", "empty"}, {"description", "empty"},
		{"default", "undefined"}, {"additionalProperties", "undefined"},
		{"nullable", "false"}, {"x-kubernetes-preserve-unknown-fields", "false"},
		{"x-kubernetes-embedded-resource", "false"},
		{"x-kubernetes-int-or-string", "false"}};
	const struct bt_json_value *properties = bt_json_object_at(schema, "properties");
	const struct bt_json_value *items = bt_json_find(schema, "items");
	if (schema == NULL || schema->type != BT_JSON_OBJECT) {
		return;
	}
	for (size_t i = 0; i < BT_ARRAY_LENGTH(forbidden); i++) {
		if (bt_json_find(schema, forbidden[i].name) != NULL) {
			bt_kinds_error(errors, BT_FIELD_FORBIDDEN,
				BT_PATH_NAME(place, forbidden[i].name), NULL,
				"must be %s to be structural", forbidden[i].value);
		}
	}
	for (uint32_t i = 0; i < properties->count; i++) {
		struct bt_str name = properties->members[i].name;
		bool is_known = true;
		const struct bt_json_value *member =
			outside != NULL ? bt_custom_member(outside, name, &is_known) : NULL;
		check_part_validation(errors, BT_PATH_KEY(BT_PATH_NAME(place, "properties"), name),
			properties->members[i].value,
			BT_PATH_KEY(BT_PATH_NAME(outside_place, "properties"), name), member,
			is_known || flag(outside, "x-kubernetes-preserve-unknown-fields") != NULL);
	}
	if (items != NULL) {
		const struct bt_json_value *all =
			outside != NULL ? bt_json_find(outside, "items") : NULL;
		check_part_validation(errors, BT_PATH_NAME(place, "items"), items,
			BT_PATH_NAME(outside_place, "items"), all,
			all != NULL || outside == NULL ||
				flag(outside, "x-kubernetes-preserve-unknown-fields") != NULL);
	}
	check_combinations(errors, place, schema, outside_place, outside);
}

/** Checks the type of a schema. `why`: the end of the error's text. */
static void check_type(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *schema, const char *type, const char *why)
{
	struct bt_str given = bt_json_text_at(schema, "type");
	if (!bt_str_equal_c(given, type)) {
		bt_kinds_error(errors, given.length == 0 ? BT_FIELD_REQUIRED : BT_FIELD_INVALID,
			BT_PATH_NAME(place, "type"), bt_json_find(schema, "type"), "must be %s %s",
			type, why);
	}
}

/** The keys of a list must be members of its items that are always there, and scalars. */
static void check_map_keys(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *schema)
{
	const struct bt_json_value *keys = bt_json_array_at(schema, "x-kubernetes-list-map-keys");
	const struct bt_json_value *items = bt_json_object_at(schema, "items");
	const struct bt_json_value *properties = bt_json_object_at(items, "properties");
	const struct bt_json_value *required = bt_json_array_at(items, "required");
	struct bt_text_set names = {0}; /* in the order of the properties */
	struct bt_text_set needed = {0};
	const struct bt_path at = *BT_PATH_NAME(place, "x-kubernetes-list-map-keys");
	const struct bt_path items_at = *BT_PATH_NAME(place, "items");
	if (keys->count == 0) {
		bt_kinds_error(errors, BT_FIELD_REQUIRED, &at, NULL,
			"must not be empty if x-kubernetes-list-type is map");
	}
	check_type(errors, &items_at, items, "object",
		"if parent array's x-kubernetes-list-type is map");
	bt_json_append_names(properties, &names);
	for (uint32_t i = 0; i < required->count; i++) {
		(void)bt_text_set_add(&needed, required->elements[i]->text);
	}
	for (uint32_t i = 0; i < keys->count; i++) {
		struct bt_str name = keys->elements[i]->text;
		uint32_t found = bt_text_set_find(&names, name);
		const struct bt_json_value *key =
			found != BT_MAP_NONE ? properties->members[found].value : NULL;
		const struct bt_path key_at =
			*BT_PATH_KEY(BT_PATH_NAME(&items_at, "properties"), name);
		struct bt_str type = bt_json_text_at(key, "type");
		if (key == NULL) {
			bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_INDEX(&at, i),
				keys->elements[i], "entries must all be names of item properties");
			continue;
		}
		const struct bt_kinds_problem problems[] = {
			{bt_str_equal_c(type, "array") || bt_str_equal_c(type, "object"),
				BT_FIELD_INVALID, "type",
				"must be a scalar type if parent array's x-kubernetes-list-type is "
				"map"},
			{!bt_text_set_has(&needed, name) && bt_json_find(key, "default") == NULL,
				BT_FIELD_REQUIRED, "default",
				"this property is in x-kubernetes-list-map-keys, so it must have a "
				"default or be a required property"},
			{flag(key, "nullable") != NULL, BT_FIELD_FORBIDDEN, "nullable",
				"this property is in x-kubernetes-list-map-keys, so it cannot be "
				"nullable"},
		};
		bt_kinds_add_problems(errors, &key_at, key, problems, BT_ARRAY_LENGTH(problems));
	}
	bt_text_set_finish(&names);
	bt_text_set_finish(&needed);
}

static void check_merging(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *schema)
{
	static const char *const list_types[] = {"atomic", "map", "set", NULL};
	static const char *const map_types[] = {"atomic", "granular", NULL};
	const struct bt_json_value *list_type = bt_json_find(schema, "x-kubernetes-list-type");
	const struct bt_json_value *map_type = bt_json_find(schema, "x-kubernetes-map-type");
	struct bt_str type = bt_json_text_at(schema, "x-kubernetes-list-type");
	const struct bt_path at = *BT_PATH_NAME(place, "x-kubernetes-list-type");
	if (list_type != NULL && list_type->type == BT_JSON_STRING) {
		check_type(
			errors, place, schema, "array", "if x-kubernetes-list-type is specified");
		bt_kinds_check_allowed(errors, &at, list_type, list_types);
	}
	if (map_type != NULL && map_type->type == BT_JSON_STRING) {
		check_type(
			errors, place, schema, "object", "if x-kubernetes-map-type is specified");
		bt_kinds_check_allowed(
			errors, BT_PATH_NAME(place, "x-kubernetes-map-type"), map_type, map_types);
	}
	if (bt_str_equal_c(type, "map")) {
		check_map_keys(errors, place, schema);
	} else if (bt_json_array_at(schema, "x-kubernetes-list-map-keys")->count != 0) {
		bt_kinds_error(errors, list_type == NULL ? BT_FIELD_REQUIRED : BT_FIELD_INVALID,
			&at, list_type, "must be map if x-kubernetes-list-map-keys is non-empty");
	}
	if (!bt_str_equal_c(type, "set")) {
		return;
	}
	const struct bt_path items_at = *BT_PATH_NAME(place, "items");
	const struct bt_json_value *items = bt_json_object_at(schema, "items");
	struct bt_str item_type = bt_json_text_at(items, "type");
	bool is_list = bt_str_equal_c(item_type, "array");
	const char *name = is_list ? "x-kubernetes-list-type" : "x-kubernetes-map-type";
	const struct bt_json_value *merges = bt_json_find(items, name);
	if (((is_list && merges != NULL) || bt_str_equal_c(item_type, "object")) &&
		!bt_str_equal_c(bt_json_text_at(items, name), "atomic")) {
		bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_NAME(&items_at, name),
			merges != NULL ? merges : bt_json_new_c(errors->arena, "null"),
			"must be atomic as item of a list with x-kubernetes-list-type=set");
	}
	if (flag(items, "nullable") != NULL) {
		bt_kinds_error(errors, BT_FIELD_FORBIDDEN, BT_PATH_NAME(&items_at, "nullable"),
			NULL, "cannot be nullable when x-kubernetes-list-type is set");
	}
}

/**
 * Returns the schema of the member at a path such as ".spec.color"; NULL: the schema has no such
 * member.
 */
static const struct bt_json_value *find_member(
	const struct bt_json_value *schema, struct bt_str path)
{
	bool is_known;
	if (path.length == 0 || path.data[0] != '.') {
		return NULL;
	}
	struct bt_str rest = bt_str_sub(path, 1, path.length);
	while (rest.data != NULL && schema != NULL) {
		schema = bt_custom_member(schema, bt_str_cut(&rest, '.'), &is_known);
	}
	return schema;
}

/** Checks the members of x-kubernetes-validations that are not expressions. */
static void check_rules(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *schema)
{
	static const char *const reasons[] = {"FieldValueDuplicate", "FieldValueForbidden",
		"FieldValueInvalid", "FieldValueRequired", NULL};
	const struct bt_json_value *rules = bt_json_array_at(schema, "x-kubernetes-validations");
	const struct bt_path list = *BT_PATH_NAME(place, "x-kubernetes-validations");
	for (uint32_t i = 0; i < rules->count; i++) {
		const struct bt_json_value *rule = rules->elements[i];
		const struct bt_path at = *BT_PATH_INDEX(&list, i);
		const struct bt_path message_at = *BT_PATH_NAME(&at, "message");
		const struct bt_json_value *given = bt_json_find(rule, "message");
		const struct bt_json_value *reason = bt_json_find(rule, "reason");
		struct bt_str text = bt_str_trim(bt_json_text_at(rule, "rule"), BT_STR_SPACE);
		struct bt_str message = bt_str_trim(bt_json_text_at(rule, "message"), BT_STR_SPACE);
		struct bt_str field = bt_json_text_at(rule, "fieldPath");
		if (text.length == 0) {
			bt_kinds_error(errors, BT_FIELD_REQUIRED, BT_PATH_NAME(&at, "rule"), NULL,
				"rule is not specified");
		}
		if (message.length == 0 && bt_json_text_at(rule, "message").length != 0) {
			bt_kinds_error(errors, BT_FIELD_INVALID, &message_at, given,
				"message must be non-empty if specified");
		} else if (bt_str_find_char(message, '\n') >= 0) {
			bt_kinds_error(errors, BT_FIELD_INVALID, &message_at, given,
				"message must not contain line breaks");
		} else if (message.length > RULE_MESSAGE_MAX) {
			bt_kinds_error(errors, BT_FIELD_TOO_LONG, &message_at, NULL,
				"may not be more than %d bytes", RULE_MESSAGE_MAX);
		} else if (message.length == 0 && bt_str_find_char(text, '\n') >= 0) {
			bt_kinds_error(errors, BT_FIELD_REQUIRED, &message_at, NULL,
				"message must be specified if rule contains line breaks");
		}
		if (reason != NULL && reason->type == BT_JSON_STRING) {
			bt_kinds_check_allowed(
				errors, BT_PATH_NAME(&at, "reason"), reason, reasons);
		}
		if (field.length != 0 && bt_str_find_char(field, '[') < 0 &&
			find_member(schema, field) == NULL) {
			bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_NAME(&at, "fieldPath"),
				bt_json_find(rule, "fieldPath"),
				"fieldPath must be a valid path: does not refer to a valid field");
		}
	}
}

/** The root may restrict the names in metadata, but otherwise not change the standard members. */
static void check_root(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *schema)
{
	static const char *const texts[] = {"apiVersion", "kind"};
	const struct bt_json_value *properties = bt_json_object_at(schema, "properties");
	const struct bt_json_value *metadata = bt_json_object_at(properties, "metadata");
	const struct bt_json_value *restricted = bt_json_object_at(metadata, "properties");
	bool is_plain = true;
	if (bt_json_text_at(schema, "type").length == 0) {
		bt_kinds_error(errors, BT_FIELD_REQUIRED, BT_PATH_NAME(place, "type"), NULL,
			"must not be empty at the root");
	} else {
		check_type(errors, place, schema, "object", "at the root");
	}
	if (flag(schema, "nullable") != NULL) {
		bt_kinds_error(errors, BT_FIELD_FORBIDDEN, BT_PATH_NAME(place, "nullable"), NULL,
			"nullable cannot be true at the root");
	}
	const struct bt_path at = *BT_PATH_NAME(place, "properties");
	for (size_t i = 0; i < BT_ARRAY_LENGTH(texts); i++) {
		const struct bt_json_value *type =
			bt_json_find(bt_json_object_at(properties, texts[i]), "type");
		if (type != NULL && !bt_str_equal_c(type->text, "string")) {
			bt_kinds_error(errors, BT_FIELD_INVALID,
				BT_PATH_NAME(BT_PATH_KEY(&at, bt_str_from(texts[i])), "type"), type,
				"must be string");
		}
	}
	for (uint32_t i = 0; i < metadata->count; i++) {
		is_plain = is_plain &&
			bt_str_has_word(BT_STR("default description properties type"),
				metadata->members[i].name);
	}
	for (uint32_t i = 0; i < restricted->count; i++) {
		is_plain = is_plain &&
			bt_str_has_word(BT_STR("generateName name"), restricted->members[i].name);
	}
	if (!is_plain) {
		bt_kinds_error(errors, BT_FIELD_FORBIDDEN, BT_PATH_KEY(&at, BT_STR("metadata")),
			NULL,
			"must not specify anything other than name and generateName, but metadata "
			"is implicitly specified");
	}
}

static void check_structure(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *schema)
{
	static const char *const references[] = {"$ref", "definitions", "dependencies", "id",
		"patternProperties", "additionalItems"};
	const struct bt_json_value *properties = bt_json_object_at(schema, "properties");
	const struct bt_json_value *items = bt_json_find(schema, "items");
	const struct bt_json_value *additional = bt_json_find(schema, "additionalProperties");
	struct bt_str type = bt_json_text_at(schema, "type");
	bool is_array = bt_str_equal_c(type, "array");
	bool is_embedded = flag(schema, "x-kubernetes-embedded-resource") != NULL;
	bool keeps = flag(schema, "x-kubernetes-preserve-unknown-fields") != NULL;
	if (errors->count >= PROBLEMS_MAX) {
		return;
	}
	for (size_t i = 0; i < BT_ARRAY_LENGTH(references); i++) {
		if (bt_json_find(schema, references[i]) != NULL) {
			bt_kinds_error(errors, BT_FIELD_FORBIDDEN,
				BT_PATH_NAME(place, references[i]), NULL, "%s is not supported",
				references[i]);
		}
	}
	const struct bt_kinds_problem problems[] = {
		{flag(schema, "uniqueItems") != NULL, BT_FIELD_FORBIDDEN, "uniqueItems",
			"uniqueItems cannot be set to true since the runtime complexity becomes "
			"quadratic"},
		{additional != NULL && properties->count != 0, BT_FIELD_FORBIDDEN,
			"additionalProperties",
			"additionalProperties and properties are mutual exclusive"},
		{additional != NULL && properties->count == 0 && additional->type == BT_JSON_BOOL &&
				!additional->boolean,
			BT_FIELD_FORBIDDEN, "additionalProperties",
			"additionalProperties cannot be set to false"},
		{is_embedded && !bt_str_equal_c(type, "object"),
			type.length == 0 ? BT_FIELD_REQUIRED : BT_FIELD_INVALID, "type",
			"must be object if x-kubernetes-embedded-resource is true"},
		{is_embedded && properties->count == 0 && !keeps, BT_FIELD_REQUIRED, "properties",
			"must not be empty if x-kubernetes-embedded-resource is true "
			"without x-kubernetes-preserve-unknown-fields"},
		{!keeps && bt_json_find(schema, "x-kubernetes-preserve-unknown-fields") != NULL,
			BT_FIELD_INVALID, "x-kubernetes-preserve-unknown-fields",
			"must be true or undefined"},
		{is_array && items == NULL, BT_FIELD_REQUIRED, "items", "must be specified"},
		{is_array && items != NULL && items->type == BT_JSON_ARRAY, BT_FIELD_FORBIDDEN,
			"items", "items must be a schema object and not an array"},
	};
	bt_kinds_add_problems(errors, place, schema, problems, BT_ARRAY_LENGTH(problems));
	check_merging(errors, place, schema);
	check_rules(errors, place, schema);
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
	if (flag(schema, "x-kubernetes-int-or-string") == NULL) {
		check_combinations(errors, place, schema, place, schema);
	}
}

/** Checks the defaults in a schema. lookups: see bt_custom_validate_default. */
static void check_defaults(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *schema, const struct bt_custom_rules *rules, uint64_t *lookups)
{
	const struct bt_json_value *properties = bt_json_object_at(schema, "properties");
	if (*lookups == 0 || !bt_custom_has_defaults(schema)) {
		return;
	}
	const struct bt_path at = *BT_PATH_NAME(place, "properties");
	for (uint32_t i = 0; i < properties->count; i++) {
		const struct bt_json_member *property = &properties->members[i];
		const struct bt_path member = *BT_PATH_KEY(&at, property->name);
		if (bt_json_find(property->value, "default") != NULL) {
			bt_custom_validate_default(rules, BT_PATH_NAME(&member, "default"),
				property->value, errors, lookups);
		}
		check_defaults(errors, &member, property->value, rules, lookups);
	}
	check_defaults(errors, BT_PATH_NAME(place, "items"), bt_json_find(schema, "items"), rules,
		lookups);
	check_defaults(errors, BT_PATH_NAME(place, "additionalProperties"),
		bt_json_find(schema, "additionalProperties"), rules, lookups);
}

/** Selectable fields must be texts, bools or integers that the schema names. */
static void check_selectable_fields(struct bt_field_errors *errors, const struct bt_path *version,
	const struct bt_json_value *fields, const struct bt_json_value *schema)
{
	const struct bt_path place = *BT_PATH_NAME(version, "selectableFields");
	for (uint32_t i = 0; i < fields->count && i < SELECTABLE_MAX; i++) {
		const struct bt_json_value *given = bt_json_find(fields->elements[i], "jsonPath");
		struct bt_str path = bt_json_text_at(fields->elements[i], "jsonPath");
		const struct bt_json_value *field = find_member(schema, path);
		const char *problem = NULL;
		if (path.length == 0) {
			continue; /* reported as missing */
		}
		struct bt_str type = bt_json_text_at(field, "type");
		if (bt_str_has_prefix(path, BT_STR(".metadata."))) {
			problem = "must not point to fields in metadata";
		} else if (field == NULL) {
			problem = "is an invalid path: does not refer to a valid field";
		} else if (!bt_str_has_word(BT_STR("boolean integer string"), type)) {
			problem = "must point to a field of type string, boolean or integer. Enum "
				  "string fields and strings with formats are allowed.";
		}
		if (problem != NULL) {
			bt_kinds_error(errors, BT_FIELD_INVALID,
				BT_PATH_NAME(BT_PATH_INDEX(&place, i), "jsonPath"), given, "%s",
				problem);
		}
	}
}

static void add_error(void *context, const struct bt_path *place, const struct bt_json_value *value,
	bool is_forbidden, const char *text)
{
	bt_kinds_error(context, is_forbidden ? BT_FIELD_FORBIDDEN : BT_FIELD_INVALID, place, value,
		"%s", text);
}

/** Checks the schemas of the versions, except schemas that the update leaves unchanged. */
void bt_rule_definition_schemas(struct bt_check *check, BT_UNUSED const struct bt_path *root,
	const struct bt_json_value *definition)
{
	struct bt_field_errors *errors = check->errors;
	const struct bt_json_value *versions = bt_json_array_at(definition, "spec.versions");
	const struct bt_json_value *before = bt_json_array_at(check->old, "spec.versions");
	if (bt_json_bool_at(definition, "spec.preserveUnknownFields", false)) {
		bt_kinds_error(errors, BT_FIELD_INVALID,
			BT_PATH_NAME(NULL, "spec.preserveUnknownFields"),
			bt_json_find_path(definition, "spec.preserveUnknownFields"),
			"cannot set to true, set x-kubernetes-preserve-unknown-fields to true in "
			"spec.versions[*].schema instead");
	}
	/* Upstream calls a schema that all versions share spec.validation. */
	const struct bt_json_value *first = versions->count != 0
		? bt_json_find_path(versions->elements[0], "schema.openAPIV3Schema")
		: NULL;
	bool is_common = first != NULL;
	for (uint32_t i = 1; i < versions->count && is_common; i++) {
		const struct bt_json_value *schema =
			bt_json_find_path(versions->elements[i], "schema.openAPIV3Schema");
		is_common = schema != NULL && bt_json_equal(first, schema);
	}
	uint64_t lookups = BT_CUSTOM_LOOKUPS_MAX; /* of the defaults of all versions */
	for (uint32_t i = 0; i < versions->count; i++) {
		const struct bt_json_value *fields =
			bt_json_array_at(versions->elements[i], "selectableFields");
		const struct bt_path version =
			*BT_PATH_INDEX(BT_PATH_NAME(NULL, "spec.versions"), i);
		check_selectable_fields(errors, &version, fields,
			bt_json_find_path(versions->elements[i], "schema.openAPIV3Schema"));
	}
	for (uint32_t i = 0; i < (is_common ? 1 : versions->count); i++) {
		const struct bt_json_value *schema =
			bt_json_find_path(versions->elements[i], "schema.openAPIV3Schema");
		const struct bt_path version =
			*BT_PATH_INDEX(BT_PATH_NAME(NULL, "spec.versions"), i);
		const struct bt_path place = is_common
			? *BT_PATH_NAME(NULL, "spec.validation.openAPIV3Schema")
			: *BT_PATH_NAME(&version, "schema.openAPIV3Schema");
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
		uint32_t count = errors->count;
		check_root(errors, &place, schema);
		check_structure(errors, &place, schema);
		bool is_structural = errors->count == count;
		struct bt_custom_rules *rules =
			bt_custom_rules_create(schema, &place, add_error, errors);
		if (is_structural) {
			check_defaults(errors, &place, schema, rules, &lookups);
		}
		bt_custom_rules_destroy(rules);
	}
}
