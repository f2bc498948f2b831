/* SPDX-License-Identifier: Apache-2.0 */
#include "berth/node_info.h"

#include <stddef.h>

#include "lib/convert.h"

struct berth_str berth_node_info_name(const struct berth_node_info *node)
{
	return bt_node_info_name(bt_const_node_info_of(node));
}

struct berth_str berth_node_info_label(const struct berth_node_info *node, struct berth_str key)
{
	const struct bt_str *value =
		bt_str_map_find(bt_node_info_labels(bt_const_node_info_of(node)), key);

	return value != NULL ? *value : (struct bt_str){NULL, 0};
}

bool berth_node_info_unschedulable(const struct berth_node_info *node)
{
	return bt_node_info_unschedulable(bt_const_node_info_of(node));
}

int64_t berth_node_info_allocatable_cpu_milli(const struct berth_node_info *node)
{
	return bt_const_node_info_of(node)->allocatable_cpu_milli;
}

int64_t berth_node_info_allocatable_memory_bytes(const struct berth_node_info *node)
{
	return bt_const_node_info_of(node)->allocatable_memory_bytes;
}

int64_t berth_node_info_requested_cpu_milli(const struct berth_node_info *node)
{
	return bt_const_node_info_of(node)->requested_cpu_milli;
}

int64_t berth_node_info_requested_memory_bytes(const struct berth_node_info *node)
{
	return bt_const_node_info_of(node)->requested_memory_bytes;
}

uint32_t berth_node_info_pod_count(const struct berth_node_info *node)
{
	return bt_node_info_pod_count(bt_const_node_info_of(node));
}

const struct berth_pod_info *berth_node_info_pod_at(
	const struct berth_node_info *node, uint32_t index, struct berth_arena *arena)
{
	struct bt_pod_info *info = BT_ARENA_NEW(bt_arena_of(arena), struct bt_pod_info);

	bt_node_info_pod_at(bt_const_node_info_of(node), index, info);
	return berth_const_pod_info_of(info);
}
