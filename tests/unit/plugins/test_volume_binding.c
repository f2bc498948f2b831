/* SPDX-License-Identifier: Apache-2.0 */
/* VolumeBinding: PreFilter, bound claims, queueing hints. Spec: 07 section 15, cases 1 to 26 and 87
 * to 90. */
#include "test_main.h"
#include "volume_fixture.h"

#define REJECT "UnschedulableAndUnresolvable: "
#define EPHEMERAL_POD \
	"{'metadata':{'name':'p','uid':'u1'},'spec':{'volumes':[{'name':'v','ephemeral':{}}]}}"
#define BOUND_TO(volume) \
	",'metadata':{'annotations':{'pv.kubernetes.io/bind-completed':''}}," \
	"'spec':{'volumeName':'" volume "'}"

static void init(struct fixture *fixture)
{
	volume_fixture_init(fixture, &bt_volume_binding_plugin, NULL, NULL);
}

START_TEST(test_volume_binding__edge_07_01_no_claims)
{
	static const char *const pods[] = {
		"{}",
		"{'spec':{'volumes':[{'name':'v','emptyDir':{}},{'name':'w','configMap':{}},"
		"{'name':'x','secret':{}}]}}",
	};
	struct bt_pre_bind_pre_flight flight = {0};
	struct volume_cycle cycle;
	struct fixture fixture;
	struct bt_status status;

	init(&fixture);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(pods); i++) {
		volume_cycle_begin(&cycle, &fixture, pods[i]);
		ck_assert_str_eq(cycle.pre_filter, "Skip");
		ck_assert(bt_shortcuts(fixture.plugin)->is_pure_for(fixture.plugin, cycle.pod));
		ck_assert_str_eq(volume_cycle_reserve(&cycle, "n1"), "Success");
		status = fixture.plugin->ops->pre_bind_pre_flight(
			fixture.plugin, &cycle.state, cycle.pod, 0, &flight);
		ck_assert_str_eq(fixture_status_text(&fixture, status), "Skip");
		ck_assert(flight.allow_parallel);
		ck_assert_str_eq(volume_cycle_pre_bind(&cycle, "n1"), "Success");
		volume_cycle_unreserve(&cycle, "n1");
		volume_cycle_end(&cycle);
	}
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_02_claim_missing)
{
	struct fixture fixture;

	init(&fixture);
	ck_assert_str_eq(fixture_pre_filter(&fixture, claims_pod(&fixture, "c"), NULL),
		REJECT "persistentvolumeclaim \"c\" not found");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_03_second_claim_missing)
{
	struct fixture fixture;

	init(&fixture);
	put_claim(&fixture, "c1", "W", "1G", "");
	ck_assert_str_eq(fixture_pre_filter(&fixture, claims_pod(&fixture, "c1 c2"), NULL),
		REJECT "persistentvolumeclaim \"c2\" not found");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_04_ephemeral_claim_missing)
{
	struct fixture fixture;

	init(&fixture);
	ck_assert_str_eq(fixture_pre_filter(&fixture, EPHEMERAL_POD, NULL),
		REJECT "waiting for ephemeral volume controller to create the "
		       "persistentvolumeclaim \"p-v\"");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_05_ephemeral_claim_of_another_pod)
{
	static const struct {
		const char *row;
		const char *owners;
		const char *expected;
	} rows[] = {
		{"no owner", "",
			REJECT "PVC default/p-v was not created for pod default/p (pod is "
			       "not owner)"},
		{"other uid", ",'metadata':{'ownerReferences':[{'controller':true,'uid':'u2'}]}",
			REJECT "PVC default/p-v was not created for pod default/p (pod is not "
			       "owner)"},
		{"first controller counts",
			",'metadata':{'ownerReferences':[{'uid':'u1'},{'controller':true,'uid':'u2'"
			"},"
			"{'controller':true,'uid':'u1'}]}",
			REJECT "PVC default/p-v was not created for pod default/p (pod is not "
			       "owner)"},
		{"owned", ",'metadata':{'ownerReferences':[{'controller':true,'uid':'u1'}]}",
			"Success"},
	};
	struct fixture fixture;

	init(&fixture);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		put_claim(&fixture, "p-v", "W", "1G", rows[i].owners);
		fixture_expect(rows[i].row, fixture_pre_filter(&fixture, EPHEMERAL_POD, NULL),
			rows[i].expected);
	}
	fixture_finish(&fixture);
}
END_TEST

#define LOST REJECT "persistentvolumeclaim \"c\" bound to non-existent persistentvolume \"pv\""

START_TEST(test_volume_binding__edge_07_06_lost_claim)
{
	struct fixture fixture;

	init(&fixture);
	put_claim(
		&fixture, "c", "W", "1G", ",'status':{'phase':'Lost'},'spec':{'volumeName':'pv'}");
	ck_assert_str_eq(fixture_pre_filter(&fixture, claims_pod(&fixture, "c"), NULL), LOST);
	put_claim(&fixture, "c", "W", "1G",
		",'status':{'phase':'Lost'},'spec':{'volumeName':'pv'},"
		"'metadata':{'deletionTimestamp':'2026-01-01T00:00:00Z'}");
	ck_assert_str_eq(fixture_pre_filter(&fixture, claims_pod(&fixture, "c"), NULL), LOST);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_07_claim_being_deleted)
{
	struct fixture fixture;

	init(&fixture);
	put_volume(&fixture, "pv", "I", "1G", NULL, "");
	put_claim(&fixture, "c", "I", "1G",
		BOUND_TO("pv") ",'metadata':{'deletionTimestamp':'2026-01-01T00:00:00Z'}");
	ck_assert_str_eq(fixture_pre_filter(&fixture, claims_pod(&fixture, "c"), NULL),
		REJECT "persistentvolumeclaim \"c\" is being deleted");
	fixture_finish(&fixture);
}
END_TEST

#define IMMEDIATE REJECT "pod has unbound immediate PersistentVolumeClaims"

START_TEST(test_volume_binding__edge_07_08_unbound_immediate)
{
	struct fixture fixture;

	init(&fixture);
	put_claim(&fixture, "immediate", "I", "1G", "");
	put_claim(&fixture, "missing", "none", "1G", "");
	put_claim(&fixture, "empty", "", "1G", "");
	put_claim(&fixture, "prebound", "W", "1G", ",'spec':{'volumeName':'pv'}");
	fixture_expect("class I",
		fixture_pre_filter(&fixture, claims_pod(&fixture, "immediate"), NULL), IMMEDIATE);
	fixture_expect("no such class",
		fixture_pre_filter(&fixture, claims_pod(&fixture, "missing"), NULL), IMMEDIATE);
	fixture_expect("class \"\"",
		fixture_pre_filter(&fixture, claims_pod(&fixture, "empty"), NULL), IMMEDIATE);
	fixture_expect("volume name without bind-completed",
		fixture_pre_filter(&fixture, claims_pod(&fixture, "prebound"), NULL), IMMEDIATE);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_09_immediate_and_bound)
{
	struct fixture fixture;

	init(&fixture);
	put_claim(&fixture, "c", "I", "1G", "");
	put_bound_claim(&fixture, "b", "pv");
	ck_assert_str_eq(
		fixture_pre_filter(&fixture, claims_pod(&fixture, "b c"), NULL), IMMEDIATE);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_10_class_without_mode)
{
	struct fixture fixture;

	init(&fixture);
	put_class(&fixture, "x", "x", NULL, "");
	put_claim(&fixture, "c", "x", "1G", "");
	ck_assert_str_eq(fixture_pre_filter(&fixture, claims_pod(&fixture, "c"), NULL),
		"Error: VolumeBindingMode not set for StorageClass \"x\"");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_11_bound_immediate)
{
	struct fixture fixture;

	init(&fixture);
	put_volume(&fixture, "pv", "I", "1G", NULL, "");
	put_bound_claim(&fixture, "c", "pv");
	ck_assert_str_eq(fixture_filter(&fixture, claims_pod(&fixture, "c"), "n1"), "Success");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_12_bind_completed_may_be_empty)
{
	struct fixture fixture;

	init(&fixture);
	put_volume(&fixture, "pv", "W", "1G", "n1", "");
	put_claim(&fixture, "c", "W", "1G", BOUND_TO("pv"));
	ck_assert_str_eq(fixture_filter(&fixture, claims_pod(&fixture, "c"), "n1"), "Success");
	ck_assert_str_eq(fixture_filter(&fixture, claims_pod(&fixture, "c"), "n2"), NODE_CONFLICT);
	fixture_finish(&fixture);
}
END_TEST

/* --- bound claims --- */

START_TEST(test_volume_binding__edge_07_13_bound_to_a_node)
{
	struct fixture fixture;

	init(&fixture);
	put_volume(&fixture, "pv", "I", "1G", "n1", "");
	put_bound_claim(&fixture, "c", "pv");
	ck_assert_str_eq(fixture_filter(&fixture, claims_pod(&fixture, "c"), "n1"), "Success");
	ck_assert_str_eq(fixture_filter(&fixture, claims_pod(&fixture, "c"), "n2"), NODE_CONFLICT);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_14_volume_missing)
{
	struct fixture fixture;

	init(&fixture);
	put_bound_claim(&fixture, "c", "pv");
	ck_assert_str_eq(fixture_filter(&fixture, claims_pod(&fixture, "c"), "n1"), NOT_EXIST);
	fixture_finish(&fixture);
}
END_TEST

/** Returns the verdict on n1 for a claim bound to a volume with this nodeAffinity. */
static const char *with_affinity(struct fixture *fixture, const char *affinity)
{
	struct bt_str extra =
		bt_arena_printf(&fixture->arena, ",'spec':{'nodeAffinity':%s}", affinity);

	put_volume(fixture, "pv", "I", "1G", NULL, extra.data);
	put_bound_claim(fixture, "c", "pv");
	return fixture_filter(fixture, claims_pod(fixture, "c"), "n1");
}

START_TEST(test_volume_binding__edge_07_15_empty_affinities)
{
	struct fixture fixture;

	init(&fixture);
	fixture_expect("{}", with_affinity(&fixture, "{}"), "Success");
	fixture_expect("no terms", with_affinity(&fixture, "{'required':{'nodeSelectorTerms':[]}}"),
		NODE_CONFLICT);
	fixture_expect("empty term",
		with_affinity(&fixture, "{'required':{'nodeSelectorTerms':[{}]}}"), NODE_CONFLICT);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_16_only_fields)
{
	struct fixture fixture;

	init(&fixture);
	ck_assert_str_eq(
		with_affinity(&fixture,
			"{'required':{'nodeSelectorTerms':[{'matchFields':[{'key':'metadata.name',"
			"'operator':'In','values':['other']}]}]}}"),
		"Success");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_17_unparsable_term)
{
	struct fixture fixture;

	init(&fixture);
	fixture_expect("another matches",
		with_affinity(&fixture,
			"{'required':{'nodeSelectorTerms':[{'matchExpressions':[{'key':'k',"
			"'operator':'Foo'}]},{'matchExpressions':[{'key':'k','operator':'Exists'}]}"
			"]}}"),
		"Success");
	fixture_expect("none matches",
		with_affinity(&fixture,
			"{'required':{'nodeSelectorTerms':[{'matchExpressions':[{'key':'k',"
			"'operator':'Foo'}]},{'matchExpressions':[{'key':'z','operator':'Exists'}]}"
			"]}}"),
		NODE_CONFLICT);
	fixture_finish(&fixture);
}
END_TEST

/** Nodes with CSI zones us-east-1 and us-east-2; the volume has zone us-east-1. */
static void init_zones(struct fixture *fixture, const char *labels, const char *source)
{
	struct bt_str extra = bt_arena_printf(
		&fixture->arena, ",'metadata':{'labels':{%s}},'spec':{%s}", labels, source);

	put_volume(fixture, "pv", "I", "1G", NULL, extra.data);
	put_bound_claim(fixture, "c", "pv");
	fixture_add_node(fixture,
		"{'metadata':{'name':'east1','labels':{'topology.gke.io/zone':'us-east-1'}}}");
	fixture_add_node(fixture,
		"{'metadata':{'name':'east2','labels':{'topology.gke.io/zone':'us-east-2'}}}");
}

#define BETA_EAST_1 "'failure-domain.beta.kubernetes.io/zone':'us-east-1'"
#define GCE_PD "'gcePersistentDisk':{'pdName':'d'}"

START_TEST(test_volume_binding__edge_07_18_migrated_zone_matches)
{
	struct fixture fixture;

	init(&fixture);
	init_zones(&fixture, BETA_EAST_1, GCE_PD);
	put_csi_node(&fixture, "east1", "kubernetes.io/gce-pd", "");
	ck_assert_str_eq(fixture_filter(&fixture, claims_pod(&fixture, "c"), "east1"), "Success");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_19_migrated_zone_differs)
{
	struct fixture fixture;

	init(&fixture);
	init_zones(&fixture, BETA_EAST_1, GCE_PD);
	put_csi_node(&fixture, "east2", "kubernetes.io/gce-pd", "");
	ck_assert_str_eq(
		fixture_filter(&fixture, claims_pod(&fixture, "c"), "east2"), NODE_CONFLICT);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_20_not_migrated_on_the_node)
{
	struct fixture fixture;

	init(&fixture);
	init_zones(&fixture, BETA_EAST_1, GCE_PD);
	fixture_expect("no CSINode", fixture_filter(&fixture, claims_pod(&fixture, "c"), "east2"),
		"Success");
	put_csi_node(&fixture, "east2", "", "");
	fixture_expect("empty annotation",
		fixture_filter(&fixture, claims_pod(&fixture, "c"), "east2"), "Success");
	put_csi_node(&fixture, "east2", NULL, "");
	fixture_expect("no annotation",
		fixture_filter(&fixture, claims_pod(&fixture, "c"), "east2"), "Success");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_21_not_migratable)
{
	struct fixture fixture;

	init(&fixture);
	init_zones(&fixture, BETA_EAST_1, "'rbd':{'image':'i'}");
	put_csi_node(&fixture, "east2", "kubernetes.io/gce-pd", "");
	ck_assert_str_eq(fixture_filter(&fixture, claims_pod(&fixture, "c"), "east2"), "Success");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_22_blank_in_the_list)
{
	struct fixture fixture;

	init(&fixture);
	init_zones(&fixture, BETA_EAST_1, GCE_PD);
	put_csi_node(&fixture, "east2", "kubernetes.io/aws-ebs, kubernetes.io/gce-pd", "");
	fixture_expect("with a blank", fixture_filter(&fixture, claims_pod(&fixture, "c"), "east2"),
		"Success");
	put_csi_node(&fixture, "east2", "kubernetes.io/aws-ebs,kubernetes.io/gce-pd", "");
	fixture_expect("without", fixture_filter(&fixture, claims_pod(&fixture, "c"), "east2"),
		NODE_CONFLICT);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_23_broken_volume_id)
{
	struct fixture fixture;

	init(&fixture);
	init_zones(&fixture, "", "'awsElasticBlockStore':{'volumeID':'aws://us-west-2a/0239'}");
	put_csi_node(&fixture, "east1", "kubernetes.io/aws-ebs", "");
	ck_assert_str_eq(fixture_filter(&fixture, claims_pod(&fixture, "c"), "east1"),
		"Error: could not translate pv: failed to translate Kubernetes ID to EBS Volume ID "
		"Invalid format for AWS volume (aws://us-west-2a/0239)");
	ck_assert_str_eq(fixture_filter(&fixture, claims_pod(&fixture, "c"), "east2"), "Success");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_24_several_zones)
{
	struct fixture fixture;

	init(&fixture);
	init_zones(&fixture, "'topology.kubernetes.io/zone':'us-east-1__us-east-3'", GCE_PD);
	put_csi_node(&fixture, "east1", "kubernetes.io/gce-pd", "");
	put_csi_node(&fixture, "east2", "kubernetes.io/gce-pd", "");
	ck_assert_str_eq(fixture_filter(&fixture, claims_pod(&fixture, "c"), "east1"), "Success");
	ck_assert_str_eq(
		fixture_filter(&fixture, claims_pod(&fixture, "c"), "east2"), NODE_CONFLICT);
	fixture_finish(&fixture);
}
END_TEST

#define ZONE_AFFINITY(terms) GCE_PD ",'nodeAffinity':{'required':{'nodeSelectorTerms':[" terms "]}}"
#define ZONE_TERM(key, zone) \
	"{'matchExpressions':[{'key':'" key "','operator':'In','values':['" zone "']}]}"

START_TEST(test_volume_binding__edge_07_25_affinity_beats_label)
{
	struct fixture fixture;

	init(&fixture);
	init_zones(&fixture, BETA_EAST_1,
		ZONE_AFFINITY(ZONE_TERM("failure-domain.beta.kubernetes.io/zone", "us-east-2")));
	put_csi_node(&fixture, "east1", "kubernetes.io/gce-pd", "");
	put_csi_node(&fixture, "east2", "kubernetes.io/gce-pd", "");
	ck_assert_str_eq(
		fixture_filter(&fixture, claims_pod(&fixture, "c"), "east1"), NODE_CONFLICT);
	ck_assert_str_eq(fixture_filter(&fixture, claims_pod(&fixture, "c"), "east2"), "Success");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_26_every_term_is_rewritten)
{
	struct fixture fixture;

	init(&fixture);
	init_zones(&fixture, "",
		ZONE_AFFINITY(ZONE_TERM("topology.kubernetes.io/zone", "us-east-1") "," ZONE_TERM(
			"topology.kubernetes.io/zone", "us-east-2")));
	put_csi_node(&fixture, "east1", "kubernetes.io/gce-pd", "");
	put_csi_node(&fixture, "east2", "kubernetes.io/gce-pd", "");
	ck_assert_str_eq(fixture_filter(&fixture, claims_pod(&fixture, "c"), "east1"), "Success");
	ck_assert_str_eq(fixture_filter(&fixture, claims_pod(&fixture, "c"), "east2"), "Success");
	ck_assert_str_eq(fixture_filter(&fixture, claims_pod(&fixture, "c"), "n1"), NODE_CONFLICT);
	fixture_finish(&fixture);
}
END_TEST

/* --- hints --- */

static void expect_hint(struct fixture *fixture, const char *row, const char *resource,
	uint32_t action, const char *pod, const char *old_json, const char *new_json,
	enum fixture_hint expected)
{
	enum fixture_hint hint = fixture_hint(
		fixture, resource, action, fixture_pending(fixture, pod), old_json, new_json, NULL);

	ck_assert_msg(hint == expected, "%s: hint %d", row, (int)hint);
}

START_TEST(test_volume_binding__edge_07_87_hint_claim)
{
	struct fixture fixture;

	init(&fixture);
	expect_hint(&fixture, "other namespace", "PersistentVolumeClaim", BT_ACTION_UPDATE,
		claims_pod(&fixture, "c"), "{'metadata':{'name':'c','namespace':'other'}}",
		"{'metadata':{'name':'c','namespace':'other'}}", FIXTURE_SKIP);
	expect_hint(&fixture, "own claim", "PersistentVolumeClaim", BT_ACTION_UPDATE,
		claims_pod(&fixture, "c"), "{'metadata':{'name':'c'}}", "{'metadata':{'name':'c'}}",
		FIXTURE_QUEUE);
	expect_hint(&fixture, "ephemeral", "PersistentVolumeClaim", BT_ACTION_ADD, EPHEMERAL_POD,
		NULL, "{'metadata':{'name':'p-v'}}", FIXTURE_QUEUE);
	expect_hint(&fixture, "another claim", "PersistentVolumeClaim", BT_ACTION_ADD,
		EPHEMERAL_POD, NULL, "{'metadata':{'name':'p-w'}}", FIXTURE_SKIP);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_88_hint_capacity)
{
	struct fixture fixture;

	init(&fixture);
	expect_hint(&fixture, "maximum removed", "CSIStorageCapacity", BT_ACTION_UPDATE, "{}",
		"{'capacity':'100','maximumVolumeSize':'50'}", "{'capacity':'100'}", FIXTURE_QUEUE);
	expect_hint(&fixture, "50 to 50", "CSIStorageCapacity", BT_ACTION_UPDATE, "{}",
		"{'capacity':'100','maximumVolumeSize':'50'}", "{'capacity':'50'}", FIXTURE_SKIP);
	expect_hint(&fixture, "limit set", "CSIStorageCapacity", BT_ACTION_UPDATE, "{}", "{}",
		"{'capacity':'1'}", FIXTURE_QUEUE);
	expect_hint(&fixture, "limit removed", "CSIStorageCapacity", BT_ACTION_UPDATE, "{}",
		"{'capacity':'1'}", "{}", FIXTURE_SKIP);
	expect_hint(&fixture, "added", "CSIStorageCapacity", BT_ACTION_ADD, "{}", NULL, "{}",
		FIXTURE_QUEUE);
	fixture_finish(&fixture);
}
END_TEST

#define MIGRATED(list) \
	"{'metadata':{'annotations':{'storage.alpha.kubernetes.io/migrated-plugins':'" list "'}}}"

START_TEST(test_volume_binding__edge_07_89_hint_csi_node)
{
	struct fixture fixture;

	init(&fixture);
	expect_hint(&fixture, "list grows", "CSINode", BT_ACTION_UPDATE, "{}", MIGRATED("a"),
		MIGRATED("a, b"), FIXTURE_QUEUE);
	expect_hint(&fixture, "other fields", "CSINode", BT_ACTION_UPDATE, "{}", MIGRATED("a"),
		"{'metadata':{'annotations':{'storage.alpha.kubernetes.io/migrated-plugins':'a'}},"
		"'spec':{'drivers':[{'name':'d'}]}}",
		FIXTURE_SKIP);
	expect_hint(&fixture, "absent is empty", "CSINode", BT_ACTION_UPDATE, "{}", MIGRATED(""),
		"{}", FIXTURE_SKIP);
	expect_hint(&fixture, "added", "CSINode", BT_ACTION_ADD, "{}", NULL, "{}", FIXTURE_QUEUE);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__edge_07_90_hint_storage_class)
{
	struct fixture fixture;

	init(&fixture);
	expect_hint(&fixture, "parameters", "StorageClass", BT_ACTION_UPDATE, "{}", "{}",
		"{'parameters':{'a':'b'}}", FIXTURE_SKIP);
	expect_hint(&fixture, "nil equals empty", "StorageClass", BT_ACTION_UPDATE, "{}", "{}",
		"{'allowedTopologies':[]}", FIXTURE_SKIP);
	expect_hint(&fixture, "topologies", "StorageClass", BT_ACTION_UPDATE, "{}",
		"{'allowedTopologies':[{'matchLabelExpressions':[{'key':'k','values':['a']}]}]}",
		"{'allowedTopologies':[{'matchLabelExpressions':[{'key':'k','values':['b']}]}]}",
		FIXTURE_QUEUE);
	expect_hint(
		&fixture, "added", "StorageClass", BT_ACTION_ADD, "{}", NULL, "{}", FIXTURE_QUEUE);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_binding__hint_csi_driver)
{
	static const char inline_pod[] = "{'spec':{'volumes':[{'name':'v','csi':{'driver':'d'}}]}}";
	static const char with[] = "{'metadata':{'name':'d'},'spec':{'storageCapacity':true}}";
	static const char without[] = "{'metadata':{'name':'d'},'spec':{'storageCapacity':false}}";
	struct fixture fixture;

	init(&fixture);
	expect_hint(&fixture, "capacity no longer counts", "CSIDriver", BT_ACTION_UPDATE,
		inline_pod, with, without, FIXTURE_QUEUE);
	expect_hint(&fixture, "unset", "CSIDriver", BT_ACTION_UPDATE, inline_pod, with,
		"{'metadata':{'name':'d'}}", FIXTURE_QUEUE);
	expect_hint(&fixture, "begins to count", "CSIDriver", BT_ACTION_UPDATE, inline_pod, without,
		with, FIXTURE_SKIP);
	expect_hint(&fixture, "another driver", "CSIDriver", BT_ACTION_UPDATE, inline_pod,
		"{'metadata':{'name':'e'},'spec':{'storageCapacity':true}}",
		"{'metadata':{'name':'e'}}", FIXTURE_SKIP);
	expect_hint(&fixture, "volumes behind claims do not count", "CSIDriver", BT_ACTION_UPDATE,
		claims_pod(&fixture, "c"), with, without, FIXTURE_SKIP);
	expect_hint(&fixture, "volumes", "PersistentVolume", BT_ACTION_UPDATE, "{}", "{}", "{}",
		FIXTURE_QUEUE);
	fixture_finish(&fixture);
}
END_TEST

BT_TEST_MAIN("volume_binding", test_volume_binding__edge_07_01_no_claims,
	test_volume_binding__edge_07_02_claim_missing,
	test_volume_binding__edge_07_03_second_claim_missing,
	test_volume_binding__edge_07_04_ephemeral_claim_missing,
	test_volume_binding__edge_07_05_ephemeral_claim_of_another_pod,
	test_volume_binding__edge_07_06_lost_claim,
	test_volume_binding__edge_07_07_claim_being_deleted,
	test_volume_binding__edge_07_08_unbound_immediate,
	test_volume_binding__edge_07_09_immediate_and_bound,
	test_volume_binding__edge_07_10_class_without_mode,
	test_volume_binding__edge_07_11_bound_immediate,
	test_volume_binding__edge_07_12_bind_completed_may_be_empty,
	test_volume_binding__edge_07_13_bound_to_a_node,
	test_volume_binding__edge_07_14_volume_missing,
	test_volume_binding__edge_07_15_empty_affinities,
	test_volume_binding__edge_07_16_only_fields,
	test_volume_binding__edge_07_17_unparsable_term,
	test_volume_binding__edge_07_18_migrated_zone_matches,
	test_volume_binding__edge_07_19_migrated_zone_differs,
	test_volume_binding__edge_07_20_not_migrated_on_the_node,
	test_volume_binding__edge_07_21_not_migratable,
	test_volume_binding__edge_07_22_blank_in_the_list,
	test_volume_binding__edge_07_23_broken_volume_id,
	test_volume_binding__edge_07_24_several_zones,
	test_volume_binding__edge_07_25_affinity_beats_label,
	test_volume_binding__edge_07_26_every_term_is_rewritten,
	test_volume_binding__edge_07_87_hint_claim, test_volume_binding__edge_07_88_hint_capacity,
	test_volume_binding__edge_07_89_hint_csi_node,
	test_volume_binding__edge_07_90_hint_storage_class, test_volume_binding__hint_csi_driver)
