/* SPDX-License-Identifier: Apache-2.0 */
#include "plugins/common_inert.h"

#include "base/compiler.h"

struct bt_status bt_inert_pre_enqueue(BT_UNUSED struct bt_plugin *plugin,
	BT_UNUSED const struct bt_pod_info *pod, BT_UNUSED struct bt_arena *arena)
{
	return BT_STATUS_OK;
}

bool bt_inert_pre_enqueue_passes(
	BT_UNUSED struct bt_plugin *plugin, BT_UNUSED const struct bt_shape *shape)
{
	return true;
}

struct bt_status bt_inert_pre_filter(BT_UNUSED struct bt_plugin *plugin,
	BT_UNUSED struct bt_cycle_state *cycle, BT_UNUSED const struct bt_pod_info *pod,
	BT_UNUSED struct bt_pre_filter_result *out_result)
{
	return bt_status_code_only(BT_STATUS_SKIP);
}

struct bt_status bt_inert_filter(BT_UNUSED struct bt_plugin *plugin,
	BT_UNUSED struct bt_cycle_state *cycle, BT_UNUSED const struct bt_pod_info *pod,
	BT_UNUSED const struct bt_node_info *node)
{
	return BT_STATUS_OK;
}

struct bt_status bt_inert_pre_score(BT_UNUSED struct bt_plugin *plugin,
	BT_UNUSED struct bt_cycle_state *cycle, BT_UNUSED const struct bt_pod_info *pod,
	BT_UNUSED const uint32_t *slots, BT_UNUSED uint32_t slot_count)
{
	return bt_status_code_only(BT_STATUS_SKIP);
}

struct bt_status bt_inert_score(BT_UNUSED struct bt_plugin *plugin,
	BT_UNUSED struct bt_cycle_state *cycle, BT_UNUSED const struct bt_pod_info *pod,
	BT_UNUSED const struct bt_node_info *node, int64_t *out_score)
{
	*out_score = 0;
	return BT_STATUS_OK;
}

struct bt_status bt_inert_slot(BT_UNUSED struct bt_plugin *plugin,
	BT_UNUSED struct bt_cycle_state *cycle, BT_UNUSED const struct bt_pod_info *pod,
	BT_UNUSED uint32_t slot)
{
	return BT_STATUS_OK;
}

void bt_inert_unreserve(BT_UNUSED struct bt_plugin *plugin, BT_UNUSED struct bt_cycle_state *cycle,
	BT_UNUSED const struct bt_pod_info *pod, BT_UNUSED uint32_t slot)
{
}

struct bt_status bt_inert_pre_bind_pre_flight(BT_UNUSED struct bt_plugin *plugin,
	BT_UNUSED struct bt_cycle_state *cycle, BT_UNUSED const struct bt_pod_info *pod,
	BT_UNUSED uint32_t slot, struct bt_pre_bind_pre_flight *out_result)
{
	out_result->allow_parallel = true;
	return bt_status_code_only(BT_STATUS_SKIP);
}
