/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_CONDITION_H
#define BT_SERVER_CONDITION_H
/** Conditions of objects: entries of status.conditions, identified by their type. */
#include "codec/json_edit.h"

/** Returns the entry with this type in an array of conditions, or NULL. */
static inline struct bt_json_value *bt_condition_find(
	const struct bt_json_value *conditions, const char *type)
{
	return bt_json_element_with(conditions, "type", bt_str_from(type));
}

/** Returns whether the condition exists and has this status. */
static inline bool bt_condition_is(
	const struct bt_json_value *conditions, const char *type, const char *status)
{
	return bt_str_equal_c(
		bt_json_text_at(bt_condition_find(conditions, type), "status"), status);
}
#endif
