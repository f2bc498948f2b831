/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_SERVICE_ACCOUNT_TOKEN_H
#define BT_SERVER_SERVICE_ACCOUNT_TOKEN_H
/**
 * Tokens of ServiceAccounts: JSON Web Tokens that the server signs. They have an audience and an
 * expiry, and may be bound to a pod, a Secret or a node; legacy tokens are kept in a Secret. A
 * token is valid while its account and its bound object exist with the same uids. Spec: 14 section
 * 4.
 */
#include "server/api.h"

#define BT_TOKEN_ISSUER "https://kubernetes.default.svc.cluster.local"

/**
 * Authenticates a token. `audiences`: the token must have at least one of these; NULL or empty: the
 * token must be for the API server (BT_TOKEN_ISSUER). *out_user and *out_audiences (the requested
 * audiences that the token has) live in the arena. If the token is not valid, returns false and
 * sets *out_problem to the reason, or to "" if the text is not a token of this server. out_problem
 * may be NULL.
 */
BT_MUST_USE bool bt_api_authenticate_token(struct bt_api *api, struct bt_str token,
	const struct bt_json_value *audiences, struct bt_arena *arena, struct bt_user *out_user,
	struct bt_json_value **out_audiences, const char **out_problem);
/**
 * Creates a token without expiry for the ServiceAccount `account_key` ("namespace/name"). The
 * caller must store the token in the Secret `secret_name` of the same namespace.
 * BERTH_ERR_NOT_FOUND: the account does not exist.
 */
BT_MUST_USE int bt_api_legacy_token(struct bt_api *api, struct bt_str account_key,
	struct bt_str secret_name, struct bt_arena *arena, struct bt_str *out_token,
	struct berth_error *err);
/** Returns the document of /openid/v1/jwks; NULL: there is no key. */
BT_MUST_USE struct bt_json_value *bt_openid_keys(struct bt_api *api, struct bt_arena *arena);
#endif
