/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_LIB_RESOURCE_H
#define BT_LIB_RESOURCE_H
/**
 * Functions of struct berth_resource, whose scalar resources are on the heap. struct bt_resource
 * has the same amounts, but its scalar resources are in an arena.
 */
#include "api/resources.h"
#include "berth/resource.h"

/**
 * Adds (sign 1) or subtracts (sign -1) all amounts of addend except allowed_pod_number. Sums wrap
 * around. If sum has no entry for a scalar resource of addend, the function creates an entry.
 * Entries whose value becomes 0 stay.
 */
void bt_lib_resource_accumulate(
	struct berth_resource *sum, const struct bt_resource *addend, int64_t sign);
#endif
