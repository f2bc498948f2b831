/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "cluster.h"
#include "codec/json_edit.h"
#include "refusal.h"
#include "test_main.h"

#define CLAIMS "resourceclaims.resource.k8s.io"
#define POD \
	"{'metadata':{'name':'p'},'spec':{'containers':[{'name':'c','image':'i'}]," \
	"'resourceClaims':[{'name':'gpu','resourceClaimTemplateName':'t'}]}}"
#define TEMPLATE \
	"{'metadata':{'name':'t'},'spec':{'metadata':{'labels':{'a':'b'}},'spec':{'devices':{" \
	"'requests':[{'name':'r','exactly':{'deviceClassName':'x'}}]}}}}"

/** Longer than the delays of the retries. */
#define LONG_MS 200000

static const char *claim_key(struct cluster *cluster)
{
	const struct bt_json_value *made;
	struct bt_str name;
	struct bt_str key;

	ck_assert_uint_eq(api_get(&cluster->api, "pods", "default/p"), 200);
	made = bt_json_array_at(cluster->api.result, "status.resourceClaimStatuses");
	ck_assert_uint_eq(made->count, 1);
	ck_assert(bt_str_equal_c(bt_json_text_at(made->elements[0], "name"), "gpu"));
	name = bt_json_text_at(made->elements[0], "resourceClaimName");
	key = bt_arena_printf(&cluster->api.arena, "default/%.*s", BT_STR_ARG(name));
	return key.data;
}

START_TEST(test_claims__made_from_templates)
{
	struct cluster cluster;
	const char *key;
	struct bt_str body;
	cluster_init(&cluster, "resourceclaim-controller,garbage-collector-controller");
	cluster_create(&cluster, "pods", "default/", POD);
	cluster_run(&cluster, 0);
	ck_assert_uint_eq(cluster_events(&cluster, "FailedResourceClaimCreation"), 1);
	cluster_create(&cluster, "resourceclaimtemplates.resource.k8s.io", "default/", TEMPLATE);
	cluster_run(&cluster, 0);
	key = claim_key(&cluster);
	ck_assert_str_eq(cluster_json(&cluster, CLAIMS, key, "metadata.labels"), "{'a':'b'}");
	ck_assert_str_eq(api_json(&cluster.api, "metadata.annotations"),
		"{'resource.kubernetes.io/pod-claim-name':'gpu'}");
	ck_assert_str_eq(api_text(&cluster.api, "metadata.generateName"), "p-gpu-");
	/*
	 * The scheduler adds the finalizer before it allocates; the controller must keep the
	 * finalizer.
	 */
	cluster_patch(&cluster, CLAIMS, key,
		"{'metadata':{'finalizers':['resource.kubernetes.io/delete-protection']}}");
	cluster_run(&cluster, 0);
	ck_assert_str_ne(cluster_json(&cluster, CLAIMS, key, "metadata.finalizers"), "");
	(void)api_get(&cluster.api, "pods", "default/p");
	body = bt_arena_printf(&cluster.api.arena,
		"{'status':{'allocation':{'devices':{'results':[{'request':'r','driver':'d.x',"
		"'pool':'p','device':'g'}]}},'reservedFor':[{'resource':'pods','name':'p','uid':"
		"'%s'}]}}",
		api_text(&cluster.api, "metadata.uid"));
	cluster_patch(&cluster, "resourceclaims.resource.k8s.io/status", key, body.data);
	cluster_run(&cluster, 0);
	ck_assert_str_ne(cluster_json(&cluster, CLAIMS, key, "status.allocation"), "");
	/* When the pod ends, the claim made for it is deleted. */
	cluster_patch(&cluster, "pods/status", "default/p", "{'status':{'phase':'Succeeded'}}");
	cluster_run(&cluster, 0);
	ck_assert(!cluster_has(&cluster, CLAIMS, key));
	cluster_run(&cluster, 1000);
	ck_assert_str_eq(claim_key(&cluster), key);
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_claims__refusals_are_reported)
{
	struct cluster cluster;
	cluster_init(&cluster, "resourceclaim-controller");
	cluster_patch(&cluster, "namespaces", "default",
		"{'metadata':{'labels':{'resource.kubernetes.io/admin-access':'true'}}}");
	cluster_create(&cluster, "resourceclaimtemplates.resource.k8s.io", "default/",
		"{'metadata':{'name':'t'},'spec':{'spec':{'devices':{'requests':[{'name':'r',"
		"'exactly':{'deviceClassName':'x','adminAccess':true}}]}}}}");
	cluster_patch(&cluster, "namespaces", "default",
		"{'metadata':{'labels':{'resource.kubernetes.io/admin-access':null}}}");
	cluster_create(&cluster, "pods", "default/", POD);
	cluster_run(&cluster, 0);
	ck_assert_uint_eq(cluster_events(&cluster, "FailedResourceClaimCreation"), 1);
	/* The controller retries the creation. */
	cluster_patch(&cluster, "namespaces", "default",
		"{'metadata':{'labels':{'resource.kubernetes.io/admin-access':'true'}}}");
	cluster_run(&cluster, 60000);
	ck_assert(cluster_has(&cluster, CLAIMS, claim_key(&cluster)));
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_claims__deleted_claim_is_made_again)
{
	struct cluster cluster;
	const char *first;
	cluster_init(&cluster, "resourceclaim-controller");
	cluster_create(&cluster, "resourceclaimtemplates.resource.k8s.io", "default/", TEMPLATE);
	cluster_create(&cluster, "pods", "default/", POD);
	cluster_run(&cluster, 0);
	first = claim_key(&cluster);
	cluster_delete(&cluster, CLAIMS, first);
	cluster_run(&cluster, 0);
	ck_assert_str_ne(claim_key(&cluster), first);
	cluster_finish(&cluster);
}
END_TEST

#define SHARED_CLAIM \
	"{'metadata':{'name':'c','finalizers':['resource.kubernetes.io/delete-protection']}," \
	"'spec':{'devices':{'requests':[{'name':'r','exactly':{'deviceClassName':'x'}}]}}}"
#define USER(name) \
	"{'metadata':{'name':'" name "'},'spec':{'containers':[{'name':'c','image':'i'}]," \
	"'resourceClaims':[{'name':'gpu','resourceClaimName':'c'}]}}"
#define ALLOCATION \
	"'allocation':{'devices':{'results':[{'request':'r','driver':'d.x','pool':'p'," \
	"'device':'g'}]}}"

static const char *uid_of(struct cluster *cluster, const char *name)
{
	struct bt_str key = bt_arena_printf(&cluster->api.arena, "default/%s", name);
	ck_assert_uint_eq(api_get(&cluster->api, "pods", key.data), 200);
	return api_text(&cluster->api, "metadata.uid");
}

/** Creates a claim with allocated devices that is reserved for two pods with these uids. */
static void make_shared_claim(struct cluster *cluster, const char *first, const char *second)
{
	struct bt_str body = bt_arena_printf(&cluster->api.arena,
		"{'status':{" ALLOCATION ",'reservedFor':["
		"{'resource':'pods','name':'p','uid':'%s'},"
		"{'resource':'pods','name':'q','uid':'%s'}]}}",
		first, second);
	cluster_create(cluster, CLAIMS, "default/", SHARED_CLAIM);
	cluster_patch(cluster, CLAIMS "/status", "default/c", body.data);
}

/*
 * Devices are free when the last pod that uses them is gone, whether or not the claim was made from
 * a template.
 */
START_TEST(test_claims__freed_by_the_last_user)
{
	struct cluster cluster;
	cluster_init(&cluster, "resourceclaim-controller");
	cluster_create(&cluster, "pods", "default/", USER("p"));
	cluster_create(&cluster, "pods", "default/", USER("q"));
	make_shared_claim(&cluster, uid_of(&cluster, "p"), uid_of(&cluster, "q"));
	cluster_run(&cluster, 0);
	cluster_delete(&cluster, "pods", "default/p");
	cluster_run(&cluster, 0);
	ck_assert_ptr_nonnull(
		strstr(cluster_json(&cluster, CLAIMS, "default/c", "status.reservedFor"), "'q'"));
	ck_assert_ptr_null(
		strstr(cluster_json(&cluster, CLAIMS, "default/c", "status.reservedFor"), "'p'"));
	ck_assert_str_ne(cluster_json(&cluster, CLAIMS, "default/c", "status.allocation"), "");
	cluster_patch(&cluster, "pods/status", "default/q", "{'status':{'phase':'Failed'}}");
	cluster_run(&cluster, 0);
	ck_assert(cluster_has(&cluster, CLAIMS, "default/c"));
	ck_assert_str_eq(cluster_json(&cluster, CLAIMS, "default/c", "status.reservedFor"), "");
	ck_assert_str_eq(cluster_json(&cluster, CLAIMS, "default/c", "status.allocation"), "");
	ck_assert_str_eq(cluster_json(&cluster, CLAIMS, "default/c", "metadata.finalizers"), "");
	cluster_finish(&cluster);
}
END_TEST

/* The scheduler reserved the claim for a pod that was deleted meanwhile. */
START_TEST(test_claims__reserved_for_a_pod_that_is_gone)
{
	struct cluster cluster;
	cluster_init(&cluster, "resourceclaim-controller");
	make_shared_claim(&cluster, "gone-1", "gone-2");
	cluster_run(&cluster, 0);
	ck_assert_str_eq(cluster_json(&cluster, CLAIMS, "default/c", "status.reservedFor"), "");
	ck_assert_str_eq(cluster_json(&cluster, CLAIMS, "default/c", "status.allocation"), "");
	cluster_finish(&cluster);
}
END_TEST

/* The scheduler may reserve an allocated claim again, so the controller keeps the allocation. */
START_TEST(test_claims__allocated_and_not_reserved_is_left_alone)
{
	struct cluster cluster;
	cluster_init(&cluster, "resourceclaim-controller");
	cluster_create(&cluster, CLAIMS, "default/", SHARED_CLAIM);
	cluster_patch(&cluster, CLAIMS "/status", "default/c", "{'status':{" ALLOCATION "}}");
	cluster_run(&cluster, 0);
	ck_assert_str_ne(cluster_json(&cluster, CLAIMS, "default/c", "status.allocation"), "");
	cluster_delete(&cluster, CLAIMS, "default/c");
	cluster_run(&cluster, 0);
	ck_assert(!cluster_has(&cluster, CLAIMS, "default/c"));
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_claims__special_claim_ends_with_its_pod)
{
	struct cluster cluster;
	struct bt_str body;
	cluster_init(&cluster, "resourceclaim-controller");
	cluster_create(&cluster, "pods", "default/",
		"{'metadata':{'name':'e'},'spec':{'containers':[{'name':'c','image':'i'}]}}");
	body = bt_arena_printf(&cluster.api.arena,
		"{'metadata':{'name':'c','finalizers':['resource.kubernetes.io/delete-protection'],"
		"'ownerReferences':[{'apiVersion':'v1','kind':'Pod','name':'e','uid':'%s',"
		"'controller':true}]},'spec':{'devices':{'requests':[{'name':'r','exactly':{"
		"'deviceClassName':'x'}}]}}}",
		uid_of(&cluster, "e"));
	cluster_create(&cluster, CLAIMS, "default/", body.data);
	body = bt_arena_printf(&cluster.api.arena,
		"{'status':{" ALLOCATION
		",'reservedFor':[{'resource':'pods','name':'e','uid':'%s'}]}}",
		uid_of(&cluster, "e"));
	cluster_patch(&cluster, CLAIMS "/status", "default/c", body.data);
	cluster_patch(&cluster, "pods/status", "default/e",
		"{'status':{'extendedResourceClaimStatus':{'resourceClaimName':'c',"
		"'requestMappings':[{'containerName':'c','resourceName':'x.y/z','requestName':"
		"'r'}]}}}");
	cluster_run(&cluster, 0);
	ck_assert_str_ne(cluster_json(&cluster, CLAIMS, "default/c", "status.allocation"), "");
	cluster_patch(&cluster, "pods/status", "default/e", "{'status':{'phase':'Succeeded'}}");
	cluster_run(&cluster, 0);
	ck_assert(!cluster_has(&cluster, CLAIMS, "default/c"));
	cluster_finish(&cluster);
}
END_TEST

/* A pod assigned by hand gets a reservation of its allocated claim, and starts then. */
START_TEST(test_claims__reserved_for_pods_assigned_by_hand)
{
	struct cluster cluster;
	cluster_init(&cluster, "resourceclaim-controller,node-agent");
	cluster_add_node(&cluster, "n");
	cluster_create(&cluster, "pods", "default/",
		"{'metadata':{'name':'p'},'spec':{'nodeName':'n','containers':[{'name':'c','image':"
		"'i'}],'resourceClaims':[{'name':'gpu','resourceClaimName':'c'}]}}");
	cluster_run(&cluster, 1000);
	ck_assert_str_eq(cluster_text(&cluster, "pods", "default/p", "status.phase"), "Pending");
	cluster_create(&cluster, CLAIMS, "default/", SHARED_CLAIM);
	cluster_run(&cluster, 1000);
	ck_assert_str_eq(cluster_json(&cluster, CLAIMS, "default/c", "status.reservedFor"), "");
	cluster_patch(&cluster, CLAIMS "/status", "default/c", "{'status':{" ALLOCATION "}}");
	cluster_run(&cluster, 1000);
	ck_assert_ptr_nonnull(
		strstr(cluster_json(&cluster, CLAIMS, "default/c", "status.reservedFor"), "'p'"));
	ck_assert_str_eq(cluster_text(&cluster, "pods", "default/p", "status.phase"), "Running");
	cluster_finish(&cluster);
}
END_TEST

/* A pod does not start until its claim is created, allocated and reserved. */
START_TEST(test_claims__pods_wait_for_their_devices)
{
	struct cluster cluster;
	struct bt_str body;
	const char *key;
	cluster_init(&cluster, "resourceclaim-controller,node-agent");
	cluster_add_node(&cluster, "n");
	cluster_create(&cluster, "pods", "default/",
		"{'metadata':{'name':'p'},'spec':{'nodeName':'n','containers':[{'name':'c','image':"
		"'i'}],'resourceClaims':[{'name':'gpu','resourceClaimTemplateName':'t'}]}}");
	cluster_run(&cluster, 1000);
	cluster_create(&cluster, "resourceclaimtemplates.resource.k8s.io", "default/", TEMPLATE);
	cluster_run(&cluster, 1000);
	key = claim_key(&cluster);
	ck_assert_str_eq(cluster_text(&cluster, "pods", "default/p", "status.phase"), "Pending");
	body = bt_arena_printf(&cluster.api.arena,
		"{'status':{" ALLOCATION
		",'reservedFor':[{'resource':'pods','name':'p','uid':'%s'}]}}",
		uid_of(&cluster, "p"));
	cluster_patch(&cluster, CLAIMS "/status", key, body.data);
	cluster_run(&cluster, 1000);
	ck_assert_str_eq(cluster_text(&cluster, "pods", "default/p", "status.phase"), "Running");
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_claims__pod_groups_are_protected)
{
	struct cluster cluster;
	cluster_init(&cluster, "podgroup-protection-controller");
	cluster_create(&cluster, "podgroups.scheduling.k8s.io", "default/",
		"{'metadata':{'name':'g'},'spec':{'schedulingPolicy':{'basic':{}}}}");
	ck_assert_str_eq(api_json(&cluster.api, "metadata.finalizers"),
		"['scheduling.k8s.io/podgroup-protection']");
	cluster_create(&cluster, "pods", "default/",
		"{'metadata':{'name':'p'},'spec':{'containers':[{'name':'c','image':'i'}],"
		"'schedulingGroup':{'podGroupName':'g'}}}");
	cluster_run(&cluster, 0);
	cluster_delete(&cluster, "podgroups.scheduling.k8s.io", "default/g");
	cluster_run(&cluster, 1000);
	ck_assert(cluster_has(&cluster, "podgroups.scheduling.k8s.io", "default/g"));
	cluster_delete(&cluster, "pods", "default/p");
	cluster_run(&cluster, 0);
	ck_assert(!cluster_has(&cluster, "podgroups.scheduling.k8s.io", "default/g"));
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_claims__quotas_say_what_is_used)
{
	struct cluster cluster;
	cluster_init(&cluster, "resourcequota-controller");
	cluster_create(&cluster, "resourcequotas", "default/",
		"{'metadata':{'name':'q'},'spec':{'hard':{'pods':'5','requests.cpu':'2',"
		"'count/configmaps':'9'}}}");
	cluster_run(&cluster, 0);
	ck_assert_str_eq(cluster_json(&cluster, "resourcequotas", "default/q", "status.used"),
		"{'pods':'0','requests.cpu':'0','count/configmaps':'0'}");
	for (uint32_t i = 0; i < 2; i++) {
		cluster_create(&cluster, "pods", "default/",
			"{'metadata':{'generateName':'p-'},'spec':{'containers':[{'name':'c',"
			"'image':'i','resources':{'requests':{'cpu':'300m'}}}]}}");
	}
	cluster_create(&cluster, "configmaps", "default/", "{'metadata':{'name':'c'}}");
	cluster_run(&cluster, 500);
	ck_assert_str_eq(cluster_json(&cluster, "resourcequotas", "default/q", "status.used"),
		"{'pods':'2','requests.cpu':'600m','count/configmaps':'1'}");
	cluster_delete(&cluster, "configmaps", "default/c");
	cluster_run(&cluster, 500);
	ck_assert_str_eq(cluster_json(&cluster, "resourcequotas", "default/q", "status.used"),
		"{'pods':'2','requests.cpu':'600m','count/configmaps':'0'}");
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_claims__a_refused_status_makes_no_second_claim)
{
	struct cluster cluster;
	const struct bt_api_resource *claims;

	cluster_init(&cluster, "resourceclaim-controller");
	claims = bt_resources_builtin(
		bt_api_resources(cluster.api.api), "resource.k8s.io", "resourceclaims");
	cluster_create(&cluster, "resourceclaimtemplates.resource.k8s.io", "default/", TEMPLATE);
	refusal_begin(cluster.api.api, "", "pods/status", "UPDATE", "false");
	cluster_create(&cluster, "pods", "default/", POD);
	cluster_run(&cluster, LONG_MS);
	refusal_end(cluster.api.api);
	cluster_run(&cluster, LONG_MS);
	ck_assert(cluster_has(&cluster, CLAIMS, claim_key(&cluster)));
	ck_assert_uint_eq(bt_store_count(bt_api_store(cluster.api.api), claims->collection), 1);
	cluster_finish(&cluster);
}
END_TEST

BT_TEST_MAIN("claims", test_claims__made_from_templates,
	test_claims__a_refused_status_makes_no_second_claim, test_claims__refusals_are_reported,
	test_claims__deleted_claim_is_made_again, test_claims__freed_by_the_last_user,
	test_claims__reserved_for_a_pod_that_is_gone,
	test_claims__allocated_and_not_reserved_is_left_alone,
	test_claims__special_claim_ends_with_its_pod,
	test_claims__reserved_for_pods_assigned_by_hand, test_claims__pods_wait_for_their_devices,
	test_claims__pod_groups_are_protected, test_claims__quotas_say_what_is_used)
