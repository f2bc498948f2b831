/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLIENT_AUTHORIZATION_H
#define BT_CLIENT_AUTHORIZATION_H
/**
 * The headers that say who asks: one Authorization at most, and impersonation. Made once, and
 * again when a token changes. Spec: 13 sections 6.1 to 6.3, 6.6.
 */
#include "client/config.h"
#include "net/http_client.h"

struct bt_authorization {
	const struct bt_client_config *config; /* borrowed */
	struct bt_strbuf value;                /* of Authorization; empty: none */
	bool watches_file;                     /* the token is read again */
	int64_t read_at_ns;                    /* last time that succeeded */
	struct bt_arena arena;                 /* of the headers */
	/** headers[0] is Authorization; without one, what is sent begins with headers[1]. */
	struct bt_http_header *headers;
	uint32_t count;
};

/** Errors are those that are fatal at start. */
BT_MUST_USE int bt_authorization_init(struct bt_authorization *authorization,
	const struct bt_client_config *config, int64_t now_ns, struct berth_error *err);
void bt_authorization_finish(struct bt_authorization *authorization);
/** A request starts: read the token's file when it is time. */
void bt_authorization_refresh(struct bt_authorization *authorization, int64_t now_ns);
/** "": none. BERTH_ERR_INVALID: it cannot be in a header. */
BT_MUST_USE int bt_authorization_set_token(
	struct bt_authorization *authorization, struct bt_str token, struct berth_error *err);
/** Is there a way to authenticate, certificates aside? */
bool bt_authorization_is_set(const struct bt_authorization *authorization);
/** What to send now. Borrowed until the next refresh or set. */
const struct bt_http_header *bt_authorization_headers(
	const struct bt_authorization *authorization, uint32_t *out_count);
#endif
