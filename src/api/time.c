/* SPDX-License-Identifier: Apache-2.0 */
#include "api/time.h"

#include "base/nanoseconds.h"
#include "codec/wire.h"

#include <string.h>

/* Zero time of the API, 0001-01-01T00:00:00Z. */
#define ZERO_SECONDS INT64_C(-62135596800)
#define SECONDS_PER_DAY INT64_C(86400)

int64_t bt_days_from_date(int64_t year, int64_t month, int64_t day)
{
	/* count years from March, so that the leap day is the last day */
	year -= month <= 2;
	int64_t era = (year >= 0 ? year : year - 399) / 400;
	int64_t year_of_era = year - era * 400;
	int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
	return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 +
		day_of_year - 719468;
}

void bt_date_from_days(int64_t days, int64_t *out_year, int *out_month, int *out_day)
{
	int64_t year_of_era;

	days += 719468;
	int64_t era = (days >= 0 ? days : days - 146096) / 146097;
	int64_t day_of_era = days - era * 146097;
	year_of_era =
		(day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
	int64_t day_of_year =
		day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
	int64_t month = (5 * day_of_year + 2) / 153;
	*out_day = (int)(day_of_year - (153 * month + 2) / 5 + 1);
	*out_month = (int)(month < 10 ? month + 3 : month - 9);
	*out_year = year_of_era + era * 400 + (*out_month <= 2);
}

static void advance(struct bt_str *text, uint32_t count)
{
	text->data += count;
	text->length -= count;
}

/** Parses exactly count digits as a number within [low, high]; advances *text. */
static bool take_number(struct bt_str *text, uint32_t count, int low, int high, int *out)
{
	int number = 0;

	if (text->length < count) {
		return false;
	}
	for (uint32_t i = 0; i < count; i++) {
		if (!bt_is_digit(text->data[i])) {
			return false;
		}
		number = number * 10 + (text->data[i] - '0');
	}
	advance(text, count);
	*out = number;
	return number >= low && number <= high;
}

static bool take_char(struct bt_str *text, char wanted)
{
	if (text->length == 0 || text->data[0] != wanted) {
		return false;
	}
	advance(text, 1);
	return true;
}

/**
 * Parses ".123", dropping digits beyond nanoseconds. Returns the number of digits, 0 if there is no
 * fraction.
 */
static uint32_t take_fraction(struct bt_str *text, int32_t *out_nanoseconds)
{
	uint32_t count = 0;
	int32_t nanoseconds = 0;

	if (text->length < 2 || (text->data[0] != '.' && text->data[0] != ',')) {
		return 0;
	}
	while (count + 1 < text->length && bt_is_digit(text->data[count + 1])) {
		if (count < 9) {
			nanoseconds = nanoseconds * 10 + (text->data[count + 1] - '0');
		}
		count++;
	}
	if (count == 0) {
		return 0;
	}
	for (uint32_t i = count; i < 9; i++) {
		nanoseconds *= 10;
	}
	advance(text, count + 1);
	*out_nanoseconds = nanoseconds;
	return count;
}

/** Parses "Z" or "+02:00" as seconds east of UTC. */
static bool take_offset(struct bt_str *text, int64_t *out_seconds)
{
	int hours;
	int minutes;

	*out_seconds = 0;
	if (take_char(text, 'Z')) {
		return true;
	}
	bool west = text->length != 0 && text->data[0] == '-';
	if (!take_char(text, west ? '-' : '+') || !take_number(text, 2, 0, 24, &hours) ||
		!take_char(text, ':') || !take_number(text, 2, 0, 60, &minutes)) {
		return false;
	}
	*out_seconds = (int64_t)(west ? -1 : 1) * (hours * 3600 + minutes * 60);
	return true;
}

/** fraction_digits: the required number of fraction digits; UINT32_MAX: any number. */
static bool parse(struct bt_str text, uint32_t fraction_digits, struct bt_time *out)
{
	struct bt_time time = {.nanoseconds = 0};
	int64_t offset;
	int year;
	int month;
	int day;
	int hour;
	int minute;
	int second;

	if (!take_number(&text, 4, 0, 9999, &year) || !take_char(&text, '-') ||
		!take_number(&text, 2, 1, 12, &month) || !take_char(&text, '-') ||
		!take_number(&text, 2, 1, bt_days_in_month(year, month), &day) ||
		!take_char(&text, 'T') || !take_number(&text, 2, 0, 23, &hour) ||
		!take_char(&text, ':') || !take_number(&text, 2, 0, 59, &minute) ||
		!take_char(&text, ':') || !take_number(&text, 2, 0, 59, &second)) {
		return false;
	}
	uint32_t digits = take_fraction(&text, &time.nanoseconds);
	if ((fraction_digits != UINT32_MAX && digits != fraction_digits) ||
		!take_offset(&text, &offset) || text.length != 0) {
		return false;
	}
	time.seconds = bt_days_from_date(year, month, day) * SECONDS_PER_DAY +
		(int64_t)hour * 3600 + minute * 60 + second - offset;
	time.set = time.seconds != ZERO_SECONDS || time.nanoseconds != 0;
	if (!time.set) {
		time.seconds = 0;
	}
	*out = time;
	return true;
}

static int parse_or_fail(
	struct bt_str text, uint32_t fraction_digits, struct bt_time *out, struct berth_error *err)
{
	return parse(text, fraction_digits, out)
		? 0
		: bt_error_set_quoted(err, BERTH_ERR_INVALID, "cannot parse ",
			  bt_str_sub(text, 0, 64), " as a time");
}

int bt_time_parse(struct bt_str text, struct bt_time *out_time, struct berth_error *err)
{
	return parse_or_fail(text, UINT32_MAX, out_time, err);
}

struct bt_time bt_time_or_zero(struct bt_str text)
{
	struct bt_time time = {0};

	(void)parse(text, UINT32_MAX, &time); /* an invalid text leaves the zero time */
	return time;
}

int bt_micro_time_parse(struct bt_str text, struct bt_time *out_time, struct berth_error *err)
{
	return parse_or_fail(text, 6, out_time, err);
}

static void put_two_digits(char *out, int value)
{
	out[0] = (char)('0' + value / 10);
	out[1] = (char)('0' + value % 10);
}

static void format_seconds(const struct bt_time *time, struct bt_strbuf *out)
{
	int64_t seconds = time->set ? time->seconds : ZERO_SECONDS;
	int64_t days = seconds / SECONDS_PER_DAY;
	int64_t rest = seconds % SECONDS_PER_DAY;
	int64_t year;
	int month;
	int day;

	if (rest < 0) {
		rest += SECONDS_PER_DAY;
		days--;
	}
	bt_date_from_days(days, &year, &month, &day);
	char text[] = "0000-00-00T00:00:00";
	uint32_t skipped = 0;
	if (year < 0 || year > 9999) {
		bt_strbuf_printf(out, "%04lld", (long long)year);
		skipped = 4;
	} else {
		put_two_digits(text, (int)year / 100);
		put_two_digits(text + 2, (int)year % 100);
	}
	put_two_digits(text + 5, month);
	put_two_digits(text + 8, day);
	put_two_digits(text + 11, (int)(rest / 3600));
	put_two_digits(text + 14, (int)(rest / 60 % 60));
	put_two_digits(text + 17, (int)(rest % 60));
	bt_strbuf_append(out, text + skipped, sizeof(text) - 1 - skipped);
}

void bt_time_format(const struct bt_time *time, struct bt_strbuf *out)
{
	format_seconds(time, out);
	bt_strbuf_append_char(out, 'Z');
}

void bt_micro_time_format(const struct bt_time *time, struct bt_strbuf *out)
{
	format_seconds(time, out);
	bt_strbuf_printf(out, ".%06dZ", (int)(time->nanoseconds / 1000));
}

static struct bt_str text_of(struct bt_arena *arena, int64_t time_ns,
	void (*format)(const struct bt_time *time, struct bt_strbuf *out))
{
	struct bt_time time = {.seconds = time_ns / BT_NS_PER_SECOND, .set = true};
	struct bt_strbuf buffer = {NULL, 0, 0};

	time.nanoseconds = (int32_t)(time_ns % BT_NS_PER_SECOND);
	if (time.nanoseconds < 0) {
		time.nanoseconds += (int32_t)BT_NS_PER_SECOND;
		time.seconds--;
	}
	format(&time, &buffer);
	return bt_arena_take_strbuf(arena, &buffer);
}

int64_t bt_time_ns(const struct bt_time *time)
{
	int64_t ns = bt_ns_of_seconds(time->seconds);
	return BT_ADD_OVERFLOW(ns, time->nanoseconds, &ns) ? INT64_MAX : ns;
}

struct bt_str bt_time_text(struct bt_arena *arena, int64_t time_ns)
{
	return text_of(arena, time_ns, bt_time_format);
}

struct bt_str bt_micro_time_text(struct bt_arena *arena, int64_t time_ns)
{
	return text_of(arena, time_ns, bt_micro_time_format);
}

int bt_time_compare(const struct bt_time *a, const struct bt_time *b)
{
	if (!a->set || !b->set) {
		return (int)a->set - (int)b->set;
	}
	if (a->seconds != b->seconds) {
		return a->seconds > b->seconds ? 1 : -1;
	}
	return BT_ORDER(a->nanoseconds, b->nanoseconds);
}

static int decode_json(const struct bt_scalar_type *type, struct bt_json_reader *reader,
	struct bt_arena *arena, void *out, struct berth_error *err)
{
	struct bt_str text;
	int code = bt_json_read_string(reader, arena, &text, NULL, err);

	return code != 0
		? code
		: parse_or_fail(text, type == &bt_micro_time_scalar ? 6 : UINT32_MAX, out, err);
}

/** 9999-12-31T23:59:59Z */
#define SECONDS_MAX INT64_C(253402300799)

/**
 * Decodes the message Time: field 1 is seconds, field 2 is nanos. An empty message is the zero
 * time. Drops what the type does not have in JSON: nanoseconds, or all fractions of seconds.
 */
static int decode_protobuf(const struct bt_scalar_type *type, struct bt_str bytes,
	struct bt_arena *arena BT_UNUSED, void *out, struct berth_error *err)
{
	struct bt_wire_fields fields;
	struct bt_time time = {.set = bytes.length != 0};
	int code = bt_wire_read_fields(bytes, &fields, err);

	if (code != 0) {
		return code;
	}
	time.seconds = (int64_t)fields.numbers[1];
	if (time.seconds < ZERO_SECONDS || time.seconds > SECONDS_MAX ||
		fields.numbers[2] > 999999999) {
		return bt_error_set(err, BERTH_ERR_INVALID, "time out of range");
	}
	if (time.seconds == ZERO_SECONDS) {
		time = (struct bt_time){.set = false};
	} else if (type == &bt_micro_time_scalar) {
		time.nanoseconds = (int32_t)(fields.numbers[2] / 1000 * 1000);
	}
	*(struct bt_time *)out = time;
	return 0;
}

static void encode_json(
	const struct bt_scalar_type *type, struct bt_json_writer *writer, const void *value)
{
	const struct bt_time *time = value;
	struct bt_strbuf text = {NULL, 0, 0};

	if (!time->set) {
		bt_json_write_null(writer);
		return;
	}
	if (type == &bt_micro_time_scalar) {
		bt_micro_time_format(time, &text);
	} else {
		bt_time_format(time, &text);
	}
	bt_json_write_str(writer, bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
}

static bool is_zero(const void *value)
{
	return !((const struct bt_time *)value)->set;
}

static bool equal(const void *a, const void *b)
{
	return bt_time_compare(a, b) == 0;
}

static uint64_t hash(uint64_t seed, const void *value)
{
	const struct bt_time *time = value;

	if (!time->set) {
		return bt_hash_u64(seed, 0);
	}
	return bt_hash_u64(bt_hash_u64(seed, (uint64_t)time->seconds), (uint64_t)time->nanoseconds);
}

const struct bt_scalar_type bt_time_scalar = {
	.name = "time",
	.size = (uint32_t)sizeof(struct bt_time),
	.decode_json = decode_json,
	.encode_json = encode_json,
	.decode_protobuf = decode_protobuf,
	.zero_is_null = true,
	.plain = true,
	.is_zero = is_zero,
	.equal = equal,
	.hash = hash,
};

const struct bt_scalar_type bt_micro_time_scalar = {
	.name = "microtime",
	.size = (uint32_t)sizeof(struct bt_time),
	.decode_json = decode_json,
	.encode_json = encode_json,
	.decode_protobuf = decode_protobuf,
	.zero_is_null = true,
	.plain = true,
	.is_zero = is_zero,
	.equal = equal,
	.hash = hash,
};
