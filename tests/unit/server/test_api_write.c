/* SPDX-License-Identifier: Apache-2.0 */
/* Create, update and delete. Spec: 14 sections 9 to 13 and 23. */
#include "api_fixture.h"

#include "codec/json_edit.h"
#include "test_main.h"

#define POD_SPEC "'spec':{'containers':[{'name':'c','image':'i:1'}]}"

START_TEST(test_api__bootstrap)
{
	struct api_fixture f;
	api_fixture_init(&f);
	static const char *const namespaces[] = {
		"default", "kube-system", "kube-public", "kube-node-lease"};
	for (size_t i = 0; i < 4; i++) {
		ck_assert_uint_eq(api_get(&f, "namespaces", namespaces[i]), 200);
		ck_assert_str_eq(api_text(&f, "status.phase"), "Active");
		ck_assert_str_eq(api_json(&f, "spec.finalizers"), "['kubernetes']");
	}
	ck_assert_uint_eq(
		api_get(&f, "priorityclasses.scheduling.k8s.io", "system-node-critical"), 200);
	ck_assert_int_eq(api_int(&f, "value"), 2000001000);
	ck_assert_int_eq(api_int(&f, "metadata.generation"), 1);
	ck_assert_uint_eq(
		api_get(&f, "priorityclasses.scheduling.k8s.io", "system-cluster-critical"), 200);
	ck_assert_int_eq(api_int(&f, "value"), 2000000000);
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_api__edge_14_01_create_with_resource_version)
{
	struct api_fixture f;
	api_fixture_init(&f);
	ck_assert_uint_eq(api_create(&f, "pods", "default/",
				  "{'metadata':{'name':'a','resourceVersion':'5'}," POD_SPEC "}"),
		500);
	ck_assert_str_eq(
		api_message(&f), "resourceVersion should not be set on objects to be created");
	ck_assert_str_eq(api_text(&f, "reason"), "");
	ck_assert_uint_eq(api_create(&f, "pods", "default/",
				  "{'metadata':{'name':'a','resourceVersion':'0'}," POD_SPEC "}"),
		201);
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_api__edge_14_02_43_system_fields_are_ignored)
{
	struct api_fixture f;
	api_fixture_init(&f);
	ck_assert_uint_eq(api_create(&f, "pods", "default/",
				  "{'metadata':{'name':'a','uid':'x','creationTimestamp':null,"
				  "'deletionTimestamp':'2020-01-01T00:00:00Z','generation':7,"
				  "'deletionGracePeriodSeconds':3,'selfLink':'/x'}," POD_SPEC
				  ",'status':{'phase':'Running'}}"),
		201);
	ck_assert_uint_eq(strlen(api_text(&f, "metadata.uid")), 36);
	ck_assert_int_eq(api_text(&f, "metadata.uid")[14], '4');
	ck_assert_str_eq(api_text(&f, "metadata.creationTimestamp"), "2026-11-21T12:00:00Z");
	ck_assert_str_eq(api_json(&f, "metadata.deletionTimestamp"), "");
	ck_assert_str_eq(api_json(&f, "metadata.deletionGracePeriodSeconds"), "");
	ck_assert_str_eq(api_json(&f, "metadata.selfLink"), "");
	ck_assert_int_eq(api_int(&f, "metadata.generation"), 1);
	ck_assert_str_eq(api_text(&f, "metadata.namespace"), "default");
	ck_assert_str_eq(api_text(&f, "status.phase"), "Pending");
	char rv[32];
	(void)snprintf(rv, sizeof(rv), "%llu", (unsigned long long)bt_store_rv(f.store));
	ck_assert_str_eq(api_text(&f, "metadata.resourceVersion"), rv);
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_api__create_refusals)
{
	struct api_fixture f;
	api_fixture_init(&f);
	ck_assert_uint_eq(api_create(&f, "pods", "default/", "{" POD_SPEC "}"), 422);
	ck_assert_str_eq(api_message(&f),
		"Pod \"\" is invalid: metadata.name: Required value: name or generateName is "
		"required");
	ck_assert_str_eq(api_json(&f, "details"),
		"{'kind':'Pod','causes':[{'reason':'FieldValueRequired','message':'Required value: "
		"name or generateName is required','field':'metadata.name'}]}");
	ck_assert_uint_eq(api_create(&f, "pods", "default/",
				  "{'metadata':{'name':'a','namespace':'other'}," POD_SPEC "}"),
		400);
	ck_assert_str_eq(api_message(&f),
		"the namespace of the provided object does not match the namespace sent on the "
		"request");
	api_create_pod(&f, "a1", NULL);
	ck_assert_uint_eq(
		api_create(&f, "pods", "default/", "{'metadata':{'name':'a1'}," POD_SPEC "}"), 409);
	ck_assert_str_eq(api_message(&f), "pods \"a1\" already exists");
	ck_assert_str_eq(api_text(&f, "reason"), "AlreadyExists");
	ck_assert_str_eq(api_json(&f, "details"), "{'name':'a1','kind':'pods'}");
	ck_assert_uint_eq(api_create(&f, "pods", "default/",
				  "{'kind':'Service','apiVersion':'v1','metadata':{'name':'x'}}"),
		400);
	ck_assert_str_eq(api_text(&f, "reason"), "BadRequest");
	ck_assert_uint_eq(api_create(&f, "pods", "default/",
				  "{'metadata':{'name':'x'},'spec':{'containers':3}}"),
		400);
	ck_assert_uint_eq(api_get(&f, "pods", "default/nope"), 404);
	ck_assert_str_eq(api_json(&f, ""),
		"{'kind':'Status','apiVersion':'v1','metadata':{},'status':'Failure','message':"
		"'pods \\'nope\\' not found','reason':'NotFound','details':{'name':'nope',"
		"'kind':'pods'},'code':404}");
	ck_assert_uint_eq(api_do(&f, BT_VERB_UPDATE, "pods/binding", "default/a1", "{}"), 405);
	ck_assert_str_eq(api_text(&f, "reason"), "MethodNotAllowed");
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_api__edge_14_03_writes_that_change_nothing)
{
	struct api_fixture f;
	api_fixture_init(&f);
	api_create_pod(&f, "a", NULL);
	const char *object = api_json(&f, "");
	const char *rv = api_text(&f, "metadata.resourceVersion");
	ck_assert_uint_eq(api_update(&f, "pods", "default/a", object), 200);
	ck_assert_str_eq(api_text(&f, "metadata.resourceVersion"), rv);
	ck_assert_uint_eq(api_commits(&f), 0);
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, "pods", "default/a", "{}"), 200);
	ck_assert_uint_eq(api_commits(&f), 0);
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_STRATEGIC, "pods", "default/a", "{}"), 200);
	ck_assert_uint_eq(api_commits(&f), 0);
	ck_assert_str_eq(api_text(&f, "metadata.resourceVersion"), rv);
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_api__edge_14_04_stale_version)
{
	struct api_fixture f;
	api_fixture_init(&f);
	api_create_pod(&f, "x", NULL);
	const char *stale = api_json(&f, "");
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, "pods", "default/x",
				  "{'metadata':{'labels':{'b':'1'}}}"),
		200);
	ck_assert_uint_eq(api_commits(&f), 1);
	ck_assert_uint_eq(api_update(&f, "pods", "default/x", stale), 409);
	ck_assert_str_eq(api_message(&f),
		"Operation cannot be fulfilled on pods \"x\": the object has been modified; please "
		"apply your changes to the latest version and try again");
	ck_assert_str_eq(api_text(&f, "reason"), "Conflict");
	ck_assert_str_eq(api_json(&f, "details"), "{'name':'x','kind':'pods'}");
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, "pods", "default/x",
				  "{'metadata':{'labels':{'c':'1'}}}"),
		200);
	ck_assert_str_eq(api_json(&f, "metadata.labels"), "{'app':'a','b':'1','c':'1'}");
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, "pods", "default/x",
				  "{'metadata':{'resourceVersion':'3','labels':{'d':'1'}}}"),
		409);
	ck_assert_uint_eq(
		api_patch(&f, BT_PATCH_MERGE, "pods", "default/x", "{'metadata':{'uid':'11'}}"),
		422);
	ck_assert_str_eq(api_message(&f),
		"Pod \"x\" is invalid: metadata.uid: Invalid value: \"11\": field is immutable");
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_api__update_identity)
{
	struct api_fixture f;
	api_fixture_init(&f);
	api_create_pod(&f, "x", NULL);
	const char *uid = api_text(&f, "metadata.uid");
	ck_assert_uint_eq(
		api_update(&f, "pods", "default/x", "{'metadata':{'name':'zz'}," POD_SPEC "}"),
		400);
	ck_assert_str_eq(api_message(&f),
		"the name of the object (zz) does not match the name on the URL (x)");
	ck_assert_uint_eq(api_update(&f, "pods", "default/x",
				  "{'metadata':{'name':'x','uid':'zz'}," POD_SPEC "}"),
		409);
	struct bt_str expected = bt_arena_printf(&f.arena,
		"Operation cannot be fulfilled on pods \"x\": StorageError: invalid object, Code: "
		"4, Key: /registry/pods/default/x, ResourceVersion: 0, AdditionalErrorMsg: "
		"Precondition failed: UID in precondition: zz, UID in object meta: %s",
		uid);
	ck_assert_str_eq(api_message(&f), expected.data);
	ck_assert_uint_eq(
		api_update(&f, "pods", "default/gone", "{'metadata':{'name':'gone'}," POD_SPEC "}"),
		404);
	/* an update keeps the stored status and takes the labels of the body */
	ck_assert_uint_eq(api_update(&f, "pods", "default/x",
				  "{'metadata':{'name':'x','labels':{'n':'1'}},'status':{'phase':"
				  "'Running'},'spec':{'containers':[{'name':'c','image':'i:2'}]}}"),
		200);
	ck_assert_str_eq(api_text(&f, "status.phase"), "Pending");
	ck_assert_str_eq(api_json(&f, "metadata.labels"), "{'n':'1'}");
	ck_assert_str_eq(api_text(&f, "metadata.uid"), uid);
	ck_assert_int_eq(api_int(&f, "metadata.generation"), 2);
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_api__edge_14_05_lease_without_version)
{
	struct api_fixture f;
	api_fixture_init(&f);
	const char *lease = "{'metadata':{'name':'newl'},'spec':{'holderIdentity':'a'}}";
	ck_assert_uint_eq(api_update(&f, "leases.coordination.k8s.io", "default/newl", lease), 201);
	ck_assert_uint_eq(strlen(api_text(&f, "metadata.uid")), 36);
	ck_assert_uint_eq(api_update(&f, "leases.coordination.k8s.io", "default/newl", lease), 422);
	ck_assert_str_eq(api_message(&f),
		"leases.coordination.k8s.io \"newl\" is invalid: metadata.resourceVersion: "
		"Invalid value: 0: must be specified for an update");
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_api__edge_14_06_09_10_deletion_with_grace)
{
	struct api_fixture f;
	api_fixture_init(&f);
	api_create_pod(&f, "p", "n1");
	ck_assert_uint_eq(api_delete(&f, "pods", "default/p"), 200);
	ck_assert_uint_eq(api_commits(&f), 1);
	ck_assert_str_eq(api_text(&f, "metadata.deletionTimestamp"), "2026-11-21T12:00:30Z");
	ck_assert_int_eq(api_int(&f, "metadata.deletionGracePeriodSeconds"), 30);
	ck_assert_int_eq(api_int(&f, "metadata.generation"), 2);
	ck_assert_uint_eq(api_delete(&f, "pods", "default/p"), 200);
	ck_assert_uint_eq(api_commits(&f), 0);
	f.request.grace_period_seconds = 50;
	ck_assert_uint_eq(api_delete(&f, "pods", "default/p"), 200);
	ck_assert_uint_eq(api_commits(&f), 0);
	f.request.grace_period_seconds = 5;
	ck_assert_uint_eq(api_delete(&f, "pods", "default/p"), 200);
	ck_assert_uint_eq(api_commits(&f), 1);
	ck_assert_str_eq(api_text(&f, "metadata.deletionTimestamp"), "2026-11-21T12:00:05Z");
	f.request.grace_period_seconds = 0;
	ck_assert_uint_eq(api_delete(&f, "pods", "default/p"), 200);
	ck_assert_uint_eq(api_commits(&f), 1);
	ck_assert_uint_eq(api_delete(&f, "pods", "default/p"), 404);
	api_create_pod(&f, "q", "n1");
	f.request.grace_period_seconds = -2;
	ck_assert_uint_eq(api_delete(&f, "pods", "default/q"), 200);
	ck_assert_int_eq(api_int(&f, "metadata.deletionGracePeriodSeconds"), 1);
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_api__edge_14_07_deletion_of_an_unassigned_pod)
{
	struct api_fixture f;
	api_fixture_init(&f);
	api_create_pod(&f, "p", NULL);
	ck_assert_uint_eq(api_delete(&f, "pods", "default/p"), 200);
	ck_assert_int_eq(api_int(&f, "metadata.deletionGracePeriodSeconds"), 0);
	ck_assert_str_eq(api_text(&f, "metadata.deletionTimestamp"), "2026-11-21T12:00:00Z");
	char rv[32];
	(void)snprintf(rv, sizeof(rv), "%llu", (unsigned long long)bt_store_rv(f.store));
	ck_assert_str_eq(api_text(&f, "metadata.resourceVersion"), rv);
	ck_assert_uint_eq(api_get(&f, "pods", "default/p"), 404);
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_api__edge_14_08_finalizers_keep)
{
	struct api_fixture f;
	api_fixture_init(&f);
	ck_assert_uint_eq(api_create(&f, "pods", "default/",
				  "{'metadata':{'name':'p','finalizers':['a.b/c']}," POD_SPEC "}"),
		201);
	ck_assert_uint_eq(api_delete(&f, "pods", "default/p"), 200);
	ck_assert_uint_eq(api_get(&f, "pods", "default/p"), 200);
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, "pods", "default/p",
				  "{'metadata':{'finalizers':['a.b/c','d.e/f']}}"),
		422);
	ck_assert_str_eq(api_message(&f),
		"Pod \"p\" is invalid: metadata.finalizers: Forbidden: no new finalizers can be "
		"added if the object is being deleted, found new finalizers []string{\"d.e/f\"}");
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, "pods", "default/p",
				  "{'metadata':{'finalizers':null}}"),
		200);
	ck_assert_uint_eq(api_commits(&f), 1);
	ck_assert_uint_eq(api_get(&f, "pods", "default/p"), 404);
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_api__deletion_rules)
{
	struct api_fixture f;
	api_fixture_init(&f);
	ck_assert_uint_eq(
		api_create(&f, "configmaps", "default/", "{'metadata':{'name':'cmx'}}"), 201);
	const char *uid = api_text(&f, "metadata.uid");
	f.request.precondition_uid = BT_STR("zz");
	ck_assert_uint_eq(api_delete(&f, "configmaps", "default/cmx"), 409);
	struct bt_str expected = bt_arena_printf(&f.arena,
		"Operation cannot be fulfilled on ConfigMap \"cmx\": the UID in the precondition "
		"(zz) does not match the UID in record (%s). The object might have been deleted "
		"and then recreated",
		uid);
	ck_assert_str_eq(api_message(&f), expected.data);
	f.request.dry_run = true;
	ck_assert_uint_eq(api_delete(&f, "configmaps", "default/cmx"), 200);
	ck_assert_uint_eq(api_commits(&f), 0);
	ck_assert_uint_eq(api_delete(&f, "configmaps", "default/cmx"), 200);
	expected = bt_arena_printf(&f.arena,
		"{'kind':'Status','apiVersion':'v1','metadata':{},'status':'Success','details':{"
		"'name':'cmx','kind':'configmaps','uid':'%s'}}",
		uid);
	ck_assert_str_eq(api_json(&f, ""), expected.data);
	ck_assert_uint_eq(api_delete(&f, "namespaces", "default"), 403);
	ck_assert_str_eq(api_message(&f),
		"namespaces \"default\" is forbidden: this namespace may not be deleted");
	ck_assert_uint_eq(
		api_create(&f, "configmaps", "default/", "{'metadata':{'name':'cm'}}"), 201);
	f.request.propagation = BT_PROPAGATION_FOREGROUND;
	ck_assert_uint_eq(api_delete(&f, "configmaps", "default/cm"), 200);
	ck_assert_str_eq(api_json(&f, "metadata.finalizers"), "['foregroundDeletion']");
	ck_assert_int_eq(api_int(&f, "metadata.deletionGracePeriodSeconds"), 0);
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_api__edge_14b_35_namespaces_terminate)
{
	struct api_fixture f;
	api_fixture_init(&f);
	ck_assert_uint_eq(api_create(&f, "namespaces", "", "{'metadata':{'name':'m1'}}"), 201);
	ck_assert_uint_eq(api_delete(&f, "namespaces", "m1"), 200);
	ck_assert_str_eq(api_text(&f, "status.phase"), "Terminating");
	ck_assert_str_ne(api_text(&f, "metadata.deletionTimestamp"), "");
	ck_assert_uint_eq(api_update(&f, "namespaces/finalize", "m1",
				  "{'metadata':{'name':'m1'},'spec':{'finalizers':[]}}"),
		200);
	ck_assert_uint_eq(api_get(&f, "namespaces", "m1"), 404);
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_api__edge_14_33_terminating_namespace)
{
	struct api_fixture f;
	api_fixture_init(&f);
	ck_assert_uint_eq(api_create(&f, "namespaces", "", "{'metadata':{'name':'m1'}}"), 201);
	ck_assert_uint_eq(api_delete(&f, "namespaces", "m1"), 200);
	ck_assert_uint_eq(
		api_create(&f, "pods", "m1/", "{'metadata':{'name':'a'}," POD_SPEC "}"), 403);
	ck_assert_str_eq(
		bt_json_text_at(bt_json_array_at(f.result, "details.causes")->elements[0], "reason")
			.data,
		"NamespaceTerminating");
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_api__edge_14_32_missing_namespace)
{
	struct api_fixture f;
	api_fixture_init(&f);
	ck_assert_uint_eq(
		api_create(&f, "pods", "nope/", "{'metadata':{'name':'a'}," POD_SPEC "}"), 404);
	ck_assert_str_eq(api_message(&f), "namespaces \"nope\" not found");
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_api__edge_14_34_generated_names)
{
	struct api_fixture f;
	api_fixture_init(&f);
	ck_assert_uint_eq(api_create(&f, "pods", "default/",
				  "{'metadata':{'generateName':'g-'}," POD_SPEC "}"),
		201);
	ck_assert_uint_eq(strlen(api_text(&f, "metadata.name")), 7);
	ck_assert_int_eq(strncmp(api_text(&f, "metadata.name"), "g-", 2), 0);
	ck_assert_str_eq(api_text(&f, "metadata.generateName"), "g-");
	ck_assert_uint_eq(
		strspn(api_text(&f, "metadata.name") + 2, "bcdfghjklmnpqrstvwxz2456789"), 5);
	ck_assert_uint_eq(
		api_create(&f, "configmaps", "default/",
			"{'metadata':{'generateName':"
			"'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
			"aaaaaa'}}"),
		201);
	ck_assert_uint_eq(strlen(api_text(&f, "metadata.name")), 63);
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_api__owners_of_like_objects)
{
	/*
	 * Creates of similar objects must store the managedFields that a dry run computes, although
	 * a create may reuse the managedFields of the previous object.
	 */
	static const char *const bodies[] = {
		"{'metadata':{'generateName':'a-'},'spec':{'containers':[{'name':'cc','image':'i:1'"
	        "}]}}",
		"{'metadata':{'generateName':'a-','labels':{'a':'b'}}," POD_SPEC "}",
		"{'metadata':{'generateName':'a-','labels':{'a':'other'}}," POD_SPEC "}",
		"{'metadata':{'generateName':'a-','labels':{'c':'b'}}," POD_SPEC "}",
		"{'metadata':{'generateName':'a-','labels':{}}," POD_SPEC "}",
		"{'metadata':{'generateName':'a-'},'spec':{'containers':[{'name':'dd','image':'i:1'"
	        "}"
		"]}}",
		"{'metadata':{'generateName':'a-'},'spec':{'containers':[{'name':'dd','image':'i:"
	        "22'"
		"}]}}",
		"{'metadata':{'generateName':'a-'},'spec':{'hostname':'','containers':[{'name':'dd'"
	        ","
		"'image':'i:22','ports':[{'containerPort':80}]}]}}",
		"{'metadata':{'generateName':'a-'},'spec':{'hostname':'x','containers':[{'name':'"
	        "dd'"
		","
		"'image':'i:22','ports':[{'containerPort':81}]}]}}",
		"{'metadata':{'generateName':'a-','finalizers':['x.io/a']}," POD_SPEC "}",
		"{'metadata':{'generateName':'a-','finalizers':['x.io/b']}," POD_SPEC "}",
		"{'metadata':{'generateName':'a-','managedFields':[{}]}," POD_SPEC "}",
		"{'metadata':{'generateName':'a-'},'spec':{'hostNetwork':true,'containers':[{'name'"
		":"
		"'d','image':'i:22'}]}}",
		"{'metadata':{'generateName':'a-'},'spec':{'hostNetwork':false,'containers':[{'"
		"name':"
		"'d','image':'i:22'}]}}",
	};
	static const char *const events[] = {
		"{'metadata':{'generateName':'a-'},'involvedObject':{'namespace':'default'},"
		"'reportingComponent':'longer'}",
		"{'metadata':{'generateName':'a-'},'involvedObject':{'namespace':'default'},"
		"'reportingComponent':''}",
	};
	struct api_fixture f;
	api_fixture_init(&f);
	for (int round = 0; round < 4; round++) {
		for (size_t i = 0; i < BT_ARRAY_LENGTH(bodies) + BT_ARRAY_LENGTH(events); i++) {
			bool is_pod = i < BT_ARRAY_LENGTH(bodies);
			const char *kind = is_pod ? "pods" : "events";
			const char *body = is_pod ? bodies[i] : events[i - BT_ARRAY_LENGTH(bodies)];
			struct bt_str manager = round % 2 != 0 ? BT_STR("one") : BT_STR("two");
			f.now_ns += INT64_C(1000000000);
			f.request.field_manager = manager;
			f.request.dry_run = true;
			ck_assert_uint_eq(api_create(&f, kind, "default/", body), 201);
			struct bt_strbuf computed = {0};
			bt_strbuf_append_c(&computed, api_json(&f, "metadata.managedFields"));
			f.request.field_manager = manager;
			ck_assert_uint_eq(api_create(&f, kind, "default/", body), 201);
			const char *name = api_text(&f, "metadata.name");
			char key[64];
			(void)snprintf(key, sizeof(key), "default/%s", name);
			ck_assert_str_eq(
				api_json(&f, "metadata.managedFields"), bt_strbuf_c(&computed));
			/* a later read returns the same managedFields */
			ck_assert_uint_eq(api_get(&f, kind, key), 200);
			ck_assert_str_eq(
				api_json(&f, "metadata.managedFields"), bt_strbuf_c(&computed));
			bt_strbuf_finish(&computed);
		}
	}
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_api__dry_run)
{
	struct api_fixture f;
	api_fixture_init(&f);
	f.request.dry_run = true;
	ck_assert_uint_eq(
		api_create(&f, "pods", "default/", "{'metadata':{'name':'a'}," POD_SPEC "}"), 201);
	ck_assert_uint_eq(api_commits(&f), 0);
	ck_assert_str_eq(api_text(&f, "kind"), "Pod");
	ck_assert_str_eq(api_text(&f, "apiVersion"), "v1");
	ck_assert_str_eq(api_json(&f, "metadata.resourceVersion"), "");
	ck_assert_str_ne(api_text(&f, "metadata.uid"), "");
	ck_assert_uint_eq(api_get(&f, "pods", "default/a"), 404);
	api_create_pod(&f, "a", NULL);
	const char *rv = api_text(&f, "metadata.resourceVersion");
	f.request.dry_run = true;
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, "pods", "default/a",
				  "{'metadata':{'labels':{'x':'1'}}}"),
		200);
	ck_assert_str_eq(api_text(&f, "metadata.labels.x"), "1");
	ck_assert_str_eq(api_text(&f, "metadata.resourceVersion"), rv);
	ck_assert_uint_eq(api_commits(&f), 0);
	f.request.dry_run = true;
	ck_assert_uint_eq(api_delete(&f, "pods", "default/a"), 200);
	ck_assert_uint_eq(api_get(&f, "pods", "default/a"), 200);
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_api__edge_14_20_unknown_fields)
{
	struct api_fixture f;
	api_fixture_init(&f);
	const char *body = "{'metadata':{'name':'a'},'spec':{'containers':[{'name':'c','image':'i',"
			   "'bad':1,'image':'j'}]}}";
	f.request.field_validation = BT_FIELD_VALIDATION_STRICT;
	ck_assert_uint_eq(api_create(&f, "pods", "default/", body), 400);
	ck_assert_str_eq(api_message(&f),
		"Pod in version \"v1\" cannot be handled as a Pod: strict decoding error: unknown "
		"field \"spec.containers[0].bad\", duplicate field \"spec.containers[0].image\"");
	f.request.field_validation = BT_FIELD_VALIDATION_WARN;
	ck_assert_uint_eq(api_create(&f, "pods", "default/", body), 201);
	ck_assert_uint_eq(f.answer.warning_count, 2);
	ck_assert_str_eq(f.answer.warnings[0].data, "unknown field \"spec.containers[0].bad\"");
	ck_assert_str_eq(
		bt_json_text_at(bt_json_array_at(f.result, "spec.containers")->elements[0], "image")
					.data[0] == 'j'
			? "j"
			: "",
		"j");
	f.request.field_validation = BT_FIELD_VALIDATION_STRICT;
	ck_assert_uint_eq(
		api_patch(&f, BT_PATCH_MERGE, "pods", "default/a", "{'spec':{'bad':1}}"), 422);
	ck_assert_ptr_nonnull(strstr(api_message(&f),
		" \"\" is invalid: patch: Invalid value: "
		"\"{\\\"apiVersion\\\":\\\"v1\\\",\\\"kind"));
	ck_assert_ptr_nonnull(
		strstr(api_message(&f), "}\": strict decoding error: unknown field \"spec.bad\""));
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_api__restored_objects)
{
	struct api_fixture f;
	api_fixture_init(&f);
	const char *body = "{'metadata':{'name':'a','uid':'u-1','resourceVersion':'77',"
			   "'creationTimestamp':'2020-01-01T00:00:00Z'},'spec':{'nodeName':'n1',"
			   "'containers':[{'name':'c','image':'i'}]},'status':{'phase':'Running'}}";
	for (int i = 0; i < 2; i++) {
		f.request.restore = true;
		ck_assert_uint_eq(api_create(&f, "pods", "default/", body), 201);
		ck_assert_str_eq(api_text(&f, "metadata.uid"), "u-1");
		ck_assert_str_eq(
			api_text(&f, "metadata.creationTimestamp"), "2020-01-01T00:00:00Z");
		ck_assert_str_eq(api_text(&f, "status.phase"), "Running");
		ck_assert_str_ne(api_text(&f, "metadata.resourceVersion"), "77");
	}
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_api__edge_14_35_events_share_a_collection)
{
	struct api_fixture f;
	api_fixture_init(&f);
	const char *without_time =
		"{'metadata':{'name':'e1'},'reportingController':'c','reportingInstance':'c-1',"
		"'action':'Binding','reason':'Scheduled','regarding':{'kind':'Pod','namespace':"
		"'default','name':'a'},'note':'hello','type':'Normal'}";
	ck_assert_uint_eq(api_create(&f, "events.events.k8s.io", "default/", without_time), 422);
	const char *event =
		"{'metadata':{'name':'e1'},'eventTime':'2026-11-21T00:27:40.914140Z',"
		"'reportingController':'c','reportingInstance':'c-1','action':'Binding','reason':"
		"'Scheduled','regarding':{'kind':'Pod','namespace':'default','name':'a'},'note':"
		"'hello','type':'Normal'}";
	ck_assert_uint_eq(api_create(&f, "events.events.k8s.io", "default/", event), 201);
	ck_assert_str_eq(api_text(&f, "note"), "hello");
	ck_assert_uint_eq(api_get(&f, "events", "default/e1"), 200);
	ck_assert_str_eq(api_text(&f, "message"), "hello");
	ck_assert_str_eq(api_text(&f, "involvedObject.name"), "a");
	ck_assert_str_eq(api_text(&f, "reportingComponent"), "c");
	ck_assert_uint_eq(api_get(&f, "events.events.k8s.io", "default/e1"), 200);
	ck_assert_str_eq(api_text(&f, "regarding.name"), "a");
	ck_assert_str_eq(api_text(&f, "apiVersion"), "events.k8s.io/v1");
	ck_assert_uint_eq(
		api_patch(&f, BT_PATCH_STRATEGIC, "events.events.k8s.io", "default/e1",
			"{'series':{'count':2,'lastObservedTime':'2026-11-21T00:34:36.422574Z'}}"),
		200);
	ck_assert_int_eq(api_int(&f, "series.count"), 2);
	ck_assert_str_eq(api_text(&f, "note"), "hello");
	api_fixture_finish(&f);
}
END_TEST

/** With restore set, required members may be missing, because snapshots leave them out. */
START_TEST(test_api__restored_objects_may_be_incomplete)
{
	struct api_fixture f;
	api_fixture_init(&f);
	f.request.restore = true;
	ck_assert_uint_eq(
		api_create(&f, "pods", "default/",
			"{'metadata':{'name':'a','uid':'u'},'spec':{'volumes':[{'name':'v',"
			"'secret':{}}],'containers':[{'name':'c'}]}}"),
		201);
	f.request.restore = true;
	ck_assert_uint_eq(
		api_create(&f, "pods", "default/",
			"{'metadata':{'name':'b'},'spec':{'volumes':[{'name':'v','secret':{}}],"
			"'containers':[{'name':'c','image':'i'}]}}"),
		422);
	f.request.restore = true;
	ck_assert_uint_eq(
		api_create(&f, "pods", "default/",
			"{'metadata':{'name':'d','uid':'u'},'spec':{'containers':[{'name':"
			"'C_C','image':'i'}]}}"),
		422);
	api_fixture_finish(&f);
}
END_TEST

BT_TEST_MAIN("api_write", test_api__restored_objects_may_be_incomplete, test_api__bootstrap,
	test_api__edge_14_01_create_with_resource_version,
	test_api__edge_14_02_43_system_fields_are_ignored, test_api__create_refusals,
	test_api__edge_14_03_writes_that_change_nothing, test_api__edge_14_04_stale_version,
	test_api__update_identity, test_api__edge_14_05_lease_without_version,
	test_api__edge_14_06_09_10_deletion_with_grace,
	test_api__edge_14_07_deletion_of_an_unassigned_pod, test_api__edge_14_08_finalizers_keep,
	test_api__deletion_rules, test_api__edge_14b_35_namespaces_terminate,
	test_api__edge_14_33_terminating_namespace, test_api__edge_14_32_missing_namespace,
	test_api__edge_14_34_generated_names, test_api__owners_of_like_objects, test_api__dry_run,
	test_api__edge_14_20_unknown_fields, test_api__restored_objects,
	test_api__edge_14_35_events_share_a_collection)
