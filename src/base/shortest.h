/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BASE_SHORTEST_H
#define BT_BASE_SHORTEST_H
/** Doubles in the fewest decimal digits that read back as the same double. */
#include "base/strbuf.h"

/** Significant digits that always read back. */
#define BT_SHORTEST_DIGITS_MAX 17

/** Digits without trailing zeros; value = 0.d1d2d3... x 10^point. */
struct bt_shortest {
	char digits[BT_SHORTEST_DIGITS_MAX + 1];
	int count;
	int point;
};

/** value: positive and finite. */
void bt_shortest_digits(double value, struct bt_shortest *out);
/** "1234.5", "0.0001": all digits, no exponent; for positive and finite values. */
void bt_shortest_append_fixed(struct bt_strbuf *out, const struct bt_shortest *shortest);
/** "1.5e+07": the exponent has at least this many digits. */
void bt_shortest_append_exponent(
	struct bt_strbuf *out, const struct bt_shortest *shortest, int exponent_digits_min);
/** Go's %g of any double: with an exponent below 1e-04 and from 1e+06 on; NaN, +Inf, -Inf. */
void bt_shortest_append_general(struct bt_strbuf *out, double value);
#endif
