/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"
#include "test_main.h"

#define UAU "UnschedulableAndUnresolvable: "

static void add_full_node(struct fixture *fixture)
{
	/* The pod on the node requests more cpu and a/b than the node has. */
	fixture_add_node(fixture,
		"{'metadata':{'name':'n','labels':{'disk':'ssd'}},'status':{'allocatable':"
		"{'cpu':'10','memory':'10Gi','pods':'10','a/b':'1'}}}");
	fixture_add_pod(fixture,
		"{'spec':{'nodeName':'n','containers':[{'name':'c','ports':[{'hostPort':80}],"
		"'resources':{'requests':{'cpu':'12','a/b':'2'}}}]}}");
}

START_TEST(test_pod_fits_resources__edge_05b_05_over_committed_node)
{
	static const struct {
		const char *name;
		const char *pod;
		const char *expected;
	} rows[] = {
		{"memory only",
			"{'spec':{'containers':[{'name':'c','resources':{'requests':{'memory':'1'}}"
			"}]}}",
			"Unschedulable: Insufficient cpu"},
		{"nothing", "{'spec':{'containers':[{'name':'c'}]}}", "Success"},
		{"zero scalar",
			"{'spec':{'containers':[{'name':'c','resources':{'requests':{'a/"
			"b':'0'}}}]}}",
			"Unschedulable: Insufficient cpu, Insufficient a/b"},
		{"unknown scalar",
			"{'spec':{'containers':[{'name':'c','resources':{'requests':{'x/"
			"y':'1'}}}]}}",
			"Unschedulable: Insufficient cpu, Insufficient x/y"},
		{"overhead and sidecar do not count",
			"{'spec':{'overhead':{'memory':'20Gi'},'initContainers':[{'name':'s',"
			"'restartPolicy':'Always','resources':{'requests':{'memory':'6Gi'}}}],"
			"'containers':[{'name':'c','resources':{'requests':{'memory':'6Gi'}}}]}}",
			"Unschedulable: Insufficient cpu"},
		{"init container is the larger one",
			"{'spec':{'initContainers':[{'name':'i','resources':{'requests':"
			"{'memory':'20Gi'}}}],'containers':[{'name':'c'}]}}",
			"Unschedulable: Insufficient cpu, Insufficient memory"},
		{"ephemeral",
			"{'spec':{'containers':[{'name':'c','resources':{'requests':"
			"{'ephemeral-storage':'1'}}}]}}",
			"Unschedulable: Insufficient cpu, Insufficient ephemeral-storage"},
	};
	struct fixture fixture;

	fixture_init(&fixture, &bt_legacy_pod_fits_resources_plugin);
	add_full_node(&fixture);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		fixture_expect(
			rows[i].name, fixture_filter(&fixture, rows[i].pod, "n"), rows[i].expected);
		fixture_expect(rows[i].name, fixture_filter_alone(&fixture, rows[i].pod, "n"),
			rows[i].expected);
	}
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_pod_fits_resources__edge_05b_06_pod_count)
{
	struct fixture fixture;

	fixture_init(&fixture, &bt_legacy_pod_fits_resources_plugin);
	fixture_add_node(
		&fixture, "{'metadata':{'name':'n'},'status':{'allocatable':{'pods':'1'}}}");
	ck_assert_str_eq(fixture_filter(&fixture, "{}", "n"), "Success");
	fixture_add_pod(&fixture, "{'spec':{'nodeName':'n'}}");
	ck_assert_str_eq(fixture_filter(&fixture, "{}", "n"), "Unschedulable: Insufficient pods");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_pod_fits_resources__ignored_by_extender)
{
	static const char pod[] = "{'spec':{'containers':[{'name':'c','resources':{'requests':{'x/"
				  "y':'1','a/b':'1'}}}]}}";
	static const char json[] =
		"{\"apiVersion\":\"kubescheduler.config.k8s.io/v1\",\"kind\":"
		"\"KubeSchedulerConfiguration\",\"extenders\":[{\"urlPrefix\":\"http://e\","
		"\"filterVerb\":\"f\",\"weight\":1,\"managedResources\":["
		"{\"name\":\"x/y\",\"ignoredByScheduler\":true},"
		"{\"name\":\"a/b\",\"ignoredByScheduler\":false}]}]}";
	struct bt_framework framework = {0};
	struct fixture fixture;

	fixture_init(&fixture, &bt_legacy_pod_fits_resources_plugin);
	fixture_add_node(
		&fixture, "{'metadata':{'name':'n'},'status':{'allocatable':{'pods':'9'}}}");
	ck_assert_str_eq(fixture_filter(&fixture, pod, "n"),
		"Unschedulable: Insufficient a/b, Insufficient x/y");
	ck_assert_int_eq(bt_config_load(bt_str_from(json), NULL, &framework.config, NULL), 0);
	fixture.handle.framework = &framework;
	ck_assert_str_eq(fixture_filter(&fixture, pod, "n"), "Unschedulable: Insufficient a/b");
	bt_config_unref(framework.config);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_pod_fits_resources__node_without_object)
{
	static const struct bt_plugin_ops *const ops[] = {
		&bt_legacy_pod_fits_resources_plugin, &bt_legacy_general_predicates_plugin};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(ops); i++) {
		struct fixture fixture;
		struct bt_cycle_state cycle;
		struct bt_node_info node;
		struct bt_status status;

		fixture_init(&fixture, ops[i]);
		fixture_add_pod(&fixture, "{'spec':{'nodeName':'imaginary'}}");
		bt_node_info_init(&node, fixture.state,
			bt_node_table_find(&fixture.state->nodes, BT_STR("imaginary")));
		bt_cycle_state_init(&cycle, &fixture.arena, 1);
		status = ops[i]->filter(
			fixture.plugin, &cycle, fixture_pending(&fixture, "{}"), &node);
		ck_assert_str_eq(fixture_status_text(&fixture, status), "Error: node not found");
		bt_cycle_state_finish(&cycle);
		fixture_finish(&fixture);
	}
}
END_TEST

START_TEST(test_general_predicates__edge_05b_07_all_reasons)
{
	static const struct {
		const char *name;
		const char *pod;
		const char *expected;
	} rows[] = {
		{"too small and wrong name",
			"{'spec':{'nodeName':'other','containers':[{'name':'c','resources':"
			"{'requests':{'cpu':'1'}}}]}}",
			UAU "Insufficient cpu, node(s) didn't match the requested hostname"},
		{"everything",
			"{'spec':{'nodeName':'other','nodeSelector':{'disk':'hdd'},'containers':["
			"{'name':'c','ports':[{'hostPort':80}],'resources':{'requests':"
			"{'cpu':'1'}}}]}}",
			UAU "Insufficient cpu, node(s) didn't match the requested hostname, "
			    "node(s) didn't have free ports for the requested pod ports, "
			    "node(s) didn't match node selector"},
		{"what preemption can repair",
			"{'spec':{'containers':[{'name':'c','ports':[{'hostPort':80}],'resources':"
			"{'requests':{'cpu':'1'}}}]}}",
			"Unschedulable: Insufficient cpu, "
			"node(s) didn't have free ports for the requested pod ports"},
		{"fits", "{'spec':{'nodeName':'n','nodeSelector':{'disk':'ssd'}}}", "Success"},
	};
	struct fixture fixture;

	fixture_init(&fixture, &bt_legacy_general_predicates_plugin);
	add_full_node(&fixture);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		fixture_expect(
			rows[i].name, fixture_filter(&fixture, rows[i].pod, "n"), rows[i].expected);
	}
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_host_name__old_text)
{
	struct fixture fixture;

	fixture_init(&fixture, &bt_legacy_host_name_plugin);
	add_full_node(&fixture);
	ck_assert_str_eq(fixture_filter(&fixture, "{}", "n"), "Success");
	ck_assert_str_eq(fixture_filter(&fixture, "{'spec':{'nodeName':'n'}}", "n"), "Success");
	ck_assert_str_eq(fixture_filter(&fixture, "{'spec':{'nodeName':'m'}}", "n"),
		UAU "node(s) didn't match the requested hostname");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_match_node_selector__old_text)
{
	struct fixture fixture;

	fixture_init(&fixture, &bt_legacy_match_node_selector_plugin);
	add_full_node(&fixture);
	ck_assert_str_eq(fixture_filter(&fixture, "{'spec':{'nodeSelector':{'disk':'ssd'}}}", "n"),
		"Success");
	ck_assert_str_eq(fixture_filter(&fixture, "{'spec':{'nodeSelector':{'disk':'hdd'}}}", "n"),
		UAU "node(s) didn't match node selector");
	ck_assert_str_eq(fixture_filter(&fixture,
				 "{'spec':{'affinity':{'nodeAffinity':{"
				 "'requiredDuringSchedulingIgnoredDuringExecution':{"
				 "'nodeSelectorTerms':[{'matchExpressions':[{'key':'gpu',"
				 "'operator':'Exists'}]}]}}}}}",
				 "n"),
		UAU "node(s) didn't match node selector");
	fixture_finish(&fixture);
}
END_TEST

#define PORT_POD(kind, port) \
	"{'spec':{'" kind "':[{'name':'c','restartPolicy':'Always','ports':[" port "]}]}}"
#define PORTS_TAKEN "Unschedulable: node(s) didn't have free ports for the requested pod ports"

START_TEST(test_pod_fits_ports__edge_05b_23_port_numbers_only)
{
	static const struct {
		const char *pod;
		const char *numbers; /* message of PodFitsPorts */
		const char *triples; /* message of PodFitsHostPorts */
	} rows[] = {
		{PORT_POD("containers", "{'hostPort':80}"), PORTS_TAKEN, PORTS_TAKEN},
		{PORT_POD("containers", "{'hostPort':80,'hostIP':'10.0.0.9','protocol':'SCTP'}"),
			PORTS_TAKEN, "Success"},
		{PORT_POD("containers", "{'hostPort':81}"), "Success", "Success"},
		{PORT_POD("containers", "{'containerPort':80}"), "Success", "Success"},
		/* The legacy predicate predates sidecars and does not count them. */
		{PORT_POD("initContainers", "{'hostPort':80}"), "Success", "Success"},
	};
	static const struct bt_plugin_ops *const ops[] = {
		&bt_legacy_pod_fits_ports_plugin, &bt_legacy_pod_fits_host_ports_plugin};

	for (size_t k = 0; k < BT_ARRAY_LENGTH(ops); k++) {
		struct fixture fixture;

		fixture_init(&fixture, ops[k]);
		fixture_add_node(&fixture, "{'metadata':{'name':'n'}}");
		fixture_add_pod(&fixture,
			"{'spec':{'nodeName':'n','containers':[{'name':'c','ports':["
			"{'hostPort':80,'hostIP':'127.0.0.1'},"
			"{'hostPort':80,'hostIP':'10.0.0.1','protocol':'UDP'}]}]}}");
		for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
			fixture_expect(rows[i].pod, fixture_filter(&fixture, rows[i].pod, "n"),
				k == 0 ? rows[i].numbers : rows[i].triples);
		}
		fixture_finish(&fixture);
	}
}
END_TEST

/* A pod removed in a what-if frees its port numbers. */
START_TEST(test_pod_fits_ports__removed_pod)
{
	struct fixture fixture;
	struct bt_cycle_state cycle;
	struct bt_node_info node;
	struct bt_pod_info victim;
	struct bt_status status;
	const struct bt_pod_info *pod;

	fixture_init(&fixture, &bt_legacy_pod_fits_ports_plugin);
	add_full_node(&fixture);
	pod = fixture_pending(&fixture, PORT_POD("containers", "{'hostPort':80}"));
	bt_cycle_state_init(&cycle, &fixture.arena, 1);
	bt_node_info_init(&node, fixture.state, fixture_slot(&fixture, "n"));
	bt_node_info_pod_at(&node, 0, &victim);
	status = fixture.plugin->ops->filter(fixture.plugin, &cycle, pod, &node);
	ck_assert_str_eq(fixture_status_text(&fixture, status), PORTS_TAKEN);
	ck_assert_int_eq(bt_node_info_remove_pod(&node, &fixture.arena, &victim, NULL), 0);
	status = fixture.plugin->ops->filter(fixture.plugin, &cycle, pod, &node);
	ck_assert_str_eq(fixture_status_text(&fixture, status), "Success");
	bt_node_info_add_pod(&node, &fixture.arena, &victim);
	status = fixture.plugin->ops->filter(fixture.plugin, &cycle, pod, &node);
	ck_assert_str_eq(fixture_status_text(&fixture, status), PORTS_TAKEN);
	bt_cycle_state_finish(&cycle);
	fixture_finish(&fixture);
}
END_TEST

BT_TEST_MAIN("legacy_general_predicates", test_pod_fits_resources__edge_05b_05_over_committed_node,
	test_pod_fits_resources__edge_05b_06_pod_count,
	test_pod_fits_resources__ignored_by_extender, test_pod_fits_resources__node_without_object,
	test_general_predicates__edge_05b_07_all_reasons, test_host_name__old_text,
	test_match_node_selector__old_text, test_pod_fits_ports__edge_05b_23_port_numbers_only,
	test_pod_fits_ports__removed_pod)
