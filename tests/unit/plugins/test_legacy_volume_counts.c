/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"
#include "test_main.h"

#define REJECTED "Unschedulable: node(s) exceed max volume count"
#define EBS(id) "{'name':'v','awsElasticBlockStore':{'volumeID':'" id "'}}"
#define CLAIM(name) "{'name':'v','persistentVolumeClaim':{'claimName':'" name "'}}"
#define POD(volumes) "{'spec':{'volumes':[" volumes "]}}"

#define PVC(name, volume) \
	"{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'" name \
	"'},'spec':{'volumeName':'" volume "'}}"
#define PV(name, source) \
	"{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'" name \
	"'},'spec':{" source "}}"

/** Adds a pod on node n with count EBS volumes id-0 ... */
static void fill_node(struct fixture *fixture, int count)
{
	struct bt_strbuf json = {0};

	bt_strbuf_append_c(&json, "{'spec':{'nodeName':'n','volumes':[");
	for (int i = 0; i < count; i++) {
		bt_strbuf_printf(&json,
			"%s{'name':'v%d','awsElasticBlockStore':{'volumeID':'id-%d'}}",
			i != 0 ? "," : "", i, i);
	}
	bt_strbuf_append_c(&json, "]}}");
	fixture_add_pod(fixture, bt_strbuf_c(&json));
	bt_strbuf_finish(&json);
}

START_TEST(test_max_ebs_volume_count__edge_05b_17_distinct_ids)
{
	struct fixture fixture;

	fixture_init(&fixture, &bt_legacy_max_ebs_volume_count_plugin);
	fixture_add_node(&fixture, "{'metadata':{'name':'n'}}");
	fill_node(&fixture, 38);
	ck_assert_str_eq(fixture_filter(&fixture, POD(EBS("new")), "n"), "Success");
	fixture_add_pod(&fixture, "{'spec':{'nodeName':'n','volumes':[" EBS("id-38") "]}}");
	ck_assert_str_eq(fixture_filter(&fixture, POD(EBS("id-7")), "n"), "Success");
	ck_assert_str_eq(fixture_filter(&fixture, POD(EBS("new")), "n"), REJECTED);
	ck_assert_str_eq(fixture_filter(&fixture, POD(EBS("id-7") "," EBS("new")), "n"), REJECTED);
	ck_assert_str_eq(fixture_filter(&fixture,
				 POD("{'name':'v','gcePersistentDisk':{'pdName':'d'}}"), "n"),
		"Skip");
	ck_assert_str_eq(fixture_filter_alone(&fixture,
				 POD("{'name':'v','gcePersistentDisk':{'pdName':'d'}}"), "n"),
		"Success");
	fixture_finish(&fixture);
}
END_TEST

/** Returns the largest number of volumes that fits an empty node with this metadata and status. */
static int limit_of(
	const struct bt_plugin_ops *ops, int64_t configured, const char *node, const char *source)
{
	struct fixture fixture;
	struct bt_strbuf volumes = {0};
	int limit = 0;

	fixture_init(&fixture, ops);
	fixture.handle.max_pd_volumes = configured;
	fixture_add_node(&fixture, node);
	for (; limit < 300; limit++) {
		const char *pod;

		bt_strbuf_printf(&volumes, "%s{'name':'v',", limit != 0 ? "," : "");
		bt_strbuf_printf(&volumes, "%s'id-%d'}}", source, limit);
		pod = bt_arena_printf(
			&fixture.arena, "{'spec':{'volumes':[%s]}}", bt_strbuf_c(&volumes))
			      .data;
		if (strcmp(fixture_filter(&fixture, pod, "n"), REJECTED) == 0) {
			break;
		}
	}
	bt_strbuf_finish(&volumes);
	fixture_finish(&fixture);
	return limit;
}

#define TYPED(key, type) "{'metadata':{'name':'n','labels':{'" key "':'" type "'}}}"
#define NEW_KEY "node.kubernetes.io/instance-type"
#define OLD_KEY "beta.kubernetes.io/instance-type"

START_TEST(test_max_ebs_volume_count__edge_05b_18_limits)
{
	static const char source[] = "'awsElasticBlockStore':{'volumeID':";
	static const struct {
		int64_t configured;
		const char *node;
		int expected;
	} rows[] = {
		{0, TYPED(NEW_KEY, "m5.large"), 25},
		{0, TYPED(OLD_KEY, "xt3y"), 25},
		{0, TYPED(NEW_KEY, "az1d"), 25},
		{0, TYPED(NEW_KEY, "m4.large"), 39},
		{0, TYPED(NEW_KEY, "xm5.large"), 39},
		{0, "{'metadata':{'name':'n'}}", 39},
		{5, TYPED(NEW_KEY, "m5.large"), 5},
		{5,
			"{'metadata':{'name':'n','labels':{'" NEW_KEY "':'m5.large'}},"
			"'status':{'allocatable':{'attachable-volumes-aws-ebs':'10'}}}",
			10},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		int limit = limit_of(&bt_legacy_max_ebs_volume_count_plugin, rows[i].configured,
			rows[i].node, source);

		ck_assert_msg(limit == rows[i].expected, "%s, KUBE_MAX_PD_VOLS=%lld: got %d",
			rows[i].node, (long long)rows[i].configured, limit);
	}
}
END_TEST

START_TEST(test_max_volume_counts__other_drivers)
{
	static const struct {
		const struct bt_plugin_ops *ops;
		const char *source;
		int expected;
	} rows[] = {
		{&bt_legacy_max_gce_pd_volume_count_plugin, "'gcePersistentDisk':{'pdName':", 16},
		{&bt_legacy_max_azure_disk_volume_count_plugin, "'azureDisk':{'diskName':", 16},
		{&bt_legacy_max_cinder_volume_count_plugin, "'cinder':{'volumeID':", 256},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		ck_assert_int_eq(
			limit_of(rows[i].ops, 0, TYPED(NEW_KEY, "m5.large"), rows[i].source),
			rows[i].expected);
	}
}
END_TEST

START_TEST(test_max_ebs_volume_count__edge_05b_19_unbound_claims)
{
	struct fixture fixture;

	fixture_init(&fixture, &bt_legacy_max_ebs_volume_count_plugin);
	fixture.handle.max_pd_volumes = 1;
	fixture_add_node(&fixture, "{'metadata':{'name':'n'}}");
	fixture_add_pod(&fixture, "{'spec':{'nodeName':'n','volumes':[" CLAIM("c1") "]}}");
	ck_assert_str_eq(fixture_filter(&fixture, POD(CLAIM("c1")), "n"), "Success");
	ck_assert_str_eq(fixture_filter(&fixture, POD(CLAIM("c2")), "n"), REJECTED);
	/* The same name in another namespace is another claim; a claim name is not a volume id. */
	ck_assert_str_eq(
		fixture_filter(&fixture,
			"{'metadata':{'namespace':'other'},'spec':{'volumes':[" CLAIM("c1") "]}}",
			"n"),
		REJECTED);
	ck_assert_str_eq(fixture_filter(&fixture, POD(EBS("c1")), "n"), REJECTED);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_max_ebs_volume_count__bound_claims)
{
	struct fixture fixture;

	fixture_init(&fixture, &bt_legacy_max_ebs_volume_count_plugin);
	fixture.handle.max_pd_volumes = 1;
	fixture_put(&fixture, PVC("ebs", "pv-ebs"));
	fixture_put(&fixture, PVC("gce", "pv-gce"));
	fixture_put(&fixture, PVC("lost", "pv-lost"));
	fixture_put(&fixture, PVC("unbound", ""));
	fixture_put(&fixture, PV("pv-ebs", "'awsElasticBlockStore':{'volumeID':'id-0'}"));
	fixture_put(&fixture, PV("pv-gce", "'gcePersistentDisk':{'pdName':'disk'}"));
	fixture_add_node(&fixture, "{'metadata':{'name':'n'}}");
	fill_node(&fixture, 1);
	ck_assert_str_eq(fixture_filter(&fixture, POD(CLAIM("ebs")), "n"), "Success");
	ck_assert_str_eq(fixture_filter(&fixture, POD(CLAIM("gce")), "n"), "Skip");
	ck_assert_str_eq(fixture_filter(&fixture, POD(CLAIM("lost")), "n"), REJECTED);
	ck_assert_str_eq(fixture_filter(&fixture, POD(CLAIM("unbound")), "n"), REJECTED);
	ck_assert_str_eq(fixture_filter(&fixture, POD(CLAIM("missing")), "n"), REJECTED);
	ck_assert_str_eq(fixture_filter(&fixture, POD(CLAIM("")), "n"),
		"Error: PersistentVolumeClaim had no name");
	fixture_add_pod(&fixture, "{'spec':{'nodeName':'n','volumes':[" CLAIM("") "]}}");
	ck_assert_str_eq(fixture_filter(&fixture, POD(CLAIM("ebs")), "n"),
		"Error: PersistentVolumeClaim had no name");
	fixture_finish(&fixture);
}
END_TEST

BT_TEST_MAIN("legacy_volume_counts", test_max_ebs_volume_count__edge_05b_17_distinct_ids,
	test_max_ebs_volume_count__edge_05b_18_limits, test_max_volume_counts__other_drivers,
	test_max_ebs_volume_count__edge_05b_19_unbound_claims,
	test_max_ebs_volume_count__bound_claims)
