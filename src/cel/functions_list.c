/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "cel/function.h"
#include "cel/text.h"

/* Functions of lists. Spec: 12b sections 9.3 and 9.10. */

/** What making a list costs beside its elements. */
#define LIST_UNITS 11
/** includes() of a list looks at no more elements. */
#define INCLUDES_MAX 48

static struct bt_cel_value list_of(const struct bt_cel_value *items, uint64_t count)
{
	return (struct bt_cel_value){.kind = BT_CEL_LIST, .list = {items, (uint32_t)count}};
}

/** Room for a new list, charged; NULL: too much. */
static struct bt_cel_value *make_list(struct bt_cel_evaluation *evaluation, uint64_t count)
{
	if (!bt_cel_charge(evaluation, count) || !bt_cel_charge(evaluation, LIST_UNITS)) {
		return NULL;
	}
	return bt_cel_alloc(evaluation, count, sizeof(struct bt_cel_value));
}

/* --- parts and orders of a list --- */

struct bt_cel_value bt_cel_fn_slice(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	struct bt_cel_list list = arguments[0].list;
	int64_t start = arguments[1].integer;
	int64_t end = arguments[2].integer;

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
	return list_of(list.count != 0 ? list.items + start : NULL, (uint64_t)(end - start));
}

struct bt_cel_value bt_cel_fn_range(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	uint64_t length = arguments[0].integer > 0 ? (uint64_t)arguments[0].integer : 0;
	struct bt_cel_value *items = make_list(evaluation, length);

	if (items == NULL) {
		return evaluation->stop;
	}
	for (uint64_t i = 0; i < length; i++) {
		items[i] = bt_cel_int((int64_t)i);
	}
	return list_of(items, length);
}

struct bt_cel_value bt_cel_fn_reverse(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	struct bt_cel_list list = arguments[0].list;
	struct bt_cel_value *items = make_list(evaluation, list.count);

	if (items == NULL) {
		return evaluation->stop;
	}
	for (uint32_t i = 0; i < list.count; i++) {
		items[i] = list.items[list.count - 1 - i];
	}
	return list_of(items, list.count);
}

/** One level less: every list among the items is replaced by its elements. */
static struct bt_cel_value flatten_once(
	struct bt_cel_evaluation *evaluation, struct bt_cel_list list, bool *out_is_flat)
{
	struct bt_cel_value *items;
	uint64_t length = 0;
	uint64_t at = 0;

	*out_is_flat = true;
	if (!bt_cel_charge(evaluation, list.count)) {
		return evaluation->stop;
	}
	for (uint32_t i = 0; i < list.count; i++) {
		bool is_list = list.items[i].kind == BT_CEL_LIST;

		length += is_list ? list.items[i].list.count : 1;
		*out_is_flat = *out_is_flat && !is_list;
	}
	if (*out_is_flat) {
		return list_of(list.items, list.count);
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
			memcpy(items + at, item->list.items, item->list.count * sizeof(*items));
			at += item->list.count;
		}
	}
	return list_of(items, length);
}

struct bt_cel_value bt_cel_fn_flatten(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count, struct bt_cel_regex *regex BT_UNUSED)
{
	struct bt_cel_value result = arguments[0];
	int64_t depth = count > 1 ? arguments[1].integer : 1;
	bool is_flat = false;

	if (depth < 0) {
		return bt_cel_error(BT_STR("level must be non-negative"));
	}
	if (!bt_cel_charge(evaluation, LIST_UNITS)) {
		return evaluation->stop;
	}
	for (int64_t i = 0; i < depth && !is_flat && !bt_cel_is_error(&result); i++) {
		result = flatten_once(evaluation, result.list, &is_flat);
	}
	return result;
}

/* --- over all elements --- */

/** One unit for a scalar, a tenth of a code point for a text. */
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

/** Why two values have no order. */
static struct bt_cel_value not_ordered(
	const struct bt_cel_value *left, const struct bt_cel_value *right)
{
	if ((left->kind == BT_CEL_DOUBLE && left->real != left->real) ||
		(right->kind == BT_CEL_DOUBLE && right->real != right->real)) {
		return bt_cel_error(BT_STR("NaN values cannot be ordered"));
	}
	return bt_cel_error(BT_STR("no such overload"));
}

struct bt_cel_value bt_cel_fn_is_sorted(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	struct bt_cel_list list = arguments[0].list;

	if (!charge_elements(evaluation, &list)) {
		return evaluation->stop;
	}
	for (uint32_t i = 1; i < list.count; i++) {
		int order;

		if (!bt_cel_compare(&list.items[i - 1], &list.items[i], &order)) {
			return not_ordered(&list.items[i - 1], &list.items[i]);
		}
		if (order > 0) {
			return bt_cel_bool(false);
		}
	}
	return bt_cel_bool(true);
}

/** sign: 1 for the largest, -1 for the smallest. */
static struct bt_cel_value find_extreme(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_list *list, int sign, struct bt_str none)
{
	struct bt_cel_value best;
	int order;

	if (!charge_elements(evaluation, list)) {
		return evaluation->stop;
	}
	if (list->count == 0) {
		return bt_cel_error(none);
	}
	best = list->items[0];
	/* Alone, NaN is the largest and the smallest. */
	if (best.kind != BT_CEL_DOUBLE && !bt_cel_compare(&best, &best, &order)) {
		return bt_cel_error(BT_STR("no such overload"));
	}
	for (uint32_t i = 1; i < list->count; i++) {
		if (!bt_cel_compare(&list->items[i], &best, &order)) {
			return not_ordered(&list->items[i], &best);
		}
		if (order * sign > 0) {
			best = list->items[i];
		}
	}
	return best;
}

struct bt_cel_value bt_cel_fn_min(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	return find_extreme(evaluation, &arguments[0].list, -1, BT_STR("min called on empty list"));
}

struct bt_cel_value bt_cel_fn_max(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	return find_extreme(evaluation, &arguments[0].list, 1, BT_STR("max called on empty list"));
}

/** *sum += item, of the same kind; false with *sum an error. */
static bool add_element(struct bt_cel_value *sum, const struct bt_cel_value *item)
{
	const char *problem = NULL;

	if (sum->kind != item->kind) {
		*sum = bt_cel_error(BT_STR("no such overload"));
		return false;
	}
	switch ((int)item->kind) {
	case BT_CEL_INT:
		problem = BT_ADD_OVERFLOW(sum->integer, item->integer, &sum->integer)
			? "integer overflow"
			: NULL;
		break;
	case BT_CEL_UINT:
		problem = BT_ADD_OVERFLOW(sum->uinteger, item->uinteger, &sum->uinteger)
			? "unsigned integer overflow"
			: NULL;
		break;
	case BT_CEL_DOUBLE:
		sum->real += item->real;
		break;
	case BT_CEL_DURATION:
		problem = BT_ADD_OVERFLOW(sum->integer, item->integer, &sum->integer)
			? "duration overflow"
			: NULL;
		break;
	default:
		problem = "no such overload";
		break;
	}
	if (problem != NULL) {
		*sum = bt_cel_error(bt_str_from(problem));
	}
	return problem == NULL;
}

/** kind: of the sum of no elements; of others it is that of the elements. */
static struct bt_cel_value sum_of(
	struct bt_cel_evaluation *evaluation, struct bt_cel_list list, enum bt_cel_kind kind)
{
	struct bt_cel_value sum = {.kind = list.count != 0 ? list.items[0].kind : kind};

	if (!charge_elements(evaluation, &list)) {
		return evaluation->stop;
	}
	for (uint32_t i = 0; i < list.count && add_element(&sum, &list.items[i]); i++) {
	}
	return sum;
}

#define SUM(name_, kind_) \
	struct bt_cel_value bt_cel_fn_##name_(struct bt_cel_evaluation *evaluation, \
		const struct bt_cel_value *arguments, uint32_t count BT_UNUSED, \
		struct bt_cel_regex *regex BT_UNUSED) \
	{ \
		return sum_of(evaluation, arguments[0].list, (kind_)); \
	}

SUM(sum_int, BT_CEL_INT)
SUM(sum_uint, BT_CEL_UINT)
SUM(sum_double, BT_CEL_DOUBLE)
SUM(sum_duration, BT_CEL_DURATION)

struct bt_cel_value bt_cel_fn_list_index_of(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	struct bt_cel_list list = arguments[0].list;
	uint32_t at = 0;

	if (!charge_elements(evaluation, &list)) {
		return evaluation->stop;
	}
	while (at < list.count && !bt_cel_is_equal(evaluation, &list.items[at], &arguments[1])) {
		at++;
	}
	if (bt_cel_is_error(&evaluation->stop)) {
		return evaluation->stop;
	}
	return bt_cel_int(at < list.count ? (int64_t)at : -1);
}

struct bt_cel_value bt_cel_fn_list_last_index_of(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	struct bt_cel_list list = arguments[0].list;
	int64_t at = (int64_t)list.count - 1;

	if (!charge_elements(evaluation, &list)) {
		return evaluation->stop;
	}
	while (at >= 0 && !bt_cel_is_equal(evaluation, &list.items[at], &arguments[1])) {
		at--;
	}
	return bt_cel_is_error(&evaluation->stop) ? evaluation->stop : bt_cel_int(at);
}

/* --- first, last --- */

/** The first or last item, none of an empty list. */
static struct bt_cel_value end_of(
	struct bt_cel_evaluation *evaluation, struct bt_cel_list list, bool is_last)
{
	struct bt_cel_value result = {.kind = BT_CEL_OPTIONAL};

	if (!bt_cel_charge(evaluation, 1)) {
		return evaluation->stop;
	}
	if (list.count != 0) {
		result.optional = &list.items[is_last ? list.count - 1 : 0];
	}
	return result;
}

struct bt_cel_value bt_cel_fn_first(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	return end_of(evaluation, arguments[0].list, false);
}

struct bt_cel_value bt_cel_fn_last(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	return end_of(evaluation, arguments[0].list, true);
}

/* --- includes --- */

struct bt_cel_value bt_cel_fn_includes(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	const struct bt_cel_value *target = &arguments[0];
	const struct bt_cel_value *items =
		target->kind == BT_CEL_LIST ? target->list.items : target;
	uint32_t item_count = target->kind == BT_CEL_LIST ? target->list.count : 1;

	if (!bt_cel_charge(evaluation, 1)) {
		return evaluation->stop;
	}
	for (uint32_t i = 0; i < item_count; i++) {
		if (i == INCLUDES_MAX) {
			return bt_cel_error(BT_STR("'includes' function cannot be applied to "
						   "lists longer than 48 values"));
		}
		if (bt_cel_is_equal(evaluation, &items[i], &arguments[1])) {
			return bt_cel_bool(true);
		}
	}
	return bt_cel_is_error(&evaluation->stop) ? evaluation->stop : bt_cel_bool(false);
}

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

/* Sorting, and what compares all pairs of a list. Spec: 12b section 9.3. */

/** What making a list costs beside its elements. */

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
