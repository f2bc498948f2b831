/* SPDX-License-Identifier: Apache-2.0 */
/** Changes of objects update the scheduler's cache and queue: spec 03 section 10. */
#include "framework/cluster_event.h"
#include "life_world.h"
#include "test_main.h"

#define ROLES (FAKE_ROLE(FAKE_FILTER) | FAKE_ROLE(FAKE_EVENTS))

static struct script plugin_p;
static struct life life;
static uint32_t hint_calls;

static bool count_and_skip(const struct bt_hint_call *call)
{
	ck_assert(call->old_object != NULL && call->new_object != NULL);
	hint_calls++;
	return false;
}

/* Starts a scheduler. rejects: P rejects every pod; any event requeues P's pods. */
static void init(bool rejects)
{
	plugin_p = script_make("P", ROLES & ~FAKE_ROLE(FAKE_EVENTS), SCRIPT_PLAIN);
	if (rejects) {
		fake_answer(&plugin_p.fake, FAKE_FILTER, BT_STATUS_UNSCHEDULABLE, "r");
	}
	life_init(&life, "P", (struct script *[]){&plugin_p}, 1);
	life_node(&life, "n1", "");
}

static void add_rejected(const char *name, const char *more)
{
	life_pod(&life, name, "", more);
	ck_assert_int_eq(life_schedule(&life).outcome, BT_ATTEMPT_FAILED);
	ck_assert_str_eq(life_place(&life, name), "unschedulable");
}

START_TEST(test_scheduler__edge_03_39_binding_is_confirmed)
{
	init(false);
	life_pod(&life, "p", "", "");
	ck_assert_int_eq(life_schedule(&life).outcome, BT_ATTEMPT_BOUND);
	ck_assert(life_is_assumed(&life, "p"));
	(void)life_log(&life);
	life_pod(&life, "p", "", "'spec':{'nodeName':'n1'}");
	ck_assert(!life_is_assumed(&life, "p"));
	ck_assert_uint_eq(life_pod_count(&life), 1);
	ck_assert_str_eq(life_node_of(&life, "uid-p"), "n1");
	ck_assert_str_eq(life_place(&life, "p"), "-");
	ck_assert_str_eq(life_log(&life), "");
	life_delete(&life, BT_KIND_POD, "default", "p");
	ck_assert_uint_eq(life_pod_count(&life), 0);
	life_finish(&life);
}
END_TEST

/* Another client binds the pod while it is queued. */
START_TEST(test_scheduler__edge_03_39_bound_out_of_the_queue)
{
	init(true);
	add_rejected("p", "");
	life_pod(&life, "p", "", "'spec':{'nodeName':'n1'}");
	ck_assert_str_eq(life_place(&life, "p"), "-");
	ck_assert_uint_eq(life_pod_count(&life), 1);
	life_finish(&life);
}
END_TEST

static uint32_t queued_labels(void)
{
	const struct bt_queue_entry *entry =
		bt_queue_find(bt_scheduler_queue(life.scheduler), BT_STR("default"), BT_STR("p"));

	ck_assert_ptr_nonnull(entry);
	return ((const struct bt_pod *)entry->object->value)->metadata.labels.count;
}

static void relabel(const char *resource_version)
{
	struct bt_object *old = bt_object_store_find_object(
		&life.objects, BT_KIND_POD, BT_STR("default"), BT_STR("p"));
	struct bt_str json = bt_arena_printf(&life.arena,
		"{'metadata':{'name':'p','namespace':'default','uid':'uid-p',"
		"'resourceVersion':'%s','labels':{'a':'b'}}}",
		resource_version);

	(void)life_object(&life, BT_KIND_POD, json.data, old);
}

START_TEST(test_scheduler__edge_03_43_same_resource_version)
{
	init(true);
	add_rejected("p", "");
	relabel(bt_arena_printf(&life.arena, "%u", life.version).data);
	ck_assert_str_eq(life_place(&life, "p"), "unschedulable");
	ck_assert_uint_eq(queued_labels(), 0);
	relabel("another");
	ck_assert_str_eq(life_place(&life, "p"), "backoff");
	ck_assert_uint_eq(queued_labels(), 1);
	life_finish(&life);
}
END_TEST

START_TEST(test_scheduler__edge_03_44_nomination_changes)
{
	static const struct {
		const char *before;
		const char *after;
		const char *place; /* of waiting pods whose priority is at most p's */
	} rows[] = {
		{"n1", "n2", "backoff"},
		{"n1", "", "backoff"},
		{"", "n1", "unschedulable"},
		{"n1", "n1", "unschedulable"},
	};

	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		init(true);
		add_rejected("lower", "'spec':{'priority':5}");
		add_rejected("equal", "'spec':{'priority':10}");
		add_rejected("higher", "'spec':{'priority':11}");
		life_pod(&life, "p", "",
			bt_arena_printf(&life.arena,
				"'spec':{'priority':10},'status':{'nominatedNodeName':'%s'}",
				rows[i].before)
				.data);
		life_pod(&life, "p", "",
			bt_arena_printf(&life.arena,
				"'spec':{'priority':10},'status':{'nominatedNodeName':'%s'}",
				rows[i].after)
				.data);
		ck_assert_msg(strcmp(life_place(&life, "lower"), rows[i].place) == 0, "row %u", i);
		ck_assert_msg(strcmp(life_place(&life, "equal"), rows[i].place) == 0, "row %u", i);
		ck_assert_str_eq(life_place(&life, "higher"), "unschedulable");
		ck_assert_uint_eq(life_moved_by(&life, "AssignedPodDelete"),
			strcmp(rows[i].place, "backoff") == 0 ? 2 : 0);
		life_finish(&life);
	}
}
END_TEST

START_TEST(test_scheduler__edge_03_45_deletion_missed_by_the_watch)
{
	struct bt_object *stale;
	struct berth_error err = BERTH_ERROR_INIT;

	init(true);
	add_rejected("w", "");
	life_pod(&life, "p", "", "");
	stale = bt_object_share(bt_object_store_find_object(
		&life.objects, BT_KIND_POD, BT_STR("default"), BT_STR("p")));
	life_pod(&life, "p", "", "'spec':{'nodeName':'n1'}");
	ck_assert_uint_eq(life_pod_count(&life), 1);
	life_advance(&life, 60);
	while (life_schedule(&life).outcome != BT_ATTEMPT_IDLE) {
	}
	ck_assert_str_eq(life_place(&life, "w"), "unschedulable");
	ck_assert_int_eq(bt_scheduler_observe_lost(life.scheduler, stale, life.now_ns, &err), 0);
	ck_assert_uint_eq(life_pod_count(&life), 0);
	ck_assert_str_eq(life_place(&life, "w"), "backoff");
	bt_object_release(stale);
	life_finish(&life);
}
END_TEST

/* The watch missed the deletion of a pending pod. */
START_TEST(test_scheduler__lost_pod_leaves_the_queue)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_object *pod;

	init(true);
	add_rejected("p", "");
	pod = bt_object_store_find_object(
		&life.objects, BT_KIND_POD, BT_STR("default"), BT_STR("p"));
	ck_assert_int_eq(bt_scheduler_observe_lost(life.scheduler, pod, life.now_ns, &err), 0);
	ck_assert_str_eq(life_place(&life, "p"), "-");
	/* The watch missed the deletion of a node. */
	pod = bt_object_store_find_object(&life.objects, BT_KIND_NODE, BT_STR(""), BT_STR("n1"));
	ck_assert_int_eq(bt_scheduler_observe_lost(life.scheduler, pod, life.now_ns, &err), 0);
	life_pod(&life, "q", "", "");
	ck_assert_str_eq(life_schedule(&life).message.data, "no nodes available to schedule pods");
	life_finish(&life);
}
END_TEST

#define HEARTBEAT(time) \
	"'status':{'allocatable':{'pods':'3'},'conditions':[{'type':'Ready','status':'True'," \
	"'lastHeartbeatTime':'" time "'}]}"

static int64_t generation_of_n1(void)
{
	const struct bt_state *state = bt_scheduler_engine(life.scheduler)->state;

	return state->nodes.rows[bt_state_snapshot_find(state, BT_STR("n1"))].generation;
}

START_TEST(test_scheduler__edge_03_46_heartbeat)
{
	init(true);
	life_node(&life, "n1", HEARTBEAT("2026-01-01T00:00:00Z"));
	add_rejected("w", "");
	int64_t generation = generation_of_n1();
	life_node(&life, "n1", HEARTBEAT("2026-01-01T00:00:10Z"));
	ck_assert_str_eq(life_place(&life, "w"), "unschedulable");
	ck_assert_int_gt(generation_of_n1(), generation);
	/* A change that matters requeues the pod. */
	life_node(&life, "n1",
		"'status':{'allocatable':{'pods':'3'},'conditions':[{'type':'Ready',"
		"'status':'False'}]}");
	ck_assert_str_eq(life_place(&life, "w"), "backoff");
	life_finish(&life);
}
END_TEST

START_TEST(test_scheduler__edge_03_47_uncordoned_and_untainted)
{
	static const struct bt_event_registration taints = {
		{BT_RESOURCE_NODE, BT_ACTION_UPDATE_NODE_TAINT}, count_and_skip};

	plugin_p = script_make("P", ROLES, SCRIPT_PLAIN);
	plugin_p.fake.events = &taints;
	plugin_p.fake.event_count = 1;
	fake_answer(&plugin_p.fake, FAKE_FILTER, BT_STATUS_UNSCHEDULABLE, "r");
	life_init(&life, "P", (struct script *[]){&plugin_p}, 1);
	life_node(&life, "n1",
		"'spec':{'unschedulable':true,'taints':[{'key':'k','effect':'NoSchedule'}]}");
	add_rejected("w", "");
	hint_calls = 0;
	life_node(&life, "n1", "");
	ck_assert_uint_eq(hint_calls, 2);
	ck_assert_str_eq(life_place(&life, "w"), "unschedulable");
	/* Cordoning is no event; adding a taint is an event. */
	life_node(&life, "n1", "'spec':{'unschedulable':true}");
	ck_assert_uint_eq(hint_calls, 2);
	life_node(&life, "n1",
		"'spec':{'unschedulable':true,'taints':[{'key':'k','effect':'NoSchedule'}]}");
	ck_assert_uint_eq(hint_calls, 3);
	life_finish(&life);
}
END_TEST

START_TEST(test_scheduler__edge_03_48_pod_of_another_scheduler)
{
	init(true);
	add_rejected("w", "");
	life_pod(
		&life, "p", "", "'spec':{'schedulerName':'x'},'status':{'nominatedNodeName':'n1'}");
	ck_assert_str_eq(life_place(&life, "p"), "-");
	ck_assert_int_eq(life_schedule(&life).outcome, BT_ATTEMPT_IDLE);
	life_pod(&life, "p", "'labels':{'a':'b'}", "'spec':{'schedulerName':'x'}");
	life_delete(&life, BT_KIND_POD, "default", "p");
	ck_assert_str_eq(life_place(&life, "w"), "unschedulable");
	struct bt_str node_name;
	ck_assert(!bt_nominator_find(
		&bt_scheduler_engine(life.scheduler)->nominator, BT_STR("uid-p"), &node_name));
	/* The pod counts once it is assigned to a node. */
	life_pod(&life, "p", "", "'spec':{'schedulerName':'x','nodeName':'n1'}");
	ck_assert_uint_eq(life_pod_count(&life), 1);
	ck_assert_str_eq(life_place(&life, "w"), "backoff");
	life_finish(&life);
}
END_TEST

BT_TEST_MAIN("scheduler_events", test_scheduler__edge_03_39_binding_is_confirmed,
	test_scheduler__edge_03_39_bound_out_of_the_queue,
	test_scheduler__edge_03_43_same_resource_version,
	test_scheduler__edge_03_44_nomination_changes,
	test_scheduler__edge_03_45_deletion_missed_by_the_watch,
	test_scheduler__lost_pod_leaves_the_queue, test_scheduler__edge_03_46_heartbeat,
	test_scheduler__edge_03_47_uncordoned_and_untainted,
	test_scheduler__edge_03_48_pod_of_another_scheduler)
