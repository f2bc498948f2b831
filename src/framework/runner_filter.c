/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "framework/runner.h"

/** With at least this many names, the intersection searches a sorted copy of the names. */
#define SORTED_SEARCH_MIN 16

struct bt_pre_filter_result bt_pre_filter_result_intersect(const struct bt_pre_filter_result *a,
	const struct bt_pre_filter_result *b, struct bt_arena *arena)
{
	struct bt_str *names = BT_ARENA_NEW_ARRAY(arena, struct bt_str, a->count);
	const struct bt_str *wanted = b->names;
	bool sorted = b->count >= SORTED_SEARCH_MIN;
	uint32_t count = 0;

	if (sorted) {
		struct bt_str *copy = BT_ARENA_NEW_ARRAY(arena, struct bt_str, b->count);

		memcpy(copy, b->names, b->count * sizeof(*copy));
		qsort(copy, b->count, sizeof(*copy), bt_str_compare_qsort);
		wanted = copy;
	}
	for (uint32_t i = 0; i < a->count; i++) {
		bool found = sorted &&
			bsearch(&a->names[i], wanted, b->count, sizeof(*wanted),
				bt_str_compare_qsort) != NULL;

		for (uint32_t k = 0; k < b->count && !sorted && !found; k++) {
			found = bt_str_equal(wanted[k], a->names[i]);
		}
		if (found) {
			names[count++] = a->names[i];
		}
	}
	return (struct bt_pre_filter_result){.restricted = true, .count = count, .names = names};
}

void bt_framework_append_unsatisfied(const struct bt_framework *framework,
	const struct bt_plugin_set *plugins, struct bt_strbuf *text)
{
	struct bt_str names[BT_PLUGINS_MAX];
	uint32_t count = 0;

	for (uint32_t i = 0; i < framework->instances.count; i++) {
		if (bt_plugin_set_has(plugins, i)) {
			names[count++] = bt_framework_plugin_name(framework, i);
		}
	}
	qsort(names, count, sizeof(names[0]), bt_str_compare_qsort);
	bt_strbuf_append_c(text, "node(s) didn't satisfy plugin(s) [");
	for (uint32_t i = 0; i < count; i++) {
		bt_strbuf_append_c(text, i != 0 ? " " : "");
		bt_strbuf_append_str(text, names[i]);
	}
	bt_strbuf_append_char(text, ']');
}

/** No node is left: reports the plugins that narrowed the search. Spec 02 section 5.1 step 4. */
static void report_no_node(const struct bt_framework *framework, struct bt_cycle_state *cycle,
	struct bt_pre_filter_outcome *outcome)
{
	struct bt_strbuf text = {0};
	uint32_t members = 0;
	uint32_t last = 0;

	for (uint32_t k = 0; k < framework->instances.count; k++) {
		if (bt_plugin_set_has(&outcome->plugins_with_nodes, k)) {
			members++;
			last = k;
		}
	}
	if (members == 1) {
		bt_strbuf_append_c(&text, "node(s) didn't satisfy plugin ");
		bt_strbuf_append_str(&text, bt_framework_plugin_name(framework, last));
	} else {
		bt_framework_append_unsatisfied(framework, &outcome->plugins_with_nodes, &text);
		bt_strbuf_append_c(&text, " simultaneously");
	}
	outcome->status = bt_status_text(
		BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE, cycle->arena, bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
}

struct bt_pre_filter_outcome bt_run_pre_filter(
	struct bt_framework *framework, struct bt_cycle_state *cycle, const struct bt_pod_info *pod)
{
	const struct bt_framework_point *point = &framework->points[BT_POINT_PRE_FILTER];
	struct bt_pre_filter_outcome outcome = {0};
	struct bt_status pending = BT_STATUS_OK; /* last Unschedulable of a plugin */

	cycle->skip_filter = (struct bt_plugin_set){0};
	for (uint32_t i = 0; i < point->entries.count; i++) {
		struct bt_plugin *plugin = point->entries.items[i].plugin;
		struct bt_pre_filter_result result = {0};
		/*
		 * The status that the plugin returns, or the stored status if the result depends on
		 * the pod's shape only.
		 */
		struct bt_status status;
		const struct bt_cycle_memo *memo =
			cycle->memo != NULL ? &cycle->memo[plugin->index] : NULL;

		if (memo == NULL || !memo->pre_filter_known) {
			int64_t started_ns = bt_runner_plugin_starts(framework, cycle);

			status = plugin->ops->pre_filter(plugin, cycle, pod, &result);
			bt_runner_plugin_ran(
				framework, plugin, BT_TIMED_PRE_FILTER, &status, started_ns);
		} else {
			cycle->pre_filter_data[plugin->index] = memo->pre_filter_data;
			result = (struct bt_pre_filter_result){
				memo->restricted, memo->name_count, memo->names};
			status = memo->pre_filter_status;
		}
		if (status.code == BT_STATUS_SKIP) {
			bt_plugin_set_add(&cycle->skip_filter, plugin->index);
			continue;
		}
		if (status.code == BT_STATUS_UNSCHEDULABLE) {
			/* The later plugins still run: preemption needs their PreFilter data. */
			pending = bt_runner_with_plugin(status, plugin);
			continue;
		}
		if (!bt_status_is_success(&status)) {
			if (status.code != BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE) {
				status = bt_runner_wrap(cycle->arena, "running PreFilter plugin ",
					plugin, ": ", &status);
			}
			return (struct bt_pre_filter_outcome){
				.status = bt_runner_with_plugin(status, plugin)};
		}
		if (result.restricted) {
			bt_plugin_set_add(&outcome.plugins_with_nodes, plugin->index);
			/* Keep the nodes that all plugins so far allow: spec 02 section 2. */
			outcome.result = outcome.result.restricted
				? bt_pre_filter_result_intersect(
					  &outcome.result, &result, cycle->arena)
				: result;
		}
		if (outcome.result.restricted && outcome.result.count == 0) {
			report_no_node(framework, cycle, &outcome);
			return outcome;
		}
	}
	outcome.status = pending;
	return outcome;
}

struct bt_status bt_run_pre_filter_change_pod(struct bt_framework *framework,
	struct bt_cycle_state *cycle, const struct bt_pod_info *pod_to_schedule,
	const struct bt_pod_info *other, const struct bt_node_info *node, int64_t step)
{
	const struct bt_framework_point *point = &framework->points[BT_POINT_PRE_FILTER];

	for (uint32_t i = 0; i < point->entries.count; i++) {
		struct bt_plugin *plugin = point->entries.items[i].plugin;

		if (plugin->ops->pre_filter_change_pod == NULL ||
			bt_plugin_set_has(&cycle->skip_filter, plugin->index)) {
			continue;
		}
		int64_t started_ns = bt_runner_plugin_starts(framework, cycle);
		struct bt_status status = plugin->ops->pre_filter_change_pod(
			plugin, cycle, pod_to_schedule, other, node, step);
		bt_runner_plugin_ran(framework, plugin,
			step > 0 ? BT_TIMED_PRE_FILTER_ADD_POD : BT_TIMED_PRE_FILTER_REMOVE_POD,
			&status, started_ns);
		if (!bt_status_is_success(&status)) {
			return bt_runner_wrap(cycle->arena,
				step > 0 ? "running AddPod on PreFilter plugin "
					 : "running RemovePod on PreFilter plugin ",
				plugin, ": ", &status);
		}
	}
	return BT_STATUS_OK;
}

/** Interprets a filter's status that is not Success, as RunFilter does. Spec 02 section 5.3. */
BT_COLD
static struct bt_status interpret_failure(
	struct bt_arena *arena, const struct bt_plugin *plugin, struct bt_status status)
{
	if (!bt_status_is_rejected(&status)) {
		status = bt_runner_wrap(arena, "running ", plugin, " filter plugin: ", &status);
	}
	return bt_runner_with_plugin(status, plugin);
}

/** Runs one filter and records the run in the metrics. */
static inline struct bt_status call_filter(const struct bt_framework *framework,
	struct bt_plugin *plugin, struct bt_cycle_state *cycle, const struct bt_pod_info *pod,
	const struct bt_node_info *node)
{
	int64_t started_ns = bt_runner_plugin_starts(framework, cycle);
	struct bt_status status = plugin->ops->filter(plugin, cycle, pod, node);

	if (framework->metrics != NULL) {
		bt_profile_evaluated(framework->metrics, plugin, BT_TIMED_FILTER, 1);
		bt_runner_plugin_ran(framework, plugin, BT_TIMED_FILTER, &status, started_ns);
	}
	return status;
}

void bt_run_filter_each(struct bt_framework *framework, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node,
	bool (*failed)(
		void *context, const struct bt_plugin *plugin, const struct bt_status *status),
	void *context)
{
	const struct bt_framework_point *point = &framework->points[BT_POINT_FILTER];
	bool go_on = true;

	for (uint32_t i = 0; go_on && i < point->entries.count; i++) {
		struct bt_plugin *plugin = point->entries.items[i].plugin;
		struct bt_status status;

		if (bt_plugin_set_has(&cycle->skip_filter, plugin->index)) {
			continue;
		}
		status = bt_run_filter_plugin(framework, plugin, cycle, pod, node);
		go_on = bt_status_is_success(&status) || failed(context, plugin, &status);
	}
}

int bt_status_code_precedence(uint8_t code)
{
	switch (code) {
	case BT_STATUS_ERROR:
		return 3;
	case BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE:
		return 2;
	case BT_STATUS_UNSCHEDULABLE:
		return 1;
	default:
		return 0;
	}
}

/** Runs all filters, and merges the statuses of the filters that do not return Success. */
BT_COLD
static struct bt_status run_all_filters(struct bt_framework *framework,
	struct bt_cycle_state *cycle, const struct bt_pod_info *pod,
	const struct bt_node_info *node)
{
	const struct bt_framework_point *point = &framework->points[BT_POINT_FILTER];
	struct bt_status merged = BT_STATUS_OK;

	for (uint32_t i = 0; i < point->entries.count; i++) {
		struct bt_plugin *plugin = point->entries.items[i].plugin;

		if (bt_plugin_set_has(&cycle->skip_filter, plugin->index)) {
			continue;
		}
		struct bt_status status = bt_run_filter_plugin(framework, plugin, cycle, pod, node);
		if (bt_status_is_success(&status)) {
			continue;
		}
		if (bt_status_is_success(&merged)) {
			merged = status;
			continue;
		}
		if (bt_status_code_precedence(status.code) >=
			bt_status_code_precedence(merged.code)) {
			merged.code = status.code;
		}
		for (uint32_t r = 0; r < bt_status_all_reason_count(&status); r++) {
			bt_status_append_reason(
				&merged, cycle->arena, bt_status_all_reason_at(&status, r));
		}
	}
	return merged;
}

struct bt_status bt_run_filter(struct bt_framework *framework, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node)
{
	const struct bt_framework_point *point = &framework->points[BT_POINT_FILTER];

	if (framework->run_all_filters) {
		return run_all_filters(framework, cycle, pod, node);
	}
	for (uint32_t i = 0; i < point->entries.count; i++) {
		struct bt_plugin *plugin = point->entries.items[i].plugin;

		if (bt_plugin_set_has(&cycle->skip_filter, plugin->index)) {
			continue;
		}
		struct bt_status status = call_filter(framework, plugin, cycle, pod, node);
		if (!bt_status_is_success(&status)) {
			return interpret_failure(cycle->arena, plugin, status);
		}
	}
	return BT_STATUS_OK;
}

struct bt_status bt_run_filter_plugin(struct bt_framework *framework, struct bt_plugin *plugin,
	struct bt_cycle_state *cycle, const struct bt_pod_info *pod,
	const struct bt_node_info *node)
{
	struct bt_status status = call_filter(framework, plugin, cycle, pod, node);

	return bt_status_is_success(&status) ? status
					     : interpret_failure(cycle->arena, plugin, status);
}

void bt_add_nominated_pods(struct bt_framework *framework, const struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node,
	struct bt_nominated_view *out_view)
{
	struct bt_nominated_view *view = out_view;
	const struct bt_pod_info *nominated;
	uint32_t cursor = BT_NOMINATION_FIRST;

	*view = (struct bt_nominated_view){0};
	if (framework->nominator == NULL) {
		return;
	}
	while (bt_status_is_success(&view->status) &&
		(nominated = bt_nominator_next(
			 framework->nominator, bt_node_info_name(node), &cursor)) != NULL) {
		if (!bt_nominated_pod_counts(nominated, pod)) {
			continue;
		}
		if (!view->added) {
			bt_node_info_copy(&view->node, node, cycle->arena);
			bt_framework_clone_cycle(framework, cycle, &view->cycle);
			view->added = true;
		}
		bt_node_info_add_pod(&view->node, cycle->arena, nominated);
		view->status = bt_run_pre_filter_change_pod(
			framework, &view->cycle, pod, nominated, &view->node, 1);
	}
}

struct bt_status bt_run_filter_with_nominated_pods(struct bt_framework *framework,
	struct bt_cycle_state *cycle, const struct bt_pod_info *pod,
	const struct bt_node_info *node)
{
	struct bt_nominated_view view;
	struct bt_status status;

	if (framework->nominator == NULL || framework->nominator->nominations.map.count == 0) {
		return bt_run_filter(framework, cycle, pod, node);
	}
	bt_add_nominated_pods(framework, cycle, pod, node, &view);
	if (view.added) {
		status = view.status;
		if (bt_status_is_success(&status)) {
			status = bt_run_filter(framework, &view.cycle, pod, &view.node);
		}
		bt_cycle_state_finish(&view.cycle);
		if (!bt_status_is_success(&status)) {
			return status;
		}
	}
	return bt_run_filter(framework, cycle, pod, node);
}

struct bt_status bt_run_post_filter(struct bt_framework *framework, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_statuses *statuses,
	struct bt_post_filter_result *out_result)
{
	const struct bt_framework_point *point = &framework->points[BT_POINT_POST_FILTER];
	int64_t point_started_ns = bt_profile_now(framework->metrics);
	struct bt_status merged = bt_status_code_only(BT_STATUS_UNSCHEDULABLE);
	bool ended = cycle->skip_all_post_filter;

	*out_result = (struct bt_post_filter_result){0};
	if (ended) {
		merged = bt_status_reason(BT_STATUS_UNSCHEDULABLE, BT_REASON_POST_FILTER_SKIPPED);
	}
	for (uint32_t i = 0; i < point->entries.count && !ended; i++) {
		struct bt_plugin *plugin = point->entries.items[i].plugin;
		struct bt_post_filter_result result = {0};
		int64_t started_ns = bt_runner_plugin_starts(framework, cycle);
		struct bt_status status =
			plugin->ops->post_filter(plugin, cycle, pod, statuses, &result);

		bt_runner_plugin_ran(framework, plugin, BT_TIMED_POST_FILTER, &status, started_ns);
		if (bt_status_is_success(&status) ||
			status.code == BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE) {
			*out_result = result;
			merged = bt_status_is_success(&status)
				? status
				: bt_runner_with_plugin(status, plugin);
			ended = true;
			continue;
		}
		if (!bt_status_is_rejected(&status)) {
			struct bt_str text = {0};

			*out_result = (struct bt_post_filter_result){0};
			merged = bt_status_as_error(&status, cycle->arena, &text)
				? bt_status_error_text(cycle->arena, text)
				: bt_status_code_only(BT_STATUS_ERROR);
			merged = bt_runner_with_plugin(merged, plugin);
			ended = true;
			continue;
		}
		if (result.present && result.mode != BT_NOMINATING_NOOP) {
			*out_result = result;
		}
		for (uint32_t r = 0; r < bt_status_all_reason_count(&status); r++) {
			bt_status_append_reason(
				&merged, cycle->arena, bt_status_all_reason_at(&status, r));
		}
		if (merged.plugin == 0) {
			merged = bt_runner_with_plugin(merged, plugin);
		}
	}
	(void)bt_profile_point_ran(
		framework->metrics, BT_TIMED_POST_FILTER, merged.code, point_started_ns);
	return merged;
}
