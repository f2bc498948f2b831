/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "base/wrap.h"
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

void bt_default_normalize(int64_t *scores, uint32_t count, bool reverse)
{
	int64_t largest = 0;

	for (uint32_t i = 0; i < count; i++) {
		largest = scores[i] > largest ? scores[i] : largest;
	}
	for (uint32_t i = 0; i < count; i++) {
		int64_t score = scores[i];

		if (largest > 0) {
			/* The product of a huge raw score wraps, as int64 does in Go. */
			score = bt_wrap_mul(BT_SCORE_MAX, score) / largest;
		} else if (reverse) {
			score = 0;
		}
		scores[i] = reverse ? BT_SCORE_MAX - score : score;
	}
}

struct bt_status bt_normalize_scores(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const uint32_t *slots, int64_t *scores, uint32_t count)
{
	struct bt_status status = BT_STATUS_OK;

	switch (plugin->ops->normalize) {
	case BT_NORMALIZE_NONE:
		break;
	case BT_NORMALIZE_DEFAULT:
		bt_default_normalize(scores, count, false);
		break;
	case BT_NORMALIZE_DEFAULT_REVERSE:
		bt_default_normalize(scores, count, true);
		break;
	case BT_NORMALIZE_CUSTOM:
		status = plugin->ops->normalize_score(plugin, cycle, pod, slots, scores, count);
		if (!bt_status_is_success(&status)) {
			status = bt_runner_wrap(cycle->arena,
				"running Normalize on Score plugins: plugin ", plugin,
				" failed with: ", &status);
		}
		break;
	}
	return status;
}

/** Makes a table with room for all plugins of the point that are not in `skip`. */
static struct bt_score_table make_table(const struct bt_framework_point *point,
	const struct bt_plugin_set *skip, uint32_t count, struct bt_arena *arena)
{
	struct bt_score_table table = {
		.count = count,
		.plugins = BT_ARENA_NEW_ARRAY(arena, struct bt_plugin_scores, point->entries.count),
		.totals = BT_ARENA_NEW_ARRAY(arena, int64_t, count),
	};

	for (uint32_t i = 0; i < point->entries.count; i++) {
		const struct bt_framework_entry *entry = &point->entries.items[i];

		if (!bt_plugin_set_has(skip, entry->plugin->index)) {
			table.plugins[table.plugin_count++] = (struct bt_plugin_scores){
				.plugin = entry->plugin,
				.weight = entry->weight,
				.scores = BT_ARENA_NEW_ARRAY(arena, int64_t, count),
			};
		}
	}
	return table;
}

/**
 * Multiplies the normalised scores by the weights, and adds them up. Fails if a score is outside of
 * its range. before: start of the error's text.
 */
static struct bt_status apply_weights(
	const struct bt_score_table *table, const char *before, struct bt_arena *arena)
{
	for (uint32_t i = 0; i < table->count; i++) {
		for (uint32_t p = 0; p < table->plugin_count; p++) {
			struct bt_plugin_scores *column = &table->plugins[p];
			int64_t score = column->scores[i];

			if (BT_UNLIKELY(score < BT_SCORE_MIN || score > BT_SCORE_MAX)) {
				struct bt_strbuf text = {0};

				bt_strbuf_append_c(&text, before);
				bt_strbuf_append_quoted(
					&text, bt_str_from(column->plugin->ops->name));
				bt_strbuf_printf(&text,
					" returns an invalid score %" PRId64
					", it should in the range of [%d, %d] after normalizing",
					score, BT_SCORE_MIN, BT_SCORE_MAX);
				struct bt_status status =
					bt_status_error_text(arena, bt_strbuf_str(&text));
				bt_strbuf_finish(&text);
				return status;
			}
			column->scores[i] = score * column->weight;
			table->totals[i] += column->scores[i];
		}
	}
	return BT_STATUS_OK;
}

struct bt_status bt_run_score(struct bt_framework *framework, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const uint32_t *slots, uint32_t slot_count,
	struct bt_score_table *out_table)
{
	struct bt_score_table table = make_table(
		&framework->points[BT_POINT_SCORE], &cycle->skip_score, slot_count, cycle->arena);
	struct bt_status status = BT_STATUS_OK;

	for (uint32_t n = 0; n < table.count; n++) {
		struct bt_node_info node;

		if (BT_UNLIKELY(
			    cycle->without_pods != NULL && cycle->without_pods[slots[n]] != 0)) {
			bt_node_info_init_without_pods(
				&node, framework->handle.state, slots[n], cycle->arena);
		} else {
			bt_node_info_init(&node, framework->handle.state, slots[n]);
		}
		for (uint32_t p = 0; p < table.plugin_count; p++) {
			struct bt_plugin *plugin = table.plugins[p].plugin;
			int64_t started_ns = bt_runner_plugin_starts(framework, cycle);
			status = plugin->ops->score(
				plugin, cycle, pod, &node, &table.plugins[p].scores[n]);
			bt_runner_plugin_ran(
				framework, plugin, BT_TIMED_SCORE, &status, started_ns);
			if (BT_UNLIKELY(!bt_status_is_success(&status))) {
				return bt_runner_wrap(cycle->arena,
					"running Score plugins: plugin ", plugin,
					" failed with: ", &status);
			}
		}
	}
	for (uint32_t p = 0; p < table.plugin_count && bt_status_is_success(&status); p++) {
		status = bt_normalize_scores(table.plugins[p].plugin, cycle, pod, slots,
			table.plugins[p].scores, slot_count);
	}
	if (bt_status_is_success(&status)) {
		status = apply_weights(&table,
			"applying score defaultWeights on Score plugins: plugin ", cycle->arena);
	}
	if (bt_status_is_success(&status)) {
		*out_table = table;
	}
	return status;
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
	struct bt_score_table *out_table)
{
	static const struct bt_plugin_set none = {0};
	struct bt_score_table table =
		make_table(&framework->points[BT_POINT_PLACEMENT_SCORE], &none, count, arena);

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
	struct bt_status status = apply_weights(
		&table, "applying score defaultWeights on PlacementScore plugins: plugin ", arena);
	if (bt_status_is_success(&status)) {
		*out_table = table;
	}
	return status;
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
