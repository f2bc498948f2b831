/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DRA_ALLOCATED_DEVICES_PRIVATE_H
#define BT_DRA_ALLOCATED_DEVICES_PRIVATE_H
/** Between allocated_devices.c and allocated_shares.c, which keeps the devices that are shared. */
#include "dra/allocated_devices.h"

/** What is kept of a shared device; NULL: nothing. */
struct bt_shared_device *bt_allocated_find_shared(
	const struct bt_allocated_devices *allocated, uint32_t device_id);
void bt_allocated_add_shared(struct bt_allocated_devices *allocated, uint32_t device_id,
	const struct bt_device_request_allocation_result *result, bool in_flight);
void bt_allocated_remove_shared(struct bt_allocated_devices *allocated, uint32_t device_id,
	const struct bt_device_request_allocation_result *result, bool in_flight);
/** Until no claim of the API holds the device. */
void bt_allocated_set_history(struct bt_allocated_devices *allocated, uint32_t device_id);
/** Let go of everything; the vectors stay. */
void bt_allocated_finish_shared(struct bt_allocated_devices *allocated);
/** Whether removing the one undoes adding the other. */
bool bt_allocated_are_same_devices(
	const struct bt_allocation_result *a, const struct bt_allocation_result *b);
#endif
