/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_FRAMEWORK_RUNNER_H
#define BT_FRAMEWORK_RUNNER_H
/** Shared by the files of the runners; framework.h has their public part. */
#include "framework/framework.h"

/** Set the status's plugin. */
static inline struct bt_status bt_runner_with_plugin(
	struct bt_status status, const struct bt_plugin *plugin)
{
	status.plugin = (uint16_t)(plugin->index + 1);
	return status;
}

/**
 * Error `<before>"<plugin's name>"<after><text of status>`, plugin not set. Spec 02 sections 1.3
 * and 1.4.
 */
struct bt_status bt_runner_wrap(struct bt_arena *arena, const char *before,
	const struct bt_plugin *plugin, const char *after, const struct bt_status *status);
/** Error `<before>"<plugin's name>" returns an invalid score <n>, ...`. Spec 02 section 5.7. */
struct bt_status bt_runner_invalid_score(
	struct bt_arena *arena, const char *before, const struct bt_plugin *plugin, int64_t score);

/** The time before a plugin runs; 0: this cycle's plugins are not timed. */
static inline int64_t bt_runner_plugin_starts(
	const struct bt_framework *framework, const struct bt_cycle_state *cycle)
{
	return BT_UNLIKELY(cycle->record_plugin_metrics) ? bt_profile_now(framework->metrics) : 0;
}

/** started_ns: the result of the function above. */
static inline void bt_runner_plugin_ran(const struct bt_framework *framework,
	const struct bt_plugin *plugin, enum bt_timed_point point, const struct bt_status *status,
	int64_t started_ns)
{
	if (BT_UNLIKELY(started_ns != 0)) {
		bt_profile_plugin_ran(framework->metrics, plugin, point, status->code, started_ns);
	}
}
#endif
