/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config.h"
#include "fake_plugin.h"
#include "test_main.h"

#define SORT FAKE_ROLE(FAKE_QUEUE_SORT)
#define BIND FAKE_ROLE(FAKE_BIND)
#define SCORE FAKE_ROLE(FAKE_SCORE)
#define PRE_SCORE FAKE_ROLE(FAKE_PRE_SCORE)
#define FILTER FAKE_ROLE(FAKE_FILTER)
#define PRE_FILTER FAKE_ROLE(FAKE_PRE_FILTER)
#define PLACEMENT_SCORE FAKE_ROLE(FAKE_SCORE_PLACEMENT)
#define PLACEMENTS FAKE_ROLE(FAKE_PLACEMENTS)
#define RESERVE FAKE_ROLE(FAKE_RESERVE)
#define PRE_BIND FAKE_ROLE(FAKE_PRE_BIND)
#define POST FAKE_ROLE(FAKE_POST_FILTER)
#define ENQUEUE FAKE_ROLE(FAKE_PRE_ENQUEUE)

/**
 * Compares the effective list of the point with text such as "S5,T3"; a plugin without a weight has
 * no number.
 */
static void expect_point(
	const struct fake_world *world, enum bt_extension_point point, const char *expected)
{
	const struct bt_framework_point *list;
	struct bt_strbuf text = {0};

	ck_assert_msg(world->framework != NULL, "%s", berth_error_message(&world->err));
	list = &world->framework->points[point];
	for (uint32_t i = 0; i < list->entries.count; i++) {
		const struct bt_framework_entry *entry = &list->entries.items[i];

		bt_strbuf_append_c(&text, i > 0 ? "," : "");
		bt_strbuf_append_c(&text, entry->plugin->ops->name);
		if (entry->weight != 0) {
			bt_strbuf_printf(&text, "%lld", (long long)entry->weight);
		}
	}
	ck_assert_msg(strcmp(bt_strbuf_c(&text), expected) == 0, "%s: \"%s\", expected \"%s\"",
		bt_extension_point_name(point), bt_strbuf_c(&text), expected);
	bt_strbuf_finish(&text);
}

/** Builds a profile of the plugins S, T, X (PreScore, Score) and expects this Score list. */
static void expect_score(const char *plugins, const char *expected)
{
	struct fake fakes[] = {fake_plugin("S", PRE_SCORE | SCORE),
		fake_plugin("T", PRE_SCORE | SCORE), fake_plugin("X", PRE_SCORE | SCORE)};
	struct fake_world world;

	fake_world_init(&world, fakes, 3, plugins);
	expect_point(&world, BT_POINT_SCORE, expected);
	fake_world_finish(&world);
}

START_TEST(test_profile__edge_02_31_multi_point_order)
{
	expect_score("multiPoint=X,T,S; score=S,T", "S1,T1,X1");
	expect_score("multiPoint=T,S; score=X,S,T", "S1,T1,X1");
}
END_TEST

START_TEST(test_profile__edge_02_32_multi_point_weights)
{
	struct fake fakes[] = {fake_plugin("S", PRE_SCORE | SCORE),
		fake_plugin("T", PRE_SCORE | SCORE), fake_plugin("X", PRE_SCORE | SCORE)};
	struct fake_world world;

	fake_world_init(&world, fakes, 3, "multiPoint=T,S; score=S:5,X:5,T:3");
	expect_point(&world, BT_POINT_SCORE, "S5,T3,X5");
	expect_point(&world, BT_POINT_PRE_SCORE, "T,S");
	fake_world_finish(&world);
}
END_TEST

/** Asserts that building fails with exactly this text. T scores and prefilters, F filters only. */
static void expect_error(const char *plugins, const char *expected)
{
	struct fake fakes[] = {fake_plugin("T", PRE_FILTER | SCORE), fake_plugin("F", FILTER),
		fake_plugin("Q", SORT), fake_plugin("G1", PLACEMENTS),
		fake_plugin("G2", PLACEMENTS), fake_plugin("U", SCORE),
		fake_plugin("PS", PLACEMENT_SCORE)};
	struct fake_world world;

	fake_world_init(&world, fakes, 7, plugins);
	ck_assert_msg(world.framework == NULL, "%s: no error", plugins);
	ck_assert_msg(strcmp(berth_error_message(&world.err), expected) == 0, "%s: %s", plugins,
		berth_error_message(&world.err));
	fake_world_finish(&world);
}

START_TEST(test_profile__edge_02_33_multi_point_twice)
{
	expect_error("multiPoint=T,T", "plugin \"T\" already registered as \"PreFilterPlugin\"");
}
END_TEST

START_TEST(test_profile__edge_02_34_weight_at_both)
{
	struct fake fakes[] = {fake_plugin("T", SCORE | PLACEMENT_SCORE)};
	struct fake_world world;

	fake_world_init(&world, fakes, 1, "multiPoint=T:5");
	expect_point(&world, BT_POINT_SCORE, "T5");
	expect_point(&world, BT_POINT_PLACEMENT_SCORE, "T5");
	fake_world_finish(&world);
}
END_TEST

START_TEST(test_profile__edge_02_35_disabled_star)
{
	struct fake fakes[] = {
		fake_plugin("S", PRE_SCORE | SCORE), fake_plugin("T", PRE_SCORE | SCORE)};
	struct fake_world world;

	fake_world_init(&world, fakes, 2, "multiPoint=S,T; preScore!=*");
	expect_point(&world, BT_POINT_PRE_SCORE, "");
	expect_point(&world, BT_POINT_SCORE, "S1,T1");
	fake_world_finish(&world);
	fake_world_init(&world, fakes, 2, "multiPoint=S,T; score!=S; preScore!=*; preScore=T");
	expect_point(&world, BT_POINT_PRE_SCORE, "T");
	expect_point(&world, BT_POINT_SCORE, "T1");
	fake_world_finish(&world);
}
END_TEST

START_TEST(test_profile__edge_02_36_two_queue_sorts)
{
	expect_error("multiPoint=Sort; queueSort=Q",
		"only one queue sort plugin required for profile with scheduler name \"fake\", but "
		"got 2");
	expect_error("multiPoint=F; queueSort=",
		"only one queue sort plugin required for profile with scheduler name \"fake\", but "
		"got 0");
}
END_TEST

/** Compares the names (and weights) of multiPoint after merging the document with the defaults. */
static void expect_merged(const char *json, const char *expected)
{
	struct bt_config *config = NULL;
	struct berth_error err = BERTH_ERROR_INIT;
	const struct bt_config_plugin_set *set;
	struct bt_strbuf text = {0};

	ck_assert_msg(bt_config_load(bt_str_from(json), NULL, &config, &err) == BERTH_OK, "%s",
		berth_error_message(&err));
	set = &config->document.profiles.items[0].plugins->multi_point;
	for (uint32_t i = 0; i < set->enabled.count; i++) {
		bt_strbuf_append_c(&text, i > 0 ? "," : "");
		bt_strbuf_append_str(&text, set->enabled.items[i].name);
		if (set->enabled.items[i].weight != 0) {
			bt_strbuf_printf(&text, "%d", (int)set->enabled.items[i].weight);
		}
	}
	ck_assert_msg(strcmp(bt_strbuf_c(&text), expected) == 0, "%s", bt_strbuf_c(&text));
	bt_strbuf_finish(&text);
	bt_config_unref(config);
}

#define DOCUMENT(plugins) \
	"{\"apiVersion\":\"kubescheduler.config.k8s.io/v1\"," \
	"\"kind\":\"KubeSchedulerConfiguration\"," \
	"\"profiles\":[{\"plugins\":{\"multiPoint\":{" plugins "}}}]}"

START_TEST(test_profile__edge_02_37_merge)
{
	/*
	 * A plugin that is disabled and enabled again moves to the end. The last entry of a
	 * repeated name replaces the earlier ones.
	 */
	expect_merged(DOCUMENT("\"disabled\":[{\"name\":\"NodePorts\"}],"
			       "\"enabled\":[{\"name\":\"C\"},{\"name\":\"NodePorts\"},"
			       "{\"name\":\"NodeName\",\"weight\":2},"
			       "{\"name\":\"NodeName\",\"weight\":4}]"),
		"SchedulingGates,PrioritySort,NodeUnschedulable,NodeName4,TaintToleration3,"
		"NodeAffinity2,NodeResourcesFit1,VolumeRestrictions,NodeVolumeLimits,"
		"VolumeBinding,VolumeZone,PodTopologySpread2,InterPodAffinity2,DynamicResources2,"
		"DefaultPreemption,NodeResourcesBalancedAllocation1,ImageLocality1,DefaultBinder,"
		"NodeDeclaredFeatures,C,NodePorts,NodeName2");
	expect_merged(
		DOCUMENT("\"disabled\":[{\"name\":\"*\"}],\"enabled\":[{\"name\":\"C\"}]"), "C");
}
END_TEST

START_TEST(test_profile__edge_02_38_repeated_config)
{
	expect_error("multiPoint=T; config=Z,T,T", "repeated config for plugin T");
}
END_TEST

START_TEST(test_profile__edge_02_39_explicit_zero_weight)
{
	expect_score("multiPoint=S:7; score=S:0", "S1");
	expect_score("multiPoint=S:7; score=S:2", "S2");
	/* Spec 02 section 8.6: a negative weight subtracts while the total stays above 0. */
	expect_score("score=S:5,T:-3", "S5,T-3");
	expect_score("score=S:5,T:-6", "S5,T-6");
}
END_TEST

/**
 * Spec 02 section 8.6: with a negative total, the maximum minus the total wraps around, so the next
 * plugin is refused.
 */
START_TEST(test_profile__negative_weight)
{
	static const char text[] = "score plugins: total score of Score plugins could overflow";

	expect_error("score=T:-1,U:5", text);
	expect_error("score=T:-2147483648,U:-2147483648", text);
	expect_error("multiPoint=T:5,U; score=U:-1", text);
	expect_error("multiPoint=T:-1,U", text);
}
END_TEST

START_TEST(test_profile__errors_in_order)
{
	static const struct {
		const char *plugins;
		const char *text;
	} rows[] = {
		{"filter=Nobody", "FilterPlugin \"Nobody\" does not exist"},
		{"filter=T", "plugin \"T\" does not extend FilterPlugin plugin"},
		{"filter=F,F", "plugin \"F\" already registered as \"FilterPlugin\""},
		{"score=Nobody; filter=T", "plugin \"T\" does not extend FilterPlugin plugin"},
		{"multiPoint=Nobody", "PreFilterPlugin \"Nobody\" does not exist"},
		{"multiPoint=Nobody; preFilter!=*", "FilterPlugin \"Nobody\" does not exist"},
		{"multiPoint=Nobody; placementScore=F",
			"plugin \"F\" does not extend PlacementScorePlugin plugin"},
		{"bind=",
			"at least one bind plugin is needed for profile with scheduler name "
			"\"fake\""},
		{"placementGenerate=G1,G2",
			"at most one placement generate plugin is allowed for "
			"profile with scheduler name \"fake\""},
		{"filter=a\"b", "FilterPlugin \"a\\\"b\" does not exist"},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		expect_error(rows[i].plugins, rows[i].text);
	}
}
END_TEST

/**
 * "total score of Score plugins could overflow" would take 42949673 plugins of the largest int32
 * weight; a profile has at most 128. Large sums are accepted and computed exactly.
 */
START_TEST(test_profile__weight_overflow)
{
	struct fake fakes[40];
	char names[40][16];
	struct fake_world world;
	struct bt_strbuf list = {0};

	bt_strbuf_append_c(&list, "score=");
	for (int i = 0; i < 40; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "M%d", i);
		fakes[i] = fake_plugin(names[i], SCORE);
		fakes[i].score = 100;
		bt_strbuf_printf(&list, "%s%s:2147483647", i > 0 ? "," : "", names[i]);
	}
	fake_world_init(&world, fakes, 40, bt_strbuf_c(&list));
	ck_assert_msg(world.framework != NULL, "%s", berth_error_message(&world.err));
	{
		struct bt_score_table table;
		struct bt_status status = bt_run_score(
			world.framework, &world.cycle, &world.pod, world.slots, 1, &table);

		FAKE_EXPECT(&world, status, BT_STATUS_SUCCESS, "", "");
		ck_assert_int_eq(table.totals[0], INT64_C(40) * 2147483647 * 100);
	}
	bt_strbuf_finish(&list);
	fake_world_finish(&world);
}
END_TEST

START_TEST(test_profile__arguments)
{
	struct fake fakes[] = {fake_plugin("A", ENQUEUE), fake_plugin("B", ENQUEUE)};
	struct fake_world world;
	struct bt_plugin *gating;

	fake_world_init(&world, fakes, 2, "multiPoint=A,B; config=A:{\"x\" 1},Unused");
	(void)bt_run_pre_enqueue(world.framework, &world.pod, &world.arena, NULL, &gating);
	ck_assert_int_eq(fakes[0].args->kind, BT_ARGS_OTHER);
	ck_assert(bt_str_equal_c(fakes[0].args->raw, "{\"x\" 1}"));
	ck_assert_int_eq(fakes[1].args->kind, BT_ARGS_NONE);
	fake_world_finish(&world);
}
END_TEST

static int failing_create(BT_UNUSED const struct bt_plugin_ops *ops,
	const struct bt_plugin_args *args, const struct bt_handle *handle,
	struct bt_plugin **out_plugin, struct berth_error *err)
{
	(void)args;
	(void)handle;
	(void)out_plugin;
	return bt_error_set(err, BERTH_ERR_INVALID, "bad %%s args");
}

START_TEST(test_profile__constructor_fails)
{
	struct fake fakes[] = {fake_plugin("A", FILTER), fake_plugin("B", FILTER)};
	struct fake_world world;

	fakes[1].ops.create = failing_create;
	/* No list enables B, so it is not created. */
	fake_world_init(&world, fakes, 2, "filter=A");
	ck_assert_ptr_nonnull(world.framework);
	ck_assert_uint_eq(world.framework->instances.count, 3);
	fake_world_finish(&world);
	/* Plugins are created before the lists are checked. */
	fake_world_init(&world, fakes, 2, "preFilter=Nobody; filter=A,B");
	ck_assert_ptr_null(world.framework);
	ck_assert_str_eq(berth_error_message(&world.err), "initializing plugin \"B\": bad %s args");
	fake_world_finish(&world);
}
END_TEST

/** Names and roles of the in-tree plugins as the default profile uses them. */
static const struct {
	const char *name;
	uint32_t roles;
} in_tree[] = {
	{"DefaultBinder", BIND},
	{"DefaultPreemption", ENQUEUE | POST},
	{"DynamicResources", ENQUEUE | PRE_FILTER | FILTER | POST | SCORE | RESERVE | PRE_BIND},
	{"GangScheduling", ENQUEUE | FAKE_ROLE(FAKE_PERMIT)},
	{"ImageLocality", SCORE},
	{"InterPodAffinity", PRE_FILTER | FILTER | PRE_SCORE | SCORE},
	{"NodeAffinity", PRE_FILTER | FILTER | PRE_SCORE | SCORE},
	{"NodeDeclaredFeatures", PRE_FILTER | FILTER},
	{"NodeName", FILTER},
	{"NodePorts", PRE_FILTER | FILTER},
	{"NodeResourcesBalancedAllocation", PRE_SCORE | SCORE},
	{"NodeResourcesFit", PRE_FILTER | FILTER | PRE_SCORE | SCORE | PLACEMENT_SCORE},
	{"NodeUnschedulable", FILTER},
	{"NodeVolumeLimits", PRE_FILTER | FILTER},
	{"PodGroupPodsCount", PLACEMENT_SCORE},
	{"PodTopologySpread", PRE_FILTER | FILTER | PRE_SCORE | SCORE},
	{"PrioritySort", SORT},
	{"SchedulingGates", ENQUEUE},
	{"TaintToleration", FILTER | PRE_SCORE | SCORE},
	{"TopologyPlacementGenerator", PLACEMENTS},
	{"VolumeBinding", PRE_FILTER | FILTER | PRE_SCORE | SCORE | RESERVE | PRE_BIND},
	{"VolumeRestrictions", PRE_FILTER | FILTER},
	{"VolumeZone", PRE_FILTER | FILTER},
};

/** Builds a world from the default configuration instead of a line of text. */
static void default_world_init(
	struct fake_world *world, struct fake *fakes, const struct bt_gates *gates)
{
	struct bt_state_options options = {0};

	*world = (struct fake_world){0};
	world->state = bt_state_create(&options);
	bt_nominator_init(&world->nominator, world->state);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(in_tree); i++) {
		fakes[i] = fake_plugin(in_tree[i].name, in_tree[i].roles);
		ck_assert_int_eq(
			bt_registry_register(&world->registry, &fakes[i].ops, NULL), BERTH_OK);
	}
	world->config = bt_config_create_default(gates);
	world->pod = fake_world_pod(world, "pod", 0);
	if (bt_framework_create(&world->registry, world->config, 0, world->state, &world->nominator,
		    &world->framework, &world->err) != BERTH_OK) {
		ck_abort_msg("%s", berth_error_message(&world->err));
	}
}

START_TEST(test_profile__default_expansion)
{
	static const char *const expected[BT_POINT__COUNT] = {
		[BT_POINT_PRE_ENQUEUE] = "SchedulingGates,DynamicResources,DefaultPreemption",
		[BT_POINT_QUEUE_SORT] = "PrioritySort",
		[BT_POINT_PRE_FILTER] =
			"NodeAffinity,NodePorts,NodeResourcesFit,VolumeRestrictions,"
			"NodeVolumeLimits,VolumeBinding,VolumeZone,PodTopologySpread,"
			"InterPodAffinity,DynamicResources,NodeDeclaredFeatures",
		[BT_POINT_FILTER] =
			"NodeUnschedulable,NodeName,TaintToleration,NodeAffinity,NodePorts,"
			"NodeResourcesFit,VolumeRestrictions,NodeVolumeLimits,VolumeBinding,"
			"VolumeZone,PodTopologySpread,InterPodAffinity,DynamicResources,"
			"NodeDeclaredFeatures",
		[BT_POINT_POST_FILTER] = "DynamicResources,DefaultPreemption",
		[BT_POINT_PRE_SCORE] =
			"TaintToleration,NodeAffinity,NodeResourcesFit,VolumeBinding,"
			"PodTopologySpread,InterPodAffinity,NodeResourcesBalancedAllocation",
		[BT_POINT_SCORE] =
			"TaintToleration3,NodeAffinity2,NodeResourcesFit1,VolumeBinding1,"
			"PodTopologySpread2,InterPodAffinity2,DynamicResources2,"
			"NodeResourcesBalancedAllocation1,ImageLocality1",
		[BT_POINT_RESERVE] = "VolumeBinding,DynamicResources",
		[BT_POINT_PERMIT] = "",
		[BT_POINT_PRE_BIND] = "VolumeBinding,DynamicResources",
		[BT_POINT_BIND] = "DefaultBinder",
		[BT_POINT_POST_BIND] = "",
		[BT_POINT_PLACEMENT_GENERATE] = "",
		[BT_POINT_PLACEMENT_SCORE] = "NodeResourcesFit1",
	};
	struct fake fakes[BT_ARRAY_LENGTH(in_tree)];
	struct fake_world world;

	default_world_init(&world, fakes, NULL);
	for (int p = 0; p < BT_POINT__COUNT; p++) {
		expect_point(&world, (enum bt_extension_point)p, expected[p]);
	}
	ck_assert_ptr_null(world.framework->pod_group_post_filter);
	fake_world_finish(&world);
}
END_TEST

START_TEST(test_profile__gated_expansion)
{
	struct bt_gates gates = bt_gates_default();
	struct fake fakes[BT_ARRAY_LENGTH(in_tree)];
	struct fake_world world;

	gates.enabled[BT_GATE_GENERIC_WORKLOAD] = true;
	gates.enabled[BT_GATE_GANG_SCHEDULING] = true;
	gates.enabled[BT_GATE_TOPOLOGY_AWARE_WORKLOAD_SCHEDULING] = true;
	default_world_init(&world, fakes, &gates);
	expect_point(&world, BT_POINT_PRE_ENQUEUE,
		"SchedulingGates,DynamicResources,DefaultPreemption,GangScheduling");
	expect_point(&world, BT_POINT_PERMIT, "GangScheduling");
	expect_point(&world, BT_POINT_PLACEMENT_GENERATE, "TopologyPlacementGenerator");
	expect_point(&world, BT_POINT_PLACEMENT_SCORE, "NodeResourcesFit1,PodGroupPodsCount1");
	fake_world_finish(&world);
}
END_TEST

/**
 * Builds two profiles from text and compares the error ("": success). A name NULL: no such profile;
 * plugins NULL: no plugins section.
 */
static void expect_profiles(const char *first_name, const char *first, const char *second_name,
	const char *second, const char *expected)
{
	struct fake fakes[] = {
		fake_plugin("A", SORT), fake_plugin("C", SORT), fake_plugin("B", BIND)};
	struct fake_world world = {0};
	struct bt_profiles profiles = {0};
	int code;

	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(
			bt_registry_register(&world.registry, &fakes[i].ops, NULL), BERTH_OK);
	}
	world.config = bt_config_create(NULL);
	if (first_name != NULL) {
		fake_config_add(world.config, first_name, first);
	}
	if (second_name != NULL) {
		fake_config_add(world.config, second_name, second);
	}
	code = bt_profiles_create(&world.registry, world.config, NULL, NULL, &profiles, &world.err);
	ck_assert_str_eq(berth_error_message(&world.err), expected);
	ck_assert_int_eq(code == BERTH_OK, expected[0] == 0);
	if (code == BERTH_OK) {
		ck_assert_ptr_eq(bt_profiles_find(&profiles, bt_str_from(second_name)),
			profiles.frameworks.items[1]);
		ck_assert_ptr_null(bt_profiles_find(&profiles, BT_STR("nobody")));
		bt_profiles_finish(&profiles);
	}
	berth_error_finish(&world.err);
	bt_config_unref(world.config);
	bt_vec_finish(&world.registry.entries);
}

START_TEST(test_profile__profiles)
{
	const char *good = "queueSort=A; bind=B";

	expect_profiles("one", good, "two", good, "");
	expect_profiles(NULL, NULL, NULL, NULL, "at least one profile is required");
	expect_profiles("one", good, "", good, "initializing profiles: scheduler name is needed");
	expect_profiles("one", NULL, NULL, NULL,
		"initializing profiles: plugins required for profile with scheduler name \"one\"");
	expect_profiles("one", good, "one", good,
		"initializing profiles: duplicate profile with scheduler name \"one\"");
	expect_profiles("one", good, "two", "queueSort=C; bind=B",
		"initializing profiles: different queue sort plugins for profile \"two\": \"C\", "
		"first: \"A\"");
	expect_profiles("one", good, "two", "queueSort=A; bind=B; config=A",
		"initializing profiles: different queue sort plugin args for profile \"two\"");
	expect_profiles("one", "queueSort=A; bind=B; config=A:1", "two",
		"queueSort=A; bind=B; config=A:2",
		"initializing profiles: different queue sort plugin args for profile \"two\"");
	expect_profiles("one", "queueSort=A; bind=B; config=A:1", "two",
		"queueSort=A; bind=B; config=A:1", "");
	expect_profiles("one", good, "two", "queueSort=A; bind=B,A",
		"initializing profiles: creating profile for scheduler name two: plugin \"A\" does "
		"not extend BindPlugin plugin");
}
END_TEST

START_TEST(test_profile__edge_09_48_extender_resources)
{
	struct bt_config_managed_resource resources[] = {{BT_STR_INIT("a/x"), true},
		{BT_STR_INIT("a/y"), false}, {BT_STR_INIT("a/z"), true}};
	struct bt_config_extender extender = {0};
	struct bt_config_plugin_config fit_config = {
		.name = BT_STR("NodeResourcesFit"), .args = {.kind = BT_ARGS_NODE_RESOURCES_FIT}};
	struct fake fit = fake_plugin("NodeResourcesFit", ENQUEUE | FILTER | FAKE_ROLE(FAKE_SIGN));
	struct fake_world world;
	struct bt_profiles profiles = {0};
	struct bt_plugin *gating;
	const struct bt_node_resources_fit_args *args;

	fake_world_init(&world, &fit, 1, "multiPoint=NodeResourcesFit");
	extender.managed_resources.items = resources;
	extender.managed_resources.count = 3;
	world.config->document.extenders.items = &extender;
	world.config->document.extenders.count = 1;
	ck_assert_int_eq(bt_profiles_create(&world.registry, world.config, world.state, NULL,
				 &profiles, &world.err),
		BERTH_ERR_INVALID);
	ck_assert_str_eq(berth_error_message(&world.err),
		"couldn't build extenders: can't find NodeResourcesFitArgs in plugin config");
	berth_error_finish(&world.err);

	world.config->document.profiles.items[0].plugin_config.items = &fit_config;
	world.config->document.profiles.items[0].plugin_config.count = 1;
	ck_assert_int_eq(bt_profiles_create(&world.registry, world.config, world.state, NULL,
				 &profiles, &world.err),
		BERTH_OK);
	(void)bt_run_pre_enqueue(
		profiles.frameworks.items[0], &world.pod, &world.arena, NULL, &gating);
	args = &fit.args->node_resources_fit;
	ck_assert_uint_eq(args->ignored_resources.count, 2);
	ck_assert(bt_str_equal_c(args->ignored_resources.items[0], "a/x"));
	ck_assert(bt_str_equal_c(args->ignored_resources.items[1], "a/z"));
	/* Extenders disable signatures. */
	ck_assert(world.framework->signatures_enabled);
	ck_assert(!profiles.frameworks.items[0]->signatures_enabled);
	bt_profiles_finish(&profiles);
	fake_world_finish(&world);
}
END_TEST

START_TEST(test_registry__texts)
{
	struct fake fakes[] = {fake_plugin("A", FILTER), fake_plugin("A", SCORE),
		fake_plugin("B", SCORE), fake_plugin("C", SCORE)};
	struct bt_registry registry;
	struct bt_registry other;
	struct berth_error err = BERTH_ERROR_INIT;

	registry = (struct bt_registry){0};
	other = (struct bt_registry){0};
	ck_assert_int_eq(bt_registry_register(&registry, &fakes[0].ops, &err), BERTH_OK);
	ck_assert_int_eq(bt_registry_register(&registry, &fakes[1].ops, &err), BERTH_ERR_EXISTS);
	ck_assert_str_eq(berth_error_message(&err), "a plugin named A already exists");
	berth_error_finish(&err);
	ck_assert_int_eq(bt_registry_unregister(&registry, BT_STR("Z"), &err), BERTH_ERR_NOT_FOUND);
	ck_assert_str_eq(berth_error_message(&err), "no plugin named Z exists");
	berth_error_finish(&err);
	ck_assert_int_eq(bt_registry_register(&other, &fakes[2].ops, &err), BERTH_OK);
	ck_assert_int_eq(bt_registry_register(&other, &fakes[1].ops, &err), BERTH_OK);
	ck_assert_int_eq(bt_registry_register(&other, &fakes[3].ops, &err), BERTH_OK);
	/* Entries registered before the conflict stay. */
	ck_assert_int_eq(bt_registry_merge(&registry, &other, &err), BERTH_ERR_EXISTS);
	ck_assert_str_eq(berth_error_message(&err), "a plugin named A already exists");
	berth_error_finish(&err);
	ck_assert_ptr_eq(bt_registry_find(&registry, BT_STR("B")), &fakes[2].ops);
	ck_assert_ptr_null(bt_registry_find(&registry, BT_STR("C")));
	ck_assert_int_eq(bt_registry_unregister(&registry, BT_STR("A"), &err), BERTH_OK);
	ck_assert_ptr_null(bt_registry_find(&registry, BT_STR("A")));
	bt_vec_finish(&registry.entries);
	bt_vec_finish(&other.entries);
}
END_TEST

BT_TEST_MAIN("profile", test_profile__edge_02_31_multi_point_order,
	test_profile__edge_02_32_multi_point_weights, test_profile__edge_02_33_multi_point_twice,
	test_profile__edge_02_34_weight_at_both, test_profile__edge_02_35_disabled_star,
	test_profile__edge_02_36_two_queue_sorts, test_profile__edge_02_37_merge,
	test_profile__edge_02_38_repeated_config, test_profile__edge_02_39_explicit_zero_weight,
	test_profile__negative_weight, test_profile__errors_in_order, test_profile__weight_overflow,
	test_profile__arguments, test_profile__constructor_fails, test_profile__default_expansion,
	test_profile__gated_expansion, test_profile__profiles,
	test_profile__edge_09_48_extender_resources, test_registry__texts)
