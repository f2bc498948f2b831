/* SPDX-License-Identifier: Apache-2.0 */
/* Custom resources, and the registry of all resources. Spec: 14 sections 6.3 and 23. */
#include "api_fixture.h"

#include <stdio.h>

#include "codec/json_edit.h"
#include "test_main.h"

#define CRDS "customresourcedefinitions.apiextensions.k8s.io"
#define NAMES "'plural':'crontabs','kind':'CronTab','shortNames':['ct','cts'],'categories':['all']"

static const char crontabs[] =
	"{'apiVersion':'apiextensions.k8s.io/v1','kind':'CustomResourceDefinition','metadata':{"
	"'name':'crontabs.stable.example.com'},'spec':{'group':'stable.example.com','scope':"
	"'Namespaced','names':{" NAMES "},'versions':["
	"{'name':'v1beta1','served':true,'storage':false,'schema':{'openAPIV3Schema':{'type':"
	"'object'}}},"
	"{'name':'v1','served':true,'storage':true,'schema':{'openAPIV3Schema':{'type':'object',"
	"'x-kubernetes-preserve-unknown-fields':true}},'subresources':{'status':{},'scale':{"
	"'specReplicasPath':'.spec.replicas','statusReplicasPath':'.status.replicas',"
	"'labelSelectorPath':'.status.labelSelector'}},'additionalPrinterColumns':[{'name':'Spec',"
	"'type':'string','jsonPath':'.spec.cronSpec'}]}]}}";

static const struct bt_api_resource *find(
	struct api_fixture *f, const char *group, const char *version, const char *name)
{
	return bt_resources_find(bt_api_resources(f->api), bt_str_from(group), bt_str_from(version),
		bt_str_from(name));
}

START_TEST(test_api__edge_14_36_what_is_served)
{
	struct api_fixture f;
	api_fixture_init(&f);
	const struct bt_resources *resources = bt_api_resources(f.api);
	ck_assert_ptr_null(find(&f, "", "v1", "foos"));
	ck_assert_ptr_null(find(&f, "foo", "v1", "bars"));
	const struct bt_api_resource *pods = find(&f, "", "v1", "pods");
	ck_assert_ptr_nonnull(pods);
	ck_assert_ptr_eq(bt_resources_find_kind(resources, BT_STR("v1"), BT_STR("Pod")), pods);
	ck_assert_ptr_eq(bt_resources_of_collection(resources, pods->collection), pods);
	ck_assert_ptr_eq(bt_resources_builtin(resources, "", "pods"), pods);
	ck_assert_uint_eq(find(&f, "", "v1", "events")->collection,
		find(&f, "events.k8s.io", "v1", "events")->collection);
	ck_assert_uint_eq(find(&f, "autoscaling", "v1", "horizontalpodautoscalers")->collection,
		find(&f, "autoscaling", "v2", "horizontalpodautoscalers")->collection);
	ck_assert_str_eq(
		bt_resources_builtin(resources, "autoscaling", "horizontalpodautoscalers")->version,
		"v2");
	ck_assert_ptr_nonnull(
		bt_resources_find_kind(resources, BT_STR("apps/v1"), BT_STR("Deployment")));
	ck_assert_str_eq(bt_resources_at(resources, 0)->group, "");
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_api__definition_is_established)
{
	struct api_fixture f;
	api_fixture_init(&f);
	uint64_t generation = bt_resources_generation(bt_api_resources(f.api));
	ck_assert_uint_eq(api_create(&f, CRDS, "", crontabs), 201);
	const struct bt_json_value *conditions = bt_json_array_at(f.result, "status.conditions");
	ck_assert_uint_eq(conditions->count, 2);
	for (uint32_t i = 0; i < 2; i++) {
		ck_assert(
			bt_str_equal_c(bt_json_text_at(conditions->elements[i], "status"), "True"));
	}
	ck_assert_str_eq(api_text(&f, "status.acceptedNames.singular"), "crontab");
	ck_assert_str_eq(api_text(&f, "status.acceptedNames.listKind"), "CronTabList");
	ck_assert_str_eq(api_json(&f, "status.storedVersions"), "['v1']");
	ck_assert_uint_ne(bt_resources_generation(bt_api_resources(f.api)), generation);
	const struct bt_api_resource *v1 = find(&f, "stable.example.com", "v1", "crontabs");
	const struct bt_api_resource *beta = find(&f, "stable.example.com", "v1beta1", "crontabs");
	ck_assert_ptr_nonnull(v1);
	ck_assert_ptr_nonnull(beta);
	ck_assert_uint_eq(v1->collection, beta->collection);
	ck_assert_ptr_eq(bt_resources_of_collection(bt_api_resources(f.api), v1->collection), v1);
	ck_assert_str_eq(v1->short_names, "ct cts");
	ck_assert_str_eq(v1->kind, "CronTab");
	ck_assert(v1->namespaced);
	ck_assert_uint_eq(
		v1->subresources, 1u << BT_SUBRESOURCE_STATUS | 1u << BT_SUBRESOURCE_SCALE);
	ck_assert_uint_eq(beta->subresources, 0);
	ck_assert_uint_eq(
		bt_json_array_at(v1->definition_version, "additionalPrinterColumns")->count, 1);
	/* an empty patch makes no commit */
	ck_assert_uint_eq(
		api_patch(&f, BT_PATCH_MERGE, CRDS, "crontabs.stable.example.com", "{}"), 200);
	ck_assert_uint_eq(api_commits(&f), 0);
	/* a version is no longer served */
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_JSON, CRDS, "crontabs.stable.example.com",
				  "[{'op':'replace','path':'/spec/versions/0/served','value':"
				  "false}]"),
		200);
	ck_assert_ptr_null(find(&f, "stable.example.com", "v1beta1", "crontabs"));
	ck_assert_ptr_eq(find(&f, "stable.example.com", "v1", "crontabs"), v1);
	/* a version that may have stored objects stays in the spec */
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_JSON, CRDS, "crontabs.stable.example.com",
				  "[{'op':'replace','path':'/spec/versions/0/storage','value':"
				  "true},{'op':'remove','path':'/spec/versions/1'}]"),
		422);
	ck_assert_ptr_nonnull(strstr(api_message(&f),
		"status.storedVersions[0]: Invalid value: \"v1\": must appear in spec.versions"));
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_api__custom_objects)
{
	struct api_fixture f;
	api_fixture_init(&f);
	ck_assert_uint_eq(api_create(&f, CRDS, "", crontabs), 201);
	const char *name = "crontabs.stable.example.com";
	ck_assert_uint_eq(
		api_create(&f, name, "default/",
			"{'apiVersion':'stable.example.com/v1','kind':'CronTab','metadata':{'name':"
			"'a'},'spec':{'cronSpec':'* *','replicas':2},'status':{'x':1}}"),
		201);
	ck_assert_str_eq(api_json(&f, "status"), "");
	ck_assert_int_eq(api_int(&f, "metadata.generation"), 1);
	ck_assert_uint_eq(api_update(&f, name, "default/a",
				  "{'metadata':{'name':'a'},'spec':{'cronSpec':'x'}}"),
		422);
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_STRATEGIC, name, "default/a", "{}"), 415);
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, name, "default/a",
				  "{'spec':{'cronSpec':'* 1'},'status':{'x':1}}"),
		200);
	ck_assert_int_eq(api_int(&f, "metadata.generation"), 2);
	ck_assert_str_eq(api_json(&f, "status"), "");
	struct bt_str status = BT_STR("crontabs.stable.example.com/status");
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, status.data, "default/a",
				  "{'metadata':{'labels':{'l':'1'}},'status':{'replicas':2,"
				  "'labelSelector':'a=b'}}"),
		200);
	ck_assert_int_eq(api_int(&f, "status.replicas"), 2);
	ck_assert_int_eq(api_int(&f, "metadata.generation"), 2);
	ck_assert_str_eq(api_json(&f, "metadata.labels"), "");
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, "crontabs.stable.example.com/scale",
				  "default/a", "{'spec':{'replicas':5}}"),
		200);
	ck_assert_str_eq(api_json(&f, "status"), "{'replicas':2,'selector':'a=b'}");
	ck_assert_uint_eq(api_get(&f, name, "default/a"), 200);
	ck_assert_int_eq(api_int(&f, "spec.replicas"), 5);
	ck_assert_int_eq(api_int(&f, "metadata.generation"), 3);
	ck_assert_uint_eq(api_delete(&f, name, "default/a"), 200);
	ck_assert_str_eq(api_text(&f, "status"), "Success");
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_api__custom_schemas)
{
	struct api_fixture f;
	api_fixture_init(&f);
	ck_assert_uint_eq(
		api_create(&f, CRDS, "",
			"{'metadata':{'name':'as.b.c'},'spec':{'group':'b.c','scope':'Namespaced',"
			"'names':{'plural':'as','kind':'A'},'versions':[{'name':'v1','served':true,"
			"'storage':true,'schema':{'openAPIV3Schema':{'type':'object','properties':{"
			"'spec':{'type':'object','required':['size'],'properties':{'size':{'type':"
			"'integer','minimum':1},'mode':{'type':'string','enum':['x','y'],'default':"
			"'x'},'free':{'type':'object','x-kubernetes-preserve-unknown-fields':true},"
			"'list':{'type':'array','items':{'type':'string'}}}}}}}}]}}"),
		201);
	f.request.field_validation = BT_FIELD_VALIDATION_WARN;
	ck_assert_uint_eq(api_create(&f, "as.b.c", "default/",
				  "{'metadata':{'name':'a'},'other':1,'spec':{'size':2,'bad':1,"
				  "'free':{'any':{'thing':1}}}}"),
		201);
	ck_assert_str_eq(api_json(&f, "spec"), "{'size':2,'free':{'any':{'thing':1}},'mode':'x'}");
	ck_assert_str_eq(api_json(&f, "other"), "");
	ck_assert_uint_eq(f.answer.warning_count, 2);
	ck_assert_str_eq(f.answer.warnings[1].data, "unknown field \"spec.bad\"");
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, "as.b.c", "default/a", "{}"), 200);
	ck_assert_uint_eq(api_commits(&f), 0);
	ck_assert_uint_eq(api_create(&f, "as.b.c", "default/",
				  "{'metadata':{'name':'b'},'spec':{'mode':'z','list':[1]}}"),
		422);
	ck_assert_str_eq(api_message(&f),
		"A.b.c \"b\" is invalid: [spec.size: Required value, spec.mode: Unsupported "
		"value: \"z\": supported values: \"x\", \"y\", spec.list[0]: Invalid value: "
		"\"integer\": "
		"spec.list[0] in body must be of type string: \"integer\"]");
	ck_assert_uint_eq(
		api_patch(&f, BT_PATCH_MERGE, "as.b.c", "default/a", "{'spec':{'size':0}}"), 422);
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_api__empty_fields_of_schemas_are_dropped)
{
	struct api_fixture f;
	api_fixture_init(&f);
	ck_assert_uint_eq(
		api_create(&f, CRDS, "",
			"{'metadata':{'name':'as.b.c'},'spec':{'group':'b.c','scope':'Namespaced',"
			"'names':{'plural':'as','kind':'A'},'versions':[{'name':'v1','served':true,"
			"'storage':true,'schema':{'openAPIV3Schema':{'type':'object','required':[],"
			"'nullable':false,'properties':{'a':{'type':'object','properties':{},"
			"'description':''},'enum':{'type':'array','items':{'type':'integer',"
			"'minimum':0,'default':0,'enum':[]}},'null':{'type':'string',"
			"'default':null,'pattern':null}},'oneOf':[{'properties':{'a':{}},"
			"'required':[]}]}}}]}}"),
		201);
	ck_assert_str_eq(api_json(&f, "spec.versions"),
		"[{'name':'v1','served':true,'storage':true,'schema':{'openAPIV3Schema':{"
		"'type':'object','properties':{'a':{'type':'object'},'enum':{'type':'array',"
		"'items':{'type':'integer','minimum':0,'default':0}},'null':{'type':'string'}},"
		"'oneOf':[{'properties':{"
		"'a':{}}}]}}}]");
	api_fixture_finish(&f);
}
END_TEST

/** Applies a custom object by server-side apply as this manager; returns the code. */
static uint16_t apply_shelf(struct api_fixture *f, const char *manager, const char *spec)
{
	char body[512];
	(void)snprintf(body, sizeof(body),
		"{'apiVersion':'e.com/v1','kind':'Shelf','metadata':{'name':'s'},'spec':{%s}}",
		spec);
	f->request.field_manager = bt_str_from(manager);
	return api_patch(f, BT_PATCH_APPLY, "shelves.e.com", "default/s", body);
}

START_TEST(test_api__lists_of_custom_objects_are_applied_by_their_types)
{
	struct api_fixture f;
	api_fixture_init(&f);
	ck_assert_uint_eq(
		api_create(&f, CRDS, "",
			"{'apiVersion':'apiextensions.k8s.io/v1','kind':"
			"'CustomResourceDefinition','metadata':{'name':'shelves.e.com'},'spec':{"
			"'group':'e.com','scope':'Namespaced','names':{'plural':'shelves',"
			"'singular':'shelf','kind':'Shelf','listKind':'ShelfList'},'versions':[{"
			"'name':'v1','served':true,'storage':true,'schema':{'openAPIV3Schema':{"
			"'type':'object','properties':{'spec':{'type':'object','properties':{"
			"'books':{'type':'array','x-kubernetes-list-type':'map',"
			"'x-kubernetes-list-map-keys':['id'],'items':{'type':'object','required':["
			"'id'],'properties':{'id':{'type':'string'},'of':{'type':'string'}}}},"
			"'boxes':{'type':'array','x-kubernetes-list-type':'map',"
			"'x-kubernetes-list-map-keys':['row','side'],'items':{'type':'object',"
			"'properties':{'row':{'type':'integer','default':1},'side':{'type':"
			"'string','default':'left'},'of':{'type':'string'}}}},"
			"'tags':{'type':'array','x-kubernetes-list-type':'set','items':{'type':"
			"'string'}},'notes':{'type':'array','items':{'type':'string'}},"
			"'size':{'type':'object','x-kubernetes-map-type':'atomic','properties':{"
			"'w':{'type':'integer'},'h':{'type':'integer'}}},"
			"'more':{'type':'object','additionalProperties':{'type':'string'}}}}}}}}]}"
			"}"),
		201);
	ck_assert_uint_eq(apply_shelf(&f, "one",
				  "'books':[{'id':'a','of':'x'}],'tags':['p'],'notes':['n'],"
				  "'size':{'w':1},'more':{'k':'v'}"),
		201);
	ck_assert_uint_eq(
		apply_shelf(&f, "two", "'books':[{'id':'b'}],'tags':['q'],'more':{'l':'v'}"), 200);
	ck_assert_str_eq(api_json(&f, "spec.books"), "[{'id':'b'},{'id':'a','of':'x'}]");
	ck_assert_str_eq(api_json(&f, "spec.tags"), "['q','p']");
	ck_assert_str_eq(api_json(&f, "spec.more"), "{'k':'v','l':'v'}");
	/* a list without x-kubernetes-list-type, or an atomic map, is one field */
	ck_assert_uint_eq(apply_shelf(&f, "two", "'notes':['m']"), 409);
	ck_assert_uint_eq(apply_shelf(&f, "two", "'size':{'h':1}"), 409);
	ck_assert_uint_eq(apply_shelf(&f, "two", "'books':[{'id':'a','of':'y'}]"), 409);
	/* fields that the second manager leaves out are removed, and no others */
	ck_assert_uint_eq(apply_shelf(&f, "two", "'tags':['q']"), 200);
	ck_assert_str_eq(api_json(&f, "spec.books"), "[{'id':'a','of':'x'}]");
	ck_assert_str_eq(api_json(&f, "spec.more"), "{'k':'v'}");
	/* a key that is left out has its default */
	ck_assert_uint_eq(apply_shelf(&f, "three", "'boxes':[{'of':'x'},{'row':2}]"), 200);
	ck_assert_str_eq(api_json(&f, "spec.boxes"),
		"[{'of':'x','row':1,'side':'left'},{'row':2,'side':'left'}]");
	ck_assert_uint_eq(apply_shelf(&f, "four", "'boxes':[{'side':'left','of':'y'}]"), 409);
	ck_assert_uint_eq(
		apply_shelf(&f, "three", "'boxes':[{'row':1,'of':'z'},{'side':'right'}]"), 200);
	ck_assert_str_eq(api_json(&f, "spec.boxes"),
		"[{'of':'z','row':1,'side':'left'},{'side':'right','row':1}]");
	ck_assert_uint_eq(apply_shelf(&f, "two", "'books':[{'of':'y'}]"), 500);
	ck_assert_ptr_nonnull(strstr(api_message(&f),
		": .spec.books: element 0: associative list with keys has an element that omits "
		"key field \"id\" (and doesn't have default value)"));
	ck_assert_uint_eq(apply_shelf(&f, "two", "'books':[{'id':'a'},{'id':'a'}]"), 500);
	ck_assert_ptr_nonnull(
		strstr(api_message(&f), ": .spec.books: duplicate entries for key [id=\"a\"]"));
	ck_assert_uint_eq(apply_shelf(&f, "two", "'tags':['a','b','a']"), 500);
	ck_assert_ptr_nonnull(
		strstr(api_message(&f), ": .spec.tags: duplicate entries for key [=\"a\"]"));
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_api__definition_deleted)
{
	struct api_fixture f;
	api_fixture_init(&f);
	const char *name = "crontabs.stable.example.com";
	ck_assert_uint_eq(api_create(&f, CRDS, "", crontabs), 201);
	ck_assert_uint_eq(api_create(&f, name, "default/",
				  "{'metadata':{'name':'kept','finalizers':['a.b/c']}}"),
		201);
	ck_assert_uint_eq(api_create(&f, name, "default/", "{'metadata':{'name':'b'}}"), 201);
	ck_assert_uint_eq(api_delete(&f, CRDS, name), 200);
	ck_assert_str_ne(api_text(&f, "metadata.deletionTimestamp"), "");
	ck_assert_uint_eq(api_get(&f, name, "default/b"), 404);
	ck_assert_uint_eq(api_get(&f, name, "default/kept"), 200);
	ck_assert_uint_eq(api_create(&f, name, "default/", "{'metadata':{'name':'c'}}"), 405);
	ck_assert_uint_eq(api_get(&f, CRDS, name), 200);
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, name, "default/kept",
				  "{'metadata':{'finalizers':null}}"),
		200);
	ck_assert_uint_eq(api_get(&f, CRDS, name), 404);
	ck_assert_ptr_null(find(&f, "stable.example.com", "v1", "crontabs"));
	/* delete again, while no version is served */
	ck_assert_uint_eq(api_create(&f, CRDS, "", crontabs), 201);
	ck_assert_uint_eq(api_create(&f, name, "default/", "{'metadata':{'name':'b'}}"), 201);
	ck_assert_uint_eq(
		api_patch(&f, BT_PATCH_JSON, CRDS, name,
			"[{'op':'replace','path':'/spec/versions/0/served','value':false},"
			"{'op':'replace','path':'/spec/versions/1/served','value':false}]"),
		200);
	ck_assert_uint_eq(api_delete(&f, CRDS, name), 200);
	ck_assert_uint_eq(api_get(&f, CRDS, name), 404);
	ck_assert_ptr_null(find(&f, "stable.example.com", "v1", "crontabs"));
	ck_assert_uint_eq(api_create(&f, CRDS, "", crontabs), 201);
	ck_assert_ptr_nonnull(find(&f, "stable.example.com", "v1", "crontabs"));
	ck_assert_uint_eq(api_delete(&f, CRDS, name), 200);
	ck_assert_uint_eq(api_get(&f, CRDS, name), 404);
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_api__definition_waits_for_its_names)
{
#define OTHER(name) \
	"{'metadata':{'name':'" name ".x.io'},'spec':{'group':'x.io','scope':'Cluster','names':{" \
	"'plural':'" name "','kind':'Foo'},'versions':[{'name':'v1','served':true,'storage':true," \
	"'schema':{'openAPIV3Schema':{'type':'object'}}}]}}"
	struct api_fixture f;
	api_fixture_init(&f);
	ck_assert_uint_eq(api_create(&f, CRDS, "", OTHER("foos")), 201);
	ck_assert_uint_eq(api_create(&f, CRDS, "", OTHER("bars")), 201);
	ck_assert_ptr_null(find(&f, "x.io", "v1", "bars"));
	ck_assert_uint_eq(api_delete(&f, CRDS, "foos.x.io"), 200);
	ck_assert_ptr_nonnull(find(&f, "x.io", "v1", "bars"));
	ck_assert_uint_eq(api_get(&f, CRDS, "bars.x.io"), 200);
	ck_assert_str_eq(api_text(&f, "status.acceptedNames.kind"), "Foo");
	api_fixture_finish(&f);
}
END_TEST

/* Members of the spec or of its version, and what is refused. */
static const struct {
	const char *group;
	const char *spec;
	const char *version;
	const char *message;
} bad_parts[] = {
	{"cats.k8s.io", "", "",
		"metadata.annotations[api-approved.kubernetes.io]: Required value: protected "
		"groups must have approval annotation \"api-approved.kubernetes.io\", see "
		"https://github.com/kubernetes/enhancements/pull/1111"},
	{"cats.io", "", ",'subresources':{'scale':{'specReplicasPath':'.n'}}",
		"[spec.versions[0].subresources.scale.statusReplicasPath: Required value, "
		"spec.versions[0].subresources.scale.specReplicasPath: Invalid value: \".n\": "
		"should be a json path under .spec]"},
	{"cats.io", "", ",'additionalPrinterColumns':[{'name':'A','type':'text','jsonPath':'.a'}]",
		"spec.versions[0].additionalPrinterColumns[0].type: Invalid value: \"text\": must "
		"be one of boolean,date,integer,number,string"},
	{"cats.io", "", ",'deprecationWarning':'old'",
		"spec.versions[0].deprecationWarning: Invalid value: \"old\": can only be set for "
		"deprecated versions"},
	{"cats.io", "", ",'selectableFields':[{'jsonPath':'.spec.color'},{'jsonPath':'.spec.a'}]",
		"spec.versions[0].selectableFields[1].jsonPath: Invalid value: \".spec.a\": is an "
		"invalid path: does not refer to a valid field"},
	{"cats.io", "", ",'selectableFields':[{'jsonPath':'.spec'}]",
		"spec.versions[0].selectableFields[0].jsonPath: Invalid value: \".spec\": must "
		"point to a field of type string, boolean or integer. Enum string fields and "
		"strings with formats are allowed."},
	{"cats.io", "'conversion':{'strategy':'Webhook'},", "",
		"spec.conversion.webhook: Required value: required when strategy is set to "
		"Webhook"},
	{"cats.io",
		"'conversion':{'strategy':'Webhook','webhook':{'conversionReviewVersions':['v1'],"
		"'clientConfig':{}}},",
		"",
		"spec.conversion.webhook.clientConfig: Required value: exactly one of url or "
		"service is required"},
};

START_TEST(test_api__definition_parts_refused)
{
	struct api_fixture f;
	api_fixture_init(&f);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(bad_parts); i++) {
		struct bt_str body = bt_arena_printf(&f.arena,
			"{'metadata':{'name':'cats.%s'},'spec':{'group':'%s','scope':'Cluster',%s"
			"'names':{'plural':'cats','kind':'Cat'},'versions':[{'name':'v1','served':"
			"true,'storage':true,'schema':{'openAPIV3Schema':{'type':'object',"
			"'properties':{'spec':{'type':'object','properties':{'color':{'type':"
			"'string'}}}}}}%s}]}}",
			bad_parts[i].group, bad_parts[i].group, bad_parts[i].spec,
			bad_parts[i].version);
		ck_assert_uint_eq(api_create(&f, CRDS, "", body.data), 422);
		struct bt_str wanted = bt_arena_printf(&f.arena,
			"CustomResourceDefinition.apiextensions.k8s.io \"cats.%s\" is invalid: %s",
			bad_parts[i].group, bad_parts[i].message);
		ck_assert_str_eq(api_message(&f), wanted.data);
	}
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_api__unknown_fields_of_a_schema)
{
	static const char body[] =
		"{'metadata':{'name':'cats.cats.io'},'spec':{'group':'cats.io','scope':'Cluster',"
		"'names':{'plural':'cats','kind':'Cat'},'versions':[{'name':'v1','served':true,"
		"'storage':true,'schema':{'openAPIV3Schema':{'type':'object','properties':{'spec':{"
		"'type':'object','x-order':1}}}}}]}}";
	struct api_fixture f;
	api_fixture_init(&f);
	f.request.field_validation = BT_FIELD_VALIDATION_STRICT;
	ck_assert_uint_eq(api_create(&f, CRDS, "", body), 400);
	ck_assert_str_eq(api_message(&f),
		"CustomResourceDefinition in version \"v1\" cannot be handled as a "
		"CustomResourceDefinition: strict decoding error: unknown field "
		"\"spec.versions[0].schema.openAPIV3Schema.properties.spec.x-order\"");
	f.request.field_validation = BT_FIELD_VALIDATION_IGNORE;
	ck_assert_uint_eq(api_create(&f, CRDS, "", body), 201);
	ck_assert_uint_eq(
		bt_json_object_at(bt_json_array_at(f.result, "spec.versions")->elements[0],
			"schema.openAPIV3Schema.properties.spec")
			->count,
		1);
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_api__definition_refusals)
{
	struct api_fixture f;
	api_fixture_init(&f);
	ck_assert_uint_eq(
		api_create(&f, CRDS, "",
			"{'metadata':{'name':'x'},'spec':{'group':'g','scope':'Nowhere','names':{"
			"'plural':'Xs','kind':'1'},'versions':[{'name':'v1','served':true,"
			"'storage':false},{'name':'v1','served':true,'storage':false}]}}"),
		422);
	ck_assert_uint_ge(bt_json_array_at(f.result, "details.causes")->count, 6);
	/*
	 * a definition with the names of an existing resource is not accepted, and the existing
	 * objects stay
	 */
	ck_assert_uint_eq(
		api_create(&f, CRDS, "",
			"{'metadata':{'name':'leases.coordination.k8s.io','annotations':{"
			"'api-approved.kubernetes.io':'unapproved, a test'}},'spec':{'group':"
			"'coordination.k8s.io','scope':'Namespaced','names':{'plural':'leases',"
			"'kind':'Lease2'},'versions':[{'name':'v2','served':true,'storage':true,'"
			"schema':{"
			"'openAPIV3Schema':{'type':'object'}}}]}"
			"}"),
		201);
	ck_assert(bt_str_equal_c(
		bt_json_text_at(
			bt_json_array_at(f.result, "status.conditions")->elements[1], "status"),
		"False"));
	ck_assert_ptr_null(find(&f, "coordination.k8s.io", "v2", "leases"));
	ck_assert_uint_eq(api_create(&f, "leases.coordination.k8s.io", "default/",
				  "{'metadata':{'name':'l'}}"),
		201);
	ck_assert_uint_eq(api_delete(&f, CRDS, "leases.coordination.k8s.io"), 200);
	ck_assert_uint_eq(api_get(&f, "leases.coordination.k8s.io", "default/l"), 200);
	ck_assert_uint_eq(api_get(&f, CRDS, "leases.coordination.k8s.io"), 404);
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_api__definitions_are_read_at_start)
{
	struct api_fixture f;
	api_fixture_init(&f);
	ck_assert_uint_eq(api_create(&f, CRDS, "", crontabs), 201);
	struct bt_api_options options = *bt_api_options(f.api);
	bt_api_answer_finish(&f.answer);
	bt_api_destroy(f.api);
	uint64_t rv = bt_store_rv(f.store);
	f.api = bt_api_create(&options);
	ck_assert_uint_eq(bt_store_rv(f.store), rv);
	ck_assert_ptr_nonnull(find(&f, "stable.example.com", "v1", "crontabs"));
	api_fixture_finish(&f);
}
END_TEST

BT_TEST_MAIN("api_definition", test_api__edge_14_36_what_is_served,
	test_api__definition_is_established, test_api__custom_objects, test_api__custom_schemas,
	test_api__empty_fields_of_schemas_are_dropped,
	test_api__lists_of_custom_objects_are_applied_by_their_types, test_api__definition_deleted,
	test_api__definition_waits_for_its_names, test_api__definition_refusals,
	test_api__definition_parts_refused, test_api__unknown_fields_of_a_schema,
	test_api__definitions_are_read_at_start)
