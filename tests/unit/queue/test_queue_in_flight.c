/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events that happen while a pod is in flight, and which events requeue the pod. Spec: 04 sections
 * 8.6 to 9.
 */
#include "framework/cluster_event.h"
#include "queue_fixture.h"
#include "test_main.h"

#define POD(name) "{'metadata':{'name':'" name "'}}"

static const struct bt_cluster_event node_add = {BT_RESOURCE_NODE, BT_ACTION_ADD};
static const struct bt_cluster_event node_condition = {
	BT_RESOURCE_NODE, BT_ACTION_UPDATE_NODE_CONDITION};
static const struct bt_cluster_event class_add = {BT_RESOURCE_STORAGE_CLASS, BT_ACTION_ADD};
static const struct bt_cluster_event pod_delete = {BT_RESOURCE_ASSIGNED_POD, BT_ACTION_DELETE};

static void add_node(struct queue_fixture *queue)
{
	queue_move(queue, &node_add, NULL,
		queue_object(queue, BT_KIND_NODE, "{'metadata':{'name':'n'}}"));
}

START_TEST(test_queue_in_flight__edge_04_22_event_before_pop)
{
	struct queue_fixture queue;
	struct bt_queue_entry *entry;

	queue_init(&queue);
	(void)queue_add(&queue, POD("a"));
	add_node(&queue);
	entry = queue_pop_expect(&queue, "a");
	ck_assert_str_eq(queue_log(&queue), "PodPopped 1");
	queue_fail(&queue, entry, "NodeName", NULL);
	queue_expect(&queue, "unschedulable a");
	queue_finish(&queue);
}
END_TEST

START_TEST(test_queue_in_flight__edge_04_23_event_without_registration)
{
	struct queue_fixture queue;
	struct bt_queue_entry *entry;

	queue_init(&queue);
	(void)queue_add(&queue, POD("a"));
	entry = queue_pop_expect(&queue, "a");
	queue_move(&queue, &class_add, NULL,
		queue_object(&queue, BT_KIND_STORAGE_CLASS, "{'metadata':{'name':'s'}}"));
	ck_assert_str_eq(queue_log(&queue), "storage.k8s.io/StorageClassAdd 1, PodPopped 1");
	queue_fail(&queue, entry, "NodeName", NULL);
	queue_expect(&queue, "unschedulable a");
	queue_finish(&queue);
}
END_TEST

START_TEST(test_queue_in_flight__edge_04_24_error_with_events)
{
	struct queue_fixture queue;
	struct bt_queue_entry *entry;

	queue_init(&queue);
	(void)queue_add(&queue, POD("a"));
	entry = queue_pop_expect(&queue, "a");
	add_node(&queue);
	queue_fail(&queue, entry, NULL, NULL);
	queue_expect(&queue, "error a");
	ck_assert_uint_eq(
		queue_incoming(&queue, BT_QUEUE_ERROR_BACKOFF, "ScheduleAttemptFailure"), 1);
	queue_finish(&queue);
}
END_TEST

START_TEST(test_queue_in_flight__edge_04_25_pending_plugin_wins)
{
	static const struct bt_event_registration queues[] = {
		{{BT_RESOURCE_NODE, BT_ACTION_ADD}, queue_hint_queue}};
	static const struct bt_event_registration skips[] = {
		{{BT_RESOURCE_NODE, BT_ACTION_ADD}, queue_hint_skip}};
	static const struct {
		const char *pending;
		bool in_flight;
		const char *places;
	} rows[] = {
		{"P1", true, "active a"},
		{"P1", false, "active a"},
		{NULL, true, "backoff a"},
		{"P3", true, "backoff a"},
	};
	struct fake fakes[] = {
		queue_rejector("P1", queues, 1, false),
		queue_rejector("P2", queues, 1, false),
		queue_rejector("P3", skips, 1, false),
	};
	const struct queue_setup setup = {.config = queue_profiles("default-scheduler=P3,P2,P1"),
		.fakes = fakes,
		.fake_count = 3};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct queue_fixture queue;
		struct bt_queue_entry *entry;

		queue_init_with(&queue, &setup);
		(void)queue_add(&queue, POD("a"));
		entry = queue_pop_expect(&queue, "a");
		if (rows[i].in_flight) {
			add_node(&queue);
		}
		queue_fail(&queue, entry, "P2,P3", rows[i].pending);
		if (!rows[i].in_flight) {
			queue_expect(&queue, "unschedulable a");
			add_node(&queue);
		}
		ck_assert_msg(strcmp(queue_places(&queue), rows[i].places) == 0, "row %zu: %s", i,
			queue_places(&queue));
		queue_finish(&queue);
	}
}
END_TEST

START_TEST(test_queue_in_flight__edge_04_26_failing_hint_queues)
{
	static const struct bt_event_registration fails[] = {
		{{BT_RESOURCE_NODE, BT_ACTION_ADD}, queue_hint_error}};
	struct fake fakes[] = {queue_rejector("P", fails, 1, false)};
	const struct queue_setup setup = {
		.config = queue_profiles("default-scheduler=P"), .fakes = fakes, .fake_count = 1};
	struct queue_fixture queue;

	queue_init_with(&queue, &setup);
	(void)queue_add_failed(&queue, POD("a"), "P", NULL);
	add_node(&queue);
	queue_expect(&queue, "backoff a");
	ck_assert_str_eq(queue_hints(&queue, "P", "NodeAdd"), "0 0 1");
	ck_assert_ptr_nonnull(strstr(bt_strbuf_c(&queue.warnings), "QueueingHintFn returns error"));
	queue_finish(&queue);
}
END_TEST

START_TEST(test_queue_in_flight__edge_04_27_activation_is_for_one_pod)
{
	struct queue_fixture queue;
	struct bt_queue_entry *a;
	struct bt_queue_entry *b;
	struct bt_object *pod;

	queue_init(&queue);
	(void)queue_add(&queue, POD("a"));
	queue.now_ns++;
	pod = queue_add(&queue, POD("b"));
	a = queue_pop_expect(&queue, "a");
	b = queue_pop_expect(&queue, "b");
	ck_assert(!bt_queue_activate(queue.queue, pod, queue.now_ns));
	ck_assert_str_eq(queue_log(&queue), "ForceActivate 1, PodPopped 2");
	queue_fail(&queue, a, "NodeName", NULL);
	queue_fail(&queue, b, "NodeName", NULL);
	queue_expect(&queue, "backoff b, unschedulable a");
	queue_finish(&queue);
}
END_TEST

START_TEST(test_queue_in_flight__edge_04_33_own_toleration_arrives)
{
	struct queue_fixture queue;
	struct bt_queue_entry *entry;
	struct bt_object *pod;

	queue_init(&queue);
	pod = queue_add(&queue, POD("a"));
	entry = queue_pop_expect(&queue, "a");
	queue_update(&queue, pod,
		queue_pod(
			&queue, "{'metadata':{'name':'a'},'spec':{'tolerations':[{'key':'k'}]}}"));
	ck_assert_str_eq(queue_log(&queue), "UnschedulablePodUpdatePodToleration 1, PodPopped 1");
	queue_fail(&queue, entry, "TaintToleration", NULL);
	queue_expect(&queue, "backoff a");
	queue_finish(&queue);
}
END_TEST

START_TEST(test_queue_in_flight__edge_04_38_check_does_not_bind_pods_in_flight)
{
	static const char waiting[] = "{'metadata':{'name':'waiting'},'spec':{'priority':6}}";
	static const char low[] = "{'metadata':{'name':'low'},'spec':{'priority':5}}";
	static const char flying[] = "{'metadata':{'name':'flying'},'spec':{'priority':6}}";
	const struct bt_queue_check check = {.has_priority_max = true, .priority_max = 5};
	struct queue_fixture queue;
	struct bt_queue_entry *entry;

	queue_init(&queue);
	(void)queue_add_failed(&queue, waiting, "NodeResourcesFit", NULL);
	(void)queue_add_failed(&queue, low, "NodeResourcesFit", NULL);
	(void)queue_add(&queue, flying);
	entry = queue_pop_expect(&queue, "flying");
	bt_queue_move_all_to_active_or_backoff_queue(queue.queue, &pod_delete,
		queue_pod(
			&queue, "{'metadata':{'name':'gone'},'status':{'nominatedNodeName':'n'}}"),
		NULL, &check, queue.now_ns);
	queue_expect(&queue, "backoff low, unschedulable waiting");
	queue_fail(&queue, entry, "NodeResourcesFit", NULL);
	queue_expect(&queue, "backoff flying low, unschedulable waiting");
	queue_finish(&queue);
}
END_TEST

START_TEST(test_queue_in_flight__edge_04_42_second_record_of_a_pod_in_flight)
{
	struct queue_fixture queue;

	queue_init(&queue);
	(void)queue_add(&queue, POD("a"));
	(void)queue_pop_expect(&queue, "a");
	(void)queue_add(&queue, POD("a"));
	queue.now_ns++;
	(void)queue_add(&queue, POD("b"));
	add_node(&queue);
	(void)queue_pop_expect(&queue, "b");
	ck_assert_str_eq(queue_log(&queue), "NodeAdd 1, PodPopped 2");
	ck_assert_uint_eq(bt_queue_scheduling_cycle(queue.queue), 2);
	ck_assert_str_eq(bt_strbuf_c(&queue.warnings),
		"the same pod is tracked in multiple places in the scheduler: default/a: "
		"Discarding the popped pod\n");
	queue_expect(&queue, "");
	queue_finish(&queue);
}
END_TEST

START_TEST(test_queue_in_flight__edge_04_46_event_without_registration)
{
	struct queue_fixture queue;

	queue_init(&queue);
	(void)queue_add_failed(&queue, POD("z"), "NodeName", NULL);
	(void)queue_add(&queue, POD("a"));
	(void)queue_pop_expect(&queue, "a");
	queue_move(&queue, &node_condition,
		queue_object(&queue, BT_KIND_NODE, "{'metadata':{'name':'n'}}"),
		queue_object(&queue, BT_KIND_NODE, "{'metadata':{'name':'n'}}"));
	ck_assert_str_eq(queue_log(&queue), "PodPopped 1");
	queue_expect(&queue, "unschedulable z");
	queue_finish(&queue);
}
END_TEST

START_TEST(test_queue_in_flight__section_9_log_is_trimmed_to_the_oldest_pod)
{
	struct queue_fixture queue;
	struct bt_queue_entry *a;
	struct bt_queue_entry *b;

	queue_init(&queue);
	(void)queue_add(&queue, POD("a"));
	add_node(&queue);
	a = queue_pop_expect(&queue, "a");
	add_node(&queue);
	(void)queue_add(&queue, POD("b"));
	b = queue_pop_expect(&queue, "b");
	add_node(&queue);
	(void)queue_add(&queue, POD("c"));
	(void)queue_pop_expect(&queue, "c");
	add_node(&queue);
	ck_assert_str_eq(queue_log(&queue), "NodeAdd 3, PodPopped 3");
	queue_release(&queue, b);
	ck_assert_str_eq(queue_log(&queue), "NodeAdd 3, PodPopped 2");
	queue_release(&queue, a);
	ck_assert_str_eq(queue_log(&queue), "NodeAdd 1, PodPopped 1");
	bt_queue_close(queue.queue);
	ck_assert_str_eq(queue_log(&queue), "PodPopped 0");
	queue_finish(&queue);
}
END_TEST

START_TEST(test_queue_in_flight__edge_04h_56_update_is_in_the_log_of_all)
{
	static const char tolerating[] =
		"{'metadata':{'name':'b'},'spec':{'tolerations':[{'key':'k'}]}}";
	struct queue_fixture queue;
	struct bt_queue_entry *a;
	struct bt_queue_entry *b;
	struct bt_object *pod;

	queue_init(&queue);
	(void)queue_add(&queue, POD("a"));
	queue.now_ns++;
	pod = queue_add(&queue, POD("b"));
	a = queue_pop_expect(&queue, "a");
	b = queue_pop_expect(&queue, "b");
	queue_update(&queue, pod, queue_pod(&queue, tolerating));
	queue_fail(&queue, a, "TaintToleration", NULL);
	queue_fail(&queue, b, "TaintToleration", NULL);
	queue_expect(&queue, "backoff b, unschedulable a");
	ck_assert_str_eq(
		queue_hints(&queue, "TaintToleration", "UnschedulablePodUpdatePodToleration"),
		"1 1 0");
	queue_finish(&queue);
}
END_TEST

BT_TEST_MAIN("queue_in_flight", test_queue_in_flight__edge_04_22_event_before_pop,
	test_queue_in_flight__edge_04_23_event_without_registration,
	test_queue_in_flight__edge_04_24_error_with_events,
	test_queue_in_flight__edge_04_25_pending_plugin_wins,
	test_queue_in_flight__edge_04_26_failing_hint_queues,
	test_queue_in_flight__edge_04_27_activation_is_for_one_pod,
	test_queue_in_flight__edge_04_33_own_toleration_arrives,
	test_queue_in_flight__edge_04_38_check_does_not_bind_pods_in_flight,
	test_queue_in_flight__edge_04_42_second_record_of_a_pod_in_flight,
	test_queue_in_flight__edge_04_46_event_without_registration,
	test_queue_in_flight__section_9_log_is_trimmed_to_the_oldest_pod,
	test_queue_in_flight__edge_04h_56_update_is_in_the_log_of_all)
