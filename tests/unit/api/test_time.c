/* SPDX-License-Identifier: Apache-2.0 */
#include "api/time.h"

#include "api_test.h"
#include "test_main.h"

static struct bt_arena arena;

static struct bt_time time_of(const char *text)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_time time;

	if (bt_time_parse(bt_str_from(text), &time, &err) != 0) {
		ck_abort_msg("%s", berth_error_message(&err));
	}
	return time;
}

static const char *formatted(const struct bt_time *time)
{
	struct bt_strbuf buffer = {0};
	const char *text;

	bt_time_format(time, &buffer);
	text = bt_arena_str(&arena, bt_strbuf_str(&buffer)).data;
	bt_strbuf_finish(&buffer);
	return text;
}

START_TEST(test_time__parse)
{
	static const struct {
		const char *text;
		int64_t seconds;
		int32_t nanoseconds;
	} rows[] = {{"1970-01-01T00:00:00Z", 0, 0}, {"2026-01-01T00:00:00Z", 1767225600, 0},
		{"2024-02-29T23:59:59.5Z", 1709251199, 500000000}, {"1969-12-31T23:59:59Z", -1, 0},
		{"2026-01-01T02:00:00+02:00", 1767225600, 0},
		{"2025-12-31T16:30:00.000000001-07:30", 1767225600, 1},
		{"2026-01-01T00:00:00.1234567899Z", 1767225600, 123456789}};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_time time = time_of(rows[i].text);

		ck_assert_msg(time.set && time.seconds == rows[i].seconds &&
				time.nanoseconds == rows[i].nanoseconds,
			"%s: %lld %d", rows[i].text, (long long)time.seconds,
			(int)time.nanoseconds);
	}
}
END_TEST

START_TEST(test_time__malformed)
{
	static const char *const rows[] = {"", "2026-01-01", "2026-01-01T00:00:00",
		"2026-13-01T00:00:00Z", "2026-02-29T00:00:00Z", "2026-01-01T24:00:00Z",
		"2026-01-01T00:60:00Z", "2026-01-01 00:00:00Z", "2026-01-01T00:00:00z",
		"2026-01-01T00:00:00.Z", "2026-01-01T00:00:00+0200", "2026-01-01T00:00:00Zx",
		"2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z", "26-01-01T00:00:00Z",
		"2026-01-01T0:00:00Z"};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_time time;

		ck_assert_msg(bt_time_parse(bt_str_from(rows[i]), &time, NULL) == BERTH_ERR_INVALID,
			"%s", rows[i]);
	}
}
END_TEST

START_TEST(test_time__format_is_utc_whole_seconds)
{
	struct bt_time time = time_of("2024-02-29T23:59:59.75-01:00");
	struct bt_time zero = time_of("0001-01-01T00:00:00Z");

	ck_assert_str_eq(formatted(&time), "2024-03-01T00:59:59Z");
	ck_assert(!zero.set);
	ck_assert_str_eq(formatted(&zero), "0001-01-01T00:00:00Z");
}
END_TEST

START_TEST(test_time__round_trip_of_days)
{
	struct bt_time time = {.set = true};

	/* Every 19th day over 800 years, so that each month and leap rule is met. */
	for (time.seconds = -INT64_C(300) * 31556952; time.seconds < INT64_C(500) * 31556952;
		time.seconds += 19 * 86400) {
		struct bt_time back;

		if (bt_time_parse(bt_str_from(formatted(&time)), &back, NULL) != 0 ||
			back.seconds != time.seconds) {
			ck_abort_msg("%s", formatted(&time));
		}
	}
}
END_TEST

START_TEST(test_time__compares_by_instant)
{
	struct bt_time a = time_of("2026-01-01T02:00:00+02:00");
	struct bt_time b = time_of("2026-01-01T00:00:00Z");
	struct bt_time c = time_of("2026-01-01T00:00:00.1Z");
	struct bt_time zero = {.set = false};

	ck_assert_int_eq(bt_time_compare(&a, &b), 0);
	ck_assert_int_lt(bt_time_compare(&b, &c), 0);
	ck_assert_int_lt(bt_time_compare(&zero, &a), 0);
	ck_assert_int_eq(bt_time_compare(&zero, &zero), 0);
}
END_TEST

START_TEST(test_time__micro_time_has_six_digits)
{
	static const char *const bad[] = {"'2026-01-01T00:00:00Z'", "'2026-01-01T00:00:00.12345Z'",
		"'2026-01-01T00:00:00.1234567Z'", "5"};
	struct bt_json_reader reader;
	struct bt_json_writer writer;
	struct bt_strbuf out = {0};
	struct bt_time time;

	bt_json_reader_init(&reader, api_json(&arena, "'2026-01-01T00:00:00.000123Z'"));
	ck_assert_int_eq(bt_micro_time_scalar.decode_json(
				 &bt_micro_time_scalar, &reader, &arena, &time, NULL),
		0);
	bt_json_writer_init(&writer, &out, 0);
	bt_micro_time_scalar.encode_json(&bt_micro_time_scalar, &writer, &time);
	ck_assert_str_eq(bt_strbuf_c(&out), "\"2026-01-01T00:00:00.000123Z\"");
	bt_strbuf_finish(&out);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(bad); i++) {
		bt_json_reader_init(&reader, api_json(&arena, bad[i]));
		ck_assert_msg(bt_micro_time_scalar.decode_json(
				      &bt_micro_time_scalar, &reader, &arena, &time, NULL) != 0,
			"%s", bad[i]);
	}
}
END_TEST

BT_TEST_MAIN("time", test_time__parse, test_time__malformed, test_time__format_is_utc_whole_seconds,
	test_time__round_trip_of_days, test_time__compares_by_instant,
	test_time__micro_time_has_six_digits)
