/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_QUEUE_BACKOFF_H
#define BT_QUEUE_BACKOFF_H
/** How long a pod waits after a failed attempt. Pure arithmetic. Spec: 04 section 5. */
#include <stdbool.h>
#include <stdint.h>

/** Before every other time: the pod is not backing off. */
#define BT_BACKOFF_NEVER INT64_MIN

/** Number of failures that determines the backoff: consecutive errors if the last failure was an
 * error, else all attempts. Spec 04 section 5.1. */
int64_t bt_backoff_count(int64_t unschedulable_count, int64_t consecutive_errors);
/** initial doubled count - 1 times, at most max; 0 when count is 0. Nanoseconds. Spec 04 section
 * 5.2. */
int64_t bt_backoff_duration_ns(int64_t initial_ns, int64_t max_ns, int64_t count);
/** The whole second at or before a time in nanoseconds, also before 1970. Spec 04 section 5.3. */
int64_t bt_floor_to_second_ns(int64_t time_ns);
/**
 * End of the backoff that began at timestamp, or BT_BACKOFF_NEVER. windows: ends are cut to
 * whole seconds (gate SchedulerPopFromBackoffQ). Spec 04 section 5.3.
 */
int64_t bt_backoff_expiration_ns(
	int64_t timestamp_ns, int64_t initial_ns, int64_t max_ns, int64_t count, bool windows);
/** Equality counts as backing off. Spec 04 section 5.4. */
bool bt_is_backing_off(int64_t expiration_ns, int64_t now_ns, bool windows);
#endif
