/* SPDX-License-Identifier: Apache-2.0 */
/* Published devices. Spec: 12 sections 9.1 and 18. */
#include "dra/device_amount.h"
#include "dra/device_capacity.h"
#include "dra/device_pools_private.h"

/** What a selector reads of both is equal; the driver is the same. */
static bool has_same_content(const struct bt_device *a, const struct bt_device *b)
{
	struct bt_device left = {0};
	struct bt_device right = {0};

	left.attributes = a->attributes;
	left.capacity = a->capacity;
	left.allow_multiple_allocations = a->allow_multiple_allocations;
	right.attributes = b->attributes;
	right.capacity = b->capacity;
	right.allow_multiple_allocations = b->allow_multiple_allocations;
	return bt_message_equal(&bt_device_message, &left, &right);
}

static bool is_tainted(const struct bt_device *device)
{
	for (uint32_t i = 0; i < device->taints.count; i++) {
		if (bt_device_taint_blocks(&device->taints.items[i])) {
			return true;
		}
	}
	return false;
}

static uint32_t flags_of(const struct bt_device_pools *pools, const struct bt_device *device)
{
	uint32_t flags = 0;

	if (pools->with_capacity && device->allow_multiple_allocations.present &&
		device->allow_multiple_allocations.value) {
		flags |= BT_DEVICE_SHAREABLE;
	}
	if (pools->with_capacity && device->capacity.count != 0) {
		flags |= BT_DEVICE_CAPACITY;
		if (bt_device_capacity_fits(device, NULL, NULL, NULL)) {
			flags |= BT_DEVICE_CAPACITY_FITS;
		}
	}
	if (device->consumes_counters.count != 0) {
		flags |= BT_DEVICE_COUNTERS;
	}
	if (pools->with_taints && is_tainted(device)) {
		flags |= BT_DEVICE_TAINTED;
	}
	if (device->binding_conditions.present) {
		flags |= BT_DEVICE_BINDING;
	}
	if (!pools->with_binding && device->binding_conditions.count != 0) {
		flags |= BT_DEVICE_NEVER;
	}
	return flags;
}

static void set_first_row(struct bt_device_pools *pools, uint32_t id, uint32_t row)
{
	while (pools->row_of_id.count <= id) {
		bt_vec_push(&pools->row_of_id, BT_DEVICE_NONE);
	}
	pools->row_of_id.items[id] = row;
}

static uint32_t first_row(const struct bt_device_pools *pools, uint32_t id)
{
	return id < pools->row_of_id.count ? pools->row_of_id.items[id] : BT_DEVICE_NONE;
}

static uint32_t add_row(struct bt_device_pools *pools, uint32_t id)
{
	struct bt_device_row item = {.id = id, .next = first_row(pools, id)};
	uint32_t row;

	if (pools->free_rows.count != 0) {
		row = pools->free_rows.items[--pools->free_rows.count];
		pools->rows.items[row] = item;
	} else {
		row = pools->rows.count;
		bt_vec_push(&pools->rows, item);
	}
	set_first_row(pools, id, row);
	return row;
}

void bt_device_rows_drop(struct bt_device_pools *pools, uint32_t row)
{
	struct bt_device_row *item = &pools->rows.items[row];
	uint32_t at = first_row(pools, item->id);

	bt_selectors_forget_row(pools, row);
	if (at == row) {
		set_first_row(pools, item->id, item->next);
	} else {
		while (pools->rows.items[at].next != row) {
			at = pools->rows.items[at].next;
		}
		pools->rows.items[at].next = item->next;
	}
	if ((item->flags & BT_DEVICE_OWN_SCOPE) != 0) {
		bt_node_scope_unref(pools, item->scope);
	}
	bt_device_ids_unref(&pools->dra->ids, item->id);
	item->spec = NULL;
	bt_vec_push(&pools->free_rows, row);
}

/**
 * The old row of the slice for this identity, taken out of old_rows; position: where it was as long
 * as nothing was inserted before it.
 */
static uint32_t take_old(struct bt_device_pools *pools, uint32_t slice, uint32_t id,
	uint32_t *old_rows, uint32_t old_count, uint32_t position)
{
	uint32_t row = position < old_count ? old_rows[position] : BT_DEVICE_NONE;

	if (row != BT_DEVICE_NONE && pools->rows.items[row].id == id) {
		old_rows[position] = BT_DEVICE_NONE;
		return row;
	}
	for (row = first_row(pools, id); row != BT_DEVICE_NONE; row = pools->rows.items[row].next) {
		if (pools->rows.items[row].slice != slice) {
			continue;
		}
		for (uint32_t i = 0; i < old_count; i++) {
			if (old_rows[i] == row) {
				old_rows[i] = BT_DEVICE_NONE;
				return row;
			}
		}
	}
	return BT_DEVICE_NONE;
}

static void fill_row(
	struct bt_device_pools *pools, uint32_t row, uint32_t slice, const struct bt_device *device)
{
	bool per_device = pools->slices.items[slice].per_device;
	uint32_t scope = per_device ? bt_node_scope_ref(pools, device->node_name,
					      &device->all_nodes, device->node_selector)
				    : 0;
	struct bt_device_row *item = &pools->rows.items[row];

	if ((item->flags & BT_DEVICE_OWN_SCOPE) != 0) {
		bt_node_scope_unref(pools, item->scope);
	}
	item->spec = device;
	item->slice = slice;
	item->scope = scope;
	item->flags = flags_of(pools, device) | (per_device ? BT_DEVICE_OWN_SCOPE : 0U);
}

void bt_device_rows_make(
	struct bt_device_pools *pools, uint32_t slice, uint32_t *old_rows, uint32_t old_count)
{
	const struct bt_resource_slice *value = bt_pool_slice_value(pools, slice);

	for (uint32_t i = 0; i < value->spec.devices.count; i++) {
		const struct bt_device *device = &value->spec.devices.items[i];
		uint32_t id = bt_device_ids_ref(
			&pools->dra->ids, value->spec.driver, value->spec.pool.name, device->name);
		uint32_t row = take_old(pools, slice, id, old_rows, old_count, i);
		if (row == BT_DEVICE_NONE) {
			row = add_row(pools, id);
		} else {
			bt_device_ids_unref(&pools->dra->ids, id);
			if (!has_same_content(pools->rows.items[row].spec, device)) {
				bt_selectors_forget_row(pools, row);
			}
		}
		fill_row(pools, row, slice, device);
		bt_vec_push(&pools->slices.items[slice].rows, row);
	}
	for (uint32_t i = 0; i < old_count; i++) {
		if (old_rows[i] != BT_DEVICE_NONE) {
			bt_device_rows_drop(pools, old_rows[i]);
		}
	}
}

uint32_t bt_device_rows_find(
	const struct bt_device_pools *pools, uint32_t id, const struct bt_device *spec)
{
	uint32_t row = first_row(pools, id);

	while (row != BT_DEVICE_NONE && pools->rows.items[row].spec != spec) {
		row = pools->rows.items[row].next;
	}
	return row;
}

static const struct bt_device *find_of_any_driver(
	const struct bt_device_pools *pools, struct bt_str pool, struct bt_str device)
{
	for (uint32_t row = 0; row < pools->rows.count; row++) {
		const struct bt_device_row *item = &pools->rows.items[row];

		if (item->spec != NULL && bt_str_equal(item->spec->name, device) &&
			bt_str_equal(
				bt_pool_slice_value(pools, item->slice)->spec.pool.name, pool)) {
			return item->spec;
		}
	}
	return NULL;
}

const struct bt_device *bt_device_pools_find_device(const struct bt_device_pools *pools,
	struct bt_str driver, struct bt_str pool, struct bt_str device)
{
	uint32_t id = bt_device_ids_find(&pools->dra->ids, driver, pool, device);
	uint32_t row = id < pools->row_of_id.count ? pools->row_of_id.items[id] : BT_DEVICE_NONE;

	return row != BT_DEVICE_NONE ? pools->rows.items[row].spec
				     : find_of_any_driver(pools, pool, device);
}
