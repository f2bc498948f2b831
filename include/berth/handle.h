/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_HANDLE_H
#define BERTH_HANDLE_H
/**
 * @file
 * The handle: gives a plugin access to the snapshot, waiting pods, the active queue, events. Spec
 * 02 sections 11 and 12, upstream v1.36.
 *
 * @code{.c}
 * static uint32_t count_empty_nodes(const struct berth_handle *handle, struct berth_arena *arena)
 * {
 *     uint32_t count = 0;
 *     uint32_t empty = 0;
 *     const struct berth_node_info *const *nodes = berth_shared_lister_list(
 *         berth_handle_snapshot_shared_lister(handle), arena, &count);
 *
 *     for (uint32_t i = 0; i < count; i++) {
 *         empty += berth_node_info_pod_count(nodes[i]) == 0;
 *     }
 *     return empty;
 * }
 * @endcode
 */
#include <stdbool.h>
#include <stdint.h>

#include "berth/api.h"
#include "berth/error.h"
#include "berth/node_info.h"
#include "berth/pod_info.h"
#include "berth/str.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The handle that a plugin factory receives; valid as long as the plugin lives. Opaque. */
struct berth_handle;
/** The nodes of the snapshot. Opaque. */
struct berth_shared_lister;
/** A pod that waits because Permit returned Wait. Opaque. */
struct berth_waiting_pod;
/** An API client; absent in offline use. Opaque. */
struct berth_client_set;
/** Listers of API objects; absent unless the engine's owner supplies them. Opaque. */
struct berth_informer_factory;
/** A volume binder: see berth-compat/berth/volume_binder.h. Opaque. */
struct berth_volume_binder;
/** The framework of a profile: see berth-compat/berth/framework.h. Opaque. */
struct berth_framework;

/** schedulerName of the profile that the plugin belongs to. */
BERTH_API struct berth_str berth_handle_scheduler_name(const struct berth_handle *handle);
/** The time that the owner of the engine passed to the engine last, in nanoseconds. */
BERTH_API int64_t berth_handle_now_ns(const struct berth_handle *handle);
/** Whether a feature gate is enabled; false for unknown names. */
BERTH_API bool berth_handle_feature_enabled(
	const struct berth_handle *handle, const char *gate_name);
/** The framework that the plugin belongs to, for nested runs of other plugins. */
BERTH_API struct berth_framework *berth_handle_framework(const struct berth_handle *handle);

/**
 * The snapshot, which stays unchanged from the start of a scheduling cycle to the end of Permit. In
 * the binding cycle (PreBindPreFlight, PreBind, Bind, PostBind) a plugin must not read the
 * snapshot: the function returns NULL, or aborts in builds with debug checks.
 */
BERTH_API const struct berth_shared_lister *berth_handle_snapshot_shared_lister(
	const struct berth_handle *handle);
/** Number of nodes. */
BERTH_API uint32_t berth_shared_lister_count(const struct berth_shared_lister *lister);
/**
 * All nodes in the snapshot's order. The list and the node infos live in the arena and are valid in
 * this cycle.
 */
BERTH_API const struct berth_node_info *const *berth_shared_lister_list(
	const struct berth_shared_lister *lister, struct berth_arena *arena, uint32_t *out_count);
/** HavePodsWithAffinityList: the nodes with pods that have pod affinity or anti-affinity. */
BERTH_API const struct berth_node_info *const *berth_shared_lister_have_pods_with_affinity_list(
	const struct berth_shared_lister *lister, struct berth_arena *arena, uint32_t *out_count);
/**
 * HavePodsWithRequiredAntiAffinityList: the nodes with pods that have required pod anti-affinity.
 */
BERTH_API const struct berth_node_info *const *
berth_shared_lister_have_pods_with_required_anti_affinity_list(
	const struct berth_shared_lister *lister, struct berth_arena *arena, uint32_t *out_count);
/**
 * Finds a node by name; the node info lives in the arena. BERTH_ERR_NOT_FOUND: `nodeinfo not found
 * for node name "<n>"`.
 */
BERTH_API int berth_shared_lister_get(const struct berth_shared_lister *lister,
	struct berth_str node_name, struct berth_arena *arena,
	const struct berth_node_info **out_node, struct berth_error *err);
/** IsPVCUsedByPods: whether a pod of the snapshot uses the claim "namespace/name". */
BERTH_API bool berth_shared_lister_is_pvc_used_by_pods(
	const struct berth_shared_lister *lister, struct berth_str claim_key);

/** Called for each waiting pod; may allow or reject the pod. */
typedef void (*berth_waiting_pod_visit_fn)(void *context, struct berth_waiting_pod *pod);
/** Visits all waiting pods of all profiles, in no particular order. */
BERTH_API void berth_handle_iterate_over_waiting_pods(
	const struct berth_handle *handle, berth_waiting_pod_visit_fn visit, void *context);
/** Finds a waiting pod; NULL when the pod does not wait. Borrowed for the current plugin call. */
BERTH_API struct berth_waiting_pod *berth_handle_get_waiting_pod(
	const struct berth_handle *handle, berth_uid uid);
/** Rejects a waiting pod with the reason "removed"; false when the pod does not wait. */
BERTH_API bool berth_handle_reject_waiting_pod(const struct berth_handle *handle, berth_uid uid);

/** The pod that waits. Its node name is "" although a node is reserved for the pod. */
BERTH_API const struct berth_pod_info *berth_waiting_pod_get_pod(
	const struct berth_waiting_pod *pod);
/** Names of the plugins that have not allowed the pod yet; the list is in the arena. */
BERTH_API const struct berth_str *berth_waiting_pod_get_pending_plugins(
	const struct berth_waiting_pod *pod, struct berth_arena *arena, uint32_t *out_count);
/**
 * Allows the pod for one plugin; binding starts when all plugins have allowed it. Unknown names are
 * ignored.
 */
BERTH_API void berth_waiting_pod_allow(struct berth_waiting_pod *pod, const char *plugin_name);
/** Rejects the pod as Unschedulable; false when it was allowed or rejected already. */
BERTH_API bool berth_waiting_pod_reject(
	struct berth_waiting_pod *pod, const char *plugin_name, const char *message);

/**
 * Moves a pending pod to the active queue at the next opportunity; false if there is no queue (most
 * workloads of berth bench). To activate pods when a cycle succeeds, use
 * berth_cycle_state_activate_pod().
 */
BERTH_API bool berth_handle_activate(const struct berth_handle *handle,
	struct berth_str pod_namespace, struct berth_str pod_name);
/**
 * Records an event about a pod that is being scheduled: type, reason and action ("Warning",
 * "GangTooSmall", "Scheduling"), and a note, which is cut to 1024 bytes. Without a recorder the
 * event is dropped.
 */
BERTH_API void berth_handle_event(const struct berth_handle *handle,
	const struct berth_pod_info *pod, const char *type, const char *reason, const char *action,
	struct berth_str note);

/** The API client, or NULL. */
BERTH_API const struct berth_client_set *berth_handle_client_set(const struct berth_handle *handle);
/** The object listers, or NULL. */
BERTH_API const struct berth_informer_factory *berth_handle_shared_informer_factory(
	const struct berth_handle *handle);
/** The volume binder. NULL: VolumeBinding creates a binder itself (spec 07 section 16.4). */
BERTH_API const struct berth_volume_binder *berth_handle_volume_binder(
	const struct berth_handle *handle);

#ifdef __cplusplus
}
#endif
#endif
