/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DRA_DEVICE_POOLS_H
#define BT_DRA_DEVICE_POOLS_H
/**
 * Pools of devices made from ResourceSlices (taint rules applied), kept from change to change,
 * which pools matter to a node, and the verdict of each selector on each device. Spec: 12
 * sections 4.5, 9.1, 9.5 and 18.
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
/** A slice as the allocator is to see it was added, changed or deleted; repairs its pool alone. */
void bt_device_pools_follow(
	struct bt_device_pools *pools, struct bt_object *old_slice, struct bt_object *new_slice);
/** Against the same made from all slices. false with what differs. */
bool bt_device_pools_validate(struct bt_device_pools *pools, struct bt_strbuf *out_reason);
size_t bt_device_pools_memory_bytes(const struct bt_device_pools *pools);

/** Slices as they are seen, in no order: *cursor = 0 at the start, NULL at the end. */
const struct bt_resource_slice *bt_device_pools_next_slice(
	const struct bt_device_pools *pools, uint32_t *cursor);

/**
 * A published device, borrowed until slices change: that of the driver, or if it has none of this
 * name the same of any other (upstream looks by pool and device alone). NULL: nobody publishes it.
 */
const struct bt_device *bt_device_pools_find_device(const struct bt_device_pools *pools,
	struct bt_str driver, struct bt_str pool, struct bt_str device);

/** For tests and measurements: verdicts computed so far, and kept now. */
struct bt_verdict_figures {
	uint64_t evaluated;
	uint64_t kept;
};
struct bt_verdict_figures bt_device_pools_figures(const struct bt_device_pools *pools);

/*
 * Device selectors, compiled once for each text. Shared by the allocator and by whoever counts
 * devices of a class (05 section 11.7). Spec: 12b section 2, 12 section 18.
 */

enum bt_verdict {
	BT_VERDICT_UNKNOWN, /* not asked yet */
	BT_VERDICT_FALSE,
	BT_VERDICT_TRUE,
	BT_VERDICT_ERROR,
};

/**
 * The verdict of one expression on a published device (its id), kept until the device's content
 * changes. Of an error err is `CEL compile error: <e>` or `CEL runtime error: <e>`, without what
 * the caller puts before it.
 */
enum bt_verdict bt_dra_select(struct bt_dra *dra, struct bt_str expression,
	const struct bt_resource_slice *slice, const struct bt_device *device, uint32_t device_id,
	struct berth_error *err);
#endif
