/* SPDX-License-Identifier: Apache-2.0 */
/** Legacy plugins exist only in profiles that name them. Spec: 05b. */
#include "fixture.h"
#include "plugins/registry.h"
#include "test_main.h"

static const char *const legacy_names[] = {"BalancedResourceAllocation", "CheckNodeCondition",
	"CheckNodeDiskPressure", "CheckNodeMemoryPressure", "CheckNodePIDPressure", "EqualPriority",
	"GeneralPredicates", "HostName", "ImageLocalityPriority", "LeastRequestedPriority",
	"MatchNodeSelector", "MaxAzureDiskVolumeCount", "MaxCinderVolumeCount", "MaxEBSVolumeCount",
	"MaxGCEPDVolumeCount", "MostRequestedPriority", "NodeLabel", "NodePreferAvoidPods",
	"PodFitsHostPorts", "PodFitsPorts", "PodFitsResources", "PodToleratesNodeNoExecuteTaints",
	"PodToleratesNodeTaints", "RequestedToCapacityRatioPriority", "ResourceLimitsPriority",
	"ServiceAffinity", "CheckNodeUnschedulable", "CheckVolumeBinding", "MatchInterPodAffinity",
	"MaxCSIVolumeCountPred", "NoDiskConflict", "NoVolumeZoneConflict"};

struct profile {
	struct bt_gates gates;
	struct bt_arena arena;
	struct bt_state *state;
	struct bt_config *config;
	struct bt_registry registry;
	struct bt_framework *framework;
};

/*
 * Builds a profile from a configuration. json: the configuration with ' for "; NULL: the default
 * configuration.
 */
static void profile_init(struct profile *profile, const char *json)
{
	struct bt_state_options options = {0};
	struct berth_error err = BERTH_ERROR_INIT;

	*profile = (struct profile){.gates = bt_gates_default()};
	profile->state = bt_state_create(&options);
	if (json == NULL) {
		profile->config = bt_config_create_default(&profile->gates);
	} else {
		struct bt_str text = bt_str_from(json);
		char *copy = bt_arena_alloc_bytes(&profile->arena, text.length);

		for (uint32_t i = 0; i < text.length; i++) {
			copy[i] = json[i] == '\'' ? '"' : json[i];
		}
		text.data = copy;
		ck_assert_msg(bt_config_load(text, &profile->gates, &profile->config, &err) == 0,
			"%s", berth_error_message(&err));
	}
	profile->registry = (struct bt_registry){0};
	ck_assert_int_eq(bt_register_in_tree_plugins(&profile->registry, NULL), 0);
	ck_assert_msg(bt_framework_create(&profile->registry, profile->config, 0, profile->state,
			      NULL, &profile->framework, &err) == 0,
		"%s", berth_error_message(&err));
}

static void profile_finish(struct profile *profile)
{
	bt_framework_destroy(profile->framework);
	bt_vec_finish(&profile->registry.entries);
	bt_config_unref(profile->config);
	bt_state_destroy(profile->state);
	bt_arena_finish(&profile->arena);
}

static bool has_instance(const struct profile *profile, const char *name)
{
	for (uint32_t i = 0; i < profile->framework->instances.count; i++) {
		if (strcmp(profile->framework->instances.items[i]->ops->name, name) == 0) {
			return true;
		}
	}
	return false;
}

START_TEST(test_legacy_profile__off_by_default)
{
	struct profile profile;

	profile_init(&profile, NULL);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(legacy_names); i++) {
		ck_assert_msg(
			bt_registry_find(&profile.registry, bt_str_from(legacy_names[i])) != NULL,
			"%s is not registered", legacy_names[i]);
		ck_assert_msg(!has_instance(&profile, legacy_names[i]), "%s is on by default",
			legacy_names[i]);
	}
	profile_finish(&profile);
}
END_TEST

/* A profile can enable each legacy plugin at each of its extension points. */
START_TEST(test_legacy_profile__each_can_be_enabled)
{
	for (size_t i = 0; i < BT_ARRAY_LENGTH(legacy_names); i++) {
		struct bt_arena arena = {0};
		struct profile profile;

		profile_init(&profile,
			bt_arena_printf(&arena,
				"{'apiVersion':'kubescheduler.config.k8s.io/v1',"
				"'kind':'KubeSchedulerConfiguration','profiles':[{'plugins':"
				"{'multiPoint':{'enabled':[{'name':'%s','weight':3}]}}}]}",
				legacy_names[i])
				.data);
		ck_assert_msg(has_instance(&profile, legacy_names[i]), "%s", legacy_names[i]);
		profile_finish(&profile);
		bt_arena_finish(&arena);
	}
}
END_TEST

/*
 * Old predicate names for current plugins: a plugin enabled by its old name filters, but does not
 * score.
 */
START_TEST(test_legacy_profile__old_names_of_todays_plugins)
{
	static const char json[] =
		"{'apiVersion':'kubescheduler.config.k8s.io/v1','kind':"
		"'KubeSchedulerConfiguration','profiles':[{'plugins':{'multiPoint':{'disabled':[{"
		"'name':'*'}],'enabled':[{'name':'PrioritySort'},{'name':'DefaultBinder'},{'name':"
		"'CheckNodeUnschedulable'},{'name':'MatchInterPodAffinity'},{'name':"
		"'CheckVolumeBinding'}]}}}]}";
	struct bt_node node = {.spec.unschedulable = true};
	struct bt_pod pod = {0};
	struct bt_pod_info info;
	struct bt_node_info node_info;
	struct bt_cycle_state cycle;
	struct profile profile;

	profile_init(&profile, json);
	ck_assert_uint_eq(profile.framework->points[BT_POINT_FILTER].entries.count, 3);
	ck_assert_uint_eq(profile.framework->points[BT_POINT_SCORE].entries.count, 0);
	ck_assert_uint_eq(profile.framework->points[BT_POINT_PRE_BIND].entries.count, 1);
	node.metadata.name = BT_STR("n");
	bt_state_add_node(profile.state, &node);
	ck_assert_int_eq(bt_state_refresh_snapshot(profile.state, NULL), 0);
	pod.metadata.name = BT_STR("p");
	pod.metadata.uid = BT_STR("u");
	bt_pod_info_init_pending(profile.state, &pod, &info);
	bt_cycle_state_init(&cycle, &profile.arena, profile.framework->instances.count);
	struct bt_pre_filter_outcome outcome = bt_run_pre_filter(profile.framework, &cycle, &info);
	ck_assert(bt_status_is_success(&outcome.status));
	bt_node_info_init(&node_info, profile.state, 0);
	struct bt_status status = bt_run_filter(profile.framework, &cycle, &info, &node_info);
	fixture_expect("reason", bt_status_message_str(&status, &profile.arena).data,
		"node(s) were unschedulable");
	fixture_expect("plugin", bt_framework_status_plugin_name(profile.framework, &status).data,
		"CheckNodeUnschedulable");
	bt_cycle_state_finish(&cycle);
	bt_pod_info_finish_pending(profile.state, &info);
	profile_finish(&profile);
}
END_TEST

START_TEST(test_legacy_profile__edge_05b_25_first_failure_only)
{
	static const char json[] =
		"{'apiVersion':'kubescheduler.config.k8s.io/"
		"v1','kind':'KubeSchedulerConfiguration',"
		"'profiles':[{'plugins':{'filter':{'disabled':[{'name':'*'}],'enabled':["
		"{'name':'MatchNodeSelector'},{'name':'CheckNodeMemoryPressure'}]}}}]}";
	static struct bt_str_pair selector[] = {{BT_STR_INIT("disk"), BT_STR_INIT("ssd")}};
	static struct bt_node_condition conditions[] = {
		{BT_STR_INIT("MemoryPressure"), BT_STR_INIT("True")}};
	static struct bt_str_pair labels[] = {{BT_STR_INIT("disk"), BT_STR_INIT("ssd")}};
	struct bt_node node = {0};
	struct bt_pod pod = {0};
	struct bt_pod_info info;
	struct bt_node_info node_info;
	struct bt_cycle_state cycle;
	struct bt_status status;
	struct profile profile;

	profile_init(&profile, json);
	node.metadata.name = BT_STR("n");
	node.status.conditions.items = conditions;
	node.status.conditions.count = 1;
	bt_state_add_node(profile.state, &node);
	ck_assert_int_eq(bt_state_refresh_snapshot(profile.state, NULL), 0);
	pod.metadata.name = BT_STR("p");
	pod.metadata.uid = BT_STR("u");
	pod.spec.node_selector = (struct bt_str_map){selector, 1, true};
	bt_pod_info_init_pending(profile.state, &pod, &info);
	bt_cycle_state_init(&cycle, &profile.arena, profile.framework->instances.count);
	bt_node_info_init(&node_info, profile.state, 0);
	status = bt_run_filter(profile.framework, &cycle, &info, &node_info);
	ck_assert_str_eq(bt_status_message_str(&status, &profile.arena).data,
		"node(s) didn't match node selector");

	/* Both predicates are enabled: the second rejects once the first passes. */
	node.metadata.labels = (struct bt_str_map){labels, 1, true};
	bt_state_update_node(profile.state, NULL, &node);
	ck_assert_int_eq(bt_state_refresh_snapshot(profile.state, NULL), 0);
	status = bt_run_filter(profile.framework, &cycle, &info, &node_info);
	ck_assert_str_eq(
		bt_status_message_str(&status, &profile.arena).data, "node(s) had memory pressure");
	bt_cycle_state_finish(&cycle);
	bt_pod_info_finish_pending(profile.state, &info);
	profile_finish(&profile);
}
END_TEST

BT_TEST_MAIN("legacy_profile", test_legacy_profile__off_by_default,
	test_legacy_profile__each_can_be_enabled, test_legacy_profile__old_names_of_todays_plugins,
	test_legacy_profile__edge_05b_25_first_failure_only)
