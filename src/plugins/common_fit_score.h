/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_COMMON_FIT_SCORE_H
#define BT_PLUGINS_COMMON_FIT_SCORE_H
/** The scoring strategies of NodeResourcesFit. Spec: 05 sections 3.9, 11.5, 11.8. */
#include "framework/plugin.h"
#include "plugins/common_resource_score.h"

enum bt_fit_strategy {
	BT_FIT_LEAST_ALLOCATED,
	BT_FIT_MOST_ALLOCATED,
	BT_FIT_REQUESTED_TO_CAPACITY_RATIO,
};

/** Utilization ascending; score on the scale 0 to 100. */
struct bt_shape_point {
	int64_t utilization;
	int64_t score;
};

struct bt_fit_scorer {
	struct bt_scored_resources resources;
	enum bt_fit_strategy strategy;
	struct bt_shape_point *shape; /* owned; BT_FIT_REQUESTED_TO_CAPACITY_RATIO only */
	uint32_t shape_count;
};

/** strategy is valid (bt_plugin_args_validate). */
void bt_fit_scorer_init(struct bt_fit_scorer *scorer, const struct bt_scoring_strategy *strategy,
	const struct bt_handle *handle);
void bt_fit_scorer_finish(struct bt_fit_scorer *scorer);

/** requests: the pod's, one per configured resource. */
int64_t bt_fit_score(const struct bt_fit_scorer *scorer, const int64_t *requests,
	const struct bt_node_info *node);
/** MostAllocated over the sums of a placement's nodes, whatever the strategy. requests: sums over
 * the proposed pods. */
int64_t bt_fit_placement_score(const struct bt_fit_scorer *scorer, const int64_t *requests,
	const struct bt_state *state, const struct bt_placement *placement);

/** Broken line through the points, of which there is at least one. */
int64_t bt_broken_line(const struct bt_shape_point *points, uint32_t count, int64_t utilization);
#endif
