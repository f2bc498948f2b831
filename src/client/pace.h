/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLIENT_PACE_H
#define BT_CLIENT_PACE_H
/**
 * How many calls to have under way: few to a server that answers fast, more to one that takes its
 * time, so that their rate does not depend on it (rate = calls under way / time of an answer).
 *
 * What counts is the shortest answer of late. Answers that wait for each other, in the server or
 * here, do not make it longer: a busy server gets no more calls than an idle one. Two answers allow
 * one call more, so the first ones, slow as they often are, say little. An answer that takes more
 * than twice the shortest has queued in the server: it allows none, since more calls would only
 * queue longer, each on a connection that costs a TLS handshake. Time is a parameter, in
 * nanoseconds.
 */
#include <stdbool.h>
#include <stdint.h>

/** Each connection is a TLS handshake and 40 to 90 kB. */
#define BT_PACE_CALLS_MIN 12
/** At 25 ms an answer that is 5,000 calls a second. An API server takes 200 writes at a time. */
#define BT_PACE_CALLS_MAX 128

struct bt_pace {
	int64_t shortest_ns; /* answer of this period; INT64_MAX: none came */
	int64_t before_ns;   /* the same, of the period before */
	int64_t since_ns;    /* when this period began */
	uint32_t grown;      /* calls that the answers since the last idle time allow */
	bool is_half;        /* one answer of the two that allow one more */
};

void bt_pace_init(struct bt_pace *pace, int64_t now_ns);
/** An answer began so long after its request was written. */
void bt_pace_answered(struct bt_pace *pace, int64_t latency_ns, int64_t now_ns);
/** From BT_PACE_CALLS_MIN to BT_PACE_CALLS_MAX; the former after seconds without answers. */
uint32_t bt_pace_calls(struct bt_pace *pace, int64_t now_ns);
/** Nothing of it will count from then on, if no more answers come. */
int64_t bt_pace_idle_at_ns(const struct bt_pace *pace);
#endif
