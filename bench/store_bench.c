/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes per second of the API server's store, in memory and into a file, and memory per object.
 * Without a file, only memory is measured. Usage: store_bench [objects [file]]
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "server/store.h"

#define TEXT_BYTES 1700

static double now(void)
{
	struct timespec time;

	(void)clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static size_t used_bytes(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

static void put(struct bt_store *store, uint32_t collection, uint32_t number)
{
	static char text[TEXT_BYTES + 1];
	char key[48];

	if (text[0] == '\0') {
		memset(text, 'x', TEXT_BYTES);
		text[0] = '{';
	}
	(void)snprintf(key, sizeof(key), "default/pod-%08x", number * 2654435761U);
	(void)bt_store_put(store, collection, bt_str_from(key), (struct bt_str){text, TEXT_BYTES},
		(int64_t)(now() * 1e9));
}

static void bench_memory(uint32_t count)
{
	size_t before = used_bytes();
	struct bt_store *store = bt_store_create(&bt_store_default_options);
	uint32_t pods = bt_store_collection(store, BT_STR("pods"));
	struct bt_store_walk walk;
	uint32_t seen = 0;
	double start = now();
	double took;

	for (uint32_t i = 0; i < count; i++) {
		put(store, pods, i);
	}
	took = now() - start;
	(void)printf("add: %.0f a second; %.3f bytes of memory for one of text\n", count / took,
		(double)(used_bytes() - before) / count / TEXT_BYTES);
	start = now();
	for (uint32_t i = 0; i < count; i++) {
		put(store, pods, i);
	}
	took = now() - start;
	(void)printf("replace: %.0f a second; %.3f bytes of memory, window included\n",
		count / took, (double)(used_bytes() - before) / count / TEXT_BYTES);
	start = now();
	walk = bt_store_walk_current(store, pods, BT_STR(""));
	while (bt_store_walk_next(&walk, NULL) != NULL) {
		seen++;
	}
	bt_store_walk_end(&walk);
	(void)printf("walk: %.0f a second\n", seen / (now() - start));
	bt_store_destroy(store);
}

static int bench_file(const char *path, uint32_t count, uint32_t group)
{
	struct bt_store *store = bt_store_create(&bt_store_default_options);
	struct berth_error err = BERTH_ERROR_INIT;
	uint32_t pods = bt_store_collection(store, BT_STR("pods"));
	double start;
	double took;
	int result;

	(void)remove(path);
	result = bt_store_open(store, path, &err);
	start = now();
	for (uint32_t i = 0; i < count && result == 0; i++) {
		put(store, pods, i);
		if (i % group == group - 1) {
			result = bt_store_sync(store, &err);
		}
	}
	took = now() - start;
	bt_store_destroy(store);
	store = bt_store_create(&bt_store_default_options);
	start = now();
	if (result == 0) {
		result = bt_store_open(store, path, &err);
	}
	if (result == 0) {
		(void)printf(
			"file, %u in a transaction: %.0f a second; read again: %.0f a second\n",
			group, count / took, count / (now() - start));
	} else {
		(void)fprintf(stderr, "store_bench: %s\n", berth_error_message(&err));
	}
	berth_error_finish(&err);
	bt_store_destroy(store);
	(void)remove(path);
	return result;
}

int main(int argc, char **argv)
{
	uint32_t count = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 200000;

	bench_memory(count);
	if (argc > 2 &&
		(bench_file(argv[2], count / 50, 1) != 0 ||
			bench_file(argv[2], count / 2, 64) != 0)) {
		return 1;
	}
	return 0;
}
