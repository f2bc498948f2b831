/* SPDX-License-Identifier: Apache-2.0 */
/* Shared counters of a pool and what is left of them. Spec: 12 section 9.8. */
#include <stdlib.h>

#include "dra/device_amount.h"
#include "dra/device_pools_private.h"

static int compare_names(
	struct bt_str set_a, struct bt_str name_a, struct bt_str set_b, struct bt_str name_b)
{
	int order = bt_str_compare(set_a, set_b);

	return order != 0 ? order : bt_str_compare(name_a, name_b);
}

static int compare_counters(const void *a, const void *b)
{
	const struct bt_pool_counter *left = a;
	const struct bt_pool_counter *right = b;

	return compare_names(left->set, left->name, right->set, right->name);
}

static int compare_consumers(const void *a, const void *b)
{
	uint32_t left = ((const struct bt_counter_consumer *)a)->row;
	uint32_t right = ((const struct bt_counter_consumer *)b)->row;

	return (left > right) - (left < right);
}

/** Counter sets of a slice; false: a set of that name is there already. */
static bool add_sets(struct bt_pool_counters *counters, const struct bt_resource_slice *slice)
{
	for (uint32_t i = 0; i < slice->spec.shared_counters.count; i++) {
		const struct bt_counter_set *set = &slice->spec.shared_counters.items[i];
		for (uint32_t k = 0; k < counters->set_names.count; k++) {
			if (bt_str_equal(counters->set_names.items[k], set->name)) {
				return false;
			}
		}
		bt_vec_push(&counters->set_names, set->name);
		for (uint32_t k = 0; k < set->counters.count; k++) {
			struct bt_pool_counter counter = {
				.set = set->name,
				.name = set->counters.items[k].key,
				.value = bt_device_amount(&set->counters.items[k].value.value),
			};
			bt_vec_push(&counters->counters, counter);
		}
	}
	return true;
}

static uint32_t find_counter(
	const struct bt_pool_counters *counters, struct bt_str set, struct bt_str name)
{
	uint32_t low = 0;
	uint32_t high = counters->counters.count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct bt_pool_counter *item = &counters->counters.items[middle];
		int order = compare_names(item->set, item->name, set, name);
		if (order == 0) {
			return middle;
		}
		if (order < 0) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return BT_DEVICE_NONE;
}

static bool has_set(const struct bt_pool_counters *counters, struct bt_str name)
{
	for (uint32_t i = 0; i < counters->set_names.count; i++) {
		if (bt_str_equal(counters->set_names.items[i], name)) {
			return true;
		}
	}
	return false;
}

/** What a device consumes; false: of a set or counter that is not there. */
static bool add_uses(struct bt_pool_counters *counters, const struct bt_device *device)
{
	for (uint32_t i = 0; i < device->consumes_counters.count; i++) {
		const struct bt_device_counter_consumption *consumption =
			&device->consumes_counters.items[i];
		if (!has_set(counters, consumption->counter_set)) {
			return false;
		}
		for (uint32_t k = 0; k < consumption->counters.count; k++) {
			const struct bt_device_counter_entry *entry =
				&consumption->counters.items[k];
			struct bt_counter_use use = {
				.counter = find_counter(
					counters, consumption->counter_set, entry->key),
				.amount = bt_device_amount(&entry->value.value),
			};
			if (use.counter == BT_DEVICE_NONE) {
				return false;
			}
			bt_vec_push(&counters->uses, use);
		}
	}
	return true;
}

static bool add_consumers(const struct bt_device_pools *pools, struct bt_pool_counters *counters,
	const struct bt_pool_slice *slice)
{
	for (uint32_t i = 0; i < slice->rows.count; i++) {
		const struct bt_device_row *row = &pools->rows.items[slice->rows.items[i]];
		struct bt_counter_consumer consumer = {
			.row = slice->rows.items[i],
			.id = row->id,
			.first = counters->uses.count,
		};
		if ((row->flags & BT_DEVICE_COUNTERS) == 0) {
			continue;
		}
		if (!add_uses(counters, row->spec)) {
			return false;
		}
		consumer.count = counters->uses.count - consumer.first;
		bt_vec_push(&counters->consumers, consumer);
	}
	return true;
}

static bool fill(struct bt_device_pools *pools, struct bt_pool_counters *counters)
{
	for (uint32_t i = 0; i < counters->slices.count; i++) {
		if (!add_sets(counters, bt_pool_slice_value(pools, counters->slices.items[i]))) {
			return false;
		}
	}
	if (counters->counters.count != 0) {
		qsort(counters->counters.items, counters->counters.count,
			sizeof(counters->counters.items[0]), compare_counters);
	}
	for (uint32_t i = 0; i < counters->slices.count; i++) {
		const struct bt_pool_slice *slice = &pools->slices.items[counters->slices.items[i]];
		if (!slice->has_counters && !add_consumers(pools, counters, slice)) {
			return false;
		}
	}
	if (counters->consumers.count != 0) {
		qsort(counters->consumers.items, counters->consumers.count,
			sizeof(counters->consumers.items[0]), compare_consumers);
	}
	return true;
}

void bt_pool_counters_destroy(struct bt_pool_counters *counters)
{
	bt_vec_finish(&counters->slices);
	bt_vec_finish(&counters->set_names);
	bt_vec_finish(&counters->counters);
	bt_vec_finish(&counters->consumers);
	bt_vec_finish(&counters->uses);
	bt_free(counters);
}

struct bt_pool_counters *bt_pool_counters_of(
	struct bt_device_pools *pools, uint32_t pool, const uint32_t *slices, uint32_t count)
{
	struct bt_pool *owner = &pools->pools.items[pool];
	uint64_t hash = bt_hash_bytes(slices, count * sizeof(slices[0]), 0);
	struct bt_pool_counters *counters;

	for (uint32_t i = 0; i < owner->counters.count; i++) {
		counters = owner->counters.items[i];
		if (counters->hash == hash && counters->slices.count == count &&
			memcmp(counters->slices.items, slices, count * sizeof(slices[0])) == 0) {
			return counters;
		}
	}
	counters = BT_NEW(struct bt_pool_counters);
	counters->hash = hash;
	for (uint32_t i = 0; i < count; i++) {
		bt_vec_push(&counters->slices, slices[i]);
	}
	counters->is_invalid = !fill(pools, counters);
	bt_vec_push(&owner->counters, counters);
	return counters;
}

uint32_t bt_pool_counters_find(const struct bt_pool_counters *counters, uint32_t row)
{
	uint32_t low = 0;
	uint32_t high = counters->consumers.count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (counters->consumers.items[middle].row == row) {
			return middle;
		}
		if (counters->consumers.items[middle].row < row) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return BT_DEVICE_NONE;
}

void bt_pool_counters_refresh(
	const struct bt_device_pools *pools, uint32_t pool, struct bt_pool_counters *counters)
{
	const struct bt_allocated_devices *allocated = &pools->dra->allocated;

	for (uint32_t i = 0; i < counters->counters.count; i++) {
		counters->counters.items[i].available = counters->counters.items[i].value;
	}
	for (uint32_t i = 0; i < counters->consumers.count; i++) {
		const struct bt_counter_consumer *consumer = &counters->consumers.items[i];
		if (!bt_allocated_is_held(allocated, consumer->id)) {
			continue;
		}
		for (uint32_t k = 0; k < consumer->count; k++) {
			const struct bt_counter_use *use =
				&counters->uses.items[consumer->first + k];
			counters->counters.items[use->counter].available -= use->amount;
		}
	}
	counters->is_fresh = true;
	counters->version = bt_allocated_pool_version(allocated, pools->pools.items[pool].id);
}

/** As of this call of the allocator. */
static void prepare(
	const struct bt_device_pools *pools, uint32_t pool, struct bt_pool_counters *counters)
{
	if (counters->call == pools->call) {
		return;
	}
	counters->call = pools->call;
	if (!counters->is_fresh ||
		counters->version !=
			bt_allocated_pool_version(
				&pools->dra->allocated, pools->pools.items[pool].id)) {
		bt_pool_counters_refresh(pools, pool, counters);
	}
	for (uint32_t i = 0; i < counters->counters.count; i++) {
		counters->counters.items[i].used = 0;
	}
}

bool bt_pool_counters_take(struct bt_device_pools *pools, uint32_t pool,
	struct bt_pool_counters *counters, uint32_t consumption)
{
	const struct bt_counter_consumer *consumer = &counters->consumers.items[consumption];

	prepare(pools, pool, counters);
	for (uint32_t i = 0; i < consumer->count; i++) {
		const struct bt_counter_use *use = &counters->uses.items[consumer->first + i];
		counters->counters.items[use->counter].used += use->amount;
	}
	for (uint32_t i = 0; i < counters->counters.count; i++) {
		const struct bt_pool_counter *counter = &counters->counters.items[i];
		if (counter->used > counter->available) {
			bt_pool_counters_give_back(counters, consumption);
			return false;
		}
	}
	return true;
}

void bt_pool_counters_give_back(struct bt_pool_counters *counters, uint32_t consumption)
{
	const struct bt_counter_consumer *consumer = &counters->consumers.items[consumption];

	for (uint32_t i = 0; i < consumer->count; i++) {
		const struct bt_counter_use *use = &counters->uses.items[consumer->first + i];
		counters->counters.items[use->counter].used -= use->amount;
	}
}
