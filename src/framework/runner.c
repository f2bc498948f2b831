/* SPDX-License-Identifier: Apache-2.0 */
#include "framework/runner.h"

struct bt_status bt_runner_wrap(struct bt_arena *arena, const char *before,
	const struct bt_plugin *plugin, const char *after, const struct bt_status *status)
{
	struct bt_strbuf text = {0};
	struct bt_str cause = BT_STR("%!w(<nil>)"); /* what upstream prints if AsError is nil */

	(void)bt_status_as_error(status, arena, &cause);
	bt_strbuf_append_c(&text, before);
	bt_strbuf_append_quoted(&text, bt_str_from(plugin->ops->name));
	bt_strbuf_append_c(&text, after);
	bt_strbuf_append_str(&text, cause);
	struct bt_status wrapped = bt_status_error_text(arena, bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
	return wrapped;
}

struct bt_status bt_run_pre_enqueue(struct bt_framework *framework, const struct bt_pod_info *pod,
	struct bt_arena *arena, struct bt_plugin *first, struct bt_plugin **out_gating_plugin)
{
	const struct bt_framework_point *point = &framework->points[BT_POINT_PRE_ENQUEUE];
	int64_t point_started_ns = bt_profile_now(framework->metrics);
	bool timed = bt_profile_samples(framework->metrics);
	struct bt_status status = BT_STATUS_OK;

	*out_gating_plugin = NULL;
	for (uint32_t i = 0; i <= point->entries.count && bt_status_is_success(&status); i++) {
		struct bt_plugin *plugin = i == 0 ? first : point->entries.items[i - 1].plugin;

		if (plugin == NULL || (i != 0 && plugin == first) ||
			plugin->ops->pre_enqueue == NULL) {
			continue;
		}
		int64_t started_ns = timed ? bt_profile_now(framework->metrics) : 0;
		status = plugin->ops->pre_enqueue(plugin, pod, arena);
		bt_runner_plugin_ran(framework, plugin, BT_TIMED_PRE_ENQUEUE, &status, started_ns);
		if (!bt_status_is_success(&status)) {
			*out_gating_plugin = plugin;
			status = bt_runner_with_plugin(status, plugin);
		}
	}
	/* Upstream quirk, spec 02 section 14: the metric has status Success whatever the result. */
	(void)bt_profile_point_ran(
		framework->metrics, BT_TIMED_PRE_ENQUEUE, BT_STATUS_SUCCESS, point_started_ns);
	return status;
}

void bt_run_pre_enqueue_known(const struct bt_framework *framework, uint32_t count)
{
	if (framework->metrics != NULL) {
		(void)bt_profile_count_point(framework->metrics, BT_TIMED_PRE_ENQUEUE,
			BT_STATUS_SUCCESS, bt_profile_now(framework->metrics), count);
	}
}

/** The longest a Permit plugin may make a pod wait: 15 minutes. */
#define PERMIT_TIMEOUT_MAX_NS (INT64_C(15) * 60 * 1000 * 1000 * 1000)

struct bt_status bt_run_reserve(struct bt_framework *framework, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot)
{
	const struct bt_framework_point *point = &framework->points[BT_POINT_RESERVE];
	int64_t point_started_ns = bt_profile_now(framework->metrics);
	struct bt_status status = BT_STATUS_OK;

	for (uint32_t i = 0; i < point->entries.count && bt_status_is_success(&status); i++) {
		struct bt_plugin *plugin = point->entries.items[i].plugin;

		if (plugin->ops->reserve == NULL) {
			continue;
		}
		int64_t started_ns = bt_runner_plugin_starts(framework, cycle);
		status = plugin->ops->reserve(plugin, cycle, pod, slot);
		bt_runner_plugin_ran(framework, plugin, BT_TIMED_RESERVE, &status, started_ns);
		if (bt_status_is_rejected(&status)) {
			status = bt_runner_with_plugin(status, plugin);
		} else if (!bt_status_is_success(&status)) {
			status = bt_runner_wrap(
				cycle->arena, "running Reserve plugin ", plugin, ": ", &status);
		}
	}
	(void)bt_profile_point_ran(
		framework->metrics, BT_TIMED_RESERVE, status.code, point_started_ns);
	return status;
}

void bt_run_unreserve(struct bt_framework *framework, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot)
{
	const struct bt_framework_point *point = &framework->points[BT_POINT_RESERVE];
	int64_t point_started_ns = bt_profile_now(framework->metrics);

	for (uint32_t i = point->entries.count; i-- > 0;) {
		struct bt_plugin *plugin = point->entries.items[i].plugin;

		if (plugin->ops->unreserve != NULL) {
			int64_t started_ns = bt_runner_plugin_starts(framework, cycle);

			plugin->ops->unreserve(plugin, cycle, pod, slot);
			bt_runner_plugin_ran(
				framework, plugin, BT_TIMED_UNRESERVE, &BT_STATUS_OK, started_ns);
		}
	}
	(void)bt_profile_point_ran(
		framework->metrics, BT_TIMED_UNRESERVE, BT_STATUS_SUCCESS, point_started_ns);
}

struct bt_permit_outcome bt_run_permit(struct bt_framework *framework, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot)
{
	const struct bt_framework_point *point = &framework->points[BT_POINT_PERMIT];
	int64_t point_started_ns = bt_profile_now(framework->metrics);
	struct bt_permit_outcome outcome = {0};
	bool ended = false;

	for (uint32_t i = 0; i < point->entries.count && !ended; i++) {
		struct bt_plugin *plugin = point->entries.items[i].plugin;
		int64_t timeout_ns = 0;
		int64_t started_ns = bt_runner_plugin_starts(framework, cycle);
		struct bt_status status =
			plugin->ops->permit(plugin, cycle, pod, slot, &timeout_ns);

		bt_runner_plugin_ran(framework, plugin, BT_TIMED_PERMIT, &status, started_ns);
		if (bt_status_is_success(&status)) {
			continue;
		}
		if (status.code != BT_STATUS_WAIT) {
			if (!bt_status_is_rejected(&status)) {
				status = bt_runner_wrap(cycle->arena, "running Permit plugin ",
					plugin, ": ", &status);
			}
			outcome = (struct bt_permit_outcome){
				.status = bt_runner_with_plugin(status, plugin)};
			ended = true;
			continue;
		}
		if (outcome.waits == NULL) {
			outcome.waits = BT_ARENA_NEW_ARRAY(
				cycle->arena, struct bt_wait_time, point->entries.count);
		}
		outcome.waits[outcome.wait_count++] = (struct bt_wait_time){
			.plugin = plugin,
			.timeout_ns = timeout_ns < PERMIT_TIMEOUT_MAX_NS ? timeout_ns
									 : PERMIT_TIMEOUT_MAX_NS,
		};
		outcome.status = status;
	}
	if (outcome.wait_count > 0) {
		bt_status_append_reason(
			&outcome.status, cycle->arena, bt_reason_texts[BT_REASON_PERMIT_WAIT]);
	}
	(void)bt_profile_point_ran(
		framework->metrics, BT_TIMED_PERMIT, outcome.status.code, point_started_ns);
	return outcome;
}

struct bt_status bt_run_pre_bind_pre_flights(struct bt_framework *framework,
	struct bt_cycle_state *cycle, const struct bt_pod_info *pod, uint32_t slot)
{
	const struct bt_framework_point *point = &framework->points[BT_POINT_PRE_BIND];
	int64_t point_started_ns = bt_profile_now(framework->metrics);
	struct bt_plugin_set skip = {0};
	struct bt_plugin_set parallel = {0};
	struct bt_status outcome = bt_status_code_only(BT_STATUS_SKIP);

	for (uint32_t i = 0; i < point->entries.count && outcome.code != BT_STATUS_ERROR; i++) {
		struct bt_plugin *plugin = point->entries.items[i].plugin;
		struct bt_pre_bind_pre_flight result = {0};
		struct bt_status status = BT_STATUS_OK;

		if (plugin->ops->pre_bind_pre_flight != NULL) {
			int64_t started_ns = bt_runner_plugin_starts(framework, cycle);

			status =
				plugin->ops->pre_bind_pre_flight(plugin, cycle, pod, slot, &result);
			bt_runner_plugin_ran(framework, plugin, BT_TIMED_PRE_BIND_PRE_FLIGHT,
				&status, started_ns);
		}
		if (result.allow_parallel) {
			bt_plugin_set_add(&parallel, plugin->index);
		}
		switch ((enum bt_status_code)status.code) {
		case BT_STATUS_SUCCESS:
			outcome = BT_STATUS_OK;
			break;
		case BT_STATUS_SKIP:
			bt_plugin_set_add(&skip, plugin->index);
			break;
		case BT_STATUS_ERROR:
			outcome = bt_runner_wrap(
				cycle->arena, "running PreBindPreFlight ", plugin, ": ", &status);
			break;
		case BT_STATUS_UNSCHEDULABLE:
		case BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE:
		case BT_STATUS_WAIT:
		case BT_STATUS_PENDING:
			/* Spec 02 section 5.10. */
			outcome = bt_status_error_text(cycle->arena,
				bt_arena_printf(cycle->arena,
					"PreBindPreFlight %s returned \"%s\", which is "
					"unsupported. It is supposed to return Success, Skip, or "
					"Error status",
					plugin->ops->name,
					bt_status_code_name((enum bt_status_code)status.code)));
			break;
		}
	}
	if (outcome.code != BT_STATUS_ERROR) {
		cycle->skip_pre_bind = skip;
		cycle->parallel_pre_bind = parallel;
		cycle->pre_bind_flights_done = true;
	}
	(void)bt_profile_point_ran(
		framework->metrics, BT_TIMED_PRE_BIND_PRE_FLIGHT, outcome.code, point_started_ns);
	return outcome;
}

uint32_t bt_pre_bind_groups(const struct bt_framework *framework,
	const struct bt_cycle_state *cycle, struct bt_pre_bind_group **out_groups)
{
	const struct bt_framework_point *point = &framework->points[BT_POINT_PRE_BIND];
	uint32_t count = point->entries.count;
	struct bt_pre_bind_group *groups =
		BT_ARENA_NEW_ARRAY(cycle->arena, struct bt_pre_bind_group, count);
	struct bt_plugin **members = BT_ARENA_NEW_ARRAY(cycle->arena, struct bt_plugin *, count);
	uint32_t group_count = 0;
	bool open = false; /* the next parallel plugin joins the last group */

	for (uint32_t i = 0; i < count; i++) {
		struct bt_plugin *plugin = point->entries.items[i].plugin;
		bool done = cycle->pre_bind_flights_done;
		bool skipped = done && bt_plugin_set_has(&cycle->skip_pre_bind, plugin->index);
		bool parallel = done && bt_plugin_set_has(&cycle->parallel_pre_bind, plugin->index);

		if (!parallel) {
			open = false;
		}
		if (skipped) {
			continue;
		}
		if (!open) {
			groups[group_count++] = (struct bt_pre_bind_group){.plugins = members};
		}
		*members++ = plugin;
		groups[group_count - 1].count++;
		open = parallel;
	}
	*out_groups = groups;
	return group_count;
}

struct bt_status bt_run_pre_bind_from(struct bt_framework *framework, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot, struct bt_pre_bind_progress *progress)
{
	struct bt_pre_bind_group *groups;
	uint32_t group_count = bt_pre_bind_groups(framework, cycle, &groups);
	struct bt_status result = BT_STATUS_OK; /* Wait: a plugin of the current group waits */

	for (; progress->group < group_count; progress->group++) {
		const struct bt_pre_bind_group *group = &groups[progress->group];

		for (uint32_t i = 0; i < group->count; i++) {
			struct bt_plugin *plugin = group->plugins[i];

			if (bt_plugin_set_has(&progress->done, plugin->index)) {
				continue;
			}
			if (cycle->cancel_cause.length != 0) {
				struct bt_status canceled =
					bt_status_error_text(cycle->arena, cycle->cancel_cause);

				return bt_runner_wrap(cycle->arena, "running PreBind plugin ",
					plugin, ": ", &canceled);
			}
			int64_t started_ns = bt_runner_plugin_starts(framework, cycle);
			struct bt_status status = plugin->ops->pre_bind(plugin, cycle, pod, slot);

			if (status.code == BT_STATUS_WAIT) {
				result = status;
				continue;
			}
			bt_runner_plugin_ran(
				framework, plugin, BT_TIMED_PRE_BIND, &status, started_ns);
			if (bt_status_is_rejected(&status)) {
				return bt_runner_with_plugin(status, plugin);
			}
			if (!bt_status_is_success(&status)) {
				return bt_runner_wrap(cycle->arena, "running PreBind plugin ",
					plugin, ": ", &status);
			}
			bt_plugin_set_add(&progress->done, plugin->index);
		}
		if (!bt_status_is_success(&result)) {
			return result;
		}
	}
	return BT_STATUS_OK;
}

struct bt_status bt_run_bind_from(struct bt_framework *framework, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot, uint32_t *next)
{
	const struct bt_framework_point *point = &framework->points[BT_POINT_BIND];

	if (point->entries.count == 0) {
		return bt_status_text(BT_STATUS_SKIP, cycle->arena, BT_STR(""));
	}
	struct bt_status status = BT_STATUS_OK;
	for (; *next < point->entries.count; (*next)++) {
		struct bt_plugin *plugin = point->entries.items[*next].plugin;

		int64_t started_ns = bt_runner_plugin_starts(framework, cycle);

		status = plugin->ops->bind(plugin, cycle, pod, slot);
		if (status.code != BT_STATUS_WAIT) {
			bt_runner_plugin_ran(framework, plugin, BT_TIMED_BIND, &status, started_ns);
		}
		if (status.code == BT_STATUS_SKIP) {
			continue;
		}
		if (bt_status_is_success(&status) || status.code == BT_STATUS_WAIT) {
			return status;
		}
		if (bt_status_is_rejected(&status)) {
			return bt_runner_with_plugin(status, plugin);
		}
		return bt_runner_wrap(cycle->arena, "running Bind plugin ", plugin, ": ", &status);
	}
	return status;
}

void bt_run_post_bind(struct bt_framework *framework, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot)
{
	const struct bt_framework_point *point = &framework->points[BT_POINT_POST_BIND];
	int64_t point_started_ns = bt_profile_now(framework->metrics);

	for (uint32_t i = 0; i < point->entries.count; i++) {
		struct bt_plugin *plugin = point->entries.items[i].plugin;
		int64_t started_ns = bt_runner_plugin_starts(framework, cycle);

		plugin->ops->post_bind(plugin, cycle, pod, slot);
		bt_runner_plugin_ran(
			framework, plugin, BT_TIMED_POST_BIND, &BT_STATUS_OK, started_ns);
	}
	(void)bt_profile_point_ran(
		framework->metrics, BT_TIMED_POST_BIND, BT_STATUS_SUCCESS, point_started_ns);
}
