/* SPDX-License-Identifier: Apache-2.0 */
#include "net/clock.h"

#include <time.h>

#include "base/nanoseconds.h"

static int64_t read_ns(clockid_t clock)
{
	struct timespec now = {0};
	(void)clock_gettime(clock, &now); /* cannot fail for these clocks */
	return (int64_t)now.tv_sec * BT_NS_PER_SECOND + now.tv_nsec;
}

int64_t bt_clock_wall_ns(void)
{
	return read_ns(CLOCK_REALTIME);
}

int64_t bt_clock_steady_ns(void)
{
	return read_ns(CLOCK_MONOTONIC);
}

int64_t bt_clock_boot_ns(void)
{
	return read_ns(CLOCK_BOOTTIME);
}
