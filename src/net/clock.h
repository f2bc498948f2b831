/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_NET_CLOCK_H
#define BT_NET_CLOCK_H
/**
 * The clocks of the machine, in nanoseconds. What is below this folder takes time as a parameter.
 */
#include <stdint.h>

/** Since 1970. It may be set, back as well. */
int64_t bt_clock_wall_ns(void);
/** Steady; it stands while the machine sleeps. That of loops. */
int64_t bt_clock_steady_ns(void);
/** Steady, and it goes on while the machine sleeps. */
int64_t bt_clock_boot_ns(void);
#endif
