/* SPDX-License-Identifier: Apache-2.0 */
#include "plugins/assume_cache.h"

#include "base/error.h"

#define SWEEP_MIN 64

/** Returns the metadata of an object: the structure of every kind starts with the metadata. */
static const struct bt_object_meta *meta_of(const void *value)
{
	return value;
}

void bt_assume_cache_init(
	struct bt_assume_cache *cache, const struct bt_object_store *store, enum bt_kind kind)
{
	*cache = (struct bt_assume_cache){.store = store, .kind = kind, .sweep_at = SWEEP_MIN};
}

void bt_assume_cache_finish(struct bt_assume_cache *cache)
{
	bt_vec_finish_each(&cache->assumed, bt_object_release(each->object));
	bt_map_finish(&cache->map);
}

static uint32_t find_index(
	const struct bt_assume_cache *cache, struct bt_str namespace_, struct bt_str name)
{
	uint64_t hash = bt_hash_name(namespace_, name);

	BT_MAP_EACH (&cache->map, hash, index) {
		const struct bt_object_meta *meta = cache->assumed.items[index].object->meta;
		if (bt_str_equal(meta->name, name) && bt_str_equal(meta->namespace_, namespace_)) {
			return index;
		}
	}
	return UINT32_MAX;
}

static void remove_at(struct bt_assume_cache *cache, uint32_t index)
{
	uint32_t last = cache->assumed.count - 1;

	bt_map_remove_swap(&cache->map, cache->assumed.items[index].hash, index,
		cache->assumed.items[last].hash, last);
	bt_object_release(cache->assumed.items[index].object);
	bt_vec_remove_swap(&cache->assumed, index);
}

const void *bt_assume_cache_find_api(
	const struct bt_assume_cache *cache, struct bt_str namespace_, struct bt_str name)
{
	return bt_object_store_find(cache->store, cache->kind, namespace_, name);
}

const void *bt_assume_cache_view(struct bt_assume_cache *cache, const void *stored)
{
	const struct bt_object_meta *meta = meta_of(stored);

	if (cache->assumed.count == 0) {
		return stored;
	}
	uint32_t index = find_index(cache, meta->namespace_, meta->name);
	if (index == UINT32_MAX) {
		return stored;
	}
	if (!bt_str_equal(cache->assumed.items[index].object->meta->resource_version,
		    meta->resource_version)) {
		remove_at(cache, index);
		return stored;
	}
	return cache->assumed.items[index].object->value;
}

const void *bt_assume_cache_find(
	struct bt_assume_cache *cache, struct bt_str namespace_, struct bt_str name)
{
	const void *stored = bt_assume_cache_find_api(cache, namespace_, name);

	return stored != NULL ? bt_assume_cache_view(cache, stored) : NULL;
}

/** Append the key in double quotes: "name" or "namespace/name". */
static void append_key(struct bt_strbuf *text, struct bt_str namespace_, struct bt_str name)
{
	bt_strbuf_append_char(text, '"');
	if (namespace_.length != 0) {
		bt_strbuf_append_str(text, namespace_);
		bt_strbuf_append_char(text, '/');
	}
	bt_strbuf_append_str(text, name);
	bt_strbuf_append_char(text, '"');
}

int bt_assume_cache_not_found(const struct bt_assume_cache *cache, struct bt_str namespace_,
	struct bt_str name, struct berth_error *err)
{
	struct bt_strbuf key = {0};

	append_key(&key, namespace_, name);
	int code = bt_error_set(err, BERTH_ERR_NOT_FOUND, "%s %s not found",
		bt_kind_info(cache->kind)->resource, bt_strbuf_c(&key));
	bt_strbuf_finish(&key);
	return code;
}

int bt_assume_cache_assume(
	struct bt_assume_cache *cache, const void *value, struct berth_error *err)
{
	const struct bt_object_meta *meta = meta_of(value);
	const void *stored = bt_assume_cache_find_api(cache, meta->namespace_, meta->name);

	if (stored == NULL) {
		return bt_assume_cache_not_found(cache, meta->namespace_, meta->name, err);
	}
	if (!bt_str_equal(meta_of(stored)->resource_version, meta->resource_version)) {
		struct bt_strbuf key = {0};

		append_key(&key, meta->namespace_, meta->name);
		int code = bt_error_set(err, BERTH_ERR_STATE,
			"%s is out of sync (stored: %.*s, assume: %.*s)", bt_strbuf_c(&key),
			BT_STR_ARG(meta_of(stored)->resource_version),
			BT_STR_ARG(meta->resource_version));
		bt_strbuf_finish(&key);
		return code;
	}
	struct bt_object *object = bt_object_create(cache->kind, value);
	uint32_t index = find_index(cache, meta->namespace_, meta->name);
	if (index != UINT32_MAX) {
		bt_object_release(cache->assumed.items[index].object);
		cache->assumed.items[index].object = object;
		return 0;
	}
	if (cache->assumed.count >= cache->sweep_at) {
		/* Remove assumptions of versions that the API has replaced or deleted. */
		for (uint32_t i = cache->assumed.count; i > 0; i--) {
			const struct bt_object_meta *old = cache->assumed.items[i - 1].object->meta;
			const void *now =
				bt_assume_cache_find_api(cache, old->namespace_, old->name);

			if (now == NULL ||
				!bt_str_equal(
					meta_of(now)->resource_version, old->resource_version)) {
				remove_at(cache, i - 1);
			}
		}
		/*
		 * Sweep again when the number of assumptions has doubled, so that the amortised
		 * cost per assumption is constant.
		 */
		cache->sweep_at =
			cache->assumed.count < SWEEP_MIN / 2 ? SWEEP_MIN : 2 * cache->assumed.count;
	}
	struct bt_assumed_object entry = {object, bt_hash_name(meta->namespace_, meta->name)};
	bt_vec_push(&cache->assumed, entry);
	bt_map_insert(&cache->map, entry.hash, cache->assumed.count - 1);
	return 0;
}

void bt_assume_cache_restore(struct bt_assume_cache *cache, struct bt_str namespace_,
	struct bt_str name, struct bt_str resource_version)
{
	uint32_t index = find_index(cache, namespace_, name);

	if (index != UINT32_MAX &&
		bt_str_equal(cache->assumed.items[index].object->meta->resource_version,
			resource_version)) {
		remove_at(cache, index);
	}
}
