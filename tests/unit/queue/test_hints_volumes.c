/* SPDX-License-Identifier: Apache-2.0 */
/* Hints about volumes and claims. Spec: 04 (hints) sections 6.8 to 6.11 and 6.15. */
#include "hint_rows.h"

#define CLAIM(name) "{'spec':{'volumes':[{'persistentVolumeClaim':{'claimName':'" name "'}}]}}"
#define VOLUME(labels) "{'metadata':{'name':'v','labels':{" labels "}}}"

START_TEST(test_hints__edge_04h_39_storage_capacity)
{
#define CAPACITY(text) "{'metadata':{'name':'c'}," text "}"
#define BOTH CAPACITY("'maximumVolumeSize':'50','capacity':'100'")
	static const struct hint_row rows[] = {
		{"more", "CSIStorageCapacity", BT_ACTION_UPDATE, "{}", BOTH,
			CAPACITY("'capacity':'100'"), HINT_Q},
		{"as much", "CSIStorageCapacity", BT_ACTION_UPDATE, "{}", BOTH,
			CAPACITY("'capacity':'50'"), HINT_S},
	};

	CHECK_HINTS(&bt_volume_binding_plugin, rows);
}
END_TEST

START_TEST(test_hints__edge_04h_40_binding_any_volume_update)
{
	static const struct hint_row rows[] = {
		{"unchanged", "PersistentVolume", BT_ACTION_UPDATE, "{}", VOLUME(""), VOLUME(""),
			HINT_Q},
	};

	CHECK_HINTS(&bt_volume_binding_plugin, rows);
}
END_TEST

START_TEST(test_hints__edge_04h_41_zone)
{
	static const struct hint_row rows[] = {
		{"zone gained", "PersistentVolume", BT_ACTION_UPDATE, "{}", VOLUME(""),
			VOLUME("'topology.kubernetes.io/zone':'z'"), HINT_Q},
		{"unchanged", "PersistentVolume", BT_ACTION_UPDATE, "{}",
			VOLUME("'topology.kubernetes.io/zone':'z'"),
			VOLUME("'topology.kubernetes.io/zone':'z'"), HINT_S},
		{"class without mode", "StorageClass", BT_ACTION_ADD, "{}", NULL,
			"{'metadata':{'name':'s'}}", HINT_S},
		{"class that waits", "StorageClass", BT_ACTION_ADD, "{}", NULL,
			"{'metadata':{'name':'s'},'volumeBindingMode':'WaitForFirstConsumer'}",
			HINT_Q},
	};

	CHECK_HINTS(&bt_volume_zone_plugin, rows);
}
END_TEST

START_TEST(test_hints__edge_04h_42_limits_only_ephemeral)
{
#define ATTACHMENT "{'metadata':{'name':'a'},'spec':{'attacher':'ebs.csi.aws.com'}}"
	static const struct hint_row rows[] = {
		{"ephemeral", "VolumeAttachment", BT_ACTION_DELETE,
			"{'spec':{'volumes':[{'name':'e','ephemeral':{'volumeClaimTemplate':{}}}]}"
			"}",
			ATTACHMENT, NULL, HINT_S},
		{"claim", "VolumeAttachment", BT_ACTION_DELETE, CLAIM("c"), ATTACHMENT, NULL,
			HINT_Q},
		{"inline", "VolumeAttachment", BT_ACTION_DELETE,
			"{'spec':{'volumes':[{'name':'e','awsElasticBlockStore':"
			"{'volumeID':'aws://zone/vol-1'}}]}}",
			ATTACHMENT, NULL, HINT_Q},
	};

	CHECK_HINTS(&bt_node_volume_limits_plugin, rows);
}
END_TEST

START_TEST(test_hints__edge_04h_43_limits_driver_appears)
{
#define DRIVERS(drivers) "{'metadata':{'name':'n'},'spec':{'drivers':[" drivers "]}}"
	static const struct hint_row rows[] = {
		{"without count", "CSINode", BT_ACTION_UPDATE, "{}", DRIVERS(""),
			DRIVERS("{'name':'d'}"), HINT_S},
		{"with count", "CSINode", BT_ACTION_UPDATE, "{}", DRIVERS(""),
			DRIVERS("{'name':'d','allocatable':{'count':5}}"), HINT_Q},
	};

	CHECK_HINTS(&bt_node_volume_limits_plugin, rows);
}
END_TEST

START_TEST(test_hints__edge_04h_44_restrictions_same_claim)
{
	static const struct hint_row rows[] = {
		{"never ran", "Pod", BT_ACTION_DELETE, CLAIM("c"), CLAIM("c"), NULL, HINT_Q},
		{"another claim", "Pod", BT_ACTION_DELETE, CLAIM("c"), CLAIM("d"), NULL, HINT_S},
		{"another namespace", "Pod", BT_ACTION_DELETE, CLAIM("c"),
			"{'metadata':{'namespace':'other'},'spec':{'volumes':"
			"[{'persistentVolumeClaim':{'claimName':'c'}}]}}",
			NULL, HINT_S},
	};

	CHECK_HINTS(&bt_volume_restrictions_plugin, rows);
}
END_TEST

#define USES(name) "{'spec':{'resourceClaims':[{'name':'r','resourceClaimName':'" name "'}]}}"
#define DEVICES(name, more) "{'metadata':{'name':'" name "','uid':'" name "-uid'" more
#define ALLOCATED "'status':{'allocation':{'devices':{}}}"
#define STORED(name) \
	"{'apiVersion':'resource.k8s.io/v1','kind':'ResourceClaim','metadata':{'name':'" name \
	"','namespace':'default','uid':'" name "-uid'}}"

START_TEST(test_hints__edge_04h_45_devices_of_another_pod_are_freed)
{
	static const struct hint_row rows[] = {
		{"own claims resolve", "ResourceClaim", BT_ACTION_UPDATE, USES("mine"),
			DEVICES("other", "}," ALLOCATED "}"), DEVICES("other", "}}"), HINT_Q},
		{"own claim missing", "ResourceClaim", BT_ACTION_UPDATE, USES("missing"),
			DEVICES("other", "}," ALLOCATED "}"), DEVICES("other", "}}"), HINT_S},
	};
	struct fixture fixture;

	fixture_init(&fixture, &bt_dynamic_resources_plugin);
	fixture_put(&fixture, STORED("mine"));
	check_hints_in(&fixture, rows, BT_ARRAY_LENGTH(rows));
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_hints__edge_04h_46_own_claim_changes)
{
	static const struct hint_row rows[] = {
		{"finalizer", "ResourceClaim", BT_ACTION_UPDATE, USES("mine"),
			DEVICES("mine", "}}"), DEVICES("mine", ",'finalizers':['f']}}"), HINT_S},
		{"allocated", "ResourceClaim", BT_ACTION_UPDATE, USES("mine"),
			DEVICES("mine", "}}"), DEVICES("mine", "}," ALLOCATED "}"), HINT_Q},
		{"added", "ResourceClaim", BT_ACTION_ADD, USES("mine"), NULL, DEVICES("mine", "}}"),
			HINT_Q},
		{"another's added", "ResourceClaim", BT_ACTION_ADD, USES("mine"), NULL,
			DEVICES("other", "}}"), HINT_S},
		{"empty list for none", "ResourceClaim", BT_ACTION_UPDATE, USES("mine"),
			DEVICES("mine", "},'status':{'reservedFor':[]}}"), DEVICES("mine", "}}"),
			HINT_S},
	};
	struct fixture fixture;

	fixture_init(&fixture, &bt_dynamic_resources_plugin);
	fixture_put(&fixture, STORED("mine"));
	check_hints_in(&fixture, rows, BT_ARRAY_LENGTH(rows));
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_hints__edge_04h_47_only_one_of_two_generated)
{
#define TEMPLATES(status) \
	"{'metadata':{'uid':'p'},'spec':{'resourceClaims':[" \
	"{'name':'a','resourceClaimTemplateName':'t'}," \
	"{'name':'b','resourceClaimTemplateName':'t'}]},'status':{'resourceClaimStatuses':" \
	"[" status "]}}"
#define OWNED(name) \
	"{'apiVersion':'resource.k8s.io/v1','kind':'ResourceClaim','metadata':{'name':'" name \
	"','namespace':'default','uid':'" name "-uid','ownerReferences':[{'apiVersion':'v1'," \
	"'kind':'Pod','name':'p','uid':'p','controller':true}]}}"
#define STATUS_A "{'name':'a','resourceClaimName':'claim-a'}"
	static const struct hint_row rows[] = {
		{"one", "Pod", BT_ACTION_UPDATE_POD_GENERATED_RESOURCE_CLAIM, TEMPLATES(""),
			TEMPLATES(""), TEMPLATES(STATUS_A), HINT_S},
		{"both", "Pod", BT_ACTION_UPDATE_POD_GENERATED_RESOURCE_CLAIM, TEMPLATES(""),
			TEMPLATES(""),
			TEMPLATES(STATUS_A ",{'name':'b','resourceClaimName':'claim-b'}"), HINT_Q},
		{"the other is not needed", "Pod", BT_ACTION_UPDATE_POD_GENERATED_RESOURCE_CLAIM,
			TEMPLATES(""), TEMPLATES(""), TEMPLATES(STATUS_A ",{'name':'b'}"), HINT_Q},
		{"the other is not its own", "Pod", BT_ACTION_UPDATE_POD_GENERATED_RESOURCE_CLAIM,
			TEMPLATES(""), TEMPLATES(""),
			TEMPLATES(STATUS_A ",{'name':'b','resourceClaimName':'foreign'}"), HINT_S},
	};
	struct fixture fixture;

	fixture_init(&fixture, &bt_dynamic_resources_plugin);
	fixture_put(&fixture, OWNED("claim-a"));
	fixture_put(&fixture, OWNED("claim-b"));
	fixture_put(&fixture, STORED("foreign"));
	check_hints_in(&fixture, rows, BT_ARRAY_LENGTH(rows));
	fixture_finish(&fixture);
}
END_TEST

BT_TEST_MAIN("hints_volumes", test_hints__edge_04h_39_storage_capacity,
	test_hints__edge_04h_40_binding_any_volume_update, test_hints__edge_04h_41_zone,
	test_hints__edge_04h_42_limits_only_ephemeral,
	test_hints__edge_04h_43_limits_driver_appears,
	test_hints__edge_04h_44_restrictions_same_claim,
	test_hints__edge_04h_45_devices_of_another_pod_are_freed,
	test_hints__edge_04h_46_own_claim_changes,
	test_hints__edge_04h_47_only_one_of_two_generated)
