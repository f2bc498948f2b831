/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_CRON_H
#define BT_SERVER_CRON_H
/**
 * Schedules of CronJobs: five fields (minute, hour, day of month, month, day of week) with lists,
 * ranges, steps and names, a macro such as @hourly, or "@every 1h30m". Times are UTC, or in a zone
 * of the machine's time zone database.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

struct bt_cron {
	uint64_t minutes; /* bit 0 to 59 */
	/** bit 0 to 23 */
	uint32_t hours;
	uint32_t days;    /* bit 1 to 31 */
	uint16_t months;  /* bit 1 to 12 */
	uint8_t weekdays; /* bit 0 (Sunday) to 6 */
	/**
	 * Set if the field for the day of month (any_day) or day of week (any_weekday) contains "*"
	 * or "?" without a step. If any_day or any_weekday is set, a date must match both fields;
	 * otherwise it must match at least one field.
	 */
	bool any_day;
	bool any_weekday;
	int64_t every_seconds; /* interval of "@every"; 0: the fields above apply */
};

/**
 * The offsets of a time zone, in seconds to add to UTC: offsets[i] is valid from time from[i] until
 * from[i + 1]. All-zero memory is UTC.
 */
struct bt_cron_zone {
	uint32_t count;
	int64_t *from;    /* seconds since 1970, ascending; owned */
	int32_t *offsets; /* owned */
	int32_t first;    /* offset before from[0] */
};

/**
 * Reads a zone by its name, such as "Europe/Berlin". false: there is no zone of that name, or its
 * file is not readable; out_zone is not set then. The caller calls bt_cron_zone_finish.
 */
bool bt_cron_zone_read(struct bt_str name, struct bt_cron_zone *out_zone);
/**
 * Returns whether a zone of that name exists. Also true if the machine has no time zone database,
 * because no name can be checked then.
 */
bool bt_cron_zone_exists(struct bt_str name);
void bt_cron_zone_finish(struct bt_cron_zone *zone);
/** Formats a time as RFC 3339 in the zone: "2026-11-21T09:00:00+09:00"; offset 0 is "Z". */
struct bt_str bt_cron_time_text(
	struct bt_arena *arena, const struct bt_cron_zone *zone, int64_t seconds);

/** Parses a schedule; false: the text is malformed. */
bool bt_cron_parse(struct bt_str text, struct bt_cron *out_cron);
/**
 * Returns the first time after `after` that the schedule matches, or `after` plus the interval of
 * "@every". Times are seconds since 1970; 0: there is none within five years.
 */
int64_t bt_cron_next(const struct bt_cron *cron, const struct bt_cron_zone *zone, int64_t after);
/**
 * Returns the last time in (from, until] that the schedule matches; "@every" counts from `from`. 0:
 * there is none.
 */
int64_t bt_cron_last(
	const struct bt_cron *cron, const struct bt_cron_zone *zone, int64_t from, int64_t until);
#endif
