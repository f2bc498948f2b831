/* SPDX-License-Identifier: Apache-2.0 */
#include "api/wide.h"

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

uint64_t bt_wide_low64(const struct bt_wide *wide)
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

bool bt_wide_add(struct bt_wide *wide, const struct bt_wide *addend)
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

void bt_wide_subtract(struct bt_wide *wide, const struct bt_wide *subtrahend)
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
