/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"
#include "framework/cluster_event.h"
#include "test_main.h"

START_TEST(test_node_name__edge_05_02_names_one_node)
{
	struct fixture fixture;

	fixture_init(&fixture, &bt_node_name_plugin);
	fixture_add_node(&fixture, "{'metadata':{'name':'foo'}}");
	fixture_add_node(&fixture, "{'metadata':{'name':'bar'}}");
	fixture_expect(
		"same", fixture_filter(&fixture, "{'spec':{'nodeName':'foo'}}", "foo"), "Success");
	fixture_expect("other", fixture_filter(&fixture, "{'spec':{'nodeName':'foo'}}", "bar"),
		"UnschedulableAndUnresolvable: node(s) didn't match the requested node name");
	fixture_expect(
		"empty", fixture_filter(&fixture, "{'spec':{'nodeName':''}}", "bar"), "Success");
	fixture_expect("absent", fixture_filter(&fixture, "{}", "bar"), "Success");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_node_name__registers_node_add)
{
	struct fixture fixture;
	const struct bt_pod_info *pod;

	fixture_init(&fixture, &bt_node_name_plugin);
	pod = fixture_pending(&fixture, "{}");
	ck_assert_int_eq(fixture_hint(&fixture, "Node", BT_ACTION_ADD, pod, NULL, "{}", NULL),
		FIXTURE_QUEUE);
	ck_assert_int_eq(
		fixture_hint(&fixture, "Node", BT_ACTION_UPDATE_NODE_TAINT, pod, "{}", "{}", NULL),
		FIXTURE_NOT_REGISTERED);
	fixture_finish(&fixture);
}
END_TEST

BT_TEST_MAIN(
	"node_name", test_node_name__edge_05_02_names_one_node, test_node_name__registers_node_add)
