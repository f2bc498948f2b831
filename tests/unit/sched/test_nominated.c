/* SPDX-License-Identifier: Apache-2.0 */
/** Nominated pods in the search: spec 02 section 5.4, spec 03 sections 3.4 and 3.7. */
#include "framework/node_statuses.h"
#include "sched_world.h"
#include "test_main.h"

static const enum script_form forms[] = {SCRIPT_PLAIN, SCRIPT_COLUMN, SCRIPT_CYCLE_COLUMN};

/* Nodes n1 to n3; each has room for one pod. */
struct nominated_case {
	struct script filter;
	struct script score;
	struct world world;
};

static void init(struct nominated_case *test, enum script_form form)
{
	static const struct bt_engine_options options = {
		.verify = true, .percentage_of_nodes_to_score = -1};

	test->filter = script_make("F", FAKE_ROLE(FAKE_FILTER), form);
	test->score = script_make("S", FAKE_ROLE(FAKE_SCORE), SCRIPT_COLUMN);
	test->filter.fake.filter_full_at = 1;
	world_init(
		&test->world, "F,S", &options, (struct script *[]){&test->filter, &test->score}, 2);
	world_add_nodes(&test->world, 1, 3);
}

static const struct bt_pod_info *nominate(
	struct nominated_case *test, const char *pod_json, const char *node)
{
	const struct bt_pod_info *pod = world_pending(&test->world, pod_json);

	bt_nominator_add(&test->world.engine->nominator, pod, bt_str_from(node), true);
	return pod;
}

static void expect(struct nominated_case *test, const char *pod_json, const char *node)
{
	struct bt_schedule_result result = world_schedule(&test->world, pod_json);

	ck_assert_str_eq(world_chosen(&test->world, &result), node);
}

START_TEST(test_nominated__higher_and_equal_priority_take_room)
{
	for (size_t i = 0; i < BT_ARRAY_LENGTH(forms); i++) {
		struct nominated_case test;

		init(&test, forms[i]);
		(void)nominate(&test, "{'spec':{'priority':10}}", "n1");
		expect(&test, "{'spec':{'priority':9}}", "n2");
		expect(&test, "{'spec':{'priority':10}}", "n2");
		expect(&test, "{'spec':{'priority':11}}", "n1");
		(void)nominate(&test, "{'spec':{'priority':20}}", "n2");
		expect(&test, "{'spec':{'priority':10}}", "n3");
		expect(&test, "{'spec':{'priority':11}}", "n1");
		world_finish(&test.world);
	}
}
END_TEST

START_TEST(test_nominated__nomination_on_every_node_rejects_all)
{
	for (size_t i = 0; i < BT_ARRAY_LENGTH(forms); i++) {
		struct nominated_case test;
		struct bt_schedule_result result;

		init(&test, forms[i]);
		(void)nominate(&test, "{'spec':{'priority':10}}", "n1");
		(void)nominate(&test, "{'spec':{'priority':10}}", "n2");
		(void)nominate(&test, "{'spec':{'priority':10}}", "n3");
		result = world_schedule(&test.world, "{}");
		ck_assert_int_eq(result.outcome, BT_OUTCOME_FIT_ERROR);
		ck_assert_str_eq(
			world_message(&test.world, &result), "0/3 nodes are available: 3 full.");
		ck_assert_uint_eq(bt_node_statuses_count(&result.diagnosis.statuses), 3);
		ck_assert_str_eq(
			world_plugins(&test.world, &result.diagnosis.unschedulable_plugins), "F");
		world_finish(&test.world);
	}
}
END_TEST

START_TEST(test_nominated__own_nomination_does_not_count)
{
	for (size_t i = 0; i < BT_ARRAY_LENGTH(forms); i++) {
		struct nominated_case test;
		const struct bt_pod_info *pod;
		struct bt_schedule_result result;

		init(&test, forms[i]);
		pod = nominate(&test, "{'status':{'nominatedNodeName':'n3'}}", "n3");
		result = world_schedule_pod(&test.world, pod);
		ck_assert_str_eq(world_chosen(&test.world, &result), "n3");
		ck_assert_uint_eq(result.feasible_count, 1);
		ck_assert(bt_engine_place(test.world.engine, pod, &result));
		ck_assert(test.world.engine->nominator.nominations.map.count == 0);
		expect(&test, "{'status':{'nominatedNodeName':'n3'}}", "n1");
		world_finish(&test.world);
	}
}
END_TEST

/* The second pass, without the nominated pods, must succeed, too. */
START_TEST(test_nominated__node_must_fit_without_them_too)
{
	for (size_t i = 0; i < BT_ARRAY_LENGTH(forms); i++) {
		struct nominated_case test;
		struct script_row rows[] = {
			{.node = "n1", .filter = {BT_STATUS_UNSCHEDULABLE, "f", NULL}}};
		struct bt_schedule_result result;

		init(&test, forms[i]);
		test.filter.fake.filter_full_at = 0;
		script_set_rows(&test.filter, rows, 1);
		(void)nominate(&test, "{'spec':{'priority':10}}", "n1");
		(void)nominate(&test, "{'spec':{'priority':10}}", "n2");
		result = world_schedule(&test.world, "{}");
		ck_assert_str_eq(world_chosen(&test.world, &result), "n2");
		ck_assert_uint_eq(result.feasible_count, 2);
		ck_assert_uint_eq(result.evaluated_count, 3);
		world_finish(&test.world);
	}
}
END_TEST

START_TEST(test_nominated__error_on_a_nominated_node_ends_the_cycle)
{
	struct nominated_case test;
	struct script_row rows[] = {{.node = "n2", .filter = {BT_STATUS_ERROR, NULL, "e"}}};
	struct bt_schedule_result result;

	init(&test, SCRIPT_PLAIN);
	script_set_rows(&test.filter, rows, 1);
	test.filter.fake.filter_full_at = 0;
	(void)nominate(&test, "{'spec':{'priority':10}}", "n2");
	result = world_schedule(&test.world, "{}");
	ck_assert_int_eq(result.outcome, BT_OUTCOME_ERROR);
	ck_assert_str_eq(world_message(&test.world, &result), "running \"F\" filter plugin: e");
	ck_assert_uint_eq(test.world.engine->next_start_node_index, 1);
	world_finish(&test.world);
}
END_TEST

START_TEST(test_nominated__unknown_node_is_no_trouble)
{
	struct nominated_case test;

	init(&test, SCRIPT_COLUMN);
	(void)nominate(&test, "{'spec':{'priority':10}}", "n9");
	expect(&test, "{}", "n1");
	world_finish(&test.world);
}
END_TEST

/**
 * Spec 03 section 3.4: the plugins that rejected the nominated node also appear in the message
 * about nodes that PreFilter excluded.
 */
START_TEST(test_nominated__failed_trial_is_named_in_the_narrowed_text)
{
	static const char *const nodes[] = {"n1"};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(forms); i++) {
		struct nominated_case test;
		struct script narrow = script_make("N", FAKE_ROLE(FAKE_PRE_FILTER), SCRIPT_PLAIN);
		struct script_row rows[] = {
			{.node = "n1", .filter = {BT_STATUS_UNSCHEDULABLE, "f", NULL}}};
		struct bt_schedule_result result;

		narrow.fake.node_names = nodes;
		narrow.fake.node_name_count = 1;
		test.filter = script_make("F", FAKE_ROLE(FAKE_FILTER), forms[i]);
		script_set_rows(&test.filter, rows, 1);
		world_init(&test.world, "N,F", &(struct bt_engine_options){.verify = true},
			(struct script *[]){&test.filter, &narrow}, 2);
		world_add_nodes(&test.world, 1, 2);
		result = world_schedule(&test.world, "{}");
		ck_assert_str_eq(world_message(&test.world, &result),
			"0/2 nodes are available: 1 f, 1 node(s) didn't satisfy plugin(s) [N].");
		result = world_schedule(&test.world, "{'status':{'nominatedNodeName':'n1'}}");
		ck_assert_str_eq(world_message(&test.world, &result),
			"0/2 nodes are available: 1 f, 1 node(s) didn't satisfy plugin(s) [F N].");
		/* A nominated node that does not exist is not tried. */
		result = world_schedule(&test.world, "{'status':{'nominatedNodeName':'n9'}}");
		ck_assert_str_eq(world_message(&test.world, &result),
			"0/2 nodes are available: 1 f, 1 node(s) didn't satisfy plugin(s) [N].");
		world_finish(&test.world);
	}
}
END_TEST

BT_TEST_MAIN("nominated", test_nominated__higher_and_equal_priority_take_room,
	test_nominated__nomination_on_every_node_rejects_all,
	test_nominated__own_nomination_does_not_count,
	test_nominated__node_must_fit_without_them_too,
	test_nominated__error_on_a_nominated_node_ends_the_cycle,
	test_nominated__unknown_node_is_no_trouble,
	test_nominated__failed_trial_is_named_in_the_narrowed_text)
