/* SPDX-License-Identifier: Apache-2.0 */
/* The last step of a compilation. Spec: 12b section 11. */
#include "cel/evaluate_private.h"
#include "cel/program.h"
#include "cel/regex.h"

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

static int compile_pattern(
	struct bt_cel_program *program, struct bt_cel_node *node, struct berth_error *err)
{
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
	return compile_pattern(program, node, err);
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

int bt_cel_program_prepare(struct bt_cel_program *program, struct berth_error *err)
{
	return prepare(program, program->root, err);
}

void bt_cel_program_release(struct bt_cel_program *program)
{
	for (uint32_t i = 0; i < program->regexes.count; i++) {
		bt_cel_regex_destroy(program->regexes.items[i]);
	}
	bt_vec_finish(&program->regexes);
}
