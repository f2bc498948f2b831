/* SPDX-License-Identifier: Apache-2.0 */
/* Lists and watches of the API server without HTTP: list_bench [pods [watches [writes]]]. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "server/watch.h"

static double now(void)
{
	struct timespec time;

	(void)clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int64_t cluster_now(void *context)
{
	(void)context;
	return INT64_C(1795262400000000000);
}

static void wake(void *context)
{
	(void)context;
}

static void put(struct bt_store *store, uint32_t collection, uint32_t number)
{
	char key[48];
	char text[2048];

	(void)snprintf(key, sizeof(key), "default/pod-%06u", number);
	(void)snprintf(text, sizeof(text),
		"{\"metadata\":{\"name\":\"pod-%06u\",\"namespace\":\"default\",\"labels\":{"
		"\"app\":\"a%u\"},\"resourceVersion\":\"%llu\",\"annotations\":{\"fill\":\"%*d\"}},"
		"\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"%*d\"}],\"nodeName\":"
		"\"node-%u\"},\"status\":{\"phase\":\"Running\"}}",
		number, number % 100, (unsigned long long)bt_store_next_rv(store), 600, 1, 700, 1,
		number % 1000);
	(void)bt_store_put(
		store, collection, bt_str_from(key), bt_str_from(text), cluster_now(NULL));
}

static void bench_list(const struct bt_list_request *request, const char *title)
{
	static char buffer[32768];
	struct bt_arena arena = {0};
	struct bt_failure failure = {0};
	struct bt_list *list;
	double start = now();
	double longest = 0;
	uint64_t bytes = 0;

	if (!bt_list_open(request, &arena, &list, &failure)) {
		(void)fprintf(stderr, "%.*s\n", BT_STR_ARG(failure.message));
		exit(1);
	}
	for (;;) {
		double begin = now();
		int64_t count = bt_list_read(list, buffer, sizeof(buffer));

		longest = now() - begin > longest ? now() - begin : longest;
		if (count == BT_HTTP_STREAM_WAIT) {
			(void)bt_watchers_run(request->watchers, 0);
			continue;
		}
		if (count < 0) {
			break;
		}
		bytes += (uint64_t)count;
	}
	bt_list_finish(list);
	bt_arena_finish(&arena);
	(void)printf("%s: %.3f s, %.0f MB, longest step %.2f ms\n", title, now() - start,
		(double)bytes / 1e6, longest * 1e3);
}

static void bench_watches(const struct bt_list_request *request, struct bt_store *store,
	uint32_t count, uint32_t writes)
{
	static char buffer[32768];
	struct bt_watch **watches = calloc(count, sizeof(struct bt_watch *));
	struct bt_arena arena = {0};
	struct bt_failure failure = {0};
	struct bt_list_request own = *request;
	uint64_t bytes = 0;
	double start;
	char rv[24];

	(void)snprintf(rv, sizeof(rv), "%llu", (unsigned long long)bt_store_rv(store));
	own.parameters.resource_version = bt_str_from(rv);
	for (uint32_t i = 0; i < count; i++) {
		if (!bt_watch_open(&own, 0, &arena, &watches[i], &failure)) {
			exit(1);
		}
	}
	start = now();
	for (uint32_t i = 0; i < writes; i++) {
		put(store, request->resource->collection, i);
		if (i % 16 != 15 && i + 1 != writes) {
			continue;
		}
		(void)bt_watchers_run(request->watchers, 0);
		for (uint32_t k = 0; k < count; k++) {
			int64_t got;

			while ((got = bt_watch_read(watches[k], buffer, sizeof(buffer))) > 0) {
				bytes += (uint64_t)got;
			}
		}
	}
	(void)printf("%u watches, %u writes, %s: %.3f s, %.0f events a second, %.0f MB\n", count,
		writes, request->encoding.media == BT_MEDIA_JSON ? "JSON" : "protobuf",
		now() - start, (double)writes * count / (now() - start), (double)bytes / 1e6);
	for (uint32_t i = 0; i < count; i++) {
		bt_watch_finish(watches[i]);
	}
	free(watches);
	bt_arena_finish(&arena);
}

int main(int argc, char **argv)
{
	uint32_t pods = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 200000;
	uint32_t watches = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 100;
	uint32_t writes = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 10000;
	struct bt_store *store = bt_store_create(&bt_store_default_options);
	struct bt_api_options options = {.store = store, .now_ns = cluster_now, .seed = 1};
	struct bt_api *api = bt_api_create(&options);
	struct bt_list_request request = {
		.api = api,
		.watchers = bt_watchers_create(api, 1),
		.resource = bt_resources_builtin(bt_api_resources(api), "", "pods"),
		.wake = wake,
	};

	for (uint32_t i = 0; i < pods; i++) {
		put(store, request.resource->collection, i);
	}
	(void)bt_watchers_run(request.watchers, 0);
	bench_list(&request, "list, JSON");
	request.parameters.label_selector = BT_STR("app=a7");
	bench_list(&request, "list, JSON, one label of a hundred");
	request.parameters.label_selector = BT_STR("");
	request.parameters.field_selector = BT_STR("spec.nodeName=node-7,status.phase!=Failed");
	bench_list(&request, "list, JSON, one node of a thousand");
	request.parameters.field_selector = BT_STR("");
	request.encoding.view = BT_VIEW_TABLE;
	bench_list(&request, "list, table");
	request.encoding.view = BT_VIEW_OBJECT;
	request.encoding.media = BT_MEDIA_PROTOBUF;
	bench_list(&request, "list, protobuf");
	bench_watches(&request, store, watches, writes);
	request.encoding.media = BT_MEDIA_JSON;
	bench_watches(&request, store, watches, writes);
	bt_watchers_destroy(request.watchers);
	bt_api_destroy(api);
	bt_store_destroy(store);
	return 0;
}
