/* SPDX-License-Identifier: Apache-2.0 */
/** The living scheduler with the gate SchedulerAsyncAPICalls. Spec 03 section 11.4. */
#include "framework/waiting_pods.h"
#include "life_world.h"
#include "sched/api_calls.h"
#include "test_main.h"

#define ROLES \
	(FAKE_ROLE(FAKE_FILTER) | FAKE_ROLE(FAKE_PERMIT) | FAKE_ROLE(FAKE_PRE_FLIGHT) | \
		FAKE_ROLE(FAKE_PRE_BIND) | FAKE_ROLE(FAKE_POST_BIND))

#define SCHEDULED(pod) \
	"event " pod " Normal Scheduled Binding Successfully assigned default/" pod " to n1\n"
#define REJECTED(pod, reason) \
	"event " pod " Warning FailedScheduling Scheduling 0/1 nodes are available: 1 " reason "." \
	                                                                                       "\n"
#define PATCHED(pod, reason) "patch " pod " Unschedulable: 0/1 nodes are available: 1 " reason "."

/** The tests use node n1 and plugin P. */
static struct script plugin_p;
static struct life life;

static void init_with(const char *gates)
{
	plugin_p = script_make("P", ROLES, SCRIPT_PLAIN);
	life_init_gated(&life, gates, "P", (struct script *[]){&plugin_p}, 1);
	life_node(&life, "n1", "");
}

static void init(void)
{
	init_with("SchedulerAsyncAPICalls=true");
	ck_assert(bt_scheduler_queues_calls(life.scheduler));
}

static struct bt_attempt start(const char *pod)
{
	life_pod(&life, pod, "", "");
	struct bt_attempt attempt = life_schedule(&life);
	ck_assert_int_eq(attempt.outcome, BT_ATTEMPT_WAITING);
	ck_assert_str_eq(attempt.node_name.data, "n1");
	return attempt;
}

static void reject(const char *reason)
{
	fake_answer(&plugin_p.fake, FAKE_FILTER, BT_STATUS_UNSCHEDULABLE, reason);
}

/** Requeues the pods for their next attempts. */
static void requeue_all(void)
{
	life_node(&life, "n1", "'status':{'allocatable':{'cpu':'1'}}");
	life_node(&life, "n1", "'status':{'allocatable':{'cpu':'2'}}");
	life_advance(&life, 400);
}

START_TEST(test_scheduler__edge_03_49_the_binding_overwrites_the_patch)
{
	init_with("");
	ck_assert(!bt_scheduler_queues_calls(life.scheduler));
	life_pod(&life, "p", "", "");
	ck_assert_int_eq(life_schedule(&life).outcome, BT_ATTEMPT_BOUND);
	ck_assert_str_eq(life_log(&life), "patch p nominated=n1\nbind p n1\n" SCHEDULED("p"));
	life_finish(&life);

	init();
	(void)start("p");
	ck_assert_str_eq(life_log(&life), "bind p n1\n");
	struct bt_attempt attempt = life_finish_waiting(&life);
	ck_assert_int_eq(attempt.outcome, BT_ATTEMPT_BOUND);
	ck_assert_str_eq(attempt.name.data, "p");
	ck_assert_str_eq(life_log(&life), SCHEDULED("p"));
	ck_assert_int_eq(life_finish_waiting(&life).outcome, BT_ATTEMPT_IDLE);
	life_finish(&life);
}
END_TEST

START_TEST(test_scheduler__edge_03_50_the_name_joins_the_condition)
{
	init();
	life.patch_is_pending = true;
	reject("a");
	life_pod(&life, "p", "", "");
	ck_assert_int_eq(life_schedule(&life).outcome, BT_ATTEMPT_FAILED);
	ck_assert_str_eq(life_log(&life), REJECTED("p", "a") PATCHED("p", "a") " nominated=\n");
	/* While the patch is in flight: a new condition, then only a nomination. */
	reject("b");
	requeue_all();
	ck_assert_int_eq(life_schedule(&life).outcome, BT_ATTEMPT_FAILED);
	ck_assert_str_eq(life_log(&life), REJECTED("p", "b"));
	fake_answer(&plugin_p.fake, FAKE_FILTER, BT_STATUS_SUCCESS, NULL);
	fake_answer(&plugin_p.fake, FAKE_PRE_BIND, BT_STATUS_WAIT, NULL);
	requeue_all();
	ck_assert_int_eq(life_schedule(&life).outcome, BT_ATTEMPT_WAITING);
	ck_assert_int_eq(life_finish_waiting(&life).outcome, BT_ATTEMPT_IDLE);
	ck_assert_str_eq(life_log(&life), "");
	life.patch_is_pending = false;
	ck_assert(bt_scheduler_patch_answered(life.scheduler, BT_STR("uid-p"), 0, BT_STR("")));
	ck_assert(!bt_scheduler_patch_answered(life.scheduler, BT_STR("uid-p"), 0, BT_STR("")));
	ck_assert_int_eq(life_finish_waiting(&life).outcome, BT_ATTEMPT_IDLE);
	ck_assert_str_eq(life_log(&life), PATCHED("p", "b") " nominated=n1\n");
	fake_answer(&plugin_p.fake, FAKE_PRE_BIND, BT_STATUS_SUCCESS, NULL);
	bt_scheduler_resume(life.scheduler, BT_STR("uid-p"));
	ck_assert_int_eq(life_finish_waiting(&life).outcome, BT_ATTEMPT_BOUND);
	ck_assert_str_eq(life_log(&life), "bind p n1\n" SCHEDULED("p"));
	life_finish(&life);
}
END_TEST

START_TEST(test_scheduler__a_queued_binding_waits_for_its_answer)
{
	init();
	life.bind_is_pending = true;
	(void)start("p");
	(void)start("q");
	ck_assert_str_eq(life_log(&life), "bind p n1\nbind q n1\n");
	ck_assert_int_eq(life_finish_waiting(&life).outcome, BT_ATTEMPT_IDLE);
	ck_assert_str_eq(life_log(&life), "");
	life.bind_is_pending = false;
	bt_scheduler_resume(life.scheduler, BT_STR("uid-q"));
	bt_scheduler_resume(life.scheduler, BT_STR("uid-q"));
	bt_scheduler_resume(life.scheduler, BT_STR("uid-of-nobody"));
	ck_assert_str_eq(life_finish_waiting(&life).name.data, "q");
	ck_assert_str_eq(life_log(&life), "bind q n1\n" SCHEDULED("q"));
	ck_assert_int_eq(life_finish_waiting(&life).outcome, BT_ATTEMPT_IDLE);
	life.bind_error = "the server says no";
	bt_scheduler_resume(life.scheduler, BT_STR("uid-p"));
	struct bt_attempt attempt = life_finish_waiting(&life);
	ck_assert_int_eq(attempt.outcome, BT_ATTEMPT_FAILED);
	ck_assert_str_eq(attempt.reason.data, "SchedulerError");
	ck_assert_str_eq(
		attempt.message.data, "running Bind plugin \"DefaultBinder\": the server says no");
	ck_assert_str_eq(life_place(&life, "p"), "error");
	ck_assert_str_eq(life_log(&life),
		"bind p n1\n"
		"event p Warning FailedScheduling Scheduling running Bind plugin "
		"\"DefaultBinder\": the server says no\n"
		"patch p SchedulerError: running Bind plugin \"DefaultBinder\": the server says no "
		"nominated=\n");
	life_finish(&life);
}
END_TEST

START_TEST(test_scheduler__a_binding_waits_for_the_patch_under_way)
{
	init();
	life.patch_is_pending = true;
	fake_answer(&plugin_p.fake, FAKE_PERMIT, BT_STATUS_WAIT, NULL);
	plugin_p.fake.timeout_ns = 10 * LIFE_SECOND;
	(void)start("p");
	ck_assert_str_eq(life_log(&life), "patch p nominated=n1\n");
	const struct bt_handle *handle =
		&bt_scheduler_engine(life.scheduler)->profiles.frameworks.items[0]->handle;
	bt_waiting_pod_allow(
		bt_waiting_pods_find(handle->waiting_pods, BT_STR("uid-p")), BT_STR("P"));
	ck_assert_int_eq(life_finish_waiting(&life).outcome, BT_ATTEMPT_IDLE);
	ck_assert_str_eq(life_log(&life), "");
	ck_assert(bt_scheduler_patch_answered(
		life.scheduler, BT_STR("uid-p"), BERTH_ERR_INVALID, BT_STR("no patch")));
	ck_assert_int_eq(life_finish_waiting(&life).outcome, BT_ATTEMPT_BOUND);
	ck_assert_str_eq(life_log(&life), "warn no patch\nbind p n1\n" SCHEDULED("p"));
	life_finish(&life);
}
END_TEST

START_TEST(test_scheduler__an_update_drops_the_patch_that_is_in_effect)
{
	init();
	life.patch_is_pending = true;
	reject("a");
	life_pod(&life, "p", "", "");
	(void)life_schedule(&life);
	reject("b");
	requeue_all();
	(void)life_schedule(&life);
	(void)life_log(&life);
	ck_assert(bt_scheduler_patch_answered(life.scheduler, BT_STR("uid-p"), 0, BT_STR("")));
	life_pod(&life, "p", "",
		"'status':{'conditions':[{'type':'PodScheduled','status':'False','reason':"
		"'Unschedulable','message':'0/1 nodes are available: 1 b.'}]}");
	ck_assert_int_eq(life_finish_waiting(&life).outcome, BT_ATTEMPT_IDLE);
	ck_assert_str_eq(life_log(&life), "");
	life_finish(&life);
}
END_TEST

static void drop_the_pod(struct life *owner)
{
	owner->during_bind = NULL;
	life_delete(owner, BT_KIND_POD, "default", "p");
	bt_scheduler_resume(owner->scheduler, BT_STR("uid-p"));
}

START_TEST(test_scheduler__the_pod_goes_while_its_call_is_carried_out)
{
	init();
	life.during_bind = drop_the_pod;
	(void)start("p");
	ck_assert_int_eq(life_finish_waiting(&life).outcome, BT_ATTEMPT_BOUND);
	ck_assert_uint_eq(life_pod_count(&life), 0);
	/* The call is still in flight when the scheduler is destroyed. */
	life.bind_is_pending = true;
	(void)start("q");
	life.patch_is_pending = true;
	reject("a");
	life_pod(&life, "r", "", "");
	(void)life_schedule(&life);
	life_finish(&life);
}
END_TEST

BT_TEST_MAIN("scheduler_calls", test_scheduler__edge_03_49_the_binding_overwrites_the_patch,
	test_scheduler__edge_03_50_the_name_joins_the_condition,
	test_scheduler__a_queued_binding_waits_for_its_answer,
	test_scheduler__a_binding_waits_for_the_patch_under_way,
	test_scheduler__an_update_drops_the_patch_that_is_in_effect,
	test_scheduler__the_pod_goes_while_its_call_is_carried_out)
