/* SPDX-License-Identifier: Apache-2.0 */
/** Extenders in binding, queue and preemption. Spec 11b sections 9.6 and 9.7, 08 section 10. */
#include "fake_poster.h"
#include "life_world.h"
#include "test_main.h"

#define A "'urlPrefix':'http://h:1/a'"
#define BINDS A ",'bindVerb':'b'"

static struct fake_poster fake;
static struct life life;

static void init(const char *plugins, const char *extenders)
{
	struct bt_arena arena = {0};
	const char *config = bt_arena_printf(&arena, "{'profiles':[%s],'extenders':[{%s}]}",
		world_profile(&arena, "default-scheduler", plugins, ""), extenders)
				     .data;

	fake_poster_init(&fake);
	life_init_extended(&life, config, NULL, 0, &fake.factory);
	bt_scheduler_engine(life.scheduler)->extenders.observer = fake.observer;
	bt_arena_finish(&arena);
}

static void finish(void)
{
	life_finish(&life);
	fake_poster_finish(&fake);
}

/** --- bind --- */

START_TEST(test_extender__binds)
{
	struct bt_attempt attempt;

	init("", BINDS);
	fake_poster_reply(&fake, "http://h:1/a/b", "{'Error':''}");
	life_node(&life, "n1", "");
	life_pod(&life, "p", "", "");
	attempt = life_schedule(&life);
	ck_assert_int_eq(attempt.outcome, BT_ATTEMPT_BOUND);
	ck_assert_str_eq(fake_poster_log(&fake),
		"http://h:1/a/b {'PodName':'p','PodNamespace':'default','PodUID':'uid-p',"
		"'Node':'n1'}\n");
	/* Only the extender binds; the event is the usual event. */
	ck_assert_str_eq(life_log(&life),
		"event p Normal Scheduled Binding Successfully assigned default/p to n1\n");
	ck_assert(life_is_assumed(&life, "p"));
	finish();
}
END_TEST

START_TEST(test_extender__edge_11b_19_bind_fails)
{
	static const struct {
		const char *body;
		int status;
		const char *message;
	} rows[] = {
		{"{'Error':'no quota'}", 200, "no quota"},
		{"", 200, "EOF"},
		{"", 500, "failed b with extender at URL http://h:1/a/b, code 500"},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_attempt attempt;

		init("", BINDS);
		fake_poster_reply(&fake, "http://h:1/a/b", rows[i].body);
		fake.replies[0].status = rows[i].status;
		life_node(&life, "n1", "");
		life_pod(&life, "p", "", "");
		attempt = life_schedule(&life);
		ck_assert_int_eq(attempt.outcome, BT_ATTEMPT_FAILED);
		ck_assert(bt_str_equal_c(attempt.reason, "SchedulerError"));
		ck_assert_msg(bt_str_equal_c(attempt.message, rows[i].message), "%.*s",
			BT_STR_ARG(attempt.message));
		ck_assert_ptr_eq(strstr(life_log(&life), "bind p"), NULL);
		ck_assert(!life_is_assumed(&life, "p"));
		ck_assert_str_eq(life_place(&life, "p"), "error");
		finish();
	}
}
END_TEST

START_TEST(test_extender__ignorable_bind_fails)
{
	struct bt_attempt attempt;

	init("", BINDS ",'ignorable':true");
	fake_poster_fail(&fake, "http://h:1/a/b", 0, "refused");
	life_node(&life, "n1", "");
	life_pod(&life, "p", "", "");
	attempt = life_schedule(&life);
	ck_assert_int_eq(attempt.outcome, BT_ATTEMPT_BOUND);
	ck_assert_ptr_ne(strstr(life_log(&life), "bind p n1\n"), NULL);
	ck_assert_str_eq(bt_strbuf_c(&fake.ignored),
		"V(0) Skipping extender in bind as it returned error and has ignorable flag set "
		"http://h:1/a refused\n");
	finish();
}
END_TEST

START_TEST(test_extender__edge_11b_20_binder_of_uninteresting_pods)
{
	init("", BINDS ",'managedResources':[{'name':'example.com/x'}]");
	life_node(&life, "n1", "");
	life_pod(&life, "p", "", "");
	ck_assert_int_eq(life_schedule(&life).outcome, BT_ATTEMPT_BOUND);
	ck_assert_ptr_ne(strstr(life_log(&life), "bind p n1\n"), NULL);
	ck_assert_str_eq(fake_poster_urls(&fake), "");
	finish();
}
END_TEST

static void bind_in_the_api(void *context)
{
	(void)context;
	life_pod(&life, "p", "", "'spec':{'nodeName':'n1'}");
}

START_TEST(test_extender__edge_03_33_bound_but_timed_out)
{
	init("", BINDS);
	fake_poster_fail(&fake, "http://h:1/a/b", 0, "context deadline exceeded");
	fake.during = bind_in_the_api;
	life_node(&life, "n1", "");
	life_pod(&life, "p", "", "");
	ck_assert_int_eq(life_schedule(&life).outcome, BT_ATTEMPT_FAILED);
	ck_assert_str_eq(life_place(&life, "p"), "-");
	ck_assert_str_eq(life_node_of(&life, "uid-p"), "n1");
	finish();
}
END_TEST

/** --- the queue --- */

START_TEST(test_extender__rejects_in_its_own_name)
{
	init("", A ",'filterVerb':'f','nodeCacheCapable':true");
	fake_poster_reply(
		&fake, "http://h:1/a/f", "{'NodeNames':[],'FailedNodes':{'n1':'no room'}}");
	life_node(&life, "n1", "");
	life_pod(&life, "p", "", "");
	ck_assert_int_eq(life_schedule(&life).outcome, BT_ATTEMPT_FAILED);
	ck_assert_str_eq(life_place(&life, "p"), "unschedulable");
	ck_assert_str_eq(life_rejectors(&life, "p", false), "Extender");
	/* Any event that the extender is registered for requeues the pod. */
	life_node(&life, "n1", "'status':{'allocatable':{'cpu':'9'}}");
	ck_assert_str_ne(life_place(&life, "p"), "unschedulable");
	finish();
}
END_TEST

/** --- preemption --- */

#define PREEMPTS A ",'preemptVerb':'v'"

/** Adds two full nodes, each with a pod of low priority; pod p could preempt on either node. */
static void fill(const char *extenders)
{
	init("NodeResourcesFit,DefaultPreemption", extenders);
	for (int i = 1; i <= 2; i++) {
		const char *node = i == 1 ? "n1" : "n2";
		const char *pod = i == 1 ? "v1" : "v2";
		life_node(&life, node, "'status':{'allocatable':{'pods':'1','cpu':'1'}}");
		life_pod(&life, pod, "",
			bt_arena_printf(
				&life.arena, "'spec':{'nodeName':'%s','priority':%d}", node, i)
				.data);
	}
	life_pod(&life, "p", "", "'spec':{'priority':9}");
}

/** Returns the node that p is nominated to, or the message of the attempt. */
static const char *preempt(void)
{
	struct bt_attempt attempt = life_schedule(&life);
	const char *log = life_log(&life);
	const char *nominated = strstr(log, " nominated=");

	ck_assert_int_eq(attempt.outcome, BT_ATTEMPT_FAILED);
	if (nominated != NULL) {
		return bt_arena_printf(&life.arena, "%.2s", nominated + strlen(" nominated=")).data;
	}
	nominated = strstr(bt_arena_str(&life.arena, attempt.message).data, "preemption: ");
	return nominated != NULL ? nominated : "-";
}

START_TEST(test_extender__edge_11b_21_no_victims)
{
	static const char *const answers[] = {
		"{'NodeNameToMetaVictims':{'n1':{'Pods':[]}}}",
		"{'NodeNameToMetaVictims':{'n1':{'Pods':null}}}",
		"{'NodeNameToMetaVictims':{'n1':null}}",
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(answers); i++) {
		fill(PREEMPTS);
		fake_poster_reply(&fake, "http://h:1/a/v", answers[i]);
		ck_assert_str_eq(
			preempt(), "preemption: expected at least one victim pod on node \"n1\"");
		finish();
		/* If the extender is ignorable, the node is dropped. */
		fill(PREEMPTS ",'ignorable':true");
		fake_poster_reply(&fake, "http://h:1/a/v",
			"{'NodeNameToMetaVictims':{'n1':{'Pods':[]},'n2':{'Pods':[{'UID':'uid-v2'}"
			"]}}}");
		ck_assert_str_eq(preempt(), "n2");
		ck_assert_str_eq(bt_strbuf_c(&fake.ignored),
			"V(2) Ignored node for which the extender didn't report victims "
			"http://h:1/a n1\n");
		finish();
	}
}
END_TEST

START_TEST(test_extender__edge_11b_23_uid_that_is_not_there)
{
	fill(PREEMPTS);
	fake_poster_reply(&fake, "http://h:1/a/v",
		"{'NodeNameToMetaVictims':{'n1':{'Pods':[{'UID':'uid-v2'}]}}}");
	ck_assert_str_eq(preempt(),
		"preemption: extender: http://h:1/a claims to preempt pod (UID: &{uid-v2}) on "
		"node: n1, but the pod is not found on that node");
	finish();
	fill(PREEMPTS);
	fake_poster_reply(
		&fake, "http://h:1/a/v", "{'NodeNameToMetaVictims':{'x':{'Pods':[{'UID':'u'}]}}}");
	ck_assert_str_eq(preempt(), "preemption: nodeinfo not found for node name \"x\"");
	finish();
}
END_TEST

START_TEST(test_extender__edge_08_36_narrows)
{
	/* Without the extender, preemption selects the victim with the lower priority. */
	fill("'urlPrefix':'http://h:2'");
	ck_assert_str_eq(preempt(), "n1");
	finish();
	fill(PREEMPTS "},{'urlPrefix':'http://h:2','preemptVerb':'w','ignorable':true");
	fake_poster_reply(&fake, "http://h:1/a/v",
		"{'NodeNameToMetaVictims':{'n2':{'Pods':[{'UID':'uid-v2'}]}}}");
	fake_poster_fail(&fake, "http://h:2/w", 404, NULL);
	ck_assert_str_eq(preempt(), "n2");
	ck_assert_str_eq(bt_strbuf_c(&fake.ignored),
		"V(2) Skipped extender as it returned error and has ignorable flag set "
		"http://h:2 failed w with extender at URL http://h:2/w, code 404\n");
	finish();
	fill(PREEMPTS);
	fake_poster_reply(&fake, "http://h:1/a/v", "{}");
	ck_assert_str_eq(preempt(), "preemption: no candidate node for preemption");
	finish();
}
END_TEST

START_TEST(test_extender__edge_08_38_preemption_of_uninteresting_pods)
{
	fill(PREEMPTS ",'managedResources':[{'name':'example.com/x'}]");
	ck_assert_str_eq(preempt(), "n1");
	ck_assert_str_eq(fake_poster_urls(&fake), "");
	finish();
}
END_TEST

START_TEST(test_extender__preemption_question)
{
	fill(PREEMPTS ",'nodeCacheCapable':true");
	fake_poster_reply(&fake, "http://h:1/a/v", "{}");
	(void)preempt();
	ck_assert_ptr_ne(strstr(fake_poster_log(&fake),
				 ",'NodeNameToVictims':null,'NodeNameToMetaVictims':{"
				 "'n1':{'Pods':[{'UID':'uid-v1'}],'NumPDBViolations':0},"
				 "'n2':{'Pods':[{'UID':'uid-v2'}],'NumPDBViolations':0}}}\n"),
		NULL);
	finish();
	fill(PREEMPTS);
	fake_poster_reply(&fake, "http://h:1/a/v", "{}");
	(void)preempt();
	ck_assert_ptr_ne(strstr(fake_poster_log(&fake),
				 ",'NodeNameToVictims':{'n1':{'Pods':[{'metadata':{'name':'v1',"),
		NULL);
	finish();
}
END_TEST

START_TEST(test_extender__only_what_it_explains_may_be_preempted)
{
	/*
	 * Preemption skips nodes that an extender drops without a reason, and tries nodes whose
	 * reason is resolvable.
	 */
	fill(A ",'filterVerb':'f','nodeCacheCapable':true");
	for (int i = 1; i <= 2; i++) {
		life_node(&life, i == 1 ? "n1" : "n2",
			"'status':{'allocatable':{'pods':'5','cpu':'1'}}");
	}
	fake_poster_reply(&fake, "http://h:1/a/f", "{'NodeNames':[]}");
	(void)life_schedule(&life);
	ck_assert_ptr_ne(strstr(life_log(&life),
				 "0/2 nodes are available: preemption: 0/2 nodes are available: 2 "
				 "Preemption is not helpful for scheduling."),
		NULL);
	finish();
	fill(A ",'filterVerb':'f','nodeCacheCapable':true");
	for (int i = 1; i <= 2; i++) {
		life_node(&life, i == 1 ? "n1" : "n2",
			"'status':{'allocatable':{'pods':'5','cpu':'1'}}");
	}
	fake_poster_reply(&fake, "http://h:1/a/f",
		"{'NodeNames':[],'FailedNodes':{'n1':'x'},'FailedAndUnresolvableNodes':{'n2':'y'}"
		"}");
	(void)life_schedule(&life);
	/* Only n1 is tried, and no victim has to leave n1: spec 08 section 5, 2b. */
	ck_assert_ptr_ne(strstr(life_log(&life),
				 "0/2 nodes are available: 1 x, 1 y. preemption: expected at least "
				 "one victim pod on node \"n1\"\n"),
		NULL);
	finish();
}
END_TEST

BT_TEST_MAIN("extender_life", test_extender__only_what_it_explains_may_be_preempted,
	test_extender__binds, test_extender__edge_11b_19_bind_fails,
	test_extender__ignorable_bind_fails,
	test_extender__edge_11b_20_binder_of_uninteresting_pods,
	test_extender__edge_03_33_bound_but_timed_out, test_extender__rejects_in_its_own_name,
	test_extender__edge_11b_21_no_victims, test_extender__edge_11b_23_uid_that_is_not_there,
	test_extender__edge_08_36_narrows,
	test_extender__edge_08_38_preemption_of_uninteresting_pods,
	test_extender__preemption_question)
