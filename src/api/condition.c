/* SPDX-License-Identifier: Apache-2.0 */
#include "api/condition.h"

#include "api/field_rows.h"

static const struct bt_field condition_rows[] = {
	BT_ROW_STR_ALWAYS(bt_condition, type, "type", 1),
	BT_ROW_STR_ALWAYS(bt_condition, status, "status", 2),
	BT_ROW_I64(bt_condition, observed_generation, "observedGeneration", 3),
	BT_ROW_TIME_ALWAYS(bt_condition, last_transition_time, "lastTransitionTime", 4),
	BT_ROW_STR_ALWAYS(bt_condition, reason, "reason", 5),
	BT_ROW_STR_ALWAYS(bt_condition, message, "message", 6),
};
const struct bt_message bt_condition_message =
	BT_MESSAGE(bt_condition, "Condition", condition_rows);
