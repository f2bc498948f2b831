/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "api/time.h"
#include "server/kinds/common.h"
#include "server/usage.h"

/*
 * HorizontalPodAutoscalers. The store keeps them in the form of autoscaling/v2; v1 has only the CPU
 * metric. Spec: 14b sections 3.3 and 6.9.
 */

#define DEFAULT_CPU_PERCENT INT64_C(80)
#define TARGET_PERCENT "target.averageUtilization"
#define CPU_METRIC \
	"{metrics: [{type: 'Resource', resource: {name: 'cpu'," \
	" target: {type: 'Utilization', averageUtilization: %d}}}]}"

/* path: of the share in the metric's resource. 0: the metric is not a share of the CPU requests. */
static int64_t cpu_percent(const struct bt_json_value *metric, const char *path)
{
	const struct bt_json_value *resource = bt_kinds_object(metric, "resource");
	return bt_str_equal_c(bt_kinds_text(resource, "name"), "cpu")
		? bt_json_int64_at(resource, path, 0)
		: 0;
}

static void move_percent(const struct bt_write *write, struct bt_json_value *holder,
	const char *list_name, const char *path, const char *name)
{
	const struct bt_json_value *metrics = bt_json_array_at(holder, list_name);
	int64_t percent = 0;
	for (uint32_t i = 0; i < metrics->count && percent == 0; i++) {
		percent = cpu_percent(metrics->elements[i], path);
	}
	if (percent != 0) {
		bt_json_set_int64(write->arena, holder, name, percent);
	}
	(void)bt_json_remove_c(holder, list_name);
}

static void from_stored(const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_json_value *spec = bt_json_ensure_object(write->arena, object, "spec");
	struct bt_json_value *status = bt_json_ensure_object(write->arena, object, "status");
	move_percent(write, spec, "metrics", TARGET_PERCENT, "targetCPUUtilizationPercentage");
	move_percent(write, status, "currentMetrics", "current.averageUtilization",
		"currentCPUUtilizationPercentage");
	(void)bt_json_remove_c(spec, "behavior");
	(void)bt_json_remove_c(status, "conditions");
	if (bt_json_find(status, "currentReplicas") == NULL) {
		bt_json_set_int64(write->arena, status, "currentReplicas", 0);
	}
}

/* What v1 does not have is kept: other metrics, the behavior, conditions and current metrics. */
static void to_stored(const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_arena *arena = write->arena;
	struct bt_json_value *spec = bt_json_ensure_object(arena, object, "spec");
	struct bt_json_value *status = bt_json_ensure_object(arena, object, "status");
	const struct bt_json_value *stored = bt_api_read(write->api, write->resource,
		bt_api_key(arena, write->namespace_, write->name), arena);
	const struct bt_json_value *metrics = bt_json_array_at(stored, "spec.metrics");
	int64_t percent = bt_json_int64_at(spec, "targetCPUUtilizationPercentage", 0);
	(void)bt_json_remove_c(spec, "targetCPUUtilizationPercentage");
	(void)bt_json_remove_c(status, "currentCPUUtilizationPercentage");
	if (bt_json_int64_at(status, "currentReplicas", 0) == 0) {
		(void)bt_json_remove_c(status, "currentReplicas");
	}
	if (percent != 0) {
		bt_json_put(arena, spec, CPU_METRIC, percent);
	}
	for (uint32_t i = 0; i < metrics->count; i++) {
		if (cpu_percent(metrics->elements[i], TARGET_PERCENT) == 0) {
			bt_json_append(arena, bt_json_ensure_array(arena, spec, "metrics"),
				metrics->elements[i]);
		}
	}
	if (bt_json_array_at(spec, "metrics")->count == 0) {
		bt_json_put(arena, spec, CPU_METRIC, DEFAULT_CPU_PERCENT);
	}
	bt_kinds_reset_member(arena, spec, bt_json_object_at(stored, "spec"), "behavior");
	bt_kinds_reset_member(arena, status, bt_json_object_at(stored, "status"), "conditions");
	bt_kinds_reset_member(arena, status, bt_json_object_at(stored, "status"), "currentMetrics");
}

const struct bt_strategy bt_strategy_horizontal_pod_autoscaler_v1 = {
	.resets_status = true,
	.from_stored = from_stored,
	.to_stored = to_stored,
};

/**
 * metrics.k8s.io: each read computes PodMetrics and NodeMetrics from the stored pods and nodes.
 * Spec: 14b section 6.9.
 */

/** Reduces the object to metadata, timestamp and window. */
static void begin_metrics(const struct bt_write *write, struct bt_json_value *object)
{
	const struct bt_json_value *from = bt_json_object_at(object, "metadata");
	struct bt_str now = bt_time_text(write->arena, bt_api_now_ns(write->api));

	object->count = 0;
	bt_json_put(write->arena, object,
		"{metadata: {name: %v, namespace: %v, labels: %v, creationTimestamp: %s},"
		" timestamp: %s, window: '15s'}",
		bt_json_find(from, "name"), bt_json_find(from, "namespace"),
		bt_json_find(from, "labels"), now, now);
}

static struct bt_json_value *usage_value(struct bt_arena *arena, const struct bt_usage *usage)
{
	return bt_json_put(arena, NULL, "{cpu: %s, memory: %s}",
		bt_arena_printf(arena, "%" PRId64 "n", usage->cpu_nano),
		bt_arena_printf(arena, "%" PRId64 "Ki", usage->memory_bytes >> 10));
}

static void pod_from_stored(const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_arena *arena = write->arena;
	const struct bt_json_value *containers = bt_json_array_at(object, "spec.containers");
	struct bt_json_value *list = bt_json_new(arena, BT_JSON_ARRAY);

	for (uint32_t i = 0; i < containers->count; i++) {
		struct bt_usage usage =
			bt_usage_of_container(write->api, object, containers->elements[i]);

		bt_json_append(arena, list,
			bt_json_put(arena, NULL, "{name: %s, usage: %v}",
				bt_json_text_at(containers->elements[i], "name"),
				usage_value(arena, &usage)));
	}
	begin_metrics(write, object);
	bt_json_set_value(arena, object, "containers", list);
}

static void node_from_stored(const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_usage usage =
		bt_usage_of_node(write->api, bt_json_text_at(object, "metadata.name"));

	begin_metrics(write, object);
	bt_json_set_value(write->arena, object, "usage", usage_value(write->arena, &usage));
}

static bool is_running(const struct bt_stored *stored)
{
	return bt_str_find(bt_stored_text(stored), BT_STR("\"phase\":\"Running\"")) >= 0;
}

const struct bt_strategy bt_strategy_pod_metrics = {
	.from_stored = pod_from_stored,
	.is_served = is_running,
};

const struct bt_strategy bt_strategy_node_metrics = {
	.from_stored = node_from_stored,
};
