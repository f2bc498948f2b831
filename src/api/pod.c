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
	for (uint32_t i = 0; i < pod->status.conditions.count; i++) {
		if (bt_str_equal(pod->status.conditions.items[i].type, type)) {
			return &pod->status.conditions.items[i];
		}
	}
	return NULL;
}
