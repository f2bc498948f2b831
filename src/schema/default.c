/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/json_edit.h"
#include "schema/normalise_private.h"

static struct bt_json_value *default_of(const struct bt_schema_field *field, struct bt_arena *arena)
{
	struct bt_json_value *value;
	if (field->type == BT_SCHEMA_STRING) {
		return bt_json_new_c(arena, field->default_text);
	}
	value = bt_json_new(arena, field->type == BT_SCHEMA_BOOL ? BT_JSON_BOOL : BT_JSON_NUMBER);
	if (field->type == BT_SCHEMA_BOOL) {
		value->boolean = field->default_text[0] == 't';
	} else {
		value->text = bt_str_from(field->default_text);
	}
	return value;
}

static bool is_missing(const struct bt_schema_field *field, const struct bt_json_value *value)
{
	return value == NULL ||
		((field->flags & BT_SCHEMA_NULLABLE) == 0 && bt_normalise_is_zero(field, value));
}

static void default_parts(const struct bt_schema_field *field, const struct bt_json_value *value,
	struct bt_arena *arena)
{
	switch ((enum bt_schema_shape)field->shape) {
	case BT_SCHEMA_SINGLE:
		break;
	case BT_SCHEMA_LIST:
		for (uint32_t i = 0; i < value->count; i++) {
			bt_schema_default(field->message, value->elements[i], arena);
		}
		break;
	case BT_SCHEMA_MAP:
		for (uint32_t i = 0; i < value->count; i++) {
			bt_schema_default(field->message, value->members[i].value, arena);
		}
		break;
	}
}

/* Recursion is bounded by the nesting of messages. */
void bt_schema_default(const struct bt_schema_message *message, struct bt_json_value *object,
	struct bt_arena *arena)
{
	for (uint32_t i = 0; message->has_defaults && i < message->field_count; i++) {
		const struct bt_schema_field *field = &message->fields[i];
		bool has_parts = field->message != NULL && field->message->has_defaults;
		struct bt_json_value *value;

		if ((field->flags & BT_SCHEMA_INLINE) != 0) {
			bt_schema_default(field->message, object, arena);
			continue;
		}
		if (field->default_text == NULL && !has_parts) {
			continue;
		}
		value = bt_json_get(object, bt_schema_field_name(field));
		if (field->default_text != NULL && is_missing(field, value)) {
			bt_json_set(arena, object, bt_schema_field_name(field),
				default_of(field, arena));
		} else if (has_parts && value != NULL && field->shape == BT_SCHEMA_SINGLE) {
			bt_schema_default(field->message, value, arena);
		} else if (has_parts && value != NULL) {
			default_parts(field, value, arena);
		}
	}
}
