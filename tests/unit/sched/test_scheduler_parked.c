/* SPDX-License-Identifier: Apache-2.0 */
/** The queue packs waiting pods; packing must not change any decision. */
#include <check.h>
#include <stdio.h>

#include "api/pod_common.h"
#include "sched/scheduler.h"
#include "test_main.h"
#include "validate/validate.h"

#define PODS 12
#define SHAPES 2

static struct {
	struct bt_config *config;
	struct bt_scheduler *scheduler;
	struct bt_pod_commons commons;
	struct bt_object *pods[PODS]; /* references as a reflector holds them; NULL: deleted */
	uint32_t version;
	int64_t now_ns;
	struct bt_strbuf bound;
} world;

static struct bt_object *decode(enum bt_kind kind, const char *json)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_object *object = NULL;
	struct bt_object *sharing;
	struct bt_json_reader reader;

	bt_json_reader_init(&reader, bt_str_from(json));
	ck_assert_msg(bt_object_decode_as(kind, &reader, &object, &err) == 0, "%s",
		berth_error_message(&err));
	if (kind != BT_KIND_POD) {
		return object;
	}
	sharing = bt_object_create_pod(object->value, NULL, &world.commons);
	bt_object_release(object);
	return sharing;
}

static void observe(struct bt_object *old_object, struct bt_object *new_object)
{
	struct berth_error err = BERTH_ERROR_INIT;

	ck_assert_msg(bt_scheduler_observe(
			      world.scheduler, old_object, new_object, world.now_ns, &err) == 0,
		"%s", berth_error_message(&err));
}

static void tell(uint32_t number, struct bt_object *pod)
{
	struct bt_object *old_pod = world.pods[number];

	observe(old_pod != NULL ? bt_object_unpack(old_pod) : NULL, pod);
	bt_object_release(old_pod);
	world.pods[number] = pod;
	if (pod != NULL) {
		bt_object_allow_pack(pod);
	}
}

static struct bt_object *make_pod(uint32_t number, const char *label)
{
	char json[512];

	(void)snprintf(json, sizeof(json),
		"{\"metadata\":{\"name\":\"p%u\",\"namespace\":\"a\",\"uid\":\"u%u\","
		"\"resourceVersion\":\"%u\",\"labels\":{\"app\":\"%s\"}},\"spec\":{"
		"\"schedulerName\":\"default-scheduler\",\"containers\":[{\"name\":\"c\","
		"\"resources\":{\"requests\":{\"example.com/d%u\":\"1\"}}}]}}",
		number, number, ++world.version, label, number % SHAPES);
	return decode(BT_KIND_POD, json);
}

static void add_node(uint32_t number, const char *device)
{
	char json[512];
	struct bt_object *node;

	(void)snprintf(json, sizeof(json),
		"{\"metadata\":{\"name\":\"n%u\"},\"status\":{\"allocatable\":{\"cpu\":\"9\","
		"\"memory\":\"9Gi\",\"pods\":\"110\"%s}}}",
		number, device);
	node = decode(BT_KIND_NODE, json);
	observe(NULL, node);
	bt_object_release(node);
}

static int bind(void *context BT_UNUSED, const struct bt_pod_info *pod, struct bt_str node_name,
	struct berth_error *err BT_UNUSED)
{
	bt_strbuf_printf(&world.bound, "%.*s/%.*s %.*s %.*s\n", BT_STR_ARG(pod->namespace_),
		BT_STR_ARG(pod->name), BT_STR_ARG(pod->uid), BT_STR_ARG(node_name));
	return 0;
}

static void schedule_all(void)
{
	struct bt_attempt attempt;

	do {
		const char *reason;

		world.now_ns++; /* gives the pods an order */
		(void)bt_scheduler_step(world.scheduler, world.now_ns, &attempt);
		ck_assert_msg(bt_queue_validate(bt_scheduler_queue(world.scheduler), &reason), "%s",
			reason);
	} while (attempt.outcome != BT_ATTEMPT_IDLE);
}

static uint32_t packed_count(void)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < PODS; i++) {
		count += world.pods[i] != NULL && world.pods[i]->value == NULL;
	}
	return count;
}

static void set_up(void)
{
	const struct bt_scheduler_writer writer = {.bind = bind};
	struct bt_engine_options options = BT_ENGINE_OPTIONS_INIT;
	struct bt_gates gates = bt_gates_default();
	struct berth_error err = BERTH_ERROR_INIT;

	memset(&world, 0, sizeof(world));
	world.now_ns = INT64_C(1000000000000);
	world.config = bt_config_create_default(&gates);
	ck_assert_int_eq(
		bt_scheduler_create(world.config, &options, &writer, &world.scheduler, &err), 0);
	add_node(0, "");
	/* Decode a pod of each shape first, so that all later pods share its parts. */
	for (uint32_t i = 0; i < SHAPES; i++) {
		bt_object_release(make_pod(i, "x"));
	}
	for (uint32_t i = 0; i < PODS; i++) {
		tell(i, make_pod(i, "x"));
		schedule_all();
	}
	world.now_ns += INT64_C(60000000000);
	bt_queue_tick(bt_scheduler_queue(world.scheduler), world.now_ns);
}

static void tear_down(void)
{
	bt_scheduler_destroy(world.scheduler);
	for (uint32_t i = 0; i < PODS; i++) {
		if (world.pods[i] != NULL) {
			bt_object_release_packable(world.pods[i]);
		}
	}
	bt_pod_commons_finish(&world.commons);
	bt_config_unref(world.config);
	bt_strbuf_finish(&world.bound);
}

START_TEST(test_scheduler_parked__all_but_one_of_a_shape)
{
	set_up();
	ck_assert_uint_eq(packed_count(), PODS - SHAPES);
	tear_down();
}
END_TEST

START_TEST(test_scheduler_parked__requeued_in_order_and_placed)
{
	set_up();
	add_node(1, ",\"example.com/d1\":\"3\"");
	schedule_all();
	ck_assert_str_eq(bt_strbuf_c(&world.bound), "a/p1 u1 n1\na/p3 u3 n1\na/p5 u5 n1\n");
	ck_assert_uint_eq(
		bt_queue_count(bt_scheduler_queue(world.scheduler), BT_QUEUE_UNSCHEDULABLE) +
			bt_queue_count(bt_scheduler_queue(world.scheduler), BT_QUEUE_BACKOFF),
		PODS - 3);
	tear_down();
}
END_TEST

START_TEST(test_scheduler_parked__updated_found_and_deleted)
{
	const struct bt_queue_entry *entry;
	const struct bt_object *pod;

	set_up();
	tell(2, make_pod(2, "y"));
	entry = bt_queue_find(bt_scheduler_queue(world.scheduler), BT_STR("a"), BT_STR("p2"));
	ck_assert_ptr_nonnull(entry);
	ck_assert(bt_str_equal_c(entry->pod.uid, "u2"));
	ck_assert(bt_str_equal_c(entry->pod.labels->items[0].value, "y"));
	ck_assert_ptr_eq(entry->pod.object, entry->object->value);
	ck_assert_ptr_null(world.pods[4]->value);
	pod = bt_scheduler_find_pod(world.scheduler, BT_STR("a"), BT_STR("p4"));
	ck_assert_ptr_eq(pod, world.pods[4]);
	ck_assert(bt_str_equal_c(pod->meta->uid, "u4"));
	for (uint32_t i = 0; i < PODS; i += 3) {
		tell(i, NULL);
	}
	add_node(1, ",\"example.com/d0\":\"9\"");
	schedule_all();
	ck_assert_str_eq(
		bt_strbuf_c(&world.bound), "a/p2 u2 n1\na/p4 u4 n1\na/p8 u8 n1\na/p10 u10 n1\n");
	ck_assert_uint_eq(packed_count() + 1, PODS - 4);
	tear_down();
}
END_TEST

BT_TEST_MAIN("scheduler_parked", test_scheduler_parked__all_but_one_of_a_shape,
	test_scheduler_parked__requeued_in_order_and_placed,
	test_scheduler_parked__updated_found_and_deleted)
