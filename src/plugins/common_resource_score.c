/* SPDX-License-Identifier: Apache-2.0 */
#include "plugins/common_resource_score.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/cpu.h"
#include "base/wrap.h"
#include "dra/device_totals.h"
#include "plugins/common_plugin.h"

void bt_scored_resources_init(struct bt_scored_resources *resources,
	const bt_resource_spec_list *list, const struct bt_handle *handle)
{
	struct bt_dra *dra = bt_dra_of(handle->state, handle->gates);

	resources->count = list->count;
	resources->items = BT_NEW_ARRAY(struct bt_scored_resource, list->count);
	for (uint32_t i = 0; i < list->count; i++) {
		struct bt_scored_resource *resource = &resources->items[i];

		resource->name = list->items[i].name;
		resource->weight = list->items[i].weight;
		resource->kind = bt_resource_is_scalar(resource->name) ? BT_SCORED_SCALAR
								       : BT_SCORED_UNTRACKED;
		for (uint32_t k = 0; k < BT_STANDARD__COUNT; k++) {
			if (bt_str_equal(resource->name, bt_standard_names[k])) {
				resource->kind = k;
			}
		}
		resource->column = resource->kind == BT_SCORED_SCALAR
			? bt_node_table_scalar(&handle->state->nodes, resource->name)
			: UINT32_MAX;
		resource->dra = bt_resource_is_dra_extended(resource->name) ? dra : NULL;
		resource->handle = handle;
	}
}

int64_t *bt_scored_resources_request(const struct bt_scored_resources *resources,
	const struct bt_resource_list *request, struct bt_arena *arena)
{
	int64_t *values = BT_ARENA_NEW_ARRAY(arena, int64_t, resources->count);

	for (uint32_t i = 0; i < resources->count; i++) {
		const struct bt_quantity *quantity =
			bt_resource_list_find(request, resources->items[i].name);

		if (quantity != NULL) {
			values[i] = resources->items[i].kind == BT_CPU_MILLI
				? bt_quantity_milli(quantity)
				: bt_quantity_value(quantity);
		}
	}
	return values;
}

void bt_scored_resource_read(const struct bt_scored_resource *resource,
	const struct bt_node_info *node, enum bt_score_usage usage, int64_t *out_capacity,
	int64_t *out_used)
{
	uint32_t kind = resource->kind;

	*out_capacity = 0;
	*out_used = 0;
	if (kind < BT_STANDARD__COUNT) {
		*out_capacity = node->allocatable[kind];
		*out_used = usage == BT_SCORE_NON_ZERO && kind < BT_NON_ZERO_COUNT
			? node->non_zero[kind]
			: node->requested[kind];
	} else if (kind == BT_SCORED_SCALAR) {
		*out_capacity = bt_node_info_scalar_allocatable(node, resource->column);
		*out_used = bt_node_info_scalar_requested(node, resource->column);
	}
}

static const struct bt_device_class *class_behind(const struct bt_scored_resource *resource)
{
	return resource->dra != NULL
		? bt_device_class_for_resource(&resource->dra->classes, resource->name)
		: NULL;
}

bool bt_scored_resources_need_devices(
	const struct bt_scored_resources *resources, const int64_t *requests)
{
	for (uint32_t i = 0; i < resources->count; i++) {
		if (requests[i] != 0 && class_behind(&resources->items[i]) != NULL) {
			return true;
		}
	}
	return false;
}

bool bt_score_entry_find(const struct bt_scored_resource *resource, int64_t pod_request,
	const struct bt_node_info *node, enum bt_score_usage usage,
	struct bt_score_entry *out_entry)
{
	int64_t capacity;
	int64_t used;

	if (pod_request == 0 && resource->kind == BT_SCORED_SCALAR) {
		return false;
	}
	bt_scored_resource_read(resource, node, usage, &capacity, &used);
	if (capacity == 0) {
		/*
		 * If the node has no capacity of the resource, count the devices of the class that
		 * provides it.
		 */
		const struct bt_device_class *device_class = class_behind(resource);
		struct bt_device_totals totals;

		if (device_class != NULL) {
			totals = bt_dra_device_totals(resource->dra, device_class, node->slot);
			if (resource->handle->verify) {
				struct bt_device_totals plain = bt_dra_device_totals_anew(
					resource->dra, device_class, node->slot);

				if (totals.devices != plain.devices ||
					totals.allocated != plain.allocated) {
					bt_panic("devices for %.*s on node %.*s: cached %" PRId64
						 "/%" PRId64 ", counted %" PRId64 "/%" PRId64,
						BT_STR_ARG(resource->name),
						BT_STR_ARG(bt_node_info_name(node)),
						totals.allocated, totals.devices, plain.allocated,
						plain.devices);
				}
			}
			if (totals.devices > 0) {
				capacity = totals.devices;
				used = totals.allocated;
			}
		}
	}
	if (capacity == 0) {
		return false;
	}
	*out_entry = (struct bt_score_entry){
		.capacity = capacity,
		.used = used,
		.requested = bt_wrap_add(used, pod_request),
		.weight = resource->weight,
	};
	return true;
}

int64_t bt_most_allocated_points(int64_t requested, int64_t capacity)
{
	if (requested > capacity) {
		requested = capacity;
	}
	return bt_wrap_div(bt_wrap_mul(requested, BT_SCORE_MAX), capacity);
}

void bt_lacks_add(struct bt_lacks *lacks, struct bt_str reason, bool is_unresolvable)
{
	if (lacks->reasons == NULL) {
		lacks->reasons = BT_ARENA_NEW_ARRAY(lacks->arena, struct bt_str, lacks->capacity);
	}
	lacks->reasons[lacks->count++] = reason;
	lacks->is_unresolvable |= is_unresolvable;
}

void bt_lacks_check(struct bt_lacks *lacks, struct bt_str reason, int64_t request,
	int64_t allocatable, int64_t requested)
{
	if (request > 0 && request > bt_wrap_sub(allocatable, requested)) {
		bt_lacks_add(lacks, reason, request > allocatable);
	}
}

_Static_assert((int)BT_REASON_INSUFFICIENT_CPU + (int)BT_EPHEMERAL_BYTES ==
		(int)BT_REASON_INSUFFICIENT_EPHEMERAL_STORAGE,
	"the reasons follow the order of the resources");

void bt_lacks_check_standard(struct bt_lacks *lacks, const struct bt_node_info *node,
	const int64_t requests[BT_STANDARD__COUNT])
{
	for (uint32_t i = 0; i < BT_STANDARD__COUNT; i++) {
		bt_lacks_check(lacks, bt_reason_texts[BT_REASON_INSUFFICIENT_CPU + i], requests[i],
			node->allocatable[i], node->requested[i]);
	}
}

struct bt_status bt_lacks_status(const struct bt_lacks *lacks)
{
	if (lacks->count == 0) {
		return BT_STATUS_OK;
	}
	return (struct bt_status){
		.code = lacks->is_unresolvable ? BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE
					       : BT_STATUS_UNSCHEDULABLE,
		.reason_count = lacks->count,
		.reasons = lacks->reasons,
	};
}

struct bt_resource_gates bt_resource_gates_of(const struct bt_gates *gates)
{
	return (struct bt_resource_gates){
		.pod_level_resources = bt_gate_enabled(gates, BT_GATE_POD_LEVEL_RESOURCES),
		.in_place_pod_level_resources = bt_gate_enabled(
			gates, BT_GATE_IN_PLACE_POD_LEVEL_RESOURCES_VERTICAL_SCALING),
		.dra_node_allocatable_resources =
			bt_gate_enabled(gates, BT_GATE_DRA_NODE_ALLOCATABLE_RESOURCES),
	};
}

bool bt_score_amounts_are_narrow(
	const struct bt_state *state, const int64_t *requests, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (requests[i] < 0 || requests[i] >= BT_NARROW_AMOUNT_MAX) {
			return false;
		}
	}
	return !state->nodes.has_wide_values;
}

static struct bt_resource_column column_of(const struct bt_node_table *nodes,
	const struct bt_scored_resource *resource, enum bt_score_usage usage)
{
	uint32_t kind = resource->kind;
	bool has_default = kind < BT_NON_ZERO_COUNT;

	if (kind < BT_STANDARD__COUNT) {
		return (struct bt_resource_column){
			.allocatable = nodes->allocatable[kind],
			.inverse = has_default ? nodes->inverse[kind] : NULL,
			.used = has_default && usage == BT_SCORE_NON_ZERO ? nodes->non_zero[kind]
									  : nodes->requested[kind],
		};
	}
	return (struct bt_resource_column){
		.allocatable = nodes->scalars.items[resource->column].allocatable,
		.used = nodes->scalars.items[resource->column].requested,
	};
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
