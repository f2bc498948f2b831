/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BASE_NANOSECONDS_H
#define BT_BASE_NANOSECONDS_H
/** Times and durations inside the process are int64 nanoseconds. */
#include <stdint.h>

#include "base/compiler.h"

#define BT_NS_PER_US INT64_C(1000)
#define BT_NS_PER_MS INT64_C(1000000)
#define BT_NS_PER_SECOND INT64_C(1000000000)

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
