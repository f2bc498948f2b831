/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/node_choice.h"

#include <stddef.h>

#include "base/assert.h"

static uint32_t heap_depth(uint32_t position)
{
	return 63 - BT_CLZ64((uint64_t)position + 1);
}

bool bt_heap_precedes(uint32_t a, uint32_t b)
{
	uint32_t depth_a = heap_depth(a);
	uint32_t depth_b = heap_depth(b);
	uint64_t path_a = (uint64_t)a + 1;
	uint64_t path_b = (uint64_t)b + 1;
	if (depth_a <= depth_b) {
		path_b >>= depth_b - depth_a;
		/* Equal: a is b or an ancestor of it, which comes first. */
		return path_a < path_b || (path_a == path_b && a != b);
	}
	path_a >>= depth_a - depth_b;
	return path_a < path_b;
}

uint32_t bt_heap_choose_by(const int64_t *totals, const uint64_t *numbers, uint32_t count)
{
	BT_ASSERT(count > 0);
	if (numbers == NULL) {
		return bt_heap_choose(totals, count);
	}
	uint32_t best = 0;
	for (uint32_t i = 1; i < count; i++) {
		bool equal = totals[i] == totals[best];
		if (totals[i] > totals[best] || (equal && numbers[i] > numbers[best]) ||
			(equal && numbers[i] == numbers[best] && bt_heap_precedes(i, best))) {
			best = i;
		}
	}
	return best;
}

uint32_t bt_heap_choose(const int64_t *totals, uint32_t count)
{
	BT_ASSERT(count > 0);
	int64_t best_total = totals[0];
	uint32_t best = 0;
	for (uint32_t i = 1; i < count; i++) {
		if (totals[i] > best_total ||
			(totals[i] == best_total && bt_heap_precedes(i, best))) {
			best_total = totals[i];
			best = i;
		}
	}
	return best;
}
