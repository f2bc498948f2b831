/* SPDX-License-Identifier: Apache-2.0 */
/**
 * EqualPriority (Score): 1 for every node. ResourceLimitsPriority (Score): 1 for a node whose
 * allocatable covers the pod's cpu or memory limit. Spec: 05b B11.
 */
#include "plugins/common_legacy.h"
#include "plugins/legacy.h"

static struct bt_status score_equal(BT_UNUSED struct bt_plugin *plugin,
	BT_UNUSED struct bt_cycle_state *cycle, BT_UNUSED const struct bt_pod_info *pod,
	BT_UNUSED const struct bt_node_info *node, int64_t *out_score)
{
	*out_score = 1;
	return BT_STATUS_OK;
}

static bool covers(int64_t allocatable, int64_t limit)
{
	return limit != 0 && allocatable != 0 && limit <= allocatable;
}

static struct bt_resource *compute_limits(const struct bt_pod_info *pod, struct bt_arena *arena)
{
	struct bt_resource *limits = BT_ARENA_NEW(arena, struct bt_resource);

	*limits = bt_legacy_pod_resources(bt_plugin_pod_spec(pod), true, arena);
	return limits;
}

static struct bt_status pre_score_limits(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, BT_UNUSED const uint32_t *slots,
	BT_UNUSED uint32_t slot_count)
{
	bt_plugin_set_pre_score_data(plugin, cycle, compute_limits(pod, cycle->arena));
	return BT_STATUS_OK;
}

static struct bt_status score_limits(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node, int64_t *out_score)
{
	const struct bt_resource *limits = bt_plugin_pre_score_data(plugin, cycle);

	if (limits == NULL) {
		limits = compute_limits(pod, cycle->arena);
	}
	*out_score = covers(node->allocatable_cpu_milli, limits->cpu_milli) ||
			covers(node->allocatable_memory_bytes, limits->memory_bytes)
		? 1
		: 0;
	return BT_STATUS_OK;
}

const struct bt_plugin_ops bt_legacy_equal_priority_plugin = {
	.name = "EqualPriority",
	.create = bt_legacy_create_plain,
	.destroy = bt_plain_plugin_destroy,
	.score = score_equal,
};

const struct bt_plugin_ops bt_legacy_resource_limits_priority_plugin = {
	.name = "ResourceLimitsPriority",
	.create = bt_legacy_create_plain,
	.destroy = bt_plain_plugin_destroy,
	.pre_score = pre_score_limits,
	.score = score_limits,
};
