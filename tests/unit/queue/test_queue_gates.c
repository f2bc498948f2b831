/* SPDX-License-Identifier: Apache-2.0 */
/* PreEnqueue and gated pods; the leftover flush. Spec: 04 sections 6, 7 and 8.9. */
#include "framework/cluster_event.h"
#include "queue_fixture.h"
#include "test_main.h"

#define POD(name) "{'metadata':{'name':'" name "'}}"
#define PRIORITY(name) "{'metadata':{'name':'" name "'},'spec':{'priority':7}}"
#define GATED(name, gates) \
	"{'metadata':{'name':'" name "','resourceVersion':'1'}," \
	"'spec':{'schedulingGates':[" gates "]}}"
#define UNGATED(name) "{'metadata':{'name':'" name "','resourceVersion':'2'}}"
#define GATE(name) "{'name':'" name "'}"

static const struct bt_cluster_event node_add = {BT_RESOURCE_NODE, BT_ACTION_ADD};
static const struct bt_event_registration node_events[] = {
	{{BT_RESOURCE_NODE, BT_ACTION_ADD}, queue_hint_queue},
};

static struct bt_object *node(struct queue_fixture *queue)
{
	return queue_object(queue, BT_KIND_NODE, "{'metadata':{'name':'n'}}");
}

START_TEST(test_queue_gates__edge_04_14_gated_from_the_start)
{
	struct queue_fixture queue;

	queue_init(&queue);
	(void)queue_add(&queue, GATED("a", GATE("x")));
	queue_expect(&queue, "gated a");
	ck_assert_uint_eq(bt_queue_pending(queue.queue, BT_QUEUE_GAUGE_GATED), 1);
	ck_assert_uint_eq(bt_queue_pending(queue.queue, BT_QUEUE_GAUGE_UNSCHEDULABLE), 0);
	ck_assert_int_eq(queue_gauge(&queue, "SchedulingGates"), 1);
	ck_assert_uint_eq(queue_incoming(&queue, BT_QUEUE_UNSCHEDULABLE, "UnschedulablePodAdd"), 1);
	ck_assert_uint_eq(queue_entry(&queue, "a")->attempts, 0);
	ck_assert_int_eq(queue_entry(&queue, "a")->initial_attempt_ns, BT_QUEUE_TIME_UNSET);
	queue_finish(&queue);
}
END_TEST

START_TEST(test_queue_gates__edge_04_15_gates_removed)
{
	struct queue_fixture queue;
	struct bt_object *pod;

	queue_init(&queue);
	pod = queue_add(&queue, GATED("a", GATE("x")));
	queue_advance(&queue, 60 * QUEUE_SECOND);
	queue_update(&queue, pod, queue_pod(&queue, UNGATED("a")));
	queue_expect(&queue, "active a");
	ck_assert_int_eq(queue_entry(&queue, "a")->initial_attempt_ns, queue.now_ns);
	ck_assert_uint_eq(queue_incoming(&queue, BT_QUEUE_ACTIVE,
				  "UnschedulablePodUpdatePodSchedulingGatesEliminated"),
		1);
	ck_assert_int_eq(queue_gauge(&queue, "SchedulingGates"), 1);
	(void)queue_pop_expect(&queue, "a");
	ck_assert_int_eq(queue_gauge(&queue, "SchedulingGates"), 0);
	queue_finish(&queue);
}
END_TEST

START_TEST(test_queue_gates__edge_04_16_one_of_two_gates_removed)
{
	struct queue_fixture queue;
	struct bt_object *pod;

	queue_init(&queue);
	pod = queue_add(&queue, GATED("a", GATE("x") "," GATE("y")));
	queue_update(&queue, pod, queue_pod(&queue, GATED("a", GATE("y"))));
	queue_expect(&queue, "gated a");
	ck_assert_str_eq(queue_hints(&queue, "SchedulingGates", "UnschedulablePodUpdate"), "0 0 0");
	queue_finish(&queue);
}
END_TEST

static const char gate_profile[] = "default-scheduler=A,B";

START_TEST(test_queue_gates__edge_04_17_another_plugin_gates)
{
	struct fake fakes[] = {
		queue_rejector("A", node_events, BT_ARRAY_LENGTH(node_events), true),
		queue_rejector("B", node_events, BT_ARRAY_LENGTH(node_events), true),
	};
	const struct queue_setup setup = {
		.config = queue_profiles(gate_profile), .fakes = fakes, .fake_count = 2};
	struct queue_fixture queue;

	fake_answer(&fakes[0], FAKE_PRE_ENQUEUE, BT_STATUS_UNSCHEDULABLE, "a");
	queue_init_with(&queue, &setup);
	(void)queue_add(&queue, POD("a"));
	ck_assert_int_eq(queue_gauge(&queue, "A"), 1);
	ck_assert_int_eq(queue_gauge(&queue, "B"), 0);
	fake_answer(&fakes[0], FAKE_PRE_ENQUEUE, BT_STATUS_SUCCESS, NULL);
	fake_answer(&fakes[1], FAKE_PRE_ENQUEUE, BT_STATUS_UNSCHEDULABLE, "b");
	queue_move(&queue, &node_add, NULL, node(&queue));
	queue_expect(&queue, "gated a");
	ck_assert_uint_eq(queue_entry(&queue, "a")->gating_plugin,
		bt_queue_find_rejector(queue.queue, 0, BT_STR("B")));
	ck_assert_int_eq(queue_gauge(&queue, "A"), 1);
	ck_assert_int_eq(queue_gauge(&queue, "B"), 1);
	fake_answer(&fakes[1], FAKE_PRE_ENQUEUE, BT_STATUS_SUCCESS, NULL);
	queue_move(&queue, &node_add, NULL, node(&queue));
	(void)queue_pop_expect(&queue, "a");
	ck_assert_int_eq(queue_gauge(&queue, "A"), 0);
	ck_assert_int_eq(queue_gauge(&queue, "B"), 0);
	queue_finish(&queue);
}
END_TEST

START_TEST(test_queue_gates__edge_04_18_gated_twice_by_one_plugin)
{
	struct fake fakes[] = {
		queue_rejector("A", node_events, BT_ARRAY_LENGTH(node_events), true)};
	const struct queue_setup setup = {
		.config = queue_profiles("default-scheduler=A"), .fakes = fakes, .fake_count = 1};
	struct queue_fixture queue;

	fake_answer(&fakes[0], FAKE_PRE_ENQUEUE, BT_STATUS_UNSCHEDULABLE, "a");
	queue_init_with(&queue, &setup);
	(void)queue_add(&queue, POD("a"));
	queue_move(&queue, &node_add, NULL, node(&queue));
	queue_expect(&queue, "gated a");
	ck_assert_int_eq(queue_gauge(&queue, "A"), 1);
	ck_assert_uint_eq(queue_incoming(&queue, BT_QUEUE_UNSCHEDULABLE, "NodeAdd"), 1);
	queue_finish(&queue);
}
END_TEST

START_TEST(test_queue_gates__edge_04_19_leftover_flush_leaves_gated_pods)
{
	struct queue_fixture queue;

	queue_init(&queue);
	(void)queue_add(&queue, GATED("a", GATE("x")));
	queue.now_ns += 400 * QUEUE_SECOND;
	bt_queue_flush_unschedulable_leftover(queue.queue, queue.now_ns);
	queue_expect(&queue, "gated a");
	ck_assert(queue_entry(&queue, "a")->flushed);
	ck_assert_uint_eq(
		queue_incoming(&queue, BT_QUEUE_UNSCHEDULABLE, "UnschedulableTimeout"), 0);
	queue_finish(&queue);
}
END_TEST

START_TEST(test_queue_gates__edge_04_20_exactly_five_minutes)
{
	struct queue_fixture queue;
	int64_t failed_ns;

	queue_init(&queue);
	(void)queue_add_failed(&queue, POD("a"), "NodeName", NULL);
	failed_ns = queue.now_ns;
	bt_queue_flush_unschedulable_leftover(queue.queue, failed_ns + 300 * QUEUE_SECOND);
	queue_expect(&queue, "unschedulable a");
	ck_assert(!queue_entry(&queue, "a")->flushed);
	bt_queue_flush_unschedulable_leftover(queue.queue, failed_ns + 300 * QUEUE_SECOND + 1);
	queue_expect(&queue, "active a");
	ck_assert(queue_entry(&queue, "a")->flushed);
	ck_assert_uint_eq(queue_incoming(&queue, BT_QUEUE_ACTIVE, "UnschedulableTimeout"), 1);
	queue_finish(&queue);
}
END_TEST

START_TEST(test_queue_gates__edge_04_21_leftover_flush_helps_pods_in_flight)
{
	struct queue_fixture queue;
	struct bt_queue_entry *entry;

	queue_init(&queue);
	(void)queue_add_failed(&queue, POD("z"), "NodeName", NULL);
	queue.now_ns += 400 * QUEUE_SECOND;
	(void)queue_add(&queue, POD("a"));
	entry = queue_pop_expect(&queue, "a");
	bt_queue_flush_unschedulable_leftover(queue.queue, queue.now_ns);
	queue_expect(&queue, "active z");
	ck_assert_str_eq(queue_log(&queue), "UnschedulableTimeout 1, PodPopped 1");
	queue_fail(&queue, entry, "NodeName", NULL);
	queue_expect(&queue, "active z, backoff a");
	queue_finish(&queue);
}
END_TEST

START_TEST(test_queue_gates__edge_04_29_activated_but_still_gated)
{
	struct queue_fixture queue;
	struct bt_object *pod;

	queue_init(&queue);
	pod = queue_add(&queue, GATED("a", GATE("x")));
	ck_assert(!bt_queue_activate(queue.queue, pod, queue.now_ns));
	queue_expect(&queue, "gated a");
	queue_finish(&queue);
}
END_TEST

START_TEST(test_queue_gates__edge_04_47_ungated_by_an_event_never_backs_off)
{
	struct fake fakes[] = {
		queue_rejector("A", node_events, BT_ARRAY_LENGTH(node_events), true)};
	const struct queue_setup setup = {
		.config = queue_profiles("default-scheduler=A"), .fakes = fakes, .fake_count = 1};
	struct queue_fixture queue;
	int64_t until_ns;

	fake_answer(&fakes[0], FAKE_PRE_ENQUEUE, BT_STATUS_UNSCHEDULABLE, "a");
	queue_init_with(&queue, &setup);
	(void)queue_add(&queue, POD("a"));
	fake_answer(&fakes[0], FAKE_PRE_ENQUEUE, BT_STATUS_SUCCESS, NULL);
	queue_move(&queue, &node_add, NULL, node(&queue));
	queue_expect(&queue, "active a");
	ck_assert(!bt_queue_backoff_until(queue.queue, queue_entry(&queue, "a"), &until_ns));
	queue_finish(&queue);
}
END_TEST

START_TEST(test_queue_gates__section_6_gating_plugin_runs_first)
{
	struct fake fakes[] = {
		queue_rejector("A", node_events, BT_ARRAY_LENGTH(node_events), true),
		queue_rejector("B", node_events, BT_ARRAY_LENGTH(node_events), true),
	};
	const struct queue_setup setup = {
		.config = queue_profiles(gate_profile), .fakes = fakes, .fake_count = 2};
	struct queue_fixture queue;

	fake_answer(&fakes[1], FAKE_PRE_ENQUEUE, BT_STATUS_UNSCHEDULABLE, "b");
	queue_init_with(&queue, &setup);
	(void)queue_add(&queue, POD("a"));
	fake_log_reset();
	queue_move(&queue, &node_add, NULL, node(&queue));
	ck_assert_str_eq(fake_log(), "B.PreEnqueue");
	queue_finish(&queue);
}
END_TEST

START_TEST(test_queue_gates__section_6_an_error_gates_too)
{
	struct fake fakes[] = {
		queue_rejector("A", node_events, BT_ARRAY_LENGTH(node_events), true)};
	const struct queue_setup setup = {
		.config = queue_profiles("default-scheduler=A"), .fakes = fakes, .fake_count = 1};
	struct queue_fixture queue;

	fake_fail(&fakes[0], FAKE_PRE_ENQUEUE, "broken");
	queue_init_with(&queue, &setup);
	(void)queue_add(&queue, POD("a"));
	queue_expect(&queue, "gated a");
	ck_assert_str_eq(bt_strbuf_c(&queue.warnings),
		"Unexpected error running PreEnqueue plugin: pod default/a, plugin A: broken\n");
	queue_finish(&queue);
}
END_TEST

START_TEST(test_queue_gates__section_6_run_before_backoff_and_not_after)
{
	struct fake fakes[] = {
		queue_rejector("A", node_events, BT_ARRAY_LENGTH(node_events), true)};
	static const char *const gates[] = {NULL, "SchedulerPopFromBackoffQ=false"};
	static const char *const logs[] = {"A.PreEnqueue", "A.PreEnqueue"};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(gates); i++) {
		const struct queue_setup setup = {.gates = gates[i],
			.config = queue_profiles("default-scheduler=A"),
			.fakes = fakes,
			.fake_count = 1};
		struct queue_fixture queue;

		queue_init_with(&queue, &setup);
		(void)queue_add(&queue, POD("a"));
		fake_log_reset();
		queue_fail(&queue, queue_pop_expect(&queue, "a"), NULL, NULL);
		ck_assert_str_eq(fake_log(), i == 0 ? logs[0] : "");
		fake_log_reset();
		queue_advance(&queue, 5 * QUEUE_SECOND);
		queue_expect(&queue, "active a");
		ck_assert_str_eq(fake_log(), i == 0 ? "" : logs[1]);
		queue_finish(&queue);
	}
}
END_TEST

/** Spec 08 section 12: the gate of a running preemption opens without an event. */
START_TEST(test_queue_gates__leftover_flush_runs_gates_without_events)
{
	struct fake fakes[] = {
		queue_rejector("A", node_events, BT_ARRAY_LENGTH(node_events), true)};
	const struct queue_setup setup = {
		.config = queue_profiles("default-scheduler=A"), .fakes = fakes, .fake_count = 1};
	struct queue_fixture queue;

	fakes[0].shortcuts.gate_opens_silently = true;
	fake_answer(&fakes[0], FAKE_PRE_ENQUEUE, BT_STATUS_UNSCHEDULABLE, "a");
	queue_init_with(&queue, &setup);
	(void)queue_add(&queue, POD("a"));
	queue.now_ns += 400 * QUEUE_SECOND;
	bt_queue_flush_unschedulable_leftover(queue.queue, queue.now_ns);
	queue_expect(&queue, "gated a"); /* PreEnqueue ran and rejected the pod */
	fake_answer(&fakes[0], FAKE_PRE_ENQUEUE, BT_STATUS_SUCCESS, NULL);
	queue.now_ns += 400 * QUEUE_SECOND;
	bt_queue_flush_unschedulable_leftover(queue.queue, queue.now_ns);
	queue_expect(&queue, "active a");
	queue_finish(&queue);
}
END_TEST

static bool append_name(void *context, const struct bt_queue_entry *entry)
{
	struct bt_strbuf *text = context;

	bt_strbuf_printf(text, "%s%.*s", text->length != 0 ? " " : "",
		BT_STR_ARG(bt_object_name(entry->object)));
	return true;
}

/** Expects these unschedulable pods in the order of arrival. */
static void expect_order(struct queue_fixture *queue, const char *names)
{
	struct bt_strbuf text = {0};

	bt_queue_for_each(queue->queue, BT_QUEUE_UNSCHEDULABLE, append_name, &text);
	ck_assert_str_eq(bt_strbuf_c(&text), names);
	bt_strbuf_finish(&text);
}

static bool rejects(BT_UNUSED struct bt_plugin *plugin, BT_UNUSED const struct bt_pod_info *pod)
{
	return true;
}

/** Pods that an event moves and that stay gated count as newly arrived. */
START_TEST(test_queue_gates__order_of_pods_that_stay_gated)
{
	struct fake fakes[] = {
		queue_rejector("A", node_events, BT_ARRAY_LENGTH(node_events), true),
		queue_rejector("B", NULL, 0, false),
	};
	const struct queue_setup setup = {
		.config = queue_profiles("default-scheduler=A,B"), .fakes = fakes, .fake_count = 2};
	struct queue_fixture queue;

	fakes[0].shortcuts.hint_scope = BT_HINT_SCOPE_SHAPE;
	fakes[0].shortcuts.pre_enqueue_rejects = rejects;
	fake_answer(&fakes[0], FAKE_PRE_ENQUEUE, BT_STATUS_UNSCHEDULABLE, "a");
	queue_init_with(&queue, &setup);
	(void)queue_add(&queue, POD("g1"));
	(void)queue_add(&queue, POD("g2"));
	fake_answer(&fakes[0], FAKE_PRE_ENQUEUE, BT_STATUS_SUCCESS, NULL);
	(void)queue_add_failed(&queue, POD("x"), "B", NULL);
	fake_answer(&fakes[0], FAKE_PRE_ENQUEUE, BT_STATUS_UNSCHEDULABLE, "a");
	expect_order(&queue, "g1 g2 x");
	/* One group of equal pods. */
	queue_move(&queue, &node_add, NULL, node(&queue));
	expect_order(&queue, "x g1 g2");
	ck_assert_uint_eq(queue_incoming(&queue, BT_QUEUE_UNSCHEDULABLE, "NodeAdd"), 2);
	(void)queue_add(&queue, POD("g3"));
	queue_move(&queue, &node_add, NULL, node(&queue));
	expect_order(&queue, "x g1 g2 g3");
	ck_assert_uint_eq(queue_incoming(&queue, BT_QUEUE_UNSCHEDULABLE, "NodeAdd"), 5);
	/* Two groups. */
	(void)queue_add(&queue, PRIORITY("h1"));
	(void)queue_add(&queue, POD("g4"));
	queue_move(&queue, &node_add, NULL, node(&queue));
	expect_order(&queue, "x g1 g2 g3 h1 g4");
	ck_assert_uint_eq(queue_incoming(&queue, BT_QUEUE_UNSCHEDULABLE, "NodeAdd"), 10);
	queue_expect(&queue, "unschedulable x, gated g1 g2 g3 g4 h1");
	queue_finish(&queue);
}
END_TEST

BT_TEST_MAIN("queue_gates", test_queue_gates__edge_04_14_gated_from_the_start,
	test_queue_gates__edge_04_15_gates_removed,
	test_queue_gates__edge_04_16_one_of_two_gates_removed,
	test_queue_gates__edge_04_17_another_plugin_gates,
	test_queue_gates__edge_04_18_gated_twice_by_one_plugin,
	test_queue_gates__edge_04_19_leftover_flush_leaves_gated_pods,
	test_queue_gates__edge_04_20_exactly_five_minutes,
	test_queue_gates__edge_04_21_leftover_flush_helps_pods_in_flight,
	test_queue_gates__edge_04_29_activated_but_still_gated,
	test_queue_gates__edge_04_47_ungated_by_an_event_never_backs_off,
	test_queue_gates__leftover_flush_runs_gates_without_events,
	test_queue_gates__order_of_pods_that_stay_gated,
	test_queue_gates__section_6_gating_plugin_runs_first,
	test_queue_gates__section_6_an_error_gates_too,
	test_queue_gates__section_6_run_before_backoff_and_not_after)
