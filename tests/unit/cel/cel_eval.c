/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Evaluates expressions for tests in other languages: lines of JSON in, lines of JSON out.
 *
 *         {"expression": "x + 1 < d", "variables": {"x": "1", "d": "dyn(2.5)"}}
 *
 * A variable has the value and the static type of its expression. The answer is {"value": ...},
 * {"error": "..."} or, from the compiler, {"refused": "..."}. Values are null, booleans, strings,
 * arrays, and objects with one member: int, uint, double (text), bytes (hexadecimal), duration
 * (ns), timestamp ([seconds, nanoseconds]), type, optional (array of zero or one value), map (array
 * of pairs), other (the name of the kind).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/shortest.h"
#include "cel/ast.h"
#include "codec/json.h"

#define VARIABLES_MAX 64

static const struct bt_cel_environment empty;
static const struct bt_cel_limits limits = {.cost_max = BT_CEL_COST_MAX};

static void write_value(struct bt_json_writer *writer, const struct bt_cel_value *value);

static void write_map(struct bt_json_writer *writer, const struct bt_cel_map *map)
{
	bt_json_begin_array(writer);
	for (uint32_t i = 0; i < map->count; i++) {
		bt_json_begin_array(writer);
		write_value(writer, &map->entries[i].key);
		write_value(writer, &map->entries[i].value);
		bt_json_end_array(writer);
	}
	bt_json_end_array(writer);
}

static void write_list(
	struct bt_json_writer *writer, const struct bt_cel_value *items, uint32_t count)
{
	bt_json_begin_array(writer);
	for (uint32_t i = 0; i < count; i++) {
		write_value(writer, &items[i]);
	}
	bt_json_end_array(writer);
}

/** Writes the text of a value that has no form in JSON; returns false for other values. */
static bool print_text(const struct bt_cel_value *value, struct bt_strbuf *out)
{
	switch ((int)value->kind) {
	case BT_CEL_INT:
	case BT_CEL_DURATION:
		bt_strbuf_printf(out, "%" PRId64, value->integer);
		return true;
	case BT_CEL_UINT:
		bt_strbuf_printf(out, "%" PRIu64, value->uinteger);
		return true;
	case BT_CEL_DOUBLE:
		bt_shortest_append_general(out, value->real);
		return true;
	case BT_CEL_BYTES:
		for (uint32_t i = 0; i < value->text.length; i++) {
			bt_strbuf_printf(
				out, "%02x", (unsigned int)(unsigned char)value->text.data[i]);
		}
		return true;
	case BT_CEL_TYPE:
		bt_strbuf_append_c(out, bt_cel_kind_name(value->type->kind));
		return true;
	default:
		return false;
	}
}

static const char *tag_of(enum bt_cel_kind kind)
{
	switch ((int)kind) {
	case BT_CEL_INT:
		return "int";
	case BT_CEL_UINT:
		return "uint";
	case BT_CEL_DOUBLE:
		return "double";
	case BT_CEL_BYTES:
		return "bytes";
	case BT_CEL_DURATION:
		return "duration";
	case BT_CEL_TIMESTAMP:
		return "timestamp";
	case BT_CEL_TYPE:
		return "type";
	case BT_CEL_OPTIONAL:
		return "optional";
	case BT_CEL_MAP:
		return "map";
	default:
		return "other";
	}
}

static void write_tagged(struct bt_json_writer *writer, const struct bt_cel_value *value)
{
	struct bt_strbuf text = {0};

	bt_json_begin_object(writer);
	bt_json_write_name_c(writer, tag_of(value->kind));
	if (print_text(value, &text)) {
		bt_json_write_str(writer, bt_strbuf_str(&text));
	} else if (value->kind == BT_CEL_OPTIONAL) {
		write_list(writer, value->optional, value->optional != NULL ? 1 : 0);
	} else if (value->kind == BT_CEL_MAP) {
		write_map(writer, value->map);
	} else if (value->kind == BT_CEL_TIMESTAMP) {
		bt_json_begin_array(writer);
		bt_json_write_int64(writer, value->timestamp.seconds);
		bt_json_write_int64(writer, value->timestamp.nanoseconds);
		bt_json_end_array(writer);
	} else {
		bt_json_write_c(writer, bt_cel_kind_name(value->kind));
	}
	bt_json_end_object(writer);
	bt_strbuf_finish(&text);
}

static void write_value(struct bt_json_writer *writer, const struct bt_cel_value *value)
{
	switch ((int)value->kind) {
	case BT_CEL_NULL:
		bt_json_write_null(writer);
		break;
	case BT_CEL_BOOL:
		bt_json_write_bool(writer, value->boolean);
		break;
	case BT_CEL_STRING:
		bt_json_write_str(writer, value->text);
		break;
	case BT_CEL_LIST:
		write_list(writer, value->list.items, value->list.count);
		break;
	default:
		write_tagged(writer, value);
	}
}

/** The variables of one input line, and the programs that compute their values. */
struct scope {
	struct bt_cel_variable variables[VARIABLES_MAX];
	struct bt_cel_value values[VARIABLES_MAX];
	struct bt_cel_program *programs[VARIABLES_MAX];
	uint32_t count;
};

static int compile(struct bt_str expression, const struct bt_cel_environment *environment,
	struct bt_cel_program **out_program, struct bt_json_writer *writer)
{
	struct berth_error err = BERTH_ERROR_INIT;
	int code = bt_cel_compile(expression, environment, out_program, &err);

	if (code != 0) {
		bt_json_write_member_c(writer, "refused", berth_error_message(&err));
	}
	berth_error_finish(&err);
	return code;
}

/**
 * Returns the static type of a valid expression. Parses and checks the expression again, since
 * programs hold no types.
 */
static const struct bt_cel_type *type_of(struct bt_str expression, struct bt_arena *arena)
{
	struct bt_cel_issues issues = {.source = expression, .arena = arena};
	struct bt_cel_node *root = bt_cel_parse(expression, arena, &issues);
	uint32_t local_count;

	if (root == NULL || !bt_cel_check(root, &empty, arena, arena, &issues, &local_count)) {
		(void)fprintf(stderr, "no type: %.*s\n", BT_STR_ARG(expression));
		exit(2);
	}
	return root->type;
}

/** Adds a variable; returns false, with the answer written, if its expression does not compile. */
static bool add_variable(struct scope *scope, const struct bt_json_member *member,
	struct bt_arena *arena, struct bt_json_writer *writer)
{
	uint32_t i = scope->count;

	if (i == VARIABLES_MAX || member->value->type != BT_JSON_STRING) {
		(void)fprintf(stderr, "too many variables, or one without expression\n");
		exit(2);
	}
	if (compile(member->value->text, &empty, &scope->programs[i], writer) != 0) {
		return false;
	}
	scope->values[i] = bt_cel_evaluate(scope->programs[i], NULL, &limits, arena);
	scope->variables[i].name = member->name;
	scope->variables[i].type = type_of(member->value->text, arena);
	scope->count++;
	return true;
}

static void answer(const struct bt_json_value *question, struct scope *scope,
	struct bt_arena *arena, struct bt_json_writer *writer)
{
	const struct bt_json_value *variables = bt_json_find(question, "variables");
	struct bt_cel_environment environment = {.variables = scope->variables};
	struct bt_cel_program *program = NULL;

	for (uint32_t i = 0; variables != NULL && i < variables->count; i++) {
		if (!add_variable(scope, &variables->members[i], arena, writer)) {
			return;
		}
	}
	environment.variable_count = scope->count;
	if (compile(bt_json_find_str(question, "expression"), &environment, &program, writer) ==
		0) {
		struct bt_cel_value value = bt_cel_evaluate(program, scope->values, &limits, arena);
		if (value.kind == BT_CEL_ERROR) {
			bt_json_write_member(writer, "error", value.text);
		} else {
			bt_json_write_name_c(writer, "value");
			write_value(writer, &value);
		}
	}
	bt_cel_program_destroy(program);
}

static void answer_line(struct bt_str line)
{
	struct bt_arena arena = {0};
	struct bt_strbuf out = {0};
	struct scope scope = {.count = 0};
	struct bt_json_value *question = NULL;
	struct bt_json_writer writer;

	if (bt_json_parse(&arena, line, false, &question, NULL) != 0) {
		(void)fprintf(stderr, "not JSON: %.*s\n", BT_STR_ARG(line));
		exit(2);
	}
	bt_json_writer_init(&writer, &out, 0);
	bt_json_begin_object(&writer);
	answer(question, &scope, &arena, &writer);
	bt_json_end_object(&writer);
	(void)puts(bt_strbuf_c(&out));
	for (uint32_t i = 0; i < scope.count; i++) {
		bt_cel_program_destroy(scope.programs[i]);
	}
	bt_strbuf_finish(&out);
	bt_arena_finish(&arena);
}

int main(void)
{
	struct bt_strbuf line = {0};
	char block[4096];

	while (fgets(block, sizeof(block), stdin) != NULL) {
		bt_strbuf_append_c(&line, block);
		if (line.data[line.length - 1] == '\n') {
			answer_line(bt_strbuf_str(&line));
			bt_strbuf_reset(&line);
		}
	}
	bt_strbuf_finish(&line);
	return 0;
}
