/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DRA_CLAIM_CACHE_H
#define BT_DRA_CLAIM_CACHE_H
/**
 * ResourceClaims as the scheduler sees them: the newest object of the API, or what it has assumed;
 * and allocations that are decided and not written yet. Spec: 12 sections 4.1 and 4.2.
 */
#include "api/object.h"
#include "api/resource_claim.h"
#include "base/error.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "state/object_store.h"

struct bt_dra;

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

void bt_claim_cache_init(struct bt_claim_cache *cache, struct bt_dra *dra);
void bt_claim_cache_finish(struct bt_claim_cache *cache);

/**
 * The store's claim was added, updated or deleted. An update that is not newer than what is latest
 * changes nothing; versions are compared as integers, and an object without one (files) always
 * counts as newer.
 */
void bt_claim_cache_follow(
	struct bt_claim_cache *cache, struct bt_object *old_claim, struct bt_object *new_claim);

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
size_t bt_claim_cache_memory_bytes(const struct bt_claim_cache *cache);
#endif
