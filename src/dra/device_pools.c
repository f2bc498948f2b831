/* SPDX-License-Identifier: Apache-2.0 */
#include "dra/device_pools.h"

#include "dra/device_pools_private.h"

/* --- life --- */

static uint64_t slice_hash(const void *owner, uint32_t id)
{
	return ((const struct bt_device_pools *)owner)->slices.items[id].hash;
}

static uint64_t named_hash(const void *owner, uint32_t id)
{
	return ((const struct bt_device_pools *)owner)->named.items[id].hash;
}

static uint64_t scope_hash(const void *owner, uint32_t id)
{
	return ((const struct bt_device_pools *)owner)->scopes.items[id].hash;
}

static uint64_t program_hash(const void *owner, uint32_t id)
{
	return ((const struct bt_device_pools *)owner)->programs.items[id].hash;
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
	bt_map_init(&pools->slice_map, slice_hash, pools);
	bt_map_init(&pools->named_map, named_hash, pools);
	bt_map_init(&pools->scope_map, scope_hash, pools);
	bt_map_init(&pools->program_map, program_hash, pools);
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
		bt_vec_finish(&pools->slices.items[i].rows);
	}
	for (uint32_t i = 0; i < pools->pools.count; i++) {
		finish_pool(&pools->pools.items[i]);
	}
	for (uint32_t i = 0; i < pools->named.count; i++) {
		bt_vec_finish(&pools->named.items[i].pools);
	}
	for (uint32_t i = 0; i < pools->nodes.count; i++) {
		bt_node_pools_finish(&pools->nodes.items[i]);
	}
	bt_selectors_finish(pools);
	bt_search_memory_destroy(pools->search);
	bt_map_finish(&pools->slice_map);
	bt_map_finish(&pools->named_map);
	bt_map_finish(&pools->scope_map);
	bt_vec_finish(&pools->slices);
	bt_vec_finish(&pools->free_slices);
	bt_vec_finish(&pools->rows);
	bt_vec_finish(&pools->free_rows);
	bt_vec_finish(&pools->row_of_id);
	bt_vec_finish(&pools->pools);
	bt_vec_finish(&pools->free_pools);
	bt_vec_finish(&pools->pool_of_id);
	bt_vec_finish(&pools->shared_pools);
	bt_vec_finish(&pools->named);
	bt_vec_finish(&pools->free_named);
	bt_vec_finish(&pools->scopes);
	bt_vec_finish(&pools->free_scopes);
	bt_vec_finish(&pools->nodes);
	bt_vec_finish(&pools->relevant);
	bt_vec_finish(&pools->id_marks);
	bt_arena_finish(&pools->arena);
	bt_strbuf_finish(&pools->text);
	bt_free(pools);
}

/* --- pools --- */

static uint32_t pool_of(struct bt_device_pools *pools, const struct bt_resource_slice *slice)
{
	struct bt_device_ids *ids = &pools->dra->ids;
	uint32_t id = bt_device_ids_ref(ids, slice->spec.driver, slice->spec.pool.name, BT_STR(""));
	uint32_t pool;

	while (pools->pool_of_id.count <= id) {
		bt_vec_push(&pools->pool_of_id, BT_POOL_NONE);
	}
	pool = pools->pool_of_id.items[id];
	if (pool != BT_POOL_NONE) {
		bt_device_ids_unref(ids, id);
		return pool;
	}
	if (pools->free_pools.count != 0) {
		pool = pools->free_pools.items[--pools->free_pools.count];
	} else {
		pool = pools->pools.count;
		bt_vec_push(&pools->pools, (struct bt_pool){0});
	}
	pools->pools.items[pool].id = id;
	pools->pool_of_id.items[id] = pool;
	return pool;
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

/* --- pools by node name --- */

uint32_t bt_named_pools_find(const struct bt_device_pools *pools, bt_sym name)
{
	uint64_t hash = bt_hash_u64(0, name.id);

	for (uint32_t at = bt_map_first(&pools->named_map, hash); at != BT_MAP_NONE;
		at = bt_map_next(&pools->named_map, hash, at)) {
		uint32_t id = bt_map_value(&pools->named_map, at);
		if (bt_sym_equal(pools->named.items[id].name, name)) {
			return id;
		}
	}
	return BT_POOL_NONE;
}

static uint32_t add_named(struct bt_device_pools *pools, bt_sym name)
{
	uint32_t id;

	if (pools->free_named.count != 0) {
		id = pools->free_named.items[--pools->free_named.count];
	} else {
		id = pools->named.count;
		bt_vec_push(&pools->named, (struct bt_named_pools){0});
	}
	pools->named.items[id].name = bt_symbol_ref(pools->dra->ids.symbols, name);
	pools->named.items[id].hash = bt_hash_u64(0, name.id);
	bt_map_insert(&pools->named_map, pools->named.items[id].hash, id);
	return id;
}

static void index_by_name(struct bt_device_pools *pools, bt_sym name, uint32_t pool)
{
	uint32_t id = bt_named_pools_find(pools, name);

	if (id == BT_POOL_NONE) {
		id = add_named(pools, name);
	}
	bt_vec_push(&pools->named.items[id].pools, pool);
}

static void remove_value(uint32_t *items, uint32_t *count, uint32_t value)
{
	uint32_t i = 0;

	while (items[i] != value) {
		i++;
	}
	items[i] = items[--*count];
}

static void unindex_by_name(struct bt_device_pools *pools, bt_sym name, uint32_t pool)
{
	uint32_t id = bt_named_pools_find(pools, name);
	struct bt_named_pools *named = &pools->named.items[id];

	remove_value(named->pools.items, &named->pools.count, pool);
	if (named->pools.count == 0) {
		(void)bt_map_remove(&pools->named_map, named->hash, id); /* it is there */
		bt_symbol_unref(pools->dra->ids.symbols, named->name);
		named->name = BT_SYM_NONE;
		bt_vec_push(&pools->free_named, id);
	}
}

/** Which nodes may see the slice: those of its name, or any. */
static void index_slice(struct bt_device_pools *pools, const struct bt_pool_slice *slice, bool add)
{
	const struct bt_node_scope *scope = &pools->scopes.items[slice->scope];
	struct bt_pool *pool = &pools->pools.items[slice->pool];

	if (scope->kind == BT_NODE_SCOPE_NAME) {
		if (add) {
			index_by_name(pools, scope->name, slice->pool);
		} else {
			unindex_by_name(pools, scope->name, slice->pool);
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

/* --- slices --- */

static uint32_t find_slice(const struct bt_device_pools *pools, struct bt_str name, uint64_t hash)
{
	for (uint32_t at = bt_map_first(&pools->slice_map, hash); at != BT_MAP_NONE;
		at = bt_map_next(&pools->slice_map, hash, at)) {
		uint32_t id = bt_map_value(&pools->slice_map, at);
		if (bt_str_equal(pools->slices.items[id].object->meta->name, name)) {
			return id;
		}
	}
	return BT_POOL_NONE;
}

/** The slice has its object; what follows from it. */
static void enter(
	struct bt_device_pools *pools, uint32_t id, uint32_t *old_rows, uint32_t old_count)
{
	const struct bt_resource_slice *value = bt_pool_slice_value(pools, id);
	uint32_t pool = pool_of(pools, value);
	struct bt_pool_slice *slice = &pools->slices.items[id];

	slice->pool = pool;
	slice->scope = bt_node_scope_ref(
		pools, value->spec.node_name, &value->spec.all_nodes, value->spec.node_selector);
	slice->per_device = value->spec.per_device_node_selection.present &&
		value->spec.per_device_node_selection.value;
	slice->has_counters = value->spec.shared_counters.count != 0;
	bt_vec_push(&pools->pools.items[pool].slices, id);
	index_slice(pools, slice, true);
	bt_device_rows_make(pools, id, old_rows, old_count);
	bt_device_pools_changed(pools, pool);
}

/** The opposite, but for the rows. */
static void leave(struct bt_device_pools *pools, uint32_t id)
{
	struct bt_pool_slice *slice = &pools->slices.items[id];
	struct bt_pool *pool = &pools->pools.items[slice->pool];

	bt_device_pools_changed(pools, slice->pool);
	remove_value(pool->slices.items, &pool->slices.count, id);
	index_slice(pools, slice, false);
	bt_node_scope_unref(pools, slice->scope);
}

static void remove_slice(struct bt_device_pools *pools, uint32_t id)
{
	struct bt_pool_slice *slice = &pools->slices.items[id];

	leave(pools, id);
	for (uint32_t i = 0; i < slice->rows.count; i++) {
		bt_device_rows_drop(pools, slice->rows.items[i]);
	}
	slice->rows.count = 0;
	drop_pool_if_empty(pools, slice->pool);
	(void)bt_map_remove(&pools->slice_map, slice->hash, id); /* it is there */
	bt_object_release(slice->object);
	slice->object = NULL;
	bt_vec_push(&pools->free_slices, id);
}

static void add_slice(struct bt_device_pools *pools, struct bt_object *object, uint64_t hash)
{
	uint32_t id;

	if (pools->free_slices.count != 0) {
		id = pools->free_slices.items[--pools->free_slices.count];
	} else {
		id = pools->slices.count;
		bt_vec_push(&pools->slices, (struct bt_pool_slice){0});
	}
	pools->slices.items[id].object = bt_object_share(object);
	pools->slices.items[id].hash = hash;
	bt_map_insert(&pools->slice_map, hash, id);
	enter(pools, id, NULL, 0);
}

static void update_slice(struct bt_device_pools *pools, uint32_t id, struct bt_object *object)
{
	struct bt_pool_slice *slice = &pools->slices.items[id];
	struct bt_object *old_object = slice->object;
	uint32_t old_pool = slice->pool;
	uint32_t *old_rows = slice->rows.items;
	uint32_t old_count = slice->rows.count;

	leave(pools, id);
	slice->rows.items = NULL;
	slice->rows.count = 0;
	slice->rows.capacity = 0;
	slice->object = bt_object_share(object);
	enter(pools, id, old_rows, old_count);
	drop_pool_if_empty(pools, old_pool);
	bt_free(old_rows);
	bt_object_release(old_object);
}

void bt_device_pools_follow(
	struct bt_device_pools *pools, struct bt_object *old_slice, struct bt_object *new_slice)
{
	struct bt_object *either = new_slice != NULL ? new_slice : old_slice;
	uint64_t hash = bt_str_hash(either->meta->name);
	uint32_t id = find_slice(pools, either->meta->name, hash);

	if (new_slice == NULL) {
		if (id != BT_POOL_NONE) {
			remove_slice(pools, id);
		}
	} else if (id == BT_POOL_NONE) {
		add_slice(pools, new_slice, hash);
	} else {
		update_slice(pools, id, new_slice);
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

struct bt_verdict_figures bt_device_pools_figures(const struct bt_device_pools *pools)
{
	struct bt_verdict_figures figures = {.evaluated = pools->evaluated};

	for (uint32_t i = 0; i < pools->programs.count; i++) {
		figures.kept += pools->programs.items[i].known_count;
	}
	return figures;
}
