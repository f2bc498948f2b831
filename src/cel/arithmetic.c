/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic and orderings. Spec: 12b sections 8.6 and 8.7. */
#include <string.h>

#include "base/nanoseconds.h"
#include "cel/evaluate_private.h"

/** Years 1 to 9999. */
#define SECONDS_MIN INT64_C(-62135596800)
#define SECONDS_MAX INT64_C(253402300799)

/** `no such overload: _-_`, of a left side that knows no such operation. */
static struct bt_cel_value no_operation(
	struct bt_cel_evaluation *evaluation, struct bt_str function)
{
	return bt_cel_fail(evaluation, "no such overload: %.*s", BT_STR_ARG(function));
}

/* --- numbers --- */

static struct bt_cel_value int_result(bool is_overflow, const int64_t *result)
{
	return is_overflow ? bt_cel_error(BT_STR("integer overflow")) : bt_cel_int(*result);
}

static struct bt_cel_value uint_result(bool is_overflow, const uint64_t *result)
{
	return is_overflow ? bt_cel_error(BT_STR("unsigned integer overflow"))
			   : bt_cel_uint(*result);
}

static struct bt_cel_value zero_error(enum bt_cel_operator operation)
{
	return bt_cel_error(operation == BT_CEL_OP_DIVIDE ? BT_STR("division by zero")
							  : BT_STR("modulus by zero"));
}

static struct bt_cel_value int_arithmetic(enum bt_cel_operator operation, int64_t a, int64_t b)
{
	int64_t result = 0;

	switch ((int)operation) {
	case BT_CEL_OP_ADD:
		return int_result(BT_ADD_OVERFLOW(a, b, &result), &result);
	case BT_CEL_OP_SUBTRACT:
		return int_result(BT_SUB_OVERFLOW(a, b, &result), &result);
	case BT_CEL_OP_MULTIPLY:
		return int_result(BT_MUL_OVERFLOW(a, b, &result), &result);
	default:
		break;
	}
	if (b == 0) {
		return zero_error(operation);
	}
	if (a == INT64_MIN && b == -1) {
		return int_result(true, NULL);
	}
	return bt_cel_int(operation == BT_CEL_OP_DIVIDE ? a / b : a % b);
}

static struct bt_cel_value uint_arithmetic(enum bt_cel_operator operation, uint64_t a, uint64_t b)
{
	uint64_t result = 0;

	switch ((int)operation) {
	case BT_CEL_OP_ADD:
		return uint_result(BT_ADD_OVERFLOW(a, b, &result), &result);
	case BT_CEL_OP_SUBTRACT:
		return uint_result(BT_SUB_OVERFLOW(a, b, &result), &result);
	case BT_CEL_OP_MULTIPLY:
		return uint_result(BT_MUL_OVERFLOW(a, b, &result), &result);
	default:
		break;
	}
	if (b == 0) {
		return zero_error(operation);
	}
	return bt_cel_uint(operation == BT_CEL_OP_DIVIDE ? a / b : a % b);
}

/** IEEE: dividing by zero gives infinity, or NaN. */
static struct bt_cel_value double_arithmetic(enum bt_cel_operator operation, double a, double b)
{
	switch ((int)operation) {
	case BT_CEL_OP_ADD:
		return bt_cel_double(a + b);
	case BT_CEL_OP_SUBTRACT:
		return bt_cel_double(a - b);
	case BT_CEL_OP_MULTIPLY:
		return bt_cel_double(a * b);
	default:
		return bt_cel_double(a / b);
	}
}

/* --- times --- */

static struct bt_cel_value duration_result(bool is_overflow, const int64_t *duration_ns)
{
	return is_overflow
		? bt_cel_error(BT_STR("duration overflow"))
		: (struct bt_cel_value){.kind = BT_CEL_DURATION, .integer = *duration_ns};
}

/** time + duration, or time - duration. */
static struct bt_cel_value shift_timestamp(
	struct bt_cel_timestamp time, int64_t duration_ns, bool is_back)
{
	/* Never overflows: both parts are small. */
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
	time.nanoseconds = (int32_t)nanoseconds;
	if (time.seconds < SECONDS_MIN || time.seconds > SECONDS_MAX) {
		return bt_cel_error(BT_STR("timestamp overflow"));
	}
	return (struct bt_cel_value){.kind = BT_CEL_TIMESTAMP, .timestamp = time};
}

static struct bt_cel_value timestamp_difference(
	struct bt_cel_timestamp a, struct bt_cel_timestamp b)
{
	int64_t result = 0;
	bool is_overflow = BT_MUL_OVERFLOW(a.seconds - b.seconds, BT_NS_PER_SECOND, &result) ||
		BT_ADD_OVERFLOW(result, (int64_t)a.nanoseconds - b.nanoseconds, &result);

	return duration_result(is_overflow, &result);
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
	return is_difference ? timestamp_difference(left->timestamp, right->timestamp)
			     : shift_timestamp(right->timestamp, left->integer, false);
}

/* --- texts and lists --- */

static struct bt_cel_value concatenate_texts(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *left, const struct bt_cel_value *right)
{
	uint64_t length = (uint64_t)left->text.length + right->text.length;
	struct bt_cel_value result = *left;
	char *text;

	if (!bt_cel_charge_tenths(evaluation, length, 1)) {
		return evaluation->stop;
	}
	text = bt_cel_alloc(evaluation, length, 1);
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
	return (struct bt_cel_value){.kind = BT_CEL_LIST, .list = {items, (uint32_t)count}};
}

/* --- operators --- */

struct bt_cel_value bt_cel_arithmetic(struct bt_cel_evaluation *evaluation,
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
		return left->kind == BT_CEL_STRING ? bt_cel_error(BT_CEL_NO_OVERLOAD)
						   : no_operation(evaluation, function);
	case BT_CEL_INT:
	case BT_CEL_UINT:
	case BT_CEL_DOUBLE:
		if (operation == BT_CEL_OP_MODULO && left->kind == BT_CEL_DOUBLE) {
			return no_operation(evaluation, function);
		}
		if (!bt_cel_charge(evaluation, 1)) {
			return evaluation->stop;
		}
		if (left->kind != right->kind) {
			return bt_cel_error(BT_CEL_NO_OVERLOAD);
		}
		if (left->kind == BT_CEL_INT) {
			return int_arithmetic(operation, left->integer, right->integer);
		}
		return left->kind == BT_CEL_UINT
			? uint_arithmetic(operation, left->uinteger, right->uinteger)
			: double_arithmetic(operation, left->real, right->real);
	case BT_CEL_DURATION:
	case BT_CEL_TIMESTAMP:
		if (!bt_cel_charge(evaluation, 1)) {
			return evaluation->stop;
		}
		return time_arithmetic(operation, left, right);
	default:
		return no_operation(evaluation, function);
	}
}

static bool is_ordered(enum bt_cel_kind kind)
{
	switch ((int)kind) {
	case BT_CEL_BOOL:
	case BT_CEL_INT:
	case BT_CEL_UINT:
	case BT_CEL_DOUBLE:
	case BT_CEL_STRING:
	case BT_CEL_BYTES:
	case BT_CEL_TIMESTAMP:
	case BT_CEL_DURATION:
		return true;
	default:
		return false;
	}
}

static bool is_nan(const struct bt_cel_value *value)
{
	return value->kind == BT_CEL_DOUBLE && value->real != value->real;
}

bool bt_cel_charge_comparison(struct bt_cel_evaluation *evaluation, const struct bt_cel_value *left,
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
		return bt_cel_charge_tenths(
			evaluation, left_size < right_size ? left_size : right_size, 1);
	case BT_CEL_LIST:
		return bt_cel_charge(evaluation, left->list.count);
	case BT_CEL_MAP:
		return bt_cel_charge(evaluation, left->map->count);
	default:
		return bt_cel_charge(evaluation, 1);
	}
}

struct bt_cel_value bt_cel_ordering(struct bt_cel_evaluation *evaluation,
	enum bt_cel_operator operation, struct bt_str function, const struct bt_cel_value *left,
	const struct bt_cel_value *right)
{
	int order;

	if (!is_ordered(left->kind)) {
		return no_operation(evaluation, function);
	}
	if (!bt_cel_charge_comparison(evaluation, left, right)) {
		return evaluation->stop;
	}
	if (!bt_cel_compare(left, right, &order)) {
		return bt_cel_error(is_nan(left) || (is_nan(right) && bt_cel_is_number(left))
				? BT_STR("NaN values cannot be ordered")
				: BT_CEL_NO_OVERLOAD);
	}
	switch ((int)operation) {
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

struct bt_cel_value bt_cel_negate(
	struct bt_cel_evaluation *evaluation, const struct bt_cel_value *operand)
{
	int64_t result = 0;

	if (!bt_cel_charge(evaluation, 1)) {
		return evaluation->stop;
	}
	switch ((int)operand->kind) {
	case BT_CEL_INT:
		return int_result(BT_SUB_OVERFLOW((int64_t)0, operand->integer, &result), &result);
	case BT_CEL_DOUBLE:
		return bt_cel_double(-operand->real);
	case BT_CEL_DURATION:
		return duration_result(
			BT_SUB_OVERFLOW((int64_t)0, operand->integer, &result), &result);
	case BT_CEL_BOOL:
	case BT_CEL_STRING:
	case BT_CEL_TIMESTAMP:
		return bt_cel_error(BT_CEL_NO_OVERLOAD);
	default:
		return bt_cel_error(BT_STR("no such overload: -_"));
	}
}
