/* SPDX-License-Identifier: Apache-2.0 */
#include "base/shortest.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/** Converts value (positive, finite) to the nearest decimal with count digits. */
static void round_to_digits(double value, int count, struct bt_shortest *out)
{
	char text[48];
	const char *p = text;

	(void)snprintf(text, sizeof(text), "%.*e", count - 1, value);
	out->count = 0;
	for (; *p != 'e'; p++) {
		/* Skip the decimal separator, which depends on the locale. */
		if (*p >= '0' && *p <= '9') {
			out->digits[out->count++] = *p;
		}
	}
	out->point = (int)strtol(p + 1, NULL, 10) + 1;
}

static bool reads_back(const struct bt_shortest *shortest, double value)
{
	char text[48];

	(void)snprintf(text, sizeof(text), "%.*se%d", shortest->count, shortest->digits,
		shortest->point - shortest->count);
	return strtod(text, NULL) == value;
}

/** Adds one to the last digit; returns false if the carry would leave the first digit. */
static bool increment(struct bt_shortest *shortest)
{
	for (int i = shortest->count - 1; i >= 0; i--) {
		if (shortest->digits[i] != '9') {
			shortest->digits[i]++;
			return true;
		}
		shortest->digits[i] = '0';
	}
	return false;
}

/*
 * A decimal of up to 15 digits that is converted to a normal double converts back to the same
 * decimal. So if the value rounded to 15 digits reads back as the value, this decimal without
 * trailing zeros is the shortest form. Subnormals have fewer bits, so they need a search from 1
 * digit on. With 16 digits the nearest decimal may not read back while the next larger decimal
 * does: at powers of two the interval that reads back is wider above the value.
 */
void bt_shortest_digits(double value, struct bt_shortest *out)
{
	int count = value < DBL_MIN ? 1 : DBL_DIG;

	round_to_digits(value, count, out);
	while (!reads_back(out, value) &&
		!(count == DBL_DIG + 1 && increment(out) && reads_back(out, value))) {
		count++;
		round_to_digits(value, count, out);
	}
	while (out->count > 1 && out->digits[out->count - 1] == '0') {
		out->count--;
	}
}

void bt_shortest_append_exponent(
	struct bt_strbuf *out, const struct bt_shortest *shortest, int exponent_digits_min)
{
	int exponent = shortest->point - 1;

	bt_strbuf_append_char(out, shortest->digits[0]);
	if (shortest->count > 1) {
		bt_strbuf_append_char(out, '.');
		bt_strbuf_append(out, shortest->digits + 1, (size_t)shortest->count - 1);
	}
	bt_strbuf_printf(
		out, "e%c%0*d", exponent < 0 ? '-' : '+', exponent_digits_min, abs(exponent));
}

void bt_shortest_append_fixed(struct bt_strbuf *out, const struct bt_shortest *shortest)
{
	if (shortest->point <= 0) {
		bt_strbuf_append_c(out, "0.");
		for (int i = shortest->point; i < 0; i++) {
			bt_strbuf_append_char(out, '0');
		}
	}
	for (int i = 0; i < shortest->count || i < shortest->point; i++) {
		if (i == shortest->point && i != 0) {
			bt_strbuf_append_char(out, '.');
		}
		bt_strbuf_append_char(out, i < shortest->count ? shortest->digits[i] : '0');
	}
}

void bt_shortest_append_general(struct bt_strbuf *out, double value)
{
	struct bt_shortest shortest;

	if (isnan(value)) {
		bt_strbuf_append_c(out, "NaN");
		return;
	}
	if (isinf(value)) {
		bt_strbuf_append_c(out, value > 0 ? "+Inf" : "-Inf");
		return;
	}
	if (signbit(value)) {
		bt_strbuf_append_char(out, '-');
	}
	if (fpclassify(value) == FP_ZERO) {
		bt_strbuf_append_char(out, '0');
		return;
	}
	bt_shortest_digits(fabs(value), &shortest);
	if (shortest.point < -3 || shortest.point > 6) {
		bt_shortest_append_exponent(out, &shortest, 2);
	} else {
		bt_shortest_append_fixed(out, &shortest);
	}
}
