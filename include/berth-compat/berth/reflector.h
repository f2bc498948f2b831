/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_REFLECTOR_H
#define BERTH_REFLECTOR_H
/**
 * @file
 * The list and watch loop that feeds a cache, without a connection: the owner sends the requests
 * that the reflector names and passes the answers to it. Spec 11b sections 5.3 and 5.4, upstream
 * v1.36.
 *
 *     for (;;) {
 *             if (berth_reflector_step(r) == BERTH_REFLECTOR_LIST)
 *                     ... list at berth_reflector_resource_version(r), then
 *                     berth_reflector_replace(r, objects, count, version, paged, &err);
 *             else
 *                     ... watch at berth_reflector_resource_version(r): for each event
 *                     berth_reflector_event(r, type, object, &err), at its end
 *                     berth_reflector_watch_ended(r, lasted_ns);
 *             if the list or the watch failed: berth_reflector_failed(r, failure), wait
 *                     berth_reflector_backoff_ns(r, now_ns, random)
 *     }
 *
 * A list may come at any time (a relist); changes that were missed in between become additions,
 * updates and deletions.
 */
#include <stdbool.h>
#include <stdint.h>

#include "berth/api.h"
#include "berth/cache.h"
#include "berth/error.h"
#include "berth/object.h"
#include "berth/str.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The reflector of one resource: the last resource version and the known objects. Opaque. */
struct berth_reflector;

/** The resource that is listed and watched, in all namespaces. */
enum berth_reflector_resource {
	/**
	 * Pods, with the field selector status.phase!=Succeeded,status.phase!=Failed (other pods
	 * count as deleted). Pods with spec.nodeName enter the cache.
	 */
	BERTH_REFLECTOR_PODS = 0,
	BERTH_REFLECTOR_NODES = 1, /**< nodes */
};

/** The next request to send. */
enum berth_reflector_step {
	BERTH_REFLECTOR_LIST = 0,  /**< list everything */
	BERTH_REFLECTOR_WATCH = 1, /**< open a watch, or continue to read the open watch */
};

/** Types of watch events. */
enum berth_watch_event {
	BERTH_WATCH_ADDED = 0,    /**< ADDED */
	BERTH_WATCH_MODIFIED = 1, /**< MODIFIED */
	BERTH_WATCH_DELETED = 2,  /**< DELETED */
	BERTH_WATCH_BOOKMARK = 3, /**< BOOKMARK: only the resource version counts */
};

/** How a request or an open watch failed. */
enum berth_reflector_failure {
	BERTH_REFLECTOR_GONE =
		0, /**< 410, or "too large resource version": list the newest state */
	BERTH_REFLECTOR_RETRY = 1, /**< connection refused, 429: send the same request again */
	BERTH_REFLECTOR_OTHER = 2, /**< anything else: list again */
};

/**
 * Creates a reflector that feeds @p cache; the cache must outlive the reflector. Owned:
 * berth_reflector_destroy().
 */
BERTH_API struct berth_reflector *berth_reflector_create(
	struct berth_cache *cache, enum berth_reflector_resource resource);
/** Releases the reflector; the cache keeps its content. NULL is accepted. */
BERTH_API void berth_reflector_destroy(struct berth_reflector *reflector);

/** The next request to send; a list at first. */
BERTH_API enum berth_reflector_step berth_reflector_step(const struct berth_reflector *reflector);
/**
 * The resourceVersion of the next request: "0" for the first list (any state), "" after the server
 * answered that a version is expired (the newest state), else the last version seen. Borrowed until
 * the next call.
 */
BERTH_API struct berth_str berth_reflector_resource_version(
	const struct berth_reflector *reflector);
/** The limit parameter of the next list: 500, or 0 for a list without limit. */
BERTH_API uint32_t berth_reflector_list_limit(const struct berth_reflector *reflector);

/**
 * Applies the answer to a list, all pages joined: removes absent objects from the cache, adds new
 * objects and updates all others. Objects are shared; @p objects may be NULL when @p count is 0. @p
 * paged: the answer came in several pages. BERTH_ERR_INVALID: an object of another kind, nothing
 * was applied. After an error of the cache the remaining objects are still applied, and the first
 * error is returned.
 */
BERTH_API int berth_reflector_replace(struct berth_reflector *reflector,
	struct berth_object *const *objects, uint32_t count, struct berth_str resource_version,
	bool paged, struct berth_error *err);
/**
 * Applies a watch event. The object is shared; only the resource version of a bookmark is read.
 * Errors as in berth_reflector_replace().
 */
BERTH_API int berth_reflector_event(struct berth_reflector *reflector, enum berth_watch_event type,
	struct berth_object *object, struct berth_error *err);
/**
 * The watch ended without an error: the next watch starts at the last version. A watch that lasted
 * less than a second without an event counts as BERTH_REFLECTOR_OTHER.
 */
BERTH_API void berth_reflector_watch_ended(struct berth_reflector *reflector, int64_t lasted_ns);
/** Reports that a list or the start of a watch failed, or that a watch ended with an error. */
BERTH_API void berth_reflector_failed(
	struct berth_reflector *reflector, enum berth_reflector_failure failure);
/**
 * Time to wait before the next attempt: 800 ms, doubling up to 30 s, times 1 + @p random (in [0,
 * 1)); 800 ms again after two minutes without a call.
 */
BERTH_API int64_t berth_reflector_backoff_ns(
	struct berth_reflector *reflector, int64_t now_ns, double random);

/** Number of objects, by the last list and the events after it. */
BERTH_API uint32_t berth_reflector_count(const struct berth_reflector *reflector);
/** An object by name, borrowed until the next call that changes the objects; NULL: unknown name. */
BERTH_API struct berth_object *berth_reflector_find(const struct berth_reflector *reflector,
	struct berth_str object_namespace, struct berth_str name);

#ifdef __cplusplus
}
#endif
#endif
