/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_CLOCK_H
#define BT_CLUSTER_CLOCK_H
/**
 * The cluster's time: real time, real time multiplied by a factor since the start, or virtual time,
 * which only bt_cluster_clock_advance moves. The time never goes back, because objects carry times:
 * setting the machine's clock does not change it, and a restart continues from the time saved
 * beside the store.
 */
#include <stdint.h>
#include <time.h>

#include "base/error.h"

struct bt_cluster_clock {
	int64_t start_ns; /* nanoseconds since 1970: the cluster's time at the start, or current
	                     virtual time */
	int64_t start_monotonic_ns;
	double scale; /* cluster seconds per second of the machine; 0: virtual time */
	int file;     /* descriptor of the file that the time is saved in; -1: no file */
	int64_t next_save_ns;
};

/**
 * scale 0: virtual time, which begins at virtual_start_ns. path: the file that the time is saved
 * in; if the saved time is later than the start, the clock continues from the saved time. NULL: the
 * time is not saved.
 */
BT_MUST_USE int bt_cluster_clock_start(struct bt_cluster_clock *clock, double scale,
	int64_t virtual_start_ns, const char *path, struct berth_error *err);
void bt_cluster_clock_finish(struct bt_cluster_clock *clock);
/** clock: struct bt_cluster_clock *; void * because the API calls this through a pointer. */
int64_t bt_cluster_clock_now_ns(void *clock);
/** Move virtual time to now_ns; an earlier time changes nothing. */
void bt_cluster_clock_advance(struct bt_cluster_clock *clock, int64_t now_ns);
/**
 * Returns the time of the monotonic clock at which the cluster's clock reaches cluster_ns.
 * INT64_MAX (never) stays INT64_MAX. Must not be called in virtual time.
 */
int64_t bt_cluster_clock_monotonic_of(const struct bt_cluster_clock *clock, int64_t cluster_ns);
/**
 * Saves the time if a save is due. Returns the time of the monotonic clock at which to call again;
 * INT64_MAX: the clock has no file.
 */
int64_t bt_cluster_clock_save(struct bt_cluster_clock *clock);
#endif
