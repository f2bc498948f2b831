/* SPDX-License-Identifier: Apache-2.0 */
/* Log lines: spec 11 section 7. */
#include "daemon/klog.h"

#include <stdlib.h>

#include "capture.h"
#include "codec/json.h"

#define NOON_NS INT64_C(1577977445000042000) /* 2020-01-02T15:04:05.000042Z */
#define HEADER "I0102 15:04:05.000042       7 file.c:31] "

/** Formats the record in UTC, for thread 7 and line 31. */
static void expect(
	enum bt_klog_format format, const struct bt_log_record *record, const char *expected)
{
	struct bt_strbuf out = {0};
	struct bt_log_record placed = *record;
	placed.file = "../src/daemon/file.c";
	placed.line = 31;
	ck_assert_int_eq(setenv("TZ", "UTC", 1), 0);
	bt_klog_format(format, &placed, NOON_NS, 7, &out);
	ck_assert_str_eq(bt_strbuf_c(&out), expected);
	bt_strbuf_finish(&out);
}

static const struct bt_str names[] = {BT_STR_INIT("a\"b"), BT_STR_INIT("c")};

static const struct bt_log_pair pairs[] = {
	{.key = "pod",
		.type = BT_LOG_TYPE_REF,
		.text = BT_STR_INIT("p"),
		.namespace_ = BT_STR_INIT("ns")},
	{.key = "node", .type = BT_LOG_TYPE_REF, .text = BT_STR_INIT("n1")},
	{.key = "text", .type = BT_LOG_TYPE_STR, .text = BT_STR_INIT("tab\there \"quoted\"")},
	{.key = "lines", .type = BT_LOG_TYPE_STR, .text = BT_STR_INIT("one\ntwo")},
	{.key = "count", .type = BT_LOG_TYPE_INT, .number = -3},
	{.key = "good", .type = BT_LOG_TYPE_BOOL, .number = 1},
	{.key = "took", .type = BT_LOG_TYPE_SECONDS, .number = 1500000000},
	{.key = "names", .type = BT_LOG_TYPE_STRS, .texts = names, .text_count = 2},
	{.key = "Plugins", .type = BT_LOG_TYPE_JSON, .text = BT_STR_INIT("{\"Name\":\"x\"}")},
};

static const struct bt_log_record structured = {
	.verbosity = 2,
	.structured = true,
	.message = BT_STR_INIT("Successfully \"bound\""),
	.pairs = pairs,
	.pair_count = BT_ARRAY_LENGTH(pairs),
};

START_TEST(test_klog__text)
{
	struct bt_log_record plain = {
		.severity = BT_LOG_SEVERITY_WARNING, .message = BT_STR("as it is: \"x\"")};
	struct bt_log_record ended = {.message = BT_STR("ended\n")};
	struct bt_log_record failed = {
		.severity = BT_LOG_SEVERITY_ERROR,
		.structured = true,
		.message = BT_STR("command failed"),
		.error = BT_STR("no \"such\" gate"),
	};
	expect(BT_KLOG_TEXT, &structured,
		HEADER "\"Successfully \\\"bound\\\"\" pod=\"ns/p\" node=\"n1\" "
		       "text=\"tab\\there \\\"quoted\\\"\" lines=<\n\tone\n\ttwo\n > count=-3 "
		       "good=true took=\"1.5s\" names=[\"a\\\"b\",\"c\"] "
		       "Plugins={\"Name\":\"x\"}\n");
	expect(BT_KLOG_TEXT, &plain, "W0102 15:04:05.000042       7 file.c:31] as it is: \"x\"\n");
	expect(BT_KLOG_TEXT, &ended, HEADER "ended\n");
	expect(BT_KLOG_TEXT, &failed,
		"E0102 15:04:05.000042       7 file.c:31] \"command failed\" "
		"err=\"no \\\"such\\\" gate\"\n");
}
END_TEST

START_TEST(test_klog__json)
{
	struct bt_log_record failed = {
		.severity = BT_LOG_SEVERITY_ERROR,
		.structured = true,
		.message = BT_STR("command failed\n"),
		.error = BT_STR("1 < 2 & 3"),
	};
	expect(BT_KLOG_JSON, &structured,
		"{\"ts\":1577977445000.042,\"caller\":\"file.c:31\","
		"\"msg\":\"Successfully \\\"bound\\\"\",\"v\":2,"
		"\"pod\":{\"name\":\"p\",\"namespace\":\"ns\"},\"node\":{\"name\":\"n1\"},"
		"\"text\":\"tab\\there \\\"quoted\\\"\",\"lines\":\"one\\ntwo\",\"count\":-3,"
		"\"good\":true,\"took\":\"1.5s\",\"names\":[\"a\\\"b\",\"c\"],"
		"\"Plugins\":{\"Name\":\"x\"}}\n");
	expect(BT_KLOG_JSON, &failed,
		"{\"ts\":1577977445000.042,\"caller\":\"file.c:31\",\"msg\":\"command failed\","
		"\"err\":\"1 < 2 & 3\"}\n");
}
END_TEST

/**
 * Whatever bytes a value has, a JSON record is one line, and the text format indents each further
 * line and ends the value with " >".
 */
START_TEST(test_klog__hostile_values)
{
	char bytes[256];
	struct bt_log_pair pair = {.key = "k", .type = BT_LOG_TYPE_STR, .text = {bytes, 256}};
	struct bt_log_record record = {
		.structured = true, .message = BT_STR("m"), .pairs = &pair, .pair_count = 1};
	struct bt_strbuf out = {0};
	struct bt_arena arena = {0};
	struct bt_json_value *value;
	for (int i = 0; i < 256; i++) {
		bytes[i] = (char)i;
	}
	record.file = "f.c";
	bt_klog_format(BT_KLOG_JSON, &record, NOON_NS, 1, &out);
	ck_assert_int_eq(bt_str_find_char(bt_strbuf_str(&out), '\n'), (int64_t)out.length - 1);
	ck_assert_int_eq(bt_json_parse(&arena, bt_strbuf_str(&out), false, &value, NULL), 0);
	bt_strbuf_reset(&out);
	bt_klog_format(BT_KLOG_TEXT, &record, NOON_NS, 1, &out);
	ck_assert_int_ge(bt_str_find(bt_strbuf_str(&out), BT_STR("k=<\n\t")), 0);
	ck_assert(bt_str_has_suffix(bt_strbuf_str(&out), BT_STR("\n >\n")));
	bt_arena_finish(&arena);
	bt_strbuf_finish(&out);
}
END_TEST

START_TEST(test_klog__verbosity)
{
	struct bt_klog_options options = {.verbosity = 2};
	struct capture standard_error;
	char text[2048];
	begin_capture(&standard_error, STDERR_FILENO);
	bt_klog_start(&options);
	BT_LOG_INFO_PLAIN(2, "two");
	BT_LOG_INFO_PLAIN(3, "three");
	bt_klog_set_verbosity(3);
	BT_LOG_INFO_PLAIN(3, "again");
	bt_klog_set_verbosity(0);
	BT_LOG_INFO_PLAIN(1, "one");
	BT_LOG_ERROR_PLAIN("why", "failure");
	bt_klog_finish();
	BT_LOG_ERROR_PLAIN("why", "after the end");
	end_capture(&standard_error, text, sizeof(text));
	ck_assert_ptr_nonnull(strstr(text, "] \"two\"\n"));
	ck_assert_ptr_null(strstr(text, "\"three\""));
	ck_assert_ptr_nonnull(strstr(text, "] \"again\"\n"));
	ck_assert_ptr_null(strstr(text, "\"one\""));
	ck_assert_ptr_nonnull(strstr(text, "] \"failure\" err=\"why\"\n"));
	ck_assert_ptr_null(strstr(text, "after"));
}
END_TEST

START_TEST(test_klog__vmodule)
{
	static const struct {
		const char *pattern;
		bool matches; /* the pattern matches this file, test_klog */
	} rows[] = {
		{"test_klog", true},
		{"test_*", true},
		{"*klog", true},
		{"*e*_?log", true},
		{"*", true},
		{"test_klog*", true},
		{"test_klo", false},
		{"?", false},
		{"test_klog.c", false},
		{"*klo", false},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_klog_module modules[] = {
			{bt_str_from(rows[i].pattern), 4}, {BT_STR("test_klog"), 9}};
		struct bt_klog_options options = {.modules = {.items = modules, .count = 1}};
		bt_klog_start(&options);
		ck_assert_msg(BT_LOG_ENABLED(4) == rows[i].matches, "%s", rows[i].pattern);
		ck_assert_msg(!BT_LOG_ENABLED(5), "%s", rows[i].pattern);
		options.modules.count = 2; /* the first matching pattern decides */
		bt_klog_set_verbosity(0);
		ck_assert_msg(BT_LOG_ENABLED(5) == !rows[i].matches, "%s", rows[i].pattern);
		bt_klog_finish();
	}
}
END_TEST

START_TEST(test_klog__split_stream)
{
	struct bt_klog_options options = {.split_stream = true};
	struct capture standard_output;
	struct capture standard_error;
	char output[1024];
	char error[1024];
	begin_capture(&standard_output, STDOUT_FILENO);
	begin_capture(&standard_error, STDERR_FILENO);
	bt_klog_start(&options);
	BT_LOG_INFO_PLAIN(0, "news");
	BT_LOG_TEXT(BT_LOG_SEVERITY_WARNING, "careful %d", 1);
	BT_LOG_ERROR_PLAIN("why", "failure");
	bt_klog_finish();
	end_capture(&standard_error, error, sizeof(error));
	end_capture(&standard_output, output, sizeof(output));
	ck_assert_ptr_nonnull(strstr(output, "\"news\""));
	ck_assert_ptr_null(strstr(output, "failure"));
	ck_assert_ptr_nonnull(strstr(error, "] careful 1\n"));
	ck_assert_ptr_nonnull(strstr(error, "\"failure\""));
	ck_assert_ptr_null(strstr(error, "news"));
}
END_TEST

BT_TEST_MAIN("klog", test_klog__text, test_klog__json, test_klog__hostile_values,
	test_klog__verbosity, test_klog__vmodule, test_klog__split_stream)
