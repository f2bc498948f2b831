/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/event_sender.h"

#include "base/alloc.h"
#include "base/links.h"
#include "base/log.h"
#include "base/map.h"
#include "base/nanoseconds.h"
#include "base/prng.h"
#include "base/vec.h"
#include "daemon/event_recorder.h"
#include "net/clock.h"

/**
 * The correlation of core/v1 events before they are sent: equal events are counted, many events
 * that differ only in their message become one event, and events are dropped while their object
 * causes too many. Spec: 11b section 8.5. No I/O; the time is taken from the records.
 */

#define COMBINED_PREFIX "(combined from similar events): "

/**
 * Maximum number of entries in each memory of struct correlator (below). A further entry replaces
 * the least recently used entry.
 */
#define ENTRIES_MAX 4096

#define NONE UINT32_MAX
#define SIMILAR_MAX 10
#define SIMILAR_WITHIN_NS (600 * BT_NS_PER_SECOND)
#define SPAM_BURST 25
#define SPAM_ONE_IN_NS (300 * BT_NS_PER_SECOND) /* one more event is allowed per interval */

/** Two keyed hashes of the texts: texts count as equal if both hashes are equal. */
struct key {
	uint64_t hash[2];
};

/**
 * An entry of one of the memories `similar`, `counted` and `allowed` of struct correlator (below).
 * The meaning of some members depends on the memory.
 */
struct entry {
	struct key key;
	uint32_t older;
	uint32_t newer;
	/**
	 * Since 1970. In `similar`: time of the last event. In `counted`: time of the first event.
	 * In `allowed`: when `count` was increased last.
	 */
	int64_t time_ns;
	/**
	 * In `similar`: number of different messages; from SIMILAR_MAX on, the count only tells
	 * which place of `messages` is overwritten next. In `counted`: number of events. In
	 * `allowed`: number of events that may still be sent.
	 */
	uint32_t count;
	union {
		uint64_t messages[SIMILAR_MAX]; /* in `similar`: ring of message hashes */
		char *name;                     /* in `counted`: the Event's name; owned */
	};
};

struct memory {
	BT_VEC(struct entry) entries;
	struct bt_map by_key;
	uint32_t oldest;
	uint32_t newest;
};

struct correlator {
	struct memory similar; /* key: all parts but the message */
	struct memory counted; /* key: all parts; of combined events: all but the message */
	struct memory allowed; /* key: source and object */
	struct bt_strbuf name;
};

static void memory_finish(struct memory *memory)
{
	bt_vec_finish(&memory->entries);
	bt_map_finish(&memory->by_key);
}

/**
 * Find the entry of the key, or add an entry and set *out_is_new. An added entry is zeroed, or has
 * the values of the least recently used entry, which it replaces.
 */
static struct entry *use(struct memory *memory, const struct key *key, bool *out_is_new)
{
	uint32_t index = NONE;
	BT_MAP_EACH (&memory->by_key, key->hash[0], at) {
		if (memcmp(&memory->entries.items[at].key, key, sizeof(*key)) == 0) {
			index = at;
			break;
		}
	}
	*out_is_new = index == NONE;
	if (index != NONE) {
		BT_INDEX_LIST_REMOVE(
			memory->oldest, memory->newest, memory->entries.items, index, older, newer);
	} else if (memory->entries.count < ENTRIES_MAX) {
		struct entry entry = {.time_ns = 0};
		index = memory->entries.count;
		bt_vec_push(&memory->entries, entry);
	} else {
		index = memory->oldest;
		BT_INDEX_LIST_REMOVE(
			memory->oldest, memory->newest, memory->entries.items, index, older, newer);
		(void)bt_map_remove(
			&memory->by_key, memory->entries.items[index].key.hash[0], index);
	}
	if (*out_is_new) {
		memory->entries.items[index].key = *key;
		bt_map_insert(&memory->by_key, key->hash[0], index);
	}
	BT_INDEX_LIST_APPEND(
		memory->oldest, memory->newest, memory->entries.items, index, older, newer);
	return &memory->entries.items[index];
}

static struct key key_of(const struct bt_event_record *record, const enum bt_event_part *parts,
	uint32_t count, uint64_t kind)
{
	struct key key = {{kind, ~kind}};
	for (uint32_t i = 0; i < count; i++) {
		struct bt_str text = bt_event_record_part(record, parts[i]);
		for (uint32_t k = 0; k < BT_ARRAY_LENGTH(key.hash); k++) {
			key.hash[k] = bt_hash_u64(key.hash[k], text.length);
			key.hash[k] = bt_hash_bytes(text.data, text.length, key.hash[k]);
		}
	}
	return key;
}

/*
 * The keys of the three memories: the first OBJECT_PARTS parts identify source and object, the
 * first SIMILAR_PARTS are all parts but the message, and EQUAL_PARTS are all parts.
 */
static const enum bt_event_part parts[] = {BT_EVENT_CONTROLLER, BT_EVENT_KIND, BT_EVENT_API_VERSION,
	BT_EVENT_NAMESPACE, BT_EVENT_NAME, BT_EVENT_UID, BT_EVENT_TYPE, BT_EVENT_REASON,
	BT_EVENT_NOTE};
#define OBJECT_PARTS 6
#define SIMILAR_PARTS 8
#define EQUAL_PARTS 9

/**
 * Returns true if the event must be combined with similar events, because SIMILAR_MAX messages of
 * similar events are remembered and the event's message is not among them. Remembers the event's
 * message. Events are similar if they differ at most in their message.
 */
static bool is_one_too_many(struct correlator *correlator, const struct bt_event_record *record)
{
	struct key key = key_of(record, parts, SIMILAR_PARTS, 1);
	struct bt_str note = bt_event_record_part(record, BT_EVENT_NOTE);
	uint64_t message = bt_str_hash(note);
	bool is_new;
	struct entry *entry = use(&correlator->similar, &key, &is_new);
	if (is_new || record->time_ns - entry->time_ns > SIMILAR_WITHIN_NS) {
		entry->count = 0;
	}
	entry->time_ns = record->time_ns;
	uint32_t known = BT_MIN(entry->count, SIMILAR_MAX);
	for (uint32_t i = 0; i < known; i++) {
		if (entry->messages[i] == message) {
			return false;
		}
	}
	bool is_full = known == SIMILAR_MAX;
	entry->messages[entry->count % SIMILAR_MAX] = message;
	entry->count =
		is_full && entry->count + 1 == 2 * SIMILAR_MAX ? SIMILAR_MAX : entry->count + 1;
	return is_full;
}

/**
 * Count the event in the entry of events that are equal, or, if is_combined, in the entry of
 * similar events. Returns the entry.
 */
static const struct entry *count(
	struct correlator *correlator, const struct bt_event_record *record, bool is_combined)
{
	struct key key = is_combined ? key_of(record, parts, SIMILAR_PARTS, 2)
				     : key_of(record, parts, EQUAL_PARTS, 3);
	bool is_new;
	struct entry *entry = use(&correlator->counted, &key, &is_new);
	if (is_new) {
		bt_strbuf_reset(&correlator->name);
		bt_event_record_append_name(record, &correlator->name);
		bt_free(entry->name);
		entry->name = bt_strndup(correlator->name.data, correlator->name.length);
		entry->time_ns = record->time_ns;
		entry->count = 0;
	}
	if (entry->count < UINT32_MAX) {
		entry->count++;
	}
	return entry;
}

/**
 * Return whether the event must be dropped, because its source has sent too many events about its
 * object. Each pair of source and object has a token bucket.
 */
static bool is_spam(struct correlator *correlator, const struct bt_event_record *record)
{
	struct key key = key_of(record, parts, OBJECT_PARTS, 4);
	bool is_new;
	struct entry *entry = use(&correlator->allowed, &key, &is_new);
	if (is_new) {
		entry->count = SPAM_BURST;
		entry->time_ns = record->time_ns;
	}
	int64_t refills = (record->time_ns - entry->time_ns) / SPAM_ONE_IN_NS;
	if (refills > 0) {
		entry->time_ns += refills * SPAM_ONE_IN_NS;
		entry->count = refills >= SPAM_BURST - (int64_t)entry->count
			? SPAM_BURST
			: entry->count + (uint32_t)refills;
	}
	if (entry->count == 0) {
		return true;
	}
	entry->count--;
	return false;
}

#define WAITING_MAX 1000
#define TRIES_MAX 12
#define RETRY_NS (10 * BT_NS_PER_SECOND)
#define RETRY_JITTER_NS (RETRY_NS / 4)
#define GROUP_VERSION "/apis/events.k8s.io/v1"

/** The form in which an event waits. */
enum form {
	FORM_RAW, /* not decided: the discovery has not ended */
	FORM_POST,
	FORM_PATCH,
	FORM_CORE_POST,
	FORM_CORE_PATCH,
};

struct waiting {
	struct waiting *next;           /* next in bt_event_sender.first */
	struct bt_event_record *record; /* shared */
	char *name;                     /* owned; set in the core/v1 forms, else NULL */
	int64_t first_ns;               /* core forms */
	int64_t last_ns;
	uint32_t count; /* of the series, or of equal events */
	uint8_t form;
	bool is_combined; /* core forms */
	uint8_t tries;    /* number of failed tries */
};

struct bt_event_sender {
	struct bt_event_sender_options options;
	char *host;      /* owned */
	char *component; /* owned */
	struct bt_event_recorder *recorder;
	struct correlator correlator;
	struct waiting *first;
	struct waiting *last;
	uint32_t count;
	bool is_known; /* the discovery of events.k8s.io/v1 has ended */
	bool is_core;  /* if is_known: use core/v1 events, because the discovery did not succeed */
	struct bt_rest_call *call;
	int64_t retry_at_ns; /* on the loop's clock */
	struct bt_strbuf path;
	struct bt_strbuf body;
	struct bt_strbuf spare; /* the JSON from which a protobuf body was encoded */
	struct bt_arena arena;  /* for the tree of one body */
};

static void call_soon(struct bt_event_sender *sender)
{
	if (sender->is_known && sender->call == NULL) {
		bt_loop_call_at(sender->options.loop, bt_loop_now_ns(sender->options.loop));
	}
}

/**
 * Append a copy of the item, which takes over item->name and shares the record. If the queue is
 * full, the event is dropped silently: spec 11b section 8.4.
 */
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
	struct correlator *correlator = &sender->correlator;
	bool is_combined = is_one_too_many(correlator, record);
	const struct entry *entry = count(correlator, record, is_combined);
	if (is_spam(correlator, record)) {
		return;
	}
	struct waiting item = {
		.record = record,
		.name = bt_strndup(entry->name, strlen(entry->name)),
		.first_ns = entry->time_ns,
		.last_ns = record->time_ns,
		.count = entry->count,
		.form = entry->count > 1 ? FORM_CORE_PATCH : FORM_CORE_POST,
		.is_combined = is_combined,
	};
	push(sender, &item);
}

/**
 * bt_event_sink.take: queues the event until the discovery ends; then, if core/v1 events are used,
 * queues it for sending. false: the recorder handles the event.
 */
static bool send_event(void *context, struct bt_event_record *record)
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

/** bt_event_sink.send. If a PATCH gets a 404, `done` changes it to a POST. */
static void send_delivery(void *context, const struct bt_event_delivery *event, bool patches)
{
	struct waiting item = {
		.record = event->record,
		.last_ns = event->series_ns,
		.count = event->series_count,
		.form = patches ? FORM_PATCH : FORM_POST,
	};
	push(context, &item);
}

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

static void answer_without_response(struct bt_event_sender *sender, const char *error)
{
	struct waiting *waiting = sender->first;
	struct bt_str namespace_ = bt_event_record_namespace(waiting->record);
	struct bt_strbuf name = {0};
	bool is_last = ++waiting->tries >= TRIES_MAX;
	append_name(waiting, &name);
	BT_LOG_ERROR(error,
		is_last ? "Unable to write event (retry limit exceeded!)"
			: "Unable to write event (may retry after sleeping)",
		BT_LOG_REF("event", namespace_, bt_strbuf_str(&name)));
	if (is_last) {
		pop(sender);
	} else {
		sender->retry_at_ns = bt_loop_now_ns(sender->options.loop) + RETRY_NS +
			(int64_t)bt_prng_below(sender->options.prng, RETRY_JITTER_NS);
	}
	bt_strbuf_finish(&name);
}

static void done(
	void *context, struct bt_rest_call *call BT_UNUSED, const struct bt_rest_answer *answer)
{
	struct bt_event_sender *sender = context;
	struct waiting *waiting = sender->first;
	struct berth_error err = BERTH_ERROR_INIT;
	bool exists = answer->class_ == BT_REST_ALREADY_EXISTS;
	sender->call = NULL;
	(void)bt_rest_answer_error(answer, &err);
	const char *error = berth_error_message(&err);
	if (answer->class_ == BT_REST_OK) {
		pop(sender);
	} else if (answer->class_ == BT_REST_TRANSPORT) {
		answer_without_response(sender, error);
	} else if (answer->class_ == BT_REST_NOT_FOUND && is_patch(waiting)) {
		waiting->form = waiting->form == FORM_PATCH ? FORM_POST : FORM_CORE_POST;
	} else if (exists && waiting->form == FORM_POST && waiting->count > 1) {
		/* This POST followed a 404 of a PATCH, but the event exists: PATCH it again. */
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
	berth_error_finish(&err);
	call_soon(sender);
}

static void discovered(
	void *context, struct bt_rest_call *call BT_UNUSED, const struct bt_rest_answer *answer)
{
	struct bt_event_sender *sender = context;
	struct waiting *waiting = sender->first;
	sender->call = NULL;
	sender->is_known = true;
	sender->is_core = answer->class_ != BT_REST_OK;
	/* Push all waiting events again, in order, now that their form is known. */
	sender->first = NULL;
	sender->count = 0;
	while (waiting != NULL) {
		struct waiting *next = waiting->next;
		if (waiting->form != FORM_RAW) {
			push(sender, waiting);
			waiting->name = NULL; /* push took the name over */
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

static int64_t send_due_events(void *context, int64_t now_ns)
{
	struct bt_event_sender *sender = context;
	int64_t wall_ns = bt_clock_wall_ns();
	int64_t due_ns = now_ns + (bt_event_recorder_tick(sender->recorder, wall_ns) - wall_ns);
	if (!sender->is_known || sender->call != NULL || sender->first == NULL) {
		return due_ns;
	}
	if (now_ns < sender->retry_at_ns) {
		return BT_MIN(sender->retry_at_ns, due_ns);
	}
	const struct waiting *waiting = sender->first;
	struct bt_str content_type = BT_STR(BT_MEDIA_STRATEGIC_PATCH);
	bool is_core = waiting->form == FORM_CORE_POST || waiting->form == FORM_CORE_PATCH;
	bt_strbuf_reset(&sender->path);
	bt_strbuf_append_c(&sender->path, is_core ? "/api/v1" : GROUP_VERSION);
	struct bt_strbuf name = {0};
	if (is_patch(waiting)) {
		append_name(waiting, &name);
	}
	bt_rest_append_object(&sender->path, bt_event_record_namespace(waiting->record),
		BT_STR("events"), bt_strbuf_str(&name));
	bt_strbuf_finish(&name);
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
			bt_strbuf_append_c(&combined, COMBINED_PREFIX);
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
		content_type = BT_STR(BT_MEDIA_JSON);
	}
	if (!is_patch(waiting) && bt_rest_writes_protobuf(sender->options.client)) {
		struct bt_json_value *value;
		struct bt_strbuf text = sender->body;
		sender->body = sender->spare;
		sender->spare = text;
		bt_strbuf_reset(&sender->body);
		bt_arena_reset(&sender->arena);
		if (bt_json_parse(&sender->arena, bt_strbuf_str(&text), false, &value, NULL) == 0) {
			content_type =
				bt_rest_encode_body(sender->options.client, value, &sender->body);
		}
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
	return due_ns;
}

struct bt_event_sender *bt_event_sender_create(const struct bt_event_sender_options *options)
{
	struct bt_event_sender *sender = bt_calloc(1, sizeof(*sender));
	struct bt_event_sink sink = {.context = sender, .send = send_delivery, .take = send_event};
	sender->options = *options;
	sender->host = bt_strndup(options->host, strlen(options->host));
	sender->component = bt_strndup(options->component, strlen(options->component));
	sender->recorder = bt_event_recorder_create(&sink);
	static const struct memory empty = {.oldest = NONE, .newest = NONE};
	sender->correlator =
		(struct correlator){.similar = empty, .counted = empty, .allowed = empty};
	bt_loop_add_worker(options->loop, send_due_events, sender);
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
	struct correlator *correlator = &sender->correlator;
	for (uint32_t i = 0; i < correlator->counted.entries.count; i++) {
		bt_free(correlator->counted.entries.items[i].name);
	}
	memory_finish(&correlator->similar);
	memory_finish(&correlator->counted);
	memory_finish(&correlator->allowed);
	bt_strbuf_finish(&correlator->name);
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
