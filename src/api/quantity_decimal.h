/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_QUANTITY_DECIMAL_H
#define BT_API_QUANTITY_DECIMAL_H
/** The big form of a quantity (spec 01 section 5.1): sign, unscaled integer U and scale S; the
 * value is U x 10^-S. */
#include "api/quantity.h"

/** Limbs for intermediate results; stored quantities have at most BT_WIDE_STORED_LIMBS. */
#define BT_WIDE_LIMBS 80
#define BT_WIDE_STORED_LIMBS 75
/** Decimal digits of the maximum value, rounded up. */
#define BT_WIDE_DIGITS 771

/** An unsigned integer: little-endian limbs, no leading zero limb. */
struct bt_wide {
	uint32_t count;
	uint32_t limbs[BT_WIDE_LIMBS];
};

void bt_wide_set(struct bt_wide *wide, uint64_t value);
static inline bool bt_wide_is_zero(const struct bt_wide *wide)
{
	return wide->count == 0;
}
int bt_wide_compare(const struct bt_wide *a, const struct bt_wide *b);

/* The next two functions return false if the result does not fit; *wide is then undefined. */
BT_MUST_USE bool bt_wide_multiply_add(struct bt_wide *wide, uint32_t factor, uint32_t addend);
BT_MUST_USE bool bt_wide_multiply_power10(struct bt_wide *wide, uint64_t exponent);
/** Divides, rounding down; returns the remainder. divisor > 0. */
uint32_t bt_wide_divide(struct bt_wide *wide, uint32_t divisor);
/** Divides by 10^exponent, rounding down; returns true if there was a remainder. */
bool bt_wide_divide_power10(struct bt_wide *wide, uint64_t exponent);
/**
 * Writes decimal digits, zero-terminated. buffer: has BT_WIDE_DIGITS + 1 bytes. Returns a pointer
 * to the first digit, which need not be at the start of `buffer`.
 */
const char *bt_wide_digits(const struct bt_wide *wide, char *buffer);

/** Stored form: immutable, limbs without leading zeros, in the arena. */
struct bt_big_decimal {
	int32_t scale;
	uint32_t limb_count;
	bool negative;
	uint32_t limbs[];
};

/** The form for computations, without an arena. */
struct bt_decimal {
	struct bt_wide magnitude;
	int64_t scale;
	bool negative;
};

void bt_decimal_load(struct bt_decimal *decimal, const struct bt_quantity *quantity);
/** Stores decimal in the arena. Its scale must fit int32. */
BT_MUST_USE const struct bt_big_decimal *bt_decimal_store(
	const struct bt_decimal *decimal, struct bt_arena *arena);
int bt_decimal_compare(const struct bt_decimal *a, const struct bt_decimal *b);
/** *sum += addend; if the digits do not fit, the result is the operand of larger magnitude. */
void bt_decimal_add(struct bt_decimal *sum, const struct bt_decimal *addend);
/** *product *= factor; if the digits do not fit, the result is the operand of larger magnitude. */
void bt_decimal_multiply(struct bt_decimal *product, const struct bt_decimal *factor);
/**
 * Returns the value in units of 10^target. Overflow gives upstream's results: spec 01 section 5.1.
 */
int64_t bt_big_decimal_to_int64(const struct bt_big_decimal *big, int32_t target);
/**
 * Removes factors of ten from the magnitude, so that equal values have equal fields; zero gets
 * scale 0.
 */
void bt_decimal_normalise(struct bt_decimal *decimal);
#endif
