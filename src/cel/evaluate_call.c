/* SPDX-License-Identifier: Apache-2.0 */
/* Operators and functions. Spec: 12b sections 8.1, 8.2, 8.5 and 8.9. */
#include "cel/evaluate_private.h"
#include "cel/functions.h"

/** Where upstream panics: the whole evaluation ends, no || or && hides the error. */
static struct bt_cel_value panic(struct bt_cel_evaluation *evaluation, struct bt_str text)
{
	if (!bt_cel_is_stopped(evaluation)) {
		evaluation->stop = bt_cel_error(text);
	}
	return evaluation->stop;
}

/* --- logic --- */

/** && and ||: one flat operation, whatever the number of operands. */
static struct bt_cel_value evaluate_logic(
	struct bt_cel_evaluation *evaluation, const struct bt_cel_node *node, bool deciding)
{
	struct bt_cel_value problem = {.kind = BT_CEL_NULL};

	for (uint32_t i = 0; i < node->call.count; i++) {
		struct bt_cel_value operand =
			bt_cel_evaluate_node(evaluation, node->call.arguments[i]);

		if (operand.kind == BT_CEL_BOOL) {
			if (operand.boolean == deciding) {
				return operand;
			}
			continue;
		}
		if (bt_cel_is_stopped(evaluation)) {
			return evaluation->stop;
		}
		if (problem.kind == BT_CEL_NULL) {
			problem = bt_cel_is_error(&operand) ? operand
							    : bt_cel_error(BT_CEL_NO_OVERLOAD);
		}
	}
	return problem.kind != BT_CEL_NULL ? problem : bt_cel_bool(!deciding);
}

static struct bt_cel_value evaluate_conditional(
	struct bt_cel_evaluation *evaluation, const struct bt_cel_node *node)
{
	struct bt_cel_value condition = bt_cel_evaluate_node(evaluation, node->call.arguments[0]);

	if (bt_cel_is_error(&condition)) {
		return condition;
	}
	if (condition.kind != BT_CEL_BOOL) {
		return bt_cel_error(BT_CEL_NO_OVERLOAD);
	}
	return bt_cel_evaluate_node(evaluation, node->call.arguments[condition.boolean ? 1 : 2]);
}

static struct bt_cel_value evaluate_not(
	struct bt_cel_evaluation *evaluation, const struct bt_cel_node *node)
{
	struct bt_cel_value operand = bt_cel_evaluate_node(evaluation, node->call.arguments[0]);

	if (bt_cel_is_error(&operand)) {
		return operand;
	}
	if (!bt_cel_charge(evaluation, 1)) {
		return evaluation->stop;
	}
	return operand.kind == BT_CEL_BOOL ? bt_cel_bool(!operand.boolean)
					   : bt_cel_error(BT_CEL_NO_OVERLOAD);
}

/* --- operators --- */

/** Both sides, whatever the first one is. false: *out_left is the first error of the two. */
static bool evaluate_sides(struct bt_cel_evaluation *evaluation, const struct bt_cel_node *node,
	struct bt_cel_value *out_left, struct bt_cel_value *out_right)
{
	*out_left = bt_cel_evaluate_node(evaluation, node->call.arguments[0]);
	*out_right = bt_cel_evaluate_node(evaluation, node->call.arguments[1]);
	if (!bt_cel_is_error(out_left) && bt_cel_is_error(out_right)) {
		*out_left = *out_right;
	}
	return !bt_cel_is_error(out_left);
}

/** x in a literal of constants, whose hash table upstream asks. */
static struct bt_cel_value search_constants(struct bt_cel_evaluation *evaluation,
	struct bt_cel_list list, const struct bt_cel_value *value)
{
	if (value->kind == BT_CEL_SEMVER || value->kind == BT_CEL_BYTES) {
		return panic(evaluation,
			value->kind == BT_CEL_SEMVER
				? BT_STR("internal error: runtime error: hash of unhashable type "
					 "cel.Semver")
				: BT_STR("internal error: runtime error: hash of unhashable type "
					 "types.Bytes"));
	}
	for (uint32_t i = 0; i < list.count; i++) {
		if (bt_cel_is_equal(evaluation, value, &list.items[i])) {
			return bt_cel_bool(true);
		}
	}
	return bt_cel_bool(false);
}

static struct bt_cel_value evaluate_in(
	struct bt_cel_evaluation *evaluation, const struct bt_cel_node *node)
{
	const struct bt_cel_node *list = node->call.arguments[1];
	struct bt_cel_value left;
	struct bt_cel_value right;

	if (list->kind == BT_CEL_NODE_LIST && list->list.count == 0) {
		return bt_cel_bool(false);
	}
	if (!evaluate_sides(evaluation, node, &left, &right)) {
		return left;
	}
	if (!node->call.in_constants) {
		bool is_found = false;

		if (right.kind == BT_CEL_MAP) {
			if (!bt_cel_charge(evaluation, 1) ||
				!bt_cel_charge_find(evaluation, right.map, &left)) {
				return evaluation->stop;
			}
			return bt_cel_bool(bt_cel_map_find(right.map, &left) != NULL);
		}
		if (right.kind != BT_CEL_LIST) {
			return bt_cel_error(BT_CEL_NO_OVERLOAD);
		}
		if (!bt_cel_charge(evaluation, right.list.count)) {
			return evaluation->stop;
		}
		for (uint32_t i = 0; i < right.list.count && !is_found; i++) {
			is_found = bt_cel_is_equal(evaluation, &left, &right.list.items[i]);
		}
		return bt_cel_bool(is_found);
	}
	if (!bt_cel_charge_work(evaluation, right.list.count)) {
		return evaluation->stop;
	}
	return search_constants(evaluation, right.list, &left);
}

static struct bt_cel_value evaluate_equal(
	struct bt_cel_evaluation *evaluation, const struct bt_cel_node *node, bool is_negated)
{
	struct bt_cel_value left;
	struct bt_cel_value right;

	if (!evaluate_sides(evaluation, node, &left, &right)) {
		return left;
	}
	if (!bt_cel_charge_comparison(evaluation, &left, &right)) {
		return evaluation->stop;
	}
	return is_negated ? bt_cel_bool(!bt_cel_is_equal(evaluation, &left, &right))
			  : bt_cel_equal(evaluation, &left, &right);
}

static struct bt_cel_value evaluate_index(
	struct bt_cel_evaluation *evaluation, const struct bt_cel_node *node, bool is_optional)
{
	struct bt_cel_value container;
	struct bt_cel_value key;

	if (!evaluate_sides(evaluation, node, &container, &key)) {
		return container;
	}
	if (!bt_cel_charge(evaluation, 1)) {
		return evaluation->stop;
	}
	return is_optional ? bt_cel_lookup_optional(evaluation, &container, &key)
			   : bt_cel_lookup(evaluation, &container, &key);
}

static struct bt_cel_value evaluate_sum(
	struct bt_cel_evaluation *evaluation, const struct bt_cel_node *node)
{
	struct bt_cel_value left;
	struct bt_cel_value right;

	if (!evaluate_sides(evaluation, node, &left, &right)) {
		return left;
	}
	return bt_cel_arithmetic(
		evaluation, node->call.operator_, node->call.function, &left, &right);
}

static struct bt_cel_value evaluate_ordering(
	struct bt_cel_evaluation *evaluation, const struct bt_cel_node *node)
{
	struct bt_cel_value left;
	struct bt_cel_value right;

	if (!evaluate_sides(evaluation, node, &left, &right)) {
		return left;
	}
	return bt_cel_ordering(
		evaluation, node->call.operator_, node->call.function, &left, &right);
}

static struct bt_cel_value evaluate_negation(
	struct bt_cel_evaluation *evaluation, const struct bt_cel_node *node)
{
	struct bt_cel_value operand = bt_cel_evaluate_node(evaluation, node->call.arguments[0]);

	return bt_cel_is_error(&operand) ? operand : bt_cel_negate(evaluation, &operand);
}

/* --- functions --- */

static bool has_kinds(const uint8_t *wanted, const struct bt_cel_value *arguments, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (wanted[i] != BT_CEL_DYN && wanted[i] != arguments[i].kind) {
			return false;
		}
	}
	return true;
}

/** The overload that runs; NULL: none is for these arguments. */
static const struct bt_cel_overload *choose(
	const struct bt_cel_node *node, const struct bt_cel_value *arguments, uint32_t count)
{
	for (uint32_t i = 0; i < node->call.overload_count; i++) {
		const struct bt_cel_overload *overload = node->call.overloads[i];

		if (overload->guard == BT_CEL_GUARD_NONE ||
			has_kinds(node->call.kinds[i], arguments, count)) {
			return overload;
		}
	}
	return NULL;
}

static struct bt_cel_value evaluate_function(
	struct bt_cel_evaluation *evaluation, const struct bt_cel_node *node)
{
	struct bt_cel_value arguments[BT_CEL_ARGUMENTS_MAX];
	const struct bt_cel_value *error = NULL;
	const struct bt_cel_overload *overload;
	uint32_t count = 0;

	if (node->call.target != NULL) {
		arguments[count++] = bt_cel_evaluate_node(evaluation, node->call.target);
	}
	for (uint32_t i = 0; i < node->call.count; i++) {
		arguments[count++] = bt_cel_evaluate_node(evaluation, node->call.arguments[i]);
	}
	for (uint32_t i = count; i-- > 0;) {
		error = bt_cel_is_error(&arguments[i]) ? &arguments[i] : error;
	}
	if (error != NULL) {
		/* Upstream charges the calls of these overloads by the elements of the target, and
		 * panics when the target is an error. */
		return (node->call.overload_count == 1 &&
			       (node->call.overloads[0]->call == bt_cel_fn_distinct ||
				       node->call.overloads[0]->call == bt_cel_fn_sort)) &&
				error == &arguments[0]
			? panic(evaluation,
				  BT_STR("internal error: interface conversion: *types.Err is not "
					 "traits.Lister: missing method Add"))
			: *error;
	}
	overload = choose(node, arguments, count);
	if (overload == NULL || overload->call == NULL) {
		return bt_cel_no_overload(evaluation, node->call.function, arguments, count);
	}
	return overload->call(evaluation, arguments, count, node->call.regex);
}

/** a.or(b), a.orValue(b): b is evaluated when a is none. */
static struct bt_cel_value evaluate_alternative(
	struct bt_cel_evaluation *evaluation, const struct bt_cel_node *node)
{
	bool is_value = node->call.operator_ == BT_CEL_OP_OPTIONAL_OR_VALUE;
	struct bt_cel_value target = bt_cel_evaluate_node(evaluation, node->call.target);
	struct bt_cel_value other;

	if (bt_cel_is_error(&target)) {
		return target;
	}
	if (!bt_cel_charge(evaluation, 1)) {
		return evaluation->stop;
	}
	if (target.kind == BT_CEL_OPTIONAL && target.optional != NULL) {
		return is_value ? *target.optional : target;
	}
	other = bt_cel_evaluate_node(evaluation, node->call.arguments[0]);
	if (bt_cel_is_error(&other)) {
		return other;
	}
	if (target.kind != BT_CEL_OPTIONAL || (!is_value && other.kind != BT_CEL_OPTIONAL)) {
		return bt_cel_no_overload(evaluation, node->call.function,
			(const struct bt_cel_value[]){target, other}, 2);
	}
	return other;
}

struct bt_cel_value bt_cel_evaluate_call(
	struct bt_cel_evaluation *evaluation, const struct bt_cel_node *node)
{
	switch (node->call.operator_) {
	case BT_CEL_OP_OR:
		return evaluate_logic(evaluation, node, true);
	case BT_CEL_OP_AND:
		return evaluate_logic(evaluation, node, false);
	case BT_CEL_OP_CONDITIONAL:
		return evaluate_conditional(evaluation, node);
	case BT_CEL_OP_NOT:
		return evaluate_not(evaluation, node);
	case BT_CEL_OP_NEGATE:
		return evaluate_negation(evaluation, node);
	case BT_CEL_OP_EQUAL:
		return evaluate_equal(evaluation, node, false);
	case BT_CEL_OP_NOT_EQUAL:
		return evaluate_equal(evaluation, node, true);
	case BT_CEL_OP_LESS:
	case BT_CEL_OP_LESS_EQUAL:
	case BT_CEL_OP_GREATER:
	case BT_CEL_OP_GREATER_EQUAL:
		return evaluate_ordering(evaluation, node);
	case BT_CEL_OP_IN:
		return evaluate_in(evaluation, node);
	case BT_CEL_OP_ADD:
	case BT_CEL_OP_SUBTRACT:
	case BT_CEL_OP_MULTIPLY:
	case BT_CEL_OP_DIVIDE:
	case BT_CEL_OP_MODULO:
		return evaluate_sum(evaluation, node);
	case BT_CEL_OP_INDEX:
		return evaluate_index(evaluation, node, false);
	case BT_CEL_OP_OPTIONAL_INDEX:
		return evaluate_index(evaluation, node, true);
	case BT_CEL_OP_OPTIONAL_OR:
	case BT_CEL_OP_OPTIONAL_OR_VALUE:
		return evaluate_alternative(evaluation, node);
	case BT_CEL_OP_NONE:
		break;
	}
	return evaluate_function(evaluation, node);
}
