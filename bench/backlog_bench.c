/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A backlog of unschedulable pods in the complete scheduler, and events that make some of these
 * pods schedulable. Prints one JSON line per case, with three times from the start of the event:
 * "event" ends when the scheduler has observed the event, "placed" when all pods that fit are
 * placed, and "settled" when every requeued pod was tried. Each time has median, p99 and maximum
 * over the events, in milliseconds. A shape is a group of pods with equal specs. In the first cases
 * every shape waits for a different device. In the later cases every second shape waits for a pool
 * of nodes; because of the nodes of earlier events, an event then requeues pods of several shapes.
 * If events follow after a second, requeued pods that did not fit are still in backoff.
 *
 * Usage: backlog_bench [PODS [SHAPES [NODES [EVENTS]]]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/alloc.h"
#include "base/error.h"
#include "sched/scheduler.h"

#define BENCH_NAME "backlog_bench"
#include "bench/bench_objects.h"

#define NS_PER_SECOND INT64_C(1000000000)
#define START_NS (1000000 * NS_PER_SECOND)
#define NS_PER_MS 1e6

struct bench {
	struct bt_config *config;
	struct bt_scheduler *scheduler;
	int64_t now_ns;
	uint32_t pod_count;
	uint32_t shape_count;
	uint32_t node_count;
	uint32_t event_count;
	bool with_pools;
	uint32_t next_node;
	uint32_t next_pod;
};

struct times {
	double *event;
	double *placed;
	double *settled;
};

static int64_t clock_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * NS_PER_SECOND + now.tv_nsec;
}

static void observe(
	const struct bench *bench, struct bt_object *old_object, struct bt_object *new_object)
{
	struct berth_error err = BERTH_ERROR_INIT;

	must(bt_scheduler_observe(bench->scheduler, old_object, new_object, bench->now_ns, &err),
		&err);
}

static bool waits_for_pool(const struct bench *bench, uint32_t shape)
{
	return bench->with_pools && shape % 2 == 1;
}

static struct bt_object *make_pod(const struct bench *bench, uint32_t number, uint32_t shape)
{
	char json[1024];
	char selector[64] = "";
	char device[64] = "";

	if (waits_for_pool(bench, shape)) {
		(void)snprintf(
			selector, sizeof(selector), "\"nodeSelector\":{\"pool\":\"p%u\"},", shape);
	} else {
		(void)snprintf(device, sizeof(device), ",\"example.com/d%u\":\"1\"", shape);
	}
	(void)snprintf(json, sizeof(json),
		"{\"metadata\":{\"name\":\"app-%u\",\"namespace\":\"default\",\"uid\":"
		"\"6d6a2b1c-0000-4000-8000-%012u\",\"labels\":{\"app\":\"app-%u\"}},"
		"\"spec\":{\"schedulerName\":\"default-scheduler\",%s\"containers\":[{\"name\":"
		"\"main\",\"image\":\"registry.example/app:1\",\"resources\":{\"requests\":"
		"{\"cpu\":\"1\",\"memory\":\"1Gi\"%s}}}]}}",
		number, number, shape, selector, device);
	return decode(BT_KIND_POD, json);
}

static struct bt_object *make_node(
	uint32_t number, const char *pool, uint32_t cpus, const char *device)
{
	char json[512];

	(void)snprintf(json, sizeof(json),
		"{\"metadata\":{\"name\":\"node-%u\",\"labels\":{\"kubernetes.io/hostname\":"
		"\"node-%u\",\"pool\":\"%s\"}},\"status\":{\"allocatable\":{\"cpu\":\"%u\","
		"\"memory\":\"4096Gi\",\"pods\":\"5000\"%s}}}",
		number, number, pool, cpus, device);
	return decode(BT_KIND_NODE, json);
}

/** A node that fits `room` pods of shape `shape`, and no other pods. */
static struct bt_object *make_room(
	const struct bench *bench, uint32_t number, uint32_t shape, uint32_t room)
{
	char text[64];

	if (waits_for_pool(bench, shape)) {
		(void)snprintf(text, sizeof(text), "p%u", shape);
		return make_node(number, text, room, "");
	}
	(void)snprintf(text, sizeof(text), ",\"example.com/d%u\":\"%u\"", shape, room);
	return make_node(number, "none", 64, text);
}

static int bind(void *context BT_UNUSED, const struct bt_pod_info *pod BT_UNUSED,
	struct bt_str node_name BT_UNUSED, struct berth_error *err BT_UNUSED)
{
	return 0;
}

static int patch_status(void *context BT_UNUSED, const struct bt_pod *pod BT_UNUSED,
	const struct bt_pod_condition *condition BT_UNUSED,
	const struct bt_post_filter_result *nomination BT_UNUSED, struct berth_error *err BT_UNUSED)
{
	return 0;
}

static void event(void *context BT_UNUSED, const struct bt_pod *pod BT_UNUSED,
	const char *type BT_UNUSED, const char *reason BT_UNUSED, const char *action BT_UNUSED,
	struct bt_str note BT_UNUSED)
{
}

/** Try pods until `wanted` are placed. Returns how many were placed. */
static uint32_t schedule(const struct bench *bench, uint32_t wanted)
{
	struct bt_attempt attempt;
	uint32_t placed = 0;

	while (placed < wanted) {
		(void)bt_scheduler_step(bench->scheduler, bench->now_ns, &attempt);
		if (attempt.outcome == BT_ATTEMPT_IDLE) {
			break;
		}
		placed += attempt.outcome == BT_ATTEMPT_BOUND;
	}
	return placed;
}

static void add_pod(struct bench *bench, uint32_t shape)
{
	struct bt_object *pod = make_pod(bench, bench->next_pod++, shape);

	observe(bench, NULL, pod);
	bt_object_release(pod);
}

static void bench_init(struct bench *bench)
{
	const struct bt_scheduler_writer writer = {
		.bind = bind, .patch_status = patch_status, .event = event};
	struct bt_engine_options options = BT_ENGINE_OPTIONS_INIT;
	struct bt_gates gates = bt_gates_default();
	struct berth_error err = BERTH_ERROR_INIT;
	int64_t start = clock_ns();

	bench->config = bt_config_create_default(&gates);
	options.percentage_of_nodes_to_score = 100;
	must(bt_scheduler_create(bench->config, &options, &writer, &bench->scheduler, &err), &err);
	bench->now_ns = START_NS;
	for (uint32_t i = 0; i < bench->node_count; i++) {
		struct bt_object *node = make_node(bench->next_node++, "none", 64, "");

		observe(bench, NULL, node);
		bt_object_release(node);
	}
	for (uint32_t i = 0; i < bench->pod_count; i++) {
		add_pod(bench, i % bench->shape_count);
	}
	if (schedule(bench, UINT32_MAX) != 0) {
		(void)fprintf(stderr, "backlog_bench: a pod was placed too early\n");
		exit(1);
	}
	/* Let all backoffs end; the pods still wait for an event. */
	bench->now_ns += 60 * NS_PER_SECOND;
	bt_queue_tick(bt_scheduler_queue(bench->scheduler), bench->now_ns);
	(void)printf("{\"case\":\"first attempts, %s\",\"pods\":%u,\"shapes\":%u,\"nodes\":%u,"
		     "\"attempts_per_s\":%.0f}\n",
		bench->with_pools ? "devices and pools" : "devices", bench->pod_count,
		bench->shape_count, bench->node_count,
		bench->pod_count / ((double)(clock_ns() - start) / 1e9));
}

static void bench_finish(struct bench *bench)
{
	bt_scheduler_destroy(bench->scheduler);
	bt_config_unref(bench->config);
}

static int compare_times(const void *a, const void *b)
{
	const double *left = a;
	const double *right = b;

	return (*left > *right) - (*left < *right);
}

static void print_times(const char *what, double *times, uint32_t count)
{
	qsort(times, count, sizeof(*times), compare_times);
	(void)printf(",\"%s_ms\":{\"p50\":%.3f,\"p99\":%.3f,\"max\":%.3f}", what, times[count / 2],
		times[count * 99 / 100], times[count - 1]);
}

/** Adds nodes at intervals of `seconds`. Each node fits `room` pods of one shape; 0: no pod. */
static void time_case(struct bench *bench, const char *what, uint32_t room, int64_t seconds)
{
	uint32_t count = bench->event_count;
	struct times times = {BT_NEW_ARRAY(double, count), BT_NEW_ARRAY(double, count),
		BT_NEW_ARRAY(double, count)};

	for (uint32_t i = 0; i < count; i++) {
		uint32_t shape = i % bench->shape_count;
		struct bt_object *node = room != 0
			? make_room(bench, bench->next_node++, shape, room)
			: make_node(bench->next_node++, "other", 64, "");
		int64_t start = clock_ns();
		uint32_t placed;

		observe(bench, NULL, node);
		times.event[i] = (double)(clock_ns() - start) / NS_PER_MS;
		placed = room != 0 ? schedule(bench, room) : 0;
		times.placed[i] = (double)(clock_ns() - start) / NS_PER_MS;
		if (placed != room || schedule(bench, UINT32_MAX) != 0) {
			(void)fprintf(stderr, "backlog_bench: %u placed, not %u\n", placed, room);
			exit(1);
		}
		times.settled[i] = (double)(clock_ns() - start) / NS_PER_MS;
		bt_object_release(node);
		/* Replace the placed pods by as many waiting pods, and let their backoff end. */
		for (uint32_t p = 0; p < room; p++) {
			add_pod(bench, shape);
		}
		(void)schedule(bench, UINT32_MAX);
		bench->now_ns += seconds * NS_PER_SECOND;
		bt_queue_flush_backoff_completed(
			bt_scheduler_queue(bench->scheduler), bench->now_ns);
		(void)schedule(bench, UINT32_MAX);
	}
	(void)printf("{\"case\":\"%s\",\"events\":%u", what, count);
	print_times("event", times.event, count);
	print_times("placed", times.placed, count);
	print_times("settled", times.settled, count);
	(void)printf("}\n");
	bt_free(times.event);
	bt_free(times.placed);
	bt_free(times.settled);
}

static uint32_t argument(int argc, char **argv, int index, uint32_t otherwise)
{
	return argc > index ? (uint32_t)strtoul(argv[index], NULL, 10) : otherwise;
}

static void time_all(struct bench bench)
{
	bench_init(&bench);
	time_case(&bench, "a node that fits no pod", 0, 15);
	time_case(&bench, "a node for one pod of a shape", 1, 15);
	time_case(&bench, "a node for ten pods of a shape", 10, 15);
	time_case(&bench, "such a node a second later, while many back off", 10, 1);
	bench_finish(&bench);
}

int main(int argc, char **argv)
{
	struct bench bench = {
		.pod_count = argument(argc, argv, 1, 100000),
		.shape_count = argument(argc, argv, 2, 100),
		.node_count = argument(argc, argv, 3, 5000),
		.event_count = argument(argc, argv, 4, 100),
	};

	if (bench.pod_count / bench.shape_count < 10) {
		(void)fprintf(stderr, "backlog_bench: ten pods of a shape at least\n");
		return 1;
	}
	time_all(bench);
	bench.with_pools = true;
	time_all(bench);
	return 0;
}
