/* SPDX-License-Identifier: Apache-2.0 */
/* The node aggregate: spec 01b section 9, numbered edge cases of section 15; label columns,
 * scalars, slots. */
#include "state/domain_counter.h"
#include "state_fixture.h"

#include "test_main.h"

START_TEST(test_node_table__edge_01b_35_three_pods)
{
	struct fixture f;
	uint32_t slot;
	const struct bt_node_row *row;

	fixture_init(&f);
	check_ok(bt_state_add_pod(f.state,
		make_pod(&f, "a", "n1",
			"'containers':[{'name':'c','resources':{'requests':{'cpu':'100m','memory':'"
			"500'}}}],"
			"'overhead':{'cpu':'500m'},'volumes':[{'name':'v','persistentVolumeClaim':{"
			"'claimName':'pvc-1'}}]"),
		&err));
	check_ok(bt_state_add_pod(f.state,
		make_pod(&f, "b", "n1",
			"'containers':[{'name':'c','resources':{'requests':{'cpu':'200m'}}}],"
			"'overhead':{'cpu':'500m','memory':'500'},"
			"'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'pvc-1'}}]"),
		&err));
	check_ok(bt_state_add_pod(f.state,
		make_pod(&f, "c", "n1",
			"'containers':[{'name':'c','resources':{'requests':{'cpu':'200m'}}}],"
			"'initContainers':[{'name':'i','resources':{'requests':{'cpu':'500m','"
			"memory':'200Mi'}}}],"
			"'overhead':{'cpu':'500m','memory':'500'},"
			"'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'pvc-2'}}]"),
		&err));
	slot = slot_of(&f, "n1");
	row = row_of(&f, "n1");
	ck_assert_int_eq(f.state->nodes.requested[BT_CPU_MILLI][slot], 2300);
	ck_assert_int_eq(f.state->nodes.requested[BT_MEMORY_BYTES][slot], INT64_C(209716700));
	ck_assert_int_eq(f.state->nodes.non_zero[BT_CPU_MILLI][slot], 2300);
	ck_assert_int_eq(f.state->nodes.non_zero[BT_MEMORY_BYTES][slot], INT64_C(419431900));
	ck_assert_uint_eq(row->claims.count, 2);
	for (uint32_t i = 0; i < 2; i++) {
		bool first = bt_str_equal_c(
			bt_symbol_text(&f.state->symbols, row->claims.items[i].claim), "ns/pvc-1");
		ck_assert_uint_eq(row->claims.items[i].count, first ? 2 : 1);
	}
	fixture_finish(&f);
}
END_TEST

static struct bt_pod *make_port_pod(struct fixture *f, const char *name, const char *ports)
{
	return make_pod(f, name, "n1",
		bt_arena_printf(&f->arena, "'containers':[{'name':'c','ports':[%s]}]", ports).data);
}

START_TEST(test_node_table__edge_01b_36_port_conflicts)
{
	static const struct {
		const char *name;
		const char *used;
		struct bt_host_port wanted;
		bool conflicts;
	} rows[] = {
		{"wildcard wanted", "{'hostPort':80,'hostIP':'127.0.0.1'}",
			{BT_STR_INIT("0.0.0.0"), BT_STR_INIT("TCP"), 80}, true},
		{"other port", "{'hostPort':80,'hostIP':'127.0.0.1'}",
			{BT_STR_INIT("0.0.0.0"), BT_STR_INIT("TCP"), 81}, false},
		{"port 0", "{'hostPort':80,'hostIP':'127.0.0.1'}",
			{BT_STR_INIT("0.0.0.0"), BT_STR_INIT("TCP"), 0}, false},
		{"other protocol", "{'hostPort':80,'hostIP':'127.0.0.1','protocol':'UDP'}",
			{BT_STR_INIT("0.0.0.0"), BT_STR_INIT("TCP"), 80}, false},
		{"wildcard used", "{'hostPort':80}",
			{BT_STR_INIT("127.0.0.1"), BT_STR_INIT("TCP"), 80}, true},
		{"other address", "{'hostPort':80,'hostIP':'10.0.0.1'}",
			{BT_STR_INIT("127.0.0.1"), BT_STR_INIT("TCP"), 80}, false},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct fixture f;
		struct bt_node_info info;
		fixture_init(&f);
		check_ok(bt_state_add_pod(f.state, make_port_pod(&f, "a", rows[i].used), &err));
		bt_node_info_init(&info, f.state, slot_of(&f, "n1"));
		ck_assert_msg(
			bt_node_info_port_conflicts(&info, &rows[i].wanted) == rows[i].conflicts,
			"%s", rows[i].name);
		fixture_finish(&f);
	}
}
END_TEST

START_TEST(test_node_table__edge_01b_37_port_set)
{
	struct fixture f;
	struct bt_pod *named;
	struct bt_pod *defaulted;
	struct bt_node_info info;

	fixture_init(&f);
	named = make_port_pod(&f, "a",
		"{'hostPort':79,'hostIP':'127.0.0.1','protocol':'TCP'},{'hostPort':80,'hostIP':'"
		"127.0.0.1','protocol':'UDP'},"
		"{'hostPort':81,'hostIP':'127.0.0.1','protocol':'TCP'},{'hostPort':82,'hostIP':'"
		"127.0.0.1','protocol':'TCP'},"
		"{'hostPort':79,'hostIP':'0.0.0.0','protocol':'TCP'},{'hostPort':80,'hostIP':'0.0."
		"0.0','protocol':'UDP'},"
		"{'hostPort':81,'hostIP':'0.0.0.0','protocol':'TCP'},{'hostPort':82,'hostIP':'0.0."
		"0.0','protocol':'TCP'},"
		"{'hostPort':0},{'hostPort':-1}");
	check_ok(bt_state_add_pod(f.state, named, &err));
	bt_node_info_init(&info, f.state, slot_of(&f, "n1"));
	ck_assert_uint_eq(port_count(&info), 8);
	/*
	 * The same triples with default values left out: the set of ports does not grow, and one
	 * removal empties the set.
	 */
	defaulted = make_port_pod(&f, "b",
		"{'hostPort':79,'hostIP':'127.0.0.1'},{'hostPort':80,'hostIP':'127.0.0.1','"
		"protocol':'UDP'},"
		"{'hostPort':81,'hostIP':'127.0.0.1'},{'hostPort':82,'hostIP':'127.0.0.1'},"
		"{'hostPort':79},{'hostPort':80,'protocol':'UDP'},{'hostPort':81},{'hostPort':82}");
	check_ok(bt_state_add_pod(f.state, defaulted, &err));
	ck_assert_uint_eq(row_of(&f, "n1")->ports.count, 8);
	check_ok(bt_state_remove_pod(f.state, defaulted, &err));
	ck_assert_uint_eq(row_of(&f, "n1")->ports.count, 0);
	fixture_finish(&f);
}
END_TEST

START_TEST(test_node_table__edge_01b_39_remove_unknown_pod)
{
	struct fixture f;
	int64_t generation;
	struct bt_arena arena = {0};
	struct bt_node_info info;
	struct bt_pod_info pod;

	fixture_init(&f);
	add_node(&f, "n1", "", "");
	check_ok(bt_state_add_pod(f.state, make_requesting_pod(&f, "a", "n1", "'cpu':'1'"), &err));
	generation = row_of(&f, "n1")->generation;
	bt_pod_info_init_pending(f.state, make_pod(&f, "x", "", ""), &pod);
	bt_node_info_init(&info, f.state, slot_of(&f, "n1"));
	check_error(bt_node_info_remove_pod(&info, &arena, &pod, &err), BERTH_ERR_NOT_FOUND,
		"no corresponding pod x in pods of node n1");
	ck_assert_int_eq(info.requested[BT_CPU_MILLI], 1000);
	ck_assert_int_eq(row_of(&f, "n1")->generation, generation);
	bt_pod_info_finish_pending(f.state, &pod);
	bt_arena_finish(&arena);
	fixture_finish(&f);
}
END_TEST

START_TEST(test_node_table__edge_01b_40_order_after_removal)
{
	struct fixture f;
	struct bt_pod *a;

	fixture_init(&f);
	a = make_pod(&f, "a", "n1", "'affinity':{'podAffinity':{}}");
	check_ok(bt_state_add_pod(f.state, a, &err));
	check_ok(bt_state_add_pod(
		f.state, make_pod(&f, "b", "n1", "'affinity':{'podAffinity':{}}"), &err));
	check_ok(bt_state_add_pod(
		f.state, make_pod(&f, "c", "n1", "'affinity':{'podAffinity':{}}"), &err));
	check_ok(bt_state_remove_pod(f.state, a, &err));
	ck_assert_str_eq(pod_names(&f, "n1"), "c,b");
	ck_assert_uint_eq(
		row_of(&f, "n1")->pods_with_affinity.items[0], row_of(&f, "n1")->pods.items[0]);
	fixture_finish(&f);
}
END_TEST

START_TEST(test_node_table__edge_01b_41_affinity_lists)
{
	static const struct {
		const char *name;
		const char *spec;
		uint32_t affinity;
		uint32_t anti_affinity;
	} rows[] = {
		{"none", "", 0, 0},
		{"empty podAffinity", "'affinity':{'podAffinity':{}}", 1, 0},
		{"empty podAntiAffinity", "'affinity':{'podAntiAffinity':{}}", 1, 0},
		{"preferred only",
			"'affinity':{'podAntiAffinity':{'"
			"preferredDuringSchedulingIgnoredDuringExecution':"
			"[{'weight':1,'podAffinityTerm':{'topologyKey':'z'}}]}}",
			1, 0},
		{"required",
			"'affinity':{'podAntiAffinity':{'"
			"requiredDuringSchedulingIgnoredDuringExecution':"
			"[{'topologyKey':'z'}]}}",
			1, 1},
		{"node affinity", "'affinity':{'nodeAffinity':{}}", 0, 0},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct fixture f;
		fixture_init(&f);
		check_ok(bt_state_add_pod(f.state, make_pod(&f, "a", "n1", rows[i].spec), &err));
		ck_assert_msg(row_of(&f, "n1")->pods_with_affinity.count == rows[i].affinity, "%s",
			rows[i].name);
		ck_assert_msg(row_of(&f, "n1")->pods_with_required_anti_affinity.count ==
				rows[i].anti_affinity,
			"%s", rows[i].name);
		fixture_finish(&f);
	}
}
END_TEST

START_TEST(test_node_table__edge_01b_42_image_size)
{
	struct fixture f;
	struct bt_node_info info;
	int64_t size = 0;
	uint32_t count = 0;

	fixture_init(&f);
	add_node(&f, "n1", "", "'images':[{'names':['x'],'sizeBytes':10}]");
	add_node(&f, "n2", "", "'images':[{'names':['x'],'sizeBytes':20}]");
	check_refresh(&f);
	bt_node_info_init(&info, f.state, slot_of(&f, "n2"));
	ck_assert(bt_node_info_find_image(&info, BT_STR("x"), &size, &count));
	ck_assert_int_eq(size, 10);
	bt_state_update_node(f.state, NULL, make_node(&f, "n1", "", ""));
	bt_state_update_node(f.state, NULL, make_node(&f, "n2", "", ""));
	ck_assert_uint_eq(f.state->images.images.map.count, 0);
	bt_state_update_node(f.state, NULL,
		make_node(&f, "n2", "", "'images':[{'names':['x'],'sizeBytes':20}]"));
	check_refresh(&f);
	ck_assert(bt_node_info_find_image(&info, BT_STR("x"), &size, &count));
	ck_assert_int_eq(size, 20);
	fixture_finish(&f);
}
END_TEST

START_TEST(test_node_table__edge_01b_43_declared_features)
{
	static const struct {
		const char *name;
		const char *declared;
		uint8_t bits;
	} rows[] = {
		{"none", "", 0},
		{"unknown first", "'Abc','RestartAllContainersOnContainerExits'", 1U << 3},
		{"unknown after a known name's place",
			"'Unknown','RestartAllContainersOnContainerExits'", 0},
		{"first and last", "'ExtendWebSocketsToKubelet','UserNamespacesHostNetworkSupport'",
			1U << 0 | 1U << 4},
		{"unsorted loses",
			"'UserNamespacesHostNetworkSupport','RestartAllContainersOnContainerExits'",
			1U << 4},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		for (int gate = 0; gate < 2; gate++) {
			struct fixture f;
			fixture_init_with(&f, gate != 0, false);
			add_node(&f, "n1", "",
				bt_arena_printf(
					&f.arena, "'declaredFeatures':[%s]", rows[i].declared)
					.data);
			ck_assert_msg(f.state->nodes.declared_features[slot_of(&f, "n1")] ==
					(gate ? rows[i].bits : 0),
				"%s", rows[i].name);
			fixture_finish(&f);
		}
	}
}
END_TEST

START_TEST(test_node_table__edge_01b_44_claim_consumers)
{
	static const char status[] =
		"'nodeAllocatableResourceClaimStatuses':[{'resourceClaimName':'shared'}]";
	struct fixture f;
	struct bt_pod *p1;
	struct bt_pod *p2;
	struct bt_pod *other;
	uint32_t slot;

	fixture_init_with(&f, true, true);
	p1 = make_pod_with(&f, "p1", "n1", "", "", status);
	p2 = make_pod_with(&f, "p2", "n1", "", "", status);
	other = make_pod(&f, "other", "n1", "");
	check_ok(bt_state_add_pod(f.state, p1, &err));
	check_ok(bt_state_add_pod(f.state, p2, &err));
	check_ok(bt_state_add_pod(f.state, other, &err));
	slot = slot_of(&f, "n1");
	ck_assert_uint_eq(
		bt_state_claim_consumer_count(f.state, slot, BT_STR("ns"), BT_STR("shared")), 2);
	ck_assert_uint_eq(
		bt_state_claim_consumer_count(f.state, slot, BT_STR("other"), BT_STR("shared")), 0);
	check_ok(bt_state_remove_pod(f.state, p1, &err));
	ck_assert_uint_eq(
		bt_state_claim_consumer_count(f.state, slot, BT_STR("ns"), BT_STR("shared")), 1);
	ck_assert(bt_state_is_claim_consumer(f.state, bt_state_find_pod(f.state, p2->metadata.uid),
		BT_STR("ns"), BT_STR("shared")));
	ck_assert(!bt_state_is_claim_consumer(f.state,
		bt_state_find_pod(f.state, other->metadata.uid), BT_STR("ns"), BT_STR("shared")));
	check_ok(bt_state_remove_pod(f.state, p2, &err));
	ck_assert_uint_eq(
		bt_state_claim_consumer_count(f.state, slot, BT_STR("ns"), BT_STR("shared")), 0);
	fixture_finish(&f);
}
END_TEST

START_TEST(test_node_table__edge_01b_46_wrapping_sums)
{
	struct fixture f;
	struct bt_pod *a;
	struct bt_pod *b;
	uint32_t slot;

	fixture_init(&f);
	a = make_requesting_pod(&f, "a", "n1", "'cpu':'9223372036854776','memory':'10E'");
	check_ok(bt_state_add_pod(f.state, a, &err));
	slot = slot_of(&f, "n1");
	ck_assert_int_lt(f.state->nodes.requested[BT_CPU_MILLI][slot], 0);
	ck_assert_int_eq(f.state->nodes.requested[BT_MEMORY_BYTES][slot], 0);
	ck_assert(f.state->nodes.has_wide_values);
	b = make_requesting_pod(&f, "b", "n1", "'cpu':'9223372036854776'");
	check_ok(bt_state_add_pod(f.state, b, &err));
	check_valid(&f);
	check_ok(bt_state_remove_pod(f.state, a, &err));
	check_ok(bt_state_remove_pod(f.state, b, &err));
	ck_assert_int_eq(f.state->nodes.requested[BT_CPU_MILLI][slot], 0);
	fixture_finish(&f);
}
END_TEST

START_TEST(test_node_table__wide_values)
{
	static const struct {
		const char *name;
		const char *allocatable;
		bool wide;
	} rows[] = {
		{"ordinary", "'cpu':'128','memory':'2Ti','pods':'110'", false},
		{"memory 2^44 - 1", "'memory':'17592186044415'", false},
		{"memory 2^44", "'memory':'17592186044416'", true},
		{"cpu 2^44 milli", "'cpu':'17592186044416m'", true},
		{"storage", "'ephemeral-storage':'16Ti'", true},
		{"scalar", "'example.com/x':'16Ti'", true},
		{"negative", "'cpu':'-1'", true},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct fixture f;
		fixture_init(&f);
		add_node(&f, "n1", "",
			bt_arena_printf(&f.arena, "'allocatable':{%s}", rows[i].allocatable).data);
		ck_assert_msg(f.state->nodes.has_wide_values == rows[i].wide, "%s", rows[i].name);
		fixture_finish(&f);
	}
}
END_TEST

START_TEST(test_node_table__edge_01b_47_resized_pod)
{
	struct fixture f;
	struct bt_pod *old;
	struct bt_pod *resized;

	fixture_init(&f);
	old = make_requesting_pod(&f, "a", "n1", "'cpu':'1'");
	check_ok(bt_state_add_pod(f.state, old, &err));
	resized = make_pod_with(&f, "a", "n1", "",
		"'containers':[{'name':'c','resources':{'requests':{'cpu':'1'}}}]",
		"'containerStatuses':[{'name':'c','resources':{'requests':{'cpu':'3'}}}]");
	check_ok(bt_state_update_pod(f.state, old, resized, &err));
	ck_assert_int_eq(f.state->nodes.requested[BT_CPU_MILLI][slot_of(&f, "n1")], 3000);
	/* The removal subtracts what the add has added, whatever requests the delete event has. */
	check_ok(bt_state_add_pod(f.state, make_pod(&f, "b", "n1", ""), &err));
	check_ok(bt_state_remove_pod(f.state, old, &err));
	ck_assert_int_eq(f.state->nodes.requested[BT_CPU_MILLI][slot_of(&f, "n1")], 0);
	fixture_finish(&f);
}
END_TEST

START_TEST(test_node_table__edge_01b_48_ghost_continues)
{
	struct fixture f;
	struct bt_node *node;

	fixture_init(&f);
	node = make_node(&f, "n1", "", "'allocatable':{'cpu':'4'}");
	bt_state_add_node(f.state, node);
	check_ok(bt_state_add_pod(f.state, make_requesting_pod(&f, "a", "n1", "'cpu':'1'"), &err));
	check_refresh(&f);
	check_ok(bt_state_remove_node(f.state, node, &err));
	check_refresh(&f);
	ck_assert_int_eq(f.state->nodes.requested[BT_CPU_MILLI][slot_of(&f, "n1")], 1000);
	bt_state_add_node(f.state, node);
	check_ok(bt_state_add_pod(f.state, make_requesting_pod(&f, "b", "n1", "'cpu':'1'"), &err));
	check_refresh(&f);
	ck_assert_int_eq(f.state->nodes.requested[BT_CPU_MILLI][slot_of(&f, "n1")], 2000);
	fixture_finish(&f);
}
END_TEST

/* --- scalars --- */

START_TEST(test_node_table__scalar_columns_exist_only_while_used)
{
	struct fixture f;
	struct bt_pod *pod;
	const struct bt_scalar_column *column;
	uint32_t index;

	fixture_init(&f);
	pod = make_requesting_pod(&f, "a", "n1", "'example.com/x':'2'");
	check_ok(bt_state_add_pod(f.state, pod, &err));
	index = bt_node_table_find_scalar(&f.state->nodes, BT_STR("example.com/x"));
	ck_assert_uint_eq(bt_node_table_scalar(&f.state->nodes, BT_STR("example.com/x")), index);
	column = &f.state->nodes.scalars.items[index];
	ck_assert(column->requested != f.state->nodes.zero_amounts);
	ck_assert(column->allocatable == f.state->nodes.zero_amounts);
	/* Growing the table moves the shared zeros. */
	for (int i = 0; i < 200; i++) {
		add_node(&f, bt_arena_printf(&f.arena, "m%d", i).data, "",
			i == 150 ? "'allocatable':{'example.com/x':'7'}" : "");
	}
	column = &f.state->nodes.scalars.items[index];
	ck_assert_int_eq(column->allocatable[slot_of(&f, "m150")], 7);
	ck_assert_int_eq(column->requested[slot_of(&f, "n1")], 2);
	ck_assert_uint_eq(f.state->nodes.slot_capacity % 64, 0);
	for (uint32_t slot = f.state->nodes.slot_count; slot < f.state->nodes.slot_capacity;
		slot++) {
		ck_assert_int_eq(column->allocatable[slot], 0);
	}
	check_ok(bt_state_remove_pod(f.state, pod, &err));
	bt_state_update_node(f.state, NULL, make_node(&f, "m150", "", ""));
	ck_assert(column->requested == f.state->nodes.zero_amounts);
	ck_assert(column->allocatable == f.state->nodes.zero_amounts);
	ck_assert_uint_eq(
		bt_node_table_find_scalar(&f.state->nodes, BT_STR("example.com/x")), index);
	fixture_finish(&f);
}
END_TEST

static bool has_extended(const struct fixture *f, const char *node, const char *resource)
{
	struct bt_node_info info;

	bt_node_info_init(&info, f->state, slot_of(f, node));
	return bt_node_info_has_extended(
		&info, bt_node_table_find_scalar(&f->state->nodes, bt_str_from(resource)));
}

/** Spec 12 section 14.2, step 2: a node that lists 0 does not lack the name. */
START_TEST(test_node_table__zero_amounts_of_extended_resources_are_listed)
{
	static const struct {
		const char *status;
		bool has_x;
		bool has_y;
	} rows[] = {
		{"", false, false},
		{"'allocatable':{'example.com/x':'0'}", true, false},
		{"'allocatable':{'example.com/x':'1','example.com/y':'0'}", true, true},
		{"'allocatable':{'example.com/x':'0','example.com/y':'0'}", true, true},
		{"'allocatable':{'example.com/y':'0'}", false, true},
		{"'allocatable':{'example.com/y':'0','hugepages-2Mi':'0'}", false, true},
		{"", false, false},
		{"'allocatable':{'example.com/x':'0'}", true, false},
	};
	struct fixture f;
	struct bt_node *node;

	fixture_init(&f);
	add_node(&f, "n1", "", "");
	add_node(&f, "n2", "", "");
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		bt_state_update_node(f.state, NULL, make_node(&f, "n1", "", rows[i].status));
		check_refresh(&f);
		ck_assert_msg(has_extended(&f, "n1", "example.com/x") == rows[i].has_x &&
				has_extended(&f, "n1", "example.com/y") == rows[i].has_y,
			"row %zu", i);
		ck_assert(!has_extended(&f, "n2", "example.com/x"));
	}
	/* A node with the name of a removed one starts anew. */
	node = make_node(&f, "n1", "", "");
	check_ok(bt_state_remove_node(f.state, node, &err));
	check_refresh(&f);
	bt_state_add_node(f.state, node);
	check_refresh(&f);
	ck_assert(!has_extended(&f, "n1", "example.com/x"));
	fixture_finish(&f);
}
END_TEST

/* --- label columns --- */

static struct bt_str column_value(
	const struct fixture *f, const struct bt_label_column *column, const char *node)
{
	return bt_symbol_text(
		&f->state->symbols, column->dictionary.items[column->values[slot_of(f, node)]]);
}

START_TEST(test_node_table__label_column_follows_the_nodes)
{
	struct fixture f;
	const struct bt_label_column *zone;
	const struct bt_label_column *absent;
	struct bt_node *n3;

	fixture_init(&f);
	absent = bt_node_table_label_column(&f.state->nodes, BT_STR("absent"));
	add_node(&f, "n1", "'zone':'a','other':'x'", "");
	zone = bt_node_table_label_column(&f.state->nodes, BT_STR("zone"));
	ck_assert(bt_str_equal_c(column_value(&f, zone, "n1"), "a"));
	add_node(&f, "n2", "'other':'x'", "");
	ck_assert_uint_eq(zone->values[slot_of(&f, "n2")], 0);
	n3 = make_node(&f, "n3", "'zone':'a'", "");
	bt_state_add_node(f.state, n3);
	ck_assert_uint_eq(zone->values[slot_of(&f, "n3")], zone->values[slot_of(&f, "n1")]);
	ck_assert_uint_eq(zone->present_count, 2);
	bt_state_update_node(f.state, NULL, make_node(&f, "n1", "'zone':''", ""));
	ck_assert_uint_ne(zone->values[slot_of(&f, "n1")], 0);
	ck_assert_uint_eq(column_value(&f, zone, "n1").length, 0);
	check_ok(bt_state_remove_node(f.state, n3, &err));
	ck_assert_uint_eq(zone->present_count, 1);
	bt_state_update_node(f.state, NULL, make_node(&f, "n1", "", ""));
	ck_assert_uint_eq(zone->present_count, 0);
	ck_assert(zone->values == f.state->nodes.zero_values);
	for (int i = 0; i < 100; i++) {
		add_node(&f, bt_arena_printf(&f.arena, "m%d", i).data, i == 90 ? "'zone':'b'" : "",
			"");
	}
	ck_assert(bt_str_equal_c(column_value(&f, zone, "m90"), "b"));
	ck_assert(absent->values == f.state->nodes.zero_values);
	check_valid(&f);
	ck_assert(bt_node_table_label_column(&f.state->nodes, BT_STR("zone")) == zone);
	fixture_finish(&f);
}
END_TEST

/* Users can invent any number of label keys: only keys that a node has get a column. */
START_TEST(test_node_table__keys_without_a_node_have_no_column)
{
	struct fixture f;
	struct bt_node_table *nodes;
	struct bt_pod *pod;
	const struct bt_node *node;
	uint64_t epoch;

	fixture_init(&f);
	nodes = &f.state->nodes;
	node = make_node(&f, "n1", "'zone':'a'", "");
	bt_state_add_node(f.state, node);
	pod = make_pod(&f, "p", "n1", "");
	pod->metadata.labels = make_node(&f, "p", "'rack':'r1','':'x'", "")->metadata.labels;
	check_ok(bt_state_add_pod(f.state, pod, &err));
	epoch = nodes->label_key_epoch;
	ck_assert_ptr_null(bt_state_label_column(f.state, BT_STR("rack")));
	ck_assert_ptr_null(bt_state_label_column(f.state, BT_STR("")));
	ck_assert_ptr_null(bt_state_label_column(f.state, BT_STR("nobody")));
	ck_assert_ptr_nonnull(bt_state_label_column(f.state, BT_STR("zone")));
	ck_assert_uint_eq(nodes->label_columns.count, 1);
	bt_state_update_node(f.state, node, make_node(&f, "n1", "'zone':'b'", ""));
	ck_assert_uint_eq(nodes->label_key_epoch, epoch);
	add_node(&f, "n2", "'zone':'a','rack':'r1','':'x'", "");
	ck_assert_uint_eq(nodes->label_key_epoch, epoch + 2);
	ck_assert_ptr_nonnull(bt_state_label_column(f.state, BT_STR("rack")));
	ck_assert_ptr_nonnull(bt_state_label_column(f.state, BT_STR("")));
	check_valid(&f);
	bt_state_update_node(f.state, NULL, make_node(&f, "n2", "'zone':'a'", ""));
	ck_assert_ptr_null(bt_state_label_column(f.state, BT_STR("rack")));
	bt_state_update_node(f.state, NULL, make_node(&f, "n2", "", ""));
	ck_assert_ptr_nonnull(bt_state_label_column(f.state, BT_STR("zone")));
	bt_state_update_node(f.state, NULL, make_node(&f, "n1", "", ""));
	ck_assert_ptr_null(bt_state_label_column(f.state, BT_STR("zone")));
	ck_assert_uint_eq(nodes->label_keys.map.count, 0);
	check_valid(&f);
	fixture_finish(&f);
}
END_TEST

START_TEST(test_node_table__label_dictionary_is_bounded)
{
	struct fixture f;
	const struct bt_label_column *column;

	fixture_init(&f);
	add_node(&f, "fixed", "'k':'stays'", "");
	add_node(&f, "n", "", "");
	column = bt_node_table_label_column(&f.state->nodes, BT_STR("k"));
	for (int i = 0; i < 1000; i++) {
		struct bt_str labels = bt_arena_printf(&f.arena, "'k':'v%d'", i);
		bt_state_update_node(f.state, NULL, make_node(&f, "n", labels.data, ""));
		ck_assert(bt_str_equal(
			column_value(&f, column, "n"), bt_str_sub(labels, 5, labels.length - 6)));
		ck_assert(bt_str_equal_c(column_value(&f, column, "fixed"), "stays"));
	}
	ck_assert_uint_le(column->dictionary.count, 1 + 2 + 2 * f.state->nodes.slot_count + 64 + 1);
	ck_assert_uint_gt(column->rebuild_count, 10);
	fixture_finish(&f);
}
END_TEST

/* --- shared parts --- */

START_TEST(test_node_table__equal_taints_share_a_set)
{
	static const char with[] = "{'metadata':{'name':'%s'},'spec':{'taints':[{'key':'k','value':"
				   "'v','effect':'NoSchedule'}]}}";
	struct fixture f;
	const bt_taint_list *taints;

	fixture_init(&f);
	bt_state_add_node(
		f.state, decode(&f, &bt_node_message, bt_arena_printf(&f.arena, with, "n1").data));
	bt_state_add_node(
		f.state, decode(&f, &bt_node_message, bt_arena_printf(&f.arena, with, "n2").data));
	add_node(&f, "n3", "", "");
	ck_assert_uint_eq(f.state->nodes.taint_set[slot_of(&f, "n1")],
		f.state->nodes.taint_set[slot_of(&f, "n2")]);
	ck_assert_uint_eq(f.state->nodes.taint_set[slot_of(&f, "n3")], 0);
	taints = bt_node_table_taints(&f.state->nodes, slot_of(&f, "n2"));
	ck_assert_uint_eq(taints->count, 1);
	ck_assert(bt_str_equal_c(taints->items[0].value, "v"));
	ck_assert_uint_eq(bt_node_table_taints(&f.state->nodes, slot_of(&f, "n3"))->count, 0);
	bt_state_update_node(f.state, NULL, make_node(&f, "n1", "", ""));
	bt_state_update_node(f.state, NULL, make_node(&f, "n2", "", ""));
	ck_assert_uint_eq(f.state->nodes.taint_sets.map.count, 0);
	fixture_finish(&f);
}
END_TEST

START_TEST(test_node_table__slots_are_reused_and_zeroed)
{
	struct fixture f;
	struct bt_node *node;
	uint32_t slot;

	fixture_init(&f);
	node = make_node(&f, "n1", "'a':'b'",
		"'allocatable':{'cpu':'4','memory':'1Gi','pods':'10','x.y/z':'3'}");
	bt_state_add_node(f.state, node);
	check_refresh(&f);
	slot = slot_of(&f, "n1");
	check_ok(bt_state_remove_node(f.state, node, &err));
	ck_assert_uint_eq(slot_of(&f, "n1"), slot);
	check_refresh(&f);
	ck_assert_int_eq(f.state->nodes.allocatable[BT_MEMORY_BYTES][slot], 0);
	ck_assert_int_eq(f.state->nodes.allocatable_pods[slot], 0);
	add_node(&f, "n2", "", "");
	ck_assert_uint_eq(slot_of(&f, "n2"), slot);
	ck_assert_int_eq(f.state->nodes.scalars.items[0].allocatable[slot], 0);
	ck_assert_uint_eq(row_of(&f, "n2")->labels.count, 0);
	check_refresh(&f);
	check_list(&f, "n2");
	fixture_finish(&f);
}
END_TEST

BT_TEST_MAIN("node_table", test_node_table__edge_01b_35_three_pods,
	test_node_table__edge_01b_36_port_conflicts, test_node_table__edge_01b_37_port_set,
	test_node_table__edge_01b_39_remove_unknown_pod,
	test_node_table__edge_01b_40_order_after_removal,
	test_node_table__edge_01b_41_affinity_lists, test_node_table__edge_01b_42_image_size,
	test_node_table__edge_01b_43_declared_features,
	test_node_table__edge_01b_44_claim_consumers, test_node_table__edge_01b_46_wrapping_sums,
	test_node_table__wide_values, test_node_table__edge_01b_47_resized_pod,
	test_node_table__edge_01b_48_ghost_continues,
	test_node_table__scalar_columns_exist_only_while_used,
	test_node_table__zero_amounts_of_extended_resources_are_listed,
	test_node_table__label_column_follows_the_nodes,
	test_node_table__keys_without_a_node_have_no_column,
	test_node_table__label_dictionary_is_bounded, test_node_table__equal_taints_share_a_set,
	test_node_table__slots_are_reused_and_zeroed)
