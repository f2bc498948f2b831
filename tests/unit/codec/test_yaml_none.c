/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/yaml.h"

#include "test_main.h"

START_TEST(test_yaml_none__json_is_the_only_document)
{
	struct bt_yaml_reader *reader = bt_yaml_reader_create(BT_STR("\n {\"a\": 1}\n"), NULL);
	struct bt_strbuf out = {0};
	bool more = false;
	ck_assert_int_eq(bt_yaml_next_document(reader, &out, &more, NULL), 0);
	ck_assert(more);
	ck_assert_str_eq(bt_strbuf_c(&out), "{\"a\": 1}");
	ck_assert_int_eq(bt_yaml_next_document(reader, &out, &more, NULL), 0);
	ck_assert(!more);
	bt_yaml_reader_destroy(reader);
	bt_yaml_reader_destroy(NULL);

	bt_strbuf_reset(&out);
	ck_assert_int_eq(bt_yaml_first_document(BT_STR(" \n"), NULL, &out, NULL), 0);
	ck_assert_uint_eq(out.length, 0);
	bt_strbuf_finish(&out);
}
END_TEST

START_TEST(test_yaml_none__other_yaml_is_refused)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_strbuf out = {0};
	ck_assert_int_eq(
		bt_yaml_first_document(BT_STR("a: 1\n"), NULL, &out, &err), BERTH_ERR_SYNTAX);
	ck_assert_str_eq(berth_error_message(&err), "not JSON, and berth was built without YAML");
	ck_assert_uint_eq(out.length, 0);
	berth_error_finish(&err);
}
END_TEST

START_TEST(test_yaml_none__json_is_written_as_it_is)
{
	struct bt_strbuf out = {0};
	ck_assert_int_eq(bt_yaml_from_json(BT_STR("{\"a\":1}"), &out, NULL), 0);
	ck_assert_str_eq(bt_strbuf_c(&out), "{\"a\":1}\n");
	bt_strbuf_finish(&out);
}
END_TEST

BT_TEST_MAIN("yaml_none", test_yaml_none__json_is_the_only_document,
	test_yaml_none__other_yaml_is_refused, test_yaml_none__json_is_written_as_it_is)
