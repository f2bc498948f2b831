/* SPDX-License-Identifier: Apache-2.0 */
#include "base/strbuf.h"

#include <errno.h>

#include "base/alloc.h"
#include "test_main.h"

START_TEST(test_strbuf__empty_buffer_is_empty_text)
{
	struct bt_strbuf buffer = {0};
	char *text;

	ck_assert_str_eq(bt_strbuf_c(&buffer), "");
	ck_assert_ptr_nonnull(bt_strbuf_str(&buffer).data);
	ck_assert_uint_eq(bt_strbuf_str(&buffer).length, 0);
	bt_strbuf_append(&buffer, NULL, 0);
	bt_strbuf_append_str(&buffer, (struct bt_str){NULL, 0});
	bt_strbuf_reset(&buffer);
	text = bt_strbuf_steal(&buffer);
	ck_assert_str_eq(text, "");
	bt_free(text);
	bt_strbuf_finish(&buffer);
}
END_TEST

START_TEST(test_strbuf__grows_and_stays_terminated)
{
	struct bt_strbuf buffer = {0};

	for (int i = 0; i < 3000; i++) {
		bt_strbuf_append_char(&buffer, (char)('a' + i % 26));
		ck_assert_uint_eq(buffer.length, (size_t)i + 1);
		ck_assert_int_eq(buffer.data[i + 1], 0);
	}
	for (int i = 0; i < 3000; i++) {
		ck_assert_int_eq(buffer.data[i], 'a' + i % 26);
	}
	bt_strbuf_reset(&buffer);
	ck_assert_str_eq(bt_strbuf_c(&buffer), "");
	ck_assert_uint_ge(buffer.capacity, 3000);
	bt_strbuf_finish(&buffer);
	ck_assert_ptr_null(buffer.data);
}
END_TEST

START_TEST(test_strbuf__printf_of_every_length_around_the_capacity)
{
	for (int length = 0; length < 300; length++) {
		struct bt_strbuf buffer = {0};
		bt_strbuf_append_c(&buffer, "<");
		bt_strbuf_printf(&buffer, "%*s", length, "");
		bt_strbuf_printf(&buffer, ">%d", length);
		ck_assert_int_eq(buffer.data[0], '<');
		ck_assert_int_eq(buffer.data[length + 1], '>');
		ck_assert_uint_eq(buffer.length, strlen(buffer.data));
		bt_strbuf_finish(&buffer);
	}
}
END_TEST

START_TEST(test_strbuf__steal_leaves_an_empty_buffer)
{
	struct bt_strbuf buffer = {0};
	char *text;

	bt_strbuf_append_c(&buffer, "mine");
	text = bt_strbuf_steal(&buffer);
	ck_assert_str_eq(text, "mine");
	ck_assert_uint_eq(buffer.length, 0);
	ck_assert_ptr_null(buffer.data);
	bt_free(text);
}
END_TEST

START_TEST(test_strbuf__quoted_as_go)
{
	static const struct {
		struct bt_str text;
		const char *quoted;
	} rows[] = {
		{BT_STR_INIT(""), "\"\""},
		{BT_STR_INIT("plain 'text' ~"), "\"plain 'text' ~\""},
		{BT_STR_INIT("say \"hi\" \\"), "\"say \\\"hi\\\" \\\\\""},
		{BT_STR_INIT("\a\b\f\n\r\t\v"), "\"\\a\\b\\f\\n\\r\\t\\v\""},
		{BT_STR_INIT("\0\x01\x1f\x7f"), "\"\\x00\\x01\\x1f\\x7f\""},
		{BT_STR_INIT("\xc3\xa9\xe4\xb8\x96\xf0\x9f\x98\x80"),
			"\"\xc3\xa9\xe4\xb8\x96\xf0\x9f\x98\x80\""},
		{BT_STR_INIT("\xff\xc3"), "\"\\xff\\xc3\""},
		{BT_STR_INIT("\xc3(\xe2\x82"), "\"\\xc3(\\xe2\\x82\""},
		{BT_STR_INIT("\xed\xa0\x80"), "\"\\xed\\xa0\\x80\""},
		{BT_STR_INIT("\xc0\xaf"), "\"\\xc0\\xaf\""},
		{BT_STR_INIT("\xf4\x90\x80\x80"), "\"\\xf4\\x90\\x80\\x80\""},
		{BT_STR_INIT("\xc2\x80\xc2\x9f\xc2\xa0"), "\"\\u0080\\u009f\\u00a0\""},
		{BT_STR_INIT("\xc2\xa1\xc2\xad"), "\"\xc2\xa1\\u00ad\""},
		{BT_STR_INIT("\xef\xbf\xbd"), "\"\xef\xbf\xbd\""},
		{BT_STR_INIT("\xe2\x80\x8b\xe2\x80\xae\xe2\x81\xa0\xef\xbb\xbf"),
			"\"\\u200b\\u202e\\u2060\\ufeff\""},
		{BT_STR_INIT("\xee\x80\x80"), "\"\\ue000\""},
		{BT_STR_INIT("\xf3\xb0\x80\x80\xf4\x8f\xbf\xbf"), "\"\\U000f0000\\U0010ffff\""},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_strbuf buffer = {0};
		bt_strbuf_append_quoted(&buffer, rows[i].text);
		ck_assert_msg(strcmp(bt_strbuf_c(&buffer), rows[i].quoted) == 0,
			"row %zu: %s instead of %s", i, bt_strbuf_c(&buffer), rows[i].quoted);
		bt_strbuf_finish(&buffer);
	}
}
END_TEST

START_TEST(test_strbuf__lower_changes_letters_of_ascii_only)
{
	struct bt_strbuf buffer = {0};

	bt_strbuf_append_lower(&buffer, BT_STR("GET @[`{ \xc3\x84z"));
	ck_assert_str_eq(bt_strbuf_c(&buffer), "get @[`{ \xc3\x84z");
	bt_strbuf_finish(&buffer);
}
END_TEST

START_TEST(test_strbuf__uuid_is_of_version_4)
{
	struct bt_strbuf buffer = {0};

	bt_strbuf_append_uuid(&buffer, UINT64_C(0x0123456789abcdef), UINT64_C(0xfedcba9876543210));
	bt_strbuf_append_char(&buffer, ' ');
	bt_strbuf_append_uuid(&buffer, 0, 0);
	ck_assert_str_eq(bt_strbuf_c(&buffer),
		"01234567-89ab-4def-bedc-ba9876543210 "
		"00000000-0000-4000-8000-000000000000");
	bt_strbuf_finish(&buffer);
}
END_TEST

START_TEST(test_strbuf__errno_as_go)
{
	struct bt_strbuf buffer = {0};

	bt_strbuf_append_errno(&buffer, EACCES);
	ck_assert_str_eq(bt_strbuf_c(&buffer), "permission denied");
	bt_strbuf_append_errno(&buffer, ENFILE);
	ck_assert_str_eq(bt_strbuf_c(&buffer), "permission deniedtoo many open files in system");
	bt_strbuf_reset(&buffer);
	bt_strbuf_append_errno(&buffer, EXFULL);
	ck_assert_str_eq(bt_strbuf_c(&buffer), "exchange full");
	bt_strbuf_finish(&buffer);
}
END_TEST

BT_TEST_MAIN("strbuf", test_strbuf__empty_buffer_is_empty_text,
	test_strbuf__grows_and_stays_terminated,
	test_strbuf__printf_of_every_length_around_the_capacity,
	test_strbuf__steal_leaves_an_empty_buffer, test_strbuf__quoted_as_go,
	test_strbuf__lower_changes_letters_of_ascii_only, test_strbuf__uuid_is_of_version_4,
	test_strbuf__errno_as_go)
