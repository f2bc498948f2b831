/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which events exist, which registrations of plugins they match, and how the queue reacts to an
 * event. Spec: 04 (hints) 2 to 4.
 */
#include "framework/cluster_event.h"
#include "framework/events.h"
#include "queue_fixture.h"
#include "test_main.h"

#define POD(name) "{'metadata':{'name':'" name "'}}"

static const struct bt_cluster_event node_add = {BT_RESOURCE_NODE, BT_ACTION_ADD};
static const struct bt_cluster_event node_taint = {BT_RESOURCE_NODE, BT_ACTION_UPDATE_NODE_TAINT};
static const struct bt_cluster_event pod_delete = {BT_RESOURCE_ASSIGNED_POD, BT_ACTION_DELETE};

/* --- matching --- */

static void check_match(
	struct bt_cluster_event registered, struct bt_cluster_event incoming, bool expected)
{
	ck_assert(bt_cluster_event_match(&registered, &incoming) == expected);
}

#define EVENT(resource, action) ((struct bt_cluster_event){resource, action})

START_TEST(test_queue_events__edge_04h_01_one_of_two_actions)
{
	check_match(EVENT(BT_RESOURCE_NODE, 24), EVENT(BT_RESOURCE_NODE, 8), true);
}
END_TEST

START_TEST(test_queue_events__edge_04h_02_update_is_more_than_one_action)
{
	check_match(EVENT(BT_RESOURCE_NODE, BT_ACTION_UPDATE_NODE_LABEL),
		EVENT(BT_RESOURCE_NODE, BT_ACTION_UPDATE), false);
}
END_TEST

START_TEST(test_queue_events__edge_04h_03_any_resource)
{
	check_match(EVENT(BT_RESOURCE_ANY, BT_ACTION_UPDATE),
		EVENT(BT_RESOURCE_UNSCHEDULABLE_POD, BT_ACTION_UPDATE_POD_LABEL), true);
}
END_TEST

START_TEST(test_queue_events__edge_04h_04_timeout_needs_no_registration)
{
	struct queue_fixture queue;

	check_match(EVENT(BT_RESOURCE_POD, BT_ACTION_DELETE), EVENT(BT_RESOURCE_ANY, BT_ACTION_ALL),
		false);
	queue_init(&queue);
	(void)queue_add_failed(&queue, POD("a"), "NodeName", NULL);
	bt_queue_flush_unschedulable_leftover(queue.queue, queue.now_ns + 301 * QUEUE_SECOND);
	queue_expect(&queue, "active a");
	queue_finish(&queue);
}
END_TEST

START_TEST(test_queue_events__edge_04h_05_wildcard_gets_all_events)
{
	check_match(EVENT(BT_RESOURCE_ANY, BT_ACTION_ALL),
		EVENT(BT_RESOURCE_CSI_DRIVER, BT_ACTION_DELETE), true);
	check_match(
		EVENT(BT_RESOURCE_ANY, BT_ACTION_ALL), EVENT(BT_RESOURCE_ANY, BT_ACTION_ALL), true);
}
END_TEST

/* --- the events of an update --- */

static const struct bt_change_gates all_gates = {true, true, true};

/** Compares the actions of a node update, written as "UpdateNodeLabel UpdateNodeTaint". */
static void check_node(const char *old_json, const char *new_json, const char *expected)
{
	struct queue_fixture queue;
	struct bt_change_events changes;

	queue_init(&queue);
	changes = bt_node_change_events(queue_object(&queue, BT_KIND_NODE, old_json)->value,
		queue_object(&queue, BT_KIND_NODE, new_json)->value, &all_gates, &queue.arena);
	bt_strbuf_reset(&queue.text);
	for (uint32_t i = 0; i < changes.count; i++) {
		bt_strbuf_append_c(&queue.text, i > 0 ? " " : "");
		bt_strbuf_append_c(&queue.text, bt_action_name(changes.actions[i]));
	}
	ck_assert_str_eq(bt_strbuf_c(&queue.text), expected);
	queue_finish(&queue);
}

static void check_pod(const char *old_json, const char *new_json, const char *expected)
{
	struct queue_fixture queue;
	struct bt_change_events changes;

	queue_init(&queue);
	changes = bt_pod_change_events(queue_object(&queue, BT_KIND_POD, old_json)->value,
		queue_object(&queue, BT_KIND_POD, new_json)->value, &all_gates, &queue.arena);
	bt_strbuf_reset(&queue.text);
	for (uint32_t i = 0; i < changes.count; i++) {
		bt_strbuf_append_c(&queue.text, i > 0 ? " " : "");
		bt_strbuf_append_c(&queue.text, bt_action_name(changes.actions[i]));
	}
	ck_assert_str_eq(bt_strbuf_c(&queue.text), expected);
	queue_finish(&queue);
}

START_TEST(test_queue_events__edge_04h_06_label_then_taint)
{
	check_node("{'metadata':{'name':'n'}}",
		"{'metadata':{'name':'n','labels':{'foo':''}},'spec':{'taints':[{'key':'k'}]}}",
		"UpdateNodeLabel UpdateNodeTaint");
}
END_TEST

START_TEST(test_queue_events__edge_04h_07_uncordoned)
{
	check_node("{'spec':{'unschedulable':true,'taints':"
		   "[{'key':'node.kubernetes.io/unschedulable','effect':'NoSchedule'}]}}",
		"{'spec':{}}", "UpdateNodeTaint UpdateNodeTaint");
	check_node("{'spec':{}}", "{'spec':{'unschedulable':true}}", "");
}
END_TEST

START_TEST(test_queue_events__edge_04h_08_heartbeat)
{
#define CONDITION(time) \
	"{'status':{'conditions':[{'type':'Ready','status':'True','lastHeartbeatTime':'" time \
	"'}]}}"
	check_node(CONDITION("2024-01-01T00:00:00Z"), CONDITION("2024-01-01T00:01:00Z"), "");
	check_node(CONDITION("2024-01-01T00:00:00Z"), "{'status':{}}", "UpdateNodeCondition");
}
END_TEST

START_TEST(test_queue_events__edge_04h_09_equal_quantities)
{
	check_node("{'status':{'allocatable':{'memory':'1024'}}}",
		"{'status':{'allocatable':{'memory':'1Ki'}}}", "");
	check_node("{'status':{'allocatable':{}}}", "{'status':{'allocatable':{'x.y/a':'0'}}}",
		"UpdateNodeAllocatable");
}
END_TEST

START_TEST(test_queue_events__edge_04h_10_declared_features)
{
	check_node("{'status':{'declaredFeatures':['A','B']}}",
		"{'status':{'declaredFeatures':['B','A']}}", "UpdateNodeDeclaredFeature");
	check_node("{'status':{}}", "{'status':{'declaredFeatures':[]}}", "");
}
END_TEST

#define REQUEST(labels, cpu) \
	"{'metadata':{'labels':{" labels "}},'spec':{'containers':[{'resources':{'requests':" \
	"{'cpu':'" cpu "'}}}]}}"

START_TEST(test_queue_events__edge_04h_11_generic_update)
{
	check_pod("{'metadata':{}}", "{'metadata':{'annotations':{'a':'b'}}}", "Update");
	check_pod(REQUEST("", "1"), REQUEST("", "2"), "Update");
}
END_TEST

START_TEST(test_queue_events__edge_04h_12_label_then_scale_down)
{
	check_pod(REQUEST("", "2"), REQUEST("'a':'b'", "1"), "UpdatePodLabel UpdatePodScaleDown");
}
END_TEST

START_TEST(test_queue_events__edge_04h_13_claim_statuses_swapped)
{
#define STATUSES(a, b) "{'status':{'resourceClaimStatuses':[{'name':'" a "'},{'name':'" b "'}]}}"
	check_pod(STATUSES("a", "b"), STATUSES("b", "a"), "UpdatePodGeneratedResourceClaim");
}
END_TEST

/* --- the queue --- */

static void move_node(struct queue_fixture *queue, const struct bt_cluster_event *event)
{
	struct bt_object *node = queue_object(queue, BT_KIND_NODE, "{'metadata':{'name':'n'}}");

	queue_move(queue, event, event->action == BT_ACTION_ADD ? NULL : node, node);
}

START_TEST(test_queue_events__edge_04h_48_taint_of_any_node)
{
	struct queue_fixture queue;

	queue_init(&queue);
	(void)queue_add_failed(&queue, POD("a"), "NodeResourcesFit", NULL);
	move_node(&queue, &node_taint);
	queue_expect(&queue, "backoff a");
	ck_assert_str_eq(queue_hints(&queue, "NodeResourcesFit", "NodeUpdateNodeTaint"), "1 0 0");
	queue_finish(&queue);
}
END_TEST

START_TEST(test_queue_events__edge_04h_49_taints_for_pods_that_wait_for_nodes)
{
	static const struct bt_event_registration add[] = {
		{{BT_RESOURCE_NODE, BT_ACTION_ADD}, queue_hint_skip}};
	static const struct bt_event_registration all[] = {
		{{BT_RESOURCE_NODE, BT_ACTION_ALL}, queue_hint_skip}};
	struct fake fakes[] = {
		queue_rejector("Add", add, 1, false), queue_rejector("All", all, 1, false)};
	const struct queue_setup setup = {.config = queue_profiles("default-scheduler=Add,All"),
		.fakes = fakes,
		.fake_count = 2};
	struct queue_fixture queue;

	queue_init_with(&queue, &setup);
	(void)queue_add_failed(&queue, POD("a"), "Add", NULL);
	(void)queue_add_failed(&queue, POD("b"), "All", NULL);
	move_node(&queue, &node_taint);
	queue_expect(&queue, "backoff a, unschedulable b");
	queue_finish(&queue);
}
END_TEST

START_TEST(test_queue_events__edge_04h_50_one_plugin_is_enough)
{
	static const struct bt_event_registration skips[] = {
		{{BT_RESOURCE_NODE, BT_ACTION_ADD}, queue_hint_skip}};
	static const struct bt_event_registration queues[] = {
		{{BT_RESOURCE_NODE, BT_ACTION_ADD}, queue_hint_queue}};
	struct fake fakes[] = {
		queue_rejector("S", skips, 1, false), queue_rejector("Q", queues, 1, false)};
	const struct queue_setup setup = {
		.config = queue_profiles("default-scheduler=S,Q"), .fakes = fakes, .fake_count = 2};
	struct queue_fixture queue;

	queue_init_with(&queue, &setup);
	(void)queue_add_failed(&queue, POD("a"), "S,Q", NULL);
	(void)queue_add_failed(&queue, POD("b"), "S", NULL);
	move_node(&queue, &node_add);
	queue_expect(&queue, "backoff a, unschedulable b");
	queue_finish(&queue);
}
END_TEST

/*
 * The gate of preemption in PreEnqueue: the gate's hint skips pod deletions, so that other plugins'
 * hints decide.
 */
static const struct bt_event_registration gate_events[] = {
	{{BT_RESOURCE_POD, BT_ACTION_DELETE}, queue_hint_skip}};

/**
 * Sets up a pod that NodeResourcesFit rejected. The deletion of another pod requeued it, and then
 * Gate gated it.
 */
static void init_preempting(struct queue_fixture *queue, struct fake *gate)
{
	const struct queue_setup setup = {
		.config = queue_profiles("default-scheduler=NodeResourcesFit,Gate"),
		.fakes = gate,
		.fake_count = 1};

	*gate = queue_rejector("Gate", gate_events, 1, true);
	queue_init_with(queue, &setup);
	(void)queue_add_failed(queue, POD("a"), "NodeResourcesFit", NULL);
	fake_answer(gate, FAKE_PRE_ENQUEUE, BT_STATUS_UNSCHEDULABLE, "preempting");
	queue_move(queue, &pod_delete,
		queue_pod(queue, "{'metadata':{'name':'v'},'spec':{'nodeName':'n'}}"), NULL);
	queue_expect(queue, "gated a");
}

START_TEST(test_queue_events__edge_04h_52_deleted_victim_tests_the_gate)
{
	struct queue_fixture queue;
	struct fake gate;

	init_preempting(&queue, &gate);
	ck_assert_int_eq(queue_gauge(&queue, "Gate"), 1);
	fake_answer(&gate, FAKE_PRE_ENQUEUE, BT_STATUS_SUCCESS, NULL);
	queue_move(&queue, &pod_delete,
		queue_pod(&queue, "{'metadata':{'name':'w'},'spec':{'nodeName':'n'}}"), NULL);
	queue_expect(&queue, "backoff a");
	queue_finish(&queue);
}
END_TEST

START_TEST(test_queue_events__edge_04h_53_scheduling_gates_get_no_node_events)
{
	struct queue_fixture queue;

	queue_init(&queue);
	(void)queue_add(
		&queue, "{'metadata':{'name':'a'},'spec':{'schedulingGates':[{'name':'x'}]}}");
	move_node(&queue, &node_add);
	move_node(&queue, &node_taint);
	queue_expect(&queue, "gated a");
	ck_assert_uint_eq(queue_incoming(&queue, BT_QUEUE_UNSCHEDULABLE, "NodeAdd"), 0);
	ck_assert_str_eq(queue_hints(&queue, "SchedulingGates", "NodeAdd"), "0 0 0");
	queue_finish(&queue);
}
END_TEST

START_TEST(test_queue_events__edge_04h_54_nodes_test_the_gate_of_claims)
{
	static const struct bt_event_registration events[] = {
		{{BT_RESOURCE_NODE,
			 BT_ACTION_ADD | BT_ACTION_UPDATE_NODE_LABEL |
				 BT_ACTION_UPDATE_NODE_ALLOCATABLE},
			NULL}};
	static const struct {
		uint32_t action;
		const char *label;
	} rows[] = {
		{BT_ACTION_ADD, "NodeAdd"},
		{BT_ACTION_UPDATE_NODE_LABEL, "NodeUpdateNodeLabel"},
		{BT_ACTION_UPDATE_NODE_ALLOCATABLE, "NodeUpdateNodeAllocatable"},
		{BT_ACTION_UPDATE_NODE_TAINT, "NodeUpdateNodeTaint"},
	};
	struct fake fakes[] = {queue_rejector("Claims", events, 1, true)};
	const struct queue_setup setup = {.config = queue_profiles("default-scheduler=Claims"),
		.fakes = fakes,
		.fake_count = 1};
	struct queue_fixture queue;

	fake_answer(&fakes[0], FAKE_PRE_ENQUEUE, BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE, "no");
	queue_init_with(&queue, &setup);
	(void)queue_add(&queue, POD("a"));
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_cluster_event event = {BT_RESOURCE_NODE, rows[i].action};

		fake_log_reset();
		move_node(&queue, &event);
		ck_assert_str_eq(fake_log(), "Claims.PreEnqueue");
		queue_expect(&queue, "gated a");
		ck_assert_uint_eq(queue_incoming(&queue, BT_QUEUE_UNSCHEDULABLE, rows[i].label), 1);
	}
	queue_finish(&queue);
}
END_TEST

START_TEST(test_queue_events__edge_04h_55_gated_pod_gets_no_node_events)
{
	struct queue_fixture queue;
	struct fake gate;

	init_preempting(&queue, &gate);
	fake_answer(&gate, FAKE_PRE_ENQUEUE, BT_STATUS_SUCCESS, NULL);
	queue_move(&queue, &node_add, NULL,
		queue_object(&queue, BT_KIND_NODE,
			"{'metadata':{'name':'n'},'status':{'allocatable':{'pods':'9'}}}"));
	queue_expect(&queue, "gated a");
	queue_finish(&queue);
}
END_TEST

/**
 * Spec 04 section 16: if the gate SchedulerQueueingHints is off, no hint is called. An event queues
 * the pods that were rejected by a plugin registered for the event, and no others.
 */
START_TEST(test_queue_events__hints_off)
{
	static const struct bt_event_registration skips[] = {
		{{BT_RESOURCE_NODE, BT_ACTION_ADD}, queue_hint_skip}};
	static const struct bt_event_registration fails[] = {
		{{BT_RESOURCE_NODE, BT_ACTION_ADD}, queue_hint_error}};
	static const struct bt_event_registration others[] = {
		{{BT_RESOURCE_ASSIGNED_POD, BT_ACTION_DELETE}, queue_hint_queue}};
	struct fake fakes[] = {queue_rejector("A", skips, 1, false),
		queue_rejector("B", fails, 1, false), queue_rejector("C", others, 1, false)};
	struct queue_setup setup = {
		.gates = "SchedulerQueueingHints=false",
		.emulated_minor = 33,
		.config = queue_profiles("default-scheduler=A,B,C"),
		.fakes = fakes,
		.fake_count = 3,
	};
	struct queue_fixture queue;

	queue_init_with(&queue, &setup);
	(void)queue_add_failed(&queue, POD("a"), "A", NULL);
	(void)queue_add_failed(&queue, POD("b"), "B", NULL);
	(void)queue_add_failed(&queue, POD("c"), "C", NULL);
	(void)queue_add_failed(&queue, POD("both"), "A,C", NULL);
	queue_expect(&queue, "unschedulable a b both c");
	queue_move(&queue, &node_add, NULL,
		queue_object(&queue, BT_KIND_NODE, "{'metadata':{'name':'n'}}"));
	queue_expect(&queue, "backoff a b both, unschedulable c");
	ck_assert_str_eq(bt_strbuf_c(&queue.warnings), "");
	queue_finish(&queue);
}
END_TEST

BT_TEST_MAIN("queue_events", test_queue_events__hints_off,
	test_queue_events__edge_04h_01_one_of_two_actions,
	test_queue_events__edge_04h_02_update_is_more_than_one_action,
	test_queue_events__edge_04h_03_any_resource,
	test_queue_events__edge_04h_04_timeout_needs_no_registration,
	test_queue_events__edge_04h_05_wildcard_gets_all_events,
	test_queue_events__edge_04h_06_label_then_taint, test_queue_events__edge_04h_07_uncordoned,
	test_queue_events__edge_04h_08_heartbeat, test_queue_events__edge_04h_09_equal_quantities,
	test_queue_events__edge_04h_10_declared_features,
	test_queue_events__edge_04h_11_generic_update,
	test_queue_events__edge_04h_12_label_then_scale_down,
	test_queue_events__edge_04h_13_claim_statuses_swapped,
	test_queue_events__edge_04h_48_taint_of_any_node,
	test_queue_events__edge_04h_49_taints_for_pods_that_wait_for_nodes,
	test_queue_events__edge_04h_50_one_plugin_is_enough,
	test_queue_events__edge_04h_52_deleted_victim_tests_the_gate,
	test_queue_events__edge_04h_53_scheduling_gates_get_no_node_events,
	test_queue_events__edge_04h_54_nodes_test_the_gate_of_claims,
	test_queue_events__edge_04h_55_gated_pod_gets_no_node_events)
