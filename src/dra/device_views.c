/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "dra/device_capacity.h"
#include "base/vec.h"
#include "dra/device_pools_private.h"

/* Shared counters of a pool and the amounts still available. Spec: 12 section 9.8. */

BT_COMPARE(compare_counters, struct bt_pool_counter,
	BT_ORDER_BY(bt_str_compare(a->set, b->set), bt_str_compare(a->name, b->name)))

BT_COMPARE(compare_consumers, struct bt_counter_consumer, BT_ORDER(a->row, b->row))

static bool has_set(const struct bt_pool_counters *counters, struct bt_str name)
{
	return bt_str_is_among(name, counters->set_names.items, counters->set_names.count);
}

/** Add the counters that a device consumes. Returns false if a set or counter does not exist. */
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
			struct bt_pool_counter key = {
				.set = consumption->counter_set, .name = entry->key};
			const struct bt_pool_counter *items = counters->counters.items;
			struct bt_counter_use use = {
				.amount = bt_device_amount(&entry->value.value)};

			BT_LOWER_BOUND(use.counter, counters->counters.count, middle,
				compare_counters(&items[middle], &key) < 0);
			if (use.counter == counters->counters.count ||
				compare_counters(&items[use.counter], &key) != 0) {
				return false;
			}
			bt_vec_push(&counters->uses, use);
		}
	}
	return true;
}

static bool fill_counters(struct bt_device_pools *pools, struct bt_pool_counters *counters)
{
	for (uint32_t i = 0; i < counters->slices.count; i++) {
		/* Two counter sets of the same name make the pool invalid. */
		const struct bt_resource_slice *slice =
			bt_pool_slice_value(pools, counters->slices.items[i]);
		for (uint32_t n = 0; n < slice->spec.shared_counters.count; n++) {
			const struct bt_counter_set *set = &slice->spec.shared_counters.items[n];
			if (has_set(counters, set->name)) {
				return false;
			}
			bt_vec_push(&counters->set_names, set->name);
			for (uint32_t k = 0; k < set->counters.count; k++) {
				struct bt_pool_counter counter = {
					.set = set->name,
					.name = set->counters.items[k].key,
					.value = bt_device_amount(
						&set->counters.items[k].value.value),
				};
				bt_vec_push(&counters->counters, counter);
			}
		}
	}
	if (counters->counters.count != 0) {
		qsort(counters->counters.items, counters->counters.count,
			sizeof(counters->counters.items[0]), compare_counters);
	}
	for (uint32_t i = 0; i < counters->slices.count; i++) {
		const struct bt_pool_slice *slice = &pools->slices.items[counters->slices.items[i]];
		for (uint32_t k = 0; !slice->has_counters && k < slice->rows.count; k++) {
			const struct bt_device_row *row = &pools->rows.items[slice->rows.items[k]];
			struct bt_counter_consumer consumer = {
				.row = slice->rows.items[k],
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
	}
	if (counters->consumers.count != 0) {
		qsort(counters->consumers.items, counters->consumers.count,
			sizeof(counters->consumers.items[0]), compare_consumers);
	}
	return true;
}

/**
 * Returns the counters of a pool for these slices (ascending), which are created at the first use.
 */
static struct bt_pool_counters *pool_counters_of(
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
	counters->is_invalid = !fill_counters(pools, counters);
	bt_vec_push(&owner->counters, counters);
	return counters;
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

bool bt_pool_counters_take(struct bt_device_pools *pools, uint32_t pool,
	struct bt_pool_counters *counters, uint32_t consumption)
{
	const struct bt_counter_consumer *consumer = &counters->consumers.items[consumption];

	/* At the first use in a call of the allocator, reset `used` and refresh `available`. */
	if (counters->call != pools->call) {
		counters->call = pools->call;
		if (!counters->is_fresh ||
			counters->version !=
				bt_allocated_pool_version(
					&pools->dra->allocated, pools->pools.items[pool].id)) {
			bt_pool_counters_refresh(pools, pool, counters);
		}
		for (uint32_t k = 0; k < counters->counters.count; k++) {
			counters->counters.items[k].used = 0;
		}
	}
	for (uint32_t i = 0; i < consumer->count; i++) {
		const struct bt_counter_use *use = &counters->uses.items[consumer->first + i];
		counters->counters.items[use->counter].used += use->amount;
	}
	for (uint32_t i = 0; i < counters->counters.count; i++) {
		const struct bt_pool_counter *counter = &counters->counters.items[i];
		if (counter->used > counter->available) {
			bt_pool_counters_release(counters, consumption);
			return false;
		}
	}
	return true;
}

void bt_pool_counters_release(struct bt_pool_counters *counters, uint32_t consumption)
{
	const struct bt_counter_consumer *consumer = &counters->consumers.items[consumption];

	for (uint32_t i = 0; i < consumer->count; i++) {
		const struct bt_counter_use *use = &counters->uses.items[consumer->first + i];
		counters->counters.items[use->counter].used -= use->amount;
	}
}

/* Views of pools by node. Spec: 12 section 9.1. */

#define CHANGES_OF_NODES (BT_CHANGE_LABELS | BT_CHANGE_EXISTENCE)

void bt_pool_drop_views(struct bt_pool *pool)
{
	for (uint32_t i = 0; i < pool->views.count; i++) {
		struct bt_pool_view *view = pool->views.items[i];
		bt_vec_finish(&view->slices);
		bt_vec_finish(&view->devices);
		bt_free(view);
	}
	pool->views.count = 0;
	for (uint32_t i = 0; i < pool->counters.count; i++) {
		struct bt_pool_counters *counters = pool->counters.items[i];
		bt_vec_finish(&counters->slices);
		bt_vec_finish(&counters->set_names);
		bt_vec_finish(&counters->counters);
		bt_vec_finish(&counters->consumers);
		bt_vec_finish(&counters->uses);
		bt_free(counters);
	}
	pool->counters.count = 0;
}

static int64_t generation_of(const struct bt_device_pools *pools, uint32_t slice)
{
	return bt_pool_slice_value(pools, slice)->spec.pool.generation;
}

static struct bt_str slice_name(const struct bt_device_pools *pools, uint32_t slice)
{
	return pools->slices.items[slice].object->meta->name;
}

/**
 * Returns whether the view is complete, incomplete or obsolete. all: array with room for all slices
 * of the pool. If the result is COMPLETE, *out_count and `all` are set to the slices of the
 * complete pool: the slices of the view or, if these are only a part of the pool, all slices of
 * their generation.
 */
static enum bt_pool_state completeness(const struct bt_device_pools *pools,
	const struct bt_pool_view *view, uint32_t *all, uint32_t *out_count)
{
	const struct bt_pool *pool = &pools->pools.items[view->pool];
	/* Of the slices of the view, find the one whose name sorts first. */
	uint32_t first = view->slices.items[0];

	for (uint32_t j = 1; j < view->slices.count; j++) {
		if (bt_str_compare(slice_name(pools, view->slices.items[j]),
			    slice_name(pools, first)) < 0) {
			first = view->slices.items[j];
		}
	}
	int64_t generation = generation_of(pools, first);
	int64_t wanted = bt_pool_slice_value(pools, first)->spec.pool.resource_slice_count;
	uint32_t count = 0;

	if (view->slices.count == wanted) {
		memcpy(all, view->slices.items, view->slices.count * sizeof(all[0]));
		*out_count = view->slices.count;
		return BT_POOL_COMPLETE;
	}
	for (uint32_t i = 0; i < pool->slices.count; i++) {
		int64_t other = generation_of(pools, pool->slices.items[i]);
		if (other > generation) {
			return BT_POOL_OBSOLETE;
		}
		if (other == generation) {
			all[count++] = pool->slices.items[i];
		}
	}
	*out_count = count;
	return count == wanted ? BT_POOL_COMPLETE : BT_POOL_INCOMPLETE;
}

/**
 * List the devices of the view's slices, in the order of slice names. If gate
 * DRAPartitionableDevices is on, devices in slices with counters are ignored.
 */
static void collect_devices(struct bt_device_pools *pools, struct bt_pool_view *view)
{
	uint32_t count = view->slices.count;
	uint32_t *order = bt_calloc(count, sizeof(*order));

	for (uint32_t i = 0; i < count; i++) {
		uint32_t slice = view->slices.items[i];
		uint32_t at = i;
		for (; at > 0 &&
			bt_str_compare(slice_name(pools, order[at - 1]), slice_name(pools, slice)) >
				0;
			at--) {
			order[at] = order[at - 1];
		}
		order[at] = slice;
	}
	for (uint32_t i = 0; i < count; i++) {
		const struct bt_pool_slice *slice = &pools->slices.items[order[i]];
		for (uint32_t k = 0;
			!(pools->with_partitions && slice->has_counters) && k < slice->rows.count;
			k++) {
			const struct bt_device_row *row = &pools->rows.items[slice->rows.items[k]];
			struct bt_pool_device device = {
				.row = slice->rows.items[k],
				.id = row->id,
				.flags = row->flags,
				.consumption = BT_DEVICE_NONE,
			};
			view->is_binding =
				view->is_binding || (row->flags & BT_DEVICE_BINDING) != 0;
			view->has_own_scopes = view->has_own_scopes || slice->per_device;
			bt_vec_push(&view->devices, device);
		}
	}
	bt_free(order);
}

BT_COMPARE(compare_numbers, uint32_t, BT_ORDER(*a, *b))

/** Sets the state of a new view, and its devices if the view is complete. */
static void check_view(struct bt_device_pools *pools, struct bt_pool_view *view)
{
	const struct bt_pool *pool = &pools->pools.items[view->pool];
	uint32_t *all = bt_calloc(pool->slices.count, sizeof(*all));
	uint32_t count = 0;

	view->state = completeness(pools, view, all, &count);
	if (view->state == BT_POOL_COMPLETE) {
		uint32_t mark = ++pools->id_mark;

		qsort(all, count, sizeof(*all), compare_numbers);
		collect_devices(pools, view);
		for (uint32_t i = 0; i < view->devices.count; i++) {
			uint32_t id = view->devices.items[i].id;
			bt_vec_pad(&pools->id_marks, id + 1, 0);
			if (pools->id_marks.items[id] == mark) {
				view->state = BT_POOL_INVALID;
				break;
			}
			pools->id_marks.items[id] = mark;
		}
	}
	if (view->state == BT_POOL_COMPLETE && pools->with_partitions) {
		view->counters = pool_counters_of(pools, view->pool, all, count);
		const struct bt_counter_consumer *consumers = view->counters->consumers.items;

		for (uint32_t i = 0; !view->counters->is_invalid && i < view->devices.count; i++) {
			struct bt_pool_device *device = &view->devices.items[i];
			uint32_t at;

			if ((device->flags & BT_DEVICE_COUNTERS) == 0) {
				continue;
			}
			BT_LOWER_BOUND(at, view->counters->consumers.count, middle,
				consumers[middle].row < device->row);
			if (at < view->counters->consumers.count &&
				consumers[at].row == device->row) {
				device->consumption = at;
			}
		}
		view->state = view->counters->is_invalid ? BT_POOL_INVALID : BT_POOL_COMPLETE;
	}
	if (view->state != BT_POOL_COMPLETE) {
		view->devices.count = 0;
		view->is_binding = false;
	}
	bt_free(all);
}

static struct bt_pool_view *make_view(uint32_t pool, const uint32_t *slices, uint32_t count)
{
	struct bt_pool_view *view = BT_NEW(struct bt_pool_view);

	view->pool = pool;
	view->broken_scope = BT_POOL_NONE;
	view->broken_row = BT_DEVICE_NONE;
	for (uint32_t i = 0; i < count; i++) {
		bt_vec_push(&view->slices, slices[i]);
	}
	return view;
}

/** Whether a slice is relevant to a node, or which selector of the slice cannot be parsed. */
struct relevance {
	bool is_relevant;
	uint32_t broken_scope; /* BT_POOL_NONE: no broken selector */
	uint32_t broken_row;
};

static bool is_broken(const struct bt_device_pools *pools, uint32_t scope)
{
	return pools->scopes.items[scope].kind == BT_NODE_SCOPE_BROKEN;
}

static struct relevance relevance_of(
	struct bt_device_pools *pools, const struct bt_pool_slice *slice, uint32_t slot)
{
	struct relevance result = {.broken_scope = BT_POOL_NONE, .broken_row = BT_DEVICE_NONE};

	if (!pools->with_partitions && (slice->per_device || slice->has_counters)) {
		return result;
	}
	if (slice->has_counters) {
		result.is_relevant = true;
	} else if (is_broken(pools, slice->scope)) {
		result.broken_scope = slice->scope;
	} else if (pools->scopes.items[slice->scope].kind != BT_NODE_SCOPE_NOWHERE) {
		result.is_relevant = bt_node_scope_matches(pools, slice->scope, slot);
	} else if (slice->per_device) {
		for (uint32_t i = 0; i < slice->rows.count && !result.is_relevant; i++) {
			uint32_t row = slice->rows.items[i];
			uint32_t scope = pools->rows.items[row].scope;
			if (is_broken(pools, scope)) {
				result.broken_scope = scope;
				result.broken_row = row;
				break;
			}
			result.is_relevant = bt_node_scope_matches(pools, scope, slot);
		}
	}
	return result;
}

static struct bt_pool_view *broken_view(
	struct bt_device_pools *pools, uint32_t pool, uint32_t slice, struct relevance reason)
{
	struct bt_pool *owner = &pools->pools.items[pool];
	struct bt_pool_view *view;

	for (uint32_t i = 0; i < owner->views.count; i++) {
		view = owner->views.items[i];
		if (view->state == BT_POOL_BROKEN && view->slices.items[0] == slice &&
			view->broken_row == reason.broken_row) {
			return view;
		}
	}
	view = make_view(pool, &slice, 1);
	view->state = BT_POOL_BROKEN;
	view->broken_scope = reason.broken_scope;
	view->broken_row = reason.broken_row;
	bt_vec_push(&owner->views, view);
	return view;
}

/**
 * Returns the view of the pool for a node; NULL if no slice of the pool is relevant to the node.
 */
static struct bt_pool_view *view_for(struct bt_device_pools *pools, uint32_t pool, uint32_t slot)
{
	struct bt_pool *owner = &pools->pools.items[pool];
	struct bt_pool_view *view;
	int64_t highest = INT64_MIN;

	/* Collect the relevant slices of the highest generation. */
	pools->relevant.count = 0;
	for (uint32_t i = 0; i < owner->slices.count; i++) {
		uint32_t slice = owner->slices.items[i];
		struct relevance relevance = relevance_of(pools, &pools->slices.items[slice], slot);
		int64_t generation = generation_of(pools, slice);
		if (relevance.broken_scope != BT_POOL_NONE) {
			return broken_view(pools, pool, slice, relevance);
		}
		if (!relevance.is_relevant || generation < highest) {
			continue;
		}
		if (generation > highest) {
			pools->relevant.count = 0;
			highest = generation;
		}
		bt_vec_push(&pools->relevant, slice);
	}
	uint32_t count = pools->relevant.count;
	size_t bytes = count * sizeof(pools->relevant.items[0]);
	if (count == 0) {
		return NULL;
	}
	if (count > 1) {
		qsort(pools->relevant.items, count, sizeof(pools->relevant.items[0]),
			compare_numbers);
	}
	uint64_t hash = bt_hash_bytes(pools->relevant.items, bytes, 0);
	for (uint32_t i = 0; i < owner->views.count; i++) {
		view = owner->views.items[i];
		if (view->hash == hash && view->state != BT_POOL_BROKEN &&
			view->slices.count == count &&
			memcmp(view->slices.items, pools->relevant.items, bytes) == 0) {
			return view;
		}
	}
	view = make_view(pool, pools->relevant.items, count);
	view->hash = hash;
	check_view(pools, view);
	bt_vec_push(&owner->views, view);
	return view;
}

static bool comes_before(const struct bt_device_pools *pools, const struct bt_node_pool *a,
	const struct bt_node_pool *b)
{
	if (a->view->is_binding != b->view->is_binding) {
		return b->view->is_binding;
	}
	int order = bt_str_compare(bt_pool_driver(pools, a->pool), bt_pool_driver(pools, b->pool));
	return order != 0
		? order < 0
		: bt_str_compare(bt_pool_name(pools, a->pool), bt_pool_name(pools, b->pool)) < 0;
}

static void add_pools(struct bt_device_pools *pools, struct bt_node_pools *node, uint32_t slot,
	const uint32_t *items, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct bt_pool *pool = &pools->pools.items[items[i]];

		if (pool->mark == pools->mark) {
			continue;
		}
		pool->mark = pools->mark;
		const struct bt_pool_view *view =
			pool->id != BT_DEVICE_NONE ? view_for(pools, items[i], slot) : NULL;
		if (view == NULL || view->state == BT_POOL_OBSOLETE ||
			(view->state == BT_POOL_COMPLETE && view->devices.count == 0)) {
			continue;
		}
		/* Insert the view in the allocator's order. */
		struct bt_node_pool item = {.pool = items[i], .view = view};
		uint32_t at;

		BT_LOWER_BOUND(at, node->items.count, middle,
			comes_before(pools, &node->items.items[middle], &item));
		bt_vec_insert(&node->items, at, item);
	}
}

static void add_all_pools(struct bt_device_pools *pools, struct bt_node_pools *node, uint32_t slot)
{
	uint32_t named = bt_named_pools_find(pools, pools->dra->state->nodes.rows[slot].name);

	node->items.count = 0;
	pools->mark++;
	if (named != BT_POOL_NONE) {
		add_pools(pools, node, slot, pools->named.items[named].pools.items,
			pools->named.items[named].pools.count);
	}
	add_pools(pools, node, slot, pools->shared_pools.items, pools->shared_pools.count);
}

static void summarise(struct bt_node_pools *node)
{
	node->has_problem = false;
	node->has_counters = false;
	node->has_own_scopes = false;
	node->device_count = 0;
	node->hash = 0;
	for (uint32_t i = 0; i < node->items.count; i++) {
		const struct bt_pool_view *view = node->items.items[i].view;
		node->has_problem = node->has_problem || view->state != BT_POOL_COMPLETE;
		node->has_counters = node->has_counters ||
			(view->counters != NULL && view->counters->consumers.count != 0);
		node->has_own_scopes = node->has_own_scopes || view->has_own_scopes;
		node->device_count += view->devices.count;
		node->hash = bt_hash_u64(node->hash, (uint64_t)(uintptr_t)view);
	}
}

const struct bt_node_pools *bt_device_pools_repair(struct bt_device_pools *pools, uint32_t slot)
{
	bt_sym name = pools->dra->state->nodes.rows[slot].name;

	bt_vec_pad(&pools->nodes, slot + 1, (struct bt_node_pools){0});
	struct bt_node_pools *node = &pools->nodes.items[slot];
	if (!node->is_known || !bt_sym_equal(node->name, name) ||
		pools->sequence - node->sequence > BT_POOL_CHANGES_MAX) {
		add_all_pools(pools, node, slot);
	} else {
		/*
		 * Remove the views of all changed pools before inserting any view: the insertion
		 * compares views, and the old views of changed pools no longer exist.
		 */
		for (uint64_t i = node->sequence; i < pools->sequence; i++) {
			uint32_t pool = pools->changed[i & (BT_POOL_CHANGES_MAX - 1)];
			for (uint32_t j = 0; j < node->items.count; j++) {
				if (node->items.items[j].pool == pool) {
					bt_vec_remove_ordered(&node->items, j);
					break;
				}
			}
		}
		pools->mark++;
		for (uint64_t i = node->sequence; i < pools->sequence; i++) {
			add_pools(pools, node, slot, &pools->changed[i & (BT_POOL_CHANGES_MAX - 1)],
				1);
		}
	}
	node->name = name;
	node->sequence = pools->sequence;
	node->is_known = true;
	summarise(node);
	bt_arena_reset(&pools->arena);
	return node;
}

void bt_node_pools_compute(
	struct bt_device_pools *pools, uint32_t slot, struct bt_node_pools *out_node)
{
	*out_node = (struct bt_node_pools){0};
	add_all_pools(pools, out_node, slot);
	summarise(out_node);
}

void bt_device_pools_changed(struct bt_device_pools *pools, uint32_t pool)
{
	bt_pool_drop_views(&pools->pools.items[pool]);
	pools->changed[pools->sequence++ & (BT_POOL_CHANGES_MAX - 1)] = pool;
	pools->shared_version += pools->pools.items[pool].shared_count != 0;
	bt_device_pools_log(pools, pool);
}

void bt_device_pools_log(struct bt_device_pools *pools, uint32_t pool)
{
	const struct bt_pool *item = &pools->pools.items[pool];
	struct bt_state *state = pools->dra->state;

	for (uint32_t i = 0; item->shared_count == 0 && i < item->slices.count; i++) {
		const struct bt_pool_slice *slice = &pools->slices.items[item->slices.items[i]];
		const struct bt_node_scope *scope = &pools->scopes.items[slice->scope];
		uint32_t slot = scope->kind == BT_NODE_SCOPE_NAME
			? bt_node_table_find_symbol(&state->nodes, scope->name)
			: BT_SLOT_NONE;

		if (slot != BT_SLOT_NONE) {
			bt_change_log_append(&state->log, slot, BT_CHANGE_DEVICES);
		}
	}
}

void bt_device_pools_catch_up(struct bt_device_pools *pools)
{
	const struct bt_change_log *log = &pools->dra->state->log;

	if (!bt_change_log_covers(log, pools->log_sequence)) {
		for (uint32_t i = 0; i < pools->nodes.count; i++) {
			pools->nodes.items[i].is_known = false;
		}
		pools->node_epoch++;
		pools->log_sequence = log->sequence;
	}
	for (; pools->log_sequence < log->sequence; pools->log_sequence++) {
		struct bt_change change = bt_change_log_at(log, pools->log_sequence);
		if ((change.kinds & CHANGES_OF_NODES) == 0) {
			continue;
		}
		pools->node_epoch++;
		if (change.slot < pools->nodes.count) {
			pools->nodes.items[change.slot].is_known = false;
		}
	}
}
