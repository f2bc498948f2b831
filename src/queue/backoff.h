/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_QUEUE_BACKOFF_H
#define BT_QUEUE_BACKOFF_H
/** Duration of the backoff after a failed attempt. Pure arithmetic. Spec: 04 section 5. */
#include <stdbool.h>
#include <stdint.h>

/** A time before every other: the pod is not backing off. */
#define BT_BACKOFF_NEVER INT64_MIN

/**
 * Returns the number of failures that determines the backoff: consecutive errors if the last
 * failure was an error, else all attempts. Spec 04 section 5.1.
 */
int64_t bt_backoff_count(int64_t unschedulable_count, int64_t consecutive_errors);
/**
 * Doubles initial count - 1 times, up to max; returns 0 when count is 0. Nanoseconds. Spec 04
 * section 5.2.
 */
int64_t bt_backoff_duration_ns(int64_t initial_ns, int64_t max_ns, int64_t count);
/** Rounds a time in nanoseconds down to the whole second, also before 1970. Spec 04 section 5.3. */
int64_t bt_floor_to_second_ns(int64_t time_ns);
/**
 * Returns the end of the backoff that began at timestamp, or BT_BACKOFF_NEVER. windows (gate
 * SchedulerPopFromBackoffQ): the end is rounded down to a whole second. Spec 04 section 5.3.
 */
int64_t bt_backoff_expiration_ns(
	int64_t timestamp_ns, int64_t initial_ns, int64_t max_ns, int64_t count, bool windows);
/** A pod still backs off at the very end of its backoff. Spec 04 section 5.4. */
bool bt_is_backing_off(int64_t expiration_ns, int64_t now_ns, bool windows);
#endif
