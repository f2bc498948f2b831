/* SPDX-License-Identifier: Apache-2.0 */
#include "test_main.h"

#include "cluster/controller.h"
#include "cluster/tree.h"
#include "workload_world.h"

static struct bt_controllers_options options_of(const char *const *names, uint32_t count)
{
	struct bt_controllers_options options = bt_controllers_default_options;
	options.names = names;
	options.name_count = count;
	return options;
}

START_TEST(test_hub__names_of_controllers_to_run)
{
	static const struct {
		const char *names[3];
		uint32_t count;
		bool job;
		bool daemon_set;
	} rows[] = {
		{{NULL}, 0, true, true},
		{{"*"}, 1, true, true},
		{{"*", "-job-controller"}, 2, false, true},
		{{"-job-controller"}, 1, false, true},
		{{"job-controller"}, 1, true, false},
		{{"job-controller", "-daemonset-controller"}, 2, true, false},
		{{"-job-controller", "*"}, 2, false, true},
		{{"*,-job-controller"}, 1, false, true},
		{{"job-controller,cronjob-controller"}, 1, true, false},
		{{"cronjob-controller,-job-controller", "daemonset-controller"}, 2, false, true},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_controllers_options options = options_of(rows[i].names, rows[i].count);
		ck_assert_msg(bt_controllers_has(&options, "job-controller") == rows[i].job,
			"row %zu", i);
		ck_assert_msg(
			bt_controllers_has(&options, "daemonset-controller") == rows[i].daemon_set,
			"row %zu", i);
	}
}
END_TEST

START_TEST(test_hub__unknown_names_are_errors)
{
	static const char *const names[] = {"*", "-nobody"};
	struct bt_controllers_options options = options_of(names, 2);
	struct berth_error err = {0};

	ck_assert_int_eq(bt_controllers_check_names(&options, &err), BERTH_ERR_INVALID);
	ck_assert_str_eq(
		berth_error_message(&err), "\"nobody\" is not in the list of known controllers");
	berth_error_finish(&err);
}
END_TEST

START_TEST(test_hub__queue_keeps_each_key_once_and_backs_off)
{
	struct bt_hub *hub = BT_NEW(struct bt_hub);
	struct bt_hub_queue *queue = &hub->queue;
	int64_t now = 0;
	int64_t wait = 5000000;
	uint32_t item;

	bt_heap_init(&queue->delayed, NULL, queue);
	hub->current = 3;
	bt_hub_enqueue(hub, BT_STR("a"));
	bt_hub_enqueue(hub, BT_STR("b"));
	bt_hub_enqueue(hub, BT_STR("a"));
	hub->current = 4;
	bt_hub_enqueue(hub, BT_STR("a"));
	ck_assert_uint_eq(bt_fifo_count(&queue->ready[3]), 2);
	ck_assert_uint_eq(bt_fifo_count(&queue->ready[4]), 1);
	for (int i = 0; i < 25; i++) {
		item = bt_hub_queue_take(queue, 4);
		bt_hub_queue_done(queue, item, false, now);
		ck_assert_int_eq(bt_hub_queue_next_due(queue), now + wait);
		now += wait;
		wait = wait * 2 < INT64_C(1000000000000) ? wait * 2 : INT64_C(1000000000000);
		bt_hub_queue_promote(queue, now - 1);
		ck_assert_uint_eq(bt_fifo_count(&queue->ready[4]), 0);
		bt_hub_queue_promote(queue, now);
		ck_assert_uint_eq(bt_fifo_count(&queue->ready[4]), 1);
	}
	item = bt_hub_queue_take(queue, 4);
	bt_hub_queue_done(queue, item, true, now);
	ck_assert_int_eq(bt_hub_queue_next_due(queue), INT64_MAX);
	/* The queue returns keys in the order in which they were added. */
	item = bt_hub_queue_take(queue, 3);
	ck_assert_str_eq(queue->items.items[item].key, "a");
	hub->current = 3;
	bt_hub_enqueue(hub, BT_STR("a"));
	bt_hub_queue_done(queue, item, true, now);
	ck_assert_uint_eq(bt_fifo_count(&queue->ready[3]), 2);
	hub->current = 5;
	bt_hub_enqueue_at(hub, BT_STR("late"), 90);
	bt_hub_enqueue_at(hub, BT_STR("late"), 70);
	bt_hub_enqueue_at(hub, BT_STR("late"), 80);
	ck_assert_int_eq(bt_hub_queue_next_due(queue), 70);
	bt_hub_queue_finish(queue);
	bt_free(hub);
}
END_TEST

START_TEST(test_hub__repeated_events_count_up)
{
	struct world world;
	struct bt_str keys[4];
	struct bt_hub *hub;
	const struct bt_api_resource *pods;
	const struct bt_json_value *event;

	world_init(&world);
	hub = world.controllers;
	pods = world_resource(&world, "", "pods");
	world_create(&world, "", "pods",
		"{'metadata':{'name':'p'},'spec':{'containers':[{'name':'c','image':'i:1'}]}}",
		201);
	for (int i = 0; i < 40; i++) {
		bt_hub_event(hub, "tester", pods, world_get(&world, "", "pods", "default/p"),
			"Normal", "Tested", BT_STR("again"));
	}
	ck_assert_uint_eq(world_list(&world, "", "events", NULL, NULL, keys, 4), 1);
	event = world_get(&world, "", "events", keys[0].data);
	/* A burst of 25 events is written at once, then one more event every five minutes. */
	ck_assert_int_eq(bt_json_int64_at(event, "count", 0), 25);
	ck_assert(bt_str_equal_c(bt_json_text_at(event, "involvedObject.name"), "p"));
	ck_assert(bt_str_equal_c(bt_json_text_at(event, "source.component"), "tester"));
	ck_assert(bt_str_has_prefix(keys[0], BT_STR("default/p.")));
	world_finish(&world);
}
END_TEST

START_TEST(test_pod_index__follows_pods)
{
	struct world world;
	const struct bt_hub *hub;
	const struct bt_indexed_pod *record;
	struct bt_str uid;

	world_init(&world);
	hub = world.controllers;
	world.hold_new_pods = true;
	world_create(&world, "apps", "replicasets",
		"{'metadata':{'name':'web'},'spec':{'replicas':3,'selector':{'matchLabels':"
		"{'app':'web'}},'template':{'metadata':{'labels':{'app':'web'}},"
		"'spec':{'containers':[{'name':'c','image':'i:1'}]}}}}",
		201);
	world_create(&world, "", "pods",
		"{'metadata':{'name':'p','labels':{'a':'b'}},'spec':{'nodeName':'n1',"
		"'containers':[{'name':'c','image':'i:1'}]}}",
		201);
	world_run(&world);
	uid = bt_json_text_at(
		world_get(&world, "apps", "replicasets", "default/web"), "metadata.uid");
	record = bt_pod_index_of_owner(hub, uid);
	for (int i = 0; i < 3; i++) {
		ck_assert_ptr_nonnull(record);
		record = record->next[BT_PODS_OF_OWNER];
	}
	ck_assert_ptr_null(record);
	record = bt_pod_index_on_node(hub, BT_STR("n1"));
	ck_assert_ptr_nonnull(record);
	ck_assert(bt_str_equal_c(record->key, "default/p"));
	ck_assert_ptr_eq(record, bt_pod_index_orphans(hub, BT_STR("default/any")));
	ck_assert_ptr_eq(record, bt_pod_index_find(hub, BT_STR("default/p")));
	world_set_pod(&world, "default/p", "Running", true);
	world_run(&world);
	ck_assert(record->ready);
	ck_assert_int_eq(record->phase, BT_POD_RUNNING);
	world_delete(&world, "apps", "replicasets", "default/web");
	world_delete(&world, "", "pods", "default/p");
	world_run(&world);
	ck_assert(bt_pod_index_find(hub, BT_STR("default/p"))->deleting);
	world_settle(&world);
	ck_assert_ptr_null(bt_pod_index_find(hub, BT_STR("default/p")));
	ck_assert_ptr_null(bt_pod_index_on_node(hub, BT_STR("n1")));
	world_finish(&world);
}
END_TEST

START_TEST(test_hub__objects_at_the_start_are_observed)
{
	static const char *const names[] = {"replicaset-controller"};
	struct bt_controllers_options options = options_of(names, 1);
	struct world world;
	struct bt_str keys[4];
	struct bt_hub *second;

	world_init(&world);
	world.hold_new_pods = true;
	world_create(&world, "apps", "replicasets",
		"{'metadata':{'name':'web'},'spec':{'replicas':2,'selector':{'matchLabels':"
		"{'app':'web'}},'template':{'metadata':{'labels':{'app':'web'}},"
		"'spec':{'containers':[{'name':'c','image':'i:1'}]}}}}",
		201);
	world_run(&world);
	ck_assert_uint_eq(world_list(&world, "", "pods", NULL, NULL, keys, 4), 2);
	world_delete(&world, "", "pods", keys[0].data);
	ck_assert_int_eq(bt_controllers_create(world.api, &options, &second, NULL), 0);
	world.controllers = second;
	world_run(&world);
	ck_assert_ptr_nonnull(bt_pod_index_find(second, keys[1]));
	ck_assert_uint_eq(world_active_pods(&world), 2);
	bt_controllers_destroy(second);
	world_finish(&world);
}
END_TEST

/** A new object is observed within its commit, unless earlier changes are still queued. */
START_TEST(test_hub__creates_are_observed_in_order)
{
	static const char pod[] = "{'metadata':{'name':'p'},'spec':{'terminationGracePeriodSeconds'"
				  ":0,'nodeName':'n1','containers':[{'name':'c','image':'i:1'}]}}";
	struct world world;
	const struct bt_hub *hub;

	world_init(&world);
	world_run(&world);
	hub = world.controllers;
	world_create(&world, "", "pods", pod, 201);
	ck_assert_uint_eq(hub->notes.count, 0);
	ck_assert_ptr_nonnull(bt_pod_index_find(hub, BT_STR("default/p")));
	world_delete(&world, "", "pods", "default/p");
	world_create(&world, "", "pods", pod, 201);
	ck_assert_uint_ne(hub->notes.count, 0);
	world_run(&world);
	ck_assert(bt_str_equal(bt_pod_index_find(hub, BT_STR("default/p"))->uid,
		bt_json_text_at(world_get(&world, "", "pods", "default/p"), "metadata.uid")));
	world_finish(&world);
}
END_TEST

BT_TEST_MAIN("hub", test_hub__names_of_controllers_to_run, test_hub__unknown_names_are_errors,
	test_hub__queue_keeps_each_key_once_and_backs_off, test_hub__repeated_events_count_up,
	test_pod_index__follows_pods, test_hub__objects_at_the_start_are_observed,
	test_hub__creates_are_observed_in_order)
