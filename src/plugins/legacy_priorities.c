/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The priorities of v1.12 as Score plugins: LeastRequestedPriority, MostRequestedPriority,
 * BalancedResourceAllocation and RequestedToCapacityRatioPriority, with the formulas of v1.12 over
 * cpu and memory and scores 0 to 10; EqualPriority; ResourceLimitsPriority; ImageLocalityPriority;
 * NodePreferAvoidPods. Spec: 05b B8, B10 to B12.
 */
#include <inttypes.h>

#include "api/types.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/wrap.h"
#include "plugins/common_legacy.h"
#include "plugins/in_tree.h"

struct non_zero_request {
	int64_t cpu_milli;
	int64_t memory_bytes;
};

/**
 * Returns the sum of the requests of the containers. A container without a request counts with the
 * default; init containers do not count.
 */
static struct non_zero_request *compute_request(
	const struct bt_pod_info *pod, struct bt_arena *arena)
{
	const bt_container_list *containers = &bt_plugin_pod_spec(pod)->containers;
	struct non_zero_request *request = BT_ARENA_NEW(arena, struct non_zero_request);

	for (uint32_t i = 0; i < containers->count; i++) {
		const struct bt_resource_list *requests = &containers->items[i].resources.requests;
		const struct bt_quantity *cpu = bt_resource_list_find(requests, BT_STR("cpu"));
		const struct bt_quantity *memory =
			bt_resource_list_find(requests, BT_STR("memory"));

		request->cpu_milli = bt_wrap_add(request->cpu_milli,
			cpu != NULL ? bt_quantity_milli(cpu) : BT_DEFAULT_CPU_MILLI);
		request->memory_bytes = bt_wrap_add(request->memory_bytes,
			memory != NULL ? bt_quantity_value(memory) : BT_DEFAULT_MEMORY_BYTES);
	}
	return request;
}

static struct bt_status pre_score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, BT_UNUSED const uint32_t *slots,
	BT_UNUSED uint32_t slot_count)
{
	cycle->pre_score_data[plugin->index] = compute_request(pod, cycle->arena);
	return BT_STATUS_OK;
}

/** Returns the node's requested resources with the pod added. */
static struct non_zero_request total_request(const struct bt_plugin *plugin,
	const struct bt_cycle_state *cycle, const struct bt_pod_info *pod,
	const struct bt_node_info *node)
{
	const struct non_zero_request *request = cycle->pre_score_data[plugin->index];

	if (request == NULL) {
		request = compute_request(pod, cycle->arena);
	}
	return (struct non_zero_request){
		.cpu_milli = bt_wrap_add(node->non_zero[BT_CPU_MILLI], request->cpu_milli),
		.memory_bytes = bt_wrap_add(node->non_zero[BT_MEMORY_BYTES], request->memory_bytes),
	};
}

static struct bt_status score_balanced(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node, int64_t *out_score)
{
	struct non_zero_request total = total_request(plugin, cycle, pod, node);

	double cpu_fraction = node->allocatable[BT_CPU_MILLI] == 0
		? 1.0
		: (double)total.cpu_milli / (double)node->allocatable[BT_CPU_MILLI];
	double memory_fraction = node->allocatable[BT_MEMORY_BYTES] == 0
		? 1.0
		: (double)total.memory_bytes / (double)node->allocatable[BT_MEMORY_BYTES];
	double difference = cpu_fraction - memory_fraction;

	if (cpu_fraction >= 1.0 || memory_fraction >= 1.0) {
		*out_score = 0;
	} else {
		if (difference < 0.0) {
			difference = -difference;
		}
		*out_score = bt_trunc_to_i64((1.0 - difference) * (double)BT_LEGACY_MAX_PRIORITY);
	}
	return BT_STATUS_OK;
}

struct capacity_ratio_plugin {
	struct bt_legacy_plugin base;
	struct bt_shape_point *points; /* in the arena */
	uint32_t point_count;
};

/**
 * Returns the score of one resource. Requests above the capacity score 0; for the capacity ratio,
 * they count as utilization 100.
 */
static int64_t score_of(const struct bt_plugin *plugin, int64_t requested, int64_t capacity)
{
	bool is_over = capacity == 0 || requested > capacity;

	if (plugin->ops == &bt_legacy_requested_to_capacity_ratio_priority_plugin) {
		const struct capacity_ratio_plugin *ratio =
			(const struct capacity_ratio_plugin *)(const void *)plugin;

		return bt_broken_line(ratio->points, ratio->point_count,
			is_over ? 100 : bt_wrap_div(bt_wrap_mul(requested, 100), capacity));
	}
	if (is_over) {
		return 0;
	}
	if (plugin->ops == &bt_legacy_least_requested_priority_plugin) {
		requested = bt_wrap_sub(capacity, requested);
	}
	return bt_wrap_div(bt_wrap_mul(requested, BT_LEGACY_MAX_PRIORITY), capacity);
}

/** Least and most requested, and the capacity ratio: the mean of the scores of cpu and memory. */
static struct bt_status score_requested(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node, int64_t *out_score)
{
	struct non_zero_request total = total_request(plugin, cycle, pod, node);

	*out_score =
		bt_wrap_add(score_of(plugin, total.cpu_milli, node->allocatable[BT_CPU_MILLI]),
			score_of(plugin, total.memory_bytes, node->allocatable[BT_MEMORY_BYTES])) /
		2;
	return BT_STATUS_OK;
}

#define RATIO_KIND_NAME "RequestedToCapacityRatioPriorityArgs"

static int read_point_field(const struct bt_json_value *point, const char *field, uint32_t index,
	int64_t *out_value, struct berth_error *err)
{
	const struct bt_json_value *number = bt_json_find(point, field);
	int64_t value = 0;

	if (number != NULL && number->type != BT_JSON_NULL &&
		(number->type != BT_JSON_NUMBER || !bt_json_number_int64(number->text, &value) ||
			value < INT32_MIN || value > INT32_MAX)) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"%s: shape[%u].%s: expected int32, got %s", RATIO_KIND_NAME, index, field,
			bt_json_type_name(number->type));
	}
	*out_value = value;
	return 0;
}

static int init_capacity_ratio(
	struct bt_plugin *base, const struct bt_plugin_args *args, struct berth_error *err)
{
	struct capacity_ratio_plugin *plugin = (struct capacity_ratio_plugin *)(void *)base;
	static const char *const fields[] = {"shape"};
	/* The default shape prefers empty nodes. */
	static const struct bt_shape_point default_points[] = {{0, 10}, {100, 0}};
	const struct bt_json_value *value;
	int code = bt_legacy_args_open(args, RATIO_KIND_NAME, fields, BT_ARRAY_LENGTH(fields),
		&plugin->base.arena, &value, err);

	if (code != 0) {
		return code;
	}
	const struct bt_json_value *list = bt_json_find(value, "shape");
	if (list == NULL || list->type == BT_JSON_NULL) {
		plugin->point_count = (uint32_t)BT_ARRAY_LENGTH(default_points);
		plugin->points = BT_ARENA_NEW_ARRAY(
			&plugin->base.arena, struct bt_shape_point, plugin->point_count);
		memcpy(plugin->points, default_points, sizeof(default_points));
		return 0;
	}
	if (list->type != BT_JSON_ARRAY) {
		return bt_error_set(err, BERTH_ERR_INVALID, "%s: shape: expected array, got %s",
			RATIO_KIND_NAME, bt_json_type_name(list->type));
	}
	if (list->count > BT_LEGACY_ARGS_LIST_MAX) {
		return bt_error_set(err, BERTH_ERR_TOO_LARGE, "%s: shape: more than %d entries",
			RATIO_KIND_NAME, BT_LEGACY_ARGS_LIST_MAX);
	}
	plugin->points =
		BT_ARENA_NEW_ARRAY(&plugin->base.arena, struct bt_shape_point, list->count);
	plugin->point_count = list->count;
	for (uint32_t i = 0; i < list->count; i++) {
		const struct bt_json_value *point = list->elements[i];

		if (point->type != BT_JSON_OBJECT) {
			return bt_error_set(err, BERTH_ERR_INVALID,
				"%s: shape[%u]: expected object, got %s", RATIO_KIND_NAME, i,
				bt_json_type_name(point->type));
		}
		code = read_point_field(
			point, "utilization", i, &plugin->points[i].utilization, err);
		if (code == 0) {
			code = read_point_field(point, "score", i, &plugin->points[i].score, err);
		}
		if (code != 0) {
			return code;
		}
	}
	/* Check the rules of spec 05 section 11.1 point 6 and report the first violation. */
	if (plugin->point_count == 0) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"shape: Required value: at least one point must be specified");
	}
	for (uint32_t i = 1; i < plugin->point_count; i++) {
		if (plugin->points[i - 1].utilization >= plugin->points[i].utilization) {
			return bt_error_set(err, BERTH_ERR_INVALID,
				"shape[%u].utilization: Invalid value: %" PRId64
				": values must be sorted in increasing order",
				i, plugin->points[i].utilization);
		}
	}
	for (uint32_t i = 0; i < plugin->point_count; i++) {
		const struct bt_shape_point *checked = &plugin->points[i];

		if (checked->utilization < 0 || checked->utilization > 100) {
			return bt_error_set(err, BERTH_ERR_INVALID,
				"shape[%u].utilization: Invalid value: %" PRId64
				": not in valid range [0, 100]",
				i, checked->utilization);
		}
		if (checked->score < 0 || checked->score > BT_LEGACY_MAX_PRIORITY) {
			return bt_error_set(err, BERTH_ERR_INVALID,
				"shape[%u].score: Invalid value: %" PRId64
				": not in valid range [0, 10]",
				i, checked->score);
		}
	}
	return 0;
}

const struct bt_plugin_ops bt_legacy_least_requested_priority_plugin = {
	.name = "LeastRequestedPriority",
	.init = bt_legacy_init_plain,
	.pre_score = pre_score,
	.score = score_requested,
};

const struct bt_plugin_ops bt_legacy_most_requested_priority_plugin = {
	.name = "MostRequestedPriority",
	.init = bt_legacy_init_plain,
	.pre_score = pre_score,
	.score = score_requested,
};

const struct bt_plugin_ops bt_legacy_balanced_resource_allocation_plugin = {
	.name = "BalancedResourceAllocation",
	.init = bt_legacy_init_plain,
	.pre_score = pre_score,
	.score = score_balanced,
};

const struct bt_plugin_ops bt_legacy_requested_to_capacity_ratio_priority_plugin = {
	.name = "RequestedToCapacityRatioPriority",
	.size = sizeof(struct capacity_ratio_plugin),
	.init = init_capacity_ratio,
	.destroy = bt_legacy_destroy,
	.pre_score = pre_score,
	.score = score_requested,
};

/*
 * EqualPriority (Score): 1 for every node. ResourceLimitsPriority (Score): 1 for a node whose
 * allocatable covers the pod's cpu or memory limit. Spec: 05b B11.
 */

static struct bt_status score_equal(BT_UNUSED struct bt_plugin *plugin,
	BT_UNUSED struct bt_cycle_state *cycle, BT_UNUSED const struct bt_pod_info *pod,
	BT_UNUSED const struct bt_node_info *node, int64_t *out_score)
{
	*out_score = 1;
	return BT_STATUS_OK;
}

static bool is_within_allocatable(int64_t allocatable, int64_t limit)
{
	return limit != 0 && allocatable != 0 && limit <= allocatable;
}

static struct bt_resource *compute_limits(const struct bt_pod_info *pod, struct bt_arena *arena)
{
	struct bt_resource *limits = BT_ARENA_NEW(arena, struct bt_resource);

	*limits = bt_legacy_pod_resources(bt_plugin_pod_spec(pod), true, arena);
	return limits;
}

static struct bt_status pre_score_limits(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, BT_UNUSED const uint32_t *slots,
	BT_UNUSED uint32_t slot_count)
{
	cycle->pre_score_data[plugin->index] = compute_limits(pod, cycle->arena);
	return BT_STATUS_OK;
}

static struct bt_status score_limits(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node, int64_t *out_score)
{
	const struct bt_resource *limits = cycle->pre_score_data[plugin->index];

	if (limits == NULL) {
		limits = compute_limits(pod, cycle->arena);
	}
	*out_score = is_within_allocatable(node->allocatable[BT_CPU_MILLI], limits->cpu_milli) ||
			is_within_allocatable(
				node->allocatable[BT_MEMORY_BYTES], limits->memory_bytes)
		? 1
		: 0;
	return BT_STATUS_OK;
}

const struct bt_plugin_ops bt_legacy_equal_priority_plugin = {
	.name = "EqualPriority",
	.init = bt_legacy_init_plain,
	.score = score_equal,
};

const struct bt_plugin_ops bt_legacy_resource_limits_priority_plugin = {
	.name = "ResourceLimitsPriority",
	.init = bt_legacy_init_plain,
	.pre_score = pre_score_limits,
	.score = score_limits,
};

/*
 * ImageLocalityPriority (Score): ImageLocality as before v1.19. Only images of containers count,
 * and the thresholds do not depend on the number of containers. Spec: 05b B12, 05 section 13.
 */

static bt_str_list *compute_names(const struct bt_pod_info *pod, struct bt_arena *arena)
{
	const bt_container_list *containers = &bt_plugin_pod_spec(pod)->containers;
	bt_str_list *names = BT_ARENA_NEW(arena, bt_str_list);

	names->items = BT_ARENA_NEW_ARRAY(arena, struct bt_str, containers->count);
	for (uint32_t i = 0; i < containers->count; i++) {
		names->items[names->count++] =
			bt_image_normalized_name(containers->items[i].image, arena);
	}
	return names;
}

static struct bt_status pre_score_images(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, BT_UNUSED const uint32_t *slots,
	BT_UNUSED uint32_t slot_count)
{
	cycle->pre_score_data[plugin->index] = compute_names(pod, cycle->arena);
	return BT_STATUS_OK;
}

static struct bt_status score_images(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node, int64_t *out_score)
{
	const bt_str_list *names = cycle->pre_score_data[plugin->index];

	if (names == NULL) {
		names = compute_names(pod, cycle->arena);
	}
	*out_score = bt_image_locality_score(names, 1, node);
	return BT_STATUS_OK;
}

const struct bt_plugin_ops bt_legacy_image_locality_priority_plugin = {
	.name = "ImageLocalityPriority",
	.init = bt_legacy_init_plain,
	.pre_score = pre_score_images,
	.score = score_images,
};

/*
 * NodePreferAvoidPods (Score): a node annotation names controllers whose pods should avoid the
 * node. The plugin is meant for a weight that dominates all other scores (10000). Spec: 05b B8.
 */

static struct bt_status score_avoidance(BT_UNUSED struct bt_plugin *plugin,
	BT_UNUSED struct bt_cycle_state *cycle, const struct bt_pod_info *pod,
	const struct bt_node_info *node, int64_t *out_score)
{
	const struct bt_owner_reference *controller =
		pod->object != NULL ? bt_object_controller(&pod->object->metadata) : NULL;
	bool is_considered = controller != NULL &&
		(bt_str_equal_c(controller->kind, "ReplicationController") ||
			bt_str_equal_c(controller->kind, "ReplicaSet"));
	struct bt_str annotation = bt_node_info_prefer_avoid_pods(node);
	struct bt_arena arena = {0};
	struct bt_avoid_pods avoid = {0};
	struct bt_json_reader reader;

	*out_score = BT_SCORE_MAX;
	bt_json_reader_init(&reader, annotation);
	/* An invalid annotation is ignored. */
	if (is_considered && annotation.length != 0 &&
		bt_message_decode_json(&bt_avoid_pods_message, &reader, &arena, &avoid, NULL) ==
			0 &&
		bt_json_expect_end(&reader, NULL) == 0) {
		for (uint32_t i = 0; i < avoid.prefer_avoid_pods.count; i++) {
			const struct bt_owner_reference *entry =
				avoid.prefer_avoid_pods.items[i].pod_signature.pod_controller;

			if (entry != NULL && bt_str_equal(entry->kind, controller->kind) &&
				bt_str_equal(entry->uid, controller->uid)) {
				*out_score = 0;
			}
		}
	}
	bt_arena_finish(&arena);
	return BT_STATUS_OK;
}

const struct bt_plugin_ops bt_legacy_node_prefer_avoid_pods_plugin = {
	.name = "NodePreferAvoidPods",
	.init = bt_legacy_init_plain,
	.score = score_avoidance,
};
