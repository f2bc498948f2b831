/* SPDX-License-Identifier: Apache-2.0 */
/* The adapter to RE2, and the errors of patterns in Go's words. Spec: 12b section 13. */
#include "test_main.h"

#include <unistd.h>

#include "base/strbuf.h"
#include "cel/regex.h"

#define BAD "error parsing regexp: "

/** Patterns with the expected error; NULL: the pattern compiles. */
static const struct {
	const char *pattern;
	const char *message;
} patterns[] = {
	{"", NULL},
	{"^f.*h$", NULL},
	{"(?i)(?s)(?m)(?U)a", NULL},
	{"(?P<name>a)(?<other>b)", NULL},
	{"[(?<n>]", NULL},
	{"\\(?<n>", NULL},
	{"\\Q(?<n>\\E", NULL},
	{"[[:alpha:]\\d\\]]+[]x][^]x]", NULL},
	{"\\pL\\p{Greek}\\PN\\p{^Lu}", NULL},
	{"\\d\\w\\s\\b\\B\\A\\z\\a\\f\\t\\n\\r\\v\\123\\x41\\x{10FFFF}", NULL},
	{"a{1000}", NULL},
	{".{1000}", NULL},
	{"a{,2}", NULL},
	{"[", BAD "missing closing ]: `[`"},
	{"a[bc", BAD "missing closing ]: `[bc`"},
	{"x[[:alpha", BAD "missing closing ]: `[[:alpha`"},
	{"(", BAD "missing closing ): `(`"},
	{"x(a", BAD "missing closing ): `x(a`"},
	{"(?<n>x", BAD "missing closing ): `(?<n>x`"},
	{")", BAD "unexpected ): `)`"},
	{"a)b", BAD "unexpected ): `a)b`"},
	{"*", BAD "missing argument to repetition operator: `*`"},
	{"(|+)", BAD "missing argument to repetition operator: `+`"},
	{"{1}", BAD "missing argument to repetition operator: `{1}`"},
	{"a**", BAD "invalid nested repetition operator: `**`"},
	{"a???", BAD "invalid nested repetition operator: `???`"},
	{"x{1001}", BAD "invalid repeat count: `{1001}`"},
	{"x{2,1}", BAD "invalid repeat count: `{2,1}`"},
	{"(x{100}){100}", BAD "invalid repeat count: `{100}`"},
	{"\\", BAD "trailing backslash at end of expression: ``"},
	{"a\\", BAD "trailing backslash at end of expression: ``"},
	{"\\y", BAD "invalid escape sequence: `\\y`"},
	{"\\1", BAD "invalid escape sequence: `\\1`"},
	{"\\Z", BAD "invalid escape sequence: `\\Z`"},
	{"\\C", BAD "invalid escape sequence: `\\C`"},
	{"[\\C]", BAD "invalid escape sequence: `\\C`"},
	{"\\xg", BAD "invalid escape sequence: `\\xg`"},
	{"a\\x{", BAD "invalid escape sequence: `\\x{`"},
	{"[b-a]", BAD "invalid character class range: `b-a`"},
	{"[[:foo:]]", BAD "invalid character class range: `[:foo:]`"},
	{"\\p{Foo}", BAD "invalid character class range: `\\p{Foo}`"},
	{"(?=x)", BAD "invalid or unsupported Perl syntax: `(?=`"},
	{"(?!x)", BAD "invalid or unsupported Perl syntax: `(?!`"},
	{"(?z)", BAD "invalid or unsupported Perl syntax: `(?z`"},
	{"(?<=x)", BAD "invalid named capture: `(?<=x)`"},
	{"(?P<a-b>x)", BAD "invalid named capture: `(?P<a-b>`"},
	{"(?<a-b>x)", BAD "invalid named capture: `(?<a-b>`"},
	{"(?P<n", BAD "invalid named capture: `(?P<n`"},
	{"a\xff", BAD "invalid UTF-8: `a\xff`"},
	{"(?:\\pL{100}){10}", BAD "expression too large: `(?:\\pL{100}){10}`"},
};

START_TEST(test_cel_regex__patterns_and_their_errors)
{
	for (size_t i = 0; i < BT_ARRAY_LENGTH(patterns); i++) {
		struct bt_cel_regex *regex = NULL;
		struct berth_error err = BERTH_ERROR_INIT;
		int code = bt_cel_regex_compile(bt_str_from(patterns[i].pattern), &regex, &err);
		const char *message = code != 0 ? berth_error_message(&err) : NULL;

		ck_assert_msg(message == NULL || patterns[i].message == NULL
				? message == patterns[i].message
				: strcmp(message, patterns[i].message) == 0,
			"%s\n got: %s\nwant: %s", patterns[i].pattern, message,
			patterns[i].message);
		ck_assert((regex == NULL) == (code != 0));
		berth_error_finish(&err);
		bt_cel_regex_destroy(regex);
	}
}
END_TEST

START_TEST(test_cel_regex__parentheses_nest_no_deeper_than_a_thousand)
{
	struct bt_strbuf pattern = {0};
	struct bt_cel_regex *regex = NULL;
	struct berth_error err = BERTH_ERROR_INIT;

	for (int i = 0; i < 1000; i++) {
		bt_strbuf_append_char(&pattern, '(');
	}
	for (int i = 0; i < 1000; i++) {
		bt_strbuf_append_char(&pattern, ')');
	}
	ck_assert_int_eq(bt_cel_regex_compile(bt_strbuf_str(&pattern), &regex, &err), 0);
	bt_cel_regex_destroy(regex);
	bt_strbuf_append_c(&pattern, "()");
	ck_assert_int_eq(bt_cel_regex_compile(bt_strbuf_str(&pattern), &regex, &err), 0);
	bt_cel_regex_destroy(regex);
	bt_strbuf_reset(&pattern);
	for (int i = 0; i < 5000; i++) {
		bt_strbuf_append_char(&pattern, '(');
	}
	ck_assert_int_eq(
		bt_cel_regex_compile(bt_strbuf_str(&pattern), &regex, &err), BERTH_ERR_INVALID);
	ck_assert_int_eq(
		strncmp(berth_error_message(&err), BAD "expression nests too deeply: `((", 50), 0);
	berth_error_finish(&err);
	bt_strbuf_finish(&pattern);
}
END_TEST

static const struct {
	const char *pattern;
	const char *text;
	uint32_t from;
	int start; /* -1: no match */
	int end;
} searches[] = {
	{"is", "fish", 0, 1, 3},
	{"^is", "fish", 0, -1, 0},
	{"^is", "fish", 1, -1, 0}, /* ^ does not match at the offset */
	{"\\bh", "fish", 3, -1, 0},
	{"h$", "fish", 0, 3, 4},
	{"", "fish", 2, 2, 2},
	{"", "fish", 4, 4, 4},
	{"", "", 0, 0, 0},
	{"x*", "fish", 0, 0, 0},
	{"a|ab", "xab", 0, 1, 2}, /* leftmost, then the first alternative */
	{"a+", "baaab", 0, 1, 4},
	{"a+?", "baaab", 0, 1, 2},
	{"(?U)a+", "baaab", 0, 1, 2},
	{"(?i)FISH", "fish", 0, 0, 4},
	{"a.b", "a\nb", 0, -1, 0},
	{"(?s)a.b", "a\nb", 0, 0, 3},
	{"^b", "a\nb", 0, -1, 0},
	{"(?m)^b", "a\nb", 0, 2, 3},
	{"\\pL+", "1\xc3\xa9t\xc3\xa9", 0, 1, 6},
	{".", "\xe2\x82\xac", 0, 0, 3},
	{"(?<n>s)h", "fish", 0, 2, 4},
	{"[[:digit:]]+", "ab12", 0, 2, 4},
};

START_TEST(test_cel_regex__searches)
{
	for (size_t i = 0; i < BT_ARRAY_LENGTH(searches); i++) {
		struct bt_cel_regex *regex = NULL;
		struct bt_str text = bt_str_from(searches[i].text);
		uint32_t start = 99;
		uint32_t end = 99;
		bool is_found;

		ck_assert_int_eq(
			bt_cel_regex_compile(bt_str_from(searches[i].pattern), &regex, NULL), 0);
		is_found = bt_cel_regex_find(regex, text, searches[i].from, &start, &end);
		ck_assert_msg(is_found == (searches[i].start >= 0) &&
				(!is_found ||
					((int)start == searches[i].start &&
						(int)end == searches[i].end)),
			"%s in %s: %d %u %u", searches[i].pattern, searches[i].text, is_found,
			start, end);
		ck_assert(bt_cel_regex_find(regex, text, searches[i].from, NULL, NULL) == is_found);
		bt_cel_regex_destroy(regex);
	}
}
END_TEST

START_TEST(test_cel_regex__absent_text_is_empty)
{
	struct bt_cel_regex *regex = NULL;
	struct bt_str absent = {NULL, 0};
	uint32_t start = 99;
	uint32_t end = 99;

	ck_assert_int_eq(bt_cel_regex_compile(absent, &regex, NULL), 0);
	ck_assert(bt_cel_regex_find(regex, absent, 0, &start, &end));
	ck_assert_uint_eq(start, 0);
	ck_assert_uint_eq(end, 0);
	bt_cel_regex_destroy(regex);
	bt_cel_regex_destroy(NULL);
}
END_TEST

/** RE2 continues without its DFA when the memory for it is exhausted, and must log nothing. */
START_TEST(test_cel_regex__nothing_is_logged)
{
	struct bt_strbuf text = {0};
	struct bt_cel_regex *regex = NULL;
	int pipes[2];
	int saved = dup(STDERR_FILENO);
	char byte;

	for (uint32_t i = 0; i < 20000; i++) {
		bt_strbuf_append_char(&text, (i * i * 7 + i / 3) % 5 < 2 ? 'a' : 'b');
	}
	ck_assert_int_eq(pipe(pipes), 0);
	ck_assert_int_ge(dup2(pipes[1], STDERR_FILENO), 0);
	(void)close(pipes[1]);
	ck_assert_int_eq(bt_cel_regex_compile(BT_STR("(?:(["), &regex, NULL), BERTH_ERR_INVALID);
	ck_assert_int_eq(bt_cel_regex_compile(BT_STR("[ab]*a[ab]{300}c"), &regex, NULL), 0);
	ck_assert(!bt_cel_regex_find(regex, bt_strbuf_str(&text), 0, NULL, NULL));
	bt_cel_regex_destroy(regex);
	ck_assert_int_ge(dup2(saved, STDERR_FILENO), 0);
	ck_assert_int_eq((int)read(pipes[0], &byte, 1), 0);
	(void)close(pipes[0]);
	(void)close(saved);
	bt_strbuf_finish(&text);
}
END_TEST

BT_TEST_MAIN("cel_regex", test_cel_regex__patterns_and_their_errors,
	test_cel_regex__parentheses_nest_no_deeper_than_a_thousand, test_cel_regex__searches,
	test_cel_regex__absent_text_is_empty, test_cel_regex__nothing_is_logged)
