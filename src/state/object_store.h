/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_STATE_OBJECT_STORE_H
#define BT_STATE_OBJECT_STORE_H
/**
 * Objects that plugins look up whole, by name: namespaces, services and workload owners, volumes,
 * claims and classes, disruption budgets. What upstream's informer stores are to its plugins. Pods
 * and nodes are not kept here (state.h). One thread; an object found is borrowed until the store
 * changes.
 */
#include <stdbool.h>
#include <stdint.h>

#include "api/object.h"
#include "base/map.h"
#include "base/vec.h"

struct bt_stored_object {
	struct bt_object *object; /* reference held; NULL = free */
	uint64_t hash : 63;
	uint64_t awake : 1; /* see rests */
};

/** All objects of one kind. */
struct bt_object_table {
	struct bt_map map;
	BT_VEC(struct bt_stored_object) objects;
	BT_VEC(uint32_t) free_ids;
	BT_VEC(uint32_t) sorted; /* ids in byte order of (namespace, name); rebuilt when stale */
	bool sorted_stale;
	uint64_t version; /* grows with every change of this kind */
	uint32_t count;
};

/**
 * Called after an object of a kind was put (old_object NULL: it is new) or deleted (new_object
 * NULL). Both are borrowed for the call. Must not change the store's objects of that kind.
 */
struct bt_object_listener {
	void (*changed)(void *context, struct bt_object *old_object, struct bt_object *new_object);
	void *context;
};

struct bt_object_store {
	struct bt_object_table kinds[BT_KIND__COUNT];
	struct bt_object_listener listeners[BT_KIND__COUNT]; /* changed NULL: nobody listens */
	/**
	 * Pods only, which are looked up by name only: references rest (api/object.h), but those
	 * of pods that were found since bt_object_store_settle.
	 */
	bool rests;
	BT_VEC(uint32_t) awake; /* pods found since, by id; some may be gone */
};

void bt_object_store_init(struct bt_object_store *store);
void bt_object_store_finish(struct bt_object_store *store);
/** Who keeps something made from a kind's objects, and repairs it with every change; one for each
 * kind. */
void bt_object_store_listen(
	struct bt_object_store *store, enum bt_kind kind, struct bt_object_listener listener);
/** Of a store that rests: what was found is borrowed until now. */
void bt_object_store_settle(struct bt_object_store *store);
/** Add, or replace the object of the same kind, namespace and name. object is consumed. */
void bt_object_store_put(struct bt_object_store *store, struct bt_object *object);
/** false when there was none. */
bool bt_object_store_delete(struct bt_object_store *store, enum bt_kind kind,
	struct bt_str namespace_, struct bt_str name);
/** The kind's structure, or NULL. namespace_ is "" for cluster-scoped kinds. */
const void *bt_object_store_find(const struct bt_object_store *store, enum bt_kind kind,
	struct bt_str namespace_, struct bt_str name);
/** The same as the object itself, borrowed; NULL when there is none. Not of a store that rests. */
struct bt_object *bt_object_store_find_object(const struct bt_object_store *store,
	enum bt_kind kind, struct bt_str namespace_, struct bt_str name);
/** The same of a store that rests; borrowed until it settles. */
struct bt_object *bt_object_store_wake(
	struct bt_object_store *store, struct bt_str namespace_, struct bt_str name);
static inline uint32_t bt_object_store_count(const struct bt_object_store *store, enum bt_kind kind)
{
	return store->kinds[kind].count;
}
/** Changes whenever an object of the kind was put or deleted: what caches compare. */
static inline uint64_t bt_object_store_version(
	const struct bt_object_store *store, enum bt_kind kind)
{
	return store->kinds[kind].version;
}

/**
 * Objects of a kind in byte order of (namespace, name). namespace_ absent (data NULL): all of them.
 * Start with *cursor = 0; NULL at the end. The store must not change in between.
 */
const void *bt_object_store_next(struct bt_object_store *store, enum bt_kind kind,
	struct bt_str namespace_, uint32_t *cursor);
#endif
