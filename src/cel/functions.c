/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stddef.h>

#include "cel/function.h"

const struct bt_cel_overload bt_cel_overloads[] = {
#define BT_CEL_FUNCTION(name_, style_, signature_, guard_, charge_, code_, variant_) \
	{(name_), BT_CEL_STYLE_##style_, (signature_), BT_CEL_GUARD_##guard_, \
		BT_CEL_CHARGE_##charge_, BT_CEL_VARIANT_##variant_, bt_cel_fn_##code_},
#define BT_CEL_OWN(name_, style_, signature_) \
	{.function = (name_), .style = BT_CEL_STYLE_##style_, .signature = (signature_)},
#include "cel/functions.def"
#undef BT_CEL_FUNCTION
#undef BT_CEL_OWN
};

const uint32_t bt_cel_overload_count = sizeof bt_cel_overloads / sizeof bt_cel_overloads[0];

/* Optional values; the evaluator implements `or` and `orValue`. Spec: 12b section 9.5. */

static const struct bt_cel_value none = {.kind = BT_CEL_OPTIONAL};

struct bt_cel_value bt_cel_fn_optional_of(const struct bt_cel_call *call)
{
	return bt_cel_optional(call->evaluation, &call->arguments[0]);
}

struct bt_cel_value bt_cel_fn_optional_none(const struct bt_cel_call *call BT_UNUSED)
{
	return none;
}

struct bt_cel_value bt_cel_fn_optional_of_non_zero(const struct bt_cel_call *call)
{
	const struct bt_cel_value *value = &call->arguments[0];
	bool is_zero = false;

	switch ((int)value->kind) {
	case BT_CEL_NULL:
		is_zero = true;
		break;
	case BT_CEL_BOOL:
		is_zero = !value->boolean;
		break;
	case BT_CEL_INT:
	case BT_CEL_DURATION:
		is_zero = value->integer == 0;
		break;
	case BT_CEL_UINT:
		is_zero = value->uinteger == 0;
		break;
	case BT_CEL_DOUBLE:
		is_zero = fpclassify(value->real) == FP_ZERO;
		break;
	case BT_CEL_STRING:
	case BT_CEL_BYTES:
		is_zero = value->text.length == 0;
		break;
	case BT_CEL_LIST:
		is_zero = value->list.count == 0;
		break;
	case BT_CEL_MAP:
		is_zero = value->map->count == 0;
		break;
	case BT_CEL_OPTIONAL:
		is_zero = value->optional == NULL;
		break;
	}
	return is_zero ? none : bt_cel_optional(call->evaluation, value);
}

struct bt_cel_value bt_cel_fn_has_value(const struct bt_cel_call *call)
{
	return bt_cel_bool(call->arguments[0].optional != NULL);
}

struct bt_cel_value bt_cel_fn_value(const struct bt_cel_call *call)
{
	return call->arguments[0].optional != NULL
		? *call->arguments[0].optional
		: bt_cel_error(BT_STR("optional.none() dereference"));
}

struct bt_cel_value bt_cel_fn_unwrap(const struct bt_cel_call *call)
{
	struct bt_cel_evaluation *evaluation = call->evaluation;
	struct bt_cel_list list = call->arguments[0].list;
	struct bt_cel_value *items;
	uint32_t kept = 0;

	if (!bt_cel_charge(evaluation, 1) || !bt_cel_charge_work(evaluation, list.count)) {
		return evaluation->stop;
	}
	items = bt_cel_alloc(evaluation, list.count, sizeof(*items));
	if (items == NULL) {
		return evaluation->stop;
	}
	for (uint32_t i = 0; i < list.count; i++) {
		if (list.items[i].kind != BT_CEL_OPTIONAL) {
			return bt_cel_fail_with(evaluation, BT_STR("value "), &list.items[i],
				BT_STR(" is not an optional type"));
		}
		if (list.items[i].optional != NULL) {
			items[kept++] = *list.items[i].optional;
		}
	}
	return bt_cel_list(items, kept);
}
