/* SPDX-License-Identifier: Apache-2.0 */
#include "framework/runner.h"

struct bt_status bt_run_pre_score(struct bt_framework *framework, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const uint32_t *slots, const uint32_t *sizes, uint32_t count)
{
	const struct bt_framework_point *point = &framework->points[BT_POINT_PRE_SCORE];

	cycle->skip_score = (struct bt_plugin_set){0};
	for (uint32_t i = 0; i < point->entries.count; i++) {
		struct bt_plugin *plugin = point->entries.items[i].plugin;
		const struct bt_cycle_memo *memo =
			cycle->memo != NULL ? &cycle->memo[plugin->index] : NULL;
		struct bt_status status;

		if (memo != NULL && memo->pre_score_known) {
			/* The result depends on the pod's shape only. */
			status = memo->pre_score_status;
		} else {
			int64_t started_ns = bt_runner_plugin_starts(framework, cycle);

			status = sizes != NULL && bt_shortcuts(plugin)->pre_score_cells != NULL
				? bt_shortcuts(plugin)->pre_score_cells(
					  plugin, cycle, pod, slots, sizes, count)
				: plugin->ops->pre_score(plugin, cycle, pod, slots, count);
			bt_runner_plugin_ran(
				framework, plugin, BT_TIMED_PRE_SCORE, &status, started_ns);
		}
		if (status.code == BT_STATUS_SKIP) {
			bt_plugin_set_add(&cycle->skip_score, plugin->index);
		} else if (!bt_status_is_success(&status)) {
			return bt_runner_wrap(
				cycle->arena, "running PreScore plugin ", plugin, ": ", &status);
		}
	}
	return BT_STATUS_OK;
}

void bt_default_normalize(
	struct bt_node_score *scores, uint32_t count, int64_t max_priority, bool reverse)
{
	int64_t largest = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (scores[i].score > largest) {
			largest = scores[i].score;
		}
	}
	for (uint32_t i = 0; i < count; i++) {
		int64_t score = scores[i].score;

		if (largest > 0) {
			/* The product of a huge raw score wraps, as int64 does in Go. */
			score = (int64_t)((uint64_t)max_priority * (uint64_t)score) / largest;
		} else if (reverse) {
			score = 0;
		}
		scores[i].score = reverse ? max_priority - score : score;
	}
}

static struct bt_status score_nodes(struct bt_framework *framework, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, struct bt_score_table *table)
{
	for (uint32_t n = 0; n < table->slot_count; n++) {
		struct bt_node_info node;

		if (BT_UNLIKELY(cycle->without_pods != NULL &&
			    cycle->without_pods[table->slots[n]] != 0)) {
			bt_node_info_init_without_pods(
				&node, framework->handle.state, table->slots[n], cycle->arena);
		} else {
			bt_node_info_init(&node, framework->handle.state, table->slots[n]);
		}
		for (uint32_t p = 0; p < table->plugin_count; p++) {
			struct bt_plugin *plugin = table->plugins[p].plugin;
			struct bt_node_score *score = &table->plugins[p].scores[n];
			int64_t started_ns = bt_runner_plugin_starts(framework, cycle);

			score->slot = table->slots[n];
			struct bt_status status =
				plugin->ops->score(plugin, cycle, pod, &node, &score->score);
			bt_runner_plugin_ran(
				framework, plugin, BT_TIMED_SCORE, &status, started_ns);
			if (BT_UNLIKELY(!bt_status_is_success(&status))) {
				return bt_runner_wrap(cycle->arena,
					"running Score plugins: plugin ", plugin,
					" failed with: ", &status);
			}
		}
	}
	return BT_STATUS_OK;
}

static struct bt_status normalize(struct bt_cycle_state *cycle, const struct bt_pod_info *pod,
	const struct bt_plugin_scores *column, uint32_t count)
{
	struct bt_plugin *plugin = column->plugin;
	struct bt_status status = BT_STATUS_OK;

	switch (plugin->ops->normalize) {
	case BT_NORMALIZE_NONE:
		break;
	case BT_NORMALIZE_DEFAULT:
		bt_default_normalize(column->scores, count, BT_SCORE_MAX, false);
		break;
	case BT_NORMALIZE_DEFAULT_REVERSE:
		bt_default_normalize(column->scores, count, BT_SCORE_MAX, true);
		break;
	case BT_NORMALIZE_CUSTOM:
		status = plugin->ops->normalize_score(plugin, cycle, pod, column->scores, count);
		if (!bt_status_is_success(&status)) {
			status = bt_runner_wrap(cycle->arena,
				"running Normalize on Score plugins: plugin ", plugin,
				" failed with: ", &status);
		}
		break;
	}
	return status;
}

struct bt_status bt_run_score(struct bt_framework *framework, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const uint32_t *slots, uint32_t slot_count,
	struct bt_score_table *out_table)
{
	const struct bt_framework_point *point = &framework->points[BT_POINT_SCORE];
	struct bt_arena *arena = cycle->arena;

	struct bt_score_table table = (struct bt_score_table){
		.slot_count = slot_count,
		.slots = slots,
		.plugins = BT_ARENA_NEW_ARRAY(arena, struct bt_plugin_scores, point->entries.count),
		.totals = BT_ARENA_NEW_ARRAY(arena, int64_t, slot_count),
	};
	for (uint32_t i = 0; i < point->entries.count; i++) {
		const struct bt_framework_entry *entry = &point->entries.items[i];

		if (bt_plugin_set_has(&cycle->skip_score, entry->plugin->index)) {
			continue;
		}
		table.plugins[table.plugin_count++] = (struct bt_plugin_scores){
			.plugin = entry->plugin,
			.weight = entry->weight,
			.scores = BT_ARENA_NEW_ARRAY(arena, struct bt_node_score, slot_count),
		};
	}
	struct bt_status status = score_nodes(framework, cycle, pod, &table);
	for (uint32_t p = 0; p < table.plugin_count && bt_status_is_success(&status); p++) {
		status = normalize(cycle, pod, &table.plugins[p], slot_count);
	}
	if (!bt_status_is_success(&status)) {
		return status;
	}
	for (uint32_t n = 0; n < slot_count; n++) {
		for (uint32_t p = 0; p < table.plugin_count; p++) {
			struct bt_plugin_scores *column = &table.plugins[p];
			int64_t score = column->scores[n].score;

			if (BT_UNLIKELY(score < BT_SCORE_MIN || score > BT_SCORE_MAX)) {
				return bt_runner_invalid_score(cycle->arena,
					"applying score defaultWeights on Score plugins: plugin ",
					column->plugin, score);
			}
			score *= column->weight;
			column->scores[n].score = score;
			table.totals[n] += score;
		}
	}
	*out_table = table;
	return BT_STATUS_OK;
}

struct bt_placement_outcome bt_run_placement_generate(struct bt_framework *framework,
	struct bt_arena *arena, struct bt_str group_namespace, struct bt_str group_name,
	const uint32_t *slots, uint32_t slot_count)
{
	const struct bt_framework_point *point = &framework->points[BT_POINT_PLACEMENT_GENERATE];
	struct bt_placement_outcome outcome = {0};
	struct bt_placement *parent = BT_ARENA_NEW(arena, struct bt_placement);

	*parent = (struct bt_placement){.slots = slots, .count = slot_count};
	if (point->entries.count == 0) {
		outcome.placements = parent;
		outcome.count = 1;
		return outcome;
	}
	struct bt_plugin *plugin = point->entries.items[0].plugin;
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

	for (uint32_t p = 0; p < table.plugin_count; p++) {
		table.plugins[p] = (struct bt_placement_plugin_scores){
			.plugin = point->entries.items[p].plugin,
			.weight = point->entries.items[p].weight,
			.scores = BT_ARENA_NEW_ARRAY(arena, int64_t, count),
		};
	}
	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t p = 0; p < table.plugin_count; p++) {
			struct bt_plugin *plugin = table.plugins[p].plugin;
			struct bt_status status = plugin->ops->score_placement(plugin, arena,
				placements[i].placement, placements[i].pods,
				placements[i].pod_count, &table.plugins[p].scores[i]);

			if (!bt_status_is_success(&status)) {
				return bt_runner_wrap(arena,
					"running PlacementScore plugins: plugin ", plugin,
					" failed with: ", &status);
			}
		}
	}
	for (uint32_t p = 0; p < table.plugin_count; p++) {
		struct bt_plugin *plugin = table.plugins[p].plugin;

		if (plugin->ops->normalize_placement_scores == NULL) {
			continue;
		}
		struct bt_status status = plugin->ops->normalize_placement_scores(
			plugin, arena, table.plugins[p].scores, count);
		if (!bt_status_is_success(&status)) {
			return bt_runner_wrap(arena,
				"running NormalizePlacementScore on PlacementScore plugins: "
				"plugin ",
				plugin, " failed with: ", &status);
		}
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
