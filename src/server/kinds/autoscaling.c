/* SPDX-License-Identifier: Apache-2.0 */
#include "server/kinds/common.h"

/*
 * HorizontalPodAutoscalers: stored in the form of autoscaling/v2; v1 has one metric, the CPU.
 * Nothing scales. Spec: 14b sections 3.3 and 6.9.
 */

#define DEFAULT_CPU_PERCENT 80

static void set_min_replicas(const struct bt_write *write, struct bt_json_value *object)
{
	(void)bt_json_ensure_object(write->arena, object, "status");
}

static struct bt_json_value *cpu_metric(struct bt_arena *arena, int64_t percent)
{
	struct bt_json_value *metric = bt_json_new(arena, BT_JSON_OBJECT);
	struct bt_json_value *resource = bt_json_new(arena, BT_JSON_OBJECT);
	struct bt_json_value *target = bt_json_new(arena, BT_JSON_OBJECT);
	bt_json_set_c(arena, target, "type", "Utilization");
	bt_json_set_int64(arena, target, "averageUtilization", percent);
	bt_json_set_c(arena, resource, "name", "cpu");
	bt_json_set_value(arena, resource, "target", target);
	bt_json_set_c(arena, metric, "type", "Resource");
	bt_json_set_value(arena, metric, "resource", resource);
	return metric;
}

static void default_v2(const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_json_value *metrics;
	set_min_replicas(write, object);
	metrics = bt_json_ensure_array(
		write->arena, bt_json_ensure_object(write->arena, object, "spec"), "metrics");
	if (metrics->count == 0) {
		bt_json_append(
			write->arena, metrics, cpu_metric(write->arena, DEFAULT_CPU_PERCENT));
	}
}

static void prepare_create(const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_json_value *status = bt_json_new(write->arena, BT_JSON_OBJECT);
	bt_json_set_int64(write->arena, status, "desiredReplicas", 0);
	(void)bt_kinds_reset_status(write, object, status);
}

static void validate(const struct bt_write *write, const struct bt_json_value *object,
	struct bt_field_errors *errors)
{
	const struct bt_json_value *spec = bt_json_object_at(object, "spec");
	const struct bt_json_value *target = bt_json_object_at(spec, "scaleTargetRef");
	const struct bt_path *place = BT_PATH_NAME(NULL, "spec");
	int64_t least = bt_json_int64_at(spec, "minReplicas", 1);
	int64_t most = bt_json_int64_at(spec, "maxReplicas", 0);
	bt_kinds_check_metadata(object, BT_NAME_SUBDOMAIN, errors);
	if (bt_kinds_keeps_spec(write)) {
		return;
	}
	if (least < 1) {
		bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_NAME(place, "minReplicas"),
			bt_json_find(spec, "minReplicas"), "must be greater than or equal to 1");
	}
	if (most < 1) {
		bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_NAME(place, "maxReplicas"),
			bt_kinds_int_value(errors, most), "must be greater than 0");
	} else if (most < least) {
		bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_NAME(place, "maxReplicas"),
			bt_json_find(spec, "maxReplicas"),
			"must be greater than or equal to `minReplicas`");
	}
	(void)bt_kinds_check_given(errors, BT_PATH_NAME(place, "scaleTargetRef"), target, "kind");
	(void)bt_kinds_check_given(errors, BT_PATH_NAME(place, "scaleTargetRef"), target, "name");
}

static const struct bt_json_value *find_cpu(const struct bt_json_value *metrics)
{
	for (uint32_t i = 0; i < metrics->count; i++) {
		const struct bt_json_value *resource =
			bt_kinds_object(metrics->elements[i], "resource");
		if (bt_str_equal_c(bt_kinds_text(resource, "name"), "cpu")) {
			return resource;
		}
	}
	return NULL;
}

static void move_percent(const struct bt_write *write, struct bt_json_value *holder,
	const char *list_name, const char *path, const char *name)
{
	const struct bt_json_value *cpu = find_cpu(bt_json_array_at(holder, list_name));
	int64_t percent = bt_json_int64_at(cpu, path, 0);
	if (percent != 0) {
		bt_json_set_int64(write->arena, holder, name, percent);
	}
	(void)bt_json_remove_c(holder, list_name);
}

static void from_stored(const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_json_value *spec = bt_json_ensure_object(write->arena, object, "spec");
	struct bt_json_value *status = bt_json_ensure_object(write->arena, object, "status");
	move_percent(write, spec, "metrics", "target.averageUtilization",
		"targetCPUUtilizationPercentage");
	move_percent(write, status, "currentMetrics", "current.averageUtilization",
		"currentCPUUtilizationPercentage");
	(void)bt_json_remove_c(spec, "behavior");
	(void)bt_json_remove_c(status, "conditions");
	bt_kinds_default_int(write->arena, status, "currentReplicas", 0);
}

static void to_stored(const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_json_value *spec = bt_json_ensure_object(write->arena, object, "spec");
	struct bt_json_value *status = bt_json_ensure_object(write->arena, object, "status");
	int64_t percent =
		bt_json_int64_at(spec, "targetCPUUtilizationPercentage", DEFAULT_CPU_PERCENT);
	(void)bt_json_remove_c(spec, "targetCPUUtilizationPercentage");
	(void)bt_json_remove_c(status, "currentCPUUtilizationPercentage");
	bt_json_append(write->arena, bt_json_ensure_array(write->arena, spec, "metrics"),
		cpu_metric(write->arena, percent));
}

const struct bt_strategy bt_strategy_horizontal_pod_autoscaler = {
	.set_defaults = default_v2,
	.prepare_create = prepare_create,
	.validate = validate,
};

const struct bt_strategy bt_strategy_horizontal_pod_autoscaler_v1 = {
	.set_defaults = set_min_replicas,
	.prepare_create = prepare_create,
	.validate = validate,
	.from_stored = from_stored,
	.to_stored = to_stored,
};
