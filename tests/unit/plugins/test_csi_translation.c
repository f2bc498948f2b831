/* SPDX-License-Identifier: Apache-2.0 */
/* Translation of in-tree volumes to CSI volumes. Spec: 07 section 4. */
#include "plugins/csi_translation.h"
#include "base/error.h"
#include "fixture.h"
#include "test_main.h"

/** Starts the fixture, which these tests use only to decode objects and to own their memory. */
static void init(struct fixture *fixture)
{
	fixture_init(fixture, &bt_volume_binding_plugin);
}

static const struct bt_persistent_volume *volume_of(
	struct fixture *fixture, const char *labels, const char *spec)
{
	struct bt_str json = bt_arena_printf(&fixture->arena,
		"{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'pv','labels':{%s}"
		"},'spec':{%s}}",
		labels, spec);

	fixture_put(fixture, json.data);
	return bt_object_store_find(
		&fixture->state->objects, BT_KIND_PERSISTENT_VOLUME, BT_STR(""), BT_STR("pv"));
}

static const struct bt_volume *inline_of(struct fixture *fixture, const char *source)
{
	struct bt_str json =
		bt_arena_printf(&fixture->arena, "{'spec':{'volumes':[{'name':'v',%s}]}}", source);

	return &fixture_pod(fixture, json.data)->spec.volumes.items[0];
}

static const struct {
	const char *plugin_name;
	const char *csi_name;
	const char *source; /* handle "h" if the source has a handle field */
	bool migrated;
} drivers[BT_IN_TREE__COUNT] = {
	[BT_IN_TREE_GCE_PD] = {"kubernetes.io/gce-pd", "pd.csi.storage.gke.io",
		"'gcePersistentDisk':{'pdName':'h'}", true},
	[BT_IN_TREE_AWS_EBS] = {"kubernetes.io/aws-ebs", "ebs.csi.aws.com",
		"'awsElasticBlockStore':{'volumeID':'h'}", true},
	[BT_IN_TREE_CINDER] = {"kubernetes.io/cinder", "cinder.csi.openstack.org",
		"'cinder':{'volumeID':'h'}", true},
	[BT_IN_TREE_AZURE_DISK] = {"kubernetes.io/azure-disk", "disk.csi.azure.com",
		"'azureDisk':{'diskName':'n','diskURI':'h'}", true},
	[BT_IN_TREE_PORTWORX] = {"kubernetes.io/portworx-volume", "pxd.portworx.com",
		"'portworxVolume':{'volumeID':'h'}", true},
	[BT_IN_TREE_AZURE_FILE] = {"kubernetes.io/azure-file", "file.csi.azure.com",
		"'azureFile':{'secretName':'n','shareName':'h'}", false},
	[BT_IN_TREE_VSPHERE] = {"kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com",
		"'vsphereVolume':{'volumePath':'h'}", false},
};

START_TEST(test_csi_translation__drivers)
{
	struct fixture fixture;

	init(&fixture);
	for (unsigned int i = 0; i < BT_IN_TREE__COUNT; i++) {
		enum bt_in_tree_driver driver = (enum bt_in_tree_driver)i;

		ck_assert(bt_str_equal_c(bt_in_tree_plugin_name(driver), drivers[i].plugin_name));
		ck_assert(bt_str_equal_c(bt_in_tree_csi_name(driver), drivers[i].csi_name));
		ck_assert_int_eq(bt_in_tree_find(bt_str_from(drivers[i].plugin_name)), driver);
		ck_assert_int_eq(
			bt_in_tree_of_volume(volume_of(&fixture, "", drivers[i].source)), driver);
		ck_assert_int_eq(
			bt_in_tree_of_inline(inline_of(&fixture, drivers[i].source)), driver);
		ck_assert_int_eq(bt_in_tree_is_migrated(driver), drivers[i].migrated);
	}
	ck_assert_int_eq(bt_in_tree_find(BT_STR("kubernetes.io/rbd")), BT_IN_TREE__COUNT);
	ck_assert_int_eq(bt_in_tree_find(BT_STR("ebs.csi.aws.com")), BT_IN_TREE__COUNT);
	ck_assert_int_eq(bt_in_tree_of_volume(volume_of(&fixture, "",
				 "'csi':{'driver':'ebs.csi.aws.com','volumeHandle':'h'}")),
		BT_IN_TREE__COUNT);
	ck_assert_int_eq(
		bt_in_tree_of_inline(inline_of(&fixture, "'emptyDir':{}")), BT_IN_TREE__COUNT);
	fixture_finish(&fixture);
}
END_TEST

static const char *handle_text(
	struct fixture *fixture, int code, struct bt_str handle, struct berth_error *err)
{
	struct bt_str text = code == 0
		? bt_arena_str(&fixture->arena, handle)
		: bt_arena_printf(&fixture->arena, "! %s", berth_error_message(err));

	berth_error_finish(err);
	return text.data;
}

static const char *volume_handle(struct fixture *fixture, const char *labels, const char *source)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_str handle = {0};
	int code = bt_in_tree_volume_handle(
		volume_of(fixture, labels, source), &fixture->arena, &handle, &err);

	return handle_text(fixture, code, handle, &err);
}

static const char *inline_handle(
	struct fixture *fixture, const char *namespace_, const char *source)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_str handle = {0};
	int code = bt_in_tree_inline_handle(inline_of(fixture, source), bt_str_from(namespace_),
		&fixture->arena, &handle, &err);

	return handle_text(fixture, code, handle, &err);
}

#define GA_ZONE(value) "'topology.kubernetes.io/zone':'" value "'"
#define BETA_ZONE(value) "'failure-domain.beta.kubernetes.io/zone':'" value "'"
#define NO_REGION "! failed to get region from zones: "

START_TEST(test_csi_translation__gce_pd_handles)
{
	static const struct {
		const char *labels;
		const char *expected;
	} rows[] = {
		{"", "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d"},
		{GA_ZONE(""), "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d"},
		{GA_ZONE("__"), "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d"},
		{GA_ZONE("us-east1-a"), "projects/UNSPECIFIED/zones/us-east1-a/disks/d"},
		{GA_ZONE("us-east1-a__"), "projects/UNSPECIFIED/zones/us-east1-a/disks/d"},
		{BETA_ZONE("us-east1-b") "," GA_ZONE("us-east1-a"),
			"projects/UNSPECIFIED/zones/us-east1-b/disks/d"},
		{BETA_ZONE("") "," GA_ZONE("us-east1-a"),
			"projects/UNSPECIFIED/zones/us-east1-a/disks/d"},
		{GA_ZONE("us-east1-a__us-east1-b"),
			"projects/UNSPECIFIED/regions/us-east1/disks/d"},
		{GA_ZONE("a__b"),
			NO_REGION "zone in unexpected format, expected: {locale}-{region}-{zone}, "
				  "got: a"},
		{GA_ZONE("us-east1-a__us-east1-b-c"),
			NO_REGION "zone in unexpected format, expected: {locale}-{region}-{zone}, "
				  "got: us-east1-b-c"},
		{GA_ZONE("us-east1-a__us-east2-a"),
			NO_REGION "multiple or no regions gotten from zones, got: map[us-east1:{} "
				  "us-east2:{}]"},
	};
	struct fixture fixture;

	init(&fixture);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		fixture_expect(rows[i].labels,
			volume_handle(
				&fixture, rows[i].labels, "'gcePersistentDisk':{'pdName':'d'}"),
			rows[i].expected);
	}
	ck_assert_str_eq(inline_handle(&fixture, "ns", "'gcePersistentDisk':{'pdName':'d'}"),
		"projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d");
	fixture_finish(&fixture);
}
END_TEST

#define INVALID_FORMAT(id) \
	"! failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (" id \
	")"

START_TEST(test_csi_translation__aws_ebs_handles)
{
	static const struct {
		const char *id;
		const char *expected;
	} rows[] = {
		{"vol-1", "vol-1"},
		{"anything/goes", "anything/goes"},
		{"", ""},
		{"aws:///vol-1", "vol-1"},
		{"aws://us-west-2a/vol-1", "vol-1"},
		{"aws://us-west-2a//vol-1/", "vol-1"},
		{"aws://us-west-2a/vol%2D1", "vol-1"},
		{"aws://us-west-2a/vol-", "vol-"},
		{"aws://us-west-2a/vol-1?a=b#c", "vol-1"},
		{"aws://us-west-2a/0239", INVALID_FORMAT("aws://us-west-2a/0239")},
		{"aws://us-west-2a/a/vol-1", INVALID_FORMAT("aws://us-west-2a/a/vol-1")},
		{"aws://vol-1", INVALID_FORMAT("aws://vol-1")},
		{"aws://", INVALID_FORMAT("aws://")},
		{"aws://z/vol-%zz",
			"! failed to translate Kubernetes ID to EBS Volume ID Invalid disk name "
			"(aws://z/vol-%zz): parse \"aws://z/vol-%zz\": invalid URL escape \"%zz\""},
		{"aws://z/vol-%4",
			"! failed to translate Kubernetes ID to EBS Volume ID Invalid disk name "
			"(aws://z/vol-%4): parse \"aws://z/vol-%4\": invalid URL escape \"%4\""},
	};
	struct fixture fixture;

	init(&fixture);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_str source = bt_arena_printf(
			&fixture.arena, "'awsElasticBlockStore':{'volumeID':'%s'}", rows[i].id);

		fixture_expect(
			rows[i].id, volume_handle(&fixture, "", source.data), rows[i].expected);
		fixture_expect(
			rows[i].id, inline_handle(&fixture, "ns", source.data), rows[i].expected);
	}
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_csi_translation__other_handles)
{
	static const struct {
		const char *source;
		const char *expected;
	} rows[] = {
		{"'cinder':{'volumeID':'h'}", "h"},
		{"'portworxVolume':{'volumeID':'h'}", "h"},
		{"'azureDisk':{'diskName':'n','diskURI':'h'}", "h"},
		{"'azureDisk':{'diskURI':'h','kind':'Managed'}", "h"},
		{"'azureDisk':{'diskURI':'h','kind':'mAnAgEd'}", "h"},
		{"'azureDisk':{'diskURI':'h','kind':'Shared'}",
			"! kind(Shared) is not supported in csi migration"},
		{"'azureDisk':{'diskURI':'h','kind':'Dedicated'}",
			"! kind(Dedicated) is not supported in csi migration"},
	};
	struct fixture fixture;

	init(&fixture);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		fixture_expect(rows[i].source, volume_handle(&fixture, "", rows[i].source),
			rows[i].expected);
		fixture_expect(rows[i].source, inline_handle(&fixture, "ns", rows[i].source),
			rows[i].expected);
	}
	fixture_expect("vsphere",
		inline_handle(&fixture, "ns", "'vsphereVolume':{'volumePath':'h'}"), "h");
	fixture_expect("vsphere with a policy",
		inline_handle(&fixture, "ns",
			"'vsphereVolume':{'volumePath':'h','storagePolicyName':'p'}"),
		"h");
	fixture_expect("not migratable", inline_handle(&fixture, "ns", "'emptyDir':{}"),
		"! could not find in-tree plugin name from volume v");
	fixture_expect("not migratable", volume_handle(&fixture, "", "'hostPath':{'path':'/'}"),
		"! could not find in-tree plugin name from persistent volume pv");
	fixture_finish(&fixture);
}
END_TEST

#define AZURE_FILE(secret) "'azureFile':{'secretName':'" secret "','shareName':'s'}"

START_TEST(test_csi_translation__azure_file_inline_handles)
{
	static const struct {
		const char *namespace_;
		const char *source;
		const char *expected;
	} rows[] = {
		{"ns", AZURE_FILE("azure-storage-account-acc-secret"), "#acc#s#v#ns"},
		{"ns", AZURE_FILE("my-azure-storage-account-a-b-secret-2"), "#a-b#s#v#ns"},
		{"ns", AZURE_FILE("azure-storage-account-a-secret-secret"), "#a-secret#s#v#ns"},
		{"ns", AZURE_FILE("azure-storage-account--secret"),
			"#azure-storage-account--secret#s#v#ns"},
		{"ns", AZURE_FILE("other"), "#other#s#v#ns"},
		{"", AZURE_FILE("other"), "#other#s#v#default"},
	};
	struct fixture fixture;

	init(&fixture);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		fixture_expect(rows[i].source,
			inline_handle(&fixture, rows[i].namespace_, rows[i].source),
			rows[i].expected);
	}
	fixture_finish(&fixture);
}
END_TEST

/* --- node affinity, spec 07 section 4.3 --- */

/** Returns "key op v1,v2 & ... | next term"; "none" without affinity. */
static const char *affinity_of(struct fixture *fixture, const char *labels, const char *spec)
{
	const struct bt_persistent_volume *volume = volume_of(fixture, labels, spec);
	const struct bt_node_selector *selector = bt_in_tree_node_affinity(volume, &fixture->arena);
	struct bt_strbuf text = {0};
	struct bt_str result;

	if (selector == NULL) {
		return "none";
	}
	for (uint32_t t = 0; t < selector->terms.count; t++) {
		const struct bt_node_selector_term *term = &selector->terms.items[t];

		bt_strbuf_append_c(&text, t != 0 ? " | " : "");
		for (uint32_t e = 0; e < term->match_expressions.count; e++) {
			const struct bt_node_selector_requirement *expression =
				&term->match_expressions.items[e];

			bt_strbuf_printf(&text, "%s%.*s %.*s ", e != 0 ? " & " : "",
				BT_STR_ARG(expression->key), BT_STR_ARG(expression->operator_));
			for (uint32_t v = 0; v < expression->values.count; v++) {
				bt_strbuf_printf(&text, "%s%.*s", v != 0 ? "," : "",
					BT_STR_ARG(expression->values.items[v]));
			}
		}
		if (term->match_fields.count != 0) {
			bt_strbuf_append_c(&text, " +fields");
		}
	}
	result = bt_arena_str(&fixture->arena, bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
	return result.data;
}

#define PD "'gcePersistentDisk':{'pdName':'d'}"
#define TERMS(terms) ",'nodeAffinity':{'required':{'nodeSelectorTerms':[" terms "]}}"
#define TERM(expressions) "{'matchExpressions':[" expressions "]}"
#define EXPRESSION(key, operator_, values) \
	"{'key':'" key "','operator':'" operator_ "','values':[" values "]}"
#define GA "topology.kubernetes.io/zone"
#define BETA "failure-domain.beta.kubernetes.io/zone"
#define GA_REGION "topology.kubernetes.io/region"
#define BETA_REGION "failure-domain.beta.kubernetes.io/region"
#define CSI_ZONE "topology.gke.io/zone"

struct affinity_row {
	const char *row;
	const char *labels;
	const char *spec;
	const char *expected;
};

static void check_affinities(const struct affinity_row *rows, size_t count)
{
	struct fixture fixture;

	init(&fixture);
	for (size_t i = 0; i < count; i++) {
		fixture_expect(rows[i].row, affinity_of(&fixture, rows[i].labels, rows[i].spec),
			rows[i].expected);
	}
	fixture_finish(&fixture);
}

START_TEST(test_csi_translation__edge_07_24_zones_of_labels)
{
	static const struct affinity_row rows[] = {
		{"two zones", GA_ZONE("europe-west1-b__europe-west1-c"), PD,
			CSI_ZONE " In europe-west1-b,europe-west1-c"},
		{"sorted, trimmed, distinct", GA_ZONE("c __a____ a__b"), PD, CSI_ZONE " In a,b,c"},
		{"beta label", BETA_ZONE("a"), PD, CSI_ZONE " In a"},
		{"the newer label wins", BETA_ZONE("a") "," GA_ZONE("b"), PD, CSI_ZONE " In b"},
		{"nothing in it", GA_ZONE("__"), PD, "none"},
		{"no label", "", PD, "none"},
		{"into every term", GA_ZONE("a"),
			PD TERMS(TERM(EXPRESSION("x", "Exists", "")) "," TERM(
				EXPRESSION("y", "In", "'z'"))),
			"x Exists  & " CSI_ZONE " In a | y In z & " CSI_ZONE " In a"},
		{"no terms", GA_ZONE("a"), PD TERMS(""), CSI_ZONE " In a"},
		{"fields stay", GA_ZONE("a"),
			PD TERMS("{'matchFields':[{'key':'metadata.name','operator':'In','values':"
				 "['n']}]}"),
			CSI_ZONE " In a +fields"},
		{"a second expression", GA_ZONE("a"),
			PD TERMS(TERM(EXPRESSION(CSI_ZONE, "In", "'b'"))),
			CSI_ZONE " In b & " CSI_ZONE " In a"},
		{"already translated", "", PD TERMS(TERM(EXPRESSION(CSI_ZONE, "In", "'b'"))),
			CSI_ZONE " In b"},
	};

	check_affinities(rows, BT_ARRAY_LENGTH(rows));
}
END_TEST

START_TEST(test_csi_translation__edge_07_25_affinity_beats_label)
{
	static const struct affinity_row rows[] = {
		{"beta", BETA_ZONE("a"), PD TERMS(TERM(EXPRESSION(BETA, "In", "'b'"))),
			CSI_ZONE " In b"},
		{"operator stays", "", PD TERMS(TERM(EXPRESSION(GA, "NotIn", "'b','c'"))),
			CSI_ZONE " NotIn b,c"},
		/* The key in the affinity decides which topology key is used. */
		{"beta affinity, newer label", GA_ZONE("a"),
			PD TERMS(TERM(EXPRESSION(BETA, "In", "'b'"))), CSI_ZONE " In b"},
		{"newer affinity, beta label", BETA_ZONE("a"),
			PD TERMS(TERM(EXPRESSION(GA, "In", "'b'"))), CSI_ZONE " In b"},
		{"both keys", "",
			PD TERMS(TERM(
				EXPRESSION(BETA, "In", "'a'") "," EXPRESSION(GA, "In", "'b'"))),
			BETA " In a & " CSI_ZONE " In b"},
		{"no values: the label counts", GA_ZONE("a"),
			PD TERMS(TERM(EXPRESSION(GA, "Exists", ""))),
			GA " Exists  & " CSI_ZONE " In a"},
	};

	check_affinities(rows, BT_ARRAY_LENGTH(rows));
}
END_TEST

START_TEST(test_csi_translation__edge_07_26_every_term)
{
	static const struct affinity_row rows[] = {
		{"two terms", "",
			PD TERMS(TERM(EXPRESSION(GA, "In", "'f'")) "," TERM(
				EXPRESSION(GA, "In", "'g'"))),
			CSI_ZONE " In f | " CSI_ZONE " In g"},
		{"one of them", "",
			PD TERMS(TERM(EXPRESSION(GA, "In", "'f'")) "," TERM(
				EXPRESSION("x", "In", "'g'"))),
			CSI_ZONE " In f | x In g"},
		{"beta region", "",
			PD TERMS(TERM(EXPRESSION(BETA, "In", "'f'") "," EXPRESSION(
				BETA_REGION, "In", "'r'"))),
			CSI_ZONE " In f & " GA_REGION " In r"},
		{"beta region beside newer zone", "",
			PD TERMS(TERM(EXPRESSION(GA, "In", "'f'") "," EXPRESSION(
				BETA_REGION, "In", "'r'"))),
			CSI_ZONE " In f & " BETA_REGION " In r"},
		{"beta region without values", "",
			PD TERMS(TERM(EXPRESSION(BETA, "In", "'f'") "," EXPRESSION(
				BETA_REGION, "Exists", ""))),
			CSI_ZONE " In f & " BETA_REGION " Exists "},
		{"EBS", GA_ZONE("a"), "'awsElasticBlockStore':{'volumeID':'h'}",
			"topology.ebs.csi.aws.com/zone In a"},
		{"Cinder", GA_ZONE("a"), "'cinder':{'volumeID':'h'}",
			"topology.cinder.csi.openstack.org/zone In a"},
		{"Azure disks are left alone", GA_ZONE("a"), "'azureDisk':{'diskURI':'h'}", "none"},
		{"Portworx, too", GA_ZONE("a"),
			"'portworxVolume':{'volumeID':'h'}" TERMS(
				TERM(EXPRESSION(GA, "In", "'f'"))),
			GA " In f"},
	};

	check_affinities(rows, BT_ARRAY_LENGTH(rows));
}
END_TEST

/** The translation does not change the volume. */
START_TEST(test_csi_translation__affinity_is_a_copy)
{
	const struct bt_persistent_volume *volume;
	struct fixture fixture;

	init(&fixture);
	volume = volume_of(&fixture, "", PD TERMS(TERM(EXPRESSION(GA, "In", "'f'"))));
	ck_assert_ptr_nonnull(bt_in_tree_node_affinity(volume, &fixture.arena));
	ck_assert(bt_str_equal_c(
		volume->spec.node_affinity->required->terms.items[0].match_expressions.items[0].key,
		GA));
	fixture_finish(&fixture);
}
END_TEST

static const struct bt_csi_node *node_with(struct fixture *fixture, const char *annotations)
{
	struct bt_str json = bt_arena_printf(&fixture->arena,
		"{'apiVersion':'storage.k8s.io/v1','kind':'CSINode','metadata':{'name':'n'%s},"
		"'spec':{'drivers':[]}}",
		annotations);

	fixture_put(fixture, json.data);
	return bt_object_store_find(
		&fixture->state->objects, BT_KIND_CSI_NODE, BT_STR(""), BT_STR("n"));
}

#define MIGRATED(list) ",'annotations':{'storage.alpha.kubernetes.io/migrated-plugins':'" list "'}"

/** Which in-tree drivers a CSINode's annotation marks as migrated. Spec 07 section 4.2. */
START_TEST(test_csi_translation__edge_07_22_migrated_plugins)
{
	static const struct {
		const char *annotations;
		bool ebs;
		bool pd;
	} rows[] = {
		{"", false, false},
		{MIGRATED(""), false, false},
		{MIGRATED("kubernetes.io/gce-pd"), false, true},
		{MIGRATED("kubernetes.io/aws-ebs, kubernetes.io/gce-pd"), true, false},
		{MIGRATED("kubernetes.io/aws-ebs,kubernetes.io/gce-pd"), true, true},
		{MIGRATED(",,kubernetes.io/gce-pd,"), false, true},
		{MIGRATED("kubernetes.io/gce-pd2"), false, false},
		{MIGRATED("Kubernetes.io/gce-pd"), false, false},
	};
	struct fixture fixture;

	init(&fixture);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		const struct bt_csi_node *node = node_with(&fixture, rows[i].annotations);

		ck_assert_msg(bt_csi_node_lists_migrated(node, BT_IN_TREE_AWS_EBS) == rows[i].ebs &&
				bt_csi_node_lists_migrated(node, BT_IN_TREE_GCE_PD) == rows[i].pd,
			"%s", rows[i].annotations);
	}
	ck_assert(!bt_csi_node_lists_migrated(NULL, BT_IN_TREE_GCE_PD));
	fixture_finish(&fixture);
}
END_TEST

BT_TEST_MAIN("csi_translation", test_csi_translation__drivers, test_csi_translation__gce_pd_handles,
	test_csi_translation__aws_ebs_handles, test_csi_translation__other_handles,
	test_csi_translation__azure_file_inline_handles,
	test_csi_translation__edge_07_24_zones_of_labels,
	test_csi_translation__edge_07_25_affinity_beats_label,
	test_csi_translation__edge_07_26_every_term, test_csi_translation__affinity_is_a_copy,
	test_csi_translation__edge_07_22_migrated_plugins)
