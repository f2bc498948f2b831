/* SPDX-License-Identifier: Apache-2.0 */
/* Defaults, plugin set merging, flags: spec 10 sections 5, 6, 9 and their edge cases. */
#include "base/duration.h"
#include "config/config.h"
#include "config_test.h"

#define DEFAULTS_HEAD \
	"SchedulingGates PrioritySort NodeUnschedulable NodeName TaintToleration:3 " \
	"NodeAffinity:2 NodePorts " \
	"NodeResourcesFit:1 VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone " \
	"PodTopologySpread:2 " \
	"InterPodAffinity:2 DynamicResources:2 DefaultPreemption " \
	"NodeResourcesBalancedAllocation:1 ImageLocality:1 " \
	"DefaultBinder"
#define DEFAULTS DEFAULTS_HEAD " NodeDeclaredFeatures"

static const struct bt_config_plugins *plugins_of(const struct bt_config *config)
{
	return config->document.profiles.items[0].plugins;
}

/*
 * Compares the names of pluginConfig, in order, with a list such as "DefaultPreemption
 * DynamicResources".
 */
static void expect_configs(const struct bt_config_profile *profile, const char *expected)
{
	struct bt_strbuf text = {0};
	for (uint32_t i = 0; i < profile->plugin_config.count; i++) {
		bt_strbuf_printf(&text, "%s%.*s", i > 0 ? " " : "",
			BT_STR_ARG(profile->plugin_config.items[i].name));
	}
	ck_assert_str_eq(bt_strbuf_c(&text), expected);
	bt_strbuf_finish(&text);
}

START_TEST(test_config__defaults)
{
	struct bt_config *config = test_load("");
	const struct bt_config_leader_election *election = &config->document.leader_election;
	const struct bt_config_client_connection *client = &config->document.client_connection;
	const struct bt_config_profile *profile = &config->document.profiles.items[0];

	ck_assert_int_eq(config->document.parallelism, 16);
	ck_assert_int_eq(config->document.percentage_of_nodes_to_score.value, 0);
	ck_assert(!config->percentage_is_explicit);
	ck_assert_int_eq(config->document.pod_initial_backoff_seconds, 1);
	ck_assert_int_eq(config->document.pod_max_backoff_seconds, 10);
	ck_assert(config->document.enable_profiling);
	ck_assert(config->document.enable_contention_profiling.value);
	ck_assert(!config->document.delay_cache_until_active);
	ck_assert(election->leader_elect);
	ck_assert_int_eq(election->lease_duration_ns, 15 * BT_NS_PER_SECOND);
	ck_assert_int_eq(election->renew_deadline_ns, 10 * BT_NS_PER_SECOND);
	ck_assert_int_eq(election->retry_period_ns, 2 * BT_NS_PER_SECOND);
	ck_assert(bt_str_equal_c(election->resource_lock, "leases"));
	ck_assert(bt_str_equal_c(election->resource_name, "kube-scheduler"));
	ck_assert(bt_str_equal_c(election->resource_namespace, "kube-system"));
	ck_assert(bt_str_equal_c(client->content_type, "application/vnd.kubernetes.protobuf"));
	ck_assert(client->qps > 49.9F && client->qps < 50.1F);
	ck_assert_int_eq(client->burst, 100);
	ck_assert_uint_eq(config->document.profiles.count, 1);
	ck_assert(bt_str_equal_c(profile->scheduler_name, "default-scheduler"));
	ck_assert(!profile->percentage_of_nodes_to_score.present);
	test_expect_enabled(&profile->plugins->multi_point, DEFAULTS);
	for (uint32_t i = 0; i < BT_POINT__COUNT; i++) {
		ck_assert_uint_eq(profile->plugins->points[i].enabled.count, 0);
	}
	expect_configs(profile,
		"DefaultPreemption DynamicResources InterPodAffinity NodeAffinity "
		"NodeResourcesBalancedAllocation NodeResourcesFit PodTopologySpread VolumeBinding");
	ck_assert_uint_eq(config->document.extenders.count, 0);
	bt_config_unref(config);
}
END_TEST

START_TEST(test_config__default_is_the_empty_document)
{
	struct bt_config *loaded = test_load("");
	struct bt_config *made = bt_config_create_default(NULL);
	struct bt_strbuf a = {0};
	struct bt_strbuf b = {0};
	bt_config_write(loaded, &a);
	bt_config_write(made, &b);
	ck_assert_str_eq(bt_strbuf_c(&a), bt_strbuf_c(&b));
	bt_strbuf_finish(&a);
	bt_strbuf_finish(&b);
	bt_config_unref(bt_config_ref(loaded));
	bt_config_unref(loaded);
	bt_config_unref(made);
	bt_config_unref(NULL);
}
END_TEST

START_TEST(test_config__default_args)
{
	struct bt_config *config = bt_config_create_default(NULL);
	const struct bt_plugin_args *args = test_args(config, "NodeResourcesFit");
	const struct bt_scoring_strategy *strategy = args->node_resources_fit.scoring_strategy;

	ck_assert_int_eq(args->kind, BT_ARGS_NODE_RESOURCES_FIT);
	ck_assert(bt_str_equal_c(strategy->type, "LeastAllocated"));
	ck_assert_uint_eq(strategy->resources.count, 2);
	ck_assert(bt_str_equal_c(strategy->resources.items[0].name, "cpu"));
	ck_assert(bt_str_equal_c(strategy->resources.items[1].name, "memory"));
	ck_assert_int_eq(strategy->resources.items[1].weight, 1);
	ck_assert_ptr_null(strategy->requested_to_capacity_ratio);
	args = test_args(config, "NodeResourcesBalancedAllocation");
	ck_assert_uint_eq(args->node_resources_balanced_allocation.resources.count, 2);
	args = test_args(config, "InterPodAffinity");
	ck_assert_int_eq(args->inter_pod_affinity.hard_pod_affinity_weight.value, 1);
	ck_assert(!args->inter_pod_affinity.ignore_preferred_terms_of_existing_pods);
	args = test_args(config, "DefaultPreemption");
	ck_assert_int_eq(args->default_preemption.min_candidate_nodes_percentage.value, 10);
	ck_assert_int_eq(args->default_preemption.min_candidate_nodes_absolute.value, 100);
	args = test_args(config, "PodTopologySpread");
	ck_assert(bt_str_equal_c(args->pod_topology_spread.defaulting_type, "System"));
	ck_assert_uint_eq(args->pod_topology_spread.default_constraints.count, 0);
	args = test_args(config, "VolumeBinding");
	ck_assert_int_eq(args->volume_binding.bind_timeout_seconds.value, 600);
	ck_assert(!args->volume_binding.shape.present);
	args = test_args(config, "DynamicResources");
	ck_assert_int_eq(args->dynamic_resources.filter_timeout_ns.value, 10 * BT_NS_PER_SECOND);
	ck_assert_int_eq(args->dynamic_resources.binding_timeout_ns.value, 600 * BT_NS_PER_SECOND);
	args = test_args(config, "NodeAffinity");
	ck_assert_ptr_null(args->node_affinity.added_affinity);
	bt_config_unref(config);
}
END_TEST

START_TEST(test_config__gates_change_defaults)
{
	struct bt_gates gates =
		test_gates("GenericWorkload=true,GangScheduling=true,"
			   "TopologyAwareWorkloadScheduling=true,StorageCapacityScoring=true,"
			   "DRASchedulerFilterTimeout=false,"
			   "DRADeviceBindingConditions=false");
	struct bt_config *config = bt_config_create_default(&gates);
	const struct bt_plugin_args *args;
	test_expect_enabled(&plugins_of(config)->multi_point,
		DEFAULTS " GangScheduling TopologyPlacementGenerator PodGroupPodsCount:1");
	args = test_args(config, "VolumeBinding");
	ck_assert_uint_eq(args->volume_binding.shape.count, 2);
	ck_assert_int_eq(args->volume_binding.shape.items[0].utilization, 0);
	ck_assert_int_eq(args->volume_binding.shape.items[0].score, 10);
	ck_assert_int_eq(args->volume_binding.shape.items[1].utilization, 100);
	ck_assert_int_eq(args->volume_binding.shape.items[1].score, 0);
	args = test_args(config, "DynamicResources");
	ck_assert(!args->dynamic_resources.filter_timeout_ns.present);
	ck_assert(!args->dynamic_resources.binding_timeout_ns.present);
	bt_config_unref(config);

	gates = test_gates(
		"NodeDeclaredFeatures=false,InPlacePodLevelResourcesVerticalScaling=false");
	config = bt_config_create_default(&gates);
	test_expect_enabled(&plugins_of(config)->multi_point, DEFAULTS_HEAD);
	ck_assert(!bt_gate_enabled(&config->gates, BT_GATE_NODE_DECLARED_FEATURES));
	bt_config_unref(config);
}
END_TEST

START_TEST(test_config__edge_10_14_zero_lease_duration)
{
	struct bt_config *config = test_load("'leaderElection':{'leaseDuration':'0s'}");
	ck_assert_int_eq(config->document.leader_election.lease_duration_ns, 15 * BT_NS_PER_SECOND);
	bt_config_unref(config);
}
END_TEST

START_TEST(test_config__edge_10_16_no_profiles)
{
	struct bt_config *config = test_load("'profiles':[]");
	ck_assert_uint_eq(config->document.profiles.count, 1);
	ck_assert(bt_str_equal_c(
		config->document.profiles.items[0].scheduler_name, "default-scheduler"));
	bt_config_unref(config);
}
END_TEST

START_TEST(test_config__edge_10_17_empty_profile)
{
	struct bt_config *config = test_load("'profiles':[{}]");
	ck_assert(bt_str_equal_c(
		config->document.profiles.items[0].scheduler_name, "default-scheduler"));
	bt_config_unref(config);
	test_refuse(
		"'profiles':[{'schedulerName':''}]", "profiles[0].schedulerName: Required value");
}
END_TEST

START_TEST(test_config__edge_10_21_contention_profiling)
{
	struct bt_config *config = test_load("'enableProfiling':false");
	ck_assert(!config->document.enable_contention_profiling.value);
	bt_config_unref(config);
	config = test_load("'enableProfiling':false,'enableContentionProfiling':true");
	ck_assert(config->document.enable_contention_profiling.value);
	bt_config_unref(config);
	config = test_load("'enableContentionProfiling':false");
	ck_assert(!config->document.enable_contention_profiling.value);
	bt_config_unref(config);
}
END_TEST

START_TEST(test_config__edge_10_22_qps_and_burst)
{
	struct bt_config *config = test_load("'clientConnection':{'qps':0,'burst':0}");
	ck_assert(config->document.client_connection.qps > 49.9F);
	ck_assert_int_eq(config->document.client_connection.burst, 100);
	bt_config_unref(config);
	config = test_load("'clientConnection':{'qps':-1}");
	ck_assert(config->document.client_connection.qps < 0);
	bt_config_unref(config);
	test_refuse("'clientConnection':{'burst':-1}",
		"clientConnection.burst: Invalid value: -1: must be non-negative");
}
END_TEST

START_TEST(test_config__edge_10_27_percentages)
{
	struct bt_config *config;
	test_refuse("'percentageOfNodesToScore':101",
		"percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]");
	config = test_load(
		"'percentageOfNodesToScore':50,'profiles':[{'percentageOfNodesToScore':0}]");
	ck_assert_int_eq(config->document.percentage_of_nodes_to_score.value, 50);
	ck_assert(config->percentage_is_explicit);
	ck_assert(config->document.profiles.items[0].percentage_of_nodes_to_score.present);
	ck_assert_int_eq(config->document.profiles.items[0].percentage_of_nodes_to_score.value, 0);
	bt_config_unref(config);
}
END_TEST

START_TEST(test_config__edge_10_29_score_disabled)
{
	struct bt_config *config = test_load(TEST_PLUGINS("'score':{'disabled':[{'name':'*'}]}"));
	const struct bt_config_plugin_set *score = &plugins_of(config)->points[BT_POINT_SCORE];
	ck_assert_uint_eq(score->enabled.count, 0);
	ck_assert_uint_eq(score->disabled.count, 1);
	ck_assert(bt_str_equal_c(score->disabled.items[0].name, "*"));
	test_expect_enabled(&plugins_of(config)->multi_point, DEFAULTS);
	bt_config_unref(config);
}
END_TEST

START_TEST(test_config__edge_10_30_everything_disabled)
{
	struct bt_config *config =
		test_load(TEST_PLUGINS("'multiPoint':{'disabled':[{'name':'*'}]}"));
	test_expect_enabled(&plugins_of(config)->multi_point, "");
	expect_configs(&config->document.profiles.items[0], "");
	bt_config_unref(config);
}
END_TEST

START_TEST(test_config__edge_10_31_only_sort_and_bind)
{
	struct bt_config *config =
		test_load(TEST_PLUGINS("'multiPoint':{'disabled':[{'name':'*'}]},"
				       "'queueSort':{'enabled':[{'name':'PrioritySort'}]},"
				       "'bind':{'enabled':[{'name':'DefaultBinder'}]}"));
	test_expect_enabled(&plugins_of(config)->multi_point, "");
	test_expect_enabled(&plugins_of(config)->points[BT_POINT_QUEUE_SORT], "PrioritySort");
	test_expect_enabled(&plugins_of(config)->points[BT_POINT_BIND], "DefaultBinder");
	bt_config_unref(config);
}
END_TEST

START_TEST(test_config__edge_10_32_weight_overridden)
{
	struct bt_config *config = test_load(
		TEST_PLUGINS("'multiPoint':{'enabled':[{'name':'TaintToleration','weight':7}]}"));
	const struct bt_config_plugin_set *set = &plugins_of(config)->multi_point;
	ck_assert_uint_eq(set->enabled.count, 20);
	ck_assert(bt_str_equal_c(set->enabled.items[4].name, "TaintToleration"));
	ck_assert_int_eq(set->enabled.items[4].weight, 7);
	ck_assert_uint_eq(config->overridden.count, 1);
	ck_assert(bt_str_equal_c(config->overridden.items[0], "TaintToleration"));
	bt_config_unref(config);
}
END_TEST

START_TEST(test_config__edge_10_33_weight_lost)
{
	struct bt_config *config =
		test_load(TEST_PLUGINS("'multiPoint':{'enabled':[{'name':'TaintToleration'}]}"));
	ck_assert_int_eq(plugins_of(config)->multi_point.enabled.items[4].weight, 0);
	bt_config_unref(config);
}
END_TEST

START_TEST(test_config__edge_10_34_explicit_point_is_kept_apart)
{
	struct bt_config *config = test_load(
		TEST_PLUGINS("'score':{'enabled':[{'name':'ImageLocality','weight':5}]}"));
	test_expect_enabled(&plugins_of(config)->points[BT_POINT_SCORE], "ImageLocality:5");
	test_expect_enabled(&plugins_of(config)->multi_point, DEFAULTS);
	ck_assert_uint_eq(config->overridden.count, 0);
	bt_config_unref(config);
}
END_TEST

START_TEST(test_config__edge_10_35_enabled_and_disabled_at_a_point)
{
	struct bt_config *config = test_load(
		TEST_PLUGINS("'score':{'enabled':[{'name':'NodeResourcesFit','weight':3}],"
			     "'disabled':[{'name':'NodeResourcesFit','weight':9}]}"));
	const struct bt_config_plugin_set *score = &plugins_of(config)->points[BT_POINT_SCORE];
	test_expect_enabled(score, "NodeResourcesFit:3");
	ck_assert_uint_eq(score->disabled.count, 1);
	ck_assert_int_eq(score->disabled.items[0].weight, 0);
	bt_config_unref(config);
}
END_TEST

START_TEST(test_config__edge_10_36_disabled_and_moved)
{
	struct bt_config *config = test_load(
		TEST_PLUGINS("'multiPoint':{'disabled':[{'name':'DefaultBinder'},"
			     "{'name':'NodeName'}],'enabled':[{'name':'NodeName','weight':4}]}"));
	const struct bt_config_plugin_set *set = &plugins_of(config)->multi_point;
	ck_assert_uint_eq(set->enabled.count, 19);
	ck_assert(bt_str_equal_c(set->enabled.items[3].name, "TaintToleration"));
	ck_assert(bt_str_equal_c(set->enabled.items[18].name, "NodeName"));
	ck_assert_int_eq(set->enabled.items[18].weight, 4);
	bt_config_unref(config);
}
END_TEST

START_TEST(test_config__edge_10_40_listed_twice)
{
	struct bt_config *config =
		test_load(TEST_PLUGINS("'multiPoint':{'enabled':[{'name':'NodeName','weight':1},"
				       "{'name':'NodeName','weight':2}]}"));
	const struct bt_config_plugin_set *set = &plugins_of(config)->multi_point;
	ck_assert_uint_eq(set->enabled.count, 21);
	ck_assert(bt_str_equal_c(set->enabled.items[3].name, "NodeName"));
	ck_assert_int_eq(set->enabled.items[3].weight, 2);
	ck_assert(bt_str_equal_c(set->enabled.items[20].name, "NodeName"));
	ck_assert_int_eq(set->enabled.items[20].weight, 1);
	bt_config_unref(config);
}
END_TEST

START_TEST(test_config__edge_10_43_strategy_without_type)
{
	struct bt_config *config = test_load(TEST_ARGS(
		"NodeResourcesFit", "{'scoringStrategy':{'resources':[{'name':'cpu'}]}}"));
	const struct bt_plugin_args *args = test_args(config, "NodeResourcesFit");
	const struct bt_scoring_strategy *strategy = args->node_resources_fit.scoring_strategy;
	struct berth_error err = BERTH_ERROR_INIT;
	ck_assert_uint_eq(strategy->resources.count, 1);
	ck_assert_int_eq(strategy->resources.items[0].weight, 1);
	ck_assert_uint_eq(strategy->type.length, 0);
	ck_assert_int_eq(bt_plugin_args_validate(args, NULL, &err), BERTH_ERR_INVALID);
	ck_assert_str_eq(berth_error_message(&err),
		"scoringStrategy.type: Unsupported value: \"\": supported values: "
		"\"LeastAllocated\", \"MostAllocated\", \"RequestedToCapacityRatio\"");
	berth_error_finish(&err);
	bt_config_unref(config);
}
END_TEST

START_TEST(test_config__edge_10_48_zero_weight_kept)
{
	struct bt_config *config =
		test_load(TEST_ARGS("InterPodAffinity", "{'hardPodAffinityWeight':0}"));
	const struct bt_plugin_args *args = test_args(config, "InterPodAffinity");
	ck_assert(args->inter_pod_affinity.hard_pod_affinity_weight.present);
	ck_assert_int_eq(args->inter_pod_affinity.hard_pod_affinity_weight.value, 0);
	bt_config_unref(config);
}
END_TEST

START_TEST(test_config__edge_10_52_zero_resource_weight)
{
	struct bt_config *config = test_load(TEST_ARGS(
		"NodeResourcesBalancedAllocation", "{'resources':[{'name':'cpu','weight':0}]}"));
	const struct bt_plugin_args *args = test_args(config, "NodeResourcesBalancedAllocation");
	ck_assert_uint_eq(args->node_resources_balanced_allocation.resources.count, 1);
	ck_assert_int_eq(args->node_resources_balanced_allocation.resources.items[0].weight, 1);
	bt_config_unref(config);
}
END_TEST

START_TEST(test_config__edge_10_57_ignored_by_an_extender)
{
	struct bt_config *config =
		test_load("'extenders':[{'urlPrefix':'http://h','managedResources':["
			  "{'name':'example.com/a','ignoredByScheduler':true},{'name':'example."
			  "com/c'}]}]," TEST_ARGS(
				  "NodeResourcesFit", "{'ignoredResources':['example.com/b']}"));
	const struct bt_plugin_args *args = test_args(config, "NodeResourcesFit");
	ck_assert_uint_eq(args->node_resources_fit.ignored_resources.count, 1);
	ck_assert(bt_str_equal_c(
		args->node_resources_fit.ignored_resources.items[0], "example.com/a"));
	ck_assert_uint_eq(config->document.extenders.count, 1);
	ck_assert_uint_eq(config->document.extenders.items[0].managed_resources.count, 2);
	bt_config_unref(config);
	test_refuse("'extenders':[{'managedResources':[{'name':'example.com/a',"
		    "'ignoredByScheduler':true}]}]," TEST_PLUGINS(
			    "'multiPoint':{'disabled':[{'name':'NodeResourcesFit'}]}"),
		"couldn't build extenders: can't find NodeResourcesFitArgs in plugin config");
}
END_TEST

START_TEST(test_config__plugin_config_order)
{
	struct bt_config *config =
		test_load("'profiles':[{'pluginConfig':[{'name':'VolumeBinding'},{'name':'Zed',"
			  "'args':{'b':1,'a':[2]}},{'name':'NodeName'},{'name':'DefaultPreemption',"
			  "'args':{}}],"
			  "'plugins':{'multiPoint':{'disabled':[{'name':'NodeAffinity'}]}}}]");
	const struct bt_config_profile *profile = &config->document.profiles.items[0];
	expect_configs(profile,
		"VolumeBinding Zed NodeName DefaultPreemption DynamicResources InterPodAffinity "
		"NodeResourcesBalancedAllocation NodeResourcesFit PodTopologySpread");
	ck_assert_int_eq(profile->plugin_config.items[0].args.kind, BT_ARGS_VOLUME_BINDING);
	ck_assert_int_eq(
		profile->plugin_config.items[0].args.volume_binding.bind_timeout_seconds.value,
		600);
	ck_assert_int_eq(profile->plugin_config.items[1].args.kind, BT_ARGS_OTHER);
	ck_assert(bt_str_equal_c(profile->plugin_config.items[1].args.raw, "{\"b\":1,\"a\":[2]}"));
	ck_assert_int_eq(profile->plugin_config.items[2].args.kind, BT_ARGS_NONE);
	bt_config_unref(config);
}
END_TEST

/* --- flags --- */

static struct bt_config *load_with_flags(
	const char *members, const struct bt_config_flags *flags, struct berth_error *err)
{
	struct bt_strbuf text = {0};
	struct bt_strbuf json = {0};
	struct bt_config_input input = {.flags = flags};
	struct bt_config *config = NULL;
	test_document(members, &text);
	test_unquote(bt_strbuf_c(&text), &json);
	input.json = bt_strbuf_str(&json);
	if (bt_config_load_input(&input, NULL, &config, err) != 0) {
		ck_assert_ptr_null(config);
	}
	bt_strbuf_finish(&text);
	bt_strbuf_finish(&json);
	return config;
}

START_TEST(test_config__edge_10_61_flag_switches_election_off)
{
	const struct bt_config_flags flags = {.leader_elect = {true, false}};
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_config *config = load_with_flags(
		"'leaderElection':{'leaderElect':true,'resourceLock':'endpoints'}", &flags, &err);
	ck_assert_msg(config != NULL, "%s", berth_error_message(&err));
	ck_assert(!config->document.leader_election.leader_elect);
	bt_config_unref(config);
}
END_TEST

START_TEST(test_config__edge_10_62_flags_without_a_file)
{
	const struct bt_config_flags flags = {
		.resource_lock = BT_STR("endpoints"),
		.profiling = {true, false},
		.kube_api_burst = {true, -1},
		.kube_api_qps_given = true,
		.kube_api_qps = 5,
		.kubeconfig = BT_STR("/etc/k"),
	};
	struct bt_config *config = bt_config_create_from_flags(NULL, &flags);
	ck_assert(bt_str_equal_c(config->document.leader_election.resource_lock, "endpoints"));
	ck_assert(!config->document.enable_profiling);
	ck_assert(config->document.enable_contention_profiling.value);
	ck_assert_int_eq(config->document.client_connection.burst, -1);
	ck_assert(config->document.client_connection.qps < 5.1F);
	ck_assert(bt_str_equal_c(config->document.client_connection.kubeconfig, "/etc/k"));
	bt_config_unref(config);
}
END_TEST

START_TEST(test_config__edge_10_63_deprecated_flag_with_a_file)
{
	const struct bt_config_flags flags = {
		.kube_api_qps_given = true, .kube_api_qps = 5, .resource_name = BT_STR("other")};
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_config *config = load_with_flags("", &flags, &err);
	ck_assert_ptr_nonnull(config);
	ck_assert(config->document.client_connection.qps > 49.9F);
	ck_assert(bt_str_equal_c(config->document.leader_election.resource_name, "other"));
	bt_config_unref(config);
}
END_TEST

START_TEST(test_config__zero_duration_flag_with_a_file)
{
	const struct bt_config_flags flags = {.lease_duration_ns = {true, 0}};
	struct berth_error err = BERTH_ERROR_INIT;
	ck_assert_ptr_null(load_with_flags("", &flags, &err));
	ck_assert_str_eq(berth_error_message(&err),
		"[leaderElection.leaseDuration: Invalid value: \"0s\": must be greater than zero, "
		"leaderElection.leaseDuration: Invalid value: \"10s\": must be greater than "
		"`RenewDeadline`]");
	berth_error_finish(&err);
}
END_TEST

BT_TEST_MAIN("config_default", test_config__defaults, test_config__default_is_the_empty_document,
	test_config__default_args, test_config__gates_change_defaults,
	test_config__edge_10_14_zero_lease_duration, test_config__edge_10_16_no_profiles,
	test_config__edge_10_17_empty_profile, test_config__edge_10_21_contention_profiling,
	test_config__edge_10_22_qps_and_burst, test_config__edge_10_27_percentages,
	test_config__edge_10_29_score_disabled, test_config__edge_10_30_everything_disabled,
	test_config__edge_10_31_only_sort_and_bind, test_config__edge_10_32_weight_overridden,
	test_config__edge_10_33_weight_lost, test_config__edge_10_34_explicit_point_is_kept_apart,
	test_config__edge_10_35_enabled_and_disabled_at_a_point,
	test_config__edge_10_36_disabled_and_moved, test_config__edge_10_40_listed_twice,
	test_config__edge_10_43_strategy_without_type, test_config__edge_10_48_zero_weight_kept,
	test_config__edge_10_52_zero_resource_weight,
	test_config__edge_10_57_ignored_by_an_extender, test_config__plugin_config_order,
	test_config__edge_10_61_flag_switches_election_off,
	test_config__edge_10_62_flags_without_a_file,
	test_config__edge_10_63_deprecated_flag_with_a_file,
	test_config__zero_duration_flag_with_a_file)
