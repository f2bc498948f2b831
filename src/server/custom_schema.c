/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Normalises a custom object by the schema of its CustomResourceDefinition: drops unknown members
 * and sets defaults. Recursion follows the object, whose depth is limited.
 */
#include "server/custom_schema.h"

#include "codec/path.h"
#include "server/strategy.h"
#include "server/write.h"

/** Most bytes of defaults for one object. At the limit, the other members stay as they are. */
#define DEFAULT_BYTES_MAX (UINT64_C(4) << 20)
#define PROBLEMS_MAX 100

const struct bt_json_value *bt_custom_root(const struct bt_api_resource *resource)
{
	const struct bt_json_value *root =
		bt_json_find_path(resource->definition_version, "schema.openAPIV3Schema");
	return root != NULL && root->type == BT_JSON_OBJECT ? root : NULL;
}

bool bt_custom_take(uint64_t *budget, uint64_t amount)
{
	if (amount > *budget) {
		*budget = 0;
		return false;
	}
	*budget -= amount;
	return true;
}

const struct bt_json_value *bt_custom_member(
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

static bool is_standard_member(const struct bt_json_value *schema, struct bt_str name, bool root)
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

/**
 * Drops unknown members and sets defaults in a value. `keeps`: the value is an element of an array
 * that keeps unknown members, so the value also keeps unknown members.
 */
static void complete_value(struct completion *completion, const struct bt_path *place,
	const struct bt_json_value *schema, struct bt_json_value *value, bool keeps)
{
	keeps = keeps || bt_json_bool_at(schema, "x-kubernetes-preserve-unknown-fields", false);
	const struct bt_json_value *items = bt_json_find(schema, "items");
	for (uint32_t i = 0; value->type == BT_JSON_ARRAY && items != NULL && i < value->count;
		i++) {
		const struct bt_path at = *BT_PATH_INDEX(place, i);
		complete_value(completion, &at, items, value->elements[i], keeps);
	}
	if (value->type != BT_JSON_OBJECT) {
		return;
	}
	const struct bt_json_value *properties = bt_json_object_at(schema, "properties");
	uint32_t kept = 0;
	uint64_t wanted = ((uint64_t)value->count + properties->count) * properties->count;
	if (!bt_custom_take(&completion->lookups, wanted * 2)) {
		return;
	}
	/* A null counts as absent if the schema does not allow null. */
	for (uint32_t i = 0; i < value->count; i++) {
		struct bt_json_member member = value->members[i];
		bool known;
		const struct bt_json_value *sub = bt_custom_member(schema, member.name, &known);
		if (member.value->type != BT_JSON_NULL ||
			(sub != NULL ? bt_json_bool_at(sub, "nullable", false)
				     : !is_standard_member(schema, member.name, place == NULL))) {
			value->members[kept++] = member;
		}
	}
	value->count = kept;
	kept = 0;
	for (uint32_t i = 0; i < properties->count; i++) {
		const struct bt_json_member *property = &properties->members[i];
		const struct bt_json_value *given = bt_json_find(property->value, "default");
		if (given != NULL && completion->default_bytes != 0 &&
			bt_json_get(value, property->name) == NULL &&
			bt_custom_take(&completion->default_bytes,
				property->name.length + weight_of(given))) {
			bt_json_set(completion->arena, value,
				bt_arena_str(completion->arena, property->name),
				bt_json_clone(completion->arena, given, true));
		}
	}
	for (uint32_t i = 0; i < value->count; i++) {
		struct bt_json_member member = value->members[i];
		const struct bt_path at = *BT_PATH_STR(place, member.name);
		bool known;
		const struct bt_json_value *sub = bt_custom_member(schema, member.name, &known);
		if (is_standard_member(schema, member.name, place == NULL)) {
			sub = NULL;
		} else if (!known && !keeps) {
			if (completion->problems->count < PROBLEMS_MAX) {
				struct bt_strbuf path = {0};
				bt_path_render(&at, &path);
				bt_json_append(completion->arena, completion->problems,
					bt_json_new_str(completion->arena,
						bt_arena_printf(completion->arena,
							"unknown field \"%s\"",
							bt_strbuf_c(&path))));
				bt_strbuf_finish(&path);
			}
			continue;
		}
		if (sub != NULL) {
			complete_value(completion, &at, sub, member.value, false);
		}
		value->members[kept++] = member;
	}
	value->count = kept;
}

void bt_custom_complete(const struct bt_json_value *schema, const struct bt_path *place,
	struct bt_json_value *value, bool set_defaults, struct bt_arena *arena,
	struct bt_json_value *problems, uint64_t *lookups)
{
	struct completion completion = {
		arena, problems, *lookups, set_defaults ? DEFAULT_BYTES_MAX : 0};
	if (schema != NULL) {
		complete_value(&completion, place, schema, value, false);
	}
	*lookups = completion.lookups;
}

/** Recursion follows the schema, whose depth is limited. */
bool bt_custom_has_defaults(const struct bt_json_value *schema)
{
	const struct bt_json_value *properties = bt_json_object_at(schema, "properties");
	if (schema == NULL || schema->type != BT_JSON_OBJECT) {
		return false;
	}
	for (uint32_t i = 0; i < properties->count; i++) {
		const struct bt_json_value *property = properties->members[i].value;
		if (bt_json_find(property, "default") != NULL || bt_custom_has_defaults(property)) {
			return true;
		}
	}
	return bt_custom_has_defaults(bt_json_find(schema, "items")) ||
		bt_custom_has_defaults(bt_json_find(schema, "additionalProperties"));
}

static void from_stored(const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_json_value *problems = bt_json_new(write->arena, BT_JSON_ARRAY);
	uint64_t lookups = BT_CUSTOM_LOOKUPS_MAX;
	bt_custom_complete(bt_custom_root(write->resource), NULL, object, true, write->arena,
		problems, &lookups);
}

const struct bt_strategy bt_strategy_custom_with_defaults = {.from_stored = from_stored};

/** --- for server-side apply --- */

/**
 * Largest length of a name in bytes, and largest number of members. Members with longer names, and
 * members beyond the maximum number, are treated as if the schema did not name them.
 */
#define NAME_BYTES_MAX 255
#define MEMBERS_MAX 65535

/**
 * Describes the parts of a list, map or object. Recursion follows the schema, whose depth is
 * limited.
 */
static void describe_parts_below(
	struct bt_schema_field *field, const struct bt_json_value *schema, struct bt_arena *arena)
{
	field->message = bt_custom_describe_parts(schema, arena);
	field->type = field->message != NULL ? BT_SCHEMA_MESSAGE : BT_SCHEMA_RAW_JSON;
}

const struct bt_schema_message *bt_custom_describe_parts(
	const struct bt_json_value *schema, struct bt_arena *arena)
{
	const struct bt_json_value *properties = bt_json_object_at(schema, "properties");
	if (properties->count == 0) {
		return NULL;
	}
	struct bt_schema_message *message = BT_ARENA_NEW(arena, struct bt_schema_message);
	struct bt_schema_field *fields =
		BT_ARENA_NEW_ARRAY(arena, struct bt_schema_field, properties->count);
	*message = (struct bt_schema_message){.name = "", .package = "", .fields = fields};
	for (uint32_t i = 0; i < properties->count && message->field_count < MEMBERS_MAX; i++) {
		struct bt_str name = properties->members[i].name;
		const struct bt_json_value *property = properties->members[i].value;
		const struct bt_json_value *values = bt_json_find(property, "additionalProperties");
		if (name.length > NAME_BYTES_MAX) {
			continue;
		}
		struct bt_schema_field *field = &fields[message->field_count++];
		*field = (struct bt_schema_field){.name = bt_arena_str(arena, name).data,
			.name_length = (uint8_t)name.length};
		const struct bt_json_value *given = bt_json_find(property, "default");
		if (given != NULL && given->type < BT_JSON_ARRAY) { /* possibly a key of a list */
			struct bt_strbuf text = {0};
			bt_json_format(given, &text);
			field->default_text = bt_arena_take_strbuf(arena, &text).data;
		}
		if (bt_str_equal_c(bt_json_text_at(property, "type"), "array")) {
			struct bt_str type = bt_json_text_at(property, "x-kubernetes-list-type");
			const struct bt_json_value *keys =
				bt_json_array_at(property, "x-kubernetes-list-map-keys");
			field->shape = BT_SCHEMA_LIST;
			describe_parts_below(field, bt_json_find(property, "items"), arena);
			if (bt_str_equal_c(type, "set")) {
				field->flags = BT_SCHEMA_LIST_SET;
			} else if (bt_str_equal_c(type, "map") && keys->count != 0 &&
				field->message != NULL) {
				const char **names = BT_ARENA_NEW_ARRAY(
					arena, const char *, (size_t)keys->count + 1);
				for (uint32_t k = 0; k < keys->count; k++) {
					names[k] =
						bt_arena_str(arena, keys->elements[k]->text).data;
				}
				field->list_keys = names;
			} else {
				field->flags = BT_SCHEMA_ATOMIC;
			}
			continue;
		}
		field->shape = values != NULL ? BT_SCHEMA_MAP : BT_SCHEMA_SINGLE;
		describe_parts_below(field, values != NULL ? values : property, arena);
		if (bt_str_equal_c(bt_json_text_at(property, "x-kubernetes-map-type"), "atomic")) {
			field->flags = BT_SCHEMA_ATOMIC;
		}
	}
	return message;
}
