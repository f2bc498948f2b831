/* SPDX-License-Identifier: Apache-2.0 */
#include "api/pod.h"

int32_t bt_pod_priority(const struct bt_pod *pod)
{
	return pod->spec.priority.present ? pod->spec.priority.value : 0;
}

bool bt_pod_is_terminal(const struct bt_pod *pod)
{
	return bt_str_equal(pod->status.phase, BT_STR("Succeeded")) ||
		bt_str_equal(pod->status.phase, BT_STR("Failed"));
}

const struct bt_pod_condition *bt_pod_find_condition(const struct bt_pod *pod, struct bt_str type)
{
	return BT_STR_FIND(&pod->status.conditions, type, type);
}
