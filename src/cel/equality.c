/* SPDX-License-Identifier: Apache-2.0 */
/* Equality, ordering, and map keys. Spec: 12b sections 8.4 to 8.6. */
#include <math.h>
#include <string.h>

#include "cel/device.h"
#include "cel/evaluate_private.h"

/** Work of comparing two values, excluding their elements. */
#define COMPARISON_WORK 4

enum answer {
	UNEQUAL,
	EQUAL,
	INCOMPARABLE, /* `no such overload` */
};

static int order_int(int64_t a, int64_t b)
{
	return BT_ORDER(a, b);
}

static int order_uint(uint64_t a, uint64_t b)
{
	return BT_ORDER(a, b);
}

/** Compares two numbers exactly, without rounding integers to double. false: a number is NaN. */
static bool order_numbers(
	const struct bt_cel_value *left, const struct bt_cel_value *right, int *out_order)
{
	double real = right->real;

	if ((left->kind == BT_CEL_DOUBLE && isnan(left->real)) ||
		(right->kind == BT_CEL_DOUBLE && isnan(right->real))) {
		return false;
	}
	if (left->kind == right->kind) {
		*out_order = left->kind == BT_CEL_INT ? order_int(left->integer, right->integer)
			: left->kind == BT_CEL_UINT   ? order_uint(left->uinteger, right->uinteger)
						      : BT_ORDER(left->real, right->real);
	} else if (left->kind == BT_CEL_DOUBLE || right->kind == BT_CEL_UINT) {
		/* Swap the operands: the cases below are uint-int, int-double and uint-double. */
		(void)order_numbers(right, left, out_order);
		*out_order = -*out_order;
	} else if (right->kind != BT_CEL_DOUBLE) {
		/* left is uint, right is int */
		*out_order = right->integer < 0
			? 1
			: order_uint(left->uinteger, (uint64_t)right->integer);
	} else if (left->kind == BT_CEL_INT) {
		*out_order = real >= 0x1p63 ? -1
			: real < -0x1p63    ? 1
					    : order_int(left->integer, (int64_t)real);
		if (*out_order == 0) {
			real -= (double)left->integer;
			*out_order = (real < 0) - (real > 0);
		}
	} else {
		*out_order = real >= 0x1p64 ? -1
			: real < 0          ? 1
					    : order_uint(left->uinteger, (uint64_t)real);
		if (*out_order == 0) {
			*out_order = real - (double)left->uinteger > 0 ? -1 : 0;
		}
	}
	return true;
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
		*out_order = bt_str_compare(left->text, right->text);
		*out_order = (*out_order > 0) - (*out_order < 0);
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

struct bt_cel_value bt_cel_not_ordered(
	const struct bt_cel_value *left, const struct bt_cel_value *right)
{
	return bt_cel_error((left->kind == BT_CEL_DOUBLE && isnan(left->real)) ||
				(right->kind == BT_CEL_DOUBLE && isnan(right->real))
			? BT_STR("NaN values cannot be ordered")
			: BT_CEL_NO_OVERLOAD);
}

static bool is_same_ip(const struct bt_cel_ip *a, const struct bt_cel_ip *b)
{
	return a->is_v6 == b->is_v6 && memcmp(a->bytes, b->bytes, a->is_v6 ? 16 : 4) == 0;
}

static enum answer compare(struct bt_cel_evaluation *evaluation, const struct bt_cel_value *left,
	const struct bt_cel_value *right);

/**
 * Compares count pairs of values. false: a pair is UNEQUAL; an INCOMPARABLE pair counts as equal.
 */
static bool may_all_be_equal(struct bt_cel_evaluation *evaluation, const struct bt_cel_value *left,
	const struct bt_cel_value *right, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (compare(evaluation, &left[i], &right[i]) == UNEQUAL) {
			return false;
		}
	}
	return true;
}

/** Compares two values of the same kind that are not numbers. */
static enum answer compare_same_kind(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *left, const struct bt_cel_value *right)
{
	bool is_equal = false;
	int order;

	switch ((int)left->kind) {
	case BT_CEL_NULL:
		return EQUAL;
	case BT_CEL_STRING:
	case BT_CEL_BYTES:
		is_equal = bt_cel_charge_work(evaluation, left->text.length) &&
			bt_str_equal(left->text, right->text);
		break;
	case BT_CEL_LIST:
		is_equal = left->list.count == right->list.count &&
			bt_cel_charge_work(evaluation, left->list.count) &&
			may_all_be_equal(
				evaluation, left->list.items, right->list.items, left->list.count);
		break;
	case BT_CEL_MAP:
		is_equal = left->map->count == right->map->count;
		for (uint32_t i = 0; i < left->map->count && is_equal; i++) {
			const struct bt_cel_entry *entry = &left->map->entries[i];
			const struct bt_cel_value *other =
				bt_cel_charge_find(evaluation, right->map, &entry->key)
				? bt_cel_map_find(right->map, &entry->key)
				: NULL;

			is_equal = other != NULL &&
				may_all_be_equal(evaluation, &entry->value, other, 1);
		}
		break;
	case BT_CEL_TYPE:
		is_equal = left->type->kind == right->type->kind;
		break;
	case BT_CEL_OPTIONAL:
		if (left->optional != NULL && right->optional != NULL) {
			return compare(evaluation, left->optional, right->optional);
		}
		is_equal = left->optional == right->optional;
		break;
	case BT_CEL_DEVICE:
		is_equal = may_all_be_equal(
			evaluation, left->fields, right->fields, BT_CEL_DEVICE_FIELD__COUNT);
		break;
	case BT_CEL_QUANTITY:
		/*
		 * Upstream quirk, spec 12b section 8.4: results of add and sub have another Go
		 * type, which matters only here.
		 */
		if (right->is_computed) {
			return INCOMPARABLE;
		}
		is_equal = bt_quantity_compare(left->quantity, right->quantity) == 0;
		break;
	case BT_CEL_SEMVER:
		is_equal = bt_cel_charge_work(evaluation, left->semver->prerelease.length) &&
			bt_cel_semver_compare(left->semver, right->semver) == 0;
		break;
	case BT_CEL_URL:
		is_equal = bt_cel_charge_work(evaluation, left->url->text.length) &&
			bt_str_equal(left->url->text, right->url->text);
		break;
	case BT_CEL_IP:
		is_equal = is_same_ip(left->ip, right->ip);
		break;
	case BT_CEL_CIDR:
		is_equal = left->cidr->prefix_length == right->cidr->prefix_length &&
			is_same_ip(&left->cidr->ip, &right->cidr->ip);
		break;
	case BT_CEL_FORMAT:
		is_equal = bt_str_equal(left->text, right->text);
		break;
	default:
		is_equal = bt_cel_compare(left, right, &order) && order == 0;
		break;
	}
	return is_equal ? EQUAL : UNEQUAL;
}

static enum answer compare(struct bt_cel_evaluation *evaluation, const struct bt_cel_value *left,
	const struct bt_cel_value *right)
{
	int order;

	if (bt_cel_is_number(left) && bt_cel_is_number(right)) {
		return order_numbers(left, right, &order) && order == 0 ? EQUAL : UNEQUAL;
	}
	if (left->kind != right->kind) {
		/*
		 * A left value of these kinds cannot be compared with a value of another kind,
		 * except null.
		 */
		bool is_opaque = left->kind == BT_CEL_QUANTITY || left->kind == BT_CEL_SEMVER ||
			left->kind == BT_CEL_URL || left->kind == BT_CEL_FORMAT ||
			left->kind == BT_CEL_IP || left->kind == BT_CEL_CIDR;

		return is_opaque && right->kind != BT_CEL_NULL ? INCOMPARABLE : UNEQUAL;
	}
	if (!bt_cel_charge_work(evaluation, COMPARISON_WORK) || !bt_cel_enter(evaluation)) {
		return UNEQUAL;
	}
	enum answer answer = compare_same_kind(evaluation, left, right);
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

bool bt_cel_charge_find(struct bt_cel_evaluation *evaluation, const struct bt_cel_map *map,
	const struct bt_cel_value *key)
{
	uint64_t length = key->kind == BT_CEL_STRING ? key->text.length : 0;

	return bt_cel_charge_work(evaluation, map->count * (1 + length / BT_CEL_COMPARED_BYTES));
}

const struct bt_cel_value *bt_cel_map_find(
	const struct bt_cel_map *map, const struct bt_cel_value *key)
{
	int order;

	for (uint32_t i = 0; i < map->count; i++) {
		const struct bt_cel_entry *entry = &map->entries[i];

		if (key->kind == BT_CEL_STRING
				? entry->key.kind == BT_CEL_STRING &&
					bt_str_equal(entry->key.text, key->text)
				: bt_cel_compare(&entry->key, key, &order) && order == 0) {
			return &entry->value;
		}
	}
	return NULL;
}
