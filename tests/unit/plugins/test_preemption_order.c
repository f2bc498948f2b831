/* SPDX-License-Identifier: Apache-2.0 */
/* Order of pods by importance. Spec: 08 section 3.1. */
#include "base/prng.h"
#include "plugins/preemption_evaluator.h"
#include "test_main.h"

#define UNSTARTED INT64_MIN

START_TEST(test_preemption_order__edge_01_44_unstarted_pods_come_last)
{
	static const struct {
		const char *row;
		int32_t a_priority;
		int64_t a_start;
		int32_t b_priority;
		int64_t b_start;
		bool more;
	} rows[] = {
		{"priority first", 1, UNSTARTED, 0, 5, true},
		{"priority first, reversed", 0, 5, 1, UNSTARTED, false},
		{"earlier start", 0, 4, 0, 5, true},
		{"later start", 0, 5, 0, 4, false},
		{"equal", 0, 5, 0, 5, false},
		{"started against unstarted", 0, 5, 0, UNSTARTED, true},
		{"unstarted against started", 0, UNSTARTED, 0, 5, false},
		{"both unstarted", 0, UNSTARTED, 0, UNSTARTED, true},
		{"before the epoch", 0, -1, 0, 0, true},
		{"extremes", INT32_MAX, 0, INT32_MIN, 0, true},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		ck_assert_msg(bt_is_more_important(rows[i].a_priority, rows[i].a_start,
				      rows[i].b_priority, rows[i].b_start) == rows[i].more,
			"%s", rows[i].row);
	}
}
END_TEST

#define PODS_MAX 100

struct pods {
	int32_t priority[PODS_MAX];
	int64_t start[PODS_MAX];
};

static bool more_important(const void *context, uint32_t a, uint32_t b)
{
	const struct pods *pods = context;

	return bt_is_more_important(
		pods->priority[a], pods->start[a], pods->priority[b], pods->start[b]);
}

START_TEST(test_preemption_order__is_that_of_insertion)
{
	struct bt_prng prng;

	bt_prng_init(&prng, 8);
	for (int round = 0; round < 3000; round++) {
		uint32_t count = (uint32_t)bt_prng_below(&prng, PODS_MAX + 1);
		uint32_t sorted[PODS_MAX];
		uint32_t plain[PODS_MAX];
		uint32_t scratch[PODS_MAX];
		struct pods pods;

		for (uint32_t i = 0; i < count; i++) {
			pods.priority[i] = (int32_t)bt_prng_below(&prng, 3);
			pods.start[i] = (int64_t)bt_prng_below(&prng, 4);
			if (pods.start[i] == 0) {
				pods.start[i] = UNSTARTED;
			}
			sorted[i] = i;
			plain[i] = i;
		}
		for (uint32_t i = 1; i < count; i++) {
			for (uint32_t at = i;
				at > 0 && more_important(&pods, plain[at], plain[at - 1]); at--) {
				uint32_t moved = plain[at];

				plain[at] = plain[at - 1];
				plain[at - 1] = moved;
			}
		}
		bt_sort_by_importance(sorted, count, scratch, more_important, &pods);
		if (memcmp(sorted, plain, count * sizeof(sorted[0])) != 0) {
			ck_abort_msg("round %d: another order", round);
		}
	}
}
END_TEST

BT_TEST_MAIN("preemption_order", test_preemption_order__edge_01_44_unstarted_pods_come_last,
	test_preemption_order__is_that_of_insertion)
