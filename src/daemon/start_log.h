/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_START_LOG_H
#define BT_DAEMON_START_LOG_H
/** What the log says of the configuration when the process starts. Spec: 10 sections 6.3, 7.4. */
#include "config/config.h"
#include "sched/scheduler.h"

/** A line for each default plugin that a profile lists again. */
void bt_start_log_overrides(const struct bt_config *config);
/** At level 2, a line for each profile: the plugins of every extension point, as they are called.
 */
void bt_start_log_plugins(const struct bt_scheduler *scheduler);
#endif
