/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_STATE_OBJECT_STORE_H
#define BT_STATE_OBJECT_STORE_H
/**
 * Whole objects that plugins look up by name: namespaces, services, workload owners, volumes,
 * claims, classes, disruption budgets. The store has the role of upstream's informer stores. Nodes
 * and cached pods are in state.h. Single-threaded; a found object is borrowed until the store
 * changes.
 */
#include <stdbool.h>
#include <stdint.h>

#include "api/object.h"
#include "base/hash_table.h"

struct bt_stored_object {
	struct bt_object *object; /* reference held; NULL: the entry is free */
	uint64_t hash : 63;
	uint64_t unpacked : 1; /* see bt_object_store.packs */
};

/** All objects of one kind. */
struct bt_object_table {
	BT_HASH_TABLE(struct bt_stored_object) objects;
	BT_VEC(uint32_t) sorted; /* ids in byte order of (namespace, name); rebuilt when stale */
	bool sorted_stale;
	uint64_t version; /* increased by every change of this kind */
};

/**
 * Called after an object of a kind was put (old_object NULL: the object is new) or deleted
 * (new_object NULL). Both objects are borrowed for the call. The function must not change the
 * store's objects of this kind.
 */
struct bt_object_listener {
	void (*changed)(void *context, struct bt_object *old_object, struct bt_object *new_object);
	void *context;
};

struct bt_object_store {
	struct bt_object_table kinds[BT_KIND__COUNT];
	struct bt_object_listener listeners[BT_KIND__COUNT]; /* changed NULL: no listener */
	/**
	 * Set for a store of pods, which are looked up by name only: the store allows its pods to
	 * be packed (bt_object_allow_pack), except the pods found since the last call of
	 * bt_object_store_pack_all.
	 */
	bool packs;
	BT_VEC(uint32_t) unpacked; /* ids of the pods found since that call; some may be deleted */
};

void bt_object_store_init(struct bt_object_store *store);
void bt_object_store_finish(struct bt_object_store *store);
/**
 * Set the listener of a kind, which updates data made from the kind's objects. At most one for each
 * kind.
 */
void bt_object_store_listen(
	struct bt_object_store *store, enum bt_kind kind, struct bt_object_listener listener);
/** For a store with `packs`: the objects found so far are no longer borrowed and may be packed. */
void bt_object_store_pack_all(struct bt_object_store *store);
/**
 * Add the object, or replace the object with the same kind, namespace and name. Takes over the
 * caller's reference.
 */
void bt_object_store_put(struct bt_object_store *store, struct bt_object *object);
/** Returns false if there is no such object. */
bool bt_object_store_delete(struct bt_object_store *store, enum bt_kind kind,
	struct bt_str namespace_, struct bt_str name);
/**
 * Returns the object's structure (such as struct bt_service), or NULL. namespace_ is "" for
 * cluster-scoped kinds. Not for a store with `packs`.
 */
const void *bt_object_store_find(const struct bt_object_store *store, enum bt_kind kind,
	struct bt_str namespace_, struct bt_str name);
/** Returns the object, borrowed, or NULL. Not for a store with `packs`. */
struct bt_object *bt_object_store_find_object(const struct bt_object_store *store,
	enum bt_kind kind, struct bt_str namespace_, struct bt_str name);
/** Returns a pod of a store with `packs`, borrowed until bt_object_store_pack_all, or NULL. */
struct bt_object *bt_object_store_unpack(
	struct bt_object_store *store, struct bt_str namespace_, struct bt_str name);
static inline uint32_t bt_object_store_count(const struct bt_object_store *store, enum bt_kind kind)
{
	return store->kinds[kind].objects.map.count;
}
/** A number that changes whenever an object of the kind is put or deleted, for caches. */
static inline uint64_t bt_object_store_version(
	const struct bt_object_store *store, enum bt_kind kind)
{
	return store->kinds[kind].version;
}

/**
 * Iterate over the objects of a kind in byte order of (namespace, name). namespace_ with data NULL:
 * all namespaces. Start with *cursor = 0. Returns the next object's structure, or NULL at the end.
 * The store must not change meanwhile.
 */
const void *bt_object_store_next(struct bt_object_store *store, enum bt_kind kind,
	struct bt_str namespace_, uint32_t *cursor);
#endif
