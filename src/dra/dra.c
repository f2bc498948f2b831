/* SPDX-License-Identifier: Apache-2.0 */
#include "dra/dra.h"

#include "base/alloc.h"
#include "dra/device_pools.h"
#include "dra/device_totals.h"

static uint64_t identity_hash(bt_sym driver, bt_sym pool, bt_sym device)
{
	return bt_hash_u64(bt_hash_u64(bt_hash_u64(0, driver.id), pool.id), device.id);
}

uint32_t bt_device_ids_find(const struct bt_device_ids *ids, struct bt_str driver_name,
	struct bt_str pool_name, struct bt_str device_name)
{
	/* A name that is not interned gives BT_SYM_NONE, which no identity contains. */
	bt_sym driver = bt_symbol_find(ids->symbols, driver_name);
	bt_sym pool = bt_symbol_find(ids->symbols, pool_name);
	bt_sym device = bt_symbol_find(ids->symbols, device_name);
	uint64_t hash = identity_hash(driver, pool, device);

	BT_MAP_EACH (&ids->items.map, hash, id) {
		const struct bt_device_identity *item = &ids->items.items[id];
		if (item->driver.id == driver.id && item->pool.id == pool.id &&
			item->device.id == device.id) {
			return id;
		}
	}
	return BT_DEVICE_NONE;
}

uint32_t bt_device_ids_ref(
	struct bt_device_ids *ids, struct bt_str driver, struct bt_str pool, struct bt_str device)
{
	uint32_t id = bt_device_ids_find(ids, driver, pool, device);

	if (id == BT_DEVICE_NONE) {
		struct bt_device_identity item = {
			.driver = bt_symbol_ref_str(ids->symbols, driver),
			.pool = bt_symbol_ref_str(ids->symbols, pool),
			.device = bt_symbol_ref_str(ids->symbols, device),
			.pool_id = BT_DEVICE_NONE,
		};
		item.hash = identity_hash(item.driver, item.pool, item.device);
		if (device.length != 0) {
			item.pool_id = bt_device_ids_ref(ids, driver, pool, BT_STR(""));
		}
		bt_hash_table_add(&ids->items, item.hash, item, id);
	}
	ids->items.items[id].ref_count++;
	return id;
}

void bt_device_ids_unref(struct bt_device_ids *ids, uint32_t id)
{
	struct bt_device_identity item = ids->items.items[id];

	if (--ids->items.items[id].ref_count != 0) {
		return;
	}
	bt_hash_table_remove(&ids->items, item.hash, id);
	bt_symbol_unref(ids->symbols, item.driver);
	bt_symbol_unref(ids->symbols, item.pool);
	bt_symbol_unref(ids->symbols, item.device);
	if (item.pool_id != BT_DEVICE_NONE) {
		bt_device_ids_unref(ids, item.pool_id);
	}
}

typedef void (*bt_object_changed)(
	void *context, struct bt_object *old_object, struct bt_object *new_object);

/** Taint rules come before slices, because reading a slice applies the rules to it. */
static const struct {
	enum bt_kind kind;
	bt_object_changed changed;
} followed[] = {
	{BT_KIND_DEVICE_TAINT_RULE, bt_taint_rules_observe_rule},
	{BT_KIND_RESOURCE_SLICE, bt_taint_rules_observe_slice},
	{BT_KIND_DEVICE_CLASS, bt_device_class_map_observe},
	{BT_KIND_RESOURCE_CLAIM, bt_claim_cache_observe},
};

static void destroy(struct bt_dra *dra)
{
	for (size_t i = 0; i < sizeof(followed) / sizeof(followed[0]); i++) {
		bt_object_store_listen(&dra->state->objects, followed[i].kind,
			(struct bt_object_listener){NULL, NULL});
	}
	bt_device_totals_destroy(dra->totals);
	bt_device_pools_destroy(dra->pools);
	bt_device_class_map_finish(&dra->classes);
	bt_allocated_devices_finish(&dra->allocated);
	bt_claim_cache_finish(&dra->claims);
	bt_hash_table_finish(&dra->ids.items);
	bt_free(dra);
}

struct bt_dra *bt_dra_of(struct bt_state *state, const struct bt_gates *gates)
{
	struct bt_dra *dra = state->dra;

	if (dra != NULL) {
		return dra;
	}
	dra = BT_NEW(struct bt_dra);
	dra->state = state;
	dra->own_gates = *gates;
	dra->gates = &dra->own_gates;
	dra->ids = (struct bt_device_ids){.symbols = &state->symbols};
	dra->claims.dra = dra;
	dra->allocated.dra = dra;
	dra->classes.dra = dra;
	dra->pools = bt_device_pools_create(dra);
	state->dra = dra;
	state->destroy_dra = destroy;
	for (size_t i = 0; i < sizeof(followed) / sizeof(followed[0]); i++) {
		enum bt_kind kind = followed[i].kind;
		bt_object_changed changed = followed[i].changed;
		struct bt_object_store *store = &dra->state->objects;
		const struct bt_object_meta *meta; /* first member of the structure of every kind */
		uint32_t cursor = 0;

		while ((meta = bt_object_store_next(
				store, kind, (struct bt_str){NULL, 0}, &cursor)) != NULL) {
			changed(dra, NULL,
				bt_object_store_find_object(
					store, kind, meta->namespace_, meta->name));
		}
		bt_object_store_listen(&state->objects, followed[i].kind,
			(struct bt_object_listener){followed[i].changed, dra});
	}
	return dra;
}

bool bt_dra_validate(struct bt_dra *dra, struct bt_strbuf *out_reason)
{
	return bt_claim_cache_validate(&dra->claims, out_reason) &&
		bt_allocated_devices_validate(&dra->allocated, out_reason) &&
		bt_device_class_map_validate(&dra->classes, out_reason) &&
		bt_taint_rules_validate(dra, out_reason) &&
		bt_device_pools_validate(dra->pools, out_reason);
}
