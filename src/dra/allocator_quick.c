/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ordinary question, one device for one claim, without a search: the first free device of the
 * node that the selectors let pass. Whatever could make a difference is left to the search
 * (allocator_search.c): it is asked when a node or a device is out of the ordinary, and for
 * verdicts that are not known yet or are errors.
 */
#include "dra/allocator_private.h"

/** The search asks its owner whether it is over in nodes that have more devices. */
#define QUICK_DEVICES_MAX 255U
/** What an ordinary device may have. */
#define ORDINARY_FLAGS ((uint32_t)(BT_DEVICE_CAPACITY | BT_DEVICE_CAPACITY_FITS))

bool bt_prepared_is_ordinary(const struct bt_prepared *prepared)
{
	const struct bt_option *option = prepared->options;

	return prepared->count == 1 && prepared->items[0].request_count == 1 &&
		!prepared->requests[0].has_alternatives && !prepared->needs_walk &&
		!prepared->has_constraints && option->count == 1 && !option->is_admin &&
		option->capacity == NULL;
}

/** TRUE: it can be had; UNKNOWN: the search must tell. */
static enum bt_verdict judge(const struct bt_device_pools *pools, const struct bt_option *option,
	const struct bt_pool_device *device)
{
	const struct bt_allocated_devices *allocated = &pools->dra->allocated;
	bool has_capacity = (device->flags & BT_DEVICE_CAPACITY) != 0;

	if ((device->flags & ~ORDINARY_FLAGS) != 0) {
		return BT_VERDICT_UNKNOWN;
	}
	if (bt_allocated_is_dedicated(allocated, device->id)) {
		return BT_VERDICT_FALSE;
	}
	for (uint32_t i = 0; i < option->program_count; i++) {
		const struct bt_selector_program *program =
			&pools->programs.items[option->programs[i]];
		enum bt_verdict verdict = device->row < program->row_capacity
			? bt_selector_known(program, device->row)
			: BT_VERDICT_UNKNOWN;
		if (verdict != BT_VERDICT_TRUE) {
			return verdict == BT_VERDICT_FALSE ? verdict : BT_VERDICT_UNKNOWN;
		}
	}
	if (has_capacity && bt_allocated_is_held(allocated, device->id)) {
		return BT_VERDICT_UNKNOWN; /* by claims from a time when it was shared */
	}
	return !has_capacity || (device->flags & BT_DEVICE_CAPACITY_FITS) != 0 ? BT_VERDICT_TRUE
									       : BT_VERDICT_FALSE;
}

enum bt_quick_answer bt_allocate_quickly(const struct bt_device_pools *pools,
	const struct bt_prepared *prepared, const struct bt_node_pools *node, uint32_t *out_row)
{
	if (node->has_problem || node->device_count > QUICK_DEVICES_MAX) {
		return BT_QUICK_UNKNOWN;
	}
	for (uint32_t v = 0; v < node->items.count; v++) {
		const struct bt_pool_view *view = node->items.items[v].view;
		for (uint32_t i = 0; i < view->devices.count; i++) {
			const struct bt_pool_device *device = &view->devices.items[i];
			switch (judge(pools, prepared->options, device)) {
			case BT_VERDICT_FALSE:
				break;
			case BT_VERDICT_TRUE:
				*out_row = device->row;
				return BT_QUICK_FOUND;
			case BT_VERDICT_UNKNOWN:
			case BT_VERDICT_ERROR:
				return BT_QUICK_UNKNOWN;
			}
		}
	}
	return BT_QUICK_NONE;
}
