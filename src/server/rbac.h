/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_RBAC_H
#define BT_SERVER_RBAC_H
/**
 * Authorization by Roles, ClusterRoles and their bindings. These objects are kept compiled. An
 * index by subject finds the bindings, so that a decision reads only those of one user and its
 * groups. After a change, the object's entry is replaced before the next decision. Spec: 14
 * section 4.
 */
#include "server/api.h"

/** One access that a user requests. */
struct bt_access {
	const struct bt_user *user;
	struct bt_str verb;
	bool is_path;             /* a non-resource path: only user, verb and path are used */
	struct bt_str namespace_; /* "": cluster scope, or all namespaces */
	struct bt_str group;
	struct bt_str resource;
	struct bt_str subresource; /* "": none */
	struct bt_str name;        /* "": none, or not known yet */
	struct bt_str path;
	struct bt_str selected_node; /* spec.nodeName in the field selector of a list or watch; "":
	                                none */
};

bool bt_user_has_group(const struct bt_user *user, const char *group);
/** Returns the user name of a ServiceAccount: "system:serviceaccount:NAMESPACE:NAME". */
struct bt_str bt_account_user_name(
	struct bt_arena *arena, struct bt_str namespace_, struct bt_str name);

/**
 * Asks the authorizers whether the access is allowed. Without RBAC every access is allowed. The
 * group `system:masters` always has every access. RBAC decides only if the Node authorizer does not
 * allow the access.
 *
 * out_reason (may be NULL; text in the arena): what allows the access, or why it is refused, for
 * example a missing role; "" if unknown.
 */
BT_MUST_USE bool bt_api_authorize(struct bt_api *api, const struct bt_access *access,
	struct bt_arena *arena, struct bt_str *out_reason);

/**
 * Returns the rules of a user in a namespace ("": cluster scope) as arrays of PolicyRules: rules
 * for resources, and rules for non-resource URLs. *out_problems: text about bindings whose role
 * does not exist; "" if there are none.
 */
void bt_api_rules_of(struct bt_api *api, const struct bt_user *user, struct bt_str namespace_,
	struct bt_arena *arena, struct bt_json_value **out_resource_rules,
	struct bt_json_value **out_other_rules, struct bt_str *out_problems);

/**
 * Prevents privilege escalation. A user who creates (old NULL) or changes a role needs all rules of
 * the role, or the verb "escalate" on the role. A user who creates or changes a binding needs all
 * rules of the named role, or the verb "bind" on the role. Returns false and sets *out_failure if
 * the user lacks these rights.
 */
BT_MUST_USE bool bt_rbac_check_escalation(struct bt_api *api, const struct bt_user *user,
	const struct bt_api_resource *resource, struct bt_str namespace_, struct bt_str name,
	const struct bt_json_value *old, const struct bt_json_value *object, struct bt_arena *arena,
	struct bt_failure *out_failure);
/**
 * Checks a write of a CertificateSigningRequest: approving or denying needs the verb "approve" on
 * the signer, and writing the certificate needs the verb "sign". Returns false and sets
 * *out_failure if the user lacks the verb.
 */
BT_MUST_USE bool bt_rbac_check_signer(struct bt_api *api, const struct bt_user *user,
	enum bt_subresource subresource, struct bt_str name, const struct bt_json_value *old,
	const struct bt_json_value *object, struct bt_arena *arena, struct bt_failure *out_failure);
/**
 * Sets a 403 such as `pods "p" is forbidden: User "u" cannot get resource "pods" in API group ""
 * ...`. reason: as set by bt_api_authorize.
 */
void bt_rbac_forbid(const struct bt_access *access, struct bt_str reason, struct bt_arena *arena,
	struct bt_failure *out_failure);
#endif
