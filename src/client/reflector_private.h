/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLIENT_REFLECTOR_PRIVATE_H
#define BT_CLIENT_REFLECTOR_PRIVATE_H
/**
 * Shared by reflector*.c: requests and how they end (reflector.c), processing of bodies and updates
 * of the copy (reflector_read.c), the state machine (reflector_state.c).
 */
#include "base/map.h"
#include "base/vec.h"
#include "client/reflector.h"
#include "client/watch_frames.h"

/**
 * State machine of a reflector (spec 13 section 13), without requests, objects and clocks. The
 * owner asks which request to send, and reports received versions and the end of requests.
 */

enum bt_reflector_phase {
	BT_REFLECTOR_STREAM,    /* a streaming list, until its end bookmark */
	BT_REFLECTOR_LIST,      /* a list, or a page of it */
	BT_REFLECTOR_LIST_FULL, /* a list without pages, after a continue token has expired */
	BT_REFLECTOR_WATCH,
};

/** Backoff between attempts: 800 ms to 30 s, plus up to 100 % jitter; reset after two minutes. */
struct bt_reflector_backoff {
	int64_t next_ns; /* next delay; 0: the first */
	int64_t last_ns; /* time of the last step */
};

int64_t bt_reflector_backoff_step(
	struct bt_reflector_backoff *backoff, struct bt_prng *prng, int64_t now_ns);

struct bt_reflector_state {
	bool streaming;
	enum bt_reflector_phase phase;
	struct bt_strbuf resource_version; /* last seen version; "": none */
	bool unavailable;                  /* resource_version is too old or too large */
	bool paginated;                    /* the server sends lists from its cache in pages */
	struct bt_reflector_backoff backoff;

	/* state of the current list */
	bool is_limited;  /* pages are requested */
	bool is_repeated; /* repeated without a version, because the server refused the version */
	struct bt_strbuf list_version;   /* requested version, "": the most recent */
	struct bt_strbuf continue_token; /* "": the first page */

	/* state of the current stream */
	uint32_t watch_seconds; /* timeoutSeconds of the request */
	bool distrusts_added;   /* ADDED events are unordered: do not take versions from them */
};

void bt_reflector_state_init(struct bt_reflector_state *state, bool streaming);

/**
 * Appends the query of the next request, with sorted parameters. field_selector "": no selector.
 */
void bt_reflector_state_query(struct bt_reflector_state *state, struct bt_str field_selector,
	struct bt_prng *prng, struct bt_strbuf *out);

/**
 * Call for each event of a stream. A streaming list sets the version only at its end bookmark,
 * after which the stream continues as a watch.
 */
void bt_reflector_state_observed(
	struct bt_reflector_state *state, bool is_added, struct bt_str resource_version);
/** Call when a page is complete. Returns true if another page follows. */
bool bt_reflector_state_listed(struct bt_reflector_state *state, struct bt_str resource_version,
	struct bt_str continue_token);

/** Why a request ended, as far as the state machine distinguishes it. */
enum bt_reflector_end {
	BT_REFLECTOR_END_CLEAN,   /* end of a stream: regular, or the connection was lost */
	BT_REFLECTOR_END_REFUSED, /* connection refused, 429 */
	BT_REFLECTOR_END_EXPIRED, /* 410 */
	BT_REFLECTOR_END_FUTURE,  /* resource version too large */
	BT_REFLECTOR_END_FAILED,  /* anything else */
	BT_REFLECTOR_END_BROKEN,  /* the watch cannot be parsed, or has an unknown ERROR event */
};

enum bt_reflector_report {
	BT_REFLECTOR_REPORT_NONE,
	BT_REFLECTOR_REPORT_FALLBACK, /* streaming failed, a list follows */
	BT_REFLECTOR_REPORT_ERROR,
	BT_REFLECTOR_REPORT_CLOSED,     /* the watch got 410 */
	BT_REFLECTOR_REPORT_VERY_SHORT, /* a watch without events ended within a second */
	BT_REFLECTOR_REPORT_WARNING,    /* a watch ended with an error */
};

struct bt_reflector_ending {
	enum bt_reflector_end end;
	uint32_t event_count; /* events of the stream */
	int64_t age_ns;       /* duration of the stream */
};

/**
 * Call at the end of a stream, and at the end of a list that failed or is incomplete; the caller
 * discards the items of such a list. For a complete page call bt_reflector_state_listed instead.
 * Afterwards the state describes the next request. *out_waits: whether the caller must wait for a
 * backoff delay before that request.
 */
enum bt_reflector_report bt_reflector_state_ended(struct bt_reflector_state *state,
	const struct bt_reflector_ending *ending, bool *out_waits);

/**
 * Objects by namespace and name. The map holds only indices; the keys are read from the objects.
 * The store makes its references packable (bt_object_allow_pack).
 */
struct bt_reflector_store {
	BT_VEC(struct bt_object *) items; /* owned */
	struct bt_map map;                /* key -> index */
	BT_VEC(struct bt_object *)
	unpacked; /* references that keep objects unpacked for the sink */
};

/** Releases all objects; the store can be used again. */
void bt_reflector_store_finish(struct bt_reflector_store *store);
struct bt_object *bt_reflector_store_find(
	const struct bt_reflector_store *store, struct bt_str namespace_, struct bt_str name);

struct bt_reflector {
	struct bt_reflector_options options; /* texts are owned copies */
	struct bt_reflector_state state;
	struct bt_reflector_store store;    /* the current copy */
	struct bt_reflector_store incoming; /* items of the list being received */
	struct bt_arena arena;              /* memory of one event or list item */
	struct bt_metric_cell *version_cell;
	bool is_synced;
	int64_t due_ns;     /* time of the next request, if none is running */
	int64_t lost_ns;    /* start of the time without a working watch; 0: the watch works */
	bool has_bookmarks; /* the server sends bookmarks */

	/* the running request */
	struct bt_rest_call *call;
	struct bt_frames frames;
	bool is_open;
	bool is_protobuf;
	int64_t opened_ns;
	int64_t last_event_ns;
	int64_t mentioned_ns; /* time of the last log line about the request's silence */
	uint32_t event_count;
	struct bt_strbuf list_version;
	struct bt_strbuf continue_token;
	enum bt_reflector_end failure; /* why reading failed */
};

/** The function `take` of bt_frames_sink: processes a part of a body. context: the reflector. */
BT_MUST_USE int bt_reflector_take_part(
	void *context, enum bt_frame_part part, struct bt_str bytes, struct berth_error *err);
/**
 * Replaces the copy by the complete list: reports the differences, logs, and after the first list
 * calls the sink's `synced`.
 */
void bt_reflector_complete_copy(struct bt_reflector *reflector);
/**
 * Call when the watch continues or a list is complete: calls the sink's `resumed` if the watch was
 * broken and the first list is complete.
 */
void bt_reflector_resume(struct bt_reflector *reflector, bool is_list);

static inline bool bt_reflector_is_listing(const struct bt_reflector *reflector)
{
	return reflector->state.phase == BT_REFLECTOR_LIST ||
		reflector->state.phase == BT_REFLECTOR_LIST_FULL;
}

#endif
