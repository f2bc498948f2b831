/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/strategic_merge.h"

#include "codec/name_index.h"
#include "schema/strategic_merge_internal.h"

#define ORDER_PREFIX "$setElementOrder/"
#define DELETE_PREFIX "$deleteFromPrimitiveList/"

/** An object while members come and go: those that are gone have no value until the end. */
struct open_object {
	struct bt_json_value *object;
	struct bt_name_index index;
};

/** Of repeated members the last one counts. */
static void open_object(struct open_object *open, struct bt_json_value *object)
{
	*open = (struct open_object){.object = object};
	bt_name_index_add_members(&open->index, object);
	for (uint32_t i = 0; i < object->count; i++) {
		if (bt_name_index_find(&open->index, object->members[i].name) != i) {
			object->members[i].value = NULL;
		}
	}
}

static void close_object(struct open_object *open)
{
	struct bt_json_value *object = open->object;
	uint32_t kept = 0;
	for (uint32_t i = 0; i < object->count; i++) {
		if (object->members[i].value != NULL) {
			object->members[kept++] = object->members[i];
		}
	}
	object->count = kept;
	bt_name_index_finish(&open->index);
}

static struct bt_json_value *member_of(const struct open_object *open, struct bt_str name)
{
	uint32_t position = bt_name_index_find(&open->index, name);
	return position != BT_MAP_NONE ? open->object->members[position].value : NULL;
}

/** value NULL: it goes. */
static void set_member(struct bt_strategic *merge, struct open_object *open, struct bt_str name,
	struct bt_json_value *value)
{
	uint32_t position = bt_name_index_find(&open->index, name);
	if (position != BT_MAP_NONE) {
		open->object->members[position].value = value;
	} else if (value != NULL) {
		bt_json_append_member(merge->arena, open->object, name, value);
		bt_name_index_add(&open->index, name);
	}
}

/** --- directives --- */

static bool is_directive(struct bt_str name)
{
	return name.length != 0 && name.data[0] == '$' &&
		(bt_str_equal(name, BT_STR("$patch")) ||
			bt_str_equal(name, BT_STR("$retainKeys")) ||
			bt_str_has_prefix(name, BT_STR(ORDER_PREFIX)) ||
			bt_str_has_prefix(name, BT_STR(DELETE_PREFIX)));
}

struct bt_str bt_strategic_directive(const struct bt_json_value *value)
{
	const struct bt_json_value *directive = bt_json_find(value, "$patch");
	if (directive == NULL) {
		return (struct bt_str){NULL, 0};
	}
	return directive->type == BT_JSON_STRING ? directive->text : BT_STR("?");
}

static bool vanishes(const struct bt_json_value *element)
{
	struct bt_str directive = bt_strategic_directive(element);
	return bt_str_equal(directive, BT_STR("delete")) ||
		bt_str_equal(directive, BT_STR("replace"));
}

struct bt_json_value *bt_strategic_stripped(struct bt_json_value *value)
{
	uint32_t kept = 0;
	if (value->type == BT_JSON_OBJECT) {
		if (bt_str_equal(bt_strategic_directive(value), BT_STR("delete"))) {
			value->count = 0;
		}
		for (uint32_t i = 0; i < value->count; i++) {
			if (!is_directive(value->members[i].name)) {
				value->members[kept] = value->members[i];
				(void)bt_strategic_stripped(value->members[kept++].value);
			}
		}
		value->count = kept;
	} else if (value->type == BT_JSON_ARRAY) {
		for (uint32_t i = 0; i < value->count; i++) {
			if (!vanishes(value->elements[i])) {
				value->elements[kept] = value->elements[i];
				(void)bt_strategic_stripped(value->elements[kept++]);
			}
		}
		value->count = kept;
	}
	return value;
}

/** Only the listed members of the object stay; the patch may set no others. */
static int retain_keys(struct bt_strategic *merge, struct open_object *object,
	const struct open_object *patch, const struct bt_json_value *keys)
{
	struct bt_name_index listed = {0};
	int result = 0;
	for (uint32_t i = 0; keys->type == BT_JSON_ARRAY && i < keys->count; i++) {
		if (keys->elements[i]->type == BT_JSON_STRING) {
			bt_name_index_add(&listed, keys->elements[i]->text);
		}
	}
	if (keys->type != BT_JSON_ARRAY || listed.names.count != keys->count) {
		result = bt_error_set(
			merge->err, BERTH_ERR_INVALID, "invalid patch format of retainKeys");
	}
	for (uint32_t i = 0; i < patch->object->count && result == 0; i++) {
		struct bt_str name = patch->object->members[i].name;
		if (!is_directive(name) && bt_name_index_find(&listed, name) == BT_MAP_NONE) {
			result = bt_error_set(merge->err, BERTH_ERR_STATE,
				"patch content doesn't match retainKeys list");
		}
	}
	for (uint32_t i = 0; i < object->object->count && result == 0; i++) {
		struct bt_json_member *member = &object->object->members[i];
		if (bt_name_index_find(&listed, member->name) == BT_MAP_NONE) {
			member->value = NULL;
		}
	}
	bt_name_index_finish(&listed);
	return result;
}

static int delete_scalars(
	struct bt_strategic *merge, struct bt_json_value *list, const struct bt_json_value *values)
{
	struct bt_name_index deleted = {0};
	int result = 0;
	for (uint32_t i = 0; values->type == BT_JSON_ARRAY && i < values->count; i++) {
		struct bt_str text = bt_spot_scalar_text(values->elements[i]);
		if (text.data != NULL) {
			bt_name_index_add(&deleted, text);
		}
	}
	if (values->type != BT_JSON_ARRAY || deleted.names.count != values->count) {
		result = bt_error_set(
			merge->err, BERTH_ERR_INVALID, "invalid patch format of primitive list");
	} else if (list != NULL && list->type == BT_JSON_ARRAY) {
		uint32_t kept = 0;
		for (uint32_t i = 0; i < list->count; i++) {
			struct bt_str text = bt_spot_scalar_text(list->elements[i]);
			if (text.data == NULL ||
				bt_name_index_find(&deleted, text) == BT_MAP_NONE) {
				list->elements[kept++] = list->elements[i];
			}
		}
		list->count = kept;
	}
	bt_name_index_finish(&deleted);
	return result;
}

/** --- objects --- */

static int merge_list_member(struct bt_strategic *merge, const struct bt_spot *spot,
	struct open_object *object, struct bt_str name, struct bt_json_value *list,
	const struct bt_json_value *order)
{
	struct bt_json_value *old = member_of(object, name);
	struct bt_json_value *merged = NULL;
	if (old == NULL || old->type != BT_JSON_ARRAY) {
		old = bt_json_new(merge->arena, BT_JSON_ARRAY);
	}
	int result = bt_strategic_list(merge, spot, old, list, order, &merged);
	if (result == 0) {
		set_member(merge, object, name, merged);
	}
	return result;
}

static int apply_order(struct bt_strategic *merge, const struct bt_spot *spot,
	struct open_object *object, struct open_object *patch, struct bt_str name,
	const struct bt_json_value *order)
{
	struct bt_json_value *list = member_of(patch, name);
	struct bt_spot member = bt_spot_member(spot, name);
	if (order->type != BT_JSON_ARRAY) {
		return bt_error_set(merge->err, BERTH_ERR_INVALID,
			"invalid patch format of setElementOrder list");
	}
	if (!bt_spot_has(&member, BT_SCHEMA_MERGE) ||
		(list != NULL && list->type != BT_JSON_ARRAY) ||
		(list == NULL && member_of(object, name) == NULL)) {
		return 0; /* nothing that an order could be for */
	}
	if (list == NULL) {
		list = bt_json_new(merge->arena, BT_JSON_ARRAY);
	}
	set_member(merge, patch, name, NULL);
	return merge_list_member(merge, &member, object, name, list, order);
}

/* Takes the directives, and what they are for, out of the patch. */
static int apply_directives(struct bt_strategic *merge, const struct bt_spot *spot,
	struct open_object *object, struct open_object *patch)
{
	const uint32_t order_length = (uint32_t)strlen(ORDER_PREFIX);
	const uint32_t delete_length = (uint32_t)strlen(DELETE_PREFIX);
	const struct bt_json_value *keys = member_of(patch, BT_STR("$retainKeys"));
	int result = keys != NULL ? retain_keys(merge, object, patch, keys) : 0;
	for (uint32_t i = 0; i < patch->object->count && result == 0; i++) {
		const struct bt_json_member *member = &patch->object->members[i];
		if (member->value != NULL &&
			bt_str_has_prefix(member->name, BT_STR(ORDER_PREFIX))) {
			struct bt_str name =
				bt_str_sub(member->name, order_length, member->name.length);
			result = apply_order(merge, spot, object, patch, name, member->value);
		}
	}
	for (uint32_t i = 0; i < patch->object->count && result == 0; i++) {
		const struct bt_json_member *member = &patch->object->members[i];
		if (member->value != NULL &&
			bt_str_has_prefix(member->name, BT_STR(DELETE_PREFIX))) {
			struct bt_str name =
				bt_str_sub(member->name, delete_length, member->name.length);
			result = delete_scalars(merge, member_of(object, name), member->value);
		}
	}
	return result;
}

static int merge_member(struct bt_strategic *merge, const struct bt_spot *spot,
	struct open_object *object, struct bt_str name, struct bt_json_value *value)
{
	struct bt_spot member = bt_spot_member(spot, name);
	struct bt_json_value *old = member_of(object, name);
	struct bt_json_value *merged = NULL;
	if (value->type == BT_JSON_NULL) {
		set_member(merge, object, name, NULL);
		return 0;
	}
	if (old != NULL && old->type == BT_JSON_ARRAY && value->type == BT_JSON_ARRAY &&
		bt_spot_has(&member, BT_SCHEMA_MERGE)) {
		return merge_list_member(merge, &member, object, name, value, NULL);
	}
	if (old == NULL || old->type != value->type || value->type != BT_JSON_OBJECT ||
		bt_spot_has(&member, BT_SCHEMA_REPLACE)) {
		set_member(merge, object, name, bt_strategic_stripped(value));
		return 0;
	}
	int result = bt_strategic_object(merge, &member, old, value, &merged);
	if (result == 0) {
		set_member(merge, object, name, merged);
	}
	return result;
}

int bt_strategic_unknown_directive(struct bt_strategic *merge, const struct bt_json_value *value)
{
	struct bt_strbuf text = {0};
	struct bt_str directive = bt_strategic_directive(value);
	bt_strategic_print(value, &text);
	int result = bt_error_set(merge->err, BERTH_ERR_INTERNAL,
		"unknown patch type: %.*s in map: %s", BT_STR_ARG(directive), bt_strbuf_c(&text));
	bt_strbuf_finish(&text);
	return result;
}

/* Recursion: as deep as the patch. */
int bt_strategic_object(struct bt_strategic *merge, const struct bt_spot *spot,
	struct bt_json_value *object, struct bt_json_value *patch,
	struct bt_json_value **out_result)
{
	struct bt_str directive = bt_strategic_directive(patch);
	if (bt_str_equal(directive, BT_STR("replace")) ||
		bt_str_equal(directive, BT_STR("delete"))) {
		*out_result = bt_strategic_stripped(patch);
		return 0;
	}
	if (directive.data != NULL && !bt_str_equal(directive, BT_STR("merge"))) {
		return bt_strategic_unknown_directive(merge, patch);
	}
	struct open_object open_target;
	struct open_object open_patch;
	open_object(&open_target, object);
	open_object(&open_patch, patch);
	int result = apply_directives(merge, spot, &open_target, &open_patch);
	for (uint32_t i = 0; i < patch->count && result == 0; i++) {
		const struct bt_json_member *member = &patch->members[i];
		if (member->value != NULL && !is_directive(member->name)) {
			result = merge_member(
				merge, spot, &open_target, member->name, member->value);
		}
	}
	close_object(&open_target);
	close_object(&open_patch);
	if (result == 0) {
		*out_result = object;
	}
	return result;
}

int bt_strategic_merge(struct bt_arena *arena, const struct bt_schema_message *message,
	struct bt_json_value *object, struct bt_json_value *patch,
	struct bt_json_value **out_result, struct berth_error *err)
{
	struct bt_strategic merge = {.arena = arena, .err = err};
	struct bt_spot root = bt_spot_root(message);
	if (patch->type != BT_JSON_OBJECT || object->type != BT_JSON_OBJECT) {
		return bt_error_set(err, BERTH_ERR_SYNTAX,
			"json: cannot unmarshal %s into Go value of type map[string]interface {}",
			bt_json_type_name(patch->type));
	}
	return bt_strategic_object(&merge, &root, object, patch, out_result);
}
