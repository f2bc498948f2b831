/* SPDX-License-Identifier: Apache-2.0 */
#include "base/duration.h"

#include <stdbool.h>

#define DURATION_LIMIT (UINT64_C(1) << 63)

static const struct {
	struct bt_str name;
	uint64_t ns;
} units[] = {
	{BT_STR_INIT("ns"), 1},
	{BT_STR_INIT("us"), 1000},
	{BT_STR_INIT("\xC2\xB5s"), 1000}, /* micro sign */
	{BT_STR_INIT("\xCE\xBCs"), 1000}, /* Greek mu */
	{BT_STR_INIT("ms"), 1000000},
	{BT_STR_INIT("s"), 1000000000},
	{BT_STR_INIT("m"), UINT64_C(60000000000)},
	{BT_STR_INIT("h"), UINT64_C(3600000000000)},
};

/*
 * Go's time package quotes differently from %q: bytes below 0x20 and bytes from 0x80 on become
 * \xNN, and only " and \ get a backslash.
 */
static void quote(struct bt_str text, struct bt_strbuf *out)
{
	bt_strbuf_append_char(out, '"');
	for (uint32_t i = 0; i < text.length; i++) {
		unsigned char byte = (unsigned char)text.data[i];
		if (byte < ' ' || byte >= 0x80) {
			bt_strbuf_printf(out, "\\x%02x", byte);
		} else {
			if (byte == '"' || byte == '\\') {
				bt_strbuf_append_char(out, '\\');
			}
			bt_strbuf_append_char(out, (char)byte);
		}
	}
	bt_strbuf_append_char(out, '"');
}

/* what: "invalid", "missing unit in", or NULL for an unknown unit. */
static int set_duration_error(
	const char *what, struct bt_str unit, struct bt_str text, struct berth_error *err)
{
	struct bt_strbuf message = {0};
	if (what != NULL) {
		bt_strbuf_printf(&message, "time: %s duration ", what);
	} else {
		bt_strbuf_append_c(&message, "time: unknown unit ");
		quote(unit, &message);
		bt_strbuf_append_c(&message, " in duration ");
	}
	quote(text, &message);
	return bt_error_take(err, BERTH_ERR_INVALID, &message);
}

static void advance(struct bt_str *rest, uint32_t count)
{
	rest->data += count;
	rest->length -= count;
}

/* false on overflow */
static bool leading_integer(struct bt_str *rest, uint64_t *out_value)
{
	uint64_t value = 0;
	while (rest->length > 0 && bt_is_digit(rest->data[0])) {
		if (value > DURATION_LIMIT / 10) {
			return false;
		}
		value = value * 10 + (uint64_t)(rest->data[0] - '0');
		if (value > DURATION_LIMIT) {
			return false;
		}
		advance(rest, 1);
	}
	*out_value = value;
	return true;
}

/*
 * Reads the digits after a decimal point; the fraction is the result / *out_scale. Digits that do
 * not fit are dropped, because their value is below a nanosecond.
 */
static uint64_t leading_fraction(struct bt_str *rest, double *out_scale)
{
	uint64_t value = 0;
	bool full = false;
	double scale = 1;
	while (rest->length > 0 && bt_is_digit(rest->data[0])) {
		uint64_t digit = (uint64_t)(rest->data[0] - '0');
		advance(rest, 1);
		if (full || value > (DURATION_LIMIT - 1) / 10 ||
			value * 10 + digit > DURATION_LIMIT) {
			full = true;
			continue;
		}
		value = value * 10 + digit;
		scale *= 10;
	}
	*out_scale = scale;
	return value;
}

/* Parses one "<decimal><unit>". */
static int parse_part(
	struct bt_str *rest, struct bt_str text, uint64_t *out_ns, struct berth_error *err)
{
	uint32_t before = rest->length;
	uint64_t value;
	uint64_t fraction = 0;
	double scale = 1;
	uint32_t unit_length = 0;

	if (rest->data[0] != '.' && !bt_is_digit(rest->data[0])) {
		return set_duration_error("invalid", (struct bt_str){NULL, 0}, text, err);
	}
	if (!leading_integer(rest, &value)) {
		return set_duration_error("invalid", (struct bt_str){NULL, 0}, text, err);
	}
	bool digits = rest->length != before;
	if (rest->length > 0 && rest->data[0] == '.') {
		advance(rest, 1);
		before = rest->length;
		fraction = leading_fraction(rest, &scale);
		digits = digits || rest->length != before;
	}
	if (!digits) {
		return set_duration_error("invalid", (struct bt_str){NULL, 0}, text, err);
	}
	while (unit_length < rest->length && rest->data[unit_length] != '.' &&
		!bt_is_digit(rest->data[unit_length])) {
		unit_length++;
	}
	struct bt_str unit = bt_str_sub(*rest, 0, unit_length);
	if (unit_length == 0) {
		return set_duration_error("missing unit in", unit, text, err);
	}
	advance(rest, unit_length);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(units); i++) {
		if (!bt_str_equal(units[i].name, unit)) {
			continue;
		}
		if (value > DURATION_LIMIT / units[i].ns) {
			return set_duration_error("invalid", unit, text, err);
		}
		value *= units[i].ns;
		if (fraction > 0) {
			value += (uint64_t)((double)fraction * ((double)units[i].ns / scale));
			if (value > DURATION_LIMIT) {
				return set_duration_error("invalid", unit, text, err);
			}
		}
		*out_ns = value;
		return 0;
	}
	return set_duration_error(NULL, unit, text, err);
}

int bt_duration_parse(struct bt_str text, int64_t *out_ns, struct berth_error *err)
{
	const struct bt_str none = {NULL, 0};
	struct bt_str rest = text;
	uint64_t total = 0;
	bool negative = false;

	if (text.length > 0 && (text.data[0] == '-' || text.data[0] == '+')) {
		negative = text.data[0] == '-';
		advance(&rest, 1);
	}
	if (bt_str_equal(rest, BT_STR("0"))) {
		*out_ns = 0;
		return 0;
	}
	if (rest.length == 0) {
		return set_duration_error("invalid", none, text, err);
	}
	while (rest.length > 0) {
		uint64_t part = 0;
		int code = parse_part(&rest, text, &part, err);
		if (code != 0) {
			return code;
		}
		total += part; /* both at most 2^63: no wrap */
		if (total > DURATION_LIMIT || (total == DURATION_LIMIT && rest.length > 0)) {
			return set_duration_error("invalid", none, text, err);
		}
	}
	if (negative) {
		*out_ns = total == DURATION_LIMIT ? INT64_MIN : -(int64_t)total;
		return 0;
	}
	if (total > DURATION_LIMIT - 1) {
		return set_duration_error("invalid", none, text, err);
	}
	*out_ns = (int64_t)total;
	return 0;
}

/* Appends value / 10^digits without trailing zeros. */
static void append_decimal(uint64_t value, unsigned int digits, struct bt_strbuf *out)
{
	uint64_t power = 1;
	for (unsigned int i = 0; i < digits; i++) {
		power *= 10;
	}
	bt_strbuf_printf(out, "%llu", (unsigned long long)(value / power));
	uint64_t fraction = value % power;
	if (fraction == 0) {
		return;
	}
	while (fraction % 10 == 0) {
		fraction /= 10;
		digits--;
	}
	bt_strbuf_printf(out, ".%0*llu", (int)digits, (unsigned long long)fraction);
}

void bt_duration_format(int64_t duration_ns, struct bt_strbuf *out)
{
	uint64_t value = duration_ns < 0 ? -(uint64_t)duration_ns : (uint64_t)duration_ns;

	if (duration_ns < 0) {
		bt_strbuf_append_char(out, '-');
	}
	if (value == 0) {
		bt_strbuf_append_c(out, "0s");
		return;
	}
	if (value < 1000) {
		bt_strbuf_printf(out, "%lluns", (unsigned long long)value);
		return;
	}
	if (value < 1000000) {
		append_decimal(value, 3, out);
		bt_strbuf_append_c(out, "\xC2\xB5s");
		return;
	}
	if (value < (uint64_t)BT_NS_PER_SECOND) {
		append_decimal(value, 6, out);
		bt_strbuf_append_c(out, "ms");
		return;
	}
	uint64_t minutes = value / ((uint64_t)BT_NS_PER_SECOND * 60);
	if (minutes >= 60) {
		bt_strbuf_printf(out, "%lluh", (unsigned long long)(minutes / 60));
	}
	if (minutes > 0) {
		bt_strbuf_printf(out, "%llum", (unsigned long long)(minutes % 60));
	}
	append_decimal(value % ((uint64_t)BT_NS_PER_SECOND * 60), 9, out);
	bt_strbuf_append_char(out, 's');
}
