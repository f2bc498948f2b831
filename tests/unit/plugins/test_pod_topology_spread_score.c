/* SPDX-License-Identifier: Apache-2.0 */
/* Scoring of PodTopologySpread: spec 06 sections 2.13 and 2.17, cases 29 to 41. */
#include "plugins/pod_topology_spread.h"
#include "test_main.h"
#include "topology_fixture.h"

#define EXISTS_FOO ",'labelSelector':{'matchExpressions':[{'key':'foo','operator':'Exists'}]}"
#define SOFT(key, skew, more) \
	"{'topologyKey':'" key "','maxSkew':" skew ",'whenUnsatisfiable':'ScheduleAnyway'" more "}"
#define POD(constraints) \
	"{'metadata':{'labels':{'foo':''}},'spec':{'topologySpreadConstraints':[" constraints "]}" \
	"}"
#define H "kubernetes.io/hostname"
#define ZONE "topology.kubernetes.io/zone"
#define HOST(name) "'" H "':'" name "'"
#define HOST_IN(name, zone) HOST(name) ",'" ZONE "':'" zone "'"
#define FOO "'foo':''"

static void add_hosts(struct fixture *f, const uint32_t counts[4])
{
	static const char *const names[] = {"a", "b", "c", "d"};

	fixture_add_node(f, NODE("a", HOST("a")));
	fixture_add_node(f, NODE("b", HOST("b")));
	fixture_add_node(f, NODE("c", HOST("c")));
	fixture_add_node(f, NODE("d", HOST("d")));
	for (int i = 0; i < 4; i++) {
		topology_add_pods(f, names[i], FOO, counts[i]);
	}
}

static void check_hosts(const uint32_t counts[4], const char *pod, const char *expected)
{
	struct fixture f;

	fixture_init(&f, &bt_pod_topology_spread_plugin);
	add_hosts(&f, counts);
	topology_expect_scores(&f, pod, expected);
	fixture_finish(&f);
}

START_TEST(test_pod_topology_spread__log_values)
{
	static const struct {
		uint64_t size;
		double expected;
	} rows[] = {
		{1, 0x1.193ea7aad030ap+0},
		{2, 0x1.62e42fefa39efp+0},
		{3, 0x1.9c041f7ed8d33p+0},
		{4, 0x1.cab0bfa2a2002p+0},
		{5, 0x1.f2272ae325a57p+0},
		{10, 0x1.3e116bcd39e7dp+1},
		{100, 0x1.27ff8df87c7bdp+2},
		{1000, 0x1.ba3965d405f5fp+2},
		{5000, 0x1.10901f6dc84b9p+3},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		double value = bt_spread_log(rows[i].size + 2);
		ck_assert_msg(memcmp(&value, &rows[i].expected, sizeof(value)) == 0,
			"size %llu: %a", (unsigned long long)rows[i].size, value);
	}
}
END_TEST

START_TEST(test_pod_topology_spread__edge_06_29_no_pods)
{
	check_hosts((uint32_t[4]){0, 0, 0, 0}, POD(SOFT(H, "1", EXISTS_FOO)),
		"a:0/100 b:0/100 c:0/100 d:0/100");
}
END_TEST

START_TEST(test_pod_topology_spread__edge_06_30_hosts)
{
	check_hosts((uint32_t[4]){2, 1, 0, 3}, POD(SOFT(H, "1", EXISTS_FOO)),
		"a:4/20 b:2/60 c:0/100 d:5/0");
	check_hosts((uint32_t[4]){2, 1, 0, 3}, POD(SOFT(H, "2", EXISTS_FOO)),
		"a:5/33 b:3/66 c:1/100 d:6/16");
}
END_TEST

START_TEST(test_pod_topology_spread__edge_06_31_skew_three)
{
	struct fixture f;

	check_hosts((uint32_t[4]){4, 3, 2, 1}, POD(SOFT(H, "3", EXISTS_FOO)),
		"a:9/44 b:7/66 c:6/77 d:4/100");
	fixture_init(&f, &bt_pod_topology_spread_plugin);
	add_hosts(&f, (uint32_t[4]){4, 3, 2, 1});
	topology_add_object(&f, BT_KIND_SERVICE,
		"{'metadata':{'name':'s','namespace':'default'},'spec':{'selector':{'foo':''}}}");
	topology_expect_scores(
		&f, "{'metadata':{'labels':{'foo':''}}}", "a:9/44 b:7/66 c:6/77 d:4/100");
	fixture_finish(&f);
}
END_TEST

START_TEST(test_pod_topology_spread__edge_06_32_three_feasible)
{
	check_hosts(
		(uint32_t[4]){4, 2, 1, 9}, POD(SOFT(H, "1", EXISTS_FOO)), "a:6/33 b:3/83 c:2/100");
}
END_TEST

START_TEST(test_pod_topology_spread__edge_06_33_ignored_node)
{
	struct fixture f;

	fixture_init(&f, &bt_pod_topology_spread_plugin);
	fixture_add_node(&f, NODE("a", HOST("a")));
	fixture_add_node(&f, NODE("b", ""));
	fixture_add_node(&f, NODE("c", HOST("c")));
	topology_add_pods(&f, "a", FOO, 4);
	topology_add_pods(&f, "b", FOO, 2);
	topology_add_pods(&f, "c", FOO, 1);
	topology_expect_scores(&f, POD(SOFT(H, "1", EXISTS_FOO)), "a:6/16 b:0/0 c:1/100");
	fixture_finish(&f);
}
END_TEST

START_TEST(test_pod_topology_spread__edge_06_34_infeasible_nodes_count)
{
	struct fixture f;

	fixture_init(&f, &bt_pod_topology_spread_plugin);
	fixture_add_node(&f, NODE("a", "'zone':'z1'"));
	fixture_add_node(&f, NODE("b", "'zone':'z2'"));
	fixture_add_node(&f, NODE("c", "'zone':'z2'"));
	topology_add_pods(&f, "a", FOO, 6);
	topology_add_pods(&f, "b", FOO, 1);
	topology_add_pods(&f, "c", FOO, 3);
	topology_expect_scores(&f, POD(SOFT("zone", "1", EXISTS_FOO)), "a:8/75 b:6/100");
	fixture_finish(&f);
}
END_TEST

START_TEST(test_pod_topology_spread__edge_06_35_zone_and_host)
{
	struct fixture f;

	fixture_init(&f, &bt_pod_topology_spread_plugin);
	fixture_add_node(&f, NODE("a", "'zone':'z1'," HOST("a")));
	fixture_add_node(&f, NODE("b", "'zone':'z1'," HOST("b")));
	fixture_add_node(&f, NODE("x", "'zone':'z2'," HOST("x")));
	fixture_add_node(&f, NODE("y", "'zone':'z2'," HOST("y")));
	topology_add_pods(&f, "a", FOO, 2);
	topology_add_pods(&f, "b", FOO, 1);
	topology_add_pods(&f, "x", FOO, 2);
	topology_add_pods(&f, "y", FOO, 4);
	topology_expect_scores(&f, POD(SOFT("zone", "1", EXISTS_FOO) "," SOFT(H, "1", EXISTS_FOO)),
		"a:7/100 x:11/63");
	fixture_finish(&f);
}
END_TEST

START_TEST(test_pod_topology_spread__edge_06_36_system_defaults)
{
	struct fixture f;

	fixture_init(&f, &bt_pod_topology_spread_plugin);
	fixture_add_node(&f, NODE("a", HOST_IN("a", "z1")));
	fixture_add_node(&f, NODE("b", HOST_IN("b", "z1")));
	fixture_add_node(&f, NODE("c", HOST_IN("c", "z2")));
	fixture_add_node(&f, NODE("d", HOST("d")));
	topology_add_pods(&f, "a", FOO, 1);
	topology_add_object(&f, BT_KIND_SERVICE,
		"{'metadata':{'name':'s','namespace':'default'},'spec':{'selector':{'foo':''}}}");
	topology_expect_scores(
		&f, "{'metadata':{'labels':{'foo':''}}}", "a:9/22 b:8/33 c:6/55 d:2/100");
	/* The value "" is the same domain as a missing label. */
	fixture_add_node(&f, NODE("e", HOST_IN("e", "")));
	topology_add_pods(&f, "d", FOO, 1);
	topology_expect_scores(
		&f, "{'metadata':{'labels':{'foo':''}}}", "a:10/40 b:8/60 c:6/80 d:4/100 e:8/60");
	fixture_finish(&f);
}
END_TEST

START_TEST(test_pod_topology_spread__edge_06_37_affinity_policy)
{
	static const char *const pod =
		"{'metadata':{'labels':{'foo':''}},'spec':{'nodeSelector':{'ok':''},"
		"'topologySpreadConstraints':[" SOFT("node", "1", EXISTS_FOO) "]}}";
	static const char *const ignoring =
		"{'metadata':{'labels':{'foo':''}},'spec':{'nodeSelector':{'ok':''},"
		"'topologySpreadConstraints':[" SOFT(
			"node", "1", ",'nodeAffinityPolicy':'Ignore'" EXISTS_FOO) "]}}";
	struct fixture f;

	fixture_init(&f, &bt_pod_topology_spread_plugin);
	fixture_add_node(&f, NODE("a", "'ok':'','node':'a'"));
	fixture_add_node(&f, NODE("b", "'ok':'','node':'b'"));
	fixture_add_node(&f, NODE("c", "'node':'c'"));
	topology_add_pods(&f, "a", FOO, 2);
	topology_add_pods(&f, "b", FOO, 1);
	topology_add_pods(&f, "c", FOO, 1);
	topology_expect_scores(&f, pod, "a:3/0 b:2/33 c:0/100");
	topology_expect_scores(&f, ignoring, "a:3/66 b:2/100 c:2/100");
	fixture_finish(&f);
}
END_TEST

START_TEST(test_pod_topology_spread__edge_06_38_null_selector_and_all_ignored)
{
	check_hosts((uint32_t[4]){2, 1, 0, 3}, POD(SOFT(H, "1", "")),
		"a:0/100 b:0/100 c:0/100 d:0/100");
	check_hosts((uint32_t[4]){2, 1, 0, 3}, POD(SOFT("zone", "1", EXISTS_FOO)),
		"a:0/0 b:0/0 c:0/0 d:0/0");
}
END_TEST

START_TEST(test_pod_topology_spread__edge_06_39_min_domains_is_not_read)
{
	struct fixture f;

	fixture_init(&f, &bt_pod_topology_spread_plugin);
	fixture_add_node(&f, NODE("a", "'zone':'z1'"));
	fixture_add_node(&f, NODE("b", "'zone':'z2'"));
	fixture_add_node(&f, NODE("c", "'zone':'z3'"));
	topology_add_pods(&f, "a", FOO, 2);
	topology_add_pods(&f, "b", FOO, 2);
	topology_add_pods(&f, "c", FOO, 1);
	topology_expect_scores(
		&f, POD(SOFT("zone", "2", ",'minDomains':9" EXISTS_FOO)), "a:4/75 b:4/75 c:3/100");
	fixture_finish(&f);
}
END_TEST

START_TEST(test_pod_topology_spread__edge_06_40_one_node_and_list_defaults)
{
	struct fixture f;

	check_hosts((uint32_t[4]){3, 0, 0, 0}, POD(SOFT(H, "1", EXISTS_FOO)), "a:3/100");
	fixture_init_with(&f, &bt_pod_topology_spread_plugin, NULL,
		"{'defaultingType':'List','defaultConstraints':[{'topologyKey':'zone','maxSkew':1,"
		"'whenUnsatisfiable':'ScheduleAnyway'}]}");
	fixture_add_node(&f, NODE("a", "'zone':'z1'"));
	fixture_add_node(&f, NODE("b", ""));
	topology_add_object(&f, BT_KIND_SERVICE,
		"{'metadata':{'name':'s','namespace':'default'},'spec':{'selector':{'foo':''}}}");
	topology_expect_scores(&f, "{'metadata':{'labels':{'foo':''}}}", "a:0/100 b:0/0");
	fixture_finish(&f);
}
END_TEST

/** A default selector is not reused for other pods, nor after a change of a service or owner. */
START_TEST(test_pod_topology_spread__selector_follows_the_services)
{
	static const char *const foo = "{'metadata':{'labels':{'bar':'','foo':''}}}";
	static const char *const other = "{'metadata':{'labels':{'foo':''}}}";
	struct fixture f;

	fixture_init(&f, &bt_pod_topology_spread_plugin);
	add_hosts(&f, (uint32_t[4]){4, 3, 2, 1});
	topology_expect_scores(&f, foo, "Skip");
	for (uint32_t i = 0; i < 300; i++) {
		topology_add_object(&f, BT_KIND_SERVICE,
			bt_arena_printf(&f.arena,
				"{'metadata':{'name':'s%u','namespace':'default'},'spec':{"
				"'selector':{'app':'a%u'}}}",
				i, i)
				.data);
	}
	topology_expect_scores(&f, foo, "Skip");
	topology_add_object(&f, BT_KIND_SERVICE,
		"{'metadata':{'name':'s','namespace':'default'},'spec':{'selector':{'foo':''}}}");
	topology_expect_scores(&f, foo, "a:9/44 b:7/66 c:6/77 d:4/100");
	topology_add_object(&f, BT_KIND_SERVICE,
		"{'metadata':{'name':'s','namespace':'default'},'spec':{'selector':{'bar':''}}}");
	topology_expect_scores(&f, foo, "a:2/100 b:2/100 c:2/100 d:2/100");
	topology_expect_scores(&f, other, "Skip");
	ck_assert(bt_object_store_delete(
		&f.state->objects, BT_KIND_SERVICE, BT_STR("default"), BT_STR("s")));
	topology_expect_scores(&f, foo, "Skip");
	fixture_finish(&f);
}
END_TEST

START_TEST(test_pod_topology_spread__edge_06_41_invalid_soft_selector)
{
	static const char *const pod = POD(SOFT("zone", "1",
		",'labelSelector':{'matchExpressions':[{'key':'a','operator':'Foo'}]}"));
	struct fixture f;

	fixture_init(&f, &bt_pod_topology_spread_plugin);
	add_hosts(&f, (uint32_t[4]){0, 0, 0, 0});
	topology_expect_verdicts(&f, pod, "Skip");
	topology_expect_scores(&f, pod,
		"Error: calculating preScoreState: obtaining pod's soft topology spread "
		"constraints: \"Foo\" is not a valid label selector operator");
	fixture_finish(&f);
}
END_TEST

START_TEST(test_pod_topology_spread__score_without_pre_score)
{
	struct fixture f;
	int64_t score;

	fixture_init(&f, &bt_pod_topology_spread_plugin);
	fixture_add_node(&f, NODE("a", ""));
	fixture_expect("missing", fixture_score_alone(&f, "{}", "a", &score),
		"Error: error reading \"PreScorePodTopologySpread\" from cycleState: not found");
	fixture_finish(&f);
}
END_TEST

BT_TEST_MAIN("pod_topology_spread_score", test_pod_topology_spread__log_values,
	test_pod_topology_spread__edge_06_29_no_pods, test_pod_topology_spread__edge_06_30_hosts,
	test_pod_topology_spread__edge_06_31_skew_three,
	test_pod_topology_spread__edge_06_32_three_feasible,
	test_pod_topology_spread__edge_06_33_ignored_node,
	test_pod_topology_spread__edge_06_34_infeasible_nodes_count,
	test_pod_topology_spread__edge_06_35_zone_and_host,
	test_pod_topology_spread__edge_06_36_system_defaults,
	test_pod_topology_spread__edge_06_37_affinity_policy,
	test_pod_topology_spread__edge_06_38_null_selector_and_all_ignored,
	test_pod_topology_spread__edge_06_39_min_domains_is_not_read,
	test_pod_topology_spread__edge_06_40_one_node_and_list_defaults,
	test_pod_topology_spread__selector_follows_the_services,
	test_pod_topology_spread__edge_06_41_invalid_soft_selector,
	test_pod_topology_spread__score_without_pre_score)
