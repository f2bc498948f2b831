/* SPDX-License-Identifier: Apache-2.0 */
/* How long a failed pod backs off. Spec: 04 section 5. */
#include "framework/cluster_event.h"
#include "queue/backoff.h"
#include "queue_fixture.h"
#include "test_main.h"

static const struct bt_cluster_event node_add = {BT_RESOURCE_NODE, BT_ACTION_ADD};

/**
 * Adds a pod at now_ns and rejects it; a node is added during the attempt, so the pod goes to the
 * backoff queue.
 */
static void add_rejected(struct queue_fixture *queue, const char *json, int64_t now_ns)
{
	struct bt_queue_entry *entry;

	queue->now_ns = now_ns;
	(void)queue_add(queue, json);
	entry = queue_pop(queue);
	queue_move(queue, &node_add, NULL,
		queue_object(queue, BT_KIND_NODE, "{'metadata':{'name':'n'}}"));
	queue_fail(queue, entry, "NodeName", NULL);
}

static int64_t until(struct queue_fixture *queue, const char *name)
{
	int64_t until_ns = 0;

	ck_assert(bt_queue_backoff_until(queue->queue, queue_entry(queue, name), &until_ns));
	return until_ns;
}

START_TEST(test_queue_backoff__section_5_2_durations)
{
	static const struct {
		int64_t initial;
		int64_t max;
		int64_t count;
		int64_t expected;
	} rows[] = {
		{3, 1000, 5, 48},
		{1, 32, 16, 32},
		{1, INT32_MAX, 32, INT32_MAX},
		{1, INT64_MAX, 64, INT64_MAX},
		{1, INT64_MAX, 63, INT64_C(1) << 62},
		{1, 10, 0, 0},
		{0, 10, 70, 0},
		{1, 10, 1000, 10},
		{11, 10, 1, 10},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		int64_t got = bt_backoff_duration_ns(rows[i].initial, rows[i].max, rows[i].count);

		ck_assert_msg(got == rows[i].expected, "row %zu: got %lld", i, (long long)got);
	}
}
END_TEST

START_TEST(test_queue_backoff__section_5_3_whole_seconds)
{
	ck_assert_int_eq(bt_floor_to_second_ns(1999999999), QUEUE_SECOND);
	ck_assert_int_eq(bt_floor_to_second_ns(-1), -QUEUE_SECOND);
	ck_assert_int_eq(bt_floor_to_second_ns(INT64_MIN), INT64_MIN);
	/* An expiration beyond the range of int64_t becomes INT64_MAX. */
	ck_assert_int_eq(bt_backoff_expiration_ns(INT64_MAX - 1, 5, 10, 1, false), INT64_MAX);
	ck_assert_int_eq(bt_backoff_expiration_ns(7, 5, 0, 3, true), BT_BACKOFF_NEVER);
	ck_assert(!bt_is_backing_off(BT_BACKOFF_NEVER, INT64_MIN, false));
}
END_TEST

START_TEST(test_queue_backoff__edge_04_03_window_of_a_fraction)
{
	struct queue_fixture queue;

	queue_init(&queue);
	add_rejected(&queue, "{'metadata':{'name':'a'}}", 100 * QUEUE_SECOND + 300 * QUEUE_MS);
	ck_assert_int_eq(until(&queue, "a"), 101 * QUEUE_SECOND);
	bt_queue_flush_backoff_completed(queue.queue, 101 * QUEUE_SECOND + 999 * QUEUE_MS);
	queue_expect(&queue, "backoff a");
	bt_queue_flush_backoff_completed(queue.queue, 102 * QUEUE_SECOND);
	queue_expect(&queue, "active a");
	ck_assert_uint_eq(queue_incoming(&queue, BT_QUEUE_ACTIVE, "BackoffComplete"), 1);
	queue_finish(&queue);
}
END_TEST

START_TEST(test_queue_backoff__edge_04_04_window_of_whole_and_late)
{
	static const struct {
		int64_t failed_ns;
		int64_t until_ns;
	} rows[] = {
		{100 * QUEUE_SECOND, 101 * QUEUE_SECOND},
		{100 * QUEUE_SECOND + 999 * QUEUE_MS, 101 * QUEUE_SECOND},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct queue_fixture queue;

		queue_init(&queue);
		add_rejected(&queue, "{'metadata':{'name':'a'}}", rows[i].failed_ns);
		ck_assert_int_eq(until(&queue, "a"), rows[i].until_ns);
		bt_queue_flush_backoff_completed(queue.queue, 102 * QUEUE_SECOND - 1);
		queue_expect(&queue, "backoff a");
		bt_queue_flush_backoff_completed(queue.queue, 102 * QUEUE_SECOND);
		queue_expect(&queue, "active a");
		queue_finish(&queue);
	}
}
END_TEST

START_TEST(test_queue_backoff__edge_04_05_exact_without_windows)
{
	const struct queue_setup setup = {.gates = "SchedulerPopFromBackoffQ=false"};
	const int64_t end_ns = 101 * QUEUE_SECOND + 300 * QUEUE_MS;
	struct queue_fixture queue;

	queue_init_with(&queue, &setup);
	add_rejected(&queue, "{'metadata':{'name':'a'}}", 100 * QUEUE_SECOND + 300 * QUEUE_MS);
	ck_assert_int_eq(until(&queue, "a"), end_ns);
	bt_queue_flush_backoff_completed(queue.queue, end_ns);
	queue_expect(&queue, "backoff a");
	bt_queue_flush_backoff_completed(queue.queue, end_ns + 1);
	queue_expect(&queue, "active a");
	queue_finish(&queue);
}
END_TEST

/** Fails an attempt of the only pod and returns the length of its backoff in seconds. */
static int64_t fail_again(struct queue_fixture *queue, const char *plugins)
{
	struct bt_queue_entry *entry;

	queue->now_ns += 1000 * QUEUE_SECOND;
	bt_queue_flush_backoff_completed(queue->queue, queue->now_ns);
	entry = queue_pop_expect(queue, "a");
	queue_move(queue, &node_add, NULL,
		queue_object(queue, BT_KIND_NODE, "{'metadata':{'name':'n'}}"));
	queue_fail(queue, entry, plugins, NULL);
	return (until(queue, "a") - queue->now_ns) / QUEUE_SECOND;
}

START_TEST(test_queue_backoff__edge_04_06_seven_rejections)
{
	static const int64_t expected[] = {1, 2, 4, 8, 10, 10, 10};
	struct queue_fixture queue;

	queue_init(&queue);
	(void)queue_add(&queue, "{'metadata':{'name':'a'}}");
	for (size_t i = 0; i < BT_ARRAY_LENGTH(expected); i++) {
		ck_assert_int_eq(fail_again(&queue, "NodeName"), expected[i]);
	}
	ck_assert_int_eq(queue_entry(&queue, "a")->unschedulable_count, 7);
	ck_assert_uint_eq(queue_entry(&queue, "a")->attempts, 7);
	queue_finish(&queue);
}
END_TEST

START_TEST(test_queue_backoff__edge_04_07_error_after_five_rejections)
{
	struct queue_fixture queue;

	queue_init(&queue);
	(void)queue_add(&queue, "{'metadata':{'name':'a'}}");
	for (int i = 0; i < 5; i++) {
		(void)fail_again(&queue, "NodeName");
	}
	ck_assert_int_eq(fail_again(&queue, NULL), 1);
	ck_assert_int_eq(queue_entry(&queue, "a")->unschedulable_count, 5);
	ck_assert_int_eq(queue_entry(&queue, "a")->consecutive_errors, 1);
	queue_expect(&queue, "error a");
	queue_finish(&queue);
}
END_TEST

START_TEST(test_queue_backoff__edge_04_08_rejection_after_two_errors)
{
	struct queue_fixture queue;

	queue_init(&queue);
	(void)queue_add(&queue, "{'metadata':{'name':'a'}}");
	ck_assert_int_eq(fail_again(&queue, NULL), 1);
	ck_assert_int_eq(fail_again(&queue, NULL), 2);
	ck_assert_int_eq(fail_again(&queue, "NodeName"), 1);
	ck_assert_int_eq(queue_entry(&queue, "a")->consecutive_errors, 0);
	ck_assert_int_eq(queue_entry(&queue, "a")->unschedulable_count, 1);
	queue_finish(&queue);
}
END_TEST

#define N_NS (200 * QUEUE_SECOND)
#define POD(name, priority) "{'metadata':{'name':'" name "'},'spec':{'priority':" priority "}}"

/*
 * Adds pods whose times of failure lead to the expirations of spec 04 section 18, items 9 and 10.
 */
static void add_six(struct queue_fixture *queue)
{
	add_rejected(queue, POD("p5", "1"), N_NS - 3 * QUEUE_SECOND);
	add_rejected(queue, POD("p3", "1"), N_NS - 2 * QUEUE_SECOND);
	add_rejected(queue, POD("p4", "2"), N_NS - 2 * QUEUE_SECOND);
	add_rejected(queue, POD("p2", "2"), N_NS - 1999 * QUEUE_MS);
	add_rejected(queue, POD("p1", "1"), N_NS - QUEUE_SECOND);
	add_rejected(queue, POD("p0", "1"), N_NS);
}

START_TEST(test_queue_backoff__edge_04_09_order_within_a_window)
{
	static const char *const order[] = {"p5", "p4", "p2", "p3", "p1", "p0"};
	struct queue_fixture queue;

	queue_init(&queue);
	add_six(&queue);
	ck_assert_int_eq(until(&queue, "p2"), N_NS - QUEUE_SECOND);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(order); i++) {
		queue_release(&queue, queue_pop_expect(&queue, order[i]));
	}
	add_six(&queue);
	bt_queue_flush_backoff_completed(queue.queue, N_NS);
	queue_expect(&queue, "active p2 p3 p4 p5, backoff p0 p1");
	queue_finish(&queue);
}
END_TEST

START_TEST(test_queue_backoff__edge_04_10_order_without_windows)
{
	const struct queue_setup setup = {.gates = "SchedulerPopFromBackoffQ=false"};
	struct queue_fixture queue;

	queue_init_with(&queue, &setup);
	add_six(&queue);
	ck_assert_ptr_null(queue_pop(&queue));
	bt_queue_flush_backoff_completed(queue.queue, N_NS - 2 * QUEUE_SECOND + 1);
	queue_expect(&queue, "active p5, backoff p0 p1 p2 p3 p4");
	bt_queue_flush_backoff_completed(queue.queue, N_NS - QUEUE_SECOND + 1);
	queue_expect(&queue, "active p3 p4 p5, backoff p0 p1 p2");
	bt_queue_flush_backoff_completed(queue.queue, N_NS);
	queue_expect(&queue, "active p2 p3 p4 p5, backoff p0 p1");
	queue_finish(&queue);
}
END_TEST

START_TEST(test_queue_backoff__max_of_zero_never_backs_off)
{
	const struct queue_setup setup = {.max_backoff_is_zero = true};
	struct queue_fixture queue;
	int64_t until_ns;

	queue_init_with(&queue, &setup);
	(void)queue_add_failed(&queue, "{'metadata':{'name':'a'}}", NULL, NULL);
	queue_expect(&queue, "active a");
	ck_assert(!bt_queue_backoff_until(queue.queue, queue_entry(&queue, "a"), &until_ns));
	queue_finish(&queue);
}
END_TEST

START_TEST(test_queue_backoff__section_5_5_flusher_runs_on_whole_seconds)
{
	struct queue_fixture queue;

	queue_init(&queue);
	bt_queue_start(queue.queue, 100 * QUEUE_SECOND + 700 * QUEUE_MS);
	bt_queue_tick(queue.queue, 100 * QUEUE_SECOND + 700 * QUEUE_MS);
	ck_assert_int_eq(bt_queue_next_tick_ns(queue.queue), 130 * QUEUE_SECOND + 700 * QUEUE_MS);
	add_rejected(&queue, "{'metadata':{'name':'a'}}", 100 * QUEUE_SECOND + 800 * QUEUE_MS);
	ck_assert_int_eq(bt_queue_next_tick_ns(queue.queue), 102 * QUEUE_SECOND);
	bt_queue_tick(queue.queue, 102 * QUEUE_SECOND);
	queue_expect(&queue, "active a");
	queue_finish(&queue);
}
END_TEST

BT_TEST_MAIN("queue_backoff", test_queue_backoff__section_5_2_durations,
	test_queue_backoff__section_5_3_whole_seconds,
	test_queue_backoff__edge_04_03_window_of_a_fraction,
	test_queue_backoff__edge_04_04_window_of_whole_and_late,
	test_queue_backoff__edge_04_05_exact_without_windows,
	test_queue_backoff__edge_04_06_seven_rejections,
	test_queue_backoff__edge_04_07_error_after_five_rejections,
	test_queue_backoff__edge_04_08_rejection_after_two_errors,
	test_queue_backoff__edge_04_09_order_within_a_window,
	test_queue_backoff__edge_04_10_order_without_windows,
	test_queue_backoff__max_of_zero_never_backs_off,
	test_queue_backoff__section_5_5_flusher_runs_on_whole_seconds)
