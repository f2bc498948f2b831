/* SPDX-License-Identifier: Apache-2.0 */
#include "state/object_store.h"
#include "base/vec.h"

#include <stdlib.h>

/* The hash has 63 bits, as bt_stored_object.hash has. */
static uint64_t key_hash(struct bt_str namespace_, struct bt_str name)
{
	return bt_hash_bytes(name.data, name.length, bt_str_hash(namespace_)) >> 1;
}

/** The hash for the map. The map uses the upper bits, so the top bit must not always be 0. */
static uint64_t map_hash(uint64_t hash)
{
	return hash << 1;
}

static const struct bt_object_meta *meta_of(const struct bt_object_table *table, uint32_t id)
{
	return table->objects.items[id].object->meta;
}

void bt_object_store_init(struct bt_object_store *store)
{
	*store = (struct bt_object_store){0};
}

/* Releases the reference of an entry. */
static void release_object(
	const struct bt_object_store *store, const struct bt_stored_object *stored)
{
	if (store->packs && stored->object != NULL && !stored->unpacked) {
		bt_object_release_packable(stored->object);
	} else {
		bt_object_release(stored->object);
	}
}

/* Stores an object in an entry that holds no reference. */
static void set_object(const struct bt_object_store *store, struct bt_stored_object *stored,
	struct bt_object *object)
{
	stored->object = object;
	stored->unpacked = false;
	if (store->packs) {
		BT_ASSERT(object->kind == BT_KIND_POD);
		bt_object_allow_pack(object);
	}
}

void bt_object_store_finish(struct bt_object_store *store)
{
	for (uint32_t kind = 0; kind < BT_KIND__COUNT; kind++) {
		struct bt_object_table *table = &store->kinds[kind];
		for (uint32_t id = 0; id < table->objects.count; id++) {
			release_object(store, &table->objects.items[id]);
		}
		bt_hash_table_finish(&table->objects);
		bt_vec_finish(&table->sorted);
	}
	bt_vec_finish(&store->unpacked);
}

void bt_object_store_pack_all(struct bt_object_store *store)
{
	struct bt_object_table *pods = &store->kinds[BT_KIND_POD];

	for (uint32_t i = 0; i < store->unpacked.count; i++) {
		struct bt_stored_object *stored = &pods->objects.items[store->unpacked.items[i]];
		if (stored->object != NULL && stored->unpacked) {
			stored->unpacked = false;
			bt_object_allow_pack(stored->object);
		}
	}
	store->unpacked.count = 0;
}

void bt_object_store_listen(
	struct bt_object_store *store, enum bt_kind kind, struct bt_object_listener listener)
{
	BT_ASSERT(store->listeners[kind].changed == NULL || listener.changed == NULL);
	store->listeners[kind] = listener;
}

static void notify_listener(const struct bt_object_store *store, struct bt_object *old_object,
	struct bt_object *new_object)
{
	enum bt_kind kind = old_object != NULL ? old_object->kind : new_object->kind;
	const struct bt_object_listener *listener = &store->listeners[kind];

	if (listener->changed != NULL) {
		listener->changed(listener->context, old_object, new_object);
	}
}

static uint32_t find_id(
	const struct bt_object_table *table, struct bt_str namespace_, struct bt_str name)
{
	uint64_t hash = map_hash(key_hash(namespace_, name));
	BT_MAP_EACH (&table->objects.map, hash, id) {
		const struct bt_object *object = table->objects.items[id].object;
		if (bt_str_equal(bt_object_name(object), name) &&
			bt_str_equal(bt_object_namespace(object), namespace_)) {
			return id;
		}
	}
	return UINT32_MAX;
}

void bt_object_store_put(struct bt_object_store *store, struct bt_object *object)
{
	struct bt_object_table *table = &store->kinds[object->kind];
	uint32_t id = find_id(table, object->meta->namespace_, object->meta->name);
	table->version++;
	if (id != UINT32_MAX) {
		struct bt_stored_object old = table->objects.items[id];
		set_object(store, &table->objects.items[id], object);
		notify_listener(store, old.object, object);
		release_object(store, &old);
		return;
	}
	struct bt_stored_object stored = {
		.hash = key_hash(object->meta->namespace_, object->meta->name) & UINT64_MAX >> 1};
	set_object(store, &stored, object);
	bt_hash_table_add(&table->objects, map_hash(stored.hash), stored, id);
	table->sorted_stale = true;
	notify_listener(store, NULL, object);
}

bool bt_object_store_delete(struct bt_object_store *store, enum bt_kind kind,
	struct bt_str namespace_, struct bt_str name)
{
	struct bt_object_table *table = &store->kinds[kind];
	uint32_t id = find_id(table, namespace_, name);
	if (id == UINT32_MAX) {
		return false;
	}
	struct bt_stored_object old = table->objects.items[id];
	bt_hash_table_remove(&table->objects, map_hash(old.hash), id);
	table->objects.items[id].object = NULL;
	table->version++;
	table->sorted_stale = true;
	notify_listener(store, old.object, NULL);
	release_object(store, &old);
	return true;
}

struct bt_object *bt_object_store_find_object(const struct bt_object_store *store,
	enum bt_kind kind, struct bt_str namespace_, struct bt_str name)
{
	const struct bt_object_table *table = &store->kinds[kind];
	uint32_t id = find_id(table, namespace_, name);
	BT_ASSERT(!store->packs);
	return id != UINT32_MAX ? table->objects.items[id].object : NULL;
}

struct bt_object *bt_object_store_unpack(
	struct bt_object_store *store, struct bt_str namespace_, struct bt_str name)
{
	struct bt_object_table *table = &store->kinds[BT_KIND_POD];
	uint32_t id = find_id(table, namespace_, name);

	BT_ASSERT(store->packs);
	if (id == UINT32_MAX) {
		return NULL;
	}
	struct bt_stored_object *stored = &table->objects.items[id];
	if (!stored->unpacked) {
		stored->unpacked = true;
		bt_vec_push(&store->unpacked, id);
		(void)bt_object_unpack(stored->object); /* returns the same object */
	}
	return stored->object;
}

const void *bt_object_store_find(const struct bt_object_store *store, enum bt_kind kind,
	struct bt_str namespace_, struct bt_str name)
{
	const struct bt_object *object = bt_object_store_find_object(store, kind, namespace_, name);
	return object != NULL ? object->value : NULL;
}

/** An object's id and names: qsort's comparison has no context argument to look names up by id. */
struct sort_entry {
	struct bt_str namespace_;
	struct bt_str name;
	uint32_t id;
};

BT_COMPARE(compare_entries, struct sort_entry,
	BT_ORDER_BY(bt_str_compare(a->namespace_, b->namespace_), bt_str_compare(a->name, b->name)))

const void *bt_object_store_next(struct bt_object_store *store, enum bt_kind kind,
	struct bt_str namespace_, uint32_t *cursor)
{
	struct bt_object_table *table = &store->kinds[kind];
	if (*cursor == 0) {
		if (table->sorted_stale) {
			struct sort_entry *entries =
				BT_NEW_ARRAY(struct sort_entry, table->objects.map.count);
			uint32_t count = 0;
			for (uint32_t id = 0; id < table->objects.count; id++) {
				if (table->objects.items[id].object != NULL) {
					const struct bt_object_meta *meta = meta_of(table, id);
					entries[count++] = (struct sort_entry){
						meta->namespace_, meta->name, id};
				}
			}
			if (count > 1) {
				qsort(entries, count, sizeof(entries[0]), compare_entries);
			}
			table->sorted.count = 0;
			for (uint32_t i = 0; i < count; i++) {
				bt_vec_push(&table->sorted, entries[i].id);
			}
			bt_free(entries);
			table->sorted_stale = false;
		}
		/* Find the first entry of this namespace or of a later namespace. */
		uint32_t first = 0;
		if (namespace_.data != NULL) {
			BT_LOWER_BOUND(first, table->sorted.count, middle,
				bt_str_compare(
					meta_of(table, table->sorted.items[middle])->namespace_,
					namespace_) < 0);
		}
		/* The cursor counts from 1, because 0 means the start. */
		*cursor = 1 + first;
	}
	if (*cursor - 1 >= table->sorted.count) {
		return NULL;
	}
	const struct bt_object *object =
		table->objects.items[table->sorted.items[*cursor - 1]].object;
	if (namespace_.data != NULL && !bt_str_equal(object->meta->namespace_, namespace_)) {
		return NULL;
	}
	(*cursor)++;
	return object->value;
}
