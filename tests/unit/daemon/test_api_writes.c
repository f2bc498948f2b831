/* SPDX-License-Identifier: Apache-2.0 */
/*
 * API requests for the scheduler's decisions, and the effects of their answers: spec 13 section 14.
 */
#include <string.h>

#include "test_main.h"
#include "writes_world.h"

static void begin(struct writes_world *world, struct script *script, const char *gates)
{
	struct writes_world_options options = {
		.answer = writes_world_answer_by_script, .context = script, .gates = gates};
	writes_world_init(world, &options);
}

static const char pod_s1[] =
	"{'metadata':{'name':'s1','namespace':'wire','uid':'22fd','resourceVersion':'5',"
	"'generation':1},'spec':{'schedulerName':'default-scheduler','containers':[{'name':'c',"
	"'resources':{'requests':{'cpu':'1'}}}]}}";

#define BINDING_S1 \
	"POST /api/v1/namespaces/wire/pods/s1/binding\n" \
	"{\"kind\":\"Binding\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"s1\"," \
	"\"namespace\":\"wire\",\"uid\":\"22fd\"},\"target\":{\"kind\":\"Node\",\"name\":\"wn1\"}" \
	"}\n"

#define PATCH_S1 "PATCH /api/v1/namespaces/wire/pods/s1/status\n"

START_TEST(test_api_writes__binding)
{
	struct script script = {{{"POST", 1, CREATED}}, 1};
	struct writes_world world;
	begin(&world, &script, NULL);
	writes_world_node(&world, "wn1");
	writes_world_observe(&world, BT_KIND_POD, pod_s1);
	ck_assert_int_eq(writes_world_run(&world), BT_ATTEMPT_BOUND);
	ck_assert_str_eq(writes_world_log(&world), BINDING_S1);
	ck_assert_str_eq(writes_world_events(&world),
		"Scheduled s1: Successfully assigned wire/s1 to wn1\n");
	writes_world_finish(&world);
}
END_TEST

START_TEST(test_api_writes__binding_in_protobuf)
{
	struct script script = {{{"POST", 1, CREATED}}, 1};
	struct writes_world_options options = {
		.content_type = "application/vnd.kubernetes.protobuf",
		.answer = writes_world_answer_by_script,
		.context = &script,
	};
	struct writes_world world;
	writes_world_init(&world, &options);
	writes_world_node(&world, "wn1");
	writes_world_observe(&world, BT_KIND_POD, pod_s1);
	ck_assert_int_eq(writes_world_run(&world), BT_ATTEMPT_BOUND);
	ck_assert_str_eq(writes_world_log(&world),
		"POST /api/v1/namespaces/wire/pods/s1/binding\n"
		"6b3873000a0d0a0276311207"
		"42696e64696e67"
		"121f0a100a0273311a04776972652a0432326664"
		"120b0a044e6f64651a03776e31"
		"1a002200\n");
	writes_world_finish(&world);
}
END_TEST

START_TEST(test_api_writes__nothing_is_bound_without_the_lease)
{
	struct script script = {0};
	struct writes_world world;
	begin(&world, &script, NULL);
	writes_world_node(&world, "wn1");
	writes_world_observe(&world, BT_KIND_POD, pod_s1);
	world.loses_lease = true; /* lost after the decision and before its binding */
	ck_assert_int_eq(writes_world_run(&world), BT_ATTEMPT_FAILED);
	ck_assert_ptr_null(strstr(writes_world_log(&world), "binding"));
	writes_world_finish(&world);
}
END_TEST

START_TEST(test_api_writes__no_pod_is_tried_without_the_lease)
{
	struct script script = {0};
	struct writes_world world;
	begin(&world, &script, NULL);
	writes_world_node(&world, "wn1");
	writes_world_observe(&world, BT_KIND_POD, pod_s1);
	world.may_write = false;
	ck_assert_int_eq(writes_world_run(&world), BT_ATTEMPT_IDLE);
	ck_assert_str_eq(writes_world_log(&world), "");
	world.may_write = true;
	ck_assert_int_eq(writes_world_run(&world), BT_ATTEMPT_BOUND);
	writes_world_finish(&world);
}
END_TEST

START_TEST(test_api_writes__no_pod_is_tried_while_too_many_writes_wait)
{
	struct script script = {{{"POST", 1, {.hangs = true}}, {"POST", 1, CREATED}}, 2};
	struct writes_world world;
	struct bt_attempt attempt;
	begin(&world, &script, NULL);
	world.in_flight_max = 1;
	writes_world_node(&world, "wn1");
	writes_world_observe(&world, BT_KIND_POD, pod_s1);
	writes_world_observe(&world, BT_KIND_POD,
		"{'metadata':{'name':'s2','namespace':'wire','uid':'227e'},"
		"'spec':{'schedulerName':'default-scheduler','containers':[{'name':'c'}]}}");
	while (world.server.request_count == 0) {
		writes_world_turn(&world, &attempt);
	}
	writes_world_turn(&world, &attempt);
	ck_assert_int_eq(attempt.outcome, BT_ATTEMPT_IDLE);
	ck_assert(bt_queue_can_pop(bt_scheduler_queue(world.scheduler)));
	/* The number of allowed requests in flight changes. */
	world.in_flight_max = 2;
	writes_world_turn(&world, &attempt);
	ck_assert_int_eq(attempt.outcome, BT_ATTEMPT_WAITING);
	ck_assert(!bt_queue_can_pop(bt_scheduler_queue(world.scheduler)));
	scripted_server_answer_hanging(
		&world.server, &(struct scripted_answer){.code = 201, .body = BT_STR("{}")});
	ck_assert_int_eq(writes_world_run(&world), BT_ATTEMPT_BOUND);
	ck_assert(!bt_queue_can_pop(bt_scheduler_queue(world.scheduler)));
	writes_world_finish(&world);
}
END_TEST

#define ALREADY \
	"Operation cannot be fulfilled on pods/binding \\\"s1\\\": pod s1 is already assigned to " \
	"node \\\"wn1\\\""

static void check_refused_binding(void)
{
	struct script script = {{{"POST", 1, STATUS(409, "Conflict", ALREADY)}}, 1};
	struct writes_world world;
	begin(&world, &script, NULL);
	writes_world_node(&world, "wn1");
	writes_world_observe(&world, BT_KIND_POD, pod_s1);
	ck_assert_int_eq(writes_world_run(&world), BT_ATTEMPT_FAILED);
	ck_assert_str_eq(writes_world_log(&world),
		BINDING_S1 PATCH_S1
		"{\"status\":{\"conditions\":[{\"lastProbeTime\":null,"
		"\"lastTransitionTime\":\"2026-01-02T03:04:05Z\",\"message\":"
		"\"running Bind plugin \\\"DefaultBinder\\\": " ALREADY "\","
		"\"observedGeneration\":1,\"reason\":\"SchedulerError\",\"status\":\"False\","
		"\"type\":\"PodScheduled\"}]}}\n");
	ck_assert_str_eq(writes_world_events(&world),
		"FailedScheduling s1: running Bind plugin \"DefaultBinder\": Operation cannot be "
		"fulfilled on pods/binding \"s1\": pod s1 is already assigned to node \"wn1\"\n");
	ck_assert_uint_eq(
		bt_queue_count(bt_scheduler_queue(world.scheduler), BT_QUEUE_ERROR_BACKOFF), 1);
	writes_world_finish(&world);
}

START_TEST(test_api_writes__edge_11b_34_binding_conflicts)
{
	check_refused_binding();
}
END_TEST

START_TEST(test_api_writes__edge_13_36_already_bound_to_the_same_node)
{
	check_refused_binding();
}
END_TEST

START_TEST(test_api_writes__edge_13_34_lost_answer_is_a_failure)
{
	struct script script = {{{"POST", 1, {.closes = true}}}, 1};
	struct writes_world world;
	begin(&world, &script, NULL);
	writes_world_node(&world, "wn1");
	writes_world_observe(&world, BT_KIND_POD, pod_s1);
	ck_assert_int_eq(writes_world_run(&world), BT_ATTEMPT_FAILED);
	const char *log = writes_world_log(&world);
	ck_assert(strncmp(log, BINDING_S1 PATCH_S1, strlen(BINDING_S1 PATCH_S1)) == 0);
	ck_assert_ptr_null(strstr(log + 1, "POST"));
	ck_assert_uint_eq(
		bt_queue_count(bt_scheduler_queue(world.scheduler), BT_QUEUE_ERROR_BACKOFF), 1);
	writes_world_finish(&world);
}
END_TEST

static const char pod_s1_bound[] =
	"{'metadata':{'name':'s1','namespace':'wire','uid':'22fd','resourceVersion':'6',"
	"'generation':1},'spec':{'schedulerName':'default-scheduler','nodeName':'wn1',"
	"'containers':[{'name':'c','resources':{'requests':{'cpu':'1'}}}]}}";

START_TEST(test_api_writes__edge_11b_35_lost_answer_of_a_bound_pod)
{
	struct script script = {{{"POST", 1, {.hangs = true}}}, 1};
	struct writes_world world;
	struct bt_attempt attempt;
	begin(&world, &script, NULL);
	writes_world_node(&world, "wn1");
	writes_world_observe(&world, BT_KIND_POD, pod_s1);
	while (world.server.request_count == 0) {
		writes_world_turn(&world, &attempt);
	}
	writes_world_observe(&world, BT_KIND_POD, pod_s1_bound);
	scripted_server_answer_hanging(&world.server, &(struct scripted_answer){.closes = true});
	ck_assert_int_eq(writes_world_run(&world), BT_ATTEMPT_FAILED);
	ck_assert_ptr_nonnull(strstr(writes_world_events(&world), "FailedScheduling s1: "));
	for (enum bt_queue_place place = 0; place < BT_QUEUE__PLACES; place++) {
		ck_assert_uint_eq(bt_queue_count(bt_scheduler_queue(world.scheduler), place), 0);
	}
	/* The cache has the pod on the node that the API reports. */
	ck_assert_uint_ne(
		bt_state_find_pod(bt_scheduler_engine(world.scheduler)->state, BT_STR("22fd")),
		BT_POD_NONE);
	writes_world_finish(&world);
}
END_TEST

START_TEST(test_api_writes__edge_13_35_binding_is_sent_again_after_retry_after)
{
	struct scripted_answer busy = STATUS(429, "TooManyRequests", "busy");
	busy.headers = "Content-Type: application/json\r\nRetry-After: 1\r\n";
	struct script script = {{{"POST", 1, CREATED}}, 1};
	script.rows[1] = script.rows[0];
	script.rows[0] = (struct row){"POST", 1, busy};
	script.count = 2;
	struct writes_world world;
	begin(&world, &script, NULL);
	writes_world_node(&world, "wn1");
	writes_world_observe(&world, BT_KIND_POD, pod_s1);
	ck_assert_int_eq(writes_world_run(&world), BT_ATTEMPT_BOUND);
	ck_assert_str_eq(writes_world_log(&world), BINDING_S1 BINDING_S1);
	writes_world_finish(&world);
}
END_TEST

/** --- status patches --- */

/**
 * Schedules a pod that fits on no node, while the server answers patches by the script. Returns the
 * number of patches sent.
 */
static uint32_t count_patches(const struct script *given, const char *gates)
{
	struct script script = *given;
	struct writes_world world;
	begin(&world, &script, gates);
	writes_world_observe(&world, BT_KIND_POD, pod_s1);
	ck_assert_int_eq(writes_world_run(&world), BT_ATTEMPT_FAILED);
	uint32_t count = 0;
	for (const char *at = writes_world_log(&world); (at = strstr(at, PATCH_S1)) != NULL; at++) {
		count++;
	}
	ck_assert_uint_eq(bt_api_writes_in_flight(world.writes), 0);
	writes_world_finish(&world);
	return count;
}

START_TEST(test_api_writes__patches_are_repeated)
{
	static const struct {
		struct script script;
		uint32_t count;
	} rows[] = {
		{{{{0}}, 0}, 1},
		{{{{"PATCH", 9, STATUS(500, "InternalError", "x")}}, 1}, 4},
		{{{{"PATCH", 2, STATUS(503, "ServiceUnavailable", "x")}}, 1}, 3},
		{{{{"PATCH", 1, STATUS(409, "Conflict", "x")}}, 1}, 2},
		{{{{"PATCH", 9, STATUS(403, "Forbidden", "x")}}, 1}, 1},
		{{{{"PATCH", 9, STATUS(404, "NotFound", "x")}}, 1}, 1},
		{{{{"PATCH", 9, STATUS(422, "Invalid", "x")}}, 1}, 1},
		{{{{"PATCH", 9, {.closes = true}}}, 1}, 1},
	};
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		ck_assert_msg(count_patches(&rows[i].script, NULL) == rows[i].count, "row %u", i);
		ck_assert_msg(count_patches(&rows[i].script, "SchedulerAsyncAPICalls=true") ==
				rows[i].count,
			"row %u, queued", i);
	}
}
END_TEST

START_TEST(test_api_writes__condition_of_a_pod_group_is_repeated)
{
	struct script script = {{{"PATCH", 1, STATUS(500, "InternalError", "no")}}, 1};
	struct writes_world world;
	struct bt_pod_group group = {
		.metadata = {
			.namespace_ = BT_STR("wire"), .name = BT_STR("g1"), .uid = BT_STR("77aa")}};
	struct bt_condition condition = {.type = BT_STR("PodGroupScheduled"),
		.status = BT_STR("False"),
		.reason = BT_STR("Unschedulable"),
		.message = BT_STR("pod group is unschedulable")};
	struct berth_error err = BERTH_ERROR_INIT;
	const struct bt_scheduler_writer *writer;
	begin(&world, &script, NULL);
	writer = bt_api_writes_writer(world.writes);
	ck_assert_int_eq(writer->patch_pod_group(writer->context, &group, &condition, &err), 0);
	ck_assert_int_eq(writes_world_run(&world), BT_ATTEMPT_IDLE);
#define PATCH_G1 \
	"PATCH /apis/scheduling.k8s.io/v1alpha2/namespaces/wire/podgroups/g1/status\n" \
	"{\"status\":{\"conditions\":[{\"lastTransitionTime\":\"2026-01-02T03:04:05Z\"," \
	"\"message\":\"pod group is unschedulable\",\"reason\":\"Unschedulable\"," \
	"\"status\":\"False\",\"type\":\"PodGroupScheduled\"}]}}\n"
	ck_assert_str_eq(writes_world_log(&world), PATCH_G1 PATCH_G1);
	writes_world_finish(&world);
}
END_TEST

START_TEST(test_api_writes__writes_of_one_pod_in_order)
{
	struct script script = {{{"PATCH", 1, {.hangs = true}}}, 1};
	struct writes_world world;
	struct bt_attempt attempt;
	begin(&world, &script, NULL);
	writes_world_observe(&world, BT_KIND_POD, pod_s1);
	while (world.server.request_count == 0) {
		writes_world_turn(&world, &attempt);
	}
	(void)writes_world_log(&world);
	/* The pod fits now, but its binding waits for the patch in flight. */
	writes_world_node(&world, "wn1");
	world.now_ns += 20 * WORLD_SECOND;
	bt_queue_tick(bt_scheduler_queue(world.scheduler), world.now_ns);
	for (uint32_t i = 0; i < 5; i++) {
		writes_world_turn(&world, &attempt);
	}
	ck_assert_uint_eq(bt_api_writes_in_flight(world.writes), 2);
	ck_assert_str_eq(writes_world_log(&world), "");
	scripted_server_answer_hanging(
		&world.server, &(struct scripted_answer){.code = 200, .body = BT_STR("{}")});
	ck_assert_int_eq(writes_world_run(&world), BT_ATTEMPT_BOUND);
	ck_assert_str_eq(writes_world_log(&world), BINDING_S1);
	writes_world_finish(&world);
}
END_TEST

START_TEST(test_api_writes__edge_11b_47_pod_being_deleted)
{
	struct script script = {0};
	struct writes_world world;
	begin(&world, &script, NULL);
	writes_world_observe(&world, BT_KIND_POD,
		"{'metadata':{'name':'s1','namespace':'wire','uid':'22fd','deletionTimestamp':"
		"'2026-01-01T00:00:00Z'},'spec':{'schedulerName':'default-scheduler',"
		"'containers':[{'name':'c'}]}}");
	ck_assert_int_eq(writes_world_run(&world), BT_ATTEMPT_SKIPPED);
	ck_assert_str_eq(writes_world_log(&world), "");
	ck_assert_str_eq(writes_world_events(&world),
		"FailedScheduling s1: skip schedule deleting pod: wire/s1\n");
	writes_world_finish(&world);
}
END_TEST

/** --- preemption: spec 13 section 14.9 --- */

static const char pod_low[] =
	"{'metadata':{'name':'low','namespace':'wire','uid':'ulow','resourceVersion':'3',"
	"'generation':1},'spec':{'nodeName':'wn1','priority':1,'containers':[{'name':'c',"
	"'resources':{'requests':{'cpu':'4'}}}]},'status':{'phase':'Running'%s}}";

static const char pod_high[] =
	"{'metadata':{'name':'high','namespace':'wire','uid':'uhigh','resourceVersion':'4'},"
	"'spec':{'schedulerName':'default-scheduler','priority':9,'containers':[{'name':'c',"
	"'resources':{'requests':{'cpu':'2'}}}]}}";

/**
 * Starts a world in which a pod of lower priority uses the node; status: further members of that
 * pod's status.
 */
static void begin_preemption(
	struct writes_world *world, struct script *script, const char *gates, const char *status)
{
	char low[1024];
	(void)snprintf(low, sizeof(low), pod_low, status);
	begin(world, script, gates);
	writes_world_node(world, "wn1");
	writes_world_observe(world, BT_KIND_POD, low);
	writes_world_observe(world, BT_KIND_POD, pod_high);
}

#define CONDITION(message, reason, status, type) \
	"{\"lastProbeTime\":null,\"lastTransitionTime\":\"2026-01-02T03:04:05Z\"," \
	"\"message\":\"" message "\"," reason ",\"status\":\"" status "\",\"type\":\"" type "\"}"

#define PATCH_HIGH \
	"PATCH /api/v1/namespaces/wire/pods/high/status\n" \
	"{\"status\":{\"conditions\":[" CONDITION("0/1 nodes are available: 1 Insufficient cpu.", \
		"\"reason\":\"Unschedulable\"", "False", \
		"PodScheduled") "],\"nominatedNodeName\":\"wn1\"}}\n"

#define PATCH_LOW \
	"PATCH /api/v1/namespaces/wire/pods/low/status\n" \
	"{\"status\":{\"conditions\":[" CONDITION( \
		"default-scheduler: preempting to accommodate a higher priority pod", \
		"\"observedGeneration\":1,\"reason\":\"PreemptionByScheduler\"", "True", \
		"DisruptionTarget") "]}}\n"

#define DELETE_LOW \
	"DELETE /api/v1/namespaces/wire/pods/low\n" \
	"{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\"}\n"

#define PREEMPTED "Preempted low: Preempted by pod uhigh on node wn1\n"

START_TEST(test_api_writes__preemption_in_order)
{
	struct script script = {0};
	struct writes_world world;
	begin_preemption(&world, &script, NULL, "");
	ck_assert_int_eq(writes_world_run(&world), BT_ATTEMPT_FAILED);
	ck_assert_str_eq(writes_world_log(&world), PATCH_HIGH PATCH_LOW DELETE_LOW);
	ck_assert_ptr_nonnull(strstr(writes_world_events(&world), PREEMPTED));
	writes_world_finish(&world);
}
END_TEST

START_TEST(test_api_writes__victims_wait_for_the_nomination)
{
	struct script script = {{{"PATCH", 1, {.hangs = true}}}, 1};
	struct writes_world world;
	struct bt_attempt attempt;
	begin_preemption(&world, &script, NULL, "");
	for (uint32_t i = 0; i < 20; i++) {
		writes_world_turn(&world, &attempt);
	}
	ck_assert_str_eq(writes_world_log(&world), PATCH_HIGH);
	scripted_server_answer_hanging(
		&world.server, &(struct scripted_answer){.code = 200, .body = BT_STR("{}")});
	(void)writes_world_run(&world);
	ck_assert_str_eq(writes_world_log(&world), PATCH_LOW DELETE_LOW);
	writes_world_finish(&world);
}
END_TEST

START_TEST(test_api_writes__preemption_that_waits)
{
	struct script script = {0};
	struct writes_world world;
	begin_preemption(&world, &script, "SchedulerAsyncPreemption=false", "");
	ck_assert_int_eq(writes_world_run(&world), BT_ATTEMPT_FAILED);
	/* Preemption waits for each victim's requests, so the preemptor's patch is last. */
	ck_assert_str_eq(writes_world_log(&world), PATCH_LOW DELETE_LOW PATCH_HIGH);
	ck_assert_ptr_nonnull(strstr(writes_world_events(&world), PREEMPTED));
	writes_world_finish(&world);
}
END_TEST

START_TEST(test_api_writes__edge_11b_36_victim_is_gone)
{
	struct script script = {{{"PATCH /api/v1/namespaces/wire/pods/low", 1,
					STATUS(404, "NotFound", "pods \\\"low\\\" not found")}},
		1};
	struct writes_world world;
	begin_preemption(&world, &script, NULL, "");
	(void)writes_world_run(&world);
	ck_assert_str_eq(writes_world_log(&world), PATCH_HIGH PATCH_LOW);
	ck_assert_ptr_null(strstr(writes_world_events(&world), "Preempted"));
	writes_world_finish(&world);
}
END_TEST

START_TEST(test_api_writes__edge_11b_37_victim_has_the_condition)
{
	struct script script = {0};
	struct writes_world world;
	begin_preemption(&world, &script, NULL,
		",'conditions':[{'type':'DisruptionTarget','status':'True','reason':"
		"'PreemptionByScheduler','message':"
		"'default-scheduler: preempting to accommodate a higher priority pod'}]");
	(void)writes_world_run(&world);
	ck_assert_str_eq(writes_world_log(&world), PATCH_HIGH DELETE_LOW);
	ck_assert_ptr_nonnull(strstr(writes_world_events(&world), PREEMPTED));
	writes_world_finish(&world);
}
END_TEST

START_TEST(test_api_writes__refused_deletion_lets_the_preemptor_try_again)
{
	struct script script = {{{"DELETE", 1, STATUS(403, "Forbidden", "no")}}, 1};
	struct writes_world world;
	begin_preemption(&world, &script, NULL, "");
	(void)writes_world_run(&world);
	const char *log = writes_world_log(&world);
	const char *first = strstr(log, DELETE_LOW);
	ck_assert_ptr_nonnull(first);
	/* The preemptor is activated at once and selects the same victim. */
	ck_assert_ptr_nonnull(strstr(first + 1, DELETE_LOW));
	writes_world_finish(&world);
}
END_TEST

/** --- volumes: spec 13 section 14.6 --- */

static void observe_volumes(struct writes_world *world)
{
	writes_world_node(world, "wn1");
	writes_world_observe(world, BT_KIND_STORAGE_CLASS,
		"{'metadata':{'name':'local'},'provisioner':'kubernetes.io/no-provisioner',"
		"'volumeBindingMode':'WaitForFirstConsumer'}");
	writes_world_observe(world, BT_KIND_PERSISTENT_VOLUME,
		"{'metadata':{'name':'pv1','uid':'upv','resourceVersion':'7'},'spec':{"
		"'storageClassName':'local','capacity':{'storage':'1Gi'},'accessModes':"
		"['ReadWriteOnce']},'status':{'phase':'Available'}}");
	writes_world_observe(world, BT_KIND_PERSISTENT_VOLUME_CLAIM,
		"{'metadata':{'name':'c-local','namespace':'wire','uid':'upvc',"
		"'resourceVersion':'334'},'spec':{'storageClassName':'local','accessModes':"
		"['ReadWriteOnce'],'resources':{'requests':{'storage':'1Gi'}}},"
		"'status':{'phase':'Pending'}}");
	writes_world_observe(world, BT_KIND_POD,
		"{'metadata':{'name':'s1','namespace':'wire','uid':'22fd','resourceVersion':'5'},"
		"'spec':{'schedulerName':'default-scheduler','containers':[{'name':'c'}],"
		"'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'c-local'}}]}}");
}

static const struct bt_str whole_volume = BT_STR_INIT(
	"{\"kind\":\"PersistentVolume\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"pv1\","
	"\"uid\":\"upv\",\"resourceVersion\":\"8\",\"managedFields\":[{}]},"
	"\"spec\":{\"hostPath\":{\"path\":\"/x\"},\"ofTheFuture\":[1.50,null]}}");

#define NOMINATION \
	"PATCH /api/v1/namespaces/wire/pods/s1/status\n" \
	"{\"status\":{\"nominatedNodeName\":\"wn1\"}}\n"

/** The requests that read the volume and write the whole volume with the known resourceVersion. */
#define PUT_VOLUME \
	"GET /api/v1/persistentvolumes/pv1\n" \
	"PUT /api/v1/persistentvolumes/pv1\n" \
	"{\"kind\":\"PersistentVolume\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"pv1\"," \
	"\"uid\":\"upv\",\"resourceVersion\":\"7\",\"annotations\":{" \
	"\"pv.kubernetes.io/bound-by-controller\":\"yes\"}},\"spec\":{\"hostPath\":{\"path\":\"/" \
	"x\"},\"ofTheFuture\":[1.50,null]," \
	"\"claimRef\":{\"kind\":\"PersistentVolumeClaim\",\"namespace\":\"wire\"," \
	"\"name\":\"c-local\",\"uid\":\"upvc\",\"apiVersion\":\"v1\"," \
	"\"resourceVersion\":\"334\"}}}\n"

START_TEST(test_api_writes__volume_is_written_whole)
{
	struct script script = {{{"GET", 1, {.code = 200, .body = whole_volume}},
					{"PUT", 1, {.code = 200, .body = whole_volume}}},
		2};
	struct writes_world world;
	struct bt_attempt attempt;
	begin(&world, &script, NULL);
	observe_volumes(&world);
	for (uint32_t i = 0; i < 30; i++) {
		writes_world_turn(&world, &attempt);
	}
	ck_assert_str_eq(writes_world_log(&world), NOMINATION PUT_VOLUME);
	/*
	 * The volume controller binds volume and claim; the pod's binding follows at the next poll.
	 */
	writes_world_observe(&world, BT_KIND_PERSISTENT_VOLUME,
		"{'metadata':{'name':'pv1','uid':'upv','resourceVersion':'8'},'spec':{"
		"'storageClassName':'local','capacity':{'storage':'1Gi'},'accessModes':"
		"['ReadWriteOnce'],'claimRef':{'kind':'PersistentVolumeClaim','namespace':'wire',"
		"'name':'c-local','uid':'upvc'}},'status':{'phase':'Bound'}}");
	writes_world_observe(&world, BT_KIND_PERSISTENT_VOLUME_CLAIM,
		"{'metadata':{'name':'c-local','namespace':'wire','uid':'upvc',"
		"'resourceVersion':'340','annotations':{'pv.kubernetes.io/bind-completed':'yes'}},"
		"'spec':{'storageClassName':'local','volumeName':'pv1','accessModes':"
		"['ReadWriteOnce'],'resources':{'requests':{'storage':'1Gi'}}},"
		"'status':{'phase':'Bound'}}");
	world.now_ns += 2 * WORLD_SECOND;
	ck_assert_int_eq(writes_world_run(&world), BT_ATTEMPT_BOUND);
	ck_assert_str_eq(writes_world_log(&world), BINDING_S1);
	writes_world_finish(&world);
}
END_TEST

/* Protobuf would lose unknown fields: every client writes volumes as JSON. */
START_TEST(test_api_writes__volume_is_written_as_json)
{
	struct script script = {{{"GET", 1, {.code = 200, .body = whole_volume}},
					{"PUT", 1, {.code = 200, .body = whole_volume}}},
		2};
	struct writes_world_options options = {.answer = writes_world_answer_by_script,
		.context = &script,
		.content_type = "application/vnd.kubernetes.protobuf"};
	struct writes_world world;
	struct bt_attempt attempt;
	writes_world_init(&world, &options);
	observe_volumes(&world);
	for (uint32_t i = 0; i < 30; i++) {
		writes_world_turn(&world, &attempt);
	}
	ck_assert_str_eq(writes_world_log(&world), NOMINATION PUT_VOLUME);
	writes_world_finish(&world);
}
END_TEST

START_TEST(test_api_writes__volume_that_changed_is_a_conflict)
{
	struct script script = {
		{{"GET", 1, {.code = 200, .body = whole_volume}},
			{"PUT", 1, STATUS(409, "Conflict", "the object has been modified")}},
		2};
	struct writes_world world;
	begin(&world, &script, NULL);
	observe_volumes(&world);
	ck_assert_int_eq(writes_world_run(&world), BT_ATTEMPT_FAILED);
	const char *log = writes_world_log(&world);
	ck_assert(strncmp(log, NOMINATION PUT_VOLUME, strlen(NOMINATION PUT_VOLUME)) == 0);
	ck_assert_ptr_nonnull(strstr(log, "the object has been modified"));
	ck_assert_ptr_null(strstr(log, "binding"));
	writes_world_finish(&world);
}
END_TEST

BT_TEST_MAIN("api_writes", test_api_writes__binding, test_api_writes__binding_in_protobuf,
	test_api_writes__nothing_is_bound_without_the_lease,
	test_api_writes__no_pod_is_tried_without_the_lease,
	test_api_writes__no_pod_is_tried_while_too_many_writes_wait,
	test_api_writes__edge_11b_34_binding_conflicts,
	test_api_writes__edge_13_36_already_bound_to_the_same_node,
	test_api_writes__edge_13_34_lost_answer_is_a_failure,
	test_api_writes__edge_11b_35_lost_answer_of_a_bound_pod,
	test_api_writes__edge_13_35_binding_is_sent_again_after_retry_after,
	test_api_writes__patches_are_repeated,
	test_api_writes__condition_of_a_pod_group_is_repeated,
	test_api_writes__writes_of_one_pod_in_order, test_api_writes__edge_11b_47_pod_being_deleted,
	test_api_writes__preemption_in_order, test_api_writes__victims_wait_for_the_nomination,
	test_api_writes__preemption_that_waits, test_api_writes__edge_11b_36_victim_is_gone,
	test_api_writes__edge_11b_37_victim_has_the_condition,
	test_api_writes__refused_deletion_lets_the_preemptor_try_again,
	test_api_writes__volume_is_written_as_json, test_api_writes__volume_is_written_whole,
	test_api_writes__volume_that_changed_is_a_conflict)
