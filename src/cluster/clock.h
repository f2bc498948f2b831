/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_CLOCK_H
#define BT_CLUSTER_CLOCK_H
/**
 * The cluster's time: the world's, or one that runs faster or slower from the start on. It never
 * goes back, whatever is done to the machine's clock, and not by a restart either: where it has
 * got to is kept beside the cluster, since objects carry its times.
 */
#include <stdint.h>
#include <time.h>

#include "base/error.h"

struct bt_cluster_clock {
	int64_t start_ns; /* of the cluster, since 1970 */
	int64_t start_monotonic_ns;
	double scale;
	int file; /* -1: none */
	int64_t next_save_ns;
};

#define BT_CLUSTER_CLOCK_INIT \
	{ \
		.file = -1, .scale = 1 \
	}

/** path: where the time is kept, and continued from when it is later than the world's; NULL:
 * nowhere. */
BT_MUST_USE int bt_cluster_clock_start(
	struct bt_cluster_clock *clock, double scale, const char *path, struct berth_error *err);
void bt_cluster_clock_finish(struct bt_cluster_clock *clock);
/** clock: struct bt_cluster_clock *, as the API asks for it. */
int64_t bt_cluster_clock_now_ns(void *clock);
/** When the monotonic clock shows a time of the cluster; INT64_MAX: never. */
int64_t bt_cluster_clock_monotonic_of(const struct bt_cluster_clock *clock, int64_t cluster_ns);
/** Keep the time when that is due. Returns when to be called again, on the monotonic clock. */
int64_t bt_cluster_clock_save(struct bt_cluster_clock *clock);
#endif
