/* SPDX-License-Identifier: Apache-2.0 */
/* Filtering of PodTopologySpread: spec 06 section 2.17, cases 1 to 28, and 42 to 43. */
#include "framework/cluster_event.h"
#include "plugins/pod_topology_spread.h"
#include "test_main.h"
#include "topology_fixture.h"

#define EXISTS_FOO ",'labelSelector':{'matchExpressions':[{'key':'foo','operator':'Exists'}]}"
#define HARD(key, skew, more) \
	"{'topologyKey':'" key "','maxSkew':" skew ",'whenUnsatisfiable':'DoNotSchedule'" more "}"
#define SOFT(key, skew, more) \
	"{'topologyKey':'" key "','maxSkew':" skew ",'whenUnsatisfiable':'ScheduleAnyway'" more "}"
#define POD(labels, constraints) \
	"{'metadata':{'labels':{" labels "}},'spec':{'topologySpreadConstraints':[" constraints \
	"]}}"
#define POD_WITH(labels, constraints, spec) \
	"{'metadata':{'labels':{" labels "}},'spec':{'topologySpreadConstraints':[" constraints \
	"]," spec "}}"
#define FOO "'foo':''"
#define Z(zone) "'zone':'" zone "'"
#define ZN(zone, node) "'zone':'" zone "','node':'" node "'"

/* Adds nodes a and b in z1, x and y in z2; each node's label `node` is the node's name. */
static void add_four_nodes(struct fixture *f)
{
	fixture_add_node(f, NODE("a", ZN("z1", "a")));
	fixture_add_node(f, NODE("b", ZN("z1", "b")));
	fixture_add_node(f, NODE("x", ZN("z2", "x")));
	fixture_add_node(f, NODE("y", ZN("z2", "y")));
}

static void add_counts(struct fixture *f, uint32_t a, uint32_t b, uint32_t x, uint32_t y)
{
	topology_add_pods(f, "a", FOO, a);
	topology_add_pods(f, "b", FOO, b);
	topology_add_pods(f, "x", FOO, x);
	topology_add_pods(f, "y", FOO, y);
}

/** Builds nodes a, b, x, y with these numbers of pods and checks one pod. */
static void check_counts(const uint32_t counts[4], const char *pod, const char *expected)
{
	struct fixture f;

	fixture_init(&f, &bt_pod_topology_spread_plugin);
	add_four_nodes(&f);
	add_counts(&f, counts[0], counts[1], counts[2], counts[3]);
	topology_expect_verdicts(&f, pod, expected);
	fixture_finish(&f);
}

static void check_with_args(const char *args, const char *pod, const char *expected)
{
	struct fixture f;

	fixture_init_with(&f, &bt_pod_topology_spread_plugin, NULL, args);
	topology_expect_verdicts(&f, pod, expected);
	fixture_finish(&f);
}

START_TEST(test_pod_topology_spread__edge_06_01_no_constraints)
{
	struct fixture f;

	fixture_init(&f, &bt_pod_topology_spread_plugin);
	add_four_nodes(&f);
	topology_expect_verdicts(&f, "{'metadata':{'labels':{'a':'b'}}}", "Skip");
	topology_expect_scores(&f, "{'metadata':{'labels':{'a':'b'}}}", "Skip");
	fixture_finish(&f);
}
END_TEST

START_TEST(test_pod_topology_spread__edge_06_02_own_list_hides_defaults)
{
	check_with_args(
		"{'defaultingType':'List','defaultConstraints':[" HARD("node", "1", "") "]}",
		POD(FOO, SOFT("zone", "1", EXISTS_FOO)), "Skip");
}
END_TEST

START_TEST(test_pod_topology_spread__edge_06_03_hard_only_scores_nothing)
{
	struct fixture f;

	fixture_init(&f, &bt_pod_topology_spread_plugin);
	add_four_nodes(&f);
	topology_expect_scores(&f, POD(FOO, HARD("zone", "1", EXISTS_FOO)), "Skip");
	fixture_finish(&f);
}
END_TEST

START_TEST(test_pod_topology_spread__edge_06_04_null_selector)
{
	check_counts((uint32_t[4]){3, 0, 0, 0}, POD(FOO, HARD("node", "1", "")), "a:P b:P x:P y:P");
}
END_TEST

START_TEST(test_pod_topology_spread__edge_06_05_empty_selector_counts_nothing)
{
	check_counts((uint32_t[4]){5, 0, 0, 0}, POD(FOO, HARD("zone", "1", ",'labelSelector':{}")),
		"a:P b:P x:P y:P");
}
END_TEST

START_TEST(test_pod_topology_spread__edge_06_06_empty_selector_counts_nominated_pods)
{
	static const struct topology_step steps[] = {{1, "a", "{'metadata':{'labels':{}}}"}};
	struct fixture f;

	fixture_init(&f, &bt_pod_topology_spread_plugin);
	add_four_nodes(&f);
	topology_expect_after(
		&f, POD(FOO, HARD("zone", "1", ",'labelSelector':{}")), "a", steps, 1, "S");
	fixture_finish(&f);
}
END_TEST

START_TEST(test_pod_topology_spread__edge_06_07_even_zones)
{
	check_counts((uint32_t[4]){2, 1, 0, 3}, POD(FOO, HARD("zone", "1", EXISTS_FOO)),
		"a:P b:P x:P y:P");
}
END_TEST

START_TEST(test_pod_topology_spread__edge_06_08_nodes)
{
	check_counts((uint32_t[4]){2, 1, 0, 3}, POD(FOO, HARD("node", "1", EXISTS_FOO)),
		"a:S b:S x:P y:S");
	check_counts((uint32_t[4]){2, 1, 0, 3}, POD(FOO, HARD("node", "2", EXISTS_FOO)),
		"a:S b:P x:P y:S");
}
END_TEST

START_TEST(test_pod_topology_spread__edge_06_09_no_self_match)
{
	check_counts((uint32_t[4]){2, 1, 0, 3}, POD("'bar':''", HARD("node", "1", EXISTS_FOO)),
		"a:S b:P x:P y:S");
}
END_TEST

START_TEST(test_pod_topology_spread__edge_06_10_node_without_key)
{
	struct fixture f;

	fixture_init(&f, &bt_pod_topology_spread_plugin);
	fixture_add_node(&f, NODE("a", Z("z1")));
	fixture_add_node(&f, NODE("b", "'other':'z1'"));
	fixture_add_node(&f, NODE("x", Z("z2")));
	fixture_add_node(&f, NODE("y", Z("z2")));
	add_counts(&f, 1, 1, 1, 1);
	topology_expect_verdicts(&f, POD(FOO, HARD("zone", "1", EXISTS_FOO)), "a:P b:L x:S y:S");
	fixture_finish(&f);
}
END_TEST

START_TEST(test_pod_topology_spread__edge_06_11_no_node_has_the_key)
{
	check_counts((uint32_t[4]){0, 0, 0, 0}, POD(FOO, HARD("rack", "1", EXISTS_FOO)),
		"a:L b:L x:L y:L");
}
END_TEST

/* Adds nodes a, b and y; the caller adds node x without the label `node`. */
static void add_nodes_without_x(struct fixture *f)
{
	fixture_add_node(f, NODE("a", ZN("z1", "a")));
	fixture_add_node(f, NODE("b", ZN("z1", "b")));
	fixture_add_node(f, NODE("y", ZN("z2", "y")));
}

START_TEST(test_pod_topology_spread__edge_06_12_skew_before_missing_label)
{
	struct fixture f;

	fixture_init(&f, &bt_pod_topology_spread_plugin);
	add_nodes_without_x(&f);
	fixture_add_node(&f, NODE("x", Z("z1")));
	add_counts(&f, 2, 1, 0, 0);
	topology_expect_verdicts(&f,
		POD(FOO, HARD("zone", "1", EXISTS_FOO) "," HARD("node", "3", EXISTS_FOO)),
		"a:S b:S x:S y:P");
	fixture_finish(&f);
}
END_TEST

START_TEST(test_pod_topology_spread__edge_06_13_missing_second_key)
{
	struct fixture f;

	fixture_init(&f, &bt_pod_topology_spread_plugin);
	add_nodes_without_x(&f);
	fixture_add_node(&f, NODE("x", Z("z2")));
	add_counts(&f, 1, 0, 5, 1);
	topology_expect_verdicts(&f,
		POD(FOO, HARD("zone", "1", EXISTS_FOO) "," HARD("node", "1", EXISTS_FOO)),
		"a:S b:P x:L y:S");
	fixture_finish(&f);
}
END_TEST

/*
 * Builds zone z1 with two pods, zone z2 with c pods, and zone z3 with one pod if expected names
 * node x. Each zone has one node.
 */
static void check_zones(uint32_t c, const char *pod, const char *expected)
{
	struct fixture f;

	fixture_init(&f, &bt_pod_topology_spread_plugin);
	fixture_add_node(&f, NODE("a", Z("z1")));
	fixture_add_node(&f, NODE("b", Z("z2")));
	topology_add_pods(&f, "a", FOO, 2);
	topology_add_pods(&f, "b", FOO, c);
	if (strchr(expected, 'x') != NULL) {
		fixture_add_node(&f, NODE("x", Z("z3")));
		topology_add_pods(&f, "x", FOO, 1);
	}
	topology_expect_verdicts(&f, pod, expected);
	fixture_finish(&f);
}

START_TEST(test_pod_topology_spread__edge_06_14_min_domains)
{
	check_zones(2, POD(FOO, HARD("zone", "2", ",'minDomains':4" EXISTS_FOO)), "a:S b:S x:P");
	check_zones(2, POD(FOO, HARD("zone", "2", ",'minDomains':2" EXISTS_FOO)), "a:P b:P x:P");
}
END_TEST

START_TEST(test_pod_topology_spread__edge_06_15_min_domains_of_two_zones)
{
	check_zones(1, POD(FOO, HARD("zone", "2", ",'minDomains':3" EXISTS_FOO)), "a:S b:P");
	check_zones(1, POD(FOO, HARD("zone", "2", ",'minDomains':1" EXISTS_FOO)), "a:P b:P");
}
END_TEST

START_TEST(test_pod_topology_spread__edge_06_16_no_node_is_eligible)
{
	check_counts((uint32_t[4]){3, 0, 0, 0},
		POD_WITH(FOO, HARD("zone", "1", EXISTS_FOO), "'nodeSelector':{'no':'such'}"),
		"a:P b:P x:P y:P");
}
END_TEST

START_TEST(test_pod_topology_spread__edge_06_17_node_affinity_policy)
{
	struct fixture f;

	fixture_init(&f, &bt_pod_topology_spread_plugin);
	fixture_add_node(&f, NODE("a", "'foo':'','node':'a'"));
	fixture_add_node(&f, NODE("b", "'foo':'','node':'b'"));
	fixture_add_node(&f, NODE("x", "'foo':'','node':'x'"));
	fixture_add_node(&f, NODE("y", "'node':'y'"));
	add_counts(&f, 1, 1, 0, 1);
	topology_expect_verdicts(&f,
		POD_WITH(FOO, HARD("node", "1", EXISTS_FOO), "'nodeSelector':{'foo':''}"),
		"a:S b:S x:P y:P");
	topology_expect_verdicts(&f,
		POD_WITH(FOO, HARD("node", "1", ",'nodeAffinityPolicy':'Ignore'" EXISTS_FOO),
			"'nodeSelector':{'foo':''}"),
		"a:S b:S x:P y:S");
	fixture_finish(&f);
}
END_TEST

START_TEST(test_pod_topology_spread__edge_06_18_node_taints_policy)
{
	static const char *const honor =
		POD(FOO, HARD("node", "1", ",'nodeTaintsPolicy':'Honor'" EXISTS_FOO));

	for (int soft = 0; soft < 2; soft++) {
		struct fixture f;

		fixture_init(&f, &bt_pod_topology_spread_plugin);
		add_nodes_without_x(&f);
		fixture_add_node(&f, NODE("x", ZN("z2", "x")));
		bt_state_update_node(f.state, NULL,
			fixture_node(&f,
				soft ? "{'metadata':{'name':'y','labels':{'zone':'z2','node':'y'}},"
				       "'spec':{'taints':[{'key':'k','effect':'PreferNoSchedule'}]}"
				       "}"
				     : "{'metadata':{'name':'y','labels':{'zone':'z2','node':'y'}},"
				       "'spec':{'taints':[{'key':'k','effect':'NoSchedule'}]}}"));
		add_counts(&f, 1, 1, 0, 1);
		topology_expect_verdicts(&f, honor, soft ? "a:S b:S x:P y:S" : "a:S b:S x:P y:P");
		topology_expect_verdicts(
			&f, POD(FOO, HARD("node", "1", EXISTS_FOO)), "a:S b:S x:P y:S");
		fixture_finish(&f);
	}
}
END_TEST

START_TEST(test_pod_topology_spread__edge_06_19_policies_are_per_constraint)
{
	struct fixture f;

	fixture_init(&f, &bt_pod_topology_spread_plugin);
	fixture_add_node(&f, NODE("a", "'ok':''," ZN("z1", "a")));
	fixture_add_node(&f, NODE("b", ZN("z1", "b")));
	fixture_add_node(&f, NODE("x", "'ok':''," ZN("z2", "x")));
	topology_add_pods(&f, "b", FOO, 2);
	/* Counts by zone: 0 and 0. By node: a 0, b 2, x 0. */
	topology_expect_verdicts(&f,
		POD_WITH(FOO,
			HARD("zone", "1", EXISTS_FOO) "," HARD(
				"node", "1", ",'nodeAffinityPolicy':'Ignore'" EXISTS_FOO),
			"'nodeSelector':{'ok':''}"),
		"a:P b:S x:P");
	topology_expect_verdicts(&f,
		POD_WITH(FOO, HARD("zone", "1", EXISTS_FOO), "'nodeSelector':{'ok':''}"),
		"a:P b:P x:P");
	fixture_finish(&f);
}
END_TEST

#define TERMINATING \
	"{'metadata':{'labels':{'foo':''},'deletionTimestamp':'2026-01-01T00:00:00Z'}," \
	"'spec':{'nodeName':'a'}}"

START_TEST(test_pod_topology_spread__edge_06_20_terminating_pods_do_not_count)
{
	struct fixture f;

	fixture_init(&f, &bt_pod_topology_spread_plugin);
	fixture_add_node(&f, NODE("a", ZN("z1", "a")));
	fixture_add_node(&f, NODE("b", ZN("z1", "b")));
	fixture_add_pod(&f, TERMINATING);
	topology_add_pods(&f, "b", FOO, 1);
	topology_expect_verdicts(&f, POD(FOO, HARD("node", "1", EXISTS_FOO)), "a:P b:S");
	fixture_finish(&f);
}
END_TEST

START_TEST(test_pod_topology_spread__edge_06_21_removing_a_terminating_pod)
{
	static const struct topology_step terminating[] = {{-1, "a", TERMINATING}};
	static const char *const pod = POD(FOO, HARD("node", "1", EXISTS_FOO));
	static const char *const other = POD("'bar':''", HARD("node", "0", EXISTS_FOO));
	struct fixture f;

	fixture_init(&f, &bt_pod_topology_spread_plugin);
	fixture_add_node(&f, NODE("a", ZN("z1", "a")));
	fixture_add_node(&f, NODE("b", ZN("z1", "b")));
	fixture_add_pod(&f, TERMINATING);
	topology_add_pods(&f, "b", FOO, 1);
	/*
	 * The count of node a becomes -1, which is also the minimum. Node a accepts the pod,
	 * because the skew is (-1) + 1 - (-1) = 1.
	 */
	topology_expect_after(&f, pod, "a", terminating, 1, "P");
	topology_expect_after(&f, other, "a", terminating, 1, "P");
	fixture_finish(&f);
}
END_TEST

START_TEST(test_pod_topology_spread__edge_06_22_other_namespaces)
{
	static const struct topology_step elsewhere[] = {
		{1, "x", "{'metadata':{'namespace':'other','labels':{'foo':''}}}"}};
	struct fixture f;

	fixture_init(&f, &bt_pod_topology_spread_plugin);
	add_four_nodes(&f);
	fixture_add_pod(&f,
		"{'metadata':{'namespace':'other','labels':{'foo':''}},'spec':{'nodeName':'a'}}");
	topology_expect_verdicts(&f, POD(FOO, HARD("zone", "1", EXISTS_FOO)), "a:P b:P x:P y:P");
	topology_expect_after(&f, POD(FOO, HARD("zone", "1", EXISTS_FOO)), "x", elsewhere, 1, "P");
	fixture_finish(&f);
}
END_TEST

START_TEST(test_pod_topology_spread__edge_06_23_added_pod_on_a_node_without_a_key)
{
	static const struct topology_step steps[] = {{1, "x", "{'metadata':{'labels':{'foo':''}}}"},
		{1, "x", "{'metadata':{'labels':{'foo':''}}}"}};
	struct fixture f;

	fixture_init(&f, &bt_pod_topology_spread_plugin);
	add_nodes_without_x(&f);
	fixture_add_node(&f, NODE("x", Z("z2")));
	/*
	 * If the added pods counted, z2 would exceed the skew, and the verdict would be S instead
	 * of L.
	 */
	topology_expect_after(&f,
		POD(FOO, HARD("zone", "1", EXISTS_FOO) "," HARD("node", "9", EXISTS_FOO)), "x",
		steps, 2, "L");
	fixture_finish(&f);
}
END_TEST

START_TEST(test_pod_topology_spread__edge_06_24_same_key_twice)
{
	struct fixture f;

	fixture_init(&f, &bt_pod_topology_spread_plugin);
	add_four_nodes(&f);
	add_counts(&f, 1, 0, 0, 0);
	topology_add_pods(&f, "x", "'bar':''", 1);
	topology_expect_verdicts(&f,
		POD("'foo':'','bar':''",
			HARD("zone", "1", EXISTS_FOO) "," HARD("zone", "1",
				",'labelSelector':{'matchExpressions':[{'key':'bar','operator':'"
				"Exists'}]}")),
		"a:S b:S x:S y:S");
	topology_expect_verdicts(&f, POD(FOO, HARD("zone", "1", EXISTS_FOO)), "a:S b:S x:P y:P");
	fixture_finish(&f);
}
END_TEST

START_TEST(test_pod_topology_spread__edge_06_25_match_label_keys)
{
	struct fixture f;

	fixture_init(&f, &bt_pod_topology_spread_plugin);
	add_four_nodes(&f);
	topology_add_pods(&f, "a", "'foo':'','app':'x'", 1);
	topology_add_pods(&f, "x", "'foo':'','app':'y'", 3);
	topology_expect_verdicts(&f,
		POD("'foo':'','app':'x'",
			HARD("zone", "1", ",'matchLabelKeys':['app']" EXISTS_FOO)),
		"a:S b:S x:P y:P");
	topology_expect_verdicts(&f,
		POD("'foo':''", HARD("zone", "2", ",'matchLabelKeys':['app']" EXISTS_FOO)),
		"a:P b:P x:S y:S");
	topology_expect_verdicts(&f,
		POD("'foo':'','app':'x'", HARD("zone", "1", ",'matchLabelKeys':['app']")),
		"a:P b:P x:P y:P");
	topology_expect_verdicts(&f,
		POD("'foo':'','app':'x'",
			HARD("zone", "1", ",'matchLabelKeys':['app'],'labelSelector':{}")),
		"a:S b:S x:P y:P");
	fixture_finish(&f);
}
END_TEST

START_TEST(test_pod_topology_spread__match_label_keys_gate_off)
{
	struct fixture f;

	fixture_init_with(&f, &bt_pod_topology_spread_plugin,
		"MatchLabelKeysInPodTopologySpread=false,"
		"MatchLabelKeysInPodTopologySpreadSelectorMerge=false",
		NULL);
	add_four_nodes(&f);
	topology_add_pods(&f, "x", "'foo':'','app':'y'", 3);
	topology_expect_verdicts(&f,
		POD("'foo':'','app':'x'",
			HARD("zone", "1", ",'matchLabelKeys':['app']" EXISTS_FOO)),
		"a:P b:P x:S y:S");
	fixture_finish(&f);
}
END_TEST

#define DEFAULT_LIST \
	"{'defaultingType':'List','defaultConstraints':[" HARD("node", "3", "") "," SOFT( \
		"node", "2", "") "," HARD("rack", "5", "") "]}"
#define SERVICE(name, selector) \
	"{'metadata':{'name':'" name "','namespace':'default'},'spec':{'selector':{" selector "}}" \
	"}"

START_TEST(test_pod_topology_spread__edge_06_26_default_constraints)
{
	struct fixture f;

	fixture_init_with(&f, &bt_pod_topology_spread_plugin, NULL, DEFAULT_LIST);
	topology_add_object(&f, BT_KIND_SERVICE, SERVICE("s", "'foo':'bar'"));
	topology_expect_verdicts(&f, "{'metadata':{'labels':{'foo':'bar'}}}", "Success");
	fixture_add_node(&f, NODE("a", "'rack':'r','node':'a'"));
	fixture_add_node(&f, NODE("b", "'rack':'r','node':'b'"));
	fixture_add_node(&f, NODE("c", "'node':'c'"));
	topology_add_pods(&f, "a", "'foo':'bar'", 3);
	topology_add_pods(&f, "a", "'foo':'other'", 9);
	topology_expect_verdicts(&f, "{'metadata':{'labels':{'foo':'bar'}}}", "a:S b:P c:L");
	fixture_finish(&f);
}
END_TEST

START_TEST(test_pod_topology_spread__edge_06_27_no_service_no_default)
{
	struct fixture f;

	fixture_init_with(&f, &bt_pod_topology_spread_plugin, NULL, DEFAULT_LIST);
	topology_add_object(&f, BT_KIND_SERVICE, SERVICE("s", "'foo':'bar'"));
	topology_expect_verdicts(&f, "{'metadata':{'labels':{'foo':'other'}}}", "Skip");
	fixture_finish(&f);
}
END_TEST

#define OWNED(labels, version, kind) \
	"{'metadata':{'labels':{" labels "},'ownerReferences':[{'apiVersion':'" version \
	"','kind':'" kind "','name':'o','controller':true}]}}"

/*
 * Builds nodes with two pods each: a with labels foo and bar, b with label foo, c with label bar;
 * and services and owners that select these pods.
 */
static void check_owner(const char *pod, const char *expected)
{
	struct fixture f;

	fixture_init_with(&f, &bt_pod_topology_spread_plugin, NULL,
		"{'defaultingType':'List','defaultConstraints':[" HARD("node", "1", "") "]}");
	fixture_add_node(&f, NODE("a", "'node':'a'"));
	fixture_add_node(&f, NODE("b", "'node':'b'"));
	fixture_add_node(&f, NODE("c", "'node':'c'"));
	topology_add_pods(&f, "a", "'foo':'1','bar':'1'", 2);
	topology_add_pods(&f, "b", "'foo':'1'", 2);
	topology_add_pods(&f, "c", "'bar':'1'", 2);
	topology_add_object(&f, BT_KIND_SERVICE, SERVICE("s1", "'foo':'1'"));
	topology_add_object(&f, BT_KIND_SERVICE, SERVICE("s2", "'bar':'1'"));
	topology_add_object(&f, BT_KIND_REPLICA_SET,
		"{'metadata':{'name':'o','namespace':'default'},"
		"'spec':{'selector':{'matchLabels':{'bar':'1'}}}}");
	topology_add_object(&f, BT_KIND_STATEFUL_SET,
		"{'metadata':{'name':'o','namespace':'default'},"
		"'spec':{'selector':{'matchLabels':{'foo':'1'}}}}");
	topology_add_object(&f, BT_KIND_REPLICATION_CONTROLLER,
		"{'metadata':{'name':'o','namespace':'default'},'spec':{'selector':{'foo':'1'}}}");
	topology_expect_verdicts(&f, pod, expected);
	fixture_finish(&f);
}

START_TEST(test_pod_topology_spread__edge_06_28_default_selector)
{
	static const char *const none = "{'metadata':{'labels':{'x':'y'},'ownerReferences':[{'"
					"apiVersion':'apps/v1','kind':'ReplicaSet','name':'gone','"
					"controller':true}]}}";

	check_owner(none, "Skip");
	/* Two services: pods with both labels count. */
	check_owner("{'metadata':{'labels':{'foo':'1','bar':'1'}}}", "a:S b:P c:P");
	/*
	 * The selectors of service foo and ReplicaSet bar are combined: pods with both labels
	 * count.
	 */
	check_owner(OWNED("'foo':'1'", "apps/v1", "ReplicaSet"), "a:S b:P c:P");
	check_owner(OWNED("'x':'y'", "apps/v1", "ReplicaSet"), "a:S b:P c:S");
	check_owner(OWNED("'x':'y'", "apps/v1", "StatefulSet"), "a:S b:S c:P");
	check_owner(OWNED("'x':'y'", "v1", "ReplicationController"), "a:S b:S c:P");
	check_owner(OWNED("'x':'y'", "apps/v1beta1", "ReplicaSet"), "Skip");
	check_owner(OWNED("'x':'y'", "apps/v1", "Deployment"), "Skip");
}
END_TEST

/** A cycle costs the same however many services have the selector. */
START_TEST(test_pod_topology_spread__services_of_one_selector)
{
	struct fixture f;
	struct bt_cycle_state cycle;
	struct bt_pre_filter_result result = {0};

	fixture_init_with(&f, &bt_pod_topology_spread_plugin, NULL, DEFAULT_LIST);
	topology_add_object(&f, BT_KIND_SERVICE, SERVICE("s1", "'foo':'1'"));
	topology_add_object(&f, BT_KIND_SERVICE, SERVICE("s2", "'bar':'1','foo':'1'"));
	topology_add_object(&f, BT_KIND_SERVICE, SERVICE("s3", "'foo':'1'"));
	fixture_add_node(&f, NODE("a", "'node':'a'"));
	bt_cycle_state_init(&cycle, &f.arena, 1);
	struct bt_status status = f.plugin->ops->pre_filter(f.plugin, &cycle,
		fixture_pending(&f, "{'metadata':{'labels':{'foo':'1','bar':'1'}}}"), &result);

	ck_assert(bt_status_is_success(&status));
	const struct bt_spread_filter_data *data = cycle.pre_filter_data[0];
	ck_assert_uint_eq(data->list.items[0].selector.requirement_count, 2);
	bt_cycle_state_finish(&cycle);
	fixture_finish(&f);
}
END_TEST

START_TEST(test_pod_topology_spread__errors)
{
	struct fixture f;

	fixture_init(&f, &bt_pod_topology_spread_plugin);
	fixture_add_node(&f, NODE("a", Z("z1")));
	topology_expect_verdicts(&f,
		POD(FOO,
			HARD("zone", "1",
				",'labelSelector':{'matchExpressions':[{'key':'a','operator':'Foo'}"
				"]}")),
		"Error: get constraints from pod: obtaining pod's hard topology spread "
		"constraints: \"Foo\" is not a valid label selector operator");
	fixture_expect("no state", fixture_filter_alone(&f, "{}", "a"),
		"Error: reading \"PreFilterPodTopologySpread\" from cycleState: not found");
	fixture_finish(&f);
}
END_TEST

START_TEST(test_pod_topology_spread__signature)
{
	struct fixture f;

	fixture_init(&f, &bt_pod_topology_spread_plugin);
	fixture_expect("own", fixture_sign(&f, POD(FOO, HARD("zone", "1", ""))),
		"Unschedulable: pods with topology constraints are not signable");
	fixture_expect("default", fixture_sign(&f, "{}"),
		"Unschedulable: pods with default topology constraints are not signable");
	fixture_finish(&f);
	fixture_init_with(&f, &bt_pod_topology_spread_plugin, NULL, "{'defaultingType':'List'}");
	fixture_expect("none", fixture_sign(&f, "{}"), "");
	fixture_finish(&f);
}
END_TEST

/* --- hints --- */

struct hint_row {
	const char *name;
	uint32_t action;
	const char *before;
	const char *after;
	enum fixture_hint expected;
};

static void check_hints(
	const char *resource, const char *pod, const struct hint_row *rows, size_t count)
{
	struct fixture f;
	const struct bt_pod_info *waiting;

	fixture_init(&f, &bt_pod_topology_spread_plugin);
	waiting = fixture_pending(&f, pod);
	for (size_t i = 0; i < count; i++) {
		enum fixture_hint hint = fixture_hint(
			&f, resource, rows[i].action, waiting, rows[i].before, rows[i].after, NULL);
		ck_assert_msg(hint == rows[i].expected, "%s", rows[i].name);
	}
	fixture_finish(&f);
}

#define TAINTED(labels) \
	"{'metadata':{'name':'n','labels':{" labels \
	"}},'spec':{'taints':[{'key':'k','effect':'NoSchedule'}]}}"

START_TEST(test_pod_topology_spread__edge_06_42_node_hints)
{
	static const char *const pod = POD(FOO, HARD("zone", "1", EXISTS_FOO));
	static const char *const both =
		POD(FOO, HARD("zone", "1", EXISTS_FOO) "," HARD("node", "1", EXISTS_FOO));
	static const struct hint_row one[] = {
		{"unrelated label", BT_ACTION_UPDATE_NODE_LABEL, NODE("n", Z("z1")),
			NODE("n", Z("z1") ",'a':'b'"), FIXTURE_SKIP},
		{"value", BT_ACTION_UPDATE_NODE_LABEL, NODE("n", Z("z1")), NODE("n", Z("z2")),
			FIXTURE_QUEUE},
		{"add", BT_ACTION_ADD, NULL, NODE("n", Z("z1")), FIXTURE_QUEUE},
		{"add without", BT_ACTION_ADD, NULL, NODE("n", ""), FIXTURE_SKIP},
		{"delete", BT_ACTION_DELETE, NODE("n", Z("z1")), NULL, FIXTURE_QUEUE},
		{"delete without", BT_ACTION_DELETE, NODE("n", ""), NULL, FIXTURE_SKIP},
	};
	static const struct hint_row two[] = {
		{"one of two", BT_ACTION_UPDATE_NODE_LABEL, NODE("n", ""), NODE("n", Z("z1")),
			FIXTURE_SKIP},
		{"second", BT_ACTION_UPDATE_NODE_LABEL, NODE("n", Z("z1")),
			NODE("n", ZN("z1", "n")), FIXTURE_QUEUE},
		{"taints", BT_ACTION_UPDATE_NODE_TAINT, NODE("n", ZN("z1", "n")),
			TAINTED(ZN("z1", "n")), FIXTURE_QUEUE},
		{"taints without keys", BT_ACTION_UPDATE_NODE_TAINT, NODE("n", ""), TAINTED(""),
			FIXTURE_SKIP},
	};

	check_hints("Node", pod, one, BT_ARRAY_LENGTH(one));
	check_hints("Node", both, two, BT_ARRAY_LENGTH(two));
}
END_TEST

#define OTHER(labels, more) "{'metadata':{'labels':{" labels "}}" more "}"
#define PLACED ",'spec':{'nodeName':'n'}"
#define NOMINATED ",'status':{'nominatedNodeName':'n'}"
#define ITSELF(labels, tolerations) \
	"{'metadata':{'uid':'me','labels':{" labels "}},'spec':{'tolerations':[" tolerations "]}}"
#define WAITING(more) \
	"{'metadata':{'uid':'me','labels':{'foo':''}},'spec':{'topologySpreadConstraints':[" HARD( \
		"zone", "1", more EXISTS_FOO) "]}}"

START_TEST(test_pod_topology_spread__edge_06_43_pod_hints)
{
	static const struct hint_row rows[] = {
		{"unplaced add", BT_ACTION_ADD, NULL, OTHER(FOO, ""), FIXTURE_SKIP},
		{"unplaced update", BT_ACTION_UPDATE_POD_LABEL, OTHER("", ""), OTHER(FOO, ""),
			FIXTURE_SKIP},
		{"unplaced delete", BT_ACTION_DELETE, OTHER(FOO, ""), NULL, FIXTURE_SKIP},
		{"nominated delete", BT_ACTION_DELETE, OTHER(FOO, NOMINATED), NULL, FIXTURE_QUEUE},
		{"placed add", BT_ACTION_ADD, NULL, OTHER(FOO, PLACED), FIXTURE_QUEUE},
		{"placed add, other", BT_ACTION_ADD, NULL, OTHER("'bar':''", PLACED), FIXTURE_SKIP},
		{"namespace", BT_ACTION_ADD, NULL,
			"{'metadata':{'namespace':'other','labels':{'foo':''}},'spec':{'nodeName':"
			"'n'}}",
			FIXTURE_SKIP},
		{"same selection", BT_ACTION_UPDATE_POD_LABEL, OTHER("'foo':'1'", PLACED),
			OTHER("'foo':'2'", PLACED), FIXTURE_SKIP},
		{"gains", BT_ACTION_UPDATE_POD_LABEL, OTHER("", PLACED), OTHER(FOO, PLACED),
			FIXTURE_QUEUE},
		{"itself", BT_ACTION_UPDATE_POD_LABEL, ITSELF("", ""), ITSELF(FOO, ""),
			FIXTURE_QUEUE},
		{"toleration, none honors", BT_ACTION_UPDATE_POD_TOLERATION, ITSELF(FOO, ""),
			ITSELF(FOO, "{'key':'k'}"), FIXTURE_SKIP},
	};
	static const struct hint_row honoring[] = {
		{"toleration", BT_ACTION_UPDATE_POD_TOLERATION, ITSELF(FOO, ""),
			ITSELF(FOO, "{'key':'k'}"), FIXTURE_QUEUE},
		{"same toleration", BT_ACTION_UPDATE_POD_TOLERATION, ITSELF(FOO, "{'key':'k'}"),
			ITSELF(FOO, "{'key':'k'}"), FIXTURE_SKIP},
	};

	check_hints("Pod", WAITING(""), rows, BT_ARRAY_LENGTH(rows));
	check_hints(
		"Pod", WAITING(",'nodeTaintsPolicy':'Honor'"), honoring, BT_ARRAY_LENGTH(honoring));
}
END_TEST

BT_TEST_MAIN("pod_topology_spread", test_pod_topology_spread__edge_06_01_no_constraints,
	test_pod_topology_spread__edge_06_02_own_list_hides_defaults,
	test_pod_topology_spread__edge_06_03_hard_only_scores_nothing,
	test_pod_topology_spread__edge_06_04_null_selector,
	test_pod_topology_spread__edge_06_05_empty_selector_counts_nothing,
	test_pod_topology_spread__edge_06_06_empty_selector_counts_nominated_pods,
	test_pod_topology_spread__edge_06_07_even_zones, test_pod_topology_spread__edge_06_08_nodes,
	test_pod_topology_spread__edge_06_09_no_self_match,
	test_pod_topology_spread__edge_06_10_node_without_key,
	test_pod_topology_spread__edge_06_11_no_node_has_the_key,
	test_pod_topology_spread__edge_06_12_skew_before_missing_label,
	test_pod_topology_spread__edge_06_13_missing_second_key,
	test_pod_topology_spread__edge_06_14_min_domains,
	test_pod_topology_spread__edge_06_15_min_domains_of_two_zones,
	test_pod_topology_spread__edge_06_16_no_node_is_eligible,
	test_pod_topology_spread__edge_06_17_node_affinity_policy,
	test_pod_topology_spread__edge_06_18_node_taints_policy,
	test_pod_topology_spread__edge_06_19_policies_are_per_constraint,
	test_pod_topology_spread__edge_06_20_terminating_pods_do_not_count,
	test_pod_topology_spread__edge_06_21_removing_a_terminating_pod,
	test_pod_topology_spread__edge_06_22_other_namespaces,
	test_pod_topology_spread__edge_06_23_added_pod_on_a_node_without_a_key,
	test_pod_topology_spread__edge_06_24_same_key_twice,
	test_pod_topology_spread__edge_06_25_match_label_keys,
	test_pod_topology_spread__match_label_keys_gate_off,
	test_pod_topology_spread__edge_06_26_default_constraints,
	test_pod_topology_spread__edge_06_27_no_service_no_default,
	test_pod_topology_spread__edge_06_28_default_selector,
	test_pod_topology_spread__services_of_one_selector, test_pod_topology_spread__errors,
	test_pod_topology_spread__signature, test_pod_topology_spread__edge_06_42_node_hints,
	test_pod_topology_spread__edge_06_43_pod_hints)
