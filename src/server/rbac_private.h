/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_RBAC_PRIVATE_H
#define BT_SERVER_RBAC_PRIVATE_H
/** Shared by rbac.c (index, decisions), rbac_escalation.c and rbac_bootstrap.c. */
#include "server/rbac.h"
#include "server/write.h"

struct bt_text_list {
	const struct bt_str *items;
	uint32_t count;
};

/** A compiled PolicyRule. Texts are borrowed from the source object. */
struct bt_policy_rule {
	struct bt_text_list verbs;
	struct bt_text_list groups;
	struct bt_text_list resources;
	struct bt_text_list names; /* empty: all */
	struct bt_text_list paths;
};

/** Compiles the member `rules` of a Role or ClusterRole. */
struct bt_policy_rule *bt_rbac_compile_rules(
	const struct bt_json_value *role, struct bt_arena *arena, uint32_t *out_count);
/** Returns whether the rule allows the access; ignores access->user and access->namespace_. */
bool bt_policy_rule_allows(const struct bt_policy_rule *rule, const struct bt_access *access);
/** Like bt_api_rules_of, but returns compiled rules, borrowed until an RBAC object changes. */
struct bt_policy_rule *bt_rbac_rules_of(struct bt_rbac *rbac, const struct bt_user *user,
	struct bt_str namespace_, struct bt_arena *arena, uint32_t *out_count,
	struct bt_str *out_problems);
/** Finds the rules of a stored role. false: the role does not exist. */
bool bt_rbac_role_rules(struct bt_rbac *rbac, struct bt_str namespace_, bool is_cluster_role,
	struct bt_str name, struct bt_arena *arena, const struct bt_policy_rule **out_rules,
	uint32_t *out_count);
/**
 * The Node authorizer. Returns true if access->user is a node that may perform the access. false:
 * ask the next authorizer. *out_reason: as in bt_api_authorize, but set only if there is a reason.
 */
BT_MUST_USE bool bt_node_authorize(struct bt_api *api, const struct bt_access *access,
	struct bt_arena *arena, struct bt_str *out_reason);
#endif
