/* SPDX-License-Identifier: Apache-2.0 */
/* Assigned pods in the cache: spec 03b sections 3 and 4, numbered edge cases of section 11. */
#include "state_fixture.h"

#include "test_main.h"

START_TEST(test_state__edge_03b_01_assume_twice)
{
	struct fixture f;
	struct bt_pod *pod;

	fixture_init(&f);
	pod = make_pod(&f, "a", "n1", "");
	check_ok(bt_state_assume_pod(f.state, pod, &err));
	ck_assert(is_assumed(&f, pod));
	check_error(bt_state_assume_pod(f.state, pod, &err), BERTH_ERR_STATE,
		"pod a-uid(ns/a) is in the cache, so can't be assumed");
	check_error(bt_state_assume_shaped(f.state, pod, bt_state_pod_at(f.state, 0)->shape,
			    bt_state_pod_at(f.state, 0)->label_set, slot_of(&f, "n1"), &err),
		BERTH_ERR_STATE, "pod a-uid(ns/a) is in the cache, so can't be assumed");
	ck_assert_uint_eq(f.state->pods.count, 1);
	fixture_finish(&f);
}
END_TEST

START_TEST(test_state__edge_03b_02_add_twice)
{
	struct fixture f;
	struct bt_pod *pod;

	fixture_init(&f);
	pod = make_requesting_pod(&f, "a", "n1", "'cpu':'1'");
	check_ok(bt_state_add_pod(f.state, pod, &err));
	check_error(bt_state_add_pod(f.state, pod, &err), BERTH_ERR_STATE,
		"pod a-uid(ns/a) was already in added state");
	ck_assert_int_eq(f.state->nodes.requested[BT_CPU_MILLI][slot_of(&f, "n1")], 1000);
	ck_assert_int_eq(f.state->nodes.pod_count[slot_of(&f, "n1")], 1);
	fixture_finish(&f);
}
END_TEST

START_TEST(test_state__edge_03b_03_confirm_on_same_node)
{
	struct fixture f;
	struct bt_pod *pod;
	struct bt_pod *confirmed;
	uint32_t id;

	fixture_init(&f);
	pod = make_requesting_pod(&f, "a", "n1", "'cpu':'1'");
	check_ok(bt_state_assume_pod(f.state, pod, &err));
	id = bt_state_find_pod(f.state, pod->metadata.uid);
	confirmed = make_pod_with(&f, "a", "n1", "'labels':{'new':'label'}",
		"'containers':[{'name':'c','resources':{'requests':{'cpu':'1'}}}]",
		"'startTime':'2026-01-01T00:00:00Z','nominatedNodeName':'n9'");
	check_ok(bt_state_add_pod(f.state, confirmed, &err));
	ck_assert(!is_assumed(&f, pod));
	ck_assert_uint_eq(f.state->pods.assumed_count, 0);
	ck_assert_uint_eq(bt_state_find_pod(f.state, pod->metadata.uid), id);
	ck_assert_uint_eq(f.state->label_sets.sets.items[bt_state_pod_at(f.state, id)->label_set]
				  .labels.count,
		1);
	ck_assert_int_eq(bt_state_pod_at(f.state, id)->start_seconds, INT64_C(1767225600));
	ck_assert_int_eq(f.state->nodes.requested[BT_CPU_MILLI][slot_of(&f, "n1")], 1000);
	fixture_finish(&f);
}
END_TEST

START_TEST(test_state__confirming_changes_nothing_but_the_record)
{
	struct fixture f;
	struct bt_pod *pod;
	uint64_t sequence;
	int64_t generation;

	fixture_init(&f);
	add_node(&f, "n1", "", "");
	pod = make_requesting_pod(&f, "a", "n1", "'cpu':'1'");
	check_ok(bt_state_assume_pod(f.state, pod, &err));
	sequence = f.state->log.sequence;
	generation = row_of(&f, "n1")->generation;
	check_ok(bt_state_add_pod(f.state, pod, &err));
	ck_assert_uint_eq(f.state->log.sequence, sequence);
	ck_assert_int_gt(row_of(&f, "n1")->generation, generation);
	fixture_finish(&f);
}
END_TEST

START_TEST(test_state__edge_03b_04_confirm_on_other_node)
{
	struct fixture f;

	fixture_init(&f);
	add_node(&f, "n2", "", "");
	check_ok(bt_state_assume_pod(
		f.state, make_requesting_pod(&f, "a", "n1", "'cpu':'1'"), &err));
	ck_assert_uint_eq(f.state->node_entry_count, 2);
	check_ok(bt_state_add_pod(f.state, make_requesting_pod(&f, "a", "n2", "'cpu':'1'"), &err));
	ck_assert_uint_eq(f.state->node_entry_count, 1);
	ck_assert_uint_eq(slot_of(&f, "n1"), BT_SLOT_NONE);
	ck_assert_str_eq(pod_names(&f, "n2"), "a");
	ck_assert_int_eq(f.state->nodes.requested[BT_CPU_MILLI][slot_of(&f, "n2")], 1000);
	ck_assert_str_eq(bt_strbuf_c(&f.warnings),
		"Pod was added to a different node than it was assumed\n");
	fixture_finish(&f);
}
END_TEST

START_TEST(test_state__edge_03b_05_forget_twice)
{
	struct fixture f;
	struct bt_pod *pod;

	fixture_init(&f);
	pod = make_pod(&f, "a", "n1", "");
	check_ok(bt_state_assume_pod(f.state, pod, &err));
	check_ok(bt_state_forget_pod(f.state, pod, &err));
	check_ok(bt_state_forget_pod(f.state, pod, &err));
	ck_assert_uint_eq(f.state->pods.count, 0);
	ck_assert_uint_eq(f.state->node_entry_count, 0);
	fixture_finish(&f);
}
END_TEST

START_TEST(test_state__edge_03b_06_forget_added_or_elsewhere)
{
	struct fixture f;
	struct bt_pod *added;

	fixture_init(&f);
	added = make_pod(&f, "a", "n1", "");
	check_ok(bt_state_add_pod(f.state, added, &err));
	check_error(bt_state_forget_pod(f.state, added, &err), BERTH_ERR_STATE,
		"pod a-uid(ns/a) wasn't assumed so cannot be forgotten");
	check_ok(bt_state_assume_pod(f.state, make_pod(&f, "b", "n1", ""), &err));
	check_error(bt_state_forget_pod(f.state, make_pod(&f, "b", "n2", ""), &err),
		BERTH_ERR_STATE, "pod b-uid(ns/b) was assumed on n2 but assigned to n1");
	fixture_finish(&f);
}
END_TEST

START_TEST(test_state__edge_03b_07_update_unknown_or_assumed)
{
	struct fixture f;
	struct bt_pod *pod;

	fixture_init(&f);
	pod = make_pod(&f, "a", "n1", "");
	check_error(bt_state_update_pod(f.state, pod, pod, &err), BERTH_ERR_NOT_FOUND,
		"pod a-uid(ns/a) is not added to scheduler cache, so cannot be updated");
	check_ok(bt_state_assume_pod(f.state, pod, &err));
	check_error(bt_state_update_pod(f.state, pod, pod, &err), BERTH_ERR_STATE,
		"assumed pod a-uid(ns/a) should not be updated");
	check_ok(bt_state_add_pod(f.state, pod, &err));
	check_error(bt_state_update_pod(f.state, pod, make_pod(&f, "a", "n2", ""), &err),
		BERTH_ERR_INTERNAL,
		"Pod updated on a different node than previously added to. Scheduler cache is "
		"corrupted and can badly "
		"affect scheduling decisions");
	ck_assert_str_eq(pod_names(&f, "n1"), "a");
	fixture_finish(&f);
}
END_TEST

START_TEST(test_state__edge_03b_08_update_to_other_uid)
{
	struct fixture f;
	struct bt_pod *a;
	struct bt_pod *b;

	fixture_init(&f);
	a = make_pod(&f, "a", "n1", "");
	b = make_pod(&f, "b", "n1", "");
	check_ok(bt_state_add_pod(f.state, a, &err));
	check_ok(bt_state_update_pod(f.state, a, b, &err));
	ck_assert_uint_eq(bt_state_find_pod(f.state, a->metadata.uid), BT_POD_NONE);
	ck_assert_uint_ne(bt_state_find_pod(f.state, b->metadata.uid), BT_POD_NONE);
	ck_assert_str_eq(pod_names(&f, "n1"), "b");
	fixture_finish(&f);
}
END_TEST

START_TEST(test_state__update_takes_the_uid_of_a_cached_pod)
{
	struct fixture f;
	struct bt_pod *a;
	struct bt_pod *b;

	fixture_init(&f);
	a = make_pod(&f, "a", "n1", "");
	b = make_pod(&f, "b", "n1", "");
	check_ok(bt_state_add_pod(f.state, a, &err));
	check_ok(bt_state_add_pod(f.state, b, &err));
	check_ok(bt_state_update_pod(f.state, a, b, &err));
	ck_assert_uint_eq(f.state->pods.count, 1);
	check_ok(bt_state_remove_pod(f.state, b, &err));
	ck_assert_uint_eq(f.state->node_entry_count, 0);
	fixture_finish(&f);
}
END_TEST

START_TEST(test_state__edge_03b_09_remove_assumed)
{
	struct fixture f;
	struct bt_pod *pod;

	fixture_init(&f);
	pod = make_pod(&f, "a", "n1", "");
	check_ok(bt_state_assume_pod(f.state, pod, &err));
	check_ok(bt_state_remove_pod(f.state, pod, &err));
	ck_assert_uint_eq(f.state->pods.assumed_count, 0);
	check_error(bt_state_remove_pod(f.state, pod, &err), BERTH_ERR_NOT_FOUND,
		"pod a-uid(ns/a) is not found in scheduler cache, so cannot be removed from it");
	fixture_finish(&f);
}
END_TEST

START_TEST(test_state__edge_03b_10_remove_with_other_node)
{
	struct fixture f;

	fixture_init(&f);
	check_ok(bt_state_add_pod(f.state, make_pod(&f, "a", "n1", ""), &err));
	check_error(bt_state_remove_pod(f.state, make_pod(&f, "a", "n2", ""), &err),
		BERTH_ERR_INTERNAL,
		"Scheduler cache is corrupted and can badly affect scheduling decisions");
	ck_assert_uint_eq(f.state->pods.count, 1);
	bt_strbuf_reset(&f.warnings);
	check_ok(bt_state_remove_pod(f.state, make_pod(&f, "a", "", ""), &err));
	ck_assert_uint_eq(f.state->pods.count, 0);
	ck_assert_str_eq(bt_strbuf_c(&f.warnings),
		"Pod was added to a different node than it was assumed\n");
	fixture_finish(&f);
}
END_TEST

START_TEST(test_state__edge_03b_11_empty_uid)
{
	static const char text[] = "cannot get cache key for pod with empty UID";
	struct fixture f;
	struct bt_pod *pod;
	bool assumed = true;

	fixture_init(&f);
	pod = decode(&f, &bt_pod_message,
		"{'metadata':{'name':'a','namespace':'ns'},'spec':{'nodeName':'n1'}}");
	check_error(bt_state_assume_pod(f.state, pod, &err), BERTH_ERR_INVALID, text);
	check_error(bt_state_assume_shaped(f.state, pod, 0, 0, 0, &err), BERTH_ERR_INVALID, text);
	check_error(bt_state_forget_pod(f.state, pod, &err), BERTH_ERR_INVALID, text);
	check_error(bt_state_add_pod(f.state, pod, &err), BERTH_ERR_INVALID, text);
	check_error(bt_state_update_pod(f.state, pod, pod, &err), BERTH_ERR_INVALID, text);
	check_error(bt_state_remove_pod(f.state, pod, &err), BERTH_ERR_INVALID, text);
	check_error(bt_state_is_assumed_pod(f.state, pod, &assumed, &err), BERTH_ERR_INVALID, text);
	check_error(bt_snapshot_assume_pod(f.state, pod, &err), BERTH_ERR_INVALID, text);
	ck_assert(assumed);
	ck_assert_uint_eq(f.state->node_entry_count, 0);
	fixture_finish(&f);
}
END_TEST

START_TEST(test_state__edge_03b_17_pod_without_requests)
{
	struct fixture f;
	uint32_t slot;

	fixture_init(&f);
	check_ok(bt_state_add_pod(f.state,
		make_pod(&f, "a", "n1", "'containers':[{'name':'a'},{'name':'b'}]"), &err));
	slot = slot_of(&f, "n1");
	ck_assert_int_eq(f.state->nodes.requested[BT_CPU_MILLI][slot], 0);
	ck_assert_int_eq(f.state->nodes.requested[BT_MEMORY_BYTES][slot], 0);
	ck_assert_int_eq(f.state->nodes.non_zero[BT_CPU_MILLI][slot], 200);
	ck_assert_int_eq(f.state->nodes.non_zero[BT_MEMORY_BYTES][slot], INT64_C(419430400));
	fixture_finish(&f);
}
END_TEST

START_TEST(test_state__edge_03b_18_only_ephemeral_storage)
{
	struct fixture f;
	uint32_t slot;

	fixture_init(&f);
	check_ok(bt_state_add_pod(
		f.state, make_requesting_pod(&f, "a", "n1", "'ephemeral-storage':'500'"), &err));
	slot = slot_of(&f, "n1");
	ck_assert_int_eq(f.state->nodes.requested[BT_EPHEMERAL_BYTES][slot], 500);
	ck_assert_int_eq(f.state->nodes.non_zero[BT_CPU_MILLI][slot], 100);
	ck_assert_int_eq(f.state->nodes.non_zero[BT_MEMORY_BYTES][slot], INT64_C(209715200));
	fixture_finish(&f);
}
END_TEST

START_TEST(test_state__edge_03b_19_scalar_names)
{
	struct fixture f;
	uint32_t column;

	fixture_init(&f);
	check_ok(bt_state_add_pod(f.state,
		make_requesting_pod(
			&f, "a", "n1", "'random-invalid-extended-key':'100','example.com/foo':'3'"),
		&err));
	check_ok(bt_state_add_pod(
		f.state, make_requesting_pod(&f, "b", "n1", "'example.com/foo':'5'"), &err));
	ck_assert_uint_eq(
		bt_node_table_find_scalar(&f.state->nodes, BT_STR("random-invalid-extended-key")),
		UINT32_MAX);
	column = bt_node_table_find_scalar(&f.state->nodes, BT_STR("example.com/foo"));
	ck_assert_int_eq(f.state->nodes.scalars.items[column].requested[slot_of(&f, "n1")], 8);
	fixture_finish(&f);
}
END_TEST

#define LOCAL_PORT \
	"'containers':[{'name':'c','ports':[{'hostPort':80,'hostIP':'127.0.0.1','protocol':'TCP'}" \
	"]}]"

START_TEST(test_state__edge_03b_20_ports_are_a_set)
{
	struct fixture f;
	struct bt_pod *a;

	fixture_init(&f);
	check_ok(bt_state_add_pod(f.state,
		make_pod(&f, "none", "n1", "'containers':[{'name':'c','ports':[{'hostPort':0}]}]"),
		&err));
	ck_assert_uint_eq(row_of(&f, "n1")->ports.count, 0);
	a = make_pod(&f, "a", "n1", LOCAL_PORT);
	check_ok(bt_state_add_pod(f.state, a, &err));
	check_ok(bt_state_add_pod(f.state, make_pod(&f, "b", "n1", LOCAL_PORT), &err));
	ck_assert_uint_eq(row_of(&f, "n1")->ports.count, 1);
	check_ok(bt_state_remove_pod(f.state, a, &err));
	ck_assert_uint_eq(row_of(&f, "n1")->ports.count, 0);
	fixture_finish(&f);
}
END_TEST

START_TEST(test_state__edge_03b_21_last_pod_fills_the_gap)
{
	struct fixture f;
	struct bt_pod *a;

	fixture_init(&f);
	a = make_pod(&f, "a", "n1", "");
	check_ok(bt_state_add_pod(f.state, a, &err));
	check_ok(bt_state_add_pod(f.state, make_pod(&f, "b", "n1", ""), &err));
	check_ok(bt_state_add_pod(f.state, make_pod(&f, "c", "n1", ""), &err));
	check_ok(bt_state_remove_pod(f.state, a, &err));
	ck_assert_str_eq(pod_names(&f, "n1"), "c,b");
	fixture_finish(&f);
}
END_TEST

START_TEST(test_state__confirming_moves_the_pod_to_the_end)
{
	struct fixture f;
	struct bt_pod *a;

	fixture_init(&f);
	a = make_pod(&f, "a", "n1",
		"'affinity':{'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':"
		"[{'topologyKey':'z'}]}}");
	check_ok(bt_state_assume_pod(f.state, a, &err));
	check_ok(bt_state_add_pod(
		f.state, make_pod(&f, "b", "n1", "'affinity':{'podAffinity':{}}"), &err));
	check_ok(bt_state_add_pod(f.state, make_pod(&f, "c", "n1", ""), &err));
	/*
	 * Like upstream, the confirmation removes and adds pod a, so pod c moves to the position of
	 * pod a.
	 */
	check_ok(bt_state_add_pod(f.state, a, &err));
	ck_assert_str_eq(pod_names(&f, "n1"), "c,b,a");
	ck_assert_uint_eq(row_of(&f, "n1")->pods_with_affinity.items[1],
		bt_state_find_pod(f.state, a->metadata.uid));
	fixture_finish(&f);
}
END_TEST

START_TEST(test_state__edge_03b_29_empty_pod_affinity)
{
	struct fixture f;

	fixture_init(&f);
	check_ok(bt_state_add_pod(
		f.state, make_pod(&f, "a", "n1", "'affinity':{'podAffinity':{}}"), &err));
	check_ok(bt_state_add_pod(
		f.state, make_pod(&f, "b", "n1", "'affinity':{'nodeAffinity':{}}"), &err));
	ck_assert_uint_eq(row_of(&f, "n1")->pods_with_affinity.count, 1);
	ck_assert_uint_eq(row_of(&f, "n1")->pods_with_required_anti_affinity.count, 0);
	fixture_finish(&f);
}
END_TEST

START_TEST(test_state__change_kinds_follow_the_pod)
{
	static const struct {
		const char *name;
		const char *spec;
		uint32_t kinds;
	} rows[] = {
		{"plain", "", BT_CHANGE_PODS},
		{"port", LOCAL_PORT, BT_CHANGE_PODS | BT_CHANGE_PORTS},
		{"affinity", "'affinity':{'podAffinity':{}}",
			BT_CHANGE_PODS | BT_CHANGE_AFFINITY_PODS},
		{"claim", "'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'c'}}]",
			BT_CHANGE_PODS | BT_CHANGE_CLAIMS},
	};
	struct fixture f;

	fixture_init(&f);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_pod *pod = make_pod(&f, rows[i].name, "n1", rows[i].spec);
		for (int removing = 0; removing < 2; removing++) {
			uint64_t seen = f.state->log.sequence;
			if (removing) {
				check_ok(bt_state_remove_pod(f.state, pod, &err));
			} else {
				check_ok(bt_state_add_pod(f.state, pod, &err));
			}
			ck_assert_msg(f.state->log.sequence == seen + 1, "%s", rows[i].name);
			ck_assert_msg(bt_change_log_at(&f.state->log, seen).kinds == rows[i].kinds,
				"%s", rows[i].name);
		}
	}
	fixture_finish(&f);
}
END_TEST

START_TEST(test_state__pod_on_the_empty_node_name)
{
	struct fixture f;
	struct bt_pod *pod;

	fixture_init(&f);
	pod = make_pod(&f, "a", "", "");
	check_ok(bt_state_add_pod(f.state, pod, &err));
	ck_assert_uint_eq(f.state->node_entry_count, 1);
	ck_assert_str_eq(pod_names(&f, ""), "a");
	check_ok(bt_state_remove_pod(f.state, pod, &err));
	ck_assert_uint_eq(f.state->node_entry_count, 0);
	fixture_finish(&f);
}
END_TEST

/*
 * Upstream's former CreateNodeNameToInfoMap: a pod creates the record of its node; the node object
 * comes later or never.
 */
START_TEST(test_state__edge_05b_24_pod_on_an_unknown_node)
{
	struct fixture f;

	fixture_init(&f);
	check_ok(bt_state_add_pod(
		f.state, make_requesting_pod(&f, "a", "unknown", "'cpu':'1'"), &err));
	ck_assert(row_of(&f, "unknown")->in_cache);
	ck_assert(!row_of(&f, "unknown")->has_node);
	ck_assert_int_eq(f.state->nodes.requested[BT_CPU_MILLI][slot_of(&f, "unknown")], 1000);
	check_ok(bt_state_refresh_snapshot(f.state, &err));
	ck_assert_uint_eq(f.state->snapshot.count, 0);
	bt_state_add_node(f.state, make_node(&f, "unknown", "", ""));
	ck_assert(row_of(&f, "unknown")->has_node);
	ck_assert_int_eq(f.state->nodes.requested[BT_CPU_MILLI][slot_of(&f, "unknown")], 1000);
	check_ok(bt_state_refresh_snapshot(f.state, &err));
	ck_assert_uint_eq(f.state->snapshot.count, 1);
	fixture_finish(&f);
}
END_TEST

BT_TEST_MAIN("state_pods", test_state__edge_03b_01_assume_twice, test_state__edge_03b_02_add_twice,
	test_state__edge_03b_03_confirm_on_same_node,
	test_state__confirming_changes_nothing_but_the_record,
	test_state__edge_03b_04_confirm_on_other_node, test_state__edge_03b_05_forget_twice,
	test_state__edge_03b_06_forget_added_or_elsewhere,
	test_state__edge_03b_07_update_unknown_or_assumed,
	test_state__edge_03b_08_update_to_other_uid,
	test_state__update_takes_the_uid_of_a_cached_pod, test_state__edge_03b_09_remove_assumed,
	test_state__edge_03b_10_remove_with_other_node, test_state__edge_03b_11_empty_uid,
	test_state__edge_03b_17_pod_without_requests,
	test_state__edge_03b_18_only_ephemeral_storage, test_state__edge_03b_19_scalar_names,
	test_state__edge_03b_20_ports_are_a_set, test_state__edge_03b_21_last_pod_fills_the_gap,
	test_state__confirming_moves_the_pod_to_the_end, test_state__edge_03b_29_empty_pod_affinity,
	test_state__change_kinds_follow_the_pod, test_state__pod_on_the_empty_node_name,
	test_state__edge_05b_24_pod_on_an_unknown_node)
