/* SPDX-License-Identifier: Apache-2.0 */
#include "client/reflector.h"

#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/nanoseconds.h"
#include "client/reflector_private.h"
#include "net/loop.h"

/** A watch that lasts this much longer than its timeout has hung. */
#define OVERDUE_NS (30 * BT_NS_PER_SECOND)
/** A watch that had bookmarks (about one per minute) and is silent for this long has hung. */
#define WITHOUT_BOOKMARK_NS (150 * BT_NS_PER_SECOND)
/** Interval of log lines about a silent streaming list. */
#define SILENCE_NS (10 * BT_NS_PER_SECOND)

static void log_report(
	const struct bt_reflector *reflector, enum bt_reflector_report report, const char *message)
{
	static const struct {
		int verbosity;
		const char *text; /* NULL: the code below formats the line */
	} lines[] = {
		[BT_REFLECTOR_REPORT_FALLBACK] = {4, "Streaming list failed, listing instead"},
		[BT_REFLECTOR_REPORT_CLOSED] = {4, "Watch closed"},
		[BT_REFLECTOR_REPORT_WARNING] = {0, "Warning: watch ended with error"},
	};

	if (report == BT_REFLECTOR_REPORT_ERROR) {
		BT_LOG_ERROR(message, "Failed to watch",
			BT_LOG_CSTR("reflector", reflector->options.name),
			BT_LOG_CSTR("type", reflector->options.type_name));
	} else if (report == BT_REFLECTOR_REPORT_VERY_SHORT && BT_LOG_ENABLED(4)) {
		bt_log_text(BT_LOG_SEVERITY_INFO, 4, __FILE__, __LINE__,
			"very short watch: %s: Unexpected watch close - watch lasted less than a "
			"second and no items received",
			reflector->options.name);
	} else if (lines[report].text != NULL) {
		BT_LOG_INFO(lines[report].verbosity, lines[report].text,
			BT_LOG_CSTR("reflector", reflector->options.name),
			BT_LOG_CSTR("type", reflector->options.type_name),
			BT_LOG_CSTR("err", message));
	}
}

static void log_failed_list(const struct bt_reflector *reflector, const char *message)
{
	struct bt_strbuf text = {NULL, 0, 0};

	bt_strbuf_printf(&text, "failed to list %s: %s", reflector->options.type_name, message);
	log_report(reflector, BT_REFLECTOR_REPORT_ERROR, bt_strbuf_c(&text));
	bt_strbuf_finish(&text);
}

static void reset_request(struct bt_reflector *reflector)
{
	reflector->call = NULL;
	reflector->is_open = false;
	bt_frames_finish(&reflector->frames);
	bt_arena_finish(&reflector->arena);
}

static void next_request_at(struct bt_reflector *reflector, int64_t when_ns)
{
	reflector->due_ns = when_ns;
	bt_loop_call_at(reflector->options.loop, when_ns);
}

void bt_reflector_resume(struct bt_reflector *reflector, bool is_list)
{
	const struct bt_reflector_sink *sink = &reflector->options.sink;
	int64_t lost_ns = reflector->lost_ns;

	reflector->lost_ns = 0;
	if (lost_ns != 0 && reflector->is_synced && sink->resumed != NULL) {
		/*
		 * a new watch first sends the changes that the broken watch missed, so a gap
		 * without a list ends when the new watch opens
		 */
		sink->resumed(sink->context,
			(is_list ? bt_loop_now_ns(reflector->options.loop) : reflector->opened_ns) -
				lost_ns,
			is_list);
	}
}

/** Handles the end of a request, after reset_request. */
static void request_ended(
	struct bt_reflector *reflector, enum bt_reflector_end end, const char *message)
{
	int64_t now_ns = bt_loop_now_ns(reflector->options.loop);
	struct bt_reflector_ending ending = {
		.end = end,
		.event_count = reflector->event_count,
		.age_ns = now_ns - reflector->opened_ns,
	};
	bool was_list = bt_reflector_is_listing(reflector);
	bool waits;
	enum bt_reflector_report report =
		bt_reflector_state_ended(&reflector->state, &ending, &waits);

	if (was_list && report == BT_REFLECTOR_REPORT_ERROR) {
		log_failed_list(reflector, message);
	} else if (end == BT_REFLECTOR_END_REFUSED && waits) {
		/*
		 * Before the first list, log an error, because startup waits for the list. Later,
		 * log at verbosity 2, because failing lease renewals report the problem.
		 */
		if (!reflector->is_synced) {
			log_failed_list(reflector, message);
		} else {
			BT_LOG_INFO(2, "Watch refused, trying again later",
				BT_LOG_CSTR("reflector", reflector->options.name),
				BT_LOG_CSTR("type", reflector->options.type_name),
				BT_LOG_CSTR("err", message));
		}
	} else {
		log_report(reflector, report, message);
	}
	bt_reflector_store_finish(&reflector->incoming);
	if (reflector->lost_ns == 0 ||
		(end == BT_REFLECTOR_END_CLEAN && reflector->opened_ns < now_ns)) {
		/*
		 * Count the watch as lost from now on. If it was lost before, the earlier time
		 * stays, unless the watch was open for a while and ended cleanly.
		 */
		reflector->lost_ns = now_ns;
	}
	if (waits) {
		now_ns += bt_reflector_backoff_step(
			&reflector->state.backoff, reflector->options.prng, now_ns);
	}
	next_request_at(reflector, now_ns);
}

static void on_opened(void *context, struct bt_rest_call *call, struct bt_str content_type)
{
	struct bt_reflector *reflector = context;
	struct bt_frames_sink sink = {reflector, bt_reflector_take_part};
	bool list = bt_reflector_is_listing(reflector);

	(void)call;
	reflector->is_open = true;
	reflector->is_protobuf = bt_str_has_prefix(content_type, BT_STR(BT_MEDIA_PROTOBUF));
	reflector->opened_ns = bt_loop_now_ns(reflector->options.loop);
	reflector->last_event_ns = reflector->opened_ns;
	bt_frames_init(&reflector->frames,
		reflector->is_protobuf ? (list ? BT_FRAMES_LIST_PROTOBUF : BT_FRAMES_WATCH_PROTOBUF)
				       : (list ? BT_FRAMES_LIST_JSON : BT_FRAMES_WATCH_JSON),
		&sink);
}

/** Cancels the running request, and handles it as ended with `end`. */
static void cancel_request(
	struct bt_reflector *reflector, enum bt_reflector_end end, const char *message)
{
	bt_rest_cancel(reflector->call);
	reset_request(reflector);
	request_ended(reflector, end, message);
}

static void on_data(void *context, struct bt_rest_call *call, struct bt_str bytes)
{
	struct bt_reflector *reflector = context;
	struct berth_error err = BERTH_ERROR_INIT;

	(void)call;
	reflector->failure = BT_REFLECTOR_END_BROKEN;
	if (reflector->is_protobuf && reflector->options.decode_json != NULL) {
		cancel_request(reflector, BT_REFLECTOR_END_FAILED, "protobuf was not asked for");
		return;
	}
	if (bt_frames_feed(&reflector->frames, bytes, &err) != 0) {
		cancel_request(reflector, reflector->failure, berth_error_message(&err));
	}
	bt_arena_finish(&reflector->arena);
	berth_error_finish(&err);
}

static enum bt_reflector_end end_of_answer(
	const struct bt_reflector *reflector, const struct bt_rest_answer *answer)
{
	if (answer->too_large_resource_version) {
		return BT_REFLECTOR_END_FUTURE;
	}
	switch (answer->class_) {
	case BT_REST_OK:
		return bt_reflector_is_listing(reflector) ? BT_REFLECTOR_END_FAILED
							  : BT_REFLECTOR_END_CLEAN;
	case BT_REST_TRANSPORT:
		if (bt_reflector_is_listing(reflector)) {
			return BT_REFLECTOR_END_FAILED;
		}
		if (answer->failure == BT_HTTP_FAILURE_REFUSED) {
			return BT_REFLECTOR_END_REFUSED;
		}
		/* A lost connection counts as closed by the server: spec 13 section 7.4. */
		return answer->failure == BT_HTTP_FAILURE_NONE ||
				answer->failure == BT_HTTP_FAILURE_TIMEOUT ||
				answer->failure == BT_HTTP_FAILURE_RESET
			? BT_REFLECTOR_END_CLEAN
			: BT_REFLECTOR_END_FAILED;
	case BT_REST_TOO_MANY_REQUESTS:
		return BT_REFLECTOR_END_REFUSED;
	case BT_REST_GONE:
	case BT_REST_EXPIRED:
		return BT_REFLECTOR_END_EXPIRED;
	default: /* all other classes are failures */
		return BT_REFLECTOR_END_FAILED;
	}
}

static void on_done(void *context, struct bt_rest_call *call, const struct bt_rest_answer *answer)
{
	struct bt_reflector *reflector = context;
	bool is_list = bt_reflector_is_listing(reflector);
	bool was_open = reflector->is_open;
	const char *flaw = "unexpected EOF"; /* what is wrong with a successful answer */
	struct bt_strbuf message = {NULL, 0, 0};

	(void)call;
	if (is_list && was_open && bt_frames_is_complete(&reflector->frames)) {
		/* without this check an empty answer from a proxy would empty the store */
		flaw = reflector->list_version.length == 0 ? "the list has no resource version"
							   : NULL;
	}
	if (!reflector->is_open) {
		/* a stream that was never opened counts as a stream with duration 0 */
		reflector->opened_ns = bt_loop_now_ns(reflector->options.loop);
	}
	reset_request(reflector);
	if (answer->class_ == BT_REST_OK && is_list && flaw == NULL) {
		/* the page is complete */
		if (!bt_reflector_state_listed(&reflector->state,
			    bt_strbuf_str(&reflector->list_version),
			    bt_strbuf_str(&reflector->continue_token))) {
			bt_reflector_complete_copy(reflector);
		}
		next_request_at(reflector, bt_loop_now_ns(reflector->options.loop));
		return;
	}
	if (answer->class_ == BT_REST_OK) {
		bt_strbuf_append_c(&message, flaw);
	} else {
		bt_strbuf_append_str(&message, answer->message);
		if (!was_open && reflector->options.sink.failed != NULL) {
			reflector->options.sink.failed(reflector->options.sink.context, answer);
		}
	}
	request_ended(reflector, end_of_answer(reflector, answer), bt_strbuf_c(&message));
	bt_strbuf_finish(&message);
}

/**
 * Checks the request that is running, and returns when to check it again. A watch whose server has
 * been silent for too long is replaced.
 */
static int64_t check_request(struct bt_reflector *reflector, int64_t now_ns)
{
	/* when a silent server counts as hung */
	int64_t end_ns = reflector->opened_ns + OVERDUE_NS +
		(int64_t)reflector->state.watch_seconds * BT_NS_PER_SECOND;

	if (!reflector->is_open || bt_reflector_is_listing(reflector)) {
		end_ns = INT64_MAX;
	} else if (reflector->has_bookmarks &&
		reflector->last_event_ns + WITHOUT_BOOKMARK_NS < end_ns) {
		end_ns = reflector->last_event_ns + WITHOUT_BOOKMARK_NS;
	}
	if (now_ns >= end_ns) {
		/*
		 * Replace a silent watch. A server that was restored from a backup sends
		 * nothing until it reaches the watch's resource version, and its changes
		 * until then are lost (spec 13 section 11). If earlier watches had
		 * bookmarks and this one had no event, the reflector lists next: in its
		 * answer to a list, the server reports a version that is too large.
		 */
		int64_t lost_ns =
			reflector->lost_ns != 0 ? reflector->lost_ns : reflector->last_event_ns;

		if (reflector->has_bookmarks && reflector->event_count == 0) {
			reflector->has_bookmarks = false;
			cancel_request(reflector, BT_REFLECTOR_END_FUTURE,
				"no bookmarks come any more: is the resource "
				"version from the future?");
		} else {
			BT_LOG_INFO(2, "Watch has fallen silent",
				BT_LOG_CSTR("reflector", reflector->options.name),
				BT_LOG_CSTR("type", reflector->options.type_name));
			cancel_request(
				reflector, BT_REFLECTOR_END_CLEAN, "the server has fallen silent");
		}
		/* The watch has not worked since its last event, even if it ends clean. */
		reflector->lost_ns = lost_ns;
		return reflector->due_ns;
	}
	/* Log every ten seconds that a streaming list has no events. */
	int64_t since_ns = BT_MAX(reflector->mentioned_ns, reflector->last_event_ns);

	if (reflector->state.phase != BT_REFLECTOR_STREAM || !reflector->is_open) {
		return end_ns;
	}
	if (now_ns - since_ns >= SILENCE_NS) {
		reflector->mentioned_ns = now_ns;
		since_ns = now_ns;
		BT_LOG_TEXT(BT_LOG_SEVERITY_INFO,
			"%s: awaiting required bookmark event for initial events stream, "
			"no events received for %llds",
			reflector->options.name,
			(long long)((now_ns - reflector->last_event_ns) / BT_NS_PER_SECOND));
	}
	return BT_MIN(since_ns + SILENCE_NS, end_ns);
}

static int64_t run_reflector(void *context, int64_t now_ns)
{
	struct bt_reflector *reflector = context;

	if (reflector->call != NULL) {
		return check_request(reflector, now_ns);
	}
	if (now_ns < reflector->due_ns) {
		return reflector->due_ns;
	}
	const struct bt_reflector_options *options = &reflector->options;
	struct bt_strbuf query = {NULL, 0, 0};
	struct bt_rest_request request = {
		.method = "GET",
		.path = options->path,
		.resource = bt_str_from(options->name),
		.name = BT_STR(""),
		.content_type = BT_STR(""),
		.accept = options->decode_json != NULL ? BT_STR(BT_MEDIA_JSON) : BT_STR(""),
		.body = {NULL, 0},
		.is_watch = !bt_reflector_is_listing(reflector),
		.handler = {reflector, on_opened, on_data, on_done},
	};

	bt_reflector_state_query(&reflector->state, options->field_selector, options->prng, &query);
	request.query = bt_strbuf_str(&query);
	bt_strbuf_reset(&reflector->list_version);
	bt_strbuf_reset(&reflector->continue_token);
	reflector->event_count = 0;
	reflector->opened_ns = now_ns;
	reflector->last_event_ns = now_ns;
	reflector->mentioned_ns = now_ns;
	reflector->call = bt_rest_start(options->client, &request);
	bt_strbuf_finish(&query);
	return INT64_MAX;
}

struct bt_reflector *bt_reflector_create(const struct bt_reflector_options *options)
{
	struct bt_reflector *reflector = BT_NEW(struct bt_reflector);

	reflector->options = *options;
	reflector->options.path.data = bt_strndup(options->path.data, options->path.length);
	reflector->options.field_selector.data =
		bt_strndup(options->field_selector.length != 0 ? options->field_selector.data : "",
			options->field_selector.length);
	reflector->options.type_name = bt_strndup(options->type_name, strlen(options->type_name));
	reflector->options.name = bt_strndup(options->name, strlen(options->name));
	bt_reflector_state_init(&reflector->state, options->streaming);
	static const struct bt_metric_description description = {
		.name = "informer_store_resource_version",
		.help = "The 15 least significant digits of the resource version of the store.",
		.type = BT_METRIC_GAUGE,
		.stability = BT_METRIC_ALPHA,
		.labels = {"name"},
	};
	struct bt_str name = bt_str_from(options->name);
	reflector->version_cell = options->metrics == NULL
		? NULL
		: bt_metric_cell(bt_metrics_register(options->metrics, &description), &name);
	bt_loop_add_worker(options->loop, run_reflector, reflector);
	next_request_at(reflector, bt_loop_now_ns(options->loop));
	return reflector;
}

struct bt_reflector *bt_reflector_create_of_kind(
	const struct bt_reflector_options *options, enum bt_kind kind, uint32_t version_index)
{
	const struct bt_kind_info *info = bt_kind_info(kind);
	struct bt_str version = bt_kind_version_at(kind, version_index);
	struct bt_reflector_options of_kind = *options;
	struct bt_strbuf path = {0};
	struct bt_strbuf type_name = {0};

	bt_kind_append_path(kind, version, &path);
	bt_strbuf_printf(&path, "/%s", info->resource);
	bt_strbuf_printf(&type_name, "*%.*s.%s", BT_STR_ARG(version), info->name);
	of_kind.kind = kind;
	of_kind.path = bt_strbuf_str(&path);
	of_kind.type_name = bt_strbuf_c(&type_name);
	of_kind.name = info->resource;
	struct bt_reflector *reflector = bt_reflector_create(&of_kind);
	bt_strbuf_finish(&path);
	bt_strbuf_finish(&type_name);
	return reflector;
}

void bt_reflector_destroy(struct bt_reflector *reflector)
{
	if (reflector == NULL) {
		return;
	}
	bt_loop_remove_worker(reflector->options.loop, reflector);
	if (reflector->call != NULL) {
		bt_rest_cancel(reflector->call);
	}
	reset_request(reflector);
	bt_reflector_store_finish(&reflector->store);
	bt_reflector_store_finish(&reflector->incoming);
	bt_strbuf_finish(&reflector->state.resource_version);
	bt_strbuf_finish(&reflector->state.list_version);
	bt_strbuf_finish(&reflector->state.continue_token);
	bt_strbuf_finish(&reflector->list_version);
	bt_strbuf_finish(&reflector->continue_token);
	const char *texts[] = {reflector->options.path.data, reflector->options.field_selector.data,
		reflector->options.type_name, reflector->options.name};
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(texts); i++) {
		bt_free((void *)(uintptr_t)texts[i]);
	}
	bt_free(reflector);
}

const char *bt_reflector_type_name(const struct bt_reflector *reflector)
{
	return reflector->options.type_name;
}

bool bt_reflector_is_synced(const struct bt_reflector *reflector)
{
	return reflector->is_synced;
}

bool bt_reflector_is_open(const struct bt_reflector *reflector)
{
	return reflector->is_open;
}

uint32_t bt_reflector_count(const struct bt_reflector *reflector)
{
	return reflector->store.items.count;
}

struct bt_object *bt_reflector_find(
	const struct bt_reflector *reflector, struct bt_str namespace_, struct bt_str name)
{
	return bt_reflector_store_find(&reflector->store, namespace_, name);
}

void bt_reflector_for_each(const struct bt_reflector *reflector,
	void (*visit)(void *context, const struct bt_object *object), void *context)
{
	for (uint32_t i = 0; i < reflector->store.items.count; i++) {
		struct bt_object *object = bt_object_unpack(reflector->store.items.items[i]);

		visit(context, object);
		bt_object_allow_pack(object);
	}
}
