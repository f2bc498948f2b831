/* SPDX-License-Identifier: Apache-2.0 */
/* Patches of objects. Spec: 14 sections 12 and 23. */
#include "api_fixture.h"

#include "codec/json_edit.h"
#include "test_main.h"

START_TEST(test_api__patch_options)
{
	struct api_fixture f;
	api_fixture_init(&f);
	api_create_pod(&f, "p", NULL);
	f.request.force = true;
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, "pods", "default/p", "{}"), 422);
	ck_assert_str_eq(api_message(&f),
		"PatchOptions.meta.k8s.io \"\" is invalid: force: Forbidden: may not be specified "
		"for non-apply patch");
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, "pods", "default/gone", "{}"), 404);
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, "pods", "default/p", "[]"), 400);
	ck_assert_uint_eq(
		api_patch(&f, BT_PATCH_MERGE, "pods", "default/p", "{'metadata':{'name':'other'}}"),
		400);
	ck_assert_uint_eq(
		api_patch(&f, BT_PATCH_MERGE, "pods", "default/p", "{'kind':'Service'}"), 400);
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_api__repeated_members_of_patches)
{
	static const char repeated[] =
		"{'data':{'a':'1','a':'2'},'metadata':{'labels':{'x':'1','x':'2'}}}";
	struct api_fixture f;
	api_fixture_init(&f);
	ck_assert_uint_eq(
		api_create(&f, "configmaps", "default/", "{'metadata':{'name':'c'}}"), 201);
	for (enum bt_patch_type type = BT_PATCH_MERGE; type <= BT_PATCH_STRATEGIC; type++) {
		f.request.field_validation = BT_FIELD_VALIDATION_STRICT;
		ck_assert_uint_eq(api_patch(&f, type, "configmaps", "default/c", repeated), 422);
		ck_assert_ptr_nonnull(strstr(api_message(&f),
			"strict decoding error: duplicate field \"data.a\", duplicate field "
			"\"metadata.labels.x\""));
		f.request.field_validation = BT_FIELD_VALIDATION_WARN;
		ck_assert_uint_eq(api_patch(&f, type, "configmaps", "default/c", repeated), 200);
		ck_assert_uint_eq(f.answer.warning_count, 2);
		ck_assert_str_eq(f.answer.warnings[0].data, "duplicate field \"data.a\"");
		ck_assert_str_eq(api_text(&f, "data.a"), "2");
	}
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_api__edge_14_21_missing_merge_key)
{
	struct api_fixture f;
	api_fixture_init(&f);
	api_create_pod(&f, "p", NULL);
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_STRATEGIC, "pods", "default/p",
				  "{'spec':{'containers':[{'image':'x'}]}}"),
		500);
	ck_assert_ptr_nonnull(strstr(api_message(&f), "does not contain declared merge key: name"));
	ck_assert_str_eq(api_text(&f, "reason"), "");
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_api__edge_14_22_finalizers_merge)
{
	struct api_fixture f;
	api_fixture_init(&f);
	ck_assert_uint_eq(api_create(&f, "configmaps", "default/",
				  "{'metadata':{'name':'c','finalizers':['k/a']}}"),
		201);
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_STRATEGIC, "configmaps", "default/c",
				  "{'metadata':{'finalizers':['k/b']}}"),
		200);
	ck_assert_str_eq(api_json(&f, "metadata.finalizers"), "['k/b','k/a']");
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_STRATEGIC, "configmaps", "default/c",
				  "{'metadata':{'$deleteFromPrimitiveList/finalizers':['k/a']}}"),
		200);
	ck_assert_str_eq(api_json(&f, "metadata.finalizers"), "['k/b']");
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_api__edge_14_23_labels_replaced)
{
	struct api_fixture f;
	api_fixture_init(&f);
	api_create_pod(&f, "p", NULL);
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_STRATEGIC, "pods", "default/p",
				  "{'metadata':{'labels':{'$patch':'replace','only':'1'}}}"),
		200);
	ck_assert_str_eq(api_json(&f, "metadata.labels"), "{'only':'1'}");
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_api__edge_14_24_json_patch_test_fails)
{
	struct api_fixture f;
	api_fixture_init(&f);
	api_create_pod(&f, "p", NULL);
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_JSON, "pods", "default/p",
				  "[{'op':'test','path':'/metadata/labels/app','value':'b'}]"),
		422);
	ck_assert_str_eq(api_json(&f, ""),
		"{'kind':'Status','apiVersion':'v1','metadata':{},'status':'Failure','message':"
		"'the server rejected our request due to an error in our request','reason':"
		"'Invalid','details':{},'code':422}");
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_JSON, "pods", "default/p",
				  "[{'op':'replace','path':'/metadata/labels/app','value':'b'},"
				  "{'op':'test','path':'/kind','value':'Pod'}]"),
		200);
	ck_assert_str_eq(api_text(&f, "metadata.labels.app"), "b");
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_JSON, "pods", "default/p", "{}"), 400);
	ck_assert_str_eq(api_message(&f),
		"error decoding patch: json: cannot unmarshal object into Go value of type "
		"[]handlers.jsonPatchOp");
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_api__edge_14_25_apply_options)
{
	struct api_fixture f;
	api_fixture_init(&f);
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_APPLY, "configmaps", "default/c", "{}"), 422);
	ck_assert_str_eq(api_message(&f),
		"PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is "
		"required for apply patch");
	f.request.field_manager = BT_STR("kubectl");
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_APPLY, "configmaps", "default/c", "{}"), 400);
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_api__apply_checks_the_keys_of_lists)
{
	static const struct {
		const char *spec;
		const char *message;
	} rows[] = {
		{"'containers':[{'name':'c','env':[{'name':'A','value':'1'},{'name':'B'},{'name':'"
		 "A',"
		 "'value':'2'}]}]",
			".spec.containers[name=\"c\"].env: duplicate entries for key [name=\"A\"]"},
		{"'containers':[{'name':'c','ports':[{'containerPort':80},{'containerPort':80,"
		 "'protocol':'TCP'}]}]",
			".spec.containers[name=\"c\"].ports: duplicate entries for key "
			"[containerPort=80,protocol=\"TCP\"]"},
		{"'containers':[{'image':'h'},{'image':'i'}]",
			".spec.containers: duplicate entries for key [name=\"\"]"},
	};
	struct api_fixture f;
	api_fixture_init(&f);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_str body = bt_arena_printf(&f.arena,
			"{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p'},'spec':{%s}}",
			rows[i].spec);
		f.request.field_manager = BT_STR("a");
		ck_assert_uint_eq(
			api_patch(&f, BT_PATCH_APPLY, "pods", "default/p", body.data), 500);
		ck_assert_str_eq(api_message(&f),
			bt_arena_printf(&f.arena,
				"failed to create typed patch object (/p; /v1, Kind=Pod): %s",
				rows[i].message)
				.data);
	}
	f.request.field_manager = BT_STR("a");
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_APPLY, "configmaps", "default/c",
				  "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'c',"
				  "'finalizers':['a/b','c/d','a/b']}}"),
		500);
	ck_assert_ptr_nonnull(strstr(
		api_message(&f), ".metadata.finalizers: duplicate entries for key [=\"a/b\"]"));
	api_fixture_finish(&f);
}
END_TEST

#define APPLIED(data) \
	"{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'c'},'data':{" data "}}"

START_TEST(test_api__apply)
{
	struct api_fixture f;
	api_fixture_init(&f);
	/* With a uid, the object must exist. */
	f.request.field_manager = BT_STR("a");
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_APPLY, "configmaps", "default/c",
				  "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'c',"
				  "'uid':'u'}}"),
		409);
	ck_assert_str_eq(api_message(&f),
		"Operation cannot be fulfilled on configmaps \"c\": uid mismatch: the provided "
		"object specified uid u, and no existing object was found");
	f.request.field_manager = BT_STR("a");
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_APPLY, "configmaps", "default/c",
				  APPLIED("'x':'1','y':'1'")),
		201);
	ck_assert_str_eq(api_json(&f, "data"), "{'x':'1','y':'1'}");
	ck_assert_uint_eq(bt_json_array_at(f.result, "metadata.managedFields")->count, 1);
	f.now_ns += INT64_C(5000000000);
	f.request.field_manager = BT_STR("a");
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_APPLY, "configmaps", "default/c",
				  APPLIED("'x':'1','y':'1'")),
		200);
	ck_assert_uint_eq(api_commits(&f), 0);
	f.request.field_manager = BT_STR("b");
	ck_assert_uint_eq(
		api_patch(&f, BT_PATCH_APPLY, "configmaps", "default/c", APPLIED("'x':'2'")), 409);
	ck_assert_str_eq(
		api_message(&f), "Apply failed with 1 conflict: conflict with \"a\": .data.x");
	ck_assert_str_eq(api_text(&f, "reason"), "Conflict");
	f.request.field_manager = BT_STR("b");
	f.request.force = true;
	ck_assert_uint_eq(
		api_patch(&f, BT_PATCH_APPLY, "configmaps", "default/c", APPLIED("'x':'2'")), 200);
	ck_assert_str_eq(api_json(&f, "data"), "{'x':'2','y':'1'}");
	f.request.field_manager = BT_STR("a");
	ck_assert_uint_eq(
		api_patch(&f, BT_PATCH_APPLY, "configmaps", "default/c", APPLIED("")), 200);
	ck_assert_str_eq(api_json(&f, "data"), "{'x':'2'}");
	/* an object that was never applied has no managedFields */
	ck_assert_uint_eq(
		api_create(&f, "configmaps", "default/", "{'metadata':{'name':'d'}}"), 201);
	ck_assert_str_eq(api_json(&f, "metadata.managedFields"), "");
	/* an update takes the field over */
	f.request.field_manager = BT_STR("edit");
	ck_assert_uint_eq(
		api_patch(&f, BT_PATCH_MERGE, "configmaps", "default/c", "{'data':{'x':'3'}}"),
		200);
	f.request.field_manager = BT_STR("b");
	ck_assert_uint_eq(
		api_patch(&f, BT_PATCH_APPLY, "configmaps", "default/c", APPLIED("'x':'2'")), 409);
	api_fixture_finish(&f);
}
END_TEST

/*
 * Required members that a manager's configuration leaves out stay in the object, and the manager
 * does not own them.
 */
START_TEST(test_api__apply_of_a_part_keeps_required_members)
{
	struct api_fixture f;
	api_fixture_init(&f);
	f.request.field_manager = BT_STR("a");
	ck_assert_uint_eq(
		api_patch(&f, BT_PATCH_APPLY, "networkpolicies.networking.k8s.io", "default/p",
			"{'apiVersion':'networking.k8s.io/v1','kind':'NetworkPolicy',"
			"'metadata':{'name':'p'},'spec':{'podSelector':{'matchLabels':"
			"{'app':'web'}},'policyTypes':['Ingress']}}"),
		201);
	f.request.field_manager = BT_STR("b");
	ck_assert_uint_eq(
		api_patch(&f, BT_PATCH_APPLY, "networkpolicies.networking.k8s.io", "default/p",
			"{'apiVersion':'networking.k8s.io/v1','kind':'NetworkPolicy',"
			"'metadata':{'name':'p'},'spec':{'ingress':[{'from':"
			"[{'podSelector':{'matchLabels':{'app':'db'}}}]}]}}"),
		200);
	ck_assert_str_eq(api_json(&f, "spec.podSelector"), "{'matchLabels':{'app':'web'}}");
	ck_assert_uint_eq(bt_json_array_at(f.result, "metadata.managedFields")->count, 2);
	f.request.field_manager = BT_STR("b");
	ck_assert_uint_eq(
		api_patch(&f, BT_PATCH_APPLY, "networkpolicies.networking.k8s.io", "default/p",
			"{'apiVersion':'networking.k8s.io/v1','kind':'NetworkPolicy',"
			"'metadata':{'name':'p'}}"),
		200);
	ck_assert_str_eq(api_json(&f, "spec.podSelector"), "{'matchLabels':{'app':'web'}}");
	ck_assert_str_eq(api_json(&f, "spec.ingress"), "");
	/*
	 * a manager owns the required members that its configuration has: they take effect, and
	 * they can conflict
	 */
	f.request.field_manager = BT_STR("b");
	ck_assert_uint_eq(
		api_patch(&f, BT_PATCH_APPLY, "networkpolicies.networking.k8s.io", "default/p",
			"{'apiVersion':'networking.k8s.io/v1','kind':'NetworkPolicy',"
			"'metadata':{'name':'p'},'spec':{'podSelector':{}}}"),
		409);
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_api__edge_14_31_status_update_erases_labels)
{
	struct api_fixture f;
	api_fixture_init(&f);
	ck_assert_uint_eq(api_create(&f, "nodes", "",
				  "{'metadata':{'name':'n','labels':{'a':'b'}},'spec':{"
				  "'unschedulable':true},'status':{'capacity':{'cpu':'4'}}}"),
		201);
	ck_assert_str_eq(api_text(&f, "status.allocatable.cpu"), "4");
	ck_assert_uint_eq(api_update(&f, "nodes/status", "n",
				  "{'metadata':{'name':'n'},'status':{'capacity':{'cpu':'8'}}}"),
		200);
	ck_assert_str_eq(api_json(&f, "metadata.labels"), "");
	ck_assert_str_eq(api_text(&f, "status.capacity.cpu"), "8");
	ck_assert_str_eq(api_json(&f, "spec.unschedulable"), "true");
	/* a patch of the main resource changes the spec, but not the status */
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, "nodes", "n",
				  "{'spec':{'unschedulable':null},'status':{'capacity':null}}"),
		200);
	ck_assert_str_eq(api_text(&f, "status.capacity.cpu"), "8");
	ck_assert_str_eq(api_json(&f, "spec.unschedulable"), "");
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_api__status_patch_of_the_scheduler)
{
	struct api_fixture f;
	api_fixture_init(&f);
	api_create_pod(&f, "big", NULL);
	ck_assert_uint_eq(
		api_patch(&f, BT_PATCH_STRATEGIC, "pods/status", "default/big",
			"{'status':{'conditions':[{'lastProbeTime':null,'lastTransitionTime':"
			"'2026-11-21T00:27:40Z','message':'no','observedGeneration':1,'reason':"
			"'Unschedulable','status':'False','type':'PodScheduled'}],"
			"'nominatedNodeName':'n1'}}"),
		200);
	ck_assert_uint_eq(api_commits(&f), 1);
	ck_assert_uint_eq(
		api_patch(&f, BT_PATCH_STRATEGIC, "pods/status", "default/big",
			"{'status':{'$setElementOrder/conditions':[{'type':'PodScheduled'}],"
			"'conditions':[{'message':'still no','type':'PodScheduled'}]}}"),
		200);
	ck_assert_str_eq(
		bt_json_text_at(
			bt_json_array_at(f.result, "status.conditions")->elements[0], "message")
					.data[0] == 's'
			? "s"
			: "",
		"s");
	ck_assert_int_eq(api_int(&f, "metadata.generation"), 1);
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_STRATEGIC, "pods/status", "default/big",
				  "{'status':{'nominatedNodeName':null}}"),
		200);
	ck_assert_str_eq(api_json(&f, "status.nominatedNodeName"), "");
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_STRATEGIC, "pods/status", "default/big",
				  "{'metadata':{'uid':'11'},'status':{'message':'x'}}"),
		422);
	/* a patch of the status subresource changes nothing else */
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, "pods/status", "default/big",
				  "{'spec':{'nodeName':'n2'}}"),
		200);
	ck_assert_uint_eq(api_commits(&f), 0);
	/* nor do the defaults that the rest of the patch would bring */
	ck_assert_uint_eq(
		api_create(&f, "pods", "default/",
			"{'metadata':{'name':'p'},'spec':{'containers':[{'name':'c','image':"
			"'i','ports':[{'containerPort':80}]}]}}"),
		201);
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, "pods/status", "default/p",
				  "{'spec':{'hostNetwork':true},'status':{'message':'x'}}"),
		200);
	ck_assert_str_eq(api_text(&f, "status.message"), "x");
	ck_assert_ptr_null(strstr(api_json(&f, "spec"), "host"));
	api_fixture_finish(&f);
}
END_TEST

BT_TEST_MAIN("api_patch", test_api__patch_options, test_api__repeated_members_of_patches,
	test_api__edge_14_21_missing_merge_key, test_api__edge_14_22_finalizers_merge,
	test_api__edge_14_23_labels_replaced, test_api__edge_14_24_json_patch_test_fails,
	test_api__edge_14_25_apply_options, test_api__apply_checks_the_keys_of_lists,
	test_api__apply, test_api__apply_of_a_part_keeps_required_members,
	test_api__edge_14_31_status_update_erases_labels, test_api__status_patch_of_the_scheduler)
