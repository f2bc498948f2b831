/* SPDX-License-Identifier: Apache-2.0 */
/** Spec 02 sections 1 and 18. */
#include "berth/status.h"

#include <stddef.h>

#include "test_main.h"

#define CHECK_TEXT(text, expected) \
	do { \
		struct berth_str checked = (text); \
		ck_assert_msg(berth_str_equal_c(checked, (expected)), "\"%.*s\" is not \"%s\"", \
			BERTH_STR_ARG(checked), (expected)); \
	} while (0)

/* seed-map 001.7 to 001.14 */
START_TEST(test_status__codes_have_upstream_numbers_and_names)
{
	static const char *const names[] = {"Success", "Error", "Unschedulable",
		"UnschedulableAndUnresolvable", "Wait", "Skip", "Pending"};
	static const enum berth_code codes[] = {BERTH_CODE_SUCCESS, BERTH_CODE_ERROR,
		BERTH_CODE_UNSCHEDULABLE, BERTH_CODE_UNSCHEDULABLE_AND_UNRESOLVABLE,
		BERTH_CODE_WAIT, BERTH_CODE_SKIP, BERTH_CODE_PENDING};

	for (int i = 0; i < 7; i++) {
		ck_assert_int_eq((int)codes[i], i);
		ck_assert_str_eq(berth_code_string(codes[i]), names[i]);
	}
	ck_assert_str_eq(berth_code_string((enum berth_code)7), "");
}
END_TEST

/* seed-map 001.15, 001.16, 001.17, 001.22, 001.23 */
START_TEST(test_status__reasons_and_message)
{
	struct berth_arena *arena = berth_arena_create();
	const struct berth_str reasons[] = {BERTH_STR("one"), BERTH_STR("two")};
	struct berth_status status = berth_status_make(arena, BERTH_CODE_UNSCHEDULABLE, reasons, 2);
	uint32_t count = 0;

	ck_assert_uint_eq(status.reason_count, 2);
	berth_status_append_reason(&status, arena, BERTH_STR("three"));
	CHECK_TEXT(berth_status_message(&status, arena), "one, two, three");

	const struct berth_str *all = berth_status_reasons(&status, arena, &count);

	ck_assert_uint_eq(count, 3);
	CHECK_TEXT(all[2], "three");
	status.has_error = true;
	status.error_text = BERTH_STR("broken");
	CHECK_TEXT(berth_status_message(&status, arena), "broken, one, two, three");
	all = berth_status_reasons(&status, arena, &count);
	ck_assert_uint_eq(count, 4);
	CHECK_TEXT(all[0], "broken");
	CHECK_TEXT(berth_status_message(NULL, arena), "");
	status = berth_status_printf(arena, BERTH_CODE_WAIT, "%d of %d", 1, 3);
	CHECK_TEXT(berth_status_message(&status, arena), "1 of 3");
	status = berth_status_reason(arena, BERTH_CODE_SKIP, NULL);
	ck_assert_uint_eq(status.reason_count, 0);
	berth_arena_destroy(arena);
}
END_TEST

/* seed-map 001.19, 001.20, 001.21, 001.139 */
START_TEST(test_status__questions_about_the_code)
{
	struct berth_status success = BERTH_STATUS_SUCCESS;

	ck_assert_int_eq(berth_status_code(NULL), BERTH_CODE_SUCCESS);
	ck_assert(berth_status_is_success(NULL));
	ck_assert(berth_status_is_success(&success));
	ck_assert(!berth_status_is_unschedulable(NULL));
	for (int code = 0; code <= 6; code++) {
		struct berth_status status = {.code = (uint8_t)code};
		bool rejected = code == BERTH_CODE_UNSCHEDULABLE ||
			code == BERTH_CODE_UNSCHEDULABLE_AND_UNRESOLVABLE ||
			code == BERTH_CODE_PENDING;

		ck_assert_int_eq((int)berth_status_code(&status), code);
		ck_assert_int_eq(berth_status_is_success(&status), code == 0);
		ck_assert_int_eq(berth_status_is_rejected(&status), rejected);
		ck_assert_int_eq(berth_status_is_unschedulable(&status), rejected);
	}
}
END_TEST

/* seed-map 001.18 */
START_TEST(test_status__as_error)
{
	struct berth_arena *arena = berth_arena_create();
	struct berth_error err = BERTH_ERROR_INIT;
	struct berth_status status = berth_status_reason(arena, BERTH_CODE_UNSCHEDULABLE, "full");

	ck_assert_int_eq(berth_status_as_error(NULL, &err), 0);
	ck_assert_int_eq(berth_status_as_error(&status, &err), BERTH_ERR_INTERNAL);
	ck_assert_str_eq(berth_error_message(&err), "full");
	berth_error_finish(&err);
	status.code = BERTH_CODE_WAIT;
	ck_assert_int_eq(berth_status_as_error(&status, &err), 0);
	status.code = BERTH_CODE_SKIP;
	ck_assert_int_eq(berth_status_as_error(&status, &err), 0);
	ck_assert_int_eq(err.code, BERTH_OK);
	ck_assert_int_eq(berth_error_set(&err, BERTH_ERR_IO, "lost %s", "disk"), BERTH_ERR_IO);
	status = berth_status_from_error(arena, &err);
	berth_error_finish(&err);
	ck_assert_int_eq(status.code, BERTH_CODE_ERROR);
	ck_assert_uint_eq(status.reason_count, 0);
	ck_assert_int_eq(berth_status_as_error(&status, &err), BERTH_ERR_INTERNAL);
	ck_assert_str_eq(berth_error_message(&err), "lost disk");
	berth_error_finish(&err);
	status = berth_status_from_error(arena, NULL);
	ck_assert(berth_status_is_success(&status));
	berth_arena_destroy(arena);
}
END_TEST

START_TEST(test_status__equal_and_copy)
{
	struct berth_arena *arena = berth_arena_create();
	struct berth_arena *other = berth_arena_create();
	struct berth_status status = berth_status_reason(arena, BERTH_CODE_UNSCHEDULABLE, "full");
	struct berth_status copy = berth_status_copy(&status, other);

	ck_assert(berth_status_equal(&status, &copy));
	ck_assert(berth_status_equal(NULL, NULL));
	ck_assert(!berth_status_equal(&status, NULL));
	berth_arena_reset(arena);
	CHECK_TEXT(berth_status_message(&copy, other), "full");
	berth_arena_destroy(arena);
	berth_arena_destroy(other);
}
END_TEST

/* seed-map 001.24, 001.25 */
START_TEST(test_status__merge_takes_the_gravest_code)
{
	struct berth_arena *arena = berth_arena_create();
	struct berth_plugin_to_status map = {0};
	struct berth_status merged = berth_status_merge(&map, arena);

	ck_assert(berth_status_is_success(&merged));
	for (int i = 0; i < 20; i++) {
		berth_plugin_to_status_set(&map, arena, berth_arena_printf(arena, "P%d", i % 10),
			BERTH_STATUS_SUCCESS);
	}
	ck_assert_uint_eq(map.count, 10);
	merged = berth_status_merge(&map, arena);
	ck_assert(berth_status_is_success(&merged));
	berth_plugin_to_status_set(&map, arena, BERTH_STR("P1"),
		berth_status_reason(arena, BERTH_CODE_UNSCHEDULABLE_AND_UNRESOLVABLE, "a"));
	berth_plugin_to_status_set(&map, arena, BERTH_STR("P2"),
		berth_status_reason(arena, BERTH_CODE_UNSCHEDULABLE, "b"));
	merged = berth_status_merge(&map, arena);
	ck_assert_int_eq(merged.code, BERTH_CODE_UNSCHEDULABLE_AND_UNRESOLVABLE);
	CHECK_TEXT(berth_status_message(&merged, arena), "a, b");
	berth_plugin_to_status_set(
		&map, arena, BERTH_STR("P9"), berth_status_reason(arena, BERTH_CODE_ERROR, "c"));
	merged = berth_status_merge(&map, arena);
	ck_assert_int_eq(merged.code, BERTH_CODE_ERROR);
	CHECK_TEXT(berth_status_message(&merged, arena), "a, b, c");
	berth_arena_destroy(arena);
}
END_TEST

/* seed-map 001.26 */
START_TEST(test_status__node_to_status_answers_for_absent_nodes)
{
	struct berth_arena *arena = berth_arena_create();
	struct berth_node_to_status *nodes = berth_node_to_status_create();
	struct berth_status status = berth_status_reason(arena, BERTH_CODE_UNSCHEDULABLE, "full");

	berth_node_to_status_set(nodes, BERTH_STR("n1"), &status);
	ck_assert_uint_eq(berth_node_to_status_count(nodes), 1);
	ck_assert_int_eq(
		berth_node_to_status_get(nodes, BERTH_STR("n1")).code, BERTH_CODE_UNSCHEDULABLE);
	ck_assert_int_eq(berth_node_to_status_get(nodes, BERTH_STR("n2")).code,
		BERTH_CODE_UNSCHEDULABLE_AND_UNRESOLVABLE);
	ck_assert_uint_eq(berth_node_to_status_get(nodes, BERTH_STR("n2")).reason_count, 0);
	status.code = BERTH_CODE_PENDING;
	berth_node_to_status_set(nodes, BERTH_STR("n1"), &status);
	berth_node_to_status_set_absent(nodes, &status);
	berth_arena_reset(arena);
	ck_assert_uint_eq(berth_node_to_status_count(nodes), 1);
	CHECK_TEXT(berth_node_to_status_at(nodes, 0, &status), "n1");
	ck_assert_int_eq(status.code, BERTH_CODE_PENDING);
	CHECK_TEXT(status.reasons[0], "full");
	ck_assert_int_eq(berth_node_to_status_get(nodes, BERTH_STR("n2")).code, BERTH_CODE_PENDING);
	berth_node_to_status_destroy(nodes);
	berth_node_to_status_destroy(NULL);
	berth_arena_destroy(arena);
}
END_TEST

/** Ends by the timeout if each call visits all entries. */
START_TEST(test_status__node_to_status_of_many_nodes)
{
	struct berth_node_to_status *nodes = berth_node_to_status_create();
	const struct berth_status codes[] = {
		{.code = BERTH_CODE_UNSCHEDULABLE}, {.code = BERTH_CODE_ERROR}};
	char name[32];

	for (uint32_t i = 0; i < 500000; i++) {
		(void)snprintf(name, sizeof(name), "node-%u", i);
		berth_node_to_status_set(nodes, berth_str_from(name), &codes[i % 2]);
	}
	for (uint32_t i = 0; i < 500000; i++) {
		(void)snprintf(name, sizeof(name), "node-%u", i);
		ck_assert_int_eq(berth_node_to_status_get(nodes, berth_str_from(name)).code,
			codes[i % 2].code);
	}
	ck_assert_uint_eq(berth_node_to_status_count(nodes), 500000);
	berth_node_to_status_destroy(nodes);
}
END_TEST

BT_TEST_MAIN("lib_status", test_status__codes_have_upstream_numbers_and_names,
	test_status__reasons_and_message, test_status__questions_about_the_code,
	test_status__as_error, test_status__equal_and_copy,
	test_status__merge_takes_the_gravest_code,
	test_status__node_to_status_answers_for_absent_nodes,
	test_status__node_to_status_of_many_nodes)
