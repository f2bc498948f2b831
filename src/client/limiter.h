/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLIENT_LIMITER_H
#define BT_CLIENT_LIMITER_H
/**
 * A token bucket: burst tokens at first, rate new ones a second, never more than burst. Spec: 11b
 * section 4.2. Time is a parameter, in nanoseconds.
 */
#include <stdbool.h>
#include <stdint.h>

struct bt_limiter {
	double interval_ns;  /* between two new tokens; 0: no limit */
	double tolerance_ns; /* how far full_at_ns may lie ahead when a token is taken */
	double full_at_ns;   /* the bucket is full again at this time */
};

/** qps <= 0: no limit. burst > 0 otherwise. */
void bt_limiter_init(struct bt_limiter *limiter, double qps, int32_t burst, int64_t now_ns);
/** true: a token was taken. false: *out_at_ns is when there will be one. */
bool bt_limiter_take(struct bt_limiter *limiter, int64_t now_ns, int64_t *out_at_ns);
#endif
