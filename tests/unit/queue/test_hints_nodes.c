/* SPDX-License-Identifier: Apache-2.0 */
/* Hints of the plugins that read nodes and resources. Spec: 04 (hints) sections 6.1 to 6.7. */
#include "hint_rows.h"

#define NODE_ADD "Node", BT_ACTION_ADD
#define NODE_ALLOCATABLE "Node", BT_ACTION_UPDATE_NODE_ALLOCATABLE
#define NODE_LABEL "Node", BT_ACTION_UPDATE_NODE_LABEL
#define NODE_TAINT "Node", BT_ACTION_UPDATE_NODE_TAINT
#define POD_DELETE "Pod", BT_ACTION_DELETE
#define POD_SCALE "Pod", BT_ACTION_UPDATE_POD_SCALE_DOWN
#define REQUEST(name, requests) \
	"{'metadata':{'uid':'" name "'},'spec':{'containers':[{'resources':{'requests':{" requests \
	"}}}]}}"
#define PLACED(name, requests) \
	"{'metadata':{'uid':'" name "'},'spec':{'nodeName':'n','containers':[{'resources':" \
	"{'requests':{" requests "}}}]}}"
#define NODE(allocatable) "{'metadata':{'name':'n'},'status':{'allocatable':{" allocatable "}}}"

START_TEST(test_hints__edge_04h_18_fit_pod_was_never_placed)
{
	static const struct hint_row rows[] = {
		{"never placed", POD_DELETE, REQUEST("p", "'cpu':'1'"), REQUEST("o", "'cpu':'1'"),
			NULL, HINT_S},
		{"placed", POD_DELETE, REQUEST("p", "'cpu':'1'"), PLACED("o", "'cpu':'1'"), NULL,
			HINT_Q},
		{"nominated", POD_DELETE, REQUEST("p", "'cpu':'1'"),
			"{'status':{'nominatedNodeName':'n'}}", NULL, HINT_Q},
	};

	CHECK_HINTS(&bt_node_resources_fit_plugin, rows);
}
END_TEST

START_TEST(test_hints__edge_04h_19_fit_another_pod_shrinks)
{
	static const struct hint_row rows[] = {
		{"memory", POD_SCALE, REQUEST("p", "'cpu':'1'"),
			PLACED("o", "'cpu':'2','memory':'2'"),
			PLACED("o", "'cpu':'2','memory':'1'"), HINT_S},
		{"cpu", POD_SCALE, REQUEST("p", "'cpu':'1'"), PLACED("o", "'cpu':'2','memory':'2'"),
			PLACED("o", "'cpu':'1','memory':'2'"), HINT_Q},
		{"not assigned", POD_SCALE, REQUEST("p", "'cpu':'1'"), REQUEST("o", "'cpu':'2'"),
			REQUEST("o", "'cpu':'1'"), HINT_S},
		{"itself", POD_SCALE, REQUEST("p", "'cpu':'1'"), REQUEST("p", "'memory':'2'"),
			REQUEST("p", "'memory':'1'"), HINT_Q},
	};

	CHECK_HINTS(&bt_node_resources_fit_plugin, rows);
}
END_TEST

START_TEST(test_hints__edge_04h_20_fit_node_too_small)
{
	static const struct hint_row rows[] = {
		{"small", NODE_ADD, REQUEST("p", "'memory':'2'"), NULL,
			NODE("'memory':'1','pods':'9'"), HINT_S},
		{"enough", NODE_ADD, REQUEST("p", "'memory':'2'"), NULL,
			NODE("'memory':'2','pods':'9'"), HINT_Q},
		{"no room for pods", NODE_ADD, REQUEST("p", "'memory':'2'"), NULL,
			NODE("'memory':'2'"), HINT_S},
	};

	CHECK_HINTS(&bt_node_resources_fit_plugin, rows);
}
END_TEST

START_TEST(test_hints__edge_04h_21_fit_what_grew_must_be_requested)
{
#define BOTH REQUEST("p", "'memory':'2','x.y/a':'1'")
	static const struct hint_row rows[] = {
		{"another resource", NODE_ALLOCATABLE, BOTH,
			NODE("'memory':'2','pods':'9','x.y/a':'2'"),
			NODE("'memory':'2','pods':'9','x.y/a':'1','x.y/b':'2'"), HINT_S},
		{"requested one", NODE_ALLOCATABLE, BOTH,
			NODE("'memory':'2','pods':'9','x.y/a':'1'"),
			NODE("'memory':'2','pods':'9','x.y/a':'2'"), HINT_Q},
		{"shrank", NODE_ALLOCATABLE, REQUEST("p", "'memory':'2'"),
			NODE("'memory':'4','pods':'9'"), NODE("'memory':'1','pods':'9'"), HINT_S},
	};

	CHECK_HINTS(&bt_node_resources_fit_plugin, rows);
}
END_TEST

START_TEST(test_hints__edge_04h_22_fit_more_pods)
{
	static const struct hint_row rows[] = {
		{"more", NODE_ALLOCATABLE, "{}", NODE("'pods':'110'"), NODE("'pods':'120'"),
			HINT_Q},
		{"cpu only", NODE_ALLOCATABLE, "{}", NODE("'pods':'110','cpu':'1'"),
			NODE("'pods':'110','cpu':'2'"), HINT_S},
	};

	CHECK_HINTS(&bt_node_resources_fit_plugin, rows);
}
END_TEST

START_TEST(test_hints__edge_04h_23_fit_device_class)
{
#define CLASS(name, spec) "{'metadata':{'name':'" name "'},'spec':{" spec "}}"
#define IMPLICIT REQUEST("p", "'deviceclass.resource.kubernetes.io/gpuclass':'1'")
	static const struct hint_row rows[] = {
		{"implicit", "DeviceClass", BT_ACTION_ADD, IMPLICIT, NULL, CLASS("gpuclass", ""),
			HINT_Q},
		{"another", "DeviceClass", BT_ACTION_ADD, IMPLICIT, NULL, CLASS("other", ""),
			HINT_S},
		{"explicit", "DeviceClass", BT_ACTION_ADD, REQUEST("p", "'x.y/gpu':'0'"), NULL,
			CLASS("other", "'extendedResourceName':'x.y/gpu'"), HINT_Q},
		{"same name as before", "DeviceClass", BT_ACTION_UPDATE,
			REQUEST("p", "'x.y/gpu':'1'"),
			CLASS("c", "'extendedResourceName':'x.y/gpu'"),
			CLASS("c", "'extendedResourceName':'x.y/gpu'"), HINT_S},
		{"another name than before", "DeviceClass", BT_ACTION_UPDATE,
			REQUEST("p", "'x.y/gpu':'1'"), CLASS("c", ""),
			CLASS("c", "'extendedResourceName':'x.y/gpu'"), HINT_Q},
		{"implicit names do not change", "DeviceClass", BT_ACTION_UPDATE, IMPLICIT,
			CLASS("gpuclass", ""),
			CLASS("gpuclass", "'extendedResourceName':'x.y/gpu'"), HINT_S},
	};

	check_hints_with(&bt_node_resources_fit_plugin, "DRAExtendedResource=true", NULL, rows,
		BT_ARRAY_LENGTH(rows));
}
END_TEST

#define LABELS(labels) "{'metadata':{'name':'n','labels':{" labels "}}}"
#define SELECTS "{'spec':{'nodeSelector':{'a':'1'}}}"

START_TEST(test_hints__edge_04h_24_affinity_label_comes_and_goes)
{
	static const struct hint_row rows[] = {
		{"lost", NODE_LABEL, SELECTS, LABELS("'a':'1'"), LABELS(""), HINT_S},
		{"gained", NODE_LABEL, SELECTS, LABELS(""), LABELS("'a':'1'"), HINT_Q},
		{"kept", NODE_LABEL, SELECTS, LABELS("'a':'1'"), LABELS("'a':'1','b':'2'"), HINT_S},
		{"added", NODE_ADD, SELECTS, NULL, LABELS("'a':'1'"), HINT_Q},
	};

	CHECK_HINTS(&bt_node_affinity_plugin, rows);
}
END_TEST

START_TEST(test_hints__edge_04h_25_added_affinity_is_not_compared_with_the_old_node)
{
	static const char args[] =
		"{'addedAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':"
		"{'nodeSelectorTerms':[{'matchExpressions':[{'key':'z','operator':'Exists'}]}]}}}";
	static const struct hint_row rows[] = {
		{"only new", NODE_LABEL, SELECTS, LABELS("'a':'1'"), LABELS("'a':'1','z':'1'"),
			HINT_S},
		{"not even new", NODE_LABEL, SELECTS, LABELS(""), LABELS("'a':'1'"), HINT_S},
	};

	check_hints_with(&bt_node_affinity_plugin, NULL, args, rows, BT_ARRAY_LENGTH(rows));
}
END_TEST

#define TAINTS(taints) "{'metadata':{'name':'n'},'spec':{'taints':[" taints "]}}"
#define TAINT(key, value, effect) "{'key':'" key "','value':'" value "','effect':'" effect "'}"
#define TOLERATES "{'spec':{'tolerations':[{'key':'k','value':'user2'}]}}"

START_TEST(test_hints__edge_04h_26_taint_becomes_tolerated)
{
	static const struct hint_row rows[] = {
		{"tolerated now", NODE_TAINT, TOLERATES, TAINTS(TAINT("k", "user1", "NoSchedule")),
			TAINTS(TAINT("k", "user2", "NoSchedule")), HINT_Q},
		{"one more", NODE_TAINT, TOLERATES, TAINTS(TAINT("k", "user1", "NoSchedule")),
			TAINTS(TAINT("k", "user1", "NoSchedule") "," TAINT("l", "", "NoSchedule")),
			HINT_S},
	};

	CHECK_HINTS(&bt_taint_toleration_plugin, rows);
}
END_TEST

START_TEST(test_hints__edge_04h_27_soft_taints)
{
	static const struct hint_row rows[] = {
		{"soft", NODE_TAINT, "{}", TAINTS(TAINT("k", "1", "PreferNoSchedule")),
			TAINTS(TAINT("k", "2", "PreferNoSchedule")), HINT_S},
	};
	struct fixture fixture;

	CHECK_HINTS(&bt_taint_toleration_plugin, rows);
	/*
	 * NodeName registers no taint event; the queue adds the taint event: see test_queue_events.
	 */
	fixture_init(&fixture, &bt_node_name_plugin);
	ck_assert_int_eq(fixture_hint(&fixture, NODE_TAINT, fixture_pending(&fixture, "{}"),
				 rows[0].old_json, rows[0].new_json, NULL),
		FIXTURE_NOT_REGISTERED);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_hints__edge_04h_28_cordoned_nodes)
{
#define CORDONED "{'metadata':{'name':'n'},'spec':{'unschedulable':true}}"
	static const struct hint_row rows[] = {
		{"cordoned node added", NODE_ADD, "{}", NULL, CORDONED, HINT_S},
		{"taint of a schedulable node", NODE_TAINT, "{}", TAINTS(""),
			TAINTS(TAINT("k", "1", "NoSchedule")), HINT_S},
		{"uncordoned", NODE_TAINT, "{}", CORDONED, TAINTS(""), HINT_Q},
	};

	CHECK_HINTS(&bt_node_unschedulable_plugin, rows);
}
END_TEST

START_TEST(test_hints__edge_04h_29_ports)
{
#define PORT(node, port) \
	"{'spec':{" node "'containers':[{'ports':[{'hostPort':" port ",'protocol':'TCP'}]}]}}"
	static const struct hint_row rows[] = {
		{"same", POD_DELETE, PORT("", "8080"), PORT("'nodeName':'n',", "8080"), NULL,
			HINT_Q},
		{"another", POD_DELETE, PORT("", "8081"), PORT("'nodeName':'n',", "8080"), NULL,
			HINT_S},
		{"not placed", POD_DELETE, PORT("", "8080"), PORT("", "8080"), NULL, HINT_S},
	};

	CHECK_HINTS(&bt_node_ports_plugin, rows);
}
END_TEST

BT_TEST_MAIN("hints_nodes", test_hints__edge_04h_18_fit_pod_was_never_placed,
	test_hints__edge_04h_19_fit_another_pod_shrinks, test_hints__edge_04h_20_fit_node_too_small,
	test_hints__edge_04h_21_fit_what_grew_must_be_requested,
	test_hints__edge_04h_22_fit_more_pods, test_hints__edge_04h_23_fit_device_class,
	test_hints__edge_04h_24_affinity_label_comes_and_goes,
	test_hints__edge_04h_25_added_affinity_is_not_compared_with_the_old_node,
	test_hints__edge_04h_26_taint_becomes_tolerated, test_hints__edge_04h_27_soft_taints,
	test_hints__edge_04h_28_cordoned_nodes, test_hints__edge_04h_29_ports)
