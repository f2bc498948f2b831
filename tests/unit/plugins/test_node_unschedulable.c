/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"
#include "framework/cluster_event.h"
#include "test_main.h"

#define KEY "'key':'node.kubernetes.io/unschedulable'"
#define REJECTED "UnschedulableAndUnresolvable: node(s) were unschedulable"

START_TEST(test_node_unschedulable__edge_05_03_toleration_of_the_cordon)
{
	static const struct {
		const char *name;
		const char *pod;
		const char *expected;
	} rows[] = {
		{"no tolerations", "{}", REJECTED},
		{"equal",
			"{'spec':{'tolerations':[{" KEY
			",'effect':'NoSchedule','value':'','operator':''}]}}",
			"Success"},
		{"exists", "{'spec':{'tolerations':[{'operator':'Exists'}]}}", "Success"},
		{"other effect",
			"{'spec':{'tolerations':[{" KEY
			",'operator':'Exists','effect':'NoExecute'}]}}",
			REJECTED},
	};
	struct fixture fixture;

	fixture_init(&fixture, &bt_node_unschedulable_plugin);
	fixture_add_node(&fixture, "{'metadata':{'name':'closed'},'spec':{'unschedulable':true}}");
	fixture_add_node(&fixture,
		"{'metadata':{'name':'open'},'spec':{'taints':[{" KEY ",'effect':'NoSchedule'}]}}");
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		fixture_expect(rows[i].name, fixture_filter(&fixture, rows[i].pod, "closed"),
			rows[i].expected);
		fixture_expect("the taint list is not consulted",
			fixture_filter(&fixture, rows[i].pod, "open"), "Success");
	}
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_node_unschedulable__hints)
{
	static const char *const open_node = "{'metadata':{'name':'n'}}";
	static const char *const closed_node =
		"{'metadata':{'name':'n'},'spec':{'unschedulable':true}}";
	struct fixture fixture;
	const struct bt_pod_info *pod;

	fixture_init(&fixture, &bt_node_unschedulable_plugin);
	pod = fixture_pending(&fixture, "{'metadata':{'uid':'a'}}");
	ck_assert_int_eq(fixture_hint(&fixture, "Node", BT_ACTION_ADD, pod, NULL, open_node, NULL),
		FIXTURE_QUEUE);
	ck_assert_int_eq(
		fixture_hint(&fixture, "Node", BT_ACTION_ADD, pod, NULL, closed_node, NULL),
		FIXTURE_SKIP);
	ck_assert_int_eq(fixture_hint(&fixture, "Node", BT_ACTION_UPDATE_NODE_TAINT, pod,
				 closed_node, open_node, NULL),
		FIXTURE_QUEUE);
	ck_assert_int_eq(fixture_hint(&fixture, "Node", BT_ACTION_UPDATE_NODE_TAINT, pod, open_node,
				 open_node, NULL),
		FIXTURE_SKIP);
	ck_assert_int_eq(
		fixture_hint(&fixture, "Pod", BT_ACTION_UPDATE_POD_TOLERATION, pod,
			"{'metadata':{'uid':'a'}}",
			"{'metadata':{'uid':'a'},'spec':{'tolerations':[{'operator':'Exists'}]}}",
			NULL),
		FIXTURE_QUEUE);
	ck_assert_int_eq(fixture_hint(&fixture, "Pod", BT_ACTION_UPDATE_POD_TOLERATION, pod,
				 "{'metadata':{'uid':'a'}}",
				 "{'metadata':{'uid':'a'},'spec':{'tolerations':[{'key':'x','"
				 "operator':'Exists'}]}}",
				 NULL),
		FIXTURE_SKIP);
	ck_assert_int_eq(
		fixture_hint(&fixture, "Pod", BT_ACTION_UPDATE_POD_TOLERATION, pod,
			"{'metadata':{'uid':'b'}}",
			"{'metadata':{'uid':'b'},'spec':{'tolerations':[{'operator':'Exists'}]}}",
			NULL),
		FIXTURE_SKIP);
	fixture_finish(&fixture);
}
END_TEST

BT_TEST_MAIN("node_unschedulable", test_node_unschedulable__edge_05_03_toleration_of_the_cordon,
	test_node_unschedulable__hints)
