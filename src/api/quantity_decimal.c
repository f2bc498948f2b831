/* SPDX-License-Identifier: Apache-2.0 */
#include "api/quantity_decimal.h"

#include <string.h>

#include "base/assert.h"

#define POWER10_9 1000000000u

static const uint32_t small_powers10[] = {
	1u, 10u, 100u, 1000u, 10000u, 100000u, 1000000u, 10000000u, 100000000u};

static void trim(struct bt_wide *wide)
{
	while (wide->count > 0 && wide->limbs[wide->count - 1] == 0) {
		wide->count--;
	}
}

void bt_wide_set(struct bt_wide *wide, uint64_t value)
{
	wide->limbs[0] = (uint32_t)value;
	wide->limbs[1] = (uint32_t)(value >> 32);
	wide->count = 2;
	trim(wide);
}

/** Returns the value modulo 2^64. */
static uint64_t wide_low64(const struct bt_wide *wide)
{
	uint64_t low = wide->count > 0 ? wide->limbs[0] : 0;
	uint64_t high = wide->count > 1 ? wide->limbs[1] : 0;

	return low | high << 32;
}

int bt_wide_compare(const struct bt_wide *a, const struct bt_wide *b)
{
	if (a->count != b->count) {
		return a->count > b->count ? 1 : -1;
	}
	for (uint32_t i = a->count; i > 0; i--) {
		if (a->limbs[i - 1] != b->limbs[i - 1]) {
			return a->limbs[i - 1] > b->limbs[i - 1] ? 1 : -1;
		}
	}
	return 0;
}

bool bt_wide_multiply_add(struct bt_wide *wide, uint32_t factor, uint32_t addend)
{
	uint64_t carry = addend;

	for (uint32_t i = 0; i < wide->count; i++) {
		carry += (uint64_t)wide->limbs[i] * factor;
		wide->limbs[i] = (uint32_t)carry;
		carry >>= 32;
	}
	if (carry != 0) {
		if (wide->count == BT_WIDE_LIMBS) {
			return false;
		}
		wide->limbs[wide->count++] = (uint32_t)carry;
	}
	trim(wide);
	return true;
}

bool bt_wide_multiply_power10(struct bt_wide *wide, uint64_t exponent)
{
	if (wide->count == 0) {
		return true;
	}
	if (exponent >= BT_WIDE_DIGITS) {
		return false;
	}
	for (; exponent >= 9; exponent -= 9) {
		if (!bt_wide_multiply_add(wide, POWER10_9, 0)) {
			return false;
		}
	}
	return bt_wide_multiply_add(wide, small_powers10[exponent], 0);
}

/** Returns false if the result does not fit; *wide is then undefined. */
static bool wide_add(struct bt_wide *wide, const struct bt_wide *addend)
{
	uint64_t carry = 0;
	uint32_t count = wide->count > addend->count ? wide->count : addend->count;

	for (uint32_t i = 0; i < count; i++) {
		carry += i < wide->count ? wide->limbs[i] : 0;
		carry += i < addend->count ? addend->limbs[i] : 0;
		wide->limbs[i] = (uint32_t)carry;
		carry >>= 32;
	}
	wide->count = count;
	if (carry != 0) {
		if (count == BT_WIDE_LIMBS) {
			return false;
		}
		wide->limbs[wide->count++] = (uint32_t)carry;
	}
	return true;
}

/** *wide -= subtrahend, which must not be larger. */
static void wide_subtract(struct bt_wide *wide, const struct bt_wide *subtrahend)
{
	uint64_t borrow = 0;

	BT_ASSERT(bt_wide_compare(wide, subtrahend) >= 0);
	for (uint32_t i = 0; i < wide->count; i++) {
		uint64_t take = borrow + (i < subtrahend->count ? subtrahend->limbs[i] : 0);

		borrow = wide->limbs[i] < take;
		wide->limbs[i] = (uint32_t)(wide->limbs[i] - take);
	}
	trim(wide);
}

uint32_t bt_wide_divide(struct bt_wide *wide, uint32_t divisor)
{
	uint64_t remainder = 0;

	for (uint32_t i = wide->count; i > 0; i--) {
		remainder = remainder << 32 | wide->limbs[i - 1];
		wide->limbs[i - 1] = (uint32_t)(remainder / divisor);
		remainder %= divisor;
	}
	trim(wide);
	return (uint32_t)remainder;
}

bool bt_wide_divide_power10(struct bt_wide *wide, uint64_t exponent)
{
	bool remainder = false;

	for (; exponent >= 9 && wide->count != 0; exponent -= 9) {
		remainder |= bt_wide_divide(wide, POWER10_9) != 0;
	}
	if (wide->count != 0) {
		remainder |= bt_wide_divide(wide, small_powers10[exponent]) != 0;
	}
	return remainder;
}

const char *bt_wide_digits(const struct bt_wide *wide, char *buffer)
{
	struct bt_wide rest = *wide;
	char *position = buffer + BT_WIDE_DIGITS;

	*position = '\0';
	while (rest.count != 0) {
		uint32_t nine = bt_wide_divide(&rest, POWER10_9);

		for (int i = 0; i < 9 && (nine != 0 || rest.count != 0); i++) {
			*--position = (char)('0' + nine % 10);
			nine /= 10;
		}
	}
	if (*position == '\0') {
		*--position = '0';
	}
	return position;
}

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
		fits = wide_add(&left.magnitude, &right.magnitude) &&
			left.magnitude.count <= BT_WIDE_STORED_LIMBS;
	} else if (bt_wide_compare(&left.magnitude, &right.magnitude) >= 0) {
		wide_subtract(&left.magnitude, &right.magnitude);
		fits = left.magnitude.count <= BT_WIDE_STORED_LIMBS;
	} else {
		wide_subtract(&right.magnitude, &left.magnitude);
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
			!wide_add(out_product, &part)) {
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
		low = wide_low64(&magnitude);
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
		low = wide_low64(&magnitude);
		return (int64_t)(big->negative ? 0 - low : low);
	}
	low = wide_low64(&magnitude);
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
