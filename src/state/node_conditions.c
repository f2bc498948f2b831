/* SPDX-License-Identifier: Apache-2.0 */
#include "state/node_conditions.h"

static const struct {
	const char *type;
	char letter;
} condition_types[] = {
	{"Ready", BT_CONDITION_READY},
	{"OutOfDisk", BT_CONDITION_OUT_OF_DISK},
	{"NetworkUnavailable", BT_CONDITION_NETWORK_UNAVAILABLE},
	{"MemoryPressure", BT_CONDITION_MEMORY_PRESSURE},
	{"DiskPressure", BT_CONDITION_DISK_PRESSURE},
	{"PIDPressure", BT_CONDITION_PID_PRESSURE},
};

static char status_letter(struct bt_str status)
{
	if (bt_str_equal_c(status, "True")) {
		return BT_CONDITION_TRUE;
	}
	return bt_str_equal_c(status, "False") ? BT_CONDITION_FALSE : BT_CONDITION_UNKNOWN;
}

void bt_node_conditions_digest(const struct bt_node_status *status, struct bt_strbuf *out)
{
	for (uint32_t i = 0; i < status->conditions.count; i++) {
		const struct bt_node_condition *condition = &status->conditions.items[i];

		for (size_t k = 0; k < BT_ARRAY_LENGTH(condition_types); k++) {
			if (bt_str_equal_c(condition->type, condition_types[k].type)) {
				bt_strbuf_append_char(out, condition_types[k].letter);
				bt_strbuf_append_char(out, status_letter(condition->status));
			}
		}
	}
}
