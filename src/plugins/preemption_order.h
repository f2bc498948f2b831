/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_PREEMPTION_ORDER_H
#define BT_PLUGINS_PREEMPTION_ORDER_H
/** Importance of pods, and sorting by it. Spec: 08 section 3.1, 01 section 5.13. */
#include <stdbool.h>
#include <stdint.h>

#include "state/pod_info.h"

/** a and b: whatever the caller sorts. */
typedef bool (*bt_more_important)(const void *context, uint32_t a, uint32_t b);

/**
 * Equal priority: the one that started earlier. Two pods that have not started: true, in whichever
 * order they are named, because the clock is read first for a.
 */
static inline bool bt_is_more_important(
	int32_t a_priority, int64_t a_start_seconds, int32_t b_priority, int64_t b_start_seconds)
{
	if (a_priority != b_priority) {
		return a_priority > b_priority;
	}
	if (a_start_seconds == INT64_MIN) {
		return b_start_seconds == INT64_MIN;
	}
	return b_start_seconds == INT64_MIN || a_start_seconds < b_start_seconds;
}

/**
 * Sort indices, most important first. The outcome is that of a plain insertion sort also where the
 * relation is no order (a run of unstarted pods comes out reversed); O(n log n). scratch: room for
 * count indices.
 */
void bt_sort_by_importance(uint32_t *indices, uint32_t count, uint32_t *scratch,
	bt_more_important more_important, const void *context);
#endif
