/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BASE_NANOSECONDS_H
#define BT_BASE_NANOSECONDS_H
/** Times and durations inside the process are int64 nanoseconds. */
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

#define BT_NS_PER_US INT64_C(1000)
#define BT_NS_PER_MS INT64_C(1000000)
#define BT_NS_PER_SECOND INT64_C(1000000000)

/** Month and day count from 1. */
static inline int bt_days_in_month(int year, int month)
{
	static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
	return month == 2 && is_leap ? 29 : days[month - 1];
}

/**
 * Converts seconds. The result saturates at the limits of int64, because users may give any number
 * of seconds.
 */
static inline int64_t bt_ns_of_seconds(int64_t seconds)
{
	int64_t ns;
	return BT_MUL_OVERFLOW(seconds, BT_NS_PER_SECOND, &ns)
		? (seconds < 0 ? INT64_MIN : INT64_MAX)
		: ns;
}
#endif
