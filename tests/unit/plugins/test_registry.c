/* SPDX-License-Identifier: Apache-2.0 */
/** The default profile expands to the lists of spec 02 section 8.2. */
#include "fixture.h"
#include "plugins/registry.h"
#include "test_main.h"

struct profile {
	struct bt_gates gates;
	struct bt_state *state;
	struct bt_config *config;
	struct bt_registry registry;
	struct bt_framework *framework;
};

static void profile_init(struct profile *profile, const char *gates)
{
	struct bt_state_options options = {0};
	struct berth_error err = BERTH_ERROR_INIT;

	*profile = (struct profile){.gates = bt_gates_default()};
	if (gates != NULL) {
		ck_assert_int_eq(bt_gates_set(&profile->gates, bt_str_from(gates), NULL), 0);
	}
	profile->state = bt_state_create(&options);
	profile->config = bt_config_create_default(&profile->gates);
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
}

static void check_point(
	const struct profile *profile, enum bt_extension_point point, const char *expected)
{
	struct bt_strbuf text = {0};
	bool weighted = point == BT_POINT_SCORE || point == BT_POINT_PLACEMENT_SCORE;

	for (uint32_t i = 0; i < profile->framework->points[point].entries.count; i++) {
		const struct bt_framework_entry *entry =
			&profile->framework->points[point].entries.items[i];

		bt_strbuf_printf(&text, "%s%s", i > 0 ? " " : "", entry->plugin->ops->name);
		if (weighted) {
			bt_strbuf_printf(&text, "=%lld", (long long)entry->weight);
		}
	}
	fixture_expect(bt_extension_point_name(point), bt_strbuf_c(&text), expected);
	bt_strbuf_finish(&text);
}

START_TEST(test_registry__default_profile)
{
	struct profile profile;

	profile_init(&profile, NULL);
	check_point(&profile, BT_POINT_PRE_ENQUEUE,
		"SchedulingGates DynamicResources DefaultPreemption");
	check_point(&profile, BT_POINT_QUEUE_SORT, "PrioritySort");
	check_point(&profile, BT_POINT_PRE_FILTER,
		"NodeAffinity NodePorts NodeResourcesFit VolumeRestrictions NodeVolumeLimits "
		"VolumeBinding VolumeZone "
		"PodTopologySpread InterPodAffinity DynamicResources NodeDeclaredFeatures");
	check_point(&profile, BT_POINT_FILTER,
		"NodeUnschedulable NodeName TaintToleration NodeAffinity NodePorts "
		"NodeResourcesFit VolumeRestrictions "
		"NodeVolumeLimits VolumeBinding VolumeZone PodTopologySpread InterPodAffinity "
		"DynamicResources "
		"NodeDeclaredFeatures");
	check_point(&profile, BT_POINT_POST_FILTER, "DynamicResources DefaultPreemption");
	check_point(&profile, BT_POINT_PRE_SCORE,
		"TaintToleration NodeAffinity NodeResourcesFit VolumeBinding PodTopologySpread "
		"InterPodAffinity "
		"NodeResourcesBalancedAllocation");
	check_point(&profile, BT_POINT_SCORE,
		"TaintToleration=3 NodeAffinity=2 NodeResourcesFit=1 VolumeBinding=1 "
		"PodTopologySpread=2 InterPodAffinity=2 "
		"DynamicResources=2 NodeResourcesBalancedAllocation=1 ImageLocality=1");
	check_point(&profile, BT_POINT_RESERVE, "VolumeBinding DynamicResources");
	check_point(&profile, BT_POINT_PERMIT, "");
	check_point(&profile, BT_POINT_PRE_BIND, "VolumeBinding DynamicResources");
	check_point(&profile, BT_POINT_BIND, "DefaultBinder");
	check_point(&profile, BT_POINT_POST_BIND, "");
	check_point(&profile, BT_POINT_PLACEMENT_GENERATE, "");
	check_point(&profile, BT_POINT_PLACEMENT_SCORE, "NodeResourcesFit=1");
	profile_finish(&profile);
}
END_TEST

START_TEST(test_registry__pod_group_gates)
{
	struct profile profile;

	profile_init(&profile,
		"GenericWorkload=true,GangScheduling=true,TopologyAwareWorkloadScheduling=true");
	check_point(&profile, BT_POINT_PRE_ENQUEUE,
		"SchedulingGates DynamicResources DefaultPreemption GangScheduling");
	check_point(&profile, BT_POINT_PERMIT, "GangScheduling");
	check_point(&profile, BT_POINT_PLACEMENT_GENERATE, "TopologyPlacementGenerator");
	check_point(&profile, BT_POINT_PLACEMENT_SCORE, "NodeResourcesFit=1 PodGroupPodsCount=1");
	profile_finish(&profile);
}
END_TEST

/* With the default spread constraints of the system no pod of the default profile is signed. */
START_TEST(test_registry__every_candidate_signs)
{
	struct profile profile;

	profile_init(&profile, NULL);
	for (uint32_t i = 0; i < profile.framework->sign_plugin_count; i++) {
		const struct bt_plugin_ops *ops = profile.framework->sign_plugins[i]->ops;

		ck_assert_msg(ops->sign != NULL, "%s", ops->name);
	}
	ck_assert(!profile.framework->signatures_enabled);
	profile_finish(&profile);
}
END_TEST

START_TEST(test_registry__participants_register_events)
{
	struct profile profile;

	profile_init(&profile, NULL);
	for (uint32_t i = 0; i < profile.framework->instances.count; i++) {
		struct bt_plugin *plugin = profile.framework->instances.items[i];
		const struct bt_plugin_ops *ops = plugin->ops;
		const struct bt_event_registration *events = NULL;
		uint32_t count = 0;

		if (ops->pre_enqueue == NULL && ops->pre_filter == NULL && ops->filter == NULL &&
			ops->reserve == NULL && ops->permit == NULL) {
			continue;
		}
		ck_assert_msg(ops->events_to_register != NULL || ops->events.items != NULL, "%s",
			ops->name);
		ck_assert_int_eq(bt_plugin_events_to_register(plugin, &events, &count, NULL), 0);
		ck_assert_msg(count > 0, "%s", ops->name);
	}
	profile_finish(&profile);
}
END_TEST

BT_TEST_MAIN("registry", test_registry__default_profile, test_registry__pod_group_gates,
	test_registry__every_candidate_signs, test_registry__participants_register_events)
