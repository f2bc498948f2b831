/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/bench_cluster.h"

#include <time.h>

#include "cluster/file.h"
#include "cluster/simulation.h"
#include "plugins/default_preemption.h"

/* FNV-1a: the same on every machine, unlike bt_hash_bytes. */
#define DIGEST_START UINT64_C(0xcbf29ce484222325)
#define DIGEST_PRIME UINT64_C(0x100000001b3)

double bt_bench_now_seconds(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail for this clock */
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double cpu_now_seconds(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now); /* cannot fail for this clock */
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

struct bt_bench_watch bt_bench_watch_start(void)
{
	struct bt_bench_watch watch = {.cpu_start = cpu_now_seconds()};
	watch.start = bt_bench_now_seconds();
	return watch;
}

void bt_bench_watch_stop(const struct bt_bench_watch *watch, struct bt_bench_result *result)
{
	bt_bench_watch_add(watch, &result->seconds, &result->cpu_seconds);
}

void bt_bench_watch_add(const struct bt_bench_watch *watch, double *seconds, double *cpu_seconds)
{
	*seconds += bt_bench_now_seconds() - watch->start;
	*cpu_seconds += cpu_now_seconds() - watch->cpu_start;
}

/** --- loading --- */

static int take_pod(struct bt_bench *bench, struct bt_object *object, struct berth_error *err)
{
	const struct bt_pod *pod = bt_object_value(object, BT_KIND_POD);
	int result = 0;
	if (bt_pod_is_terminal(pod)) {
		bt_object_release(object);
		return 0;
	}
	if (pod->spec.node_name.length == 0) {
		bt_vec_push(&bench->pending, object);
		return 0;
	}
	result = bt_state_add_pod(bench->engine->state, pod, err);
	bench->result->bound_count++;
	bt_object_release(object);
	return result;
}

int bt_bench_take(struct bt_bench *bench, struct bt_object *object, struct berth_error *err)
{
	if (object->kind == BT_KIND_POD) {
		return take_pod(bench, object, err);
	}
	if (object->kind == BT_KIND_NODE) {
		bt_state_add_node(bench->engine->state, bt_object_value(object, BT_KIND_NODE));
		bench->result->node_count++;
		bt_object_release(object);
		return 0;
	}
	bt_object_store_put(&bench->engine->state->objects, object);
	return 0;
}

/**
 * Whether the line is the first or the last line of a snapshot. Each line between them has one
 * object; commas separate the objects.
 */
static bool is_around(struct bt_str line)
{
	return bt_str_equal_c(line, "]}") ||
		(bt_str_has_prefix(line, BT_STR("{\"apiVersion\":\"v1\",\"kind\":\"List\"")) &&
			bt_str_has_suffix(line, BT_STR("\"items\":[")));
}

static int take_line(struct bt_bench *bench, struct bt_str line, struct berth_error *err)
{
	struct bt_object *object = NULL;
	if (is_around(line)) {
		return 0;
	}
	if (bt_str_has_suffix(line, BT_STR("},"))) {
		line.length--;
	}
	if (line.length == 0 || line.data[0] != '{') {
		return bt_error_set(err, BERTH_ERR_SYNTAX,
			"expected one JSON object a line, or a snapshot (of a List: jq -c "
			"'.items[]')");
	}
	int result = bt_object_decode(line, &object, err);
	return result < 0 ? result : bt_bench_take(bench, object, err);
}

static int load_file(struct bt_bench *bench, const char *path, struct berth_error *err)
{
	struct bt_line_reader *reader;
	int result = bt_line_reader_open(path, &reader, err);
	if (result < 0) {
		return result;
	}
	for (;;) {
		struct bt_str line;
		bool more;
		result = bt_line_reader_next(reader, &line, &more, err);
		if (result < 0 || !more) {
			break;
		}
		result = take_line(bench, line, err);
		if (result < 0) {
			result = bt_error_wrap(
				err, result, "%s: line %lu", path, bt_line_reader_number(reader));
			break;
		}
	}
	bt_line_reader_close(reader);
	bench->result->pending_count = bench->pending.count;
	return result;
}

int bt_bench_decode_text(
	struct bt_bench *bench, struct bt_object **out_object, struct berth_error *err)
{
	int result = bt_object_decode(bt_strbuf_str(&bench->text), out_object, err);
	bt_strbuf_reset(&bench->text);
	return result;
}

static int take_text(struct bt_bench *bench, struct berth_error *err)
{
	struct bt_object *object;
	int result = bt_bench_decode_text(bench, &object, err);
	return result < 0 ? result : bt_bench_take(bench, object, err);
}

static int load_source(struct bt_bench *bench, struct berth_error *err)
{
	const struct bt_bench_source *source = &bench->run->source;
	int result = 0;
	for (uint32_t i = 0; i < source->node_count && result == 0; i++) {
		bt_bench_write_node(source, i, &bench->text);
		result = take_text(bench, err);
	}
	for (uint32_t i = 0; i < bt_bench_extra_count(source) && result == 0; i++) {
		bt_bench_write_extra(source, i, &bench->text);
		result = take_text(bench, err);
	}
	for (uint32_t i = 0; i < source->bound_count && result == 0; i++) {
		bt_bench_write_pod(source, i, &bench->text);
		result = take_text(bench, err);
	}
	bench->result->pending_count = source->pending_count;
	return result;
}

int bt_bench_load(struct bt_bench *bench, struct berth_error *err)
{
	return bench->run->path != NULL ? load_file(bench, bench->run->path, err)
					: load_source(bench, err);
}

int bt_bench_make_pending(
	struct bt_bench *bench, uint32_t first, uint32_t count, struct berth_error *err)
{
	const struct bt_bench_source *source = &bench->run->source;
	for (uint32_t i = 0; i < count; i++) {
		struct bt_object *object;
		bt_bench_write_pod(source, source->bound_count + first + i, &bench->text);
		int result = bt_bench_decode_text(bench, &object, err);
		if (result < 0) {
			return result;
		}
		bt_vec_push(&bench->pending, object);
	}
	return 0;
}

void bt_bench_release_pending(struct bt_bench *bench)
{
	for (uint32_t i = 0; i < bench->pending.count; i++) {
		bt_object_release(bench->pending.items[i]);
	}
	bench->pending.count = 0;
}

uint32_t bt_bench_pending_count(const struct bt_bench *bench)
{
	uint32_t count = bench->result->pending_count;
	return count < bench->pending_max ? count : bench->pending_max;
}

/** --- decisions --- */

static uint64_t digest_bytes(uint64_t digest, struct bt_str text)
{
	for (uint32_t i = 0; i < text.length; i++) {
		digest = (digest ^ (unsigned char)text.data[i]) * DIGEST_PRIME;
	}
	return (digest ^ 0xff) * DIGEST_PRIME; /* names do not contain this byte */
}

uint64_t bt_bench_digest(
	uint64_t before, struct bt_str namespace_, struct bt_str name, struct bt_str node_name)
{
	uint64_t digest = before != 0 ? before : DIGEST_START;
	digest = digest_bytes(digest, namespace_);
	digest = digest_bytes(digest, name);
	return digest_bytes(digest, node_name);
}

void bt_bench_note(struct bt_bench *bench, struct bt_str namespace_, struct bt_str name,
	struct bt_str node_name)
{
	struct bt_bench_result *result = bench->result;
	result->decisions = bt_bench_digest(result->decisions, namespace_, name, node_name);
	if (node_name.length != 0) {
		result->scheduled_count++;
	} else {
		result->failed_count++;
	}
	if (bench->keeps_digests) {
		bt_vec_push(&bench->digests, result->decisions);
	}
}

static bool try_to_place(
	struct bt_bench *bench, const struct bt_pod_info *info, struct bt_schedule_result *result)
{
	bt_engine_schedule(bench->engine, result->framework, info, NULL, result);
	return result->outcome == BT_OUTCOME_SCHEDULED &&
		bt_engine_place(bench->engine, info, result);
}

static void evict(struct bt_bench *bench, uint32_t pod_id)
{
	struct bt_state *state = bench->engine->state;
	struct bt_pod_info victim;
	bt_pod_info_from_record(state, pod_id, &victim);
	struct bt_pod pod = {
		.metadata = {.name = victim.name,
			.namespace_ = victim.namespace_,
			.uid = victim.uid},
		.spec.node_name = victim.node_name,
	};
	int result = bt_state_remove_pod(state, &pod, NULL);
	BT_ASSERT(result == 0); /* the pod was found on this node just before */
	bench->result->victim_count++;
}

/** Remove the victims of a failed attempt, then try the pod again on its nominated node. */
static bool preempt(
	struct bt_bench *bench, struct bt_pod_info *info, struct bt_schedule_result *result)
{
	const struct bt_preemption_decision *decision = result->outcome == BT_OUTCOME_FIT_ERROR
		? bt_default_preemption_decision(result->framework, result->cycle)
		: NULL;
	if (decision == NULL || decision->selected >= decision->candidate_count) {
		return false;
	}
	const struct bt_preemption_candidate *chosen = &decision->candidates[decision->selected];
	for (uint32_t i = 0; i < chosen->victim_count; i++) {
		evict(bench, chosen->victims[i]);
	}
	if (result->nomination.present) {
		/* Use the name in the node table, because the result's name lives only in the
		 * cycle. */
		const struct bt_node_table *nodes = &bench->engine->state->nodes;
		uint32_t slot = bt_node_table_find(nodes, result->nomination.nominated_node_name);
		info->nominated_node_name = bt_node_table_name(nodes, slot);
	}
	bool placed = try_to_place(bench, info, result);
	bench->result->preempted_count += placed;
	return placed;
}

void bt_bench_schedule(struct bt_bench *bench, const struct bt_pod *pod)
{
	struct bt_engine *engine = bench->engine;
	struct bt_framework *framework = bt_engine_profile(engine, pod->spec.scheduler_name);
	struct bt_str node_name = {NULL, 0};
	if (framework != NULL) {
		struct bt_pod_info info;
		struct bt_schedule_result result = {.framework = framework};
		bt_pod_info_init_pending(engine->state, pod, &info);
		if (try_to_place(bench, &info, &result) ||
			(bench->run->preempt && preempt(bench, &info, &result))) {
			node_name = bt_node_table_name(&engine->state->nodes, result.slot);
		}
		bt_pod_info_finish_pending(engine->state, &info);
	}
	bt_bench_note(bench, pod->metadata.namespace_, pod->metadata.name, node_name);
}

static void schedule_pending(struct bt_bench *bench, uint32_t count)
{
	struct bt_bench_watch watch = bt_bench_watch_start();
	for (uint32_t i = 0; i < count; i++) {
		bt_bench_schedule(bench, bt_object_value(bench->pending.items[i], BT_KIND_POD));
	}
	bt_bench_watch_stop(&watch, bench->result);
}

int bt_bench_place(struct bt_bench *bench, struct berth_error *err)
{
	uint32_t total = bt_bench_pending_count(bench);
	if (bench->run->path != NULL) {
		schedule_pending(bench, total);
		return 0;
	}
	for (uint32_t first = 0; first < total; first += BT_BENCH_BATCH) {
		uint32_t count = total - first < BT_BENCH_BATCH ? total - first : BT_BENCH_BATCH;
		int result = bt_bench_make_pending(bench, first, count, err);
		if (result < 0) {
			return result;
		}
		schedule_pending(bench, count);
		bt_bench_release_pending(bench);
	}
	return 0;
}

/** --- nominated pods --- */

/** Nominates pods for evenly spaced nodes. Each pod needs most of its node. */
static int nominate(struct bt_bench *bench, struct bt_object **objects, struct bt_pod_info *pods,
	uint32_t count, struct berth_error *err)
{
	struct bt_engine *engine = bench->engine;
	struct bt_bench_source source = bench->run->source;
	source.workload = bt_bench_workload_find("preemption");
	for (uint32_t i = 0; i < count; i++) {
		uint32_t number = source.bound_count + source.pending_count + i;
		uint32_t slot = (uint32_t)((uint64_t)i * source.node_count / count);
		bt_bench_write_pod(&source, number, &bench->text);
		int result = bt_bench_decode_text(bench, &objects[i], err);
		if (result < 0) {
			return result;
		}
		bt_pod_info_init_pending(
			engine->state, bt_object_value(objects[i], BT_KIND_POD), &pods[i]);
		bt_nominator_add(&engine->nominator, &pods[i],
			bt_node_table_name(&engine->state->nodes, slot), true);
	}
	return 0;
}

int bt_bench_nominated(struct bt_bench *bench, struct berth_error *err)
{
	struct bt_object *objects[BT_BENCH_NOMINATED_PODS] = {NULL};
	struct bt_pod_info pods[BT_BENCH_NOMINATED_PODS];
	uint32_t count = bench->run->source.node_count;
	count = count < BT_BENCH_NOMINATED_PODS ? count : BT_BENCH_NOMINATED_PODS;
	int result = nominate(bench, objects, pods, count, err);
	if (result == 0) {
		result = bt_bench_place(bench, err);
	}
	for (uint32_t i = 0; i < count && objects[i] != NULL; i++) {
		const struct bt_pod *pod = bt_object_value(objects[i], BT_KIND_POD);
		bt_nominator_delete(&bench->engine->nominator, pod->metadata.uid);
		bt_pod_info_finish_pending(bench->engine->state, &pods[i]);
		bt_object_release(objects[i]);
	}
	return result;
}
