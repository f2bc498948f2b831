/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster.h"
#include "test_main.h"

#define COLLECTOR "garbage-collector-controller"
#define DEPLOYMENT \
	"{'metadata':{'name':'d'},'spec':{'replicas':2,'selector':{'matchLabels':{'a':'b'}}," \
	"'template':{'metadata':{'labels':{'a':'b'}},'spec':{'containers':[{'name':'c','image':" \
	"'i'}]}}}}"

static uint64_t count_of(struct cluster *cluster, const char *group, const char *resource)
{
	return bt_store_count(cluster->api.store,
		bt_resources_builtin(bt_api_resources(cluster->api.api), group, resource)
			->collection);
}

static void make_dependent(
	struct cluster *cluster, const char *name, const char *owner, const char *uid, bool blocks)
{
	struct bt_str body = bt_arena_printf(&cluster->api.arena,
		"{'metadata':{'name':'%s','ownerReferences':[{'apiVersion':'v1','kind':'ConfigMap',"
		"'name':'%s','uid':'%s','blockOwnerDeletion':%s}]}}",
		name, owner, uid, blocks ? "true" : "false");
	cluster_create(cluster, "configmaps", "default/", body.data);
}

static const char *make_owner(struct cluster *cluster, const char *name)
{
	struct bt_str body =
		bt_arena_printf(&cluster->api.arena, "{'metadata':{'name':'%s'}}", name);
	cluster_create(cluster, "configmaps", "default/", body.data);
	return api_text(&cluster->api, "metadata.uid");
}

START_TEST(test_garbage_collector__edge_14b_36_background)
{
	struct cluster cluster;
	cluster_init(&cluster, "deployment-controller,replicaset-controller,node-agent," COLLECTOR);
	cluster_create(&cluster, "deployments.apps", "default/", DEPLOYMENT);
	cluster_run(&cluster, 100);
	ck_assert_uint_eq(count_of(&cluster, "", "pods"), 2);
	cluster.api.request.propagation = BT_PROPAGATION_BACKGROUND;
	cluster_delete(&cluster, "deployments.apps", "default/d");
	ck_assert(!cluster_has(&cluster, "deployments.apps", "default/d"));
	cluster_run(&cluster, 100);
	ck_assert_uint_eq(count_of(&cluster, "apps", "replicasets"), 0);
	ck_assert_uint_eq(count_of(&cluster, "", "pods"), 0);
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_garbage_collector__edge_14b_37_unknown_owner)
{
	struct cluster cluster;
	const char *uid;
	cluster_init(&cluster, COLLECTOR);
	uid = make_owner(&cluster, "o");
	make_dependent(&cluster, "orphan", "nobody", "11111111-1111-1111-1111-111111111111", false);
	make_dependent(&cluster, "stale", "o", "11111111-1111-1111-1111-111111111111", false);
	make_dependent(&cluster, "good", "o", uid, false);
	cluster_create(&cluster, "configmaps", "default/",
		"{'metadata':{'name':'strange','ownerReferences':[{'apiVersion':'no.such/v1',"
		"'kind':'Thing','name':'x','uid':'u'}]}}");
	cluster_run(&cluster, 0);
	ck_assert(!cluster_has(&cluster, "configmaps", "default/orphan"));
	ck_assert(!cluster_has(&cluster, "configmaps", "default/stale"));
	ck_assert(cluster_has(&cluster, "configmaps", "default/good"));
	ck_assert(cluster_has(&cluster, "configmaps", "default/strange"));
	cluster_finish(&cluster);
}
END_TEST

/** A uid in the annotations or data of an object is not the uid of the object. */
START_TEST(test_garbage_collector__mentioned_uid)
{
	struct cluster cluster;
	cluster_init(&cluster, COLLECTOR);
	cluster_create(&cluster, "configmaps", "default/",
		"{'metadata':{'name':'o','annotations':{'uid':'u-old'}},'data':{'uid':'u-old'}}");
	make_dependent(&cluster, "stale", "o", "u-old", false);
	cluster_run(&cluster, 0);
	ck_assert(!cluster_has(&cluster, "configmaps", "default/stale"));
	ck_assert(cluster_has(&cluster, "configmaps", "default/o"));
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_garbage_collector__one_owner_lives)
{
	struct cluster cluster;
	const char *a;
	const char *b;
	struct bt_str body;
	cluster_init(&cluster, COLLECTOR);
	a = make_owner(&cluster, "a");
	b = make_owner(&cluster, "b");
	body = bt_arena_printf(&cluster.api.arena,
		"{'metadata':{'name':'d','ownerReferences':[{'apiVersion':'v1','kind':'ConfigMap',"
		"'name':'a','uid':'%s'},{'apiVersion':'v1','kind':'ConfigMap','name':'b','uid':"
		"'%s'}]}}",
		a, b);
	cluster_create(&cluster, "configmaps", "default/", body.data);
	cluster_run(&cluster, 0);
	cluster_delete(&cluster, "configmaps", "default/a");
	cluster_run(&cluster, 0);
	ck_assert_ptr_null(strstr(
		cluster_json(&cluster, "configmaps", "default/d", "metadata.ownerReferences"), a));
	ck_assert_ptr_nonnull(strstr(
		cluster_json(&cluster, "configmaps", "default/d", "metadata.ownerReferences"), b));
	cluster_delete(&cluster, "configmaps", "default/b");
	cluster_run(&cluster, 0);
	ck_assert(!cluster_has(&cluster, "configmaps", "default/d"));
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_garbage_collector__foreground_waits)
{
	struct cluster cluster;
	const char *uid;
	cluster_init(&cluster, COLLECTOR);
	uid = make_owner(&cluster, "o");
	make_dependent(&cluster, "d", "o", uid, true);
	cluster_patch(&cluster, "configmaps", "default/d", "{'metadata':{'finalizers':['a/b']}}");
	cluster_run(&cluster, 0);
	cluster.api.request.propagation = BT_PROPAGATION_FOREGROUND;
	cluster_delete(&cluster, "configmaps", "default/o");
	cluster_run(&cluster, 1000);
	ck_assert_str_eq(cluster_json(&cluster, "configmaps", "default/o", "metadata.finalizers"),
		"['foregroundDeletion']");
	ck_assert_str_ne(
		cluster_text(&cluster, "configmaps", "default/d", "metadata.deletionTimestamp"),
		"");
	cluster_patch(&cluster, "configmaps", "default/d", "{'metadata':{'finalizers':null}}");
	cluster_run(&cluster, 0);
	ck_assert(!cluster_has(&cluster, "configmaps", "default/d"));
	ck_assert(!cluster_has(&cluster, "configmaps", "default/o"));
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_garbage_collector__orphan)
{
	struct cluster cluster;
	const char *uid;
	cluster_init(&cluster, COLLECTOR);
	uid = make_owner(&cluster, "o");
	make_dependent(&cluster, "d", "o", uid, true);
	cluster_run(&cluster, 0);
	cluster.api.request.propagation = BT_PROPAGATION_ORPHAN;
	cluster_delete(&cluster, "configmaps", "default/o");
	cluster_run(&cluster, 0);
	ck_assert(!cluster_has(&cluster, "configmaps", "default/o"));
	ck_assert_str_eq(
		cluster_json(&cluster, "configmaps", "default/d", "metadata.ownerReferences"), "");
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_garbage_collector__edge_14b_35_namespace)
{
	struct cluster cluster;
	cluster_init(
		&cluster, "namespace-controller,node-agent,serviceaccount-controller," COLLECTOR);
	cluster_add_node(&cluster, "n");
	cluster_create(&cluster, "namespaces", "", "{'metadata':{'name':'m'}}");
	for (uint32_t i = 0; i < 3; i++) {
		cluster_create(&cluster, "pods", "m/",
			"{'metadata':{'generateName':'p-'},'spec':{'nodeName':'n','containers':[{"
			"'name':'c','image':'i'}]}}");
	}
	cluster_run(&cluster, 2000);
	ck_assert(cluster_has(&cluster, "serviceaccounts", "m/default"));
	cluster_delete(&cluster, "namespaces", "m");
	cluster_run(&cluster, 500);
	ck_assert_str_eq(cluster_text(&cluster, "namespaces", "m", "status.phase"), "Terminating");
	ck_assert_str_eq(
		cluster_condition(&cluster, "namespaces", "m", "NamespaceContentRemaining"),
		"True/SomeResourcesRemain");
	/* Pods are deleted before other objects. */
	ck_assert(cluster_has(&cluster, "serviceaccounts", "m/default"));
	ck_assert_uint_eq(count_of(&cluster, "", "pods"), 3);
	cluster_run(&cluster, 1000);
	ck_assert_uint_eq(count_of(&cluster, "", "pods"), 0);
	ck_assert(!cluster_has(&cluster, "namespaces", "m"));
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_garbage_collector__large_namespace)
{
	struct cluster cluster;
	cluster_init(&cluster, "namespace-controller");
	cluster_create(&cluster, "namespaces", "", "{'metadata':{'name':'m'}}");
	for (uint32_t i = 0; i < 1000; i++) {
		cluster_create(&cluster, "configmaps", "m/", "{'metadata':{'generateName':'c-'}}");
	}
	cluster_delete(&cluster, "namespaces", "m");
	cluster_run(&cluster, 500);
	ck_assert(!cluster_has(&cluster, "namespaces", "m"));
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_garbage_collector__custom_resources)
{
	struct cluster cluster;
	struct bt_str body;
	cluster_init(&cluster, "namespace-controller," COLLECTOR);
	cluster_create(&cluster, "customresourcedefinitions.apiextensions.k8s.io", "",
		"{'metadata':{'name':'things.x.io'},'spec':{'group':'x.io','scope':'Namespaced',"
		"'names':{'plural':'things','singular':'thing','kind':'Thing','listKind':"
		"'ThingList'},'versions':[{'name':'v1','served':true,'storage':true,'schema':{"
		"'openAPIV3Schema':{'type':'object'}}}]}}");
	cluster_create(&cluster, "namespaces", "", "{'metadata':{'name':'m'}}");
	cluster_run(&cluster, 0);
	cluster_create(&cluster, "things.x.io", "m/",
		"{'apiVersion':'x.io/v1','kind':'Thing','metadata':{'name':'t'}}");
	body = bt_arena_printf(&cluster.api.arena,
		"{'metadata':{'name':'d','ownerReferences':[{'apiVersion':'x.io/v1','kind':'Thing',"
		"'name':'t','uid':'%s'}]}}",
		api_text(&cluster.api, "metadata.uid"));
	cluster_create(&cluster, "configmaps", "m/", body.data);
	cluster_run(&cluster, 0);
	ck_assert(cluster_has(&cluster, "configmaps", "m/d"));
	cluster_delete(&cluster, "things.x.io", "m/t");
	cluster_run(&cluster, 0);
	ck_assert(!cluster_has(&cluster, "configmaps", "m/d"));
	cluster_create(&cluster, "things.x.io", "m/",
		"{'apiVersion':'x.io/v1','kind':'Thing','metadata':{'name':'u'}}");
	cluster_delete(&cluster, "namespaces", "m");
	cluster_run(&cluster, 200);
	ck_assert(!cluster_has(&cluster, "things.x.io", "m/u"));
	ck_assert(!cluster_has(&cluster, "namespaces", "m"));
	cluster_finish(&cluster);
}
END_TEST

BT_TEST_MAIN("garbage_collector", test_garbage_collector__edge_14b_36_background,
	test_garbage_collector__edge_14b_37_unknown_owner, test_garbage_collector__mentioned_uid,
	test_garbage_collector__one_owner_lives, test_garbage_collector__foreground_waits,
	test_garbage_collector__orphan, test_garbage_collector__edge_14b_35_namespace,
	test_garbage_collector__large_namespace, test_garbage_collector__custom_resources)
