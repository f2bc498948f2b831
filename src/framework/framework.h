/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_FRAMEWORK_FRAMEWORK_H
#define BT_FRAMEWORK_FRAMEWORK_H
/**
 * The framework of one profile: plugin instances, the effective list of each extension point, and the runners that call
 * them and interpret what they answer. Spec: 02 sections 5 and 8.
 */
#include "config/config.h"
#include "framework/nominator.h"
#include "framework/plugin.h"
#include "framework/registry.h"

struct bt_framework_entry {
	struct bt_plugin *plugin;
	int64_t weight; /* score and placementScore points only */
};

struct bt_framework {
	struct bt_str scheduler_name;
	const struct bt_config_profile *profile; /* borrowed from config */
	struct bt_config *config;                /* reference held */
	struct bt_handle handle;
	struct bt_nominator *nominator; /* borrowed; may be NULL: no nominations */
	BT_VEC(struct bt_plugin *) instances; /* by plugin index, registry order */
	struct bt_framework_point {
		BT_VEC(struct bt_framework_entry) entries;
	} points[BT_POINT__COUNT];
	bool signatures_enabled;
	struct bt_plugin **sign_plugins; /* candidates of spec 02 section 6.1, in order */
	uint32_t sign_plugin_count;
};

/**
 * Build the framework of one profile (spec 02 section 8.4; errors in that order, without the
 * "creating profile for scheduler name" prefix). config is referenced, state and registry are borrowed.
 */
BT_MUST_USE int bt_framework_create(const struct bt_registry *registry, struct bt_config *config, uint32_t profile_index,
	struct bt_state *state, struct bt_nominator *nominator, struct bt_framework **out_framework,
	struct berth_error *err);
void bt_framework_destroy(struct bt_framework *framework);
struct bt_str bt_framework_plugin_name(const struct bt_framework *framework, uint32_t plugin_index);

/** All profiles, spec 02 section 9. */
struct bt_profiles {
	BT_VEC(struct bt_framework *) frameworks; /* configuration order */
};

/** Errors as upstream's start prints them: `initializing profiles: ...`. */
BT_MUST_USE int bt_profiles_create(const struct bt_registry *registry, struct bt_config *config, struct bt_state *state,
	struct bt_nominator *nominator, struct bt_profiles *out_profiles, struct berth_error *err);
void bt_profiles_finish(struct bt_profiles *profiles);
struct bt_framework *bt_profiles_find(const struct bt_profiles *profiles, struct bt_str scheduler_name);

/* Runners. Memory of statuses and results: cycle->arena. */

/** Names of the PreFilter plugins that narrowed the search, and the merged narrowing. Spec 02 section 5.1. */
struct bt_pre_filter_outcome {
	struct bt_status status;
	struct bt_pre_filter_result result;
	struct bt_plugin_set plugins_with_nodes;
};

struct bt_pre_filter_outcome bt_run_pre_filter(struct bt_framework *framework, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod);
struct bt_status bt_run_pre_filter_add_pod(struct bt_framework *framework, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod_to_schedule, const struct bt_pod_info *pod_to_add, const struct bt_node_info *node);
struct bt_status bt_run_pre_filter_remove_pod(struct bt_framework *framework, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod_to_schedule, const struct bt_pod_info *pod_to_remove,
	const struct bt_node_info *node);
struct bt_status bt_run_filter(struct bt_framework *framework, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node);
/** Two passes when nominations on the node count. Spec 02 section 5.4. */
struct bt_status bt_run_filter_with_nominated_pods(struct bt_framework *framework, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node);
struct bt_status bt_run_post_filter(struct bt_framework *framework, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_statuses *statuses, struct bt_post_filter_result *out_result);
struct bt_status bt_run_pre_score(struct bt_framework *framework, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const uint32_t *slots, uint32_t slot_count);

/** Scores of one plugin over the nodes given to scoring. */
struct bt_plugin_scores {
	struct bt_plugin *plugin;
	int64_t weight;
	struct bt_node_score *scores; /* normalised, times weight; same order as the slots */
};

struct bt_score_table {
	uint32_t slot_count;
	const uint32_t *slots;
	uint32_t plugin_count;
	struct bt_plugin_scores *plugins; /* skipped ones absent */
	int64_t *totals;
};

struct bt_status bt_run_score(struct bt_framework *framework, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const uint32_t *slots, uint32_t slot_count, struct bt_score_table *out_table);
struct bt_status bt_run_reserve(struct bt_framework *framework, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot);
void bt_run_unreserve(struct bt_framework *framework, struct bt_cycle_state *cycle, const struct bt_pod_info *pod,
	uint32_t slot);

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
struct bt_status bt_run_pre_bind_pre_flights(struct bt_framework *framework, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot);
/** Groups of spec 02 section 5.11, run one after another; members of a group in order. */
struct bt_status bt_run_pre_bind(struct bt_framework *framework, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot);
struct bt_status bt_run_bind(struct bt_framework *framework, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot);
void bt_run_post_bind(struct bt_framework *framework, struct bt_cycle_state *cycle, const struct bt_pod_info *pod,
	uint32_t slot);
struct bt_status bt_run_pre_enqueue(struct bt_framework *framework, const struct bt_pod_info *pod,
	struct bt_arena *arena, struct bt_plugin **out_gating_plugin);

/** DefaultNormalizeScore of spec 05 section 3.8. */
void bt_default_normalize(struct bt_node_score *scores, uint32_t count, int64_t max_priority, bool reverse);
#endif
