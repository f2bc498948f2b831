/* SPDX-License-Identifier: Apache-2.0 */
#include "dra/device_ids.h"

static uint64_t hash_of(bt_sym driver, bt_sym pool, bt_sym device)
{
	return bt_hash_u64(bt_hash_u64(bt_hash_u64(0, driver.id), pool.id), device.id);
}

static uint64_t stored_hash(const void *owner, uint32_t id)
{
	return ((const struct bt_device_ids *)owner)->items.items[id].hash;
}

void bt_device_ids_init(struct bt_device_ids *ids, struct bt_symbol_table *symbols)
{
	*ids = (struct bt_device_ids){.symbols = symbols};
	bt_map_init(&ids->map, stored_hash, ids);
}

void bt_device_ids_finish(struct bt_device_ids *ids)
{
	bt_map_finish(&ids->map);
	bt_vec_finish(&ids->items);
	bt_vec_finish(&ids->free_ids);
}

static uint32_t find(const struct bt_device_ids *ids, bt_sym driver, bt_sym pool, bt_sym device)
{
	uint64_t hash = hash_of(driver, pool, device);

	for (uint32_t at = bt_map_first(&ids->map, hash); at != BT_MAP_NONE;
		at = bt_map_next(&ids->map, hash, at)) {
		uint32_t id = bt_map_value(&ids->map, at);
		const struct bt_device_identity *item = &ids->items.items[id];
		if (item->driver.id == driver.id && item->pool.id == pool.id &&
			item->device.id == device.id) {
			return id;
		}
	}
	return BT_DEVICE_NONE;
}

uint32_t bt_device_ids_find(const struct bt_device_ids *ids, struct bt_str driver,
	struct bt_str pool, struct bt_str device)
{
	/* A text that is not interned is in no identity: no number is BT_SYM_NONE. */
	return find(ids, bt_symbol_find(ids->symbols, driver), bt_symbol_find(ids->symbols, pool),
		bt_symbol_find(ids->symbols, device));
}

/** References to the symbols are taken over. */
static uint32_t add(struct bt_device_ids *ids, const struct bt_device_identity *item)
{
	uint32_t id;

	if (ids->free_ids.count != 0) {
		id = ids->free_ids.items[--ids->free_ids.count];
		ids->items.items[id] = *item;
	} else {
		id = ids->items.count;
		bt_vec_push(&ids->items, *item);
	}
	bt_map_insert(&ids->map, item->hash, id);
	return id;
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
		item.hash = hash_of(item.driver, item.pool, item.device);
		if (device.length != 0) {
			item.pool_id = bt_device_ids_ref(ids, driver, pool, BT_STR(""));
		}
		id = add(ids, &item);
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
	(void)bt_map_remove(&ids->map, item.hash, id); /* it is there */
	bt_symbol_unref(ids->symbols, item.driver);
	bt_symbol_unref(ids->symbols, item.pool);
	bt_symbol_unref(ids->symbols, item.device);
	bt_vec_push(&ids->free_ids, id);
	if (item.pool_id != BT_DEVICE_NONE) {
		bt_device_ids_unref(ids, item.pool_id);
	}
}
