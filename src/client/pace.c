/* SPDX-License-Identifier: Apache-2.0 */
#include "client/pace.h"

#include "base/assert.h"
#include "base/nanoseconds.h"

/*
 * Target rate. It is twice the rate at which one thread can schedule pods and send the writes,
 * because the limit is computed from the shortest answer, and most answers take longer.
 */
#define CALLS_PER_SECOND 10000
#define PERIOD_NS (5 * BT_NS_PER_SECOND)

static void begin_period(struct bt_pace *pace, int64_t before_ns, int64_t now_ns)
{
	pace->before_ns = before_ns;
	pace->shortest_ns = INT64_MAX;
	pace->since_ns = now_ns;
}

/*
 * Starts a new period if one is due. Only the answers of this and of the previous period count. If
 * neither period has an answer, the limit falls back to the minimum.
 */
static void start_period_if_due(struct bt_pace *pace, int64_t now_ns)
{
	int64_t age_ns = now_ns - pace->since_ns;
	if (age_ns >= 2 * PERIOD_NS) {
		begin_period(pace, INT64_MAX, now_ns);
	} else if (age_ns >= PERIOD_NS) {
		begin_period(pace, pace->shortest_ns, pace->since_ns + PERIOD_NS);
	}
	if (pace->shortest_ns == INT64_MAX && pace->before_ns == INT64_MAX) {
		pace->grown = BT_PACE_CALLS_MIN;
		pace->is_half = false;
	}
}

void bt_pace_init(struct bt_pace *pace, int64_t now_ns)
{
	begin_period(pace, INT64_MAX, now_ns);
	start_period_if_due(pace, now_ns);
}

void bt_pace_answered(struct bt_pace *pace, int64_t latency_ns, int64_t now_ns)
{
	start_period_if_due(pace, now_ns);
	pace->shortest_ns = BT_MIN(pace->shortest_ns, latency_ns);
	if (latency_ns / 2 > BT_MIN(pace->shortest_ns, pace->before_ns)) {
		return;
	}
	pace->grown += pace->is_half && pace->grown < BT_PACE_CALLS_MAX ? 1 : 0;
	pace->is_half = !pace->is_half;
}

uint32_t bt_pace_calls(struct bt_pace *pace, int64_t now_ns)
{
	start_period_if_due(pace, now_ns);
	int64_t latency_ns = BT_MIN(pace->shortest_ns, pace->before_ns);
	int64_t calls = latency_ns / (BT_NS_PER_SECOND / CALLS_PER_SECOND);
	if (latency_ns == INT64_MAX || calls < BT_PACE_CALLS_MIN) {
		return BT_PACE_CALLS_MIN;
	}
	return (uint32_t)BT_MIN(calls, pace->grown);
}

int64_t bt_pace_idle_at_ns(const struct bt_pace *pace)
{
	if (pace->shortest_ns != INT64_MAX) {
		return pace->since_ns + 2 * PERIOD_NS;
	}
	return pace->before_ns != INT64_MAX ? pace->since_ns + PERIOD_NS : pace->since_ns;
}

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
	double full_at = BT_MAX(limiter->full_at_ns, now);
	double at = full_at - limiter->tolerance_ns;

	if (limiter->interval_ns > 0 && at > now) {
		/* Rounded up, so that a token is certainly available then. */
		*out_at_ns = at < NEVER_NS ? (int64_t)at + 1 : INT64_MAX;
		return false;
	}
	limiter->full_at_ns = full_at + limiter->interval_ns;
	return true;
}
