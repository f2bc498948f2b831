/* SPDX-License-Identifier: Apache-2.0 */
/** What the living scheduler does with a pod whose attempt failed: spec 03 sections 2.1 and 9. */
#include "life_world.h"
#include "test_main.h"

#define ROLES \
	(FAKE_ROLE(FAKE_FILTER) | FAKE_ROLE(FAKE_RESERVE) | FAKE_ROLE(FAKE_UNRESERVE) | \
		FAKE_ROLE(FAKE_POST_FILTER))

static struct script plugin_p;
static struct life life;
/* Called while Reserve runs; NULL: none. */
static void (*during_reserve)(void);

static struct bt_status reserve(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot)
{
	(void)plugin;
	(void)pod;
	(void)slot;
	during_reserve();
	return bt_status_text(BT_STATUS_UNSCHEDULABLE, cycle->arena, BT_STR("r"));
}

static void init_with_roles(uint32_t roles)
{
	plugin_p = script_make("P", roles, SCRIPT_PLAIN);
	life_init(&life, "P", (struct script *[]){&plugin_p}, 1);
	life_node(&life, "n1", "");
}

static void init(void)
{
	init_with_roles(ROLES);
}

static void init_with_reserve(void (*meanwhile)(void))
{
	init_with_roles(ROLES & ~FAKE_ROLE(FAKE_POST_FILTER));
	during_reserve = meanwhile;
	plugin_p.fake.ops.reserve = reserve;
	life_pod(&life, "p", "", "");
}

static uint32_t in_flight(void)
{
	return bt_queue_in_flight_count(bt_scheduler_queue(life.scheduler));
}

static const struct bt_queue_entry *entry_of_p(void)
{
	const struct bt_queue_entry *entry =
		bt_queue_find(bt_scheduler_queue(life.scheduler), BT_STR("default"), BT_STR("p"));

	ck_assert_ptr_nonnull(entry);
	return entry;
}

static const struct bt_pod *queued(void)
{
	return entry_of_p()->object->value;
}

START_TEST(test_scheduler__edge_03_01_empty_cluster)
{
	init();
	life_delete(&life, BT_KIND_NODE, "", "n1");
	life_pod(&life, "p", "", "'status':{'nominatedNodeName':'n1'}");
	struct bt_attempt attempt = life_schedule(&life);
	ck_assert_str_eq(attempt.reason.data, "Unschedulable");
	ck_assert_str_eq(attempt.message.data, "no nodes available to schedule pods");
	ck_assert_str_eq(life_log(&life),
		"event p Warning FailedScheduling Scheduling no nodes available to schedule pods\n"
		"patch p Unschedulable: no nodes available to schedule pods nominated=\n");
	ck_assert_str_eq(life_place(&life, "p"), "error");
	ck_assert_uint_eq(plugin_p.fake.calls[FAKE_POST_FILTER], 0);
	life_finish(&life);
}
END_TEST

START_TEST(test_scheduler__edge_03_10_filter_error)
{
	init();
	fake_fail(&plugin_p.fake, FAKE_FILTER, "e");
	life_pod(&life, "p", "", "");
	struct bt_attempt attempt = life_schedule(&life);
	ck_assert_str_eq(attempt.reason.data, "SchedulerError");
	ck_assert_str_eq(attempt.message.data, "running \"P\" filter plugin: e");
	ck_assert_str_eq(life_place(&life, "p"), "error");
	ck_assert_uint_eq(plugin_p.fake.calls[FAKE_POST_FILTER], 0);
	life_finish(&life);
}
END_TEST

START_TEST(test_scheduler__edge_03_23_reserve_error)
{
	init();
	fake_fail(&plugin_p.fake, FAKE_RESERVE, "e");
	life_pod(&life, "p", "", "'status':{'nominatedNodeName':'n1'}");
	struct bt_attempt attempt = life_schedule(&life);
	ck_assert_str_eq(attempt.reason.data, "SchedulerError");
	ck_assert_str_eq(life_log(&life),
		"event p Warning FailedScheduling Scheduling running Reserve plugin \"P\": e\n"
		"patch p SchedulerError: running Reserve plugin \"P\": e nominated=\n");
	ck_assert_str_eq(life_place(&life, "p"), "error");
	ck_assert_str_eq(fake_log(), "P.Reserve P.Unreserve");
	ck_assert_uint_eq(life_pod_count(&life), 0);
	life_finish(&life);
}
END_TEST

START_TEST(test_scheduler__edge_03_24_waits_for_the_plugin)
{
	init();
	fake_answer(&plugin_p.fake, FAKE_RESERVE, BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE, "r");
	life_pod(&life, "p", "", "");
	ck_assert_str_eq(life_schedule(&life).message.data, "0/1 nodes are available: 1 r.");
	ck_assert_str_eq(life_place(&life, "p"), "unschedulable");
	ck_assert_str_eq(life_rejectors(&life, "p", false), "P");
	ck_assert_str_eq(life_rejectors(&life, "p", true), "");
	life_node(&life, "n2", "");
	ck_assert_str_eq(life_place(&life, "p"), "backoff");
	life_finish(&life);
}
END_TEST

static void delete_p(void)
{
	life_delete(&life, BT_KIND_POD, "default", "p");
}

START_TEST(test_scheduler__edge_03_31_deleted_during_its_cycle)
{
	init_with_reserve(delete_p);
	ck_assert_int_eq(life_schedule(&life).outcome, BT_ATTEMPT_FAILED);
	ck_assert_str_eq(life_log(&life),
		"event p Warning FailedScheduling Scheduling 0/1 nodes are available: 1 r.\n"
		"patch p Unschedulable: 0/1 nodes are available: 1 r. nominated=\n");
	ck_assert_str_eq(life_place(&life, "p"), "-");
	ck_assert_uint_eq(in_flight(), 0);
	ck_assert_uint_eq(life_pod_count(&life), 0);
	life_finish(&life);
}
END_TEST

static void recreate_p(void)
{
	delete_p();
	(void)life_object(&life, BT_KIND_POD,
		"{'metadata':{'name':'p','namespace':'default','uid':'another'}}", NULL);
	ck_assert_uint_eq(in_flight(), 1);
}

START_TEST(test_scheduler__edge_03_32_recreated_during_its_cycle)
{
	init_with_reserve(recreate_p);
	ck_assert_int_eq(life_schedule(&life).outcome, BT_ATTEMPT_FAILED);
	ck_assert_str_eq(life_log(&life), "");
	ck_assert_uint_eq(in_flight(), 0);
	ck_assert_str_eq(life_place(&life, "p"), "active");
	ck_assert(bt_str_equal_c(queued()->metadata.uid, "another"));
	life_finish(&life);
}
END_TEST

START_TEST(test_scheduler__edge_04_35_recreated_in_flight)
{
	init_with_reserve(recreate_p);
	ck_assert_int_eq(life_schedule(&life).outcome, BT_ATTEMPT_FAILED);
	ck_assert_str_eq(life_log(&life), "");
	ck_assert_uint_eq(in_flight(), 0);
	ck_assert_str_eq(life_place(&life, "p"), "active");
	ck_assert_uint_eq(entry_of_p()->attempts, 0);
	ck_assert(bt_scheduler_engine(life.scheduler)->nominator.nominations.map.count == 0);
	life_finish(&life);
}
END_TEST

static void bind_p(void)
{
	life_pod(&life, "p", "", "'spec':{'nodeName':'n1'}");
}

START_TEST(test_scheduler__edge_04_36_bound_in_flight)
{
	init_with_reserve(bind_p);
	ck_assert_int_eq(life_schedule(&life).outcome, BT_ATTEMPT_FAILED);
	ck_assert_str_eq(life_place(&life, "p"), "-");
	ck_assert_uint_eq(in_flight(), 0);
	ck_assert_uint_eq(life_pod_count(&life), 1);
	life_finish(&life);
}
END_TEST

START_TEST(test_scheduler__edge_04_32_update_of_a_dropped_pod)
{
	static const char deleting[] = "'deletionTimestamp':'2026-01-01T00:00:00Z'";

	init();
	life_pod(&life, "p", deleting, "");
	ck_assert_int_eq(life_schedule(&life).outcome, BT_ATTEMPT_SKIPPED);
	ck_assert_str_eq(life_place(&life, "p"), "-");
	(void)life_log(&life);
	life_pod(&life, "p", deleting, "");
	ck_assert_str_eq(life_place(&life, "p"), "active");
	ck_assert_uint_eq(entry_of_p()->attempts, 0);
	ck_assert_int_eq(life_schedule(&life).outcome, BT_ATTEMPT_SKIPPED);
	ck_assert_str_eq(life_log(&life),
		"event p Warning FailedScheduling Scheduling "
		"skip schedule deleting pod: default/p\n");
	ck_assert_str_eq(life_place(&life, "p"), "-");
	life_finish(&life);
}
END_TEST

START_TEST(test_scheduler__edge_03_34_being_deleted_when_popped)
{
	init();
	life_pod(&life, "p", "'deletionTimestamp':'2026-01-01T00:00:00Z'", "");
	ck_assert_int_eq(life_schedule(&life).outcome, BT_ATTEMPT_SKIPPED);
	ck_assert_str_eq(life_log(&life),
		"event p Warning FailedScheduling Scheduling "
		"skip schedule deleting pod: default/p\n");
	ck_assert_uint_eq(in_flight(), 0);
	ck_assert_str_eq(life_place(&life, "p"), "-");
	ck_assert_uint_eq(plugin_p.fake.calls[FAKE_FILTER], 0);
	life_finish(&life);
}
END_TEST

static void label_p(void)
{
	life_pod(&life, "p", "'labels':{'newer':'yes'}", "");
}

START_TEST(test_scheduler__edge_03_35_updated_in_flight)
{
	init_with_reserve(label_p);
	ck_assert_int_eq(life_schedule(&life).outcome, BT_ATTEMPT_FAILED);
	ck_assert_str_eq(life_rejectors(&life, "p", false), "P");
	ck_assert_uint_eq(queued()->metadata.labels.count, 1);
	ck_assert(bt_str_equal_c(queued()->metadata.labels.items[0].key, "newer"));
	life_finish(&life);
}
END_TEST

#define CONDITION(message) \
	"'status':{'conditions':[{'type':'PodScheduled','status':'False'," \
	"'reason':'Unschedulable','message':'" message \
	"','lastTransitionTime':'2026-01-01T00:00:00Z'}]}"

START_TEST(test_scheduler__edge_03_36_same_condition_again)
{
	init();
	fake_answer(&plugin_p.fake, FAKE_FILTER, BT_STATUS_UNSCHEDULABLE, "r");
	life_pod(&life, "p", "", CONDITION("0/1 nodes are available: 1 r."));
	ck_assert_int_eq(life_schedule(&life).outcome, BT_ATTEMPT_FAILED);
	ck_assert_str_eq(life_log(&life),
		"event p Warning FailedScheduling Scheduling 0/1 nodes are available: 1 r.\n");
	life_pod(&life, "q", "", CONDITION("0/1 nodes are available: 1 s."));
	ck_assert_int_eq(life_schedule(&life).outcome, BT_ATTEMPT_FAILED);
	ck_assert_str_eq(life_log(&life),
		"event q Warning FailedScheduling Scheduling 0/1 nodes are available: 1 r.\n"
		"patch q Unschedulable: 0/1 nodes are available: 1 r.\n");
	life_finish(&life);
}
END_TEST

START_TEST(test_scheduler__edge_03_37_nomination_untouched)
{
	init();
	fake_answer(&plugin_p.fake, FAKE_FILTER, BT_STATUS_UNSCHEDULABLE, "r");
	fake_answer(&plugin_p.fake, FAKE_POST_FILTER, BT_STATUS_UNSCHEDULABLE, "none");
	life_pod(&life, "p", "", "'status':{'nominatedNodeName':'n1'}");
	ck_assert_int_eq(life_schedule(&life).outcome, BT_ATTEMPT_FAILED);
	ck_assert_uint_eq(plugin_p.fake.calls[FAKE_POST_FILTER], 1);
	ck_assert_str_eq(life_log(&life),
		"event p Warning FailedScheduling Scheduling 0/1 nodes are available: 1 r. none\n"
		"patch p Unschedulable: 0/1 nodes are available: 1 r. none\n");
	struct bt_str node_name = BT_STR("");
	ck_assert(bt_nominator_find(
		&bt_scheduler_engine(life.scheduler)->nominator, BT_STR("uid-p"), &node_name));
	ck_assert(bt_str_equal_c(node_name, "n1"));
	life_finish(&life);
}
END_TEST

/* Returns a reason that makes the message this many bytes long. */
static char *reason_for_message(size_t bytes)
{
	static char reason[4096];
	size_t length = bytes - strlen("0/1 nodes are available: 1 .");

	memset(reason, 'x', length);
	reason[length] = '\0';
	return reason;
}

static void expect_note(size_t message_bytes, size_t note_bytes, bool cut)
{
	static const char start[] = "event p Warning FailedScheduling Scheduling ";

	init_with_roles(ROLES & ~FAKE_ROLE(FAKE_POST_FILTER));
	fake_answer(&plugin_p.fake, FAKE_FILTER, BT_STATUS_UNSCHEDULABLE,
		reason_for_message(message_bytes));
	life_pod(&life, "p", "", "");
	ck_assert_uint_eq(life_schedule(&life).message.length, message_bytes);
	const char *log = life_log(&life);
	const char *end = strchr(log, '\n');
	ck_assert_ptr_nonnull(end);
	ck_assert(strncmp(log, start, strlen(start)) == 0);
	ck_assert_uint_eq((size_t)(end - log) - strlen(start), note_bytes);
	ck_assert_int_eq(strncmp(end - 4, " ...", 4) == 0, cut);
	static const char patch[] = "patch p Unschedulable: ";
	ck_assert(strncmp(end + 1, patch, strlen(patch)) == 0);
	ck_assert_uint_eq(strlen(end + 1), strlen(patch) + message_bytes + strlen(" nominated=\n"));
	life_finish(&life);
}

START_TEST(test_scheduler__edge_03_38_long_message)
{
	expect_note(3000, 1024, true);
	expect_note(1025, 1024, true);
	expect_note(1024, 1024, false);
}
END_TEST

BT_TEST_MAIN("scheduler_failure", test_scheduler__edge_03_01_empty_cluster,
	test_scheduler__edge_03_10_filter_error, test_scheduler__edge_03_23_reserve_error,
	test_scheduler__edge_03_24_waits_for_the_plugin,
	test_scheduler__edge_03_31_deleted_during_its_cycle,
	test_scheduler__edge_03_32_recreated_during_its_cycle,
	test_scheduler__edge_04_35_recreated_in_flight, test_scheduler__edge_04_36_bound_in_flight,
	test_scheduler__edge_04_32_update_of_a_dropped_pod,
	test_scheduler__edge_03_34_being_deleted_when_popped,
	test_scheduler__edge_03_35_updated_in_flight,
	test_scheduler__edge_03_36_same_condition_again,
	test_scheduler__edge_03_37_nomination_untouched, test_scheduler__edge_03_38_long_message)
