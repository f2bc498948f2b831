/* SPDX-License-Identifier: Apache-2.0 */
#include "framework/status.h"

#include "framework/cycle_state.h"
#include "test_main.h"

START_TEST(test_status__codes)
{
	ck_assert_str_eq(bt_status_code_name(BT_STATUS_SUCCESS), "Success");
	ck_assert_str_eq(bt_status_code_name(BT_STATUS_ERROR), "Error");
	ck_assert_str_eq(bt_status_code_name(BT_STATUS_UNSCHEDULABLE), "Unschedulable");
	ck_assert_str_eq(bt_status_code_name(BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE),
		"UnschedulableAndUnresolvable");
	ck_assert_str_eq(bt_status_code_name(BT_STATUS_WAIT), "Wait");
	ck_assert_str_eq(bt_status_code_name(BT_STATUS_SKIP), "Skip");
	ck_assert_str_eq(bt_status_code_name(BT_STATUS_PENDING), "Pending");
	ck_assert_int_eq(BT_STATUS_PENDING, 6);
}
END_TEST

static void expect_message(const struct bt_status *status, const char *expected)
{
	struct bt_strbuf text = {0};

	bt_status_message(status, &text);
	ck_assert_str_eq(bt_strbuf_c(&text), expected);
	bt_strbuf_finish(&text);
}

START_TEST(test_status__message_joins_error_and_reasons)
{
	struct bt_arena arena = {0};
	struct bt_status status = bt_status_error_text(&arena, BT_STR("boom"));

	bt_status_append_reason(&status, &arena, BT_STR("a"));
	bt_status_append_reason(&status, &arena, BT_STR("b"));
	expect_message(&status, "boom, a, b");
	ck_assert_uint_eq(bt_status_all_reason_count(&status), 3);
	ck_assert(bt_str_equal_c(bt_status_all_reason_at(&status, 0), "boom"));
	ck_assert(bt_str_equal_c(bt_status_all_reason_at(&status, 2), "b"));
	expect_message(&BT_STATUS_OK, "");
	status = bt_status_printf(BT_STATUS_UNSCHEDULABLE, &arena, "%d of %s", 3, "%s");
	expect_message(&status, "3 of %s");
	status = bt_status_reason(BT_STATUS_UNSCHEDULABLE, BT_REASON_TOO_MANY_PODS);
	expect_message(&status, "Too many pods");
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_status__as_error)
{
	struct bt_arena arena = {0};
	struct bt_str text = BT_STR("untouched");
	struct bt_status status = bt_status_code_only(BT_STATUS_SKIP);

	ck_assert(!bt_status_as_error(&status, &arena, &text));
	ck_assert(bt_str_equal_c(text, "untouched"));
	status = bt_status_code_only(BT_STATUS_WAIT);
	ck_assert(!bt_status_as_error(&status, &arena, &text));
	ck_assert(!bt_status_as_error(&BT_STATUS_OK, &arena, &text));

	/* An error is returned without the reasons around it; reasons alone are joined. */
	status = bt_status_error_text(&arena, BT_STR("boom"));
	bt_status_append_reason(&status, &arena, BT_STR("a"));
	ck_assert(bt_status_as_error(&status, &arena, &text));
	ck_assert(bt_str_equal_c(text, "boom"));
	status = bt_status_text(BT_STATUS_PENDING, &arena, BT_STR("a"));
	bt_status_append_reason(&status, &arena, BT_STR("b"));
	ck_assert(bt_status_as_error(&status, &arena, &text));
	ck_assert(bt_str_equal_c(text, "a, b"));
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_status__from_error_takes_it)
{
	struct bt_arena arena = {0};
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_status status;

	(void)bt_error_set(&err, BERTH_ERR_IO, "disk %d", 7);
	status = bt_status_from_error(&arena, &err);
	ck_assert_int_eq(err.code, BERTH_OK);
	ck_assert_int_eq(status.code, BT_STATUS_ERROR);
	expect_message(&status, "disk 7");
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_status__equality)
{
	struct bt_arena arena = {0};
	struct bt_arena other_arena = {0};
	struct bt_status with_reason = bt_status_text(BT_STATUS_SUCCESS, &arena, BT_STR(""));
	struct bt_status a = bt_status_text(BT_STATUS_UNSCHEDULABLE, &arena, BT_STR("x"));
	struct bt_status b = bt_status_copy(&a, &other_arena);

	ck_assert(bt_status_equal(&with_reason, &BT_STATUS_OK));
	ck_assert(bt_status_equal(&a, &b));
	ck_assert_ptr_ne(a.reasons[0].data, b.reasons[0].data);
	b.plugin = 1;
	ck_assert(!bt_status_equal(&a, &b));
	b = bt_status_text(BT_STATUS_UNSCHEDULABLE, &arena, BT_STR("y"));
	ck_assert(!bt_status_equal(&a, &b));
	b = bt_status_text(BT_STATUS_PENDING, &arena, BT_STR("x"));
	ck_assert(!bt_status_equal(&a, &b));
	a = bt_status_error_text(&arena, BT_STR("x"));
	b = bt_status_error_text(&arena, BT_STR("y"));
	ck_assert(!bt_status_equal(&a, &b));
	ck_assert(bt_status_is_success(&with_reason));
	bt_arena_finish(&arena);
	bt_arena_finish(&other_arena);
}
END_TEST

static void *clone_number(const void *data, struct bt_arena *arena)
{
	int *copy = BT_ARENA_NEW(arena, int);

	*copy = *(const int *)data;
	return copy;
}

START_TEST(test_status__cycle_state_storage)
{
	struct bt_arena arena = {0};
	struct bt_cycle_state cycle;
	struct bt_cycle_state clone;
	struct berth_error err = BERTH_ERROR_INIT;
	int owned = 1;
	int shared = 2;
	void *found = NULL;

	bt_cycle_state_init(&cycle, &arena, 3);
	ck_assert_int_eq(
		bt_cycle_state_read(&cycle, BT_STR("k"), &found, &err), BERTH_ERR_NOT_FOUND);
	ck_assert_str_eq(berth_error_message(&err), "not found");
	berth_error_finish(&err);
	bt_cycle_state_write(&cycle, BT_STR("k"), &owned, clone_number);
	bt_cycle_state_write(&cycle, BT_STR("s"), &shared, NULL);
	bt_plugin_set_add(&cycle.skip_filter, 2);
	cycle.pre_filter_data[1] = &shared;
	bt_cycle_state_clone(&cycle, &clone);
	owned = 10;
	shared = 20;
	ck_assert_int_eq(bt_cycle_state_read(&clone, BT_STR("k"), &found, NULL), BERTH_OK);
	ck_assert_int_eq(*(int *)found, 1);
	ck_assert_int_eq(bt_cycle_state_read(&clone, BT_STR("s"), &found, NULL), BERTH_OK);
	ck_assert_int_eq(*(int *)found, 20);
	ck_assert(bt_plugin_set_has(&clone.skip_filter, 2));
	ck_assert_ptr_eq(clone.pre_filter_data[1], &shared);
	bt_cycle_state_delete(&clone, BT_STR("k"));
	bt_cycle_state_delete(&clone, BT_STR("k"));
	ck_assert_int_eq(
		bt_cycle_state_read(&clone, BT_STR("k"), &found, NULL), BERTH_ERR_NOT_FOUND);
	bt_cycle_state_write(&cycle, BT_STR("k"), &shared, NULL);
	ck_assert_int_eq(bt_cycle_state_read(&cycle, BT_STR("k"), &found, NULL), BERTH_OK);
	ck_assert_int_eq(*(int *)found, 20);
	bt_cycle_state_finish(&clone);
	bt_cycle_state_finish(&cycle);
	bt_arena_finish(&arena);
}
END_TEST

BT_TEST_MAIN("status", test_status__codes, test_status__message_joins_error_and_reasons,
	test_status__as_error, test_status__from_error_takes_it, test_status__equality,
	test_status__cycle_state_storage)
