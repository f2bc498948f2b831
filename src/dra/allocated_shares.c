/* SPDX-License-Identifier: Apache-2.0 */
#include "api/quantity_decimal.h"
#include "base/alloc.h"
#include "base/arena.h"
#include "dra/allocated_devices_private.h"
#include "dra/dra.h"

/* --- devices --- */

static uint32_t find_shared(const struct bt_allocated_devices *allocated, uint32_t device_id)
{
	uint64_t hash = bt_hash_u64(0, device_id);

	for (uint32_t at = bt_map_first(&allocated->shared_by_device, hash); at != BT_MAP_NONE;
		at = bt_map_next(&allocated->shared_by_device, hash, at)) {
		uint32_t index = bt_map_value(&allocated->shared_by_device, at);
		if (allocated->shared.items[index].device == device_id) {
			return index;
		}
	}
	return UINT32_MAX;
}

struct bt_shared_device *bt_allocated_find_shared(
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
	if (allocated->shared_free.count != 0) {
		index = allocated->shared_free.items[--allocated->shared_free.count];
		allocated->shared.items[index] = added;
	} else {
		index = allocated->shared.count;
		bt_vec_push(&allocated->shared, added);
	}
	bt_map_insert(&allocated->shared_by_device, bt_hash_u64(0, device_id), index);
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

/** Nothing is kept of a device that nobody shares any more. */
static void settle_shared(struct bt_allocated_devices *allocated, uint32_t device_id)
{
	uint32_t index = find_shared(allocated, device_id);

	if (index == UINT32_MAX) {
		return;
	}
	struct bt_shared_device *shared = &allocated->shared.items[index];
	if (shared->share_count == 0 && !shared->api_consumes && shared->in_flight_consumes == 0) {
		(void)bt_map_remove(&allocated->shared_by_device, bt_hash_u64(0, device_id),
			index); /* it was found just now */
		finish_shared(allocated, shared);
		bt_vec_push(&allocated->shared_free, index);
	}
}

void bt_allocated_finish_shared(struct bt_allocated_devices *allocated)
{
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
}

/* --- shares --- */

static uint32_t find_share(
	const struct bt_allocated_devices *allocated, uint32_t device_id, bt_sym share_id)
{
	uint64_t hash = bt_hash_u64(bt_hash_u64(0, device_id), share_id.id);

	for (uint32_t at = bt_map_first(&allocated->share_map, hash); at != BT_MAP_NONE;
		at = bt_map_next(&allocated->share_map, hash, at)) {
		uint32_t index = bt_map_value(&allocated->share_map, at);
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
	if (allocated->share_free.count != 0) {
		index = allocated->share_free.items[--allocated->share_free.count];
		allocated->shares.items[index] = share;
	} else {
		index = allocated->shares.count;
		bt_vec_push(&allocated->shares, share);
	}
	bt_map_insert(&allocated->share_map, share.hash, index);
	return &allocated->shares.items[index];
}

static void add_share(struct bt_allocated_devices *allocated, uint32_t device_id,
	struct bt_str text, bool in_flight)
{
	struct bt_device_share *share = get_share(allocated, device_id, text);

	if (!share->api && share->in_flight == 0) {
		get_shared(allocated, device_id)->share_count++;
	}
	if (in_flight) {
		share->in_flight++;
	} else {
		if (share->api) {
			bt_allocated_set_history(allocated, device_id);
		}
		share->api = true;
	}
}

static void remove_share(struct bt_allocated_devices *allocated, uint32_t device_id,
	struct bt_str text, bool in_flight)
{
	bt_sym share_id = bt_symbol_find(allocated->dra->ids.symbols, text);
	uint32_t index = find_share(allocated, device_id, share_id);

	if (index == UINT32_MAX) {
		return;
	}
	struct bt_device_share *share = &allocated->shares.items[index];
	if (in_flight) {
		BT_ASSERT(share->in_flight != 0);
		share->in_flight--;
	} else {
		share->api = false;
	}
	if (!share->api && share->in_flight == 0) {
		(void)bt_map_remove(
			&allocated->share_map, share->hash, index); /* it was found just now */
		get_shared(allocated, device_id)->share_count--;
		bt_symbol_unref(allocated->dra->ids.symbols, share_id);
		bt_device_ids_unref(&allocated->dra->ids, device_id);
		share->device = BT_DEVICE_NONE;
		bt_vec_push(&allocated->share_free, index);
	}
}

/* --- consumed capacity --- */

/** A sum that outlives every arena: digits beyond int64 are in a block of its own. */
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

static uint32_t find_consumed(const struct bt_shared_device *shared, struct bt_str name)
{
	for (uint32_t i = 0; i < shared->consumed.count; i++) {
		if (bt_str_equal(shared->consumed.items[i].name, name)) {
			return i;
		}
	}
	return UINT32_MAX;
}

const struct bt_quantity *bt_shared_device_consumed(
	const struct bt_shared_device *shared, struct bt_str capacity)
{
	uint32_t index = find_consumed(shared, capacity);

	return index != UINT32_MAX ? &shared->consumed.items[index].quantity : NULL;
}

/** A name of which nothing is consumed is as good as none. */
static void change_consumed(struct bt_allocated_devices *allocated, struct bt_shared_device *shared,
	const struct bt_resource_entry *entry, bool subtract, bool in_flight)
{
	uint32_t index = find_consumed(shared, entry->name);

	if (index == UINT32_MAX) {
		struct bt_consumed_capacity added = {
			.symbol = bt_symbol_ref_str(allocated->dra->ids.symbols, entry->name)};
		added.name = bt_symbol_text(allocated->dra->ids.symbols, added.symbol);
		index = shared->consumed.count;
		bt_vec_push(&shared->consumed, added);
	}
	struct bt_consumed_capacity *consumed = &shared->consumed.items[index];
	accumulate(&consumed->quantity, &entry->quantity, subtract);
	if (!in_flight) {
		accumulate(&consumed->api, &entry->quantity, subtract);
	}
	if (bt_quantity_is_zero(&consumed->quantity) && bt_quantity_is_zero(&consumed->api)) {
		drop_consumed(allocated, shared, index);
	}
}

static bool api_consumes_nothing(const struct bt_shared_device *shared)
{
	for (uint32_t i = 0; i < shared->consumed.count; i++) {
		if (!bt_quantity_is_zero(&shared->consumed.items[i].api)) {
			return false;
		}
	}
	return true;
}

static void change_all_consumed(struct bt_allocated_devices *allocated,
	struct bt_shared_device *shared, const struct bt_resource_list *amounts, bool subtract,
	bool in_flight)
{
	for (uint32_t i = 0; i < amounts->count; i++) {
		change_consumed(allocated, shared, &amounts->items[i], subtract, in_flight);
	}
}

void bt_allocated_add_shared(struct bt_allocated_devices *allocated, uint32_t device_id,
	const struct bt_device_request_allocation_result *result, bool in_flight)
{
	add_share(allocated, device_id, result->share_id, in_flight);
	if (result->consumed_capacity.count == 0) {
		return;
	}
	struct bt_shared_device *shared = get_shared(allocated, device_id);
	if (in_flight) {
		shared->in_flight_consumes++;
	} else {
		shared->api_consumes = true;
	}
	change_all_consumed(allocated, shared, &result->consumed_capacity, false, in_flight);
}

void bt_allocated_remove_shared(struct bt_allocated_devices *allocated, uint32_t device_id,
	const struct bt_device_request_allocation_result *result, bool in_flight)
{
	struct bt_shared_device *shared;

	remove_share(allocated, device_id, result->share_id, in_flight);
	shared = bt_allocated_find_shared(allocated, device_id);
	if (shared != NULL && result->consumed_capacity.count != 0 &&
		(in_flight || shared->api_consumes)) {
		change_all_consumed(allocated, shared, &result->consumed_capacity, true, in_flight);
		if (in_flight) {
			BT_ASSERT(shared->in_flight_consumes != 0);
			shared->in_flight_consumes--;
		} else {
			shared->api_consumes = !api_consumes_nothing(shared);
			/* Others may be left that consume an amount of 0. */
			if (!shared->api_consumes && allocated->api_results.items[device_id] > 1) {
				bt_allocated_set_history(allocated, device_id);
			}
		}
	}
	settle_shared(allocated, device_id);
}

const struct bt_shared_device *bt_allocated_consumed(
	const struct bt_allocated_devices *allocated, uint32_t device_id)
{
	const struct bt_shared_device *shared = bt_allocated_find_shared(allocated, device_id);

	return shared != NULL && (shared->api_consumes || shared->in_flight_consumes != 0) ? shared
											   : NULL;
}
