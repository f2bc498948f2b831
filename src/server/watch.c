/* SPDX-License-Identifier: Apache-2.0 */
#include "server/watch.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/links.h"
#include "base/nanoseconds.h"
#include "base/prng.h"
#include "base/vec.h"
#include "server/strategy.h"
#define BOOKMARK_INTERVAL_NS (60 * BT_NS_PER_SECOND)
/** Time from the last bookmark to the end of a watch. */
#define LAST_BOOKMARK_NS (2 * BT_NS_PER_SECOND)
#define TIMEOUT_SECONDS_MIN 1800
#define TIMEOUT_SECONDS_MAX (INT64_C(1) << 30)

/**
 * Size of the cache of encoded events. A turn of the loop makes some hundred changes; the watches
 * look up their events in the next turn.
 */
#define CACHE_SLOTS 2048
#define CACHED_BYTES_MAX 16384

struct bt_wait {
	struct bt_wait **first; /* of the list with this wait */
	struct bt_wait *previous;
	struct bt_wait *next;
	uint64_t rv;
	int64_t end_ns;
	void (*reached)(void *context);
	void *context;
};

/** An encoded event, cached for other watches of the collection. */
struct cached_event {
	uint64_t rv;
	enum bt_event_type type;
	const struct bt_api_resource *resource;
	struct bt_encoding encoding;
	uint32_t envelope_bytes; /* the object, at the end of bytes; 0: not known */
	struct bt_strbuf bytes;
};

/** Objects of one template that a client writes in one second have equal managedFields. */
#define OWNERS_SLOTS 64

struct cached_owners {
	struct bt_strbuf text;
	struct bt_arena arena;
	struct bt_json_value *list; /* parsed from text */
};

struct bt_watchers {
	struct bt_api *api;
	struct bt_store *store;
	struct bt_prng prng;
	uint64_t visible_rv;
	uint64_t generation;                        /* of the resources, at the last run */
	BT_VEC(struct bt_watch_link *) collections; /* by collection: the first watch of its list */
	uint32_t count;
	int64_t next_due_ns; /* when the next bookmark or end of a watch is due */
	struct bt_wait *waits;
	struct bt_wait *due_waits; /* waits whose callbacks run_waits must still call */
	struct cached_event cache[CACHE_SLOTS];
	struct cached_owners owners[OWNERS_SLOTS];
	struct bt_strbuf owners_text; /* of the current write */
};

/* --- shared events --- */

static struct cached_event *cache_slot(
	struct bt_watchers *watchers, const struct bt_encoding *encoding, uint64_t rv)
{
	uint64_t form = (uint64_t)encoding->media * 2 + (uint64_t)encoding->view;
	return &watchers->cache[(rv + form * CACHE_SLOTS / 8) % CACHE_SLOTS];
}

/** Prepares the slot for an event; the caller appends the bytes. */
static void use_slot(struct cached_event *cached, const struct bt_encoder *encoder,
	enum bt_event_type type, uint64_t rv)
{
	cached->rv = rv;
	cached->type = type;
	cached->resource = encoder->resource;
	cached->encoding = encoder->encoding;
	cached->envelope_bytes = 0;
	bt_strbuf_reset(&cached->bytes);
}

/** Returns the managedFields in owners_text, or NULL; borrowed until the next call. */
static struct bt_json_value *current_owners(struct bt_watchers *watchers)
{
	struct bt_str text = bt_strbuf_str(&watchers->owners_text);
	struct cached_owners *cached = &watchers->owners[bt_str_hash(text) % OWNERS_SLOTS];
	if (!bt_str_equal(text, bt_strbuf_str(&cached->text))) {
		bt_strbuf_set(&cached->text, text);
		bt_arena_reset(&cached->arena);
		/* as in the encoder: fieldsV1 stays a text */
		if (bt_json_parse_partly(&cached->arena, bt_strbuf_str(&cached->text),
			    BT_STR("fieldsV1"), &cached->list, NULL) != 0) {
			cached->list = NULL;
		}
	}
	return cached->list;
}

/** Encodes the event of a write while its tree exists: that saves parsing the stored text. */
static void keep_written(void *context, const struct bt_store_change *change)
{
	struct bt_watchers *watchers = context;
	const struct bt_json_value *object = bt_api_trees(watchers->api)->after;
	const struct bt_watch_link *link = change->collection < watchers->collections.count
		? watchers->collections.items[change->collection]
		: NULL;

	while (link != NULL && link->encoder == NULL) {
		link = link->next;
	}
	if (link == NULL || object == NULL) {
		return;
	}
	bt_strbuf_reset(&watchers->owners_text);
	bt_stored_append_owners(change->after, &watchers->owners_text);
	if (change->after->text_length + watchers->owners_text.length > CACHED_BYTES_MAX) {
		return;
	}
	enum bt_event_type type =
		change->type == BT_CHANGE_ADDED ? BT_EVENT_ADDED : BT_EVENT_MODIFIED;
	struct cached_event *cached = cache_slot(watchers, &link->encoder->encoding, change->rv);
	use_slot(cached, link->encoder, type, change->rv);
	bt_encode_written(
		link->encoder, type, current_owners(watchers), object, &cached->bytes);
	cached->envelope_bytes = (uint32_t)link->encoder->envelope.length;
}

static bool is_cached(
	const struct cached_event *cached, const struct bt_encoder *encoder, uint64_t rv)
{
	return cached->rv == rv && cached->resource == encoder->resource &&
		cached->encoding.media == encoder->encoding.media &&
		cached->encoding.view == encoder->encoding.view &&
		cached->encoding.v1beta1 == encoder->encoding.v1beta1;
}

struct bt_str bt_watchers_find_envelope(struct bt_watchers *watchers,
	const struct bt_encoder *encoder, const struct bt_stored *stored)
{
	const struct cached_event *cached = cache_slot(watchers, &encoder->encoding, stored->rv);
	struct bt_str bytes = bt_strbuf_str(&cached->bytes);

	return is_cached(cached, encoder, stored->rv)
		? bt_str_sub(bytes, bytes.length - cached->envelope_bytes, BT_STR_MAX)
		: (struct bt_str){NULL, 0};
}

struct bt_watchers *bt_watchers_create(struct bt_api *api, uint64_t seed)
{
	struct bt_watchers *watchers = BT_NEW(struct bt_watchers);

	watchers->api = api;
	watchers->store = bt_api_store(api);
	watchers->visible_rv = bt_store_rv(watchers->store);
	watchers->generation = bt_resources_generation(bt_api_resources(api));
	watchers->next_due_ns = INT64_MAX;
	bt_prng_init(&watchers->prng, seed);
	bt_store_on_change(watchers->store, keep_written, watchers);
	return watchers;
}

void bt_watchers_destroy(struct bt_watchers *watchers)
{
	if (watchers == NULL) {
		return;
	}
	BT_ASSERT(watchers->count == 0 && watchers->waits == NULL && watchers->due_waits == NULL);
	for (uint32_t i = 0; i < CACHE_SLOTS; i++) {
		bt_strbuf_finish(&watchers->cache[i].bytes);
	}
	for (uint32_t i = 0; i < OWNERS_SLOTS; i++) {
		bt_strbuf_finish(&watchers->owners[i].text);
		bt_arena_finish(&watchers->owners[i].arena);
	}
	bt_strbuf_finish(&watchers->owners_text);
	bt_vec_finish(&watchers->collections);
	bt_store_off_change(watchers->store, watchers);
	bt_free(watchers);
}

uint32_t bt_watchers_count(const struct bt_watchers *watchers)
{
	return watchers->count;
}

/* --- the registry --- */

static int64_t due_ns(const struct bt_watch_link *link)
{
	if (link->end_is_due) {
		return INT64_MAX;
	}
	return link->has_bookmarks && link->next_bookmark_ns < link->end_ns ? link->next_bookmark_ns
									    : link->end_ns;
}

void bt_watchers_add(struct bt_watchers *watchers, struct bt_watch_link *link, uint32_t collection,
	int64_t now_ns, int64_t timeout_seconds, bool has_bookmarks)
{
	bt_vec_pad(&watchers->collections, collection + 1, NULL);
	if (timeout_seconds == 0) {
		timeout_seconds = TIMEOUT_SECONDS_MIN +
			(int64_t)bt_prng_below(&watchers->prng, TIMEOUT_SECONDS_MIN);
	} else if (timeout_seconds > TIMEOUT_SECONDS_MAX) {
		timeout_seconds = TIMEOUT_SECONDS_MAX;
	}
	link->end_ns = now_ns + timeout_seconds * BT_NS_PER_SECOND;
	link->has_bookmarks = has_bookmarks;
	link->next_bookmark_ns = now_ns + BOOKMARK_INTERVAL_NS;
	link->next_bookmark_ns = BT_MIN(link->next_bookmark_ns, link->end_ns - LAST_BOOKMARK_NS);
	link->collection = collection;
	link->is_registered = true;
	BT_CHAIN_ADD(watchers->collections.items[collection], link, previous, next);
	watchers->count++;
	watchers->next_due_ns = BT_MIN(due_ns(link), watchers->next_due_ns);
}

void bt_watchers_remove(struct bt_watchers *watchers, struct bt_watch_link *link)
{
	if (link->is_registered) {
		BT_CHAIN_REMOVE(
			watchers->collections.items[link->collection], link, previous, next);
		link->is_registered = false;
		watchers->count--;
	}
}

static void resume_watch(struct bt_watch_link *link)
{
	if (link->is_waiting) {
		link->is_waiting = false;
		link->wake(link->wake_context);
	}
}

/** Wakes each watch whose bookmark or end is due, and sets the flag that says which is due. */
static void run_due(struct bt_watchers *watchers, int64_t now_ns)
{
	watchers->next_due_ns = INT64_MAX;
	for (uint32_t i = 0; i < watchers->collections.count; i++) {
		for (struct bt_watch_link *link = watchers->collections.items[i]; link != NULL;
			link = link->next) {
			if (now_ns >= link->end_ns) {
				link->end_is_due = true;
				resume_watch(link);
			} else if (link->has_bookmarks && now_ns >= link->next_bookmark_ns) {
				int64_t next = now_ns + BOOKMARK_INTERVAL_NS;
				int64_t last = link->end_ns - LAST_BOOKMARK_NS;

				link->bookmark_is_due = true;
				link->next_bookmark_ns =
					now_ns >= last ? INT64_MAX : BT_MIN(next, last);
				resume_watch(link);
			}
			watchers->next_due_ns = BT_MIN(due_ns(link), watchers->next_due_ns);
		}
	}
}

/** Lets the watches end whose custom resource is no longer served. */
static void end_unserved(struct bt_watchers *watchers)
{
	struct bt_resources *resources = bt_api_resources(watchers->api);

	watchers->generation = bt_resources_generation(resources);
	for (uint32_t i = 0; i < watchers->collections.count; i++) {
		for (struct bt_watch_link *link = watchers->collections.items[i]; link != NULL;
			link = link->next) {
			const struct bt_api_resource *resource = link->resource;

			if (resource != NULL &&
				bt_resources_find(resources, bt_str_from(resource->group),
					bt_str_from(resource->version),
					bt_str_from(resource->name)) == NULL) {
				link->is_unserved = true;
				resume_watch(link);
			}
		}
	}
}

/* --- waits --- */

struct bt_wait *bt_watchers_await(struct bt_watchers *watchers, uint64_t rv, int64_t now_ns,
	int64_t timeout_ns, void (*reached)(void *context), void *context)
{
	struct bt_wait *wait = BT_NEW(struct bt_wait);

	wait->rv = rv;
	wait->end_ns = timeout_ns > INT64_MAX - now_ns ? INT64_MAX : now_ns + timeout_ns;
	wait->reached = reached;
	wait->context = context;
	wait->first = &watchers->waits;
	BT_CHAIN_ADD(watchers->waits, wait, previous, next);
	return wait;
}

void bt_watchers_cancel(struct bt_wait *wait)
{
	BT_CHAIN_REMOVE(*wait->first, wait, previous, next);
	bt_free(wait);
}

/**
 * Ends the waits that are due and calls their callbacks. Callbacks may start and cancel waits, so
 * the due waits are first moved to another list.
 */
static void run_waits(struct bt_watchers *watchers, int64_t now_ns)
{
	struct bt_wait *next;

	for (struct bt_wait *wait = watchers->waits; wait != NULL; wait = next) {
		next = wait->next;
		if (wait->rv <= watchers->visible_rv || now_ns >= wait->end_ns) {
			BT_CHAIN_REMOVE(watchers->waits, wait, previous, next);
			wait->first = &watchers->due_waits;
			BT_CHAIN_ADD(watchers->due_waits, wait, previous, next);
		}
	}
	while (watchers->due_waits != NULL) {
		struct bt_wait *wait = watchers->due_waits;
		void (*reached)(void *context) = wait->reached;
		void *context = wait->context;

		bt_watchers_cancel(wait);
		reached(context);
	}
}

int64_t bt_watchers_run(struct bt_watchers *watchers, int64_t now_ns)
{
	uint64_t seen_rv = watchers->visible_rv;

	watchers->visible_rv = bt_store_rv(watchers->store);
	if (watchers->visible_rv != seen_rv) {
		struct bt_store_change change;

		for (uint32_t i = 0; i < watchers->collections.count; i++) {
			struct bt_watch_link *link = watchers->collections.items[i];

			if (link == NULL ||
				!bt_store_next_change(watchers->store, i, seen_rv, &change)) {
				continue;
			}
			for (; link != NULL; link = link->next) {
				resume_watch(link);
			}
		}
	}
	if (watchers->generation != bt_resources_generation(bt_api_resources(watchers->api))) {
		end_unserved(watchers);
	}
	if (now_ns >= watchers->next_due_ns) {
		run_due(watchers, now_ns);
	}
	run_waits(watchers, now_ns);
	/* A callback may have changed the store: the next run shows that to the watches. */
	int64_t next = bt_store_rv(watchers->store) != watchers->visible_rv ? now_ns
									    : watchers->next_due_ns;
	for (const struct bt_wait *wait = watchers->waits; wait != NULL; wait = wait->next) {
		int64_t due = wait->rv <= watchers->visible_rv ? now_ns : wait->end_ns;

		next = BT_MIN(due, next);
	}
	return next;
}

/** Like bt_encode_event, but caches costly encodings for other watches with the same encoding. */
static void encode_cached(struct bt_watchers *watchers, struct bt_encoder *encoder,
	enum bt_event_type type, const struct bt_stored *stored, uint64_t rv, struct bt_strbuf *out)
{
	struct cached_event *cached = cache_slot(watchers, &encoder->encoding, rv);
	size_t before = out->length;

	/*
	 * Not cached: stored texts, because they are only copied, and tables, because only the
	 * first event of each watch has the columns.
	 */
	if (encoder->is_stored_text || encoder->encoding.view == BT_VIEW_TABLE) {
		bt_encode_event(encoder, type, stored, rv, out);
		return;
	}
	if (cached->type == type && is_cached(cached, encoder, rv)) {
		bt_strbuf_append_str(out, bt_strbuf_str(&cached->bytes));
		return;
	}
	bt_encode_event(encoder, type, stored, rv, out);
	struct bt_str made = bt_str_sub(bt_strbuf_str(out), (uint32_t)before, UINT32_MAX);
	if (made.length > CACHED_BYTES_MAX) {
		return;
	}
	use_slot(cached, encoder, type, rv);
	bt_strbuf_append_str(&cached->bytes, made);
}

/** Largest number of changes or objects that one read examines before it lets other work run. */
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
	struct bt_encoder encoder;
	struct bt_selection selection;
	struct bt_store_walk walk;
	uint64_t cursor; /* changes up to this RV were sent */
	enum phase phase;
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
		(unsigned long long)bt_store_window_start(
			watch->watchers->store, watch->encoder.resource->collection));
	bt_encode_error_event(&watch->encoder, &failure, &watch->pending);
	bt_arena_finish(&arena);
	watch->phase = PHASE_ENDED;
}

/** Writes the event of a change, if any, as seen through the selection: spec 14 section 15.4. */
static void write_change(struct bt_watch *watch, const struct bt_store_change *change)
{
	struct bt_selection *selection = &watch->selection;
	bool is_removed = change->type == BT_CHANGE_DELETED;
	bool matched = change->before != NULL && bt_selection_matches(selection, change->before);
	bool matches = !is_removed && bt_selection_matches(selection, change->after);
	enum bt_event_type type = matched ? BT_EVENT_MODIFIED : BT_EVENT_ADDED;
	const struct bt_stored *shown = change->after;

	if (!matched && !matches) {
		return;
	}
	if (matched && !matches) {
		/* The object left the selection: DELETED shows its last matching state. */
		type = BT_EVENT_DELETED;
		shown = is_removed ? change->after : change->before;
	}
	encode_cached(watch->watchers, &watch->encoder, type, shown, change->rv, &watch->pending);
}

/**
 * Takes one step of the watch, which may add an event to pending. false: the watch must wait, or
 * has ended.
 */
static bool step(struct bt_watch *watch)
{
	struct bt_store_change change;
	uint64_t visible = watch->watchers->visible_rv;

	if (watch->phase == PHASE_INITIAL) {
		bool lost;
		const struct bt_stored *stored = bt_store_walk_next(&watch->walk, &lost);

		if (lost) {
			write_expired(watch);
		} else if (stored == NULL) {
			bt_store_walk_end(&watch->walk);
			watch->phase = PHASE_INITIAL_END;
		} else if (bt_selection_matches(&watch->selection, stored)) {
			bt_encode_event(
				&watch->encoder, BT_EVENT_ADDED, stored, 0, &watch->pending);
		}
		return true;
	}
	if (watch->phase == PHASE_INITIAL_END) {
		if (watch->link.has_bookmarks) {
			bt_encode_bookmark(&watch->encoder, watch->cursor, true, &watch->pending);
		}
		watch->phase = PHASE_LIVE;
		return true;
	}
	if (watch->phase == PHASE_ENDED) {
		return false;
	}
	if (watch->link.end_is_due) {
		watch->phase = PHASE_ENDED;
		return true;
	}
	if (watch->cursor < bt_store_window_start(
				    watch->watchers->store, watch->encoder.resource->collection)) {
		write_expired(watch);
		return true;
	}
	if (bt_store_next_change(watch->watchers->store, watch->encoder.resource->collection,
		    watch->cursor, &change) &&
		change.rv <= visible) {
		watch->cursor = change.rv;
		write_change(watch, &change);
		return true;
	}
	/*
	 * All visible changes were read: advance, so that the watch does not fall behind the
	 * window.
	 */
	watch->cursor = BT_MAX(visible, watch->cursor);
	if (watch->link.is_unserved) {
		watch->phase = PHASE_ENDED;
		return false;
	}
	if (watch->link.bookmark_is_due) {
		watch->link.bookmark_is_due = false;
		if (watch->cursor == visible) {
			bt_encode_bookmark(&watch->encoder, visible, false, &watch->pending);
		}
		return true;
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
	if (filled != 0) {
		return (int64_t)filled;
	}
	if (watch->wait == NULL) { /* pause for other work until the next turn of the loop */
		watch->wait = bt_watchers_await(watch->watchers, 0, 0, INT64_MAX, on_turn, watch);
	}
	return BT_HTTP_STREAM_WAIT;
}

/* --- opening --- */

/** Sets where the watch starts: spec 14 sections 15.2 and 15.3. */
static bool set_start(struct bt_watch *watch, const struct bt_list_options *options,
	struct bt_arena *arena, struct bt_failure *out_failure)
{
	bool with_initial = options->has_send_initial ? options->send_initial : options->rv == 0;
	uint64_t current = bt_store_rv(watch->watchers->store);

	if (!with_initial) {
		/* sendInitialEvents=false without an RV: start with the next change. */
		watch->cursor = options->rv != 0 ? options->rv : current;
		watch->phase = PHASE_LIVE;
		return true;
	}
	if (options->rv > current) {
		return bt_fail_future_rv(out_failure, arena, options->rv, current);
	}
	/* Start at the last durable state, unless the client asks for a newer RV. */
	watch->cursor = watch->watchers->visible_rv;
	if (watch->cursor < options->rv ||
		!bt_store_walk_begin(watch->watchers->store, watch->encoder.resource->collection,
			watch->cursor, watch->selection.prefix, BT_STR(""), &watch->walk)) {
		watch->cursor = current;
		watch->walk = bt_store_walk_current(watch->watchers->store,
			watch->encoder.resource->collection, watch->selection.prefix);
	}
	watch->phase = PHASE_INITIAL;
	return true;
}

bool bt_watch_open(const struct bt_list_request *request, int64_t now_ns, struct bt_arena *arena,
	struct bt_watch **out_watch, struct bt_failure *out_failure)
{
	struct bt_watch *watch = BT_NEW(struct bt_watch);
	struct bt_list_options options;

	watch->watchers = request->watchers;
	watch->link.wake = request->wake;
	watch->link.wake_context = request->wake_context;
	watch->link.resource = request->resource;
	bt_encoder_init(&watch->encoder, request->api, request->resource, &request->encoding);
	if (request->encoding.media == BT_MEDIA_PROTOBUF &&
		request->encoding.view == BT_VIEW_OBJECT &&
		request->resource->strategy->from_stored == NULL) {
		watch->link.encoder = &watch->encoder;
	}
	if (!bt_list_options_parse(&request->parameters, true, &options, arena, out_failure) ||
		!bt_selection_parse(&watch->selection, request->resource, request->namespace_,
			request->parameters.label_selector, request->parameters.field_selector,
			arena, out_failure) ||
		!set_start(watch, &options, arena, out_failure)) {
		bt_watch_finish(watch);
		return false;
	}
	bt_watchers_add(watch->watchers, &watch->link, request->resource->collection, now_ns,
		options.timeout_seconds, options.allow_bookmarks);
	*out_watch = watch;
	return true;
}

void bt_watch_finish(void *context)
{
	struct bt_watch *watch = context;

	if (watch == NULL) {
		return;
	}
	if (watch->wait != NULL) {
		bt_watchers_cancel(watch->wait);
	}
	bt_watchers_remove(watch->watchers, &watch->link);
	bt_store_walk_end(&watch->walk);
	bt_encoder_finish(&watch->encoder);
	bt_selection_finish(&watch->selection);
	bt_strbuf_finish(&watch->pending);
	bt_free(watch);
}
