/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_ASSUME_CACHE_H
#define BT_PLUGINS_ASSUME_CACHE_H
/**
 * Assume cache of persistent volumes and claims: objects that the scheduler has decided to write
 * but that the watch has not reported yet, on top of the object store. Spec: 07 section 3.1.
 *
 * An assumption is valid as long as the store has the version of the object that the assumption was
 * made from. The version is checked when the object is read. An outdated assumption is dropped when
 * it is read, or when the cache is swept.
 */
#include "api/object.h"
#include "base/map.h"
#include "base/vec.h"
#include "state/object_store.h"

struct bt_assumed_object {
	struct bt_object *object; /* reference held */
	uint64_t hash;
};

struct bt_assume_cache {
	const struct bt_object_store *store;
	enum bt_kind kind;
	struct bt_map map;
	BT_VEC(struct bt_assumed_object) assumed;
	uint32_t sweep_at; /* number of assumptions that triggers a sweep */
};

/**
 * Set up an empty cache, which must not move afterwards. store is borrowed for the life of the
 * cache.
 */
void bt_assume_cache_init(
	struct bt_assume_cache *cache, const struct bt_object_store *store, enum bt_kind kind);
void bt_assume_cache_finish(struct bt_assume_cache *cache);

/**
 * Returns the object as the API server has it, from the store; NULL if the store has no such
 * object.
 */
const void *bt_assume_cache_find_api(
	const struct bt_assume_cache *cache, struct bt_str namespace_, struct bt_str name);
/**
 * Returns the assumed object if the store still has the version that the assumption was made from,
 * otherwise the stored object; NULL if the store has no such object. Borrowed until an assume, a
 * restore or a change of the store.
 */
const void *bt_assume_cache_find(
	struct bt_assume_cache *cache, struct bt_str namespace_, struct bt_str name);
/**
 * Does the same as bt_assume_cache_find, for an object that the caller already has from the store.
 */
const void *bt_assume_cache_view(struct bt_assume_cache *cache, const void *stored);
/**
 * Set the error `<resource> "<key>" not found`, for instance `persistentvolumes "pv-1" not found`.
 * Returns BERTH_ERR_NOT_FOUND.
 */
int bt_assume_cache_not_found(const struct bt_assume_cache *cache, struct bt_str namespace_,
	struct bt_str name, struct berth_error *err);
/**
 * Assume a changed object, which is copied. Fails with BERTH_ERR_NOT_FOUND if the store has no
 * object of that name, and with BERTH_ERR_STATE (`"<key>" is out of sync (stored: <v>, assume:
 * <v>)`) if the resource version of value is not the version of the stored object.
 */
BT_MUST_USE int bt_assume_cache_assume(
	struct bt_assume_cache *cache, const void *value, struct berth_error *err);
/** Drop the assumption for the object if the assumed object has this version. */
void bt_assume_cache_restore(struct bt_assume_cache *cache, struct bt_str namespace_,
	struct bt_str name, struct bt_str resource_version);
#endif
