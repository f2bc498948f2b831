/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_RBAC_H
#define BT_SERVER_RBAC_H
/**
 * Who may do what: Roles, ClusterRoles and their bindings, kept compiled and found by subject, so
 * that a decision looks at the bindings of one user and its groups only. The index follows the
 * store: a change of one of the four kinds replaces that object's entry before the next decision.
 * Spec: 14 section 4.
 */
#include "server/api.h"

/** What a user asks for. */
struct bt_access {
	const struct bt_user *user;
	struct bt_str verb;
	bool is_path; /* path, outside of the resources; the members between do not count */
	struct bt_str namespace_; /* "": cluster scope, or all namespaces */
	struct bt_str group;
	struct bt_str resource;
	struct bt_str subresource; /* "": none */
	struct bt_str name;        /* "": none, or not known yet */
	struct bt_str path;
	struct bt_str selected_node; /* of the field selector: spec.nodeName; "": none */
};

bool bt_user_has_group(const struct bt_user *user, const char *group);
/** "system:serviceaccount:NAMESPACE:NAME", the user name of a ServiceAccount. */
struct bt_str bt_account_user_name(
	struct bt_arena *arena, struct bt_str namespace_, struct bt_str name);

/**
 * The authorizers' answer. Without RBAC everything is allowed, and to system:masters always; what
 * the Node authorizer does not allow a node RBAC may.
 * out_reason (may be NULL, in the arena): what allows it, or which missing roles may be why it is
 * refused; "" if there is nothing to say.
 */
BT_MUST_USE bool bt_api_authorize(struct bt_api *api, const struct bt_access *access,
	struct bt_arena *arena, struct bt_str *out_reason);

/**
 * The rules that hold for a user in a namespace ("": cluster scope), as arrays of PolicyRule's
 * members. out_problems: roles that bindings name and that do not exist, as one text; or "".
 */
void bt_api_rules_of(struct bt_api *api, const struct bt_user *user, struct bt_str namespace_,
	struct bt_arena *arena, struct bt_json_value **out_resource_rules,
	struct bt_json_value **out_other_rules, struct bt_str *out_problems);

/**
 * Prevent escalation: a role that is created or changed (old NULL: created) may only hold rules
 * that its writer has or may escalate to; a binding may only name a role whose rules its writer
 * has, or that its writer may bind. false: *out_failure.
 */
BT_MUST_USE bool bt_rbac_check_escalation(struct bt_api *api, const struct bt_user *user,
	const struct bt_api_resource *resource, struct bt_str namespace_, struct bt_str name,
	const struct bt_json_value *old, const struct bt_json_value *object, struct bt_arena *arena,
	struct bt_failure *out_failure);
/**
 * Who approves or denies a CertificateSigningRequest must have the right to approve for its signer,
 * who writes its certificate the right to sign.
 */
BT_MUST_USE bool bt_rbac_check_signer(struct bt_api *api, const struct bt_user *user,
	enum bt_subresource subresource, struct bt_str name, const struct bt_json_value *old,
	const struct bt_json_value *object, struct bt_arena *arena, struct bt_failure *out_failure);
/** 403 as `pods "p" is forbidden: User "u" cannot get resource "pods" in API group "" ...`; reason:
 * of bt_api_authorize. */
void bt_rbac_forbid(const struct bt_access *access, struct bt_str reason, struct bt_arena *arena,
	struct bt_failure *out_failure);
#endif
