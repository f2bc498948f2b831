/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_PROCESS_METRICS_H
#define BT_DAEMON_PROCESS_METRICS_H
/**
 * Metrics of the program itself: process_* (read from /proc when they are written), the build, the
 * versions it stands for, its feature gates. Spec: 11 section 10.6. There are no go_* metrics:
 * nothing here is a Go runtime.
 */
#include "config/gates.h"
#include "config/versions.h"
#include "daemon/build_info.h"
#include "metrics/metrics.h"

/** Registers and sets all of them. Nothing is kept but what metrics has. */
void bt_process_metrics_register(struct bt_metrics *metrics, const struct bt_build *build,
	const struct bt_versions *versions, const struct bt_gates *gates);
#endif
