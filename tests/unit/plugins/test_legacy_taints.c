/* SPDX-License-Identifier: Apache-2.0 */
#include "framework/cluster_event.h"
#include "fixture.h"
#include "test_main.h"

#define REJECTED "UnschedulableAndUnresolvable: node(s) had taints that the pod didn't tolerate"

static void add_nodes(struct fixture *fixture)
{
	fixture_add_node(fixture,
		"{'metadata':{'name':'schedule'},'spec':{'taints':["
		"{'key':'k','value':'v','effect':'NoSchedule'}]}}");
	fixture_add_node(fixture,
		"{'metadata':{'name':'execute'},'spec':{'taints':["
		"{'key':'k','value':'v','effect':'NoExecute'}]}}");
	fixture_add_node(fixture,
		"{'metadata':{'name':'prefer'},'spec':{'taints':["
		"{'key':'k','value':'v','effect':'PreferNoSchedule'}]}}");
}

START_TEST(test_pod_tolerates_node_no_execute_taints__edge_05b_04_no_execute_only)
{
	static const char tolerant[] =
		"{'spec':{'tolerations':[{'key':'k','operator':'Equal','value':'v'}]}}";
	struct fixture fixture;

	fixture_init(&fixture, &bt_legacy_pod_tolerates_node_no_execute_taints_plugin);
	add_nodes(&fixture);
	ck_assert_str_eq(fixture_filter(&fixture, "{}", "schedule"), "Success");
	ck_assert_str_eq(fixture_filter(&fixture, "{}", "execute"), REJECTED);
	ck_assert_str_eq(fixture_filter(&fixture, "{}", "prefer"), "Success");
	ck_assert_str_eq(fixture_filter(&fixture, tolerant, "execute"), "Success");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_pod_tolerates_node_taints__both_hard_effects)
{
	struct fixture fixture;

	fixture_init(&fixture, &bt_legacy_pod_tolerates_node_taints_plugin);
	add_nodes(&fixture);
	ck_assert_str_eq(fixture_filter(&fixture, "{}", "schedule"), REJECTED);
	ck_assert_str_eq(fixture_filter(&fixture, "{}", "execute"), REJECTED);
	ck_assert_str_eq(fixture_filter(&fixture, "{}", "prefer"), "Success");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_pod_tolerates_node_no_execute_taints__hints)
{
	static const char tainted[] =
		"{'metadata':{'name':'n'},'spec':{'taints':[{'key':'k','effect':'NoExecute'}]}}";
	static const char clean[] =
		"{'metadata':{'name':'n'},'spec':{'taints':[{'key':'k','effect':'NoSchedule'}]}}";
	struct fixture fixture;
	const struct bt_pod_info *pod;

	fixture_init(&fixture, &bt_legacy_pod_tolerates_node_no_execute_taints_plugin);
	pod = fixture_pending(&fixture, "{'metadata':{'uid':'mine'}}");
	ck_assert_int_eq(fixture_hint(&fixture, "Node", BT_ACTION_UPDATE_NODE_TAINT, pod, tainted,
				 clean, NULL),
		FIXTURE_QUEUE);
	ck_assert_int_eq(fixture_hint(&fixture, "Node", BT_ACTION_UPDATE_NODE_TAINT, pod, clean,
				 tainted, NULL),
		FIXTURE_SKIP);
	ck_assert_int_eq(fixture_hint(&fixture, "Node", BT_ACTION_ADD, pod, NULL, tainted, NULL),
		FIXTURE_SKIP);
	ck_assert_int_eq(fixture_hint(&fixture, "Pod", BT_ACTION_UPDATE_POD_TOLERATION, pod, "{}",
				 "{'metadata':{'uid':'mine'}}", NULL),
		FIXTURE_QUEUE);
	ck_assert_int_eq(fixture_hint(&fixture, "Pod", BT_ACTION_UPDATE_POD_TOLERATION, pod, "{}",
				 "{'metadata':{'uid':'other'}}", NULL),
		FIXTURE_SKIP);
	fixture_finish(&fixture);
}
END_TEST

BT_TEST_MAIN("legacy_taints",
	test_pod_tolerates_node_no_execute_taints__edge_05b_04_no_execute_only,
	test_pod_tolerates_node_taints__both_hard_effects,
	test_pod_tolerates_node_no_execute_taints__hints)
