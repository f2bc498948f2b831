/* SPDX-License-Identifier: Apache-2.0 */
#include "berth/pod_info.h"

#include <stddef.h>

#include "base/assert.h"
#include "lib/convert.h"
#include "state/shape.h"

struct berth_str berth_pod_info_name(const struct berth_pod_info *pod)
{
	return bt_const_pod_info_of(pod)->name;
}

struct berth_str berth_pod_info_namespace(const struct berth_pod_info *pod)
{
	return bt_const_pod_info_of(pod)->namespace_;
}

berth_uid berth_pod_info_uid(const struct berth_pod_info *pod)
{
	return bt_const_pod_info_of(pod)->uid;
}

struct berth_str berth_pod_info_label(const struct berth_pod_info *pod, struct berth_str key)
{
	const struct bt_str *value = bt_str_map_find(bt_const_pod_info_of(pod)->labels, key);

	return value != NULL ? *value : (struct bt_str){NULL, 0};
}

uint32_t berth_pod_info_label_count(const struct berth_pod_info *pod)
{
	return bt_const_pod_info_of(pod)->labels->count;
}

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

int32_t berth_pod_info_priority(const struct berth_pod_info *pod)
{
	return bt_const_pod_info_of(pod)->priority;
}

struct berth_str berth_pod_info_node_name(const struct berth_pod_info *pod)
{
	return bt_const_pod_info_of(pod)->node_name;
}

struct berth_str berth_pod_info_nominated_node_name(const struct berth_pod_info *pod)
{
	return bt_const_pod_info_of(pod)->nominated_node_name;
}

struct berth_str berth_pod_info_scheduler_name(const struct berth_pod_info *pod)
{
	return (&bt_const_pod_info_of(pod)->shape->pod->spec)->scheduler_name;
}

int64_t berth_pod_info_cpu_milli(const struct berth_pod_info *pod)
{
	return bt_const_pod_info_of(pod)->shape->requested_cpu_milli;
}

int64_t berth_pod_info_memory_bytes(const struct berth_pod_info *pod)
{
	return bt_const_pod_info_of(pod)->shape->requested_memory_bytes;
}

int64_t berth_pod_info_ephemeral_storage_bytes(const struct berth_pod_info *pod)
{
	return bt_const_pod_info_of(pod)->shape->requested_ephemeral_bytes;
}

const struct berth_pod *berth_pod_info_pod(const struct berth_pod_info *pod)
{
	return berth_const_pod_of(bt_const_pod_info_of(pod)->object);
}
