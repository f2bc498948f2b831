/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CONFIG_CONFIG_H
#define BT_CONFIG_CONFIG_H
/**
 * KubeSchedulerConfiguration: a decoded, defaulted, validated, immutable document. Spec: chapter
 * 10; plugin sets: 02 section 8. Memory: one arena, shared (counted) by the engine that runs on it.
 * Readable from any thread.
 */
#include <stdbool.h>
#include <stdint.h>

#include "api/pod.h"
#include "base/arena.h"
#include "base/error.h"
#include "codec/json.h"
#include "codec/message.h"

/** Configurable extension points, in the order their lists are checked (spec 02 section 8.4). */
enum bt_extension_point {
	BT_POINT_PRE_FILTER,
	BT_POINT_FILTER,
	BT_POINT_POST_FILTER,
	BT_POINT_RESERVE,
	BT_POINT_PRE_SCORE,
	BT_POINT_SCORE,
	BT_POINT_PRE_BIND,
	BT_POINT_BIND,
	BT_POINT_POST_BIND,
	BT_POINT_PERMIT,
	BT_POINT_PRE_ENQUEUE,
	BT_POINT_QUEUE_SORT,
	BT_POINT_PLACEMENT_GENERATE,
	BT_POINT_PLACEMENT_SCORE,
	BT_POINT__COUNT,
};

/** "PreFilter", "QueueSort", ...; messages append "Plugin". */
const char *bt_extension_point_name(enum bt_extension_point point);
/** The member name in a configuration: "preFilter", "queueSort", ... */
const char *bt_extension_point_member(enum bt_extension_point point);

struct bt_config_plugin {
	struct bt_str name;
	int32_t weight; /* 0: not given */
};

struct bt_config_plugin_set {
	BT_LIST(struct bt_config_plugin) enabled;
	BT_LIST(struct bt_config_plugin) disabled;
};

struct bt_config_plugins {
	struct bt_config_plugin_set points[BT_POINT__COUNT];
	struct bt_config_plugin_set multi_point;
};

/* Plugin arguments, decoded and defaulted (spec 10; spec 05 sections 9.1, 11.1, 12.1; spec 06, 07,
 * 08). */

struct bt_resource_spec {
	struct bt_str name;
	int64_t weight;
};

typedef BT_LIST(struct bt_resource_spec) bt_resource_spec_list;

struct bt_utilization_shape_point {
	int32_t utilization;
	int32_t score;
};

typedef BT_LIST(struct bt_utilization_shape_point) bt_shape_point_list;

struct bt_requested_to_capacity_ratio {
	bt_shape_point_list shape;
	bt_resource_spec_list resources; /* only the legacy arguments have it */
};

struct bt_scoring_strategy {
	struct bt_str type; /* LeastAllocated, MostAllocated, RequestedToCapacityRatio */
	bt_resource_spec_list resources;
	const struct bt_requested_to_capacity_ratio *requested_to_capacity_ratio;
};

struct bt_node_resources_fit_args {
	bt_str_list ignored_resources;
	bt_str_list ignored_resource_groups;
	const struct bt_scoring_strategy *scoring_strategy;
};

struct bt_node_resources_balanced_allocation_args {
	bt_resource_spec_list resources;
};

struct bt_node_affinity_args {
	const struct bt_node_affinity *added_affinity;
};

struct bt_inter_pod_affinity_args {
	struct bt_opt_i32 hard_pod_affinity_weight;
	bool ignore_preferred_terms_of_existing_pods;
};

struct bt_pod_topology_spread_args {
	BT_LIST(struct bt_topology_spread_constraint) default_constraints;
	struct bt_str defaulting_type; /* System, List */
};

struct bt_default_preemption_args {
	struct bt_opt_i32 min_candidate_nodes_percentage;
	struct bt_opt_i32 min_candidate_nodes_absolute;
};

struct bt_volume_binding_args {
	struct bt_opt_i64 bind_timeout_seconds;
	bt_shape_point_list shape;
};

struct bt_dynamic_resources_args {
	int64_t filter_timeout_ns; /* 0 and set: no limit */
	bool filter_timeout_set;
	int64_t binding_timeout_ns;
	bool binding_timeout_set;
};

enum bt_plugin_args_kind {
	BT_ARGS_NONE,  /* no arguments were given and none exist by default */
	BT_ARGS_OTHER, /* arguments of an out-of-tree plugin: raw holds their JSON */
	BT_ARGS_NODE_RESOURCES_FIT,
	BT_ARGS_NODE_RESOURCES_BALANCED_ALLOCATION,
	BT_ARGS_NODE_AFFINITY,
	BT_ARGS_INTER_POD_AFFINITY,
	BT_ARGS_POD_TOPOLOGY_SPREAD,
	BT_ARGS_DEFAULT_PREEMPTION,
	BT_ARGS_VOLUME_BINDING,
	BT_ARGS_DYNAMIC_RESOURCES,
	BT_ARGS__COUNT,
};

struct bt_plugin_args {
	enum bt_plugin_args_kind kind;
	struct bt_str raw;                  /* BT_ARGS_OTHER: JSON text, absent = null */
	const struct bt_json_value *source; /* only while the document is being loaded, else NULL */
	union {
		struct bt_node_resources_fit_args node_resources_fit;
		struct bt_node_resources_balanced_allocation_args
			node_resources_balanced_allocation;
		struct bt_node_affinity_args node_affinity;
		struct bt_inter_pod_affinity_args inter_pod_affinity;
		struct bt_pod_topology_spread_args pod_topology_spread;
		struct bt_default_preemption_args default_preemption;
		struct bt_volume_binding_args volume_binding;
		struct bt_dynamic_resources_args dynamic_resources;
	};
};

struct bt_config_plugin_config {
	struct bt_str name;
	struct bt_plugin_args args;
};

struct bt_config_profile {
	struct bt_str scheduler_name;
	struct bt_opt_i32 percentage_of_nodes_to_score;
	const struct bt_config_plugins
		*plugins; /* NULL only when a caller built the configuration by hand */
	BT_LIST(struct bt_config_plugin_config) plugin_config;
};

/* The sections only a daemon reads (spec 10 sections 5.1 to 5.5). Durations are nanoseconds. */

struct bt_config_leader_election {
	bool leader_elect;
	int64_t lease_duration_ns;
	int64_t renew_deadline_ns;
	int64_t retry_period_ns;
	struct bt_str resource_lock;
	struct bt_str resource_name;
	struct bt_str resource_namespace;
};

struct bt_config_client_connection {
	struct bt_str kubeconfig;
	struct bt_str accept_content_types;
	struct bt_str content_type;
	float qps; /* negative: no client-side limit */
	int32_t burst;
};

struct bt_config_extender_tls {
	bool insecure;
	struct bt_str server_name;
	struct bt_str cert_file;
	struct bt_str key_file;
	struct bt_str ca_file;
	struct bt_str cert_data; /* decoded bytes */
	struct bt_str key_data;
	struct bt_str ca_data;
};

struct bt_config_managed_resource {
	struct bt_str name;
	bool ignored_by_scheduler;
};

struct bt_config_extender {
	struct bt_str url_prefix;
	struct bt_str filter_verb;
	struct bt_str prioritize_verb;
	struct bt_str preempt_verb;
	struct bt_str bind_verb;
	int64_t weight;
	bool enable_https;
	const struct bt_config_extender_tls *tls_config; /* NULL: absent */
	int64_t http_timeout_ns; /* as configured; 0 means 5 s when the client is built */
	bool node_cache_capable;
	BT_LIST(struct bt_config_managed_resource) managed_resources;
	bool ignorable;
};

struct bt_gates; /* config/gates.h */

struct bt_config; /* opaque here so that the daemon's sections can grow; accessors below */

/** A document may have this many bytes, levels of nesting, profiles. */
#define BT_CONFIG_BYTES_MAX (4U * 1024 * 1024)
#define BT_CONFIG_DEPTH_MAX 256
#define BT_CONFIG_PROFILES_MAX 1024
/** And every list in it this many entries. */
#define BT_CONFIG_LIST_MAX 65536

/**
 * Decode, default and validate a configuration given as JSON text. config/load.h has the form with
 * file name, flags and YAML complaints.
 *
 * @json        borrowed for the call
 * @gates       feature gates, borrowed for the call; NULL = defaults of v1.36
 * @out_config  owned: one reference, bt_config_unref()
 * @err         decode errors and all validation messages joined as upstream prints them
 * Returns 0, BERTH_ERR_SYNTAX, BERTH_ERR_INVALID or BERTH_ERR_TOO_LARGE.
 */
BT_MUST_USE int bt_config_load(struct bt_str json, const struct bt_gates *gates,
	struct bt_config **out_config, struct berth_error *err);
/** The default configuration. */
struct bt_config *bt_config_create_default(const struct bt_gates *gates);
struct bt_config *bt_config_ref(struct bt_config *config);
void bt_config_unref(struct bt_config *config);

uint32_t bt_config_profile_count(const struct bt_config *config);
const struct bt_config_profile *bt_config_profile_at(
	const struct bt_config *config, uint32_t index);
/** 0: adaptive. */
int32_t bt_config_percentage_of_nodes_to_score(const struct bt_config *config);
/** true when the document said it (an explicit value is honoured exactly, rotation and all). */
bool bt_config_percentage_is_explicit(const struct bt_config *config);
int32_t bt_config_parallelism(const struct bt_config *config);
const struct bt_gates *bt_config_gates(const struct bt_config *config);
/** First backoff of a rejected pod and its cap, seconds. */
int64_t bt_config_pod_initial_backoff_seconds(const struct bt_config *config);
int64_t bt_config_pod_max_backoff_seconds(const struct bt_config *config);
bool bt_config_enable_profiling(const struct bt_config *config);
bool bt_config_enable_contention_profiling(const struct bt_config *config);
bool bt_config_delay_cache_until_active(const struct bt_config *config);
const struct bt_config_leader_election *bt_config_leader_election(const struct bt_config *config);
const struct bt_config_client_connection *bt_config_client_connection(
	const struct bt_config *config);
/** Extenders in document order; the scheduler calls the ones that are not ignorable first (spec 10
 * section 7.2). */
uint32_t bt_config_extender_count(const struct bt_config *config);
const struct bt_config_extender *bt_config_extender_at(
	const struct bt_config *config, uint32_t index);
/**
 * Default plugins that a profile lists again under multiPoint, in document order: each is logged as
 * "Default plugin is explicitly re-configured; overriding" (spec 10 section 6.3).
 */
uint32_t bt_config_overridden_count(const struct bt_config *config);
struct bt_str bt_config_overridden_at(const struct bt_config *config, uint32_t index);

/** Arguments of a plugin in this profile, or NULL. The first entry of a name counts. */
const struct bt_plugin_args *bt_config_profile_find_args(
	const struct bt_config_profile *profile, struct bt_str plugin);

/**
 * Check arguments the way a plugin constructor does: paths start at the field (spec 10
 * section 7.5). The only check that NodeResourcesFit arguments ever get. Returns 0 or
 * BERTH_ERR_INVALID.
 */
BT_MUST_USE int bt_plugin_args_validate(
	const struct bt_plugin_args *args, const struct bt_gates *gates, struct berth_error *err);
/** "NodeResourcesFitArgs", ...; NULL for BT_ARGS_NONE and BT_ARGS_OTHER. */
const char *bt_plugin_args_kind_name(enum bt_plugin_args_kind kind);

/**
 * The effective configuration as one compact JSON document, names sorted (spec 10 section 10): what
 * --write-config-to emits once turned into YAML. Appends to out.
 */
void bt_config_write(const struct bt_config *config, struct bt_strbuf *out);
/** As /configz shows it: entries for plugins that are not enabled stay, in the order of spec 10
 * section 6.4. */
void bt_config_write_stored(const struct bt_config *config, struct bt_strbuf *out);
#endif
