/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_NODE_RESOURCES_FIT_H
#define BT_PLUGINS_NODE_RESOURCES_FIT_H
/** The RequestedToCapacityRatio strategy of NodeResourcesFit. Spec: 05 section 11.5. */
#include <stdint.h>

/** Points in ascending order of utilization; scores are on a scale of 0 to 100. */
struct bt_shape_point {
	int64_t utilization;
	int64_t score;
};

/** Interpolate linearly between the points; there is at least one. */
int64_t bt_broken_line(const struct bt_shape_point *points, uint32_t count, int64_t utilization);
#endif
