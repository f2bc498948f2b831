/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DRA_DEVICE_TOTALS_H
#define BT_DRA_DEVICE_TOTALS_H
/**
 * Number of devices of a class that a node can use, and how many of them are allocated: the input
 * of the resource scores for extended resources that devices provide. Devices of incomplete pools
 * count, too, and taints are ignored. Spec: 05 section 11.7.
 *
 * The totals are cached between cycles. Devices that every node can use are listed once, other
 * devices by node.
 */
#include "api/types.h"
#include "dra/dra.h"

struct bt_device_totals {
	int64_t devices;
	int64_t allocated; /* number of these devices that are allocated */
};

/**
 * Get the totals of a class on a node. device_class: from the map of classes
 * (bt_device_class_for_resource). Both totals are 0 if a selector of the class fails with an error,
 * or if a node selector cannot be parsed.
 */
struct bt_device_totals bt_dra_device_totals(
	struct bt_dra *dra, const struct bt_device_class *device_class, uint32_t slot);
/** Compute the totals without any cache, for BERTH_VERIFY=1. */
struct bt_device_totals bt_dra_device_totals_anew(
	struct bt_dra *dra, const struct bt_device_class *device_class, uint32_t slot);

void bt_device_totals_destroy(struct bt_device_totals_cache *cache);
#endif
