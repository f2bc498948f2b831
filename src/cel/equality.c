/* SPDX-License-Identifier: Apache-2.0 */
/* Equality, order, and keys of maps. Spec: 12b sections 8.4 to 8.6. */
#include <math.h>
#include <string.h>

#include "cel/device.h"
#include "cel/evaluate_private.h"

/** Work of comparing two values beside that of their parts. */
#define COMPARISON_WORK 4

enum answer {
	UNEQUAL,
	EQUAL,
	INCOMPARABLE, /* `no such overload` */
};

static enum answer answer_of(bool is_equal)
{
	return is_equal ? EQUAL : UNEQUAL;
}

static int order_int(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int order_uint(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/** Exact: no integer is rounded on the way. real is not NaN. */
static int order_int_double(int64_t integer, double real)
{
	int64_t whole;
	double fraction;

	if (real >= 0x1p63) {
		return -1;
	}
	if (real < -0x1p63) {
		return 1;
	}
	whole = (int64_t)real;
	fraction = real - (double)whole;
	if (integer != whole) {
		return order_int(integer, whole);
	}
	return (fraction < 0) - (fraction > 0);
}

static int order_uint_double(uint64_t integer, double real)
{
	uint64_t whole;
	double fraction;

	if (real >= 0x1p64) {
		return -1;
	}
	if (real < 0) {
		return 1;
	}
	whole = (uint64_t)real;
	fraction = real - (double)whole;
	if (integer != whole) {
		return order_uint(integer, whole);
	}
	return fraction > 0 ? -1 : 0;
}

/** Both are numbers. false: one of them is NaN. */
static bool order_numbers(
	const struct bt_cel_value *left, const struct bt_cel_value *right, int *out_order)
{
	if ((left->kind == BT_CEL_DOUBLE && isnan(left->real)) ||
		(right->kind == BT_CEL_DOUBLE && isnan(right->real))) {
		return false;
	}
	if (left->kind == right->kind) {
		*out_order = left->kind == BT_CEL_INT ? order_int(left->integer, right->integer)
			: left->kind == BT_CEL_UINT
			? order_uint(left->uinteger, right->uinteger)
			: (left->real > right->real) - (left->real < right->real);
	} else if (left->kind == BT_CEL_DOUBLE || right->kind == BT_CEL_UINT) {
		/* The other way round is one of the cases below. */
		if (!order_numbers(right, left, out_order)) {
			return false;
		}
		*out_order = -*out_order;
	} else if (right->kind == BT_CEL_DOUBLE) {
		*out_order = left->kind == BT_CEL_INT
			? order_int_double(left->integer, right->real)
			: order_uint_double(left->uinteger, right->real);
	} else {
		/* uint and int */
		*out_order = right->integer < 0
			? 1
			: order_uint(left->uinteger, (uint64_t)right->integer);
	}
	return true;
}

static int sign(int order)
{
	return (order > 0) - (order < 0);
}

bool bt_cel_compare(
	const struct bt_cel_value *left, const struct bt_cel_value *right, int *out_order)
{
	if (bt_cel_is_number(left) && bt_cel_is_number(right)) {
		return order_numbers(left, right, out_order);
	}
	if (left->kind != right->kind) {
		return false;
	}
	switch ((int)left->kind) {
	case BT_CEL_BOOL:
		*out_order = left->boolean - right->boolean;
		return true;
	case BT_CEL_STRING:
	case BT_CEL_BYTES:
		*out_order = sign(bt_str_compare(left->text, right->text));
		return true;
	case BT_CEL_DURATION:
		*out_order = order_int(left->integer, right->integer);
		return true;
	case BT_CEL_TIMESTAMP:
		*out_order = left->timestamp.seconds != right->timestamp.seconds
			? order_int(left->timestamp.seconds, right->timestamp.seconds)
			: order_int(left->timestamp.nanoseconds, right->timestamp.nanoseconds);
		return true;
	default:
		return false;
	}
}

static enum answer compare(struct bt_cel_evaluation *evaluation, const struct bt_cel_value *left,
	const struct bt_cel_value *right);

/** Only what is exactly unequal makes a list or a map unequal. */
static bool may_be_equal(struct bt_cel_evaluation *evaluation, const struct bt_cel_value *left,
	const struct bt_cel_value *right)
{
	return compare(evaluation, left, right) != UNEQUAL;
}

static enum answer compare_lists(
	struct bt_cel_evaluation *evaluation, struct bt_cel_list left, struct bt_cel_list right)
{
	if (left.count != right.count || !bt_cel_charge_work(evaluation, left.count)) {
		return UNEQUAL;
	}
	for (uint32_t i = 0; i < left.count; i++) {
		if (!may_be_equal(evaluation, &left.items[i], &right.items[i])) {
			return UNEQUAL;
		}
	}
	return EQUAL;
}

static enum answer compare_maps(struct bt_cel_evaluation *evaluation, const struct bt_cel_map *left,
	const struct bt_cel_map *right)
{
	if (left->count != right->count) {
		return UNEQUAL;
	}
	for (uint32_t i = 0; i < left->count; i++) {
		const struct bt_cel_value *key = &left->entries[i].key;
		const struct bt_cel_value *other = bt_cel_charge_find(evaluation, right, key)
			? bt_cel_map_find(right, key)
			: NULL;

		if (other == NULL || !may_be_equal(evaluation, &left->entries[i].value, other)) {
			return UNEQUAL;
		}
	}
	return EQUAL;
}

static enum answer compare_optionals(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *left, const struct bt_cel_value *right)
{
	if (left == NULL || right == NULL) {
		return answer_of(left == right);
	}
	return compare(evaluation, left, right);
}

static enum answer compare_devices(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *left, const struct bt_cel_value *right)
{
	for (uint32_t i = 0; i < BT_CEL_DEVICE_FIELD__COUNT; i++) {
		if (!may_be_equal(evaluation, &left[i], &right[i])) {
			return UNEQUAL;
		}
	}
	return EQUAL;
}

static bool is_same_ip(const struct bt_cel_ip *a, const struct bt_cel_ip *b)
{
	return a->is_v6 == b->is_v6 && memcmp(a->bytes, b->bytes, a->is_v6 ? 16 : 4) == 0;
}

/** Kinds that refuse to be compared with others when they stand on the left. */
static bool is_opaque(enum bt_cel_kind kind)
{
	return kind == BT_CEL_QUANTITY || kind == BT_CEL_SEMVER || kind == BT_CEL_URL ||
		kind == BT_CEL_FORMAT || kind == BT_CEL_IP || kind == BT_CEL_CIDR;
}

/** Both are of the same kind, and not numbers. */
static enum answer compare_same_kind(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *left, const struct bt_cel_value *right)
{
	int order;

	switch ((int)left->kind) {
	case BT_CEL_NULL:
		return EQUAL;
	case BT_CEL_STRING:
	case BT_CEL_BYTES:
		return answer_of(bt_cel_charge_work(evaluation, left->text.length) &&
			bt_str_equal(left->text, right->text));
	case BT_CEL_LIST:
		return compare_lists(evaluation, left->list, right->list);
	case BT_CEL_MAP:
		return compare_maps(evaluation, left->map, right->map);
	case BT_CEL_TYPE:
		return answer_of(left->type->kind == right->type->kind);
	case BT_CEL_OPTIONAL:
		return compare_optionals(evaluation, left->optional, right->optional);
	case BT_CEL_DEVICE:
		return compare_devices(evaluation, left->fields, right->fields);
	default:
		if (is_opaque(left->kind)) {
			/* Both are of one of those kinds. */
			switch ((int)left->kind) {
			case BT_CEL_QUANTITY:
				/* Upstream quirk, spec 12b section 8.4: results of add and sub are
				 * of another kind inside, which shows only here. */
				if (right->is_computed) {
					return INCOMPARABLE;
				}
				return answer_of(
					bt_quantity_compare(left->quantity, right->quantity) == 0);
			case BT_CEL_SEMVER:
				return answer_of(bt_cel_charge_work(evaluation,
							 left->semver->prerelease.length) &&
					bt_cel_semver_compare(left->semver, right->semver) == 0);
			case BT_CEL_URL:
				return answer_of(bt_cel_charge_work(evaluation,
							 bt_cel_url_text(left->url).length) &&
					bt_str_equal(bt_cel_url_text(left->url),
						bt_cel_url_text(right->url)));
			case BT_CEL_IP:
				return answer_of(is_same_ip(left->ip, right->ip));
			case BT_CEL_CIDR:
				return answer_of(
					left->cidr->prefix_length == right->cidr->prefix_length &&
					is_same_ip(&left->cidr->ip, &right->cidr->ip));
			default: /* a format */
				return answer_of(bt_str_equal(left->text, right->text));
			}
		}
		return answer_of(bt_cel_compare(left, right, &order) && order == 0);
	}
}

static enum answer compare(struct bt_cel_evaluation *evaluation, const struct bt_cel_value *left,
	const struct bt_cel_value *right)
{
	enum answer answer;
	int order;

	if (bt_cel_is_number(left) && bt_cel_is_number(right)) {
		return answer_of(order_numbers(left, right, &order) && order == 0);
	}
	if (left->kind != right->kind) {
		return is_opaque(left->kind) && right->kind != BT_CEL_NULL ? INCOMPARABLE : UNEQUAL;
	}
	if (!bt_cel_charge_work(evaluation, COMPARISON_WORK) || !bt_cel_enter(evaluation)) {
		return UNEQUAL;
	}
	answer = compare_same_kind(evaluation, left, right);
	bt_cel_leave(evaluation);
	return answer;
}

struct bt_cel_value bt_cel_equal(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *left, const struct bt_cel_value *right)
{
	enum answer answer = compare(evaluation, left, right);

	return answer == INCOMPARABLE ? bt_cel_error(BT_CEL_NO_OVERLOAD)
				      : bt_cel_bool(answer == EQUAL);
}

bool bt_cel_is_equal(struct bt_cel_evaluation *evaluation, const struct bt_cel_value *left,
	const struct bt_cel_value *right)
{
	return compare(evaluation, left, right) == EQUAL;
}

static bool is_same_key(const struct bt_cel_value *a, const struct bt_cel_value *b)
{
	int order;

	return bt_cel_compare(a, b, &order) && order == 0;
}

bool bt_cel_charge_find(struct bt_cel_evaluation *evaluation, const struct bt_cel_map *map,
	const struct bt_cel_value *key)
{
	uint64_t length = key->kind == BT_CEL_STRING ? key->text.length : 0;

	return bt_cel_charge_work(evaluation, map->count * (1 + length / BT_CEL_COMPARED_BYTES));
}

const struct bt_cel_value *bt_cel_map_find(
	const struct bt_cel_map *map, const struct bt_cel_value *key)
{
	for (uint32_t i = 0; i < map->count; i++) {
		const struct bt_cel_entry *entry = &map->entries[i];

		if (key->kind == BT_CEL_STRING ? entry->key.kind == BT_CEL_STRING &&
					bt_str_equal(entry->key.text, key->text)
					       : is_same_key(&entry->key, key)) {
			return &entry->value;
		}
	}
	return NULL;
}
