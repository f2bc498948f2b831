/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_CONDITION_H
#define BT_SERVER_CONDITION_H
/** Conditions of objects: entries of status.conditions, identified by their type. */
#include "codec/json_edit.h"

struct bt_call;

/** Returns the entry with this type in an array of conditions, or NULL. */
struct bt_json_value *bt_condition_find(const struct bt_json_value *conditions, const char *type);
/** Returns whether the condition exists and has this status. */
bool bt_condition_is(const struct bt_json_value *conditions, const char *type, const char *status);

/**
 * Sets a pod's condition to True as of now, replacing the old entry. `reason` NULL: the condition
 * gets neither a reason nor a message.
 */
void bt_pod_set_condition(struct bt_call *call, struct bt_json_value *pod, const char *type,
	const char *reason, const char *message);
#endif
