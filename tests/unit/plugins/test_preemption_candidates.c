/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Number and order of candidates, and the selected candidate. Spec: 08 section 18, cases 23 to 32.
 */
#include "base/prng.h"
#include "preemption_fixture.h"
#include "test_main.h"

#define FIVE_NODES "node1 node2 node3 node4 node5"

/**
 * Builds nodes node1 to node5 with one pod each, p1 to p5. priorities: "low", "hi" and so on
 * (preemption_fixture.h), one for each pod.
 */
static void init_five(struct preemption_fixture *fixture, const char *const priorities[5])
{
	static const struct preemption_options options = {
		.args = "{'minCandidateNodesPercentage':40,'minCandidateNodesAbsolute':1}"};
	char node[] = "node1";

	preemption_init(fixture, &options);
	for (int i = 0; i < 5; i++) {
		struct bt_str pod = bt_arena_printf(
			&fixture->arena, "p%d:%s,label=app=p%d", i + 1, priorities[i], i + 1);

		node[4] = (char)('1' + i);
		preemption_add_node(fixture, node, "'pods':'1'");
		preemption_add_pods(fixture, node, pod.data);
	}
}

START_TEST(test_preemption__edge_08_23_cyclic_window)
{
	static const char *const priorities[] = {"low", "low", "low", "low", "low"};
	struct preemption_fixture fixture;
	const struct bt_pod_info *pod;

	init_five(&fixture, priorities);
	ck_assert_uint_eq(bt_calculate_num_candidates(fixture.evaluator, 5), 2);
	pod = preemption_pending(&fixture, "p:hi");
	ck_assert_str_eq(
		preemption_dry_run(&fixture, pod, FIVE_NODES, 4, 2), "node5[p5] node1[p1]");
	ck_assert_str_eq(
		preemption_dry_run(&fixture, pod, FIVE_NODES, 0, 2), "node1[p1] node2[p2]");
	/* A whole attempt finds the same number of candidates, and starts at the random offset. */
	preemption_expect(&fixture, "q:hi", NULL, "Success", "node1", "node1[p1] node2[p2]");
	preemption_finish(&fixture);
}
END_TEST

START_TEST(test_preemption__edge_08_24_nodes_without_victims_are_passed)
{
	static const char *const priorities[] = {"low", "hi", "low", "low", "hi"};
	struct preemption_fixture fixture;

	init_five(&fixture, priorities);
	ck_assert_str_eq(preemption_dry_run(
				 &fixture, preemption_pending(&fixture, "p:hi"), FIVE_NODES, 4, 2),
		"node1[p1] node3[p3]");
	/* The dry run ended before node4: only two statuses. */
	ck_assert_uint_eq(fixture.evaluator->statuses.entries.count, 2);
	ck_assert_uint_eq(fixture.evaluator->statuses.entries.items[0].slot,
		preemption_slot(&fixture, "node5"));
	ck_assert_uint_eq(fixture.evaluator->statuses.entries.items[1].slot,
		preemption_slot(&fixture, "node2"));
	preemption_finish(&fixture);
}
END_TEST

START_TEST(test_preemption__edge_08_25_violating_ones_do_not_end_the_scan)
{
	static const char *const priorities[] = {"low", "low", "low", "low", "low"};
	struct preemption_fixture fixture;

	init_five(&fixture, priorities);
	preemption_add_budget(&fixture, "pdb",
		"{'matchExpressions':[{'key':'app','operator':'In','values':['p5','p1','p2']}]}", 0,
		NULL);
	ck_assert_str_eq(preemption_dry_run(
				 &fixture, preemption_pending(&fixture, "p:hi"), FIVE_NODES, 4, 2),
		"node3[p3] node5[p5]!1 node1[p1]!1");
	/* The candidate that is dropped because of the limit leaves no status. */
	ck_assert_uint_eq(fixture.evaluator->statuses.entries.count, 0);
	preemption_finish(&fixture);
}
END_TEST

START_TEST(test_preemption__edge_08_26_limits)
{
	static const struct preemption_options one_percent = {
		.args = "{'minCandidateNodesPercentage':1,'minCandidateNodesAbsolute':0}"};
	static const struct {
		uint32_t nodes;
		uint32_t limit;
	} defaults[] = {{2000, 200}, {999, 100}, {50, 50}, {1009, 100}, {1010, 101}, {1, 1}};
	struct preemption_fixture fixture;
	char node[] = "node00";

	preemption_init(&fixture, NULL);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(defaults); i++) {
		ck_assert_uint_eq(
			bt_calculate_num_candidates(fixture.evaluator, defaults[i].nodes),
			defaults[i].limit);
	}
	preemption_finish(&fixture);

	preemption_init(&fixture, &one_percent);
	ck_assert_uint_eq(bt_calculate_num_candidates(fixture.evaluator, 50), 0);
	ck_assert_uint_eq(bt_calculate_num_candidates(fixture.evaluator, 100), 1);
	for (int i = 0; i < 50; i++) {
		struct bt_str pod =
			bt_arena_printf(&fixture.arena, "p%d:%s", i, i < 20 ? "hi" : "low");

		node[4] = (char)('0' + i / 10);
		node[5] = (char)('0' + i % 10);
		preemption_add_node(&fixture, node, "'pods':'1'");
		preemption_add_pods(&fixture, node, pod.data);
	}
	preemption_expect(&fixture, "p:hi", NULL,
		"Unschedulable: preemption: 0/50 nodes are available: 20 No preemption victims "
		"found for incoming pod, 30 Preemption is not helpful for scheduling.",
		"(cleared)", "none");
	preemption_finish(&fixture);
}
END_TEST

/** --- the selected candidate --- */

/* Adds a node where every pod is needed as a victim. */
static void add_full_node(struct preemption_fixture *fixture, const char *name, const char *pods)
{
	preemption_add_node(fixture, name, "'cpu':'1','pods':'10'");
	preemption_add_pods(fixture, name, pods);
}

static void expect_choice(struct preemption_fixture *fixture, const char *node)
{
	preemption_expect(fixture, "p:top,cpu=1", NULL, "Success", node, NULL);
	ck_assert_str_eq(preemption_choices(fixture), node);
}

START_TEST(test_preemption__edge_08_27_lowest_highest_priority)
{
	struct preemption_fixture fixture;

	preemption_init(&fixture, NULL);
	add_full_node(&fixture, "node1", "a:mid,cpu=500m b:mid,cpu=500m");
	add_full_node(&fixture, "node2", "c:mid,cpu=500m d:low,cpu=500m");
	add_full_node(&fixture, "node3", "e:low,cpu=500m f:low,cpu=500m");
	expect_choice(&fixture, "node3");
	preemption_finish(&fixture);
}
END_TEST

START_TEST(test_preemption__edge_08_28_smallest_sum)
{
	struct preemption_fixture fixture;

	preemption_init(&fixture, NULL);
	add_full_node(&fixture, "node1", "a:mid,cpu=500m b:mid,cpu=500m");
	add_full_node(&fixture, "node2", "c:mid,cpu=500m d:low,cpu=500m");
	add_full_node(&fixture, "node3", "e:mid,cpu=500m f:mid,cpu=500m");
	expect_choice(&fixture, "node2");
	preemption_finish(&fixture);
}
END_TEST

START_TEST(test_preemption__edge_08_29_sum_grows_with_number)
{
	struct preemption_fixture fixture;

	preemption_init(&fixture, NULL);
	add_full_node(
		&fixture, "node1", "a:mid,cpu=250m b:neg,cpu=250m c:mid,cpu=250m d:neg,cpu=250m");
	add_full_node(&fixture, "node2", "e:mid,cpu=500m f:neg,cpu=500m");
	add_full_node(&fixture, "node3", "g:mid,cpu=500m h:neg,cpu=250m i:low,cpu=250m");
	expect_choice(&fixture, "node2");
	/*
	 * A plain sum of priorities would make nodes with many negative-priority pods look cheap.
	 */
	add_full_node(&fixture, "node4", "j:mid,cpu=250m k:neg,cpu=250m l:neg,cpu=500m");
	expect_choice(&fixture, "node2");
	preemption_finish(&fixture);
}
END_TEST

START_TEST(test_preemption__edge_08_30_criteria_in_order)
{
	struct preemption_fixture fixture;

	preemption_init(&fixture, NULL);
	add_full_node(&fixture, "node1", "a:mid,cpu=500m b:low,cpu=250m c:low,cpu=250m");
	add_full_node(&fixture, "node2", "d:hi,cpu=1");
	add_full_node(
		&fixture, "node3", "e:mid,cpu=250m f:low,cpu=250m g:low,cpu=250m h:low,cpu=250m");
	add_full_node(
		&fixture, "node4", "i:mid,cpu=250m j:mid,cpu=250m k:mid,cpu=250m l:neg,cpu=250m");
	expect_choice(&fixture, "node1");
	preemption_finish(&fixture);

	/* The lowest possible priority adds 0 to the sum, so the number of victims decides. */
	preemption_init(&fixture, NULL);
	add_full_node(&fixture, "node1", "a:mid,cpu=500m b:-2147483648,cpu=500m");
	add_full_node(&fixture, "node2", "c:mid,cpu=1");
	expect_choice(&fixture, "node2");
	preemption_finish(&fixture);
}
END_TEST

START_TEST(test_preemption__edge_08_31_latest_start)
{
	struct preemption_fixture fixture;

	preemption_init(&fixture, NULL);
	add_full_node(&fixture, "node1", "a:mid,cpu=500m,start=4 b:mid,cpu=500m,start=2");
	add_full_node(&fixture, "node2", "c:mid,cpu=500m,start=5 d:mid,cpu=500m,start=1");
	add_full_node(&fixture, "node3", "e:mid,cpu=500m,start=3 f:mid,cpu=500m,start=6");
	expect_choice(&fixture, "node3");
	/*
	 * A pod without start time counts as started now: later than all other pods. Two such pods
	 * count as started at the same time.
	 */
	add_full_node(&fixture, "node4", "g:mid,cpu=500m h:mid,cpu=500m");
	expect_choice(&fixture, "node4");
	add_full_node(&fixture, "node5", "i:mid,cpu=500m j:mid,cpu=500m");
	add_full_node(&fixture, "node6", "k:mid,cpu=500m l:mid,cpu=500m,start=9");
	preemption_expect(&fixture, "p:top,cpu=1", NULL, "Success", "node4", NULL);
	ck_assert_str_eq(preemption_choices(&fixture), "node4 node5");
	preemption_finish(&fixture);
}
END_TEST

START_TEST(test_preemption__edge_08_32_start_of_the_highest_only)
{
	struct preemption_fixture fixture;

	preemption_init(&fixture, NULL);
	add_full_node(&fixture, "node1", "a:low,cpu=500m,start=4 b:mid,cpu=500m,start=2");
	add_full_node(&fixture, "node2", "c:mid,cpu=500m,start=6 d:low,cpu=500m,start=1");
	add_full_node(&fixture, "node3", "e:low,cpu=500m,start=3 f:mid,cpu=500m,start=5");
	expect_choice(&fixture, "node2");
	preemption_finish(&fixture);
}
END_TEST

START_TEST(test_preemption__victims_in_an_order_of_their_own)
{
	struct preemption_fixture fixture;
	struct bt_preemption_candidate candidates[2] = {{.victim_count = 2}, {.victim_count = 2}};
	struct bt_preemption_decision decision = {
		.candidates = candidates, .candidate_count = 2, .selected = UINT32_MAX};
	uint32_t victims[2][2];

	/*
	 * An extender may list the least important victim first: criterion 2 uses the first victim,
	 * while criterion 5 uses the highest priority of the whole list.
	 */
	preemption_init(&fixture, NULL);
	add_full_node(&fixture, "node1", "a:low,start=9 b:mid,start=1");
	add_full_node(&fixture, "node2", "c:low,start=1 d:mid,start=5");
	for (uint32_t i = 0; i < 2; i++) {
		victims[i][0] = preemption_pod_id(&fixture, i == 0 ? "a" : "c");
		victims[i][1] = preemption_pod_id(&fixture, i == 0 ? "b" : "d");
		candidates[i].slot = preemption_slot(&fixture, i == 0 ? "node1" : "node2");
		candidates[i].victims = victims[i];
	}
	bt_pick_one_node_for_preemption(fixture.evaluator, &fixture.arena, &decision);
	ck_assert_uint_eq(decision.choice_count, 1);
	ck_assert_uint_eq(decision.selected, 1);
	victims[1][0] = preemption_pod_id(&fixture, "d");
	victims[1][1] = preemption_pod_id(&fixture, "c");
	bt_pick_one_node_for_preemption(fixture.evaluator, &fixture.arena, &decision);
	ck_assert_msg(decision.selected == 0, "its first victim is the less important one");
	preemption_finish(&fixture);
}
END_TEST

/** --- choices left to chance, and to an embedding program --- */

START_TEST(test_preemption__preferred_node_and_random_start)
{
	static const char *const priorities[] = {"low", "low", "low", "low", "low"};
	struct preemption_fixture fixture;
	struct bt_prng prng;
	uint32_t first_seen[5] = {0};

	init_five(&fixture, priorities);
	fixture.framework->handle.preferred_node = BT_STR("node2");
	preemption_expect(&fixture, "p:hi", NULL, "Success", "node2", "node1[p1] node2[p2]");
	ck_assert_str_eq(preemption_choices(&fixture), "node2 node1");
	/* The preferred node is ignored if it is not a candidate. */
	fixture.framework->handle.preferred_node = BT_STR("node5");
	preemption_expect(&fixture, "p:hi", NULL, "Success", "node1", NULL);
	fixture.framework->handle.preferred_node = BT_STR("");
	bt_prng_init(&prng, 1);
	fixture.framework->handle.prng = &prng;
	for (int i = 0; i < 200; i++) {
		const char *candidates;

		(void)preemption_run(&fixture, preemption_pending(&fixture, "p:hi"), NULL);
		candidates = preemption_candidates(&fixture);
		first_seen[candidates[4] - '1']++;
	}
	for (int i = 0; i < 5; i++) {
		ck_assert_msg(first_seen[i] > 10, "node%d: %u", i + 1, first_seen[i]);
	}
	preemption_finish(&fixture);
}
END_TEST

static int64_t most_victims(BT_UNUSED void *context, BT_UNUSED uint32_t which,
	const struct bt_preemption_candidate *candidate)
{
	return candidate->victim_count;
}

static bool spare_c(BT_UNUSED void *context, BT_UNUSED uint32_t slot,
	const struct bt_pod_info *victim, BT_UNUSED const struct bt_pod_info *preemptor)
{
	return !bt_str_equal_c(victim->name, "c");
}

static bool by_name_backwards(
	BT_UNUSED void *context, const struct bt_pod_info *a, const struct bt_pod_info *b)
{
	return bt_str_compare(a->name, b->name) > 0;
}

START_TEST(test_preemption__hooks)
{
	struct preemption_fixture fixture;

	preemption_init(&fixture, NULL);
	add_full_node(&fixture, "node1", "a:mid,cpu=500m b:hi,cpu=500m");
	add_full_node(&fixture, "node2", "c:low,cpu=1");
	expect_choice(&fixture, "node2");
	fixture.evaluator->hooks.ordered_score = most_victims;
	fixture.evaluator->hooks.ordered_score_count = 1;
	expect_choice(&fixture, "node1");
	ck_assert_str_eq(preemption_candidates(&fixture), "node1[b a] node2[c]");
	fixture.evaluator->hooks.more_important_pod = by_name_backwards;
	preemption_expect(&fixture, "p:top,cpu=500m", "node1:U", "Success", "node1", "node1[a]");
	fixture.evaluator->hooks.is_eligible_pod = spare_c;
	preemption_expect(&fixture, "p:top,cpu=1", "node2:U",
		"Unschedulable: preemption: 0/2 nodes are available: 1 No preemption victims found "
		"for incoming pod, 1 Preemption is not helpful for scheduling.",
		"(cleared)", "none");
	preemption_finish(&fixture);
}
END_TEST

BT_TEST_MAIN("preemption_candidates", test_preemption__edge_08_23_cyclic_window,
	test_preemption__edge_08_24_nodes_without_victims_are_passed,
	test_preemption__edge_08_25_violating_ones_do_not_end_the_scan,
	test_preemption__edge_08_26_limits, test_preemption__edge_08_27_lowest_highest_priority,
	test_preemption__edge_08_28_smallest_sum, test_preemption__edge_08_29_sum_grows_with_number,
	test_preemption__edge_08_30_criteria_in_order, test_preemption__edge_08_31_latest_start,
	test_preemption__edge_08_32_start_of_the_highest_only,
	test_preemption__victims_in_an_order_of_their_own,
	test_preemption__preferred_node_and_random_start, test_preemption__hooks)
