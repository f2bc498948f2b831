/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"
#include "test_main.h"

#define NODE(name, allocatable) \
	"{'metadata':{'name':'" name "'},'status':{'allocatable':{" allocatable "}}}"
#define C(requests) "{'name':'c','resources':{'requests':{" requests "}}}"
#define POD(requests) "{'spec':{'containers':[" C(requests) "]}}"
#define THREE "{'resources':[{'name':'cpu'},{'name':'memory'},{'name':'example.com/gpu'}]}"

static void check_score(const char *row, const char *args, const char *node, const char *used,
	const char *pod, int64_t expected)
{
	struct fixture fixture;
	int64_t score;

	fixture_init_with(&fixture, &bt_node_resources_balanced_allocation_plugin, NULL, args);
	fixture_add_node(&fixture, node);
	if (used != NULL) {
		fixture_add_pod(&fixture, used);
	}
	score = fixture_score(&fixture, pod, "n");
	ck_assert_msg(score == expected, "%s: got %lld, expected %lld", row, (long long)score,
		(long long)expected);
	fixture_finish(&fixture);
}

START_TEST(test_node_resources_balanced_allocation__edge_05_48_two_resources)
{
	check_score("4 cpu", NULL, NODE("n", "'cpu':'4000m','memory':'10000'"), NULL,
		POD("'cpu':'3000m','memory':'5000'"), 68);
	check_score("6 cpu", NULL, NODE("n", "'cpu':'6000m','memory':'10000'"), NULL,
		POD("'cpu':'3000m','memory':'5000'"), 75);
	check_score("evens out", NULL, NODE("n", "'cpu':'4000m','memory':'10000'"),
		"{'spec':{'nodeName':'n','containers':[" C("'cpu':'1000m','memory':'5000'") "]}}",
		POD("'cpu':'1000m','memory':'0'"), 81);
}
END_TEST

START_TEST(test_node_resources_balanced_allocation__edge_05_49_three_resources)
{
	check_score("three", THREE,
		NODE("n", "'cpu':'4000m','memory':'4000','example.com/gpu':'2'"), NULL,
		POD("'cpu':'1000m','memory':'1000','example.com/gpu':'1'"), 69);
}
END_TEST

START_TEST(test_node_resources_balanced_allocation__edge_05_50_skip_and_few_entries)
{
	struct fixture fixture;
	int64_t score;

	fixture_init(&fixture, &bt_node_resources_balanced_allocation_plugin);
	fixture_add_node(&fixture, NODE("n", "'cpu':'4'"));
	fixture_expect("no requests",
		fixture_pre_score(&fixture, "{'spec':{'containers':[{'name':'c'}]}}"), "Skip");
	fixture_expect("other resource",
		fixture_pre_score(&fixture, POD("'ephemeral-storage':'1'")), "Skip");
	fixture_expect("pod-level",
		fixture_pre_score(&fixture,
			"{'spec':{'resources':{'requests':{'cpu':'1'}},'containers':[{'name':'c'}]}"
			"}"),
		"Success");
	fixture_expect("on demand, nothing requested",
		fixture_score_alone(&fixture, "{}", "n", &score), "Success");
	ck_assert_int_eq(score, 0);
	fixture_finish(&fixture);
	check_score("one entry", NULL, NODE("n", "'cpu':'4'"), NULL, POD("'cpu':'1'"), 75);
	check_score("no entry", NULL, NODE("n", "'pods':'4'"), NULL, POD("'cpu':'1'"), 75);
}
END_TEST

/*
 * Spec 05 section 12.4: each value S is truncated separately, and binary fractions can lie below
 * the decimal value.
 */
START_TEST(test_node_resources_balanced_allocation__float_care)
{
	check_score("(0.68, 0): 65, not 66", NULL, NODE("n", "'cpu':'100','memory':'100'"), NULL,
		POD("'cpu':'68'"), 50 + (50 + 65 - 100) / 2);
	check_score("(0.35, 0.53): 90, not 91", NULL, NODE("n", "'cpu':'100','memory':'100'"), NULL,
		POD("'cpu':'35','memory':'53'"), 50 + (50 + 90 - 100) / 2);
	check_score("at most 1", NULL, NODE("n", "'cpu':'1','memory':'100'"), NULL,
		POD("'cpu':'5'"), 50 + (50 + 50 - 100) / 2);
}
END_TEST

START_TEST(test_node_resources_balanced_allocation__signs_requests)
{
	struct fixture fixture;

	fixture_init(&fixture, &bt_node_resources_balanced_allocation_plugin);
	ck_assert_ptr_nonnull(strstr(fixture_sign(&fixture, POD("'cpu':'1'")),
		"v1.Pod.Spec.ContainerRequestsAndOverheads()=1000,0,0"));
	fixture_finish(&fixture);
}
END_TEST

BT_TEST_MAIN("node_resources_balanced_allocation",
	test_node_resources_balanced_allocation__edge_05_48_two_resources,
	test_node_resources_balanced_allocation__edge_05_49_three_resources,
	test_node_resources_balanced_allocation__edge_05_50_skip_and_few_entries,
	test_node_resources_balanced_allocation__float_care,
	test_node_resources_balanced_allocation__signs_requests)
