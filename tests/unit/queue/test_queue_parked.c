/* SPDX-License-Identifier: Apache-2.0 */
/* Unschedulable pods for which each event calls the hints pod by pod. */
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

BT_TEST_MAIN("queue_parked", test_queue_parked__an_event_leaves_few_unparked,
	test_queue_parked__the_pod_of_the_event_stays_unparked)
