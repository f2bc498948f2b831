/* SPDX-License-Identifier: Apache-2.0 */
/* JSON Merge Patch: the table of RFC 7396 appendix A; equality. Spec: 14 section 12.2. */
#include "codec/json_patch.h"

#include "test_main.h"

static struct bt_json_value *parsed(struct bt_arena *arena, const char *text)
{
	struct bt_json_value *value = NULL;
	ck_assert_int_eq(bt_json_parse(arena, bt_str_from(text), true, &value, NULL), 0);
	return value;
}

static const char *const rows[][3] = {
	{"{\"a\":\"b\"}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
	{"{\"a\":\"b\"}", "{\"b\":\"c\"}", "{\"a\":\"b\",\"b\":\"c\"}"},
	{"{\"a\":\"b\"}", "{\"a\":null}", "{}"},
	{"{\"a\":\"b\",\"b\":\"c\"}", "{\"a\":null}", "{\"b\":\"c\"}"},
	{"{\"a\":[\"b\"]}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
	{"{\"a\":\"c\"}", "{\"a\":[\"b\"]}", "{\"a\":[\"b\"]}"},
	{"{\"a\":{\"b\":\"c\"}}", "{\"a\":{\"b\":\"d\",\"c\":null}}", "{\"a\":{\"b\":\"d\"}}"},
	{"{\"a\":[{\"b\":\"c\"}]}", "{\"a\":[1]}", "{\"a\":[1]}"},
	{"[\"a\",\"b\"]", "[\"c\",\"d\"]", "[\"c\",\"d\"]"},
	{"{\"a\":\"b\"}", "[\"c\"]", "[\"c\"]"},
	{"{\"a\":\"foo\"}", "null", "null"},
	{"{\"a\":\"foo\"}", "\"bar\"", "\"bar\""},
	{"{\"e\":null}", "{\"a\":1}", "{\"e\":null,\"a\":1}"},
	{"[1,2]", "{\"a\":\"b\",\"c\":null}", "{\"a\":\"b\"}"},
	{"{}", "{\"a\":{\"bb\":{\"ccc\":null}}}", "{\"a\":{\"bb\":{}}}"},
	/* repeated member names: the last member counts */
	{"{\"a\":1,\"a\":2}", "{\"b\":3,\"b\":4}", "{\"a\":2,\"b\":4}"},
};

START_TEST(test_json_merge_patch__table)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bt_arena arena = {0};
		const struct bt_json_value *document = parsed(&arena, rows[i][0]);
		const struct bt_json_value *result =
			bt_json_merge_patch(&arena, document, parsed(&arena, rows[i][1]));
		ck_assert_msg(bt_json_equal(document, parsed(&arena, rows[i][0])),
			"row %zu changes the document", i);
		ck_assert_msg(bt_json_same(result, parsed(&arena, rows[i][2])), "row %zu: %s", i,
			rows[i][1]);
		bt_arena_finish(&arena);
	}
}
END_TEST

static struct bt_json_value *many_members(struct bt_arena *arena, int first, int step, int count)
{
	struct bt_json_value *object = bt_json_new(arena, BT_JSON_OBJECT);
	for (int i = 0; i < count; i++) {
		bt_json_append_member(arena, object, bt_arena_printf(arena, "m%d", first),
			bt_json_new_int64(arena, first));
		first += step;
	}
	return object;
}

/* With a linear search for each member these patches would take minutes. */
START_TEST(test_json_merge_patch__many_members)
{
	enum { COUNT = 200000 };
	struct bt_arena arena = {0};
	struct bt_json_value *up = many_members(&arena, 0, 1, COUNT);
	struct bt_json_value *down = many_members(&arena, COUNT - 1, -1, COUNT);
	ck_assert(bt_json_same(up, down));
	up = bt_json_merge_patch(&arena, up, many_members(&arena, COUNT / 2, 1, COUNT));
	ck_assert_uint_eq(up->count, COUNT + COUNT / 2);
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_json_merge_patch__same)
{
	static const struct {
		const char *a;
		const char *b;
		bool same;
	} pairs[] = {
		{"1", "1.0", true},
		{"100", "1e2", true},
		{"9007199254740993", "9007199254740992", false},
		{"0.1", "0.10", true},
		{"1", "\"1\"", false},
		{"{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1}", true},
		{"{\"a\":1,\"b\":2}", "{\"b\":2}", false},
		{"{\"a\":1,\"a\":2}", "{\"a\":2}", true},
		{"[1,2]", "[2,1]", false},
		{"null", "false", false},
	};
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		struct bt_arena arena = {0};
		bool same = bt_json_same(parsed(&arena, pairs[i].a), parsed(&arena, pairs[i].b));
		ck_assert_msg(same == pairs[i].same, "%s %s", pairs[i].a, pairs[i].b);
		bt_arena_finish(&arena);
	}
}
END_TEST

START_TEST(test_json_merge_patch__diff)
{
	static const struct {
		const char *from;
		const char *to;
		const char *patch;
	} diffs[] = {
		{"{}", "{}", "{}"},
		{"{\"a\":1,\"b\":[1,2]}", "{\"b\":[1,2],\"a\":1}", "{}"},
		{"{\"a\":1,\"b\":2}", "{\"b\":3,\"c\":4}", "{\"a\":null,\"b\":3,\"c\":4}"},
		{"{\"a\":{\"b\":{\"c\":1,\"d\":2}}}", "{\"a\":{\"b\":{\"c\":1}}}",
			"{\"a\":{\"b\":{\"d\":null}}}"},
		{"{\"a\":[1,2]}", "{\"a\":[1]}", "{\"a\":[1]}"},
		{"{\"a\":{}}", "{\"a\":\"text\"}", "{\"a\":\"text\"}"},
		{"{}", "{\"a\":{}}", "{\"a\":{}}"},
		{"{\"a\":null}", "{\"b\":null}", "{}"},
		{"{\"a\":1}", "{\"a\":null}", "{\"a\":null}"},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(diffs); i++) {
		struct bt_arena arena;
		bt_arena_init(&arena, 0);
		struct bt_json_value *patch = bt_json_merge_diff(
			&arena, parsed(&arena, diffs[i].from), parsed(&arena, diffs[i].to));
		ck_assert_msg(bt_json_same(patch, parsed(&arena, diffs[i].patch)), "%s to %s",
			diffs[i].from, diffs[i].to);
		struct bt_json_value *result =
			bt_json_merge_patch(&arena, parsed(&arena, diffs[i].from), patch);
		const struct bt_json_value *rest =
			bt_json_merge_diff(&arena, result, parsed(&arena, diffs[i].to));
		ck_assert_msg(rest->count == 0, "%s to %s", diffs[i].from, diffs[i].to);
		bt_arena_finish(&arena);
	}
}
END_TEST

BT_TEST_MAIN("json_merge_patch", test_json_merge_patch__table, test_json_merge_patch__many_members,
	test_json_merge_patch__same, test_json_merge_patch__diff)
