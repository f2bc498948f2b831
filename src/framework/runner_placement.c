/* SPDX-License-Identifier: Apache-2.0 */
#include "framework/runner.h"

struct bt_placement_outcome bt_run_placement_generate(struct bt_framework *framework,
	struct bt_arena *arena, struct bt_str group_namespace, struct bt_str group_name,
	const uint32_t *slots, uint32_t slot_count)
{
	const struct bt_framework_point *point = &framework->points[BT_POINT_PLACEMENT_GENERATE];
	struct bt_placement_outcome outcome = {0};
	struct bt_placement *parent = BT_ARENA_NEW(arena, struct bt_placement);
	struct bt_plugin *plugin;

	*parent = (struct bt_placement){.slots = slots, .count = slot_count};
	if (point->entries.count == 0) {
		outcome.placements = parent;
		outcome.count = 1;
		return outcome;
	}
	plugin = point->entries.items[0].plugin;
	outcome.status = plugin->ops->generate_placements(plugin, arena, group_namespace,
		group_name, parent, &outcome.placements, &outcome.count);
	if (bt_status_is_success(&outcome.status) && outcome.count > 0) {
		return outcome;
	}
	if (bt_status_is_success(&outcome.status)) {
		outcome.status =
			bt_status_reason(BT_STATUS_UNSCHEDULABLE, BT_REASON_NO_FEASIBLE_PLACEMENTS);
	}
	return (struct bt_placement_outcome){
		.status = bt_runner_with_plugin(outcome.status, plugin)};
}

static struct bt_status score_placements(struct bt_arena *arena,
	const struct bt_placement_assignments *placements, struct bt_placement_score_table *table)
{
	for (uint32_t i = 0; i < table->placement_count; i++) {
		for (uint32_t p = 0; p < table->plugin_count; p++) {
			struct bt_plugin *plugin = table->plugins[p].plugin;
			struct bt_status status = plugin->ops->score_placement(plugin, arena,
				placements[i].placement, placements[i].pods,
				placements[i].pod_count, &table->plugins[p].scores[i]);

			if (!bt_status_is_success(&status)) {
				return bt_runner_wrap(arena,
					"running PlacementScore plugins: plugin ", plugin,
					" failed with: ", &status);
			}
		}
	}
	return BT_STATUS_OK;
}

static struct bt_status normalize_placements(
	struct bt_arena *arena, struct bt_placement_score_table *table)
{
	for (uint32_t p = 0; p < table->plugin_count; p++) {
		struct bt_plugin *plugin = table->plugins[p].plugin;
		struct bt_status status;

		if (plugin->ops->normalize_placement_scores == NULL) {
			continue;
		}
		status = plugin->ops->normalize_placement_scores(
			plugin, arena, table->plugins[p].scores, table->placement_count);
		if (!bt_status_is_success(&status)) {
			return bt_runner_wrap(arena,
				"running NormalizePlacementScore on PlacementScore plugins: "
				"plugin ",
				plugin, " failed with: ", &status);
		}
	}
	return BT_STATUS_OK;
}

struct bt_status bt_run_placement_score(struct bt_framework *framework, struct bt_arena *arena,
	const struct bt_placement_assignments *placements, uint32_t count,
	struct bt_placement_score_table *out_table)
{
	const struct bt_framework_point *point = &framework->points[BT_POINT_PLACEMENT_SCORE];
	struct bt_placement_score_table table = {
		.placement_count = count,
		.plugin_count = point->entries.count,
		.plugins = BT_ARENA_NEW_ARRAY(
			arena, struct bt_placement_plugin_scores, point->entries.count),
		.totals = BT_ARENA_NEW_ARRAY(arena, int64_t, count),
	};
	struct bt_status status;

	for (uint32_t p = 0; p < table.plugin_count; p++) {
		table.plugins[p] = (struct bt_placement_plugin_scores){
			.plugin = point->entries.items[p].plugin,
			.weight = point->entries.items[p].weight,
			.scores = BT_ARENA_NEW_ARRAY(arena, int64_t, count),
		};
	}
	status = score_placements(arena, placements, &table);
	if (bt_status_is_success(&status)) {
		status = normalize_placements(arena, &table);
	}
	if (!bt_status_is_success(&status)) {
		return status;
	}
	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t p = 0; p < table.plugin_count; p++) {
			struct bt_placement_plugin_scores *column = &table.plugins[p];

			if (column->scores[i] < BT_SCORE_MIN || column->scores[i] > BT_SCORE_MAX) {
				return bt_runner_invalid_score(arena,
					"applying score defaultWeights on PlacementScore plugins: "
					"plugin ",
					column->plugin, column->scores[i]);
			}
			column->scores[i] *= column->weight;
			table.totals[i] += column->scores[i];
		}
	}
	*out_table = table;
	return BT_STATUS_OK;
}

struct bt_status bt_run_pod_group_post_filter(struct bt_framework *framework,
	struct bt_arena *arena, const struct bt_pod_group *group,
	const struct bt_pod_info *const *pods, uint32_t pod_count,
	const struct bt_pod_group_trial *trial)
{
	struct bt_plugin *plugin = framework->pod_group_post_filter;

	if (plugin == NULL) {
		return bt_status_reason(
			BT_STATUS_UNSCHEDULABLE, BT_REASON_PREEMPTION_NOT_REGISTERED);
	}
	return plugin->ops->pod_group_post_filter(plugin, arena, group, pods, pod_count, trial);
}
