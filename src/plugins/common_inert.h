/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_COMMON_INERT_H
#define BT_PLUGINS_COMMON_INERT_H
/** Slots that have nothing to say: what a plugin answers for a pod that does not use its feature.
 */
#include "framework/plugin.h"

/** Success. */
bool bt_inert_pre_enqueue_passes(struct bt_plugin *plugin, const struct bt_shape *shape);
struct bt_status bt_inert_pre_enqueue(
	struct bt_plugin *plugin, const struct bt_pod_info *pod, struct bt_arena *arena);
/** Skip. */
struct bt_status bt_inert_pre_filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, struct bt_pre_filter_result *out_result);
/** Success. */
struct bt_status bt_inert_filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node);
/** Skip. */
struct bt_status bt_inert_pre_score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const uint32_t *slots, uint32_t slot_count);
/** 0. */
struct bt_status bt_inert_score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node, int64_t *out_score);
/** Success: Reserve and PreBind. */
struct bt_status bt_inert_slot(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot);
void bt_inert_unreserve(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot);
/** Skip; PreBind might run beside others. */
struct bt_status bt_inert_pre_bind_pre_flight(struct bt_plugin *plugin,
	struct bt_cycle_state *cycle, const struct bt_pod_info *pod, uint32_t slot,
	struct bt_pre_bind_pre_flight *out_result);
#endif
