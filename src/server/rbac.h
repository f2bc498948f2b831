/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_RBAC_H
#define BT_SERVER_RBAC_H
/**
 * Authorization by Roles, ClusterRoles and their bindings. They are kept compiled and indexed by
 * subject, so that a decision reads only the bindings of one user and its groups. The index follows
 * the store: a change of one of the four kinds replaces that object's entry before the next
 * decision. Spec: 14 section 4.
 */
#include "server/api.h"

/** One access that a user requests. */
struct bt_access {
	const struct bt_user *user;
	struct bt_str verb;
	bool is_path; /* a path that is no resource; only user, verb and path count */
	struct bt_str namespace_; /* "": cluster scope, or all namespaces */
	struct bt_str group;
	struct bt_str resource;
	struct bt_str subresource; /* "": none */
	struct bt_str name;        /* "": none, or not known yet */
	struct bt_str path;
	struct bt_str selected_node; /* field selector's spec.nodeName; "": none */
};

bool bt_user_has_group(const struct bt_user *user, const char *group);
/** "system:serviceaccount:NAMESPACE:NAME", the user name of a ServiceAccount. */
struct bt_str bt_account_user_name(
	struct bt_arena *arena, struct bt_str namespace_, struct bt_str name);

/**
 * Asks the authorizers. Without RBAC every access is allowed; system:masters may always do
 * everything. RBAC may also allow what the Node authorizer does not allow a node.
 *
 * out_reason (may be NULL, in the arena): what allows the access, or which missing roles may be why
 * it is refused; "" if there is neither.
 */
BT_MUST_USE bool bt_api_authorize(struct bt_api *api, const struct bt_access *access,
	struct bt_arena *arena, struct bt_str *out_reason);

/**
 * The rules that hold for a user in a namespace ("": cluster scope), as arrays of PolicyRule
 * members. out_problems: text about bindings whose role does not exist; or "".
 */
void bt_api_rules_of(struct bt_api *api, const struct bt_user *user, struct bt_str namespace_,
	struct bt_arena *arena, struct bt_json_value **out_resource_rules,
	struct bt_json_value **out_other_rules, struct bt_str *out_problems);

/**
 * Prevents privilege escalation. A created (old NULL) or changed role may only hold rules that its
 * writer has or may escalate to; a binding may only name a role whose rules its writer has, or that
 * its writer may bind. false: *out_failure.
 */
BT_MUST_USE bool bt_rbac_check_escalation(struct bt_api *api, const struct bt_user *user,
	const struct bt_api_resource *resource, struct bt_str namespace_, struct bt_str name,
	const struct bt_json_value *old, const struct bt_json_value *object, struct bt_arena *arena,
	struct bt_failure *out_failure);
/**
 * Approving or denying a CertificateSigningRequest needs the right to approve for its signer;
 * writing its certificate needs the right to sign for it.
 */
BT_MUST_USE bool bt_rbac_check_signer(struct bt_api *api, const struct bt_user *user,
	enum bt_subresource subresource, struct bt_str name, const struct bt_json_value *old,
	const struct bt_json_value *object, struct bt_arena *arena, struct bt_failure *out_failure);
/**
 * 403 as `pods "p" is forbidden: User "u" cannot get resource "pods" in API group "" ...`; reason:
 * as set by bt_api_authorize.
 */
void bt_rbac_forbid(const struct bt_access *access, struct bt_str reason, struct bt_arena *arena,
	struct bt_failure *out_failure);
#endif
