/* SPDX-License-Identifier: Apache-2.0 */
/* Activate, Update, Delete, and nominations. Spec: 04 sections 8.10 to 8.12 and 10. */
#include "framework/cluster_event.h"
#include "queue_fixture.h"
#include "test_main.h"

#define POD(name) "{'metadata':{'name':'" name "'}}"
#define NOMINATED(name, node) \
	"{'metadata':{'name':'" name "'},'status':{'nominatedNodeName':'" node "'}}"

static const struct bt_cluster_event node_add = {BT_RESOURCE_NODE, BT_ACTION_ADD};

START_TEST(test_queue_change__edge_04_28_activate_out_of_error_backoff)
{
	struct fake fakes[] = {queue_rejector("A", NULL, 0, true)};
	const struct queue_setup setup = {
		.config = queue_profiles("default-scheduler=A"), .fakes = fakes, .fake_count = 1};
	struct queue_fixture queue;
	struct bt_object *pod;

	queue_init_with(&queue, &setup);
	pod = queue_add_failed(&queue, POD("a"), NULL, NULL);
	queue_expect(&queue, "error a");
	fake_log_reset();
	ck_assert(bt_queue_activate(queue.queue, pod, queue.now_ns));
	ck_assert_str_eq(fake_log(), "");
	queue_expect(&queue, "active a");
	ck_assert_uint_eq(queue_incoming(&queue, BT_QUEUE_ACTIVE, "ForceActivate"), 1);
	ck_assert(!bt_queue_activate(queue.queue, pod, queue.now_ns));
	queue_finish(&queue);
}
END_TEST

START_TEST(test_queue_change__edge_04_30_activate_unknown_pod)
{
	struct queue_fixture queue;

	queue_init(&queue);
	(void)queue_add(&queue, POD("a"));
	(void)queue_pop_expect(&queue, "a");
	ck_assert(!bt_queue_activate(queue.queue, queue_pod(&queue, POD("b")), queue.now_ns));
	ck_assert_str_eq(queue_log(&queue), "PodPopped 1");
	queue_expect(&queue, "");
	queue_finish(&queue);
}
END_TEST

static const char labelled[] = "{'metadata':{'name':'a','labels':{'k':'v'}}}";

START_TEST(test_queue_change__edge_04_31_update_in_the_active_queue)
{
	struct fake fakes[] = {fake_plugin("S", FAKE_ROLE(FAKE_FILTER) | FAKE_ROLE(FAKE_SIGN))};
	const struct queue_setup setup = {
		.config = queue_profiles("default-scheduler=S"), .fakes = fakes, .fake_count = 1};
	struct queue_fixture queue;
	struct bt_object *pod;
	struct bt_object *changed;
	struct bt_queue_entry *entry;
	bt_sym before;

	queue_init_with(&queue, &setup);
	pod = queue_add(&queue, POD("a"));
	before = bt_symbol_ref(&queue.state->symbols, queue_entry(&queue, "a")->signature);
	ck_assert(!bt_sym_is_none(before));
	changed = queue_pod(&queue, labelled);
	queue_update(&queue, pod, changed);
	queue_expect(&queue, "active a");
	entry = queue_pop_expect(&queue, "a");
	ck_assert_ptr_eq(entry->object, changed);
	ck_assert(!bt_sym_equal(entry->signature, before));
	/*
	 * A pod in flight keeps its signature when its object is replaced: the signature of `pod`,
	 * which is `before`, does not become the signature of the entry.
	 */
	bt_queue_refresh(queue.queue, entry, pod);
	ck_assert(!bt_sym_equal(entry->signature, before));
	bt_symbol_unref(&queue.state->symbols, before);
	queue_finish(&queue);
}
END_TEST

START_TEST(test_queue_change__edge_04_34_second_event_of_an_update_helps)
{
	static const char both[] = "{'metadata':{'name':'a','labels':{'k':'v'}},"
				   "'spec':{'tolerations':[{'key':'k'}]}}";
	struct queue_fixture queue;
	struct bt_object *pod;

	queue_init(&queue);
	pod = queue_add_failed(&queue, POD("a"), "TaintToleration", NULL);
	queue_update(&queue, pod, queue_pod(&queue, both));
	queue_expect(&queue, "backoff a");
	ck_assert_uint_eq(
		queue_incoming(&queue, BT_QUEUE_BACKOFF, "UnschedulablePodUpdatePodToleration"), 1);
	ck_assert_uint_eq(
		queue_incoming(&queue, BT_QUEUE_BACKOFF, "UnschedulablePodUpdatePodLabel"), 0);
	queue_finish(&queue);
}
END_TEST

START_TEST(test_queue_change__edge_04_37_delete_out_of_backoff_keeps_the_gauge)
{
	struct queue_fixture queue;
	struct bt_queue_entry *entry;
	struct bt_object *pod;

	queue_init(&queue);
	pod = queue_add(&queue, POD("a"));
	entry = queue_pop_expect(&queue, "a");
	queue_move(&queue, &node_add, NULL,
		queue_object(&queue, BT_KIND_NODE, "{'metadata':{'name':'n'}}"));
	queue_fail(&queue, entry, "NodeName", NULL);
	queue_expect(&queue, "backoff a");
	bt_queue_delete(queue.queue, pod);
	ck_assert_int_eq(queue_gauge(&queue, "NodeName"), 1);
	pod = queue_add_failed(&queue, POD("b"), "NodeName", NULL);
	ck_assert_int_eq(queue_gauge(&queue, "NodeName"), 2);
	queue_expect(&queue, "unschedulable b");
	bt_queue_delete(queue.queue, pod);
	ck_assert_int_eq(queue_gauge(&queue, "NodeName"), 1);
	queue_expect(&queue, "");
	queue_finish(&queue);
}
END_TEST

START_TEST(test_queue_change__edge_04_39_nomination_in_memory_survives_updates)
{
	static const struct {
		const char *old_pod;
		const char *new_pod;
		const char *on_n1;
		const char *on_n2;
	} rows[] = {
		{POD("a"), POD("a"), "a", ""},
		{POD("a"), NOMINATED("a", "n2"), "", "a"},
		{NOMINATED("a", "n1"), POD("a"), "", ""},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		const struct bt_post_filter_result on_n1 = {
			true, BT_NOMINATING_OVERRIDE, BT_STR("n1")};
		struct queue_fixture queue;
		struct bt_object *pod;

		queue_init(&queue);
		pod = queue_add(&queue, rows[i].old_pod);
		bt_queue_nominate(queue.queue, queue_entry(&queue, "a"), &on_n1, true);
		ck_assert_str_eq(queue_nominated(&queue, "n1"), "a");
		queue_update(&queue, pod, queue_pod(&queue, rows[i].new_pod));
		ck_assert_msg(strcmp(queue_nominated(&queue, "n1"), rows[i].on_n1) == 0,
			"row %zu: n1", i);
		ck_assert_msg(strcmp(queue_nominated(&queue, "n2"), rows[i].on_n2) == 0,
			"row %zu: n2", i);
		queue_finish(&queue);
	}
}
END_TEST

START_TEST(test_queue_change__edge_04_40_nominating_a_pod_that_is_gone)
{
	const struct bt_post_filter_result on_n2 = {true, BT_NOMINATING_OVERRIDE, BT_STR("n2")};
	struct queue_fixture queue;
	struct bt_queue_entry *entry;

	queue_init(&queue);
	(void)queue_add(&queue, NOMINATED("a", "n1"));
	ck_assert_str_eq(queue_nominated(&queue, "n1"), "a");
	entry = queue_pop_expect(&queue, "a");
	bt_queue_nominate(queue.queue, entry, &on_n2, false);
	ck_assert(queue.nominator.nominations.map.count == 0);
	queue_finish(&queue);
}
END_TEST

START_TEST(test_queue_change__edge_04_41_nominations_in_order)
{
	const struct bt_post_filter_result on_n1 = {true, BT_NOMINATING_OVERRIDE, BT_STR("n1")};
	struct queue_fixture queue;

	queue_init(&queue);
	(void)queue_add(&queue, POD("a"));
	(void)queue_add(&queue, POD("b"));
	bt_queue_nominate(queue.queue, queue_entry(&queue, "a"), &on_n1, true);
	bt_queue_nominate(queue.queue, queue_entry(&queue, "b"), &on_n1, true);
	ck_assert_str_eq(queue_nominated(&queue, "n1"), "a b");
	bt_queue_nominate(queue.queue, queue_entry(&queue, "a"), &on_n1, true);
	ck_assert_str_eq(queue_nominated(&queue, "n1"), "b a");
	queue_finish(&queue);
}
END_TEST

START_TEST(test_queue_change__edge_04_44_group_member_always_backs_off)
{
	static const char member[] = "{'metadata':{'name':'a'},"
				     "'spec':{'schedulingGroup':{'podGroupName':'g'}}}";
	static const struct {
		const char *gates;
		const char *places;
	} rows[] = {
		{"GenericWorkload=true", "backoff a"},
		{NULL, "unschedulable a"},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		const struct queue_setup setup = {.gates = rows[i].gates};
		struct queue_fixture queue;

		queue_init_with(&queue, &setup);
		(void)queue_add_failed(&queue, member, "NodeName", NULL);
		queue_expect(&queue, rows[i].places);
		queue_finish(&queue);
	}
}
END_TEST

START_TEST(test_queue_change__edge_04_48_rejected_while_being_deleted)
{
	struct queue_fixture queue;
	struct bt_object *pod;

	queue_init(&queue);
	pod = queue_add_failed(&queue, POD("a"), "", NULL);
	queue_expect(&queue, "unschedulable a");
	ck_assert_int_eq(queue_gauge(&queue, ""), 1);
	queue_move(&queue, &node_add, NULL,
		queue_object(&queue, BT_KIND_NODE, "{'metadata':{'name':'n'}}"));
	queue_expect(&queue, "unschedulable a");
	bt_queue_delete(queue.queue, pod);
	queue_expect(&queue, "");
	ck_assert_int_eq(queue_gauge(&queue, ""), 0);
	queue_finish(&queue);
}
END_TEST

START_TEST(test_queue_change__edge_04_49_preempted_while_waiting)
{
	static const struct bt_cluster_event pod_delete = {
		BT_RESOURCE_ASSIGNED_POD, BT_ACTION_DELETE};
	struct queue_fixture queue;
	struct bt_queue_entry *entry;

	queue_init(&queue);
	(void)queue_add(&queue, POD("a"));
	entry = queue_pop_expect(&queue, "a");
	/*
	 * The scheduler calls Done while the pod waits on Permit. The delete event comes before the
	 * pod returns to the queue.
	 */
	bt_queue_done(queue.queue, entry->pod.uid);
	queue_move(&queue, &pod_delete, entry->object, NULL);
	ck_assert_str_eq(queue_log(&queue), "PodPopped 0");
	queue_fail(&queue, entry, NULL, NULL);
	queue_expect(&queue, "error a");
	queue_finish(&queue);
}
END_TEST

BT_TEST_MAIN("queue_change", test_queue_change__edge_04_28_activate_out_of_error_backoff,
	test_queue_change__edge_04_30_activate_unknown_pod,
	test_queue_change__edge_04_31_update_in_the_active_queue,
	test_queue_change__edge_04_34_second_event_of_an_update_helps,
	test_queue_change__edge_04_37_delete_out_of_backoff_keeps_the_gauge,
	test_queue_change__edge_04_39_nomination_in_memory_survives_updates,
	test_queue_change__edge_04_40_nominating_a_pod_that_is_gone,
	test_queue_change__edge_04_41_nominations_in_order,
	test_queue_change__edge_04_44_group_member_always_backs_off,
	test_queue_change__edge_04_48_rejected_while_being_deleted,
	test_queue_change__edge_04_49_preempted_while_waiting)
