/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DRA_DEVICE_CAPACITY_H
#define BT_DRA_DEVICE_CAPACITY_H
/**
 * What a request takes of a device's capacity, and which taints keep a request away: rules on plain
 * structures. Spec: 12 sections 9.6 and 9.7.
 */
#include "api/quantity.h"
#include "api/resource_claim.h"
#include "api/types.h"
#include "base/int128.h"
#include "dra/dra.h"

/** What the request (NULL: nothing in particular) takes of this capacity. */
struct bt_quantity bt_device_capacity_consumed(
	const struct bt_quantity *request, const struct bt_device_capacity *capacity);

/**
 * All capacities of the device have room for the request. requests: by name; may be NULL.
 * consumed: what its other shares take; NULL: none. own: by index of the capacity, what this call
 * has given to shares already; NULL: nothing.
 */
bool bt_device_capacity_fits(const struct bt_device *device,
	const struct bt_resource_list *requests, const struct bt_shared_device *consumed,
	const bt_int128 *own);

/** NoSchedule or NoExecute. */
bool bt_device_taint_blocks(const struct bt_device_taint *taint);
bool bt_device_taint_is_tolerated(const struct bt_device_taint *taint,
	const struct bt_device_toleration *tolerations, uint32_t count);

/*
 * Amounts of counters and capacities as plain numbers: 10^-9 units, the finest a quantity can be,
 * so that a search adds and compares without memory. Exact up to BT_DEVICE_AMOUNT_MAX (10^30
 * units, an amount of 10^21); beyond, everything is that much.
 */

#define BT_DEVICE_AMOUNT_ONE ((bt_int128)1000000000)
#define BT_DEVICE_AMOUNT_MAX \
	(BT_DEVICE_AMOUNT_ONE * BT_DEVICE_AMOUNT_ONE * BT_DEVICE_AMOUNT_ONE * 1000)

bt_int128 bt_device_amount(const struct bt_quantity *quantity);
#endif
