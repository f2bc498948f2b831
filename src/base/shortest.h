/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BASE_SHORTEST_H
#define BT_BASE_SHORTEST_H
/** Formats doubles in the fewest decimal digits that read back as the same double. */
#include "base/strbuf.h"

/** A double rounded to this number of significant digits always reads back. */
#define BT_SHORTEST_DIGITS_MAX 17

/** Decimal digits without trailing zeros; value = 0.d1d2d3... x 10^point. */
struct bt_shortest {
	char digits[BT_SHORTEST_DIGITS_MAX + 1];
	int count;
	int point;
};

/** Finds the shortest digits of value, which must be positive and finite. */
void bt_shortest_digits(double value, struct bt_shortest *out);
/** Appends all digits without an exponent, such as "1234.5" or "0.0001". */
void bt_shortest_append_fixed(struct bt_strbuf *out, const struct bt_shortest *shortest);
/** Appends in the form "1.5e+07"; exponent_digits_min is the minimum number of exponent digits. */
void bt_shortest_append_exponent(
	struct bt_strbuf *out, const struct bt_shortest *shortest, int exponent_digits_min);
/**
 * Appends any double as Go's %g: with an exponent below 1e-04 and from 1e+06 on; NaN, +Inf, -Inf.
 */
void bt_shortest_append_general(struct bt_strbuf *out, double value);
#endif
