/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLIENT_PACE_H
#define BT_CLIENT_PACE_H
/**
 * Limits of requests: their rate (struct bt_limiter) and how many run at a time (struct bt_pace).
 * Time is a parameter, in nanoseconds.
 */
#include <stdbool.h>
#include <stdint.h>

/**
 * A token bucket: starts with burst tokens, gains qps tokens per second, and never holds more than
 * burst tokens. Spec: 11b section 4.2.
 */
struct bt_limiter {
	double interval_ns;  /* time per token; 0: no limit */
	double tolerance_ns; /* full_at_ns may be later than now by this much */
	double full_at_ns;   /* time at which the bucket is full again */
};

/**
 * Initializes the limiter with a full bucket. qps <= 0: no limit. qps > 0: burst must be above 0.
 */
void bt_limiter_init(struct bt_limiter *limiter, double qps, int32_t burst, int64_t now_ns);
/**
 * Takes a token and returns true, or returns false with the time of the next token in *out_at_ns.
 */
bool bt_limiter_take(struct bt_limiter *limiter, int64_t now_ns, int64_t *out_at_ns);

/**
 * Minimum of the limit of concurrent calls. It is low, because each call needs a connection, which
 * costs a TLS handshake and 40 to 90 kB.
 */
#define BT_PACE_CALLS_MIN 12
/**
 * Maximum of concurrent calls: about 5,000 calls per second if an answer takes 25 ms. An API server
 * runs at most 200 writes at a time.
 */
#define BT_PACE_CALLS_MAX 128

/**
 * Chooses the number of concurrent calls from the server's latency: few if it answers fast, more if
 * it is slow, so that the call rate stays the same (rate = concurrent calls / latency).
 *
 * The latency is the time of the shortest recent answer. Time that answers spend in queues, of the
 * server or of berth, does not raise the latency: a busy server gets no more calls than an idle
 * one. Two answers raise the limit by one call, so that the first answers, which are often slow,
 * have little effect. An answer that takes more than twice the shortest time counts as queued in
 * the server and does not raise the limit: further calls would only wait in the queue, and each
 * would need a connection, which costs a TLS handshake.
 */
struct bt_pace {
	int64_t shortest_ns; /* shortest answer of this period; INT64_MAX: none */
	int64_t before_ns;   /* shortest answer of the previous period */
	int64_t since_ns;    /* start of this period */
	uint32_t grown; /* upper bound of the limit, in calls; grows with answers, reset after idle
	                   time */
	bool is_half;   /* one of the two answers that raise `grown` by one has come */
};

void bt_pace_init(struct bt_pace *pace, int64_t now_ns);
/** Reports an answer; latency_ns: from the written request to the start of the answer. */
void bt_pace_answered(struct bt_pace *pace, int64_t latency_ns, int64_t now_ns);
/**
 * Returns the current limit, from BT_PACE_CALLS_MIN to BT_PACE_CALLS_MAX; the minimum after 5 to 10
 * seconds without answers.
 */
uint32_t bt_pace_calls(struct bt_pace *pace, int64_t now_ns);
/** Returns the time at which the limit falls back to the minimum if no further answers arrive. */
int64_t bt_pace_idle_at_ns(const struct bt_pace *pace);
#endif
