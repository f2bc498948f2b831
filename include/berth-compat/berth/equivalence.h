/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_EQUIVALENCE_H
#define BERTH_EQUIVALENCE_H
/**
 * @file
 * The equivalence cache of v1.12 by today's means: pods of one shape, label set and namespace are
 * equal, and what a predicate said of one on a node holds for all while the node does not change.
 * Spec 05b D1, 03 section 16.
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

/** Answers kept for one node; more, and those of the node are forgotten first. */
#define BERTH_EQUIVALENCE_ANSWERS_MAX 1024
/** Classes known at a time; more, and everything is forgotten first. */
#define BERTH_EQUIVALENCE_CLASSES_MAX 4096

/** Answers of predicates by node, predicate and class. Opaque. */
struct berth_equivalence_cache;
/** NodeCache: the answers of one node. Opaque, belongs to the cache. */
struct berth_equivalence_node_cache;

/**
 * Class: what makes two pods equal. Valid until the cache is destroyed; a class that was forgotten
 * is no longer answered from the cache.
 */
struct berth_equivalence_class {
	uint32_t id;     /**< equal for equal pods of one cache */
	uint64_t serial; /**< of the time since everything was last forgotten */
};

/**
 * @p verify: compute every answer anew and end the process when it differs from a kept one. owned:
 * berth_equivalence_cache_destroy().
 */
BERTH_API struct berth_equivalence_cache *berth_equivalence_cache_create(bool verify);
/** NULL is accepted. */
BERTH_API void berth_equivalence_cache_destroy(struct berth_equivalence_cache *cache);

/** NewClass: the class of a pod (of kind Pod). */
BERTH_API struct berth_equivalence_class berth_equivalence_class_of(
	struct berth_equivalence_cache *cache, const struct berth_pod *pod);
/** GetNodeCache: the answers of a node, empty at first. Never NULL. */
BERTH_API struct berth_equivalence_node_cache *berth_equivalence_cache_get_node_cache(
	struct berth_equivalence_cache *cache, struct berth_str node_name);
/**
 * eCacheAvailable: the class is known (@p equivalence_class may be NULL: no), there is a node cache
 * (NULL: no), and the node is not a what-if with nominated pods added.
 */
BERTH_API bool berth_equivalence_cache_is_available(const struct berth_equivalence_cache *cache,
	const struct berth_equivalence_class *equivalence_class,
	const struct berth_equivalence_node_cache *node_cache, bool pods_added);
/**
 * RunPredicate: the kept answer, or the predicate's, which is kept. Kept are answers of predicates
 * that look at nothing but pod and node, as long as the node's generation stays; the others are
 * asked every time: volumes, services and affinity to other pods, and what is registered. Errors
 * are never kept. @p name: of the predicate, found by berth_predicate_find(metadata->predicates).
 * Answers of one cache must come from predicates with one configuration. Errors as in
 * berth_predicate_fn, and BERTH_ERR_NOT_FOUND: no such predicate.
 */
BERTH_API BERTH_MUST_USE int berth_equivalence_cache_run_predicate(
	struct berth_equivalence_cache *cache, struct berth_equivalence_node_cache *node_cache,
	const struct berth_equivalence_class *equivalence_class, const char *name,
	BERTH_PREDICATE_PARAMETERS);
/** Forgets what is kept of a node. */
BERTH_API void berth_equivalence_cache_invalidate(
	struct berth_equivalence_cache *cache, struct berth_str node_name);
/** How often an answer was kept already, and how often it was not. */
BERTH_API void berth_equivalence_cache_counters(
	const struct berth_equivalence_cache *cache, uint64_t *out_hits, uint64_t *out_misses);

#ifdef __cplusplus
}
#endif
#endif
