/* SPDX-License-Identifier: Apache-2.0 */
/** Makes recordings from manifests: a cluster, and pods that arrive one after the other. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/identity.h"
#include "base/alloc.h"
#include "base/duration.h"
#include "base/nanoseconds.h"
#include "base/prng.h"
#include "cluster/controllers.h"
#include "cluster/pod_admission.h"
#include "cluster/workload.h"
#include "replay/import.h"

/** Annotation of a pod: its time of arrival as a duration since the start, such as "90s". */
#define ANNOTATION_ARRIVES_AFTER "berth.dev/arrives-after"
#define SECONDS_PER_MINUTE 60
#define SECONDS_PER_HOUR 3600
#define MICROSECONDS_PER_SECOND 1e6

struct arrival {
	int64_t time_ns;
	int64_t runs_ns;   /* running time; -1: the pod does not end */
	uint32_t sequence; /* input order */
	const struct bt_pod *pod;
};

struct manifests_import {
	struct bt_import *import;
	double per_second; /* rate of a Poisson process; 0: pods arrive at the start */
	struct bt_manifests cluster;
	struct bt_expansion expansion;
	struct bt_prng prng;
	int64_t last_ns; /* last arrival of the Poisson process */
	BT_VEC(struct arrival) pods;
	struct bt_arena arena;
	struct bt_strbuf text;
};

int bt_arrivals_parse(const char *text, double *out_per_second, struct berth_error *err)
{
	static const struct {
		const char *suffix;
		double seconds;
	} units[] = {{"/s", 1}, {"/m", SECONDS_PER_MINUTE}, {"/h", SECONDS_PER_HOUR}};
	const struct bt_str prefix = BT_STR("poisson:");
	struct bt_str rest = bt_str_from(text);
	*out_per_second = 0;
	if (text == NULL) {
		return 0;
	}
	if (bt_str_has_prefix(rest, prefix)) {
		char *end;
		const char *number = text + prefix.length;
		double rate = bt_is_digit(number[0]) ? strtod(number, &end) : 0;
		for (size_t i = 0; i < BT_ARRAY_LENGTH(units) && rate > 0 && rate <= 1e6; i++) {
			if (strcmp(end, units[i].suffix) == 0) {
				*out_per_second = rate / units[i].seconds;
				return 0;
			}
		}
	}
	return bt_error_set(err, BERTH_ERR_INVALID,
		"--arrivals: must be poisson:N/s, poisson:N/m or poisson:N/h with N above 0 and up "
		"to "
		"1000000, not %s",
		text);
}

/** --- arrival times --- */

/** *out_ns: -1 if the pod does not have the annotation. */
static int read_annotation(
	const struct bt_pod *pod, const char *annotation, int64_t *out_ns, struct berth_error *err)
{
	const struct bt_str *text =
		bt_str_map_find(&pod->metadata.annotations, bt_str_from(annotation));
	*out_ns = -1;
	int result = text != NULL ? bt_duration_parse(*text, out_ns, err) : 0;
	if (result == 0 && text != NULL &&
		(*out_ns < 0 || *out_ns > BT_RECORDING_SECONDS_MAX * BT_NS_PER_SECOND)) {
		result = bt_error_set(err, BERTH_ERR_INVALID, "must be from 0s to %" PRId64 "s",
			BT_RECORDING_SECONDS_MAX);
	}
	return result < 0 ? bt_error_wrap(err, result, "annotation %s", annotation) : 0;
}

static int choose_time(struct manifests_import *manifests, const struct bt_pod *pod,
	int64_t *out_ns, struct berth_error *err)
{
	int result = read_annotation(pod, ANNOTATION_ARRIVES_AFTER, out_ns, err);
	if (result < 0 || *out_ns >= 0) {
		return result;
	}
	if (manifests->per_second > 0) {
		/* In (0, 1], with the 53 bits of a double's precision. */
		double uniform = ((double)(bt_prng_next(&manifests->prng) >> 11) + 1) * 0x1p-53;
		double seconds = -log(uniform) / manifests->per_second;
		double left = (double)BT_RECORDING_SECONDS_MAX -
			(double)manifests->last_ns / BT_NS_PER_SECOND;
		if (seconds >= left) {
			return bt_error_set(err, BERTH_ERR_INVALID,
				"--arrivals: the last pods would come after more than %lld seconds",
				(long long)BT_RECORDING_SECONDS_MAX);
		}
		manifests->last_ns += (int64_t)(seconds * MICROSECONDS_PER_SECOND) * BT_NS_PER_US;
	}
	*out_ns = manifests->last_ns;
	return 0;
}

BT_COMPARE(compare_arrivals, struct arrival,
	BT_ORDER_BY(BT_ORDER(a->time_ns, b->time_ns), BT_ORDER(a->sequence, b->sequence)))

/** --- objects and pods --- */

/** Returns the JSON of an object, borrowed until the next call. */
static struct bt_str encode(
	struct manifests_import *manifests, enum bt_kind kind, const void *value)
{
	struct bt_json_writer json;
	bt_strbuf_reset(&manifests->text);
	bt_json_writer_init(&json, &manifests->text, 0);
	bt_object_encode_json(kind, value, &json);
	return bt_strbuf_str(&manifests->text);
}

/**
 * Adds a pod that has a node to the cluster at the start, and any other pod to the arrivals. Skips
 * terminated pods. pod: the pod after admission.
 */
static int take_pod(
	struct manifests_import *manifests, const struct bt_pod *pod, struct berth_error *err)
{
	if (bt_pod_is_terminal(pod)) {
		return 0;
	}
	if (bt_pod_is_assigned(pod)) {
		bt_import_add_object(manifests->import, encode(manifests, BT_KIND_POD, pod));
		return 0;
	}
	struct bt_pod *copy = BT_ARENA_NEW(&manifests->arena, struct bt_pod);
	*copy = *pod;
	struct arrival arrival = {.sequence = manifests->pods.count, .pod = copy};
	int result = choose_time(manifests, copy, &arrival.time_ns, err);
	if (result == 0) {
		result = read_annotation(copy, BT_ANNOTATION_RUN_TIME, &arrival.runs_ns, err);
	}
	bt_vec_push(&manifests->pods, arrival);
	return result;
}

static int take_objects(struct manifests_import *manifests, struct berth_error *err)
{
	const struct bt_manifests *cluster = &manifests->cluster;
	const struct bt_expansion *expansion = &manifests->expansion;
	uint32_t expanded = 0;
	int result = 0;
	for (uint32_t i = 0; i < cluster->objects.count && result == 0; i++) {
		const struct bt_manifests_object *object = &cluster->objects.items[i];
		struct bt_pod pod;
		if (object->kind != BT_KIND_POD) {
			struct bt_arena arena = {0};
			struct bt_object_meta *meta = bt_object_copy_value(object->object, &arena);
			meta->name = object->name;
			meta->namespace_ = object->namespace_;
			meta->uid = object->uid;
			bt_import_add_object(
				manifests->import, encode(manifests, object->kind, meta));
			bt_arena_finish(&arena);
		} else if (bt_expansion_input_pod(expansion, i, &pod)) {
			result = take_pod(manifests, &pod, err);
		}
		while (result == 0 && expanded < expansion->pods.count &&
			expansion->pods.items[expanded].owner == i) {
			result = take_pod(manifests, expansion->pods.items[expanded++].pod, err);
		}
		if (result < 0) {
			return bt_manifests_wrap(cluster, i, result, err);
		}
	}
	for (uint32_t i = 0; i < expansion->made.count; i++) {
		const struct bt_object *made = expansion->made.items[i];
		bt_import_add_object(manifests->import, encode(manifests, made->kind, made->value));
	}
	return 0;
}

int bt_import_manifests(
	struct bt_import *import, const struct bt_import_request *request, struct berth_error *err)
{
	struct manifests_import manifests = {.import = import};
	int result = bt_arrivals_parse(request->arrivals, &manifests.per_second, err);
	bt_manifests_init(&manifests.cluster);
	manifests.cluster.warn = request->warn;
	manifests.cluster.warn_context = request->warn_context;
	manifests.expansion.cluster = &manifests.cluster;
	bt_prng_init(&manifests.prng, (uint64_t)request->seed);
	for (uint32_t i = 0; i < request->path_count && result == 0; i++) {
		result = bt_manifests_read(&manifests.cluster, request->paths[i], err);
	}
	if (result == 0) {
		result = bt_expansion_run(&manifests.expansion, err);
	}
	if (result == 0) {
		result = take_objects(&manifests, err);
	}
	if (result == 0) {
		result = bt_import_begin(import, err);
	}
	if (manifests.pods.count > 1) {
		qsort(manifests.pods.items, manifests.pods.count, sizeof(manifests.pods.items[0]),
			compare_arrivals);
	}
	for (uint32_t i = 0; i < manifests.pods.count && result == 0; i++) {
		const struct arrival *arrival = &manifests.pods.items[i];
		struct bt_pod pod = *arrival->pod;
		int64_t created_ns = import->start_ns + arrival->time_ns;
		pod.metadata.creation_timestamp =
			(struct bt_time){.seconds = created_ns / BT_NS_PER_SECOND, .set = true};
		const struct bt_import_pod line = {
			.time_ns = arrival->time_ns,
			.namespace_ = pod.metadata.namespace_,
			.name = pod.metadata.name,
			.json = encode(&manifests, BT_KIND_POD, &pod),
			.runs_ns = arrival->runs_ns,
			.leaves_ns = -1,
			.ends_ns = arrival->runs_ns >= 0 ? arrival->time_ns + arrival->runs_ns : -1,
		};
		result = bt_import_add_pod(import, &line, err);
	}
	bt_vec_finish(&manifests.pods);
	bt_strbuf_finish(&manifests.text);
	bt_arena_finish(&manifests.arena);
	bt_expansion_finish(&manifests.expansion);
	bt_manifests_finish(&manifests.cluster);
	return result;
}
