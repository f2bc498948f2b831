/* SPDX-License-Identifier: Apache-2.0 */
/* Which answers the comparison treats as equal. Format: tests/conformance/README.md. */
#include "base/error.h"
#include "conformance/conformance.h"
#include "test_main.h"

static struct bt_json_value *parse(struct bt_arena *arena, const char *text)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_str json = bt_arena_str(arena, bt_str_from(text));
	char *bytes = bt_arena_alloc_bytes(arena, json.length + 1);
	struct bt_json_value *value = NULL;

	for (uint32_t i = 0; i <= json.length; i++) {
		bytes[i] = json.data[i] == '\'' ? '"' : json.data[i];
	}
	ck_assert_msg(bt_json_parse(arena, bt_str_from(bytes), true, &value, &err) == 0, "%s: %s",
		text, berth_error_message(&err));
	return value;
}

static bool same(const char *expected, const char *got, const char *skipped)
{
	struct bt_str skip_name = bt_str_from(skipped);
	struct bt_conformance_skip skip = {&skip_name, skipped[0] != '\0' ? 1 : 0};
	struct bt_strbuf difference = {0};
	struct bt_arena arena;
	bool result;

	bt_arena_init(&arena, 0);
	result = bt_conformance_compare(
		parse(&arena, expected), parse(&arena, got), &skip, &difference);
	ck_assert_msg(result == (difference.length == 0), "%s", bt_strbuf_c(&difference));
	bt_strbuf_finish(&difference);
	bt_arena_finish(&arena);
	return result;
}

struct row {
	const char *name;
	const char *expected;
	const char *got;
	bool same;
};

/* Compares each row. both_ways: the result must also hold with expected and got exchanged. */
static void check(const struct row *rows, size_t count, bool both_ways)
{
	for (size_t i = 0; i < count; i++) {
		ck_assert_msg(same(rows[i].expected, rows[i].got, "") == rows[i].same, "%s",
			rows[i].name);
		ck_assert_msg(!both_ways || same(rows[i].got, rows[i].expected, "") == rows[i].same,
			"%s, the other way round", rows[i].name);
	}
}

#define RESULT(members) "{'name':'c','results':[{'pod':'ns/p'" members "}]}"
#define POST(members) RESULT(",'postFilter':{'code':'Success'" members "}")

START_TEST(test_conformance_compare__members_on_one_side)
{
	static const struct row rows[] = {
		{"equal", RESULT(",'best':['n1']"), RESULT(",'best':['n1']"), true},
		{"order of members", "{'results':[{'a':1,'b':2}]}", "{'results':[{'b':2,'a':1}]}",
			true},
		{"absent", RESULT(",'best':['n1']"), RESULT(""), false},
		{"absent against empty list", RESULT(",'best':[]"), RESULT(""), false},
		{"absent against empty text", RESULT(",'message':''"), RESULT(""), false},
		{"absent against empty object", RESULT(",'filter':{}"), RESULT(""), false},
		{"absent against null", RESULT(",'preFilter':null"), RESULT(""), false},
		{"a whole result", "{'name':'c','results':[{'pod':'p'}]}", "{'name':'c'}", false},
		{"no results", "{'name':'c','results':[]}", "{'name':'c'}", true},
		{"no object", "{'results':[{'pod':'p'}]}", "{'results':['p']}", false},
		{"error of the case", "{'error':'e'}", "{'results':[]}", false},
		{"the same error", "{'error':'e'}", "{'error':'e'}", true},
		{"another error", "{'error':'e'}", "{'error':'f'}", false},
	};

	check(rows, BT_ARRAY_LENGTH(rows), true);
	ck_assert(same(RESULT(",'best':['n1']"), RESULT(""), "best"));
	ck_assert(!same(RESULT(",'best':['n1']"), RESULT(""), "bes"));
}
END_TEST

START_TEST(test_conformance_compare__post_filter)
{
	static const struct row rows[] = {
		{"equal", POST(",'nominated':'n1','choices':['n1']"),
			POST(",'choices':['n1'],'nominated':'n1'"), true},
		{"absent", RESULT(""), POST(""), false},
		{"absent against empty", RESULT(""), RESULT(",'postFilter':{}"), false},
		{"code", POST(""), RESULT(",'postFilter':{'code':'Error'}"), false},
		{"no code", POST(""), RESULT(",'postFilter':{}"), false},
		{"message", POST(",'message':'m'"), POST(""), false},
		{"empty message", POST(",'message':''"), POST(""), false},
		{"candidates", POST(",'candidates':[{'node':'n1'}]"), POST(""), false},
		{"no candidates", POST(",'candidates':[]"), POST(""), false},
		{"choices", POST(",'choices':['n1']"), POST(""), false},
		{"nominated", POST(",'nominated':'n1'"), POST(""), false},
		{"cleared", POST(",'nominated':''"), POST(""), false},
		{"nominated another", POST(",'nominated':'n1'"), POST(",'nominated':'n2'"), false},
		{"a member of a later format", POST(",'x':1"), POST(""), false},
		{"no object", POST(""), RESULT(",'postFilter':'Success'"), false},
	};

	check(rows, BT_ARRAY_LENGTH(rows), true);
}
END_TEST

#define TWO ",'choices':['n1','n2']"

START_TEST(test_conformance_compare__one_of_choices)
{
	static const struct row rows[] = {
		{"first", POST(",'nominated':'one of choices'" TWO), POST(",'nominated':'n1'" TWO),
			true},
		{"second", POST(",'nominated':'one of choices'" TWO), POST(",'nominated':'n2'" TWO),
			true},
		{"neither", POST(",'nominated':'one of choices'" TWO),
			POST(",'nominated':'n3'" TWO), false},
		{"none", POST(",'nominated':'one of choices'" TWO), POST(TWO), false},
		{"cleared", POST(",'nominated':'one of choices'" TWO), POST(",'nominated':''" TWO),
			false},
		{"said back", POST(",'nominated':'one of choices'" TWO),
			POST(",'nominated':'one of choices'" TWO), false},
		{"other choices", POST(",'nominated':'one of choices'" TWO),
			POST(",'nominated':'n1','choices':['n1']"), false},
		{"nothing to choose from", POST(",'nominated':'one of choices'"),
			POST(",'nominated':'n1'"), false},
	};

	check(rows, BT_ARRAY_LENGTH(rows), false);
}
END_TEST

START_TEST(test_conformance_compare__scalar_reasons_are_a_set)
{
	static const struct row rows[] = {
		{"scalars",
			RESULT(",'filter':{'n1':{'reasons':['Insufficient cpu','Insufficient "
			       "a','Insufficient b']}}"),
			RESULT(",'filter':{'n1':{'reasons':['Insufficient cpu','Insufficient b',"
			       "'Insufficient a']}}"),
			true},
		{"others keep their order",
			RESULT(",'filter':{'n1':{'reasons':['Insufficient cpu','Insufficient "
			       "memory']}}"),
			RESULT(",'filter':{'n1':{'reasons':['Insufficient memory','Insufficient "
			       "cpu']}}"),
			false},
		{"one is missing", RESULT(",'filter':{'n1':{'reasons':['Insufficient a']}}"),
			RESULT(",'filter':{'n1':{}}"), false},
	};

	check(rows, BT_ARRAY_LENGTH(rows), true);
}
END_TEST

BT_TEST_MAIN("conformance_compare", test_conformance_compare__members_on_one_side,
	test_conformance_compare__post_filter, test_conformance_compare__one_of_choices,
	test_conformance_compare__scalar_reasons_are_a_set)
