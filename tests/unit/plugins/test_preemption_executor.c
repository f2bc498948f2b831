/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Removal of victims, synchronous and in the background. Spec: 08 section 18, cases 39 to 43, and
 * section 11.
 */
#include "base/compiler.h"
#include "framework/scheduler_metrics.h"
#include "metrics/metrics.h"
#include "preemption_fixture.h"
#include "test_main.h"

#define REMOVED(name) "patch " name "; delete " name "; event " name " " NOTE
#define NOTE "\"Preempted by pod uid-p on node node1\""
#define NOTE_IN_MEMORY "\"Preempted by pod uid-p on node node1 (in kube-scheduler memory).\""

/** Builds a node where preemptor p of 3 cpu needs all pods as victims. */
static void init(struct preemption_fixture *fixture, const char *gates, const char *pods)
{
	struct preemption_options options = {.gates = gates};

	preemption_init(fixture, &options);
	preemption_add_node(fixture, "node1", "'cpu':'3','pods':'10'");
	preemption_add_pods(fixture, "node1", pods);
	preemption_enable_writes(fixture);
}

static void expect_success(struct preemption_fixture *fixture, const char *log)
{
	preemption_expect(fixture, "p:hi,cpu=3", "node1:U", "Success", "node1", NULL);
	ck_assert_str_eq(preemption_log(fixture), log);
}

static bool is_running(struct preemption_fixture *fixture)
{
	return bt_preemption_is_running(&fixture->evaluator->executor, BT_STR("uid-p"));
}

#define SYNC "SchedulerAsyncPreemption=false"
#define THREE "a:mid,cpu=1,start=1 b:mid,cpu=1,start=2 c:low,cpu=1"

START_TEST(test_preemption__edge_08_39_only_victim_terminates_already)
{
	struct preemption_fixture fixture;

	init(&fixture, NULL, "a:low,cpu=3,dying");
	fixture.deferred = true;
	expect_success(&fixture, "");
	ck_assert(!is_running(&fixture));
	preemption_finish(&fixture);

	/* Synchronous preemption still clears nominations. */
	init(&fixture, SYNC, "a:low,cpu=3,dying");
	(void)preemption_nominate(&fixture, "n:low,nominated=node1", "node1", true);
	expect_success(&fixture, "clear n");
	preemption_finish(&fixture);
}
END_TEST

/** --- answers of the API --- */

START_TEST(test_preemption__edge_08_40_victim_is_gone_or_marked)
{
	static const char *const forms[] = {SYNC, NULL};
	struct preemption_fixture fixture;

	for (size_t i = 0; i < BT_ARRAY_LENGTH(forms); i++) {
		init(&fixture, forms[i], "a:mid,cpu=1 b:low,cpu=1,start=1 c:low,cpu=1,start=2");
		fixture.failures[0] = (struct preemption_failure){
			"patch a", BERTH_ERR_NOT_FOUND, "pods \"a\" not found"};
		fixture.failures[1] = (struct preemption_failure){
			"delete b", BERTH_ERR_NOT_FOUND, "pods \"b\" not found"};
		expect_success(&fixture, "patch a; patch b; delete b; " REMOVED("c"));
		ck_assert(!is_running(&fixture));
		preemption_finish(&fixture);

		init(&fixture, forms[i], "a:low,cpu=3,marked");
		expect_success(&fixture, "delete a; event a " NOTE);
		preemption_finish(&fixture);

		/*
		 * The informer's version of the victim lacks the condition, so the condition is
		 * written.
		 */
		init(&fixture, forms[i], "a:low,cpu=3,marked");
		preemption_informer_set(&fixture, "a:low");
		expect_success(&fixture, REMOVED("a"));
		ck_assert(bt_str_equal_c(fixture.condition.type, "DisruptionTarget"));
		ck_assert(bt_str_equal_c(fixture.condition.status, "True"));
		ck_assert(bt_str_equal_c(fixture.condition.reason, "PreemptionByScheduler"));
		ck_assert(bt_str_equal_c(fixture.condition.message,
			"default-scheduler: preempting to accommodate a higher priority pod"));
		ck_assert_int_eq(fixture.condition.observed_generation, 7);
		preemption_finish(&fixture);
	}
}
END_TEST

START_TEST(test_preemption__edge_08_41_failures_in_the_background)
{
	static const struct {
		const char *row;
		const char *failing;
		const char *log;
	} rows[] = {
		{"none", "", REMOVED("a") "; " REMOVED("b") "; " REMOVED("c")},
		{"first", "patch a", "patch a; activate p"},
		{"second", "delete b", REMOVED("a") "; patch b; delete b; activate p"},
		{"third", "delete c",
			REMOVED("a") "; " REMOVED("b") "; patch c; delete c; activate p"},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct preemption_fixture fixture;

		init(&fixture, NULL, THREE);
		fixture.failures[0] =
			(struct preemption_failure){rows[i].failing, BERTH_ERR_IO, "refused"};
		preemption_expect(&fixture, "p:hi,cpu=3", "node1:U", "Success", "node1", NULL);
		ck_assert_msg(
			strcmp(preemption_log(&fixture), rows[i].log) == 0, "%s", rows[i].row);
		ck_assert(!is_running(&fixture));
		preemption_finish(&fixture);
	}
}
END_TEST

START_TEST(test_preemption__failure_cancels_calls_under_way)
{
	struct preemption_fixture fixture;

	/* The first two victims are removed in parallel, the last victim after them. */
	init(&fixture, NULL, THREE);
	fixture.deferred = true;
	expect_success(&fixture, "patch a; patch b");
	preemption_complete(&fixture, "patch b", 0);
	ck_assert_str_eq(preemption_log(&fixture), "delete b");
	preemption_complete(&fixture, "patch a", 0);
	preemption_complete(&fixture, "delete a", 0);
	ck_assert_str_eq(preemption_log(&fixture), "delete a; event a " NOTE);
	ck_assert(is_running(&fixture));
	preemption_complete(&fixture, "delete b", BERTH_ERR_NOT_FOUND);
	ck_assert_str_eq(preemption_log(&fixture), "patch c");
	preemption_complete(&fixture, "patch c", 0);
	preemption_complete(&fixture, "delete c", 0);
	ck_assert_str_eq(preemption_log(&fixture), "delete c; event c " NOTE);
	ck_assert(!is_running(&fixture));
	/* A second answer has no effect. */
	bt_preemption_complete(&fixture.evaluator->executor, 0, 0);

	expect_success(&fixture, "patch a; patch b");
	preemption_complete(&fixture, "patch a", BERTH_ERR_IO);
	ck_assert(is_running(&fixture));
	preemption_complete(&fixture, "patch b", 0);
	ck_assert_str_eq(preemption_log(&fixture), "activate p");
	ck_assert(!is_running(&fixture));
	preemption_finish(&fixture);
}
END_TEST

/** --- whether preemption is running --- */

START_TEST(test_preemption__edge_08_42_is_running)
{
	struct preemption_fixture fixture;

	init(&fixture, NULL, "a:mid,cpu=2 v:low,cpu=1");
	ck_assert(!is_running(&fixture));
	fixture.deferred = true;
	expect_success(&fixture, "patch a");
	ck_assert(is_running(&fixture));
	/* Pod v is not the pending victim yet, so the informer's state of v does not matter. */
	preemption_informer_set(&fixture, "v:low,dying");
	ck_assert(is_running(&fixture));
	preemption_informer_set(&fixture, "v:low");
	preemption_complete(&fixture, "patch a", BERTH_ERR_NOT_FOUND);
	ck_assert_str_eq(preemption_log(&fixture), "patch v");
	ck_assert(is_running(&fixture));
	ck_assert(!bt_preemption_is_running(&fixture.evaluator->executor, BT_STR("uid-v")));
	preemption_informer_set(&fixture, "v:low,dying");
	ck_assert(!is_running(&fixture));
	preemption_informer_remove(&fixture, "v");
	ck_assert(!is_running(&fixture));
	preemption_informer_set(&fixture, "v:low");
	ck_assert(is_running(&fixture));
	/* The last answer ends the preemption, whatever pods the informer still has. */
	preemption_complete(&fixture, "patch v", BERTH_ERR_NOT_FOUND);
	ck_assert(!is_running(&fixture));
	preemption_finish(&fixture);
}
END_TEST

/* Preemptions of one pod share a mark and a pending victim; the first that ends removes both. */
START_TEST(test_preemption__runs_twice_for_one_pod)
{
	struct preemption_fixture fixture;

	init(&fixture, NULL, "a:mid,cpu=2 v:low,cpu=1");
	fixture.deferred = true;
	expect_success(&fixture, "patch a");
	preemption_complete(&fixture, "patch a", BERTH_ERR_NOT_FOUND);
	preemption_informer_set(&fixture, "v:low,dying");
	ck_assert(!is_running(&fixture));
	/* The pending victim of the first preemption counts until the second has its own. */
	(void)preemption_log(&fixture);
	expect_success(&fixture, "patch a");
	ck_assert(!is_running(&fixture));
	preemption_complete(&fixture, "patch a", BERTH_ERR_NOT_FOUND);
	preemption_informer_set(&fixture, "v:low");
	ck_assert(is_running(&fixture));
	preemption_complete(&fixture, "patch v", BERTH_ERR_NOT_FOUND);
	ck_assert(!is_running(&fixture));
	/* A third preemption sets the mark again. */
	(void)preemption_log(&fixture);
	expect_success(&fixture, "patch a");
	ck_assert(is_running(&fixture));
	preemption_complete(&fixture, "patch v", BERTH_ERR_NOT_FOUND);
	ck_assert(!is_running(&fixture));
	preemption_finish(&fixture);
}
END_TEST

/** --- victims that are being bound --- */

static void wait_on_permit(struct preemption_fixture *fixture, const char *pod)
{
	struct bt_wait_time wait = {fixture->framework->instances.items[0], 60000000000};

	(void)bt_waiting_pods_add(&fixture->waiting, fixture->framework,
		preemption_pending(fixture, pod), &wait, 1, 0);
}

START_TEST(test_preemption__edge_08_43_edge_11b_48_victim_is_not_bound)
{
	static const char *const forms[] = {SYNC, NULL};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(forms); i++) {
		struct preemption_fixture fixture;
		struct bt_status status;

		init(&fixture, forms[i], "a:low,cpu=3");
		wait_on_permit(&fixture, "a:low");
		expect_success(&fixture, "event a " NOTE_IN_MEMORY);
		ck_assert_int_eq(bt_waiting_pods_poll(&fixture.waiting, BT_STR("uid-a"),
					 &fixture.arena, &status),
			BT_WAIT_DECIDED);
		ck_assert_int_eq(status.code, BT_STATUS_ERROR);
		ck_assert_str_eq(preemption_status_text(&fixture, status),
			"Error: waiting on permit for pod: preempted");
		preemption_finish(&fixture);

		/*
		 * Permit has decided: the victim is removed through the API, although PreBind still
		 * runs.
		 */
		init(&fixture, forms[i], "a:low,cpu=3");
		wait_on_permit(&fixture, "a:low");
		bt_waiting_pod_allow(bt_waiting_pods_find(&fixture.waiting, BT_STR("uid-a")),
			bt_framework_plugin_name(fixture.framework, 0));
		fixture.in_pre_bind = "uid-a";
		expect_success(&fixture, REMOVED("a"));
		preemption_finish(&fixture);

		init(&fixture, forms[i], "a:low,cpu=3");
		fixture.in_pre_bind = "uid-a";
		expect_success(&fixture,
			"cancel: preempted by DefaultPreemption; event a " NOTE_IN_MEMORY);
		/* PreBind has finished: the victim is removed through the API. */
		fixture.in_pre_bind = NULL;
		expect_success(&fixture, REMOVED("a"));
		preemption_finish(&fixture);
	}
}
END_TEST

/** --- other parts of section 11 --- */

START_TEST(test_preemption__synchronous_error)
{
	struct preemption_fixture fixture;

	init(&fixture, SYNC, THREE);
	(void)preemption_nominate(&fixture, "n:low,nominated=node1", "node1", true);
	fixture.failures[0] = (struct preemption_failure){"delete b", BERTH_ERR_IO, "refused"};
	preemption_expect(
		&fixture, "p:hi,cpu=3", "node1:U", "Error: preemption: refused", "none", NULL);
	/* No nomination is cleared, no pod is activated. */
	ck_assert_str_eq(preemption_log(&fixture), REMOVED("a") "; patch b; delete b");
	preemption_finish(&fixture);
}
END_TEST

START_TEST(test_preemption__lower_nominations_are_cleared)
{
	static const char *const forms[] = {SYNC, NULL};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(forms); i++) {
		struct preemption_fixture fixture;

		init(&fixture, forms[i], "a:low,cpu=3");
		(void)preemption_nominate(&fixture, "n1:mid,nominated=node1", "node1", true);
		(void)preemption_nominate(&fixture, "n2:low", "node1", true);
		(void)preemption_nominate(&fixture, "n3:low,nominated=node1", "node1", false);
		(void)preemption_nominate(&fixture, "n4:low,nominated=node2", "node2", true);
		(void)preemption_nominate(&fixture, "n5:hi,nominated=node1", "node1", true);
		fixture.failures[0] =
			(struct preemption_failure){"clear n1", BERTH_ERR_IO, "refused"};
		/*
		 * In the background a failure to clear a nomination activates the preemptor again.
		 */
		expect_success(&fixture,
			forms[i] != NULL ? REMOVED("a") "; clear n1"
					 : "clear n1; " REMOVED("a") "; activate p");
		preemption_finish(&fixture);
	}
}
END_TEST

START_TEST(test_preemption__terminating_victims_are_kept)
{
	struct preemption_fixture fixture;

	init(&fixture, NULL, "a:low,cpu=1 b:low,cpu=1,dying c:low,cpu=1");
	/* Terminating victims are not deleted again. */
	expect_success(&fixture, REMOVED("c") "; " REMOVED("a"));
	preemption_expect(&fixture, "p:hi,cpu=1", "node1:U", "Success", "node1", "node1[a]");
	preemption_finish(&fixture);
}
END_TEST

static int64_t no_clock(BT_UNUSED void *context)
{
	return 0;
}

/* Spec 08 section 16. Victims that terminate already count, unless a task has no other victims. */
START_TEST(test_preemption__edge_08_39_victims_are_counted)
{
	static const struct {
		const char *gates;
		const char *pods;
		uint64_t victims_count;
		double victims_sum;
		double tasks;
	} rows[] = {
		{NULL, "a:low,cpu=1 b:low,cpu=1,dying c:low,cpu=1", 1, 3, 1},
		{SYNC, "a:low,cpu=1 b:low,cpu=1,dying c:low,cpu=1", 1, 3, 0},
		{NULL, "a:low,cpu=3,dying", 0, 0, 0},
		{SYNC, "a:low,cpu=3,dying", 1, 1, 0},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct preemption_fixture fixture;
		struct bt_metrics *metrics = bt_metrics_create();

		init(&fixture, rows[i].gates, rows[i].pods);
		struct bt_scheduler_metrics *scheduler =
			bt_scheduler_metrics_create(metrics, &fixture.gates, no_clock, NULL);
		fixture.framework->metrics =
			bt_scheduler_metrics_profile(scheduler, BT_STR("default-scheduler"));
		preemption_expect(&fixture, "p:hi,cpu=3", "node1:U", "Success", "node1", NULL);
		const struct bt_metric_cell *victims =
			bt_scheduler_cell_of(scheduler, BT_FAMILY_PREEMPTION_VICTIMS, NULL);
		const struct bt_metric_cell *tasks =
			bt_scheduler_cell_of(scheduler, BT_FAMILY_PREEMPTION_TASKS, "success");
		ck_assert_uint_eq(victims->count, rows[i].victims_count);
		ck_assert_double_eq(victims->value, rows[i].victims_sum);
		ck_assert_double_eq(tasks != NULL ? tasks->value : 0, rows[i].tasks);
		preemption_finish(&fixture);
		bt_scheduler_metrics_destroy(scheduler);
		bt_metrics_destroy(metrics);
	}
}
END_TEST

START_TEST(test_preemption__ends_with_writes_under_way)
{
	struct preemption_fixture fixture;

	init(&fixture, NULL, THREE);
	fixture.deferred = true;
	expect_success(&fixture, "patch a; patch b");
	preemption_finish(&fixture);
}
END_TEST

BT_TEST_MAIN("preemption_executor", test_preemption__edge_08_39_only_victim_terminates_already,
	test_preemption__edge_08_40_victim_is_gone_or_marked,
	test_preemption__edge_08_41_failures_in_the_background,
	test_preemption__failure_cancels_calls_under_way, test_preemption__edge_08_42_is_running,
	test_preemption__runs_twice_for_one_pod,
	test_preemption__edge_08_43_edge_11b_48_victim_is_not_bound,
	test_preemption__synchronous_error, test_preemption__lower_nominations_are_cleared,
	test_preemption__terminating_victims_are_kept,
	test_preemption__edge_08_39_victims_are_counted,
	test_preemption__ends_with_writes_under_way)
