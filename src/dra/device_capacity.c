/* SPDX-License-Identifier: Apache-2.0 */
#include "dra/device_capacity.h"

#include "api/quantity_decimal.h"

/** Decimal digits after the point of an amount. */
#define SCALE 9
/** Maximum of the highest of four limbs, so that multiplying by ten cannot overflow. */
#define LIMB_MAX UINT32_C(0x0bffffff)

static bt_int128 clamp(bt_int128 amount)
{
	if (amount > BT_DEVICE_AMOUNT_MAX) {
		return BT_DEVICE_AMOUNT_MAX;
	}
	return amount < -BT_DEVICE_AMOUNT_MAX ? -BT_DEVICE_AMOUNT_MAX : amount;
}

/** Returns value x 10^exponent, clamped. Rounds away from zero, as parsing of quantities does. */
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

bt_int128 bt_device_amount(const struct bt_quantity *quantity)
{
	if (quantity->big != NULL) {
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
	return shift(quantity->mantissa, (int64_t)quantity->exponent + SCALE);
}

struct bt_quantity bt_device_capacity_consumed(
	const struct bt_quantity *request, const struct bt_device_capacity *capacity)
{
	const struct bt_capacity_request_policy *policy = capacity->request_policy;
	const struct bt_capacity_request_policy_range *range =
		policy != NULL ? policy->valid_range : NULL;

	if (request == NULL) {
		return policy != NULL && policy->default_ != NULL ? *policy->default_
								  : capacity->value;
	}
	if (range != NULL && range->min != NULL) {
		if (bt_quantity_compare(request, range->min) < 0) {
			return *range->min;
		}
		bt_int128 step = range->step != NULL ? bt_quantity_value(range->step) : 0;
		if (step == 0) {
			return *request;
		}
		/* the lowest min + n x step that is not below the request, in whole units */
		bt_int128 min = bt_quantity_value(range->min);
		bt_int128 distance = bt_quantity_value(request) - min;
		bt_int128 value = min + step * (distance / step + (distance % step != 0));
		if (value > INT64_MAX || value < INT64_MIN) {
			value = value > 0 ? INT64_MAX : INT64_MIN;
		}
		return bt_quantity_make((int64_t)value, 0, BT_QUANTITY_BINARY_SI);
	}
	for (uint32_t i = 0; policy != NULL && i < policy->valid_values.count; i++) {
		if (bt_quantity_compare(&policy->valid_values.items[i], request) >= 0) {
			return policy->valid_values.items[i];
		}
	}
	return *request;
}

static bool violates(
	const struct bt_quantity *amount, const struct bt_capacity_request_policy *policy)
{
	if (policy == NULL ||
		(policy->default_ != NULL && bt_quantity_compare(amount, policy->default_) == 0)) {
		return false;
	}
	if (policy->valid_range != NULL) {
		const struct bt_capacity_request_policy_range *range = policy->valid_range;

		if (range->max != NULL && bt_quantity_compare(amount, range->max) > 0) {
			return true;
		}
		if (range->step == NULL) {
			return false;
		}
		bt_int128 step = bt_device_amount(range->step);
		return step != 0 &&
			(bt_device_amount(amount) -
				(range->min != NULL ? bt_device_amount(range->min) : 0)) %
				step !=
			0;
	}
	for (uint32_t i = 0; i < policy->valid_values.count; i++) {
		if (bt_quantity_compare(amount, &policy->valid_values.items[i]) == 0) {
			return false;
		}
	}
	return policy->valid_values.count != 0;
}

bool bt_device_capacity_fits(const struct bt_device *device,
	const struct bt_resource_list *requests, const struct bt_shared_device *consumed,
	const bt_int128 *own)
{
	for (uint32_t i = 0; requests != NULL && i < requests->count; i++) {
		if (BT_STR_FIND(&device->capacity, key, requests->items[i].name) == NULL) {
			return false;
		}
	}
	for (uint32_t i = 0; i < device->capacity.count; i++) {
		const struct bt_device_capacity_entry *entry = &device->capacity.items[i];
		const struct bt_quantity *held =
			consumed != NULL ? bt_shared_device_consumed(consumed, entry->key) : NULL;
		struct bt_quantity amount = bt_device_capacity_consumed(
			requests != NULL ? bt_resource_list_find(requests, entry->key) : NULL,
			&entry->value);
		bt_int128 sum = bt_device_amount(&amount);

		if (held != NULL) {
			sum += bt_device_amount(held);
		}
		if (own != NULL) {
			sum += own[i];
		}
		if (violates(&amount, entry->value.request_policy) ||
			sum > bt_device_amount(&entry->value.value)) {
			return false;
		}
	}
	return true;
}

bool bt_device_taint_blocks(const struct bt_device_taint *taint)
{
	return bt_str_equal(taint->effect, BT_STR("NoSchedule")) ||
		bt_str_equal(taint->effect, BT_STR("NoExecute"));
}

const struct bt_device_taint *bt_device_find_untolerated_taint(const struct bt_device *device,
	const struct bt_device_toleration *tolerations, uint32_t count)
{
	for (uint32_t i = 0; i < device->taints.count; i++) {
		const struct bt_device_taint *taint = &device->taints.items[i];
		bool is_tolerated = !bt_device_taint_blocks(taint);

		for (uint32_t k = 0; k < count && !is_tolerated; k++) {
			const struct bt_device_toleration *toleration = &tolerations[k];
			bool is_equal = toleration->operator_.length == 0 ||
				bt_str_equal(toleration->operator_, BT_STR("Equal"));

			is_tolerated = (toleration->effect.length == 0 ||
					       bt_str_equal(toleration->effect, taint->effect)) &&
				(toleration->key.length == 0 ||
					bt_str_equal(toleration->key, taint->key)) &&
				(is_equal ? bt_str_equal(toleration->value, taint->value)
					  : bt_str_equal(toleration->operator_, BT_STR("Exists")));
		}
		if (!is_tolerated) {
			return taint;
		}
	}
	return NULL;
}
