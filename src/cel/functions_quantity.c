/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "api/quantity_decimal.h"
#include "cel/function.h"
#include "cel/text.h"

/* Functions of quantities. Spec: 12b section 9.7. */

struct bt_cel_value bt_cel_fn_quantity(const struct bt_cel_call *call)
{
	struct bt_arena *arena = call->evaluation->arena;
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_str text = call->arguments[0].text;
	struct bt_quantity quantity;
	int code = bt_quantity_parse(text, arena, &quantity, &err);

	if (code == 0 && bt_quantity_is_zero(&quantity)) {
		/*
		 * isInteger() depends on how a zero was written: "0.0" and "0Ei" are not integers,
		 * but "0.0k" is an integer. Keep this information in the exponent of the zero,
		 * which is not used otherwise.
		 */
		struct bt_quantity unit = {.exponent = -1};
		uint32_t fraction = 0;
		uint32_t at = 0;

		while (at < text.length &&
			(text.data[at] == '+' || text.data[at] == '-' || text.data[at] == '0')) {
			at++;
		}
		if (at < text.length && text.data[at] == '.') {
			for (at++; at < text.length && text.data[at] == '0'; at++) {
				fraction++;
			}
		}
		/* The rest is the suffix; parse "1<suffix>" to get its scale. */
		struct bt_str one = bt_arena_printf(
			arena, "1%.*s", BT_STR_ARG(bt_str_sub(text, at, text.length)));
		if (bt_quantity_parse(one, arena, &unit, NULL) != 0 || unit.big != NULL ||
			(quantity.format == BT_QUANTITY_BINARY_SI && fraction != 0)) {
			quantity.exponent = -1;
		} else if (quantity.format != BT_QUANTITY_BINARY_SI) {
			quantity.exponent = unit.exponent - (int32_t)fraction;
		}
	}
	return bt_cel_answer_parsed(call, code, &err, BT_CEL_QUANTITY, &quantity, sizeof(quantity));
}

struct bt_cel_value bt_cel_fn_quantity_compare(const struct bt_cel_call *call)
{
	return bt_cel_answer_order(call,
		bt_quantity_compare(call->arguments[0].quantity, call->arguments[1].quantity));
}

struct bt_cel_value bt_cel_fn_quantity_sign(const struct bt_cel_call *call)
{
	static const struct bt_quantity zero = {.mantissa = 0};

	return bt_cel_int(bt_quantity_compare(call->arguments[0].quantity, &zero));
}

struct bt_cel_value bt_cel_fn_quantity_sum(const struct bt_cel_call *call)
{
	struct bt_quantity sum = *call->arguments[0].quantity;
	struct bt_quantity right = call->arguments[1].kind == BT_CEL_INT
		? bt_quantity_make(call->arguments[1].integer, 0, BT_QUANTITY_DECIMAL_SI)
		: *call->arguments[1].quantity;

	if (call->overload->variant == BT_CEL_VARIANT_ADD) {
		bt_quantity_add(&sum, &right, call->evaluation->arena);
	} else {
		bt_quantity_sub(&sum, &right, call->evaluation->arena);
	}
	struct bt_cel_value result =
		bt_cel_box(call->evaluation, BT_CEL_QUANTITY, &sum, sizeof(sum));
	result.is_computed = true;
	return result;
}

/** The quantity is an integer if it is mantissa x 10^s with s >= 0 and the product fits. */
struct bt_cel_value bt_cel_fn_quantity_integer(const struct bt_cel_call *call)
{
	const struct bt_quantity *quantity = call->arguments[0].quantity;
	int64_t value = quantity->mantissa;
	bool is_integer = quantity->big == NULL && quantity->exponent >= 0;

	for (int32_t i = 0; is_integer && i < quantity->exponent && value != 0; i++) {
		is_integer = !BT_MUL_OVERFLOW(value, INT64_C(10), &value);
	}
	if (call->overload->variant == BT_CEL_VARIANT_TEST) {
		return bt_cel_bool(is_integer);
	}
	return is_integer ? bt_cel_int(value)
			  : bt_cel_error(BT_STR("cannot convert value to integer"));
}

struct bt_cel_value bt_cel_fn_quantity_as_float(const struct bt_cel_call *call)
{
	const struct bt_quantity *quantity = call->arguments[0].quantity;
	char digits[BT_WIDE_DIGITS + 1];
	struct bt_decimal decimal;
	char power[32];

	if (bt_quantity_is_zero(quantity)) {
		return bt_cel_double(0);
	}
	bt_decimal_load(&decimal, quantity);
	double value = strtod(bt_wide_digits(&decimal.magnitude, digits), NULL);
	/* strtod rounds 10^-scale correctly. */
	(void)snprintf(power, sizeof(power), "1e%lld", -(long long)decimal.scale);
	value *= strtod(power, NULL);
	return bt_cel_double(decimal.negative ? -value : value);
}
