/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/nanoseconds.h"
#include "cel/evaluate_private.h"
#include "cel/function.h"
#include "cel/text.h"

/* Arithmetic and ordering. Spec: 12b sections 8.6 and 8.7. */

struct bt_cel_value bt_cel_number_arithmetic(
	enum bt_cel_operator operation, struct bt_cel_value left, const struct bt_cel_value *right)
{
	bool is_division = operation == BT_CEL_OP_DIVIDE || operation == BT_CEL_OP_MODULO;

	if (left.kind == BT_CEL_DOUBLE) {
		/* IEEE 754: dividing by zero gives infinity or NaN. */
		left.real = operation == BT_CEL_OP_ADD    ? left.real + right->real
			: operation == BT_CEL_OP_SUBTRACT ? left.real - right->real
			: operation == BT_CEL_OP_MULTIPLY ? left.real * right->real
							  : left.real / right->real;
		return left;
	}
	if (is_division && right->uinteger == 0) {
		return bt_cel_error(operation == BT_CEL_OP_DIVIDE ? BT_STR("division by zero")
								  : BT_STR("modulus by zero"));
	}
	bool is_int = left.kind == BT_CEL_INT;
	bool is_overflow;
	switch ((int)operation) {
	case BT_CEL_OP_ADD:
		is_overflow = is_int
			? BT_ADD_OVERFLOW(left.integer, right->integer, &left.integer)
			: BT_ADD_OVERFLOW(left.uinteger, right->uinteger, &left.uinteger);
		break;
	case BT_CEL_OP_SUBTRACT:
		is_overflow = is_int
			? BT_SUB_OVERFLOW(left.integer, right->integer, &left.integer)
			: BT_SUB_OVERFLOW(left.uinteger, right->uinteger, &left.uinteger);
		break;
	case BT_CEL_OP_MULTIPLY:
		is_overflow = is_int
			? BT_MUL_OVERFLOW(left.integer, right->integer, &left.integer)
			: BT_MUL_OVERFLOW(left.uinteger, right->uinteger, &left.uinteger);
		break;
	default:
		is_overflow = is_int && left.integer == INT64_MIN && right->integer == -1;
		if (is_int && !is_overflow) {
			left.integer = operation == BT_CEL_OP_DIVIDE
				? left.integer / right->integer
				: left.integer % right->integer;
		} else if (!is_int) {
			left.uinteger = operation == BT_CEL_OP_DIVIDE
				? left.uinteger / right->uinteger
				: left.uinteger % right->uinteger;
		}
		break;
	}
	if (is_overflow) {
		return bt_cel_error(
			is_int ? BT_STR("integer overflow") : BT_STR("unsigned integer overflow"));
	}
	return left;
}

static struct bt_cel_value duration_result(bool is_overflow, const int64_t *duration_ns)
{
	return is_overflow
		? bt_cel_error(BT_STR("duration overflow"))
		: (struct bt_cel_value){.kind = BT_CEL_DURATION, .integer = *duration_ns};
}

/** Computes time + duration or time - duration. */
static struct bt_cel_value shift_timestamp(
	struct bt_cel_timestamp time, int64_t duration_ns, bool is_back)
{
	/* Cannot overflow: both operands are small. */
	int64_t seconds = duration_ns / BT_NS_PER_SECOND;
	int64_t nanoseconds = duration_ns % BT_NS_PER_SECOND;

	time.seconds += is_back ? -seconds : seconds;
	nanoseconds = time.nanoseconds + (is_back ? -nanoseconds : nanoseconds);
	if (nanoseconds < 0) {
		time.seconds--;
		nanoseconds += BT_NS_PER_SECOND;
	} else if (nanoseconds >= BT_NS_PER_SECOND) {
		time.seconds++;
		nanoseconds -= BT_NS_PER_SECOND;
	}
	return bt_cel_timestamp(time.seconds, (int32_t)nanoseconds);
}

static struct bt_cel_value concatenate_texts(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *left, const struct bt_cel_value *right)
{
	uint64_t length = (uint64_t)left->text.length + right->text.length;
	struct bt_cel_value result = *left;

	if (!bt_cel_charge_tenths(evaluation, length, 1)) {
		return evaluation->stop;
	}
	char *text = bt_cel_alloc(evaluation, length, 1);
	if (text == NULL) {
		return evaluation->stop;
	}
	if (left->text.length != 0) {
		memcpy(text, left->text.data, left->text.length);
	}
	if (right->text.length != 0) {
		memcpy(text + left->text.length, right->text.data, right->text.length);
	}
	result.text = (struct bt_str){text, (uint32_t)length};
	return result;
}

static struct bt_cel_value concatenate_lists(
	struct bt_cel_evaluation *evaluation, struct bt_cel_list left, struct bt_cel_list right)
{
	uint64_t count = (uint64_t)left.count + right.count;
	struct bt_cel_value *items;

	if (!bt_cel_charge(evaluation, 1) || !bt_cel_charge_work(evaluation, count)) {
		return evaluation->stop;
	}
	items = bt_cel_alloc(evaluation, count, sizeof(*items));
	if (items == NULL) {
		return evaluation->stop;
	}
	for (uint32_t i = 0; i < left.count; i++) {
		items[i] = left.items[i];
	}
	for (uint32_t i = 0; i < right.count; i++) {
		items[left.count + i] = right.items[i];
	}
	return bt_cel_list(items, count);
}

static struct bt_cel_value time_arithmetic(enum bt_cel_operator operation,
	const struct bt_cel_value *left, const struct bt_cel_value *right)
{
	bool is_difference = operation == BT_CEL_OP_SUBTRACT;
	bool is_left_duration = left->kind == BT_CEL_DURATION;
	bool is_right_duration = right->kind == BT_CEL_DURATION;
	int64_t result = 0;

	if (operation != BT_CEL_OP_ADD && !is_difference) {
		return bt_cel_error(BT_CEL_NO_OVERLOAD);
	}
	if (is_left_duration && is_right_duration) {
		return duration_result(is_difference
				? BT_SUB_OVERFLOW(left->integer, right->integer, &result)
				: BT_ADD_OVERFLOW(left->integer, right->integer, &result),
			&result);
	}
	if (!is_left_duration && is_right_duration) {
		return shift_timestamp(left->timestamp, right->integer, is_difference);
	}
	if (right->kind != BT_CEL_TIMESTAMP || is_difference == is_left_duration) {
		return bt_cel_error(BT_CEL_NO_OVERLOAD);
	}
	if (!is_difference) {
		return shift_timestamp(right->timestamp, left->integer, false);
	}
	struct bt_cel_timestamp a = left->timestamp;
	struct bt_cel_timestamp b = right->timestamp;
	bool is_overflow = BT_MUL_OVERFLOW(a.seconds - b.seconds, BT_NS_PER_SECOND, &result) ||
		BT_ADD_OVERFLOW(result, (int64_t)a.nanoseconds - b.nanoseconds, &result);

	return duration_result(is_overflow, &result);
}

static struct bt_cel_value arithmetic(struct bt_cel_evaluation *evaluation,
	enum bt_cel_operator operation, struct bt_str function, const struct bt_cel_value *left,
	const struct bt_cel_value *right)
{
	switch ((int)left->kind) {
	case BT_CEL_LIST:
	case BT_CEL_STRING:
	case BT_CEL_BYTES:
		if (operation == BT_CEL_OP_ADD) {
			if (left->kind != right->kind) {
				return bt_cel_error(BT_CEL_NO_OVERLOAD);
			}
			return left->kind == BT_CEL_LIST
				? concatenate_lists(evaluation, left->list, right->list)
				: concatenate_texts(evaluation, left, right);
		}
		if (left->kind == BT_CEL_STRING) {
			return bt_cel_error(BT_CEL_NO_OVERLOAD);
		}
		break;
	case BT_CEL_INT:
	case BT_CEL_UINT:
	case BT_CEL_DOUBLE:
		if (operation == BT_CEL_OP_MODULO && left->kind == BT_CEL_DOUBLE) {
			break;
		}
		if (!bt_cel_charge(evaluation, 1)) {
			return evaluation->stop;
		}
		if (left->kind != right->kind) {
			return bt_cel_error(BT_CEL_NO_OVERLOAD);
		}
		return bt_cel_number_arithmetic(operation, *left, right);
	case BT_CEL_DURATION:
	case BT_CEL_TIMESTAMP:
		if (!bt_cel_charge(evaluation, 1)) {
			return evaluation->stop;
		}
		return time_arithmetic(operation, left, right);
	default:
		break;
	}
	/* The left operand does not support the operation. */
	return bt_cel_fail(evaluation, "no such overload: %.*s", BT_STR_ARG(function));
}

/** Charges the units of == and of orderings. Spec: 12b section 10. */
static bool charge_comparison(struct bt_cel_evaluation *evaluation, const struct bt_cel_value *left,
	const struct bt_cel_value *right)
{
	uint32_t left_size;
	uint32_t right_size;

	if (left->kind != right->kind) {
		return bt_cel_charge(evaluation, 1);
	}
	switch ((int)left->kind) {
	case BT_CEL_STRING:
	case BT_CEL_BYTES:
		left_size = left->text.length;
		right_size = right->text.length;
		return bt_cel_charge_tenths(evaluation, BT_MIN(left_size, right_size), 1);
	case BT_CEL_LIST:
		return bt_cel_charge(evaluation, left->list.count);
	case BT_CEL_MAP:
		return bt_cel_charge(evaluation, left->map->count);
	default:
		return bt_cel_charge(evaluation, 1);
	}
}

/** Evaluates <, <=, > and >=. */
static struct bt_cel_value compare_order(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_node *node, const struct bt_cel_value *left,
	const struct bt_cel_value *right)
{
	int order;

	switch ((int)left->kind) {
	case BT_CEL_BOOL:
	case BT_CEL_INT:
	case BT_CEL_UINT:
	case BT_CEL_DOUBLE:
	case BT_CEL_STRING:
	case BT_CEL_BYTES:
	case BT_CEL_TIMESTAMP:
	case BT_CEL_DURATION:
		break;
	default:
		return bt_cel_fail(
			evaluation, "no such overload: %.*s", BT_STR_ARG(node->call.function));
	}
	if (!charge_comparison(evaluation, left, right)) {
		return evaluation->stop;
	}
	if (!bt_cel_compare(left, right, &order)) {
		return bt_cel_is_number(left) ? bt_cel_not_ordered(left, right)
					      : bt_cel_error(BT_CEL_NO_OVERLOAD);
	}
	switch ((int)node->call.operator_) {
	case BT_CEL_OP_LESS:
		return bt_cel_bool(order < 0);
	case BT_CEL_OP_LESS_EQUAL:
		return bt_cel_bool(order <= 0);
	case BT_CEL_OP_GREATER:
		return bt_cel_bool(order > 0);
	default:
		return bt_cel_bool(order >= 0);
	}
}

/* Operators and functions. Spec: 12b sections 8.1, 8.2, 8.5 and 8.9. */

/**
 * Returns an error for a case in which upstream panics. The whole evaluation ends, because the
 * error also sets evaluation->stop: the operators && and || do not hide it.
 */
static struct bt_cel_value panic(struct bt_cel_evaluation *evaluation, struct bt_str text)
{
	if (!bt_cel_is_stopped(evaluation)) {
		evaluation->stop = bt_cel_error(text);
	}
	return evaluation->stop;
}

/**
 * Evaluates && (deciding: false) or || (deciding: true) as one flat operation with any number of
 * operands. An operand equal to `deciding` ends the operation.
 */
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

/**
 * Evaluates both operands, even if the left one is an error. false: *out_left is the first error.
 */
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

static struct bt_cel_value evaluate_in(
	struct bt_cel_evaluation *evaluation, const struct bt_cel_node *node)
{
	const struct bt_cel_node *list = node->call.arguments[1];
	struct bt_cel_value left;
	struct bt_cel_value right;
	bool is_found = false;

	if (list->kind == BT_CEL_NODE_LIST && list->list.count == 0) {
		return bt_cel_bool(false);
	}
	if (!evaluate_sides(evaluation, node, &left, &right)) {
		return left;
	}
	if (node->call.in_constants) {
		/*
		 * Upstream finds the left operand in a hash table, which costs no units, and panics
		 * if the operand is a semver or bytes.
		 */
		if (!bt_cel_charge_work(evaluation, right.list.count)) {
			return evaluation->stop;
		}
		if (left.kind == BT_CEL_SEMVER || left.kind == BT_CEL_BYTES) {
			return panic(evaluation,
				left.kind == BT_CEL_SEMVER
					? BT_STR("internal error: runtime error: hash of "
						 "unhashable type cel.Semver")
					: BT_STR("internal error: runtime error: hash of "
						 "unhashable type types.Bytes"));
		}
	} else if (right.kind == BT_CEL_MAP) {
		if (!bt_cel_charge(evaluation, 1) ||
			!bt_cel_charge_find(evaluation, right.map, &left)) {
			return evaluation->stop;
		}
		return bt_cel_bool(bt_cel_map_find(right.map, &left) != NULL);
	} else if (right.kind != BT_CEL_LIST) {
		return bt_cel_error(BT_CEL_NO_OVERLOAD);
	} else if (!bt_cel_charge(evaluation, right.list.count)) {
		return evaluation->stop;
	}
	for (uint32_t i = 0; i < right.list.count && !is_found; i++) {
		is_found = bt_cel_is_equal(evaluation, &left, &right.list.items[i]);
	}
	return bt_cel_bool(is_found);
}

/** Evaluates ! and -. */
static struct bt_cel_value evaluate_unary(
	struct bt_cel_evaluation *evaluation, const struct bt_cel_node *node)
{
	struct bt_cel_value operand = bt_cel_evaluate_node(evaluation, node->call.arguments[0]);
	int64_t result = 0;

	if (bt_cel_is_error(&operand)) {
		return operand;
	}
	if (!bt_cel_charge(evaluation, 1)) {
		return evaluation->stop;
	}
	if (node->call.operator_ == BT_CEL_OP_NOT) {
		return operand.kind == BT_CEL_BOOL ? bt_cel_bool(!operand.boolean)
						   : bt_cel_error(BT_CEL_NO_OVERLOAD);
	}
	switch ((int)operand.kind) {
	case BT_CEL_INT:
		return BT_SUB_OVERFLOW((int64_t)0, operand.integer, &result)
			? bt_cel_error(BT_STR("integer overflow"))
			: bt_cel_int(result);
	case BT_CEL_DOUBLE:
		return bt_cel_double(-operand.real);
	case BT_CEL_DURATION:
		return duration_result(
			BT_SUB_OVERFLOW((int64_t)0, operand.integer, &result), &result);
	case BT_CEL_BOOL:
	case BT_CEL_STRING:
	case BT_CEL_TIMESTAMP:
		return bt_cel_error(BT_CEL_NO_OVERLOAD);
	default:
		return bt_cel_error(BT_STR("no such overload: -_"));
	}
}

/**
 * Charges one unit for each element. An element that is a string costs a tenth of a unit per code
 * point instead, rounded down.
 */
static bool charge_elements(struct bt_cel_evaluation *evaluation, const struct bt_cel_list *list)
{
	for (uint32_t i = 0; i < list->count; i++) {
		const struct bt_cel_value *item = &list->items[i];
		bool is_text = item->kind == BT_CEL_STRING || item->kind == BT_CEL_BYTES;
		uint64_t units = 1;

		if (is_text && !bt_cel_charge_work(evaluation, (uint64_t)item->text.length + 1)) {
			return false;
		}
		if (item->kind == BT_CEL_STRING) {
			units = bt_cel_text_length(item->text) / 10;
		}
		if (!bt_cel_charge(evaluation, units)) {
			return false;
		}
	}
	return true;
}

struct bt_cel_value bt_cel_evaluate_call(
	struct bt_cel_evaluation *evaluation, const struct bt_cel_node *node)
{
	enum bt_cel_operator operation = node->call.operator_;
	struct bt_cel_value arguments[BT_CEL_ARGUMENTS_MAX];
	struct bt_cel_value *left = &arguments[0];
	struct bt_cel_value *right = &arguments[1];
	const struct bt_cel_value *error = NULL;
	const struct bt_cel_overload *overload = NULL;
	uint32_t count = 0;

	switch (operation) {
	case BT_CEL_OP_OR:
		return evaluate_logic(evaluation, node, true);
	case BT_CEL_OP_AND:
		return evaluate_logic(evaluation, node, false);
	case BT_CEL_OP_CONDITIONAL:
		*left = bt_cel_evaluate_node(evaluation, node->call.arguments[0]);
		if (bt_cel_is_error(left)) {
			return *left;
		}
		if (left->kind != BT_CEL_BOOL) {
			return bt_cel_error(BT_CEL_NO_OVERLOAD);
		}
		return bt_cel_evaluate_node(
			evaluation, node->call.arguments[left->boolean ? 1 : 2]);
	case BT_CEL_OP_NOT:
	case BT_CEL_OP_NEGATE:
		return evaluate_unary(evaluation, node);
	case BT_CEL_OP_IN:
		return evaluate_in(evaluation, node);
	case BT_CEL_OP_EQUAL:
	case BT_CEL_OP_NOT_EQUAL:
		if (!evaluate_sides(evaluation, node, left, right)) {
			return *left;
		}
		if (!charge_comparison(evaluation, left, right)) {
			return evaluation->stop;
		}
		return operation == BT_CEL_OP_NOT_EQUAL
			? bt_cel_bool(!bt_cel_is_equal(evaluation, left, right))
			: bt_cel_equal(evaluation, left, right);
	case BT_CEL_OP_LESS:
	case BT_CEL_OP_LESS_EQUAL:
	case BT_CEL_OP_GREATER:
	case BT_CEL_OP_GREATER_EQUAL:
		return evaluate_sides(evaluation, node, left, right)
			? compare_order(evaluation, node, left, right)
			: *left;
	case BT_CEL_OP_ADD:
	case BT_CEL_OP_SUBTRACT:
	case BT_CEL_OP_MULTIPLY:
	case BT_CEL_OP_DIVIDE:
	case BT_CEL_OP_MODULO:
		return evaluate_sides(evaluation, node, left, right)
			? arithmetic(evaluation, operation, node->call.function, left, right)
			: *left;
	case BT_CEL_OP_INDEX:
	case BT_CEL_OP_OPTIONAL_INDEX:
		if (!evaluate_sides(evaluation, node, left, right)) {
			return *left;
		}
		if (!bt_cel_charge(evaluation, 1)) {
			return evaluation->stop;
		}
		return operation == BT_CEL_OP_INDEX
			? bt_cel_lookup(evaluation, left, right)
			: bt_cel_lookup_optional(evaluation, left, right);
	case BT_CEL_OP_OPTIONAL_OR:
	case BT_CEL_OP_OPTIONAL_OR_VALUE:
		/* a.or(b), a.orValue(b): evaluate b only if a is none. */
		*left = bt_cel_evaluate_node(evaluation, node->call.target);
		if (bt_cel_is_error(left)) {
			return *left;
		}
		if (!bt_cel_charge(evaluation, 1)) {
			return evaluation->stop;
		}
		if (left->kind == BT_CEL_OPTIONAL && left->optional != NULL) {
			return operation == BT_CEL_OP_OPTIONAL_OR ? *left : *left->optional;
		}
		*right = bt_cel_evaluate_node(evaluation, node->call.arguments[0]);
		if (bt_cel_is_error(right)) {
			return *right;
		}
		return left->kind == BT_CEL_OPTIONAL &&
				(operation == BT_CEL_OP_OPTIONAL_OR_VALUE ||
					right->kind == BT_CEL_OPTIONAL)
			? *right
			: bt_cel_no_overload(evaluation, node->call.function, arguments, 2);
	case BT_CEL_OP_NONE:
		break;
	}
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
		/*
		 * Upstream computes the units of distinct() and sort() from the elements of the
		 * target, and panics if the target is an error.
		 */
		return (node->call.overload_count == 1 &&
			       (node->call.overloads[0]->call == bt_cel_fn_distinct ||
				       node->call.overloads[0]->call == bt_cel_fn_sort)) &&
				error == &arguments[0]
			? panic(evaluation,
				  BT_STR("internal error: interface conversion: *types.Err is not "
					 "traits.Lister: missing method Add"))
			: *error;
	}
	for (uint32_t i = 0; i < node->call.overload_count && overload == NULL; i++) {
		bool is_right = true;

		overload = node->call.overloads[i];
		for (uint32_t k = 0; k < count && overload->guard == BT_CEL_GUARD_KINDS; k++) {
			uint8_t wanted = node->call.kinds[i][k];

			is_right =
				is_right && (wanted == BT_CEL_DYN || wanted == arguments[k].kind);
		}
		overload = is_right ? overload : NULL;
	}
	if (overload == NULL || overload->call == NULL) {
		return bt_cel_no_overload(evaluation, node->call.function, arguments, count);
	}
	struct bt_cel_call call = {evaluation, overload, arguments, count, node->call.regex};
	bool is_charged = true;

	switch (overload->charge) {
	case BT_CEL_CHARGE_OWN:
		break;
	case BT_CEL_CHARGE_ONE:
		is_charged = bt_cel_charge(evaluation, 1);
		break;
	case BT_CEL_CHARGE_TEXT:
		is_charged = bt_cel_charge_text(evaluation, arguments[0].text, 1);
		break;
	case BT_CEL_CHARGE_ELEMENTS:
		is_charged = charge_elements(evaluation, &arguments[0].list);
		break;
	}
	return is_charged ? overload->call(&call) : evaluation->stop;
}
