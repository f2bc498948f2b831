/* SPDX-License-Identifier: Apache-2.0 */
#include "state/node_conditions.h"

static const struct {
	struct bt_str type;
	char letter;
} condition_types[] = {
	{BT_STR_INIT("Ready"), BT_CONDITION_READY},
	{BT_STR_INIT("OutOfDisk"), BT_CONDITION_OUT_OF_DISK},
	{BT_STR_INIT("NetworkUnavailable"), BT_CONDITION_NETWORK_UNAVAILABLE},
	{BT_STR_INIT("MemoryPressure"), BT_CONDITION_MEMORY_PRESSURE},
	{BT_STR_INIT("DiskPressure"), BT_CONDITION_DISK_PRESSURE},
	{BT_STR_INIT("PIDPressure"), BT_CONDITION_PID_PRESSURE},
};

static char status_letter(struct bt_str status)
{
	if (bt_str_equal(status, BT_STR("True"))) {
		return BT_CONDITION_TRUE;
	}
	return bt_str_equal(status, BT_STR("False")) ? BT_CONDITION_FALSE : BT_CONDITION_UNKNOWN;
}

void bt_node_conditions_digest(const struct bt_node_status *status, struct bt_strbuf *out)
{
	for (uint32_t i = 0; i < status->conditions.count; i++) {
		const struct bt_node_condition *condition = &status->conditions.items[i];

		for (size_t k = 0; k < BT_ARRAY_LENGTH(condition_types); k++) {
			if (bt_str_equal(condition->type, condition_types[k].type)) {
				bt_strbuf_append_char(out, condition_types[k].letter);
				bt_strbuf_append_char(out, status_letter(condition->status));
			}
		}
	}
}
