/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "api/quantity.h"
#include "api/quantity_decimal.h"
#include "base/assert.h"

/* Parsing and formatting of quantities. Spec: 01 section 5.1. */

/** Maximum digits of the small form. */
#define SMALL_DIGITS_MAX 18

static const char error_form[] = "quantities must match the regular expression "
				 "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
static const char error_suffix[] = "unable to parse quantity's suffix";

struct suffix {
	enum bt_quantity_format format;
	int32_t exponent; /* power of ten; power of two if format is BT_QUANTITY_BINARY_SI */
};

/** Parts of a quantity's text. */
struct scan {
	bool negative;
	bool canonical_start; /* no "+", no leading zeros */
	const char *whole;    /* A of the spec: without leading zeros, may be empty */
	uint32_t whole_length;
	const char *fraction; /* B of the spec */
	uint32_t fraction_length;
	bool has_point;
	struct bt_str suffix;
};

/** Steps 1 to 6 of the spec; false: error E1. */
static bool scan_text(struct bt_str text, struct scan *out)
{
	static const char letters[] = "eEinumkKMGTP"; /* of suffixes */
	const char *position = text.data;
	const char *end = position + text.length;

	memset(out, 0, sizeof(*out));
	if (text.length == 0) {
		return false;
	}
	out->negative = *position == '-';
	out->canonical_start = *position != '+';
	if (*position == '+' || *position == '-') {
		position++;
	}
	while (position < end && *position == '0') {
		position++;
		out->canonical_start = false;
	}
	out->whole = position;
	position = bt_skip_digits(position, end);
	out->whole_length = (uint32_t)(position - out->whole);
	out->fraction = position;
	if (position < end && *position == '.') {
		out->has_point = true;
		out->fraction = ++position;
		position = bt_skip_digits(position, end);
		out->fraction_length = (uint32_t)(position - out->fraction);
	}
	const char *start = position;
	while (position < end && memchr(letters, *position, sizeof(letters) - 1) != NULL) {
		position++;
	}
	if (position < end && (*position == '+' || *position == '-')) {
		position++;
	}
	position = bt_skip_digits(position, end);
	out->suffix.data = start;
	out->suffix.length = (uint32_t)(position - start);
	return position == end;
}

/** Step 7 of the spec; false: error E3. */
static bool find_suffix(struct bt_str text, struct suffix *out)
{
	static const struct {
		char letter;
		int8_t exponent;
	} decimals[] = {{'n', -9}, {'u', -6}, {'m', -3}, {'k', 3}, {'M', 6}, {'G', 9}, {'T', 12},
		{'P', 15}, {'E', 18}};
	static const char letters[] = "KMGTPE"; /* of "Ki" to "Ei" */
	int64_t exponent;

	out->format = BT_QUANTITY_DECIMAL_SI;
	out->exponent = 0;
	if (text.length == 0) {
		return true;
	}
	for (size_t i = 0; text.length == 1 && i < BT_ARRAY_LENGTH(decimals); i++) {
		if (decimals[i].letter == text.data[0]) {
			out->exponent = decimals[i].exponent;
			return true;
		}
	}
	const char *binary = text.length == 2 && text.data[1] == 'i'
		? memchr(letters, text.data[0], sizeof(letters) - 1)
		: NULL;
	if (binary != NULL) {
		out->format = BT_QUANTITY_BINARY_SI;
		out->exponent = ((int32_t)(binary - letters) + 1) * 10;
		return true;
	}
	if (text.length >= 2 && (text.data[0] == 'e' || text.data[0] == 'E') &&
		bt_str_parse_int64(bt_str_sub(text, 1, text.length - 1), &exponent)) {
		out->format = BT_QUANTITY_DECIMAL_EXPONENT;
		out->exponent = (int32_t)(uint32_t)((uint64_t)exponent & UINT32_MAX);
		return true;
	}
	return false;
}

static uint64_t append_digits(uint64_t number, const char *digits, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		number = number * 10 + (uint64_t)(digits[i] - '0');
	}
	return number;
}

/** Creates the small form if the digits allow it, spec 01 section 5.1; else returns false. */
static bool make_small(
	const struct scan *scan, const struct suffix *suffix, struct bt_quantity *out)
{
	/* upstream's maximum numbers of digits: Ki 11, Mi 8, Gi 5, Ti 2 */
	static const uint8_t binary_digits_max[] = {0, 11, 8, 5, 2, 0, 0};
	/* an empty A counts as one digit */
	uint64_t digits = (scan->whole_length != 0 ? scan->whole_length : 1u) +
		(uint64_t)scan->fraction_length;
	uint64_t number;

	if (suffix->format == BT_QUANTITY_BINARY_SI) {
		if (scan->fraction_length != 0 ||
			digits > binary_digits_max[suffix->exponent / 10]) {
			return false;
		}
		number = append_digits(0, scan->whole, scan->whole_length) << suffix->exponent;
		out->exponent = 0;
	} else {
		int64_t exponent = (int64_t)suffix->exponent - (int64_t)scan->fraction_length;

		if (digits > SMALL_DIGITS_MAX || exponent < -9) {
			return false;
		}
		number = append_digits(0, scan->whole, scan->whole_length);
		number = append_digits(number, scan->fraction, scan->fraction_length);
		out->exponent = (int32_t)exponent;
	}
	out->mantissa = scan->negative ? -(int64_t)number : (int64_t)number;
	out->format = (uint8_t)suffix->format;
	return true;
}

/**
 * Text form rule 4: returns true if the quantity prints as its source text, and the source text
 * differs from the canonical text.
 */
static bool keeps_text(
	const struct scan *scan, const struct suffix *suffix, const struct bt_quantity *quantity)
{
	bool verbatim;

	if (suffix->format == BT_QUANTITY_BINARY_SI) {
		verbatim = (append_digits(0, scan->whole, scan->whole_length) & 7) != 0;
	} else {
		verbatim = quantity->exponent % 3 == 0 && scan->whole_length != 0 &&
			quantity->mantissa % 1000 != 0;
	}
	return verbatim &&
		(!scan->canonical_start || scan->has_point ||
			suffix->format == BT_QUANTITY_DECIMAL_EXPONENT);
}

/** Step 8 of the spec, for numbers beyond the small form. */
static int make_big(const struct scan *scan, const struct suffix *suffix, struct bt_arena *arena,
	struct bt_quantity *out, struct berth_error *err)
{
	struct bt_decimal decimal = {.negative = false, .scale = scan->fraction_length};
	struct bt_wide *magnitude = &decimal.magnitude;
	bool fits = true;

	if (arena == NULL ||
		(uint64_t)scan->whole_length + scan->fraction_length > BT_QUANTITY_DIGITS_MAX) {
		return bt_error_set(err, BERTH_ERR_TOO_LARGE, "quantity has too many digits");
	}
	bt_wide_set(magnitude, 0);
	for (uint32_t i = 0; i < scan->whole_length; i++) {
		fits = fits &&
			bt_wide_multiply_add(magnitude, 10, (uint32_t)(scan->whole[i] - '0'));
	}
	for (uint32_t i = 0; i < scan->fraction_length; i++) {
		fits = fits &&
			bt_wide_multiply_add(magnitude, 10, (uint32_t)(scan->fraction[i] - '0'));
	}
	if (suffix->format == BT_QUANTITY_BINARY_SI) {
		for (int32_t i = 0; i < suffix->exponent; i += 10) {
			fits = fits && bt_wide_multiply_add(magnitude, 1024, 0);
		}
	} else {
		decimal.scale -= suffix->exponent;
	}
	BT_ASSERT(fits); /* 400 digits times 2^60 need far fewer bits than a bt_wide has */
	if (bt_wide_is_zero(magnitude)) {
		*out = bt_quantity_make(0, 0, suffix->format);
		return 0;
	}
	if (decimal.scale > 9) {
		if (bt_wide_divide_power10(magnitude, (uint64_t)(decimal.scale - 9))) {
			fits = bt_wide_multiply_add(magnitude, 1, 1);
			BT_ASSERT(fits);
		}
		decimal.scale = 9;
	}
	out->format = (uint8_t)suffix->format;
	if (suffix->format == BT_QUANTITY_BINARY_SI) {
		static const struct bt_quantity one = {.mantissa = 1};
		static const struct bt_quantity largest = {.mantissa = INT64_MAX};
		struct bt_decimal limit;

		bt_decimal_load(&limit, &one);
		if (bt_decimal_compare(&decimal, &limit) < 0) {
			out->format = BT_QUANTITY_DECIMAL_SI;
		}
		bt_decimal_load(&limit, &largest);
		if (bt_decimal_compare(&decimal, &limit) > 0) {
			decimal = limit;
		}
	}
	decimal.negative = scan->negative;
	out->big = bt_decimal_store(&decimal, arena);
	return 0;
}

int bt_quantity_parse(struct bt_str text, struct bt_arena *arena, struct bt_quantity *out_quantity,
	struct berth_error *err)
{
	struct bt_quantity quantity = {.mantissa = 0};
	struct scan scan;
	struct suffix suffix;

	if (!scan_text(text, &scan)) {
		return bt_error_set(err, BERTH_ERR_INVALID, "%s", error_form);
	}
	if (!find_suffix(scan.suffix, &suffix)) {
		return bt_error_set(err, BERTH_ERR_INVALID, "%s", error_suffix);
	}
	if (make_small(&scan, &suffix, &quantity)) {
		if (quantity.mantissa == 0) {
			quantity.exponent = 0;
		} else if (keeps_text(&scan, &suffix, &quantity)) {
			quantity.text = text;
		}
	} else {
		int code = make_big(&scan, &suffix, arena, &quantity, err);

		if (code != 0) {
			return code;
		}
	}
	*out_quantity = quantity;
	return 0;
}

/**
 * Appends a whole number from 1024 on, with a power of 1024 as suffix. false: the number is not
 * whole or too low; nothing is appended.
 */
static bool format_binary(struct bt_decimal decimal, struct bt_strbuf *out)
{
	static const char *const suffixes[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
	struct bt_wide *number = &decimal.magnitude;
	char digits[BT_WIDE_DIGITS + 1];
	struct bt_wide limit;
	size_t power = 0;

	if (decimal.scale > 0 ? bt_wide_divide_power10(number, (uint64_t)decimal.scale)
			      : !bt_wide_multiply_power10(number, (uint64_t)-decimal.scale)) {
		return false;
	}
	bt_wide_set(&limit, 1024);
	if (bt_wide_compare(number, &limit) < 0) {
		return false;
	}
	while (power + 1 < BT_ARRAY_LENGTH(suffixes) && (number->limbs[0] & 1023) == 0 &&
		bt_wide_compare(number, &limit) >= 0) {
		(void)bt_wide_divide(number, 1024); /* no remainder */
		power++;
	}
	bt_strbuf_append_c(out, bt_wide_digits(number, digits));
	bt_strbuf_append_c(out, suffixes[power]);
	return true;
}

void bt_quantity_format(const struct bt_quantity *quantity, struct bt_strbuf *out)
{
	static const char si_suffixes[] = "num\0kMGTPE"; /* 10^-9 .. 10^18 in steps of three */
	char digits[BT_WIDE_DIGITS + 1];
	struct bt_decimal decimal;

	if (bt_quantity_is_zero(quantity)) {
		bt_strbuf_append_char(out, '0');
		return;
	}
	if (quantity->text.data != NULL) {
		bt_strbuf_append_str(out, quantity->text);
		return;
	}
	bt_decimal_load(&decimal, quantity);
	if (decimal.negative) {
		bt_strbuf_append_char(out, '-');
	}
	if (quantity->format == BT_QUANTITY_BINARY_SI && format_binary(decimal, out)) {
		return;
	}
	bt_decimal_normalise(&decimal);
	int64_t exponent = -decimal.scale;
	int64_t lower = ((exponent % 3) + 3) % 3;
	if (bt_wide_multiply_power10(&decimal.magnitude, (uint64_t)lower)) {
		exponent -= lower;
	}
	bt_strbuf_append_c(out, bt_wide_digits(&decimal.magnitude, digits));
	if (exponent == 0) {
		return;
	}
	if (quantity->format == BT_QUANTITY_DECIMAL_EXPONENT) {
		bt_strbuf_printf(out, "e%lld", (long long)exponent);
	} else if (exponent >= -9 && exponent <= 18) {
		bt_strbuf_append_char(out, si_suffixes[(exponent + 9) / 3]);
	}
	/* Upstream quirk, spec 01 section 5.1: an exponent without a suffix is not printed. */
}
