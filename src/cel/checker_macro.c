/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A macro is checked as the calls and literals that it expands to (spec 12b section 6), because
 * error messages show these calls. For example, map() expands to `[]` and calls of `_+_`.
 *
 * The order of the checks is upstream's. Many checks create a type parameter. Each type parameter
 * gets the next number, and error messages show these numbers.
 */
#include "base/compiler.h"
#include "cel/checker_private.h"

/** Types of the keys and values that a macro iterates over. */
struct element {
	const struct bt_cel_type *key; /* list: int, the index */
	const struct bt_cel_type *value;
	bool is_map;
};

/** Checks one of the calls to which the macro expands; returns its result type. */
static const struct bt_cel_type *apply(struct bt_cel_checker *checker,
	const struct bt_cel_node *node, enum bt_cel_style style, struct bt_str function,
	const struct bt_cel_type *const *arguments, uint32_t count)
{
	struct bt_cel_resolution resolution;
	struct bt_cel_application application = {.function = function,
		.style = style,
		.arguments = arguments,
		.count = count,
		.position = node->position};

	return bt_cel_resolve(checker, &application, &resolution) ? resolution.result
								  : &bt_cel_types[BT_CEL_ERROR];
}

static const struct bt_cel_type *apply_conditional(struct bt_cel_checker *checker,
	const struct bt_cel_node *node, const struct bt_cel_type *condition,
	const struct bt_cel_type *then, const struct bt_cel_type *otherwise)
{
	const struct bt_cel_type *arguments[] = {condition, then, otherwise};

	return apply(checker, node, BT_CEL_STYLE_GLOBAL, BT_STR("_?_:_"), arguments, 3);
}

static void open_scope(struct bt_cel_checker *checker, struct bt_cel_node *node, uint32_t which,
	const struct bt_cel_type *type)
{
	/*
	 * Give every variable a separate slot, because cel.bind evaluates its value on first use:
	 * a macro in that value may run while another macro is running, and must not overwrite the
	 * variables of the other macro.
	 */
	struct bt_cel_scope scope = {node->macro.names[which], type, checker->slot_count++};

	node->macro.slots[which] = scope.slot;
	bt_vec_push(&checker->scopes, scope);
}

static struct element element_of(struct bt_cel_checker *checker, const struct bt_cel_node *range)
{
	const struct bt_cel_type *dyn = &bt_cel_types[BT_CEL_DYN];
	const struct bt_cel_type *error = &bt_cel_types[BT_CEL_ERROR];
	const struct bt_cel_type *type = bt_cel_substitute(&checker->inference, range->type, false);
	struct bt_strbuf text = {0};

	if (type->kind == BT_CEL_LIST) {
		return (struct element){&bt_cel_types[BT_CEL_INT], type->of[0], false};
	}
	if (type->kind == BT_CEL_MAP) {
		return (struct element){type->of[0], type->of[1], true};
	}
	if (type->kind == BT_CEL_PARAMETER) {
		/* cannot fail: the parameter is free */
		(void)bt_cel_assign(&checker->inference, &dyn, &type, 1);
		return (struct element){dyn, dyn, false};
	}
	if (type->kind == BT_CEL_DYN || type->kind == BT_CEL_ERROR) {
		return (struct element){dyn, dyn, false};
	}
	bt_cel_type_print(type, &text);
	bt_cel_issue_add(checker->issues, range->position,
		"expression of type '%s' cannot be range of a comprehension (must be list, map, "
		"or dynamic)",
		bt_strbuf_c(&text));
	bt_strbuf_finish(&text);
	return (struct element){error, error, false};
}

static const struct bt_cel_type *new_list(struct bt_cel_checker *checker)
{
	return bt_cel_type_make(&checker->inference, BT_CEL_LIST,
		bt_cel_fresh_parameter(&checker->inference), NULL);
}

/** Type of the macro's accumulator: bool, int, list or map. */
static const struct bt_cel_type *initial_type(
	struct bt_cel_checker *checker, enum bt_cel_macro macro)
{
	const struct bt_cel_type *key;

	switch (macro) {
	case BT_CEL_MACRO_ALL:
	case BT_CEL_MACRO_EXISTS:
		return &bt_cel_types[BT_CEL_BOOL];
	case BT_CEL_MACRO_EXISTS_ONE:
		return &bt_cel_types[BT_CEL_INT];
	case BT_CEL_MACRO_TRANSFORM_MAP:
	case BT_CEL_MACRO_TRANSFORM_MAP_ENTRY:
		key = bt_cel_fresh_parameter(&checker->inference);
		return bt_cel_type_make(&checker->inference, BT_CEL_MAP, key,
			bt_cel_fresh_parameter(&checker->inference));
	case BT_CEL_MACRO_MAP:
	case BT_CEL_MACRO_FILTER:
	case BT_CEL_MACRO_TRANSFORM_LIST:
	case BT_CEL_MACRO_BIND:
	case BT_CEL_MACRO_OPT_MAP:
	case BT_CEL_MACRO_OPT_FLAT_MAP:
	case BT_CEL_MACRO_SORT_BY:
		break;
	}
	return new_list(checker);
}

/** Checks `accumulator + [added]` if the accumulator is a list, else `accumulator + added`. */
static const struct bt_cel_type *add(struct bt_cel_checker *checker, const struct bt_cel_node *node,
	const struct bt_cel_type *accumulator, const struct bt_cel_type *added)
{
	const struct bt_cel_type *arguments[] = {accumulator, added};

	if (accumulator->kind == BT_CEL_LIST) {
		arguments[1] = bt_cel_type_make(&checker->inference, BT_CEL_LIST, added, NULL);
	}
	return apply(checker, node, BT_CEL_STYLE_GLOBAL, BT_STR("_+_"), arguments, 2);
}

/** Returns the type of the accumulator after a step, ignoring the condition. */
static const struct bt_cel_type *step(struct bt_cel_checker *checker,
	const struct bt_cel_node *node, const struct bt_cel_type *accumulator,
	const struct element *element)
{
	switch (node->macro.macro) {
	case BT_CEL_MACRO_EXISTS_ONE:
		return add(checker, node, accumulator, &bt_cel_types[BT_CEL_INT]);
	case BT_CEL_MACRO_FILTER:
		return add(checker, node, accumulator,
			element->is_map ? element->key : element->value);
	case BT_CEL_MACRO_TRANSFORM_MAP:
	case BT_CEL_MACRO_TRANSFORM_MAP_ENTRY: {
		/*
		 * cel.@mapInsert adds a key and a value to the map, or all entries of another map.
		 */
		const struct bt_cel_type *by_key[] = {
			accumulator, element->key, node->macro.result->type};
		const struct bt_cel_type *by_map[] = {accumulator, node->macro.result->type};
		bool is_entry = node->macro.macro == BT_CEL_MACRO_TRANSFORM_MAP_ENTRY;

		return apply(checker, node, BT_CEL_STYLE_GLOBAL, BT_STR("cel.@mapInsert"),
			is_entry ? by_map : by_key, is_entry ? 2 : 3);
	}
	case BT_CEL_MACRO_ALL:
	case BT_CEL_MACRO_EXISTS:
	case BT_CEL_MACRO_MAP:
	case BT_CEL_MACRO_TRANSFORM_LIST:
	case BT_CEL_MACRO_BIND:
	case BT_CEL_MACRO_OPT_MAP:
	case BT_CEL_MACRO_OPT_FLAT_MAP:
	case BT_CEL_MACRO_SORT_BY:
		break;
	}
	return add(checker, node, accumulator, node->macro.result->type);
}

static const struct bt_cel_type *check_iteration(
	struct bt_cel_checker *checker, struct bt_cel_node *node)
{
	uint32_t outer = checker->scopes.count;
	const struct bt_cel_type *accumulator;

	(void)bt_cel_check_node(checker, node->macro.range);
	accumulator = initial_type(checker, node->macro.macro);
	struct element element = element_of(checker, node->macro.range);
	if (node->macro.has_two_variables) {
		open_scope(checker, node, 0, element.key);
		open_scope(checker, node, 1, element.value);
	} else {
		open_scope(checker, node, 0, element.is_map ? element.key : element.value);
	}
	if (node->macro.condition != NULL) {
		(void)bt_cel_check_node(checker, node->macro.condition);
	}
	if (node->macro.result != NULL) {
		(void)bt_cel_check_node(checker, node->macro.result);
	}
	checker->scopes.count = outer;

	const struct bt_cel_node *condition = node->macro.condition;
	const struct bt_cel_type *counted[] = {accumulator, &bt_cel_types[BT_CEL_INT]};

	if (accumulator->kind == BT_CEL_BOOL) {
		(void)bt_cel_expect_bool(checker, condition);
		return accumulator;
	}
	const struct bt_cel_type *grown = step(checker, node, accumulator, &element);
	if (condition != NULL) {
		grown = apply_conditional(checker, node, condition->type, grown, accumulator);
	}
	if (!bt_cel_assign(&checker->inference, &grown, &accumulator, 1)) {
		bt_cel_report_type(checker->issues, node->position, accumulator, grown);
	}
	if (node->macro.macro == BT_CEL_MACRO_EXISTS_ONE) {
		return apply(checker, node, BT_CEL_STYLE_GLOBAL, BT_STR("_==_"), counted, 2);
	}
	return bt_cel_substitute(&checker->inference, accumulator, false);
}

/**
 * Checks the result expression in a scope with one variable. The caller must have called new_list,
 * because the expansion contains an empty list, whose type parameter must get its number first.
 */
static const struct bt_cel_type *check_bound(struct bt_cel_checker *checker,
	struct bt_cel_node *node, const struct bt_cel_type *variable)
{
	open_scope(checker, node, 0, variable);
	const struct bt_cel_type *type = bt_cel_check_node(checker, node->macro.result);
	checker->scopes.count--;
	return type;
}

const struct bt_cel_type *bt_cel_check_macro(
	struct bt_cel_checker *checker, struct bt_cel_node *node)
{
	switch (node->macro.macro) {
	case BT_CEL_MACRO_BIND:
		(void)new_list(checker);
		return check_bound(checker, node, bt_cel_check_node(checker, node->macro.range));
	case BT_CEL_MACRO_OPT_MAP:
	case BT_CEL_MACRO_OPT_FLAT_MAP: {
		/*
		 * Expands to `o.hasValue() ? optional.of(<result>) : optional.none()`, without
		 * optional.of in optFlatMap.
		 */
		const struct bt_cel_type *optional = bt_cel_check_node(checker, node->macro.range);
		const struct bt_cel_type *has_value =
			apply(checker, node, BT_CEL_STYLE_MEMBER, BT_STR("hasValue"), &optional, 1);
		const struct bt_cel_type *value;

		(void)new_list(checker);
		value = apply(checker, node, BT_CEL_STYLE_MEMBER, BT_STR("value"), &optional, 1);
		const struct bt_cel_type *result = check_bound(checker, node, value);
		if (node->macro.macro == BT_CEL_MACRO_OPT_MAP) {
			result = apply(checker, node, BT_CEL_STYLE_GLOBAL, BT_STR("optional.of"),
				&result, 1);
		}
		const struct bt_cel_type *none =
			apply(checker, node, BT_CEL_STYLE_GLOBAL, BT_STR("optional.none"), NULL, 0);
		return apply_conditional(checker, node, has_value, result, none);
	}
	case BT_CEL_MACRO_ALL:
	case BT_CEL_MACRO_EXISTS:
	case BT_CEL_MACRO_EXISTS_ONE:
	case BT_CEL_MACRO_MAP:
	case BT_CEL_MACRO_FILTER:
	case BT_CEL_MACRO_TRANSFORM_LIST:
	case BT_CEL_MACRO_TRANSFORM_MAP:
	case BT_CEL_MACRO_TRANSFORM_MAP_ENTRY:
		return check_iteration(checker, node);
	case BT_CEL_MACRO_SORT_BY: {
		/*
		 * Expands to `cel.bind(input, range, input.@sortByAssociatedKeys(input.map(x,
		 * key)))`.
		 */
		const struct bt_cel_type *arguments[2];

		/*
		 * The expansion of this cel.bind contains an empty list. The list is not used, but
		 * its type parameter uses up a number.
		 */
		(void)new_list(checker);
		arguments[1] = check_iteration(checker, node);
		arguments[0] = node->macro.range->type;
		return apply(checker, node, BT_CEL_STYLE_MEMBER, BT_STR("@sortByAssociatedKeys"),
			arguments, 2);
	}
	}
	return &bt_cel_types[BT_CEL_ERROR];
}
