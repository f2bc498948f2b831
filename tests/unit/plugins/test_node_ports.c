/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"
#include "framework/cluster_event.h"
#include "test_main.h"

#define REJECTED "Unschedulable: node(s) didn't have free ports for the requested pod ports"
#define PORT(ip, protocol, port) "{'hostIP':'" ip "','protocol':'" protocol "','hostPort':" port "}"
#define POD(ports) "{'spec':{'containers':[{'name':'c','ports':[" ports "]}]}}"
#define BOUND(ports) "{'spec':{'nodeName':'n','containers':[{'name':'c','ports':[" ports "]}]}}"

START_TEST(test_node_ports__edge_05_24_conflicts)
{
	static const struct {
		const char *name;
		const char *used;
		const char *wanted;
		const char *expected;
	} rows[] = {
		{"wildcard wanted", BOUND(PORT("127.0.0.1", "TCP", "8080")),
			POD(PORT("0.0.0.0", "TCP", "8080")), REJECTED},
		{"other address", BOUND(PORT("127.0.0.2", "TCP", "8080")),
			POD(PORT("127.0.0.1", "TCP", "8080")), "Success"},
		{"other protocol", BOUND(PORT("", "TCP", "8080")), POD(PORT("", "UDP", "8080")),
			"Success"},
		{"wildcard used", BOUND(PORT("0.0.0.0", "TCP", "8080")),
			POD(PORT("10.0.0.1", "TCP", "8080")), REJECTED},
		{"defaults", BOUND("{'hostPort':8080}"), POD(PORT("10.0.0.1", "TCP", "8080")),
			REJECTED},
		{"one of several", BOUND("{'hostPort':8080}"),
			POD("{'hostPort':9090},{'hostPort':8080}"), REJECTED},
		{"none of several", BOUND("{'hostPort':8080}"),
			POD("{'hostPort':9090},{'hostPort':9091}"), "Success"},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct fixture fixture;

		fixture_init(&fixture, &bt_node_ports_plugin);
		fixture_add_node(&fixture, "{'metadata':{'name':'n'}}");
		fixture_add_pod(&fixture, rows[i].used);
		fixture_expect(rows[i].name, fixture_filter(&fixture, rows[i].wanted, "n"),
			rows[i].expected);
		fixture_finish(&fixture);
	}
}
END_TEST

START_TEST(test_node_ports__edge_05_25_which_containers_count)
{
	struct fixture fixture;

	fixture_init(&fixture, &bt_node_ports_plugin);
	fixture_expect("host port 0",
		fixture_pre_filter(&fixture, POD("{'hostPort':0,'containerPort':80}"), NULL),
		"Skip");
	fixture_expect("init container",
		fixture_pre_filter(&fixture,
			"{'spec':{'initContainers':[{'name':'i','ports':[{'hostPort':8080}]}]}}",
			NULL),
		"Skip");
	fixture_expect("sidecar",
		fixture_pre_filter(&fixture,
			"{'spec':{'initContainers':[{'name':'i','restartPolicy':'Always','ports':[{"
			"'hostPort':8080}]}]}}",
			NULL),
		"Success");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_node_ports__edge_05_26_no_conflict_with_itself)
{
	struct fixture fixture;

	fixture_init(&fixture, &bt_node_ports_plugin);
	fixture_add_node(&fixture, "{'metadata':{'name':'n'}}");
	fixture_expect("twice",
		fixture_filter(&fixture, POD("{'hostPort':8080},{'hostPort':8080}"), "n"),
		"Success");
	fixture_expect("no data", fixture_filter_alone(&fixture, POD("{'hostPort':8080}"), "n"),
		"Error: reading \"PreFilterNodePorts\" from cycleState: not found");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_node_ports__edge_05_65_hints)
{
	struct fixture fixture;
	const struct bt_pod_info *wants_8080;
	const struct bt_pod_info *wants_9090;

	fixture_init(&fixture, &bt_node_ports_plugin);
	wants_8080 = fixture_pending(&fixture, POD("{'hostPort':8080}"));
	wants_9090 = fixture_pending(&fixture, POD("{'hostPort':9090}"));
	ck_assert_int_eq(fixture_hint(&fixture, "Pod", BT_ACTION_DELETE, wants_8080,
				 BOUND("{'hostPort':8080}"), NULL, NULL),
		FIXTURE_QUEUE);
	ck_assert_int_eq(fixture_hint(&fixture, "Pod", BT_ACTION_DELETE, wants_9090,
				 BOUND("{'hostPort':8080}"), NULL, NULL),
		FIXTURE_SKIP);
	ck_assert_int_eq(fixture_hint(&fixture, "Pod", BT_ACTION_DELETE, wants_8080,
				 POD("{'hostPort':8080}"), NULL, NULL),
		FIXTURE_SKIP);
	ck_assert_int_eq(fixture_hint(&fixture, "Pod", BT_ACTION_DELETE, wants_8080,
				 "{'spec':{'containers':[{'ports':[{'hostPort':8080}]}]},'status':{"
				 "'nominatedNodeName':'n'}}",
				 NULL, NULL),
		FIXTURE_QUEUE);
	ck_assert_int_eq(
		fixture_hint(&fixture, "Pod", BT_ACTION_DELETE, wants_8080, BOUND(""), NULL, NULL),
		FIXTURE_SKIP);
	ck_assert_int_eq(
		fixture_hint(&fixture, "Node", BT_ACTION_ADD, wants_8080, NULL, "{}", NULL),
		FIXTURE_QUEUE);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_node_ports__sign_is_the_set_of_numbers)
{
	struct fixture fixture;

	fixture_init(&fixture, &bt_node_ports_plugin);
	ck_assert_str_eq(fixture_sign(&fixture,
				 POD("{'hostPort':9090},{'hostPort':8080},{'hostPort':8080,'"
				     "protocol':'UDP'}")),
		fixture_sign(&fixture, POD("{'hostPort':8080},{'hostPort':9090}")));
	ck_assert_str_ne(fixture_sign(&fixture, POD("{'hostPort':8080}")),
		fixture_sign(&fixture, POD("{'hostPort':8081}")));
	fixture_finish(&fixture);
}
END_TEST

BT_TEST_MAIN("node_ports", test_node_ports__edge_05_24_conflicts,
	test_node_ports__edge_05_25_which_containers_count,
	test_node_ports__edge_05_26_no_conflict_with_itself, test_node_ports__edge_05_65_hints,
	test_node_ports__sign_is_the_set_of_numbers)
