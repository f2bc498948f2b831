/* SPDX-License-Identifier: Apache-2.0 */
#include "api/time.h"
#include "server/kinds/common.h"

/* Fields of a new pod that are set besides its defaults. Spec: 14b sections 2.2 and 3.2. */

/** Whether the map has a quantity above zero of the resource. */
static bool find_positive(struct bt_arena *arena, const struct bt_json_value *map, const char *name,
	struct bt_quantity *out)
{
	return bt_kinds_quantity(bt_json_find(map, name), arena, out) && !bt_quantity_is_zero(out);
}

/**
 * Updates the state for the QoS class. any: some cpu or memory is given; full: all limits are given
 * and equal the requests.
 */
static void add_to_qos(
	struct bt_arena *arena, const struct bt_json_value *resources, bool *any, bool *full)
{
	static const char *const names[] = {"cpu", "memory"};
	const struct bt_json_value *requests = bt_kinds_object(resources, "requests");
	const struct bt_json_value *limits = bt_kinds_object(resources, "limits");
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(names); i++) {
		struct bt_quantity request;
		struct bt_quantity limit;
		bool has_request = find_positive(arena, requests, names[i], &request);
		bool has_limit = find_positive(arena, limits, names[i], &limit);
		*any = *any || has_request || has_limit;
		*full = *full && has_request && has_limit &&
			bt_quantity_compare(&request, &limit) == 0;
	}
}

const char *bt_kinds_qos_class(struct bt_arena *arena, const struct bt_json_value *spec)
{
	static const char *const lists[] = {"containers", "initContainers"};
	const struct bt_json_value *pod_level = bt_kinds_object(spec, "resources");
	bool any = false;
	bool full = true;
	if (pod_level != NULL && pod_level->count != 0) {
		add_to_qos(arena, pod_level, &any, &full);
	} else {
		for (uint32_t n = 0; n < BT_ARRAY_LENGTH(lists); n++) {
			const struct bt_json_value *list = bt_json_array_at(spec, lists[n]);
			for (uint32_t i = 0; i < list->count; i++) {
				add_to_qos(arena, bt_kinds_object(list->elements[i], "resources"),
					&any, &full);
			}
		}
	}
	if (!any) {
		return "BestEffort";
	}
	return full ? "Guaranteed" : "Burstable";
}

static void set_status(const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_arena *arena = write->arena;
	const struct bt_json_value *spec = bt_kinds_object(object, "spec");
	struct bt_json_value *status = bt_json_ensure_object(arena, object, "status");
	struct bt_json_value *condition;
	bool is_kept = bt_kinds_keeps_status(write, object);
	bt_kinds_default_c(arena, status, "phase", "Pending");
	if (!is_kept && bt_json_array_at(spec, "schedulingGates")->count != 0) {
		condition = bt_json_new(arena, BT_JSON_OBJECT);
		bt_json_set_c(arena, condition, "type", "PodScheduled");
		bt_json_set_c(arena, condition, "status", "False");
		bt_json_set_str(
			arena, condition, "lastTransitionTime", bt_time_text(arena, write->now_ns));
		bt_json_set_c(arena, condition, "reason", "SchedulingGated");
		bt_json_set_c(arena, condition, "message",
			"Scheduling is blocked due to non-empty scheduling gates");
		bt_json_append(arena, bt_json_ensure_array(arena, status, "conditions"), condition);
	}
	bt_kinds_default_c(arena, status, "qosClass", bt_kinds_qos_class(arena, spec));
}

struct pod_labels {
	const struct bt_json_value *object;
	struct bt_names keys;
};

/** Adds the pod's values of the listed label keys to the labelSelector of holder. */
static void merge_keys(const struct bt_write *write, const struct pod_labels *labels,
	struct bt_json_value *holder, const char *keys_name, const char *operator_)
{
	struct bt_arena *arena = write->arena;
	const struct bt_json_value *keys = bt_kinds_array(holder, keys_name);
	struct bt_json_value *selector = bt_kinds_object(holder, "labelSelector");
	if (keys == NULL || selector == NULL) {
		return;
	}
	for (uint32_t i = 0; i < keys->count; i++) {
		uint32_t index = bt_names_find(&labels->keys, keys->elements[i]->text);
		if (index == BT_NAMES_NONE) {
			continue;
		}
		const struct bt_json_value *label = labels->object->members[index].value;
		struct bt_json_value *expression = bt_json_new(arena, BT_JSON_OBJECT);
		struct bt_json_value *values = bt_json_new(arena, BT_JSON_ARRAY);
		struct bt_json_value *expressions =
			bt_json_ensure_array(arena, selector, "matchExpressions");
		bt_json_set_str(arena, expression, "key", keys->elements[i]->text);
		bt_json_set_c(arena, expression, "operator", operator_);
		bt_json_append(arena, values, bt_json_new_str(arena, label->text));
		bt_json_set_value(arena, expression, "values", values);
		/* A restored pod may have the expression already. */
		if (!write->restoring || !bt_kinds_contains(expressions, expression)) {
			bt_json_append(arena, expressions, expression);
		}
	}
}

static void merge_affinity_keys(const struct bt_write *write, const struct pod_labels *labels,
	const struct bt_json_value *affinity)
{
	const struct bt_json_value *required =
		bt_json_array_at(affinity, "requiredDuringSchedulingIgnoredDuringExecution");
	const struct bt_json_value *preferred =
		bt_json_array_at(affinity, "preferredDuringSchedulingIgnoredDuringExecution");
	for (uint32_t i = 0; i < required->count + preferred->count; i++) {
		struct bt_json_value *term = i < required->count
			? required->elements[i]
			: bt_kinds_object(
				  preferred->elements[i - required->count], "podAffinityTerm");
		if (term != NULL) {
			merge_keys(write, labels, term, "matchLabelKeys", "In");
			merge_keys(write, labels, term, "mismatchLabelKeys", "NotIn");
		}
	}
}

void bt_kinds_prepare_pod(const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_json_value *spec = bt_kinds_object(object, "spec");
	const struct bt_json_value *affinity = bt_kinds_object(spec, "affinity");
	const struct bt_json_value *constraints =
		bt_json_array_at(spec, "topologySpreadConstraints");
	struct pod_labels labels;
	set_status(write, object);
	if (affinity == NULL && constraints->count == 0) {
		return;
	}
	labels.object = bt_kinds_object(bt_kinds_object(object, "metadata"), "labels");
	labels.keys = bt_names_of_members(write->arena, labels.object);
	merge_affinity_keys(write, &labels, bt_kinds_object(affinity, "podAffinity"));
	merge_affinity_keys(write, &labels, bt_kinds_object(affinity, "podAntiAffinity"));
	for (uint32_t i = 0; i < constraints->count; i++) {
		merge_keys(write, &labels, constraints->elements[i], "matchLabelKeys", "In");
	}
}
