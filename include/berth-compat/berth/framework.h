/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_FRAMEWORK_H
#define BERTH_FRAMEWORK_H
/**
 * @file
 * The framework of one profile: plugin instances, the effective list of each extension point, and
 * the runners that call them and interpret what they answer. Spec 02 sections 5, 8 and 18, upstream
 * v1.36.
 *
 * An engine has one framework per profile (berth_engine_framework()), and a plugin finds its own
 * (berth_handle_framework()); berth_framework_create() makes one over a snapshot of the caller's
 * choice. Runners take a cycle state, which belongs to one framework from its first runner on.
 * Statuses and results live in berth_cycle_state_arena(). Nodes that are passed in must be nodes of
 * the framework's snapshot, or what-ifs of them.
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

/** Option: what a framework is made with. Start from BERTH_FRAMEWORK_OPTIONS_INIT. */
struct berth_framework_options {
	size_t size; /**< sizeof(struct berth_framework_options) */
	/** WithClientSet: what berth_handle_client_set() gives; NULL: none. */
	const struct berth_client_set *client_set;
	/** WithInformerFactory: what berth_handle_shared_informer_factory() gives; NULL: none. */
	const struct berth_informer_factory *informer_factory;
	/**
	 * WithSnapshotSharedLister: the cluster that the plugins see; must outlive the framework.
	 * NULL: an empty cluster.
	 */
	const struct berth_shared_lister *snapshot_shared_lister;
	/**
	 * WithVolumeBinder: what berth_handle_volume_binder() gives, and what VolumeBinding binds
	 * with in place of its own; must outlive the framework. NULL: none.
	 */
	struct berth_volume_binder *volume_binder;
	/**
	 * WithRunAllFilters: all filters of a node run and their statuses are merged, instead of
	 * the first failure being the answer. Once a policy's alwaysCheckAllPredicates.
	 */
	bool run_all_filters;
};

/** The defaults: nothing of everything. */
#define BERTH_FRAMEWORK_OPTIONS_INIT \
	{ \
		sizeof(struct berth_framework_options), 0, 0, 0, 0, false \
	}

/**
 * NewFramework: builds a profile of a configuration (by position) from the registry's plugins.
 * @p options NULL: the defaults. The registry must outlive the framework; the configuration is
 * shared. @p out_framework is owned: berth_framework_destroy(). Errors are those of spec 02 section
 * 8.4, as upstream prints them.
 */
BERTH_API BERTH_MUST_USE int berth_framework_create(const struct berth_registry *registry,
	struct berth_config *config, uint32_t profile_index,
	const struct berth_framework_options *options, struct berth_framework **out_framework,
	struct berth_error *err);
/** Ends the plugins. Only for what berth_framework_create() made. NULL is accepted. */
BERTH_API void berth_framework_destroy(struct berth_framework *framework);

/** schedulerName of the profile. */
BERTH_API struct berth_str berth_framework_scheduler_name(const struct berth_framework *framework);
/** What its plugins are given. */
BERTH_API const struct berth_handle *berth_framework_handle(
	const struct berth_framework *framework);
/** Sets the time that berth_handle_now_ns() returns; an engine does so itself. */
BERTH_API void berth_framework_set_now_ns(struct berth_framework *framework, int64_t now_ns);
/** Name of the plugin that returned the status; "" if no plugin did. */
BERTH_API struct berth_str berth_framework_status_plugin(
	const struct berth_framework *framework, const struct berth_status *status);

/** HasFilterPlugins. Without any, every node fits. */
BERTH_API bool berth_framework_has_filter_plugins(const struct berth_framework *framework);
/** HasPostFilterPlugins. */
BERTH_API bool berth_framework_has_post_filter_plugins(const struct berth_framework *framework);
/** HasScorePlugins. Without any, the first node that fits is taken. */
BERTH_API bool berth_framework_has_score_plugins(const struct berth_framework *framework);
/**
 * ListPlugins: the effective list of an extension point (not MULTI_POINT: 0 entries), in the order
 * of calls. Weights are 0 but for SCORE and PLACEMENT_SCORE. The list lives in the arena, names in
 * the framework.
 */
BERTH_API const struct berth_plugin_entry *berth_framework_list_plugins(
	const struct berth_framework *framework, enum berth_extension_point point,
	struct berth_arena *arena, uint32_t *out_count);
/**
 * QueueSortFunc: the order of the active queue. @p out_plugin: first argument for the function, and
 * for nothing else; borrowed from the framework.
 */
BERTH_API berth_less_fn berth_framework_queue_sort_func(
	const struct berth_framework *framework, struct berth_plugin **out_plugin);

/**
 * A pod as this framework's plugins see it; for runners. The object (which must be a pod) is
 * shared. owned: berth_framework_pod_destroy(), before the framework or its cluster ends.
 */
BERTH_API struct berth_pod_info *berth_framework_pod_create(
	struct berth_framework *framework, struct berth_object *pod);
/** NULL is accepted. */
BERTH_API void berth_framework_pod_destroy(struct berth_pod_info *pod);

/**
 * A copy of a state for a what-if, plugins' own data included: what AddPod and RemovePod change in
 * it leaves the original alone. To be destroyed before the original. Never NULL.
 */
BERTH_API struct berth_cycle_state *berth_framework_clone_cycle_state(
	struct berth_framework *framework, const struct berth_cycle_state *state);

/* Scheduling cycle. */

/**
 * All PreFilter plugins (spec 02 section 5.1). @p out_result: the nodes they leave; @p out_plugins
 * (may be NULL): names of the plugins that narrowed them, @p out_plugin_count entries in the arena.
 */
BERTH_API struct berth_status berth_framework_run_pre_filter_plugins(
	struct berth_framework *framework, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, struct berth_pre_filter_result *out_result,
	const struct berth_str **out_plugins, uint32_t *out_plugin_count);
/** AddPod of every plugin that has it, as if @p pod_to_add ran on the node, too. Any failure is an
 * Error: `running AddPod on PreFilter plugin "<name>": <why>` (spec 02 section 5.2). */
BERTH_API struct berth_status berth_framework_run_pre_filter_extension_add_pod(
	struct berth_framework *framework, struct berth_cycle_state *state,
	const struct berth_pod_info *pod_to_schedule, const struct berth_pod_info *pod_to_add,
	const struct berth_node_info *node);
/** RemovePod of every plugin that has it, likewise. */
BERTH_API struct berth_status berth_framework_run_pre_filter_extension_remove_pod(
	struct berth_framework *framework, struct berth_cycle_state *state,
	const struct berth_pod_info *pod_to_schedule, const struct berth_pod_info *pod_to_remove,
	const struct berth_node_info *node);
/**
 * The filters of one node (spec 02 sections 5.3 and 18), nominated pods left aside: an empty map
 * when the node fits, else the first failure, or every failure when all filters run.
 * berth_status_merge() makes one status of it.
 */
BERTH_API struct berth_plugin_to_status berth_framework_run_filter_plugins(
	struct berth_framework *framework, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, const struct berth_node_info *node);
/**
 * The filters of one node, with and without the pods of equal or higher priority that are nominated
 * on it: only who fits both ways fits (spec 02 section 5.4). Merged when all filters run.
 */
BERTH_API struct berth_status berth_framework_run_filter_plugins_with_nominated_pods(
	struct berth_framework *framework, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, const struct berth_node_info *node);
/** PostFilter plugins, when no node fits (spec 02 section 5.5). */
BERTH_API struct berth_status berth_framework_run_post_filter_plugins(
	struct berth_framework *framework, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, const struct berth_node_to_status *statuses,
	struct berth_post_filter_result *out_result);
/** All PreScore plugins over the feasible nodes (spec 02 section 5.6). */
BERTH_API struct berth_status berth_framework_run_pre_score_plugins(
	struct berth_framework *framework, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, const struct berth_node_info *const *nodes,
	uint32_t node_count);

/** What one plugin thinks of the nodes. */
struct berth_plugin_scores {
	struct berth_str plugin; /**< its name */
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

/** Score, normalise, weight (spec 02 section 5.7). The state is that of PreScore. */
BERTH_API struct berth_status berth_framework_run_score_plugins(struct berth_framework *framework,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	const struct berth_node_info *const *nodes, uint32_t node_count,
	struct berth_plugin_to_node_scores *out_scores);

/* After the choice. A node that the cluster lacks: Error `nodeinfo not found for node name "<n>"`.
 */

/** In order, up to the first failure; the caller then unreserves (spec 02 section 5.8). */
BERTH_API struct berth_status berth_framework_run_reserve_plugins(struct berth_framework *framework,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	struct berth_str node_name);
/** All Reserve plugins in reverse order. */
BERTH_API void berth_framework_run_unreserve_plugins(struct berth_framework *framework,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	struct berth_str node_name);

/** How long a Permit plugin asks to wait. */
struct berth_permit_wait {
	struct berth_str plugin; /**< its name */
	int64_t timeout_ns;      /**< at most 15 minutes */
};

/**
 * Permit plugins (spec 02 section 5.9). Wait: no plugin rejected the pod, and those in @p out_waits
 * (in the arena) ask to wait; all plugins ran. The caller then makes it wait:
 * berth_framework_add_waiting_pod().
 */
BERTH_API struct berth_status berth_framework_run_permit_plugins(struct berth_framework *framework,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	struct berth_str node_name, const struct berth_permit_wait **out_waits,
	uint32_t *out_count);
/**
 * The pod waits from now on; replaces an entry with the same uid. It is found by
 * berth_handle_get_waiting_pod() and borrowed until berth_framework_wait_on_permit() has answered.
 * Names that are no plugins of the framework are left out.
 */
BERTH_API void berth_framework_add_waiting_pod(struct berth_framework *framework,
	const struct berth_pod_info *pod, const struct berth_permit_wait *waits, uint32_t count,
	int64_t now_ns);
/**
 * WaitOnPermit without blocking (spec 02 section 5.14): Wait while the pod is undecided, which a
 * plugin's answer changes, or the clock; call again then. Else Success (also when the pod does not
 * wait), a rejection or Error, and the pod does not wait any more.
 */
BERTH_API struct berth_status berth_framework_wait_on_permit(struct berth_framework *framework,
	const struct berth_pod_info *pod, int64_t now_ns, struct berth_arena *arena);
/** When the clock alone decides a waiting pod, or earlier; INT64_MAX: never. */
BERTH_API int64_t berth_framework_next_permit_deadline_ns(const struct berth_framework *framework);

/** PreBindPreFlights: Success, or Skip when no PreBind plugin has work (spec 02 section 5.10). */
BERTH_API struct berth_status berth_framework_run_pre_bind_pre_flights(
	struct berth_framework *framework, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, struct berth_str node_name);
/**
 * PreBind plugins, group by group (spec 02 section 5.11). Wait: a plugin is not finished; repeat
 * the call with the same arguments when something happened, or at the time the plugin gave.
 */
BERTH_API struct berth_status berth_framework_run_pre_bind_plugins(
	struct berth_framework *framework, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, struct berth_str node_name);
/**
 * The first Bind plugin that does not answer Skip decides; Skip when all do (spec 02 section 5.12).
 * Wait as in PreBind.
 */
BERTH_API struct berth_status berth_framework_run_bind_plugins(struct berth_framework *framework,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	struct berth_str node_name);
/** All PostBind plugins (spec 02 section 5.13). */
BERTH_API void berth_framework_run_post_bind_plugins(struct berth_framework *framework,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	struct berth_str node_name);

/** PreEnqueue plugins up to the first that keeps the pod out of the queue (spec 02 section 5.16).
 */
BERTH_API struct berth_status berth_framework_run_pre_enqueue_plugins(
	struct berth_framework *framework, const struct berth_pod_info *pod,
	struct berth_arena *arena);

#ifdef __cplusplus
}
#endif
#endif
