/* SPDX-License-Identifier: Apache-2.0 */
/* A test in virtual time for each way in which a server ends a list or a watch. */
#include "test_main.h"

#include <stdlib.h>
#include <string.h>

#include "api/pod.h"
#include "base/log.h"
#include "base/nanoseconds.h"
#include "copied.h"
#include "fake_rest.h"

#define JSON "application/json"
#define MS BT_NS_PER_MS
#define SECOND BT_NS_PER_SECOND

static struct bt_reflector *reflector;
static struct copied copied;
static struct bt_prng prng;

/* --- captured log lines --- */

static char last_log[512];
static uint32_t failed_to_watch;

static void write_log(void *context, const struct bt_log_record *record)
{
	(void)context;
	(void)snprintf(last_log, sizeof(last_log), "%.*s|%.*s", BT_STR_ARG(record->message),
		BT_STR_ARG(record->error));
	failed_to_watch += bt_str_equal(record->message, BT_STR("Failed to watch"));
}

static bool log_is_enabled(void *context, const char *file, int verbosity)
{
	(void)context;
	(void)file;
	(void)verbosity;
	return true;
}

static void begin_with(bool streaming, const char *field_selector)
{
	static const struct bt_log_sink sink = {NULL, log_is_enabled, write_log};
	struct bt_reflector_options options = {
		.prng = &prng,
		.kind = BT_KIND_POD,
		.path = BT_STR_INIT("/api/v1/pods"),
		.field_selector = bt_str_from(field_selector),
		.type_name = "*v1.Pod",
		.name = "pods",
		.streaming = streaming,
		.sink = copied_sink(&copied),
	};

	bt_log_set_sink(&sink);
	bt_log_set_verbosity_max(5);
	last_log[0] = '\0';
	failed_to_watch = 0;
	bt_prng_init(&prng, 5);
	fake_rest_reset();
	memset(&copied, 0, sizeof(copied));
	reflector = bt_reflector_create(&options);
	copied.reflector = reflector;
	(void)fake_turn();
}

static void begin(bool streaming)
{
	begin_with(streaming, "");
}

static void end(void)
{
	copied_check(&copied);
	bt_reflector_destroy(reflector);
	copied_finish(&copied);
	fake_rest_reset();
}

/** Returns the only call in flight. */
static struct bt_rest_call *call(void)
{
	ck_assert_uint_eq(fake_rest.calls.count, 1);
	return fake_rest.calls.items[0];
}

/** Returns the call that is started without a wait. */
static struct bt_rest_call *call_at_once(void)
{
	(void)fake_turn();
	return call();
}

/** Returns the call that is started after a wait of the backoff. */
static struct bt_rest_call *call_after_backoff(int64_t least_ns)
{
	int64_t before_ns = fake_rest.now_ns;
	int64_t waited_ns;

	(void)fake_turn();
	ck_assert_uint_eq(fake_rest.calls.count, 0);
	fake_wait(120 * SECOND);
	waited_ns = fake_rest.now_ns - before_ns;
	ck_assert_int_ge(waited_ns, least_ns);
	ck_assert_int_lt(waited_ns, 2 * least_ns);
	return call();
}

/** Returns whether the query has the parameter; value NULL: with any value. */
static bool has(const struct bt_rest_call *of, const char *name, const char *value)
{
	struct bt_strbuf wanted = {NULL, 0, 0};
	struct bt_strbuf query = {NULL, 0, 0};
	bool found;

	bt_strbuf_printf(&query, "&%s&", of->query);
	bt_strbuf_printf(&wanted, value != NULL ? "&%s=%s&" : "&%s=", name, value);
	found = strstr(bt_strbuf_c(&query), bt_strbuf_c(&wanted)) != NULL;
	bt_strbuf_finish(&wanted);
	bt_strbuf_finish(&query);
	return found;
}

static void check_stream(const struct bt_rest_call *of, const char *version)
{
	ck_assert_msg(has(of, "sendInitialEvents", "true"), "%s", of->query);
	ck_assert(has(of, "resourceVersionMatch", "NotOlderThan"));
	ck_assert(has(of, "allowWatchBookmarks", "true"));
	ck_assert(has(of, "watch", "true"));
	ck_assert(of->is_watch);
	ck_assert_int_eq(has(of, "resourceVersion", NULL), version != NULL);
	ck_assert(version == NULL || has(of, "resourceVersion", version));
}

static void check_watch(const struct bt_rest_call *of, const char *version)
{
	ck_assert_msg(!has(of, "sendInitialEvents", NULL), "%s", of->query);
	ck_assert(has(of, "watch", "true"));
	ck_assert(has(of, "allowWatchBookmarks", "true"));
	ck_assert(of->is_watch);
	ck_assert_msg(has(of, "resourceVersion", version), "%s", of->query);
}

static void send(struct bt_rest_call *to, const char *text)
{
	(void)fake_data(to, bt_str_from(text));
}

static void send_event(
	struct bt_rest_call *to, const char *type, const char *name, int version, const char *uid)
{
	struct bt_strbuf text = {NULL, 0, 0};

	bt_strbuf_printf(&text,
		"{\"type\":\"%s\",\"object\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{"
		"\"name\":\"%s\",\"namespace\":\"ns\",\"uid\":\"%s\",\"resourceVersion\":\"%d\"},"
		"\"status\":{\"phase\":\"Running\"}}}\n",
		type, name, uid, version);
	send(to, bt_strbuf_c(&text));
	bt_strbuf_finish(&text);
}

static void send_bookmark(struct bt_rest_call *to, int version, bool is_end)
{
	struct bt_strbuf text = {NULL, 0, 0};

	bt_strbuf_printf(&text,
		"{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\","
		"\"metadata\":{\"resourceVersion\":\"%d\"%s},\"spec\":{\"containers\":null},"
		"\"status\":{}}}\n",
		version, is_end ? ",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}" : "");
	send(to, bt_strbuf_c(&text));
	bt_strbuf_finish(&text);
}

static void send_error(struct bt_rest_call *to, int code, const char *reason, const char *message)
{
	struct bt_strbuf text = {NULL, 0, 0};

	bt_strbuf_printf(&text,
		"{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"apiVersion\":\"v1\","
		"\"metadata\":{},\"status\":\"Failure\",\"message\":\"%s\",\"reason\":\"%s\","
		"\"code\":%d}}\n",
		message, reason, code);
	send(to, bt_strbuf_c(&text));
	bt_strbuf_finish(&text);
}

/** Answers with a page of count pods, numbered from first; token "": the last page. */
static void answer_page(
	struct bt_rest_call *to, int first, int count, int version, const char *token)
{
	struct bt_strbuf text = {NULL, 0, 0};

	fake_open(to, JSON);
	bt_strbuf_printf(&text,
		"{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":"
		"\"%d\",\"continue\":\"%s\",\"remainingItemCount\":3},\"items\":[",
		version, token);
	for (int i = first; i < first + count; i++) {
		bt_strbuf_printf(&text,
			"%s{\"metadata\":{\"name\":\"p%d\",\"namespace\":\"ns\",\"uid\":\"u%d\","
			"\"resourceVersion\":\"%d\"},\"spec\":{\"nodeName\":\"n[1]\"}}",
			i == first ? "" : ",\n", i, i, i);
	}
	bt_strbuf_append_c(&text, "]}\n");
	send(to, bt_strbuf_c(&text));
	fake_end(to);
	bt_strbuf_finish(&text);
}

static const struct bt_pod *pod(const char *name)
{
	const struct bt_object *object = copied_find(&copied, BT_STR("ns"), bt_str_from(name));

	ck_assert_msg(object != NULL, "%s is not there", name);
	return bt_object_value(object, BT_KIND_POD);
}

/**
 * Returns the call of a streaming list that has synced at version 10 with p1 and is a watch now.
 */
static struct bt_rest_call *synced_stream(void)
{
	begin(true);
	check_stream(call(), NULL);
	fake_open(call(), JSON);
	send_event(call(), "ADDED", "p1", 7, "u1");
	ck_assert(!bt_reflector_is_synced(reflector));
	send_bookmark(call(), 10, true);
	ck_assert(bt_reflector_is_synced(reflector));
	ck_assert_uint_eq(copied.synced, 1);
	ck_assert_uint_eq(copied.added, 1);
	return call();
}

/** Returns a watch from version 10, after a list with p1; streaming is off. */
static struct bt_rest_call *listed_watch(void)
{
	begin(false);
	answer_page(call(), 1, 1, 10, "");
	check_watch(call_at_once(), "10");
	fake_open(call(), JSON);
	return call();
}

START_TEST(test_reflector__streaming_list_becomes_the_watch)
{
	(void)synced_stream();
	ck_assert_str_eq(last_log, "Caches populated|");
	ck_assert_str_eq(call()->path, "/api/v1/pods");
	send_event(call(), "MODIFIED", "p1", 11, "u1");
	send_event(call(), "ADDED", "p2", 12, "u2");
	send_event(call(), "DELETED", "p1", 13, "u1");
	ck_assert_uint_eq(copied.updated, 1);
	ck_assert_uint_eq(copied.deleted, 1);
	ck_assert_uint_eq(copied.stale, 0);
	fake_end(call());
	check_watch(call_at_once(), "13");
	end();
}
END_TEST

START_TEST(test_reflector__changes_within_a_streaming_list)
{
	begin(true);
	fake_open(call(), JSON);
	send_event(call(), "ADDED", "p1", 7, "u1");
	send_event(call(), "ADDED", "p2", 5, "u2");
	send_event(call(), "DELETED", "p1", 11, "u1");
	send_event(call(), "MODIFIED", "p2", 12, "u2");
	ck_assert_uint_eq(copied.added, 0);
	send_bookmark(call(), 12, true);
	ck_assert_uint_eq(copied.added, 1);
	ck_assert(bt_str_equal(pod("p2")->metadata.resource_version, BT_STR("12")));
	end();
}
END_TEST

START_TEST(test_reflector__timeouts_are_random)
{
	int least = 1000;
	int most = 0;

	begin(true);
	for (int round = 0; round < 300; round++) {
		int seconds = (int)strtol(strstr(call()->query, "timeoutSeconds=") + 15, NULL, 10);
		least = seconds < least ? seconds : least;
		most = seconds > most ? seconds : most;
		fake_fail(call(), BT_HTTP_FAILURE_REFUSED);
		fake_wait(120 * SECOND);
	}
	ck_assert_int_ge(least, 300);
	ck_assert_int_lt(least, 310);
	ck_assert_int_ge(most, 590);
	ck_assert_int_lt(most, 600);
	end();
}
END_TEST

START_TEST(test_reflector__backoff_doubles_and_is_forgotten)
{
	static const int64_t waits_ms[] = {800, 1600, 3200, 6400, 12800, 25600, 30000, 30000};

	begin(true);
	for (size_t i = 0; i < sizeof(waits_ms) / sizeof(waits_ms[0]); i++) {
		fake_fail(call(), BT_HTTP_FAILURE_REFUSED);
		/* no list has succeeded yet, so the reason is logged */
		ck_assert_str_eq(
			last_log, "Failed to watch|failed to list *v1.Pod: it did not work");
		check_stream(call_after_backoff(waits_ms[i] * MS), NULL);
	}
	fake_rest.now_ns += 121 * SECOND;
	fake_fail(call(), BT_HTTP_FAILURE_REFUSED);
	(void)call_after_backoff(800 * MS);
	end();
}
END_TEST

START_TEST(test_reflector__edge_13_19_token_expires)
{
	begin_with(false, "status.phase!=Failed");
	ck_assert_str_eq(
		call()->query, "fieldSelector=status.phase!=Failed&limit=500&resourceVersion=0");
	answer_page(call(), 1, 3, 20, "t1");
	ck_assert_str_eq(
		call_at_once()->query, "continue=t1&fieldSelector=status.phase!=Failed&limit=500");
	fake_refuse(call(), BT_REST_EXPIRED, 410);
	ck_assert_str_eq(
		call_at_once()->query, "fieldSelector=status.phase!=Failed&resourceVersion=0");
	ck_assert_uint_eq(copied.added, 0);
	answer_page(call(), 2, 5, 30, "");
	ck_assert_uint_eq(copied.added, 5);
	check_watch(call_at_once(), "30");
	end();
}
END_TEST

START_TEST(test_reflector__edge_13_20_list_of_the_future)
{
	struct bt_rest_answer answer = {.class_ = BT_REST_TIMEOUT,
		.code = 504,
		.too_large_resource_version = true,
		.message = BT_STR_INIT("Timeout: Too large resource version: 10, current: 5")};

	(void)listed_watch();
	send_error(call(), 500, "InternalError", "broken");
	ck_assert_str_eq(call_after_backoff(800 * MS)->query, "resourceVersion=10");
	fake_done(call(), &answer);
	ck_assert_str_eq(call_at_once()->query, ""); /* no limit, like the previous list */
	answer_page(call(), 1, 1, 5, "");
	check_watch(call_at_once(), "5");
	end();
}
END_TEST

START_TEST(test_reflector__edge_13_21_streaming_refused_within)
{
	begin(true);
	fake_open(call(), JSON);
	send_error(call(), 500, "InternalError",
		"a watch stream was requested by the client but the required storage feature "
		"RequestWatchProgress is disabled");
	ck_assert_str_eq(call_at_once()->query, "limit=500&resourceVersion=0");
	ck_assert(!call()->is_watch);
	answer_page(call(), 1, 2, 44, "");
	check_watch(call_at_once(), "44");
	ck_assert_uint_eq(failed_to_watch, 0);
	end();
}
END_TEST

START_TEST(test_reflector__edge_13_22_page_of_any_size)
{
	begin(false);
	answer_page(call(), 1, 2000, 9000, "");
	ck_assert_uint_eq(copied.added, 2000);
	check_watch(call_at_once(), "9000");
	end();
}
END_TEST

START_TEST(test_reflector__edge_13_23_nothing_for_minutes)
{
	(void)listed_watch();
	fake_wait(200 * SECOND);
	ck_assert_uint_eq(fake_rest.started, 2);
	send_bookmark(call(), 15, false);
	fake_fail(call(), BT_HTTP_FAILURE_RESET);
	check_watch(call_at_once(), "15");
	end();
}
END_TEST

START_TEST(test_reflector__streaming_list_in_silence_is_mentioned)
{
	begin(true);
	fake_open(call(), JSON);
	fake_wait(9 * SECOND);
	ck_assert_str_eq(last_log, "");
	fake_wait(2 * SECOND);
	ck_assert_str_eq(last_log,
		"pods: awaiting required bookmark event for initial events stream, no events "
		"received for 10s|");
	ck_assert_uint_eq(fake_rest.started, 1);
	end();
}
END_TEST

START_TEST(test_reflector__edge_13_24_very_short_watch)
{
	(void)listed_watch();
	fake_rest.now_ns += 300 * MS;
	fake_end(call());
	ck_assert_str_eq(last_log,
		"very short watch: pods: Unexpected watch close - watch lasted less than a second "
		"and no items received|");
	ck_assert_str_eq(call_after_backoff(800 * MS)->query, "resourceVersion=10");
	answer_page(call(), 1, 1, 10, "");
	fake_open(call_at_once(), JSON);
	fake_rest.now_ns += 300 * MS;
	send_event(call(), "ADDED", "p2", 11, "u2");
	fake_end(call());
	check_watch(call_at_once(), "11");
	end();
}
END_TEST

/*
 * A streaming list that is never opened falls back to pages: the rest client has retried for long
 * enough.
 */
START_TEST(test_reflector__streaming_list_that_is_never_opened)
{
	begin(true);
	fake_rest.now_ns += 10 * SECOND;
	fake_end(call());
	ck_assert_str_eq(call_at_once()->query, "limit=500&resourceVersion=0");
	fake_fail(call(), BT_HTTP_FAILURE_RESET);
	ck_assert_uint_eq(failed_to_watch, 1);
	end();
}
END_TEST

START_TEST(test_reflector__very_short_streaming_list)
{
	begin(true);
	fake_open(call(), JSON);
	fake_end(call());
	ck_assert_str_eq(call_at_once()->query, "limit=500&resourceVersion=0");
	end();
}
END_TEST

START_TEST(test_reflector__edge_13_25_watch_expires)
{
	(void)synced_stream();
	send_event(call(), "ADDED", "p2", 11, "u2");
	send_error(call(), 410, "Expired", "too old resource version: 1 (277)");
	ck_assert_str_eq(last_log, "Watch closed|");
	check_stream(call_after_backoff(800 * MS), "11");
	fake_open(call(), JSON);
	send_event(call(), "ADDED", "p2", 280, "u2");
	send_bookmark(call(), 300, true);
	ck_assert_uint_eq(copied.deleted, 1);
	ck_assert_uint_eq(copied.stale, 1);
	ck_assert_uint_eq(copied.updated, 1);
	ck_assert_uint_eq(copied.synced, 1);
	ck_assert_uint_eq(failed_to_watch, 0);
	end();
}
END_TEST

START_TEST(test_reflector__edge_13_26_watch_answered_429)
{
	(void)listed_watch();
	send_event(call(), "ADDED", "p2", 11, "u2");
	fake_end(call());
	check_watch(call_at_once(), "11");
	fake_refuse(call(), BT_REST_TOO_MANY_REQUESTS, 429);
	check_watch(call_after_backoff(800 * MS), "11");
	fake_open(call(), JSON);
	send_error(call(), 429, "TooManyRequests", "slow down");
	check_watch(call_after_backoff(1600 * MS), "11");
	end();
}
END_TEST

START_TEST(test_reflector__edge_13_27_watch_refused)
{
	(void)listed_watch();
	fake_fail(call(), BT_HTTP_FAILURE_RESET);
	/* the watch was lost within a second and without an event: a very short watch */
	ck_assert_str_eq(call_after_backoff(800 * MS)->query, "resourceVersion=10");
	answer_page(call(), 1, 1, 10, "");
	check_watch(call_at_once(), "10");
	fake_fail(call(), BT_HTTP_FAILURE_REFUSED);
	ck_assert_str_eq(last_log, "Watch refused, trying again later|");
	check_watch(call_after_backoff(1600 * MS), "10");
	ck_assert_uint_eq(fake_rest.started, 5);
	end();
}
END_TEST

START_TEST(test_reflector__edge_13_28_any_chunks)
{
	static const char event[] = "{\"type\":\"ADDED\",\"object\":{\"kind\":\"Pod\","
				    "\"apiVersion\":\"v1\",\"metadata\":"
				    "{\"name\":\"p2\",\"namespace\":\"ns\",\"resourceVersion\":"
				    "\"11\",\"labels\":{\"a\":"
				    "\"k\xc3\xa4se}\\\"\"}}}}\n";

	for (uint32_t cut = 0; cut <= sizeof(event) - 1; cut++) {
		(void)listed_watch();
		(void)fake_data(call(), (struct bt_str){event, cut});
		(void)fake_data(
			call(), (struct bt_str){event + cut, (uint32_t)(sizeof(event) - 1 - cut)});
		ck_assert(bt_str_equal(
			pod("p2")->metadata.labels.items[0].value, BT_STR("k\xc3\xa4se}\"")));
		end();
	}
}
END_TEST

START_TEST(test_reflector__edge_13_29_two_events_and_a_half)
{
	(void)listed_watch();
	send(call(),
		"{\"type\":\"ADDED\",\"object\":{\"kind\":\"Pod\",\"metadata\":{\"name\":\"p2\","
		"\"namespace\":\"ns\",\"resourceVersion\":\"11\"}}}{\"object\":{\"metadata\":{"
		"\"name\":\"p3\",\"namespace\":\"ns\",\"resourceVersion\":\"12\"}},\"type\":"
		"\"ADDED\"} {\"type\":\"DELETED\",\"obj");
	ck_assert_uint_eq(copied.added, 3);
	ck_assert_uint_eq(copied.deleted, 0);
	/* the incomplete event is dropped and is no error */
	fake_end(call());
	check_watch(call_at_once(), "12");
	ck_assert_uint_eq(failed_to_watch, 0);
	end();
}
END_TEST

static const struct bt_pod *deleted_pod;

static void remember_deleted(
	void *context, struct bt_object *old_object, struct bt_object *new_object, bool is_stale)
{
	(void)context;
	(void)is_stale;
	if (new_object == NULL) {
		ck_assert(bt_str_equal(old_object->meta->resource_version, BT_STR("12")));
		deleted_pod = bt_object_value(old_object, BT_KIND_POD);
		ck_assert(bt_str_equal(deleted_pod->status.phase, BT_STR("Running")));
	}
}

START_TEST(test_reflector__edge_13_30_finished_pod_leaves_as_running)
{
	struct bt_reflector_options options = {
		.prng = &prng,
		.kind = BT_KIND_POD,
		.path = BT_STR_INIT("/api/v1/pods"),
		.field_selector = BT_STR_INIT(""),
		.type_name = "*v1.Pod",
		.name = "pods",
		.sink = {.changed = remember_deleted},
	};

	bt_prng_init(&prng, 1);
	fake_rest_reset();
	deleted_pod = NULL;
	reflector = bt_reflector_create(&options);
	(void)fake_turn();
	answer_page(call(), 1, 1, 10, "");
	fake_open(call_at_once(), JSON);
	send_event(call(), "DELETED", "p1", 12, "u1");
	ck_assert_ptr_nonnull(deleted_pod);
	ck_assert_uint_eq(bt_reflector_count(reflector), 0);
	bt_reflector_destroy(reflector);
	fake_rest_reset();
}
END_TEST

START_TEST(test_reflector__edge_11b_41_finished_pod_is_deleted)
{
	(void)synced_stream();
	send_event(call(), "MODIFIED", "p1", 11, "u1");
	send_event(call(), "DELETED", "p1", 12, "u1");
	ck_assert_uint_eq(bt_reflector_count(reflector), 0);
	ck_assert_uint_eq(copied.deleted, 1);
	ck_assert_uint_eq(copied.stale, 0);
	end();
}
END_TEST

START_TEST(test_reflector__edge_13_31_recreated_under_the_same_name)
{
	(void)synced_stream();
	send_error(call(), 410, "Expired", "too old");
	fake_open(call_after_backoff(800 * MS), JSON);
	send_event(call(), "ADDED", "p1", 40, "another");
	send_bookmark(call(), 50, true);
	ck_assert_uint_eq(copied.updated, 1);
	ck_assert_uint_eq(copied.deleted, 0);
	ck_assert(bt_str_equal(pod("p1")->metadata.uid, BT_STR("another")));
	end();
}
END_TEST

/* A server that was restored may delete an object whose uid differs from the known uid. */
START_TEST(test_reflector__deletion_of_another_uid)
{
	(void)listed_watch();
	send_event(call(), "ADDED", "p2", 11, "known");
	send_event(call(), "DELETED", "p2", 12, "other");
	ck_assert_uint_eq(copied.deleted, 1);
	ck_assert_uint_eq(copied.stale, 1);
	send_event(call(), "ADDED", "p2", 13, "third");
	send_event(call(), "DELETED", "p2", 14, "third");
	ck_assert_uint_eq(copied.deleted, 2);
	ck_assert_uint_eq(copied.stale, 1);
	end();
}
END_TEST

START_TEST(test_reflector__edge_13_32_resumes_at_the_bookmark)
{
	(void)listed_watch();
	send_event(call(), "ADDED", "p2", 400, "u2");
	send_bookmark(call(), 500, false);
	fake_fail(call(), BT_HTTP_FAILURE_RESET);
	check_watch(call_at_once(), "500");
	end();
}
END_TEST

START_TEST(test_reflector__edge_13_40_forbidden_is_tried_for_ever)
{
	begin(true);
	for (uint32_t round = 1; round <= 20; round++) {
		fake_refuse(call(), BT_REST_FORBIDDEN, 403);
		fake_refuse(call_at_once(), BT_REST_FORBIDDEN, 403);
		ck_assert_uint_eq(failed_to_watch, round);
		ck_assert_str_eq(
			last_log, "Failed to watch|failed to list *v1.Pod: the server said no");
		(void)fake_turn();
		ck_assert_uint_eq(fake_rest.calls.count, 0);
		fake_wait(120 * SECOND);
		check_stream(call(), NULL);
	}
	ck_assert(!bt_reflector_is_synced(reflector));
	end();
}
END_TEST

START_TEST(test_reflector__edge_13_42_frame_too_large)
{
	begin(true);
	fake_open(call(), "application/vnd.kubernetes.protobuf;stream=watch");
	(void)fake_data(call(), (struct bt_str){"\x01\x40\x00\x00", 4}); /* 20 MiB */
	ck_assert_str_eq(call_at_once()->query, "limit=500&resourceVersion=0");
	answer_page(call(), 1, 1, 10, "");
	fake_open(call_at_once(), "application/vnd.kubernetes.protobuf;stream=watch");
	ck_assert(fake_data(call(), (struct bt_str){"\x01\x00\x00", 3}));
	ck_assert(fake_data(call(), (struct bt_str){"\x00", 1})); /* a frame of 16 MiB is allowed */
	fake_fail(call(), BT_HTTP_FAILURE_RESET);
	check_stream(call_after_backoff(800 * MS), "10");
	end();
}
END_TEST

START_TEST(test_reflector__edge_13_45_server_was_restored)
{
	struct bt_rest_answer answer = {.class_ = BT_REST_TIMEOUT,
		.code = 504,
		.too_large_resource_version = true,
		.message = BT_STR_INIT("Timeout: Too large resource version: 10, current: 5")};

	(void)synced_stream();
	send_event(call(), "ADDED", "p2", 11, "u2");
	fake_refuse(call(), BT_REST_EXPIRED, 410);
	check_stream(call_after_backoff(800 * MS), "11");
	fake_done(call(), &answer);
	check_stream(call_at_once(), NULL);
	fake_open(call(), JSON);
	send_event(call(), "ADDED", "p1", 4, "u1");
	send_event(call(), "ADDED", "p3", 3, "u3");
	send_bookmark(call(), 5, true);
	ck_assert_uint_eq(bt_reflector_count(reflector), 2);
	ck_assert_uint_eq(copied.stale, 1);
	ck_assert(bt_str_equal(pod("p1")->metadata.resource_version, BT_STR("4")));
	fake_end(call());
	check_watch(call_at_once(), "5");
	end();
}
END_TEST

START_TEST(test_reflector__edge_13_48_pages_at_version_0)
{
	begin(false);
	answer_page(call(), 1, 2, 20, "t1");
	ck_assert_str_eq(call_at_once()->query, "continue=t1&limit=500");
	answer_page(call(), 3, 2, 20, "");
	ck_assert_uint_eq(copied.added, 4);
	fake_refuse(call_at_once(), BT_REST_INTERNAL_ERROR, 500);
	ck_assert_uint_eq(failed_to_watch, 1);
	/* this server sends pages at any version, so the limit is set */
	ck_assert_str_eq(call_after_backoff(800 * MS)->query, "limit=500&resourceVersion=20");
	end();
}
END_TEST

START_TEST(test_reflector__edge_11b_38_watch_times_out)
{
	(void)synced_stream();
	send_bookmark(call(), 90, false);
	fake_rest.now_ns += 420 * SECOND;
	fake_end(call());
	check_watch(call_at_once(), "90");
	ck_assert_uint_eq(fake_rest.started, 2);
	end();
}
END_TEST

START_TEST(test_reflector__edge_11b_39_expired_streams_again)
{
	(void)synced_stream();
	fake_rest.now_ns += 2 * SECOND;
	fake_end(call());
	fake_refuse(call_at_once(), BT_REST_GONE, 410);
	check_stream(call_after_backoff(800 * MS), "10");
	fake_open(call(), JSON);
	send_error(call(), 410, "Expired", "too old");
	check_stream(call_at_once(), NULL);
	/* a request without a version was refused, so the next attempt waits for the backoff */
	fake_refuse(call(), BT_REST_EXPIRED, 410);
	check_stream(call_after_backoff(1600 * MS), NULL);
	end();
}
END_TEST

START_TEST(test_reflector__edge_11b_40_no_streaming_lists)
{
	begin(true);
	fake_refuse(call(), BT_REST_INVALID, 422);
	ck_assert_str_eq(call_at_once()->query, "limit=500&resourceVersion=0");
	answer_page(call(), 1, 2, 44, "");
	check_watch(call_at_once(), "44");
	ck_assert_uint_eq(failed_to_watch, 0);
	end();
}
END_TEST

/* The server sends a bookmark each minute, as requested, and then stops. */
START_TEST(test_reflector__edge_13_44_bookmarks_cease)
{
	struct bt_rest_call *watch = listed_watch();

	for (int i = 0; i < 3; i++) {
		fake_rest.now_ns += 60 * SECOND;
		(void)fake_turn();
		send_bookmark(watch, 11 + i, false);
	}
	fake_rest.now_ns += 149 * SECOND;
	(void)fake_turn();
	ck_assert_ptr_eq(call(), watch);
	fake_rest.now_ns += 2 * SECOND;
	(void)fake_turn();
	check_watch(call_at_once(), "13"); /* no list, and no error reported */
	ck_assert_uint_eq(failed_to_watch, 0);
	fake_open(call(), JSON);
	send_bookmark(call(), 14, false);
	ck_assert_int_eq(copied.silent_ns / SECOND, 151);
	ck_assert_uint_eq(copied.added, 1);
	end();
}
END_TEST

/* A restored server sends nothing until its version reaches the version of the watch. */
START_TEST(test_reflector__edge_13_45_silence_of_a_server_that_was_restored)
{
	(void)listed_watch();
	send_bookmark(call(), 20, false);
	fake_fail(call(), BT_HTTP_FAILURE_RESET);
	check_watch(call_at_once(), "20");
	fake_open(call(), JSON);
	fake_rest.now_ns += 151 * SECOND;
	(void)fake_turn();
	ck_assert_uint_eq(failed_to_watch, 1);
	ck_assert_str_eq(call_after_backoff(800 * MS)->query, "resourceVersion=20");
	fake_done(call(),
		&(const struct bt_rest_answer){.class_ = BT_REST_TIMEOUT,
			.code = 504,
			.message = BT_STR_INIT("Timeout: Too large resource version: 20, "
					       "current: 5"),
			.too_large_resource_version = true});
	ck_assert_str_eq(call_at_once()->query, "");
	answer_page(call(), 7, 1, 5, "");
	ck_assert_uint_eq(copied.stale, 1);
	ck_assert_uint_eq(copied.added, 2);
	/* this watch has received no bookmark yet, so a long silence is allowed */
	check_watch(call_at_once(), "5");
	fake_open(call(), JSON);
	fake_rest.now_ns += 299 * SECOND;
	(void)fake_turn();
	ck_assert_uint_eq(failed_to_watch, 1);
	check_watch(call(), "5");
	end();
}
END_TEST

/* The server sends no bookmarks, and does not end the watch when the watch's timeout expires. */
START_TEST(test_reflector__watch_that_should_have_ended)
{
	struct bt_rest_call *watch = listed_watch();
	int64_t opened_ns = fake_rest.now_ns;

	while (call() == watch) {
		ck_assert_int_lt(fake_rest.now_ns - opened_ns, 631 * SECOND);
		fake_rest.now_ns += SECOND;
		(void)fake_turn();
		(void)fake_turn();
	}
	ck_assert_int_ge(fake_rest.now_ns - opened_ns, 330 * SECOND);
	check_watch(call(), "10");
	ck_assert_uint_eq(failed_to_watch, 0);
	end();
}
END_TEST

START_TEST(test_reflector__what_cannot_be_understood)
{
	static const char *const texts[] = {
		"{\"type\":\"BANG\",\"object\":{}}",
		"{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":7}}}",
		"{\"type\":\"ERROR\",\"object\":{\"code\":418,\"message\":\"tea\"}}",
		"<html>",
		"]",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		(void)listed_watch();
		send(call(), texts[i]);
		ck_assert_msg(strncmp(last_log, "Warning: watch ended with error|", 32) == 0, "%s",
			last_log);
		ck_assert_str_eq(call_after_backoff(800 * MS)->query, "resourceVersion=10");
		/* a list with the same error must fail, too */
		fake_open(call(), JSON);
		send(call(), i == 0 ? "{\"kind\":\"Status\",\"items\":[]}" : texts[i]);
		if (fake_rest.calls.count != 0) {
			fake_end(call());
		}
		fake_wait(120 * SECOND);
		ck_assert_uint_ge(failed_to_watch, 1);
		end();
	}
}
END_TEST

START_TEST(test_reflector__list_that_is_cut_off)
{
	begin(false);
	fake_open(call(), JSON);
	send(call(), "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"4\"},\"items\":[{");
	fake_end(call());
	ck_assert_str_eq(last_log, "Failed to watch|failed to list *v1.Pod: unexpected EOF");
	answer_page(call_after_backoff(800 * MS), 1, 1, 10, "");
	ck_assert_uint_eq(copied.added, 1);
	end();
}
END_TEST

START_TEST(test_reflector__object_of_another_kind_is_passed_over)
{
	(void)listed_watch();
	send(call(),
		"{\"type\":\"ADDED\",\"object\":{\"kind\":\"Node\",\"apiVersion\":\"v1\","
		"\"metadata\":{\"name\":\"n\",\"resourceVersion\":\"11\"}}}");
	ck_assert_uint_eq(copied.added, 1);
	send_event(call(), "ADDED", "p2", 12, "u2");
	ck_assert_uint_eq(copied.added, 2);
	end();
}
END_TEST

BT_TEST_MAIN("reflector", test_reflector__streaming_list_becomes_the_watch,
	test_reflector__changes_within_a_streaming_list, test_reflector__timeouts_are_random,
	test_reflector__backoff_doubles_and_is_forgotten, test_reflector__edge_13_19_token_expires,
	test_reflector__edge_13_20_list_of_the_future,
	test_reflector__edge_13_21_streaming_refused_within,
	test_reflector__edge_13_22_page_of_any_size, test_reflector__edge_13_23_nothing_for_minutes,
	test_reflector__streaming_list_in_silence_is_mentioned,
	test_reflector__streaming_list_that_is_never_opened,
	test_reflector__edge_13_24_very_short_watch, test_reflector__very_short_streaming_list,
	test_reflector__edge_13_25_watch_expires, test_reflector__edge_13_26_watch_answered_429,
	test_reflector__edge_13_27_watch_refused, test_reflector__edge_13_28_any_chunks,
	test_reflector__edge_13_29_two_events_and_a_half,
	test_reflector__edge_13_30_finished_pod_leaves_as_running,
	test_reflector__edge_11b_41_finished_pod_is_deleted,
	test_reflector__edge_13_31_recreated_under_the_same_name,
	test_reflector__deletion_of_another_uid, test_reflector__edge_13_32_resumes_at_the_bookmark,
	test_reflector__edge_13_40_forbidden_is_tried_for_ever,
	test_reflector__edge_13_42_frame_too_large, test_reflector__edge_13_45_server_was_restored,
	test_reflector__edge_13_45_silence_of_a_server_that_was_restored,
	test_reflector__edge_13_44_bookmarks_cease, test_reflector__watch_that_should_have_ended,
	test_reflector__edge_13_48_pages_at_version_0, test_reflector__edge_11b_38_watch_times_out,
	test_reflector__edge_11b_39_expired_streams_again,
	test_reflector__edge_11b_40_no_streaming_lists, test_reflector__what_cannot_be_understood,
	test_reflector__list_that_is_cut_off, test_reflector__object_of_another_kind_is_passed_over)
