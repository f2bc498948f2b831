/* SPDX-License-Identifier: Apache-2.0 */
/* Victims of one node. Spec: 08 section 18, cases 12 to 22 and 51 to 53. */
#include "preemption_fixture.h"
#include "test_main.h"

#define FOO "{'matchLabels':{'app':'foo'}}"

START_TEST(test_preemption__edge_08_12_more_important_pod_tried_first)
{
	struct preemption_fixture fixture;

	preemption_init(&fixture, NULL);
	preemption_add_node(&fixture, "node1", "'cpu':'500m','pods':'10'");
	preemption_add_pods(&fixture, "node1", "p1.1:low,cpu=100m p1.2:mid,cpu=300m");
	ck_assert_str_eq(preemption_select_victims(&fixture, "p:hi,cpu=300m", "node1"), "[p1.2]");
	preemption_finish(&fixture);
}
END_TEST

START_TEST(test_preemption__edge_08_13_two_victims_in_order)
{
	struct preemption_fixture fixture;

	preemption_init(&fixture, NULL);
	preemption_add_node(&fixture, "node1", "'cpu':'500m','pods':'10'");
	preemption_add_pods(&fixture, "node1",
		"p1.1:mid,cpu=100m,start=1 p1.2:low,cpu=100m,start=1 p1.3:mid,cpu=200m,start=1 "
		"p1.4:hi,cpu=100m,start=1");
	ck_assert_str_eq(
		preemption_select_victims(&fixture, "p:hi,cpu=300m", "node1"), "[p1.3 p1.2]");
	preemption_finish(&fixture);
}
END_TEST

START_TEST(test_preemption__edge_08_14_later_started_pod_goes)
{
	struct preemption_fixture fixture;

	preemption_init(&fixture, NULL);
	preemption_add_node(&fixture, "node1", "'cpu':'500m','pods':'10'");
	preemption_add_pods(&fixture, "node1",
		"p1.1:low,cpu=100m,start=5 p1.2:low,cpu=100m,start=4 p1.3:mid,cpu=200m,start=3 "
		"p1.4:hi,cpu=100m,start=2");
	ck_assert_str_eq(
		preemption_select_victims(&fixture, "p:hi,cpu=300m", "node1"), "[p1.3 p1.1]");
	preemption_finish(&fixture);
}
END_TEST

START_TEST(test_preemption__edge_08_15_existing_anti_affinity)
{
	static const struct preemption_options options = {
		.plugins = "NodeResourcesFit,InterPodAffinity"};
	struct preemption_fixture fixture;

	preemption_init(&fixture, &options);
	preemption_add_node_labels(&fixture, "node1", "'pods':'10'", "'host':'node1'");
	preemption_add_pods(&fixture, "node1", "p1:low,anti=app=foo p2:mid");
	preemption_expect(&fixture, "p:hi,label=app=foo", NULL, "Success", "node1", "node1[p1]");
	/* The term does not match preemptor q, which therefore needs no victim. */
	ck_assert_str_eq(preemption_select_victims(&fixture, "q:hi", "node1"),
		"Error: expected at least one victim pod on node \"node1\"");
	preemption_finish(&fixture);
}
END_TEST

START_TEST(test_preemption__edge_08_16_spread)
{
	static const struct preemption_options options = {
		.plugins = "NodeResourcesFit,PodTopologySpread"};
	struct preemption_fixture fixture;

	preemption_init(&fixture, &options);
	preemption_add_node_labels(
		&fixture, "node-a", "'pods':'10'", "'zone':'zone1','host':'node-a'");
	preemption_add_node_labels(
		&fixture, "node-b", "'pods':'10'", "'zone':'zone1','host':'node-b'");
	preemption_add_node_labels(
		&fixture, "node-x", "'pods':'10'", "'zone':'zone2','host':'node-x'");
	preemption_add_pods(&fixture, "node-a", "a1:mid,label=app=foo a2:low,label=app=foo");
	preemption_add_pods(&fixture, "node-b", "b1:low,label=app=foo");
	preemption_add_pods(&fixture, "node-x", "x1:hi,label=app=foo x2:hi,label=app=foo");
	ck_assert_str_eq(preemption_dry_run(&fixture,
				 preemption_pending(&fixture, "p:hi,label=app=foo,spread"),
				 "node-a node-b node-x", 0, 3),
		"node-a[a2] node-b[b1]");
	preemption_expect(&fixture, "p:hi,label=app=foo,spread", NULL, "Success", "node-a", NULL);
	ck_assert_str_eq(preemption_choices(&fixture), "node-a node-b");
	preemption_finish(&fixture);
}
END_TEST

/** --- budgets --- */

/* Makes every pod on node1 a victim of a pod of 2 cpu. */
static void init_with_pods(struct preemption_fixture *fixture, const char *pods)
{
	preemption_init(fixture, NULL);
	preemption_add_node(fixture, "node1", "'cpu':'2','pods':'10'");
	preemption_add_pods(fixture, "node1", pods);
}

static void expect_all_victims(struct preemption_fixture *fixture, const char *victims)
{
	ck_assert_str_eq(preemption_select_victims(fixture, "p:hi,cpu=2", "node1"), victims);
	/* The budgets are unchanged after the first call. */
	ck_assert_str_eq(preemption_select_victims(fixture, "p:hi,cpu=2", "node1"), victims);
}

#define TWO_PODS "m1:mid,cpu=1,label=app=foo,start=1 m2:mid,cpu=1,label=app=foo,start=2"

START_TEST(test_preemption__edge_08_17_budget_of_one)
{
	struct preemption_fixture fixture;

	init_with_pods(&fixture, TWO_PODS);
	preemption_add_budget(&fixture, "pdb", FOO, 1, NULL);
	expect_all_victims(&fixture, "[m1 m2]!1");
	preemption_finish(&fixture);
}
END_TEST

START_TEST(test_preemption__edge_08_18_disrupted_pods)
{
	struct preemption_fixture fixture;

	init_with_pods(&fixture, TWO_PODS);
	preemption_add_budget(&fixture, "pdb", FOO, 1, "{'another':'2026-01-01T00:00:00Z'}");
	expect_all_victims(&fixture, "[m1 m2]!1");
	preemption_add_budget(&fixture, "pdb", FOO, 1, "{'m2':'2026-01-01T00:00:00Z'}");
	expect_all_victims(&fixture, "[m1 m2]");
	preemption_finish(&fixture);
}
END_TEST

START_TEST(test_preemption__edge_08_19_third_pod_is_disrupted_already)
{
	struct preemption_fixture fixture;

	init_with_pods(&fixture,
		"m1:mid,cpu=500m,label=app=foo,start=1 m2:mid,cpu=500m,label=app=foo,start=2 "
		"m3:mid,cpu=500m,label=app=foo,start=3");
	preemption_add_budget(&fixture, "pdb", FOO, 1, "{'m3':'2026-01-01T00:00:00Z'}");
	expect_all_victims(&fixture, "[m1 m2 m3]!1");
	preemption_finish(&fixture);
}
END_TEST

START_TEST(test_preemption__edge_08_20_every_budget_is_charged)
{
	struct preemption_fixture fixture;

	init_with_pods(&fixture,
		"m1:mid,cpu=1,label=app=foo,start=1 m2:mid,cpu=1,label=app=foo,label=b=no,start=2");
	/* Pod m1 comes first and uses up budget a, which pod m2 would have used otherwise. */
	preemption_add_budget(&fixture, "a", FOO, 1, NULL);
	preemption_add_budget(&fixture, "b", "{'matchLabels':{'b':'no'}}", 5, NULL);
	expect_all_victims(&fixture, "[m1 m2]!1");
	preemption_finish(&fixture);

	init_with_pods(&fixture,
		"m1:mid,cpu=1,label=app=foo,label=b=no,start=1 m2:mid,cpu=1,label=app=foo,start=2");
	/*
	 * Pod m1 violates budget b but is charged to budget a as well, so pod m2 violates budget a.
	 */
	preemption_add_budget(&fixture, "a", FOO, 1, NULL);
	preemption_add_budget(&fixture, "b", "{'matchLabels':{'b':'no'}}", 0, NULL);
	expect_all_victims(&fixture, "[m1 m2]!2");
	preemption_finish(&fixture);

	/* The result does not depend on the order of the budgets. */
	init_with_pods(&fixture,
		"m1:mid,cpu=1,label=app=foo,label=b=no,start=1 m2:mid,cpu=1,label=app=foo,start=2");
	preemption_add_budget(&fixture, "b", FOO, 1, NULL);
	preemption_add_budget(&fixture, "a", "{'matchLabels':{'b':'no'}}", 0, NULL);
	expect_all_victims(&fixture, "[m1 m2]!2");
	preemption_finish(&fixture);
}
END_TEST

START_TEST(test_preemption__edge_08_21_budgets_that_do_not_count)
{
	struct preemption_fixture fixture;

	init_with_pods(&fixture, TWO_PODS);
	preemption_add_budget(&fixture, "empty", "{}", 0, NULL);
	preemption_add_budget(&fixture, "none", NULL, 0, NULL);
	preemption_add_budget(&fixture, "broken",
		"{'matchExpressions':[{'key':'app','operator':'In','values':[]}]}", 0, NULL);
	preemption_put(&fixture,
		"{'apiVersion':'policy/v1','kind':'PodDisruptionBudget','metadata':{'name':'pdb',"
		"'namespace':'elsewhere'},'spec':{'selector':" FOO
		"},'status':{'disruptionsAllowed':0}}");
	expect_all_victims(&fixture, "[m1 m2]");
	preemption_finish(&fixture);

	init_with_pods(&fixture, "m1:mid,cpu=1 m2:mid,cpu=1,label=other=x");
	/* The budget's selector matches every pod without the label. */
	preemption_add_budget(&fixture, "pdb",
		"{'matchExpressions':[{'key':'other','operator':'DoesNotExist'}]}", 0, NULL);
	expect_all_victims(&fixture, "[m2 m1]");
	preemption_finish(&fixture);
}
END_TEST

START_TEST(test_preemption__edge_08_22_violations_tie)
{
	struct preemption_fixture fixture;

	preemption_init(&fixture, NULL);
	preemption_add_node(&fixture, "node1", "'cpu':'2','pods':'10'");
	preemption_add_node(&fixture, "node2", "'cpu':'2','pods':'10'");
	preemption_add_pods(
		&fixture, "node1", "n1hi:hi,cpu=1,label=app=a n1low:low,cpu=1,label=app=b");
	preemption_add_pods(&fixture, "node2", "n2mid:mid,cpu=2,label=app=c");
	preemption_add_budget(&fixture, "left", "{'matchLabels':{'app':'a'}}", 1, NULL);
	preemption_add_budget(&fixture, "spent1", "{'matchLabels':{'app':'b'}}", 0, NULL);
	preemption_add_budget(&fixture, "spent2", "{'matchLabels':{'app':'c'}}", 0, NULL);
	/* The violating pod was tried first, but the list is sorted by importance. */
	preemption_expect(&fixture, "p:top,cpu=2", "node1:U node2:U", "Success", "node2",
		"node1[n1hi n1low]!1 node2[n2mid]!1");
	ck_assert_str_eq(preemption_choices(&fixture), "node2");
	/* Without a tie the fewest violations take precedence over all other criteria. */
	preemption_add_budget(&fixture, "spent2", "{'matchLabels':{'app':'c'}}", 1, NULL);
	preemption_add_budget(&fixture, "spent1", "{'matchLabels':{'app':'x'}}", 0, NULL);
	preemption_expect(&fixture, "q:top,cpu=2", "node1:U node2:U", "Success", "node2",
		"node1[n1hi n1low] node2[n2mid]");
	preemption_add_budget(&fixture, "spent2", "{'matchLabels':{'app':'c'}}", 0, NULL);
	preemption_expect(&fixture, "q:top,cpu=2", "node1:U node2:U", "Success", "node1",
		"node1[n1hi n1low] node2[n2mid]!1");
	preemption_finish(&fixture);
}
END_TEST

START_TEST(test_preemption__violating_pods_are_reprieved_first)
{
	struct preemption_fixture fixture;

	preemption_init(&fixture, NULL);
	preemption_add_node(&fixture, "node1", "'cpu':'2','pods':'10'");
	preemption_add_pods(
		&fixture, "node1", "m1:mid,cpu=1,start=1 m2:low,cpu=1,label=app=foo,start=2");
	ck_assert_str_eq(preemption_select_victims(&fixture, "p:hi,cpu=1", "node1"), "[m2]");
	preemption_add_budget(&fixture, "pdb", FOO, 0, NULL);
	ck_assert_str_eq(preemption_select_victims(&fixture, "p:hi,cpu=1", "node1"), "[m1]");
	preemption_finish(&fixture);
}
END_TEST

/** --- unstarted pods --- */

START_TEST(test_preemption__edge_08_51_unstarted_pods_come_out_reversed)
{
	struct preemption_fixture fixture;

	preemption_init(&fixture, NULL);
	preemption_add_node(&fixture, "node1", "'cpu':'3','pods':'10'");
	preemption_add_pods(&fixture, "node1", "p1:low,cpu=1 p2:low,cpu=1 p3:low,cpu=1,start=1");
	ck_assert_str_eq(preemption_select_victims(&fixture, "p:hi,cpu=3", "node1"), "[p3 p2 p1]");
	ck_assert_str_eq(preemption_select_victims(&fixture, "p:hi,cpu=1", "node1"), "[p1]");
	preemption_finish(&fixture);
}
END_TEST

START_TEST(test_preemption__many_unstarted_pods)
{
	struct preemption_fixture fixture;
	struct bt_strbuf pods = {0};
	struct bt_strbuf reversed = {0};

	/* More pods than the insertion sort handles: the other sort gives the same order. */
	preemption_init(&fixture, NULL);
	preemption_add_node(&fixture, "node1", "'cpu':'40','pods':'100'");
	for (int i = 0; i < 40; i++) {
		bt_strbuf_printf(&pods, "%sp%d:low,cpu=1", i != 0 ? " " : "", i);
		bt_strbuf_printf(
			&reversed, "%sp%d%s", i != 0 ? "" : "[", 39 - i, i != 39 ? " " : "]");
	}
	preemption_add_pods(&fixture, "node1", bt_strbuf_c(&pods));
	ck_assert_str_eq(preemption_select_victims(&fixture, "p:hi,cpu=40", "node1"),
		bt_strbuf_c(&reversed));
	bt_strbuf_finish(&pods);
	bt_strbuf_finish(&reversed);
	preemption_finish(&fixture);
}
END_TEST

/** --- nominations --- */

START_TEST(test_preemption__edge_08_52_nomination_outside_the_queue)
{
	struct preemption_fixture fixture;

	preemption_init(&fixture, NULL);
	preemption_add_node(&fixture, "node1", "'pods':'2'");
	preemption_add_pods(&fixture, "node1", "a:neg");
	(void)preemption_nominate(&fixture, "stub:hi,cpu=1,nominated=node1", "node1", false);
	(void)preemption_run(&fixture, preemption_pending(&fixture, "p:5"), NULL);
	ck_assert_uint_eq(fixture.statuses.entries.count, 0);
	(void)preemption_run(&fixture, preemption_pending(&fixture, "q:0"), NULL);
	ck_assert_uint_eq(fixture.statuses.entries.count, 1);
	ck_assert_str_eq(preemption_status_text(&fixture, fixture.statuses.entries.items[0].status),
		"Unschedulable: Too many pods");
	/* In the dry run the bare pod uses a pod slot, too. */
	ck_assert_str_eq(preemption_candidates(&fixture), "node1[a]");
	preemption_finish(&fixture);
}
END_TEST

START_TEST(test_preemption__edge_08_53_queued_nomination)
{
	struct preemption_fixture fixture;

	preemption_init(&fixture, NULL);
	preemption_add_node(&fixture, "node1", "'cpu':'4','pods':'10'");
	preemption_add_pods(&fixture, "node1", "a:low,cpu=2 b:low,cpu=1");
	(void)preemption_nominate(&fixture, "q:mid,cpu=2,nominated=node1", "node1", true);
	ck_assert_str_eq(preemption_select_victims(&fixture, "p1:hi,cpu=3", "node1"), "[a]");
	/* Both are unstarted, so b is tried first and does not fit either. */
	ck_assert_str_eq(preemption_select_victims(&fixture, "p2:mid,cpu=2", "node1"), "[b a]");
	ck_assert_str_eq(preemption_select_victims(&fixture, "p3:mid,cpu=3", "node1"),
		"Unschedulable: Insufficient cpu");
	preemption_finish(&fixture);
}
END_TEST

START_TEST(test_preemption__node_that_is_handed_in)
{
	struct preemption_fixture fixture;
	struct bt_preemption_candidate found = {0};
	struct bt_pod_info gone;
	struct bt_node_info node;

	preemption_init(&fixture, NULL);
	preemption_add_node(&fixture, "node1", "'cpu':'500m','pods':'10'");
	preemption_add_pods(&fixture, "node1", "p1:low,cpu=100m p2:mid,cpu=300m");

	const struct bt_pod_info *pod = preemption_pending(&fixture, "p:hi,cpu=400m");
	ck_assert_str_eq(preemption_dry_run(&fixture, pod, "node1", 0, 1), "node1[p2]");
	/* The node info has no p2, but a pending pod: only p1 is left as a victim. */
	bt_node_info_init(&node, fixture.state, preemption_slot(&fixture, "node1"));
	bt_pod_info_from_record(fixture.state, preemption_pod_id(&fixture, "p2"), &gone);
	ck_assert_int_eq(bt_node_info_remove_pod(&node, &fixture.arena, &gone, NULL), 0);
	bt_node_info_add_pod(&node, &fixture.arena, preemption_pending(&fixture, "q:low,cpu=100m"));

	struct bt_status status =
		bt_select_victims_on_node(fixture.evaluator, &fixture.cycle, pod, &node, &found);
	ck_assert(bt_status_is_success(&status));
	ck_assert_uint_eq(found.victim_count, 1);
	ck_assert_uint_eq(found.victims[0], preemption_pod_id(&fixture, "p1"));
	ck_assert_uint_eq(bt_node_info_pod_count(&node), 2); /* the node info is unchanged */
	preemption_finish(&fixture);
}
END_TEST

BT_TEST_MAIN("preemption_victims", test_preemption__edge_08_12_more_important_pod_tried_first,
	test_preemption__edge_08_13_two_victims_in_order,
	test_preemption__edge_08_14_later_started_pod_goes,
	test_preemption__edge_08_15_existing_anti_affinity, test_preemption__edge_08_16_spread,
	test_preemption__edge_08_17_budget_of_one, test_preemption__edge_08_18_disrupted_pods,
	test_preemption__edge_08_19_third_pod_is_disrupted_already,
	test_preemption__edge_08_20_every_budget_is_charged,
	test_preemption__edge_08_21_budgets_that_do_not_count,
	test_preemption__edge_08_22_violations_tie,
	test_preemption__violating_pods_are_reprieved_first,
	test_preemption__edge_08_51_unstarted_pods_come_out_reversed,
	test_preemption__many_unstarted_pods,
	test_preemption__edge_08_52_nomination_outside_the_queue,
	test_preemption__edge_08_53_queued_nomination, test_preemption__node_that_is_handed_in)
