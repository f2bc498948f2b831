/* SPDX-License-Identifier: Apache-2.0 */
/** Random kinds of pods. */
#include "soak/world.h"

static uint32_t below(struct bt_sim *sim, uint32_t bound)
{
	return (uint32_t)bt_prng_below(&sim->changes, bound);
}

static bool chance(struct bt_sim *sim, uint32_t percent)
{
	return bt_sim_chance(&sim->changes, percent);
}

static const char *one_of(struct bt_sim *sim, const char *const *texts, uint32_t count)
{
	return texts[below(sim, count)];
}

static void append_requests(struct bt_sim *sim, struct bt_strbuf *out)
{
	static const char *const cpus[] = {"50m", "100m", "250m", "500m", "1", "1500m"};
	static const char *const memories[] = {"64Mi", "128Mi", "512Mi", "1Gi", "2Gi"};
	bt_strbuf_printf(out, "\"resources\":{\"requests\":{");
	bt_strbuf_printf(out, "\"cpu\":\"%s\"", one_of(sim, cpus, BT_ARRAY_LENGTH(cpus)));
	if (chance(sim, 80)) {
		bt_strbuf_printf(out, ",\"memory\":\"%s\"",
			one_of(sim, memories, BT_ARRAY_LENGTH(memories)));
	}
	unsigned gpus = chance(sim, 6) ? 1 + below(sim, 2) : 0;
	if (gpus != 0) {
		bt_strbuf_printf(out, ",\"example.com/gpu\":\"%u\"", gpus);
	}
	if (chance(sim, 10)) {
		bt_strbuf_append_c(out, ",\"ephemeral-storage\":\"2Gi\"");
	}
	bt_strbuf_append_c(out, "}");
	if (gpus != 0) {
		/*
		 * Extended resources cannot be over-committed: the API requires limits equal to
		 * requests.
		 */
		bt_strbuf_printf(out, ",\"limits\":{\"example.com/gpu\":\"%u\"}", gpus);
	}
	bt_strbuf_append_c(out, "}");
}

static void append_containers(struct bt_sim *sim, struct bt_strbuf *out)
{
	bt_strbuf_append_c(out, "\"containers\":[{\"name\":\"c0\",\"image\":\"i\",");
	if (chance(sim, 6)) {
		bt_strbuf_printf(out,
			"\"ports\":[{\"containerPort\":80,\"hostPort\":%u,\"protocol\":\"TCP\"}],",
			8080 + below(sim, 2));
	}
	append_requests(sim, out);
	bt_strbuf_append_c(out, "}");
	if (chance(sim, 20)) {
		bt_strbuf_append_c(out, ",{\"name\":\"c1\",\"image\":\"i\",");
		append_requests(sim, out);
		bt_strbuf_append_c(out, "}");
	}
	bt_strbuf_append_c(out, "]");
	if (chance(sim, 10)) {
		bt_strbuf_append_c(out, ",\"initContainers\":[{\"name\":\"i0\",\"image\":\"i\",");
		append_requests(sim, out);
		bt_strbuf_append_c(out, "}]");
	}
	if (chance(sim, 5)) {
		bt_strbuf_append_c(out, ",\"runtimeClassName\":\"heavy\"");
	}
}

/** Append a random priority class: p0 to p3, or never0 to never3 with preemptionPolicy Never. */
static void append_priority(struct bt_sim *sim, struct bt_strbuf *out)
{
	static const unsigned priorities[] = {0, 0, 0, 0, 1, 1, 2, 3};
	if (!sim->workload.has_preemption) {
		return;
	}
	unsigned priority = priorities[below(sim, BT_ARRAY_LENGTH(priorities))];
	bt_strbuf_printf(
		out, ",\"priorityClassName\":\"%s%u\"", chance(sim, 10) ? "never" : "p", priority);
}

static void append_placement(struct bt_sim *sim, struct bt_strbuf *out)
{
	static const char *const disks[] = {"ssd", "hdd"};
	if (chance(sim, 8)) {
		bt_strbuf_printf(out, ",\"nodeSelector\":{\"disk\":\"%s\"}", one_of(sim, disks, 2));
	}
	if (chance(sim, 15)) {
		bt_strbuf_append_c(
			out, ",\"tolerations\":[{\"key\":\"dedicated\",\"operator\":\"Exists\"}]");
	} else if (chance(sim, 4)) {
		bt_strbuf_append_c(out,
			",\"tolerations\":[{\"key\":\"dedicated\",\"operator\":\"Equal\",\"value\":"
			"\"x\",\"effect\":\"NoSchedule\"}]");
	}
	if (sim->workload.has_gates && chance(sim, 15)) {
		bt_strbuf_append_c(out, ",\"schedulingGates\":[{\"name\":\"example.com/hold\"}]");
	}
}

static void append_spread(struct bt_sim *sim, struct bt_strbuf *out, uint32_t app)
{
	static const char *const keys[] = {"topology.kubernetes.io/zone", "kubernetes.io/hostname"};
	static const char *const actions[] = {"DoNotSchedule", "DoNotSchedule", "ScheduleAnyway"};
	if (!chance(sim, 25)) {
		return;
	}
	bt_strbuf_printf(out,
		",\"topologySpreadConstraints\":[{\"maxSkew\":%u,\"topologyKey\":\"%s\","
		"\"whenUnsatisfiable\":\"%s\",\"labelSelector\":{\"matchLabels\":{\"app\":"
		"\"a%u\"}}}]",
		1 + below(sim, 2), one_of(sim, keys, 2), one_of(sim, actions, 3), app);
}

/** Append an affinity term that matches the pods of an app or of a tier. */
static void append_term(struct bt_sim *sim, struct bt_strbuf *out, uint32_t app)
{
	static const char *const keys[] = {"topology.kubernetes.io/zone", "kubernetes.io/hostname"};
	bt_strbuf_printf(out, "{\"topologyKey\":\"%s\",\"labelSelector\":{", one_of(sim, keys, 2));
	if (chance(sim, 60)) {
		bt_strbuf_printf(out, "\"matchLabels\":{\"app\":\"a%u\"}}}", app);
	} else {
		bt_strbuf_printf(out,
			"\"matchExpressions\":[{\"key\":\"tier\",\"operator\":\"%s\",\"values\":["
			"\"t%u\"]}]}}",
			chance(sim, 80) ? "In" : "NotIn", below(sim, 3));
	}
}

static void append_affinity(struct bt_sim *sim, struct bt_strbuf *out, uint32_t app)
{
	bool node = chance(sim, 10);
	bool near = chance(sim, 8);
	bool apart = chance(sim, 14);
	const char *comma = "";
	if (!node && !near && !apart) {
		return;
	}
	bt_strbuf_append_c(out, ",\"affinity\":{");
	if (node) {
		bt_strbuf_printf(out,
			"\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"
			"\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":"
			"\"topology.kubernetes.io/zone\",\"operator\":\"%s\",\"values\":[\"z%u\"]"
			"}]}]}}",
			chance(sim, 50) ? "In" : "NotIn", below(sim, 3));
		comma = ",";
	}
	if (near) {
		bt_strbuf_printf(out,
			"%s\"podAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":[",
			comma);
		append_term(sim, out, chance(sim, 50) ? app : below(sim, app + 1));
		bt_strbuf_append_c(out, "]}");
		comma = ",";
	}
	if (apart) {
		bt_strbuf_printf(out, "%s\"podAntiAffinity\":{\"%s\":[", comma,
			"requiredDuringSchedulingIgnoredDuringExecution");
		append_term(sim, out, chance(sim, 60) ? app : below(sim, app + 1));
		bt_strbuf_append_c(out, "]}");
	}
	bt_strbuf_append_c(out, "}");
}

static struct bt_str choose_storage(struct bt_sim *sim)
{
	static const char *const classes[] = {"made-late", "found-late", "made-now", "made-near"};
	if (!sim->workload.has_volumes || !chance(sim, 25)) {
		return BT_STR("");
	}
	return bt_str_from(one_of(sim, classes, BT_ARRAY_LENGTH(classes)));
}

void bt_sim_workload_design_app(struct bt_sim *sim)
{
	static const char *const schedulers[] = {"default-scheduler", "default-scheduler",
		"default-scheduler", "default-scheduler", "default-scheduler", "packed", "packed",
		"other"};
	uint32_t serial = sim->workload.next_app++;
	struct bt_strbuf spec = {0};
	bt_strbuf_printf(&spec, "\"schedulerName\":\"%s\",",
		one_of(sim, schedulers, BT_ARRAY_LENGTH(schedulers)));
	append_containers(sim, &spec);
	append_priority(sim, &spec);
	append_placement(sim, &spec);
	if (sim->workload.has_topology) {
		append_spread(sim, &spec, serial);
		append_affinity(sim, &spec, serial);
	}
	struct bt_str storage_class = choose_storage(sim);
	struct bt_sim_app app = {
		.serial = serial,
		.namespace_ = chance(sim, 70) ? BT_STR("a") : BT_STR("b"),
		.labels = bt_arena_printf(
			&sim->texts, "\"app\":\"a%u\",\"tier\":\"t%u\"", serial, below(sim, 3)),
		.is_job = chance(sim, 25),
		.spec = bt_arena_str(&sim->texts, bt_strbuf_str(&spec)),
		.storage_class = storage_class,
		.is_stateful = storage_class.length != 0 || chance(sim, 30),
		.replicas = 1 + below(sim, 10),
	};
	bt_strbuf_finish(&spec);
	bt_sim_log(sim, "app a%u: labels {%.*s}, spec {%.*s}, storage class \"%.*s\"", serial,
		BT_STR_ARG(app.labels), BT_STR_ARG(app.spec), BT_STR_ARG(app.storage_class));
	bt_sim_design_claims(sim, &app);
	bt_sim_design_group(sim, &app);
	bt_vec_push(&sim->workload.apps, app);
}
