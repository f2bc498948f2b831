/* SPDX-License-Identifier: Apache-2.0 */
/** The binding cycle of the living scheduler: spec 03 section 6. */
#include "framework/waiting_pods.h"
#include "life_world.h"
#include "test_main.h"

#define ROLES \
	(FAKE_ROLE(FAKE_FILTER) | FAKE_ROLE(FAKE_RESERVE) | FAKE_ROLE(FAKE_UNRESERVE) | \
		FAKE_ROLE(FAKE_PERMIT) | FAKE_ROLE(FAKE_PRE_FLIGHT) | FAKE_ROLE(FAKE_PRE_BIND) | \
		FAKE_ROLE(FAKE_POST_BIND))

#define BOUND_P \
	"bind p n1\nevent p Normal Scheduled Binding Successfully assigned default/p to n1\n"

/** The tests use node n1, pod p and plugin P. */
static struct script plugin_p;
static struct life life;

static void init(void)
{
	plugin_p = script_make("P", ROLES, SCRIPT_PLAIN);
	life_init_writing(&life, "", "P", (struct script *[]){&plugin_p}, 1, &life_no_victims);
	life_node(&life, "n1", "");
}

static const struct bt_handle *handle(void)
{
	return &bt_scheduler_engine(life.scheduler)->profiles.frameworks.items[0]->handle;
}

/** Adds a pod that P rejects; any event requeues the pod. */
static void add_bystander(void)
{
	fake_answer(&plugin_p.fake, FAKE_FILTER, BT_STATUS_UNSCHEDULABLE, "not yet");
	life_pod(&life, "bystander", "", "");
	ck_assert_int_eq(life_schedule(&life).outcome, BT_ATTEMPT_FAILED);
	ck_assert_str_eq(life_place(&life, "bystander"), "unschedulable");
	fake_answer(&plugin_p.fake, FAKE_FILTER, BT_STATUS_SUCCESS, NULL);
	(void)life_log(&life);
}

static void expect_failed(struct bt_attempt attempt, const char *reason, const char *message)
{
	ck_assert_int_eq(attempt.outcome, BT_ATTEMPT_FAILED);
	ck_assert_str_eq(attempt.name.data, "p");
	ck_assert_str_eq(attempt.reason.data, reason);
	ck_assert_str_eq(attempt.message.data, message);
}

START_TEST(test_scheduler__binds_and_confirms)
{
	init();
	life_pod(&life, "p", "", "");
	struct bt_attempt attempt = life_schedule(&life);
	ck_assert_int_eq(attempt.outcome, BT_ATTEMPT_BOUND);
	ck_assert_str_eq(attempt.node_name.data, "n1");
	/* The PreBind plugin had work, so the nomination is written first. */
	ck_assert_str_eq(life_log(&life), "patch p nominated=n1\n" BOUND_P);
	ck_assert_str_eq(fake_log(), "P.Reserve P.PreBind P.PostBind");
	ck_assert(life_is_assumed(&life, "p"));
	ck_assert_int_eq(life_schedule(&life).outcome, BT_ATTEMPT_IDLE);
	life_finish(&life);
}
END_TEST

START_TEST(test_scheduler__edge_03_25_wait_then_allowed)
{
	init();
	fake_answer(&plugin_p.fake, FAKE_PRE_FLIGHT, BT_STATUS_SKIP, NULL);
	fake_answer(&plugin_p.fake, FAKE_PERMIT, BT_STATUS_WAIT, NULL);
	plugin_p.fake.timeout_ns = 10 * LIFE_SECOND;
	life_pod(&life, "p", "", "");
	struct bt_attempt attempt = life_schedule(&life);
	ck_assert_int_eq(attempt.outcome, BT_ATTEMPT_WAITING);
	ck_assert_str_eq(attempt.node_name.data, "n1");
	/* The nomination is written although no PreBind plugin has work. */
	ck_assert_str_eq(life_log(&life), "patch p nominated=n1\n");
	ck_assert_int_eq(life_finish_waiting(&life).outcome, BT_ATTEMPT_IDLE);
	/* Other pods are scheduled while this pod waits. */
	fake_answer(&plugin_p.fake, FAKE_PERMIT, BT_STATUS_SUCCESS, NULL);
	life_pod(&life, "q", "", "");
	ck_assert_int_eq(life_schedule(&life).outcome, BT_ATTEMPT_BOUND);
	ck_assert_uint_eq(life_pod_count(&life), 2);
	(void)life_log(&life);
	bt_waiting_pod_allow(
		bt_waiting_pods_find(handle()->waiting_pods, BT_STR("uid-p")), BT_STR("P"));
	attempt = life_finish_waiting(&life);
	ck_assert_int_eq(attempt.outcome, BT_ATTEMPT_BOUND);
	ck_assert_str_eq(attempt.name.data, "p");
	ck_assert_str_eq(attempt.node_name.data, "n1");
	ck_assert_str_eq(life_log(&life), BOUND_P);
	ck_assert_uint_eq(plugin_p.fake.calls[FAKE_PRE_BIND], 0);
	ck_assert_uint_eq(plugin_p.fake.calls[FAKE_POST_BIND], 2);
	life_finish(&life);
}
END_TEST

START_TEST(test_scheduler__edge_03_26_wait_timeout)
{
	init();
	fake_answer(&plugin_p.fake, FAKE_PERMIT, BT_STATUS_WAIT, NULL);
	plugin_p.fake.timeout_ns = LIFE_SECOND;
	life_pod(&life, "p", "", "");
	ck_assert_int_eq(life_schedule(&life).outcome, BT_ATTEMPT_WAITING);
	ck_assert_int_eq(bt_scheduler_next_step_ns(life.scheduler), life.now_ns + LIFE_SECOND);
	life.now_ns += LIFE_SECOND - 1;
	ck_assert_int_eq(life_finish_waiting(&life).outcome, BT_ATTEMPT_IDLE);
	life.now_ns += 1;
	(void)life_log(&life);
	expect_failed(life_finish_waiting(&life), "Unschedulable",
		"0/1 nodes are available: 1 rejected due to timeout after waiting 1s at plugin P.");
	ck_assert_str_eq(life_log(&life),
		"event p Warning FailedScheduling Scheduling 0/1 nodes are available: "
		"1 rejected due to timeout after waiting 1s at plugin P.\n"
		"patch p Unschedulable: 0/1 nodes are available: "
		"1 rejected due to timeout after waiting 1s at plugin P. nominated=\n");
	ck_assert_str_eq(fake_log(), "P.Reserve P.Unreserve");
	ck_assert_str_eq(life_place(&life, "p"), "unschedulable");
	ck_assert_str_eq(life_rejectors(&life, "p", false), "P");
	ck_assert_uint_eq(life_pod_count(&life), 0);
	life_finish(&life);
}
END_TEST

static void expect_not_in_pre_bind(struct life *in)
{
	ck_assert(!life_cancel(in, "uid-p"));
}

START_TEST(test_scheduler__edge_03_27_nothing_to_do_before_bind)
{
	init();
	fake_answer(&plugin_p.fake, FAKE_PRE_FLIGHT, BT_STATUS_SKIP, NULL);
	life.during_bind = expect_not_in_pre_bind;
	life_pod(&life, "p", "", "");
	ck_assert_int_eq(life_schedule(&life).outcome, BT_ATTEMPT_BOUND);
	ck_assert_str_eq(life_log(&life), BOUND_P);
	ck_assert_uint_eq(plugin_p.fake.calls[FAKE_PRE_BIND], 0);
	life_finish(&life);
}
END_TEST

START_TEST(test_scheduler__edge_03_28_pre_bind_canceled)
{
	init();
	fake_answer(&plugin_p.fake, FAKE_PRE_BIND, BT_STATUS_WAIT, NULL);
	life_pod(&life, "p", "", "");
	ck_assert_int_eq(life_schedule(&life).outcome, BT_ATTEMPT_WAITING);
	ck_assert(life_cancel(&life, "uid-p"));
	ck_assert(life_cancel(&life, "uid-p")); /* a repeated cancel succeeds, too */
	/* The plugin could finish now, but is not called again. */
	fake_answer(&plugin_p.fake, FAKE_PRE_BIND, BT_STATUS_SUCCESS, NULL);
	expect_failed(life_finish_waiting(&life), "SchedulerError",
		"running PreBind plugin \"P\": preempted by DefaultPreemption");
	ck_assert_uint_eq(plugin_p.fake.calls[FAKE_PRE_BIND], 1);
	ck_assert_str_eq(life_place(&life, "p"), "error");
	ck_assert_str_eq(life_rejectors(&life, "p", false), "");
	ck_assert_uint_eq(life_pod_count(&life), 0);
	ck_assert(!life_cancel(&life, "uid-p"));
	life_finish(&life);
}
END_TEST

/* Waits in the first call; in both calls the pod's binding cannot be canceled. */
static struct bt_status pre_bind_of_victim(BT_UNUSED struct bt_plugin *plugin,
	BT_UNUSED struct bt_cycle_state *cycle, BT_UNUSED const struct bt_pod_info *pod,
	BT_UNUSED uint32_t slot)
{
	bool is_first = plugin_p.fake.calls[FAKE_PRE_BIND]++ == 0;

	ck_assert(!life_cancel(&life, "uid-p"));
	return is_first ? bt_status_code_only(BT_STATUS_WAIT) : BT_STATUS_OK;
}

START_TEST(test_scheduler__running_pre_bind_is_not_canceled)
{
	init();
	plugin_p.fake.ops.pre_bind = pre_bind_of_victim;
	life_pod(&life, "p", "", "");
	ck_assert_int_eq(life_schedule(&life).outcome, BT_ATTEMPT_WAITING);
	bt_scheduler_resume(life.scheduler, BT_STR("uid-p"));
	ck_assert_int_eq(life_finish_waiting(&life).outcome, BT_ATTEMPT_BOUND);
	ck_assert_int_eq(life_finish_waiting(&life).outcome, BT_ATTEMPT_IDLE);
	life_finish(&life);
}
END_TEST

START_TEST(test_scheduler__edge_03_29_bind_error)
{
	init();
	add_bystander();
	fake_answer(&plugin_p.fake, FAKE_PRE_FLIGHT, BT_STATUS_SKIP, NULL);
	life.bind_error = "boom";
	life_pod(&life, "p", "", "");
	expect_failed(life_schedule(&life), "SchedulerError",
		"running Bind plugin \"DefaultBinder\": boom");
	ck_assert_str_eq(life_log(&life),
		"bind p n1\n"
		"event p Warning FailedScheduling Scheduling "
		"running Bind plugin \"DefaultBinder\": boom\n"
		"patch p SchedulerError: running Bind plugin \"DefaultBinder\": boom nominated=\n");
	ck_assert_str_eq(life_place(&life, "p"), "error");
	ck_assert_uint_eq(life_moved_by(&life, "AssignedPodDelete"), 1);
	ck_assert_str_eq(life_place(&life, "bystander"), "backoff");
	life_finish(&life);
}
END_TEST

START_TEST(test_scheduler__edge_03_30_pre_bind_rejects)
{
	init();
	add_bystander();
	fake_answer(&plugin_p.fake, FAKE_PRE_BIND, BT_STATUS_UNSCHEDULABLE, "u");
	life_pod(&life, "p", "", "");
	expect_failed(life_schedule(&life), "Unschedulable", "u");
	ck_assert_str_eq(life_place(&life, "p"), "error");
	ck_assert_str_eq(life_rejectors(&life, "p", false), "");
	ck_assert_str_eq(life_place(&life, "bystander"), "backoff");
	life_finish(&life);
}
END_TEST

static void bound_here(struct life *in)
{
	life_pod(in, "p", "", "'spec':{'nodeName':'n1'}");
}

START_TEST(test_scheduler__edge_03_33_bound_all_the_same)
{
	init();
	life.during_bind = bound_here;
	life.bind_error = "timeout";
	fake_answer(&plugin_p.fake, FAKE_PRE_FLIGHT, BT_STATUS_SKIP, NULL);
	life_pod(&life, "p", "", "");
	expect_failed(life_schedule(&life), "SchedulerError",
		"running Bind plugin \"DefaultBinder\": timeout");
	ck_assert_str_eq(life_place(&life, "p"), "-");
	ck_assert_uint_eq(bt_queue_in_flight_count(bt_scheduler_queue(life.scheduler)), 0);
	/* The pod keeps its place in the cache. */
	ck_assert_uint_eq(life_pod_count(&life), 1);
	ck_assert(!life_is_assumed(&life, "p"));
	ck_assert_ptr_nonnull(strstr(life_log(&life), "warn ForgetPod failed: "));
	life_finish(&life);
}
END_TEST

static void bound_elsewhere(struct life *in)
{
	life_pod(in, "p", "", "'spec':{'nodeName':'n2'}");
	ck_assert_str_eq(life_node_of(in, "uid-p"), "n2");
	ck_assert(!life_is_assumed(in, "p"));
	ck_assert_str_eq(life_log(in), "bind p n1\n");
}

START_TEST(test_scheduler__edge_03_40_bound_elsewhere)
{
	init();
	life.during_bind = bound_elsewhere;
	life.bind_error = "conflict";
	fake_answer(&plugin_p.fake, FAKE_PRE_FLIGHT, BT_STATUS_SKIP, NULL);
	life_pod(&life, "p", "", "");
	ck_assert_int_eq(life_schedule(&life).outcome, BT_ATTEMPT_FAILED);
	ck_assert_str_eq(life_node_of(&life, "uid-p"), "n2");
	ck_assert_str_eq(life_place(&life, "p"), "-");
	life_finish(&life);
}
END_TEST

START_TEST(test_scheduler__edge_03_41_deleted_while_waiting)
{
	init();
	add_bystander();
	fake_answer(&plugin_p.fake, FAKE_PERMIT, BT_STATUS_WAIT, NULL);
	plugin_p.fake.timeout_ns = 10 * LIFE_SECOND;
	life_pod(&life, "p", "", "");
	ck_assert_int_eq(life_schedule(&life).outcome, BT_ATTEMPT_WAITING);
	life_pod(&life, "p", "'deletionTimestamp':'2026-01-01T00:00:00Z'", "");
	/* The pod's binding cycle cleans up. */
	ck_assert_uint_eq(life_pod_count(&life), 1);
	ck_assert_uint_eq(life_moved_by(&life, "AssignedPodDelete"), 1);
	expect_failed(
		life_finish_waiting(&life), "Unschedulable", "0/1 nodes are available: 1 removed.");
	ck_assert_str_eq(life_rejectors(&life, "p", false), "<>");
	ck_assert_uint_eq(life_pod_count(&life), 0);
	ck_assert_str_eq(fake_log(), "P.Reserve P.Unreserve");
	life_finish(&life);
}
END_TEST

static void deleted_meanwhile(struct life *in)
{
	life_delete(in, BT_KIND_POD, "default", "p");
	ck_assert_uint_eq(life_pod_count(in), 0);
}

START_TEST(test_scheduler__edge_03_42_deleted_during_bind)
{
	init();
	life.during_bind = deleted_meanwhile;
	life.bind_error = "not found";
	fake_answer(&plugin_p.fake, FAKE_PRE_FLIGHT, BT_STATUS_SKIP, NULL);
	life_pod(&life, "p", "", "");
	expect_failed(life_schedule(&life), "SchedulerError",
		"running Bind plugin \"DefaultBinder\": not found");
	ck_assert_str_eq(fake_log(), "P.Reserve P.Unreserve");
	ck_assert_ptr_null(strstr(life_log(&life), "warn"));
	ck_assert_str_eq(life_place(&life, "p"), "-");
	life_finish(&life);
}
END_TEST

START_TEST(test_scheduler__edge_03_52_all_bind_plugins_skip)
{
	plugin_p = script_make("P", ROLES | FAKE_ROLE(FAKE_BIND), SCRIPT_PLAIN);
	fake_answer(&plugin_p.fake, FAKE_BIND, BT_STATUS_SKIP, NULL);
	fake_answer(&plugin_p.fake, FAKE_PRE_FLIGHT, BT_STATUS_SKIP, NULL);
	life_init(&life,
		"{'profiles':[{'plugins':{'bind':{'enabled':[{'name':'P'}],"
		"'disabled':[{'name':'*'}]},'reserve':{'enabled':[{'name':'P'}]}}}]}",
		(struct script *[]){&plugin_p}, 1);
	life_node(&life, "n1", "'status':{'allocatable':{'pods':'10'}}");
	life_pod(&life, "p", "", "");
	expect_failed(life_schedule(&life), "SchedulerError", "");
	ck_assert_str_eq(life_log(&life), "");
	ck_assert_str_eq(fake_log(), "P.Reserve P.Unreserve");
	ck_assert_uint_eq(life_pod_count(&life), 0);
	ck_assert_str_eq(life_place(&life, "p"), "error");
	ck_assert_int_eq(
		bt_queue_find(bt_scheduler_queue(life.scheduler), BT_STR("default"), BT_STR("p"))
			->consecutive_errors,
		1);
	life_finish(&life);
}
END_TEST

/* The scheduler is destroyed while a pod waits, without a leak. */
START_TEST(test_scheduler__ends_while_a_pod_waits)
{
	init();
	fake_answer(&plugin_p.fake, FAKE_PERMIT, BT_STATUS_WAIT, NULL);
	plugin_p.fake.timeout_ns = 10 * LIFE_SECOND;
	life_pod(&life, "p", "", "");
	ck_assert_int_eq(life_schedule(&life).outcome, BT_ATTEMPT_WAITING);
	life_finish(&life);
}
END_TEST

BT_TEST_MAIN("scheduler_binding", test_scheduler__binds_and_confirms,
	test_scheduler__edge_03_25_wait_then_allowed, test_scheduler__edge_03_26_wait_timeout,
	test_scheduler__edge_03_27_nothing_to_do_before_bind,
	test_scheduler__edge_03_28_pre_bind_canceled,
	test_scheduler__running_pre_bind_is_not_canceled, test_scheduler__edge_03_29_bind_error,
	test_scheduler__edge_03_30_pre_bind_rejects, test_scheduler__edge_03_33_bound_all_the_same,
	test_scheduler__edge_03_40_bound_elsewhere,
	test_scheduler__edge_03_41_deleted_while_waiting,
	test_scheduler__edge_03_42_deleted_during_bind,
	test_scheduler__edge_03_52_all_bind_plugins_skip, test_scheduler__ends_while_a_pod_waits)
