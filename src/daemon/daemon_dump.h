/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_DAEMON_DUMP_H
#define BT_DAEMON_DAEMON_DUMP_H
/** What SIGUSR2 tells of cache and queue. Spec: 11 section 6.4. */
#include "client/reflector.h"
#include "sched/scheduler.h"

/** Log where the scheduler's cache and what the API told differ. Reflectors NULL: they hold
 * nothing. */
void bt_daemon_compare_cache(struct bt_scheduler *scheduler, const struct bt_reflector *nodes,
	const struct bt_reflector *pods);
/** Log all cached nodes with their pods, and the pods that are queued. */
void bt_daemon_dump_cache(struct bt_scheduler *scheduler);
#endif
