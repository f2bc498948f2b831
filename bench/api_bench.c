/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes per second through the API, without HTTP: creates of pods from JSON text, status patches
 * as a scheduler sends them, bindings. One thread, a store in memory.
 *
 * Usage: api_bench [PODS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "server/api.h"

static const char pod_text[] =
	"{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"generateName\":\"web-6f9c7d-\","
	"\"labels\":{\"app\":\"web\",\"pod-template-hash\":\"6f9c7d\"},\"ownerReferences\":[{"
	"\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\",\"name\":\"web-6f9c7d\",\"uid\":"
	"\"b5b4b0a2-6f5a-4c0e-9f0b-1f3f5d8b1c11\",\"controller\":true,\"blockOwnerDeletion\":true"
	"}]},\"spec\":{\"containers\":[{\"name\":\"web\",\"image\":\"registry.example.com/"
	"web:1.2\","
	"\"ports\":[{\"containerPort\":8080}],\"resources\":{\"requests\":{\"cpu\":\"100m\","
	"\"memory\":\"128Mi\"},\"limits\":{\"memory\":\"256Mi\"}}}]}}";

static const char patch_text[] =
	"{\"status\":{\"conditions\":[{\"lastProbeTime\":null,\"lastTransitionTime\":"
	"\"2026-11-21T00:27:40Z\",\"message\":\"0/1 nodes are available: 1 Insufficient cpu.\","
	"\"observedGeneration\":1,\"reason\":\"Unschedulable\",\"status\":\"False\",\"type\":"
	"\"PodScheduled\"}]}}";

static int64_t monotonic_ns(void)
{
	struct timespec at;
	(void)clock_gettime(CLOCK_MONOTONIC, &at);
	return (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
}

static int64_t fixed_clock(void *context)
{
	(void)context;
	return INT64_C(1795262400000000000);
}

struct bench {
	struct bt_api *api;
	const struct bt_api_resource *pods;
	struct bt_arena arena;
	struct bt_arena names_arena;
	struct bt_str *names;
	uint32_t count;
};

static void perform(struct bench *bench, struct bt_api_request *request, struct bt_str text,
	uint16_t expected, struct bt_str *out_name)
{
	struct bt_api_answer answer;
	request->resource = bench->pods;
	request->namespace_ = BT_STR("default");
	if (bt_json_parse(&bench->arena, text, false, &request->body, NULL) != 0) {
		abort();
	}
	bt_api_perform(bench->api, request, &bench->arena, &answer);
	if (answer.code != expected) {
		(void)fprintf(stderr, "%u %.*s\n", (unsigned)answer.code,
			BT_STR_ARG(answer.failure.message));
		exit(1);
	}
	if (out_name != NULL) {
		struct bt_str key = bt_stored_key(answer.object);
		*out_name = bt_arena_str(&bench->names_arena, bt_str_sub(key, 8, key.length));
	}
	bt_api_answer_finish(&answer);
	bt_arena_reset(&bench->arena);
}

static void create(struct bench *bench, uint32_t index)
{
	struct bt_api_request request = BT_API_REQUEST_INIT;
	request.verb = BT_VERB_CREATE;
	perform(bench, &request, bt_str_from(pod_text), 201, &bench->names[index]);
}

static void patch(struct bench *bench, uint32_t index)
{
	struct bt_api_request request = BT_API_REQUEST_INIT;
	request.verb = BT_VERB_PATCH;
	request.subresource = BT_SUBRESOURCE_STATUS;
	request.patch_type = BT_PATCH_STRATEGIC;
	request.name = bench->names[index];
	perform(bench, &request, bt_str_from(patch_text), 200, NULL);
}

static void bind(struct bench *bench, uint32_t index)
{
	struct bt_api_request request = BT_API_REQUEST_INIT;
	request.verb = BT_VERB_CREATE;
	request.subresource = BT_SUBRESOURCE_BINDING;
	request.name = bench->names[index];
	struct bt_str text = bt_arena_printf(&bench->arena,
		"{\"kind\":\"Binding\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"%.*s\"},"
		"\"target\":{\"kind\":\"Node\",\"name\":\"node-1\"}}",
		BT_STR_ARG(bench->names[index]));
	perform(bench, &request, text, 201, NULL);
}

static void measure(
	struct bench *bench, const char *name, void (*step)(struct bench *bench, uint32_t index))
{
	int64_t start = monotonic_ns();
	for (uint32_t i = 0; i < bench->count; i++) {
		step(bench, i);
	}
	int64_t took = monotonic_ns() - start;
	(void)printf("%-14s %8u in %.3f s: %9.0f/s, %.1f us each\n", name, bench->count,
		(double)took / 1e9, bench->count / ((double)took / 1e9),
		(double)took / 1e3 / bench->count);
}

int main(int argument_count, char **arguments)
{
	struct bench bench = {0};
	struct bt_store *store = bt_store_create(&bt_store_default_options);
	struct bt_api_options options = {.store = store, .now_ns = fixed_clock, .seed = 1};
	bench.count = argument_count > 1 ? (uint32_t)strtoul(arguments[1], NULL, 10) : 50000;
	bench.api = bt_api_create(&options);
	bench.pods = bt_resources_builtin(bt_api_resources(bench.api), "", "pods");
	bench.names = calloc(bench.count + 1, sizeof(*bench.names));
	if (bench.names == NULL) {
		return 1;
	}
	measure(&bench, "creates", create);
	measure(&bench, "status patches", patch);
	measure(&bench, "bindings", bind);
	free(bench.names);
	bt_arena_finish(&bench.arena);
	bt_arena_finish(&bench.names_arena);
	bt_api_destroy(bench.api);
	bt_store_destroy(store);
	return 0;
}
