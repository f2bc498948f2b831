/* SPDX-License-Identifier: Apache-2.0 */
#include "dra/device_pools.h"

#include "dra/device_capacity.h"
#include "dra/device_pools_private.h"

/* Node names and node selectors of slices and devices, parsed once. Spec: 12 section 9.1. */

/**
 * Find a scope; BT_POOL_NONE if there is none. If `kind` is SELECTOR, also finds BROKEN scopes,
 * whose selector could not be parsed.
 */
static uint32_t find(const struct bt_device_pools *pools, enum bt_node_scope_kind kind,
	uint64_t hash, struct bt_str node_name, const struct bt_node_selector *selector)
{
	BT_MAP_EACH (&pools->scopes.map, hash, id) {
		const struct bt_node_scope *scope = &pools->scopes.items[id];
		if (scope->hash != hash) {
			continue;
		}
		if (kind == BT_NODE_SCOPE_SELECTOR
				? (scope->selector != NULL &&
					  bt_message_equal(&bt_node_selector_message,
						  scope->selector, selector))
				: (scope->kind == kind &&
					  (kind != BT_NODE_SCOPE_NAME ||
						  bt_str_equal(node_name,
							  bt_symbol_text(pools->dra->ids.symbols,
								  scope->name))))) {
			return id;
		}
	}
	return BT_POOL_NONE;
}

/** Find or create the scope of these node fields, with one reference for the caller. */
static uint32_t node_scope_ref(struct bt_device_pools *pools, struct bt_str node_name,
	const struct bt_opt_bool *all_nodes, const struct bt_node_selector *selector)
{
	struct bt_node_scope scope = {.kind = BT_NODE_SCOPE_NOWHERE, .name = BT_SYM_NONE};

	if (node_name.length != 0) {
		scope.kind = BT_NODE_SCOPE_NAME;
	} else if (all_nodes->present && all_nodes->value) {
		scope.kind = BT_NODE_SCOPE_EVERYWHERE;
	} else if (selector != NULL) {
		scope.kind = BT_NODE_SCOPE_SELECTOR;
	}
	if (scope.kind != BT_NODE_SCOPE_SELECTOR) {
		selector = NULL;
	}
	scope.hash = bt_hash_u64(0, (uint64_t)scope.kind);
	if (scope.kind == BT_NODE_SCOPE_NAME) {
		scope.hash = bt_hash_u64(scope.hash, bt_str_hash(node_name));
	} else if (selector != NULL) {
		scope.hash = bt_message_hash(&bt_node_selector_message, scope.hash, selector);
	}
	uint32_t id = find(pools, scope.kind, scope.hash, node_name, selector);
	if (id == BT_POOL_NONE) {
		scope.cached_slot = BT_SLOT_NONE;
		if (scope.kind == BT_NODE_SCOPE_NAME) {
			scope.name = bt_symbol_ref_str(pools->dra->ids.symbols, node_name);
		} else if (selector != NULL) {
			struct bt_error_list errors = {0};

			bt_arena_init(&scope.arena, 512);
			struct bt_node_selector *copy =
				BT_ARENA_NEW(&scope.arena, struct bt_node_selector);
			bt_message_copy(&bt_node_selector_message, copy, selector, &scope.arena);
			scope.selector = copy;
			scope.parsed = bt_node_selector_parse(copy, BT_STR(""), &scope.arena);
			bt_node_selector_errors(&scope.parsed, &scope.arena, &errors);
			if (errors.count != 0) {
				scope.kind = BT_NODE_SCOPE_BROKEN;
				scope.problem = bt_error_list_text(&errors, &scope.arena);
			}
		}
		bt_hash_table_add(&pools->scopes, scope.hash, scope, id);
	}
	pools->scopes.items[id].ref_count++;
	return id;
}

static void node_scope_unref(struct bt_device_pools *pools, uint32_t id)
{
	struct bt_node_scope *scope = &pools->scopes.items[id];

	if (--scope->ref_count != 0) {
		return;
	}
	bt_hash_table_remove(&pools->scopes, scope->hash, id);
	bt_symbol_unref(pools->dra->ids.symbols, scope->name);
	bt_arena_finish(&scope->arena);
	scope->selector = NULL;
}

bool bt_node_scope_matches(struct bt_device_pools *pools, uint32_t id, uint32_t slot)
{
	struct bt_node_scope *scope = &pools->scopes.items[id];
	const struct bt_node_row *row = &pools->dra->state->nodes.rows[slot];

	switch (scope->kind) {
	case BT_NODE_SCOPE_EVERYWHERE:
		return true;
	case BT_NODE_SCOPE_NAME:
		return bt_sym_equal(scope->name, row->name);
	case BT_NODE_SCOPE_SELECTOR:
		break;
	case BT_NODE_SCOPE_NOWHERE:
	case BT_NODE_SCOPE_BROKEN:
		return false;
	}
	if (scope->cached_slot != slot || scope->cached_epoch != pools->node_epoch) {
		scope->answer = bt_node_selector_matches(&scope->parsed,
			bt_symbol_text(pools->dra->ids.symbols, row->name), &row->labels,
			&pools->arena, NULL);
		scope->cached_slot = slot;
		scope->cached_epoch = pools->node_epoch;
	}
	return scope->answer;
}

/* Published devices. Spec: 12 sections 9.1 and 18. */

/**
 * Whether two devices are equal in all fields that a selector reads. The devices have the same id
 * and so the same driver.
 */
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
	for (uint32_t i = 0; pools->with_taints && i < device->taints.count; i++) {
		if (bt_device_taint_blocks(&device->taints.items[i])) {
			flags |= BT_DEVICE_TAINTED;
		}
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
	bt_vec_pad(&pools->row_of_id, id + 1, BT_DEVICE_NONE);
	pools->row_of_id.items[id] = row;
}

static uint32_t first_row(const struct bt_device_pools *pools, uint32_t id)
{
	return id < pools->row_of_id.count ? pools->row_of_id.items[id] : BT_DEVICE_NONE;
}

static void device_rows_drop(struct bt_device_pools *pools, uint32_t row)
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
		node_scope_unref(pools, item->scope);
	}
	bt_device_ids_unref(&pools->dra->ids, item->id);
	item->spec = NULL;
	bt_vec_push(&pools->free_rows, row);
}

/**
 * Remove the slice's old row for this id from old_rows and return the row; BT_DEVICE_NONE if there
 * is none. position: index in old_rows to try first. The row is elsewhere only if the order or the
 * number of the devices before it has changed.
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

/**
 * Make the rows of a slice after its object and scope were replaced. The slice's list of rows must
 * be empty, and the old object must still exist. If a device was in the slice before, its old row
 * is reused, and the row's verdicts are kept unless a field that selectors read has changed. Other
 * old rows are dropped. Overwrites old_rows.
 */
static void device_rows_make(
	struct bt_device_pools *pools, uint32_t slice, uint32_t *old_rows, uint32_t old_count)
{
	const struct bt_resource_slice *value = bt_pool_slice_value(pools, slice);

	for (uint32_t i = 0; i < value->spec.devices.count; i++) {
		const struct bt_device *device = &value->spec.devices.items[i];
		uint32_t id = bt_device_ids_ref(
			&pools->dra->ids, value->spec.driver, value->spec.pool.name, device->name);
		uint32_t row = take_old(pools, slice, id, old_rows, old_count, i);
		if (row == BT_DEVICE_NONE) {
			struct bt_device_row item = {.id = id, .next = first_row(pools, id)};
			bt_vec_store(&pools->rows, &pools->free_rows, item, row);
			set_first_row(pools, id, row);
		} else {
			bt_device_ids_unref(&pools->dra->ids, id);
			if (!has_same_content(pools->rows.items[row].spec, device)) {
				bt_selectors_forget_row(pools, row);
			}
		}
		bool per_device = pools->slices.items[slice].per_device;
		uint32_t scope = per_device ? node_scope_ref(pools, device->node_name,
						      &device->all_nodes, device->node_selector)
					    : 0;
		struct bt_device_row *item = &pools->rows.items[row];

		if ((item->flags & BT_DEVICE_OWN_SCOPE) != 0) {
			node_scope_unref(pools, item->scope);
		}
		item->spec = device;
		item->slice = slice;
		item->scope = scope;
		item->flags = flags_of(pools, device) | (per_device ? BT_DEVICE_OWN_SCOPE : 0U);
		bt_vec_push(&pools->slices.items[slice].rows, row);
	}
	for (uint32_t i = 0; i < old_count; i++) {
		if (old_rows[i] != BT_DEVICE_NONE) {
			device_rows_drop(pools, old_rows[i]);
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

const struct bt_device *bt_device_pools_find_device(const struct bt_device_pools *pools,
	struct bt_str driver, struct bt_str pool, struct bt_str device)
{
	uint32_t id = bt_device_ids_find(&pools->dra->ids, driver, pool, device);
	uint32_t row = first_row(pools, id);

	if (row != BT_DEVICE_NONE) {
		return pools->rows.items[row].spec;
	}
	/* Look for the device of any driver. */
	for (row = 0; row < pools->rows.count; row++) {
		const struct bt_device_row *item = &pools->rows.items[row];

		if (item->spec != NULL && bt_str_equal(item->spec->name, device) &&
			bt_str_equal(
				bt_pool_slice_value(pools, item->slice)->spec.pool.name, pool)) {
			return item->spec;
		}
	}
	return NULL;
}

struct bt_device_pools *bt_device_pools_create(struct bt_dra *dra)
{
	struct bt_device_pools *pools = BT_NEW(struct bt_device_pools);
	const struct bt_gates *gates = dra->gates;

	pools->dra = dra;
	pools->with_partitions = bt_gate_enabled(gates, BT_GATE_DRA_PARTITIONABLE_DEVICES);
	pools->with_taints = bt_gate_enabled(gates, BT_GATE_DRA_DEVICE_TAINTS);
	pools->with_binding = bt_gate_enabled(gates, BT_GATE_DRA_DEVICE_BINDING_CONDITIONS) &&
		bt_gate_enabled(gates, BT_GATE_DRA_RESOURCE_CLAIM_DEVICE_STATUS);
	pools->with_capacity = bt_gate_enabled(gates, BT_GATE_DRA_CONSUMABLE_CAPACITY);
	pools->with_list_attributes = bt_gate_enabled(gates, BT_GATE_DRA_LIST_TYPE_ATTRIBUTES);
	return pools;
}

static void finish_pool(struct bt_pool *pool)
{
	bt_pool_drop_views(pool);
	bt_vec_finish(&pool->views);
	bt_vec_finish(&pool->counters);
	bt_vec_finish(&pool->slices);
}

static void remove_slice(struct bt_device_pools *pools, uint32_t id);

void bt_device_pools_destroy(struct bt_device_pools *pools)
{
	if (pools == NULL) {
		return;
	}
	for (uint32_t i = 0; i < pools->slices.count; i++) {
		if (pools->slices.items[i].object != NULL) {
			remove_slice(pools, i);
		}
	}
	for (uint32_t i = 0; i < pools->pools.count; i++) {
		finish_pool(&pools->pools.items[i]);
	}
	for (uint32_t i = 0; i < pools->named.count; i++) {
		bt_vec_finish(&pools->named.items[i].pools);
	}
	for (uint32_t i = 0; i < pools->nodes.count; i++) {
		bt_vec_finish(&pools->nodes.items[i].items);
	}
	bt_selectors_finish(pools);
	bt_search_memory_destroy(pools->search);
	bt_allocation_columns_destroy(pools->columns);
	bt_hash_table_finish(&pools->slices);
	bt_vec_finish(&pools->rows);
	bt_vec_finish(&pools->free_rows);
	bt_vec_finish(&pools->row_of_id);
	bt_vec_finish(&pools->pools);
	bt_vec_finish(&pools->free_pools);
	bt_vec_finish(&pools->pool_of_id);
	bt_vec_finish(&pools->shared_pools);
	bt_hash_table_finish(&pools->named);
	bt_hash_table_finish(&pools->scopes);
	bt_vec_finish(&pools->nodes);
	bt_vec_finish(&pools->relevant);
	bt_vec_finish(&pools->id_marks);
	bt_arena_finish(&pools->arena);
	bt_strbuf_finish(&pools->text);
	bt_free(pools);
}

static void drop_pool_if_empty(struct bt_device_pools *pools, uint32_t pool)
{
	struct bt_pool *item = &pools->pools.items[pool];

	if (item->slices.count != 0) {
		return;
	}
	finish_pool(item);
	pools->pool_of_id.items[item->id] = BT_POOL_NONE;
	bt_device_ids_unref(&pools->dra->ids, item->id);
	item->id = BT_DEVICE_NONE;
	bt_vec_push(&pools->free_pools, pool);
}

struct bt_str bt_pool_driver(const struct bt_device_pools *pools, uint32_t pool)
{
	const struct bt_device_ids *ids = &pools->dra->ids;

	return bt_symbol_text(ids->symbols, ids->items.items[pools->pools.items[pool].id].driver);
}

struct bt_str bt_pool_name(const struct bt_device_pools *pools, uint32_t pool)
{
	const struct bt_device_ids *ids = &pools->dra->ids;

	return bt_symbol_text(ids->symbols, ids->items.items[pools->pools.items[pool].id].pool);
}

uint32_t bt_named_pools_find(const struct bt_device_pools *pools, bt_sym name)
{
	uint64_t hash = bt_hash_u64(0, name.id);

	BT_MAP_EACH (&pools->named.map, hash, id) {
		if (bt_sym_equal(pools->named.items[id].name, name)) {
			return id;
		}
	}
	return BT_POOL_NONE;
}

static void remove_value(uint32_t *items, uint32_t *count, uint32_t value)
{
	uint32_t i = 0;

	while (items[i] != value) {
		i++;
	}
	items[i] = items[--*count];
}

/**
 * Add the slice's pool to the indexes that nodes read, or remove the pool from them. The indexes
 * are the pools by node name (`named`) and the pools that nodes of any name may use
 * (`shared_pools`). If the slice has a node name and counters, its pool is in both indexes.
 */
static void index_slice(struct bt_device_pools *pools, const struct bt_pool_slice *slice, bool add)
{
	const struct bt_node_scope *scope = &pools->scopes.items[slice->scope];
	struct bt_pool *pool = &pools->pools.items[slice->pool];

	if (scope->kind == BT_NODE_SCOPE_NAME) {
		if (add) {
			bt_sym name = scope->name;
			uint32_t id = bt_named_pools_find(pools, name);

			if (id == BT_POOL_NONE) {
				struct bt_named_pools added = {
					.name = bt_symbol_ref(pools->dra->ids.symbols, name),
					.hash = bt_hash_u64(0, name.id)};
				bt_hash_table_add(&pools->named, added.hash, added, id);
			}
			bt_vec_push(&pools->named.items[id].pools, slice->pool);
		} else {
			uint32_t id = bt_named_pools_find(pools, scope->name);
			struct bt_named_pools *named = &pools->named.items[id];

			remove_value(named->pools.items, &named->pools.count, slice->pool);
			if (named->pools.count == 0) {
				bt_hash_table_remove(&pools->named, named->hash, id);
				bt_symbol_unref(pools->dra->ids.symbols, named->name);
				bt_vec_finish(&named->pools);
				named->name = BT_SYM_NONE;
			}
		}
	}
	if (scope->kind == BT_NODE_SCOPE_NAME && !slice->has_counters) {
		return;
	}
	if (add && pool->shared_count++ == 0) {
		bt_vec_push(&pools->shared_pools, slice->pool);
	}
	if (!add && --pool->shared_count == 0) {
		remove_value(pools->shared_pools.items, &pools->shared_pools.count, slice->pool);
	}
}

/** Link a slice, after its object was set, to its pool, scope, rows and indexes. */
static void link_slice(
	struct bt_device_pools *pools, uint32_t id, uint32_t *old_rows, uint32_t old_count)
{
	const struct bt_resource_slice *value = bt_pool_slice_value(pools, id);
	struct bt_pool_slice *slice = &pools->slices.items[id];
	struct bt_device_ids *ids = &pools->dra->ids;
	uint32_t pool_id =
		bt_device_ids_ref(ids, value->spec.driver, value->spec.pool.name, BT_STR(""));

	bt_vec_pad(&pools->pool_of_id, pool_id + 1, BT_POOL_NONE);
	uint32_t pool = pools->pool_of_id.items[pool_id];
	if (pool != BT_POOL_NONE) {
		bt_device_ids_unref(ids, pool_id);
	} else {
		struct bt_pool item = {.id = pool_id};
		bt_vec_store(&pools->pools, &pools->free_pools, item, pool);
		pools->pool_of_id.items[pool_id] = pool;
	}

	slice->pool = pool;
	slice->scope = node_scope_ref(
		pools, value->spec.node_name, &value->spec.all_nodes, value->spec.node_selector);
	slice->per_device = value->spec.per_device_node_selection.present &&
		value->spec.per_device_node_selection.value;
	slice->has_counters = value->spec.shared_counters.count != 0;
	bt_vec_push(&pools->pools.items[pool].slices, id);
	index_slice(pools, slice, true);
	device_rows_make(pools, id, old_rows, old_count);
	bt_device_pools_changed(pools, pool);
}

/** Undo link_slice, except for the rows. */
static void unlink_slice(struct bt_device_pools *pools, uint32_t id)
{
	struct bt_pool_slice *slice = &pools->slices.items[id];
	struct bt_pool *pool = &pools->pools.items[slice->pool];

	bt_device_pools_changed(pools, slice->pool);
	remove_value(pool->slices.items, &pool->slices.count, id);
	index_slice(pools, slice, false);
	node_scope_unref(pools, slice->scope);
}

static void remove_slice(struct bt_device_pools *pools, uint32_t id)
{
	struct bt_pool_slice *slice = &pools->slices.items[id];

	unlink_slice(pools, id);
	bt_vec_finish_each(&slice->rows, device_rows_drop(pools, *each));
	drop_pool_if_empty(pools, slice->pool);
	bt_hash_table_remove(&pools->slices, slice->hash, id);
	bt_object_release(slice->object);
	slice->object = NULL;
}

static uint32_t find_slice(const struct bt_device_pools *pools, struct bt_str name)
{
	uint64_t hash = bt_str_hash(name);

	BT_MAP_EACH (&pools->slices.map, hash, id) {
		if (bt_str_equal(pools->slices.items[id].object->meta->name, name)) {
			return id;
		}
	}
	return BT_POOL_NONE;
}

struct bt_object *bt_device_pools_find_slice(
	const struct bt_device_pools *pools, struct bt_str name)
{
	uint32_t id = find_slice(pools, name);

	return id != BT_POOL_NONE ? pools->slices.items[id].object : NULL;
}

void bt_device_pools_observe(
	struct bt_device_pools *pools, struct bt_object *old_slice, struct bt_object *new_slice)
{
	struct bt_str name = (new_slice != NULL ? new_slice : old_slice)->meta->name;
	uint32_t id = find_slice(pools, name);

	if (new_slice == NULL) {
		if (id != BT_POOL_NONE) {
			remove_slice(pools, id);
		}
	} else if (id == BT_POOL_NONE) {
		struct bt_pool_slice added = {
			.object = bt_object_share(new_slice), .hash = bt_str_hash(name)};
		bt_hash_table_add(&pools->slices, added.hash, added, id);
		link_slice(pools, id, NULL, 0);
	} else {
		struct bt_pool_slice *slice = &pools->slices.items[id];
		struct bt_object *old_object = slice->object;
		uint32_t old_pool = slice->pool;
		uint32_t *old_rows = slice->rows.items;
		uint32_t old_count = slice->rows.count;

		unlink_slice(pools, id);
		slice->rows.items = NULL;
		slice->rows.count = 0;
		slice->rows.capacity = 0;
		slice->object = bt_object_share(new_slice);
		link_slice(pools, id, old_rows, old_count);
		drop_pool_if_empty(pools, old_pool);
		bt_free(old_rows);
		bt_object_release(old_object);
	}
}

const struct bt_resource_slice *bt_device_pools_next_slice(
	const struct bt_device_pools *pools, uint32_t *cursor)
{
	while (*cursor < pools->slices.count) {
		const struct bt_object *object = pools->slices.items[(*cursor)++].object;
		if (object != NULL) {
			return object->value;
		}
	}
	return NULL;
}
