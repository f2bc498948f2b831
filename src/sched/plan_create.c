/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "sched/plan_private.h"

static bool is_pure_for(struct bt_plugin *plugin, const struct bt_pod_info *pod)
{
	const struct bt_plugin_shortcuts *shortcuts = bt_shortcuts(plugin);
	return shortcuts->is_pure_for != NULL ? shortcuts->is_pure_for(plugin, pod)
					      : shortcuts->pure;
}

static bool point_is_pure(const struct bt_framework *framework, enum bt_extension_point point,
	const struct bt_pod_info *pod)
{
	for (uint32_t i = 0; i < framework->points[point].entries.count; i++) {
		if (!is_pure_for(framework->points[point].entries.items[i].plugin, pod)) {
			return false;
		}
	}
	return true;
}

/** Answers of the pure plugins, for a point that has others too: the runner takes these and asks
 * only the others. */
static void memorize_pre_filters(struct bt_plan *plan, const struct bt_pod_info *pod)
{
	const struct bt_framework *framework = plan->framework;
	for (uint32_t i = 0; i < framework->points[BT_POINT_PRE_FILTER].entries.count; i++) {
		struct bt_plugin *plugin =
			framework->points[BT_POINT_PRE_FILTER].entries.items[i].plugin;
		struct bt_cycle_memo *memo = &plan->memo[plugin->index];
		if (!is_pure_for(plugin, pod)) {
			continue;
		}
		struct bt_pre_filter_result result = {0};
		memo->pre_filter_known = true;
		memo->pre_filter_status =
			plugin->ops->pre_filter(plugin, &plan->template, pod, &result);
		memo->restricted = result.restricted;
		memo->name_count = result.count;
		memo->names = result.names;
		memo->pre_filter_data = plan->template.pre_filter_data[plugin->index];
		if (memo->pre_filter_status.code == BT_STATUS_SKIP) {
			bt_plugin_set_add(&plan->template.skip_filter, plugin->index);
		}
	}
}

static void memorize_pre_scores(struct bt_plan *plan, const struct bt_pod_info *pod)
{
	const struct bt_framework *framework = plan->framework;
	for (uint32_t i = 0; i < framework->points[BT_POINT_PRE_SCORE].entries.count; i++) {
		struct bt_plugin *plugin =
			framework->points[BT_POINT_PRE_SCORE].entries.items[i].plugin;
		struct bt_cycle_memo *memo = &plan->memo[plugin->index];
		if (!is_pure_for(plugin, pod)) {
			continue;
		}
		memo->pre_score_known = true;
		memo->pre_score_status =
			plugin->ops->pre_score(plugin, &plan->template, pod, NULL, 0);
		if (memo->pre_score_status.code == BT_STATUS_SKIP) {
			bt_plugin_set_add(&plan->template.skip_score, plugin->index);
		}
	}
}

/**
 * The column form needs the data of the earlier point: a plugin that has that role but did not run
 * it (disabled in the profile, or failed) is left to its plain form, which knows the proper error.
 */
static bool filter_has_column(
	const struct bt_plan *plan, struct bt_plugin *plugin, const struct bt_pod_info *pod)
{
	const struct bt_plugin_ops *ops = plugin->ops;
	const struct bt_plugin_shortcuts *shortcuts = bt_shortcuts(plugin);
	const void *data = plan->template.pre_filter_data[plugin->index];
	return is_pure_for(plugin, pod) && shortcuts->filter_column != NULL &&
		(ops->pre_filter == NULL || data != NULL) &&
		(shortcuts->filter_fits_column == NULL ||
			shortcuts->filter_fits_column(plugin, data, pod));
}

static bool is_at_point(const struct bt_framework *framework, enum bt_extension_point point,
	const struct bt_plugin *plugin)
{
	for (uint32_t i = 0; i < framework->points[point].entries.count; i++) {
		if (framework->points[point].entries.items[i].plugin == plugin) {
			return true;
		}
	}
	return false;
}

/** Likewise for the columns of every cycle, whose data comes later. */
static bool filter_has_cycle_column(
	const struct bt_framework *framework, const struct bt_plugin *plugin)
{
	const struct bt_plugin_ops *ops = plugin->ops;
	const struct bt_plugin_shortcuts *shortcuts = bt_shortcuts(plugin);
	return shortcuts->columns_per_cycle && shortcuts->filter_column != NULL &&
		(ops->pre_filter == NULL || is_at_point(framework, BT_POINT_PRE_FILTER, plugin));
}

static bool score_has_cycle_column(const struct bt_framework *framework, struct bt_plugin *plugin,
	const struct bt_pod_info *pod)
{
	const struct bt_plugin_ops *ops = plugin->ops;
	const struct bt_plugin_shortcuts *shortcuts = bt_shortcuts(plugin);
	return shortcuts->columns_per_cycle && shortcuts->score_slots != NULL &&
		(shortcuts->normalize_column != NULL || ops->normalize != BT_NORMALIZE_CUSTOM) &&
		(ops->pre_score == NULL || is_at_point(framework, BT_POINT_PRE_SCORE, plugin)) &&
		(shortcuts->score_fits_column == NULL ||
			shortcuts->score_fits_column(plugin, NULL, pod));
}

static void collect_filters(struct bt_plan *plan, const struct bt_pod_info *pod)
{
	const struct bt_framework *framework = plan->framework;
	uint32_t count = framework->points[BT_POINT_FILTER].entries.count;
	plan->filters = BT_ARENA_NEW_ARRAY(&plan->arena, struct bt_plan_filter, count);
	for (uint32_t i = 0; i < count; i++) {
		struct bt_plugin *plugin =
			framework->points[BT_POINT_FILTER].entries.items[i].plugin;
		if (bt_plugin_set_has(&plan->template.skip_filter, plugin->index)) {
			continue;
		}
		struct bt_plan_filter *filter = &plan->filters[plan->filter_count++];
		filter->plugin = plugin;
		if (filter_has_column(plan, plugin, pod)) {
			filter->form = BT_FILTER_COLUMN;
			plan->reads |= bt_shortcuts(plugin)->filter_reads;
		} else if (filter_has_cycle_column(framework, plugin)) {
			filter->form = BT_FILTER_CYCLE_COLUMN;
			plan->has_cycle_filters = true;
		} else {
			filter->form = BT_FILTER_PLAIN;
			plan->has_plain_filters = true;
		}
	}
}

const void *bt_plan_score_data(const struct bt_plan *plan, const struct bt_plugin *plugin)
{
	return bt_shortcuts(plugin)->score_column_data != NULL
		? plan->column_data[plugin->index]
		: plan->template.pre_score_data[plugin->index];
}

static bool score_has_column(
	const struct bt_plan *plan, struct bt_plugin *plugin, const struct bt_pod_info *pod)
{
	const struct bt_plugin_ops *ops = plugin->ops;
	const struct bt_plugin_shortcuts *shortcuts = bt_shortcuts(plugin);
	const void *data = bt_plan_score_data(plan, plugin);
	if (!is_pure_for(plugin, pod) ||
		(shortcuts->score_column == NULL && shortcuts->score_is_constant == NULL) ||
		ops->normalize == BT_NORMALIZE_CUSTOM) {
		return false;
	}
	if (ops->pre_score != NULL && data == NULL) {
		return false;
	}
	return shortcuts->score_fits_column == NULL ||
		shortcuts->score_fits_column(plugin, data, pod);
}

static void add_column_score(struct bt_plan *plan, struct bt_plugin *plugin, int64_t weight,
	const struct bt_pod_info *pod, const struct bt_state *state)
{
	const struct bt_plugin_ops *ops = plugin->ops;
	const struct bt_plugin_shortcuts *shortcuts = bt_shortcuts(plugin);
	const void *data = bt_plan_score_data(plan, plugin);
	bool reverse = ops->normalize == BT_NORMALIZE_DEFAULT_REVERSE;
	int32_t constant = 0;
	if (shortcuts->score_is_constant != NULL &&
		shortcuts->score_is_constant(plugin, data, pod, state, &constant)) {
		int32_t score = ops->normalize == BT_NORMALIZE_NONE
			? constant
			: bt_plan_normalized(constant, constant, reverse);
		plan->constant_score += weight * score;
		return;
	}
	plan->reads |= shortcuts->score_reads;
	plan->reads_node_count |= shortcuts->score_reads_node_count;
	if (ops->normalize == BT_NORMALIZE_NONE) {
		plan->local_scores[plan->local_score_count++] =
			(struct bt_plan_score){plugin, weight};
	} else {
		plan->raws[plan->raw_count++] = (struct bt_plan_raw){
			.plugin = plugin, .weight = (int32_t)weight, .reverse = reverse};
	}
}

static void collect_scores(
	struct bt_plan *plan, const struct bt_pod_info *pod, const struct bt_state *state)
{
	const struct bt_framework *framework = plan->framework;
	uint32_t count = framework->points[BT_POINT_SCORE].entries.count;
	plan->local_scores = BT_ARENA_NEW_ARRAY(&plan->arena, struct bt_plan_score, count);
	plan->cycle_scores = BT_ARENA_NEW_ARRAY(&plan->arena, struct bt_plan_score, count);
	plan->raws = BT_ARENA_NEW_ARRAY(&plan->arena, struct bt_plan_raw, count);
	plan->column_data =
		BT_ARENA_NEW_ARRAY(&plan->arena, const void *, framework->instances.count);
	for (uint32_t i = 0; i < count; i++) {
		const struct bt_framework_entry *entry =
			&framework->points[BT_POINT_SCORE].entries.items[i];
		if (bt_plugin_set_has(&plan->template.skip_score, entry->plugin->index)) {
			continue;
		}
		if (bt_shortcuts(entry->plugin)->score_column_data != NULL) {
			plan->column_data[entry->plugin->index] =
				bt_shortcuts(entry->plugin)
					->score_column_data(entry->plugin, pod, &plan->arena);
		}
		if (score_has_column(plan, entry->plugin, pod)) {
			add_column_score(plan, entry->plugin, entry->weight, pod, state);
		} else if (score_has_cycle_column(framework, entry->plugin, pod)) {
			plan->cycle_scores[plan->cycle_score_count++] =
				(struct bt_plan_score){entry->plugin, entry->weight};
		} else {
			plan->has_plain_scores = true;
		}
	}
}

struct bt_plan *bt_plan_create(
	struct bt_engine *engine, struct bt_framework *framework, const struct bt_pod_info *pod)
{
	struct bt_plan *plan = BT_NEW(struct bt_plan);
	plan->framework = framework;
	plan->shape = pod->shape->id;
	plan->shape_serial = pod->shape->serial;
	plan->wide_values = engine->state->nodes.has_wide_values;
	plan->class_version = bt_plan_class_version(engine->state);
	bt_arena_init(&plan->arena, 4096);
	bt_cycle_state_init(&plan->template, &plan->arena, framework->instances.count);
	plan->memo =
		BT_ARENA_NEW_ARRAY(&plan->arena, struct bt_cycle_memo, framework->instances.count);
	plan->pre_filter_cached = point_is_pure(framework, BT_POINT_PRE_FILTER, pod);
	if (plan->pre_filter_cached) {
		plan->pre_filter = bt_run_pre_filter(framework, &plan->template, pod);
	} else {
		memorize_pre_filters(plan, pod);
	}
	plan->pre_score_cached = point_is_pure(framework, BT_POINT_PRE_SCORE, pod);
	if (plan->pre_score_cached) {
		plan->pre_score = bt_run_pre_score(framework, &plan->template, pod, NULL, 0);
	} else {
		memorize_pre_scores(plan, pod);
	}
	collect_filters(plan, pod);
	if (framework->metrics != NULL) {
		plan->rejected = BT_ARENA_NEW_ARRAY(&plan->arena, uint32_t, plan->filter_count);
	}
	collect_scores(plan, pod, engine->state);
	return plan;
}
