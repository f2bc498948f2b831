/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_FRAMEWORK_H
#define BERTH_FRAMEWORK_H
/**
 * @file
 * The framework of one profile: plugin instances, the effective list of each extension point, and
 * the runners that call the plugins and interpret the statuses. Spec 02 sections 5, 8 and 18,
 * upstream v1.36.
 *
 * An engine has one framework per profile (berth_engine_framework()), and a plugin finds the
 * framework it belongs to by berth_handle_framework(). berth_framework_create() makes a framework
 * over a snapshot of the caller's choice. Runners take a cycle state, which belongs to the
 * framework whose runner takes it first. Statuses and results live in berth_cycle_state_arena().
 * Nodes that a caller passes must be nodes of the framework's snapshot, or clones of such nodes
 * that a what-if has changed.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "berth/api.h"
#include "berth/config.h"
#include "berth/cycle_state.h"
#include "berth/error.h"
#include "berth/handle.h"
#include "berth/node_info.h"
#include "berth/object.h"
#include "berth/plugin.h"
#include "berth/pod_info.h"
#include "berth/registry.h"
#include "berth/status.h"
#include "berth/str.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Option: options of a framework. Start from BERTH_FRAMEWORK_OPTIONS_INIT. */
struct berth_framework_options {
	size_t size; /**< sizeof(struct berth_framework_options) */
	/** WithClientSet: returned by berth_handle_client_set(); NULL: no client. */
	const struct berth_client_set *client_set;
	/** WithInformerFactory: returned by berth_handle_shared_informer_factory(); may be NULL. */
	const struct berth_informer_factory *informer_factory;
	/**
	 * WithSnapshotSharedLister: the nodes that the plugins see; must outlive the framework.
	 * NULL: an empty cluster.
	 */
	const struct berth_shared_lister *snapshot_shared_lister;
	/**
	 * WithVolumeBinder: returned by berth_handle_volume_binder() and used by VolumeBinding,
	 * which then creates no binder; must outlive the framework. NULL: VolumeBinding creates a
	 * binder.
	 */
	struct berth_volume_binder *volume_binder;
	/**
	 * WithRunAllFilters: run all filters of a node and merge their statuses, instead of
	 * returning the first failure. In old releases: alwaysCheckAllPredicates of a policy.
	 */
	bool run_all_filters;
};

/** The defaults: every member unset. */
#define BERTH_FRAMEWORK_OPTIONS_INIT \
	{ \
		sizeof(struct berth_framework_options), 0, 0, 0, 0, false \
	}

/**
 * NewFramework: builds the profile at position @p profile_index (from 0) of a configuration from
 * the registry's plugins. @p options NULL: the defaults. The registry must outlive the framework;
 * the configuration is shared. @p out_framework is owned: berth_framework_destroy(). Errors are
 * those of spec 02 section 8.4, as upstream prints them.
 */
BERTH_API BERTH_MUST_USE int berth_framework_create(const struct berth_registry *registry,
	struct berth_config *config, uint32_t profile_index,
	const struct berth_framework_options *options, struct berth_framework **out_framework,
	struct berth_error *err);
/**
 * Releases the framework and its plugins. Only for frameworks of berth_framework_create(). NULL is
 * accepted.
 */
BERTH_API void berth_framework_destroy(struct berth_framework *framework);

/** schedulerName of the profile. */
BERTH_API struct berth_str berth_framework_scheduler_name(const struct berth_framework *framework);
/** The handle that the plugins of the framework receive. */
BERTH_API const struct berth_handle *berth_framework_handle(
	const struct berth_framework *framework);
/** Sets the time that berth_handle_now_ns() returns. An engine sets the time of its frameworks. */
BERTH_API void berth_framework_set_now_ns(struct berth_framework *framework, int64_t now_ns);
/** Name of the plugin that returned the status; "" if the status came from no plugin. */
BERTH_API struct berth_str berth_framework_status_plugin(
	const struct berth_framework *framework, const struct berth_status *status);

/** HasFilterPlugins. Without a filter plugin, every node fits. */
BERTH_API bool berth_framework_has_filter_plugins(const struct berth_framework *framework);
/** HasPostFilterPlugins: whether the profile has a PostFilter plugin. */
BERTH_API bool berth_framework_has_post_filter_plugins(const struct berth_framework *framework);
/** HasScorePlugins. Without a score plugin, the first node that fits is chosen. */
BERTH_API bool berth_framework_has_score_plugins(const struct berth_framework *framework);
/**
 * ListPlugins: the effective list of an extension point (not MULTI_POINT: 0 entries), in the order
 * of calls. Weights are 0 except for SCORE and PLACEMENT_SCORE. The list lives in the arena, names
 * in the framework.
 */
BERTH_API const struct berth_plugin_entry *berth_framework_list_plugins(
	const struct berth_framework *framework, enum berth_extension_point point,
	struct berth_arena *arena, uint32_t *out_count);
/**
 * QueueSortFunc: the order of the active queue. @p out_plugin receives the plugin to pass to the
 * function as first argument (it has no other use), borrowed from the framework.
 */
BERTH_API berth_less_fn berth_framework_queue_sort_func(
	const struct berth_framework *framework, struct berth_plugin **out_plugin);

/**
 * Creates the pod info that the runners of this framework accept. The object (which must be a pod)
 * is shared. owned: berth_framework_pod_destroy(), before the framework or its cluster ends.
 */
BERTH_API struct berth_pod_info *berth_framework_pod_create(
	struct berth_framework *framework, struct berth_object *pod);
/** Releases the pod info. NULL is accepted. */
BERTH_API void berth_framework_pod_destroy(struct berth_pod_info *pod);

/**
 * Copies a state for a what-if, data of plugins included: AddPod and RemovePod on the copy leave
 * the original unchanged. Destroy the copy before the original. Never NULL.
 */
BERTH_API struct berth_cycle_state *berth_framework_clone_cycle_state(
	struct berth_framework *framework, const struct berth_cycle_state *state);

/* Scheduling cycle. */

/**
 * Runs all PreFilter plugins (spec 02 section 5.1). @p out_result: the nodes that remain; @p
 * out_plugins (may be NULL): names of the plugins that narrowed the nodes, @p out_plugin_count
 * entries in the arena.
 */
BERTH_API struct berth_status berth_framework_run_pre_filter_plugins(
	struct berth_framework *framework, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, struct berth_pre_filter_result *out_result,
	const struct berth_str **out_plugins, uint32_t *out_plugin_count);
/**
 * Calls AddPod of every plugin that has AddPod, as if @p pod_to_add also ran on the node. Any
 * failure is an Error: `running AddPod on PreFilter plugin "<name>": <why>` (spec 02 section 5.2).
 */
BERTH_API struct berth_status berth_framework_run_pre_filter_extension_add_pod(
	struct berth_framework *framework, struct berth_cycle_state *state,
	const struct berth_pod_info *pod_to_schedule, const struct berth_pod_info *pod_to_add,
	const struct berth_node_info *node);
/**
 * Calls RemovePod of every plugin that has RemovePod, as if @p pod_to_remove had left the node;
 * failures as in AddPod.
 */
BERTH_API struct berth_status berth_framework_run_pre_filter_extension_remove_pod(
	struct berth_framework *framework, struct berth_cycle_state *state,
	const struct berth_pod_info *pod_to_schedule, const struct berth_pod_info *pod_to_remove,
	const struct berth_node_info *node);
/**
 * Runs the filters on one node (spec 02 sections 5.3 and 18) without nominated pods. The result is
 * an empty map when the node fits, else the first failure, or with run_all_filters all failures.
 * berth_status_merge() turns the map into one status.
 */
BERTH_API struct berth_plugin_to_status berth_framework_run_filter_plugins(
	struct berth_framework *framework, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, const struct berth_node_info *node);
/**
 * Runs the filters on one node (spec 02 section 5.4). If pods of equal or higher priority are
 * nominated on the node, the filters run with these pods first and then without them, and the pod
 * fits only if both runs succeed. With run_all_filters a run merges the statuses of all filters.
 */
BERTH_API struct berth_status berth_framework_run_filter_plugins_with_nominated_pods(
	struct berth_framework *framework, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, const struct berth_node_info *node);
/** Runs the PostFilter plugins, when no node fits (spec 02 section 5.5). */
BERTH_API struct berth_status berth_framework_run_post_filter_plugins(
	struct berth_framework *framework, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, const struct berth_node_to_status *statuses,
	struct berth_post_filter_result *out_result);
/** Runs all PreScore plugins over the feasible nodes (spec 02 section 5.6). */
BERTH_API struct berth_status berth_framework_run_pre_score_plugins(
	struct berth_framework *framework, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, const struct berth_node_info *const *nodes,
	uint32_t node_count);

/** Scores of one plugin. */
struct berth_plugin_scores {
	struct berth_str plugin; /**< name of the plugin */
	int64_t weight;          /**< in the profile */
	/** Normalised, times weight; one entry per node, in the order of the nodes. */
	struct berth_node_score_list scores;
};

/** PluginToNodeScores: a list of scores for each plugin that did not skip. */
struct berth_plugin_to_node_scores {
	struct berth_plugin_scores *items;   /**< in the order of the plugins */
	uint32_t count;                      /**< entries */
	struct berth_node_score_list totals; /**< sums over the plugins */
};

/**
 * Runs the Score plugins, normalises and weights the scores (spec 02 section 5.7). PreScore must
 * have run on @p state.
 */
BERTH_API struct berth_status berth_framework_run_score_plugins(struct berth_framework *framework,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	const struct berth_node_info *const *nodes, uint32_t node_count,
	struct berth_plugin_to_node_scores *out_scores);

/*
 * Runners for the time after a node is chosen. For a node that the cluster lacks, they return Error
 * `nodeinfo not found for node name "<n>"`.
 */

/**
 * Runs the Reserve plugins in order, up to the first failure; the caller then runs Unreserve (spec
 * 02 section 5.8).
 */
BERTH_API struct berth_status berth_framework_run_reserve_plugins(struct berth_framework *framework,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	struct berth_str node_name);
/** Runs Unreserve of all Reserve plugins, in reverse order. */
BERTH_API void berth_framework_run_unreserve_plugins(struct berth_framework *framework,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	struct berth_str node_name);

/** Time that a Permit plugin asks the pod to wait. */
struct berth_permit_wait {
	struct berth_str plugin; /**< name of the plugin */
	int64_t timeout_ns;      /**< at most 15 minutes */
};

/**
 * Runs the Permit plugins (spec 02 section 5.9). Wait: all plugins ran, none rejected the pod, and
 * the plugins in @p out_waits (in the arena) returned Wait. The caller then calls
 * berth_framework_add_waiting_pod().
 */
BERTH_API struct berth_status berth_framework_run_permit_plugins(struct berth_framework *framework,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	struct berth_str node_name, const struct berth_permit_wait **out_waits,
	uint32_t *out_count);
/**
 * Makes the pod a waiting pod; replaces an entry with the same uid. berth_handle_get_waiting_pod()
 * finds the pod, which is borrowed until berth_framework_wait_on_permit() returns another status
 * than Wait. Names in the list that are not plugins of the framework are ignored.
 */
BERTH_API void berth_framework_add_waiting_pod(struct berth_framework *framework,
	const struct berth_pod_info *pod, const struct berth_permit_wait *waits, uint32_t count,
	int64_t now_ns);
/**
 * WaitOnPermit without blocking (spec 02 section 5.14). Returns Wait while the pod is undecided:
 * call again after a plugin allowed or rejected the pod, or when a timeout of the pod is over.
 * Otherwise returns Success (also for a pod that does not wait), a rejection or Error, and the pod
 * stops waiting.
 */
BERTH_API struct berth_status berth_framework_wait_on_permit(struct berth_framework *framework,
	const struct berth_pod_info *pod, int64_t now_ns, struct berth_arena *arena);
/** The earliest time at which a timeout may decide a waiting pod; INT64_MAX: never. */
BERTH_API int64_t berth_framework_next_permit_deadline_ns(const struct berth_framework *framework);

/** PreBindPreFlights: Success, or Skip when no PreBind plugin has work (spec 02 section 5.10). */
BERTH_API struct berth_status berth_framework_run_pre_bind_pre_flights(
	struct berth_framework *framework, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, struct berth_str node_name);
/**
 * Runs the PreBind plugins, group by group (spec 02 section 5.11). Wait: a plugin is not finished;
 * repeat the call with the same arguments after an event, or at the time that the plugin set.
 */
BERTH_API struct berth_status berth_framework_run_pre_bind_plugins(
	struct berth_framework *framework, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, struct berth_str node_name);
/**
 * Runs the Bind plugins up to the first that does not return Skip; returns Skip when every plugin
 * returns Skip (spec 02 section 5.12). Wait as in PreBind.
 */
BERTH_API struct berth_status berth_framework_run_bind_plugins(struct berth_framework *framework,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	struct berth_str node_name);
/** Runs all PostBind plugins (spec 02 section 5.13). */
BERTH_API void berth_framework_run_post_bind_plugins(struct berth_framework *framework,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	struct berth_str node_name);

/**
 * Runs the PreEnqueue plugins up to the first that keeps the pod out of the queue (spec 02 section
 * 5.16).
 */
BERTH_API struct berth_status berth_framework_run_pre_enqueue_plugins(
	struct berth_framework *framework, const struct berth_pod_info *pod,
	struct berth_arena *arena);

#ifdef __cplusplus
}
#endif
#endif
