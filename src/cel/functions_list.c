/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "cel/evaluate_private.h"
#include "cel/text.h"

/* Functions of lists. Spec: 12b sections 9.3 and 9.10. */

/** Units of creating a list, without its elements. */
#define LIST_UNITS 11
/** includes() searches this many elements of a list; a longer search is an error. */
#define INCLUDES_MAX 48

/** Allocates a list of count elements and charges its units. NULL: a limit is exceeded. */
static struct bt_cel_value *make_list(struct bt_cel_evaluation *evaluation, uint64_t count)
{
	if (!bt_cel_charge(evaluation, count) || !bt_cel_charge(evaluation, LIST_UNITS)) {
		return NULL;
	}
	return bt_cel_alloc(evaluation, count, sizeof(struct bt_cel_value));
}

struct bt_cel_value bt_cel_fn_slice(const struct bt_cel_call *call)
{
	struct bt_cel_evaluation *evaluation = call->evaluation;
	struct bt_cel_list list = call->arguments[0].list;
	int64_t start = call->arguments[1].integer;
	int64_t end = call->arguments[2].integer;

	if (start < 0 || end < 0) {
		return bt_cel_fail(evaluation,
			"cannot slice(%lld, %lld), negative indexes not supported",
			(long long)start, (long long)end);
	}
	if (start > end) {
		return bt_cel_fail(evaluation,
			"cannot slice(%lld, %lld), start index must be less than or equal to end "
			"index",
			(long long)start, (long long)end);
	}
	if (end > list.count) {
		return bt_cel_fail(evaluation, "cannot slice(%lld, %lld), list is length %u",
			(long long)start, (long long)end, list.count);
	}
	if (!bt_cel_charge(evaluation, (uint64_t)(end - start) + LIST_UNITS)) {
		return evaluation->stop;
	}
	return bt_cel_list(list.count != 0 ? list.items + start : NULL, (uint64_t)(end - start));
}

struct bt_cel_value bt_cel_fn_range(const struct bt_cel_call *call)
{
	uint64_t length = call->arguments[0].integer > 0 ? (uint64_t)call->arguments[0].integer : 0;
	struct bt_cel_value *items = make_list(call->evaluation, length);

	if (items == NULL) {
		return call->evaluation->stop;
	}
	for (uint64_t i = 0; i < length; i++) {
		items[i] = bt_cel_int((int64_t)i);
	}
	return bt_cel_list(items, length);
}

struct bt_cel_value bt_cel_fn_reverse(const struct bt_cel_call *call)
{
	struct bt_cel_list list = call->arguments[0].list;
	struct bt_cel_value *items = make_list(call->evaluation, list.count);

	if (items == NULL) {
		return call->evaluation->stop;
	}
	for (uint32_t i = 0; i < list.count; i++) {
		items[i] = list.items[list.count - 1 - i];
	}
	return bt_cel_list(items, list.count);
}

struct bt_cel_value bt_cel_fn_flatten(const struct bt_cel_call *call)
{
	struct bt_cel_evaluation *evaluation = call->evaluation;
	struct bt_cel_list list = call->arguments[0].list;
	int64_t depth = call->count > 1 ? call->arguments[1].integer : 1;

	if (depth < 0) {
		return bt_cel_error(BT_STR("level must be non-negative"));
	}
	if (!bt_cel_charge(evaluation, LIST_UNITS)) {
		return evaluation->stop;
	}
	/* Each round replaces every list among the items by its elements. */
	for (int64_t round = 0; round < depth; round++) {
		struct bt_cel_value *items;
		uint64_t length = 0;
		uint64_t at = 0;
		bool is_flat = true;

		if (!bt_cel_charge(evaluation, list.count)) {
			return evaluation->stop;
		}
		for (uint32_t i = 0; i < list.count; i++) {
			bool is_list = list.items[i].kind == BT_CEL_LIST;

			length += is_list ? list.items[i].list.count : 1;
			is_flat = is_flat && !is_list;
		}
		if (is_flat) {
			break;
		}
		items = bt_cel_alloc(evaluation, length, sizeof(*items));
		if (items == NULL || !bt_cel_charge_work(evaluation, length)) {
			return evaluation->stop;
		}
		for (uint32_t i = 0; i < list.count; i++) {
			const struct bt_cel_value *item = &list.items[i];

			if (item->kind != BT_CEL_LIST) {
				items[at++] = *item;
			} else if (item->list.count != 0) {
				memcpy(items + at, item->list.items,
					item->list.count * sizeof(*items));
				at += item->list.count;
			}
		}
		list = (struct bt_cel_list){items, (uint32_t)length};
	}
	return bt_cel_list(list.items, list.count);
}

struct bt_cel_value bt_cel_fn_is_sorted(const struct bt_cel_call *call)
{
	struct bt_cel_list list = call->arguments[0].list;

	for (uint32_t i = 1; i < list.count; i++) {
		int order;

		if (!bt_cel_compare(&list.items[i - 1], &list.items[i], &order)) {
			return bt_cel_not_ordered(&list.items[i - 1], &list.items[i]);
		}
		if (order > 0) {
			return bt_cel_bool(false);
		}
	}
	return bt_cel_bool(true);
}

struct bt_cel_value bt_cel_fn_extreme(const struct bt_cel_call *call)
{
	struct bt_cel_list list = call->arguments[0].list;
	bool is_min = call->overload->variant == BT_CEL_VARIANT_MIN;
	int order;

	if (list.count == 0) {
		return bt_cel_error(is_min ? BT_STR("min called on empty list")
					   : BT_STR("max called on empty list"));
	}
	struct bt_cel_value best = list.items[0];
	/* A single NaN is both maximum and minimum: do not report that it cannot be ordered. */
	if (best.kind != BT_CEL_DOUBLE && !bt_cel_compare(&best, &best, &order)) {
		return bt_cel_error(BT_STR("no such overload"));
	}
	for (uint32_t i = 1; i < list.count; i++) {
		if (!bt_cel_compare(&list.items[i], &best, &order)) {
			return bt_cel_not_ordered(&list.items[i], &best);
		}
		if (is_min ? order < 0 : order > 0) {
			best = list.items[i];
		}
	}
	return best;
}

struct bt_cel_value bt_cel_fn_sum(const struct bt_cel_call *call)
{
	static const enum bt_cel_kind kinds[] = {
		[BT_CEL_VARIANT_INT] = BT_CEL_INT,
		[BT_CEL_VARIANT_UINT] = BT_CEL_UINT,
		[BT_CEL_VARIANT_DOUBLE] = BT_CEL_DOUBLE,
		[BT_CEL_VARIANT_DURATION] = BT_CEL_DURATION,
	};
	struct bt_cel_list list = call->arguments[0].list;
	/* If the list is empty, the overload decides the kind of the sum. */
	struct bt_cel_value sum = {
		.kind = list.count != 0 ? list.items[0].kind : kinds[call->overload->variant]};

	for (uint32_t i = 0; i < list.count; i++) {
		const struct bt_cel_value *item = &list.items[i];

		if (item->kind != sum.kind) {
			return bt_cel_error(BT_STR("no such overload"));
		}
		if (bt_cel_is_number(item)) {
			sum = bt_cel_number_arithmetic(BT_CEL_OP_ADD, sum, item);
		} else if (item->kind != BT_CEL_DURATION) {
			return bt_cel_error(BT_STR("no such overload"));
		} else if (BT_ADD_OVERFLOW(sum.integer, item->integer, &sum.integer)) {
			return bt_cel_error(BT_STR("duration overflow"));
		}
		if (bt_cel_is_error(&sum)) {
			return sum;
		}
	}
	return sum;
}

struct bt_cel_value bt_cel_fn_list_index_of(const struct bt_cel_call *call)
{
	struct bt_cel_list list = call->arguments[0].list;
	bool is_last = call->overload->variant == BT_CEL_VARIANT_LAST;
	uint32_t passed = 0;
	uint32_t at = 0;

	for (; passed < list.count; passed++) {
		at = is_last ? list.count - 1 - passed : passed;
		if (bt_cel_is_equal(call->evaluation, &list.items[at], &call->arguments[1])) {
			break;
		}
	}
	if (bt_cel_is_error(&call->evaluation->stop)) {
		return call->evaluation->stop;
	}
	return bt_cel_int(passed < list.count ? (int64_t)at : -1);
}

struct bt_cel_value bt_cel_fn_list_end(const struct bt_cel_call *call)
{
	struct bt_cel_list list = call->arguments[0].list;
	bool is_last = call->overload->variant == BT_CEL_VARIANT_LAST;
	struct bt_cel_value result = {.kind = BT_CEL_OPTIONAL};

	if (list.count != 0) {
		result.optional = &list.items[is_last ? list.count - 1 : 0];
	}
	return result;
}

struct bt_cel_value bt_cel_fn_includes(const struct bt_cel_call *call)
{
	const struct bt_cel_value *target = &call->arguments[0];
	const struct bt_cel_value *items =
		target->kind == BT_CEL_LIST ? target->list.items : target;
	uint32_t item_count = target->kind == BT_CEL_LIST ? target->list.count : 1;

	for (uint32_t i = 0; i < item_count; i++) {
		if (i == INCLUDES_MAX) {
			return bt_cel_error(BT_STR("'includes' function cannot be applied to "
						   "lists longer than 48 values"));
		}
		if (bt_cel_is_equal(call->evaluation, &items[i], &call->arguments[1])) {
			return bt_cel_bool(true);
		}
	}
	return bt_cel_is_error(&call->evaluation->stop) ? call->evaluation->stop
							: bt_cel_bool(false);
}

/* Lists as sets. Spec: 12b section 9.4. */

/**
 * wanted true: whether an element of `list` is in `others`. wanted false: whether an element of
 * `list` is not in `others`.
 */
static bool find_element(struct bt_cel_evaluation *evaluation, const struct bt_cel_list *list,
	const struct bt_cel_list *others, bool wanted)
{
	for (uint32_t i = 0; i < list->count; i++) {
		bool is_among = false;

		for (uint32_t k = 0; k < others->count && !is_among; k++) {
			is_among = bt_cel_is_equal(evaluation, &list->items[i], &others->items[k]);
		}
		if (is_among == wanted) {
			return true;
		}
	}
	return false;
}

struct bt_cel_value bt_cel_fn_sets(const struct bt_cel_call *call)
{
	struct bt_cel_evaluation *evaluation = call->evaluation;
	const struct bt_cel_list *left = &call->arguments[0].list;
	const struct bt_cel_list *right = &call->arguments[1].list;
	enum bt_cel_variant variant = call->overload->variant;
	bool result;

	/* Cannot overflow: both counts are far below 2^31. */
	if (!bt_cel_charge(evaluation,
		    1 +
			    (variant == BT_CEL_VARIANT_EQUIVALENT ? 2 : 1) *
				    ((uint64_t)left->count * right->count))) {
		return evaluation->stop;
	}
	if (variant == BT_CEL_VARIANT_INTERSECTS) {
		result = find_element(evaluation, left, right, true);
	} else {
		result = !find_element(evaluation, right, left, false) &&
			(variant == BT_CEL_VARIANT_CONTAINS ||
				!find_element(evaluation, left, right, false));
	}
	return bt_cel_is_error(&evaluation->stop) ? evaluation->stop : bt_cel_bool(result);
}

/* Sorting, and functions that compare all pairs of a list. Spec: 12b section 9.3. */

/** A key and the index of its item. */
struct sort_key {
	const struct bt_cel_value *key;
	uint32_t index;
};

/** Orders NaN first, and equal keys by index, so that the sort is stable. */
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
	return order != 0 ? order : BT_ORDER(left->index, right->index);
}

/**
 * Charges LIST_UNITS plus 2 n^2 units, where n is the number of elements. If the first element is a
 * string, charges 2.1 n^2 units, rounded down, instead of 2 n^2.
 */
static bool charge_pairs(struct bt_cel_evaluation *evaluation, const struct bt_cel_list *list)
{
	uint64_t pairs = (uint64_t)list->count * list->count; /* count is below 2^28 */
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
	const struct bt_cel_value *first = keys->items;
	int first_order;
	/* a double has an order even if it is NaN */
	if (keys->count != 0 && first->kind != BT_CEL_DOUBLE &&
		!bt_cel_compare(first, first, &first_order)) {
		return bt_cel_error(BT_STR("list elements must be comparable"));
	}
	for (uint32_t i = 0; i < keys->count; i++) {
		if (keys->items[i].kind != first->kind) {
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
	return bt_cel_list(items, keys->count);
}

struct bt_cel_value bt_cel_fn_sort(const struct bt_cel_call *call)
{
	return bt_cel_sort(call->evaluation, &call->arguments[0].list, &call->arguments[0].list);
}

struct bt_cel_value bt_cel_fn_distinct(const struct bt_cel_call *call)
{
	struct bt_cel_evaluation *evaluation = call->evaluation;
	struct bt_cel_list list = call->arguments[0].list;
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
	return bt_cel_is_error(&evaluation->stop) ? evaluation->stop : bt_cel_list(items, kept);
}
