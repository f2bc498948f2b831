/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/select_host.h"

#include <stddef.h>

#include "base/assert.h"
#include "sched/cycle.h"

uint32_t bt_heap_choose(const int64_t *totals, const uint64_t *numbers, uint32_t count)
{
	BT_ASSERT(count > 0);
	int64_t best_total = totals[0];
	uint32_t best = 0;
	for (uint32_t i = 1; i < count; i++) {
		bool is_better = totals[i] > best_total;
		if (totals[i] == best_total) {
			is_better = numbers != NULL && numbers[i] != numbers[best]
				? numbers[i] > numbers[best]
				: bt_heap_order(i) < bt_heap_order(best);
		}
		if (is_better) {
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

uint32_t bt_select_host(struct bt_engine *engine, const uint32_t *slots, const int64_t *totals,
	const uint64_t *numbers, uint32_t count)
{
	uint32_t wanted = bt_find_preferred_slot(engine);
	uint32_t preferred = UINT32_MAX;
	for (uint32_t i = 0; wanted != BT_SLOT_NONE && i < count; i++) {
		preferred = slots[i] == wanted ? i : preferred;
	}
	for (uint32_t i = 0; preferred != UINT32_MAX && i < count; i++) {
		preferred = totals[i] > totals[preferred] ? UINT32_MAX : preferred;
	}
	if (preferred != UINT32_MAX) {
		return preferred;
	}
	if (engine->options.tie_policy == BT_TIE_HEAP) {
		return bt_heap_choose(totals, numbers, count);
	}
	bool is_random = engine->options.tie_policy == BT_TIE_RANDOM;
	uint32_t best = 0;
	uint64_t ties = 1;
	for (uint32_t i = 1; i < count; i++) {
		if (totals[i] > totals[best]) {
			best = i;
			ties = 1;
		} else if (totals[i] == totals[best]) {
			ties++;
			if (!is_random &&
				bt_str_compare(bt_node_table_name(&engine->state->nodes, slots[i]),
					bt_node_table_name(&engine->state->nodes, slots[best])) <
					0) {
				best = i;
			}
		}
	}
	if (!is_random || ties == 1) {
		return best;
	}
	/*
	 * Draw one number and count the ties in list order, as in decisions by cells and by
	 * columns. slots[] is in search order, so the list starts where the order falls.
	 */
	const struct bt_snapshot *snapshot = &engine->state->snapshot;
	uint64_t left = bt_prng_below(&engine->prng, ties);
	uint32_t at = 1;
	while (at < count &&
		bt_snapshot_order(snapshot, slots[at - 1]) <
			bt_snapshot_order(snapshot, slots[at])) {
		at++;
	}
	at %= count;
	while (totals[at] != totals[best] || left-- != 0) {
		at = (at + 1) % count;
	}
	return at;
}
