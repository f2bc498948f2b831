/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_HANDLE_H
#define BERTH_HANDLE_H
/**
 * @file
 * What a plugin can reach besides its arguments: the snapshot, waiting pods, the active queue,
 * events. Spec 02 sections 11 and 12, upstream v1.36.
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

/** Handed to the factory; valid as long as the plugin lives. Opaque. */
struct berth_handle;
/** The nodes of the snapshot. Opaque. */
struct berth_shared_lister;
/** A pod that is held in Permit. Opaque. */
struct berth_waiting_pod;
/** An API client; none in offline use. Opaque. */
struct berth_client_set;
/** Listers of API objects; none unless the engine's owner gives one. Opaque. */
struct berth_informer_factory;
/** See volume_binder.h. Opaque. */
struct berth_volume_binder;
/** The framework of a profile: see framework.h. Opaque. */
struct berth_framework;

/** schedulerName of the profile the plugin belongs to. */
BERTH_API struct berth_str berth_handle_scheduler_name(const struct berth_handle *handle);
/** The owner's clock at its last call, in nanoseconds. */
BERTH_API int64_t berth_handle_now_ns(const struct berth_handle *handle);
/** A feature gate by name; false for unknown names. */
BERTH_API bool berth_handle_feature_enabled(
	const struct berth_handle *handle, const char *gate_name);
/** The framework the plugin belongs to, for nested runs of other plugins. */
BERTH_API struct berth_framework *berth_handle_framework(const struct berth_handle *handle);

/**
 * The snapshot: frozen from the start of a scheduling cycle to the end of Permit. A plugin must not
 * read it in the binding cycle (PreBind, Bind, PostBind): NULL there, and builds with debug checks
 * end the process.
 */
BERTH_API const struct berth_shared_lister *berth_handle_snapshot_shared_lister(
	const struct berth_handle *handle);
/** Number of nodes. */
BERTH_API uint32_t berth_shared_lister_count(const struct berth_shared_lister *lister);
/** All nodes in the snapshot's order. List and infos live in the arena and are valid in this cycle.
 */
BERTH_API const struct berth_node_info *const *berth_shared_lister_list(
	const struct berth_shared_lister *lister, struct berth_arena *arena, uint32_t *out_count);
/** HavePodsWithAffinityList: the nodes with pods that have pod affinity or anti-affinity. */
BERTH_API const struct berth_node_info *const *berth_shared_lister_have_pods_with_affinity_list(
	const struct berth_shared_lister *lister, struct berth_arena *arena, uint32_t *out_count);
/** HavePodsWithRequiredAntiAffinityList: likewise, with required anti-affinity. */
BERTH_API const struct berth_node_info *const *
berth_shared_lister_have_pods_with_required_anti_affinity_list(
	const struct berth_shared_lister *lister, struct berth_arena *arena, uint32_t *out_count);
/** A node by name, in the arena; BERTH_ERR_NOT_FOUND: `nodeinfo not found for node name "<n>"`. */
BERTH_API int berth_shared_lister_get(const struct berth_shared_lister *lister,
	struct berth_str node_name, struct berth_arena *arena,
	const struct berth_node_info **out_node, struct berth_error *err);
/** IsPVCUsedByPods: some pod of the snapshot uses the claim "namespace/name". */
BERTH_API bool berth_shared_lister_is_pvc_used_by_pods(
	const struct berth_shared_lister *lister, struct berth_str claim_key);

/** Called for each waiting pod; may allow and reject it. */
typedef void (*berth_waiting_pod_visit_fn)(void *context, struct berth_waiting_pod *pod);
/** Visits all waiting pods of all profiles, in no order. */
BERTH_API void berth_handle_iterate_over_waiting_pods(
	const struct berth_handle *handle, berth_waiting_pod_visit_fn visit, void *context);
/** NULL when the pod does not wait. Borrowed for the call that asked. */
BERTH_API struct berth_waiting_pod *berth_handle_get_waiting_pod(
	const struct berth_handle *handle, berth_uid uid);
/** Rejects with the reason "removed"; false when the pod does not wait. */
BERTH_API bool berth_handle_reject_waiting_pod(const struct berth_handle *handle, berth_uid uid);

/** The pod; its node name is "" although a node is reserved for it. */
BERTH_API const struct berth_pod_info *berth_waiting_pod_get_pod(
	const struct berth_waiting_pod *pod);
/** Names of the plugins that have not allowed the pod yet; the list is in the arena. */
BERTH_API const struct berth_str *berth_waiting_pod_get_pending_plugins(
	const struct berth_waiting_pod *pod, struct berth_arena *arena, uint32_t *out_count);
/** Allows the pod for one plugin; binding starts when all have allowed. Ignores other names. */
BERTH_API void berth_waiting_pod_allow(struct berth_waiting_pod *pod, const char *plugin_name);
/** Rejects the pod as Unschedulable; false when it was allowed or rejected already. */
BERTH_API bool berth_waiting_pod_reject(
	struct berth_waiting_pod *pod, const char *plugin_name, const char *message);

/**
 * Moves a pending pod to the active queue at the next opportunity; false where there is no queue
 * (simulate, bench). To activate pods when a cycle succeeds: berth_cycle_state_activate_pod().
 */
BERTH_API bool berth_handle_activate(const struct berth_handle *handle,
	struct berth_str pod_namespace, struct berth_str pod_name);
/**
 * The event recorder: an event about a pod that is being scheduled, e.g. "Warning", "GangTooSmall",
 * "Scheduling", and a note of at most 1024 bytes. Without a recorder the event is dropped.
 */
BERTH_API void berth_handle_event(const struct berth_handle *handle,
	const struct berth_pod_info *pod, const char *type, const char *reason, const char *action,
	struct berth_str note);

/** The API client, or NULL. */
BERTH_API const struct berth_client_set *berth_handle_client_set(const struct berth_handle *handle);
/** The object listers, or NULL. */
BERTH_API const struct berth_informer_factory *berth_handle_shared_informer_factory(
	const struct berth_handle *handle);
/** The volume binder, or NULL: today VolumeBinding has its own (spec 07 section 16.4). */
BERTH_API const struct berth_volume_binder *berth_handle_volume_binder(
	const struct berth_handle *handle);

#ifdef __cplusplus
}
#endif
#endif
