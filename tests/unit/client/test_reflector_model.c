/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A simple model of a server that changes its objects, discards its history, is restored from old
 * backups and fails in every way, with a reflector in virtual time. At all times, a map built from
 * the reflector's events must equal the reflector's copy, and the copy must equal the server's
 * objects once the server makes no more changes.
 */
#include "test_main.h"

#include <stdlib.h>
#include <string.h>

#include "api/pod.h"
#include "base/nanoseconds.h"
#include "base/prng.h"
#include "copied.h"
#include "fake_rest.h"
#include "schema/schema.h"

#define NAMES 25
#define LOG_MAX 4000
#define PAGE_MAX 4
#define EPOCHS 10

struct object {
	bool exists;
	uint32_t number; /* part of the name */
	uint32_t uid;
	uint32_t version;
};

struct change {
	const char *type;
	struct object object;
};

/**
 * The state of the server. The last digit of a version is the epoch, so that the server recognises
 * versions of other epochs.
 */
static struct {
	struct object objects[NAMES];
	struct change changes[LOG_MAX]; /* of this epoch, in order */
	uint32_t change_count;
	uint32_t forgotten; /* watches from versions below this are too old */
	uint32_t version;
	uint32_t first_version; /* of the epoch */
	uint32_t epoch;
	uint32_t next_uid;
	struct object snapshot[NAMES]; /* the objects of the list that is being read in pages */
	uint32_t snapshot_version;
	bool calm;
} server;

/** The state of a watch on the server. */
struct watch {
	uint32_t next_change;
	bool is_protobuf;
	struct bt_strbuf unsent;
};

static struct bt_prng prng;
static struct bt_arena arena;

static uint32_t below(uint32_t bound)
{
	return (uint32_t)bt_prng_below(&prng, bound);
}

static bool goes_wrong(uint32_t of)
{
	return !server.calm && below(of) == 0;
}

/* --- objects of the server --- */

static void change_object(void)
{
	struct object *object = &server.objects[below(NAMES)];
	const char *type;

	if (server.change_count == LOG_MAX) {
		return;
	}
	server.version += EPOCHS;
	if (!object->exists) {
		*object = (struct object){true, (uint32_t)(object - server.objects),
			++server.next_uid, server.version};
		type = "ADDED";
	} else if (below(3) == 0) {
		object->exists = false;
		type = "DELETED";
	} else {
		type = "MODIFIED";
	}
	object->version = server.version;
	server.changes[server.change_count++] = (struct change){type, *object};
}

static void begin_epoch(uint32_t version)
{
	server.epoch = (server.epoch + 1) % EPOCHS;
	server.version = version / EPOCHS * EPOCHS + server.epoch;
	server.first_version = server.version;
	server.forgotten = 0;
	server.change_count = 0;
}

/** Restores the server: all connections end, and versions go backwards or forwards. */
static void restore(void)
{
	while (fake_rest.calls.count != 0) {
		struct bt_rest_call *call = fake_rest.calls.items[0];
		struct watch *watch = call->server_state;

		if (watch != NULL) {
			bt_strbuf_finish(&watch->unsent);
		}
		fake_fail(call, BT_HTTP_FAILURE_RESET);
	}
	begin_epoch(server.version > 200 ? server.version - 50 - below(100) : server.version);
	for (uint32_t i = 0; i < NAMES; i++) {
		if (below(4) == 0) {
			server.objects[i] = (struct object){
				below(2) == 0, i, ++server.next_uid, server.version};
		}
	}
}

/* --- encoding of objects and events --- */

static void append_object(struct bt_strbuf *out, const struct object *object)
{
	bt_strbuf_printf(out,
		"\"metadata\":{\"name\":\"p%u\",\"namespace\":\"ns%u\",\"uid\":\"u%u\","
		"\"resourceVersion\":\"%u\",\"labels\":{\"k\":\"}\\\"]{\"}},\"spec\":{}}",
		object->number, object->number % 3, object->uid, object->version);
}

/** Returns the protobuf bytes of a Pod or a Status, from JSON. */
static struct bt_str protobuf_of(const char *kind, struct bt_str json)
{
	const struct bt_schema_message *message = bt_schema_find(BT_STR("v1"), bt_str_from(kind));
	struct bt_json_value *tree;
	struct bt_strbuf bytes = {NULL, 0, 0};
	struct bt_str kept;

	ck_assert_int_eq(bt_json_parse(&arena, json, true, &tree, NULL), 0);
	ck_assert_int_eq(bt_schema_normalise(message, tree, false, NULL, &arena, NULL, NULL), 0);
	bt_schema_encode_protobuf(message, tree, &bytes);
	kept = bt_arena_str(&arena, bt_strbuf_str(&bytes));
	bt_strbuf_finish(&bytes);
	return kept;
}

static struct bt_str enveloped(const char *kind, struct bt_str raw)
{
	struct bt_envelope envelope = {BT_STR_INIT("v1"), bt_str_from(kind), raw};
	struct bt_strbuf bytes = {NULL, 0, 0};
	struct bt_str kept;

	bt_envelope_encode(&envelope, &bytes);
	kept = bt_arena_str(&arena, bt_strbuf_str(&bytes));
	bt_strbuf_finish(&bytes);
	return kept;
}

/**
 * Appends a field of bytes (wire type 2), at most 2^21 long, for frames and lists that are built by
 * hand.
 */
static void append_field(struct bt_strbuf *out, uint32_t number, struct bt_str bytes)
{
	bt_strbuf_append_char(out, (char)(number << 3 | 2));
	for (uint32_t length = bytes.length;; length >>= 7) {
		bt_strbuf_append_char(
			out, (char)(unsigned char)((length & 0x7f) | (length > 0x7f ? 0x80 : 0)));
		if (length <= 0x7f) {
			break;
		}
	}
	bt_strbuf_append_str(out, bytes);
}

/** Appends an event with an object of the given kind; members: the object's members as JSON. */
static void queue_event(
	struct watch *watch, const char *type, const char *kind, struct bt_str members)
{
	struct bt_strbuf *out = &watch->unsent;
	struct bt_strbuf text = {NULL, 0, 0};
	struct bt_strbuf frame = {NULL, 0, 0};
	struct bt_strbuf object = {NULL, 0, 0};

	if (!watch->is_protobuf) {
		bt_strbuf_printf(out,
			"{\"type\":\"%s\",\"object\":{\"kind\":\"%s\",\"apiVersion\":\"v1\",%.*s}"
			"\n",
			type, kind, BT_STR_ARG(members));
		return;
	}
	bt_strbuf_printf(&text, "{%.*s", BT_STR_ARG(members));
	append_field(&object, 1, enveloped(kind, protobuf_of(kind, bt_strbuf_str(&text))));
	append_field(&frame, 1, bt_str_from(type));
	append_field(&frame, 2, bt_strbuf_str(&object));
	for (int shift = 24; shift >= 0; shift -= 8) {
		bt_strbuf_append_char(out, (char)(unsigned char)(frame.length >> shift & 0xff));
	}
	bt_strbuf_append_str(out, bt_strbuf_str(&frame));
	bt_strbuf_finish(&text);
	bt_strbuf_finish(&frame);
	bt_strbuf_finish(&object);
}

static void queue_object(struct watch *watch, const char *type, const struct object *object)
{
	struct bt_strbuf members = {NULL, 0, 0};

	append_object(&members, object);
	queue_event(watch, type, "Pod", bt_strbuf_str(&members));
	bt_strbuf_finish(&members);
}

static void queue_bookmark(struct watch *watch, uint32_t version, bool is_end)
{
	struct bt_strbuf members = {NULL, 0, 0};

	bt_strbuf_printf(&members, "\"metadata\":{\"resourceVersion\":\"%u\"%s}}", version,
		is_end ? ",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}" : "");
	queue_event(watch, "BOOKMARK", "Pod", bt_strbuf_str(&members));
	bt_strbuf_finish(&members);
}

static void queue_error(struct watch *watch, int code, const char *reason)
{
	struct bt_strbuf members = {NULL, 0, 0};

	bt_strbuf_printf(
		&members, "\"message\":\"no\",\"reason\":\"%s\",\"code\":%d}", reason, code);
	queue_event(watch, "ERROR", "Status", bt_strbuf_str(&members));
	bt_strbuf_finish(&members);
}

/* --- answers of the server --- */

static bool parameter(const struct bt_rest_call *call, const char *name, struct bt_str *out)
{
	struct bt_strbuf wanted = {NULL, 0, 0};
	struct bt_strbuf query = {NULL, 0, 0};
	const char *at;

	bt_strbuf_printf(&query, "&%s", call->query);
	bt_strbuf_printf(&wanted, "&%s=", name);
	at = strstr(bt_strbuf_c(&query), bt_strbuf_c(&wanted));
	if (at != NULL) {
		at += wanted.length;
		*out = bt_arena_str(&arena, (struct bt_str){at, (uint32_t)strcspn(at, "&")});
	}
	bt_strbuf_finish(&query);
	bt_strbuf_finish(&wanted);
	return at != NULL;
}

/** Returns the version in the query; 0: none, or any version. */
static uint32_t version_of(const struct bt_rest_call *call)
{
	struct bt_str text;
	int64_t version;

	return parameter(call, "resourceVersion", &text) && bt_str_parse_int64(text, &version)
		? (uint32_t)version
		: 0;
}

static bool is_of_the_future(uint32_t version)
{
	return version != 0 && (version % EPOCHS != server.epoch || version > server.version);
}

static void send_in_chunks(struct bt_rest_call *call, struct bt_str bytes)
{
	while (bytes.length != 0) {
		uint32_t length = below(3) == 0 ? below(5) + 1 : below(2000) + 1;

		length = length < bytes.length ? length : bytes.length;
		if (!fake_data(call, bt_str_sub(bytes, 0, length))) {
			return;
		}
		bytes = bt_str_sub(bytes, length, bytes.length - length);
	}
}

static void append_list_json(struct bt_strbuf *out, uint32_t from, uint32_t to, const char *token)
{
	bool first = true;

	bt_strbuf_printf(out,
		"{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":"
		"\"%u\",\"continue\":\"%s\"},\"items\":[",
		server.snapshot_version, token);
	for (uint32_t i = from; i < to; i++) {
		if (server.snapshot[i].exists) {
			bt_strbuf_append_c(out, first ? "{" : ",{");
			append_object(out, &server.snapshot[i]);
			first = false;
		}
	}
	bt_strbuf_append_c(out, "]}");
}

static void append_list_protobuf(
	struct bt_strbuf *out, uint32_t from, uint32_t to, const char *token)
{
	struct bt_strbuf list = {NULL, 0, 0};
	struct bt_strbuf part = {NULL, 0, 0};

	bt_strbuf_printf(&part, "%u", server.snapshot_version);
	{
		struct bt_strbuf meta = {NULL, 0, 0};
		append_field(&meta, 2, bt_strbuf_str(&part));
		append_field(&meta, 3, bt_str_from(token));
		append_field(&list, 1, bt_strbuf_str(&meta));
		bt_strbuf_finish(&meta);
	}
	for (uint32_t i = from; i < to; i++) {
		if (server.snapshot[i].exists) {
			bt_strbuf_reset(&part);
			bt_strbuf_append_char(&part, '{');
			append_object(&part, &server.snapshot[i]);
			append_field(&list, 2, protobuf_of("Pod", bt_strbuf_str(&part)));
		}
	}
	bt_strbuf_append_str(out, enveloped("PodList", bt_strbuf_str(&list)));
	bt_strbuf_finish(&list);
	bt_strbuf_finish(&part);
}

static void answer_list(struct bt_rest_call *call)
{
	struct bt_str token;
	struct bt_strbuf body = {NULL, 0, 0};
	uint32_t from = 0;
	uint32_t to = NAMES;
	char next[16] = "";
	bool is_protobuf = below(2) == 0;

	if (is_of_the_future(version_of(call))) {
		struct bt_rest_answer answer = {.class_ = BT_REST_TIMEOUT,
			.code = 504,
			.too_large_resource_version = true,
			.message = BT_STR_INIT("Too large resource version")};
		fake_done(call, &answer);
		return;
	}
	if (parameter(call, "continue", &token)) {
		from = (uint32_t)strtoul(token.data, NULL, 10);
	} else {
		memcpy(server.snapshot, server.objects, sizeof(server.objects));
		server.snapshot_version = server.version;
	}
	if (parameter(call, "limit", &token) && from + PAGE_MAX < NAMES && below(4) != 0) {
		to = from + PAGE_MAX;
		(void)snprintf(next, sizeof(next), "%u", (unsigned)to);
	}
	if (is_protobuf) {
		append_list_protobuf(&body, from, to, next);
	} else {
		append_list_json(&body, from, to, next);
	}
	if (goes_wrong(8)) {
		body.length = below((uint32_t)body.length);
	}
	fake_open(call, is_protobuf ? "application/vnd.kubernetes.protobuf" : "application/json");
	send_in_chunks(call, bt_strbuf_str(&body));
	bt_strbuf_finish(&body);
	if (fake_rest.calls.count != 0) {
		fake_end(call);
	}
}

static struct watch *open_watch(struct bt_rest_call *call, uint32_t version)
{
	struct watch *watch = BT_NEW(struct watch);

	watch->is_protobuf = below(2) == 0;
	while (watch->next_change < server.change_count &&
		server.changes[watch->next_change].object.version <= version) {
		watch->next_change++;
	}
	call->server_state = watch;
	fake_open(call,
		watch->is_protobuf ? "application/vnd.kubernetes.protobuf;stream=watch"
				   : "application/json");
	return watch;
}

static void answer_watch(struct bt_rest_call *call)
{
	bool streaming = strstr(call->query, "sendInitialEvents") != NULL;
	uint32_t version = version_of(call);
	struct watch *watch;

	if (is_of_the_future(version)) {
		struct bt_rest_answer answer = {
			.class_ = streaming ? BT_REST_TIMEOUT : BT_REST_GONE,
			.code = streaming ? 504 : 410,
			.too_large_resource_version = streaming,
			.message = BT_STR_INIT("not now")};
		fake_done(call, &answer);
		return;
	}
	if (streaming && goes_wrong(3)) {
		fake_refuse(call, BT_REST_INVALID, 422);
		return;
	}
	watch = open_watch(call, streaming ? server.version : version);
	if (streaming) {
		for (uint32_t i = 0; i < NAMES; i++) {
			if (server.objects[i].exists) {
				queue_object(watch, "ADDED", &server.objects[i]);
			}
		}
		queue_bookmark(watch, server.version, true);
	} else if (version < server.forgotten) {
		queue_error(watch, 410, "Expired");
	}
}

static void refuse(struct bt_rest_call *call)
{
	static const struct {
		enum bt_rest_class class_;
		uint16_t code;
	} answers[] = {{BT_REST_TOO_MANY_REQUESTS, 429}, {BT_REST_INTERNAL_ERROR, 500},
		{BT_REST_EXPIRED, 410}, {BT_REST_GONE, 410}, {BT_REST_FORBIDDEN, 403},
		{BT_REST_SERVICE_UNAVAILABLE, 503}};
	static const enum bt_http_failure failures[] = {BT_HTTP_FAILURE_REFUSED,
		BT_HTTP_FAILURE_RESET, BT_HTTP_FAILURE_TIMEOUT, BT_HTTP_FAILURE_TLS};
	uint32_t which = below(10);

	if (which < 6) {
		fake_refuse(call, answers[which].class_, answers[which].code);
	} else {
		fake_fail(call, failures[which - 6]);
	}
}

/** Ends the watch at random with success or a reset connection. */
static void end_watch(struct bt_rest_call *call)
{
	if (below(2) == 0) {
		fake_end(call);
	} else {
		fake_fail(call, BT_HTTP_FAILURE_RESET);
	}
}

static void go_wrong(struct watch *watch)
{
	switch (below(4)) {
	case 0:
		queue_error(watch, 429, "TooManyRequests");
		break;
	case 1:
		queue_error(watch, 500, "InternalError");
		break;
	case 2:
		queue_error(watch, 418, "Teapot");
		break;
	default:
		bt_strbuf_append_c(&watch->unsent, "\xff\xff\xff\xff<garbage>");
		break;
	}
}

static void go_on(struct bt_rest_call *call)
{
	struct watch *watch = call->server_state;
	struct bt_strbuf bytes;
	bool ends = goes_wrong(6);
	uint32_t some = server.calm ? LOG_MAX : below(8);

	for (; some > 0 && watch->next_change < server.change_count; some--) {
		const struct change *change = &server.changes[watch->next_change++];
		queue_object(watch, change->type, &change->object);
	}
	if (below(4) == 0 && watch->next_change == server.change_count) {
		queue_bookmark(watch, server.version, false);
	}
	if (goes_wrong(12)) {
		go_wrong(watch);
	}
	bytes = watch->unsent;
	watch->unsent = (struct bt_strbuf){NULL, 0, 0};
	if (ends && bytes.length != 0) {
		bytes.length = below((uint32_t)bytes.length) + 1;
	}
	send_in_chunks(call, bt_strbuf_str(&bytes));
	bt_strbuf_finish(&bytes);
	if (ends && fake_rest.calls.count != 0) {
		end_watch(call);
	}
}

static void serve(void)
{
	struct bt_rest_call *call;

	if (fake_rest.calls.count == 0) {
		return;
	}
	call = fake_rest.calls.items[0];
	if (call->is_open) {
		go_on(call);
	} else if (goes_wrong(4)) {
		refuse(call);
	} else if (call->is_watch) {
		answer_watch(call);
	} else {
		answer_list(call);
	}
}

static void step(const struct copied *copied)
{
	bt_arena_reset(&arena);
	for (uint32_t i = below(4); i > 0 && !server.calm; i--) {
		change_object();
	}
	if (goes_wrong(60)) {
		server.forgotten = server.version;
	}
	if (goes_wrong(80)) {
		restore();
	}
	serve();
	copied_check(copied);
	fake_rest.now_ns += (int64_t)below(2000) * BT_NS_PER_MS;
	fake_wait(40 * BT_NS_PER_SECOND);
}

static void check_converged(const struct copied *copied)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < NAMES; i++) {
		char name[16];
		char namespace_[16];
		const struct bt_object *object;
		int64_t version;

		(void)snprintf(name, sizeof(name), "p%u", (unsigned)i);
		(void)snprintf(namespace_, sizeof(namespace_), "ns%u", (unsigned)i % 3);
		object = copied_find(copied, bt_str_from(namespace_), bt_str_from(name));
		if ((object != NULL) != server.objects[i].exists) {
			ck_abort_msg("%s: one of both has it", name);
		}
		if (object == NULL) {
			continue;
		}
		count++;
		if (!bt_str_parse_int64(object->meta->resource_version, &version) ||
			version != server.objects[i].version) {
			ck_abort_msg("%s: version %lld, server's %u", name, (long long)version,
				(unsigned)server.objects[i].version);
		}
	}
	ck_assert_uint_eq(copied->objects.count, count);
}

static void run(uint64_t seed, struct copied *copied)
{
	struct bt_reflector_options options = {
		.prng = &prng,
		.kind = BT_KIND_POD,
		.path = BT_STR_INIT("/api/v1/pods"),
		.field_selector = BT_STR_INIT(""),
		.type_name = "*v1.Pod",
		.name = "pods",
		.streaming = seed % 2 == 0,
		.sink = copied_sink(copied),
	};
	struct bt_reflector *reflector;

	bt_prng_init(&prng, seed);
	memset(&server, 0, sizeof(server));
	begin_epoch(1000);
	fake_rest_reset();
	reflector = bt_reflector_create(&options);
	copied->reflector = reflector;
	for (uint32_t i = 0; i < 400; i++) {
		step(copied);
	}
	server.calm = true;
	for (uint32_t i = 0; i < 40; i++) {
		step(copied);
	}
	ck_assert(bt_reflector_is_synced(reflector));
	ck_assert_uint_eq(copied->synced, 1);
	check_converged(copied);
	if (fake_rest.calls.count != 0 && fake_rest.calls.items[0]->server_state != NULL) {
		struct watch *watch = fake_rest.calls.items[0]->server_state;
		bt_strbuf_finish(&watch->unsent);
	}
	bt_reflector_destroy(reflector);
}

START_TEST(test_reflector_model__copy_converges)
{
	uint32_t added = 0;
	uint32_t updated = 0;
	uint32_t stale = 0;

	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct copied copied = {.synced = 0};

		run(seed, &copied);
		added += copied.added;
		updated += copied.updated;
		stale += copied.stale;
		copied_finish(&copied);
	}
	/* the run must have covered enough events */
	ck_assert_uint_gt(added, 10000);
	ck_assert_uint_gt(updated, 10000);
	ck_assert_uint_gt(stale, 1000);
	bt_arena_finish(&arena);
}
END_TEST

BT_TEST_MAIN("reflector_model", test_reflector_model__copy_converges)
