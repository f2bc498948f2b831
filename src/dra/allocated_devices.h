/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DRA_ALLOCATED_DEVICES_H
#define BT_DRA_ALLOCATED_DEVICES_H
/**
 * Which devices claims hold, allocated and in flight: kept, not counted anew. Upstream keeps plain
 * sets, one for claims of the API and one view with those in flight; so does this. Spec: 12 section
 * 4.3.
 */
#include "api/quantity.h"
#include "api/resource_claim.h"
#include "base/bitset.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "dra/device_ids.h"

struct bt_dra;

/** Capacity that shares of a device have consumed: exact sums by name. */
struct bt_consumed_capacity {
	bt_sym symbol; /* reference held: its text is name */
	struct bt_str name;
	struct bt_quantity quantity; /* by all */
	struct bt_quantity api;      /* of it by claims of the API */
};

/** What is kept of a device that is shared. */
struct bt_shared_device {
	uint32_t device;      /* id; reference held; BT_DEVICE_NONE: free */
	uint32_t share_count; /* distinct shares, API and in flight */
	/** The aggregate has an entry: because of claims of the API, of so many results in flight.
	 */
	bool api_consumes;
	uint32_t in_flight_consumes;
	BT_VEC(struct bt_consumed_capacity) consumed;
};

struct bt_device_share {
	uint32_t device; /* id; reference held; BT_DEVICE_NONE: free */
	bt_sym share_id; /* reference held */
	bool api;
	uint32_t in_flight;
	uint64_t hash;
};

struct bt_allocated_devices {
	struct bt_dra *dra;
	struct bt_bitset dedicated; /* by device id, claims in flight included */
	struct bt_bitset held;      /* dedicated, or shared, or with an aggregate */
	struct bt_bitset api;       /* dedicated by claims of the API: a set, not counted */
	BT_VEC(uint32_t) in_flight; /* by device id: dedicated results in flight */
	struct bt_map shared_by_device;
	BT_VEC(struct bt_shared_device) shared;
	BT_VEC(uint32_t) shared_free;
	struct bt_map share_map; /* (device, shareID) */
	BT_VEC(struct bt_device_share) shares;
	BT_VEC(uint32_t) share_free;
	uint64_t version; /* grows with every change */
	/** By pool id: version of its last change, for what is derived from a pool's devices. */
	BT_VEC(uint64_t) pool_versions;
	/** By device id: results of claims of the API. Where there are any: a reference. */
	BT_VEC(uint32_t) api_results;
	/**
	 * Devices that two claims of the API have held: what is kept of them depends on what came
	 * first, and cannot be made anew from the claims until no claim of the API holds them.
	 * Those of an allocation that was replaced by another, which the API does not allow, for
	 * ever.
	 */
	struct bt_bitset history;
	uint32_t history_count;
};

void bt_allocated_devices_init(struct bt_allocated_devices *allocated, struct bt_dra *dra);
void bt_allocated_devices_finish(struct bt_allocated_devices *allocated);

/** A claim's latest object changed (spec 12 section 4.3: only nil->set and set->nil count). */
void bt_allocated_devices_follow(struct bt_allocated_devices *allocated,
	const struct bt_resource_claim *old_claim, const struct bt_resource_claim *new_claim);
/** An allocation goes into flight or comes out of it. */
void bt_allocated_devices_signal(
	struct bt_allocated_devices *allocated, const struct bt_allocation_result *allocation);
void bt_allocated_devices_land(
	struct bt_allocated_devices *allocated, const struct bt_allocation_result *allocation);

static inline bool bt_allocated_is_dedicated(
	const struct bt_allocated_devices *allocated, uint32_t device_id)
{
	return bt_bitset_get(&allocated->dedicated, device_id);
}

/** "Device allocated": dedicated, shared, or some of its capacity is consumed. */
static inline bool bt_allocated_is_held(
	const struct bt_allocated_devices *allocated, uint32_t device_id)
{
	return bt_bitset_get(&allocated->held, device_id);
}

/** Taking claims away and giving them back may not lead to what there was. */
static inline bool bt_allocated_has_history(const struct bt_allocated_devices *allocated)
{
	return allocated->history_count != 0;
}

/** When something of the pool changed last; 0: never. */
static inline uint64_t bt_allocated_pool_version(
	const struct bt_allocated_devices *allocated, uint32_t pool_id)
{
	return pool_id < allocated->pool_versions.count ? allocated->pool_versions.items[pool_id]
							: 0;
}

/** What is consumed of a device; NULL: the aggregate has no entry for it. */
const struct bt_shared_device *bt_allocated_consumed(
	const struct bt_allocated_devices *allocated, uint32_t device_id);
/** What of it is consumed; NULL: nothing of this name. */
const struct bt_quantity *bt_shared_device_consumed(
	const struct bt_shared_device *shared, struct bt_str capacity);

/** Against the same made anew from the cache's claims, without the devices with a history. */
bool bt_allocated_devices_validate(
	const struct bt_allocated_devices *allocated, struct bt_strbuf *out_reason);
size_t bt_allocated_devices_memory_bytes(const struct bt_allocated_devices *allocated);
#endif
