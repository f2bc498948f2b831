/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_plugin.h"
#include "test_main.h"

#define PRE FAKE_ROLE(FAKE_PRE_FILTER)
#define FILTER FAKE_ROLE(FAKE_FILTER)

static const char *const only_n1[] = {"n1"};
static const char *const only_n2[] = {"n2"};
static const char *const n1_n2[] = {"n1", "n2"};

static void narrow(struct fake *fake, const char *const *names, uint32_t count)
{
	fake->node_names = names;
	fake->node_name_count = count;
}

static bool has_plugin(
	const struct fake_world *world, const struct bt_plugin_set *set, const char *name)
{
	return bt_plugin_set_has(
		set, bt_framework_find_plugin(world->framework, bt_str_from(name))->index);
}

START_TEST(test_pre_filter__edge_02_01_merge)
{
	struct fake fakes[] = {fake_plugin("A", PRE), fake_plugin("B", PRE), fake_plugin("C", PRE)};
	struct fake_world world;
	struct bt_pre_filter_outcome outcome;

	narrow(&fakes[1], only_n2, 1);
	narrow(&fakes[2], n1_n2, 2);
	fake_world_init(&world, fakes, 3, "preFilter=A,B,C");
	outcome = bt_run_pre_filter(world.framework, &world.cycle, &world.pod);
	FAKE_EXPECT(&world, outcome.status, BT_STATUS_SUCCESS, "", "");
	ck_assert(outcome.result.restricted);
	ck_assert_uint_eq(outcome.result.count, 1);
	ck_assert(bt_str_equal_c(outcome.result.names[0], "n2"));
	ck_assert(!has_plugin(&world, &outcome.plugins_with_nodes, "A"));
	ck_assert(has_plugin(&world, &outcome.plugins_with_nodes, "B"));
	ck_assert(has_plugin(&world, &outcome.plugins_with_nodes, "C"));
	fake_world_finish(&world);
}
END_TEST

START_TEST(test_pre_filter__edge_02_02_disjoint)
{
	struct fake fakes[] = {fake_plugin("C", PRE), fake_plugin("B", PRE)};
	struct fake_world world;
	struct bt_pre_filter_outcome outcome;

	narrow(&fakes[0], only_n1, 1);
	narrow(&fakes[1], only_n2, 1);
	/* C runs first, but the message sorts the names. */
	fake_world_init(&world, fakes, 2, "preFilter=C,B");
	outcome = bt_run_pre_filter(world.framework, &world.cycle, &world.pod);
	FAKE_EXPECT(&world, outcome.status, BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE,
		"node(s) didn't satisfy plugin(s) [B C] simultaneously", "");
	ck_assert(outcome.result.restricted);
	ck_assert_uint_eq(outcome.result.count, 0);
	fake_world_finish(&world);
}
END_TEST

START_TEST(test_pre_filter__edge_02_03_empty_set)
{
	struct fake fakes[] = {fake_plugin("B", PRE), fake_plugin("D", PRE)};
	struct fake_world world;
	struct bt_pre_filter_outcome outcome;

	narrow(&fakes[0], only_n1, 0);
	fake_answer(&fakes[1], FAKE_PRE_FILTER, BT_STATUS_SKIP, NULL);
	fake_world_init(&world, fakes, 2, "preFilter=B,D");
	outcome = bt_run_pre_filter(world.framework, &world.cycle, &world.pod);
	FAKE_EXPECT(&world, outcome.status, BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE,
		"node(s) didn't satisfy plugin B", "");
	ck_assert_uint_eq(fakes[1].calls[FAKE_PRE_FILTER], 0);
	ck_assert(!has_plugin(&world, &world.cycle.skip_filter, "D"));
	fake_world_finish(&world);
}
END_TEST

START_TEST(test_pre_filter__edge_02_04_unschedulable_goes_on)
{
	struct fake fakes[] = {fake_plugin("A", PRE), fake_plugin("B", PRE)};
	struct fake_world world;
	struct bt_pre_filter_outcome outcome;

	narrow(&fakes[0], only_n1, 1);
	fake_answer(&fakes[0], FAKE_PRE_FILTER, BT_STATUS_UNSCHEDULABLE, "a");
	fake_answer(&fakes[1], FAKE_PRE_FILTER, BT_STATUS_SKIP, NULL);
	fake_world_init(&world, fakes, 2, "preFilter=A,B");
	outcome = bt_run_pre_filter(world.framework, &world.cycle, &world.pod);
	FAKE_EXPECT(&world, outcome.status, BT_STATUS_UNSCHEDULABLE, "a", "A");
	ck_assert_uint_eq(fakes[1].calls[FAKE_PRE_FILTER], 1);
	ck_assert(has_plugin(&world, &world.cycle.skip_filter, "B"));
	ck_assert(!has_plugin(&world, &world.cycle.skip_filter, "A"));
	ck_assert(!outcome.result.restricted);
	fake_world_finish(&world);
}
END_TEST

START_TEST(test_pre_filter__edge_02_05_unresolvable_stops)
{
	struct fake fakes[] = {fake_plugin("A", PRE), fake_plugin("B", PRE)};
	struct fake_world world;
	struct bt_pre_filter_outcome outcome;

	fake_answer(&fakes[0], FAKE_PRE_FILTER, BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE, "a");
	fake_answer(&fakes[1], FAKE_PRE_FILTER, BT_STATUS_SKIP, NULL);
	fake_world_init(&world, fakes, 2, "preFilter=A,B");
	outcome = bt_run_pre_filter(world.framework, &world.cycle, &world.pod);
	FAKE_EXPECT(&world, outcome.status, BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE, "a", "A");
	ck_assert_uint_eq(fakes[1].calls[FAKE_PRE_FILTER], 0);
	ck_assert(!has_plugin(&world, &world.cycle.skip_filter, "B"));
	fake_world_finish(&world);
}
END_TEST

START_TEST(test_pre_filter__edge_02_06_skip_set_survives_error)
{
	struct fake fakes[] = {fake_plugin("A", PRE), fake_plugin("B", PRE)};
	struct fake_world world;
	struct bt_pre_filter_outcome outcome;

	fake_answer(&fakes[0], FAKE_PRE_FILTER, BT_STATUS_SKIP, NULL);
	fake_fail(&fakes[1], FAKE_PRE_FILTER, "x");
	fake_world_init(&world, fakes, 2, "preFilter=A,B");
	outcome = bt_run_pre_filter(world.framework, &world.cycle, &world.pod);
	FAKE_EXPECT(
		&world, outcome.status, BT_STATUS_ERROR, "running PreFilter plugin \"B\": x", "B");
	ck_assert(has_plugin(&world, &world.cycle.skip_filter, "A"));
	fake_world_finish(&world);
}
END_TEST

START_TEST(test_pre_filter__edge_02_07_error_wins_over_unschedulable)
{
	struct fake fakes[] = {fake_plugin("A", PRE), fake_plugin("B", PRE)};
	struct fake_world world;
	struct bt_pre_filter_outcome outcome;

	fake_answer(&fakes[0], FAKE_PRE_FILTER, BT_STATUS_UNSCHEDULABLE, "a");
	fake_fail(&fakes[1], FAKE_PRE_FILTER, "x");
	fake_world_init(&world, fakes, 2, "preFilter=A,B");
	outcome = bt_run_pre_filter(world.framework, &world.cycle, &world.pod);
	FAKE_EXPECT(
		&world, outcome.status, BT_STATUS_ERROR, "running PreFilter plugin \"B\": x", "B");
	fake_world_finish(&world);
}
END_TEST

START_TEST(test_pre_filter__edge_02_08_last_unschedulable_wins)
{
	struct fake fakes[] = {fake_plugin("A", PRE), fake_plugin("B", PRE)};
	struct fake_world world;
	struct bt_pre_filter_outcome outcome;

	fake_answer(&fakes[0], FAKE_PRE_FILTER, BT_STATUS_UNSCHEDULABLE, "a");
	fake_answer(&fakes[1], FAKE_PRE_FILTER, BT_STATUS_UNSCHEDULABLE, "b");
	fake_world_init(&world, fakes, 2, "preFilter=A,B");
	outcome = bt_run_pre_filter(world.framework, &world.cycle, &world.pod);
	FAKE_EXPECT(&world, outcome.status, BT_STATUS_UNSCHEDULABLE, "b", "B");
	fake_world_finish(&world);
}
END_TEST

START_TEST(test_pre_filter__edge_02_09_pending_is_an_error)
{
	struct fake fakes[] = {fake_plugin("A", PRE)};
	struct fake_world world;
	struct bt_pre_filter_outcome outcome;

	fake_answer(&fakes[0], FAKE_PRE_FILTER, BT_STATUS_PENDING, "later");
	fake_world_init(&world, fakes, 1, "preFilter=A");
	outcome = bt_run_pre_filter(world.framework, &world.cycle, &world.pod);
	FAKE_EXPECT(&world, outcome.status, BT_STATUS_ERROR,
		"running PreFilter plugin \"A\": later", "A");
	fake_answer(&fakes[0], FAKE_PRE_FILTER, BT_STATUS_WAIT, NULL);
	outcome = bt_run_pre_filter(world.framework, &world.cycle, &world.pod);
	FAKE_EXPECT(&world, outcome.status, BT_STATUS_ERROR,
		"running PreFilter plugin \"A\": %!w(<nil>)", "A");
	fake_world_finish(&world);
}
END_TEST

START_TEST(test_pre_filter__edge_02_10_all_skip)
{
	struct fake fakes[] = {fake_plugin("A", PRE | FILTER), fake_plugin("B", PRE | FILTER)};
	struct fake_world world;
	struct bt_pre_filter_outcome outcome;
	struct bt_node_info node;

	fake_answer(&fakes[0], FAKE_PRE_FILTER, BT_STATUS_SKIP, NULL);
	fake_answer(&fakes[1], FAKE_PRE_FILTER, BT_STATUS_SKIP, NULL);
	fake_world_init(&world, fakes, 2, "multiPoint=A,B");
	outcome = bt_run_pre_filter(world.framework, &world.cycle, &world.pod);
	FAKE_EXPECT(&world, outcome.status, BT_STATUS_SUCCESS, "", "");
	ck_assert(!outcome.result.restricted);
	ck_assert(has_plugin(&world, &world.cycle.skip_filter, "A"));
	ck_assert(has_plugin(&world, &world.cycle.skip_filter, "B"));
	node = fake_world_node(&world, 0);
	FAKE_EXPECT(&world, bt_run_filter(world.framework, &world.cycle, &world.pod, &node),
		BT_STATUS_SUCCESS, "", "");
	ck_assert_uint_eq(fakes[0].calls[FAKE_FILTER] + fakes[1].calls[FAKE_FILTER], 0);
	fake_world_finish(&world);
}
END_TEST

START_TEST(test_pre_filter__long_lists_merge)
{
	struct fake fakes[] = {fake_plugin("A", PRE), fake_plugin("B", PRE)};
	const char *many[40];
	char texts[40][8];
	struct fake_world world;
	struct bt_pre_filter_outcome outcome;

	for (int i = 0; i < 40; i++) {
		(void)snprintf(texts[i], sizeof(texts[i]), "m%d", 39 - i);
		many[i] = texts[i];
	}
	many[17] = "n2";
	narrow(&fakes[0], n1_n2, 2);
	narrow(&fakes[1], many, 40);
	fake_world_init(&world, fakes, 2, "preFilter=A,B");
	outcome = bt_run_pre_filter(world.framework, &world.cycle, &world.pod);
	ck_assert_uint_eq(outcome.result.count, 1);
	ck_assert(bt_str_equal_c(outcome.result.names[0], "n2"));
	fake_world_finish(&world);
}
END_TEST

START_TEST(test_pre_filter__extensions)
{
	struct fake fakes[] = {
		fake_plugin("A", PRE | FAKE_ROLE(FAKE_ADD_POD) | FAKE_ROLE(FAKE_REMOVE_POD)),
		fake_plugin("B", PRE), /* without extensions */
		fake_plugin("C", PRE | FAKE_ROLE(FAKE_ADD_POD) | FAKE_ROLE(FAKE_REMOVE_POD))};
	struct fake_world world;
	struct bt_pod_info other;
	struct bt_node_info node;

	fake_answer(&fakes[0], FAKE_PRE_FILTER, BT_STATUS_SKIP, NULL);
	fake_answer(&fakes[0], FAKE_ADD_POD, BT_STATUS_ERROR, "never called");
	fake_answer(&fakes[2], FAKE_REMOVE_POD, BT_STATUS_UNSCHEDULABLE, "r");
	fake_world_init(&world, fakes, 3, "preFilter=A,B,C");
	other = fake_world_pod(&world, "other", 0);
	node = fake_world_node(&world, 0);
	(void)bt_run_pre_filter(world.framework, &world.cycle, &world.pod);
	FAKE_EXPECT(&world,
		bt_run_pre_filter_change_pod(
			world.framework, &world.cycle, &world.pod, &other, &node, 1),
		BT_STATUS_SUCCESS, "", "");
	ck_assert_uint_eq(fakes[0].calls[FAKE_ADD_POD], 0);
	ck_assert_uint_eq(fakes[2].calls[FAKE_ADD_POD], 1);
	/*
	 * A rejection by RemovePod becomes an error, too. The status names no plugin. Spec 02
	 * section 5.2.
	 */
	FAKE_EXPECT(&world,
		bt_run_pre_filter_change_pod(
			world.framework, &world.cycle, &world.pod, &other, &node, -1),
		BT_STATUS_ERROR, "running RemovePod on PreFilter plugin \"C\": r", "");
	fake_world_finish(&world);
}
END_TEST

BT_TEST_MAIN("pre_filter", test_pre_filter__edge_02_01_merge, test_pre_filter__edge_02_02_disjoint,
	test_pre_filter__edge_02_03_empty_set, test_pre_filter__edge_02_04_unschedulable_goes_on,
	test_pre_filter__edge_02_05_unresolvable_stops,
	test_pre_filter__edge_02_06_skip_set_survives_error,
	test_pre_filter__edge_02_07_error_wins_over_unschedulable,
	test_pre_filter__edge_02_08_last_unschedulable_wins,
	test_pre_filter__edge_02_09_pending_is_an_error, test_pre_filter__edge_02_10_all_skip,
	test_pre_filter__long_lists_merge, test_pre_filter__extensions)
