/* SPDX-License-Identifier: Apache-2.0 */
#include "server/store.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/nanoseconds.h"
#include "server/store_private.h"

const struct bt_store_options bt_store_default_options = {
	.window_changes_min = 1000,
	.window_age_ns = 300 * BT_NS_PER_SECOND,
	.window_bytes_max = UINT64_C(64) << 20,
};

/* --- entries --- */

struct bt_stored *bt_stored_new(struct bt_store *store, uint64_t rv, struct bt_str key,
	struct bt_str text, struct bt_owned owned)
{
	struct bt_str rest = BT_STR("");
	struct bt_str times = BT_STR("");
	struct bt_stored *stored;

	BT_ASSERT(key.length != 0 && key.length <= BT_STORE_KEY_BYTES_MAX);
	BT_ASSERT(text.length <= BT_STORE_TEXT_BYTES_MAX);
	struct bt_owners *owners = bt_owners_cut(store->owners, &text, &rest, &times);
	if (owners == NULL) {
		owners = bt_owners_share(owned.owners);
		times = owned.times;
	}
	BT_ASSERT(times.length == bt_owners_times_bytes(owners));
	size_t bytes = offsetof(struct bt_stored, bytes) + key.length + (size_t)text.length +
		rest.length + times.length + 1;
	stored = bt_malloc(bytes > sizeof(*stored) ? bytes : sizeof(*stored));
	stored->rv = rv;
	stored->owners = owners;
	stored->reference_count = 1;
	stored->text_length = text.length + rest.length;
	stored->key_length = (uint16_t)key.length;
	char *end = stored->bytes;
	const struct bt_str parts[] = {key, text, rest, {"", 1}, times};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(parts); i++) {
		if (parts[i].length != 0) {
			memcpy(end, parts[i].data, parts[i].length);
			end += parts[i].length;
		}
	}
	return stored;
}

/** The owners and times that an object keeps when its text is replaced; before may be NULL. */
static struct bt_owned owned_of(const struct bt_stored *before)
{
	struct bt_owned owned = {NULL, BT_STR("")};
	if (before != NULL && before->owners != NULL) {
		owned.owners = before->owners;
		owned.times = bt_stored_times(before);
	}
	return owned;
}

struct bt_stored *bt_stored_share(struct bt_stored *stored)
{
	BT_ASSERT(stored->reference_count != 0 && stored->reference_count != UINT32_MAX);
	stored->reference_count++;
	return stored;
}

void bt_stored_release(struct bt_stored *stored)
{
	if (stored == NULL) {
		return;
	}
	BT_ASSERT(stored->reference_count != 0);
	if (--stored->reference_count == 0) {
		bt_owners_unref(stored->owners);
		bt_free(stored);
	}
}

/* --- collections --- */

struct bt_collection *bt_store_at(const struct bt_store *store, uint32_t collection)
{
	BT_ASSERT(collection < store->collections.count);
	return store->collections.items[collection];
}

uint32_t bt_store_collection_find(const struct bt_store *store, struct bt_str name)
{
	uint64_t hash = bt_str_hash(name);
	BT_MAP_EACH (&store->by_name, hash, index) {
		if (bt_str_equal_c(name, store->collections.items[index]->name)) {
			return index;
		}
	}
	return BT_STORE_NO_COLLECTION;
}

uint32_t bt_store_collection(struct bt_store *store, struct bt_str name)
{
	struct bt_collection *collection;
	uint32_t found = bt_store_collection_find(store, name);

	if (found != BT_STORE_NO_COLLECTION) {
		return found;
	}
	BT_ASSERT(store->collections.count < BT_STORE_COLLECTIONS_MAX);
	collection = BT_NEW(struct bt_collection);
	collection->name = bt_strndup(name.data, name.length);
	collection->window.start = store->opened_rv;
	bt_vec_push(&store->collections, collection);
	bt_map_insert(&store->by_name, bt_str_hash(name), store->collections.count - 1);
	return store->collections.count - 1;
}

struct bt_str bt_store_collection_name(const struct bt_store *store, uint32_t collection)
{
	return bt_str_from(bt_store_at(store, collection)->name);
}

uint32_t bt_store_collection_count(const struct bt_store *store)
{
	return store->collections.count;
}

/* --- the store --- */

struct bt_store *bt_store_create(const struct bt_store_options *options)
{
	struct bt_store *store = BT_NEW(struct bt_store);

	store->options = *options;
	store->rv = 1;
	store->opened_rv = 1;
	store->owners = bt_owner_pool_create();
	return store;
}

void bt_store_destroy(struct bt_store *store)
{
	if (store == NULL) {
		return;
	}
	bt_store_file_close(store->file);
	for (uint32_t i = 0; i < store->pending.count; i++) {
		bt_stored_release(store->pending.items[i].entry);
	}
	bt_vec_finish(&store->pending);
	for (uint32_t i = 0; i < store->collections.count; i++) {
		bt_window_finish(&store->collections.items[i]->window);
		for (uint32_t k = 0; k < store->collections.items[i]->entries.count; k++) {
			bt_stored_release(store->collections.items[i]->entries.items[k]);
		}
		bt_order_finish(store->collections.items[i]);
		bt_vec_finish(&store->collections.items[i]->entries);
		bt_vec_finish(&store->collections.items[i]->free_slots);
		bt_map_finish(&store->collections.items[i]->by_key);
		bt_free(store->collections.items[i]->name);
		bt_free(store->collections.items[i]);
	}
	bt_vec_finish(&store->collections);
	bt_vec_finish(&store->listeners);
	bt_map_finish(&store->by_name);
	bt_owner_pool_release(store->owners);
	bt_free(store);
}

uint64_t bt_store_rv(const struct bt_store *store)
{
	return store->rv;
}

uint64_t bt_store_next_rv(const struct bt_store *store)
{
	return store->rv + 1;
}

static uint32_t find_slot(const struct bt_collection *collection, struct bt_str key, uint64_t hash)
{
	BT_MAP_EACH (&collection->by_key, hash, slot) {
		if (bt_str_equal(bt_stored_key(collection->entries.items[slot]), key)) {
			return slot;
		}
	}
	return UINT32_MAX;
}

struct bt_stored *bt_store_find(
	const struct bt_store *store, uint32_t collection_index, struct bt_str key)
{
	const struct bt_collection *collection = bt_store_at(store, collection_index);
	uint32_t slot = find_slot(collection, key, bt_str_hash(key));

	return slot != UINT32_MAX ? collection->entries.items[slot] : NULL;
}

/** Puts a new entry into a free slot and indexes its key. */
static void add_entry(struct bt_collection *collection, struct bt_stored *entry, uint64_t hash)
{
	uint32_t slot;

	bt_vec_store(&collection->entries, &collection->free_slots, entry, slot);
	bt_map_insert(&collection->by_key, hash, slot);
	bt_order_insert(collection, bt_stored_key(entry), slot);
	collection->count++;
}

bool bt_store_restore(struct bt_store *store, uint32_t collection_index, struct bt_stored *entry)
{
	struct bt_collection *collection = bt_store_at(store, collection_index);
	uint64_t hash = bt_str_hash(bt_stored_key(entry));

	if (find_slot(collection, bt_stored_key(entry), hash) != UINT32_MAX) {
		bt_stored_release(entry);
		return false;
	}
	add_entry(collection, entry, hash);
	return true;
}

/** Records a change: new RV, window, pending write to the file, listeners. */
static void commit(struct bt_store *store, const struct bt_store_change *change, int64_t now_ns)
{
	struct bt_collection *collection = bt_store_at(store, change->collection);
	uint64_t newest = (store->mark_count + BT_STORE_MARKS - 1) % BT_STORE_MARKS;

	if (store->mark_count == 0 || now_ns - store->marks[newest].time_ns >= BT_STORE_MARK_NS) {
		struct bt_store_mark mark = {now_ns, store->rv};
		store->marks[store->mark_count++ % BT_STORE_MARKS] = mark;
	}
	store->rv = change->rv;
	if (store->file != NULL) {
		struct bt_pending_write write = {
			.collection = change->collection,
			.removed = change->type == BT_CHANGE_DELETED,
			.replaced_rv = change->before != NULL ? change->before->rv : 0,
			.entry = bt_stored_share(change->after),
		};

		bt_vec_push(&store->pending, write);
	}
	bt_window_add(
		&collection->window, &store->options, change, collection->walk_count != 0, now_ns);
	for (uint32_t i = 0; i < store->listeners.count; i++) {
		store->listeners.items[i].changed(store->listeners.items[i].context, change);
	}
}

/** owned NULL: keep the object's owners. */
static struct bt_stored *put(struct bt_store *store, uint32_t collection_index, struct bt_str key,
	struct bt_str text, const struct bt_owned *owned, int64_t now_ns)
{
	struct bt_collection *collection = bt_store_at(store, collection_index);
	uint64_t hash = bt_str_hash(key);
	uint32_t slot = find_slot(collection, key, hash);
	struct bt_store_change change = {
		.rv = store->rv + 1,
		.type = slot == UINT32_MAX ? BT_CHANGE_ADDED : BT_CHANGE_MODIFIED,
		.collection = collection_index,
	};

	if (slot != UINT32_MAX) {
		change.before = collection->entries.items[slot];
	}
	change.after = bt_stored_new(
		store, change.rv, key, text, owned != NULL ? *owned : owned_of(change.before));
	if (slot == UINT32_MAX) {
		add_entry(collection, change.after, hash);
	} else {
		collection->entries.items[slot] = change.after;
	}
	/* key and text may point into the replaced entry, so release it last. */
	commit(store, &change, now_ns);
	bt_stored_release(change.before);
	return change.after;
}

struct bt_stored *bt_store_put(struct bt_store *store, uint32_t collection, struct bt_str key,
	struct bt_str text, int64_t now_ns)
{
	struct bt_owned none = {NULL, BT_STR("")};
	return put(store, collection, key, text, &none, now_ns);
}

struct bt_stored *bt_store_put_same_owners(struct bt_store *store, uint32_t collection,
	struct bt_str key, struct bt_str text, int64_t now_ns)
{
	return put(store, collection, key, text, NULL, now_ns);
}

struct bt_stored *bt_store_put_owned(struct bt_store *store, uint32_t collection, struct bt_str key,
	struct bt_str text, struct bt_owners *owners, struct bt_str times, int64_t now_ns)
{
	struct bt_owned owned = {owners, times};
	return put(store, collection, key, text, &owned, now_ns);
}

struct bt_stored *bt_store_remove(struct bt_store *store, uint32_t collection_index,
	struct bt_str key, struct bt_str text, int64_t now_ns)
{
	struct bt_collection *collection = bt_store_at(store, collection_index);
	uint64_t hash = bt_str_hash(key);
	uint32_t slot = find_slot(collection, key, hash);
	struct bt_store_change change = {
		.rv = store->rv + 1,
		.type = BT_CHANGE_DELETED,
		.collection = collection_index,
	};

	BT_ASSERT(slot != UINT32_MAX);
	change.before = collection->entries.items[slot];
	change.after = bt_stored_new(store, change.rv, key, text, owned_of(change.before));
	bt_order_remove(collection, bt_stored_key(change.before));
	BT_ASSERT(bt_map_remove(&collection->by_key, hash, slot));
	collection->entries.items[slot] = NULL;
	bt_vec_push(&collection->free_slots, slot);
	collection->count--;
	commit(store, &change, now_ns);
	bt_stored_release(change.before);
	/*
	 * The window has a second reference and keeps its newest change, so the result stays valid.
	 */
	bt_stored_release(change.after);
	return change.after;
}

uint64_t bt_store_compacted_rv(const struct bt_store *store, int64_t now_ns)
{
	uint64_t rv = 0;
	for (uint32_t i = 0; i < BT_STORE_MARKS && i < store->mark_count; i++) {
		const struct bt_store_mark *mark = &store->marks[i];
		if (mark->time_ns <= now_ns - store->options.window_age_ns && mark->rv > rv) {
			rv = mark->rv;
		}
	}
	return rv;
}

uint64_t bt_store_count(const struct bt_store *store, uint32_t collection)
{
	return bt_store_at(store, collection)->count;
}

void bt_store_on_change(struct bt_store *store,
	void (*changed)(void *context, const struct bt_store_change *change), void *context)
{
	struct bt_store_listener listener = {changed, context};

	bt_vec_push(&store->listeners, listener);
}

void bt_store_off_change(struct bt_store *store, const void *context)
{
	for (uint32_t i = store->listeners.count; i-- != 0;) {
		if (store->listeners.items[i].context == context) {
			bt_vec_remove_ordered(&store->listeners, i);
		}
	}
}

bool bt_store_needs_sync(const struct bt_store *store)
{
	return store->pending.count != 0;
}
