/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_POD_CONDITION_H
#define BT_SERVER_POD_CONDITION_H
/** Conditions of pods, as bindings and evictions set them. */
#include "server/write.h"

bool bt_pod_has_condition(const struct bt_json_value *pod, const char *type, const char *status);
/** The condition becomes True, now; what it said before goes. reason NULL: neither reason nor
 * message. */
void bt_pod_set_condition(struct bt_call *call, struct bt_json_value *pod, const char *type,
	const char *reason, const char *message);
#endif
