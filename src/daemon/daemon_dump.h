/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_DAEMON_DUMP_H
#define BT_DAEMON_DAEMON_DUMP_H
/** The log output of SIGUSR2: comparison and dump of cache and queue. Spec: 11 section 6.4. */
#include "client/reflector.h"
#include "sched/scheduler.h"

/**
 * Log the differences between the scheduler's cache and the objects of the API. A reflector that is
 * NULL counts as empty.
 */
void bt_daemon_compare_cache(struct bt_scheduler *scheduler, const struct bt_reflector *nodes,
	const struct bt_reflector *pods);
/** Log all cached nodes with their pods, and the queued pods. */
void bt_daemon_dump_cache(struct bt_scheduler *scheduler);
#endif
