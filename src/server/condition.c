/* SPDX-License-Identifier: Apache-2.0 */
#include "server/condition.h"

#include "api/time.h"
#include "server/write.h"

struct bt_json_value *bt_condition_find(const struct bt_json_value *conditions, const char *type)
{
	return bt_json_element_with(conditions, "type", bt_str_from(type));
}

bool bt_condition_is(const struct bt_json_value *conditions, const char *type, const char *status)
{
	return bt_str_equal_c(
		bt_json_text_at(bt_condition_find(conditions, type), "status"), status);
}

void bt_pod_set_condition(struct bt_call *call, struct bt_json_value *pod, const char *type,
	const char *reason, const char *message)
{
	struct bt_arena *arena = call->arena;
	struct bt_json_value *condition = bt_json_put(arena, NULL,
		"{type: %c, status: 'True', lastTransitionTime: %s, reason: %c, message: %c}", type,
		bt_time_text(arena, call->write.now_ns), reason, reason != NULL ? message : NULL);
	const struct bt_schema_field *status =
		bt_schema_field_find(call->api->pods->message, BT_STR("status"), NULL);
	int result = bt_schema_normalise(
		bt_schema_field_find(status->message, BT_STR("conditions"), NULL)->message,
		condition, false, arena, NULL, NULL);
	(void)result; /* the condition is valid */
	struct bt_json_value *conditions = bt_json_ensure_array(
		arena, bt_json_ensure_object(arena, pod, "status"), "conditions");
	struct bt_json_value *old = bt_condition_find(conditions, type);
	if (old != NULL) {
		*old = *condition;
	} else {
		bt_json_append(arena, conditions, condition);
	}
}
