/* SPDX-License-Identifier: Apache-2.0 */
#include "base/shortest.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/** The count-digit decimal nearest to value (positive, finite). */
static void round_to_digits(double value, int count, struct bt_shortest *out)
{
	char text[48];
	const char *p = text;

	(void)snprintf(text, sizeof(text), "%.*e", count - 1, value);
	out->count = 0;
	for (; *p != 'e'; p++) {
		/* skip the decimal point, whatever the locale uses */
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

/** Adds one in the last place; returns false if the carry would leave the first digit. */
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
 * Every decimal of up to 15 digits survives the way through a normal double, so 15 digits with
 * their trailing zeros removed are the shortest form if they read back at all; the few bits of a
 * subnormal allow no such jump. With 16 digits the nearest decimal can miss where the one above it
 * hits: at powers of two the interval that reads back is wider above.
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
