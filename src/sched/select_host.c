/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/select_host.h"

#include <stddef.h>

#include "base/assert.h"
#include "sched/cycle.h"

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
		/* If the paths are equal, a is b or an ancestor of b. An ancestor comes first. */
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

uint32_t bt_find_preferred_slot(const struct bt_engine *engine)
{
	if (engine->preferred_node.length == 0) {
		return BT_SLOT_NONE;
	}
	const struct bt_node_table *nodes = &engine->state->nodes;
	uint32_t slot = bt_node_table_find(nodes, engine->preferred_node);
	return slot != BT_SLOT_NONE && nodes->rows[slot].has_node ? slot : BT_SLOT_NONE;
}

/** Index of the preferred node if it has the best total, otherwise UINT32_MAX. */
static uint32_t find_preferred(const struct bt_engine *engine, const uint32_t *slots,
	const int64_t *totals, uint32_t count)
{
	uint32_t wanted = bt_find_preferred_slot(engine);
	uint32_t found = UINT32_MAX;
	for (uint32_t i = 0; wanted != BT_SLOT_NONE && i < count; i++) {
		found = slots[i] == wanted ? i : found;
	}
	for (uint32_t i = 0; found != UINT32_MAX && i < count; i++) {
		found = totals[i] > totals[found] ? UINT32_MAX : found;
	}
	return found;
}

uint32_t bt_select_host(struct bt_engine *engine, const uint32_t *slots, const int64_t *totals,
	const uint64_t *numbers, uint32_t count)
{
	uint32_t preferred = find_preferred(engine, slots, totals, count);
	if (preferred != UINT32_MAX) {
		return preferred;
	}
	if (engine->options.tie_policy == BT_TIE_HEAP) {
		return bt_heap_choose_by(totals, numbers, count);
	}
	uint32_t best = 0;
	uint64_t ties = 1;
	for (uint32_t i = 1; i < count; i++) {
		if (totals[i] > totals[best]) {
			best = i;
			ties = 1;
			continue;
		}
		if (totals[i] < totals[best]) {
			continue;
		}
		ties++;
		if (engine->options.tie_policy == BT_TIE_RANDOM) {
			best = bt_prng_below(&engine->prng, ties) == 0 ? i : best;
		} else if (bt_str_compare(bt_node_table_name(&engine->state->nodes, slots[i]),
				   bt_node_table_name(&engine->state->nodes, slots[best])) < 0) {
			best = i;
		}
	}
	return best;
}
