/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the scheduler drives the queue: it passes object changes on and returns failed pods. Spec: 04
 * section 11, 04 (hints) section 4.2.
 */
#include "framework/cluster_event.h"
#include "queue_fixture.h"
#include "sched/scheduler.h"
#include "test_main.h"

/** A scheduler and a fixture that creates the objects; the fixture's queue stays empty. */
struct world {
	struct queue_fixture objects;
	struct bt_scheduler *scheduler;
	struct bt_queue *queue;
	struct bt_strbuf events; /* texts of events, one on each line */
	int64_t now_ns;
	/* Changes that happen to the pod while its binding is in flight. */
	struct bt_object *gone;
	struct bt_object *changed;
	struct bt_object *created;
};

static void observe(struct world *world, struct bt_object *old_object, struct bt_object *new_object)
{
	struct berth_error err = BERTH_ERROR_INIT;
	int code = bt_scheduler_observe(
		world->scheduler, old_object, new_object, world->now_ns++, &err);

	ck_assert_msg(code == 0, "%s", berth_error_message(&err));
}

static int fail_to_bind(void *context, BT_UNUSED const struct bt_pod_info *pod,
	BT_UNUSED struct bt_str node_name, struct berth_error *err)
{
	struct world *world = context;

	if (world->gone != NULL) {
		observe(world, world->gone, world->changed);
	}
	if (world->created != NULL) {
		observe(world, NULL, world->created);
	}
	return world->gone != NULL ? bt_error_set(err, BERTH_ERR_INVALID, "conflict") : 0;
}

static void note_event(void *context, BT_UNUSED const struct bt_pod *pod, const char *type,
	const char *reason, BT_UNUSED const char *action, struct bt_str note)
{
	struct world *world = context;

	bt_strbuf_printf(&world->events, "%s %s %.*s\n", type, reason, BT_STR_ARG(note));
}

static void world_init(struct world *world)
{
	const struct bt_engine_options options = BT_ENGINE_OPTIONS_INIT;
	const struct bt_scheduler_writer writer = {
		.context = world, .bind = fail_to_bind, .event = note_event};
	struct berth_error err = BERTH_ERROR_INIT;
	int code;

	*world = (struct world){.now_ns = 100 * QUEUE_SECOND};
	queue_init(&world->objects);
	code = bt_scheduler_create(
		world->objects.config, &options, &writer, &world->scheduler, &err);
	ck_assert_msg(code == 0, "%s", berth_error_message(&err));
	world->queue = bt_scheduler_queue(world->scheduler);
}

static void world_finish(struct world *world)
{
	bt_scheduler_destroy(world->scheduler);
	bt_strbuf_finish(&world->events);
	queue_finish(&world->objects);
}

static struct bt_object *pod(struct world *world, const char *json)
{
	return queue_pod(&world->objects, json);
}

static enum bt_attempt_outcome try_one(struct world *world)
{
	struct bt_attempt attempt;

	(void)bt_scheduler_step(world->scheduler, world->now_ns++, &attempt);
	return attempt.outcome;
}

static const struct bt_queue_entry *find(struct world *world, const char *name)
{
	return bt_queue_find(world->queue, BT_STR("default"), bt_str_from(name));
}

static void add_node(struct world *world, const char *name)
{
	struct bt_str json = bt_arena_printf(&world->objects.arena,
		"{'metadata':{'name':'%s'},'status':{'allocatable':{'pods':'9'}}}", name);

	observe(world, NULL, queue_object(&world->objects, BT_KIND_NODE, json.data));
}

/** Returns the text of the in-flight log; a pod must be in flight. */
static const char *log_text(struct world *world)
{
	struct bt_queue *own = world->objects.queue;
	const char *text;

	world->objects.queue = world->queue;
	text = queue_log(&world->objects);
	world->objects.queue = own;
	return text;
}

/** Adds and pops a pod that stays in flight until the end of the test. */
static struct bt_queue_entry *take_off(struct world *world)
{
	observe(world, NULL, pod(world, "{'metadata':{'name':'flying'},'spec':{'priority':99}}"));
	return bt_queue_pop(world->queue);
}

#define DELETING(version) \
	"{'metadata':{'name':'a','resourceVersion':'" version "'," \
	"'deletionTimestamp':'2024-01-01T00:00:00Z'}}"

START_TEST(test_queue_scheduler__edge_04_32_update_of_a_dropped_pod)
{
	static const char note[] =
		"Warning FailedScheduling skip schedule deleting pod: default/a\n";
	struct world world;
	struct bt_object *first;

	world_init(&world);
	first = pod(&world, DELETING("1"));
	observe(&world, NULL, first);
	ck_assert_int_eq(try_one(&world), BT_ATTEMPT_SKIPPED);
	ck_assert_ptr_null(find(&world, "a"));
	observe(&world, first, pod(&world, DELETING("2")));
	ck_assert_ptr_nonnull(find(&world, "a"));
	ck_assert_int_eq(find(&world, "a")->place, BT_QUEUE_ACTIVE);
	ck_assert_uint_eq(find(&world, "a")->attempts, 0);
	bt_strbuf_reset(&world.events);
	ck_assert_int_eq(try_one(&world), BT_ATTEMPT_SKIPPED);
	ck_assert_str_eq(bt_strbuf_c(&world.events), note);
	ck_assert_uint_eq(bt_queue_in_flight_count(world.queue), 0);
	world_finish(&world);
}
END_TEST

START_TEST(test_queue_scheduler__edge_04_35_recreated_while_in_flight)
{
	struct world world;

	world_init(&world);
	add_node(&world, "n1");
	world.gone = pod(&world, "{'metadata':{'name':'a','uid':'first'}}");
	world.created = pod(&world, "{'metadata':{'name':'a','uid':'second'}}");
	observe(&world, NULL, world.gone);
	ck_assert_int_eq(try_one(&world), BT_ATTEMPT_FAILED);
	ck_assert_ptr_nonnull(find(&world, "a"));
	ck_assert_int_eq(find(&world, "a")->place, BT_QUEUE_ACTIVE);
	ck_assert(bt_str_equal_c(find(&world, "a")->pod.uid, "second"));
	ck_assert_uint_eq(find(&world, "a")->attempts, 0);
	ck_assert_uint_eq(bt_queue_in_flight_count(world.queue), 0);
	ck_assert_str_eq(bt_strbuf_c(&world.events), "");
	world_finish(&world);
}
END_TEST

START_TEST(test_queue_scheduler__edge_04_36_bound_by_somebody_else)
{
	struct world world;

	world_init(&world);
	add_node(&world, "n1");
	add_node(&world, "n2");
	world.gone = pod(&world, "{'metadata':{'name':'a'}}");
	world.changed = pod(&world, "{'metadata':{'name':'a'},'spec':{'nodeName':'n2'}}");
	observe(&world, NULL, world.gone);
	ck_assert_int_eq(try_one(&world), BT_ATTEMPT_FAILED);
	ck_assert_ptr_null(find(&world, "a"));
	ck_assert_uint_eq(bt_queue_in_flight_count(world.queue), 0);
	world_finish(&world);
}
END_TEST

START_TEST(test_queue_scheduler__edge_04h_14_bound_by_this_scheduler)
{
	struct world world;
	struct bt_object *before;
	struct bt_queue_entry *flying;

	world_init(&world);
	add_node(&world, "n1");
	flying = take_off(&world);
	before = pod(&world, "{'metadata':{'name':'a'}}");
	observe(&world, NULL, before);
	ck_assert_int_eq(try_one(&world), BT_ATTEMPT_BOUND);
	observe(&world, before, pod(&world, "{'metadata':{'name':'a'},'spec':{'nodeName':'n1'}}"));
	ck_assert_str_eq(log_text(&world), "AssignedPodAdd 1, PodPopped 1");
	ck_assert_ptr_null(find(&world, "a"));
	bt_queue_release(world.queue, flying);
	world_finish(&world);
}
END_TEST

START_TEST(test_queue_scheduler__edge_04h_15_succeeded_is_deleted)
{
	struct world world;
	struct bt_object *before;
	struct bt_queue_entry *flying;

	world_init(&world);
	add_node(&world, "n1");
	before = pod(&world, "{'metadata':{'name':'a'},'spec':{'nodeName':'n1'}}");
	observe(&world, NULL, before);
	flying = take_off(&world);
	observe(&world, before,
		pod(&world,
			"{'metadata':{'name':'a'},'spec':{'nodeName':'n1'},"
			"'status':{'phase':'Succeeded'}}"));
	ck_assert_str_eq(log_text(&world), "AssignedPodDelete 1, PodPopped 1");
	bt_queue_release(world.queue, flying);
	world_finish(&world);
}
END_TEST

START_TEST(test_queue_scheduler__edge_04h_16_unscheduled_pod_deleted)
{
	struct world world;
	struct bt_object *before;
	struct bt_queue_entry *flying;

	world_init(&world);
	before = pod(&world, "{'metadata':{'name':'a'}}");
	observe(&world, NULL, before);
	flying = take_off(&world);
	observe(&world, before, NULL);
	ck_assert_str_eq(log_text(&world), "PodPopped 1");
	bt_queue_release(world.queue, flying);
	world_finish(&world);
}
END_TEST

/** Adds a pod and lets NodeResourcesFit reject it. */
static struct bt_object *add_rejected(struct world *world, const char *json)
{
	struct bt_object *added = pod(world, json);
	struct bt_queue_rejection rejection = {0};
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_queue_entry *entry;

	bt_rejectors_add(&rejection.unschedulable_plugins,
		bt_queue_find_rejector(world->queue, 0, BT_STR("NodeResourcesFit")));
	observe(world, NULL, added);
	entry = bt_queue_pop(world->queue);
	ck_assert_ptr_eq(entry->object, added);
	ck_assert_int_eq(bt_queue_add_unschedulable_if_not_present(
				 world->queue, entry, &rejection, world->now_ns++, &err),
		0);
	return added;
}

START_TEST(test_queue_scheduler__edge_04h_17_nomination_is_lost)
{
#define POD(name, priority, more) \
	"{'metadata':{'name':'" name "'," more "},'spec':{'priority':" priority "}"
	struct world world;
	struct bt_object *nominated;

	world_init(&world);
	nominated = add_rejected(&world,
		POD("self", "10", "'resourceVersion':'1'") ",'status':{'nominatedNodeName':'n1'}}");
	(void)add_rejected(&world, POD("low", "5", "'resourceVersion':'1'") "}");
	(void)add_rejected(&world, POD("high", "20", "'resourceVersion':'1'") "}");
	observe(&world, nominated, pod(&world, POD("self", "10", "'resourceVersion':'2'") "}"));
	ck_assert_int_eq(find(&world, "self")->place, BT_QUEUE_BACKOFF);
	ck_assert_int_eq(find(&world, "low")->place, BT_QUEUE_BACKOFF);
	ck_assert_int_eq(find(&world, "high")->place, BT_QUEUE_UNSCHEDULABLE);
	world_finish(&world);
}
END_TEST

BT_TEST_MAIN("queue_scheduler", test_queue_scheduler__edge_04_32_update_of_a_dropped_pod,
	test_queue_scheduler__edge_04_35_recreated_while_in_flight,
	test_queue_scheduler__edge_04_36_bound_by_somebody_else,
	test_queue_scheduler__edge_04h_14_bound_by_this_scheduler,
	test_queue_scheduler__edge_04h_15_succeeded_is_deleted,
	test_queue_scheduler__edge_04h_16_unscheduled_pod_deleted,
	test_queue_scheduler__edge_04h_17_nomination_is_lost)
