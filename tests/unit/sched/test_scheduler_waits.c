/* SPDX-License-Identifier: Apache-2.0 */
/** Bindings whose answers come later: other pods are scheduled meanwhile. Spec 03 section 6. */
#include "framework/waiting_pods.h"
#include "life_world.h"
#include "test_main.h"

#define ROLES \
	(FAKE_ROLE(FAKE_FILTER) | FAKE_ROLE(FAKE_RESERVE) | FAKE_ROLE(FAKE_UNRESERVE) | \
		FAKE_ROLE(FAKE_PERMIT) | FAKE_ROLE(FAKE_PRE_FLIGHT) | FAKE_ROLE(FAKE_PRE_BIND) | \
		FAKE_ROLE(FAKE_POST_BIND))

#define BOUND(pod) \
	"bind " pod " n1\nevent " pod \
	" Normal Scheduled Binding Successfully assigned default/" pod " to n1\n"

/** The tests use node n1 and plugin P. */
static struct script plugin_p;
static struct life life;

static void init(void)
{
	plugin_p = script_make("P", ROLES, SCRIPT_PLAIN);
	fake_answer(&plugin_p.fake, FAKE_PRE_FLIGHT, BT_STATUS_SKIP, NULL);
	life_init_writing(&life, "", "P", (struct script *[]){&plugin_p}, 1, &life_no_victims);
	life_node(&life, "n1", "");
}

static struct bt_attempt start(const char *pod)
{
	life_pod(&life, pod, "", "");
	struct bt_attempt attempt = life_schedule(&life);
	ck_assert_int_eq(attempt.outcome, BT_ATTEMPT_WAITING);
	ck_assert_str_eq(attempt.node_name.data, "n1");
	return attempt;
}

static void answer(const char *uid)
{
	bt_scheduler_resume(life.scheduler, bt_str_from(uid));
}

static const struct bt_handle *handle(void)
{
	return &bt_scheduler_engine(life.scheduler)->profiles.frameworks.items[0]->handle;
}

START_TEST(test_scheduler__answers_in_any_order)
{
	init();
	life.bind_is_pending = true;
	(void)start("p");
	(void)start("q");
	ck_assert_uint_eq(life_pod_count(&life), 2);
	ck_assert_str_eq(life_log(&life), "bind p n1\nbind q n1\n");
	/* No answer came: no plugin is called. */
	ck_assert_int_eq(life_finish_waiting(&life).outcome, BT_ATTEMPT_IDLE);
	ck_assert_str_eq(life_log(&life), "");
	ck_assert_int_eq(bt_scheduler_next_step_ns(life.scheduler),
		bt_queue_next_tick_ns(bt_scheduler_queue(life.scheduler)));
	life.bind_is_pending = false;
	answer("uid-q");
	answer("uid-q");
	answer("uid-of-nobody");
	struct bt_attempt attempt = life_finish_waiting(&life);
	ck_assert_int_eq(attempt.outcome, BT_ATTEMPT_BOUND);
	ck_assert_str_eq(attempt.name.data, "q");
	ck_assert_int_eq(life_finish_waiting(&life).outcome, BT_ATTEMPT_IDLE);
	answer("uid-p");
	ck_assert_str_eq(life_finish_waiting(&life).name.data, "p");
	ck_assert_str_eq(life_log(&life), BOUND("q") BOUND("p"));
	ck_assert_uint_eq(plugin_p.fake.calls[FAKE_POST_BIND], 2);
	life_finish(&life);
}
END_TEST

START_TEST(test_scheduler__step_returns_when_to_call_again)
{
	struct bt_attempt attempt;
	init();
	int64_t created_ns = life.now_ns;
	ck_assert_int_eq(bt_scheduler_step(life.scheduler, life.now_ns, &attempt),
		created_ns + 30 * LIFE_SECOND);
	ck_assert_int_eq(attempt.outcome, BT_ATTEMPT_IDLE);
	life.bind_error = "the server says no";
	life_pod(&life, "p", "", "");
	ck_assert_int_eq(bt_scheduler_step(life.scheduler, life.now_ns, &attempt), life.now_ns);
	ck_assert_int_eq(attempt.outcome, BT_ATTEMPT_FAILED);
	ck_assert(!attempt.has_waited);
	int64_t next_ns = bt_scheduler_step(life.scheduler, life.now_ns, &attempt);
	ck_assert_int_eq(attempt.outcome, BT_ATTEMPT_IDLE);
	ck_assert_int_eq(next_ns, created_ns + 2 * LIFE_SECOND); /* the backoff ends */
	ck_assert_int_eq(bt_scheduler_next_step_ns(life.scheduler), next_ns);
	life.now_ns = next_ns;
	/* The step flushes the backoff; pops_nothing keeps the pod in the queue. */
	life.pops_nothing = true;
	ck_assert_int_eq(bt_scheduler_step(life.scheduler, life.now_ns, &attempt),
		created_ns + 30 * LIFE_SECOND);
	ck_assert_int_eq(attempt.outcome, BT_ATTEMPT_IDLE);
	ck_assert_str_eq(life_place(&life, "p"), "active");
	life.pops_nothing = false;
	life.bind_error = NULL;
	(void)bt_scheduler_step(life.scheduler, life.now_ns, &attempt);
	ck_assert_int_eq(attempt.outcome, BT_ATTEMPT_BOUND);
	life_finish(&life);
}
END_TEST

START_TEST(test_scheduler__a_late_refusal)
{
	init();
	life.bind_is_pending = true;
	(void)start("p");
	life.bind_is_pending = false;
	life.bind_error = "the server says no";
	(void)life_log(&life);
	answer("uid-p");
	struct bt_attempt attempt = life_finish_waiting(&life);
	ck_assert_int_eq(attempt.outcome, BT_ATTEMPT_FAILED);
	ck_assert_str_eq(attempt.reason.data, "SchedulerError");
	ck_assert_str_eq(
		attempt.message.data, "running Bind plugin \"DefaultBinder\": the server says no");
	ck_assert_uint_eq(life_pod_count(&life), 0);
	ck_assert_str_eq(life_place(&life, "p"), "error");
	ck_assert_str_eq(fake_log(), "P.Reserve P.Unreserve");
	life_finish(&life);
}
END_TEST

START_TEST(test_scheduler__pre_bind_waits_by_the_clock)
{
	init();
	fake_answer(&plugin_p.fake, FAKE_PRE_FLIGHT, BT_STATUS_SUCCESS, NULL);
	fake_answer(&plugin_p.fake, FAKE_PRE_BIND, BT_STATUS_WAIT, NULL);
	plugin_p.fake.timeout_ns = 0;
	(void)start("p");
	ck_assert_str_eq(life_log(&life), "patch p nominated=n1\n");
	/* The plugin gave no wake time, so the plugin is called again only after an answer. */
	ck_assert_int_eq(life_finish_waiting(&life).outcome, BT_ATTEMPT_IDLE);
	ck_assert_uint_eq(plugin_p.fake.calls[FAKE_PRE_BIND], 1);
	answer("uid-p");
	ck_assert_int_eq(life_finish_waiting(&life).outcome, BT_ATTEMPT_IDLE);
	ck_assert_uint_eq(plugin_p.fake.calls[FAKE_PRE_BIND], 2);
	fake_answer(&plugin_p.fake, FAKE_PRE_BIND, BT_STATUS_SUCCESS, NULL);
	answer("uid-p");
	ck_assert_int_eq(life_finish_waiting(&life).outcome, BT_ATTEMPT_BOUND);
	ck_assert(!life_cancel(&life, "uid-p"));
	ck_assert_str_eq(life_log(&life), BOUND("p"));
	life_finish(&life);
}
END_TEST

START_TEST(test_scheduler__pre_bind_is_stopped)
{
	init();
	fake_answer(&plugin_p.fake, FAKE_PRE_FLIGHT, BT_STATUS_SUCCESS, NULL);
	fake_answer(&plugin_p.fake, FAKE_PRE_BIND, BT_STATUS_WAIT, NULL);
	(void)start("p");
	/* Cycles of other pods use the engine's memory meanwhile. */
	life.bind_is_pending = true;
	fake_answer(&plugin_p.fake, FAKE_PRE_FLIGHT, BT_STATUS_SKIP, NULL);
	(void)start("q");
	(void)life_log(&life);
	ck_assert(life_cancel(&life, "uid-p"));
	/* The binding of q is already sent and cannot be cancelled. */
	ck_assert(!life_cancel(&life, "uid-q"));
	struct bt_attempt attempt = life_finish_waiting(&life);
	ck_assert_int_eq(attempt.outcome, BT_ATTEMPT_FAILED);
	ck_assert_str_eq(attempt.name.data, "p");
	ck_assert_str_eq(attempt.message.data,
		"running PreBind plugin \"P\": preempted by DefaultPreemption");
	ck_assert_uint_eq(plugin_p.fake.calls[FAKE_PRE_BIND], 1);
	ck_assert_uint_eq(life_pod_count(&life), 1);
	life_finish(&life);
}
END_TEST

/** The watch delivers the binding before the answer comes. */
START_TEST(test_scheduler__the_watch_is_first)
{
	init();
	life.bind_is_pending = true;
	(void)start("p");
	life_pod(&life, "p", "", "'spec':{'nodeName':'n1'}");
	ck_assert(!life_is_assumed(&life, "p"));
	(void)life_log(&life);
	life.bind_is_pending = false;
	answer("uid-p");
	ck_assert_int_eq(life_finish_waiting(&life).outcome, BT_ATTEMPT_BOUND);
	ck_assert_uint_eq(life_pod_count(&life), 1);
	life_finish(&life);
}
END_TEST

START_TEST(test_scheduler__deleted_while_it_waits)
{
	init();
	life.bind_is_pending = true;
	(void)start("p");
	life_delete(&life, BT_KIND_POD, "default", "p");
	ck_assert_uint_eq(life_pod_count(&life), 0);
	life.bind_is_pending = false;
	life.bind_error = "pods \"p\" not found";
	answer("uid-p");
	ck_assert_int_eq(life_finish_waiting(&life).outcome, BT_ATTEMPT_FAILED);
	ck_assert_str_eq(life_place(&life, "p"), "-");
	life_finish(&life);
}
END_TEST

/** One pod waits three times: on Permit, on PreBind, and for the binding's answer. */
START_TEST(test_scheduler__waits_one_after_another)
{
	init();
	fake_answer(&plugin_p.fake, FAKE_PERMIT, BT_STATUS_WAIT, NULL);
	plugin_p.fake.timeout_ns = 10 * LIFE_SECOND;
	fake_answer(&plugin_p.fake, FAKE_PRE_FLIGHT, BT_STATUS_SUCCESS, NULL);
	fake_answer(&plugin_p.fake, FAKE_PRE_BIND, BT_STATUS_WAIT, NULL);
	life.bind_is_pending = true;
	(void)start("p");
	ck_assert_uint_eq(plugin_p.fake.calls[FAKE_PRE_BIND], 0);
	bt_waiting_pod_allow(
		bt_waiting_pods_find(handle()->waiting_pods, BT_STR("uid-p")), BT_STR("P"));
	ck_assert_int_eq(life_finish_waiting(&life).outcome, BT_ATTEMPT_IDLE);
	ck_assert_uint_eq(plugin_p.fake.calls[FAKE_PRE_BIND], 1);
	fake_answer(&plugin_p.fake, FAKE_PRE_BIND, BT_STATUS_SUCCESS, NULL);
	answer("uid-p");
	ck_assert_int_eq(life_finish_waiting(&life).outcome, BT_ATTEMPT_IDLE);
	life.bind_is_pending = false;
	answer("uid-p");
	ck_assert_int_eq(life_finish_waiting(&life).outcome, BT_ATTEMPT_BOUND);
	ck_assert_uint_eq(plugin_p.fake.calls[FAKE_PRE_BIND], 2);
	life_finish(&life);
}
END_TEST

/** A late step finds several timers that have ended. */
START_TEST(test_scheduler__permits_end_by_deadline_then_arrival)
{
	init();
	fake_answer(&plugin_p.fake, FAKE_PERMIT, BT_STATUS_WAIT, NULL);
	plugin_p.fake.timeout_ns = 20 * LIFE_SECOND;
	(void)start("p");
	plugin_p.fake.timeout_ns = 10 * LIFE_SECOND;
	(void)start("q");
	(void)start("r");
	life_advance(&life, 30);
	ck_assert_str_eq(life_finish_waiting(&life).name.data, "q");
	ck_assert_str_eq(life_finish_waiting(&life).name.data, "r");
	ck_assert_str_eq(life_finish_waiting(&life).name.data, "p");
	ck_assert_int_eq(life_finish_waiting(&life).outcome, BT_ATTEMPT_IDLE);
	life_finish(&life);
}
END_TEST

/** Ends by the timeout if each step visits all pods that wait on Permit. */
START_TEST(test_scheduler__steps_while_many_pods_wait)
{
	char name[16];

	init();
	fake_answer(&plugin_p.fake, FAKE_PERMIT, BT_STATUS_WAIT, NULL);
	plugin_p.fake.timeout_ns = 10 * LIFE_SECOND;
	for (uint32_t i = 0; i < 5000; i++) {
		(void)snprintf(name, sizeof(name), "p%u", i);
		(void)start(name);
	}
	for (uint32_t i = 0; i < 2000000; i++) {
		ck_assert_int_eq(life_finish_waiting(&life).outcome, BT_ATTEMPT_IDLE);
	}
	bt_waiting_pod_allow(
		bt_waiting_pods_find(handle()->waiting_pods, BT_STR("uid-p70")), BT_STR("P"));
	ck_assert_str_eq(life_finish_waiting(&life).name.data, "p70");
	ck_assert(bt_waiting_pods_reject(handle()->waiting_pods, BT_STR("uid-p30")));
	ck_assert_str_eq(life_finish_waiting(&life).name.data, "p30");
	ck_assert_int_eq(life_finish_waiting(&life).outcome, BT_ATTEMPT_IDLE);
	life_finish(&life);
}
END_TEST

/** The scheduler is destroyed while pods wait. */
START_TEST(test_scheduler__ends_while_pods_wait)
{
	init();
	life.bind_is_pending = true;
	(void)start("p");
	(void)start("q");
	answer("uid-p");
	life_finish(&life);
}
END_TEST

BT_TEST_MAIN("scheduler_waits", test_scheduler__answers_in_any_order,
	test_scheduler__step_returns_when_to_call_again, test_scheduler__a_late_refusal,
	test_scheduler__pre_bind_waits_by_the_clock, test_scheduler__pre_bind_is_stopped,
	test_scheduler__the_watch_is_first, test_scheduler__deleted_while_it_waits,
	test_scheduler__waits_one_after_another,
	test_scheduler__permits_end_by_deadline_then_arrival,
	test_scheduler__steps_while_many_pods_wait, test_scheduler__ends_while_pods_wait)
