/* SPDX-License-Identifier: Apache-2.0 */
#include "dra/allocated_devices.h"

#include "dra/allocated_devices_private.h"
#include "dra/dra.h"

static uint64_t shared_hash(const void *owner, uint32_t index)
{
	const struct bt_allocated_devices *allocated = owner;

	return bt_hash_u64(0, allocated->shared.items[index].device);
}

static uint64_t share_hash(const void *owner, uint32_t index)
{
	return ((const struct bt_allocated_devices *)owner)->shares.items[index].hash;
}

void bt_allocated_devices_init(struct bt_allocated_devices *allocated, struct bt_dra *dra)
{
	*allocated = (struct bt_allocated_devices){.dra = dra};
	bt_map_init(&allocated->shared_by_device, shared_hash, allocated);
	bt_map_init(&allocated->share_map, share_hash, allocated);
}

void bt_allocated_devices_finish(struct bt_allocated_devices *allocated)
{
	struct bt_device_ids *ids = &allocated->dra->ids;

	for (uint32_t id = bt_bitset_next(&allocated->dedicated, 0); id != UINT32_MAX;
		id = bt_bitset_next(&allocated->dedicated, id + 1)) {
		bt_device_ids_unref(ids, id);
	}
	for (uint32_t id = 0; id < allocated->api_results.count; id++) {
		if (allocated->api_results.items[id] != 0) {
			bt_device_ids_unref(ids, id);
		}
	}
	bt_allocated_finish_shared(allocated);
	bt_vec_finish(&allocated->api_results);
	bt_bitset_finish(&allocated->history);
	bt_bitset_finish(&allocated->dedicated);
	bt_bitset_finish(&allocated->held);
	bt_bitset_finish(&allocated->api);
	bt_vec_finish(&allocated->in_flight);
	bt_map_finish(&allocated->shared_by_device);
	bt_vec_finish(&allocated->shared);
	bt_vec_finish(&allocated->shared_free);
	bt_map_finish(&allocated->share_map);
	bt_vec_finish(&allocated->shares);
	bt_vec_finish(&allocated->share_free);
	bt_vec_finish(&allocated->pool_versions);
}

static void make_room(struct bt_allocated_devices *allocated, uint32_t id)
{
	uint32_t room = allocated->dedicated.bit_count;

	if (id < room) {
		return;
	}
	room = room < 64 ? 64 : room;
	while (room <= id) {
		room *= 2;
	}
	bt_bitset_resize(&allocated->dedicated, room);
	bt_bitset_resize(&allocated->held, room);
	bt_bitset_resize(&allocated->api, room);
	bt_bitset_resize(&allocated->history, room);
	bt_vec_reserve(&allocated->in_flight, room);
	bt_vec_reserve(&allocated->api_results, room);
	while (allocated->in_flight.count < room) {
		bt_vec_push(&allocated->in_flight, 0);
		bt_vec_push(&allocated->api_results, 0);
	}
}

/** What is kept of the device has changed. */
static void changed(struct bt_allocated_devices *allocated, uint32_t id)
{
	uint32_t pool = bt_device_ids_pool_of(&allocated->dra->ids, id);
	bool held = bt_bitset_get(&allocated->dedicated, id) ||
		bt_allocated_find_shared(allocated, id) != NULL;

	bt_bitset_assign(&allocated->held, id, held);
	while (allocated->pool_versions.count <= pool) {
		bt_vec_push(&allocated->pool_versions, 0);
	}
	allocated->pool_versions.items[pool] = ++allocated->version;
}

void bt_allocated_set_history(struct bt_allocated_devices *allocated, uint32_t device_id)
{
	allocated->history_count += !bt_bitset_get(&allocated->history, device_id);
	bt_bitset_assign(&allocated->history, device_id, true);
}

static void count_api_result(struct bt_allocated_devices *allocated, uint32_t id)
{
	if (allocated->api_results.items[id]++ == 0) {
		(void)bt_device_ids_share(&allocated->dra->ids, id);
	}
}

static void drop_api_result(struct bt_allocated_devices *allocated, uint32_t id)
{
	BT_ASSERT(allocated->api_results.items[id] != 0);
	if (--allocated->api_results.items[id] == 0) {
		allocated->history_count -= bt_bitset_get(&allocated->history, id);
		bt_bitset_assign(&allocated->history, id, false);
		bt_device_ids_unref(&allocated->dra->ids, id);
	}
}

static void add_dedicated(struct bt_allocated_devices *allocated, uint32_t id, bool in_flight)
{
	bool was_there = bt_bitset_get(&allocated->dedicated, id);

	if (in_flight) {
		allocated->in_flight.items[id]++;
	} else {
		if (bt_bitset_get(&allocated->api, id)) {
			bt_allocated_set_history(allocated, id);
		}
		bt_bitset_assign(&allocated->api, id, true);
	}
	if (!was_there) {
		(void)bt_device_ids_share(&allocated->dra->ids, id);
		bt_bitset_assign(&allocated->dedicated, id, true);
		changed(allocated, id);
	}
}

/* Upstream joins the set of the API's claims, from which a device goes with the first claim that
 * lets it go, with the devices of every claim in flight. */
static void remove_dedicated(struct bt_allocated_devices *allocated, uint32_t id, bool in_flight)
{
	if (!bt_bitset_get(&allocated->dedicated, id)) {
		return;
	}
	if (in_flight) {
		BT_ASSERT(allocated->in_flight.items[id] != 0);
		allocated->in_flight.items[id]--;
	} else {
		bt_bitset_assign(&allocated->api, id, false);
	}
	if (!bt_bitset_get(&allocated->api, id) && allocated->in_flight.items[id] == 0) {
		bt_bitset_assign(&allocated->dedicated, id, false);
		changed(allocated, id);
		bt_device_ids_unref(&allocated->dra->ids, id);
	}
}

/** Nobody holds it alone, and no slice publishes a device without a name. */
static bool is_ignored(const struct bt_device_request_allocation_result *result)
{
	return result->admin_access.value || result->device.length == 0;
}

/** The device's number; a reference for the caller. */
static uint32_t take_id(struct bt_allocated_devices *allocated,
	const struct bt_device_request_allocation_result *result)
{
	uint32_t id = bt_device_ids_ref(
		&allocated->dra->ids, result->driver, result->pool, result->device);

	make_room(allocated, id);
	return id;
}

/** One device of many holders; otherwise one holder has all of it. */
static bool is_share(const struct bt_allocated_devices *allocated,
	const struct bt_device_request_allocation_result *result)
{
	return result->share_id.data != NULL &&
		bt_gate_enabled(allocated->dra->gates, BT_GATE_DRA_CONSUMABLE_CAPACITY);
}

static void add_result(struct bt_allocated_devices *allocated, uint32_t id,
	const struct bt_device_request_allocation_result *result, bool in_flight)
{
	if (!in_flight) {
		count_api_result(allocated, id);
	}
	if (is_share(allocated, result)) {
		bt_allocated_add_shared(allocated, id, result, in_flight);
		changed(allocated, id);
	} else {
		add_dedicated(allocated, id, in_flight);
	}
}

static void remove_result(struct bt_allocated_devices *allocated, uint32_t id,
	const struct bt_device_request_allocation_result *result, bool in_flight)
{
	if (is_share(allocated, result)) {
		bt_allocated_remove_shared(allocated, id, result, in_flight);
		changed(allocated, id);
	} else {
		remove_dedicated(allocated, id, in_flight);
	}
	if (!in_flight) {
		drop_api_result(allocated, id);
	}
}

/** change: add_result or remove_result, for each that counts. */
static void change_results(struct bt_allocated_devices *allocated,
	const struct bt_allocation_result *allocation, bool in_flight,
	void (*change)(struct bt_allocated_devices *allocated, uint32_t id,
		const struct bt_device_request_allocation_result *result, bool in_flight))
{
	for (uint32_t i = 0; i < allocation->devices.results.count; i++) {
		const struct bt_device_request_allocation_result *result =
			&allocation->devices.results.items[i];
		if (!is_ignored(result)) {
			uint32_t id = take_id(allocated, result); /* while it is looked at */
			change(allocated, id, result, in_flight);
			bt_device_ids_unref(&allocated->dra->ids, id);
		}
	}
}

/**
 * Upstream does not look at the new devices: the old ones stay, and the new ones will be given back
 * without ever having been taken. What is kept of them is never sure again.
 */
static void replace(struct bt_allocated_devices *allocated,
	const struct bt_allocation_result *before, const struct bt_allocation_result *after)
{
	for (uint32_t i = 0; i < before->devices.results.count + after->devices.results.count;
		i++) {
		bool is_new = i >= before->devices.results.count;
		const struct bt_device_request_allocation_result *result = is_new
			? &after->devices.results.items[i - before->devices.results.count]
			: &before->devices.results.items[i];
		if (is_ignored(result)) {
			continue;
		}
		uint32_t id = take_id(allocated, result);
		count_api_result(allocated, id);
		if (is_new) {
			count_api_result(allocated, id); /* the one that will be given back */
		}
		bt_allocated_set_history(allocated, id);
		bt_device_ids_unref(&allocated->dra->ids, id);
	}
}

static const struct bt_allocation_result *allocation_of(const struct bt_resource_claim *claim)
{
	return claim != NULL ? claim->status.allocation : NULL;
}

void bt_allocated_devices_follow(struct bt_allocated_devices *allocated,
	const struct bt_resource_claim *old_claim, const struct bt_resource_claim *new_claim)
{
	const struct bt_allocation_result *before = allocation_of(old_claim);
	const struct bt_allocation_result *after = allocation_of(new_claim);

	if (before == NULL && after != NULL) {
		change_results(allocated, after, false, add_result);
	} else if (before != NULL && after == NULL) {
		change_results(allocated, before, false, remove_result);
	} else if (before != NULL && !bt_allocated_are_same_devices(before, after)) {
		replace(allocated, before, after);
	}
}

void bt_allocated_devices_signal(
	struct bt_allocated_devices *allocated, const struct bt_allocation_result *allocation)
{
	change_results(allocated, allocation, true, add_result);
}

void bt_allocated_devices_land(
	struct bt_allocated_devices *allocated, const struct bt_allocation_result *allocation)
{
	change_results(allocated, allocation, true, remove_result);
}
