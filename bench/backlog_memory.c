/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of an unschedulable pod and of a bound pod in the complete scheduler, in bytes from malloc
 * including malloc's overhead. The pods look like pods of a ReplicaSet, with the defaults of the
 * API server. After a failed attempt the scheduler observes the pod with its changed status, as a
 * watch sends it. Prints one JSON line. "waiting" and "bound" include the objects of the pods,
 * which a reflector would share with the scheduler.
 *
 * Usage: backlog_memory [PODS [SHAPES]]
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/pod_common.h"
#include "base/alloc.h"
#include "base/error.h"
#include "sched/scheduler.h"

#define BENCH_NAME "backlog_memory"
#include "bench/bench_objects.h"

#define NS_PER_SECOND INT64_C(1000000000)
#define START_NS (1000000 * NS_PER_SECOND)
#define NODES 20

struct bench {
	struct bt_config *config;
	struct bt_scheduler *scheduler;
	struct bt_pod_commons commons;
	struct bt_arena arena;
	struct bt_object **pods; /* the objects that a reflector would hold */
	uint32_t pod_count;
	uint32_t shape_count;
	uint32_t version;
	int64_t now_ns;
	struct bt_object *changed; /* the pod with the status that the attempt wrote */
};

static double used_bytes(void)
{
	struct mallinfo2 info = mallinfo2();

	return (double)info.uordblks + (double)info.hblkhd;
}

/** Decode and pack a pod as a reflector does. */
static struct bt_object *decode_pod(struct bench *bench, const char *json)
{
	struct bt_object *object = decode(BT_KIND_POD, json);
	struct bt_object *fitted = bt_object_create_pod(object->value, NULL, &bench->commons);

	bt_object_release(object);
	return fitted;
}

static struct bt_object *make_pod(struct bench *bench, uint32_t number)
{
	static char json[4096];
	uint32_t shape = number % bench->shape_count;

	(void)snprintf(json, sizeof(json),
		"{\"metadata\":{\"name\":\"deployment-%03u-7c5d%06x-%05x\","
		"\"generateName\":\"deployment-%03u-7c5d%06x-\",\"namespace\":\"team-%u\","
		"\"uid\":\"%08x-1111-4222-8333-444455556666\",\"resourceVersion\":\"%u\","
		"\"creationTimestamp\":\"2026-01-02T03:04:05Z\",\"generation\":1,\"labels\":"
		"{\"app\":\"deployment-%03u\",\"pod-template-hash\":\"7c5d%06x\"},"
		"\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\","
		"\"name\":\"deployment-%03u-7c5d%06x\",\"uid\":\"%08x-aaaa-4222-8333-"
		"444455556666\","
		"\"controller\":true,\"blockOwnerDeletion\":true}]},"
		"\"spec\":{\"schedulerName\":\"default-scheduler\",\"priority\":0,"
		"\"preemptionPolicy\":\"PreemptLowerPriority\",\"serviceAccountName\":\"default\","
		"\"volumes\":[{\"name\":\"kube-api-access-%05x\",\"projected\":{\"sources\":[]}}],"
		"\"tolerations\":[{\"key\":\"node.kubernetes.io/"
		"not-ready\",\"operator\":\"Exists\","
		"\"effect\":\"NoExecute\",\"tolerationSeconds\":300},"
		"{\"key\":\"node.kubernetes.io/unreachable\",\"operator\":\"Exists\",\"effect\":"
		"\"NoExecute\",\"tolerationSeconds\":300}],"
		"\"containers\":[{\"name\":\"main\",\"image\":\"registry.example.com/team/"
		"app-%u:v1\""
		",\"resources\":{\"requests\":{\"cpu\":\"%u\",\"memory\":\"%uGi\"}},"
		"\"volumeMounts\":[{\"name\":\"kube-api-access-%05x\",\"mountPath\":\"/x\"}]}]},"
		"\"status\":{\"phase\":\"Pending\",\"qosClass\":\"Burstable\"}}",
		shape, shape, number, shape, shape, shape % 10, number, ++bench->version, shape,
		shape, shape, shape, shape, number, shape, 100 + shape, 100 + shape, number);
	return decode_pod(bench, json);
}

static int bind(void *context BT_UNUSED, const struct bt_pod_info *pod BT_UNUSED,
	struct bt_str node_name BT_UNUSED, struct berth_error *err BT_UNUSED)
{
	return 0;
}

static int patch_status(void *context, const struct bt_pod *pod,
	const struct bt_pod_condition *condition,
	const struct bt_post_filter_result *nomination BT_UNUSED, struct berth_error *err BT_UNUSED)
{
	struct bench *bench = context;
	struct bt_pod changed = *pod;
	struct bt_pod_condition copy = *condition;
	char version[16];

	(void)snprintf(version, sizeof(version), "%u", ++bench->version);
	copy.last_transition_time = (struct bt_time){bench->now_ns / NS_PER_SECOND, 0, true};
	changed.metadata.resource_version = bt_str_from(version);
	changed.status.conditions.items = &copy;
	changed.status.conditions.count = 1;
	changed.status.conditions.present = true;
	bench->changed = bt_object_create_pod(&changed, NULL, &bench->commons);
	return 0;
}

static void tell(struct bench *bench, uint32_t number, struct bt_object *object)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_object *old_object = bench->pods[number];

	if (old_object != NULL) {
		(void)bt_object_unpack(old_object);
	}
	must(bt_scheduler_observe(bench->scheduler, old_object, object, bench->now_ns, &err), &err);
	bt_object_release(old_object);
	bench->pods[number] = object;
	bt_object_allow_pack(object);
}

static void add_nodes(struct bench *bench)
{
	for (uint32_t i = 0; i < NODES; i++) {
		struct berth_error err = BERTH_ERROR_INIT;
		struct bt_object *node;
		char json[512];

		(void)snprintf(json, sizeof(json),
			"{\"metadata\":{\"name\":\"node-%u\",\"labels\":{\"kubernetes.io/"
			"hostname\":\"node-%u\"}},\"status\":{\"allocatable\":{\"cpu\":\"64\","
			"\"memory\":\"64Gi\",\"pods\":\"110000\"}}}",
			i, i);
		node = decode(BT_KIND_NODE, json);
		must(bt_scheduler_observe(bench->scheduler, NULL, node, bench->now_ns, &err), &err);
		bt_object_release(node);
	}
}

static void add_waiting(struct bench *bench)
{
	struct bt_attempt attempt = {.outcome = BT_ATTEMPT_FAILED};

	for (uint32_t i = 0; i < bench->pod_count; i++) {
		tell(bench, i, make_pod(bench, i));
		(void)bt_scheduler_step(bench->scheduler, bench->now_ns, &attempt);
		if (attempt.outcome != BT_ATTEMPT_FAILED || bench->changed == NULL) {
			(void)fprintf(stderr, "backlog_memory: a pod was placed\n");
			exit(1);
		}
		tell(bench, i, bench->changed);
		bench->changed = NULL;
	}
	/*
	 * Let the scheduler finish the last operation, whose memory does not belong to the backlog.
	 */
	(void)bt_scheduler_step(bench->scheduler, bench->now_ns, &attempt);
}

/** Another scheduler binds the pods, and they run. */
static void bind_all(struct bench *bench)
{
	struct bt_attempt attempt;

	for (uint32_t i = 0; i < bench->pod_count; i++) {
		char node_name[16];
		struct bt_object *object = bt_object_unpack(bench->pods[i]);
		struct bt_pod changed = *(const struct bt_pod *)object->value;

		(void)snprintf(node_name, sizeof(node_name), "node-%u", i % NODES);
		changed.spec.node_name = bt_str_from(node_name);
		changed.status.phase = BT_STR("Running");
		object = bt_object_create_pod(&changed, NULL, &bench->commons);
		bt_object_allow_pack(bench->pods[i]);
		tell(bench, i, object);
	}
	(void)bt_scheduler_step(bench->scheduler, bench->now_ns, &attempt);
}

int main(int argc, char **argv)
{
	struct bench bench = {.now_ns = START_NS, .pod_count = 100000, .shape_count = 100};
	const struct bt_scheduler_writer writer = {
		.context = &bench, .bind = bind, .patch_status = patch_status};
	struct bt_engine_options options = BT_ENGINE_OPTIONS_INIT;
	struct bt_gates gates = bt_gates_default();
	struct berth_error err = BERTH_ERROR_INIT;
	double before;
	double waiting;
	double bound;

	if (argc > 1) {
		bench.pod_count = (uint32_t)strtoul(argv[1], NULL, 10);
	}
	if (argc > 2) {
		bench.shape_count = (uint32_t)strtoul(argv[2], NULL, 10);
	}
	if (bench.pod_count == 0 || bench.shape_count == 0) {
		(void)fprintf(stderr, "usage: backlog_memory [PODS [SHAPES]]\n");
		return 2;
	}
	bench.config = bt_config_create_default(&gates);
	must(bt_scheduler_create(bench.config, &options, &writer, &bench.scheduler, &err), &err);
	add_nodes(&bench);
	before = used_bytes();
	bench.pods = BT_NEW_ARRAY(struct bt_object *, bench.pod_count);
	add_waiting(&bench);
	waiting = used_bytes();
	bind_all(&bench);
	bound = used_bytes();
	(void)printf("{\"pods\":%u,\"shapes\":%u,\"waiting_bytes\":%.0f,\"bound_bytes\":%.0f}\n",
		bench.pod_count, bench.shape_count, (waiting - before) / bench.pod_count,
		(bound - before) / bench.pod_count);
	bt_scheduler_destroy(bench.scheduler);
	for (uint32_t i = 0; i < bench.pod_count; i++) {
		bt_object_release_packable(bench.pods[i]);
	}
	bt_free(bench.pods);
	bt_pod_commons_finish(&bench.commons);
	bt_config_unref(bench.config);
	return 0;
}
