/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

#include <string.h>

#include "test_main.h"

START_TEST(test_error__set_formats_and_returns_the_code)
{
	struct berth_error err = BERTH_ERROR_INIT;

	ck_assert_int_eq(bt_error_set(&err, BERTH_ERR_INVALID, "field %s: %d", "spec", 7),
		BERTH_ERR_INVALID);
	ck_assert_int_eq(err.code, BERTH_ERR_INVALID);
	ck_assert_str_eq(berth_error_message(&err), "field spec: 7");
	berth_error_finish(&err);
	ck_assert_int_eq(err.code, BERTH_OK);
	ck_assert_ptr_null(err.message);
	berth_error_finish(&err);
}
END_TEST

START_TEST(test_error__null_is_accepted_everywhere)
{
	struct berth_error src = BERTH_ERROR_INIT;

	ck_assert_int_eq(bt_error_set(NULL, BERTH_ERR_IO, "lost"), BERTH_ERR_IO);
	ck_assert_int_eq(bt_error_wrap(NULL, BERTH_ERR_IO, "lost"), BERTH_ERR_IO);
	ck_assert_str_eq(berth_error_message(NULL), "");
	berth_error_finish(NULL);
	(void)bt_error_set(&src, BERTH_ERR_SYNTAX, "dropped");
	ck_assert_int_eq(bt_error_move(NULL, &src), BERTH_ERR_SYNTAX);
	ck_assert_ptr_null(src.message);
}
END_TEST

START_TEST(test_error__wrap_prefixes_outside_in)
{
	struct berth_error err = BERTH_ERROR_INIT;

	ck_assert_int_eq(bt_error_wrap(&err, BERTH_ERR_STATE, "nothing"), BERTH_ERR_STATE);
	ck_assert_int_eq(err.code, BERTH_OK);
	(void)bt_error_set(&err, BERTH_ERR_NOT_FOUND, "no key %%s");
	ck_assert_int_eq(bt_error_wrap(&err, BERTH_ERR_IO, "line %d", 3), BERTH_ERR_NOT_FOUND);
	ck_assert_int_eq(bt_error_wrap(&err, BERTH_ERR_IO, "a.yaml"), BERTH_ERR_NOT_FOUND);
	ck_assert_str_eq(berth_error_message(&err), "a.yaml: line 3: no key %s");
	berth_error_finish(&err);
}
END_TEST

START_TEST(test_error__move_empties_the_source)
{
	struct berth_error src = BERTH_ERROR_INIT;
	struct berth_error dst = BERTH_ERROR_INIT;

	(void)bt_error_set(&src, BERTH_ERR_EXISTS, "twice");
	ck_assert_int_eq(bt_error_move(&dst, &src), BERTH_ERR_EXISTS);
	ck_assert_int_eq(src.code, BERTH_OK);
	ck_assert_ptr_null(src.message);
	ck_assert_str_eq(berth_error_message(&dst), "twice");
	berth_error_finish(&dst);
}
END_TEST

START_TEST(test_error__long_message)
{
	struct berth_error err = BERTH_ERROR_INIT;
	char text[5000];

	memset(text, 'x', sizeof(text));
	(void)bt_error_set(&err, BERTH_ERR_INVALID, "<%.*s>", (int)sizeof(text), text);
	ck_assert_uint_eq(strlen(berth_error_message(&err)), sizeof(text) + 2);
	ck_assert_int_eq(err.message[sizeof(text) + 1], '>');
	berth_error_finish(&err);
}
END_TEST

BT_TEST_MAIN("error", test_error__set_formats_and_returns_the_code,
	test_error__null_is_accepted_everywhere, test_error__wrap_prefixes_outside_in,
	test_error__move_empties_the_source, test_error__long_message)
