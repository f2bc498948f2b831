/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_FRONT_H
#define BT_SERVER_FRONT_H
/**
 * The HTTP side of the API server: paths, credentials, media types, discovery. Turns requests into
 * calls of server/api.h, lists and watches. Spec: 14 sections 4 to 9.
 */
#include <stdint.h>

#include "net/http_server.h"
#include "server/api.h"

struct bt_front;

/** A bearer token and the user that it authenticates, in the group system:authenticated. */
struct bt_front_token {
	const char *token;
	struct bt_user user;
};

struct bt_front_options {
	struct bt_api *api;  /* borrowed */
	const char *address; /* "127.0.0.1" */
	uint16_t port;       /* 0: any free port */
	/**
	 * NULL: plain HTTP. Every client is then admin in system:masters. Requests with a foreign
	 * Host or Origin are refused, because a web page may have made a browser send them.
	 */
	const char *certificate_pem;
	const char *key_pem;
	/**
	 * PEM of the authorities whose client certificates identify a user. NULL: client
	 * certificates are not accepted.
	 */
	const char *client_ca_pem;
	const struct bt_front_token *tokens; /* borrowed until bt_front_destroy */
	uint32_t token_count;
	struct bt_http_limits limits;
	/**
	 * Largest number of open watches and connections (followed logs, exec, attach); further
	 * requests get 429.
	 */
	uint32_t watches_max;
};

BT_MUST_USE int bt_front_create(struct bt_loop *loop, const struct bt_front_options *options,
	struct bt_front **out_front, struct berth_error *err);
/** Closes all exchanges. NULL accepted. */
void bt_front_destroy(struct bt_front *front);
uint16_t bt_front_port(const struct bt_front *front);
/** After this call, /readyz answers ok. */
void bt_front_set_ready(struct bt_front *front);

/**
 * Call after serving requests and after the process itself wrote objects. Makes the changes durable
 * (bt_store_sync), then sends the answers that waited for the sync and wakes the watches. Fails if
 * the store's file cannot be written: then the waiting requests were answered with 500, and the
 * process must exit.
 */
BT_MUST_USE int bt_front_flush(struct bt_front *front, struct berth_error *err);
#endif
