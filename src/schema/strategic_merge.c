/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/strategic_merge.h"

#include "base/text_set.h"
#include "schema/list_order.h"
#include "schema/spot.h"

#define ORDER_PREFIX "$setElementOrder/"
#define DELETE_PREFIX "$deleteFromPrimitiveList/"
/** Maximum bytes of a value in an error message. */
#define PRINTED_BYTES_MAX 4096

struct merge {
	struct bt_arena *arena;
	struct berth_error *err;
};

static int merge_objects(struct merge *merge, const struct bt_spot *spot,
	struct bt_json_value *object, struct bt_json_value *patch,
	struct bt_json_value **out_result);

/** --- directives --- */

static bool is_directive(struct bt_str name)
{
	return name.length != 0 && name.data[0] == '$' &&
		(bt_str_equal(name, BT_STR("$patch")) ||
			bt_str_equal(name, BT_STR("$retainKeys")) ||
			bt_str_has_prefix(name, BT_STR(ORDER_PREFIX)) ||
			bt_str_has_prefix(name, BT_STR(DELETE_PREFIX)));
}

/** Value of $patch; absent: there is no $patch; "?": the value is not a text. */
static struct bt_str directive_of(const struct bt_json_value *value)
{
	const struct bt_json_value *directive = bt_json_find(value, "$patch");
	if (directive == NULL) {
		return (struct bt_str){NULL, 0};
	}
	return directive->type == BT_JSON_STRING ? directive->text : BT_STR("?");
}

/**
 * Removes directives at all levels, in place. An object whose $patch is "delete" becomes empty; a
 * list element whose $patch is "delete" or "replace" is removed. Returns value.
 */
static struct bt_json_value *strip(struct bt_json_value *value)
{
	uint32_t kept = 0;
	if (value->type == BT_JSON_OBJECT) {
		if (bt_str_equal(directive_of(value), BT_STR("delete"))) {
			value->count = 0;
		}
		for (uint32_t i = 0; i < value->count; i++) {
			if (!is_directive(value->members[i].name)) {
				value->members[kept] = value->members[i];
				(void)strip(value->members[kept++].value);
			}
		}
		value->count = kept;
	} else if (value->type == BT_JSON_ARRAY) {
		for (uint32_t i = 0; i < value->count; i++) {
			struct bt_str directive = directive_of(value->elements[i]);
			if (!bt_str_equal(directive, BT_STR("delete")) &&
				!bt_str_equal(directive, BT_STR("replace"))) {
				value->elements[kept] = value->elements[i];
				(void)strip(value->elements[kept++]);
			}
		}
		value->count = kept;
	}
	return value;
}

/** Removes members that are null from an object and the objects in it, in place. Returns value. */
static struct bt_json_value *drop_nulls(struct bt_json_value *value)
{
	uint32_t kept = 0;
	if (value->type != BT_JSON_OBJECT) {
		return value;
	}
	for (uint32_t i = 0; i < value->count; i++) {
		if (value->members[i].value->type != BT_JSON_NULL) {
			value->members[kept] = value->members[i];
			(void)drop_nulls(value->members[kept++].value);
		}
	}
	value->count = kept;
	return value;
}

/** --- error messages --- */

/** Returns the value as error messages show it. */
static const char *shown(struct merge *merge, const struct bt_json_value *value)
{
	struct bt_strbuf text = {0};
	bt_schema_append_go(value, PRINTED_BYTES_MAX, &text);
	return bt_arena_take_strbuf(merge->arena, &text).data;
}

static int missing_key(struct merge *merge, const struct bt_json_value *element, const char *key)
{
	return bt_error_set(merge->err, BERTH_ERR_INTERNAL,
		"map: %s does not contain declared merge key: %s", shown(merge, element), key);
}

static int unknown_directive(struct merge *merge, const struct bt_json_value *value)
{
	struct bt_str directive = directive_of(value);
	return bt_error_set(merge->err, BERTH_ERR_INTERNAL, "unknown patch type: %.*s in map: %s",
		BT_STR_ARG(directive), shown(merge, value));
}

/** --- lists --- */

struct list_merge {
	struct merge *merge;
	struct bt_spot element;
	const char *key; /* NULL: scalars */
	/*
	 * The merged elements. A key's position in `index` is its rank; ranks[rank] is the position
	 * of the key's first element.
	 */
	BT_VEC(struct bt_json_value *) elements;
	BT_VEC(struct bt_str) keys;
	BT_VEC(uint32_t) ranks;
	struct bt_text_set index;
	/* Keys of the patch's elements that are already merged. */
	BT_VEC(struct bt_str) patched;
};

static struct bt_str key_of(const struct list_merge *list, const struct bt_json_value *element)
{
	return bt_spot_scalar_text(list->key != NULL ? bt_json_find(element, list->key) : element);
}

static uint32_t find(const struct list_merge *list, struct bt_str key)
{
	uint32_t rank = key.data != NULL ? bt_text_set_find(&list->index, key) : BT_MAP_NONE;
	return rank != BT_MAP_NONE ? list->ranks.items[rank] : BT_MAP_NONE;
}

static void append(struct list_merge *list, struct bt_str key, struct bt_json_value *element)
{
	if (key.data != NULL && find(list, key) == BT_MAP_NONE) {
		bt_text_set_append(&list->index, key);
		bt_vec_push(&list->ranks, list->elements.count);
	}
	bt_vec_push(&list->elements, element);
	bt_vec_push(&list->keys, key);
}

/**
 * Checks the elements of the patch. Adds to `deleted` the key of each element whose $patch is
 * "delete". Sets *out_replaces to true if the $patch of an element is "replace"; otherwise leaves
 * *out_replaces unchanged.
 */
static int read_directives(struct list_merge *list, const struct bt_json_value *patch,
	struct bt_text_set *deleted, bool *out_replaces)
{
	for (uint32_t i = 0; i < patch->count; i++) {
		const struct bt_json_value *element = patch->elements[i];
		struct bt_str directive = directive_of(element);
		bool is_object = element->type == BT_JSON_OBJECT;
		if (is_object != (list->key != NULL) || element->type == BT_JSON_ARRAY) {
			return bt_error_set(list->merge->err, BERTH_ERR_INVALID,
				"list elements of a strategic merge patch have the wrong type");
		}
		if (bt_str_equal(directive, BT_STR("replace"))) {
			*out_replaces = true;
		} else if (bt_str_equal(directive, BT_STR("delete"))) {
			struct bt_str key = key_of(list, element);
			if (key.data == NULL) {
				return missing_key(list->merge, element, list->key);
			}
			bt_text_set_append(deleted, key);
		} else if (directive.data != NULL && !bt_str_equal(directive, BT_STR("merge"))) {
			return unknown_directive(list->merge, element);
		}
	}
	return 0;
}

static int merge_element(struct list_merge *list, struct bt_json_value *element)
{
	struct bt_str directive = directive_of(element);
	struct bt_str key = key_of(list, element);
	if (bt_str_equal(directive, BT_STR("delete"))) {
		return 0;
	}
	if (key.data == NULL && list->key != NULL) {
		return missing_key(list->merge, element, list->key);
	}
	bt_vec_push(&list->patched, key);
	uint32_t position = find(list, key);
	if (position == BT_MAP_NONE) {
		append(list, key, strip(element));
		return 0;
	}
	if (list->key == NULL) {
		return 0;
	}
	return merge_objects(list->merge, &list->element, list->elements.items[position], element,
		&list->elements.items[position]);
}

/**
 * Reads the order directive into *out_names. It is an error if the patch's elements have another
 * order.
 */
static int read_order(struct list_merge *list, const struct bt_json_value *patch,
	const struct bt_json_value *order, struct bt_str **out_names)
{
	struct bt_str *names = BT_ARENA_NEW_ARRAY(list->merge->arena, struct bt_str, order->count);
	uint32_t matched = 0;
	for (uint32_t i = 0; i < order->count; i++) {
		names[i] = key_of(list, order->elements[i]);
		if (names[i].data == NULL) {
			return bt_error_set(list->merge->err, BERTH_ERR_INVALID,
				"invalid patch format of setElementOrder list");
		}
		if (matched < list->patched.count &&
			bt_str_equal(names[i], list->patched.items[matched])) {
			matched++;
		}
	}
	if (matched != list->patched.count) {
		return bt_error_set(list->merge->err, BERTH_ERR_INTERNAL,
			"The order in patch list:\n%s\n doesn't match $setElementOrder list:\n%s\n",
			shown(list->merge, patch), shown(list->merge, order));
	}
	*out_names = names;
	return 0;
}

static int merge_all(struct list_merge *list, const struct bt_json_value *old,
	struct bt_json_value *patch, const struct bt_json_value *order,
	const struct bt_text_set *deleted, struct bt_json_value *merged)
{
	struct bt_arena *arena = list->merge->arena;
	struct bt_str *server = BT_ARENA_NEW_ARRAY(arena, struct bt_str, old->count);
	struct bt_str *names = NULL;
	int result = 0;
	for (uint32_t i = 0; i < old->count; i++) {
		server[i] = key_of(list, old->elements[i]);
		bool repeated = list->key == NULL && find(list, server[i]) != BT_MAP_NONE;
		bool gone = server[i].data != NULL &&
			bt_text_set_find(deleted, server[i]) != BT_MAP_NONE;
		if (!repeated && !gone) {
			append(list, server[i], old->elements[i]);
		}
	}
	for (uint32_t i = 0; i < patch->count && result == 0; i++) {
		result = merge_element(list, patch->elements[i]);
	}
	if (result == 0 && order != NULL) {
		result = read_order(list, patch, order, &names);
	}
	if (result != 0) {
		return result;
	}
	struct bt_keyed_list all = {list->elements.count, list->keys.items, list->elements.items};
	merged->count = all.count;
	merged->capacity = all.count;
	merged->elements = BT_ARENA_NEW_ARRAY(arena, struct bt_json_value *, all.count);
	bt_list_order(&all, order != NULL ? names : list->patched.items,
		order != NULL ? order->count : list->patched.count, server, old->count,
		merged->elements);
	return 0;
}

/** --- objects --- */

/** An object during a merge: removed members have value NULL until the end. */
struct open_object {
	struct bt_json_value *object;
	struct bt_text_set index;
};

/** Opens an object and drops repeated members; the last one wins. */
static void open_object(struct open_object *open, struct bt_json_value *object)
{
	*open = (struct open_object){.object = object};
	bt_json_append_names(object, &open->index);
	for (uint32_t i = 0; i < object->count; i++) {
		if (bt_text_set_find(&open->index, object->members[i].name) != i) {
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
	bt_text_set_finish(&open->index);
}

static struct bt_json_value *member_of(const struct open_object *open, struct bt_str name)
{
	uint32_t position = bt_text_set_find(&open->index, name);
	return position != BT_MAP_NONE ? open->object->members[position].value : NULL;
}

/** Sets a member. value NULL: removes it. */
static void set_member(struct merge *merge, struct open_object *open, struct bt_str name,
	struct bt_json_value *value)
{
	uint32_t position = bt_text_set_find(&open->index, name);
	if (position != BT_MAP_NONE) {
		open->object->members[position].value = value;
	} else if (value != NULL) {
		bt_json_append_member(merge->arena, open->object, name, value);
		bt_text_set_append(&open->index, name);
	}
}

/**
 * Removes all members that are not in keys; it is an error if the patch sets members that are not
 * in keys.
 */
static int retain_keys(struct merge *merge, struct open_object *object,
	const struct open_object *patch, const struct bt_json_value *keys)
{
	struct bt_text_set listed = {0};
	int result = 0;
	for (uint32_t i = 0; keys->type == BT_JSON_ARRAY && i < keys->count; i++) {
		if (keys->elements[i]->type == BT_JSON_STRING) {
			bt_text_set_append(&listed, keys->elements[i]->text);
		}
	}
	if (keys->type != BT_JSON_ARRAY || listed.items.count != keys->count) {
		result = bt_error_set(
			merge->err, BERTH_ERR_INVALID, "invalid patch format of retainKeys");
	}
	for (uint32_t i = 0; i < patch->object->count && result == 0; i++) {
		struct bt_str name = patch->object->members[i].name;
		if (!is_directive(name) && bt_text_set_find(&listed, name) == BT_MAP_NONE) {
			result = bt_error_set(merge->err, BERTH_ERR_STATE,
				"patch content doesn't match retainKeys list");
		}
	}
	for (uint32_t i = 0; i < object->object->count && result == 0; i++) {
		struct bt_json_member *member = &object->object->members[i];
		if (bt_text_set_find(&listed, member->name) == BT_MAP_NONE) {
			member->value = NULL;
		}
	}
	bt_text_set_finish(&listed);
	return result;
}

static int delete_scalars(
	struct merge *merge, struct bt_json_value *list, const struct bt_json_value *values)
{
	struct bt_text_set deleted = {0};
	int result = 0;
	for (uint32_t i = 0; values->type == BT_JSON_ARRAY && i < values->count; i++) {
		struct bt_str text = bt_spot_scalar_text(values->elements[i]);
		if (text.data != NULL) {
			bt_text_set_append(&deleted, text);
		}
	}
	if (values->type != BT_JSON_ARRAY || deleted.items.count != values->count) {
		result = bt_error_set(
			merge->err, BERTH_ERR_INVALID, "invalid patch format of primitive list");
	} else if (list != NULL && list->type == BT_JSON_ARRAY) {
		uint32_t kept = 0;
		for (uint32_t i = 0; i < list->count; i++) {
			struct bt_str text = bt_spot_scalar_text(list->elements[i]);
			if (text.data == NULL || bt_text_set_find(&deleted, text) == BT_MAP_NONE) {
				list->elements[kept++] = list->elements[i];
			}
		}
		list->count = kept;
	}
	bt_text_set_finish(&deleted);
	return result;
}

/**
 * Merges a member that is a list whose patch strategy is merge. order: the list's order directive.
 * NULL: the patch has no order directive, and its elements give the order.
 */
static int merge_list_member(struct merge *merge, const struct bt_spot *spot,
	struct open_object *object, struct bt_str name, struct bt_json_value *list,
	const struct bt_json_value *order)
{
	struct bt_json_value *old = member_of(object, name);
	struct list_merge state = {.merge = merge,
		.element = bt_spot_element(spot),
		.key = spot->list != NULL ? spot->list->merge_key : NULL};
	struct bt_text_set deleted = {0};
	struct bt_json_value *merged = bt_json_new(merge->arena, BT_JSON_ARRAY);
	bool replaces = false;
	if (old == NULL || old->type != BT_JSON_ARRAY) {
		old = bt_json_new(merge->arena, BT_JSON_ARRAY);
	}
	int result = read_directives(&state, list, &deleted, &replaces);
	if (result == 0 && replaces) {
		merged = strip(list);
	} else if (result == 0) {
		result = merge_all(&state, old, list, order, &deleted, merged);
	}
	bt_text_set_finish(&deleted);
	bt_vec_finish(&state.elements);
	bt_vec_finish(&state.keys);
	bt_vec_finish(&state.ranks);
	bt_vec_finish(&state.patched);
	bt_text_set_finish(&state.index);
	if (result == 0) {
		set_member(merge, object, name, merged);
	}
	return result;
}

static int apply_order(struct merge *merge, const struct bt_spot *spot, struct open_object *object,
	struct open_object *patch, struct bt_str name, const struct bt_json_value *order)
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
		return 0; /* there is no list that the directive could order */
	}
	if (list == NULL) {
		list = bt_json_new(merge->arena, BT_JSON_ARRAY);
	}
	set_member(merge, patch, name, NULL);
	return merge_list_member(merge, &member, object, name, list, order);
}

/*
 * Applies the directives except $patch. A $setElementOrder directive merges the list that it
 * orders, and removes that list from the patch, so that the list is not merged a second time.
 */
static int apply_directives(struct merge *merge, const struct bt_spot *spot,
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

static int merge_member(struct merge *merge, const struct bt_spot *spot, struct open_object *object,
	struct bt_str name, struct bt_json_value *value)
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
	if (old == NULL) {
		set_member(merge, object, name, drop_nulls(strip(value)));
		return 0;
	}
	if (old->type != value->type || value->type != BT_JSON_OBJECT ||
		bt_spot_has(&member, BT_SCHEMA_REPLACE)) {
		set_member(merge, object, name, strip(value));
		return 0;
	}
	int result = merge_objects(merge, &member, old, value, &merged);
	if (result == 0) {
		set_member(merge, object, name, merged);
	}
	return result;
}

/* Recursion is bounded by the nesting of the patch. */
static int merge_objects(struct merge *merge, const struct bt_spot *spot,
	struct bt_json_value *object, struct bt_json_value *patch,
	struct bt_json_value **out_result)
{
	struct bt_str directive = directive_of(patch);
	if (bt_str_equal(directive, BT_STR("replace")) ||
		bt_str_equal(directive, BT_STR("delete"))) {
		*out_result = strip(patch);
		return 0;
	}
	if (directive.data != NULL && !bt_str_equal(directive, BT_STR("merge"))) {
		return unknown_directive(merge, patch);
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
	struct merge merge = {.arena = arena, .err = err};
	struct bt_spot root = bt_spot_root(message, NULL);
	if (patch->type != BT_JSON_OBJECT || object->type != BT_JSON_OBJECT) {
		return bt_error_set(err, BERTH_ERR_SYNTAX,
			"json: cannot unmarshal %s into Go value of type map[string]interface {}",
			bt_json_type_name(patch->type));
	}
	return merge_objects(&merge, &root, object, patch, out_result);
}
