/* SPDX-License-Identifier: Apache-2.0 */
/* Schemas of custom resources: structure, pruning, defaults, validation, rules. */
#include "api_fixture.h"

#include "codec/json_edit.h"
#include "test_main.h"

#define CRDS "customresourcedefinitions.apiextensions.k8s.io"
#define THINGS "things.example.com"

/** Defines things.example.com and returns the code; spec_schema is the schema of spec. */
static uint16_t define(struct api_fixture *f, const char *spec_schema)
{
	struct bt_str body = bt_arena_printf(&f->arena,
		"{'metadata':{'name':'things.example.com'},'spec':{'group':'example.com','scope':"
		"'Cluster','names':{'plural':'things','kind':'Thing'},'versions':[{'name':'v1',"
		"'served':true,'storage':true,'subresources':{'status':{}},'schema':{"
		"'openAPIV3Schema':{'type':'object','properties':{'spec':%s}}}}]}}",
		spec_schema);
	return api_create(f, CRDS, "", body.data);
}

static uint16_t create(struct api_fixture *f, const char *name, const char *spec)
{
	struct bt_str body = bt_arena_printf(&f->arena,
		"{'apiVersion':'example.com/v1','kind':'Thing','metadata':{'name':'%s'},'spec':%s}",
		name, spec);
	return api_create(f, THINGS, "", body.data);
}

#define EMBEDDED \
	"{'type':'object','x-kubernetes-embedded-resource':true," \
	"'x-kubernetes-preserve-unknown-fields':true}"

struct refusal {
	const char *schema;
	const char *spec;
	const char *message; /* text after `Thing.example.com "x" is invalid: `; NULL: accepted */
};

static const struct refusal refusals[] = {
	{"{'type':'object','properties':{'a':{'type':'integer'}}}", "{'a':'s'}",
		"spec.a: Invalid value: \"string\": spec.a in body must be of type integer: "
		"\"string\""},
	{"{'type':'string','maxLength':2,'minLength':1}", "'abc'",
		"spec: Too long: may not be more than 2 bytes"},
	{"{'type':'string','maxLength':2,'minLength':1}", "''",
		"spec: Invalid value: \"\": spec in body should be at least 1 chars long"},
	{"{'type':'string','maxLength':2}", "'äö'", NULL},
	{"{'type':'string','pattern':'^a+$'}", "'ab'",
		"spec: Invalid value: \"ab\": spec in body should match '^a+$'"},
	{"{'type':'string','format':'date-time'}", "'yesterday'",
		"spec: Invalid value: \"yesterday\": spec in body must be of type date-time: "
		"\"yesterday\""},
	{"{'type':'string','format':'ipv4'}", "'1.2.3.400'",
		"spec: Invalid value: \"1.2.3.400\": spec in body must be of type ipv4: "
		"\"1.2.3.400\""},
	{"{'type':'string','format':'uuid'}", "'123e4567-e89b-12d3-a456-426614174000'", NULL},
	{"{'type':'number','minimum':0,'exclusiveMinimum':true}", "0",
		"spec: Invalid value: 0: spec in body should be greater than 0"},
	{"{'type':'number','maximum':1.5}", "1.75",
		"spec: Invalid value: 1.75: spec in body should be less than or equal to 1.5"},
	{"{'type':'number','minimum':0.1}", "0",
		"spec: Invalid value: 0: spec in body should be greater than or equal to 0.1"},
	{"{'type':'number','multipleOf':0.01}", "0.07", NULL},
	{"{'type':'number','multipleOf':0.01}", "0.075",
		"spec: Invalid value: 0.075: spec in body should be a multiple of 0.01"},
	{"{'type':'integer','multipleOf':2}", "400000000000001",
		"spec: Invalid value: 400000000000001: spec in body should be a multiple of 2"},
	{"{'type':'integer','multipleOf':3}", "7",
		"spec: Invalid value: 7: spec in body should be a multiple of 3"},
	{"{'type':'string','enum':['a','b']}", "'c'",
		"spec: Unsupported value: \"c\": supported values: \"a\", \"b\""},
	{"{'type':'array','maxItems':1,'items':{'type':'string'}}", "['a','b']",
		"spec: Too many: 2: must have at most 1 items"},
	{"{'type':'array','x-kubernetes-list-type':'set','items':{'type':'string'}}",
		"['a','b','a']", "spec[2]: Duplicate value: \"a\""},
	{"{'type':'array','x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':['k'],"
	 "'items':{'type':'object','required':['k'],'properties':{'k':{'type':'string'},'v':{"
	 "'type':'integer'}}}}",
		"[{'k':'a','v':1},{'k':'a','v':2}]", "spec[1]: Duplicate value: {\"k\":\"a\"}"},
	{"{'type':'object','oneOf':[{'required':['a']},{'required':['b']}],'properties':{'a':{"
	 "'type':'string'},'b':{'type':'string'}}}",
		"{'a':'x','b':'x'}",
		"spec: Invalid value: \"\": \"spec\" must validate one and only one schema "
		"(oneOf). Found 2 valid alternatives"},
	{"{'type':'object','anyOf':[{'required':['a']},{'required':['b']}],'properties':{'a':{"
	 "'type':'string'},'b':{'type':'string'}}}",
		"{}",
		"[spec.a: Required value, spec: Invalid value: \"\": \"spec\" must validate at "
		"least one schema (anyOf)]"},
	{"{'type':'string','not':{'pattern':'x'}}", "'axb'",
		"spec: Invalid value: \"\": \"spec\" must not validate the schema (not)"},
	{"{'x-kubernetes-int-or-string':true}", "true",
		"spec: Invalid value: \"boolean\": spec in body must be of type integer,string: "
		"\"boolean\""},
	{"{'type':'object','x-kubernetes-validations':[{'rule':'self.min <= self.max','message':"
	 "'min above max'}],'properties':{'min':{'type':'integer'},'max':{'type':'integer'}}}",
		"{'min':2,'max':1}", "spec: Invalid value: \"object\": min above max"},
	{"{'type':'object','x-kubernetes-validations':[{'rule':'self.a__dash__b > 1','reason':"
	 "'FieldValueForbidden','fieldPath':'.a-b','messageExpression':'\\\"got \\\" + "
	 "string(self.a__dash__b)'}],'properties':{'a-b':{'type':'integer'}}}",
		"{'a-b':1}", "spec.a-b: Forbidden: got 1"},
	{"{'type':'object','x-kubernetes-validations':[{'rule':'self.a > 1'}],'properties':{'a':{"
	 "'type':'integer'}}}",
		"{}",
		"spec: Invalid value: \"object\": no such key: a evaluating rule: self.a > 1"},
	{"{'type':'object','required':['a'],'x-kubernetes-validations':[{'rule':'self.a > 1'}],"
	 "'properties':{'a':{'type':'integer'}}}",
		"{}",
		"[spec.a: Required value, <nil>: Invalid value: \"null\": some validation rules "
		"were not checked because the object was invalid; correct the existing errors to "
		"complete validation]"},
	{"{'type':'object','x-kubernetes-validations':[{'rule':'self.namespace == "
	 "self.__namespace__ && self.namespace == \\\"b\\\"'}],'properties':{'namespace':{'type':"
	 "'string'}}}",
		"{'namespace':'a'}",
		"spec: Invalid value: \"object\": failed rule: self.namespace == "
		"self.__namespace__ && self.namespace == \"b\""},
	{EMBEDDED, "{'kind':'Pod'}", "spec.apiVersion: Required value: must not be empty"},
	{EMBEDDED, "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'a','labels':{'a':'b c'}}}",
		"spec.metadata.labels: Invalid value: \"b c\": a valid label must be an empty "
		"string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
		"end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', "
		"regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"},
	{EMBEDDED, "{'apiVersion':'v1','kind':'Pod','metadata':{}}", NULL},
	{"{'type':'string','format':'duration','x-kubernetes-validations':[{'rule':'self <= "
	 "duration(\\\"1h\\\")'}]}",
		"'2h'", "spec: Invalid value: \"string\": failed rule: self <= duration(\"1h\")"},
};

START_TEST(test_custom_schema__refusals)
{
	for (size_t i = 0; i < BT_ARRAY_LENGTH(refusals); i++) {
		struct api_fixture f;
		api_fixture_init(&f);
		ck_assert_msg(define(&f, refusals[i].schema) == 201, "%s: %s", refusals[i].schema,
			api_message(&f));
		uint16_t code = create(&f, "x", refusals[i].spec);
		if (refusals[i].message == NULL) {
			ck_assert_uint_eq(code, 201);
		} else {
			struct bt_str wanted = bt_arena_printf(&f.arena,
				"Thing.example.com \"x\" is invalid: %s", refusals[i].message);
			ck_assert_str_eq(api_message(&f), wanted.data);
		}
		api_fixture_finish(&f);
	}
}
END_TEST

struct definition {
	const char *schema;
	const char *message; /* text after the path of the schema of spec */
};

#define SPEC "spec.validation.openAPIV3Schema.properties[spec]"

static const struct definition definitions[] = {
	{"{}", ".type: Required value: must not be empty for specified object fields"},
	{"{'type':'array'}", ".items: Required value: must be specified"},
	{"{'type':'array','uniqueItems':true,'items':{'type':'string'}}",
		".uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime "
		"complexity becomes quadratic"},
	{"{'type':'object','anyOf':[{'properties':{'a':{'default':1}}}],'properties':{'a':{'type':"
	 "'integer'}}}",
		".anyOf[0].properties[a].default: Forbidden: must be undefined to be structural"},
	{"{'type':'string','oneOf':[{'type':'string'}]}",
		".oneOf[0].type: Forbidden: must be empty to be structural"},
	{"{'type':'object','not':{'anyOf':[{'properties':{'a':{}}}]}}",
		".properties[a]: Required value: because it is defined in " SPEC
		".not.anyOf[0].properties[a]"},
	{"{'type':'string','x-kubernetes-validations':[{'rule':' '}]}",
		".x-kubernetes-validations[0].rule: Required value: rule is not specified"},
	{"{'type':'string','x-kubernetes-validations':[{'rule':'true\\n&& true\\n'}]}",
		".x-kubernetes-validations[0].message: Required value: message must be specified "
		"if rule contains line breaks"},
	{"{'type':'string','x-kubernetes-validations':[{'rule':'true','reason':'Bad'}]}",
		".x-kubernetes-validations[0].reason: Unsupported value: \"Bad\": supported "
		"values: \"FieldValueDuplicate\", \"FieldValueForbidden\", "
		"\"FieldValueInvalid\", \"FieldValueRequired\""},
	{"{'type':'object','x-kubernetes-validations':[{'rule':'true','fieldPath':'.a'}]}",
		".x-kubernetes-validations[0].fieldPath: Invalid value: \".a\": fieldPath must be "
		"a valid path: does not refer to a valid field"},
	{"{'type':'array','maxItems':2,'items':{'type':'integer','x-kubernetes-validations':[{"
	 "'rule':'self >= oldSelf'}]}}",
		".items.x-kubernetes-validations[0].rule: Invalid value: {\"rule\":\"self >= "
		"oldSelf\"}: oldSelf cannot be used on the uncorrelatable portion of the schema "
		"within " SPEC},
	{"{'type':'object','additionalProperties':false}",
		".additionalProperties: Forbidden: additionalProperties cannot be set to false"},
	{"{'type':'object','properties':{'a':{'type':'string'}},'additionalProperties':false}",
		".additionalProperties: Forbidden: additionalProperties and properties are mutual "
		"exclusive"},
	{"{'type':'object','x-kubernetes-preserve-unknown-fields':false}",
		".x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or "
		"undefined"},
	{"{'type':'object','x-kubernetes-embedded-resource':true}",
		".properties: Required value: must not be empty if x-kubernetes-embedded-resource "
		"is true without x-kubernetes-preserve-unknown-fields"},
	{"{'type':'string','x-kubernetes-list-type':'atomic'}",
		".type: Invalid value: \"string\": must be array if x-kubernetes-list-type is "
		"specified"},
	{"{'type':'object','x-kubernetes-map-type':'some'}",
		".x-kubernetes-map-type: Unsupported value: \"some\": supported values: "
		"\"atomic\", \"granular\""},
	{"{'type':'array','x-kubernetes-list-type':'set','items':{'type':'object'}}",
		".items.x-kubernetes-map-type: Invalid value: \"null\": must be atomic as item of "
		"a list with x-kubernetes-list-type=set"},
	{"{'type':'array','x-kubernetes-list-map-keys':['a'],'items':{'type':'object'}}",
		".x-kubernetes-list-type: Required value: must be map if "
		"x-kubernetes-list-map-keys is non-empty"},
	{"{'type':'array','x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':['a'],"
	 "'items':{'type':'object','properties':{'a':{'type':'string'}}}}",
		".items.properties[a].default: Required value: this property is in "
		"x-kubernetes-list-map-keys, so it must have a default or be a required property"},
	{"{'type':'object','properties':{'a':{'type':'string','default':1}}}",
		".properties[a].default: Invalid value: \"integer\": " SPEC
		".properties[a].default in body must be of type string: \"integer\""},
	{"{'type':'object','properties':{'a':{'type':'object','default':{'b':1}}}}",
		".properties[a].default: Invalid value: {\"b\":1}: must not have unknown fields: "
		"unknown field \"" SPEC ".properties[a].default.b\""},
	{"{'type':'object','properties':{'a':{'type':'integer','default':2,"
	 "'x-kubernetes-validations':[{'rule':'self < 2'}]}}}",
		".properties[a].default: Invalid value: \"integer\": failed rule: self < 2"},
	{"{'type':'string','pattern':'('}",
		".pattern: Invalid value: \"(\": error parsing regexp: missing closing ): `(`"},
	{"{'type':'object','x-kubernetes-validations':[{'rule':'self.b'}],'properties':{'a':{"
	 "'type':'boolean'}}}",
		".x-kubernetes-validations[0].rule: Invalid value: {\"rule\":\"self.b\"}: "
		"compilation failed: ERROR: <input>:1:5: undefined field 'b'\n | self.b\n | ....^"},
	{"{'type':'object','x-kubernetes-validations':[{'rule':'1'}]}",
		".x-kubernetes-validations[0].rule: Invalid value: {\"rule\":\"1\"}: cel "
		"expression must evaluate to a bool"},
};

START_TEST(test_custom_schema__definitions_refused)
{
	for (size_t i = 0; i < BT_ARRAY_LENGTH(definitions); i++) {
		struct api_fixture f;
		api_fixture_init(&f);
		ck_assert_uint_eq(define(&f, definitions[i].schema), 422);
		struct bt_str wanted = bt_arena_printf(&f.arena,
			"CustomResourceDefinition.apiextensions.k8s.io \"things.example.com\" is "
			"invalid: " SPEC "%s",
			definitions[i].message);
		ck_assert_str_eq(api_message(&f), wanted.data);
		api_fixture_finish(&f);
	}
}
END_TEST

/* Schemas of the root, and the errors after the path of the root. */
static const struct definition roots[] = {
	{"{}", ".type: Required value: must not be empty at the root"},
	{"{'type':'string'}", ".type: Invalid value: \"string\": must be object at the root"},
	{"{'type':'object','nullable':true}",
		".nullable: Forbidden: nullable cannot be true at the root"},
	{"{'type':'object','properties':{'kind':{'type':'integer'}}}",
		".properties[kind].type: Invalid value: \"integer\": must be string"},
	{"{'type':'object','properties':{'metadata':{'type':'object','properties':{'name':{'type':"
	 "'string','maxLength':9}}}}}",
		NULL},
	{"{'type':'object','properties':{'metadata':{'type':'object','properties':{'labels':{"
	 "'type':'object'}}}}}",
		".properties[metadata]: Forbidden: must not specify anything other than name and "
		"generateName, but metadata is implicitly specified"},
};

START_TEST(test_custom_schema__roots_refused)
{
	for (size_t i = 0; i < BT_ARRAY_LENGTH(roots); i++) {
		struct api_fixture f;
		api_fixture_init(&f);
		struct bt_str body = bt_arena_printf(&f.arena,
			"{'metadata':{'name':'things.example.com'},'spec':{'group':'example.com',"
			"'scope':'Cluster','names':{'plural':'things','kind':'Thing'},'versions':[{"
			"'name':'v1','served':true,'storage':true,'schema':{'openAPIV3Schema':%s}}]"
			"}}",
			roots[i].schema);
		const char *message = roots[i].message;
		ck_assert_uint_eq(api_create(&f, CRDS, "", body.data), message != NULL ? 422 : 201);
		if (message != NULL) {
			struct bt_str wanted = bt_arena_printf(&f.arena,
				"CustomResourceDefinition.apiextensions.k8s.io "
				"\"things.example.com\" is invalid: "
				"spec.validation.openAPIV3Schema%s",
				message);
			ck_assert_str_eq(api_message(&f), wanted.data);
		}
		api_fixture_finish(&f);
	}
}
END_TEST

START_TEST(test_custom_schema__pruning_and_defaults)
{
	struct api_fixture f;
	api_fixture_init(&f);
	ck_assert_uint_eq(
		define(&f,
			"{'type':'object','properties':{'kept':{'type':'array',"
			"'x-kubernetes-preserve-unknown-fields':true,'items':{'type':'object',"
			"'properties':{'known':{'type':'object','properties':{'x':{'type':'string'}"
			"}}}}},'list':{'type':'array','items':{'type':'object','properties':{'port'"
			":"
			"{'type':'integer','default':80},'name':{'type':'string'}}}},'mode':{"
			"'type':'string','default':'auto'},'none':{'type':'string','nullable':true,"
			"'default':'some'},'map':{'type':'object','additionalProperties':{'type':"
			"'string'}},'any':{'type':'object','x-kubernetes-preserve-unknown-fields':"
			"true}}}"),
		201);
	ck_assert_uint_eq(
		create(&f, "x",
			"{'kept':[{'a':1,'known':{'x':'y','gone':1}}],'list':[{'name':'n',"
			"'gone':1}],'mode':null,'none':null,'map':{'a':null},'any':{'a':null}}"),
		201);
	ck_assert_str_eq(api_json(&f, "spec"),
		"{'kept':[{'a':1,'known':{'x':'y'}}],'list':[{'name':'n','port':80}],"
		"'none':null,'map':{},'any':{'a':null},'mode':'auto'}");
	/* a default that is added later appears when the object is read */
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_JSON, CRDS, "things.example.com",
				  "[{'op':'add','path':'/spec/versions/0/schema/openAPIV3Schema/"
				  "properties/spec/"
				  "properties/later','value':{'type':'string','default':'now'}}]"),
		200);
	ck_assert_uint_eq(api_get(&f, THINGS, "x"), 200);
	ck_assert_str_eq(api_text(&f, "spec.later"), "now");
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_custom_schema__repeated_members)
{
	static const char spec[] = "{'a':1,'b':2,'a':{'x':[{'y':1,'y':2}]}}";
	struct api_fixture f;
	api_fixture_init(&f);
	ck_assert_uint_eq(
		define(&f, "{'type':'object','x-kubernetes-preserve-unknown-fields':true}"), 201);
	ck_assert_uint_eq(create(&f, "x", spec), 201);
	ck_assert_str_eq(api_json(&f, "spec"), "{'b':2,'a':{'x':[{'y':2}]}}");
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_custom_schema__transitions)
{
	struct api_fixture f;
	api_fixture_init(&f);
	ck_assert_uint_eq(
		define(&f,
			"{'type':'object','properties':{'fixed':{'type':'string',"
			"'x-kubernetes-validations':[{'rule':'self == oldSelf','message':'is "
			"immutable'}]},'once':{'type':'integer','x-kubernetes-validations':[{'rule'"
			":"
			"'!oldSelf.hasValue() || oldSelf.value() < self','optionalOldSelf':true}]},"
			"'short':{'type':'string','maxLength':9}}}"),
		201);
	ck_assert_uint_eq(create(&f, "x", "{'fixed':'a','once':1,'short':'abc'}"), 201);
	ck_assert_uint_eq(
		api_patch(&f, BT_PATCH_MERGE, THINGS, "x", "{'spec':{'fixed':'b'}}"), 422);
	ck_assert_str_eq(api_message(&f),
		"Thing.example.com \"x\" is invalid: spec.fixed: Invalid value: \"string\": is "
		"immutable");
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, THINGS, "x", "{'spec':{'once':2}}"), 200);
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, THINGS, "x", "{'spec':{'once':1}}"), 422);
	/* an update does not check unchanged values against a stricter schema */
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_JSON, CRDS, "things.example.com",
				  "[{'op':'replace','path':'/spec/versions/0/schema/"
				  "openAPIV3Schema/properties/"
				  "spec/properties/short/maxLength','value':2}]"),
		200);
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, THINGS, "x", "{'spec':{'once':3}}"), 200);
	ck_assert_uint_eq(
		api_patch(&f, BT_PATCH_MERGE, THINGS, "x", "{'spec':{'short':'abcd'}}"), 422);
	api_fixture_finish(&f);
}
END_TEST

/** A rule that costs too much is stopped by the cost budget. */
START_TEST(test_custom_schema__cost)
{
	struct api_fixture f;
	struct bt_strbuf spec = {0};
	api_fixture_init(&f);
	ck_assert_uint_eq(define(&f,
				  "{'type':'array','maxItems':100,'items':{'type':'integer'},"
				  "'x-kubernetes-validations':[{'rule':'self.all(a, self.all(b, "
				  "self.all(c, a + b + c > 0)))'}]}"),
		201);
	for (int i = 1; i < 100; i++) {
		bt_strbuf_printf(&spec, "%s%d", i == 1 ? "[" : ",", i);
	}
	bt_strbuf_append_c(&spec, "]");
	ck_assert_uint_eq(create(&f, "x", bt_strbuf_c(&spec)), 422);
	ck_assert_ptr_nonnull(strstr(api_message(&f), "cost limit exceeded"));
	bt_strbuf_finish(&spec);
	api_fixture_finish(&f);
}
END_TEST

#define HINT \
	" (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where " \
	"arrays, maps, and strings are declared)"
#define ITEMS "spec.validation.openAPIV3Schema.properties[spec].items.x-kubernetes-validations[0]."
#define RULE(text) "'x-kubernetes-validations':[{'rule':'" text "'}]"
#define MEMBERS \
	"'type':'object','properties':{'a':{'type':'object'},'b':{'type':'object'},'c':{" \
	"'type':'object'},'d':{'type':'object'}}"
#define ONE_OF "(has(self.a) && !has(self.b)) || (!has(self.a) && has(self.b))"
#define NINE_UNITS "{'rule':'has(self.a) && has(self.b) && !has(self.c) && has(self.d)'}"

START_TEST(test_custom_schema__estimated_cost)
{
	static const struct {
		const char *schema;
		const char *message; /* text after the name; NULL: accepted */
	} rows[] = {
		{"{'type':'array','items':{" MEMBERS "," RULE(ONE_OF) "}}",
			ITEMS "rule: Forbidden: estimated rule cost exceeds budget by factor of "
			      "1.048576x" HINT},
		{"{'type':'array','maxItems':1000,'items':{" MEMBERS "," RULE(ONE_OF) "}}", NULL},
		{"{'type':'array','items':{'type':'string'," RULE(
			 "self.contains(\\\"a string\\\")") "}}",
			ITEMS
			"rule: Forbidden: estimated rule cost exceeds budget by factor of more "
			"than 100x" HINT},
		{"{'type':'array','maxItems':25,'items':{'type':'string','maxLength':10," RULE(
			 "self.contains(\\\"a string\\\")") "}}",
			NULL},
		{"{'type':'array','items':{'type':'integer'}," RULE(
			 "self.all(x, self.exists_one(y, x == y))") "}",
			"rule: Forbidden: estimated rule cost exceeds budget by factor of more "
			"than "
			"100x"},
		{"{'type':'array','maxItems':500,'items':{'type':'integer'}," RULE(
			 "self.all(x, self.exists_one(y, x == y))") "}",
			NULL},
		{"{'type':'array','items':{'type':'integer'}," RULE("self.all(x, x > 0)") "}",
			NULL},
		{"{'type':'object','properties':{'a':{'type':'string'},'b':{'type':'string'}}"
		 "," RULE("self.a == self.b && self.a.startsWith(\\\"x\\\")") "}",
			NULL},
		{"{'type':'string'," RULE("self.matches(\\\"^[a-z]+$\\\")") "}", NULL},
		{"{'type':'object','additionalProperties':{'type':'string'}," RULE(
			 "self.all(k, self[k].contains(self[k]))") "}",
			"rule: Forbidden: estimated rule cost exceeds budget by factor of more "
			"than "
			"100x"},
		{"{'type':'array','maxItems':10,'items':{'type':'string','enum':['a','b']," RULE(
			 "self.matches(\\\"a\\\")") "}}",
			NULL},
		/*
	         * the cost estimate assumes that nested lists hold no more values than fit into a
	         * request
	         */
		{"{'type':'array','items':{'type':'array','items':{" MEMBERS
		 "," RULE("!has(self.a) || has(self.b)") "}}}",
			NULL},
		{"{'type':'array','items':{" MEMBERS ",'x-kubernetes-validations':[{'rule':'true',"
		 "'messageExpression':'[1, 2].map(x, string(x)).exists(x, x == \\\"3\\\") ? "
		 "\\\"\\\" "
		 ": \\\"a\\\"'}]}}",
			ITEMS
			"messageExpression: Forbidden: estimated messageExpression cost exceeds "
			"budget by factor of"},
		{"{'type':'array','items':{" MEMBERS ",'x-kubernetes-validations':[" NINE_UNITS
		 "," NINE_UNITS "," NINE_UNITS "," NINE_UNITS "," NINE_UNITS "," NINE_UNITS
		 "," NINE_UNITS "," NINE_UNITS "," NINE_UNITS "," NINE_UNITS "," NINE_UNITS
		 "," NINE_UNITS "]}}",
			"invalid: spec.validation.openAPIV3Schema: Forbidden: "
			"x-kubernetes-validations "
			"estimated rule cost total for entire OpenAPIv3 schema exceeds budget by "
			"factor of 1.132462x" HINT},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct api_fixture f;
		api_fixture_init(&f);
		uint16_t code = define(&f, rows[i].schema);
		bool is_right = rows[i].message == NULL
			? code == 201
			: code == 422 && strstr(api_message(&f), rows[i].message) != NULL;
		ck_assert_msg(is_right, "row %zu: %u %s", i, code, api_message(&f));
		api_fixture_finish(&f);
	}
}
END_TEST

BT_TEST_MAIN("custom_schema", test_custom_schema__refusals, test_custom_schema__definitions_refused,
	test_custom_schema__roots_refused, test_custom_schema__pruning_and_defaults,
	test_custom_schema__repeated_members, test_custom_schema__transitions,
	test_custom_schema__cost, test_custom_schema__estimated_cost)
