/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_NET_JWT_H
#define BT_NET_JWT_H
/**
 * JSON Web Tokens signed with ES256 (RFC 7519, 7518 section 3.4): a key that makes them, and knows
 * its own again. What a token claims is for the caller to judge.
 */
#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/strbuf.h"

struct bt_jwt_key;

/** pem: PKCS#8; "": a new key (EC P-256). BERTH_ERR_INVALID: no such key in the text. */
BT_MUST_USE int bt_jwt_key_create(
	struct bt_str pem, struct bt_jwt_key **out_key, struct berth_error *err);
/** NULL accepted. */
void bt_jwt_key_destroy(struct bt_jwt_key *key);
/** As bt_jwt_key_create reads it; finish out with bt_strbuf_finish_wiped. */
BT_MUST_USE int bt_jwt_key_write(
	const struct bt_jwt_key *key, struct bt_strbuf *out, struct berth_error *err);

/** The public part as JSON Web Key has it: id, and the point's coordinates in base64url. Borrowed
 * from the key. */
struct bt_jwt_public {
	struct bt_str id;
	struct bt_str x;
	struct bt_str y;
};
struct bt_jwt_public bt_jwt_key_public(const struct bt_jwt_key *key);

/** header.payload.signature; payload is the JSON text of the claims. */
BT_MUST_USE int bt_jwt_sign(const struct bt_jwt_key *key, struct bt_str payload,
	struct bt_strbuf *out, struct berth_error *err);
/** The token is of this key: its payload, in the arena. false: it is not. */
BT_MUST_USE bool bt_jwt_verify(const struct bt_jwt_key *key, struct bt_str token,
	struct bt_arena *arena, struct bt_str *out_payload);
#endif
