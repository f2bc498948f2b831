/* SPDX-License-Identifier: Apache-2.0 */
/* JSON Patch: the examples of RFC 6902 appendix A, limits, hostile patches. Spec: 14 12.1. */
#include "codec/json_patch.h"

#include "test_main.h"

static struct bt_json_value *parsed(struct bt_arena *arena, const char *text)
{
	struct bt_json_value *value = NULL;
	ck_assert_int_eq(bt_json_parse(arena, bt_str_from(text), true, &value, NULL), 0);
	return value;
}

struct row {
	const char *name;
	const char *document;
	const char *patch;
	const char *result; /* NULL: fails */
	int code;
};

static const struct row rows[] = {
	{"a1_add_member", "{\"foo\":\"bar\"}",
		"[{\"op\":\"add\",\"path\":\"/baz\",\"value\":\"qux\"}]",
		"{\"baz\":\"qux\",\"foo\":\"bar\"}", 0},
	{"a2_add_element", "{\"foo\":[\"bar\",\"baz\"]}",
		"[{\"op\":\"add\",\"path\":\"/foo/1\",\"value\":\"qux\"}]",
		"{\"foo\":[\"bar\",\"qux\",\"baz\"]}", 0},
	{"a3_remove_member", "{\"baz\":\"qux\",\"foo\":\"bar\"}",
		"[{\"op\":\"remove\",\"path\":\"/baz\"}]", "{\"foo\":\"bar\"}", 0},
	{"a4_remove_element", "{\"foo\":[\"bar\",\"qux\",\"baz\"]}",
		"[{\"op\":\"remove\",\"path\":\"/foo/1\"}]", "{\"foo\":[\"bar\",\"baz\"]}", 0},
	{"a5_replace", "{\"baz\":\"qux\",\"foo\":\"bar\"}",
		"[{\"op\":\"replace\",\"path\":\"/baz\",\"value\":\"boo\"}]",
		"{\"baz\":\"boo\",\"foo\":\"bar\"}", 0},
	{"a6_move", "{\"foo\":{\"bar\":\"baz\",\"waldo\":\"fred\"},\"qux\":{\"corge\":\"grault\"}}",
		"[{\"op\":\"move\",\"from\":\"/foo/waldo\",\"path\":\"/qux/thud\"}]",
		"{\"foo\":{\"bar\":\"baz\"},\"qux\":{\"corge\":\"grault\",\"thud\":\"fred\"}}", 0},
	{"a7_move_element", "{\"foo\":[\"all\",\"grass\",\"cows\",\"eat\"]}",
		"[{\"op\":\"move\",\"from\":\"/foo/1\",\"path\":\"/foo/3\"}]",
		"{\"foo\":[\"all\",\"cows\",\"eat\",\"grass\"]}", 0},
	{"a8_test", "{\"baz\":\"qux\",\"foo\":[\"a\",2,\"c\"]}",
		"[{\"op\":\"test\",\"path\":\"/baz\",\"value\":\"qux\"},"
		"{\"op\":\"test\",\"path\":\"/foo/1\",\"value\":2}]",
		"{\"baz\":\"qux\",\"foo\":[\"a\",2,\"c\"]}", 0},
	{"a9_test_fails", "{\"baz\":\"qux\"}",
		"[{\"op\":\"test\",\"path\":\"/baz\",\"value\":\"bar\"}]", NULL, BERTH_ERR_INVALID},
	{"a10_add_nested", "{\"foo\":\"bar\"}",
		"[{\"op\":\"add\",\"path\":\"/child\",\"value\":{\"grandchild\":{}}}]",
		"{\"foo\":\"bar\",\"child\":{\"grandchild\":{}}}", 0},
	{"a11_unknown_member", "{\"foo\":\"bar\"}",
		"[{\"op\":\"add\",\"path\":\"/baz\",\"value\":\"qux\",\"xyz\":123}]",
		"{\"foo\":\"bar\",\"baz\":\"qux\"}", 0},
	{"a12_no_parent", "{\"foo\":\"bar\"}",
		"[{\"op\":\"add\",\"path\":\"/baz/bat\",\"value\":\"qux\"}]", NULL,
		BERTH_ERR_INVALID},
	{"a14_escapes", "{\"/\":9,\"~1\":10}", "[{\"op\":\"test\",\"path\":\"/~01\",\"value\":10}]",
		"{\"/\":9,\"~1\":10}", 0},
	{"a15_text_is_no_number", "{\"~1\":10}",
		"[{\"op\":\"test\",\"path\":\"/~01\",\"value\":\"10\"}]", NULL, BERTH_ERR_INVALID},
	{"a16_append", "{\"foo\":[\"bar\"]}",
		"[{\"op\":\"add\",\"path\":\"/foo/-\",\"value\":[\"abc\",\"def\"]}]",
		"{\"foo\":[\"bar\",[\"abc\",\"def\"]]}", 0},
	{"copy", "{\"a\":{\"b\":[1]}}",
		"[{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/c\"},"
		"{\"op\":\"add\",\"path\":\"/c/b/0\",\"value\":0}]",
		"{\"a\":{\"b\":[1]},\"c\":{\"b\":[0,1]}}", 0},
	{"whole_document", "{\"a\":1}",
		"[{\"op\":\"replace\",\"path\":\"\",\"value\":{\"b\":2}},"
		"{\"op\":\"add\",\"path\":\"/c\",\"value\":3}]",
		"{\"b\":2,\"c\":3}", 0},
	{"numbers_by_value", "{\"a\":1}", "[{\"op\":\"test\",\"path\":\"/a\",\"value\":1.0}]",
		"{\"a\":1}", 0},
	{"test_null_of_absent", "{\"a\":1}", "[{\"op\":\"test\",\"path\":\"/b\",\"value\":null}]",
		"{\"a\":1}", 0},
	{"remove_missing", "{}", "[{\"op\":\"remove\",\"path\":\"/a\"}]", NULL, BERTH_ERR_INVALID},
	{"replace_missing", "{}", "[{\"op\":\"replace\",\"path\":\"/a\",\"value\":1}]", NULL,
		BERTH_ERR_INVALID},
	{"index_behind_end", "{\"a\":[]}", "[{\"op\":\"add\",\"path\":\"/a/1\",\"value\":1}]", NULL,
		BERTH_ERR_INVALID},
	{"leading_zero", "{\"a\":[1,2]}", "[{\"op\":\"remove\",\"path\":\"/a/01\"}]", NULL,
		BERTH_ERR_INVALID},
	{"move_into_itself", "{\"a\":{\"b\":{}}}",
		"[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/a/b/c\"}]", NULL, BERTH_ERR_INVALID},
	{"unknown_operation", "{}", "[{\"op\":\"fold\",\"path\":\"/a\",\"value\":1}]", NULL,
		BERTH_ERR_INVALID},
	{"no_value", "{}", "[{\"op\":\"add\",\"path\":\"/a\"}]", NULL, BERTH_ERR_INVALID},
	{"no_path", "{}", "[{\"op\":\"add\",\"value\":1}]", NULL, BERTH_ERR_INVALID},
	{"relative_path", "{}", "[{\"op\":\"add\",\"path\":\"a\",\"value\":1}]", NULL,
		BERTH_ERR_INVALID},
	{"text_has_no_members", "{\"a\":\"x\"}", "[{\"op\":\"remove\",\"path\":\"/a/b\"}]", NULL,
		BERTH_ERR_INVALID},
	{"no_list", "{}", "{\"op\":\"add\"}", NULL, BERTH_ERR_SYNTAX},
	{"no_operation", "{}", "[1]", NULL, BERTH_ERR_SYNTAX},
};

START_TEST(test_json_patch__table)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i];
		struct bt_arena arena = {0};
		struct bt_json_value *result = NULL;
		int code = bt_json_patch(&arena, parsed(&arena, row->document),
			parsed(&arena, row->patch), &result, NULL);
		ck_assert_msg(code == row->code, "%s: %d", row->name, code);
		ck_assert_msg(
			row->result == NULL || bt_json_same(result, parsed(&arena, row->result)),
			"%s: another result", row->name);
		bt_arena_finish(&arena);
	}
}
END_TEST

START_TEST(test_json_patch__words_for_what_is_no_list)
{
	struct bt_arena arena = {0};
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_json_value *result = NULL;
	ck_assert_int_eq(
		bt_json_patch(&arena, parsed(&arena, "{}"), parsed(&arena, "{}"), &result, &err),
		BERTH_ERR_SYNTAX);
	ck_assert_str_eq(berth_error_message(&err),
		"json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp");
	ck_assert_ptr_null(result);
	berth_error_finish(&err);
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_json_patch__edge_14_24_test_failure)
{
	struct bt_arena arena = {0};
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_json_value *result = NULL;
	ck_assert_int_eq(bt_json_patch(&arena, parsed(&arena, "{\"a\":1}"),
				 parsed(&arena,
					 "[{\"op\":\"add\",\"path\":\"/b\",\"value\":1},"
					 "{\"op\":\"test\",\"path\":\"/a\",\"value\":2}]"),
				 &result, &err),
		BERTH_ERR_INVALID);
	ck_assert_str_eq(berth_error_message(&err), "operation 1: testing path /a failed");
	ck_assert_ptr_null(result);
	berth_error_finish(&err);
	bt_arena_finish(&arena);
}
END_TEST

/** Applies a patch that repeats the operation count times; returns the result code. */
static int repeated(const char *document, const char *operation, int count)
{
	struct bt_arena arena = {0};
	struct bt_strbuf text = {0};
	struct bt_json_value *result = NULL;
	for (int i = 0; i < count; i++) {
		bt_strbuf_append_c(&text, i == 0 ? "[" : ",");
		bt_strbuf_append_c(&text, operation);
	}
	bt_strbuf_append_c(&text, "]");
	int code = bt_json_patch(&arena, parsed(&arena, document),
		parsed(&arena, bt_strbuf_c(&text)), &result, NULL);
	bt_strbuf_finish(&text);
	bt_arena_finish(&arena);
	return code;
}

START_TEST(test_json_patch__limits)
{
	const char *test = "{\"op\":\"test\",\"path\":\"/a\",\"value\":1}";
	ck_assert_int_eq(repeated("{\"a\":1}", test, 10000), 0);
	ck_assert_int_eq(repeated("{\"a\":1}", test, 10001), BERTH_ERR_TOO_LARGE);
	/* each copy doubles the document */
	ck_assert_int_eq(repeated("{\"a\":[1,2,3]}",
				 "{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/a/-\"}", 100),
		BERTH_ERR_TOO_LARGE);
	/* each operation adds one level: 480 levels are allowed, 600 are not */
	ck_assert_int_eq(
		repeated("{\"a\":{}}", "{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/a/a\"}", 480),
		0);
	ck_assert_int_eq(
		repeated("{\"a\":{}}", "{\"op\":\"copy\",\"from\":\"\",\"path\":\"/a\"}", 600),
		BERTH_ERR_TOO_LARGE);
}
END_TEST

BT_TEST_MAIN("json_patch", test_json_patch__table, test_json_patch__words_for_what_is_no_list,
	test_json_patch__edge_14_24_test_failure, test_json_patch__limits)
