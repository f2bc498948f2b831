/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/json.h"

#include "codec/json_edit.h"
#include "test_main.h"

static struct bt_json_value *parse(struct bt_arena *arena, const char *text)
{
	struct bt_json_value *value = NULL;
	struct berth_error err = BERTH_ERROR_INIT;
	int result = bt_json_parse(arena, bt_str_from(text), true, &value, &err);
	ck_assert_msg(result == 0, "%s: %s", text, berth_error_message(&err));
	return value;
}

START_TEST(test_json_value__find)
{
	struct bt_arena arena = {0};
	struct bt_json_value *value = parse(
		&arena, "{\"a\":{\"b\":{\"c\":\"x\"}},\"n\":1,\"n\":\"last\",\"e\\u0041\":null}");
	ck_assert(value->type == BT_JSON_OBJECT);
	ck_assert_uint_eq(value->count, 4);
	ck_assert(bt_str_equal_c(bt_json_find_path(value, "a.b.c")->text, "x"));
	ck_assert_ptr_null(bt_json_find_path(value, "a.x.c"));
	ck_assert_ptr_null(bt_json_find_path(value, "a.b.c.d"));
	ck_assert(bt_str_equal_c(bt_json_find_str(value, "n"), "last"));
	ck_assert_ptr_null(bt_json_find_str(value, "a").data);
	ck_assert(bt_json_find(value, "eA")->type == BT_JSON_NULL);
	ck_assert_ptr_null(bt_json_find(value, "A"));
	ck_assert_ptr_null(bt_json_find(NULL, "a"));
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_json_value__borrows_or_copies)
{
	struct bt_arena arena = {0};
	char text[] = "[\"abc\",12,{\"k\":true}]";
	struct bt_json_value *borrowing = NULL;
	struct bt_json_value *copying = NULL;
	ck_assert_int_eq(bt_json_parse(&arena, bt_str_from(text), false, &borrowing, NULL), 0);
	ck_assert_int_eq(bt_json_parse(&arena, bt_str_from(text), true, &copying, NULL), 0);
	ck_assert(borrowing->elements[0]->text.data == text + 2);
	memset(text, '#', sizeof(text) - 1);
	ck_assert(bt_str_equal_c(copying->elements[0]->text, "abc"));
	ck_assert(bt_str_equal_c(copying->elements[1]->text, "12"));
	ck_assert(bt_str_equal_c(copying->elements[2]->members[0].name, "k"));
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_json_value__equal)
{
	static const struct {
		const char *a;
		const char *b;
		bool equal;
	} rows[] = {
		{"null", "null", true},
		{"null", "false", false},
		{"true", "true", true},
		{"true", "false", false},
		{"1", "1", true},
		{"1", "1.0", false},
		{"\"a\"", "\"\\u0061\"", true},
		{"[1,2]", "[1, 2]", true},
		{"[1,2]", "[2,1]", false},
		{"[1]", "[1,1]", false},
		{"{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1}", true},
		{"{\"a\":1}", "{\"a\":1,\"b\":2}", false},
		{"{\"a\":0,\"a\":1}", "{\"a\":1}", true},
		{"{\"a\":1,\"a\":0}", "{\"a\":1}", false},
		{"{\"a\":0,\"a\":1}", "{\"a\":2,\"a\":1}", true},
		{"{\"a\":1,\"a\":0}", "{\"a\":1,\"a\":2}", false},
		{"{\"a\":1,\"b\":2}", "{\"a\":1,\"b\":3}", false},
		{"{\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"f\":6,\"g\":7,\"h\":8,\"i\":9,\"j\":1,"
		 "\"k\":2,\"l\":3,\"m\":4,\"n\":5,\"o\":6,\"p\":7,\"q\":8,\"q\":0}",
			"{\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"f\":6,\"g\":7,\"h\":8,\"i\":9,"
			"\"j\":1,\"k\":2,\"l\":3,\"m\":4,\"n\":5,\"o\":6,\"p\":7,\"q\":9,\"q\":0}",
			true},
		{"{\"a\":{\"x\":[{}]}}", "{\"a\":{\"x\":[{}]}}", true},
		{"{}", "[]", false},
	};
	struct bt_arena arena = {0};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		bool equal = bt_json_equal(parse(&arena, rows[i].a), parse(&arena, rows[i].b));
		ck_assert_msg(equal == rows[i].equal, "%s and %s", rows[i].a, rows[i].b);
	}
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_json_value__write_round_trip)
{
	static const char *const rows[] = {
		"null",
		"[]",
		"{}",
		"[null,true,false,0,-1.5e+300,\"a\\\"\\\\\\n\\u0001\"]",
		"{\"a\":{\"b\":[[],[{}],{\"c\":\"d\"}]},\"a\":1}",
		"\"\\u003c\"",
	};
	struct bt_arena arena = {0};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_json_value *value = parse(&arena, rows[i]);
		struct bt_strbuf compact = {0};
		struct bt_strbuf indented = {0};
		struct bt_json_writer writer;
		bt_json_writer_init(&writer, &compact, 0);
		bt_json_write_value(&writer, value);
		ck_assert_str_eq(bt_strbuf_c(&compact), rows[i]);
		bt_json_writer_init(&writer, &indented, 4);
		bt_json_write_value(&writer, value);
		ck_assert(bt_json_equal(value, parse(&arena, bt_strbuf_c(&indented))));
		bt_strbuf_finish(&compact);
		bt_strbuf_finish(&indented);
	}
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_json_value__many_siblings)
{
	struct bt_strbuf text = {0};
	struct bt_arena arena = {0};
	bt_strbuf_append_char(&text, '[');
	for (int i = 0; i < 100000; i++) {
		bt_strbuf_printf(&text, "%s{\"k%d\":[%d]}", i == 0 ? "" : ",", i, i);
	}
	bt_strbuf_append_char(&text, ']');
	struct bt_json_value *value = parse(&arena, bt_strbuf_c(&text));
	ck_assert_uint_eq(value->count, 100000);
	for (uint32_t i = 0; i < value->count; i++) {
		int64_t number;
		ck_assert(bt_json_number_int64(
			value->elements[i]->members[0].value->elements[0]->text, &number));
		ck_assert_int_eq(number, i);
	}
	bt_strbuf_finish(&text);
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_json_value__put_template)
{
	struct bt_arena arena = {0};
	struct bt_strbuf text = {0};
	struct bt_json_value *tree = parse(&arena,
		"{\"spec\":{\"old\":1,\"list\":[\"a\"]},\"status\":\"gone\",\"kept\":true}");
	const struct bt_json_value *copied = bt_json_find(tree, "spec");
	ck_assert_ptr_eq(bt_json_put(&arena, tree,
				 "{spec: {list: ['b', %s], n: %d, zero?: %d, none: %v, %c: %b}, "
				 "status: {'a b': null, x.io/y: %c, no: %c, copy: %t}, ok: false}",
				 BT_STR("c"), INT64_C(-5), INT64_C(0), NULL, "name", true, "text",
				 NULL, copied),
		tree);
	bt_json_format(tree, &text);
	ck_assert_str_eq(bt_strbuf_c(&text),
		"{\"spec\":{\"old\":1,\"list\":[\"a\",\"b\",\"c\"],\"n\":-5,\"name\":true},"
		"\"status\":{\"a "
		"b\":null,\"x.io/y\":\"text\",\"copy\":{\"old\":1,\"list\":[\"a\",\"b\",\"c\"],"
		"\"n\":-5,\"name\":true}},\"kept\":true,\"ok\":false}");
	ck_assert_uint_eq(bt_json_put(&arena, NULL, "[%s]", BT_STR("x"))->count, 1);
	bt_strbuf_finish(&text);
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_json_value__write_template)
{
	struct bt_arena arena = {0};
	struct bt_strbuf text = {0};
	struct bt_json_writer writer;
	bt_json_writer_init(&writer, &text, 0);
	bt_json_write(&writer,
		"{%s: %c, no: %c, zero?: %d, empty?: %s, 'a b': null, n: %d, list:", BT_STR("name"),
		"<", NULL, INT64_C(0), BT_STR(""), INT64_MIN);
	bt_json_write(&writer, "[%d, {}, [true]", INT64_C(3));
	bt_json_write_c(&writer, "own");
	bt_json_write(&writer, "], copy?: %t, absent: %t, ok: %b}", parse(&arena, "{\"x\":[1.50]}"),
		NULL, false);
	ck_assert_str_eq(bt_strbuf_c(&text),
		"{\"name\":\"\\u003c\",\"a b\":null,\"n\":-9223372036854775808,"
		"\"list\":[3,{},[true],\"own\"],\"copy\":{\"x\":[1.50]},\"ok\":false}");
	bt_strbuf_finish(&text);
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_json_value__partly_parsed)
{
	static const struct {
		const char *text;
		const char *raw; /* the text of member raw; NULL: the value is parsed */
	} rows[] = {
		{"{\"raw\":{\"a\":[1,{}]},\"b\":[2]}", "{\"a\":[1,{}]}"},
		{"{\"b\":[2],\"raw\":{\"a\":1} }", "{\"a\":1}"},
		{"{\"raw\":[{\"a\":1}]}", NULL},
		{"{\"raw\":\"{}\"}", NULL},
		{"{\"raw \":{\"a\":1}}", NULL},
	};
	struct bt_arena arena = {0};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_json_value *value;
		ck_assert_int_eq(bt_json_parse_partly(&arena, bt_str_from(rows[i].text),
					 BT_STR("raw"), &value, NULL),
			0);
		const struct bt_json_value *raw = bt_json_find(value, "raw");
		struct bt_strbuf written = {0};
		ck_assert_int_eq(raw != NULL && raw->type == BT_JSON_NUMBER, rows[i].raw != NULL);
		if (rows[i].raw != NULL) {
			ck_assert(bt_str_equal_c(raw->text, rows[i].raw));
		}
		bt_json_format(value, &written);
		ck_assert(bt_json_equal(
			parse(&arena, bt_strbuf_c(&written)), parse(&arena, rows[i].text)));
		bt_strbuf_finish(&written);
	}
	struct bt_json_value *value;
	ck_assert_int_eq(bt_json_parse_partly(
				 &arena, BT_STR("{\"raw\":{\"a\"}}"), BT_STR("raw"), &value, NULL),
		BERTH_ERR_SYNTAX);
	bt_arena_finish(&arena);
}
END_TEST

BT_TEST_MAIN("json_value", test_json_value__put_template, test_json_value__write_template,
	test_json_value__find, test_json_value__borrows_or_copies, test_json_value__equal,
	test_json_value__write_round_trip, test_json_value__many_siblings,
	test_json_value__partly_parsed)
