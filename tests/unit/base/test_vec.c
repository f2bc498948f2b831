/* SPDX-License-Identifier: Apache-2.0 */
#include "base/vec.h"

#include "test_main.h"

struct numbers {
	BT_VEC(int) list;
};

START_TEST(test_vec__push_and_remove)
{
	struct numbers numbers = {0};

	for (int i = 0; i < 1000; i++) {
		bt_vec_push(&numbers.list, i);
	}
	ck_assert_uint_eq(numbers.list.count, 1000);
	ck_assert_int_eq(numbers.list.items[999], 999);
	bt_vec_remove_swap(&numbers.list, 0);
	ck_assert_int_eq(numbers.list.items[0], 999);
	bt_vec_remove_ordered(&numbers.list, 1);
	ck_assert_int_eq(numbers.list.items[1], 2);
	ck_assert_int_eq(numbers.list.items[997], 998);
	ck_assert_uint_eq(numbers.list.count, 998);
	bt_vec_remove_ordered(&numbers.list, 997);
	bt_vec_remove_swap(&numbers.list, 996);
	ck_assert_uint_eq(numbers.list.count, 996);
	bt_vec_finish(&numbers.list);
	ck_assert_ptr_null(numbers.list.items);
}
END_TEST

START_TEST(test_vec__capacity_grows_geometrically)
{
	ck_assert_uint_eq(bt_vec_grown_capacity(0, 1), 8);
	ck_assert_uint_eq(bt_vec_grown_capacity(8, 9), 16);
	ck_assert_uint_eq(bt_vec_grown_capacity(8, 100), 100);
	ck_assert_uint_eq(
		bt_vec_grown_capacity(UINT32_C(1) << 31, (UINT64_C(1) << 31) + 1), UINT32_MAX);
	ck_assert_uint_eq(bt_vec_grown_capacity(8, UINT32_MAX), UINT32_MAX);
}
END_TEST

BT_TEST_MAIN("vec", test_vec__push_and_remove, test_vec__capacity_grows_geometrically)
