/* SPDX-License-Identifier: Apache-2.0 */
/* Changes inside a pod group cycle: spec 03b section 7.3. */
#include "state_fixture.h"

#include "test_main.h"

START_TEST(test_snapshot__edge_03b_34_assumed_pod_is_forgotten_at_the_refresh)
{
	struct fixture f;
	struct bt_pod *pod;
	int64_t generation;

	fixture_init(&f);
	add_node(&f, "n1", "", "");
	check_refresh(&f);
	generation = row_of(&f, "n1")->generation;
	pod = make_requesting_pod(&f, "a", "n1", "'cpu':'1'");
	check_ok(bt_snapshot_assume_pod(f.state, pod, &err));
	check_valid(&f);
	ck_assert_int_eq(f.state->nodes.requested[BT_CPU_MILLI][slot_of(&f, "n1")], 1000);
	ck_assert_int_eq(row_of(&f, "n1")->generation, generation);
	/* The cache does not have the pod. */
	ck_assert_uint_eq(f.state->pods.count, 0);
	ck_assert_uint_eq(bt_state_find_pod(f.state, pod->metadata.uid), BT_POD_NONE);
	check_refresh(&f);
	ck_assert_int_eq(f.state->nodes.requested[BT_CPU_MILLI][slot_of(&f, "n1")], 0);
	ck_assert_str_eq(bt_strbuf_c(&f.warnings), "1 pods were left assumed in the snapshot\n");
	fixture_finish(&f);
}
END_TEST

START_TEST(test_snapshot__assume_and_forget)
{
	struct fixture f;
	struct bt_pod *pod;

	fixture_init(&f);
	add_node(&f, "n1", "", "");
	check_refresh(&f);
	pod = make_pod(&f, "a", "n1",
		"'affinity':{'podAffinity':{}},'volumes':[{'name':'v','persistentVolumeClaim':{'"
		"claimName':'c'}}]");
	check_error(bt_snapshot_forget_pod(f.state, pod, &err), BERTH_ERR_NOT_FOUND,
		"assumed pod \"a-uid\" not found in the snapshot");
	check_ok(bt_snapshot_assume_pod(f.state, pod, &err));
	ck_assert_uint_eq(row_of(&f, "n1")->pods_with_affinity.count, 1);
	/* Derived lists and used claims do not change. */
	ck_assert_uint_eq(f.state->snapshot.affinity_count, 0);
	ck_assert(!bt_state_is_claim_used(f.state, BT_STR("ns/c")));
	check_error(bt_snapshot_assume_pod(f.state, pod, &err), BERTH_ERR_STATE,
		"pod \"a-uid\" is already assumed in the snapshot");
	check_ok(bt_snapshot_forget_pod(f.state, pod, &err));
	ck_assert_uint_eq(row_of(&f, "n1")->pods.count, 0);
	/*
	 * The pod is assumed in the snapshot and in the cache: the cache still counts the pod after
	 * the snapshot forgets it.
	 */
	check_ok(bt_snapshot_assume_pod(f.state, pod, &err));
	check_ok(bt_state_assume_pod(f.state, pod, &err));
	check_valid(&f);
	check_ok(bt_snapshot_forget_pod(f.state, pod, &err));
	ck_assert_uint_eq(row_of(&f, "n1")->pods.count, 1);
	ck_assert(bt_state_is_claim_used(f.state, BT_STR("ns/c")));
	fixture_finish(&f);
}
END_TEST

START_TEST(test_snapshot__assume_on_an_unknown_node)
{
	struct fixture f;
	struct bt_pod *pod;

	fixture_init(&f);
	pod = make_pod(&f, "a", "n1", "");
	check_ok(bt_snapshot_assume_pod(f.state, pod, &err));
	ck_assert_uint_eq(f.state->node_entry_count, 0);
	ck_assert_uint_ne(slot_of(&f, "n1"), BT_SLOT_NONE);
	check_ok(bt_snapshot_forget_pod(f.state, pod, &err));
	ck_assert_uint_eq(slot_of(&f, "n1"), BT_SLOT_NONE);
	fixture_finish(&f);
}
END_TEST

static const char *placement_names(struct fixture *f)
{
	const uint32_t *slots;
	uint32_t count = bt_snapshot_placement_slots(f->state, &slots);

	return slot_names(f, slots, count);
}

START_TEST(test_snapshot__edge_03b_35_placements)
{
	struct fixture f;
	struct bt_placement_node nodes[3];
	struct bt_placement_node stale;
	struct bt_node *n2;

	fixture_init(&f);
	add_node(&f, "n1", "", "");
	n2 = make_node(&f, "n2", "", "");
	bt_state_add_node(f.state, n2);
	add_node(&f, "n3", "", "");
	check_refresh(&f);
	for (uint32_t i = 0; i < 3; i++) {
		nodes[i] = bt_snapshot_placement_node(
			f.state, bt_snapshot_list(&f.state->snapshot)[2 - i]);
		/* The node info borrows the name; the copies here outlive the nodes. */
		nodes[i].name = bt_arena_str(&f.arena, nodes[i].name);
	}
	/* A placement of all nodes is the same as no placement. */
	check_ok(bt_snapshot_assume_placement(f.state, nodes, 3, &err));
	ck_assert(!f.state->snapshot.has_placement);
	ck_assert_str_eq(placement_names(&f), "n1,n2,n3");
	check_ok(bt_snapshot_assume_placement(f.state, nodes, 2, &err));
	ck_assert_str_eq(placement_names(&f), "n3,n2");
	check_list(&f, "n1,n2,n3");
	bt_snapshot_forget_placement(f.state);
	ck_assert_str_eq(placement_names(&f), "n1,n2,n3");
	/* A stale node info: n2 was removed and added again. */
	stale = nodes[1];
	check_ok(bt_state_remove_node(f.state, n2, &err));
	check_refresh(&f);
	check_error(bt_snapshot_assume_placement(f.state, &stale, 1, &err), BERTH_ERR_NOT_FOUND,
		"node n2 in placement is not present in snapshot");
	bt_state_add_node(f.state, n2);
	check_refresh(&f);
	check_error(bt_snapshot_assume_placement(f.state, &stale, 1, &err), BERTH_ERR_STATE,
		"node n2 in placement is not the same instance as in the snapshot");
	ck_assert(!f.state->snapshot.has_placement);
	check_ok(bt_snapshot_assume_placement(f.state, nodes, 1, &err));
	bt_strbuf_reset(&f.warnings);
	check_refresh(&f);
	ck_assert(!f.state->snapshot.has_placement);
	ck_assert_str_eq(bt_strbuf_c(&f.warnings), "a placement was left set in the snapshot\n");
	fixture_finish(&f);
}
END_TEST

BT_TEST_MAIN("snapshot", test_snapshot__edge_03b_34_assumed_pod_is_forgotten_at_the_refresh,
	test_snapshot__assume_and_forget, test_snapshot__assume_on_an_unknown_node,
	test_snapshot__edge_03b_35_placements)
