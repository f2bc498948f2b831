/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_FRONT_H
#define BT_SERVER_FRONT_H
/**
 * The HTTP side of the API server: paths, credentials, media types, discovery; requests become
 * calls of server/api.h, lists and watches. Spec: 14 sections 4 to 9.
 */
#include <stdint.h>

#include "net/http_server.h"
#include "server/api.h"

struct bt_front;

/** A bearer token and whom it stands for. */
struct bt_front_token {
	const char *token;
	struct bt_user user;
};

struct bt_front_options {
	struct bt_api *api;  /* borrowed */
	const char *address; /* "127.0.0.1" */
	uint16_t port;       /* 0: any free one */
	/**
	 * NULL: plain HTTP, where everybody is admin in system:masters, and requests that a browser
	 * may have been made to send (a foreign Host or Origin) are refused.
	 */
	const char *certificate_pem;
	const char *key_pem;
	/** Certificates signed by these authorities, PEM, say who a client is. NULL: no
	 * certificate does. */
	const char *client_ca_pem;
	const struct bt_front_token *tokens; /* copied */
	uint32_t token_count;
	struct bt_http_limits limits;
	/** Watches that are open at the same time; further ones get 429. */
	uint32_t watches_max;
};

BT_MUST_USE int bt_front_create(struct bt_loop *loop, const struct bt_front_options *options,
	struct bt_front **out_front, struct berth_error *err);
/** Ends all exchanges. */
void bt_front_destroy(struct bt_front *front);
uint16_t bt_front_port(const struct bt_front *front);
/** From now on /readyz says ok. */
void bt_front_set_ready(struct bt_front *front);

/**
 * Call after requests were served and after the process itself wrote something: makes the changes
 * durable (bt_store_sync), then sends the answers that waited for that, and wakes the watches. An
 * error: the store's file cannot be written; the answers were 500, and the process must end.
 */
BT_MUST_USE int bt_front_settle(struct bt_front *front, struct berth_error *err);
#endif
