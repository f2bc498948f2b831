/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster.h"
#include "test_main.h"

#define BUDGETS "poddisruptionbudgets.policy"
#define CONTROLLERS "disruption-controller,node-agent,deployment-controller,replicaset-controller"

static void make_pod(struct cluster *cluster, const char *name)
{
	struct bt_str body = bt_arena_printf(&cluster->api.arena,
		"{'metadata':{'name':'%s','labels':{'a':'b'}},'spec':{'nodeName':'n','containers':["
		"{'name':'c','image':'i'}]}}",
		name);
	cluster_create(cluster, "pods", "default/", body.data);
}

static void make_budget(struct cluster *cluster, const char *rule)
{
	struct bt_str body = bt_arena_printf(&cluster->api.arena,
		"{'metadata':{'name':'b'},'spec':{%s,'selector':{'matchLabels':{'a':'b'}}}}", rule);
	cluster_create(cluster, BUDGETS, "default/", body.data);
}

static void make_deployment(struct cluster *cluster, uint32_t replicas)
{
	struct bt_str body = bt_arena_printf(&cluster->api.arena,
		"{'metadata':{'name':'d'},'spec':{'replicas':%u,'selector':{'matchLabels':{'a':"
		"'b'}},'template':{'metadata':{'labels':{'a':'b'}},'spec':{'nodeName':'n',"
		"'containers':[{'name':'c','image':'i'}]}}}}",
		replicas);
	cluster_create(cluster, "deployments.apps", "default/", body.data);
}

static void check_status(struct cluster *cluster, int64_t expected, int64_t desired,
	int64_t healthy, int64_t allowed)
{
	ck_assert_uint_eq(api_get(&cluster->api, BUDGETS, "default/b"), 200);
	ck_assert_int_eq(api_int(&cluster->api, "status.expectedPods"), expected);
	ck_assert_int_eq(api_int(&cluster->api, "status.desiredHealthy"), desired);
	ck_assert_int_eq(api_int(&cluster->api, "status.currentHealthy"), healthy);
	ck_assert_int_eq(api_int(&cluster->api, "status.disruptionsAllowed"), allowed);
	ck_assert_int_eq(api_int(&cluster->api, "status.observedGeneration"), 1);
}

START_TEST(test_disruption__edge_14b_34_one_of_one)
{
	struct cluster cluster;
	cluster_init(&cluster, CONTROLLERS);
	cluster_add_node(&cluster, "n");
	make_budget(&cluster, "'minAvailable':1");
	cluster_run(&cluster, 0);
	check_status(&cluster, 0, 1, 0, 0);
	make_pod(&cluster, "p");
	cluster_run(&cluster, 1000);
	check_status(&cluster, 1, 1, 1, 0);
	ck_assert_str_eq(cluster_condition(&cluster, BUDGETS, "default/b", "DisruptionAllowed"),
		"False/InsufficientPods");
	make_pod(&cluster, "q");
	cluster_run(&cluster, 1000);
	check_status(&cluster, 2, 1, 2, 1);
	ck_assert_str_eq(cluster_condition(&cluster, BUDGETS, "default/b", "DisruptionAllowed"),
		"True/SufficientPods");
	/* A pod that is being deleted does not count as healthy. */
	cluster_delete(&cluster, "pods", "default/q");
	cluster_run(&cluster, 100);
	check_status(&cluster, 2, 1, 1, 0);
	cluster_run(&cluster, 1000);
	check_status(&cluster, 1, 1, 1, 0);
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_disruption__scale_of_controllers)
{
	struct cluster cluster;
	cluster_init(&cluster, CONTROLLERS);
	cluster_add_node(&cluster, "n");
	make_budget(&cluster, "'maxUnavailable':'30%'");
	make_deployment(&cluster, 5);
	cluster_run(&cluster, 2000);
	/* 30 % of 5, rounded up: 2. */
	check_status(&cluster, 5, 3, 5, 2);
	cluster_patch(&cluster, "deployments.apps", "default/d", "{'spec':{'replicas':6}}");
	cluster_run(&cluster, 2000);
	check_status(&cluster, 6, 4, 6, 2);
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_disruption__scale_of_custom_resources)
{
	struct cluster cluster;
	cluster_init(&cluster, CONTROLLERS);
	cluster_add_node(&cluster, "n");
	make_budget(&cluster, "'maxUnavailable':1");
	cluster_create(&cluster, "customresourcedefinitions.apiextensions.k8s.io", "",
		"{'metadata':{'name':'things.x.io'},'spec':{'group':'x.io','scope':'Namespaced',"
		"'names':{'plural':'things','singular':'thing','kind':'Thing','listKind':"
		"'ThingList'},'versions':[{'name':'v1','served':true,'storage':true,"
		"'subresources':{'scale':{'specReplicasPath':'.spec.size','statusReplicasPath':"
		"'.status.size'}},'schema':{'openAPIV3Schema':{'type':'object',"
		"'x-kubernetes-preserve-unknown-fields':true}}}]}}");
	cluster_run(&cluster, 0);
	cluster_create(&cluster, "things.x.io", "default/",
		"{'apiVersion':'x.io/"
		"v1','kind':'Thing','metadata':{'name':'t'},'spec':{'size':2}}");
	const char *uid = api_text(&cluster.api, "metadata.uid");
	for (char name = 'p'; name <= 'q'; name++) {
		struct bt_str body = bt_arena_printf(&cluster.api.arena,
			"{'metadata':{'name':'%c','labels':{'a':'b'},'ownerReferences':[{"
			"'apiVersion':'x.io/v1','kind':'Thing','name':'t','uid':'%s','controller':"
			"true}]},'spec':{'nodeName':'n','containers':[{'name':'c','image':'i'}]}}",
			name, uid);
		cluster_create(&cluster, "pods", "default/", body.data);
	}
	cluster_run(&cluster, 2000);
	check_status(&cluster, 2, 1, 2, 1);
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_disruption__percentage_available)
{
	struct cluster cluster;
	cluster_init(&cluster, CONTROLLERS);
	cluster_add_node(&cluster, "n");
	make_budget(&cluster, "'minAvailable':'50%'");
	make_deployment(&cluster, 3);
	cluster_run(&cluster, 2000);
	check_status(&cluster, 3, 2, 3, 1);
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_disruption__disrupted_pods_are_forgotten)
{
	struct cluster cluster;
	cluster_init(&cluster, CONTROLLERS);
	cluster_add_node(&cluster, "n");
	make_budget(&cluster, "'minAvailable':1");
	make_pod(&cluster, "p");
	make_pod(&cluster, "q");
	cluster_run(&cluster, 1000);
	cluster_patch(&cluster, BUDGETS "/status", "default/b",
		"{'status':{'disruptedPods':{'p':'2026-11-21T12:00:01Z','gone':"
		"'2026-11-21T12:00:01Z'}}}");
	cluster_run(&cluster, 100);
	check_status(&cluster, 2, 1, 1, 0);
	ck_assert_str_eq(
		api_json(&cluster.api, "status.disruptedPods"), "{'p':'2026-11-21T12:00:01Z'}");
	cluster_run(&cluster, 120000);
	check_status(&cluster, 2, 1, 2, 1);
	ck_assert_str_eq(api_json(&cluster.api, "status.disruptedPods"), "");
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_disruption__eviction_counts_down)
{
	struct cluster cluster;
	cluster_init(&cluster, CONTROLLERS);
	cluster_add_node(&cluster, "n");
	make_budget(&cluster, "'minAvailable':1");
	make_pod(&cluster, "p");
	make_pod(&cluster, "q");
	cluster_run(&cluster, 1000);
	ck_assert_uint_eq(
		api_create(&cluster.api, "pods/eviction", "default/p", "{'metadata':{'name':'p'}}"),
		201);
	ck_assert_uint_eq(
		api_create(&cluster.api, "pods/eviction", "default/q", "{'metadata':{'name':'q'}}"),
		429);
	cluster_run(&cluster, 5000);
	ck_assert(!cluster_has(&cluster, "pods", "default/p"));
	check_status(&cluster, 1, 1, 1, 0);
	cluster_finish(&cluster);
}
END_TEST

BT_TEST_MAIN("disruption", test_disruption__edge_14b_34_one_of_one,
	test_disruption__scale_of_controllers, test_disruption__scale_of_custom_resources,
	test_disruption__percentage_available, test_disruption__disrupted_pods_are_forgotten,
	test_disruption__eviction_counts_down)
