/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_COMMON_RESOURCE_COLUMNS_H
#define BT_PLUGINS_COMMON_RESOURCE_COLUMNS_H
/**
 * Resource scores over many slots at once. Same answers as the integer formulas of spec 05 sections 11.5 and 12.3, computed
 * in doubles so that the compiler can vectorise them: with all amounts in [0, 2^44) every product and quotient here is
 * below 2^52, and a correctly rounded quotient of such integers truncates to the integer quotient. The caller takes the
 * plain form when the node table has wide values (node_table.h: has_wide_values) or the request is wide.
 */
#include <stdbool.h>
#include <stdint.h>

#include "framework/plugin.h"

/** Amounts from here on are "wide". */
#define BT_NARROW_AMOUNT_MAX (INT64_C(1) << 44)

/** One configured resource that takes part: columns by slot, the pod's request, the configured weight (1..100). */
struct bt_resource_column {
	const int64_t *allocatable;
	const int64_t *used;
	int64_t request;
	int32_t weight;
};

/** LeastAllocated (most = false) or MostAllocated. A node without the resource leaves it out of its sums. */
void bt_allocation_score_column(const struct bt_resource_column *columns, uint32_t column_count, bool most,
	struct bt_slot_range range, int32_t *scores);

/** NodeResourcesBalancedAllocation for at most two resources. */
void bt_balanced_score_column(const struct bt_resource_column *columns, uint32_t column_count,
	struct bt_slot_range range, int32_t *scores);
#endif
