/* SPDX-License-Identifier: Apache-2.0 */
/* Costs of evaluations, and limits that end hostile expressions. Spec: 12b section 10. */
#include "evaluate_fixture.h"

#include <stdlib.h>
#include <time.h>

#define A "device.attributes[\"dra.example.com\"]"
#define C "device.capacity[\"dra.example.com\"]"
#define TEN "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]"
#define TOO_MUCH "E: operation cancelled: actual cost limit exceeded"

/** Bound on the processor time of one evaluation, on a slow machine and under sanitizers. */
#define SECONDS_MAX 60
/**
 * Bound on the arena. The bound is above the limit, because an evaluation can still allocate after
 * the last check of the limit.
 */
#define BYTES_MAX (2 * BT_CEL_MEMORY_MAX)

static struct cel_fixture fixture;

/* --- units --- */

static const struct {
	const char *expression;
	uint64_t units;
} costs[] = {
	{"1", 0},
	{"[1, 2, 1 + 2]", 11},
	{"[1, 2]", 0},
	{"{\"a\": 1}", 0},
	{"[[1], [2]]", 0},
	{"device", 1},
	{"device.driver", 2},
	{A, 3},
	{A ".s", 4},
	{A "[\"s\"]", 4},
	{"has(" A ".s)", 2}, /* one unit less than A */
	{"has({\"a\": 1}.a)", 0},
	{"[device]", 11},
	{"{\"a\": device}", 31},
	{"true && true || false ? 1 : 2", 0},
	{"!true", 1},
	{"1 == 2", 1},
	{"1 < 2", 1},
	{"\"12345678901\" == \"123\"", 1},
	{"\"12345678901\" == \"12345678901\"", 2},
	{"\"12345678901\" < \"12345678901\"", 2},
	{"[1, 2, 3] == [1, 2]", 3},
	{"quantity(\"1\") == quantity(\"2\")", 3},
	{"\"12345\" + \"123456\"", 2},
	{"1 + 2", 1},
	{"device in [device, device]", 15},
	{"\"a\" in [\"a\", \"b\"]", 0},
	{"\"a\" in {\"a\": 1}", 1},
	{"quantity(\"1\")", 1},
	{"quantity(\"10000000000\")", 2},
	{"semver(\"1.2.3\")", 1},
	{"int(\"7\")", 0},
	{A ".v.major()", 5},
	{A ".s.startsWith(\"f\")", 5},
	{A ".s.matches(\"^fi\")", 5},
	{A ".s.contains(\"f\")", 5},
	{C ".mem.compareTo(quantity(\"40Gi\"))", 6},
	{"[1, 2].all(x, true)", 6},
	{"[1, 2].exists(x, false)", 8},
	{"[1, 2].map(x, x)", 26},
	{"lists.range(5)", 16},
};

static struct bt_cel_evaluation evaluate(const char *expression, struct bt_arena *arena,
	struct bt_strbuf *out, const struct bt_cel_limits *limits)
{
	struct bt_cel_program *program = cel_compile(expression, NULL);
	struct bt_cel_evaluation evaluation;
	struct bt_cel_value result;

	ck_assert_msg(program != NULL, "%s", expression);
	bt_cel_evaluation_init(&evaluation, program, &fixture.device, limits, arena);
	result = bt_cel_evaluation_run(&evaluation);
	if (out != NULL && bt_cel_is_error(&result)) {
		cel_print_result(&evaluation, &result, out);
	}
	bt_cel_program_destroy(program);
	return evaluation;
}

START_TEST(test_cel_cost__units)
{
	static const struct bt_cel_limits limits = {.cost_max = BT_CEL_COST_MAX};

	cel_fixture_init(&fixture);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(costs); i++) {
		struct bt_arena arena = {0};
		struct bt_cel_evaluation evaluation =
			evaluate(costs[i].expression, &arena, NULL, &limits);

		ck_assert_msg(evaluation.cost == costs[i].units, "%s: %llu, not %llu",
			costs[i].expression, (unsigned long long)evaluation.cost,
			(unsigned long long)costs[i].units);
		bt_arena_finish(&arena);
	}
	cel_fixture_finish(&fixture);
}
END_TEST

START_TEST(test_cel_cost__the_limit_is_the_last_unit)
{
	struct bt_cel_limits limits = {.cost_max = 4};
	struct bt_strbuf text = {0};
	struct bt_arena arena = {0};

	cel_fixture_init(&fixture);
	(void)evaluate(A ".s", &arena, &text, &limits);
	ck_assert_uint_eq(text.length, 0);
	limits.cost_max = 3;
	(void)evaluate(A ".s", &arena, &text, &limits);
	ck_assert_str_eq(bt_strbuf_c(&text), TOO_MUCH);
	/* No operator or macro absorbs the error. */
	bt_strbuf_reset(&text);
	(void)evaluate("false || " A ".b || true", &arena, &text, &limits);
	ck_assert_str_eq(bt_strbuf_c(&text), TOO_MUCH);
	bt_strbuf_reset(&text);
	(void)evaluate("[1, 2].exists(x, " A ".b || x == 2)", &arena, &text, &limits);
	ck_assert_str_eq(bt_strbuf_c(&text), TOO_MUCH);
	bt_strbuf_finish(&text);
	bt_arena_finish(&arena);
	cel_fixture_finish(&fixture);
}
END_TEST

/* --- interruption --- */

static bool interrupt_third(void *context, struct bt_str *out_cause)
{
	uint32_t *asked = context;

	*out_cause = BT_STR("context deadline exceeded");
	return ++*asked == 3;
}

START_TEST(test_cel_cost__interruption_is_checked_every_hundred_steps)
{
	uint32_t asked = 0;
	struct bt_cel_limits limits = {
		.cost_max = BT_CEL_COST_MAX, .is_interrupted = interrupt_third, .context = &asked};
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_cel_program *program =
		cel_compile("lists.range(1000).all(x, x >= 0) || true", NULL);
	struct bt_arena arena = {0};
	bool matches;

	cel_fixture_init(&fixture);
	ck_assert_ptr_nonnull(program);
	ck_assert_int_eq(
		bt_cel_device_matches(program, &fixture.device, &limits, &arena, &matches, &err),
		BERTH_ERR_STATE);
	ck_assert_str_eq(
		berth_error_message(&err), "operation interrupted: context deadline exceeded");
	ck_assert_uint_eq(asked, 3);
	berth_error_finish(&err);
	asked = 10;
	ck_assert_int_eq(
		bt_cel_device_matches(program, &fixture.device, &limits, &arena, &matches, NULL),
		0);
	ck_assert_uint_eq(asked, 20);
	bt_cel_program_destroy(program);
	bt_arena_finish(&arena);
	cel_fixture_finish(&fixture);
}
END_TEST

/* --- hostile expressions --- */

/**
 * Evaluation must end within SECONDS_MAX and BYTES_MAX, with the error expected (NULL: any result).
 */
static void check_bounded(const char *expression, const char *expected)
{
	static const struct bt_cel_limits limits = {.cost_max = BT_CEL_COST_MAX};
	struct bt_strbuf text = {0};
	struct bt_arena arena = {0};
	clock_t start = clock();
	struct bt_cel_evaluation evaluation = evaluate(expression, &arena, &text, &limits);
	double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;

	if (getenv("BERTH_TEST_VERBOSE") != NULL) {
		(void)printf("%.3f s, %zu KiB, cost %llu, work %llu: %.60s\n", seconds,
			arena.total_bytes >> 10, (unsigned long long)evaluation.cost,
			(unsigned long long)evaluation.work, expression);
	}
	ck_assert_msg(expected == NULL || strcmp(bt_strbuf_c(&text), expected) == 0, "%.200s: %s",
		expression, bt_strbuf_c(&text));
	ck_assert_msg(seconds < SECONDS_MAX, "%.200s: %f s", expression, seconds);
	ck_assert_msg(
		arena.total_bytes < BYTES_MAX, "%.200s: %zu bytes", expression, arena.total_bytes);
	bt_strbuf_finish(&text);
	bt_arena_finish(&arena);
}

static const char *const hostile[] = {
	/* nested loops */
	TEN ".all(a, " TEN ".all(b, " TEN ".all(c, " TEN ".all(d, " TEN ".all(e, " TEN
	    ".all(f, " TEN ".all(g, true)))))))",
	"lists.range(1000).all(a, lists.range(1000).all(b, true))",
	"lists.range(1000).map(a, lists.range(1000).map(b, [a, b]))",
	"lists.range(900000)",
	"lists.range(999999999999)",
	"lists.range(200000).map(x, x).map(x, x).map(x, x).map(x, x).map(x, x)",
	"lists.range(60000).transformMap(i, v, v)",
	"lists.range(60000).transformMapEntry(i, v, {v: i})",
	"lists.range(60000).map(x, {x: x}) == lists.range(60000).map(x, {x: x})",
	"cel.bind(m, lists.range(60000).transformMap(i, v, v), m == m)",
	"cel.bind(a, lists.range(100), cel.bind(b, a.map(x, a), cel.bind(c, a.map(x, b), "
	"lists.range(9000).all(y, c == c))))",
	"cel.bind(m, lists.range(60000).transformMap(i, v, v), lists.range(60000).all(x, m[x] == "
	"x))",
	"cel.bind(m, lists.range(60000).transformMap(i, v, v), lists.range(60000).all(x, x in m))",
	/* calls on a long text whose cost in units does not grow with the length of the text */
	"cel.bind(s, lists.range(99999).map(x, string(x)).join(), lists.range(30000).all(x, "
	"s.size() > 0))",
	"cel.bind(s, lists.range(99999).map(x, string(x)).join(), lists.range(30000).all(x, "
	"s.indexOf(\"zz\") < 0))",
	"cel.bind(s, lists.range(99999).map(x, string(x)).join(), lists.range(30000).all(x, "
	"s.charAt(400000) == \"\" || true))",
	"lists.range(600).map(x, 600 - x).sort().sort().sort()",
	/* regular expressions */
	"cel.bind(s, lists.range(30000).map(x, \"ab\").join(), "
	"s.matches(\"[ab]*a[ab]{500}[ab]{500}c\"))",
	"cel.bind(s, lists.range(30000).map(x, \"ab\").join(), s.findAll(\"a.*c|a\").size() > 0)",
	"lists.range(60000).exists(x, \"a\".matches(\"\\\\pL{30}\" + string(x)))",
	"lists.range(60000).exists(x, \"a\".matches(string(x) + \"(.{100}){10}\"))",
	"lists.range(60000).exists(x, \"a\".matches(string(x) + \"[\\\\pL\\\\pN]{900}\"))",
	"lists.range(9999).map(x, \"a\").join().matches(string(\"a?\") + \"(a?){1000}a{1000}$\")",
};

START_TEST(test_cel_cost__hostile_expressions_end)
{
	cel_fixture_init(&fixture);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(hostile); i++) {
		check_bounded(hostile[i], NULL);
	}
	cel_fixture_finish(&fixture);
}
END_TEST

/** The cost in units counts only the outer list. */
START_TEST(test_cel_cost__every_element_that_is_compared_is_work)
{
	static const char expression[] =
		"cel.bind(a, lists.range(1000), cel.bind(b, a.map(x, a), b == b))";
	static const struct bt_cel_limits limits = {.cost_max = BT_CEL_COST_MAX};
	struct bt_strbuf text = {0};
	struct bt_arena arena = {0};
	struct bt_cel_evaluation evaluation;

	cel_fixture_init(&fixture);
	evaluation = evaluate(expression, &arena, &text, &limits);
	ck_assert_str_eq(bt_strbuf_c(&text), "");
	ck_assert_uint_ge(evaluation.work, 1000000);
	bt_strbuf_finish(&text);
	bt_arena_finish(&arena);
	cel_fixture_finish(&fixture);
}
END_TEST

/** Evaluates the expression 100 times on values made from 10000 zeros; returns the work. */
static uint64_t work_of(const char *expression)
{
	static const struct bt_cel_limits limits = {.cost_max = BT_CEL_COST_MAX};
	struct bt_strbuf whole = {0};
	struct bt_strbuf text = {0};
	struct bt_arena arena = {0};
	struct bt_cel_evaluation evaluation;

	bt_strbuf_printf(&whole,
		"cel.bind(s, lists.range(1000).map(x, \"0000000000\").join(), "
		"cel.bind(t, s + \"\", cel.bind(m, {s: 1}, cel.bind(n, {t: 1}, "
		"cel.bind(u, url(\"/\" + s), cel.bind(v, semver(\"1.2.3-a\" + s), "
		"cel.bind(b, bytes(s), "
		"m.size() + n.size() > 0 && b.size() > 0 && u == u && v == v && "
		"lists.range(100).all(x, %s || true))))))))",
		expression);
	evaluation = evaluate(bt_strbuf_c(&whole), &arena, &text, &limits);
	ck_assert_msg(text.length == 0, "%s: %s", expression, bt_strbuf_c(&text));
	bt_strbuf_finish(&whole);
	bt_strbuf_finish(&text);
	bt_arena_finish(&arena);
	return evaluation.work;
}

/** Functions that read all of a long value, but cost one unit. */
START_TEST(test_cel_cost__long_texts_are_work)
{
	static const char *const rows[] = {"int(s) == 0", "uint(s) == 0u", "v == v", "u == u",
		"m[t] == 1", "t in m", "m == n", "m[?t].hasValue()", "[b, b].max().size() > 0",
		"[b, b].sort() == []", "[s, s].sort() == []", "{dyn(s): 1, dyn(t): 2} == m"};
	uint64_t nothing;

	cel_fixture_init(&fixture);
	nothing = work_of("true");
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		uint64_t work = work_of(rows[i]) - nothing;

		ck_assert_msg(work >= 100 * 10000 / BT_CEL_COMPARED_BYTES, "%s: %llu", rows[i],
			(unsigned long long)work);
	}
	cel_fixture_finish(&fixture);
}
END_TEST

/**
 * Checks an expression whose value grows with every level, beyond the memory of any machine; last
 * reads the value.
 */
static void check_growth(const char *first, const char *step, uint32_t levels, const char *last)
{
	struct bt_strbuf text = {0};

	bt_strbuf_printf(&text, "cel.bind(x0, %s, ", first);
	for (uint32_t i = 1; i < levels; i++) {
		bt_strbuf_printf(&text, "cel.bind(x%u, ", i);
		for (const char *p = step; *p != '\0'; p++) {
			if (*p == '@') {
				bt_strbuf_printf(&text, "x%u", i - 1);
			} else {
				bt_strbuf_append_char(&text, *p);
			}
		}
		bt_strbuf_append_c(&text, ", ");
	}
	for (const char *p = last; *p != '\0'; p++) {
		if (*p == '@') {
			bt_strbuf_printf(&text, "x%u", levels - 1);
		} else {
			bt_strbuf_append_char(&text, *p);
		}
	}
	for (uint32_t i = 0; i < levels; i++) {
		bt_strbuf_append_char(&text, ')');
	}
	check_bounded(bt_strbuf_c(&text), TOO_MUCH);
	bt_strbuf_finish(&text);
}

START_TEST(test_cel_cost__doubling_expressions_end)
{
	static const struct {
		const char *first;
		const char *step;
		const char *last;
	} rows[] = {
		{"\"ab\"", "@ + @", "@.size() > 0"},
		{"b\"ab\"", "@ + @", "@.size() > 0"},
		{"[1]", "@ + @", "@.size() > 0"},
		{"\"ab\"", "\"%s%s\".format([@, @])", "@.size() > 0"},
		{"\"ab\"", "[@, @].join(@)", "@.size() > 0"},
		{"\"ab\"", "@.replace(\"\", @)", "@.size() > 0"},
		{"\"ab\"", "@.replace(\"a\", @ + \"a\")", "@.size() > 0"},
		{"\"\\\\\"", "strings.quote(@)", "@.size() > 0"},
		/* values that share parts: small in memory, but too large to walk through */
		{"[0]", "[@, @]", "@ == @"},
		{"[0]", "[@, @]", "@ in [@]"},
		{"[0]", "[@, @]", "\"%s\".format([@]) != \"\""},
		{"{\"a\": 0}", "{\"a\": @, \"b\": @}", "@ == @"},
		{"{\"a\": 0}", "{\"a\": @, \"b\": @}", "\"%s\".format([@]) != \"\""},
		{"optional.of(dyn([0]))", "optional.of(dyn([@, @]))", "@ == @"},
		{"[dyn(0)]", "[dyn(@), dyn(@)]", "@.flatten(200).size() > 0"},
		{"[dyn(0)]", "[dyn(@), dyn(@)]", "sets.equivalent(@, @)"},
		{"[dyn(0)]", "[dyn(@), dyn(@)]", "@.distinct().size() > 0"},
		{"[dyn(0)]", "[dyn(@), dyn(@)]", "@.indexOf(@[0]) > 0"},
		{"[dyn(0)]", "[dyn(@), dyn(@)]", "@.includes(@[0])"},
	};

	cel_fixture_init(&fixture);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		check_growth(rows[i].first, rows[i].step, 60, rows[i].last);
	}
	cel_fixture_finish(&fixture);
}
END_TEST

/**
 * Checks nested lists that are deeper than an expression can be written: each cel.bind adds LEVELS
 * levels to the value of the cel.bind around it. all_at_once: only last needs the values, so the
 * evaluations of all values nest; otherwise each value is computed before the next value needs it.
 */
static void check_depth(const char *last, bool all_at_once)
{
	enum { LEVELS = 100 };
	struct bt_strbuf step = {0};
	struct bt_strbuf whole = {0};

	for (uint32_t i = 0; i < LEVELS; i++) {
		bt_strbuf_append_char(&step, '[');
	}
	bt_strbuf_append_c(&step, "dyn(@)");
	for (uint32_t i = 0; i < LEVELS; i++) {
		bt_strbuf_append_char(&step, ']');
	}
	for (uint32_t i = 0; i < LEVELS && !all_at_once; i++) {
		bt_strbuf_printf(&whole, "x%u.size() == 1 && ", i);
	}
	bt_strbuf_append_c(&whole, last);
	check_growth("[0]", bt_strbuf_c(&step), LEVELS, bt_strbuf_c(&whole));
	bt_strbuf_finish(&step);
	bt_strbuf_finish(&whole);
}

START_TEST(test_cel_cost__deep_values_are_not_walked_through)
{
	cel_fixture_init(&fixture);
	check_depth("@ == @", false);
	check_depth("\"%s\".format([@]) != \"\"", false);
	check_depth("[@].indexOf(@) == 0", false);
	cel_fixture_finish(&fixture);
}
END_TEST

/** Ten thousand nested levels of evaluation would overflow the stack, at least under sanitizers. */
START_TEST(test_cel_cost__what_was_put_off_does_not_nest_for_ever)
{
	cel_fixture_init(&fixture);
	check_depth("@.size() == 1", true);
	cel_fixture_finish(&fixture);
}
END_TEST

/**
 * Compiles an expression of count calls and returns the result code. Each call has the same
 * pattern, which needs much memory.
 */
static int compile_patterns(const char *call, uint32_t count, struct bt_cel_program **out_program)
{
	struct bt_strbuf text = {0};
	for (uint32_t i = 0; i < count; i++) {
		bt_strbuf_printf(&text, "%s%s", i != 0 ? " || " : "", call);
	}
	int code = bt_cel_compile(bt_strbuf_str(&text), cel_environment(), out_program, NULL);
	bt_strbuf_finish(&text);
	return code;
}

START_TEST(test_cel_cost__constant_patterns_are_bounded_together)
{
	static const char validated[] = "\"a\".matches(\"[ab]{500}[ab]{500}c\")";
	static const char unvalidated[] = "\"a\".find(\"[ab]{500}[ab]{500}c\") == \"\"";
	struct bt_cel_program *program;
	ck_assert_int_eq(compile_patterns(validated, 20, &program), 0);
	bt_cel_program_destroy(program);
	ck_assert_int_eq(compile_patterns(validated, 200, &program), BERTH_ERR_INVALID);
	/* Patterns of find are compiled at evaluation, so the program does not contain them. */
	ck_assert_int_eq(compile_patterns(unvalidated, 200, &program), 0);
	ck_assert_uint_lt(bt_cel_program_bytes(program), 6 << 20);
	bt_cel_program_destroy(program);
}
END_TEST

BT_TEST_MAIN("cel_cost", test_cel_cost__units, test_cel_cost__the_limit_is_the_last_unit,
	test_cel_cost__interruption_is_checked_every_hundred_steps,
	test_cel_cost__hostile_expressions_end,
	test_cel_cost__every_element_that_is_compared_is_work, test_cel_cost__long_texts_are_work,
	test_cel_cost__doubling_expressions_end, test_cel_cost__deep_values_are_not_walked_through,
	test_cel_cost__what_was_put_off_does_not_nest_for_ever,
	test_cel_cost__constant_patterns_are_bounded_together)
