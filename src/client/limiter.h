/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLIENT_LIMITER_H
#define BT_CLIENT_LIMITER_H
/**
 * A token bucket: starts with burst tokens, gains rate tokens per second, holds at most burst.
 * Spec: 11b section 4.2. Time is a parameter, in nanoseconds.
 */
#include <stdbool.h>
#include <stdint.h>

struct bt_limiter {
	double interval_ns;  /* time per token; 0: no limit */
	double tolerance_ns; /* how far full_at_ns may be ahead */
	double full_at_ns;   /* time at which the bucket is full again */
};

/** qps <= 0: no limit. burst > 0 otherwise. */
void bt_limiter_init(struct bt_limiter *limiter, double qps, int32_t burst, int64_t now_ns);
/**
 * Takes a token and returns true, or returns false with the time of the next token in *out_at_ns.
 */
bool bt_limiter_take(struct bt_limiter *limiter, int64_t now_ns, int64_t *out_at_ns);
#endif
