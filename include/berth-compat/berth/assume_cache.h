/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_ASSUME_CACHE_H
#define BERTH_ASSUME_CACHE_H
/**
 * @file
 * Objects that somebody has decided to write, laid over what is known of the cluster. Spec 07
 * section 3, upstream v1.36.
 *
 * There are two kinds. The generic cache is fed with events, accepts assumptions of the stored
 * version or a newer one, and tells handlers; the caches of volumes and claims lie over what a
 * scheduler knows, accept an assumption only of the very version it has, and are silent.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "berth/api.h"
#include "berth/error.h"
#include "berth/handle.h"
#include "berth/object.h"
#include "berth/storage.h"
#include "berth/str.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The generic cache, spec 07 section 3.2. */

/** Opaque. */
struct berth_assume_cache;

/**
 * cache.IndexFunc: the index values of an object. The list and its texts are in the arena or belong
 * to the object.
 */
typedef const struct berth_str *(*berth_index_fn)(void *context, const struct berth_object *object,
	struct berth_arena *arena, uint32_t *out_count);

/** Hears of changes of what readers see. NULL members are not called. Objects are borrowed. */
struct berth_assume_cache_handler {
	void *context; /**< handed to the functions */
	/** @p is_initial: it was there before the handler. */
	void (*on_add)(void *context, const struct berth_object *object, bool is_initial);
	/** What readers saw, and what they see now. */
	void (*on_update)(void *context, const struct berth_object *old_object,
		const struct berth_object *new_object);
	/** What readers saw. */
	void (*on_delete)(void *context, const struct berth_object *old_object);
};

/**
 * NewAssumeCache. @p description ("ResourceClaim") is for messages, copied. @p index_name and
 * @p index: an optional index; NULL: none. Objects come by berth_assume_cache_put() and
 * berth_assume_cache_delete(), which stand for the informer. owned: berth_assume_cache_destroy().
 */
BERTH_API struct berth_assume_cache *berth_assume_cache_create(
	const char *description, const char *index_name, berth_index_fn index, void *index_context);
/** Lets go of all objects. NULL is accepted. */
BERTH_API void berth_assume_cache_destroy(struct berth_assume_cache *cache);
/** Name of the index; "" without one. */
BERTH_API struct berth_str berth_assume_cache_index_name(const struct berth_assume_cache *cache);

/**
 * The informer tells of a new object or version; shared. It replaces the assumption unless its
 * metadata.resourceVersion is not greater than what readers see. false: it was ignored for that, or
 * because a version is not a number; NULL is ignored, too.
 */
BERTH_API bool berth_assume_cache_put(
	struct berth_assume_cache *cache, struct berth_object *object);
/** The informer tells that the object of this name is gone; unknown ones are ignored. */
BERTH_API void berth_assume_cache_delete(
	struct berth_assume_cache *cache, struct berth_str object_name);
/**
 * Calls the handler (copied) for every stored object, then for each change. Changes made by a
 * handler are delivered after the current one, to all handlers in the same order.
 */
BERTH_API void berth_assume_cache_add_event_handler(
	struct berth_assume_cache *cache, const struct berth_assume_cache_handler *handler);

/**
 * Lets readers see @p object (shared) instead. BERTH_ERR_NOT_FOUND: `could not find <description>
 * "<key>"`; BERTH_ERR_INVALID: `error parsing ResourceVersion "<v>" for <description> "<key>":
 * ...`; BERTH_ERR_STATE: `<description> "<key>" is out of sync (stored: <n>, assume: <m>)` when it
 * is older than what readers see.
 */
BERTH_API int berth_assume_cache_assume(
	struct berth_assume_cache *cache, struct berth_object *object, struct berth_error *err);
/** Readers see again what the informer told last. Unknown names are ignored. */
BERTH_API void berth_assume_cache_restore(
	struct berth_assume_cache *cache, struct berth_str object_name);
/**
 * What readers see: the assumed or the stored object, borrowed until the cache changes. The name is
 * "namespace/name", or "name" for kinds without a namespace. BERTH_ERR_NOT_FOUND as above.
 */
BERTH_API int berth_assume_cache_get(const struct berth_assume_cache *cache,
	struct berth_str object_name, struct berth_object **out_object, struct berth_error *err);
/** What the informer told last; errors as in berth_assume_cache_get(). */
BERTH_API int berth_assume_cache_get_api_obj(const struct berth_assume_cache *cache,
	struct berth_str object_name, struct berth_object **out_object, struct berth_error *err);
/**
 * What readers see of all objects that share an index value with @p index_object; of all objects
 * when it is NULL or there is no index. In no order; the list is in the arena. O(objects).
 */
BERTH_API struct berth_object *const *berth_assume_cache_list(
	const struct berth_assume_cache *cache, const struct berth_object *index_object,
	struct berth_arena *arena, uint32_t *out_count);

/* Volumes and claims, spec 07 section 3.1. What these return is borrowed until an assume, a restore
 * or a change of what the scheduler knows. */

/** PVAssumeCache: volumes. Opaque. */
struct berth_pv_assume_cache;

/** Over what the scheduler behind the handle knows. owned: berth_pv_assume_cache_destroy(). */
BERTH_API struct berth_pv_assume_cache *berth_pv_assume_cache_create(
	const struct berth_handle *handle);
/** NULL is accepted. */
BERTH_API void berth_pv_assume_cache_destroy(struct berth_pv_assume_cache *cache);
/** The assumed volume while its version is the stored one, else the stored volume.
 * BERTH_ERR_NOT_FOUND: `persistentvolumes "<name>" not found`. */
BERTH_API int berth_pv_assume_cache_get_pv(struct berth_pv_assume_cache *cache,
	struct berth_str pv_name, const struct berth_pv **out_pv, struct berth_error *err);
/** The stored volume; errors as in berth_pv_assume_cache_get_pv(). */
BERTH_API int berth_pv_assume_cache_get_api_pv(const struct berth_pv_assume_cache *cache,
	struct berth_str pv_name, const struct berth_pv **out_pv, struct berth_error *err);
/** Volumes whose stored version is of the class, as get_pv returns them; the list is in the arena.
 * O(volumes). */
BERTH_API const struct berth_pv *const *berth_pv_assume_cache_list_pvs(
	struct berth_pv_assume_cache *cache, struct berth_str storage_class_name,
	struct berth_arena *arena, uint32_t *out_count);
/** BERTH_ERR_NOT_FOUND as in get_pv; BERTH_ERR_STATE: `"<name>" is out of sync (stored: <v>,
 * assume: <v>)` unless it has the stored version; BERTH_ERR_INVALID: no volume. */
BERTH_API int berth_pv_assume_cache_assume(struct berth_pv_assume_cache *cache,
	const struct berth_object *object, struct berth_error *err);
/** Drops the assumption if it has this object's version, whoever made it. */
BERTH_API void berth_pv_assume_cache_restore(
	struct berth_pv_assume_cache *cache, const struct berth_pv *pv);

/** PVCAssumeCache: claims. Opaque. */
struct berth_pvc_assume_cache;

/** Over what the scheduler behind the handle knows. owned: berth_pvc_assume_cache_destroy(). */
BERTH_API struct berth_pvc_assume_cache *berth_pvc_assume_cache_create(
	const struct berth_handle *handle);
/** NULL is accepted. */
BERTH_API void berth_pvc_assume_cache_destroy(struct berth_pvc_assume_cache *cache);
/** By MetaNamespaceKeyFunc's key, "namespace/name": as berth_pv_assume_cache_get_pv().
 * BERTH_ERR_NOT_FOUND: `persistentvolumeclaims "<key>" not found`. */
BERTH_API int berth_pvc_assume_cache_get_pvc(struct berth_pvc_assume_cache *cache,
	struct berth_str pvc_key, const struct berth_pvc **out_pvc, struct berth_error *err);
/** The stored claim; errors as in berth_pvc_assume_cache_get_pvc(). */
BERTH_API int berth_pvc_assume_cache_get_api_pvc(const struct berth_pvc_assume_cache *cache,
	struct berth_str pvc_key, const struct berth_pvc **out_pvc, struct berth_error *err);
/** As berth_pv_assume_cache_assume(). */
BERTH_API int berth_pvc_assume_cache_assume(struct berth_pvc_assume_cache *cache,
	const struct berth_object *object, struct berth_error *err);
/** Drops the assumption if it has this object's version, whoever made it. */
BERTH_API void berth_pvc_assume_cache_restore(
	struct berth_pvc_assume_cache *cache, const struct berth_pvc *pvc);

#ifdef __cplusplus
}
#endif
#endif
