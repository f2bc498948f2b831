/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_plugin.h"
#include "test_main.h"

#define FILTER FAKE_ROLE(FAKE_FILTER)
#define POST FAKE_ROLE(FAKE_POST_FILTER)
#define PRE_WITH_ADD (FAKE_ROLE(FAKE_PRE_FILTER) | FAKE_ROLE(FAKE_ADD_POD))

static struct bt_status run_filter(struct fake_world *world)
{
	struct bt_node_info node = fake_world_node(world, 0);

	return bt_run_filter(world->framework, &world->cycle, &world->pod, &node);
}

static struct bt_status run_nominated(struct fake_world *world, uint32_t node_index)
{
	struct bt_node_info node = fake_world_node(world, node_index);

	return bt_run_filter_with_nominated_pods(
		world->framework, &world->cycle, &world->pod, &node);
}

START_TEST(test_filter__edge_02_11_first_failure)
{
	struct fake fakes[] = {fake_plugin("P1", FILTER), fake_plugin("P2", FILTER)};
	struct fake_world world;

	fake_answer(&fakes[0], FAKE_FILTER, BT_STATUS_UNSCHEDULABLE, "no");
	fake_world_init(&world, fakes, 2, "filter=P1,P2");
	FAKE_EXPECT(&world, run_filter(&world), BT_STATUS_UNSCHEDULABLE, "no", "P1");
	ck_assert_uint_eq(fakes[1].calls[FAKE_FILTER], 0);
	fake_fail(&fakes[0], FAKE_FILTER, "x");
	FAKE_EXPECT(&world, run_filter(&world), BT_STATUS_ERROR, "running \"P1\" filter plugin: x",
		"P1");
	/* Spec 02 section 1.3: Wait and Skip give no error to wrap. */
	fake_answer(&fakes[0], FAKE_FILTER, BT_STATUS_WAIT, NULL);
	FAKE_EXPECT(&world, run_filter(&world), BT_STATUS_ERROR,
		"running \"P1\" filter plugin: %!w(<nil>)", "P1");
	fake_answer(&fakes[0], FAKE_FILTER, BT_STATUS_PENDING, "p");
	FAKE_EXPECT(&world, run_filter(&world), BT_STATUS_PENDING, "p", "P1");
	fake_world_finish(&world);
}
END_TEST

START_TEST(test_filter__edge_02_12_skipped_is_never_called)
{
	struct fake fakes[] = {fake_plugin("P", FAKE_ROLE(FAKE_PRE_FILTER) | FILTER)};
	struct fake_world world;

	fake_answer(&fakes[0], FAKE_PRE_FILTER, BT_STATUS_SKIP, NULL);
	fake_fail(&fakes[0], FAKE_FILTER, "x");
	fake_world_init(&world, fakes, 1, "multiPoint=P");
	(void)bt_run_pre_filter(world.framework, &world.cycle, &world.pod);
	FAKE_EXPECT(&world, run_filter(&world), BT_STATUS_SUCCESS, "", "");
	ck_assert_uint_eq(fakes[0].calls[FAKE_FILTER], 0);
	fake_world_finish(&world);
}
END_TEST

START_TEST(test_filter__edge_02_13_unknown_name_in_skip_set)
{
	struct fake fakes[] = {fake_plugin("P", FILTER)};
	struct fake_world world;

	fake_answer(&fakes[0], FAKE_FILTER, BT_STATUS_UNSCHEDULABLE, "no");
	fake_world_init(&world, fakes, 1, "filter=P");
	bt_plugin_set_add(&world.cycle.skip_filter, BT_PLUGINS_MAX - 1);
	FAKE_EXPECT(&world, run_filter(&world), BT_STATUS_UNSCHEDULABLE, "no", "P");
	fake_world_finish(&world);
}
END_TEST

START_TEST(test_filter__edge_02_14_add_pod_fails)
{
	struct fake fakes[] = {fake_plugin("P", PRE_WITH_ADD | FILTER)};
	struct fake_world world;
	struct bt_pod_info high;
	struct bt_pod_info low;

	fake_answer(&fakes[0], FAKE_ADD_POD, BT_STATUS_UNSCHEDULABLE, "conflict");
	fake_world_init(&world, fakes, 1, "multiPoint=P");
	high = fake_world_pod(&world, "high", 10);
	low = fake_world_pod(&world, "low", -1);
	(void)bt_run_pre_filter(world.framework, &world.cycle, &world.pod);
	bt_nominator_add(&world.nominator, &low, BT_STR("n2"), true);
	bt_nominator_add(&world.nominator, &high, BT_STR("n1"), true);
	FAKE_EXPECT(&world, run_nominated(&world, 0), BT_STATUS_ERROR,
		"running AddPod on PreFilter plugin \"P\": conflict", "");
	ck_assert_uint_eq(fakes[0].calls[FAKE_FILTER], 0);
	fakes[0].calls[FAKE_ADD_POD] = 0;
	FAKE_EXPECT(&world, run_nominated(&world, 1), BT_STATUS_SUCCESS, "", "");
	ck_assert_uint_eq(fakes[0].calls[FAKE_ADD_POD], 0);
	ck_assert_uint_eq(fakes[0].calls[FAKE_FILTER], 1);
	fake_world_finish(&world);
}
END_TEST

START_TEST(test_filter__edge_02_15_two_passes)
{
	struct fake fakes[] = {fake_plugin("P", PRE_WITH_ADD | FILTER)};
	struct fake_world world;
	struct bt_pod_info equal;
	const uint32_t *counter;

	fake_world_init(&world, fakes, 1, "multiPoint=P");
	equal = fake_world_pod(&world, "equal", 0);
	(void)bt_run_pre_filter(world.framework, &world.cycle, &world.pod);
	/* The pod's nomination does not count against the pod itself. */
	bt_nominator_add(&world.nominator, &world.pod, BT_STR("n1"), true);
	FAKE_EXPECT(&world, run_nominated(&world, 0), BT_STATUS_SUCCESS, "", "");
	ck_assert_uint_eq(fakes[0].calls[FAKE_FILTER], 1);
	ck_assert_uint_eq(fakes[0].calls[FAKE_ADD_POD], 0);
	/*
	 * A nominated pod of equal priority counts: Filter runs once with that pod and once
	 * without.
	 */
	bt_nominator_add(&world.nominator, &equal, BT_STR("n1"), true);
	fakes[0].calls[FAKE_FILTER] = 0;
	FAKE_EXPECT(&world, run_nominated(&world, 0), BT_STATUS_SUCCESS, "", "");
	ck_assert_uint_eq(fakes[0].calls[FAKE_FILTER], 2);
	ck_assert_uint_eq(fakes[0].calls[FAKE_ADD_POD], 1);
	ck_assert_uint_eq(fakes[0].filter_pod_count, 0);
	/* AddPod worked on a clone: the cycle's data are unchanged. */
	counter = world.cycle.pre_filter_data[bt_framework_find_plugin(world.framework, BT_STR("P"))
						      ->index];
	ck_assert_uint_eq(*counter, 0);
	/* The first pass rejects, so there is no second pass. */
	fakes[0].filter_full_at = 1;
	fakes[0].calls[FAKE_FILTER] = 0;
	FAKE_EXPECT(&world, run_nominated(&world, 0), BT_STATUS_UNSCHEDULABLE, "full", "P");
	ck_assert_uint_eq(fakes[0].calls[FAKE_FILTER], 1);
	ck_assert_uint_eq(fakes[0].filter_pod_count, 1);
	/* The nomination does not affect other nodes. */
	FAKE_EXPECT(&world, run_nominated(&world, 2), BT_STATUS_SUCCESS, "", "");
	fake_world_finish(&world);
}
END_TEST

static struct bt_status run_post_filter(
	struct fake_world *world, struct bt_post_filter_result *out_result)
{
	const struct bt_node_statuses statuses = {0};

	return bt_run_post_filter(
		world->framework, &world->cycle, &world->pod, &statuses, out_result);
}

START_TEST(test_filter__edge_02_16_post_filter_reasons_add_up)
{
	struct fake fakes[] = {fake_plugin("A", POST), fake_plugin("B", POST)};
	struct fake_world world;
	struct bt_post_filter_result result;
	struct bt_status status;

	fake_answer(&fakes[0], FAKE_POST_FILTER, BT_STATUS_UNSCHEDULABLE, "a");
	fake_answer(&fakes[1], FAKE_POST_FILTER, BT_STATUS_UNSCHEDULABLE, "b");
	fake_world_init(&world, fakes, 2, "postFilter=A,B");
	status = run_post_filter(&world, &result);
	FAKE_EXPECT(&world, status, BT_STATUS_UNSCHEDULABLE, "a, b", "A");
	ck_assert_uint_eq(status.reason_count, 2);
	ck_assert(!result.present);
	world.cycle.skip_all_post_filter = true;
	FAKE_EXPECT(&world, run_post_filter(&world, &result), BT_STATUS_UNSCHEDULABLE,
		"All PostFilter plugins are skipped", "");
	fake_world_finish(&world);
}
END_TEST

START_TEST(test_filter__edge_02_17_post_filter_unresolvable_alone)
{
	struct fake fakes[] = {fake_plugin("A", POST), fake_plugin("B", POST)};
	struct fake_world world;
	struct bt_post_filter_result result;

	fake_answer(&fakes[0], FAKE_POST_FILTER, BT_STATUS_UNSCHEDULABLE, "a");
	fake_answer(&fakes[1], FAKE_POST_FILTER, BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE, "z");
	fake_world_init(&world, fakes, 2, "postFilter=A,B");
	FAKE_EXPECT(&world, run_post_filter(&world, &result),
		BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE, "z", "B");
	fake_world_finish(&world);
}
END_TEST

START_TEST(test_filter__edge_02_18_post_filter_error_unchanged)
{
	struct fake fakes[] = {fake_plugin("A", POST), fake_plugin("B", POST)};
	struct fake_world world;
	struct bt_post_filter_result result;

	fakes[0].nominated = "n1";
	fakes[0].nominating_mode = BT_NOMINATING_OVERRIDE;
	fake_fail(&fakes[0], FAKE_POST_FILTER, "e");
	fake_world_init(&world, fakes, 2, "postFilter=A,B");
	FAKE_EXPECT(&world, run_post_filter(&world, &result), BT_STATUS_ERROR, "e", "A");
	ck_assert(!result.present);
	ck_assert_uint_eq(fakes[1].calls[FAKE_POST_FILTER], 0);
	fake_world_finish(&world);
}
END_TEST

START_TEST(test_filter__edge_02_19_post_filter_last_override_wins)
{
	struct fake fakes[] = {
		fake_plugin("A", POST), fake_plugin("B", POST), fake_plugin("C", POST)};
	struct fake_world world;
	struct bt_post_filter_result result;

	for (int i = 0; i < 3; i++) {
		fake_answer(&fakes[i], FAKE_POST_FILTER, BT_STATUS_UNSCHEDULABLE, "x");
	}
	fakes[0].nominated = "n1";
	fakes[0].nominating_mode = BT_NOMINATING_OVERRIDE;
	fakes[2].nominated = "n3";
	fakes[2].nominating_mode = BT_NOMINATING_NOOP;
	fake_world_init(&world, fakes, 3, "postFilter=A,B,C");
	FAKE_EXPECT(
		&world, run_post_filter(&world, &result), BT_STATUS_UNSCHEDULABLE, "x, x, x", "A");
	ck_assert(result.present);
	ck_assert_int_eq(result.mode, BT_NOMINATING_OVERRIDE);
	ck_assert(bt_str_equal_c(result.nominated_node_name, "n1"));
	fake_world_finish(&world);
}
END_TEST

START_TEST(test_filter__post_filter_success_and_none)
{
	struct fake fakes[] = {fake_plugin("A", POST), fake_plugin("B", POST)};
	struct fake_world world;
	struct bt_post_filter_result result;

	fakes[0].nominated = "n2";
	fakes[0].nominating_mode = BT_NOMINATING_OVERRIDE;
	fake_world_init(&world, fakes, 2, "postFilter=A,B");
	FAKE_EXPECT(&world, run_post_filter(&world, &result), BT_STATUS_SUCCESS, "", "");
	ck_assert(bt_str_equal_c(result.nominated_node_name, "n2"));
	ck_assert_uint_eq(fakes[1].calls[FAKE_POST_FILTER], 0);
	fake_world_finish(&world);

	fake_world_init(&world, NULL, 0, "");
	FAKE_EXPECT(&world, run_post_filter(&world, &result), BT_STATUS_UNSCHEDULABLE, "", "");
	fake_world_finish(&world);
}
END_TEST

BT_TEST_MAIN("filter", test_filter__edge_02_11_first_failure,
	test_filter__edge_02_12_skipped_is_never_called,
	test_filter__edge_02_13_unknown_name_in_skip_set, test_filter__edge_02_14_add_pod_fails,
	test_filter__edge_02_15_two_passes, test_filter__edge_02_16_post_filter_reasons_add_up,
	test_filter__edge_02_17_post_filter_unresolvable_alone,
	test_filter__edge_02_18_post_filter_error_unchanged,
	test_filter__edge_02_19_post_filter_last_override_wins,
	test_filter__post_filter_success_and_none)
