/* SPDX-License-Identifier: Apache-2.0 */
/** Spec 03 sections 3, 8 and 16, 02 sections 5.4 and 13, through the public functions. */
#include "berth/scheduling_cycle.h"

#include "cluster.h"

static struct {
	struct berth_engine *engine;
	struct berth_framework *framework;
	struct berth_cycle_state *state;
	struct berth_arena *arena;
} world;

static void init(const char *config)
{
	struct berth_engine_options options = BERTH_ENGINE_OPTIONS_INIT;

	options.verify = true;
	memset(&world, 0, sizeof(world));
	world.engine = cluster_create(config, &options);
	world.framework = cluster_framework(world.engine);
	world.state = berth_cycle_state_create();
	world.arena = berth_cycle_state_arena(world.state);
}

static void fresh_state(void)
{
	berth_cycle_state_destroy(world.state);
	world.state = berth_cycle_state_create();
	world.arena = berth_cycle_state_arena(world.state);
}

static void finish(void)
{
	berth_cycle_state_destroy(world.state);
	berth_engine_destroy(world.engine);
}

static struct berth_pod_info *pod_info(const char *name, const char *cpu, const char *more)
{
	return cluster_pod_info(world.framework, name, cpu, more);
}

/* seed-map 003.1, 003.2, 003.3, 003.4, 003.9: the chosen host, no nodes, no node that fits */
START_TEST(test_scheduling_cycle__schedule)
{
	struct berth_schedule_result result;
	struct berth_fit_error fit_error;
	struct berth_error err = BERTH_ERROR_INIT;

	init(CLUSTER_CONFIG("", ""));
	ck_assert_ptr_null(berth_engine_framework(world.engine, BERTH_STR("other")));
	struct berth_pod_info *pod = pod_info("p", "3", "");
	ck_assert_uint_eq(berth_engine_node_count(world.engine), 0);
	ck_assert_int_eq(berth_engine_schedule(
				 world.engine, world.framework, pod, &result, &fit_error, &err),
		BERTH_ERR_NO_NODES_AVAILABLE);
	ck_assert_str_eq(berth_error_message(&err), "no nodes available to schedule pods");
	berth_error_finish(&err);

	cluster_put_node(world.engine, "n1", "2", "");
	cluster_put_node(world.engine, "n2", "4", "");
	cluster_put_node(world.engine, "n3", "1", "");
	ck_assert_uint_eq(berth_engine_node_count(world.engine), 3);
	ck_assert_int_eq(berth_engine_schedule(
				 world.engine, world.framework, pod, &result, &fit_error, &err),
		0);
	cluster_expect(result.suggested_host, "n2");
	ck_assert_uint_eq(result.feasible_nodes, 1);
	ck_assert_uint_eq(result.evaluated_nodes, 3);
	berth_framework_pod_destroy(pod);

	pod = pod_info("p", "5", "");
	ck_assert_int_eq(berth_engine_schedule(
				 world.engine, world.framework, pod, &result, &fit_error, &err),
		BERTH_ERR_FIT);
	ck_assert_str_eq(berth_error_message(&err), "0/3 nodes are available: 3 Insufficient cpu.");
	cluster_expect(berth_fit_error_text(&fit_error, world.arena), berth_error_message(&err));
	berth_error_finish(&err);
	berth_framework_pod_destroy(pod);
	finish();
}
END_TEST

/* seed-map 003.10, 003.11, 003.12, 003.13 */
START_TEST(test_scheduling_cycle__fit_error)
{
	struct berth_schedule_result result;
	struct berth_fit_error fit_error;

	init(CLUSTER_CONFIG("", ""));
	cluster_put_node(world.engine, "n1", "1", "");
	cluster_put_node(world.engine, "n2", "4", ",'spec':{'unschedulable':true}");
	struct berth_pod_info *pod = pod_info("p", "2", "");
	ck_assert_int_eq(berth_engine_schedule(
				 world.engine, world.framework, pod, &result, &fit_error, NULL),
		BERTH_ERR_FIT);
	ck_assert_ptr_eq(fit_error.pod, pod);
	ck_assert_uint_eq(fit_error.num_all_nodes, 2);
	ck_assert_uint_eq(berth_node_to_status_count(fit_error.node_to_status), 2);
	struct berth_status status =
		berth_node_to_status_get(fit_error.node_to_status, BERTH_STR("n1"));
	cluster_expect_status(
		&status, world.arena, "UnschedulableAndUnresolvable: Insufficient cpu");
	status = berth_node_to_status_get(fit_error.node_to_status, BERTH_STR("n2"));
	cluster_expect_status(
		&status, world.arena, "UnschedulableAndUnresolvable: node(s) were unschedulable");

	/*
	 * A map of the caller: lines are sorted, and nodes without an entry have the absent status.
	 */
	struct berth_node_to_status *map = berth_node_to_status_create();
	struct berth_str reasons[] = {BERTH_STR("too small"), BERTH_STR("a, b")};
	status = berth_status_make(world.arena, BERTH_CODE_UNSCHEDULABLE, reasons, 2);
	berth_node_to_status_set(map, BERTH_STR("x"), &status);
	status = berth_status_reason(world.arena, BERTH_CODE_UNSCHEDULABLE, "absent");
	berth_node_to_status_set_absent(map, &status);
	struct berth_fit_error own = {.num_all_nodes = 12,
		.node_to_status = map,
		.post_filter_message = BERTH_STR("preemption: no")};
	cluster_expect(berth_fit_error_text(&own, world.arena),
		"0/12 nodes are available: 1 a, b, 1 too small, 11 absent. preemption: no");
	own.pre_filter_message = BERTH_STR("claim missing");
	cluster_expect(berth_fit_error_text(&own, world.arena),
		"0/12 nodes are available: claim missing. preemption: no");
	berth_node_to_status_destroy(map);
	berth_framework_pod_destroy(pod);
	finish();
}
END_TEST

/* seed-map 003.22, 003.23, 003.24: the table of spec 03 section 3.3 */
START_TEST(test_scheduling_cycle__num_feasible_nodes_to_find)
{
	static const struct {
		const char *config;
		uint32_t nodes;
		uint32_t expected;
	} rows[] = {
		{CLUSTER_CONFIG("", ",'percentageOfNodesToScore':0"), 10, 10},
		{CLUSTER_CONFIG("", ",'percentageOfNodesToScore':0"), 99, 99},
		{CLUSTER_CONFIG("", ",'percentageOfNodesToScore':0"), 100, 100},
		{CLUSTER_CONFIG("", ",'percentageOfNodesToScore':0"), 250, 120},
		{CLUSTER_CONFIG("", ",'percentageOfNodesToScore':0"), 1000, 420},
		{CLUSTER_CONFIG("", ",'percentageOfNodesToScore':40"), 1000, 400},
		{CLUSTER_CONFIG("", ",'percentageOfNodesToScore':0"), 5000, 500},
		{CLUSTER_CONFIG("", ",'percentageOfNodesToScore':0"), 6000, 300},
		{CLUSTER_CONFIG(",'percentageOfNodesToScore':40", ""), 6000, 2400},
		{CLUSTER_CONFIG("", ",'percentageOfNodesToScore':10"), 150, 100},
		{CLUSTER_CONFIG("", ",'percentageOfNodesToScore':100"), 500, 500},
		{CLUSTER_CONFIG(CLUSTER_ONLY(""), ",'percentageOfNodesToScore':40"), 500, 1},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		init(rows[i].config);
		ck_assert_msg(berth_engine_num_feasible_nodes_to_find(world.engine, world.framework,
				      rows[i].nodes) == rows[i].expected,
			"row %zu", i);
		finish();
	}
	ck_assert_int_eq(BERTH_MIN_FEASIBLE_NODES_TO_FIND, 100);
	struct berth_config *config =
		cluster_config(CLUSTER_CONFIG("", ",'percentageOfNodesToScore':7"));
	ck_assert_int_eq(berth_config_percentage_of_nodes_to_score(config), 7);
	berth_config_release(config);
}
END_TEST

static void hear_step(void *context, const char *text)
{
	(void)snprintf(context, 64, "%s", text);
}

/* seed-map 003.7, 003.8, 003.14, 003.18, 003.26: rotation, limit, no filters */
START_TEST(test_scheduling_cycle__find_nodes_that_fit)
{
	struct berth_feasible_nodes nodes;
	char step[64] = "";
	struct berth_trace trace = {hear_step, step};

	init(CLUSTER_CONFIG("", ""));
	berth_engine_set_trace(world.engine, &trace);
	struct berth_pod_info *pod = pod_info("p", "2", "");
	ck_assert_int_eq(berth_engine_find_nodes_that_fit(
				 world.engine, world.framework, world.state, pod, &nodes, NULL),
		0);
	ck_assert_uint_eq(nodes.count, 0);
	ck_assert_str_eq(step, "Computing predicates");
	cluster_put_node(world.engine, "n1", "1", "");
	cluster_put_node(world.engine, "n2", "4", "");
	cluster_put_node(world.engine, "n3", "4", "");
	fresh_state();
	ck_assert_int_eq(berth_engine_find_nodes_that_fit(
				 world.engine, world.framework, world.state, pod, &nodes, NULL),
		0);
	ck_assert_uint_eq(nodes.count, 2);
	cluster_expect(nodes.names[0], "n2");
	cluster_expect(nodes.names[1], "n3");
	cluster_expect(berth_fit_error_text(&nodes.diagnosis, world.arena),
		"0/3 nodes are available: 1 Insufficient cpu.");
	berth_framework_pod_destroy(pod);
	finish();

	/* Without score plugins one node is enough, and the next search begins after that node. */
	init(CLUSTER_CONFIG(CLUSTER_ONLY(""), ""));
	ck_assert(!berth_framework_has_filter_plugins(world.framework));
	cluster_put_node(world.engine, "n1", "1", "");
	cluster_put_node(world.engine, "n2", "1", "");
	pod = pod_info("p", "2", "");
	for (int i = 0; i < 4; i++) {
		fresh_state();
		ck_assert_int_eq(berth_engine_find_nodes_that_fit(world.engine, world.framework,
					 world.state, pod, &nodes, NULL),
			0);
		ck_assert_uint_eq(nodes.count, 1);
		cluster_expect(nodes.names[0], i % 2 == 0 ? "n1" : "n2");
	}
	berth_framework_pod_destroy(pod);

	/* PreFilter rejects the pod for all nodes. */
	finish();
	init(CLUSTER_CONFIG("", ""));
	cluster_put_node(world.engine, "n1", "4", "");
	pod = pod_info(
		"p", "1", ",'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'gone'}}]");
	ck_assert_int_eq(berth_engine_find_nodes_that_fit(
				 world.engine, world.framework, world.state, pod, &nodes, NULL),
		0);
	ck_assert_uint_eq(nodes.count, 0);
	cluster_expect(
		nodes.diagnosis.pre_filter_message, "persistentvolumeclaim \"gone\" not found");
	berth_framework_pod_destroy(pod);
	finish();
}
END_TEST

/** Runs the PreFilter plugins for the pod with the current state. */
static void pre_filter(const struct berth_pod_info *pod)
{
	struct berth_pre_filter_result result;
	struct berth_status status = berth_framework_run_pre_filter_plugins(
		world.framework, world.state, pod, &result, NULL, NULL);

	cluster_expect_status(&status, world.arena, "Success: ");
}

/* seed-map 003.25, 003.42 */
START_TEST(test_scheduling_cycle__check_node)
{
	struct berth_str name;
	const struct berth_node_info *node = NULL;

	init(CLUSTER_CONFIG("", ""));
	cluster_put_node(world.engine, "n1", "1", "");
	cluster_put_node(world.engine, "n2", "4", "");
	const struct berth_shared_lister *lister =
		berth_engine_snapshot_shared_lister(world.engine, NULL);
	struct berth_pod_info *pod = pod_info("p", "2", "");
	pre_filter(pod);
	struct berth_status status =
		berth_engine_check_node(world.engine, world.framework, world.state, pod, 0, &name);
	cluster_expect(name, "n1");
	cluster_expect_status(
		&status, world.arena, "UnschedulableAndUnresolvable: Insufficient cpu");
	status = berth_engine_check_node(world.engine, world.framework, world.state, pod, 1, &name);
	cluster_expect(name, "n2");
	cluster_expect_status(&status, world.arena, "Success: ");
	ck_assert_int_eq(
		berth_shared_lister_get(lister, BERTH_STR("n2"), world.arena, &node, NULL), 0);
	status = berth_engine_pod_fits_on_node(
		world.engine, world.framework, world.state, pod, node);
	cluster_expect_status(&status, world.arena, "Success: ");
	berth_framework_pod_destroy(pod);
	finish();
}
END_TEST

/*
 * seed-map 003.43, 003.44, 003.45, 003.46, 001.116, 001.121: nominated pods count as if they were
 * on their node
 */
START_TEST(test_scheduling_cycle__nominated_pods)
{
	struct berth_decision decision;
	struct berth_nominated_view view;
	const struct berth_node_info *node = NULL;
	uint32_t count = 0;

	init(CLUSTER_CONFIG("", ""));
	cluster_put_node(world.engine, "n1", "4", "");
	cluster_put(world.engine,
		"{'apiVersion':'v1','kind':'Pod','metadata':{'name':'hope','namespace':'d','uid':"
		"'uid-hope'},'spec':{'schedulerName':'default-scheduler','priority':10,"
		"'containers':[{'name':'c','resources':{'requests':{'cpu':'9'}}}]},"
		"'status':{'nominatedNodeName':'n1'}}");
	ck_assert(berth_engine_step(world.engine, 2, &decision));
	ck_assert_int_eq(decision.outcome, BERTH_DECISION_FAILED);
	/* An update lowers the request of the nominated pod, which is still pending. */
	cluster_put(world.engine,
		"{'apiVersion':'v1','kind':'Pod','metadata':{'name':'hope','namespace':'d','uid':"
		"'uid-hope','resourceVersion':'2'},'spec':{'schedulerName':'default-scheduler',"
		"'priority':10,'containers':[{'name':'c','resources':{'requests':{'cpu':'3'}}}]},"
		"'status':{'nominatedNodeName':'n1'}}");
	const struct berth_shared_lister *lister =
		berth_engine_snapshot_shared_lister(world.engine, NULL);
	ck_assert_int_eq(
		berth_shared_lister_get(lister, BERTH_STR("n1"), world.arena, &node, NULL), 0);
	const struct berth_pod_info *const *nominated = berth_queue_nominated_pods_for_node(
		berth_engine_queue(world.engine), BERTH_STR("n1"), world.arena, &count);
	ck_assert_uint_eq(count, 1);
	cluster_expect(berth_pod_info_name(nominated[0]), "hope");
	ck_assert_int_eq(berth_pod_info_priority(nominated[0]), 10);

	struct berth_pod_info *low = pod_info("low", "2", ",'priority':10");
	pre_filter(low);
	berth_engine_add_nominated_pods(
		world.engine, world.framework, world.state, low, node, &view);
	ck_assert(view.added);
	ck_assert_int_eq(berth_node_info_requested_cpu_milli(view.node), 3000);
	ck_assert_int_eq(berth_node_info_requested_cpu_milli(node), 0);
	berth_nominated_view_finish(&view);
	struct berth_status status = berth_engine_pod_fits_on_node(
		world.engine, world.framework, world.state, low, node);
	cluster_expect_status(&status, world.arena, "Unschedulable: Insufficient cpu");
	/* A node that the cluster lacks has no nominated pods. */
	struct berth_node_info *foreign = berth_node_info_create(NULL, 0);
	berth_engine_add_nominated_pods(
		world.engine, world.framework, world.state, low, foreign, &view);
	ck_assert(!view.added);
	berth_node_info_destroy(foreign);

	fresh_state();
	ck_assert_int_eq(
		berth_shared_lister_get(lister, BERTH_STR("n1"), world.arena, &node, NULL), 0);
	struct berth_pod_info *high = pod_info("high", "2", ",'priority':11");
	pre_filter(high);
	berth_engine_add_nominated_pods(
		world.engine, world.framework, world.state, high, node, &view);
	ck_assert(!view.added);
	berth_nominated_view_finish(&view);
	status = berth_engine_pod_fits_on_node(
		world.engine, world.framework, world.state, high, node);
	cluster_expect_status(&status, world.arena, "Success: ");
	berth_framework_pod_destroy(low);
	berth_framework_pod_destroy(high);
	finish();
}
END_TEST

static bool copy_entry(
	void *context, const struct berth_queued_pod *pod, enum berth_pod_place place)
{
	(void)place;
	*(struct berth_queued_pod **)context = berth_queued_pod_deep_copy(pod, world.arena);
	return true;
}

/* seed-map 001.116, 001.117, 001.118, 001.119, 001.120, 001.121: a copy outlives the engine */
START_TEST(test_scheduling_cycle__queued_pod_deep_copy)
{
	struct berth_queued_pod *copy = NULL;

	init(CLUSTER_CONFIG("", ""));
	cluster_put_pod(world.engine, "a", "2", ",'priority':3");
	(void)berth_engine_step(world.engine, 9, NULL);
	berth_engine_for_each_queued(world.engine, copy_entry, &copy);
	berth_engine_destroy(world.engine);
	cluster_expect(berth_pod_info_name(copy->pod), "a");
	cluster_expect(berth_pod_info_uid(copy->pod), "uid-a");
	cluster_expect(berth_pod_info_label(copy->pod, BERTH_STR("app")), "a");
	cluster_expect(berth_pod_info_scheduler_name(copy->pod), "default-scheduler");
	ck_assert_int_eq(berth_pod_info_priority(copy->pod), 3);
	ck_assert_int_eq(berth_pod_info_cpu_milli(copy->pod), 2000);
	ck_assert_uint_eq(copy->attempts, 1);
	ck_assert_int_eq(copy->timestamp_ns, 9);
	ck_assert_int_eq(copy->initial_attempt_timestamp_ns, 1);
	berth_cycle_state_destroy(world.state);
}
END_TEST

/* seed-map 003.28, 003.29 */
START_TEST(test_scheduling_cycle__error_counts)
{
	struct berth_error_counts counts = {0};
	struct berth_error err = BERTH_ERROR_INIT;

	ck_assert_int_eq(berth_error_counts_aggregate(&counts, &err), 0);
	berth_error_counts_add(&counts, "a");
	berth_error_counts_add(&counts, "a");
	ck_assert_int_eq(berth_error_counts_aggregate(&counts, &err), BERTH_ERR_INTERNAL);
	ck_assert_str_eq(berth_error_message(&err), "a (repeated 2 times)");
	berth_error_finish(&err);
	berth_error_counts_add(&counts, "b");
	ck_assert_int_eq(berth_error_counts_aggregate(&counts, &err), BERTH_ERR_INTERNAL);
	ck_assert_str_eq(berth_error_message(&err), "[a (repeated 2 times), b]");
	berth_error_finish(&err);
	berth_error_counts_finish(&counts);
	ck_assert_uint_eq(counts.count, 0);
}
END_TEST

static struct {
	uint32_t done[64];
	uint32_t count;
	struct berth_cancel cancel;
	uint32_t cancel_at;
} work;

static void do_piece(void *context, uint32_t piece)
{
	(void)context;
	work.done[work.count++] = piece;
	if (work.count == work.cancel_at) {
		work.cancel.canceled = true;
	}
}

/** Runs the chunks in reverse order, as threads might. */
static void run_backwards(void *context, uint32_t workers, uint32_t chunk_count,
	berth_parallelize_work_fn run_chunk, void *chunk_context)
{
	*(uint32_t *)context = workers;
	while (chunk_count-- > 0) {
		run_chunk(chunk_context, chunk_count);
	}
}

/* seed-map 003.30, 003.31, 003.32: chunk sizes of spec 02 section 13, and cancellation */
START_TEST(test_scheduling_cycle__parallelize_until)
{
	static const uint32_t chunks[][2] = {
		{0, 1}, {1, 1}, {16, 2}, {32, 3}, {1000, 31}, {5000, 70}};
	uint32_t workers = 0;
	struct berth_executor executor = {run_backwards, &workers};

	for (size_t i = 0; i < sizeof(chunks) / sizeof(chunks[0]); i++) {
		ck_assert_uint_eq(berth_parallelize_chunk_size(chunks[i][0], 16), chunks[i][1]);
	}
	memset(&work, 0, sizeof(work));
	berth_parallelize_until(NULL, NULL, 16, 0, do_piece, NULL);
	ck_assert_uint_eq(work.count, 0);
	berth_parallelize_until(&work.cancel, NULL, 16, 20, do_piece, NULL);
	ck_assert_uint_eq(work.count, 20);
	ck_assert_uint_eq(work.done[19], 19);
	memset(&work, 0, sizeof(work));
	work.cancel_at = 3;
	berth_parallelize_until(&work.cancel, NULL, 16, 20, do_piece, NULL);
	ck_assert_uint_eq(work.count, 3);
	memset(&work, 0, sizeof(work));
	berth_parallelize_until(NULL, &executor, 16, 7, do_piece, NULL);
	ck_assert_uint_eq(work.count, 7);
	ck_assert_uint_eq(work.done[0], 6);
	ck_assert_uint_eq(workers, 7);
}
END_TEST

/* seed-map 003.15, 003.16, 003.17 */
START_TEST(test_scheduling_cycle__metrics)
{
	ck_assert_str_eq(BERTH_METRIC_FRAMEWORK_EXTENSION_POINT_DURATION,
		"scheduler_framework_extension_point_duration_seconds");
	ck_assert_double_eq(
		berth_metrics_since_seconds(INT64_C(1000000000), INT64_C(3500000000)), 2.5);
}
END_TEST

BT_TEST_MAIN("lib_scheduling_cycle", test_scheduling_cycle__schedule,
	test_scheduling_cycle__fit_error, test_scheduling_cycle__num_feasible_nodes_to_find,
	test_scheduling_cycle__find_nodes_that_fit, test_scheduling_cycle__check_node,
	test_scheduling_cycle__nominated_pods, test_scheduling_cycle__queued_pod_deep_copy,
	test_scheduling_cycle__error_counts, test_scheduling_cycle__parallelize_until,
	test_scheduling_cycle__metrics)
