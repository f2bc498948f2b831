/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The assume cache of any kind of object, which the caller feeds with events, and the assume caches
 * of volumes and claims, which read the object store. Spec 07 section 3.
 */
#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash_table.h"
#include "berth/assume_cache.h"
#include "compat/convert_storage.h"
#include "lib/convert.h"
#include "plugins/assume_cache.h"

/** The versions of one object. The entry holds a reference to each version. */
struct entry {
	struct bt_str key; /* owned */
	uint64_t hash;
	struct berth_object *api;    /* last version from the API */
	struct berth_object *latest; /* the assumed version; `api` if no version is assumed */
};

/**
 * A change to deliver to the handlers. The event holds a reference to each version. before NULL:
 * the object was added; after NULL: the object was removed.
 */
struct event {
	struct berth_object *before;
	struct berth_object *after;
	/* The handlers to call: those that were there, or only the last one for its first list. */
	uint32_t first_handler;
	uint32_t handler_end;
	bool is_initial;
};

struct berth_assume_cache {
	struct bt_strbuf description;
	struct bt_strbuf index_name;
	berth_index_fn index;
	void *index_context;
	BT_HASH_TABLE(struct entry) entries; /* by the hash of the key; a free row is zero */
	BT_VEC(struct berth_assume_cache_handler) handlers;
	BT_VEC(struct event) events; /* the first `delivered` events are done */
	uint32_t delivered;
	bool is_delivering;
};

struct berth_assume_cache *berth_assume_cache_create(
	const char *description, const char *index_name, berth_index_fn index, void *index_context)
{
	struct berth_assume_cache *cache = BT_NEW(struct berth_assume_cache);

	bt_strbuf_append_c(&cache->description, description);
	if (index != NULL && index_name != NULL) {
		bt_strbuf_append_c(&cache->index_name, index_name);
	}
	cache->index = index;
	cache->index_context = index_context;
	return cache;
}

static void finish_entry(struct entry *entry)
{
	bt_lib_free_text(entry->key);
	berth_object_release(entry->api);
	berth_object_release(entry->latest);
}

static void finish_event(const struct event *event)
{
	berth_object_release(event->before);
	berth_object_release(event->after);
}

void berth_assume_cache_destroy(struct berth_assume_cache *cache)
{
	if (cache == NULL) {
		return;
	}
	for (uint32_t i = 0; i < cache->entries.count; i++) {
		finish_entry(&cache->entries.items[i]);
	}
	for (uint32_t i = cache->delivered; i < cache->events.count; i++) {
		finish_event(&cache->events.items[i]);
	}
	bt_hash_table_finish(&cache->entries);
	bt_vec_finish(&cache->handlers);
	bt_vec_finish(&cache->events);
	bt_strbuf_finish(&cache->description);
	bt_strbuf_finish(&cache->index_name);
	bt_free(cache);
}

struct berth_str berth_assume_cache_index_name(const struct berth_assume_cache *cache)
{
	return bt_strbuf_str(&cache->index_name);
}

/**
 * Calls the handlers for each event. A handler may change the cache: the new events are appended to
 * the list, and the running loop delivers them too.
 */
static void deliver_events(struct berth_assume_cache *cache)
{
	if (cache->is_delivering) {
		return;
	}
	cache->is_delivering = true;
	while (cache->delivered < cache->events.count) {
		struct event event = cache->events.items[cache->delivered++];

		for (uint32_t i = event.first_handler; i < event.handler_end; i++) {
			struct berth_assume_cache_handler handler = cache->handlers.items[i];

			if (event.before == NULL) {
				if (handler.on_add != NULL) {
					handler.on_add(
						handler.context, event.after, event.is_initial);
				}
			} else if (event.after == NULL) {
				if (handler.on_delete != NULL) {
					handler.on_delete(handler.context, event.before);
				}
			} else if (handler.on_update != NULL) {
				handler.on_update(handler.context, event.before, event.after);
			}
		}
		finish_event(&event);
	}
	cache->events.count = 0;
	cache->delivered = 0;
	cache->is_delivering = false;
}

/** Appends an event. Takes references to before and after, which may be NULL. */
static void add_event(struct berth_assume_cache *cache, struct berth_object *before,
	struct berth_object *after, bool is_initial)
{
	struct event event = {
		.first_handler = is_initial ? cache->handlers.count - 1 : 0,
		.handler_end = cache->handlers.count,
		.is_initial = is_initial,
	};

	event.before = before != NULL ? berth_object_share(before) : NULL;
	event.after = after != NULL ? berth_object_share(after) : NULL;
	bt_vec_push(&cache->events, event);
}

void berth_assume_cache_add_event_handler(
	struct berth_assume_cache *cache, const struct berth_assume_cache_handler *handler)
{
	bt_vec_push(&cache->handlers, *handler);
	for (uint32_t i = 0; i < cache->entries.count; i++) {
		if (cache->entries.items[i].latest != NULL) {
			add_event(cache, NULL, cache->entries.items[i].latest, true);
		}
	}
	deliver_events(cache);
}

static struct bt_str key_of(const struct berth_object *object, struct bt_strbuf *buffer)
{
	struct bt_str namespace_ = berth_object_namespace(object);

	if (namespace_.length != 0) {
		bt_strbuf_append_str(buffer, namespace_);
		bt_strbuf_append_char(buffer, '/');
	}
	bt_strbuf_append_str(buffer, berth_object_name(object));
	return bt_strbuf_str(buffer);
}

static struct entry *find(const struct berth_assume_cache *cache, struct bt_str key)
{
	uint64_t hash = bt_str_hash(key);

	BT_MAP_EACH (&cache->entries.map, hash, index) {
		struct entry *entry = &cache->entries.items[index];
		if (bt_str_equal(entry->key, key)) {
			return entry;
		}
	}
	return NULL;
}

static void set_object(struct berth_object **place, struct berth_object *object)
{
	struct berth_object *before = *place;

	*place = berth_object_share(object);
	berth_object_release(before);
}

static int not_found(
	const struct berth_assume_cache *cache, struct bt_str key, struct berth_error *err)
{
	return bt_error_set(err, BERTH_ERR_NOT_FOUND, "could not find %s \"%.*s\"",
		bt_strbuf_c(&cache->description), BT_STR_ARG(key));
}

/** Parses a resourceVersion like strconv.ParseInt in base 10. */
static int parse_version(const struct berth_assume_cache *cache, struct bt_str key,
	struct bt_str text, int64_t *out_version, struct berth_error *err)
{
	bool has_sign = text.length != 0 && (text.data[0] == '-' || text.data[0] == '+');
	bool is_number = bt_str_is_digits(bt_str_sub(text, has_sign ? 1 : 0, text.length));

	return bt_str_parse_int64(text, out_version)
		? BERTH_OK
		: bt_error_set(err, BERTH_ERR_INVALID,
			  "error parsing ResourceVersion \"%.*s\" for %s \"%.*s\": "
			  "strconv.ParseInt: parsing \"%.*s\": %s",
			  BT_STR_ARG(text), bt_strbuf_c(&cache->description), BT_STR_ARG(key),
			  BT_STR_ARG(text), is_number ? "value out of range" : "invalid syntax");
}

/**
 * Parses the resourceVersion of the object to *out_version, then the resourceVersion of the entry's
 * latest version to *out_stored.
 */
static int parse_versions(const struct berth_assume_cache *cache, const struct entry *entry,
	const struct berth_object *object, int64_t *out_stored, int64_t *out_version,
	struct berth_error *err)
{
	int result = parse_version(
		cache, entry->key, berth_object_resource_version(object), out_version, err);

	return result != BERTH_OK
		? result
		: parse_version(cache, entry->key, berth_object_resource_version(entry->latest),
			  out_stored, err);
}

bool berth_assume_cache_put(struct berth_assume_cache *cache, struct berth_object *object)
{
	struct bt_strbuf buffer = {0};
	int64_t version;
	int64_t stored;
	bool accepted = true;

	if (object == NULL) {
		return false;
	}
	struct bt_str key = key_of(object, &buffer);
	struct entry *entry = find(cache, key);
	if (entry == NULL) {
		struct entry added = {.key = bt_lib_own_text(key),
			.hash = bt_str_hash(key),
			.api = berth_object_share(object),
			.latest = berth_object_share(object)};

		uint32_t index;

		bt_hash_table_add(&cache->entries, added.hash, added, index);
		add_event(cache, NULL, object, false);
	} else if (parse_versions(cache, entry, object, &stored, &version, NULL) != BERTH_OK ||
		version <= stored) {
		accepted = false;
	} else {
		add_event(cache, entry->latest, object, false);
		set_object(&entry->api, object);
		set_object(&entry->latest, object);
	}
	bt_strbuf_finish(&buffer);
	deliver_events(cache);
	return accepted;
}

void berth_assume_cache_delete(struct berth_assume_cache *cache, struct berth_str object_name)
{
	struct entry *entry = find(cache, object_name);

	if (entry == NULL) {
		return;
	}
	add_event(cache, entry->latest, NULL, false);
	bt_hash_table_remove(
		&cache->entries, entry->hash, (uint32_t)(entry - cache->entries.items));
	finish_entry(entry);
	*entry = (struct entry){0};
	deliver_events(cache);
}

int berth_assume_cache_assume(
	struct berth_assume_cache *cache, struct berth_object *object, struct berth_error *err)
{
	struct bt_strbuf buffer = {0};
	struct bt_str key = key_of(object, &buffer);
	struct entry *entry = find(cache, key);
	int64_t version;
	int64_t stored;
	int result = entry != NULL ? parse_versions(cache, entry, object, &stored, &version, err)
				   : not_found(cache, key, err);

	if (result == BERTH_OK && version < stored) {
		result = bt_error_set(err, BERTH_ERR_STATE,
			"%s \"%.*s\" is out of sync (stored: %lld, assume: %lld)",
			bt_strbuf_c(&cache->description), BT_STR_ARG(key), (long long)stored,
			(long long)version);
	} else if (result == BERTH_OK) {
		add_event(cache, entry->latest, object, false);
		set_object(&entry->latest, object);
	}
	bt_strbuf_finish(&buffer);
	deliver_events(cache);
	return result;
}

void berth_assume_cache_restore(struct berth_assume_cache *cache, struct berth_str object_name)
{
	struct entry *entry = find(cache, object_name);

	if (entry == NULL || entry->latest == entry->api) {
		return;
	}
	add_event(cache, entry->latest, entry->api, false);
	set_object(&entry->latest, entry->api);
	deliver_events(cache);
}

int berth_assume_cache_get(const struct berth_assume_cache *cache, struct berth_str object_name,
	struct berth_object **out_object, struct berth_error *err)
{
	const struct entry *entry = find(cache, object_name);

	if (entry == NULL) {
		return not_found(cache, object_name, err);
	}
	*out_object = entry->latest;
	return BERTH_OK;
}

int berth_assume_cache_get_api_obj(const struct berth_assume_cache *cache,
	struct berth_str object_name, struct berth_object **out_object, struct berth_error *err)
{
	const struct entry *entry = find(cache, object_name);

	if (entry == NULL) {
		return not_found(cache, object_name, err);
	}
	*out_object = entry->api;
	return BERTH_OK;
}

struct berth_object *const *berth_assume_cache_list(const struct berth_assume_cache *cache,
	const struct berth_object *index_object, struct berth_arena *arena, uint32_t *out_count)
{
	struct berth_object **list =
		BT_ARENA_NEW_ARRAY(bt_arena_of(arena), struct berth_object *, cache->entries.count);
	bool indexed = cache->index != NULL && index_object != NULL;
	const struct berth_str *wanted = NULL;
	uint32_t wanted_count = 0;
	uint32_t count = 0;

	if (indexed) {
		wanted = cache->index(cache->index_context, index_object, arena, &wanted_count);
	}
	for (uint32_t i = 0; i < cache->entries.count; i++) {
		struct berth_object *latest = cache->entries.items[i].latest;
		struct bt_arena scratch = {0};
		uint32_t value_count = 0;
		const struct berth_str *values = indexed && latest != NULL
			? cache->index(cache->index_context, latest, berth_arena_of(&scratch),
				  &value_count)
			: NULL;

		bool is_listed = latest != NULL && !indexed;

		for (uint32_t k = 0; k < value_count && !is_listed; k++) {
			is_listed = bt_str_is_among(values[k], wanted, wanted_count);
		}
		if (is_listed) {
			list[count++] = latest;
		}
		bt_arena_finish(&scratch);
	}
	*out_count = count;
	return list;
}

BT_LIB_CONVERT(pv_assume_cache, bt_assume_cache, berth_pv_assume_cache)
BT_LIB_CONVERT(pvc_assume_cache, bt_assume_cache, berth_pvc_assume_cache)

static struct bt_assume_cache *create_for(const struct berth_handle *handle, enum bt_kind kind)
{
	struct bt_assume_cache *cache = BT_NEW(struct bt_assume_cache);

	bt_assume_cache_init(cache, &bt_const_handle_of(handle)->state->objects, kind);
	return cache;
}

static void destroy(struct bt_assume_cache *cache)
{
	if (cache != NULL) {
		bt_assume_cache_finish(cache);
		bt_free(cache);
	}
}

static int assume_object(
	struct bt_assume_cache *cache, const struct berth_object *object, struct berth_error *err)
{
	const struct bt_object *inside = bt_const_object_of(object);

	if (inside->kind != cache->kind) {
		return bt_error_set(err, BERTH_ERR_INVALID, "cannot assume a %s among %s",
			bt_kind_info(inside->kind)->name, bt_kind_info(cache->kind)->resource);
	}
	return bt_assume_cache_assume(cache, inside->value, err);
}

static void restore(struct bt_assume_cache *cache, const struct bt_object_meta *meta)
{
	bt_assume_cache_restore(cache, meta->namespace_, meta->name, meta->resource_version);
}

struct berth_pv_assume_cache *berth_pv_assume_cache_create(const struct berth_handle *handle)
{
	return berth_pv_assume_cache_of(create_for(handle, BT_KIND_PERSISTENT_VOLUME));
}

void berth_pv_assume_cache_destroy(struct berth_pv_assume_cache *cache)
{
	destroy(bt_pv_assume_cache_of(cache));
}

/** Converts the result of a search; volume NULL: there is no volume with this name. */
static int found_pv(const struct bt_assume_cache *cache, struct berth_str name,
	const struct bt_persistent_volume *volume, const struct berth_pv **out_pv,
	struct berth_error *err)
{
	if (volume == NULL) {
		return bt_assume_cache_not_found(cache, BT_STR(""), name, err);
	}
	*out_pv = berth_const_pv_of(volume);
	return BERTH_OK;
}

int berth_pv_assume_cache_get_pv(struct berth_pv_assume_cache *outside, struct berth_str pv_name,
	const struct berth_pv **out_pv, struct berth_error *err)
{
	struct bt_assume_cache *cache = bt_pv_assume_cache_of(outside);

	return found_pv(
		cache, pv_name, bt_assume_cache_find(cache, BT_STR(""), pv_name), out_pv, err);
}

int berth_pv_assume_cache_get_api_pv(const struct berth_pv_assume_cache *outside,
	struct berth_str pv_name, const struct berth_pv **out_pv, struct berth_error *err)
{
	const struct bt_assume_cache *cache = bt_const_pv_assume_cache_of(outside);

	return found_pv(
		cache, pv_name, bt_assume_cache_find_api(cache, BT_STR(""), pv_name), out_pv, err);
}

const struct berth_pv *const *berth_pv_assume_cache_list_pvs(struct berth_pv_assume_cache *outside,
	struct berth_str storage_class_name, struct berth_arena *arena, uint32_t *out_count)
{
	struct bt_assume_cache *cache = bt_pv_assume_cache_of(outside);
	/* The cast is safe: create_for took the store from a state that is not constant. */
	struct bt_object_store *store = (struct bt_object_store *)(uintptr_t)cache->store;
	const struct berth_pv **list = BT_ARENA_NEW_ARRAY(bt_arena_of(arena),
		const struct berth_pv *, bt_object_store_count(store, cache->kind));
	const struct bt_persistent_volume *stored;
	struct bt_str all = {NULL, 0};
	uint32_t cursor = 0;

	*out_count = 0;
	while ((stored = bt_object_store_next(store, cache->kind, all, &cursor)) != NULL) {
		if (bt_str_equal(bt_persistent_volume_class(stored), storage_class_name)) {
			list[(*out_count)++] =
				berth_const_pv_of(bt_assume_cache_view(cache, stored));
		}
	}
	return list;
}

int berth_pv_assume_cache_assume(struct berth_pv_assume_cache *cache,
	const struct berth_object *object, struct berth_error *err)
{
	return assume_object(bt_pv_assume_cache_of(cache), object, err);
}

void berth_pv_assume_cache_restore(struct berth_pv_assume_cache *cache, const struct berth_pv *pv)
{
	restore(bt_pv_assume_cache_of(cache), &bt_const_pv_of(pv)->metadata);
}

struct berth_pvc_assume_cache *berth_pvc_assume_cache_create(const struct berth_handle *handle)
{
	return berth_pvc_assume_cache_of(create_for(handle, BT_KIND_PERSISTENT_VOLUME_CLAIM));
}

void berth_pvc_assume_cache_destroy(struct berth_pvc_assume_cache *cache)
{
	destroy(bt_pvc_assume_cache_of(cache));
}

/**
 * Finds a claim by the key "namespace/name" or "name". in_api: find the claim as the API server
 * has it, not the assumed claim.
 */
static int find_pvc(struct bt_assume_cache *cache, struct bt_str key, bool in_api,
	const struct berth_pvc **out_pvc, struct berth_error *err)
{
	struct bt_str name = key;
	struct bt_str namespace_ = bt_str_cut(&name, '/');

	if (name.data == NULL) {
		name = key;
		namespace_ = BT_STR("");
	}
	const struct bt_persistent_volume_claim *claim = in_api
		? bt_assume_cache_find_api(cache, namespace_, name)
		: bt_assume_cache_find(cache, namespace_, name);

	if (claim == NULL) {
		return bt_assume_cache_not_found(cache, namespace_, name, err);
	}
	*out_pvc = berth_const_pvc_of(claim);
	return BERTH_OK;
}

int berth_pvc_assume_cache_get_pvc(struct berth_pvc_assume_cache *cache, struct berth_str pvc_key,
	const struct berth_pvc **out_pvc, struct berth_error *err)
{
	return find_pvc(bt_pvc_assume_cache_of(cache), pvc_key, false, out_pvc, err);
}

int berth_pvc_assume_cache_get_api_pvc(const struct berth_pvc_assume_cache *cache,
	struct berth_str pvc_key, const struct berth_pvc **out_pvc, struct berth_error *err)
{
	/* A search with in_api does not change the cache. */
	struct bt_assume_cache *inside = (struct bt_assume_cache *)(uintptr_t)cache;

	return find_pvc(inside, pvc_key, true, out_pvc, err);
}

int berth_pvc_assume_cache_assume(struct berth_pvc_assume_cache *cache,
	const struct berth_object *object, struct berth_error *err)
{
	return assume_object(bt_pvc_assume_cache_of(cache), object, err);
}

void berth_pvc_assume_cache_restore(
	struct berth_pvc_assume_cache *cache, const struct berth_pvc *pvc)
{
	restore(bt_pvc_assume_cache_of(cache), &bt_const_pvc_of(pvc)->metadata);
}
