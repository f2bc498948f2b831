/* SPDX-License-Identifier: Apache-2.0 */
#include "framework/batch.h"

#include <stdio.h>

#include "base/prng.h"
#include "fake_plugin.h"
#include "test_main.h"

#define FILTER FAKE_ROLE(FAKE_FILTER)
#define SIGN FAKE_ROLE(FAKE_SIGN)
#define MILLISECOND INT64_C(1000000)

/** The start of a hint test: cycle 10 chose n3; n1 and n2 came next. */
struct stored_batch {
	struct fake fake;
	struct fake_world world;
	struct bt_batch batch;
	bt_sym others[2];
	enum bt_batch_flush flush;
};

static struct bt_str signature_a(void)
{
	return BT_STR("sig a");
}

static void stored_batch_init(struct stored_batch *test)
{
	struct bt_batch_result result = {
		.signature = signature_a(),
		.chosen = BT_STR("n3"),
		.others = test->others,
		.other_count = 2,
		.cycle_count = 10,
	};

	test->fake = fake_plugin("F", FILTER);
	fake_answer(&test->fake, FAKE_FILTER, BT_STATUS_UNSCHEDULABLE, "full");
	fake_world_init(&test->world, &test->fake, 1, "filter=F");
	test->others[0] = test->world.state->nodes.rows[test->world.slots[0]].name;
	test->others[1] = test->world.state->nodes.rows[test->world.slots[1]].name;
	test->batch =
		(struct bt_batch){.symbols = &test->world.state->symbols, .last_node = BT_SYM_NONE};
	ck_assert_int_eq(bt_batch_store(&test->batch, &result, 0, &test->flush), BT_BATCH_NO_HINT);
	ck_assert_int_eq(test->flush, BT_BATCH_FLUSH_NONE);
}

static void stored_batch_finish(struct stored_batch *test)
{
	bt_batch_finish(&test->batch);
	fake_world_finish(&test->world);
}

static void expect_hint(struct stored_batch *test, struct bt_str signature, uint64_t cycle_count,
	int64_t now_ns, const char *expected, const char *flush)
{
	struct bt_str hint = bt_batch_get_hint(&test->batch, test->world.framework,
		&test->world.cycle, &test->world.pod, signature, cycle_count, now_ns, &test->flush);

	ck_assert_msg(bt_str_equal_c(hint, expected), "%.*s", BT_STR_ARG(hint));
	ck_assert_str_eq(bt_batch_flush_name(test->flush), flush);
}

START_TEST(test_batch__edge_02_40_edge_09_45_46_hint)
{
	struct stored_batch test;
	struct bt_batch_result next = {
		.signature = signature_a(),
		.hint = BT_STR("n1"),
		.chosen = BT_STR("n1"),
		.cycle_count = 11,
	};

	stored_batch_init(&test);
	expect_hint(&test, signature_a(), 11, 500 * MILLISECOND, "n1", "");
	ck_assert_int_eq(bt_batch_store(&test.batch, &next, 500 * MILLISECOND, &test.flush),
		BT_BATCH_HINT_USED);
	ck_assert_str_eq(bt_batch_attempt_name(BT_BATCH_HINT_USED), "hint_used");
	/* Node n2 stays in the list. */
	expect_hint(&test, signature_a(), 12, 500 * MILLISECOND, "n2", "");
	next.hint = BT_STR("n2");
	next.chosen = BT_STR("n2");
	next.cycle_count = 12;
	ck_assert_int_eq(bt_batch_store(&test.batch, &next, 500 * MILLISECOND, &test.flush),
		BT_BATCH_HINT_USED);
	/* The list is used up: no hint, and no flush is counted. */
	expect_hint(&test, signature_a(), 13, 500 * MILLISECOND, "", "");
	stored_batch_finish(&test);
}
END_TEST

START_TEST(test_batch__edge_02_40_edge_09_45_no_hint)
{
	struct stored_batch test;
	struct bt_node node = {0};

	stored_batch_init(&test);
	expect_hint(&test, signature_a(), 12, 0, "", "pod_skipped");
	expect_hint(&test, BT_STR("sig b"), 11, 0, "", "pod_incompatible");
	expect_hint(&test, (struct bt_str){0}, 11, 0, "", "pod_incompatible");
	expect_hint(&test, signature_a(), 11, 500 * MILLISECOND + 1, "", "expired");
	fake_answer(&test.fake, FAKE_FILTER, BT_STATUS_SUCCESS, NULL);
	expect_hint(&test, signature_a(), 11, 0, "", "node_not_full");
	fake_fail(&test.fake, FAKE_FILTER, "x");
	expect_hint(&test, signature_a(), 11, 0, "", "node_not_full");
	/* A refused hint does not clear the list. */
	fake_answer(&test.fake, FAKE_FILTER, BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE, "full");
	expect_hint(&test, signature_a(), 11, 0, "n1", "");
	node.metadata.name = BT_STR("n3");
	ck_assert_int_eq(bt_state_remove_node(test.world.state, &node, NULL), BERTH_OK);
	ck_assert_int_eq(bt_state_refresh_snapshot(test.world.state, NULL), BERTH_OK);
	expect_hint(&test, signature_a(), 11, 0, "", "node_missing");
	stored_batch_finish(&test);
}
END_TEST

START_TEST(test_batch__store)
{
	struct stored_batch test;
	struct bt_batch_result result = {
		.signature = signature_a(),
		.hint = BT_STR("n1"),
		.chosen = BT_STR("n2"),
		.cycle_count = 11,
	};

	stored_batch_init(&test);
	ck_assert_int_eq(
		bt_batch_store(&test.batch, &result, 0, &test.flush), BT_BATCH_HINT_NOT_USED);
	ck_assert_str_eq(bt_batch_flush_name(test.flush), "empty_list");
	expect_hint(&test, signature_a(), 12, 0, "", "");
	result.hint = BT_STR("");
	result.signature = (struct bt_str){0};
	result.others = test.others;
	result.other_count = 2;
	ck_assert_int_eq(bt_batch_store(&test.batch, &result, 0, &test.flush), BT_BATCH_NO_HINT);
	ck_assert_str_eq(bt_batch_flush_name(test.flush), "pod_not_batchable");
	/*
	 * Stores three times in a row: references must stay balanced (the sanitizers report a
	 * leak).
	 */
	result.signature = signature_a();
	for (uint64_t i = 0; i < 3; i++) {
		result.cycle_count = 20 + i;
		ck_assert_int_eq(
			bt_batch_store(&test.batch, &result, 0, &test.flush), BT_BATCH_NO_HINT);
	}
	expect_hint(&test, signature_a(), 23, 0, "n1", "");
	stored_batch_finish(&test);
}
END_TEST

static bool sign_text(
	struct fake_world *world, struct bt_strbuf *out, struct bt_status *out_refusal)
{
	bt_strbuf_reset(out);
	return bt_sign_pod(world->framework, &world->pod, &world->arena, out, out_refusal);
}

START_TEST(test_signature__fragments)
{
	struct fake fakes[] = {fake_plugin("B", FILTER | SIGN), fake_plugin("A", FILTER | SIGN)};
	struct fake_world world;
	struct bt_strbuf text = {0};
	struct bt_status refusal;

	fake_world_init(&world, fakes, 2, "filter=B,A");
	ck_assert(world.framework->signatures_enabled);
	ck_assert(sign_text(&world, &text, &refusal));
	/* Parts are sorted by key; both plugins write "common", and the last value stays. */
	ck_assert_str_eq(
		bt_strbuf_c(&text), "1:A0:1:B0:6:common1:A25:v1.Pod.Spec.SchedulerName4:fake");
	fake_answer(&fakes[1], FAKE_SIGN, BT_STATUS_UNSCHEDULABLE, "not signable");
	ck_assert(!sign_text(&world, &text, &refusal));
	ck_assert_uint_eq(text.length, 0);
	FAKE_EXPECT(&world, refusal, BT_STATUS_UNSCHEDULABLE, "not signable", "A");
	bt_strbuf_finish(&text);
	fake_world_finish(&world);
}
END_TEST

START_TEST(test_signature__one_without_sign_switches_off)
{
	struct fake fakes[] = {fake_plugin("A", FILTER | SIGN), fake_plugin("B", FILTER),
		fake_plugin("C", FAKE_ROLE(FAKE_PERMIT))};
	struct fake_world world;
	struct bt_strbuf text = {0};

	fake_world_init(&world, fakes, 3, "filter=A,B");
	ck_assert(!sign_text(&world, &text, NULL));
	ck_assert_uint_eq(fakes[0].calls[FAKE_SIGN], 0);
	fake_world_finish(&world);
	/* Only plugins of the four points that decide about the node must sign. */
	fake_world_init(&world, fakes, 3, "filter=A; permit=C");
	ck_assert(sign_text(&world, &text, NULL));
	bt_strbuf_finish(&text);
	fake_world_finish(&world);
}
END_TEST

/* --- nodes that are ranked only when a hint is needed --- */

#define RANKED_MAX 40

struct naive_item {
	uint32_t node;
	int64_t total;
};

struct naive_heap {
	struct naive_item items[RANKED_MAX];
	uint32_t count;
};

static void naive_sift(struct naive_heap *heap, uint32_t at, uint32_t count)
{
	for (;;) {
		uint32_t child = 2 * at + 1;
		if (child >= count) {
			return;
		}
		if (child + 1 < count && heap->items[child + 1].total > heap->items[child].total) {
			child++;
		}
		if (heap->items[child].total <= heap->items[at].total) {
			return;
		}
		struct naive_item moved = heap->items[child];
		heap->items[child] = heap->items[at];
		heap->items[at] = moved;
		at = child;
	}
}

static uint32_t naive_pop(struct naive_heap *heap)
{
	uint32_t best = heap->items[0].node;

	heap->items[0] = heap->items[heap->count - 1];
	heap->count--;
	naive_sift(heap, 0, heap->count);
	return best;
}

/*
 * Spec 03 section 7: compares the order of the nodes after the chosen node with the order of
 * upstream's heap.
 */
static void expect_heap_order(uint64_t seed)
{
	struct stored_batch test;
	struct naive_heap heap = {0};
	struct bt_prng prng;
	bt_sym names[RANKED_MAX];
	int64_t totals[RANKED_MAX];

	stored_batch_init(&test);
	bt_prng_init(&prng, seed);
	struct bt_symbol_table *symbols = &test.world.state->symbols;
	uint32_t count = 2 + (uint32_t)bt_prng_below(&prng, RANKED_MAX - 2);
	uint32_t chosen = (uint32_t)bt_prng_below(&prng, count);
	for (uint32_t i = 0; i < count; i++) {
		char name[16];
		(void)snprintf(name, sizeof(name), "x%u", (unsigned)i);
		names[i] =
			bt_symbol_ref_str(symbols, i == chosen ? BT_STR("n3") : bt_str_from(name));
		/*
		 * With an even seed the chosen node has the largest total; otherwise its total is
		 * random.
		 */
		totals[i] = i == chosen && seed % 2 == 0 ? 9 : (int64_t)bt_prng_below(&prng, 5);
		heap.items[i].node = i;
		heap.items[i].total = totals[i];
	}
	heap.count = count;
	for (uint32_t i = count / 2; i-- > 0;) {
		naive_sift(&heap, i, count);
	}
	struct bt_batch_result result = {
		.signature = signature_a(),
		.chosen = BT_STR("n3"),
		.others = names,
		.other_count = count,
		.totals = totals,
		.cycle_count = 10,
	};
	ck_assert_int_eq(bt_batch_store(&test.batch, &result, 0, &test.flush), BT_BATCH_NO_HINT);
	ck_assert_str_eq(bt_batch_flush_name(test.flush), "");
	while (heap.count != 0) {
		uint32_t node = naive_pop(&heap);
		if (node != chosen) {
			expect_hint(&test, signature_a(), 11, 0,
				bt_symbol_text(symbols, names[node]).data, "");
		}
	}
	expect_hint(&test, signature_a(), 11, 0, "", "");
	for (uint32_t i = 0; i < count; i++) {
		bt_symbol_unref(symbols, names[i]);
	}
	stored_batch_finish(&test);
}

START_TEST(test_batch__ranks_as_the_heap_does)
{
	for (uint64_t seed = 0; seed < 200; seed++) {
		expect_heap_order(seed);
	}
}
END_TEST

START_TEST(test_batch__the_chosen_node_alone_is_no_list)
{
	struct stored_batch test;
	int64_t total = 7;

	stored_batch_init(&test);
	struct bt_batch_result result = {
		.signature = signature_a(),
		.chosen = BT_STR("n1"),
		.others = test.others,
		.other_count = 1,
		.totals = &total,
		.cycle_count = 11,
	};
	(void)bt_batch_store(&test.batch, &result, 0, &test.flush);
	ck_assert_str_eq(bt_batch_flush_name(test.flush), "empty_list");
	expect_hint(&test, signature_a(), 12, 0, "", "");
	stored_batch_finish(&test);
}
END_TEST

BT_TEST_MAIN("batch", test_batch__edge_02_40_edge_09_45_46_hint,
	test_batch__edge_02_40_edge_09_45_no_hint, test_batch__store, test_signature__fragments,
	test_signature__one_without_sign_switches_off, test_batch__ranks_as_the_heap_does,
	test_batch__the_chosen_node_alone_is_no_list)
