/* SPDX-License-Identifier: Apache-2.0 */
#include "framework/runner.h"

/** The longest a Permit plugin may make a pod wait: 15 minutes. */
#define PERMIT_TIMEOUT_MAX_NS (INT64_C(15) * 60 * 1000 * 1000 * 1000)

struct bt_status bt_run_reserve(struct bt_framework *framework, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot)
{
	const struct bt_framework_point *point = &framework->points[BT_POINT_RESERVE];

	for (uint32_t i = 0; i < point->entries.count; i++) {
		struct bt_plugin *plugin = point->entries.items[i].plugin;
		struct bt_status status = BT_STATUS_OK;

		if (plugin->ops->reserve != NULL) {
			status = plugin->ops->reserve(plugin, cycle, pod, slot);
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

void bt_run_unreserve(struct bt_framework *framework, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot)
{
	const struct bt_framework_point *point = &framework->points[BT_POINT_RESERVE];

	for (uint32_t i = point->entries.count; i-- > 0;) {
		struct bt_plugin *plugin = point->entries.items[i].plugin;

		if (plugin->ops->unreserve != NULL) {
			plugin->ops->unreserve(plugin, cycle, pod, slot);
		}
	}
}

struct bt_permit_outcome bt_run_permit(struct bt_framework *framework, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot)
{
	const struct bt_framework_point *point = &framework->points[BT_POINT_PERMIT];
	struct bt_permit_outcome outcome = {0};

	for (uint32_t i = 0; i < point->entries.count; i++) {
		struct bt_plugin *plugin = point->entries.items[i].plugin;
		int64_t timeout_ns = 0;
		struct bt_status status =
			plugin->ops->permit(plugin, cycle, pod, slot, &timeout_ns);

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
