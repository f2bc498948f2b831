/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_RBAC_PRIVATE_H
#define BT_SERVER_RBAC_PRIVATE_H
/** What rbac.c (index, decisions), rbac_escalation.c and rbac_bootstrap.c share. */
#include "server/rbac.h"
#include "server/write.h"

struct bt_text_list {
	const struct bt_str *items;
	uint32_t count;
};

/** PolicyRule. Texts are borrowed from what it was compiled from. */
struct bt_policy_rule {
	struct bt_text_list verbs;
	struct bt_text_list groups;
	struct bt_text_list resources;
	struct bt_text_list names; /* empty: all */
	struct bt_text_list paths;
};

/** "rules" of a Role or ClusterRole. */
struct bt_policy_rule *bt_rbac_compile_rules(
	const struct bt_json_value *role, struct bt_arena *arena, uint32_t *out_count);
bool bt_policy_rule_allows(const struct bt_policy_rule *rule, const struct bt_access *access);
/** Borrowed until an object of RBAC changes; as bt_api_rules_of. */
struct bt_policy_rule *bt_rbac_rules_of(struct bt_rbac *rbac, const struct bt_user *user,
	struct bt_str namespace_, struct bt_arena *arena, uint32_t *out_count,
	struct bt_str *out_problems);
/** Of a stored role. false: it does not exist. */
bool bt_rbac_role_rules(struct bt_rbac *rbac, struct bt_str namespace_, bool is_cluster_role,
	struct bt_str name, struct bt_arena *arena, const struct bt_policy_rule **out_rules,
	uint32_t *out_count);
/** What access->user may do as a node; false: nothing more than others. out_reason: of
 * bt_api_authorize, set only if there is something to say. */
BT_MUST_USE bool bt_node_authorize(struct bt_api *api, const struct bt_access *access,
	struct bt_arena *arena, struct bt_str *out_reason);
#endif
