/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/functions.h"

/* Lists as sets. Spec: 12b section 9.4. */

static bool has_element(struct bt_cel_evaluation *evaluation, const struct bt_cel_list *list,
	const struct bt_cel_value *value)
{
	for (uint32_t i = 0; i < list->count; i++) {
		if (bt_cel_is_equal(evaluation, value, &list->items[i])) {
			return true;
		}
	}
	return false;
}

static bool contains(struct bt_cel_evaluation *evaluation, const struct bt_cel_list *list,
	const struct bt_cel_list *part)
{
	for (uint32_t i = 0; i < part->count; i++) {
		if (!has_element(evaluation, list, &part->items[i])) {
			return false;
		}
	}
	return true;
}

/** 1 + times * m * n */
static bool charge(
	struct bt_cel_evaluation *evaluation, const struct bt_cel_value *arguments, uint64_t times)
{
	/* counts are far below 2^31: the product fits */
	uint64_t pairs = (uint64_t)arguments[0].list.count * arguments[1].list.count;

	return bt_cel_charge(evaluation, 1 + times * pairs);
}

static struct bt_cel_value answer(struct bt_cel_evaluation *evaluation, bool value)
{
	return bt_cel_is_error(&evaluation->stop) ? evaluation->stop : bt_cel_bool(value);
}

struct bt_cel_value bt_cel_fn_sets_contains(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	if (!charge(evaluation, arguments, 1)) {
		return evaluation->stop;
	}
	return answer(evaluation, contains(evaluation, &arguments[0].list, &arguments[1].list));
}

struct bt_cel_value bt_cel_fn_sets_equivalent(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	const struct bt_cel_list *left = &arguments[0].list;
	const struct bt_cel_list *right = &arguments[1].list;

	if (!charge(evaluation, arguments, 2)) {
		return evaluation->stop;
	}
	return answer(
		evaluation, contains(evaluation, left, right) && contains(evaluation, right, left));
}

struct bt_cel_value bt_cel_fn_sets_intersects(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	const struct bt_cel_list *left = &arguments[0].list;
	bool found = false;

	if (!charge(evaluation, arguments, 1)) {
		return evaluation->stop;
	}
	for (uint32_t i = 0; i < left->count && !found; i++) {
		found = has_element(evaluation, &arguments[1].list, &left->items[i]);
	}
	return answer(evaluation, found);
}
