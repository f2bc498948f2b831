/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_ASSUME_CACHE_H
#define BERTH_ASSUME_CACHE_H
/**
 * @file
 * Assume caches: objects that the scheduler has decided to write, layered over the stored objects.
 * Spec 07 section 3, upstream v1.36.
 *
 * There are two kinds of caches. The generic cache is fed with events, accepts assumptions of the
 * stored version or a newer version, and calls handlers. The caches of volumes and claims are
 * layered over the objects of a scheduler, accept an assumption only of the stored version, and
 * have no handlers.
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

/** The generic assume cache. Opaque. */
struct berth_assume_cache;

/**
 * cache.IndexFunc: the index values of an object. The list and its texts are in the arena or belong
 * to the object.
 */
typedef const struct berth_str *(*berth_index_fn)(void *context, const struct berth_object *object,
	struct berth_arena *arena, uint32_t *out_count);

/**
 * Receives the changes of the objects that readers see. NULL members are not called. Objects are
 * borrowed.
 */
struct berth_assume_cache_handler {
	void *context; /**< handed to the functions */
	/** @p is_initial: the object was stored before the handler was added. */
	void (*on_add)(void *context, const struct berth_object *object, bool is_initial);
	/** Receives the object that readers saw before, and the object that they see now. */
	void (*on_update)(void *context, const struct berth_object *old_object,
		const struct berth_object *new_object);
	/** Receives the object that readers saw last. */
	void (*on_delete)(void *context, const struct berth_object *old_object);
};

/**
 * NewAssumeCache. @p description ("ResourceClaim") is for messages, copied. @p index_name and @p
 * index: an optional index; NULL: no index. The owner of the cache reports the events of an
 * informer by berth_assume_cache_put() and berth_assume_cache_delete(). owned:
 * berth_assume_cache_destroy().
 */
BERTH_API struct berth_assume_cache *berth_assume_cache_create(
	const char *description, const char *index_name, berth_index_fn index, void *index_context);
/** Releases the cache and its references. NULL is accepted. */
BERTH_API void berth_assume_cache_destroy(struct berth_assume_cache *cache);
/** Name of the index; "" if the cache has no index. */
BERTH_API struct berth_str berth_assume_cache_index_name(const struct berth_assume_cache *cache);

/**
 * Stores a new object or a newer version of a stored object (shared), as on an informer's event. A
 * newer version also ends the assumption: readers see @p object. Returns false when the object is
 * ignored: @p object is NULL, or the name is stored already and the metadata.resourceVersion of @p
 * object is not a number or not greater than the version that readers see.
 */
BERTH_API bool berth_assume_cache_put(
	struct berth_assume_cache *cache, struct berth_object *object);
/** Deletes the object of this name, as on an informer's event; unknown names are ignored. */
BERTH_API void berth_assume_cache_delete(
	struct berth_assume_cache *cache, struct berth_str object_name);
/**
 * Calls the handler (copied) for every stored object, then for each change. If a handler changes
 * the cache, the new change is delivered after the current one; all handlers receive the changes in
 * the same order.
 */
BERTH_API void berth_assume_cache_add_event_handler(
	struct berth_assume_cache *cache, const struct berth_assume_cache_handler *handler);

/**
 * Assumes @p object (shared): readers see it in place of the stored object. BERTH_ERR_NOT_FOUND:
 * `could not find <description> "<key>"`; BERTH_ERR_INVALID: `error parsing ResourceVersion "<v>"
 * for <description> "<key>": ...`; BERTH_ERR_STATE: `<description> "<key>" is out of sync (stored:
 * <n>, assume: <m>)` when @p object is older than the object that readers see.
 */
BERTH_API int berth_assume_cache_assume(
	struct berth_assume_cache *cache, struct berth_object *object, struct berth_error *err);
/** Drops the assumption: readers see the stored object again. Unknown names are ignored. */
BERTH_API void berth_assume_cache_restore(
	struct berth_assume_cache *cache, struct berth_str object_name);
/**
 * The object that readers see, assumed or stored, borrowed until the cache changes. The name is
 * "namespace/name", or "name" for kinds without a namespace. BERTH_ERR_NOT_FOUND as in
 * berth_assume_cache_assume().
 */
BERTH_API int berth_assume_cache_get(const struct berth_assume_cache *cache,
	struct berth_str object_name, struct berth_object **out_object, struct berth_error *err);
/**
 * The stored object, even while another object is assumed; errors as in berth_assume_cache_get().
 */
BERTH_API int berth_assume_cache_get_api_obj(const struct berth_assume_cache *cache,
	struct berth_str object_name, struct berth_object **out_object, struct berth_error *err);
/**
 * The objects, as readers see them, that share an index value with @p index_object; all objects
 * when @p index_object is NULL or the cache has no index. Unordered; the list is in the arena.
 * O(objects).
 */
BERTH_API struct berth_object *const *berth_assume_cache_list(
	const struct berth_assume_cache *cache, const struct berth_object *index_object,
	struct berth_arena *arena, uint32_t *out_count);

/*
 * Caches of volumes and claims, spec 07 section 3.1. Returned volumes and claims are borrowed until
 * an assume, a restore or a change of the scheduler's objects.
 */

/** PVAssumeCache: assumed volumes, layered over the stored volumes. Opaque. */
struct berth_pv_assume_cache;

/**
 * An assume cache over the volumes of the scheduler that @p handle belongs to. owned:
 * berth_pv_assume_cache_destroy().
 */
BERTH_API struct berth_pv_assume_cache *berth_pv_assume_cache_create(
	const struct berth_handle *handle);
/** Releases the cache with its assumptions. NULL is accepted. */
BERTH_API void berth_pv_assume_cache_destroy(struct berth_pv_assume_cache *cache);
/**
 * The assumed volume, if its version is still the stored version; else the stored volume.
 * BERTH_ERR_NOT_FOUND: `persistentvolumes "<name>" not found`.
 */
BERTH_API int berth_pv_assume_cache_get_pv(struct berth_pv_assume_cache *cache,
	struct berth_str pv_name, const struct berth_pv **out_pv, struct berth_error *err);
/** The stored volume; errors as in berth_pv_assume_cache_get_pv(). */
BERTH_API int berth_pv_assume_cache_get_api_pv(const struct berth_pv_assume_cache *cache,
	struct berth_str pv_name, const struct berth_pv **out_pv, struct berth_error *err);
/**
 * The volumes whose stored version belongs to the storage class, each as
 * berth_pv_assume_cache_get_pv() returns it; the list is in the arena. O(volumes).
 */
BERTH_API const struct berth_pv *const *berth_pv_assume_cache_list_pvs(
	struct berth_pv_assume_cache *cache, struct berth_str storage_class_name,
	struct berth_arena *arena, uint32_t *out_count);
/**
 * Assumes the volume @p object. BERTH_ERR_NOT_FOUND as in berth_pv_assume_cache_get_pv();
 * BERTH_ERR_STATE: `"<name>" is out of sync (stored: <v>, assume: <v>)` when the object's version
 * is not the stored version; BERTH_ERR_INVALID: the object is not a volume.
 */
BERTH_API int berth_pv_assume_cache_assume(struct berth_pv_assume_cache *cache,
	const struct berth_object *object, struct berth_error *err);
/**
 * Drops the assumed volume if its version is the version of @p pv, even if another caller assumed
 * the volume.
 */
BERTH_API void berth_pv_assume_cache_restore(
	struct berth_pv_assume_cache *cache, const struct berth_pv *pv);

/** PVCAssumeCache: assumed claims, layered over the stored claims. Opaque. */
struct berth_pvc_assume_cache;

/**
 * An assume cache over the claims of the scheduler that @p handle belongs to. owned:
 * berth_pvc_assume_cache_destroy().
 */
BERTH_API struct berth_pvc_assume_cache *berth_pvc_assume_cache_create(
	const struct berth_handle *handle);
/** Releases the cache with its assumptions. NULL is accepted. */
BERTH_API void berth_pvc_assume_cache_destroy(struct berth_pvc_assume_cache *cache);
/**
 * The assumed claim, if its version is still the stored version; else the stored claim. @p pvc_key
 * is MetaNamespaceKeyFunc's "namespace/name". BERTH_ERR_NOT_FOUND: `persistentvolumeclaims "<key>"
 * not found`.
 */
BERTH_API int berth_pvc_assume_cache_get_pvc(struct berth_pvc_assume_cache *cache,
	struct berth_str pvc_key, const struct berth_pvc **out_pvc, struct berth_error *err);
/** The stored claim; errors as in berth_pvc_assume_cache_get_pvc(). */
BERTH_API int berth_pvc_assume_cache_get_api_pvc(const struct berth_pvc_assume_cache *cache,
	struct berth_str pvc_key, const struct berth_pvc **out_pvc, struct berth_error *err);
/** Assumes a claim; errors as in berth_pv_assume_cache_assume(). */
BERTH_API int berth_pvc_assume_cache_assume(struct berth_pvc_assume_cache *cache,
	const struct berth_object *object, struct berth_error *err);
/**
 * Drops the assumed claim if its version is the version of @p pvc, even if another caller assumed
 * the claim.
 */
BERTH_API void berth_pvc_assume_cache_restore(
	struct berth_pvc_assume_cache *cache, const struct berth_pvc *pvc);

#ifdef __cplusplus
}
#endif
#endif
