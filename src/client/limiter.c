/* SPDX-License-Identifier: Apache-2.0 */
#include "client/limiter.h"

#include "base/assert.h"
#include "base/nanoseconds.h"

/* About 300 years: later than any clock value. */
#define NEVER_NS 9.0e18

void bt_limiter_init(struct bt_limiter *limiter, double qps, int32_t burst, int64_t now_ns)
{
	*limiter = (struct bt_limiter){.full_at_ns = (double)now_ns};
	if (qps > 0) {
		BT_ASSERT(burst > 0);
		limiter->interval_ns = (double)BT_NS_PER_SECOND / qps;
		limiter->tolerance_ns = limiter->interval_ns * (burst - 1);
	}
}

bool bt_limiter_take(struct bt_limiter *limiter, int64_t now_ns, int64_t *out_at_ns)
{
	double now = (double)now_ns;
	double full_at = limiter->full_at_ns > now ? limiter->full_at_ns : now;
	double at = full_at - limiter->tolerance_ns;

	if (limiter->interval_ns > 0 && at > now) {
		/* Rounded up, so that a token is certainly available then. */
		*out_at_ns = at < NEVER_NS ? (int64_t)at + 1 : INT64_MAX;
		return false;
	}
	limiter->full_at_ns = full_at + limiter->interval_ns;
	return true;
}
