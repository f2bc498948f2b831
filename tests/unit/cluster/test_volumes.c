/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster.h"
#include "test_main.h"

#define BINDER "persistentvolume-binder-controller"
#define CLAIMS "persistentvolumeclaims"
#define VOLUMES "persistentvolumes"
#define CLASSES "storageclasses.storage.k8s.io"

static void make_claim(struct cluster *cluster, const char *name, const char *class_)
{
	struct bt_str body = bt_arena_printf(&cluster->api.arena,
		"{'metadata':{'name':'%s'},'spec':{'accessModes':['ReadWriteOnce'],"
		"'storageClassName':'%s','resources':{'requests':{'storage':'5Gi'}}}}",
		name, class_);
	cluster_create(cluster, CLAIMS, "default/", body.data);
}

static void make_volume(
	struct cluster *cluster, const char *name, const char *size, const char *class_)
{
	struct bt_str body = bt_arena_printf(&cluster->api.arena,
		"{'metadata':{'name':'%s'},'spec':{'accessModes':['ReadWriteOnce'],'capacity':{"
		"'storage':'%s'},'hostPath':{'path':'/x'},'storageClassName':'%s'}}",
		name, size, class_);
	cluster_create(cluster, VOLUMES, "", body.data);
}

static void make_class(
	struct cluster *cluster, const char *name, const char *provisioner, const char *mode)
{
	struct bt_str body = bt_arena_printf(&cluster->api.arena,
		"{'metadata':{'name':'%s'},'provisioner':'%s','volumeBindingMode':'%s'}", name,
		provisioner, mode);
	cluster_create(cluster, CLASSES, "", body.data);
}

START_TEST(test_volumes__binds_the_smallest)
{
	struct cluster cluster;
	cluster_init(&cluster, BINDER);
	make_volume(&cluster, "big", "50Gi", "");
	make_volume(&cluster, "fits", "6Gi", "");
	make_volume(&cluster, "small", "1Gi", "");
	cluster_run(&cluster, 0);
	ck_assert_str_eq(cluster_text(&cluster, VOLUMES, "fits", "status.phase"), "Available");
	make_claim(&cluster, "c", "");
	cluster_run(&cluster, 0);
	ck_assert_str_eq(cluster_text(&cluster, CLAIMS, "default/c", "spec.volumeName"), "fits");
	ck_assert_str_eq(api_text(&cluster.api, "status.phase"), "Bound");
	ck_assert_str_eq(api_json(&cluster.api, "status.capacity"), "{'storage':'6Gi'}");
	ck_assert_str_eq(api_json(&cluster.api, "metadata.annotations"),
		"{'pv.kubernetes.io/bind-completed':'yes','pv.kubernetes.io/bound-by-controller':"
		"'yes'}");
	ck_assert_str_eq(cluster_text(&cluster, VOLUMES, "fits", "status.phase"), "Bound");
	ck_assert_str_eq(api_text(&cluster.api, "spec.claimRef.name"), "c");
	ck_assert_str_eq(cluster_text(&cluster, VOLUMES, "big", "status.phase"), "Available");
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_volumes__requested_volume_must_fit)
{
	struct cluster cluster;
	cluster_init(&cluster, BINDER);
	make_volume(&cluster, "small", "1Gi", "");
	make_volume(&cluster, "other", "5Gi", "x");
	make_volume(&cluster, "modes", "5Gi", "");
	make_volume(&cluster, "good", "5Gi", "");
	cluster_patch(&cluster, VOLUMES, "modes", "{'spec':{'accessModes':['ReadOnlyMany']}}");
	const char *names[] = {"small", "other", "modes", "good"};
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(names); i++) {
		struct bt_str body = bt_arena_printf(&cluster.api.arena,
			"{'metadata':{'name':'%s'},'spec':{'accessModes':['ReadWriteOnce'],"
			"'storageClassName':'','volumeName':'%s','resources':{'requests':{"
			"'storage':'5Gi'}}}}",
			names[i], names[i]);
		cluster_create(&cluster, CLAIMS, "default/", body.data);
	}
	cluster_run(&cluster, 0);
	ck_assert_uint_eq(cluster_events(&cluster, "VolumeMismatch"), 3);
	ck_assert_str_eq(
		cluster_text(&cluster, CLAIMS, "default/small", "status.phase"), "Pending");
	ck_assert_str_eq(cluster_text(&cluster, VOLUMES, "other", "status.phase"), "Available");
	ck_assert_str_eq(cluster_text(&cluster, CLAIMS, "default/good", "status.phase"), "Bound");
	/* The claim is bound when the volume fits. */
	cluster_patch(&cluster, VOLUMES, "small", "{'spec':{'capacity':{'storage':'5Gi'}}}");
	cluster_run(&cluster, 0);
	ck_assert_str_eq(cluster_text(&cluster, CLAIMS, "default/small", "status.phase"), "Bound");
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_volumes__volume_that_comes_later)
{
	struct cluster cluster;
	cluster_init(&cluster, BINDER);
	make_claim(&cluster, "c", "");
	cluster_run(&cluster, 0);
	ck_assert_uint_eq(cluster_events(&cluster, "FailedBinding"), 1);
	make_volume(&cluster, "v", "5Gi", "");
	cluster_run(&cluster, 0);
	ck_assert_str_eq(cluster_text(&cluster, CLAIMS, "default/c", "status.phase"), "Bound");
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_volumes__edge_14b_20_waits_for_first_consumer)
{
	struct cluster cluster;
	cluster_init(&cluster, BINDER ",volume-provisioner");
	make_class(&cluster, "w", "csi.x", "WaitForFirstConsumer");
	make_volume(&cluster, "v", "5Gi", "w");
	make_claim(&cluster, "c", "w");
	cluster_run(&cluster, 100000);
	ck_assert_str_eq(cluster_text(&cluster, CLAIMS, "default/c", "status.phase"), "Pending");
	ck_assert_str_eq(cluster_text(&cluster, VOLUMES, "v", "status.phase"), "Available");
	ck_assert_uint_eq(cluster_events(&cluster, "WaitForFirstConsumer"), 1);
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_volumes__class_that_comes_back)
{
	struct cluster cluster;
	cluster_init(&cluster, BINDER ",volume-provisioner");
	make_class(&cluster, "i", "csi.x", "Immediate");
	make_claim(&cluster, "c", "i");
	cluster_run(&cluster, 100);
	cluster_delete(&cluster, CLASSES, "i");
	cluster_run(&cluster, 10000);
	ck_assert_str_eq(cluster_text(&cluster, CLAIMS, "default/c", "status.phase"), "Pending");
	make_class(&cluster, "i", "csi.x", "Immediate");
	cluster_run(&cluster, 10000);
	ck_assert_str_eq(cluster_text(&cluster, CLAIMS, "default/c", "status.phase"), "Bound");
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_volumes__waits_for_pods)
{
	static const char *const pods[] = {"p", "q"};
	struct cluster cluster;
	cluster_init(&cluster, BINDER);
	make_class(&cluster, "w", "csi.x", "WaitForFirstConsumer");
	make_claim(&cluster, "c", "w");
	cluster_run(&cluster, 1000);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(pods); i++) {
		struct bt_str body = bt_arena_printf(&cluster.api.arena,
			"{'metadata':{'name':'%s'},'spec':{'containers':[{'name':'c','image':'i'}"
			"],'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'c'}}]}}",
			pods[i]);
		cluster_create(&cluster, "pods", "default/", body.data);
		cluster_run(&cluster, 14000);
		ck_assert_uint_eq(cluster_events(&cluster, "WaitForPodScheduled"), i);
		cluster_run(&cluster, 2000);
		ck_assert_uint_eq(cluster_events(&cluster, "WaitForPodScheduled"), i + 1);
	}
	ck_assert_uint_eq(cluster_events(&cluster, "WaitForFirstConsumer"), 1);
	/*
	 * The binder does not wait for pods that are deleted: the number of events stays the same.
	 */
	cluster_patch(&cluster, CLAIMS, "default/c", "{'metadata':{'labels':{'a':'b'}}}");
	cluster_delete(&cluster, "pods", "default/p");
	cluster_delete(&cluster, "pods", "default/q");
	cluster_run(&cluster, 1000);
	ck_assert_uint_eq(cluster_events(&cluster, "WaitForPodScheduled"), 2);
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_volumes__edge_14b_21_scheduler_chose)
{
	struct cluster cluster;
	struct bt_str body;
	cluster_init(&cluster, BINDER);
	make_class(&cluster, "w", "kubernetes.io/no-provisioner", "WaitForFirstConsumer");
	make_volume(&cluster, "v", "5Gi", "w");
	make_claim(&cluster, "c", "w");
	body = bt_arena_printf(&cluster.api.arena,
		"{'spec':{'claimRef':{'kind':'PersistentVolumeClaim','namespace':'default','name':"
		"'c','uid':'%s'}}}",
		api_text(&cluster.api, "metadata.uid"));
	cluster_run(&cluster, 0);
	cluster_patch(&cluster, VOLUMES, "v", body.data);
	cluster_run(&cluster, 0);
	ck_assert_str_eq(cluster_text(&cluster, CLAIMS, "default/c", "status.phase"), "Bound");
	ck_assert_str_eq(api_text(&cluster.api, "spec.volumeName"), "v");
	ck_assert_str_eq(cluster_text(&cluster, VOLUMES, "v", "status.phase"), "Bound");
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_volumes__edge_14b_22_selected_node)
{
	struct cluster cluster;
	struct bt_str name;
	cluster_init(&cluster, BINDER ",volume-provisioner,node-agent");
	cluster_create(&cluster, "nodes", "", "{'metadata':{'name':'n','labels':{'z':'z1'}}}");
	cluster_create(&cluster, "csinodes.storage.k8s.io", "",
		"{'metadata':{'name':'n'},'spec':{'drivers':[{'name':'csi.x','nodeID':'n',"
		"'topologyKeys':['z']}]}}");
	make_class(&cluster, "w", "csi.x", "WaitForFirstConsumer");
	make_claim(&cluster, "c", "w");
	name = bt_arena_printf(
		&cluster.api.arena, "pvc-%s", api_text(&cluster.api, "metadata.uid"));
	cluster_run(&cluster, 0);
	cluster_patch(&cluster, CLAIMS, "default/c",
		"{'metadata':{'annotations':{'volume.kubernetes.io/selected-node':'n'}}}");
	cluster_run(&cluster, 999);
	ck_assert_uint_eq(cluster_events(&cluster, "ExternalProvisioning"), 1);
	ck_assert(!cluster_has(&cluster, VOLUMES, name.data));
	cluster_run(&cluster, 1);
	ck_assert_str_eq(cluster_text(&cluster, VOLUMES, name.data, "status.phase"), "Bound");
	ck_assert_str_eq(api_text(&cluster.api, "spec.persistentVolumeReclaimPolicy"), "Delete");
	ck_assert_str_eq(api_json(&cluster.api, "spec.nodeAffinity"),
		"{'required':{'nodeSelectorTerms':[{'matchExpressions':[{'key':'z','operator':'In',"
		"'values':['z1']}]}]}}");
	ck_assert_str_eq(cluster_text(&cluster, CLAIMS, "default/c", "spec.volumeName"), name.data);
	/* The volume is deleted with its claim, by its reclaim policy. */
	cluster_patch(&cluster, CLAIMS, "default/c", "{'metadata':{'finalizers':null}}");
	cluster_patch(&cluster, VOLUMES, name.data, "{'metadata':{'finalizers':null}}");
	cluster_delete(&cluster, CLAIMS, "default/c");
	cluster_run(&cluster, 0);
	ck_assert(!cluster_has(&cluster, VOLUMES, name.data));
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_volumes__node_outside_of_allowed_topologies)
{
	struct cluster cluster;
	cluster_init(&cluster, BINDER ",volume-provisioner");
	cluster_create(&cluster, "nodes", "", "{'metadata':{'name':'n','labels':{'z':'z1'}}}");
	cluster_create(&cluster, CLASSES, "",
		"{'metadata':{'name':'w'},'provisioner':'csi.x','volumeBindingMode':"
		"'WaitForFirstConsumer','allowedTopologies':[{'matchLabelExpressions':[{'key':'z',"
		"'values':['z2']}]}]}");
	make_claim(&cluster, "c", "w");
	cluster_patch(&cluster, CLAIMS, "default/c",
		"{'metadata':{'annotations':{'volume.kubernetes.io/selected-node':'n'}}}");
	cluster_run(&cluster, 5000);
	ck_assert_ptr_null(
		strstr(cluster_json(&cluster, CLAIMS, "default/c", "metadata.annotations"),
			"selected-node"));
	ck_assert_uint_eq(cluster_events(&cluster, "ProvisioningFailed"), 1);
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_volumes__immediate_provisioning_and_late_default)
{
	struct cluster cluster;
	cluster_init(&cluster, BINDER ",volume-provisioner");
	cluster_create(&cluster, CLAIMS, "default/",
		"{'metadata':{'name':'c'},'spec':{'accessModes':['ReadWriteOnce'],'resources':{"
		"'requests':{'storage':'5Gi'}}}}");
	cluster_run(&cluster, 1000);
	cluster_create(&cluster, CLASSES, "",
		"{'metadata':{'name':'std','annotations':{"
		"'storageclass.kubernetes.io/is-default-class':'true'}},'provisioner':'csi.x'}");
	cluster_run(&cluster, 1000);
	ck_assert_str_eq(cluster_text(&cluster, CLAIMS, "default/c", "status.phase"), "Bound");
	ck_assert_str_eq(api_text(&cluster.api, "spec.storageClassName"), "std");
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_volumes__edge_14b_23_controller_off)
{
	struct cluster cluster;
	cluster_init(&cluster, "-" BINDER);
	make_volume(&cluster, "v", "5Gi", "");
	cluster_run(&cluster, 1000);
	ck_assert_str_eq(cluster_text(&cluster, VOLUMES, "v", "status.phase"), "Pending");
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_volumes__retained_volume_is_released)
{
	struct cluster cluster;
	cluster_init(&cluster, BINDER ",persistentvolumeclaim-protection-controller");
	make_volume(&cluster, "v", "5Gi", "");
	make_claim(&cluster, "c", "");
	cluster_run(&cluster, 0);
	cluster_delete(&cluster, CLAIMS, "default/c");
	cluster_run(&cluster, 0);
	ck_assert(!cluster_has(&cluster, CLAIMS, "default/c"));
	ck_assert_str_eq(cluster_text(&cluster, VOLUMES, "v", "status.phase"), "Released");
	cluster_patch(&cluster, VOLUMES, "v", "{'spec':{'claimRef':null}}");
	cluster_run(&cluster, 0);
	ck_assert_str_eq(cluster_text(&cluster, VOLUMES, "v", "status.phase"), "Available");
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_volumes__edge_14b_43_claim_in_use_stays)
{
	struct cluster cluster;
	cluster_init(&cluster,
		BINDER ",persistentvolumeclaim-protection-controller,"
		       "persistentvolume-protection-controller");
	make_volume(&cluster, "v", "5Gi", "");
	make_claim(&cluster, "c", "");
	cluster_create(&cluster, "pods", "default/",
		"{'metadata':{'name':'p'},'spec':{'containers':[{'name':'c','image':'i'}],"
		"'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'c'}}],"
		"'nodeName':'n','terminationGracePeriodSeconds':0}}");
	cluster_run(&cluster, 0);
	cluster_delete(&cluster, CLAIMS, "default/c");
	cluster_delete(&cluster, VOLUMES, "v");
	cluster_run(&cluster, 1000);
	ck_assert(cluster_has(&cluster, CLAIMS, "default/c"));
	ck_assert_str_eq(cluster_text(&cluster, VOLUMES, "v", "status.phase"), "Bound");
	cluster_delete(&cluster, "pods", "default/p");
	cluster_run(&cluster, 0);
	ck_assert(!cluster_has(&cluster, CLAIMS, "default/c"));
	ck_assert(!cluster_has(&cluster, VOLUMES, "v"));
	cluster_finish(&cluster);
}
END_TEST

/**
 * An unscheduled pod does not delay the deletion of its claim; otherwise pod and claim would wait
 * for each other.
 */
START_TEST(test_volumes__claim_of_unassigned_pod_goes)
{
	struct cluster cluster;
	cluster_init(&cluster, BINDER ",persistentvolumeclaim-protection-controller");
	make_claim(&cluster, "c", "");
	cluster_create(&cluster, "pods", "default/",
		"{'metadata':{'name':'p'},'spec':{'containers':[{'name':'c','image':'i'}],"
		"'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'c'}}]}}");
	cluster_run(&cluster, 0);
	cluster_delete(&cluster, CLAIMS, "default/c");
	cluster_run(&cluster, 0);
	ck_assert(!cluster_has(&cluster, CLAIMS, "default/c"));
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_volumes__ephemeral)
{
	struct cluster cluster;
	cluster_init(&cluster,
		"ephemeral-volume-controller,garbage-collector-controller,"
		"persistentvolumeclaim-protection-controller");
	cluster_create(&cluster, "pods", "default/",
		"{'metadata':{'name':'p'},'spec':{'containers':[{'name':'c','image':'i'}],"
		"'volumes':[{'name':'v','ephemeral':{'volumeClaimTemplate':{'metadata':{'labels':{"
		"'a':'b'}},'spec':{'accessModes':['ReadWriteOnce'],'resources':{'requests':{"
		"'storage':'1Gi'}}}}}}]}}");
	cluster_run(&cluster, 0);
	ck_assert_str_eq(cluster_text(&cluster, CLAIMS, "default/p-v", "metadata.labels.a"), "b");
	ck_assert_ptr_nonnull(
		strstr(api_json(&cluster.api, "metadata.ownerReferences"), "'kind':'Pod'"));
	cluster_delete(&cluster, "pods", "default/p");
	cluster_run(&cluster, 0);
	ck_assert(!cluster_has(&cluster, CLAIMS, "default/p-v"));
	cluster_finish(&cluster);
}
END_TEST

BT_TEST_MAIN("volumes", test_volumes__binds_the_smallest, test_volumes__requested_volume_must_fit,
	test_volumes__volume_that_comes_later, test_volumes__edge_14b_20_waits_for_first_consumer,
	test_volumes__class_that_comes_back, test_volumes__waits_for_pods,
	test_volumes__edge_14b_21_scheduler_chose, test_volumes__edge_14b_22_selected_node,
	test_volumes__node_outside_of_allowed_topologies,
	test_volumes__immediate_provisioning_and_late_default,
	test_volumes__edge_14b_23_controller_off, test_volumes__retained_volume_is_released,
	test_volumes__edge_14b_43_claim_in_use_stays, test_volumes__claim_of_unassigned_pod_goes,
	test_volumes__ephemeral)
