/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DRA_SELECTORS_H
#define BT_DRA_SELECTORS_H
/**
 * Device selectors, compiled once for each text. Shared by the allocator and by whoever counts
 * devices of a class (05 section 11.7). Spec: 12b section 2, 12 section 18.
 */
#include "api/resource_claim.h"
#include "api/types.h"
#include "base/arena.h"
#include "base/error.h"

struct bt_dra;

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
