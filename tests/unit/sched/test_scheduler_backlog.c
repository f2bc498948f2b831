/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Many pods that do not fit. An event requeues all pods of the shapes that it helps. The requeued
 * pods are placed until the room is used up; the others wait again. Spec 04 section 8.9; every
 * decision is verified.
 */
#include "base/prng.h"
#include "life_world.h"
#include "test_main.h"

#define SHAPES 12
#define PODS_OF_SHAPE 25

static struct life life;

static struct bt_queue *queue(void)
{
	return bt_scheduler_queue(life.scheduler);
}

static const char *name_of(int shape, int number)
{
	return bt_arena_printf(&life.arena, "p-%d-%d", shape, number).data;
}

/** Adds a pod; each shape requests a different device. */
static void add_pod(int shape, int number)
{
	life_pod(&life, name_of(shape, number), "",
		bt_arena_printf(&life.arena,
			"'spec':{'containers':[{'name':'c','resources':{'requests':"
			"{'example.com/d%d':'1'}}}]}",
			shape)
			.data);
}

static void add_node(const char *name, const char *devices)
{
	life_node(&life, name,
		bt_arena_printf(&life.arena,
			"'status':{'allocatable':{'cpu':'8','memory':'8Gi','pods':'110'%s}}",
			devices)
			.data);
}

static void init(void)
{
	struct bt_attempt attempt;

	life_init(&life, "NodeResourcesFit, DefaultPreemption", NULL, 0);
	add_node("n1", "");
	add_node("n2", "");
	add_node("n3", ",'example.com/d1':'0'");
	for (int i = 0; i < SHAPES * PODS_OF_SHAPE; i++) {
		add_pod(i % SHAPES, i / SHAPES);
		life.now_ns++;
	}
	while ((attempt = life_schedule(&life)).outcome != BT_ATTEMPT_IDLE) {
		ck_assert_int_eq(attempt.outcome, BT_ATTEMPT_FAILED);
		life.now_ns++;
	}
	ck_assert_uint_eq(bt_queue_count(queue(), BT_QUEUE_UNSCHEDULABLE), SHAPES * PODS_OF_SHAPE);
	/* Let all backoffs end. */
	life.now_ns += 30 * LIFE_SECOND;
	(void)life_log(&life);
}

START_TEST(test_backlog__as_many_are_placed_as_fit)
{
	struct bt_attempt attempt;
	int failed = 0;

	init();
	add_node("n4", ",'example.com/d7':'5'");
	ck_assert_uint_eq(bt_queue_count(queue(), BT_QUEUE_ACTIVE), PODS_OF_SHAPE);
	for (int i = 0; i < 5; i++) {
		attempt = life_schedule(&life);
		ck_assert_int_eq(attempt.outcome, BT_ATTEMPT_BOUND);
		ck_assert(bt_str_equal_c(attempt.node_name, "n4"));
		/* Pods that came first are placed first. */
		ck_assert(bt_str_equal_c(attempt.name, name_of(7, i)));
	}
	while ((attempt = life_schedule(&life)).outcome != BT_ATTEMPT_IDLE) {
		ck_assert_int_eq(attempt.outcome, BT_ATTEMPT_FAILED);
		failed++;
	}
	ck_assert_int_eq(failed, PODS_OF_SHAPE - 5);
	ck_assert_uint_eq(
		bt_queue_count(queue(), BT_QUEUE_UNSCHEDULABLE), SHAPES * PODS_OF_SHAPE - 5);
	ck_assert_str_eq(life_place(&life, name_of(7, 5)), "unschedulable");
	ck_assert_str_eq(life_rejectors(&life, name_of(7, 5), false), "NodeResourcesFit");
	life_finish(&life);
}
END_TEST

START_TEST(test_backlog__an_event_that_helps_no_pod_requeues_none)
{
	init();
	add_node("n4", ",'example.com/other':'5'");
	add_node("n1", ",'example.com/other':'5'");
	ck_assert_uint_eq(bt_queue_count(queue(), BT_QUEUE_ACTIVE), 0);
	ck_assert_uint_eq(bt_queue_count(queue(), BT_QUEUE_UNSCHEDULABLE), SHAPES * PODS_OF_SHAPE);
	ck_assert_int_eq(life_schedule(&life).outcome, BT_ATTEMPT_IDLE);
	life_finish(&life);
}
END_TEST

/**
 * The message counts all nodes, although Filter did not run node by node and no pod can be evicted.
 */
START_TEST(test_backlog__the_message_counts_all_nodes)
{
	struct bt_attempt attempt;

	init();
	add_node("n4", ",'example.com/d1':'1'");
	attempt = life_schedule(&life);
	ck_assert_int_eq(attempt.outcome, BT_ATTEMPT_BOUND);
	attempt = life_schedule(&life);
	ck_assert_int_eq(attempt.outcome, BT_ATTEMPT_FAILED);
	ck_assert_str_eq(attempt.message.data,
		"0/4 nodes are available: 4 Insufficient example.com/d1. preemption: 0/4 nodes are "
		"available: 1 No preemption victims found for incoming pod, 3 Preemption is not "
		"helpful for scheduling.");
	life_finish(&life);
}
END_TEST

#define OWN_SHAPES 60

struct own_shape {
	int cpu;
	int memory;
	bool waits;
};

static bool waits(int number)
{
	return strcmp(life_place(&life, name_of(0, number)), "unschedulable") == 0;
}

/**
 * Adds or enlarges a node, and expects that the event requeues exactly the waiting pods that fit on
 * the empty node.
 */
static void expect_requeued(struct own_shape *pods, const char *node, int cpu, int memory)
{
	for (int i = 0; i < OWN_SHAPES; i++) {
		pods[i].waits = waits(i);
	}
	life_node(&life, node,
		bt_arena_printf(&life.arena,
			"'status':{'allocatable':{'cpu':'%dm','memory':'%d','pods':'110'}}", cpu,
			memory)
			.data);
	for (int i = 0; i < OWN_SHAPES; i++) {
		bool fits = pods[i].cpu <= cpu && pods[i].memory <= memory;

		if (pods[i].waits && waits(i) == fits) {
			ck_abort_msg("pod %d of %dm, %d: node of %dm, %d", i, pods[i].cpu,
				pods[i].memory, cpu, memory);
		}
	}
}

/** Each pod has a different shape; the event skips pods only if their hint would return Skip. */
START_TEST(test_backlog__own_shapes_are_requeued_by_their_requests)
{
	struct own_shape pods[OWN_SHAPES];
	struct bt_prng prng;

	bt_prng_init(&prng, 7);
	life_init(&life, "NodeResourcesFit", NULL, 0);
	life_node(&life, "n1", "'status':{'allocatable':{'cpu':'1m','pods':'110'}}");
	for (int i = 0; i < OWN_SHAPES; i++) {
		pods[i].cpu = 100 + (int)bt_prng_below(&prng, 20);
		pods[i].memory = 1000 + (int)bt_prng_below(&prng, 20);
		life_pod(&life, name_of(0, i), "",
			bt_arena_printf(&life.arena,
				"'spec':{'containers':[{'name':'c%d','resources':{'requests':"
				"{'cpu':'%dm','memory':'%d'}}}]}",
				i, pods[i].cpu, pods[i].memory)
				.data);
	}
	for (int step = 0; step < 30; step++) {
		const char *node = bt_arena_printf(&life.arena, "m%d", step / 2).data;
		int more = step % 2 * 20;

		while (life_schedule(&life).outcome != BT_ATTEMPT_IDLE) {
		}
		life.now_ns += 30 * LIFE_SECOND;
		expect_requeued(pods, node, 95 + more + (int)bt_prng_below(&prng, 15),
			995 + more + (int)bt_prng_below(&prng, 15));
	}
	life_finish(&life);
}
END_TEST

BT_TEST_MAIN("scheduler_backlog", test_backlog__as_many_are_placed_as_fit,
	test_backlog__an_event_that_helps_no_pod_requeues_none,
	test_backlog__the_message_counts_all_nodes,
	test_backlog__own_shapes_are_requeued_by_their_requests)
