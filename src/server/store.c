/* SPDX-License-Identifier: Apache-2.0 */
#include "server/store.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/nanoseconds.h"
#include "server/store_private.h"

/**
 * While a window is larger than this factor times window_bytes_max, it forgets its oldest changes,
 * even if a walk needs them. So writers of huge objects cannot use unlimited memory.
 */
#define HARD_BYTES_FACTOR 4

static uint64_t bytes_of(const struct bt_stored *stored)
{
	return stored == NULL ? 0 : sizeof(*stored) + stored->key_length + stored->text_length;
}

/** Bytes of memory that only the window keeps alive for this change. */
static uint64_t bytes_kept(const struct bt_window_change *change)
{
	return sizeof(*change) + bytes_of(change->before) +
		(bt_window_type(change) == BT_CHANGE_DELETED ? bytes_of(change->after) : 0);
}

/**
 * Adds a change to the window and forgets old changes. `is_needed` true: a walk needs past changes,
 * so the window forgets changes only if it is larger than HARD_BYTES_FACTOR * window_bytes_max.
 */
static void add_to_window(struct bt_window *window, const struct bt_store_options *options,
	const struct bt_store_change *change, bool is_needed, int64_t now_ns)
{
	int64_t now_ms = now_ns / 1000000;
	int64_t age_ms = options->window_age_ns / 1000000;

	if (window->count == window->capacity) {
		uint32_t capacity = window->capacity != 0 ? 2 * window->capacity : 16;
		struct bt_window_change *ring = BT_NEW_ARRAY(struct bt_window_change, capacity);

		BT_ASSERT(capacity > window->capacity);
		for (uint32_t i = 0; i < window->count; i++) {
			ring[i] = *bt_window_at(window, i);
		}
		bt_free(window->ring);
		window->ring = ring;
		window->capacity = capacity;
		window->first = 0;
	}
	struct bt_window_change *added =
		&window->ring[(window->first + window->count) & (window->capacity - 1)];
	*added = (struct bt_window_change){
		.rv = change->rv,
		.before = change->before != NULL ? bt_stored_share(change->before) : NULL,
		.after = bt_stored_share(change->after),
		.time_and_type = (uint64_t)now_ms << 2 | (uint64_t)change->type,
	};
	window->count++;
	window->bytes += bytes_kept(added);
	/* The newest change always stays, because the caller was given its entry. */
	while (window->count > 1) {
		bool is_old = now_ms - bt_window_time_ms(&window->ring[window->first]) > age_ms;
		bool is_large = window->bytes > options->window_bytes_max;
		bool is_huge = window->bytes / HARD_BYTES_FACTOR > options->window_bytes_max;

		if (!is_huge &&
			(is_needed || window->count <= options->window_changes_min ||
				!(is_old || is_large))) {
			break;
		}
		struct bt_window_change *oldest = &window->ring[window->first];

		window->bytes -= bytes_kept(oldest);
		window->start = oldest->rv;
		bt_stored_release(oldest->before);
		bt_stored_release(oldest->after);
		window->first = (window->first + 1) & (window->capacity - 1);
		window->count--;
	}
}

uint32_t bt_window_seek(const struct bt_window *window, uint64_t rv)
{
	uint32_t index;

	/* Check the usual case first: most callers have read all changes, or all but the newest. */
	if (window->count == 0 || bt_window_at(window, window->count - 1)->rv <= rv) {
		return window->count;
	}
	BT_LOWER_BOUND(index, window->count, middle, bt_window_at(window, middle)->rv <= rv);
	return index;
}

uint64_t bt_store_window_start(const struct bt_store *store, uint32_t collection)
{
	return bt_store_at(store, collection)->window.start;
}

bool bt_store_next_change(const struct bt_store *store, uint32_t collection, uint64_t rv,
	struct bt_store_change *out_change)
{
	const struct bt_window *window = &bt_store_at(store, collection)->window;
	uint32_t index = bt_window_seek(window, rv);

	if (index == window->count) {
		return false;
	}
	const struct bt_window_change *change = bt_window_at(window, index);
	*out_change = (struct bt_store_change){
		.rv = change->rv,
		.type = bt_window_type(change),
		.collection = collection,
		.before = change->before,
		.after = change->after,
	};
	return true;
}

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
	struct bt_str values = BT_STR("");
	struct bt_stored *stored;

	BT_ASSERT(key.length != 0 && key.length <= BT_STORE_KEY_BYTES_MAX);
	BT_ASSERT(text.length <= BT_STORE_TEXT_BYTES_MAX);
	struct bt_owners *owners = bt_owners_cut(store->owners, &text, &rest, &values);
	if (owners == NULL) {
		owners = bt_owners_share(owned.owners);
		values = owned.values;
	}
	BT_ASSERT(values.length == bt_owners_values_bytes(owners, values.data));
	size_t bytes = offsetof(struct bt_stored, bytes) + key.length + (size_t)text.length +
		rest.length + values.length + 1;
	bt_heap_use_huge_pages(); /* it is full of stored texts */
	stored = bt_malloc(bytes > sizeof(*stored) ? bytes : sizeof(*stored));
	stored->rv = rv;
	stored->owners = owners;
	stored->reference_count = 1;
	stored->text_length = text.length + rest.length;
	stored->status_bytes = 0;
	stored->key_length = (uint16_t)key.length;
	char *end = stored->bytes;
	const struct bt_str parts[] = {key, text, rest, {"", 1}, values};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(parts); i++) {
		if (parts[i].length != 0) {
			memcpy(end, parts[i].data, parts[i].length);
			end += parts[i].length;
		}
	}
	return stored;
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
	uint32_t found = bt_store_collection_find(store, name);

	if (found != BT_STORE_NO_COLLECTION) {
		return found;
	}
	BT_ASSERT(store->collections.count < BT_STORE_COLLECTIONS_MAX);
	struct bt_collection *collection = BT_NEW(struct bt_collection);
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
	bt_vec_finish_each(&store->pending, bt_stored_release(each->entry));
	for (uint32_t i = 0; i < store->collections.count; i++) {
		struct bt_collection *collection = store->collections.items[i];
		for (uint32_t k = 0; k < collection->window.count; k++) {
			bt_stored_release(bt_window_at(&collection->window, k)->before);
			bt_stored_release(bt_window_at(&collection->window, k)->after);
		}
		bt_free(collection->window.ring);
		for (uint32_t k = 0; k < collection->entries.count; k++) {
			bt_stored_release(collection->entries.items[k]);
		}
		bt_vec_finish_each(&collection->leaves, bt_free(*each));
		bt_vec_finish(&collection->unordered);
		bt_vec_finish(&collection->entries);
		bt_vec_finish(&collection->free_slots);
		bt_map_finish(&collection->by_key);
		bt_free(collection->name);
		bt_free(collection);
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
	bt_order_insert(collection, slot);
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
	add_to_window(
		&collection->window, &store->options, change, collection->walk_count != 0, now_ns);
	for (uint32_t i = 0; i < store->listeners.count; i++) {
		store->listeners.items[i].changed(store->listeners.items[i].context, change);
	}
}

struct bt_stored *bt_store_put_owned(struct bt_store *store, uint32_t collection_index,
	struct bt_str key, struct bt_str text, const struct bt_owned *owned, int64_t now_ns)
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
	change.after = bt_stored_new(store, change.rv, key, text,
		owned != NULL ? *owned : bt_stored_owned(change.before));
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
	return bt_store_put_owned(store, collection, key, text, &none, now_ns);
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
	change.after = bt_stored_new(store, change.rv, key, text, bt_stored_owned(change.before));
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
