/* SPDX-License-Identifier: Apache-2.0 */
#include "framework/nominator.h"

#include "fake_plugin.h"
#include "test_main.h"

static void append_names(
	const struct bt_nominator *nominator, const char *node, struct bt_strbuf *text)
{
	const struct bt_pod_info *pod;
	uint32_t cursor = BT_NOMINATION_FIRST;

	while ((pod = bt_nominator_next(nominator, bt_str_from(node), &cursor)) != NULL) {
		bt_strbuf_append_c(text, text->length > 0 ? " " : "");
		bt_strbuf_append_str(text, pod->name);
	}
}

static void expect_on_node(const struct fake_world *world, const char *node, const char *expected)
{
	struct bt_strbuf text = {0};

	append_names(&world->nominator, node, &text);
	ck_assert_msg(strcmp(bt_strbuf_c(&text), expected) == 0, "%s: \"%s\", expected \"%s\"",
		node, bt_strbuf_c(&text), expected);
	bt_strbuf_finish(&text);
}

START_TEST(test_nominator__order_and_moves)
{
	struct fake_world world;
	struct bt_pod_info pods[3];
	struct bt_str node;

	fake_world_init(&world, NULL, 0, "");
	pods[0] = fake_world_pod(&world, "a", 0);
	pods[1] = fake_world_pod(&world, "b", 0);
	pods[2] = fake_world_pod(&world, "c", 0);
	ck_assert(world.nominator.nominations.map.count == 0);
	for (int i = 0; i < 3; i++) {
		bt_nominator_add(&world.nominator, &pods[i], BT_STR("n1"), true);
	}
	expect_on_node(&world, "n1", "a b c");
	/*
	 * A new nomination of the same pod replaces the old nomination and is appended to the list.
	 */
	bt_nominator_add(&world.nominator, &pods[0], BT_STR("n1"), true);
	expect_on_node(&world, "n1", "b c a");
	bt_nominator_add(&world.nominator, &pods[2], BT_STR("n2"), true);
	expect_on_node(&world, "n1", "b a");
	expect_on_node(&world, "n2", "c");
	ck_assert(bt_nominator_find(&world.nominator, BT_STR("c"), &node));
	ck_assert(bt_str_equal_c(node, "n2"));
	bt_nominator_delete(&world.nominator, BT_STR("b"));
	bt_nominator_delete(&world.nominator, BT_STR("unknown"));
	expect_on_node(&world, "n1", "a");
	bt_nominator_delete(&world.nominator, BT_STR("a"));
	bt_nominator_delete(&world.nominator, BT_STR("c"));
	expect_on_node(&world, "n1", "");
	ck_assert(world.nominator.nominations.map.count == 0);
	ck_assert(!bt_nominator_find(&world.nominator, BT_STR("c"), &node));
	fake_world_finish(&world);
}
END_TEST

static const struct bt_pod_info *first_on_node(const struct fake_world *world, const char *node)
{
	uint32_t cursor = BT_NOMINATION_FIRST;

	return bt_nominator_next(&world->nominator, bt_str_from(node), &cursor);
}

START_TEST(test_nominator__stub_when_not_queued)
{
	struct fake_world world;
	struct bt_pod_info pod;
	const struct bt_pod_info *seen;

	fake_world_init(&world, NULL, 0, "");
	pod = fake_world_pod(&world, "a", 1000);
	bt_nominator_add(&world.nominator, &pod, BT_STR("n1"), true);
	ck_assert_ptr_eq(first_on_node(&world, "n1"), &pod);
	/* The pod is in flight: the nominator has its identity only, with priority 0. */
	bt_nominator_set_queued(&world.nominator, BT_STR("a"), NULL);
	seen = first_on_node(&world, "n1");
	ck_assert_ptr_ne(seen, &pod);
	ck_assert(bt_str_equal_c(seen->name, "a"));
	ck_assert(bt_str_equal_c(seen->namespace_, "default"));
	ck_assert(bt_str_equal_c(seen->uid, "a"));
	ck_assert_int_eq(seen->priority, 0);
	ck_assert_uint_eq(seen->labels->count, 0);
	ck_assert_int_eq(seen->shape->requested[BT_CPU_MILLI], 0);
	bt_nominator_set_queued(&world.nominator, BT_STR("a"), &pod);
	ck_assert_ptr_eq(first_on_node(&world, "n1"), &pod);
	fake_world_finish(&world);
}
END_TEST

START_TEST(test_nominator__add_rules)
{
	const struct bt_post_filter_result noop = {.present = true, .mode = BT_NOMINATING_NOOP};
	const struct bt_post_filter_result to_n2 = {.present = true,
		.mode = BT_NOMINATING_OVERRIDE,
		.nominated_node_name = BT_STR("n2")};
	struct fake_world world;
	struct bt_pod_info pod;
	struct bt_str node;

	fake_world_init(&world, NULL, 0, "");
	pod = fake_world_pod(&world, "a", 0);
	/* Neither the result nor the status names a node. */
	bt_nominator_nominate(&world.nominator, &pod, &noop, true, true);
	ck_assert(world.nominator.nominations.map.count == 0);
	/* Noop mode: the node of the status counts. */
	pod.nominated_node_name = BT_STR("n1");
	bt_nominator_nominate(&world.nominator, &pod, NULL, true, true);
	expect_on_node(&world, "n1", "a");
	bt_nominator_nominate(&world.nominator, &pod, &to_n2, true, true);
	expect_on_node(&world, "n1", "");
	expect_on_node(&world, "n2", "a");
	/*
	 * If the informer no longer has the pod, or the pod is bound, the earlier nomination still
	 * ends.
	 */
	bt_nominator_nominate(&world.nominator, &pod, &to_n2, true, false);
	ck_assert(!bt_nominator_find(&world.nominator, BT_STR("a"), &node));
	fake_world_finish(&world);
}
END_TEST

START_TEST(test_nominator__edge_02_41_cleared_then_back)
{
	const struct bt_post_filter_result clear = {
		.present = true, .mode = BT_NOMINATING_OVERRIDE, .nominated_node_name = BT_STR("")};
	struct fake_world world;
	struct bt_pod_info pod;
	struct bt_pod_info patched;
	struct bt_str node;

	fake_world_init(&world, NULL, 0, "");
	pod = fake_world_pod(&world, "a", 0);
	pod.nominated_node_name = BT_STR("n1");
	bt_nominator_nominate(&world.nominator, &pod, NULL, true, true);
	bt_nominator_nominate(&world.nominator, &pod, &clear, true, true);
	expect_on_node(&world, "n1", "");
	ck_assert(!bt_nominator_find(&world.nominator, BT_STR("a"), &node));
	ck_assert(world.nominator.nominations.map.count == 0);
	/* An unrelated update still has the old status. */
	bt_nominator_update(&world.nominator, &pod, &pod, true, true);
	expect_on_node(&world, "n1", "a");
	/* The informer delivers the patched status: the nomination ends. */
	patched = pod;
	patched.nominated_node_name = BT_STR("");
	bt_nominator_update(&world.nominator, &pod, &patched, true, true);
	expect_on_node(&world, "n1", "");
	ck_assert(!bt_nominator_find(&world.nominator, BT_STR("a"), &node));
	fake_world_finish(&world);
}
END_TEST

START_TEST(test_nominator__update_keeps_what_only_memory_knows)
{
	const struct bt_post_filter_result to_n2 = {.present = true,
		.mode = BT_NOMINATING_OVERRIDE,
		.nominated_node_name = BT_STR("n2")};
	struct fake_world world;
	struct bt_pod_info pod;
	struct bt_pod_info updated;

	fake_world_init(&world, NULL, 0, "");
	pod = fake_world_pod(&world, "a", 0);
	bt_nominator_nominate(&world.nominator, &pod, &to_n2, true, true);
	updated = pod;
	bt_nominator_update(&world.nominator, &pod, &updated, true, true);
	expect_on_node(&world, "n2", "a");
	ck_assert_ptr_eq(first_on_node(&world, "n2"), &updated);
	/* The status names a node now, so that node counts. */
	pod = updated;
	updated.nominated_node_name = BT_STR("n3");
	bt_nominator_update(&world.nominator, &pod, &updated, true, true);
	expect_on_node(&world, "n2", "");
	expect_on_node(&world, "n3", "a");
	fake_world_finish(&world);
}
END_TEST

START_TEST(test_nominator__churn)
{
	enum { POD_COUNT = 300 };
	struct fake_world world;
	struct bt_pod_info pods[POD_COUNT];
	struct bt_strbuf text = {0};
	uint32_t entries;

	fake_world_init(&world, NULL, 0, "");
	for (int i = 0; i < POD_COUNT; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "p%d", i);
		pods[i] = fake_world_pod(&world, name, 0);
	}
	for (int round = 0; round < 5; round++) {
		for (int i = 0; i < POD_COUNT; i++) {
			char node[16];

			(void)snprintf(node, sizeof(node), "m%d", (i + round) % 7);
			bt_nominator_add(&world.nominator, &pods[i], bt_str_from(node), false);
		}
	}
	entries = world.nominator.nominations.count;
	ck_assert_uint_le(entries, POD_COUNT + 1);
	append_names(&world.nominator, "m4", &text);
	ck_assert_msg(bt_str_has_prefix(bt_strbuf_str(&text), BT_STR("p0 p7 p14 p21 ")), "%s",
		bt_strbuf_c(&text));
	for (int i = 0; i < POD_COUNT; i++) {
		bt_nominator_delete(&world.nominator, pods[i].uid);
	}
	ck_assert(world.nominator.nominations.map.count == 0);
	bt_strbuf_finish(&text);
	fake_world_finish(&world);
}
END_TEST

BT_TEST_MAIN("nominator", test_nominator__order_and_moves, test_nominator__stub_when_not_queued,
	test_nominator__add_rules, test_nominator__edge_02_41_cleared_then_back,
	test_nominator__update_keeps_what_only_memory_knows, test_nominator__churn)
