/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_CEL_EVALUATE_FIXTURE_H
#define BT_TESTS_UNIT_CEL_EVALUATE_FIXTURE_H
/** Evaluates expressions of any type on one device and compares the results as lines of text. */
#include "test_main.h"

#include "cel/device.h"
#include "cel/evaluate_private.h"
#include "cel/text.h"

struct cel_fixture {
	struct bt_arena arena; /* owns the device */
	struct bt_cel_value device;
};

/** Makes the device of spec 12b section 18. */
static inline void cel_fixture_init(struct cel_fixture *fixture)
{
	static const char text[] =
		"{\"name\":\"dev\",\"attributes\":{\"b\":{\"bool\":true},\"f\":{\"bool\":false},"
		"\"i\":{\"int\":1},\"neg\":{\"int\":-3},\"s\":{\"string\":\"fish\"},"
		"\"p\":{\"string\":\"0000:3b:00.0\"},\"v\":{\"version\":\"1.2.3\"},"
		"\"other.example.com/x\":{\"string\":\"y\"}},\"capacity\":{\"mem\":{\"value\":"
		"\"1Mi\"},\"cores\":{\"value\":\"8\"},\"part\":{\"value\":\"1500m\"}}}";
	struct bt_device *device;
	struct bt_json_reader reader;

	*fixture = (struct cel_fixture){0};
	device = BT_ARENA_NEW(&fixture->arena, struct bt_device);
	bt_json_reader_init(&reader, bt_str_from(text));
	ck_assert_int_eq(
		bt_message_decode_json(&bt_device_message, &reader, &fixture->arena, device, NULL),
		0);
	ck_assert_int_eq(bt_cel_device_make(BT_STR("dra.example.com"), device, false,
				 &fixture->arena, &fixture->device, NULL),
		0);
}

static inline void cel_fixture_finish(struct cel_fixture *fixture)
{
	bt_arena_finish(&fixture->arena);
}

/** Returns an environment in which expressions may have any type. */
static inline const struct bt_cel_environment *cel_environment(void)
{
	static struct bt_cel_environment environment;

	environment = *bt_cel_device_environment(false);
	environment.must_be_bool = false;
	return &environment;
}

static inline struct bt_cel_program *cel_compile(const char *expression, struct berth_error *err)
{
	struct bt_cel_program *program = NULL;

	return bt_cel_compile(bt_str_from(expression), cel_environment(), &program, err) == 0
		? program
		: NULL;
}

/** Appends the result as format("%s") prints it, or "E: " and the error of the evaluation. */
static inline void cel_print_result(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *result, struct bt_strbuf *out)
{
	struct bt_cel_evaluation unbound = {.arena = evaluation->arena, .cost_max = UINT64_MAX};
	struct bt_cel_output output = {.evaluation = &unbound};
	struct bt_cel_value text;

	if (bt_cel_is_error(result)) {
		bt_strbuf_printf(out, "E: %.*s", BT_STR_ARG(result->text));
		return;
	}
	ck_assert(bt_cel_output_value(&output, result));
	text = bt_cel_output_finish(&output);
	bt_strbuf_append_str(out, text.text);
}

static inline void cel_run(
	const struct cel_fixture *fixture, const char *expression, struct bt_strbuf *out)
{
	static const struct bt_cel_limits limits = {.cost_max = BT_CEL_COST_MAX};
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_cel_program *program = cel_compile(expression, &err);
	struct bt_cel_evaluation evaluation;
	struct bt_arena arena = {0};
	struct bt_cel_value result;

	bt_strbuf_reset(out);
	if (program == NULL) {
		bt_strbuf_printf(out, "X: %s", berth_error_message(&err));
		berth_error_finish(&err);
		return;
	}
	bt_cel_evaluation_init(&evaluation, program, &fixture->device, &limits, &arena);
	result = bt_cel_evaluation_run(&evaluation);
	cel_print_result(&evaluation, &result, out);
	bt_arena_finish(&arena);
	bt_cel_program_destroy(program);
}

struct cel_row {
	const char *expression;
	const char *expected;
};

/**
 * Evaluates each row. If the expected text begins with "X: ", the rest must be a part of the
 * result; otherwise the whole text must equal the result.
 */
static inline void cel_check_rows(const struct cel_row *rows, size_t count)
{
	struct cel_fixture fixture;
	struct bt_strbuf got = {0};
	uint32_t wrong = 0;

	cel_fixture_init(&fixture);
	for (size_t i = 0; i < count; i++) {
		const char *expected = rows[i].expected;

		cel_run(&fixture, rows[i].expression, &got);
		if (strncmp(expected, "X: ", 3) == 0
				? strstr(bt_strbuf_c(&got), expected + 3) == NULL
				: strcmp(bt_strbuf_c(&got), expected) != 0) {
			(void)fprintf(stderr, "%s\n got: %s\nwant: %s\n", rows[i].expression,
				bt_strbuf_c(&got), expected);
			wrong++;
		}
	}
	bt_strbuf_finish(&got);
	cel_fixture_finish(&fixture);
	ck_assert_msg(wrong == 0, "%u rows", wrong);
}
#endif
