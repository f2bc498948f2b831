/* SPDX-License-Identifier: Apache-2.0 */
/** The text behind "0/3 nodes are available": spec 03 section 8. */
#include "sched/cycle.h"
#include "test_main.h"

struct text_case {
	struct bt_arena arena;
	struct bt_diagnosis diagnosis;
};

static void init(struct text_case *test, uint32_t node_count)
{
	*test = (struct text_case){0};
	test->diagnosis.node_count = node_count;
	test->diagnosis.statuses.absent =
		bt_status_code_only(BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE);
}

static void finish(struct text_case *test)
{
	bt_vec_finish(&test->diagnosis.statuses.entries);
	bt_arena_finish(&test->arena);
}

/* Makes a status; reasons are separated by '|'. */
static struct bt_status status_of(struct text_case *test, const char *reasons)
{
	struct bt_status status = bt_status_code_only(BT_STATUS_UNSCHEDULABLE);
	struct bt_str rest = bt_str_from(reasons);

	while (rest.length > 0) {
		int64_t bar = bt_str_find_char(rest, '|');
		struct bt_str one = bar < 0 ? rest : bt_str_sub(rest, 0, (uint32_t)bar);

		rest = bar < 0 ? BT_STR("") : bt_str_sub(rest, (uint32_t)bar + 1, BT_STR_MAX);
		bt_status_append_reason(&status, &test->arena, one);
	}
	return status;
}

static void add(struct text_case *test, uint32_t count, const char *reasons)
{
	for (uint32_t i = 0; i < count; i++) {
		struct bt_node_status_entry entry = {
			test->diagnosis.statuses.entries.count, status_of(test, reasons)};

		bt_vec_push(&test->diagnosis.statuses.entries, entry);
	}
}

static void expect(struct text_case *test, const char *expected)
{
	struct bt_strbuf text = {0};

	bt_diagnosis_message(&test->diagnosis, &text);
	ck_assert_str_eq(bt_strbuf_c(&text), expected);
	bt_strbuf_finish(&text);
	finish(test);
}

START_TEST(test_fit_error__edge_03_02_same_reason)
{
	struct text_case test;

	init(&test, 3);
	add(&test, 3, "r");
	expect(&test, "0/3 nodes are available: 3 r.");
}
END_TEST

START_TEST(test_fit_error__edge_03_03_several_reasons)
{
	struct text_case test;

	init(&test, 2);
	add(&test, 1, "a");
	add(&test, 1, "a|b");
	expect(&test, "0/2 nodes are available: 1 b, 2 a.");
}
END_TEST

START_TEST(test_fit_error__edge_03_04_lines_sort_as_bytes)
{
	struct text_case test;

	init(&test, 12);
	add(&test, 2, "y");
	add(&test, 10, "x");
	expect(&test, "0/12 nodes are available: 10 x, 2 y.");
	init(&test, 15);
	add(&test, 3, "a");
	add(&test, 2, "y");
	add(&test, 10, "x");
	expect(&test, "0/15 nodes are available: 10 x, 2 y, 3 a.");
}
END_TEST

START_TEST(test_fit_error__edge_03_05_pre_filter_and_post_filter)
{
	struct text_case test;

	init(&test, 3);
	test.diagnosis.pre_filter_message = BT_STR("m");
	test.diagnosis.post_filter_message = BT_STR("p");
	add(&test, 2, "not counted");
	expect(&test, "0/3 nodes are available: m. p");
}
END_TEST

START_TEST(test_fit_error__repeated_reason_counts_twice)
{
	struct text_case test;

	init(&test, 1);
	add(&test, 1, "a|a");
	expect(&test, "0/1 nodes are available: 2 a.");
}
END_TEST

START_TEST(test_fit_error__no_reasons_end_with_the_colon)
{
	struct text_case test;

	init(&test, 3);
	expect(&test, "0/3 nodes are available:");
	init(&test, 3);
	add(&test, 3, "");
	test.diagnosis.post_filter_message = BT_STR("p");
	expect(&test, "0/3 nodes are available: p");
}
END_TEST

START_TEST(test_fit_error__absent_nodes_count_too)
{
	struct text_case test;

	init(&test, 5);
	test.diagnosis.statuses.absent = status_of(&test, "x|y");
	add(&test, 2, "x");
	expect(&test, "0/5 nodes are available: 3 y, 5 x.");
	init(&test, 2);
	test.diagnosis.statuses.absent = status_of(&test, "x");
	add(&test, 2, "r");
	expect(&test, "0/2 nodes are available: 2 r.");
}
END_TEST

START_TEST(test_fit_error__error_text_is_the_first_reason)
{
	struct text_case test;
	struct bt_node_status_entry entry = {.slot = 9};

	init(&test, 3);
	entry.status = status_of(&test, "b");
	entry.status.has_error = true;
	entry.status.error_text = BT_STR("e");
	bt_vec_push(&test.diagnosis.statuses.entries, entry);
	entry.status.error_text = BT_STR("f");
	bt_vec_push(&test.diagnosis.statuses.entries, entry);
	entry.status.has_error = false;
	bt_vec_push(&test.diagnosis.statuses.entries, entry);
	expect(&test, "0/3 nodes are available: 1 e, 1 f, 3 b.");
}
END_TEST

START_TEST(test_fit_error__hostile_text_is_only_text)
{
	struct text_case test;

	init(&test, 1);
	add(&test, 1, "%s%n, 0/1");
	test.diagnosis.post_filter_message = BT_STR("%d");
	expect(&test, "0/1 nodes are available: 1 %s%n, 0/1. %d");
}
END_TEST

START_TEST(test_fit_error__a_hundred_thousand_nodes)
{
	struct text_case test;

	init(&test, 100000);
	add(&test, 1, "first");
	for (uint32_t i = 1; i < 100000; i++) {
		struct bt_node_status_entry entry = {
			i, bt_status_printf(BT_STATUS_UNSCHEDULABLE, &test.arena, "r%u", i % 5000)};

		bt_vec_push(&test.diagnosis.statuses.entries, entry);
	}
	struct bt_strbuf text = {0};
	bt_diagnosis_message(&test.diagnosis, &text);
	ck_assert(bt_str_has_prefix(bt_strbuf_str(&text),
		BT_STR("0/100000 nodes are available: 1 first, 19 r0, 20 r1, 20 r10, 20 r100,")));
	bt_strbuf_finish(&text);
	finish(&test);
}
END_TEST

START_TEST(test_diagnosis__plugins_of_statuses)
{
	struct bt_diagnosis diagnosis = {0};
	struct bt_status status = bt_status_code_only(BT_STATUS_UNSCHEDULABLE);

	bt_diagnosis_add_plugin(&diagnosis, &status);
	ck_assert_uint_eq(diagnosis.unschedulable_plugins.words[0], 0);
	status.plugin = 3;
	bt_diagnosis_add_plugin(&diagnosis, &status);
	status.plugin = 5;
	status.code = BT_STATUS_PENDING;
	bt_diagnosis_add_plugin(&diagnosis, &status);
	status.plugin = 7;
	status.code = BT_STATUS_ERROR;
	bt_diagnosis_add_plugin(&diagnosis, &status);
	ck_assert_uint_eq(diagnosis.unschedulable_plugins.words[0], 1 << 2 | 1 << 4);
	ck_assert_uint_eq(diagnosis.pending_plugins.words[0], 1 << 4);
}
END_TEST

BT_TEST_MAIN("fit_error", test_fit_error__edge_03_02_same_reason,
	test_fit_error__edge_03_03_several_reasons, test_fit_error__edge_03_04_lines_sort_as_bytes,
	test_fit_error__edge_03_05_pre_filter_and_post_filter,
	test_fit_error__repeated_reason_counts_twice, test_fit_error__no_reasons_end_with_the_colon,
	test_fit_error__absent_nodes_count_too, test_fit_error__error_text_is_the_first_reason,
	test_fit_error__hostile_text_is_only_text, test_fit_error__a_hundred_thousand_nodes,
	test_diagnosis__plugins_of_statuses)
