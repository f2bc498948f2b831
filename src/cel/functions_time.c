/* SPDX-License-Identifier: Apache-2.0 */
#include "api/time.h"

#include "base/nanoseconds.h"
#include "cel/function.h"
#include "cel/text.h"

/*
 * Parts of timestamps and durations. Spec: 12b section 9.1.
 *
 * Time zones are UTC or fixed offsets ("+05:30", "-08:00"). Named zones are an error, because they
 * need a database in files: a pure function would read files, and the results would differ between
 * machines. No device attribute is a timestamp, so selectors could use named zones only with
 * constants.
 */

#define SECONDS_PER_DAY INT64_C(86400)
/** The range of timestamps: 0001-01-01T00:00:00Z to 9999-12-31T23:59:59Z. */
#define SECONDS_MIN INT64_C(-62135596800)
#define SECONDS_MAX INT64_C(253402300799)

void bt_cel_timestamp_print(const struct bt_cel_timestamp *timestamp, struct bt_strbuf *out)
{
	struct bt_time time = {timestamp->seconds, timestamp->nanoseconds, true};
	size_t start = out->length;
	int digits = 9;
	int32_t fraction = timestamp->nanoseconds;

	bt_time_format(&time, out);
	if (fraction == 0 || out->length == start) {
		return;
	}
	for (; fraction % 10 == 0; digits--) {
		fraction /= 10;
	}
	out->length--; /* drop the Z */
	bt_strbuf_printf(out, ".%0*dZ", digits, (int)fraction);
}

struct bt_cel_value bt_cel_timestamp(int64_t seconds, int32_t nanoseconds)
{
	struct bt_cel_value result = {
		.kind = BT_CEL_TIMESTAMP, .timestamp = {seconds, nanoseconds}};

	return seconds < SECONDS_MIN || seconds > SECONDS_MAX
		? bt_cel_error(BT_STR("timestamp overflow"))
		: result;
}

static bool take_digits(struct bt_str *text, uint32_t max, int64_t *out)
{
	uint32_t length = 0;

	while (length < text->length && length < max && text->data[length] >= '0' &&
		text->data[length] <= '9') {
		length++;
	}
	if (length == 0 || !bt_str_parse_int64(bt_str_sub(*text, 0, length), out)) {
		return false;
	}
	*text = bt_str_sub(*text, length, text->length);
	return true;
}

/** Parses "", "UTC" or an offset such as "+05:30" as seconds east of UTC; false: other texts. */
static bool parse_zone(struct bt_str zone, int64_t *out_seconds)
{
	struct bt_str rest = zone;
	bool is_west = zone.length != 0 && zone.data[0] == '-';
	int64_t hours;
	int64_t minutes;

	if (zone.length == 0 || bt_str_equal(zone, BT_STR("UTC"))) {
		*out_seconds = 0;
		return true;
	}
	if (is_west || zone.data[0] == '+') {
		rest = bt_str_sub(rest, 1, rest.length);
	}
	if (!take_digits(&rest, 2, &hours) || rest.length == 0 || rest.data[0] != ':') {
		return false;
	}
	rest = bt_str_sub(rest, 1, rest.length);
	if (!take_digits(&rest, 2, &minutes) || rest.length != 0) {
		return false;
	}
	*out_seconds = (hours * 60 + minutes) * (is_west ? -60 : 60);
	return true;
}

struct bt_cel_value bt_cel_fn_time_part(const struct bt_cel_call *call)
{
	enum bt_cel_variant part = call->overload->variant;
	const struct bt_cel_timestamp *timestamp = &call->arguments[0].timestamp;
	int64_t duration_ns = call->arguments[0].integer;
	int64_t offset = 0;
	int64_t days; /* since 1970-01-01 */
	int64_t year;
	int month; /* from 1 */
	int day;   /* from 1 */

	if (call->arguments[0].kind == BT_CEL_DURATION) {
		/*
		 * Hours, minutes and seconds: the whole duration in this unit. Milliseconds: only
		 * the part below a second.
		 */
		return bt_cel_int(part == BT_CEL_VARIANT_HOURS
				? duration_ns / (BT_NS_PER_SECOND * 3600)
				: part == BT_CEL_VARIANT_MINUTES
				? duration_ns / (BT_NS_PER_SECOND * 60)
				: part == BT_CEL_VARIANT_SECONDS
				? duration_ns / BT_NS_PER_SECOND
				: duration_ns / BT_NS_PER_MS % 1000);
	}
	if (call->count > 1 && !parse_zone(call->arguments[1].text, &offset)) {
		return bt_cel_fail_with(call->evaluation, BT_STR("unknown time zone "),
			&call->arguments[1], BT_STR(""));
	}
	int64_t seconds = timestamp->seconds + offset;
	days = seconds / SECONDS_PER_DAY - (seconds % SECONDS_PER_DAY < 0);
	int64_t second_of_day = seconds - days * SECONDS_PER_DAY;
	bt_date_from_days(days, &year, &month, &day);
	switch ((int)part) {
	case BT_CEL_VARIANT_FULL_YEAR:
		return bt_cel_int(year);
	case BT_CEL_VARIANT_MONTH:
		return bt_cel_int(month - 1);
	case BT_CEL_VARIANT_DATE:
		return bt_cel_int(day);
	case BT_CEL_VARIANT_DAY_OF_MONTH:
		return bt_cel_int(day - 1);
	case BT_CEL_VARIANT_DAY_OF_WEEK:
		/* 1970-01-01 was a Thursday. */
		return bt_cel_int(((days + 4) % 7 + 7) % 7);
	case BT_CEL_VARIANT_DAY_OF_YEAR:
		return bt_cel_int(days - bt_days_from_date(year, 1, 1));
	case BT_CEL_VARIANT_HOURS:
		return bt_cel_int(second_of_day / 3600);
	case BT_CEL_VARIANT_MINUTES:
		return bt_cel_int(second_of_day / 60 % 60);
	case BT_CEL_VARIANT_SECONDS:
		return bt_cel_int(second_of_day % 60);
	default:
		return bt_cel_int(timestamp->nanoseconds / (int32_t)BT_NS_PER_MS);
	}
}
