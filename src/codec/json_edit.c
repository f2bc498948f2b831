/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/json_edit.h"

#include "base/assert.h"

struct bt_json_value *bt_json_new(struct bt_arena *arena, enum bt_json_type type)
{
	struct bt_json_value *value = bt_arena_alloc(arena, sizeof(*value));
	*value = (struct bt_json_value){.type = type};
	return value;
}

struct bt_json_value *bt_json_new_str(struct bt_arena *arena, struct bt_str text)
{
	struct bt_json_value *value = bt_json_new(arena, BT_JSON_STRING);
	value->text = text.data != NULL ? text : BT_STR("");
	return value;
}

struct bt_json_value *bt_json_new_c(struct bt_arena *arena, const char *text)
{
	return bt_json_new_str(arena, bt_str_from(text));
}

struct bt_json_value *bt_json_new_int64(struct bt_arena *arena, int64_t number)
{
	return bt_json_put(arena, NULL, "%d", number);
}

struct bt_json_value *bt_json_new_bool(struct bt_arena *arena, bool boolean)
{
	struct bt_json_value *value = bt_json_new(arena, BT_JSON_BOOL);
	value->boolean = boolean;
	return value;
}

static struct bt_str copy_if(struct bt_arena *arena, struct bt_str text, bool copy_text)
{
	return copy_text ? bt_arena_str(arena, text) : text;
}

/* Recursive: the parser limits the depth of the value. */
struct bt_json_value *bt_json_clone(
	struct bt_arena *arena, const struct bt_json_value *value, bool copy_text)
{
	struct bt_json_value *clone = bt_arena_alloc(arena, sizeof(*clone));
	*clone = *value;
	clone->text = copy_if(arena, value->text, copy_text);
	clone->capacity = value->count;
	if (value->type == BT_JSON_ARRAY) {
		clone->elements = BT_ARENA_NEW_ARRAY(arena, struct bt_json_value *, value->count);
		for (uint32_t i = 0; i < value->count; i++) {
			clone->elements[i] = bt_json_clone(arena, value->elements[i], copy_text);
		}
	} else if (value->type == BT_JSON_OBJECT) {
		clone->members = BT_ARENA_NEW_ARRAY(arena, struct bt_json_member, value->count);
		for (uint32_t i = 0; i < value->count; i++) {
			const struct bt_json_member *member = &value->members[i];
			clone->members[i].name = copy_if(arena, member->name, copy_text);
			clone->members[i].value = bt_json_clone(arena, member->value, copy_text);
		}
	}
	return clone;
}

struct bt_json_value *bt_json_copy(struct bt_arena *arena, const struct bt_json_value *object)
{
	struct bt_json_value *copy = bt_arena_alloc(arena, sizeof(*copy));
	*copy = *object;
	copy->capacity = object->count + 2;
	copy->members = bt_arena_copy_array(
		arena, object->members, object->count, 2, sizeof(*object->members));
	return copy;
}

static uint32_t grown_count(const struct bt_json_value *value)
{
	BT_ASSERT(value->count < UINT32_MAX / 2);
	return value->count < 4 ? 4 : value->count * 2;
}

void bt_json_append_member(struct bt_arena *arena, struct bt_json_value *object, struct bt_str name,
	struct bt_json_value *value)
{
	if (object->count >= object->capacity) {
		uint32_t capacity = grown_count(object);
		object->members = bt_arena_copy_array(arena, object->members, object->count,
			capacity - object->count, sizeof(*object->members));
		object->capacity = capacity;
	}
	object->members[object->count++] = (struct bt_json_member){name, value};
}

/** Removes the members of this name at and behind index. Returns whether there were any. */
static bool remove_members(struct bt_json_value *object, struct bt_str name, uint32_t index)
{
	uint32_t kept = index;
	for (uint32_t i = index; i < object->count; i++) {
		if (!bt_str_equal(object->members[i].name, name)) {
			object->members[kept++] = object->members[i];
		}
	}
	bool removed = kept != object->count;
	object->count = kept;
	return removed;
}

void bt_json_set(struct bt_arena *arena, struct bt_json_value *object, struct bt_str name,
	struct bt_json_value *value)
{
	BT_ASSERT(object->type == BT_JSON_OBJECT);
	for (uint32_t i = 0; i < object->count; i++) {
		if (bt_str_equal(object->members[i].name, name)) {
			object->members[i].value = value;
			(void)remove_members(object, name, i + 1); /* remove duplicates */
			return;
		}
	}
	bt_json_append_member(arena, object, name, value);
}

void bt_json_set_value(struct bt_arena *arena, struct bt_json_value *object, const char *name,
	struct bt_json_value *value)
{
	bt_json_set(arena, object, bt_str_from(name), value);
}

void bt_json_set_str(
	struct bt_arena *arena, struct bt_json_value *object, const char *name, struct bt_str text)
{
	bt_json_set_value(arena, object, name, bt_json_new_str(arena, text));
}

void bt_json_set_c(
	struct bt_arena *arena, struct bt_json_value *object, const char *name, const char *text)
{
	bt_json_set_value(arena, object, name, bt_json_new_c(arena, text));
}

void bt_json_set_int64(
	struct bt_arena *arena, struct bt_json_value *object, const char *name, int64_t value)
{
	bt_json_set_value(arena, object, name, bt_json_new_int64(arena, value));
}

void bt_json_set_bool(
	struct bt_arena *arena, struct bt_json_value *object, const char *name, bool value)
{
	bt_json_set_value(arena, object, name, bt_json_new_bool(arena, value));
}

bool bt_json_remove(struct bt_json_value *object, struct bt_str name)
{
	return object != NULL && object->type == BT_JSON_OBJECT && remove_members(object, name, 0);
}

bool bt_json_remove_c(struct bt_json_value *object, const char *name)
{
	return bt_json_remove(object, bt_str_from(name));
}

void bt_json_insert(struct bt_arena *arena, struct bt_json_value *array, uint32_t index,
	struct bt_json_value *value)
{
	BT_ASSERT(array->type == BT_JSON_ARRAY);
	BT_ASSERT(index <= array->count);
	if (array->count >= array->capacity) {
		uint32_t capacity = grown_count(array);
		array->elements = bt_arena_copy_array(arena, array->elements, array->count,
			capacity - array->count, sizeof(*array->elements));
		array->capacity = capacity;
	}
	for (uint32_t i = array->count; i > index; i--) {
		array->elements[i] = array->elements[i - 1];
	}
	array->elements[index] = value;
	array->count++;
}

void bt_json_append(
	struct bt_arena *arena, struct bt_json_value *array, struct bt_json_value *value)
{
	bt_json_insert(arena, array, array->count, value);
}

void bt_json_remove_at(struct bt_json_value *array, uint32_t index)
{
	BT_ASSERT(array->type == BT_JSON_ARRAY);
	BT_ASSERT(index < array->count);
	array->count--;
	for (uint32_t i = index; i < array->count; i++) {
		array->elements[i] = array->elements[i + 1];
	}
}

bool bt_json_has_text(const struct bt_json_value *array, struct bt_str text)
{
	for (uint32_t i = 0; i < array->count; i++) {
		if (array->elements[i]->type == BT_JSON_STRING &&
			bt_str_equal(array->elements[i]->text, text)) {
			return true;
		}
	}
	return false;
}

struct bt_json_value *bt_json_element_with(
	const struct bt_json_value *array, const char *dotted_path, struct bt_str text)
{
	for (uint32_t i = 0; i < array->count; i++) {
		if (bt_str_equal(bt_json_text_at(array->elements[i], dotted_path), text)) {
			return array->elements[i];
		}
	}
	return NULL;
}

void bt_json_remove_with(struct bt_json_value *array, const char *dotted_path, struct bt_str text)
{
	for (uint32_t i = array->count; i > 0; i--) {
		if (bt_str_equal(bt_json_text_at(array->elements[i - 1], dotted_path), text)) {
			bt_json_remove_at(array, i - 1);
		}
	}
}

void bt_json_remove_text(struct bt_json_value *array, struct bt_str text)
{
	uint32_t kept = 0;
	BT_ASSERT(array->type == BT_JSON_ARRAY);
	for (uint32_t i = 0; i < array->count; i++) {
		if (array->elements[i]->type != BT_JSON_STRING ||
			!bt_str_equal(array->elements[i]->text, text)) {
			array->elements[kept++] = array->elements[i];
		}
	}
	array->count = kept;
}

static const struct bt_json_value *typed_at(
	const struct bt_json_value *value, const char *dotted_path, enum bt_json_type type)
{
	const struct bt_json_value *found = bt_json_find_path(value, dotted_path);
	return found != NULL && found->type == type ? found : NULL;
}

struct bt_str bt_json_text_at(const struct bt_json_value *value, const char *dotted_path)
{
	const struct bt_json_value *found = typed_at(value, dotted_path, BT_JSON_STRING);
	return found != NULL && found->text.data != NULL ? found->text : BT_STR("");
}

int64_t bt_json_int64_at(
	const struct bt_json_value *value, const char *dotted_path, int64_t fallback)
{
	const struct bt_json_value *found = typed_at(value, dotted_path, BT_JSON_NUMBER);
	int64_t number;
	return found != NULL && bt_json_number_int64(found->text, &number) ? number : fallback;
}

bool bt_json_bool_at(const struct bt_json_value *value, const char *dotted_path, bool fallback)
{
	const struct bt_json_value *found = typed_at(value, dotted_path, BT_JSON_BOOL);
	return found != NULL ? found->boolean : fallback;
}

const struct bt_json_value *bt_json_array_at(
	const struct bt_json_value *value, const char *dotted_path)
{
	static const struct bt_json_value empty = {.type = BT_JSON_ARRAY};
	const struct bt_json_value *found = typed_at(value, dotted_path, BT_JSON_ARRAY);
	return found != NULL ? found : &empty;
}

const struct bt_json_value *bt_json_object_at(
	const struct bt_json_value *value, const char *dotted_path)
{
	static const struct bt_json_value empty = {.type = BT_JSON_OBJECT};
	const struct bt_json_value *found = typed_at(value, dotted_path, BT_JSON_OBJECT);
	return found != NULL ? found : &empty;
}

bool bt_json_is_zero(const struct bt_json_value *value)
{
	if (value == NULL) {
		return true;
	}
	switch (value->type) {
	case BT_JSON_NULL:
		return true;
	case BT_JSON_BOOL:
		return !value->boolean;
	case BT_JSON_NUMBER:
		return bt_str_equal(value->text, BT_STR("0"));
	case BT_JSON_STRING:
		return value->text.length == 0;
	case BT_JSON_ARRAY:
	case BT_JSON_OBJECT:
		return value->count == 0;
	case BT_JSON__COUNT:
		break;
	}
	return false;
}

static struct bt_json_value *ensure(struct bt_arena *arena, struct bt_json_value *object,
	const char *name, enum bt_json_type type)
{
	struct bt_json_value *member = bt_json_find(object, name);
	if (member == NULL || member->type != type) {
		member = bt_json_new(arena, type);
		bt_json_set_value(arena, object, name, member);
	}
	return member;
}

struct bt_json_value *bt_json_ensure_object(
	struct bt_arena *arena, struct bt_json_value *object, const char *name)
{
	return ensure(arena, object, name, BT_JSON_OBJECT);
}

struct bt_json_value *bt_json_ensure_array(
	struct bt_arena *arena, struct bt_json_value *object, const char *name)
{
	return ensure(arena, object, name, BT_JSON_ARRAY);
}

void bt_json_append_names(const struct bt_json_value *object, struct bt_text_set *out)
{
	for (uint32_t i = 0; i < object->count; i++) {
		bt_text_set_append(out, object->members[i].name);
	}
}
