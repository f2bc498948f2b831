/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include "base/alloc.h"
#include "cel/checker_private.h"
#include "cel/evaluate_private.h"
#include "cel/function.h"
#include "cel/regex.h"

/* Literals that cannot work, whatever the device. Spec: 12b sections 7.4 and 7.5. */

struct validator {
	struct bt_cel_inference inference;
	struct bt_cel_issues *issues;
	uint32_t format_depth; /* calls of format around: their lists may be mixed */
	size_t pattern_bytes;  /* of the patterns so far */
};

static const struct bt_cel_node *literal_of(const struct bt_cel_node *node, enum bt_cel_kind kind)
{
	bool is_literal = node->kind == BT_CEL_NODE_LITERAL && node->literal.kind == kind;

	return is_literal ? node : NULL;
}

static bool is_call(const struct bt_cel_node *node, const char *function, bool is_member)
{
	return node->call.operator_ == BT_CEL_OP_NONE && (node->call.target != NULL) == is_member &&
		bt_str_equal_c(node->call.function, function);
}

/** A conversion that fails for a literal: `invalid duration argument`. */
static void validate_conversion(struct validator *validator, const struct bt_cel_node *call,
	bt_cel_function convert, const char *what)
{
	const struct bt_cel_node *literal = literal_of(call->call.arguments[0], BT_CEL_STRING);
	struct bt_cel_evaluation evaluation = {
		.arena = validator->inference.arena, .cost_max = BT_CEL_COST_MAX};
	struct bt_cel_value result;

	if (literal == NULL) {
		return;
	}
	result = convert(&evaluation, &literal->literal, 1, NULL);
	if (bt_cel_is_error(&result)) {
		bt_cel_issue_add(validator->issues, literal->position, "invalid %s argument", what);
	}
}

/** The first argument: of `matches(text, pattern)` that is the text, upstream's quirk. */
static void validate_pattern(struct validator *validator, const struct bt_cel_node *call)
{
	const struct bt_cel_node *literal = literal_of(call->call.arguments[0], BT_CEL_STRING);
	struct bt_cel_regex *regex = NULL;
	int code = BERTH_ERR_TOO_LARGE;

	if (literal == NULL) {
		return;
	}
	if (validator->pattern_bytes < BT_CEL_REGEXES_BYTES_MAX) {
		code = bt_cel_regex_compile(literal->literal.text, &regex, NULL);
	}
	if (code == 0) {
		validator->pattern_bytes += bt_cel_regex_bytes(regex);
	} else {
		bt_cel_issue_add(validator->issues, literal->position, "invalid matches argument");
		validator->pattern_bytes +=
			code == BERTH_ERR_TOO_LARGE ? BT_CEL_REGEX_BYTES_MAX : 0;
	}
	bt_cel_regex_destroy(regex);
}

/** The first part of an item that a verb cannot print; NULL: there is none, or only run time knows.
 * %s looks into literals. */
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

/** false with an issue: the verb cannot print the item. */
static bool validate_item(struct validator *validator, char verb, const struct bt_cel_node *item)
{
	const struct bt_cel_node *part = unprintable_part(verb, item);
	struct bt_strbuf name = {0};

	if (part == NULL) {
		return true;
	}
	bt_cel_type_print_output(&bt_cel_types[part->type->kind], &name);
	bt_cel_issue_add(validator->issues, part->position, "%s%s",
		bt_cel_format_refusal(verb, part->type->kind), bt_strbuf_c(&name));
	bt_strbuf_finish(&name);
	return false;
}

/** The first thing that is wrong with a format and its values becomes an issue. */
static void validate_clauses(struct validator *validator, const struct bt_cel_node *call,
	struct bt_str format, const struct bt_cel_node *list)
{
	struct bt_cel_evaluation evaluation = {
		.arena = validator->inference.arena, .cost_max = BT_CEL_COST_MAX};
	struct bt_str text;
	uint32_t used = 0;
	uint32_t at = 0;

	while (bt_cel_format_next(format, &at, &text)) {
		struct bt_cel_format_clause clause;
		struct bt_cel_value failure;

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
		if (!validate_item(validator, clause.verb, list->list.items[used++])) {
			return;
		}
	}
	if (used < list->list.count) {
		bt_cel_issue_add(validator->issues, call->position,
			"too many arguments supplied to string.format (expected %u, got %u)", used,
			list->list.count);
	}
}

static void validate_call(struct validator *validator, const struct bt_cel_node *call)
{
	if (call->call.count == 0) {
		return;
	}
	if (is_call(call, "duration", false)) {
		validate_conversion(validator, call, bt_cel_fn_to_duration, "duration");
	} else if (is_call(call, "timestamp", false)) {
		validate_conversion(validator, call, bt_cel_fn_to_timestamp, "timestamp");
	} else if (is_call(call, "matches", false) || is_call(call, "matches", true)) {
		validate_pattern(validator, call);
	} else if (is_call(call, "format", true)) {
		const struct bt_cel_node *literal = literal_of(call->call.target, BT_CEL_STRING);
		const struct bt_cel_node *list = call->call.arguments[0];

		if (literal != NULL && list->kind == BT_CEL_NODE_LIST &&
			list->list.is_optional == NULL) {
			validate_clauses(validator, call, literal->literal.text, list);
		}
	}
}

/** The type of an element or a value, the optional around it aside. */
static const struct bt_cel_type *element_type(
	struct bt_cel_node *const *nodes, const bool *is_optional, uint32_t index)
{
	const struct bt_cel_type *type = nodes[index]->type;

	return is_optional != NULL && is_optional[index] && type->kind == BT_CEL_OPTIONAL
		? type->of[0]
		: type;
}

/** Elements, keys or values of a literal have the type of the first; is_map: each that has not is
 * reported, otherwise the first. */
static void validate_elements(struct validator *validator, struct bt_cel_node *const *nodes,
	const bool *is_optional, uint32_t count, bool is_map)
{
	for (uint32_t i = 1; i < count; i++) {
		const struct bt_cel_type *expected = element_type(nodes, is_optional, 0);
		const struct bt_cel_type *type = element_type(nodes, is_optional, i);

		if (!bt_cel_type_is_same(expected, type)) {
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
		validate_call(validator, node);
	} else if (node->kind == BT_CEL_NODE_LIST && validator->format_depth == 0) {
		validate_elements(validator, node->list.items, node->list.is_optional,
			node->list.count, false);
	} else if (node->kind == BT_CEL_NODE_MAP && validator->format_depth == 0) {
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

/** Literals that cannot work. Spec 12b section 7.5. */
static bool cel_validate(
	const struct bt_cel_node *root, struct bt_arena *scratch, struct bt_cel_issues *issues)
{
	struct validator validator = {.inference = {.arena = scratch}, .issues = issues};

	validate(&validator, root);
	bt_cel_inference_finish(&validator.inference);
	return issues->items.count == 0;
}

/* The last step of a compilation. Spec: 12b section 11. */

/** Functions of constants that are called once and for all. */
static const struct {
	const char *name;
	/** Upstream does it, too: what goes wrong is an error of the expression, and the result
	 * costs nothing. */
	bool is_conversion;
} folded_functions[] = {
	{"bool", true},
	{"bytes", true},
	{"double", true},
	{"duration", true},
	{"dyn", true},
	{"int", true},
	{"string", true},
	{"timestamp", true},
	{"type", true},
	{"uint", true},
	{"quantity", false},
	{"semver", false},
	{"ip", false},
	{"cidr", false},
};

static bool is_folded(const struct bt_cel_node *node, bool *out_is_conversion)
{
	if (node->kind != BT_CEL_NODE_CALL || node->call.operator_ != BT_CEL_OP_NONE ||
		node->call.target != NULL || node->call.count == 0) {
		return false;
	}
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(folded_functions); i++) {
		if (bt_str_equal_c(node->call.function, folded_functions[i].name)) {
			*out_is_conversion = folded_functions[i].is_conversion;
			return true;
		}
	}
	return false;
}

/** Constants in the eyes of upstream: they cost nothing. */
static bool is_free_constant(const struct bt_cel_node *node)
{
	return node->constant != NULL && node->constant_cost == 0;
}

static bool has_free_children(const struct bt_cel_node *node)
{
	const struct bt_cel_node *child;

	for (uint32_t i = 0; (child = bt_cel_node_child(node, i)) != NULL; i++) {
		if (!is_free_constant(child)) {
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
	struct bt_cel_value value;

	bt_cel_evaluation_init(&evaluation, program, NULL, &limits, &program->arena);
	value = bt_cel_evaluate_node(&evaluation, node);
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

/** The argument that is a pattern; NULL: this is no function of patterns. */
static const struct bt_cel_node *pattern_of(const struct bt_cel_node *node, bool *out_is_checked)
{
	bool is_matches = bt_str_equal_c(node->call.function, "matches");
	bool is_member = node->call.target != NULL;
	uint32_t index = is_member ? 0 : 1;

	if (node->call.operator_ != BT_CEL_OP_NONE || node->call.count <= index ||
		!(is_matches || bt_str_equal_c(node->call.function, "find") ||
			bt_str_equal_c(node->call.function, "findAll"))) {
		return NULL;
	}
	/* What x.matches gets is looked at when it runs, if the validators let it pass. */
	*out_is_checked = !is_matches || !is_member;
	return node->call.arguments[index];
}

/** Is a list made of nothing but constants that upstream puts into a hash table? */
static bool is_hashed(const struct bt_cel_node *list)
{
	if (list->kind != BT_CEL_NODE_LIST || !is_free_constant(list) ||
		list->constant->list.count == 0) {
		return false;
	}
	for (uint32_t i = 0; i < list->constant->list.count; i++) {
		const struct bt_cel_value *item = &list->constant->list.items[i];

		if (!bt_cel_is_number(item) && item->kind != BT_CEL_BOOL &&
			item->kind != BT_CEL_STRING) {
			return false;
		}
	}
	return true;
}

static void prepare_operator(struct bt_cel_node *node)
{
	if (node->call.operator_ == BT_CEL_OP_IN) {
		node->call.in_constants = is_hashed(node->call.arguments[1]);
	}
	if (node->call.operator_ != BT_CEL_OP_NONE || node->call.target == NULL ||
		node->call.count != 1) {
		return;
	}
	if (bt_str_equal_c(node->call.function, "or")) {
		node->call.operator_ = BT_CEL_OP_OPTIONAL_OR;
	} else if (bt_str_equal_c(node->call.function, "orValue")) {
		node->call.operator_ = BT_CEL_OP_OPTIONAL_OR_VALUE;
	}
}

static int prepare_call(
	struct bt_cel_program *program, struct bt_cel_node *node, struct berth_error *err)
{
	bool is_conversion;

	prepare_operator(node);
	if (is_folded(node, &is_conversion) && has_free_children(node)) {
		uint32_t cost;
		struct bt_cel_value value = evaluate_constant(program, node, &cost);

		if (!bt_cel_is_error(&value)) {
			set_constant(program, node, value, is_conversion ? 0 : cost);
		} else if (is_conversion) {
			return bt_error_set(err, BERTH_ERR_INVALID,
				"program instantiation failed: %.*s", BT_STR_ARG(value.text));
		}
		return 0;
	}
	bool is_checked;
	const struct bt_cel_node *pattern = pattern_of(node, &is_checked);
	struct berth_error problem = BERTH_ERROR_INIT;
	int code;

	if (pattern == NULL || !is_free_constant(pattern) ||
		pattern->constant->kind != BT_CEL_STRING ||
		program->pattern_bytes >= BT_CEL_REGEXES_BYTES_MAX) {
		return 0; /* it is compiled when it is used, which counts as work */
	}
	code = bt_cel_regex_compile(pattern->constant->text, &node->call.regex, &problem);
	if (code == 0) {
		bt_vec_push(&program->regexes, node->call.regex);
		program->pattern_bytes += bt_cel_regex_bytes(node->call.regex);
		return 0;
	}
	if (!is_checked) {
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
		if (has_free_children(node)) {
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

/* From a text to a program. Spec: 12b sections 2 and 12. */

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
		cel_validate(program->root, scratch, issues);
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
	/*
	 * The last step of a compilation, on a tree that was checked: constants are
	 * folded, constant patterns compiled, fields of the device resolved. err: `program
	 * instantiation failed:
	 * ...` (spec 12b section 11). The program is destroyed by the caller either way.
	 */
	return code == 0 ? prepare(program, program->root, err) : code;
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
	/* Releases what prepare made; the arena is the caller's. */
	for (uint32_t i = 0; i < program->regexes.count; i++) {
		bt_cel_regex_destroy(program->regexes.items[i]);
	}
	bt_vec_finish(&program->regexes);
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
