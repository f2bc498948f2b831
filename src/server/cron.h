/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_CRON_H
#define BT_SERVER_CRON_H
/**
 * Schedules as CronJobs write them: five fields (minute, hour, day of month, month, day of week)
 * with lists, ranges, steps and names, or @hourly and its like, or "@every 1h30m". Times are UTC,
 * or those of a zone of the machine's time zone database.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct bt_cron {
	uint64_t minutes; /* a bit each */
	uint32_t hours;
	uint32_t days;    /* bit 1 to 31 */
	uint16_t months;  /* bit 1 to 12 */
	uint8_t weekdays; /* bit 0 (Sunday) to 6 */
	/* With a star in one of them both must fit, else either. */
	bool any_day;
	bool any_weekday;
	int64_t every_seconds; /* 0: none of the above counts when it is set */
};

/** Seconds to add to UTC, from each change on. All-zero memory is UTC. */
struct bt_cron_zone {
	uint32_t count;
	int64_t *from;    /* ascending; owned */
	int32_t *offsets; /* owned */
	int32_t first;    /* before the first change */
};

/** false: no zone of that name, or its file is not readable. */
bool bt_cron_zone_read(struct bt_str name, struct bt_cron_zone *out_zone);
/** Also true if the machine has no time zone database: then no name can be told to be wrong. */
bool bt_cron_zone_exists(struct bt_str name);
void bt_cron_zone_finish(struct bt_cron_zone *zone);

/** false: not a schedule. */
bool bt_cron_parse(struct bt_str text, struct bt_cron *out_cron);
/** The first time after (seconds since 1970) that fits; 0: none within five years. */
int64_t bt_cron_next(const struct bt_cron *cron, const struct bt_cron_zone *zone, int64_t after);
/** The last time that fits in (from, until]; 0: there is none. */
int64_t bt_cron_last(
	const struct bt_cron *cron, const struct bt_cron_zone *zone, int64_t from, int64_t until);
#endif
