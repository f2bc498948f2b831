/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_CACHE_H
#define BERTH_CACHE_H
/**
 * @file
 * The scheduler cache: pods (assumed and bound), nodes and the aggregate of each node, fed by
 * events that may be late or missing. Spec 03b sections 4, 5, 7 and 12, 01b section 16.1, upstream
 * v1.36.
 *
 * Pods pass through these states:
 *
 *     Initial --assume--> Assumed --add--> Added      Assumed --forget--> Initial
 *     Initial --add-----------------------> Added     Added --update----> Added
 *     Assumed, Added --remove--> Deleted              Assumed --expire--> Expired --add--> Added
 *
 * Three rules: no pod is assumed twice; a pod may be added without being assumed; a pod that was
 * not added cannot be updated, and a pod that is neither assumed nor added cannot be removed. A
 * call that breaks a rule fails and changes nothing.
 *
 * Pods are known by uid. Objects are shared: the cache keeps a reference.

 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "berth/api.h"
#include "berth/error.h"
#include "berth/label_selector.h"
#include "berth/node_info.h"
#include "berth/object.h"
#include "berth/str.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The cache. Opaque. */
struct berth_cache;

/** Settings of a cache. Start from BERTH_CACHE_OPTIONS_INIT. */
struct berth_cache_options {
	size_t size; /**< sizeof(struct berth_cache_options), so that members can be added */
	/** See berth_cache_set_assume_ttl_ns(); 0: assumed pods never expire. */
	int64_t assume_expiry_ns;
	/** Receives lines that upstream logs as errors without failing; may be NULL. */
	void (*warn)(void *context, struct berth_str line);
	void *warn_context; /**< passed to warn */
};

/** The defaults. */
#define BERTH_CACHE_OPTIONS_INIT \
	{ \
		sizeof(struct berth_cache_options), 0, 0, 0 \
	}

/** Creates an empty cache. Owned: berth_cache_destroy(). @p options NULL: the defaults. */
BERTH_API struct berth_cache *berth_cache_create(const struct berth_cache_options *options);
/** Releases the cache and its references. NULL is accepted. */
BERTH_API void berth_cache_destroy(struct berth_cache *cache);

/*
 * Pods. Every function of this part fails with BERTH_ERR_INVALID for an object that is not a pod,
 * and with `cannot get cache key for pod with empty UID`. <key> is the uid, <ref> "namespace/name".
 */

/**
 * AssumePod: counts the pod on its spec.nodeName before the API confirms it. BERTH_ERR_STATE: `pod
 * <key>(<ref>) is in the cache, so can't be assumed`.
 */
BERTH_API int berth_cache_assume_pod(
	struct berth_cache *cache, struct berth_object *pod, struct berth_error *err);
/**
 * FinishBinding: marks the binding of an assumed pod as finished; the pod's time to live begins
 * now. No effect on pods that are not assumed, nor while the time to live is 0.
 */
BERTH_API int berth_cache_finish_binding(struct berth_cache *cache, const struct berth_pod *pod,
	int64_t now_ns, struct berth_error *err);
/**
 * ForgetPod: removes an assumed pod. Does nothing when the pod is unknown. BERTH_ERR_STATE:
 * `pod <key>(<ref>) was assumed on <pod's node> but assigned to <cached node>`, or `pod
 * <key>(<ref>) wasn't assumed so cannot be forgotten`.
 */
BERTH_API int berth_cache_forget_pod(
	struct berth_cache *cache, const struct berth_pod *pod, struct berth_error *err);
/**
 * AddPod: confirms an assumed pod, even if the pod is on another node than the assumed node, or
 * adds a pod that another scheduler bound or that had expired. BERTH_ERR_STATE: `pod <key>(<ref>)
 * was already in added state`.
 */
BERTH_API int berth_cache_add_pod(
	struct berth_cache *cache, struct berth_object *pod, struct berth_error *err);
/**
 * UpdatePod: subtracts the old pod and adds the new pod; the two may differ in uid.
 * BERTH_ERR_NOT_FOUND: `pod <key>(<ref>) is not added to scheduler cache, so cannot be updated`;
 * BERTH_ERR_STATE: `assumed pod <key>(<ref>) should not be updated`. BERTH_ERR_INTERNAL: the pod is
 * on another node than before (upstream ends the process).
 */
BERTH_API int berth_cache_update_pod(struct berth_cache *cache, const struct berth_pod *old_pod,
	struct berth_object *new_pod, struct berth_error *err);
/**
 * RemovePod: subtracts the cached pod with the uid of @p pod from its node; the requests of @p pod
 * itself are not read. BERTH_ERR_NOT_FOUND: `pod <key>(<ref>) is not found in scheduler cache, so
 * cannot be removed from it`. BERTH_ERR_INTERNAL: spec.nodeName is neither empty nor the name of
 * the cached pod's node (upstream ends the process).
 */
BERTH_API int berth_cache_remove_pod(
	struct berth_cache *cache, const struct berth_pod *pod, struct berth_error *err);

/** State of a pod in the cache. */
enum berth_cache_pod_state {
	BERTH_CACHE_POD_INITIAL = 0, /**< unknown to the cache */
	BERTH_CACHE_POD_ASSUMED = 1, /**< counted, not confirmed */
	BERTH_CACHE_POD_ADDED = 2,   /**< counted, confirmed by a watch event */
	BERTH_CACHE_POD_EXPIRED = 3, /**< was assumed and not confirmed in time; not counted */
	BERTH_CACHE_POD_DELETED = 4, /**< removed; not in the cache */
};

/**
 * Number of removed and expired pods whose state a cache remembers; pods removed earlier have the
 * state Initial again.
 */
#define BERTH_CACHE_DEPARTED_MAX 65536U

/** The state of the pod with this uid. */
BERTH_API enum berth_cache_pod_state berth_cache_pod_state(
	const struct berth_cache *cache, berth_uid uid);
/** GetPod: the cached object, borrowed until the cache changes; NULL: unknown. */
BERTH_API const struct berth_pod *berth_cache_get_pod(
	const struct berth_cache *cache, berth_uid uid);

/**
 * Sets how long an assumed pod may stay unconfirmed after berth_cache_finish_binding(); 0, the
 * default, means for ever. Old releases used 30 s (spec 03b section 12).
 */
BERTH_API void berth_cache_set_assume_ttl_ns(struct berth_cache *cache, int64_t ttl_ns);
/**
 * Removes assumed pods whose binding is finished and whose time to live ended before @p now_ns;
 * upstream did so every second. Returns the number of removed pods.
 */
BERTH_API uint32_t berth_cache_expire_assumed(struct berth_cache *cache, int64_t now_ns);

/* Nodes. */

/**
 * AddNode: adds the node object (of kind Node, else BERTH_ERR_INVALID). Pods that the cache already
 * counts on a node of this name stay counted.
 */
BERTH_API int berth_cache_add_node(
	struct berth_cache *cache, struct berth_object *node, struct berth_error *err);
/**
 * UpdateNode: replaces the node object and allocatable; adds the node when it is unknown. @p
 * old_node supplies the node's former zone; NULL: the cached node supplies the zone.
 * BERTH_ERR_INVALID: not a node.
 */
BERTH_API int berth_cache_update_node(struct berth_cache *cache, const struct berth_node *old_node,
	struct berth_object *new_node, struct berth_error *err);
/**
 * RemoveNode: removes the node. While pods remain on the node, the cache keeps its entry without a
 * node object (a ghost). BERTH_ERR_NOT_FOUND: `node <name> is not found`; for a ghost, `node
 * "<name>" in group "<zone>" was not found`.
 */
BERTH_API int berth_cache_remove_node(
	struct berth_cache *cache, const struct berth_node *node, struct berth_error *err);

/** Number of entries: nodes, ghosts, and node names that only pods mention. */
BERTH_API uint32_t berth_cache_node_count(const struct berth_cache *cache);
/** Number of pods in the cache, assumed pods included. */
BERTH_API uint32_t berth_cache_pod_count(const struct berth_cache *cache);
/** Number of assumed pods. */
BERTH_API uint32_t berth_cache_assumed_pod_count(const struct berth_cache *cache);

/**
 * A copy of the aggregate of any entry, with or without a node object. Owned:
 * berth_node_info_destroy(). BERTH_ERR_NOT_FOUND: `node <name> does not exist in scheduler cache`.
 */
BERTH_API BERTH_MUST_USE int berth_cache_get_node_info(struct berth_cache *cache,
	struct berth_str node_name, struct berth_node_info **out_node, struct berth_error *err);

/* Lists. */

/** PodFilter: returns true for a pod to keep; berth_node_info_filter() has this type. */
typedef bool (*berth_pod_filter_fn)(const void *context, const struct berth_pod *pod);

/**
 * List: cached pods, assumed pods included, whose labels match, ascending by namespace, name and
 * uid. The list lives in the arena, the pods are borrowed until the cache changes. NULL when no pod
 * matches. A NULL @p selector matches nothing, an empty selector matches everything.
 */
BERTH_API const struct berth_pod *const *berth_cache_list(const struct berth_cache *cache,
	const struct berth_label_selector *selector, struct berth_arena *arena,
	uint32_t *out_count);
/** FilteredList: the pods of berth_cache_list() for which @p filter returns true. */
BERTH_API const struct berth_pod *const *berth_cache_filtered_list(const struct berth_cache *cache,
	berth_pod_filter_fn filter, const void *context,
	const struct berth_label_selector *selector, struct berth_arena *arena,
	uint32_t *out_count);

/* Maps of aggregates. */

/** map[string]*NodeInfo: aggregates that belong to no cache, ascending by name. Opaque. */
struct berth_node_name_to_info_map;

/**
 * CreateNodeNameToInfoMap: groups the pods by spec.nodeName in order (an unknown or empty name gets
 * an entry, too), then attaches the node objects and counts images over the given nodes. Each list
 * may be NULL when its count is 0. Owned: berth_node_name_to_info_map_destroy(). BERTH_ERR_INVALID:
 * an object of another kind.
 */
BERTH_API BERTH_MUST_USE int berth_node_name_to_info_map_create(struct berth_object *const *pods,
	uint32_t pod_count, struct berth_object *const *nodes, uint32_t node_count,
	struct berth_node_name_to_info_map **out_map, struct berth_error *err);
/** Releases the map and its aggregates. NULL is accepted. */
BERTH_API void berth_node_name_to_info_map_destroy(struct berth_node_name_to_info_map *map);
/** The aggregate of a name, owned by the map; the caller may change it. NULL: unknown name. */
BERTH_API struct berth_node_info *berth_node_name_to_info_map_find(
	const struct berth_node_name_to_info_map *map, struct berth_str node_name);
/** Number of names in the map. */
BERTH_API uint32_t berth_node_name_to_info_map_count(const struct berth_node_name_to_info_map *map);
/** Entry 0 <= index < count, ascending by name. @p out_name may be NULL. */
BERTH_API struct berth_node_info *berth_node_name_to_info_map_at(
	const struct berth_node_name_to_info_map *map, uint32_t index, struct berth_str *out_name);

/**
 * UpdateNodeNameToInfoMap: makes a map equal to what a scheduling cycle would see of the cache:
 * every node that has a node object, assumed pods included. Only aggregates whose generation
 * differs are copied; the others keep their content, image counts included. Names without a node
 * object in the cache are removed from the map.
 */
BERTH_API void berth_cache_update_node_name_to_info_map(
	struct berth_cache *cache, struct berth_node_name_to_info_map *map);

#ifdef __cplusplus
}
#endif
#endif
