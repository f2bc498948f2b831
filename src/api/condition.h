/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_CONDITION_H
#define BT_API_CONDITION_H
/** metav1 Condition, as in claims, pod groups and other status lists. Spec: 01 section 4.11. */
#include "api/time.h"
#include "codec/message.h"

struct bt_condition {
	struct bt_str type;
	struct bt_str status;
	int64_t observed_generation;
	struct bt_time last_transition_time;
	struct bt_str reason;
	struct bt_str message;
};

extern const struct bt_message bt_condition_message;
#endif
