/* SPDX-License-Identifier: Apache-2.0 */
/* VolumeZone. Spec: 07b section 3.7. */
#include "test_main.h"
#include "volume_fixture.h"

#define CONFLICT "UnschedulableAndUnresolvable: node(s) had no available volume zone"
#define REJECT "UnschedulableAndUnresolvable: "
#define BETA_ZONE(value) "'failure-domain.beta.kubernetes.io/zone':'" value "'"
#define BETA_REGION(value) "'failure-domain.beta.kubernetes.io/region':'" value "'"
#define ZONE(value) "'topology.kubernetes.io/zone':'" value "'"
#define REGION(value) "'topology.kubernetes.io/region':'" value "'"

static void init(struct fixture *fixture)
{
	volume_fixture_init(fixture, &bt_volume_zone_plugin, NULL, NULL);
	put_bound_claim(fixture, "c", "pv");
}

static void put_labels(struct fixture *fixture, const char *name, const char *labels)
{
	struct bt_str extra =
		bt_arena_printf(&fixture->arena, ",'metadata':{'labels':{%s}}", labels);

	put_volume(fixture, name, "I", "1G", NULL, extra.data);
}

/** Adds a node with these labels; returns the verdict on this node for a pod with claim c. */
static const char *on_node(struct fixture *fixture, const char *labels)
{
	struct bt_str json =
		bt_arena_printf(&fixture->arena, "{'metadata':{'name':'z','labels':{%s}}}", labels);

	fixture_add_node(fixture, json.data);
	return fixture_filter(fixture, claims_pod(fixture, "c"), "z");
}

struct zone_row {
	const char *row;
	const char *volume_labels;
	const char *node_labels;
	const char *expected;
};

static void check_rows(const struct zone_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct fixture fixture;

		init(&fixture);
		put_labels(&fixture, "pv", rows[i].volume_labels);
		fixture_expect(
			rows[i].row, on_node(&fixture, rows[i].node_labels), rows[i].expected);
		fixture_finish(&fixture);
	}
}

START_TEST(test_volume_zone__edge_07b_01_skip)
{
	struct fixture fixture;

	init(&fixture);
	put_labels(&fixture, "pv", "'a':'b'");
	put_claim(&fixture, "waiting", "W", "1G", "");
	ck_assert_str_eq(fixture_pre_filter(&fixture, "{}", NULL), "Skip");
	ck_assert_str_eq(fixture_pre_filter(&fixture,
				 "{'spec':{'volumes':[{'name':'v','ephemeral':{}}]}}", NULL),
		"Skip");
	ck_assert_str_eq(
		fixture_pre_filter(&fixture, claims_pod(&fixture, "waiting"), NULL), "Skip");
	ck_assert_str_eq(
		fixture_pre_filter(&fixture, claims_pod(&fixture, "c waiting"), NULL), "Skip");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_zone__edge_07b_02_node_without_labels)
{
	static const struct zone_row rows[] = {
		{"no label", BETA_ZONE("us-west1-a"), "", "Success"},
		{"other label", BETA_ZONE("us-west1-a"), "'a':'b'", "Success"},
	};

	check_rows(rows, BT_ARRAY_LENGTH(rows));
}
END_TEST

START_TEST(test_volume_zone__edge_07b_03_beta_zone)
{
	static const struct zone_row rows[] = {
		{"same", BETA_ZONE("us-west1-a"), BETA_ZONE("us-west1-a"), "Success"},
		{"other", BETA_ZONE("us-west1-a"), BETA_ZONE("us-west1-b"), CONFLICT},
	};

	check_rows(rows, BT_ARRAY_LENGTH(rows));
}
END_TEST

START_TEST(test_volume_zone__edge_07b_04_beta_region)
{
	static const struct zone_row rows[] = {
		{"same", BETA_REGION("us-west1"), BETA_REGION("us-west1"), "Success"},
		{"other", BETA_REGION("us-west1"), BETA_REGION("us-west2"), CONFLICT},
	};

	check_rows(rows, BT_ARRAY_LENGTH(rows));
}
END_TEST

START_TEST(test_volume_zone__edge_07b_05_zone)
{
	static const struct zone_row rows[] = {
		{"same", ZONE("a"), ZONE("a"), "Success"},
		{"other", ZONE("a"), ZONE("b"), CONFLICT},
	};

	check_rows(rows, BT_ARRAY_LENGTH(rows));
}
END_TEST

START_TEST(test_volume_zone__edge_07b_06_region_missing)
{
	static const struct zone_row rows[] = {
		{"zone only", ZONE("a") "," REGION("a"), ZONE("a"), CONFLICT},
		{"both", ZONE("a") "," REGION("a"), ZONE("a") "," REGION("a"), "Success"},
	};

	check_rows(rows, BT_ARRAY_LENGTH(rows));
}
END_TEST

START_TEST(test_volume_zone__edge_07b_07_beta_node)
{
	static const struct zone_row rows[] = {
		{"beta does not stand in", ZONE("a"), BETA_ZONE("a"), CONFLICT},
	};

	check_rows(rows, BT_ARRAY_LENGTH(rows));
}
END_TEST

START_TEST(test_volume_zone__edge_07b_08_fallback)
{
	static const struct zone_row rows[] = {
		{"same", BETA_ZONE("a"), ZONE("a"), "Success"},
		{"other", BETA_ZONE("a"), ZONE("b"), CONFLICT},
	};

	check_rows(rows, BT_ARRAY_LENGTH(rows));
}
END_TEST

START_TEST(test_volume_zone__edge_07b_09_beta_value_is_used)
{
	static const struct zone_row rows[] = {
		{"both on the node", BETA_ZONE("a"), BETA_ZONE("b") "," ZONE("a"), CONFLICT},
	};

	check_rows(rows, BT_ARRAY_LENGTH(rows));
}
END_TEST

START_TEST(test_volume_zone__edge_07b_10_several_zones)
{
	static const struct zone_row rows[] = {
		{"one of them", BETA_ZONE("us-west1-c__us-west1-a"), BETA_ZONE("us-west1-a"),
			"Success"},
		{"none of them", BETA_ZONE("us-west1-c__us-west1-a"), BETA_ZONE("us-west1-b"),
			CONFLICT},
	};

	check_rows(rows, BT_ARRAY_LENGTH(rows));
}
END_TEST

START_TEST(test_volume_zone__edge_07b_11_unparsable)
{
	static const struct zone_row rows[] = {
		{"empty part", ZONE("a__"), ZONE("b"), "Skip"},
		{"empty", ZONE(""), ZONE("b"), "Skip"},
		{"the other label counts", ZONE("a__") "," REGION("r"), REGION("s"), CONFLICT},
	};

	check_rows(rows, BT_ARRAY_LENGTH(rows));
}
END_TEST

START_TEST(test_volume_zone__edge_07b_12_blanks)
{
	static const struct zone_row rows[] = {
		{"a", ZONE(" a __ b "), ZONE("a"), "Success"},
		{"b", ZONE(" a __ b "), ZONE("b"), "Success"},
		{"c", ZONE(" a __ b "), ZONE("c"), CONFLICT},
	};

	check_rows(rows, BT_ARRAY_LENGTH(rows));
}
END_TEST

START_TEST(test_volume_zone__edge_07b_13_single_underscore)
{
	static const struct zone_row rows[] = {
		{"whole", ZONE("a_b"), ZONE("a_b"), "Success"},
		{"part", ZONE("a_b"), ZONE("a"), CONFLICT},
	};

	check_rows(rows, BT_ARRAY_LENGTH(rows));
}
END_TEST

START_TEST(test_volume_zone__edge_07b_14_inconsistent_volume)
{
	static const struct zone_row rows[] = {
		{"beta a, zone b", BETA_ZONE("a") "," ZONE("b"), ZONE("a"), CONFLICT},
	};

	check_rows(rows, BT_ARRAY_LENGTH(rows));
}
END_TEST

static const char *unbound(struct fixture *fixture, const char *class_name)
{
	put_claim(fixture, "u", class_name, "1G", "");
	return fixture_pre_filter(fixture, claims_pod(fixture, "u"), NULL);
}

START_TEST(test_volume_zone__edge_07b_15_no_class)
{
	struct fixture fixture;

	init(&fixture);
	ck_assert_str_eq(unbound(&fixture, ""),
		REJECT "PersistentVolumeClaim had no pv name and storageClass name");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_zone__edge_07b_16_class_missing)
{
	struct fixture fixture;

	init(&fixture);
	ck_assert_str_eq(unbound(&fixture, "Class_0"),
		REJECT "storageclass.storage.k8s.io \"Class_0\" not found");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_zone__edge_07b_17_class_without_mode)
{
	struct fixture fixture;

	init(&fixture);
	put_class(&fixture, "Class_Immediate", "x", NULL, "");
	ck_assert_str_eq(unbound(&fixture, "Class_Immediate"),
		REJECT "VolumeBindingMode not set for StorageClass \"Class_Immediate\"");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_zone__edge_07b_18_immediate)
{
	struct fixture fixture;

	init(&fixture);
	ck_assert_str_eq(unbound(&fixture, "I"), REJECT "PersistentVolume had no name");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_zone__edge_07b_19_volume_missing)
{
	struct fixture fixture;

	init(&fixture);
	put_bound_claim(&fixture, "c", "Vol_not_exist");
	ck_assert_str_eq(fixture_pre_filter(&fixture, claims_pod(&fixture, "c"), NULL),
		REJECT "persistentvolume \"Vol_not_exist\" not found");
	ck_assert_str_eq(fixture_pre_filter(&fixture, claims_pod(&fixture, "d"), NULL),
		REJECT "persistentvolumeclaim \"d\" not found");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_zone__edge_07b_20_two_zones)
{
	static const struct {
		const char *labels;
		const char *expected;
	} rows[] = {{ZONE("a"), CONFLICT}, {ZONE("b"), CONFLICT}, {"", "Success"}};
	struct fixture fixture;

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_str json;

		init(&fixture);
		put_labels(&fixture, "pv", ZONE("a"));
		put_labels(&fixture, "pw", ZONE("b"));
		put_bound_claim(&fixture, "d", "pw");
		json = bt_arena_printf(
			&fixture.arena, "{'metadata':{'name':'z','labels':{%s}}}", rows[i].labels);
		fixture_add_node(&fixture, json.data);
		fixture_expect(rows[i].labels,
			fixture_filter(&fixture, claims_pod(&fixture, "c d"), "z"),
			rows[i].expected);
		fixture_finish(&fixture);
	}
}
END_TEST

START_TEST(test_volume_zone__edge_07b_21_only_region_on_the_node)
{
	static const struct zone_row rows[] = {
		{"zone absent", ZONE("a"), REGION("r"), CONFLICT},
	};

	check_rows(rows, BT_ARRAY_LENGTH(rows));
}
END_TEST

START_TEST(test_volume_zone__edge_07b_22_no_claim_name)
{
	struct fixture fixture;

	init(&fixture);
	ck_assert_str_eq(
		fixture_pre_filter(&fixture,
			"{'spec':{'volumes':[{'name':'v','persistentVolumeClaim':{}}]}}", NULL),
		REJECT "PersistentVolumeClaim had no name");
	fixture_finish(&fixture);
}
END_TEST

/** Filter collects the data if PreFilter did not run. */
START_TEST(test_volume_zone__without_pre_filter)
{
	struct fixture fixture;

	init(&fixture);
	put_labels(&fixture, "pv", ZONE("a"));
	fixture_add_node(&fixture, "{'metadata':{'name':'z','labels':{" ZONE("b") "}}}");
	ck_assert_str_eq(fixture_filter_alone(&fixture, claims_pod(&fixture, "c"), "z"), CONFLICT);
	ck_assert_str_eq(fixture_filter_alone(&fixture, "{}", "z"), "Success");
	put_labels(&fixture, "pv", "");
	ck_assert_str_eq(fixture_filter_alone(&fixture, claims_pod(&fixture, "c"), "z"), "Success");
	ck_assert_str_eq(fixture_filter_alone(&fixture, claims_pod(&fixture, "d"), "z"),
		REJECT "persistentvolumeclaim \"d\" not found");
	fixture_finish(&fixture);
}
END_TEST

/* --- hints --- */

static enum fixture_hint hint(struct fixture *fixture, const char *resource, uint32_t action,
	const char *old_json, const char *new_json)
{
	return fixture_hint(fixture, resource, action,
		fixture_pending(fixture, claims_pod(fixture, "c")), old_json, new_json, NULL);
}

START_TEST(test_volume_zone__edge_07b_23_hint_storage_class)
{
	struct fixture fixture;

	init(&fixture);
	ck_assert_int_eq(hint(&fixture, "StorageClass", BT_ACTION_ADD, NULL, "{}"), FIXTURE_SKIP);
	ck_assert_int_eq(hint(&fixture, "StorageClass", BT_ACTION_ADD, NULL,
				 "{'volumeBindingMode':'WaitForFirstConsumer'}"),
		FIXTURE_QUEUE);
	fixture_finish(&fixture);
}
END_TEST

#define PV(labels) "{'metadata':{'name':'pv','labels':{" labels "}}}"

START_TEST(test_volume_zone__edge_07b_24_hint_volume)
{
	static const struct {
		const char *row;
		const char *old_json;
		const char *new_json;
		enum fixture_hint expected;
	} rows[] = {
		{"zone changes", PV(ZONE("a")), PV(ZONE("b")), FIXTURE_QUEUE},
		{"zone comes", PV(""), PV(ZONE("a")), FIXTURE_QUEUE},
		{"another label", PV(ZONE("a")), PV(ZONE("a") ",'x':'y'"), FIXTURE_SKIP},
		{"same zones", PV(ZONE("a__b")), PV(ZONE("b__a")), FIXTURE_SKIP},
		{"fewer zones", PV(ZONE("a__b")), PV(ZONE("a")), FIXTURE_QUEUE},
		{"added", NULL, PV(""), FIXTURE_QUEUE},
	};
	struct fixture fixture;

	init(&fixture);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		enum fixture_hint actual = hint(&fixture, "PersistentVolume", BT_ACTION_UPDATE,
			rows[i].old_json, rows[i].new_json);
		ck_assert_msg(actual == rows[i].expected, "%s", rows[i].row);
	}
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_zone__edge_07b_25_hint_claim)
{
	struct fixture fixture;

	init(&fixture);
	ck_assert_int_eq(hint(&fixture, "PersistentVolumeClaim", BT_ACTION_ADD, NULL,
				 "{'metadata':{'name':'c','namespace':'other'}}"),
		FIXTURE_SKIP);
	ck_assert_int_eq(hint(&fixture, "PersistentVolumeClaim", BT_ACTION_UPDATE,
				 "{'metadata':{'name':'c'}}",
				 "{'metadata':{'name':'c'},'spec':{'volumeName':'pv'}}"),
		FIXTURE_QUEUE);
	ck_assert_int_eq(hint(&fixture, "Node", BT_ACTION_ADD, NULL, "{}"), FIXTURE_QUEUE);
	fixture_finish(&fixture);
}
END_TEST

BT_TEST_MAIN("volume_zone", test_volume_zone__edge_07b_01_skip,
	test_volume_zone__edge_07b_02_node_without_labels, test_volume_zone__edge_07b_03_beta_zone,
	test_volume_zone__edge_07b_04_beta_region, test_volume_zone__edge_07b_05_zone,
	test_volume_zone__edge_07b_06_region_missing, test_volume_zone__edge_07b_07_beta_node,
	test_volume_zone__edge_07b_08_fallback, test_volume_zone__edge_07b_09_beta_value_is_used,
	test_volume_zone__edge_07b_10_several_zones, test_volume_zone__edge_07b_11_unparsable,
	test_volume_zone__edge_07b_12_blanks, test_volume_zone__edge_07b_13_single_underscore,
	test_volume_zone__edge_07b_14_inconsistent_volume, test_volume_zone__edge_07b_15_no_class,
	test_volume_zone__edge_07b_16_class_missing,
	test_volume_zone__edge_07b_17_class_without_mode, test_volume_zone__edge_07b_18_immediate,
	test_volume_zone__edge_07b_19_volume_missing, test_volume_zone__edge_07b_20_two_zones,
	test_volume_zone__edge_07b_21_only_region_on_the_node,
	test_volume_zone__edge_07b_22_no_claim_name, test_volume_zone__without_pre_filter,
	test_volume_zone__edge_07b_23_hint_storage_class, test_volume_zone__edge_07b_24_hint_volume,
	test_volume_zone__edge_07b_25_hint_claim)
