/* SPDX-License-Identifier: Apache-2.0 */
/* Bindings, evictions, scales, reviews. Spec: 14 sections 14.5, 17 and 23. */
#include "api_fixture.h"

#include "codec/json_edit.h"
#include "test_main.h"

#define BINDING(name, node) \
	"{'metadata':{'name':'" name "'},'target':{'kind':'Node','name':'" node "'}}"

START_TEST(test_api__edge_14_26_binding)
{
	struct api_fixture f;
	api_fixture_init(&f);
	ck_assert_uint_eq(api_create(&f, "nodes", "",
				  "{'metadata':{'name':'wn1','labels':{'x':'y',"
				  "'topology.kubernetes.io/zone':'z1'}}}"),
		201);
	api_create_pod(&f, "s1", NULL);
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, "pods/status", "default/s1",
				  "{'status':{'nominatedNodeName':'wn1','conditions':[{'type':"
				  "'PodScheduled','status':'False','reason':'Unschedulable',"
				  "'message':'m'}]}}"),
		200);
	ck_assert_uint_eq(
		api_create(&f, "pods/binding", "default/s1",
			"{'kind':'Binding','apiVersion':'v1','metadata':{'name':'s1','annotations':"
			"{'k':'v'}},'target':{'kind':'Node','name':'wn1'}}"),
		201);
	ck_assert_str_eq(api_json(&f, ""),
		"{'kind':'Status','apiVersion':'v1','metadata':{},'status':'Success','code':201}");
	ck_assert_uint_eq(api_commits(&f), 1);
	ck_assert_uint_eq(api_get(&f, "pods", "default/s1"), 200);
	ck_assert_str_eq(api_text(&f, "spec.nodeName"), "wn1");
	ck_assert_str_eq(api_json(&f, "status.nominatedNodeName"), "");
	ck_assert_str_eq(api_text(&f, "metadata.annotations.k"), "v");
	ck_assert_str_eq(
		api_json(&f, "metadata.labels"), "{'app':'a','topology.kubernetes.io/zone':'z1'}");
	ck_assert_int_eq(api_int(&f, "metadata.generation"), 1);
	const struct bt_json_value *condition =
		bt_json_array_at(f.result, "status.conditions")->elements[0];
	ck_assert(bt_str_equal_c(bt_json_text_at(condition, "status"), "True"));
	ck_assert(bt_str_equal_c(
		bt_json_text_at(condition, "lastTransitionTime"), "2026-11-21T12:00:00Z"));
	ck_assert_ptr_null(bt_json_find(condition, "reason"));
	for (int i = 0; i < 2; i++) {
		ck_assert_uint_eq(api_create(&f, "pods/binding", "default/s1",
					  i == 0 ? BINDING("s1", "wn1") : BINDING("s1", "wn2")),
			409);
		ck_assert_str_eq(api_message(&f),
			"Operation cannot be fulfilled on pods/binding \"s1\": pod s1 is already "
			"assigned to node \"wn1\"");
		ck_assert_str_eq(api_json(&f, "details"), "{'name':'s1','kind':'pods/binding'}");
	}
	/*
	 * the server wrote the binding in the form that clients write: an empty patch changes
	 * nothing
	 */
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, "pods/status", "default/s1", "{}"), 200);
	ck_assert_uint_eq(api_commits(&f), 0);
	/* the node need not exist, and the collection accepts bindings, too */
	api_create_pod(&f, "s2", NULL);
	ck_assert_uint_eq(api_create(&f, "bindings", "default/", BINDING("s2", "nowhere")), 201);
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_api__edge_14_27_binding_refusals)
{
	struct api_fixture f;
	api_fixture_init(&f);
	api_create_pod(&f, "p", NULL);
	static const struct {
		const char *body;
		uint16_t code;
		const char *message;
	} rows[] = {
		{"{'target':{'name':'n'}}", 400,
			"name in URL does not match name in Binding object"},
		{"{'metadata':{'name':'q'},'target':{'name':'n'}}", 400,
			"name in URL does not match name in Binding object"},
		{"{'metadata':{'name':'p'},'target':{}}", 500, "target.name: Required value"},
		{"{'metadata':{'name':'p','uid':'x'},'target':{'name':'n'}}", 409, NULL},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ck_assert_uint_eq(
			api_create(&f, "pods/binding", "default/p", rows[i].body), rows[i].code);
		if (rows[i].message != NULL) {
			ck_assert_str_eq(api_message(&f), rows[i].message);
		}
	}
	ck_assert_uint_eq(api_create(&f, "pods/binding", "default/s1", BINDING("s1", "n")), 404);
	ck_assert_str_eq(api_message(&f), "pods \"s1\" not found");
	ck_assert_uint_eq(api_create(&f, "pods", "default/",
				  "{'metadata':{'name':'g'},'spec':{'schedulingGates':[{'name':'x'}"
				  "],'containers':[{'name':'c','image':'i'}]}}"),
		201);
	ck_assert_uint_eq(api_create(&f, "pods/binding", "default/g", BINDING("g", "n")), 409);
	ck_assert_str_eq(api_message(&f),
		"Operation cannot be fulfilled on pods/binding \"g\": pod g has non-empty "
		".spec.schedulingGates");
	f.request.dry_run = true;
	ck_assert_uint_eq(api_create(&f, "pods/binding", "default/p", BINDING("p", "n")), 201);
	ck_assert_uint_eq(api_commits(&f), 0);
	/* a target without kind binds the pod, too */
	ck_assert_uint_eq(api_create(&f, "pods/binding", "default/p",
				  "{'metadata':{'name':'p'},'target':{'name':'n'}}"),
		201);
	api_fixture_finish(&f);
}
END_TEST

static void create_budget(struct api_fixture *f, int allowed)
{
	ck_assert_uint_eq(api_create(f, "poddisruptionbudgets.policy", "default/",
				  "{'metadata':{'name':'pe'},'spec':{'minAvailable':1,'selector':{"
				  "'matchLabels':{'app':'a'}}}}"),
		201);
	struct bt_str status = bt_arena_printf(&f->arena,
		"{'status':{'observedGeneration':1,'disruptionsAllowed':%d,'currentHealthy':1,"
		"'desiredHealthy':1,'expectedPods':1}}",
		allowed);
	ck_assert_uint_eq(api_patch(f, BT_PATCH_MERGE, "poddisruptionbudgets.policy/status",
				  "default/pe", status.data),
		200);
}

#define EVICTION(name) "{'apiVersion':'policy/v1','kind':'Eviction','metadata':{'name':'" name "'}}"

START_TEST(test_api__edge_14_28_29_eviction)
{
	struct api_fixture f;
	api_fixture_init(&f);
	create_budget(&f, 0);
	api_create_pod(&f, "pending", NULL);
	ck_assert_uint_eq(
		api_create(&f, "pods/eviction", "default/pending", EVICTION("pending")), 201);
	ck_assert_uint_eq(api_get(&f, "pods", "default/pending"), 404);
	api_create_pod(&f, "p", "n");
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, "pods/status", "default/p",
				  "{'status':{'phase':'Running','conditions':[{'type':'Ready',"
				  "'status':'True'}]}}"),
		200);
	ck_assert_uint_eq(api_create(&f, "pods/eviction", "default/p", EVICTION("p")), 429);
	ck_assert_str_eq(api_message(&f),
		"Cannot evict pod as it would violate the pod's disruption budget.");
	ck_assert_str_eq(api_json(&f, "details"),
		"{'causes':[{'reason':'DisruptionBudget','message':'The disruption budget pe needs "
		"1 healthy pods and has 1 currently'}]}");
	ck_assert_int_eq(f.answer.failure.retry_after_seconds, 0);
	ck_assert_uint_eq(api_commits(&f), 0);
	/* the controller has not observed the budget's change yet */
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, "poddisruptionbudgets.policy", "default/pe",
				  "{'spec':{'minAvailable':0}}"),
		200);
	ck_assert_uint_eq(api_create(&f, "pods/eviction", "default/p", EVICTION("p")), 429);
	ck_assert_int_eq(f.answer.failure.retry_after_seconds, 10);
	ck_assert_int_eq(api_int(&f, "details.retryAfterSeconds"), 10);
	ck_assert_uint_eq(
		api_patch(&f, BT_PATCH_MERGE, "poddisruptionbudgets.policy/status", "default/pe",
			"{'status':{'observedGeneration':2,'disruptionsAllowed':1}}"),
		200);
	ck_assert_uint_eq(api_create(&f, "pods/eviction", "default/p",
				  "{'apiVersion':'policy/v1beta1','kind':'Eviction','metadata':{"
				  "'name':'p'},'deleteOptions':{'gracePeriodSeconds':7}}"),
		201);
	ck_assert_str_eq(api_text(&f, "status"), "Success");
	ck_assert_uint_eq(api_get(&f, "pods", "default/p"), 200);
	ck_assert_int_eq(api_int(&f, "metadata.deletionGracePeriodSeconds"), 7);
	const struct bt_json_value *conditions = bt_json_array_at(f.result, "status.conditions");
	ck_assert(bt_str_equal_c(
		bt_json_text_at(conditions->elements[conditions->count - 1], "reason"),
		"EvictionByEvictionAPI"));
	ck_assert_uint_eq(api_get(&f, "poddisruptionbudgets.policy", "default/pe"), 200);
	ck_assert_int_eq(api_int(&f, "status.disruptionsAllowed"), 0);
	ck_assert_str_eq(api_json(&f, "status.disruptedPods"), "{'p':'2026-11-21T12:00:00Z'}");
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_api__eviction_options)
{
	struct api_fixture f;
	api_fixture_init(&f);
	api_create_pod(&f, "p", NULL);
	ck_assert_uint_eq(api_create(&f, "pods/eviction", "default/p",
				  "{'deleteOptions':{'dryRun':['Some']}}"),
		422);
	ck_assert_uint_eq(api_create(&f, "pods/eviction", "default/p",
				  "{'deleteOptions':{'propagationPolicy':'None'}}"),
		422);
	ck_assert_uint_eq(api_create(&f, "pods/eviction", "default/p",
				  "{'deleteOptions':{'preconditions':{'uid':'x'}}}"),
		409);
	ck_assert_uint_eq(api_create(&f, "pods/eviction", "default/p",
				  "{'deleteOptions':{'dryRun':['All'],'gracePeriodSeconds':-1}}"),
		201);
	ck_assert_uint_eq(api_get(&f, "pods", "default/p"), 200);
	ck_assert_uint_eq(api_create(&f, "pods/eviction", "default/p", "{}"), 201);
	ck_assert_uint_eq(api_get(&f, "pods", "default/p"), 404);
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_api__eviction_with_two_budgets)
{
	struct api_fixture f;
	api_fixture_init(&f);
	create_budget(&f, 1);
	ck_assert_uint_eq(
		api_create(&f, "poddisruptionbudgets.policy", "default/",
			"{'metadata':{'name':'p2'},'spec':{'minAvailable':1,'selector':{}}}"),
		201);
	api_create_pod(&f, "p", "n");
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, "pods/status", "default/p",
				  "{'status':{'phase':'Running'}}"),
		200);
	ck_assert_uint_eq(api_create(&f, "pods/eviction", "default/p", EVICTION("p")), 500);
	ck_assert_str_eq(api_message(&f),
		"This pod has more than one PodDisruptionBudget, which the eviction subresource "
		"does not support.");
	ck_assert_uint_eq(api_create(&f, "pods/eviction", "default/gone", EVICTION("gone")), 404);
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_api__edge_14_30_scale)
{
	struct api_fixture f;
	api_fixture_init(&f);
	ck_assert_uint_eq(
		api_create(&f, "deployments.apps", "default/",
			"{'metadata':{'name':'m1'},'spec':{'selector':{'matchLabels':{'a':'m1'},"
			"'matchExpressions':[{'key':'Z','operator':'In','values':['1','2']}]},"
			"'template':{'metadata':{'labels':{'a':'m1','Z':'1'}},'spec':{'containers':"
			"[{'name':'c','image':'i'}]}}}}"),
		201);
	const char *uid = api_text(&f, "metadata.uid");
	const char *rv = api_text(&f, "metadata.resourceVersion");
	ck_assert_uint_eq(api_get(&f, "deployments.apps/scale", "default/m1"), 200);
	struct bt_str expected = bt_arena_printf(&f.arena,
		"{'kind':'Scale','apiVersion':'autoscaling/v1','metadata':{'name':'m1','namespace':"
		"'default','uid':'%s','resourceVersion':'%s','creationTimestamp':"
		"'2026-11-21T12:00:00Z'},'spec':{'replicas':1},'status':{'replicas':0,'selector':"
		"'Z in (1,2),a=m1'}}",
		uid, rv);
	ck_assert_str_eq(api_json(&f, ""), expected.data);
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, "deployments.apps/scale", "default/m1",
				  "{'spec':{'replicas':-1}}"),
		422);
	ck_assert_str_eq(api_message(&f),
		"Scale.autoscaling \"m1\" is invalid: spec.replicas: Invalid value: -1: must be "
		"greater than or equal to 0");
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_STRATEGIC, "deployments.apps/scale", "default/m1",
				  "{'spec':{'replicas':3}}"),
		200);
	ck_assert_int_eq(api_int(&f, "spec.replicas"), 3);
	ck_assert_str_eq(api_text(&f, "kind"), "Scale");
	ck_assert_uint_eq(api_commits(&f), 1);
	struct bt_str stale = bt_arena_printf(&f.arena,
		"{'metadata':{'name':'m1','resourceVersion':'%s'},'spec':{'replicas':0}}", rv);
	ck_assert_uint_eq(api_update(&f, "deployments.apps/scale", "default/m1", stale.data), 409);
	ck_assert_uint_eq(api_update(&f, "deployments.apps/scale", "default/m1",
				  "{'metadata':{'name':'m1'},'spec':{}}"),
		200);
	ck_assert_str_eq(api_json(&f, "spec"), "{}");
	ck_assert_uint_eq(api_get(&f, "deployments.apps", "default/m1"), 200);
	ck_assert_int_eq(api_int(&f, "spec.replicas"), 0);
	ck_assert_int_eq(api_int(&f, "metadata.generation"), 3);
	api_fixture_finish(&f);
}
END_TEST

static uint16_t apply(struct api_fixture *f, const char *resource, const char *manager, bool force,
	const char *body)
{
	f->request.field_manager = bt_str_from(manager);
	f->request.force = force;
	return api_patch(f, BT_PATCH_APPLY, resource, "default/m1", body);
}

START_TEST(test_api__apply_to_a_scale)
{
	static const char three[] = "{'apiVersion':'autoscaling/v1','kind':'Scale','metadata':"
				    "{'name':'m1'},'spec':{'replicas':3}}";
	static const char scale[] = "deployments.apps/scale";
	struct api_fixture f;
	api_fixture_init(&f);
	f.request.field_manager = BT_STR("maker");
	ck_assert_uint_eq(
		api_create(&f, "deployments.apps", "default/",
			"{'metadata':{'name':'m1'},'spec':{'replicas':2,'selector':{'matchLabels':"
			"{'a':'m1'}},'template':{'metadata':{'labels':{'a':'m1'}},'spec':"
			"{'containers':[{'name':'c','image':'i'}]}}}}"),
		201);
	ck_assert_uint_eq(apply(&f, scale, "", false, three), 422);
	ck_assert_uint_eq(apply(&f, scale, "scaler", false, "{'spec':{'replicas':3}}"), 400);
	ck_assert_uint_eq(apply(&f, scale, "scaler", false, three), 409);
	ck_assert_str_eq(api_message(&f),
		"Apply failed with 1 conflict: conflict with \"maker\" using apps/v1: "
		".spec.replicas");
	ck_assert_uint_eq(apply(&f, scale, "scaler", true, three), 200);
	ck_assert_str_eq(api_text(&f, "kind"), "Scale");
	ck_assert_int_eq(api_int(&f, "spec.replicas"), 3);
	f.request.force = true;
	ck_assert_uint_eq(
		api_patch(&f, BT_PATCH_MERGE, scale, "default/m1", "{'spec':{'replicas':4}}"), 422);
	ck_assert_uint_eq(apply(&f, "deployments.apps", "maker", false,
				  "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':"
				  "'m1'},'spec':{'replicas':5}}"),
		409);
	ck_assert_str_eq(api_message(&f),
		"Apply failed with 1 conflict: conflict with \"scaler\" with subresource "
		"\"scale\": .spec.replicas");
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_api__reviews)
{
	struct api_fixture f;
	api_fixture_init(&f);
	ck_assert_uint_eq(
		api_create(&f, "selfsubjectaccessreviews.authorization.k8s.io", "",
			"{'spec':{'resourceAttributes':{'verb':'create','resource':'pods'}}}"),
		201);
	ck_assert_str_eq(api_json(&f, "status.allowed"), "true");
	ck_assert_str_eq(api_text(&f, "kind"), "SelfSubjectAccessReview");
	ck_assert_str_eq(api_text(&f, "spec.resourceAttributes.verb"), "create");
	ck_assert_uint_eq(
		api_create(&f, "selfsubjectreviews.authentication.k8s.io", "", "{}"), 201);
	ck_assert_str_eq(api_json(&f, "status"),
		"{'userInfo':{'username':'admin','groups':['system:masters',"
		"'system:authenticated']}}");
	ck_assert_uint_eq(api_create(&f, "selfsubjectrulesreviews.authorization.k8s.io", "",
				  "{'spec':{'namespace':'default'}}"),
		201);
	ck_assert_str_eq(api_json(&f, "status"),
		"{'resourceRules':[{'verbs':['*'],'apiGroups':['*'],'resources':['*']}],"
		"'nonResourceRules':[{'verbs':['*'],'nonResourceURLs':['*']}],'incomplete':false}");
	ck_assert_uint_eq(api_create(&f, "subjectaccessreviews.authorization.k8s.io", "",
				  "{'spec':{'user':'eve','nonResourceAttributes':{'path':'/'}}}"),
		201);
	ck_assert_str_eq(api_json(&f, "status"), "{'allowed':true}");
	ck_assert_uint_eq(
		api_create(&f, "subjectaccessreviews.authorization.k8s.io", "", "{'spec':{}}"),
		422);
	ck_assert_str_eq(api_message(&f),
		"SubjectAccessReview.authorization.k8s.io \"\" is invalid: "
		"[spec.resourceAttributes: Invalid value: null: exactly one of "
		"nonResourceAttributes or resourceAttributes must be specified, spec.user: "
		"Invalid value: \"\": at least one of user or group must be specified]");
	ck_assert_uint_eq(
		api_create(&f, "tokenreviews.authentication.k8s.io", "", "{'spec':{'token':'x'}}"),
		201);
	ck_assert_str_eq(
		api_json(&f, "status"), "{'authenticated':false,'error':'invalid bearer token'}");
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_api__connections_and_parts_of_pods)
{
	struct api_fixture f;
	api_fixture_init(&f);
	api_create_pod(&f, "p", "n");
	ck_assert_uint_eq(api_get(&f, "pods/log", "default/p"), 400);
	ck_assert_str_eq(api_message(&f),
		"container \"c\" in pod \"p\" has no logs: this is a simulated node");
	ck_assert_uint_eq(api_create(&f, "pods/exec", "default/p", NULL), 400);
	ck_assert_uint_eq(api_get(&f, "pods/log", "default/q"), 404);
	ck_assert_uint_eq(api_get(&f, "pods/proxy", "default/p"), 503);
	static const char resize[] =
		"{'spec':{'containers':[{'name':'c','image':'other','resources':{'requests':{'cpu':"
		"'1'}}}]}}";
	ck_assert_uint_eq(
		api_patch(&f, BT_PATCH_STRATEGIC, "pods/resize", "default/p", resize), 422);
	ck_assert_str_eq(api_message(&f),
		"Pod \"p\" is invalid: spec: Invalid value: \"Burstable\": Pod QOS Class may not "
		"change as a result of resizing");
	ck_assert_uint_eq(
		api_create(&f, "pods", "default/",
			"{'metadata':{'name':'r'},'spec':{'nodeName':'n','containers':[{"
			"'name':'c','image':'i:1','resources':{'requests':{'cpu':'2'}}}]}}"),
		201);
	ck_assert_uint_eq(
		api_patch(&f, BT_PATCH_STRATEGIC, "pods/resize", "default/r", resize), 200);
	const struct bt_json_value *container =
		bt_json_array_at(f.result, "spec.containers")->elements[0];
	ck_assert(bt_str_equal_c(bt_json_text_at(container, "image"), "i:1"));
	ck_assert(bt_str_equal_c(bt_json_text_at(container, "resources.requests.cpu"), "1"));
	ck_assert_int_eq(api_int(&f, "metadata.generation"), 2);
	ck_assert_uint_eq(
		api_create(&f, "serviceaccounts", "default/", "{'metadata':{'name':'sa'}}"), 201);
	ck_assert_uint_eq(api_create(&f, "serviceaccounts/token", "default/sa", "{}"), 201);
	ck_assert_str_eq(api_text(&f, "kind"), "TokenRequest");
	ck_assert_str_eq(api_text(&f, "status.expirationTimestamp"), "2026-11-21T13:00:00Z");
	api_fixture_finish(&f);
}
END_TEST

BT_TEST_MAIN("api_subresource", test_api__edge_14_26_binding, test_api__edge_14_27_binding_refusals,
	test_api__edge_14_28_29_eviction, test_api__eviction_options,
	test_api__eviction_with_two_budgets, test_api__edge_14_30_scale, test_api__apply_to_a_scale,
	test_api__reviews, test_api__connections_and_parts_of_pods)
