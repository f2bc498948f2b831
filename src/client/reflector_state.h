/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLIENT_REFLECTOR_STATE_H
#define BT_CLIENT_REFLECTOR_STATE_H
/**
 * What a reflector does next: the state machine of spec 13 section 13 without requests, objects and
 * clocks. Its owner asks what to request, tells what came, and when it ended.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/prng.h"
#include "base/strbuf.h"

enum bt_reflector_phase {
	BT_REFLECTOR_STREAM,    /* a streaming list, until its end bookmark */
	BT_REFLECTOR_LIST,      /* a list, or a page of it */
	BT_REFLECTOR_LIST_FULL, /* without pages, since the token of one has expired */
	BT_REFLECTOR_WATCH,
};

/** Waiting between attempts: 800 ms to 30 s, each up to doubled; forgotten after two minutes. */
struct bt_reflector_backoff {
	int64_t next_ns; /* 0: the first one */
	int64_t last_ns; /* when it was asked for */
};

int64_t bt_reflector_backoff_step(
	struct bt_reflector_backoff *backoff, struct bt_prng *prng, int64_t now_ns);

struct bt_reflector_state {
	bool streaming;
	enum bt_reflector_phase phase;
	struct bt_strbuf resource_version; /* the last one; "" without */
	bool unavailable;                  /* it is too old, or of the future */
	bool paginated;                    /* the server pages what it has in its cache */
	struct bt_reflector_backoff backoff;

	/* of the list that is under way */
	bool is_limited;                 /* it asks for pages */
	bool is_repeated;                /* at no resource version, after one was refused */
	struct bt_strbuf list_version;   /* the one it asks for, "" for the most recent */
	struct bt_strbuf continue_token; /* "": the first page */

	/* of the stream that is under way */
	uint32_t watch_seconds; /* the server should end it then */
	bool distrusts_added;   /* ADDED events are not in order: no resource version from them */
};

void bt_reflector_state_init(struct bt_reflector_state *state, bool streaming);
void bt_reflector_state_finish(struct bt_reflector_state *state);

/** The query of the request that is due, parameters sorted by name. field_selector: "" none. */
void bt_reflector_state_query(struct bt_reflector_state *state, struct bt_str field_selector,
	struct bt_prng *prng, struct bt_strbuf *out);

/** The end bookmark of a streaming list has come: the same stream goes on as a watch. */
void bt_reflector_state_streamed(struct bt_reflector_state *state, struct bt_str resource_version);
/** An event of a stream. During a streaming list the version is kept apart: see streamed. */
void bt_reflector_state_observed(
	struct bt_reflector_state *state, bool is_added, struct bt_str resource_version);
/** A page is complete. true: another one is due. */
bool bt_reflector_state_listed(struct bt_reflector_state *state, struct bt_str resource_version,
	struct bt_str continue_token);

/** Why a request ended, in the words that matter here. */
enum bt_reflector_end {
	BT_REFLECTOR_END_CLEAN,   /* of a stream: normally, or the connection was lost */
	BT_REFLECTOR_END_REFUSED, /* connection refused, 429 */
	BT_REFLECTOR_END_EXPIRED, /* 410 */
	BT_REFLECTOR_END_FUTURE,  /* resource version too large */
	BT_REFLECTOR_END_FAILED,  /* anything else */
	BT_REFLECTOR_END_BROKEN,  /* a watch that cannot be understood, or an unknown ERROR */
};

enum bt_reflector_report {
	BT_REFLECTOR_REPORT_NONE,
	BT_REFLECTOR_REPORT_FALLBACK, /* streaming failed, a list follows */
	BT_REFLECTOR_REPORT_ERROR,
	BT_REFLECTOR_REPORT_CLOSED,     /* 410 on a watch */
	BT_REFLECTOR_REPORT_VERY_SHORT, /* then as an error */
	BT_REFLECTOR_REPORT_WARNING,    /* a watch ended with an error */
};

struct bt_reflector_ending {
	enum bt_reflector_end end;
	uint32_t event_count; /* of a stream */
	int64_t age_ns;       /* of a stream */
};

/**
 * The request has ended otherwise than by what streamed or listed say; what a list had collected is
 * void. The state is that of the next request; *out_waits: not before a step of the backoff.
 */
enum bt_reflector_report bt_reflector_state_ended(struct bt_reflector_state *state,
	const struct bt_reflector_ending *ending, bool *out_waits);
#endif
