/* SPDX-License-Identifier: Apache-2.0 */
/** The engine as used by an embedding program. Spec 03, 04, 07 section 9, 08 section 11. */
#include "berth/engine.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "test_main.h"

#define SECOND INT64_C(1000000000)

/** The engine under test; its log has a line for each decision and request. */
static struct {
	struct berth_engine *engine;
	struct berth_arena *arena;
	int64_t now_ns;
	int version;
	char log[4096];
	char warnings[256];
	uint64_t last_id[BERTH_REQUEST_PATCH_POD_GROUP + 1];
} world;

static void note(const char *format, ...) BERTH_PRINTF(1, 2);

static void note(const char *format, ...)
{
	size_t length = strlen(world.log);
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(world.log + length, sizeof(world.log) - length, format, arguments);
	va_end(arguments);
}

static void hear(void *context, struct berth_str line)
{
	(void)context;
	(void)snprintf(world.warnings, sizeof(world.warnings), "%.*s", BERTH_STR_ARG(line));
}

static void init_gated(const char *config_text, const char *gates)
{
	struct berth_engine_options options = BERTH_ENGINE_OPTIONS_INIT;
	struct berth_config *config = NULL;
	struct berth_error err = BERTH_ERROR_INIT;

	memset(&world, 0, sizeof(world));
	world.now_ns = SECOND;
	world.arena = berth_arena_create();
	options.verify = true;
	options.warn = hear;
	ck_assert_msg(berth_config_load(berth_str_from(config_text), gates, &config, &err) == 0,
		"%s", berth_error_message(&err));
	ck_assert_msg(berth_engine_create(config, &options, &world.engine, &err) == 0, "%s",
		berth_error_message(&err));
	berth_config_release(config); /* the engine keeps a reference */
}

static void init(const char *config_text)
{
	init_gated(config_text, NULL);
}

#define DEFAULT_CONFIG \
	"{\"apiVersion\":\"kubescheduler.config.k8s.io/v1\",\"kind\":\"" \
	"KubeSchedulerConfiguration\"}"

static void finish(void)
{
	berth_engine_destroy(world.engine);
	berth_arena_destroy(world.arena);
}

/** Decodes an object from JSON with ' for ". */
static struct berth_object *object(const char *text)
{
	struct berth_object *decoded = NULL;
	struct berth_error err = BERTH_ERROR_INIT;
	char json[1024];

	(void)snprintf(json, sizeof(json), "%s", text);
	for (char *at = json; *at != '\0'; at++) {
		*at = *at == '\'' ? '"' : *at;
	}
	ck_assert_msg(berth_object_decode(berth_str_from(json), &decoded, &err) == 0, "%s: %s",
		json, berth_error_message(&err));
	return decoded;
}

static void put(const char *text)
{
	struct berth_object *decoded = object(text);

	ck_assert_int_eq(berth_engine_put(world.engine, decoded, world.now_ns, NULL), 0);
	berth_object_release(decoded);
}

static void delete (const char *text)
{
	struct berth_object *decoded = object(text);

	ck_assert_int_eq(berth_engine_delete(world.engine, decoded, world.now_ns, NULL), 0);
	berth_object_release(decoded);
}

static void put_node(const char *name, const char *cpu)
{
	char text[512];

	(void)snprintf(text, sizeof(text),
		"{'apiVersion':'v1','kind':'Node','metadata':{'name':'%s','resourceVersion':'%d'},"
		"'status':{'allocatable':{'cpu':'%s','memory':'8Gi','pods':'10'}}}",
		name, ++world.version, cpu);
	put(text);
}

/** Puts a pod. more: members of spec, beginning with a comma, or "". */
static void put_pod(const char *name, const char *cpu, const char *more)
{
	char text[900];

	(void)snprintf(text, sizeof(text),
		"{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s','namespace':'d',"
		"'uid':'uid-%s','resourceVersion':'%d'},'spec':{'schedulerName':"
		"'default-scheduler','containers':[{'name':'c','resources':{'requests':{"
		"'cpu':'%s'}}}]%s}}",
		name, name, ++world.version, cpu, more);
	put(text);
}

static void answer(uint64_t id, int code, const char *message, const char *resource_version)
{
	struct berth_answer given = {
		code, berth_str_from(message), berth_str_from(resource_version)};

	berth_engine_answer(world.engine, id, &given);
}

static void note_request(const struct berth_request *request)
{
	static const char *const kinds[] = {
		"bind", "patch", "delete", "event", "volume", "select", "group"};

	note("%s %.*s/%.*s", kinds[request->kind], BERTH_STR_ARG(request->object_namespace),
		BERTH_STR_ARG(request->object_name));
	if (request->node_name.length != 0) {
		note(" %.*s", BERTH_STR_ARG(request->node_name));
	}
	if (request->kind == BERTH_REQUEST_EVENT) {
		note(" %.*s %.*s", BERTH_STR_ARG(request->event_type),
			BERTH_STR_ARG(request->event_reason));
	}
	if (request->has_condition) {
		note(" %.*s=%.*s", BERTH_STR_ARG(request->condition.type),
			BERTH_STR_ARG(request->condition.status));
	}
	if (request->has_nominated_node_name) {
		note(" nominated='%.*s'", BERTH_STR_ARG(request->nominated_node_name));
	}
	if (request->kind == BERTH_REQUEST_BIND_VOLUME) {
		note(" %.*s at %.*s%s", BERTH_STR_ARG(request->claim.claim_name),
			BERTH_STR_ARG(request->resource_version),
			request->bound_by_controller ? " by controller" : "");
	}
	note("\n");
}

/** Steps the engine until no work is left, answers no request, and returns the log of the run. */
static const char *run(void)
{
	static const char *const outcomes[] = {"bound", "waiting", "failed", "skipped"};
	struct berth_decision decision;
	struct berth_request request;
	static char said[sizeof(world.log)];

	while (berth_engine_step(world.engine, world.now_ns, &decision)) {
		note("%.*s %s %.*s\n", BERTH_STR_ARG(decision.pod_name), outcomes[decision.outcome],
			BERTH_STR_ARG(decision.node_name));
	}
	while (berth_engine_take_request(world.engine, &request)) {
		world.last_id[request.kind] = request.id;
		note_request(&request);
	}
	memcpy(said, world.log, sizeof(said));
	world.log[0] = '\0';
	return said;
}

static struct berth_pod_wait wait_of(const char *pod)
{
	struct berth_pod_wait wait;

	berth_engine_pod_wait(
		world.engine, BERTH_STR("d"), berth_str_from(pod), world.arena, &wait);
	return wait;
}

START_TEST(test_engine__a_pod_is_bound)
{
	init(DEFAULT_CONFIG);
	put_node("n1", "4");
	put_pod("p", "1", "");
	ck_assert_int_eq(wait_of("p").place, BERTH_PLACE_ACTIVE);
	ck_assert_str_eq(run(), "p waiting n1\nbind d/p n1\n");
	ck_assert_int_eq(wait_of("p").place, BERTH_PLACE_BINDING);
	ck_assert(berth_str_equal_c(wait_of("p").node_name, "n1"));
	ck_assert_str_eq(run(), "");
	answer(world.last_id[BERTH_REQUEST_BIND], BERTH_OK, NULL, NULL);
	ck_assert_str_eq(run(), "p bound n1\nevent d/p Normal Scheduled\n");
	put_pod("p", "1", ",'nodeName':'n1'");
	ck_assert_int_eq(wait_of("p").place, BERTH_PLACE_BOUND);
	ck_assert_str_eq(run(), "");
	/* An answer counts once; answers to unknown request ids are ignored. */
	answer(world.last_id[BERTH_REQUEST_BIND], BERTH_ERR_IO, "late", NULL);
	answer(0, BERTH_ERR_IO, "no", NULL);
	answer(UINT64_MAX, BERTH_ERR_IO, "no", NULL);
	ck_assert_str_eq(run(), "");
	ck_assert_str_eq(world.warnings, "");
	finish();
}
END_TEST

START_TEST(test_engine__a_binding_is_refused)
{
	init(DEFAULT_CONFIG);
	put_node("n1", "4");
	put_pod("p", "1", "");
	ck_assert_str_eq(run(), "p waiting n1\nbind d/p n1\n");
	answer(world.last_id[BERTH_REQUEST_BIND], BERTH_ERR_IO, "timed out", NULL);
	ck_assert_str_eq(run(),
		"p failed \nevent d/p Warning FailedScheduling\n"
		"patch d/p PodScheduled=False nominated=''\n");
	ck_assert_int_eq(wait_of("p").place, BERTH_PLACE_BACKOFF);
	ck_assert(berth_str_equal_c(
		wait_of("p").message, "running Bind plugin \"DefaultBinder\": timed out"));
	ck_assert_int_eq(wait_of("p").backoff_until_ns, 2 * SECOND);
	ck_assert_int_le(berth_engine_next_deadline_ns(world.engine), 3 * SECOND);
	/* If the condition cannot be written, the engine only logs a warning. */
	answer(world.last_id[BERTH_REQUEST_PATCH_STATUS], BERTH_ERR_IO, "no patch", NULL);
	ck_assert_str_eq(world.warnings, "no patch");
	world.now_ns = 3 * SECOND;
	ck_assert_str_eq(run(), "p waiting n1\nbind d/p n1\n");
	finish();
}
END_TEST

/* Spec 03 section 11: the pod's next write waits for the answer to the one before. */
START_TEST(test_engine__writes_of_a_pod_go_one_by_one)
{
	init_gated(DEFAULT_CONFIG, "SchedulerAsyncAPICalls=true");
	put_node("n1", "1");
	put_pod("p", "2", "");
	ck_assert_str_eq(run(),
		"p failed \nevent d/p Warning FailedScheduling\n"
		"patch d/p PodScheduled=False nominated=''\n");
	put_node("n1", "4");
	world.now_ns += 5 * SECOND;
	ck_assert_str_eq(run(), "p waiting n1\n");
	answer(world.last_id[BERTH_REQUEST_PATCH_STATUS], BERTH_ERR_IO, "no patch", NULL);
	ck_assert_str_eq(world.warnings, "no patch");
	ck_assert_str_eq(run(), "bind d/p n1\n");
	answer(world.last_id[BERTH_REQUEST_BIND], BERTH_ERR_IO, "timed out", NULL);
	ck_assert_str_eq(run(),
		"p failed \nevent d/p Warning FailedScheduling\n"
		"patch d/p PodScheduled=False nominated=''\n");
	answer(world.last_id[BERTH_REQUEST_PATCH_STATUS], BERTH_OK, NULL, NULL);
	world.now_ns += 5 * SECOND;
	ck_assert_str_eq(run(), "p waiting n1\nbind d/p n1\n");
	answer(world.last_id[BERTH_REQUEST_BIND], BERTH_OK, NULL, NULL);
	ck_assert_str_eq(run(), "p bound n1\nevent d/p Normal Scheduled\n");
	finish();
}
END_TEST

#define GANG_POD ",'schedulingGroup':{'podGroupName':'g'}"

START_TEST(test_engine__condition_of_a_pod_group)
{
	init_gated(DEFAULT_CONFIG, "GenericWorkload=true,GangScheduling=true");
	put_node("n1", "4");
	put("{'apiVersion':'scheduling.k8s.io/v1alpha2','kind':'PodGroup','metadata':{'name':'g',"
	    "'namespace':'d','uid':'uid-g','generation':7},'spec':{'schedulingPolicy':{'gang':{"
	    "'minCount':2}}}}");
	put_pod("p1", "3", GANG_POD);
	put_pod("p2", "3", GANG_POD);
	const char *said = run();
	ck_assert_msg(strstr(said, "group d/g PodGroupScheduled=False\n") != NULL, "%s", said);
	ck_assert_ptr_null(strstr(said, "bind"));
	/* A refusal only causes a warning. */
	answer(world.last_id[BERTH_REQUEST_PATCH_POD_GROUP], BERTH_ERR_IO, "no patch", NULL);
	ck_assert_str_eq(world.warnings, "no patch");
	put_node("n2", "4");
	world.now_ns += 60 * SECOND;
	said = run();
	ck_assert_msg(strstr(said, "bind d/p1 ") != NULL && strstr(said, "bind d/p2 ") != NULL &&
			strstr(said, "group d/g PodGroupScheduled=True\n") != NULL,
		"%s", said);
	finish();
}
END_TEST

START_TEST(test_engine__why_a_pod_waits)
{
	struct berth_pod_wait wait;

	init(DEFAULT_CONFIG);
	put_node("n1", "4");
	put_pod("big", "8", "");
	put_pod("gated", "1", ",'schedulingGates':[{'name':'g'}]");
	(void)run();
	wait = wait_of("big");
	ck_assert_int_eq(wait.place, BERTH_PLACE_UNSCHEDULABLE);
	ck_assert_str_eq(berth_pod_place_string(wait.place), "unschedulable");
	ck_assert_uint_eq(wait.attempts, 1);
	ck_assert_uint_eq(wait.rejected_by_count, 1);
	ck_assert(berth_str_equal_c(wait.rejected_by[0], "NodeResourcesFit"));
	ck_assert_ptr_nonnull(strstr(wait.message.data, "1 Insufficient cpu"));
	wait = wait_of("gated");
	ck_assert_int_eq(wait.place, BERTH_PLACE_GATED);
	ck_assert(berth_str_equal_c(wait.gated_by, "SchedulingGates"));
	ck_assert_uint_eq(berth_engine_queued_count(world.engine, BERTH_PLACE_GATED), 1);
	ck_assert_uint_eq(berth_engine_queued_count(world.engine, BERTH_PLACE_UNSCHEDULABLE), 1);
	ck_assert_uint_eq(berth_engine_queued_count(world.engine, BERTH_PLACE_ACTIVE), 0);
	ck_assert_int_eq(wait_of("nobody").place, BERTH_PLACE_UNKNOWN);
	/* NodeResourcesFit waits for an update of a node that raises its allocatable. */
	put_node("n1", "16");
	world.now_ns += 2 * SECOND;
	ck_assert_str_eq(run(), "big waiting n1\nbind d/big n1\n");
	finish();
}
END_TEST

static bool count_queued(
	void *context, const struct berth_queued_pod *pod, enum berth_pod_place place)
{
	int *counts = context;

	counts[place]++;
	ck_assert_uint_ne(berth_pod_info_name(pod->pod).length, 0);
	return counts[BERTH_PLACE_ACTIVE] < 3;
}

START_TEST(test_engine__queue_and_nodes)
{
	int counts[BERTH_PLACE_BOUND + 1] = {0};
	const struct berth_node_info *node;

	init(DEFAULT_CONFIG);
	put_pod("a", "1", "");
	put_pod("b", "1", "");
	berth_engine_for_each_queued(world.engine, count_queued, counts);
	ck_assert_int_eq(counts[BERTH_PLACE_ACTIVE], 2);
	put_pod("c", "1", "");
	put_pod("d", "1", "");
	counts[BERTH_PLACE_ACTIVE] = 0;
	berth_engine_for_each_queued(world.engine, count_queued, counts);
	ck_assert_int_eq(counts[BERTH_PLACE_ACTIVE], 3);
	ck_assert_uint_eq(berth_engine_node_count(world.engine), 0);
	ck_assert_ptr_null(berth_engine_node_info(world.engine, BERTH_STR("n1"), world.arena));
	put_node("n1", "2");
	ck_assert_uint_eq(berth_engine_node_count(world.engine), 1);
	(void)run();
	node = berth_engine_node_info(world.engine, BERTH_STR("n1"), world.arena);
	ck_assert_int_eq(berth_node_info_requested_cpu_milli(node), 2000);
	ck_assert_uint_eq(berth_node_info_pod_count(node), 2);
	delete ("{'apiVersion':'v1','kind':'Node','metadata':{'name':'n1'}}");
	ck_assert_uint_eq(berth_engine_node_count(world.engine), 0);
	finish();
}
END_TEST

START_TEST(test_engine__preemption)
{
	init(DEFAULT_CONFIG);
	put_node("n1", "2");
	put_pod("low", "2", ",'nodeName':'n1'");
	put_pod("vip", "2", ",'priority':10");
	ck_assert_str_eq(run(),
		"vip failed \npatch d/low DisruptionTarget=True\n"
		"event d/vip Warning FailedScheduling\n"
		"patch d/vip PodScheduled=False nominated='n1'\n");
	/* The pod is gated until the removal of the victim is answered. */
	ck_assert_int_eq(wait_of("vip").place, BERTH_PLACE_UNSCHEDULABLE);
	finish();
}
END_TEST

START_TEST(test_engine__preemption_goes_on_by_answers)
{
	struct berth_request request;
	struct berth_answer fine = {BERTH_OK, {NULL, 0}, {NULL, 0}};

	init(DEFAULT_CONFIG);
	put_node("n1", "2");
	put_pod("low", "2", ",'nodeName':'n1'");
	put_pod("vip", "2", ",'priority':10");
	while (berth_engine_step(world.engine, world.now_ns, NULL)) {
	}
	while (berth_engine_take_request(world.engine, &request)) {
		note_request(&request);
		berth_engine_answer(world.engine, request.id, &fine);
	}
	ck_assert_ptr_nonnull(strstr(world.log, "delete d/low\n"));
	ck_assert_ptr_nonnull(strstr(world.log, "event d/low Normal Preempted\n"));
	delete ("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'low','namespace':'d'}}");
	world.now_ns += 2 * SECOND;
	world.log[0] = '\0';
	ck_assert_str_eq(run(), "vip waiting n1\nbind d/vip n1\n");
	finish();
}
END_TEST

START_TEST(test_engine__victim_is_gone_before_its_answer)
{
	struct berth_request request;
	struct berth_answer fine = {BERTH_OK, {NULL, 0}, {NULL, 0}};

	init(DEFAULT_CONFIG);
	put_node("n1", "2");
	put_pod("low", "2", ",'nodeName':'n1'");
	put_pod("vip", "2", ",'priority':10");
	while (berth_engine_step(world.engine, world.now_ns, NULL)) {
	}
	while (berth_engine_take_request(world.engine, &request)) {
		note_request(&request);
		if (request.kind == BERTH_REQUEST_DELETE_POD) {
			delete ("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'low',"
				"'namespace':'d'}}");
		}
		berth_engine_answer(world.engine, request.id, &fine);
	}
	ck_assert_ptr_nonnull(strstr(world.log, "event d/low Normal Preempted\n"));
	finish();
}
END_TEST

#define CLAIM_POD ",'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'c'}}]"

static void put_volume_objects(void)
{
	put_node("n1", "4");
	put("{'apiVersion':'storage.k8s.io/v1','kind':'StorageClass','metadata':{'name':'w'},"
	    "'provisioner':'kubernetes.io/no-provisioner','volumeBindingMode':"
	    "'WaitForFirstConsumer'}");
	put("{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'pv','uid':'upv',"
	    "'resourceVersion':'7'},'spec':{'capacity':{'storage':'1Gi'},'accessModes':["
	    "'ReadWriteOnce'],'storageClassName':'w'},'status':{'phase':'Available'}}");
	put("{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'c',"
	    "'namespace':'d','uid':'uc','resourceVersion':'8'},'spec':{'storageClassName':'w',"
	    "'accessModes':['ReadWriteOnce'],'resources':{'requests':{'storage':'1Gi'}}}}");
}

START_TEST(test_engine__volumes_are_bound_first)
{
	init(DEFAULT_CONFIG);
	put_volume_objects();
	put_pod("p", "1", CLAIM_POD);
	ck_assert_str_eq(
		run(), "p waiting n1\npatch d/p nominated='n1'\nvolume /pv c at 7 by controller\n");
	answer(world.last_id[BERTH_REQUEST_BIND_VOLUME], BERTH_OK, NULL, "9");
	ck_assert_str_eq(run(), "");
	/* The volume controller binds the claim; the engine notices one second later. */
	put("{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'pv','uid':'upv',"
	    "'resourceVersion':'9'},'spec':{'capacity':{'storage':'1Gi'},'accessModes':["
	    "'ReadWriteOnce'],'storageClassName':'w','claimRef':{'name':'c','namespace':'d',"
	    "'uid':'uc'}},'status':{'phase':'Bound'}}");
	put("{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'c',"
	    "'namespace':'d','uid':'uc','resourceVersion':'10','annotations':{"
	    "'pv.kubernetes.io/bind-completed':'yes'}},'spec':{'storageClassName':'w',"
	    "'volumeName':'pv','accessModes':['ReadWriteOnce'],'resources':{'requests':{"
	    "'storage':'1Gi'}}}}");
	ck_assert_str_eq(run(), "");
	world.now_ns = berth_engine_next_deadline_ns(world.engine);
	ck_assert_int_eq(world.now_ns, 2 * SECOND);
	ck_assert_str_eq(run(), "bind d/p n1\n");
	answer(world.last_id[BERTH_REQUEST_BIND], BERTH_OK, NULL, NULL);
	ck_assert_str_eq(run(), "p bound n1\nevent d/p Normal Scheduled\n");
	finish();
}
END_TEST

START_TEST(test_engine__a_volume_is_refused)
{
	init(DEFAULT_CONFIG);
	put_volume_objects();
	put_pod("p", "1", CLAIM_POD);
	(void)run();
	answer(world.last_id[BERTH_REQUEST_BIND_VOLUME], BERTH_ERR_STATE,
		"the object has been modified", NULL);
	(void)run();
	ck_assert(berth_str_equal_c(wait_of("p").message,
		"running PreBind plugin \"VolumeBinding\": the object has been modified"));
	finish();
}
END_TEST

/** Two pods of one claim have a write each, so that no pod waits for the answer of another. */
START_TEST(test_engine__pods_share_a_claim)
{
	init(DEFAULT_CONFIG);
	put_volume_objects();
	put_pod("p", "1", CLAIM_POD);
	(void)run();
	uint64_t first = world.last_id[BERTH_REQUEST_BIND_VOLUME];
	put_pod("q", "1", CLAIM_POD);
	ck_assert_str_eq(
		run(), "q waiting n1\npatch d/q nominated='n1'\nvolume /pv c at 7 by controller\n");
	answer(first, BERTH_OK, NULL, "9");
	answer(world.last_id[BERTH_REQUEST_BIND_VOLUME], BERTH_ERR_STATE,
		"the object has been modified", NULL);
	(void)run();
	ck_assert_int_eq(wait_of("p").place, BERTH_PLACE_BINDING);
	ck_assert(berth_str_equal_c(wait_of("q").message,
		"running PreBind plugin \"VolumeBinding\": the object has been modified"));
	finish();
}
END_TEST

/** The devices of a pod's extended resources are free once the pod is deleted or terminal. */
START_TEST(test_engine__extended_resources_are_freed)
{
	static const char pod[] =
		"{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s','namespace':'d','uid':'%s'"
		"},'spec':{'schedulerName':'default-scheduler'%s,'containers':[{'name':'c',"
		"'resources':{'requests':{'example.com/gpu':'1'}}}]},'status':{'phase':'%s'}}";
	static const struct {
		const char *name;
		const char *uid;
	} pods[] = {{"a", "1"}, {"b", "2"}, {"c", "3"}, {"c", "4"}};
	char text[512];

	init(DEFAULT_CONFIG);
	put_node("n1", "4");
	put("{'apiVersion':'resource.k8s.io/v1','kind':'DeviceClass','metadata':{'name':'gpu'},"
	    "'spec':{'extendedResourceName':'example.com/gpu'}}");
	put("{'apiVersion':'resource.k8s.io/v1','kind':'ResourceSlice','metadata':{'name':'s'},"
	    "'spec':{'driver':'d','nodeName':'n1','pool':{'name':'n1','generation':1,"
	    "'resourceSliceCount':1},'devices':[{'name':'d0'}]}}");
	for (size_t i = 0; i < 4; i++) {
		(void)snprintf(text, sizeof(text), pod, pods[i].name, pods[i].uid, "", "Pending");
		put(text); /* the last pod replaces another pod of its name */
		(void)run();
		answer(world.last_id[BERTH_REQUEST_BIND], BERTH_OK, NULL, NULL);
		(void)run();
		(void)snprintf(text, sizeof(text), pod, pods[i].name, pods[i].uid,
			",'nodeName':'n1'", i == 1 ? "Succeeded" : "Running");
		ck_assert_int_eq(wait_of(pods[i].name).place, BERTH_PLACE_BINDING);
		put(text);
		if (i == 0) {
			delete (text);
		}
		world.now_ns += 60 * SECOND;
	}
	finish();
}
END_TEST

START_TEST(test_engine__bad_input)
{
	struct berth_engine_options options = BERTH_ENGINE_OPTIONS_INIT;
	struct berth_engine *engine = NULL;
	struct berth_config *config = NULL;
	struct berth_error err = BERTH_ERROR_INIT;

	ck_assert_int_eq(
		berth_config_load(BERTH_STR("{\"apiVersion\":\"kubescheduler.config.k8s.io/v1\","
					    "\"kind\":\"KubeSchedulerConfiguration\",\"profiles\":"
					    "[{\"plugins\":{\"filter\":{\"enabled\":[{\"name\":"
					    "\"Unheard\"}]}}}]}"),
			NULL, &config, &err),
		0);
	ck_assert_int_lt(berth_engine_create(config, &options, &engine, &err), 0);
	ck_assert_ptr_null(engine);
	ck_assert_ptr_nonnull(strstr(berth_error_message(&err), "Unheard"));
	berth_error_finish(&err);
	berth_config_release(config);
	berth_engine_destroy(NULL);

	init(DEFAULT_CONFIG);
	delete ("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'ghost','namespace':'d'}}");
	put("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'done','namespace':'d','uid':'x'},"
	    "'spec':{'containers':[{'name':'c'}]},'status':{'phase':'Succeeded'}}");
	ck_assert_int_eq(wait_of("done").place, BERTH_PLACE_UNKNOWN);
	ck_assert_str_eq(run(), "");
	finish();
}
END_TEST

BT_TEST_MAIN("lib_engine", test_engine__a_pod_is_bound, test_engine__a_binding_is_refused,
	test_engine__writes_of_a_pod_go_one_by_one, test_engine__condition_of_a_pod_group,
	test_engine__why_a_pod_waits, test_engine__queue_and_nodes, test_engine__preemption,
	test_engine__preemption_goes_on_by_answers, test_engine__victim_is_gone_before_its_answer,
	test_engine__volumes_are_bound_first, test_engine__a_volume_is_refused,
	test_engine__pods_share_a_claim, test_engine__extended_resources_are_freed,
	test_engine__bad_input)
