/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NodeVolumeLimits: volumes that count on a node. Spec: 07b section 1.10, cases 1 to 18, 32 and 33.
 */
#include "limits_fixture.h"
#include "test_main.h"

/** A pod that is filtered on n1, and the pods already on n1 (at most three). */
struct limit_row {
	const char *row;
	const char *drivers; /* NULL: no CSINode */
	const char *existing[3];
	const char *pod;
	const char *expected;
};

static void check_rows(
	const struct limit_row *rows, size_t count, void (*prepare)(struct fixture *fixture))
{
	for (size_t i = 0; i < count; i++) {
		struct fixture fixture;

		limits_fixture_init(&fixture, NULL, rows[i].drivers);
		if (prepare != NULL) {
			prepare(&fixture);
		}
		for (size_t k = 0; k < 3 && rows[i].existing[k] != NULL; k++) {
			fixture_add_pod(&fixture, rows[i].existing[k]);
		}
		fixture_expect(
			rows[i].row, fixture_filter(&fixture, rows[i].pod, "n1"), rows[i].expected);
		fixture_finish(&fixture);
	}
}

#define CONFIG "{'name':'a','configMap':{}},{'name':'b','secret':{}}"

START_TEST(test_node_volume_limits__edge_07b_01_skip)
{
	static const struct {
		const char *pod;
		const char *expected;
	} rows[] = {
		{"{}", "Skip"},
		{POD(CONFIG), "Skip"},
		{POD(CONFIG ",{'name':'c','csi':{'driver':'" EBS_DRIVER "'}}"), "Skip"},
		{POD(CONFIG ",{'name':'c','nfs':{'server':'s','path':'/'}}"), "Skip"},
		{POD(CONFIG "," CLAIM("c0")), "Success"},
		{POD(CONFIG ",{'name':'c','ephemeral':{}}"), "Success"},
		{POD(CONFIG "," INLINE_EBS("i")), "Success"},
		{POD(CONFIG ",{'name':'c','azureFile':{'secretName':'s','shareName':'t'}}"),
			"Success"},
		{POD(CONFIG ",{'name':'c','vsphereVolume':{'volumePath':'p'}}"), "Success"},
	};
	struct fixture fixture;

	limits_fixture_init(&fixture, NULL, EBS_LIMIT("1"));
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		fixture_expect(rows[i].pod, fixture_pre_filter(&fixture, rows[i].pod, NULL),
			rows[i].expected);
	}
	ck_assert_str_eq(fixture_filter_alone(&fixture, "{}", "n1"), "Success");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_node_volume_limits__edge_07b_02_sum)
{
	static const struct limit_row rows[] = {
		{"limit 4", EBS_LIMIT("4"),
			{ON_N1(CLAIM("c3")), ON_N1(CLAIM("c1") "," CLAIM("c2"))}, POD(CLAIM("c0")),
			"Success"},
		{"limit 3", EBS_LIMIT("3"),
			{ON_N1(CLAIM("c3")), ON_N1(CLAIM("c1") "," CLAIM("c2"))}, POD(CLAIM("c0")),
			TOO_MANY},
		{"limit 2", EBS_LIMIT("2"),
			{ON_N1(CLAIM("c3")), ON_N1(CLAIM("c1") "," CLAIM("c2"))}, POD(CLAIM("c0")),
			TOO_MANY},
	};

	check_rows(rows, BT_ARRAY_LENGTH(rows), NULL);
}
END_TEST

START_TEST(test_node_volume_limits__edge_07b_03_no_count)
{
	static const struct limit_row rows[] = {
		{"no allocatable", UNLIMITED(EBS_DRIVER),
			{ON_N1(CLAIM("c1")), ON_N1(CLAIM("c2")), ON_N1(CLAIM("c3"))},
			POD(CLAIM("c0")), "Success"},
		{"no count", "{'name':'" EBS_DRIVER "','allocatable':{}}",
			{ON_N1(CLAIM("c1")), ON_N1(CLAIM("c2")), ON_N1(CLAIM("c3"))},
			POD(CLAIM("c0")), "Success"},
		{"only another driver has a limit",
			UNLIMITED(EBS_DRIVER) "," LIMITED(PD_DRIVER, "0"),
			{ON_N1(CLAIM("c1")), ON_N1(CLAIM("c2")), ON_N1(CLAIM("c3"))},
			POD(CLAIM("c0")), "Success"},
		{"the last entry with a count holds",
			EBS_LIMIT("9") "," EBS_LIMIT("1") "," UNLIMITED(EBS_DRIVER),
			{ON_N1(CLAIM("c1"))}, POD(CLAIM("c0")), TOO_MANY},
		{"an earlier one does not", EBS_LIMIT("1") "," EBS_LIMIT("9"), {ON_N1(CLAIM("c1"))},
			POD(CLAIM("c0")), "Success"},
	};

	check_rows(rows, BT_ARRAY_LENGTH(rows), NULL);
}
END_TEST

#define DEDICATED "{'name':'v','azureDisk':{'diskName':'d','diskURI':'u','kind':'Dedicated'}}"
#define NOT_CONVERTED \
	"Error: converting volume(v) from inline to csi: kind(Dedicated) is not supported in csi " \
	"migration"

START_TEST(test_node_volume_limits__edge_07b_04_no_csi_node)
{
	static const struct limit_row rows[] = {
		{"claims", NULL, {ON_N1(CLAIM("c1")), ON_N1(CLAIM("c2")), ON_N1(CLAIM("c3"))},
			POD(CLAIM("c0")), "Success"},
		/* A volume that does not count is not translated either. */
		{"in-tree", NULL, {ON_N1(INLINE_EBS("i"))}, POD(DEDICATED), "Success"},
		{"in-tree, CSINode", EBS_LIMIT("1"), {NULL}, POD(DEDICATED), NOT_CONVERTED},
	};

	check_rows(rows, BT_ARRAY_LENGTH(rows), NULL);
}
END_TEST

static void put_unbound(struct fixture *fixture)
{
	put_claim(fixture, "p", "E", "1G", "");
}

START_TEST(test_node_volume_limits__edge_07b_05_unbound_claim)
{
	static const struct limit_row rows[] = {
		{"limit 3", EBS_LIMIT("3"), {ON_N1(CLAIM("p") "," CLAIM("c1") "," CLAIM("c2"))},
			POD(CLAIM("c0")), TOO_MANY},
		{"limit 2", EBS_LIMIT("2"), {ON_N1(CLAIM("p") "," CLAIM("c1") "," CLAIM("c2"))},
			POD(CLAIM("c0")), TOO_MANY},
		{"it alone", EBS_LIMIT("1"), {ON_N1(CLAIM("p"))}, POD(CLAIM("c0")), TOO_MANY},
	};

	check_rows(rows, BT_ARRAY_LENGTH(rows), put_unbound);
}
END_TEST

START_TEST(test_node_volume_limits__edge_07b_06_shared_unbound_claim)
{
	static const struct limit_row rows[] = {
		{"counted once", EBS_LIMIT("4"),
			{ON_N1(CLAIM("p")), ON_N1(CLAIM("p") "," CLAIM("c1") "," CLAIM("c2"))},
			POD(CLAIM("c0")), "Success"},
		{"limit 3", EBS_LIMIT("3"),
			{ON_N1(CLAIM("p")), ON_N1(CLAIM("p") "," CLAIM("c1") "," CLAIM("c2"))},
			POD(CLAIM("c0")), TOO_MANY},
		{"the same claim again", EBS_LIMIT("1"), {ON_N1(CLAIM("p"))}, POD(CLAIM("p")),
			"Success"},
		{"that name in another namespace is another claim", EBS_LIMIT("1"),
			{"{'metadata':{'namespace':'other'},'spec':{'nodeName':'n1','volumes':"
			 "[" CLAIM("p") "]}}"},
			POD(CLAIM("p")), TOO_MANY},
	};

	check_rows(rows, 3, put_unbound);
	for (int with_other = 0; with_other < 2; with_other++) {
		struct fixture fixture;

		limits_fixture_init(&fixture, NULL, EBS_LIMIT("1"));
		put_unbound(&fixture);
		if (with_other != 0) {
			put_claim(&fixture, "p", "E", "1G", ",'metadata':{'namespace':'other'}");
		}
		fixture_add_pod(&fixture, rows[3].existing[0]);
		fixture_expect(rows[3].row, fixture_filter(&fixture, rows[3].pod, "n1"),
			with_other != 0 ? TOO_MANY : "Success");
		fixture_finish(&fixture);
	}
}
END_TEST

static void put_dangling(struct fixture *fixture)
{
	put_claim(fixture, "dangling", "E", "1G", ",'spec':{'volumeName':'missing'}");
	put_claim(fixture, "lost", "", "1G", ",'spec':{'volumeName':'missing'}");
}

START_TEST(test_node_volume_limits__edge_07b_07_volume_missing)
{
	static const struct limit_row rows[] = {
		{"limit 2", EBS_LIMIT("2"), {ON_N1(CLAIM("dangling") "," CLAIM("c1"))},
			POD(CLAIM("c0")), TOO_MANY},
		{"limit 3", EBS_LIMIT("3"), {ON_N1(CLAIM("dangling") "," CLAIM("c1"))},
			POD(CLAIM("c0")), "Success"},
		{"no class to count it by", EBS_LIMIT("2"), {ON_N1(CLAIM("lost") "," CLAIM("c1"))},
			POD(CLAIM("c0")), "Success"},
	};

	check_rows(rows, BT_ARRAY_LENGTH(rows), put_dangling);
}
END_TEST

static void put_unknown(struct fixture *fixture)
{
	put_claim(fixture, "bare", "", "1G", "");
	put_claim(fixture, "stray", "none", "1G", "");
}

START_TEST(test_node_volume_limits__edge_07b_08_no_class)
{
	static const struct limit_row rows[] = {
		{"neither counts", EBS_LIMIT("2"),
			{ON_N1(CLAIM("bare") "," CLAIM("stray") "," CLAIM("c1"))}, POD(CLAIM("c0")),
			"Success"},
		{"nor in the new pod", EBS_LIMIT("0"), {NULL},
			POD(CLAIM("bare") "," CLAIM("stray")), "Success"},
	};

	check_rows(rows, BT_ARRAY_LENGTH(rows), put_unknown);
}
END_TEST

#define CSI(driver, handle) "'csi':{'driver':'" driver "','volumeHandle':'" handle "'}"

static void put_disks(struct fixture *fixture)
{
	put_sourced(fixture, "g0", CSI(PD_DRIVER, "g0"));
	put_sourced(fixture, "g1", CSI(PD_DRIVER, "g1"));
	put_sourced(fixture, "g2", CSI(PD_DRIVER, "g2"));
}

START_TEST(test_node_volume_limits__edge_07b_09_independent_drivers)
{
	static const struct limit_row rows[] = {
		{"two disks", EBS_LIMIT("2") "," LIMITED(PD_DRIVER, "2"),
			{ON_N1(CLAIM("c1") "," CLAIM("c2")), ON_N1(CLAIM("c3"))},
			POD(CLAIM("c-g0") "," CLAIM("c-g1")), "Success"},
		{"three disks", EBS_LIMIT("2") "," LIMITED(PD_DRIVER, "2"),
			{ON_N1(CLAIM("c1") "," CLAIM("c2")), ON_N1(CLAIM("c3"))},
			POD(CLAIM("c-g0") "," CLAIM("c-g1") "," CLAIM("c-g2")), TOO_MANY},
		{"one driver is enough to reject", LIMITED(PD_DRIVER, "2") "," EBS_LIMIT("2"),
			{ON_N1(CLAIM("c1") "," CLAIM("c2"))}, POD(CLAIM("c-g0") "," CLAIM("c0")),
			TOO_MANY},
	};

	check_rows(rows, BT_ARRAY_LENGTH(rows), put_disks);
}
END_TEST

#define EBS_SOURCE(id) "'awsElasticBlockStore':{'volumeID':'" id "'}"

static void put_in_tree(struct fixture *fixture)
{
	put_sourced(fixture, "t0", EBS_SOURCE("vol-0"));
	put_sourced(fixture, "t1", EBS_SOURCE("vol-1"));
	put_sourced(fixture, "t2", EBS_SOURCE("aws://us-west-2a/vol-2"));
	put_sourced(fixture, "same", CSI(EBS_DRIVER, "vol-2"));
	put_sourced(fixture, "broken", EBS_SOURCE("aws://us-west-2a/0239"));
	put_sourced(fixture, "empty", CSI(EBS_DRIVER, ""));
}

START_TEST(test_node_volume_limits__edge_07b_10_in_tree_volumes)
{
	static const struct limit_row rows[] = {
		{"limit 2", EBS_LIMIT("2"), {ON_N1(CLAIM("c-t1") "," CLAIM("c-t2"))},
			POD(CLAIM("c-t0")), TOO_MANY},
		{"limit 3", EBS_LIMIT("3"), {ON_N1(CLAIM("c-t1") "," CLAIM("c-t2"))},
			POD(CLAIM("c-t0")), "Success"},
		{"in-tree and CSI volume of one handle", EBS_LIMIT("1"), {ON_N1(CLAIM("c-t2"))},
			POD(CLAIM("c-same")), "Success"},
		{"what does not translate does not count", EBS_LIMIT("0"), {NULL},
			POD(CLAIM("c-broken")), "Success"},
		{"nor does a claim without handle", EBS_LIMIT("0"), {NULL}, POD(CLAIM("c-empty")),
			"Success"},
		{"an inline volume does", EBS_LIMIT("0"), {NULL}, POD(INLINE_EBS("")), TOO_MANY},
	};

	check_rows(rows, BT_ARRAY_LENGTH(rows), put_in_tree);
}
END_TEST

static void put_in_tree_class(struct fixture *fixture)
{
	put_class(fixture, "ebs", "kubernetes.io/aws-ebs", "Immediate", "");
	put_claim(fixture, "p", "ebs", "1G", "");
}

START_TEST(test_node_volume_limits__edge_07b_11_in_tree_provisioner)
{
	static const struct limit_row rows[] = {
		{"new", EBS_LIMIT("2"), {ON_N1(CLAIM("c1") "," CLAIM("c2"))}, POD(CLAIM("p")),
			TOO_MANY},
		{"existing", EBS_LIMIT("2"), {ON_N1(CLAIM("p") "," CLAIM("c2"))}, POD(CLAIM("c0")),
			TOO_MANY},
		{"limit 3", EBS_LIMIT("3"), {ON_N1(CLAIM("p") "," CLAIM("c2"))}, POD(CLAIM("c0")),
			"Success"},
	};

	check_rows(rows, BT_ARRAY_LENGTH(rows), put_in_tree_class);
}
END_TEST

static void put_others(struct fixture *fixture)
{
	put_sourced(fixture, "host", "'hostPath':{'path':'/'}");
	put_sourced(fixture, "file", "'azureFile':{'secretName':'s','shareName':'t'}");
	put_sourced(fixture, "vmdk", "'vsphereVolume':{'volumePath':'p'}");
	put_class(fixture, "file", "kubernetes.io/azure-file", "Immediate", "");
	put_claim(fixture, "unbound", "file", "1G", "");
}

START_TEST(test_node_volume_limits__edge_07b_12_not_counted)
{
	static const char drivers[] = EBS_LIMIT("0") "," LIMITED(
		"file.csi.azure.com", "0") "," LIMITED("csi.vsphere.vmware.com", "0");
	static const struct limit_row rows[] = {
		{"hostPath", drivers, {NULL}, POD(CLAIM("c-host")), "Success"},
		{"azure file", drivers, {NULL}, POD(CLAIM("c-file")), "Success"},
		{"vsphere", drivers, {NULL}, POD(CLAIM("c-vmdk")), "Success"},
		{"azure file by class", drivers, {NULL}, POD(CLAIM("unbound")), "Success"},
		{"azure file inline", drivers, {NULL},
			POD("{'name':'v','azureFile':{'secretName':'s','shareName':'t'}}"),
			"Success"},
		{"vsphere inline with a policy", drivers, {NULL},
			POD("{'name':'v','vsphereVolume':{'volumePath':'p','storagePolicyName':"
			    "'q'}}"),
			"Success"},
	};

	check_rows(rows, BT_ARRAY_LENGTH(rows), put_others);
}
END_TEST

START_TEST(test_node_volume_limits__edge_07b_13_inline_volumes)
{
	static const struct limit_row rows[] = {
		{"third", EBS_LIMIT("2"), {ON_N1(CLAIM("c1") "," CLAIM("c2"))},
			POD(INLINE_EBS("aws-inline1")), TOO_MANY},
		{"handle of a volume on the node", EBS_LIMIT("2"),
			{ON_N1(CLAIM("c1") "," CLAIM("c2"))}, POD(INLINE_EBS("h-e1")), "Success"},
		{"inline on the node", EBS_LIMIT("2"),
			{ON_N1(INLINE_EBS("i1")), ON_N1(INLINE_EBS("i2"))}, POD(CLAIM("c0")),
			TOO_MANY},
	};

	check_rows(rows, BT_ARRAY_LENGTH(rows), NULL);
}
END_TEST

static void attach(struct fixture *fixture, const char *volume)
{
	struct bt_str source =
		bt_arena_printf(&fixture->arena, "'persistentVolumeName':'%s'", volume);

	put_attachment(fixture, volume, EBS_DRIVER, source.data);
}

static void attach_e0(struct fixture *fixture)
{
	attach(fixture, "e0");
}

static void attach_e0_and_e1(struct fixture *fixture)
{
	attach(fixture, "e0");
	attach(fixture, "e1");
}

START_TEST(test_node_volume_limits__edge_07b_14_attached)
{
	static const struct limit_row both[] = {
		{"two attached", EBS_LIMIT("2"), {NULL}, POD(CLAIM("c0")), TOO_MANY},
		{"limit 3", EBS_LIMIT("3"), {NULL}, POD(CLAIM("c0")), "Success"},
	};
	static const struct limit_row one[] = {
		{"its own", EBS_LIMIT("2"), {NULL}, POD(CLAIM("c0")), "Success"},
		{"counts twice", EBS_LIMIT("1"), {NULL}, POD(CLAIM("c0")), TOO_MANY},
	};
	struct fixture fixture;

	check_rows(both, BT_ARRAY_LENGTH(both), attach_e0_and_e1);
	check_rows(one, BT_ARRAY_LENGTH(one), attach_e0);

	/* VolumeAttachments change between two cycles; attachments of other nodes do not count. */
	limits_fixture_init(&fixture, NULL, EBS_LIMIT("1"));
	ck_assert_str_eq(fixture_filter(&fixture, POD(CLAIM("c0")), "n1"), "Success");
	attach(&fixture, "e1");
	ck_assert_str_eq(fixture_filter(&fixture, POD(CLAIM("c0")), "n1"), TOO_MANY);
	put_csi_node(&fixture, "n2", NULL, EBS_LIMIT("1"));
	ck_assert_str_eq(fixture_filter(&fixture, POD(CLAIM("c0")), "n2"), "Success");
	fixture_delete(&fixture, BT_KIND_VOLUME_ATTACHMENT, "", "e1");
	ck_assert_str_eq(fixture_filter(&fixture, POD(CLAIM("c0")), "n1"), "Success");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_node_volume_limits__edge_07b_15_attached_and_used)
{
	static const struct limit_row rows[] = {
		{"e1 is one volume", EBS_LIMIT("3"), {ON_N1(CLAIM("c1"))}, POD(CLAIM("c2")),
			"Success"},
		{"limit 2", EBS_LIMIT("2"), {ON_N1(CLAIM("c1"))}, POD(CLAIM("c2")), TOO_MANY},
		{"all used", EBS_LIMIT("3"), {ON_N1(CLAIM("c0") "," CLAIM("c1"))}, POD(CLAIM("c2")),
			"Success"},
	};

	check_rows(rows, BT_ARRAY_LENGTH(rows), attach_e0_and_e1);
}
END_TEST

static void attach_oddly(struct fixture *fixture)
{
	put_sourced(fixture, "tree", EBS_SOURCE("vol-9"));
	put_attachment(fixture, "gone", EBS_DRIVER, "'persistentVolumeName':'no-such-volume'");
	put_attachment(fixture, "tree", EBS_DRIVER, "'persistentVolumeName':'tree'");
	put_attachment(fixture, "inline", EBS_DRIVER,
		"'inlineVolumeSpec':{" CSI(EBS_DRIVER, "h") ",'accessModes':['ReadWriteOnce']}");
	put_attachment(fixture, "nobody", "", "'persistentVolumeName':'e1'");
}

static void attach_to_another(struct fixture *fixture)
{
	put_attachment(fixture, "other", PD_DRIVER, "'persistentVolumeName':'e1'");
}

START_TEST(test_node_volume_limits__edge_07b_16_attachments_not_counted)
{
	static const struct limit_row odd[] = {
		{"none counts", EBS_LIMIT("1"), {NULL}, POD(CLAIM("c0")), "Success"},
	};
	static const struct limit_row other[] = {
		{"the attacher's count", EBS_LIMIT("1"), {NULL}, POD(CLAIM("c0")), "Success"},
	};

	check_rows(odd, BT_ARRAY_LENGTH(odd), attach_oddly);
	check_rows(other, BT_ARRAY_LENGTH(other), attach_to_another);
}
END_TEST

START_TEST(test_node_volume_limits__edge_07b_17_used_again)
{
	static const struct limit_row rows[] = {
		{"full", EBS_LIMIT("2"), {ON_N1(CLAIM("c1") "," CLAIM("c2"))}, POD(CLAIM("c1")),
			"Success"},
		{"over the limit", EBS_LIMIT("1"), {ON_N1(CLAIM("c1") "," CLAIM("c2"))},
			POD(CLAIM("c1") "," CLAIM("c2")), "Success"},
		{"one new", EBS_LIMIT("2"), {ON_N1(CLAIM("c1") "," CLAIM("c2"))},
			POD(CLAIM("c1") "," CLAIM("c0")), TOO_MANY},
	};

	check_rows(rows, BT_ARRAY_LENGTH(rows), NULL);
}
END_TEST

START_TEST(test_node_volume_limits__edge_07b_18_limit_zero)
{
	static const struct limit_row rows[] = {
		{"one", EBS_LIMIT("0"), {NULL}, POD(CLAIM("c0")), TOO_MANY},
		{"none", EBS_LIMIT("0"), {NULL}, POD(CLAIM("c-g0")), "Success"},
		{"none while others are there", EBS_LIMIT("0"), {ON_N1(CLAIM("c1"))},
			POD(CLAIM("c-g0")), "Success"},
		{"no volumes", EBS_LIMIT("0"), {NULL}, "{}", "Skip"},
	};

	check_rows(rows, BT_ARRAY_LENGTH(rows), put_disks);
}
END_TEST

static void put_twin(struct fixture *fixture)
{
	put_sourced(fixture, "twin", CSI(EBS_DRIVER, "h-e0"));
}

START_TEST(test_node_volume_limits__edge_07b_32_listed_twice)
{
	static const struct limit_row rows[] = {
		{"one claim", EBS_LIMIT("1"), {NULL}, POD(CLAIM("c0") "," CLAIM("c0")), "Success"},
		{"two claims of one handle", EBS_LIMIT("1"), {NULL},
			POD(CLAIM("c0") "," CLAIM("c-twin")), "Success"},
		{"claim and inline", EBS_LIMIT("1"), {NULL},
			POD(CLAIM("c0") "," INLINE_EBS("h-e0")), "Success"},
		{"two volumes", EBS_LIMIT("1"), {NULL}, POD(CLAIM("c0") "," CLAIM("c1")), TOO_MANY},
	};

	check_rows(rows, BT_ARRAY_LENGTH(rows), put_twin);
}
END_TEST

static void put_zonal(struct fixture *fixture)
{
	put_sourced(fixture, "zonal",
		"'gcePersistentDisk':{'pdName':'d'}},'metadata':{'labels':"
		"{'topology.kubernetes.io/zone':'z'}");
	put_sourced(fixture, "plain", "'gcePersistentDisk':{'pdName':'d'}");
}

START_TEST(test_node_volume_limits__edge_07b_33_zonal_disk)
{
	static const struct limit_row rows[] = {
		{"inline and zonal", LIMITED(PD_DRIVER, "1"), {ON_N1(CLAIM("c-zonal"))},
			POD(INLINE_PD("d")), TOO_MANY},
		{"both new", LIMITED(PD_DRIVER, "1"), {NULL},
			POD(INLINE_PD("d") "," CLAIM("c-zonal")), TOO_MANY},
		{"inline and without zone", LIMITED(PD_DRIVER, "1"), {ON_N1(CLAIM("c-plain"))},
			POD(INLINE_PD("d")), "Success"},
	};

	check_rows(rows, BT_ARRAY_LENGTH(rows), put_zonal);
}
END_TEST

/** Users may write pods with any number of volumes: the time must stay linear. */
START_TEST(test_node_volume_limits__many_volumes)
{
	struct bt_strbuf volumes = {0};
	struct fixture fixture;
	const char *pod;

	limits_fixture_init(&fixture, NULL, EBS_LIMIT("20000"));
	for (int i = 0; i < 20000; i++) {
		bt_strbuf_printf(&volumes,
			"%s{'name':'v','awsElasticBlockStore':{'volumeID':'i%d'}}",
			i != 0 ? "," : "", i);
	}
	pod = bt_arena_printf(&fixture.arena, "{'spec':{'volumes':[%s]}}", bt_strbuf_c(&volumes))
		      .data;
	ck_assert_str_eq(fixture_filter(&fixture, pod, "n1"), "Success");
	fixture_add_pod(&fixture, ON_N1(CLAIM("c0")));
	ck_assert_str_eq(fixture_filter(&fixture, pod, "n1"), TOO_MANY);
	bt_strbuf_finish(&volumes);
	fixture_finish(&fixture);
}
END_TEST

BT_TEST_MAIN("node_volume_limits", test_node_volume_limits__edge_07b_01_skip,
	test_node_volume_limits__edge_07b_02_sum, test_node_volume_limits__edge_07b_03_no_count,
	test_node_volume_limits__edge_07b_04_no_csi_node,
	test_node_volume_limits__edge_07b_05_unbound_claim,
	test_node_volume_limits__edge_07b_06_shared_unbound_claim,
	test_node_volume_limits__edge_07b_07_volume_missing,
	test_node_volume_limits__edge_07b_08_no_class,
	test_node_volume_limits__edge_07b_09_independent_drivers,
	test_node_volume_limits__edge_07b_10_in_tree_volumes,
	test_node_volume_limits__edge_07b_11_in_tree_provisioner,
	test_node_volume_limits__edge_07b_12_not_counted,
	test_node_volume_limits__edge_07b_13_inline_volumes,
	test_node_volume_limits__edge_07b_14_attached,
	test_node_volume_limits__edge_07b_15_attached_and_used,
	test_node_volume_limits__edge_07b_16_attachments_not_counted,
	test_node_volume_limits__edge_07b_17_used_again,
	test_node_volume_limits__edge_07b_18_limit_zero,
	test_node_volume_limits__edge_07b_32_listed_twice,
	test_node_volume_limits__edge_07b_33_zonal_disk, test_node_volume_limits__many_volumes)
