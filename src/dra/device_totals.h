/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DRA_DEVICE_TOTALS_H
#define BT_DRA_DEVICE_TOTALS_H
/**
 * How many devices of a class a node reaches, and how many of them are allocated: what the resource
 * scores see of an extended resource that devices stand behind. Pools need not be complete for
 * this, and taints do not matter. Spec: 05 section 11.7.
 *
 * Kept from cycle to cycle: the devices of a class by node, and those that every node reaches once
 * for all of them.
 */
#include "api/types.h"
#include "dra/dra.h"

struct bt_device_totals {
	int64_t devices;
	int64_t allocated; /* of them */
};

/**
 * device_class: of the map of classes (bt_device_class_for_resource). Both 0 where a selector
 * fails or cannot be parsed.
 */
struct bt_device_totals bt_dra_device_totals(
	struct bt_dra *dra, const struct bt_device_class *device_class, uint32_t slot);
/** The same without anything kept, for BERTH_VERIFY=1. */
struct bt_device_totals bt_dra_device_totals_anew(
	struct bt_dra *dra, const struct bt_device_class *device_class, uint32_t slot);

/* For dra.c. */
void bt_device_totals_destroy(struct bt_device_totals_cache *cache);
size_t bt_device_totals_memory_bytes(const struct bt_device_totals_cache *cache);
#endif
