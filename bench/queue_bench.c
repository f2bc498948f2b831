/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cost of the scheduling queue. Prints one JSON line per measurement: operations with 100,000
 * waiting pods, and events that concern none of 100,000 unschedulable pods.
 *
 * Usage: queue_bench [PODS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/alloc.h"
#include "base/error.h"
#include "framework/cluster_event.h"
#include "plugins/registry.h"
#include "queue/queue.h"

#define BENCH_NAME "queue_bench"
#include "bench/bench_objects.h"

#define PODS_DEFAULT 100000
#define SHAPES 100
#define NS_PER_SECOND INT64_C(1000000000)
#define START_NS (1000000 * NS_PER_SECOND)

static const struct bt_cluster_event node_allocatable = {
	BT_RESOURCE_NODE, BT_ACTION_UPDATE_NODE_ALLOCATABLE};
static const struct bt_cluster_event node_label = {BT_RESOURCE_NODE, BT_ACTION_UPDATE_NODE_LABEL};
static const struct bt_cluster_event node_add = {BT_RESOURCE_NODE, BT_ACTION_ADD};
static const struct bt_cluster_event pod_add = {BT_RESOURCE_ASSIGNED_POD, BT_ACTION_ADD};
static const struct bt_cluster_event pod_delete = {BT_RESOURCE_ASSIGNED_POD, BT_ACTION_DELETE};
static const struct bt_cluster_event claim_add = {
	BT_RESOURCE_PERSISTENT_VOLUME_CLAIM, BT_ACTION_ADD};

struct bench {
	struct bt_config *config;
	struct bt_registry registry;
	struct bt_state *state;
	struct bt_nominator nominator;
	struct bt_profiles profiles;
	struct bt_queue *queue;
	int64_t now_ns;
};

static int64_t clock_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * NS_PER_SECOND + now.tv_nsec;
}

static void bench_init(struct bench *bench)
{
	struct bt_state_options options = {0};
	struct bt_gates gates = bt_gates_default();
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_queue_options queue_options;

	*bench = (struct bench){.now_ns = START_NS};
	bench->config = bt_config_create_default(&gates);
	bench->state = bt_state_create(&options);
	bt_nominator_init(&bench->nominator, bench->state);
	bench->registry = (struct bt_registry){0};
	must(bt_register_in_tree_plugins(&bench->registry, &err), &err);
	must(bt_profiles_create(&bench->registry, bench->config, bench->state, &bench->nominator,
		     &bench->profiles, &err),
		&err);
	queue_options = bt_queue_options_from_config(bench->config);
	must(bt_queue_create(&queue_options, bench->state, &bench->profiles, &bench->nominator,
		     &bench->queue, &err),
		&err);
	bt_queue_start(bench->queue, bench->now_ns);
}

static void bench_finish(struct bench *bench)
{
	bt_queue_destroy(bench->queue);
	bt_profiles_finish(&bench->profiles);
	bt_vec_finish(&bench->registry.entries);
	bt_nominator_finish(&bench->nominator);
	bt_config_unref(bench->config);
	bt_state_destroy(bench->state);
}

/**
 * Pod number i of a workload of `shapes` deployments; distinct_labels: each pod has a different
 * label.
 */
static struct bt_object *make_pod(uint32_t i, uint32_t shapes, bool distinct_labels)
{
	char json[2048];
	char own_label[64] = "";
	uint32_t shape = i % shapes;

	if (distinct_labels) {
		(void)snprintf(own_label, sizeof(own_label), ",\"pod-index\":\"%u\"", i);
	}
	(void)snprintf(json, sizeof(json),
		"{\"metadata\":{\"name\":\"app-%u-%u\",\"namespace\":\"default\",\"uid\":"
		"\"6d6a2b1c-0000-4000-8000-%012u\",\"labels\":{\"app\":\"app-%u\"%s}},"
		"\"spec\":{\"schedulerName\":\"default-scheduler\",\"priority\":%u,"
		"\"nodeSelector\":{\"pool\":\"pool-%u\"},\"tolerations\":[{\"key\":"
		"\"node.kubernetes.io/not-ready\",\"operator\":\"Exists\",\"effect\":\"NoExecute\","
		"\"tolerationSeconds\":300},{\"key\":\"node.kubernetes.io/unreachable\","
		"\"operator\":\"Exists\",\"effect\":\"NoExecute\",\"tolerationSeconds\":300}],"
		"\"affinity\":{\"podAntiAffinity\":{"
		"\"requiredDuringSchedulingIgnoredDuringExecution\":[{\"topologyKey\":"
		"\"kubernetes.io/hostname\",\"labelSelector\":{\"matchLabels\":{\"app\":\"app-%u\"}"
		"}}]}},\"topologySpreadConstraints\":[{\"maxSkew\":1,\"topologyKey\":\"zone\","
		"\"whenUnsatisfiable\":\"DoNotSchedule\",\"labelSelector\":{\"matchLabels\":"
		"{\"app\":\"app-%u\"}}}],"
		"\"containers\":[{\"name\":\"main\",\"image\":\"registry.example/app:1\","
		"\"resources\":{\"requests\":{\"cpu\":\"%um\",\"memory\":\"2Gi\"}}}]}}",
		shape, i, i, shape, own_label, shape % 3, shape, shape, shape, 1000 + shape);
	return decode(BT_KIND_POD, json);
}

static struct bt_object **make_pods(
	uint32_t first, uint32_t count, uint32_t shapes, bool distinct_labels)
{
	struct bt_object **pods = bt_calloc(count, sizeof(struct bt_object *));

	for (uint32_t i = 0; i < count; i++) {
		pods[i] = make_pod(first + i, shapes, distinct_labels);
	}
	return pods;
}

static void release_pods(struct bt_object **pods, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		bt_object_release(pods[i]);
	}
	bt_free(pods);
}

static struct bt_queue_rejection rejection_by(const struct bench *bench, const char *plugin)
{
	struct bt_queue_rejection rejection = {0};

	bt_rejectors_add(&rejection.unschedulable_plugins,
		bt_queue_find_rejector(bench->queue, 0, bt_str_from(plugin)));
	return rejection;
}

static void report(const char *what, const char *unit, double value, double operations)
{
	(void)printf("{\"measurement\":\"%s\",\"%s\":%.3f,\"operations\":%.0f}\n", what, unit,
		value, operations);
}

static void requeue(struct bench *bench, struct bt_queue_entry *entry,
	const struct bt_queue_rejection *rejection)
{
	struct berth_error err = BERTH_ERROR_INIT;

	must(bt_queue_add_unschedulable_if_not_present(
		     bench->queue, entry, rejection, bench->now_ns, &err),
		&err);
}

static void time_operations(uint32_t count)
{
	struct bt_object **pods = make_pods(0, count, SHAPES, false);
	struct bt_object **more = make_pods(count, count, SHAPES, false);
	struct bt_queue_rejection rejection;
	struct bench bench;
	int64_t start;
	double seconds;

	bench_init(&bench);
	rejection = rejection_by(&bench, "NodeResourcesFit");
	start = clock_ns();
	for (uint32_t i = 0; i < count; i++) {
		bt_queue_add(bench.queue, pods[i], bench.now_ns++);
	}
	seconds = (double)(clock_ns() - start) / 1e9;
	report("add", "per_s", count / seconds, count);
	start = clock_ns();
	for (uint32_t i = 0; i < count; i++) {
		bt_queue_add(bench.queue, more[i], bench.now_ns++);
		requeue(&bench, bt_queue_pop(bench.queue), &rejection);
		bench.now_ns++;
	}
	seconds = (double)(clock_ns() - start) / 1e9;
	report("add, pop and requeue", "per_s", 3.0 * count / seconds, 3.0 * count);
	start = clock_ns();
	for (uint32_t i = 0; i < count; i++) {
		requeue(&bench, bt_queue_pop(bench.queue), &rejection);
		bench.now_ns++;
	}
	seconds = (double)(clock_ns() - start) / 1e9;
	report("pop and requeue", "per_s", 2.0 * count / seconds, 2.0 * count);
	/* Pods that failed by an error enter the error backoff, and leave it when it ends. */
	bench.now_ns += 400 * NS_PER_SECOND;
	start = clock_ns();
	bt_queue_flush_unschedulable_leftover(bench.queue, bench.now_ns);
	seconds = (double)(clock_ns() - start) / 1e9;
	report("leftover flush of pods", "per_s", 2.0 * count / seconds, 2.0 * count);
	start = clock_ns();
	for (uint32_t i = 0; i < count; i++) {
		requeue(&bench, bt_queue_pop(bench.queue), NULL);
		bench.now_ns++;
	}
	seconds = (double)(clock_ns() - start) / 1e9;
	report("pop and requeue into backoff", "per_s", 2.0 * count / seconds, 2.0 * count);
	bench.now_ns += 400 * NS_PER_SECOND;
	start = clock_ns();
	bt_queue_flush_backoff_completed(bench.queue, bench.now_ns);
	seconds = (double)(clock_ns() - start) / 1e9;
	report("backoff flush of pods", "per_s", count / seconds, count);
	bench_finish(&bench);
	release_pods(pods, count);
	release_pods(more, count);
}

struct event_row {
	const char *what;
	const char *rejector;
	const struct bt_cluster_event *event;
	enum bt_kind kind;
	const char *old_json;
	const char *new_json;
};

#define NODE(labels, cpu) \
	"{\"metadata\":{\"name\":\"n\",\"labels\":{" labels "}},\"status\":{\"allocatable\":{" \
	"\"cpu\":\"" cpu "\",\"memory\":\"1Gi\",\"pods\":\"110\"}}}"
#define PLACED \
	"{\"metadata\":{\"name\":\"other\",\"namespace\":\"default\",\"uid\":\"other\"," \
	"\"labels\":{" \
	"\"app\":\"other\"}},\"spec\":{\"nodeName\":\"n\"}}"

static const struct event_row rows[] = {
	{"no hint: pod added, NodeResourcesFit", "NodeResourcesFit", &pod_add, BT_KIND_POD, NULL,
		PLACED},
	{"node grew too little, NodeResourcesFit", "NodeResourcesFit", &node_allocatable,
		BT_KIND_NODE, NODE("", "1"), NODE("", "2")},
	{"small node added, NodeResourcesFit", "NodeResourcesFit", &node_add, BT_KIND_NODE, NULL,
		NODE("", "1")},
	{"label of another pool, NodeAffinity", "NodeAffinity", &node_label, BT_KIND_NODE,
		NODE("", "1"), NODE("\"pool\":\"other\"", "1")},
	{"label of one shape's pool, NodeAffinity", "NodeAffinity", &node_label, BT_KIND_NODE,
		NODE("", "1"), NODE("\"pool\":\"pool-7\"", "1")},
	{"label of no topology, InterPodAffinity", "InterPodAffinity", &node_label, BT_KIND_NODE,
		NODE("", "1"), NODE("\"pool\":\"other\"", "1")},
	{"pod of another app deleted, InterPodAffinity", "InterPodAffinity", &pod_delete,
		BT_KIND_POD, PLACED, NULL},
	{"label of no topology, PodTopologySpread", "PodTopologySpread", &node_label, BT_KIND_NODE,
		NODE("", "1"), NODE("\"pool\":\"other\"", "1")},
	{"pod of another app deleted, PodTopologySpread", "PodTopologySpread", &pod_delete,
		BT_KIND_POD, PLACED, NULL},
	{"claim of another pod added, VolumeBinding", "VolumeBinding", &claim_add,
		BT_KIND_PERSISTENT_VOLUME_CLAIM, NULL,
		"{\"metadata\":{\"name\":\"claim\",\"namespace\":\"default\"}}"},
};

#define EVENT_ROUNDS 20

static void time_event(uint32_t count, uint32_t shapes, const struct event_row *row)
{
	struct bt_object **pods = make_pods(0, count, shapes, true);
	struct bt_object *old_object = NULL;
	struct bt_object *new_object = NULL;
	struct bt_queue_rejection rejection;
	struct bench bench;
	int64_t start;
	int64_t best = INT64_MAX;
	uint32_t moved = 0;
	char what[160];

	bench_init(&bench);
	rejection = rejection_by(&bench, row->rejector);
	for (uint32_t i = 0; i < count; i++) {
		bt_queue_add(bench.queue, pods[i], bench.now_ns++);
		requeue(&bench, bt_queue_pop(bench.queue), &rejection);
	}
	if (row->old_json != NULL) {
		old_object = decode(row->kind, row->old_json);
	}
	if (row->new_json != NULL) {
		new_object = decode(row->kind, row->new_json);
	}
	for (uint32_t i = 0; i < EVENT_ROUNDS; i++) {
		bench.now_ns += 20 * NS_PER_SECOND; /* longer than the longest backoff */
		start = clock_ns();
		bt_queue_move_all_to_active_or_backoff_queue(
			bench.queue, row->event, old_object, new_object, NULL, bench.now_ns);
		start = clock_ns() - start;
		best = start < best ? start : best;
		moved = bt_queue_count(bench.queue, BT_QUEUE_ACTIVE);
		for (uint32_t k = 0; k < moved; k++) {
			requeue(&bench, bt_queue_pop(bench.queue), &rejection);
		}
	}
	(void)snprintf(what, sizeof(what), "%s, %u shapes, %u pods move", row->what, shapes, moved);
	report(what, "ms", (double)best / 1e6, EVENT_ROUNDS);
	bt_object_release(old_object);
	bt_object_release(new_object);
	bench_finish(&bench);
	release_pods(pods, count);
}

int main(int argc, char **argv)
{
	uint32_t count = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : PODS_DEFAULT;

	time_operations(count);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		time_event(count, SHAPES, &rows[i]);
	}
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		time_event(count, count, &rows[i]);
	}
	return 0;
}
