/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_WIDE_H
#define BT_API_WIDE_H
/** Unsigned integers of bounded width, for quantities beyond int64. Little-endian limbs, no leading
 * zero limb. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

/** Limbs for intermediate results; stored quantities have at most BT_WIDE_STORED_LIMBS. */
#define BT_WIDE_LIMBS 80
#define BT_WIDE_STORED_LIMBS 75
/** Decimal digits of the maximum value, rounded up. */
#define BT_WIDE_DIGITS 771

struct bt_wide {
	uint32_t count;
	uint32_t limbs[BT_WIDE_LIMBS];
};

void bt_wide_set(struct bt_wide *wide, uint64_t value);
/** Returns the value modulo 2^64. */
uint64_t bt_wide_low64(const struct bt_wide *wide);
static inline bool bt_wide_is_zero(const struct bt_wide *wide)
{
	return wide->count == 0;
}
int bt_wide_compare(const struct bt_wide *a, const struct bt_wide *b);

/* The next three functions return false if the result does not fit; *wide is then undefined. */
BT_MUST_USE bool bt_wide_multiply_add(struct bt_wide *wide, uint32_t factor, uint32_t addend);
BT_MUST_USE bool bt_wide_multiply_power10(struct bt_wide *wide, uint64_t exponent);
BT_MUST_USE bool bt_wide_add(struct bt_wide *wide, const struct bt_wide *addend);
/** *wide -= subtrahend, which must not be larger. */
void bt_wide_subtract(struct bt_wide *wide, const struct bt_wide *subtrahend);
/** Divides, rounding down; returns the remainder. divisor > 0. */
uint32_t bt_wide_divide(struct bt_wide *wide, uint32_t divisor);
/** Divides by 10^exponent, rounding down; returns true if there was a remainder. */
bool bt_wide_divide_power10(struct bt_wide *wide, uint64_t exponent);
/**
 * Writes decimal digits, zero-terminated. buffer: has BT_WIDE_DIGITS + 1 bytes. Returns a pointer
 * to the first digit, which need not be at the start of `buffer`.
 */
const char *bt_wide_digits(const struct bt_wide *wide, char *buffer);
#endif
