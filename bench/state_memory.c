/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of a node and of a bound pod, and the time to assume a pod. Nodes have eight labels and 50
 * images with two names each, the maximum that a kubelet reports. Pods have uids of 36 bytes and
 * names of 45 bytes, and share 20 shapes.
 *
 * Usage: state_memory [NODES [PODS]]. Prints one JSON line; "rss" is the growth of the resident
 * set, the other bytes are those that malloc counts.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "codec/json.h"
#include "state/pod_info.h"
#include "state/state.h"

enum { SHAPES = 20, TIMED_PODS = 20000 };

static void *decode(
	const struct bt_message *message, struct bt_arena *arena, const struct bt_strbuf *json)
{
	struct bt_json_reader reader;
	struct berth_error err = BERTH_ERROR_INIT;
	void *object = bt_arena_calloc(arena, 1, message->size);

	bt_json_reader_init(&reader, bt_strbuf_str(json));
	if (bt_message_decode_json(message, &reader, arena, object, &err) != 0) {
		bt_panic("%s", berth_error_message(&err));
	}
	return object;
}

static void write_node(struct bt_strbuf *json, unsigned int number)
{
	bt_strbuf_reset(json);
	bt_strbuf_printf(json,
		"{\"metadata\":{\"name\":\"node-%05u.example.internal\",\"uid\":\"%08x-0000-4000-"
		"8000-0000000000aa\",\"labels\":{"
		"\"kubernetes.io/hostname\":\"node-%05u.example.internal\",\"kubernetes.io/"
		"os\":\"linux\","
		"\"kubernetes.io/arch\":\"amd64\",\"node.kubernetes.io/instance-type\":\"m%u\","
		"\"topology.kubernetes.io/region\":\"r1\",\"topology.kubernetes.io/zone\":\"z%u\","
		"\"beta.kubernetes.io/os\":\"linux\",\"pool\":\"p%u\"}},",
		number, number, number, number % 6, number % 3, number % 10);
	bt_strbuf_append_c(json,
		"\"status\":{\"allocatable\":{\"cpu\":\"32\",\"memory\":\"128Gi\",\"pods\":\"110\","
		"\"ephemeral-storage\":\"1Ti\"},\"conditions\":[{\"type\":\"Ready\",\"status\":"
		"\"True\"}],\"images\":[");
	for (unsigned int i = 0; i < 50; i++) {
		unsigned int image = (number * 7 + i) % 400;
		bt_strbuf_printf(json,
			"%s{\"names\":[\"registry.example.com/team/"
			"app-%u@sha256:%064x\",\"registry.example.com/team/app-%u:v1\"],"
			"\"sizeBytes\":%u}",
			i == 0 ? "" : ",", image, image, image, 1000000 + image);
	}
	bt_strbuf_append_c(json, "]}}");
}

static void write_pod(struct bt_strbuf *json, unsigned int number, unsigned int node)
{
	unsigned int owner = number % SHAPES;

	bt_strbuf_reset(json);
	bt_strbuf_printf(json,
		"{\"metadata\":{\"name\":\"deployment-number-%04u-of-team-%04u-%08x-ab\","
		"\"namespace\":\"team-%u\","
		"\"uid\":\"%08x-1111-4222-8333-444455556666\",\"labels\":{\"app\":\"a%u\",\"pod-"
		"template-hash\":\"%08x\"}},"
		"\"spec\":{\"nodeName\":\"node-%05u.example.internal\",\"containers\":[{\"name\":"
		"\"main\",\"image\":"
		"\"registry.example.com/team/"
		"app-%u:v1\",\"resources\":{\"requests\":{\"cpu\":\"%um\",\"memory\":\"%uMi\"}}}],"
		"\"volumes\":[{\"name\":\"kube-api-access-%05x\",\"projected\":{}}]}}",
		owner, owner, number, owner, number, owner, owner, node, owner, 100 + owner,
		100 + owner, number);
}

static size_t resident_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	unsigned long total = 0;
	unsigned long resident = 0;

	if (file == NULL) {
		return 0;
	}
	if (fscanf(file, "%lu %lu", &total, &resident) != 2) {
		resident = 0;
	}
	(void)fclose(file);
	return resident * 4096;
}

static double now_ns(void)
{
	struct timespec now;

	(void)timespec_get(&now, TIME_UTC);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void add_nodes(
	struct bt_state *state, struct bt_arena *arena, struct bt_strbuf *json, unsigned int nodes)
{
	for (unsigned int i = 0; i < nodes; i++) {
		write_node(json, i);
		bt_state_add_node(state, decode(&bt_node_message, arena, json));
		bt_arena_reset(arena);
	}
}

static void add_pods(struct bt_state *state, struct bt_arena *arena, struct bt_strbuf *json,
	unsigned int pods, unsigned int nodes)
{
	for (unsigned int i = 0; i < pods; i++) {
		write_pod(json, i, i % nodes);
		if (bt_state_add_pod(state, decode(&bt_pod_message, arena, json), NULL) != 0) {
			bt_panic("pod %u was refused", i);
		}
		bt_arena_reset(arena);
	}
}

/*
 * Mean time of assuming a pod that was just decoded. References to its shape and its label set are
 * held before the time starts, as in a scheduling cycle.
 */
static double time_assume(struct bt_state *state, struct bt_arena *arena, struct bt_strbuf *json,
	unsigned int first, unsigned int nodes)
{
	double total = 0;

	for (unsigned int i = 0; i < TIMED_PODS; i++) {
		const struct bt_pod *pod;
		struct bt_pod_info info;
		uint32_t slot;
		double start;
		double end;
		write_pod(json, first + i, (i * 7919) % nodes);
		pod = decode(&bt_pod_message, arena, json);
		bt_pod_info_init_pending(state, pod, &info);
		slot = bt_node_table_find(&state->nodes, pod->spec.node_name);
		start = now_ns();
		if (bt_state_assume_shaped(
			    state, pod, info.shape->id, info.label_set, slot, NULL) != 0) {
			bt_panic("pod %u was refused", i);
		}
		end = now_ns();
		/* Subtract the time of reading the clock. */
		total += end - start - (now_ns() - end);
		bt_pod_info_finish_pending(state, &info);
		bt_arena_reset(arena);
	}
	return total / TIMED_PODS;
}

static size_t heap_bytes(void)
{
	struct mallinfo2 heap = mallinfo2();

	return heap.uordblks + heap.hblkhd;
}

int main(int argc, char **argv)
{
	unsigned int nodes = argc > 1 ? (unsigned int)strtoul(argv[1], NULL, 10) : 5000;
	unsigned int pods = argc > 2 ? (unsigned int)strtoul(argv[2], NULL, 10) : 150000;
	struct bt_state_options options = {
		.resource_gates = {.pod_level_resources = true,
			.in_place_pod_level_resources = true},
		.declared_features = true,
	};
	struct bt_state *state = bt_state_create(&options);
	struct bt_arena arena = {0};
	struct bt_strbuf json = {0};
	size_t bytes[3];
	size_t resident[3];
	double assume_ns;

	if (nodes == 0 || pods == 0) {
		(void)fprintf(stderr, "usage: state_memory [NODES [PODS]]\n");
		return 2;
	}
	/* Decode one object first, so that the arena's memory is not counted. */
	write_node(&json, 0);
	(void)decode(&bt_node_message, &arena, &json);
	bt_arena_reset(&arena);
	bytes[0] = heap_bytes();
	resident[0] = resident_bytes();
	add_nodes(state, &arena, &json, nodes);
	if (bt_state_refresh_snapshot(state, NULL) != 0) {
		bt_panic("the snapshot is not consistent");
	}
	bytes[1] = heap_bytes();
	resident[1] = resident_bytes();
	add_pods(state, &arena, &json, pods, nodes);
	bytes[2] = heap_bytes();
	resident[2] = resident_bytes();
	assume_ns = time_assume(state, &arena, &json, pods, nodes);
	(void)printf("{\"nodes\":%u,\"pods\":%u,\"node_bytes\":%.0f,\"pod_bytes\":%.0f,\"node_rss_"
		     "bytes\":%.0f,"
		     "\"pod_rss_bytes\":%.0f,\"assume_ns\":%.0f}\n",
		nodes, pods, (double)(bytes[1] - bytes[0]) / nodes,
		(double)(bytes[2] - bytes[1]) / pods,
		((double)resident[1] - (double)resident[0]) / nodes,
		((double)resident[2] - (double)resident[1]) / pods, assume_ns);
	bt_strbuf_finish(&json);
	bt_arena_finish(&arena);
	bt_state_destroy(state);
	return 0;
}
