/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "cel/functions.h"

/* Sorting, and what compares all pairs of a list. Spec: 12b section 9.3. */

/** What making a list costs beside its elements. */
#define LIST_UNITS 11

/** A key and where its item stands. */
struct sort_key {
	const struct bt_cel_value *key;
	uint32_t index;
};

/** NaN comes first; what is equal stays in its order. */
static int compare_sort_keys(const void *a, const void *b)
{
	const struct sort_key *left = a;
	const struct sort_key *right = b;
	int order;

	if (!bt_cel_compare(left->key, right->key, &order)) {
		bool left_is_number = !(left->key->real != left->key->real);
		bool right_is_number = !(right->key->real != right->key->real);

		order = (int)left_is_number - (int)right_is_number;
	}
	return order != 0 ? order : (left->index > right->index) - (left->index < right->index);
}

/** NaN is of a kind that has an order. */
static bool is_comparable(const struct bt_cel_value *value)
{
	int order;

	return value->kind == BT_CEL_DOUBLE || bt_cel_compare(value, value, &order);
}

/** Trunc(2 n^2), or 2.1 n^2 for texts. */
static bool charge_pairs(struct bt_cel_evaluation *evaluation, const struct bt_cel_list *list)
{
	uint64_t pairs = (uint64_t)list->count * list->count; /* count is far below 2^28 */
	bool are_texts = list->count != 0 && list->items[0].kind == BT_CEL_STRING;

	for (uint32_t i = 0; i < list->count; i++) {
		const struct bt_cel_value *item = &list->items[i];

		if ((item->kind == BT_CEL_STRING || item->kind == BT_CEL_BYTES) &&
			!bt_cel_charge_work(evaluation, item->text.length)) {
			return false;
		}
	}
	return bt_cel_charge(evaluation, LIST_UNITS + (are_texts ? pairs * 21 / 10 : pairs * 2)) &&
		bt_cel_charge_work(evaluation, pairs);
}

struct bt_cel_value bt_cel_sort(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_list *list, const struct bt_cel_list *keys)
{
	struct sort_key *order;
	struct bt_cel_value *items;

	if (!charge_pairs(evaluation, keys)) {
		return evaluation->stop;
	}
	for (uint32_t i = 0; i < keys->count; i++) {
		if (!is_comparable(&keys->items[0])) {
			return bt_cel_error(BT_STR("list elements must be comparable"));
		}
		if (keys->items[i].kind != keys->items[0].kind) {
			return bt_cel_error(BT_STR("list elements must have the same type"));
		}
	}
	order = bt_cel_alloc(evaluation, keys->count, sizeof(*order));
	items = bt_cel_alloc(evaluation, keys->count, sizeof(*items));
	if (order == NULL || items == NULL) {
		return evaluation->stop;
	}
	for (uint32_t i = 0; i < keys->count; i++) {
		order[i] = (struct sort_key){&keys->items[i], i};
	}
	qsort(order, keys->count, sizeof(*order), compare_sort_keys);
	for (uint32_t i = 0; i < keys->count; i++) {
		items[i] = list->items[order[i].index];
	}
	return (struct bt_cel_value){.kind = BT_CEL_LIST, .list = {items, keys->count}};
}

struct bt_cel_value bt_cel_fn_sort(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	return bt_cel_sort(evaluation, &arguments[0].list, &arguments[0].list);
}

struct bt_cel_value bt_cel_fn_distinct(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	struct bt_cel_list list = arguments[0].list;
	struct bt_cel_value *items;
	uint32_t kept = 0;

	if (!charge_pairs(evaluation, &list)) {
		return evaluation->stop;
	}
	items = bt_cel_alloc(evaluation, list.count, sizeof(*items));
	if (items == NULL) {
		return evaluation->stop;
	}
	for (uint32_t i = 0; i < list.count; i++) {
		uint32_t known = 0;

		while (known < kept &&
			!bt_cel_is_equal(evaluation, &items[known], &list.items[i])) {
			known++;
		}
		if (known == kept) {
			items[kept++] = list.items[i];
		}
	}
	return bt_cel_is_error(&evaluation->stop)
		? evaluation->stop
		: (struct bt_cel_value){.kind = BT_CEL_LIST, .list = {items, kept}};
}
