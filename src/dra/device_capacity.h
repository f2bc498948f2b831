/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DRA_DEVICE_CAPACITY_H
#define BT_DRA_DEVICE_CAPACITY_H
/**
 * Computes how much of a device's capacity a request consumes, and which taints block a request.
 * Works on plain structures. Spec: 12 sections 9.6 and 9.7.
 */
#include "api/quantity.h"
#include "api/resource_claim.h"
#include "api/types.h"
#include "base/int128.h"
#include "dra/dra.h"

/**
 * Returns the amount of the capacity that a request consumes, after the request policy of the
 * capacity is applied. request: the requested amount; NULL: the request does not name the capacity.
 */
struct bt_quantity bt_device_capacity_consumed(
	const struct bt_quantity *request, const struct bt_device_capacity *capacity);

/**
 * Whether the device has all requested capacities, and every capacity has room for the request.
 * requests: amounts by capacity name, or NULL. consumed: amounts that other shares of the device
 * consume, or NULL. own: amounts that shares taken in this call of the allocator consume, by index
 * of the capacity, or NULL.
 */
bool bt_device_capacity_fits(const struct bt_device *device,
	const struct bt_resource_list *requests, const struct bt_shared_device *consumed,
	const bt_int128 *own);

/** Whether the effect is NoSchedule or NoExecute. */
bool bt_device_taint_blocks(const struct bt_device_taint *taint);
/** Returns the first taint that blocks the request and is not tolerated; NULL: none. */
const struct bt_device_taint *bt_device_find_untolerated_taint(const struct bt_device *device,
	const struct bt_device_toleration *tolerations, uint32_t count);

/*
 * Amounts of counters and capacities as plain integers in units of 10^-9, the finest resolution of
 * a quantity, so that a search adds and compares them without allocating memory. They are exact up
 * to BT_DEVICE_AMOUNT_MAX (10^30 units, an amount of 10^21); larger amounts are clamped to that
 * value.
 */

#define BT_DEVICE_AMOUNT_ONE ((bt_int128)1000000000)
#define BT_DEVICE_AMOUNT_MAX \
	(BT_DEVICE_AMOUNT_ONE * BT_DEVICE_AMOUNT_ONE * BT_DEVICE_AMOUNT_ONE * 1000)

bt_int128 bt_device_amount(const struct bt_quantity *quantity);
#endif
