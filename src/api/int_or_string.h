/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_INT_OR_STRING_H
#define BT_API_INT_OR_STRING_H
/** A number or a string, often a percentage. Spec: 01 section 5.3. */
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "codec/message.h"

struct bt_int_or_string {
	struct bt_str text; /* set if is_string */
	int32_t number;
	bool is_string;
};

/**
 * Sets *out_value to the number, or for "<digits>%" to that percentage of total, rounded up or
 * down. BERTH_ERR_INVALID: another string, or the result exceeds int32.
 */
BT_MUST_USE int bt_int_or_string_scaled(const struct bt_int_or_string *value, int32_t total,
	bool round_up, int32_t *out_value, struct berth_error *err);

extern const struct bt_scalar_type bt_int_or_string_scalar;
#endif
