/* SPDX-License-Identifier: Apache-2.0 */
/* Webhook configurations, policies' bindings, APIServices, flow control, signing requests. */
#include "api_fixture.h"

#include <stdio.h>

#include "codec/json_edit.h"
#include "test_main.h"

#define WEBHOOKS "validatingwebhookconfigurations.admissionregistration.k8s.io"
#define REQUESTS "certificatesigningrequests.certificates.k8s.io"
/* "-----BEGIN CERTIFICATE REQUEST-----" */
#define PEM "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0="

START_TEST(test_registrations__webhooks)
{
	struct api_fixture f;
	api_fixture_init(&f);
	ck_assert_uint_eq(
		api_create(&f, WEBHOOKS, "",
			"{'metadata':{'name':'w'},'webhooks':[{'name':'a.b.c','clientConfig':"
			"{'service':{'namespace':'n','name':'s'}},'rules':[{'operations':["
			"'CREATE'],'apiGroups':[''],'apiVersions':['v1'],'resources':["
			"'pods']}],'sideEffects':'None','admissionReviewVersions':['v1']}]}"),
		201);
	ck_assert_str_eq(api_json(&f, "webhooks"),
		"[{'name':'a.b.c','clientConfig':{'service':{'namespace':'n','name':'s','port':443}"
		"},"
		"'rules':[{'operations':['CREATE'],'apiGroups':[''],'apiVersions':['v1'],'"
		"resources':"
		"['pods'],'scope':'*'}],'sideEffects':'None','admissionReviewVersions':['v1'],"
		"'failurePolicy':'Fail','timeoutSeconds':10,'matchPolicy':'Equivalent',"
		"'namespaceSelector':{},'objectSelector':{}}]");
	ck_assert_uint_eq(f.answer.warning_count, 1);
	ck_assert_uint_eq(
		api_create(&f, WEBHOOKS, "",
			"{'metadata':{'name':'x'},'webhooks':[{'name':'a','clientConfig':{},"
			"'rules':[{'operations':['*','READ'],'apiGroups':[''],'apiVersions':"
			"['v1']}],'timeoutSeconds':31,'admissionReviewVersions':['v3']}]}"),
		422);
	ck_assert_str_eq(api_message(&f),
		"ValidatingWebhookConfiguration.admissionregistration.k8s.io \"x\" is invalid: ["
		"webhooks[0].clientConfig: Required value: exactly one of url or service is "
		"required, "
		"webhooks[0].rules[0].operations: Invalid value: [\"*\",\"READ\"]: if '*' is "
		"present, "
		"must not specify other operations, "
		"webhooks[0].rules[0].operations[1]: Unsupported value: \"READ\": supported "
		"values: "
		"\"*\", \"CONNECT\", \"CREATE\", \"DELETE\", \"UPDATE\", "
		"webhooks[0].rules[0].resources: Required value, "
		"webhooks[0].name: Invalid value: \"a\": should be a domain with at least three "
		"segments separated by dots, "
		"webhooks[0].admissionReviewVersions: Invalid value: [\"v3\"]: must include at "
		"least "
		"one of v1, v1beta1, "
		"webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun, "
		"webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between "
		"1 "
		"and 30 seconds]");
	static const struct {
		const char *expression;
		const char *message; /* "": created */
	} rows[] = {
		{"object.metadata.name != oldObject.metadata.name && request.dryRun", ""},
		{"authorizer.path(request.name).check(request.name).allowed()", ""},
		{"object.metadata.name", "must evaluate to bool"},
		{"namespaceObject.metadata.name == request.name",
			"undeclared reference to 'namespaceObject'"},
		{"invalid expr[", "webhooks[0].matchConditions[0].expression: Invalid value: "},
		{"", "webhooks[0].matchConditions[0].expression: Required value"},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		char body[512];
		(void)snprintf(body, sizeof(body),
			"{'metadata':{'name':'c%d'},'webhooks':[{'name':'a.b.c','clientConfig':{"
			"'url':'https://h'},'sideEffects':'None','admissionReviewVersions':['v1'],"
			"'matchConditions':[{'name':'m','expression':'%s'}]}]}",
			(int)i, rows[i].expression);
		ck_assert_msg(api_create(&f, WEBHOOKS, "", body) ==
				(rows[i].message[0] == '\0' ? 201 : 422),
			"%s: %s", rows[i].expression, api_message(&f));
		ck_assert_msg(strstr(api_message(&f), rows[i].message) != NULL, "%s: %s",
			rows[i].expression, api_message(&f));
	}
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_registrations__api_services)
{
	const char *services = "apiservices.apiregistration.k8s.io";
	struct api_fixture f;
	api_fixture_init(&f);
	ck_assert_uint_eq(api_get(&f, services, "v1.apps"), 200);
	ck_assert_str_eq(api_json(&f, "status.conditions"),
		"[{'type':'Available','status':'True','lastTransitionTime':'2026-11-21T12:00:00Z',"
		"'reason':'Local','message':'Local APIServices are always available'}]");
	ck_assert_uint_eq(api_get(&f, services, "v1."), 200);
	ck_assert_uint_eq(
		api_create(&f, services, "",
			"{'metadata':{'name':'v1beta1.m.io'},'spec':{'group':'m.io','version':"
			"'v1beta1','groupPriorityMinimum':100,'versionPriority':100,'service':"
			"{'namespace':'n','name':'s'}}}"),
		201);
	ck_assert_str_eq(api_json(&f, "status.conditions"),
		"[{'type':'Available','status':'False','lastTransitionTime':'2026-11-21T12:00:00Z',"
		"'reason':'MissingEndpoints','message':'endpoints for service/s in \\'n\\' have "
		"no "
		"addresses with port name \\'\\''}]");
	ck_assert_uint_eq(
		api_create(&f, services, "",
			"{'metadata':{'name':'other'},'spec':{'group':'m.io','version':'v1',"
			"'groupPriorityMinimum':0,'versionPriority':1001}}"),
		422);
	ck_assert_str_eq(api_message(&f),
		"APIService.apiregistration.k8s.io \"other\" is invalid: ["
		"metadata.name: Invalid value: \"other\": must be "
		"`spec.version+\".\"+spec.group`: \"v1.m.io\", "
		"spec.groupPriorityMinimum: Invalid value: 0: must be positive and less than "
		"20000, "
		"spec.versionPriority: Invalid value: 1001: must be positive and less than 1000]");
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_registrations__flow_control)
{
	const char *levels = "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io";
	const char *schemas = "flowschemas.flowcontrol.apiserver.k8s.io";
	struct api_fixture f;
	api_fixture_init(&f);
	ck_assert_uint_eq(api_get(&f, schemas, "probes"), 200);
	ck_assert_str_eq(api_text(&f, "spec.priorityLevelConfiguration.name"), "exempt");
	ck_assert_uint_eq(api_get(&f, levels, "exempt"), 200);
	ck_assert_str_eq(api_json(&f, "spec"),
		"{'type':'Exempt','exempt':{'nominalConcurrencyShares':0,'lendablePercent':0}}");
	ck_assert_uint_eq(api_create(&f, levels, "",
				  "{'metadata':{'name':'a'},'spec':{'type':'Limited','limited':{"
				  "'limitResponse':{'type':'Queue','queuing':{}}}}}"),
		201);
	ck_assert_str_eq(api_json(&f, "spec.limited"),
		"{'limitResponse':{'type':'Queue','queuing':{'queues':64,'handSize':8,"
		"'queueLengthLimit':50}},'nominalConcurrencyShares':30,'lendablePercent':0}");
	ck_assert_uint_eq(
		api_create(&f, levels, "", "{'metadata':{'name':'b'},'spec':{'type':'Limited'}}"),
		422);
	ck_assert_str_eq(api_message(&f),
		"PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io \"b\" is invalid: "
		"spec.limited: Required value: must not be empty when type is Limited");
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_registrations__signing_requests)
{
	const char *approved = "{'status':{'conditions':[{'type':'Approved','status':'True',"
			       "'reason':'R','message':'m'}]}}";
	struct api_fixture f;
	api_fixture_init(&f);
	ck_assert_uint_eq(
		api_create(&f, REQUESTS, "",
			"{'metadata':{'name':'a'},'spec':{'request':'" PEM "','signerName':"
			"'kubernetes.io/kube-apiserver-client','usages':['client auth'],"
			"'username':'forged'}}"),
		201);
	ck_assert_str_eq(api_text(&f, "spec.username"), "admin");
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, REQUESTS "/status", "a", approved), 422);
	ck_assert_str_eq(api_message(&f),
		"CertificateSigningRequest.certificates.k8s.io \"a\" is invalid: "
		"status.conditions: "
		"Forbidden: updates may not add a condition of type \"Approved\"");
	ck_assert_uint_eq(
		api_patch(&f, BT_PATCH_MERGE, REQUESTS "/approval", "a",
			"{'status':{'conditions':[{'type':'Approved','status':'False'}]}}"),
		422);
	ck_assert_str_eq(api_message(&f),
		"CertificateSigningRequest.certificates.k8s.io \"a\" is invalid: "
		"status.conditions[0].status: Unsupported value: \"False\": supported values: "
		"\"True\"");
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, REQUESTS "/approval", "a", approved), 200);
	ck_assert_uint_eq(bt_json_array_at(f.result, "status.conditions")->count, 1);
	ck_assert_str_eq(api_text(&f, "spec.username"), "admin");
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, REQUESTS "/approval", "a",
				  "{'status':{'conditions':[]}}"),
		422);
	for (int i = 0; i < 2; i++) { /* a certificate cannot be replaced */
		ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, REQUESTS "/status", "a",
					  i == 0 ? "{'status':{'certificate':'" PEM "'}}"
						 : "{'status':{'certificate':'AAAA'}}"),
			i == 0 ? 200 : 422);
	}
	ck_assert_str_eq(api_message(&f),
		"CertificateSigningRequest.certificates.k8s.io \"a\" is invalid: "
		"status.certificate: Invalid value: \"AAAA\": field is immutable");
	ck_assert_uint_eq(
		api_create(&f, REQUESTS, "",
			"{'metadata':{'name':'b'},'spec':{'request':'AAAA','signerName':'x',"
			"'usages':['a','a'],'expirationSeconds':1}}"),
		422);
	api_fixture_finish(&f);
}
END_TEST

/** Inline messages may nest: protobuf encodes each level as a separate message. */
START_TEST(test_registrations__rules_in_protobuf)
{
	struct api_fixture f;
	struct bt_json_value *tree;
	struct bt_strbuf bytes = {0};
	api_fixture_init(&f);
	ck_assert_uint_eq(
		api_create(&f, "validatingadmissionpolicies.admissionregistration.k8s.io", "",
			"{'metadata':{'name':'p'},'spec':{'matchConstraints':{'resourceRules':[{"
			"'resourceNames':['n'],'operations':['CREATE'],'apiGroups':['a'],"
			"'apiVersions':['v1'],'resources':['r']}]},'validations':[{'expression':"
			"'true'}]}}"),
		201);
	const struct bt_api_resource *resource = bt_resources_builtin(bt_api_resources(f.api),
		"admissionregistration.k8s.io", "validatingadmissionpolicies");
	const char *before = api_json(&f, "spec.matchConstraints.resourceRules");
	bt_schema_encode_protobuf(resource->message, f.result, &bytes);
	ck_assert_int_ge(bt_str_find(bt_strbuf_str(&bytes),
				 BT_STR("\x0a\x01n\x12\x17\x0a\x06"
					"CREATE"
					"\x12\x0d")),
		0);
	ck_assert_int_eq(bt_schema_decode_protobuf(
				 resource->message, bt_strbuf_str(&bytes), &f.arena, &tree, NULL),
		0);
	f.result = tree;
	ck_assert_str_eq(api_json(&f, "spec.matchConstraints.resourceRules"), before);
	bt_strbuf_finish(&bytes);
	api_fixture_finish(&f);
}
END_TEST

/**
 * A RoleBinding may leave out the namespace of a ServiceAccount. A ClusterRoleBinding must name the
 * namespace, because the binding itself has none.
 */
START_TEST(test_registrations__accounts_of_bindings)
{
	static const char *const body =
		"{'metadata':{'name':'b'},'roleRef':{'apiGroup':'rbac.authorization.k8s.io','kind':"
		"'ClusterRole','name':'view'},'subjects':[{'kind':'ServiceAccount','name':'a'}]}";
	struct api_fixture f;
	api_fixture_init(&f);
	ck_assert_uint_eq(
		api_create(&f, "rolebindings.rbac.authorization.k8s.io", "default/", body), 201);
	ck_assert_uint_eq(
		api_create(&f, "clusterrolebindings.rbac.authorization.k8s.io", "", body), 422);
	ck_assert_str_eq(api_message(&f),
		"ClusterRoleBinding.rbac.authorization.k8s.io \"b\" is invalid: "
		"subjects[0].namespace: Required value");
	api_fixture_finish(&f);
}
END_TEST

BT_TEST_MAIN("registrations", test_registrations__accounts_of_bindings,
	test_registrations__webhooks, test_registrations__api_services,
	test_registrations__flow_control, test_registrations__signing_requests,
	test_registrations__rules_in_protobuf)
