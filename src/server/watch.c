/* SPDX-License-Identifier: Apache-2.0 */
#include "server/watch.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "server/list_options.h"
#include "server/watchers.h"

/** Changes that one call examines, matching or not, before it lets other work run. */
#define CHANGES_PER_TURN 2000

enum phase {
	PHASE_INITIAL, /* sends existing objects as ADDED */
	PHASE_INITIAL_END,
	PHASE_LIVE,
	PHASE_ENDED,
};

struct bt_watch {
	struct bt_watch_link link; /* must be first: the registry has only this pointer */
	struct bt_watchers *watchers;
	struct bt_store *store;
	uint32_t collection;
	struct bt_encoder encoder;
	struct bt_selection selection;
	struct bt_store_walk walk;
	uint64_t cursor; /* changes up to this RV were sent */
	enum phase phase;
	bool allow_bookmarks;
	struct bt_strbuf pending; /* encoded bytes of the current event */
	size_t pending_at;
	struct bt_wait *wait; /* set while paused for other work */
};

/* --- events --- */

static void write_expired(struct bt_watch *watch)
{
	struct bt_arena arena = {0};
	struct bt_failure failure = {0};

	(void)bt_fail(&failure, &arena, 410, "Expired", "too old resource version: %llu (%llu)",
		(unsigned long long)watch->cursor,
		(unsigned long long)bt_store_window_start(watch->store, watch->collection));
	bt_encode_error_event(&watch->encoder, &failure, &watch->pending);
	bt_arena_finish(&arena);
	watch->phase = PHASE_ENDED;
}

/**
 * Writes the event of a change as seen through the selection: spec 14 section 15.4. false: no
 * event.
 */
static bool write_change(struct bt_watch *watch, const struct bt_store_change *change)
{
	struct bt_selection *selection = &watch->selection;
	bool is_removed = change->type == BT_CHANGE_DELETED;
	bool matched = change->before != NULL && bt_selection_matches(selection, change->before);
	bool matches = !is_removed && bt_selection_matches(selection, change->after);
	enum bt_event_type type = matched ? BT_EVENT_MODIFIED : BT_EVENT_ADDED;
	const struct bt_stored *shown = change->after;

	if (!matched && !matches) {
		return false;
	}
	if (matched && !matches) {
		/* The object left the selection: DELETED shows its last matching state. */
		type = BT_EVENT_DELETED;
		shown = is_removed ? change->after : change->before;
	}
	bt_watchers_encode(
		watch->watchers, &watch->encoder, type, shown, change->rv, &watch->pending);
	return true;
}

/** Sends the next object that existed at the start; always returns true. */
static bool step_initial(struct bt_watch *watch)
{
	bool lost;
	const struct bt_stored *stored = bt_store_walk_next(&watch->walk, &lost);

	if (lost) {
		write_expired(watch);
	} else if (stored == NULL) {
		bt_store_walk_end(&watch->walk);
		watch->phase = PHASE_INITIAL_END;
	} else if (bt_selection_matches(&watch->selection, stored)) {
		bt_encode_event(&watch->encoder, BT_EVENT_ADDED, stored, 0, &watch->pending);
	}
	return true;
}

static bool step_live(struct bt_watch *watch)
{
	struct bt_store_change change;
	uint64_t visible = bt_watchers_visible_rv(watch->watchers);

	if (watch->link.end_is_due) {
		watch->phase = PHASE_ENDED;
		return true;
	}
	if (watch->cursor < bt_store_window_start(watch->store, watch->collection)) {
		write_expired(watch);
		return true;
	}
	if (bt_store_next_change(watch->store, watch->collection, watch->cursor, &change) &&
		change.rv <= visible) {
		watch->cursor = change.rv;
		(void)write_change(watch, &change);
		return true;
	}
	/*
	 * All visible changes were read: advance, so that the watch does not fall behind the
	 * window.
	 */
	watch->cursor = visible > watch->cursor ? visible : watch->cursor;
	if (watch->link.bookmark_is_due) {
		watch->link.bookmark_is_due = false;
		if (watch->cursor == visible) {
			bt_encode_bookmark(&watch->encoder, visible, false, &watch->pending);
		}
		return true;
	}
	return false;
}

/** One step of the watch; false: it must wait. */
static bool step(struct bt_watch *watch)
{
	switch (watch->phase) {
	case PHASE_INITIAL:
		return step_initial(watch);
	case PHASE_INITIAL_END:
		if (watch->allow_bookmarks) {
			bt_encode_bookmark(&watch->encoder, watch->cursor, true, &watch->pending);
		}
		watch->phase = PHASE_LIVE;
		return true;
	case PHASE_LIVE:
		return step_live(watch);
	case PHASE_ENDED:
		return false;
	}
	return false;
}

/* --- the stream --- */

static void on_turn(void *context)
{
	struct bt_watch *watch = context;

	watch->wait = NULL;
	watch->link.wake(watch->link.wake_context);
}

/** Pauses for other work; the reader is woken in the next turn of the loop. */
static int64_t yield_turn(struct bt_watch *watch)
{
	if (watch->wait == NULL) {
		watch->wait = bt_watchers_await(watch->watchers, 0, 0, INT64_MAX, on_turn, watch);
	}
	return BT_HTTP_STREAM_WAIT;
}

int64_t bt_watch_read(void *context, char *buffer, size_t capacity)
{
	struct bt_watch *watch = context;
	size_t filled = 0;

	watch->link.is_waiting = false;
	for (uint32_t budget = CHANGES_PER_TURN; budget != 0; budget--) {
		size_t left = watch->pending.length - watch->pending_at;
		size_t taken = left < capacity - filled ? left : capacity - filled;

		if (taken != 0) {
			memcpy(buffer + filled, watch->pending.data + watch->pending_at, taken);
			filled += taken;
			watch->pending_at += taken;
		}
		if (watch->pending_at < watch->pending.length || filled == capacity) {
			return (int64_t)filled;
		}
		bt_strbuf_reset(&watch->pending);
		watch->pending_at = 0;
		if (!step(watch)) {
			if (filled != 0) {
				return (int64_t)filled;
			}
			if (watch->phase == PHASE_ENDED) {
				return BT_HTTP_STREAM_END;
			}
			watch->link.is_waiting = true;
			return BT_HTTP_STREAM_WAIT;
		}
	}
	return filled != 0 ? (int64_t)filled : yield_turn(watch);
}

/* --- opening --- */

static int begin_walk(struct bt_watch *watch)
{
	return bt_store_walk_begin(watch->store, watch->collection, watch->cursor,
		watch->selection.prefix, BT_STR(""), &watch->walk, NULL);
}

/** Sets the first events of the watch: spec 14 sections 15.2 and 15.3. */
static uint16_t set_start(struct bt_watch *watch, const struct bt_list_options *options,
	struct bt_arena *arena, struct bt_failure *out_failure)
{
	bool with_initial = options->has_send_initial ? options->send_initial : options->rv == 0;
	uint64_t current = bt_store_rv(watch->store);

	if (!with_initial) {
		/* sendInitialEvents=false without an RV: start with the next change. */
		watch->cursor = options->rv != 0 ? options->rv : current;
		watch->phase = PHASE_LIVE;
		return 0;
	}
	if (options->rv > current) {
		return bt_fail_future_rv(out_failure, arena, options->rv, current);
	}
	/* Start at the last durable state, unless the client asks for a newer RV. */
	watch->cursor = bt_watchers_visible_rv(watch->watchers);
	if (watch->cursor < options->rv || begin_walk(watch) != 0) {
		watch->cursor = current;
		int began = begin_walk(watch);
		BT_ASSERT(began == 0);
	}
	watch->phase = PHASE_INITIAL;
	return 0;
}

static uint16_t open_watch(struct bt_watch *watch, const struct bt_list_request *request,
	struct bt_list_options *out_options, struct bt_arena *arena, struct bt_failure *out_failure)
{
	uint16_t code =
		bt_list_options_parse(&request->parameters, true, out_options, arena, out_failure);

	if (code != 0) {
		return code;
	}
	code = bt_selection_parse(&watch->selection, request->resource, request->namespace_,
		request->parameters.label_selector, request->parameters.field_selector, arena,
		out_failure);
	return code != 0 ? code : set_start(watch, out_options, arena, out_failure);
}

uint16_t bt_watch_open(const struct bt_list_request *request, int64_t now_ns,
	struct bt_arena *arena, struct bt_watch **out_watch, struct bt_failure *out_failure)
{
	struct bt_watch *watch = BT_NEW(struct bt_watch);
	struct bt_list_options options;

	watch->watchers = request->watchers;
	watch->store = bt_api_store(request->api);
	watch->collection = request->resource->collection;
	watch->link.wake = request->wake;
	watch->link.wake_context = request->wake_context;
	bt_encoder_init(&watch->encoder, request->api, request->resource, &request->encoding);
	uint16_t code = open_watch(watch, request, &options, arena, out_failure);
	if (code != 0) {
		bt_watch_finish(watch);
		return code;
	}
	watch->allow_bookmarks = options.allow_bookmarks;
	bt_watchers_add(watch->watchers, &watch->link, watch->collection, now_ns,
		options.timeout_seconds, options.allow_bookmarks);
	*out_watch = watch;
	return 0;
}

void bt_watch_finish(void *context)
{
	struct bt_watch *watch = context;

	if (watch == NULL) {
		return;
	}
	if (watch->wait != NULL) {
		bt_watchers_cancel(watch->watchers, watch->wait);
	}
	bt_watchers_remove(watch->watchers, &watch->link);
	bt_store_walk_end(&watch->walk);
	bt_encoder_finish(&watch->encoder);
	bt_selection_finish(&watch->selection);
	bt_strbuf_finish(&watch->pending);
	bt_free(watch);
}
