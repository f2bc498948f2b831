/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Score of VolumeBinding, and the plugin with a fake binder. Spec: 07 section 15, cases 78 to 86;
 * 07 section 16.3.
 */
#include "fake_volume_binder.h"
#include "test_main.h"
#include "volume_fixture.h"

#define GATE "StorageCapacityScoring=true"
#define SHAPE(points) "{'shape':[" points "]}"
#define FULL_FIRST SHAPE("{'utilization':0,'score':0},{'utilization':100,'score':10}")

static void init(struct fixture *fixture, const char *args)
{
	volume_fixture_init(fixture, &bt_volume_binding_plugin, GATE, args);
	put_class(fixture, "V", "kubernetes.io/no-provisioner", "WaitForFirstConsumer", "");
	put_class(fixture, "D", "x", "WaitForFirstConsumer", "");
	fixture_put(fixture,
		"{'apiVersion':'storage.k8s.io/v1','kind':'CSIDriver','metadata':{'name':'x'},"
		"'spec':{'storageCapacity':true}}");
}

/** Puts storage capacity of class D for the node. */
static void put_pool(struct fixture *fixture, const char *node, const char *members)
{
	struct bt_str json = bt_arena_printf(&fixture->arena,
		"{'apiVersion':'storage.k8s.io/v1','kind':'CSIStorageCapacity','metadata':{'name':"
		"'%s','namespace':'default'},'storageClassName':'D','nodeTopology':{'matchLabels':"
		"{'k':'%s'}},%s}",
		node, node, members);

	fixture_put(fixture, json.data);
}

static int64_t score_on(struct fixture *fixture, const char *claims, const char *node)
{
	struct volume_cycle cycle;
	struct bt_node_info info;
	int64_t score = -1;
	struct bt_status status;

	volume_cycle_begin(&cycle, fixture, claims_pod(fixture, claims));
	ck_assert_str_eq(cycle.pre_filter, "Success");
	ck_assert_str_eq(volume_cycle_filter(&cycle, node), "Success");
	status = fixture->plugin->ops->pre_score(fixture->plugin, &cycle.state, cycle.pod, NULL, 0);
	ck_assert_str_eq(fixture_status_text(fixture, status), "Success");
	bt_node_info_init(&info, fixture->state, fixture_slot(fixture, node));
	status = fixture->plugin->ops->score(
		fixture->plugin, &cycle.state, cycle.pod, &info, &score);
	ck_assert_str_eq(fixture_status_text(fixture, status), "Success");
	volume_cycle_end(&cycle);
	return score;
}

START_TEST(test_volume_binding__edge_07_78_utilisation)
{
	struct fixture fixture;

	init(&fixture, FULL_FIRST);
	put_claim(&fixture, "c", "W", "50Gi", "");
	put_volume(&fixture, "a", "W", "200Gi", "n1", "");
	put_volume(&fixture, "b", "W", "100Gi", "n2", "");
	ck_assert_int_eq(score_on(&fixture, "c", "n1"), 25);
	ck_assert_int_eq(score_on(&fixture, "c", "n2"), 50);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_79_two_classes)
{
	struct fixture fixture;

	init(&fixture, FULL_FIRST);
	put_claim(&fixture, "c", "W", "50Gi", "");
	put_claim(&fixture, "d", "V", "100Gi", "");
	put_volume(&fixture, "a", "W", "200Gi", "n1", "");
	put_volume(&fixture, "b", "W", "100Gi", "n2", "");
	put_volume(&fixture, "va", "V", "200Gi", "n1", "");
	put_volume(&fixture, "vb", "V", "100Gi", "n2", "");
	ck_assert_int_eq(score_on(&fixture, "c d", "n1"), 38);
	ck_assert_int_eq(score_on(&fixture, "c d", "n2"), 75);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_80_three_points)
{
	struct fixture fixture;

	init(&fixture,
		SHAPE("{'utilization':0,'score':0},{'utilization':50,'score':3},"
		      "{'utilization':100,'score':5}"));
	put_claim(&fixture, "c", "W", "50Gi", "");
	put_volume(&fixture, "a", "W", "200Gi", "n1", "");
	put_volume(&fixture, "b", "W", "100Gi", "n2", "");
	ck_assert_int_eq(score_on(&fixture, "c", "n1"), 15);
	ck_assert_int_eq(score_on(&fixture, "c", "n2"), 30);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_81_dynamic)
{
	static const struct {
		const char *args;
		int64_t expected[3];
	} rows[] = {
		{FULL_FIRST, {10, 20, 100}},
		{NULL, {90, 80, 0}}, /* the default shape prefers free space */
	};
	static const char *const pools[] = {
		"'capacity':'100Gi'", "'capacity':'50Gi'", "'capacity':'10Gi'"};
	struct fixture fixture;

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		init(&fixture, rows[i].args);
		put_claim(&fixture, "c", "D", "10Gi", "");
		for (size_t k = 0; k < BT_ARRAY_LENGTH(pools); k++) {
			put_pool(&fixture, "n1", pools[k]);
			ck_assert_int_eq(score_on(&fixture, "c", "n1"), rows[i].expected[k]);
		}
		fixture_finish(&fixture);
	}
}
END_TEST

START_TEST(test_volume_binding__edge_07_82_static_outweighs_dynamic)
{
	struct fixture fixture;

	init(&fixture, FULL_FIRST);
	put_claim(&fixture, "c", "W", "50Gi", "");
	put_claim(&fixture, "d", "D", "10Gi", "");
	put_volume(&fixture, "a", "W", "100Gi", NULL, "");
	put_pool(&fixture, "n1", "'capacity':'10Gi'");
	ck_assert_int_eq(score_on(&fixture, "c d", "n1"), 50);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_83_two_claims_of_a_pool)
{
	struct fixture fixture;

	init(&fixture, FULL_FIRST);
	put_claim(&fixture, "c", "D", "50Gi", "");
	put_claim(&fixture, "d", "D", "50Gi", "");
	put_pool(&fixture, "n1", "'capacity':'100Gi'");
	ck_assert_int_eq(score_on(&fixture, "c d", "n1"), 100);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_84_flat_start)
{
	struct fixture fixture;

	init(&fixture,
		SHAPE("{'utilization':50,'score':0},{'utilization':80,'score':3},"
		      "{'utilization':100,'score':5}"));
	put_claim(&fixture, "c", "W", "30Gi", "");
	put_claim(&fixture, "d", "V", "60Gi", "");
	put_volume(&fixture, "a", "W", "100Gi", NULL, "");
	put_volume(&fixture, "b", "V", "100Gi", NULL, "");
	ck_assert_int_eq(score_on(&fixture, "c d", "n1"), 5);
	put_claim(&fixture, "d", "V", "30Gi", "");
	ck_assert_int_eq(score_on(&fixture, "c d", "n1"), 0);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_85_over_capacity)
{
	struct fixture fixture;

	init(&fixture, FULL_FIRST);
	put_claim(&fixture, "c", "D", "20Gi", "");
	put_pool(&fixture, "n1", "'capacity':'10Gi','maximumVolumeSize':'30Gi'");
	ck_assert_int_eq(score_on(&fixture, "c", "n1"), 100);
	put_pool(&fixture, "n1", "'maximumVolumeSize':'30Gi'");
	ck_assert_int_eq(score_on(&fixture, "c", "n1"), 100);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_86_nothing_to_score)
{
	struct volume_cycle cycle;
	struct bt_node_info info;
	struct fixture fixture;
	int64_t score = -1;

	init(&fixture, FULL_FIRST);
	put_claim(&fixture, "c", "D", NULL, ""); /* no request: no node capacity */
	ck_assert_int_eq(score_on(&fixture, "c", "n1"), 0);
	volume_cycle_begin(&cycle, &fixture, claims_pod(&fixture, "c"));
	bt_node_info_init(&info, fixture.state, fixture_slot(&fixture, "n2"));
	ck_assert_str_eq(fixture_status_text(&fixture,
				 fixture.plugin->ops->score(
					 fixture.plugin, &cycle.state, cycle.pod, &info, &score)),
		"Success");
	ck_assert_int_eq(score, 0);
	volume_cycle_end(&cycle);
	/* A pod without claims scores 0 on every node; PreScore does not skip. */
	volume_cycle_begin(&cycle, &fixture, "{}");
	ck_assert_str_eq(cycle.pre_filter, "Skip");
	ck_assert_str_eq(fixture_status_text(&fixture,
				 fixture.plugin->ops->pre_score(
					 fixture.plugin, &cycle.state, cycle.pod, NULL, 0)),
		"Success");
	volume_cycle_end(&cycle);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__no_scorer)
{
	struct fixture fixture;

	volume_fixture_init(&fixture, &bt_volume_binding_plugin, NULL, NULL);
	ck_assert_str_eq(fixture_pre_score(&fixture, "{}"), "Skip");
	fixture_finish(&fixture);
}
END_TEST

/* --- fake binder --- */

/** Spec 07 section 16.3: the status for each result of the binder. */
START_TEST(test_volume_binding__fake_binder)
{
	static const struct {
		struct fake_volume_binder config;
		const char *filter;
		const char *reserve;
		const char *pre_bind;
		bool bind_called;
	} rows[] = {
		{{.all_bound = true}, "Success", "Success", "Success", false},
		{{.all_bound = true, .find_conflicts = BT_VOLUME_CONFLICT_NODE}, NODE_CONFLICT,
			NULL, NULL, false},
		{{.find_conflicts = BT_VOLUME_CONFLICT_BIND | BT_VOLUME_CONFLICT_NODE},
			NODE_CONFLICT ", node(s) didn't find available persistent volumes to bind",
			NULL, NULL, false},
		{{.all_bound = false}, "Success", "Success", "Success", true},
		{{.find_error = "find err"}, "Error: find err", NULL, NULL, false},
		{{.assume_error = "assume err"}, "Success", "Error: assume err", NULL, false},
		{{.bind_error = "bind err"}, "Success", "Success", "Error: bind err", true},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct fake_volume_binder *binder = fake_volume_binder_create(&rows[i].config);
		struct volume_cycle cycle;
		struct fixture fixture;

		volume_fixture_init(&fixture, &bt_volume_binding_plugin, NULL, NULL);
		bt_volume_binding_set_binder(fixture.plugin, &binder->base);
		put_claim(&fixture, "c", "I", "1G", "");
		volume_cycle_begin(&cycle, &fixture, claims_pod(&fixture, "c"));
		ck_assert_str_eq(cycle.pre_filter, "Success");
		ck_assert_str_eq(volume_cycle_filter(&cycle, "n1"), rows[i].filter);
		if (rows[i].reserve != NULL) {
			ck_assert_str_eq(volume_cycle_reserve(&cycle, "n1"), rows[i].reserve);
			ck_assert(binder->assume_called);
		}
		if (rows[i].pre_bind != NULL) {
			ck_assert_str_eq(volume_cycle_pre_bind(&cycle, "n1"), rows[i].pre_bind);
			ck_assert(binder->bind_called == rows[i].bind_called);
		}
		volume_cycle_unreserve(&cycle, "n1");
		volume_cycle_end(&cycle);
		fixture_finish(&fixture);
	}
}
END_TEST

/** Errors of steps that run out of order. */
START_TEST(test_volume_binding__state_missing)
{
	struct bt_pre_bind_pre_flight flight = {0};
	struct volume_cycle cycle;
	struct fixture fixture;

	volume_fixture_init(&fixture, &bt_volume_binding_plugin, NULL, NULL);
	put_claim(&fixture, "c", "P", "1G", "");
	ck_assert_str_eq(fixture_filter_alone(&fixture, claims_pod(&fixture, "c"), "n1"),
		"Error: not found");
	volume_cycle_begin(&cycle, &fixture, claims_pod(&fixture, "c"));
	ck_assert_str_eq(
		volume_cycle_pre_bind(&cycle, "n1"), "Error: no pod volume found for node \"n1\"");
	ck_assert_str_eq(
		fixture_status_text(&fixture,
			fixture.plugin->ops->pre_bind_pre_flight(fixture.plugin, &cycle.state,
				cycle.pod, fixture_slot(&fixture, "n1"), &flight)),
		"Error: no pod volume found for node \"n1\"");
	cycle.state.pre_filter_data[0] = NULL;
	ck_assert_str_eq(volume_cycle_reserve(&cycle, "n1"), "Error: not found");
	ck_assert_str_eq(volume_cycle_pre_bind(&cycle, "n1"), "Error: not found");
	volume_cycle_unreserve(&cycle, "n1");
	volume_cycle_end(&cycle);
	fixture_finish(&fixture);
}
END_TEST

BT_TEST_MAIN("volume_binding_score", test_volume_binding__edge_07_78_utilisation,
	test_volume_binding__edge_07_79_two_classes, test_volume_binding__edge_07_80_three_points,
	test_volume_binding__edge_07_81_dynamic,
	test_volume_binding__edge_07_82_static_outweighs_dynamic,
	test_volume_binding__edge_07_83_two_claims_of_a_pool,
	test_volume_binding__edge_07_84_flat_start, test_volume_binding__edge_07_85_over_capacity,
	test_volume_binding__edge_07_86_nothing_to_score, test_volume_binding__no_scorer,
	test_volume_binding__fake_binder, test_volume_binding__state_missing)
