/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include "base/assert.h"
#include "berth/pod_info.h"
#include "lib/convert.h"
#include "state/shape.h"

BT_LIB_GETTER(struct berth_str, berth_pod_info_name, pod_info, name)
BT_LIB_GETTER(struct berth_str, berth_pod_info_namespace, pod_info, namespace_)
BT_LIB_GETTER(berth_uid, berth_pod_info_uid, pod_info, uid)

struct berth_str berth_pod_info_label(const struct berth_pod_info *pod, struct berth_str key)
{
	return bt_lib_map_value(bt_const_pod_info_of(pod)->labels, key);
}

BT_LIB_GETTER(uint32_t, berth_pod_info_label_count, pod_info, labels->count)

void berth_pod_info_label_at(const struct berth_pod_info *pod, uint32_t index,
	struct berth_str *out_key, struct berth_str *out_value)
{
	const struct bt_str_map *labels = bt_const_pod_info_of(pod)->labels;

	BT_ASSERT(index < labels->count);
	if (out_key != NULL) {
		*out_key = labels->items[index].key;
	}
	if (out_value != NULL) {
		*out_value = labels->items[index].value;
	}
}

BT_LIB_GETTER(int32_t, berth_pod_info_priority, pod_info, priority)
BT_LIB_GETTER(struct berth_str, berth_pod_info_node_name, pod_info, node_name)
BT_LIB_GETTER(struct berth_str, berth_pod_info_nominated_node_name, pod_info, nominated_node_name)
BT_LIB_GETTER(
	struct berth_str, berth_pod_info_scheduler_name, pod_info, shape->pod->spec.scheduler_name)
BT_LIB_GETTER(int64_t, berth_pod_info_cpu_milli, pod_info, shape->requested_cpu_milli)
BT_LIB_GETTER(int64_t, berth_pod_info_memory_bytes, pod_info, shape->requested_memory_bytes)
BT_LIB_GETTER(
	int64_t, berth_pod_info_ephemeral_storage_bytes, pod_info, shape->requested_ephemeral_bytes)

const struct berth_pod *berth_pod_info_pod(const struct berth_pod_info *pod)
{
	return berth_const_pod_of(bt_const_pod_info_of(pod)->object);
}

static struct bt_str_map *copy_labels(const struct bt_str_map *labels, struct bt_arena *arena)
{
	struct bt_str_map *copy = BT_ARENA_NEW(arena, struct bt_str_map);
	struct bt_str_pair *items = BT_ARENA_NEW_ARRAY(arena, struct bt_str_pair, labels->count);

	*copy = *labels;
	copy->items = items;
	for (uint32_t i = 0; i < labels->count; i++) {
		items[i].key = bt_arena_str(arena, labels->items[i].key);
		items[i].value = bt_arena_str(arena, labels->items[i].value);
	}
	return copy;
}

/** Copies the part of the shape that the accessors of pod_info.h read. */
static struct bt_shape *copy_shape(const struct bt_shape *shape, struct bt_arena *arena)
{
	struct bt_shape *copy = BT_ARENA_NEW(arena, struct bt_shape);
	struct bt_pod *pod = BT_ARENA_NEW(arena, struct bt_pod);

	pod->spec.scheduler_name = bt_arena_str(arena, shape->pod->spec.scheduler_name);
	copy->pod = pod;
	copy->requested_cpu_milli = shape->requested_cpu_milli;
	copy->requested_memory_bytes = shape->requested_memory_bytes;
	copy->requested_ephemeral_bytes = shape->requested_ephemeral_bytes;
	return copy;
}

struct berth_queued_pod *berth_queued_pod_deep_copy(
	const struct berth_queued_pod *pod, struct berth_arena *outside)
{
	struct bt_arena *arena = bt_arena_of(outside);
	const struct bt_pod_info *original = bt_const_pod_info_of(pod->pod);
	struct berth_queued_pod *copy = BT_ARENA_NEW(arena, struct berth_queued_pod);

	*copy = *pod;
	if (original != NULL) {
		struct bt_pod_info *info = BT_ARENA_NEW(arena, struct bt_pod_info);

		*info = (struct bt_pod_info){
			.name = bt_arena_str(arena, original->name),
			.namespace_ = bt_arena_str(arena, original->namespace_),
			.uid = bt_arena_str(arena, original->uid),
			.labels = copy_labels(original->labels, arena),
			.shape = copy_shape(original->shape, arena),
			.label_set = BT_LABEL_SET_NONE,
			.priority = original->priority,
			.start_seconds = original->start_seconds,
			.node_name = bt_arena_str(arena, original->node_name),
			.nominated_node_name = bt_arena_str(arena, original->nominated_node_name),
			.pod_id = BT_POD_NONE,
		};
		copy->pod = berth_const_pod_info_of(info);
	}
	return copy;
}
