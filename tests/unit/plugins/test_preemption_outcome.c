/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results of attempts to preempt, and their messages. Spec: 08 section 18, cases 1 to 11, and
 * sections 4 and 5.
 */
#include "base/alloc.h"
#include "preemption_fixture.h"
#include "test_main.h"

#define NO_HELP "Preemption is not helpful for scheduling"
#define NO_VICTIMS "No preemption victims found for incoming pod"

START_TEST(test_preemption__edge_08_01_one_victim)
{
	struct preemption_fixture fixture;

	preemption_init(&fixture, NULL);
	preemption_add_node(&fixture, "node1", "'pods':'1'");
	preemption_add_pods(&fixture, "node1", "p1:low");
	preemption_expect(&fixture, "p:hi", "node1:U", "Success", "node1", "node1[p1]");
	/* Without given statuses the filters run, and also return Unschedulable for the node. */
	preemption_expect(&fixture, "q:hi", NULL, "Success", "node1", "node1[p1]");
	ck_assert_str_eq(preemption_choices(&fixture), "node1");
	ck_assert_uint_eq(fixture.evaluator->attempt_count, 2);
	preemption_finish(&fixture);
}
END_TEST

START_TEST(test_preemption__edge_08_02_equal_priority)
{
	struct preemption_fixture fixture;

	preemption_init(&fixture, NULL);
	preemption_add_node(&fixture, "node1", "'pods':'1'");
	preemption_add_pods(&fixture, "node1", "p1:low");
	preemption_expect(&fixture, "p:low", "node1:U",
		"Unschedulable: preemption: 0/1 nodes are available: 1 " NO_VICTIMS ".",
		"(cleared)", "none");
	preemption_finish(&fixture);
}
END_TEST

START_TEST(test_preemption__edge_08_03_unresolvable_node)
{
	struct preemption_fixture fixture;

	preemption_init(&fixture, NULL);
	preemption_add_node(&fixture, "node1", "'pods':'1'");
	preemption_add_pods(&fixture, "node1", "p1:low");
	preemption_expect(&fixture, "p:hi", "node1:UU",
		"Unschedulable: preemption: 0/1 nodes are available: 1 " NO_HELP ".", "(cleared)",
		"none");
	/* A node with status Pending does not help either. */
	preemption_expect(&fixture, "p:hi", "node1:P",
		"Unschedulable: preemption: 0/1 nodes are available: 1 " NO_HELP ".", "(cleared)",
		"none");
	preemption_finish(&fixture);
}
END_TEST

START_TEST(test_preemption__edge_08_04_no_statuses)
{
	struct preemption_fixture fixture;

	preemption_init(&fixture, NULL);
	preemption_add_node(&fixture, "node1", "'pods':'1'");
	preemption_add_pods(&fixture, "node1", "p1:low");
	preemption_expect(&fixture, "p:hi", "",
		"Unschedulable: preemption: 0/1 nodes are available: 1 " NO_HELP ".", "(cleared)",
		"none");
	/*
	 * Nodes absent from the statuses are tried if the status of absent nodes is Unschedulable.
	 */
	preemption_expect(&fixture, "p:hi", "*:U", "Success", "node1", "node1[p1]");
	preemption_expect(&fixture, "p:hi", "*:U node1:UU",
		"Unschedulable: preemption: 0/1 nodes are available: 1 " NO_HELP ".", "(cleared)",
		"none");
	preemption_finish(&fixture);
}
END_TEST

START_TEST(test_preemption__edge_08_05_node_with_lower_pod)
{
	struct preemption_fixture fixture;

	preemption_init(&fixture, NULL);
	preemption_add_node(&fixture, "node1", "'pods':'1'");
	preemption_add_node(&fixture, "node2", "'pods':'1'");
	preemption_add_pods(&fixture, "node1", "p1:hi");
	preemption_add_pods(&fixture, "node2", "p2:low");
	preemption_expect(&fixture, "p:mid", "node1:U node2:U", "Success", "node2", "node2[p2]");
	preemption_finish(&fixture);
}
END_TEST

START_TEST(test_preemption__edge_08_06_too_small_when_empty)
{
	struct preemption_fixture fixture;

	preemption_init(&fixture, NULL);
	preemption_add_node(&fixture, "node1", "'cpu':'200m','pods':'10'");
	preemption_add_node(&fixture, "node2", "'cpu':'200m','pods':'10'");
	preemption_add_pods(&fixture, "node1", "p1:low,cpu=100m");
	preemption_add_pods(&fixture, "node2", "p2:low,cpu=100m");
	preemption_expect(&fixture, "p:hi,cpu=300m", "node1:U node2:U",
		"Unschedulable: preemption: 0/2 nodes are available: 2 Insufficient cpu.",
		"(cleared)", "none");
	preemption_finish(&fixture);
}
END_TEST

START_TEST(test_preemption__edge_08_07_different_reasons)
{
	struct preemption_fixture fixture;

	preemption_init(&fixture, NULL);
	preemption_add_node(&fixture, "node1", "'cpu':'1','pods':'1'");
	preemption_add_node(&fixture, "node2", "'cpu':'200m','pods':'1'");
	preemption_add_node(&fixture, "node3", "'cpu':'1','pods':'1'");
	preemption_add_pods(&fixture, "node1", "p1:hi");
	preemption_add_pods(&fixture, "node2", "p2:low");
	preemption_add_pods(&fixture, "node3", "p3:hi");
	preemption_expect(&fixture, "p:hi,cpu=300m", "node1:U node2:U node3:U",
		"Unschedulable: preemption: 0/3 nodes are available: 1 Insufficient cpu, "
		"2 " NO_VICTIMS ".",
		"(cleared)", "none");
	preemption_finish(&fixture);
}
END_TEST

START_TEST(test_preemption__edge_08_08_nodes_not_tried)
{
	struct preemption_fixture fixture;
	char name[] = "node0";

	preemption_init(&fixture, NULL);
	for (name[4] = '1'; name[4] <= '4'; name[4]++) {
		char pod[] = "p0:low";

		pod[1] = name[4];
		preemption_add_node(&fixture, name, "'cpu':'200m','pods':'10'");
		preemption_add_pods(&fixture, name, pod);
	}
	preemption_expect(&fixture, "p:hi,cpu=300m", "node1:U node2:U node4:UU",
		"Unschedulable: preemption: 0/4 nodes are available: 2 Insufficient cpu, "
		"2 " NO_HELP ".",
		"(cleared)", "none");
	preemption_finish(&fixture);
}
END_TEST

/** --- errors --- */

/* An out-of-tree plugin that fails when pod `p` is removed. */
static struct bt_status accept_pod(BT_UNUSED struct bt_plugin *plugin,
	BT_UNUSED struct bt_cycle_state *cycle, BT_UNUSED const struct bt_pod_info *pod,
	BT_UNUSED struct bt_pre_filter_result *out_result)
{
	return BT_STATUS_OK;
}

static struct bt_status refuse_removal(BT_UNUSED struct bt_plugin *plugin,
	struct bt_cycle_state *cycle, BT_UNUSED const struct bt_pod_info *pod_to_schedule,
	const struct bt_pod_info *other, BT_UNUSED const struct bt_node_info *node, int64_t step)
{
	if (step < 0 && bt_str_equal_c(other->name, "p")) {
		return bt_status_error_text(cycle->arena, BT_STR("failed to remove pod: p"));
	}
	return BT_STATUS_OK;
}

static const struct bt_plugin_ops test_plugin = {
	.name = "test-plugin",
	.pre_filter = accept_pod,
	.pre_filter_change_pod = refuse_removal,
};

static void init_refusing(struct preemption_fixture *fixture)
{
	static const struct preemption_options options = {
		.plugins = "NodeResourcesFit,test-plugin", .extra = &test_plugin};

	preemption_init(fixture, &options);
	preemption_add_node(fixture, "node1", "'pods':'1'");
	preemption_add_pods(fixture, "node1", "p:low");
}

START_TEST(test_preemption__edge_08_09_extension_fails)
{
	struct preemption_fixture fixture;

	init_refusing(&fixture);
	preemption_expect(&fixture, "preemptor:hi", "node1:U",
		"Error: preemption: running RemovePod on PreFilter plugin \"test-plugin\": failed "
		"to remove pod: p",
		"none", "none");
	/* Equal messages are reported once. */
	preemption_add_node(&fixture, "node2", "'pods':'1'");
	preemption_add_pods(&fixture, "node2", "other/p:low");
	preemption_expect(&fixture, "preemptor:hi", "node1:U node2:U",
		"Error: preemption: running RemovePod on PreFilter plugin \"test-plugin\": failed "
		"to remove pod: p",
		"none", "none");
	preemption_finish(&fixture);
}
END_TEST

START_TEST(test_preemption__edge_08_10_error_on_one_node_is_ignored)
{
	struct preemption_fixture fixture;

	init_refusing(&fixture);
	preemption_add_node(&fixture, "node2", "'pods':'1'");
	preemption_add_pods(&fixture, "node2", "p2:low");
	preemption_expect(
		&fixture, "preemptor:hi", "node1:U node2:U", "Success", "node2", "node2[p2]");
	ck_assert_uint_eq(fixture.evaluator->statuses.entries.count, 1);
	preemption_finish(&fixture);
}
END_TEST

START_TEST(test_preemption__edge_08_11_no_victim_needed)
{
	struct preemption_fixture fixture;

	preemption_init(&fixture, NULL);
	preemption_add_node(&fixture, "node1", "'pods':'10'");
	preemption_add_pods(&fixture, "node1", "p1:low p2:mid");
	preemption_expect(&fixture, "p:hi", "node1:U",
		"Error: preemption: expected at least one victim pod on node \"node1\"", "none",
		"none");
	/* Different messages are listed in the order of their occurrence. */
	preemption_add_node(&fixture, "node2", "'pods':'10'");
	preemption_add_pods(&fixture, "node2", "p3:low");
	preemption_expect(&fixture, "p:hi", "node2:U node1:U",
		"Error: preemption: [expected at least one victim pod on node \"node2\", expected "
		"at least one victim pod on node \"node1\"]",
		"none", "none");
	preemption_finish(&fixture);
}
END_TEST

/** --- the remaining pairs of result and status --- */

START_TEST(test_preemption__pod_is_gone)
{
	struct preemption_fixture fixture;
	const struct bt_pod_info *pod;

	preemption_init(&fixture, NULL);
	preemption_add_node(&fixture, "node1", "'pods':'1'");
	preemption_add_pods(&fixture, "node1", "p1:low");
	pod = preemption_pending(&fixture, "p:hi");
	preemption_informer_remove(&fixture, "p");
	ck_assert_str_eq(
		preemption_run(&fixture, pod, "node1:U"), "Error: preemption: pod \"p\" not found");
	ck_assert_str_eq(preemption_nominated(&fixture), "none");
	ck_assert_uint_eq(fixture.evaluator->attempt_count, 1);
	preemption_finish(&fixture);
}
END_TEST

START_TEST(test_preemption__newest_version_counts)
{
	struct preemption_fixture fixture;
	const struct bt_pod_info *pod;

	preemption_init(&fixture, NULL);
	preemption_add_node(&fixture, "node1", "'pods':'1'");
	preemption_add_pods(&fixture, "node1", "p1:mid");
	pod = preemption_pending(&fixture, "p:low");
	preemption_informer_set(&fixture, "p:hi");
	ck_assert_str_eq(preemption_run(&fixture, pod, "node1:U"), "Success");
	ck_assert_str_eq(preemption_candidates(&fixture), "node1[p1]");
	preemption_informer_set(&fixture, "p:hi,never");
	ck_assert_str_eq(preemption_run(&fixture, pod, "node1:U"),
		"Unschedulable: preemption: not eligible due to preemptionPolicy=Never.");
	preemption_finish(&fixture);
}
END_TEST

START_TEST(test_preemption__no_nodes)
{
	struct preemption_fixture fixture;

	preemption_init(&fixture, NULL);
	preemption_expect(
		&fixture, "p:hi", "", "Error: preemption: no nodes available", "none", "none");
	preemption_finish(&fixture);
}
END_TEST

START_TEST(test_preemption__all_post_filter_plugins_skipped)
{
	struct preemption_fixture fixture;
	struct bt_status status;

	preemption_init(&fixture, NULL);
	preemption_add_node(&fixture, "node1", "'pods':'1'");
	preemption_add_pods(&fixture, "node1", "p1:low");
	preemption_expect(&fixture, "p:hi", "node1:U", "Success", "node1", "node1[p1]");
	fixture.cycle.skip_all_post_filter = true;
	status = bt_run_post_filter(fixture.framework, &fixture.cycle,
		preemption_pending(&fixture, "q:hi"), &fixture.statuses, &fixture.result);
	ck_assert_str_eq(preemption_status_text(&fixture, status),
		"Unschedulable: All PostFilter plugins are skipped");
	ck_assert_str_eq(preemption_nominated(&fixture), "none");
	ck_assert_uint_eq(fixture.evaluator->attempt_count, 1);
	preemption_finish(&fixture);
}
END_TEST

START_TEST(test_preemption__whole_default_profile)
{
	static const struct preemption_options options = {.plugins = "*"};
	struct preemption_fixture fixture;

	preemption_init(&fixture, &options);
	preemption_add_node(&fixture, "node1", "'cpu':'1','pods':'10'");
	preemption_add_node(&fixture, "node2", "'cpu':'1','pods':'10'");
	preemption_add_node(&fixture, "node3", "'cpu':'1','pods':'10'");
	preemption_add_pods(&fixture, "node1", "p1:hi,cpu=1");
	preemption_add_pods(&fixture, "node2", "p2:hi,cpu=1");
	preemption_add_pods(&fixture, "node3", "p3:hi,cpu=1");
	preemption_expect(&fixture, "p:hi,cpu=1", NULL,
		"Unschedulable: no new claims to deallocate, preemption: 0/3 nodes are available: "
		"3 " NO_VICTIMS ".",
		"(cleared)", "none");
	preemption_expect(&fixture, "q:top,cpu=1", "node2:U", "Success", "node2", "node2[p2]");
	preemption_finish(&fixture);
}
END_TEST

START_TEST(test_preemption__not_reached_after_an_unresolvable_pre_filter)
{
	static const struct preemption_options options = {.plugins = "*"};
	struct preemption_fixture fixture;

	/* DynamicResources runs first and finds that its PreFilter did not run. */
	preemption_init(&fixture, &options);
	preemption_add_node(&fixture, "node1", "'cpu':'1','pods':'10'");
	preemption_add_pods(&fixture, "node1", "p1:low,cpu=1");
	preemption_expect(
		&fixture, "p:hi,cpu=1,claim=nowhere", NULL, "Error: not found", "none", "none");
	ck_assert_uint_eq(fixture.evaluator->attempt_count, 0);
	preemption_finish(&fixture);
}
END_TEST

BT_TEST_MAIN("preemption_outcome", test_preemption__edge_08_01_one_victim,
	test_preemption__edge_08_02_equal_priority, test_preemption__edge_08_03_unresolvable_node,
	test_preemption__edge_08_04_no_statuses, test_preemption__edge_08_05_node_with_lower_pod,
	test_preemption__edge_08_06_too_small_when_empty,
	test_preemption__edge_08_07_different_reasons, test_preemption__edge_08_08_nodes_not_tried,
	test_preemption__edge_08_09_extension_fails,
	test_preemption__edge_08_10_error_on_one_node_is_ignored,
	test_preemption__edge_08_11_no_victim_needed, test_preemption__pod_is_gone,
	test_preemption__newest_version_counts, test_preemption__no_nodes,
	test_preemption__all_post_filter_plugins_skipped, test_preemption__whole_default_profile,
	test_preemption__not_reached_after_an_unresolvable_pre_filter)
