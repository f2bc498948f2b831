/* SPDX-License-Identifier: Apache-2.0 */
/** Review kinds: questions that are answered and not stored. Spec: 14 section 14.5. */
#include "server/write.h"

static const char masters[] = "system:masters";

/** --- who may what: masters everything, others nothing (server/front_user.c) --- */

static bool is_master(const struct bt_user *user)
{
	for (uint32_t i = 0; i < user->group_count; i++) {
		if (bt_str_equal_c(user->groups[i], masters)) {
			return true;
		}
	}
	return false;
}

/** Of the user that a review asks about. */
static bool is_master_asked(const struct bt_json_value *object)
{
	const struct bt_json_value *groups = bt_json_array_at(object, "spec.groups");
	for (uint32_t i = 0; i < groups->count; i++) {
		if (groups->elements[i]->type == BT_JSON_STRING &&
			bt_str_equal_c(groups->elements[i]->text, masters)) {
			return true;
		}
	}
	return bt_str_equal(bt_json_text_at(object, "spec.user"), bt_user_admin.name);
}

static void add_verdict(struct bt_arena *arena, bool allowed, struct bt_json_value *status)
{
	bt_json_set_bool(arena, status, "allowed", allowed);
	if (allowed) { /* clients print the reason behind their "no" */
		bt_json_set_c(arena, status, "reason", "masters may do everything");
	}
}

/** --- answers --- */

static struct bt_json_value *user_info(struct bt_call *call)
{
	const struct bt_user *user = call->write.user;
	struct bt_json_value *info = bt_json_new(call->arena, BT_JSON_OBJECT);
	bt_json_set_str(call->arena, info, "username", user->name);
	if (user->uid.length != 0) {
		bt_json_set_str(call->arena, info, "uid", user->uid);
	}
	struct bt_json_value *groups = bt_json_ensure_array(call->arena, info, "groups");
	for (uint32_t i = 0; i < user->group_count; i++) {
		bt_json_append(call->arena, groups, bt_json_new_str(call->arena, user->groups[i]));
	}
	return info;
}

/** {"<name>": ["*"], ...} */
static struct bt_json_value *all_of(struct bt_arena *arena, const char *const *names, size_t count)
{
	struct bt_json_value *rule = bt_json_new(arena, BT_JSON_OBJECT);
	for (size_t i = 0; i < count; i++) {
		bt_json_append(arena, bt_json_ensure_array(arena, rule, names[i]),
			bt_json_new_c(arena, "*"));
	}
	return rule;
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
	struct bt_json_value *status = bt_json_new(arena, BT_JSON_OBJECT);
	if (bt_str_equal_c(kind, "SelfSubjectReview")) {
		bt_json_set_value(arena, status, "userInfo", user_info(call));
	} else if (bt_str_equal_c(kind, "TokenReview")) {
		bt_json_set_bool(arena, status, "authenticated", true);
		bt_json_set_value(arena, status, "user", user_info(call));
	} else if (bt_str_equal_c(kind, "SelfSubjectRulesReview")) {
		bool all = is_master(call->write.user);
		static const char *const resource_names[] = {"verbs", "apiGroups", "resources"};
		static const char *const other_names[] = {"verbs", "nonResourceURLs"};
		struct bt_json_value *resources =
			bt_json_ensure_array(arena, status, "resourceRules");
		struct bt_json_value *others =
			bt_json_ensure_array(arena, status, "nonResourceRules");
		if (all) {
			bt_json_append(arena, resources,
				all_of(arena, resource_names, BT_ARRAY_LENGTH(resource_names)));
			bt_json_append(arena, others,
				all_of(arena, other_names, BT_ARRAY_LENGTH(other_names)));
		}
		bt_json_set_bool(arena, status, "incomplete", false);
	} else if (bt_str_equal_c(kind, "SelfSubjectAccessReview")) {
		add_verdict(arena, is_master(call->write.user), status);
	} else {
		add_verdict(arena, is_master_asked(object), status);
	}
	bt_json_set_value(arena, object, "status", status);
	bt_call_answer_object(call, object, 201);
}
