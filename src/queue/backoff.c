/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/backoff.h"

#include "base/compiler.h"
#include "base/nanoseconds.h"

int64_t bt_backoff_count(int64_t unschedulable_count, int64_t consecutive_errors)
{
	return consecutive_errors > 0 ? consecutive_errors : unschedulable_count;
}

int64_t bt_backoff_duration_ns(int64_t initial_ns, int64_t max_ns, int64_t count)
{
	int64_t shift = count - 1;

	if (count <= 0 || initial_ns <= 0) {
		return 0;
	}
	/* Shifts of the width of the type are undefined in C; there everything is shifted out. */
	if (shift >= 63 || initial_ns > max_ns >> shift) {
		return max_ns;
	}
	return initial_ns << shift;
}

int64_t bt_floor_to_second_ns(int64_t time_ns)
{
	int64_t rest = time_ns % BT_NS_PER_SECOND;
	int64_t floor;

	if (rest < 0) {
		rest += BT_NS_PER_SECOND;
	}
	return BT_SUB_OVERFLOW(time_ns, rest, &floor) ? INT64_MIN : floor;
}

int64_t bt_backoff_expiration_ns(
	int64_t timestamp_ns, int64_t initial_ns, int64_t max_ns, int64_t count, bool windows)
{
	int64_t end;

	if (max_ns == 0 || count == 0) {
		return BT_BACKOFF_NEVER;
	}
	if (BT_ADD_OVERFLOW(
		    timestamp_ns, bt_backoff_duration_ns(initial_ns, max_ns, count), &end)) {
		end = INT64_MAX;
	}
	return windows ? bt_floor_to_second_ns(end) : end;
}

bool bt_is_backing_off(int64_t expiration_ns, int64_t now_ns, bool windows)
{
	return expiration_ns >= (windows ? bt_floor_to_second_ns(now_ns) : now_ns) &&
		expiration_ns != BT_BACKOFF_NEVER;
}
