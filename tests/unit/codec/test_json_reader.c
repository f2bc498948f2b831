/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/json.h"

#include "base/alloc.h"
#include "test_main.h"

/**
 * Skips and parses the document; both must give the same result. Returns the error code, with the
 * message in *err.
 */
static int read_document(struct bt_str text, struct berth_error *err)
{
	struct bt_json_reader reader;
	struct bt_str source;
	struct berth_error skip_err = BERTH_ERROR_INIT;
	bt_json_reader_init(&reader, text);
	int skipped = bt_json_skip(&reader, &source, &skip_err);
	if (skipped == 0) {
		skipped = bt_json_expect_end(&reader, &skip_err);
	}
	struct bt_arena arena = {0};
	struct bt_json_value *value = NULL;
	int parsed = bt_json_parse(&arena, text, false, &value, err);
	ck_assert_int_eq(parsed, skipped);
	if (err != NULL) {
		ck_assert_str_eq(berth_error_message(err), berth_error_message(&skip_err));
	}
	ck_assert((value != NULL) == (parsed == 0));
	berth_error_finish(&skip_err);
	bt_arena_finish(&arena);
	return parsed;
}

START_TEST(test_json_reader__accepts)
{
	static const char *const rows[] = {
		"null",
		"true",
		"false",
		"0",
		"-0",
		"1",
		"-1",
		"10",
		"1.5",
		"-0.0",
		"0e1",
		"1e5",
		"1E+5",
		"1e-5",
		"1.25e+10",
		"123456789012345678901234567890",
		"\"\"",
		"\"a\"",
		"[]",
		"{}",
		" [ ] ",
		"\t{\r\n}\n",
		"[1,2]",
		"[ 1 , 2 ]",
		"{\"a\":1}",
		"{ \"a\" : [ { } , null ] , \"b\" : { \"c\" : \"d\" } }",
		"{\"a\":1,\"a\":2}",
		"{\"\":0}",
		"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\"",
		"\"\x7f\"",
		"\"\\ud800\"",
		"\"\xff\xfe\"",
		"[[[[[[]]]]]]",
		"\"0123456789abcdef0123456789abcdef\"",
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct berth_error err = BERTH_ERROR_INIT;
		int result = read_document(bt_str_from(rows[i]), &err);
		ck_assert_msg(result == 0, "%s: %s", rows[i], berth_error_message(&err));
	}
}
END_TEST

START_TEST(test_json_reader__rejects_with_go_messages)
{
	static const struct {
		const char *text;
		const char *message;
	} rows[] = {
		{"", "unexpected end of JSON input"},
		{" ", "unexpected end of JSON input"},
		{"x", "invalid character 'x' looking for beginning of value"},
		{"'a'", "invalid character '\\'' looking for beginning of value"},
		{"\\", "invalid character '\\\\' looking for beginning of value"},
		{"\xef\xbb\xbf{}", "invalid character '\xc3\xaf' looking for beginning of value"},
		{"\x01", "invalid character '\\x01' looking for beginning of value"},
		{"\x85", "invalid character '\\u0085' looking for beginning of value"},
		{"{a:1}", "invalid character 'a' looking for beginning of object key string"},
		{"{1:1}", "invalid character '1' looking for beginning of object key string"},
		{"{,}", "invalid character ',' looking for beginning of object key string"},
		{"{\"a\":1,}", "invalid character '}' looking for beginning of object key string"},
		{"{\"a\" 1}", "invalid character '1' after object key"},
		{"{\"a\":1 \"b\":2}", "invalid character '\"' after object key:value pair"},
		{"{\"a\":1]", "invalid character ']' after object key:value pair"},
		{"{\"a\":}", "invalid character '}' looking for beginning of value"},
		{"{\"a\"", "unexpected end of JSON input"},
		{"{\"a\":", "unexpected end of JSON input"},
		{"{\"a\":1", "unexpected end of JSON input"},
		{"{", "unexpected end of JSON input"},
		{"[", "unexpected end of JSON input"},
		{"[1", "unexpected end of JSON input"},
		{"[1,", "unexpected end of JSON input"},
		{"[,1]", "invalid character ',' looking for beginning of value"},
		{"[1,]", "invalid character ']' looking for beginning of value"},
		{"[1 2]", "invalid character '2' after array element"},
		{"[1}", "invalid character '}' after array element"},
		{"[01]", "invalid character '1' after array element"},
		{"1 2", "invalid character '2' after top-level value"},
		{"[] ]", "invalid character ']' after top-level value"},
		{"truex", "invalid character 'x' after top-level value"},
		{"tru", "unexpected end of JSON input"},
		{"trve", "invalid character 'v' in literal true (expecting 'u')"},
		{"fals\"", "invalid character '\"' in literal false (expecting 'e')"},
		{"nul ", "invalid character ' ' in literal null (expecting 'l')"},
		{"-", "unexpected end of JSON input"},
		{"-a", "invalid character 'a' in numeric literal"},
		{"+1", "invalid character '+' looking for beginning of value"},
		{".5", "invalid character '.' looking for beginning of value"},
		{"1.", "unexpected end of JSON input"},
		{"1.e1", "invalid character 'e' after decimal point in numeric literal"},
		{"1e", "unexpected end of JSON input"},
		{"1e+x", "invalid character 'x' in exponent of numeric literal"},
		{"0x10", "invalid character 'x' after top-level value"},
		{"NaN", "invalid character 'N' looking for beginning of value"},
		{"\"a", "unexpected end of JSON input"},
		{"\"a\n\"", "invalid character '\\n' in string literal"},
		{"\"0123456789abcdef\t\"", "invalid character '\\t' in string literal"},
		{"\"\\x\"", "invalid character 'x' in string escape code"},
		{"\"\\", "unexpected end of JSON input"},
		{"\"\\u12g4\"", "invalid character 'g' in \\u hexadecimal character escape"},
		{"\"\\u12", "unexpected end of JSON input"},
		{"// c", "invalid character '/' looking for beginning of value"},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct berth_error err = BERTH_ERROR_INIT;
		int result = read_document(bt_str_from(rows[i].text), &err);
		ck_assert_msg(result == BERTH_ERR_SYNTAX, "%s accepted", rows[i].text);
		ck_assert_msg(strcmp(berth_error_message(&err), rows[i].message) == 0, "%s: %s",
			rows[i].text, berth_error_message(&err));
		berth_error_finish(&err);
	}
}
END_TEST

START_TEST(test_json_reader__string_values)
{
	static const struct {
		const char *json;
		const char *value;
		bool borrowed;
	} rows[] = {
		{"\"\"", "", true},
		{"\"plain\"", "plain", true},
		{"\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
			true},
		{"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t", false},
		{"\"\\u0041\\u00e9\\u20AC\"", "A\xc3\xa9\xe2\x82\xac", false},
		{"\"\\ud83d\\ude00\"", "\xf0\x9f\x98\x80", false},
		{"\"\\uD83D\\uDE00!\"", "\xf0\x9f\x98\x80!", false},
		/* surrogates without their other half, before all kinds of characters */
		{"\"\\ud83d\"", "\xef\xbf\xbd", false},
		{"\"\\ude00\"", "\xef\xbf\xbd", false},
		{"\"\\ud83dx\"", "\xef\xbf\xbdx", false},
		{"\"\\ud83d\\n\"", "\xef\xbf\xbd\n", false},
		{"\"\\ud83d\\u0041\"",
			"\xef\xbf\xbd"
			"A",
			false},
		{"\"\\ud83d\\ud83d\\ude00\"", "\xef\xbf\xbd\xf0\x9f\x98\x80", false},
		{"\"\\ude00\\ud83d\"", "\xef\xbf\xbd\xef\xbf\xbd", false},
		/* one replacement for each bad byte */
		{"\"a\xff"
		 "b\"",
			"a\xef\xbf\xbd"
			"b",
			false},
		{"\"\xc3\"", "\xef\xbf\xbd", false},
		{"\"\xe2\x82\"", "\xef\xbf\xbd\xef\xbf\xbd", false},
		{"\"\xed\xa0\x80\"", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", false},
		{"\"\xc0\xaf\"", "\xef\xbf\xbd\xef\xbf\xbd", false},
		{"\"a long run of plain text, then \\u0022 and more plain text\"",
			"a long run of plain text, then \" and more plain text", false},
	};
	struct bt_arena arena = {0};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_json_reader reader;
		struct bt_str text;
		bool borrowed;
		bt_json_reader_init(&reader, bt_str_from(rows[i].json));
		ck_assert_int_eq(bt_json_read_string(&reader, &arena, &text, &borrowed, NULL), 0);
		ck_assert_msg(bt_str_equal_c(text, rows[i].value), "%s: %.*s", rows[i].json,
			BT_STR_ARG(text));
		ck_assert_msg(borrowed == rows[i].borrowed, "%s", rows[i].json);
		ck_assert_int_eq(bt_json_expect_end(&reader, NULL), 0);
	}
	/* a zero byte in the middle */
	struct bt_json_reader reader;
	struct bt_str text;
	bt_json_reader_init(&reader, BT_STR("\"a\\u0000b\""));
	ck_assert_int_eq(bt_json_read_string(&reader, &arena, &text, NULL, NULL), 0);
	ck_assert(bt_str_equal(text, BT_STR("a\0b")));
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_json_reader__pull)
{
	struct bt_json_reader reader;
	struct bt_arena arena = {0};
	struct bt_str text;
	bool flag;
	bool more;
	bool first = true;
	bool inner_first = true;
	bt_json_reader_init(&reader,
		BT_STR("{\"a\" : [ true, -1.5e3 ], \"\\u0062\": null, \"c\": {\"x\": []}}"));
	ck_assert_int_eq(bt_json_enter_object(&reader, NULL), 0);
	ck_assert_int_eq(bt_json_next_member(&reader, &first, &arena, &more, &text, NULL), 0);
	ck_assert(more && bt_str_equal_c(text, "a"));
	ck_assert_int_eq(bt_json_enter_array(&reader, NULL), 0);
	ck_assert_int_eq(bt_json_next_element(&reader, &inner_first, &more, NULL), 0);
	ck_assert(more);
	ck_assert_int_eq(bt_json_read_bool(&reader, &flag, NULL), 0);
	ck_assert(flag);
	ck_assert_int_eq(bt_json_next_element(&reader, &inner_first, &more, NULL), 0);
	ck_assert(more);
	ck_assert_int_eq(bt_json_read_number(&reader, &text, NULL), 0);
	ck_assert(bt_str_equal_c(text, "-1.5e3"));
	ck_assert_int_eq(bt_json_next_element(&reader, &inner_first, &more, NULL), 0);
	ck_assert(!more);
	ck_assert_uint_eq(reader.depth, 1);
	ck_assert_int_eq(bt_json_next_member(&reader, &first, &arena, &more, &text, NULL), 0);
	ck_assert(more && bt_str_equal_c(text, "b"));
	ck_assert_int_eq(bt_json_read_null(&reader, NULL), 0);
	ck_assert_int_eq(bt_json_next_member(&reader, &first, &arena, &more, &text, NULL), 0);
	ck_assert_int_eq(bt_json_skip(&reader, &text, NULL), 0);
	ck_assert(bt_str_equal_c(text, "{\"x\": []}"));
	ck_assert_int_eq(bt_json_next_member(&reader, &first, &arena, &more, &text, NULL), 0);
	ck_assert(!more);
	ck_assert_int_eq(bt_json_expect_end(&reader, NULL), 0);
	ck_assert_uint_eq(reader.depth, 0);
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_json_reader__wrong_type)
{
	struct bt_json_reader reader;
	struct berth_error err = BERTH_ERROR_INIT;
	bool flag = true;
	bt_json_reader_init(&reader, BT_STR(" [1]"));
	ck_assert_int_eq(bt_json_read_bool(&reader, &flag, &err), BERTH_ERR_INVALID);
	ck_assert_str_eq(berth_error_message(&err), "expected bool, got array");
	berth_error_finish(&err);
	ck_assert_int_eq(bt_json_enter_object(&reader, &err), BERTH_ERR_INVALID);
	ck_assert_str_eq(berth_error_message(&err), "expected object, got array");
	berth_error_finish(&err);
	ck_assert_str_eq(bt_json_type_name(BT_JSON_NULL), "null");
}
END_TEST

/** Returns "[[[...]]]" or {"a":{"a":...}} of the given depth; the caller frees the text. */
static char *nested(size_t depth, bool object, size_t *out_length)
{
	size_t open = object ? 5 : 1;
	size_t length = depth * (open + 1) + (object ? 1 : 0);
	char *text = bt_malloc(length);
	for (size_t i = 0; i < depth; i++) {
		memcpy(text + i * open, object ? "{\"a\":" : "[", open);
	}
	size_t at = depth * open;
	if (object) {
		text[at++] = '0';
	}
	memset(text + at, object ? '}' : ']', depth);
	*out_length = length;
	return text;
}

START_TEST(test_json_reader__depth_limit)
{
	for (int object = 0; object < 2; object++) {
		size_t length;
		char *text = nested(BT_JSON_DEPTH_MAX, object != 0, &length);
		ck_assert_int_eq(read_document((struct bt_str){text, (uint32_t)length}, NULL), 0);
		bt_free(text);
		struct berth_error err = BERTH_ERROR_INIT;
		text = nested(BT_JSON_DEPTH_MAX + 1, object != 0, &length);
		ck_assert_int_eq(read_document((struct bt_str){text, (uint32_t)length}, &err),
			BERTH_ERR_SYNTAX);
		ck_assert_str_eq(berth_error_message(&err), "exceeded max depth");
		berth_error_finish(&err);
		bt_free(text);
	}
	/* many open brackets */
	size_t bomb_length = 10u << 20;
	char *bomb = bt_malloc(bomb_length);
	memset(bomb, '[', bomb_length);
	ck_assert_int_eq(read_document((struct bt_str){bomb, (uint32_t)bomb_length}, NULL),
		BERTH_ERR_SYNTAX);
	bt_free(bomb);
}
END_TEST

START_TEST(test_json_reader__skip_counts_outer_depth)
{
	size_t length;
	char *text = nested(BT_JSON_DEPTH_MAX + 1, false, &length);
	struct bt_json_reader reader;
	bool first = true;
	bool more;
	bt_json_reader_init(&reader, (struct bt_str){text, (uint32_t)length});
	ck_assert_int_eq(bt_json_enter_array(&reader, NULL), 0);
	ck_assert_int_eq(bt_json_next_element(&reader, &first, &more, NULL), 0);
	ck_assert_int_eq(bt_json_skip(&reader, NULL, NULL), BERTH_ERR_SYNTAX);
	bt_free(text);
}
END_TEST

START_TEST(test_json_reader__seek)
{
	static const char text[] =
		"{\"list\":[{\"b\":0}],\"a\":{\"bc\":1,\"b\":\"\\u0041\",\"c\":{}},"
		"\"b\":2,\"empty\":{}}";
	static const struct {
		const char *path;
		const char *value; /* NULL: not found */
	} rows[] = {
		{"a.b", "\"\\u0041\""},
		{"a.bc", "1"},
		{"a", "{\"bc\":1,\"b\":\"\\u0041\",\"c\":{}}"},
		{"b", "2"},
		{"empty", "{}"},
		{"a.c.d", NULL},
		{"empty.b", NULL},
		{"list.b", NULL},
		{"b.b", NULL},
		{"ab", NULL},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_json_reader reader;
		struct bt_str value = {NULL, 0};
		bt_json_reader_init(&reader, bt_str_from(text));
		bool found = bt_json_seek(&reader, rows[i].path) &&
			bt_json_skip(&reader, &value, NULL) == 0;
		ck_assert_msg(found == (rows[i].value != NULL), "%s", rows[i].path);
		ck_assert_msg(!found || bt_str_equal_c(value, rows[i].value), "%s", rows[i].path);
	}
	for (uint32_t length = 0; length < 30; length++) {
		struct bt_json_reader reader;
		bt_json_reader_init(&reader, bt_str_sub(bt_str_from(text), 0, length));
		ck_assert(!bt_json_seek(&reader, "a.b"));
	}
}
END_TEST

START_TEST(test_json_reader__truncated_anywhere)
{
	static const char sample[] =
		"{\"metadata\":{\"name\":\"p\\u00e9\\ud83d\\ude00\",\"labels\":{\"a\":\"b\"}},"
		"\"spec\":{\"n\":-12.5e+3,\"on\":true,\"off\":false,\"none\":null,\"list\":[1,[],{}"
		",\"x\"]}}";
	for (size_t length = 0; length + 1 < sizeof(sample); length++) {
		/*
		 * a heap copy of exactly this length, so that sanitizers detect reads past its end
		 */
		char *copy = bt_malloc(length);
		memcpy(copy, sample, length);
		struct berth_error err = BERTH_ERROR_INIT;
		ck_assert_int_eq(read_document((struct bt_str){copy, (uint32_t)length}, &err),
			BERTH_ERR_SYNTAX);
		ck_assert_str_eq(berth_error_message(&err), "unexpected end of JSON input");
		berth_error_finish(&err);
		bt_free(copy);
	}
	ck_assert_int_eq(read_document(bt_str_from(sample), NULL), 0);
}
END_TEST

START_TEST(test_json_reader__long_strings)
{
	size_t length = (size_t)BT_JSON_STRING_BYTES_MAX + 3;
	char *text = bt_malloc(length);
	memset(text, 'a', length);
	text[0] = '"';
	text[length - 1] = '"';
	struct bt_json_reader reader;
	struct bt_arena arena = {0};
	struct bt_str value = BT_STR("untouched");
	struct berth_error err = BERTH_ERROR_INIT;
	bt_json_reader_init(&reader, (struct bt_str){text, (uint32_t)length});
	ck_assert_int_eq(
		bt_json_read_string(&reader, &arena, &value, NULL, &err), BERTH_ERR_TOO_LARGE);
	ck_assert_str_eq(
		berth_error_message(&err), "string of 67108865 bytes is longer than 67108864");
	ck_assert(bt_str_equal_c(value, "untouched"));
	berth_error_finish(&err);
	bt_json_reader_init(&reader, (struct bt_str){text, (uint32_t)length});
	ck_assert_int_eq(bt_json_skip(&reader, NULL, NULL), 0);
	/* a text one byte shorter is accepted, without a copy */
	text[length - 2] = '"';
	bt_json_reader_init(&reader, (struct bt_str){text, (uint32_t)length - 1});
	ck_assert_int_eq(bt_json_read_string(&reader, &arena, &value, NULL, NULL), 0);
	ck_assert_uint_eq(value.length, BT_JSON_STRING_BYTES_MAX);
	ck_assert_uint_eq(arena.total_bytes, 0);
	/*
	 * each replacement character is three bytes: the text is refused before memory is allocated
	 */
	memset(text + 1, 0xff, length / 2);
	bt_json_reader_init(&reader, (struct bt_str){text, (uint32_t)length - 1});
	ck_assert_int_eq(
		bt_json_read_string(&reader, &arena, &value, NULL, NULL), BERTH_ERR_TOO_LARGE);
	ck_assert_uint_eq(arena.total_bytes, 0);
	bt_arena_finish(&arena);
	bt_free(text);
}
END_TEST

START_TEST(test_json_reader__number_int64)
{
	static const struct {
		const char *text;
		bool ok;
		int64_t value;
	} rows[] = {
		{"0", true, 0},
		{"-0", true, 0},
		{"42", true, 42},
		{"-1", true, -1},
		{"9223372036854775807", true, INT64_MAX},
		{"-9223372036854775808", true, INT64_MIN},
		{"9223372036854775808", false, 0},
		{"-9223372036854775809", false, 0},
		{"1.0", false, 0},
		{"1e3", false, 0},
		{"", false, 0},
		{"+1", false, 0},
		{"99999999999999999999999", false, 0},
		{"9007199254740993", true, 9007199254740993},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		int64_t value = 0;
		bool ok = bt_json_number_int64(bt_str_from(rows[i].text), &value);
		ck_assert_msg(ok == rows[i].ok && value == rows[i].value, "%s", rows[i].text);
	}
}
END_TEST

BT_TEST_MAIN("json_reader", test_json_reader__accepts, test_json_reader__rejects_with_go_messages,
	test_json_reader__string_values, test_json_reader__pull, test_json_reader__wrong_type,
	test_json_reader__depth_limit, test_json_reader__skip_counts_outer_depth,
	test_json_reader__seek, test_json_reader__truncated_anywhere,
	test_json_reader__long_strings, test_json_reader__number_int64)
