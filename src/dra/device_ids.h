/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DRA_DEVICE_IDS_H
#define BT_DRA_DEVICE_IDS_H
/**
 * Devices and pools by small numbers: (driver, pool) and (driver, pool, device name), whether a
 * slice publishes them, a claim holds them, or both. A number lives while somebody holds a
 * reference to it and may be used again afterwards.
 */
#include "base/map.h"
#include "base/symbol.h"
#include "base/vec.h"

struct bt_device_identity {
	bt_sym driver;
	bt_sym pool;
	bt_sym device;    /* BT_SYM_EMPTY: the pool itself */
	uint32_t pool_id; /* of a device: reference held */
	uint32_t ref_count;
	uint64_t hash;
};

struct bt_device_ids {
	struct bt_symbol_table *symbols; /* the state's */
	struct bt_map map;
	BT_VEC(struct bt_device_identity) items;
	BT_VEC(uint32_t) free_ids;
};

#define BT_DEVICE_NONE UINT32_MAX

void bt_device_ids_init(struct bt_device_ids *ids, struct bt_symbol_table *symbols);
void bt_device_ids_finish(struct bt_device_ids *ids);
/** The number, one reference taken. device "": the pool. */
uint32_t bt_device_ids_ref(
	struct bt_device_ids *ids, struct bt_str driver, struct bt_str pool, struct bt_str device);
/** Another reference to a number that somebody holds. Returns it. */
static inline uint32_t bt_device_ids_share(struct bt_device_ids *ids, uint32_t id)
{
	ids->items.items[id].ref_count++;
	return id;
}
void bt_device_ids_unref(struct bt_device_ids *ids, uint32_t id);
/** Without taking a reference; BT_DEVICE_NONE: nobody has it. */
uint32_t bt_device_ids_find(const struct bt_device_ids *ids, struct bt_str driver,
	struct bt_str pool, struct bt_str device);
static inline uint32_t bt_device_ids_pool_of(const struct bt_device_ids *ids, uint32_t device_id)
{
	return ids->items.items[device_id].pool_id;
}
#endif
