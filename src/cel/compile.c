/* SPDX-License-Identifier: Apache-2.0 */
/* From a text to a program. Spec: 12b sections 2 and 12. */
#include <stddef.h>

#include "base/alloc.h"
#include "cel/program.h"
#include "cel/regex.h"

#define FIRST_CHUNK_BYTES 1024
/** Types of most selectors fit; larger expressions take more from the heap. */
#define SCRATCH_BYTES 8192

/** parse, check, validate: false with issues added. */
static bool build_tree(
	struct bt_cel_program *program, struct bt_arena *scratch, struct bt_cel_issues *issues)
{
	program->root = bt_cel_parse(issues->source, &program->arena, issues);
	return program->root != NULL &&
		bt_cel_check(program->root, program->environment, &program->arena, scratch, issues,
			&program->local_count) &&
		bt_cel_validate(program->root, scratch, issues);
}

static int report_issues(struct bt_cel_issues *issues, struct berth_error *err)
{
	struct bt_strbuf text = {0};
	int code;

	bt_cel_issues_format(issues, &text);
	code = bt_error_set(err, BERTH_ERR_INVALID, "compilation failed: %s", bt_strbuf_c(&text));
	bt_strbuf_finish(&text);
	return code;
}

static int test_output_type(const struct bt_cel_program *program, struct berth_error *err)
{
	const struct bt_cel_environment *environment = program->environment;
	const struct bt_cel_type *type = program->root->type;
	struct bt_strbuf text = {0};
	int code;

	if (!environment->wants_bool || type->kind == BT_CEL_BOOL || type->kind == BT_CEL_ANY ||
		(type->kind == BT_CEL_DYN && environment->accepts_dyn)) {
		return 0;
	}
	bt_cel_type_print_output(type, &text);
	code = bt_error_set(err, BERTH_ERR_INVALID,
		"must evaluate to bool or the unknown type, not %s", bt_strbuf_c(&text));
	bt_strbuf_finish(&text);
	return code;
}

static void forget_types(struct bt_cel_node *node)
{
	struct bt_cel_node *child;

	node->type = NULL;
	for (uint32_t i = 0; (child = bt_cel_node_child(node, i)) != NULL; i++) {
		forget_types(child);
	}
}

static int build(struct bt_cel_program *program, struct bt_str expression, struct berth_error *err)
{
	_Alignas(max_align_t) char memory[SCRATCH_BYTES];
	struct bt_arena scratch;
	struct bt_cel_issues issues = {.source = expression, .arena = &scratch};
	int code;

	bt_arena_init_with(&scratch, memory, sizeof memory);
	code = build_tree(program, &scratch, &issues) ? test_output_type(program, err)
						      : report_issues(&issues, err);
	if (code == 0) {
		forget_types(program->root);
	}
	bt_vec_finish(&issues.items);
	bt_arena_finish(&scratch);
	return code == 0 ? bt_cel_program_prepare(program, err) : code;
}

int bt_cel_compile(struct bt_str expression, const struct bt_cel_environment *environment,
	struct bt_cel_program **out_program, struct berth_error *err)
{
	struct bt_cel_program *program = BT_NEW(struct bt_cel_program);
	int code;

	bt_arena_init(&program->arena, FIRST_CHUNK_BYTES);
	program->environment = environment;
	code = build(program, expression, err);
	if (code != 0) {
		bt_cel_program_destroy(program);
		return code;
	}
	*out_program = program;
	return 0;
}

void bt_cel_program_destroy(struct bt_cel_program *program)
{
	if (program == NULL) {
		return;
	}
	bt_cel_program_release(program);
	bt_arena_finish(&program->arena);
	bt_free(program);
}

size_t bt_cel_program_bytes(const struct bt_cel_program *program)
{
	size_t bytes = sizeof *program + program->arena.total_bytes +
		program->regexes.capacity * sizeof *program->regexes.items;

	for (uint32_t i = 0; i < program->regexes.count; i++) {
		bytes += bt_cel_regex_bytes(program->regexes.items[i]);
	}
	return bytes;
}
