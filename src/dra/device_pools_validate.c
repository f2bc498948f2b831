/* SPDX-License-Identifier: Apache-2.0 */
/* Compares cached pools with recomputed ones (BERTH_VERIFY=1). */
#include "dra/device_pools_private.h"

/** Compare views by content, because the indexes of rows and pools may differ. */
static bool is_equal_node(const struct bt_device_pools *pools, const struct bt_node_pools *a,
	const struct bt_device_pools *fresh, const struct bt_node_pools *b)
{
	if (a->items.count != b->items.count || a->has_problem != b->has_problem ||
		a->has_counters != b->has_counters || a->device_count != b->device_count) {
		return false;
	}
	for (uint32_t i = 0; i < a->items.count; i++) {
		const struct bt_pool_view *x = a->items.items[i].view;
		const struct bt_pool_view *y = b->items.items[i].view;

		if (pools->pools.items[x->pool].id != fresh->pools.items[y->pool].id ||
			x->state != y->state || x->is_binding != y->is_binding ||
			x->devices.count != y->devices.count) {
			return false;
		}
		for (uint32_t k = 0; k < x->devices.count; k++) {
			const struct bt_pool_device *left = &x->devices.items[k];
			const struct bt_pool_device *right = &y->devices.items[k];
			if (left->id != right->id || left->flags != right->flags ||
				pools->rows.items[left->row].spec !=
					fresh->rows.items[right->row].spec) {
				return false;
			}
		}
	}
	return true;
}

bool bt_device_pools_validate(struct bt_device_pools *pools, struct bt_strbuf *out_reason)
{
	/* Recompute the pools from the same slices. */
	struct bt_device_pools *fresh = bt_device_pools_create(pools->dra);
	bool is_valid = true;

	for (uint32_t i = 0; i < pools->slices.count; i++) {
		if (pools->slices.items[i].object != NULL) {
			bt_device_pools_observe(fresh, NULL, pools->slices.items[i].object);
		}
	}

	bt_device_pools_catch_up(pools);
	for (uint32_t slot = 0; slot < pools->nodes.count && is_valid; slot++) {
		struct bt_node_pools plain;
		if (!pools->nodes.items[slot].is_known ||
			!pools->dra->state->nodes.rows[slot].in_snapshot) {
			continue;
		}
		bt_node_pools_compute(fresh, slot, &plain);
		is_valid =
			is_equal_node(pools, bt_device_pools_of_node(pools, slot), fresh, &plain);
		bt_vec_finish(&plain.items);
		if (!is_valid) {
			bt_strbuf_printf(out_reason, "pools of node %.*s differ",
				BT_STR_ARG(bt_node_table_name(&pools->dra->state->nodes, slot)));
		}
	}
	for (uint32_t i = 0; i < pools->programs.count && is_valid; i++) {
		const struct bt_selector_program *program = &pools->programs.items[i];
		uint32_t count = BT_MIN(program->row_capacity, pools->rows.count);
		uint32_t row = 0;
		while (row < count && bt_selector_verdict_is_valid(pools, program, row)) {
			row++;
		}
		if (row < count) {
			bt_strbuf_printf(out_reason, "verdict of %.*s on device %u differs",
				(int)program->length, program->text, pools->rows.items[row].id);
			is_valid = false;
		}
	}
	bt_device_pools_destroy(fresh);
	return is_valid;
}

void bt_device_pools_verify_node(struct bt_device_pools *pools, uint32_t slot)
{
	struct bt_node_pools plain;

	bt_node_pools_compute(pools, slot, &plain);
	if (!is_equal_node(pools, bt_device_pools_of_node(pools, slot), pools, &plain)) {
		bt_panic("cached pools of node %.*s are wrong",
			BT_STR_ARG(bt_node_table_name(&pools->dra->state->nodes, slot)));
	}
	bt_vec_finish(&plain.items);
}
