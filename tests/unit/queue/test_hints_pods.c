/* SPDX-License-Identifier: Apache-2.0 */
/* Hints of the plugins that read other pods. Spec: 04 (hints) sections 6.12, 6.13 and 6.17. */
#include "hint_rows.h"

#define NODE_ADD "Node", BT_ACTION_ADD
#define NODE_LABEL "Node", BT_ACTION_UPDATE_NODE_LABEL
#define NODE_TAINT "Node", BT_ACTION_UPDATE_NODE_TAINT
#define POD_ADD "Pod", BT_ACTION_ADD
#define POD_DELETE "Pod", BT_ACTION_DELETE
#define POD_LABEL "Pod", BT_ACTION_UPDATE_POD_LABEL
#define POD_TOLERATION "Pod", BT_ACTION_UPDATE_POD_TOLERATION
#define NODE(labels) "{'metadata':{'name':'n','labels':{" labels "}}}"
#define TAINTED(labels) \
	"{'metadata':{'name':'n','labels':{" labels "}},'spec':{'taints':[{'key':'k'}]}}"
#define CONSTRAINT(key, more) \
	"{'maxSkew':1,'topologyKey':'" key "','whenUnsatisfiable':'DoNotSchedule'," more \
	"'labelSelector':{'matchExpressions':[{'key':'foo','operator':'Exists'}]}}"
#define SPREAD(constraints) \
	"{'metadata':{'uid':'p'},'spec':{'topologySpreadConstraints':[" constraints "]}}"
#define ZONE_AND_NODE SPREAD(CONSTRAINT("zone", "") "," CONSTRAINT("node", ""))
#define PLACED(labels) "{'metadata':{'uid':'o','labels':{" labels "}},'spec':{'nodeName':'n'}}"

START_TEST(test_hints__edge_04h_30_spread_nodes)
{
	static const struct hint_row rows[] = {
		{"one key", NODE_ADD, ZONE_AND_NODE, NULL, NODE("'zone':'z'"), HINT_S},
		{"both keys", NODE_ADD, ZONE_AND_NODE, NULL, NODE("'zone':'z','node':'n'"), HINT_Q},
		{"node changed", NODE_LABEL, ZONE_AND_NODE, NODE("'zone':'z','node':'n'"),
			NODE("'zone':'z','node':'m'"), HINT_Q},
		{"another label", NODE_LABEL, ZONE_AND_NODE, NODE("'zone':'z','node':'n'"),
			NODE("'zone':'z','node':'n','x':'y'"), HINT_S},
		{"taints", NODE_TAINT, ZONE_AND_NODE, NODE("'zone':'z','node':'n'"),
			TAINTED("'zone':'z','node':'n'"), HINT_Q},
		{"taints, one key", NODE_TAINT, ZONE_AND_NODE, NODE("'zone':'z'"),
			TAINTED("'zone':'z'"), HINT_S},
	};

	CHECK_HINTS(&bt_pod_topology_spread_plugin, rows);
}
END_TEST

START_TEST(test_hints__edge_04h_31_spread_labels_of_placed_pods)
{
	static const struct hint_row rows[] = {
		{"another value", POD_LABEL, ZONE_AND_NODE, PLACED("'foo':'1'"),
			PLACED("'foo':'2'"), HINT_S},
		{"removed", POD_LABEL, ZONE_AND_NODE, PLACED("'foo':'1'"), PLACED(""), HINT_Q},
		{"another namespace", POD_LABEL, ZONE_AND_NODE,
			"{'metadata':{'uid':'o','namespace':'other','labels':{'foo':'1'}},"
			"'spec':{'nodeName':'n'}}",
			"{'metadata':{'uid':'o','namespace':'other'},'spec':{'nodeName':'n'}}",
			HINT_S},
	};

	CHECK_HINTS(&bt_pod_topology_spread_plugin, rows);
}
END_TEST

START_TEST(test_hints__edge_04h_32_spread_own_toleration)
{
#define TOLERATING(uid) "{'metadata':{'uid':'" uid "'},'spec':{'tolerations':[{'key':'k'}]}}"
	static const struct hint_row rows[] = {
		{"honor", POD_TOLERATION, SPREAD(CONSTRAINT("zone", "'nodeTaintsPolicy':'Honor',")),
			"{'metadata':{'uid':'p'}}", TOLERATING("p"), HINT_Q},
		{"ignore", POD_TOLERATION, SPREAD(CONSTRAINT("zone", "")),
			"{'metadata':{'uid':'p'}}", TOLERATING("p"), HINT_S},
		{"another pod", POD_TOLERATION,
			SPREAD(CONSTRAINT("zone", "'nodeTaintsPolicy':'Honor',")),
			"{'metadata':{'uid':'o'}}", TOLERATING("o"), HINT_S},
	};

	CHECK_HINTS(&bt_pod_topology_spread_plugin, rows);
}
END_TEST

#define TERM(selector, more) \
	"{'topologyKey':'zone'," more "'labelSelector':{'matchExpressions':[{'key':'" selector \
	"','operator':'Exists'}]}}"
#define NEAR(terms) \
	"{'spec':{'affinity':{'podAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':" \
	"[" terms "]}}}}"
#define APART(terms) \
	"{'spec':{'affinity':{'podAntiAffinity':{" \
	"'requiredDuringSchedulingIgnoredDuringExecution':[" terms "]}}}}"

START_TEST(test_hints__edge_04h_33_affinity_all_terms)
{
#define AAA_AND_BBB NEAR(TERM("aaa", "") "," TERM("bbb", ""))
	static const struct hint_row rows[] = {
		{"both now", POD_LABEL, AAA_AND_BBB, PLACED("'aaa':''"),
			PLACED("'aaa':'','bbb':''"), HINT_Q},
		{"neither", POD_LABEL, AAA_AND_BBB, PLACED("'aaa':''"), PLACED("'service':''"),
			HINT_S},
	};

	CHECK_HINTS(&bt_inter_pod_affinity_plugin, rows);
}
END_TEST

START_TEST(test_hints__edge_04h_34_anti_affinity_selector)
{
	static const struct hint_row rows[] = {
		{"into", POD_LABEL, APART(TERM("aaa", "")), PLACED(""), PLACED("'aaa':''"), HINT_S},
		{"out of", POD_LABEL, APART(TERM("aaa", "")), PLACED("'aaa':''"), PLACED(""),
			HINT_Q},
	};

	CHECK_HINTS(&bt_inter_pod_affinity_plugin, rows);
}
END_TEST

START_TEST(test_hints__edge_04h_35_anti_affinity_of_the_deleted_pod)
{
#define KEEPS_AWAY(key) \
	"{'spec':{'nodeName':'n','affinity':{'podAntiAffinity':{" \
	"'requiredDuringSchedulingIgnoredDuringExecution':[" TERM(key, "") "]}}}}"
	static const struct hint_row rows[] = {
		{"matched", POD_DELETE, "{'metadata':{'labels':{'app':'x'}}}", KEEPS_AWAY("app"),
			NULL, HINT_Q},
		{"did not match", POD_DELETE, "{'metadata':{'labels':{'app':'x'}}}",
			KEEPS_AWAY("other"), NULL, HINT_S},
	};

	CHECK_HINTS(&bt_inter_pod_affinity_plugin, rows);
}
END_TEST

START_TEST(test_hints__edge_04h_36_node_without_the_key)
{
	static const struct hint_row rows[] = {
		{"affinity", NODE_ADD, NEAR(TERM("aaa", "")), NULL, NODE(""), HINT_S},
		{"anti-affinity", NODE_ADD, APART(TERM("aaa", "")), NULL, NODE(""), HINT_Q},
	};

	CHECK_HINTS(&bt_inter_pod_affinity_plugin, rows);
}
END_TEST

START_TEST(test_hints__edge_04h_37_anti_affinity_key_of_a_node)
{
	static const struct hint_row rows[] = {
		{"gained", NODE_LABEL, APART(TERM("aaa", "")), NODE(""), NODE("'zone':'z'"),
			HINT_S},
		{"lost", NODE_LABEL, APART(TERM("aaa", "")), NODE("'zone':'z'"), NODE(""), HINT_Q},
		{"changed", NODE_LABEL, APART(TERM("aaa", "")), NODE("'zone':'z'"),
			NODE("'zone':'y'"), HINT_Q},
	};

	CHECK_HINTS(&bt_inter_pod_affinity_plugin, rows);
}
END_TEST

START_TEST(test_hints__edge_04h_38_namespace_selectors_see_no_labels)
{
#define SELECTED TERM("aaa", "'namespaceSelector':{'matchLabels':{'team':'a'}},")
#define IN_TEAM "{'metadata':{'namespace':'team-a','labels':{'aaa':''}},'spec':{'nodeName':'n'}}"
	static const struct hint_row rows[] = {
		{"selected", POD_ADD, NEAR(SELECTED), NULL, IN_TEAM, HINT_S},
		{"listed", POD_ADD, NEAR(TERM("aaa", "'namespaces':['team-a'],")), NULL, IN_TEAM,
			HINT_Q},
	};
	struct fixture fixture;

	fixture_init(&fixture, &bt_inter_pod_affinity_plugin);
	fixture_put(&fixture,
		"{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'team-a',"
		"'labels':{'team':'a'}}}");
	check_hints_in(&fixture, rows, BT_ARRAY_LENGTH(rows));
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_hints__edge_04h_51_gang_of_another_namespace)
{
#define MEMBER(namespace_) \
	"{'metadata':{'namespace':'" namespace_ "'},'spec':{'schedulingGroup':" \
	"{'podGroupName':'g'}}}"
	static const struct hint_row rows[] = {
		{"another namespace", POD_ADD, MEMBER("a"), NULL, MEMBER("b"), HINT_S},
		{"same", POD_ADD, MEMBER("a"), NULL, MEMBER("a"), HINT_Q},
		{"no member", POD_ADD, MEMBER("a"), NULL, "{'metadata':{'namespace':'a'}}", HINT_S},
		{"the group", "PodGroup", BT_ACTION_ADD, MEMBER("a"), NULL,
			"{'metadata':{'name':'g','namespace':'a'}}", HINT_Q},
		{"another group", "PodGroup", BT_ACTION_ADD, MEMBER("a"), NULL,
			"{'metadata':{'name':'h','namespace':'a'}}", HINT_S},
	};

	CHECK_HINTS(&bt_gang_scheduling_plugin, rows);
}
END_TEST

BT_TEST_MAIN("hints_pods", test_hints__edge_04h_30_spread_nodes,
	test_hints__edge_04h_31_spread_labels_of_placed_pods,
	test_hints__edge_04h_32_spread_own_toleration, test_hints__edge_04h_33_affinity_all_terms,
	test_hints__edge_04h_34_anti_affinity_selector,
	test_hints__edge_04h_35_anti_affinity_of_the_deleted_pod,
	test_hints__edge_04h_36_node_without_the_key,
	test_hints__edge_04h_37_anti_affinity_key_of_a_node,
	test_hints__edge_04h_38_namespace_selectors_see_no_labels,
	test_hints__edge_04h_51_gang_of_another_namespace)
