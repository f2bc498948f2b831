/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a cycle counts. Plans answer for many nodes at once, or know the answer already: the counts
 * are those of asking every plugin about every node in turn (spec 02 section 14).
 */
#include "sched/cycle_private.h"

void bt_cycle_point_ran(
	struct bt_cycle_run *run, enum bt_timed_point point, const struct bt_status *status)
{
	run->step_started_ns = bt_profile_point_ran(
		run->framework->metrics, point, status->code, run->step_started_ns);
}

void bt_cycle_filters_ran(struct bt_cycle_run *run, const struct bt_status *status)
{
	if (run->framework->points[BT_POINT_FILTER].entries.count != 0) {
		bt_cycle_point_ran(run, BT_TIMED_FILTER,
			bt_status_is_success(status)
				? status
				: &(struct bt_status){.code = BT_STATUS_ERROR});
	}
}

/** Does the run of PreFilter end with this plugin, the last of those that narrowed the search? */
static bool ends_pre_filter(const struct bt_cycle_run *run, const struct bt_plugin *plugin,
	const struct bt_plugin_set *narrowed_after)
{
	const struct bt_status *status = &run->pre_filter.status;
	static const struct bt_plugin_set none = {0};
	/* Unschedulable lets the later plugins run. */
	if (bt_status_is_success(status) || status->code == BT_STATUS_UNSCHEDULABLE) {
		return false;
	}
	if (status->plugin != 0) {
		return status->plugin == plugin->index + 1U;
	}
	return memcmp(narrowed_after, &none, sizeof(none)) == 0;
}

void bt_cycle_count_pre_filters(const struct bt_cycle_run *run)
{
	const struct bt_framework_point *point = &run->framework->points[BT_POINT_PRE_FILTER];
	struct bt_plugin_set narrowed = run->pre_filter.plugins_with_nodes;
	if (run->framework->metrics == NULL) {
		return;
	}
	for (uint32_t i = 0; i < point->entries.count; i++) {
		const struct bt_plugin *plugin = point->entries.items[i].plugin;
		if (bt_plugin_set_has(&run->cycle->skip_filter, plugin->index)) {
			continue;
		}
		bt_profile_evaluated(run->framework->metrics, plugin, BT_TIMED_PRE_FILTER, 1);
		narrowed.words[plugin->index >> 6] &= ~(UINT64_C(1) << (plugin->index & 63));
		if (ends_pre_filter(run, plugin, &narrowed)) {
			return;
		}
	}
}

void bt_cycle_count_filters(
	const struct bt_cycle_run *run, uint32_t examined, const uint32_t *rejected)
{
	const struct bt_plan *plan = run->plan;
	if (run->framework->metrics == NULL) {
		return;
	}
	for (uint32_t i = 0; i < plan->filter_count; i++) {
		const struct bt_plugin *plugin = plan->filters[i].plugin;
		if (!bt_plugin_set_has(&run->cycle->skip_filter, plugin->index)) {
			bt_profile_evaluated(
				run->framework->metrics, plugin, BT_TIMED_FILTER, examined);
		}
		examined -= rejected != NULL ? rejected[i] : 0;
	}
}

void bt_cycle_count_node(const struct bt_cycle_run *run, uint32_t failing)
{
	const struct bt_plan *plan = run->plan;
	if (run->framework->metrics == NULL) {
		return;
	}
	for (uint32_t i = 0; i < plan->filter_count && i <= failing; i++) {
		const struct bt_plugin *plugin = plan->filters[i].plugin;
		if (plan->filters[i].form != BT_FILTER_PLAIN &&
			!bt_plugin_set_has(&run->cycle->skip_filter, plugin->index)) {
			bt_profile_evaluated(run->framework->metrics, plugin, BT_TIMED_FILTER, 1);
		}
	}
}

static void count_unskipped(const struct bt_cycle_run *run, enum bt_extension_point list,
	enum bt_timed_point point, uint32_t calls)
{
	const struct bt_framework_point *entries = &run->framework->points[list];
	if (run->framework->metrics == NULL) {
		return;
	}
	for (uint32_t i = 0; i < entries->entries.count; i++) {
		const struct bt_plugin *plugin = entries->entries.items[i].plugin;
		if (!bt_plugin_set_has(&run->cycle->skip_score, plugin->index)) {
			bt_profile_evaluated(run->framework->metrics, plugin, point, calls);
		}
	}
}

void bt_cycle_count_pre_scores(const struct bt_cycle_run *run)
{
	count_unskipped(run, BT_POINT_PRE_SCORE, BT_TIMED_PRE_SCORE, 1);
}

void bt_cycle_count_scores(const struct bt_cycle_run *run, uint32_t count)
{
	count_unskipped(run, BT_POINT_SCORE, BT_TIMED_SCORE, count);
}
