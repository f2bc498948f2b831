/* SPDX-License-Identifier: Apache-2.0 */
#include "state/compare.h"

#include <stdlib.h>

void bt_comparison_finish(struct bt_comparison *comparison)
{
	bt_vec_finish(&comparison->missed);
	bt_vec_finish(&comparison->redundant);
}

static bool has_text(const struct bt_str *sorted, uint32_t count, struct bt_str wanted)
{
	uint32_t low = 0;
	uint32_t high = count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int order = bt_str_compare(sorted[middle], wanted);
		if (order == 0) {
			return true;
		}
		if (order < 0) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return false;
}

static void sort(struct bt_str *items, uint32_t count)
{
	if (count != 0) {
		qsort(items, count, sizeof(*items), bt_str_compare_qsort);
	}
}

void bt_compare_lists(struct bt_str *listed, uint32_t listed_count, struct bt_str *cached,
	uint32_t cached_count, struct bt_comparison *out_comparison)
{
	*out_comparison = (struct bt_comparison){0};
	sort(listed, listed_count);
	sort(cached, cached_count);
	for (uint32_t i = 0; i < listed_count; i++) {
		if (!has_text(cached, cached_count, listed[i])) {
			bt_vec_push(&out_comparison->missed, listed[i]);
		}
	}
	for (uint32_t i = 0; i < cached_count; i++) {
		if (!has_text(listed, listed_count, cached[i])) {
			bt_vec_push(&out_comparison->redundant, cached[i]);
		}
	}
}

void bt_compare_nodes(const struct bt_state *state, struct bt_str *listed, uint32_t listed_count,
	struct bt_comparison *out_comparison)
{
	struct bt_str *cached = BT_NEW_ARRAY(struct bt_str, state->node_entry_count);
	uint32_t count = 0;

	for (uint32_t slot = 0; slot < state->nodes.slot_count; slot++) {
		if (state->nodes.rows[slot].in_cache) {
			cached[count++] = bt_node_table_name(&state->nodes, slot);
		}
	}
	bt_compare_lists(listed, listed_count, cached, count, out_comparison);
	bt_free(cached);
}

void bt_compare_pods(const struct bt_state *state, struct bt_str *listed, uint32_t listed_count,
	const struct bt_str *queued, uint32_t queued_count, struct bt_comparison *out_comparison)
{
	struct bt_str *cached =
		BT_NEW_ARRAY(struct bt_str, (size_t)state->pods.count + queued_count);
	uint32_t count = 0;

	for (uint32_t i = 0; i < state->pods.records.count; i++) {
		const struct bt_pod_record *record = &state->pods.records.items[i];
		if (record->in_use && !record->snapshot_only) {
			cached[count++] = bt_symbol_text(&state->symbols, record->uid);
		}
	}
	for (uint32_t i = 0; i < queued_count; i++) {
		cached[count++] = queued[i];
	}
	bt_compare_lists(listed, listed_count, cached, count, out_comparison);
	bt_free(cached);
}
