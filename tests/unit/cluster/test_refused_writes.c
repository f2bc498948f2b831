/* SPDX-License-Identifier: Apache-2.0 */
/* Controllers try a refused write again, although nothing else changes. */
#include "cluster.h"
#include "cluster/tree.h"
#include "refusal.h"
#include "test_main.h"
#include "workload_world.h"

/** Longer than the delays of the retries, shorter than the longest delay. */
#define LONG_MS 200000

/* --- garbage collector --- */

static const char *make_owner(struct cluster *cluster, const char *name)
{
	struct bt_str body =
		bt_arena_printf(&cluster->api.arena, "{'metadata':{'name':'%s'}}", name);
	cluster_create(cluster, "configmaps", "default/", body.data);
	return api_text(&cluster->api, "metadata.uid");
}

START_TEST(test_refused_writes__reference_to_a_deleted_owner)
{
	struct cluster cluster;
	struct bt_str body;
	const char *a;
	const char *b;

	cluster_init(&cluster, "garbage-collector-controller");
	a = make_owner(&cluster, "a");
	b = make_owner(&cluster, "b");
	body = bt_arena_printf(&cluster.api.arena,
		"{'metadata':{'name':'d','ownerReferences':[{'apiVersion':'v1','kind':'ConfigMap',"
		"'name':'a','uid':'%s'},{'apiVersion':'v1','kind':'ConfigMap','name':'b','uid':"
		"'%s'}]}}",
		a, b);
	cluster_create(&cluster, "configmaps", "default/", body.data);
	cluster_run(&cluster, 0);
	refusal_begin(cluster.api.api, "", "configmaps", "UPDATE", "false");
	cluster_delete(&cluster, "configmaps", "default/a");
	cluster_run(&cluster, 1000);
	ck_assert_ptr_nonnull(strstr(
		cluster_json(&cluster, "configmaps", "default/d", "metadata.ownerReferences"), a));
	refusal_end(cluster.api.api);
	cluster_run(&cluster, LONG_MS);
	ck_assert_ptr_null(strstr(
		cluster_json(&cluster, "configmaps", "default/d", "metadata.ownerReferences"), a));
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_refused_writes__finalizer_of_an_owner)
{
	struct cluster cluster;

	cluster_init(&cluster, "garbage-collector-controller");
	(void)make_owner(&cluster, "o");
	cluster_run(&cluster, 0);
	refusal_begin(cluster.api.api, "", "configmaps", "UPDATE", "false");
	cluster.api.request.propagation = BT_PROPAGATION_FOREGROUND;
	cluster_delete(&cluster, "configmaps", "default/o");
	cluster_run(&cluster, 1000);
	ck_assert(cluster_has(&cluster, "configmaps", "default/o"));
	refusal_end(cluster.api.api);
	cluster_run(&cluster, LONG_MS);
	ck_assert(!cluster_has(&cluster, "configmaps", "default/o"));
	cluster_finish(&cluster);
}
END_TEST

/* --- controllers whose creates a quota refuses --- */

START_TEST(test_refused_writes__creates_beyond_a_quota)
{
	struct cluster cluster;

	cluster_init(&cluster,
		"serviceaccount-controller,root-ca-certificate-publisher-controller,"
		"endpoints-controller,endpointslice-controller");
	cluster_create(&cluster, "namespaces", "", "{'metadata':{'name':'n'}}");
	cluster_create(&cluster, "resourcequotas", "n/",
		"{'metadata':{'name':'q'},'spec':{'hard':{'count/serviceaccounts':'0',"
		"'count/configmaps':'0','count/endpoints':'0',"
		"'count/endpointslices.discovery.k8s.io':'0'}}}");
	cluster_create(&cluster, "services", "n/",
		"{'metadata':{'name':'s'},'spec':{'selector':{'a':'b'},'ports':[{'port':80}]}}");
	cluster_run(&cluster, 1000);
	ck_assert(!cluster_has(&cluster, "serviceaccounts", "n/default"));
	ck_assert(!cluster_has(&cluster, "configmaps", "n/kube-root-ca.crt"));
	ck_assert(!cluster_has(&cluster, "endpoints", "n/s"));
	cluster_delete(&cluster, "resourcequotas", "n/q");
	cluster_run(&cluster, LONG_MS);
	ck_assert(cluster_has(&cluster, "serviceaccounts", "n/default"));
	ck_assert(cluster_has(&cluster, "configmaps", "n/kube-root-ca.crt"));
	ck_assert(cluster_has(&cluster, "endpoints", "n/s"));
	ck_assert_uint_eq(bt_store_count(cluster.api.store,
				  bt_store_collection_find(cluster.api.store,
					  BT_STR("endpointslices.discovery.k8s.io"))),
		1);
	cluster_finish(&cluster);
}
END_TEST

/* --- volumes --- */

START_TEST(test_refused_writes__default_class_of_a_claim)
{
	struct cluster cluster;

	cluster_init(&cluster, "persistentvolume-binder-controller,volume-provisioner");
	cluster_create(&cluster, "persistentvolumeclaims", "default/",
		"{'metadata':{'name':'c'},'spec':{'accessModes':['ReadWriteOnce'],'resources':{"
		"'requests':{'storage':'5Gi'}}}}");
	cluster_run(&cluster, 1000);
	refusal_begin(cluster.api.api, "", "persistentvolumeclaims", "UPDATE", "false");
	cluster_create(&cluster, "storageclasses.storage.k8s.io", "",
		"{'metadata':{'name':'std','annotations':{"
		"'storageclass.kubernetes.io/is-default-class':'true'}},'provisioner':'csi.x'}");
	cluster_run(&cluster, 1000);
	ck_assert_str_eq(
		cluster_text(&cluster, "persistentvolumeclaims", "default/c", "status.phase"),
		"Pending");
	refusal_end(cluster.api.api);
	cluster_run(&cluster, LONG_MS);
	ck_assert_str_eq(
		cluster_text(&cluster, "persistentvolumeclaims", "default/c", "status.phase"),
		"Bound");
	cluster_finish(&cluster);
}
END_TEST

/* --- nodes and their pods --- */

START_TEST(test_refused_writes__pods_of_a_silent_node)
{
	struct cluster cluster;

	cluster_init(&cluster, "node-lifecycle-controller");
	cluster_create(&cluster, "nodes", "",
		"{'metadata':{'name':'n'},'status':{'conditions':[{'type':'Ready','status':"
		"'True'}]}}");
	cluster_create(&cluster, "pods", "default/",
		"{'metadata':{'name':'p'},'spec':{'nodeName':'n','containers':[{'name':'c',"
		"'image':'i'}]}}");
	cluster_patch(&cluster, "pods/status", "default/p",
		"{'status':{'conditions':[{'type':'Ready','status':'True'}]}}");
	refusal_begin(cluster.api.api, "", "pods/status", "UPDATE", "false");
	cluster_run(&cluster, 51000);
	ck_assert_str_eq(
		cluster_condition(&cluster, "nodes", "n", "Ready"), "Unknown/NodeStatusUnknown");
	ck_assert_str_eq(cluster_condition(&cluster, "pods", "default/p", "Ready"), "True/");
	refusal_end(cluster.api.api);
	cluster_run(&cluster, 2000);
	ck_assert_str_eq(
		cluster_condition(&cluster, "pods", "default/p", "Ready"), "False/NodeNotReady");
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_refused_writes__subnet_of_a_node)
{
	struct cluster cluster;

	cluster_init(&cluster, "node-agent");
	refusal_begin(cluster.api.api, "", "nodes", "UPDATE", "!has(object.spec.podCIDR)");
	cluster_add_node(&cluster, "n");
	cluster_run(&cluster, 1000);
	ck_assert_str_eq(cluster_text(&cluster, "nodes", "n", "spec.podCIDR"), "");
	ck_assert_str_eq(cluster_condition(&cluster, "nodes", "n", "Ready"), "True/KubeletReady");
	refusal_end(cluster.api.api);
	cluster_run(&cluster, LONG_MS);
	ck_assert_str_eq(cluster_text(&cluster, "nodes", "n", "spec.podCIDR"), "10.0.0.0/24");
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_refused_writes__restart_of_a_container)
{
	struct cluster cluster;

	cluster_init(&cluster, "node-agent");
	cluster_add_node(&cluster, "n");
	cluster_create(&cluster, "pods", "default/",
		"{'metadata':{'name':'p','annotations':{'berth.dev/run-time':'2s',"
		"'berth.dev/exit-code':'1'}},'spec':{'nodeName':'n','restartPolicy':'OnFailure',"
		"'containers':[{'name':'c','image':'i'}]}}");
	cluster_run(&cluster, 2000);
	ck_assert_str_eq(cluster_text(&cluster, "pods", "default/p", "status.phase"), "Running");
	refusal_begin(cluster.api.api, "", "pods/status", "UPDATE", "false");
	cluster_run(&cluster, 1100);
	refusal_end(cluster.api.api);
	cluster_run(&cluster, 500);
	ck_assert_ptr_nonnull(
		strstr(cluster_json(&cluster, "pods", "default/p", "status.containerStatuses"),
			"'restartCount':1"));
	cluster_finish(&cluster);
}
END_TEST

/* --- workloads --- */

#define TEMPLATE(image) \
	"'template':{'metadata':{'labels':{'app':'a'}},'spec':{'containers':[{'name':'c'," \
	"'image':'" image "'}]}}"
#define SELECTOR "'selector':{'matchLabels':{'app':'a'}},"

static void stop_refusing(struct world *world)
{
	refusal_end(world->api);
	world_advance(world, 2000);
	world_settle(world);
}

START_TEST(test_refused_writes__old_replica_set)
{
	struct world world;

	world_init(&world);
	world_create(&world, "apps", "deployments",
		"{'metadata':{'name':'d'},'spec':{'revisionHistoryLimit':0," SELECTOR TEMPLATE(
			"i:1") "}}",
		201);
	world_settle(&world);
	refusal_begin(world.api, "apps", "replicasets", "DELETE", "false");
	world_patch(&world, "apps", "deployments", "default/d", BT_SUBRESOURCE_NONE,
		"{'spec':{" TEMPLATE("i:2") "}}");
	world_settle(&world);
	ck_assert_uint_eq(world_list(&world, "apps", "replicasets", NULL, NULL, NULL, 0), 2);
	stop_refusing(&world);
	ck_assert_uint_eq(world_list(&world, "apps", "replicasets", NULL, NULL, NULL, 0), 1);
	world_finish(&world);
}
END_TEST

START_TEST(test_refused_writes__old_revision)
{
	struct world world;

	world_init(&world);
	world_create(&world, "apps", "statefulsets",
		"{'metadata':{'name':'s'},'spec':{'revisionHistoryLimit':0," SELECTOR TEMPLATE(
			"i:1") "}}",
		201);
	world_settle(&world);
	refusal_begin(world.api, "apps", "controllerrevisions", "DELETE", "false");
	world_patch(&world, "apps", "statefulsets", "default/s", BT_SUBRESOURCE_NONE,
		"{'spec':{" TEMPLATE("i:2") "}}");
	world_settle(&world);
	ck_assert_uint_eq(
		world_list(&world, "apps", "controllerrevisions", NULL, NULL, NULL, 0), 2);
	stop_refusing(&world);
	ck_assert_uint_eq(
		world_list(&world, "apps", "controllerrevisions", NULL, NULL, NULL, 0), 1);
	world_finish(&world);
}
END_TEST

START_TEST(test_refused_writes__owner_of_a_claim)
{
	struct world world;

	world_init(&world);
	world_create(&world, "apps", "statefulsets",
		"{'metadata':{'name':'s'},'spec':{'replicas':2,"
		"'persistentVolumeClaimRetentionPolicy':{'whenScaled':'Delete'},"
		"'volumeClaimTemplates':[{'metadata':{'name':'data'},'spec':{'accessModes':["
		"'ReadWriteOnce'],'resources':{'requests':{'storage':'1Gi'}}}}]," SELECTOR TEMPLATE(
			"i:1") "}}",
		201);
	world_settle(&world);
	refusal_begin(world.api, "", "persistentvolumeclaims", "UPDATE", "false");
	world_patch(&world, "apps", "statefulsets", "default/s", BT_SUBRESOURCE_NONE,
		"{'spec':{'replicas':1}}");
	world_settle(&world);
	stop_refusing(&world);
	ck_assert_ptr_null(world_get(&world, "", "pods", "default/s-1"));
	ck_assert_uint_eq(bt_json_array_at(world_get(&world, "", "persistentvolumeclaims",
						   "default/data-s-1"),
				  "metadata.ownerReferences")
				  ->count,
		1);
	world_finish(&world);
}
END_TEST

START_TEST(test_refused_writes__finalizer_of_a_suspended_pod)
{
	struct world world;

	world_init(&world);
	world_create(&world, "batch", "jobs",
		"{'metadata':{'name':'j'},'spec':{'template':{'spec':{'restartPolicy':'Never',"
		"'containers':[{'name':'c','image':'i:1'}]}}}}",
		201);
	world_settle(&world);
	refusal_begin(world.api, "", "pods", "UPDATE", "false");
	world_patch(&world, "batch", "jobs", "default/j", BT_SUBRESOURCE_NONE,
		"{'spec':{'suspend':true}}");
	world_settle(&world);
	stop_refusing(&world);
	ck_assert_uint_eq(world_list(&world, "", "pods", NULL, NULL, NULL, 0), 0);
	ck_assert_int_eq(world_int(&world, "batch", "jobs", "default/j", "status.failed"), 0);
	world_finish(&world);
}
END_TEST

START_TEST(test_refused_writes__adoption_by_a_job)
{
	struct world world;
	struct bt_str pods[8];
	struct bt_str text;

	world_init(&world);
	world_create(&world, "batch", "jobs",
		"{'metadata':{'name':'j'},'spec':{'template':{'spec':{'restartPolicy':'Never',"
		"'containers':[{'name':'c','image':'i:1'}]}}}}",
		201);
	world_settle(&world);
	ck_assert_uint_eq(world_list(&world, "", "pods", NULL, NULL, pods, 8), 1);
	refusal_begin(world.api, "", "pods", "UPDATE", "object.metadata.name != 'orphan'");
	text = bt_json_text_at(world_get(&world, "batch", "jobs", "default/j"), "metadata.uid");
	text = bt_arena_printf(&world.arena,
		"{'metadata':{'name':'orphan','labels':{'batch.kubernetes.io/controller-uid':"
		"'%.*s'}},'spec':{'restartPolicy':'Never','containers':[{'name':'c','image':"
		"'i:1'}]}}",
		BT_STR_ARG(text));
	world_create(&world, "", "pods", text.data, 201);
	world_set_pod(&world, pods[0].data, "Succeeded", false);
	world_settle(&world);
	/* The Job's pod counts although the orphan cannot be adopted. */
	ck_assert_int_eq(world_int(&world, "batch", "jobs", "default/j", "status.succeeded"), 1);
	stop_refusing(&world);
	world_finish(&world);
}
END_TEST

START_TEST(test_refused_writes__replaced_run_of_a_cron_job)
{
	struct world world;
	struct bt_str jobs[8];

	world_init(&world);
	world_create(&world, "batch", "cronjobs",
		"{'metadata':{'name':'c'},'spec':{'schedule':'*/10 * * * *','concurrencyPolicy':"
		"'Replace','jobTemplate':{'spec':{'template':{'spec':{'restartPolicy':'Never',"
		"'containers':[{'name':'c','image':'i:1'}]}}}}}}",
		201);
	world_advance(&world, 600);
	world_settle(&world);
	refusal_begin(world.api, "batch", "jobs", "DELETE", "false");
	world_advance(&world, 600);
	world_settle(&world);
	/* The next run waits for the deletion of the first. */
	ck_assert_uint_eq(world_list(&world, "batch", "jobs", NULL, NULL, jobs, 8), 1);
	stop_refusing(&world);
	ck_assert_uint_eq(world_list(&world, "batch", "jobs", NULL, NULL, jobs, 8), 1);
	ck_assert_str_ne(jobs[0].data, "default/c-30000010");
	ck_assert_uint_eq(bt_json_array_at(world_get(&world, "batch", "cronjobs", "default/c"),
				  "status.active")
				  ->count,
		1);
	world_finish(&world);
}
END_TEST

BT_TEST_MAIN("refused_writes", test_refused_writes__reference_to_a_deleted_owner,
	test_refused_writes__finalizer_of_an_owner, test_refused_writes__creates_beyond_a_quota,
	test_refused_writes__default_class_of_a_claim, test_refused_writes__pods_of_a_silent_node,
	test_refused_writes__subnet_of_a_node, test_refused_writes__restart_of_a_container,
	test_refused_writes__old_replica_set, test_refused_writes__old_revision,
	test_refused_writes__owner_of_a_claim, test_refused_writes__finalizer_of_a_suspended_pod,
	test_refused_writes__adoption_by_a_job, test_refused_writes__replaced_run_of_a_cron_job)
