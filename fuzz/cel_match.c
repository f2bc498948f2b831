/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiles a text and evaluates it against a device, both as a selector and as an expression of any
 * type. Two evaluations in bounded memory must have the same outcome. The result must have the type
 * that the checker derived, unless the text uses `dyn` or a value of type `any`.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/assert.h"
#include "base/strbuf.h"
#include "cel/ast.h"
#include "cel/device.h"
#include "cel/function.h"

/** Lower than the scheduler's limit: fuzzing evaluates many expressions. */
#define COST_MAX 20000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char device_text[] =
	"{\"name\":\"d\",\"attributes\":{"
	"\"b\":{\"bool\":true},\"f\":{\"bool\":false},\"i\":{\"int\":1},\"neg\":{\"int\":-3},"
	"\"s\":{\"string\":\"fish\"},\"p\":{\"string\":\"0000:3b:00.0\"},"
	"\"v\":{\"version\":\"1.2.3\"},\"other.example.com/x\":{\"string\":\"y\"},"
	"\"ls\":{\"strings\":[\"fish\",\"bird\"]},\"li\":{\"ints\":[1,2]},"
	"\"lv\":{\"versions\":[\"1.0.0\",\"2.0.0\"]}},"
	"\"capacity\":{\"mem\":{\"value\":\"1Mi\"},\"cores\":{\"value\":\"8\"},"
	"\"part\":{\"value\":\"1500m\"}}}";

static void make_device(struct bt_arena *arena, struct bt_cel_value *out_value)
{
	struct bt_device *device = BT_ARENA_NEW(arena, struct bt_device);
	struct bt_json_reader reader;
	int code;

	bt_json_reader_init(&reader, bt_str_from(device_text));
	code = bt_message_decode_json(&bt_device_message, &reader, arena, device, NULL);
	BT_ASSERT(code == 0);
	code = bt_cel_device_make(BT_STR("dra.example.com"), device, true, arena, out_value, NULL);
	BT_ASSERT(code == 0);
}

/** Returns the result's kind as the checker derives it; BT_CEL_DYN: unknown. */
static enum bt_cel_kind checked_kind(
	struct bt_str text, const struct bt_cel_environment *environment)
{
	struct bt_arena arena = {0};
	struct bt_cel_issues issues = {.source = text, .arena = &arena};
	struct bt_cel_node *root = bt_cel_parse(text, &arena, &issues);
	uint32_t local_count;
	bool is_right = root != NULL &&
		bt_cel_check(root, environment, &arena, &arena, &issues, &local_count);
	enum bt_cel_kind kind;

	BT_ASSERT(is_right);
	kind = root->type->kind;
	bt_vec_finish(&issues.items);
	bt_arena_finish(&arena);
	return kind;
}

/**
 * Whether the result may have a kind other than `told`. The checker accepts a value of kind `dyn`
 * or `any` where another kind is expected: it takes dyn(1).orValue([]) for a list.
 */
static bool is_open(struct bt_str text, enum bt_cel_kind told)
{
	return told == BT_CEL_DYN || told == BT_CEL_ANY || bt_str_find(text, BT_STR("dyn")) >= 0 ||
		bt_str_find(text, BT_STR("attributes")) >= 0;
}

static void append_outcome(const struct bt_cel_value *value, struct bt_strbuf *out)
{
	bt_strbuf_append_c(out, bt_cel_kind_name(value->kind));
	if (value->kind == BT_CEL_ERROR || value->kind == BT_CEL_STRING) {
		bt_strbuf_append_str(out, value->text);
	} else if (value->kind == BT_CEL_BOOL) {
		bt_strbuf_append_char(out, value->boolean ? '1' : '0');
	}
}

/**
 * Evaluates the program and appends the outcome to out. `told` is the expected kind of the result.
 * Null and errors are always accepted, and `is_any` accepts every kind.
 */
static void evaluate(const struct bt_cel_program *program, enum bt_cel_kind told, bool is_any,
	struct bt_strbuf *out)
{
	const struct bt_cel_limits limits = {.cost_max = COST_MAX};
	struct bt_arena devices = {0};
	struct bt_arena arena = {0};
	struct bt_cel_value device;
	struct bt_cel_value value;

	make_device(&devices, &device);
	value = bt_cel_evaluate(program, &device, &limits, &arena);
	BT_ASSERT(arena.total_bytes <= 2 * BT_CEL_MEMORY_MAX);
	BT_ASSERT(value.kind <= BT_CEL_ERROR);
	BT_ASSERT(is_any || value.kind == told || value.kind == BT_CEL_ERROR ||
		value.kind == BT_CEL_NULL);
	append_outcome(&value, out);
	bt_arena_finish(&arena);
	bt_arena_finish(&devices);
}

static void compile_and_evaluate(
	struct bt_str text, const struct bt_cel_environment *environment, struct bt_strbuf *out)
{
	struct bt_cel_program *program = NULL;
	struct berth_error err = BERTH_ERROR_INIT;

	if (bt_cel_compile(text, environment, &program, &err) == 0) {
		enum bt_cel_kind told = checked_kind(text, environment);

		evaluate(program, told, is_open(text, told), out);
	} else {
		bt_strbuf_append_c(out, berth_error_message(&err));
	}
	bt_cel_program_destroy(program);
	berth_error_finish(&err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct bt_cel_environment *selector = bt_cel_device_environment(true);
	const struct bt_cel_environment anything = {.variables = selector->variables,
		.variable_count = selector->variable_count,
		.accepts_dyn = true};
	struct bt_str text = {(const char *)data, (uint32_t)size};
	struct bt_strbuf outcomes[2] = {{0}, {0}};

	for (uint32_t i = 0; i < 2; i++) {
		compile_and_evaluate(text, &anything, &outcomes[i]);
		compile_and_evaluate(text, selector, &outcomes[i]);
		compile_and_evaluate(text, bt_cel_device_environment(false), &outcomes[i]);
	}
	BT_ASSERT(bt_str_equal(bt_strbuf_str(&outcomes[0]), bt_strbuf_str(&outcomes[1])));
	bt_strbuf_finish(&outcomes[0]);
	bt_strbuf_finish(&outcomes[1]);
	return 0;
}
