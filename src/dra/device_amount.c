/* SPDX-License-Identifier: Apache-2.0 */
#include "dra/device_amount.h"

#include "api/quantity_decimal.h"

/** Digits behind the point. */
#define SCALE 9
/** Of the highest of four limbs: their value can be multiplied by ten. */
#define LIMB_MAX UINT32_C(0x0bffffff)

static bt_int128 clamp(bt_int128 amount)
{
	if (amount > BT_DEVICE_AMOUNT_MAX) {
		return BT_DEVICE_AMOUNT_MAX;
	}
	return amount < -BT_DEVICE_AMOUNT_MAX ? -BT_DEVICE_AMOUNT_MAX : amount;
}

/** value x 10^exponent; rounded away from zero, as quantities are when they are parsed. */
static bt_int128 shift(bt_int128 value, int64_t exponent)
{
	for (; exponent > 0 && value != 0 && value < BT_DEVICE_AMOUNT_MAX &&
		value > -BT_DEVICE_AMOUNT_MAX;
		exponent--) {
		value *= 10;
	}
	for (; exponent < 0 && value != 0; exponent++) {
		bt_int128 rest = value % 10;
		value = value / 10 + (rest > 0) - (rest < 0);
	}
	return clamp(value);
}

static bt_int128 amount_of_big(const struct bt_quantity *quantity)
{
	struct bt_decimal decimal;
	bt_int128 value = 0;

	bt_decimal_load(&decimal, quantity);
	if (decimal.scale > SCALE) {
		bool has_rest = bt_wide_divide_power10(
			&decimal.magnitude, (uint64_t)(decimal.scale - SCALE));
		decimal.scale = SCALE;
		value = has_rest ? 1 : 0;
	}
	if (decimal.magnitude.count > 4 ||
		(decimal.magnitude.count == 4 && decimal.magnitude.limbs[3] > LIMB_MAX)) {
		value = BT_DEVICE_AMOUNT_MAX;
	} else {
		bt_int128 whole = 0;
		for (uint32_t i = decimal.magnitude.count; i > 0; i--) {
			whole = whole << 32 | decimal.magnitude.limbs[i - 1];
		}
		value = shift(whole, SCALE - decimal.scale) + value;
	}
	return clamp(decimal.negative ? -value : value);
}

bt_int128 bt_device_amount(const struct bt_quantity *quantity)
{
	if (quantity->big != NULL) {
		return amount_of_big(quantity);
	}
	return shift(quantity->mantissa, (int64_t)quantity->exponent + SCALE);
}
