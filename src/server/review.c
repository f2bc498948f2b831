/* SPDX-License-Identifier: Apache-2.0 */
/** Review kinds: questions that are answered and not stored. Spec: 14 section 14.5. */
#include "server/write.h"

static const char allowed_text[] = "every user of this server may do everything";

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

static void add_rules(struct bt_arena *arena, struct bt_json_value *status)
{
	static const char *const resource_names[] = {"verbs", "apiGroups", "resources"};
	static const char *const other_names[] = {"verbs", "nonResourceURLs"};
	bt_json_append(arena, bt_json_ensure_array(arena, status, "resourceRules"),
		all_of(arena, resource_names, BT_ARRAY_LENGTH(resource_names)));
	bt_json_append(arena, bt_json_ensure_array(arena, status, "nonResourceRules"),
		all_of(arena, other_names, BT_ARRAY_LENGTH(other_names)));
	bt_json_set_bool(arena, status, "incomplete", false);
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
		add_rules(arena, status);
	} else {
		bt_json_set_bool(arena, status, "allowed", true);
		bt_json_set_c(arena, status, "reason", allowed_text);
	}
	bt_json_set_value(arena, object, "status", status);
	bt_call_answer_object(call, object, 201);
}
