/* SPDX-License-Identifier: Apache-2.0 */
/* The debugger's comparison: spec 03b section 9. */
#include "state/compare.h"

#include "state_fixture.h"
#include "test_main.h"

static void check_texts(const struct bt_str *items, uint32_t count, const char *const *expected,
	uint32_t expected_count)
{
	ck_assert_uint_eq(count, expected_count);
	for (uint32_t i = 0; i < count; i++) {
		ck_assert(bt_str_equal_c(items[i], expected[i]));
	}
}

START_TEST(test_compare__edge_03b_36_redundant_node)
{
	static const char *const redundant[] = {"foobar"};
	struct bt_comparison comparison;
	struct bt_str listed[] = {BT_STR_INIT("foo"), BT_STR_INIT("bar")};
	struct fixture f;

	fixture_init(&f);
	add_node(&f, "bar", "", "");
	add_node(&f, "foo", "", "");
	/* An imaginary node counts as cached. */
	check_ok(bt_state_add_pod(f.state, make_pod(&f, "a", "foobar", ""), &err));
	bt_compare_nodes(f.state, listed, 2, &comparison);
	ck_assert_uint_eq(comparison.missed.count, 0);
	check_texts(comparison.redundant.items, comparison.redundant.count, redundant, 1);
	bt_comparison_finish(&comparison);
	fixture_finish(&f);
}
END_TEST

START_TEST(test_compare__lists_are_sorted_and_keep_duplicates)
{
	static const char *const missed[] = {"a", "z", "z"};
	static const char *const redundant[] = {"c", "c"};
	struct bt_comparison comparison;
	struct bt_str listed[] = {
		BT_STR_INIT("z"), BT_STR_INIT("a"), BT_STR_INIT("z"), BT_STR_INIT("b")};
	struct bt_str cached[] = {BT_STR_INIT("c"), BT_STR_INIT("b"), BT_STR_INIT("c")};

	bt_compare_lists(listed, 4, cached, 3, &comparison);
	check_texts(comparison.missed.items, comparison.missed.count, missed, 3);
	check_texts(comparison.redundant.items, comparison.redundant.count, redundant, 2);
	bt_comparison_finish(&comparison);
	bt_compare_lists(NULL, 0, NULL, 0, &comparison);
	ck_assert_uint_eq(comparison.missed.count + comparison.redundant.count, 0);
	bt_comparison_finish(&comparison);
}
END_TEST

START_TEST(test_compare__queued_pods_count_as_cached)
{
	static const char *const missed[] = {"foreign"};
	static const char *const redundant[] = {"b-uid"};
	struct bt_comparison comparison;
	struct bt_str listed[] = {
		BT_STR_INIT("q-uid"), BT_STR_INIT("foreign"), BT_STR_INIT("a-uid")};
	struct bt_str queued[] = {BT_STR_INIT("q-uid")};
	struct fixture f;

	fixture_init(&f);
	check_ok(bt_state_add_pod(f.state, make_pod(&f, "a", "n1", ""), &err));
	check_ok(bt_state_assume_pod(f.state, make_pod(&f, "b", "n1", ""), &err));
	check_ok(bt_snapshot_assume_pod(f.state, make_pod(&f, "s", "n1", ""), &err));
	bt_compare_pods(f.state, listed, 3, queued, 1, &comparison);
	check_texts(comparison.missed.items, comparison.missed.count, missed, 1);
	check_texts(comparison.redundant.items, comparison.redundant.count, redundant, 1);
	bt_comparison_finish(&comparison);
	fixture_finish(&f);
}
END_TEST

BT_TEST_MAIN("compare", test_compare__edge_03b_36_redundant_node,
	test_compare__lists_are_sorted_and_keep_duplicates,
	test_compare__queued_pods_count_as_cached)
