/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Macros: complaints are those about the calls that they stand for (spec 12b section 6), e.g. about
 * the operand of && in all(), or about _?_:_ where a condition decides what is added.
 */
#include "base/compiler.h"
#include "cel/checker_private.h"

/** Types of what a macro goes over. */
struct element {
	const struct bt_cel_type *key; /* of a list: its indexes */
	const struct bt_cel_type *value;
	bool is_map;
};

static const struct bt_cel_type *simple(enum bt_cel_kind kind)
{
	return &bt_cel_types[kind];
}

/** The result of a call that a macro stands for. */
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
								  : simple(BT_CEL_ERROR);
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
	/* Every variable has a slot of its own, because the value of cel.bind is computed when
	 * somebody asks for it, in the midst of others. */
	struct bt_cel_scope scope = {node->macro.names[which], type, checker->slot_count++};

	node->macro.slots[which] = scope.slot;
	bt_vec_push(&checker->scopes, scope);
}

static struct element element_of(struct bt_cel_checker *checker, const struct bt_cel_node *range)
{
	const struct bt_cel_type *dyn = simple(BT_CEL_DYN);
	const struct bt_cel_type *error = simple(BT_CEL_ERROR);
	const struct bt_cel_type *type = bt_cel_substitute(&checker->inference, range->type, false);
	struct bt_str text;

	if (type->kind == BT_CEL_LIST) {
		return (struct element){simple(BT_CEL_INT), type->of[0], false};
	}
	if (type->kind == BT_CEL_MAP) {
		return (struct element){type->of[0], type->of[1], true};
	}
	if (type->kind == BT_CEL_PARAMETER) {
		(void)bt_cel_assign(&checker->inference, &dyn, &type, 1); /* it was free */
		return (struct element){dyn, dyn, false};
	}
	if (type->kind == BT_CEL_DYN || type->kind == BT_CEL_ERROR) {
		return (struct element){dyn, dyn, false};
	}
	text = bt_cel_type_text(checker, type);
	bt_cel_issue_add(checker->issues, range->position,
		"expression of type '%.*s' cannot be range of a comprehension (must be list, map, "
		"or dynamic)",
		BT_STR_ARG(text));
	return (struct element){error, error, false};
}

/** The list that grows by what the macro makes of an element, perhaps under a condition. */
static const struct bt_cel_type *grown_list(struct bt_cel_checker *checker,
	const struct bt_cel_node *node, const struct bt_cel_type *element)
{
	const struct bt_cel_node *condition = node->macro.condition;
	const struct bt_cel_type *list =
		bt_cel_type_make(&checker->inference, BT_CEL_LIST, element, NULL);

	return condition != NULL ? apply_conditional(checker, node, condition->type, list, list)
				 : list;
}

/** The map that grows by a key and a value, or by a map. */
static const struct bt_cel_type *grown_map(struct bt_cel_checker *checker,
	const struct bt_cel_node *node, const struct element *element)
{
	struct bt_cel_inference *inference = &checker->inference;
	const struct bt_cel_node *condition = node->macro.condition;
	const struct bt_cel_type *map = bt_cel_type_make(inference, BT_CEL_MAP,
		bt_cel_fresh_parameter(inference), bt_cel_fresh_parameter(inference));
	const struct bt_cel_type *by_key[] = {map, element->key, node->macro.result->type};
	const struct bt_cel_type *by_map[] = {map, node->macro.result->type};
	bool is_entry = node->macro.macro == BT_CEL_MACRO_TRANSFORM_MAP_ENTRY;
	const struct bt_cel_type *grown = apply(checker, node, BT_CEL_STYLE_GLOBAL,
		BT_STR("cel.@mapInsert"), is_entry ? by_map : by_key, is_entry ? 2 : 3);

	return condition != NULL ? apply_conditional(checker, node, condition->type, grown, map)
				 : grown;
}

static const struct bt_cel_type *sorted_list(
	struct bt_cel_checker *checker, const struct bt_cel_node *node)
{
	const struct bt_cel_type *keys =
		bt_cel_type_make(&checker->inference, BT_CEL_LIST, node->macro.result->type, NULL);
	const struct bt_cel_type *arguments[] = {node->macro.range->type, keys};

	return apply(
		checker, node, BT_CEL_STYLE_MEMBER, BT_STR("@sortByAssociatedKeys"), arguments, 2);
}

/** The result of a macro over elements, once its parts are checked. */
static const struct bt_cel_type *iteration_result(struct bt_cel_checker *checker,
	const struct bt_cel_node *node, const struct element *element)
{
	const struct bt_cel_type *integer = simple(BT_CEL_INT);

	switch (node->macro.macro) {
	case BT_CEL_MACRO_ALL:
	case BT_CEL_MACRO_EXISTS:
		bt_cel_expect_bool(checker, node->macro.condition);
		return simple(BT_CEL_BOOL);
	case BT_CEL_MACRO_EXISTS_ONE:
		(void)apply_conditional(
			checker, node, node->macro.condition->type, integer, integer);
		return simple(BT_CEL_BOOL);
	case BT_CEL_MACRO_FILTER:
		return grown_list(checker, node, element->is_map ? element->key : element->value);
	case BT_CEL_MACRO_MAP:
	case BT_CEL_MACRO_TRANSFORM_LIST:
		return grown_list(checker, node, node->macro.result->type);
	case BT_CEL_MACRO_TRANSFORM_MAP:
	case BT_CEL_MACRO_TRANSFORM_MAP_ENTRY:
		return grown_map(checker, node, element);
	case BT_CEL_MACRO_SORT_BY:
		return sorted_list(checker, node);
	case BT_CEL_MACRO_BIND:
	case BT_CEL_MACRO_OPT_MAP:
	case BT_CEL_MACRO_OPT_FLAT_MAP:
		break;
	}
	return simple(BT_CEL_ERROR);
}

static const struct bt_cel_type *check_iteration(
	struct bt_cel_checker *checker, struct bt_cel_node *node)
{
	uint32_t outer = checker->scopes.count;
	struct element element;

	(void)bt_cel_check_node(checker, node->macro.range);
	element = element_of(checker, node->macro.range);
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
	return iteration_result(checker, node, &element);
}

/** The result with its one variable. */
static const struct bt_cel_type *check_bound(struct bt_cel_checker *checker,
	struct bt_cel_node *node, const struct bt_cel_type *variable)
{
	const struct bt_cel_type *type;

	open_scope(checker, node, 0, variable);
	type = bt_cel_check_node(checker, node->macro.result);
	checker->scopes.count--;
	return type;
}

/** `o.hasValue() ? <result> : optional.none()` */
static const struct bt_cel_type *check_optional(
	struct bt_cel_checker *checker, struct bt_cel_node *node)
{
	struct bt_cel_inference *inference = &checker->inference;
	const struct bt_cel_type *optional = bt_cel_check_node(checker, node->macro.range);
	const struct bt_cel_type *has_value =
		apply(checker, node, BT_CEL_STYLE_MEMBER, BT_STR("hasValue"), &optional, 1);
	const struct bt_cel_type *value =
		apply(checker, node, BT_CEL_STYLE_MEMBER, BT_STR("value"), &optional, 1);
	const struct bt_cel_type *result = check_bound(checker, node, value);
	const struct bt_cel_type *none;

	if (node->macro.macro == BT_CEL_MACRO_OPT_MAP) {
		result = bt_cel_type_make(inference, BT_CEL_OPTIONAL, result, NULL);
	}
	none = bt_cel_type_make(
		inference, BT_CEL_OPTIONAL, bt_cel_fresh_parameter(inference), NULL);
	return apply_conditional(checker, node, has_value, result, none);
}

const struct bt_cel_type *bt_cel_check_macro(
	struct bt_cel_checker *checker, struct bt_cel_node *node)
{
	switch (node->macro.macro) {
	case BT_CEL_MACRO_BIND:
		return check_bound(checker, node, bt_cel_check_node(checker, node->macro.range));
	case BT_CEL_MACRO_OPT_MAP:
	case BT_CEL_MACRO_OPT_FLAT_MAP:
		return check_optional(checker, node);
	case BT_CEL_MACRO_ALL:
	case BT_CEL_MACRO_EXISTS:
	case BT_CEL_MACRO_EXISTS_ONE:
	case BT_CEL_MACRO_MAP:
	case BT_CEL_MACRO_FILTER:
	case BT_CEL_MACRO_TRANSFORM_LIST:
	case BT_CEL_MACRO_TRANSFORM_MAP:
	case BT_CEL_MACRO_TRANSFORM_MAP_ENTRY:
	case BT_CEL_MACRO_SORT_BY:
		return check_iteration(checker, node);
	}
	return simple(BT_CEL_ERROR);
}
