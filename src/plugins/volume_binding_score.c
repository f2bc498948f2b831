/* SPDX-License-Identifier: Apache-2.0 */
/* Score of VolumeBinding: how full the storage gets that the pod would take. Spec: 07 section 10.
 */
#include <math.h>

#include "plugins/common_plugin.h"
#include "plugins/common_volume.h"
#include "plugins/volume_binding.h"

struct class_use {
	struct bt_str class_name;
	int64_t requested;
	int64_t capacity;
};

struct class_uses {
	struct class_use *items;
	uint32_t count;
};

static struct class_use *use_of(struct class_uses *uses, struct bt_str class_name)
{
	for (uint32_t i = 0; i < uses->count; i++) {
		if (bt_str_equal(uses->items[i].class_name, class_name)) {
			return &uses->items[i];
		}
	}
	uses->items[uses->count] = (struct class_use){.class_name = class_name};
	return &uses->items[uses->count++];
}

static int64_t request_bytes(const struct bt_persistent_volume_claim *claim)
{
	const struct bt_quantity *request = bt_claim_request(claim);

	return request != NULL ? bt_quantity_value(request) : 0;
}

static struct class_uses collect(const struct bt_pod_volumes *volumes, struct bt_arena *arena)
{
	struct class_uses uses = {0};

	uses.items = BT_ARENA_NEW_ARRAY(
		arena, struct class_use, (size_t)volumes->static_count + volumes->dynamic_count);
	for (uint32_t i = 0; i < volumes->static_count; i++) {
		const struct bt_static_binding *binding = &volumes->static_bindings[i];
		struct class_use *use = use_of(&uses, binding->volume->spec.storage_class_name);

		use->requested = bt_wrap_add(use->requested, request_bytes(binding->claim));
		use->capacity = bt_wrap_add(
			use->capacity, bt_quantity_value(bt_volume_capacity(binding->volume)));
	}
	if (volumes->static_count != 0) {
		return uses; /* volumes to be made do not count beside existing ones */
	}
	for (uint32_t i = 0; i < volumes->dynamic_count; i++) {
		const struct bt_dynamic_provision *provision = &volumes->dynamic_provisions[i];
		struct class_use *use;

		if (provision->node_capacity == NULL) {
			continue;
		}
		use = use_of(&uses, bt_persistent_volume_claim_class(provision->claim));
		use->requested = bt_wrap_add(use->requested, request_bytes(provision->claim));
		use->capacity = provision->node_capacity->capacity != NULL
			? bt_quantity_value(provision->node_capacity->capacity)
			: 0;
	}
	return uses;
}

static int64_t class_score(const struct bt_volume_shape_point *shape, uint32_t point_count,
	const struct class_use *use)
{
	int64_t utilization = 100;

	if (use->capacity != 0 && use->requested <= use->capacity) {
		utilization = bt_wrap_div(bt_wrap_mul(use->requested, 100), use->capacity);
	}
	/* f of spec 07 section 10; integer division toward zero. */
	for (uint32_t i = 0; i < point_count; i++) {
		if (utilization > shape[i].utilization) {
			continue;
		}
		if (i == 0) {
			return shape[0].score;
		}
		return shape[i - 1].score +
			(shape[i].score - shape[i - 1].score) *
			(utilization - shape[i - 1].utilization) /
			(shape[i].utilization - shape[i - 1].utilization);
	}
	return point_count != 0 ? shape[point_count - 1].score : 0;
}

int64_t bt_volume_score(const struct bt_volume_shape_point *shape, uint32_t point_count,
	const struct bt_pod_volumes *volumes, struct bt_arena *arena)
{
	struct class_uses uses;
	int64_t sum = 0;

	if (volumes == NULL) {
		return 0;
	}
	uses = collect(volumes, arena);
	if (uses.count == 0) {
		return 0;
	}
	for (uint32_t i = 0; i < uses.count; i++) {
		sum = bt_wrap_add(sum, class_score(shape, point_count, &uses.items[i]));
	}
	return bt_trunc_to_i64(round((double)sum / (double)uses.count));
}
