/* SPDX-License-Identifier: Apache-2.0 */
#include "api/change.h"
#include "base/alloc.h"
#include "dra/allocated_devices_private.h"
#include "dra/dra.h"

static bool are_same_results(const struct bt_device_request_allocation_result *a,
	const struct bt_device_request_allocation_result *b)
{
	return bt_str_equal(a->driver, b->driver) && bt_str_equal(a->pool, b->pool) &&
		bt_str_equal(a->device, b->device) &&
		(a->share_id.data != NULL) == (b->share_id.data != NULL) &&
		bt_str_equal(a->share_id, b->share_id) &&
		a->admin_access.value == b->admin_access.value &&
		bt_resource_list_equal(&a->consumed_capacity, &b->consumed_capacity);
}

bool bt_allocated_are_same_devices(
	const struct bt_allocation_result *a, const struct bt_allocation_result *b)
{
	if (a->devices.results.count != b->devices.results.count) {
		return false;
	}
	for (uint32_t i = 0; i < a->devices.results.count; i++) {
		if (!are_same_results(&a->devices.results.items[i], &b->devices.results.items[i])) {
			return false;
		}
	}
	return true;
}

/* --- made anew --- */

static void read_cache(struct bt_allocated_devices *fresh, const struct bt_claim_cache *cache)
{
	uint32_t cursor = 0;
	const struct bt_object *object;

	while ((object = bt_claim_cache_next(cache, &cursor)) != NULL) {
		bt_allocated_devices_follow(
			fresh, NULL, bt_object_value(object, BT_KIND_RESOURCE_CLAIM));
	}
	for (uint32_t i = 0; i < cache->in_flight.count; i++) {
		object = cache->in_flight.items[i].claim;
		if (object != NULL) {
			const struct bt_resource_claim *claim =
				bt_object_value(object, BT_KIND_RESOURCE_CLAIM);
			bt_allocated_devices_signal(fresh, claim->status.allocation);
		}
	}
}

static bool are_same_shared(const struct bt_shared_device *a, const struct bt_shared_device *b)
{
	if (a == NULL || b == NULL) {
		return a == b;
	}
	if (a->share_count != b->share_count || a->api_consumes != b->api_consumes ||
		a->in_flight_consumes != b->in_flight_consumes ||
		a->consumed.count != b->consumed.count) {
		return false;
	}
	for (uint32_t i = 0; i < a->consumed.count; i++) {
		const struct bt_quantity *other =
			bt_shared_device_consumed(b, a->consumed.items[i].name);
		if (other == NULL ||
			bt_quantity_compare(&a->consumed.items[i].quantity, other) != 0) {
			return false;
		}
	}
	return true;
}

static uint32_t results_of(const struct bt_allocated_devices *allocated, uint32_t device_id)
{
	return device_id < allocated->api_results.count ? allocated->api_results.items[device_id]
							: 0;
}

static bool are_same(const struct bt_allocated_devices *a, const struct bt_allocated_devices *b,
	uint32_t device_id)
{
	uint32_t a_in_flight = device_id < a->in_flight.count ? a->in_flight.items[device_id] : 0;
	uint32_t b_in_flight = device_id < b->in_flight.count ? b->in_flight.items[device_id] : 0;

	return results_of(a, device_id) == results_of(b, device_id) &&
		bt_bitset_get(&a->api, device_id) == bt_bitset_get(&b->api, device_id) &&
		a_in_flight == b_in_flight &&
		bt_allocated_is_dedicated(a, device_id) ==
		bt_allocated_is_dedicated(b, device_id) &&
		bt_allocated_is_held(a, device_id) == bt_allocated_is_held(b, device_id) &&
		are_same_shared(bt_allocated_find_shared(a, device_id),
			bt_allocated_find_shared(b, device_id));
}

bool bt_allocated_devices_validate(
	const struct bt_allocated_devices *allocated, struct bt_strbuf *out_reason)
{
	struct bt_dra *dra = allocated->dra;
	struct bt_allocated_devices fresh;
	uint32_t id = 0;

	bt_allocated_devices_init(&fresh, dra);
	read_cache(&fresh, &dra->claims);
	while (id < dra->ids.items.count &&
		(bt_bitset_get(&allocated->history, id) || are_same(allocated, &fresh, id))) {
		id++;
	}
	bool valid = id == dra->ids.items.count;
	if (!valid) {
		const struct bt_device_identity *item = &dra->ids.items.items[id];
		bt_strbuf_printf(out_reason, "allocated state of device %.*s/%.*s/%.*s is stale",
			BT_STR_ARG(bt_symbol_text(dra->ids.symbols, item->driver)),
			BT_STR_ARG(bt_symbol_text(dra->ids.symbols, item->pool)),
			BT_STR_ARG(bt_symbol_text(dra->ids.symbols, item->device)));
	}
	bt_allocated_devices_finish(&fresh);
	return valid;
}

size_t bt_allocated_devices_memory_bytes(const struct bt_allocated_devices *allocated)
{
	size_t bytes = (allocated->dedicated.word_count + allocated->held.word_count +
			       allocated->api.word_count + allocated->history.word_count) *
		sizeof(uint64_t);

	bytes += allocated->in_flight.capacity * sizeof(uint32_t);
	bytes += allocated->api_results.capacity * sizeof(uint32_t);
	bytes += allocated->shared_by_device.capacity * sizeof(struct bt_map_slot);
	bytes += allocated->shared.capacity * sizeof(struct bt_shared_device);
	bytes += allocated->share_map.capacity * sizeof(struct bt_map_slot);
	bytes += allocated->shares.capacity * sizeof(struct bt_device_share);
	bytes += allocated->pool_versions.capacity * sizeof(uint64_t);
	for (uint32_t i = 0; i < allocated->shared.count; i++) {
		bytes += allocated->shared.items[i].consumed.capacity *
			sizeof(struct bt_consumed_capacity);
	}
	return bytes;
}
