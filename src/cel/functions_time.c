/* SPDX-License-Identifier: Apache-2.0 */
#include "api/time.h"

#include "base/nanoseconds.h"
#include "cel/function.h"
#include "cel/text.h"

/*
 * Parts of timestamps and durations. Spec: 12b section 9.1.
 *
 * Time zones are fixed offsets ("+05:30", "-08:00") and UTC. Named ones would need a database of
 * files, hence I/O in a pure function whose result then differs between machines; they are an
 * error. No attribute of a device is a timestamp, so that only constants could have one.
 */

#define SECONDS_PER_DAY INT64_C(86400)

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
	out->length--; /* Z */
	bt_strbuf_printf(out, ".%0*dZ", digits, (int)fraction);
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

/** "+05:30" and UTC as seconds east; false: neither. */
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

/** A timestamp in its time zone. */
struct local {
	int64_t days; /* since 1970-01-01 */
	int64_t second_of_day;
	int32_t nanoseconds;
	int64_t year;
	int month; /* from 1 */
	int day;   /* from 1 */
};

enum part {
	PART_YEAR,
	PART_MONTH,
	PART_DATE,
	PART_DAY_OF_MONTH,
	PART_DAY_OF_WEEK,
	PART_DAY_OF_YEAR,
	PART_HOURS,
	PART_MINUTES,
	PART_SECONDS,
	PART_MILLISECONDS,
};

static int64_t part_of_local(const struct local *local, enum part part)
{
	switch (part) {
	case PART_YEAR:
		return local->year;
	case PART_MONTH:
		return local->month - 1;
	case PART_DATE:
		return local->day;
	case PART_DAY_OF_MONTH:
		return local->day - 1;
	case PART_DAY_OF_WEEK:
		/* 1970-01-01 was a Thursday. */
		return ((local->days + 4) % 7 + 7) % 7;
	case PART_DAY_OF_YEAR:
		return local->days - bt_days_from_date(local->year, 1, 1);
	case PART_HOURS:
		return local->second_of_day / 3600;
	case PART_MINUTES:
		return local->second_of_day / 60 % 60;
	case PART_SECONDS:
		return local->second_of_day % 60;
	case PART_MILLISECONDS:
		return local->nanoseconds / (int32_t)BT_NS_PER_MS;
	}
	return 0;
}

/** All of it in a unit; milliseconds: what is left beside whole seconds. */
static int64_t part_of_duration(int64_t duration_ns, enum part part)
{
	switch ((int)part) {
	case PART_HOURS:
		return duration_ns / (BT_NS_PER_SECOND * 3600);
	case PART_MINUTES:
		return duration_ns / (BT_NS_PER_SECOND * 60);
	case PART_SECONDS:
		return duration_ns / BT_NS_PER_SECOND;
	default:
		return duration_ns / BT_NS_PER_MS % 1000;
	}
}

static struct bt_cel_value get(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count, enum part part)
{
	int64_t offset = 0;
	struct local local;

	if (!bt_cel_charge(evaluation, 1)) {
		return evaluation->stop;
	}
	if (arguments[0].kind == BT_CEL_DURATION) {
		return bt_cel_int(part_of_duration(arguments[0].integer, part));
	}
	if (count > 1 && !parse_zone(arguments[1].text, &offset)) {
		return bt_cel_fail_text(evaluation, "unknown time zone ", arguments[1].text, "");
	}
	const struct bt_cel_timestamp *timestamp = &arguments[0].timestamp;
	int64_t seconds = timestamp->seconds + offset;

	local.days = seconds / SECONDS_PER_DAY - (seconds % SECONDS_PER_DAY < 0);
	local.second_of_day = seconds - local.days * SECONDS_PER_DAY;
	local.nanoseconds = timestamp->nanoseconds;
	bt_date_from_days(local.days, &local.year, &local.month, &local.day);
	return bt_cel_int(part_of_local(&local, part));
}

#define GETTER(name, part) \
	struct bt_cel_value bt_cel_fn_##name(struct bt_cel_evaluation *evaluation, \
		const struct bt_cel_value *arguments, uint32_t count, \
		struct bt_cel_regex *regex BT_UNUSED) \
	{ \
		return get(evaluation, arguments, count, part); \
	}

GETTER(get_full_year, PART_YEAR)
GETTER(get_month, PART_MONTH)
GETTER(get_date, PART_DATE)
GETTER(get_day_of_month, PART_DAY_OF_MONTH)
GETTER(get_day_of_week, PART_DAY_OF_WEEK)
GETTER(get_day_of_year, PART_DAY_OF_YEAR)
GETTER(get_hours, PART_HOURS)
GETTER(get_minutes, PART_MINUTES)
GETTER(get_seconds, PART_SECONDS)
GETTER(get_milliseconds, PART_MILLISECONDS)
