/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/bench_pods.h"

#include "base/assert.h"

#define HOSTNAME "kubernetes.io/hostname"
#define ZONE "topology.kubernetes.io/zone"
#define HETERO_APPS 2000

static const char *const instance_types[] = {"m5.large", "m5.xlarge", "c5.2xlarge", "r5.4xlarge"};
static const uint32_t cpu_choices_milli[] = {50, 100, 150, 200, 250, 330, 500, 750, 1000};

void bt_bench_comma(struct bt_strbuf *members)
{
	if (members->length != 0) {
		bt_strbuf_append_char(members, ',');
	}
}

static uint32_t below(struct bt_bench_pod *pod, uint32_t bound)
{
	return (uint32_t)bt_prng_below(&pod->prng, bound);
}

/** True with a probability of percent. */
static bool chance(struct bt_bench_pod *pod, uint32_t percent)
{
	return below(pod, 100) < percent;
}

static void add_color(struct bt_bench_pod *pod, const char *color)
{
	bt_strbuf_printf(&pod->labels, "\"color\":\"%s\"", color);
}

static void add_required_term(
	struct bt_bench_pod *pod, const char *member, const char *color, const char *topology_key)
{
	add_color(pod, color);
	bt_strbuf_printf(&pod->affinity,
		"\"%s\":{\"requiredDuringSchedulingIgnoredDuringExecution\":[{\"labelSelector\":"
		"{\"matchLabels\":{\"color\":\"%s\"}},\"topologyKey\":\"%s\"}]}",
		member, color, topology_key);
}

static void add_preferred_term(struct bt_bench_pod *pod, const char *member, const char *color)
{
	add_color(pod, color);
	bt_strbuf_printf(&pod->affinity,
		"\"%s\":{\"preferredDuringSchedulingIgnoredDuringExecution\":[{\"weight\":1,"
		"\"podAffinityTerm\":{\"labelSelector\":{\"matchLabels\":{\"color\":\"%s\"}},"
		"\"topologyKey\":\"" HOSTNAME "\"}}]}",
		member, color);
}

static void add_spreading(
	struct bt_bench_pod *pod, uint32_t max_skew, const char *otherwise, const char *selector)
{
	bt_strbuf_printf(&pod->spec,
		",\"topologySpreadConstraints\":[{\"maxSkew\":%u,\"topologyKey\":\"" ZONE "\","
		"\"whenUnsatisfiable\":\"%s\",\"labelSelector\":{\"matchLabels\":{%s}}}]",
		max_skew, otherwise, selector);
}

void bt_bench_pod_basic(struct bt_bench_pod *pod)
{
	(void)pod; /* a basic pod has no further members */
}

void bt_bench_pod_nodeaffinity(struct bt_bench_pod *pod)
{
	bt_strbuf_append_c(&pod->affinity,
		"\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":"
		"{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"" ZONE "\","
		"\"operator\":\"In\",\"values\":[\"zone-1\",\"zone-2\"]}]}]}}");
}

void bt_bench_pod_spread(struct bt_bench_pod *pod)
{
	add_color(pod, "blue");
	add_spreading(pod, 5, "DoNotSchedule", "\"color\":\"blue\"");
}

void bt_bench_pod_prefspread(struct bt_bench_pod *pod)
{
	add_color(pod, "blue");
	add_spreading(pod, 5, "ScheduleAnyway", "\"color\":\"blue\"");
}

void bt_bench_pod_affinity(struct bt_bench_pod *pod)
{
	add_required_term(pod, "podAffinity", "blue", ZONE);
}

void bt_bench_pod_antiaffinity(struct bt_bench_pod *pod)
{
	add_required_term(pod, "podAntiAffinity", "green", HOSTNAME);
}

void bt_bench_pod_prefaffinity(struct bt_bench_pod *pod)
{
	add_preferred_term(pod, "podAffinity", "red");
}

void bt_bench_pod_prefantiaffinity(struct bt_bench_pod *pod)
{
	add_preferred_term(pod, "podAntiAffinity", "yellow");
}

static void add_preferred_instance_types(struct bt_bench_pod *pod)
{
	uint32_t weight = 1 + below(pod, 99);
	uint32_t first = below(pod, BT_ARRAY_LENGTH(instance_types));
	uint32_t second = (first + 1 + below(pod, BT_ARRAY_LENGTH(instance_types) - 1)) %
		BT_ARRAY_LENGTH(instance_types);
	bt_strbuf_printf(&pod->affinity,
		"\"nodeAffinity\":{\"preferredDuringSchedulingIgnoredDuringExecution\":"
		"[{\"weight\":%u,\"preference\":{\"matchExpressions\":[{\"key\":"
		"\"node.kubernetes.io/instance-type\",\"operator\":\"In\",\"values\":"
		"[\"%s\",\"%s\"]}]}}]}",
		weight, instance_types[first], instance_types[second]);
}

void bt_bench_pod_hetero(struct bt_bench_pod *pod)
{
	uint32_t app = below(pod, HETERO_APPS);
	uint32_t cpu_milli = cpu_choices_milli[below(pod, BT_ARRAY_LENGTH(cpu_choices_milli))];
	struct bt_strbuf own_app = {0};
	bt_strbuf_printf(&own_app, "\"app\":\"app-%u\"", app);
	bt_strbuf_append_str(&pod->labels, bt_strbuf_str(&own_app));
	bt_strbuf_printf(&pod->requests, "\"cpu\":\"%um\",\"memory\":\"%uMi\"", cpu_milli,
		64 + below(pod, 2048 - 64));
	if (chance(pod, 30)) {
		add_preferred_instance_types(pod);
	}
	if (chance(pod, 20)) {
		add_spreading(pod, 1, "ScheduleAnyway", bt_strbuf_c(&own_app));
	}
	if (chance(pod, 10)) {
		bt_bench_comma(&pod->affinity);
		bt_strbuf_printf(&pod->affinity,
			"\"podAntiAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":"
			"[{\"labelSelector\":{\"matchLabels\":{%s}},\"topologyKey\":\"" HOSTNAME
			"\"}]}",
			bt_strbuf_c(&own_app));
	}
	bt_strbuf_finish(&own_app);
}

void bt_bench_pod_mixed(struct bt_bench_pod *pod)
{
	static void (*const kinds[])(struct bt_bench_pod * pod) = {
		bt_bench_pod_antiaffinity,
		bt_bench_pod_affinity,
		bt_bench_pod_prefaffinity,
		bt_bench_pod_prefantiaffinity,
		bt_bench_pod_spread,
		bt_bench_pod_basic,
		bt_bench_pod_hetero,
	};
	kinds[below(pod, BT_ARRAY_LENGTH(kinds))](pod);
}

void bt_bench_pod_evictable(struct bt_bench_pod *pod)
{
	pod->priority = 10 * ((int32_t)below(pod, 3) - 1);
	bt_strbuf_append_c(&pod->requests, "\"cpu\":\"900m\",\"memory\":\"500Mi\"");
}

void bt_bench_pod_preemptor(struct bt_bench_pod *pod)
{
	pod->priority = 1000;
	bt_strbuf_append_c(&pod->requests, "\"cpu\":\"3\",\"memory\":\"500Mi\"");
}
