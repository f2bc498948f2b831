/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CODEC_JSON_EDIT_H
#define BT_CODEC_JSON_EDIT_H
/**
 * Creates and changes JSON trees. New memory comes from the given arena; removed parts stay
 * allocated until their arena ends. Names and texts are borrowed and must live as long as the tree
 * (literals, or text of the same arena).
 */
#include "base/text_set.h"
#include "codec/json.h"

BT_MUST_USE struct bt_json_value *bt_json_new(struct bt_arena *arena, enum bt_json_type type);
BT_MUST_USE struct bt_json_value *bt_json_new_str(struct bt_arena *arena, struct bt_str text);
BT_MUST_USE struct bt_json_value *bt_json_new_c(struct bt_arena *arena, const char *text);
BT_MUST_USE struct bt_json_value *bt_json_new_int64(struct bt_arena *arena, int64_t value);
BT_MUST_USE struct bt_json_value *bt_json_new_bool(struct bt_arena *arena, bool value);
/**
 * Returns a deep copy of value. If copy_text is set, names and texts are copied as well, so that
 * the copy borrows nothing; otherwise they are shared with value.
 */
BT_MUST_USE struct bt_json_value *bt_json_clone(
	struct bt_arena *arena, const struct bt_json_value *value, bool copy_text);

/** Returns a copy of an object that shares its values. */
BT_MUST_USE struct bt_json_value *bt_json_copy(
	struct bt_arena *arena, const struct bt_json_value *object);

/**
 * Sets a member. If the object has the name already, the value is replaced in place and repeated
 * members of the name are removed; otherwise the member is appended.
 */
void bt_json_set(struct bt_arena *arena, struct bt_json_value *object, struct bt_str name,
	struct bt_json_value *value);
void bt_json_set_str(
	struct bt_arena *arena, struct bt_json_value *object, const char *name, struct bt_str text);
void bt_json_set_c(
	struct bt_arena *arena, struct bt_json_value *object, const char *name, const char *text);
void bt_json_set_int64(
	struct bt_arena *arena, struct bt_json_value *object, const char *name, int64_t value);
void bt_json_set_bool(
	struct bt_arena *arena, struct bt_json_value *object, const char *name, bool value);
void bt_json_set_value(struct bt_arena *arena, struct bt_json_value *object, const char *name,
	struct bt_json_value *value);
/** Appends a member without searching; the name must not exist in the object. */
void bt_json_append_member(struct bt_arena *arena, struct bt_json_value *object, struct bt_str name,
	struct bt_json_value *value);
/** Remove the members of this name; return false if there are none. object may be NULL. */
bool bt_json_remove(struct bt_json_value *object, struct bt_str name);
bool bt_json_remove_c(struct bt_json_value *object, const char *name);

void bt_json_append(
	struct bt_arena *arena, struct bt_json_value *array, struct bt_json_value *value);
/** Inserts a value before the element at index; index == count appends the value. */
void bt_json_insert(struct bt_arena *arena, struct bt_json_value *array, uint32_t index,
	struct bt_json_value *value);
void bt_json_remove_at(struct bt_json_value *array, uint32_t index);
/** Returns true if the array has a string element that equals text. */
bool bt_json_has_text(const struct bt_json_value *array, struct bt_str text);
/** Returns the first object of the array whose member at the dotted path is this text, or NULL. */
struct bt_json_value *bt_json_element_with(
	const struct bt_json_value *array, const char *dotted_path, struct bt_str text);
/** Removes the objects of the array whose member at the dotted path is this text. */
void bt_json_remove_with(struct bt_json_value *array, const char *dotted_path, struct bt_str text);
/** Removes all elements of the array that equal text. */
void bt_json_remove_text(struct bt_json_value *array, struct bt_str text);

/** Returns the string at a dotted path of names; "" if the path is absent or not a string. */
struct bt_str bt_json_text_at(const struct bt_json_value *value, const char *dotted_path);
/** Return the integer or bool at a path; fallback if the value is absent or has another type. */
int64_t bt_json_int64_at(
	const struct bt_json_value *value, const char *dotted_path, int64_t fallback);
bool bt_json_bool_at(const struct bt_json_value *value, const char *dotted_path, bool fallback);
/**
 * Returns the array at a path, or a shared empty array, which must not be changed. Never returns
 * NULL.
 */
const struct bt_json_value *bt_json_array_at(
	const struct bt_json_value *value, const char *dotted_path);
/**
 * Returns the object at a path, or a shared empty object, which must not be changed. Never returns
 * NULL.
 */
const struct bt_json_value *bt_json_object_at(
	const struct bt_json_value *value, const char *dotted_path);
/**
 * Returns true for the values that Go's omitempty omits: absent (NULL), null, false, 0, "", [] and
 * {}.
 */
bool bt_json_is_zero(const struct bt_json_value *value);
/**
 * Return the object or the array that is the value of a member. If the member is absent or its
 * value has another type, the value becomes a new empty object or array.
 */
struct bt_json_value *bt_json_ensure_object(
	struct bt_arena *arena, struct bt_json_value *object, const char *name);
struct bt_json_value *bt_json_ensure_array(
	struct bt_arena *arena, struct bt_json_value *object, const char *name);
/**
 * Sets members of an object from a template, which must live as long as the tree:
 *
 *     bt_json_put(arena, patch, "{spec: {replicas: %d, 'a.b/c'?: %s, hosts: [%s, 'b']}}", ...)
 *
 * An object in the template is merged into the object that the member has already, and the elements
 * of an array are appended to the array that it has already; other values replace the old value.
 * Names with other characters than letters are quoted, or given by %c or %s. A member written as
 * "name?:" is set only if its value is not zero (bt_json_is_zero). Values are objects, arrays,
 * 'text', true, false, null, or an argument
 *
 *     %s  struct bt_str
 *     %d  int64_t
 *     %u  uint32_t
 *     %i  int32_t
 *     %c  const char *; NULL: no member
 *     %b  bool
 *     %v  struct bt_json_value *, which becomes part of the tree; NULL: no member
 *     %t  const struct bt_json_value *, which is cloned without its texts; NULL: no member
 *
 * object NULL: creates a new value, which may also be an array. Returns the object.
 */
struct bt_json_value *bt_json_put(
	struct bt_arena *arena, struct bt_json_value *object, const char *template_, ...);
/** Appends the names of the members, in order. */
void bt_json_append_names(const struct bt_json_value *object, struct bt_text_set *out);
#endif
