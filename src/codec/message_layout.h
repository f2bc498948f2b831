/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CODEC_MESSAGE_LAYOUT_H
#define BT_CODEC_MESSAGE_LAYOUT_H
/**
 * Access to structure members by table row. Lists of any element type share one layout; members are
 * read and written with memcpy, so that the element type does not matter to the compiler. Private
 * to src/codec.
 */
#include <string.h>

#include "codec/message.h"

static inline void *bt_field_at(void *structure, uint32_t offset)
{
	return (char *)structure + offset;
}

static inline const void *bt_const_field_at(const void *structure, uint32_t offset)
{
	return (const char *)structure + offset;
}

static inline struct bt_any_list bt_load_list(const void *member)
{
	struct bt_any_list list;
	memcpy(&list, member, sizeof(list));
	return list;
}

static inline void bt_store_list(void *member, struct bt_any_list list)
{
	memcpy(member, &list, sizeof(list));
}

static inline struct bt_str bt_load_str(const void *member)
{
	struct bt_str text;
	memcpy(&text, member, sizeof(text));
	return text;
}

static inline void bt_store_str(void *member, struct bt_str text)
{
	memcpy(member, &text, sizeof(text));
}

static inline const void *bt_load_pointer(const void *member)
{
	const void *pointer;
	memcpy(&pointer, member, sizeof(pointer));
	return pointer;
}

static inline void bt_store_pointer(void *member, const void *pointer)
{
	memcpy(member, &pointer, sizeof(pointer));
}

/** Returns element i of a list, or entry i of a map. */
static inline const void *bt_list_item(
	const struct bt_field *field, const struct bt_any_list *list, uint32_t i)
{
	return (const char *)list->items + (size_t)i * field->item_size;
}

/** Returns the offset of the value within a list element (always 0) or a map entry. */
static inline uint32_t bt_value_offset(const struct bt_field *field)
{
	return field->shape == BT_SHAPE_MAP ? field->value_offset : 0;
}

/**
 * Returns whether the member is a pointer: nullable messages and scalars are pointers, other
 * nullable values are stored in the structure.
 */
static inline bool bt_field_is_pointer(const struct bt_field *field)
{
	return field->shape == BT_SHAPE_NULLABLE &&
		(field->type == BT_FIELD_MESSAGE || field->type == BT_FIELD_SCALAR);
}

/** Size of the memory that a nullable message or scalar points to. */
static inline size_t bt_pointee_size(const struct bt_field *field)
{
	return field->type == BT_FIELD_MESSAGE ? field->message->size : field->scalar->size;
}

/** Returns the value of a BOOL, I32 or I64; 0 for other types. */
static inline int64_t bt_load_number(const struct bt_field *field, const void *value)
{
	switch ((enum bt_field_type)field->type) {
	case BT_FIELD_BOOL:
		return *(const bool *)value ? 1 : 0;
	case BT_FIELD_I32:
		return *(const int32_t *)value;
	case BT_FIELD_I64:
		return *(const int64_t *)value;
	case BT_FIELD_STR:
	case BT_FIELD_RAW_JSON:
	case BT_FIELD_MESSAGE:
	case BT_FIELD_SCALAR:
		break;
	}
	return 0;
}

/** Stores a number in a value of a field whose type is BOOL, I32 or I64. */
static inline void bt_store_number(const struct bt_field *field, void *out, int64_t number)
{
	if (field->type == BT_FIELD_BOOL) {
		*(bool *)out = number != 0;
	} else if (field->type == BT_FIELD_I32) {
		*(int32_t *)out = (int32_t)number;
	} else {
		*(int64_t *)out = number;
	}
}

/** Returns the bytes that a nullable member takes in the structure. */
static inline size_t bt_nullable_size(const struct bt_field *field)
{
	switch ((enum bt_field_type)field->type) {
	case BT_FIELD_STR:
	case BT_FIELD_RAW_JSON:
		return sizeof(struct bt_str);
	case BT_FIELD_BOOL:
		return sizeof(struct bt_opt_bool);
	case BT_FIELD_I32:
		return sizeof(struct bt_opt_i32);
	case BT_FIELD_I64:
		return sizeof(struct bt_opt_i64);
	case BT_FIELD_MESSAGE:
	case BT_FIELD_SCALAR:
		return sizeof(void *);
	}
	return 0;
}

/** Returns a pointer to the value of a nullable field, or NULL if the field is absent. */
static inline const void *bt_nullable_value(const struct bt_field *field, const void *member)
{
	switch ((enum bt_field_type)field->type) {
	case BT_FIELD_STR:
	case BT_FIELD_RAW_JSON:
		return bt_load_str(member).data != NULL ? member : NULL;
	case BT_FIELD_BOOL: {
		const struct bt_opt_bool *optional = member;
		return optional->present ? &optional->value : NULL;
	}
	case BT_FIELD_I32: {
		const struct bt_opt_i32 *optional = member;
		return optional->present ? &optional->value : NULL;
	}
	case BT_FIELD_I64: {
		const struct bt_opt_i64 *optional = member;
		return optional->present ? &optional->value : NULL;
	}
	case BT_FIELD_MESSAGE:
	case BT_FIELD_SCALAR:
		return bt_load_pointer(member);
	}
	return NULL;
}

/**
 * Makes a nullable field present and returns the place for its value. If the member is a pointer
 * that is still NULL, allocates zeroed memory for the value.
 */
static inline void *bt_nullable_place(
	const struct bt_field *field, void *member, struct bt_arena *arena)
{
	void *pointee;

	switch ((enum bt_field_type)field->type) {
	case BT_FIELD_STR:
	case BT_FIELD_RAW_JSON:
		return member;
	case BT_FIELD_BOOL:
		((struct bt_opt_bool *)member)->present = true;
		return &((struct bt_opt_bool *)member)->value;
	case BT_FIELD_I32:
		((struct bt_opt_i32 *)member)->present = true;
		return &((struct bt_opt_i32 *)member)->value;
	case BT_FIELD_I64:
		((struct bt_opt_i64 *)member)->present = true;
		return &((struct bt_opt_i64 *)member)->value;
	case BT_FIELD_MESSAGE:
	case BT_FIELD_SCALAR:
		memcpy(&pointee, member, sizeof(pointee));
		if (pointee == NULL) {
			pointee = bt_arena_calloc(arena, 1, bt_pointee_size(field));
			bt_store_pointer(member, pointee);
		}
		return pointee;
	}
	return NULL;
}
#endif
