/* SPDX-License-Identifier: Apache-2.0 */
#include "client/pace.h"

#include "base/compiler.h"
#include "base/nanoseconds.h"
#include "test_main.h"

static struct bt_pace make(void)
{
	struct bt_pace pace;
	bt_pace_init(&pace, 0);
	return pace;
}

static void answer(struct bt_pace *pace, uint32_t count, int64_t latency_ms, int64_t now_ms)
{
	for (uint32_t i = 0; i < count; i++) {
		bt_pace_answered(pace, latency_ms * BT_NS_PER_MS, now_ms * BT_NS_PER_MS);
	}
}

static uint32_t calls_at(struct bt_pace *pace, int64_t now_ms)
{
	return bt_pace_calls(pace, now_ms * BT_NS_PER_MS);
}

START_TEST(test_pace__few_calls_to_a_fast_server)
{
	struct bt_pace pace = make();
	ck_assert_uint_eq(calls_at(&pace, 0), BT_PACE_CALLS_MIN);
	answer(&pace, 5000, 1, 500);
	ck_assert_uint_eq(calls_at(&pace, 500), BT_PACE_CALLS_MIN);
	answer(&pace, 5000, 0, 900);
	ck_assert_uint_eq(calls_at(&pace, 900), BT_PACE_CALLS_MIN);
}
END_TEST

START_TEST(test_pace__more_calls_the_longer_answers_take)
{
	static const struct {
		int64_t latency_ms;
		uint32_t calls;
	} rows[] = {{1, 12}, {2, 20}, {5, 50}, {10, 100}, {12, 120}, {13, 128}, {50, 128},
		{INT32_MAX, 128}};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_pace pace = make();
		answer(&pace, 1000, rows[i].latency_ms, 100);
		ck_assert_msg(calls_at(&pace, 100) == rows[i].calls, "%lld ms: %u",
			(long long)rows[i].latency_ms, calls_at(&pace, 100));
	}
}
END_TEST

START_TEST(test_pace__two_answers_allow_one_more)
{
	struct bt_pace pace = make();
	answer(&pace, 1, 50, 50);
	ck_assert_uint_eq(calls_at(&pace, 50), BT_PACE_CALLS_MIN);
	answer(&pace, 1, 50, 50);
	ck_assert_uint_eq(calls_at(&pace, 50), BT_PACE_CALLS_MIN + 1);
	answer(&pace, 14, 50, 50);
	ck_assert_uint_eq(calls_at(&pace, 50), BT_PACE_CALLS_MIN + 8);
}
END_TEST

START_TEST(test_pace__answers_that_wait_for_each_other_do_not_count)
{
	struct bt_pace pace = make();
	answer(&pace, 1, 1, 10);
	answer(&pace, 5000, 200, 4000);
	ck_assert_uint_eq(calls_at(&pace, 4000), BT_PACE_CALLS_MIN);
}
END_TEST

START_TEST(test_pace__answers_that_queue_allow_no_more_calls)
{
	struct bt_pace pace = make();
	answer(&pace, 1, 10, 10);
	/*
	 * At 40 ms per answer, 12 calls in flight get 300 answers a second, the rate of the server:
	 * with more calls in flight, each call would only wait longer.
	 */
	answer(&pace, 1000, 40, 3000);
	ck_assert_uint_eq(calls_at(&pace, 3000), BT_PACE_CALLS_MIN);
	/*
	 * The answers take twice the shortest time: one more call in flight did not make the server
	 * slower.
	 */
	answer(&pace, 16, 20, 3100);
	ck_assert_uint_eq(calls_at(&pace, 3100), BT_PACE_CALLS_MIN + 8);
	answer(&pace, 1000, 21, 3200);
	ck_assert_uint_eq(calls_at(&pace, 3200), BT_PACE_CALLS_MIN + 8);
}
END_TEST

START_TEST(test_pace__follows_a_server_that_becomes_slow_and_fast_again)
{
	struct bt_pace pace = make();
	answer(&pace, 500, 1, 100);
	answer(&pace, 500, 10, 4000);
	/* Times of the previous period still count, times of older periods do not. */
	answer(&pace, 500, 10, 6000);
	ck_assert_uint_eq(calls_at(&pace, 6000), BT_PACE_CALLS_MIN);
	answer(&pace, 500, 10, 11000);
	ck_assert_uint_eq(calls_at(&pace, 11000), 100);
	answer(&pace, 1, 3, 11100);
	ck_assert_uint_eq(calls_at(&pace, 11100), 30);
}
END_TEST

START_TEST(test_pace__begins_anew_after_idle_seconds)
{
	struct bt_pace pace = make();
	answer(&pace, 500, 50, 1000);
	ck_assert_uint_eq(calls_at(&pace, 9999), BT_PACE_CALLS_MAX);
	ck_assert_int_eq(bt_pace_idle_at_ns(&pace), 10 * BT_NS_PER_SECOND);
	ck_assert_uint_eq(calls_at(&pace, 10000), BT_PACE_CALLS_MIN);
	ck_assert_int_le(bt_pace_idle_at_ns(&pace), 10 * BT_NS_PER_SECOND);
	answer(&pace, 2, 50, 11000);
	ck_assert_uint_eq(calls_at(&pace, 11000), BT_PACE_CALLS_MIN + 1);
}
END_TEST

BT_TEST_MAIN("pace", test_pace__few_calls_to_a_fast_server,
	test_pace__more_calls_the_longer_answers_take, test_pace__two_answers_allow_one_more,
	test_pace__answers_that_wait_for_each_other_do_not_count,
	test_pace__answers_that_queue_allow_no_more_calls,
	test_pace__follows_a_server_that_becomes_slow_and_fast_again,
	test_pace__begins_anew_after_idle_seconds)
