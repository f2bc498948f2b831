/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"

#include <string.h>

#include "test_main.h"

START_TEST(test_alloc__size_zero_is_a_pointer)
{
	void *a = bt_malloc(0);
	void *b = bt_calloc(0, 8);
	void *c = bt_realloc_array(NULL, 0, 8);

	ck_assert_ptr_nonnull(a);
	ck_assert_ptr_nonnull(b);
	ck_assert_ptr_nonnull(c);
	ck_assert_ptr_ne(a, b);
	bt_free(a);
	bt_free(b);
	bt_free(c);
	bt_free(NULL);
}
END_TEST

START_TEST(test_alloc__calloc_zeroes_and_realloc_keeps)
{
	unsigned char *bytes = BT_NEW_ARRAY(unsigned char, 300);

	for (int i = 0; i < 300; i++) {
		ck_assert_uint_eq(bytes[i], 0);
		bytes[i] = (unsigned char)i;
	}
	bytes = bt_realloc_array(bytes, 3000, 1);
	for (int i = 0; i < 300; i++) {
		ck_assert_uint_eq(bytes[i], (unsigned char)i);
	}
	bt_free(bytes);
}
END_TEST

START_TEST(test_alloc__strndup_copies_zero_bytes)
{
	char *copy = bt_strndup("a\0bc", 3);
	char *empty = bt_strndup(NULL, 0);

	ck_assert_int_eq(memcmp(copy, "a\0b", 4), 0);
	ck_assert_str_eq(empty, "");
	bt_free(copy);
	bt_free(empty);
}
END_TEST

BT_TEST_MAIN("alloc", test_alloc__size_zero_is_a_pointer,
	test_alloc__calloc_zeroes_and_realloc_keeps, test_alloc__strndup_copies_zero_bytes)
