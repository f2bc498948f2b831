/* SPDX-License-Identifier: Apache-2.0 */
/** From the chosen node to the binding: spec 03 sections 4 and 6. */
#include "sched_world.h"
#include "test_main.h"
#include "validate/validate.h"

#define ROLES \
	(FAKE_ROLE(FAKE_FILTER) | FAKE_ROLE(FAKE_RESERVE) | FAKE_ROLE(FAKE_UNRESERVE) | \
		FAKE_ROLE(FAKE_PERMIT) | FAKE_ROLE(FAKE_PRE_FLIGHT) | FAKE_ROLE(FAKE_PRE_BIND) | \
		FAKE_ROLE(FAKE_BIND) | FAKE_ROLE(FAKE_POST_BIND))

/* Two plugins P and Q; each test sets P's result at one extension point. */
struct place_case {
	struct script first;
	struct script second;
	struct world world;
	const struct bt_pod_info *pod;
	struct bt_schedule_result result;
	bool placed;
};

static void init(struct place_case *test)
{
	static const struct bt_engine_options options = {
		.verify = true, .percentage_of_nodes_to_score = -1};

	test->first = script_make("P", ROLES, SCRIPT_PLAIN);
	test->second = script_make("Q", ROLES, SCRIPT_COLUMN);
	world_init(
		&test->world, "P,Q", &options, (struct script *[]){&test->first, &test->second}, 2);
	world_add_nodes(&test->world, 1, 2);
	test->pod = world_pending(&test->world,
		"{'metadata':{'name':'p','uid':'u'},'status':{'nominatedNodeName':'n2'}}");
	ck_assert_int_eq(bt_state_refresh_snapshot(test->world.engine->state, NULL), 0);
}

static void place(struct place_case *test)
{
	bt_nominator_add(&test->world.engine->nominator, test->pod, BT_STR("n2"), true);
	ck_assert(test->world.engine->nominator.nominations.map.count != 0);
	test->result = world_schedule_pod(&test->world, test->pod);
	ck_assert_int_eq(test->result.outcome, BT_OUTCOME_SCHEDULED);
	ck_assert_str_eq(world_chosen(&test->world, &test->result), "n2");
	test->placed = bt_engine_place(test->world.engine, test->pod, &test->result);
	/* Step 3 of spec 03 section 4 removes the pod's nomination. */
	ck_assert(test->world.engine->nominator.nominations.map.count == 0);
}

static void expect_undone(struct place_case *test, const char *log)
{
	struct bt_strbuf reason = {0};

	ck_assert(!test->placed);
	ck_assert_str_eq(fake_log(), log);
	ck_assert_uint_eq(test->world.engine->state->pods.count, 0);
	ck_assert_int_eq(bt_state_refresh_snapshot(test->world.engine->state, NULL), 0);
	ck_assert_msg(
		bt_state_validate(test->world.engine->state, &reason), "%s", bt_strbuf_c(&reason));
	bt_strbuf_finish(&reason);
	ck_assert(test->result.nomination.present);
	ck_assert_int_eq(test->result.nomination.mode, BT_NOMINATING_OVERRIDE);
	ck_assert_uint_eq(test->result.nomination.nominated_node_name.length, 0);
}

static void expect_failure(struct place_case *test, enum bt_outcome outcome,
	enum bt_status_code code, const char *message)
{
	ck_assert_int_eq(test->result.outcome, outcome);
	ck_assert_int_eq(test->result.status.code, code);
	ck_assert_str_eq(world_message(&test->world, &test->result), message);
	world_finish(&test->world);
}

static const char *plugins(struct place_case *test)
{
	return world_plugins(&test->world, &test->result.diagnosis.unschedulable_plugins);
}

START_TEST(test_place__success)
{
	struct place_case test;

	init(&test);
	place(&test);
	ck_assert(test.placed);
	ck_assert_str_eq(
		fake_log(), "P.Reserve Q.Reserve P.PreBind Q.PreBind P.PostBind Q.PostBind");
	ck_assert_uint_eq(test.first.fake.calls[FAKE_BIND], 1);
	ck_assert_uint_eq(test.second.fake.calls[FAKE_BIND], 0);
	ck_assert_uint_eq(test.world.engine->state->pods.count, 1);
	world_finish(&test.world);
}
END_TEST

START_TEST(test_place__pod_in_the_cache)
{
	struct place_case test;

	init(&test);
	place(&test);
	test.placed = bt_engine_place(test.world.engine, test.pod, &test.result);
	ck_assert(!test.placed);
	ck_assert_uint_eq(test.world.engine->state->pods.count, 1);
	expect_failure(&test, BT_OUTCOME_ERROR, BT_STATUS_ERROR,
		"pod u(default/p) is in the cache, so can't be assumed");
}
END_TEST

START_TEST(test_place__edge_03_23_reserve_error)
{
	struct place_case test;

	init(&test);
	fake_fail(&test.first.fake, FAKE_RESERVE, "e");
	place(&test);
	expect_undone(&test, "P.Reserve Q.Unreserve P.Unreserve");
	expect_failure(&test, BT_OUTCOME_ERROR, BT_STATUS_ERROR, "running Reserve plugin \"P\": e");
}
END_TEST

START_TEST(test_place__edge_03_24_reserve_rejects)
{
	struct place_case test;

	init(&test);
	fake_answer(&test.second.fake, FAKE_RESERVE, BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE, "r");
	place(&test);
	expect_undone(&test, "P.Reserve Q.Reserve Q.Unreserve P.Unreserve");
	ck_assert_str_eq(plugins(&test), "Q");
	ck_assert_uint_eq(test.result.diagnosis.node_count, 1);
	expect_failure(&test, BT_OUTCOME_FIT_ERROR, BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE,
		"0/1 nodes are available: 1 r.");
}
END_TEST

START_TEST(test_place__permit_rejects_and_fails)
{
	struct place_case test;

	init(&test);
	fake_answer(&test.first.fake, FAKE_PERMIT, BT_STATUS_UNSCHEDULABLE, "r");
	place(&test);
	expect_undone(&test, "P.Reserve Q.Reserve Q.Unreserve P.Unreserve");
	ck_assert_str_eq(plugins(&test), "P");
	expect_failure(&test, BT_OUTCOME_FIT_ERROR, BT_STATUS_UNSCHEDULABLE,
		"0/1 nodes are available: 1 r.");
	init(&test);
	fake_fail(&test.second.fake, FAKE_PERMIT, "e");
	place(&test);
	expect_undone(&test, "P.Reserve Q.Reserve Q.Unreserve P.Unreserve");
	expect_failure(&test, BT_OUTCOME_ERROR, BT_STATUS_ERROR, "running Permit plugin \"Q\": e");
}
END_TEST

/* In a simulation a Permit plugin that returns Wait counts as allowing the pod. */
START_TEST(test_place__permit_wait_counts_as_allowed)
{
	struct place_case test;

	init(&test);
	fake_answer(&test.first.fake, FAKE_PERMIT, BT_STATUS_WAIT, NULL);
	test.first.fake.timeout_ns = 1000000000;
	place(&test);
	ck_assert(test.placed);
	world_finish(&test.world);
}
END_TEST

START_TEST(test_place__edge_03_27_pre_flight_skips)
{
	struct place_case test;

	init(&test);
	fake_answer(&test.first.fake, FAKE_PRE_FLIGHT, BT_STATUS_SKIP, NULL);
	fake_answer(&test.second.fake, FAKE_PRE_FLIGHT, BT_STATUS_SKIP, NULL);
	place(&test);
	ck_assert(test.placed);
	ck_assert_str_eq(fake_log(), "P.Reserve Q.Reserve P.PostBind Q.PostBind");
	world_finish(&test.world);
}
END_TEST

START_TEST(test_place__pre_flight_fails)
{
	struct place_case test;

	init(&test);
	fake_fail(&test.first.fake, FAKE_PRE_FLIGHT, "e");
	place(&test);
	expect_undone(&test, "P.Reserve Q.Reserve Q.Unreserve P.Unreserve");
	expect_failure(
		&test, BT_OUTCOME_ERROR, BT_STATUS_ERROR, "running PreBindPreFlight \"P\": e");
}
END_TEST

START_TEST(test_place__pre_bind_error)
{
	struct place_case test;

	init(&test);
	fake_fail(&test.first.fake, FAKE_PRE_BIND, "e");
	place(&test);
	expect_undone(&test, "P.Reserve Q.Reserve P.PreBind Q.Unreserve P.Unreserve");
	expect_failure(&test, BT_OUTCOME_ERROR, BT_STATUS_ERROR, "running PreBind plugin \"P\": e");
}
END_TEST

START_TEST(test_place__edge_03_29_bind_error)
{
	struct place_case test;

	init(&test);
	fake_fail(&test.first.fake, FAKE_BIND, "e");
	place(&test);
	expect_undone(&test, "P.Reserve Q.Reserve P.PreBind Q.PreBind Q.Unreserve P.Unreserve");
	expect_failure(&test, BT_OUTCOME_ERROR, BT_STATUS_ERROR, "running Bind plugin \"P\": e");
}
END_TEST

START_TEST(test_place__edge_03_30_pre_bind_rejects)
{
	struct place_case test;

	init(&test);
	fake_answer(&test.first.fake, FAKE_PRE_BIND, BT_STATUS_UNSCHEDULABLE, "u");
	place(&test);
	expect_undone(&test, "P.Reserve Q.Reserve P.PreBind Q.Unreserve P.Unreserve");
	/* The failure is no FitError: events of P do not requeue the pod. */
	ck_assert_str_eq(plugins(&test), "");
	expect_failure(&test, BT_OUTCOME_ERROR, BT_STATUS_UNSCHEDULABLE, "u");
}
END_TEST

START_TEST(test_place__edge_03_52_all_bind_plugins_skip)
{
	struct script binder = script_make("B", ROLES, SCRIPT_PLAIN);
	struct place_case test;

	init(&test);
	world_finish(&test.world);
	fake_answer(&binder.fake, FAKE_BIND, BT_STATUS_SKIP, NULL);
	world_init(&test.world,
		"{'profiles':[{'schedulerName':'s','plugins':{'bind':{'enabled':[{'name':'B'}],"
		"'disabled':[{'name':'DefaultBinder'}]},'reserve':{'enabled':[{'name':'B'}]}}}]}",
		NULL, (struct script *[]){&binder}, 1);
	world_add_nodes(&test.world, 1, 2);
	test.pod = world_pending(&test.world, "{}");
	test.result = world_schedule_pod(&test.world, test.pod);
	ck_assert_int_eq(test.result.outcome, BT_OUTCOME_SCHEDULED);
	test.placed = bt_engine_place(test.world.engine, test.pod, &test.result);
	expect_undone(&test, "B.Reserve B.Unreserve");
	expect_failure(&test, BT_OUTCOME_ERROR, BT_STATUS_SKIP, "");
}
END_TEST

/* After the pod is forgotten, the plan's columns are as before. */
START_TEST(test_place__undone_pod_frees_the_node)
{
	struct place_case test;
	struct bt_schedule_result result;

	init(&test);
	fake_fail(&test.first.fake, FAKE_BIND, "e");
	test.second.fake.filter_full_at = 1;
	place(&test);
	expect_undone(&test, "P.Reserve Q.Reserve P.PreBind Q.PreBind Q.Unreserve P.Unreserve");
	result = world_schedule(&test.world, "{}");
	ck_assert_int_eq(result.outcome, BT_OUTCOME_SCHEDULED);
	world_finish(&test.world);
}
END_TEST

BT_TEST_MAIN("place", test_place__success, test_place__pod_in_the_cache,
	test_place__edge_03_23_reserve_error, test_place__edge_03_24_reserve_rejects,
	test_place__permit_rejects_and_fails, test_place__permit_wait_counts_as_allowed,
	test_place__edge_03_27_pre_flight_skips, test_place__pre_flight_fails,
	test_place__pre_bind_error, test_place__edge_03_29_bind_error,
	test_place__edge_03_30_pre_bind_rejects, test_place__edge_03_52_all_bind_plugins_skip,
	test_place__undone_pod_frees_the_node)
