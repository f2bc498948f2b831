/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/message.h"

#include "codec/message_layout.h"

static bool message_is_zero(const struct bt_message *message, const void *structure);

/** Returns whether the field is zero, and thus omitted from JSON unless it has BT_FIELD_ALWAYS. */
static bool field_is_zero(const struct bt_field *field, const void *member)
{
	if (field->shape == BT_SHAPE_NULLABLE) {
		return bt_nullable_value(field, member) == NULL;
	}
	if (field->shape != BT_SHAPE_SINGLE) {
		return bt_load_list(member).count == 0;
	}
	switch ((enum bt_field_type)field->type) {
	case BT_FIELD_STR:
	case BT_FIELD_RAW_JSON:
		return bt_load_str(member).length == 0;
	case BT_FIELD_BOOL:
	case BT_FIELD_I32:
	case BT_FIELD_I64:
		return bt_load_number(field, member) == 0;
	case BT_FIELD_MESSAGE:
		return message_is_zero(field->message, member);
	case BT_FIELD_SCALAR:
		return field->scalar->is_zero(member);
	}
	return true;
}

static bool message_is_zero(const struct bt_message *message, const void *structure)
{
	for (uint32_t i = 0; i < message->field_count; i++) {
		const struct bt_field *field = &message->fields[i];
		if (!field_is_zero(field, bt_const_field_at(structure, field->offset))) {
			return false;
		}
	}
	return true;
}

/** Writes a value. value is NULL for an absent nullable field, which is written as null. */
static void write_value(
	const struct bt_field *field, struct bt_json_writer *writer, const void *value)
{
	if (value == NULL) {
		bt_json_write_null(writer);
		return;
	}
	switch ((enum bt_field_type)field->type) {
	case BT_FIELD_STR:
		bt_json_write_str(writer, bt_load_str(value));
		break;
	case BT_FIELD_BOOL:
		bt_json_write_bool(writer, *(const bool *)value);
		break;
	case BT_FIELD_I32:
	case BT_FIELD_I64:
		bt_json_write_int64(writer, bt_load_number(field, value));
		break;
	case BT_FIELD_MESSAGE:
		bt_message_encode_json(field->message, writer, value);
		break;
	case BT_FIELD_SCALAR:
		field->scalar->encode_json(field->scalar, writer, value);
		break;
	case BT_FIELD_RAW_JSON: {
		struct bt_str json = bt_load_str(value);
		if (json.length == 0) {
			bt_json_write_null(writer);
		} else {
			bt_json_write_raw(writer, json);
		}
		break;
	}
	}
}

static void write_items(
	const struct bt_field *field, struct bt_json_writer *writer, const void *member)
{
	struct bt_any_list list = bt_load_list(member);
	bool is_map = field->shape == BT_SHAPE_MAP;
	if (list.count == 0 && !list.present) {
		bt_json_write_null(writer);
		return;
	}
	if (is_map) {
		bt_json_begin_object(writer);
	} else {
		bt_json_begin_array(writer);
	}
	for (uint32_t i = 0; i < list.count; i++) {
		const void *item = bt_list_item(field, &list, i);
		if (is_map) {
			bt_json_write_name(writer, bt_load_str(item));
		}
		write_value(field, writer, bt_const_field_at(item, bt_value_offset(field)));
	}
	if (is_map) {
		bt_json_end_object(writer);
	} else {
		bt_json_end_array(writer);
	}
}

void bt_message_encode_json_members(
	const struct bt_message *message, struct bt_json_writer *writer, const void *value)
{
	for (uint32_t i = 0; i < message->field_count; i++) {
		const struct bt_field *field = &message->fields[i];
		const void *member = bt_const_field_at(value, field->offset);
		if ((field->flags & BT_FIELD_INLINE) != 0) {
			const void *structure =
				field->shape == BT_SHAPE_SINGLE ? member : bt_load_pointer(member);
			if (structure != NULL) {
				bt_message_encode_json_members(field->message, writer, structure);
			}
			continue;
		}
		if ((field->flags & BT_FIELD_ALWAYS) == 0 && field_is_zero(field, member)) {
			continue;
		}
		bt_json_write_name(writer, (struct bt_str){field->name, field->name_length});
		switch ((enum bt_field_shape)field->shape) {
		case BT_SHAPE_SINGLE:
			write_value(field, writer, member);
			break;
		case BT_SHAPE_NULLABLE:
			write_value(field, writer, bt_nullable_value(field, member));
			break;
		case BT_SHAPE_LIST:
		case BT_SHAPE_MAP:
			write_items(field, writer, member);
			break;
		}
	}
}

void bt_message_encode_json(
	const struct bt_message *message, struct bt_json_writer *writer, const void *value)
{
	bt_json_begin_object(writer);
	bt_message_encode_json_members(message, writer, value);
	bt_json_end_object(writer);
}
