/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "fixture.h"
#include "test_main.h"

#define POD(resources) "{'spec':{'containers':[{'name':'c','resources':{" resources "}}]}}"
#define NODE(cpu, memory) \
	"{'metadata':{'name':'n'},'status':{'allocatable':{'cpu':'" cpu "','memory':'" memory \
	"','pods':'10'}}}"

static int64_t score_on(
	const struct bt_plugin_ops *ops, const char *args, const char *node, const char *pod)
{
	struct fixture fixture;
	int64_t score;
	int64_t alone = -1;

	fixture_init_with(&fixture, ops, NULL, args);
	fixture_add_node(&fixture, node);
	score = fixture_score(&fixture, pod, "n");
	ck_assert_str_eq(fixture_score_alone(&fixture, pod, "n", &alone), "Success");
	ck_assert_int_eq(score, alone);
	fixture_finish(&fixture);
	return score;
}

START_TEST(test_least_requested_priority__edge_05b_20_formulas)
{
	static const char node[] = NODE("4", "10000");
	static const char pod[] = POD("'requests':{'cpu':'3','memory':'5000'}");
	static const char full[] = POD("'requests':{'cpu':'4','memory':'5000'}");
	static const char over[] = POD("'requests':{'cpu':'5','memory':'5000'}");
	const struct bt_plugin_ops *least = &bt_legacy_least_requested_priority_plugin;
	const struct bt_plugin_ops *most = &bt_legacy_most_requested_priority_plugin;
	const struct bt_plugin_ops *balanced = &bt_legacy_balanced_resource_allocation_plugin;

	/* cpu (4000 - 3000) * 10 / 4000 = 2, memory 5 */
	ck_assert_int_eq(score_on(least, NULL, node, pod), 3);
	/* cpu 30000 / 4000 = 7, memory 5 */
	ck_assert_int_eq(score_on(most, NULL, node, pod), 6);
	ck_assert_int_eq(score_on(balanced, NULL, node, pod), 7);
	ck_assert_int_eq(score_on(balanced, NULL, node, full), 0);
	ck_assert_int_eq(score_on(least, NULL, node, over), 2);
	ck_assert_int_eq(score_on(most, NULL, node, over), 2);
	/* A node without capacity counts as full. */
	ck_assert_int_eq(score_on(least, NULL, NODE("0", "10000"), pod), 2);
	ck_assert_int_eq(score_on(balanced, NULL, NODE("0", "10000"), pod), 0);
}
END_TEST

START_TEST(test_least_requested_priority__defaults_per_container)
{
	/*
	 * Two containers without requests count as 200m and 400 MiB; the init container does not
	 * count.
	 */
	static const char pod[] =
		"{'spec':{'initContainers':[{'name':'i','resources':{'requests':{'cpu':'2'}}}],"
		"'containers':[{'name':'a'},{'name':'b'}]}}";

	ck_assert_int_eq(score_on(&bt_legacy_least_requested_priority_plugin, NULL,
				 NODE("1", "4000Mi"), pod),
		8); /* cpu 8, memory 9 */
}
END_TEST

START_TEST(test_least_requested_priority__counts_pods_on_the_node)
{
	struct fixture fixture;

	fixture_init(&fixture, &bt_legacy_least_requested_priority_plugin);
	fixture_add_node(&fixture, NODE("4", "10000Mi"));
	fixture_add_pod(&fixture,
		"{'spec':{'nodeName':'n','containers':[{'name':'c','resources':{'requests':"
		"{'cpu':'2','memory':'2000Mi'}}}]}}");
	ck_assert_int_eq(
		fixture_score(&fixture, POD("'requests':{'cpu':'1','memory':'3000Mi'}"), "n"),
		3); /* cpu 2, memory 5 */
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_requested_to_capacity_ratio_priority__shapes)
{
	static const char node[] = NODE("4", "10000");
	static const char pod[] = POD("'requests':{'cpu':'3','memory':'5000'}");
	static const char over[] = POD("'requests':{'cpu':'5','memory':'5000'}");
	const struct bt_plugin_ops *ops = &bt_legacy_requested_to_capacity_ratio_priority_plugin;
	static const char rising[] =
		"{'shape':[{'utilization':0,'score':0},{'utilization':100,'score':10}]}";

	/* Default (0,10),(100,0): cpu 75 % -> 10 - 7 = 3, memory 50 % -> 5 */
	ck_assert_int_eq(score_on(ops, NULL, node, pod), 4);
	ck_assert_int_eq(score_on(ops, rising, node, pod), 6); /* 7 and 5 */
	/* A node over capacity scores like a full node. */
	ck_assert_int_eq(score_on(ops, NULL, node, over), 2);
	ck_assert_int_eq(score_on(ops, rising, node, over), 7);
	ck_assert_int_eq(
		score_on(ops,
			"{'shape':[{'utilization':60,'score':4},{'utilization':70,'score':8}]}",
			node, pod),
		6); /* cpu 75 %: 8, memory 50 %: 4 */
}
END_TEST

START_TEST(test_requested_to_capacity_ratio_priority__bad_arguments)
{
	static const struct {
		const char *json;
		const char *expected;
	} rows[] = {
		{"{\"shape\":[]}", "shape: Required value: at least one point must be specified"},
		{"{\"shape\":{}}",
			"RequestedToCapacityRatioPriorityArgs: shape: expected array, got object"},
		{"{\"shape\":[7]}",
			"RequestedToCapacityRatioPriorityArgs: shape[0]: expected object, got "
			"number"},
		{"{\"shape\":[{\"utilization\":\"1\"}]}",
			"RequestedToCapacityRatioPriorityArgs: shape[0].utilization: "
			"expected int32, got string"},
		{"{\"shape\":[{\"utilization\":1,\"score\":1},{\"utilization\":1,\"score\":2}]}",
			"shape[1].utilization: Invalid value: 1: "
			"values must be sorted in increasing order"},
		{"{\"shape\":[{\"utilization\":101}]}",
			"shape[0].utilization: Invalid value: 101: not in valid range [0, 100]"},
		{"{\"shape\":[{\"utilization\":1,\"score\":11}]}",
			"shape[0].score: Invalid value: 11: not in valid range [0, 10]"},
		{"{\"resources\":[]}",
			"RequestedToCapacityRatioPriorityArgs: unknown field \"resources\""},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_plugin_args args = {
			.kind = BT_ARGS_OTHER, .raw = bt_str_from(rows[i].json)};
		struct bt_handle handle = {0};
		struct bt_plugin *plugin = NULL;
		struct berth_error err = BERTH_ERROR_INIT;

		ck_assert_int_lt(
			bt_plugin_create(&bt_legacy_requested_to_capacity_ratio_priority_plugin,
				&args, &handle, &plugin, &err),
			0);
		ck_assert_ptr_null(plugin);
		fixture_expect(rows[i].json, berth_error_message(&err), rows[i].expected);
		berth_error_finish(&err);
	}
}
END_TEST

START_TEST(test_resource_limits_priority__edge_05b_21_limits)
{
	static const struct {
		const char *name;
		const char *pod;
		int64_t expected;
	} rows[] = {
		{"cpu 4", POD("'limits':{'cpu':'4','memory':'0'}"), 1},
		{"cpu 16", POD("'limits':{'cpu':'16'}"), 0},
		{"none", POD(""), 0},
		{"requests only", POD("'requests':{'cpu':'1'}"), 0},
		{"memory alone fits", POD("'limits':{'cpu':'16','memory':'5000'}"), 1},
		{"init container",
			"{'spec':{'initContainers':[{'name':'i','resources':{'limits':{'cpu':'9'}}}"
			"],"
			"'containers':[{'name':'c','resources':{'limits':{'cpu':'1'}}}]}}",
			0},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		int64_t score = score_on(&bt_legacy_resource_limits_priority_plugin, NULL,
			NODE("8", "10000"), rows[i].pod);

		ck_assert_msg(score == rows[i].expected, "%s: got %d", rows[i].name, (int)score);
	}
	/* A node without allocatable covers no limit. */
	ck_assert_int_eq(score_on(&bt_legacy_resource_limits_priority_plugin, NULL,
				 "{'metadata':{'name':'n'}}", rows[0].pod),
		0);
}
END_TEST

START_TEST(test_equal_priority__always_one)
{
	ck_assert_int_eq(
		score_on(&bt_legacy_equal_priority_plugin, NULL, NODE("1", "1"), POD("")), 1);
}
END_TEST

START_TEST(test_image_locality_priority__flat_thresholds)
{
	static const char node[] = "{'metadata':{'name':'n'},'status':{'images':["
				   "{'names':['a:latest'],'sizeBytes':524288000}," /* 500 MiB */
				   "{'names':['b:v1'],'sizeBytes':1048576000},"    /* 1000 MiB */
				   "{'names':['c:v1'],'sizeBytes':24117248}]}}";   /* 23 MiB */
	static const struct {
		const char *name;
		const char *pod;
		int64_t expected;
	} rows[] = {
		{"one image", "{'spec':{'containers':[{'name':'c','image':'a'}]}}", 48},
		{"small image", "{'spec':{'containers':[{'name':'c','image':'c:v1'}]}}", 0},
		{"two containers share the upper threshold",
			"{'spec':{'containers':[{'name':'c','image':'a'},{'name':'d','image':'b:v1'"
			"}]}}",
			100},
		{"init containers do not count",
			"{'spec':{'initContainers':[{'name':'i','image':'b:v1'}],"
			"'containers':[{'name':'c','image':'x'}]}}",
			0},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		int64_t score = score_on(
			&bt_legacy_image_locality_priority_plugin, NULL, node, rows[i].pod);

		ck_assert_msg(score == rows[i].expected, "%s: got %d", rows[i].name, (int)score);
	}
}
END_TEST

BT_TEST_MAIN("legacy_priorities", test_least_requested_priority__edge_05b_20_formulas,
	test_least_requested_priority__defaults_per_container,
	test_least_requested_priority__counts_pods_on_the_node,
	test_requested_to_capacity_ratio_priority__shapes,
	test_requested_to_capacity_ratio_priority__bad_arguments,
	test_resource_limits_priority__edge_05b_21_limits, test_equal_priority__always_one,
	test_image_locality_priority__flat_thresholds)
