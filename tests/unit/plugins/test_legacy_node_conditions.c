/* SPDX-License-Identifier: Apache-2.0 */
#include "framework/cluster_event.h"
#include "fixture.h"
#include "test_main.h"

#define UAU "UnschedulableAndUnresolvable: "

START_TEST(test_check_node_condition__edge_05b_01_all_reasons)
{
	struct fixture fixture;

	fixture_init(&fixture, &bt_legacy_check_node_condition_plugin);
	fixture_add_node(&fixture,
		"{'metadata':{'name':'n'},'spec':{'unschedulable':true},'status':{'conditions':["
		"{'type':'Ready','status':'Unknown'},{'type':'OutOfDisk','status':'Unknown'},"
		"{'type':'NetworkUnavailable','status':'True'}]}}");
	ck_assert_str_eq(fixture_filter(&fixture, "{}", "n"),
		UAU "node(s) were not ready, node(s) were out of disk space, "
		    "node(s) had unavailable network, node(s) were unschedulable");
	/* The predicate ignores tolerations. */
	ck_assert_str_eq(
		fixture_filter(&fixture, "{'spec':{'tolerations':[{'operator':'Exists'}]}}", "n"),
		UAU "node(s) were not ready, node(s) were out of disk space, "
		    "node(s) had unavailable network, node(s) were unschedulable");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_check_node_condition__edge_05b_02_passes)
{
	struct fixture fixture;

	fixture_init(&fixture, &bt_legacy_check_node_condition_plugin);
	fixture_add_node(&fixture, "{'metadata':{'name':'bare'}}");
	fixture_add_node(&fixture,
		"{'metadata':{'name':'good'},'status':{'conditions':["
		"{'type':'NetworkUnavailable','status':'False'},{'type':'Ready','status':'True'},"
		"{'type':'MemoryPressure','status':'True'},{'type':'Other','status':'True'}]}}");
	ck_assert_str_eq(fixture_filter(&fixture, "{}", "bare"), "Success");
	ck_assert_str_eq(fixture_filter(&fixture, "{}", "good"), "Success");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_check_node_condition__list_order_and_repeats)
{
	struct fixture fixture;

	fixture_init(&fixture, &bt_legacy_check_node_condition_plugin);
	fixture_add_node(&fixture,
		"{'metadata':{'name':'n'},'status':{'conditions':["
		"{'type':'OutOfDisk','status':''},{'type':'Ready','status':'False'},"
		"{'type':'OutOfDisk','status':'True'}]}}");
	ck_assert_str_eq(fixture_filter(&fixture, "{}", "n"),
		UAU "node(s) were out of disk space, node(s) were not ready, "
		    "node(s) were out of disk space");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_check_node_condition__follows_node_updates)
{
	struct fixture fixture;
	struct bt_node *sick;
	struct bt_node *well;

	fixture_init(&fixture, &bt_legacy_check_node_condition_plugin);
	sick = fixture_node(&fixture,
		"{'metadata':{'name':'n'},'status':{'conditions':[{'type':'Ready','status':'False'}"
		"]}}");
	well = fixture_node(&fixture,
		"{'metadata':{'name':'n'},'status':{'conditions':[{'type':'Ready','status':'True'}]"
		"}}");
	bt_state_add_node(fixture.state, sick);
	ck_assert_int_eq(bt_state_refresh_snapshot(fixture.state, NULL), 0);
	ck_assert_str_eq(fixture_filter(&fixture, "{}", "n"), UAU "node(s) were not ready");
	bt_state_update_node(fixture.state, sick, well);
	ck_assert_int_eq(bt_state_refresh_snapshot(fixture.state, NULL), 0);
	ck_assert_str_eq(fixture_filter(&fixture, "{}", "n"), "Success");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_check_node_condition__node_without_object)
{
	struct fixture fixture;
	struct bt_cycle_state cycle;
	struct bt_node_info node;
	struct bt_status status;

	fixture_init(&fixture, &bt_legacy_check_node_condition_plugin);
	fixture_add_pod(&fixture, "{'spec':{'nodeName':'imaginary'}}");
	bt_node_info_init(&node, fixture.state,
		bt_node_table_find(&fixture.state->nodes, BT_STR("imaginary")));
	bt_cycle_state_init(&cycle, &fixture.arena, 1);
	status = fixture.plugin->ops->filter(
		fixture.plugin, &cycle, fixture_pending(&fixture, "{}"), &node);
	ck_assert_str_eq(
		fixture_status_text(&fixture, status), UAU "node(s) had unknown conditions");
	bt_cycle_state_finish(&cycle);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_check_node_condition__hints)
{
	static const char ready[] = "{'metadata':{'name':'n'},'status':{'conditions':[{'type':'"
				    "Ready','status':'True'}]}}";
	static const char not_ready[] = "{'metadata':{'name':'n'},'status':{'conditions':[{'type':'"
					"Ready','status':'False'}]}}";
	static const char cordoned[] = "{'metadata':{'name':'n'},'spec':{'unschedulable':true}}";
	struct fixture fixture;
	const struct bt_pod_info *pod;

	fixture_init(&fixture, &bt_legacy_check_node_condition_plugin);
	pod = fixture_pending(&fixture, "{}");
	ck_assert_int_eq(fixture_hint(&fixture, "Node", BT_ACTION_ADD, pod, NULL, ready, NULL),
		FIXTURE_QUEUE);
	ck_assert_int_eq(fixture_hint(&fixture, "Node", BT_ACTION_ADD, pod, NULL, not_ready, NULL),
		FIXTURE_SKIP);
	ck_assert_int_eq(fixture_hint(&fixture, "Node", BT_ACTION_UPDATE_NODE_CONDITION, pod,
				 not_ready, ready, NULL),
		FIXTURE_QUEUE);
	ck_assert_int_eq(fixture_hint(&fixture, "Node", BT_ACTION_UPDATE_NODE_CONDITION, pod, ready,
				 ready, NULL),
		FIXTURE_SKIP);
	ck_assert_int_eq(fixture_hint(&fixture, "Node", BT_ACTION_UPDATE_NODE_TAINT, pod, cordoned,
				 ready, NULL),
		FIXTURE_QUEUE);
	ck_assert_int_eq(fixture_hint(&fixture, "Node", BT_ACTION_UPDATE_NODE_LABEL, pod, ready,
				 ready, NULL),
		FIXTURE_NOT_REGISTERED);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_check_node_memory_pressure__edge_05b_03_best_effort_only)
{
	static const struct {
		const char *name;
		const char *pod;
		const char *expected;
	} rows[] = {
		{"memory request 1",
			"{'spec':{'containers':[{'name':'c','resources':{'requests':{'memory':'1'}}"
			"}]}}",
			"Success"},
		{"no requests", "{'spec':{'containers':[{'name':'c'}]}}",
			UAU "node(s) had memory pressure"},
		{"zero request",
			"{'spec':{'containers':[{'name':'c','resources':{'requests':{'cpu':'0'}}}]}"
			"}",
			UAU "node(s) had memory pressure"},
		{"limit only",
			"{'spec':{'containers':[{'name':'c','resources':{'limits':{'cpu':'1m'}}}]}"
			"}",
			"Success"},
		{"other resource",
			"{'spec':{'containers':[{'name':'c','resources':{'requests':{'a/"
			"b':'1'}}}]}}",
			UAU "node(s) had memory pressure"},
		{"init container",
			"{'spec':{'initContainers':[{'name':'i','resources':{'requests':{'cpu':'1'}"
			"}}]}}",
			"Success"},
		{"pod level instead of containers",
			"{'spec':{'resources':{},'containers':[{'name':'c','resources':"
			"{'requests':{'cpu':'1'}}}]}}",
			UAU "node(s) had memory pressure"},
		{"pod level", "{'spec':{'resources':{'requests':{'memory':'1'}}}}", "Success"},
		{"status says so",
			"{'spec':{'containers':[{'name':'c','resources':{'requests':{'cpu':'1'}}}]}"
			","
			"'status':{'qosClass':'BestEffort'}}",
			UAU "node(s) had memory pressure"},
		{"status says otherwise", "{'status':{'qosClass':'Burstable'}}", "Success"},
	};
	struct fixture fixture;

	fixture_init(&fixture, &bt_legacy_check_node_memory_pressure_plugin);
	fixture_add_node(&fixture,
		"{'metadata':{'name':'n'},'status':{'conditions':["
		"{'type':'MemoryPressure','status':'True'}]}}");
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		fixture_expect(
			rows[i].name, fixture_filter(&fixture, rows[i].pod, "n"), rows[i].expected);
	}
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_check_node_disk_pressure__edge_05b_03_status_values)
{
	static const struct {
		const char *conditions;
		const char *expected;
	} rows[] = {
		{"", "Success"},
		{"{'type':'DiskPressure','status':'Unknown'}", "Success"},
		{"{'type':'DiskPressure','status':'False'}", "Success"},
		{"{'type':'PIDPressure','status':'True'}", "Success"},
		{"{'type':'DiskPressure','status':'True'}", UAU "node(s) had disk pressure"},
		{"{'type':'DiskPressure','status':'True'},{'type':'DiskPressure','status':'False'}",
			"Success"},
		{"{'type':'DiskPressure','status':'False'},{'type':'DiskPressure','status':'True'}",
			UAU "node(s) had disk pressure"},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct fixture fixture;

		fixture_init(&fixture, &bt_legacy_check_node_disk_pressure_plugin);
		fixture_add_node(&fixture,
			bt_arena_printf(&fixture.arena,
				"{'metadata':{'name':'n'},'status':{'conditions':[%s]}}",
				rows[i].conditions)
				.data);
		fixture_expect(
			rows[i].conditions, fixture_filter(&fixture, "{}", "n"), rows[i].expected);
		fixture_finish(&fixture);
	}
}
END_TEST

START_TEST(test_check_node_pid_pressure__any_pod)
{
	struct fixture fixture;

	fixture_init(&fixture, &bt_legacy_check_node_pid_pressure_plugin);
	fixture_add_node(&fixture,
		"{'metadata':{'name':'n'},'status':{'conditions':[{'type':'PIDPressure','status':'"
		"True'}]}}");
	ck_assert_str_eq(fixture_filter(&fixture,
				 "{'spec':{'containers':[{'name':'c','resources':{'requests':{'cpu'"
				 ":'1'}}}]}}",
				 "n"),
		UAU "node(s) had pid pressure");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_check_node_pressure__hints)
{
	static const struct {
		const struct bt_plugin_ops *ops;
		const char *type;
	} rows[] = {
		{&bt_legacy_check_node_memory_pressure_plugin, "MemoryPressure"},
		{&bt_legacy_check_node_disk_pressure_plugin, "DiskPressure"},
		{&bt_legacy_check_node_pid_pressure_plugin, "PIDPressure"},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct fixture fixture;
		const struct bt_pod_info *pod;
		const char *under_pressure;

		fixture_init(&fixture, rows[i].ops);
		pod = fixture_pending(&fixture, "{}");
		under_pressure = bt_arena_printf(&fixture.arena,
			"{'metadata':{'name':'n'},'status':{'conditions':[{'type':'%s','status':'"
			"True'}]}}",
			rows[i].type)
					 .data;
		ck_assert_int_eq(fixture_hint(&fixture, "Node", BT_ACTION_UPDATE_NODE_CONDITION,
					 pod, under_pressure, "{'metadata':{'name':'n'}}", NULL),
			FIXTURE_QUEUE);
		ck_assert_int_eq(fixture_hint(&fixture, "Node", BT_ACTION_UPDATE_NODE_CONDITION,
					 pod, "{'metadata':{'name':'n'}}", under_pressure, NULL),
			FIXTURE_SKIP);
		ck_assert_int_eq(fixture_hint(&fixture, "Node", BT_ACTION_ADD, pod, NULL,
					 "{'metadata':{'name':'n'}}", NULL),
			FIXTURE_QUEUE);
		fixture_finish(&fixture);
	}
}
END_TEST

BT_TEST_MAIN("legacy_node_conditions", test_check_node_condition__edge_05b_01_all_reasons,
	test_check_node_condition__edge_05b_02_passes,
	test_check_node_condition__list_order_and_repeats,
	test_check_node_condition__follows_node_updates,
	test_check_node_condition__node_without_object, test_check_node_condition__hints,
	test_check_node_memory_pressure__edge_05b_03_best_effort_only,
	test_check_node_disk_pressure__edge_05b_03_status_values,
	test_check_node_pid_pressure__any_pod, test_check_node_pressure__hints)
