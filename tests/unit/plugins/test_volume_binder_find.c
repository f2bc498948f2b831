/* SPDX-License-Identifier: Apache-2.0 */
/* The volume binder: static matching, provisioning, capacity. Spec: 07 section 15, cases 27 to 56
 * and 91 to 93. */
#include "test_main.h"
#include "volume_fixture.h"

static void init(struct fixture *fixture)
{
	volume_fixture_init(fixture, &bt_volume_binding_plugin, NULL, NULL);
}

static const char *for_claim(struct fixture *fixture, const char *claim, const char *node)
{
	return volumes_for(fixture, claims_pod(fixture, claim), node);
}

/* --- static matching --- */

START_TEST(test_volume_binding__edge_07_27_smallest_on_the_node)
{
	struct fixture fixture;

	init(&fixture);
	put_volume(&fixture, "n2-1", "W", "1G", "n2", "");
	put_volume(&fixture, "n1-10", "W", "10G", "n1", "");
	put_volume(&fixture, "n1-5", "W", "5G", "n1", "");
	put_claim(&fixture, "c", "W", "1G", "");
	ck_assert_str_eq(for_claim(&fixture, "c", "n1"), "n1-5<-c;");
	ck_assert_str_eq(for_claim(&fixture, "c", "n2"), "n2-1<-c;");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_28_none_on_the_node)
{
	struct fixture fixture;

	init(&fixture);
	put_volume(&fixture, "n2-1", "W", "1G", "n2", "");
	put_claim(&fixture, "c", "W", "1G", "");
	ck_assert_str_eq(for_claim(&fixture, "c", "n1"), BIND_CONFLICT);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_29_small_claims_first)
{
	struct fixture fixture;

	init(&fixture);
	put_volume(&fixture, "pv5", "W", "5G", NULL, "");
	put_volume(&fixture, "pv10", "W", "10G", NULL, "");
	put_claim(&fixture, "a", "W", "1G", "");
	put_claim(&fixture, "b", "W", "10G", "");
	ck_assert_str_eq(for_claim(&fixture, "b a", "n1"), "pv5<-a;pv10<-b;");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_30_partial_match_is_dropped)
{
	struct fixture fixture;

	init(&fixture);
	put_volume(&fixture, "pv5", "W", "5G", NULL, "");
	put_claim(&fixture, "a", "W", "1G", "");
	put_claim(&fixture, "b", "W", "10G", "");
	ck_assert_str_eq(for_claim(&fixture, "a b", "n1"), BIND_CONFLICT);
	fixture_finish(&fixture);
}
END_TEST

#define FOR_CLAIM(name, uid) "'claimRef':{'name':'" name "','namespace':'default','uid':'" uid "'}"

START_TEST(test_volume_binding__edge_07_31_reserved_volumes)
{
	struct fixture fixture;

	init(&fixture);
	put_claim(&fixture, "c", "W", "1G", "");
	put_volume(&fixture, "other", "W", "1G", NULL, ",'spec':{" FOR_CLAIM("d", "") "}");
	ck_assert_str_eq(for_claim(&fixture, "c", "n1"), BIND_CONFLICT);
	put_volume(&fixture, "free", "W", "2G", NULL, "");
	ck_assert_str_eq(for_claim(&fixture, "c", "n1"), "free<-c;");
	put_volume(&fixture, "mine", "W", "5G", NULL, ",'spec':{" FOR_CLAIM("c", "") "}");
	ck_assert_str_eq(for_claim(&fixture, "c", "n1"), "mine<-c;");
	put_volume(&fixture, "mine", "W", "5G", NULL, ",'spec':{" FOR_CLAIM("c", "uid-c") "}");
	ck_assert_str_eq(for_claim(&fixture, "c", "n1"), "mine<-c;");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_32_reserved_elsewhere)
{
	struct fixture fixture;

	init(&fixture);
	put_claim(&fixture, "c", "W", "1G", "");
	put_volume(&fixture, "free", "W", "1G", NULL, "");
	put_volume(&fixture, "mine", "W", "5G", "n2", ",'spec':{" FOR_CLAIM("c", "") "}");
	ck_assert_str_eq(for_claim(&fixture, "c", "n1"), BIND_CONFLICT);
	ck_assert_str_eq(for_claim(&fixture, "c", "n2"), "mine<-c;");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_33_reserved_needs_little)
{
	static const char *const extras[] = {
		",'spec':{" FOR_CLAIM("c", "") "},'status':{'phase':'Pending'}",
		",'spec':{" FOR_CLAIM("c", "") "},'status':{'phase':'Bound'}",
		",'spec':{" FOR_CLAIM("c", "") ",'accessModes':['ReadOnlyMany']}",
	};
	struct fixture fixture;

	init(&fixture);
	put_claim(&fixture, "c", "W", "1G", ",'spec':{'selector':{'matchLabels':{'a':'b'}}}");
	for (size_t i = 0; i < BT_ARRAY_LENGTH(extras); i++) {
		put_volume(&fixture, "mine", "W", "5G", NULL, extras[i]);
		fixture_expect(extras[i], for_claim(&fixture, "c", "n1"), "mine<-c;");
	}
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_34_reserved_but_incompatible)
{
	static const struct {
		const char *size;
		const char *extra;
	} rows[] = {
		{"500M", ",'spec':{" FOR_CLAIM("c", "") "}"},
		{"5G", ",'spec':{" FOR_CLAIM("c", "") ",'volumeMode':'Block'}"},
		{"5G", ",'spec':{" FOR_CLAIM("c", "") ",'volumeAttributesClassName':'gold'}"},
		{"5G",
			",'spec':{" FOR_CLAIM("c", "") "},'metadata':{'deletionTimestamp':"
						       "'2026-01-01T00:00:00Z'}"},
	};
	struct fixture fixture;

	init(&fixture);
	put_claim(&fixture, "c", "W", "1G", "");
	put_volume(&fixture, "other", "W", "7G", NULL, "");
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		put_volume(&fixture, "mine", "W", rows[i].size, NULL, rows[i].extra);
		fixture_expect(rows[i].extra, for_claim(&fixture, "c", "n1"), "other<-c;");
	}
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_35_reserved_for_another_uid)
{
	struct fixture fixture;

	init(&fixture);
	put_claim(&fixture, "c", "W", "1G", "");
	put_volume(&fixture, "old", "W", "1G", NULL, ",'spec':{" FOR_CLAIM("c", "older") "}");
	ck_assert_str_eq(for_claim(&fixture, "c", "n1"), BIND_CONFLICT);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_36_phases)
{
	static const char *const extras[] = {
		",'status':{'phase':'Released'}",
		",'status':{'phase':'Pending'}",
	};
	struct fixture fixture;

	init(&fixture);
	put_claim(&fixture, "c", "W", "1G", "");
	for (size_t i = 0; i < BT_ARRAY_LENGTH(extras); i++) {
		put_volume(&fixture, "pv", "W", "1G", NULL, extras[i]);
		fixture_expect(extras[i], for_claim(&fixture, "c", "n1"), BIND_CONFLICT);
	}
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_37_access_modes)
{
	struct fixture fixture;

	init(&fixture);
	put_volume(&fixture, "pv", "W", "1G", NULL,
		",'spec':{'accessModes':['ReadWriteOnce','ReadOnlyMany']}");
	put_claim(&fixture, "many", "W", "1G", ",'spec':{'accessModes':['ReadWriteMany']}");
	put_claim(&fixture, "none", "W", "1G", ",'spec':{'accessModes':[]}");
	put_claim(&fixture, "both", "W", "1G",
		",'spec':{'accessModes':['ReadOnlyMany','ReadWriteOnce']}");
	ck_assert_str_eq(for_claim(&fixture, "many", "n1"), BIND_CONFLICT);
	ck_assert_str_eq(for_claim(&fixture, "none", "n1"), "pv<-none;");
	ck_assert_str_eq(for_claim(&fixture, "both", "n1"), "pv<-both;");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_38_volume_attributes_class)
{
	struct fixture fixture;

	init(&fixture);
	put_volume(&fixture, "pv", "W", "1G", NULL, ",'spec':{'volumeAttributesClassName':''}");
	put_claim(&fixture, "unset", "W", "1G", "");
	put_claim(&fixture, "silver", "W", "1G", ",'spec':{'volumeAttributesClassName':'silver'}");
	ck_assert_str_eq(for_claim(&fixture, "unset", "n1"), "pv<-unset;");
	ck_assert_str_eq(for_claim(&fixture, "silver", "n1"), BIND_CONFLICT);
	put_volume(&fixture, "pv", "W", "1G", NULL, "");
	ck_assert_str_eq(for_claim(&fixture, "silver", "n1"), BIND_CONFLICT);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_39_no_request)
{
	struct fixture fixture;

	init(&fixture);
	put_volume(&fixture, "large", "W", "5G", NULL, "");
	put_volume(&fixture, "small", "W", "1G", NULL, "");
	put_claim(&fixture, "c", "W", NULL, "");
	ck_assert_str_eq(for_claim(&fixture, "c", "n1"), "small<-c;");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_40_selector)
{
	struct fixture fixture;

	init(&fixture);
	put_volume(&fixture, "pv", "W", "1G", NULL, "");
	put_claim(&fixture, "c", "W", "1G", ",'spec':{'selector':{'matchLabels':{'a':'b'}}}");
	ck_assert_str_eq(for_claim(&fixture, "c", "n1"), BIND_CONFLICT);
	put_volume(&fixture, "pv", "W", "1G", NULL, ",'metadata':{'labels':{'a':'b'}}");
	ck_assert_str_eq(for_claim(&fixture, "c", "n1"), "pv<-c;");
	put_claim(&fixture, "c", "W", "1G",
		",'spec':{'selector':{'matchExpressions':[{'key':'a','operator':'Foo'}]}}");
	ck_assert_str_eq(for_claim(&fixture, "c", "n1"),
		"Error: error creating internal label selector for claim: default/c: \"Foo\" is "
		"not a valid label selector operator");
	ck_assert_uint_eq(bt_volume_binder_stage_errors(bt_volume_binding_binder(fixture.plugin),
				  BT_VOLUME_STAGE_PREDICATE),
		1);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_41_equal_capacity)
{
	struct fixture fixture;

	init(&fixture);
	put_volume(&fixture, "z", "W", "100G", NULL, "");
	put_volume(&fixture, "a", "W", "100000M", NULL, "");
	put_claim(&fixture, "c", "W", "1G", "");
	ck_assert_str_eq(for_claim(&fixture, "c", "n1"), "a<-c;");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_42_assumed_volume_again)
{
	struct volume_cycle cycle;
	struct fixture fixture;

	init(&fixture);
	put_volume(&fixture, "z", "W", "1G", NULL, "");
	put_claim(&fixture, "c", "W", "1G", "");
	volume_cycle_place(&cycle, &fixture, claims_pod(&fixture, "c"), "n1");
	put_volume(&fixture, "a", "W", "1G", NULL, "");
	for (int i = 0; i < 3; i++) {
		struct volume_cycle again;

		volume_cycle_begin(&again, &fixture, claims_pod(&fixture, "c"));
		ck_assert_str_eq(volume_cycle_filter(&again, "n1"), "Success");
		ck_assert_str_eq(volume_cycle_reserve(&again, "n1"), "Success");
		ck_assert_ptr_nonnull(assumed_volume(&fixture, "z")->spec.claim_ref);
		ck_assert_ptr_null(assumed_volume(&fixture, "a")->spec.claim_ref);
		volume_cycle_end(&again);
	}
	volume_cycle_end(&cycle);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_43_no_translation_in_matching)
{
	struct fixture fixture;

	init(&fixture);
	fixture_add_node(&fixture,
		"{'metadata':{'name':'east1','labels':{'topology.gke.io/zone':'us-east-1'}}}");
	put_csi_node(&fixture, "east1", "kubernetes.io/gce-pd", "");
	put_volume(&fixture, "pv", "W", "1G", NULL,
		",'spec':{'gcePersistentDisk':{'pdName':'d'},'nodeAffinity':{'required':"
		"{'nodeSelectorTerms':[{'matchExpressions':[{'key':'topology.kubernetes.io/zone',"
		"'operator':'In','values':['us-east-1']}]}]}}}");
	put_claim(&fixture, "c", "W", "1G", "");
	ck_assert_str_eq(for_claim(&fixture, "c", "east1"), BIND_CONFLICT);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_44_claim_named_twice)
{
	struct fixture fixture;

	init(&fixture);
	put_volume(&fixture, "pv5", "W", "5G", NULL, "");
	put_volume(&fixture, "pv10", "W", "10G", NULL, "");
	put_claim(&fixture, "c", "W", "1G", "");
	ck_assert_str_eq(for_claim(&fixture, "c c", "n1"), "pv5<-c;pv10<-c;");
	put_claim(&fixture, "d", "P", "1G", "");
	put_volume(&fixture, "only", "P", "5G", NULL, "");
	fixture_expect("one volume", for_claim(&fixture, "d d", "n1"), "only<-d;d@n1;");
	fixture_delete(&fixture, BT_KIND_PERSISTENT_VOLUME, "", "only");
	fixture_expect("no volume", for_claim(&fixture, "d d", "n1"), "d@n1;d@n1;");
	fixture_finish(&fixture);
}
END_TEST

/* --- provisioning and capacity --- */

START_TEST(test_volume_binding__edge_07_45_topology)
{
	struct fixture fixture;

	init(&fixture);
	put_claim(&fixture, "c", "P", "1G", "");
	ck_assert_str_eq(for_claim(&fixture, "c", "n1"), "c@n1;");
	ck_assert_str_eq(for_claim(&fixture, "c", "n2"), BIND_CONFLICT);
	fixture_add_node(&fixture, "{'metadata':{'name':'bare'}}");
	ck_assert_str_eq(for_claim(&fixture, "c", "bare"), BIND_CONFLICT);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__topology_terms)
{
	static const struct {
		const char *terms;
		bool matches;
	} rows[] = {
		{"[]", true},
		{"[{}]", false},
		{"[{'matchLabelExpressions':[]}]", false},
		{"[{},{'matchLabelExpressions':[{'key':'k','values':['n1']}]}]", true},
		{"[{'matchLabelExpressions':[{'key':'k','values':['n1']},{'key':'z','values':['a']}"
		 "]}]",
			false},
		{"[{'matchLabelExpressions':[{'key':'k','values':[]}]}]", false},
		{"[{'matchLabelExpressions':[{'key':'k','values':['n1','not valid']}]}]", false},
		{"[{'matchLabelExpressions':[{'key':'','values':['n1']}]}]", false},
	};
	struct fixture fixture;

	init(&fixture);
	put_claim(&fixture, "c", "T", "1G", "");
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_str extra =
			bt_arena_printf(&fixture.arena, ",'allowedTopologies':%s", rows[i].terms);

		put_class(&fixture, "T", "x", "WaitForFirstConsumer", extra.data);
		fixture_expect(rows[i].terms, for_claim(&fixture, "c", "n1"),
			rows[i].matches ? "c@n1;" : BIND_CONFLICT);
	}
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_46_cannot_provision)
{
	struct fixture fixture;

	init(&fixture);
	put_class(&fixture, "none", "", "WaitForFirstConsumer", "");
	put_claim(&fixture, "c", "W", "1G", "");
	put_claim(&fixture, "d", "none", "1G", "");
	ck_assert_str_eq(for_claim(&fixture, "c", "n1"), BIND_CONFLICT);
	ck_assert_str_eq(for_claim(&fixture, "d", "n1"), BIND_CONFLICT);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_47_one_of_each)
{
	struct fixture fixture;

	init(&fixture);
	put_volume(&fixture, "pv", "W", "1G", NULL, "");
	put_claim(&fixture, "c", "W", "1G", "");
	put_claim(&fixture, "d", "P", "1G", "");
	ck_assert_str_eq(for_claim(&fixture, "d c", "n1"), "pv<-c;d@n1;");
	fixture_finish(&fixture);
}
END_TEST

#define SELECTED(node) \
	",'metadata':{'annotations':{'volume.kubernetes.io/selected-node':'" node "'}}"

START_TEST(test_volume_binding__edge_07_48_selected_node)
{
	struct fixture fixture;

	init(&fixture);
	put_class(&fixture, "Any", "x", "WaitForFirstConsumer", "");
	put_volume(&fixture, "pv", "Any", "1G", NULL, "");
	put_claim(&fixture, "c", "Any", "1G", SELECTED("n1"));
	ck_assert_str_eq(for_claim(&fixture, "c", "n1"), "c@n1;");
	ck_assert_str_eq(for_claim(&fixture, "c", "n2"), BIND_CONFLICT);
	/* Claims that are bound to different nodes fit on no node. */
	put_claim(&fixture, "d", "Any", "1G", SELECTED("n2"));
	ck_assert_str_eq(for_claim(&fixture, "c d", "n1"), BIND_CONFLICT);
	ck_assert_str_eq(for_claim(&fixture, "c d", "n2"), BIND_CONFLICT);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_49_empty_selected_node)
{
	struct fixture fixture;

	init(&fixture);
	put_volume(&fixture, "pv", "P", "1G", NULL, "");
	put_claim(&fixture, "c", "P", "1G", SELECTED(""));
	ck_assert_str_eq(for_claim(&fixture, "c", "n1"), BIND_CONFLICT);
	fixture_finish(&fixture);
}
END_TEST

static void put_driver(struct fixture *fixture, const char *spec)
{
	struct bt_str json = bt_arena_printf(&fixture->arena,
		"{'apiVersion':'storage.k8s.io/v1','kind':'CSIDriver','metadata':{'name':'x'},"
		"'spec':{%s}}",
		spec);

	fixture_put(fixture, json.data);
}

static void put_capacity(struct fixture *fixture, const char *members)
{
	struct bt_str json = bt_arena_printf(&fixture->arena,
		"{'apiVersion':'storage.k8s.io/v1','kind':'CSIStorageCapacity',"
		"'metadata':{'name':'pool','namespace':'kube-system'},%s}",
		members);

	fixture_put(fixture, json.data);
}

START_TEST(test_volume_binding__edge_07_50_no_capacity_objects)
{
	struct fixture fixture;

	init(&fixture);
	put_claim(&fixture, "c", "P", "1Gi", "");
	fixture_expect("no driver", for_claim(&fixture, "c", "n1"), "c@n1;");
	put_driver(&fixture, "'storageCapacity':true");
	fixture_expect("counts", for_claim(&fixture, "c", "n1"), NO_SPACE);
	put_driver(&fixture, "'storageCapacity':false");
	fixture_expect("does not count", for_claim(&fixture, "c", "n1"), "c@n1;");
	put_driver(&fixture, "");
	fixture_expect("unset", for_claim(&fixture, "c", "n1"), "c@n1;");
	fixture_finish(&fixture);
}
END_TEST

/** Puts a capacity object and compares the verdict on n1 for a claim of 1Gi. */
static void expect_capacity(struct fixture *fixture, const char *members, const char *expected)
{
	put_capacity(fixture, members);
	fixture_expect(members, for_claim(fixture, "c", "n1"), expected);
}

START_TEST(test_volume_binding__edge_07_51_capacity)
{
	struct fixture fixture;

	init(&fixture);
	put_driver(&fixture, "'storageCapacity':true");
	put_claim(&fixture, "c", "P", "1Gi", "");
	expect_capacity(
		&fixture, "'storageClassName':'P','capacity':'1Gi','nodeTopology':{}", "c@n1;");
	expect_capacity(&fixture,
		"'storageClassName':'P','capacity':'1Gi','nodeTopology':{'matchLabels':{'k':'n2'}}",
		NO_SPACE);
	expect_capacity(
		&fixture, "'storageClassName':'W','capacity':'1Gi','nodeTopology':{}", NO_SPACE);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_52_limits)
{
	struct fixture fixture;

	init(&fixture);
	put_driver(&fixture, "'storageCapacity':true");
	put_claim(&fixture, "c", "P", "1Gi", "");
	expect_capacity(&fixture,
		"'storageClassName':'P','capacity':'1Gi','maximumVolumeSize':'1Mi','nodeTopology':{"
		"}",
		NO_SPACE);
	expect_capacity(&fixture,
		"'storageClassName':'P','capacity':'1Mi','maximumVolumeSize':'2Gi','nodeTopology':{"
		"}",
		"c@n1;");
	expect_capacity(&fixture, "'storageClassName':'P','nodeTopology':{}", NO_SPACE);
	expect_capacity(&fixture, "'storageClassName':'P','capacity':'1Gi'", NO_SPACE);
	expect_capacity(&fixture,
		"'storageClassName':'P','capacity':'1Gi','nodeTopology':{'matchExpressions':"
		"[{'key':'k','operator':'Foo'}]}",
		NO_SPACE);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_53_capacity_is_not_added_up)
{
	struct fixture fixture;

	init(&fixture);
	put_driver(&fixture, "'storageCapacity':true");
	put_capacity(&fixture, "'storageClassName':'P','capacity':'100Gi','nodeTopology':{}");
	put_claim(&fixture, "c", "P", "60Gi", "");
	put_claim(&fixture, "d", "P", "60Gi", "");
	ck_assert_str_eq(for_claim(&fixture, "c d", "n1"), "c@n1;d@n1;");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_54_no_request_needs_no_capacity)
{
	struct fixture fixture;

	init(&fixture);
	put_driver(&fixture, "'storageCapacity':true");
	put_claim(&fixture, "c", "P", NULL, "");
	ck_assert_str_eq(for_claim(&fixture, "c", "n1"), "c@n1;");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_55_two_reasons)
{
	struct fixture fixture;

	init(&fixture);
	put_volume(&fixture, "bound", "I", "1G", "n2", "");
	put_bound_claim(&fixture, "b", "bound");
	put_claim(&fixture, "c", "W", "1G", "");
	ck_assert_str_eq(for_claim(&fixture, "c b", "n1"),
		NODE_CONFLICT ", node(s) didn't find available persistent volumes to bind");
	put_bound_claim(&fixture, "b", "gone");
	ck_assert_str_eq(for_claim(&fixture, "b c", "n1"),
		BIND_CONFLICT
		", node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)");
	put_driver(&fixture, "'storageCapacity':true");
	put_claim(&fixture, "d", "P", "1G", "");
	ck_assert_str_eq(for_claim(&fixture, "b d", "n1"),
		NO_SPACE
		", node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_56_class_deleted)
{
	struct volume_cycle cycle;
	struct fixture fixture;

	init(&fixture);
	put_claim(&fixture, "c", "P", "1G", "");
	volume_cycle_begin(&cycle, &fixture, claims_pod(&fixture, "c"));
	ck_assert_str_eq(cycle.pre_filter, "Success");
	fixture_delete(&fixture, BT_KIND_STORAGE_CLASS, "", "P");
	ck_assert_str_eq(
		volume_cycle_filter(&cycle, "n1"), "Error: failed to find storage class \"P\"");
	volume_cycle_end(&cycle);
	fixture_finish(&fixture);
}
END_TEST

static uint32_t count_of(const char *text, char byte)
{
	uint32_t count = 0;

	for (; *text != '\0'; text++) {
		count += *text == byte;
	}
	return count;
}

/** Users may write pods that name a claim any number of times: time and memory must stay linear. */
START_TEST(test_volume_binding__claim_named_very_often)
{
	struct bt_strbuf names = {0};
	struct fixture fixture;
	const char *result;

	init(&fixture);
	put_class(&fixture, "Any", "x", "WaitForFirstConsumer", "");
	put_driver(&fixture, "'storageCapacity':true");
	put_capacity(&fixture, "'storageClassName':'Any','capacity':'1Gi','nodeTopology':{}");
	put_claim(&fixture, "c", "Any", "1Gi", "");
	put_claim(&fixture, "d", "Any", "1Gi", "");
	for (int i = 0; i < 1000; i++) {
		struct bt_str name = bt_arena_printf(&fixture.arena, "pv%03d", i);

		put_volume(&fixture, name.data, "Any", "2Gi", NULL, "");
	}
	bt_strbuf_append_c(&names, "c d c");
	for (int i = 0; i < 3000; i++) {
		bt_strbuf_append_c(&names, " c");
	}
	result = for_claim(&fixture, bt_strbuf_c(&names), "n1");
	/* Claims of equal size keep the pod's order. */
	ck_assert(bt_str_has_prefix(
		bt_str_from(result), BT_STR("pv000<-c;pv001<-d;pv002<-c;pv003<-c;")));
	ck_assert_uint_eq(count_of(result, '<'), 1000);
	ck_assert_uint_eq(count_of(result, '@'), 2003);
	put_claim(&fixture, "c", "Any", "1Gi", SELECTED("n1"));
	put_claim(&fixture, "d", "Any", "1Gi", SELECTED("n1"));
	result = for_claim(&fixture, bt_strbuf_c(&names), "n1");
	ck_assert(bt_str_has_prefix(bt_str_from(result), BT_STR("c@n1;d@n1;c@n1;c@n1;")));
	ck_assert_uint_eq(count_of(result, '@'), 3003);
	bt_strbuf_finish(&names);
	fixture_finish(&fixture);
}
END_TEST

/* --- other pods --- */

START_TEST(test_volume_binding__edge_07_91_shared_claim)
{
	struct volume_cycle cycle;
	struct fixture fixture;

	init(&fixture);
	put_class(&fixture, "Any", "x", "WaitForFirstConsumer", "");
	put_claim(&fixture, "c", "Any", "1G", "");
	volume_cycle_place(&cycle, &fixture, claims_pod(&fixture, "c"), "n1");
	ck_assert_str_eq(fixture_filter(&fixture, claims_pod(&fixture, "c"), "n1"), "Success");
	ck_assert_str_eq(fixture_filter(&fixture, claims_pod(&fixture, "c"), "n2"), BIND_CONFLICT);
	volume_cycle_unreserve(&cycle, "n1");
	ck_assert_str_eq(fixture_filter(&fixture, claims_pod(&fixture, "c"), "n2"), "Success");
	volume_cycle_end(&cycle);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_92_one_volume_for_two)
{
	struct volume_cycle cycle;
	struct fixture fixture;

	init(&fixture);
	put_volume(&fixture, "pv", "W", "1G", NULL, "");
	put_claim(&fixture, "c", "W", "1G", "");
	put_claim(&fixture, "d", "W", "1G", "");
	volume_cycle_place(&cycle, &fixture, claims_pod(&fixture, "c"), "n1");
	ck_assert_str_eq(fixture_filter(&fixture, claims_pod(&fixture, "d"), "n1"), BIND_CONFLICT);
	ck_assert_str_eq(fixture_filter(&fixture, claims_pod(&fixture, "d"), "n2"), BIND_CONFLICT);
	volume_cycle_unreserve(&cycle, "n1");
	volume_cycle_unreserve(&cycle, "n1");
	ck_assert_str_eq(for_claim(&fixture, "d", "n2"), "pv<-d;");
	volume_cycle_end(&cycle);
	fixture_finish(&fixture);
}
END_TEST

/** Two plugin instances (two profiles) do not share assumptions. */
START_TEST(test_volume_binding__edge_07_93_profiles_do_not_share)
{
	const struct bt_plugin_args *args;
	struct bt_plugin *first;
	struct bt_plugin *second = NULL;
	struct volume_cycle cycle;
	struct fixture fixture;

	init(&fixture);
	first = fixture.plugin;
	args = bt_config_profile_find_args(
		&fixture.config->document.profiles.items[0], BT_STR("VolumeBinding"));
	ck_assert_int_eq(
		bt_plugin_create(&bt_volume_binding_plugin, args, &fixture.handle, &second, NULL),
		0);
	put_volume(&fixture, "pv", "W", "1G", NULL, "");
	put_claim(&fixture, "c", "W", "1G", "");
	put_claim(&fixture, "d", "W", "1G", "");
	volume_cycle_place(&cycle, &fixture, claims_pod(&fixture, "c"), "n1");
	fixture.plugin = second;
	ck_assert_str_eq(for_claim(&fixture, "d", "n1"), "pv<-d;");
	fixture.plugin = first;
	ck_assert_str_eq(for_claim(&fixture, "d", "n1"), BIND_CONFLICT);
	volume_cycle_end(&cycle);
	bt_plugin_destroy(second);
	fixture_finish(&fixture);
}
END_TEST

BT_TEST_MAIN("volume_binder_find", test_volume_binding__edge_07_27_smallest_on_the_node,
	test_volume_binding__edge_07_28_none_on_the_node,
	test_volume_binding__edge_07_29_small_claims_first,
	test_volume_binding__edge_07_30_partial_match_is_dropped,
	test_volume_binding__edge_07_31_reserved_volumes,
	test_volume_binding__edge_07_32_reserved_elsewhere,
	test_volume_binding__edge_07_33_reserved_needs_little,
	test_volume_binding__edge_07_34_reserved_but_incompatible,
	test_volume_binding__edge_07_35_reserved_for_another_uid,
	test_volume_binding__edge_07_36_phases, test_volume_binding__edge_07_37_access_modes,
	test_volume_binding__edge_07_38_volume_attributes_class,
	test_volume_binding__edge_07_39_no_request, test_volume_binding__edge_07_40_selector,
	test_volume_binding__edge_07_41_equal_capacity,
	test_volume_binding__edge_07_42_assumed_volume_again,
	test_volume_binding__edge_07_43_no_translation_in_matching,
	test_volume_binding__edge_07_44_claim_named_twice, test_volume_binding__edge_07_45_topology,
	test_volume_binding__topology_terms, test_volume_binding__edge_07_46_cannot_provision,
	test_volume_binding__edge_07_47_one_of_each, test_volume_binding__edge_07_48_selected_node,
	test_volume_binding__edge_07_49_empty_selected_node,
	test_volume_binding__edge_07_50_no_capacity_objects,
	test_volume_binding__edge_07_51_capacity, test_volume_binding__edge_07_52_limits,
	test_volume_binding__edge_07_53_capacity_is_not_added_up,
	test_volume_binding__edge_07_54_no_request_needs_no_capacity,
	test_volume_binding__edge_07_55_two_reasons, test_volume_binding__edge_07_56_class_deleted,
	test_volume_binding__claim_named_very_often, test_volume_binding__edge_07_91_shared_claim,
	test_volume_binding__edge_07_92_one_volume_for_two,
	test_volume_binding__edge_07_93_profiles_do_not_share)
