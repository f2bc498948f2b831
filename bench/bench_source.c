/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/bench_source.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "bench/bench_pods.h"

#define PODS_OF_A_NODE "110"
/** The least number of pods of a service; fewer only if the workload has fewer pods. */
#define REPLICAS 10
#define LARGE_LABELS 40
#define LARGE_ANNOTATIONS 40
#define LARGE_IMAGES 50
#define LARGE_TAINTS 10

#define ROW(id, text) .name = id, .summary = text

static const struct bt_bench_workload workloads[] = {
	{ROW("basic", "pods of one shape"), bt_bench_pod_basic, bt_bench_pod_basic, .zones = 3},
	{ROW("nodeaffinity", "required node affinity for two of three zones"), bt_bench_pod_basic,
		bt_bench_pod_nodeaffinity, .zones = 3},
	{ROW("taints", "every third node has a taint that repels softly"), bt_bench_pod_basic,
		bt_bench_pod_basic, .zones = 3, .has_taints = true},
	{ROW("hetero", "four sizes of nodes, 2,000 apps with random requests and wishes"),
		bt_bench_pod_hetero, bt_bench_pod_hetero, .zones = 3, .has_mixed_sizes = true},
	{ROW("spread", "hard spreading over ten zones"), bt_bench_pod_basic, bt_bench_pod_spread,
		.zones = 10},
	{ROW("prefspread", "soft spreading over ten zones"), bt_bench_pod_basic,
		bt_bench_pod_prefspread, .zones = 10},
	{ROW("affinity", "required pod affinity by zone"), bt_bench_pod_basic,
		bt_bench_pod_affinity, .zones = 3},
	{ROW("antiaffinity", "required pod anti-affinity by host: one pod a node"),
		bt_bench_pod_basic, bt_bench_pod_antiaffinity, .zones = 3},
	{ROW("prefaffinity", "preferred pod affinity by host"), bt_bench_pod_basic,
		bt_bench_pod_prefaffinity, .zones = 3},
	{ROW("prefantiaffinity", "preferred pod anti-affinity by host"), bt_bench_pod_basic,
		bt_bench_pod_prefantiaffinity, .zones = 3},
	{ROW("mixed", "a random mix of these, four sizes of nodes"), bt_bench_pod_mixed,
		bt_bench_pod_mixed, .zones = 3, .has_mixed_sizes = true},
	{ROW("preemption", "bound pods of 900m that must leave for pods of 3 CPU"),
		bt_bench_pod_evictable, bt_bench_pod_preemptor, .zones = 3, .preempts = true},
	{ROW("nominated", "as basic, while up to 300 nodes are reserved for nominated pods"),
		bt_bench_pod_basic, bt_bench_pod_basic, BT_BENCH_NOMINATED, .zones = 3},
	{ROW("churn", "pods finish, nodes come, change and go between pods (--changes)"),
		bt_bench_pod_churn, bt_bench_pod_churn, BT_BENCH_CHURN, .zones = 10},
	{ROW("backlog", "pods of 100 shapes wait in the queue, nodes come that fit one shape each"),
		bt_bench_pod_basic, bt_bench_pod_backlog, BT_BENCH_BACKLOG, .zones = 3},
	{ROW("gated", "pods wait in the queue until their scheduling gate is opened"),
		bt_bench_pod_basic, bt_bench_pod_gated, BT_BENCH_GATED, .zones = 3},
	{ROW("services", "up to 500 services and ReplicaSets, spread by default constraints"),
		bt_bench_pod_service, bt_bench_pod_service, .zones = 3, .has_services = true},
	{ROW("daemonsets", "each pod is for one node, by its name"), bt_bench_pod_basic,
		bt_bench_pod_daemon, .zones = 3},
	{ROW("large", "pods and nodes with long lists of everything"), bt_bench_pod_basic,
		bt_bench_pod_large, .zones = 3, .has_large_nodes = true},
	{ROW("devices", "eight devices a node, each pod has a claim for one of them"),
		bt_bench_pod_device, bt_bench_pod_device, .zones = 3, .has_devices = true},
	{ROW("gangs", "gangs of 64, all of a gang or none"), bt_bench_pod_basic,
		bt_bench_pod_member, BT_BENCH_GANGS, .zones = 3, .gang_size = 64},
	{ROW("racks", "gangs of 512, each within one rack of 50 nodes"), bt_bench_pod_basic,
		bt_bench_pod_member, BT_BENCH_GANGS, .zones = 3, .has_racks = true,
		.gang_size = 512},
	{ROW("worst", "each pod a shape of its own, label changes on every node between pods"),
		bt_bench_pod_basic, bt_bench_pod_worst, BT_BENCH_WORST, .zones = 3},
};

const struct bt_bench_workload *bt_bench_workload_at(uint32_t index)
{
	return index < BT_ARRAY_LENGTH(workloads) ? &workloads[index] : NULL;
}

const struct bt_bench_workload *bt_bench_workload_find(const char *name)
{
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(workloads); i++) {
		if (strcmp(workloads[i].name, name) == 0) {
			return &workloads[i];
		}
	}
	return NULL;
}

static void write_large_labels(uint32_t index, struct bt_strbuf *out)
{
	for (uint32_t i = 0; i < LARGE_LABELS; i++) {
		bt_strbuf_printf(
			out, ",\"team.example.com/label-%u\":\"value-%u\"", i, (index + i) % 50);
	}
}

static void write_large_annotations(uint32_t index, struct bt_strbuf *out)
{
	bt_strbuf_append_c(out, ",\"annotations\":{");
	for (uint32_t i = 0; i < LARGE_ANNOTATIONS; i++) {
		bt_strbuf_printf(out, "%s\"team.example.com/note-%u\":\"note %u of node %u\"",
			i != 0 ? "," : "", i, i, index);
	}
	bt_strbuf_append_char(out, '}');
}

static void write_large_taints(struct bt_strbuf *out)
{
	bt_strbuf_append_c(out, "\"taints\":[");
	for (uint32_t i = 0; i < LARGE_TAINTS; i++) {
		bt_strbuf_printf(out,
			"%s{\"key\":\"example.com/taint-%u\",\"value\":\"v\",\"effect\":"
			"\"PreferNoSchedule\"}",
			i != 0 ? "," : "", i);
	}
	bt_strbuf_append_char(out, ']');
}

static void write_large_images(uint32_t index, struct bt_strbuf *out)
{
	bt_strbuf_append_c(out, ",\"images\":[");
	for (uint32_t i = 0; i < LARGE_IMAGES; i++) {
		uint32_t image = (index * 7 + i) % 400;
		bt_strbuf_printf(out,
			"%s{\"names\":[\"registry.example.com/team/app-%u@sha256:%064x\","
			"\"registry.example.com/team/app-%u:v1\"],\"sizeBytes\":%u}",
			i != 0 ? "," : "", image, image, image, 30000000 + image * 1000000);
	}
	bt_strbuf_append_char(out, ']');
}

static void write_node_metadata(
	const struct bt_bench_source *source, uint32_t index, uint32_t turn, struct bt_strbuf *out)
{
	static const char *const instance_types[] = {
		"m5.large", "m5.xlarge", "c5.2xlarge", "r5.4xlarge"};
	const struct bt_bench_workload *workload = source->workload;
	bt_strbuf_printf(out,
		"{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"node-%05u\","
		"\"uid\":\"n-%u\",\"labels\":{\"kubernetes.io/hostname\":\"node-%05u\","
		"\"topology.kubernetes.io/zone\":\"zone-%u\",\"kubernetes.io/os\":\"linux\","
		"\"node.kubernetes.io/instance-type\":\"%s\"",
		index, index, index, index % workload->zones,
		instance_types[index % BT_ARRAY_LENGTH(instance_types)]);
	if (workload->mode == BT_BENCH_WORST) {
		bt_strbuf_printf(
			out, ",\"example.com/turn\":\"turn-%u\"", (index + turn) % BT_BENCH_TURNS);
	} else if (turn != 0) {
		bt_strbuf_printf(out, ",\"example.com/turn\":\"turn-%u\"", turn);
	}
	if (workload->has_racks) {
		uint32_t racks = source->node_count / BT_BENCH_RACK_NODES;
		bt_strbuf_printf(out, ",\"example.com/rack\":\"rack-%03u\"",
			index % (racks != 0 ? racks : 1));
	}
	if (workload->has_large_nodes) {
		write_large_labels(index, out);
	}
	bt_strbuf_append_char(out, '}');
	if (workload->has_large_nodes) {
		write_large_annotations(index, out);
	}
	bt_strbuf_append_char(out, '}');
}

static void write_node_spec(
	const struct bt_bench_workload *workload, uint32_t index, struct bt_strbuf *out)
{
	bt_strbuf_append_c(out, ",\"spec\":{");
	if (workload->has_taints && index % 3 == 0) {
		bt_strbuf_append_c(out,
			"\"taints\":[{\"key\":\"dedicated\",\"value\":\"infra\",\"effect\":"
			"\"PreferNoSchedule\"}]");
	}
	if (workload->has_large_nodes) {
		write_large_taints(out);
	}
	bt_strbuf_append_char(out, '}');
}

static void write_status(const char *resources, struct bt_strbuf *out)
{
	bt_strbuf_printf(out,
		",\"status\":{\"capacity\":{%s},\"allocatable\":{%s},\"conditions\":"
		"[{\"type\":\"Ready\",\"status\":\"True\"}]",
		resources, resources);
}

void bt_bench_write_node_turn(
	const struct bt_bench_source *source, uint32_t index, uint32_t turn, struct bt_strbuf *out)
{
	static const char *const sizes[] = {
		"\"cpu\":\"4\",\"memory\":\"16Gi\",\"pods\":\"" PODS_OF_A_NODE "\"",
		"\"cpu\":\"8\",\"memory\":\"32Gi\",\"pods\":\"" PODS_OF_A_NODE "\"",
		"\"cpu\":\"16\",\"memory\":\"64Gi\",\"pods\":\"" PODS_OF_A_NODE "\"",
		"\"cpu\":\"32\",\"memory\":\"256Gi\",\"pods\":\"" PODS_OF_A_NODE "\"",
	};
	const struct bt_bench_workload *workload = source->workload;
	write_node_metadata(source, index, turn, out);
	write_node_spec(workload, index, out);
	write_status(workload->has_mixed_sizes
			? sizes[index % BT_ARRAY_LENGTH(sizes)]
			: "\"cpu\":\"4\",\"memory\":\"32Gi\",\"pods\":\"" PODS_OF_A_NODE "\"",
		out);
	if (workload->has_large_nodes) {
		write_large_images(index, out);
	}
	bt_strbuf_append_c(out, "}}");
}

void bt_bench_write_node(
	const struct bt_bench_source *source, uint32_t index, struct bt_strbuf *out)
{
	bt_bench_write_node_turn(source, index, 0, out);
}

void bt_bench_write_relief(uint32_t shape, uint32_t index, struct bt_strbuf *out)
{
	char resources[128];
	bt_strbuf_printf(out,
		"{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"relief-%u\","
		"\"uid\":\"r-%u\",\"labels\":{\"kubernetes.io/hostname\":\"relief-%u\"",
		index, index, index);
	struct bt_strbuf device = {0};
	if (shape % 2 == 0) {
		bt_strbuf_printf(out, ",\"example.com/pool\":\"pool-%u\"", shape);
	} else {
		bt_strbuf_printf(&device, ",\"example.com/device-%u\":\"1\"", shape);
	}
	(void)snprintf(resources, sizeof(resources),
		"\"cpu\":\"4\",\"memory\":\"32Gi\",\"pods\":\"1\"%s", bt_strbuf_c(&device));
	bt_strbuf_finish(&device);
	bt_strbuf_append_c(out, "}},\"spec\":{}");
	write_status(resources, out);
	bt_strbuf_append_c(out, "}}");
}

uint32_t bt_bench_extra_count(const struct bt_bench_source *source)
{
	uint64_t services = ((uint64_t)source->bound_count + source->pending_count) / REPLICAS;
	if (source->workload->has_devices) {
		return bt_bench_device_object_count(source);
	}
	if (source->workload->gang_size != 0) {
		uint32_t size = source->workload->gang_size;
		return source->pending_count / size + (source->pending_count % size != 0);
	}
	if (!source->workload->has_services) {
		return 0;
	}
	if (services > BT_BENCH_SERVICES) {
		services = BT_BENCH_SERVICES;
	}
	return 2 * (services != 0 ? (uint32_t)services : 1);
}

void bt_bench_write_extra(
	const struct bt_bench_source *source, uint32_t index, struct bt_strbuf *out)
{
	uint32_t service = index / 2;
	BT_ASSERT(index < bt_bench_extra_count(source));
	if (source->workload->has_devices) {
		bt_bench_write_device_object(source, index, out);
		return;
	}
	if (source->workload->gang_size != 0) {
		uint32_t size = source->workload->gang_size;
		uint32_t rest = source->pending_count - index * size;
		bt_strbuf_printf(out,
			"{\"apiVersion\":\"scheduling.k8s.io/v1alpha2\",\"kind\":\"PodGroup\","
			"\"metadata\":{\"name\":\"gang-%u\",\"namespace\":\"default\",\"uid\":"
			"\"gang-%u\"},\"spec\":{\"schedulingPolicy\":{\"gang\":{\"minCount\":%u}}"
			"%s}}",
			index, index, rest < size ? rest : size,
			source->workload->has_racks
				? ",\"schedulingConstraints\":{\"topology\":[{\"key\":"
				  "\"example.com/rack\"}]}"
				: "");
		return;
	}
	bt_strbuf_printf(out,
		"{\"apiVersion\":\"%s\",\"kind\":\"%s\",\"metadata\":{\"name\":\"service-%u\","
		"\"namespace\":\"default\",\"uid\":\"%s-%u\"},",
		index % 2 == 0 ? "v1" : "apps/v1", index % 2 == 0 ? "Service" : "ReplicaSet",
		service, index % 2 == 0 ? "service" : "owner", service);
	if (index % 2 == 0) {
		bt_strbuf_printf(out, "\"spec\":{\"selector\":{\"app\":\"service-%u\"}}}", service);
	} else {
		bt_strbuf_printf(out,
			"\"spec\":{\"replicas\":1,\"selector\":{\"matchLabels\":{\"app\":"
			"\"service-%u\",\"pod-template-hash\":\"%08x\"}}}}",
			service, service);
	}
}

static void append_pod(const struct bt_bench_pod *pod, bool is_bound, struct bt_strbuf *out)
{
	bt_strbuf_printf(out,
		"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"pod-%06u\","
		"\"namespace\":\"default\",\"uid\":\"p-%u\",\"labels\":{",
		pod->index, pod->index);
	bt_strbuf_append_str(out, bt_strbuf_str(&pod->labels));
	bt_strbuf_append_char(out, '}');
	bt_strbuf_append_str(out, bt_strbuf_str(&pod->metadata));
	bt_strbuf_printf(out,
		"},\"spec\":{\"schedulerName\":\"default-scheduler\",\"priority\":%d,"
		"\"containers\":[{\"name\":\"pause\",\"image\":\"registry.k8s.io/pause:3.10\","
		"\"resources\":{\"requests\":{%s}}}",
		pod->priority,
		pod->requests.length != 0 ? bt_strbuf_c(&pod->requests)
					  : "\"cpu\":\"100m\",\"memory\":\"500Mi\"");
	bt_strbuf_append_str(out, bt_strbuf_str(&pod->containers));
	bt_strbuf_append_char(out, ']');
	if (pod->affinity.length != 0) {
		bt_strbuf_append_c(out, ",\"affinity\":{");
		bt_strbuf_append_str(out, bt_strbuf_str(&pod->affinity));
		bt_strbuf_append_char(out, '}');
	}
	bt_strbuf_append_str(out, bt_strbuf_str(&pod->spec));
	if (is_bound) {
		bt_strbuf_printf(
			out, ",\"nodeName\":\"node-%05u\"", pod->index % pod->source->node_count);
	}
	bt_strbuf_printf(out, "},\"status\":{\"phase\":\"%s\"}}", is_bound ? "Running" : "Pending");
}

void bt_bench_write_pod(const struct bt_bench_source *source, uint32_t index, struct bt_strbuf *out)
{
	struct bt_bench_pod pod = {.source = source, .index = index};
	bool is_bound = index < source->bound_count;
	/* Consecutive seeds give independent numbers: the generator mixes its seed well. */
	bt_prng_init(&pod.prng, (source->seed << 32) + index);
	(is_bound ? source->workload->bound : source->workload->pending)(&pod);
	append_pod(&pod, is_bound, out);
	bt_strbuf_finish(&pod.metadata);
	bt_strbuf_finish(&pod.labels);
	bt_strbuf_finish(&pod.spec);
	bt_strbuf_finish(&pod.affinity);
	bt_strbuf_finish(&pod.requests);
	bt_strbuf_finish(&pod.containers);
}
