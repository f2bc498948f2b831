/* SPDX-License-Identifier: Apache-2.0 */
/* The library without devices: only cel/cel.h and variables that the test defines. */
#include "test_main.h"

#include "cel/cel.h"

/* Variables: user (string), groups (list of strings), limits (map of integers). */
static const struct bt_cel_type groups_type = {
	.kind = BT_CEL_LIST, .of = {&bt_cel_types[BT_CEL_STRING]}};
static const struct bt_cel_type limits_type = {
	.kind = BT_CEL_MAP, .of = {&bt_cel_types[BT_CEL_STRING], &bt_cel_types[BT_CEL_INT]}};
static const struct bt_cel_variable variables[] = {
	{BT_STR_INIT("user"), &bt_cel_types[BT_CEL_STRING]},
	{BT_STR_INIT("groups"), &groups_type},
	{BT_STR_INIT("limits"), &limits_type},
};
static const struct bt_cel_environment environment = {
	.variables = variables, .variable_count = 3, .must_be_bool = true};

static const struct bt_cel_limits bounds = {.cost_max = BT_CEL_COST_MAX};

/** Evaluates with user "ann", groups ["dev", "ops"] and limits {"cpu": 4}. */
static struct bt_cel_value evaluate(const struct bt_cel_program *program,
	const struct bt_cel_limits *limits, struct bt_arena *arena)
{
	const struct bt_cel_value groups[] = {
		bt_cel_string(BT_STR("dev")), bt_cel_string(BT_STR("ops"))};
	const struct bt_cel_entry entry = {bt_cel_string(BT_STR("cpu")), bt_cel_int(4)};
	const struct bt_cel_map map = {.entries = &entry, .count = 1};
	const struct bt_cel_value values[] = {
		bt_cel_string(BT_STR("ann")),
		{.kind = BT_CEL_LIST, .list = {groups, 2}},
		{.kind = BT_CEL_MAP, .map = &map},
	};

	return bt_cel_evaluate(program, values, limits, arena);
}

static struct bt_cel_program *compile(const char *expression)
{
	struct bt_cel_program *program = NULL;

	ck_assert_msg(bt_cel_compile(bt_str_from(expression), &environment, &program, NULL) == 0,
		"%s", expression);
	return program;
}

START_TEST(test_cel_alone__one_program_many_values)
{
	static const struct {
		const char *expression;
		bool holds;
	} rows[] = {
		{"user == \"ann\" && \"ops\" in groups", true},
		{"groups.exists(g, g.startsWith(\"adm\"))", false},
		{"limits.cpu * 2 > 7 && !has(limits.memory)", true},
		{"limits.?memory.orValue(1) == 1", true},
		{"user.matches(\"^[a-z]{3}$\")", true},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_cel_program *program = compile(rows[i].expression);
		struct bt_arena arena = {0};

		for (int again = 0; again < 2; again++) {
			struct bt_cel_value result = evaluate(program, &bounds, &arena);

			ck_assert_msg(result.kind == BT_CEL_BOOL && result.boolean == rows[i].holds,
				"%s", rows[i].expression);
			bt_arena_reset(&arena);
		}
		ck_assert_uint_gt(bt_cel_program_bytes(program), 0);
		bt_arena_finish(&arena);
		bt_cel_program_destroy(program);
	}
}
END_TEST

START_TEST(test_cel_alone__errors_are_texts)
{
	static const struct {
		const char *expression;
		const char *problem;
	} rows[] = {
		{"user == 1",
			"compilation failed: ERROR: <input>:1:6: found no matching overload for "
			"'_==_' applied to '(string, int)'\n | user == 1\n | .....^"},
		{"limits", "must evaluate to bool or the unknown type, not map(string, int)"},
		{"device.driver == user",
			"compilation failed: ERROR: <input>:1:1: undeclared reference to 'device' "
			"(in container '')\n | device.driver == user\n | ^"},
		{"int(\"x\") == 1",
			"program instantiation failed: type conversion error from 'string' to "
			"'int'"},
	};
	struct bt_cel_program *program = compile("limits.memory > 0");
	struct bt_arena arena = {0};
	struct bt_cel_value result = evaluate(program, &bounds, &arena);

	ck_assert(bt_cel_is_error(&result));
	ck_assert(bt_str_equal_c(result.text, "no such key: memory"));
	bt_arena_finish(&arena);
	bt_cel_program_destroy(program);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct berth_error err = BERTH_ERROR_INIT;

		ck_assert_int_eq(bt_cel_compile(bt_str_from(rows[i].expression), &environment,
					 &program, &err),
			BERTH_ERR_INVALID);
		ck_assert_str_eq(berth_error_message(&err), rows[i].problem);
		berth_error_finish(&err);
	}
}
END_TEST

static bool is_late(void *context, struct bt_str *out_cause)
{
	*out_cause = BT_STR("too late");
	return ++*(int *)context == 2;
}

START_TEST(test_cel_alone__bounds)
{
	struct bt_cel_program *program = compile("lists.range(1000).all(x, x >= 0)");
	struct bt_cel_limits limits = {.cost_max = 500};
	struct bt_arena arena = {0};
	struct bt_cel_value result = evaluate(program, &limits, &arena);
	int asked = 0;

	ck_assert(bt_cel_is_error(&result));
	ck_assert(bt_str_equal_c(result.text, "operation cancelled: actual cost limit exceeded"));
	limits = (struct bt_cel_limits){
		.cost_max = BT_CEL_COST_MAX, .is_interrupted = is_late, .context = &asked};
	result = evaluate(program, &limits, &arena);
	ck_assert(bt_cel_is_error(&result));
	ck_assert(bt_str_equal_c(result.text, "operation interrupted: too late"));
	bt_arena_finish(&arena);
	bt_cel_program_destroy(program);
}
END_TEST

BT_TEST_MAIN("cel_alone", test_cel_alone__one_program_many_values, test_cel_alone__errors_are_texts,
	test_cel_alone__bounds)
