/* SPDX-License-Identifier: Apache-2.0 */
/* MutatingAdmissionPolicy: how policies change objects, and which policies are refused. */
#include "codec/json_edit.h"
#include "kinds_rows.h"
#include "test_main.h"

#define POLICIES "mutatingadmissionpolicies.admissionregistration.k8s.io"
#define BINDINGS "mutatingadmissionpolicybindings.admissionregistration.k8s.io"
#define VALIDATING "validatingadmissionpolicies.admissionregistration.k8s.io"
#define VALIDATING_BINDINGS "validatingadmissionpolicybindings.admissionregistration.k8s.io"
#define CONSTRAINTS(resource) \
	"'matchConstraints':{'resourceRules':[{'apiGroups':['*'],'apiVersions':['*']," \
	"'operations':['CREATE','UPDATE'],'resources':['" resource "']}]},"
#define NEVER "'reinvocationPolicy':'Never',"
#define APPLY(expression) \
	"{'patchType':'ApplyConfiguration','applyConfiguration':{'expression':'" expression "'}}"
#define PATCH(expression) "{'patchType':'JSONPatch','jsonPatch':{'expression':'" expression "'}}"
#define MUTATIONS(list) "'mutations':[" list "]"
#define LABEL(name, value) \
	APPLY("Object{metadata: Object.metadata{labels: Object.metadata.labels{" name ": " value \
	      "}}}")
#define Q "\\\""
#define DENIED "is forbidden: policy 'p' with binding 'p' denied request: "

static void add_policy(struct api_fixture *f, const char *name, const char *spec)
{
	struct bt_str body =
		bt_arena_printf(&f->arena, "{'metadata':{'name':'%s'},'spec':{%s}}", name, spec);
	uint16_t code = api_create(f, POLICIES, "", body.data);
	ck_assert_msg(code == 201, "%s: %s", spec, api_message(f));
}

static void bind(struct api_fixture *f, const char *name, const char *more)
{
	struct bt_str body = bt_arena_printf(&f->arena,
		"{'metadata':{'name':'%s'},'spec':{'policyName':'%s'%s}}", name, name, more);
	uint16_t code = api_create(f, BINDINGS, "", body.data);
	ck_assert_msg(code == 201, "%s: %s", more, api_message(f));
}

struct change {
	const char *name;
	const char *policy;
	const char *binding;
	const char *object;   /* of the ConfigMap default/c, after its name */
	const char *path;     /* NULL: the object is refused */
	const char *expected; /* a part of the message, or JSON */
};

static const struct change changes[] = {
	{"label", NEVER MUTATIONS(LABEL("team", Q "a" Q)), "", "", "metadata.labels",
		"{'team':'a'}"},
	{"label beside others", NEVER MUTATIONS(LABEL("team", Q "a" Q)), "",
		",'metadata':{'name':'c','labels':{'x':'y'}}", "metadata.labels",
		"{'x':'y','team':'a'}"},
	{"map", NEVER MUTATIONS(APPLY("Object{data: {" Q "a" Q ": " Q "b" Q "}}")), "", "", "data",
		"{'a':'b'}"},
	{"of the object",
		NEVER MUTATIONS(
			APPLY("Object{data: {" Q "a" Q ": object.data.b + request.operation}}")),
		"", ",'data':{'b':'x'}", "data", "{'b':'x','a':'xCREATE'}"},
	{"only if absent",
		NEVER MUTATIONS(APPLY(
			"has(object.data) ? Object{} : Object{data: {" Q "a" Q ": " Q "b" Q "}}")),
		"", ",'data':{'b':'x'}", "data", "{'b':'x'}"},
	{"unset", NEVER MUTATIONS(APPLY("Object{data: Object.data{?b: optional.none()}}")), "",
		",'data':{'a':'1','b':'x'}", "data", "{'a':'1'}"},
	{"optional",
		NEVER MUTATIONS(APPLY("Object{data: Object.data{?b: object.data[?" Q "a" Q "]}}")),
		"", ",'data':{'a':'1'}", "data", "{'a':'1','b':'1'}"},
	{"each sees the one before",
		NEVER MUTATIONS(APPLY("Object{data: {" Q "n" Q ": " Q "1" Q "}}") "," APPLY(
			"Object{data: {" Q "m" Q
			": object.data.n + variables.n}}")) ",'variables':[{"
							    "'name':'n','expression':'object.?data."
							    "?n.orValue(" Q "-" Q ")'}]",
		"", "", "data", "{'n':'1','m':'11'}"},
	{"patch",
		NEVER MUTATIONS(PATCH(
			"[JSONPatch{op: " Q "test" Q ", path: " Q "/data/a" Q ", value: " Q "1" Q
			"}, JSONPatch{op: " Q "replace" Q ", path: " Q "/data/a" Q ", value: " Q
			"2" Q "}, JSONPatch{op: " Q "add" Q ", path: " Q "/metadata/labels" Q
			", value: Object.metadata.labels{x: " Q "y" Q "}}]")),
		"", ",'data':{'a':'1'}", "data", "{'a':'2'}"},
	{"escaped key",
		NEVER MUTATIONS(
			PATCH("[JSONPatch{op: " Q "add" Q ", path: " Q "/metadata/annotations/" Q
			      " + jsonpatch.escapeKey(" Q "a/b" Q "), value: " Q "1" Q "}]")),
		"", ",'metadata':{'name':'c','annotations':{'x':'2'}}", "metadata.annotations",
		"{'x':'2','a/b':'1'}"},
	{"no patches", NEVER MUTATIONS(PATCH("true ? [] : [JSONPatch{}]")), "", ",'data':{'a':'1'}",
		"data", "{'a':'1'}"},
	{"condition",
		NEVER MUTATIONS(LABEL("team", Q "a" Q)) ",'matchConditions':[{'name':'n',"
							"'expression':'object.metadata.name != " Q
							"c" Q "'}]",
		"", "", "metadata.labels", ""},
	{"another binding", NEVER MUTATIONS(LABEL("team", Q "a" Q)),
		",'matchResources':{'objectSelector':{'matchLabels':{'x':'y'}}}", "",
		"metadata.labels", ""},
	{"params",
		NEVER MUTATIONS(
			LABEL("team", "params.data.team")) ",'paramKind':{'apiVersion':'v1',"
							   "'kind':'ConfigMap'}",
		",'paramRef':{'name':'settings','parameterNotFoundAction':'Deny'}", "",
		"metadata.labels", "{'team':'blue'}"},
	{"params by selector",
		NEVER MUTATIONS(
			LABEL("team", "params.data.team")) ",'paramKind':{'apiVersion':'v1',"
							   "'kind':'ConfigMap'}",
		",'paramRef':{'selector':{'matchLabels':{'kind':'settings'}},"
		"'parameterNotFoundAction':'Deny'}",
		"", "metadata.labels", "{'team':'blue'}"},
	{"params missing",
		NEVER MUTATIONS(
			LABEL("team", "params.data.team")) ",'paramKind':{'apiVersion':'v1',"
							   "'kind':'ConfigMap'}",
		",'paramRef':{'name':'nope','parameterNotFoundAction':'Deny'}", "", NULL,
		DENIED "no params found for policy binding with `Deny` parameterNotFoundAction"},
	{"params missing, allowed",
		NEVER MUTATIONS(
			LABEL("team", "params.data.team")) ",'paramKind':{'apiVersion':'v1',"
							   "'kind':'ConfigMap'}",
		",'paramRef':{'name':'nope','parameterNotFoundAction':'Allow'}", "",
		"metadata.labels", ""},
	{"fails", NEVER MUTATIONS(LABEL("team", "object.data.nope")), "", ",'data':{'a':'1'}", NULL,
		DENIED
		"expression 'Object{metadata: Object.metadata{labels: Object.metadata.labels{"
		"team: object.data.nope}}}' resulted in error: no such key: nope"},
	{"fails, ignored",
		"'failurePolicy':'Ignore'," NEVER MUTATIONS(LABEL("team", "object.data.nope")), "",
		",'data':{'a':'1'}", "data", "{'a':'1'}"},
	{"unknown field", NEVER MUTATIONS(APPLY("Object{daten: {" Q "a" Q ": " Q "b" Q "}}")), "",
		"", NULL, DENIED "error applying patch: .daten: field not declared in schema"},
	{"wrong type", NEVER MUTATIONS(APPLY("Object{data: {" Q "a" Q ": 1}}")), "", "", NULL,
		DENIED
		"error applying patch: .data.a: expected string, got &value.valueUnstructured"
		"{Value:1}"},
	{"wrong place", NEVER MUTATIONS(APPLY("Object{metadata: Object.spec{}}")), "", "", NULL,
		DENIED "type mismatch: unexpected type name \"Object.spec\", expected "
		       "\"Object.metadata\", which matches field name path from root Object type"},
	{"test fails",
		NEVER MUTATIONS(PATCH("[JSONPatch{op: " Q "test" Q ", path: " Q "/data/a" Q
				      ", value: " Q "1" Q "}]")),
		"", ",'data':{'a':'2'}", NULL, DENIED "error applying patch: "},
	{"identity stays",
		NEVER MUTATIONS(APPLY("Object{metadata: Object.metadata{name: " Q "d" Q
				      ", namespace: " Q "e" Q ", uid: " Q "f" Q "}}")),
		"", "", "metadata.name", "'c'"},
	{"refused after",
		NEVER MUTATIONS(APPLY(
			"Object{metadata: Object.metadata{labels: {" Q "a" Q ": " Q "-" Q "}}}")),
		"", "", NULL, "metadata.labels: Invalid value: \"-\""},
	{"too large",
		NEVER MUTATIONS(
			APPLY("Object{data: {" Q "a" Q ": cel.bind(a, [[1,1,1,1,1,1,1,1,1,1]], "
			      "cel.bind(b, [a,a,a,a,a,a,a,a,a,a,a], cel.bind(c, [b,b,b,b,b,"
			      "b,b,b,b,b,b,b], cel.bind(d, [c,c,c,c,c,c,c,c,c,c,c], "
			      "[d,d,d,d,d,d,d,d,d,d]))))}}")),
		"", "", NULL, DENIED "the expression makes an object that is too large"},
};

START_TEST(test_mutating_policy__changes)
{
	uint32_t wrong = 0;
	for (size_t i = 0; i < BT_ARRAY_LENGTH(changes); i++) {
		const struct change *row = &changes[i];
		struct api_fixture f;
		rows_init(&f);
		rows_create(&f, "configmaps", "default/",
			"{'metadata':{'name':'settings','labels':{'kind':'settings'}},'data':{"
			"'team':'blue'}}");
		struct bt_str spec =
			bt_arena_printf(&f.arena, CONSTRAINTS("configmaps") "%s", row->policy);
		add_policy(&f, "p", spec.data);
		bind(&f, "p", row->binding);
		const char *metadata =
			strstr(row->object, "'metadata'") != NULL ? "" : ",'metadata':{'name':'c'}";
		struct bt_str body = bt_arena_printf(
			&f.arena, "{'kind':'ConfigMap'%s%s}", metadata, row->object);
		uint16_t code = api_create(&f, "configmaps", "default/", body.data);
		bool is_right = row->path != NULL
			? code == 201 && strcmp(api_json(&f, row->path), row->expected) == 0
			: code == 422 && strstr(api_message(&f), row->expected) != NULL;
		if (!is_right) {
			wrong++;
			(void)fprintf(stderr, "%s: %u %s %s\n", row->name, code, api_message(&f),
				code == 201 ? api_json(&f, row->path != NULL ? row->path : "data")
					    : "");
		}
		api_fixture_finish(&f);
	}
	ck_assert_msg(wrong == 0, "%u rows", wrong);
}
END_TEST

#define SIDECAR \
	"Object{spec: Object.spec{initContainers: [Object.spec.initContainers{name: " Q "proxy" Q \
	", image: " Q "i" Q ", restartPolicy: " Q "Always" Q "}]}}"

START_TEST(test_mutating_policy__pods)
{
	struct api_fixture f;
	rows_init(&f);
	add_policy(&f, "p", CONSTRAINTS("pods") NEVER MUTATIONS(APPLY(SIDECAR)));
	bind(&f, "p", "");
	/*
	 * a container that a policy adds gets the defaults and the values that admission sets in
	 * every container
	 */
	rows_create(&f, "pods", "default/",
		"{'metadata':{'name':'a'},'spec':{'containers':[{'name':'c','image':'i'}]}}");
	const struct bt_json_value *init =
		bt_json_array_at(f.result, "spec.initContainers")->elements[0];
	ck_assert(bt_str_equal_c(bt_json_text_at(init, "name"), "proxy"));
	ck_assert(bt_str_equal_c(bt_json_text_at(init, "imagePullPolicy"), "Always"));
	ck_assert_uint_eq(bt_json_array_at(f.result, "spec.containers")->count, 1);
	/* an update of the status must not apply a policy's change of the spec */
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, "pods/status", "default/a",
				  "{'status':{'message':'m'}}"),
		200);
	ck_assert_uint_eq(bt_json_array_at(f.result, "spec.initContainers")->count, 1);
	/* a policy must not change an atomic list */
	ck_assert_uint_eq(
		api_patch(&f, BT_PATCH_JSON, POLICIES, "p",
			"[{'op':'replace','path':'/spec/mutations/0/applyConfiguration/expression',"
			"'value':'Object{spec: Object.spec{containers: [Object.spec.containers{"
			"name: \\\"c\\\", args: [\\\"a\\\"]}]}}'}]"),
		200);
	ck_assert_uint_eq(api_create(&f, "pods", "default/",
				  "{'metadata':{'name':'b'},'spec':{'containers':[{'name':'c','"
				  "image':'i'}]}}"),
		422);
	ck_assert_str_eq(api_message(&f),
		"pods \"b\" is forbidden: policy 'p' with binding 'p' denied request: error "
		"applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or "
		"structs: .spec.containers[0].args");
	ck_assert_str_eq(api_text(&f, "reason"), "Invalid");
	api_fixture_finish(&f);
}
END_TEST

#define COUNT(name) \
	APPLY("Object{data: {" Q name Q ": string(int(object.?data[?" Q name Q "].orValue(" Q \
	      "0" Q ")) + 1)}}")

START_TEST(test_mutating_policy__invoked_again)
{
	struct api_fixture f;
	rows_init(&f);
	/* policy b changes the object after a and c; only a has the reinvocationPolicy IfNeeded */
	add_policy(&f, "a",
		CONSTRAINTS("configmaps") "'reinvocationPolicy':'IfNeeded'," MUTATIONS(COUNT("a")));
	add_policy(&f, "b", CONSTRAINTS("configmaps") NEVER MUTATIONS(COUNT("b")));
	add_policy(&f, "c", CONSTRAINTS("configmaps") NEVER MUTATIONS(COUNT("c")));
	bind(&f, "a", "");
	bind(&f, "b", "");
	bind(&f, "c", "");
	rows_create(&f, "configmaps", "default/", "{'metadata':{'name':'c'}}");
	ck_assert_str_eq(api_json(&f, "data"), "{'a':'2','b':'1','c':'1'}");
	/* policies own no fields */
	ck_assert_str_eq(api_json(&f, "metadata.managedFields"), "");
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_mutating_policy__before_validating_ones)
{
	struct api_fixture f;
	rows_init(&f);
	add_policy(&f, "p", CONSTRAINTS("configmaps") NEVER MUTATIONS(LABEL("team", Q "a" Q)));
	struct bt_str body = bt_arena_printf(&f.arena,
		"{'metadata':{'name':'v'},'spec':{" CONSTRAINTS(
			"configmaps") "'validations':[{'expression':'has(object.metadata.labels)',"
				      "'message':'no labels'}]}}");
	rows_create(&f, VALIDATING, "", body.data);
	rows_create(&f, VALIDATING_BINDINGS, "",
		"{'metadata':{'name':'v'},'spec':{'policyName':'v','validationActions':['Deny']}}");
	ck_assert_uint_eq(
		api_create(&f, "configmaps", "default/", "{'metadata':{'name':'c'}}"), 422);
	bind(&f, "p", "");
	f.request.dry_run = true;
	ck_assert_uint_eq(
		api_create(&f, "configmaps", "default/", "{'metadata':{'name':'c'}}"), 201);
	ck_assert_str_eq(api_json(&f, "metadata.labels"), "{'team':'a'}");
	ck_assert_uint_eq(api_get(&f, "configmaps", "default/c"), 404);
	rows_create(&f, "configmaps", "default/", "{'metadata':{'name':'c'}}");
	/* an update is changed, too; without the binding the policy has no effect */
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, "configmaps", "default/c",
				  "{'metadata':{'labels':{'team':null,'x':'y'}}}"),
		200);
	ck_assert_str_eq(api_json(&f, "metadata.labels"), "{'x':'y','team':'a'}");
	ck_assert_uint_eq(api_delete(&f, BINDINGS, "p"), 200);
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, "configmaps", "default/c",
				  "{'metadata':{'labels':{'team':null}}}"),
		200);
	ck_assert_str_eq(api_json(&f, "metadata.labels"), "{'x':'y'}");
	api_fixture_finish(&f);
}
END_TEST

static const struct refusal_row refused[] = {
#define ROW(name, spec, message) \
	{ \
		name, POLICIES, "", \
			"{'metadata':{'name':'p'},'spec':{" CONSTRAINTS("configmaps") spec "}}", \
			422, \
			"MutatingAdmissionPolicy.admissionregistration.k8s.io \"p\" is " \
			"invalid: " message \
	}
	ROW("not an object", NEVER MUTATIONS(APPLY("object")),
		"spec.mutations[0].applyConfiguration.expression: Invalid value: \"object\": must "
		"evaluate to Object"),
	ROW("not a list", NEVER MUTATIONS(PATCH("JSONPatch{}")),
		"spec.mutations[0].jsonPatch.expression: Invalid value: \"JSONPatch{}\": must "
		"evaluate to list(JSONPatch)"),
	ROW("does not compile", NEVER MUTATIONS(APPLY("Objekt{}")),
		"spec.mutations[0].applyConfiguration.expression: Invalid value: \"Objekt{}\": "
		"compilation failed: ERROR: <input>:1:7: undeclared reference to 'Objekt' (in "
		"container '')"),
	ROW("no objects in variables",
		NEVER MUTATIONS(APPLY("Object{}")) ",'variables':[{'name':'v','expression':"
						   "'Object{}'}]",
		"spec.variables[0].expression: Invalid value: \"Object{}\": compilation failed"),
	ROW("no expression", NEVER MUTATIONS("{'patchType':'JSONPatch'}"),
		"spec.mutations[0].jsonPatch: Required value: must be specified when patchType is "
		"JSONPatch"),
	ROW("two expressions",
		NEVER MUTATIONS("{'patchType':'JSONPatch','jsonPatch':{'expression':'[JSONPatch{}]'"
				"},'applyConfiguration':{'expression':'Object{}'}}"),
		"spec.mutations[0].applyConfiguration: Forbidden: must not be specified when "
		"patchType is JSONPatch"),
	ROW("nothing", NEVER "'variables':[]", "spec.mutations: Required value"),
	ROW("no params", NEVER MUTATIONS(LABEL("a", "params.x")),
		"spec.mutations[0].applyConfiguration.expression: Invalid value: "),
#undef ROW
	{"binding", BINDINGS, "",
		"{'metadata':{'name':'p'},'spec':{'policyName':'p','paramRef':{"
		"'parameterNotFoundAction':'Deny'}}}",
		422,
		"spec.paramRef.name: Required value: one of name or selector must be specified"},
};

START_TEST(test_mutating_policy__refused_policies)
{
	rows_check_refusals(refused, BT_ARRAY_LENGTH(refused));
}
END_TEST

BT_TEST_MAIN("mutating_policy", test_mutating_policy__changes, test_mutating_policy__pods,
	test_mutating_policy__invoked_again, test_mutating_policy__before_validating_ones,
	test_mutating_policy__refused_policies)
