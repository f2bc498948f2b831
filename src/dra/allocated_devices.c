/* SPDX-License-Identifier: Apache-2.0 */
#include "dra/dra.h"

#include "api/change.h"
#include "api/quantity_decimal.h"
#include "base/alloc.h"
#include "base/arena.h"
#include "dra/device_pools_private.h"

/**
 * Set the device's history bit, which stays set until no claim from the API server holds the
 * device.
 */
static void set_history(struct bt_allocated_devices *allocated, uint32_t device_id)
{
	allocated->history_count += !bt_bitset_get(&allocated->history, device_id);
	bt_bitset_assign(&allocated->history, device_id, true);
}

static uint32_t find_shared(const struct bt_allocated_devices *allocated, uint32_t device_id)
{
	uint64_t hash = bt_hash_u64(0, device_id);

	BT_MAP_EACH (&allocated->shared.map, hash, index) {
		if (allocated->shared.items[index].device == device_id) {
			return index;
		}
	}
	return UINT32_MAX;
}

/** Returns the shared state of a device; NULL: the device is not shared. */
static struct bt_shared_device *shared_of(
	const struct bt_allocated_devices *allocated, uint32_t device_id)
{
	uint32_t index = find_shared(allocated, device_id);

	return index != UINT32_MAX ? &allocated->shared.items[index] : NULL;
}

static struct bt_shared_device *get_shared(
	struct bt_allocated_devices *allocated, uint32_t device_id)
{
	struct bt_shared_device added = {.device = device_id};
	uint32_t index = find_shared(allocated, device_id);

	if (index != UINT32_MAX) {
		return &allocated->shared.items[index];
	}
	(void)bt_device_ids_share(&allocated->dra->ids, device_id);
	bt_hash_table_add(&allocated->shared, bt_hash_u64(0, device_id), added, index);
	return &allocated->shared.items[index];
}

static void drop_consumed(
	struct bt_allocated_devices *allocated, struct bt_shared_device *shared, uint32_t index)
{
	struct bt_consumed_capacity *consumed = &shared->consumed.items[index];

	bt_symbol_unref(allocated->dra->ids.symbols, consumed->symbol);
	bt_free((void *)(uintptr_t)consumed->quantity.big);
	bt_free((void *)(uintptr_t)consumed->api.big);
	bt_vec_remove_swap(&shared->consumed, index);
}

static void finish_shared(struct bt_allocated_devices *allocated, struct bt_shared_device *shared)
{
	while (shared->consumed.count != 0) {
		drop_consumed(allocated, shared, shared->consumed.count - 1);
	}
	bt_vec_finish(&shared->consumed);
	bt_device_ids_unref(&allocated->dra->ids, shared->device);
	shared->device = BT_DEVICE_NONE;
}

static uint32_t find_share(
	const struct bt_allocated_devices *allocated, uint32_t device_id, bt_sym share_id)
{
	uint64_t hash = bt_hash_u64(bt_hash_u64(0, device_id), share_id.id);

	BT_MAP_EACH (&allocated->shares.map, hash, index) {
		const struct bt_device_share *share = &allocated->shares.items[index];
		if (share->device == device_id && bt_sym_equal(share->share_id, share_id)) {
			return index;
		}
	}
	return UINT32_MAX;
}

static struct bt_device_share *get_share(
	struct bt_allocated_devices *allocated, uint32_t device_id, struct bt_str text)
{
	bt_sym share_id = bt_symbol_ref_str(allocated->dra->ids.symbols, text);
	uint32_t index = find_share(allocated, device_id, share_id);
	struct bt_device_share share = {
		.device = device_id,
		.share_id = share_id,
		.hash = bt_hash_u64(bt_hash_u64(0, device_id), share_id.id),
	};

	if (index != UINT32_MAX) {
		bt_symbol_unref(allocated->dra->ids.symbols, share_id);
		return &allocated->shares.items[index];
	}
	(void)bt_device_ids_share(&allocated->dra->ids, device_id);
	bt_hash_table_add(&allocated->shares, share.hash, share, index);
	return &allocated->shares.items[index];
}

/**
 * Add the addend to the sum, or subtract it. The sum is not in an arena: digits beyond int64 are in
 * a heap block, which belongs to the sum.
 */
static void accumulate(struct bt_quantity *sum, const struct bt_quantity *addend, bool subtract)
{
	max_align_t memory[64];
	struct bt_arena arena;
	struct bt_quantity result = *sum;

	bt_arena_init_with(&arena, memory, sizeof(memory));
	if (subtract) {
		bt_quantity_sub(&result, addend, &arena);
	} else {
		bt_quantity_add(&result, addend, &arena);
	}
	if (result.big != NULL && result.big != sum->big) {
		size_t size = sizeof(*result.big) +
			(size_t)result.big->limb_count * sizeof(result.big->limbs[0]);
		struct bt_big_decimal *big = bt_malloc(size);
		memcpy(big, result.big, size);
		result.big = big;
	}
	if (result.big != sum->big) {
		bt_free((void *)(uintptr_t)sum->big);
	}
	*sum = result;
	bt_arena_finish(&arena);
}

const struct bt_quantity *bt_shared_device_consumed(
	const struct bt_shared_device *shared, struct bt_str capacity)
{
	const struct bt_consumed_capacity *consumed =
		BT_STR_FIND(&shared->consumed, name, capacity);

	return consumed != NULL ? &consumed->quantity : NULL;
}

static void change_all_consumed(struct bt_allocated_devices *allocated,
	struct bt_shared_device *shared, const struct bt_resource_list *amounts, bool subtract,
	bool in_flight)
{
	for (uint32_t i = 0; i < amounts->count; i++) {
		/*
		 * A missing entry means an amount of 0, because entries with amount 0 are dropped
		 * below.
		 */
		const struct bt_resource_entry *entry = &amounts->items[i];
		uint32_t index = BT_STR_INDEX(
			shared->consumed.items, shared->consumed.count, name, entry->name);

		if (index == shared->consumed.count) {
			struct bt_consumed_capacity added = {
				.symbol = bt_symbol_ref_str(
					allocated->dra->ids.symbols, entry->name)};
			added.name = bt_symbol_text(allocated->dra->ids.symbols, added.symbol);
			bt_vec_push(&shared->consumed, added);
		}
		struct bt_consumed_capacity *consumed = &shared->consumed.items[index];
		accumulate(&consumed->quantity, &entry->quantity, subtract);
		if (!in_flight) {
			accumulate(&consumed->api, &entry->quantity, subtract);
		}
		if (bt_quantity_is_zero(&consumed->quantity) &&
			bt_quantity_is_zero(&consumed->api)) {
			drop_consumed(allocated, shared, index);
		}
	}
}

const struct bt_shared_device *bt_allocated_consumed(
	const struct bt_allocated_devices *allocated, uint32_t device_id)
{
	const struct bt_shared_device *shared = shared_of(allocated, device_id);

	return shared != NULL && (shared->api_consumes || shared->in_flight_consumes != 0) ? shared
											   : NULL;
}

/** Whether a and b allocate the same devices, so that removing a undoes adding b. */
static bool are_same_devices(
	const struct bt_allocation_result *a, const struct bt_allocation_result *b)
{
	if (a->devices.results.count != b->devices.results.count) {
		return false;
	}
	for (uint32_t i = 0; i < a->devices.results.count; i++) {
		const struct bt_device_request_allocation_result *x = &a->devices.results.items[i];
		const struct bt_device_request_allocation_result *y = &b->devices.results.items[i];
		if (!bt_str_equal(x->driver, y->driver) || !bt_str_equal(x->pool, y->pool) ||
			!bt_str_equal(x->device, y->device) ||
			(x->share_id.data != NULL) != (y->share_id.data != NULL) ||
			!bt_str_equal(x->share_id, y->share_id) ||
			x->admin_access.value != y->admin_access.value ||
			!bt_resource_list_equal(&x->consumed_capacity, &y->consumed_capacity)) {
			return false;
		}
	}
	return true;
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
	/* Release the references that the entries hold; the vectors are freed below. */
	for (uint32_t i = 0; i < allocated->shared.count; i++) {
		if (allocated->shared.items[i].device != BT_DEVICE_NONE) {
			finish_shared(allocated, &allocated->shared.items[i]);
		}
	}
	for (uint32_t i = 0; i < allocated->shares.count; i++) {
		const struct bt_device_share *share = &allocated->shares.items[i];
		if (share->device != BT_DEVICE_NONE) {
			bt_symbol_unref(allocated->dra->ids.symbols, share->share_id);
			bt_device_ids_unref(&allocated->dra->ids, share->device);
		}
	}
	bt_vec_finish(&allocated->api_results);
	bt_bitset_finish(&allocated->history);
	bt_bitset_finish(&allocated->dedicated);
	bt_bitset_finish(&allocated->held);
	bt_bitset_finish(&allocated->api);
	bt_vec_finish(&allocated->in_flight);
	bt_hash_table_finish(&allocated->shared);
	bt_hash_table_finish(&allocated->shares);
	bt_vec_finish(&allocated->pool_versions);
}

/** Update the held bit and the versions after the state of a device has changed. */
static void device_changed(struct bt_allocated_devices *allocated, uint32_t id)
{
	uint32_t pool = bt_device_ids_pool_of(&allocated->dra->ids, id);
	struct bt_device_pools *pools = allocated->dra->pools;
	bool held = bt_bitset_get(&allocated->dedicated, id) || shared_of(allocated, id) != NULL;

	bt_bitset_assign(&allocated->held, id, held);
	bt_vec_pad(&allocated->pool_versions, pool + 1, 0);
	allocated->pool_versions.items[pool] = ++allocated->version;
	/* Do not log for the copy that bt_allocated_devices_validate makes. */
	if (allocated == &allocated->dra->allocated && pool < pools->pool_of_id.count &&
		pools->pool_of_id.items[pool] != BT_POOL_NONE) {
		bt_device_pools_log(pools, pools->pool_of_id.items[pool]);
	}
}

static void count_api_result(struct bt_allocated_devices *allocated, uint32_t id)
{
	if (allocated->api_results.items[id]++ == 0) {
		(void)bt_device_ids_share(&allocated->dra->ids, id);
	}
}

/** Whether the result holds no device: it has admin access, or no device name. */
static bool is_ignored(const struct bt_device_request_allocation_result *result)
{
	return result->admin_access.value || result->device.length == 0;
}

/**
 * Returns the id of the result's device, with one reference for the caller, and makes room for the
 * id in all sets and vectors.
 */
static uint32_t take_id(struct bt_allocated_devices *allocated,
	const struct bt_device_request_allocation_result *result)
{
	uint32_t id = bt_device_ids_ref(
		&allocated->dra->ids, result->driver, result->pool, result->device);
	uint32_t room = allocated->dedicated.bit_count;

	if (id >= room) {
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
		bt_vec_pad(&allocated->in_flight, room, 0);
		bt_vec_pad(&allocated->api_results, room, 0);
	}
	return id;
}

/** Whether the result allocates a share of a device; other results take the whole device. */
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
		struct bt_str text = result->share_id;
		struct bt_device_share *share = get_share(allocated, id, text);

		if (!share->api && share->in_flight == 0) {
			get_shared(allocated, id)->share_count++;
		}
		if (in_flight) {
			share->in_flight++;
		} else {
			if (share->api) {
				set_history(allocated, id);
			}
			share->api = true;
		}
		if (result->consumed_capacity.count != 0) {
			struct bt_shared_device *shared = get_shared(allocated, id);
			if (in_flight) {
				shared->in_flight_consumes++;
			} else {
				shared->api_consumes = true;
			}
			change_all_consumed(
				allocated, shared, &result->consumed_capacity, false, in_flight);
		}
		device_changed(allocated, id);
	} else {
		bool was_there = bt_bitset_get(&allocated->dedicated, id);

		if (in_flight) {
			allocated->in_flight.items[id]++;
		} else {
			if (bt_bitset_get(&allocated->api, id)) {
				set_history(allocated, id);
			}
			bt_bitset_assign(&allocated->api, id, true);
		}
		if (!was_there) {
			(void)bt_device_ids_share(&allocated->dra->ids, id);
			bt_bitset_assign(&allocated->dedicated, id, true);
			device_changed(allocated, id);
		}
	}
}

static void remove_result(struct bt_allocated_devices *allocated, uint32_t id,
	const struct bt_device_request_allocation_result *result, bool in_flight)
{
	if (is_share(allocated, result)) {
		bt_sym share_id = bt_symbol_find(allocated->dra->ids.symbols, result->share_id);
		uint32_t index = find_share(allocated, id, share_id);

		if (index != UINT32_MAX) {
			struct bt_device_share *share = &allocated->shares.items[index];
			if (in_flight) {
				BT_ASSERT(share->in_flight != 0);
				share->in_flight--;
			} else {
				share->api = false;
			}
			if (!share->api && share->in_flight == 0) {
				bt_hash_table_remove(&allocated->shares, share->hash, index);
				get_shared(allocated, id)->share_count--;
				bt_symbol_unref(allocated->dra->ids.symbols, share_id);
				bt_device_ids_unref(&allocated->dra->ids, id);
				share->device = BT_DEVICE_NONE;
			}
		}
		struct bt_shared_device *shared = shared_of(allocated, id);
		if (shared != NULL && result->consumed_capacity.count != 0 &&
			(in_flight || shared->api_consumes)) {
			change_all_consumed(
				allocated, shared, &result->consumed_capacity, true, in_flight);
			if (in_flight) {
				BT_ASSERT(shared->in_flight_consumes != 0);
				shared->in_flight_consumes--;
			} else {
				shared->api_consumes = false;
				for (uint32_t i = 0; i < shared->consumed.count; i++) {
					shared->api_consumes |= !bt_quantity_is_zero(
						&shared->consumed.items[i].api);
				}
				/*
				 * Other claims that consume an amount of 0 may still hold the
				 * device. In that case the device's state depends on the order of
				 * events.
				 */
				if (!shared->api_consumes && allocated->api_results.items[id] > 1) {
					set_history(allocated, id);
				}
			}
		}
		/* Drop the state of a device that is not shared any more. */
		if (shared != NULL && shared->share_count == 0 && !shared->api_consumes &&
			shared->in_flight_consumes == 0) {
			index = find_shared(allocated, id);
			bt_hash_table_remove(&allocated->shared, bt_hash_u64(0, id), index);
			finish_shared(allocated, shared);
		}
		device_changed(allocated, id);
	} else {
		/*
		 * As in upstream, the first claim that releases a device clears the bit in `api`,
		 * even if other claims from the API server still hold the device. Claims in flight
		 * are counted separately.
		 */
		if (bt_bitset_get(&allocated->dedicated, id)) {
			if (in_flight) {
				BT_ASSERT(allocated->in_flight.items[id] != 0);
				allocated->in_flight.items[id]--;
			} else {
				bt_bitset_assign(&allocated->api, id, false);
			}
			if (!bt_bitset_get(&allocated->api, id) &&
				allocated->in_flight.items[id] == 0) {
				bt_bitset_assign(&allocated->dedicated, id, false);
				device_changed(allocated, id);
				bt_device_ids_unref(&allocated->dra->ids, id);
			}
		}
	}
	if (!in_flight) {
		BT_ASSERT(allocated->api_results.items[id] != 0);
		if (--allocated->api_results.items[id] == 0) {
			allocated->history_count -= bt_bitset_get(&allocated->history, id);
			bt_bitset_assign(&allocated->history, id, false);
			bt_device_ids_unref(&allocated->dra->ids, id);
		}
	}
}

/** Call `change` (add_result or remove_result) for every result that holds a device. */
static void change_results(struct bt_allocated_devices *allocated,
	const struct bt_allocation_result *allocation, bool in_flight,
	void (*change)(struct bt_allocated_devices *allocated, uint32_t id,
		const struct bt_device_request_allocation_result *result, bool in_flight))
{
	for (uint32_t i = 0; i < allocation->devices.results.count; i++) {
		const struct bt_device_request_allocation_result *result =
			&allocation->devices.results.items[i];
		if (!is_ignored(result)) {
			uint32_t id = take_id(allocated,
				result); /* holds a reference until bt_device_ids_unref below */
			change(allocated, id, result, in_flight);
			bt_device_ids_unref(&allocated->dra->ids, id);
		}
	}
}

void bt_allocated_devices_observe(struct bt_allocated_devices *allocated,
	const struct bt_resource_claim *old_claim, const struct bt_resource_claim *new_claim)
{
	const struct bt_allocation_result *before =
		old_claim != NULL ? old_claim->status.allocation : NULL;
	const struct bt_allocation_result *after =
		new_claim != NULL ? new_claim->status.allocation : NULL;

	if (before == NULL && after != NULL) {
		change_results(allocated, after, false, add_result);
	} else if (before != NULL && after == NULL) {
		change_results(allocated, before, false, remove_result);
	} else if (before != NULL && !are_same_devices(before, after)) {
		/*
		 * As in upstream, the old devices stay allocated, and the new devices will be
		 * released later without having been added. Set the history bit of all of them,
		 * because their state can no longer be recomputed from the claims.
		 */
		for (uint32_t i = 0;
			i < before->devices.results.count + after->devices.results.count; i++) {
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
				/* Count it twice, because its later release subtracts 1. */
				count_api_result(allocated, id);
			}
			set_history(allocated, id);
			bt_device_ids_unref(&allocated->dra->ids, id);
		}
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
	const struct bt_shared_device *shared = shared_of(a, device_id);
	const struct bt_shared_device *other = shared_of(b, device_id);

	if (results_of(a, device_id) != results_of(b, device_id) ||
		bt_bitset_get(&a->api, device_id) != bt_bitset_get(&b->api, device_id) ||
		a_in_flight != b_in_flight ||
		bt_allocated_is_dedicated(a, device_id) !=
			bt_allocated_is_dedicated(b, device_id) ||
		bt_allocated_is_held(a, device_id) != bt_allocated_is_held(b, device_id)) {
		return false;
	}
	if (shared == NULL || other == NULL) {
		return shared == other;
	}
	if (shared->share_count != other->share_count ||
		shared->api_consumes != other->api_consumes ||
		shared->in_flight_consumes != other->in_flight_consumes ||
		shared->consumed.count != other->consumed.count) {
		return false;
	}
	for (uint32_t i = 0; i < shared->consumed.count; i++) {
		const struct bt_quantity *amount =
			bt_shared_device_consumed(other, shared->consumed.items[i].name);
		if (amount == NULL ||
			bt_quantity_compare(&shared->consumed.items[i].quantity, amount) != 0) {
			return false;
		}
	}
	return true;
}

bool bt_allocated_devices_validate(
	const struct bt_allocated_devices *allocated, struct bt_strbuf *out_reason)
{
	struct bt_dra *dra = allocated->dra;
	struct bt_allocated_devices fresh = {.dra = dra};
	uint32_t id = 0;

	uint32_t cursor = 0;
	const struct bt_object *object;

	while ((object = bt_claim_cache_next(&dra->claims, &cursor)) != NULL) {
		bt_allocated_devices_observe(
			&fresh, NULL, bt_object_value(object, BT_KIND_RESOURCE_CLAIM));
	}
	for (uint32_t i = 0; i < dra->claims.in_flight.count; i++) {
		object = dra->claims.in_flight.items[i].claim;
		if (object != NULL) {
			const struct bt_resource_claim *claim =
				bt_object_value(object, BT_KIND_RESOURCE_CLAIM);
			bt_allocated_devices_signal(&fresh, claim->status.allocation);
		}
	}
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
