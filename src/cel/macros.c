/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Macros, which the parser recognises: calls that declare variables and evaluate their arguments in
 * a special way. Spec: 12b section 6.
 */
#include "cel/ast.h"

/** Arguments of a macro call: variables, then one or two expressions. The target is the range. */
static const struct macro_row {
	const char *name;
	uint32_t argument_count;
	enum bt_cel_macro macro;
	uint32_t variable_count;
} rows[] = {
	{"all", 2, BT_CEL_MACRO_ALL, 1},
	{"all", 3, BT_CEL_MACRO_ALL, 2},
	{"exists", 2, BT_CEL_MACRO_EXISTS, 1},
	{"exists", 3, BT_CEL_MACRO_EXISTS, 2},
	{"exists_one", 2, BT_CEL_MACRO_EXISTS_ONE, 1},
	{"exists_one", 3, BT_CEL_MACRO_EXISTS_ONE, 2},
	{"existsOne", 3, BT_CEL_MACRO_EXISTS_ONE, 2},
	{"map", 2, BT_CEL_MACRO_MAP, 1},
	{"map", 3, BT_CEL_MACRO_MAP, 1},
	{"filter", 2, BT_CEL_MACRO_FILTER, 1},
	{"transformList", 3, BT_CEL_MACRO_TRANSFORM_LIST, 2},
	{"transformList", 4, BT_CEL_MACRO_TRANSFORM_LIST, 2},
	{"transformMap", 3, BT_CEL_MACRO_TRANSFORM_MAP, 2},
	{"transformMap", 4, BT_CEL_MACRO_TRANSFORM_MAP, 2},
	{"transformMapEntry", 3, BT_CEL_MACRO_TRANSFORM_MAP_ENTRY, 2},
	{"transformMapEntry", 4, BT_CEL_MACRO_TRANSFORM_MAP_ENTRY, 2},
	{"optMap", 2, BT_CEL_MACRO_OPT_MAP, 1},
	{"optFlatMap", 2, BT_CEL_MACRO_OPT_FLAT_MAP, 1},
	{"sortBy", 2, BT_CEL_MACRO_SORT_BY, 1},
};

static const struct macro_row bind_row = {"bind", 3, BT_CEL_MACRO_BIND, 1};

/**
 * The error if an argument that must be a variable name is another expression. NULL: "argument must
 * be a simple name".
 */
static const char *const not_a_name[] = {
	[BT_CEL_MACRO_MAP] = "argument is not an identifier",
	[BT_CEL_MACRO_FILTER] = "argument is not an identifier",
	[BT_CEL_MACRO_BIND] = "cel.bind() variable names must be simple identifiers",
	[BT_CEL_MACRO_OPT_MAP] = "optMap() variable name must be a simple identifier",
	[BT_CEL_MACRO_OPT_FLAT_MAP] = "optFlatMap() variable name must be a simple identifier",
	[BT_CEL_MACRO_SORT_BY] = "argument is not an identifier",
};

static const struct macro_row *find_row(const struct bt_cel_node *call)
{
	const struct bt_cel_node *target = call->call.target;

	if (target == NULL) {
		return NULL;
	}
	if (target->kind == BT_CEL_NODE_IDENTIFIER && !target->identifier.is_rooted &&
		bt_str_equal_c(target->identifier.name, "cel") &&
		bt_str_equal_c(call->call.function, bind_row.name) &&
		call->call.count == bind_row.argument_count) {
		return &bind_row;
	}
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		if (call->call.count == rows[i].argument_count &&
			bt_str_equal_c(call->call.function, rows[i].name)) {
			return &rows[i];
		}
	}
	return NULL;
}

static void expand(
	struct bt_cel_node *node, const struct macro_row *row, struct bt_cel_issues *issues)
{
	struct bt_cel_node **arguments = node->call.arguments;
	struct bt_cel_node *range = node->call.target;
	struct bt_cel_node *last = arguments[row->argument_count - 1];
	uint32_t rest = row->argument_count - row->variable_count;
	struct bt_str names[2] = {{0}};

	for (uint32_t i = 0; i < row->variable_count; i++) {
		const struct bt_cel_node *argument = arguments[i];
		enum bt_cel_macro macro = row->macro;
		struct bt_str *out_name = &names[i];
		if (argument->kind != BT_CEL_NODE_IDENTIFIER || argument->identifier.is_rooted) {
			bt_cel_issue_add(issues, argument->position, "%s",
				not_a_name[macro] != NULL ? not_a_name[macro]
							  : "argument must be a simple name");
			return;
		}
		/*
		 * A variable that iterates over elements must not hide the accumulator. cel.bind,
		 * optMap and optFlatMap have no accumulator, so their variables may have its name.
		 */
		if ((macro != BT_CEL_MACRO_BIND && macro != BT_CEL_MACRO_OPT_MAP &&
			    macro != BT_CEL_MACRO_OPT_FLAT_MAP) &&
			bt_str_equal_c(argument->identifier.name, "__result__")) {
			bt_cel_issue_add(issues, argument->position,
				"iteration variable overwrites accumulator variable");
			return;
		}
		*out_name = argument->identifier.name;
	}
	if (row->variable_count == 2 && bt_str_equal(names[0], names[1])) {
		bt_cel_issue_add(issues, arguments[1]->position, "duplicate variable name: %.*s",
			BT_STR_ARG(names[1]));
		return;
	}
	/* sortBy needs a target that may be a list. */
	if (row->macro == BT_CEL_MACRO_SORT_BY &&
		!(range->kind != BT_CEL_NODE_LITERAL && range->kind != BT_CEL_NODE_MAP)) {
		bt_cel_issue_add(issues, range->position,
			"sortBy can only be applied to a list, identifier, comprehension, call or "
			"select expression");
		return;
	}
	node->kind = BT_CEL_NODE_MACRO;
	memset(&node->macro, 0, sizeof(node->macro));
	node->macro.macro = row->macro;
	node->macro.has_two_variables = row->variable_count == 2;
	node->macro.names[0] = names[0];
	node->macro.names[1] = names[1];
	node->macro.range = row->macro == BT_CEL_MACRO_BIND ? arguments[1] : range;
	if (row->macro == BT_CEL_MACRO_ALL || row->macro == BT_CEL_MACRO_EXISTS ||
		row->macro == BT_CEL_MACRO_EXISTS_ONE || row->macro == BT_CEL_MACRO_FILTER) {
		node->macro.condition = last;
		return;
	}
	node->macro.result = last;
	if (rest == 2 && row->macro != BT_CEL_MACRO_BIND) {
		node->macro.condition = arguments[row->variable_count];
	}
}

void bt_cel_macro_expand(struct bt_cel_node *call, struct bt_cel_issues *issues)
{
	if (call->call.target == NULL && !call->call.is_rooted && call->call.count == 1 &&
		bt_str_equal_c(call->call.function, "has")) {
		const struct bt_cel_node *argument = call->call.arguments[0];
		uint32_t position = call->position;

		if (argument->kind != BT_CEL_NODE_SELECT || argument->select.is_test ||
			argument->select.is_optional) {
			bt_cel_issue_add(
				issues, argument->position, "invalid argument to has() macro");
			return;
		}
		*call = *argument;
		call->position = position;
		call->select.is_test = true;
		return;
	}
	const struct macro_row *row = find_row(call);
	if (row != NULL) {
		expand(call, row, issues);
	}
}
