/* SPDX-License-Identifier: Apache-2.0 */
/** Spec 11b section 9 and 03 section 3.6, with a transport that the test defines. */
#include "berth/extender.h"

#include "cluster.h"

static struct {
	char urls[256];
	char body[512];
	const char *answer; /* answer to /filter and /f2; NULL: no connection */
	int status;
	bool had_tls;
	char log[256];
} wire;

static int post(void *context, const struct berth_extender_request *request,
	struct berth_arena *arena, struct berth_extender_response *out_response,
	struct berth_error *err)
{
	size_t length = strlen(wire.urls);
	char answer[512];

	(void)context;
	(void)snprintf(wire.urls + length, sizeof(wire.urls) - length, "%.*s ",
		BERTH_STR_ARG(request->url));
	(void)snprintf(wire.body, sizeof(wire.body), "%.*s", BERTH_STR_ARG(request->body));
	wire.had_tls = request->enable_https && request->tls != NULL && request->tls->insecure;
	ck_assert_int_gt(request->timeout_ns, 0);
	if (wire.answer == NULL) {
		return berth_error_set(err, BERTH_ERR_IO, "connection refused");
	}
	cluster_unquote(answer, sizeof(answer), wire.answer);
	out_response->status = wire.status;
	out_response->body = berth_arena_str(arena, berth_str_from(answer));
	return 0;
}

static void hear(void *context, int verbosity, struct berth_str line)
{
	(void)context;
	(void)snprintf(wire.log, sizeof(wire.log), "%d %.*s", verbosity, BERTH_STR_ARG(line));
}

#define EXTENDERS \
	CLUSTER_CONFIG("", \
		",'extenders':[{'urlPrefix':'http://a/','filterVerb':'f','ignorable':" \
		"true,'nodeCacheCapable':true},{'urlPrefix':'http://b/','filterVerb':" \
		"'filter','nodeCacheCapable':true,'enableHTTPS':true,'tlsConfig':{" \
		"'insecure':true},'managedResources':[{'name':'example.com/x'}]}]")

static struct berth_engine *init(void)
{
	static const struct berth_extender_transport transport = {post, NULL};
	struct berth_engine_options options = BERTH_ENGINE_OPTIONS_INIT;

	memset(&wire, 0, sizeof(wire));
	wire.status = 200;
	options.extender_transport = &transport;
	options.log = hear;
	struct berth_engine *engine = cluster_create(EXTENDERS, &options);

	cluster_put_node(engine, "n1", "4", "");
	cluster_put_node(engine, "n2", "4", "");
	return engine;
}

#define ASKS_X \
	",'initContainers':[{'name':'i','resources':{'limits':{'example.com/x':'0'}," \
	"'requests':{'example.com/x':'0'}}}]"

/* seed-map 003.56, 003.57, 003.59: order of extenders, and which pods they are interested in */
START_TEST(test_extender__questions)
{
	struct berth_engine *engine = init();

	ck_assert_uint_eq(berth_engine_extender_count(engine), 2);
	const struct berth_extender *b = berth_engine_extender_at(engine, 0);
	const struct berth_extender *a = berth_engine_extender_at(engine, 1);
	cluster_expect(berth_extender_name(b), "http://b/");
	ck_assert(!berth_extender_is_ignorable(b));
	ck_assert(berth_extender_is_ignorable(a));
	struct berth_pod_info *plain = cluster_pod_info(cluster_framework(engine), "p", "1", "");
	struct berth_pod_info *pod = cluster_pod_info(cluster_framework(engine), "q", "1", ASKS_X);
	ck_assert(berth_extender_is_interested(a, plain));
	ck_assert(!berth_extender_is_interested(b, plain));
	ck_assert(berth_extender_is_interested(b, pod));
	berth_framework_pod_destroy(plain);
	berth_framework_pod_destroy(pod);
	berth_engine_destroy(engine);

	/* Without a transport the engine has no extenders. */
	engine = cluster_create(EXTENDERS, NULL);
	ck_assert_uint_eq(berth_engine_extender_count(engine), 0);
	berth_engine_destroy(engine);
}
END_TEST

/* seed-map 003.58, 003.60 */
START_TEST(test_extender__filter)
{
	struct berth_engine *engine = init();
	struct berth_arena *arena = berth_arena_create();
	struct berth_str names[] = {BERTH_STR("n1"), BERTH_STR("n2")};
	struct berth_str stranger = BERTH_STR("n9");
	struct berth_extender_filter_result result;
	struct berth_error err = BERTH_ERROR_INIT;
	const struct berth_extender *b = berth_engine_extender_at(engine, 0);
	struct berth_pod_info *plain = cluster_pod_info(cluster_framework(engine), "p", "1", "");
	struct berth_pod_info *pod = cluster_pod_info(cluster_framework(engine), "q", "1", ASKS_X);

	ck_assert_ptr_nonnull(berth_engine_snapshot_shared_lister(engine, NULL));
	ck_assert_int_eq(berth_extender_filter(b, plain, names, 2, arena, &result, &err), 0);
	ck_assert_uint_eq(result.count, 2);
	ck_assert_str_eq(wire.urls, "");
	wire.answer = "{'NodeNames':['n2'],'FailedNodes':{'n1':'no x'},"
		      "'FailedAndUnresolvableNodes':{'n3':'never'}}";
	ck_assert_int_eq(berth_extender_filter(b, pod, names, 2, arena, &result, &err), 0);
	ck_assert_str_eq(wire.urls, "http://b/filter ");
	ck_assert(wire.had_tls);
	ck_assert_ptr_nonnull(strstr(wire.body, "\"NodeNames\":[\"n1\",\"n2\"]"));
	ck_assert_uint_eq(result.count, 1);
	cluster_expect(result.names[0], "n2");
	ck_assert_uint_eq(result.failed_count, 2);
	cluster_expect(result.failed[0].name, "n3");
	ck_assert(result.failed[0].unresolvable);
	cluster_expect(result.failed[1].name, "n1");
	cluster_expect(result.failed[1].message, "no x");
	ck_assert(!result.failed[1].unresolvable);
	wire.status = 500;
	ck_assert_int_eq(
		berth_extender_filter(b, pod, names, 2, arena, &result, &err), BERTH_ERR_INTERNAL);
	ck_assert_str_eq(berth_error_message(&err),
		"failed filter with extender at URL http://b/filter, code 500");
	berth_error_finish(&err);
	wire.answer = NULL;
	ck_assert_int_eq(berth_extender_filter(berth_engine_extender_at(engine, 1), plain, names, 2,
				 arena, &result, &err),
		BERTH_ERR_INTERNAL);
	ck_assert_str_eq(berth_error_message(&err), "connection refused");
	berth_error_finish(&err);
	ck_assert_int_eq(berth_extender_filter(b, pod, &stranger, 1, arena, &result, &err),
		BERTH_ERR_NOT_FOUND);
	berth_error_finish(&err);
	berth_framework_pod_destroy(plain);
	berth_framework_pod_destroy(pod);
	berth_arena_destroy(arena);
	berth_engine_destroy(engine);
}
END_TEST

/*
 * seed-map 003.60, 003.91: the engine's search calls the extenders, ignores errors of ignorable
 * extenders and logs these errors
 */
START_TEST(test_extender__search)
{
	struct berth_engine *engine = init();
	struct berth_framework *framework = cluster_framework(engine);
	struct berth_cycle_state *state = berth_cycle_state_create();
	struct berth_feasible_nodes nodes;
	struct berth_schedule_result result;
	struct berth_fit_error fit_error;
	struct berth_error err = BERTH_ERROR_INIT;
	struct berth_pod_info *pod = cluster_pod_info(framework, "p", "1", "");

	ck_assert_int_eq(
		berth_engine_find_nodes_that_fit(engine, framework, state, pod, &nodes, NULL), 0);
	ck_assert_uint_eq(nodes.count, 2);
	ck_assert_str_eq(wire.log,
		"0 Skipping extender as it returned error and has ignorable flag set "
		"extender=\"http://a/\" err=\"connection refused\"");
	berth_cycle_state_destroy(state);
	state = berth_cycle_state_create();
	wire.answer = "{'NodeNames':[],'FailedNodes':{'n1':'no x','n2':'no x'}}";
	ck_assert_int_eq(
		berth_engine_find_nodes_that_fit(engine, framework, state, pod, &nodes, NULL), 0);
	ck_assert_uint_eq(nodes.count, 0);
	cluster_expect(berth_fit_error_text(&nodes.diagnosis, berth_cycle_state_arena(state)),
		"0/2 nodes are available: 2 no x.");
	ck_assert_int_eq(berth_engine_schedule(engine, framework, pod, &result, &fit_error, &err),
		BERTH_ERR_FIT);
	ck_assert_str_eq(berth_error_message(&err), "0/2 nodes are available: 2 no x.");
	berth_error_finish(&err);
	/* A node that only the extender names counts in both searches. */
	berth_cycle_state_destroy(state);
	state = berth_cycle_state_create();
	wire.answer = "{'NodeNames':[],'FailedNodes':{'n1':'no x','n2':'no x','n9':'gone'}}";
	ck_assert_int_eq(
		berth_engine_find_nodes_that_fit(engine, framework, state, pod, &nodes, NULL), 0);
	cluster_expect(berth_fit_error_text(&nodes.diagnosis, berth_cycle_state_arena(state)),
		"0/2 nodes are available: 1 gone, 2 no x.");
	ck_assert_int_eq(
		berth_engine_schedule(engine, framework, pod, &result, NULL, &err), BERTH_ERR_FIT);
	ck_assert_str_eq(berth_error_message(&err), "0/2 nodes are available: 1 gone, 2 no x.");
	berth_error_finish(&err);
	wire.answer = "{'NodeNames':['n2']}";
	ck_assert_int_eq(
		berth_engine_schedule(engine, framework, pod, &result, &fit_error, &err), 0);
	cluster_expect(result.suggested_host, "n2");
	berth_framework_pod_destroy(pod);
	berth_cycle_state_destroy(state);
	berth_engine_destroy(engine);
}
END_TEST

BT_TEST_MAIN("lib_extender", test_extender__questions, test_extender__filter, test_extender__search)
