/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_NET_CLOCK_H
#define BT_NET_CLOCK_H
/** The machine's clocks, in nanoseconds. Code of lower layers takes the time as a parameter. */
#include <stdint.h>

/** Time since 1970 (CLOCK_REALTIME); may jump forward and back when the clock is set. */
int64_t bt_clock_wall_ns(void);
/** Monotonic clock of event loops; stops while the machine is suspended. */
int64_t bt_clock_steady_ns(void);
/** Monotonic clock that also runs while the machine is suspended. */
int64_t bt_clock_boot_ns(void);
#endif
