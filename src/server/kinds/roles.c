/* SPDX-License-Identifier: Apache-2.0 */
#include "server/kinds/common.h"

/* Roles, ClusterRoles and their bindings. Spec: 14b section 5. */

#define RBAC_GROUP "rbac.authorization.k8s.io"

static void default_binding(const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_arena *arena = write->arena;
	const struct bt_json_value *subjects = bt_json_array_at(object, "subjects");
	bt_kinds_default_c(
		arena, bt_json_ensure_object(arena, object, "roleRef"), "apiGroup", RBAC_GROUP);
	for (uint32_t i = 0; i < subjects->count; i++) {
		struct bt_str kind = bt_kinds_text(subjects->elements[i], "kind");
		if (bt_str_equal_c(kind, "User") || bt_str_equal_c(kind, "Group")) {
			bt_kinds_default_c(arena, subjects->elements[i], "apiGroup", RBAC_GROUP);
		}
	}
}

void bt_rule_role_rule(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *rule)
{
	struct bt_field_errors *errors = check->errors;
	uint32_t groups = bt_json_array_at(rule, "apiGroups")->count;
	uint32_t resources = bt_json_array_at(rule, "resources")->count;
	const struct bt_json_value *urls = bt_kinds_array(rule, "nonResourceURLs");
	if (bt_json_array_at(rule, "verbs")->count == 0) {
		bt_kinds_error(errors, BT_FIELD_REQUIRED, BT_PATH_NAME(place, "verbs"), NULL,
			"verbs must contain at least one value");
	}
	if (urls != NULL && urls->count != 0) {
		const struct bt_path *at = BT_PATH_NAME(place, "nonResourceURLs");
		if (check->write->resource->namespaced) {
			bt_kinds_error(errors, BT_FIELD_INVALID, at, urls,
				"namespaced rules cannot apply to non-resource URLs");
		}
		if (groups != 0 || resources != 0 ||
			bt_json_array_at(rule, "resourceNames")->count != 0) {
			bt_kinds_error(errors, BT_FIELD_INVALID, at, urls,
				"rules cannot apply to both regular resources and non-resource "
				"URLs");
		}
		return;
	}
	if (groups == 0) {
		bt_kinds_error(errors, BT_FIELD_REQUIRED, BT_PATH_NAME(place, "apiGroups"), NULL,
			"resource rules must supply at least one api group");
	}
	if (resources == 0) {
		bt_kinds_error(errors, BT_FIELD_REQUIRED, BT_PATH_NAME(place, "resources"), NULL,
			"resource rules must supply at least one resource");
	}
}

static void check_reference(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *reference)
{
	static const char *const groups[] = {RBAC_GROUP, NULL};
	static const char *const kinds[] = {"Role", "ClusterRole", NULL};
	struct bt_field_errors *errors = check->errors;
	bt_kinds_check_allowed(errors, BT_PATH_NAME(place, "apiGroup"),
		bt_kinds_text_value(errors, bt_kinds_text(reference, "apiGroup")), groups);
	/* a ClusterRoleBinding can refer only to a ClusterRole */
	bt_kinds_check_allowed(errors, BT_PATH_NAME(place, "kind"),
		bt_kinds_text_value(errors, bt_kinds_text(reference, "kind")),
		check->write->resource->namespaced ? kinds : kinds + 1);
	if (bt_kinds_check_required(errors, place, reference, "name")) {
		bt_kinds_check_name(errors, BT_PATH_NAME(place, "name"),
			bt_json_find(reference, "name"), BT_NAME_PATH);
	}
}

static void check_subject(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *subject)
{
	static const char *const kinds[] = {"ServiceAccount", "User", "Group", NULL};
	static const char *const no_groups[] = {"", NULL};
	static const char *const groups[] = {RBAC_GROUP, NULL};
	struct bt_field_errors *errors = check->errors;
	struct bt_str kind = bt_kinds_text(subject, "kind");
	bool is_account = bt_str_equal_c(kind, "ServiceAccount");
	bool has_name = bt_kinds_check_required(errors, place, subject, "name");
	if (!is_account && !bt_str_equal_c(kind, "User") && !bt_str_equal_c(kind, "Group")) {
		bt_kinds_check_allowed(errors, BT_PATH_NAME(place, "kind"),
			bt_kinds_text_value(errors, kind), kinds);
		return;
	}
	if (is_account && has_name) {
		bt_kinds_check_name(errors, BT_PATH_NAME(place, "name"),
			bt_json_find(subject, "name"), BT_NAME_SUBDOMAIN);
	}
	bt_kinds_check_allowed(errors, BT_PATH_NAME(place, "apiGroup"),
		bt_kinds_text_value(errors, bt_kinds_text(subject, "apiGroup")),
		is_account ? no_groups : groups);
	/* in a RoleBinding the account's namespace defaults to the binding's namespace */
	if (is_account && !check->write->resource->namespaced) {
		(void)bt_kinds_check_required(errors, place, subject, "namespace");
	}
}

void bt_rule_role_binding(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *binding)
{
	const struct bt_json_value *subjects = bt_json_array_at(binding, "subjects");
	check_reference(
		check, BT_PATH_NAME(place, "roleRef"), bt_json_object_at(binding, "roleRef"));
	for (uint32_t i = 0; i < subjects->count; i++) {
		check_subject(check, BT_PATH_INDEX(BT_PATH_NAME(place, "subjects"), i),
			subjects->elements[i]);
	}
}

/* Refuses a change of roleRef. The message prints the value with Go's internal field names. */
static void validate_binding_update(const struct bt_write *write, const struct bt_json_value *old,
	const struct bt_json_value *object, struct bt_field_errors *errors)
{
	const struct bt_json_value *reference = bt_json_object_at(object, "roleRef");
	struct bt_json_value *shown = bt_json_new(write->arena, BT_JSON_OBJECT);
	if (bt_kinds_same(bt_json_find(old, "roleRef"), reference)) {
		return;
	}
	bt_json_set_str(write->arena, shown, "APIGroup", bt_kinds_text(reference, "apiGroup"));
	bt_json_set_str(write->arena, shown, "Kind", bt_kinds_text(reference, "kind"));
	bt_json_set_str(write->arena, shown, "Name", bt_kinds_text(reference, "name"));
	bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_NAME(NULL, "roleRef"), shown,
		"cannot change roleRef");
}

const struct bt_strategy bt_strategy_role = {.name_rule = BT_NAME_PATH};

const struct bt_strategy bt_strategy_role_binding = {
	.name_rule = BT_NAME_PATH,
	.set_defaults = default_binding,
	.validate_update = validate_binding_update,
};
