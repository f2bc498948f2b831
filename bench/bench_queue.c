/* SPDX-License-Identifier: Apache-2.0 */
/** Measurements with the queue: pods that fit nowhere until a node is added, and gated pods. */
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "base/alloc.h"
#include "base/nanoseconds.h"
#include "bench/bench_cluster.h"
#include "bench/bench_living.h"

/**
 * Time between events: longer than the longest backoff, so that requeued pods are tried at once.
 * All events together take less time than the flush of unschedulable pods, which would try pods
 * without an event.
 */
#define CALM_NS (11 * BT_NS_PER_SECOND)
/** Number of nodes that are added for the backlog. Each node fits pods of a different shape. */
#define EVENTS 10

struct queue_bench {
	struct bt_bench *bench;
	struct bt_living living;
};

/** Allocated bytes; 0: the C library does not report them. */
static size_t heap_bytes(void)
{
#ifdef __GLIBC__
	struct mallinfo2 info = mallinfo2();
	return info.uordblks + info.hblkhd;
#else
	return 0;
#endif
}

static int add_text(struct queue_bench *queue, struct berth_error *err)
{
	struct bt_object *object;
	int result = bt_bench_decode_text(queue->bench, &object, err);
	return result == 0 ? bt_living_add(&queue->living, object, err) : result;
}

static int load(struct queue_bench *queue, struct berth_error *err)
{
	struct bt_bench *bench = queue->bench;
	const struct bt_bench_source *source = &bench->run->source;
	int result = 0;
	for (uint32_t i = 0; i < source->node_count && result == 0; i++) {
		bt_bench_write_node(source, i, &bench->text);
		result = add_text(queue, err);
	}
	for (uint32_t i = 0; i < bt_bench_extra_count(source) && result == 0; i++) {
		bt_bench_write_extra(source, i, &bench->text);
		result = add_text(queue, err);
	}
	for (uint32_t i = 0; i < source->bound_count && result == 0; i++) {
		bt_bench_write_pod(source, i, &bench->text);
		result = add_text(queue, err);
	}
	bench->result->node_count = source->node_count;
	bench->result->bound_count = source->bound_count;
	bench->result->pending_count = source->pending_count;
	return result;
}

static int add_pending(
	struct queue_bench *queue, uint32_t first, uint32_t count, struct berth_error *err)
{
	struct bt_bench *bench = queue->bench;
	const struct bt_bench_source *source = &bench->run->source;
	int result = 0;
	for (uint32_t i = first; i < first + count && result == 0; i++) {
		bt_bench_write_pod(source, source->bound_count + i, &bench->text);
		result = add_text(queue, err);
	}
	return result;
}

/** Makes one attempt. *out_bound: whether a pod was bound; *out_more: whether a pod was tried. */
static int step(struct queue_bench *queue, bool *out_bound, bool *out_more, struct berth_error *err)
{
	struct bt_attempt attempt;
	int result = bt_living_step(&queue->living, &attempt, err);
	*out_bound = attempt.outcome == BT_ATTEMPT_BOUND;
	*out_more = attempt.outcome != BT_ATTEMPT_IDLE;
	if (*out_bound || attempt.outcome == BT_ATTEMPT_FAILED) {
		bt_bench_note(queue->bench, attempt.namespace_, attempt.name, attempt.node_name);
	}
	return result;
}

static int try_all(struct queue_bench *queue, struct berth_error *err)
{
	struct bt_bench_watch watch = bt_bench_watch_start();
	bool bound;
	bool more = true;
	int result = 0;
	while (more && result == 0) {
		result = step(queue, &bound, &more, err);
	}
	bt_bench_watch_stop(&watch, queue->bench->result);
	return result;
}

/**
 * Adds a node that fits a pod of one shape. *out_ms: time until a pod is placed; 0: none was
 * placed.
 */
static int relieve(
	struct queue_bench *queue, uint32_t index, double *out_ms, struct berth_error *err)
{
	struct bt_bench *bench = queue->bench;
	struct bt_object *node;
	bt_bench_write_relief((42 + 11 * index) % BT_BENCH_BACKLOG_SHAPES, index, &bench->text);
	int result = bt_bench_decode_text(bench, &node, err);
	if (result < 0) {
		return result;
	}
	bt_living_pass(&queue->living, CALM_NS);
	double cpu_seconds = 0;
	double seconds = 0;
	struct bt_bench_watch watch = bt_bench_watch_start();
	result = bt_living_add(&queue->living, node, err);
	bool more = true;
	*out_ms = 0;
	while (more && result == 0) {
		bool bound;
		result = step(queue, &bound, &more, err);
		if (bound && *out_ms <= 0) {
			bt_bench_watch_add(&watch, &seconds, &cpu_seconds);
			*out_ms = seconds * 1e3;
		}
	}
	double settled_ms = (bt_bench_now_seconds() - watch.start) * 1e3;
	if (cpu_seconds * 1e3 > bench->result->event_cpu_ms) {
		bench->result->event_cpu_ms = cpu_seconds * 1e3;
	}
	if (settled_ms > bench->result->settled_ms) {
		bench->result->settled_ms = settled_ms;
	}
	return result;
}

static int compare_doubles(const void *a, const void *b)
{
	double left = *(const double *)a;
	double right = *(const double *)b;
	return BT_ORDER(left, right);
}

static int relieve_all(struct queue_bench *queue, struct berth_error *err)
{
	struct bt_bench_result *result = queue->bench->result;
	double times_ms[EVENTS];
	for (uint32_t i = 0; i < EVENTS; i++) {
		int code = relieve(queue, i, &times_ms[i], err);
		if (code < 0) {
			return code;
		}
	}
	qsort(times_ms, EVENTS, sizeof(times_ms[0]), compare_doubles);
	result->event_count = EVENTS;
	result->event_ms = times_ms[EVENTS - 1];
	result->event_median_ms = times_ms[EVENTS / 2];
	return 0;
}

static int run_backlog(struct queue_bench *queue, struct berth_error *err)
{
	struct bt_bench *bench = queue->bench;
	int result = load(queue, err);
	uint32_t total = bt_bench_pending_count(bench);
	/* Try one pod of each shape first: memory per shape must not count as memory per pod. */
	uint32_t first = total < BT_BENCH_BACKLOG_SHAPES ? total : BT_BENCH_BACKLOG_SHAPES;
	if (result == 0) {
		result = add_pending(queue, 0, first, err);
	}
	if (result == 0) {
		result = try_all(queue, err);
	}
	size_t before = heap_bytes();
	if (result == 0) {
		result = add_pending(queue, first, total - first, err);
	}
	if (result == 0) {
		result = try_all(queue, err);
	}
	size_t after = heap_bytes();
	if (total > first && after > before) {
		bench->result->waiting_pod_bytes = (double)(after - before) / (total - first);
	}
	return result == 0 ? relieve_all(queue, err) : result;
}

/** --- gates --- */

/** Removes the gate of each pod, and places the pod before the next gate is removed. */
static int open_gates(struct queue_bench *queue, uint32_t count, struct berth_error *err)
{
	struct bt_living *living = &queue->living;
	struct bt_bench_watch watch = bt_bench_watch_start();
	int result = 0;
	for (uint32_t i = 0; i < count && result == 0; i++) {
		const struct bt_object_meta *meta = queue->bench->pending.items[i]->meta;
		struct bt_object *waiting = bt_object_share(
			bt_scheduler_find_pod(living->scheduler, meta->namespace_, meta->name));
		struct bt_pod open = *(const struct bt_pod *)waiting->value;
		open.spec.scheduling_gates.count = 0;
		bool more = true;
		result = bt_living_change_pod(living, waiting, &open, err);
		while (more && result == 0) {
			bool bound;
			result = step(queue, &bound, &more, err);
		}
	}
	bt_bench_watch_stop(&watch, queue->bench->result);
	return result;
}

static int run_gated(struct queue_bench *queue, struct berth_error *err)
{
	struct bt_bench *bench = queue->bench;
	int result = load(queue, err);
	uint32_t total = bt_bench_pending_count(bench);
	if (result == 0) {
		result = add_pending(queue, 0, total, err);
	}
	if (result == 0) {
		result = try_all(queue, err); /* places no pod, because all pods are gated */
	}
	for (uint32_t first = 0; first < total && result == 0; first += BT_BENCH_BATCH) {
		uint32_t count = total - first < BT_BENCH_BATCH ? total - first : BT_BENCH_BATCH;
		result = bt_bench_make_pending(bench, first, count, err);
		if (result == 0) {
			result = open_gates(queue, count, err);
		}
		bt_bench_release_pending(bench);
	}
	return result;
}

/** --- gangs --- */

/** Add the members of each gang and try them before the next gang is added. */
static int run_gangs(struct queue_bench *queue, struct berth_error *err)
{
	struct bt_bench *bench = queue->bench;
	uint32_t size = bench->run->source.workload->gang_size;
	int result = load(queue, err);
	for (uint32_t first = 0; first < bt_bench_pending_count(bench) && result == 0;
		first += size) {
		uint32_t rest = bench->result->pending_count - first;
		result = bt_bench_make_pending(bench, first, rest < size ? rest : size, err);
		struct bt_bench_watch watch = bt_bench_watch_start();
		for (uint32_t i = 0; i < bench->pending.count && result == 0; i++) {
			result = bt_living_add(
				&queue->living, bt_object_share(bench->pending.items[i]), err);
		}
		bt_bench_watch_stop(&watch, bench->result);
		if (result == 0) {
			result = try_all(queue, err);
		}
		bt_bench_release_pending(bench);
	}
	return result;
}

static int run(struct bt_bench *bench, const struct bt_setup *setup,
	int (*measure)(struct queue_bench *queue, struct berth_error *err), struct berth_error *err)
{
	struct queue_bench queue = {.bench = bench};
	int result = bt_living_init(&queue.living, setup, err);
	if (result == 0) {
		result = measure(&queue, err);
	}
	bt_living_finish(&queue.living);
	return result;
}

int bt_bench_backlog(struct bt_bench *bench, const struct bt_setup *setup, struct berth_error *err)
{
	return run(bench, setup, run_backlog, err);
}

int bt_bench_gated(struct bt_bench *bench, const struct bt_setup *setup, struct berth_error *err)
{
	return run(bench, setup, run_gated, err);
}

int bt_bench_gangs(struct bt_bench *bench, const struct bt_setup *setup, struct berth_error *err)
{
	struct bt_setup with_gates = *setup;
	with_gates.feature_gates = (struct bt_arguments){0};
	bt_vec_push(&with_gates.feature_gates.list,
		"GenericWorkload=true,GangScheduling=true,TopologyAwareWorkloadScheduling=true");
	for (uint32_t i = 0; i < setup->feature_gates.list.count; i++) {
		bt_vec_push(&with_gates.feature_gates.list, setup->feature_gates.list.items[i]);
	}
	int result = run(bench, &with_gates, run_gangs, err);
	bt_vec_finish(&with_gates.feature_gates.list);
	return result;
}
