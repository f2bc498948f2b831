/* SPDX-License-Identifier: Apache-2.0 */
/** The kinds of reviews, which are answered but never stored. Spec: 14 section 14.5. */
#include "server/rbac.h"
#include "server/service_account_token.h"
#include "server/write.h"

/** --- access --- */

/** Validates the spec of an access review; false: the call failed. */
static bool check_access_review(
	struct bt_call *call, const struct bt_json_value *object, bool is_self)
{
	const struct bt_json_value *resource = bt_json_find_path(object, "spec.resourceAttributes");
	const struct bt_json_value *path = bt_json_find_path(object, "spec.nonResourceAttributes");
	struct bt_field_errors errors = {.arena = call->arena};
	struct bt_json_value *null = bt_json_new(call->arena, BT_JSON_NULL);
	bool is_local = call->write.resource->namespaced;
	if (resource != NULL && path != NULL) {
		bt_field_errors_add(&errors, BT_FIELD_INVALID, BT_STR("spec.nonResourceAttributes"),
			path, "cannot be specified in combination with resourceAttributes");
	} else if (resource == NULL && path == NULL) {
		bt_field_errors_add(&errors, BT_FIELD_INVALID, BT_STR("spec.resourceAttributes"),
			null,
			"exactly one of nonResourceAttributes or resourceAttributes must be "
			"specified");
	}
	if (!is_self && bt_json_text_at(object, "spec.user").length == 0 &&
		bt_json_array_at(object, "spec.groups")->count == 0) {
		bt_field_errors_add(&errors, BT_FIELD_INVALID, BT_STR("spec.user"),
			bt_json_new_c(call->arena, ""),
			"at least one of user or group must be specified");
	}
	if (is_local && path != NULL) {
		bt_field_errors_add(&errors, BT_FIELD_INVALID, BT_STR("spec.nonResourceAttributes"),
			path, "disallowed on this kind of request");
	}
	if (bt_call_refuse_invalid(call, &errors)) {
		return false;
	}
	struct bt_str namespace_ = bt_json_text_at(resource, "namespace");
	if (is_local && !bt_str_equal(namespace_, call->write.namespace_)) {
		return bt_call_refuse(call, 400, "BadRequest",
			"spec.resourceAttributes.namespace must match namespace: %.*s",
			BT_STR_ARG(call->write.namespace_));
	}
	return true;
}

/** --- answers --- */

struct bt_json_value *bt_user_info(const struct bt_user *user, struct bt_arena *arena)
{
	struct bt_json_value *info = bt_json_put(
		arena, NULL, "{username: %s, uid?: %s, groups: []}", user->name, user->uid);
	for (uint32_t i = 0; i < user->group_count; i++) {
		bt_json_put(arena, info, "{groups: [%s]}", user->groups[i]);
	}
	for (uint32_t i = 0; i < user->extra_count; i++) {
		bt_json_put(arena, info, "{extra: {%s: [%s]}}", user->extras[i].key,
			user->extras[i].value);
	}
	return info;
}

void bt_call_review(struct bt_call *call)
{
	struct bt_arena *arena = call->arena;
	struct bt_json_value *object = call->request->body;
	struct bt_str kind = bt_str_from(call->write.resource->kind);
	if (!bt_call_decode(call, object, BT_BODY_OBJECT)) {
		return;
	}
	(void)bt_call_metadata(call, object);
	struct bt_json_value *status = NULL;
	if (bt_str_equal_c(kind, "SelfSubjectReview")) {
		status = bt_json_put(
			arena, NULL, "{userInfo: %v}", bt_user_info(call->write.user, arena));
	} else if (bt_str_equal_c(kind, "TokenReview")) {
		struct bt_json_value *audiences;
		struct bt_user user;
		const char *problem;
		if (bt_api_authenticate_token(call->api, bt_json_text_at(object, "spec.token"),
			    bt_json_array_at(object, "spec.audiences"), arena, &user, &audiences,
			    &problem)) {
			status = bt_json_put(arena, NULL,
				"{authenticated: true, user: %v, audiences: %v}",
				bt_user_info(&user, arena), audiences);
		} else {
			status = bt_json_put(arena, NULL, "{authenticated: false, error: %s}",
				problem[0] != '\0' ? bt_arena_printf(arena,
							     "[invalid bearer token, %s]", problem)
						   : BT_STR("invalid bearer token"));
		}
	} else if (bt_str_equal_c(kind, "SelfSubjectRulesReview")) {
		struct bt_str namespace_ = bt_json_text_at(object, "spec.namespace");
		struct bt_json_value *resource_rules;
		struct bt_json_value *other_rules;
		struct bt_str problems;
		if (namespace_.length == 0) {
			(void)bt_call_refuse(call, 400, "BadRequest", "no namespace on request");
			return;
		}
		bt_api_rules_of(call->api, call->write.user, namespace_, arena, &resource_rules,
			&other_rules, &problems);
		status = bt_json_put(arena, NULL,
			"{resourceRules: %v, nonResourceRules: %v, incomplete: %b, "
			"evaluationError?: %s}",
			resource_rules, other_rules, problems.length != 0, problems);
	} else {
		bool is_self = bt_str_equal_c(kind, "SelfSubjectAccessReview");
		const struct bt_json_value *list = bt_json_array_at(object, "spec.groups");
		struct bt_str *groups = BT_ARENA_NEW_ARRAY(arena, struct bt_str, list->count);
		struct bt_user asked = {.name = bt_json_text_at(object, "spec.user"),
			.uid = bt_json_text_at(object, "spec.uid"),
			.groups = groups};
		for (uint32_t i = 0; i < list->count; i++) {
			if (list->elements[i]->type == BT_JSON_STRING) {
				groups[asked.group_count++] = list->elements[i]->text;
			}
		}
		if (!check_access_review(call, object, is_self)) {
			return;
		}
		const struct bt_json_value *path =
			bt_json_find_path(object, "spec.nonResourceAttributes");
		const struct bt_json_value *resource =
			bt_json_object_at(object, "spec.resourceAttributes");
		struct bt_str reason;
		struct bt_access access = {.user = is_self ? call->write.user : &asked,
			.is_path = path != NULL,
			.verb = bt_json_text_at(path != NULL ? path : resource, "verb"),
			.namespace_ = bt_json_text_at(resource, "namespace"),
			.group = bt_json_text_at(resource, "group"),
			.resource = bt_json_text_at(resource, "resource"),
			.subresource = bt_json_text_at(resource, "subresource"),
			.name = bt_json_text_at(resource, "name"),
			.path = bt_json_text_at(path, "path")};
		bool allowed = bt_api_authorize(call->api, &access, arena, &reason);
		status = bt_json_put(arena, NULL, "{allowed: %b, reason?: %s}", allowed, reason);
	}
	bt_json_set_value(arena, object, "status", status);
	bt_call_answer_object(call, object, 201);
}
