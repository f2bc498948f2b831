/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DRA_DRA_H
#define BT_DRA_DRA_H
/**
 * Dynamic resource allocation: what one scheduler knows of claims and devices, shared by all
 * profiles. It hangs on the state, follows the object store's claims, slices, classes and taint
 * rules by itself (bt_object_store_listen), and is repaired by each change instead of being made
 * anew. Spec: 12 section 4.
 */
#include "api/object.h"
#include "api/quantity.h"
#include "api/resource_claim.h"
#include "api/types.h"
#include "base/bitset.h"
#include "base/error.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "base/symbol.h"
#include "base/vec.h"
#include "config/gates.h"
#include "state/object_store.h"
#include "state/state.h"

struct bt_dra;
struct bt_device_pools;        /* dra/device_pools.h */
struct bt_device_totals_cache; /* dra/device_totals.h */

/*
 * Devices and pools by small numbers: (driver, pool) and (driver, pool, device name), whether a
 * slice publishes them, a claim holds them, or both. A number lives while somebody holds a
 * reference to it and may be used again afterwards.
 */

#define BT_DEVICE_NONE UINT32_MAX

struct bt_device_identity {
	bt_sym driver;
	bt_sym pool;
	bt_sym device;    /* BT_SYM_EMPTY: the pool itself */
	uint32_t pool_id; /* of a device: reference held */
	uint32_t ref_count;
	uint64_t hash;
};

struct bt_device_ids {
	struct bt_symbol_table *symbols; /* the state's */
	struct bt_map map;
	BT_VEC(struct bt_device_identity) items;
	BT_VEC(uint32_t) free_ids;
};

/** The number, one reference taken. device "": the pool. */
uint32_t bt_device_ids_ref(
	struct bt_device_ids *ids, struct bt_str driver, struct bt_str pool, struct bt_str device);
/** Another reference to a number that somebody holds. Returns it. */
static inline uint32_t bt_device_ids_share(struct bt_device_ids *ids, uint32_t id)
{
	ids->items.items[id].ref_count++;
	return id;
}
void bt_device_ids_unref(struct bt_device_ids *ids, uint32_t id);
/** Without taking a reference; BT_DEVICE_NONE: nobody has it. */
uint32_t bt_device_ids_find(const struct bt_device_ids *ids, struct bt_str driver,
	struct bt_str pool, struct bt_str device);
static inline uint32_t bt_device_ids_pool_of(const struct bt_device_ids *ids, uint32_t device_id)
{
	return ids->items.items[device_id].pool_id;
}

/*
 * ResourceClaims as the scheduler sees them: the newest object of the API, or what it has assumed;
 * and allocations that are decided and not written yet. Spec: 12 sections 4.1 and 4.2.
 */

struct bt_cached_claim {
	struct bt_object *api;    /* reference held; NULL: free */
	struct bt_object *latest; /* reference held; may be the same */
	uint64_t hash;
	uint64_t owner_hash; /* of the uid of who controls latest, a special claim; else 0 */
};

/** Marks a claim that the scheduler made for the extended resources of a pod. */
#define BT_SPECIAL_CLAIM_ANNOTATION BT_STR_INIT("resource.kubernetes.io/extended-resource-claim")

/** An allocation between Reserve and the end of its write. */
struct bt_in_flight_claim {
	char *uid; /* owned */
	uint32_t uid_length;
	struct bt_object *claim; /* status.allocation is set; reference held; NULL: free */
	uint32_t sharers;
	uint64_t hash;
};

/** Told of every change of a latest object: NULL old: new; NULL new: gone. Borrowed for the call.
 */
struct bt_claim_listener {
	void (*changed)(void *context, struct bt_object *old_claim, struct bt_object *new_claim);
	void *context;
};

struct bt_claim_cache {
	struct bt_dra *dra;
	struct bt_map map;
	BT_VEC(struct bt_cached_claim) claims;
	BT_VEC(uint32_t) free_ids;
	struct bt_map special_map; /* special claims by owner */
	struct bt_map in_flight_map;
	BT_VEC(struct bt_in_flight_claim) in_flight;
	BT_VEC(uint32_t) in_flight_free;
	/** The scheduler's queue: after the cache and the allocated devices have followed. */
	struct bt_claim_listener listener;
	uint64_t
		version; /* grows with every change of a latest object or of the claims in flight */
};

void bt_claim_cache_finish(struct bt_claim_cache *cache);

/**
 * The store's claim was added, updated or deleted. An update that is not newer than what is latest
 * changes nothing; versions are compared as integers, and an object without one (files) always
 * counts as newer.
 */
void bt_claim_cache_follow(void *dra, struct bt_object *old_claim, struct bt_object *new_claim);

/** The latest object, borrowed until the cache changes; NULL: `could not find ResourceClaim
 * "<ns>/<name>"` is the caller's text. */
struct bt_object *bt_claim_cache_find(
	const struct bt_claim_cache *cache, struct bt_str namespace_, struct bt_str name);
/** The special claim of a pod (spec 12 section 14.1), in any namespace; the first by namespace and
 * name. Borrowed likewise; NULL: none. */
struct bt_object *bt_claim_cache_find_special(
	const struct bt_claim_cache *cache, struct bt_str pod_name, struct bt_str pod_uid);
/** All latest objects in no order: *cursor = 0 at the start, NULL at the end. */
struct bt_object *bt_claim_cache_next(const struct bt_claim_cache *cache, uint32_t *cursor);

/** Spec 12 section 4.1, with its error texts. claim: shared. Emits an update. */
BT_MUST_USE int bt_claim_cache_assume(
	struct bt_claim_cache *cache, struct bt_object *claim, struct berth_error *err);
/** Back to the object of the API. Emits an update if the claim is there. */
void bt_claim_cache_restore(
	struct bt_claim_cache *cache, struct bt_str namespace_, struct bt_str name);

/** One more user of this allocation; the first one's object stays. claim: shared; its
 * status.allocation is set. */
void bt_claim_cache_signal(
	struct bt_claim_cache *cache, struct bt_str uid, struct bt_object *claim);
/** The allocation in flight, borrowed; NULL: none. */
const struct bt_allocation_result *bt_claim_cache_pending(
	const struct bt_claim_cache *cache, struct bt_str uid);
/** One user less, or with force none. true: the allocation is not in flight any more. */
bool bt_claim_cache_maybe_remove(struct bt_claim_cache *cache, struct bt_str uid, bool force);

/** Against the store: the same claims. (Which version of them depends on what came when.) */
bool bt_claim_cache_validate(const struct bt_claim_cache *cache, struct bt_strbuf *out_reason);

/*
 * Which devices claims hold, allocated and in flight: kept, not counted anew. Upstream keeps plain
 * sets, one for claims of the API and one view with those in flight; so does this. Spec: 12 section
 * 4.3.
 */

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

/* Which DeviceClass stands behind an extended resource. Spec: 12 section 4.4 (and D8 of 21). */

/** Prefix of the resource name that every class has without asking. */
#define BT_DEVICE_CLASS_RESOURCE_PREFIX "deviceclass.resource.kubernetes.io/"

struct bt_device_class_mapping {
	char *resource; /* owned; NULL: free */
	uint32_t resource_length;
	struct bt_object *device_class; /* reference held */
	uint64_t hash;
};

struct bt_device_class_map {
	struct bt_dra *dra;
	struct bt_map map;
	BT_VEC(struct bt_device_class_mapping) mappings;
	BT_VEC(uint32_t) free_ids;
	uint64_t version; /* grows with every change */
	/** Two classes have wanted one resource: what is mapped depends on what came first. */
	bool has_history;
};

void bt_device_class_map_finish(struct bt_device_class_map *map);
/** The store's class was added, updated or deleted. */
void bt_device_class_map_follow(
	void *dra, struct bt_object *old_class, struct bt_object *new_class);
/** GetClass: the class behind a resource name, borrowed; NULL: none, or gate DRAExtendedResource is
 * off. */
const struct bt_device_class *bt_device_class_for_resource(
	const struct bt_device_class_map *map, struct bt_str resource);
/** Against the same made anew from the store; true also where that cannot be told. */
bool bt_device_class_map_validate(
	const struct bt_device_class_map *map, struct bt_strbuf *out_reason);

/*
 * ResourceSlices with the taints of DeviceTaintRules added: what the pools see. With gate
 * DRADeviceTaintRules off nothing is added, and the slices pass through as they are. Spec: 12
 * section 4.5.
 */

/** A slice that some rule matches. */
struct bt_patched_slice {
	struct bt_object *slice; /* with the rules' taints; reference held; NULL: free */
	uint64_t hash;           /* of its name */
};

struct bt_taint_rules {
	struct bt_dra *dra;
	struct bt_map map;
	BT_VEC(struct bt_patched_slice) patched;
	BT_VEC(uint32_t) free_ids;
};

void bt_taint_rules_finish(struct bt_taint_rules *rules);
/** The store's slice was added, updated or deleted: tells the pools. */
void bt_taint_rules_follow_slice(
	void *dra, struct bt_object *old_slice, struct bt_object *new_slice);
/** The store's rule was: patches the slices that it matched or matches, tells the pools and who
 * listens for patched slices. */
void bt_taint_rules_follow_rule(void *dra, struct bt_object *old_rule, struct bt_object *new_rule);
/** Against the same made anew from the store. */
bool bt_taint_rules_validate(const struct bt_taint_rules *rules, struct bt_strbuf *out_reason);

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

/*
 * Claims without some of their pods for a moment, beside struct bt_state_trial: what the cluster
 * frees when a pod is gone is free, and ending the trial takes that back. While it lasts nothing
 * else may change claims; the queue hears of nothing.
 */

struct bt_dra_trial {
	struct bt_dra *dra; /* NULL: there is none, and nothing to do */
	struct bt_claim_listener listener;
	BT_VEC(struct bt_object *) claims; /* as they were, in this order; references held */
};

/** dra may be NULL. */
void bt_dra_trial_begin(struct bt_dra_trial *trial, struct bt_dra *dra);
/**
 * The claim is not reserved for the pod any more, and if it was for nobody else it is not allocated
 * either, as the cluster's controller of claims would have it. false: what its devices would become
 * depends on what came first (struct bt_allocated_devices.history), and nothing is changed.
 */
bool bt_dra_trial_release(
	struct bt_dra_trial *trial, struct bt_object *claim, struct bt_str pod_uid);
/** All claims that are reserved for the pod. false: as above, for one of them. */
bool bt_dra_trial_take_pod(struct bt_dra_trial *trial, struct bt_str pod_uid);
void bt_dra_trial_end(struct bt_dra_trial *trial);

/** The claim without the pod; its list is in the arena. false: it is not reserved for the pod. */
bool bt_claim_without_pod(const struct bt_resource_claim *claim, struct bt_str pod_uid,
	struct bt_arena *arena, struct bt_resource_claim *out_claim);
#endif
