/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DRA_DEVICE_POOLS_H
#define BT_DRA_DEVICE_POOLS_H
/**
 * Pools of devices, the pools that each node can use, and the verdict of each selector on each
 * device. The pools are made from ResourceSlices, with the taints of DeviceTaintRules added, and
 * are updated incrementally. Spec: 12 sections 4.5, 9.1, 9.5 and 18.
 */
#include "api/types.h"
#include "base/arena.h"
#include "base/error.h"
#include "dra/dra.h"
#include "state/object_store.h"

struct bt_dra;
struct bt_device_pools;

struct bt_device_pools *bt_device_pools_create(struct bt_dra *dra);
void bt_device_pools_destroy(struct bt_device_pools *pools);
/**
 * A slice (with the taints of rules) was added, changed or deleted: update its pool. old_slice or
 * new_slice is NULL for an added or deleted slice.
 */
void bt_device_pools_observe(
	struct bt_device_pools *pools, struct bt_object *old_slice, struct bt_object *new_slice);
/** Find a slice, with the taints of rules, by its name; borrowed. NULL: there is no such slice. */
struct bt_object *bt_device_pools_find_slice(
	const struct bt_device_pools *pools, struct bt_str name);
/**
 * Compare the pools with pools made anew from all slices. Returns false if they differ; *out_reason
 * names a difference.
 */
bool bt_device_pools_validate(struct bt_device_pools *pools, struct bt_strbuf *out_reason);

/**
 * Iterate over all slices, with the taints of rules. Start with *cursor = 0; returns NULL at the
 * end.
 */
const struct bt_resource_slice *bt_device_pools_next_slice(
	const struct bt_device_pools *pools, uint32_t *cursor);

/**
 * Find a published device; NULL if no slice publishes it. If the driver has no such device, returns
 * a device of another driver with the same pool and device name, because upstream compares only
 * these two names. Borrowed until slices change.
 */
const struct bt_device *bt_device_pools_find_device(const struct bt_device_pools *pools,
	struct bt_str driver, struct bt_str pool, struct bt_str device);

/*
 * Device selectors, compiled once for each text. The allocator and the code that counts devices of
 * a class (05 section 11.7) share them. Spec: 12b section 2, 12 section 18.
 */

enum bt_verdict {
	BT_VERDICT_UNKNOWN, /* not evaluated yet */
	BT_VERDICT_FALSE,
	BT_VERDICT_TRUE,
	BT_VERDICT_ERROR,
};

/**
 * Returns the verdict of an expression on a device of the slice. device_id: id of the device. If
 * the slice is published, the verdict is cached until the content of the device changes. If the
 * verdict is ERROR, err is `CEL compile error: <e>` or `CEL runtime error: <e>`; the caller adds
 * any prefix.
 */
enum bt_verdict bt_dra_select(struct bt_dra *dra, struct bt_str expression,
	const struct bt_resource_slice *slice, const struct bt_device *device, uint32_t device_id,
	struct berth_error *err);
#endif
