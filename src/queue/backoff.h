/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_QUEUE_BACKOFF_H
#define BT_QUEUE_BACKOFF_H
/** Duration of the backoff after a failed attempt. Pure arithmetic. Spec: 04 section 5. */
#include <stdbool.h>
#include <stdint.h>

/** Expiration of a pod that does not back off; earlier than every other time. */
#define BT_BACKOFF_NEVER INT64_MIN

/**
 * Returns initial_ns doubled count - 1 times, at most max_ns; 0 if count or initial_ns is not
 * positive. Spec 04 section 5.2.
 */
int64_t bt_backoff_duration_ns(int64_t initial_ns, int64_t max_ns, int64_t count);
/** Rounds a time in nanoseconds down to the whole second, also before 1970. Spec 04 section 5.3. */
int64_t bt_floor_to_second_ns(int64_t time_ns);
/**
 * Returns the end of the backoff that began at timestamp_ns; BT_BACKOFF_NEVER if max_ns or count is
 * 0. windows (gate SchedulerPopFromBackoffQ): the end is rounded down to a whole second. Spec 04
 * section 5.3.
 */
int64_t bt_backoff_expiration_ns(
	int64_t timestamp_ns, int64_t initial_ns, int64_t max_ns, int64_t count, bool windows);
/**
 * Whether the pod still backs off at now_ns. The time expiration_ns itself belongs to the backoff.
 * windows: now_ns is rounded down to a whole second. Spec 04 section 5.4.
 */
bool bt_is_backing_off(int64_t expiration_ns, int64_t now_ns, bool windows);
#endif
