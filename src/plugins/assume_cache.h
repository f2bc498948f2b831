/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_ASSUME_CACHE_H
#define BT_PLUGINS_ASSUME_CACHE_H
/**
 * Objects the scheduler has decided to write and not seen written yet, laid over the object store:
 * the passive assume cache of volumes and claims. Spec: 07 section 3.1.
 *
 * An assumption counts for as long as the store has the object in the very version it was made
 * from. That is decided when the object is read; assumptions that the store has overtaken are
 * dropped then, or when the cache is swept.
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

/** store is borrowed for the life of the cache. The cache must not move. */
void bt_assume_cache_init(
	struct bt_assume_cache *cache, const struct bt_object_store *store, enum bt_kind kind);
void bt_assume_cache_finish(struct bt_assume_cache *cache);

/** The store's object, NULL when it has none. */
const void *bt_assume_cache_find_api(
	const struct bt_assume_cache *cache, struct bt_str namespace_, struct bt_str name);
/** The assumed object if the store still has its version, else the store's. Borrowed until an
 * assume, a restore or a change of the store. */
const void *bt_assume_cache_find(
	struct bt_assume_cache *cache, struct bt_str namespace_, struct bt_str name);
/** What find would return for this object of the store. */
const void *bt_assume_cache_view(struct bt_assume_cache *cache, const void *stored);
/** `persistentvolumes "<key>" not found`. Returns BERTH_ERR_NOT_FOUND. */
int bt_assume_cache_not_found(const struct bt_assume_cache *cache, struct bt_str namespace_,
	struct bt_str name, struct berth_error *err);
/**
 * Assume a changed object (its structure, copied). BERTH_ERR_NOT_FOUND when the store has none,
 * BERTH_ERR_STATE
 * (`"<key>" is out of sync (stored: <v>, assume: <v>)`) unless it is made from the version the
 * store has.
 */
BT_MUST_USE int bt_assume_cache_assume(
	struct bt_assume_cache *cache, const void *value, struct berth_error *err);
/** Forget the assumption if it has this version, whoever made it. */
void bt_assume_cache_restore(struct bt_assume_cache *cache, struct bt_str namespace_,
	struct bt_str name, struct bt_str resource_version);
#endif
