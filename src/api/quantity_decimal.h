/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_QUANTITY_DECIMAL_H
#define BT_API_QUANTITY_DECIMAL_H
/** The big form of a quantity (spec 01 section 5.1): sign, unscaled integer U and scale S; the
 * value is U x 10^-S. */
#include "api/quantity.h"
#include "api/wide.h"

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
