/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_COMMON_COLUMNS_H
#define BT_PLUGINS_COMMON_COLUMNS_H
/** Helpers for the slots of a column pass (framework/plugin.h). */
#include "framework/plugin.h"

/** Returns the slot at index k of a range. */
static inline uint32_t bt_slot_at(struct bt_slot_range range, uint32_t k)
{
	return range.slots == NULL ? range.first + k : range.slots[k];
}

/** Set every slot of the range to one value. */
static inline void bt_fill_slots(struct bt_slot_range range, uint32_t *values, uint32_t value)
{
	for (uint32_t k = 0; k < range.count; k++) {
		values[bt_slot_at(range, k)] = value;
	}
}

static inline void bt_fill_scores(struct bt_slot_range range, int32_t *scores, int32_t score)
{
	for (uint32_t k = 0; k < range.count; k++) {
		scores[bt_slot_at(range, k)] = score;
	}
}

/** Detail of a rejected node from plugins that have a single reason to reject nodes. */
#define BT_DETAIL_REJECTED 1U
#endif
