/* SPDX-License-Identifier: Apache-2.0 */
/* NodeVolumeLimits: claims that fail, drivers that are not installed, hints. Spec: 07b section
 * 1.10, cases 19 to 31. */
#include "limits_fixture.h"
#include "test_main.h"

#define EPHEMERAL_OF(pod, uid, node, volumes) \
	"{'metadata':{'name':'" pod "','uid':'" uid "'},'spec':{" node "'volumes':[" volumes "]}}"
#define EPHEMERAL(name) "{'name':'" name "','ephemeral':{}}"
#define OWNED_BY(uid) ",'metadata':{'ownerReferences':[{'controller':true,'uid':'" uid "'}]}"
#define IN_TEST(volumes) \
	"{'metadata':{'namespace':'test','name':'abc','uid':'u1'},'spec':{'volumes':[" volumes "]" \
	"}" \
	"}"

START_TEST(test_node_volume_limits__edge_07b_19_new_claim_missing)
{
	struct fixture fixture;

	limits_fixture_init(&fixture, NULL, NULL);
	ck_assert_str_eq(fixture_filter(&fixture, IN_TEST(EPHEMERAL("xyz")), "n1"),
		"UnschedulableAndUnresolvable: looking up PVC test/abc-xyz: persistentvolumeclaim "
		"\"abc-xyz\" not found");
	ck_assert_str_eq(fixture_filter(&fixture, IN_TEST(CLAIM("c0")), "n1"),
		"UnschedulableAndUnresolvable: looking up PVC test/c0: persistentvolumeclaim "
		"\"c0\" not found");
	fixture_finish(&fixture);
}
END_TEST

#define NOT_OWNER "Error: PVC test/abc-xyz was not created for pod test/abc (pod is not owner)"

START_TEST(test_node_volume_limits__edge_07b_20_claim_of_another_pod)
{
	struct fixture fixture;

	limits_fixture_init(&fixture, NULL, NULL);
	put_claim(&fixture, "abc-xyz", "E", "1G", ",'metadata':{'namespace':'test'}");
	ck_assert_str_eq(fixture_filter(&fixture, IN_TEST(EPHEMERAL("xyz")), "n1"), NOT_OWNER);
	put_claim(
		&fixture, "abc-xyz", "E", "1G", ",'metadata':{'namespace':'test'}" OWNED_BY("u2"));
	ck_assert_str_eq(fixture_filter(&fixture, IN_TEST(EPHEMERAL("xyz")), "n1"), NOT_OWNER);

	/* The claims of an existing pod are checked only if the node has a limit. */
	fixture_add_pod(&fixture,
		"{'metadata':{'namespace':'test','name':'abc','uid':'u1'},'spec':{'nodeName':'n1',"
		"'volumes':[" EPHEMERAL("xyz") "]}}");
	ck_assert_str_eq(fixture_filter(&fixture, POD(CLAIM("c0")), "n1"), "Success");
	put_csi_node(&fixture, "n1", NULL, EBS_LIMIT("9"));
	ck_assert_str_eq(fixture_filter(&fixture, POD(CLAIM("c0")), "n1"), NOT_OWNER);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_node_volume_limits__edge_07b_21_new_ephemeral)
{
	struct fixture fixture;

	limits_fixture_init(&fixture, NULL, EBS_LIMIT("2"));
	put_claim(&fixture, "p-x", "E", "1G", OWNED_BY("u1"));
	fixture_add_pod(&fixture, ON_N1(CLAIM("c1") "," CLAIM("c2") "," CLAIM("c3")));
	ck_assert_str_eq(fixture_filter(&fixture, POD(EPHEMERAL("x")), "n1"), TOO_MANY);
	put_csi_node(&fixture, "n1", NULL, EBS_LIMIT("4"));
	ck_assert_str_eq(fixture_filter(&fixture, POD(EPHEMERAL("x")), "n1"), "Success");
	put_csi_node(&fixture, "n1", NULL, UNLIMITED(EBS_DRIVER));
	ck_assert_str_eq(fixture_filter(&fixture, POD(EPHEMERAL("x")), "n1"), "Success");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_node_volume_limits__edge_07b_22_existing_ephemeral)
{
	static const char existing[] = EPHEMERAL_OF(
		"old", "u9", "'nodeName':'n1',", EPHEMERAL("a") "," EPHEMERAL("b") "," CLAIM("c3"));
	struct fixture fixture;

	limits_fixture_init(&fixture, NULL, EBS_LIMIT("2"));
	put_claim(&fixture, "old-a", "E", "1G", OWNED_BY("u9"));
	put_claim(&fixture, "old-b", "E", "1G", OWNED_BY("u9"));
	fixture_add_pod(&fixture, existing);
	ck_assert_str_eq(fixture_filter(&fixture, POD(CLAIM("c0")), "n1"), TOO_MANY);
	put_csi_node(&fixture, "n1", NULL, EBS_LIMIT("3"));
	ck_assert_str_eq(fixture_filter(&fixture, POD(CLAIM("c0")), "n1"), TOO_MANY);
	put_csi_node(&fixture, "n1", NULL, EBS_LIMIT("4"));
	ck_assert_str_eq(fixture_filter(&fixture, POD(CLAIM("c0")), "n1"), "Success");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_node_volume_limits__edge_07b_23_no_claim_name)
{
	struct fixture fixture;

	limits_fixture_init(&fixture, NULL, EBS_LIMIT("2"));
	ck_assert_str_eq(fixture_filter(&fixture, POD(CLAIM("")), "n1"),
		"Error: PersistentVolumeClaim had no name");
	fixture_add_pod(&fixture, ON_N1(CLAIM("")));
	ck_assert_str_eq(fixture_filter(&fixture, POD(CLAIM("c0")), "n1"),
		"Error: PersistentVolumeClaim had no name");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_node_volume_limits__edge_07b_24_existing_claim_missing)
{
	struct fixture fixture;

	limits_fixture_init(&fixture, NULL, EBS_LIMIT("2"));
	fixture_add_pod(&fixture, ON_N1(CLAIM("missing") "," CLAIM("c1")));
	fixture_add_pod(
		&fixture, EPHEMERAL_OF("old", "u9", "'nodeName':'n1',", EPHEMERAL("missing")));
	ck_assert_str_eq(fixture_filter(&fixture, POD(CLAIM("c0")), "n1"), "Success");
	ck_assert_str_eq(
		fixture_filter(&fixture, POD(CLAIM("c0") "," CLAIM("c2")), "n1"), TOO_MANY);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_node_volume_limits__edge_07b_25_inline_does_not_translate)
{
	static const char dedicated[] =
		ON_N1("{'name':'disk','azureDisk':{'diskName':'d','diskURI':'u','kind':'Dedicated'}"
		      "}");
	struct fixture fixture;

	limits_fixture_init(&fixture, NULL, EBS_LIMIT("9"));
	fixture_add_pod(&fixture, dedicated);
	ck_assert_str_eq(fixture_filter(&fixture, POD(CLAIM("c0")), "n1"),
		"Error: converting volume(disk) from inline to csi: kind(Dedicated) is not "
		"supported in csi migration");
	put_csi_node(&fixture, "n1", NULL, UNLIMITED(EBS_DRIVER));
	fixture_expect("no limits, no counting", fixture_filter(&fixture, POD(CLAIM("c0")), "n1"),
		"Success");
	fixture_finish(&fixture);
}
END_TEST

#define SCALING "VolumeLimitScaling=true"
#define NOT_INSTALLED "Unschedulable: " EBS_DRIVER " CSI driver is not installed on the node"

static void put_driver(struct fixture *fixture, const char *name, const char *spec)
{
	struct bt_str json = bt_arena_printf(&fixture->arena,
		"{'apiVersion':'storage.k8s.io/v1','kind':'CSIDriver','metadata':{'name':'%s'},"
		"'spec':{%s}}",
		name, spec);

	fixture_put(fixture, json.data);
}

#define PREVENT "'preventPodSchedulingIfMissing':true"

START_TEST(test_node_volume_limits__edge_07b_26_driver_not_installed)
{
	struct fixture fixture;

	limits_fixture_init(&fixture, SCALING, LIMITED(PD_DRIVER, "5"));
	fixture_expect("no CSIDriver", fixture_filter(&fixture, POD(CLAIM("c0")), "n1"), "Success");
	put_driver(&fixture, EBS_DRIVER, "");
	fixture_expect("unset", fixture_filter(&fixture, POD(CLAIM("c0")), "n1"), "Success");
	put_driver(&fixture, EBS_DRIVER, "'preventPodSchedulingIfMissing':false");
	fixture_expect("false", fixture_filter(&fixture, POD(CLAIM("c0")), "n1"), "Success");
	put_driver(&fixture, EBS_DRIVER, PREVENT);
	fixture_expect("true", fixture_filter(&fixture, POD(CLAIM("c0")), "n1"), NOT_INSTALLED);
	/* If several drivers are missing, the message has the smallest name. */
	put_driver(&fixture, "a.example.com", PREVENT);
	put_sourced(&fixture, "a", "'csi':{'driver':'a.example.com','volumeHandle':'h'}");
	fixture_expect("two missing",
		fixture_filter(&fixture, POD(CLAIM("c0") "," CLAIM("c-a")), "n1"),
		"Unschedulable: a.example.com CSI driver is not installed on the node");
	fixture_finish(&fixture);

	limits_fixture_init(&fixture, NULL, LIMITED(PD_DRIVER, "5"));
	put_driver(&fixture, EBS_DRIVER, PREVENT);
	fixture_expect("gate off", fixture_filter(&fixture, POD(CLAIM("c0")), "n1"), "Success");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_node_volume_limits__edge_07b_27_driver_installed)
{
	struct fixture fixture;

	limits_fixture_init(&fixture, SCALING, EBS_LIMIT("2"));
	put_driver(&fixture, EBS_DRIVER, PREVENT);
	ck_assert_str_eq(fixture_filter(&fixture, POD(CLAIM("c0")), "n1"), "Success");
	fixture_add_pod(&fixture, ON_N1(CLAIM("c1") "," CLAIM("c2")));
	ck_assert_str_eq(fixture_filter(&fixture, POD(CLAIM("c0")), "n1"), TOO_MANY);
	put_csi_node(&fixture, "n1", NULL, UNLIMITED(EBS_DRIVER));
	ck_assert_str_eq(fixture_filter(&fixture, POD(CLAIM("c0")), "n1"), "Success");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_node_volume_limits__edge_07b_28_no_csi_node)
{
	struct fixture fixture;

	limits_fixture_init(&fixture, SCALING, NULL);
	put_driver(&fixture, EBS_DRIVER, PREVENT);
	ck_assert_str_eq(fixture_filter(&fixture, POD(CLAIM("c0")), "n1"), NOT_INSTALLED);
	/* Without a CSINode an in-tree volume is not counted for the CSI driver. */
	ck_assert_str_eq(fixture_filter(&fixture, POD(INLINE_EBS("i")), "n1"), "Success");
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

#define CSI_NODE(drivers) "{'metadata':{'name':'n1'},'spec':{'drivers':[" drivers "]}}"

START_TEST(test_node_volume_limits__edge_07b_29_hint_csi_node)
{
	static const struct {
		const char *row;
		const char *old_json;
		const char *new_json;
		enum fixture_hint expected;
	} rows[] = {
		{"1 to 2", CSI_NODE(EBS_LIMIT("1")), CSI_NODE(EBS_LIMIT("2")), FIXTURE_QUEUE},
		{"2 to 1", CSI_NODE(EBS_LIMIT("2")), CSI_NODE(EBS_LIMIT("1")), FIXTURE_SKIP},
		{"1 to 1", CSI_NODE(EBS_LIMIT("1")), CSI_NODE(EBS_LIMIT("1")), FIXTURE_SKIP},
		{"unset to 1", CSI_NODE(UNLIMITED(EBS_DRIVER)), CSI_NODE(EBS_LIMIT("1")),
			FIXTURE_QUEUE},
		{"no entry to 5", CSI_NODE(""), CSI_NODE(EBS_LIMIT("5")), FIXTURE_QUEUE},
		{"2 to unset", CSI_NODE(EBS_LIMIT("2")), CSI_NODE(UNLIMITED(EBS_DRIVER)),
			FIXTURE_SKIP},
		{"a driver without count", CSI_NODE(""), CSI_NODE(UNLIMITED(EBS_DRIVER)),
			FIXTURE_SKIP},
		{"one of two grows", CSI_NODE(EBS_LIMIT("2") "," LIMITED(PD_DRIVER, "1")),
			CSI_NODE(EBS_LIMIT("1") "," LIMITED(PD_DRIVER, "2")), FIXTURE_QUEUE},
	};
	struct fixture fixture;

	limits_fixture_init(&fixture, NULL, NULL);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		expect_hint(&fixture, rows[i].row, "CSINode", BT_ACTION_UPDATE, POD(CLAIM("c0")),
			rows[i].old_json, rows[i].new_json, rows[i].expected);
	}
	expect_hint(&fixture, "added", "CSINode", BT_ACTION_ADD, POD(CLAIM("c0")), NULL,
		CSI_NODE(""), FIXTURE_QUEUE);
	expect_hint(&fixture, "deleted", "CSINode", BT_ACTION_DELETE, POD(CLAIM("c0")),
		CSI_NODE(""), NULL, FIXTURE_NOT_REGISTERED);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_node_volume_limits__edge_07b_30_hint_pod_deleted)
{
	static const struct {
		const char *row;
		const char *deleted;
		enum fixture_hint expected;
	} rows[] = {
		{"claim", ON_N1(CLAIM("c1")), FIXTURE_QUEUE},
		{"claim, on no node", POD(CLAIM("c1")), FIXTURE_SKIP},
		{"claim, nominated",
			"{'spec':{'volumes':[" CLAIM(
				"c1") "]},'status':{'nominatedNodeName':'n1'}}",
			FIXTURE_QUEUE},
		{"inline EBS", ON_N1(INLINE_EBS("i")), FIXTURE_QUEUE},
		{"inline EBS, on no node", POD(INLINE_EBS("i")), FIXTURE_SKIP},
		{"ephemeral", ON_N1(EPHEMERAL("x")), FIXTURE_QUEUE},
		{"no volumes", "{'spec':{'nodeName':'n1'}}", FIXTURE_SKIP},
		{"nothing that counts", ON_N1("{'name':'v','emptyDir':{}}"), FIXTURE_SKIP},
	};
	struct fixture fixture;

	limits_fixture_init(&fixture, NULL, NULL);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		expect_hint(&fixture, rows[i].row, "Pod", BT_ACTION_DELETE, POD(CLAIM("c0")),
			rows[i].deleted, NULL, rows[i].expected);
	}
	fixture_finish(&fixture);
}
END_TEST

#define ATTACHMENT(attacher) "{'spec':{'attacher':'" attacher "','nodeName':'n1'}}"

START_TEST(test_node_volume_limits__edge_07b_31_hint_attachment_deleted)
{
	static const struct {
		const char *row;
		const char *pod;
		enum fixture_hint expected;
	} rows[] = {
		{"inline EBS", POD(INLINE_EBS("i")), FIXTURE_QUEUE},
		{"inline disk of another driver", POD(INLINE_PD("d")), FIXTURE_SKIP},
		{"the second volume", POD(INLINE_PD("d") "," INLINE_EBS("i")), FIXTURE_QUEUE},
		{"any claim", POD(CLAIM("c0")), FIXTURE_QUEUE},
		{"no volumes", "{}", FIXTURE_SKIP},
		{"ephemeral", POD(EPHEMERAL("x")), FIXTURE_SKIP},
		{"not migratable", POD("{'name':'v','emptyDir':{}}"), FIXTURE_SKIP},
	};
	const char *error = NULL;
	struct fixture fixture;

	limits_fixture_init(&fixture, NULL, NULL);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		expect_hint(&fixture, rows[i].row, "VolumeAttachment", BT_ACTION_DELETE,
			rows[i].pod, ATTACHMENT(EBS_DRIVER), NULL, rows[i].expected);
	}
	expect_hint(&fixture, "azure file", "VolumeAttachment", BT_ACTION_DELETE,
		POD("{'name':'v','azureFile':{'secretName':'s','shareName':'t'}}"),
		ATTACHMENT("file.csi.azure.com"), NULL, FIXTURE_QUEUE);
	ck_assert_int_eq(fixture_hint(&fixture, "VolumeAttachment", BT_ACTION_DELETE,
				 fixture_pending(&fixture,
					 POD("{'name':'v','azureDisk':{'kind':'Dedicated'}}")),
				 ATTACHMENT(EBS_DRIVER), NULL, &error),
		FIXTURE_QUEUE);
	ck_assert_str_eq(error, "kind(Dedicated) is not supported in csi migration");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_node_volume_limits__hint_claim_added)
{
	struct fixture fixture;

	limits_fixture_init(&fixture, NULL, NULL);
	expect_hint(&fixture, "own", "PersistentVolumeClaim", BT_ACTION_ADD, POD(CLAIM("c")), NULL,
		"{'metadata':{'name':'c'}}", FIXTURE_QUEUE);
	expect_hint(&fixture, "another", "PersistentVolumeClaim", BT_ACTION_ADD, POD(CLAIM("c")),
		NULL, "{'metadata':{'name':'d'}}", FIXTURE_SKIP);
	expect_hint(&fixture, "other namespace", "PersistentVolumeClaim", BT_ACTION_ADD,
		POD(CLAIM("c")), NULL, "{'metadata':{'name':'c','namespace':'other'}}",
		FIXTURE_SKIP);
	expect_hint(&fixture, "ephemeral", "PersistentVolumeClaim", BT_ACTION_ADD,
		POD(EPHEMERAL("x")), NULL, "{'metadata':{'name':'p-x'}}", FIXTURE_QUEUE);
	expect_hint(&fixture, "changed", "PersistentVolumeClaim", BT_ACTION_UPDATE, POD(CLAIM("c")),
		"{'metadata':{'name':'c'}}", "{'metadata':{'name':'c'}}", FIXTURE_NOT_REGISTERED);
	fixture_finish(&fixture);
}
END_TEST

BT_TEST_MAIN("node_volume_limits_errors", test_node_volume_limits__edge_07b_19_new_claim_missing,
	test_node_volume_limits__edge_07b_20_claim_of_another_pod,
	test_node_volume_limits__edge_07b_21_new_ephemeral,
	test_node_volume_limits__edge_07b_22_existing_ephemeral,
	test_node_volume_limits__edge_07b_23_no_claim_name,
	test_node_volume_limits__edge_07b_24_existing_claim_missing,
	test_node_volume_limits__edge_07b_25_inline_does_not_translate,
	test_node_volume_limits__edge_07b_26_driver_not_installed,
	test_node_volume_limits__edge_07b_27_driver_installed,
	test_node_volume_limits__edge_07b_28_no_csi_node,
	test_node_volume_limits__edge_07b_29_hint_csi_node,
	test_node_volume_limits__edge_07b_30_hint_pod_deleted,
	test_node_volume_limits__edge_07b_31_hint_attachment_deleted,
	test_node_volume_limits__hint_claim_added)
