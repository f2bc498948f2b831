/* SPDX-License-Identifier: Apache-2.0 */
#include "config/schema.h"

#include <string.h>

#include "base/assert.h"

#define ROW(S, json, M, k, f) \
	{ \
		.name = (json), .kind = (k), .flags = (f), \
		.offset = (uint32_t)offsetof(struct S, M) \
	}
/* A string type with a Go name of its own. */
#define NAMED(S, json, M, f, type) \
	{ \
		.name = (json), .kind = BT_CONFIG_SCHEMA_STR, .flags = (f), \
		.offset = (uint32_t)offsetof(struct S, M), .go_type = (type) \
	}
#define SUB(S, json, M, k, f, sub) \
	{ \
		.name = (json), .kind = (k), .flags = (f), \
		.offset = (uint32_t)offsetof(struct S, M), .schema = &(sub) \
	}
/* A value with a presence flag: V and P are the two members. */
#define OPT(S, json, V, P, k, f) \
	{ \
		.name = (json), .kind = (k), .flags = (f) | BT_CONFIG_SCHEMA_PRESENT, \
		.offset = (uint32_t)offsetof(struct S, V), \
		.present_offset = (uint32_t)offsetof(struct S, P) \
	}
#define TYPE_META_VERSION \
	{ \
		.name = "apiVersion", .kind = BT_CONFIG_SCHEMA_VERSION, \
		.flags = BT_CONFIG_SCHEMA_ALWAYS \
	}
#define TYPE_META_KIND \
	{ \
		.name = "kind", .kind = BT_CONFIG_SCHEMA_KIND, .flags = BT_CONFIG_SCHEMA_ALWAYS \
	}
#define TABLE(table, S, type) \
	{ \
		.go_type = (type), .size = (uint32_t)sizeof(struct S), \
		.field_count = BT_ARRAY_LENGTH(table), .fields = (table) \
	}

#define ALWAYS BT_CONFIG_SCHEMA_ALWAYS

/* --- core/v1 types in plugin arguments --- */

static const struct bt_config_schema_field node_requirement_fields[] = {
	ROW(bt_node_selector_requirement, "key", key, BT_CONFIG_SCHEMA_STR, ALWAYS),
	NAMED(bt_node_selector_requirement, "operator", operator_, ALWAYS,
		"v1.NodeSelectorOperator"),
	ROW(bt_node_selector_requirement, "values", values, BT_CONFIG_SCHEMA_STR_LIST, 0),
};
static const struct bt_config_schema node_requirement_schema =
	TABLE(node_requirement_fields, bt_node_selector_requirement, "v1.NodeSelectorRequirement");

static const struct bt_config_schema_field node_term_fields[] = {
	SUB(bt_node_selector_term, "matchExpressions", match_expressions, BT_CONFIG_SCHEMA_LIST, 0,
		node_requirement_schema),
	SUB(bt_node_selector_term, "matchFields", match_fields, BT_CONFIG_SCHEMA_LIST, 0,
		node_requirement_schema),
};
static const struct bt_config_schema node_term_schema =
	TABLE(node_term_fields, bt_node_selector_term, "v1.NodeSelectorTerm");

static const struct bt_config_schema_field node_selector_fields[] = {
	SUB(bt_node_selector, "nodeSelectorTerms", terms, BT_CONFIG_SCHEMA_LIST, ALWAYS,
		node_term_schema),
};
static const struct bt_config_schema node_selector_schema =
	TABLE(node_selector_fields, bt_node_selector, "v1.NodeSelector");

static const struct bt_config_schema_field preferred_term_fields[] = {
	SUB(bt_preferred_scheduling_term, "preference", preference, BT_CONFIG_SCHEMA_STRUCT, ALWAYS,
		node_term_schema),
	ROW(bt_preferred_scheduling_term, "weight", weight, BT_CONFIG_SCHEMA_I32, ALWAYS),
};
static const struct bt_config_schema preferred_term_schema =
	TABLE(preferred_term_fields, bt_preferred_scheduling_term, "v1.PreferredSchedulingTerm");

static const struct bt_config_schema_field node_affinity_fields[] = {
	SUB(bt_node_affinity, "preferredDuringSchedulingIgnoredDuringExecution", preferred,
		BT_CONFIG_SCHEMA_LIST, 0, preferred_term_schema),
	SUB(bt_node_affinity, "requiredDuringSchedulingIgnoredDuringExecution", required,
		BT_CONFIG_SCHEMA_POINTER, 0, node_selector_schema),
};
static const struct bt_config_schema node_affinity_schema =
	TABLE(node_affinity_fields, bt_node_affinity, "v1.NodeAffinity");

static const struct bt_config_schema_field label_requirement_fields[] = {
	ROW(bt_label_selector_requirement, "key", key, BT_CONFIG_SCHEMA_STR, ALWAYS),
	NAMED(bt_label_selector_requirement, "operator", operator_, ALWAYS,
		"v1.LabelSelectorOperator"),
	ROW(bt_label_selector_requirement, "values", values, BT_CONFIG_SCHEMA_STR_LIST, 0),
};
static const struct bt_config_schema label_requirement_schema = TABLE(
	label_requirement_fields, bt_label_selector_requirement, "v1.LabelSelectorRequirement");

static const struct bt_config_schema_field label_selector_fields[] = {
	SUB(bt_label_selector, "matchExpressions", match_expressions, BT_CONFIG_SCHEMA_LIST, 0,
		label_requirement_schema),
	ROW(bt_label_selector, "matchLabels", match_labels, BT_CONFIG_SCHEMA_STR_MAP, 0),
};
static const struct bt_config_schema label_selector_schema =
	TABLE(label_selector_fields, bt_label_selector, "v1.LabelSelector");

static const struct bt_config_schema_field spread_constraint_fields[] = {
	SUB(bt_topology_spread_constraint, "labelSelector", label_selector,
		BT_CONFIG_SCHEMA_POINTER, 0, label_selector_schema),
	ROW(bt_topology_spread_constraint, "matchLabelKeys", match_label_keys,
		BT_CONFIG_SCHEMA_STR_LIST, 0),
	ROW(bt_topology_spread_constraint, "maxSkew", max_skew, BT_CONFIG_SCHEMA_I32, ALWAYS),
	OPT(bt_topology_spread_constraint, "minDomains", min_domains.value, min_domains.present,
		BT_CONFIG_SCHEMA_I32, 0),
	NAMED(bt_topology_spread_constraint, "nodeAffinityPolicy", node_affinity_policy, 0,
		"v1.NodeInclusionPolicy"),
	NAMED(bt_topology_spread_constraint, "nodeTaintsPolicy", node_taints_policy, 0,
		"v1.NodeInclusionPolicy"),
	ROW(bt_topology_spread_constraint, "topologyKey", topology_key, BT_CONFIG_SCHEMA_STR,
		ALWAYS),
	NAMED(bt_topology_spread_constraint, "whenUnsatisfiable", when_unsatisfiable, ALWAYS,
		"v1.UnsatisfiableConstraintAction"),
};
static const struct bt_config_schema spread_constraint_schema = TABLE(
	spread_constraint_fields, bt_topology_spread_constraint, "v1.TopologySpreadConstraint");

/* --- plugin arguments --- */

static const struct bt_config_schema_field default_preemption_fields[] = {
	TYPE_META_VERSION,
	TYPE_META_KIND,
	OPT(bt_default_preemption_args, "minCandidateNodesAbsolute",
		min_candidate_nodes_absolute.value, min_candidate_nodes_absolute.present,
		BT_CONFIG_SCHEMA_I32, 0),
	OPT(bt_default_preemption_args, "minCandidateNodesPercentage",
		min_candidate_nodes_percentage.value, min_candidate_nodes_percentage.present,
		BT_CONFIG_SCHEMA_I32, 0),
};

static const struct bt_config_schema_field inter_pod_affinity_fields[] = {
	TYPE_META_VERSION,
	OPT(bt_inter_pod_affinity_args, "hardPodAffinityWeight", hard_pod_affinity_weight.value,
		hard_pod_affinity_weight.present, BT_CONFIG_SCHEMA_I32, 0),
	ROW(bt_inter_pod_affinity_args, "ignorePreferredTermsOfExistingPods",
		ignore_preferred_terms_of_existing_pods, BT_CONFIG_SCHEMA_BOOL, ALWAYS),
	TYPE_META_KIND,
};

static const struct bt_config_schema_field node_affinity_args_fields[] = {
	SUB(bt_node_affinity_args, "addedAffinity", added_affinity, BT_CONFIG_SCHEMA_POINTER, 0,
		node_affinity_schema),
	TYPE_META_VERSION,
	TYPE_META_KIND,
};

static const struct bt_config_schema_field resource_spec_fields[] = {
	ROW(bt_resource_spec, "name", name, BT_CONFIG_SCHEMA_STR, ALWAYS),
	ROW(bt_resource_spec, "weight", weight, BT_CONFIG_SCHEMA_I64, 0),
};
static const struct bt_config_schema resource_spec_schema =
	TABLE(resource_spec_fields, bt_resource_spec, "v1.ResourceSpec");

static const struct bt_config_schema_field shape_point_fields[] = {
	ROW(bt_utilization_shape_point, "score", score, BT_CONFIG_SCHEMA_I32, ALWAYS),
	ROW(bt_utilization_shape_point, "utilization", utilization, BT_CONFIG_SCHEMA_I32, ALWAYS),
};
static const struct bt_config_schema shape_point_schema =
	TABLE(shape_point_fields, bt_utilization_shape_point, "v1.UtilizationShapePoint");

static const struct bt_config_schema_field capacity_ratio_fields[] = {
	SUB(bt_requested_to_capacity_ratio, "shape", shape, BT_CONFIG_SCHEMA_LIST, 0,
		shape_point_schema),
};
static const struct bt_config_schema capacity_ratio_schema = TABLE(
	capacity_ratio_fields, bt_requested_to_capacity_ratio, "v1.RequestedToCapacityRatioParam");

static const struct bt_config_schema_field scoring_strategy_fields[] = {
	SUB(bt_scoring_strategy, "requestedToCapacityRatio", requested_to_capacity_ratio,
		BT_CONFIG_SCHEMA_POINTER, 0, capacity_ratio_schema),
	SUB(bt_scoring_strategy, "resources", resources, BT_CONFIG_SCHEMA_LIST, 0,
		resource_spec_schema),
	NAMED(bt_scoring_strategy, "type", type, 0, "v1.ScoringStrategyType"),
};
static const struct bt_config_schema scoring_strategy_schema =
	TABLE(scoring_strategy_fields, bt_scoring_strategy, "v1.ScoringStrategy");

static const struct bt_config_schema_field node_resources_fit_fields[] = {
	TYPE_META_VERSION,
	ROW(bt_node_resources_fit_args, "ignoredResourceGroups", ignored_resource_groups,
		BT_CONFIG_SCHEMA_STR_LIST, 0),
	ROW(bt_node_resources_fit_args, "ignoredResources", ignored_resources,
		BT_CONFIG_SCHEMA_STR_LIST, 0),
	TYPE_META_KIND,
	SUB(bt_node_resources_fit_args, "scoringStrategy", scoring_strategy,
		BT_CONFIG_SCHEMA_POINTER, 0, scoring_strategy_schema),
};

static const struct bt_config_schema_field balanced_allocation_fields[] = {
	TYPE_META_VERSION,
	TYPE_META_KIND,
	SUB(bt_node_resources_balanced_allocation_args, "resources", resources,
		BT_CONFIG_SCHEMA_LIST, 0, resource_spec_schema),
};

static const struct bt_config_schema_field pod_topology_spread_fields[] = {
	TYPE_META_VERSION,
	SUB(bt_pod_topology_spread_args, "defaultConstraints", default_constraints,
		BT_CONFIG_SCHEMA_LIST, 0, spread_constraint_schema),
	NAMED(bt_pod_topology_spread_args, "defaultingType", defaulting_type, 0,
		"v1.PodTopologySpreadConstraintsDefaulting"),
	TYPE_META_KIND,
};

static const struct bt_config_schema_field volume_binding_fields[] = {
	TYPE_META_VERSION,
	OPT(bt_volume_binding_args, "bindTimeoutSeconds", bind_timeout_seconds.value,
		bind_timeout_seconds.present, BT_CONFIG_SCHEMA_I64, 0),
	TYPE_META_KIND,
	SUB(bt_volume_binding_args, "shape", shape, BT_CONFIG_SCHEMA_LIST, 0, shape_point_schema),
};

static const struct bt_config_schema_field dynamic_resources_fields[] = {
	TYPE_META_VERSION,
	OPT(bt_dynamic_resources_args, "bindingTimeout", binding_timeout_ns, binding_timeout_set,
		BT_CONFIG_SCHEMA_DURATION, 0),
	OPT(bt_dynamic_resources_args, "filterTimeout", filter_timeout_ns, filter_timeout_set,
		BT_CONFIG_SCHEMA_DURATION, ALWAYS),
	TYPE_META_KIND,
};

static const struct bt_config_schema args_schemas[BT_ARGS__COUNT] = {
	[BT_ARGS_NODE_RESOURCES_FIT] = TABLE(
		node_resources_fit_fields, bt_node_resources_fit_args, "v1.NodeResourcesFitArgs"),
	[BT_ARGS_NODE_RESOURCES_BALANCED_ALLOCATION] =
		TABLE(balanced_allocation_fields, bt_node_resources_balanced_allocation_args,
			"v1.NodeResourcesBalancedAllocationArgs"),
	[BT_ARGS_NODE_AFFINITY] =
		TABLE(node_affinity_args_fields, bt_node_affinity_args, "v1.NodeAffinityArgs"),
	[BT_ARGS_INTER_POD_AFFINITY] = TABLE(
		inter_pod_affinity_fields, bt_inter_pod_affinity_args, "v1.InterPodAffinityArgs"),
	[BT_ARGS_POD_TOPOLOGY_SPREAD] = TABLE(pod_topology_spread_fields,
		bt_pod_topology_spread_args, "v1.PodTopologySpreadArgs"),
	[BT_ARGS_DEFAULT_PREEMPTION] = TABLE(
		default_preemption_fields, bt_default_preemption_args, "v1.DefaultPreemptionArgs"),
	[BT_ARGS_VOLUME_BINDING] =
		TABLE(volume_binding_fields, bt_volume_binding_args, "v1.VolumeBindingArgs"),
	[BT_ARGS_DYNAMIC_RESOURCES] = TABLE(
		dynamic_resources_fields, bt_dynamic_resources_args, "v1.DynamicResourcesArgs"),
};

/* --- the document --- */

static const struct bt_config_schema_field plugin_fields[] = {
	ROW(bt_config_plugin, "name", name, BT_CONFIG_SCHEMA_STR, ALWAYS),
	ROW(bt_config_plugin, "weight", weight, BT_CONFIG_SCHEMA_I32, ALWAYS),
};
static const struct bt_config_schema plugin_schema =
	TABLE(plugin_fields, bt_config_plugin, "v1.Plugin");

static const struct bt_config_schema_field plugin_set_fields[] = {
	SUB(bt_config_plugin_set, "disabled", disabled, BT_CONFIG_SCHEMA_LIST, 0, plugin_schema),
	SUB(bt_config_plugin_set, "enabled", enabled, BT_CONFIG_SCHEMA_LIST, 0, plugin_schema),
};
static const struct bt_config_schema plugin_set_schema =
	TABLE(plugin_set_fields, bt_config_plugin_set, "v1.PluginSet");

#define POINT(json, point) \
	SUB(bt_config_plugins, json, points[point], BT_CONFIG_SCHEMA_STRUCT, ALWAYS, \
		plugin_set_schema)

static const struct bt_config_schema_field plugins_fields[] = {
	POINT("bind", BT_POINT_BIND),
	POINT("filter", BT_POINT_FILTER),
	SUB(bt_config_plugins, "multiPoint", multi_point, BT_CONFIG_SCHEMA_STRUCT, ALWAYS,
		plugin_set_schema),
	POINT("permit", BT_POINT_PERMIT),
	POINT("placementGenerate", BT_POINT_PLACEMENT_GENERATE),
	POINT("placementScore", BT_POINT_PLACEMENT_SCORE),
	POINT("postBind", BT_POINT_POST_BIND),
	POINT("postFilter", BT_POINT_POST_FILTER),
	POINT("preBind", BT_POINT_PRE_BIND),
	POINT("preEnqueue", BT_POINT_PRE_ENQUEUE),
	POINT("preFilter", BT_POINT_PRE_FILTER),
	POINT("preScore", BT_POINT_PRE_SCORE),
	POINT("queueSort", BT_POINT_QUEUE_SORT),
	POINT("reserve", BT_POINT_RESERVE),
	POINT("score", BT_POINT_SCORE),
};
static const struct bt_config_schema plugins_schema =
	TABLE(plugins_fields, bt_config_plugins, "v1.Plugins");

static const struct bt_config_schema_field plugin_config_fields[] = {
	ROW(bt_config_plugin_config, "args", args, BT_CONFIG_SCHEMA_ARGS, 0),
	ROW(bt_config_plugin_config, "name", name, BT_CONFIG_SCHEMA_STR, ALWAYS),
};
static const struct bt_config_schema plugin_config_schema =
	TABLE(plugin_config_fields, bt_config_plugin_config, "v1.PluginConfig");

static const struct bt_config_schema_field profile_fields[] = {
	OPT(bt_config_profile, "percentageOfNodesToScore", percentage_of_nodes_to_score.value,
		percentage_of_nodes_to_score.present, BT_CONFIG_SCHEMA_I32, 0),
	SUB(bt_config_profile, "pluginConfig", plugin_config, BT_CONFIG_SCHEMA_LIST, 0,
		plugin_config_schema),
	SUB(bt_config_profile, "plugins", plugins, BT_CONFIG_SCHEMA_POINTER, 0, plugins_schema),
	ROW(bt_config_profile, "schedulerName", scheduler_name, BT_CONFIG_SCHEMA_STR, ALWAYS),
};
const struct bt_config_schema bt_config_schema_profile =
	TABLE(profile_fields, bt_config_profile, "v1.KubeSchedulerProfile");

static const struct bt_config_schema_field managed_resource_fields[] = {
	ROW(bt_config_managed_resource, "ignoredByScheduler", ignored_by_scheduler,
		BT_CONFIG_SCHEMA_BOOL, 0),
	ROW(bt_config_managed_resource, "name", name, BT_CONFIG_SCHEMA_STR, ALWAYS),
};
static const struct bt_config_schema managed_resource_schema =
	TABLE(managed_resource_fields, bt_config_managed_resource, "v1.ExtenderManagedResource");

static const struct bt_config_schema_field extender_tls_fields[] = {
	ROW(bt_config_extender_tls, "caData", ca_data, BT_CONFIG_SCHEMA_BYTES, 0),
	ROW(bt_config_extender_tls, "caFile", ca_file, BT_CONFIG_SCHEMA_STR, 0),
	ROW(bt_config_extender_tls, "certData", cert_data, BT_CONFIG_SCHEMA_BYTES, 0),
	ROW(bt_config_extender_tls, "certFile", cert_file, BT_CONFIG_SCHEMA_STR, 0),
	ROW(bt_config_extender_tls, "insecure", insecure, BT_CONFIG_SCHEMA_BOOL, 0),
	ROW(bt_config_extender_tls, "keyData", key_data, BT_CONFIG_SCHEMA_BYTES, 0),
	ROW(bt_config_extender_tls, "keyFile", key_file, BT_CONFIG_SCHEMA_STR, 0),
	ROW(bt_config_extender_tls, "serverName", server_name, BT_CONFIG_SCHEMA_STR, 0),
};
static const struct bt_config_schema extender_tls_schema =
	TABLE(extender_tls_fields, bt_config_extender_tls, "v1.ExtenderTLSConfig");

static const struct bt_config_schema_field extender_fields[] = {
	ROW(bt_config_extender, "bindVerb", bind_verb, BT_CONFIG_SCHEMA_STR, 0),
	ROW(bt_config_extender, "enableHTTPS", enable_https, BT_CONFIG_SCHEMA_BOOL, 0),
	ROW(bt_config_extender, "filterVerb", filter_verb, BT_CONFIG_SCHEMA_STR, 0),
	ROW(bt_config_extender, "httpTimeout", http_timeout_ns, BT_CONFIG_SCHEMA_DURATION, ALWAYS),
	ROW(bt_config_extender, "ignorable", ignorable, BT_CONFIG_SCHEMA_BOOL, 0),
	SUB(bt_config_extender, "managedResources", managed_resources, BT_CONFIG_SCHEMA_LIST, 0,
		managed_resource_schema),
	ROW(bt_config_extender, "nodeCacheCapable", node_cache_capable, BT_CONFIG_SCHEMA_BOOL, 0),
	ROW(bt_config_extender, "preemptVerb", preempt_verb, BT_CONFIG_SCHEMA_STR, 0),
	ROW(bt_config_extender, "prioritizeVerb", prioritize_verb, BT_CONFIG_SCHEMA_STR, 0),
	SUB(bt_config_extender, "tlsConfig", tls_config, BT_CONFIG_SCHEMA_POINTER, 0,
		extender_tls_schema),
	ROW(bt_config_extender, "urlPrefix", url_prefix, BT_CONFIG_SCHEMA_STR, ALWAYS),
	ROW(bt_config_extender, "weight", weight, BT_CONFIG_SCHEMA_I64, 0),
};
const struct bt_config_schema bt_config_schema_extender =
	TABLE(extender_fields, bt_config_extender, "v1.Extender");

static const struct bt_config_schema_field leader_election_fields[] = {
	ROW(bt_config_leader_election, "leaderElect", leader_elect, BT_CONFIG_SCHEMA_BOOL, ALWAYS),
	ROW(bt_config_leader_election, "leaseDuration", lease_duration_ns,
		BT_CONFIG_SCHEMA_DURATION, ALWAYS),
	ROW(bt_config_leader_election, "renewDeadline", renew_deadline_ns,
		BT_CONFIG_SCHEMA_DURATION, ALWAYS),
	ROW(bt_config_leader_election, "resourceLock", resource_lock, BT_CONFIG_SCHEMA_STR, ALWAYS),
	ROW(bt_config_leader_election, "resourceName", resource_name, BT_CONFIG_SCHEMA_STR, ALWAYS),
	ROW(bt_config_leader_election, "resourceNamespace", resource_namespace,
		BT_CONFIG_SCHEMA_STR, ALWAYS),
	ROW(bt_config_leader_election, "retryPeriod", retry_period_ns, BT_CONFIG_SCHEMA_DURATION,
		ALWAYS),
};
static const struct bt_config_schema leader_election_schema = TABLE(
	leader_election_fields, bt_config_leader_election, "v1alpha1.LeaderElectionConfiguration");

static const struct bt_config_schema_field client_connection_fields[] = {
	ROW(bt_config_client_connection, "acceptContentTypes", accept_content_types,
		BT_CONFIG_SCHEMA_STR, ALWAYS),
	ROW(bt_config_client_connection, "burst", burst, BT_CONFIG_SCHEMA_I32, ALWAYS),
	ROW(bt_config_client_connection, "contentType", content_type, BT_CONFIG_SCHEMA_STR, ALWAYS),
	ROW(bt_config_client_connection, "kubeconfig", kubeconfig, BT_CONFIG_SCHEMA_STR, ALWAYS),
	ROW(bt_config_client_connection, "qps", qps, BT_CONFIG_SCHEMA_F32, ALWAYS),
};
static const struct bt_config_schema client_connection_schema = TABLE(client_connection_fields,
	bt_config_client_connection, "v1alpha1.ClientConnectionConfiguration");

static const struct bt_config_schema_field document_fields[] = {
	TYPE_META_VERSION,
	SUB(bt_config_document, "clientConnection", client_connection, BT_CONFIG_SCHEMA_STRUCT,
		ALWAYS, client_connection_schema),
	ROW(bt_config_document, "delayCacheUntilActive", delay_cache_until_active,
		BT_CONFIG_SCHEMA_BOOL, 0),
	OPT(bt_config_document, "enableContentionProfiling", enable_contention_profiling.value,
		enable_contention_profiling.present, BT_CONFIG_SCHEMA_BOOL, ALWAYS),
	ROW(bt_config_document, "enableProfiling", enable_profiling, BT_CONFIG_SCHEMA_BOOL, ALWAYS),
	SUB(bt_config_document, "extenders", extenders, BT_CONFIG_SCHEMA_LIST, 0,
		bt_config_schema_extender),
	TYPE_META_KIND,
	SUB(bt_config_document, "leaderElection", leader_election, BT_CONFIG_SCHEMA_STRUCT, ALWAYS,
		leader_election_schema),
	ROW(bt_config_document, "parallelism", parallelism, BT_CONFIG_SCHEMA_I32, ALWAYS),
	OPT(bt_config_document, "percentageOfNodesToScore", percentage_of_nodes_to_score.value,
		percentage_of_nodes_to_score.present, BT_CONFIG_SCHEMA_I32, ALWAYS),
	ROW(bt_config_document, "podInitialBackoffSeconds", pod_initial_backoff_seconds,
		BT_CONFIG_SCHEMA_I64, ALWAYS),
	ROW(bt_config_document, "podMaxBackoffSeconds", pod_max_backoff_seconds,
		BT_CONFIG_SCHEMA_I64, ALWAYS),
	SUB(bt_config_document, "profiles", profiles, BT_CONFIG_SCHEMA_LIST, ALWAYS,
		bt_config_schema_profile),
};
const struct bt_config_schema bt_config_schema_document =
	TABLE(document_fields, bt_config_document, "v1." BT_CONFIG_KIND);

const struct bt_config_schema *bt_config_schema_args(enum bt_plugin_args_kind kind)
{
	return args_schemas[kind].fields != NULL ? &args_schemas[kind] : NULL;
}

const char *bt_config_schema_name(const struct bt_config_schema *schema)
{
	const char *dot = strchr(schema->go_type, '.');
	BT_ASSERT(dot != NULL);
	return dot + 1;
}

enum bt_plugin_args_kind bt_config_schema_args_kind_named(struct bt_str name)
{
	for (uint32_t i = 0; i < BT_ARGS__COUNT; i++) {
		if (args_schemas[i].fields != NULL &&
			bt_str_equal_c(name, bt_config_schema_name(&args_schemas[i]))) {
			return (enum bt_plugin_args_kind)i;
		}
	}
	return BT_ARGS_OTHER;
}

enum bt_plugin_args_kind bt_config_schema_args_kind_of(struct bt_str plugin)
{
	for (uint32_t i = 0; i < BT_ARGS__COUNT; i++) {
		struct bt_str name;
		if (args_schemas[i].fields == NULL) {
			continue;
		}
		name = bt_str_from(bt_config_schema_name(&args_schemas[i]));
		if (bt_str_equal(plugin, bt_str_sub(name, 0, name.length - 4))) {
			return (enum bt_plugin_args_kind)i;
		}
	}
	return BT_ARGS_OTHER;
}

void *bt_plugin_args_body(struct bt_plugin_args *args)
{
	return &args->node_resources_fit;
}

const struct bt_config_schema_field *bt_config_schema_find(
	const struct bt_config_schema *schema, struct bt_str name)
{
	for (uint32_t i = 0; i < schema->field_count; i++) {
		if (bt_str_equal_c(name, schema->fields[i].name)) {
			return &schema->fields[i];
		}
	}
	return NULL;
}

const char *bt_plugin_args_kind_name(enum bt_plugin_args_kind kind)
{
	const struct bt_config_schema *schema = bt_config_schema_args(kind);
	return schema != NULL ? bt_config_schema_name(schema) : NULL;
}
