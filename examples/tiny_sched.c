/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole scheduler around libberth, for a cluster made of text lines on standard input:
 *
 *     node NAME CPU        add a node, or change its size
 *     pod NAME CPU [PRIO]  add a pending pod
 *     delete NAME          delete a pod
 *
 * A table stands for the API server; the loop is that of a real scheduler. Build against an
 * installed berth:
 *
 *     cc tiny_sched.c $(pkg-config --cflags --libs libberth) -o tiny_sched
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <berth/engine.h>

#define PODS_MAX 1000
#define SECOND_NS INT64_C(1000000000)

/* A pod as the API server would store it. */
struct pod {
	char name[64];
	char cpu[16];
	char node[64]; /* "": pending */
	int priority;
};

static struct pod pods[PODS_MAX];
static int pod_count;
static int version;
static int64_t now_ns = SECOND_NS;
static struct berth_engine *engine;

static void fail(const char *what, struct berth_error *err)
{
	fprintf(stderr, "tiny_sched: %s: %s\n", what, berth_error_message(err));
	exit(2);
}

/* Pass an object to the engine, as a watch would. */
static void tell(const char *json, int is_deletion)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct berth_object *object = NULL;
	int result = berth_object_decode(berth_str_from(json), &object, &err);

	if (result == BERTH_OK) {
		result = is_deletion ? berth_engine_delete(engine, object, now_ns, &err)
				     : berth_engine_put(engine, object, now_ns, &err);
	}
	if (result != BERTH_OK) {
		fail("a line is no good", &err);
	}
	berth_object_release(object);
}

static void tell_node(const char *name, const char *cpu)
{
	char json[512];

	snprintf(json, sizeof(json),
		"{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"%s\","
		"\"resourceVersion\":\"%d\"},\"status\":{\"allocatable\":{\"cpu\":\"%s\","
		"\"memory\":\"64Gi\",\"pods\":\"110\"}}}",
		name, ++version, cpu);
	tell(json, 0);
}

static void tell_pod(const struct pod *pod, int is_deletion)
{
	char json[1024];

	snprintf(json, sizeof(json),
		"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s\","
		"\"namespace\":\"default\",\"uid\":\"uid-%s\",\"resourceVersion\":\"%d\"},"
		"\"spec\":{\"priority\":%d,\"nodeName\":\"%s\",\"schedulerName\":"
		"\"default-scheduler\",\"containers\":[{\"name\":\"c\",\"resources\":{"
		"\"requests\":{\"cpu\":\"%s\"}}}]}}",
		pod->name, pod->name, ++version, pod->priority, pod->node, pod->cpu);
	tell(json, is_deletion);
}

static struct pod *find_pod(struct berth_str name)
{
	for (int i = 0; i < pod_count; i++) {
		if (berth_str_equal_c(name, pods[i].name)) {
			return &pods[i];
		}
	}
	return NULL;
}

static void delete_pod(struct pod *pod)
{
	struct pod gone = *pod;

	*pod = pods[--pod_count];
	tell_pod(&gone, 1);
}

/* Carry out a request of the engine; a real scheduler sends it to the API server. */
static int carry_out(const struct berth_request *request)
{
	struct pod *pod = find_pod(request->object_name);

	if (pod == NULL) {
		return BERTH_ERR_NOT_FOUND;
	}
	if (request->kind == BERTH_REQUEST_BIND) {
		snprintf(pod->node, sizeof(pod->node), "%.*s", BERTH_STR_ARG(request->node_name));
		tell_pod(pod, 0);
	} else if (request->kind == BERTH_REQUEST_DELETE_POD) {
		printf("%s is evicted from %s\n", pod->name, pod->node);
		delete_pod(pod);
	}
	return BERTH_OK; /* conditions and events are not stored here */
}

/*
 * Do all pending work: step the engine and carry out its requests. Every scheduler around libberth
 * has this loop.
 */
static void work(void)
{
	struct berth_decision decision;
	struct berth_request request;
	int busy = 1;

	while (busy) {
		busy = 0;
		while (berth_engine_step(engine, now_ns, &decision)) {
			busy = 1;
			if (decision.outcome == BERTH_DECISION_FAILED) {
				printf("%.*s stays pending: %.*s\n",
					BERTH_STR_ARG(decision.pod_name),
					BERTH_STR_ARG(decision.message));
			} else if (decision.outcome == BERTH_DECISION_BOUND) {
				printf("%.*s runs on %.*s\n", BERTH_STR_ARG(decision.pod_name),
					BERTH_STR_ARG(decision.node_name));
			}
		}
		while (berth_engine_take_request(engine, &request)) {
			struct berth_answer answer = {0, {NULL, 0}, {NULL, 0}};

			busy = 1;
			answer.code = carry_out(&request);
			berth_engine_answer(engine, request.id, &answer);
		}
	}
}

static void read_line(const char *line)
{
	struct pod pod = {"", "", "", 0};
	char first[64];
	char second[16];

	if (sscanf(line, "node %63s %15s", first, second) == 2) {
		tell_node(first, second);
	} else if (sscanf(line, "pod %63s %15s %d", pod.name, pod.cpu, &pod.priority) >= 2 &&
		pod_count < PODS_MAX) {
		pods[pod_count++] = pod;
		tell_pod(&pod, 0);
	} else if (sscanf(line, "delete %63s", first) == 1 &&
		find_pod(berth_str_from(first)) != NULL) {
		delete_pod(find_pod(berth_str_from(first)));
	}
	work();
	now_ns += 10 * SECOND_NS; /* let backoffs expire before the next line */
	work();
}

int main(void)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct berth_config *config = berth_config_create_default();
	char line[256];

	if (berth_engine_create(config, NULL, &engine, &err) != BERTH_OK) {
		fail("cannot start", &err);
	}
	while (fgets(line, sizeof(line), stdin) != NULL) {
		read_line(line);
	}
	berth_engine_destroy(engine);
	berth_config_release(config);
	return 0;
}
