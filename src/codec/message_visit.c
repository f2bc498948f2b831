/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/message.h"
#include "codec/message_layout.h"

static void visit_text(const struct bt_message *message, const struct bt_field *field, bool is_key,
	const struct bt_message_visitor *visitor, void *member)
{
	struct bt_str text = bt_load_str(member);
	if (text.data != NULL) {
		visitor->text(visitor->context, message, field, is_key, &text);
		bt_store_str(member, text);
	}
}

/** Visits one value of the field's type. */
static void visit_value(const struct bt_message *message, const struct bt_field *field,
	const struct bt_message_visitor *visitor, void *member)
{
	switch ((enum bt_field_type)field->type) {
	case BT_FIELD_STR:
	case BT_FIELD_RAW_JSON:
		visit_text(message, field, false, visitor, member);
		break;
	case BT_FIELD_MESSAGE:
		bt_message_visit(field->message, visitor, member);
		break;
	case BT_FIELD_BOOL:
	case BT_FIELD_I32:
	case BT_FIELD_I64:
	case BT_FIELD_SCALAR:
		break;
	}
}

static void visit_items(const struct bt_message *message, const struct bt_field *field,
	const struct bt_message_visitor *visitor, void *member)
{
	struct bt_any_list list = bt_load_list(member);
	bool is_map = field->shape == BT_SHAPE_MAP;
	uint32_t kept = 0;
	for (uint32_t i = 0; i < list.count; i++) {
		char *item = (char *)list.items + (size_t)i * field->item_size;
		if ((is_map || field->type == BT_FIELD_STR) &&
			!visitor->keeps(visitor->context, message, field, bt_load_str(item))) {
			continue;
		}
		char *place = (char *)list.items + (size_t)kept++ * field->item_size;
		if (place != item) {
			memcpy(place, item, field->item_size);
		}
		if (is_map) {
			visit_text(message, field, true, visitor, place);
		}
		visit_value(message, field, visitor, place + (is_map ? field->value_offset : 0));
	}
	list.present = list.present && (kept != 0 || list.count == 0);
	list.count = kept;
	bt_store_list(member, list);
}

void bt_message_visit(
	const struct bt_message *message, const struct bt_message_visitor *visitor, void *value)
{
	for (uint32_t i = 0; i < message->field_count; i++) {
		const struct bt_field *field = &message->fields[i];
		void *member = bt_field_at(value, field->offset);
		const void *pointer;
		void *inner;
		switch ((enum bt_field_shape)field->shape) {
		case BT_SHAPE_SINGLE:
			visit_value(message, field, visitor, member);
			break;
		case BT_SHAPE_NULLABLE:
			if (!bt_field_is_pointer(field)) {
				visit_value(message, field, visitor, member);
				break;
			}
			pointer = bt_load_pointer(member);
			/* writable: value is the caller's copy */
			memcpy(&inner, &pointer, sizeof(inner));
			if (inner != NULL && field->type == BT_FIELD_MESSAGE) {
				bt_message_visit(field->message, visitor, inner);
			} else if (inner != NULL) {
				visitor->scalar(visitor->context, field, inner);
			}
			break;
		case BT_SHAPE_LIST:
		case BT_SHAPE_MAP:
			visit_items(message, field, visitor, member);
			break;
		}
	}
}
