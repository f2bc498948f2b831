/* SPDX-License-Identifier: Apache-2.0 */
#include "server/cron.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api/time.h"
#include "base/alloc.h"
#include "base/compiler.h"
#include "base/duration.h"
#include "base/nanoseconds.h"

#define MINUTE 60
#define HOUR 3600
#define DAY 86400
#define YEARS_MAX 5

struct field {
	int64_t low;
	int64_t high;
	const char *const *names; /* names of the values from `low` on; NULL: none */
	uint32_t name_count;
};

static const char *const month_names[] = {
	"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"};
static const char *const weekday_names[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};

static const struct field fields[] = {
	{0, 59, NULL, 0},
	{0, 23, NULL, 0},
	{1, 31, NULL, 0},
	{1, 12, month_names, 12},
	{0, 6, weekday_names, 7},
};

static bool parse_number(struct bt_str text, const struct field *field, int64_t *out)
{
	for (uint32_t i = 0; i < field->name_count; i++) {
		if (bt_str_equal_without_case(text, bt_str_from(field->names[i]))) {
			*out = field->low + i;
			return true;
		}
	}
	return text.length != 0 && text.data[0] >= '0' && text.data[0] <= '9' &&
		bt_str_parse_int64(text, out);
}

/** Parses "*", "5" or "1-5", each optionally with "/step". */
static bool parse_range(
	struct bt_str text, const struct field *field, uint64_t *bits, bool *out_star)
{
	struct bt_str step_text = text;
	struct bt_str range = bt_str_cut(&step_text, '/');
	struct bt_str end_text = range;
	struct bt_str start_text = bt_str_cut(&end_text, '-');
	int64_t step = 1;
	int64_t first = field->low;
	int64_t last = field->high;

	if (bt_str_equal_c(range, "*") || bt_str_equal_c(range, "?")) {
		*out_star = *out_star || step_text.data == NULL;
	} else if (!parse_number(start_text, field, &first)) {
		return false;
	} else if (end_text.data != NULL) {
		if (!parse_number(end_text, field, &last)) {
			return false;
		}
	} else if (step_text.data == NULL) {
		last = first;
	}
	if (step_text.data != NULL && (!bt_str_parse_int64(step_text, &step) || step < 1)) {
		return false;
	}
	if (first < field->low || last > field->high || first > last) {
		return false;
	}
	step = step <= field->high ? step : field->high + 1;
	for (int64_t i = first; i <= last; i += step) {
		*bits |= UINT64_C(1) << i;
	}
	return true;
}

bool bt_cron_parse(struct bt_str text, struct bt_cron *out_cron)
{
	static const struct {
		const char *name;
		const char *meaning;
	} macros[] = {
		{"@yearly", "0 0 1 1 *"},
		{"@annually", "0 0 1 1 *"},
		{"@monthly", "0 0 1 * *"},
		{"@weekly", "0 0 * * 0"},
		{"@daily", "0 0 * * *"},
		{"@midnight", "0 0 * * *"},
		{"@hourly", "0 * * * *"},
	};
	struct bt_cron cron = {.every_seconds = 0};
	uint64_t bits[BT_ARRAY_LENGTH(fields)] = {0};
	bool stars[BT_ARRAY_LENGTH(fields)] = {false};
	size_t count = 0;

	if (bt_str_has_prefix(text, BT_STR("@every "))) {
		int64_t every_ns;
		if (bt_duration_parse(bt_str_sub(text, 7, text.length), &every_ns, NULL) != 0 ||
			every_ns <= 0) {
			return false;
		}
		/* Parts of a second do not count. */
		cron.every_seconds = BT_MAX(every_ns / BT_NS_PER_SECOND, 1);
		*out_cron = cron;
		return true;
	}
	for (size_t i = 0; i < BT_ARRAY_LENGTH(macros); i++) {
		if (bt_str_equal_c(text, macros[i].name)) {
			text = bt_str_from(macros[i].meaning);
		}
	}
	while (text.data != NULL) {
		struct bt_str word = bt_str_cut(&text, ' ');
		if (word.length == 0) {
			continue;
		}
		if (count == BT_ARRAY_LENGTH(fields)) {
			return false;
		}
		do {
			if (!parse_range(bt_str_cut(&word, ','), &fields[count], &bits[count],
				    &stars[count])) {
				return false;
			}
		} while (word.data != NULL);
		count++;
	}
	if (count != BT_ARRAY_LENGTH(fields)) {
		return false;
	}
	cron.minutes = bits[0];
	cron.hours = (uint32_t)bits[1];
	cron.days = (uint32_t)bits[2];
	cron.months = (uint16_t)bits[3];
	cron.weekdays = (uint8_t)bits[4];
	cron.any_day = stars[2];
	cron.any_weekday = stars[4];
	*out_cron = cron;
	return true;
}

/* --- zones --- */

#define ZONE_FOLDER "/usr/share/zoneinfo/"
#define ZONE_BYTES_MAX 65536
#define ZONE_HEADER_BYTES 44
#define ZONE_TYPE_BYTES 6

static int64_t big_endian(const unsigned char *bytes, uint32_t count)
{
	uint64_t value = bytes[0] >= 128 ? UINT64_MAX : 0;

	for (uint32_t i = 0; i < count; i++) {
		value = value << 8 | bytes[i];
	}
	return (int64_t)value;
}

/**
 * Parses a time zone file (RFC 9636). Skips the first header and block, which have 32-bit times,
 * and reads the second header and block, which have 64-bit times. Returns false if the file is
 * malformed.
 */
static bool parse_zone(const unsigned char *bytes, size_t length, struct bt_cron_zone *out_zone)
{
	size_t at = 0;
	/* isutcnt, isstdcnt, leapcnt, timecnt, typecnt, charcnt */
	uint64_t counts[6];
	struct bt_cron_zone zone = {0};

	for (int version = 1; version <= 2; version++) {
		uint32_t time_bytes = version == 1 ? 4 : 8;

		if (length - at < ZONE_HEADER_BYTES || memcmp(bytes + at, "TZif", 4) != 0) {
			return false;
		}
		for (uint32_t i = 0; i < 6; i++) {
			int64_t count = big_endian(bytes + at + 20 + (size_t)4 * i, 4);
			if (count < 0 || count > ZONE_BYTES_MAX) {
				return false;
			}
			counts[i] = (uint64_t)count;
		}
		at += ZONE_HEADER_BYTES;
		uint64_t block = counts[3] * (time_bytes + 1) + counts[4] * ZONE_TYPE_BYTES +
			counts[5] + counts[2] * (time_bytes + 4) + counts[1] + counts[0];
		if (block > length - at) {
			return false;
		}
		at += version == 1 ? block : 0;
	}
	const unsigned char *indexes = bytes + at + counts[3] * 8;
	const unsigned char *types = indexes + counts[3];

	if (counts[4] == 0) {
		return false;
	}
	for (uint64_t i = 0; i < counts[3]; i++) {
		if (indexes[i] >= counts[4]) {
			return false;
		}
	}
	zone.first = (int32_t)big_endian(types, 4);
	zone.count = (uint32_t)counts[3];
	zone.from = BT_NEW_ARRAY(int64_t, zone.count);
	zone.offsets = BT_NEW_ARRAY(int32_t, zone.count);
	for (uint32_t i = 0; i < zone.count; i++) {
		zone.from[i] = big_endian(bytes + at + (size_t)8 * i, 8);
		zone.offsets[i] =
			(int32_t)big_endian(types + (size_t)indexes[i] * ZONE_TYPE_BYTES, 4);
	}
	*out_zone = zone;
	return true;
}

bool bt_cron_zone_read(struct bt_str name, struct bt_cron_zone *out_zone)
{
	struct bt_strbuf path = {0};
	size_t length = 0;

	/* Names come from users and must not point outside of the directory. */
	for (uint32_t i = 0; i < name.length; i++) {
		char letter = name.data[i];
		bool allowed = (letter >= 'A' && letter <= 'Z') ||
			(letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') ||
			letter == '_' || letter == '-' || letter == '+' ||
			(letter == '/' && i != 0);
		if (!allowed) {
			return false;
		}
	}
	if (name.length == 0 || name.length > 100) {
		return false;
	}
	if (bt_str_equal_c(name, "UTC")) {
		*out_zone = (struct bt_cron_zone){0};
		return true;
	}
	bt_strbuf_printf(&path, ZONE_FOLDER "%.*s", BT_STR_ARG(name));
	FILE *file = fopen(bt_strbuf_c(&path), "rbe");
	bt_strbuf_finish(&path);
	if (file == NULL) {
		return false;
	}
	unsigned char *bytes = BT_NEW_ARRAY(unsigned char, ZONE_BYTES_MAX);
	length = fread(bytes, 1, ZONE_BYTES_MAX, file);
	bool is_read = ferror(file) == 0 && parse_zone(bytes, length, out_zone);
	(void)fclose(file);
	bt_free(bytes);
	return is_read;
}

bool bt_cron_zone_exists(struct bt_str name)
{
	struct bt_cron_zone zone;

	if (bt_cron_zone_read(name, &zone)) {
		bt_cron_zone_finish(&zone);
		return true;
	}
	return access(ZONE_FOLDER, R_OK) != 0;
}

void bt_cron_zone_finish(struct bt_cron_zone *zone)
{
	bt_free(zone->from);
	bt_free(zone->offsets);
	*zone = (struct bt_cron_zone){0};
}

static int64_t offset_at(const struct bt_cron_zone *zone, int64_t time)
{
	int32_t offset = zone->first;

	for (uint32_t i = 0; i < zone->count && zone->from[i] <= time; i++) {
		offset = zone->offsets[i];
	}
	return offset;
}

struct bt_str bt_cron_time_text(
	struct bt_arena *arena, const struct bt_cron_zone *zone, int64_t seconds)
{
	int64_t offset = offset_at(zone, seconds);
	struct bt_str text = bt_time_text(arena, bt_ns_of_seconds(seconds + offset));
	int64_t minutes = (offset < 0 ? -offset : offset) / MINUTE;

	return offset == 0 ? text
			   : bt_arena_printf(arena, "%.*s%c%02" PRId64 ":%02" PRId64,
				     BT_STR_ARG(bt_str_sub(text, 0, text.length - 1)),
				     offset < 0 ? '-' : '+', minutes / 60, minutes % 60);
}

/* --- times --- */

static int64_t next_local(const struct bt_cron *cron, int64_t after)
{
	int64_t time = (after / MINUTE + 1) * MINUTE;
	int64_t day = time / DAY * DAY;

	for (int i = 0; i < YEARS_MAX * 366; i++, day += DAY, time = day) {
		/* Take month and day from the text "2006-01-02" of the date. */
		struct bt_time date = {.seconds = day, .set = true};
		struct bt_strbuf text = {0};
		int64_t month = 1;
		int64_t day_of_month = 1;
		bt_time_format(&date, &text);
		(void)bt_str_parse_int64(bt_str_sub(bt_strbuf_str(&text), 5, 2), &month);
		(void)bt_str_parse_int64(bt_str_sub(bt_strbuf_str(&text), 8, 2), &day_of_month);
		bt_strbuf_finish(&text);
		/* 1970-01-01 was a Thursday. */
		bool weekday_fits = (cron->weekdays >> ((day / DAY + 4) % 7) & 1) != 0;
		bool day_fits = (cron->days >> day_of_month & 1) != 0;
		if ((cron->months >> month & 1) == 0 ||
			!(cron->any_day || cron->any_weekday ? day_fits && weekday_fits
							     : day_fits || weekday_fits)) {
			continue;
		}
		for (; time < day + DAY; time += MINUTE) {
			int64_t hour = (time - day) / HOUR;
			int64_t minute = (time - day) % HOUR / MINUTE;
			if ((cron->hours >> hour & 1) != 0 && (cron->minutes >> minute & 1) != 0) {
				return time;
			}
		}
	}
	return 0;
}

int64_t bt_cron_next(const struct bt_cron *cron, const struct bt_cron_zone *zone, int64_t after)
{
	int64_t before;
	int64_t offset;
	int64_t time;

	if (cron->every_seconds != 0) {
		return after + cron->every_seconds;
	}
	int64_t local = after + offset_at(zone, after);
	do {
		local = next_local(cron, local);
		if (local == 0) {
			return 0;
		}
		/*
		 * Uses the offset in force at the local time. A local time that occurs twice counts
		 * once; a local time that the clock skips gets the offset before the change.
		 */
		before = offset_at(zone, after);
		offset = offset_at(zone, local - before);
		time = local - (offset_at(zone, local - offset) == offset ? offset : before);
	} while (time <= after);
	return time;
}

int64_t bt_cron_last(
	const struct bt_cron *cron, const struct bt_cron_zone *zone, int64_t from, int64_t until)
{
	int64_t best = 0;

	if (cron->every_seconds != 0) {
		int64_t count = (until - from) / cron->every_seconds;
		return count > 0 ? from + count * cron->every_seconds : 0;
	}
	/*
	 * Searches backwards in growing windows, so that a long interval does not cost a walk
	 * through each of its minutes.
	 */
	for (int64_t window = HOUR; best == 0; window *= 24) {
		bool whole = until - window <= from;
		int64_t time = bt_cron_next(cron, zone, whole ? from : until - window);
		while (time != 0 && time <= until) {
			best = time;
			time = bt_cron_next(cron, zone, time);
		}
		if (whole) {
			break;
		}
	}
	return best;
}
