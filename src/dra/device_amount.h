/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DRA_DEVICE_AMOUNT_H
#define BT_DRA_DEVICE_AMOUNT_H
/**
 * Amounts of counters and capacities as plain numbers: 10^-9 units, the finest a quantity can be,
 * so that a search adds and compares without memory. Exact up to BT_DEVICE_AMOUNT_MAX (10^30
 * units, an amount of 10^21); beyond, everything is that much.
 */
#include "api/quantity.h"
#include "base/int128.h"

#define BT_DEVICE_AMOUNT_ONE ((bt_int128)1000000000)
#define BT_DEVICE_AMOUNT_MAX \
	(BT_DEVICE_AMOUNT_ONE * BT_DEVICE_AMOUNT_ONE * BT_DEVICE_AMOUNT_ONE * 1000)

bt_int128 bt_device_amount(const struct bt_quantity *quantity);
#endif
