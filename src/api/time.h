/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_TIME_H
#define BT_API_TIME_H
/** Times of the API. Spec: 01 section 5.2. */
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "codec/message.h"

/** An instant. `set` is false for the zero time. */
struct bt_time {
	int64_t seconds; /* since 1970-01-01T00:00:00Z */
	int32_t nanoseconds;
	bool set;
};

/** Parses RFC 3339 with any offset and number of fraction digits. */
BT_MUST_USE int bt_time_parse(
	struct bt_str text, struct bt_time *out_time, struct berth_error *err);
/** Parses like bt_time_parse; returns the zero time if the text is not a time. */
struct bt_time bt_time_or_zero(struct bt_str text);
/** Appends "2006-01-02T15:04:05Z". */
void bt_time_format(const struct bt_time *time, struct bt_strbuf *out);
/** These functions parse and format times with exactly six fraction digits. */
BT_MUST_USE int bt_micro_time_parse(
	struct bt_str text, struct bt_time *out_time, struct berth_error *err);
void bt_micro_time_format(const struct bt_time *time, struct bt_strbuf *out);
/**
 * These functions format a time given in nanoseconds since 1970, with whole seconds or with
 * microseconds. The rest is cut off, not rounded.
 */
struct bt_str bt_time_text(struct bt_arena *arena, int64_t time_ns);
struct bt_str bt_micro_time_text(struct bt_arena *arena, int64_t time_ns);
/** Returns nanoseconds since 1970, clamped to int64; 0 for the zero time. */
int64_t bt_time_ns(const struct bt_time *time);
/**
 * Returns a negative number, 0 or a positive number if a is before, at or after b; the zero time is
 * before all others.
 */
int bt_time_compare(const struct bt_time *a, const struct bt_time *b);

/**
 * These functions convert a date of the proleptic Gregorian calendar to days since 1970-01-01 and
 * back. Months and days count from 1.
 */
int64_t bt_days_from_date(int64_t year, int64_t month, int64_t day);
void bt_date_from_days(int64_t days, int64_t *out_year, int *out_month, int *out_day);

extern const struct bt_scalar_type bt_time_scalar;
/** "2006-01-02T15:04:05.000000Z", exactly six fraction digits. */
extern const struct bt_scalar_type bt_micro_time_scalar;
#endif
