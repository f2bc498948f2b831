/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"
#include "test_main.h"

static bool less(struct fixture *fixture, const char *a, int64_t a_ns, const char *b, int64_t b_ns)
{
	struct bt_queued_pod first = {.pod = fixture_pending(fixture, a), .timestamp_ns = a_ns};
	struct bt_queued_pod second = {.pod = fixture_pending(fixture, b), .timestamp_ns = b_ns};

	return fixture->plugin->ops->less(fixture->plugin, &first, &second);
}

START_TEST(test_priority_sort__edge_05_61_priority_then_time)
{
	struct fixture fixture;

	fixture_init(&fixture, &bt_priority_sort_plugin);
	ck_assert(less(&fixture, "{'spec':{'priority':10}}", 5, "{'spec':{'priority':1}}", 1));
	ck_assert(!less(&fixture, "{'spec':{'priority':1}}", 1, "{'spec':{'priority':10}}", 5));
	ck_assert(less(&fixture, "{'spec':{'priority':3}}", 1, "{'spec':{'priority':3}}", 2));
	ck_assert(!less(&fixture, "{'spec':{'priority':3}}", 2, "{'spec':{'priority':3}}", 1));
	ck_assert_msg(!less(&fixture, "{}", 7, "{}", 7), "equal in both: neither is less");
	ck_assert_msg(less(&fixture, "{}", 1, "{'spec':{'priority':0}}", 2), "unset counts as 0");
	ck_assert_msg(less(&fixture, "{}", 9, "{'spec':{'priority':-1}}", 2), "unset is above -1");
	fixture_finish(&fixture);
}
END_TEST

BT_TEST_MAIN("priority_sort", test_priority_sort__edge_05_61_priority_then_time)
