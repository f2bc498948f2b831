/* SPDX-License-Identifier: Apache-2.0 */
/* Compares cached pools with recomputed ones (BERTH_VERIFY=1). */
#include "dra/device_pools_private.h"

/** Compare views by content, because the indexes of rows and pools may differ. */
static bool is_equal_view(const struct bt_device_pools *pools, const struct bt_pool_view *a,
	const struct bt_device_pools *fresh, const struct bt_pool_view *b)
{
	if (pools->pools.items[a->pool].id != fresh->pools.items[b->pool].id ||
		a->state != b->state || a->is_binding != b->is_binding ||
		a->devices.count != b->devices.count) {
		return false;
	}
	for (uint32_t i = 0; i < a->devices.count; i++) {
		const struct bt_pool_device *left = &a->devices.items[i];
		const struct bt_pool_device *right = &b->devices.items[i];
		if (left->id != right->id || left->flags != right->flags ||
			pools->rows.items[left->row].spec != fresh->rows.items[right->row].spec) {
			return false;
		}
	}
	return true;
}

static bool is_equal_node(const struct bt_device_pools *pools, const struct bt_node_pools *a,
	const struct bt_device_pools *fresh, const struct bt_node_pools *b)
{
	if (a->items.count != b->items.count || a->has_problem != b->has_problem ||
		a->has_counters != b->has_counters || a->device_count != b->device_count) {
		return false;
	}
	for (uint32_t i = 0; i < a->items.count; i++) {
		if (!is_equal_view(pools, a->items.items[i].view, fresh, b->items.items[i].view)) {
			return false;
		}
	}
	return true;
}

static bool validate_nodes(
	struct bt_device_pools *pools, struct bt_device_pools *fresh, struct bt_strbuf *out_reason)
{
	for (uint32_t slot = 0; slot < pools->nodes.count; slot++) {
		struct bt_node_pools plain;
		bool is_equal;
		if (!pools->nodes.items[slot].is_known ||
			!pools->dra->state->nodes.rows[slot].in_snapshot) {
			continue;
		}
		bt_node_pools_compute(fresh, slot, &plain);
		is_equal =
			is_equal_node(pools, bt_device_pools_of_node(pools, slot), fresh, &plain);
		bt_vec_finish(&plain.items);
		if (!is_equal) {
			bt_strbuf_printf(out_reason, "pools of node %.*s differ",
				BT_STR_ARG(bt_node_table_name(&pools->dra->state->nodes, slot)));
			return false;
		}
	}
	return true;
}

static bool validate_verdicts(struct bt_device_pools *pools, struct bt_strbuf *out_reason)
{
	for (uint32_t i = 0; i < pools->programs.count; i++) {
		const struct bt_selector_program *program = &pools->programs.items[i];
		for (uint32_t row = 0; row < program->row_capacity && row < pools->rows.count;
			row++) {
			if (!bt_selector_verdict_is_valid(pools, program, row)) {
				bt_strbuf_printf(out_reason, "verdict of %.*s on device %u differs",
					(int)program->length, program->text,
					pools->rows.items[row].id);
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

	for (uint32_t i = 0; i < pools->slices.count; i++) {
		if (pools->slices.items[i].object != NULL) {
			bt_device_pools_observe(fresh, NULL, pools->slices.items[i].object);
		}
	}

	bt_device_pools_catch_up(pools);
	bool is_valid =
		validate_nodes(pools, fresh, out_reason) && validate_verdicts(pools, out_reason);
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
