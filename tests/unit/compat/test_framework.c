/* SPDX-License-Identifier: Apache-2.0 */
/** Spec 02 sections 5, 8 and 18, through the public framework. */
#include "berth/framework.h"

#include "recorder.h"

/* --- two recorder plugins and two nodes --- */

static struct {
	struct berth_engine *engine; /* the engine with the nodes and pods */
	struct berth_registry *registry;
	struct berth_config *config;
	struct berth_framework *framework;
	const struct berth_shared_lister *lister;
	struct berth_cycle_state *state;
	struct berth_arena *arena;
	struct berth_pod_info *pod;
	const struct berth_node_info *nodes[2];
} world;

#define TWO_PLUGINS \
	CLUSTER_CONFIG(",'plugins':{'multiPoint':{'enabled':[{'name':'A','weight':3},{'name':'B'," \
		       "'weight':2},{'name':'PrioritySort'}],'disabled':[{'name':'*'}]}}", \
		"")

static void init(const struct berth_framework_options *given)
{
	static char name_a[] = "A";
	static char name_b[] = "B";
	struct berth_framework_options options = BERTH_FRAMEWORK_OPTIONS_INIT;
	struct berth_error err = BERTH_ERROR_INIT;

	memset(&told, 0, sizeof(told));
	memset(&world, 0, sizeof(world));
	world.engine = cluster_create(CLUSTER_CONFIG("", ""), NULL);
	cluster_put_node(world.engine, "n1", "4", "");
	cluster_put_node(world.engine, "n2", "4", "");
	world.lister = berth_engine_snapshot_shared_lister(world.engine, &err);
	world.registry = berth_registry_create_in_tree();
	ck_assert_int_eq(berth_registry_register(world.registry, "A", create, name_a, &err), 0);
	ck_assert_int_eq(berth_registry_register(world.registry, "B", create, name_b, &err), 0);
	world.config = cluster_config(TWO_PLUGINS);
	if (given != NULL) {
		options = *given;
	}
	options.snapshot_shared_lister = world.lister;
	ck_assert_msg(berth_framework_create(world.registry, world.config, 0, &options,
			      &world.framework, &err) == 0,
		"%s", berth_error_message(&err));
	world.state = berth_cycle_state_create();
	world.arena = berth_cycle_state_arena(world.state);
	world.pod = cluster_pod_info(world.framework, "p", "1", "");
	ck_assert_int_eq(berth_shared_lister_get(
				 world.lister, BERTH_STR("n1"), world.arena, &world.nodes[0], &err),
		0);
	ck_assert_int_eq(berth_shared_lister_get(
				 world.lister, BERTH_STR("n2"), world.arena, &world.nodes[1], &err),
		0);
}

static void finish(void)
{
	berth_framework_pod_destroy(world.pod);
	berth_cycle_state_destroy(world.state);
	berth_framework_destroy(world.framework);
	berth_config_release(world.config);
	berth_registry_destroy(world.registry);
	berth_engine_destroy(world.engine);
}

static void expect_log(const char *expected)
{
	ck_assert_str_eq(told.log, expected);
	told.log[0] = '\0';
}

static void expect_status(struct berth_status status, const char *expected)
{
	cluster_expect_status(&status, world.arena, expected);
}

/* seed-map 001.75, 001.76, 001.91, 001.92, 001.93, 001.102: a profile and its plugins */
START_TEST(test_framework__create_and_list)
{
	struct berth_framework *framework = NULL;
	struct berth_error err = BERTH_ERROR_INIT;
	uint32_t count = 0;

	init(NULL);
	cluster_expect(berth_framework_scheduler_name(world.framework), "default-scheduler");
	ck_assert(berth_framework_has_filter_plugins(world.framework));
	ck_assert(berth_framework_has_score_plugins(world.framework));
	ck_assert(berth_framework_has_post_filter_plugins(world.framework));
	const struct berth_plugin_entry *list = berth_framework_list_plugins(
		world.framework, BERTH_POINT_SCORE, world.arena, &count);
	ck_assert_uint_eq(count, 2);
	cluster_expect(list[0].name, "A");
	ck_assert_int_eq(list[0].weight, 3);
	cluster_expect(list[1].name, "B");
	ck_assert_int_eq(list[1].weight, 2);
	list = berth_framework_list_plugins(
		world.framework, BERTH_POINT_QUEUE_SORT, world.arena, &count);
	ck_assert_uint_eq(count, 1);
	cluster_expect(list[0].name, "PrioritySort");
	ck_assert_int_eq(list[0].weight, 0);
	(void)berth_framework_list_plugins(
		world.framework, BERTH_POINT_MULTI_POINT, world.arena, &count);
	ck_assert_uint_eq(count, 0);

	struct berth_config *without = cluster_config(CLUSTER_CONFIG(
		",'plugins':{'multiPoint':{'enabled':[{'name':'A'}],'disabled':[{'name':'*'}]}}",
		""));
	ck_assert_int_eq(berth_framework_create(world.registry, without, 0, NULL, &framework, &err),
		BERTH_ERR_INVALID);
	ck_assert_str_eq(berth_error_message(&err),
		"only one queue sort plugin required for profile with scheduler name "
		"\"default-scheduler\", but got 0");
	berth_error_finish(&err);
	ck_assert_int_eq(berth_framework_create(world.registry, without, 1, NULL, &framework, &err),
		BERTH_ERR_INVALID);
	berth_error_finish(&err);
	berth_config_release(without);

	without = cluster_config(CLUSTER_CONFIG(CLUSTER_ONLY(""), ""));
	ck_assert_int_eq(
		berth_framework_create(world.registry, without, 0, NULL, &framework, &err), 0);
	ck_assert(!berth_framework_has_filter_plugins(framework));
	ck_assert(!berth_framework_has_score_plugins(framework));
	ck_assert_uint_eq(berth_shared_lister_count(berth_handle_snapshot_shared_lister(
				  berth_framework_handle(framework))),
		0);
	berth_framework_destroy(framework);
	berth_framework_destroy(NULL);
	berth_config_release(without);
	finish();
}
END_TEST

/* seed-map 001.77: priority first, then time */
START_TEST(test_framework__queue_sort_func)
{
	init(NULL);
	struct berth_plugin *plugin = NULL;
	berth_less_fn less = berth_framework_queue_sort_func(world.framework, &plugin);
	struct berth_pod_info *high =
		cluster_pod_info(world.framework, "high", "1", ",'priority':5");
	struct berth_queued_pod a = {.pod = world.pod, .timestamp_ns = 1};
	struct berth_queued_pod b = {.pod = world.pod, .timestamp_ns = 2};
	struct berth_queued_pod c = {.pod = high, .timestamp_ns = 3};

	ck_assert(less(plugin, &a, &b));
	ck_assert(!less(plugin, &b, &a));
	ck_assert(less(plugin, &c, &a));
	berth_framework_pod_destroy(high);
	finish();
}
END_TEST

/* seed-map 001.78 */
START_TEST(test_framework__pre_filter)
{
	struct berth_pre_filter_result result;
	const struct berth_str *names = NULL;
	uint32_t count = 0;

	init(NULL);
	expect_status(berth_framework_run_pre_filter_plugins(
			      world.framework, world.state, world.pod, &result, NULL, NULL),
		"Success: ");
	ck_assert(!result.restricted);
	expect_log("A.PreFilter B.PreFilter ");
	told.only_node[1] = "n2";
	expect_status(berth_framework_run_pre_filter_plugins(
			      world.framework, world.state, world.pod, &result, &names, &count),
		"Success: ");
	ck_assert(result.restricted);
	ck_assert_uint_eq(result.count, 1);
	cluster_expect(result.names[0], "n2");
	ck_assert_uint_eq(count, 1);
	cluster_expect(names[0], "B");
	told.only_node[0] = "n1";
	expect_status(berth_framework_run_pre_filter_plugins(
			      world.framework, world.state, world.pod, &result, &names, &count),
		"UnschedulableAndUnresolvable: node(s) didn't satisfy plugin(s) [A B] "
		"simultaneously");
	told.answers[0][POINT_PRE_FILTER] = BERTH_CODE_UNSCHEDULABLE;
	told.only_node[1] = NULL;
	struct berth_status status = berth_framework_run_pre_filter_plugins(
		world.framework, world.state, world.pod, &result, NULL, NULL);
	expect_status(status, "Unschedulable: A says no");
	cluster_expect(berth_framework_status_plugin(world.framework, &status), "A");
	told.answers[0][POINT_PRE_FILTER] = BERTH_CODE_PENDING;
	expect_status(berth_framework_run_pre_filter_plugins(
			      world.framework, world.state, world.pod, &result, NULL, NULL),
		"Error: running PreFilter plugin \"A\": A says no");
	finish();
}
END_TEST

/* seed-map 001.79, 001.105: stop at the first failure, or run all plugins */
START_TEST(test_framework__filter_and_run_all_filters)
{
	struct berth_framework_options options = BERTH_FRAMEWORK_OPTIONS_INIT;

	for (int all = 0; all < 2; all++) {
		options.run_all_filters = all != 0;
		init(&options);
		struct berth_plugin_to_status map = berth_framework_run_filter_plugins(
			world.framework, world.state, world.pod, world.nodes[0]);
		ck_assert_uint_eq(map.count, 0);
		expect_status(berth_status_merge(&map, world.arena), "Success: ");
		told.log[0] = '\0';
		told.answers[0][POINT_FILTER] = BERTH_CODE_UNSCHEDULABLE;
		told.answers[1][POINT_FILTER] = BERTH_CODE_UNSCHEDULABLE_AND_UNRESOLVABLE;
		map = berth_framework_run_filter_plugins(
			world.framework, world.state, world.pod, world.nodes[0]);
		expect_log(all ? "A.Filter B.Filter " : "A.Filter ");
		ck_assert_uint_eq(map.count, all ? 2 : 1);
		cluster_expect(map.items[0].plugin, "A");
		expect_status(berth_status_merge(&map, world.arena),
			all ? "UnschedulableAndUnresolvable: A says no, B says no"
			    : "Unschedulable: A says no");
		expect_status(berth_framework_run_filter_plugins_with_nominated_pods(
				      world.framework, world.state, world.pod, world.nodes[0]),
			all ? "UnschedulableAndUnresolvable: A says no, B says no"
			    : "Unschedulable: A says no");
		told.answers[1][POINT_FILTER] = BERTH_CODE_WAIT;
		expect_status(berth_framework_run_filter_plugins_with_nominated_pods(
				      world.framework, world.state, world.pod, world.nodes[0]),
			all ? "Error: A says no, running \"B\" filter plugin: %!w(<nil>)"
			    : "Unschedulable: A says no");
		finish();
	}
}
END_TEST

/* seed-map 001.80, 001.81: a plugin that skipped PreFilter is not called; any failure is an error
 */
START_TEST(test_framework__pre_filter_extensions)
{
	struct berth_pre_filter_result result;

	init(NULL);
	told.answers[0][POINT_PRE_FILTER] = BERTH_CODE_SKIP;
	expect_status(berth_framework_run_pre_filter_plugins(
			      world.framework, world.state, world.pod, &result, NULL, NULL),
		"Success: ");
	told.log[0] = '\0';
	expect_status(berth_framework_run_pre_filter_extension_add_pod(
			      world.framework, world.state, world.pod, world.pod, world.nodes[0]),
		"Success: ");
	expect_log("B.AddPod ");
	struct berth_cycle_state *copy =
		berth_framework_clone_cycle_state(world.framework, world.state);
	expect_status(berth_framework_run_pre_filter_extension_remove_pod(
			      world.framework, copy, world.pod, world.pod, world.nodes[0]),
		"Success: ");
	expect_log("B.RemovePod ");
	told.answers[1][POINT_ADD_POD] = BERTH_CODE_UNSCHEDULABLE;
	told.answers[1][POINT_REMOVE_POD] = BERTH_CODE_ERROR;
	expect_status(berth_framework_run_pre_filter_extension_add_pod(
			      world.framework, copy, world.pod, world.pod, world.nodes[0]),
		"Error: running AddPod on PreFilter plugin \"B\": B says no");
	expect_status(berth_framework_run_pre_filter_extension_remove_pod(
			      world.framework, copy, world.pod, world.pod, world.nodes[0]),
		"Error: running RemovePod on PreFilter plugin \"B\": B says no");
	struct berth_node_info *foreign = berth_node_info_create(NULL, 0);
	expect_status(berth_framework_run_pre_filter_extension_add_pod(
			      world.framework, copy, world.pod, world.pod, foreign),
		"Error: the node is not one of the framework's cluster");
	berth_node_info_destroy(foreign);
	berth_cycle_state_destroy(copy);
	finish();
}
END_TEST

/* PostFilter reads the map of statuses that the caller passes */
START_TEST(test_framework__post_filter)
{
	struct berth_post_filter_result result;
	struct berth_node_to_status *statuses = berth_node_to_status_create();

	init(NULL);
	struct berth_status verdict =
		berth_status_reason(world.arena, BERTH_CODE_UNSCHEDULABLE, "full");
	berth_node_to_status_set(statuses, BERTH_STR("n1"), &verdict);
	berth_node_to_status_set(statuses, BERTH_STR("no such node"), &verdict);
	expect_status(berth_framework_run_post_filter_plugins(
			      world.framework, world.state, world.pod, statuses, &result),
		"Success: ");
	ck_assert(result.present);
	cluster_expect(result.nominated_node_name, "n1");
	expect_log("A.PostFilter ");
	berth_node_to_status_destroy(statuses);
	finish();
}
END_TEST

/* seed-map 001.82, 001.83, 001.126 */
START_TEST(test_framework__score)
{
	struct berth_plugin_to_node_scores scores;

	init(NULL);
	expect_status(berth_framework_run_pre_score_plugins(
			      world.framework, world.state, world.pod, world.nodes, 2),
		"Success: ");
	expect_status(berth_framework_run_score_plugins(
			      world.framework, world.state, world.pod, world.nodes, 2, &scores),
		"Success: ");
	ck_assert_uint_eq(scores.count, 2);
	cluster_expect(scores.items[0].plugin, "A");
	ck_assert_int_eq(scores.items[0].weight, 3);
	cluster_expect(scores.items[0].scores.items[1].name, "n2");
	ck_assert_int_eq(scores.items[0].scores.items[1].score, 60);
	ck_assert_int_eq(scores.items[1].scores.items[0].score, 2);
	ck_assert_int_eq(scores.totals.items[0].score, 32);
	ck_assert_int_eq(scores.totals.items[1].score, 62);
	told.answers[0][POINT_PRE_SCORE] = BERTH_CODE_SKIP;
	expect_status(berth_framework_run_pre_score_plugins(
			      world.framework, world.state, world.pod, world.nodes, 2),
		"Success: ");
	expect_status(berth_framework_run_score_plugins(
			      world.framework, world.state, world.pod, world.nodes, 2, &scores),
		"Success: ");
	ck_assert_uint_eq(scores.count, 1);
	ck_assert_int_eq(scores.totals.items[1].score, 2);
	told.answers[1][POINT_SCORE] = BERTH_CODE_ERROR;
	expect_status(berth_framework_run_score_plugins(
			      world.framework, world.state, world.pod, world.nodes, 2, &scores),
		"Error: running Score plugins: plugin \"B\" failed with: B says no");
	finish();
}
END_TEST

/* seed-map 001.84, 001.85 */
START_TEST(test_framework__reserve)
{
	init(NULL);
	told.answers[1][POINT_RESERVE] = BERTH_CODE_ERROR;
	expect_status(berth_framework_run_reserve_plugins(
			      world.framework, world.state, world.pod, BERTH_STR("n1")),
		"Error: running Reserve plugin \"B\": B says no");
	expect_log("A.Reserve B.Reserve ");
	berth_framework_run_unreserve_plugins(
		world.framework, world.state, world.pod, BERTH_STR("n1"));
	expect_log("B.Unreserve A.Unreserve ");
	expect_status(berth_framework_run_reserve_plugins(
			      world.framework, world.state, world.pod, BERTH_STR("n9")),
		"Error: nodeinfo not found for node name \"n9\"");
	berth_framework_run_unreserve_plugins(
		world.framework, world.state, world.pod, BERTH_STR("n9"));
	expect_log("");
	finish();
}
END_TEST

/* seed-map 001.86, 001.87, 001.141 */
START_TEST(test_framework__permit)
{
	const struct berth_permit_wait *waits = NULL;
	uint32_t count = 0;

	init(NULL);
	told.timeout_ns = INT64_MAX;
	told.answers[0][POINT_PERMIT] = BERTH_CODE_WAIT;
	expect_status(berth_framework_run_permit_plugins(world.framework, world.state, world.pod,
			      BERTH_STR("n1"), &waits, &count),
		"Wait: A says no, one or more plugins asked to wait and no plugin rejected pod");
	expect_log("A.Permit B.Permit ");
	ck_assert_uint_eq(count, 1);
	cluster_expect(waits[0].plugin, "A");
	ck_assert_int_eq(waits[0].timeout_ns, INT64_C(900000000000));
	expect_status(berth_framework_wait_on_permit(world.framework, world.pod, 5, world.arena),
		"Success: ");

	berth_framework_add_waiting_pod(world.framework, world.pod, waits, count, 100);
	expect_status(berth_framework_wait_on_permit(world.framework, world.pod, 100, world.arena),
		"Wait: ");
	ck_assert_int_le(
		berth_framework_next_permit_deadline_ns(world.framework), INT64_C(900000000100));
	const struct berth_handle *handle = berth_framework_handle(world.framework);
	struct berth_waiting_pod *waiting =
		berth_handle_get_waiting_pod(handle, BERTH_STR("uid-p"));
	ck_assert_ptr_nonnull(waiting);
	berth_waiting_pod_allow(waiting, "A");
	expect_status(berth_framework_wait_on_permit(world.framework, world.pod, 101, world.arena),
		"Success: ");
	ck_assert_ptr_null(berth_handle_get_waiting_pod(handle, BERTH_STR("uid-p")));

	berth_framework_add_waiting_pod(world.framework, world.pod, waits, count, 100);
	expect_status(berth_framework_wait_on_permit(
			      world.framework, world.pod, INT64_C(900000000100), world.arena),
		"Unschedulable: rejected due to timeout after waiting 15m0s at plugin A");
	ck_assert_int_eq(berth_framework_next_permit_deadline_ns(world.framework), INT64_MAX);

	const struct berth_permit_wait longest = {BERTH_STR("A"), INT64_MAX};
	berth_framework_add_waiting_pod(world.framework, world.pod, &longest, 1, 100);
	expect_status(berth_framework_wait_on_permit(world.framework, world.pod, 101, world.arena),
		"Wait: ");
	berth_waiting_pod_allow(berth_handle_get_waiting_pod(handle, BERTH_STR("uid-p")), "A");
	expect_status(berth_framework_wait_on_permit(world.framework, world.pod, 102, world.arena),
		"Success: ");

	told.answers[1][POINT_PERMIT] = BERTH_CODE_UNSCHEDULABLE;
	expect_status(berth_framework_run_permit_plugins(world.framework, world.state, world.pod,
			      BERTH_STR("n1"), &waits, &count),
		"Unschedulable: B says no");
	ck_assert_uint_eq(count, 0);
	finish();
}
END_TEST

/* seed-map 001.88: PreBind plugins run in groups; a plugin may return Wait */
START_TEST(test_framework__pre_bind)
{
	init(NULL);
	told.answers[1][POINT_PRE_FLIGHT] = BERTH_CODE_SKIP;
	expect_status(berth_framework_run_pre_bind_pre_flights(
			      world.framework, world.state, world.pod, BERTH_STR("n1")),
		"Success: ");
	told.log[0] = '\0';
	expect_status(berth_framework_run_pre_bind_plugins(
			      world.framework, world.state, world.pod, BERTH_STR("n1")),
		"Success: ");
	expect_log("A.PreBind ");
	told.answers[1][POINT_PRE_FLIGHT] = BERTH_CODE_SUCCESS;
	told.answers[1][POINT_PRE_BIND] = BERTH_CODE_WAIT;
	expect_status(berth_framework_run_pre_bind_pre_flights(
			      world.framework, world.state, world.pod, BERTH_STR("n1")),
		"Success: ");
	told.log[0] = '\0';
	struct berth_status status = berth_framework_run_pre_bind_plugins(
		world.framework, world.state, world.pod, BERTH_STR("n1"));
	ck_assert_int_eq(status.code, BERTH_CODE_WAIT);
	told.answers[1][POINT_PRE_BIND] = BERTH_CODE_ERROR;
	expect_status(berth_framework_run_pre_bind_plugins(
			      world.framework, world.state, world.pod, BERTH_STR("n1")),
		"Error: running PreBind plugin \"B\": B says no");
	expect_log("A.PreBind B.PreBind B.PreBind ");
	finish();
}
END_TEST

/* seed-map 001.89, 001.90, 001.140: if all bind plugins skip, the code is Skip */
START_TEST(test_framework__bind)
{
	init(NULL);
	told.answers[0][POINT_BIND] = BERTH_CODE_SKIP;
	expect_status(berth_framework_run_bind_plugins(
			      world.framework, world.state, world.pod, BERTH_STR("n1")),
		"Success: ");
	expect_log("A.Bind B.Bind ");
	told.answers[1][POINT_BIND] = BERTH_CODE_WAIT;
	struct berth_status status = berth_framework_run_bind_plugins(
		world.framework, world.state, world.pod, BERTH_STR("n1"));
	ck_assert_int_eq(status.code, BERTH_CODE_WAIT);
	told.answers[1][POINT_BIND] = BERTH_CODE_SKIP;
	status = berth_framework_run_bind_plugins(
		world.framework, world.state, world.pod, BERTH_STR("n1"));
	ck_assert_int_eq(status.code, 5);
	expect_log("A.Bind B.Bind B.Bind ");
	berth_framework_run_post_bind_plugins(
		world.framework, world.state, world.pod, BERTH_STR("n1"));
	expect_log("A.PostBind B.PostBind ");
	told.answers[0][POINT_PRE_ENQUEUE] = BERTH_CODE_UNSCHEDULABLE_AND_UNRESOLVABLE;
	expect_status(
		berth_framework_run_pre_enqueue_plugins(world.framework, world.pod, world.arena),
		"UnschedulableAndUnresolvable: A says no");
	finish();
}
END_TEST

/*
 * seed-map 001.103, 001.104, 001.106, 001.107: the plugins' handle returns the objects of the
 * options
 */
START_TEST(test_framework__options_reach_the_handle)
{
	static int client;
	static int informers;
	static int binder;
	struct berth_framework_options options = BERTH_FRAMEWORK_OPTIONS_INIT;

	options.client_set = (const struct berth_client_set *)(const void *)&client;
	options.informer_factory = (const struct berth_informer_factory *)(const void *)&informers;
	options.volume_binder = (struct berth_volume_binder *)(void *)&binder;
	init(&options);
	const struct berth_handle *handle = berth_framework_handle(world.framework);
	ck_assert_ptr_eq(berth_handle_client_set(handle), options.client_set);
	ck_assert_ptr_eq(berth_handle_shared_informer_factory(handle), options.informer_factory);
	ck_assert_ptr_eq(berth_handle_volume_binder(handle), options.volume_binder);
	ck_assert_uint_eq(
		berth_shared_lister_count(berth_handle_snapshot_shared_lister(handle)), 2);
	ck_assert_ptr_eq(berth_handle_framework(handle), world.framework);
	berth_framework_set_now_ns(world.framework, 77);
	ck_assert_int_eq(berth_handle_now_ns(handle), 77);
	finish();
}
END_TEST

BT_TEST_MAIN("lib_framework", test_framework__create_and_list, test_framework__queue_sort_func,
	test_framework__pre_filter, test_framework__filter_and_run_all_filters,
	test_framework__pre_filter_extensions, test_framework__post_filter, test_framework__score,
	test_framework__reserve, test_framework__permit, test_framework__pre_bind,
	test_framework__bind, test_framework__options_reach_the_handle)
