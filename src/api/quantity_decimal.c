/* SPDX-License-Identifier: Apache-2.0 */
#include "api/quantity_decimal.h"

#include <string.h>

#include "base/assert.h"

void bt_decimal_load(struct bt_decimal *decimal, const struct bt_quantity *quantity)
{
	const struct bt_big_decimal *big = quantity->big;

	if (big == NULL) {
		uint64_t bits = (uint64_t)quantity->mantissa;

		decimal->negative = quantity->mantissa < 0;
		decimal->scale = -(int64_t)quantity->exponent;
		bt_wide_set(&decimal->magnitude, decimal->negative ? 0 - bits : bits);
		return;
	}
	decimal->negative = big->negative;
	decimal->scale = big->scale;
	decimal->magnitude.count = big->limb_count;
	memcpy(decimal->magnitude.limbs, big->limbs, big->limb_count * sizeof(big->limbs[0]));
}

const struct bt_big_decimal *bt_decimal_store(
	const struct bt_decimal *decimal, struct bt_arena *arena)
{
	size_t limb_bytes = decimal->magnitude.count * sizeof(decimal->magnitude.limbs[0]);
	struct bt_big_decimal *big;

	BT_ASSERT(arena != NULL);
	BT_ASSERT(decimal->scale >= INT32_MIN && decimal->scale <= INT32_MAX);
	big = bt_arena_alloc(arena, sizeof(*big) + limb_bytes);
	big->negative = decimal->negative && decimal->magnitude.count != 0;
	big->scale = (int32_t)decimal->scale;
	big->limb_count = decimal->magnitude.count;
	memcpy(big->limbs, decimal->magnitude.limbs, limb_bytes);
	return big;
}

/**
 * Rescales the coarser operand, which becomes *out_rescaled, to the scale of the finer operand.
 * false: the rescaled digits do not fit.
 */
static bool align(struct bt_decimal *a, struct bt_decimal *b, struct bt_decimal **out_rescaled)
{
	struct bt_decimal *coarse = a->scale < b->scale ? a : b;
	const struct bt_decimal *fine = coarse == a ? b : a;

	*out_rescaled = coarse;
	if (!bt_wide_multiply_power10(
		    &coarse->magnitude, (uint64_t)(fine->scale - coarse->scale))) {
		return false;
	}
	coarse->scale = fine->scale;
	return true;
}

int bt_decimal_compare(const struct bt_decimal *a, const struct bt_decimal *b)
{
	struct bt_decimal left = *a;
	struct bt_decimal right = *b;
	struct bt_decimal *rescaled;
	int left_sign = bt_wide_is_zero(&left.magnitude) ? 0 : left.negative ? -1 : 1;
	int right_sign = bt_wide_is_zero(&right.magnitude) ? 0 : right.negative ? -1 : 1;
	int order;

	if (left_sign != right_sign || left_sign == 0) {
		return BT_ORDER(left_sign, right_sign);
	}
	/* the operand that does not fit after rescaling is the larger one */
	if (!align(&left, &right, &rescaled)) {
		order = rescaled == &left ? 1 : -1;
	} else {
		order = bt_wide_compare(&left.magnitude, &right.magnitude);
	}
	return left_sign > 0 ? order : -order;
}

void bt_decimal_add(struct bt_decimal *sum, const struct bt_decimal *addend)
{
	struct bt_decimal left = *sum;
	struct bt_decimal right = *addend;
	struct bt_decimal *rescaled;
	bool fits = align(&left, &right, &rescaled);

	if (!fits) {
		if (rescaled == &right) {
			*sum = *addend;
		}
		return;
	}
	if (left.negative == right.negative) {
		fits = bt_wide_add(&left.magnitude, &right.magnitude) &&
			left.magnitude.count <= BT_WIDE_STORED_LIMBS;
	} else if (bt_wide_compare(&left.magnitude, &right.magnitude) >= 0) {
		bt_wide_subtract(&left.magnitude, &right.magnitude);
		fits = left.magnitude.count <= BT_WIDE_STORED_LIMBS;
	} else {
		bt_wide_subtract(&right.magnitude, &left.magnitude);
		left = right;
		fits = left.magnitude.count <= BT_WIDE_STORED_LIMBS;
	}
	if (fits) {
		*sum = left;
		return;
	}
	left = *sum;
	left.negative = false;
	right = *addend;
	right.negative = false;
	if (bt_decimal_compare(&left, &right) < 0) {
		*sum = *addend;
	}
}

/** Returns false if the product has too many digits. */
static bool multiply_magnitudes(
	const struct bt_wide *a, const struct bt_wide *b, struct bt_wide *out_product)
{
	bt_wide_set(out_product, 0);
	for (uint32_t i = b->count; i > 0; i--) {
		struct bt_wide part = *a;

		if (!bt_wide_multiply_add(out_product, 1U << 16, 0) ||
			!bt_wide_multiply_add(out_product, 1U << 16, 0) ||
			!bt_wide_multiply_add(&part, b->limbs[i - 1], 0) ||
			!bt_wide_add(out_product, &part)) {
			return false;
		}
	}
	return out_product->count <= BT_WIDE_STORED_LIMBS;
}

void bt_decimal_multiply(struct bt_decimal *product, const struct bt_decimal *factor)
{
	struct bt_decimal left = *product;
	struct bt_decimal right = *factor;
	struct bt_decimal result = {
		.scale = left.scale + right.scale,
		.negative = left.negative != right.negative,
	};

	if (multiply_magnitudes(&left.magnitude, &right.magnitude, &result.magnitude) &&
		result.scale >= INT32_MIN && result.scale <= INT32_MAX) {
		*product = result;
		return;
	}
	left.negative = false;
	right.negative = false;
	if (bt_decimal_compare(&left, &right) < 0) {
		*product = *factor;
	}
}

int64_t bt_big_decimal_to_int64(const struct bt_big_decimal *big, int32_t target)
{
	struct bt_wide magnitude;
	int64_t shift = (int64_t)big->scale + target;
	uint64_t low;

	magnitude.count = big->limb_count;
	memcpy(magnitude.limbs, big->limbs, big->limb_count * sizeof(big->limbs[0]));
	if (shift <= 0) {
		low = bt_wide_low64(&magnitude);
		/*
		 * Upstream quirk, spec 01 section 5.1: a power beyond int64 is replaced by -2^63.
		 */
		if (shift < -18) {
			return (int64_t)(low << 63);
		}
		for (int64_t i = shift; i < 0; i++) {
			low *= 10;
		}
		return (int64_t)(big->negative ? 0 - low : low);
	}
	if (!bt_wide_divide_power10(&magnitude, (uint64_t)shift)) {
		low = bt_wide_low64(&magnitude);
		return (int64_t)(big->negative ? 0 - low : low);
	}
	low = bt_wide_low64(&magnitude);
	if (!big->negative) {
		return (int64_t)(low + 1);
	}
	/*
	 * Upstream quirk, spec 01 section 5.1: truncates or rounds down, depending on the shift,
	 * then adds one.
	 */
	return shift < 19 ? (int64_t)(1 - low) : (int64_t)(0 - low);
}

void bt_decimal_normalise(struct bt_decimal *decimal)
{
	if (bt_wide_is_zero(&decimal->magnitude)) {
		decimal->scale = 0;
		decimal->negative = false;
		return;
	}
	for (;;) {
		struct bt_wide quotient = decimal->magnitude;

		if (bt_wide_divide(&quotient, 10) != 0) {
			return;
		}
		decimal->magnitude = quotient;
		decimal->scale--;
	}
}
