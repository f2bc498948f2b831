/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Applies to a whole document a change that was made to the part of the document that the program
 * knows.
 */
#include "codec/json_patch.h"

#include "test_main.h"

static struct bt_json_value *parsed(struct bt_arena *arena, const char *text)
{
	struct bt_json_value *value = NULL;
	ck_assert_int_eq(bt_json_parse(arena, bt_str_from(text), true, &value, NULL), 0);
	return value;
}

static const struct {
	const char *whole;
	const char *before;
	const char *after;
	const char *expected;
} rows[] = {
	{"{\"a\":1,\"x\":2}", "{\"a\":1}", "{\"a\":1}", "{\"a\":1,\"x\":2}"},
	{"{\"a\":1,\"x\":2}", "{\"a\":1}", "{\"a\":3}", "{\"a\":3,\"x\":2}"},
	{"{\"a\":1,\"x\":2}", "{\"a\":1}", "{}", "{\"x\":2}"},
	{"{\"x\":2}", "{}", "{\"b\":3}", "{\"x\":2,\"b\":3}"},
	/* a value that only differs in its form keeps the form of the document */
	{"{\"a\":\"1000m\",\"b\":1}", "{\"a\":\"1\",\"b\":1}", "{\"a\":\"1\",\"b\":2}",
		"{\"a\":\"1000m\",\"b\":2}"},
	/* a member that only decoding adds is not written to the document */
	{"{\"b\":1}", "{\"a\":null,\"b\":1}", "{\"a\":null,\"b\":2}", "{\"b\":2}"},
	{"{\"m\":{\"a\":1,\"x\":2}}", "{\"m\":{\"a\":1}}", "{\"m\":{\"a\":5}}",
		"{\"m\":{\"a\":5,\"x\":2}}"},
	/* lists: append, remove from the middle, change an element, remove all */
	{"[{\"a\":1,\"x\":1}]", "[{\"a\":1}]", "[{\"a\":1},{\"a\":2}]",
		"[{\"a\":1,\"x\":1},{\"a\":2}]"},
	{"[{\"a\":1,\"x\":1},{\"a\":2,\"x\":2},{\"a\":3,\"x\":3}]",
		"[{\"a\":1},{\"a\":2},{\"a\":3}]", "[{\"a\":1},{\"a\":3}]",
		"[{\"a\":1,\"x\":1},{\"a\":3,\"x\":3}]"},
	{"[{\"a\":1,\"x\":1},{\"a\":2,\"x\":2}]", "[{\"a\":1},{\"a\":2}]", "[{\"a\":1},{\"a\":5}]",
		"[{\"a\":1,\"x\":1},{\"a\":5,\"x\":2}]"},
	{"[1,2]", "[1,2]", "[]", "[]"},
	{"[1,null,2]", "[1,2]", "[1,2,3]", "[1,2,3]"},
	{"[1]", "{\"a\":1}", "{\"a\":2}", "{\"a\":2}"},
	{"{\"a\":[1]}", "{\"a\":[1]}", "{\"a\":\"b\"}", "{\"a\":\"b\"}"},
};

START_TEST(test_json_rebase__table)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bt_arena arena = {0};
		const struct bt_json_value *result =
			bt_json_rebase(&arena, parsed(&arena, rows[i].whole),
				parsed(&arena, rows[i].before), parsed(&arena, rows[i].after));
		ck_assert_msg(bt_json_same(result, parsed(&arena, rows[i].expected)),
			"row %zu: %s to %s", i, rows[i].before, rows[i].after);
		bt_arena_finish(&arena);
	}
}
END_TEST

BT_TEST_MAIN("json_rebase", test_json_rebase__table)
