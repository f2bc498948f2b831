/* SPDX-License-Identifier: Apache-2.0 */
/* Durations: spec 10 sections 4.4 and 10. */
#include "base/duration.h"
#include "test_main.h"

START_TEST(test_duration__parse)
{
	static const struct {
		const char *text;
		int64_t ns;
	} rows[] = {
		{"0", 0},
		{"-0", 0},
		{"15s", 15 * BT_NS_PER_SECOND},
		{"1m0s", 60 * BT_NS_PER_SECOND},
		{"1h2m3s4ms5us6ns", INT64_C(3723004005006)},
		{"1.5s", INT64_C(1500000000)},
		{".5s", INT64_C(500000000)},
		{"1.s", BT_NS_PER_SECOND},
		{"-1.5h", INT64_C(-5400000000000)},
		{"+2ms", 2000000},
		{"1\xC2\xB5s", 1000},
		{"1\xCE\xBCs", 1000},
		{"0.0000000001s", 0},
		{"0.3333333333333333333h", INT64_C(1200000000000)},
		{"9223372036854775807ns", INT64_MAX},
		{"-9223372036854775808ns", INT64_MIN},
		{"2562047h47m16.854775807s", INT64_MAX},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		int64_t ns = 0;
		struct berth_error err = BERTH_ERROR_INIT;
		int code = bt_duration_parse(bt_str_from(rows[i].text), &ns, &err);
		ck_assert_msg(code == 0, "%s: %s", rows[i].text, berth_error_message(&err));
		ck_assert_msg(ns == rows[i].ns, "%s: %lld", rows[i].text, (long long)ns);
	}
}
END_TEST

START_TEST(test_duration__refuse)
{
	static const struct {
		const char *text;
		const char *message;
	} rows[] = {
		{"", "time: invalid duration \"\""},
		{"x", "time: invalid duration \"x\""},
		{"-", "time: invalid duration \"-\""},
		{".s", "time: invalid duration \".s\""},
		{" 1s", "time: invalid duration \" 1s\""},
		{"15", "time: missing unit in duration \"15\""},
		{"1s2", "time: missing unit in duration \"1s2\""},
		{"1d", "time: unknown unit \"d\" in duration \"1d\""},
		{"1s ", "time: unknown unit \"s \" in duration \"1s \""},
		{"1\"\xC3\xA9",
			"time: unknown unit \"\\\"\\xc3\\xa9\" in duration \"1\\\"\\xc3\\xa9\""},
		{"9223372036854775808ns", "time: invalid duration \"9223372036854775808ns\""},
		{"99999999999999999999s", "time: invalid duration \"99999999999999999999s\""},
		{"3000000h", "time: invalid duration \"3000000h\""},
		{"2562047h47m16.854775808s", "time: invalid duration \"2562047h47m16.854775808s\""},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		int64_t ns = 7;
		struct berth_error err = BERTH_ERROR_INIT;
		ck_assert_int_eq(
			bt_duration_parse(bt_str_from(rows[i].text), &ns, &err), BERTH_ERR_INVALID);
		ck_assert_str_eq(berth_error_message(&err), rows[i].message);
		ck_assert_int_eq(ns, 7);
		berth_error_finish(&err);
	}
}
END_TEST

START_TEST(test_duration__format)
{
	static const struct {
		int64_t ns;
		const char *text;
	} rows[] = {
		{0, "0s"},
		{1, "1ns"},
		{1100, "1.1\xC2\xB5s"},
		{2200000, "2.2ms"},
		{500000000, "500ms"},
		{INT64_C(1500000000), "1.5s"},
		{15 * BT_NS_PER_SECOND, "15s"},
		{60 * BT_NS_PER_SECOND, "1m0s"},
		{600 * BT_NS_PER_SECOND, "10m0s"},
		{3600 * BT_NS_PER_SECOND, "1h0m0s"},
		{INT64_C(245000000000), "4m5s"},
		{INT64_C(245001000000), "4m5.001s"},
		{INT64_C(18367001000000), "5h6m7.001s"},
		{-BT_NS_PER_SECOND, "-1s"},
		{INT64_C(480000000001), "8m0.000000001s"},
		{INT64_MAX, "2562047h47m16.854775807s"},
		{INT64_MIN, "-2562047h47m16.854775808s"},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_strbuf text = {0};
		int64_t back = 0;
		bt_duration_format(rows[i].ns, &text);
		ck_assert_str_eq(bt_strbuf_c(&text), rows[i].text);
		ck_assert_int_eq(bt_duration_parse(bt_strbuf_str(&text), &back, NULL), 0);
		ck_assert_int_eq(back, rows[i].ns);
		bt_strbuf_finish(&text);
	}
}
END_TEST

BT_TEST_MAIN("duration", test_duration__parse, test_duration__refuse, test_duration__format)
