/* SPDX-License-Identifier: Apache-2.0 */
/** The assume caches of volumes and claims. Spec 07 section 3.1. */
#include <string.h>

#include "base/alloc.h"
#include "berth/assume_cache.h"
#include "compat/convert_storage.h"
#include "plugins/assume_cache.h"

struct berth_pv_assume_cache {
	struct bt_assume_cache inside;
	struct bt_object_store *store;
};

struct berth_pvc_assume_cache {
	struct bt_assume_cache inside;
};

static int assume(
	struct bt_assume_cache *cache, const struct berth_object *object, struct berth_error *err)
{
	const struct bt_object *inside = bt_const_object_of(object);

	if (inside->kind != cache->kind) {
		return bt_error_set(err, BERTH_ERR_INVALID, "cannot assume a %s among %s",
			bt_kind_info(inside->kind)->name, bt_kind_info(cache->kind)->resource);
	}
	return bt_assume_cache_assume(cache, inside->value, err);
}

/* --- volumes --- */

struct berth_pv_assume_cache *berth_pv_assume_cache_create(const struct berth_handle *handle)
{
	struct berth_pv_assume_cache *cache = BT_NEW(struct berth_pv_assume_cache);

	cache->store = &bt_const_handle_of(handle)->state->objects;
	bt_assume_cache_init(&cache->inside, cache->store, BT_KIND_PERSISTENT_VOLUME);
	return cache;
}

void berth_pv_assume_cache_destroy(struct berth_pv_assume_cache *cache)
{
	if (cache != NULL) {
		bt_assume_cache_finish(&cache->inside);
		bt_free(cache);
	}
}

int berth_pv_assume_cache_get_pv(struct berth_pv_assume_cache *cache, struct berth_str pv_name,
	const struct berth_pv **out_pv, struct berth_error *err)
{
	const struct bt_persistent_volume *volume =
		bt_assume_cache_find(&cache->inside, BT_STR(""), pv_name);

	if (volume == NULL) {
		return bt_assume_cache_not_found(&cache->inside, BT_STR(""), pv_name, err);
	}
	*out_pv = berth_const_pv_of(volume);
	return BERTH_OK;
}

int berth_pv_assume_cache_get_api_pv(const struct berth_pv_assume_cache *cache,
	struct berth_str pv_name, const struct berth_pv **out_pv, struct berth_error *err)
{
	const struct bt_persistent_volume *volume =
		bt_assume_cache_find_api(&cache->inside, BT_STR(""), pv_name);

	if (volume == NULL) {
		return bt_assume_cache_not_found(&cache->inside, BT_STR(""), pv_name, err);
	}
	*out_pv = berth_const_pv_of(volume);
	return BERTH_OK;
}

const struct berth_pv *const *berth_pv_assume_cache_list_pvs(struct berth_pv_assume_cache *cache,
	struct berth_str storage_class_name, struct berth_arena *arena, uint32_t *out_count)
{
	const struct berth_pv **list =
		BT_ARENA_NEW_ARRAY(bt_arena_of(arena), const struct berth_pv *,
			bt_object_store_count(cache->store, BT_KIND_PERSISTENT_VOLUME));
	const struct bt_persistent_volume *stored;
	struct bt_str all = {NULL, 0};
	uint32_t cursor = 0;

	*out_count = 0;
	while ((stored = bt_object_store_next(
			cache->store, BT_KIND_PERSISTENT_VOLUME, all, &cursor)) != NULL) {
		if (bt_str_equal(bt_persistent_volume_class(stored), storage_class_name)) {
			list[(*out_count)++] =
				berth_const_pv_of(bt_assume_cache_view(&cache->inside, stored));
		}
	}
	return list;
}

int berth_pv_assume_cache_assume(struct berth_pv_assume_cache *cache,
	const struct berth_object *object, struct berth_error *err)
{
	return assume(&cache->inside, object, err);
}

void berth_pv_assume_cache_restore(struct berth_pv_assume_cache *cache, const struct berth_pv *pv)
{
	const struct bt_object_meta *meta = &bt_const_pv_of(pv)->metadata;

	bt_assume_cache_restore(&cache->inside, BT_STR(""), meta->name, meta->resource_version);
}

/* --- claims --- */

struct berth_pvc_assume_cache *berth_pvc_assume_cache_create(const struct berth_handle *handle)
{
	struct berth_pvc_assume_cache *cache = BT_NEW(struct berth_pvc_assume_cache);

	bt_assume_cache_init(&cache->inside, &bt_const_handle_of(handle)->state->objects,
		BT_KIND_PERSISTENT_VOLUME_CLAIM);
	return cache;
}

void berth_pvc_assume_cache_destroy(struct berth_pvc_assume_cache *cache)
{
	if (cache != NULL) {
		bt_assume_cache_finish(&cache->inside);
		bt_free(cache);
	}
}

/** "namespace/name"; without a slash all of it is the name. */
static void split_key(struct bt_str key, struct bt_str *out_namespace, struct bt_str *out_name)
{
	const char *slash = key.length != 0 ? memchr(key.data, '/', key.length) : NULL;
	uint32_t length = slash != NULL ? (uint32_t)(slash - key.data) : 0;
	uint32_t skip = slash != NULL ? length + 1 : 0;

	*out_namespace = (struct bt_str){key.data, length};
	*out_name = (struct bt_str){skip != 0 ? slash + 1 : key.data, key.length - skip};
}

int berth_pvc_assume_cache_get_pvc(struct berth_pvc_assume_cache *cache, struct berth_str pvc_key,
	const struct berth_pvc **out_pvc, struct berth_error *err)
{
	struct bt_str namespace_;
	struct bt_str name;

	split_key(pvc_key, &namespace_, &name);
	const struct bt_persistent_volume_claim *claim =
		bt_assume_cache_find(&cache->inside, namespace_, name);
	if (claim == NULL) {
		return bt_assume_cache_not_found(&cache->inside, namespace_, name, err);
	}
	*out_pvc = berth_const_pvc_of(claim);
	return BERTH_OK;
}

int berth_pvc_assume_cache_get_api_pvc(const struct berth_pvc_assume_cache *cache,
	struct berth_str pvc_key, const struct berth_pvc **out_pvc, struct berth_error *err)
{
	struct bt_str namespace_;
	struct bt_str name;

	split_key(pvc_key, &namespace_, &name);
	const struct bt_persistent_volume_claim *claim =
		bt_assume_cache_find_api(&cache->inside, namespace_, name);
	if (claim == NULL) {
		return bt_assume_cache_not_found(&cache->inside, namespace_, name, err);
	}
	*out_pvc = berth_const_pvc_of(claim);
	return BERTH_OK;
}

int berth_pvc_assume_cache_assume(struct berth_pvc_assume_cache *cache,
	const struct berth_object *object, struct berth_error *err)
{
	return assume(&cache->inside, object, err);
}

void berth_pvc_assume_cache_restore(
	struct berth_pvc_assume_cache *cache, const struct berth_pvc *pvc)
{
	const struct bt_object_meta *meta = &bt_const_pvc_of(pvc)->metadata;

	bt_assume_cache_restore(
		&cache->inside, meta->namespace_, meta->name, meta->resource_version);
}
