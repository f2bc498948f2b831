/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLIENT_AUTHORIZATION_H
#define BT_CLIENT_AUTHORIZATION_H
/**
 * The request headers that identify the user: Authorization (at most one) and impersonation
 * headers. Created once, and again when a token changes. Spec: 13 sections 6.1 to 6.3, 6.6.
 */
#include "client/config.h"
#include "net/http_client.h"

struct bt_authorization {
	const struct bt_client_config *config; /* borrowed */
	struct bt_strbuf value;                /* value of Authorization; empty: none */
	bool watches_file;                     /* the token is read again from its file */
	int64_t read_at_ns;                    /* time of the last successful reading */
	struct bt_arena arena;                 /* of the headers */
	/**
	 * headers[0] is Authorization; if it is unset, requests use the headers from headers[1] on.
	 */
	struct bt_http_header *headers;
	uint32_t count;
};

/** Fails only with errors that are fatal at start. */
BT_MUST_USE int bt_authorization_init(struct bt_authorization *authorization,
	const struct bt_client_config *config, int64_t now_ns, struct berth_error *err);
void bt_authorization_finish(struct bt_authorization *authorization);
/** Call before a request: reads the token's file again if the token is too old. */
void bt_authorization_refresh(struct bt_authorization *authorization, int64_t now_ns);
/**
 * Sets the bearer token; "": none. BERTH_ERR_INVALID: it contains bytes not allowed in a header.
 */
BT_MUST_USE int bt_authorization_set_token(
	struct bt_authorization *authorization, struct bt_str token, struct berth_error *err);
/** Returns true if an Authorization header is set (client certificates do not count). */
bool bt_authorization_is_set(const struct bt_authorization *authorization);
/** Headers for the next request. Borrowed until the next refresh or set. */
const struct bt_http_header *bt_authorization_headers(
	const struct bt_authorization *authorization, uint32_t *out_count);
#endif
