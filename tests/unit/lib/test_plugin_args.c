/* SPDX-License-Identifier: Apache-2.0 */
/** Spec 02 section 7: DecodeInto. */
#include "berth/plugin.h"

#include <string.h>

#include "test_main.h"

struct inner {
	struct berth_str name;
	int64_t size;
};

struct args {
	struct berth_str text;
	bool flag;
	int32_t small;
	int64_t large;
	float part;
	int64_t wait_ns;
	struct berth_args_list names;
	struct inner inner;
	struct berth_args_list inners;
};

static const struct berth_args_field inner_fields[] = {
	{"size", BERTH_ARGS_INT64, offsetof(struct inner, size), NULL},
	{"name", BERTH_ARGS_STR, offsetof(struct inner, name), NULL},
};
static const struct berth_args_schema inner_schema = {
	"Inner", sizeof(struct inner), inner_fields, 2, false};
static const struct berth_args_field fields[] = {
	{"text", BERTH_ARGS_STR, offsetof(struct args, text), NULL},
	{"flag", BERTH_ARGS_BOOL, offsetof(struct args, flag), NULL},
	{"small", BERTH_ARGS_INT32, offsetof(struct args, small), NULL},
	{"large", BERTH_ARGS_INT64, offsetof(struct args, large), NULL},
	{"part", BERTH_ARGS_FLOAT, offsetof(struct args, part), NULL},
	{"wait", BERTH_ARGS_DURATION, offsetof(struct args, wait_ns), NULL},
	{"names", BERTH_ARGS_STR_LIST, offsetof(struct args, names), NULL},
	{"inner", BERTH_ARGS_OBJECT, offsetof(struct args, inner), &inner_schema},
	{"inners", BERTH_ARGS_LIST, offsetof(struct args, inners), &inner_schema},
};
static const struct berth_args_schema schema = {"TestArgs", sizeof(struct args), fields, 9, false};
static const struct berth_args_schema strict_schema = {
	"TestArgs", sizeof(struct args), fields, 9, true};

static int decode_raw(const struct berth_raw_args *raw, const struct berth_args_schema *table,
	struct berth_arena *arena, struct args *args, struct berth_error *err)
{
	return berth_plugin_args_decode_into(raw, table, arena, args, err);
}

/* seed-map 001.6 */
START_TEST(test_plugin_args__every_type)
{
	struct berth_arena *arena = berth_arena_create();
	struct berth_error err = BERTH_ERROR_INIT;
	struct args args = {.large = 77, .small = 3};
	struct berth_raw_args raw = {
		.raw = BERTH_STR("{\"text\":\"t\",\"flag\":true,\"small\":-5,\"part\":0.5,"
				 "\"wait\":\"1m30s\",\"names\":[\"a\",\"b\"],\"other\":1,"
				 "\"inner\":{\"name\":\"i\",\"size\":9},"
				 "\"inners\":[{\"name\":\"x\"},{\"size\":2}]}")};
	int result = decode_raw(&raw, &schema, arena, &args, &err);

	ck_assert_msg(result == 0, "%s", berth_error_message(&err));
	ck_assert(berth_str_equal_c(args.text, "t"));
	ck_assert(args.flag);
	ck_assert_int_eq(args.small, -5);
	ck_assert_int_eq(args.large, 77);
	ck_assert(args.part > 0.49F && args.part < 0.51F);
	ck_assert_int_eq(args.wait_ns, INT64_C(90000000000));
	ck_assert_uint_eq(args.names.count, 2);
	ck_assert(args.names.present);
	ck_assert(berth_str_equal_c(((struct berth_str *)args.names.items)[1], "b"));
	ck_assert(berth_str_equal_c(args.inner.name, "i"));
	ck_assert_int_eq(args.inner.size, 9);
	ck_assert_uint_eq(args.inners.count, 2);
	ck_assert_int_eq(((struct inner *)args.inners.items)[1].size, 2);
	berth_arena_destroy(arena);
}
END_TEST

START_TEST(test_plugin_args__absent_and_null)
{
	struct berth_arena *arena = berth_arena_create();
	struct args args = {.small = 3};
	struct berth_raw_args none = {0};
	struct berth_raw_args null_text = {.raw = BERTH_STR("null")};

	ck_assert_int_eq(decode_raw(NULL, &schema, arena, &args, NULL), 0);
	ck_assert_int_eq(decode_raw(&none, &schema, arena, &args, NULL), 0);
	ck_assert_int_eq(decode_raw(&null_text, &schema, arena, &args, NULL), 0);
	ck_assert_int_eq(args.small, 3);
	berth_arena_destroy(arena);
}
END_TEST

START_TEST(test_plugin_args__yaml)
{
	struct berth_arena *arena = berth_arena_create();
	struct berth_error err = BERTH_ERROR_INIT;
	struct args args = {0};
	struct berth_raw_args raw = {.content_type = BERTH_STR("application/yaml"),
		.raw = BERTH_STR("text: yaml\nnames:\n- a\n")};
	int result = decode_raw(&raw, &schema, arena, &args, &err);

	ck_assert_msg(result == 0, "%s", berth_error_message(&err));
	ck_assert(berth_str_equal_c(args.text, "yaml"));
	ck_assert_uint_eq(args.names.count, 1);
	berth_arena_destroy(arena);
}
END_TEST

START_TEST(test_plugin_args__errors)
{
	/* Members that reach beyond the end of the structure. */
	static const struct berth_args_field long_list[] = {{"list", BERTH_ARGS_STR_LIST, 8, NULL}};
	static const struct berth_args_schema narrow = {
		.type_name = "Narrow", .size = 16, .fields = long_list, .field_count = 1};
	static const struct berth_args_field long_object[] = {
		{"object", BERTH_ARGS_OBJECT, 8, &narrow}};
	static const struct berth_args_schema outer = {
		.type_name = "Outer", .size = 16, .fields = long_object, .field_count = 1};
	static const struct {
		const char *name;
		struct berth_raw_args raw;
		const struct berth_args_schema *table;
		int code;
		const char *message;
	} rows[] = {
		{"in-tree", {.type_name = {"NodeAffinityArgs", 16}}, &schema, BERTH_ERR_INVALID,
			"want args of type runtime.Unknown, got *config.NodeAffinityArgs"},
		{"content type", {.content_type = {"text/plain", 10}, .raw = {"{}", 2}}, &schema,
			BERTH_ERR_INVALID, "not supported content type text/plain"},
		{"type", {.raw = {"{\"small\":\"x\"}", 13}}, &schema, BERTH_ERR_INVALID,
			"json: cannot unmarshal string into Go struct field TestArgs.small of type "
			"int32"},
		{"strict", {.raw = {"{\"smal\":1}", 10}}, &strict_schema, BERTH_ERR_INVALID,
			"strict decoding error: unknown field \"smal\""},
		{"syntax", {.raw = {"{", 1}}, &schema, BERTH_ERR_SYNTAX,
			"unexpected end of JSON input"},
		{"no table", {.raw = {"{}", 2}}, NULL, BERTH_ERR_INTERNAL,
			"the table of arguments is not valid"},
		{"long list", {.raw = {"{}", 2}}, &narrow, BERTH_ERR_INTERNAL,
			"the table of Narrow is not valid"},
		{"long object", {.raw = {"{}", 2}}, &outer, BERTH_ERR_INTERNAL,
			"the table of Outer is not valid"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct berth_arena *arena = berth_arena_create();
		struct berth_error err = BERTH_ERROR_INIT;
		struct args args = {0};
		int result = decode_raw(&rows[i].raw, rows[i].table, arena, &args, &err);

		ck_assert_msg(result == rows[i].code, "%s: %d", rows[i].name, result);
		ck_assert_msg(strcmp(berth_error_message(&err), rows[i].message) == 0, "%s: %s",
			rows[i].name, berth_error_message(&err));
		berth_error_finish(&err);
		berth_arena_destroy(arena);
	}
}
END_TEST

BT_TEST_MAIN("lib_plugin_args", test_plugin_args__every_type, test_plugin_args__absent_and_null,
	test_plugin_args__yaml, test_plugin_args__errors)
