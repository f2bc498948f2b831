/* SPDX-License-Identifier: Apache-2.0 */
#include "api/amount.h"

#include <inttypes.h>

#define KIB UINT64_C(1024)

/** Returns the absolute value, and appends "-" for a negative amount. */
static uint64_t take_sign(struct bt_strbuf *out, int64_t amount)
{
	if (amount < 0) {
		bt_strbuf_append_char(out, '-');
		return -(uint64_t)amount;
	}
	return (uint64_t)amount;
}

static void append_grouped(struct bt_strbuf *out, uint64_t number)
{
	if (number < 1000) {
		bt_strbuf_printf(out, "%" PRIu64, number);
		return;
	}
	append_grouped(out, number / 1000);
	bt_strbuf_printf(out, ",%03" PRIu64, number % 1000);
}

void bt_amount_append_count(struct bt_strbuf *out, int64_t count)
{
	append_grouped(out, take_sign(out, count));
}

/**
 * Appends bytes in the largest binary unit that gives at least 1, with one decimal unless the
 * number is whole: "1.5Gi". halves: rounding of the decimal (0 down, 1 to nearest, 2 up).
 */
static void append_bytes(struct bt_strbuf *out, int64_t bytes, uint64_t halves)
{
	static const char *const units[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
	uint64_t size = take_sign(out, bytes);
	uint64_t unit = 1;
	size_t index = 0;

	while (index + 1 < BT_ARRAY_LENGTH(units) && size / unit >= KIB) {
		unit *= KIB;
		index++;
	}
	uint64_t tenths = (size % unit * 10 + halves * (unit - 1) / 2) / unit + size / unit * 10;
	if (tenths == KIB * 10 && index + 1 < BT_ARRAY_LENGTH(units)) {
		tenths = 10;
		index++;
	}
	bt_strbuf_printf(out, "%" PRIu64, tenths / 10);
	if (tenths % 10 != 0) {
		bt_strbuf_printf(out, ".%" PRIu64, tenths % 10);
	}
	bt_strbuf_append_c(out, units[index]);
}

void bt_amount_append_of(struct bt_strbuf *out, struct bt_str resource, int64_t amount,
	enum bt_amount_rounding rounding)
{
	if (bt_str_equal_c(resource, "cpu")) {
		/* "250m" below one, otherwise exact to the millicore: "4", "1.5", "38,563.5" */
		uint64_t size = take_sign(out, amount);
		uint64_t rest = size % 1000;
		int digits = 3;

		if (size != 0 && size < 1000) {
			bt_strbuf_printf(out, "%" PRIu64 "m", size);
			return;
		}
		append_grouped(out, size / 1000);
		if (rest != 0) {
			while (rest % 10 == 0) {
				rest /= 10;
				digits--;
			}
			bt_strbuf_printf(out, ".%0*" PRIu64, digits, rest);
		}
	} else if (bt_str_equal_c(resource, "memory") ||
		bt_str_equal_c(resource, "ephemeral-storage") ||
		bt_str_has_prefix(resource, BT_STR("hugepages-"))) {
		/* a negative amount is rounded by its absolute value */
		bool is_up = (rounding == BT_AMOUNT_UP) == (amount >= 0);
		append_bytes(out, amount, rounding == BT_AMOUNT_NEAREST ? 1 : is_up ? 2 : 0);
	} else {
		bt_amount_append_count(out, amount);
	}
}

void bt_amount_append_share(struct bt_strbuf *out, int64_t amount, int64_t whole)
{
	if (whole > 0) {
		bt_strbuf_printf(out, " (%.0f%%)", 100.0 * (double)amount / (double)whole);
	}
}
