/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/printable.h"
#include "cli/output.h"
#include "cluster/workload.h"
#include "test_main.h"

START_TEST(test_printable__escapes)
{
	struct bt_strbuf out = {0};
	bt_printable_append(&out, BT_STR("a\x1b[31m%s\n\t\x7f\xc2\x85\xe2\x80\xae\xff\xc3\xa4"));
	ck_assert_str_eq(bt_strbuf_c(&out), "a\\x1b[31m%s\\n\\t\\x7f\\u0085\\u202e\\xff\xc3\xa4");
	bt_strbuf_finish(&out);
}
END_TEST

START_TEST(test_table__aligns)
{
	struct bt_table table = {.column_count = 3};
	struct bt_strbuf out = {0};
	static const char *const cells[] = {
		"POD", "NODE", "STATUS", "d\xc3\xa4", "", "x", "longer", "n", ""};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(cells); i++) {
		bt_table_add_c(&table, cells[i]);
	}
	bt_table_write(&table, &out);
	ck_assert_str_eq(bt_strbuf_c(&out),
		"POD     NODE  STATUS\n"
		"d\xc3\xa4            x\n"
		"longer  n\n");
	bt_strbuf_finish(&out);
	bt_table_finish(&table);
}
END_TEST

START_TEST(test_output__quotes_words_for_a_shell)
{
	static const char *const words[][2] = {
		{"a-Z_0.9/:=@%+,", "a-Z_0.9/:=@%+,"},
		{"", "''"},
		{"two words", "'two words'"},
		{"it's", "'it'\\''s'"},
		{"$(x)", "'$(x)'"},
		{"caf\xc3\xa9", "'caf\xc3\xa9'"},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(words); i++) {
		struct bt_strbuf out = {0};
		bt_printable_append_word(&out, bt_str_from(words[i][0]));
		ck_assert_str_eq(bt_strbuf_c(&out), words[i][1]);
		bt_strbuf_finish(&out);
	}
}
END_TEST

START_TEST(test_output__lays_out)
{
	static const struct {
		const char *name;
		const char *text;
		uint32_t columns;
		bool coloured;
		const char *expected;
	} rows[] = {
		{"no terminal", "one two three\n", 0, false, "one two three\n"},
		{"a line that fits", "one two three\n", 13, false, "one two three\n"},
		{"a paragraph", "one two three\n", 12, false, "one two\n  three\n"},
		{"indented", "    one two three\nx", 12, false, "    one two\n      three\nx"},
		{"numbered", "  1. one two three\n", 12, false, "  1. one two\n     three\n"},
		{"the last cell of a row", "POD  NODE\na b  one two three\n", 12, false,
			"POD  NODE\na b  one two\n     three\n"},
		{"a last cell far to the right", "abcdefghi  one two three\n", 14, false,
			"abcdefghi  one\n  two three\n"},
		{"a word that is too long", "one abcdefghijklmn two\n", 10, false,
			"one\n  abcdefghijklmn\n  two\n"},
		{"wide characters count once", "\xc3\xa4\xc3\xa4\xc3\xa4 \xc3\xb6\xc3\xb6\n", 6,
			false, "\xc3\xa4\xc3\xa4\xc3\xa4 \xc3\xb6\xc3\xb6\n"},
		{"commands", "     kubectl uncordon n1\n     or: kubectl taint n1 a-\n", 12, false,
			"     kubectl uncordon n1\n     or: kubectl taint n1 a-\n"},
		{"colours", "POD  STATUS\np    Unschedulable: no\nq    Scheduled\nWhy:\n", 0, true,
			"\033[1mPOD  STATUS\033[0m\np    \033[31mUnschedulable\033[0m: no\n"
			"q    \033[32mScheduled\033[0m\n\033[1mWhy:\033[0m\n"},
		{"names are not painted", "Unscheduled\nx  ScheduledX\n", 0, true,
			"Unscheduled\nx  ScheduledX\n"},
		{"empty", "", 10, true, ""},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_strbuf text = {0};
		bt_strbuf_append_c(&text, rows[i].text);
		bt_output_lay_out(&text, rows[i].columns, rows[i].coloured);
		ck_assert_msg(strcmp(bt_strbuf_c(&text), rows[i].expected) == 0, "%s: %s",
			rows[i].name, bt_strbuf_c(&text));
		bt_strbuf_finish(&text);
	}
}
END_TEST

START_TEST(test_suffix__is_the_same_everywhere)
{
	char suffix[BT_SUFFIX_LENGTH + 1];
	bt_suffix_make(BT_STR("web-"), 0, suffix);
	ck_assert_str_eq(suffix, "pwl67");
	bt_suffix_make(BT_STR("web-"), 1, suffix);
	ck_assert_str_eq(suffix, "f5xxl");
}
END_TEST

static int compare_suffixes(const void *a, const void *b)
{
	return memcmp(a, b, BT_SUFFIX_LENGTH + 1);
}

START_TEST(test_suffix__indexes_are_distinct)
{
	enum { COUNT = 100000 };
	char(*suffixes)[BT_SUFFIX_LENGTH + 1] = bt_calloc(COUNT, sizeof(*suffixes));
	for (uint32_t i = 0; i < COUNT; i++) {
		bt_suffix_make(BT_STR("p-"), i, suffixes[i]);
	}
	qsort(suffixes, COUNT, sizeof(*suffixes), compare_suffixes);
	for (uint32_t i = 1; i < COUNT; i++) {
		if (memcmp(suffixes[i - 1], suffixes[i], sizeof(*suffixes)) == 0) {
			ck_abort_msg("%s twice", suffixes[i]);
		}
	}
	bt_free(suffixes);
}
END_TEST

BT_TEST_MAIN("text", test_printable__escapes, test_table__aligns,
	test_output__quotes_words_for_a_shell, test_output__lays_out,
	test_suffix__is_the_same_everywhere, test_suffix__indexes_are_distinct)
