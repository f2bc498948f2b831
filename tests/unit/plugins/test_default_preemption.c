/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DefaultPreemption without the evaluator: eligibility, PreEnqueue, events, arguments. Spec: 08
 * section 18, cases 33 to 35, 44 and 45, and sections 4.2, 6, 12 and 15.
 */
#include "base/error.h"
#include "framework/events.h"
#include "plugins/in_tree.h"
#include "preemption_fixture.h"
#include "test_main.h"

#define WORKLOAD "GenericWorkload=true,GangScheduling=true"
#define TOPOLOGY ",TopologyAwareWorkloadScheduling=true"
#define AWARE ",WorkloadAwarePreemption=true"

static void init(struct preemption_fixture *fixture, const char *gates, const char *pods)
{
	struct preemption_options options = {.gates = gates};

	preemption_init(fixture, &options);
	preemption_add_node(fixture, "node1", "'pods':'1'");
	preemption_add_node(fixture, "node2", "'pods':'1'");
	preemption_add_pods(fixture, "node1", pods);
	preemption_add_pods(fixture, "node2", "other:low");
}

/** --- eligibility --- */

START_TEST(test_default_preemption__edge_08_33_policy_never)
{
	struct preemption_fixture fixture;

	init(&fixture, NULL, "p1:low");
	preemption_expect(&fixture, "p:hi,never", "node1:U node2:U",
		"Unschedulable: preemption: not eligible due to preemptionPolicy=Never.", "none",
		"none");
	/* With a nominated node the result is the same, and the nomination stays. */
	preemption_expect(&fixture, "p:hi,never,nominated=node1", "node1:UU node2:U",
		"Unschedulable: preemption: not eligible due to preemptionPolicy=Never.", "none",
		"none");
	ck_assert_uint_eq(fixture.evaluator->attempt_count, 2);
	preemption_finish(&fixture);
}
END_TEST

START_TEST(test_default_preemption__edge_08_34_nominated_node_is_hopeless)
{
	struct preemption_fixture fixture;

	init(&fixture, NULL, "p1:low,evicted");
	preemption_expect(&fixture, "p:hi,nominated=node1", "node1:UU node2:U", "Success", "node2",
		"node2[other]");
	/*
	 * The nominated node is absent from the statuses, so it has the status of absent nodes,
	 * here UU. The result is as above.
	 */
	preemption_expect(
		&fixture, "p:hi,nominated=node1", "node2:U", "Success", "node2", "node2[other]");
	preemption_finish(&fixture);
}
END_TEST

START_TEST(test_default_preemption__edge_08_35_terminating_victim)
{
	static const struct {
		const char *row;
		const char *on_node1;
		const char *preemptor;
		bool eligible;
	} rows[] = {
		{"evicted", "p1:low,evicted", "p:hi,nominated=node1", false},
		{"terminating for another reason", "p1:low,dying", "p:hi,nominated=node1", true},
		{"marked, not terminating", "p1:low,marked", "p:hi,nominated=node1", true},
		{"the first condition says no", "p1:low,doubtful", "p:hi,nominated=node1", true},
		{"not of lower priority", "p1:hi,evicted", "p:hi,nominated=node1", true},
		{"not nominated", "p1:low,evicted", "p:hi", true},
		{"nominated elsewhere", "p1:low,evicted", "p:hi,nominated=node2", true},
		{"nominated to a node that is gone", "p1:low,evicted", "p:hi,nominated=nowhere",
			true},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct preemption_fixture fixture;
		const char *text;

		init(&fixture, NULL, rows[i].on_node1);
		text = preemption_run(&fixture, preemption_pending(&fixture, rows[i].preemptor),
			"node1:U node2:U");
		ck_assert_msg(strcmp(text,
				      rows[i].eligible
					      ? "Success"
					      : "Unschedulable: preemption: not eligible due to a "
						"terminating pod on the nominated node.") == 0,
			"%s: %s", rows[i].row, text);
		if (!rows[i].eligible) {
			ck_assert_str_eq(preemption_nominated(&fixture), "none");
		}
		preemption_finish(&fixture);
	}
}
END_TEST

/** --- pod groups --- */

static void put_group(struct preemption_fixture *fixture, const char *spec)
{
	preemption_put(fixture,
		bt_arena_printf(&fixture->arena,
			"{'apiVersion':'scheduling.k8s.io/v1alpha2','kind':'PodGroup','metadata':{"
			"'name':'g','uid':'uid-g'},'spec':{%s}}",
			spec)
			.data);
}

START_TEST(test_default_preemption__edge_08_44_gates_off)
{
	struct preemption_fixture fixture;

	init(&fixture, NULL, "p1:low");
	preemption_expect(&fixture, "p:hi,group=g", "node1:U", "Success", "node1", "node1[p1]");
	preemption_finish(&fixture);
}
END_TEST

START_TEST(test_default_preemption__edge_08_45_gates_on)
{
	struct preemption_fixture fixture;

	init(&fixture, WORKLOAD TOPOLOGY, "p1:low");
	preemption_expect(&fixture, "p:hi,group=g", "node1:U",
		"Unschedulable: preemption: pod group for pod not found", "none", "none");
	put_group(&fixture, "");
	preemption_expect(&fixture, "p:hi,group=g", "node1:U", "Success", "node1", "node1[p1]");
	put_group(&fixture, "'schedulingConstraints':{'topology':[{'key':'zone'}]}");
	preemption_expect(&fixture, "p:hi,group=g", "node1:U",
		"Unschedulable: preemption: not eligible due to placement-based pod group "
		"scheduling limitation",
		"none", "none");
	put_group(&fixture, "'schedulingConstraints':{}");
	preemption_expect(&fixture, "p:hi,group=g", "node1:U",
		"Unschedulable: preemption: not eligible due to placement-based pod group "
		"scheduling limitation",
		"none", "none");
	/* Pods without a group are not affected. Each run counts as an attempt. */
	preemption_expect(&fixture, "q:hi", "node1:U", "Success", "node1", "node1[p1]");
	ck_assert_uint_eq(fixture.evaluator->attempt_count, 5);
	preemption_finish(&fixture);

	init(&fixture, WORKLOAD TOPOLOGY AWARE, "p1:low");
	put_group(&fixture, "'schedulingConstraints':{'topology':[{'key':'zone'}]}");
	preemption_expect(&fixture, "p:hi,group=g", "node1:U",
		"Unschedulable: preemption: not eligible due to placement-based pod group "
		"scheduling limitation",
		"none", "none");
	preemption_finish(&fixture);

	/*
	 * Without topology-aware scheduling, workload-aware preemption does not look up the group.
	 */
	init(&fixture, WORKLOAD AWARE, "p1:low");
	preemption_expect(&fixture, "p:hi,group=g", "node1:U",
		"Unschedulable: preemption: not eligible due to workload aware preemption enabled",
		"none", "none");
	preemption_finish(&fixture);
}
END_TEST

/** --- PreEnqueue and events --- */

static const char *pre_enqueue(struct preemption_fixture *fixture, const char *pod)
{
	struct bt_plugin *gating = NULL;
	struct bt_status status = bt_run_pre_enqueue(fixture->framework,
		preemption_pending(fixture, pod), &fixture->arena, NULL, &gating);

	if (!bt_status_is_success(&status)) {
		ck_assert_str_eq(gating->ops->name, "DefaultPreemption");
	}
	return preemption_status_text(fixture, status);
}

#define POD_WAITS \
	"UnschedulableAndUnresolvable: waiting for the preemption for this pod to be finished"
#define GROUP_WAITS \
	"UnschedulableAndUnresolvable: waiting for the preemption for this pod group to be " \
	"finished"

START_TEST(test_default_preemption__pre_enqueue_waits_for_the_victim)
{
	struct preemption_fixture fixture;

	init(&fixture, NULL, "p1:low");
	preemption_enable_writes(&fixture);
	fixture.deferred = true;
	ck_assert_str_eq(pre_enqueue(&fixture, "p:hi"), "Success");
	preemption_expect(&fixture, "p:hi", "node1:U", "Success", "node1", NULL);
	ck_assert_str_eq(pre_enqueue(&fixture, "p:hi"), POD_WAITS);
	ck_assert_str_eq(pre_enqueue(&fixture, "q:hi"), "Success");
	/* The pod's group matters only to workload-aware preemption. */
	ck_assert_str_eq(pre_enqueue(&fixture, "p:hi,group=g"), POD_WAITS);
	preemption_informer_set(&fixture, "p1:low,dying");
	ck_assert_str_eq(pre_enqueue(&fixture, "p:hi"), "Success");
	preemption_informer_set(&fixture, "p1:low");
	preemption_complete(&fixture, "patch p1", 0);
	ck_assert_str_eq(pre_enqueue(&fixture, "p:hi"), POD_WAITS);
	preemption_complete(&fixture, "delete p1", 0);
	ck_assert_str_eq(pre_enqueue(&fixture, "p:hi"), "Success");
	preemption_finish(&fixture);
}
END_TEST

START_TEST(test_default_preemption__pre_enqueue_of_group_members)
{
	struct preemption_fixture fixture;
	struct bt_preemption_pod identity = {BT_STR("default"), BT_STR("g"), BT_STR("uid-g")};
	struct bt_preemptor preemptor = {.uid = BT_STR("uid-g"),
		.is_group = true,
		.identity = identity,
		.priority = 1000,
		.scheduler_name = BT_STR("default-scheduler")};
	uint32_t victim;
	struct bt_status status;

	init(&fixture, WORKLOAD AWARE, "p1:low");
	preemption_enable_writes(&fixture);
	fixture.deferred = true;
	victim = preemption_pod_id(&fixture, "p1");
	status = bt_prepare_candidate(&fixture.evaluator->executor, &preemptor, BT_STR("cluster"),
		&victim, 1, &fixture.arena);
	ck_assert(bt_status_is_success(&status));
	/* A member of an unknown group does not wait. */
	ck_assert_str_eq(pre_enqueue(&fixture, "m1:hi,group=g"), "Success");
	put_group(&fixture, "");
	ck_assert_str_eq(pre_enqueue(&fixture, "m1:hi,group=g"), GROUP_WAITS);
	ck_assert_str_eq(pre_enqueue(&fixture, "m2:hi,group=other"), "Success");
	ck_assert_str_eq(pre_enqueue(&fixture, "single:hi"), "Success");
	preemption_complete(&fixture, "patch p1", BERTH_ERR_NOT_FOUND);
	ck_assert_str_eq(pre_enqueue(&fixture, "m1:hi,group=g"), "Success");
	/* A preemption under the member's uid does not make the member wait. */
	ck_assert_str_eq(preemption_log(&fixture), "patch p1");
	preemptor.uid = BT_STR("uid-m1");
	(void)bt_prepare_candidate(&fixture.evaluator->executor, &preemptor, BT_STR("cluster"),
		&victim, 1, &fixture.arena);
	ck_assert_str_eq(pre_enqueue(&fixture, "m1:hi,group=g"), "Success");
	ck_assert_str_eq(pre_enqueue(&fixture, "m1:hi"), POD_WAITS);
	preemption_finish(&fixture);
}
END_TEST

START_TEST(test_default_preemption__events)
{
	static const char *const gates[] = {NULL, "SchedulerAsyncPreemption=false"};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(gates); i++) {
		struct preemption_fixture fixture;
		const struct bt_event_registration *events = NULL;
		struct bt_plugin *plugin;
		uint32_t count = 7;

		init(&fixture, gates[i], "p1:low");
		plugin = bt_framework_find_plugin(fixture.framework, BT_STR("DefaultPreemption"));
		ck_assert_int_eq(bt_plugin_events_to_register(plugin, &events, &count, NULL), 0);
		ck_assert_uint_eq(count, gates[i] == NULL ? 1 : 0);
		if (count == 1) {
			ck_assert(bt_str_equal_c(events[0].event.resource, "Pod"));
			ck_assert_uint_eq(events[0].event.action, BT_ACTION_DELETE);
			const struct bt_hint_call call = {
				.plugin = plugin,
				.pod = preemption_pending(&fixture, "p:hi"),
				.old_object = fixture.known.items[0],
			};

			ck_assert(!events[0].hint(&call));
		}
		/* With synchronous preemption no pod waits in PreEnqueue. */
		ck_assert_str_eq(pre_enqueue(&fixture, "p:hi"), "Success");
		preemption_finish(&fixture);
	}
}
END_TEST

/** --- arguments --- */

static void expect_args_error(
	const struct bt_plugin_args *args, const struct bt_handle *handle, const char *text)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_plugin *plugin = NULL;

	ck_assert_int_ne(
		bt_plugin_create(&bt_default_preemption_plugin, args, handle, &plugin, &err), 0);
	ck_assert_str_eq(berth_error_message(&err), text);
	ck_assert_ptr_null(plugin);
	berth_error_finish(&err);
}

static struct bt_plugin_args args_of(int32_t percentage, int32_t absolute)
{
	struct bt_plugin_args args = {.kind = BT_ARGS_DEFAULT_PREEMPTION};

	args.default_preemption.min_candidate_nodes_percentage.present = true;
	args.default_preemption.min_candidate_nodes_percentage.value = percentage;
	args.default_preemption.min_candidate_nodes_absolute.present = true;
	args.default_preemption.min_candidate_nodes_absolute.value = absolute;
	return args;
}

START_TEST(test_default_preemption__arguments)
{
	static const struct {
		int32_t percentage;
		int32_t absolute;
		const char *text;
	} rows[] = {
		{-1, 1,
			"minCandidateNodesPercentage: Invalid value: -1: not in valid range "
			"[0, 100]"},
		{101, 0,
			"minCandidateNodesPercentage: Invalid value: 101: not in valid range "
			"[0, 100]"},
		{1, -1,
			"minCandidateNodesAbsolute: Invalid value: -1: not in valid range [0, "
			"inf)"},
		{101, -1,
			"[minCandidateNodesPercentage: Invalid value: 101: not in valid range [0, "
			"100], minCandidateNodesAbsolute: Invalid value: -1: not in valid range "
			"[0, inf)]"},
		{0, 0,
			"[minCandidateNodesPercentage: Invalid value: 0: cannot be zero at the "
			"same time as minCandidateNodesAbsolute, minCandidateNodesAbsolute: "
			"Invalid value: 0: cannot be zero at the same time as "
			"minCandidateNodesPercentage]"},
	};
	static const struct bt_plugin_args wrong = {.kind = BT_ARGS_NODE_AFFINITY};
	static const struct preemption_options absolute_zero = {
		.args = "{'minCandidateNodesAbsolute':0}"};
	struct preemption_fixture fixture;
	const struct bt_handle *handle;

	preemption_init(&fixture, &absolute_zero);
	handle = &fixture.framework->handle;
	ck_assert_int_eq(fixture.evaluator->min_candidates_percentage, 10);
	ck_assert_msg(fixture.evaluator->min_candidates_absolute == 0, "an explicit 0 is kept");
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_plugin_args args = args_of(rows[i].percentage, rows[i].absolute);

		expect_args_error(&args, handle, rows[i].text);
	}
	expect_args_error(&wrong, handle,
		"got args of type *config.NodeAffinityArgs, want *DefaultPreemptionArgs");
	expect_args_error(NULL, handle, "got args of type <nil>, want *DefaultPreemptionArgs");
	preemption_finish(&fixture);
}
END_TEST

BT_TEST_MAIN("default_preemption", test_default_preemption__edge_08_33_policy_never,
	test_default_preemption__edge_08_34_nominated_node_is_hopeless,
	test_default_preemption__edge_08_35_terminating_victim,
	test_default_preemption__edge_08_44_gates_off, test_default_preemption__edge_08_45_gates_on,
	test_default_preemption__pre_enqueue_waits_for_the_victim,
	test_default_preemption__pre_enqueue_of_group_members, test_default_preemption__events,
	test_default_preemption__arguments)
