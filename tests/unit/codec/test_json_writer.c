/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/json.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/prng.h"
#include "test_main.h"

static void check_text(struct bt_strbuf *out, const char *expected)
{
	ck_assert_str_eq(bt_strbuf_c(out), expected);
	bt_strbuf_finish(out);
}

START_TEST(test_json_writer__strings)
{
	static const struct {
		struct bt_str text;
		const char *html;
		const char *plain;
	} rows[] = {
		{BT_STR_INIT(""), "\"\"", "\"\""},
		{BT_STR_INIT("plain text"), "\"plain text\"", "\"plain text\""},
		{BT_STR_INIT("\"\\/"), "\"\\\"\\\\/\"", "\"\\\"\\\\/\""},
		{BT_STR_INIT("\b\f\n\r\t"), "\"\\b\\f\\n\\r\\t\"", "\"\\b\\f\\n\\r\\t\""},
		{BT_STR_INIT("\0\x01\x1f\x7f"), "\"\\u0000\\u0001\\u001f\x7f\"",
			"\"\\u0000\\u0001\\u001f\x7f\""},
		{BT_STR_INIT("a<b>&c"), "\"a\\u003cb\\u003e\\u0026c\"", "\"a<b>&c\""},
		{BT_STR_INIT("\xc3\xa9\xf0\x9f\x98\x80"), "\"\xc3\xa9\xf0\x9f\x98\x80\"",
			"\"\xc3\xa9\xf0\x9f\x98\x80\""},
		{BT_STR_INIT("\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaa"),
			"\"\\u2028\\u2029\xe2\x80\xaa\"", "\"\\u2028\\u2029\xe2\x80\xaa\""},
		{BT_STR_INIT("x\xff\xc3y"), "\"x\\ufffd\\ufffdy\"", "\"x\\ufffd\\ufffdy\""},
		{{NULL, 0}, "\"\"", "\"\""},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		for (int html = 0; html < 2; html++) {
			struct bt_strbuf out = {0};
			struct bt_json_writer writer;
			bt_json_writer_init(&writer, &out, 0);
			ck_assert(writer.escape_html);
			writer.escape_html = html != 0;
			bt_json_write_str(&writer, rows[i].text);
			check_text(&out, html ? rows[i].html : rows[i].plain);
		}
	}
}
END_TEST

static void write_sample(struct bt_json_writer *writer)
{
	bt_json_begin_object(writer);
	bt_json_write_name_c(writer, "a");
	bt_json_begin_array(writer);
	bt_json_write_int64(writer, INT64_MIN);
	bt_json_write_uint64(writer, UINT64_MAX);
	bt_json_write_bool(writer, true);
	bt_json_write_bool(writer, false);
	bt_json_write_null(writer);
	bt_json_end_array(writer);
	bt_json_write_name_c(writer, "b<");
	bt_json_begin_object(writer);
	bt_json_end_object(writer);
	bt_json_write_name(writer, BT_STR("c"));
	bt_json_begin_array(writer);
	bt_json_end_array(writer);
	bt_json_write_name_c(writer, "d");
	bt_json_write_raw(writer, BT_STR("[1,2]"));
	bt_json_write_name_c(writer, "e");
	bt_json_begin_array(writer);
	bt_json_begin_object(writer);
	bt_json_write_member_c(writer, "f", "g");
	bt_json_end_object(writer);
	bt_json_begin_array(writer);
	bt_json_write_int64(writer, 0);
	bt_json_end_array(writer);
	bt_json_end_array(writer);
	bt_json_end_object(writer);
}

START_TEST(test_json_writer__compact)
{
	struct bt_strbuf out = {0};
	struct bt_json_writer writer;
	bt_json_writer_init(&writer, &out, 0);
	write_sample(&writer);
	check_text(&out,
		"{\"a\":[-9223372036854775808,18446744073709551615,true,false,null],\"b\\u003c\":{}"
		",\"c\":[],"
		"\"d\":[1,2],\"e\":[{\"f\":\"g\"},[0]]}");
}
END_TEST

START_TEST(test_json_writer__indented)
{
	struct bt_strbuf out = {0};
	struct bt_json_writer writer;
	bt_json_writer_init(&writer, &out, 2);
	write_sample(&writer);
	check_text(&out,
		"{\n  \"a\": [\n    -9223372036854775808,\n    18446744073709551615,\n    true,\n  "
		"  false,\n"
		"    null\n  ],\n  \"b\\u003c\": {},\n  \"c\": [],\n  \"d\": [1,2],\n  \"e\": [\n  "
		"  {\n"
		"      \"f\": \"g\"\n    },\n    [\n      0\n    ]\n  ]\n}");
}
END_TEST

START_TEST(test_json_writer__doubles_as_go)
{
	static const struct {
		double value;
		const char *text;
	} rows[] = {
		{0.0, "0"},
		{-0.0, "-0"},
		{1.0, "1"},
		{-1.5, "-1.5"},
		{0.1, "0.1"},
		{0.1 + 0.2, "0.30000000000000004"},
		{100.0, "100"},
		{123456789.0, "123456789"},
		{1e20, "100000000000000000000"},
		{1e21, "1e+21"},
		{1.5e300, "1.5e+300"},
		{0.000001, "0.000001"},
		{0.00000123, "0.00000123"},
		{1e-7, "1e-7"},
		{1.25e-9, "1.25e-9"},
		{9007199254740993.0, "9007199254740992"},
		{DBL_MAX, "1.7976931348623157e+308"},
		{DBL_MIN, "2.2250738585072014e-308"},
		{5e-324, "5e-324"},
		{1.0 / 3.0, "0.3333333333333333"},
		{2.0 / 3.0, "0.6666666666666666"},
		{123.456, "123.456"},
		{1e23, "1e+23"},
		/*
		 * powers of two whose nearest 16-digit decimal reads back as another number, while
		 * the next 16-digit decimal reads back exactly
		 */
		{5.6843418860808015e-14, "5.684341886080802e-14"},
		{1.1102230246251565e-16, "1.1102230246251565e-16"},
		{4.503599627370496e15, "4503599627370496"},
		{(double)INFINITY, "null"},
		{(double)NAN, "null"},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_strbuf out = {0};
		struct bt_json_writer writer;
		bt_json_writer_init(&writer, &out, 0);
		bt_json_write_double(&writer, rows[i].value);
		check_text(&out, rows[i].text);
	}
}
END_TEST

START_TEST(test_json_writer__doubles_read_back)
{
	struct bt_prng prng;
	bt_prng_init(&prng, 7);
	for (int round = 0; round < 20000; round++) {
		uint64_t bits = bt_prng_next(&prng);
		double value;
		memcpy(&value, &bits, sizeof(value));
		if (!isfinite(value)) {
			continue;
		}
		struct bt_strbuf out = {0};
		struct bt_json_writer writer;
		bt_json_writer_init(&writer, &out, 0);
		bt_json_write_double(&writer, value);
		double back = strtod(bt_strbuf_c(&out), NULL);
		ck_assert_msg(memcmp(&back, &value, sizeof(value)) == 0, "%.17g written as %s",
			value, bt_strbuf_c(&out));
		ck_assert_uint_le(out.length, 26);
		bt_strbuf_finish(&out);
	}
}
END_TEST

BT_TEST_MAIN("json_writer", test_json_writer__strings, test_json_writer__compact,
	test_json_writer__indented, test_json_writer__doubles_as_go,
	test_json_writer__doubles_read_back)
