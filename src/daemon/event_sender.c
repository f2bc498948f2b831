/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/event_sender.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/nanoseconds.h"
#include "base/prng.h"
#include "daemon/event_correlator.h"
#include "net/clock.h"

#define WAITING_MAX 1000
#define TRIES_MAX 12
#define RETRY_NS (10 * BT_NS_PER_SECOND)
#define RETRY_JITTER_NS (RETRY_NS / 4)
#define GROUP_VERSION "/apis/events.k8s.io/v1"

/** How an event waits. */
enum form {
	FORM_RAW, /* until it is known which events the server has */
	FORM_POST,
	FORM_PATCH,
	FORM_CORE_POST,
	FORM_CORE_PATCH,
};

struct waiting {
	struct waiting *next;           /* of bt_event_sender.first */
	struct bt_event_record *record; /* shared */
	char *name;                     /* owned; core forms */
	int64_t first_ns;               /* core forms */
	int64_t last_ns;
	uint32_t count; /* of the series, or of equal events */
	uint8_t form;
	bool is_combined; /* core forms */
	uint8_t tries;    /* that failed */
};

struct bt_event_sender {
	struct bt_event_sender_options options;
	char *host;      /* owned */
	char *component; /* owned */
	struct bt_event_recorder *recorder;
	struct bt_event_correlator *correlator;
	struct waiting *first;
	struct waiting *last;
	uint32_t count;
	bool is_known; /* which events the server has */
	bool is_core;  /* with is_known: core/v1 ones only */
	struct bt_rest_call *call;
	int64_t retry_at_ns; /* on the loop's clock */
	struct bt_strbuf path;
	struct bt_strbuf body;
	struct bt_strbuf spare; /* the text a body was made from */
	struct bt_arena arena;  /* of one body */
};

/** --- the queue --- */

static void call_soon(struct bt_event_sender *sender)
{
	if (sender->is_known && sender->call == NULL) {
		bt_loop_call_at(sender->options.loop, bt_loop_now_ns(sender->options.loop));
	}
}

/** More than fit are dropped without a word: spec 11b section 8.4. */
static void push(struct bt_event_sender *sender, const struct waiting *item)
{
	if (sender->count == WAITING_MAX) {
		bt_free(item->name);
		return;
	}
	struct waiting *waiting = BT_NEW(struct waiting);
	*waiting = *item;
	waiting->next = NULL;
	(void)bt_event_record_share(waiting->record);
	if (sender->first == NULL) {
		sender->first = waiting;
	} else {
		sender->last->next = waiting;
	}
	sender->last = waiting;
	sender->count++;
	call_soon(sender);
}

static void free_waiting(struct waiting *waiting)
{
	bt_event_record_release(waiting->record);
	bt_free(waiting->name);
	bt_free(waiting);
}

static void pop(struct bt_event_sender *sender)
{
	struct waiting *waiting = sender->first;
	sender->first = waiting->next;
	sender->count--;
	free_waiting(waiting);
}

static void push_core(struct bt_event_sender *sender, struct bt_event_record *record)
{
	struct bt_event_correlation correlation;
	if (!bt_event_correlator_add(sender->correlator, record, &correlation)) {
		return;
	}
	struct waiting item = {
		.record = record,
		.name = bt_strndup(correlation.name.data, correlation.name.length),
		.first_ns = correlation.first_ns,
		.last_ns = record->time_ns,
		.count = correlation.count,
		.form = correlation.count > 1 ? FORM_CORE_PATCH : FORM_CORE_POST,
		.is_combined = correlation.is_combined,
	};
	push(sender, &item);
}

/** --- of the recorder --- */

static bool take(void *context, struct bt_event_record *record)
{
	struct bt_event_sender *sender = context;
	if (!sender->is_known) {
		struct waiting item = {.record = record, .form = FORM_RAW};
		push(sender, &item);
	} else if (sender->is_core) {
		push_core(sender, record);
	}
	return !sender->is_known || sender->is_core;
}

static void push_delivery(
	struct bt_event_sender *sender, const struct bt_event_delivery *event, enum form form)
{
	struct waiting item = {
		.record = event->record,
		.last_ns = event->series_ns,
		.count = event->series_count,
		.form = (uint8_t)form,
	};
	push(sender, &item);
}

static void post(void *context, const struct bt_event_delivery *event)
{
	push_delivery(context, event, FORM_POST);
}

static bool patch(void *context, const struct bt_event_delivery *event)
{
	push_delivery(context, event, FORM_PATCH);
	return true; /* one that is gone is noticed later, and posted here */
}

/** --- documents --- */

static void append_name(const struct waiting *waiting, struct bt_strbuf *out)
{
	if (waiting->name != NULL) {
		bt_strbuf_append_c(out, waiting->name);
	} else {
		bt_event_record_append_name(waiting->record, out);
	}
}

static bool is_patch(const struct waiting *waiting)
{
	return waiting->form == FORM_PATCH || waiting->form == FORM_CORE_PATCH;
}

/** --- answers --- */

static void answer_without_response(struct bt_event_sender *sender, const char *error)
{
	struct waiting *waiting = sender->first;
	struct bt_str namespace_ = bt_event_record_namespace(waiting->record);
	struct bt_strbuf name = {0};
	append_name(waiting, &name);
	if (++waiting->tries >= TRIES_MAX) {
		BT_LOG_ERROR(error, "Unable to write event (retry limit exceeded!)",
			BT_LOG_REF("event", namespace_, bt_strbuf_str(&name)));
		pop(sender);
	} else {
		BT_LOG_ERROR(error, "Unable to write event (may retry after sleeping)",
			BT_LOG_REF("event", namespace_, bt_strbuf_str(&name)));
		sender->retry_at_ns = bt_loop_now_ns(sender->options.loop) + RETRY_NS +
			(int64_t)bt_prng_below(sender->options.prng, RETRY_JITTER_NS);
	}
	bt_strbuf_finish(&name);
}

static void answer_refusal(
	struct bt_event_sender *sender, const struct bt_rest_answer *answer, const char *error)
{
	struct waiting *waiting = sender->first;
	bool exists = answer->class_ == BT_REST_ALREADY_EXISTS;
	if (answer->class_ == BT_REST_NOT_FOUND && is_patch(waiting)) {
		waiting->form = waiting->form == FORM_PATCH ? FORM_POST : FORM_CORE_POST;
	} else if (exists && waiting->form == FORM_POST && waiting->count > 1) {
		/* Posted because it was gone, and there after all: patched again. */
		waiting->form = FORM_PATCH;
		answer_without_response(sender, error);
	} else {
		static const char message[] = "Server rejected event (will not retry!)";
		struct bt_str namespace_ = bt_event_record_namespace(waiting->record);
		struct bt_strbuf name = {0};
		append_name(waiting, &name);
		if (exists) {
			BT_LOG_INFO(5, message, BT_LOG_CSTR("err", error),
				BT_LOG_REF("event", namespace_, bt_strbuf_str(&name)));
		} else {
			BT_LOG_ERROR(error, message,
				BT_LOG_REF("event", namespace_, bt_strbuf_str(&name)));
		}
		bt_strbuf_finish(&name);
		pop(sender);
	}
}

static void done(
	void *context, struct bt_rest_call *call BT_UNUSED, const struct bt_rest_answer *answer)
{
	struct bt_event_sender *sender = context;
	sender->call = NULL;
	if (answer->class_ == BT_REST_OK) {
		pop(sender);
	} else {
		struct berth_error err = BERTH_ERROR_INIT;
		(void)bt_rest_answer_error(answer, &err);
		if (answer->class_ == BT_REST_TRANSPORT) {
			answer_without_response(sender, berth_error_message(&err));
		} else {
			answer_refusal(sender, answer, berth_error_message(&err));
		}
		berth_error_finish(&err);
	}
	call_soon(sender);
}

/** From the text to the client's content type. Returns what that is. */
static struct bt_str encode_body(struct bt_event_sender *sender)
{
	struct bt_json_value *value;
	struct bt_str content_type = BT_STR(BT_MEDIA_JSON);
	if (!bt_rest_writes_protobuf(sender->options.client)) {
		return content_type;
	}
	struct bt_strbuf text = sender->body;
	sender->body = sender->spare;
	bt_strbuf_reset(&sender->body);
	bt_arena_reset(&sender->arena);
	if (bt_json_parse(&sender->arena, bt_strbuf_str(&text), false, &value, NULL) == 0) {
		content_type = bt_rest_encode_body(sender->options.client, value, &sender->body);
	}
	sender->spare = text;
	return content_type;
}

static void send_first(struct bt_event_sender *sender)
{
	const struct waiting *waiting = sender->first;
	struct bt_str content_type = BT_STR(BT_MEDIA_STRATEGIC_PATCH);
	bool is_core = waiting->form == FORM_CORE_POST || waiting->form == FORM_CORE_PATCH;
	bt_strbuf_reset(&sender->path);
	bt_strbuf_append_c(&sender->path, is_core ? "/api/v1" : GROUP_VERSION);
	bt_strbuf_append_c(&sender->path, "/namespaces/");
	bt_rest_append_segment(&sender->path, bt_event_record_namespace(waiting->record));
	bt_strbuf_append_c(&sender->path, "/events");
	if (is_patch(waiting)) {
		struct bt_strbuf name = {0};
		append_name(waiting, &name);
		bt_strbuf_append_char(&sender->path, '/');
		bt_rest_append_segment(&sender->path, bt_strbuf_str(&name));
		bt_strbuf_finish(&name);
	}
	bt_strbuf_reset(&sender->body);
	if (waiting->form == FORM_POST) {
		bt_event_record_write(waiting->record, bt_str_from(sender->host), waiting->count,
			waiting->last_ns, &sender->body);
	} else if (waiting->form == FORM_PATCH) {
		bt_event_record_write_series(waiting->count, waiting->last_ns, &sender->body);
	} else {
		struct bt_strbuf combined = {0};
		struct bt_event_counts counts = {
			.message = bt_event_record_part(waiting->record, BT_EVENT_NOTE),
			.first_ns = waiting->first_ns,
			.last_ns = waiting->last_ns,
			.count = waiting->count,
		};
		if (waiting->is_combined) {
			bt_strbuf_append_c(&combined, BT_EVENT_COMBINED_PREFIX);
			bt_strbuf_append_str(&combined, counts.message);
			counts.message = bt_strbuf_str(&combined);
		}
		if (waiting->form == FORM_CORE_PATCH) {
			bt_event_record_write_counts(&counts, waiting->is_combined, &sender->body);
		} else {
			bt_event_record_write_core(waiting->record, bt_str_from(waiting->name),
				&counts, &sender->body);
		}
		bt_strbuf_finish(&combined);
	}
	if (!is_patch(waiting)) {
		content_type = encode_body(sender);
	}
	struct bt_rest_request request = {
		.method = is_patch(waiting) ? "PATCH" : "POST",
		.path = bt_strbuf_str(&sender->path),
		.resource = BT_STR("events"),
		.content_type = content_type,
		.body = bt_strbuf_str(&sender->body),
		.handler = {.context = sender, .done = done},
	};
	sender->call = bt_rest_start(sender->options.client, &request);
}

/** --- which events there are --- */

static void discovered(
	void *context, struct bt_rest_call *call BT_UNUSED, const struct bt_rest_answer *answer)
{
	struct bt_event_sender *sender = context;
	struct waiting *waiting = sender->first;
	sender->call = NULL;
	sender->is_known = true;
	sender->is_core = answer->class_ != BT_REST_OK;
	/* What waited goes the way it would have gone, in its order. */
	sender->first = NULL;
	sender->count = 0;
	while (waiting != NULL) {
		struct waiting *next = waiting->next;
		if (waiting->form != FORM_RAW) {
			push(sender, waiting);
			waiting->name = NULL; /* push owns it */
		} else if (sender->is_core) {
			push_core(sender, waiting->record);
		} else {
			bt_event_recorder_accept(sender->recorder, waiting->record);
		}
		free_waiting(waiting);
		waiting = next;
	}
	call_soon(sender);
}

void bt_event_sender_start(struct bt_event_sender *sender)
{
	struct bt_rest_request request = {
		.method = "GET",
		.path = BT_STR(GROUP_VERSION),
		.accept = BT_STR(BT_MEDIA_JSON),
		.handler = {.context = sender, .done = discovered},
	};
	if (!sender->is_known && sender->call == NULL) {
		sender->call = bt_rest_start(sender->options.client, &request);
	}
}

/** --- life --- */

static int64_t work(void *context, int64_t now_ns)
{
	struct bt_event_sender *sender = context;
	int64_t wall_ns = bt_clock_wall_ns();
	int64_t due_ns = now_ns + (bt_event_recorder_tick(sender->recorder, wall_ns) - wall_ns);
	if (!sender->is_known || sender->call != NULL || sender->first == NULL) {
		return due_ns;
	}
	if (now_ns < sender->retry_at_ns) {
		return sender->retry_at_ns < due_ns ? sender->retry_at_ns : due_ns;
	}
	send_first(sender);
	return due_ns;
}

struct bt_event_sender *bt_event_sender_create(const struct bt_event_sender_options *options)
{
	struct bt_event_sender *sender = bt_calloc(1, sizeof(*sender));
	struct bt_event_sink sink = {.context = sender, .post = post, .patch = patch, .take = take};
	sender->options = *options;
	sender->host = bt_strndup(options->host, strlen(options->host));
	sender->component = bt_strndup(options->component, strlen(options->component));
	sender->recorder = bt_event_recorder_create(&sink);
	sender->correlator = bt_event_correlator_create();
	bt_loop_add_worker(options->loop, work, sender);
	return sender;
}

void bt_event_sender_destroy(struct bt_event_sender *sender)
{
	if (sender == NULL) {
		return;
	}
	if (sender->call != NULL) {
		bt_rest_cancel(sender->call);
	}
	bt_loop_remove_worker(sender->options.loop, sender);
	while (sender->first != NULL) {
		pop(sender);
	}
	bt_event_recorder_destroy(sender->recorder);
	bt_event_correlator_destroy(sender->correlator);
	bt_strbuf_finish(&sender->path);
	bt_strbuf_finish(&sender->body);
	bt_strbuf_finish(&sender->spare);
	bt_arena_finish(&sender->arena);
	bt_free(sender->host);
	bt_free(sender->component);
	bt_free(sender);
}

struct bt_event_recorder *bt_event_sender_recorder(struct bt_event_sender *sender)
{
	return sender->recorder;
}

void bt_event_sender_lease_event(
	struct bt_event_sender *sender, const struct bt_object_meta *lease, struct bt_str message)
{
	struct bt_event_facts facts = {
		.kind = "Lease",
		.api_version = "coordination.k8s.io/v1",
		.regarding = lease,
		.type = "Normal",
		.reason = "LeaderElection",
		.action = "",
		.controller = bt_str_from(sender->component),
		.note = message,
	};
	struct bt_event_record *record = bt_event_record_create(&facts, bt_clock_wall_ns());
	push_core(sender, record);
	bt_event_record_release(record);
}

uint32_t bt_event_sender_waiting(const struct bt_event_sender *sender)
{
	return sender->count;
}
