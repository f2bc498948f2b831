/* SPDX-License-Identifier: Apache-2.0 */
/** Spec: 11b sections 8.1 and 8.4. */
#include "daemon/event_recorder.h"

#include "base/strbuf.h"
#include "test_main.h"

#define SECOND_NS INT64_C(1000000000)
/* 2026-11-21T00:27:40.914140Z */
#define NOW_NS INT64_C(1795220860914140999)

/** The log of the recorder's requests, one line each. */
struct log {
	struct bt_strbuf text;
};

static void post(void *context, const struct bt_event_delivery *event)
{
	struct log *log = context;
	bt_strbuf_append_c(&log->text, "POST ");
	bt_event_record_write(
		event->record, BT_STR("vm"), event->series_count, event->series_ns, &log->text);
	bt_strbuf_append_char(&log->text, '\n');
}

static void send(void *context, const struct bt_event_delivery *event, bool patches)
{
	struct log *log = context;
	if (!patches) {
		post(context, event);
		return;
	}
	struct bt_strbuf name = {0};
	bt_event_record_append_name(event->record, &name);
	ck_assert(bt_str_has_prefix(bt_strbuf_str(&name), BT_STR("s1.")));
	bt_strbuf_finish(&name);
	bt_strbuf_append_c(&log->text, "PATCH ");
	bt_event_record_write_series(event->series_count, event->series_ns, &log->text);
	bt_strbuf_append_char(&log->text, '\n');
}

static struct bt_object_meta pod_meta(const char *version)
{
	return (struct bt_object_meta){.name = BT_STR("s1"),
		.namespace_ = BT_STR("wire"),
		.uid = BT_STR("u-1"),
		.resource_version = bt_str_from(version)};
}

static struct bt_event_facts failed(const struct bt_object_meta *meta, const char *note)
{
	return (struct bt_event_facts){.kind = "Pod",
		.api_version = "v1",
		.regarding = meta,
		.type = "Warning",
		.reason = "FailedScheduling",
		.action = "Scheduling",
		.controller = BT_STR("default-scheduler"),
		.note = bt_str_from(note)};
}

static void expect(struct log *log, const char *text)
{
	ck_assert_str_eq(bt_strbuf_c(&log->text), text);
	bt_strbuf_reset(&log->text);
}

#define POSTED(version, note) \
	"POST " \
	"{\"kind\":\"Event\",\"apiVersion\":\"events.k8s.io/" \
	"v1\",\"metadata\":{\"name\":\"s1.18e9e7dc8c288747\",\"namespace\":\"wire\"}," \
	"\"eventTime\":\"2026-11-21T00:27:40.914140Z\",\"reportingController\":" \
	"\"default-scheduler\",\"reportingInstance\":\"default-scheduler-vm\",\"action\":" \
	"\"Scheduling\",\"reason\":\"FailedScheduling\",\"regarding\":{\"kind\":\"Pod\"," \
	"\"namespace\":\"wire\",\"name\":\"s1\",\"uid\":\"u-1\",\"apiVersion\":\"v1\"," \
	"\"resourceVersion\":\"" version "\"},\"note\":\"" note "\",\"type\":\"Warning\"}\n"

START_TEST(test_event_recorder__series)
{
	struct log log = {0};
	struct bt_event_sink sink = {.context = &log, .send = send};
	struct bt_event_recorder *recorder = bt_event_recorder_create(&sink);
	struct bt_object_meta meta = pod_meta("267");
	struct bt_event_facts facts = failed(&meta, "none");
	ck_assert_int_eq(bt_event_recorder_tick(recorder, NOW_NS), NOW_NS + 6 * 60 * SECOND_NS);
	bt_event_recorder_record(recorder, &facts, NOW_NS);
	expect(&log, POSTED("267", "none"));
	/*
	 * The second event starts a series, even with another note; the third event only raises the
	 * count.
	 */
	facts.note = BT_STR("other");
	bt_event_recorder_record(recorder, &facts, NOW_NS + SECOND_NS);
	expect(&log,
		"PATCH {\"series\":{\"count\":2,\"lastObservedTime\":"
		"\"2026-11-21T00:27:41.914140Z\"}}\n");
	bt_event_recorder_record(recorder, &facts, NOW_NS + 2 * SECOND_NS);
	expect(&log, "");
	/* An event for another resourceVersion is a separate event. */
	meta.resource_version = BT_STR("268");
	bt_event_recorder_record(recorder, &facts, NOW_NS);
	expect(&log, POSTED("268", "other"));
	ck_assert_uint_eq(bt_event_recorder_count(recorder), 2);
	/*
	 * After six minutes without an event the series is patched for the last time, and both
	 * events are dropped.
	 */
	(void)bt_event_recorder_tick(recorder, NOW_NS + 7 * 60 * SECOND_NS);
	expect(&log,
		"PATCH {\"series\":{\"count\":3,\"lastObservedTime\":"
		"\"2026-11-21T00:27:42.914140Z\"}}\n");
	ck_assert_uint_eq(bt_event_recorder_count(recorder), 0);
	bt_event_recorder_destroy(recorder);
	bt_strbuf_finish(&log.text);
}
END_TEST

/* The wall clock is set back by a day: the intervals are counted from the new time on. */
START_TEST(test_event_recorder__clock_is_set_back)
{
	struct log log = {0};
	struct bt_event_sink sink = {.context = &log, .send = send};
	struct bt_event_recorder *recorder = bt_event_recorder_create(&sink);
	struct bt_object_meta meta = pod_meta("267");
	struct bt_event_facts facts = failed(&meta, "none");
	const int64_t back_ns = NOW_NS - 86400 * SECOND_NS;
	(void)bt_event_recorder_tick(recorder, NOW_NS);
	bt_event_recorder_record(recorder, &facts, NOW_NS);
	ck_assert_int_eq(bt_event_recorder_tick(recorder, back_ns), back_ns + 6 * 60 * SECOND_NS);
	ck_assert_uint_eq(bt_event_recorder_count(recorder), 1);
	(void)bt_event_recorder_tick(recorder, back_ns + 7 * 60 * SECOND_NS);
	ck_assert_uint_eq(bt_event_recorder_count(recorder), 0);
	bt_event_recorder_destroy(recorder);
	bt_strbuf_finish(&log.text);
}
END_TEST

START_TEST(test_event_recorder__memory_is_bounded)
{
	struct log log = {0};
	struct bt_event_sink sink = {.context = &log, .send = send};
	struct bt_event_recorder *recorder = bt_event_recorder_create(&sink);
	for (uint32_t i = 0; i < BT_EVENT_SERIES_MAX + 100; i++) {
		char version[16];
		(void)snprintf(version, sizeof(version), "%u", i);
		struct bt_object_meta meta = pod_meta(version);
		struct bt_event_facts facts = failed(&meta, "none");
		bt_event_recorder_record(recorder, &facts, NOW_NS + i);
		bt_strbuf_reset(&log.text);
	}
	ck_assert_uint_eq(bt_event_recorder_count(recorder), BT_EVENT_SERIES_MAX);
	/* The oldest series was dropped: its event is posted again. */
	struct bt_object_meta meta = pod_meta("0");
	struct bt_event_facts facts = failed(&meta, "none");
	bt_event_recorder_record(recorder, &facts, NOW_NS + 10000);
	ck_assert(bt_str_has_prefix(bt_strbuf_str(&log.text), BT_STR("POST ")));
	bt_event_recorder_destroy(recorder);
	bt_strbuf_finish(&log.text);
}
END_TEST

START_TEST(test_event_recorder__long_names)
{
	struct log log = {0};
	struct bt_event_sink sink = {.context = &log, .send = send};
	struct bt_event_recorder *recorder = bt_event_recorder_create(&sink);
	char name[250];
	memset(name, 'a', sizeof(name));
	struct bt_object_meta meta = {.name = {name, sizeof(name)}, .uid = BT_STR("u")};
	struct bt_event_facts facts = failed(&meta, "none");
	bt_event_recorder_record(recorder, &facts, NOW_NS);
	/* The name is a UUID and the namespace is default. */
	const char *start =
		"POST "
		"{\"kind\":\"Event\",\"apiVersion\":\"events.k8s.io/v1\",\"metadata\":{\"name\":\"";
	const char *text = bt_strbuf_c(&log.text);
	ck_assert(strncmp(text, start, strlen(start)) == 0);
	const char *rest = strstr(text + strlen(start), "\",\"namespace\":\"default\"}");
	ck_assert_ptr_nonnull(rest);
	ck_assert_int_eq(rest - text - (long)strlen(start), 36);
	bt_event_recorder_destroy(recorder);
	bt_strbuf_finish(&log.text);
}
END_TEST

START_TEST(test_event_recorder__edge_11b_25_series_from_the_third_on)
{
	/* The first patch of the pod's status changes its version; later patches are not sent. */
	static const char *const versions[] = {"267", "268", "268"};
	struct log log = {0};
	struct bt_event_sink sink = {.context = &log, .send = send};
	struct bt_event_recorder *recorder = bt_event_recorder_create(&sink);
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(versions); i++) {
		struct bt_object_meta meta = pod_meta(versions[i]);
		struct bt_event_facts facts = failed(&meta, "none");
		bt_event_recorder_record(recorder, &facts, NOW_NS);
	}
	expect(&log,
		POSTED("267", "none")
			POSTED("268", "none") "PATCH {\"series\":{\"count\":2,\"lastObservedTime\":"
					      "\"2026-11-21T00:27:40.914140Z\"}}\n");
	bt_event_recorder_destroy(recorder);
	bt_strbuf_finish(&log.text);
}
END_TEST

START_TEST(test_event_recorder__edge_11b_26_other_message)
{
	struct log log = {0};
	struct bt_event_sink sink = {.context = &log, .send = send};
	struct bt_event_recorder *recorder = bt_event_recorder_create(&sink);
	struct bt_object_meta first = pod_meta("267");
	struct bt_object_meta second = pod_meta("268");
	struct bt_event_facts a = failed(&first, "A");
	struct bt_event_facts b = failed(&second, "B");
	bt_event_recorder_record(recorder, &a, NOW_NS);
	bt_event_recorder_record(recorder, &b, NOW_NS);
	expect(&log, POSTED("267", "A") POSTED("268", "B"));
	bt_event_recorder_destroy(recorder);
	bt_strbuf_finish(&log.text);
}
END_TEST

START_TEST(test_event_recorder__scheduled_takes_no_memory)
{
	struct log log = {0};
	struct bt_event_sink sink = {.context = &log, .send = send};
	struct bt_event_recorder *recorder = bt_event_recorder_create(&sink);
	struct bt_object_meta meta = pod_meta("267");
	struct bt_event_facts facts = failed(&meta, "none");
	facts.reason = "Scheduled";
	bt_event_recorder_record(recorder, &facts, NOW_NS);
	ck_assert(bt_str_has_prefix(bt_strbuf_str(&log.text), BT_STR("POST ")));
	ck_assert_uint_eq(bt_event_recorder_count(recorder), 0);
	bt_event_recorder_destroy(recorder);
	bt_strbuf_finish(&log.text);
}
END_TEST

BT_TEST_MAIN("event_recorder", test_event_recorder__edge_11b_25_series_from_the_third_on,
	test_event_recorder__edge_11b_26_other_message,
	test_event_recorder__scheduled_takes_no_memory, test_event_recorder__series,
	test_event_recorder__clock_is_set_back, test_event_recorder__memory_is_bounded,
	test_event_recorder__long_names)
