/* SPDX-License-Identifier: Apache-2.0 */
#include "base/assert.h"
#include "bench/bench_pods.h"

/* Parameters of large pods. */
#define LARGE_SHAPES 20
#define LARGE_LABELS 30
#define LARGE_ANNOTATIONS 40
#define LARGE_ANNOTATION_BYTES 200
#define LARGE_CONTAINERS 8
#define LARGE_VOLUMES 20
#define LARGE_TOLERATIONS 30
#define LARGE_TERMS 10
#define LARGE_VALUES 20
#define LARGE_ENVIRONMENT 20

#define WORST_GROUPS 10

/** Pods of four kinds take turns. */
void bt_bench_pod_churn(struct bt_bench_pod *pod)
{
	static void (*const kinds[])(struct bt_bench_pod * pod) = {
		bt_bench_pod_basic,
		bt_bench_pod_spread,
		bt_bench_pod_prefaffinity,
		bt_bench_pod_nodeaffinity,
	};
	kinds[pod->index % BT_ARRAY_LENGTH(kinds)](pod);
}

static void add_owner(struct bt_bench_pod *pod, const char *kind, const char *name, uint32_t number)
{
	bt_strbuf_printf(&pod->metadata,
		",\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"%s\",\"name\":"
		"\"%s-%u\",\"uid\":\"owner-%u\",\"controller\":true}]",
		kind, name, number, number);
}

void bt_bench_pod_backlog(struct bt_bench_pod *pod)
{
	uint32_t shape = pod->index % BT_BENCH_BACKLOG_SHAPES;
	bt_strbuf_printf(&pod->labels, "\"app\":\"waiting-%u\"", shape);
	add_owner(pod, "ReplicaSet", "waiting", shape);
	if (shape % 2 == 0) {
		bt_strbuf_printf(
			&pod->spec, ",\"nodeSelector\":{\"example.com/pool\":\"pool-%u\"}", shape);
	} else {
		bt_strbuf_printf(&pod->requests,
			"\"cpu\":\"100m\",\"memory\":\"500Mi\",\"example.com/device-%u\":\"1\"",
			shape);
	}
}

void bt_bench_pod_gated(struct bt_bench_pod *pod)
{
	bt_strbuf_append_c(&pod->spec, ",\"schedulingGates\":[{\"name\":\"example.com/ready\"}]");
}

void bt_bench_pod_member(struct bt_bench_pod *pod)
{
	uint32_t gang = (pod->index - pod->source->bound_count) / pod->source->workload->gang_size;
	bt_strbuf_printf(&pod->labels, "\"gang\":\"gang-%u\"", gang);
	bt_strbuf_append_c(&pod->requests, "\"cpu\":\"50m\",\"memory\":\"100Mi\"");
	bt_strbuf_printf(&pod->spec, ",\"schedulingGroup\":{\"podGroupName\":\"gang-%u\"}", gang);
}

void bt_bench_pod_service(struct bt_bench_pod *pod)
{
	uint32_t service = pod->index % (bt_bench_extra_count(pod->source) / 2);
	bt_strbuf_printf(&pod->labels, "\"app\":\"service-%u\",\"pod-template-hash\":\"%08x\"",
		service, service);
	add_owner(pod, "ReplicaSet", "service", service);
}

/** Like pods of the DaemonSet controller: each has a required affinity for one node. */
void bt_bench_pod_daemon(struct bt_bench_pod *pod)
{
	uint32_t nodes = pod->source->node_count != 0 ? pod->source->node_count : 1;
	uint32_t number = pod->index - pod->source->bound_count;
	bt_strbuf_printf(&pod->labels, "\"name\":\"daemon-%u\"", number / nodes);
	add_owner(pod, "DaemonSet", "daemon", number / nodes);
	bt_strbuf_append_c(&pod->requests, "\"cpu\":\"10m\",\"memory\":\"20Mi\"");
	bt_strbuf_printf(&pod->affinity,
		"\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":"
		"{\"nodeSelectorTerms\":[{\"matchFields\":[{\"key\":\"metadata.name\","
		"\"operator\":\"In\",\"values\":[\"node-%05u\"]}]}]}}",
		number % nodes);
	bt_strbuf_append_c(&pod->spec, ",\"tolerations\":[");
	static const char *const taints[] = {"not-ready", "unreachable", "disk-pressure",
		"memory-pressure", "pid-pressure", "unschedulable"};
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(taints); i++) {
		bt_strbuf_printf(&pod->spec,
			"%s{\"key\":\"node.kubernetes.io/%s\",\"operator\":\"Exists\",\"effect\":"
			"\"%s\"}",
			i != 0 ? "," : "", taints[i], i < 2 ? "NoExecute" : "NoSchedule");
	}
	bt_strbuf_append_char(&pod->spec, ']');
}

static void add_large_metadata(struct bt_bench_pod *pod, uint32_t shape)
{
	bt_strbuf_printf(&pod->labels, "\"app\":\"large-%u\"", shape);
	for (uint32_t i = 0; i < LARGE_LABELS; i++) {
		bt_strbuf_printf(&pod->labels, ",\"team.example.com/label-%u\":\"value-%u\"", i,
			(shape + i) % 7);
	}
	add_owner(pod, "ReplicaSet", "large", shape);
	bt_strbuf_append_c(&pod->metadata, ",\"annotations\":{");
	for (uint32_t i = 0; i < LARGE_ANNOTATIONS; i++) {
		bt_strbuf_printf(&pod->metadata, "%s\"team.example.com/note-%u\":\"%0*u\"",
			i != 0 ? "," : "", i, LARGE_ANNOTATION_BYTES, pod->index);
	}
	bt_strbuf_append_char(&pod->metadata, '}');
}

/** Adds the further containers of a large pod; every pod has a first container already. */
static void add_large_containers(struct bt_bench_pod *pod, uint32_t shape)
{
	for (uint32_t i = 1; i < LARGE_CONTAINERS; i++) {
		bt_strbuf_printf(&pod->containers,
			",{\"name\":\"container-%u\",\"image\":\"registry.example.com/team/"
			"app-%u:v1\","
			"\"resources\":{\"requests\":{\"cpu\":\"10m\",\"memory\":\"20Mi\"}},"
			"\"env\":[",
			i, (shape * 7 + i) % 400);
		for (uint32_t k = 0; k < LARGE_ENVIRONMENT; k++) {
			bt_strbuf_printf(&pod->containers,
				"%s{\"name\":\"VARIABLE_%u\",\"value\":\"value %u of container "
				"%u\"}",
				k != 0 ? "," : "", k, k, i);
		}
		bt_strbuf_append_c(&pod->containers, "]}");
	}
}

static void add_large_lists(struct bt_bench_pod *pod)
{
	bt_strbuf_append_c(&pod->spec, ",\"volumes\":[");
	for (uint32_t i = 0; i < LARGE_VOLUMES; i++) {
		bt_strbuf_printf(&pod->spec,
			"%s{\"name\":\"volume-%u\",\"configMap\":{\"name\":\"config-%u\"}}",
			i != 0 ? "," : "", i, i);
	}
	bt_strbuf_append_c(&pod->spec, "],\"tolerations\":[");
	for (uint32_t i = 0; i < LARGE_TOLERATIONS; i++) {
		bt_strbuf_printf(&pod->spec,
			"%s{\"key\":\"example.com/taint-%u\",\"operator\":\"Exists\"}",
			i != 0 ? "," : "", i);
	}
	bt_strbuf_append_char(&pod->spec, ']');
}

static void add_large_affinity(struct bt_bench_pod *pod, uint32_t shape)
{
	bt_strbuf_append_c(&pod->affinity,
		"\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":"
		"{\"nodeSelectorTerms\":[");
	for (uint32_t term = 0; term < LARGE_TERMS; term++) {
		bt_strbuf_printf(&pod->affinity,
			"%s{\"matchExpressions\":[{\"key\":\"team.example.com/label-%u\","
			"\"operator\":\"In\",\"values\":[",
			term != 0 ? "," : "", term);
		for (uint32_t i = 0; i < LARGE_VALUES; i++) {
			bt_strbuf_printf(
				&pod->affinity, "%s\"value-%u\"", i != 0 ? "," : "", shape + i);
		}
		bt_strbuf_append_c(&pod->affinity, "]}]}");
	}
	bt_strbuf_append_c(&pod->affinity, "]}}");
}

void bt_bench_pod_large(struct bt_bench_pod *pod)
{
	uint32_t shape = pod->index % LARGE_SHAPES;
	add_large_metadata(pod, shape);
	add_large_containers(pod, shape);
	add_large_lists(pod);
	add_large_affinity(pod, shape);
}

/** Every pod has a different spec, and affinity terms that match other pods. */
void bt_bench_pod_worst(struct bt_bench_pod *pod)
{
	uint32_t index = pod->index;
	uint32_t group = index % WORST_GROUPS;
	bt_strbuf_printf(&pod->labels, "\"app\":\"own-%u\",\"group\":\"group-%u\"", index, group);
	bt_strbuf_printf(&pod->requests, "\"cpu\":\"%um\",\"memory\":\"500Mi\"", 100 + index % 97);
	bt_strbuf_printf(&pod->affinity,
		"\"nodeAffinity\":{\"preferredDuringSchedulingIgnoredDuringExecution\":"
		"[{\"weight\":5,\"preference\":{\"matchExpressions\":[{\"key\":"
		"\"example.com/turn\",\"operator\":\"In\",\"values\":[\"turn-%u\"]}]}}]},",
		index % BT_BENCH_TURNS);
	bt_strbuf_printf(&pod->affinity,
		"\"podAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":"
		"[{\"labelSelector\":{\"matchLabels\":{\"group\":\"group-%u\"}},\"topologyKey\":"
		"\"topology.kubernetes.io/zone\"}],"
		"\"preferredDuringSchedulingIgnoredDuringExecution\":[{\"weight\":10,"
		"\"podAffinityTerm\":{\"labelSelector\":{\"matchLabels\":{\"app\":\"own-%u\"}},"
		"\"topologyKey\":\"topology.kubernetes.io/zone\"}}]},",
		group, index - 1);
	bt_strbuf_printf(&pod->affinity,
		"\"podAntiAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":"
		"[{\"labelSelector\":{\"matchLabels\":{\"app\":\"own-%u\"}},\"topologyKey\":"
		"\"kubernetes.io/hostname\"}]}",
		index);
}
