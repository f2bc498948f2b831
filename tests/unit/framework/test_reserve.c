/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_plugin.h"
#include "framework/waiting_pods.h"
#include "test_main.h"

#define RESERVE (FAKE_ROLE(FAKE_RESERVE) | FAKE_ROLE(FAKE_UNRESERVE))
#define PERMIT FAKE_ROLE(FAKE_PERMIT)
#define SECOND INT64_C(1000000000)
#define WAIT_TEXT "one or more plugins asked to wait and no plugin rejected pod"

START_TEST(test_reserve__edge_02_23_unreserve_all_backwards)
{
	struct fake fakes[] = {fake_plugin("A", RESERVE), fake_plugin("B", RESERVE)};
	struct fake_world world;

	fake_answer(&fakes[1], FAKE_RESERVE, BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE, "r");
	fake_world_init(&world, fakes, 2, "reserve=A,B");
	FAKE_EXPECT(&world, bt_run_reserve(world.framework, &world.cycle, &world.pod, 0),
		BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE, "r", "B");
	bt_run_unreserve(world.framework, &world.cycle, &world.pod, 0);
	ck_assert_str_eq(fake_log(), "A.Reserve B.Reserve B.Unreserve A.Unreserve");
	/* B never reserves if A fails, but B is unreserved nevertheless. */
	fake_log_reset();
	fake_fail(&fakes[0], FAKE_RESERVE, "x");
	FAKE_EXPECT(&world, bt_run_reserve(world.framework, &world.cycle, &world.pod, 0),
		BT_STATUS_ERROR, "running Reserve plugin \"A\": x", "");
	bt_run_unreserve(world.framework, &world.cycle, &world.pod, 0);
	ck_assert_str_eq(fake_log(), "A.Reserve B.Unreserve A.Unreserve");
	fake_world_finish(&world);
}
END_TEST

START_TEST(test_permit__edge_02_24_wait)
{
	struct fake fakes[] = {fake_plugin("A", PERMIT), fake_plugin("B", PERMIT)};
	struct fake_world world;
	struct bt_permit_outcome outcome;
	struct bt_waiting_pods waiting;
	struct bt_status status;

	fake_answer(&fakes[0], FAKE_PERMIT, BT_STATUS_WAIT, "a");
	fake_answer(&fakes[1], FAKE_PERMIT, BT_STATUS_WAIT, "b");
	fakes[1].timeout_ns = SECOND;
	fake_world_init(&world, fakes, 2, "permit=A,B");
	outcome = bt_run_permit(world.framework, &world.cycle, &world.pod, 0);
	FAKE_EXPECT(&world, outcome.status, BT_STATUS_WAIT, "b, " WAIT_TEXT, "");
	ck_assert_uint_eq(outcome.wait_count, 2);
	ck_assert_str_eq(outcome.waits[0].plugin->ops->name, "A");
	ck_assert_int_eq(outcome.waits[0].timeout_ns, 0);
	ck_assert_str_eq(outcome.waits[1].plugin->ops->name, "B");
	ck_assert_int_eq(outcome.waits[1].timeout_ns, SECOND);

	bt_waiting_pods_init(&waiting);
	(void)bt_waiting_pods_add(&waiting, world.framework, &world.pod, outcome.waits,
		outcome.wait_count, 5 * SECOND);
	ck_assert_int_eq(waiting.next_deadline_ns, INT64_MAX);
	ck_assert_int_eq(bt_waiting_pods_poll(&waiting, world.pod.uid, &world.arena, &status),
		BT_WAIT_DECIDED);
	FAKE_EXPECT(&world, status, BT_STATUS_UNSCHEDULABLE,
		"rejected due to timeout after waiting 0s at plugin A", "A");
	ck_assert_int_eq(bt_waiting_pods_poll(&waiting, world.pod.uid, &world.arena, &status),
		BT_WAIT_NOT_WAITING);
	FAKE_EXPECT(&world, status, BT_STATUS_SUCCESS, "", "");
	bt_waiting_pods_finish(&waiting);
	fake_world_finish(&world);
}
END_TEST

START_TEST(test_permit__edge_02_25_rejection_drops_waits)
{
	struct fake fakes[] = {fake_plugin("A", PERMIT), fake_plugin("B", PERMIT)};
	struct fake_world world;
	struct bt_permit_outcome outcome;

	fake_answer(&fakes[0], FAKE_PERMIT, BT_STATUS_WAIT, NULL);
	fake_answer(&fakes[1], FAKE_PERMIT, BT_STATUS_UNSCHEDULABLE, "b");
	fake_world_init(&world, fakes, 2, "permit=A,B");
	outcome = bt_run_permit(world.framework, &world.cycle, &world.pod, 0);
	FAKE_EXPECT(&world, outcome.status, BT_STATUS_UNSCHEDULABLE, "b", "B");
	ck_assert_uint_eq(outcome.wait_count, 0);
	fake_fail(&fakes[1], FAKE_PERMIT, "x");
	outcome = bt_run_permit(world.framework, &world.cycle, &world.pod, 0);
	FAKE_EXPECT(&world, outcome.status, BT_STATUS_ERROR, "running Permit plugin \"B\": x", "B");
	ck_assert_uint_eq(outcome.wait_count, 0);
	fake_world_finish(&world);
}
END_TEST

START_TEST(test_permit__edge_02_26_edge_09_29_longest_timeout)
{
	struct fake fakes[] = {fake_plugin("A", PERMIT)};
	struct fake_world world;
	struct bt_permit_outcome outcome;
	struct bt_waiting_pods waiting;
	struct bt_status status;

	fake_answer(&fakes[0], FAKE_PERMIT, BT_STATUS_WAIT, NULL);
	fakes[0].timeout_ns = 3600 * SECOND;
	fake_world_init(&world, fakes, 1, "permit=A");
	outcome = bt_run_permit(world.framework, &world.cycle, &world.pod, 0);
	FAKE_EXPECT(&world, outcome.status, BT_STATUS_WAIT, WAIT_TEXT, "");
	ck_assert_int_eq(outcome.waits[0].timeout_ns, 900 * SECOND);
	fakes[0].timeout_ns = 1200 * SECOND;
	outcome = bt_run_permit(world.framework, &world.cycle, &world.pod, 0);
	ck_assert_int_eq(outcome.waits[0].timeout_ns, 900 * SECOND);
	bt_waiting_pods_init(&waiting);
	(void)bt_waiting_pods_add(
		&waiting, world.framework, &world.pod, outcome.waits, outcome.wait_count, SECOND);
	ck_assert_int_eq(waiting.next_deadline_ns, 901 * SECOND);
	bt_waiting_pods_expire(&waiting, 901 * SECOND - 1);
	ck_assert_int_eq(bt_waiting_pods_poll(&waiting, world.pod.uid, &world.arena, &status),
		BT_WAIT_PENDING);
	bt_waiting_pods_expire(&waiting, 901 * SECOND);
	ck_assert_int_eq(bt_waiting_pods_poll(&waiting, world.pod.uid, &world.arena, &status),
		BT_WAIT_DECIDED);
	FAKE_EXPECT(&world, status, BT_STATUS_UNSCHEDULABLE,
		"rejected due to timeout after waiting 15m0s at plugin A", "A");
	ck_assert_int_eq(waiting.next_deadline_ns, INT64_MAX);
	bt_waiting_pods_finish(&waiting);
	fake_world_finish(&world);
}
END_TEST

/** Makes a pod that waits for plugin A for 60 s and for plugin B for 30 s. */
static struct bt_waiting_pod *wait_for_both(
	struct fake_world *world, struct bt_waiting_pods *waiting)
{
	const struct bt_wait_time waits[] = {
		{bt_framework_find_plugin(world->framework, BT_STR("A")), 60 * SECOND},
		{bt_framework_find_plugin(world->framework, BT_STR("B")), 30 * SECOND}};

	return bt_waiting_pods_add(waiting, world->framework, &world->pod, waits, 2, 0);
}

START_TEST(test_waiting_pods__edge_02_27_first_decision_stays)
{
	struct fake fakes[] = {fake_plugin("A", PERMIT), fake_plugin("B", PERMIT)};
	struct fake_world world;
	struct bt_waiting_pods waiting;
	struct bt_waiting_pod *pod;
	struct bt_status status;

	fake_world_init(&world, fakes, 2, "permit=A,B");
	bt_waiting_pods_init(&waiting);
	pod = wait_for_both(&world, &waiting);
	bt_waiting_pod_allow(pod, BT_STR("A"));
	bt_waiting_pod_allow(pod, BT_STR("nobody"));
	ck_assert_int_eq(bt_waiting_pods_poll(&waiting, world.pod.uid, &world.arena, &status),
		BT_WAIT_PENDING);
	bt_waiting_pod_allow(pod, BT_STR("B"));
	ck_assert(
		!bt_waiting_pod_reject(pod, BT_STATUS_UNSCHEDULABLE, BT_STR("A"), BT_STR("late")));
	ck_assert_int_eq(bt_waiting_pods_poll(&waiting, world.pod.uid, &world.arena, &status),
		BT_WAIT_DECIDED);
	FAKE_EXPECT(&world, status, BT_STATUS_SUCCESS, "", "");

	pod = wait_for_both(&world, &waiting);
	ck_assert(
		bt_waiting_pod_reject(pod, BT_STATUS_UNSCHEDULABLE, BT_STR("A"), BT_STR("early")));
	bt_waiting_pod_allow(pod, BT_STR("A"));
	bt_waiting_pod_allow(pod, BT_STR("B"));
	ck_assert_int_eq(bt_waiting_pods_poll(&waiting, world.pod.uid, &world.arena, &status),
		BT_WAIT_DECIDED);
	FAKE_EXPECT(&world, status, BT_STATUS_UNSCHEDULABLE, "early", "A");
	bt_waiting_pods_finish(&waiting);
	fake_world_finish(&world);
}
END_TEST

START_TEST(test_waiting_pods__preempt_remove_replace)
{
	struct fake fakes[] = {fake_plugin("A", PERMIT), fake_plugin("B", PERMIT)};
	struct fake_world world;
	struct bt_waiting_pods waiting;
	struct bt_waiting_pod *pod;
	struct bt_status status;

	fake_world_init(&world, fakes, 2, "permit=A,B");
	bt_waiting_pods_init(&waiting);
	ck_assert(!bt_waiting_pods_reject(&waiting, world.pod.uid));
	pod = wait_for_both(&world, &waiting);
	ck_assert(bt_waiting_pod_reject(pod, BT_STATUS_ERROR, BT_STR("B"), BT_STR("preempted")));
	ck_assert_int_eq(bt_waiting_pods_poll(&waiting, world.pod.uid, &world.arena, &status),
		BT_WAIT_DECIDED);
	FAKE_EXPECT(&world, status, BT_STATUS_ERROR, "waiting on permit for pod: preempted", "B");

	(void)wait_for_both(&world, &waiting);
	ck_assert(bt_waiting_pods_reject(&waiting, world.pod.uid));
	ck_assert(!bt_waiting_pods_reject(&waiting, world.pod.uid));
	/* A new entry of the same uid has a fresh state. */
	pod = wait_for_both(&world, &waiting);
	ck_assert_uint_eq(waiting.pods.count, 1);
	ck_assert(!pod->done);
	/* The earliest timer rejects the pod. */
	bt_waiting_pods_expire(&waiting, 100 * SECOND);
	ck_assert_int_eq(bt_waiting_pods_poll(&waiting, world.pod.uid, &world.arena, &status),
		BT_WAIT_DECIDED);
	FAKE_EXPECT(&world, status, BT_STATUS_UNSCHEDULABLE,
		"rejected due to timeout after waiting 30s at plugin B", "B");
	bt_waiting_pods_finish(&waiting);
	fake_world_finish(&world);
}
END_TEST

START_TEST(test_waiting_pods__many)
{
	enum { POD_COUNT = 100 };
	struct fake fakes[] = {fake_plugin("A", PERMIT)};
	struct fake_world world;
	struct bt_waiting_pods waiting;
	struct bt_pod_info pods[POD_COUNT];
	struct bt_wait_time wait = {.timeout_ns = SECOND};
	struct bt_status status;

	fake_world_init(&world, fakes, 1, "permit=A");
	wait.plugin = bt_framework_find_plugin(world.framework, BT_STR("A"));
	bt_waiting_pods_init(&waiting);
	for (int i = 0; i < POD_COUNT; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "p%d", i);
		pods[i] = fake_world_pod(&world, name, 0);
		(void)bt_waiting_pods_add(
			&waiting, world.framework, &pods[i], &wait, 1, i * SECOND);
	}
	/* The timers of p0 to p49 have expired. */
	bt_waiting_pods_expire(&waiting, 50 * SECOND);
	ck_assert_int_eq(waiting.next_deadline_ns, 51 * SECOND);
	for (int i = 0; i < POD_COUNT; i++) {
		ck_assert_int_eq(bt_waiting_pods_poll(&waiting, pods[i].uid, &world.arena, &status),
			i < 50 ? BT_WAIT_DECIDED : BT_WAIT_PENDING);
	}
	ck_assert_uint_eq(waiting.pods.count, 50);
	for (int i = 0; i < 50; i++) {
		(void)bt_waiting_pod_reject(waiting.pods.items[i], BT_STATUS_UNSCHEDULABLE,
			BT_STR("A"), BT_STR("visited"));
	}
	for (int i = 50; i < POD_COUNT; i++) {
		ck_assert_int_eq(bt_waiting_pods_poll(&waiting, pods[i].uid, &world.arena, &status),
			BT_WAIT_DECIDED);
	}
	ck_assert_uint_eq(waiting.pods.count, 0);
	bt_waiting_pods_finish(&waiting);
	fake_world_finish(&world);
}
END_TEST

BT_TEST_MAIN("reserve", test_reserve__edge_02_23_unreserve_all_backwards,
	test_permit__edge_02_24_wait, test_permit__edge_02_25_rejection_drops_waits,
	test_permit__edge_02_26_edge_09_29_longest_timeout,
	test_waiting_pods__edge_02_27_first_decision_stays,
	test_waiting_pods__preempt_remove_replace, test_waiting_pods__many)
