/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_FRAMEWORK_FRAMEWORK_H
#define BT_FRAMEWORK_FRAMEWORK_H
/**
 * The framework of one profile: plugin instances, the effective list of each extension point, and
 * the runners that call the plugins and interpret their statuses. Spec: 02 sections 5 and 8.
 */
#include "config/config.h"
#include "framework/nominator.h"
#include "framework/plugin.h"
#include "framework/registry.h"
#include "framework/scheduler_metrics.h"

struct bt_framework_entry {
	struct bt_plugin *plugin;
	int64_t weight; /* at the points score and placementScore; else 0 */
};

struct bt_framework {
	struct bt_str scheduler_name;
	const struct bt_config_profile *profile; /* borrowed from config */
	struct bt_config *config;                /* reference held */
	struct bt_handle handle;
	struct bt_nominator *nominator;       /* borrowed; NULL: no pods are nominated */
	BT_VEC(struct bt_plugin *) instances; /* by plugin index, registry order */
	struct bt_framework_point {
		BT_VEC(struct bt_framework_entry) entries;
	} points[BT_POINT__COUNT];
	bool signatures_enabled;
	struct bt_plugin **sign_plugins; /* spec 02 section 6.1, in order */
	uint32_t sign_plugin_count;
	/**
	 * Number of sign plugins up to and including the first plugin that refuses every pod
	 * (never_signs): their Sign calls are counted in the metrics but not made. 0: no plugin
	 * refuses every pod, or signatures are off for another reason.
	 */
	uint32_t sign_refusal_count;
	/**
	 * DefaultPreemption. NULL if gate WorkloadAwarePreemption is off, or if the profile's
	 * DefaultPreemption does not implement PodGroupPostFilter.
	 */
	struct bt_plugin *pod_group_post_filter;
	/**
	 * A copy of the arguments of NodeResourcesFit in which the extenders' managed resources
	 * with ignoredByScheduler replace ignoredResources (spec 10 section 7.2). Unused if there
	 * are no such resources.
	 */
	struct bt_plugin_args fit_args;
	struct bt_str *ignored_resources; /* owned; ignoredResources of fit_args */
	/**
	 * Run all filters of a node and merge their statuses (spec 02 section 18). Only for
	 * frameworks without an engine, because scheduling plans stop at the first failure.
	 */
	bool run_all_filters;
	/** NULL: no metrics. Borrowed. */
	struct bt_profile_metrics *metrics;
};

/**
 * Builds the framework of one profile. Spec 02 section 8.4 has the order of the errors, which lack
 * the prefix "creating profile for scheduler name". Takes a reference to config. Borrows state,
 * nominator (may be NULL) and the registered bt_plugin_ops.
 */
BT_MUST_USE int bt_framework_create(const struct bt_registry *registry, struct bt_config *config,
	uint32_t profile_index, struct bt_state *state, struct bt_nominator *nominator,
	struct bt_framework **out_framework, struct berth_error *err);
void bt_framework_destroy(struct bt_framework *framework);
/** Returns the name of the plugin with this index. For a status, pass status->plugin - 1. */
struct bt_str bt_framework_plugin_name(const struct bt_framework *framework, uint32_t plugin_index);
/** Returns the name of the status's plugin; "" if status->plugin is 0, which means no plugin. */
struct bt_str bt_framework_status_plugin_name(
	const struct bt_framework *framework, const struct bt_status *status);
/**
 * Appends `node(s) didn't satisfy plugin(s) [A B]` with the set's plugins in the order of their
 * names.
 */
void bt_framework_append_unsatisfied(const struct bt_framework *framework,
	const struct bt_plugin_set *plugins, struct bt_strbuf *text);
/** Whether the plugin is in the point's list. */
bool bt_framework_has_at(const struct bt_framework *framework, enum bt_extension_point point,
	const struct bt_plugin *plugin);
/** Returns the instance with this name, or NULL. */
struct bt_plugin *bt_framework_find_plugin(
	const struct bt_framework *framework, struct bt_str name);
bool bt_plugin_implements(const struct bt_plugin_ops *ops, enum bt_extension_point point);
/**
 * bt_cycle_state_clone plus each plugin's clone_pre_filter_data, so that AddPod and RemovePod on
 * the clone leave the original unchanged. Finish the clone with bt_cycle_state_finish.
 */
void bt_framework_clone_cycle(const struct bt_framework *framework,
	const struct bt_cycle_state *cycle, struct bt_cycle_state *out_clone);

/** Returns the metrics to which plugins add; NULL if metrics are off. */
static inline struct bt_scheduler_metrics *bt_handle_metrics(const struct bt_handle *handle)
{
	const struct bt_framework *framework = handle->framework;

	return framework != NULL && framework->metrics != NULL ? framework->metrics->all : NULL;
}

/** The frameworks of all profiles, spec 02 section 9. */
struct bt_profiles {
	BT_VEC(struct bt_framework *) frameworks; /* configuration order */
};

/**
 * Creates the frameworks of all profiles. Errors have the text that upstream prints at its start:
 * `initializing profiles: ...`, `at least one profile is required`, or `couldn't build extenders:
 * ...` if an extender has resources with ignoredByScheduler and a profile has no NodeResourcesFit
 * arguments.
 */
BT_MUST_USE int bt_profiles_create(const struct bt_registry *registry, struct bt_config *config,
	struct bt_state *state, struct bt_nominator *nominator, struct bt_profiles *out_profiles,
	struct berth_error *err);
void bt_profiles_finish(struct bt_profiles *profiles);
/** Returns the framework with this scheduler name, or NULL. */
struct bt_framework *bt_profiles_find(
	const struct bt_profiles *profiles, struct bt_str scheduler_name);

/* Runners. The memory of the returned statuses and results is in cycle->arena. */

/** Outcome of the PreFilter plugins. Spec 02 section 5.1. */
struct bt_pre_filter_outcome {
	struct bt_status status;
	struct bt_pre_filter_result result;      /* the intersection of all plugins' results */
	struct bt_plugin_set plugins_with_nodes; /* plugins that narrowed the search */
};

/**
 * Returns the node names that a and b have in common, in a's order and in the arena. a and b must
 * be restricted.
 */
struct bt_pre_filter_result bt_pre_filter_result_intersect(const struct bt_pre_filter_result *a,
	const struct bt_pre_filter_result *b, struct bt_arena *arena);
/**
 * Returns the precedence of a code when the statuses of several filters are merged: 3 for Error, 2
 * for UnschedulableAndUnresolvable, 1 for Unschedulable, 0 for all other codes.
 */
int bt_status_code_precedence(uint8_t code);

struct bt_pre_filter_outcome bt_run_pre_filter(struct bt_framework *framework,
	struct bt_cycle_state *cycle, const struct bt_pod_info *pod);
/** Runs AddPod (step 1) or RemovePod (step -1) of the PreFilter plugins. */
struct bt_status bt_run_pre_filter_change_pod(struct bt_framework *framework,
	struct bt_cycle_state *cycle, const struct bt_pod_info *pod_to_schedule,
	const struct bt_pod_info *other, const struct bt_node_info *node, int64_t step);
struct bt_status bt_run_filter(struct bt_framework *framework, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node);
/**
 * Runs the filters one after the other. Calls `failed` for each filter that does not return
 * Success, with the status that bt_run_filter would return; stops when `failed` returns false.
 */
void bt_run_filter_each(struct bt_framework *framework, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node,
	bool (*failed)(
		void *context, const struct bt_plugin *plugin, const struct bt_status *status),
	void *context);
/** Runs one plugin of the Filter list. Returns the status that bt_run_filter would return. */
struct bt_status bt_run_filter_plugin(struct bt_framework *framework, struct bt_plugin *plugin,
	struct bt_cycle_state *cycle, const struct bt_pod_info *pod,
	const struct bt_node_info *node);

/** Copies of a node and a cycle to which the pods nominated on the node are added. */
struct bt_nominated_view {
	struct bt_cycle_state cycle; /* finish with bt_cycle_state_finish() if `added` */
	struct bt_node_info node;
	bool added;              /* false: cycle and node are not set */
	struct bt_status status; /* the error, if AddPod failed */
};

/**
 * Copies the node and the cycle into out_view, and adds to the copies the pods of equal or higher
 * priority that are nominated on the node, except the pod itself. Copies nothing if there is no
 * such pod. Spec 02 section 5.4 step 1.
 */
void bt_add_nominated_pods(struct bt_framework *framework, const struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node,
	struct bt_nominated_view *out_view);
/**
 * Runs the filters. If pods of equal or higher priority are nominated on the node, runs the filters
 * first with these pods and, if they pass, again without these pods. Spec 02 section 5.4.
 */
struct bt_status bt_run_filter_with_nominated_pods(struct bt_framework *framework,
	struct bt_cycle_state *cycle, const struct bt_pod_info *pod,
	const struct bt_node_info *node);
struct bt_status bt_run_post_filter(struct bt_framework *framework, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_statuses *statuses,
	struct bt_post_filter_result *out_result);
/**
 * Runs PreScore for the nodes in slots. If sizes is not NULL, slots has one node of each cell
 * (plugin.h, pre_score_cells), and sizes the number of nodes of each cell.
 */
struct bt_status bt_run_pre_score(struct bt_framework *framework, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const uint32_t *slots, const uint32_t *sizes,
	uint32_t count);

/** Scores of one plugin for the scored nodes or placements. */
struct bt_plugin_scores {
	struct bt_plugin *plugin;
	int64_t weight;
	int64_t *scores; /* normalised scores times weight, by node or placement */
};

/** Scores of nodes or placements, in the order in which the caller gave them. */
struct bt_score_table {
	uint32_t count; /* number of nodes or placements */
	uint32_t plugin_count;
	struct bt_plugin_scores *plugins; /* without skipped plugins */
	int64_t *totals;                  /* sum of all plugins' scores */
};

/**
 * Normalises the raw scores of one plugin in place, as ops->normalize says. scores[i] is the score
 * of slots[i].
 */
struct bt_status bt_normalize_scores(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const uint32_t *slots, int64_t *scores, uint32_t count);
/** Scores, normalises and weights the nodes in slots. Sets *out_table only on Success. */
struct bt_status bt_run_score(struct bt_framework *framework, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const uint32_t *slots, uint32_t slot_count,
	struct bt_score_table *out_table);
struct bt_status bt_run_reserve(struct bt_framework *framework, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot);
void bt_run_unreserve(struct bt_framework *framework, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot);

struct bt_wait_time {
	struct bt_plugin *plugin;
	int64_t timeout_ns; /* at most 15 minutes */
};

struct bt_permit_outcome {
	struct bt_status status;
	struct bt_wait_time *waits;
	uint32_t wait_count;
};

struct bt_permit_outcome bt_run_permit(struct bt_framework *framework, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot);
struct bt_status bt_run_pre_bind_pre_flights(struct bt_framework *framework,
	struct bt_cycle_state *cycle, const struct bt_pod_info *pod, uint32_t slot);

/** PreBind plugins that may run at the same time: spec 02 section 5.11. */
struct bt_pre_bind_group {
	struct bt_plugin **plugins; /* in the arena of the cycle */
	uint32_t count;
};

/**
 * Groups the PreBind plugins. Skipped plugins are in no group. *out_groups is in the cycle's arena.
 * Returns the number of groups.
 */
uint32_t bt_pre_bind_groups(const struct bt_framework *framework,
	const struct bt_cycle_state *cycle, struct bt_pre_bind_group **out_groups);

/** Progress of a PreBind run; zero memory means not started. */
struct bt_pre_bind_progress {
	uint32_t group;            /* index of the group that runs */
	struct bt_plugin_set done; /* plugins that returned Success, in any group */
};

/**
 * Runs the groups one after another, and the plugins of a group in order; the first failure ends
 * the run. If a plugin returns Wait, the other plugins of its group still run, and the function
 * then returns Wait: the caller repeats the call later with the same progress. If the cycle is
 * canceled, returns the Error `running PreBind plugin "<name>": <cause>` of the first unfinished
 * plugin.
 */
struct bt_status bt_run_pre_bind_from(struct bt_framework *framework, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot, struct bt_pre_bind_progress *progress);
/**
 * Runs the Bind plugins from position *next on; the first plugin that does not return Skip decides.
 * The caller sets *next to 0 before the first call. Returns Wait if the plugin waits: the caller
 * repeats the call later with the same `next`. Returns Skip if every plugin returns Skip.
 */
struct bt_status bt_run_bind_from(struct bt_framework *framework, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot, uint32_t *next);
void bt_run_post_bind(struct bt_framework *framework, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot);
/**
 * Runs the PreEnqueue plugins in the order of the profile, but `first` before all others. first:
 * the plugin that gated the pod before; may be NULL. *out_gating_plugin: the plugin that gates the
 * pod, NULL if all passed. Spec 02 section 5.16.
 */
struct bt_status bt_run_pre_enqueue(struct bt_framework *framework, const struct bt_pod_info *pod,
	struct bt_arena *arena, struct bt_plugin *first, struct bt_plugin **out_gating_plugin);

/**
 * Records PreEnqueue runs of `count` pods in the metrics without running the plugins, for pods for
 * which pre_enqueue_passes or pre_enqueue_rejects returned true.
 */
void bt_run_pre_enqueue_known(const struct bt_framework *framework, uint32_t count);

/* Placements of a pod group. Spec 02 section 5.15. The memory of results is in the arena. */

struct bt_placement_outcome {
	struct bt_status status;
	const struct bt_placement *placements;
	uint32_t count;
};

/**
 * Generates the placements of a group. slots: the nodes that the group may use. The result may
 * borrow slots.
 */
struct bt_placement_outcome bt_run_placement_generate(struct bt_framework *framework,
	struct bt_arena *arena, struct bt_str group_namespace, struct bt_str group_name,
	const uint32_t *slots, uint32_t slot_count);

/** A placement and the pods placed in it. The node_name of each pod is the node chosen for it. */
struct bt_placement_assignments {
	const struct bt_placement *placement;
	const struct bt_pod_info *const *pods;
	uint32_t pod_count;
};

/** Scores, normalises and weights the placements. Sets *out_table only on Success. */
struct bt_status bt_run_placement_score(struct bt_framework *framework, struct bt_arena *arena,
	const struct bt_placement_assignments *placements, uint32_t count,
	struct bt_score_table *out_table);

/**
 * PodGroupPostFilter: preemption for the pod group (spec 08 section 14). Returns Success if victims
 * are being deleted. Returns Unschedulable if framework->pod_group_post_filter is NULL.
 */
struct bt_status bt_run_pod_group_post_filter(struct bt_framework *framework,
	struct bt_arena *arena, const struct bt_pod_group *group,
	const struct bt_pod_info *const *pods, uint32_t pod_count,
	const struct bt_pod_group_trial *trial);

/** Normalises scores in place as upstream's DefaultNormalizeScore does. Spec 05 section 3.8. */
void bt_default_normalize(int64_t *scores, uint32_t count, bool reverse);
#endif
