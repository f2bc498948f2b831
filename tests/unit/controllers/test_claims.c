/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster.h"
#include "codec/json_edit.h"
#include "test_main.h"

#define CLAIMS "resourceclaims.resource.k8s.io"
#define POD \
	"{'metadata':{'name':'p'},'spec':{'containers':[{'name':'c','image':'i'}]," \
	"'resourceClaims':[{'name':'gpu','resourceClaimTemplateName':'t'}]}}"
#define TEMPLATE \
	"{'metadata':{'name':'t'},'spec':{'metadata':{'labels':{'a':'b'}},'spec':{'devices':{" \
	"'requests':[{'name':'r','exactly':{'deviceClassName':'x'}}]}}}}"

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
	/* The scheduler writes the finalizer first: it stays. */
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
	/* The pod ends: nothing is reserved or allocated any more. */
	cluster_patch(&cluster, "pods/status", "default/p", "{'status':{'phase':'Succeeded'}}");
	cluster_run(&cluster, 0);
	ck_assert(cluster_has(&cluster, CLAIMS, key));
	ck_assert_str_eq(cluster_json(&cluster, CLAIMS, key, "status.reservedFor"), "");
	ck_assert_str_eq(cluster_json(&cluster, CLAIMS, key, "status.allocation"), "");
	ck_assert_str_eq(cluster_json(&cluster, CLAIMS, key, "metadata.finalizers"), "");
	cluster_delete(&cluster, "pods", "default/p");
	cluster_run(&cluster, 0);
	ck_assert(!cluster_has(&cluster, CLAIMS, key));
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

BT_TEST_MAIN("claims", test_claims__made_from_templates, test_claims__deleted_claim_is_made_again,
	test_claims__pod_groups_are_protected, test_claims__quotas_say_what_is_used)
