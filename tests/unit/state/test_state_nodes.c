/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes in the cache, images and the snapshot: spec 03b sections 5 to 7, numbered edge cases of
 * section 11. */
#include "state_fixture.h"

#include "test_main.h"

START_TEST(test_state__edge_03b_12_imaginary_node)
{
	struct fixture f;

	fixture_init(&f);
	check_ok(bt_state_add_pod(f.state, make_requesting_pod(&f, "a", "n1", "'cpu':'1'"), &err));
	ck_assert_uint_eq(f.state->node_entry_count, 1);
	check_refresh(&f);
	check_list(&f, "");
	ck_assert_uint_eq(bt_state_snapshot_find(f.state, BT_STR("n1")), BT_SLOT_NONE);
	add_node(&f, "n1", "", "'allocatable':{'cpu':'4'}");
	check_refresh(&f);
	check_list(&f, "n1");
	ck_assert_uint_eq(f.state->node_entry_count, 1);
	ck_assert_int_eq(f.state->nodes.requested[BT_CPU_MILLI][slot_of(&f, "n1")], 1000);
	ck_assert_int_eq(f.state->nodes.allocatable[BT_CPU_MILLI][slot_of(&f, "n1")], 4000);
	fixture_finish(&f);
}
END_TEST

START_TEST(test_state__edge_03b_13_ghost_node)
{
	struct fixture f;
	struct bt_node *node;
	struct bt_pod *a;
	struct bt_pod *b;

	fixture_init(&f);
	node = make_node(&f, "n1", "", "'allocatable':{'cpu':'4'}");
	bt_state_add_node(f.state, node);
	a = make_requesting_pod(&f, "a", "n1", "'cpu':'1'");
	b = make_requesting_pod(&f, "b", "n1", "'cpu':'2'");
	check_ok(bt_state_add_pod(f.state, a, &err));
	check_ok(bt_state_add_pod(f.state, b, &err));
	check_refresh(&f);
	check_ok(bt_state_remove_node(f.state, node, &err));
	check_list(&f, "n1");
	check_refresh(&f);
	check_list(&f, "");
	ck_assert_uint_ne(bt_state_find_pod(f.state, a->metadata.uid), BT_POD_NONE);
	check_ok(bt_state_update_pod(
		f.state, a, make_requesting_pod(&f, "a", "n1", "'cpu':'3'"), &err));
	ck_assert_int_eq(f.state->nodes.requested[BT_CPU_MILLI][slot_of(&f, "n1")], 5000);
	ck_assert_int_eq(f.state->nodes.allocatable[BT_CPU_MILLI][slot_of(&f, "n1")], 4000);
	check_ok(bt_state_remove_pod(f.state, b, &err));
	ck_assert_uint_eq(f.state->node_entry_count, 1);
	check_ok(bt_state_remove_pod(f.state, a, &err));
	ck_assert_uint_eq(f.state->node_entry_count, 0);
	ck_assert_uint_eq(slot_of(&f, "n1"), BT_SLOT_NONE);
	ck_assert_int_eq(f.state->nodes.allocatable[BT_CPU_MILLI][0], 0);
	fixture_finish(&f);
}
END_TEST

START_TEST(test_state__edge_03b_14_remove_node_twice)
{
	struct fixture f;
	struct bt_node *plain;
	struct bt_node *zoned;

	fixture_init(&f);
	plain = make_node(&f, "n1", "", "");
	zoned = make_node(&f, "n2", zone_labels(&f, "r", "z"), "");
	bt_state_add_node(f.state, plain);
	bt_state_add_node(f.state, zoned);
	check_ok(bt_state_add_pod(f.state, make_pod(&f, "a", "n2", ""), &err));
	check_ok(bt_state_remove_node(f.state, plain, &err));
	check_error(bt_state_remove_node(f.state, plain, &err), BERTH_ERR_NOT_FOUND,
		"node n1 is not found");
	check_ok(bt_state_remove_node(f.state, zoned, &err));
	check_error(bt_state_remove_node(f.state, zoned, &err), BERTH_ERR_NOT_FOUND,
		"node \"n2\" in group \"r:\\x00:z\" was not found");
	fixture_finish(&f);
}
END_TEST

START_TEST(test_state__edge_03b_15_ghost_becomes_real)
{
	struct fixture f;
	struct bt_node *node;

	fixture_init(&f);
	node = make_node(&f, "n1", "", "");
	bt_state_add_node(f.state, node);
	add_node(&f, "n2", "", "");
	check_ok(bt_state_add_pod(f.state, make_pod(&f, "a", "n1", ""), &err));
	check_refresh(&f);
	check_list(&f, "n1,n2");
	check_ok(bt_state_remove_node(f.state, node, &err));
	check_refresh(&f);
	bt_state_add_node(f.state, node);
	check_refresh(&f);
	check_list(&f, "n2,n1");
	ck_assert_str_eq(pod_names(&f, "n1"), "a");
	fixture_finish(&f);
}
END_TEST

START_TEST(test_state__edge_03b_16_update_unknown_node)
{
	struct fixture f;

	fixture_init(&f);
	bt_state_update_node(f.state, NULL, make_node(&f, "n1", "", ""));
	ck_assert_uint_eq(f.state->node_entry_count, 1);
	check_refresh(&f);
	check_list(&f, "n1");
	fixture_finish(&f);
}
END_TEST

START_TEST(test_state__edge_03b_22_order_of_zones)
{
	static const struct {
		const char *name;
		const char *region;
		const char *zone;
	} rows[] = {
		{"n0", "", ""},
		{"n1", "r1", ""},
		{"n2", "", "z2"},
		{"n3", "r1", "z2"},
		{"n4", "r1", "z2"},
		{"n5", "r1", "z3"},
		{"n6", "r2", "z2"},
		{"n7", "r2", "z2"},
		{"n8", "r2", "z2"},
	};
	struct fixture f;

	fixture_init(&f);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		add_node(&f, rows[i].name, zone_labels(&f, rows[i].region, rows[i].zone), "");
	}
	check_refresh(&f);
	check_list(&f, "n0,n1,n2,n3,n5,n6,n4,n7,n8");
	fixture_finish(&f);
}
END_TEST

START_TEST(test_state__edge_03b_24_beta_labels_win)
{
	struct fixture f;

	fixture_init(&f);
	add_node(&f, "n1",
		"'failure-domain.beta.kubernetes.io/zone':'','topology.kubernetes.io/zone':'z'",
		"");
	add_node(&f, "n2",
		"'failure-domain.beta.kubernetes.io/zone':'b','topology.kubernetes.io/zone':'z'",
		"");
	ck_assert_uint_eq(row_of(&f, "n1")->zone_key.id, BT_SYM_EMPTY.id);
	ck_assert(bt_str_equal(bt_symbol_text(&f.state->symbols, row_of(&f, "n2")->zone_key),
		(struct bt_str){":\0:b", 4}));
	fixture_finish(&f);
}
END_TEST

START_TEST(test_state__edge_03b_26_zone_change_waits_for_a_rebuild)
{
	struct fixture f;
	struct bt_node *old;
	uint64_t version;

	fixture_init(&f);
	old = make_node(&f, "a1", zone_labels(&f, "", "A"), "");
	bt_state_add_node(f.state, old);
	add_node(&f, "a2", zone_labels(&f, "", "A"), "");
	add_node(&f, "b1", zone_labels(&f, "", "B"), "");
	check_refresh(&f);
	check_list(&f, "a1,b1,a2");
	version = f.state->snapshot.places.version;
	bt_state_update_node(f.state, old, make_node(&f, "a1", zone_labels(&f, "", "B"), ""));
	check_refresh(&f);
	check_list(&f, "a1,b1,a2");
	ck_assert_uint_eq(f.state->snapshot.places.version, version);
	add_node(&f, "c1", zone_labels(&f, "", "C"), "");
	check_refresh(&f);
	check_list(&f, "a2,b1,c1,a1");
	ck_assert_uint_gt(f.state->snapshot.places.version, version);
	fixture_finish(&f);
}
END_TEST

START_TEST(test_state__edge_03b_27_remove_and_add_between_refreshes)
{
	struct fixture f;
	struct bt_node *node;
	uint32_t slot;

	fixture_init(&f);
	node = make_node(&f, "n1", "", "'allocatable':{'cpu':'4'}");
	bt_state_add_node(f.state, node);
	add_node(&f, "n2", "", "");
	check_refresh(&f);
	slot = slot_of(&f, "n1");
	check_ok(bt_state_remove_node(f.state, node, &err));
	check_valid(&f);
	/*
	 * The cache no longer has n1, but another node must not take the slot while the snapshot
	 * lists n1.
	 */
	ck_assert_uint_eq(f.state->node_entry_count, 1);
	bt_state_add_node(f.state, make_node(&f, "n1", "", "'allocatable':{'cpu':'8'}"));
	check_refresh(&f);
	check_list(&f, "n1,n2");
	ck_assert_uint_eq(slot_of(&f, "n1"), slot);
	ck_assert_int_eq(f.state->nodes.allocatable[BT_CPU_MILLI][slot], 8000);
	add_node(&f, "n3", "", "");
	check_refresh(&f);
	check_list(&f, "n2,n1,n3");
	fixture_finish(&f);
}
END_TEST

START_TEST(test_state__edge_03b_28_add_two_remove_one)
{
	struct fixture f;
	struct bt_node *node;

	fixture_init(&f);
	node = make_node(&f, "1", "", "");
	bt_state_add_node(f.state, node);
	add_node(&f, "2", "", "");
	check_ok(bt_state_remove_node(f.state, node, &err));
	check_refresh(&f);
	check_list(&f, "2");
	fixture_finish(&f);
}
END_TEST

#define ANTI_AFFINITY \
	"'affinity':{'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[{'" \
	"topologyKey':'z'}]}}"

#define check_affinity_lists(f, expected, expected_anti) \
	do { \
		const struct bt_snapshot_lists *lists_ = bt_snapshot_affinity_lists((f)->state); \
		ck_assert_str_eq(slot_names((f), lists_->affinity.items, lists_->affinity.count), \
			(expected)); \
		ck_assert_str_eq( \
			slot_names((f), lists_->anti_affinity.items, lists_->anti_affinity.count), \
			(expected_anti)); \
	} while (0)

START_TEST(test_state__edge_03b_30_affinity_lists)
{
	struct fixture f;
	struct bt_pod *a;
	struct bt_pod *b;

	fixture_init(&f);
	add_node(&f, "n1", "", "");
	add_node(&f, "n2", "", "");
	add_node(&f, "n3", "", "");
	check_refresh(&f);
	a = make_pod(&f, "a", "n3", "'affinity':{'podAffinity':{}}");
	b = make_pod(&f, "b", "n1", ANTI_AFFINITY);
	check_ok(bt_state_add_pod(f.state, a, &err));
	check_ok(bt_state_add_pod(f.state, b, &err));
	check_affinity_lists(&f, "", "");
	check_refresh(&f);
	check_affinity_lists(&f, "n1,n3", "n1");
	check_ok(bt_state_add_pod(f.state, make_pod(&f, "c", "n2", ANTI_AFFINITY), &err));
	check_refresh(&f);
	check_affinity_lists(&f, "n1,n2,n3", "n1,n2");
	check_ok(bt_state_remove_pod(f.state, b, &err));
	check_refresh(&f);
	check_affinity_lists(&f, "n2,n3", "n2");
	fixture_finish(&f);
}
END_TEST

START_TEST(test_state__many_affinity_changes_at_once)
{
	struct fixture f;

	fixture_init(&f);
	for (int i = 0; i < 200; i++) {
		add_node(&f, bt_arena_printf(&f.arena, "n%d", i).data, "", "");
	}
	check_refresh(&f);
	for (int i = 199; i >= 0; i--) {
		struct bt_str pod = bt_arena_printf(&f.arena, "p%d", i);
		struct bt_str node = bt_arena_printf(&f.arena, "n%d", i);
		check_ok(bt_state_add_pod(
			f.state, make_pod(&f, pod.data, node.data, ANTI_AFFINITY), &err));
	}
	check_refresh(&f);
	const struct bt_snapshot_lists *lists = bt_snapshot_affinity_lists(f.state);
	ck_assert_uint_eq(lists->affinity.count, 200);
	ck_assert_uint_eq(lists->anti_affinity.count, 200);
	ck_assert(memcmp(lists->affinity.items, bt_snapshot_list(&f.state->snapshot),
			  200 * sizeof(uint32_t)) == 0);
	fixture_finish(&f);
}
END_TEST

#define CLAIM(name) "'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'" name "'}}]"

START_TEST(test_state__edge_03b_31_used_claims)
{
	struct fixture f;
	struct bt_pod *a;
	struct bt_pod *b;
	struct bt_node *node;

	fixture_init(&f);
	node = make_node(&f, "n1", "", "");
	bt_state_add_node(f.state, node);
	a = make_pod(&f, "a", "n1", CLAIM("c"));
	b = make_pod(&f, "b", "n1", CLAIM("c"));
	check_ok(bt_state_add_pod(f.state, a, &err));
	check_ok(bt_state_add_pod(f.state, b, &err));
	check_refresh(&f);
	check_ok(bt_state_remove_pod(f.state, a, &err));
	check_refresh(&f);
	ck_assert(bt_state_is_claim_used(f.state, BT_STR("ns/c")));
	check_ok(bt_state_update_pod(f.state, b, make_pod(&f, "b", "n1", CLAIM("d")), &err));
	check_refresh(&f);
	ck_assert(!bt_state_is_claim_used(f.state, BT_STR("ns/c")));
	ck_assert(bt_state_is_claim_used(f.state, BT_STR("ns/d")));
	/* Pods of a deleted node are not in the snapshot. */
	check_ok(bt_state_remove_node(f.state, node, &err));
	check_refresh(&f);
	ck_assert(!bt_state_is_claim_used(f.state, BT_STR("ns/d")));
	bt_state_add_node(f.state, node);
	check_refresh(&f);
	ck_assert(bt_state_is_claim_used(f.state, BT_STR("ns/d")));
	fixture_finish(&f);
}
END_TEST

START_TEST(test_state__edge_03b_31_claim_on_two_nodes)
{
	struct fixture f;
	struct bt_pod *a;

	fixture_init(&f);
	add_node(&f, "n1", "", "");
	add_node(&f, "n2", "", "");
	a = make_pod(&f, "a", "n1", CLAIM("c"));
	check_ok(bt_state_add_pod(f.state, a, &err));
	check_ok(bt_state_add_pod(f.state, make_pod(&f, "b", "n2", CLAIM("c")), &err));
	check_ok(bt_state_add_pod(f.state, make_pod(&f, "x", "n2", CLAIM("d")), &err));
	check_refresh(&f);
	check_ok(bt_state_remove_pod(f.state, a, &err));
	ck_assert(bt_state_is_claim_used(f.state, BT_STR("ns/c")));
	ck_assert(bt_state_is_claim_used(f.state, BT_STR("ns/d")));
	ck_assert(!bt_state_is_claim_used(f.state, BT_STR("other/c")));
	fixture_finish(&f);
}
END_TEST

#define IMAGE(name, size) "'images':[{'names':['" name "'],'sizeBytes':" size "}]"

struct image_view {
	bool found;
	int64_t size_bytes;
	uint32_t node_count;
};

static struct image_view view_image(const struct fixture *f, const char *node, const char *image)
{
	struct bt_node_info info;
	struct image_view view = {0};

	bt_node_info_init(&info, f->state, slot_of(f, node));
	view.found = bt_node_info_find_image(
		&info, bt_str_from(image), &view.size_bytes, &view.node_count);
	return view;
}

START_TEST(test_state__edge_03b_32_first_size_counts)
{
	struct fixture f;
	struct bt_node *a;
	struct bt_node *b;

	fixture_init(&f);
	a = make_node(&f, "a", "", IMAGE("x", "10"));
	b = make_node(&f, "b", "", IMAGE("x", "20"));
	bt_state_add_node(f.state, a);
	bt_state_add_node(f.state, b);
	check_refresh(&f);
	ck_assert_int_eq(view_image(&f, "a", "x").size_bytes, 10);
	ck_assert_int_eq(view_image(&f, "b", "x").size_bytes, 10);
	check_ok(bt_state_remove_node(f.state, a, &err));
	check_refresh(&f);
	ck_assert_int_eq(view_image(&f, "b", "x").size_bytes, 10);
	check_ok(bt_state_remove_node(f.state, b, &err));
	bt_state_add_node(f.state, b);
	check_refresh(&f);
	ck_assert_int_eq(view_image(&f, "b", "x").size_bytes, 20);
	fixture_finish(&f);
}
END_TEST

START_TEST(test_state__sole_holder_reports_a_new_size)
{
	struct fixture f;
	uint64_t seen;

	fixture_init(&f);
	add_node(&f, "a", "", IMAGE("x", "10"));
	check_refresh(&f);
	seen = f.state->log.sequence;
	bt_state_update_node(f.state, NULL, make_node(&f, "a", "", IMAGE("x", "10")));
	ck_assert_uint_eq(f.state->log.sequence, seen);
	/* The update removes the image record and creates the record again. */
	bt_state_update_node(f.state, NULL, make_node(&f, "a", "", IMAGE("x", "20")));
	check_refresh(&f);
	ck_assert_int_eq(view_image(&f, "a", "x").size_bytes, 20);
	ck_assert_uint_eq(bt_change_log_at(&f.state->log, seen).kinds, BT_CHANGE_IMAGES);
	add_node(&f, "b", "", IMAGE("x", "30"));
	bt_state_update_node(f.state, NULL, make_node(&f, "a", "", IMAGE("x", "40")));
	check_refresh(&f);
	ck_assert_int_eq(view_image(&f, "a", "x").size_bytes, 20);
	fixture_finish(&f);
}
END_TEST

START_TEST(test_state__edge_03b_33_frozen_node_count)
{
	struct fixture f;
	uint64_t seen;

	fixture_init(&f);
	add_node(&f, "a", "", IMAGE("x", "10"));
	add_node(&f, "b", "", "");
	check_refresh(&f);
	bt_state_update_node(f.state, NULL, make_node(&f, "b", "", IMAGE("x", "10")));
	check_refresh(&f);
	ck_assert_uint_eq(view_image(&f, "b", "x").node_count, 2);
	ck_assert_uint_eq(view_image(&f, "a", "x").node_count, 1);
	/* Any change of node a, here an added pod, copies the node's aggregate again. */
	check_ok(bt_state_add_pod(f.state, make_pod(&f, "p", "a", ""), &err));
	seen = f.state->log.sequence;
	check_refresh(&f);
	ck_assert_uint_eq(view_image(&f, "a", "x").node_count, 2);
	ck_assert_uint_eq(bt_change_log_at(&f.state->log, seen).kinds, BT_CHANGE_IMAGES);
	fixture_finish(&f);
}
END_TEST

START_TEST(test_state__repeated_image_names_count_once)
{
	struct fixture f;

	fixture_init(&f);
	add_node(&f, "a", "",
		"'images':[{'names':['x','y','x'],'sizeBytes':10},{'names':['x','z'],'sizeBytes':"
		"20}]");
	check_refresh(&f);
	ck_assert_uint_eq(row_of(&f, "a")->images.count, 3);
	ck_assert_int_eq(view_image(&f, "a", "x").size_bytes, 10);
	ck_assert_uint_eq(view_image(&f, "a", "x").node_count, 1);
	ck_assert_int_eq(view_image(&f, "a", "z").size_bytes, 20);
	ck_assert(!view_image(&f, "a", "w").found);
	/*
	 * The order of the image list does not matter to plugins, but the row keeps the new order.
	 */
	bt_state_update_node(f.state, NULL,
		make_node(&f, "a", "",
			"'images':[{'names':['z'],'sizeBytes':5},{'names':['x'],'sizeBytes':6}]"));
	check_refresh(&f);
	ck_assert_int_eq(view_image(&f, "a", "z").size_bytes, 5);
	ck_assert_int_eq(view_image(&f, "a", "x").size_bytes, 6);
	ck_assert(!view_image(&f, "a", "y").found);
	ck_assert_uint_eq(f.state->images.images.map.count, 2);
	fixture_finish(&f);
}
END_TEST

START_TEST(test_state__node_update_logs_what_differs)
{
	static const struct {
		const char *name;
		const char *labels;
		const char *spec;
		const char *status;
		uint32_t kinds;
	} rows[] = {
		{"nothing", "'a':'b'", "", "'allocatable':{'cpu':'1'}", 0},
		{"allocatable", "'a':'b'", "", "'allocatable':{'cpu':'2'}", BT_CHANGE_ALLOCATABLE},
		{"scalar", "'a':'b'", "", "'allocatable':{'cpu':'2','x.y/z':'1'}",
			BT_CHANGE_ALLOCATABLE},
		{"scalar gone", "'a':'b'", "", "'allocatable':{'cpu':'2'}", BT_CHANGE_ALLOCATABLE},
		{"labels", "'a':'c'", "", "'allocatable':{'cpu':'2'}", BT_CHANGE_LABELS},
		{"taints", "'a':'c'", "'taints':[{'key':'k','effect':'NoSchedule'}]",
			"'allocatable':{'cpu':'2'}", BT_CHANGE_TAINTS},
		{"time of a taint", "'a':'c'",
			"'taints':[{'key':'k','effect':'NoSchedule','timeAdded':'2026-01-01T00:00:"
			"00Z'}]",
			"'allocatable':{'cpu':'2'}", 0},
		{"unschedulable", "'a':'c'",
			"'unschedulable':true,'taints':[{'key':'k','effect':'NoSchedule'}]",
			"'allocatable':{'cpu':'2'}", BT_CHANGE_TAINTS},
		{"features", "'a':'c'",
			"'unschedulable':true,'taints':[{'key':'k','effect':'NoSchedule'}]",
			"'allocatable':{'cpu':'2'},'declaredFeatures':['"
			"UserNamespacesHostNetworkSupport']",
			BT_CHANGE_FEATURES},
		{"everything", "", "", "'images':[{'names':['x']}]",
			BT_CHANGE_ALLOCATABLE | BT_CHANGE_LABELS | BT_CHANGE_TAINTS |
				BT_CHANGE_FEATURES | BT_CHANGE_IMAGES},
	};
	struct fixture f;

	fixture_init(&f);
	add_node(&f, "n1", "'a':'b'", "'allocatable':{'cpu':'1'}");
	check_refresh(&f);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_str json = bt_arena_printf(&f.arena,
			"{'metadata':{'name':'n1','uid':'n1-uid','labels':{%s}},'spec':{%s},'"
			"status':{%s}}",
			rows[i].labels, rows[i].spec, rows[i].status);
		uint64_t seen = f.state->log.sequence;
		int64_t generation = row_of(&f, "n1")->generation;
		uint32_t kinds = 0;
		bt_state_update_node(f.state, NULL, decode(&f, &bt_node_message, json.data));
		ck_assert_msg(row_of(&f, "n1")->generation > generation, "%s", rows[i].name);
		for (; seen < f.state->log.sequence; seen++) {
			kinds |= bt_change_log_at(&f.state->log, seen).kinds;
		}
		ck_assert_msg(kinds == rows[i].kinds, "%s: %x", rows[i].name, kinds);
		check_refresh(&f);
	}
	fixture_finish(&f);
}
END_TEST

START_TEST(test_state__existence_is_logged_at_the_refresh)
{
	struct fixture f;
	struct bt_node *node;
	uint64_t seen;

	fixture_init(&f);
	node = make_node(&f, "n1", "", "");
	bt_state_add_node(f.state, node);
	seen = f.state->log.sequence;
	check_refresh(&f);
	ck_assert_uint_eq(f.state->log.sequence, seen + 1);
	ck_assert_uint_eq(bt_change_log_at(&f.state->log, seen).kinds, BT_CHANGE_EXISTENCE);
	ck_assert_uint_eq(f.state->snapshot.log_sequence, f.state->log.sequence);
	check_ok(bt_state_remove_node(f.state, node, &err));
	ck_assert_uint_eq(f.state->log.sequence, seen + 1);
	check_refresh(&f);
	ck_assert_uint_eq(bt_change_log_at(&f.state->log, seen + 1).kinds, BT_CHANGE_EXISTENCE);
	ck_assert_uint_eq(slot_of(&f, "n1"), BT_SLOT_NONE);
	fixture_finish(&f);
}
END_TEST

START_TEST(test_state__node_removed_under_another_zone_makes_the_refresh_fail)
{
	struct fixture f;

	fixture_init(&f);
	add_node(&f, "n1", zone_labels(&f, "", "a"), "");
	add_node(&f, "n2", zone_labels(&f, "", "a"), "");
	check_refresh(&f);
	check_error(bt_state_remove_node(
			    f.state, make_node(&f, "n2", zone_labels(&f, "", "b"), ""), &err),
		BERTH_ERR_NOT_FOUND, "node \"n2\" in group \":\\x00:b\" was not found");
	/* The tree still has n2, so the snapshot keeps n2, too. */
	check_refresh(&f);
	check_list(&f, "n1,n2");
	ck_assert_uint_eq(f.state->node_entry_count, 1);
	/* The removal of another node makes the inconsistency visible. */
	check_ok(bt_state_remove_node(
		f.state, make_node(&f, "n1", zone_labels(&f, "", "a"), ""), &err));
	check_error(bt_state_refresh_snapshot(f.state, &err), BERTH_ERR_STATE,
		"snapshot state is not consistent, length of NodeInfoList=0 not equal to length of "
		"nodes in tree=1 , length "
		"of NodeInfoMap=0, length of nodes in cache=0, trying to recover");
	/* Adding n2 again repairs the list. */
	add_node(&f, "n2", zone_labels(&f, "", "a"), "");
	check_refresh(&f);
	check_list(&f, "n2");
	fixture_finish(&f);
}
END_TEST

START_TEST(test_state__added_again_under_another_zone_has_one_place)
{
	struct fixture f;

	fixture_init(&f);
	add_node(&f, "n1", zone_labels(&f, "", "a"), "");
	add_node(&f, "n2", zone_labels(&f, "", "a"), "");
	add_node(&f, "n1", zone_labels(&f, "", "b"), "");
	check_refresh(&f);
	check_list(&f, "n2,n1");
	/* The old object of the update has a zone that the node was never in. */
	bt_state_update_node(f.state, make_node(&f, "n1", zone_labels(&f, "", "x"), ""),
		make_node(&f, "n1", zone_labels(&f, "", "a"), ""));
	add_node(&f, "n3", "", "");
	check_refresh(&f);
	check_list(&f, "n2,n3,n1");
	fixture_finish(&f);
}
END_TEST

START_TEST(test_state__update_of_an_imaginary_node_leaves_the_order_alone)
{
	struct fixture f;

	fixture_init(&f);
	check_ok(bt_state_add_pod(f.state, make_pod(&f, "a", "n1", ""), &err));
	bt_state_update_node(f.state, make_node(&f, "n1", "", ""), make_node(&f, "n1", "", ""));
	check_refresh(&f);
	check_list(&f, "");
	ck_assert_uint_ne(bt_state_snapshot_find(f.state, BT_STR("n1")), BT_SLOT_NONE);
	/*
	 * Node n1 enters the tree, but its name is not new: the list is rebuilt only because its
	 * length is wrong.
	 */
	add_node(&f, "n1", "", "");
	check_error(bt_state_refresh_snapshot(f.state, &err), BERTH_ERR_STATE,
		"snapshot state is not consistent, length of NodeInfoList=0 not equal to length of "
		"nodes in tree=1 , length "
		"of NodeInfoMap=1, length of nodes in cache=1, trying to recover");
	check_list(&f, "n1");
	check_refresh(&f);
	fixture_finish(&f);
}
END_TEST

BT_TEST_MAIN("state_nodes", test_state__edge_03b_12_imaginary_node,
	test_state__edge_03b_13_ghost_node, test_state__edge_03b_14_remove_node_twice,
	test_state__edge_03b_15_ghost_becomes_real, test_state__edge_03b_16_update_unknown_node,
	test_state__edge_03b_22_order_of_zones, test_state__edge_03b_24_beta_labels_win,
	test_state__edge_03b_26_zone_change_waits_for_a_rebuild,
	test_state__edge_03b_27_remove_and_add_between_refreshes,
	test_state__edge_03b_28_add_two_remove_one, test_state__edge_03b_30_affinity_lists,
	test_state__many_affinity_changes_at_once, test_state__edge_03b_31_used_claims,
	test_state__edge_03b_31_claim_on_two_nodes, test_state__edge_03b_32_first_size_counts,
	test_state__sole_holder_reports_a_new_size, test_state__edge_03b_33_frozen_node_count,
	test_state__repeated_image_names_count_once, test_state__node_update_logs_what_differs,
	test_state__existence_is_logged_at_the_refresh,
	test_state__node_removed_under_another_zone_makes_the_refresh_fail,
	test_state__added_again_under_another_zone_has_one_place,
	test_state__update_of_an_imaginary_node_leaves_the_order_alone)
