/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include "lib/adapted.h"
#include "lib/node_to_status.h"
#include "lib/plugin_adapter.h"

static struct bt_status pre_filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, struct bt_pre_filter_result *out_result)
{
	struct bt_adapted *adapted = bt_adapted_of(plugin);
	struct berth_pre_filter_result result = {0};
	struct bt_status status = adapted->outside.pre_filter(adapted->plugin,
		berth_cycle_state_of(cycle), berth_const_pod_info_of(pod), &result);

	if (result.restricted) {
		out_result->restricted = true;
		out_result->count = result.count;
		out_result->names = result.names;
	}
	return bt_adapted_status(adapted, status, cycle->arena);
}

static struct bt_status pre_filter_add_pod(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod_to_schedule, const struct bt_pod_info *pod_to_add,
	const struct bt_node_info *node)
{
	struct bt_adapted *adapted = bt_adapted_of(plugin);
	struct bt_status status = adapted->outside.pre_filter_extensions->add_pod(adapted->plugin,
		berth_cycle_state_of(cycle), berth_const_pod_info_of(pod_to_schedule),
		berth_const_pod_info_of(pod_to_add), berth_const_node_info_of(node));

	return bt_adapted_status(adapted, status, cycle->arena);
}

static struct bt_status pre_filter_remove_pod(struct bt_plugin *plugin,
	struct bt_cycle_state *cycle, const struct bt_pod_info *pod_to_schedule,
	const struct bt_pod_info *pod_to_remove, const struct bt_node_info *node)
{
	struct bt_adapted *adapted = bt_adapted_of(plugin);
	struct bt_status status =
		adapted->outside.pre_filter_extensions->remove_pod(adapted->plugin,
			berth_cycle_state_of(cycle), berth_const_pod_info_of(pod_to_schedule),
			berth_const_pod_info_of(pod_to_remove), berth_const_node_info_of(node));

	return bt_adapted_status(adapted, status, cycle->arena);
}

static struct bt_status filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node)
{
	struct bt_adapted *adapted = bt_adapted_of(plugin);
	struct bt_status status =
		adapted->outside.filter(adapted->plugin, berth_cycle_state_of(cycle),
			berth_const_pod_info_of(pod), berth_const_node_info_of(node));

	return bt_adapted_status(adapted, status, cycle->arena);
}

static struct bt_status post_filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_statuses *statuses,
	struct bt_post_filter_result *out_result)
{
	struct bt_adapted *adapted = bt_adapted_of(plugin);
	struct berth_node_to_status view = {.state = adapted->handle->state, .statuses = statuses};
	struct berth_post_filter_result result = {0};
	struct bt_status status = adapted->outside.post_filter(adapted->plugin,
		berth_cycle_state_of(cycle), berth_const_pod_info_of(pod), &view, &result);

	if (result.present) {
		out_result->present = true;
		out_result->mode = result.mode == BERTH_NOMINATING_OVERRIDE ? BT_NOMINATING_OVERRIDE
									    : BT_NOMINATING_NOOP;
		out_result->nominated_node_name = result.nominated_node_name;
	}
	return bt_adapted_status(adapted, status, cycle->arena);
}

static struct bt_status pre_score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const uint32_t *slots, uint32_t slot_count)
{
	struct bt_adapted *adapted = bt_adapted_of(plugin);
	const struct berth_node_info *const *nodes =
		bt_lib_node_infos(&adapted->handle->snapshot, slots, slot_count, cycle->arena);
	struct bt_status status = adapted->outside.pre_score(adapted->plugin,
		berth_cycle_state_of(cycle), berth_const_pod_info_of(pod), nodes, slot_count);

	return bt_adapted_status(adapted, status, cycle->arena);
}

static struct bt_status score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node, int64_t *out_score)
{
	struct bt_adapted *adapted = bt_adapted_of(plugin);
	int64_t value = 0;
	struct bt_status status =
		adapted->outside.score(adapted->plugin, berth_cycle_state_of(cycle),
			berth_const_pod_info_of(pod), berth_const_node_info_of(node), &value);

	*out_score = value;
	return bt_adapted_status(adapted, status, cycle->arena);
}

static struct bt_status normalize_score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, struct bt_node_score *scores, uint32_t count)
{
	struct bt_adapted *adapted = bt_adapted_of(plugin);
	struct berth_node_score_list list = {
		.items = BT_ARENA_NEW_ARRAY(cycle->arena, struct berth_node_score, count),
		.count = count,
	};
	struct berth_node_score *items = list.items;

	for (uint32_t i = 0; i < count; i++) {
		items[i].name = bt_adapted_node_name(adapted, scores[i].slot);
		items[i].score = scores[i].score;
	}
	struct bt_status status = adapted->outside.score_extensions->normalize_score(
		adapted->plugin, berth_cycle_state_of(cycle), berth_const_pod_info_of(pod), &list);

	for (uint32_t i = 0; i < count; i++) {
		scores[i].score = items[i].score;
	}
	return bt_adapted_status(adapted, status, cycle->arena);
}

void bt_adapted_fill_cycle(struct bt_adapted *adapted)
{
	const struct berth_plugin_ops *outside = &adapted->outside;
	struct bt_plugin_ops *inside = &adapted->inside;

	BT_ADAPTED_FILL(adapted, pre_filter, pre_filter);
	if (outside->pre_filter_extensions != NULL) {
		if (outside->pre_filter_extensions->add_pod != NULL) {
			inside->pre_filter_add_pod = pre_filter_add_pod;
		}
		if (outside->pre_filter_extensions->remove_pod != NULL) {
			inside->pre_filter_remove_pod = pre_filter_remove_pod;
		}
	}
	BT_ADAPTED_FILL(adapted, filter, filter);
	BT_ADAPTED_FILL(adapted, post_filter, post_filter);
	BT_ADAPTED_FILL(adapted, pre_score, pre_score);
	BT_ADAPTED_FILL(adapted, score, score);
	if (outside->score_extensions != NULL &&
		outside->score_extensions->normalize_score != NULL) {
		inside->normalize = BT_NORMALIZE_CUSTOM;
		inside->normalize_score = normalize_score;
	}
}
