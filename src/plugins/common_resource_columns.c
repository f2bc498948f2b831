/* SPDX-License-Identifier: Apache-2.0 */
#include "plugins/common_resource_columns.h"

#include "base/cpu.h"

bool bt_requests_are_narrow(const int64_t *requests, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (requests[i] < 0 || requests[i] >= BT_NARROW_AMOUNT_MAX) {
			return false;
		}
	}
	return true;
}

static struct bt_resource_column column_of(const struct bt_node_table *nodes,
	const struct bt_scored_resource *resource, enum bt_score_usage usage)
{
	bool non_zero = usage == BT_SCORE_NON_ZERO;
	switch (resource->kind) {
	case BT_SCORED_CPU:
		return (struct bt_resource_column){.allocatable = nodes->allocatable_cpu_milli,
			.inverse = nodes->inverse_cpu,
			.used = non_zero ? nodes->non_zero_cpu_milli : nodes->requested_cpu_milli};
	case BT_SCORED_MEMORY:
		return (struct bt_resource_column){.allocatable = nodes->allocatable_memory_bytes,
			.inverse = nodes->inverse_memory,
			.used = non_zero ? nodes->non_zero_memory_bytes
					 : nodes->requested_memory_bytes};
	case BT_SCORED_EPHEMERAL_STORAGE:
		return (struct bt_resource_column){
			.allocatable = nodes->allocatable_ephemeral_bytes,
			.used = nodes->requested_ephemeral_bytes};
	case BT_SCORED_SCALAR:
		return (struct bt_resource_column){
			.allocatable = nodes->scalars.items[resource->column].allocatable,
			.used = nodes->scalars.items[resource->column].requested};
	case BT_SCORED_UNTRACKED:
		break;
	}
	return (struct bt_resource_column){0};
}

bool bt_resource_columns_collect(const struct bt_scored_resources *resources,
	const int64_t *requests, const struct bt_state *state, enum bt_score_usage usage,
	struct bt_resource_column *out_columns, uint32_t *out_count)
{
	uint32_t count = 0;
	if (resources->count > BT_RESOURCE_COLUMNS_MAX) {
		return false;
	}
	for (uint32_t i = 0; i < resources->count; i++) {
		const struct bt_scored_resource *resource = &resources->items[i];
		if (resource->weight < 0 || resource->weight > BT_SCORE_MAX) {
			return false;
		}
		if (resource->kind == BT_SCORED_UNTRACKED ||
			(resource->kind == BT_SCORED_SCALAR && requests[i] == 0)) {
			continue;
		}
		out_columns[count] = column_of(&state->nodes, resource, usage);
		out_columns[count].request = requests[i];
		out_columns[count].weight = (int32_t)resource->weight;
		count++;
	}
	*out_count = count;
	return true;
}

const struct bt_resource_kernels *bt_resource_kernels_for_cpu(void)
{
#ifdef BT_HAVE_AVX2_KERNELS
	if (bt_cpu_has_avx512()) {
		return &bt_resource_kernels_avx512;
	}
	if (bt_cpu_has_avx2()) {
		return &bt_resource_kernels_avx2;
	}
#endif
	return &bt_resource_kernels_plain;
}
