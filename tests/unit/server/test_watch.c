/* SPDX-License-Identifier: Apache-2.0 */
#include "server/watch.h"

#include <stdio.h>
#include <stdlib.h>

#include "codec/json_edit.h"
#include "server/event_expiry.h"
#include "stream_fixture.h"
#include "test_main.h"

#define SECOND_NS INT64_C(1000000000)

static struct stream_fixture fixture;

/** Reads the watch and returns its events as "ADDED a, MODIFIED b". */
static const char *events(struct bt_watch *watch)
{
	struct bt_str rest;
	struct bt_strbuf all = {0};
	struct bt_str copy;

	(void)stream_read(&fixture, watch);
	rest = bt_strbuf_str(&fixture.text);
	while (rest.length != 0) {
		int64_t end = bt_str_find_char(rest, '\n');
		struct bt_json_value *event;

		ck_assert_int_ge(end, 0);
		ck_assert_msg(bt_json_parse(&fixture.api.arena, bt_str_sub(rest, 0, (uint32_t)end),
				      true, &event, NULL) == 0,
			"%.*s", BT_STR_ARG(rest));
		bt_strbuf_printf(&all, "%s%.*s %.*s", all.length != 0 ? ", " : "",
			BT_STR_ARG(bt_json_text_at(event, "type")),
			BT_STR_ARG(bt_json_text_at(event, "object.metadata.name")));
		rest = bt_str_sub(rest, (uint32_t)end + 1, rest.length);
	}
	copy = bt_arena_str(&fixture.api.arena, bt_strbuf_str(&all));
	bt_strbuf_finish(&all);
	return copy.data;
}

/** Returns a member of the first event of the last read. */
static const char *first_text(const char *path)
{
	struct bt_str text = bt_strbuf_str(&fixture.text);
	struct bt_json_value *event;

	text = bt_str_sub(text, 0, (uint32_t)bt_str_find_char(text, '\n'));
	ck_assert_int_eq(bt_json_parse(&fixture.api.arena, text, true, &event, NULL), 0);
	return bt_arena_str(&fixture.api.arena, bt_json_text_at(event, path)).data;
}

static const char *current_rv(void)
{
	return bt_arena_printf(
		&fixture.api.arena, "%llu", (unsigned long long)bt_store_rv(fixture.api.store))
		.data;
}

static void label(const char *key, const char *value)
{
	struct bt_str body =
		bt_arena_printf(&fixture.api.arena, "{'metadata':{'labels':{'x':%s}}}", value);

	ck_assert_uint_eq(api_patch(&fixture.api, BT_PATCH_MERGE, "pods", key, body.data), 200);
}

START_TEST(test_watch__existing_then_live)
{
	struct bt_watch *watch;

	stream_fixture_init(&fixture);
	api_create_pod(&fixture.api, "b", NULL);
	api_create_pod(&fixture.api, "a", NULL);
	stream_turn(&fixture);
	watch = stream_watch(&fixture, "pods", "");
	ck_assert_ptr_nonnull(watch);
	ck_assert_str_eq(events(watch), "ADDED a, ADDED b");
	ck_assert_str_eq(first_text("object.kind"), "Pod");
	ck_assert_str_eq(first_text("object.apiVersion"), "v1");
	ck_assert_int_eq(fixture.last_read, BT_HTTP_STREAM_WAIT);
	api_create_pod(&fixture.api, "c", NULL);
	label("default/a", "'1'");
	ck_assert_uint_eq(api_delete(&fixture.api, "pods", "default/b"), 200);
	ck_assert_uint_eq(fixture.wakes, 0);
	/* The watch does not send changes that are not durable yet. */
	ck_assert_str_eq(events(watch), "");
	stream_turn(&fixture);
	ck_assert_uint_eq(fixture.wakes, 1);
	ck_assert_str_eq(events(watch), "ADDED c, MODIFIED a, DELETED b");
	/* A change of another collection does not wake the watch. */
	ck_assert_uint_eq(
		api_create(&fixture.api, "configmaps", "default/", "{'metadata':{'name':'m'}}"),
		201);
	stream_turn(&fixture);
	ck_assert_uint_eq(fixture.wakes, 1);
	bt_watch_finish(watch);
	stream_fixture_finish(&fixture);
}
END_TEST

START_TEST(test_watch__resumes_at_an_rv)
{
	struct bt_watch *watch;
	const char *rv;

	stream_fixture_init(&fixture);
	api_create_pod(&fixture.api, "a", NULL);
	rv = current_rv();
	api_create_pod(&fixture.api, "b", NULL);
	stream_turn(&fixture);
	fixture.request.parameters.resource_version = bt_str_from(rv);
	watch = stream_watch(&fixture, "pods", "default");
	ck_assert_str_eq(events(watch), "ADDED b");
	ck_assert_str_eq(first_text("object.metadata.resourceVersion"), current_rv());
	bt_watch_finish(watch);
	/* A watch from a future RV sends nothing until the store has passed that RV. */
	fixture.request.parameters.resource_version = bt_arena_printf(
		&fixture.api.arena, "%llu", (unsigned long long)bt_store_rv(fixture.api.store) + 1);
	watch = stream_watch(&fixture, "pods", "default");
	api_create_pod(&fixture.api, "c", NULL);
	api_create_pod(&fixture.api, "d", NULL);
	stream_turn(&fixture);
	ck_assert_str_eq(events(watch), "ADDED d");
	/* Another namespace has no events. */
	bt_watch_finish(watch);
	watch = stream_watch(&fixture, "pods", "kube-system");
	ck_assert_str_eq(events(watch), "");
	bt_watch_finish(watch);
	stream_fixture_finish(&fixture);
}
END_TEST

START_TEST(test_watch__edge_14_11_label_away_and_back)
{
	struct bt_watch *watch;

	stream_fixture_init(&fixture);
	api_create_pod(&fixture.api, "a", NULL);
	label("default/a", "'1'");
	stream_turn(&fixture);
	fixture.request.parameters.label_selector = BT_STR("x=1");
	watch = stream_watch(&fixture, "pods", "");
	ck_assert_str_eq(events(watch), "ADDED a");
	label("default/a", "'2'");
	stream_turn(&fixture);
	ck_assert_str_eq(events(watch), "DELETED a");
	/* The DELETED event has the last object that matched, with the RV of the change. */
	ck_assert_str_eq(first_text("object.metadata.labels.x"), "1");
	ck_assert_str_eq(first_text("object.metadata.resourceVersion"), current_rv());
	label("default/a", "'3'");
	stream_turn(&fixture);
	ck_assert_str_eq(events(watch), "");
	label("default/a", "'1'");
	stream_turn(&fixture);
	ck_assert_str_eq(events(watch), "ADDED a");
	bt_watch_finish(watch);
	stream_fixture_finish(&fixture);
}
END_TEST

START_TEST(test_watch__edge_14_12_binding_ends_the_match)
{
	struct bt_watch *watch;

	stream_fixture_init(&fixture);
	api_create_pod(&fixture.api, "a", NULL);
	stream_turn(&fixture);
	fixture.request.parameters.field_selector = BT_STR("spec.nodeName=");
	watch = stream_watch(&fixture, "pods", "");
	ck_assert_str_eq(events(watch), "ADDED a");
	ck_assert_uint_eq(api_create(&fixture.api, "pods/binding", "default/a",
				  "{'metadata':{'name':'a'},'target':{'kind':'Node','name':'n'}}"),
		201);
	stream_turn(&fixture);
	ck_assert_str_eq(events(watch), "DELETED a");
	ck_assert_str_eq(first_text("object.spec.nodeName"), "");
	ck_assert_str_eq(first_text("object.metadata.resourceVersion"), current_rv());
	bt_watch_finish(watch);
	stream_fixture_finish(&fixture);
}
END_TEST

START_TEST(test_watch__edge_14_13_rv_below_the_window)
{
	struct bt_watch *watch;
	struct bt_watch *slow;
	char message[80];

	stream_fixture_init(&fixture);
	api_create_pod(&fixture.api, "a", NULL);
	stream_turn(&fixture);
	slow = stream_watch(&fixture, "pods", "");
	ck_assert_str_eq(events(slow), "ADDED a");
	for (int i = 0; i < 1100; i++) {
		fixture.api.now_ns += SECOND_NS;
		label("default/a", bt_arena_printf(&fixture.api.arena, "'%d'", i).data);
	}
	stream_turn(&fixture);
	fixture.request.parameters.resource_version = BT_STR("7");
	watch = stream_watch(&fixture, "pods", "");
	ck_assert_ptr_nonnull(watch);
	ck_assert_str_eq(events(watch), "ERROR ");
	ck_assert_int_eq(fixture.last_read, BT_HTTP_STREAM_END);
	ck_assert_str_eq(first_text("object.reason"), "Expired");
	ck_assert_str_eq(first_text("object.kind"), "Status");
	(void)snprintf(message, sizeof(message), "too old resource version: 7 (%llu)",
		(unsigned long long)bt_store_window_start(
			fixture.api.store, fixture.request.resource->collection));
	ck_assert_str_eq(first_text("object.message"), message);
	bt_watch_finish(watch);
	/* A watch that was not read for too long gets the same error. */
	ck_assert_str_eq(events(slow), "ERROR ");
	ck_assert_int_eq(fixture.last_read, BT_HTTP_STREAM_END);
	bt_watch_finish(slow);
	stream_fixture_finish(&fixture);
}
END_TEST

START_TEST(test_watch__edge_14_15_limit_is_ignored)
{
	struct bt_watch *watch;

	stream_fixture_init(&fixture);
	api_create_pod(&fixture.api, "a", NULL);
	api_create_pod(&fixture.api, "b", NULL);
	stream_turn(&fixture);
	fixture.request.parameters.limit = BT_STR("1");
	watch = stream_watch(&fixture, "pods", "");
	ck_assert_str_eq(events(watch), "ADDED a, ADDED b");
	bt_watch_finish(watch);
	stream_fixture_finish(&fixture);
}
END_TEST

START_TEST(test_watch__option_errors)
{
	stream_fixture_init(&fixture);
	fixture.request.parameters.resource_version = BT_STR("abc");
	ck_assert_ptr_null(stream_watch(&fixture, "pods", ""));
	ck_assert_uint_eq(fixture.failure.code, 500);
	ck_assert_ptr_null(fixture.failure.reason);
	ck_assert(bt_str_equal(fixture.failure.message,
		BT_STR("resourceVersion: Invalid value: \"abc\": strconv.ParseUint: parsing "
		       "\"abc\": invalid syntax")));
	fixture.request.parameters.send_initial_events = BT_STR("true");
	ck_assert_ptr_null(stream_watch(&fixture, "pods", ""));
	ck_assert_uint_eq(fixture.failure.code, 422);
	fixture.request.parameters.resource_version_match = BT_STR("NotOlderThan");
	ck_assert_ptr_null(stream_watch(&fixture, "pods", ""));
	ck_assert_uint_eq(fixture.failure.code, 422);
	ck_assert(bt_str_equal(fixture.failure.message,
		BT_STR("ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: "
		       "resourceVersionMatch is forbidden for watch unless sendInitialEvents is "
		       "provided")));
	stream_fixture_finish(&fixture);
}
END_TEST

START_TEST(test_watch__streaming_list)
{
	struct bt_watch *watch;

	stream_fixture_init(&fixture);
	api_create_pod(&fixture.api, "a", NULL);
	stream_turn(&fixture);
	fixture.request.parameters.send_initial_events = BT_STR("true");
	fixture.request.parameters.resource_version_match = BT_STR("NotOlderThan");
	fixture.request.parameters.allow_watch_bookmarks = BT_STR("true");
	fixture.request.parameters.resource_version = BT_STR("1");
	watch = stream_watch(&fixture, "pods", "");
	ck_assert_str_eq(events(watch), "ADDED a, BOOKMARK ");
	ck_assert_ptr_nonnull(strstr(bt_strbuf_c(&fixture.text),
		bt_arena_printf(&fixture.api.arena,
			"{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\","
			"\"metadata\":{\"resourceVersion\":\"%s\",\"annotations\":{"
			"\"k8s.io/initial-events-end\":\"true\"}}}}\n",
			current_rv())
			.data));
	api_create_pod(&fixture.api, "b", NULL);
	stream_turn(&fixture);
	ck_assert_str_eq(events(watch), "ADDED b");
	bt_watch_finish(watch);
	/*
	 * sendInitialEvents=true without bookmarks; sendInitialEvents=false starts at the current
	 * RV.
	 */
	fixture.request.parameters.send_initial_events = BT_STR("true");
	fixture.request.parameters.resource_version_match = BT_STR("NotOlderThan");
	watch = stream_watch(&fixture, "pods", "");
	ck_assert_str_eq(events(watch), "ADDED a, ADDED b");
	bt_watch_finish(watch);
	fixture.request.parameters.send_initial_events = BT_STR("false");
	fixture.request.parameters.resource_version_match = BT_STR("NotOlderThan");
	watch = stream_watch(&fixture, "pods", "");
	ck_assert_str_eq(events(watch), "");
	bt_watch_finish(watch);
	stream_fixture_finish(&fixture);
}
END_TEST

START_TEST(test_watch__bookmarks_and_timeout)
{
	struct bt_watch *watch;

	stream_fixture_init(&fixture);
	stream_turn(&fixture);
	fixture.request.parameters.resource_version = bt_str_from(current_rv());
	fixture.request.parameters.allow_watch_bookmarks = BT_STR("1");
	fixture.request.parameters.timeout_seconds = BT_STR("100");
	watch = stream_watch(&fixture, "pods", "");
	ck_assert_str_eq(events(watch), "");
	fixture.loop_ns = 59 * SECOND_NS;
	ck_assert_int_eq(bt_watchers_run(fixture.watchers, fixture.loop_ns), 60 * SECOND_NS);
	ck_assert_str_eq(events(watch), "");
	/* Changes of other collections advance the bookmark. */
	ck_assert_uint_eq(
		api_create(&fixture.api, "configmaps", "default/", "{'metadata':{'name':'m'}}"),
		201);
	fixture.loop_ns = 60 * SECOND_NS;
	ck_assert_int_eq(bt_watchers_run(fixture.watchers, fixture.loop_ns), 98 * SECOND_NS);
	ck_assert_uint_eq(fixture.wakes, 1);
	ck_assert_str_eq(events(watch), "BOOKMARK ");
	ck_assert_str_eq(first_text("object.metadata.resourceVersion"), current_rv());
	ck_assert_str_eq(first_text("object.kind"), "Pod");
	fixture.loop_ns = 98 * SECOND_NS;
	ck_assert_int_eq(bt_watchers_run(fixture.watchers, fixture.loop_ns), 100 * SECOND_NS);
	ck_assert_str_eq(events(watch), "BOOKMARK ");
	fixture.loop_ns = 100 * SECOND_NS;
	ck_assert_int_eq(bt_watchers_run(fixture.watchers, fixture.loop_ns), INT64_MAX);
	ck_assert_str_eq(events(watch), "");
	ck_assert_int_eq(fixture.last_read, BT_HTTP_STREAM_END);
	bt_watch_finish(watch);
	/*
	 * Without timeoutSeconds a watch lasts 30 to 60 minutes. Without allowWatchBookmarks it
	 * sends no bookmarks.
	 */
	watch = stream_watch(&fixture, "pods", "");
	ck_assert_str_eq(events(watch), "");
	fixture.loop_ns += 1799 * SECOND_NS;
	stream_turn(&fixture);
	ck_assert_str_eq(events(watch), "");
	ck_assert_int_eq(fixture.last_read, BT_HTTP_STREAM_WAIT);
	fixture.loop_ns += 1801 * SECOND_NS;
	stream_turn(&fixture);
	ck_assert_str_eq(events(watch), "");
	ck_assert_int_eq(fixture.last_read, BT_HTTP_STREAM_END);
	bt_watch_finish(watch);
	ck_assert_uint_eq(bt_watchers_count(fixture.watchers), 0);
	stream_fixture_finish(&fixture);
}
END_TEST

/** Decodes the frames of a protobuf watch into "ADDED a 5" each. */
static const char *frames(struct bt_watch *watch)
{
	struct bt_strbuf all = {0};
	struct bt_str rest;
	struct bt_str copy;

	(void)stream_read(&fixture, watch);
	rest = bt_strbuf_str(&fixture.text);
	while (rest.length != 0) {
		const uint8_t *at = (const uint8_t *)rest.data;
		uint32_t length = (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 |
			(uint32_t)at[2] << 8 | at[3];
		struct bt_str frame = bt_str_sub(rest, 4, length);
		struct bt_str type = bt_str_sub(frame, 2, (uint8_t)frame.data[1]);
		int64_t start = bt_str_find(frame, BT_STR("k8s"));
		struct bt_envelope envelope;
		struct bt_json_value *object;

		ck_assert_int_ge(start, 0);
		ck_assert_int_eq(bt_envelope_decode(bt_str_sub(frame, (uint32_t)start, UINT32_MAX),
					 &envelope, NULL),
			0);
		ck_assert_int_eq(bt_schema_decode_protobuf(
					 bt_schema_find(envelope.api_version, envelope.kind),
					 envelope.raw, &fixture.api.arena, &object, NULL),
			0);
		bt_strbuf_printf(&all, "%s%.*s %.*s %.*s", all.length != 0 ? ", " : "",
			BT_STR_ARG(type), BT_STR_ARG(bt_json_text_at(object, "metadata.name")),
			BT_STR_ARG(bt_json_text_at(object, "metadata.resourceVersion")));
		rest = bt_str_sub(rest, 4 + length, rest.length);
	}
	copy = bt_arena_str(&fixture.api.arena, bt_strbuf_str(&all));
	bt_strbuf_finish(&all);
	return copy.data;
}

START_TEST(test_watch__edge_14_42_json_and_protobuf)
{
	struct bt_watch *json;
	struct bt_watch *protobuf[2];
	unsigned long long rv;
	char expected[128];

	stream_fixture_init(&fixture);
	api_create_pod(&fixture.api, "a", NULL);
	label("default/a", "'1'");
	stream_turn(&fixture);
	rv = (unsigned long long)bt_store_rv(fixture.api.store);
	fixture.request.parameters.label_selector = BT_STR("x=1");
	fixture.request.parameters.resource_version = bt_str_from(current_rv());
	json = stream_watch(&fixture, "pods", "");
	fixture.request.encoding.media = BT_MEDIA_PROTOBUF;
	for (int i = 0; i < 2; i++) {
		fixture.request.parameters.label_selector = BT_STR("x=1");
		fixture.request.parameters.resource_version = bt_str_from(current_rv());
		protobuf[i] = stream_watch(&fixture, "pods", "");
	}
	label("default/a", "'2'");
	label("default/a", "'1'");
	ck_assert_uint_eq(api_delete(&fixture.api, "pods", "default/a"), 200);
	stream_turn(&fixture);
	ck_assert_str_eq(events(json), "DELETED a, ADDED a, DELETED a");
	(void)snprintf(expected, sizeof(expected), "DELETED a %llu, ADDED a %llu, DELETED a %llu",
		rv + 1, rv + 2, rv + 3);
	ck_assert_str_eq(frames(protobuf[0]), expected);
	ck_assert_str_eq(frames(protobuf[1]), expected);
	bt_watch_finish(json);
	bt_watch_finish(protobuf[0]);
	bt_watch_finish(protobuf[1]);
	stream_fixture_finish(&fixture);
}
END_TEST

START_TEST(test_watch__tables_name_their_columns_once)
{
	struct bt_watch *watch;

	stream_fixture_init(&fixture);
	api_create_pod(&fixture.api, "a", NULL);
	api_create_pod(&fixture.api, "b", NULL);
	stream_turn(&fixture);
	fixture.request.encoding.view = BT_VIEW_TABLE;
	fixture.request.parameters.allow_watch_bookmarks = BT_STR("true");
	watch = stream_watch(&fixture, "pods", "");
	(void)events(watch);
	ck_assert_str_eq(first_text("object.kind"), "Table");
	ck_assert_str_eq(first_text("object.apiVersion"), "meta.k8s.io/v1");
	ck_assert_ptr_nonnull(
		strstr(bt_strbuf_c(&fixture.text), "\"columnDefinitions\":[{\"name\":\"Name\""));
	ck_assert_ptr_null(strstr(strstr(bt_strbuf_c(&fixture.text), "\"columnDefinitions\":[") + 5,
		"\"columnDefinitions\":["));
	ck_assert_ptr_nonnull(strstr(bt_strbuf_c(&fixture.text), "\"columnDefinitions\":null"));
	ck_assert_ptr_nonnull(
		strstr(bt_strbuf_c(&fixture.text), "\"kind\":\"PartialObjectMetadata\""));
	bt_watch_finish(watch);
	stream_fixture_finish(&fixture);
}
END_TEST

/**
 * Each watch sends each write once and in order, whatever the sizes and times of its reads. A watch
 * that is not read does not delay the others.
 */
START_TEST(test_watch__many_watches_in_order)
{
	enum { WATCHES = 20, WRITES = 3000 };
	struct bt_watch *watches[WATCHES];
	uint64_t seen[WATCHES] = {0};
	uint32_t counts[WATCHES] = {0};
	char text[400];

	stream_fixture_init(&fixture);
	for (uint32_t i = 0; i < WATCHES; i++) {
		watches[i] = stream_watch(&fixture, "configmaps", "");
	}
	for (uint32_t write = 0; write < WRITES; write++) {
		char key[32];

		(void)snprintf(key, sizeof(key), "default/m%u", write % 50);
		(void)snprintf(text, sizeof(text),
			"{\"metadata\":{\"name\":\"m\",\"resourceVersion\":\"%llu\"},\"data\":{"
			"\"x\":\"%*d\"}}",
			(unsigned long long)bt_store_next_rv(fixture.api.store), 100 + write % 150,
			1);
		(void)bt_store_put(fixture.api.store, fixture.request.resource->collection,
			bt_str_from(key), bt_str_from(text), fixture.api.now_ns);
		if (write % 7 == 0 || write == WRITES - 1) {
			stream_turn(&fixture);
		}
		for (uint32_t i = 0; i < WATCHES; i++) {
			struct bt_str rest;

			/* The first watch is not read until the end. */
			if (write != WRITES - 1 && (i == 0 || (write + i) % (i + 3) != 0)) {
				continue;
			}
			fixture.capacity = 4096 + 977 * i;
			(void)stream_read(&fixture, watches[i]);
			rest = bt_strbuf_str(&fixture.text);
			while (rest.length != 0) {
				int64_t end = bt_str_find_char(rest, '\n');
				int64_t at = bt_str_find(rest, BT_STR("resourceVersion\":\""));
				uint64_t rv = strtoull(rest.data + at + 18, NULL, 10);

				if (end < 0 || at < 0 || at > end || rv <= seen[i]) {
					ck_abort_msg("watch %u: %llu after %llu", i,
						(unsigned long long)rv,
						(unsigned long long)seen[i]);
				}
				seen[i] = rv;
				counts[i]++;
				rest = bt_str_sub(rest, (uint32_t)end + 1, rest.length);
			}
		}
	}
	for (uint32_t i = 0; i < WATCHES; i++) {
		ck_assert_uint_eq(counts[i], WRITES);
		bt_watch_finish(watches[i]);
	}
	stream_fixture_finish(&fixture);
}
END_TEST

static void count_call(void *context)
{
	(*(uint32_t *)context)++;
}

static void create_map(void *context)
{
	ck_assert_uint_eq(
		api_create(context, "configmaps", "default/", "{'metadata':{'name':'n'}}"), 201);
}

START_TEST(test_watch__waits_for_an_rv)
{
	uint32_t first = 0;
	uint32_t second = 0;
	uint32_t third = 0;
	struct bt_wait *cancelled;
	uint64_t rv;

	stream_fixture_init(&fixture);
	stream_turn(&fixture);
	rv = bt_store_rv(fixture.api.store);
	(void)bt_watchers_await(
		fixture.watchers, rv + 1, 0, BT_FUTURE_RV_WAIT_NS, count_call, &first);
	(void)bt_watchers_await(
		fixture.watchers, rv + 9, 0, BT_FUTURE_RV_WAIT_NS, count_call, &second);
	cancelled = bt_watchers_await(
		fixture.watchers, rv + 1, 0, BT_FUTURE_RV_WAIT_NS, count_call, &third);
	ck_assert_int_eq(bt_watchers_run(fixture.watchers, 0), BT_FUTURE_RV_WAIT_NS);
	ck_assert_uint_eq(first, 0);
	bt_watchers_cancel(cancelled);
	ck_assert_uint_eq(
		api_create(&fixture.api, "configmaps", "default/", "{'metadata':{'name':'m'}}"),
		201);
	ck_assert_int_eq(bt_watchers_run(fixture.watchers, 1), BT_FUTURE_RV_WAIT_NS);
	ck_assert_uint_eq(first, 1);
	ck_assert_uint_eq(second, 0);
	ck_assert_int_eq(bt_watchers_run(fixture.watchers, BT_FUTURE_RV_WAIT_NS), INT64_MAX);
	ck_assert_uint_eq(second, 1);
	ck_assert_uint_eq(third, 0);
	/* A callback that changes the store makes the next run due at once. */
	(void)bt_watchers_await(fixture.watchers, 0, 0, INT64_MAX, create_map, &fixture.api);
	ck_assert_int_eq(bt_watchers_run(fixture.watchers, 7), 7);
	ck_assert_int_eq(bt_watchers_run(fixture.watchers, 7), INT64_MAX);
	stream_fixture_finish(&fixture);
}
END_TEST

START_TEST(test_watch__events_expire)
{
	struct bt_event_expiry *expiry;
	int64_t start;

	stream_fixture_init(&fixture);
	expiry = bt_event_expiry_create(fixture.api.api, BT_EVENT_TTL_NS);
	ck_assert_int_eq(bt_event_expiry_run(expiry), INT64_MAX);
	start = fixture.api.now_ns;
	for (int i = 0; i < 2; i++) {
		ck_assert_uint_eq(api_create(&fixture.api, "events", "default/",
					  bt_arena_printf(&fixture.api.arena,
						  "{'metadata':{'name':'e%d'},'involvedObject':{"
						  "'kind':'Pod','name':'p','namespace':'default'},"
						  "'message':'hello','reason':'R','type':'Normal'}",
						  i)
						  .data),
			201);
	}
	fixture.api.now_ns = start + 1800 * SECOND_NS;
	ck_assert_uint_eq(
		api_patch(&fixture.api, BT_PATCH_MERGE, "events", "default/e1", "{'count':2}"),
		200);
	ck_assert_int_eq(bt_event_expiry_run(expiry), start + 3600 * SECOND_NS);
	fixture.api.now_ns = start + 3600 * SECOND_NS;
	ck_assert_int_eq(bt_event_expiry_run(expiry), start + 5400 * SECOND_NS);
	ck_assert_uint_eq(api_get(&fixture.api, "events", "default/e0"), 404);
	ck_assert_uint_eq(api_get(&fixture.api, "events", "default/e1"), 200);
	fixture.api.now_ns = start + 5400 * SECOND_NS;
	ck_assert_int_eq(bt_event_expiry_run(expiry), INT64_MAX);
	ck_assert_uint_eq(api_get(&fixture.api, "events", "default/e1"), 404);
	bt_event_expiry_destroy(expiry);
	expiry = bt_event_expiry_create(fixture.api.api, INT64_MAX);
	ck_assert_uint_eq(api_create(&fixture.api, "events", "default/",
				  "{'metadata':{'name':'e2'},'involvedObject':{'kind':'Pod',"
				  "'name':'p','namespace':'default'},'reason':'R'}"),
		201);
	ck_assert_int_eq(bt_event_expiry_run(expiry), INT64_MAX);
	ck_assert_uint_eq(api_get(&fixture.api, "events", "default/e2"), 200);
	bt_event_expiry_destroy(expiry);
	stream_fixture_finish(&fixture);
}
END_TEST

START_TEST(test_watch__ends_with_its_definition)
{
	static const char name[] = "customresourcedefinitions.apiextensions.k8s.io";
	struct bt_watch *watch;
	struct bt_watch *pods;

	stream_fixture_init(&fixture);
	ck_assert_uint_eq(
		api_create(&fixture.api, name, "",
			"{'metadata':{'name':'foos.x.io'},'spec':{'group':'x.io','scope':'Cluster',"
			"'names':{'plural':'foos','kind':'Foo'},'versions':[{'name':'v1','served':"
			"true,'storage':true,'schema':{'openAPIV3Schema':{'type':'object'}}}]}}"),
		201);
	ck_assert_uint_eq(
		api_create(&fixture.api, "foos.x.io", "", "{'metadata':{'name':'a'}}"), 201);
	stream_turn(&fixture);
	watch = stream_watch(&fixture, "foos.x.io", "");
	pods = stream_watch(&fixture, "pods", "");
	ck_assert_str_eq(events(watch), "ADDED a");
	ck_assert_str_eq(events(pods), "");
	ck_assert_uint_eq(api_delete(&fixture.api, name, "foos.x.io"), 200);
	stream_turn(&fixture);
	ck_assert_str_eq(events(watch), "DELETED a");
	(void)stream_read(&fixture, watch);
	ck_assert_int_eq(fixture.last_read, BT_HTTP_STREAM_END);
	(void)stream_read(&fixture, pods);
	ck_assert_int_eq(fixture.last_read, BT_HTTP_STREAM_WAIT);
	bt_watch_finish(watch);
	bt_watch_finish(pods);
	stream_fixture_finish(&fixture);
}
END_TEST

BT_TEST_MAIN("watch", test_watch__existing_then_live, test_watch__resumes_at_an_rv,
	test_watch__edge_14_11_label_away_and_back, test_watch__edge_14_12_binding_ends_the_match,
	test_watch__edge_14_13_rv_below_the_window, test_watch__edge_14_15_limit_is_ignored,
	test_watch__option_errors, test_watch__streaming_list, test_watch__bookmarks_and_timeout,
	test_watch__edge_14_42_json_and_protobuf, test_watch__tables_name_their_columns_once,
	test_watch__many_watches_in_order, test_watch__waits_for_an_rv, test_watch__events_expire,
	test_watch__ends_with_its_definition)
