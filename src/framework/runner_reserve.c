/* SPDX-License-Identifier: Apache-2.0 */
#include "framework/runner.h"

/** The longest a Permit plugin may make a pod wait: 15 minutes. */
#define PERMIT_TIMEOUT_MAX_NS (INT64_C(15) * 60 * 1000 * 1000 * 1000)

static struct bt_status run_reserve(struct bt_framework *framework, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot)
{
	const struct bt_framework_point *point = &framework->points[BT_POINT_RESERVE];

	for (uint32_t i = 0; i < point->entries.count; i++) {
		struct bt_plugin *plugin = point->entries.items[i].plugin;
		struct bt_status status = BT_STATUS_OK;

		if (plugin->ops->reserve != NULL) {
			int64_t started_ns = bt_runner_plugin_starts(framework, cycle);

			status = plugin->ops->reserve(plugin, cycle, pod, slot);
			bt_runner_plugin_ran(
				framework, plugin, BT_TIMED_RESERVE, &status, started_ns);
		}
		if (bt_status_is_rejected(&status)) {
			return bt_runner_with_plugin(status, plugin);
		}
		if (!bt_status_is_success(&status)) {
			return bt_runner_wrap(
				cycle->arena, "running Reserve plugin ", plugin, ": ", &status);
		}
	}
	return BT_STATUS_OK;
}

struct bt_status bt_run_reserve(struct bt_framework *framework, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot)
{
	struct bt_status status;
	int64_t started_ns;

	if (framework->metrics == NULL) {
		return run_reserve(framework, cycle, pod, slot);
	}
	started_ns = bt_profile_now(framework->metrics);
	status = run_reserve(framework, cycle, pod, slot);
	(void)bt_profile_point_ran(framework->metrics, BT_TIMED_RESERVE, status.code, started_ns);
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

static struct bt_permit_outcome run_permit(struct bt_framework *framework,
	struct bt_cycle_state *cycle, const struct bt_pod_info *pod, uint32_t slot)
{
	const struct bt_framework_point *point = &framework->points[BT_POINT_PERMIT];
	struct bt_permit_outcome outcome = {0};

	for (uint32_t i = 0; i < point->entries.count; i++) {
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
			return (struct bt_permit_outcome){
				.status = bt_runner_with_plugin(status, plugin)};
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
	return outcome;
}

struct bt_permit_outcome bt_run_permit(struct bt_framework *framework, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot)
{
	struct bt_permit_outcome outcome;
	int64_t started_ns;

	if (framework->metrics == NULL) {
		return run_permit(framework, cycle, pod, slot);
	}
	started_ns = bt_profile_now(framework->metrics);
	outcome = run_permit(framework, cycle, pod, slot);
	(void)bt_profile_point_ran(
		framework->metrics, BT_TIMED_PERMIT, outcome.status.code, started_ns);
	return outcome;
}
