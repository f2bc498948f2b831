/* SPDX-License-Identifier: Apache-2.0 */
/* An event that moves all pods of one shape at once. Spec: 04 sections 4, 7 and 8.7. */
#include "framework/cluster_event.h"
#include "queue/queue_private.h"
#include "queue_fixture.h"
#include "test_main.h"
#include "validate/validate.h"

#define POD(name) "{'metadata':{'name':'" name "','uid':'" name "'}}"
#define CHANGED(name, version) \
	"{'metadata':{'name':'" name "','uid':'" name "','resourceVersion':'" version "'}}"
#define PRIORITY(name, priority) \
	"{'metadata':{'name':'" name "','uid':'" name "'},'spec':{'priority':" priority "}}"

static const struct bt_cluster_event node_add = {BT_RESOURCE_NODE, BT_ACTION_ADD};

static void add_node(struct queue_fixture *queue)
{
	queue_move(queue, &node_add, NULL,
		queue_object(queue, BT_KIND_NODE, "{'metadata':{'name':'n'}}"));
}

static void fail_after(struct queue_fixture *queue, const char *json)
{
	queue->now_ns += 1000;
	(void)queue_add_failed(queue, json, "NodeName", NULL);
}

/** Opens a queue with three failed pods of one shape whose backoff is over. */
static void open_three(struct queue_fixture *queue)
{
	queue_init(queue);
	fail_after(queue, POD("a"));
	fail_after(queue, POD("b"));
	fail_after(queue, POD("c"));
	queue->now_ns += 60 * QUEUE_SECOND;
}

static void expect_valid(struct queue_fixture *queue)
{
	const char *reason = "";

	ck_assert_msg(bt_queue_validate(queue->queue, &reason), "%s", reason);
}

START_TEST(test_queue_whole__active_from_the_event_on)
{
	struct queue_fixture queue;

	open_three(&queue);
	add_node(&queue);
	ck_assert_uint_eq(queue.queue->ready_count, 3);
	ck_assert_uint_eq(bt_queue_count(queue.queue, BT_QUEUE_ACTIVE), 3);
	ck_assert_uint_eq(bt_queue_count(queue.queue, BT_QUEUE_UNSCHEDULABLE), 0);
	ck_assert_uint_eq(bt_queue_pending(queue.queue, BT_QUEUE_GAUGE_ACTIVE), 3);
	ck_assert_uint_eq(bt_queue_pending(queue.queue, BT_QUEUE_GAUGE_UNSCHEDULABLE), 0);
	ck_assert_uint_eq(queue_incoming(&queue, BT_QUEUE_ACTIVE, "NodeAdd"), 3);
	ck_assert_int_eq(queue_gauge(&queue, "NodeName"), 3);
	bt_strbuf_reset(&queue.text);
	bt_queue_summary(queue.queue, &queue.text);
	ck_assert_str_eq(bt_strbuf_c(&queue.text), "activeQ:3; backoffQ:0; unschedulablePods:0");
	ck_assert(bt_queue_can_pop(queue.queue));
	queue_release(&queue, queue_pop_expect(&queue, "a"));
	ck_assert_uint_eq(queue.queue->ready_count, 2);
	ck_assert_int_eq(queue_gauge(&queue, "NodeName"), 2);
	/* Pods b and c are active already: a second event does not count them again. */
	add_node(&queue);
	ck_assert_uint_eq(queue_incoming(&queue, BT_QUEUE_ACTIVE, "NodeAdd"), 3);
	queue_expect(&queue, "active b c");
	expect_valid(&queue);
	queue_release(&queue, queue_pop_expect(&queue, "b"));
	queue_release(&queue, queue_pop_expect(&queue, "c"));
	(void)queue_pop_expect(&queue, "");
	expect_valid(&queue);
	queue_finish(&queue);
}
END_TEST

/**
 * Pods are popped by priority, then by the time of the last attempt, whether they are in groups or
 * new.
 */
START_TEST(test_queue_whole__order_among_groups)
{
	struct queue_fixture queue;

	queue_init(&queue);
	fail_after(&queue, POD("a1"));
	fail_after(&queue, PRIORITY("b1", "5"));
	fail_after(&queue, PRIORITY("c1", "0"));
	fail_after(&queue, POD("a2"));
	fail_after(&queue, PRIORITY("c2", "0"));
	fail_after(&queue, PRIORITY("b2", "5"));
	queue.now_ns += 60 * QUEUE_SECOND;
	add_node(&queue);
	ck_assert_uint_eq(queue.queue->ready_count, 6);
	(void)queue_add(&queue, POD("new"));
	(void)queue_add(&queue, PRIORITY("high", "7"));
	queue_release(&queue, queue_pop_expect(&queue, "high"));
	queue_release(&queue, queue_pop_expect(&queue, "b1"));
	queue_release(&queue, queue_pop_expect(&queue, "b2"));
	queue_release(&queue, queue_pop_expect(&queue, "a1"));
	queue_release(&queue, queue_pop_expect(&queue, "c1"));
	queue_release(&queue, queue_pop_expect(&queue, "a2"));
	ck_assert_uint_eq(queue.queue->ready_count, 1);
	queue_release(&queue, queue_pop_expect(&queue, "c2"));
	queue_release(&queue, queue_pop_expect(&queue, "new"));
	(void)queue_pop_expect(&queue, "");
	queue_finish(&queue);
}
END_TEST

/** An update keeps the pod's timestamp, although the updated pod enters its group last. */
START_TEST(test_queue_whole__updates_do_not_change_the_order)
{
	struct queue_fixture queue;
	struct bt_object *old_pod;
	struct bt_object *new_pod;

	open_three(&queue);
	old_pod = bt_object_share(queue_entry(&queue, "a")->object);
	new_pod = queue_pod(&queue, CHANGED("a", "2"));
	queue_update(&queue, old_pod, new_pod);
	bt_object_release(old_pod);
	queue_expect(&queue, "unschedulable a b c");
	add_node(&queue);
	queue_release(&queue, queue_pop_expect(&queue, "a"));
	queue_release(&queue, queue_pop_expect(&queue, "b"));
	queue_release(&queue, queue_pop_expect(&queue, "c"));
	queue_finish(&queue);
}
END_TEST

START_TEST(test_queue_whole__activating_an_active_pod)
{
	struct queue_fixture queue;
	struct bt_object *pod;
	struct bt_queue_entry *entry;

	open_three(&queue);
	add_node(&queue);
	pod = queue_pod(&queue, CHANGED("b", "2"));
	/* Activating an active pod does nothing, and updating it does not run PreEnqueue again. */
	ck_assert(!bt_queue_activate(queue.queue, pod, queue.now_ns));
	queue_update(&queue, queue_pod(&queue, POD("b")), pod);
	ck_assert_uint_eq(queue.queue->ready_count, 2);
	ck_assert_ptr_eq(queue_entry(&queue, "b")->object, pod);
	/* Upstream quirk, spec 04 section 8.12: deleting a pod does not lower the gauge. */
	bt_queue_delete(queue.queue, queue_pod(&queue, POD("a")));
	ck_assert_int_eq(queue_gauge(&queue, "NodeName"), 3);
	ck_assert_uint_eq(bt_queue_count(queue.queue, BT_QUEUE_ACTIVE), 2);
	expect_valid(&queue);
	entry = bt_queue_pop_pod(queue.queue, BT_STR("default"), BT_STR("c"), queue.now_ns);
	ck_assert_ptr_nonnull(entry);
	ck_assert_int_eq(queue_gauge(&queue, "NodeName"), 2);
	queue_release(&queue, entry);
	queue_release(&queue, queue_pop_expect(&queue, "b"));
	queue_finish(&queue);
}
END_TEST

/** A pod fails again while pods of its old group are still active. */
START_TEST(test_queue_whole__a_second_group_of_the_shape)
{
	struct queue_fixture queue;

	open_three(&queue);
	add_node(&queue);
	queue_fail(&queue, queue_pop_expect(&queue, "a"), "NodeName", NULL);
	ck_assert_uint_eq(queue.queue->ready_count, 2);
	ck_assert_uint_eq(bt_queue_count(queue.queue, BT_QUEUE_UNSCHEDULABLE), 1);
	/* The event moves only the new group, which has pod a, to the backoff queue. */
	add_node(&queue);
	ck_assert_uint_eq(bt_queue_count(queue.queue, BT_QUEUE_BACKOFF), 1);
	ck_assert_uint_eq(bt_queue_count(queue.queue, BT_QUEUE_ACTIVE), 2);
	queue_fail(&queue, queue_pop_expect(&queue, "b"), "NodeName", NULL);
	queue_fail(&queue, queue_pop_expect(&queue, "c"), "NodeName", NULL);
	queue_expect(&queue, "backoff a, unschedulable b c");
	expect_valid(&queue);
	queue_finish(&queue);
}
END_TEST

START_TEST(test_queue_whole__some_back_off)
{
	struct queue_fixture queue;

	open_three(&queue);
	fail_after(&queue, POD("d"));
	add_node(&queue);
	ck_assert_uint_eq(queue.queue->ready_count, 0);
	queue_expect(&queue, "active a b c, backoff d");
	queue_finish(&queue);
}
END_TEST

/** The event excludes one of the three pods. */
START_TEST(test_queue_whole__one_is_excluded)
{
	struct queue_fixture queue;
	struct bt_queue_check check = {.excluded_uid = BT_STR("b")};
	struct bt_object *node;

	open_three(&queue);
	node = queue_object(&queue, BT_KIND_NODE, "{'metadata':{'name':'n'}}");
	bt_queue_move_all_to_active_or_backoff_queue(
		queue.queue, &node_add, NULL, node, &check, queue.now_ns);
	ck_assert_uint_eq(queue.queue->ready_count, 0);
	queue_expect(&queue, "active a c, unschedulable b");
	check.excluded_uid = BT_STR("somebody else");
	fail_after(&queue, PRIORITY("z1", "9"));
	fail_after(&queue, PRIORITY("z2", "9"));
	queue.now_ns += 60 * QUEUE_SECOND;
	bt_queue_move_all_to_active_or_backoff_queue(
		queue.queue, &node_add, NULL, node, &check, queue.now_ns);
	ck_assert_uint_eq(queue.queue->ready_count, 3);
	queue_expect(&queue, "active a b c z1 z2");
	queue_finish(&queue);
}
END_TEST

/** Closing the queue frees the pods that are still in groups. */
START_TEST(test_queue_whole__end_of_the_queue)
{
	struct queue_fixture queue;

	open_three(&queue);
	add_node(&queue);
	bt_queue_flush_unschedulable_leftover(queue.queue, queue.now_ns + 1000 * QUEUE_SECOND);
	ck_assert_uint_eq(queue.queue->ready_count, 3);
	bt_queue_close(queue.queue);
	(void)queue_pop_expect(&queue, "a");
	queue_finish(&queue);
}
END_TEST

BT_TEST_MAIN("queue_whole", test_queue_whole__active_from_the_event_on,
	test_queue_whole__order_among_groups, test_queue_whole__updates_do_not_change_the_order,
	test_queue_whole__activating_an_active_pod, test_queue_whole__a_second_group_of_the_shape,
	test_queue_whole__some_back_off, test_queue_whole__one_is_excluded,
	test_queue_whole__end_of_the_queue)
