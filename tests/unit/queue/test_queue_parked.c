/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unschedulable pods for which each event calls the hints pod by pod, and a long backlog of active
 * pods.
 */
#include <stdio.h>

#include "framework/cluster_event.h"
#include "queue/queue_private.h"
#include "queue_fixture.h"
#include "test_main.h"
#include "validate/validate.h"

#define PODS (BT_QUEUE_UNPARKED_MAX + 200)

static const struct bt_queue *watched;
static uint32_t most_unparked; /* largest number of unparked pods at a hint call */

static bool skip(BT_UNUSED const struct bt_hint_call *call)
{
	if (watched->unparked.count > most_unparked) {
		most_unparked = watched->unparked.count;
	}
	return false;
}

static const struct bt_event_registration events[] = {
	{{BT_RESOURCE_NODE, BT_ACTION_ADD}, skip},
	{{BT_RESOURCE_ASSIGNED_POD, BT_ACTION_ADD}, skip},
};

static const struct bt_cluster_event node_add = {BT_RESOURCE_NODE, BT_ACTION_ADD};
static const struct bt_cluster_event pod_add = {BT_RESOURCE_ASSIGNED_POD, BT_ACTION_ADD};

/** Opens a queue with many pods, rejected by a plugin whose hint may read the whole pod. */
static void open_many(struct queue_fixture *queue, struct fake *fake)
{
	const struct queue_setup setup = {
		.config = queue_profiles("default-scheduler=R"), .fakes = fake, .fake_count = 1};

	*fake = queue_rejector("R", events, BT_ARRAY_LENGTH(events), false);
	fake->shortcuts.hint_scope = BT_HINT_SCOPE_POD;
	queue_init_with(queue, &setup);
	watched = queue->queue;
	most_unparked = 0;
	for (uint32_t i = 0; i < PODS; i++) {
		char json[64];

		(void)snprintf(json, sizeof(json), "{'metadata':{'name':'p%u'}}", i);
		queue->now_ns++;
		(void)queue_add_failed(queue, json, "R", NULL);
	}
}

START_TEST(test_queue_parked__an_event_leaves_few_unparked)
{
	struct queue_fixture queue;
	struct fake fake;
	const char *reason = "";
	char asked[32];

	open_many(&queue, &fake);
	(void)snprintf(asked, sizeof(asked), "0 %d 0", PODS);
	queue_move(&queue, &node_add, NULL,
		queue_object(&queue, BT_KIND_NODE, "{'metadata':{'name':'n'}}"));
	ck_assert_str_eq(queue_hints(&queue, "R", "NodeAdd"), asked);
	ck_assert_uint_le(most_unparked, BT_QUEUE_UNPARKED_MAX + 2);
	ck_assert_uint_eq(bt_queue_count(queue.queue, BT_QUEUE_UNSCHEDULABLE), PODS);
	ck_assert_msg(bt_queue_validate(queue.queue, &reason), "%s", reason);
	queue_finish(&queue);
}
END_TEST

/** An event about a waiting pod: the queue keeps that pod unparked during the whole event. */
START_TEST(test_queue_parked__the_pod_of_the_event_stays_unparked)
{
	struct queue_fixture queue;
	struct fake fake;
	const char *reason = "";

	open_many(&queue, &fake);
	for (uint32_t i = 1; i < PODS; i += PODS / 4) {
		char json[96];

		(void)snprintf(json, sizeof(json),
			"{'metadata':{'name':'p%u'},'spec':{'nodeName':'n'}}", i);
		queue_move(&queue, &pod_add, NULL, queue_object(&queue, BT_KIND_POD, json));
		ck_assert_uint_le(most_unparked, BT_QUEUE_UNPARKED_MAX + 3);
		ck_assert_msg(bt_queue_validate(queue.queue, &reason), "%s", reason);
	}
	queue_finish(&queue);
}
END_TEST

static uint32_t count_parked(const struct bt_queue *queue)
{
	uint32_t count = 0;

	for (uint32_t id = 0; id < queue->entries.count; id++) {
		const struct bt_queue_entry *entry = bt_queue_entry_at(queue, id);

		count += entry != NULL && entry->parked;
	}
	return count;
}

/** Adds pod p<i> with one of three priorities; returns its object. */
static struct bt_object *add_active(struct queue_fixture *queue, uint32_t i)
{
	char json[128];

	(void)snprintf(json, sizeof(json),
		"{'metadata':{'name':'p%u','labels':{'i':'%u'}},'spec':{'priority':%u}}", i, i % 7,
		i % 3);
	queue->now_ns++;
	return queue_add(queue, json);
}

START_TEST(test_queue_parked__a_long_backlog)
{
	struct queue_fixture queue;
	const char *reason = "";
	char name[32];

	queue_init(&queue);
	for (uint32_t i = 0; i < PODS; i++) {
		struct bt_object *pod = add_active(&queue, i);

		if (i > BT_QUEUE_UNPARKED_MAX && i % 10 == 1) {
			(void)add_active(&queue, PODS); /* p<i> is parked now */
			(void)snprintf(name, sizeof(name), "p%u", i);
			ck_assert(bt_str_equal_c(queue_entry(&queue, name)->pod.name, name));
			bt_queue_delete(queue.queue, pod);
			ck_assert_ptr_null(
				bt_queue_find(queue.queue, BT_STR("default"), bt_str_from(name)));
			(void)add_active(&queue, i);
		}
	}
	ck_assert_uint_gt(count_parked(queue.queue), 150);
	ck_assert_msg(bt_queue_validate(queue.queue, &reason), "%s", reason);
	ck_assert_uint_eq(bt_queue_count(queue.queue, BT_QUEUE_ACTIVE), PODS + 1);
	int32_t priority = 2;
	int64_t time_ns = INT64_MIN;

	for (uint32_t i = 0; i < PODS + 1; i++) {
		struct bt_queue_entry *entry = queue_pop(&queue);
		unsigned int number = 0;

		ck_assert_int_eq(sscanf(entry->object->meta->name.data, "p%u", &number), 1);
		ck_assert_int_eq(entry->pod.priority, number % 3);
		ck_assert_ptr_eq(entry->pod.object, entry->object->value);
		ck_assert(bt_label_set_ref_map(&queue.queue->state->label_sets,
				  entry->pod.labels) == entry->pod.label_set);
		bt_label_set_unref(&queue.queue->state->label_sets, entry->pod.label_set);
		ck_assert_int_le(entry->pod.priority, priority);
		time_ns = entry->pod.priority < priority ? INT64_MIN : time_ns;
		ck_assert_int_gt(entry->timestamp_ns, time_ns);
		priority = entry->pod.priority;
		time_ns = entry->timestamp_ns;
		queue_release(&queue, entry);
	}
	queue_finish(&queue);
}
END_TEST

static bool is_older(BT_UNUSED struct bt_plugin *plugin, const struct bt_queued_pod *a,
	const struct bt_queued_pod *b)
{
	return a->timestamp_ns < b->timestamp_ns;
}

/** A QueueSort plugin of another order reads the whole pods, so they are not parked. */
START_TEST(test_queue_parked__another_order)
{
	struct queue_fixture queue;
	struct fake fake = queue_rejector("Oldest", NULL, 0, false);
	const struct queue_setup setup = {
		.config =
			"'profiles':[{'schedulerName':'default-scheduler','plugins':{'multiPoint':"
			"{'disabled':[{'name':'*'}],'enabled':[{'name':'Oldest'},"
			"{'name':'DefaultBinder'}]}}}]",
		.fakes = &fake,
		.fake_count = 1,
	};

	fake.ops.less = is_older;
	queue_init_with(&queue, &setup);
	for (uint32_t i = 0; i < PODS; i++) {
		(void)add_active(&queue, i);
	}
	ck_assert_uint_eq(count_parked(queue.queue), 0);
	for (uint32_t i = 0; i < PODS; i++) {
		char name[32];

		(void)snprintf(name, sizeof(name), "p%u", i);
		queue_release(&queue, queue_pop_expect(&queue, name));
	}
	queue_finish(&queue);
}
END_TEST

BT_TEST_MAIN("queue_parked", test_queue_parked__an_event_leaves_few_unparked,
	test_queue_parked__the_pod_of_the_event_stays_unparked, test_queue_parked__a_long_backlog,
	test_queue_parked__another_order)
