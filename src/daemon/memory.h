/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_MEMORY_H
#define BT_DAEMON_MEMORY_H
/** What the process holds without need is given back to the system. */

/**
 * Pages of code and constants that were only used to start (of the program and of its libraries)
 * are let go; what is used again comes back from the file. Free memory of the heap is let go, too.
 */
void bt_daemon_trim_memory(void);
#endif
