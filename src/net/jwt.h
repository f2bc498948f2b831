/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_NET_JWT_H
#define BT_NET_JWT_H
/**
 * JSON Web Tokens signed with ES256 (RFC 7519, RFC 7518 section 3.4): creates and verifies tokens
 * of one key. The caller checks the claims.
 */
#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/strbuf.h"

struct bt_jwt_key;

/**
 * Reads a private key (EC P-256) from a PEM text in PKCS#8 form; pem "": creates a new key.
 * BERTH_ERR_INVALID: pem has no such key.
 */
BT_MUST_USE int bt_jwt_key_create(
	struct bt_str pem, struct bt_jwt_key **out_key, struct berth_error *err);
/** Frees the key. NULL accepted. */
void bt_jwt_key_destroy(struct bt_jwt_key *key);
/** Appends the private key as PEM. Free `out` with bt_strbuf_finish_wiped. */
BT_MUST_USE int bt_jwt_key_write(
	const struct bt_jwt_key *key, struct bt_strbuf *out, struct berth_error *err);

/**
 * The public key as in a JSON Web Key: id, and the point's coordinates in base64url. Borrowed from
 * the key.
 */
struct bt_jwt_public {
	struct bt_str id;
	struct bt_str x;
	struct bt_str y;
};
struct bt_jwt_public bt_jwt_key_public(const struct bt_jwt_key *key);

/** Appends header.payload.signature; payload is the JSON text of the claims. */
BT_MUST_USE int bt_jwt_sign(const struct bt_jwt_key *key, struct bt_str payload,
	struct bt_strbuf *out, struct berth_error *err);
/**
 * Verifies the signature with this key and returns the payload, in the arena. false: not a valid
 * token of this key.
 */
BT_MUST_USE bool bt_jwt_verify(const struct bt_jwt_key *key, struct bt_str token,
	struct bt_arena *arena, struct bt_str *out_payload);
#endif
