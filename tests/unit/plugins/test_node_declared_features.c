/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"
#include "framework/cluster_event.h"
#include "test_main.h"

#define REJECTED "UnschedulableAndUnresolvable: node(s) didn't match Pod's required features"
#define USER_NAMESPACES "{'spec':{'hostNetwork':true,'hostUsers':false}}"
#define RESTART_ALL \
	"{'spec':{'containers':[{'name':'c','restartPolicyRules':[{'action':'" \
	"RestartAllContainers'}]}]}}"
#define NODE(name, features) \
	"{'metadata':{'name':'" name "'},'status':{'declaredFeatures':[" features "]}}"

static void init(struct fixture *fixture, const char *gates)
{
	fixture_init_with(fixture, &bt_node_declared_features_plugin, gates, NULL);
	fixture_add_node(fixture, NODE("none", ""));
	fixture_add_node(fixture, NODE("users", "'UserNamespacesHostNetworkSupport'"));
	fixture_add_node(fixture,
		NODE("both",
			"'RestartAllContainersOnContainerExits','"
			"UserNamespacesHostNetworkSupport'"));
}

START_TEST(test_node_declared_features__edge_05_60_required_features)
{
	struct fixture fixture;

	init(&fixture, NULL);
	fixture_expect("not declared", fixture_filter(&fixture, USER_NAMESPACES, "none"), REJECTED);
	fixture_expect("declared", fixture_filter(&fixture, USER_NAMESPACES, "users"), "Success");
	fixture_expect("unset", fixture_pre_filter(&fixture, "{'spec':{'hostNetwork':true}}", NULL),
		"Skip");
	fixture_expect("true",
		fixture_pre_filter(
			&fixture, "{'spec':{'hostNetwork':true,'hostUsers':true}}", NULL),
		"Skip");
	fixture_expect("restart rules", fixture_filter(&fixture, RESTART_ALL, "users"), REJECTED);
	fixture_expect(
		"restart rules declared", fixture_filter(&fixture, RESTART_ALL, "both"), "Success");
	fixture_expect("no data", fixture_filter_alone(&fixture, USER_NAMESPACES, "users"),
		"Error: error reading \"PreFilterNodeDeclaredFeatures\" from cycle-state: not "
		"found");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_node_declared_features__gate_off)
{
	struct fixture fixture;

	init(&fixture, "NodeDeclaredFeatures=false,InPlacePodLevelResourcesVerticalScaling=false");
	fixture_expect("pre-filter", fixture_pre_filter(&fixture, USER_NAMESPACES, NULL), "Skip");
	fixture_expect(
		"filter", fixture_filter_alone(&fixture, USER_NAMESPACES, "none"), "Success");
	fixture_expect("sign", fixture_sign(&fixture, USER_NAMESPACES),
		"Error: target version cannot be nil");
	ck_assert_int_eq(fixture_hint(&fixture, "Node", BT_ACTION_ADD,
				 fixture_pending(&fixture, "{}"), NULL, NODE("n", ""), NULL),
		FIXTURE_NOT_REGISTERED);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_node_declared_features__hints)
{
	struct fixture fixture;
	const struct bt_pod_info *pod;

	init(&fixture, NULL);
	pod = fixture_pending(&fixture, "{'metadata':{'uid':'a'}}");
	ck_assert_int_eq(
		fixture_hint(&fixture, "Node", BT_ACTION_ADD, pod, NULL, NODE("n", ""), NULL),
		FIXTURE_QUEUE);
	ck_assert_int_eq(fixture_hint(&fixture, "Node", BT_ACTION_UPDATE_NODE_DECLARED_FEATURE, pod,
				 NODE("n", "'a','b'"), NODE("n", "'a','b'"), NULL),
		FIXTURE_SKIP);
	ck_assert_int_eq(fixture_hint(&fixture, "Node", BT_ACTION_UPDATE_NODE_DECLARED_FEATURE, pod,
				 NODE("n", "'a','b'"), NODE("n", "'b','a'"), NULL),
		FIXTURE_QUEUE);
	ck_assert_int_eq(
		fixture_hint(&fixture, "Pod", BT_ACTION_UPDATE_POD_LABEL, pod,
			"{'metadata':{'uid':'a'},'spec':{'hostNetwork':true,'hostUsers':false}}",
			"{'metadata':{'uid':'a'}}", NULL),
		FIXTURE_QUEUE);
	ck_assert_int_eq(fixture_hint(&fixture, "Pod", BT_ACTION_UPDATE_POD_LABEL, pod,
				 "{'metadata':{'uid':'a'}}", "{'metadata':{'uid':'a'}}", NULL),
		FIXTURE_SKIP);
	ck_assert_int_eq(
		fixture_hint(&fixture, "Pod", BT_ACTION_UPDATE_POD_LABEL, pod,
			"{'metadata':{'uid':'b'},'spec':{'hostNetwork':true,'hostUsers':false}}",
			"{'metadata':{'uid':'b'}}", NULL),
		FIXTURE_SKIP);
	ck_assert_str_eq(
		fixture_sign(&fixture, USER_NAMESPACES), "v1.Pod.Spec.RequiredFeatures()=00001\n");
	fixture_finish(&fixture);
}
END_TEST

BT_TEST_MAIN("node_declared_features", test_node_declared_features__edge_05_60_required_features,
	test_node_declared_features__gate_off, test_node_declared_features__hints)
