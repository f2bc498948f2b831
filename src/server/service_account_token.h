/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_SERVICE_ACCOUNT_TOKEN_H
#define BT_SERVER_SERVICE_ACCOUNT_TOKEN_H
/**
 * Tokens of ServiceAccounts: JSON Web Tokens that the server signs, for an audience, until a time,
 * bound to a pod, a Secret or a node; and legacy ones, which a Secret keeps. They are good as long
 * as the account and what they are bound to exist, by uid. Spec: 14 section 4.
 */
#include "server/api.h"

#define BT_TOKEN_ISSUER "https://kubernetes.default.svc.cluster.local"

/**
 * Whose token it is, in the arena. audiences: any of them will do; NULL: the API server's own.
 * false: *out_problem (may be NULL) says why, "" for what is no token of this server.
 * out_audience (may be NULL): those that the token is good for.
 */
BT_MUST_USE bool bt_api_authenticate_token(struct bt_api *api, struct bt_str token,
	const struct bt_json_value *audiences, struct bt_arena *arena, struct bt_user *out_user,
	struct bt_json_value **out_audiences, const char **out_problem);
/** A token without end for the ServiceAccount "ns/name" and the Secret of that name, which must
 * keep it. BERTH_ERR_NOT_FOUND: there is no such account. */
BT_MUST_USE int bt_api_legacy_token(struct bt_api *api, struct bt_str account_key,
	struct bt_str secret_name, struct bt_arena *arena, struct bt_str *out_token,
	struct berth_error *err);
/** The documents of /.well-known/openid-configuration (host: of the server's URL) and
 * /openid/v1/jwks. NULL: there is no key. */
BT_MUST_USE struct bt_json_value *bt_openid_configuration(
	struct bt_str host, struct bt_arena *arena);
BT_MUST_USE struct bt_json_value *bt_openid_keys(struct bt_api *api, struct bt_arena *arena);
#endif
