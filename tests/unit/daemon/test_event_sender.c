/* SPDX-License-Identifier: Apache-2.0 */
/** Events on their way to the API server, in virtual time. Spec: 11b sections 8.2, 8.4, 8.5. */
#include "daemon/event_sender.h"

#include <string.h>

#include "base/log.h"
#include "base/nanoseconds.h"
#include "base/prng.h"
#include "fake_requests.h"
#include "test_main.h"

/* 2026-11-21T00:27:40.914140Z */
#define NOW_NS INT64_C(1795220860914140999)
#define SECOND BT_NS_PER_SECOND

static struct bt_strbuf log_text;

static bool log_enabled(
	void *context BT_UNUSED, const char *file BT_UNUSED, int verbosity BT_UNUSED)
{
	return true;
}

static void log_write(void *context BT_UNUSED, const struct bt_log_record *record)
{
	bt_strbuf_printf(&log_text, "%d %.*s\n", record->verbosity, BT_STR_ARG(record->message));
}

struct world {
	struct bt_prng prng;
	struct bt_event_sender *sender;
	uint32_t version;
};

static void world_init(struct world *world)
{
	static const struct bt_log_sink sink = {.enabled = log_enabled, .write = log_write};
	*world = (struct world){.version = 0};
	bt_prng_init(&world->prng, 1);
	fake_requests_reset();
	bt_log_set_sink(&sink);
	bt_log_set_verbosity_max(10);
	struct bt_event_sender_options options = {
		.prng = &world->prng, .host = "vm", .component = "default-scheduler"};
	world->sender = bt_event_sender_create(&options);
	bt_event_sender_start(world->sender);
}

static void world_finish(struct world *world)
{
	bt_event_sender_destroy(world->sender);
	fake_requests_reset();
	bt_log_set_sink(NULL);
	bt_strbuf_finish(&log_text);
}

static void expect_request(const char *text)
{
	(void)fake_requests_turn();
	ck_assert_ptr_nonnull(fake_requests.call);
	ck_assert_str_eq(bt_strbuf_c(&fake_requests.request), text);
}

static void expect_request_begins(const char *text)
{
	(void)fake_requests_turn();
	ck_assert_ptr_nonnull(fake_requests.call);
	ck_assert_msg(strncmp(bt_strbuf_c(&fake_requests.request), text, strlen(text)) == 0, "%s",
		bt_strbuf_c(&fake_requests.request));
}

static void expect_log(const char *text)
{
	ck_assert_str_eq(bt_strbuf_c(&log_text), text);
	bt_strbuf_reset(&log_text);
}

static void discover(enum bt_rest_class class_, uint16_t code)
{
	ck_assert_str_eq(bt_strbuf_c(&fake_requests.request), "GET /apis/events.k8s.io/v1 \n");
	fake_requests_answer(class_, code, "");
}

/** Records FailedScheduling for pod s1 in this version. */
static void fail_pod(struct world *world, const char *version, const char *note, int64_t now_ns)
{
	struct bt_object_meta meta = {.name = BT_STR("s1"),
		.namespace_ = BT_STR("wire"),
		.uid = BT_STR("u-1"),
		.resource_version = bt_str_from(version)};
	struct bt_event_facts facts = {.kind = "Pod",
		.api_version = "v1",
		.regarding = &meta,
		.type = "Warning",
		.reason = "FailedScheduling",
		.action = "Scheduling",
		.controller = BT_STR("default-scheduler"),
		.note = bt_str_from(note)};
	bt_event_recorder_record(bt_event_sender_recorder(world->sender), &facts, now_ns);
}

/** Records an event that matches no other event. */
static void fail_new(struct world *world)
{
	char version[16];
	(void)snprintf(version, sizeof(version), "%u", ++world->version);
	fail_pod(world, version, "none", NOW_NS + world->version);
}

#define EVENTS "/apis/events.k8s.io/v1/namespaces/wire/events"
#define POSTED(note) \
	"POST " EVENTS " application/json\n{\"kind\":\"Event\",\"apiVersion\":\"events.k8s.io/" \
	"v1\",\"metadata\":{\"name\":\"s1.18e9e7dc8c288747\",\"namespace\":\"wire\"}," \
	"\"eventTime\":\"2026-11-21T00:27:40.914140Z\"," note \
	"\"reportingController\":\"default-scheduler\",\"reportingInstance\":" \
	"\"default-scheduler-vm\",\"action\":\"Scheduling\",\"reason\":\"FailedScheduling\"," \
	"\"regarding\":{\"kind\":\"Pod\",\"namespace\":\"wire\",\"name\":\"s1\"," \
	"\"uid\":\"u-1\",\"apiVersion\":\"v1\",\"resourceVersion\":\"267\"},\"note\":\"none\"," \
	"\"type\":\"Warning\"}"
#define PATCHED \
	"PATCH " EVENTS "/s1.18e9e7dc8c288747 application/strategic-merge-patch+json\n" \
	"{\"series\":{\"count\":2,\"lastObservedTime\":\"2026-11-21T00:27:41.914140Z\"}}"

START_TEST(test_event_sender__one_at_a_time_in_order)
{
	struct world world;
	world_init(&world);
	/* Events recorded before API discovery ends wait. */
	fail_pod(&world, "267", "none", NOW_NS);
	fail_pod(&world, "267", "none", NOW_NS + SECOND);
	(void)fake_requests_turn();
	discover(BT_REST_OK, 200);
	expect_request(POSTED(""));
	(void)fake_requests_turn();
	ck_assert_uint_eq(fake_requests.started, 2);
	fake_requests_answer(BT_REST_OK, 201, "");
	expect_request(PATCHED);
	fake_requests_answer(BT_REST_OK, 200, "");
	(void)fake_requests_turn();
	ck_assert_ptr_null(fake_requests.call);
	ck_assert_uint_eq(bt_event_sender_waiting(world.sender), 0);
	expect_log("");
	world_finish(&world);
}
END_TEST

START_TEST(test_event_sender__deleted_series_is_posted)
{
	struct world world;
	world_init(&world);
	discover(BT_REST_OK, 200);
	fail_pod(&world, "267", "none", NOW_NS);
	(void)fake_requests_turn();
	fake_requests_answer(BT_REST_OK, 201, "");
	fail_pod(&world, "267", "none", NOW_NS + SECOND);
	expect_request(PATCHED);
	fake_requests_answer(BT_REST_NOT_FOUND, 404, "gone");
	expect_request(POSTED(
		"\"series\":{\"count\":2,\"lastObservedTime\":\"2026-11-21T00:27:41.914140Z\"},"));
	/* The event exists after all: the series is patched again after a pause. */
	fake_requests_answer(BT_REST_ALREADY_EXISTS, 409, "exists");
	(void)fake_requests_turn();
	ck_assert_ptr_null(fake_requests.call);
	fake_requests.now_ns += 13 * SECOND;
	expect_request(PATCHED);
	world_finish(&world);
}
END_TEST

START_TEST(test_event_sender__edge_11b_29_refused)
{
	static const struct {
		enum bt_rest_class class_;
		uint16_t code;
		const char *log;
	} rows[] = {
		{BT_REST_FORBIDDEN, 403, "0 Server rejected event (will not retry!)\n"},
		{BT_REST_INTERNAL_ERROR, 500, "0 Server rejected event (will not retry!)\n"},
		{BT_REST_NOT_FOUND, 404, "0 Server rejected event (will not retry!)\n"},
		{BT_REST_ALREADY_EXISTS, 409, "5 Server rejected event (will not retry!)\n"},
	};
	struct world world;
	world_init(&world);
	discover(BT_REST_OK, 200);
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		fail_new(&world);
		expect_request_begins("POST " EVENTS " ");
		fake_requests_answer(rows[i].class_, rows[i].code, "no");
		expect_log(rows[i].log);
		ck_assert_uint_eq(bt_event_sender_waiting(world.sender), 0);
	}
	world_finish(&world);
}
END_TEST

START_TEST(test_event_sender__without_response)
{
	struct world world;
	world_init(&world);
	discover(BT_REST_OK, 200);
	fail_new(&world);
	fail_new(&world);
	for (uint32_t i = 1; i < 12; i++) {
		expect_request_begins("POST " EVENTS " ");
		fake_requests_answer(BT_REST_TRANSPORT, 0, "connection refused");
		expect_log("0 Unable to write event (may retry after sleeping)\n");
		int64_t due_ns = fake_requests_turn();
		ck_assert_ptr_null(fake_requests.call);
		ck_assert_int_ge(due_ns, fake_requests.now_ns + 10 * SECOND);
		ck_assert_int_lt(due_ns, fake_requests.now_ns + 12500 * BT_NS_PER_MS);
		fake_requests.now_ns = due_ns;
	}
	ck_assert_uint_eq(bt_event_sender_waiting(world.sender), 2);
	expect_request_begins("POST " EVENTS " ");
	fake_requests_answer(BT_REST_TRANSPORT, 0, "connection refused");
	expect_log("0 Unable to write event (retry limit exceeded!)\n");
	/* The next event is sent at once and has retries again. */
	expect_request_begins("POST " EVENTS " ");
	ck_assert_uint_eq(bt_event_sender_waiting(world.sender), 1);
	world_finish(&world);
}
END_TEST

START_TEST(test_event_sender__edge_11b_30_too_many)
{
	struct world world;
	world_init(&world);
	discover(BT_REST_OK, 200);
	fail_new(&world);
	(void)fake_requests_turn();
	fake_requests_answer(BT_REST_TRANSPORT, 0, "connection refused");
	for (uint32_t i = 1; i <= 1000; i++) {
		fail_new(&world);
	}
	ck_assert_uint_eq(bt_event_sender_waiting(world.sender), 1000);
	/* The oldest event is still in the queue; the newest was dropped. */
	fake_requests.now_ns += 13 * SECOND;
	for (uint32_t i = 1; i <= 1000; i++) {
		char name[64];
		(void)snprintf(name, sizeof(name), "\"resourceVersion\":\"%u\"", i);
		(void)fake_requests_turn();
		ck_assert_ptr_nonnull(strstr(bt_strbuf_c(&fake_requests.request), name));
		fake_requests_answer(BT_REST_OK, 201, "");
	}
	ck_assert_uint_eq(bt_event_sender_waiting(world.sender), 0);
	world_finish(&world);
}
END_TEST

#define CORE "/api/v1/namespaces/wire/events"

START_TEST(test_event_sender__core_events)
{
	struct world world;
	world_init(&world);
	fail_pod(&world, "267", "none", NOW_NS);
	fail_pod(&world, "268", "none", NOW_NS + SECOND); /* equal despite its version */
	discover(BT_REST_NOT_FOUND, 404);
	expect_request(
		"POST " CORE " application/json\n{\"kind\":\"Event\",\"apiVersion\":\"v1\","
		"\"metadata\":{\"name\":\"s1.18e9e7dc8c288747\",\"namespace\":\"wire\"},"
		"\"involvedObject\":{\"kind\":\"Pod\",\"namespace\":\"wire\",\"name\":\"s1\","
		"\"uid\":\"u-1\",\"apiVersion\":\"v1\",\"resourceVersion\":\"267\"},"
		"\"reason\":\"FailedScheduling\",\"message\":\"none\",\"source\":{"
		"\"component\":\"default-scheduler\"},\"firstTimestamp\":"
		"\"2026-11-21T00:27:40Z\",\"lastTimestamp\":\"2026-11-21T00:27:40Z\","
		"\"count\":1,\"type\":\"Warning\",\"eventTime\":null,"
		"\"reportingComponent\":\"default-scheduler\",\"reportingInstance\":\"\"}");
	fake_requests_answer(BT_REST_OK, 201, "");
	expect_request("PATCH " CORE "/s1.18e9e7dc8c288747 application/strategic-merge-patch+json\n"
		       "{\"count\":2,\"lastTimestamp\":\"2026-11-21T00:27:41Z\"}");
	fake_requests_answer(BT_REST_NOT_FOUND, 404, "gone");
	expect_request_begins("POST " CORE " application/json\n");
	ck_assert_ptr_nonnull(strstr(bt_strbuf_c(&fake_requests.request),
		"\"firstTimestamp\":\"2026-11-21T00:27:40Z\",\"lastTimestamp\":"
		"\"2026-11-21T00:27:41Z\",\"count\":2,"));
	world_finish(&world);
}
END_TEST

START_TEST(test_event_sender__lease_events_are_core_events)
{
	struct world world;
	struct bt_object_meta lease = {.name = BT_STR("kube-scheduler"),
		.namespace_ = BT_STR("kube-system"),
		.uid = BT_STR("u"),
		.resource_version = BT_STR("269")};
	world_init(&world);
	bt_event_sender_lease_event(world.sender, &lease, BT_STR("vm_1 became leader"));
	discover(BT_REST_OK, 200);
	expect_request_begins("POST /api/v1/namespaces/kube-system/events application/json\n");
	ck_assert_ptr_nonnull(strstr(bt_strbuf_c(&fake_requests.request),
		"\"involvedObject\":{\"kind\":\"Lease\",\"namespace\":\"kube-system\",\"name\":"
		"\"kube-scheduler\",\"uid\":\"u\",\"apiVersion\":\"coordination.k8s.io/v1\","
		"\"resourceVersion\":\"269\"},\"reason\":\"LeaderElection\",\"message\":"
		"\"vm_1 became leader\",\"source\":{\"component\":\"default-scheduler\"}"));
	world_finish(&world);
}
END_TEST

START_TEST(test_event_sender__combined_and_spam)
{
	struct world world;
	world_init(&world);
	discover(BT_REST_TRANSPORT, 0);
	for (uint32_t i = 0; i < 40; i++) {
		char note[16];
		(void)snprintf(note, sizeof(note), "note %u", i);
		fail_pod(&world, "1", note, NOW_NS + i);
	}
	/*
	 * The queue has 25 events of one object. The eleventh event creates a combined event; the
	 * later events patch the combined event.
	 */
	ck_assert_uint_eq(bt_event_sender_waiting(world.sender), 25);
	for (uint32_t i = 0; i < 25; i++) {
		char message[80];
		(void)snprintf(message, sizeof(message), "\"message\":\"%snote %u\"",
			i < 10 ? "" : "(combined from similar events): ", i);
		expect_request_begins(i <= 10 ? "POST " CORE " " : "PATCH " CORE "/s1.");
		ck_assert_ptr_nonnull(strstr(bt_strbuf_c(&fake_requests.request), message));
		fake_requests_answer(BT_REST_OK, 200, "");
	}
	/* Five minutes allow one more event. */
	fail_pod(&world, "1", "later", NOW_NS + 301 * SECOND);
	fail_pod(&world, "1", "later", NOW_NS + 302 * SECOND);
	ck_assert_uint_eq(bt_event_sender_waiting(world.sender), 1);
	world_finish(&world);
}
END_TEST

BT_TEST_MAIN("event_sender", test_event_sender__one_at_a_time_in_order,
	test_event_sender__deleted_series_is_posted, test_event_sender__edge_11b_29_refused,
	test_event_sender__without_response, test_event_sender__edge_11b_30_too_many,
	test_event_sender__core_events, test_event_sender__lease_events_are_core_events,
	test_event_sender__combined_and_spam)
