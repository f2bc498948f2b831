/* SPDX-License-Identifier: Apache-2.0 */
#include "base/flags.h"
#include "test_main.h"

struct values {
	bool verbose;
	const char *name;
	int64_t count;
	struct bt_arguments files;
	struct bt_arguments rest;
	bool help;
};

static const struct bt_flag value_flags[] = {
	{"verbose", 'v', BT_FLAG_BOOL, offsetof(struct values, verbose), NULL, "say more"},
	{"the-name", 'n', BT_FLAG_STRING, offsetof(struct values, name), "NAME", "a name"},
	{"count", 0, BT_FLAG_INT, offsetof(struct values, count), "N", "a number"},
	{"filename", 'f', BT_FLAG_STRINGS, offsetof(struct values, files), "FILE", "a file"},
};

static int parse(struct values *values, char **argv, struct berth_error *err)
{
	int argc = 0;
	while (argv[argc] != NULL) {
		argc++;
	}
	return bt_flags_parse(value_flags, BT_ARRAY_LENGTH(value_flags), values, argc, argv,
		&values->rest, &values->help, err);
}

static void finish(struct values *values)
{
	bt_flags_finish(value_flags, BT_ARRAY_LENGTH(value_flags), values);
	ck_assert_ptr_null(values->files.list.items);
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
			"invalid argument \"maybe\" for \"-v, --verbose\" flag: must be true or "
			"false"},
		{"--filename", "flag needs an argument: --filename"},
		{"-f", "flag needs an argument: 'f' in -f"},
		{"-vf", "flag needs an argument: 'f' in -vf"},
		{"--=x", "bad flag syntax: --=x"},
		{"---x", "bad flag syntax: ---x"},
		{"--count=\n", "invalid argument \"\\n\" for \"--count\" flag: must be an integer"},
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

struct sum {
	int64_t value;
	bt_flag_set_fn *set;
};

/** Adds an even number to the sum; the flag --bare without a value adds 100. */
static int add_even(
	void *options, const struct bt_flag *flag, const char *text, struct berth_error *err)
{
	struct sum *sum = options;
	int64_t number = 100;
	ck_assert_int_eq(text == NULL, text == NULL && strcmp(flag->name, "bare") == 0);
	if (text != NULL && (!bt_str_parse_int64(bt_str_from(text), &number) || number % 2 != 0)) {
		return bt_error_set(err, BERTH_ERR_INVALID, "not even");
	}
	sum->value += number;
	return 0;
}

START_TEST(test_flags__setter)
{
	struct sum sum = {.set = add_even};
	const struct bt_flag flags[] = {
		{"even", 'e', BT_FLAG_SETTER, offsetof(struct sum, set), "N", "a number"},
		{"bare", 'b', BT_FLAG_OPTIONAL, offsetof(struct sum, set), "N", "a number"},
	};
	char *good[] = {(char[]){"--even=2"}, (char[]){"-e"}, (char[]){"4"}, (char[]){"-be6"},
		(char[]){"--bare"}, (char[]){"8"}, (char[]){"-b=10"}};
	char *odd[] = {(char[]){"-e3"}};
	struct bt_arguments rest = {0};
	struct berth_error err = BERTH_ERROR_INIT;
	bool help;
	ck_assert_int_eq(bt_flags_parse(flags, 2, &sum, 7, good, &rest, &help, NULL), 0);
	ck_assert_int_eq(sum.value, 2 + 4 + 100 + 6 + 100 + 10);
	ck_assert_uint_eq(rest.list.count, 1); /* "8" is not the value of --bare */
	ck_assert_str_eq(rest.list.items[0], "8");
	ck_assert_int_eq(
		bt_flags_parse(flags, 2, &sum, 1, odd, &rest, &help, &err), BERTH_ERR_INVALID);
	ck_assert_str_eq(berth_error_message(&err),
		"invalid argument \"3\" for \"-e, --even\" flag: not even");
	berth_error_finish(&err);
	bt_vec_finish(&rest.list);
}
END_TEST

START_TEST(test_flags__help_is_aligned_and_broken)
{
	const struct bt_flag flags[] = {
		{"all", 'a', BT_FLAG_BOOL, 0, NULL, "everything"},
		{"even", 0, BT_FLAG_OPTIONAL, 0, "N", "a number"},
		{"how", 0, BT_FLAG_STRING, 0, "one|another|the-third-of-them|x", "a way"},
		{"name", 0, BT_FLAG_STRING, 0, "NAME",
			"a text of many words that is longer than what is left of its line is "
			"broken between two of them"},
	};
	struct bt_strbuf text = {0};
	bt_flags_help(flags, BT_ARRAY_LENGTH(flags), &text);
	ck_assert_str_eq(bt_strbuf_c(&text),
		"  -a, --all                              everything\n"
		"      --even[=N]                         a number\n"
		"      --how one|another|the-third-of-them|x\n"
		"                                         a way\n"
		"      --name NAME                        a text of many words that is longer than "
		"what is left of\n"
		"                                         its line is broken between two of "
	        "them\n");
	ck_assert(bt_flag_is_complete(&flags[0]) && bt_flag_is_complete(&flags[1]));
	ck_assert(!bt_flag_is_complete(&flags[2]));
	bt_strbuf_finish(&text);
}
END_TEST

BT_TEST_MAIN("flags", test_flags__forms, test_flags__underscores_equal_dashes, test_flags__errors,
	test_flags__help, test_flags__setter, test_flags__help_is_aligned_and_broken)
