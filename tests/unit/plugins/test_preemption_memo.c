/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Data that preemption caches between attempts must equal a fresh scan of the nodes after any
 * change. The fixture turns verification on: every attempt is compared with a dry run without
 * cached data, and a difference aborts the test.
 */
#include "base/prng.h"
#include "preemption_fixture.h"
#include "test_main.h"

#define NODES 12

static void add_nodes(struct preemption_fixture *fixture)
{
	for (int i = 0; i < NODES; i++) {
		struct bt_str name = bt_arena_printf(&fixture->arena, "node%d", i);

		preemption_add_node(fixture, name.data, "'cpu':'2','memory':'8Gi','pods':'8'");
	}
}

static struct bt_str random_pod(
	struct preemption_fixture *fixture, struct bt_prng *prng, int number)
{
	static const char *const priorities[] = {"neg", "low", "mid", "hi"};

	return bt_arena_printf(&fixture->arena, "p%d:%s,cpu=%um,start=%u", number,
		priorities[bt_prng_below(prng, 4)], (unsigned)bt_prng_below(prng, 8) * 100,
		(unsigned)bt_prng_below(prng, 5));
}

static void add_pod(struct preemption_fixture *fixture, struct bt_prng *prng, int number)
{
	struct bt_str node =
		bt_arena_printf(&fixture->arena, "node%u", (unsigned)bt_prng_below(prng, NODES));

	preemption_add_pods(fixture, node.data, random_pod(fixture, prng, number).data);
}

/** Returns a random pod, or NULL if that pod is on no node. */
static struct bt_pod *some_pod(const struct preemption_fixture *fixture, struct bt_prng *prng)
{
	struct bt_pod *pod;

	if (fixture->known.count == 0) {
		return NULL;
	}
	pod = fixture->known.items[bt_prng_below(prng, fixture->known.count)];
	return pod->spec.node_name.length != 0 &&
			bt_state_find_pod(fixture->state, pod->metadata.uid) != BT_POD_NONE
		? pod
		: NULL;
}

static void change(struct preemption_fixture *fixture, struct bt_prng *prng, int number)
{
	struct bt_pod *pod = some_pod(fixture, prng);

	if (pod == NULL || bt_prng_below(prng, 3) == 0) {
		add_pod(fixture, prng, number);
	} else if (bt_prng_below(prng, 2) == 0) {
		ck_assert_int_eq(bt_state_remove_pod(fixture->state, pod, NULL), 0);
	} else {
		/* The pod's start time changes: only its importance differs. */
		struct bt_pod later = *pod;
		struct bt_time *start = BT_ARENA_NEW(&fixture->arena, struct bt_time);

		start->set = true;
		start->seconds = INT64_C(1767225600) + (int64_t)bt_prng_below(prng, 9);
		later.status.start_time = start;
		ck_assert_int_eq(bt_state_update_pod(fixture->state, pod, &later, NULL), 0);
		*pod = later;
	}
	ck_assert_int_eq(bt_state_refresh_snapshot(fixture->state, NULL), 0);
}

static int32_t naive_lowest(const struct bt_state *state, uint32_t slot)
{
	const struct bt_node_row *row = &state->nodes.rows[slot];
	int32_t lowest = INT32_MAX;

	for (uint32_t i = 0; i < row->pods.count; i++) {
		int32_t priority = bt_state_pod_at(state, row->pods.items[i])->priority;

		lowest = priority < lowest ? priority : lowest;
	}
	return lowest;
}

static void expect_lowest(
	const struct preemption_fixture *fixture, struct bt_lowest_priorities *lowest)
{
	int32_t all = INT32_MAX;

	bt_lowest_priorities_refresh(lowest, fixture->state);
	for (uint32_t slot = 0; slot < fixture->state->nodes.slot_count; slot++) {
		int32_t expected = naive_lowest(fixture->state, slot);

		ck_assert_int_eq(lowest->by_slot.items[slot], expected);
		all = expected < all ? expected : all;
	}
	ck_assert_int_eq(bt_lowest_priority(lowest), all);
}

static uint32_t known_nodes(const struct preemption_fixture *fixture)
{
	struct bt_dry_run_end end;
	uint32_t known = 0;

	for (uint32_t i = 0; i < BT_DRY_RUN_MEMOS; i++) {
		const struct bt_dry_run_memo *memo = &fixture->evaluator->memos.items[i];

		for (uint32_t slot = 0; slot < memo->notes.count; slot++) {
			known += bt_dry_run_recall(memo, fixture->state, slot, &end);
		}
	}
	return known;
}

START_TEST(test_preemption_memo__random_changes_between_attempts)
{
	for (uint64_t seed = 0; seed < 12; seed++) {
		struct preemption_fixture fixture;
		struct bt_lowest_priorities lowest = {0};
		const struct bt_pod_info *pods[6];
		struct bt_prng prng;
		uint32_t known = 0;

		bt_prng_init(&prng, seed);
		preemption_init(&fixture,
			&(struct preemption_options){
				.args = "{'minCandidateNodesPercentage':100}", .plugins = "*"});
		add_nodes(&fixture);
		for (int i = 0; i < 30; i++) {
			add_pod(&fixture, &prng, i);
		}
		for (size_t i = 0; i < BT_ARRAY_LENGTH(pods); i++) {
			/* More pod shapes than the cache holds. */
			pods[i] = preemption_pending(&fixture,
				bt_arena_printf(
					&fixture.arena, "q%zu:hi,cpu=%zum", i, 1500 + i / 2 * 200)
					.data);
		}
		for (int step = 0; step < 60; step++) {
			(void)preemption_run(&fixture, pods[bt_prng_below(&prng, 6)], "*:U");
			known += known_nodes(&fixture);
			change(&fixture, &prng, 100 + step);
			expect_lowest(&fixture, &lowest);
		}
		/* The cache was used. */
		ck_assert_uint_gt(known, 0);
		bt_vec_finish(&lowest.by_slot);
	bt_vec_finish(&lowest.by_block);
		preemption_finish(&fixture);
	}
}
END_TEST

START_TEST(test_preemption_memo__a_change_of_the_node_is_not_recalled)
{
	struct preemption_fixture fixture;
	const struct bt_pod_info *pod;
	const struct bt_dry_run_memo *memo;
	struct bt_dry_run_end end;
	uint32_t slot;

	preemption_init(&fixture, NULL);
	preemption_add_node(&fixture, "node1", "'cpu':'1','pods':'8'");
	preemption_add_node(&fixture, "node2", "'cpu':'1','pods':'8'");
	preemption_add_pods(&fixture, "node1", "a:low,cpu=600m b:mid,cpu=300m");
	preemption_add_pods(&fixture, "node2", "c:low,cpu=200m d:hi,cpu=800m");
	pod = preemption_pending(&fixture, "p:hi,cpu=500m");
	ck_assert_str_eq(preemption_run(&fixture, pod, NULL), "Success");
	ck_assert_str_eq(preemption_candidates(&fixture), "node1[a]");
	memo = &fixture.evaluator->memos.items[0];
	for (uint32_t i = 0; i < BT_DRY_RUN_MEMOS; i++) {
		memo = fixture.evaluator->memos.items[i].last_use > memo->last_use
			? &fixture.evaluator->memos.items[i]
			: memo;
	}
	slot = preemption_slot(&fixture, "node1");
	ck_assert(bt_dry_run_recall(memo, fixture.state, slot, &end));
	ck_assert_uint_eq(end.victim_count, 1);
	ck_assert_uint_eq(end.victims[0], preemption_pod_id(&fixture, "a"));
	ck_assert(bt_dry_run_recall(memo, fixture.state, preemption_slot(&fixture, "node2"), &end));
	ck_assert_uint_eq(end.victim_count, 0);
	ck_assert_int_eq(end.status.code, BT_STATUS_UNSCHEDULABLE);
	preemption_add_pods(&fixture, "node1", "e:neg,cpu=0m");
	ck_assert(!bt_dry_run_recall(memo, fixture.state, slot, &end));
	ck_assert_str_eq(preemption_run(&fixture, pod, NULL), "Success");
	ck_assert_str_eq(preemption_candidates(&fixture), "node1[a]");
	preemption_finish(&fixture);
}
END_TEST

/** No pod has a lower priority: no node is scanned, but the message counts all nodes. */
START_TEST(test_preemption_memo__no_pod_to_evict)
{
	struct preemption_fixture fixture;

	preemption_init(&fixture, NULL);
	preemption_add_node(&fixture, "node1", "'cpu':'1','pods':'8'");
	preemption_add_node(&fixture, "node2", "'cpu':'1','pods':'8'");
	preemption_add_node(&fixture, "node3", "'cpu':'1','pods':'8'");
	preemption_add_pods(&fixture, "node1", "a:hi,cpu=1");
	preemption_add_pods(&fixture, "node2", "b:mid,cpu=1");
	preemption_expect(&fixture, "p:mid,cpu=500m", "node1:U node2:U",
		"Unschedulable: preemption: 0/3 nodes are available: 1 Preemption is not helpful "
		"for scheduling, 2 No preemption victims found for incoming pod.",
		"(cleared)", NULL);
	ck_assert_ptr_nonnull(fixture.evaluator->statuses.groups);
	/* Only the node with a pod of lower priority is scanned. */
	preemption_expect(
		&fixture, "q:101,cpu=500m", "node1:U node2:U", "Success", "node2", "node2[b]");
	ck_assert_ptr_null(fixture.evaluator->statuses.groups);
	preemption_finish(&fixture);
}
END_TEST

BT_TEST_MAIN("preemption_memo", test_preemption_memo__random_changes_between_attempts,
	test_preemption_memo__a_change_of_the_node_is_not_recalled,
	test_preemption_memo__no_pod_to_evict)
