/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/flags.h"
#include "cli/suggest.h"
#include "test_main.h"

struct values {
	bool verbose;
	const char *name;
	int64_t count;
	struct bt_arguments files;
	struct bt_arguments rest;
	bool help;
};

static int parse(struct values *values, char **argv, struct berth_error *err)
{
	const struct bt_flag flags[] = {
		{"verbose", 'v', BT_FLAG_BOOL, &values->verbose, NULL, "say more"},
		{"the-name", 'n', BT_FLAG_STRING, &values->name, "NAME", "a name"},
		{"count", 0, BT_FLAG_INT, &values->count, "N", "a number"},
		{"filename", 'f', BT_FLAG_STRINGS, &values->files, "FILE", "a file"},
	};
	int argc = 0;
	while (argv[argc] != NULL) {
		argc++;
	}
	return bt_flags_parse(
		flags, BT_ARRAY_LENGTH(flags), argc, argv, &values->rest, &values->help, err);
}

static void finish(struct values *values)
{
	bt_vec_finish(&values->files.list);
	bt_vec_finish(&values->rest.list);
}

START_TEST(test_flags__forms)
{
	char *argv[] = {(char[]){"--the-name=a"}, (char[]){"--count"}, (char[]){"-3"},
		(char[]){"-f"}, (char[]){"one"}, (char[]){"-ftwo"}, (char[]){"-f=three"},
		(char[]){"-"}, (char[]){"-v"}, (char[]){"--"}, (char[]){"-x"}, NULL};
	struct values values = {0};
	ck_assert_int_eq(parse(&values, argv, NULL), 0);
	ck_assert_str_eq(values.name, "a");
	ck_assert_int_eq(values.count, -3);
	ck_assert(values.verbose);
	ck_assert(!values.help);
	ck_assert_uint_eq(values.files.list.count, 3);
	ck_assert_str_eq(values.files.list.items[1], "two");
	ck_assert_str_eq(values.files.list.items[2], "three");
	ck_assert_uint_eq(values.rest.list.count, 2);
	ck_assert_str_eq(values.rest.list.items[0], "-");
	ck_assert_str_eq(values.rest.list.items[1], "-x");
	finish(&values);
}
END_TEST

START_TEST(test_flags__underscores_equal_dashes)
{
	char *argv[] = {(char[]){"--the_name=a_b"}, (char[]){"--verbose=false"}, NULL};
	struct values values = {.verbose = true};
	ck_assert_int_eq(parse(&values, argv, NULL), 0);
	ck_assert_str_eq(values.name, "a_b");
	ck_assert(!values.verbose);
	finish(&values);
}
END_TEST

START_TEST(test_flags__errors)
{
	static const struct {
		const char *argument;
		const char *message;
	} rows[] = {
		{"--unknown", "unknown flag: --unknown"},
		{"--count=x", "invalid argument \"x\" for \"--count\" flag: must be an integer"},
		{"--verbose=maybe",
			"invalid argument \"maybe\" for \"--verbose\" flag: must be true or false"},
		{"--filename", "flag needs an argument: --filename"},
		{"-z", "unknown shorthand flag: 'z' in -z"},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		char argument[32];
		(void)snprintf(argument, sizeof(argument), "%s", rows[i].argument);
		char *argv[] = {argument, NULL};
		struct values values = {0};
		struct berth_error err = BERTH_ERROR_INIT;
		ck_assert_msg(parse(&values, argv, &err) < 0, "%s", rows[i].argument);
		ck_assert_str_eq(berth_error_message(&err), rows[i].message);
		berth_error_finish(&err);
		finish(&values);
	}
}
END_TEST

START_TEST(test_flags__help)
{
	char *argv[] = {(char[]){"-h"}, NULL};
	struct values values = {0};
	ck_assert_int_eq(parse(&values, argv, NULL), 0);
	ck_assert(values.help);
	finish(&values);
}
END_TEST

START_TEST(test_suggest__closest_word)
{
	static const char *const words[] = {"bench", "conformance", "simulate", "version", "help"};
	static const struct {
		const char *given;
		const char *expected;
	} rows[] = {
		{"benhc", "bench"},
		{"simulat", "simulate"},
		{"sim", NULL},
		{"conformence", "conformance"},
		{"hlep", "help"},
		{"", NULL},
		{"serve", NULL},
		{"a-word-that-is-much-too-long-to-be-a-slip-of-the-finger", NULL},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		const char *got = bt_suggest(rows[i].given, words, BT_ARRAY_LENGTH(words));
		if (rows[i].expected == NULL) {
			ck_assert_msg(got == NULL, "%s: %s", rows[i].given, got);
		} else {
			ck_assert_msg(got != NULL, "%s", rows[i].given);
			ck_assert_str_eq(got, rows[i].expected);
		}
	}
}
END_TEST

BT_TEST_MAIN("flags", test_flags__forms, test_flags__underscores_equal_dashes, test_flags__errors,
	test_flags__help, test_suggest__closest_word)
