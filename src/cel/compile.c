/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include "base/alloc.h"
#include "cel/checker_private.h"
#include "cel/evaluate_private.h"
#include "cel/function.h"
#include "cel/regex.h"

/* Validators: report literals that fail for every input. Spec: 12b sections 7.4 and 7.5. */

struct validator {
	struct bt_cel_inference inference;
	struct bt_cel_issues *issues;
	/* number of enclosing format calls, in which lists may have mixed types */
	uint32_t format_depth;
	size_t pattern_bytes; /* memory of the patterns compiled so far */
};

static bool is_call(const struct bt_cel_node *node, const char *function, bool is_member)
{
	return node->call.operator_ == BT_CEL_OP_NONE && (node->call.target != NULL) == is_member &&
		bt_str_equal_c(node->call.function, function);
}

/**
 * Returns the first part of an item that the verb cannot print; NULL: the verb can print the item,
 * or the type is known only at run time. For %s, also checks the elements of list and map literals.
 */
static const struct bt_cel_node *unprintable_part(char verb, const struct bt_cel_node *item)
{
	const struct bt_cel_node *found = NULL;
	const struct bt_cel_node *child;

	if (item->type->kind == BT_CEL_DYN) {
		return NULL;
	}
	if (bt_cel_format_refusal(verb, item->type->kind) != NULL) {
		return item;
	}
	if (verb != 's' || (item->kind != BT_CEL_NODE_LIST && item->kind != BT_CEL_NODE_MAP)) {
		return NULL;
	}
	for (uint32_t i = 0; found == NULL && (child = bt_cel_node_child(item, i)) != NULL; i++) {
		found = unprintable_part(verb, child);
	}
	return found;
}

/** Adds an issue for the first error in a format and its values. */
static void validate_format(struct validator *validator, const struct bt_cel_node *call)
{
	struct bt_str format = call->call.target->literal.text;
	const struct bt_cel_node *list = call->call.arguments[0];
	struct bt_cel_evaluation evaluation = {
		.arena = validator->inference.arena, .cost_max = BT_CEL_COST_MAX};
	struct bt_str text;
	uint32_t used = 0;
	uint32_t at = 0;

	while (bt_cel_format_next(format, &at, &text)) {
		struct bt_cel_format_clause clause;
		struct bt_cel_value failure;
		struct bt_strbuf name = {0};

		if (text.length != 0) {
			continue;
		}
		if (used >= list->list.count) {
			bt_cel_issue_add(
				validator->issues, call->position, "index %u out of range", used);
			return;
		}
		if (!bt_cel_format_parse(&evaluation, format, &at, &clause, &failure)) {
			bt_cel_issue_add(validator->issues, call->position, "%.*s",
				BT_STR_ARG(failure.text));
			return;
		}
		const struct bt_cel_node *part =
			unprintable_part(clause.verb, list->list.items[used++]);
		if (part != NULL) {
			bt_cel_type_print_output(&bt_cel_types[part->type->kind], &name);
			bt_cel_issue_add(validator->issues, part->position, "%s%s",
				bt_cel_format_refusal(clause.verb, part->type->kind),
				bt_strbuf_c(&name));
			bt_strbuf_finish(&name);
			return;
		}
	}
	if (used < list->list.count) {
		bt_cel_issue_add(validator->issues, call->position,
			"too many arguments supplied to string.format (expected %u, got %u)", used,
			list->list.count);
	}
}

/**
 * Adds an issue if the call is duration(), timestamp() or matches() and its first argument is a
 * literal text that the function cannot parse.
 */
static void validate_call(struct validator *validator, const struct bt_cel_node *call)
{
	const struct bt_cel_node *literal = call->call.count != 0 ? call->call.arguments[0] : NULL;
	struct bt_cel_evaluation evaluation = {
		.arena = validator->inference.arena, .cost_max = BT_CEL_COST_MAX};
	bool is_duration = is_call(call, "duration", false);

	if (literal == NULL || literal->kind != BT_CEL_NODE_LITERAL ||
		literal->literal.kind != BT_CEL_STRING) {
		return;
	}
	if (is_duration || is_call(call, "timestamp", false)) {
		struct bt_cel_call conversion = {
			.evaluation = &evaluation, .arguments = &literal->literal, .count = 1};
		struct bt_cel_value result = is_duration ? bt_cel_fn_to_duration(&conversion)
							 : bt_cel_fn_to_timestamp(&conversion);

		if (bt_cel_is_error(&result)) {
			bt_cel_issue_add(validator->issues, literal->position,
				"invalid %s argument", is_duration ? "duration" : "timestamp");
		}
	} else if (is_call(call, "matches", false) || is_call(call, "matches", true)) {
		/*
		 * Upstream quirk: for `matches(text, pattern)` the text is validated, not the
		 * pattern.
		 */
		struct bt_cel_regex *regex = NULL;
		int code = BERTH_ERR_TOO_LARGE;

		if (validator->pattern_bytes < BT_CEL_REGEXES_BYTES_MAX) {
			code = bt_cel_regex_compile(literal->literal.text, &regex, NULL);
		}
		if (code == 0) {
			validator->pattern_bytes += bt_cel_regex_bytes(regex);
		} else {
			bt_cel_issue_add(
				validator->issues, literal->position, "invalid matches argument");
			validator->pattern_bytes +=
				code == BERTH_ERR_TOO_LARGE ? BT_CEL_REGEX_BYTES_MAX : 0;
		}
		bt_cel_regex_destroy(regex);
	}
}

/**
 * Checks that the elements of a list literal, or the keys or the values of a map literal, have the
 * type of the first element, key or value. An optional element (`?x`) counts with the type inside
 * the optional. is_map true: reports every mismatch; false: reports only the first mismatch.
 */
static void validate_elements(struct validator *validator, struct bt_cel_node *const *nodes,
	const bool *is_optional, uint32_t count, bool is_map)
{
	const struct bt_cel_type *expected = NULL;

	for (uint32_t i = 0; i < count; i++) {
		const struct bt_cel_type *type = nodes[i]->type;

		if (is_optional != NULL && is_optional[i] && type->kind == BT_CEL_OPTIONAL) {
			type = type->of[0];
		}
		if (i == 0) {
			expected = type;
		} else if (!bt_cel_type_is_same(expected, type)) {
			bt_cel_report_type(validator->issues, nodes[i]->position, expected, type);
			if (!is_map) {
				return;
			}
		}
	}
}

static void validate(struct validator *validator, const struct bt_cel_node *node)
{
	bool is_format = node->kind == BT_CEL_NODE_CALL && is_call(node, "format", true);
	struct bt_cel_node *child;

	if (node->kind == BT_CEL_NODE_CALL) {
		const struct bt_cel_node *list =
			node->call.count != 0 ? node->call.arguments[0] : NULL;

		if (!is_format) {
			validate_call(validator, node);
		} else if (list != NULL && node->call.target->kind == BT_CEL_NODE_LITERAL &&
			node->call.target->literal.kind == BT_CEL_STRING &&
			list->kind == BT_CEL_NODE_LIST && list->list.is_optional == NULL) {
			validate_format(validator, node);
		}
	} else if (node->kind == BT_CEL_NODE_LIST && validator->format_depth == 0) {
		validate_elements(validator, node->list.items, node->list.is_optional,
			node->list.count, false);
	} else if (node->kind == BT_CEL_NODE_MAP && node->map.type_name.data == NULL &&
		validator->format_depth == 0) {
		validate_elements(validator, node->map.keys, NULL, node->map.count, true);
		validate_elements(
			validator, node->map.values, node->map.is_optional, node->map.count, true);
	}
	validator->format_depth += is_format;
	for (uint32_t i = 0; (child = bt_cel_node_child(node, i)) != NULL; i++) {
		validate(validator, child);
	}
	validator->format_depth -= is_format;
}

/* Preparing the program: the last step of a compilation. Spec: 12b section 11. */

/** Whether all children of the node are constants for which upstream charges no units. */
static bool has_free_children(const struct bt_cel_node *node)
{
	const struct bt_cel_node *child;

	for (uint32_t i = 0; (child = bt_cel_node_child(node, i)) != NULL; i++) {
		if (child->constant == NULL || child->constant_cost != 0) {
			return false;
		}
	}
	return true;
}

static struct bt_cel_value evaluate_constant(
	struct bt_cel_program *program, const struct bt_cel_node *node, uint32_t *out_cost)
{
	static const struct bt_cel_limits limits = {.cost_max = BT_CEL_COST_MAX};
	struct bt_cel_evaluation evaluation;

	bt_cel_evaluation_init(&evaluation, program, NULL, &limits, &program->arena);
	struct bt_cel_value value = bt_cel_evaluate_node(&evaluation, node);
	*out_cost = (uint32_t)evaluation.cost;
	return value;
}

static void set_constant(struct bt_cel_program *program, struct bt_cel_node *node,
	struct bt_cel_value value, uint32_t cost)
{
	struct bt_cel_value *constant = BT_ARENA_NEW(&program->arena, struct bt_cel_value);

	*constant = value;
	node->constant = constant;
	node->constant_cost = cost;
}

static int prepare_call(
	struct bt_cel_program *program, struct bt_cel_node *node, struct berth_error *err)
{
	struct bt_str function = node->call.function;
	bool is_member = node->call.target != NULL;
	bool is_matches = bt_str_equal_c(function, "matches");
	uint32_t pattern_index = is_member ? 0 : 1;
	struct berth_error problem = BERTH_ERROR_INIT;
	const struct bt_cel_node *argument;

	if (node->call.operator_ == BT_CEL_OP_IN) {
		/*
		 * Upstream uses a hash table if the list is constant and has only numbers, bools
		 * and strings.
		 */
		argument = node->call.arguments[1];
		node->call.in_constants = argument->kind == BT_CEL_NODE_LIST &&
			argument->constant != NULL && argument->constant_cost == 0 &&
			argument->constant->list.count != 0;
		for (uint32_t i = 0; node->call.in_constants && i < argument->constant->list.count;
			i++) {
			const struct bt_cel_value *item = &argument->constant->list.items[i];

			node->call.in_constants = bt_cel_is_number(item) ||
				item->kind == BT_CEL_BOOL || item->kind == BT_CEL_STRING;
		}
	}
	if (node->call.operator_ != BT_CEL_OP_NONE) {
		return 0;
	}
	if (is_member && node->call.count == 1 && bt_str_equal_c(function, "or")) {
		node->call.operator_ = BT_CEL_OP_OPTIONAL_OR;
		return 0;
	}
	if (is_member && node->call.count == 1 && bt_str_equal_c(function, "orValue")) {
		node->call.operator_ = BT_CEL_OP_OPTIONAL_OR_VALUE;
		return 0;
	}
	if (!is_member && node->call.count != 0 && has_free_children(node)) {
		/*
		 * Call the function at compile time. Conversions behave as upstream: a failure
		 * makes the expression invalid, and the result costs nothing. Other functions keep
		 * their cost, and fail at run time.
		 */
		bool is_conversion = bt_str_has_word(
			BT_STR("bool bytes double duration dyn int string timestamp type uint"),
			function);

		if (is_conversion || bt_str_has_word(BT_STR("quantity semver ip cidr"), function)) {
			uint32_t cost;
			struct bt_cel_value value = evaluate_constant(program, node, &cost);

			if (!bt_cel_is_error(&value)) {
				set_constant(program, node, value, is_conversion ? 0 : cost);
			} else if (is_conversion) {
				return bt_error_set(err, BERTH_ERR_INVALID,
					"program instantiation failed: %.*s",
					BT_STR_ARG(value.text));
			}
			return 0;
		}
	}
	if (node->call.count <= pattern_index ||
		!(is_matches || bt_str_has_word(BT_STR("find findAll"), function))) {
		return 0;
	}
	argument = node->call.arguments[pattern_index];
	if (argument->constant == NULL || argument->constant_cost != 0 ||
		argument->constant->kind != BT_CEL_STRING ||
		program->pattern_bytes >= BT_CEL_REGEXES_BYTES_MAX) {
		/* each evaluation compiles the pattern, and the evaluator charges this as work */
		return 0;
	}
	int code = bt_cel_regex_compile(argument->constant->text, &node->call.regex, &problem);
	if (code == 0) {
		bt_vec_push(&program->regexes, node->call.regex);
		program->pattern_bytes += bt_cel_regex_bytes(node->call.regex);
		return 0;
	}
	if (is_matches && is_member) {
		/* Ignore the error here: the validators or the evaluation report it. */
		program->pattern_bytes += code == BERTH_ERR_TOO_LARGE ? BT_CEL_REGEX_BYTES_MAX : 0;
		berth_error_finish(&problem);
		return 0;
	}
	(void)bt_error_wrap(&problem, BERTH_ERR_INVALID, "program instantiation failed");
	return bt_error_move(err, &problem);
}

static int prepare(
	struct bt_cel_program *program, struct bt_cel_node *node, struct berth_error *err)
{
	struct bt_cel_node *child;

	for (uint32_t i = 0; (child = bt_cel_node_child(node, i)) != NULL; i++) {
		int code = prepare(program, child, err);
		if (code != 0) {
			return code;
		}
	}
	switch (node->kind) {
	case BT_CEL_NODE_LITERAL:
		node->constant = &node->literal;
		return 0;
	case BT_CEL_NODE_LIST:
	case BT_CEL_NODE_MAP:
		if (has_free_children(node) &&
			(node->kind == BT_CEL_NODE_LIST || node->map.type_name.data == NULL)) {
			uint32_t cost;
			struct bt_cel_value value = evaluate_constant(program, node, &cost);

			if (!bt_cel_is_error(&value)) {
				set_constant(program, node, value, 0);
			}
		}
		return 0;
	case BT_CEL_NODE_CALL:
		return prepare_call(program, node, err);
	case BT_CEL_NODE_IDENTIFIER:
	case BT_CEL_NODE_SELECT:
	case BT_CEL_NODE_MACRO:
		break;
	}
	return 0;
}

/* Compilation, from text to program. Spec: 12b sections 2 and 12. */

#define FIRST_CHUNK_BYTES 1024
/** Enough for the types of most selectors; larger expressions take more from the heap. */
#define SCRATCH_BYTES 8192

static void reset_types(struct bt_cel_node *node)
{
	struct bt_cel_node *child;

	node->type = NULL;
	for (uint32_t i = 0; (child = bt_cel_node_child(node, i)) != NULL; i++) {
		reset_types(child);
	}
}

/** Whether the type is the result type that the mutation requires; any is always accepted. */
static bool is_mutation(enum bt_cel_mutation mutation, const struct bt_cel_type *type)
{
	const struct bt_cel_type *made = type;

	if (mutation == BT_CEL_MUTATION_NONE || type->kind == BT_CEL_ANY) {
		return true;
	}
	if (mutation == BT_CEL_MUTATION_PATCHES) {
		made = type->kind == BT_CEL_LIST ? type->of[0] : NULL;
	}
	return made != NULL && made->kind == BT_CEL_OBJECT &&
		bt_str_equal_c(made->object->name,
			mutation == BT_CEL_MUTATION_APPLY ? "Object" : "JSONPatch");
}

int bt_cel_compile(struct bt_str expression, const struct bt_cel_environment *environment,
	struct bt_cel_program **out_program, struct berth_error *err)
{
	struct bt_cel_program *program = BT_NEW(struct bt_cel_program);
	_Alignas(max_align_t) char memory[SCRATCH_BYTES];
	struct bt_arena scratch;
	struct bt_cel_issues issues = {.source = expression, .arena = &scratch};
	struct validator validator = {.inference = {.arena = &scratch}, .issues = &issues};
	struct bt_strbuf text = {0};
	int code = 0;

	bt_arena_init(&program->arena, FIRST_CHUNK_BYTES);
	bt_arena_init_with(&scratch, memory, sizeof memory);
	program->environment = environment;
	program->root = bt_cel_parse(expression, &program->arena, &issues);
	if (program->root != NULL &&
		bt_cel_check(program->root, environment, &program->arena, &scratch, &issues,
			&program->local_count)) {
		validate(&validator, program->root);
		bt_cel_inference_finish(&validator.inference);
	}
	if (program->root == NULL || issues.items.count != 0) {
		bt_cel_issues_format(&issues, &text);
		code = bt_error_set(
			err, BERTH_ERR_INVALID, "compilation failed: %s", bt_strbuf_c(&text));
	} else {
		const struct bt_cel_type *type = program->root->type;

		if (environment->must_be_bool && type->kind != BT_CEL_BOOL &&
			type->kind != BT_CEL_ANY &&
			!(type->kind == BT_CEL_DYN && environment->accepts_dyn)) {
			bt_cel_type_print_output(type, &text);
			code = bt_error_set(err, BERTH_ERR_INVALID,
				"must evaluate to bool or the unknown type, not %s",
				bt_strbuf_c(&text));
		}
		if (code == 0 && !is_mutation(environment->mutation, type)) {
			code = bt_error_set(err, BERTH_ERR_INVALID, "must evaluate to %s",
				environment->mutation == BT_CEL_MUTATION_APPLY ? "Object"
									       : "list(JSONPatch)");
		}
		program->result = type->kind;
		program->estimate = bt_cel_estimate(program->root);
		reset_types(program->root);
	}
	bt_strbuf_finish(&text);
	bt_vec_finish(&issues.items);
	bt_arena_finish(&scratch);
	if (code == 0) {
		/*
		 * Fold constants and compile constant patterns; err: `program instantiation failed:
		 * ...` (spec 12b section 11).
		 */
		code = prepare(program, program->root, err);
	}
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
	bt_vec_finish_each(&program->regexes, bt_cel_regex_destroy(*each));
	bt_arena_finish(&program->arena);
	bt_free(program);
}

enum bt_cel_kind bt_cel_program_result(const struct bt_cel_program *program)
{
	return program->result;
}

uint64_t bt_cel_program_estimate(const struct bt_cel_program *program)
{
	return program->estimate;
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
