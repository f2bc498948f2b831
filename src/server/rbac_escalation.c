/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Prevents privilege escalation: roles and bindings may only grant rights that their writer has.
 * Spec: 14 section 4.
 */
#include "server/rbac_private.h"

#define GROUP "rbac.authorization.k8s.io"
/** Limit of comparisons for one write. A rule needs many, one per combination of its list items. */
#define WORK_MAX UINT32_C(20000000)
#define MESSAGE_BYTES_MAX 4096

/** The state of one escalation check. */
struct check {
	struct bt_arena *arena;
	const struct bt_policy_rule *own;
	uint32_t own_count;
	uint32_t work;
	struct bt_strbuf missing; /* rules that the writer lacks, one per line */
};

/**
 * Returns whether one of the writer's rules allows the access. An access without a name covers all
 * objects, so a rule with resourceNames does not allow it.
 */
static bool is_covered(struct check *check, const struct bt_access *access)
{
	for (uint32_t i = 0; i < check->own_count; i++) {
		const struct bt_policy_rule *rule = &check->own[i];
		check->work += 1 + rule->verbs.count + rule->groups.count + rule->resources.count +
			rule->names.count + rule->paths.count;
		if (check->work > WORK_MAX) {
			return false;
		}
		bool is_narrower =
			!access->is_path && access->name.length == 0 && rule->names.count != 0;
		if (!is_narrower && bt_policy_rule_allows(rule, access)) {
			return true;
		}
	}
	return false;
}

static void append_list(struct bt_strbuf *out, const struct bt_text_list *list)
{
	bt_strbuf_append_char(out, '[');
	for (uint32_t i = 0; i < list->count; i++) {
		bt_strbuf_append_c(out, i != 0 ? " " : "");
		bt_strbuf_append_quoted(out, list->items[i]);
	}
	bt_strbuf_append_char(out, ']');
}

/**
 * Checks the access with each verb. `access` has no verb; its `resource` may be "pods/log". If
 * verbs are lacking, adds a line such as {APIGroups:[""], Resources:["pods"], Verbs:["get"
 * "list"]}.
 */
static void check_verbs(
	struct check *check, const struct bt_text_list *verbs, struct bt_access *access)
{
	struct bt_str *items = BT_ARENA_NEW_ARRAY(check->arena, struct bt_str, verbs->count);
	struct bt_text_list lacking = {.items = items};
	/* Rules compare resource and subresource separately; messages show "pods/log". */
	struct bt_access parts = *access;
	check->work++;
	parts.resource = bt_str_cut(&access->resource, '/');
	parts.subresource = access->resource.data != NULL ? access->resource : BT_STR("");
	access->resource = (struct bt_str){parts.resource.data,
		parts.resource.length +
			(parts.subresource.length != 0 ? parts.subresource.length + 1 : 0)};
	for (uint32_t i = 0; i < verbs->count && check->work <= WORK_MAX; i++) {
		parts.verb = verbs->items[i];
		if (!is_covered(check, &parts)) {
			items[lacking.count++] = verbs->items[i];
		}
	}
	struct bt_strbuf *out = &check->missing;
	if (lacking.count == 0 || out->length > MESSAGE_BYTES_MAX) {
		return;
	}
	if (access->is_path) {
		bt_strbuf_append_c(out, "\n{NonResourceURLs:[");
		bt_strbuf_append_quoted(out, access->path);
	} else {
		bt_strbuf_append_c(out, "\n{APIGroups:[");
		bt_strbuf_append_quoted(out, access->group);
		bt_strbuf_append_c(out, "], Resources:[");
		bt_strbuf_append_quoted(out, access->resource);
		if (access->name.length != 0) {
			bt_strbuf_append_c(out, "], ResourceNames:[");
			bt_strbuf_append_quoted(out, access->name);
		}
	}
	bt_strbuf_append_c(out, "], Verbs:");
	append_list(out, &lacking);
	bt_strbuf_append_char(out, '}');
}

static bool is_allowed(struct bt_api *api, const struct bt_user *user, const char *verb,
	const char *resource, struct bt_str namespace_, struct bt_str name, struct bt_arena *arena)
{
	struct bt_access access = {.user = user,
		.verb = bt_str_from(verb),
		.namespace_ = namespace_,
		.group = BT_STR(GROUP),
		.resource = bt_str_from(resource),
		.subresource = BT_STR(""),
		.name = name};
	return bt_api_authorize(api, &access, arena, NULL);
}

/** Checks every combination of the rule's groups, resources and names. */
static void check_resources(struct check *check, const struct bt_policy_rule *rule)
{
	static const struct bt_str no_name[] = {BT_STR_INIT("")};
	struct bt_text_list names =
		rule->names.count != 0 ? rule->names : (struct bt_text_list){no_name, 1};
	for (uint32_t g = 0; g < rule->groups.count; g++) {
		for (uint32_t r = 0; r < rule->resources.count; r++) {
			for (uint32_t n = 0; n < names.count; n++) {
				struct bt_access access = {.group = rule->groups.items[g],
					.resource = rule->resources.items[r],
					.name = names.items[n]};
				if (check->work > WORK_MAX) {
					return;
				}
				check_verbs(check, &rule->verbs, &access);
			}
		}
	}
}

/** Returns whether the writer has all of these rules; if not, sets *out_failure. */
static bool check_rules(struct bt_api *api, const struct bt_user *user,
	const struct bt_api_resource *resource, struct bt_str namespace_, struct bt_str name,
	const struct bt_policy_rule *rules, uint32_t count, struct bt_arena *arena,
	struct bt_failure *out_failure)
{
	struct check check = {.arena = arena};
	struct bt_str problems;
	check.own =
		bt_rbac_rules_of(api->rbac, user, namespace_, arena, &check.own_count, &problems);
	for (uint32_t i = 0; i < count && check.work <= WORK_MAX; i++) {
		const struct bt_policy_rule *rule = &rules[i];
		for (uint32_t p = 0; p < rule->paths.count && check.work <= WORK_MAX; p++) {
			struct bt_access access = {.is_path = true, .path = rule->paths.items[p]};
			check_verbs(&check, &rule->verbs, &access);
		}
		check_resources(&check, rule);
	}
	if (check.missing.length == 0 && check.work <= WORK_MAX) {
		bt_strbuf_finish(&check.missing);
		return true;
	}
	struct bt_strbuf text = {0};
	struct bt_text_list groups = {user->groups, user->group_count};
	bt_strbuf_append_c(&text, "user ");
	bt_strbuf_append_quoted(&text, user->name);
	bt_strbuf_append_c(&text, " (groups=");
	append_list(&text, &groups);
	bt_strbuf_append_c(&text, ") is attempting to grant RBAC permissions not currently held:");
	bt_strbuf_append_str(&text, bt_strbuf_str(&check.missing));
	if (check.work > WORK_MAX) {
		bt_strbuf_append_c(&text, "\nthe rules are too many to compare");
	}
	if (problems.length != 0) {
		bt_strbuf_append_c(&text, "; resolution errors: ");
		bt_strbuf_append_str(&text, problems);
	}
	(void)bt_fail_forbidden(
		out_failure, arena, resource, name, bt_arena_take_strbuf(arena, &text));
	bt_strbuf_finish(&check.missing);
	return false;
}

bool bt_rbac_check_escalation(struct bt_api *api, const struct bt_user *user,
	const struct bt_api_resource *resource, struct bt_str namespace_, struct bt_str name,
	const struct bt_json_value *old, const struct bt_json_value *object, struct bt_arena *arena,
	struct bt_failure *out_failure)
{
	const struct bt_access all_resources = {.user = user,
		.verb = BT_STR("*"),
		.namespace_ = BT_STR(""),
		.group = BT_STR("*"),
		.resource = BT_STR("*"),
		.subresource = BT_STR(""),
		.name = BT_STR("")};
	const struct bt_access all_paths = {
		.user = user, .verb = BT_STR("*"), .is_path = true, .path = BT_STR("*")};
	const struct bt_policy_rule *rules;
	uint32_t count;
	if (api->rbac == NULL || bt_user_has_group(user, "system:masters") ||
		!bt_str_equal_c(BT_STR(GROUP), resource->group)) {
		return true;
	}
	bool is_role = bt_str_equal_c(BT_STR("roles"), resource->name);
	if (is_role || bt_str_equal_c(BT_STR("clusterroles"), resource->name)) {
		const struct bt_json_value *aggregation = bt_json_find(object, "aggregationRule");
		bool is_same = old != NULL &&
			bt_json_same(bt_json_array_at(old, "rules"),
				bt_json_array_at(object, "rules")) &&
			(aggregation == NULL ||
				(bt_json_find(old, "aggregationRule") != NULL &&
					bt_json_same(bt_json_find(old, "aggregationRule"),
						aggregation)));
		if (is_same ||
			is_allowed(
				api, user, "escalate", resource->name, namespace_, name, arena)) {
			return true;
		}
		if (!is_role && !bt_json_is_zero(aggregation) &&
			(!bt_api_authorize(api, &all_resources, arena, NULL) ||
				!bt_api_authorize(api, &all_paths, arena, NULL))) {
			(void)bt_fail_forbidden(out_failure, arena, resource, name,
				BT_STR("must have cluster-admin privileges to use an "
				       "aggregationRule"));
			return false;
		}
		rules = bt_rbac_compile_rules(object, arena, &count);
		return check_rules(
			api, user, resource, namespace_, name, rules, count, arena, out_failure);
	}
	if (old != NULL &&
		bt_json_same(
			bt_json_object_at(old, "roleRef"), bt_json_object_at(object, "roleRef")) &&
		bt_json_same(
			bt_json_array_at(old, "subjects"), bt_json_array_at(object, "subjects"))) {
		return true;
	}
	struct bt_str role = bt_json_text_at(object, "roleRef.name");
	bool is_cluster_role =
		bt_str_equal_c(bt_json_text_at(object, "roleRef.kind"), "ClusterRole");
	const char *roles = is_cluster_role ? "clusterroles" : "roles";
	if (is_allowed(api, user, "bind", roles, namespace_, role, arena)) {
		return true;
	}
	if (!bt_rbac_role_rules(
		    api->rbac, namespace_, is_cluster_role, role, arena, &rules, &count)) {
		(void)bt_fail_not_found(out_failure, arena,
			bt_resources_builtin(bt_api_resources(api), GROUP, roles), role);
		return false;
	}
	return check_rules(api, user, resource, namespace_, name, rules, count, arena, out_failure);
}

bool bt_rbac_check_signer(struct bt_api *api, const struct bt_user *user,
	enum bt_subresource subresource, struct bt_str name, const struct bt_json_value *old,
	const struct bt_json_value *object, struct bt_arena *arena, struct bt_failure *out_failure)
{
	const struct bt_api_resource *resource = bt_resources_builtin(
		bt_api_resources(api), "certificates.k8s.io", "certificatesigningrequests");
	bool approves = subresource == BT_SUBRESOURCE_APPROVAL;
	bool signs = subresource == BT_SUBRESOURCE_STATUS &&
		!bt_str_equal(bt_json_text_at(old, "status.certificate"),
			bt_json_text_at(object, "status.certificate"));
	struct bt_str signer = bt_json_text_at(old, "spec.signerName");
	int64_t slash = bt_str_find_char(signer, '/');
	struct bt_str domain = bt_str_sub(signer, 0, slash < 0 ? 0 : (uint32_t)slash);
	struct bt_access access = {.user = user,
		.verb = approves ? BT_STR("approve") : BT_STR("sign"),
		.namespace_ = BT_STR(""),
		.group = BT_STR("certificates.k8s.io"),
		.resource = BT_STR("signers"),
		.subresource = BT_STR(""),
		.name = signer};
	if (api->rbac == NULL || bt_user_has_group(user, "system:masters") ||
		(!approves && !signs) || bt_api_authorize(api, &access, arena, NULL)) {
		return true;
	}
	access.name = bt_arena_printf(arena, "%.*s/*", BT_STR_ARG(domain));
	if (bt_api_authorize(api, &access, arena, NULL)) {
		return true;
	}
	(void)bt_fail_forbidden(out_failure, arena, resource, name,
		bt_arena_printf(arena, "user not permitted to %s requests with signerName \"%.*s\"",
			approves ? "approve" : "sign", BT_STR_ARG(signer)));
	return false;
}
