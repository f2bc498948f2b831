/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stddef.h>

#include "cel/function.h"

const struct bt_cel_overload bt_cel_overloads[] = {
#define BT_CEL_FUNCTION(name_, style_, signature_, guard_, code_) \
	{(name_), BT_CEL_STYLE_##style_, (signature_), BT_CEL_GUARD_##guard_, bt_cel_fn_##code_},
#define BT_CEL_OWN(name_, style_, signature_) \
	{(name_), BT_CEL_STYLE_##style_, (signature_), BT_CEL_GUARD_KINDS, NULL},
#include "cel/functions.def"
#undef BT_CEL_FUNCTION
#undef BT_CEL_OWN
};

const uint32_t bt_cel_overload_count = sizeof bt_cel_overloads / sizeof bt_cel_overloads[0];

/* Optional values; or and orValue are the evaluator's. Spec: 12b section 9.5. */

static const struct bt_cel_value none = {.kind = BT_CEL_OPTIONAL};

struct bt_cel_value bt_cel_fn_optional_of(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	if (!bt_cel_charge(evaluation, 1)) {
		return evaluation->stop;
	}
	return bt_cel_optional(evaluation, &arguments[0]);
}

struct bt_cel_value bt_cel_fn_optional_none(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments BT_UNUSED, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	return bt_cel_charge(evaluation, 1) ? none : evaluation->stop;
}

/** What ofNonZeroValue takes for nothing. */
static bool is_zero(const struct bt_cel_value *value)
{
	switch ((int)value->kind) {
	case BT_CEL_NULL:
		return true;
	case BT_CEL_BOOL:
		return !value->boolean;
	case BT_CEL_INT:
	case BT_CEL_DURATION:
		return value->integer == 0;
	case BT_CEL_UINT:
		return value->uinteger == 0;
	case BT_CEL_DOUBLE:
		return fpclassify(value->real) == FP_ZERO;
	case BT_CEL_STRING:
	case BT_CEL_BYTES:
		return value->text.length == 0;
	case BT_CEL_LIST:
		return value->list.count == 0;
	case BT_CEL_MAP:
		return value->map->count == 0;
	case BT_CEL_OPTIONAL:
		return value->optional == NULL;
	default:
		return false;
	}
}

struct bt_cel_value bt_cel_fn_optional_of_non_zero(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	if (!bt_cel_charge(evaluation, 1)) {
		return evaluation->stop;
	}
	return is_zero(&arguments[0]) ? none : bt_cel_optional(evaluation, &arguments[0]);
}

struct bt_cel_value bt_cel_fn_has_value(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	return bt_cel_charge(evaluation, 1) ? bt_cel_bool(arguments[0].optional != NULL)
					    : evaluation->stop;
}

struct bt_cel_value bt_cel_fn_value(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	if (!bt_cel_charge(evaluation, 1)) {
		return evaluation->stop;
	}
	return arguments[0].optional != NULL ? *arguments[0].optional
					     : bt_cel_error(BT_STR("optional.none() dereference"));
}

struct bt_cel_value bt_cel_fn_unwrap(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	struct bt_cel_list list = arguments[0].list;
	struct bt_cel_value result = {.kind = BT_CEL_LIST};
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
	result.list = (struct bt_cel_list){items, kept};
	return result;
}
