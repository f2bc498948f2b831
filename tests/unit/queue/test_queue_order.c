/* SPDX-License-Identifier: Apache-2.0 */
/* Which pod is popped next. Spec: 04 sections 4 and 8.2. */
#include "framework/cluster_event.h"
#include "queue_fixture.h"
#include "test_main.h"

#define POD(name) "{'metadata':{'name':'" name "'}}"
#define PRIORITY(name, priority) "{'metadata':{'name':'" name "'},'spec':{'priority':" priority "}}"

static const struct bt_cluster_event node_add = {BT_RESOURCE_NODE, BT_ACTION_ADD};

static void add_node(struct queue_fixture *queue)
{
	queue_move(queue, &node_add, NULL,
		queue_object(queue, BT_KIND_NODE, "{'metadata':{'name':'n'}}"));
}

START_TEST(test_queue_order__edge_04_01_no_priority_is_zero)
{
	struct queue_fixture queue;

	queue_init(&queue);
	(void)queue_add(&queue, POD("nil"));
	queue.now_ns++;
	(void)queue_add(&queue, PRIORITY("zero", "0"));
	(void)queue_pop_expect(&queue, "nil");
	(void)queue_pop_expect(&queue, "zero");
	queue_finish(&queue);
}
END_TEST

START_TEST(test_queue_order__edge_04_02_negative_after_none)
{
	struct queue_fixture queue;

	queue_init(&queue);
	(void)queue_add(&queue, PRIORITY("negative", "-5"));
	queue.now_ns++;
	(void)queue_add(&queue, POD("nil"));
	(void)queue_pop_expect(&queue, "nil");
	(void)queue_pop_expect(&queue, "negative");
	queue_finish(&queue);
}
END_TEST

START_TEST(test_queue_order__edge_04_11_active_then_backoff_never_errors)
{
	struct queue_fixture queue;
	struct bt_queue_entry *high;

	queue_init(&queue);
	(void)queue_add_failed(&queue, PRIORITY("high2", "100"), NULL, NULL);
	(void)queue_add(&queue, PRIORITY("high", "100"));
	high = queue_pop_expect(&queue, "high");
	add_node(&queue);
	queue_fail(&queue, high, "NodeName", NULL);
	(void)queue_add(&queue, PRIORITY("medium", "50"));
	queue_expect(&queue, "active medium, backoff high, error high2");
	(void)queue_pop_expect(&queue, "medium");
	(void)queue_pop_expect(&queue, "high");
	ck_assert(!bt_queue_can_pop(queue.queue));
	(void)queue_pop_expect(&queue, "");
	queue_expect(&queue, "error high2");
	ck_assert_uint_eq(queue_incoming(&queue, BT_QUEUE_ACTIVE, "PopFromBackoffQ"), 1);
	queue_finish(&queue);
}
END_TEST

/** A failed pod is held back until an event comes or its backoff ends. */
START_TEST(test_queue_order__held_back_until_something_happens)
{
	struct queue_fixture queue;
	struct bt_queue_entry *pod;

	queue_init(&queue);
	(void)queue_add(&queue, PRIORITY("a", "1"));
	for (uint32_t round = 0; round < 2; round++) {
		pod = queue_pop_expect(&queue, "a");
		add_node(&queue);
		queue_fail(&queue, pod, "NodeName", NULL);
		bt_queue_hold_back(queue.queue);
		queue_expect(&queue, "backoff a");
		ck_assert(!bt_queue_can_pop(queue.queue));
		ck_assert(!bt_queue_only_repeats_groups(queue.queue)); /* the pod is in no group */
		add_node(&queue);
		ck_assert(bt_queue_can_pop(queue.queue));
	}
	bt_queue_hold_back(queue.queue);
	queue_advance(&queue, INT64_C(60) * 1000000000);
	queue_expect(&queue, "active a");
	queue_finish(&queue);
}
END_TEST

START_TEST(test_queue_order__edge_04_12_unschedulable_pods_are_not_popped)
{
	struct queue_fixture queue;

	queue_init(&queue);
	(void)queue_add_failed(&queue, POD("a"), "NodeName", NULL);
	queue_expect(&queue, "unschedulable a");
	ck_assert(!bt_queue_can_pop(queue.queue));
	(void)queue_pop_expect(&queue, "");
	queue_finish(&queue);
}
END_TEST

START_TEST(test_queue_order__edge_04_13_closed_queue_hands_out_the_rest)
{
	struct queue_fixture queue;

	queue_init(&queue);
	bt_queue_close(queue.queue);
	(void)queue_pop_expect(&queue, "");
	(void)queue_add(&queue, POD("b"));
	(void)queue_pop_expect(&queue, "b");
	(void)queue_add(&queue, POD("a"));
	bt_queue_close(queue.queue);
	ck_assert_uint_eq(bt_queue_in_flight_count(queue.queue), 0);
	(void)queue_pop_expect(&queue, "a");
	(void)queue_pop_expect(&queue, "");
	queue_finish(&queue);
}
END_TEST

START_TEST(test_queue_order__edge_04_43_no_nodes_backs_off_by_errors)
{
	static const int64_t seconds[] = {1, 2, 4, 8, 10};
	struct queue_fixture queue;

	queue_init(&queue);
	(void)queue_add(&queue, POD("a"));
	for (size_t i = 0; i < BT_ARRAY_LENGTH(seconds); i++) {
		int64_t until_ns = 0;

		queue_fail(&queue, queue_pop_expect(&queue, "a"), NULL, NULL);
		add_node(&queue);
		queue_expect(&queue, "error a");
		(void)queue_pop_expect(&queue, "");
		ck_assert(bt_queue_backoff_until(queue.queue, queue_entry(&queue, "a"), &until_ns));
		ck_assert_int_eq(until_ns - queue.now_ns, seconds[i] * QUEUE_SECOND);
		queue.now_ns = until_ns + QUEUE_SECOND;
		bt_queue_flush_backoff_completed(queue.queue, queue.now_ns);
	}
	queue_finish(&queue);
}
END_TEST

START_TEST(test_queue_order__edge_04_45_untried_before_retried)
{
	struct queue_fixture queue;

	queue_init(&queue);
	(void)queue_add(&queue, POD("old"));
	queue.now_ns += QUEUE_SECOND;
	(void)queue_add(&queue, POD("untried"));
	queue.now_ns += QUEUE_SECOND;
	queue_fail(&queue, queue_pop_expect(&queue, "old"), NULL, NULL);
	queue_advance(&queue, 5 * QUEUE_SECOND);
	queue_expect(&queue, "active old untried");
	(void)queue_pop_expect(&queue, "untried");
	(void)queue_pop_expect(&queue, "old");
	queue_finish(&queue);
}
END_TEST

START_TEST(test_queue_order__section_8_3_pop_of_a_named_pod)
{
	static const struct bt_str ns = {"default", 7};
	struct queue_fixture queue;

	queue_init(&queue);
	(void)queue_add_failed(&queue, POD("rejected"), "NodeName", NULL);
	(void)queue_add_failed(&queue, POD("error"), NULL, NULL);
	(void)queue_add(&queue,
		"{'metadata':{'name':'gated'},'spec':{'schedulingGates':"
		"[{'name':'g'}]}}");
	(void)queue_add(&queue, POD("active"));
	ck_assert_ptr_null(bt_queue_pop_pod(queue.queue, ns, BT_STR("nobody"), queue.now_ns));
	ck_assert_ptr_null(bt_queue_pop_pod(queue.queue, ns, BT_STR("gated"), queue.now_ns));
	ck_assert_ptr_nonnull(bt_queue_pop_pod(queue.queue, ns, BT_STR("rejected"), queue.now_ns));
	ck_assert_ptr_nonnull(bt_queue_pop_pod(queue.queue, ns, BT_STR("error"), queue.now_ns));
	ck_assert_ptr_nonnull(bt_queue_pop_pod(queue.queue, ns, BT_STR("active"), queue.now_ns));
	ck_assert_ptr_null(bt_queue_pop_pod(queue.queue, ns, BT_STR("active"), queue.now_ns));
	queue_expect(&queue, "gated gated");
	ck_assert_uint_eq(queue_incoming(&queue, BT_QUEUE_ACTIVE, "ForceActivate"), 2);
	ck_assert_uint_eq(bt_queue_scheduling_cycle(queue.queue), 5);
	queue_finish(&queue);
}
END_TEST

START_TEST(test_queue_order__section_8_5_second_record_is_refused)
{
	static const struct {
		const char *plugins;
		const char *message;
	} rows[] = {
		{"NodeName", "Pod default/a is already present in unschedulable queue"},
		{NULL, "Pod default/a is already present in the backoff queue"},
		{"", "Pod default/a is already present in the active queue"},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct berth_error err = BERTH_ERROR_INIT;
		struct queue_fixture queue;
		struct bt_queue_entry *first;

		queue_init(&queue);
		(void)queue_add(&queue, POD("a"));
		first = queue_pop_expect(&queue, "a");
		(void)queue_add(&queue, "{'metadata':{'name':'a','uid':'second'}}");
		if (rows[i].plugins == NULL || rows[i].plugins[0] != '\0') {
			queue_fail(&queue, queue_pop_expect(&queue, "a"), rows[i].plugins, NULL);
		}
		ck_assert_int_eq(bt_queue_add_unschedulable_if_not_present(
					 queue.queue, first, NULL, queue.now_ns, &err),
			BERTH_ERR_EXISTS);
		ck_assert_str_eq(berth_error_message(&err), rows[i].message);
		ck_assert_uint_eq(bt_queue_in_flight_count(queue.queue), 0);
		berth_error_finish(&err);
		queue_release(&queue, first);
		queue_finish(&queue);
	}
}
END_TEST

START_TEST(test_queue_order__section_8_15_summary)
{
	struct queue_fixture queue;

	queue_init(&queue);
	(void)queue_add_failed(&queue, POD("a"), "NodeName", NULL);
	(void)queue_add_failed(&queue, POD("b"), NULL, NULL);
	(void)queue_add(&queue, POD("c"));
	(void)queue_add(&queue, POD("d"));
	bt_strbuf_reset(&queue.text);
	bt_queue_summary(queue.queue, &queue.text);
	ck_assert_str_eq(bt_strbuf_c(&queue.text), "activeQ:2; backoffQ:1; unschedulablePods:1");
	queue_finish(&queue);
}
END_TEST

BT_TEST_MAIN("queue_order", test_queue_order__edge_04_01_no_priority_is_zero,
	test_queue_order__edge_04_02_negative_after_none,
	test_queue_order__edge_04_11_active_then_backoff_never_errors,
	test_queue_order__held_back_until_something_happens,
	test_queue_order__edge_04_12_unschedulable_pods_are_not_popped,
	test_queue_order__edge_04_13_closed_queue_hands_out_the_rest,
	test_queue_order__edge_04_43_no_nodes_backs_off_by_errors,
	test_queue_order__edge_04_45_untried_before_retried,
	test_queue_order__section_8_3_pop_of_a_named_pod,
	test_queue_order__section_8_5_second_record_is_refused,
	test_queue_order__section_8_15_summary)
