/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_MEMORY_H
#define BT_DAEMON_MEMORY_H
/** What the process holds without need is given back to the system. */
#include <stdint.h>

/**
 * At the start, before there are threads. Large arrays grow by moving their pages, not by copies
 * that leave holes; the short-lived threads in which libcurl looks up names share one heap with
 * the thread that works.
 */
void bt_daemon_tune_memory(void);
/**
 * Pages of code and constants that were only used to start (of the program and of its libraries)
 * are let go; what is used again comes back from the file. Free memory of the heap is let go, too.
 */
void bt_daemon_trim_memory(void);
/**
 * A worker of the loop: code that was used now and then is let go after so much work that this does
 * not count. What opens connections is 2 MB, for example. context: struct bt_daemon_idle_code.
 */
struct bt_daemon_idle_code {
	int64_t look_at_ns; /* of the loop's clock */
	int64_t dropped_ns; /* of processor time */
};
int64_t bt_daemon_drop_idle_code(void *context, int64_t now_ns);
#endif
