/* SPDX-License-Identifier: Apache-2.0 */
/**
 * PodGroupPodsCount (PlacementScore): prefers the placement in which the largest number of pods of
 * the group would run. Spec: 05 section 15.1.
 */
#include "plugins/common_plugin.h"
#include "base/wrap.h"
#include "plugins/common_pod_group.h"
#include "plugins/in_tree.h"

static struct bt_status score_placement(struct bt_plugin *plugin, struct bt_arena *arena,
	BT_UNUSED const struct bt_placement *placement, const struct bt_pod_info *const *pods,
	uint32_t pod_count, int64_t *out_score)
{
	uint32_t scheduled = 0;

	if (pod_count == 0) {
		*out_score = 0;
		return BT_STATUS_OK;
	}
	struct bt_status status =
		bt_pod_group_scheduled_count(bt_plugin_handle(plugin)->state, pods[0]->namespace_,
			bt_plugin_pod_group_name(bt_plugin_pod_spec(pods[0])), arena, &scheduled);
	*out_score = (int64_t)pod_count + scheduled;
	return status;
}

static struct bt_status normalize_placement_scores(
	BT_UNUSED struct bt_plugin *plugin, struct bt_arena *arena, int64_t *scores, uint32_t count)
{
	int64_t max = 0;

	for (uint32_t i = 0; i < count; i++) {
		max = scores[i] > max ? scores[i] : max;
	}
	if (max == 0) {
		return bt_status_error_text(arena,
			BT_STR("no pods from pod group are assigned to any of the candidate "
			       "placements"));
	}
	for (uint32_t i = 0; i < count; i++) {
		scores[i] = bt_wrap_mul(scores[i], BT_SCORE_MAX) / max;
	}
	return BT_STATUS_OK;
}

static const struct bt_plugin_shortcuts shortcuts = {
	.placement_score_ignores_nodes = true,
};

const struct bt_plugin_ops bt_pod_group_pods_count_plugin = {
	.name = "PodGroupPodsCount",
	.shortcuts = &shortcuts,
	.score_placement = score_placement,
	.normalize_placement_scores = normalize_placement_scores,
};
