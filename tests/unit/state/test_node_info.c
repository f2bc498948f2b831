/* SPDX-License-Identifier: Apache-2.0 */
/* The plain view of a node and its overlay; the plain view of a pod; the change log. */
#include "state_fixture.h"

#include "test_main.h"

static struct bt_pod_info pending(struct fixture *f, struct bt_pod *pod)
{
	struct bt_pod_info info;

	bt_pod_info_init_pending(f->state, pod, &info);
	return info;
}

static const char *info_pod_names(struct fixture *f, const struct bt_node_info *info)
{
	struct bt_strbuf text = {0};
	struct bt_str kept;

	for (uint32_t i = 0; i < bt_node_info_pod_count(info); i++) {
		struct bt_pod_info pod;
		bt_node_info_pod_at(info, i, &pod);
		bt_strbuf_append_c(&text, i == 0 ? "" : ",");
		bt_strbuf_append_str(&text, pod.name);
	}
	kept = bt_arena_str(&f->arena, bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
	return kept.data;
}

START_TEST(test_node_info__view)
{
	struct fixture f;
	struct bt_node_info info;

	fixture_init(&f);
	bt_state_add_node(f.state,
		decode(&f, &bt_node_message,
			"{'metadata':{'name':'n1','labels':{'a':'b'}},'spec':{'unschedulable':true,"
			"'taints':[{'key':'k','effect':'NoExecute'}]},'status':{'allocatable':{'"
			"cpu':'4','memory':'8',"
			"'pods':'10','ephemeral-storage':'6','x.y/"
			"z':'3'},'conditions':[{'type':'Ready','status':'False'}],"
			"'declaredFeatures':['ExtendWebSocketsToKubelet']}}"));
	check_ok(bt_state_add_pod(
		f.state, make_requesting_pod(&f, "a", "n1", "'cpu':'1','x.y/z':'2'"), &err));
	bt_node_info_init(&info, f.state, slot_of(&f, "n1"));
	ck_assert(bt_str_equal_c(bt_node_info_name(&info), "n1"));
	ck_assert_uint_eq(bt_node_info_labels(&info)->count, 1);
	ck_assert_uint_eq(bt_node_info_taints(&info)->count, 1);
	ck_assert(bt_node_info_unschedulable(&info));
	ck_assert_uint_eq(bt_node_info_declared_features(&info), 1);
	ck_assert(bt_str_equal_c(bt_node_info_conditions(&info), "RF"));
	ck_assert_int_eq(info.allocatable[BT_CPU_MILLI], 4000);
	ck_assert_int_eq(info.allocatable[BT_MEMORY_BYTES], 8);
	ck_assert_int_eq(info.allocatable[BT_EPHEMERAL_BYTES], 6);
	ck_assert_int_eq(info.allocatable_pods, 10);
	ck_assert_int_eq(info.requested[BT_CPU_MILLI], 1000);
	ck_assert_int_eq(info.pod_count, 1);
	ck_assert_int_eq(bt_node_info_scalar_allocatable(&info, 0), 3);
	ck_assert_int_eq(bt_node_info_scalar_requested(&info, 0), 2);
	ck_assert_int_eq(bt_node_info_scalar_allocatable(&info, UINT32_MAX), 0);
	ck_assert_int_eq(bt_node_info_scalar_requested(&info, UINT32_MAX), 0);
	fixture_finish(&f);
}
END_TEST

START_TEST(test_node_info__overlay_adds_and_removes)
{
	struct fixture f;
	struct bt_arena arena = {0};
	struct bt_node_info info;
	struct bt_pod_info x;
	struct bt_pod_info y;
	struct bt_pod_info cached[4];

	fixture_init(&f);
	add_node(&f, "n1", "", "");
	for (int i = 0; i < 4; i++) {
		struct bt_pod *pod = make_requesting_pod(&f,
			bt_arena_printf(&f.arena, "p%d", i).data, "n1", "'cpu':'1','x.y/z':'2'");
		check_ok(bt_state_add_pod(f.state, pod, &err));
		bt_pod_info_from_record(
			f.state, bt_state_find_pod(f.state, pod->metadata.uid), &cached[i]);
	}
	x = pending(&f, make_requesting_pod(&f, "x", "", "'cpu':'3','x.y/z':'5'"));
	y = pending(&f, make_pod(&f, "y", "", "'containers':[{'name':'c'}]"));
	bt_node_info_init(&info, f.state, slot_of(&f, "n1"));
	bt_node_info_add_pod(&info, &arena, &x);
	bt_node_info_add_pod(&info, &arena, &y);
	ck_assert_int_eq(info.requested[BT_CPU_MILLI], 7000);
	ck_assert_int_eq(info.non_zero[BT_CPU_MILLI], 7100);
	ck_assert_int_eq(info.pod_count, 6);
	ck_assert_int_eq(bt_node_info_scalar_requested(&info, 0), 13);
	ck_assert_str_eq(info_pod_names(&f, &info), "p0,p1,p2,p3,x,y");
	check_ok(bt_node_info_remove_pod(&info, &arena, &cached[2], &err));
	check_ok(bt_node_info_remove_pod(&info, &arena, &cached[0], &err));
	ck_assert_str_eq(info_pod_names(&f, &info), "p1,p3,x,y");
	check_error(bt_node_info_remove_pod(&info, &arena, &cached[0], &err), BERTH_ERR_NOT_FOUND,
		"no corresponding pod p0 in pods of node n1");
	check_ok(bt_node_info_remove_pod(&info, &arena, &x, &err));
	/* A cached pod that is removed from the overlay and added again counts as added. */
	bt_node_info_add_pod(&info, &arena, &cached[0]);
	ck_assert_str_eq(info_pod_names(&f, &info), "p1,p3,y,p0");
	ck_assert_int_eq(info.requested[BT_CPU_MILLI], 3000);
	check_ok(bt_node_info_remove_pod(&info, &arena, &cached[0], &err));
	ck_assert_int_eq(info.requested[BT_CPU_MILLI], 2000);
	ck_assert_int_eq(info.pod_count, 3);
	ck_assert_int_eq(bt_node_info_scalar_requested(&info, 0), 4);
	/* The node table is unchanged. */
	ck_assert_int_eq(f.state->nodes.requested[BT_CPU_MILLI][info.slot], 4000);
	bt_pod_info_finish_pending(f.state, &x);
	bt_pod_info_finish_pending(f.state, &y);
	bt_arena_finish(&arena);
	fixture_finish(&f);
}
END_TEST

/* Only the sums change: pods, ports and the table stay. */
START_TEST(test_node_info__change_sums)
{
	struct fixture f;
	struct bt_arena arena = {0};
	struct bt_node_info whole;
	struct bt_node_info sums;
	struct bt_pod_info p;
	struct bt_pod *pod;

	fixture_init(&f);
	add_node(&f, "n1", "", "");
	pod = make_pod(&f, "p", "n1",
		"'containers':[{'name':'c','ports':[{'hostPort':80}],'resources':{'requests':{"
		"'cpu':'1','memory':'7','ephemeral-storage':'5','x.y/z':'2'}}}]");
	check_ok(bt_state_add_pod(f.state, pod, &err));
	bt_pod_info_from_record(f.state, bt_state_find_pod(f.state, pod->metadata.uid), &p);
	bt_node_info_init(&whole, f.state, slot_of(&f, "n1"));
	bt_node_info_init(&sums, f.state, slot_of(&f, "n1"));
	check_ok(bt_node_info_remove_pod(&whole, &arena, &p, &err));
	bt_node_info_change_sums(&sums, &arena, p.shape, -1);
	ck_assert_int_eq(sums.requested[BT_CPU_MILLI], 0);
	ck_assert_int_eq(sums.requested[BT_CPU_MILLI], whole.requested[BT_CPU_MILLI]);
	ck_assert_int_eq(sums.requested[BT_MEMORY_BYTES], whole.requested[BT_MEMORY_BYTES]);
	ck_assert_int_eq(sums.requested[BT_EPHEMERAL_BYTES], whole.requested[BT_EPHEMERAL_BYTES]);
	ck_assert_int_eq(sums.non_zero[BT_CPU_MILLI], whole.non_zero[BT_CPU_MILLI]);
	ck_assert_int_eq(sums.non_zero[BT_MEMORY_BYTES], whole.non_zero[BT_MEMORY_BYTES]);
	ck_assert_int_eq(sums.pod_count, 0);
	ck_assert_int_eq(bt_node_info_scalar_requested(&sums, 0), 0);
	ck_assert_str_eq(info_pod_names(&f, &sums), "p");
	ck_assert_uint_eq(port_count(&sums), 1);
	ck_assert_uint_eq(port_count(&whole), 0);
	bt_node_info_change_sums(&sums, &arena, p.shape, 1);
	ck_assert_int_eq(sums.requested[BT_CPU_MILLI], 1000);
	ck_assert_int_eq(sums.requested[BT_MEMORY_BYTES], 7);
	ck_assert_int_eq(sums.requested[BT_EPHEMERAL_BYTES], 5);
	ck_assert_int_eq(sums.pod_count, 1);
	ck_assert_int_eq(bt_node_info_scalar_requested(&sums, 0), 2);
	bt_arena_finish(&arena);
	fixture_finish(&f);
}
END_TEST

#define PORTS(list) "'containers':[{'name':'c','ports':[" list "]}]"

START_TEST(test_node_info__overlay_ports)
{
	static const struct bt_host_port p80 = {BT_STR_INIT("0.0.0.0"), BT_STR_INIT("TCP"), 80};
	static const struct bt_host_port p81 = {BT_STR_INIT("0.0.0.0"), BT_STR_INIT("TCP"), 81};
	struct fixture f;
	struct bt_arena arena = {0};
	struct bt_node_info info;
	struct bt_pod_info added;
	struct bt_pod_info cached;
	struct bt_pod *pod;

	fixture_init(&f);
	pod = make_pod(&f, "a", "n1", PORTS("{'hostPort':80},{'hostPort':82}"));
	check_ok(bt_state_add_pod(f.state, pod, &err));
	bt_pod_info_from_record(f.state, bt_state_find_pod(f.state, pod->metadata.uid), &cached);
	bt_node_info_init(&info, f.state, slot_of(&f, "n1"));
	ck_assert(bt_node_info_port_conflicts(&info, &p80));
	ck_assert(!bt_node_info_port_conflicts(&info, &p81));
	added = pending(&f, make_pod(&f, "b", "", PORTS("{'hostPort':80},{'hostPort':81}")));
	bt_node_info_add_pod(&info, &arena, &added);
	ck_assert_uint_eq(port_count(&info), 3);
	ck_assert(bt_node_info_port_conflicts(&info, &p81));
	/* Ports are a set: removing the first of two pods with the same port removes the port. */
	check_ok(bt_node_info_remove_pod(&info, &arena, &cached, &err));
	ck_assert(!bt_node_info_port_conflicts(&info, &p80));
	ck_assert(bt_node_info_port_conflicts(&info, &p81));
	check_ok(bt_node_info_remove_pod(&info, &arena, &added, &err));
	ck_assert_uint_eq(port_count(&info), 0);
	ck_assert_uint_eq(row_of(&f, "n1")->ports.count, 2);
	bt_pod_info_finish_pending(f.state, &added);
	bt_arena_finish(&arena);
	fixture_finish(&f);
}
END_TEST

START_TEST(test_node_info__remove_without_uid)
{
	struct fixture f;
	struct bt_arena arena = {0};
	struct bt_node_info info;
	struct bt_pod_info pod = {.name = BT_STR("x")};

	fixture_init(&f);
	add_node(&f, "n1", "", "");
	bt_node_info_init(&info, f.state, slot_of(&f, "n1"));
	check_error(bt_node_info_remove_pod(&info, &arena, &pod, &err), BERTH_ERR_INVALID,
		"cannot get cache key for pod with empty UID");
	bt_arena_finish(&arena);
	fixture_finish(&f);
}
END_TEST

START_TEST(test_pod_info__pending_and_bound)
{
	struct fixture f;
	struct bt_pod *pod;
	struct bt_pod_info info;

	fixture_init(&f);
	pod = make_pod_with(&f, "a", "n1", "'labels':{'l':'v'}", "'priority':7",
		"'nominatedNodeName':'n2','startTime':'1970-01-01T00:01:00Z'");
	info = pending(&f, pod);
	ck_assert(info.object == pod);
	ck_assert_uint_eq(info.pod_id, BT_POD_NONE);
	ck_assert_int_eq(info.priority, 7);
	ck_assert(bt_str_equal_c(info.node_name, "n1"));
	ck_assert_uint_ne(info.label_set, BT_LABEL_SET_NONE);
	bt_pod_info_finish_pending(f.state, &info);
	ck_assert_uint_eq(f.state->shapes.shapes.map.count, 0);
	ck_assert_uint_eq(f.state->label_sets.sets.map.count, 0);
	bt_pod_info_finish_pending(f.state, &info);
	check_ok(bt_state_add_pod(f.state, pod, &err));
	bt_pod_info_from_record(f.state, bt_state_find_pod(f.state, pod->metadata.uid), &info);
	ck_assert(info.object == NULL);
	ck_assert(bt_str_equal_c(info.uid, "a-uid"));
	ck_assert(bt_str_equal_c(info.nominated_node_name, "n2"));
	ck_assert_int_eq(info.start_seconds, 60);
	ck_assert_uint_eq(info.labels->count, 1);
	ck_assert(bt_str_equal_c(info.namespace_, "ns"));
	ck_assert(bt_str_equal_c(info.name, "a"));
	fixture_finish(&f);
}
END_TEST

START_TEST(test_change_log__ring)
{
	struct bt_change_log log;

	bt_change_log_init(&log, 4);
	ck_assert(bt_change_log_covers(&log, 0));
	for (uint32_t i = 0; i < 6; i++) {
		bt_change_log_append(&log, i, BT_CHANGE_PODS);
	}
	ck_assert(!bt_change_log_covers(&log, 1));
	ck_assert(bt_change_log_covers(&log, 2));
	for (uint64_t i = 2; i < 6; i++) {
		ck_assert_uint_eq(bt_change_log_at(&log, i).slot, i);
	}
	bt_change_log_append(&log, 1, BT_CHANGE_LABELS | BT_CHANGE_TAINTS);
	for (uint32_t i = 0; i < 2 * BT_CHANGE_LOG_SHORT; i++) {
		bt_change_log_append(&log, 2, BT_CHANGE_PODS);
	}
	/* The range is long enough for the search of the last change. */
	ck_assert_uint_eq(bt_change_log_end(&log, 6, BT_CHANGE_LABELS | BT_CHANGE_CLAIMS), 7);
	ck_assert_uint_eq(bt_change_log_end(&log, 6, BT_CHANGE_PODS), log.sequence);
	ck_assert_uint_eq(bt_change_log_end(&log, 6, BT_CHANGE_CLAIMS), 6);
	ck_assert_uint_eq(bt_change_log_end(&log, 7, BT_CHANGE_TAINTS), 7);
	ck_assert_uint_eq(
		bt_change_log_end(&log, log.sequence - 1, BT_CHANGE_TAINTS), log.sequence);
	bt_change_log_finish(&log);
	bt_change_log_finish(&log);
}
END_TEST

BT_TEST_MAIN("node_info", test_node_info__view, test_node_info__overlay_adds_and_removes,
	test_node_info__change_sums, test_node_info__overlay_ports,
	test_node_info__remove_without_uid, test_pod_info__pending_and_bound, test_change_log__ring)
