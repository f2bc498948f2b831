/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_EQUIVALENCE_H
#define BERTH_EQUIVALENCE_H
/**
 * @file
 * The equivalence cache of v1.12 over today's plugins: pods with equal namespace, labels and
 * scheduling fields form a class, and the answer of a predicate for one pod on a node holds for the
 * whole class while the node does not change. Spec 05b D1, 03 section 16.
 */
#include <stdbool.h>
#include <stdint.h>

#include "berth/api.h"
#include "berth/error.h"
#include "berth/node_info.h"
#include "berth/object.h"
#include "berth/predicate.h"
#include "berth/str.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Maximum number of answers per node. Beyond this number all answers of the node are dropped. */
#define BERTH_EQUIVALENCE_ANSWERS_MAX 1024
/** Maximum number of classes per cache. Beyond this number the cache is emptied. */
#define BERTH_EQUIVALENCE_CLASSES_MAX 4096

/** Answers of predicates by node, predicate and class. Opaque. */
struct berth_equivalence_cache;
/** NodeCache: the kept answers of one node. Opaque, belongs to the cache. */
struct berth_equivalence_node_cache;

/**
 * Class: the properties that make two pods equal. Valid until the cache is destroyed; once the
 * cache drops the class, no kept answer is used for the class any more.
 */
struct berth_equivalence_class {
	uint32_t id;     /**< equal for equal pods of one cache */
	uint64_t serial; /**< how often the cache was emptied before it made the class */
};

/**
 * Creates an empty cache. @p verify: compute every answer anew and abort when it differs from the
 * kept answer. owned: berth_equivalence_cache_destroy().
 */
BERTH_API struct berth_equivalence_cache *berth_equivalence_cache_create(bool verify);
/** Releases the cache and its classes. NULL is accepted. */
BERTH_API void berth_equivalence_cache_destroy(struct berth_equivalence_cache *cache);

/** NewClass: the class of a pod (of kind Pod). */
BERTH_API struct berth_equivalence_class berth_equivalence_class_of(
	struct berth_equivalence_cache *cache, const struct berth_pod *pod);
/** GetNodeCache: the kept answers of a node, empty at first. Never NULL. */
BERTH_API struct berth_equivalence_node_cache *berth_equivalence_cache_get_node_cache(
	struct berth_equivalence_cache *cache, struct berth_str node_name);
/**
 * eCacheAvailable: whether kept answers may be used: both pointers are set, the cache still holds
 * the class, and the node is not a clone to which nominated pods were added (@p pods_added).
 */
BERTH_API bool berth_equivalence_cache_is_available(const struct berth_equivalence_cache *cache,
	const struct berth_equivalence_class *equivalence_class,
	const struct berth_equivalence_node_cache *node_cache, bool pods_added);
/**
 * RunPredicate: returns the kept answer, or runs the predicate and keeps its answer. Answers are
 * kept while the node's generation stays, and only for predicates that read nothing but the pod and
 * the node. Predicates about volumes, services or affinity to other pods, and registered
 * predicates, run every time. Errors are never kept. @p name: the predicate's name, which
 * berth_predicate_find(metadata->predicates) resolves. One cache must serve predicates of one
 * configuration only. Errors as in berth_predicate_fn, and BERTH_ERR_NOT_FOUND: no such predicate.
 */
BERTH_API BERTH_MUST_USE int berth_equivalence_cache_run_predicate(
	struct berth_equivalence_cache *cache, struct berth_equivalence_node_cache *node_cache,
	const struct berth_equivalence_class *equivalence_class, const char *name,
	BERTH_PREDICATE_PARAMETERS);
/** Drops all kept answers of a node. */
BERTH_API void berth_equivalence_cache_invalidate(
	struct berth_equivalence_cache *cache, struct berth_str node_name);
/**
 * Returns the number of answers that were taken from the cache (hits) or computed (misses) so far.
 */
BERTH_API void berth_equivalence_cache_counters(
	const struct berth_equivalence_cache *cache, uint64_t *out_hits, uint64_t *out_misses);

#ifdef __cplusplus
}
#endif
#endif
