/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DRA_DRA_H
#define BT_DRA_DRA_H
/**
 * Dynamic resource allocation: the state of claims and devices of one scheduler, shared by all
 * profiles. struct bt_dra belongs to the state, listens to claims, slices, classes and taint rules
 * of the object store (bt_object_store_listen), and is updated incrementally. Spec: 12 section 4.
 */
#include "api/object.h"
#include "api/quantity.h"
#include "api/resource_claim.h"
#include "api/types.h"
#include "base/bitset.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "base/symbol.h"
#include "base/hash_table.h"
#include "config/gates.h"
#include "state/object_store.h"
#include "state/state.h"

struct bt_dra;
struct bt_device_pools;        /* dra/device_pools.h */
struct bt_device_totals_cache; /* dra/device_totals.h */

/*
 * Ids of pools and devices: small numbers for (driver, pool) and (driver, pool, device name). An id
 * exists while a slice publishes the device or a claim holds it. Ids are reference-counted; a free
 * id is reused.
 */

#define BT_DEVICE_NONE UINT32_MAX

struct bt_device_identity {
	bt_sym driver;
	bt_sym pool;
	bt_sym device;    /* BT_SYM_EMPTY: the pool itself */
	uint32_t pool_id; /* for a device: id of its pool, reference held */
	uint32_t ref_count;
	uint64_t hash;
};

struct bt_device_ids {
	struct bt_symbol_table *symbols; /* borrowed from the scheduler's state */
	BT_HASH_TABLE(struct bt_device_identity) items;
};

/** Find or create an id, with one reference for the caller. device "": the id of the pool. */
uint32_t bt_device_ids_ref(
	struct bt_device_ids *ids, struct bt_str driver, struct bt_str pool, struct bt_str device);
/** Take another reference to an id that is in use. Returns the id. */
static inline uint32_t bt_device_ids_share(struct bt_device_ids *ids, uint32_t id)
{
	ids->items.items[id].ref_count++;
	return id;
}
void bt_device_ids_unref(struct bt_device_ids *ids, uint32_t id);
/** Find an id, without taking a reference. BT_DEVICE_NONE: there is none. */
uint32_t bt_device_ids_find(const struct bt_device_ids *ids, struct bt_str driver,
	struct bt_str pool, struct bt_str device);
static inline uint32_t bt_device_ids_pool_of(const struct bt_device_ids *ids, uint32_t device_id)
{
	return ids->items.items[device_id].pool_id;
}

/*
 * Cache of ResourceClaims. For each claim, the cache has the newest object from the API server and
 * the latest object, which may be an assumed one. The cache also has the allocations in flight
 * (decided, but not written yet). Spec: 12 sections 4.1 and 4.2.
 */

struct bt_cached_claim {
	struct bt_object *api;    /* reference held; NULL: free */
	struct bt_object *latest; /* reference held; may be equal to api */
	uint64_t hash;
	uint64_t owner_hash; /* special claims: hash of the owner's uid; others: 0 */
};

/** Marks a claim that the scheduler made for the extended resources of a pod. */
#define BT_SPECIAL_CLAIM_ANNOTATION BT_STR_INIT("resource.kubernetes.io/extended-resource-claim")

/** An allocation in flight: from Reserve until the claim is written or the write has failed. */
struct bt_in_flight_claim {
	char *uid; /* owned */
	uint32_t uid_length;
	struct bt_object *claim; /* status.allocation is set; reference held; NULL: free */
	uint32_t sharers;        /* number of pods that use the allocation */
	uint64_t hash;
};

/**
 * Called when the latest version of a claim changes. old_claim is NULL for an added claim,
 * new_claim is NULL for a deleted claim. Both are borrowed for the call.
 */
struct bt_claim_listener {
	void (*changed)(void *context, struct bt_object *old_claim, struct bt_object *new_claim);
	void *context;
};

struct bt_claim_cache {
	struct bt_dra *dra;
	BT_HASH_TABLE(struct bt_cached_claim) claims;
	struct bt_map special_map; /* special claims by owner */
	BT_HASH_TABLE(struct bt_in_flight_claim) in_flight;
	/**
	 * The listener of the scheduler's queue. Called after the cache and the allocated devices
	 * are updated.
	 */
	struct bt_claim_listener listener;
	/** Grows when the latest version of a claim or the claims in flight change. */
	uint64_t version;
};

void bt_claim_cache_finish(struct bt_claim_cache *cache);

/**
 * A claim of the store was added, updated or deleted. Ignores an update whose version is not newer
 * than the version of the latest object. (If such an update equals the latest object, the cache
 * keeps the update's object instead, and calls no listener.) Versions are compared as integers, and
 * an object without version (from a file) always counts as newer.
 */
void bt_claim_cache_observe(void *dra, struct bt_object *old_claim, struct bt_object *new_claim);

/**
 * Returns the latest object, borrowed until the cache changes. NULL: not found; the caller sets the
 * error `could not find ResourceClaim "<ns>/<name>"`.
 */
struct bt_object *bt_claim_cache_find(
	const struct bt_claim_cache *cache, struct bt_str namespace_, struct bt_str name);
/**
 * Returns the claim of an entry of the pod's resourceClaims, borrowed until the cache changes;
 * NULL: none.
 */
struct bt_object *bt_dra_claim_of(const struct bt_state *state, const struct bt_pod *pod,
	const struct bt_pod_resource_claim *entry);
/**
 * Returns the special claim of a pod (spec 12 section 14.1). Claims of all namespaces are searched;
 * if several match, returns the first by namespace and name. Borrowed until the cache changes;
 * NULL: none.
 */
struct bt_object *bt_claim_cache_find_special(
	const struct bt_claim_cache *cache, struct bt_str pod_name, struct bt_str pod_uid);
/**
 * Iterate over the latest versions of all claims, in no order. Start with *cursor = 0; returns NULL
 * at the end.
 */
struct bt_object *bt_claim_cache_next(const struct bt_claim_cache *cache, uint32_t *cursor);

/**
 * Make an assumed claim the latest object, and call the listener with an update. Takes a reference
 * to claim. Fails with BERTH_ERR_NOT_FOUND or BERTH_ERR_STATE and the error texts of spec 12
 * section 4.1.
 */
BT_MUST_USE int bt_claim_cache_assume(
	struct bt_claim_cache *cache, struct bt_object *claim, struct berth_error *err);
/** Make the object from the API server the latest again. Calls the listener if the claim exists. */
void bt_claim_cache_restore(
	struct bt_claim_cache *cache, struct bt_str namespace_, struct bt_str name);

/**
 * Add a user of an allocation in flight. If an allocation with the uid is in flight already, its
 * object stays. Takes a reference to claim, whose status.allocation must be set.
 */
void bt_claim_cache_signal(
	struct bt_claim_cache *cache, struct bt_str uid, struct bt_object *claim);
/** Returns the allocation in flight for the uid, borrowed; NULL: none. */
const struct bt_allocation_result *bt_claim_cache_pending(
	const struct bt_claim_cache *cache, struct bt_str uid);
/**
 * Remove one user of the allocation or, if `force` is true, all users. Returns true if the last
 * user was removed: the allocation is then no longer in flight. Returns false if a user is left, or
 * if no allocation was in flight.
 */
bool bt_claim_cache_maybe_remove(struct bt_claim_cache *cache, struct bt_str uid, bool force);

/**
 * Check that the cache and the store have claims with the same namespaces and names. The versions
 * are not compared, because they depend on the order of events.
 */
bool bt_claim_cache_validate(const struct bt_claim_cache *cache, struct bt_strbuf *out_reason);

/*
 * Devices that claims hold, updated incrementally. The set `api` has the devices of claims from the
 * API server; the set `dedicated` also has the devices of claims in flight. As in upstream, the
 * sets do not count how many claims hold a device. Spec: 12 section 4.3.
 */

/** Capacity consumed by all shares of a device: exact sums by capacity name. */
struct bt_consumed_capacity {
	bt_sym symbol; /* reference held; `name` is its text */
	struct bt_str name;
	struct bt_quantity quantity; /* consumed by all claims */
	struct bt_quantity api; /* the part of `quantity` that claims of the API server consume */
};

/** State of a device that is shared. */
struct bt_shared_device {
	uint32_t device; /* id; reference held; BT_DEVICE_NONE: free */
	/** Number of distinct shares that claims from the API server or claims in flight hold. */
	uint32_t share_count;
	/**
	 * The device counts as having consumed capacity if api_consumes is set or
	 * in_flight_consumes is not 0. api_consumes: claims from the API server consume capacity.
	 * in_flight_consumes: number of results in flight that consume capacity.
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
	struct bt_bitset dedicated; /* by device id: taken whole by a claim */
	struct bt_bitset held;      /* by device id: dedicated, shared, or with consumed capacity */
	struct bt_bitset api;       /* like dedicated, but without claims in flight */
	BT_VEC(uint32_t) in_flight; /* by device id: number of dedicated results in flight */
	BT_HASH_TABLE(struct bt_shared_device) shared; /* by device */
	BT_HASH_TABLE(struct bt_device_share) shares;  /* by device and shareID */
	uint64_t version;                              /* grows with every change */
	/** By pool id: version of the last change to a device of the pool, for caches. */
	BT_VEC(uint64_t) pool_versions;
	/**
	 * By device id: number of results of claims from the API server. An entry that is not 0
	 * holds a reference to the id.
	 */
	BT_VEC(uint32_t) api_results;
	/**
	 * Devices that two claims from the API server have held at the same time. The state of such
	 * a device depends on the order of events, and cannot be recomputed from the claims until
	 * no claim from the API server holds the device. If a claim's allocation was replaced by
	 * another one (which the API forbids), the bits of the old and of the new devices stay set
	 * forever.
	 */
	struct bt_bitset history;
	uint32_t history_count;
};

void bt_allocated_devices_finish(struct bt_allocated_devices *allocated);

/**
 * The latest object of a claim changed. As in upstream, the sets change only if status.allocation
 * was set or cleared (spec 12 section 4.3).
 */
void bt_allocated_devices_observe(struct bt_allocated_devices *allocated,
	const struct bt_resource_claim *old_claim, const struct bt_resource_claim *new_claim);
/** Add an allocation that goes in flight (signal), or remove it (land). */
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

/** Whether removing claims and restoring them may give a different state. */
static inline bool bt_allocated_has_history(const struct bt_allocated_devices *allocated)
{
	return allocated->history_count != 0;
}

/** Returns the version of the last change to a device of the pool; 0: never. */
static inline uint64_t bt_allocated_pool_version(
	const struct bt_allocated_devices *allocated, uint32_t pool_id)
{
	return pool_id < allocated->pool_versions.count ? allocated->pool_versions.items[pool_id]
							: 0;
}

/** Returns the shared state of a device that has consumed capacity, borrowed; else NULL. */
const struct bt_shared_device *bt_allocated_consumed(
	const struct bt_allocated_devices *allocated, uint32_t device_id);
/**
 * Returns the consumed amount of a capacity, borrowed; NULL: no amount of this capacity is
 * consumed.
 */
const struct bt_quantity *bt_shared_device_consumed(
	const struct bt_shared_device *shared, struct bt_str capacity);

/**
 * Compare the state with a state recomputed from the cached claims, except for devices with a
 * history bit.
 */
bool bt_allocated_devices_validate(
	const struct bt_allocated_devices *allocated, struct bt_strbuf *out_reason);

/*
 * Maps extended resources to the DeviceClass that provides them. Spec: 12 section 4.4 (and section
 * 21, D8).
 */

/** Prefix of the implicit resource name that every class has. */
#define BT_DEVICE_CLASS_RESOURCE_PREFIX "deviceclass.resource.kubernetes.io/"

struct bt_device_class_mapping {
	char *resource; /* owned; NULL: free */
	uint32_t resource_length;
	struct bt_object *device_class; /* reference held */
	uint64_t hash;
};

struct bt_device_class_map {
	struct bt_dra *dra;
	BT_HASH_TABLE(struct bt_device_class_mapping) mappings;
	uint64_t version; /* grows with every change */
	/**
	 * Two classes have claimed the same resource, so the mapping depends on the order of
	 * events. Never cleared.
	 */
	bool has_history;
};

void bt_device_class_map_finish(struct bt_device_class_map *map);
/** A class of the store was added, updated or deleted. */
void bt_device_class_map_observe(
	void *dra, struct bt_object *old_class, struct bt_object *new_class);
/**
 * Returns the class that provides a resource, borrowed (upstream's GetClass). NULL: there is none,
 * or the gate DRAExtendedResource is off.
 */
const struct bt_device_class *bt_device_class_for_resource(
	const struct bt_device_class_map *map, struct bt_str resource);
/**
 * Compare the map with a map made from the store. Also returns true if has_history prevents the
 * comparison.
 */
bool bt_device_class_map_validate(
	const struct bt_device_class_map *map, struct bt_strbuf *out_reason);

/*
 * ResourceSlices with the taints of DeviceTaintRules added, the input of the pools. If gate
 * DRADeviceTaintRules is off, slices pass through unchanged. Spec: 12 section 4.5.
 */

/** A slice of the store was added, updated or deleted: updates the pools. */
void bt_taint_rules_observe_slice(
	void *context, struct bt_object *old_slice, struct bt_object *new_slice);
/**
 * A rule of the store was added, updated or deleted: patch the slices that it matched before or
 * matches now, update the pools, and call the listener for slices whose taints changed.
 */
void bt_taint_rules_observe_rule(
	void *context, struct bt_object *old_rule, struct bt_object *new_rule);
/** Compare the slices of the pools with slices patched anew from the store. */
bool bt_taint_rules_validate(const struct bt_dra *dra, struct bt_strbuf *out_reason);

/**
 * Called when a change of a DeviceTaintRule changes the taints of slices: once for each such slice,
 * with the patched slice before and after. The scheduler's queue listens here; the object store
 * reports changes of the slices themselves to the queue. Both slices are borrowed for the call.
 * Spec: 12 section 4.5.
 */
struct bt_patched_slice_listener {
	void (*changed)(void *context, struct bt_object *old_slice, struct bt_object *new_slice);
	void *context;
};

struct bt_dra {
	struct bt_state *state;
	struct bt_gates own_gates;
	const struct bt_gates *gates; /* points to own_gates */
	struct bt_device_ids ids;
	struct bt_claim_cache claims;
	struct bt_allocated_devices allocated;
	struct bt_device_class_map classes;
	struct bt_device_pools *pools;
	struct bt_device_totals_cache *totals; /* NULL: not used yet */
	/** If `changed` is NULL, there is no listener. */
	struct bt_patched_slice_listener patched_slice_listener;
};

/**
 * Returns the state's bt_dra. The first call creates it from the objects in the store and copies
 * the gates; later calls ignore gates.
 */
struct bt_dra *bt_dra_of(struct bt_state *state, const struct bt_gates *gates);
/**
 * Returns the class that provides an extended resource, borrowed until classes change. NULL: there
 * is none, the gate DRAExtendedResource is off, or the state has no bt_dra yet.
 */
static inline const struct bt_device_class *bt_dra_class_of(
	const struct bt_state *state, struct bt_str resource)
{
	return state->dra != NULL ? bt_device_class_for_resource(&state->dra->classes, resource)
				  : NULL;
}
/**
 * Compare claims, allocated devices, classes, patched slices and pools with data recomputed from
 * the store (BERTH_VERIFY=1). Returns false if they differ; *out_reason names a difference.
 */
bool bt_dra_validate(struct bt_dra *dra, struct bt_strbuf *out_reason);

/*
 * A trial removes pods from the claims that they use, as if the pods were deleted. The end of the
 * trial restores the claims. Used together with struct bt_state_trial. During the trial no other
 * code may change claims, and the listener is not called.
 */

struct bt_dra_trial {
	struct bt_dra *dra; /* NULL: the trial does nothing */
	struct bt_claim_listener listener;
	BT_VEC(struct bt_object *) claims; /* originals in order of change; references held */
};

/** Begin a trial. dra may be NULL; the trial then does nothing. */
void bt_dra_trial_begin(struct bt_dra_trial *trial, struct bt_dra *dra);
/**
 * Remove the pod from reservedFor of the claim. If no other pod is left, the claim is also
 * deallocated, as the ResourceClaim controller would do. Returns false and changes nothing if the
 * resulting device state might depend on the order of events (struct bt_allocated_devices.history).
 */
bool bt_dra_trial_release(
	struct bt_dra_trial *trial, struct bt_object *claim, struct bt_str pod_uid);
/**
 * Release all claims that are reserved for the pod. Returns false if bt_dra_trial_release failed
 * for a claim.
 */
bool bt_dra_trial_take_pod(struct bt_dra_trial *trial, struct bt_str pod_uid);
void bt_dra_trial_end(struct bt_dra_trial *trial);

/**
 * Make a copy of the claim without the pod; new lists are in the arena. If no other pod is left,
 * the copy has an empty status and no finalizer. Returns false if the claim is not reserved for the
 * pod.
 */
bool bt_claim_without_pod(const struct bt_resource_claim *claim, struct bt_str pod_uid,
	struct bt_arena *arena, struct bt_resource_claim *out_claim);
#endif
