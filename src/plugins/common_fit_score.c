/* SPDX-License-Identifier: Apache-2.0 */
#include "plugins/common_fit_score.h"

#include <math.h>

#include "base/alloc.h"
#include "plugins/common_plugin.h"

/* Shape points are written on a scale of 0 to 10. */
#define CUSTOM_SCORE_SCALE 10

void bt_fit_scorer_init(struct bt_fit_scorer *scorer, const struct bt_scoring_strategy *strategy,
	const struct bt_handle *handle)
{
	*scorer = (struct bt_fit_scorer){0};
	bt_scored_resources_init(&scorer->resources, &strategy->resources, handle);
	if (bt_str_equal_c(strategy->type, "MostAllocated")) {
		scorer->strategy = BT_FIT_MOST_ALLOCATED;
	}
	if (bt_str_equal_c(strategy->type, "RequestedToCapacityRatio")) {
		const bt_utilization_shape_point_list *shape =
			&strategy->requested_to_capacity_ratio->shape;

		scorer->strategy = BT_FIT_REQUESTED_TO_CAPACITY_RATIO;
		scorer->shape = BT_NEW_ARRAY(struct bt_shape_point, shape->count);
		scorer->shape_count = shape->count;
		for (uint32_t i = 0; i < shape->count; i++) {
			scorer->shape[i].utilization = shape->items[i].utilization;
			scorer->shape[i].score =
				(int64_t)shape->items[i].score * CUSTOM_SCORE_SCALE;
		}
	}
}

void bt_fit_scorer_finish(struct bt_fit_scorer *scorer)
{
	bt_scored_resources_finish(&scorer->resources);
	bt_free(scorer->shape);
	*scorer = (struct bt_fit_scorer){0};
}

int64_t bt_broken_line(const struct bt_shape_point *points, uint32_t count, int64_t utilization)
{
	if (utilization <= points[0].utilization) {
		return points[0].score;
	}
	for (uint32_t i = 1; i < count; i++) {
		const struct bt_shape_point *low = &points[i - 1];
		const struct bt_shape_point *high = &points[i];

		if (utilization <= high->utilization) {
			return low->score +
				(high->score - low->score) * (utilization - low->utilization) /
				(high->utilization - low->utilization);
		}
	}
	return points[count - 1].score;
}

static int64_t ratio_points(const struct bt_fit_scorer *scorer, const struct bt_score_entry *entry)
{
	int64_t utilization = BT_SCORE_MAX;

	if (entry->requested <= entry->capacity) {
		utilization =
			bt_wrap_div(bt_wrap_mul(entry->requested, BT_SCORE_MAX), entry->capacity);
	}
	return bt_broken_line(scorer->shape, scorer->shape_count, utilization);
}

static int64_t points_of(const struct bt_fit_scorer *scorer, const struct bt_score_entry *entry)
{
	switch (scorer->strategy) {
	case BT_FIT_LEAST_ALLOCATED:
		if (entry->requested > entry->capacity) {
			return 0;
		}
		return bt_wrap_div(
			bt_wrap_mul(bt_wrap_sub(entry->capacity, entry->requested), BT_SCORE_MAX),
			entry->capacity);
	case BT_FIT_MOST_ALLOCATED:
		return bt_most_allocated_points(entry->requested, entry->capacity);
	case BT_FIT_REQUESTED_TO_CAPACITY_RATIO:
		return ratio_points(scorer, entry);
	}
	return 0;
}

int64_t bt_fit_score(const struct bt_fit_scorer *scorer, const int64_t *requests,
	const struct bt_node_info *node)
{
	bool is_ratio = scorer->strategy == BT_FIT_REQUESTED_TO_CAPACITY_RATIO;
	int64_t score = 0;
	int64_t weights = 0;

	for (uint32_t i = 0; i < scorer->resources.count; i++) {
		struct bt_score_entry entry;
		int64_t points;

		if (!bt_score_entry_find(&scorer->resources.items[i], requests[i], node,
			    BT_SCORE_NON_ZERO, &entry)) {
			continue;
		}
		points = points_of(scorer, &entry);
		if (is_ratio && points <= 0) {
			continue;
		}
		score = bt_wrap_add(score, bt_wrap_mul(points, entry.weight));
		weights = bt_wrap_add(weights, entry.weight);
	}
	if (weights == 0) {
		return 0;
	}
	return is_ratio ? bt_trunc_to_i64(round((double)score / (double)weights))
			: bt_wrap_div(score, weights);
}

/* Sums over the nodes of a placement. */
static void sum_placement(const struct bt_scored_resource *resource, const struct bt_state *state,
	const struct bt_placement *placement, int64_t *out_capacity, int64_t *out_used)
{
	int64_t capacity_sum = 0;
	int64_t used_sum = 0;

	for (uint32_t i = 0; i < placement->count; i++) {
		struct bt_node_info node;
		int64_t capacity;
		int64_t used;

		bt_node_info_init(&node, state, placement->slots[i]);
		bt_scored_resource_read(resource, &node, BT_SCORE_NON_ZERO, &capacity, &used);
		if (capacity == 0 && resource->kind == BT_SCORED_SCALAR) {
			continue;
		}
		capacity_sum = bt_wrap_add(capacity_sum, capacity);
		used_sum = bt_wrap_add(used_sum, used);
	}
	*out_capacity = capacity_sum;
	*out_used = used_sum;
}

int64_t bt_fit_placement_score(const struct bt_fit_scorer *scorer, const int64_t *requests,
	const struct bt_state *state, const struct bt_placement *placement)
{
	int64_t score = 0;
	int64_t weights = 0;

	for (uint32_t i = 0; i < scorer->resources.count; i++) {
		const struct bt_scored_resource *resource = &scorer->resources.items[i];
		int64_t capacity;
		int64_t used;
		int64_t points;

		if (requests[i] == 0 && resource->kind == BT_SCORED_SCALAR) {
			continue;
		}
		sum_placement(resource, state, placement, &capacity, &used);
		if (capacity == 0) {
			continue;
		}
		points = bt_most_allocated_points(bt_wrap_add(used, requests[i]), capacity);
		score = bt_wrap_add(score, bt_wrap_mul(points, resource->weight));
		weights = bt_wrap_add(weights, resource->weight);
	}
	return weights == 0 ? 0 : bt_wrap_div(score, weights);
}
