/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DRA_DRA_H
#define BT_DRA_DRA_H
/**
 * Dynamic resource allocation: what one scheduler knows of claims and devices, shared by all
 * profiles. It hangs on the state, follows the object store's claims, slices, classes and taint
 * rules by itself (bt_object_store_listen), and is repaired by each change instead of being made
 * anew. Spec: 12 section 4.
 */
#include "config/gates.h"
#include "dra/allocated_devices.h"
#include "dra/claim_cache.h"
#include "dra/device_class_map.h"
#include "dra/device_ids.h"
#include "dra/taint_rules.h"
#include "state/state.h"

struct bt_device_pools;        /* dra/device_pools.h */
struct bt_device_totals_cache; /* dra/device_totals.h */

/**
 * Told of every slice that a DeviceTaintRule changed, as the allocator sees it before and after:
 * for the scheduler's queue, which hears of changes of the slices themselves from elsewhere.
 * Borrowed for the call. Spec: 12 section 4.5.
 */
struct bt_patched_slice_listener {
	void (*changed)(void *context, struct bt_object *old_slice, struct bt_object *new_slice);
	void *context;
};

struct bt_dra {
	struct bt_state *state;
	struct bt_gates own_gates;
	const struct bt_gates *gates; /* those */
	struct bt_device_ids ids;
	struct bt_claim_cache claims;
	struct bt_allocated_devices allocated;
	struct bt_device_class_map classes;
	struct bt_taint_rules taint_rules;
	struct bt_device_pools *pools;
	struct bt_device_totals_cache *totals;                   /* NULL: nobody has asked */
	struct bt_patched_slice_listener patched_slice_listener; /* changed NULL: nobody listens */
};

/**
 * The state's, made when the first one asks: objects that are in the store already are read. gates:
 * copied; those of the first one count.
 */
struct bt_dra *bt_dra_of(struct bt_state *state, const struct bt_gates *gates);
/** The class behind an extended resource, borrowed until classes change; NULL: none, or nobody has
 * asked for the state's. */
static inline const struct bt_device_class *bt_dra_class_of(
	const struct bt_state *state, struct bt_str resource)
{
	return state->dra != NULL ? bt_device_class_for_resource(&state->dra->classes, resource)
				  : NULL;
}
/**
 * Everything kept against the same made anew from the store (BERTH_VERIFY=1). false with what
 * differs.
 */
bool bt_dra_validate(struct bt_dra *dra, struct bt_strbuf *out_reason);
#endif
