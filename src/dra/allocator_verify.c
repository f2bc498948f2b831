/* SPDX-License-Identifier: Apache-2.0 */
/* What a search on a node reads that was kept, against the same computed anew (BERTH_VERIFY=1). */
#include "dra/allocator_private.h"

static bool verify_verdict(struct bt_search *search, uint32_t program,
	const struct bt_pool_device *device, struct bt_strbuf *out_reason)
{
	struct bt_device_pools *pools = search->pools;
	const struct bt_selector_program *item = &pools->programs.items[program];
	const struct bt_device_row *row = &pools->rows.items[device->row];
	const struct bt_cel_limits limits = {.cost_max = BT_CEL_COST_MAX};
	enum bt_verdict kept = device->row < item->row_capacity
		? bt_selector_known(item, device->row)
		: BT_VERDICT_UNKNOWN;

	if (kept == BT_VERDICT_UNKNOWN ||
		kept ==
			bt_selector_compute(pools, item,
				bt_pool_slice_value(pools, row->slice)->spec.driver, row->spec,
				&limits, NULL)) {
		return true;
	}
	bt_strbuf_printf(out_reason, "the verdict of %.*s on device %.*s is not what was kept",
		(int)item->length, item->text, BT_STR_ARG(row->spec->name));
	return false;
}

static bool verify_device(
	struct bt_search *search, const struct bt_pool_device *device, struct bt_strbuf *out_reason)
{
	for (uint32_t o = 0; o < search->prepared->option_count; o++) {
		const struct bt_option *option = &search->prepared->options[o];
		for (uint32_t i = 0; i < option->program_count; i++) {
			if (!verify_verdict(search, option->programs[i], device, out_reason)) {
				return false;
			}
		}
	}
	return true;
}

/** A refresh changes nothing when the version says that nothing has happened. */
static bool verify_counters(
	struct bt_search *search, const struct bt_pool_view *view, struct bt_strbuf *out_reason)
{
	struct bt_device_pools *pools = search->pools;
	struct bt_pool_counters *counters = view->counters;
	uint32_t count = counters->counters.count;
	bt_int128 *kept = bt_calloc(count, sizeof(*kept));
	bool is_same = true;

	for (uint32_t i = 0; i < count; i++) {
		kept[i] = counters->counters.items[i].available;
	}
	bt_pool_counters_refresh(pools, view->pool, counters);
	for (uint32_t i = 0; i < count; i++) {
		is_same = is_same && kept[i] == counters->counters.items[i].available;
	}
	bt_free(kept);
	if (!is_same) {
		bt_strbuf_printf(out_reason, "counters of pool %.*s/%.*s are not what was kept",
			BT_STR_ARG(bt_pool_driver(pools, view->pool)),
			BT_STR_ARG(bt_pool_name(pools, view->pool)));
	}
	return is_same;
}

bool bt_search_verify_devices(struct bt_search *search, struct bt_strbuf *out_reason)
{
	for (uint32_t v = 0; v < search->node->items.count; v++) {
		const struct bt_pool_view *view = search->node->items.items[v].view;
		for (uint32_t i = 0; i < view->devices.count; i++) {
			if (!verify_device(search, &view->devices.items[i], out_reason)) {
				return false;
			}
		}
		if (view->counters != NULL && view->counters->is_fresh &&
			view->counters->version ==
				bt_allocated_pool_version(&search->pools->dra->allocated,
					search->pools->pools.items[view->pool].id) &&
			!verify_counters(search, view, out_reason)) {
			return false;
		}
	}
	return true;
}
