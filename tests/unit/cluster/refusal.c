/* SPDX-License-Identifier: Apache-2.0 */
#include "refusal.h"

#include <check.h>

#include "codec/json_edit.h"

#define GROUP "admissionregistration.k8s.io"

static void perform(struct bt_api *api, enum bt_verb verb, const char *resource,
	struct bt_json_value *body, struct bt_arena *arena)
{
	struct bt_api_request request = BT_API_REQUEST_INIT;
	struct bt_api_answer answer;

	request.verb = verb;
	request.resource = bt_resources_builtin(bt_api_resources(api), GROUP, resource);
	request.name = body == NULL ? BT_STR("refusal") : BT_STR("");
	request.body = body;
	bt_api_perform(api, &request, arena, &answer);
	ck_assert_msg(answer.code == (body == NULL ? 200 : 201), "%u: %.*s", answer.code,
		BT_STR_ARG(answer.failure.message));
	bt_api_answer_finish(&answer);
}

void refusal_begin(struct bt_api *api, const char *group, const char *resource,
	const char *operation, const char *expression)
{
	struct bt_arena arena = {0};

	perform(api, BT_VERB_CREATE, "validatingadmissionpolicies",
		bt_json_put(&arena, NULL,
			"{metadata: {name: 'refusal'}, spec: {matchConstraints: {resourceRules: "
			"[{apiGroups: [%c], apiVersions: ['*'], operations: [%c], resources: "
	                "[%c]}]}, "
			"validations: [{expression: %c}]}}",
			group, operation, resource, expression),
		&arena);
	perform(api, BT_VERB_CREATE, "validatingadmissionpolicybindings",
		bt_json_put(&arena, NULL,
			"{metadata: {name: 'refusal'}, "
			"spec: {policyName: 'refusal', validationActions: ['Deny']}}"),
		&arena);
	bt_arena_finish(&arena);
}

void refusal_end(struct bt_api *api)
{
	struct bt_arena arena = {0};

	perform(api, BT_VERB_DELETE, "validatingadmissionpolicybindings", NULL, &arena);
	perform(api, BT_VERB_DELETE, "validatingadmissionpolicies", NULL, &arena);
	bt_arena_finish(&arena);
}
