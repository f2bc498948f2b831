/* SPDX-License-Identifier: Apache-2.0 */
/* ValidatingAdmissionPolicy: matching, parameters, conditions, variables, messages of refusals. */
#include "api_fixture.h"

#include "codec/json_edit.h"
#include "test_main.h"

#define POLICIES "validatingadmissionpolicies.admissionregistration.k8s.io"
#define BINDINGS "validatingadmissionpolicybindings.admissionregistration.k8s.io"
#define CONFIG_MAPS \
	"'matchConstraints':{'resourceRules':[{'apiGroups':[''],'apiVersions':['v1']," \
	"'operations':['CREATE','UPDATE'],'resources':['configmaps']}]}"
#define DENIED \
	"configmaps \"c\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied " \
	"request: "

static uint16_t add_policy(struct api_fixture *f, const char *name, const char *spec)
{
	struct bt_str body =
		bt_arena_printf(&f->arena, "{'metadata':{'name':'%s'},'spec':{%s}}", name, spec);
	return api_create(f, POLICIES, "", body.data);
}

static void bind(struct api_fixture *f, const char *more)
{
	struct bt_str body = bt_arena_printf(&f->arena,
		"{'metadata':{'name':'b'},'spec':{'policyName':'p','validationActions':['Deny']%s}"
		"}",
		more);
	ck_assert_uint_eq(api_create(f, BINDINGS, "", body.data), 201);
}

static uint16_t add_map(struct api_fixture *f, const char *rest)
{
	struct bt_str body = bt_arena_printf(&f->arena, "{'metadata':{'name':'c'}%s}", rest);
	return api_create(f, "configmaps", "default/", body.data);
}

struct answer {
	const char *policy;
	const char *binding;
	const char *map;
	uint16_t code;
	const char *message; /* text after DENIED; NULL: accepted */
};

static const struct answer answers[] = {
	{"'validations':[{'expression':'authorizer.group(\\\"\\\").resource(\\\"secrets\\\")."
	 "subresource(\\\"x\\\").namespace(\\\"kube-system\\\").name(\\\"n\\\").check(\\\"get\\\")."
	 "allowed()'}]",
		"", "", 201, NULL},
	{"'validations':[{'expression':'authorizer.requestResource.check(\\\"approve\\\").allowed()"
	 " && authorizer.requestResource.subresource(\\\"x\\\").check(\\\"get\\\").allowed()'}]",
		"", "", 201, NULL},
	{"'validations':[{'expression':'!authorizer.path(\\\"/a\\\").check(\\\"get\\\").errored() "
	 "&& authorizer.serviceAccount(\\\"a\\\", "
	 "\\\"b\\\").group(\\\"\\\").resource(\\\"pods\\\").check(\\\"get\\\").error() == "
	 "\\\"\\\"'}]",
		"", "", 201, NULL},
	{"'validations':[{'expression':'authorizer.path(\\\"/a\\\").check(\\\"get\\\").allowed() "
	 "&& authorizer.path(\\\"/b\\\").check(\\\"get\\\").allowed() && "
	 "authorizer.path(\\\"/c\\\").check(\\\"get\\\").allowed()','message':'m'}]",
		"", "", 422,
		"expression 'authorizer.path(\"/a\").check(\"get\").allowed() && "
		"authorizer.path(\"/b\").check(\"get\").allowed() && "
		"authorizer.path(\"/c\").check(\"get\").allowed()' resulted in error: operation "
		"cancelled: actual cost limit exceeded"},
	{"'validations':[{'expression':'has(object.data) && size(object.data) > 1'}]", "",
		",'data':{'a':'1'}", 422,
		"failed expression: has(object.data) && size(object.data) > 1"},
	{"'validations':[{'expression':'has(object.data) && size(object.data) > 1'}]", "",
		",'data':{'a':'1','b':'2'}", 201, NULL},
	{"'validations':[{'expression':'object.data.a == object.metadata.name','reason':"
	 "'Forbidden','messageExpression':'object.data.a + request.operation'}]",
		"", ",'data':{'a':'1'}", 403, "1CREATE"},
	{"'variables':[{'name':'n','expression':'size(object.data)'},{'name':'big','expression':"
	 "'variables.n > 1'}],'validations':[{'expression':'variables.big','message':'too "
	 "small'}]",
		"", ",'data':{'a':'1'}", 422, "too small"},
	{"'validations':[{'expression':'object.data.x == object.data.y'}]", "", ",'data':{}", 422,
		"expression 'object.data.x == object.data.y' resulted in error: no such key: data"},
	{"'failurePolicy':'Ignore','validations':[{'expression':'object.data.x == \\\"\\\"'}]", "",
		"", 201, NULL},
	{"'matchConditions':[{'name':'m','expression':'request.userInfo.username != "
	 "\\\"admin\\\"'}],'validations':[{'expression':'false'}]",
		"", "", 201, NULL},
	{"'validations':[{'expression':'false'}]",
		",'matchResources':{'namespaceSelector':{'matchLabels':{'x':'y'}}}", "", 201, NULL},
	{"'validations':[{'expression':'false'}]",
		",'matchResources':{'objectSelector':{'matchLabels':{'x':'y'}}}", "", 201, NULL},
	{"'validations':[{'expression':'false'}]",
		",'matchResources':{'excludeResourceRules':[{'apiGroups':['*'],'apiVersions':['*'],"
		"'operations':['*'],'resources':['*'],'resourceNames':['c']}]}",
		"", 201, NULL},
	{"'validations':[{'expression':'namespaceObject.metadata.name == \\\"other\\\"'}]", "", "",
		422, "failed expression: namespaceObject.metadata.name == \"other\""},
	{"'paramKind':{'apiVersion':'v1','kind':'ConfigMap'},'validations':[{'expression':"
	 "'size(object.data) <= int(params.data.max)'}]",
		",'paramRef':{'name':'limits','parameterNotFoundAction':'Deny'}",
		",'data':{'a':'1','b':'2'}", 422,
		"failed expression: size(object.data) <= int(params.data.max)"},
	{"'paramKind':{'apiVersion':'v1','kind':'ConfigMap'},'validations':[{'expression':"
	 "'false'}]",
		",'paramRef':{'name':'missing','parameterNotFoundAction':'Deny'}", "", 422,
		"no params found for policy binding with `Deny` parameterNotFoundAction"},
	{"'paramKind':{'apiVersion':'v1','kind':'ConfigMap'},'validations':[{'expression':"
	 "'false'}]",
		",'paramRef':{'name':'missing','parameterNotFoundAction':'Allow'}", "", 201, NULL},
};

START_TEST(test_admission_policy__answers)
{
	for (size_t i = 0; i < BT_ARRAY_LENGTH(answers); i++) {
		struct api_fixture f;
		api_fixture_init(&f);
		ck_assert_uint_eq(api_create(&f, "configmaps", "default/",
					  "{'metadata':{'name':'limits'},'data':{'max':'1'}}"),
			201);
		struct bt_str spec =
			bt_arena_printf(&f.arena, CONFIG_MAPS ",%s", answers[i].policy);
		ck_assert_msg(add_policy(&f, "p", spec.data) == 201, "%zu: %s", i, api_message(&f));
		bind(&f, answers[i].binding);
		uint16_t code = add_map(&f, answers[i].map);
		ck_assert_msg(code == answers[i].code, "%zu: %u %s", i, code, api_message(&f));
		if (answers[i].message != NULL) {
			struct bt_str wanted =
				bt_arena_printf(&f.arena, DENIED "%s", answers[i].message);
			ck_assert_str_eq(api_message(&f), wanted.data);
		}
		api_fixture_finish(&f);
	}
}
END_TEST

START_TEST(test_admission_policy__expressions_read_the_user)
{
	static const struct bt_user_extra extras[] = {
		{BT_STR_INIT("k"), BT_STR_INIT("v")}, {BT_STR_INIT("k"), BT_STR_INIT("w")}};
	static const struct bt_str groups[] = {BT_STR_INIT("system:masters")};
	const struct bt_user user = {.name = BT_STR("u"),
		.group_count = 1,
		.groups = groups,
		.extra_count = BT_ARRAY_LENGTH(extras),
		.extras = extras};
	struct api_fixture f;

	api_fixture_init(&f);
	ck_assert_uint_eq(
		add_policy(&f, "p",
			CONFIG_MAPS
			",'validations':[{'expression':'request.userInfo.username == "
			"\\\"u\\\" && request.userInfo.uid == \\\"\\\" && request.userInfo.groups "
			"== "
			"[\\\"system:masters\\\"] && request.userInfo.extra == {\\\"k\\\": "
			"[\\\"v\\\", \\\"w\\\"]}'}]"),
		201);
	bind(&f, "");
	ck_assert_uint_eq(add_map(&f, ""), 422);
	f.request.user = &user;
	ck_assert_msg(add_map(&f, "") == 201, "%s", api_message(&f));
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_admission_policy__life)
{
	struct api_fixture f;
	api_fixture_init(&f);
	ck_assert_uint_eq(
		add_policy(&f, "p", CONFIG_MAPS ",'validations':[{'expression':'false'}]"), 201);
	ck_assert_int_eq(api_int(&f, "status.observedGeneration"), 1);
	ck_assert_str_eq(api_json(&f, "status.typeChecking"), "{}");
	ck_assert_uint_eq(add_map(&f, ""), 201); /* no binding: the policy has no effect */
	bind(&f, "");
	ck_assert_uint_eq(
		api_patch(&f, BT_PATCH_MERGE, "configmaps", "default/c", "{'data':{'a':'b'}}"),
		422);
	ck_assert_str_eq(api_text(&f, "reason"), "Invalid");
	ck_assert_str_eq(api_text(&f, "details.kind"), "configmaps");
	/* other validationActions, and another operation */
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, BINDINGS, "b",
				  "{'spec':{'validationActions':['Warn','Audit']}}"),
		200);
	ck_assert_uint_eq(
		api_patch(&f, BT_PATCH_MERGE, "configmaps", "default/c", "{'data':{'a':'b'}}"),
		200);
	ck_assert_uint_eq(f.answer.warning_count, 1);
	ck_assert(bt_str_equal_c(f.answer.warnings[0],
		"Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': failed "
		"expression: false"));
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_JSON, BINDINGS, "b",
				  "[{'op':'replace','path':'/spec/validationActions','value':["
				  "'Deny']}]"),
		200);
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_JSON, POLICIES, "p",
				  "[{'op':'replace','path':'/spec/matchConstraints/resourceRules/0/"
				  "operations','value':['DELETE']},{'op':'replace','path':"
				  "'/spec/validations/0/expression','value':"
				  "'has(oldObject.immutable)'}]"),
		200);
	ck_assert_int_eq(api_int(&f, "status.observedGeneration"), 2);
	ck_assert_uint_eq(api_delete(&f, "configmaps", "default/c"), 422);
	ck_assert_uint_eq(api_delete(&f, BINDINGS, "b"), 200);
	ck_assert_uint_eq(api_delete(&f, "configmaps", "default/c"), 200);
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_admission_policy__subresources)
{
	static const struct {
		enum bt_verb verb;
		const char *resource;
		const char *key;
		const char *body;
		const char *message; /* the end of the message */
	} rows[] = {
		{BT_VERB_CREATE, "pods/eviction", "default/a", "{'metadata':{'name':'a'}}",
			"CREATE Eviction policy/v1 a"},
		{BT_VERB_CREATE, "pods/binding", "default/a",
			"{'metadata':{'name':'a'},'target':{'name':'n'}}", "CREATE Binding v1 a"},
		{BT_VERB_CREATE, "serviceaccounts/token", "default/s", "{}",
			"CREATE TokenRequest authentication.k8s.io/v1 "},
		{BT_VERB_CREATE, "pods/exec", "default/a", NULL, "CONNECT PodExecOptions v1 "},
		{BT_VERB_PATCH, "replicationcontrollers/scale", "default/r",
			"{'spec':{'replicas':2}}", "UPDATE Scale autoscaling/v1 r"},
		{BT_VERB_PATCH, "pods/status", "default/a", "{'status':{'message':'m'}}",
			"UPDATE Pod v1 a"},
	};
	struct api_fixture f;
	api_fixture_init(&f);
	api_create_pod(&f, "a", NULL);
	ck_assert_uint_eq(
		api_create(&f, "serviceaccounts", "default/", "{'metadata':{'name':'s'}}"), 201);
	ck_assert_uint_eq(api_create(&f, "replicationcontrollers", "default/",
				  "{'metadata':{'name':'r'},'spec':{'template':{'metadata':"
				  "{'labels':{'a':'b'}},'spec':{'containers':[{'name':'c','image':"
				  "'i'}]}}}}"),
		201);
	ck_assert_uint_eq(
		add_policy(&f, "p",
			"'matchConstraints':{'resourceRules':[{'apiGroups':[''],"
			"'apiVersions':['v1'],'operations':['*'],'resources':['*/*']}]},"
			"'validations':[{'expression':'false','messageExpression':"
			"'request.operation + \\\" \\\" + request.kind.kind + \\\" \\\" + "
			"object.apiVersion + \\\" \\\" + object.?metadata.name.orValue("
			"\\\"\\\")'}]"),
		201);
	bind(&f, "");
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		uint16_t code = rows[i].verb == BT_VERB_PATCH
			? api_patch(&f, BT_PATCH_MERGE, rows[i].resource, rows[i].key, rows[i].body)
			: api_do(&f, rows[i].verb, rows[i].resource, rows[i].key, rows[i].body);
		ck_assert_msg(code == 422, "%s: %u %s", rows[i].resource, code, api_message(&f));
		ck_assert_msg(bt_str_has_suffix(
				      bt_str_from(api_message(&f)), bt_str_from(rows[i].message)),
			"%s", api_message(&f));
	}
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_admission_policy__options_of_the_request)
{
	struct api_fixture f;
	api_fixture_init(&f);
	ck_assert_uint_eq(
		add_policy(&f, "p",
			"'matchConstraints':{'resourceRules':[{'apiGroups':[''],'apiVersions':"
			"['v1'],'operations':['*'],'resources':['configmaps']}]},'validations':"
			"[{'expression':'request.operation == \\\"DELETE\\\" || ("
			"request.options.kind == (request.operation == \\\"CREATE\\\" ? "
			"\\\"CreateOptions\\\" : \\\"UpdateOptions\\\") && "
			"request.options.fieldManager == \\\"m\\\" && "
			"has(request.options.dryRun) == request.dryRun)'},"
			"{'expression':'request.operation != \\\"DELETE\\\" || ("
			"request.options.kind == \\\"DeleteOptions\\\" && "
			"request.options.gracePeriodSeconds == 0 && "
			"request.options.propagationPolicy == \\\"Orphan\\\" && "
			"request.options.preconditions.uid == oldObject.metadata.uid)'}]"),
		201);
	bind(&f, "");
	ck_assert_uint_eq(add_map(&f, ""), 422);
	f.request.field_manager = BT_STR("m");
	f.request.dry_run = true;
	ck_assert_uint_eq(add_map(&f, ""), 201);
	f.request.field_manager = BT_STR("m");
	ck_assert_uint_eq(add_map(&f, ""), 201);
	struct bt_str uid = bt_str_from(api_text(&f, "metadata.uid"));
	f.request.field_manager = BT_STR("m");
	ck_assert_uint_eq(
		api_patch(&f, BT_PATCH_MERGE, "configmaps", "default/c", "{'data':{'a':'b'}}"),
		200);
	ck_assert_uint_eq(api_delete(&f, "configmaps", "default/c"), 422);
	f.request.grace_period_seconds = 0;
	f.request.propagation = BT_PROPAGATION_ORPHAN;
	f.request.precondition_uid = uid;
	ck_assert_uint_eq(api_delete(&f, "configmaps", "default/c"), 200);
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_admission_policy__refused_policies)
{
	static const struct {
		const char *spec;
		const char *message;
	} rows[] = {
		{CONFIG_MAPS ",'validations':[{'expression':'object.x'}]",
			"spec.validations[0].expression: Invalid value: \"object.x\": must "
			"evaluate to "
			"bool"},
		{CONFIG_MAPS ",'validations':[{'expression':'true','messageExpression':'1'}]",
			"spec.validations[0].messageExpression: Invalid value: \"1\": must "
			"evaluate to "
			"string"},
		{CONFIG_MAPS ",'validations':[{'expression':'variables.x'}]",
			"spec.validations[0].expression: Invalid value: \"variables.x\": "
			"compilation "
			"failed: ERROR: <input>:1:10: undefined field 'x'\n | variables.x\n | "
			".........^"},
		{CONFIG_MAPS ",'validations':[{'expression':'params.a == 1'}]",
			"spec.validations[0].expression: Invalid value: \"params.a == 1\": "
			"compilation "
			"failed: ERROR: <input>:1:1: undeclared reference to 'params' (in "
			"container "
			"'')\n | params.a == 1\n | ^"},
		{"'validations':[{'expression':'true'}]", "spec.matchConstraints: Required value"},
		{CONFIG_MAPS ",'validations':[{'expression':'true','reason':'Because'}]",
			"spec.validations[0].reason: Unsupported value: \"Because\": supported "
			"values: \"Forbidden\", \"Invalid\", \"RequestEntityTooLarge\", "
			"\"Unauthorized\""},
		{CONFIG_MAPS ",'validations':[{'expression':'true','message':'a\\nb'}]",
			"spec.validations[0].message: Invalid value: \"a\\nb\": must not contain "
			"line breaks"},
		{CONFIG_MAPS ",'validations':[{'expression':'true'}],'variables':[{'name':'a-b',"
			     "'expression':'1'}]",
			"spec.variables[0].name: Invalid value: \"a-b\": name is not a valid CEL "
			"identifier"},
		{CONFIG_MAPS ",'validations':[{'expression':'true'}],'variables':[{'name':'a',"
			     "'expression':'1'},{'name':'a','expression':''}]",
			"[spec.variables[1].expression: Required value, spec.variables[1].name: "
			"Duplicate value: \"a\"]"},
		{CONFIG_MAPS ",'validations':[{'expression':'true'}],'matchConditions':[{'name':"
			     "'a','expression':'true'},{'name':'a','expression':'true'},{"
			     "'expression':'true'}]",
			"[spec.matchConditions[1].name: Duplicate value: \"a\", "
			"spec.matchConditions[2].name: Required value]"},
	};
	struct api_fixture f;
	api_fixture_init(&f);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_str wanted = bt_arena_printf(&f.arena,
			"ValidatingAdmissionPolicy.admissionregistration.k8s.io \"p\" is invalid: "
			"%s",
			rows[i].message);
		ck_assert_uint_eq(add_policy(&f, "p", rows[i].spec), 422);
		ck_assert_str_eq(api_message(&f), wanted.data);
	}
	api_fixture_finish(&f);
}
END_TEST

BT_TEST_MAIN("admission_policy", test_admission_policy__answers,
	test_admission_policy__expressions_read_the_user, test_admission_policy__life,
	test_admission_policy__subresources, test_admission_policy__options_of_the_request,
	test_admission_policy__refused_policies)
