/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_FRAMEWORK_RUNNER_H
#define BT_FRAMEWORK_RUNNER_H
/** Helpers of the files that implement the runners. framework.h declares the runners. */
#include "framework/framework.h"

/** Returns the status with its plugin field set. */
static inline struct bt_status bt_runner_with_plugin(
	struct bt_status status, const struct bt_plugin *plugin)
{
	status.plugin = (uint16_t)(plugin->index + 1);
	return status;
}

/**
 * Returns the Error `<before>"<plugin's name>"<after><text of status>`, without the plugin field.
 * Spec 02 sections 1.3 and 1.4.
 */
struct bt_status bt_runner_wrap(struct bt_arena *arena, const char *before,
	const struct bt_plugin *plugin, const char *after, const struct bt_status *status);

/** Returns the current time in nanoseconds, or 0 if the plugins of this cycle are not timed. */
static inline int64_t bt_runner_plugin_starts(
	const struct bt_framework *framework, const struct bt_cycle_state *cycle)
{
	return BT_UNLIKELY(cycle->record_plugin_metrics) ? bt_profile_now(framework->metrics) : 0;
}

/** Records a plugin's run. started_ns: result of bt_runner_plugin_starts; 0: records nothing. */
static inline void bt_runner_plugin_ran(const struct bt_framework *framework,
	const struct bt_plugin *plugin, enum bt_timed_point point, const struct bt_status *status,
	int64_t started_ns)
{
	if (BT_UNLIKELY(started_ns != 0)) {
		bt_profile_plugin_ran(framework->metrics, plugin, point, status->code, started_ns);
	}
}
#endif
