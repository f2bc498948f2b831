/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/spot.h"

struct bt_spot bt_spot_root(
	const struct bt_schema_message *message, const struct bt_schema_message *parts)
{
	return (struct bt_spot){
		.message = message != NULL ? message : parts, .custom_root = message == NULL};
}

struct bt_spot bt_spot_member(const struct bt_spot *spot, struct bt_str name)
{
	const struct bt_schema_message *message = spot->message;
	if (spot->map != NULL) {
		return (struct bt_spot){.message = spot->map->type == BT_SCHEMA_MESSAGE
				? spot->map->message
				: NULL};
	}
	if (spot->custom_root && bt_str_equal(name, BT_STR("metadata"))) {
		/* metadata is the same message for every kind */
		message = bt_schema_find(BT_STR("v1"), BT_STR("ConfigMap"));
	}
	const struct bt_schema_field *field =
		message != NULL ? bt_schema_field_find(message, name, NULL) : NULL;
	struct bt_spot member = {.field = field};
	if (field == NULL) {
		return member;
	}
	switch ((enum bt_schema_shape)field->shape) {
	case BT_SCHEMA_SINGLE:
		member.message = field->type == BT_SCHEMA_MESSAGE ? field->message : NULL;
		break;
	case BT_SCHEMA_LIST:
		member.list = field;
		break;
	case BT_SCHEMA_MAP:
		member.map = field;
		break;
	}
	return member;
}

struct bt_spot bt_spot_element(const struct bt_spot *spot)
{
	return (struct bt_spot){
		.message = spot->list != NULL && spot->list->type == BT_SCHEMA_MESSAGE
			? spot->list->message
			: NULL};
}

struct bt_str bt_spot_scalar_text(const struct bt_json_value *value)
{
	if (value == NULL) {
		return (struct bt_str){NULL, 0};
	}
	if (value->type == BT_JSON_STRING || value->type == BT_JSON_NUMBER) {
		return value->text.data != NULL ? value->text : BT_STR("");
	}
	if (value->type == BT_JSON_BOOL) {
		return value->boolean ? BT_STR("true") : BT_STR("false");
	}
	return (struct bt_str){NULL, 0};
}
